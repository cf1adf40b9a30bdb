// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Raw ioctls of the driver. See gpu.h. */
#include "gpu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <xf86drm.h>

#include "check.h"

#define FIRST_NODE	128
#define NODES		64

static bool is_pumice(int fd)
{
	drmVersionPtr version = drmGetVersion(fd);
	bool match = version && !strcmp(version->name, "pumice");

	drmFreeVersion(version);
	return match;
}

/* The PCI device, because the number of its node changes when it is bound again. */
static char chosen[64];

/* The name of the PCI device that a link of sysfs points to. Return: whether there is one. */
static bool device_name(const char *link, char *name, size_t bytes)
{
	char target[256];
	ssize_t length = readlink(link, target, sizeof(target) - 1);

	if (length < 0)
		return false;
	target[length] = 0;
	snprintf(name, bytes, "%s", basename(target));
	return true;
}

void gpu_choose(int fd)
{
	struct stat node;
	char link[64];

	CHECK(!fstat(fd, &node));
	snprintf(link, sizeof(link), "/sys/dev/char/%u:%u/device", major(node.st_rdev),
		 minor(node.st_rdev));
	CHECK(device_name(link, chosen, sizeof(chosen)));
}

const char *gpu_chosen(void)
{
	return chosen[0] ? chosen : NULL;
}

/* Whether a render node belongs to the chosen device, or to any if none was chosen. */
static bool is_chosen(int number)
{
	char link[64], name[64];

	if (!chosen[0])
		return true;
	snprintf(link, sizeof(link), "/sys/class/drm/renderD%d/device", number);
	return device_name(link, name, sizeof(name)) && !strcmp(name, chosen);
}

/* The node's file, and its path if requested. */
static int find_node(char *path)
{
	char candidate[64];
	int i, fd;

	for (i = 0; i < NODES; i++) {
		if (!is_chosen(FIRST_NODE + i))
			continue;
		snprintf(candidate, sizeof(candidate), "/dev/dri/renderD%d", FIRST_NODE + i);
		fd = open(candidate, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (is_pumice(fd)) {
			if (path)
				strcpy(path, candidate);
			return fd;
		}
		close(fd);
	}
	return -ENODEV;
}

int gpu_open(void)
{
	return find_node(NULL);
}

int gpu_node(char *path)
{
	int fd = find_node(path);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int need_gpu(void)
{
	int fd = gpu_open();

	if (fd < 0)
		test_fail(__FILE__, __LINE__, "there is no render node of the driver");
	return fd;
}

int gpu_ioctl(int fd, unsigned long request, void *arg)
{
	return drmIoctl(fd, request, arg) ? -errno : 0;
}

int gpu_query(int fd, u32 type, void *data, u32 *size)
{
	struct drm_pumice_dev_query query = {
		.type = type, .size = *size, .pointer = (uintptr_t)data,
	};
	int err = gpu_ioctl(fd, DRM_IOCTL_PUMICE_DEV_QUERY, &query);

	*size = query.size;
	return err;
}

int gpu_bo_create(int fd, u64 size, u32 exclusive_vm, u32 *handle)
{
	struct drm_pumice_bo_create create = { .size = size, .exclusive_vm = exclusive_vm };
	int err = gpu_ioctl(fd, DRM_IOCTL_PUMICE_BO_CREATE, &create);

	*handle = create.handle;
	return err;
}

int gpu_bo_offset(int fd, u32 handle, u64 *offset)
{
	struct drm_pumice_bo_mmap_offset map = { .handle = handle };
	int err = gpu_ioctl(fd, DRM_IOCTL_PUMICE_BO_MMAP_OFFSET, &map);

	*offset = map.offset;
	return err;
}

int gpu_bo_close(int fd, u32 handle)
{
	struct drm_gem_close close_handle = { .handle = handle };

	return gpu_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &close_handle);
}

int gpu_vm_create(int fd, u32 *vm)
{
	struct drm_pumice_vm_create create = { 0 };
	int err = gpu_ioctl(fd, DRM_IOCTL_PUMICE_VM_CREATE, &create);

	*vm = create.id;
	return err;
}

int gpu_vm_destroy(int fd, u32 vm)
{
	struct drm_pumice_vm_destroy destroy = { .id = vm };

	return gpu_ioctl(fd, DRM_IOCTL_PUMICE_VM_DESTROY, &destroy);
}

int gpu_vm_state(int fd, u32 vm, u32 *state)
{
	struct drm_pumice_vm_get_state get = { .id = vm };
	int err = gpu_ioctl(fd, DRM_IOCTL_PUMICE_VM_GET_STATE, &get);

	*state = get.state;
	return err;
}

static int context_create(int fd, u32 vm, u32 type, u32 priority, u32 *context)
{
	struct drm_pumice_context_create create = {
		.type = type, .priority = priority, .vm = vm,
	};
	int err = gpu_ioctl(fd, DRM_IOCTL_PUMICE_CONTEXT_CREATE, &create);

	*context = create.id;
	return err;
}

int gpu_context_create(int fd, u32 vm, u32 priority, u32 *context)
{
	return context_create(fd, vm, DRM_PUMICE_CONTEXT_COMPUTE, priority, context);
}

int gpu_context_create_of(int fd, u32 vm, u32 type, u32 *context)
{
	return context_create(fd, vm, type, DRM_PUMICE_PRIORITY_NORMAL, context);
}

int gpu_context_destroy(int fd, u32 context)
{
	struct drm_pumice_context_destroy destroy = { .id = context };

	return gpu_ioctl(fd, DRM_IOCTL_PUMICE_CONTEXT_DESTROY, &destroy);
}

int gpu_context_state(int fd, u32 context, struct drm_pumice_context_get_state *state)
{
	*state = (struct drm_pumice_context_get_state){ .id = context };
	return gpu_ioctl(fd, DRM_IOCTL_PUMICE_CONTEXT_GET_STATE, state);
}

int gpu_context_set_priority(int fd, u32 context, u32 priority)
{
	struct drm_pumice_context_set_priority args = { .id = context, .priority = priority };

	return gpu_ioctl(fd, DRM_IOCTL_PUMICE_CONTEXT_SET_PRIORITY, &args);
}

int gpu_resets(int fd, struct drm_pumice_file_get_resets *resets)
{
	*resets = (struct drm_pumice_file_get_resets){ .flags = 0 };
	return gpu_ioctl(fd, DRM_IOCTL_PUMICE_FILE_GET_RESETS, resets);
}

int gpu_bind(int fd, u32 vm, const struct drm_pumice_bind_op *ops, u32 count, u32 *failed)
{
	struct drm_pumice_vm_bind bind = { .vm = vm, .ops = ARRAY_OF(ops, count) };
	int err = gpu_ioctl(fd, DRM_IOCTL_PUMICE_VM_BIND, &bind);

	CHECK_EQUAL(bind.ops.count, count);
	if (failed)
		*failed = bind.failed_op;
	return err;
}

int gpu_bind_async(int fd, u32 vm, const struct drm_pumice_bind_op *ops, u32 count,
		   const struct drm_pumice_sync *syncs, u32 sync_count)
{
	struct drm_pumice_vm_bind bind = {
		.vm = vm, .flags = DRM_PUMICE_VM_BIND_ASYNC, .ops = ARRAY_OF(ops, count),
		.syncs = ARRAY_OF(syncs, sync_count),
	};

	return gpu_ioctl(fd, DRM_IOCTL_PUMICE_VM_BIND, &bind);
}

int gpu_job_result(int fd, u32 context, u64 job, struct drm_pumice_job_get_result *result)
{
	*result = (struct drm_pumice_job_get_result){ .context = context, .job = job };
	return gpu_ioctl(fd, DRM_IOCTL_PUMICE_JOB_GET_RESULT, result);
}

int gpu_perfmon_create(int fd, const u32 *counters, u32 count, u32 *id)
{
	struct drm_pumice_perfmon_create args = { .counters = ARRAY_OF(counters, count) };
	int err = gpu_ioctl(fd, DRM_IOCTL_PUMICE_PERFMON_CREATE, &args);

	*id = args.id;
	return err;
}

int gpu_perfmon_destroy(int fd, u32 id)
{
	struct drm_pumice_perfmon_destroy args = { .id = id };

	return gpu_ioctl(fd, DRM_IOCTL_PUMICE_PERFMON_DESTROY, &args);
}

int gpu_perfmon_values(int fd, u32 id, u32 flags, u64 *values)
{
	struct drm_pumice_perfmon_get_values args = {
		.id = id, .flags = flags, .values = (uintptr_t)values,
	};

	return gpu_ioctl(fd, DRM_IOCTL_PUMICE_PERFMON_GET_VALUES, &args);
}

int gpu_free_list_create(int fd, struct drm_pumice_free_list_create *args)
{
	return gpu_ioctl(fd, DRM_IOCTL_PUMICE_FREE_LIST_CREATE, args);
}

int gpu_free_list_destroy(int fd, u32 id)
{
	struct drm_pumice_free_list_destroy args = { .id = id };

	return gpu_ioctl(fd, DRM_IOCTL_PUMICE_FREE_LIST_DESTROY, &args);
}

int gpu_hwrt_create(int fd, struct drm_pumice_hwrt_create *args)
{
	return gpu_ioctl(fd, DRM_IOCTL_PUMICE_HWRT_CREATE, args);
}

int gpu_hwrt_destroy(int fd, u32 id)
{
	struct drm_pumice_hwrt_destroy args = { .id = id };

	return gpu_ioctl(fd, DRM_IOCTL_PUMICE_HWRT_DESTROY, &args);
}

int gpu_submit(int fd, const struct drm_pumice_job *jobs, u32 count, u32 *failed)
{
	struct drm_pumice_submit submit = { .jobs = ARRAY_OF(jobs, count) };
	int err = gpu_ioctl(fd, DRM_IOCTL_PUMICE_SUBMIT, &submit);

	CHECK_EQUAL(submit.jobs.count, count);
	if (failed)
		*failed = submit.failed_job;
	return err;
}

struct drm_pumice_bind_op bind_map(u32 handle, u64 bo_offset, u64 va, u64 size, u32 flags)
{
	return (struct drm_pumice_bind_op){
		.type = DRM_PUMICE_BIND_MAP, .flags = flags, .handle = handle,
		.bo_offset = bo_offset, .va = va, .size = size,
	};
}

struct drm_pumice_bind_op bind_unmap(u64 va, u64 size)
{
	return (struct drm_pumice_bind_op){
		.type = DRM_PUMICE_BIND_UNMAP, .va = va, .size = size,
	};
}

struct drm_pumice_query_gpu need_info(int fd)
{
	struct drm_pumice_query_gpu info = { 0 };
	u32 size = sizeof(info);

	CHECK_OK(gpu_query(fd, DRM_PUMICE_QUERY_GPU, &info, &size));
	CHECK_EQUAL(size, sizeof(info));
	return info;
}

struct drm_pumice_query_stats need_stats(int fd)
{
	struct drm_pumice_query_stats stats;
	u32 size = sizeof(stats);

	CHECK_OK(gpu_query(fd, DRM_PUMICE_QUERY_STATS, &stats, &size));
	CHECK_EQUAL(size, sizeof(stats));
	return stats;
}

u32 need_bo(int fd, u64 size)
{
	u32 handle;

	CHECK_OK(gpu_bo_create(fd, size, 0, &handle));
	CHECK(handle);
	return handle;
}

u32 need_vm(int fd)
{
	u32 vm;

	CHECK_OK(gpu_vm_create(fd, &vm));
	CHECK(vm);
	return vm;
}

u32 need_context(int fd, u32 vm)
{
	u32 context;

	CHECK_OK(gpu_context_create(fd, vm, DRM_PUMICE_PRIORITY_NORMAL, &context));
	CHECK(context);
	return context;
}

u32 need_context_of(int fd, u32 vm, u32 type)
{
	u32 context;

	CHECK_OK(gpu_context_create_of(fd, vm, type, &context));
	CHECK(context);
	return context;
}

struct drm_pumice_context_get_state need_state(int fd, u32 context)
{
	struct drm_pumice_context_get_state state;

	CHECK_OK(gpu_context_state(fd, context, &state));
	return state;
}

void need_map(int fd, u32 vm, u32 handle, u64 bo_offset, u64 va, u64 size, u32 flags)
{
	struct drm_pumice_bind_op op = bind_map(handle, bo_offset, va, size, flags);

	CHECK_OK(gpu_bind(fd, vm, &op, 1, NULL));
}

void need_unmap(int fd, u32 vm, u64 va, u64 size)
{
	struct drm_pumice_bind_op op = bind_unmap(va, size);

	CHECK_OK(gpu_bind(fd, vm, &op, 1, NULL));
}

int gpu_cpu(int fd, u32 handle, u64 size, void **cpu)
{
	u64 offset;
	int err = gpu_bo_offset(fd, handle, &offset);

	*cpu = NULL;
	if (err)
		return err;
	*cpu = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
	if (*cpu != MAP_FAILED)
		return 0;
	*cpu = NULL;
	return -errno;
}

void *need_cpu(int fd, u32 handle, u64 size)
{
	void *cpu;

	CHECK_OK(gpu_cpu(fd, handle, size, &cpu));
	return cpu;
}

int gpu_mem_create(int fd, u32 vm, u64 va, u64 size, struct mem *mem)
{
	struct drm_pumice_bind_op op;
	void *cpu = NULL;
	int err;

	*mem = (struct mem){ .size = size, .va = va };
	err = gpu_bo_create(fd, size, 0, &mem->handle);
	if (!err) {
		op = bind_map(mem->handle, 0, va, size, 0);
		err = gpu_bind(fd, vm, &op, 1, NULL);
	}
	if (!err)
		err = gpu_cpu(fd, mem->handle, size, &cpu);
	mem->cpu = cpu;
	return err;
}

struct mem need_mem(int fd, u32 vm, u64 va, u64 size)
{
	struct mem mem;

	CHECK_OK(gpu_mem_create(fd, vm, va, size, &mem));
	return mem;
}
