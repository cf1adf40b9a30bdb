// SPDX-License-Identifier: MIT
/* Kernel backend: search for the device, and its properties. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

#include "drm.h"
#include "heaps_internal.h"

#define DRIVER_NAME	"pumice"
#define MAX_DEVICES	64

const char *drm_error_text(int err)
{
	return err == ENOMEM ? "out of memory" : strerror(err);
}

int drm_call(struct pumice_device *dev, unsigned long request, void *arg, const char *what)
{
	int err;

	if (!drmIoctl(drm_device(dev)->fd, request, arg))
		return 0;
	err = errno;
	return fail(dev, err, "%s: %s", what, drm_error_text(err));
}

int drm_create(struct pumice_device *dev, unsigned long request, void *arg, const char *what)
{
	int err = drm_call(dev, request, arg, what);

	if (err == -ENOSPC)
		return fail(dev, ENOSPC, "%s: a limit of this file or user is reached (see dmesg); "
			    "destroy one", what);
	return err;
}

static int query(struct pumice_device *dev, u32 type, void *to, u32 bytes, const char *what)
{
	struct drm_pumice_dev_query q = {
		.type = type, .size = bytes, .pointer = (uintptr_t)to,
	};

	memset(to, 0, bytes);
	return drm_call(dev, DRM_IOCTL_PUMICE_DEV_QUERY, &q, what);
}

static int drm_timestamp(struct pumice_device *dev, u64 *gpu_ticks, u64 *cpu_ns)
{
	struct drm_pumice_query_timestamp t;
	int err = query(dev, DRM_PUMICE_QUERY_TIMESTAMP, &t, sizeof(t), "timestamp");

	if (!err) {
		*gpu_ticks = t.gpu_ticks;
		*cpu_ns = t.cpu_ns;
	}
	return err;
}

static int drm_fw_counters(struct pumice_device *dev, struct pumice_fw_counters *counters)
{
	(void)counters;
	return fail(dev, EOPNOTSUPP, "firmware counters: the kernel does not return them; see gpu_trace and fw in debugfs");
}

static int drm_stats(struct pumice_device *dev, struct pumice_device_stats *stats)
{
	struct drm_pumice_query_stats s;
	int err = query(dev, DRM_PUMICE_QUERY_STATS, &s, sizeof(s), "statistics");

	if (err)
		return err;
	*stats = (struct pumice_device_stats){
		.time = s.time,
		.compute_busy = s.compute_busy,
		.usc_busy = s.usc_busy,
		.jobs_submitted = s.jobs_submitted,
		.jobs_done = s.jobs_done,
		.jobs_faulted = s.jobs_faulted,
		.mmu_faults = s.mmu_faults,
		.switches = s.switches,
		.resets = s.resets,
		.jobs_queued = s.jobs_queued,
		.jobs_firmware = s.jobs_firmware,
		.contexts = s.contexts,
		.contexts_busy = s.contexts_busy,
		.tasks = s.tasks,
		.waves = s.waves,
		.geometry_busy = s.geometry_busy,
		.fragment_busy = s.fragment_busy,
		.transfer_busy = s.transfer_busy,
		.partial_renders = s.partial_renders,
		.rays_busy = s.rays_busy,
	};
	return 0;
}

static int drm_fd(struct pumice_device *dev)
{
	return drm_device(dev)->fd;
}

static void drm_close(struct pumice_device *dev)
{
	close(drm_device(dev)->fd);
	free(drm_device(dev)->findings);
	pthread_mutex_destroy(&drm_device(dev)->findings_lock);
	device_fini(dev);
	free(dev);
}

static const struct backend_ops drm_ops = {
	.close = drm_close,
	.timestamp = drm_timestamp,
	.fw_counters = drm_fw_counters,
	.drm_fd = drm_fd,
	.stats = drm_stats,
	.bo_create = drm_bo_create,
	.bo_destroy = drm_bo_destroy,
	.bo_map = drm_bo_map,
	.bo_unmap = drm_bo_unmap,
	.bo_set_label = drm_bo_set_label,
	.bo_madvise = drm_bo_madvise,
	.vm_create = drm_vm_create,
	.vm_destroy = drm_vm_destroy,
	.vm_bind = drm_vm_bind,
	.vm_bind_async = drm_vm_bind_async,
	.vm_get_state = drm_vm_get_state,
	.vm_get_faults = drm_vm_get_faults,
	.context_create = drm_context_create,
	.context_destroy = drm_context_destroy,
	.resets = drm_resets,
	.context_set_priority = drm_context_set_priority,
	.context_get_state = drm_context_get_state,
	.context_kill = drm_context_kill,
	.context_dump = drm_context_dump,
	.job_result = drm_job_result,
	.sync_create = drm_sync_create,
	.sync_destroy = drm_sync_destroy,
	.sync_signal = drm_sync_signal,
	.sync_reset = drm_sync_reset,
	.sync_query = drm_sync_query,
	.sync_wait = drm_sync_wait,
	.submit = drm_submit,
	.wait_flip = drm_wait_flip,
	.freelist_create = drm_freelist_create,
	.freelist_destroy = drm_freelist_destroy,
	.hwrt_create = drm_hwrt_create,
	.hwrt_destroy = drm_hwrt_destroy,
	.perf_counter = drm_perf_counter,
	.perfmon_create = drm_perfmon_create,
	.perfmon_destroy = drm_perfmon_destroy,
	.perfmon_read = drm_perfmon_read,
	.hierarchy_row = drm_hierarchy_row,
	.finding = drm_finding,
	.mode = drm_mode,
	.set_mode = drm_set_mode,
	.findings_clears = drm_findings_clears,
	.findings_lost = drm_findings_lost,
	.trace_open = drm_trace_open,
	.trace_next = drm_trace_next,
	.trace_close = drm_trace_close,
};

/* Return whether @fd is a file of Pumice's driver. */
static bool is_pumice(int fd)
{
	drmVersionPtr version = drmGetVersion(fd);
	bool is = version && !strcmp(version->name, DRIVER_NAME);

	drmFreeVersion(version);
	return is;
}

/* Open a render node; -ENODEV when it is not ours. */
static int open_node(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (is_pumice(fd))
		return fd;
	close(fd);
	return -ENODEV;
}

/* Open the first render node of our driver. */
static int open_first(void)
{
	drmDevicePtr devices[MAX_DEVICES];
	int count = drmGetDevices2(0, devices, MAX_DEVICES);
	int fd = -ENODEV, i;

	if (count < 0)
		return count;
	for (i = 0; i < count && fd < 0; i++)
		if (devices[i]->available_nodes & 1 << DRM_NODE_RENDER)
			fd = open_node(devices[i]->nodes[DRM_NODE_RENDER]);
	drmFreeDevices(devices, count);
	return fd < 0 ? -ENODEV : fd;
}

/* Kernel interface version: the first whose calls report the failed operation as ours do. */
#define NEEDED_MAJOR	1
#define NEEDED_MINOR	1

static int check_version(struct pumice_device *dev)
{
	drmVersionPtr version = drmGetVersion(((struct drm_device *)dev)->fd);
	int major, minor;

	if (!version)
		return fail(dev, ENODEV, "the version of the driver's interface cannot be read; "
			    "update the kernel module");
	major = version->version_major;
	minor = version->version_minor;
	drmFreeVersion(version);
	if (major < NEEDED_MAJOR || (major == NEEDED_MAJOR && minor < NEEDED_MINOR))
		return fail(dev, ENODEV, "the driver's interface is %d.%d, older than %d.%d: "
			    "update the kernel module", major, minor, NEEDED_MAJOR, NEEDED_MINOR);
	if (major > NEEDED_MAJOR)
		return fail(dev, ENODEV, "the driver's interface is %d.%d, but the library supports %d: "
			    "update the library", major, minor, NEEDED_MAJOR);
	drm_device(dev)->minor = minor;
	return 0;
}

/* Buffers that are multiples of it have huge pages, as far as the kernel has any. */
#define HUGE_BYTES	(2ull << 20)

/* Describe the heaps. Drivers before uapi 1.4 have one, and select page sizes themselves. */
static int describe_heaps(struct pumice_device *dev)
{
	struct pumice_device_limits *limits = &dev->limits;
	struct drm_pumice_query_heaps q;
	char why[100];
	u32 i;
	int err = query(dev, DRM_PUMICE_QUERY_HEAPS, &q, sizeof(q), "query heaps");

	if (err == -EINVAL) {
		limits->heap_count = 1;
		limits->heaps[0] = (struct pumice_heap){
			.start = dev->info.va_start, .size = dev->info.va_end - dev->info.va_start,
			.page_bytes = PAGE_BYTES,
		};
		return 0;
	}
	if (err)
		return err;
	limits->heap_count = q.count;
	for (i = 0; i < q.count && i < PUMICE_MAX_HEAPS; i++)
		limits->heaps[i] = (struct pumice_heap){
			.start = q.heaps[i].start, .size = q.heaps[i].size,
			.page_bytes = q.heaps[i].page_bytes,
		};
	if (heaps_check(&dev->info, limits, why, sizeof(why)))
		return fail(dev, EPROTO, "the driver describes invalid heaps: %s; update the kernel module",
			    why);
	dev->contiguous_bytes = HUGE_BYTES;
	return 0;
}

static int describe(struct pumice_device *dev)
{
	struct pumice_device_info *info = &dev->info;
	struct drm_pumice_query_gpu gpu;
	struct drm_pumice_query_fw fw;
	int err = query(dev, DRM_PUMICE_QUERY_GPU, &gpu, sizeof(gpu), "query gpu");

	if (!err)
		err = query(dev, DRM_PUMICE_QUERY_FW, &fw, sizeof(fw), "query firmware");
	if (err)
		return err;
	*info = (struct pumice_device_info){
		.backend = "drm",
		.version = gpu.version,
		.fw_version = fw.version,
		.cores = gpu.cores,
		.uscs_per_core = gpu.uscs_per_core,
		.slots_per_usc = gpu.slots_per_usc,
		.unified_bytes = gpu.unified_bytes,
		.common_bytes = gpu.common_bytes,
		.local_bytes = gpu.local_bytes,
		.max_group_instances = gpu.max_group_instances,
		.priorities = gpu.priorities,
		.page_sizes = gpu.page_sizes,
		.va_start = gpu.va_start,
		.va_end = gpu.va_end,
		.clock_hz = gpu.clock_hz,
	};
	dev->limits = (struct pumice_device_limits){
		.slot_registers = gpu.slot_registers,
		.internal_registers = gpu.internal_registers,
		.perf_counters = gpu.perf_counters,
		.perfmons = DRM_PUMICE_MAX_PERFMONS,
		.preset = gpu.preset,
		.waves_per_usc = gpu.waves_per_usc,
		.batch = gpu.batch,
		.tasks_per_usc = gpu.tasks_per_usc,
		.pixel_outputs = gpu.pixel_outputs,
		.vpm_bytes = gpu.vpm_bytes,
		.idx_fifo = gpu.idx_fifo,
		.chunk_fifo = gpu.chunk_fifo,
		.tile_fifo = gpu.tile_fifo,
		.tsp_vertices = gpu.tsp_vertices,
		.tcus_per_spu = gpu.tcus_per_spu,
	};
	_Static_assert(sizeof(dev->limits.cache_bytes) == sizeof(gpu.cache_bytes), "the same caches");
	memcpy(dev->limits.cache_bytes, gpu.cache_bytes, sizeof(gpu.cache_bytes));
	memcpy(info->fw_build_id, fw.build_id, sizeof(info->fw_build_id) - 1);
	return describe_heaps(dev);
}

static int fail_no_node(const char *path, int err, char *error, size_t error_bytes)
{
	if (!path)
		return fail_text(error, error_bytes, -err,
				 "no render node of the driver " DRIVER_NAME ": %s; load it "
				 "(modprobe " DRIVER_NAME "), or open inproc (-d inproc, PUMICE_DEVICE=inproc)",
				 strerror(-err));
	if (err == -ENODEV)
		return fail_text(error, error_bytes, -err,
				 "%.100s: not a node of the driver " DRIVER_NAME "; open drm for the "
				 "first one, or inproc", path);
	return fail_text(error, error_bytes, -err, "%.100s: %s%s", path, strerror(-err),
			 err == -EACCES ? "; add the user to the group of the node" : "");
}

int drm_open(const char *rest, struct pumice_device **dev, char *error, size_t error_bytes)
{
	int fd = rest ? open_node(rest) : open_first();
	struct drm_device *d;
	int err;

	if (fd < 0)
		return fail_no_node(rest, fd, error, error_bytes);
	d = calloc(1, sizeof(*d));
	err = d ? device_init(&d->base, &drm_ops) : -ENOMEM;
	if (err) {
		free(d);
		close(fd);
		return fail_text(error, error_bytes, -err, "device: %s",
				 drm_error_text(-err));
	}
	pthread_mutex_init(&d->read_lock, NULL);
	pthread_mutex_init(&d->findings_lock, NULL);
	d->fd = fd;
	err = check_version(&d->base);
	if (!err)
		err = describe(&d->base);
	if (err) {
		fail_text(error, error_bytes, -err, "%s", device_error(&d->base));
		drm_close(&d->base);
		return err;
	}
	*dev = &d->base;
	return 0;
}
