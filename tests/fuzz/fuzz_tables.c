// SPDX-License-Identifier: MIT
/*
 * Arbitrary translation tables, context and range registers, and a memory map that
 * changes.
 *
 * Rules: a translation returns a pointer whose 4 KiB grain is completely inside a
 * region, a writable one only in a writable region, or that of a null
 * page: zeros to read, the TLB's sink to write; otherwise a fault of the MMU that
 * reports the request. Copies access no other memory.
 */
#include <stdlib.h>
#include <string.h>

#include "../../qemu-device/gpu/mem/mem.h"
#include "../../qemu-device/gpu/mmu/mmu.h"
#include "fuzz.h"
#include "pumice_regs.h"

#define GRAIN		4096u
#define REGIONS		3u
#define PAGES		8u	/* of a region */
#define COPY_BYTES	(3 * GRAIN)

struct table_fixture {
	struct mem_map map;
	struct mmu mmu;
	struct mmu_tlb tlb;
	struct mmu_tlb_entry far[MMU_TLB_FAR_ENTRIES];	/* its second level */
	struct pumice_mem_region region[REGIONS];
};

/* The first two are adjacent on the bus, but not in this process; the last is read-only. */
static void make_regions(struct table_fixture *w)
{
	static const u64 addr[REGIONS] = { 0x100000, 0x100000 + PAGES * GRAIN, 0xfffffff00000 };
	u32 i;

	for (i = 0; i < REGIONS; i++) {
		struct pumice_mem_region *r = &w->region[i];

		*r = (struct pumice_mem_region){
			.addr = addr[i], .size = PAGES * GRAIN, .readonly = i == REGIONS - 1,
			.host = aligned_alloc(GRAIN, PAGES * GRAIN),
		};
		FUZZ_CHECK(r->host, "out of memory");
		memset(r->host, 0, r->size);
	}
	FUZZ_CHECK(!mem_map_set(&w->map, w->region, REGIONS), "the map is refused");
}

/* Return a bus address near one of the regions, or an arbitrary one. */
static u64 bus_address(struct table_fixture *w, struct fuzz *f)
{
	u32 i = fuzz_below(f, REGIONS);

	if (fuzz_below(f, 16) == 1)
		return fuzz_number(f);
	return w->region[i].addr + (u64)fuzz_below(f, PAGES + 1) * GRAIN;
}

/* Return an entry of any level: flags and page size in the low bits. */
static u64 entry(struct table_fixture *w, struct fuzz *f)
{
	u64 v = bus_address(w, f) | 1;

	if (fuzz_below(f, 16) == 1)
		v ^= fuzz_number(f);
	/* The flags of a page, or the page size of a directory. */
	return v | (fuzz_below(f, 4) ? 0 : fuzz_u8(f) & 0x1e);
}

static void write_entries(struct table_fixture *w, struct fuzz *f)
{
	struct pumice_mem_region *r = &w->region[fuzz_below(f, REGIONS)];
	u32 at = fuzz_below(f, PAGES) * GRAIN + fuzz_below(f, 4) * 8;
	u32 n = fuzz_below(f, 4) + 1;

	for (; n--; at += 8) {
		u64 v = entry(w, f);

		memcpy(r->host + at, &v, 8);
	}
}

/* Return an address in one of few pages, so that tables and TLB entries are reused. */
static u64 near_address(struct fuzz *f)
{
	u8 v = fuzz_u8(f);

	return (u64)(v & 1) << 30 | (u64)(v >> 1 & 1) << 21 | (u64)(v >> 2 & 3) << 12 |
	       (u64)(v >> 4 & 1) << 20;
}

static void put_entry(struct table_fixture *w, u32 page, u64 index, u64 value)
{
	memcpy(w->region[0].host + page * GRAIN + index % 512 * 8, &value, 8);
}

/* Write three valid entries in the first region, for an address that is reused. */
static void map_page(struct table_fixture *w, struct fuzz *f)
{
	static const u8 shift[] = { 12, 14, 16, 18, 20, 21, 12, 12 };
	u64 va = near_address(f);
	u32 directory = 2 + fuzz_below(f, 3), table = 5 + fuzz_below(f, 3);
	u32 size = fuzz_below(f, 16);

	size = size < 8 ? size : 0;
	put_entry(w, 0, va >> 30, (w->region[0].addr + directory * GRAIN) | 1);
	put_entry(w, directory, va >> 21,
		  (w->region[0].addr + table * GRAIN) | size << 1 | 1);
	put_entry(w, table, (va & 0x1fffff) >> shift[size], entry(w, f));
}

static void write_registers(struct table_fixture *w, struct fuzz *f)
{
	u32 i = fuzz_below(f, PUMICE_MMU_RANGES);

	switch (fuzz_below(f, 8)) {
	case 3:
		atomic_store(&w->mmu.page_sizes,
			     fuzz_number(f) & PUMICE_MMU_PAGE_SIZES__WRITABLE);
		mmu_invalidate_all(&w->mmu);
		break;
	case 0:
		atomic_store(&w->mmu.range_start[i],
			     fuzz_number(f) & PUMICE_MMU_RANGE_START__WRITABLE);
		atomic_store(&w->mmu.range_end[i],
			     fuzz_number(f) & PUMICE_MMU_RANGE_END__WRITABLE);
		break;
	case 1:
		atomic_store(&w->mmu.range_start[0], PUMICE_PAGE_SIZE_2M);
		atomic_store(&w->mmu.range_end[0], PUMICE_MMU_RANGE_END__WRITABLE);
		break;
	case 2:
		atomic_store(&w->mmu.ctx[fuzz_below(f, PUMICE_MMU_CONTEXTS)],
			     (bus_address(w, f) | 1) & PUMICE_MMU_CTX__WRITABLE);
		break;
	default:
		atomic_store(&w->mmu.ctx[0], w->region[0].addr | 1);
		break;
	}
}

/* Change the map to some of the regions. Every change drops the TLBs, as in gpu.c. */
static void change_map(struct table_fixture *w, struct fuzz *f)
{
	bool some = fuzz_below(f, 4) == 1;
	u32 first = some ? fuzz_below(f, REGIONS) : 0;
	u32 count = some ? fuzz_below(f, REGIONS - first + 1) : REGIONS;

	FUZZ_CHECK(!mem_map_set(&w->map, w->region + first, count), "the map is refused");
	mmu_invalidate_all(&w->mmu);
}

static u64 virtual_address(struct fuzz *f)
{
	if (fuzz_below(f, 8) == 1)
		return fuzz_number(f);
	return near_address(f) | (fuzz_u16(f) & (GRAIN - 1));
}

/* Return the region of the map that contains the grain of a host pointer. */
static const struct pumice_mem_region *home(const struct table_fixture *w, const u8 *host)
{
	const u8 *grain = (const u8 *)((uintptr_t)host & ~(uintptr_t)(GRAIN - 1));
	u32 i;

	for (i = 0; i < w->map.first[PUMICE_OS_COUNT]; i++) {
		const struct pumice_mem_region *r = &w->map.region[i];

		if (grain >= r->host && grain + GRAIN <= r->host + r->size)
			return r;
	}
	return NULL;
}

static void check_fault(const struct gpu_fault *fault, u32 ctx, enum pumice_access access)
{
	FUZZ_CHECK(fault->fault >= PUMICE_FAULT_MMU_CONTEXT_OFF &&
		   fault->fault <= PUMICE_FAULT_MMU_BUS, "fault %u", fault->fault);
	FUZZ_CHECK(fault->ctx == ctx && fault->access == access &&
		   fault->unit == PUMICE_UNIT_USC_DATA, "the fault reports another request");
}

/* Return the first byte of a null page for this kind of access, or NULL if it is none. */
static const u8 *null_page(const struct table_fixture *w, const u8 *host, enum pumice_access access)
{
	if (access == PUMICE_ACCESS_WRITE)
		return mmu_in_sink(&w->tlb, host) ? w->tlb.sink : NULL;
	return access == PUMICE_ACCESS_READ &&
	       (uintptr_t)host - (uintptr_t)mmu_zeros < GRAIN ? mmu_zeros : NULL;
}

static void translate(struct table_fixture *w, struct fuzz *f)
{
	enum pumice_access access = fuzz_below(f, 3);
	u32 ctx = fuzz_below(f, 4) ? 0 : fuzz_below(f, PUMICE_MMU_CONTEXTS);
	u64 va = virtual_address(f);
	const struct pumice_mem_region *r;
	struct gpu_fault fault = { 0 };
	const u8 *null;
	u8 *host = mmu_translate(&w->mmu, &w->tlb, ctx, va, 1, access, PUMICE_UNIT_USC_DATA,
				 &fault);

	if (!host) {
		check_fault(&fault, ctx, access);
		FUZZ_CHECK(fault.addr == va, "fault at another address");
		return;
	}
	FUZZ_CHECK(va >> PUMICE_MMU_VA_BITS == 0, "an address beyond 1 TiB");
	null = null_page(w, host, access);
	if (null) {
		FUZZ_CHECK((u64)(host - null) == va % GRAIN, "another offset in the null page");
		return;
	}
	r = home(w, host);
	FUZZ_CHECK(r, "a pointer outside of the map");
	FUZZ_CHECK(((uintptr_t)host ^ va) % GRAIN == 0, "another offset in the page");
	FUZZ_CHECK(access != PUMICE_ACCESS_WRITE || !r->readonly, "a read-only region");
}

/* Probe without a TLB: same result as with an empty one, and no side effect. */
static void probe(struct table_fixture *w, struct fuzz *f)
{
	enum pumice_access access = fuzz_below(f, 3);
	u64 va = virtual_address(f);
	u32 faults = atomic_load(&w->mmu.fault_count);
	struct gpu_fault fault;
	struct mmu_tlb empty = { 0 };
	u8 *host = mmu_probe(&w->mmu, 0, va, access), *by_tlb;

	FUZZ_CHECK(atomic_load(&w->mmu.fault_count) == faults, "a probe counts a fault");
	by_tlb = mmu_translate(&w->mmu, &empty, 0, va, 1, access, PUMICE_UNIT_FW, &fault);
	/* A probe has no sink. */
	FUZZ_CHECK(host == by_tlb || (!host && mmu_in_sink(&empty, by_tlb)),
		   "a probe and a translation differ");
}

static void copy(struct table_fixture *w, struct fuzz *f)
{
	static u8 buf[COPY_BYTES];
	struct gpu_fault fault = { 0 };
	u64 va = virtual_address(f), len = fuzz_below(f, COPY_BYTES + 1);
	enum pumice_access access = PUMICE_ACCESS_WRITE;
	u8 *exact = malloc(len + 1);
	bool good;

	FUZZ_CHECK(exact, "out of memory");
	memcpy(exact, buf, len);
	if (fuzz_below(f, 2)) {
		good = mmu_write(&w->mmu, &w->tlb, 0, va, exact, len, PUMICE_UNIT_USC_DATA,
				 &fault);
	} else {
		access = PUMICE_ACCESS_READ;
		good = mmu_read(&w->mmu, &w->tlb, 0, va, exact, len, access,
				PUMICE_UNIT_USC_DATA, &fault);
	}
	if (!good) {
		check_fault(&fault, 0, access);
		FUZZ_CHECK(fault.addr - va < len, "fault outside the requested range");
	}
	free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const step[])(struct table_fixture *w, struct fuzz *f) = {
		map_page, map_page, map_page, write_entries, write_registers, translate,
		translate, translate, copy, change_map, probe,
	};
	struct table_fixture *w = calloc(1, sizeof(*w));
	struct fuzz f = { data, size };
	u32 i;

	FUZZ_CHECK(w, "out of memory");
	make_regions(w);
	w->mmu.map = &w->map;
	mmu_tlb_set_far(&w->tlb, w->far, MMU_TLB_FAR_ENTRIES);
	mmu_reset(&w->mmu);
	for (i = 0; i < PUMICE_MMU_CONTEXTS; i++)
		atomic_store(&w->mmu.ctx[i], w->region[0].addr | 1);
	while (fuzz_more(&f)) {
		u32 what = fuzz_below(&f, sizeof(step) / sizeof(step[0]) + 1);

		if (what == sizeof(step) / sizeof(step[0]))
			mmu_invalidate_ctx(&w->mmu, fuzz_below(&f, PUMICE_MMU_CONTEXTS));
		else
			step[what](w, &f);
	}
	mem_map_clear(&w->map);
	for (i = 0; i < REGIONS; i++)
		free(w->region[i].host);
	free(w);
	return 0;
}
