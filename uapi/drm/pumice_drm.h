/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/*
 * Pumice DRM interface.
 *
 * Rules of every ioctl:
 * - Unknown flags, non-zero padding and non-zero reserved fields give -EINVAL.
 * - Arrays are struct drm_pumice_array: a stride smaller than the element's
 *   first published size, or one whose extra bytes are not zero, is refused
 *   (-EINVAL, -E2BIG), so that elements may grow; counts above the named
 *   limit give -E2BIG.
 * - Handles of another file, of another kind or of nothing give -ENOENT.
 * - An unplugged device gives -ENODEV.
 *
 * What the fence of a job carries:
 *   0		the job ran to its end
 *   -EIO	the job faulted: CONTEXT_GET_STATE tells how. The context goes on.
 *   -ETIMEDOUT	the job took too long. Its context is GUILTY and takes no more jobs.
 *   -ECANCELED	the job was stopped for another reason: its context was destroyed or
 *		became GUILTY, or the GPU was reset
 *   -ESRCH	the context was destroyed while the job still waited in the kernel for
 *		the fence of another driver, or for a job that waits so
 *   -ENODEV	the device was unplugged
 * A job runs also if one it waits for ended with an error.
 */
#ifndef _PUMICE_DRM_H_
#define _PUMICE_DRM_H_

#include "drm.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Driver-specific ioctl numbers. */
#define DRM_PUMICE_DEV_QUERY		0x00
#define DRM_PUMICE_BO_CREATE		0x01
#define DRM_PUMICE_BO_MMAP_OFFSET	0x02
#define DRM_PUMICE_VM_CREATE		0x03
#define DRM_PUMICE_VM_DESTROY		0x04
#define DRM_PUMICE_VM_BIND		0x05
#define DRM_PUMICE_VM_GET_STATE		0x06
#define DRM_PUMICE_CONTEXT_CREATE	0x07
#define DRM_PUMICE_CONTEXT_DESTROY	0x08
#define DRM_PUMICE_CONTEXT_GET_STATE	0x09
#define DRM_PUMICE_SUBMIT		0x0a

/* Limits that user space may rely on; larger counts give -E2BIG. */
#define DRM_PUMICE_MAX_BIND_OPS		4096
#define DRM_PUMICE_MAX_JOBS		64
#define DRM_PUMICE_MAX_SYNCS		256	/* of one job */
#define DRM_PUMICE_MAX_BO_SIZE		(16ull << 30)	/* bytes */

/**
 * struct drm_pumice_array - an array in user memory
 */
struct drm_pumice_array {
	/** @stride: bytes from one element to the next */
	__u32 stride;
	/** @count: elements; 0 is an empty array, @array is then not read */
	__u32 count;
	/** @array: user pointer to the first element */
	__u64 array;
};

/**
 * enum drm_pumice_dev_query_type - what DEV_QUERY can tell
 */
enum drm_pumice_dev_query_type {
	/** @DRM_PUMICE_QUERY_GPU: struct drm_pumice_query_gpu */
	DRM_PUMICE_QUERY_GPU = 0,
	/** @DRM_PUMICE_QUERY_FW: struct drm_pumice_query_fw */
	DRM_PUMICE_QUERY_FW = 1,
	/** @DRM_PUMICE_QUERY_TIMESTAMP: struct drm_pumice_query_timestamp */
	DRM_PUMICE_QUERY_TIMESTAMP = 2,
};

/**
 * struct drm_pumice_dev_query - DRM_IOCTL_PUMICE_DEV_QUERY
 */
struct drm_pumice_dev_query {
	/** @type: in: enum drm_pumice_dev_query_type */
	__u32 type;
	/**
	 * @size: in: bytes at @pointer; out: bytes written, or with @pointer 0
	 * bytes that there are. A larger buffer than the kernel's structure is
	 * zeroed behind it, a smaller one is filled as far as it goes.
	 */
	__u32 size;
	/** @pointer: in: user pointer, or 0 to learn the size */
	__u64 pointer;
};

/**
 * struct drm_pumice_query_gpu - configuration of the GPU
 */
struct drm_pumice_query_gpu {
	/** @version: register map, major in the upper, minor in the lower 16 bits */
	__u32 version;
	/** @cores: cores */
	__u32 cores;
	/** @uscs_per_core: unified shading clusters of a core */
	__u32 uscs_per_core;
	/** @slots_per_usc: tasks that a USC holds */
	__u32 slots_per_usc;
	/** @unified_bytes: unified store of a USC, bytes */
	__u32 unified_bytes;
	/** @common_bytes: common store of a USC, bytes */
	__u32 common_bytes;
	/** @local_bytes: local memory of a USC, bytes */
	__u32 local_bytes;
	/** @max_group_instances: most instances of a work-group */
	__u32 max_group_instances;
	/** @page_sizes: page sizes the driver maps with: bit n is 2^n bytes */
	__u64 page_sizes;
	/** @va_start: first GPU virtual address that may be bound */
	__u64 va_start;
	/** @va_end: first GPU virtual address beyond */
	__u64 va_end;
	/** @clock_hz: ticks of the GPU clock in a second */
	__u64 clock_hz;
	/** @priorities: priorities this file may use: bit n is enum drm_pumice_priority n */
	__u32 priorities;
	/** @pad: zero */
	__u32 pad;
};

/**
 * struct drm_pumice_query_fw - the firmware that runs
 */
struct drm_pumice_query_fw {
	/** @version: interface version, major in the upper, minor in the lower 16 bits */
	__u32 version;
	/** @pad: zero */
	__u32 pad;
	/** @build_id: text, NUL terminated */
	__u8 build_id[32];
};

/**
 * struct drm_pumice_query_timestamp - both clocks, read together
 */
struct drm_pumice_query_timestamp {
	/** @gpu_ticks: GPU clock */
	__u64 gpu_ticks;
	/** @cpu_ns: CLOCK_MONOTONIC, ns */
	__u64 cpu_ns;
};

/**
 * struct drm_pumice_bo_create - DRM_IOCTL_PUMICE_BO_CREATE
 *
 * The memory is zeroed, and cached and coherent for CPU and GPU. Sizes above
 * DRM_PUMICE_MAX_BO_SIZE give -E2BIG.
 */
struct drm_pumice_bo_create {
	/** @size: in: bytes, not 0; out: rounded up to pages */
	__u64 size;
	/** @flags: in: zero */
	__u32 flags;
	/** @handle: out: GEM handle */
	__u32 handle;
	/**
	 * @exclusive_vm: in: VM that alone may bind it, which makes submission
	 * cheaper and forbids export; or 0
	 */
	__u32 exclusive_vm;
	/** @pad: zero */
	__u32 pad;
};

/**
 * struct drm_pumice_bo_mmap_offset - DRM_IOCTL_PUMICE_BO_MMAP_OFFSET
 */
struct drm_pumice_bo_mmap_offset {
	/** @handle: in: GEM handle */
	__u32 handle;
	/** @pad: zero */
	__u32 pad;
	/** @offset: out: for mmap() on the device file */
	__u64 offset;
};

/**
 * struct drm_pumice_vm_create - DRM_IOCTL_PUMICE_VM_CREATE
 */
struct drm_pumice_vm_create {
	/** @flags: in: zero */
	__u32 flags;
	/** @id: out: VM id, not 0 */
	__u32 id;
};

/**
 * struct drm_pumice_vm_destroy - DRM_IOCTL_PUMICE_VM_DESTROY
 *
 * Contexts of the VM keep it alive; binding to it ends at once.
 */
struct drm_pumice_vm_destroy {
	/** @id: in: VM id */
	__u32 id;
	/** @pad: zero */
	__u32 pad;
};

/**
 * enum drm_pumice_bind_type - kinds of bind operations
 */
enum drm_pumice_bind_type {
	/** @DRM_PUMICE_BIND_MAP: map a part of a BO; what was mapped there before goes */
	DRM_PUMICE_BIND_MAP = 0,
	/** @DRM_PUMICE_BIND_UNMAP: unmap a range, parts of mappings and holes included */
	DRM_PUMICE_BIND_UNMAP = 1,
};

/* Flags of struct drm_pumice_bind_op, for MAP. */
#define DRM_PUMICE_BIND_READONLY	0x1u	/* stores fault */
#define DRM_PUMICE_BIND_NOEXEC		0x2u	/* instruction fetches fault */

/**
 * struct drm_pumice_bind_op - one change of a VM
 */
struct drm_pumice_bind_op {
	/** @type: enum drm_pumice_bind_type */
	__u32 type;
	/** @flags: DRM_PUMICE_BIND_*; zero for UNMAP */
	__u32 flags;
	/** @handle: BO, for MAP; zero for UNMAP */
	__u32 handle;
	/** @pad: zero */
	__u32 pad;
	/** @bo_offset: first byte in the BO, page aligned, for MAP; zero for UNMAP */
	__u64 bo_offset;
	/** @va: GPU virtual address, page aligned */
	__u64 va;
	/** @size: bytes, page aligned, not 0 */
	__u64 size;
};

/**
 * struct drm_pumice_vm_bind - DRM_IOCTL_PUMICE_VM_BIND
 *
 * Operations take effect in order before the call returns. On an error
 * @ops.count tells the index of the operation that failed; those before it have
 * taken effect.
 */
struct drm_pumice_vm_bind {
	/** @vm: in: VM id */
	__u32 vm;
	/** @flags: in: zero */
	__u32 flags;
	/** @ops: in: array of struct drm_pumice_bind_op, at most DRM_PUMICE_MAX_BIND_OPS */
	struct drm_pumice_array ops;
};

/**
 * enum drm_pumice_vm_state - state of a VM
 */
enum drm_pumice_vm_state {
	/** @DRM_PUMICE_VM_USABLE: in order */
	DRM_PUMICE_VM_USABLE = 0,
	/** @DRM_PUMICE_VM_UNUSABLE: its tables could not be kept in step; destroy it */
	DRM_PUMICE_VM_UNUSABLE = 1,
};

/**
 * struct drm_pumice_vm_get_state - DRM_IOCTL_PUMICE_VM_GET_STATE
 */
struct drm_pumice_vm_get_state {
	/** @id: in: VM id */
	__u32 id;
	/** @state: out: enum drm_pumice_vm_state */
	__u32 state;
};

/**
 * enum drm_pumice_context_type - data masters
 */
enum drm_pumice_context_type {
	/** @DRM_PUMICE_CONTEXT_COMPUTE: compute data master */
	DRM_PUMICE_CONTEXT_COMPUTE = 1,
};

/**
 * enum drm_pumice_priority - priorities between contexts
 */
enum drm_pumice_priority {
	/** @DRM_PUMICE_PRIORITY_LOW: after all others */
	DRM_PUMICE_PRIORITY_LOW = 0,
	/** @DRM_PUMICE_PRIORITY_NORMAL: the usual */
	DRM_PUMICE_PRIORITY_NORMAL = 1,
	/**
	 * @DRM_PUMICE_PRIORITY_HIGH: before all others; needs CAP_SYS_NICE or DRM
	 * master, else -EACCES
	 */
	DRM_PUMICE_PRIORITY_HIGH = 2,
};

/**
 * struct drm_pumice_context_create - DRM_IOCTL_PUMICE_CONTEXT_CREATE
 *
 * A context is a queue: its jobs run in the order of submission.
 */
struct drm_pumice_context_create {
	/** @type: in: enum drm_pumice_context_type */
	__u32 type;
	/** @priority: in: enum drm_pumice_priority */
	__u32 priority;
	/** @vm: in: VM id; the VM lives as long as the context */
	__u32 vm;
	/** @flags: in: zero */
	__u32 flags;
	/** @id: out: context id, not 0 */
	__u32 id;
	/** @pad: zero */
	__u32 pad;
};

/**
 * struct drm_pumice_context_destroy - DRM_IOCTL_PUMICE_CONTEXT_DESTROY
 *
 * Jobs that wait or run are killed; what their fences carry stands above.
 */
struct drm_pumice_context_destroy {
	/** @id: in: context id */
	__u32 id;
	/** @pad: zero */
	__u32 pad;
};

/* State of a context. */
/* A job of it timed out: it takes no more jobs, SUBMIT gives -EIO. */
#define DRM_PUMICE_CONTEXT_GUILTY	0x1u
/* A GPU reset for another's sake stopped a job of it: as GUILTY. */
#define DRM_PUMICE_CONTEXT_INNOCENT	0x2u
/* A job of it faulted; it goes on. */
#define DRM_PUMICE_CONTEXT_FAULTED	0x4u

/**
 * struct drm_pumice_context_get_state - DRM_IOCTL_PUMICE_CONTEXT_GET_STATE
 */
struct drm_pumice_context_get_state {
	/** @id: in: context id */
	__u32 id;
	/** @state: out: DRM_PUMICE_CONTEXT_GUILTY, INNOCENT, FAULTED */
	__u32 state;
	/** @jobs_done: out: jobs that ended, well or not */
	__u64 jobs_done;
	/** @jobs_faulted: out: of these, ended by a fault, time-out or reset */
	__u64 jobs_faulted;
	/** @fault: out: enum fault of the hardware reference, of the last failed job; 0: none */
	__u32 fault;
	/** @unit: out: enum unit that raised it */
	__u32 unit;
	/** @access: out: enum access, for MMU faults */
	__u32 access;
	/** @pc: out: instruction index in the shader, where there is one */
	__u32 pc;
	/** @fault_va: out: GPU virtual address of the fault */
	__u64 fault_va;
	/** @last_start: out: GPU clock at the start of the job that ended last */
	__u64 last_start;
	/** @last_end: out: GPU clock at its end */
	__u64 last_end;
};

/* Flags of struct drm_pumice_sync. */
#define DRM_PUMICE_SYNC_SIGNAL		0x1u	/* signal, else wait */
#define DRM_PUMICE_SYNC_TIMELINE	0x2u	/* timeline syncobj, else binary */

/**
 * struct drm_pumice_sync - a wait or a signal of a job
 */
struct drm_pumice_sync {
	/** @flags: DRM_PUMICE_SYNC_* */
	__u32 flags;
	/** @handle: syncobj */
	__u32 handle;
	/** @value: point of the timeline; not 0 with TIMELINE, else 0 */
	__u64 value;
};

/**
 * struct drm_pumice_job - one job
 */
struct drm_pumice_job {
	/** @context: context id */
	__u32 context;
	/** @flags: zero */
	__u32 flags;
	/** @stream: GPU virtual address of the control stream, 4-byte aligned */
	__u64 stream;
	/** @syncs: array of struct drm_pumice_sync, at most DRM_PUMICE_MAX_SYNCS */
	struct drm_pumice_array syncs;
};

/**
 * struct drm_pumice_submit - DRM_IOCTL_PUMICE_SUBMIT
 *
 * All jobs are submitted, in order, or none. A job may wait for a syncobj that
 * an earlier job of the same call signals. On an error @jobs.count tells the
 * index of the job that was refused: -EIO for one whose context takes no more
 * jobs. An address that is aligned but not bound is no error here: the job faults.
 */
struct drm_pumice_submit {
	/** @flags: in: zero */
	__u32 flags;
	/** @pad: zero */
	__u32 pad;
	/** @jobs: in: array of struct drm_pumice_job, at most DRM_PUMICE_MAX_JOBS */
	struct drm_pumice_array jobs;
};

#define DRM_IOCTL_PUMICE_DEV_QUERY \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PUMICE_DEV_QUERY, struct drm_pumice_dev_query)
#define DRM_IOCTL_PUMICE_BO_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PUMICE_BO_CREATE, struct drm_pumice_bo_create)
#define DRM_IOCTL_PUMICE_BO_MMAP_OFFSET \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PUMICE_BO_MMAP_OFFSET, struct drm_pumice_bo_mmap_offset)
#define DRM_IOCTL_PUMICE_VM_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PUMICE_VM_CREATE, struct drm_pumice_vm_create)
#define DRM_IOCTL_PUMICE_VM_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_PUMICE_VM_DESTROY, struct drm_pumice_vm_destroy)
#define DRM_IOCTL_PUMICE_VM_BIND \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PUMICE_VM_BIND, struct drm_pumice_vm_bind)
#define DRM_IOCTL_PUMICE_VM_GET_STATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PUMICE_VM_GET_STATE, struct drm_pumice_vm_get_state)
#define DRM_IOCTL_PUMICE_CONTEXT_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PUMICE_CONTEXT_CREATE, struct drm_pumice_context_create)
#define DRM_IOCTL_PUMICE_CONTEXT_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_PUMICE_CONTEXT_DESTROY, struct drm_pumice_context_destroy)
#define DRM_IOCTL_PUMICE_CONTEXT_GET_STATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PUMICE_CONTEXT_GET_STATE, \
		 struct drm_pumice_context_get_state)
#define DRM_IOCTL_PUMICE_SUBMIT \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PUMICE_SUBMIT, struct drm_pumice_submit)

#if defined(__cplusplus)
}
#endif

#endif /* _PUMICE_DRM_H_ */
