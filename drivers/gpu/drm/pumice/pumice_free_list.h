/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Free lists: pages of parameter buffers. */
#ifndef PUMICE_FREE_LIST_H
#define PUMICE_FREE_LIST_H

#include <linux/workqueue.h>

#include "pumice_device.h"
#include "pumice_object.h"

struct pumice_kernel_range;
struct pumice_vm;
struct seq_file;

/**
 * struct pumice_freelist - a free list
 *
 * The parameter management uses @pages; up to @grow_pages more are mapped and
 * prepared for its next request.
 */
struct pumice_freelist {
	/** @base: references of file, data sets, and of @grow_work and @refill_work while queued */
	struct pumice_object base;
	/** @pdev: device; a reference to its drm_device */
	struct pumice_device *pdev;
	/** @vm: address space, a use of which is held by @range; constant */
	struct pumice_vm *vm;
	/** @node: in pumice_device.free_lists, under scenes_lock */
	struct list_head node;
	/** @memcg: memory cgroup of the creator, which is charged for all pages; or NULL */
	struct mem_cgroup *memcg;
	/** @grow_lock: held while @range grows; only tried where a fence waits */
	struct mutex grow_lock;
	/** @range: pages */
	struct pumice_kernel_range *range;
	/** @obj: memory shared with the GPU: the structure and its table of links */
	struct pumice_fw_obj *obj;
	/** @gpu_tables: the GPU maps the pages; @obj has their bus addresses, too; constant */
	bool gpu_tables;
	/** @max_pages: constant */
	u32 max_pages;
	/** @grow_pages: pages to grow by, or 0; constant */
	u32 grow_pages;
	/** @threshold: percent of free pages below which it grows; constant */
	u32 threshold;
	/** @pages: pages that the GPU uses; under scenes_lock */
	u32 pages;
	/** @grown: times that it grew; under scenes_lock */
	u32 grown;
	/** @wanted: the firmware waits for a reply; under scenes_lock */
	bool wanted;
	/** @grow_work: replies to the firmware; jobs wait for it */
	struct work_struct grow_work;
	/** @refill_work: prepares pages with reclaim; no job waits for it */
	struct work_struct refill_work;
};

struct pumice_freelist *pumice_free_list_lookup(struct pumice_file *file, u32 id);
void pumice_free_list_put(struct pumice_freelist *list);
void pumice_free_list_wanted(struct pumice_device *pdev, u32 addr);
void pumice_free_list_reset_all(struct pumice_device *pdev);
void pumice_free_list_show(struct seq_file *m, struct pumice_device *pdev);

int pumice_ioctl_free_list_create(struct drm_device *drm, void *data, struct drm_file *file);
int pumice_ioctl_free_list_destroy(struct drm_device *drm, void *data, struct drm_file *file);

#endif
