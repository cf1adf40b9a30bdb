// SPDX-License-Identifier: MIT
/*
 * Free lists whose pages the MMU maps on behalf of the PM.
 *
 * Source: document 000, "Memory Hierarchy": for memory that the PM allocates, the MMU keeps the
 * translation tables in place of software; hw/formats.xml, free_list.frames. The driver
 * reserves 1 GiB of addresses for such a list and sets the entry of its page catalogue to page
 * 0 of the list, once. All tables below are pages of the list:
 *
 *	page 0			the page directory
 *	page 1			page table of the first 2 MiB
 *	page 512 n, n > 0	page table of the n-th 2 MiB after these
 *
 * These pages have no data, and are never in a chain. A page is mapped when it is allocated from
 * the list, and unmapped when it is freed. A page table is in the directory while one of its
 * pages is mapped.
 *
 * Bus addresses are read from the list's table of frames, and used for accesses of the GPU like
 * any entry of a page table. Those of directory and page tables are kept while they are in use.
 */
#include <stdlib.h>

#include "internal.h"

#define BLOCK_PAGES	(1u << (MMU_BLOCK_SHIFT - MMU_GRAIN_SHIFT))	/* of a page table */
#define BLOCK_WORDS	(BLOCK_PAGES / 64)	/* of pm_shadow.allocated */
#define FRAME_WORDS	2u

/* Page table of 2 MiB of a list's addresses. */
struct block {
	u64 table;		/* bus address; valid if it is live */
	bool live;		/* in the directory; PM lock */
	_Atomic u32 mapped;	/* pages; a DPM decreases it without the PM lock */
};

struct pm_tables {
	u64 directory;		/* bus address */
	u32 blocks;
	struct block block[];
};

u32 pm_tables_below(const struct pumice_free_list *list, u32 page)
{
	if (!list->frames)
		return 0;
	return page <= BLOCK_PAGES ? (page < 2 ? page : 2) : 2 + (page - 1) / BLOCK_PAGES;
}

u32 pm_tables_page(u32 n)
{
	return n < 2 ? n : (n - 1) * BLOCK_PAGES;
}

/* Return the page that is the page table of a block. */
static u32 table_page(u32 block)
{
	return pm_tables_page(block + 1);
}

bool pm_tables_has(const struct pumice_free_list *list, u32 page)
{
	return list->frames && (page < 2 || !(page % BLOCK_PAGES));
}

/* Return the virtual GPU that a list belongs to; it has an active one, as it was read. */
static unsigned int pm_list_os(const struct pm *pm, const struct pm_shadow *s)
{
	return (unsigned int)mmu_part(pm->config.mmu, s->addr);
}

/* Read the bus address of a page. */
static bool read_frame(struct pm *pm, const struct pm_shadow *s, u32 page, u64 *addr,
		       struct gpu_fault *fault)
{
	u32 words[FRAME_WORDS];

	if (!pm_read_words(pm, s->list.frames + (u64)page * sizeof(words), words, FRAME_WORDS,
			   fault))
		return false;
	*addr = words[0] | (u64)words[1] << 32;
	/* 0 is an address that the host has not written. */
	if (!*addr || *addr & (PUMICE_PM_PAGE_SIZE - 1) || *addr & ~PUMICE_MMU_PT_ENTRY__ADDR__MASK)
		return pm_fault(fault, PUMICE_FAULT_PM_FREE_LIST, s->addr);
	return true;
}

/* A table is not memory that the GPU can write. */
static bool bus_fault(const struct pm_shadow *s, struct gpu_fault *fault)
{
	return pm_fault(fault, PUMICE_FAULT_MMU_TABLE_BUS, s->addr);
}

bool pm_tables_open(struct pm *pm, struct pm_shadow *s, struct gpu_fault *fault)
{
	const u32 blocks = (s->list.max_pages + BLOCK_PAGES - 1) / BLOCK_PAGES;

	if (!s->list.frames)
		return true;
	s->tables = calloc(1, sizeof(*s->tables) + blocks * sizeof(*s->tables->block));
	if (!s->tables)
		return pm_fault(fault, PUMICE_FAULT_PM_FREE_LIST, s->addr);
	s->tables->blocks = blocks;
	if (!read_frame(pm, s, 0, &s->tables->directory, fault))
		return false;
	if (s->list.fresh)
		return true;
	if (!mmu_owned_clear(pm->config.mmu, pm_list_os(pm, s), s->tables->directory))
		return bus_fault(s, fault);
	s->list.fresh = 1;
	s->list.free = s->list.pages - pm_tables_below(&s->list, s->list.pages);
	return pm_list_close(pm, s, fault);
}

bool pm_tables_count(struct pm *pm, struct pm_shadow *s, struct gpu_fault *fault)
{
	const u32 words = (s->list.max_pages + 63) / 64;
	u32 b, i;

	for (b = 0; s->tables && b * BLOCK_PAGES < s->list.fresh; b++) {
		struct block *block = &s->tables->block[b];

		for (i = b * BLOCK_WORDS; i < (b + 1) * BLOCK_WORDS && i < words; i++)
			block->mapped += (u32)__builtin_popcountll(s->allocated[i]);
		block->live = block->mapped;
		if (block->live && !read_frame(pm, s, table_page(b), &block->table, fault))
			return false;
	}
	return true;
}

/* Return where a page is mapped. */
static struct mmu_owned place_of(const struct pm *pm, const struct pm_shadow *s, u32 page)
{
	return (struct mmu_owned){
		.os = pm_list_os(pm, s),
		.va = s->base + (u64)page * PUMICE_PM_PAGE_SIZE,
		.directory = s->tables->directory,
		.table = s->tables->block[page / BLOCK_PAGES].table,
	};
}

bool pm_tables_map(struct pm *pm, struct pm_shadow *s, u32 page, struct gpu_fault *fault)
{
	struct mmu_owned place;
	struct block *block;
	u64 frame;

	if (!s->tables)
		return true;
	block = &s->tables->block[page / BLOCK_PAGES];
	if (!read_frame(pm, s, page, &frame, fault))
		return false;
	if (!block->live &&
	    !read_frame(pm, s, table_page(page / BLOCK_PAGES), &block->table, fault))
		return false;
	if (owner_is_on(pm->config.owner))
		owner_map(pm->config.owner, s->addr, page, frame);
	place = place_of(pm, s, page);
	if (!mmu_owned_map(pm->config.mmu, &place, frame, !block->live))
		return bus_fault(s, fault);
	block->live = true;
	atomic_fetch_add_explicit(&block->mapped, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&pm->mapped, 1, memory_order_relaxed);
	return true;
}

void pm_tables_unmap(struct pm *pm, struct pm_shadow *s, u32 page)
{
	struct mmu_owned place;

	if (!s->tables)
		return;
	place = place_of(pm, s, page);
	mmu_owned_unmap(pm->config.mmu, &place);
	/* The entry is cleared before a thread that reads 0 removes the table. */
	atomic_fetch_sub_explicit(&s->tables->block[page / BLOCK_PAGES].mapped, 1,
				  memory_order_release);
}

/* Remove page tables without a page from the directory. */
static void trim(struct pm *pm, struct pm_shadow *s)
{
	u32 b;

	for (b = 0; b < s->tables->blocks; b++) {
		struct block *block = &s->tables->block[b];
		const struct mmu_owned place = place_of(pm, s, b * BLOCK_PAGES);

		if (!block->live || atomic_load_explicit(&block->mapped, memory_order_acquire))
			continue;
		mmu_owned_drop_table(pm->config.mmu, &place);
		block->live = false;
	}
}

void pm_tables_flush(struct pm *pm, struct pm_shadow *s, unsigned int ctx, u32 first, u32 last)
{
	const u64 start = s->base + (u64)first * PUMICE_PM_PAGE_SIZE;
	const u64 end = s->base + (u64)last * PUMICE_PM_PAGE_SIZE;
	unsigned int i;

	if (!s->tables || first > last)
		return;
	trim(pm, s);
	for (i = ctx ? ctx : 1; i < (ctx ? ctx + 1 : PUMICE_MMU_CONTEXTS); i++)
		mmu_invalidate_range(pm->config.mmu, i, start, end);
}

u64 pm_mapped(const struct pm *pm)
{
	return atomic_load_explicit(&pm->mapped, memory_order_relaxed);
}
