/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Page tables of one GPU address space. */
#ifndef PUMICE_MMU_H
#define PUMICE_MMU_H

#include <linux/atomic.h>
#include <linux/scatterlist.h>
#include <linux/types.h>

#include <drm/pumice_drm.h>

struct pumice_device;
struct pumice_mmu;

#define PUMICE_MMU_TABLE_BYTES	4096u

/* Attributes of a mapping. */
#define PUMICE_MMU_READONLY	DRM_PUMICE_BIND_READONLY
#define PUMICE_MMU_NOEXEC	DRM_PUMICE_BIND_NOEXEC
#define PUMICE_MMU_NULL		DRM_PUMICE_BIND_NULL
#define PUMICE_MMU_COHERENT	BIT(30)	/* of buffers; not for users */
#define PUMICE_MMU_PM_OWNED	BIT(31)	/* owned by the parameter management; not for users */

/**
 * struct pumice_mmu_dirty - range of changed tables that TLBs may still hold
 */
struct pumice_mmu_dirty {
	/** @start: first GPU virtual address */
	u64 start;
	/** @end: last byte; below @start when nothing is dirty */
	u64 end;
};

/**
 * struct pumice_mmu_pool - preallocated tables
 *
 * Filled where allocating is permitted, used where it is not. The owner serializes access.
 */
struct pumice_mmu_pool {
	/** @tables: page tables, and the tables of @dirs */
	struct list_head tables;
	/** @dirs: directories without a table */
	struct list_head dirs;
	/** @gfp: flags to allocate with */
	gfp_t gfp;
	/** @usage: counter of the address space's tables, including the pool's; outlives them */
	atomic_t *usage;
	/** @table_count: number of @tables */
	u64 table_count;
	/** @dir_count: number of @dirs */
	u64 dir_count;
	/**
	 * @kept: the directory that is certain to exist after the last operation added,
	 * counted from 1; 0: unknown
	 */
	u64 kept;
};

u64 pumice_mmu_worst_tables(u64 va, u64 size, bool map);
void pumice_mmu_pool_init(struct pumice_mmu_pool *pool, atomic_t *usage);
int pumice_mmu_pool_add_map(struct pumice_device *pdev, struct pumice_mmu_pool *pool, u64 va,
			    u64 size);
int pumice_mmu_pool_add_unmap(struct pumice_device *pdev, struct pumice_mmu_pool *pool);
int pumice_mmu_pool_fill_map(struct pumice_device *pdev, struct pumice_mmu_pool *pool, u64 va,
			     u64 size);
int pumice_mmu_pool_fill_unmap(struct pumice_device *pdev, struct pumice_mmu_pool *pool);
void pumice_mmu_pool_free(struct pumice_device *pdev, struct pumice_mmu_pool *pool);

struct pumice_mmu *pumice_mmu_create(struct pumice_device *pdev);
void pumice_mmu_release_memory(struct pumice_mmu *mmu);
void pumice_mmu_destroy(struct pumice_mmu *mmu);
dma_addr_t pumice_mmu_catalogue(const struct pumice_mmu *mmu);

/**
 * struct pumice_mmu_pages - pages of a buffer, and where the last of them was found
 *
 * Zeroed except @sgt. A search begins at the last page, if that is not a later one, as the list
 * of a buffer may have an element for each page.
 */
struct pumice_mmu_pages {
	/** @sgt: DMA-mapped pages */
	struct sg_table *sgt;
	/** @sg: element of the last page; NULL at first */
	struct scatterlist *sg;
	/** @first: number of the first page of @sg */
	u64 first;
};

void pumice_mmu_map_pages(struct pumice_mmu *mmu, struct pumice_mmu_pool *pool, u64 va, u64 size,
			  struct pumice_mmu_pages *pages, u64 offset, u32 flags);
void pumice_mmu_map_contiguous(struct pumice_mmu *mmu, struct pumice_mmu_pool *pool, u64 va,
			       u64 size, dma_addr_t addr, u32 flags);
void pumice_mmu_unmap(struct pumice_mmu *mmu, struct pumice_mmu_pool *pool, u64 va, u64 size);
void pumice_mmu_mark_mapped(struct pumice_mmu *mmu, u64 va, u64 size);
void pumice_mmu_set_directory(struct pumice_mmu *mmu, u64 va, dma_addr_t dma);

/* Levels of tables: catalogue, directory, table. */
#define PUMICE_MMU_LEVELS	3

/**
 * struct pumice_mmu_step - one level of a walk
 */
struct pumice_mmu_step {
	/** @table: bus address of the table */
	u64 table;
	/** @entry: value of the entry */
	u64 entry;
	/** @index: index of the entry */
	u32 index;
};

void pumice_mmu_count_blocks(const struct pumice_mmu *mmu, u32 *blocks);
struct pumice_vm;

/**
 * struct pumice_mmu_reader - access to the page tables that the GPU keeps
 */
struct pumice_mmu_reader {
	/**
	 * @read: return the entries of the table at a bus address, which translates va; or NULL
	 */
	const u64 *(*read)(struct pumice_vm *vm, u64 va, u64 table);
	/** @vm: for @read */
	struct pumice_vm *vm;
};

u32 pumice_mmu_walk(const struct pumice_mmu *mmu, u64 va, struct pumice_mmu_step *steps,
		    const struct pumice_mmu_reader *reader);

bool pumice_mmu_dirty(const struct pumice_mmu *mmu, struct pumice_mmu_dirty *dirty);
void pumice_mmu_flushed(struct pumice_mmu *mmu);

#endif
