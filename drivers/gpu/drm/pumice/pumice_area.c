// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Memory in the kernel part of an address space.
 *
 * Parameter buffers and region headers lie above PUMICE_VA_END, where users
 * cannot bind, on pages that belong to the parameter management: shaders that
 * guess an address there fault. An area takes its addresses at once and its memory
 * in steps, and gives both back as a whole.
 *
 * Areas begin and end at 2 MiB, so that unmapping one needs no page table and
 * cannot fail.
 */
#include <linux/dma-mapping.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "pumice_area.h"
#include "pumice_device.h"
#include "pumice_mmu.h"
#include "pumice_vm.h"

#define ALIGNMENT	SZ_2M

static_assert(PAGE_SIZE == PUMICE_PM_PAGE_SIZE);

/* Pages that came together, mapped for the device. */
struct step {
	struct list_head node;	/* in pumice_area.steps */
	struct sg_table sgt;
	struct page **pages;
	u32 count;
};

static void free_pages_of(struct step *step)
{
	u32 i;

	for (i = 0; i < step->count; i++)
		__free_page(step->pages[i]);
	kvfree(step->pages);
	kfree(step);
}

static void free_step(struct pumice_device *pdev, struct step *step)
{
	dma_unmap_sgtable(pdev->drm.dev, &step->sgt, DMA_BIDIRECTIONAL, 0);
	sg_free_table(&step->sgt);
	free_pages_of(step);
}

/* Zeroed pages that are not mapped for the device, or NULL. */
static struct step *take_pages(u32 count, gfp_t gfp)
{
	struct step *step = kzalloc(sizeof(*step), gfp);

	if (!step)
		return NULL;
	step->pages = kvcalloc(count, sizeof(*step->pages), gfp);
	while (step->pages && step->count < count) {
		step->pages[step->count] = alloc_page(gfp | __GFP_ZERO);
		if (!step->pages[step->count])
			break;
		step->count++;
		cond_resched();
	}
	if (step->count == count)
		return step;
	free_pages_of(step);
	return NULL;
}

/* Memory of a step, or an error pointer. */
static struct step *make_step(struct pumice_device *pdev, u32 count, gfp_t gfp)
{
	struct step *step = take_pages(count, gfp);
	int ret;

	if (!step)
		return ERR_PTR(-ENOMEM);
	ret = sg_alloc_table_from_pages(&step->sgt, step->pages, count, 0,
					(u64)count << PAGE_SHIFT, gfp);
	if (ret)
		goto free_pages;
	ret = dma_map_sgtable(pdev->drm.dev, &step->sgt, DMA_BIDIRECTIONAL, 0);
	if (ret)
		goto free_table;
	return step;

free_table:
	sg_free_table(&step->sgt);
free_pages:
	free_pages_of(step);
	return ERR_PTR(ret);
}

/* GPU virtual address of the first page. */
u64 pumice_area_addr(const struct pumice_area *area)
{
	return area->va.start;
}

static int map_step_locked(struct pumice_area *area, struct step *step,
			   struct pumice_mmu_pool *pool)
{
	u64 size = (u64)step->count << PAGE_SHIFT;
	struct pumice_vm *vm = area->vm;

	lockdep_assert_held(&vm->lock);
	if (vm->released)
		return -ENODEV;
	pumice_mmu_map_sgt(vm->mmu, pool, area->va.start + ((u64)area->pages << PAGE_SHIFT), size,
			   &step->sgt, 0, PUMICE_MMU_PM_OWNED | PUMICE_MMU_NOEXEC);
	list_add_tail(&step->node, &area->steps);
	WRITE_ONCE(area->pages, area->pages + step->count);
	/* A page table may have been replaced. The memory is there even if this fails. */
	return pumice_vm_flush_locked(vm);
}

/**
 * pumice_area_grow - more memory after what an area has
 * @area: area; the caller sees to it that no other thread grows it
 * @pages: not 0; with those there are at most as many as it was made for
 * @gfp: PUMICE_AREA_GFP; or PUMICE_AREA_GFP_NOWAIT, where a fence waits for it
 *
 * Between drm_dev_enter() and drm_dev_exit(). Waits for the firmware. Returns 0 or an
 * error: @area->pages is the number of pages that are present.
 */
int pumice_area_grow(struct pumice_area *area, u32 pages, gfp_t gfp)
{
	u64 va = area->va.start + ((u64)area->pages << PAGE_SHIFT);
	struct pumice_device *pdev = area->vm->pdev;
	u32 before = area->pages;
	struct pumice_mmu_pool pool;
	struct step *step;
	int ret;

	step = make_step(pdev, pages, gfp);
	if (IS_ERR(step))
		return PTR_ERR(step);
	pumice_mmu_pool_init(&pool, &area->vm->tables);
	pool.gfp = gfp;
	ret = pumice_mmu_pool_fill_map(pdev, &pool, va, (u64)pages << PAGE_SHIFT);
	if (!ret) {
		mutex_lock(&area->vm->lock);
		ret = map_step_locked(area, step, &pool);
		mutex_unlock(&area->vm->lock);
	}
	pumice_mmu_pool_free(pdev, &pool);
	if (area->pages == before)
		free_step(pdev, step);
	return ret;
}

static void free_steps_locked(struct pumice_area *area)
{
	struct step *step, *next;

	lockdep_assert_held(&area->vm->lock);
	list_for_each_entry_safe(step, next, &area->steps, node)
		free_step(area->vm->pdev, step);
	INIT_LIST_HEAD(&area->steps);
}

/* Take the memory away, unless the device is being unplugged: that does it then. */
static void give_back(struct pumice_area *area)
{
	struct pumice_vm *vm = area->vm;
	struct pumice_mmu_pool none;
	int idx;

	if (!drm_dev_enter(&vm->pdev->drm, &idx))
		return;
	pumice_mmu_pool_init(&none, &vm->tables);
	mutex_lock(&vm->lock);
	pumice_mmu_unmap(vm->mmu, &none, area->va.start, area->va.size);
	if (pumice_vm_flush_locked(vm) != -ENODEV)
		free_steps_locked(area);
	mutex_unlock(&vm->lock);
	drm_dev_exit(idx);
}

/**
 * pumice_area_destroy - end of an area that the GPU no longer uses
 * @area: area, NULL or an error pointer
 *
 * May sleep, and wait for the firmware. Not to be called between
 * drm_dev_enter() and drm_dev_exit().
 */
void pumice_area_destroy(struct pumice_area *area)
{
	struct pumice_device *pdev;
	struct pumice_vm *vm;

	if (IS_ERR_OR_NULL(area))
		return;
	vm = area->vm;
	pdev = vm->pdev;
	give_back(area);
	pumice_device_wait_gone(pdev);
	mutex_lock(&pdev->areas_lock);
	list_del(&area->node);
	mutex_unlock(&pdev->areas_lock);
	mutex_lock(&vm->lock);
	drm_mm_remove_node(&area->va);
	mutex_unlock(&vm->lock);
	pumice_vm_put(vm);
	kfree(area);
}

/* Addresses without memory, or an error pointer. */
static struct pumice_area *reserve(struct pumice_vm *vm, u32 max_pages)
{
	u64 size = ALIGN((u64)max_pages << PAGE_SHIFT, ALIGNMENT);
	struct pumice_area *area = kzalloc(sizeof(*area), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!area)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&area->steps);
	mutex_lock(&vm->lock);
	ret = drm_mm_insert_node_generic(&vm->kernel_mm, &area->va, size, ALIGNMENT, 0,
					 DRM_MM_INSERT_BEST);
	mutex_unlock(&vm->lock);
	if (ret) {
		kfree(area);
		return ERR_PTR(ret);
	}
	area->vm = pumice_vm_get(vm);
	mutex_lock(&vm->pdev->areas_lock);
	list_add_tail(&area->node, &vm->pdev->areas);
	mutex_unlock(&vm->pdev->areas_lock);
	return area;
}

/**
 * pumice_area_create - addresses, and memory for the first of them
 * @vm: address space; the area takes a use of its own
 * @pages: pages that it has from the beginning, not 0
 * @max_pages: most pages that it will have
 *
 * May sleep, and wait for the firmware. Not to be called between drm_dev_enter()
 * and drm_dev_exit(). Returns it, or an error pointer: -ENOSPC if the kernel part
 * is full.
 */
struct pumice_area *pumice_area_create(struct pumice_vm *vm, u32 pages, u32 max_pages)
{
	struct pumice_area *area = reserve(vm, max_pages);
	int ret = -ENODEV, idx;

	if (IS_ERR(area))
		return area;
	if (drm_dev_enter(&vm->pdev->drm, &idx)) {
		ret = pumice_area_grow(area, pages, PUMICE_AREA_GFP);
		drm_dev_exit(idx);
	}
	if (!ret)
		return area;
	pumice_area_destroy(area);
	return ERR_PTR(ret);
}

/**
 * pumice_area_bytes - memory of a file's areas
 * @pdev: device
 * @client: DRM client
 */
u64 pumice_area_bytes(struct pumice_device *pdev, u64 client)
{
	struct pumice_area *area;
	u64 pages = 0;

	mutex_lock(&pdev->areas_lock);
	list_for_each_entry(area, &pdev->areas, node)
		if (area->vm->client == client)
			pages += READ_ONCE(area->pages);
	mutex_unlock(&pdev->areas_lock);
	return pages << PAGE_SHIFT;
}

/**
 * pumice_area_release_all - the device goes: give all memory back
 * @pdev: device, which no longer runs; after pumice_vm_release_all()
 */
void pumice_area_release_all(struct pumice_device *pdev)
{
	struct pumice_area *area;

	mutex_lock(&pdev->areas_lock);
	list_for_each_entry(area, &pdev->areas, node) {
		mutex_lock(&area->vm->lock);
		free_steps_locked(area);
		mutex_unlock(&area->vm->lock);
	}
	mutex_unlock(&pdev->areas_lock);
}
