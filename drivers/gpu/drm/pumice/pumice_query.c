// SPDX-License-Identifier: GPL-2.0 OR MIT
/* DRM_IOCTL_PUMICE_DEV_QUERY: properties, statistics and clocks of the GPU. */
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "perf.h"
#include "pumice_context.h"
#include "pumice_device.h"
#include "pumice_heap.h"
#include "pumice_pm.h"
#include "pumice_query.h"
#include "pumice_stats.h"
#include "pumice_vm.h"

#define PAGE_SIZES	(BIT_ULL(12) | BIT_ULL(14) | BIT_ULL(16) | BIT_ULL(18) | BIT_ULL(20) | \
			 BIT_ULL(21))

/* Return the bytes of a cache from its logarithm; 0: not reported. */
static u32 query_cache(u32 order)
{
	return order ? BIT(order) : 0;
}

#define QUERY_CACHE(pdev, name) \
	query_cache(PUMICE_FIELD_GET(PUMICE_SYS_CACHES__##name, (pdev)->caches))

static struct drm_pumice_query_gpu query_gpu(struct pumice_device *pdev, struct drm_file *file)
{
	return (struct drm_pumice_query_gpu) {
		.version = pdev->version,
		.cores = PUMICE_FIELD_GET(PUMICE_SYS_CONFIG__CORES, pdev->config),
		.uscs_per_core = PUMICE_FIELD_GET(PUMICE_SYS_CONFIG__USCS, pdev->config),
		.slots_per_usc = PUMICE_FIELD_GET(PUMICE_SYS_CONFIG__SLOTS, pdev->config),
		.unified_bytes = PUMICE_FIELD_GET(PUMICE_SYS_STORES__UNIFIED_KIB,
						  pdev->stores) * SZ_1K,
		.common_bytes = PUMICE_FIELD_GET(PUMICE_SYS_STORES__COMMON_KIB,
						 pdev->stores) * SZ_1K,
		.local_bytes = PUMICE_FIELD_GET(PUMICE_SYS_STORES__LOCAL_KIB,
						pdev->stores) * SZ_1K,
		.max_group_instances = PUMICE_FIELD_GET(PUMICE_SYS_SHAPE__GROUP, pdev->shape) ?:
				       PUMICE_GROUP_INSTANCES,
		.page_sizes = PAGE_SIZES,
		.va_start = PUMICE_VA_START,
		.va_end = PUMICE_HEAPS_START,
		.clock_hz = pdev->clock_hz,
		.priorities = pumice_priorities(file),
		.perf_counters = PUMICE_PERF_NUMBER,
		.slot_registers = PUMICE_FIELD_GET(PUMICE_SYS_REGISTERS__SLOT, pdev->registers),
		.internal_registers = PUMICE_FIELD_GET(PUMICE_SYS_REGISTERS__INTERNAL,
						       pdev->registers),
		.preset = PUMICE_FIELD_GET(PUMICE_SYS_SHAPE__PRESET, pdev->shape),
		.waves_per_usc = PUMICE_FIELD_GET(PUMICE_SYS_SHAPE__WAVES, pdev->shape),
		.batch = PUMICE_FIELD_GET(PUMICE_SYS_SHAPE__BATCH, pdev->shape),
		.tasks_per_usc = PUMICE_FIELD_GET(PUMICE_SYS_REGISTERS__TASKS, pdev->registers),
		.pixel_outputs = PUMICE_FIELD_GET(PUMICE_SYS_REGISTERS__OUTPUTS, pdev->registers),
		.cache_bytes = {
			[PUMICE_CACHE_SLC] = QUERY_CACHE(pdev, SLC),
			[PUMICE_CACHE_DATA_L1] = QUERY_CACHE(pdev, DATA_L1),
			[PUMICE_CACHE_DATA_L2] = QUERY_CACHE(pdev, DATA_L2),
			[PUMICE_CACHE_TEXTURE_L1] = QUERY_CACHE(pdev, TEXTURE_L1),
			[PUMICE_CACHE_TEXTURE_L2] = QUERY_CACHE(pdev, TEXTURE_L2),
		},
		.vpm_bytes = PUMICE_FIELD_GET(PUMICE_SYS_UNITS__VPM_KIB, pdev->units) * SZ_1K,
		.idx_fifo = PUMICE_FIELD_GET(PUMICE_SYS_UNITS__IDX_FIFO, pdev->units),
		.chunk_fifo = PUMICE_FIELD_GET(PUMICE_SYS_UNITS__CHUNK_FIFO, pdev->units),
		.tile_fifo = PUMICE_FIELD_GET(PUMICE_SYS_UNITS__TILE_FIFO, pdev->units),
		.tsp_vertices = PUMICE_FIELD_GET(PUMICE_SYS_UNITS__TSP_VERTICES, pdev->units),
		.tcus_per_spu = PUMICE_FIELD_GET(PUMICE_SYS_UNITS__TCUS, pdev->units),
	};
}

static struct drm_pumice_query_fw query_fw(struct pumice_device *pdev)
{
	struct drm_pumice_query_fw fw = { .version = pdev->fw.header.version };

	static_assert(sizeof(fw.build_id) == FWIF_BUILD_ID_BYTES);
	memcpy(fw.build_id, pdev->fw.header.build_id, FWIF_BUILD_ID_BYTES);
	return fw;
}

/* Read both clocks in immediate succession. */
static struct drm_pumice_query_timestamp query_timestamp(struct pumice_device *pdev)
{
	struct drm_pumice_query_timestamp time = { 0 };
	unsigned long flags;

	local_irq_save(flags);
	time.gpu_ticks = pumice_read64(pdev, PUMICE_SYS_CLOCK);
	time.cpu_ns = ktime_get_ns();
	local_irq_restore(flags);
	return time;
}

/* Copy the result to the user, with the ioctl's rules for sizes. */
static int query_reply(struct drm_pumice_dev_query *args, const void *data, u32 size)
{
	void __user *to = u64_to_user_ptr(args->pointer);

	if (!args->pointer) {
		args->size = size;
		return 0;
	}
	if (copy_to_user(to, data, min(size, args->size)))
		return -EFAULT;
	if (args->size > size && clear_user(to + size, args->size - size))
		return -EFAULT;
	return 0;
}

/* The structure is large: it is not on the stack of the other queries. */
static noinline_for_stack int query_heaps(struct pumice_device *pdev,
					  struct drm_pumice_dev_query *args)
{
	struct drm_pumice_query_heaps heaps = pumice_heap_query(pdev);

	return query_reply(args, &heaps, sizeof(heaps));
}

static int pumice_query_run(struct pumice_device *pdev, struct drm_pumice_dev_query *args,
			    struct drm_file *file)
{
	struct drm_pumice_query_timestamp time;
	struct drm_pumice_query_stats stats;
	struct drm_pumice_query_gpu gpu;
	struct drm_pumice_query_fw fw;

	switch (args->type) {
	case DRM_PUMICE_QUERY_GPU:
		gpu = query_gpu(pdev, file);
		return query_reply(args, &gpu, sizeof(gpu));
	case DRM_PUMICE_QUERY_FW:
		fw = query_fw(pdev);
		return query_reply(args, &fw, sizeof(fw));
	case DRM_PUMICE_QUERY_TIMESTAMP:
		time = query_timestamp(pdev);
		return query_reply(args, &time, sizeof(time));
	case DRM_PUMICE_QUERY_STATS:
		stats = pumice_stats_query(pdev);
		return query_reply(args, &stats, sizeof(stats));
	case DRM_PUMICE_QUERY_HEAPS:
		return query_heaps(pdev, args);
	default:
		return -EINVAL;
	}
}

/**
 * pumice_ioctl_dev_query - implement DRM_IOCTL_PUMICE_DEV_QUERY
 * @drm: device
 * @data: struct drm_pumice_dev_query
 * @file: file
 *
 * Context: Process context. Wakes the GPU; acquires reset.lock for statistics.
 *
 * Return: 0; -EINVAL for an unknown type; -EFAULT if the result cannot be written; -EIO if the
 * GPU does not wake up; or -ENODEV if the device was unplugged.
 */
int pumice_ioctl_dev_query(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct pumice_device *pdev = to_pumice_device(drm);
	int ret, idx;

	ret = pumice_pm_enter(pdev, &idx);
	if (ret)
		return ret;
	ret = pumice_query_run(pdev, data, file);
	pumice_pm_leave(pdev, idx);
	return ret;
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_query_test.c"
#endif
