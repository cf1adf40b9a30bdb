/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Heaps: ranges of GPU virtual addresses with one page size each. */
#ifndef PUMICE_HEAP_H
#define PUMICE_HEAP_H

#include <linux/types.h>

#include <drm/pumice_drm.h>

struct pumice_device;
struct sg_table;

u32 pumice_heap_page_size(const struct pumice_device *pdev, u64 va);
int pumice_heap_check(const struct pumice_device *pdev, const struct drm_pumice_bind_op *op);
bool pumice_heap_fits(const struct pumice_device *pdev, u64 va, u64 size, struct sg_table *sgt,
		      u64 offset);
struct drm_pumice_query_heaps pumice_heap_query(const struct pumice_device *pdev);
void pumice_heap_setup(struct pumice_device *pdev);

#endif
