/* SPDX-License-Identifier: MIT */
/*
 * Internal interface of libpumice: objects, and
 * the table of functions of the two backends.
 *
 * The common part checks arguments, allocates addresses, loads
 * programs and builds streams; a backend does the operations that need a GPU. A backend's
 * objects begin with the structs below. Its functions receive checked arguments and
 * set the error text when they fail.
 */
#ifndef PUMICE_INTERNAL_H
#define PUMICE_INTERNAL_H

#include <pthread.h>

#include "bound.h"
#include "extents.h"
#include "pumice/pumice_gfx.h"
#include "pumice_types.h"

#define PAGE_BYTES	4096ull
#define MAX_JOBS	64u	/* of one pumice_submit() */
#define MAX_SYNCS	256u	/* of one job */
#define MAX_BINDS	4096u	/* of one pumice_vm_bind() */
#define MAX_NULL_BYTES	(16ull << 30)	/* of one NULL mapping, as in the kernel driver */
#define KEPT_RESULTS	64u	/* of the last jobs of a context, as in the kernel driver */
#define MAX_PERFMONS	16u	/* of one device */

/* Fill a growing structure of the header up to the size that the caller supports. */
void put_sized(void *to, size_t bytes, const void *from, size_t available);

struct pumice_hwrt_layout;
struct pumice_present_job;
struct pumice_flip;

struct backend_ops {
	void (*close)(struct pumice_device *dev);
	/* NULL where virtual GPUs are not opened by their number. */
	int (*open_virtual)(struct pumice_device *dev, u32 number, struct pumice_device **out);
	int (*timestamp)(struct pumice_device *dev, u64 *gpu_ticks, u64 *cpu_ns);
	int (*fw_counters)(struct pumice_device *dev, struct pumice_fw_counters *counters);
	int (*drm_fd)(struct pumice_device *dev);
	int (*stats)(struct pumice_device *dev, struct pumice_device_stats *stats);
	int (*resets)(struct pumice_device *dev, struct pumice_device_resets *resets);

	/* @flags: PUMICE_BO_*, checked */
	int (*bo_create)(struct pumice_device *dev, u64 size, struct pumice_vm *exclusive,
			 u32 flags, struct pumice_bo **bo);
	void (*bo_destroy)(struct pumice_bo *bo);
	int (*bo_map)(struct pumice_bo *bo, void **cpu);
	void (*bo_unmap)(struct pumice_bo *bo, void *cpu);
	/* @label: at most PUMICE_LABEL_BYTES, or NULL */
	int (*bo_set_label)(struct pumice_bo *bo, const char *label);
	int (*bo_madvise)(struct pumice_bo *bo, u32 advice, bool *retained);

	int (*vm_create)(struct pumice_device *dev, struct pumice_vm **vm);
	void (*vm_destroy)(struct pumice_vm *vm);
	int (*vm_bind)(struct pumice_vm *vm, const struct pumice_bind *ops, u32 count, u32 *done);
	int (*vm_bind_async)(struct pumice_vm *vm, const struct pumice_bind *ops, u32 count,
			     const struct pumice_job_sync *syncs, u32 sync_count);
	int (*vm_get_state)(struct pumice_vm *vm, u32 *flags);
	/* @count: in: at most PUMICE_VM_FAULTS; out */
	int (*vm_get_faults)(struct pumice_vm *vm, u64 after, struct pumice_vm_fault *faults,
			     u32 *count, u64 *lost);

	int (*context_create)(struct pumice_vm *vm, enum pumice_context_type type,
			      enum pumice_priority priority, struct pumice_context **context);
	void (*context_destroy)(struct pumice_context *context);
	int (*context_get_state)(struct pumice_context *context,
				 struct pumice_context_state *state);
	int (*context_kill)(struct pumice_context *context);
	int (*context_set_priority)(struct pumice_context *context, enum pumice_priority priority);
	int (*context_dump)(struct pumice_context *context, const char *path);
	int (*job_result)(struct pumice_context *context, u64 job,
			  struct pumice_job_result *result);

	/*
	 * Describe the job of a context that runs: number, unit and waves; @result is zeroed.
	 * Return: 0, or -ENODATA if none runs. NULL where only the kernel can examine waves.
	 */
	int (*job_running)(struct pumice_context *context, struct pumice_job_result *result);

	int (*sync_create)(struct pumice_device *dev, u32 flags, struct pumice_sync **sync);
	void (*sync_destroy)(struct pumice_sync *sync);
	int (*sync_signal)(struct pumice_sync *sync, u64 point);
	int (*sync_reset)(struct pumice_sync *sync);
	int (*sync_query)(struct pumice_sync *sync, u64 *point);
	int (*sync_wait)(struct pumice_device *dev, const struct pumice_wait *waits, u32 count,
			 u32 flags, u64 timeout_ns);

	/*
	 * Jobs are of types that their contexts have; GEOMETRY is followed by its FRAGMENT.
	 * @present: NULL, or the presents of the only job
	 */
	int (*submit)(struct pumice_device *dev, const struct pumice_gfx_job *jobs, u32 count,
		      const struct pumice_present_job *present, u32 *failed);
	/* Return: 0, -ETIME without a text, or another negative errno. */
	int (*wait_flip)(struct pumice_device *dev, u64 timeout_ns, struct pumice_flip *flip);

	int (*freelist_create)(struct pumice_vm *vm, const struct pumice_freelist_desc *desc,
			       bool gpu_tables, struct pumice_freelist **list);
	void (*freelist_destroy)(struct pumice_freelist *list);
	/* @spill: memory for both scenes, consecutively; @spill_bytes of one; or 0, 0 */
	int (*hwrt_create)(struct pumice_vm *vm, const struct pumice_hwrt_desc *desc, u64 spill,
			   u64 spill_bytes, struct pumice_hwrt **hwrt);
	void (*hwrt_destroy)(struct pumice_hwrt *hwrt);
	/* For captures; NULL where only the kernel can access this memory. */
	int (*hwrt_layout)(const struct pumice_hwrt *hwrt, u32 scene,
			   struct pumice_hwrt_layout *layout);
	int (*vm_peek)(struct pumice_vm *vm, u64 va, void *data, u64 bytes);

	/* -ENOENT past the last */
	int (*perf_counter)(struct pumice_device *dev, u32 counter,
			    struct pumice_perf_info *info);
	int (*perfmon_create)(struct pumice_device *dev, const u32 *counters, u32 count,
			      struct pumice_perfmon **perfmon);
	void (*perfmon_destroy)(struct pumice_perfmon *perfmon);
	int (*perfmon_read)(struct pumice_perfmon *perfmon, u32 flags, u64 *values);

	/* Read the values of a row of HIER_SELECT that exists. */
	int (*hierarchy_row)(struct pumice_device *dev, u32 row, u64 *value);
	/* Get the counts of a client that exists, but its name. NULL where the library cannot. */
	void (*hierarchy_bus)(struct pumice_device *dev, u32 client,
			      struct pumice_hierarchy_bus *counts);
	/*
	 * Get a finding of mode strict as a JSON object, of those of this device; -ENOENT past the
	 * last; no error text. Those of a GPU of the kernel driver are of all processes, and its
	 * file has errors of its own. NULL where the library has no findings.
	 */
	int (*finding)(struct pumice_device *dev, u32 number, char *text, size_t bytes);
	/* Get the name of the GPU's mode. NULL where the library cannot read it. */
	const char *(*mode)(struct pumice_device *dev);
	/*
	 * Change it: its name. -EBUSY while a job runs, -EINVAL for another name, -ENOMEM; no error
	 * text. Of the kernel driver errors of its file, too. NULL where the library cannot.
	 */
	int (*set_mode)(struct pumice_device *dev, const char *mode);
	/* Return how often all findings were dropped; exists if finding does. */
	u32 (*findings_clears)(struct pumice_device *dev);
	/* Return the number of findings that had no room; exists if finding does. */
	u64 (*findings_lost)(struct pumice_device *dev);

	int (*trace_open)(struct pumice_device *dev, u32 entries, struct pumice_trace **trace);
	/* Read one more record, or clear *have. @lost: incremented */
	int (*trace_next)(struct pumice_trace *trace, u32 *words, bool *have, u64 *lost);
	void (*trace_close)(struct pumice_trace *trace);
};

struct thread_error;

/* Receiver of warnings of programs; report is NULL for none. */
struct warnings {
	void (*report)(void *data, const char *text);
	void *data;
};

struct pumice_device {
	const struct backend_ops *ops;
	struct pumice_device_info info;	/* constant once open */
	struct pumice_device_limits limits;	/* the same */
	/*
	 * Memory of a bo is contiguous and aligned in parts of this size, as far as the kernel has
	 * such memory; the rest of a bo is not. Constant once open.
	 */
	u64 contiguous_bytes;

	/* vm.c */
	pthread_mutex_t vms_lock;	/* protects vms; a VM's lock nests inside */
	struct pumice_vm *vms;		/* number of counters */

	/* error.c */
	pthread_key_t error_key;
	pthread_mutex_t error_lock;	/* protects errors */
	struct thread_error *errors;	/* one per thread that had an error */

	/* device.c */
	pthread_mutex_t warnings_lock;	/* protects warnings */
	struct warnings warnings;

	/* findings.c */
	pthread_mutex_t findings_lock;	/* protects the rest; vms_lock nests inside */
	u32 findings_written;		/* to the file, since they were dropped last */
	u32 findings_clears;		/* how often they were dropped before */
	u64 findings_lost;		/* without room, of those that were written as a number */
};

/* Write the mode of a GPU that has been opened to the file that PUMICE_FINDINGS names, if any. */
void findings_open(struct pumice_device *dev);
/* Skip those that the GPU has before it is used: of a GPU that others use, too. */
void findings_skip(struct pumice_device *dev);
/* Write findings that are new to the file that PUMICE_FINDINGS names, if it is set. */
void findings_write(struct pumice_device *dev);

struct pumice_bo {
	struct pumice_device *dev;
	u64 size;		/* bytes, whole pages */
	const struct pumice_vm *exclusive;	/* compared only: may be destroyed; or NULL */
	pthread_mutex_t lock;	/* protects cpu, label */
	void *cpu;		/* or NULL */
	char label[PUMICE_LABEL_BYTES];
	u64 extent_offset, extent_bytes;	/* used part, for texts; 0, 0: all */
	bool internal;		/* made by the library: a worse name for a place than a user's */
	bool scratch;		/* contents do not persist between frames: not captured */
	u64 bytes;		/* as requested, for findings; 0: not known */
	_Atomic u32 bound;	/* ranges in which it is bound, of all address spaces */
};

/* A mapping of pumice_vm_place(), or addresses of pumice_vm_va_alloc(). */
struct va_node {
	struct range at;	/* the first member */
	u64 guard;		/* bytes after it that stay unmapped */
	u32 heap;		/* index of its heap */
	bool placed;
};

struct pumice_vm {
	struct pumice_device *dev;
	struct pumice_vm *next;	/* of the device's */
	pthread_mutex_t lock;	/* protects room, nodes, bound, kernels */
	struct pumice_kernel *kernels;	/* placed in it */
	struct bound bound;	/* for captures */
	/* Free addresses of each heap; of the first one, those of its upper half. */
	struct extents room[PUMICE_MAX_HEAPS];
	struct ranges nodes;	/* struct va_node: allocated ranges of them */
};

struct pumice_context {
	struct pumice_device *dev;
	struct pumice_vm *vm;
	u32 type;		/* enum pumice_context_type; set by the common part */
	u32 id;			/* set by the backend */
	u64 jobs;		/* submitted; atomic */
};

/* Base of a backend's free list; the backend sets dev and vm. */
struct pumice_freelist {
	struct pumice_device *dev;
	struct pumice_vm *vm;
};

/* Base of a backend's data set; the backend sets dev and vm, the common part the rest. */
struct pumice_hwrt {
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_bo *spill;	/* or NULL */
	u64 spill_va;
	u32 width, height, tile_size;	/* as in its description */
	pthread_mutex_t list_lock;	/* protects list */
	struct hwrt_list {
		struct pumice_bo *bo;	/* or NULL: no frame needed it so far */
		u64 va;
	} list;				/* commands of all tiles: gfx_list.c */
};

/* gfx_list.c: free the list, if it was made. */
void hwrt_list_destroy(struct pumice_hwrt *hwrt);

struct pumice_sync {
	struct pumice_device *dev;
};

struct pumice_perfmon {
	struct pumice_device *dev;
	u32 id;
	u32 count;		/* of its counters */
};

struct pumice_trace {
	struct pumice_device *dev;
	u32 kinds;
	/* Fetched from the backend, and not returned yet. */
	u32 words[8];
	bool have;	/* words are a record */
	u64 lost;	/* events before it */
	int error;
};

/*
 * Fetch the next record of a selected kind: *have is false if there is none. Events that were
 * lost before it are added to *lost. With @count records fetched before, a gap or an error is
 * left for the next call with @count 0, so that it precedes all records that are returned
 * together. Return: 0 or a negative errno.
 */
int trace_fetch(struct pumice_trace *trace, u32 count, u32 *words, bool *have, u64 *lost);

/* Set up and tear down the common part. */
int device_init(struct pumice_device *dev, const struct backend_ops *ops);
void device_fini(struct pumice_device *dev);
void bo_init(struct pumice_bo *bo, struct pumice_device *dev, u64 size);
void bo_fini(struct pumice_bo *bo);
/* bo_name_internal - label a bo that the library made for itself, in this process only. */
void bo_name_internal(struct pumice_bo *bo, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int vm_init(struct pumice_vm *vm, struct pumice_device *dev);
void vm_fini(struct pumice_vm *vm);
/* vm_place_object - pumice_vm_place() in the heap of 2 MiB pages if the bo has whole ones. */
int vm_place_object(struct pumice_vm *vm, struct pumice_bo *bo, u32 flags, u64 *va);
/* vm_reserve - allocate the addresses of a heap, of which none is in use, up to address @end. */
int vm_reserve(struct pumice_vm *vm, u32 heap, u64 end);
/* vm_forget - remove a bo that is being destroyed from all bound ranges. */
void vm_forget(const struct pumice_bo *bo);

/*
 * fail - set the calling thread's error text. @err: positive errno.
 * Return: -@err, for the caller to return.
 */
int fail(struct pumice_device *dev, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* fail_null - refuse an argument that is NULL. @what: the object; @name: the argument's */
int fail_null(struct pumice_device *dev, const char *what, const char *name);

/* PUMICE_ERROR_BYTES of the headers before 0.5: programs copy texts into buffers of this size. */
#define FORMER_ERROR_BYTES	256

/* Return the text of the calling thread: all of it, and what fits into FORMER_ERROR_BYTES. */
const char *device_error(struct pumice_device *dev);
const char *device_error_former(struct pumice_device *dev);

/*
 * stream_dispatch - pumice_stream_dispatch(), and as it was before 0.5, without allow_empty: grids
 * may be empty.
 */
int stream_dispatch(struct pumice_stream *s, const struct pumice_dispatch *d);
int stream_dispatch_former(struct pumice_stream *s, const struct pumice_dispatch *d);

/* fail_text - report the same for calls without a device. @text: may be NULL; @bytes: of @text. */
int fail_text(char *text, size_t bytes, int err, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * Mistakes that only the backends detect: one text for each, in all of them.
 * Return: a negative errno.
 */
int fail_context_stopped(struct pumice_device *dev, u32 job);
int fail_vm_unusable(struct pumice_device *dev, const char *what);
int fail_wait_unsignaled(struct pumice_device *dev, u32 wait);
int fail_wait_timeout(struct pumice_device *dev, u64 timeout_ns);
int fail_job_unsignaled(struct pumice_device *dev, u32 job, u32 sync);
int fail_job_perfmon(struct pumice_device *dev, u32 job, u32 perfmon);
int fail_bind_unsignaled(struct pumice_device *dev, u32 sync);
int fail_perfmon_busy(struct pumice_device *dev);
int fail_no_flip_space(struct pumice_device *dev);
/* @err: ENOENT, EBUSY or ENODATA; @job: 0 for the last one */
int fail_job_result(struct pumice_device *dev, int err, u64 job);

/* Backends. @rest: the part of the name after ':', or NULL. Errors go to @error. */
int drm_open(const char *rest, struct pumice_device **dev, char *error, size_t error_bytes);
int inproc_open(const char *rest, struct pumice_device **dev, char *error, size_t error_bytes);

int attach_open(const char *rest, struct pumice_device **dev, char *error, size_t error_bytes);

/* Return whether a job before @index signals the point of @wait. */
bool sync_signaled_before(const struct pumice_gfx_job *jobs, u32 index,
			  const struct pumice_job_sync *wait);

/* queue.c: check and submit jobs. @present: NULL, or the presents of the only job */
int queue_submit(struct pumice_device *dev, const struct pumice_gfx_job *jobs, u32 count,
		 const struct pumice_present_job *present, u32 *failed);

/* queue.c: submit jobs of one context, wait for the last, and return how they ended. */
int queue_run(struct pumice_gfx_job *jobs, u32 count, u64 timeout_ns,
	      struct pumice_context_state *state);

/*
 * describe.c: as pumice_context_describe_job(), for an error text: without the last line end,
 * and with a note if the text is truncated. @bytes: more than 64
 */
int describe_failure(struct pumice_context *context, u64 job, char *text, size_t bytes);

/* The same for a context whose job has not ended within @timeout_ns. */
void describe_late(struct pumice_context *context, u64 timeout_ns, char *text, size_t bytes);

/* Get the present receiver, which is called without the lock. */
struct warnings device_warnings(struct pumice_device *dev);

/* Return CLOCK_MONOTONIC, ns. */
u64 now_ns(void);

static inline u64 round_up(u64 v, u64 to)
{
	return (v + to - 1) & ~(to - 1);
}

static inline bool power_of_two(u64 v)
{
	return v && !(v & (v - 1));
}

#endif
