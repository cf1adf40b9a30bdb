/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/*
 * Pumice DRM interface.
 *
 * Rules of every ioctl:
 * - Unknown flags, non-zero padding and non-zero reserved fields return -EINVAL.
 * - Arrays are struct drm_pumice_array: a stride smaller than the element's first published size,
 *   or one whose extra bytes are not zero, is refused (-EINVAL, -E2BIG), so that elements may grow;
 *   counts above the named limit return -E2BIG.
 * - Invalid handles, and handles of another file or another kind, return -ENOENT.
 * - After an unplug of the device, calls return -ENODEV.
 * - Resources that all users share are limited per file and per user, and a part of them is
 *   reserved: -ENOSPC, see CONTEXT_CREATE.
 * - A signal may interrupt a call that waits: -EINTR. The input fields of its arguments are not
 *   modified, so the call can be repeated unchanged, as drmIoctl() does.
 *
 * Versions, as returned by drmGetVersion(); this header is of the last one:
 *   1.0	counts of VM_BIND and SUBMIT also carry the failing index
 *   1.1	failed_op and failed_job; BO_MADVISE, CONTEXT_SET_PRIORITY, FILE_GET_RESETS,
 *		VM_GET_FAULTS; DRM_PUMICE_BIND_UNMAP_ALL and DRM_PUMICE_BIND_NULL. A 1.0 kernel
 *		refuses them with -EINVAL, and does not write the two fields. A program for 1.0 does
 *		not receive the index of the failed operation from a 1.1 kernel, which does not
 *		modify counts.
 *		JOB_GET_RESULT from @waves on, which a 1.0 kernel does not write.
 *		DRM_PUMICE_PERF_COUNTER_GLOBAL, with -EACCES of PERFMON_CREATE for callers without
 *		the right to such counters. -ENOSPC above DRM_PUMICE_MAX_QUEUED_* and the limits of
 *		CONTEXT_CREATE, which a 1.0 kernel does not have.
 *   1.2	JOB_GET_RESULT from @code on: the place of a fault. A 1.1 kernel does not write
 *		these fields; programs set them to zero before the call.
 *   1.3	struct drm_pumice_query_gpu from @preset on
 *   1.4	DRM_PUMICE_FAULT_LOCAL; for these faults a 1.3 kernel reports the address of the
 *		instruction as DRM_PUMICE_FAULT_INSTRUCTION. DRM_PUMICE_FAULT_REGISTER, of a fault
 *		that devices of a 1.3 kernel do not have. DRM_PUMICE_QUERY_HEAPS, which a 1.3
 *		kernel refuses with -EINVAL: it has no heaps. Addresses below
 *		drm_pumice_query_gpu.va_end are used as before.
 *		DRM_PUMICE_FREE_LIST_GPU_TABLES, which a 1.3 kernel refuses with -EINVAL.
 *		@tasks_per_usc and @pixel_outputs of struct drm_pumice_query_gpu, which are 0 of a
 *		1.3 kernel.
 *   1.5	@presents and @present_data of struct drm_pumice_job, which a 1.4 kernel refuses
 *		with -E2BIG unless they are 0; DRM_PUMICE_EVENT_FLIP; -ENOSPC of SUBMIT without
 *		space for its events, and -EOPNOTSUPP on a device or firmware without flips.
 *		DRM_PUMICE_CONTEXT_RAYS, which a 1.4 kernel refuses with -EINVAL, and @rays_busy of
 *		the statistics.
 *   1.6	@cache_bytes of struct drm_pumice_query_gpu, the first of which is padding of a
 *		1.5 kernel: 0. POLLHUP of poll() when the device was removed and no event follows; a
 *		1.5 kernel reports nothing, and poll() may wait for ever. Ioctls return -ENODEV.
 *		-E2BIG of SUBMIT for more than DRM_PUMICE_MAX_PRESENTS @presents, for which a 1.5
 *		kernel returns -EINVAL.
 *   1.7	struct drm_pumice_query_gpu from @vpm_bytes on. Of a 1.6 kernel these are 0, as
 *		DEV_QUERY zeroes the rest of a larger buffer.
 *   1.8	DRM_PUMICE_BO_WRITE_COMBINED and DRM_PUMICE_BO_COHERENT, which a 1.7 kernel refuses
 *		with -EINVAL.
 *
 * Status of the fence of a job:
 *   0		the job completed
 *   -EIO	the job faulted: see CONTEXT_GET_STATE. The context remains usable.
 *   -ETIMEDOUT	the job timed out. Its context is GUILTY and accepts no more jobs.
 *   -ECANCELED	the job was stopped for another reason: its context was destroyed or
 *		became GUILTY, or the GPU was reset while a job of the context ran
 *   -ESRCH	the context was destroyed while the job still waited in the kernel for
 *		the fence of another driver, directly or through another job
 *   -ENODEV	the device was unplugged
 * A job runs even if a job that it waits for ended with an error.
 */
#ifndef _PUMICE_DRM_H_
#define _PUMICE_DRM_H_

#include "drm.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define DRM_PUMICE_VERSION_MAJOR	1
#define DRM_PUMICE_VERSION_MINOR	8

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
#define DRM_PUMICE_BO_SET_LABEL		0x0b
#define DRM_PUMICE_JOB_GET_RESULT	0x0c
#define DRM_PUMICE_PERF_COUNTER_GET	0x0d
#define DRM_PUMICE_PERFMON_CREATE	0x0e
#define DRM_PUMICE_PERFMON_DESTROY	0x0f
#define DRM_PUMICE_PERFMON_GET_VALUES	0x10
#define DRM_PUMICE_FREE_LIST_CREATE	0x11
#define DRM_PUMICE_FREE_LIST_DESTROY	0x12
#define DRM_PUMICE_HWRT_CREATE		0x13
#define DRM_PUMICE_HWRT_DESTROY		0x14
#define DRM_PUMICE_BO_MADVISE		0x15
#define DRM_PUMICE_CONTEXT_SET_PRIORITY	0x16
#define DRM_PUMICE_FILE_GET_RESETS	0x17
#define DRM_PUMICE_VM_GET_FAULTS	0x18

/* Limits that user space may rely on; larger counts return -E2BIG. */
#define DRM_PUMICE_MAX_BIND_OPS		4096
#define DRM_PUMICE_MAX_JOBS		64
#define DRM_PUMICE_MAX_SYNCS		256	/* of one job */
/*
 * Limits of queues; -ENOSPC above them until entries have taken effect or ended:
 * asynchronous VM_BIND calls of a VM that wait; page tables that their operations may
 * need, one for each 2 MiB and one for each GiB that a MAP touches and two for an UNMAP;
 * jobs of a context that have not ended.
 */
#define DRM_PUMICE_MAX_QUEUED_BINDS	1024
#define DRM_PUMICE_MAX_QUEUED_TABLES	65536
#define DRM_PUMICE_MAX_QUEUED_JOBS	4096
#define DRM_PUMICE_MAX_BO_SIZE		(16ull << 30)	/* bytes */
#define DRM_PUMICE_MAX_LABEL		64		/* bytes, NUL included */
#define DRM_PUMICE_JOB_RESULTS		64		/* kept of a context's jobs */
#define DRM_PUMICE_MAX_PERF_COUNTERS	32		/* of one performance monitor */
#define DRM_PUMICE_MAX_FREE_LIST_PAGES	262144		/* of 4 KiB */
#define DRM_PUMICE_HWRT_DATA		2		/* scenes of a data set */
#define DRM_PUMICE_MAX_PRESENTS		16		/* of one job */
#define DRM_PUMICE_MAX_RENDER_SIZE	8192		/* pixels */
/* Limits of one file; -ENOSPC above them. */
#define DRM_PUMICE_MAX_VMS		256
#define DRM_PUMICE_MAX_FREE_LISTS	64
#define DRM_PUMICE_MAX_HWRTS		256
#define DRM_PUMICE_MAX_PERFMONS		16
#define DRM_PUMICE_MAX_FILE_QUEUES	80		/* of contexts */
#define DRM_PUMICE_MAX_FILE_SHARED	(32ull << 20)	/* bytes for the firmware */

/**
 * struct drm_pumice_array - an array in user memory
 */
struct drm_pumice_array {
	/** @stride: bytes from one element to the next */
	__u32 stride;
	/** @count: elements; 0 is an empty array, and @array is not read */
	__u32 count;
	/** @array: user pointer to the first element */
	__u64 array;
};

/* Faults of a VM and locations of jobs that timed out; uses struct drm_pumice_array. */
#include "pumice_drm_fault.h"

/**
 * enum drm_pumice_dev_query_type - structures that DEV_QUERY can return
 */
enum drm_pumice_dev_query_type {
	/** @DRM_PUMICE_QUERY_GPU: struct drm_pumice_query_gpu */
	DRM_PUMICE_QUERY_GPU = 0,
	/** @DRM_PUMICE_QUERY_FW: struct drm_pumice_query_fw */
	DRM_PUMICE_QUERY_FW = 1,
	/** @DRM_PUMICE_QUERY_TIMESTAMP: struct drm_pumice_query_timestamp */
	DRM_PUMICE_QUERY_TIMESTAMP = 2,
	/** @DRM_PUMICE_QUERY_STATS: struct drm_pumice_query_stats */
	DRM_PUMICE_QUERY_STATS = 3,
	/** @DRM_PUMICE_QUERY_HEAPS: struct drm_pumice_query_heaps */
	DRM_PUMICE_QUERY_HEAPS = 4,
};

/**
 * struct drm_pumice_dev_query - DRM_IOCTL_PUMICE_DEV_QUERY
 *
 * With @pointer 0, @size returns the bytes of the kernel's structure. The rest of a larger buffer
 * is zeroed; a smaller buffer receives the start of the structure.
 */
struct drm_pumice_dev_query {
	/** @type: in: enum drm_pumice_dev_query_type */
	__u32 type;
	/** @size: in: bytes at @pointer; out: bytes written */
	__u32 size;
	/** @pointer: in: user pointer, or 0 to query the size */
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
	/** @slots_per_usc: task slots of a USC */
	__u32 slots_per_usc;
	/** @unified_bytes: unified store of a USC, bytes */
	__u32 unified_bytes;
	/** @common_bytes: common store of a USC, bytes */
	__u32 common_bytes;
	/** @local_bytes: local memory of a USC, bytes */
	__u32 local_bytes;
	/** @max_group_instances: maximum number of instances of a work-group */
	__u32 max_group_instances;
	/** @page_sizes: page sizes that the driver uses: bit n is 2^n bytes */
	__u64 page_sizes;
	/** @va_start: first GPU virtual address that may be bound */
	__u64 va_start;
	/**
	 * @va_end: end of the range that may be bound in pages of 4 KiB, exclusive; heaps of
	 * larger pages are at higher addresses
	 */
	__u64 va_end;
	/** @clock_hz: ticks of the GPU clock in a second */
	__u64 clock_hz;
	/** @priorities: priorities this file may use: bit n is enum drm_pumice_priority n */
	__u32 priorities;
	/** @perf_counters: number of performance counters */
	__u32 perf_counters;
	/** @slot_registers: slot registers of a slot */
	__u32 slot_registers;
	/** @internal_registers: internal registers of an instance */
	__u32 internal_registers;
	/** @preset: preset of the device's sizes, by its number in the register map */
	__u32 preset;
	/** @waves_per_usc: waves that can be in flight on a USC; 0: not reported by the device */
	__u32 waves_per_usc;
	/** @batch: maximum number of vertices or fragments of a task; 0 as @waves_per_usc */
	__u32 batch;
	/**
	 * @tasks_per_usc: tasks that a USC manages, in slots and waiting for one; 0 as
	 * @waves_per_usc
	 */
	__u32 tasks_per_usc;
	/**
	 * @pixel_outputs: store of pixel outputs, by its number in the register map; 0: not
	 * reported, as by 1.3 kernels
	 */
	__u32 pixel_outputs;
	/**
	 * @cache_bytes: sizes of caches, by their number in the register map; 0: not reported, as
	 * by 1.5 kernels. They have no effect on results
	 */
	__u32 cache_bytes[5];
	/**
	 * @vpm_bytes: vertex pipe memory of a core, bytes; 0: not reported, as by 1.6 kernels
	 */
	__u32 vpm_bytes;
	/** @idx_fifo: primitives in the IDX FIFO of a core; 0 as @vpm_bytes */
	__u32 idx_fifo;
	/** @chunk_fifo: chunks of draws between the master VDM and a core; 0 as @vpm_bytes */
	__u32 chunk_fifo;
	/** @tile_fifo: tiles between the master IPF and a core; 0 as @vpm_bytes */
	__u32 tile_fifo;
	/** @tsp_vertices: vertices in the cache of a core's TSP; 0 as @vpm_bytes */
	__u32 tsp_vertices;
	/**
	 * @tcus_per_spu: texture cache interfaces of an SPU: one for each USC. A core is one SPU.
	 * 0 as @vpm_bytes
	 */
	__u32 tcus_per_spu;
};

#define DRM_PUMICE_MAX_HEAPS		9

/**
 * struct drm_pumice_heap - GPU virtual addresses with one page size
 */
struct drm_pumice_heap {
	/** @start: first address */
	__u64 start;
	/** @size: bytes */
	__u64 size;
	/** @page_bytes: page size */
	__u32 page_bytes;
	/** @pad: zero */
	__u32 pad;
};

/**
 * struct drm_pumice_query_heaps - layout of the address space of every VM
 */
struct drm_pumice_query_heaps {
	/** @count: number of @heaps; the others are zero */
	__u32 count;
	/** @pad: zero */
	__u32 pad;
	/** @heaps: the first is that of 4 KiB pages */
	struct drm_pumice_heap heaps[DRM_PUMICE_MAX_HEAPS];
};

/**
 * struct drm_pumice_query_fw - the running firmware
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
 * struct drm_pumice_query_stats - statistics of the GPU, of all its users
 *
 * All values except the current ones count since the driver was loaded and are
 * not cleared by a GPU reset or a suspend.
 */
struct drm_pumice_query_stats {
	/** @time: GPU clock, ticks */
	__u64 time;
	/** @compute_busy: ticks in which the compute data master had a job */
	__u64 compute_busy;
	/** @usc_busy: ns in which USCs ran waves, summed over USCs */
	__u64 usc_busy;
	/** @jobs_submitted: jobs that were submitted */
	__u64 jobs_submitted;
	/** @jobs_done: jobs that ended, with success or an error */
	__u64 jobs_done;
	/** @jobs_faulted: of these, ended by a fault, time-out or reset */
	__u64 jobs_faulted;
	/** @mmu_faults: requests of the GPU that faulted */
	__u64 mmu_faults;
	/** @switches: times that a job was switched out for another */
	__u64 switches;
	/** @resets: GPU resets */
	__u64 resets;
	/** @jobs_queued: currently: jobs that wait for a dependency or for the firmware */
	__u32 jobs_queued;
	/** @jobs_firmware: currently: jobs submitted to the firmware */
	__u32 jobs_firmware;
	/** @contexts: currently: contexts */
	__u32 contexts;
	/** @contexts_busy: currently: contexts with jobs submitted to the firmware */
	__u32 contexts_busy;
	/** @tasks: currently: tasks in slots of all USCs */
	__u32 tasks;
	/** @waves: currently: waves in flight on all USCs */
	__u32 waves;
	/** @geometry_busy: as @compute_busy, of the vertex data master; includes waits for pages */
	__u64 geometry_busy;
	/** @fragment_busy: as @compute_busy, of the pixel data master; includes partial renders */
	__u64 fragment_busy;
	/** @transfer_busy: as @compute_busy, of the transfer data master */
	__u64 transfer_busy;
	/** @partial_renders: renders of scenes whose geometry jobs ran out of pages */
	__u64 partial_renders;
	/** @rays_busy: as @compute_busy, of the ray-tracing data master; since 1.5 */
	__u64 rays_busy;
};

/**
 * enum drm_pumice_bo_flags - properties of a BO, which do not change
 */
enum drm_pumice_bo_flags {
	/**
	 * @DRM_PUMICE_BO_WRITE_COMBINED: mappings of the CPU are write-combined: for memory that
	 * it writes in order and never reads. The caches of the GPU are used as for other BOs
	 */
	DRM_PUMICE_BO_WRITE_COMBINED = 1 << 0,
	/**
	 * @DRM_PUMICE_BO_COHERENT: caches of the GPU keep nothing of it: a job sees a store of the
	 * CPU, and the CPU one of a job, while the job runs. Each access of the GPU is one of
	 * memory
	 */
	DRM_PUMICE_BO_COHERENT = 1 << 1,
};

/**
 * struct drm_pumice_bo_create - DRM_IOCTL_PUMICE_BO_CREATE
 *
 * The memory is zeroed. Without @flags it is cached for CPU and GPU: a job sees stores of the CPU
 * from before its SUBMIT, and the CPU those of a job whose fence has signalled. A job may use a BO
 * that is not coherent only if its VM_BIND was called before the SUBMIT. Sizes above
 * DRM_PUMICE_MAX_BO_SIZE return -E2BIG.
 *
 * Both flags together return -EINVAL: a store through a write-combined mapping reaches memory at
 * an unspecified time. DRM_PUMICE_BO_COHERENT returns -EOPNOTSUPP on devices with a register map
 * before 2.11 (@version of struct drm_pumice_query_gpu). A BO that is imported from another device
 * has no flags.
 */
struct drm_pumice_bo_create {
	/**
	 * @size: in: bytes, not 0; out: rounded up to pages. Bytes after the requested ones may be
	 * used, but in mode strict the GPU reports accesses to them.
	 */
	__u64 size;
	/** @flags: in: enum drm_pumice_bo_flags */
	__u32 flags;
	/** @handle: out: GEM handle */
	__u32 handle;
	/** @exclusive_vm: in: the only VM that may bind it: cheaper to submit, no export; or 0 */
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
 * struct drm_pumice_bo_set_label - DRM_IOCTL_PUMICE_BO_SET_LABEL
 *
 * The label is shown in the debugfs list of BOs and in dumps. A new label replaces the previous
 * one; more than DRM_PUMICE_MAX_LABEL bytes return -E2BIG.
 */
struct drm_pumice_bo_set_label {
	/** @handle: in: GEM handle */
	__u32 handle;
	/** @pad: zero */
	__u32 pad;
	/** @label: in: user pointer to a NUL-terminated text; or 0 to remove the label */
	__u64 label;
};

/**
 * enum drm_pumice_bo_advice - whether the content of a BO is needed
 */
enum drm_pumice_bo_advice {
	/** @DRM_PUMICE_BO_WILLNEED: it is needed; initial state of every BO */
	DRM_PUMICE_BO_WILLNEED = 0,
	/** @DRM_PUMICE_BO_DONTNEED: it is not needed: the kernel may purge it */
	DRM_PUMICE_BO_DONTNEED = 1,
};

/**
 * struct drm_pumice_bo_madvise - DRM_IOCTL_PUMICE_BO_MADVISE
 *
 * For caches of BOs. Under memory pressure the kernel purges BOs that are DONTNEED,
 * bound in no VM, mapped by no process and not shared by PRIME: their pages are freed,
 * and the content is lost. Such a BO must be set to WILLNEED before it is used again; if
 * @retained is then 0, it can only be closed: VM_BIND, BO_MMAP_OFFSET and export return
 * -ENODATA. Advice about a BO in use takes effect when it is no longer used.
 */
struct drm_pumice_bo_madvise {
	/** @handle: in: GEM handle */
	__u32 handle;
	/** @advice: in: enum drm_pumice_bo_advice */
	__u32 advice;
	/** @retained: out: 1: the content is retained; 0: it was purged */
	__u32 retained;
	/** @pad: in: zero */
	__u32 pad;
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
 * Contexts of the VM keep it alive; it can no longer be bound to.
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
	/** @DRM_PUMICE_BIND_MAP: map a part of a BO; previous mappings of the range are removed */
	DRM_PUMICE_BIND_MAP = 0,
	/** @DRM_PUMICE_BIND_UNMAP: unmap a range, which may include parts of mappings and holes */
	DRM_PUMICE_BIND_UNMAP = 1,
	/** @DRM_PUMICE_BIND_UNMAP_ALL: unmap all mappings of VM_BIND; all other fields are zero */
	DRM_PUMICE_BIND_UNMAP_ALL = 2,
};

/* Flags of struct drm_pumice_bind_op, for MAP. */
#define DRM_PUMICE_BIND_READONLY	0x1u	/* stores fault */
#define DRM_PUMICE_BIND_NOEXEC		0x2u	/* instruction fetches fault */
/*
 * No memory: loads return zero, stores are discarded, atomics operate on zero, instruction
 * fetches fault; @handle and @bo_offset are zero, and @size is DRM_PUMICE_MAX_BO_SIZE at most, else
 * -E2BIG. For resources that are only partly resident.
 */
#define DRM_PUMICE_BIND_NULL		0x4u

/**
 * struct drm_pumice_bind_op - one change of a VM
 *
 * In a heap (DRM_PUMICE_QUERY_HEAPS) pages have the size of the heap: @va, @size and @bo_offset
 * are multiples of it, a MAP is within one heap, and the memory of the BO is contiguous and
 * aligned for each page, else -EINVAL. Memory of BOs need not be: a program that is refused
 * binds at addresses of smaller pages. Those of 4 KiB fit any BO.
 */
struct drm_pumice_bind_op {
	/** @type: enum drm_pumice_bind_type */
	__u32 type;
	/** @flags: DRM_PUMICE_BIND_READONLY, NOEXEC, NULL, for MAP; else zero */
	__u32 flags;
	/** @handle: BO, for MAP without NULL; else zero */
	__u32 handle;
	/** @pad: zero */
	__u32 pad;
	/** @bo_offset: first byte in the BO, page aligned, for MAP without NULL; else zero */
	__u64 bo_offset;
	/** @va: GPU virtual address, page aligned; zero for UNMAP_ALL */
	__u64 va;
	/** @size: bytes, page aligned, not 0; zero for UNMAP_ALL */
	__u64 size;
};

/* Flags of struct drm_pumice_vm_bind. */
#define DRM_PUMICE_VM_BIND_ASYNC	0x1u	/* append to the VM's queue */

/**
 * struct drm_pumice_vm_bind - DRM_IOCTL_PUMICE_VM_BIND
 *
 * Operations take effect in order before the call returns. On an error @failed_op is the index of
 * the operation that failed, or @ops.count if all have taken effect; operations before it have
 * taken effect. Repeating the whole call is always safe: the resulting mapping of an address
 * depends only on the last operation that covers it, not on the previous mapping. While the call is
 * repeated, jobs may observe the intermediate states again.
 *
 * With DRM_PUMICE_VM_BIND_ASYNC the call only checks and queues the operations: they take effect
 * when all waits of @syncs are signalled and all earlier asynchronous calls on this VM have taken
 * effect; then the signals of @syncs are signalled. @ops may be empty. If the call returns an
 * error, nothing was queued. An operation that fails later makes the VM DRM_PUMICE_VM_UNUSABLE: its
 * signals carry the error, and those of all binds after it -ECANCELED. The same signals carry
 * -ECANCELED if the VM is destroyed first. A call without the flag does not wait for calls with it,
 * and its @syncs are empty.
 */
struct drm_pumice_vm_bind {
	/** @vm: in: VM id */
	__u32 vm;
	/** @flags: in: DRM_PUMICE_VM_BIND_* */
	__u32 flags;
	/** @ops: in: array of struct drm_pumice_bind_op, at most DRM_PUMICE_MAX_BIND_OPS */
	struct drm_pumice_array ops;
	/** @syncs: in: array of struct drm_pumice_sync, at most DRM_PUMICE_MAX_SYNCS; ASYNC only */
	struct drm_pumice_array syncs;
	/** @failed_op: out, on an error: index of the operation that failed; not read */
	__u32 failed_op;
	/** @pad: zero */
	__u32 pad;
};

/**
 * enum drm_pumice_vm_state - state of a VM
 */
enum drm_pumice_vm_state {
	/** @DRM_PUMICE_VM_USABLE: usable */
	DRM_PUMICE_VM_USABLE = 0,
	/**
	 * @DRM_PUMICE_VM_UNUSABLE: its page tables could not be updated, or an
	 * asynchronous bind failed: VM_BIND and SUBMIT return -EIO; destroy it
	 */
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
	/** @DRM_PUMICE_CONTEXT_RENDER: vertex and pixel data master: geometry and fragment jobs */
	DRM_PUMICE_CONTEXT_RENDER = 2,
	/** @DRM_PUMICE_CONTEXT_TRANSFER: transfer data master */
	DRM_PUMICE_CONTEXT_TRANSFER = 3,
	/**
	 * @DRM_PUMICE_CONTEXT_RAYS: ray-tracing data master; since 1.5. -EOPNOTSUPP if device or
	 * firmware is older.
	 */
	DRM_PUMICE_CONTEXT_RAYS = 4,
};

/**
 * enum drm_pumice_priority - priorities between contexts
 */
enum drm_pumice_priority {
	/** @DRM_PUMICE_PRIORITY_LOW: after all others */
	DRM_PUMICE_PRIORITY_LOW = 0,
	/** @DRM_PUMICE_PRIORITY_NORMAL: default */
	DRM_PUMICE_PRIORITY_NORMAL = 1,
	/** @DRM_PUMICE_PRIORITY_HIGH: before all; needs CAP_SYS_NICE or DRM master, else -EACCES */
	DRM_PUMICE_PRIORITY_HIGH = 2,
};

/**
 * struct drm_pumice_context_create - DRM_IOCTL_PUMICE_CONTEXT_CREATE
 *
 * A context is a queue: its jobs run in the order of submission. A render context has two queues,
 * of geometry and of fragment jobs, so that the geometry of a frame runs in parallel with the
 * fragments of the previous frame.
 *
 * The firmware has 256 queues, and 2 GiB of memory that it shares with contexts, free lists, data
 * sets and monitors. A file may have DRM_PUMICE_MAX_FILE_QUEUES queues and
 * DRM_PUMICE_MAX_FILE_SHARED bytes of this memory, a user half of the queues and an eighth of the
 * memory; an eighth of each is reserved for callers with CAP_SYS_RESOURCE or CAP_SYS_NICE, who are
 * exempt from the limits of users. Calls that would exceed a limit return -ENOSPC.
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
 * struct drm_pumice_context_set_priority - DRM_IOCTL_PUMICE_CONTEXT_SET_PRIORITY
 *
 * When the call returns, the context has the priority, and so have its queued and
 * running jobs. It requires the same rights as creating a context of that priority,
 * else -EACCES. -EIO: the firmware did not execute the command, and the GPU was reset.
 */
struct drm_pumice_context_set_priority {
	/** @id: in: context id */
	__u32 id;
	/** @priority: in: enum drm_pumice_priority */
	__u32 priority;
	/** @flags: in: zero */
	__u32 flags;
	/** @pad: zero */
	__u32 pad;
};

/* A reset of the GPU failed. The device is being removed: all calls return -ENODEV. */
#define DRM_PUMICE_RESETS_LOST	0x1u

/**
 * struct drm_pumice_file_get_resets - DRM_IOCTL_PUMICE_FILE_GET_RESETS
 *
 * Effects of resets and time-outs on the file, for a robustness extension, which compares them with
 * earlier values. The counts never decrease. CONTEXT_GET_STATE returns the state of one context.
 */
struct drm_pumice_file_get_resets {
	/** @flags: in: zero */
	__u32 flags;
	/** @state: out: DRM_PUMICE_RESETS_LOST or 0; not read */
	__u32 state;
	/** @resets: out: resets of the GPU since the file was opened, for any reason */
	__u64 resets;
	/** @guilty: out: contexts of the file, including destroyed ones, that became GUILTY */
	__u64 guilty;
	/** @innocent: out: contexts of the file, including destroyed ones, that became INNOCENT */
	__u64 innocent;
};

/**
 * struct drm_pumice_context_destroy - DRM_IOCTL_PUMICE_CONTEXT_DESTROY
 *
 * Waiting and running jobs are killed; see above for the status of their fences.
 */
struct drm_pumice_context_destroy {
	/** @id: in: context id */
	__u32 id;
	/** @pad: zero */
	__u32 pad;
};

/* State of a context. */
/* One of its jobs timed out: it accepts no more jobs, SUBMIT returns -EIO. */
#define DRM_PUMICE_CONTEXT_GUILTY	0x1u
/* A GPU reset that another context caused stopped a running job: as GUILTY. */
#define DRM_PUMICE_CONTEXT_INNOCENT	0x2u
/* One of its jobs faulted; the context remains usable. */
#define DRM_PUMICE_CONTEXT_FAULTED	0x4u

/**
 * struct drm_pumice_context_get_state - DRM_IOCTL_PUMICE_CONTEXT_GET_STATE
 */
struct drm_pumice_context_get_state {
	/** @id: in: context id */
	__u32 id;
	/** @state: out: DRM_PUMICE_CONTEXT_GUILTY, INNOCENT, FAULTED */
	__u32 state;
	/** @jobs_done: out: jobs that ended, with success or an error */
	__u64 jobs_done;
	/** @jobs_faulted: out: of these, ended by a fault, time-out or reset */
	__u64 jobs_faulted;
	/** @fault: out: enum fault of the hardware reference, of the last failed job; 0: none */
	__u32 fault;
	/** @unit: out: enum unit that raised it */
	__u32 unit;
	/** @access: out: enum access, for MMU faults and misaligned accesses */
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

/* Known fields of the place of a fault in JOB_GET_RESULT. */
#define DRM_PUMICE_FAULT_PROGRAM	0x1u	/* code and pc: it was an instruction of a shader */
#define DRM_PUMICE_FAULT_WAVE		0x2u	/* lanes, slot and wave */
#define DRM_PUMICE_FAULT_LANE		0x4u	/* lane and instance */
#define DRM_PUMICE_FAULT_GROUP		0x8u	/* group */

/**
 * struct drm_pumice_job_get_result - DRM_IOCTL_PUMICE_JOB_GET_RESULT
 *
 * Result of one job. The jobs of a context are numbered from 1 in the order of submission. The
 * results of the last DRM_PUMICE_JOB_RESULTS jobs that ended are kept: for an older job the call
 * returns -ENODATA, for one that has not ended -EBUSY, for one that was not submitted -ENOENT.
 *
 * A partial render is counted for the geometry job that ran out of pages, although the
 * pixel data master executes it, with the record of the fragment job: the fragment job
 * may be canceled, and has exactly one render of its own.
 *
 * For a job that timed out @unit is the unit that was busy with it: the USCs (usc-code)
 * while waves of it were in flight, else a unit of its data master; @places lists the
 * locations of the waves, and @pc, @usc and @fault_va are those of the first place. A
 * kernel without @waves writes neither it nor the fields that follow.
 *
 * For a job that faulted in a shader @known lists which of the fields after it, and @code,
 * are valid; the others are zero. A kernel without @known writes none of them.
 */
struct drm_pumice_job_get_result {
	/** @context: in: context id */
	__u32 context;
	/** @error: out: status of its fence: 0 or a negative errno */
	__s32 error;
	/** @job: in: number of the job; 0: the job that ended last. Out: its number */
	__u64 job;
	/** @fault: out: enum fault of the hardware reference; 0: none */
	__u32 fault;
	/** @unit: out: enum unit that raised it */
	__u32 unit;
	/** @access: out: enum access, for MMU faults and misaligned accesses */
	__u32 access;
	/** @pc: out: instruction index in the shader, where there is one */
	__u32 pc;
	/** @fault_va: out: GPU virtual address of the fault */
	__u64 fault_va;
	/** @start: out: GPU clock when it was first started; 0 if it never was */
	__u64 start;
	/** @end: out: GPU clock when it had ended */
	__u64 end;
	/** @run_ticks: out: GPU clock ticks on the data master */
	__u64 run_ticks;
	/** @groups: out: work-groups, primitives, tiles or commands that it finished */
	__u64 groups;
	/** @slices: out: number of its time slices */
	__u32 slices;
	/** @usc: out: USC that faulted, over all cores */
	__u32 usc;
	/** @partial_renders: out: of a geometry job: partial renders of its scene; else zero */
	__u32 partial_renders;
	/** @pad: out: zero */
	__u32 pad;
	/** @waves: out: of a job that timed out: waves in flight when it was stopped; else zero */
	__u32 waves;
	/**
	 * @waves_looked: out: number of sampled waves: at most 256, spread evenly over @waves.
	 * Those at further places than @places has are counted here only.
	 */
	__u32 waves_looked;
	/** @place_count: out: entries of @places that are used */
	__u32 place_count;
	/** @pad2: out: zero */
	__u32 pad2;
	/** @places: out: locations of the sampled waves */
	struct drm_pumice_stuck_place places[DRM_PUMICE_STUCK_PLACES];
	/** @code: out: GPU virtual address of the program that faulted */
	__u64 code;
	/** @known: out: DRM_PUMICE_FAULT_*: valid fields of a fault's location */
	__u32 known;
	/** @lane: out: lane that faulted, the lowest of several */
	__u32 lane;
	/** @instance: out: its instance: linear number in the work-group, or in the task */
	__u32 instance;
	/** @lanes: out: bit n: lane n of the wave has an instance */
	__u32 lanes;
	/** @slot: out: slot of the wave that faulted */
	__u32 slot;
	/** @wave: out: its number in its task */
	__u32 wave;
	/** @group: out: work-group id, base included */
	__u32 group[3];
	/** @pad3: out: zero */
	__u32 pad3;
};

/**
 * struct drm_pumice_perf_counter_get - DRM_IOCTL_PUMICE_PERF_COUNTER_GET
 *
 * Description of a counter. -ENOENT for a number above the last.
 */
struct drm_pumice_perf_counter_get {
	/** @counter: in: number, below drm_pumice_query_gpu.perf_counters */
	__u32 counter;
	/** @flags: out: DRM_PUMICE_PERF_COUNTER_* */
	__u32 flags;
	/** @name: out: name, NUL terminated */
	__u8 name[32];
	/** @category: out: hardware block, NUL terminated */
	__u8 category[16];
	/** @unit: out: unit of the count, NUL terminated */
	__u8 unit[16];
	/** @description: out: text, NUL terminated */
	__u8 description[128];
};

/* Counts only while a job with a performance monitor runs. */
#define DRM_PUMICE_PERF_COUNTER_DETAILED	0x1u
/* Counts all jobs that ran in parallel with the monitor's, including those of other users. */
#define DRM_PUMICE_PERF_COUNTER_GLOBAL		0x2u

/**
 * struct drm_pumice_perfmon_create - DRM_IOCTL_PUMICE_PERFMON_CREATE
 *
 * A performance monitor sums selected counters over the jobs that name it. More
 * than DRM_PUMICE_MAX_PERFMONS of a file return -ENOSPC.
 *
 * Counters without DRM_PUMICE_PERF_COUNTER_GLOBAL count the context's own work. Counters
 * with the flag require CAP_PERFMON, unless the sysctl dev.pumice.perf_paranoid is 0; else -EACCES.
 */
struct drm_pumice_perfmon_create {
	/** @counters: in: array of __u32, 1 to DRM_PUMICE_MAX_PERF_COUNTERS numbers of counters */
	struct drm_pumice_array counters;
	/** @flags: in: zero */
	__u32 flags;
	/** @id: out: id, not 0 */
	__u32 id;
};

/**
 * struct drm_pumice_perfmon_destroy - DRM_IOCTL_PUMICE_PERFMON_DESTROY
 *
 * Jobs that name it continue without it.
 */
struct drm_pumice_perfmon_destroy {
	/** @id: in: id */
	__u32 id;
	/** @pad: zero */
	__u32 pad;
};

/* Flags of struct drm_pumice_perfmon_get_values. */
#define DRM_PUMICE_PERFMON_RESET	0x1u	/* clear the values after reading */

/**
 * struct drm_pumice_perfmon_get_values - DRM_IOCTL_PUMICE_PERFMON_GET_VALUES
 *
 * Counts of the jobs that have ended. -EBUSY while a job that names the monitor has not ended.
 */
struct drm_pumice_perfmon_get_values {
	/** @id: in: id */
	__u32 id;
	/** @flags: in: DRM_PUMICE_PERFMON_* */
	__u32 flags;
	/** @values: in: user pointer to __u64 for each counter, in the order of creation */
	__u64 values;
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
 * enum drm_pumice_job_type - kinds of jobs
 *
 * Jobs of a render context are pairs in one call: the job after a GEOMETRY job must be the FRAGMENT
 * job of the same context and scene, which depends on it implicitly.
 */
enum drm_pumice_job_type {
	/** @DRM_PUMICE_JOB_DEFAULT: the only kind of a compute, transfer or rays context */
	DRM_PUMICE_JOB_DEFAULT = 0,
	/** @DRM_PUMICE_JOB_GEOMETRY: a vertex control stream into a scene */
	DRM_PUMICE_JOB_GEOMETRY = 1,
	/** @DRM_PUMICE_JOB_FRAGMENT: renders the scene of the GEOMETRY job before it */
	DRM_PUMICE_JOB_FRAGMENT = 2,
};

/**
 * struct drm_pumice_job - one job
 */
struct drm_pumice_job {
	/** @context: context id */
	__u32 context;
	/** @flags: zero */
	__u32 flags;
	/**
	 * @stream: GPU virtual address of the control stream, 4-byte aligned; of a
	 * FRAGMENT job of the render record, 16-byte aligned
	 */
	__u64 stream;
	/** @syncs: array of struct drm_pumice_sync, at most DRM_PUMICE_MAX_SYNCS */
	struct drm_pumice_array syncs;
	/** @perfmon: performance monitor that counts the job, or 0 */
	__u32 perfmon;
	/** @type: enum drm_pumice_job_type */
	__u32 type;
	/** @hwrt: GEOMETRY, FRAGMENT: data set id; else zero */
	__u32 hwrt;
	/** @hwrt_data: as @hwrt: scene of the set, below DRM_PUMICE_HWRT_DATA; else zero */
	__u32 hwrt_data;
	/**
	 * @presents: of a transfer context: commands PRESENT of the stream, at most
	 * DRM_PUMICE_MAX_PRESENTS, else -E2BIG, for each of which the file receives an event
	 * (&struct drm_pumice_event_flip); else zero. -ENOSPC while the file has no space for as
	 * many further events: read some; -EOPNOTSUPP on a GPU without that command.
	 * Since version 1.5.
	 */
	__u32 presents;
	/** @pad: zero */
	__u32 pad;
	/** @present_data: for these events; zero without @presents */
	__u64 present_data;
};

/* Event of a file, as read from it: drm_event.type. */
#define DRM_PUMICE_EVENT_FLIP	0x80000001u

/**
 * struct drm_pumice_event_flip - event of a command PRESENT, read from the file
 *
 * A job has as many of these as it announced in @presents, in the order of its commands: if it runs
 * fewer, because it failed, was cancelled or has fewer, the rest of its events have an @error. All
 * of them precede the signal of its fence, unless its context was destroyed before the GPU had the
 * job. Jobs of one context complete in order, and so do their events; those of different contexts
 * may be sent in another order than that of @gpu_ticks. When an event without an error can be read,
 * the copy is visible.
 *
 * This structure does not grow. A file receives no events that it did not request.
 *
 * When the device was removed, poll() reports POLLHUP as soon as no event follows those that can be
 * read. A read() that waits for one is not ended then: poll() before it. Since version 1.6.
 */
struct drm_pumice_event_flip {
	/** @base: type DRM_PUMICE_EVENT_FLIP */
	struct drm_event base;
	/** @user_data: drm_pumice_job.present_data */
	__u64 user_data;
	/** @time_ns: CLOCK_MONOTONIC at which the kernel sent the event */
	__u64 time_ns;
	/** @gpu_ticks: GPU clock when the copy was complete; 0 with @error */
	__u64 gpu_ticks;
	/** @address: GPU virtual address of the destination's level and layer; 0 with @error */
	__u64 address;
	/** @job: number of the job, as in JOB_GET_RESULT */
	__u64 job;
	/** @context: id of the context */
	__u32 context;
	/** @frame: frame number of the command; 0 with @error */
	__u32 frame;
	/** @error: 0, the negative error of the job's fence, or -ENODATA if the job succeeded */
	__s32 error;
	/** @pad: zero */
	__u32 pad;
};

/* drm_pumice_free_list_create.flags: the page tables of the list are kept by the GPU's MMU. */
#define DRM_PUMICE_FREE_LIST_GPU_TABLES	0x1u

/**
 * struct drm_pumice_free_list_create - DRM_IOCTL_PUMICE_FREE_LIST_CREATE
 *
 * Pages of 4 KiB for parameter buffers. The kernel maps them above
 * drm_pumice_query_gpu.va_end, where only the tiling pipeline can access them. A
 * list grows by @grow_pages when less than @threshold percent of it are free, or
 * when it is empty, up to @max_pages; @grow_pages pages are preallocated for that.
 */
struct drm_pumice_free_list_create {
	/** @vm: in: VM id */
	__u32 vm;
	/** @initial_pages: in: initial number of pages, not 0 */
	__u32 initial_pages;
	/** @max_pages: in: @initial_pages to DRM_PUMICE_MAX_FREE_LIST_PAGES, else -E2BIG */
	__u32 max_pages;
	/** @grow_pages: in: pages to grow by; 0: it does not grow, @max_pages is @initial_pages */
	__u32 grow_pages;
	/** @threshold: in: percent, below 100 */
	__u32 threshold;
	/**
	 * @flags: in: zero, or DRM_PUMICE_FREE_LIST_GPU_TABLES: the GPU maps pages while they
	 * belong to a scene, with page tables in pages of the list; -EOPNOTSUPP on a GPU without
	 * such lists. @initial_pages is at least 3 then.
	 */
	__u32 flags;
	/** @id: out: free list id, not 0 */
	__u32 id;
	/** @pad: zero */
	__u32 pad;
};

/**
 * struct drm_pumice_free_list_destroy - DRM_IOCTL_PUMICE_FREE_LIST_DESTROY
 *
 * Data sets that use it keep it alive.
 */
struct drm_pumice_free_list_destroy {
	/** @id: in: free list id */
	__u32 id;
	/** @pad: zero */
	__u32 pad;
};

/**
 * enum drm_pumice_tile_size - sizes of tiles, in pixels
 */
enum drm_pumice_tile_size {
	/** @DRM_PUMICE_TILE_32X32: 32 x 32 */
	DRM_PUMICE_TILE_32X32 = 0,
	/** @DRM_PUMICE_TILE_16X16: 16 x 16 */
	DRM_PUMICE_TILE_16X16 = 1,
	/** @DRM_PUMICE_TILE_32X16: 32 wide, 16 high */
	DRM_PUMICE_TILE_32X16 = 2,
};

/**
 * struct drm_pumice_hwrt_create - DRM_IOCTL_PUMICE_HWRT_CREATE
 *
 * A render-target data set: two scenes, so that one frame is binned while another is rendered. A
 * geometry job implicitly waits until the job that last rendered its scene has ended.
 */
struct drm_pumice_hwrt_create {
	/** @vm: in: VM id */
	__u32 vm;
	/** @width: in: pixels, 1 to DRM_PUMICE_MAX_RENDER_SIZE */
	__u32 width;
	/** @height: in: pixels, 1 to DRM_PUMICE_MAX_RENDER_SIZE */
	__u32 height;
	/** @samples: in: 1, 2 or 4 */
	__u32 samples;
	/** @tile_size: in: enum drm_pumice_tile_size */
	__u32 tile_size;
	/** @flags: in: zero */
	__u32 flags;
	/** @free_lists: in: local and global free list id of the VM; the second may be 0 */
	__u32 free_lists[2];
	/**
	 * @spill: in: GPU virtual address of memory for partial renders, @spill_bytes for each
	 * scene in sequence, 256-byte aligned; or 0: a job that runs out of pages faults
	 */
	__u64 spill;
	/** @spill_bytes: in: bytes for one scene, a multiple of 256; below 2^40 */
	__u64 spill_bytes;
	/** @id: out: data set id, not 0 */
	__u32 id;
	/** @pad: zero */
	__u32 pad;
};

/**
 * struct drm_pumice_hwrt_destroy - DRM_IOCTL_PUMICE_HWRT_DESTROY
 *
 * Jobs that use it continue.
 */
struct drm_pumice_hwrt_destroy {
	/** @id: in: data set id */
	__u32 id;
	/** @pad: zero */
	__u32 pad;
};

/**
 * struct drm_pumice_submit - DRM_IOCTL_PUMICE_SUBMIT
 *
 * All jobs are submitted, in order, or none. A job may wait for a syncobj that an earlier job of
 * the same call signals. On an error @failed_job is the index of the job that was refused, or
 * @jobs.count if the error is not related to a job: -EIO if a job's context accepts no more jobs.
 * An address that is aligned but not bound is not an error of the call: the job faults. A geometry
 * job and its fragment job are a pair: the geometry job is not started before all dependencies of
 * the fragment job have signalled or were submitted to the GPU.
 */
struct drm_pumice_submit {
	/** @flags: in: zero */
	__u32 flags;
	/** @pad: zero */
	__u32 pad;
	/** @jobs: in: array of struct drm_pumice_job, at most DRM_PUMICE_MAX_JOBS */
	struct drm_pumice_array jobs;
	/** @failed_job: out, on an error: index of the job that was refused; not read */
	__u32 failed_job;
	/** @pad2: zero */
	__u32 pad2;
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
#define DRM_IOCTL_PUMICE_VM_GET_FAULTS \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PUMICE_VM_GET_FAULTS, struct drm_pumice_vm_get_faults)
#define DRM_IOCTL_PUMICE_CONTEXT_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PUMICE_CONTEXT_CREATE, struct drm_pumice_context_create)
#define DRM_IOCTL_PUMICE_CONTEXT_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_PUMICE_CONTEXT_DESTROY, struct drm_pumice_context_destroy)
#define DRM_IOCTL_PUMICE_CONTEXT_GET_STATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PUMICE_CONTEXT_GET_STATE, \
		 struct drm_pumice_context_get_state)
#define DRM_IOCTL_PUMICE_CONTEXT_SET_PRIORITY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_PUMICE_CONTEXT_SET_PRIORITY, \
		struct drm_pumice_context_set_priority)
#define DRM_IOCTL_PUMICE_FILE_GET_RESETS \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PUMICE_FILE_GET_RESETS, \
		 struct drm_pumice_file_get_resets)
#define DRM_IOCTL_PUMICE_SUBMIT \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PUMICE_SUBMIT, struct drm_pumice_submit)
#define DRM_IOCTL_PUMICE_BO_SET_LABEL \
	DRM_IOW(DRM_COMMAND_BASE + DRM_PUMICE_BO_SET_LABEL, struct drm_pumice_bo_set_label)
#define DRM_IOCTL_PUMICE_JOB_GET_RESULT \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PUMICE_JOB_GET_RESULT, struct drm_pumice_job_get_result)
#define DRM_IOCTL_PUMICE_PERF_COUNTER_GET \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PUMICE_PERF_COUNTER_GET, \
		 struct drm_pumice_perf_counter_get)
#define DRM_IOCTL_PUMICE_PERFMON_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PUMICE_PERFMON_CREATE, struct drm_pumice_perfmon_create)
#define DRM_IOCTL_PUMICE_PERFMON_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_PUMICE_PERFMON_DESTROY, struct drm_pumice_perfmon_destroy)
#define DRM_IOCTL_PUMICE_FREE_LIST_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PUMICE_FREE_LIST_CREATE, \
		 struct drm_pumice_free_list_create)
#define DRM_IOCTL_PUMICE_FREE_LIST_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_PUMICE_FREE_LIST_DESTROY, \
		struct drm_pumice_free_list_destroy)
#define DRM_IOCTL_PUMICE_HWRT_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PUMICE_HWRT_CREATE, struct drm_pumice_hwrt_create)
#define DRM_IOCTL_PUMICE_HWRT_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_PUMICE_HWRT_DESTROY, struct drm_pumice_hwrt_destroy)
#define DRM_IOCTL_PUMICE_BO_MADVISE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PUMICE_BO_MADVISE, struct drm_pumice_bo_madvise)
#define DRM_IOCTL_PUMICE_PERFMON_GET_VALUES \
	DRM_IOW(DRM_COMMAND_BASE + DRM_PUMICE_PERFMON_GET_VALUES, \
		struct drm_pumice_perfmon_get_values)

#if defined(__cplusplus)
}
#endif

#endif /* _PUMICE_DRM_H_ */
