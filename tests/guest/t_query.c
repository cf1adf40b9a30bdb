// SPDX-License-Identifier: MIT
/* DEV_QUERY: sizes, buffers, values. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "gpu.h"
#include "harness.h"
#include "presets.h"
#include "properties.h"
#include "pumice_names.h"
#include "pumice_regs.h"
#include "sync.h"

#define FILL 0xa5

static const struct {
	u32 type;
	u32 size;
} types[] = {
	{ DRM_PUMICE_QUERY_GPU, sizeof(struct drm_pumice_query_gpu) },
	{ DRM_PUMICE_QUERY_FW, sizeof(struct drm_pumice_query_fw) },
	{ DRM_PUMICE_QUERY_TIMESTAMP, sizeof(struct drm_pumice_query_timestamp) },
	{ DRM_PUMICE_QUERY_STATS, sizeof(struct drm_pumice_query_stats) },
	{ DRM_PUMICE_QUERY_HEAPS, sizeof(struct drm_pumice_query_heaps) },
};

#define TYPES (sizeof(types) / sizeof(types[0]))

static void null_pointer_returns_the_size(void)
{
	int fd = need_gpu();
	u32 i;

	for (i = 0; i < TYPES; i++) {
		u32 size = 0;

		CHECK_OK(gpu_query(fd, types[i].type, NULL, &size));
		CHECK_EQUAL(size, types[i].size);
	}
}

static void null_pointer_ignores_the_size_given(void)
{
	int fd = need_gpu();
	u32 size = UINT32_MAX;

	CHECK_OK(gpu_query(fd, DRM_PUMICE_QUERY_GPU, NULL, &size));
	CHECK_EQUAL(size, sizeof(struct drm_pumice_query_gpu));
}

static void short_buffer_is_filled_as_far_as_it_goes(void)
{
	int fd = need_gpu();
	struct drm_pumice_query_gpu whole = need_info(fd);
	u8 buffer[sizeof(whole)];
	u32 size = 8, i;

	memset(buffer, FILL, sizeof(buffer));
	CHECK_OK(gpu_query(fd, DRM_PUMICE_QUERY_GPU, buffer, &size));
	CHECK_EQUAL(size, 8);
	CHECK(!memcmp(buffer, &whole, 8));
	for (i = 8; i < sizeof(buffer); i++)
		CHECK_EQUAL(buffer[i], FILL);
}

/* Query statistics like user space built before there were other data masters. */
static void older_statistics_are_unchanged(void)
{
	const u32 old = offsetof(struct drm_pumice_query_stats, geometry_busy);
	struct drm_pumice_query_stats whole;
	u8 buffer[sizeof(whole)];
	int fd = need_gpu();
	u32 size = old, i;

	CHECK_EQUAL(old, 96);
	CHECK_EQUAL(offsetof(struct drm_pumice_query_stats, jobs_queued), 72);
	memset(buffer, FILL, sizeof(buffer));
	CHECK_OK(gpu_query(fd, DRM_PUMICE_QUERY_STATS, buffer, &size));
	CHECK_EQUAL(size, old);
	whole = need_stats(fd);
	CHECK(!memcmp(buffer + 8, (u8 *)&whole + 8, old - 8));
	for (i = old; i < sizeof(buffer); i++)
		CHECK_EQUAL(buffer[i], FILL);
}

static void buffer_of_no_bytes_is_not_touched(void)
{
	int fd = need_gpu();
	u8 buffer[8];
	u32 size = 0;

	memset(buffer, FILL, sizeof(buffer));
	CHECK_OK(gpu_query(fd, DRM_PUMICE_QUERY_GPU, buffer, &size));
	CHECK_EQUAL(size, 0);
	CHECK_EQUAL(buffer[0], FILL);
}

static void long_buffer_is_zeroed_after_the_known_part(void)
{
	int fd = need_gpu();
	u8 buffer[sizeof(struct drm_pumice_query_gpu) + 64];
	u32 size = sizeof(buffer), i;

	memset(buffer, FILL, sizeof(buffer));
	CHECK_OK(gpu_query(fd, DRM_PUMICE_QUERY_GPU, buffer, &size));
	CHECK_EQUAL(size, sizeof(buffer));
	for (i = sizeof(struct drm_pumice_query_gpu); i < sizeof(buffer); i++)
		CHECK_EQUAL(buffer[i], 0);
}

static void unknown_type_is_refused(void)
{
	static const u32 unknown[] = { DRM_PUMICE_QUERY_HEAPS + 1, 0x80000000u, UINT32_MAX };
	int fd = need_gpu();
	u8 buffer[64];
	u32 i;

	for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		u32 size = sizeof(buffer);

		CHECK_ERROR(gpu_query(fd, unknown[i], buffer, &size), EINVAL);
		CHECK_ERROR(gpu_query(fd, unknown[i], NULL, &size), EINVAL);
	}
}

static void bad_pointer_gives_efault(void)
{
	int fd = need_gpu();
	u32 i;

	for (i = 0; i < TYPES; i++) {
		u32 size = types[i].size;

		CHECK_ERROR(gpu_query(fd, types[i].type, (void *)(uintptr_t)16, &size), EFAULT);
	}
}

static void pointer_into_the_kernel_gives_efault(void)
{
	int fd = need_gpu();
	u32 size = sizeof(struct drm_pumice_query_gpu);

	CHECK_ERROR(gpu_query(fd, DRM_PUMICE_QUERY_GPU, (void *)(uintptr_t)0xffffffff81000000ull,
			      &size), EFAULT);
}

/* The sizes of each preset, in the units of hw/presets.h. */
static const struct {
	u32 cores, uscs, slots, tasks, waves, batch, unified_kib, common_kib, local_kib,
	    slot_registers, vpm_kib, idx, chunks, tiles;
	const char *outputs;
	u32 tsp;
} sizes[] = {
#define SIZES_OF(preset, cores, uscs, slots, tasks, waves, batch, unified, common, local, \
		 slot_registers, vpm, idx, chunks, tiles, outputs, tsp) \
	[PUMICE_PRESET_##preset] = { cores, uscs, slots, tasks, waves, batch, unified, common, \
				     local, slot_registers, vpm, idx, chunks, tiles, #outputs, \
				     tsp },
	PUMICE_PRESETS(SIZES_OF)
};

static const struct {
	u32 slc_kib, data_l1, data_l2, texture_l1, texture_l2;
} caches[] = {
#define CACHES_OF(preset, ...) [PUMICE_PRESET_##preset] = { __VA_ARGS__ },
	PUMICE_PRESET_CACHES(CACHES_OF)
};

/* Query the GPU, whose preset is one of the tables; properties override its sizes. */
static struct drm_pumice_query_gpu need_preset(void)
{
	struct drm_pumice_query_gpu info = need_info(need_gpu());

	CHECK(info.preset < sizeof(sizes) / sizeof(sizes[0]));
	return info;
}

static void preset_is_that_of_the_device(void)
{
	CHECK(!strcmp(pumice_preset_str(need_preset().preset),
		      device_property("preset", "default")));
}

static void gpu_values_agree_with_the_contract(void)
{
	struct drm_pumice_query_gpu info = need_preset();
	u32 lanes;

	CHECK_EQUAL(info.version, PUMICE_SYS_VERSION__RESET);
	CHECK_EQUAL(info.cores, device_size("cores", sizes[info.preset].cores));
	CHECK_EQUAL(info.uscs_per_core, device_size("uscs", sizes[info.preset].uscs));
	CHECK_EQUAL(info.slots_per_usc, device_size("slots", sizes[info.preset].slots));
	CHECK_EQUAL(info.tasks_per_usc, device_size("tasks", sizes[info.preset].tasks));
	CHECK_EQUAL(info.waves_per_usc, device_size("waves", sizes[info.preset].waves));
	CHECK_EQUAL(info.batch, device_size("batch", sizes[info.preset].batch));
	CHECK_EQUAL(info.slot_registers,
		    device_size("slot-registers", sizes[info.preset].slot_registers));
	CHECK_EQUAL(info.internal_registers, PUMICE_USC_OWN_REGS - info.slot_registers);
	lanes = info.waves_per_usc * PUMICE_LANES;
	CHECK_EQUAL(info.max_group_instances,
		    lanes < PUMICE_GROUP_INSTANCES ? lanes : PUMICE_GROUP_INSTANCES);
	CHECK(info.clock_hz);
}

static void stores_have_the_sizes_of_the_preset(void)
{
	struct drm_pumice_query_gpu info = need_preset();

	CHECK_EQUAL(info.unified_bytes,
		    device_size("unified-store-kib", sizes[info.preset].unified_kib) << 10);
	CHECK_EQUAL(info.common_bytes,
		    device_size("common-store-kib", sizes[info.preset].common_kib) << 10);
	CHECK_EQUAL(info.local_bytes,
		    device_size("local-memory-kib", sizes[info.preset].local_kib) << 10);
	CHECK(!strcmp(pumice_output_store_str(info.pixel_outputs),
		      device_property("pixel-outputs", sizes[info.preset].outputs)));
}

static void caches_have_the_sizes_of_the_preset(void)
{
	struct drm_pumice_query_gpu info = need_preset();
	const u32 *bytes = info.cache_bytes;

	CHECK_EQUAL(sizeof(info.cache_bytes) / sizeof(info.cache_bytes[0]), PUMICE_CACHE_COUNT);
	CHECK_EQUAL(bytes[PUMICE_CACHE_SLC],
		    device_size("slc-kib", caches[info.preset].slc_kib) << 10);
	CHECK_EQUAL(bytes[PUMICE_CACHE_DATA_L1],
		    device_size("data-l1-bytes", caches[info.preset].data_l1));
	CHECK_EQUAL(bytes[PUMICE_CACHE_DATA_L2],
		    device_size("data-l2-bytes", caches[info.preset].data_l2));
	CHECK_EQUAL(bytes[PUMICE_CACHE_TEXTURE_L1],
		    device_size("texture-l1-bytes", caches[info.preset].texture_l1));
	CHECK_EQUAL(bytes[PUMICE_CACHE_TEXTURE_L2],
		    device_size("texture-l2-bytes", caches[info.preset].texture_l2));
}

static void units_have_the_sizes_of_the_preset(void)
{
	struct drm_pumice_query_gpu info = need_preset();

	CHECK_EQUAL(info.vpm_bytes, device_size("vpm-kib", sizes[info.preset].vpm_kib) << 10);
	CHECK_EQUAL(info.idx_fifo, device_size("idx-fifo", sizes[info.preset].idx));
	CHECK_EQUAL(info.chunk_fifo, device_size("chunk-fifo", sizes[info.preset].chunks));
	CHECK_EQUAL(info.tile_fifo, device_size("tile-fifo", sizes[info.preset].tiles));
	CHECK_EQUAL(info.tsp_vertices, device_size("tsp-vertices", sizes[info.preset].tsp));
	CHECK_EQUAL(info.tcus_per_spu, info.uscs_per_core);
}

/* Query sizes like user space built before there were those of units. */
static void older_sizes_are_unchanged(void)
{
	const u32 old = offsetof(struct drm_pumice_query_gpu, vpm_bytes);
	struct drm_pumice_query_gpu whole;
	u8 buffer[sizeof(whole)];
	int fd = need_gpu();
	u32 size = old, i;

	CHECK_EQUAL(old, 120);
	memset(buffer, FILL, sizeof(buffer));
	CHECK_OK(gpu_query(fd, DRM_PUMICE_QUERY_GPU, buffer, &size));
	CHECK_EQUAL(size, old);
	whole = need_info(fd);
	CHECK(!memcmp(buffer, &whole, old));
	for (i = old; i < sizeof(buffer); i++)
		CHECK_EQUAL(buffer[i], FILL);
}

static void pages_and_addresses_are_sane(void)
{
	struct drm_pumice_query_gpu info = need_info(need_gpu());

	CHECK(info.page_sizes & PAGE);
	CHECK_EQUAL(info.page_sizes & (PAGE - 1), 0);
	CHECK_EQUAL(info.page_sizes & (2 * MIB), 2 * MIB);
	CHECK(info.va_start < info.va_end);
	CHECK_EQUAL(info.va_start % PAGE, 0);
	CHECK_EQUAL(info.va_end % PAGE, 0);
	CHECK(info.va_end <= 1ull << PUMICE_MMU_VA_BITS);
}

/* In ascending order, without gaps; programs for 1.2 use that of 4 KiB pages. */
static void heaps_have_every_page_size_and_do_not_overlap(void)
{
	struct drm_pumice_query_gpu info = need_info(need_gpu());
	struct drm_pumice_query_heaps query = need_heaps(need_gpu());
	u64 sizes = 0, next;
	u32 i;

	CHECK(query.count && query.count <= DRM_PUMICE_MAX_HEAPS);
	CHECK_EQUAL(query.pad, 0);
	CHECK_EQUAL(query.heaps[0].start, info.va_start);
	CHECK_EQUAL(query.heaps[0].start + query.heaps[0].size, info.va_end);
	CHECK_EQUAL(query.heaps[0].page_bytes, PAGE);
	next = info.va_start;
	for (i = 0; i < query.count; i++) {
		CHECK_EQUAL(query.heaps[i].start, next);
		CHECK_EQUAL(query.heaps[i].size % query.heaps[i].page_bytes, 0);
		CHECK_EQUAL(query.heaps[i].pad, 0);
		next += query.heaps[i].size;
		sizes |= query.heaps[i].page_bytes;
	}
	CHECK_EQUAL(sizes, info.page_sizes);
	CHECK(next <= 1ull << PUMICE_MMU_VA_BITS);
	for (; i < DRM_PUMICE_MAX_HEAPS; i++)
		CHECK_EQUAL(query.heaps[i].size, 0);
}

static void root_may_use_every_priority(void)
{
	struct drm_pumice_query_gpu info = need_info(need_gpu());

	CHECK_EQUAL(info.priorities, 1u << DRM_PUMICE_PRIORITY_LOW |
		    1u << DRM_PUMICE_PRIORITY_NORMAL | 1u << DRM_PUMICE_PRIORITY_HIGH);
}

static void firmware_has_a_version_and_a_build_id(void)
{
	struct drm_pumice_query_fw fw;
	u32 size = sizeof(fw);
	int fd = need_gpu();

	CHECK_OK(gpu_query(fd, DRM_PUMICE_QUERY_FW, &fw, &size));
	CHECK(fw.version >> 16);
	CHECK_EQUAL(fw.pad, 0);
	CHECK(memchr(fw.build_id, 0, sizeof(fw.build_id)));
	CHECK(fw.build_id[0]);
}

static void both_clocks_go_forward(void)
{
	struct drm_pumice_query_timestamp first, second;
	u32 size = sizeof(first);
	int fd = need_gpu();
	u64 before = now_ns();

	CHECK_OK(gpu_query(fd, DRM_PUMICE_QUERY_TIMESTAMP, &first, &size));
	CHECK_OK(gpu_query(fd, DRM_PUMICE_QUERY_TIMESTAMP, &second, &size));
	CHECK(first.cpu_ns >= before);
	CHECK(second.cpu_ns >= first.cpu_ns);
	CHECK(second.gpu_ticks > first.gpu_ticks);
	CHECK(second.cpu_ns <= now_ns());
}

static const struct test_case cases[] = {
	TEST_CASE(null_pointer_returns_the_size),
	TEST_CASE(null_pointer_ignores_the_size_given),
	TEST_CASE(short_buffer_is_filled_as_far_as_it_goes),
	TEST_CASE(older_statistics_are_unchanged),
	TEST_CASE(buffer_of_no_bytes_is_not_touched),
	TEST_CASE(long_buffer_is_zeroed_after_the_known_part),
	TEST_CASE(unknown_type_is_refused),
	TEST_CASE(bad_pointer_gives_efault),
	TEST_CASE(pointer_into_the_kernel_gives_efault),
	TEST_CASE(preset_is_that_of_the_device),
	TEST_CASE(gpu_values_agree_with_the_contract),
	TEST_CASE(stores_have_the_sizes_of_the_preset),
	TEST_CASE(caches_have_the_sizes_of_the_preset),
	TEST_CASE(units_have_the_sizes_of_the_preset),
	TEST_CASE(older_sizes_are_unchanged),
	TEST_CASE(pages_and_addresses_are_sane),
	TEST_CASE(heaps_have_every_page_size_and_do_not_overlap),
	TEST_CASE(root_may_use_every_priority),
	TEST_CASE(firmware_has_a_version_and_a_build_id),
	TEST_CASE(both_clocks_go_forward),
};

TEST_MAIN(cases)
