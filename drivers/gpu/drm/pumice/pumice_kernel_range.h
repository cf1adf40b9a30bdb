/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Memory in the kernel part of an address space: parameter buffers. */
#ifndef PUMICE_KERNEL_RANGE_H
#define PUMICE_KERNEL_RANGE_H

#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/types.h>

#include <drm/drm_mm.h>

struct pumice_device;
struct pumice_vm;

/*
 * Memory of ranges is charged to the memory cgroup of the requesting task. Allocations may
 * fail early: a list without more pages does not justify the OOM killer. The second
 * set of flags neither reclaims nor sleeps.
 */
#define PUMICE_KERNEL_RANGE_GFP		(GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_NORETRY)
#define PUMICE_KERNEL_RANGE_GFP_NOWAIT	(GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN)

/**
 * struct pumice_kernel_range - a contiguous range of addresses, with memory from its start
 */
struct pumice_kernel_range {
	/** @vm: address space; the range holds a user count */
	struct pumice_vm *vm;
	/** @node: in pumice_device.kernel_ranges */
	struct list_head node;
	/** @va: addresses, in pumice_vm.kernel_mm; under vm.lock */
	struct drm_mm_node va;
	/** @steps: memory, in ascending order of address; under vm.lock */
	struct list_head steps;
	/**
	 * @gpu_tables: the GPU keeps the page tables of the range, in pages of it; the driver
	 * maps none, and @va is of 1 GiB; constant
	 */
	bool gpu_tables;
	/**
	 * @frames: bus addresses of the pages, for the GPU; NULL before
	 * pumice_kernel_range_set_frames(); under vm.lock
	 */
	u64 *frames;
	/** @pages: present; written under vm.lock by the thread that grows it, read anywhere */
	u32 pages;
};

struct pumice_kernel_range *pumice_kernel_range_create(struct pumice_vm *vm, u32 pages,
						       u32 max_pages, bool gpu_tables);
void pumice_kernel_range_set_frames(struct pumice_kernel_range *range, u64 *frames);
int pumice_kernel_range_grow(struct pumice_kernel_range *range, u32 pages, gfp_t gfp);
const u64 *pumice_kernel_range_table_locked(struct pumice_vm *vm, u64 va, u64 table);
u64 pumice_kernel_range_addr(const struct pumice_kernel_range *range);
u64 pumice_kernel_range_bytes(struct pumice_device *pdev, u64 client);
void pumice_kernel_range_destroy(struct pumice_kernel_range *range);
void pumice_kernel_range_release_all(struct pumice_device *pdev);

#endif
