/* SPDX-License-Identifier: MIT */
/*
 * The backend that talks to the kernel driver (uapi/drm/pumice_drm.h) through
 * libdrm.
 */
#ifndef PUMICE_DRM_BACKEND_H
#define PUMICE_DRM_BACKEND_H

#include <pumice_drm.h>

#include "internal.h"

struct drm_device {
	struct pumice_device base;
	int fd;
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

struct drm_sync {
	struct pumice_sync base;
	u32 handle;
};

static inline struct drm_device *drm_device(struct pumice_device *dev)
{
	return (struct drm_device *)dev;
}

/* An ioctl; fails with the error text "@what: …". Return: 0 or a negative errno. */
int drm_call(struct pumice_device *dev, unsigned long request, void *arg, const char *what);

/* memory.c */
int drm_bo_create(struct pumice_device *dev, u64 size, struct pumice_vm *exclusive,
		  struct pumice_bo **bo);
void drm_bo_destroy(struct pumice_bo *bo);
int drm_bo_map(struct pumice_bo *bo, void **cpu);
void drm_bo_unmap(struct pumice_bo *bo, void *cpu);
int drm_vm_create(struct pumice_device *dev, struct pumice_vm **vm);
void drm_vm_destroy(struct pumice_vm *vm);
int drm_vm_bind(struct pumice_vm *vm, const struct pumice_bind *ops, u32 count, u32 *done);

/* queue.c */
int drm_context_create(struct pumice_vm *vm, enum pumice_priority priority,
		       struct pumice_context **context);
void drm_context_destroy(struct pumice_context *context);
int drm_context_get_state(struct pumice_context *context, struct pumice_context_state *state);
int drm_context_kill(struct pumice_context *context);
int drm_submit(struct pumice_device *dev, const struct pumice_job *jobs, u32 count, u32 *failed);

/* sync.c */
int drm_sync_create(struct pumice_device *dev, u32 flags, struct pumice_sync **sync);
void drm_sync_destroy(struct pumice_sync *sync);
int drm_sync_signal(struct pumice_sync *sync, u64 point);
int drm_sync_reset(struct pumice_sync *sync);
int drm_sync_query(struct pumice_sync *sync, u64 *point);
int drm_sync_wait(struct pumice_device *dev, const struct pumice_wait *waits, u32 count,
		  u32 flags, u64 timeout_ns);

#endif
