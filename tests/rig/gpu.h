/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Raw ioctls of the driver, and memory, for the guest's tests.
 *
 * gpu_* functions return 0 or a negative errno and check nothing, so that a
 * test can pass invalid arguments. need_* functions end the case as failed when they
 * fail. libpumice is not used: the kernel is tested.
 */
#ifndef FX_GPU_H
#define FX_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include <drm/pumice_drm.h>

#include "pumice_types.h"

#define PAGE	4096u
#define MIB	(1ull << 20)
#define GIB	(1ull << 30)

/* Handles and ids that the driver never returned. */
#define NO_HANDLE	0x7fffffffu

/** gpu_open - open the render node that the driver serves. Return: file, or a negative errno. */
int gpu_open(void);

/**
 * gpu_choose - use the GPU of an open file from now on; usually it is the first
 * @fd: a node of it; may be closed afterwards
 *
 * Nodes, debugfs and sysfs are those of this PCI device, also after it is bound again.
 */
void gpu_choose(int fd);

/** gpu_chosen - PCI device of that GPU, such as 0000:01:00.0, or NULL if none was chosen. */
const char *gpu_chosen(void);

/** gpu_node - path of its render node, into a buffer of 64 bytes. Return: 0 or -ENODEV. */
int gpu_node(char *path);

/** need_gpu - as gpu_open(); the case fails without. */
int need_gpu(void);

/** gpu_ioctl - any ioctl of the driver. Return: 0 or a negative errno. */
int gpu_ioctl(int fd, unsigned long request, void *arg);

int gpu_query(int fd, u32 type, void *data, u32 *size);
int gpu_bo_create(int fd, u64 size, u32 exclusive_vm, u32 *handle);
int gpu_bo_offset(int fd, u32 handle, u64 *offset);
int gpu_bo_close(int fd, u32 handle);
int gpu_vm_create(int fd, u32 *vm);
int gpu_vm_destroy(int fd, u32 vm);
int gpu_vm_state(int fd, u32 vm, u32 *state);
int gpu_context_create(int fd, u32 vm, u32 priority, u32 *context);
int gpu_context_destroy(int fd, u32 context);
int gpu_context_state(int fd, u32 context, struct drm_pumice_context_get_state *state);

int gpu_context_set_priority(int fd, u32 context, u32 priority);
int gpu_resets(int fd, struct drm_pumice_file_get_resets *resets);

/** gpu_bind - change a VM. @failed: out on failure: index returned by the kernel; may be NULL. */
int gpu_bind(int fd, u32 vm, const struct drm_pumice_bind_op *ops, u32 count, u32 *failed);

/** gpu_bind_async - queue a change of a VM with waits and signals. */
int gpu_bind_async(int fd, u32 vm, const struct drm_pumice_bind_op *ops, u32 count,
		   const struct drm_pumice_sync *syncs, u32 sync_count);

/** gpu_job_result - read the result of job @job of a context; 0 is the last that ended. */
int gpu_job_result(int fd, u32 context, u64 job, struct drm_pumice_job_get_result *result);

/** gpu_context_create_of - create a context of any type, with normal priority. */
int gpu_context_create_of(int fd, u32 vm, u32 type, u32 *context);

int gpu_perfmon_create(int fd, const u32 *counters, u32 count, u32 *id);
int gpu_perfmon_destroy(int fd, u32 id);

/** gpu_perfmon_values - read a monitor. @values: one for each of its counters. */
int gpu_perfmon_values(int fd, u32 id, u32 flags, u64 *values);

/** gpu_free_list_create, gpu_hwrt_create - the ioctl without changes; @args.id is out. */
int gpu_free_list_create(int fd, struct drm_pumice_free_list_create *args);
int gpu_free_list_destroy(int fd, u32 id);
int gpu_hwrt_create(int fd, struct drm_pumice_hwrt_create *args);
int gpu_hwrt_destroy(int fd, u32 id);

/** gpu_submit - submit jobs. @failed: as in gpu_bind(). */
int gpu_submit(int fd, const struct drm_pumice_job *jobs, u32 count, u32 *failed);

/* Initialiser of a struct drm_pumice_array for a C array. */
#define ARRAY_OF(elements, n) \
	{ .stride = sizeof(*(elements)), .count = (n), .array = (uintptr_t)(elements) }

/** bind_map - a MAP operation. */
struct drm_pumice_bind_op bind_map(u32 handle, u64 bo_offset, u64 va, u64 size, u32 flags);

/** bind_unmap - an UNMAP operation. */
struct drm_pumice_bind_op bind_unmap(u64 va, u64 size);

struct drm_pumice_query_gpu need_info(int fd);
struct drm_pumice_query_stats need_stats(int fd);
u32 need_bo(int fd, u64 size);
u32 need_vm(int fd);
u32 need_context(int fd, u32 vm);
u32 need_context_of(int fd, u32 vm, u32 type);
struct drm_pumice_context_get_state need_state(int fd, u32 context);
void need_map(int fd, u32 vm, u32 handle, u64 bo_offset, u64 va, u64 size, u32 flags);
void need_unmap(int fd, u32 vm, u64 va, u64 size);

/** gpu_cpu - map a BO on the CPU, read and write. @cpu: out; NULL on failure. */
int gpu_cpu(int fd, u32 handle, u64 size, void **cpu);

/** need_cpu - as gpu_cpu(). */
void *need_cpu(int fd, u32 handle, u64 size);

/** struct mem - a BO mapped on CPU and GPU */
struct mem {
	u32 handle;
	u64 size;	/* bytes */
	u64 va;		/* GPU virtual address */
	u32 *cpu;
};

/** gpu_mem_create - create a BO, map all of it into a VM at @va, and on the CPU. */
int gpu_mem_create(int fd, u32 vm, u64 va, u64 size, struct mem *mem);

/** need_mem - as gpu_mem_create(). */
struct mem need_mem(int fd, u32 vm, u64 va, u64 size);

#endif
