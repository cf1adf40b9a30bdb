// SPDX-License-Identifier: MIT
/*
 * In-process backend: translation tables (hw/formats.xml; document 000, "Memory
 * Hierarchy").
 *
 * All entries of a 2 MiB block have one page size, given by its directory
 * entry: that of the block's heap (hw/heaps.h), which the range registers
 * assign. Changes affect whole pages, and memory is aligned to its size, up
 * to 2 MiB. A change builds a new table for each affected block, and
 * replaces the directory entry with one store: a running job sees the old
 * or the new state of changed mappings, and no gap in unchanged ones.
 */
#include <errno.h>
#include <stdlib.h>

#include "inproc.h"
#include "pumice_formats.h"

#define CATALOGUE_BYTES	8192u
#define CATALOGUE_ENTRIES VA_GIBS
#define TABLE_ENTRIES	512u
#define PC_SHIFT	30
#define PD_SHIFT	21

static const u64 page_bytes[PUMICE_PAGE_SIZE_COUNT] = {
	[PUMICE_PAGE_SIZE_4K] = 4u << 10,
	[PUMICE_PAGE_SIZE_16K] = 16u << 10,
	[PUMICE_PAGE_SIZE_64K] = 64u << 10,
	[PUMICE_PAGE_SIZE_256K] = 256u << 10,
	[PUMICE_PAGE_SIZE_1M] = 1u << 20,
	[PUMICE_PAGE_SIZE_2M] = 2u << 20,
};

struct heap {
	u64 start, size;
	enum pumice_page_size page_size;
};

#define HEAP(page, first, gib) { (u64)(first) << 30, (u64)(gib) << 30, PUMICE_PAGE_SIZE_##page },

static const struct heap heaps[] = { PUMICE_HEAPS(HEAP) };

#define HEAPS	(sizeof(heaps) / sizeof(heaps[0]))

_Static_assert(HEAPS < PUMICE_MAX_HEAPS, "limits describe all heaps");

/* Get the page size that the range registers assign to an address. */
static u32 heap_page_size(u64 va)
{
	u32 i;

	for (i = 0; i < HEAPS; i++)
		if (va >= heaps[i].start && va - heaps[i].start < heaps[i].size)
			return heaps[i].page_size;
	return PUMICE_PAGE_SIZE_4K;
}

u32 tables_heaps(struct pumice_heap *out)
{
	u32 i;

	for (i = 0; i < HEAPS; i++)
		out[i] = (struct pumice_heap){
			heaps[i].start, heaps[i].size, page_bytes[heaps[i].page_size],
		};
	return HEAPS;
}

void tables_program_ranges(struct inproc_device *d)
{
	u64 start, end;
	u32 i;

	for (i = 0; i < HEAPS; i++) {
		start = heaps[i].start |
			PUMICE_FIELD_PREP(PUMICE_MMU_RANGE_START__SIZE, heaps[i].page_size);
		end = PUMICE_MMU_RANGE_END__ENABLE__MASK |
		      (heaps[i].start + heaps[i].size - BLOCK_BYTES);
		pumice_gpu_mmio_write(d->gpu, 0, PUMICE_MMU_RANGE_START(i), start, 8);
		pumice_gpu_mmio_write(d->gpu, 0, PUMICE_MMU_RANGE_END(i), end, 8);
	}
	pumice_gpu_mmio_write(d->gpu, 0, PUMICE_MMU_PAGE_SIZES,
			      PUMICE_FIELD_PREP(PUMICE_MMU_PAGE_SIZES__MODE,
						PUMICE_MMU_PAGE_SIZES_RANGE), 4);
}

/* The part of a mapping within one block. */
struct part {
	u64 va, size, bus;
};

static u64 read_entry(const u64 *entry)
{
	return __atomic_load_n(entry, __ATOMIC_RELAXED);
}

static void write_entry(u64 *entry, u64 value)
{
	__atomic_store_n(entry, value, __ATOMIC_RELEASE);
}

int tables_init(struct inproc_device *d, struct tables *t)
{
	return ram_alloc(d, CATALOGUE_BYTES, CATALOGUE_BYTES, &t->catalogue);
}

/* Free the tables that the entries of a directory point to. */
static void free_directory(struct inproc_device *d, u64 bus)
{
	const u64 *entries = ram_cpu(d, bus);
	struct pumice_mmu_pd_entry pd;
	u32 i;

	for (i = 0; i < TABLE_ENTRIES; i++) {
		pumice_mmu_pd_entry_unpack64(entries[i], &pd);
		if (pd.valid)
			ram_free(d, pd.addr, PAGE_BYTES);
	}
	ram_free(d, bus, PAGE_BYTES);
}

void tables_fini(struct inproc_device *d, struct tables *t)
{
	const u64 *entries;
	struct pumice_mmu_pc_entry pc;
	u32 i;

	if (!t->catalogue)
		return;
	entries = ram_cpu(d, t->catalogue);
	for (i = 0; i < CATALOGUE_ENTRIES; i++) {
		pumice_mmu_pc_entry_unpack64(entries[i], &pc);
		if (pc.valid && !(t->foreign[i / 64] >> (i % 64) & 1))
			free_directory(d, pc.addr);
	}
	ram_free(d, t->catalogue, CATALOGUE_BYTES);
	t->catalogue = 0;
}

u64 tables_lend_gib(struct inproc_device *d, struct tables *t, u64 va, u64 bus)
{
	const struct pumice_mmu_pc_entry lent = { .valid = true, .addr = bus };
	u64 *entry = (u64 *)ram_cpu(d, t->catalogue) + (va >> PC_SHIFT);
	struct pumice_mmu_pc_entry own;

	pumice_mmu_pc_entry_unpack64(read_entry(entry), &own);
	t->foreign[(va >> PC_SHIFT) / 64] |= 1ull << (va >> PC_SHIFT) % 64;
	write_entry(entry, pumice_mmu_pc_entry_pack64(&lent));
	return own.valid ? own.addr : 0;
}

void tables_return_gib(struct inproc_device *d, struct tables *t, u64 va, u64 own)
{
	const struct pumice_mmu_pc_entry pc = { .valid = own != 0, .addr = own };

	t->foreign[(va >> PC_SHIFT) / 64] &= ~(1ull << (va >> PC_SHIFT) % 64);
	write_entry((u64 *)ram_cpu(d, t->catalogue) + (va >> PC_SHIFT),
		    pumice_mmu_pc_entry_pack64(&pc));
}

/* Get the directory of an address, or NULL. */
static u64 *find_directory(struct inproc_device *d, const struct tables *t, u64 va)
{
	const u64 *entries = ram_cpu(d, t->catalogue);
	struct pumice_mmu_pc_entry pc;

	pumice_mmu_pc_entry_unpack64(read_entry(&entries[va >> PC_SHIFT]), &pc);
	return pc.valid ? ram_cpu(d, pc.addr) : NULL;
}

static u64 *directory_entry(u64 *directory, u64 va)
{
	return &directory[va >> PD_SHIFT & (TABLE_ENTRIES - 1)];
}

static u64 next_directory(u64 va)
{
	return ((va >> PC_SHIFT) + 1) << PC_SHIFT;
}

/* Count the blocks of a range that have a table. */
static u32 count_tables(struct inproc_device *d, const struct tables *t, u64 va, u64 end)
{
	struct pumice_mmu_pd_entry pd;
	u32 count = 0;
	u64 *dir;

	va &= ~(BLOCK_BYTES - 1);
	while (va < end) {
		dir = find_directory(d, t, va);
		if (!dir) {
			va = next_directory(va);
			continue;
		}
		pumice_mmu_pd_entry_unpack64(read_entry(directory_entry(dir, va)), &pd);
		count += pd.valid;
		va += BLOCK_BYTES;
	}
	return count;
}

int tables_reserve(struct inproc_device *d, struct tables *t, u64 va, u64 size, bool map,
		   struct table_change *c)
{
	u64 blocks = ((va + size - 1) >> PD_SHIFT) - (va >> PD_SHIFT) + 1;
	u64 directories = ((va + size - 1) >> PC_SHIFT) - (va >> PC_SHIFT) + 1;
	u64 need = map ? blocks + directories : blocks < 2 ? blocks : 2;

	c->fresh_count = 0;
	c->old_count = 0;
	c->fresh = calloc(need, sizeof(*c->fresh));
	c->old = calloc(count_tables(d, t, va, va + size) + 1, sizeof(*c->old));
	if (!c->fresh || !c->old)
		goto no_memory;
	for (; need; need--, c->fresh_count++)
		if (ram_alloc(d, PAGE_BYTES, PAGE_BYTES, &c->fresh[c->fresh_count]))
			goto no_memory;
	return 0;

no_memory:
	tables_release(d, c);
	return -ENOMEM;
}

void tables_release(struct inproc_device *d, struct table_change *c)
{
	while (c->fresh_count)
		ram_free(d, c->fresh[--c->fresh_count], PAGE_BYTES);
	while (c->old_count)
		ram_free(d, c->old[--c->old_count], PAGE_BYTES);
	free(c->fresh);
	free(c->old);
}

static u64 use_page(struct table_change *c)
{
	return c->fresh[--c->fresh_count];
}

/* Get the part of @m inside the block at @block; false if there is none. */
static bool clip(const struct mapping *m, u64 block, struct part *part)
{
	u64 start = m->va > block ? m->va : block;
	u64 end = m->va + m->size < block + BLOCK_BYTES ? m->va + m->size : block + BLOCK_BYTES;

	if (start >= end)
		return false;
	*part = (struct part){ start, end - start, m->bus + (start - m->va) };
	return true;
}

static void fill_part(u64 *table, u64 block, const struct part *part, u32 flags, u64 step)
{
	struct pumice_mmu_pt_entry pt = {
		.valid = true,
		.read_only = flags & PUMICE_BIND_READONLY,
		.no_exec = flags & PUMICE_BIND_NOEXEC,
		.pm_owned = flags & BIND_PM_OWNED,
		.null = flags & PUMICE_BIND_NULL,
		.coherent = flags & BIND_COHERENT,
	};
	u64 at;

	for (at = 0; at < part->size; at += step) {
		pt.addr = part->bus + at;
		table[(part->va + at - block) / step] = pumice_mmu_pt_entry_pack64(&pt);
	}
}

static u32 table_page_size(const struct inproc_device *d, u64 block)
{
	const u32 size = heap_page_size(block);

	if (d->omitted & INPROC_OMIT_PAGE_SIZE)
		return size == PUMICE_PAGE_SIZE_16K ? PUMICE_PAGE_SIZE_4K : PUMICE_PAGE_SIZE_16K;
	return size;
}

/* Build a new table for a block. Return: its directory entry, 0 when nothing is mapped. */
static u64 build_block(struct inproc_device *d, const struct mapping *mappings, u64 block,
		       struct table_change *c)
{
	struct pumice_mmu_pd_entry pd = { .valid = true };
	const struct mapping *m;
	struct part part;

	for (m = mappings; m && m->va < block + BLOCK_BYTES; m = m->next) {
		if (!clip(m, block, &part))
			continue;
		if (!pd.addr) {
			pd.page_size = table_page_size(d, block);
			pd.addr = use_page(c);
		}
		fill_part(ram_cpu(d, pd.addr), block, &part, m->flags,
			  page_bytes[pd.page_size]);
	}
	return pd.addr ? pumice_mmu_pd_entry_pack64(&pd) : 0;
}

/* Get the directory of an address; created if there is none. */
static u64 *make_directory(struct inproc_device *d, struct tables *t, u64 va,
			   struct table_change *c)
{
	u64 *entry = (u64 *)ram_cpu(d, t->catalogue) + (va >> PC_SHIFT);
	struct pumice_mmu_pc_entry pc = { .valid = true };
	u64 *dir = find_directory(d, t, va);

	if (dir)
		return dir;
	pc.addr = use_page(c);
	write_entry(entry, pumice_mmu_pc_entry_pack64(&pc));
	return ram_cpu(d, pc.addr);
}

/* Rebuild one block. */
static void update_block(struct inproc_device *d, struct tables *t, const struct mapping *mappings,
			 u64 block, struct table_change *c)
{
	u64 fresh = build_block(d, mappings, block, c);
	u64 *dir = fresh ? make_directory(d, t, block, c) : find_directory(d, t, block);
	struct pumice_mmu_pd_entry before;
	u64 *entry;

	if (!dir)
		return;
	entry = directory_entry(dir, block);
	pumice_mmu_pd_entry_unpack64(read_entry(entry), &before);
	if (fresh || !(d->omitted & INPROC_OMIT_ENTRY))
		write_entry(entry, fresh);
	if (before.valid)
		c->old[c->old_count++] = before.addr;
}

void tables_update(struct inproc_device *d, struct tables *t, const struct mapping *mappings,
		   u64 va, u64 size, struct table_change *c)
{
	u64 block = va & ~(BLOCK_BYTES - 1), end = va + size;

	while (block < end) {
		while (mappings && mappings->va + mappings->size <= block)
			mappings = mappings->next;
		if (!find_directory(d, t, block) && (!mappings || mappings->va >= end)) {
			/* Nothing is mapped and nothing will be mapped. */
			block = next_directory(block);
			continue;
		}
		update_block(d, t, mappings, block, c);
		block += BLOCK_BYTES;
	}
}

static struct pumice_dump_walk step(u64 table, u64 entry, u32 level, u64 index)
{
	return (struct pumice_dump_walk){
		.table = table, .entry = entry, .level = level, .index = (u32)index,
	};
}

u32 tables_walk(struct inproc_device *d, const struct tables *t, u64 va,
		struct pumice_dump_walk *steps)
{
	const u64 *entries = ram_cpu(d, t->catalogue);
	struct pumice_mmu_pc_entry pc;
	struct pumice_mmu_pd_entry pd;
	u64 index = va >> PC_SHIFT;

	steps[0] = step(t->catalogue, read_entry(&entries[index]), 0, index);
	pumice_mmu_pc_entry_unpack64(steps[0].entry, &pc);
	if (!pc.valid)
		return 1;
	entries = ram_cpu(d, pc.addr);
	index = va >> PD_SHIFT & (TABLE_ENTRIES - 1);
	steps[1] = step(pc.addr, read_entry(&entries[index]), 1, index);
	pumice_mmu_pd_entry_unpack64(steps[1].entry, &pd);
	if (!pd.valid)
		return 2;
	entries = ram_cpu(d, pd.addr);
	index = (va & (BLOCK_BYTES - 1)) / page_bytes[pd.page_size];
	steps[2] = step(pd.addr, read_entry(&entries[index]), 2, index);
	return 3;
}
