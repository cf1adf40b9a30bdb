// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Memory in the kernel part of an address space.
 *
 * Parameter buffers and region headers are located above PUMICE_VA_END, where users
 * cannot bind, on pages owned by the parameter management: a shader access to a guessed
 * address there faults. A kernel range reserves all its addresses at creation, allocates
 * its memory in steps, and releases both as a whole.
 *
 * Ranges are aligned to 2 MiB at both ends, so that unmapping one needs no page table and
 * cannot fail.
 *
 * A range whose page tables the GPU keeps has 1 GiB of addresses, and its first page is the
 * page directory of these. The driver sets and removes the entry of the catalogue; the GPU
 * maps pages, whose bus addresses it reads from a table.
 */
#include <linux/dma-mapping.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "pumice_device.h"
#include "pumice_kernel_range.h"
#include "pumice_mmu.h"
#include "pumice_vm.h"

#define ALIGNMENT	SZ_2M
#define GPU_TABLES_ALIGNMENT	SZ_1G	/* addresses of a page directory */

static_assert(PAGE_SIZE == PUMICE_PM_PAGE_SIZE);

/* Pages that were allocated together, mapped for the device. */
struct step {
	struct list_head node;	/* in pumice_kernel_range.steps */
	struct sg_table sgt;
	struct page **pages;
	u32 count;
};

static void kernel_range_free_step_pages(struct step *step)
{
	u32 i;

	for (i = 0; i < step->count; i++)
		__free_page(step->pages[i]);
	kvfree(step->pages);
	kfree(step);
}

static void kernel_range_free_step(struct pumice_device *pdev, struct step *step)
{
	dma_unmap_sgtable(pdev->drm.dev, &step->sgt, DMA_BIDIRECTIONAL, 0);
	sg_free_table(&step->sgt);
	kernel_range_free_step_pages(step);
}

/* Allocate zeroed pages without mapping them for the device. Returns NULL on failure. */
static struct step *kernel_range_alloc_pages(u32 count, gfp_t gfp)
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
	kernel_range_free_step_pages(step);
	return NULL;
}

/* Allocate and map the memory of a step. Returns an error pointer on failure. */
static struct step *kernel_range_create_step(struct pumice_device *pdev, u32 count, gfp_t gfp)
{
	struct step *step = kernel_range_alloc_pages(count, gfp);
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
	kernel_range_free_step_pages(step);
	return ERR_PTR(ret);
}

/**
 * pumice_kernel_range_addr - return the GPU virtual address of the first page
 * @range: range
 *
 * Context: Any; the address is constant.
 *
 * Return: the address, 2 MiB aligned.
 */
u64 pumice_kernel_range_addr(const struct pumice_kernel_range *range)
{
	return range->va.start;
}

/* Write the bus addresses of a step's pages. */
static void kernel_range_list_step(const struct step *step, u64 *frames)
{
	struct sg_dma_page_iter iter;
	u32 page = 0;

	for_each_sgtable_dma_page(&step->sgt, &iter, 0)
		frames[page++] = sg_page_iter_dma_address(&iter);
}

/* Add memory that the GPU maps. Its first page is the directory. */
static int kernel_range_add_step_locked(struct pumice_kernel_range *range, struct step *step)
{
	struct pumice_vm *vm = range->vm;

	lockdep_assert_held(&vm->lock);
	if (vm->released)
		return -ENODEV;
	/* As for memory that the driver maps: pumice_vm_flush_locked(). */
	if (vm->unusable)
		return -EIO;
	if (!range->pages)
		pumice_mmu_set_directory(vm->mmu, range->va.start, sg_dma_address(step->sgt.sgl));
	if (range->frames)
		kernel_range_list_step(step, range->frames + range->pages);
	list_add_tail(&step->node, &range->steps);
	/* A reader of the new number may let the GPU use the pages: list them before. */
	smp_store_release(&range->pages, range->pages + step->count);
	return 0;
}

static int kernel_range_map_step_locked(struct pumice_kernel_range *range, struct step *step,
					struct pumice_mmu_pool *pool)
{
	struct pumice_mmu_pages pages = { .sgt = &step->sgt };
	u64 size = (u64)step->count << PAGE_SHIFT;
	struct pumice_vm *vm = range->vm;

	lockdep_assert_held(&vm->lock);
	if (vm->released)
		return -ENODEV;
	pumice_mmu_map_pages(vm->mmu, pool, range->va.start + ((u64)range->pages << PAGE_SHIFT),
			     size, &pages, 0, PUMICE_MMU_PM_OWNED | PUMICE_MMU_NOEXEC);
	list_add_tail(&step->node, &range->steps);
	WRITE_ONCE(range->pages, range->pages + step->count);
	/* A page table may have been replaced. The pages are mapped even if this fails. */
	return pumice_vm_flush_locked(vm);
}

/**
 * pumice_kernel_range_grow - append memory to a range
 * @range: range; the caller ensures that no other thread grows it
 * @pages: not 0; the range's total must not exceed the maximum set at creation
 * @gfp: PUMICE_KERNEL_RANGE_GFP, or PUMICE_KERNEL_RANGE_GFP_NOWAIT where a fence waits
 *	for the call
 *
 * Call between drm_dev_enter() and drm_dev_exit(). Acquires vm.lock, and waits for the
 * firmware.
 *
 * Return: 0; -ENOMEM; -EINTR if the caller is killed; -EIO if the VM is or becomes unusable;
 * -ENODEV if the device is being unplugged; or an error of dma_map_sgtable(). @range->pages is
 * the number of pages present in any case.
 */
int pumice_kernel_range_grow(struct pumice_kernel_range *range, u32 pages, gfp_t gfp)
{
	u64 va = range->va.start + ((u64)range->pages << PAGE_SHIFT);
	struct pumice_device *pdev = range->vm->pdev;
	u32 before = range->pages;
	struct pumice_mmu_pool pool;
	struct step *step;
	int ret = 0;

	step = kernel_range_create_step(pdev, pages, gfp);
	if (IS_ERR(step))
		return PTR_ERR(step);
	pumice_mmu_pool_init(&pool, &range->vm->tables);
	pool.gfp = gfp;
	if (!range->gpu_tables)
		ret = pumice_mmu_pool_fill_map(pdev, &pool, va, (u64)pages << PAGE_SHIFT);
	if (!ret) {
		mutex_lock(&range->vm->lock);
		ret = range->gpu_tables ? kernel_range_add_step_locked(range, step) :
					  kernel_range_map_step_locked(range, step, &pool);
		mutex_unlock(&range->vm->lock);
	}
	pumice_mmu_pool_free(pdev, &pool);
	if (range->pages == before)
		kernel_range_free_step(pdev, step);
	return ret;
}

/**
 * pumice_kernel_range_set_frames - list the bus addresses of the pages of a range
 * @range: range whose page tables the GPU keeps
 * @frames: array by page, for the maximum number of pages; exists as long as @range can grow
 *
 * Writes the elements of all pages present. Those of further pages are written before
 * @range->pages includes them.
 *
 * Context: May sleep. Acquires vm.lock.
 */
void pumice_kernel_range_set_frames(struct pumice_kernel_range *range, u64 *frames)
{
	const struct step *step;

	mutex_lock(&range->vm->lock);
	range->frames = frames;
	list_for_each_entry(step, &range->steps, node) {
		kernel_range_list_step(step, frames);
		frames += step->count;
	}
	mutex_unlock(&range->vm->lock);
}

static void kernel_range_free_steps_locked(struct pumice_kernel_range *range)
{
	struct step *step, *next;

	lockdep_assert_held(&range->vm->lock);
	list_for_each_entry_safe(step, next, &range->steps, node)
		kernel_range_free_step(range->vm->pdev, step);
	INIT_LIST_HEAD(&range->steps);
}

/* Release the memory, unless the device is being unplugged: unplugging releases it. */
static void kernel_range_release_memory(struct pumice_kernel_range *range)
{
	struct pumice_vm *vm = range->vm;
	struct pumice_mmu_pool none;
	int idx;

	if (!drm_dev_enter(&vm->pdev->drm, &idx))
		return;
	pumice_mmu_pool_init(&none, &vm->tables);
	mutex_lock(&vm->lock);
	if (range->gpu_tables)
		pumice_mmu_set_directory(vm->mmu, range->va.start, 0);
	else
		pumice_mmu_unmap(vm->mmu, &none, range->va.start, range->va.size);
	if (pumice_vm_flush_locked(vm) != -ENODEV)
		kernel_range_free_steps_locked(range);
	mutex_unlock(&vm->lock);
	drm_dev_exit(idx);
}

/**
 * pumice_kernel_range_destroy - destroy a range that the GPU no longer uses
 * @range: range, NULL or an error pointer
 *
 * May sleep and wait for the firmware. Must not be called between
 * drm_dev_enter() and drm_dev_exit().
 */
void pumice_kernel_range_destroy(struct pumice_kernel_range *range)
{
	struct pumice_device *pdev;
	struct pumice_vm *vm;

	if (IS_ERR_OR_NULL(range))
		return;
	vm = range->vm;
	pdev = vm->pdev;
	kernel_range_release_memory(range);
	pumice_device_wait_unplugged(pdev);
	mutex_lock(&pdev->kernel_ranges_lock);
	list_del(&range->node);
	mutex_unlock(&pdev->kernel_ranges_lock);
	mutex_lock(&vm->lock);
	drm_mm_remove_node(&range->va);
	mutex_unlock(&vm->lock);
	pumice_vm_put(vm);
	kfree(range);
}

/* Reserve addresses without memory. Returns an error pointer on failure. */
static struct pumice_kernel_range *kernel_range_reserve(struct pumice_vm *vm, u32 max_pages,
							bool gpu_tables)
{
	u64 alignment = gpu_tables ? GPU_TABLES_ALIGNMENT : ALIGNMENT;
	u64 size = ALIGN((u64)max_pages << PAGE_SHIFT, alignment);
	struct pumice_kernel_range *range = kzalloc(sizeof(*range), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!range)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&range->steps);
	mutex_lock(&vm->lock);
	ret = drm_mm_insert_node_generic(&vm->kernel_mm, &range->va, size, alignment, 0,
					 DRM_MM_INSERT_BEST);
	mutex_unlock(&vm->lock);
	if (ret) {
		kfree(range);
		return ERR_PTR(ret);
	}
	range->gpu_tables = gpu_tables;
	range->vm = pumice_vm_get(vm);
	pumice_vm_note_cached(vm);
	mutex_lock(&vm->pdev->kernel_ranges_lock);
	list_add_tail(&range->node, &vm->pdev->kernel_ranges);
	mutex_unlock(&vm->pdev->kernel_ranges_lock);
	return range;
}

/**
 * pumice_kernel_range_create - reserve addresses and allocate the initial memory of a range
 * @vm: address space; the range acquires a use of its own
 * @pages: initial number of pages, not 0
 * @max_pages: maximum number of pages; at most 1 GiB with @gpu_tables
 * @gpu_tables: the GPU keeps the page tables
 *
 * May sleep and wait for the firmware. Must not be called between drm_dev_enter() and
 * drm_dev_exit().
 *
 * Return: the range, or an error pointer: -ENOSPC if the kernel part is full, -ENOMEM, -ENODEV
 * if the device was unplugged, or an error of pumice_kernel_range_grow().
 */
struct pumice_kernel_range *pumice_kernel_range_create(struct pumice_vm *vm, u32 pages,
						       u32 max_pages, bool gpu_tables)
{
	struct pumice_kernel_range *range = kernel_range_reserve(vm, max_pages, gpu_tables);
	int ret = -ENODEV, idx;

	if (IS_ERR(range))
		return range;
	if (drm_dev_enter(&vm->pdev->drm, &idx)) {
		ret = pumice_kernel_range_grow(range, pages, PUMICE_KERNEL_RANGE_GFP);
		drm_dev_exit(idx);
	}
	if (!ret)
		return range;
	pumice_kernel_range_destroy(range);
	return ERR_PTR(ret);
}

/* Return the table in the page of a range at a bus address, or NULL. */
static const u64 *kernel_range_find_table(struct pumice_kernel_range *range, u64 table)
{
	struct sg_dma_page_iter iter;
	struct step *step;
	u32 page;

	list_for_each_entry(step, &range->steps, node) {
		page = 0;
		for_each_sgtable_dma_page(&step->sgt, &iter, 0) {
			if (sg_page_iter_dma_address(&iter) == table)
				return page_address(step->pages[page]);
			page++;
		}
	}
	return NULL;
}

/**
 * pumice_kernel_range_table_locked - return a page table that the GPU keeps
 * @vm: address space, under its lock
 * @va: GPU virtual address that is translated by the table
 * @table: bus address of the table, as read from memory that the GPU writes
 *
 * Return: its entries, valid while the lock is held; or NULL if @table is not a page of a range
 * at @va whose page tables the GPU keeps.
 */
const u64 *pumice_kernel_range_table_locked(struct pumice_vm *vm, u64 va, u64 table)
{
	struct pumice_kernel_range *range;
	struct drm_mm_node *node;

	lockdep_assert_held(&vm->lock);
	drm_mm_for_each_node(node, &vm->kernel_mm) {
		range = container_of(node, struct pumice_kernel_range, va);
		if (range->gpu_tables && va >= node->start && va - node->start < node->size)
			return kernel_range_find_table(range, table);
	}
	return NULL;
}

/**
 * pumice_kernel_range_bytes - return the memory size of a file's ranges
 * @pdev: device
 * @client: DRM client
 *
 * Context: May sleep. Acquires kernel_ranges_lock.
 *
 * Return: bytes; a range that grows meanwhile counts with its previous or its new size.
 */
u64 pumice_kernel_range_bytes(struct pumice_device *pdev, u64 client)
{
	struct pumice_kernel_range *range;
	u64 pages = 0;

	mutex_lock(&pdev->kernel_ranges_lock);
	list_for_each_entry(range, &pdev->kernel_ranges, node)
		if (range->vm->client == client)
			pages += READ_ONCE(range->pages);
	mutex_unlock(&pdev->kernel_ranges_lock);
	return pages << PAGE_SHIFT;
}

/**
 * pumice_kernel_range_release_all - release the memory of all ranges when the device is removed
 * @pdev: stopped device; called after pumice_vm_release_all()
 */
void pumice_kernel_range_release_all(struct pumice_device *pdev)
{
	struct pumice_kernel_range *range;

	mutex_lock(&pdev->kernel_ranges_lock);
	list_for_each_entry(range, &pdev->kernel_ranges, node) {
		mutex_lock(&range->vm->lock);
		kernel_range_free_steps_locked(range);
		mutex_unlock(&range->vm->lock);
	}
	mutex_unlock(&pdev->kernel_ranges_lock);
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_kernel_range_test.c"
#endif
