// SPDX-License-Identifier: MIT
/*
 * Page sizes that the range registers assign (document 000, "Memory Hierarchy"), and entries
 * of the second level of a TLB, tagged by these sizes.
 */
#include <stdlib.h>

#include "fixture.h"

#define READ	PUMICE_ACCESS_READ
#define BLOCK	(2ull << 20)
#define BLOCKS	48u	/* of the random address space */

static void assign(struct fixture *fx, bool on)
{
	atomic_store(&fx->mmu.page_sizes,
		     PUMICE_FIELD_PREP(PUMICE_MMU_PAGE_SIZES__MODE,
				       on ? PUMICE_MMU_PAGE_SIZES_RANGE :
					    PUMICE_MMU_PAGE_SIZES_DIRECTORY));
	mmu_invalidate_all(&fx->mmu);
}

/* Set range register pair n: page size from first to last, both inclusive. */
static void set_range(struct fixture *fx, unsigned int n, u64 first, u64 last, u32 size)
{
	atomic_store(&fx->mmu.range_start[n],
		     first | PUMICE_FIELD_PREP(PUMICE_MMU_RANGE_START__SIZE, size));
	atomic_store(&fx->mmu.range_end[n], last | PUMICE_MMU_RANGE_END__ENABLE__MASK);
}

/* One block of each page size from va on; blocks share their memory. Return its bus address. */
static u64 map_all_sizes(struct fixture *fx, u64 va)
{
	u64 bus = testmem_alloc(fx->tm, BLOCK, BLOCK);
	unsigned int size;

	for (size = 0; size < PUMICE_PAGE_SIZE_COUNT; size++)
		testmem_map_bus(fx->tm, CTX, va + size * BLOCK, bus, BLOCK, size, 0);
	return bus;
}

static void an_assigning_range_allows_its_own_size_only(void **state)
{
	struct fixture *fx = fx_create();
	unsigned int range, size;
	u64 bus;

	(void)state;
	bus = map_all_sizes(fx, 0);
	for (range = 0; range < PUMICE_PAGE_SIZE_COUNT; range++) {
		set_range(fx, 0, 0, 16 * BLOCK, range);
		assign(fx, true);
		for (size = 0; size < PUMICE_PAGE_SIZE_COUNT; size++)
			if (size == range)
				assert_maps(fx, size * BLOCK + 0x1ff123, READ,
					    (u8 *)testmem_host(fx->tm, bus) + 0x1ff123);
			else
				assert_faults(fx, size * BLOCK, READ, PUMICE_FAULT_MMU_PAGE_SIZE);
	}
	fx_destroy(fx);
}

static void outside_of_assigning_ranges_pages_are_4k(void **state)
{
	struct fixture *fx = fx_create();
	unsigned int size;

	(void)state;
	map_all_sizes(fx, 64 * BLOCK);
	set_range(fx, 0, 0, 63 * BLOCK, PUMICE_PAGE_SIZE_2M);
	assign(fx, true);
	assert_non_null(fx_translate(fx, CTX, 64 * BLOCK, READ));
	for (size = 1; size < PUMICE_PAGE_SIZE_COUNT; size++)
		assert_faults(fx, (64 + size) * BLOCK, READ, PUMICE_FAULT_MMU_PAGE_SIZE);
	fx_destroy(fx);
}

/* The scalar model: the blocks of an address space, painted range by range. */
struct model {
	u8 range[BLOCKS];	/* page size of the ranges */
	u8 entry[BLOCKS];	/* page size of the directory entry */
	u64 bus[BLOCKS];
};

/* The range with the lowest number is painted last. */
static void random_ranges(struct fixture *fx, struct model *m)
{
	unsigned int n, block;

	for (block = 0; block < BLOCKS; block++)
		m->range[block] = 0;
	for (n = PUMICE_MMU_RANGES; n-- > 0;) {
		unsigned int first = (unsigned int)rand() % BLOCKS;
		unsigned int last = (unsigned int)rand() % BLOCKS, size = (unsigned int)rand() % 8;

		set_range(fx, n, first * BLOCK, last * BLOCK, size);
		for (block = first; block <= last; block++)
			m->range[block] = (u8)(size < PUMICE_PAGE_SIZE_COUNT ? size : 0);
	}
}

static void random_accesses_equal(struct fixture *fx, const struct model *m, bool assigned)
{
	unsigned int i;

	for (i = 0; i < 300; i++) {
		unsigned int block = (unsigned int)rand() % BLOCKS;
		u64 offset = (u64)rand() % BLOCK, va = block * BLOCK + offset;

		if (assigned ? m->entry[block] == m->range[block] :
			       m->entry[block] <= m->range[block])
			assert_maps(fx, va, READ,
				    (u8 *)testmem_host(fx->tm, m->bus[block]) + offset);
		else
			assert_faults(fx, va, READ, PUMICE_FAULT_MMU_PAGE_SIZE);
	}
}

static void random_ranges_equal_the_model(void **state)
{
	struct fixture *fx = fx_create();
	u64 bus = testmem_alloc(fx->tm, 2 * BLOCK, BLOCK);
	struct model m;
	unsigned int i, block;

	(void)state;
	srand(13);
	mmu_tlb_set_far(&fx->tlb, mmu_tlb_far_create(MMU_TLB_FAR_ENTRIES), MMU_TLB_FAR_ENTRIES);
	assert_non_null(fx->tlb.far);
	for (block = 0; block < BLOCKS; block++) {
		m.entry[block] = (u8)((unsigned int)rand() % PUMICE_PAGE_SIZE_COUNT);
		m.bus[block] = bus + (u64)(rand() % 2) * BLOCK;
		testmem_map_bus(fx->tm, CTX, block * BLOCK, m.bus[block], BLOCK, m.entry[block],
				0);
	}
	for (i = 0; i < 60; i++) {
		random_ranges(fx, &m);
		assign(fx, i % 2);
		random_accesses_equal(fx, &m, i % 2);
	}
	host_free(fx->tlb.far);
	fx_destroy(fx);
}

/* Walks of a pass over @bytes from address 0, one access to each 4 KiB. */
static u64 walks_of_a_pass(struct fixture *fx, u64 bytes)
{
	u64 before = fx->tlb.misses, va;

	for (va = 0; va < bytes; va += 4096)
		assert_non_null(fx_translate(fx, CTX, va, READ));
	return fx->tlb.misses - before;
}

static void one_walk_serves_a_page_of_an_assigned_size(void **state)
{
	unsigned int size;

	(void)state;
	for (size = 0; size < PUMICE_PAGE_SIZE_COUNT; size++) {
		struct fixture *fx = fx_create();
		u64 bus = testmem_alloc(fx->tm, BLOCK, BLOCK);

		mmu_tlb_set_far(&fx->tlb, mmu_tlb_far_create(MMU_TLB_FAR_ENTRIES),
				MMU_TLB_FAR_ENTRIES);
		assert_non_null(fx->tlb.far);
		testmem_map_bus(fx->tm, CTX, 0, bus, BLOCK, size, 0);
		set_range(fx, 0, 0, 0, size);
		assign(fx, true);
		assert_int_equal(walks_of_a_pass(fx, BLOCK), BLOCK / testmem_page_bytes(size));
		assert_int_equal(walks_of_a_pass(fx, BLOCK), 0);
		assign(fx, false);
		assert_int_equal(walks_of_a_pass(fx, BLOCK), BLOCK / 4096);
		host_free(fx->tlb.far);
		fx_destroy(fx);
	}
}

/* An invalidation of one grain drops all entries of its page, in both levels, and no other page. */
static void invalidating_a_part_of_a_page_drops_all_of_it(void **state)
{
	struct fixture *fx = fx_create();
	u64 old = testmem_alloc(fx->tm, BLOCK, BLOCK), new = testmem_alloc(fx->tm, BLOCK, BLOCK);
	u64 page = 64 << 10;

	(void)state;
	mmu_tlb_set_far(&fx->tlb, mmu_tlb_far_create(MMU_TLB_FAR_ENTRIES), MMU_TLB_FAR_ENTRIES);
	assert_non_null(fx->tlb.far);
	set_range(fx, 0, 0, 0, PUMICE_PAGE_SIZE_64K);
	assign(fx, true);
	testmem_map_bus(fx->tm, CTX, 0, old, BLOCK, PUMICE_PAGE_SIZE_64K, 0);
	assert_maps(fx, 0, READ, testmem_host(fx->tm, old));
	assert_maps(fx, page, READ, (u8 *)testmem_host(fx->tm, old) + page);
	testmem_map_bus(fx->tm, CTX, 0, new, BLOCK, PUMICE_PAGE_SIZE_64K, 0);
	/* Grains that the first level has never had: the second still has the old pages. */
	assert_maps(fx, 0x1000, READ, (u8 *)testmem_host(fx->tm, old) + 0x1000);
	mmu_invalidate_range(&fx->mmu, CTX, 0x5000, 0x5fff);
	assert_maps(fx, page + 0x2000, READ, (u8 *)testmem_host(fx->tm, old) + page + 0x2000);
	assert_maps(fx, 0x2000, READ, (u8 *)testmem_host(fx->tm, new) + 0x2000);
	assert_maps(fx, 0x5000, READ, (u8 *)testmem_host(fx->tm, new) + 0x5000);
	/* Grains that the first level has. */
	assert_maps(fx, 0, READ, testmem_host(fx->tm, new));
	assert_maps(fx, 0x1000, READ, (u8 *)testmem_host(fx->tm, new) + 0x1000);
	assert_maps(fx, page, READ, (u8 *)testmem_host(fx->tm, old) + page);
	host_free(fx->tlb.far);
	fx_destroy(fx);
}

/*
 * The same for parts of a page of each size before and after the invalidated grain, without a
 * second level; where directories choose, only the grain itself is dropped.
 */
static void parts_of_an_invalidated_page_are_walked_again(void **state)
{
	unsigned int size, assigned;

	(void)state;
	for (size = PUMICE_PAGE_SIZE_16K; size < PUMICE_PAGE_SIZE_COUNT; size++) {
		for (assigned = 0; assigned < 2; assigned++) {
			const u64 page = testmem_page_bytes(size), last = page - 4096;
			struct fixture *fx = fx_create();
			u64 old = testmem_alloc(fx->tm, BLOCK, BLOCK);
			u64 new = testmem_alloc(fx->tm, BLOCK, BLOCK);
			u8 *cached = testmem_host(fx->tm, assigned ? new : old);

			set_range(fx, 0, 0, 0, size);
			assign(fx, assigned);
			testmem_map_bus(fx->tm, CTX, 0, old, BLOCK, size, 0);
			assert_maps(fx, 0, READ, testmem_host(fx->tm, old));
			assert_maps(fx, last, READ, (u8 *)testmem_host(fx->tm, old) + last);
			testmem_map_bus(fx->tm, CTX, 0, new, BLOCK, size, 0);
			mmu_invalidate_range(&fx->mmu, CTX, 0x1000, 0x1fff);
			assert_maps(fx, 0, READ, cached);
			assert_maps(fx, last, READ, cached + last);
			fx_destroy(fx);
		}
	}
}

static u64 extent(struct fixture *fx, u64 va, u32 perm, u8 **host)
{
	return mmu_tlb_extent(&fx->mmu, &fx->tlb, CTX, va, perm, host);
}

/* One entry serves the rest of its page, for the accesses that it permits. */
static void an_extent_is_the_rest_of_a_page_of_an_assigned_size(void **state)
{
	const u64 va = 0x1234;
	unsigned int size, assigned;
	u8 *host;

	(void)state;
	for (size = PUMICE_PAGE_SIZE_16K; size < PUMICE_PAGE_SIZE_COUNT; size++) {
		for (assigned = 0; assigned < 2; assigned++) {
			const u64 page = assigned ? testmem_page_bytes(size) : 4096;
			struct fixture *fx = fx_create();
			u64 bus = testmem_alloc(fx->tm, BLOCK, BLOCK);

			mmu_tlb_set_far(&fx->tlb, mmu_tlb_far_create(MMU_TLB_FAR_ENTRIES),
					MMU_TLB_FAR_ENTRIES);
			assert_non_null(fx->tlb.far);
			testmem_map_bus(fx->tm, CTX, 0, bus, BLOCK, size, TESTMEM_RO);
			set_range(fx, 0, 0, 0, size);
			assign(fx, assigned);
			assert_int_equal(extent(fx, va, MMU_TLB_READ, &host), 0);
			assert_non_null(fx_translate(fx, CTX, va, READ));
			assert_int_equal(extent(fx, va, MMU_TLB_READ, &host),
					 page - va % page);
			assert_ptr_equal(host, (u8 *)testmem_host(fx->tm, bus) + va);
			assert_int_equal(extent(fx, va, MMU_TLB_WRITE, &host), 0);
			/* Another page, or grain. */
			assert_int_equal(extent(fx, va + page, MMU_TLB_READ, &host), 0);
			mmu_invalidate_range(&fx->mmu, CTX, va, va);
			assert_int_equal(extent(fx, va, MMU_TLB_READ, &host), 0);
			host_free(fx->tlb.far);
			fx_destroy(fx);
		}
	}
}

static void a_reset_lets_directories_choose(void **state)
{
	struct fixture *fx = fx_create();

	(void)state;
	assign(fx, true);
	mmu_reset(&fx->mmu);
	assert_int_equal(atomic_load(&fx->mmu.page_sizes), 0);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_assigning_range_allows_its_own_size_only),
		cmocka_unit_test(outside_of_assigning_ranges_pages_are_4k),
		cmocka_unit_test(random_ranges_equal_the_model),
		cmocka_unit_test(one_walk_serves_a_page_of_an_assigned_size),
		cmocka_unit_test(invalidating_a_part_of_a_page_drops_all_of_it),
		cmocka_unit_test(parts_of_an_invalidated_page_are_walked_again),
		cmocka_unit_test(an_extent_is_the_rest_of_a_page_of_an_assigned_size),
		cmocka_unit_test(a_reset_lets_directories_choose),
	};

	return cmocka_run_group_tests_name("mmu assigned sizes", tests, NULL, NULL);
}
