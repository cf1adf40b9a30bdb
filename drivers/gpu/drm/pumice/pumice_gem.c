// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Buffers: shmem GEM, cached by default; PRIME import and export.
 *
 * Pages are pinned and DMA-mapped when a buffer is first bound, and remain so
 * until it is freed or the device is removed.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/math64.h>
#include <linux/overflow.h>
#include <linux/string.h>

#include <drm/drm_gem.h>
#include <drm/drm_prime.h>
#include <drm/drm_vma_manager.h>

#include "pumice_device.h"
#include "pumice_gem.h"
#include "pumice_gem_mount.h"
#include "pumice_places.h"
#include "pumice_shrinker.h"
#include "pumice_vm.h"

#define COHERENT_SINCE_MAP	11	/* minimum minor number of SYS_VERSION */

/*
 * Detach a buffer's pages from the device; its CPU mappings stay. The exporter of an imported
 * buffer may keep its mapping for as long as the attachment exists, so detach that as well.
 */
static void gem_unmap(struct pumice_bo *bo)
{
	struct drm_gem_shmem_object *shmem = &bo->base;
	struct dma_buf_attachment *attach = shmem->base.import_attach;

	dma_resv_lock(shmem->base.resv, NULL);
	if (attach) {
		if (shmem->sgt)
			dma_buf_unmap_attachment(attach, shmem->sgt, DMA_BIDIRECTIONAL);
		shmem->sgt = NULL;
		shmem->base.import_attach = NULL;
		bo->foreign = attach->dmabuf;
	} else if (shmem->sgt) {
		dma_unmap_sgtable(shmem->base.dev->dev, shmem->sgt, DMA_BIDIRECTIONAL, 0);
		sg_free_table(shmem->sgt);
		kfree(shmem->sgt);
		shmem->sgt = NULL;
		pumice_gem_shmem_put_pages(shmem);
	}
	dma_resv_unlock(shmem->base.resv);
	if (attach)
		dma_buf_detach(bo->foreign, attach);
}

/*
 * The pages are detached from the device while the buffer is in the list: unplugging waits
 * for all buffers in the list, so that nothing is unmapped after the driver was removed.
 */
static void gem_free(struct drm_gem_object *obj)
{
	struct pumice_device *pdev = to_pumice_device(obj->dev);
	struct pumice_bo *bo = to_pumice_bo(obj);
	struct drm_gem_object *root = bo->root;
	struct dma_buf *foreign;

	pumice_places_free(bo);
	pumice_shrinker_forget(bo);
	gem_unmap(bo);
	spin_lock(&pdev->bos_lock);
	list_del(&bo->node);
	spin_unlock(&pdev->bos_lock);
	wake_up_all(&pdev->bos_event);
	kfree(bo->label);
	foreign = bo->foreign;
	drm_gem_shmem_free(&bo->base);
	/* Last: the reservation that was used until here is part of one or the other. */
	if (root)
		drm_gem_object_put(root);
	if (foreign)
		dma_buf_put(foreign);
	atomic_dec(&pdev->stats.bos);
}

static struct dma_buf *gem_export(struct drm_gem_object *obj, int flags)
{
	if (to_pumice_bo(obj)->root)
		return ERR_PTR(-EINVAL);
	if (pumice_bo_purged(to_pumice_bo(obj)))
		return ERR_PTR(-ENODATA);
	return drm_gem_prime_export(obj, flags);
}

static enum drm_gem_object_status gem_status(struct drm_gem_object *obj)
{
	struct pumice_bo *bo = to_pumice_bo(obj);
	bool resident = READ_ONCE(bo->base.pages) || READ_ONCE(bo->base.sgt);

	return (resident ? DRM_GEM_OBJECT_RESIDENT : 0) |
	       (READ_ONCE(bo->base.madv) > 0 ? DRM_GEM_OBJECT_PURGEABLE : 0);
}

/* Fails after unplugging: a detached imported buffer looks like a native one without pages. */
static int gem_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	int ret, idx;

	if (!drm_dev_enter(obj->dev, &idx))
		return -ENODEV;
	ret = drm_gem_shmem_object_mmap(obj, vma);
	drm_dev_exit(idx);
	return ret;
}

static const struct drm_gem_object_funcs bo_funcs = {
	.free = gem_free,
	.export = gem_export,
	.print_info = drm_gem_shmem_object_print_info,
	.pin = drm_gem_shmem_object_pin,
	.unpin = drm_gem_shmem_object_unpin,
	.get_sg_table = drm_gem_shmem_object_get_sg_table,
	.vmap = drm_gem_shmem_object_vmap,
	.vunmap = drm_gem_shmem_object_vunmap,
	.mmap = gem_mmap,
	.status = gem_status,
	.vm_ops = &drm_gem_shmem_vm_ops,
};

/**
 * pumice_gem_create_object - allocate the structure of a buffer, for the shmem helper
 * @drm: device
 * @size: bytes
 *
 * The helper frees it on its own errors, so it is counted only once it is complete.
 *
 * Context: May sleep.
 *
 * Return: the object, which is not initialized yet, or an error pointer: -ENOMEM.
 */
struct drm_gem_object *pumice_gem_create_object(struct drm_device *drm, size_t size)
{
	struct pumice_bo *bo = kzalloc(sizeof(*bo), GFP_KERNEL_ACCOUNT);

	if (!bo)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&bo->node);
#ifndef PUMICE_HAVE_GPUVM_IMMEDIATE_MODE
	mutex_init(&bo->gpuva_lock);
	drm_gem_gpuva_set_lock(&bo->base.base, &bo->gpuva_lock);
#endif
	INIT_LIST_HEAD(&bo->purgeable);
	bo->base.base.funcs = &bo_funcs;
	return &bo->base.base;
}

static void gem_account(struct pumice_device *pdev, struct pumice_bo *bo)
{
	spin_lock(&pdev->bos_lock);
	bo->id = ++pdev->bo_count;
	list_add_tail(&bo->node, &pdev->bos);
	spin_unlock(&pdev->bos_lock);
	atomic_inc(&pdev->stats.bos);
}

/*
 * Create a buffer with one reference. Returns an error pointer on failure. @size: bytes, which the
 * helper rounds up to pages; @flags: DRM_PUMICE_BO_*, checked
 */
static struct pumice_bo *gem_create(struct drm_device *drm, size_t size, u32 flags)
{
	struct drm_gem_shmem_object *shmem = drm_gem_shmem_create(drm, size);
	struct pumice_bo *bo;

	if (IS_ERR(shmem))
		return ERR_CAST(shmem);
	pumice_gem_mount_use(to_pumice_device(drm), shmem);
	shmem->map_wc = flags & DRM_PUMICE_BO_WRITE_COMBINED;
	bo = to_pumice_bo(&shmem->base);
	bo->bytes = size;
	bo->coherent = flags & DRM_PUMICE_BO_COHERENT;
	gem_account(to_pumice_device(drm), bo);
	return bo;
}

/**
 * pumice_gem_prime_import - import a dma-buf, for PRIME
 * @drm: device
 * @dma_buf: dma-buf, possibly of a buffer of this driver
 *
 * Unplugging either finds the buffer in the list, or precedes its creation, which fails.
 *
 * Context: Process context.
 *
 * Return: the buffer with a reference, or an error pointer: -ENODEV if the device was
 * unplugged, or an error of drm_gem_prime_import().
 */
struct drm_gem_object *pumice_gem_prime_import(struct drm_device *drm, struct dma_buf *dma_buf)
{
	struct drm_gem_object *obj;
	int idx;

	if (!drm_dev_enter(drm, &idx))
		return ERR_PTR(-ENODEV);
	obj = drm_gem_prime_import(drm, dma_buf);
	drm_dev_exit(idx);
	return obj;
}

/**
 * pumice_gem_prime_export - implement DRM_IOCTL_PRIME_HANDLE_TO_FD
 * @drm: device
 * @file: file
 * @handle: handle of a buffer
 * @flags: flags of the descriptor
 * @fd: out: descriptor
 *
 * Accesses the attachment of an imported buffer, which unplugging removes.
 *
 * Context: Process context.
 *
 * Return: 0; -ENODEV if the device was unplugged; -ENOENT without such a buffer; -EINVAL for a
 * buffer that only one VM may bind; -ENODATA for one that was purged; or another error of
 * drm_gem_prime_handle_to_fd().
 */
int pumice_gem_prime_export(struct drm_device *drm, struct drm_file *file, u32 handle, u32 flags,
			    int *fd)
{
	int ret, idx;

	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	ret = drm_gem_prime_handle_to_fd(drm, file, handle, flags, fd);
	drm_dev_exit(idx);
	return ret;
}

/**
 * pumice_gem_import - create a buffer from another driver's pages, for PRIME
 * @drm: device, between drm_dev_enter() and drm_dev_exit()
 * @attach: attachment
 * @sgt: pages, DMA-mapped for us
 *
 * Context: Process context. Acquires bos_lock.
 *
 * Return: the buffer with a reference, or an error pointer of
 * drm_gem_shmem_prime_import_sg_table().
 */
struct drm_gem_object *pumice_gem_import(struct drm_device *drm,
					 struct dma_buf_attachment *attach, struct sg_table *sgt)
{
	struct drm_gem_object *obj = drm_gem_shmem_prime_import_sg_table(drm, attach, sgt);

	if (IS_ERR(obj))
		return obj;
	to_pumice_bo(obj)->bytes = obj->size;
	gem_account(to_pumice_device(drm), to_pumice_bo(obj));
	return obj;
}

/* Compute pitch and size of a dumb buffer; false if they are too large. */
static bool gem_dumb_size(struct drm_mode_create_dumb *args)
{
	u64 bits = (u64)args->width * args->bpp, size;

	if (check_mul_overflow(DIV_ROUND_UP_ULL(bits, 8), (u64)args->height, &size) ||
	    DIV_ROUND_UP_ULL(bits, 8) > U32_MAX || size > DRM_PUMICE_MAX_BO_SIZE)
		return false;
	args->pitch = DIV_ROUND_UP_ULL(bits, 8);
	args->size = PAGE_ALIGN(size);
	return args->size;
}

/* Create a buffer with a handle; only @vm may bind it, unless it is NULL. */
static int gem_create_handle(struct drm_file *file, struct pumice_vm *vm, u64 size, u32 flags,
			     u32 *handle)
{
	struct pumice_bo *bo = gem_create(file->minor->dev, size, flags);
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

/**
 * pumice_gem_dumb_create - implement DRM_IOCTL_MODE_CREATE_DUMB
 * @file: file
 * @drm: device
 * @args: the DRM core has checked that rows of whole bytes per pixel fit into 32 bits; the
 *	  row size of formats with 1 to 7 bits per pixel is not checked
 *
 * Context: Process context.
 *
 * Return: 0; -EINVAL if the buffer is empty or too large; -ENOMEM; or -ENODEV if the device
 * was unplugged.
 */
int pumice_gem_dumb_create(struct drm_file *file, struct drm_device *drm,
			   struct drm_mode_create_dumb *args)
{
	int ret, idx;

	if (!gem_dumb_size(args))
		return -EINVAL;
	/* Unplugging would wait for a buffer that is created after its walk of the list. */
	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	ret = gem_create_handle(file, NULL, args->size, 0, &args->handle);
	drm_dev_exit(idx);
	return ret;
}

/*
 * Check the flags of a new buffer. A store through a write-combined mapping reaches memory at an
 * unspecified time, so it cannot be promised to the GPU while a job runs.
 */
static int gem_check_flags(const struct pumice_device *pdev, u32 flags)
{
	if (flags & ~(DRM_PUMICE_BO_WRITE_COMBINED | DRM_PUMICE_BO_COHERENT))
		return -EINVAL;
	if (!(flags & DRM_PUMICE_BO_COHERENT))
		return 0;
	if (flags & DRM_PUMICE_BO_WRITE_COMBINED)
		return -EINVAL;
	/* In the table entries of older devices the bit is reserved: a job would fault. */
	return pumice_device_supports(pdev, COHERENT_SINCE_MAP, 0) ? 0 : -EOPNOTSUPP;
}

/**
 * pumice_ioctl_bo_create - implement DRM_IOCTL_PUMICE_BO_CREATE
 * @drm: device
 * @data: struct drm_pumice_bo_create
 * @file: file
 *
 * Pages are allocated later, when the buffer is first mapped or bound.
 *
 * Context: Process context.
 *
 * Return: 0; -EINVAL for size 0, unknown or contradictory flags, or padding; -EOPNOTSUPP for
 * DRM_PUMICE_BO_COHERENT if the device has no coherent pages; -E2BIG above DRM_PUMICE_MAX_BO_SIZE;
 * -ENOENT without such an exclusive VM; -ENOMEM; or -ENODEV if the device was unplugged.
 */
int pumice_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_bo_create *args = data;
	struct pumice_vm *vm = NULL;
	int ret, idx;
	u64 bytes;

	if (!args->size || args->pad)
		return -EINVAL;
	ret = gem_check_flags(to_pumice_device(drm), args->flags);
	if (ret)
		return ret;
	if (args->size > DRM_PUMICE_MAX_BO_SIZE)
		return -E2BIG;
	if (args->exclusive_vm) {
		vm = pumice_vm_lookup(file->driver_priv, args->exclusive_vm);
		if (!vm)
			return -ENOENT;
	}
	bytes = args->size;
	args->size = PAGE_ALIGN(bytes);
	ret = -ENODEV;
	if (drm_dev_enter(drm, &idx)) {
		ret = gem_create_handle(file, vm, bytes, args->flags, &args->handle);
		drm_dev_exit(idx);
	}
	if (vm)
		pumice_vm_put(vm);
	return ret;
}

/**
 * pumice_ioctl_bo_mmap_offset - implement DRM_IOCTL_PUMICE_BO_MMAP_OFFSET
 * @drm: device
 * @data: struct drm_pumice_bo_mmap_offset
 * @file: file
 *
 * Context: Process context.
 *
 * Return: 0; -EINVAL for padding; -ENOENT without such a buffer; -ENODATA if it was purged; or
 * an error of drm_gem_create_mmap_offset().
 */
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
	ret = pumice_bo_purged(to_pumice_bo(obj)) ? -ENODATA : drm_gem_create_mmap_offset(obj);
	if (!ret)
		args->offset = drm_vma_node_offset_addr(&obj->vma_node);
	drm_gem_object_put(obj);
	return ret;
}

/* Return a buffer not yet processed, with a reference; NULL at the end. */
static struct pumice_bo *gem_next_attached(struct pumice_device *pdev)
{
	struct pumice_bo *bo, *found = NULL;

	spin_lock(&pdev->bos_lock);
	list_for_each_entry(bo, &pdev->bos, node) {
		/* A buffer being freed is skipped here and waited for by the caller. */
		if (bo->detached || !kref_get_unless_zero(&bo->base.base.refcount))
			continue;
		bo->detached = true;
		list_move_tail(&bo->node, &pdev->bos);
		found = bo;
		break;
	}
	spin_unlock(&pdev->bos_lock);
	return found;
}

/* Return true if no buffer in the list has pages that the device could access. */
static bool gem_all_detached(struct pumice_device *pdev)
{
	struct pumice_bo *bo;
	bool all = true;

	spin_lock(&pdev->bos_lock);
	list_for_each_entry(bo, &pdev->bos, node)
		all = all && bo->detached;
	spin_unlock(&pdev->bos_lock);
	return all;
}

/**
 * pumice_gem_unmap_all - detach the pages of all buffers when the device is removed
 * @pdev: stopped device
 *
 * Context: May sleep: waits until all buffers are detached.
 */
void pumice_gem_unmap_all(struct pumice_device *pdev)
{
	struct pumice_bo *bo;

	while ((bo = gem_next_attached(pdev))) {
		gem_unmap(bo);
		drm_gem_object_put(&bo->base.base);
	}
	wait_event(pdev->bos_event, gem_all_detached(pdev));
}

static void gem_set_label(struct drm_gem_object *obj, char *label)
{
	struct pumice_device *pdev = to_pumice_device(obj->dev);

	spin_lock(&pdev->bos_lock);
	swap(to_pumice_bo(obj)->label, label);
	spin_unlock(&pdev->bos_lock);
	kfree(label);
	pumice_places_label(to_pumice_bo(obj));
}

/**
 * pumice_ioctl_bo_set_label - implement DRM_IOCTL_PUMICE_BO_SET_LABEL
 * @drm: device
 * @data: struct drm_pumice_bo_set_label
 * @file: file
 *
 * Context: Process context. Acquires bos_lock.
 *
 * Return: 0; -EINVAL for padding; -E2BIG if the label with its NUL exceeds
 * DRM_PUMICE_MAX_LABEL bytes; -EFAULT if it is not readable; -ENOMEM; or -ENOENT without such
 * a buffer.
 */
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
	gem_set_label(obj, label);
	drm_gem_object_put(obj);
	return 0;
}
