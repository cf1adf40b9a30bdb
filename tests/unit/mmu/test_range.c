// SPDX-License-Identifier: MIT
/*
 * Page-size ranges: page sizes that a directory may use, by address.
 */
#include "fixture.h"

#define READ	PUMICE_ACCESS_READ
#define BLOCK	(2ull << 20)

/* Set range register pair n: pages up to size from first to last, both inclusive. */
static void set_range(struct fixture *fx, unsigned int n, u64 first, u64 last, u32 size)
{
	atomic_store(&fx->mmu.range_start[n],
		     first | PUMICE_FIELD_PREP(PUMICE_MMU_RANGE_START__SIZE, size));
	atomic_store(&fx->mmu.range_end[n], last | PUMICE_MMU_RANGE_END__ENABLE__MASK);
}

static void clear_range(struct fixture *fx, unsigned int n)
{
	atomic_store(&fx->mmu.range_end[n], 0);
}

/* One page of each size, each in its own block from va on; blocks share their memory. */
static void map_all_sizes(struct fixture *fx, u64 va)
{
	u64 bus = testmem_alloc(fx->tm, BLOCK, BLOCK);
	unsigned int size;

	for (size = 0; size < PUMICE_PAGE_SIZE_COUNT; size++)
		testmem_map_bus(fx->tm, CTX, va + size * BLOCK, bus, testmem_page_bytes(size),
				size, 0);
}

/* At va, pages up to limit work and larger ones fault. */
static void check_limit(struct fixture *fx, u64 va, unsigned int limit)
{
	unsigned int size;

	mmu_invalidate_all(&fx->mmu);
	for (size = 0; size < PUMICE_PAGE_SIZE_COUNT; size++) {
		if (size <= limit)
			assert_non_null(fx_translate(fx, CTX, va + size * BLOCK, READ));
		else
			assert_faults(fx, va + size * BLOCK, READ, PUMICE_FAULT_MMU_PAGE_SIZE);
	}
}

static void a_range_allows_sizes_up_to_its_own(void **state)
{
	struct fixture *fx = fx_create();
	unsigned int limit;

	(void)state;
	map_all_sizes(fx, 0);
	for (limit = 0; limit < PUMICE_PAGE_SIZE_COUNT; limit++) {
		set_range(fx, 0, 0, 16 * BLOCK, limit);
		check_limit(fx, 0, limit);
	}
	fx_destroy(fx);
}

static void outside_of_all_ranges_only_4k_pages_work(void **state)
{
	struct fixture *fx = fx_create();

	(void)state;
	map_all_sizes(fx, 64 * BLOCK);
	set_range(fx, 0, 0, 63 * BLOCK, PUMICE_PAGE_SIZE_2M);
	set_range(fx, 1, 70 * BLOCK, 80 * BLOCK, PUMICE_PAGE_SIZE_2M);
	check_limit(fx, 64 * BLOCK, PUMICE_PAGE_SIZE_4K);
	fx_destroy(fx);
}

static void range_includes_its_first_and_last_block(void **state)
{
	struct fixture *fx = fx_create();
	u64 bus = testmem_alloc(fx->tm, BLOCK, BLOCK), block;

	(void)state;
	for (block = 9; block <= 13; block++)
		testmem_map_bus(fx->tm, CTX, block * BLOCK, bus, BLOCK, PUMICE_PAGE_SIZE_2M, 0);
	set_range(fx, 0, 10 * BLOCK, 12 * BLOCK, PUMICE_PAGE_SIZE_2M);
	assert_faults(fx, 10 * BLOCK - 1, READ, PUMICE_FAULT_MMU_PAGE_SIZE);
	assert_non_null(fx_translate(fx, CTX, 10 * BLOCK, READ));
	assert_non_null(fx_translate(fx, CTX, 13 * BLOCK - 1, READ));
	assert_faults(fx, 13 * BLOCK, READ, PUMICE_FAULT_MMU_PAGE_SIZE);
	fx_destroy(fx);
}

static void lowest_number_wins_in_overlapping_ranges(void **state)
{
	struct fixture *fx = fx_create();

	(void)state;
	map_all_sizes(fx, 0);
	set_range(fx, 7, 0, 16 * BLOCK, PUMICE_PAGE_SIZE_2M);
	clear_range(fx, 0);
	check_limit(fx, 0, PUMICE_PAGE_SIZE_2M);
	set_range(fx, 3, 0, 16 * BLOCK, PUMICE_PAGE_SIZE_16K);
	check_limit(fx, 0, PUMICE_PAGE_SIZE_16K);
	set_range(fx, 1, 0, 16 * BLOCK, PUMICE_PAGE_SIZE_256K);
	check_limit(fx, 0, PUMICE_PAGE_SIZE_256K);
	clear_range(fx, 1);
	check_limit(fx, 0, PUMICE_PAGE_SIZE_16K);
	fx_destroy(fx);
}

static void a_range_that_ends_before_it_begins_is_empty(void **state)
{
	struct fixture *fx = fx_create();

	(void)state;
	map_all_sizes(fx, 0);
	set_range(fx, 0, 16 * BLOCK, 0, PUMICE_PAGE_SIZE_2M);
	check_limit(fx, 0, PUMICE_PAGE_SIZE_4K);
	fx_destroy(fx);
}

static void a_range_of_unknown_size_allows_4k(void **state)
{
	struct fixture *fx = fx_create();
	unsigned int size;

	(void)state;
	map_all_sizes(fx, 0);
	for (size = PUMICE_PAGE_SIZE_COUNT; size <= 15; size++) {
		set_range(fx, 0, 0, 16 * BLOCK, size);
		check_limit(fx, 0, PUMICE_PAGE_SIZE_4K);
	}
	fx_destroy(fx);
}

static void a_directory_with_an_unknown_page_size_faults(void **state)
{
	struct fixture *fx = fx_create();
	unsigned int size;

	(void)state;
	testmem_map(fx->tm, CTX, 0, 4096, PUMICE_PAGE_SIZE_4K, 0);
	for (size = PUMICE_PAGE_SIZE_COUNT; size <= 7; size++) {
		struct pumice_mmu_pd_entry pd;
		u64 *raw = testmem_pd_entry(fx->tm, CTX, 0);

		pumice_mmu_pd_entry_unpack64(*raw, &pd);
		pd.page_size = (u8)size;
		*raw = pumice_mmu_pd_entry_pack64(&pd);
		assert_faults(fx, 0, READ, PUMICE_FAULT_MMU_PAGE_SIZE);
	}
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_range_allows_sizes_up_to_its_own),
		cmocka_unit_test(outside_of_all_ranges_only_4k_pages_work),
		cmocka_unit_test(range_includes_its_first_and_last_block),
		cmocka_unit_test(lowest_number_wins_in_overlapping_ranges),
		cmocka_unit_test(a_range_that_ends_before_it_begins_is_empty),
		cmocka_unit_test(a_range_of_unknown_size_allows_4k),
		cmocka_unit_test(a_directory_with_an_unknown_page_size_faults),
	};

	return cmocka_run_group_tests_name("mmu ranges", tests, NULL, NULL);
}
