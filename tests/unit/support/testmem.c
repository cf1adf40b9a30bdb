// SPDX-License-Identifier: MIT
/*
 * Guest memory and translation tables for unit tests. See testmem.h.
 *
 * The geometry below repeats that of formats.xml on purpose:
 * the tests compare the MMU with it.
 */
#include "testmem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define CATALOGUE_BYTES	8192u	/* 1024 entries of 1 GiB */
#define TABLE_BYTES	4096u	/* directories and page tables */

struct testmem {
	struct pumice_mem_region region;
	struct mem_map map;
	u64 used;			/* bytes allocated by testmem_alloc() */
	u64 catalogue[PUMICE_MMU_CONTEXTS];	/* bus addresses, 0 = none yet */
};

__attribute__((format(printf, 1, 2), noreturn)) static void mistake(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "testmem: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
	abort();
}

/*
 * Allocate zeroed memory that is backed on first access, with an inaccessible page before
 * and after it.
 */
static u8 *map_between_guards(u64 size)
{
	u8 *all = mmap(NULL, size + 2 * MEM_ALIGN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (all == MAP_FAILED || mprotect(all + MEM_ALIGN, size, PROT_READ | PROT_WRITE))
		mistake("no memory");
	return all + MEM_ALIGN;
}

struct testmem *testmem_create(u64 size)
{
	return testmem_create_at(TESTMEM_BASE, size);
}

struct testmem *testmem_create_at(u64 base, u64 size)
{
	struct testmem *tm = calloc(1, sizeof(*tm));

	if (!tm)
		mistake("no memory");
	tm->region.addr = base;
	tm->region.size = size;
	tm->region.host = map_between_guards(size);
	if (mem_map_set(&tm->map, &tm->region, 1))
		mistake("the MMU refused the region");
	return tm;
}

void testmem_destroy(struct testmem *tm)
{
	mem_map_clear(&tm->map);
	munmap(tm->region.host - MEM_ALIGN, tm->region.size + 2 * MEM_ALIGN);
	free(tm);
}

const struct pumice_mem_region *testmem_region(const struct testmem *tm)
{
	return &tm->region;
}

void testmem_bind(struct testmem *tm, struct mmu *mmu)
{
	unsigned int ctx;

	mmu->map = &tm->map;
	for (ctx = 0; ctx < PUMICE_MMU_CONTEXTS; ctx++)
		atomic_store(&mmu->ctx[ctx], testmem_ctx_reg(tm, ctx));
	atomic_store(&mmu->range_start[0], PUMICE_FIELD_PREP(PUMICE_MMU_RANGE_START__SIZE,
							     PUMICE_PAGE_SIZE_2M));
	atomic_store(&mmu->range_end[0], PUMICE_MMU_RANGE_END__ENABLE__MASK |
						 PUMICE_MMU_RANGE_END__ADDR__MASK);
}

u64 testmem_alloc(struct testmem *tm, u64 size, u64 align)
{
	u64 bus = (tm->region.addr + tm->used + align - 1) & ~(align - 1);

	if (bus - tm->region.addr + size > tm->region.size)
		mistake("out of guest memory: %llu bytes", (unsigned long long)size);
	tm->used = bus - tm->region.addr + size;
	return bus;
}

u64 testmem_used(const struct testmem *tm)
{
	return tm->used;
}

void *testmem_host(const struct testmem *tm, u64 bus)
{
	if (bus < tm->region.addr || bus - tm->region.addr >= tm->region.size)
		mistake("bus address %#llx has no memory", (unsigned long long)bus);
	return tm->region.host + (bus - tm->region.addr);
}

u64 testmem_bus(const struct testmem *tm, const void *host)
{
	return tm->region.addr + (u64)((const u8 *)host - tm->region.host);
}

u64 testmem_catalogue(struct testmem *tm, unsigned int ctx)
{
	if (!tm->catalogue[ctx])
		tm->catalogue[ctx] = testmem_alloc(tm, CATALOGUE_BYTES, CATALOGUE_BYTES);
	return tm->catalogue[ctx];
}

u64 testmem_ctx_reg(struct testmem *tm, unsigned int ctx)
{
	return PUMICE_MMU_CTX__ENABLE__MASK | testmem_catalogue(tm, ctx);
}

u64 testmem_page_bytes(enum pumice_page_size size)
{
	switch (size) {
	case PUMICE_PAGE_SIZE_4K:
		return 4ull << 10;
	case PUMICE_PAGE_SIZE_16K:
		return 16ull << 10;
	case PUMICE_PAGE_SIZE_64K:
		return 64ull << 10;
	case PUMICE_PAGE_SIZE_256K:
		return 256ull << 10;
	case PUMICE_PAGE_SIZE_1M:
		return 1ull << 20;
	case PUMICE_PAGE_SIZE_2M:
		return 2ull << 20;
	}
	mistake("unknown page size %u", (unsigned int)size);
}

static u64 *entry(struct testmem *tm, u64 table, u64 index)
{
	return (u64 *)testmem_host(tm, table) + index;
}

u64 *testmem_pc_entry(struct testmem *tm, unsigned int ctx, u64 va)
{
	return entry(tm, testmem_catalogue(tm, ctx), va >> 30);
}

u64 *testmem_pd_entry(struct testmem *tm, unsigned int ctx, u64 va)
{
	struct pumice_mmu_pc_entry pc;

	pumice_mmu_pc_entry_unpack64(*testmem_pc_entry(tm, ctx, va), &pc);
	if (!pc.valid)
		mistake("no page directory at %#llx", (unsigned long long)va);
	return entry(tm, pc.addr, va >> 21 & 511);
}

u64 *testmem_pt_entry(struct testmem *tm, unsigned int ctx, u64 va)
{
	struct pumice_mmu_pd_entry pd;

	pumice_mmu_pd_entry_unpack64(*testmem_pd_entry(tm, ctx, va), &pd);
	if (!pd.valid)
		mistake("no page table at %#llx", (unsigned long long)va);
	return entry(tm, pd.addr, (va & 0x1fffff) / testmem_page_bytes(pd.page_size));
}

/* Write an entry at once: a GPU may be walking the tables. */
static void set_entry(u64 *to, u64 value)
{
	__atomic_store_n(to, value, __ATOMIC_RELEASE);
}

/* Create the directory and the table of va, the latter for pages of page_size. */
static void make_tables(struct testmem *tm, unsigned int ctx, u64 va,
			enum pumice_page_size page_size)
{
	u64 *raw = testmem_pc_entry(tm, ctx, va);
	struct pumice_mmu_pc_entry pc;
	struct pumice_mmu_pd_entry pd;

	pumice_mmu_pc_entry_unpack64(*raw, &pc);
	if (!pc.valid) {
		pc.valid = true;
		pc.addr = testmem_alloc(tm, TABLE_BYTES, TABLE_BYTES);
		set_entry(raw, pumice_mmu_pc_entry_pack64(&pc));
	}
	raw = testmem_pd_entry(tm, ctx, va);
	pumice_mmu_pd_entry_unpack64(*raw, &pd);
	if (!pd.valid) {
		pd.valid = true;
		pd.addr = testmem_alloc(tm, TABLE_BYTES, TABLE_BYTES);
	}
	pd.page_size = (u8)page_size;
	set_entry(raw, pumice_mmu_pd_entry_pack64(&pd));
}

void testmem_map_bus(struct testmem *tm, unsigned int ctx, u64 va, u64 bus, u64 size,
		     enum pumice_page_size page_size, unsigned int flags)
{
	u64 page = testmem_page_bytes(page_size), at;

	if (va % page || size % page)
		mistake("%#llx is not page aligned", (unsigned long long)va);
	for (at = 0; at < size; at += page) {
		struct pumice_mmu_pt_entry pt = {
			.valid = true,
			.read_only = flags & TESTMEM_RO,
			.no_exec = flags & TESTMEM_NX,
			.pm_owned = flags & TESTMEM_PM,
			.null = flags & TESTMEM_NULL,
			.coherent = flags & TESTMEM_COHERENT,
			.addr = bus + at,
		};

		make_tables(tm, ctx, va + at, page_size);
		set_entry(testmem_pt_entry(tm, ctx, va + at), pumice_mmu_pt_entry_pack64(&pt));
	}
}

void *testmem_map(struct testmem *tm, unsigned int ctx, u64 va, u64 size,
		  enum pumice_page_size page_size, unsigned int flags)
{
	u64 bus = testmem_alloc(tm, size, testmem_page_bytes(page_size));

	testmem_map_bus(tm, ctx, va, bus, size, page_size, flags);
	return testmem_host(tm, bus);
}

void testmem_unmap(struct testmem *tm, unsigned int ctx, u64 va, u64 size)
{
	struct pumice_mmu_pd_entry pd;
	u64 at, page;

	for (at = 0; at < size; at += page) {
		set_entry(testmem_pt_entry(tm, ctx, va + at), 0);
		pumice_mmu_pd_entry_unpack64(*testmem_pd_entry(tm, ctx, va + at), &pd);
		page = testmem_page_bytes(pd.page_size);
	}
}
