/* SPDX-License-Identifier: MIT */
/*
 * Guest memory and translation tables for unit tests.
 *
 * One region of memory at a bus address that is not zero, with a simple
 * allocator, and a builder of translation tables that uses hw/formats.xml only
 * (never the driver's table code). Errors abort the test program: they are
 * mistakes of the test.
 *
 * A test of one block:
 *
 *	struct testmem *tm = testmem_create(TESTMEM_SIZE);
 *	struct mmu mmu = { 0 };
 *
 *	testmem_bind(tm, &mmu);
 *	u32 *data = testmem_map(tm, 1, 0x10000, 0x2000, PUMICE_PAGE_SIZE_4K, 0);
 *	... mmu_translate(&mmu, &tlb, 1, 0x10000, ...) ...
 *	testmem_destroy(tm);
 *
 * A test of the whole GPU passes testmem_region() to pumice_gpu_set_memory() and
 * writes testmem_ctx_reg() to the MMU's context register.
 */
#ifndef PUMICE_TESTMEM_H
#define PUMICE_TESTMEM_H

#include "../../../qemu-device/gpu/mem/mem.h"
#include "../../../qemu-device/gpu/mmu/mmu.h"

#define TESTMEM_BASE	0x80001000ull	/* bus address of the first byte */
#define TESTMEM_SIZE	(32ull << 20)	/* room for a few 2 MiB pages */

/* Flags of a mapping. */
#define TESTMEM_RO	1u	/* read-only */
#define TESTMEM_NX	2u	/* no-execute */
#define TESTMEM_PM	4u	/* owned by the parameter manager */
#define TESTMEM_NULL	8u	/* no memory */
#define TESTMEM_COHERENT 16u	/* in no cache */

struct testmem;

/* size bytes of zeroed memory at TESTMEM_BASE; a multiple of 4 KiB. */
struct testmem *testmem_create(u64 size);
/* Create the same at another bus address, a multiple of 4 KiB. */
struct testmem *testmem_create_at(u64 base, u64 size);
void testmem_destroy(struct testmem *tm);
const struct pumice_mem_region *testmem_region(const struct testmem *tm);

/* Set the map of mmu to this memory, enable all contexts, and allow all page sizes everywhere. */
void testmem_bind(struct testmem *tm, struct mmu *mmu);

/* Allocate size bytes of memory; return their bus address, a multiple of align (a power of two). */
u64 testmem_alloc(struct testmem *tm, u64 size, u64 align);
/* Return the bytes from the first one to the end of the last allocation. */
u64 testmem_used(const struct testmem *tm);
/* Host pointer to a bus address, and back. */
void *testmem_host(const struct testmem *tm, u64 bus);
u64 testmem_bus(const struct testmem *tm, const void *host);

/* Bus address of a context's catalogue, and the value for its MMU_CTX register. */
u64 testmem_catalogue(struct testmem *tm, unsigned int ctx);
u64 testmem_ctx_reg(struct testmem *tm, unsigned int ctx);

/*
 * Map size bytes at va with pages of page_size; both are multiples of the page.
 * testmem_map() allocates contiguous memory for them and returns its host pointer;
 * testmem_map_bus() maps the address bus, with or without memory. A 2 MiB block has
 * one page size: using another for it later changes the directory entry and so the
 * meaning of its table.
 */
void *testmem_map(struct testmem *tm, unsigned int ctx, u64 va, u64 size,
		  enum pumice_page_size page_size, unsigned int flags);
void testmem_map_bus(struct testmem *tm, unsigned int ctx, u64 va, u64 bus, u64 size,
		     enum pumice_page_size page_size, unsigned int flags);
/* Clear the page-table entries of size bytes at va. */
void testmem_unmap(struct testmem *tm, unsigned int ctx, u64 va, u64 size);

/* Entries of an address, to corrupt them. The levels above must exist. */
u64 *testmem_pc_entry(struct testmem *tm, unsigned int ctx, u64 va);
u64 *testmem_pd_entry(struct testmem *tm, unsigned int ctx, u64 va);
u64 *testmem_pt_entry(struct testmem *tm, unsigned int ctx, u64 va);

/* Return the bytes of a page. */
u64 testmem_page_bytes(enum pumice_page_size size);

#endif
