/* SPDX-License-Identifier: MIT */
/*
 * The backend that uses the kernel driver (uapi/drm/pumice_drm.h) through
 * libdrm.
 */
#ifndef PUMICE_DRM_BACKEND_H
#define PUMICE_DRM_BACKEND_H

#include <pumice_drm.h>
#include <stdatomic.h>

#include "internal.h"

struct drm_device {
	struct pumice_device base;
	int fd;
	int minor;			/* of the kernel's interface 1.x */
	pthread_mutex_t read_lock;	/* held while events are read, which must not block */
	_Atomic u32 announced;		/* flips announced and not returned */
	/* findings.c */
	pthread_mutex_t findings_lock;	/* guards the rest; a leaf */
	char *findings;			/* as read last, or NULL */
	bool findings_fresh;		/* that was for findings_clears, which finding follows */
	u32 findings_clears;
};

struct drm_bo {
	struct pumice_bo base;
	u32 handle;
};

struct drm_vm {
	struct pumice_vm base;
	u32 id;
};

struct drm_context {
	struct pumice_context base;
	u32 id;
};

struct drm_freelist {
	struct pumice_freelist base;
	u32 id;
};

struct drm_hwrt {
	struct pumice_hwrt base;
	u32 id;
};

struct drm_sync {
	struct pumice_sync base;
	u32 handle;
};

#define TRACE_ROOM 256u	/* records read from the kernel at a time */

struct drm_trace {
	struct pumice_trace base;
	int fd;
	u32 *words;		/* capacity: TRACE_ROOM records */
	u32 count, next;	/* records present, and index of the next to consume */
	bool started;		/* a record was read: expected is valid */
	u16 expected;		/* sequence number of the next record */
};

static inline struct drm_device *drm_device(struct pumice_device *dev)
{
	return (struct drm_device *)dev;
}

/* Return the text of an errno: the library's own for ENOMEM, which both backends have. */
const char *drm_error_text(int err);
/* Issue an ioctl; fails with the error text "@what: …". Return: 0 or a negative errno. */
int drm_call(struct pumice_device *dev, unsigned long request, void *arg, const char *what);
/* The same for a call that creates an object and may reach a limit. */
int drm_create(struct pumice_device *dev, unsigned long request, void *arg, const char *what);

/* debugfs.c: open a file of the driver. Return: file, or a negative errno. */
int drm_debugfs_open(int drm_fd, const char *name, int flags);

/* findings.c */
int drm_finding(struct pumice_device *dev, u32 number, char *text, size_t bytes);
u32 drm_findings_clears(struct pumice_device *dev);
u64 drm_findings_lost(struct pumice_device *dev);
const char *drm_mode(struct pumice_device *dev);
int drm_set_mode(struct pumice_device *dev, const char *mode);

/* memory.c */
int drm_bo_create(struct pumice_device *dev, u64 size, struct pumice_vm *exclusive, u32 flags,
		  struct pumice_bo **bo);
void drm_bo_destroy(struct pumice_bo *bo);
int drm_bo_map(struct pumice_bo *bo, void **cpu);
void drm_bo_unmap(struct pumice_bo *bo, void *cpu);
int drm_bo_set_label(struct pumice_bo *bo, const char *label);
int drm_bo_madvise(struct pumice_bo *bo, u32 advice, bool *retained);
int drm_vm_create(struct pumice_device *dev, struct pumice_vm **vm);
void drm_vm_destroy(struct pumice_vm *vm);
int drm_vm_bind(struct pumice_vm *vm, const struct pumice_bind *ops, u32 count, u32 *done);
int drm_vm_bind_async(struct pumice_vm *vm, const struct pumice_bind *ops, u32 count,
		      const struct pumice_job_sync *syncs, u32 sync_count);
int drm_vm_get_state(struct pumice_vm *vm, u32 *flags);
int drm_vm_get_faults(struct pumice_vm *vm, u64 after, struct pumice_vm_fault *faults, u32 *count,
		      u64 *lost);

/* queue.c */
int drm_context_create(struct pumice_vm *vm, enum pumice_context_type type,
		       enum pumice_priority priority, struct pumice_context **context);
void drm_context_destroy(struct pumice_context *context);
int drm_context_set_priority(struct pumice_context *context, enum pumice_priority priority);
int drm_resets(struct pumice_device *dev, struct pumice_device_resets *resets);
int drm_context_get_state(struct pumice_context *context, struct pumice_context_state *state);
int drm_context_kill(struct pumice_context *context);
int drm_context_dump(struct pumice_context *context, const char *path);
int drm_job_result(struct pumice_context *context, u64 job, struct pumice_job_result *result);
/* Convert waits and signals to the kernel's structures. @to: @count of them */
void drm_pack_syncs(const struct pumice_job_sync *syncs, u32 count, struct drm_pumice_sync *to);
int drm_submit(struct pumice_device *dev, const struct pumice_gfx_job *jobs, u32 count,
	       const struct pumice_present_job *present, u32 *failed);

/* flip.c */
int drm_wait_flip(struct pumice_device *dev, u64 timeout_ns, struct pumice_flip *flip);

/* render.c */
int drm_freelist_create(struct pumice_vm *vm, const struct pumice_freelist_desc *desc,
			bool gpu_tables, struct pumice_freelist **list);
void drm_freelist_destroy(struct pumice_freelist *list);
int drm_hwrt_create(struct pumice_vm *vm, const struct pumice_hwrt_desc *desc, u64 spill,
		    u64 spill_bytes, struct pumice_hwrt **hwrt);
void drm_hwrt_destroy(struct pumice_hwrt *hwrt);

/* sync.c */
/* Return whether a job or bind signals the sync at its point, or has. */
bool drm_sync_is_submitted(const struct pumice_job_sync *s);
int drm_sync_create(struct pumice_device *dev, u32 flags, struct pumice_sync **sync);
void drm_sync_destroy(struct pumice_sync *sync);
int drm_sync_signal(struct pumice_sync *sync, u64 point);
int drm_sync_reset(struct pumice_sync *sync);
int drm_sync_query(struct pumice_sync *sync, u64 *point);
int drm_sync_wait(struct pumice_device *dev, const struct pumice_wait *waits, u32 count,
		  u32 flags, u64 timeout_ns);

/* perf.c */
int drm_perf_counter(struct pumice_device *dev, u32 counter, struct pumice_perf_info *info);
int drm_perfmon_create(struct pumice_device *dev, const u32 *counters, u32 count,
		       struct pumice_perfmon **perfmon);
void drm_perfmon_destroy(struct pumice_perfmon *perfmon);
int drm_perfmon_read(struct pumice_perfmon *perfmon, u32 flags, u64 *values);
int drm_hierarchy_row(struct pumice_device *dev, u32 row, u64 *value);

/* trace.c */
int drm_trace_open(struct pumice_device *dev, u32 entries, struct pumice_trace **trace);
int drm_trace_next(struct pumice_trace *trace, u32 *words, bool *have, u64 *lost);
void drm_trace_close(struct pumice_trace *trace);

#endif
