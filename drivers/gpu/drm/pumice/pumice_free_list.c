// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Free lists: pages of parameter buffers, and how they grow.
 *
 * Source: document 004, "Master DPM"; document 000, "Memory Hierarchy"; formats.xml, free_list.
 *
 * When a list is short of pages the firmware requests more, while a geometry job may
 * wait for them: everything from the request to the reply is on the path to a fence,
 * which reclaim may wait for. Therefore:
 *
 * - The interrupt thread only notes the request.
 * - grow_work replies with the pages that were allocated and mapped in advance. If
 *   there are none it tries to allocate some, without sleeping or reclaiming. If that
 *   fails the reply reports no new pages, and the firmware continues with a partial
 *   render.
 * - It then prepares pages for the next request, in the same way. If that fails,
 *   refill_work does it with reclaim, on a workqueue of its own. Requests that arrive
 *   meanwhile do not wait for it.
 *
 * All pages are charged to the memory cgroup of the list's creator, which gets fewer
 * pages, and partial renders, when it is full.
 *
 * The driver maps the pages, or passes their bus addresses to the GPU, whose MMU maps them
 * while they belong to a scene.
 *
 * A GPU reset leaves lists in an undefined state: they are initialized again then, with
 * all pages that they have.
 */
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "pumice_ccb.h"
#include "pumice_events.h"
#include "pumice_formats.h"
#include "pumice_free_list.h"
#include "pumice_fw.h"
#include "pumice_fw_mem.h"
#include "pumice_kernel_range.h"
#include "pumice_reset.h"
#include "pumice_vm.h"

/* The table of links follows the structure. */
#define LINKS_OFFSET	64u
/* Pages of the smallest list with page tables: a directory, a page table, one for data. */
#define MIN_TABLES_PAGES	3u
/* Register map that has such lists. */
#define VERSION_GPU_TABLES	0x20004u

static_assert(PUMICE_FREE_LIST_WORDS * sizeof(u32) <= LINKS_OFFSET);

static u32 free_list_threshold_pages(const struct pumice_freelist *list)
{
	return mul_u64_u32_div(list->pages, list->threshold, 100);
}

/* Return the offset of the table of bus addresses, which follows the links. */
static size_t free_list_frames_offset(u32 max_pages)
{
	return ALIGN(LINKS_OFFSET + (size_t)max_pages * sizeof(u32), sizeof(u64));
}

/* Initialize a list whose pages are all free. The GPU must not be using it. */
static void free_list_fill_locked(struct pumice_freelist *list)
{
	const struct pumice_free_list fresh = {
		.base = pumice_kernel_range_addr(list->range),
		.pages = list->pages,
		.head = PUMICE_PM_NO_PAGE,
		.free = list->pages,
		.threshold = free_list_threshold_pages(list),
		.max_pages = list->max_pages,
		.links = list->obj->addr + LINKS_OFFSET,
		.min_free = list->pages,
		.frames = list->gpu_tables ? list->obj->addr +
			  free_list_frames_offset(list->max_pages) : 0,
	};

	pumice_free_list_pack(list->obj->cpu, &fresh);
	list->wanted = false;
}

static u32 free_list_pages_ready(const struct pumice_freelist *list)
{
	return READ_ONCE(list->range->pages) - list->pages;
}

/* Count the pages to prepare; 0 if the list has prepared pages, or its maximum. */
static u32 free_list_pages_wanted(const struct pumice_freelist *list)
{
	if (free_list_pages_ready(list))
		return 0;
	return min(list->grow_pages, list->max_pages - list->range->pages);
}

static void free_list_grow_locked(struct pumice_freelist *list, gfp_t gfp)
{
	struct mem_cgroup *before;
	u32 more;

	lockdep_assert_held(&list->grow_lock);
	more = free_list_pages_wanted(list);
	if (!more)
		return;
	before = set_active_memcg(list->memcg);
	pumice_kernel_range_grow(list->range, more, gfp);
	set_active_memcg(before);
}

/*
 * Prepare pages, as far as possible without reclaim. The holder of the lock may be
 * reclaiming, so this does not wait for the lock.
 */
static void free_list_make_ready(struct pumice_freelist *list)
{
	if (!mutex_trylock(&list->grow_lock))
		return;
	free_list_grow_locked(list, PUMICE_KERNEL_RANGE_GFP_NOWAIT);
	mutex_unlock(&list->grow_lock);
}

/* Trace new pages, if there are any. */
static void free_list_trace_refill(struct pumice_freelist *list, u32 before)
{
	if (list->range->pages != before)
		trace_pumice_free_list_refill(list->obj->addr, before, list->range->pages);
}

/* Prepare pages with reclaim. There may be none left to prepare, or no memory. */
static void free_list_refill(struct pumice_freelist *list)
{
	u32 before;

	mutex_lock(&list->grow_lock);
	before = list->range->pages;
	free_list_grow_locked(list, PUMICE_KERNEL_RANGE_GFP);
	free_list_trace_refill(list, before);
	mutex_unlock(&list->grow_lock);
}

static void free_list_refill_work(struct work_struct *work)
{
	struct pumice_freelist *list = container_of(work, struct pumice_freelist, refill_work);
	int idx;

	if (drm_dev_enter(&list->pdev->drm, &idx)) {
		free_list_refill(list);
		drm_dev_exit(idx);
	}
	pumice_free_list_put(list);
}

/* Queue the preparation of pages where reclaim is permitted. */
static void free_list_queue_refill(struct pumice_freelist *list)
{
	pumice_object_get(&list->base);
	if (!queue_work(pumice_refill_wq, &list->refill_work))
		pumice_free_list_put(list);
}

/* Store the threshold for the current number of pages. All other words belong to the GPU. */
static void free_list_set_threshold(struct pumice_freelist *list)
{
	const struct pumice_free_list none = { 0 };
	const struct pumice_free_list now = { .threshold = free_list_threshold_pages(list) };
	u32 before[PUMICE_FREE_LIST_WORDS], after[PUMICE_FREE_LIST_WORDS];
	u32 *words = list->obj->cpu;
	u32 i;

	pumice_free_list_pack(before, &none);
	pumice_free_list_pack(after, &now);
	for (i = 0; i < PUMICE_FREE_LIST_WORDS; i++)
		if (before[i] != after[i])
			WRITE_ONCE(words[i], after[i]);
}

/* Consume a request and fill in its reply. Returns false if there is none. */
static bool free_list_dequeue_request(struct pumice_freelist *list, struct fwif_kccb_cmd *cmd)
{
	bool wanted;

	spin_lock(&list->pdev->scenes_lock);
	wanted = list->wanted;
	list->wanted = false;
	if (wanted) {
		trace_pumice_free_list_grow(list->obj->addr, list->pages, list->range->pages);
		list->grown += !!free_list_pages_ready(list);
		list->pages = smp_load_acquire(&list->range->pages); /* with their bus addresses */
		cmd->object = list->obj->addr;
		cmd->pages = list->pages;
	}
	spin_unlock(&list->pdev->scenes_lock);
	return wanted;
}

/* Reply to a request. If the firmware is quiesced meanwhile, its lists are initialized again. */
static void free_list_reply_grow_request(struct pumice_freelist *list)
{
	struct fwif_kccb_cmd cmd = { .type = FWIF_KCCB_FREE_LIST_GROWN };
	int ret;

	if (!free_list_dequeue_request(list, &cmd))
		return;
	free_list_set_threshold(list);
	ret = pumice_kccb_reserve(list->pdev);
	if (!ret)
		pumice_kccb_push_reserved(list->pdev, &cmd);
	else if (ret == -ETIMEDOUT)
		pumice_reset_schedule(list->pdev);
}

static void free_list_grow_work(struct work_struct *work)
{
	struct pumice_freelist *list = container_of(work, struct pumice_freelist, grow_work);
	bool cookie = dma_fence_begin_signalling();
	int idx;

	if (drm_dev_enter(&list->pdev->drm, &idx)) {
		free_list_make_ready(list); /* unless pages are prepared already */
		free_list_reply_grow_request(list);
		free_list_make_ready(list);
		if (free_list_pages_wanted(list))
			free_list_queue_refill(list);
		drm_dev_exit(idx);
	}
	dma_fence_end_signalling(cookie);
	pumice_free_list_put(list);
}

/**
 * pumice_free_list_wanted - queue the reply to a firmware request for more pages
 * @pdev: device
 * @addr: fw address of the free list, as the firmware reports it
 *
 * For the interrupt thread. A destroyed list needs no reply.
 */
void pumice_free_list_wanted(struct pumice_device *pdev, u32 addr)
{
	struct pumice_freelist *list;

	spin_lock(&pdev->scenes_lock);
	list_for_each_entry(list, &pdev->free_lists, node) {
		if (list->obj->addr != addr)
			continue;
		list->wanted = true;
		/* A list that is about to be freed is not used by any job. */
		if (kref_get_unless_zero(&list->base.ref) &&
		    !queue_work(pumice_grow_wq, &list->grow_work))
			pumice_free_list_put(list);
		break;
	}
	spin_unlock(&pdev->scenes_lock);
}

/**
 * pumice_free_list_reset_all - mark all pages free after a GPU reset
 * @pdev: device, between drm_dev_enter() and drm_dev_exit()
 *
 * Context: Does not sleep. Acquires scenes_lock.
 */
void pumice_free_list_reset_all(struct pumice_device *pdev)
{
	struct pumice_freelist *list;

	spin_lock(&pdev->scenes_lock);
	list_for_each_entry(list, &pdev->free_lists, node)
		free_list_fill_locked(list);
	spin_unlock(&pdev->scenes_lock);
}

/* Free the structure. */
static void free_list_free(struct pumice_freelist *list)
{
	mem_cgroup_put(list->memcg);
	mutex_destroy(&list->grow_lock);
	kfree(list);
}

static void free_list_free_object(struct pumice_object *obj)
{
	struct pumice_freelist *list = container_of(obj, struct pumice_freelist, base);
	struct pumice_device *pdev = list->pdev;

	spin_lock(&pdev->scenes_lock);
	list_del(&list->node);
	spin_unlock(&pdev->scenes_lock);
	pumice_fw_obj_destroy(pdev, list->obj);
	pumice_kernel_range_destroy(list->range);
	free_list_free(list);
	atomic_dec(&pdev->stats.free_lists);
	drm_dev_put(&pdev->drm);
}

/**
 * pumice_free_list_put - drop a reference
 * @list: free list, or NULL
 *
 * Context: Any, including atomic: a work item frees the list after the last reference.
 */
void pumice_free_list_put(struct pumice_freelist *list)
{
	pumice_object_put(list ? &list->base : NULL);
}

/**
 * pumice_free_list_lookup - look up a free list of a file by its id
 * @file: file
 * @id: id
 *
 * Context: Does not sleep. Acquires the lock of the table.
 *
 * Return: the free list with a reference, or NULL.
 */
struct pumice_freelist *pumice_free_list_lookup(struct pumice_file *file, u32 id)
{
	static_assert(!offsetof(struct pumice_freelist, base));
	return pumice_object_lookup(&file->free_lists, id);
}

/* Return the size of the memory that a list shares with the firmware, in bytes. */
static size_t free_list_obj_bytes(const struct drm_pumice_free_list_create *args)
{
	size_t bytes = free_list_frames_offset(args->max_pages);

	if (args->flags & DRM_PUMICE_FREE_LIST_GPU_TABLES)
		bytes += (size_t)args->max_pages * sizeof(u64);
	return PAGE_ALIGN(bytes);
}

static int free_list_check_create(const struct drm_pumice_free_list_create *args)
{
	if (args->flags & ~DRM_PUMICE_FREE_LIST_GPU_TABLES || args->pad)
		return -EINVAL;
	if (!args->initial_pages || args->threshold >= 100 ||
	    args->max_pages < args->initial_pages)
		return -EINVAL;
	if (!args->grow_pages && args->max_pages != args->initial_pages)
		return -EINVAL;
	if (args->flags && args->initial_pages < MIN_TABLES_PAGES)
		return -EINVAL;
	return args->max_pages > DRM_PUMICE_MAX_FREE_LIST_PAGES ? -E2BIG : 0;
}

/* Allocate a structure without pages, or return NULL. */
static struct pumice_freelist *free_list_alloc(struct pumice_vm *vm,
					       const struct drm_pumice_free_list_create *args)
{
	struct pumice_freelist *list = kzalloc(sizeof(*list), GFP_KERNEL_ACCOUNT);

	if (!list)
		return NULL;
	pumice_object_init(&list->base, free_list_free_object);
	list->pdev = vm->pdev;
	list->vm = vm;
	list->gpu_tables = args->flags & DRM_PUMICE_FREE_LIST_GPU_TABLES;
	list->max_pages = args->max_pages;
	list->grow_pages = args->grow_pages;
	list->threshold = args->threshold;
	list->pages = args->initial_pages;
	list->memcg = get_mem_cgroup_from_mm(current->mm);
	mutex_init(&list->grow_lock);
	INIT_WORK(&list->grow_work, free_list_grow_work);
	INIT_WORK(&list->refill_work, free_list_refill_work);
	return list;
}

/* Add a complete free list to the device; the GPU may use it afterwards. */
static void free_list_publish(struct pumice_freelist *list)
{
	struct pumice_device *pdev = list->pdev;

	drm_dev_get(&pdev->drm);
	atomic_inc(&pdev->stats.free_lists);
	if (list->gpu_tables)
		pumice_kernel_range_set_frames(list->range, list->obj->cpu +
					       free_list_frames_offset(list->max_pages));
	spin_lock(&pdev->scenes_lock);
	free_list_fill_locked(list);
	list_add_tail(&list->node, &pdev->free_lists);
	spin_unlock(&pdev->scenes_lock);
	mutex_lock(&list->grow_lock);
	free_list_grow_locked(list, PUMICE_KERNEL_RANGE_GFP);
	mutex_unlock(&list->grow_lock);
}

/* Must not be called between drm_dev_enter() and drm_dev_exit(). Returns it or an error pointer. */
static struct pumice_freelist *free_list_create(struct pumice_file *file, struct pumice_vm *vm,
						const struct drm_pumice_free_list_create *args)
{
	struct pumice_freelist *list = free_list_alloc(vm, args);
	int ret, idx;

	if (!list)
		return ERR_PTR(-ENOMEM);
	list->range = pumice_kernel_range_create(vm, args->initial_pages, list->max_pages,
						 list->gpu_tables);
	ret = PTR_ERR_OR_ZERO(list->range);
	if (!ret && !drm_dev_enter(&vm->pdev->drm, &idx))
		ret = -ENODEV;
	if (!ret) {
		list->obj = pumice_fw_obj_create(list->pdev, file, free_list_obj_bytes(args));
		ret = PTR_ERR_OR_ZERO(list->obj);
		if (!ret)
			free_list_publish(list);
		drm_dev_exit(idx);
	}
	if (!ret)
		return list;
	pumice_kernel_range_destroy(list->range);
	free_list_free(list);
	return ERR_PTR(ret);
}

/**
 * pumice_ioctl_free_list_create - implement DRM_IOCTL_PUMICE_FREE_LIST_CREATE
 * @drm: device
 * @data: struct drm_pumice_free_list_create
 * @file: file, charged for the memory shared with the firmware
 *
 * Context: Process context. Acquires vm.lock, waits for the firmware, and may wait until
 * destroyed objects are freed.
 *
 * Return: 0; -EINVAL for sizes or a threshold that contradict each other or are out of range,
 * unknown flags or padding; -EOPNOTSUPP for DRM_PUMICE_FREE_LIST_GPU_TABLES on a GPU without such
 * lists; -E2BIG above DRM_PUMICE_MAX_FREE_LIST_PAGES; -ENOENT without such a VM;
 * -ENOSPC if the file has DRM_PUMICE_MAX_FREE_LISTS, the kernel part of the VM is full, or a
 * limit of the memory shared with the firmware is reached; -EIO if the VM is or becomes
 * unusable; -ENOMEM; -EINTR if the caller is killed; -ENODEV if the device was unplugged; or
 * an error of dma_map_sgtable().
 */
int pumice_ioctl_free_list_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_free_list_create *args = data;
	struct pumice_file *pfile = file->driver_priv;
	struct pumice_freelist *list;
	struct pumice_vm *vm;
	int ret;

	ret = free_list_check_create(args);
	if (!ret && args->flags && to_pumice_device(drm)->version < VERSION_GPU_TABLES)
		ret = -EOPNOTSUPP;
	if (ret)
		return ret;
	pumice_quota_settle(pfile, PUMICE_RESOURCE_MEMORY, free_list_obj_bytes(args));
	vm = pumice_vm_lookup(pfile, args->vm);
	if (!vm)
		return -ENOENT;
	list = free_list_create(pfile, vm, args);
	pumice_vm_put(vm);
	if (IS_ERR(list))
		return PTR_ERR(list);
	ret = xa_alloc(&pfile->free_lists, &args->id, list,
		       XA_LIMIT(1, DRM_PUMICE_MAX_FREE_LISTS), GFP_KERNEL);
	if (ret)
		pumice_free_list_put(list);
	return ret == -EBUSY ? -ENOSPC : ret;
}

/**
 * pumice_ioctl_free_list_destroy - implement DRM_IOCTL_PUMICE_FREE_LIST_DESTROY
 * @drm: device
 * @data: struct drm_pumice_free_list_destroy
 * @file: file
 *
 * Context: Process context. Does not wait: data sets and jobs keep their reference.
 *
 * Return: 0; -EINVAL for padding; or -ENOENT without such a free list.
 */
int pumice_ioctl_free_list_destroy(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_pumice_free_list_destroy *args = data;
	struct pumice_file *pfile = file->driver_priv;

	return args->pad ? -EINVAL : pumice_object_destroy(&pfile->free_lists, args->id);
}

static void free_list_show_locked(struct seq_file *m, const struct pumice_freelist *list)
{
	struct pumice_free_list now;
	u32 words[PUMICE_FREE_LIST_WORDS];

	pumice_copy_once(words, list->obj->cpu, sizeof(words));
	pumice_free_list_unpack(words, &now);
	seq_printf(m, "free list 0x%x: %u pages of %u, ", list->obj->addr, list->pages,
		   list->max_pages);
	seq_printf(m, "%u free, min %u, grown %u times, %u ready%s\n", now.free, now.min_free,
		   list->grown, free_list_pages_ready(list),
		   list->gpu_tables ? ", mapped by the GPU" : "");
}

/**
 * pumice_free_list_show - print all free lists
 * @m: file of debugfs
 * @pdev: device
 *
 * Context: Process context. Acquires scenes_lock.
 */
void pumice_free_list_show(struct seq_file *m, struct pumice_device *pdev)
{
	struct pumice_freelist *list;
	int idx;

	if (!drm_dev_enter(&pdev->drm, &idx))
		return;
	spin_lock(&pdev->scenes_lock);
	list_for_each_entry(list, &pdev->free_lists, node)
		free_list_show_locked(m, list);
	spin_unlock(&pdev->scenes_lock);
	drm_dev_exit(idx);
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_free_list_test.c"
#endif
