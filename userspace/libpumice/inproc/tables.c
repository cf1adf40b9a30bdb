// SPDX-License-Identifier: MIT
/*
 * In-process backend: translation tables (hw/formats.xml; document 000, "Memory
 * Hierarchy").
 *
 * All entries of a 2 MiB block have one page size, given by its directory
 * entry: that of the block's heap (hw/heaps.h), which the range registers
 * assign. Changes affect whole pages, and memory is aligned to its size, up
 * to 2 MiB. Entries are changed one by one, each with one store: a running job sees
 * the old or the new state of each page, and no gap in unchanged ones. A table exists
 * while it has a valid entry.
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

/* Count the pages that tables and directories of a range will need: those that do not exist. */
static u32 count_missing(struct inproc_device *d, const struct tables *t, u64 va, u64 end)
{
	const u64 blocks = ((end - 1) >> PD_SHIFT) - (va >> PD_SHIFT) + 1;
	u32 count = (u32)blocks - count_tables(d, t, va, end);

	for (va &= ~((1ull << PC_SHIFT) - 1); va < end; va = next_directory(va))
		count += !find_directory(d, t, va);
	return count;
}

/* Make room for more addresses. */
static bool grow(u64 **list, u32 *room, u32 count)
{
	u64 *more;

	if (count <= *room)
		return true;
	more = realloc(*list, count * 2 * sizeof(**list));
	if (!more)
		return false;
	*list = more;
	*room = count * 2;
	return true;
}

static void free_pages(struct inproc_device *d, const u64 *list, u32 *count)
{
	while (*count)
		ram_free(d, list[--*count], PAGE_BYTES);
}

int tables_reserve(struct inproc_device *d, struct tables *t, u64 va, u64 size, bool map,
		   struct table_change *c)
{
	u32 need = map ? count_missing(d, t, va, va + size) : 0;
	const u32 old = map ? 0 : count_tables(d, t, va, va + size);

	if (!grow(&c->fresh, &c->fresh_room, need) ||
	    !grow(&c->old, &c->old_room, c->old_count + old))
		return -ENOMEM;
	for (; need; need--, c->fresh_count++) {
		if (ram_alloc(d, PAGE_BYTES, PAGE_BYTES, &c->fresh[c->fresh_count])) {
			free_pages(d, c->fresh, &c->fresh_count);
			return -ENOMEM;
		}
	}
	return 0;
}

void tables_release(struct inproc_device *d, struct table_change *c)
{
	free_pages(d, c->fresh, &c->fresh_count);
	free_pages(d, c->old, &c->old_count);
	free(c->fresh);
	free(c->old);
}

static u64 use_page(struct table_change *c)
{
	return c->fresh[--c->fresh_count];
}

/* Get the part of a range inside the block at @block, where there is one. */
static struct part clip(u64 va, u64 end, u64 block)
{
	const u64 first = va > block ? va : block;
	const u64 last = end < block + BLOCK_BYTES ? end : block + BLOCK_BYTES;

	return (struct part){ .va = first, .size = last - first };
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
		write_entry(&table[(part->va + at - block) / step],
			    pumice_mmu_pt_entry_pack64(&pt));
	}
}

static u32 table_page_size(const struct inproc_device *d, u64 block)
{
	const u32 size = heap_page_size(block);

	if (d->omitted & INPROC_OMIT_PAGE_SIZE)
		return size == PUMICE_PAGE_SIZE_16K ? PUMICE_PAGE_SIZE_4K : PUMICE_PAGE_SIZE_16K;
	return size;
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

/* Enter the part of a mapping in a block. */
static void map_block(struct inproc_device *d, struct tables *t, const struct mapping *m,
		      u64 block, struct table_change *c)
{
	u64 *entry = directory_entry(make_directory(d, t, block, c), block);
	struct part part = clip(m->at.va, range_end(&m->at), block);
	struct pumice_mmu_pd_entry pd;
	bool fresh;

	part.bus = m->bus + (part.va - m->at.va);
	pumice_mmu_pd_entry_unpack64(read_entry(entry), &pd);
	fresh = !pd.valid;
	if (fresh)
		pd = (struct pumice_mmu_pd_entry){
			.valid = true, .addr = use_page(c), .page_size = table_page_size(d, block),
		};
	fill_part(ram_cpu(d, pd.addr), block, &part, m->flags, page_bytes[pd.page_size]);
	if (fresh)
		write_entry(entry, pumice_mmu_pd_entry_pack64(&pd));
}

void tables_map(struct inproc_device *d, struct tables *t, const struct mapping *m,
		struct table_change *c)
{
	u64 block;

	for (block = m->at.va & ~(BLOCK_BYTES - 1); block < range_end(&m->at); block += BLOCK_BYTES)
		map_block(d, t, m, block, c);
}

/* Return whether a table has an entry other than @first to before @last. */
static bool has_others(const u64 *table, u64 first, u64 last)
{
	u64 i;

	for (i = 0; i < TABLE_ENTRIES; i++)
		if ((i < first || i >= last) && read_entry(&table[i]))
			return true;
	return false;
}

/* Remove the entries of a range in a block, and the table if it has no others. */
static void unmap_block(struct inproc_device *d, u64 *entry, u64 block, u64 va, u64 end,
			struct table_change *c)
{
	const struct part part = clip(va, end, block);
	struct pumice_mmu_pd_entry pd;
	u64 *table, i, last;

	pumice_mmu_pd_entry_unpack64(read_entry(entry), &pd);
	if (!pd.valid)
		return;
	table = ram_cpu(d, pd.addr);
	i = (part.va - block) / page_bytes[pd.page_size];
	last = i + part.size / page_bytes[pd.page_size];
	if (!has_others(table, i, last)) {
		if (!(d->omitted & INPROC_OMIT_ENTRY))
			write_entry(entry, 0);
		c->old[c->old_count++] = pd.addr;
		return;
	}
	for (; i < last; i++)
		write_entry(&table[i], 0);
}

void tables_unmap(struct inproc_device *d, struct tables *t, u64 va, u64 size,
		  struct table_change *c)
{
	u64 block = va & ~(BLOCK_BYTES - 1);
	u64 *dir;

	while (block < va + size) {
		dir = find_directory(d, t, block);
		if (!dir) {
			block = next_directory(block);
			continue;
		}
		unmap_block(d, directory_entry(dir, block), block, va, va + size, c);
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
