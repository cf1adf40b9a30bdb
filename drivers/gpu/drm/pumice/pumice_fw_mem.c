// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Memory shared with the firmware.
 *
 * Objects are DMA-coherent, contiguous, and mapped into MMU context 0 below
 * 2 GiB, where the firmware's window is; if there are several virtual GPUs, into the part of the
 * driver's own one. The first 64 KiB are never allocated, so that
 * fw address 0 is never valid and small offsets from it fault. Memory of unprivileged
 * users ends before the reserve, which is for the driver and privileged users, see
 * pumice_quota.c.
 *
 * Objects may outlive the device: pumice_fw_mem_close() frees their memory and
 * leaves a structure, which the owner frees.
 */
#include <linux/dma-mapping.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "pumice_device.h"
#include "pumice_fw_mem.h"
#include "pumice_mmu.h"
#include "pumice_vgpu.h"

/* Addresses at the start of the window, or of a part, that are never allocated. */
#define UNUSED_BYTES	SZ_64K

/* Define the addresses: all, or a part if the GPU has several virtual ones. */
static void fw_mem_set_range(struct pumice_fw_mem *mem, u32 os, u32 bytes, u32 reserve)
{
	mem->first = os * PUMICE_OS_PART_SIZE + UNUSED_BYTES;
	mem->end = os * PUMICE_OS_PART_SIZE + bytes;
	mem->reserve = reserve;
	drm_mm_init(&mem->mm, mem->first, mem->end - mem->first);
}

/**
 * pumice_fw_mem_init - create an empty context 0
 * @pdev: device
 *
 * Context: May sleep.
 *
 * Return: 0 or -ENOMEM.
 */
int pumice_fw_mem_init(struct pumice_device *pdev)
{
	struct pumice_fw_mem *mem = &pdev->fw_mem;

	mem->mmu = pumice_mmu_create(pdev);
	if (IS_ERR(mem->mmu))
		return PTR_ERR(mem->mmu);
	mutex_init(&mem->lock);
	INIT_LIST_HEAD(&mem->objs);
	atomic_set(&mem->tables, 0);
	pumice_mmu_pool_init(&mem->pool, &mem->tables);
	/* Context 0 is small and shared by all users, so its tables are not charged to one. */
	mem->pool.gfp = GFP_KERNEL;
	fw_mem_set_range(mem, pdev->os, pumice_quota_total(pdev, PUMICE_RESOURCE_MEMORY),
			 pumice_quota_reserve(pdev, PUMICE_RESOURCE_MEMORY));
	return 0;
}

/* Release the memory and the address of an object. */
static void fw_mem_detach(struct pumice_device *pdev, struct pumice_fw_obj *obj)
{
	dma_free_coherent(pdev->drm.dev, obj->size, obj->cpu, obj->dma);
	pumice_quota_uncharge(pdev, &obj->charge);
	drm_mm_remove_node(&obj->va);
	list_del_init(&obj->node);
	obj->cpu = NULL;
}

/**
 * pumice_fw_mem_close - release the memory of all objects
 * @pdev: device, which no longer uses the memory
 *
 * Context: May sleep. Acquires fw_mem.lock.
 */
void pumice_fw_mem_close(struct pumice_device *pdev)
{
	struct pumice_fw_mem *mem = &pdev->fw_mem;
	struct pumice_fw_obj *obj, *next;

	mutex_lock(&mem->lock);
	mem->closed = true;
	list_for_each_entry_safe(obj, next, &mem->objs, node) {
		fw_mem_detach(pdev, obj);
		if (obj->abandoned)
			kfree(obj);
	}
	pumice_mmu_pool_free(pdev, &mem->pool);
	pumice_mmu_release_memory(mem->mmu);
	mutex_unlock(&mem->lock);
}

/**
 * pumice_fw_mem_fini - destroy context 0; called after pumice_fw_mem_close()
 * @pdev: device
 */
void pumice_fw_mem_fini(struct pumice_device *pdev)
{
	drm_mm_takedown(&pdev->fw_mem.mm);
	mutex_destroy(&pdev->fw_mem.lock);
	pumice_mmu_destroy(pdev->fw_mem.mmu);
}

/**
 * pumice_fw_mem_setup - set up context 0 in a device that was reset
 * @pdev: device, virtual GPU 0
 */
void pumice_fw_mem_setup(struct pumice_device *pdev)
{
	pumice_write64(pdev, PUMICE_MMU_CTX(0), PUMICE_MMU_CTX__ENABLE__MASK |
		       (pumice_mmu_catalogue(pdev->fw_mem.mmu) & PUMICE_MMU_CTX__CATALOGUE__MASK));
}

/* Invalidate the whole context; the range registers are used by the firmware only. */
static void fw_mem_invalidate(struct pumice_device *pdev)
{
	struct pumice_mmu_dirty dirty;
	bool stale = pumice_mmu_dirty(pdev->fw_mem.mmu, &dirty);

	if (stale && pdev->os)
		pumice_vgpu_invalidate(pdev);
	else if (stale)
		pumice_write(pdev, PUMICE_MMU_INVAL,
			     PUMICE_FIELD_PREP(PUMICE_MMU_INVAL__OP, PUMICE_MMU_INVAL_CONTEXT));
	pumice_mmu_flushed(pdev->fw_mem.mmu);
}

/* Allocate an address; one in the reserve only if no other is free, and if privileged. */
static int fw_mem_insert_locked(struct pumice_fw_mem *mem, struct pumice_fw_obj *obj)
{
	int ret;

	lockdep_assert_held(&mem->lock);
	ret = drm_mm_insert_node_in_range(&mem->mm, &obj->va, obj->size, 0, 0, mem->first,
					  mem->end - mem->reserve, DRM_MM_INSERT_BEST);
	if (ret == -ENOSPC && (!obj->charge.file || pumice_quota_privileged()))
		ret = drm_mm_insert_node(&mem->mm, &obj->va, obj->size);
	return ret;
}

static int fw_mem_map_locked(struct pumice_device *pdev, struct pumice_fw_obj *obj)
{
	struct pumice_fw_mem *mem = &pdev->fw_mem;
	int ret;

	lockdep_assert_held(&mem->lock);
	if (mem->closed)
		return -ENODEV;
	ret = fw_mem_insert_locked(mem, obj);
	if (ret)
		return ret;
	ret = pumice_mmu_pool_fill_map(pdev, &mem->pool, obj->va.start, obj->size);
	if (ret) {
		drm_mm_remove_node(&obj->va);
		return ret;
	}
	pumice_mmu_map_contiguous(mem->mmu, &mem->pool, obj->va.start, obj->size, obj->dma,
				  PUMICE_MMU_NOEXEC);
	obj->addr = obj->va.start;
	list_add(&obj->node, &mem->objs);
	fw_mem_invalidate(pdev);
	return 0;
}

/* Allocate the memory and an address of an object that was charged. */
static int fw_mem_attach(struct pumice_device *pdev, struct pumice_fw_obj *obj)
{
	int ret;

	obj->cpu = dma_alloc_coherent(pdev->drm.dev, obj->size, &obj->dma, GFP_KERNEL_ACCOUNT);
	if (!obj->cpu)
		return -ENOMEM;
	mutex_lock(&pdev->fw_mem.lock);
	ret = fw_mem_map_locked(pdev, obj);
	mutex_unlock(&pdev->fw_mem.lock);
	if (ret)
		dma_free_coherent(pdev->drm.dev, obj->size, obj->cpu, obj->dma);
	return ret;
}

/**
 * pumice_fw_obj_create - allocate zeroed memory shared by driver and firmware
 * @pdev: device, between drm_dev_enter() and drm_dev_exit()
 * @file: file to charge, in an ioctl; NULL for the driver itself
 * @size: bytes, not 0
 *
 * Context: May sleep.
 *
 * Return: the object, or an error pointer: -ENOSPC if the file, its user or all users
 * have reached their limit; -ENOMEM; -EINTR if the caller is killed; -ENODEV if the device
 * is being removed.
 */
struct pumice_fw_obj *pumice_fw_obj_create(struct pumice_device *pdev, struct pumice_file *file,
					   size_t size)
{
	struct pumice_fw_obj *obj = kzalloc(sizeof(*obj), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!obj)
		return ERR_PTR(-ENOMEM);
	obj->size = PAGE_ALIGN(size);
	ret = pumice_quota_charge(file, PUMICE_RESOURCE_MEMORY, obj->size, &obj->charge);
	if (ret)
		goto free_obj;
	ret = fw_mem_attach(pdev, obj);
	if (ret)
		goto uncharge;
	return obj;

uncharge:
	pumice_quota_uncharge(pdev, &obj->charge);
free_obj:
	kfree(obj);
	return ERR_PTR(ret);
}

/* Unmap an object. Returns true if the firmware can no longer access its memory. */
static bool fw_mem_unmap_locked(struct pumice_device *pdev, struct pumice_fw_obj *obj)
{
	struct pumice_fw_mem *mem = &pdev->fw_mem;
	int idx;

	lockdep_assert_held(&mem->lock);
	if (!drm_dev_enter(&pdev->drm, &idx))
		return false;
	if (pumice_mmu_pool_fill_unmap(pdev, &mem->pool)) {
		drm_dev_exit(idx);
		return false;
	}
	pumice_mmu_unmap(mem->mmu, &mem->pool, obj->va.start, obj->size);
	fw_mem_invalidate(pdev);
	drm_dev_exit(idx);
	return true;
}

/**
 * pumice_fw_obj_destroy - destroy an object that the firmware no longer uses
 * @pdev: device
 * @obj: object, NULL or an error pointer
 *
 * An object that cannot be unmapped keeps its memory until the device is removed.
 *
 * Context: May sleep. Acquires fw_mem.lock.
 */
void pumice_fw_obj_destroy(struct pumice_device *pdev, struct pumice_fw_obj *obj)
{
	struct pumice_fw_mem *mem = &pdev->fw_mem;

	if (IS_ERR_OR_NULL(obj))
		return;
	mutex_lock(&mem->lock);
	if (obj->cpu && fw_mem_unmap_locked(pdev, obj))
		fw_mem_detach(pdev, obj);
	if (obj->cpu)
		obj->abandoned = true;
	else
		kfree(obj);
	mutex_unlock(&mem->lock);
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_fw_mem_test.c"
#endif
