// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Buffers: shmem GEM, cached, coherent; PRIME both ways.
 *
 * Pages are pinned and DMA-mapped when a buffer is first bound, and stay so
 * until it is freed, or until the device goes.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/string.h>

#include <drm/drm_gem.h>
#include <drm/drm_prime.h>
#include <drm/drm_vma_manager.h>

#include "pumice_device.h"
#include "pumice_gem.h"
#include "pumice_vm.h"

static void bo_free(struct drm_gem_object *obj)
{
	struct pumice_device *pdev = to_pumice_device(obj->dev);
	struct pumice_bo *bo = to_pumice_bo(obj);
	struct drm_gem_object *root = bo->root;

	spin_lock(&pdev->bos_lock);
	list_del(&bo->node);
	spin_unlock(&pdev->bos_lock);
	kfree(bo->label);
	drm_gem_shmem_free(&bo->base);
	/* Last: the reservation that was used until here is part of it. */
	if (root)
		drm_gem_object_put(root);
	atomic_dec(&pdev->stats.bos);
}

static struct dma_buf *bo_export(struct drm_gem_object *obj, int flags)
{
	if (to_pumice_bo(obj)->root)
		return ERR_PTR(-EINVAL);
	return drm_gem_prime_export(obj, flags);
}

static enum drm_gem_object_status bo_status(struct drm_gem_object *obj)
{
	struct pumice_bo *bo = to_pumice_bo(obj);

	return READ_ONCE(bo->base.pages) || READ_ONCE(bo->base.sgt) ? DRM_GEM_OBJECT_RESIDENT : 0;
}

static const struct drm_gem_object_funcs bo_funcs = {
	.free = bo_free,
	.export = bo_export,
	.print_info = drm_gem_shmem_object_print_info,
	.pin = drm_gem_shmem_object_pin,
	.unpin = drm_gem_shmem_object_unpin,
	.get_sg_table = drm_gem_shmem_object_get_sg_table,
	.vmap = drm_gem_shmem_object_vmap,
	.vunmap = drm_gem_shmem_object_vunmap,
	.mmap = drm_gem_shmem_object_mmap,
	.status = bo_status,
	.vm_ops = &drm_gem_shmem_vm_ops,
};

/**
 * pumice_gem_create_object - memory for a buffer, for the shmem helper
 * @drm: device
 * @size: bytes
 *
 * The helper frees it itself where it fails, so it counts later, when it is whole.
 */
struct drm_gem_object *pumice_gem_create_object(struct drm_device *drm, size_t size)
{
	struct pumice_bo *bo = kzalloc(sizeof(*bo), GFP_KERNEL);

	if (!bo)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&bo->node);
	bo->base.base.funcs = &bo_funcs;
	return &bo->base.base;
}

static void account(struct pumice_device *pdev, struct pumice_bo *bo)
{
	spin_lock(&pdev->bos_lock);
	list_add_tail(&bo->node, &pdev->bos);
	spin_unlock(&pdev->bos_lock);
	atomic_inc(&pdev->stats.bos);
}

/* A buffer with one reference, or an error pointer. */
static struct pumice_bo *bo_create(struct drm_device *drm, size_t size)
{
	struct drm_gem_shmem_object *shmem = drm_gem_shmem_create(drm, size);
	struct pumice_bo *bo;

	if (IS_ERR(shmem))
		return ERR_CAST(shmem);
	bo = to_pumice_bo(&shmem->base);
	account(to_pumice_device(drm), bo);
	return bo;
}

/**
 * pumice_gem_import - a buffer of another driver's pages, for PRIME
 * @drm: device
 * @attach: attachment
 * @sgt: pages, DMA-mapped for us
 */
struct drm_gem_object *pumice_gem_import(struct drm_device *drm,
					 struct dma_buf_attachment *attach, struct sg_table *sgt)
{
	struct drm_gem_object *obj = drm_gem_shmem_prime_import_sg_table(drm, attach, sgt);

	if (!IS_ERR(obj))
		account(to_pumice_device(drm), to_pumice_bo(obj));
	return obj;
}

/**
 * pumice_gem_dumb_create - DRM_IOCTL_MODE_CREATE_DUMB
 * @file: file
 * @drm: device
 * @args: checked by the DRM core: width, height and bpp do not overflow 32 bits
 *
 * Returns 0 or an error.
 */
int pumice_gem_dumb_create(struct drm_file *file, struct drm_device *drm,
			   struct drm_mode_create_dumb *args)
{
	struct pumice_bo *bo;
	int ret;

	args->pitch = DIV_ROUND_UP(args->width * args->bpp, 8);
	args->size = PAGE_ALIGN((u64)args->pitch * args->height);
	bo = bo_create(drm, args->size);
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	ret = drm_gem_handle_create(file, &bo->base.base, &args->handle);
	drm_gem_object_put(&bo->base.base);
	return ret;
}

/* A buffer with a handle; vm is the only one that may bind it, or NULL. */
static int add_bo(struct drm_file *file, struct pumice_vm *vm, u64 size, u32 *handle)
{
	struct pumice_bo *bo = bo_create(file->minor->dev, size);
	int ret;

	if (IS_ERR(bo))
		return PTR_ERR(bo);
	if (vm) {
		bo->root = drm_gpuvm_resv_obj(&vm->base);
		drm_gem_object_get(bo->root);
		bo->base.base.resv = bo->root->resv;
	}
	ret = drm_gem_handle_create(file, &bo->base.base, handle);
	drm_gem_object_put(&bo->base.base);
	return ret;
}

/* DRM_IOCTL_PUMICE_BO_CREATE */
int pumice_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_bo_create *args = data;
	struct pumice_vm *vm = NULL;
	int ret = -ENODEV, idx;

	if (!args->size || args->flags || args->pad)
		return -EINVAL;
	if (args->size > DRM_PUMICE_MAX_BO_SIZE)
		return -E2BIG;
	if (args->exclusive_vm) {
		vm = pumice_vm_lookup(file->driver_priv, args->exclusive_vm);
		if (!vm)
			return -ENOENT;
	}
	args->size = PAGE_ALIGN(args->size);
	if (drm_dev_enter(drm, &idx)) {
		ret = add_bo(file, vm, args->size, &args->handle);
		drm_dev_exit(idx);
	}
	if (vm)
		pumice_vm_put(vm);
	return ret;
}

/* DRM_IOCTL_PUMICE_BO_MMAP_OFFSET */
int pumice_ioctl_bo_mmap_offset(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_bo_mmap_offset *args = data;
	struct drm_gem_object *obj;
	int ret;

	if (args->pad)
		return -EINVAL;
	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;
	ret = drm_gem_create_mmap_offset(obj);
	if (!ret)
		args->offset = drm_vma_node_offset_addr(&obj->vma_node);
	drm_gem_object_put(obj);
	return ret;
}

/* Take a buffer's pages from the device; its CPU mappings stay. */
static void bo_unmap(struct pumice_bo *bo)
{
	struct drm_gem_shmem_object *shmem = &bo->base;

	dma_resv_lock(shmem->base.resv, NULL);
	if (shmem->sgt && !shmem->base.import_attach) {
		dma_unmap_sgtable(shmem->base.dev->dev, shmem->sgt, DMA_BIDIRECTIONAL, 0);
		sg_free_table(shmem->sgt);
		kfree(shmem->sgt);
		shmem->sgt = NULL;
		pumice_gem_shmem_put_pages(shmem);
	}
	dma_resv_unlock(shmem->base.resv);
}

/* A buffer that was not looked at yet, with a reference; NULL at the end. */
static struct pumice_bo *next_attached(struct pumice_device *pdev)
{
	struct pumice_bo *bo, *found = NULL;

	spin_lock(&pdev->bos_lock);
	while (!found) {
		bo = list_first_entry_or_null(&pdev->bos, struct pumice_bo, node);
		if (!bo || bo->detached)
			break;
		bo->detached = true;
		list_move_tail(&bo->node, &pdev->bos);
		/* One that is being freed takes care of itself. */
		if (kref_get_unless_zero(&bo->base.base.refcount))
			found = bo;
	}
	spin_unlock(&pdev->bos_lock);
	return found;
}

/**
 * pumice_gem_unmap_all - the device goes: take all buffers' pages from it
 * @pdev: device, which no longer runs
 */
void pumice_gem_unmap_all(struct pumice_device *pdev)
{
	struct pumice_bo *bo;

	while ((bo = next_attached(pdev))) {
		bo_unmap(bo);
		drm_gem_object_put(&bo->base.base);
	}
}

static void set_label(struct drm_gem_object *obj, char *label)
{
	struct pumice_device *pdev = to_pumice_device(obj->dev);

	spin_lock(&pdev->bos_lock);
	swap(to_pumice_bo(obj)->label, label);
	spin_unlock(&pdev->bos_lock);
	kfree(label);
}

/* DRM_IOCTL_PUMICE_BO_SET_LABEL */
int pumice_ioctl_bo_set_label(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_bo_set_label *args = data;
	struct drm_gem_object *obj;
	char *label = NULL;

	if (args->pad)
		return -EINVAL;
	if (args->label)
		label = strndup_user(u64_to_user_ptr(args->label), DRM_PUMICE_MAX_LABEL);
	if (IS_ERR(label))
		return PTR_ERR(label) == -EINVAL ? -E2BIG : PTR_ERR(label);
	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj) {
		kfree(label);
		return -ENOENT;
	}
	set_label(obj, label);
	drm_gem_object_put(obj);
	return 0;
}
