// SPDX-License-Identifier: MIT
/*
 * Page-size ranges: page sizes that a directory may use, by address.
 */
#include "rig.h"

#define READ	PUMICE_ACCESS_READ
#define BLOCK	(2ull << 20)

/* Set range register pair n: pages up to size from first to last, both inclusive. */
static void set_range(struct rig *rig, unsigned int n, u64 first, u64 last, u32 size)
{
	atomic_store(&rig->mmu.range_start[n],
		     first | PUMICE_FIELD_PREP(PUMICE_MMU_RANGE_START__SIZE, size));
	atomic_store(&rig->mmu.range_end[n], last | PUMICE_MMU_RANGE_END__ENABLE__MASK);
}

static void clear_range(struct rig *rig, unsigned int n)
{
	atomic_store(&rig->mmu.range_end[n], 0);
}

/* One page of each size, each in its own block from va on; blocks share their memory. */
static void map_all_sizes(struct rig *rig, u64 va)
{
	u64 bus = testmem_alloc(rig->tm, BLOCK, BLOCK);
	unsigned int size;

	for (size = 0; size < PUMICE_PAGE_SIZE_COUNT; size++)
		testmem_map_bus(rig->tm, CTX, va + size * BLOCK, bus, testmem_page_bytes(size),
				size, 0);
}

/* At va, pages up to limit work and larger ones fault. */
static void check_limit(struct rig *rig, u64 va, unsigned int limit)
{
	unsigned int size;

	mmu_invalidate_all(&rig->mmu);
	for (size = 0; size < PUMICE_PAGE_SIZE_COUNT; size++) {
		if (size <= limit)
			assert_non_null(rig_translate(rig, CTX, va + size * BLOCK, READ));
		else
			assert_faults(rig, va + size * BLOCK, READ, PUMICE_FAULT_MMU_PAGE_SIZE);
	}
}

static void a_range_allows_sizes_up_to_its_own(void **state)
{
	struct rig *rig = rig_create();
	unsigned int limit;

	(void)state;
	map_all_sizes(rig, 0);
	for (limit = 0; limit < PUMICE_PAGE_SIZE_COUNT; limit++) {
		set_range(rig, 0, 0, 16 * BLOCK, limit);
		check_limit(rig, 0, limit);
	}
	rig_destroy(rig);
}

static void outside_of_all_ranges_only_4k_pages_work(void **state)
{
	struct rig *rig = rig_create();

	(void)state;
	map_all_sizes(rig, 64 * BLOCK);
	set_range(rig, 0, 0, 63 * BLOCK, PUMICE_PAGE_SIZE_2M);
	set_range(rig, 1, 70 * BLOCK, 80 * BLOCK, PUMICE_PAGE_SIZE_2M);
	check_limit(rig, 64 * BLOCK, PUMICE_PAGE_SIZE_4K);
	rig_destroy(rig);
}

static void range_includes_its_first_and_last_block(void **state)
{
	struct rig *rig = rig_create();
	u64 bus = testmem_alloc(rig->tm, BLOCK, BLOCK), block;

	(void)state;
	for (block = 9; block <= 13; block++)
		testmem_map_bus(rig->tm, CTX, block * BLOCK, bus, BLOCK, PUMICE_PAGE_SIZE_2M, 0);
	set_range(rig, 0, 10 * BLOCK, 12 * BLOCK, PUMICE_PAGE_SIZE_2M);
	assert_faults(rig, 10 * BLOCK - 1, READ, PUMICE_FAULT_MMU_PAGE_SIZE);
	assert_non_null(rig_translate(rig, CTX, 10 * BLOCK, READ));
	assert_non_null(rig_translate(rig, CTX, 13 * BLOCK - 1, READ));
	assert_faults(rig, 13 * BLOCK, READ, PUMICE_FAULT_MMU_PAGE_SIZE);
	rig_destroy(rig);
}

static void lowest_number_wins_in_overlapping_ranges(void **state)
{
	struct rig *rig = rig_create();

	(void)state;
	map_all_sizes(rig, 0);
	set_range(rig, 7, 0, 16 * BLOCK, PUMICE_PAGE_SIZE_2M);
	clear_range(rig, 0);
	check_limit(rig, 0, PUMICE_PAGE_SIZE_2M);
	set_range(rig, 3, 0, 16 * BLOCK, PUMICE_PAGE_SIZE_16K);
	check_limit(rig, 0, PUMICE_PAGE_SIZE_16K);
	set_range(rig, 1, 0, 16 * BLOCK, PUMICE_PAGE_SIZE_256K);
	check_limit(rig, 0, PUMICE_PAGE_SIZE_256K);
	clear_range(rig, 1);
	check_limit(rig, 0, PUMICE_PAGE_SIZE_16K);
	rig_destroy(rig);
}

static void a_range_that_ends_before_it_begins_is_empty(void **state)
{
	struct rig *rig = rig_create();

	(void)state;
	map_all_sizes(rig, 0);
	set_range(rig, 0, 16 * BLOCK, 0, PUMICE_PAGE_SIZE_2M);
	check_limit(rig, 0, PUMICE_PAGE_SIZE_4K);
	rig_destroy(rig);
}

static void a_range_of_unknown_size_allows_4k(void **state)
{
	struct rig *rig = rig_create();
	unsigned int size;

	(void)state;
	map_all_sizes(rig, 0);
	for (size = PUMICE_PAGE_SIZE_COUNT; size <= 15; size++) {
		set_range(rig, 0, 0, 16 * BLOCK, size);
		check_limit(rig, 0, PUMICE_PAGE_SIZE_4K);
	}
	rig_destroy(rig);
}

static void a_directory_with_an_unknown_page_size_faults(void **state)
{
	struct rig *rig = rig_create();
	unsigned int size;

	(void)state;
	testmem_map(rig->tm, CTX, 0, 4096, PUMICE_PAGE_SIZE_4K, 0);
	for (size = PUMICE_PAGE_SIZE_COUNT; size <= 7; size++) {
		struct pumice_mmu_pd_entry pd;
		u64 *raw = testmem_pd_entry(rig->tm, CTX, 0);

		pumice_mmu_pd_entry_unpack64(*raw, &pd);
		pd.page_size = (u8)size;
		*raw = pumice_mmu_pd_entry_pack64(&pd);
		assert_faults(rig, 0, READ, PUMICE_FAULT_MMU_PAGE_SIZE);
	}
	rig_destroy(rig);
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
