/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Purgeable buffers and their shrinker. */
#ifndef PUMICE_SHRINKER_H
#define PUMICE_SHRINKER_H

#include <linux/list.h>
#include <linux/mutex.h>

struct drm_device;
struct drm_file;
struct pumice_bo;
struct pumice_device;
struct shrinker;

/**
 * struct pumice_purgeable - buffers that the shrinker may purge
 */
struct pumice_purgeable {
	/** @lock: guards @bos; acquired in reclaim, so nothing is allocated under it */
	struct mutex lock;
	/** @bos: struct pumice_bo.purgeable of DONTNEED buffers not yet purged, oldest first */
	struct list_head bos;
	/** @shrinker: shrinker that scans @bos */
	struct shrinker *shrinker;
};

int pumice_shrinker_init(struct pumice_device *pdev);
void pumice_shrinker_fini(struct pumice_device *pdev);
void pumice_shrinker_forget(struct pumice_bo *bo);

int pumice_ioctl_bo_madvise(struct drm_device *drm, void *data, struct drm_file *file);

#endif
