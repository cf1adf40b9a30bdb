/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Buffers. */
#ifndef PUMICE_GEM_H
#define PUMICE_GEM_H

#include <linux/mutex.h>

#include <drm/drm_gem_shmem_helper.h>

#include "compat.h"

struct dma_buf;
struct dma_buf_attachment;
struct drm_mode_create_dumb;
struct pumice_device;

/**
 * struct pumice_bo - a buffer: pages of system memory
 */
struct pumice_bo {
	/** @base: base */
	struct drm_gem_shmem_object base;
	/** @node: in pumice_device.bos */
	struct list_head node;
	/** @purgeable: in pumice_purgeable.bos while advised DONTNEED and not purged */
	struct list_head purgeable;
	/** @id: number of the buffer, of all of the device; constant */
	u64 id;
	/** @bytes: size as requested, not rounded to pages; constant */
	u64 bytes;
	/** @label: the user's text, or NULL; under bos_lock */
	char *label;
	/**
	 * @foreign: dma-buf of an imported buffer that was detached from the device, with
	 * the import's reference; otherwise NULL
	 */
	struct dma_buf *foreign;
	/** @coherent: caches of the GPU keep nothing of it: DRM_PUMICE_BO_COHERENT; constant */
	bool coherent;
	/** @detached: processed during the removal of the device; under bos_lock */
	bool detached;
	/**
	 * @root: root object of the only VM that may bind it, whose reservation
	 * it uses; a reference; or NULL
	 */
	struct drm_gem_object *root;
#ifndef PUMICE_HAVE_GPUVM_IMMEDIATE_MODE
	/** @gpuva_lock: guards the list of VMs that the buffer is bound in */
	struct mutex gpuva_lock;
#endif
};

static inline struct pumice_bo *to_pumice_bo(struct drm_gem_object *obj)
{
	return container_of(obj, struct pumice_bo, base.base);
}

/* Return the lock of the list of VMs that bind a buffer; nests inside the VM's reservation. */
static inline struct mutex *pumice_bo_gpuva_lock(struct drm_gem_object *obj)
{
#ifdef PUMICE_HAVE_GPUVM_IMMEDIATE_MODE
	return &obj->gpuva.lock;
#else
	return &to_pumice_bo(obj)->gpuva_lock;
#endif
}

/* Return true if the content was purged, which is final: see pumice_shrinker.c. */
static inline bool pumice_bo_purged(const struct pumice_bo *bo)
{
	return READ_ONCE(bo->base.madv) < 0;
}

struct drm_gem_object *pumice_gem_create_object(struct drm_device *drm, size_t size);
struct drm_gem_object *pumice_gem_prime_import(struct drm_device *drm, struct dma_buf *dma_buf);
int pumice_gem_prime_export(struct drm_device *drm, struct drm_file *file, u32 handle, u32 flags,
			    int *fd);
struct drm_gem_object *pumice_gem_import(struct drm_device *drm,
					 struct dma_buf_attachment *attach, struct sg_table *sgt);
int pumice_gem_dumb_create(struct drm_file *file, struct drm_device *drm,
			   struct drm_mode_create_dumb *args);
void pumice_gem_unmap_all(struct pumice_device *pdev);

int pumice_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *file);
int pumice_ioctl_bo_set_label(struct drm_device *drm, void *data, struct drm_file *file);
int pumice_ioctl_bo_mmap_offset(struct drm_device *drm, void *data, struct drm_file *file);

#endif
