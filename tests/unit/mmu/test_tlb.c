// SPDX-License-Identifier: MIT
/*
 * TLB entries are kept until they are invalidated; copies through TLBs.
 */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#include "perf.h"

#define READ	PUMICE_ACCESS_READ
#define WRITE	PUMICE_ACCESS_WRITE
#define VA	0x40000000ull

static void a_removed_mapping_works_until_it_is_invalidated(void **state)
{
	struct fixture *fx = fx_create();
	u8 *host = testmem_map(fx->tm, CTX, VA, 4096, PUMICE_PAGE_SIZE_4K, 0);

	(void)state;
	assert_maps(fx, VA, READ, host);
	testmem_unmap(fx->tm, CTX, VA, 4096);
	assert_maps(fx, VA + 100, READ, host + 100);
	mmu_invalidate_ctx(&fx->mmu, CTX);
	assert_faults(fx, VA, READ, PUMICE_FAULT_MMU_PT_INVALID);
	fx_destroy(fx);
}

static void switching_a_context_off_drops_nothing(void **state)
{
	struct fixture *fx = fx_create();
	u8 *host = testmem_map(fx->tm, CTX, VA, 4096, PUMICE_PAGE_SIZE_4K, 0);

	(void)state;
	assert_maps(fx, VA, READ, host);
	atomic_store(&fx->mmu.ctx[CTX], 0);
	assert_maps(fx, VA, READ, host);
	mmu_invalidate_all(&fx->mmu);
	assert_faults(fx, VA, READ, PUMICE_FAULT_MMU_CONTEXT_OFF);
	fx_destroy(fx);
}

static void invalidating_a_context_does_not_affect_others(void **state)
{
	struct fixture *fx = fx_create();
	u8 *host[2];

	(void)state;
	host[0] = testmem_map(fx->tm, 1, VA, 4096, PUMICE_PAGE_SIZE_4K, 0);
	host[1] = testmem_map(fx->tm, 2, VA + 4096, 4096, PUMICE_PAGE_SIZE_4K, 0);
	assert_ptr_equal(fx_translate(fx, 1, VA, READ), host[0]);
	assert_ptr_equal(fx_translate(fx, 2, VA + 4096, READ), host[1]);
	testmem_unmap(fx->tm, 1, VA, 4096);
	testmem_unmap(fx->tm, 2, VA + 4096, 4096);
	mmu_invalidate_ctx(&fx->mmu, 1);
	fx_assert_fault(fx, 1, VA, READ, PUMICE_FAULT_MMU_PT_INVALID, __FILE__, __LINE__);
	assert_ptr_equal(fx_translate(fx, 2, VA + 4096, READ), host[1]);
	fx_destroy(fx);
}

/* Many pages: the second level still has entries that the first evicted, until invalidated. */
static void a_second_level_keeps_entries_evicted_from_the_first(void **state)
{
	const u32 pages = 4 * MMU_TLB_ENTRIES;
	struct fixture *fx = fx_create();
	u8 *host;
	u64 walks;
	u32 i;

	(void)state;
	mmu_tlb_set_far(&fx->tlb, mmu_tlb_far_create(MMU_TLB_FAR_ENTRIES), MMU_TLB_FAR_ENTRIES);
	assert_non_null(fx->tlb.far);
	assert_int_equal((uintptr_t)fx->tlb.far % 64, 0);
	host = testmem_map(fx->tm, CTX, VA, pages * 4096ull, PUMICE_PAGE_SIZE_4K, TESTMEM_RO);
	for (i = 0; i < pages; i++)
		assert_maps(fx, VA + i * 4096ull, READ, host + i * 4096ull);
	walks = atomic_load(&fx->mmu.misses);
	testmem_unmap(fx->tm, CTX, VA, pages * 4096ull);
	for (i = 0; i < pages; i++)
		assert_maps(fx, VA + i * 4096ull + 8, READ, host + i * 4096ull + 8);
	assert_int_equal(atomic_load(&fx->mmu.misses), walks);
	mmu_invalidate_ctx(&fx->mmu, CTX);
	for (i = 0; i < pages; i++)
		assert_faults(fx, VA + i * 4096ull, READ, PUMICE_FAULT_MMU_PT_INVALID);
	host_free(fx->tlb.far);
	fx_destroy(fx);
}

/* It enforces the page's permissions. */
static void a_second_level_keeps_permissions(void **state)
{
	struct fixture *fx = fx_create();
	u8 *host = testmem_map(fx->tm, CTX, VA, 4096, PUMICE_PAGE_SIZE_4K, TESTMEM_RO);

	(void)state;
	mmu_tlb_set_far(&fx->tlb, mmu_tlb_far_create(MMU_TLB_FAR_ENTRIES), MMU_TLB_FAR_ENTRIES);
	assert_maps(fx, VA, READ, host);
	memset(fx->tlb.entry, 0, sizeof(fx->tlb.entry));
	assert_faults(fx, VA, WRITE, PUMICE_FAULT_MMU_READ_ONLY);
	assert_maps(fx, VA, READ, host);
	host_free(fx->tlb.far);
	fx_destroy(fx);
}

/* The pages of a range, its two ends included, and no adjacent page. */
static void a_range_invalidates_its_pages_only(void **state)
{
	static const struct {
		u32 first, last;	/* bytes from VA */
		u32 page0, page1;	/* invalidated pages; the second one is kept */
	} cases[] = {
		{ 0, 4095, 0, 1 },
		{ 2 * 4096, 5 * 4096 + 4095, 2, 6 },
		{ 2 * 4096, 5 * 4096, 2, 6 },
		{ 3 * 4096 + 100, 3 * 4096 + 200, 3, 4 },
		{ 7 * 4096, 7 * 4096 + 4095, 7, 8 },
		{ 0, 8 * 4096 - 1, 0, 8 },
	};
	u32 i, page;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture *fx = fx_create();
		u8 *host = testmem_map(fx->tm, CTX, VA, 8 * 4096, PUMICE_PAGE_SIZE_4K, 0);

		for (page = 0; page < 8; page++)
			assert_maps(fx, VA + page * 4096, READ, host + page * 4096);
		testmem_unmap(fx->tm, CTX, VA, 8 * 4096);
		mmu_invalidate_range(&fx->mmu, CTX, VA + cases[i].first, VA + cases[i].last);
		for (page = 0; page < 8; page++) {
			if (page >= cases[i].page0 && page < cases[i].page1)
				assert_faults(fx, VA + page * 4096, READ,
					      PUMICE_FAULT_MMU_PT_INVALID);
			else
				assert_maps(fx, VA + page * 4096, READ, host + page * 4096);
		}
		fx_destroy(fx);
	}
}

static void a_range_of_one_context_does_not_affect_others(void **state)
{
	struct fixture *fx = fx_create();
	u8 *host = testmem_map(fx->tm, 2, VA, 4096, PUMICE_PAGE_SIZE_4K, 0);

	(void)state;
	assert_ptr_equal(fx_translate(fx, 2, VA, READ), host);
	testmem_unmap(fx->tm, 2, VA, 4096);
	mmu_invalidate_range(&fx->mmu, 1, VA, VA + 4095);
	assert_ptr_equal(fx_translate(fx, 2, VA, READ), host);
	fx_destroy(fx);
}

/*
 * Both levels: as many invalidations of other addresses as are recorded keep an entry; one
 * among them that contains it does not, however long the unit made no access.
 */
static void an_entry_survives_ranges_that_do_not_contain_it(void **state)
{
	const u64 elsewhere = VA + (1u << 30);
	struct fixture *fx = fx_create();
	u8 *host = testmem_map(fx->tm, CTX, VA, 8192, PUMICE_PAGE_SIZE_4K, 0);
	u32 i;

	(void)state;
	mmu_tlb_set_far(&fx->tlb, mmu_tlb_far_create(MMU_TLB_FAR_ENTRIES), MMU_TLB_FAR_ENTRIES);
	assert_maps(fx, VA, READ, host);
	assert_maps(fx, VA + 4096, READ, host + 4096);
	testmem_unmap(fx->tm, CTX, VA, 8192);
	for (i = 0; i < 3 * MMU_RANGES; i++) {
		mmu_invalidate_range(&fx->mmu, CTX, elsewhere + i * 4096ull,
				     elsewhere + i * 4096ull + 4095);
		assert_maps(fx, VA, READ, host);
		/* Not accessed for the longest possible time. */
		if (i % (MMU_RANGES - 1) == MMU_RANGES - 2)
			assert_maps(fx, VA + 4096, READ, host + 4096);
	}
	mmu_invalidate_range(&fx->mmu, CTX, VA, VA + 4095);
	for (i = 0; i < MMU_RANGES / 2; i++)
		mmu_invalidate_range(&fx->mmu, CTX, elsewhere, elsewhere + 4095);
	assert_faults(fx, VA, READ, PUMICE_FAULT_MMU_PT_INVALID);
	host_free(fx->tlb.far);
	fx_destroy(fx);
}

/* A whole context, or everything, among ranges. */
static void ranges_elsewhere_do_not_restore_invalidated_entries(void **state)
{
	u32 all, i;

	(void)state;
	for (all = 0; all < 2; all++) {
		struct fixture *fx = fx_create();
		u8 *host = testmem_map(fx->tm, CTX, VA, 4096, PUMICE_PAGE_SIZE_4K, 0);

		assert_maps(fx, VA, READ, host);
		testmem_unmap(fx->tm, CTX, VA, 4096);
		if (all)
			mmu_invalidate_all(&fx->mmu);
		else
			mmu_invalidate_ctx(&fx->mmu, CTX);
		for (i = 0; i < 3 * MMU_RANGES; i++)
			mmu_invalidate_range(&fx->mmu, CTX, 0, 4095);
		assert_faults(fx, VA, READ, PUMICE_FAULT_MMU_PT_INVALID);
		fx_destroy(fx);
	}
}

/* Of a range: those of the whole context have numbers only. */
static void the_last_invalidation_of_an_address_is_found(void **state)
{
	struct fixture *fx = fx_create();
	const u64 before = atomic_load(&fx->mmu.gen[CTX]);
	u32 i;

	(void)state;
	assert_int_equal(mmu_find_invalidation(&fx->mmu, CTX, VA), 0);
	mmu_invalidate_range(&fx->mmu, CTX, VA, VA + 8191);
	mmu_invalidate_range(&fx->mmu, CTX, VA, VA + 4095);
	mmu_invalidate_range(&fx->mmu, CTX + 1, VA, VA + 8191);
	mmu_invalidate_ctx(&fx->mmu, CTX);
	assert_int_equal(mmu_find_invalidation(&fx->mmu, CTX, VA + 4095), before + 2);
	assert_int_equal(mmu_find_invalidation(&fx->mmu, CTX, VA + 4096), before + 1);
	assert_int_equal(mmu_find_invalidation(&fx->mmu, CTX, VA + 8192), 0);
	assert_int_equal(mmu_find_invalidation(&fx->mmu, CTX, VA - 1), 0);
	for (i = 3; i <= MMU_RANGES; i++)
		mmu_invalidate_ctx(&fx->mmu, CTX);
	assert_int_equal(mmu_find_invalidation(&fx->mmu, CTX, VA), before + 2);
	mmu_invalidate_ctx(&fx->mmu, CTX);
	assert_int_equal(mmu_find_invalidation(&fx->mmu, CTX, VA), 0);
	fx_destroy(fx);
}

static void a_fault_is_not_cached(void **state)
{
	struct fixture *fx = fx_create();
	u8 *host;

	(void)state;
	assert_faults(fx, VA, READ, PUMICE_FAULT_MMU_PC_INVALID);
	host = testmem_map(fx->tm, CTX, VA, 4096, PUMICE_PAGE_SIZE_4K, 0);
	assert_maps(fx, VA, READ, host);
	fx_destroy(fx);
}

static void a_page_cached_for_reading_still_refuses_writes(void **state)
{
	struct fixture *fx = fx_create();
	u8 *host = testmem_map(fx->tm, CTX, VA, 4096, PUMICE_PAGE_SIZE_4K, TESTMEM_RO);
	u64 bus = testmem_bus(fx->tm, host);

	(void)state;
	assert_maps(fx, VA, READ, host);
	assert_faults(fx, VA, WRITE, PUMICE_FAULT_MMU_READ_ONLY);
	/* A refused access repeats the walk: adding permissions needs no invalidation. */
	testmem_map_bus(fx->tm, CTX, VA, bus, 4096, PUMICE_PAGE_SIZE_4K, 0);
	assert_maps(fx, VA, WRITE, host);
	/* Removing permissions does. */
	testmem_map_bus(fx->tm, CTX, VA, bus, 4096, PUMICE_PAGE_SIZE_4K, TESTMEM_RO);
	assert_maps(fx, VA, WRITE, host);
	mmu_invalidate_ctx(&fx->mmu, CTX);
	assert_faults(fx, VA, WRITE, PUMICE_FAULT_MMU_READ_ONLY);
	fx_destroy(fx);
}

static void a_virtual_gpu_with_a_disabled_part_accesses_no_memory(void **state)
{
	struct fixture *fx = fx_create();
	u8 *host = testmem_map(fx->tm, CTX, VA, 4096, PUMICE_PAGE_SIZE_4K, 0);

	(void)state;
	fx->mmu.oses = 2;
	atomic_fetch_or(&fx->mmu.ctx[CTX], PUMICE_FIELD_PREP(PUMICE_MMU_CTX__OS, 1ull));
	atomic_store(&fx->mmu.part[1], PUMICE_OS_CATALOGUE__ENABLE__MASK);
	assert_maps(fx, VA, READ, host);
	atomic_store(&fx->mmu.part[1], 0);
	mmu_invalidate_all(&fx->mmu);
	assert_faults(fx, VA, READ, PUMICE_FAULT_MMU_CONTEXT_OFF);
	fx_destroy(fx);
}

static void reset_drops_entries_and_registers(void **state)
{
	struct fixture *fx = fx_create();
	u8 *host = testmem_map(fx->tm, CTX, VA, 4096, PUMICE_PAGE_SIZE_4K, 0);
	unsigned int i;

	(void)state;
	assert_maps(fx, VA, READ, host);
	mmu_reset(&fx->mmu);
	for (i = 0; i < PUMICE_MMU_CONTEXTS; i++)
		assert_int_equal(atomic_load(&fx->mmu.ctx[i]), 0);
	for (i = 0; i < PUMICE_MMU_RANGES; i++)
		assert_int_equal(atomic_load(&fx->mmu.range_end[i]), 0);
	assert_faults(fx, VA, READ, PUMICE_FAULT_MMU_CONTEXT_OFF);
	assert_int_equal(atomic_load(&fx->mmu.fault_count), 1);
	fx_destroy(fx);
}

static void one_tlb_does_not_hold_another_contexts_page(void **state)
{
	struct fixture *fx = fx_create();
	u8 *one = testmem_map(fx->tm, 1, VA, 4096, PUMICE_PAGE_SIZE_4K, 0);
	u8 *two = testmem_map(fx->tm, 2, VA, 4096, PUMICE_PAGE_SIZE_4K, 0);

	(void)state;
	assert_ptr_equal(fx_translate(fx, 1, VA, READ), one);
	assert_ptr_equal(fx_translate(fx, 2, VA, READ), two);
	assert_ptr_equal(fx_translate(fx, 1, VA, READ), one);
	fx_destroy(fx);
}

static void hits_and_misses_are_counted(void **state)
{
	struct fixture *fx = fx_create();
	unsigned int i;

	(void)state;
	testmem_map(fx->tm, CTX, VA, 8192, PUMICE_PAGE_SIZE_4K, 0);
	for (i = 0; i < 8; i++)
		assert_non_null(fx_translate(fx, CTX, VA + i * 1024, READ));
	assert_int_equal(fx->tlb.misses, 2);
	assert_int_equal(fx->tlb.hits, 6);
	fx_destroy(fx);
}

/* Over all units: a second TLB has misses of its own. Beyond 1 TiB is a fault without a walk. */
static void counters_include_all_units_and_survive_a_reset(void **state)
{
	struct fixture *fx = fx_create();
	u64 before[PUMICE_PERF_NUMBER] = { 0 }, after[PUMICE_PERF_NUMBER] = { 0 };
	struct mmu_tlb other = { 0 };

	(void)state;
	testmem_map(fx->tm, CTX, VA, 4096, PUMICE_PAGE_SIZE_4K, 0);
	mmu_counters_add(&fx->mmu, before);
	assert_non_null(fx_translate(fx, CTX, VA, READ));
	assert_non_null(fx_translate(fx, CTX, VA, READ));
	assert_non_null(mmu_translate(&fx->mmu, &other, CTX, VA, 1, READ, PUMICE_UNIT_CDM,
				      &fx->fault));
	assert_null(fx_translate(fx, CTX, VA + 4096, READ));
	assert_null(fx_translate(fx, CTX, 1ull << 40, READ));
	mmu_invalidate_ctx(&fx->mmu, CTX);
	mmu_invalidate_all(&fx->mmu);
	mmu_reset(&fx->mmu);
	mmu_counters_add(&fx->mmu, after);
	assert_int_equal(after[PUMICE_PERF_MMU_TLB_MISSES] - before[PUMICE_PERF_MMU_TLB_MISSES], 3);
	assert_int_equal(after[PUMICE_PERF_MMU_FAULTS] - before[PUMICE_PERF_MMU_FAULTS], 2);
	assert_int_equal(after[PUMICE_PERF_MMU_INVALIDATIONS] -
			 before[PUMICE_PERF_MMU_INVALIDATIONS], 2);
	fx_destroy(fx);
}

static void copies_cross_pages_that_are_not_contiguous(void **state)
{
	struct fixture *fx = fx_create();
	u64 va = VA - 4096;	/* the third page begins a new directory */
	u8 *page[3], out[12000], in[12000];
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		page[2 - i] = testmem_map(fx->tm, CTX, va + (2 - i) * 4096, 4096,
					  PUMICE_PAGE_SIZE_4K, 0);
	}
	for (i = 0; i < sizeof(out); i++)
		out[i] = (u8)(i * 7 + i / 256);
	assert_true(mmu_write(&fx->mmu, &fx->tlb, CTX, va + 77, out, sizeof(out),
			      PUMICE_UNIT_USC_DATA, &fx->fault));
	assert_memory_equal(page[0] + 77, out, 4096 - 77);
	assert_memory_equal(page[1], out + 4096 - 77, 4096);
	assert_memory_equal(page[2], out + 8192 - 77, sizeof(out) - 8192 + 77);
	assert_int_equal(page[0][76], 0);
	assert_int_equal(page[2][sizeof(out) - 8192 + 77], 0);
	assert_true(mmu_read(&fx->mmu, &fx->tlb, CTX, va + 77, in, sizeof(in), READ,
			     PUMICE_UNIT_USC_DATA, &fx->fault));
	assert_memory_equal(in, out, sizeof(out));
	fx_destroy(fx);
}

static void a_copy_stops_at_the_faulting_page_and_reports_it(void **state)
{
	struct fixture *fx = fx_create();
	u8 *host = testmem_map(fx->tm, CTX, VA, 4096, PUMICE_PAGE_SIZE_4K, 0);
	u8 buf[4096];

	(void)state;
	memset(buf, 0x5a, sizeof(buf));
	assert_false(mmu_write(&fx->mmu, &fx->tlb, CTX, VA + 4000, buf, sizeof(buf),
			       PUMICE_UNIT_PDS, &fx->fault));
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_MMU_PT_INVALID);
	assert_int_equal(fx->fault.addr, VA + 4096);
	assert_int_equal(fx->fault.access, WRITE);
	assert_int_equal(fx->fault.unit, PUMICE_UNIT_PDS);
	assert_int_equal(host[4095], 0x5a);
	assert_false(mmu_read(&fx->mmu, &fx->tlb, CTX, VA + 4000, buf, sizeof(buf), READ,
			      PUMICE_UNIT_CDM, &fx->fault));
	assert_int_equal(fx->fault.addr, VA + 4096);
	fx_destroy(fx);
}

static void a_copy_does_not_wrap_around_the_address_space(void **state)
{
	struct fixture *fx = fx_create();
	u64 end = 1ull << PUMICE_MMU_VA_BITS;
	u8 buf[64];

	(void)state;
	testmem_map(fx->tm, CTX, end - 4096, 4096, PUMICE_PAGE_SIZE_4K, 0);
	testmem_map(fx->tm, CTX, 0, 4096, PUMICE_PAGE_SIZE_4K, 0);
	assert_false(mmu_read(&fx->mmu, &fx->tlb, CTX, end - 32, buf, sizeof(buf), READ,
			      PUMICE_UNIT_CDM, &fx->fault));
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_MMU_ADDRESS);
	assert_int_equal(fx->fault.addr, end);
	assert_false(mmu_read(&fx->mmu, &fx->tlb, CTX, UINT64_MAX - 3, buf, sizeof(buf), READ,
			      PUMICE_UNIT_CDM, &fx->fault));
	assert_int_equal(fx->fault.addr, UINT64_MAX - 3);
	fx_destroy(fx);
}

/* It is that of the same unit afterwards, which has translated nothing yet. */
static void a_reset_of_a_tlb_keeps_its_unit_only(void **state)
{
	struct mmu_tlb_entry *far = mmu_tlb_far_create(MMU_TLB_FAR_SMALL);
	struct fixture *fx = fx_create();
	u8 *host = testmem_map(fx->tm, CTX, VA, 4096, PUMICE_PAGE_SIZE_4K, 0);

	(void)state;
	fx->tlb.place = 3;
	fx->tlb.usc = 9;
	mmu_tlb_set_far(&fx->tlb, far, MMU_TLB_FAR_SMALL);
	assert_maps(fx, VA, READ, host);
	assert_maps(fx, VA, READ, host);
	assert_true(fx->tlb.hits && fx->tlb.misses);
	/* Not invalidated: either level would still have it. */
	testmem_unmap(fx->tm, CTX, VA, 4096);
	mmu_tlb_reset(&fx->tlb);
	assert_int_equal(fx->tlb.hits, 0);
	assert_int_equal(fx->tlb.misses, 0);
	assert_int_equal(fx->tlb.place, 3);
	assert_int_equal(fx->tlb.usc, 9);
	assert_ptr_equal(fx->tlb.far, far);
	assert_faults(fx, VA, READ, PUMICE_FAULT_MMU_PT_INVALID);
	fx_destroy(fx);
	host_free(far);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_removed_mapping_works_until_it_is_invalidated),
		cmocka_unit_test(switching_a_context_off_drops_nothing),
		cmocka_unit_test(a_virtual_gpu_with_a_disabled_part_accesses_no_memory),
		cmocka_unit_test(invalidating_a_context_does_not_affect_others),
		cmocka_unit_test(a_second_level_keeps_entries_evicted_from_the_first),
		cmocka_unit_test(a_second_level_keeps_permissions),
		cmocka_unit_test(a_range_invalidates_its_pages_only),
		cmocka_unit_test(a_range_of_one_context_does_not_affect_others),
		cmocka_unit_test(an_entry_survives_ranges_that_do_not_contain_it),
		cmocka_unit_test(ranges_elsewhere_do_not_restore_invalidated_entries),
		cmocka_unit_test(the_last_invalidation_of_an_address_is_found),
		cmocka_unit_test(a_fault_is_not_cached),
		cmocka_unit_test(a_page_cached_for_reading_still_refuses_writes),
		cmocka_unit_test(reset_drops_entries_and_registers),
		cmocka_unit_test(one_tlb_does_not_hold_another_contexts_page),
		cmocka_unit_test(hits_and_misses_are_counted),
		cmocka_unit_test(counters_include_all_units_and_survive_a_reset),
		cmocka_unit_test(a_reset_of_a_tlb_keeps_its_unit_only),
		cmocka_unit_test(copies_cross_pages_that_are_not_contiguous),
		cmocka_unit_test(a_copy_stops_at_the_faulting_page_and_reports_it),
		cmocka_unit_test(a_copy_does_not_wrap_around_the_address_space),
	};

	return cmocka_run_group_tests_name("mmu tlb", tests, NULL, NULL);
}
