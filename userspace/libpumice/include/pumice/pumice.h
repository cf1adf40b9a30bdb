/* SPDX-License-Identifier: MIT */
/*
 * libpumice: user space access to the Pumice GPU.
 *
 * The same calls drive the GPU of a guest through its kernel driver, or a GPU
 * core inside this process with the same firmware and the same commands: the name
 * passed to pumice_device_open() selects which. Each object belongs to a device:
 *
 *   device ─┬─ bo          memory
 *           ├─ vm ─┬─ context   queue of jobs with a priority
 *           │      ├─ kernel    a program placed in the VM
 *           │      └─ stream    builder of a control stream
 *           ├─ sync        binary or timeline synchronisation object
 *           ├─ perfmon     performance counters of chosen jobs
 *           └─ trace       events of the GPU as they come
 *
 * Errors: functions that can fail return 0 or a negative errno, and
 * pumice_device_error() gives the reason as text. Out parameters are written
 * on success only, unless documented otherwise.
 *
 * Structures that callers fill: zero every member that is not set, or begin with
 * the structure's pumice_…_init(), which also sets members whose default is not 0.
 *
 * Threads: any object may be used from any thread. One stream must not be
 * built by two threads at once, and no object may be destroyed while in use.
 * Destroy children before parents; destroy functions accept NULL.
 *
 * There is no global state.
 */
#ifndef PUMICE_PUMICE_H
#define PUMICE_PUMICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pumice_device;
struct pumice_bo;
struct pumice_vm;
struct pumice_context;
struct pumice_sync;
struct pumice_program;
struct pumice_kernel;
struct pumice_stream;
struct pumice_perfmon;
struct pumice_trace;

/* Size of a buffer, in bytes, that holds any error text of the library. */
#define PUMICE_ERROR_BYTES 4096

/* Time-out value that means no time-out. */
#define PUMICE_FOREVER UINT64_MAX

/* ------------------------------------------------------------------ device */

/**
 * pumice_device_open - open a GPU.
 * @name: one of
 *   "drm"                    the first render node that Pumice's driver serves
 *   "drm:/dev/dri/renderD128" this render node
 *   "inproc" or "inproc:key=number,…"  a GPU in this process; keys: preset=NAME (default,
 *       volcanic, waves, sgx543mp4, videocore4: the sizes that the other keys override; without
 *       it PUMICE_PRESET of the environment), cores, uscs (of a core), slots, tasks, waves (of a
 *       USC), batch (instances of a task of vertices or fragments), threads (0: all work is done
 *       inside waits, and in the same order each time), ram (MiB), unified-store-kib,
 *       common-store-kib, local-memory-kib (of a USC), slot-registers (0 to 8), pixel-outputs
 *       (their store: common or partition), vpm-kib, idx-fifo, chunk-fifo, tile-fifo,
 *       tsp-vertices, slc-kib, data-l1-bytes, data-l2-bytes, texture-l1-bytes, texture-l2-bytes
 *       (caches, modelled in mode counted), slice-us (time slice of a job), split (primitives that
 *       are dispatched to a core at a time), cdm-share, vdm-share, pdm-share, rdm-share (of the
 *       USCs while two data masters have jobs, in 1/256; 255: all), dms-policy (which of them wait
 *       for others: graphics, round-robin, or an order such as cdm-vdm-pdm), job-timeout-ms (30000:
 *       a job that has run for longer is killed inside waits; 0: none), virtual-gpus (1 to 8:
 *       pumice_device_open_virtual() opens those other than 0), hold-us (10000000: for so long a
 *       job may hold a data master that another virtual GPU waits for), attach (1: other processes
 *       of the user can observe it), fw-gdb=PATH (GDB's socket; threads=1 or more), late=early,
 *       data or poison (when data of loads arrive; poison: a use without a wait faults; default:
 *       PUMICE_LATE of the environment, else early), mode=fast, counted (each request to memory
 *       passes the modelled caches) or strict (errors of programs are reported as findings, too;
 *       default: PUMICE_MODE of the environment, else fast)
 *   "pid:PID" or "pid:PID/N" the GPU in another process, number 0 or N of it, which has the key
 *       attach=1; only to be observed: statistics, clock, event trace. XDG_RUNTIME_DIR is the same
 *       in both
 *   NULL: the value of the environment variable PUMICE_DEVICE, else "drm".
 * @dev: out
 * @error: receives the reason of a failure; may be NULL
 * @error_bytes: size of @error
 *
 * In process, the firmware file is the one named by the environment variable PUMICE_FIRMWARE, else
 * the kernel's, else the one installed with the library, else that of the build tree.
 *
 * Return: 0; -EINVAL for a name that is not understood, -ENODEV where there is no such GPU or its
 * interface has another version, -ENOENT without firmware, or the error of the system call.
 */
int pumice_device_open(const char *name, struct pumice_device **dev, char *error,
		       size_t error_bytes);

/** pumice_device_close - close a device whose objects have all been destroyed. */
void pumice_device_close(struct pumice_device *dev);

/**
 * pumice_device_error - get the reason of the thread's last failed call on a device or its objects.
 *
 * Return: text without a full stop, of one line, or several for a job that failed; never
 * NULL; valid until this thread's next failing call.
 */
const char *pumice_device_error(struct pumice_device *dev);

/** struct pumice_device_info - properties of a GPU. */
struct pumice_device_info {
	/** @backend: "drm" or "inproc" */
	char backend[16];
	/** @version: register map version, major in the upper, minor in the lower 16 bits */
	uint32_t version;
	/** @fw_version: firmware interface version, encoded as @version */
	uint32_t fw_version;
	/** @fw_build_id: text */
	char fw_build_id[32];
	/** @cores: cores */
	uint32_t cores;
	/** @uscs_per_core: unified shading clusters of a core */
	uint32_t uscs_per_core;
	/** @slots_per_usc: tasks that a USC holds */
	uint32_t slots_per_usc;
	/** @unified_bytes: unified store of a USC */
	uint32_t unified_bytes;
	/** @common_bytes: common store of a USC */
	uint32_t common_bytes;
	/** @local_bytes: local memory of a USC */
	uint32_t local_bytes;
	/** @max_group_instances: maximum number of instances of a work-group */
	uint32_t max_group_instances;
	/** @priorities: bit n: priority n may be used */
	uint32_t priorities;
	/** @page_sizes: bit n: there are addresses with pages of 2^n bytes */
	uint64_t page_sizes;
	/** @va_start: first GPU virtual address that may be bound in pages of 4 KiB */
	uint64_t va_start;
	/** @va_end: end of these addresses, exclusive; heaps of larger pages follow */
	uint64_t va_end;
	/** @clock_hz: ticks of the GPU clock per second */
	uint64_t clock_hz;
};

/** pumice_device_info - describe a device. Return: 0 or a negative errno. */
int pumice_device_info(struct pumice_device *dev, struct pumice_device_info *info);

/** struct pumice_device_stats - activity of a GPU, over all its users; grows with the library. */
struct pumice_device_stats {
	/** @time: GPU clock, ticks */
	uint64_t time;
	/** @compute_busy: ticks during which the compute data master had a job */
	uint64_t compute_busy;
	/** @usc_busy: ns during which USCs ran waves, summed over USCs */
	uint64_t usc_busy;
	/** @jobs_submitted: jobs that were submitted */
	uint64_t jobs_submitted;
	/** @jobs_done: jobs that ended, successfully or not */
	uint64_t jobs_done;
	/** @jobs_faulted: of these, ended by a fault, time-out or reset */
	uint64_t jobs_faulted;
	/** @mmu_faults: requests of the GPU that faulted */
	uint64_t mmu_faults;
	/** @switches: jobs preempted (switched out) by others */
	uint64_t switches;
	/** @resets: GPU resets */
	uint64_t resets;
	/** @jobs_queued: currently: jobs waiting for a dependency or for the firmware */
	uint32_t jobs_queued;
	/** @jobs_firmware: currently: jobs queued in the firmware */
	uint32_t jobs_firmware;
	/** @contexts: currently: contexts */
	uint32_t contexts;
	/** @contexts_busy: currently: contexts with jobs queued in the firmware */
	uint32_t contexts_busy;
	/** @tasks: currently: tasks in slots of all USCs */
	uint32_t tasks;
	/** @waves: currently: waves in flight on all USCs */
	uint32_t waves;
	/** @geometry_busy: as @compute_busy, of the vertex data master; includes page waits */
	uint64_t geometry_busy;
	/** @fragment_busy: as @compute_busy, of the pixel data master; includes partial renders */
	uint64_t fragment_busy;
	/** @transfer_busy: as @compute_busy, of the transfer data master */
	uint64_t transfer_busy;
	/** @partial_renders: renders of scenes whose geometry jobs ran out of pages */
	uint64_t partial_renders;
	/** @rays_busy: as @compute_busy, of the ray-tracing data master */
	uint64_t rays_busy;
};

/**
 * pumice_device_stats - read the activity counters of the GPU.
 * @stats: out
 * @bytes: sizeof(*stats)
 *
 * In process jobs_queued is 0: the firmware has all. Values that an older kernel lacks are 0.
 *
 * Return: 0 or a negative errno.
 */
int pumice_device_stats(struct pumice_device *dev, struct pumice_device_stats *stats,
			size_t bytes);

/**
 * pumice_device_timestamp - sample the GPU and the CPU clock together.
 * @gpu_ticks: out: GPU clock, in ticks of clock_hz; may be NULL
 * @cpu_ns: out: CLOCK_MONOTONIC, ns; may be NULL
 *
 * Return: 0 or a negative errno.
 */
int pumice_device_timestamp(struct pumice_device *dev, uint64_t *gpu_ticks, uint64_t *cpu_ns);

/** struct pumice_fw_counters - counters of the firmware since it booted; all of them wrap. */
struct pumice_fw_counters {
	/** @jobs_started: control streams started */
	uint32_t jobs_started;
	/** @jobs_done: jobs that ended, successfully or not */
	uint32_t jobs_done;
	/** @jobs_faulted: of these, ended by a fault */
	uint32_t jobs_faulted;
	/** @jobs_killed: killed before or while they ran */
	uint32_t jobs_killed;
	/** @instructions: instructions that the firmware processor has retired */
	uint64_t instructions;
};

/**
 * pumice_device_fw_counters - read the firmware's counters.
 *
 * Return: 0; -EOPNOTSUPP through the kernel driver, where debugfs has them.
 */
int pumice_device_fw_counters(struct pumice_device *dev, struct pumice_fw_counters *counters);

/**
 * pumice_device_set_warnings - set the function that receives warnings of mistakes in programs.
 * @dev: device; others are not affected
 * @report: called for each warning, with @data and a text; NULL, the default: no checks
 * @data: for @report
 *
 * pumice_kernel_assemble() then checks each program that it has assembled for the device, as
 * pumice-as(1) does: registers that nothing writes, loads that are read without a wait, loops
 * that never end, programs of graphics stages without a result. pumice_stream_stage() and
 * pumice_stream_stages() check at the first use of a kernel that an input loads each register that
 * it reads. Such programs are legal: warnings do not change what is returned.
 *
 * The text is one line without a line end, such as "shader:3: warning: r2 is read, but nothing
 * has written it: it is 0"; it is valid during the call. @report is called before these functions
 * return, by several threads at once if several call them. It may call functions of the library. A
 * call that has begun may still use the former function: @data has to outlive such calls.
 */
void pumice_device_set_warnings(struct pumice_device *dev,
				void (*report)(void *data, const char *text), void *data);

/** pumice_device_drm_fd - return the DRM file, owned by the device, or -EOPNOTSUPP in process. */
int pumice_device_drm_fd(struct pumice_device *dev);

/* ------------------------------------------------------------------ memory */

/**
 * pumice_bo_create - allocate zeroed memory, cached for CPU and GPU.
 * @size: bytes, not 0; rounded up to pages, but mode strict reports accesses after @size
 * @exclusive: the only VM that will bind it, which makes submission cheaper; or NULL
 * @bo: out
 *
 * The GPU reads what the CPU has written before a job is submitted, and the CPU what a job has
 * written when it has ended. In between neither needs to see the other's stores:
 * pumice_bo_create_flags() allocates memory for which they do.
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int pumice_bo_create(struct pumice_device *dev, uint64_t size, struct pumice_vm *exclusive,
		     struct pumice_bo **bo);

/* Mappings of the CPU are write-combined: for memory that it writes in order and never reads. */
#define PUMICE_BO_WRITE_COMBINED	(1u << 0)
/* Caches of the GPU keep nothing of it: for words that the CPU polls or sets while jobs run. */
#define PUMICE_BO_COHERENT		(1u << 1)

/**
 * pumice_bo_create_flags - allocate zeroed memory as pumice_bo_create(), with properties.
 * @size: bytes, not 0; rounded up to pages
 * @exclusive: the only VM that will bind it, which makes submission cheaper; or NULL
 * @flags: one of PUMICE_BO_WRITE_COMBINED and PUMICE_BO_COHERENT; 0: as pumice_bo_create()
 * @bo: out
 *
 * Each access of the GPU to coherent memory is one of memory itself, which in the GPU's detailed
 * modes costs much more than one of a cache: a job should keep its other data in cached memory. A
 * job must not use cached memory that is bound after it was submitted, unless it waits for the
 * bind. In process, mappings of the CPU are always cached.
 *
 * Return: 0; -EINVAL for unknown flags or both; -EOPNOTSUPP if the device has no coherent pages,
 * with PUMICE_BO_COHERENT; -ENOMEM. Kernels before version 1.8 of the interface return -EINVAL for
 * any flag.
 */
int pumice_bo_create_flags(struct pumice_device *dev, uint64_t size, struct pumice_vm *exclusive,
			   uint32_t flags, struct pumice_bo **bo);

/** pumice_bo_destroy - release the memory; ranges bound in VMs remain until they are unbound. */
void pumice_bo_destroy(struct pumice_bo *bo);

/** pumice_bo_size - return the allocated size in bytes, after rounding. */
uint64_t pumice_bo_size(const struct pumice_bo *bo);

/**
 * pumice_bo_map - map the memory for the CPU.
 * @cpu: out: CPU address; the same at each call until pumice_bo_unmap()
 *
 * Return: 0 or a negative errno.
 */
int pumice_bo_map(struct pumice_bo *bo, void **cpu);

/** pumice_bo_unmap - unmap from the CPU; does nothing if it is not mapped. */
void pumice_bo_unmap(struct pumice_bo *bo);

#define PUMICE_BO_WILLNEED	0u	/* the content is needed: the initial state */
#define PUMICE_BO_DONTNEED	1u	/* it is not needed: the kernel may purge it */

/**
 * pumice_bo_madvise - set whether the content of memory is needed, for caches of BOs.
 * @advice: PUMICE_BO_*
 * @retained: out: whether the content was retained; may be NULL
 *
 * Memory that is DONTNEED, not bound anywhere and not mapped may be purged permanently when
 * memory is short: memory that is not retained can only be destroyed, its use returns -ENODATA.
 *
 * Return: 0, -EINVAL.
 */
int pumice_bo_madvise(struct pumice_bo *bo, uint32_t advice, bool *retained);

/* Maximum size of a label in bytes, including its NUL. */
#define PUMICE_LABEL_BYTES 64

/**
 * pumice_bo_set_label - name memory, for the kernel's lists and dumps and for
 * pumice_bo_label().
 * @label: text, copied, with a remark after a comma if required; NULL removes the label
 *
 * Return: 0, -E2BIG for more than PUMICE_LABEL_BYTES, or the kernel's error.
 */
int pumice_bo_set_label(struct pumice_bo *bo, const char *label);

/**
 * pumice_bo_label - return the label set by this process, "" for none; valid until the next one.
 */
const char *pumice_bo_label(const struct pumice_bo *bo);

/* ------------------------------------------------------- virtual addresses */

/** pumice_vm_create - create an empty address space. Return: 0 or a negative errno. */
int pumice_vm_create(struct pumice_device *dev, struct pumice_vm **vm);

/** pumice_vm_destroy - destroy an address space and its mappings. */
void pumice_vm_destroy(struct pumice_vm *vm);

#define PUMICE_BIND_READONLY	(1u << 0)	/* read only: stores fault */
#define PUMICE_BIND_NOEXEC	(1u << 1)	/* not executable: instruction fetches fault */
/*
 * Unmap everything; all other members are 0. Also unmaps the library's
 * own mappings: streams, kernels, images and those of pumice_vm_place().
 */
#define PUMICE_BIND_UNMAP_ALL	(1u << 2)
/* NULL mapping, at most 16 GiB: loads return 0, stores are discarded. */
#define PUMICE_BIND_NULL	(1u << 3)
/* For pumice_vm_place() only: large pages where the memory permits. */
#define PUMICE_PLACE_LARGE	(1u << 4)

/** struct pumice_bind - one change of an address space. */
struct pumice_bind {
	/** @bo: memory to map; or NULL to unmap the range, or with PUMICE_BIND_NULL */
	struct pumice_bo *bo;
	/** @bo_offset: first byte, page aligned; 0 without @bo */
	uint64_t bo_offset;
	/** @va: GPU virtual address, aligned to pages of its heap, as are @bo_offset and @size */
	uint64_t va;
	/** @size: bytes, page aligned, not 0; with memory within one heap */
	uint64_t size;
	/** @flags: PUMICE_BIND_*; 0 to unmap the range */
	uint32_t flags;
};

/**
 * pumice_bind_init - initialise an operation that maps all of @bo at @va; with a NULL @bo the
 * size is 0.
 */
void pumice_bind_init(struct pumice_bind *bind, struct pumice_bo *bo, uint64_t va);

/**
 * pumice_vm_bind - change an address space, in order.
 * @ops: earlier mappings of a range are replaced; unmapping may cover parts and holes
 * @count: operations
 * @done: out, also on failure: number of operations that took effect; may be NULL
 *
 * Jobs submitted later see the change; running jobs may see either state.
 *
 * Return: 0; -EINVAL for an address, size or flag out of range; -E2BIG for too
 * many operations or a NULL mapping of more than 16 GiB; -ENODATA for memory that
 * was purged (pumice_bo_madvise()); -EIO for a VM that is unusable; -ENOMEM.
 */
int pumice_vm_bind(struct pumice_vm *vm, const struct pumice_bind *ops, uint32_t count,
		   uint32_t *done);

/**
 * pumice_vm_va_alloc - allocate a range of addresses for a mapping.
 * @size: bytes, not 0
 * @align: a power of two; 0 for the alignment best for @size
 * @va: out; nothing is mapped there yet
 *
 * Only ranges allocated here are avoided: a caller that also chooses addresses
 * itself must not use the upper half of the heap of 4 KiB pages, from which
 * these are allocated, nor that of a heap of larger pages, from which
 * pumice_vm_place() and the library allocate.
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int pumice_vm_va_alloc(struct pumice_vm *vm, uint64_t size, uint64_t align, uint64_t *va);

/** pumice_vm_va_free - free the range that starts at @va; nothing is unmapped. */
void pumice_vm_va_free(struct pumice_vm *vm, uint64_t va);

/**
 * pumice_vm_place - allocate addresses for a whole BO and map it there.
 * @flags: PUMICE_BIND_*, PUMICE_PLACE_LARGE
 * @va: out
 *
 * The page after it stays unmapped, so that an access past its end faults.
 *
 * With PUMICE_PLACE_LARGE the addresses are in the heap of the largest pages of which the BO's
 * size is a multiple (pumice_device_limits.heaps), if the BO's memory is contiguous for these;
 * otherwise, and without the flag, in the heap of 4 KiB pages, which any memory fits. The kernel
 * has contiguous memory only for BOs of a multiple of 2 MiB; in the process any size has it. A
 * capture with such addresses can be placed only where the same is true.
 *
 * The library places its own objects (pumice_buffer_create(), images, streams, spilled outputs of
 * data sets) in the heap of 2 MiB pages if their size, in whole 4 KiB pages, is a multiple of
 * 2 MiB. Parts of such an object can be unmapped or mapped again only in whole pages of 2 MiB. A
 * program that needs parts of 4 KiB in its buffers, or whose captures are for kernels without
 * heaps, places their memory itself, without the flag.
 *
 * Return: as pumice_vm_va_alloc() and pumice_vm_bind().
 */
int pumice_vm_place(struct pumice_vm *vm, struct pumice_bo *bo, uint32_t flags, uint64_t *va);

/** pumice_vm_remove - undo pumice_vm_place(). Return: 0, -EINVAL if @va was not placed by it. */
int pumice_vm_remove(struct pumice_vm *vm, uint64_t va);

/** struct pumice_buffer - memory mapped for CPU and GPU. */
struct pumice_buffer {
	/** @vm: address space of the mapping */
	struct pumice_vm *vm;
	/** @bo: the memory */
	struct pumice_bo *bo;
	/** @cpu: CPU address of the first byte */
	void *cpu;
	/** @va: GPU virtual address of the first byte; not executable */
	uint64_t va;
};

/**
 * pumice_buffer_create - allocate zeroed memory, map it for the CPU and place it in a VM.
 * @vm: address space; no other can bind it
 * @bytes: size, not 0
 * @buffer: out
 *
 * Return: as pumice_bo_create() and pumice_vm_place().
 */
int pumice_buffer_create(struct pumice_vm *vm, uint64_t bytes, struct pumice_buffer *buffer);

/** pumice_buffer_destroy - unplace it and release the memory. @buffer may be all zero. */
void pumice_buffer_destroy(struct pumice_buffer *buffer);

#define PUMICE_VM_UNUSABLE	(1u << 0)	/* rejects binds and jobs: destroy it */

/**
 * pumice_vm_get_state - get whether an address space is still usable.
 * @flags: out: PUMICE_VM_*
 *
 * Return: 0 or a negative errno.
 */
int pumice_vm_get_state(struct pumice_vm *vm, uint32_t *flags);

/* ---------------------------------------------------------------- contexts */

#define PUMICE_RESETS_LOST	(1u << 0)	/* the GPU is lost: all calls will fail */

/** struct pumice_device_resets - effects of resets and time-outs on an open device. */
struct pumice_device_resets {
	/** @resets: resets of the GPU since the device was opened */
	uint64_t resets;
	/** @guilty: contexts that became GUILTY, including destroyed ones */
	uint64_t guilty;
	/** @innocent: contexts that became INNOCENT, including destroyed ones */
	uint64_t innocent;
	/** @flags: PUMICE_RESETS_* */
	uint32_t flags;
	/** @pad: 0 */
	uint32_t pad;
};

/**
 * pumice_device_get_resets - read counts, for robustness: compare with earlier values.
 * @bytes: size of the caller's structure
 *
 * The counts never decrease. Return: 0 or a negative errno.
 */
int pumice_device_get_resets(struct pumice_device *dev, struct pumice_device_resets *resets,
			     size_t bytes);

/** enum pumice_priority - priority among the contexts of all processes. */
enum pumice_priority {
	/** @PUMICE_PRIORITY_LOW: after all others */
	PUMICE_PRIORITY_LOW = 0,
	/** @PUMICE_PRIORITY_NORMAL: the default */
	PUMICE_PRIORITY_NORMAL = 1,
	/** @PUMICE_PRIORITY_HIGH: before all others; needs privilege */
	PUMICE_PRIORITY_HIGH = 2,
};

/**
 * pumice_context_create - create a queue for compute jobs, which run in order.
 *
 * Return: 0; -EACCES for a priority that is not allowed, -EINVAL, -ENOMEM; -ENOSPC
 * where a limit of the file or user is reached, or of the firmware's contexts.
 */
int pumice_context_create(struct pumice_vm *vm, enum pumice_priority priority,
			  struct pumice_context **context);

/**
 * pumice_context_set_priority - change a context's priority.
 *
 * Takes effect immediately, also for its queued jobs and the running one.
 *
 * Return: 0; -EACCES for a priority that is not allowed, -EINVAL.
 */
int pumice_context_set_priority(struct pumice_context *context, enum pumice_priority priority);

/** pumice_context_id - return the context's number within the device. */
uint32_t pumice_context_id(const struct pumice_context *context);

/** pumice_context_destroy - destroy a context; its pending and running jobs are killed. */
void pumice_context_destroy(struct pumice_context *context);

#define PUMICE_CONTEXT_GUILTY	(1u << 0)	/* a job timed out or was killed: rejects jobs */
#define PUMICE_CONTEXT_INNOCENT	(1u << 1)	/* a GPU reset stopped a job: rejects jobs */
#define PUMICE_CONTEXT_FAULTED	(1u << 2)	/* a job faulted; the context stays usable */

/** struct pumice_context_state - state of a context. */
struct pumice_context_state {
	/** @flags: PUMICE_CONTEXT_* */
	uint32_t flags;
	/** @fault: of the last faulted job, see pumice_fault_name(); 0 for none */
	uint32_t fault;
	/** @unit: unit that raised it, see pumice_unit_name() */
	uint32_t unit;
	/** @access: of MMU faults and misaligned accesses, see pumice_access_name() */
	uint32_t access;
	/** @pc: instruction index in the program, where applicable */
	uint32_t pc;
	/** @fault_va: GPU virtual address of the fault */
	uint64_t fault_va;
	/** @jobs_done: jobs that ended, successfully or not */
	uint64_t jobs_done;
	/** @jobs_faulted: of these, ended by a fault, time-out or reset */
	uint64_t jobs_faulted;
	/** @last_start: GPU clock at the start of the job that ended most recently */
	uint64_t last_start;
	/** @last_end: GPU clock at its end */
	uint64_t last_end;
};

/** pumice_context_get_state - read the state of a context. Return: 0 or a negative errno. */
int pumice_context_get_state(struct pumice_context *context, struct pumice_context_state *state);

/**
 * pumice_context_jobs - return the number of submitted jobs.
 *
 * Jobs of a context are numbered from 1 in the order of submission, so this is
 * the number of the last one, as long as one thread submits to the context.
 */
uint64_t pumice_context_jobs(const struct pumice_context *context);

/**
 * pumice_context_kill - kill the context's jobs; it rejects further jobs.
 *
 * The fences of the jobs signal. In process only: with the
 * kernel driver, time-outs and pumice_context_destroy() do this.
 *
 * Return: 0; -EOPNOTSUPP through the kernel driver; -ETIME if the GPU is hung.
 */
int pumice_context_kill(struct pumice_context *context);

/* --------------------------------------------------------- synchronisation */

#define PUMICE_SYNC_SIGNALED	(1u << 0)	/* create it signaled (binary) */

/**
 * pumice_sync_create - create a synchronisation object, binary or timeline depending on its use.
 * @flags: PUMICE_SYNC_SIGNALED or 0
 *
 * With point 0 it is binary: it holds the fence of the job that signals it, and
 * a new one replaces it. With other points it is a timeline, whose points only increase.
 *
 * Return: 0 or a negative errno.
 */
int pumice_sync_create(struct pumice_device *dev, uint32_t flags, struct pumice_sync **sync);

/** pumice_sync_destroy - destroy it; jobs that wait for it or signal it are not affected. */
void pumice_sync_destroy(struct pumice_sync *sync);

/**
 * pumice_sync_signal - signal from the CPU.
 * @point: of a timeline; 0 for binary
 *
 * Return: 0 or a negative errno.
 */
int pumice_sync_signal(struct pumice_sync *sync, uint64_t point);

/** pumice_sync_reset - empty a binary object. Return: 0 or a negative errno. */
int pumice_sync_reset(struct pumice_sync *sync);

/** pumice_sync_query - get the last point reached. @point: out. Return: 0 or a negative errno. */
int pumice_sync_query(struct pumice_sync *sync, uint64_t *point);

#define PUMICE_WAIT_ANY		(1u << 0)	/* wait for any of the points, else for all */
#define PUMICE_WAIT_SUBMIT	(1u << 1)	/* also wait for the submission of the signal */

/** struct pumice_wait - a point to wait for. */
struct pumice_wait {
	/** @sync: object */
	struct pumice_sync *sync;
	/** @point: of a timeline; 0 for binary */
	uint64_t point;
};

/** pumice_wait_init - initialise a wait for a point of a sync; point 0 for a binary one. */
void pumice_wait_init(struct pumice_wait *wait, struct pumice_sync *sync, uint64_t point);

/**
 * pumice_sync_wait - wait on the CPU.
 * @waits: objects of one device
 * @count: not 0
 * @flags: PUMICE_WAIT_*
 * @timeout_ns: relative; 0 polls; PUMICE_FOREVER
 *
 * A job that faults signals too: pumice_context_get_state() returns its result.
 *
 * Return: 0; -ETIME; -EINVAL for an object with no
 * submitted signal, without PUMICE_WAIT_SUBMIT, or if no object is set.
 */
int pumice_sync_wait(const struct pumice_wait *waits, uint32_t count, uint32_t flags,
		     uint64_t timeout_ns);

/* -------------------------------------------------------------------- jobs */

/** struct pumice_job_sync - a wait or a signal of a job. */
struct pumice_job_sync {
	/** @sync: object */
	struct pumice_sync *sync;
	/** @point: of a timeline; 0 for binary */
	uint64_t point;
	/** @signal: signal at the job's end, else wait before its start */
	bool signal;
};

/** pumice_job_sync_init - initialise a job's wait for a point, or its signal with @signal. */
void pumice_job_sync_init(struct pumice_job_sync *job_sync, struct pumice_sync *sync,
			  uint64_t point, bool signal);

/** struct pumice_job - one job. */
struct pumice_job {
	/** @context: context whose queue it is added to */
	struct pumice_context *context;
	/** @stream: GPU virtual address of its control stream, 4-byte aligned */
	uint64_t stream;
	/** @syncs: @sync_count waits and signals */
	const struct pumice_job_sync *syncs;
	/** @sync_count: elements of @syncs */
	uint32_t sync_count;
	/** @perfmon: pumice_perfmon_id() of the monitor that measures it, or 0 */
	uint32_t perfmon;
};

/** pumice_job_init - initialise a job without waits, signals and monitor. */
void pumice_job_init(struct pumice_job *job, struct pumice_context *context, uint64_t stream);

/**
 * pumice_submit - queue all jobs, or none of them.
 * @jobs: may wait for signals of earlier jobs of the same call
 * @count: jobs, at most 64
 * @failed: out, on failure only: index of the job that was refused; may be NULL
 *
 * Return: 0; -EINVAL for a stream that is 0 or misaligned, or a wait for a point that has no
 * submitted signal; -E2BIG; -EIO for a context that rejects jobs; -ENOSPC where a context has as
 * many jobs queued as it may: wait for one; -ENOMEM.
 */
int pumice_submit(struct pumice_device *dev, const struct pumice_job *jobs, uint32_t count,
		  uint32_t *failed);

/**
 * pumice_vm_bind_async - change an address space asynchronously, in the order of these calls.
 * @vm: address space
 * @ops: as in pumice_vm_bind(); their memory may be destroyed meanwhile
 * @count: operations; may be 0
 * @syncs: waits before the first operation, signals after the last
 * @sync_count: elements of @syncs, at most 256
 *
 * The operations take effect when all waits are signaled and all calls
 * before this one on this VM have taken effect. An operation that fails
 * then makes the VM unusable (pumice_vm_get_state()); its signals and
 * those of all binds after it signal. pumice_vm_bind() waits for none
 * of these. In process the work is done inside waits and other calls.
 *
 * Return: 0; else nothing was queued: as pumice_vm_bind() and pumice_submit(),
 * and -EIO for a VM that is unusable.
 */
int pumice_vm_bind_async(struct pumice_vm *vm, const struct pumice_bind *ops, uint32_t count,
			 const struct pumice_job_sync *syncs, uint32_t sync_count);

/**
 * pumice_context_run - submit one job, wait for it, and return its result.
 * @stream: as in struct pumice_job
 * @timeout_ns: of the wait; PUMICE_FOREVER
 * @state: out, also when the job failed; may be NULL
 *
 * The context must not be used by another thread meanwhile.
 *
 * Return: 0; -EIO when the job failed: the error text is that of pumice_context_describe_job();
 * -ETIME: the job has not ended and continues; the error text names the unit that is busy
 * with it and the instructions that its waves are at; else as pumice_submit().
 */
int pumice_context_run(struct pumice_context *context, uint64_t stream, uint64_t timeout_ns,
		       struct pumice_context_state *state);

/* ---------------------------------------------------------------- programs */

/* Maximum words of a program's uniform block; program files that need more are rejected. */
#define PUMICE_MAX_UNIFORM_WORDS (1u << 20)

/** struct pumice_program_info - contents of a program file. */
struct pumice_program_info {
	/** @usc_insns: USC instructions, 4 words each */
	uint32_t usc_insns;
	/** @pds_insns: PDS instructions, 4 words each */
	uint32_t pds_insns;
	/** @relocs: relocations of PDS instructions */
	uint32_t relocs;
	/** @shared: shared registers of a task */
	uint32_t shared;
	/** @attrs: attribute registers of an instance */
	uint32_t attrs;
	/** @temps: temporary registers of an instance */
	uint32_t temps;
	/** @local_bytes: local memory of a work-group */
	uint32_t local_bytes;
	/** @size: instances of a work-group in x, y, z */
	uint32_t size[3];
	/** @uniform_words: words of the uniform block that a dispatch supplies */
	uint32_t uniform_words;
	/** @usc: 4 * @usc_insns words, owned by the program */
	const uint32_t *usc;
	/** @pds: 4 * @pds_insns words, before relocation, owned by the program */
	const uint32_t *pds;
};

/**
 * pumice_program_parse - read a program file from memory.
 * @data: copied
 * @bytes: size of @data
 * @program: out
 * @error: receives the reason of a failure; may be NULL
 * @error_bytes: size of @error
 *
 * Everything except the instructions is validated here; the GPU validates those.
 *
 * Return: 0, -EINVAL for a file that is damaged or of another version, -ENOMEM.
 */
int pumice_program_parse(const void *data, size_t bytes, struct pumice_program **program,
			 char *error, size_t error_bytes);

/** pumice_program_load - as pumice_program_parse(), from a file. Return: also errors of open. */
int pumice_program_load(const char *path, struct pumice_program **program, char *error,
			size_t error_bytes);

/**
 * pumice_program_assemble - make a program from assembly text.
 * @name: name of the text, for errors
 * @text: source as for pumice-as(1); NUL terminated
 * @program: out
 * @error: receives the first error, such as "name:12:9: error: no such operation", with its
 *   source line; may be NULL
 * @error_bytes: size of @error
 *
 * The header pumice/pumice_shader.h has macros that generate such text.
 *
 * Return: 0, -EINVAL for a text with errors, -ENOMEM.
 */
int pumice_program_assemble(const char *name, const char *text, struct pumice_program **program,
			    char *error, size_t error_bytes);

/** pumice_program_destroy - destroy it; kernels made from it are not affected. */
void pumice_program_destroy(struct pumice_program *program);

/** pumice_program_info - describe a program; the pointers are valid as long as it is. */
void pumice_program_info(const struct pumice_program *program, struct pumice_program_info *info);

/** pumice_program_coeffs - return the number of coefficient registers of a task. */
uint32_t pumice_program_coeffs(const struct pumice_program *program);

/**
 * pumice_kernel_create - place a program in a VM, ready to be dispatched.
 *
 * Return: 0 or a negative errno: -EOPNOTSUPP if the device does not have an instruction.
 */
int pumice_kernel_create(struct pumice_vm *vm, const struct pumice_program *program,
			 struct pumice_kernel **kernel);

/**
 * pumice_kernel_assemble - make a program from assembly text and place it in a VM.
 * @vm: address space
 * @name: name of the text, for errors and warnings
 * @text: as in pumice_program_assemble()
 * @kernel: out
 *
 * The device's error text is the assembler's first error. Mistakes in programs without errors are
 * reported to the function of pumice_device_set_warnings().
 *
 * Return: as pumice_program_assemble() and pumice_kernel_create().
 */
int pumice_kernel_assemble(struct pumice_vm *vm, const char *name, const char *text,
			   struct pumice_kernel **kernel);

/** pumice_kernel_destroy - destroy it; jobs that run it must have ended. */
void pumice_kernel_destroy(struct pumice_kernel *kernel);

/** pumice_kernel_code_va - return the GPU virtual address of its USC instructions. */
uint64_t pumice_kernel_code_va(const struct pumice_kernel *kernel);

/* --------------------------------------------------------- control streams */

/**
 * pumice_stream_create - create a builder with memory for one
 * control stream and its data (PDS programs, uniform blocks).
 * @bytes: size of that memory; a dispatch needs about 100 bytes and its uniforms
 * @stream: out
 *
 * Return: 0 or a negative errno.
 */
int pumice_stream_create(struct pumice_vm *vm, uint64_t bytes, struct pumice_stream **stream);

/** pumice_stream_destroy - destroy it; jobs that run it must have ended. */
void pumice_stream_destroy(struct pumice_stream *stream);

/** pumice_stream_reset - empty it; jobs that run it must have ended. */
void pumice_stream_reset(struct pumice_stream *stream);

/** struct pumice_dispatch - a grid of work-groups of one kernel. */
struct pumice_dispatch {
	/** @kernel: kernel that they run */
	const struct pumice_kernel *kernel;
	/** @groups: number of work-groups in x, y, z; none is 0, except with @allow_empty */
	uint32_t groups[3];
	/** @base: added to the work-group ids */
	uint32_t base[3];
	/** @uniforms: uniform_words words, copied; may be NULL if there are none */
	const uint32_t *uniforms;
	/** @uniform_words: words of @uniforms; must equal the program's uniform_words */
	uint32_t uniform_words;
	/** @allow_empty: bit 0: groups may be 0, for computed counts: then nothing is launched */
	uint32_t allow_empty;
};

/** pumice_dispatch_init - initialise to one work-group of a kernel without uniforms. */
void pumice_dispatch_init(struct pumice_dispatch *dispatch, const struct pumice_kernel *kernel);

/**
 * pumice_stream_dispatch - add STATE and LAUNCH for a grid.
 *
 * Return: 0; -EINVAL for another number of uniform words, or NULL for them, no kernel, one of
 * another VM or stage, or with work-groups or local memory too large for the GPU, groups that are 0
 * or exceed ids of 32 bits; -ENOSPC.
 */
int pumice_stream_dispatch(struct pumice_stream *stream, const struct pumice_dispatch *dispatch);

/**
 * pumice_stream_dispatch_indirect - add STATE and
 * LAUNCH_INDIRECT for a grid whose size is read by the GPU.
 * @dispatch: as in pumice_stream_dispatch(), but groups is ignored
 * @counts: GPU virtual address of three words, work-groups in x, y and z;
 *   4-byte aligned; read when all launches before it have finished
 *
 * Return: as pumice_stream_dispatch(); -EINVAL for a bad address.
 */
int pumice_stream_dispatch_indirect(struct pumice_stream *stream,
				    const struct pumice_dispatch *dispatch, uint64_t counts);

/**
 * pumice_stream_link - continue in another stream, without return.
 * @va: GPU virtual address of its first word, 4-byte aligned
 *
 * Return: 0, -EINVAL, -ENOSPC.
 */
int pumice_stream_link(struct pumice_stream *stream, uint64_t va);

#define PUMICE_FLUSH_DATA	(1u << 0)	/* clean and invalidate data caches */
#define PUMICE_FLUSH_CODE	(1u << 1)	/* invalidate instruction caches */
/* Since 0.5, on devices with register map 2.9: */
#define PUMICE_FLUSH_CLEAN	(1u << 2)	/* write dirty lines; they remain valid */
#define PUMICE_FLUSH_INVALIDATE	(1u << 3)	/* clean, then drop lines */
/* Reach, one of these at most; without one all caches of the GPU, the SLC included. */
#define PUMICE_FLUSH_GPU	(1u << 8)	/* the caches of the cores, not the SLC */
#define PUMICE_FLUSH_CORE	(2u << 8)	/* the same, by core */
#define PUMICE_FLUSH_GROUP	(3u << 8)	/* the first caches of each USC */

/**
 * pumice_stream_flush - add a fence, then cache operations.
 * @flags: PUMICE_FLUSH_*
 *
 * Of a stream of compute or rays. Operations are on lines of the job's VM. Streams of rays have it
 * on devices with register map 2.9: before, it is refused after a launch of rays, and such a launch
 * after it.
 *
 * Return: 0, -EINVAL, -ENOSPC, -EOPNOTSUPP if the device does not have a flag or the command.
 */
int pumice_stream_flush(struct pumice_stream *stream, uint32_t flags);

/**
 * pumice_stream_timestamp - write the GPU clock, 64 bits.
 * @va: GPU virtual address, 8-byte aligned
 * @wait: write when all launches before it have finished and their stores are
 *   visible, else when the command is reached
 *
 * Return: 0, -EINVAL, -ENOSPC.
 */
int pumice_stream_timestamp(struct pumice_stream *stream, uint64_t va, bool wait);

/**
 * pumice_stream_marker - write a word, so that the progress of the stream can be observed.
 * @va: GPU virtual address, 4-byte aligned
 * @value: the word
 * @wait: as in pumice_stream_timestamp()
 *
 * Return: 0, -EINVAL, -ENOSPC.
 */
int pumice_stream_marker(struct pumice_stream *stream, uint64_t va, uint32_t value, bool wait);

/**
 * pumice_stream_fence - make the stores of earlier launches visible to later launches.
 *
 * Return: 0, -ENOSPC.
 */
int pumice_stream_fence(struct pumice_stream *stream);

/**
 * pumice_stream_emit - add raw words, for streams that the calls above do not build.
 *
 * Return: 0, -ENOSPC.
 */
int pumice_stream_emit(struct pumice_stream *stream, const uint32_t *words, uint32_t count);

/**
 * pumice_stream_data - allocate memory of the stream for data.
 * @bytes: not 0
 * @align: a power of two, at most 4096
 * @cpu: out: CPU address to write it at, until the next reset
 * @va: out: GPU virtual address, read only for the GPU
 *
 * Return: 0, -EINVAL, -ENOSPC.
 */
int pumice_stream_data(struct pumice_stream *stream, uint64_t bytes, uint64_t align, void **cpu,
		       uint64_t *va);

/**
 * pumice_stream_end - add HALT.
 * @va: out: for struct pumice_job; may be NULL
 *
 * Return: 0, -ENOSPC.
 */
int pumice_stream_end(struct pumice_stream *stream, uint64_t *va);

/** pumice_stream_va - return the GPU virtual address of the next word to be added. */
uint64_t pumice_stream_va(const struct pumice_stream *stream);

#ifdef __cplusplus
}
#endif

#include "pumice_debug.h"
#include "pumice_fault.h"
#include "pumice_limits.h"
#include "pumice_perf.h"
#include "pumice_virtual.h"

#endif
