// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Page tables: catalogue, directories, tables.
 *
 * Source: document 000, "Memory Hierarchy"; entries as in formats.xml.
 *
 * A page table serves a block of 2 MiB and has one page size, given in its
 * directory entry: that of its heap, whose pages each change maps or unmaps as a whole
 * (pumice_heap.c). Entries are changed in place, and no others are read, so that a change
 * costs what its own pages cost.
 *
 * On devices without assigned sizes the page size is the largest one that fits all leaves, so
 * every change of a block operates on its 512 leaves of 4 KiB. If the size changes, a new table
 * is filled and replaces the old one with one store, so that the GPU sees the block either
 * before or after the change. Detached tables are kept until the TLBs are invalidated.
 *
 * Map and unmap take tables from a pool that was filled in advance: they allocate
 * nothing and cannot fail.
 *
 * The caller serializes all calls for one address space.
 */
#include <linux/dma-mapping.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "pumice_device.h"
#include "pumice_formats.h"
#include "pumice_heap.h"
#include "pumice_mmu.h"

#define LEAF_SHIFT	12
#define BLOCK_SHIFT	21
#define DIR_SHIFT	30
#define LEAF_BYTES	BIT_ULL(LEAF_SHIFT)
#define BLOCK_BYTES	BIT_ULL(BLOCK_SHIFT)
#define ENTRIES		512u	/* in a directory, in a table of 4 KiB pages */
#define LEAVES		ENTRIES	/* in a block */
#define DIRS		1024u	/* in a catalogue */

/*
 * Users may create any number of tables, up to 2 GiB per address space: they are charged to
 * the caller, and if its limit is reached the call fails without invoking the OOM killer. The
 * DMA allocator passes the flags on to the page allocator.
 */
#define TABLE_GFP	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

#define LEAF_VALID	PUMICE_MMU_PT_ENTRY__VALID__MASK
#define LEAF_ADDR	PUMICE_MMU_PT_ENTRY__ADDR__MASK

/**
 * struct table - page of 4 KiB that the GPU reads in a table walk
 */
struct table {
	/** @node: in a pool or retired */
	struct list_head node;
	/** @entries: the page */
	u64 *entries;
	/** @dma: bus address of @entries */
	dma_addr_t dma;
	/** @page_size: for a page table: enum pumice_page_size */
	u32 page_size;
	/** @live: for a page table with the size of its heap: number of valid entries */
	u32 live;
	/** @usage: counter of tables, see struct pumice_mmu_pool */
	atomic_t *usage;
};

/**
 * struct directory - page directory, with the page tables of its blocks
 */
struct directory {
	/** @node: in a pool */
	struct list_head node;
	/** @table: page that the GPU reads */
	struct table *table;
	/** @blocks: page tables, by entry of @table; NULL where there is none */
	struct table *blocks[ENTRIES];
	/** @live: number of @blocks that exist */
	u32 live;
};

/**
 * struct pumice_mmu - page tables of one address space
 */
struct pumice_mmu {
	/** @pdev: device */
	struct pumice_device *pdev;
	/** @catalogue: root of the tables; NULL once the memory is released */
	u64 *catalogue;
	/** @catalogue_dma: bus address of @catalogue */
	dma_addr_t catalogue_dma;
	/** @dirs: directories, by entry of @catalogue; NULL where there is none */
	struct directory *dirs[DIRS];
	/** @retired: tables that the TLBs may refer to */
	struct list_head retired;
	/** @dirty: range of changed tables that is not yet invalidated in the TLBs */
	struct pumice_mmu_dirty dirty;
	/** @leaves: leaves of the block being changed */
	u64 leaves[LEAVES];
	/** @mapping: leaves being mapped into it */
	u64 mapping[LEAVES];
};

#define CATALOGUE_BYTES	(DIRS * sizeof(u64))

/* Return log2 of the number of 4 KiB pages in a page of this size. */
static u32 mmu_page_order(u32 page_size)
{
	static const u8 orders[] = {
		[PUMICE_PAGE_SIZE_4K] = 0, [PUMICE_PAGE_SIZE_16K] = 2,
		[PUMICE_PAGE_SIZE_64K] = 4, [PUMICE_PAGE_SIZE_256K] = 6,
		[PUMICE_PAGE_SIZE_1M] = 8, [PUMICE_PAGE_SIZE_2M] = 9,
	};

	return orders[page_size];
}

/* Allocate a table for a pool; the device must be present. */
static struct table *mmu_table_alloc(struct pumice_device *pdev, const struct pumice_mmu_pool *pool)
{
	struct table *table = kzalloc(sizeof(*table), pool->gfp);

	if (!table)
		return NULL;
	table->entries = dma_alloc_coherent(pdev->drm.dev, ENTRIES * sizeof(u64), &table->dma,
					    pool->gfp);
	if (!table->entries) {
		kfree(table);
		return NULL;
	}
	INIT_LIST_HEAD(&table->node);
	table->usage = pool->usage;
	atomic_inc(table->usage);
	return table;
}

static void mmu_table_free(struct pumice_device *pdev, struct table *table)
{
	dma_free_coherent(pdev->drm.dev, ENTRIES * sizeof(u64), table->entries, table->dma);
	list_del(&table->node);
	atomic_dec(table->usage);
	kfree(table);
}

static void mmu_free_tables(struct pumice_device *pdev, struct list_head *list)
{
	struct table *table, *next;

	list_for_each_entry_safe(table, next, list, node)
		mmu_table_free(pdev, table);
}

/* Store an entry with one store: the GPU may read it at any time. */
static void mmu_set_entry(u64 *entry, u64 value)
{
	WRITE_ONCE(*entry, value);
}

static void mmu_mark_dirty(struct pumice_mmu *mmu, u64 va, u64 size)
{
	mmu->dirty.start = min(mmu->dirty.start, va);
	mmu->dirty.end = max(mmu->dirty.end, va + size - 1);
}

static void mmu_mark_clean(struct pumice_mmu *mmu)
{
	mmu->dirty.start = U64_MAX;
	mmu->dirty.end = 0;
}

/**
 * pumice_mmu_create - create an empty address space
 * @pdev: device
 *
 * Context: May sleep.
 *
 * Return: the address space, or an error pointer: -ENOMEM.
 */
struct pumice_mmu *pumice_mmu_create(struct pumice_device *pdev)
{
	struct pumice_mmu *mmu = kvzalloc(sizeof(*mmu), GFP_KERNEL_ACCOUNT);

	if (!mmu)
		return ERR_PTR(-ENOMEM);
	mmu->pdev = pdev;
	INIT_LIST_HEAD(&mmu->retired);
	mmu_mark_clean(mmu);
	mmu->catalogue = dma_alloc_coherent(pdev->drm.dev, CATALOGUE_BYTES, &mmu->catalogue_dma,
					    GFP_KERNEL_ACCOUNT);
	if (!mmu->catalogue) {
		kvfree(mmu);
		return ERR_PTR(-ENOMEM);
	}
	return mmu;
}

static void mmu_directory_free(struct pumice_mmu *mmu, struct directory *dir)
{
	u32 i;

	for (i = 0; i < ENTRIES; i++)
		if (dir->blocks[i])
			mmu_table_free(mmu->pdev, dir->blocks[i]);
	mmu_table_free(mmu->pdev, dir->table);
	kvfree(dir);
}

/**
 * pumice_mmu_release_memory - free all tables
 * @mmu: address space, which the GPU no longer uses
 *
 * Nothing may be mapped or unmapped afterwards.
 *
 * Context: May sleep.
 */
void pumice_mmu_release_memory(struct pumice_mmu *mmu)
{
	u32 i;

	if (!mmu->catalogue)
		return;
	for (i = 0; i < DIRS; i++) {
		if (mmu->dirs[i])
			mmu_directory_free(mmu, mmu->dirs[i]);
		mmu->dirs[i] = NULL;
	}
	mmu_free_tables(mmu->pdev, &mmu->retired);
	dma_free_coherent(mmu->pdev->drm.dev, CATALOGUE_BYTES, mmu->catalogue,
			  mmu->catalogue_dma);
	mmu->catalogue = NULL;
}

/**
 * pumice_mmu_destroy - destroy an address space that the GPU no longer uses
 * @mmu: address space, or NULL
 *
 * Context: May sleep.
 */
void pumice_mmu_destroy(struct pumice_mmu *mmu)
{
	if (!mmu)
		return;
	pumice_mmu_release_memory(mmu);
	kvfree(mmu);
}

/**
 * pumice_mmu_catalogue - return the address of the page catalogue
 * @mmu: address space, whose memory was not released
 *
 * Context: Any; the address is constant.
 *
 * Return: the bus address, as the GPU uses it.
 */
dma_addr_t pumice_mmu_catalogue(const struct pumice_mmu *mmu)
{
	return mmu->catalogue_dma;
}

/**
 * pumice_mmu_pool_init - initialize an empty pool
 * @pool: pool
 * @usage: counter of the tables of its address space; outlives them
 */
void pumice_mmu_pool_init(struct pumice_mmu_pool *pool, atomic_t *usage)
{
	*pool = (struct pumice_mmu_pool) { .gfp = TABLE_GFP, .usage = usage };
	INIT_LIST_HEAD(&pool->tables);
	INIT_LIST_HEAD(&pool->dirs);
}

static int mmu_fill_table(struct pumice_device *pdev, struct pumice_mmu_pool *pool)
{
	struct table *table = mmu_table_alloc(pdev, pool);

	if (!table)
		return -ENOMEM;
	list_add(&table->node, &pool->tables);
	pool->table_count++;
	return 0;
}

/* Fill the pool, which may take thousands of allocations, so a killed process stops it. */
static int mmu_fill_tables(struct pumice_device *pdev, struct pumice_mmu_pool *pool, u64 count)
{
	int ret = 0;

	while (!ret && pool->table_count < count) {
		ret = fatal_signal_pending(current) ? -EINTR : mmu_fill_table(pdev, pool);
		cond_resched();
	}
	return ret;
}

static int mmu_fill_dirs(struct pumice_mmu_pool *pool, u64 count)
{
	struct directory *dir;

	while (pool->dir_count < count) {
		dir = kvzalloc(sizeof(*dir), pool->gfp);
		if (!dir)
			return -ENOMEM;
		list_add(&dir->node, &pool->dirs);
		pool->dir_count++;
	}
	return 0;
}

/* Count the directories that a range overlaps. */
static u64 mmu_count_dirs(u64 va, u64 size)
{
	return ((va + size - 1) >> DIR_SHIFT) - (va >> DIR_SHIFT) + 1;
}

static u64 mmu_count_blocks(u64 va, u64 size)
{
	return ((va + size - 1) >> BLOCK_SHIFT) - (va >> BLOCK_SHIFT) + 1;
}

/*
 * Only the two blocks at the ends of an unmapped range can need a table: those
 * in between are removed completely.
 */
#define UNMAP_TABLES	2

/**
 * pumice_mmu_worst_tables - return the maximum number of tables that an operation may need
 * @va: GPU virtual address, 4 KiB aligned
 * @size: bytes, 4 KiB aligned, not 0; the range ends below 1 TiB
 * @map: true for a map, false for an unmap
 *
 * Context: Any.
 *
 * Return: the number of tables.
 */
u64 pumice_mmu_worst_tables(u64 va, u64 size, bool map)
{
	return map ? mmu_count_dirs(va, size) + mmu_count_blocks(va, size) : UNMAP_TABLES;
}

/**
 * pumice_mmu_pool_add_map - add tables that mapping a range may need
 * @pdev: device, between drm_dev_enter() and drm_dev_exit()
 * @pool: pool, with the tables of the preceding operations
 * @va: GPU virtual address, 4 KiB aligned
 * @size: bytes, 4 KiB aligned, not 0; the range ends below 1 TiB
 *
 * Sufficient for any state of the mappings.
 *
 * Context: May sleep, if the pool's gfp permits it.
 *
 * Return: 0, -ENOMEM, or -EINTR if the caller is killed.
 */
int pumice_mmu_pool_add_map(struct pumice_device *pdev, struct pumice_mmu_pool *pool, u64 va,
			    u64 size)
{
	u64 dirs = mmu_count_dirs(va, size) - (pool->kept == (va >> DIR_SHIFT) + 1);
	int ret = mmu_fill_dirs(pool, pool->dir_count + dirs);

	pool->kept = ((va + size - 1) >> DIR_SHIFT) + 1;
	return ret ?: mmu_fill_tables(pdev, pool,
				      pool->table_count + dirs + mmu_count_blocks(va, size));
}

/**
 * pumice_mmu_pool_add_unmap - add tables that unmapping one range may need
 * @pdev: device, between drm_dev_enter() and drm_dev_exit()
 * @pool: pool, with the tables of the preceding operations
 *
 * Context: May sleep, if the pool's gfp permits it.
 *
 * Return: 0, -ENOMEM, or -EINTR if the caller is killed.
 */
int pumice_mmu_pool_add_unmap(struct pumice_device *pdev, struct pumice_mmu_pool *pool)
{
	pool->kept = 0;
	return mmu_fill_tables(pdev, pool, pool->table_count + UNMAP_TABLES);
}

/**
 * pumice_mmu_pool_fill_map - fill a pool for mapping one range, see pumice_mmu_pool_add_map()
 * @pdev: device, between drm_dev_enter() and drm_dev_exit()
 * @pool: pool, for the next operation only
 * @va: GPU virtual address, 4 KiB aligned
 * @size: bytes, 4 KiB aligned, not 0; the range ends below 1 TiB
 *
 * Context: May sleep, if the pool's gfp permits it.
 *
 * Return: 0, -ENOMEM, or -EINTR if the caller is killed.
 */
int pumice_mmu_pool_fill_map(struct pumice_device *pdev, struct pumice_mmu_pool *pool, u64 va,
			     u64 size)
{
	u64 dirs = mmu_count_dirs(va, size);
	int ret = mmu_fill_dirs(pool, dirs);

	return ret ?: mmu_fill_tables(pdev, pool, dirs + mmu_count_blocks(va, size));
}

/**
 * pumice_mmu_pool_fill_unmap - fill a pool for one unmap, see pumice_mmu_pool_add_unmap()
 * @pdev: device, between drm_dev_enter() and drm_dev_exit()
 * @pool: pool, for the next operation only
 *
 * Context: May sleep, if the pool's gfp permits it.
 *
 * Return: 0 or -ENOMEM.
 */
int pumice_mmu_pool_fill_unmap(struct pumice_device *pdev, struct pumice_mmu_pool *pool)
{
	int ret = 0;

	/* Not interrupted by signals: this unmaps the kernel ranges of a killed process. */
	while (!ret && pool->table_count < UNMAP_TABLES)
		ret = mmu_fill_table(pdev, pool);
	return ret;
}

/**
 * pumice_mmu_pool_free - free unused tables
 * @pdev: device, still present
 * @pool: pool, empty afterwards
 *
 * Context: May sleep.
 */
void pumice_mmu_pool_free(struct pumice_device *pdev, struct pumice_mmu_pool *pool)
{
	struct directory *dir, *next;

	mmu_free_tables(pdev, &pool->tables);
	list_for_each_entry_safe(dir, next, &pool->dirs, node)
		kvfree(dir);
	pumice_mmu_pool_init(pool, pool->usage);
}

static struct table *mmu_pool_take(struct pumice_mmu_pool *pool)
{
	struct table *table = list_first_entry(&pool->tables, struct table, node);

	list_del_init(&table->node);
	pool->table_count--;
	return table;
}

static struct directory *mmu_pool_take_dir(struct pumice_mmu_pool *pool)
{
	struct directory *dir = list_first_entry(&pool->dirs, struct directory, node);

	list_del_init(&dir->node);
	pool->dir_count--;
	dir->table = mmu_pool_take(pool);
	return dir;
}

/* Return the directory of an address, created if necessary. */
static struct directory *mmu_directory_get(struct pumice_mmu *mmu, struct pumice_mmu_pool *pool,
					   u64 va)
{
	u32 index = va >> DIR_SHIFT;
	struct directory *dir = mmu->dirs[index];

	if (dir)
		return dir;
	dir = mmu_pool_take_dir(pool);
	mmu->dirs[index] = dir;
	dma_wmb(); /* clear the directory before the GPU can reach it */
	mmu_set_entry(&mmu->catalogue[index], PUMICE_MMU_PC_ENTRY__VALID__MASK |
		      (dir->table->dma & PUMICE_MMU_PC_ENTRY__ADDR__MASK));
	return dir;
}

/* Read the 512 leaves of a block; all zero if there is no table. */
static void mmu_block_expand(const struct table *table, u64 *leaves)
{
	u32 order, i;
	u64 entry;

	if (!table) {
		memset(leaves, 0, LEAVES * sizeof(*leaves));
		return;
	}
	order = mmu_page_order(table->page_size);
	for (i = 0; i < LEAVES; i++) {
		entry = table->entries[i >> order];
		if (entry)
			entry += (u64)(i & (BIT(order) - 1)) << LEAF_SHIFT;
		leaves[i] = entry;
	}
}

static bool mmu_leaves_fit_page(const u64 *leaves, u32 pages)
{
	u32 i;

	if (leaves[0] && !IS_ALIGNED((leaves[0] & LEAF_ADDR) >> LEAF_SHIFT, pages))
		return false;
	for (i = 1; i < pages; i++)
		if (leaves[i] != (leaves[0] ? leaves[0] + ((u64)i << LEAF_SHIFT) : 0))
			return false;
	return true;
}

/* Return the largest page size that fits all leaves of a block. */
static u32 mmu_block_page_size(const u64 *leaves)
{
	u32 size, pages, i;

	for (size = PUMICE_PAGE_SIZE_2M; size > PUMICE_PAGE_SIZE_4K; size--) {
		pages = BIT(mmu_page_order(size));
		for (i = 0; i < LEAVES; i += pages)
			if (!mmu_leaves_fit_page(leaves + i, pages))
				break;
		if (i == LEAVES)
			break;
	}
	return size;
}

static void mmu_table_fill(struct table *table, const u64 *leaves, u32 page_size)
{
	u32 order = mmu_page_order(page_size);
	u32 i;

	memset(table->entries, 0, ENTRIES * sizeof(u64));
	for (i = 0; i < LEAVES >> order; i++)
		mmu_set_entry(&table->entries[i], leaves[i << order]);
	table->page_size = page_size;
}

static void mmu_directory_drop(struct pumice_mmu *mmu, u32 index)
{
	struct directory *dir = mmu->dirs[index];

	mmu_set_entry(&mmu->catalogue[index], 0);
	list_add(&dir->table->node, &mmu->retired);
	mmu->dirs[index] = NULL;
	kvfree(dir);
}

/* Replace the table of a block by @table, or by none if NULL. */
static void mmu_block_replace(struct pumice_mmu *mmu, u64 va, struct table *table)
{
	struct directory *dir = mmu->dirs[va >> DIR_SHIFT];
	u32 index = (va >> BLOCK_SHIFT) % ENTRIES;
	struct table *old = dir->blocks[index];
	u64 entry = 0;

	if (table)
		entry = PUMICE_MMU_PD_ENTRY__VALID__MASK |
			PUMICE_FIELD_PREP(PUMICE_MMU_PD_ENTRY__PAGE_SIZE, table->page_size) |
			(table->dma & PUMICE_MMU_PD_ENTRY__ADDR__MASK);
	dma_wmb(); /* fill the table before the GPU can reach it */
	mmu_set_entry(&dir->table->entries[index], entry);
	dir->blocks[index] = table;
	dir->live += !!table - !!old;
	if (old) {
		list_add(&old->node, &mmu->retired);
		mmu_mark_dirty(mmu, ALIGN_DOWN(va, BLOCK_BYTES), BLOCK_BYTES);
	}
	if (!dir->live)
		mmu_directory_drop(mmu, va >> DIR_SHIFT);
}

/* Change entries in place, with the same page size. */
static void mmu_block_rewrite(struct pumice_mmu *mmu, u64 va, struct table *table,
			      const u64 *leaves)
{
	u32 order = mmu_page_order(table->page_size);
	u64 block = ALIGN_DOWN(va, BLOCK_BYTES);
	u64 old;
	u32 i;

	for (i = 0; i < LEAVES >> order; i++) {
		old = table->entries[i];
		if (old == leaves[i << order])
			continue;
		mmu_set_entry(&table->entries[i], leaves[i << order]);
		if (old)
			mmu_mark_dirty(mmu, block + ((u64)i << order << LEAF_SHIFT),
				       LEAF_BYTES << order);
	}
}

/* Change the leaves of a block whose page size is the driver's choice. */
static void mmu_block_rebuild(struct pumice_mmu *mmu, struct pumice_mmu_pool *pool, u64 va,
			      u64 size, struct table *table, const u64 *leaves)
{
	u32 first = (va >> LEAF_SHIFT) % LEAVES;
	u32 count = size >> LEAF_SHIFT;
	struct table *new;
	u32 page_size;

	mmu_block_expand(table, mmu->leaves);
	if (leaves)
		memcpy(mmu->leaves + first, leaves, count * sizeof(*leaves));
	else
		memset(mmu->leaves + first, 0, count * sizeof(*leaves));
	if (!memchr_inv(mmu->leaves, 0, sizeof(mmu->leaves))) {
		mmu_block_replace(mmu, va, NULL);
		return;
	}
	page_size = mmu_block_page_size(mmu->leaves);
	if (table && table->page_size == page_size) {
		mmu_block_rewrite(mmu, va, table, mmu->leaves);
		return;
	}
	new = mmu_pool_take(pool);
	mmu_table_fill(new, mmu->leaves, page_size);
	mmu_block_replace(mmu, va, new);
}

/* Change entries of a table, from @va on; leaves == NULL clears them. */
static void mmu_table_patch(struct pumice_mmu *mmu, struct table *table, u64 va, u32 count,
			    const u64 *leaves)
{
	u32 order = mmu_page_order(table->page_size);
	u64 *entry = &table->entries[((va >> LEAF_SHIFT) % LEAVES) >> order];
	u64 bytes = LEAF_BYTES << order;
	u64 old, new;
	u32 i;

	for (i = 0; i < count; i++, entry++, va += bytes) {
		old = *entry;
		new = leaves ? leaves[i << order] : 0;
		if (old == new)
			continue;
		mmu_set_entry(entry, new);
		table->live += !!new - !!old;
		if (old)
			mmu_mark_dirty(mmu, va, bytes);
	}
}

/* Count the valid entries of a table from @va on. */
static u32 mmu_table_count(const struct table *table, u64 va, u32 count)
{
	u32 first = ((va >> LEAF_SHIFT) % LEAVES) >> mmu_page_order(table->page_size);
	u32 valid = 0, i;

	for (i = 0; i < count; i++)
		valid += !!table->entries[first + i];
	return valid;
}

/* Change whole pages of a block whose heap has given it its page size. */
static void mmu_block_patch(struct pumice_mmu *mmu, struct pumice_mmu_pool *pool, u64 va, u64 size,
			    struct table *table, const u64 *leaves, u32 page_size)
{
	u32 count = size >> LEAF_SHIFT >> mmu_page_order(page_size);

	if (!leaves && mmu_table_count(table, va, count) == table->live) {
		mmu_block_replace(mmu, va, NULL);
	} else if (table) {
		mmu_table_patch(mmu, table, va, count, leaves);
	} else {
		table = mmu_pool_take(pool);
		table->page_size = page_size;
		mmu_table_patch(mmu, table, va, count, leaves);
		mmu_block_replace(mmu, va, table);
	}
}

/*
 * Replace the leaves of [va, va + size), which is inside one block; leaves == NULL
 * unmaps. Uses at most one table of the pool, and a directory if there is none.
 */
static void mmu_block_update(struct pumice_mmu *mmu, struct pumice_mmu_pool *pool, u64 va, u64 size,
			     const u64 *leaves)
{
	struct directory *dir = leaves ? mmu_directory_get(mmu, pool, va) :
					 mmu->dirs[va >> DIR_SHIFT];
	struct table *table = dir ? dir->blocks[(va >> BLOCK_SHIFT) % ENTRIES] : NULL;
	u32 page_size = pumice_heap_page_size(mmu->pdev, va);

	if (!table && !leaves)
		return;
	if (page_size == PUMICE_PAGE_SIZE_COUNT)
		mmu_block_rebuild(mmu, pool, va, size, table, leaves);
	else
		mmu_block_patch(mmu, pool, va, size, table, leaves, page_size);
}

static u64 mmu_leaf_attributes(u32 flags)
{
	u64 leaf = LEAF_VALID;

	if (flags & PUMICE_MMU_READONLY)
		leaf |= PUMICE_MMU_PT_ENTRY__READ_ONLY__MASK;
	if (flags & PUMICE_MMU_NOEXEC)
		leaf |= PUMICE_MMU_PT_ENTRY__NO_EXEC__MASK;
	if (flags & PUMICE_MMU_NULL)
		leaf |= PUMICE_MMU_PT_ENTRY__NULL__MASK;
	if (flags & PUMICE_MMU_PM_OWNED)
		leaf |= PUMICE_MMU_PT_ENTRY__PM_OWNED__MASK;
	if (flags & PUMICE_MMU_COHERENT)
		leaf |= PUMICE_MMU_PT_ENTRY__COHERENT__MASK;
	return leaf;
}

static u64 mmu_bytes_in_block(u64 va, u64 size)
{
	return min(size, BLOCK_BYTES - (va & (BLOCK_BYTES - 1)));
}

/* Return the pages of an element of a scatter list, as for_each_sgtable_dma_page() has them. */
static u64 mmu_sg_pages(struct scatterlist *sg)
{
	return PAGE_ALIGN(sg->offset + sg_dma_len(sg)) >> PAGE_SHIFT;
}

/* Return the bus address of a page of a buffer; later pages are found from there. */
static dma_addr_t mmu_pages_addr(struct pumice_mmu_pages *pages, u64 page)
{
	if (!pages->sg || page < pages->first) {
		pages->sg = pages->sgt->sgl;
		pages->first = 0;
	}
	while (page >= pages->first + mmu_sg_pages(pages->sg)) {
		pages->first += mmu_sg_pages(pages->sg);
		pages->sg = sg_next(pages->sg);
	}
	return sg_dma_address(pages->sg) + ((page - pages->first) << PAGE_SHIFT);
}

/**
 * pumice_mmu_map_pages - map pages of a buffer, replacing existing mappings
 * @mmu: address space
 * @pool: has the tables that mapping this range may need
 * @va: GPU virtual address, 4 KiB aligned
 * @size: bytes, 4 KiB aligned; the buffer has at least as many from @offset on
 * @pages: pages of the buffer; remembers the last one
 * @offset: first byte in the buffer, 4 KiB aligned
 * @flags: PUMICE_MMU_*
 */
void pumice_mmu_map_pages(struct pumice_mmu *mmu, struct pumice_mmu_pool *pool, u64 va, u64 size,
			  struct pumice_mmu_pages *pages, u64 offset, u32 flags)
{
	u64 attributes = mmu_leaf_attributes(flags);
	u64 page = offset >> PAGE_SHIFT;
	u64 chunk;
	u32 i;

	for (; size; va += chunk, size -= chunk) {
		chunk = mmu_bytes_in_block(va, size);
		for (i = 0; i < chunk >> LEAF_SHIFT; i++)
			mmu->mapping[i] = mmu_pages_addr(pages, page++) | attributes;
		mmu_block_update(mmu, pool, va, chunk, mmu->mapping);
	}
}

/**
 * pumice_mmu_map_contiguous - map contiguous memory, replacing existing mappings
 * @mmu: address space
 * @pool: has the tables that mapping this range may need
 * @va: GPU virtual address, 4 KiB aligned
 * @size: bytes, 4 KiB aligned
 * @addr: bus address, 4 KiB aligned
 * @flags: PUMICE_MMU_*
 */
void pumice_mmu_map_contiguous(struct pumice_mmu *mmu, struct pumice_mmu_pool *pool, u64 va,
			       u64 size, dma_addr_t addr, u32 flags)
{
	u64 attributes = mmu_leaf_attributes(flags);
	u64 chunk;
	u32 i;

	for (; size; va += chunk, addr += chunk, size -= chunk) {
		chunk = mmu_bytes_in_block(va, size);
		for (i = 0; i < chunk >> LEAF_SHIFT; i++)
			mmu->mapping[i] = (addr + ((u64)i << LEAF_SHIFT)) | attributes;
		mmu_block_update(mmu, pool, va, chunk, mmu->mapping);
	}
}

/**
 * pumice_mmu_unmap - unmap a range, which may contain holes
 * @mmu: address space
 * @pool: has the tables that an unmap may need
 * @va: GPU virtual address, 4 KiB aligned
 * @size: bytes, 4 KiB aligned
 */
void pumice_mmu_unmap(struct pumice_mmu *mmu, struct pumice_mmu_pool *pool, u64 va, u64 size)
{
	u64 chunk;

	for (; size; va += chunk, size -= chunk) {
		if (mmu->dirs[va >> DIR_SHIFT]) {
			chunk = mmu_bytes_in_block(va, size);
			mmu_block_update(mmu, pool, va, chunk, NULL);
		} else {
			chunk = min(size, BIT_ULL(DIR_SHIFT) - (va & (BIT_ULL(DIR_SHIFT) - 1)));
		}
	}
}

/**
 * pumice_mmu_mark_mapped - let the next flush invalidate a range that was mapped
 * @mmu: address space
 * @va: GPU virtual address, 4 KiB aligned
 * @size: bytes, 4 KiB aligned
 *
 * TLBs have no entries that are not valid, but the GPU's caches have lines of the tables. If jobs
 * do not drop these when they start, the invalidation must.
 */
void pumice_mmu_mark_mapped(struct pumice_mmu *mmu, u64 va, u64 size)
{
	mmu_mark_dirty(mmu, va, size);
}

/**
 * pumice_mmu_set_directory - set the directory of 1 GiB to one that the GPU keeps
 * @mmu: address space; the driver has mapped nothing in this GiB
 * @va: GPU virtual address, 1 GiB aligned
 * @dma: bus address of the directory, or 0 to remove it
 *
 * The caller keeps the memory, and after a removal invalidates the TLBs before it frees that.
 */
void pumice_mmu_set_directory(struct pumice_mmu *mmu, u64 va, dma_addr_t dma)
{
	u64 entry = dma ? PUMICE_MMU_PC_ENTRY__VALID__MASK |
			  (dma & PUMICE_MMU_PC_ENTRY__ADDR__MASK) : 0;

	if (!mmu->catalogue || WARN_ON(mmu->dirs[va >> DIR_SHIFT]))
		return;
	dma_wmb(); /* clear the directory before the GPU can reach it */
	mmu_set_entry(&mmu->catalogue[va >> DIR_SHIFT], entry);
	if (!dma)
		mmu_mark_dirty(mmu, va, BIT_ULL(DIR_SHIFT));
}

static struct pumice_mmu_step mmu_read_step(const u64 *entries, dma_addr_t dma, u32 index)
{
	return (struct pumice_mmu_step) {
		.table = dma,
		.entry = READ_ONCE(entries[index]),
		.index = index,
	};
}

/* Continue a walk in the tables of a GiB that the GPU keeps, whose pages are of 4 KiB. */
static u32 mmu_walk_foreign(u64 va, struct pumice_mmu_step *steps,
			    const struct pumice_mmu_reader *reader)
{
	u64 table = steps[0].entry & PUMICE_MMU_PC_ENTRY__ADDR__MASK;
	const u64 *entries;

	if (!(steps[0].entry & PUMICE_MMU_PC_ENTRY__VALID__MASK))
		return 1;
	entries = reader->read(reader->vm, va, table);
	if (!entries)
		return 1;
	steps[1] = mmu_read_step(entries, table, va >> BLOCK_SHIFT & (ENTRIES - 1));
	table = steps[1].entry & PUMICE_MMU_PD_ENTRY__ADDR__MASK;
	if (!(steps[1].entry & PUMICE_MMU_PD_ENTRY__VALID__MASK))
		return 2;
	entries = reader->read(reader->vm, va, table);
	if (!entries)
		return 2;
	steps[2] = mmu_read_step(entries, table, va >> LEAF_SHIFT & (LEAVES - 1));
	return 3;
}

/**
 * pumice_mmu_walk - read the entries that the GPU reads for an address
 * @mmu: address space, with its memory
 * @va: GPU virtual address below 1 TiB
 * @steps: array of PUMICE_MMU_LEVELS elements
 * @reader: access to the tables that the GPU keeps
 *
 * Return: number of levels; a walk ends at the first missing table.
 */
u32 pumice_mmu_walk(const struct pumice_mmu *mmu, u64 va, struct pumice_mmu_step *steps,
		    const struct pumice_mmu_reader *reader)
{
	const struct directory *dir = mmu->dirs[va >> DIR_SHIFT];
	const u32 block = va >> BLOCK_SHIFT & (ENTRIES - 1);
	const u32 leaf = va >> LEAF_SHIFT & (LEAVES - 1);
	const struct table *table;

	steps[0] = mmu_read_step(mmu->catalogue, mmu->catalogue_dma, va >> DIR_SHIFT);
	if (!dir)
		return mmu_walk_foreign(va, steps, reader);
	steps[1] = mmu_read_step(dir->table->entries, dir->table->dma, block);
	table = dir->blocks[block];
	if (!table)
		return 2;
	steps[2] = mmu_read_step(table->entries, table->dma,
				 leaf >> mmu_page_order(table->page_size));
	return 3;
}

/**
 * pumice_mmu_count_blocks - count the blocks of 2 MiB for each page size
 * @mmu: address space
 * @blocks: out: PUMICE_PAGE_SIZE_COUNT numbers, by enum pumice_page_size
 */
void pumice_mmu_count_blocks(const struct pumice_mmu *mmu, u32 *blocks)
{
	const struct directory *dir;
	u32 i, block;

	memset(blocks, 0, PUMICE_PAGE_SIZE_COUNT * sizeof(*blocks));
	for (i = 0; i < DIRS; i++) {
		dir = mmu->dirs[i];
		for (block = 0; dir && block < ENTRIES; block++)
			if (dir->blocks[block])
				blocks[dir->blocks[block]->page_size]++;
	}
}

/**
 * pumice_mmu_dirty - return the range that an invalidation must cover
 * @mmu: address space
 * @dirty: out: the range
 *
 * Return: false if TLBs cannot hold stale entries.
 */
bool pumice_mmu_dirty(const struct pumice_mmu *mmu, struct pumice_mmu_dirty *dirty)
{
	*dirty = mmu->dirty;
	return dirty->start <= dirty->end;
}

/**
 * pumice_mmu_flushed - note that the TLBs were invalidated after all previous changes
 * @mmu: address space
 */
void pumice_mmu_flushed(struct pumice_mmu *mmu)
{
	mmu_free_tables(mmu->pdev, &mmu->retired);
	mmu_mark_clean(mmu);
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_mmu_test.c"
#endif
