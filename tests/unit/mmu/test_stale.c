// SPDX-License-Identifier: MIT
/* Mode strict: uses of TLB entries whose translation the tables have no longer. */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#define READ	PUMICE_ACCESS_READ
#define WRITE	PUMICE_ACCESS_WRITE
#define VA	0x40000000ull
#define FAR	1024u
#define OTHER_VA (VA + MMU_TLB_ENTRIES * 4096ull)	/* the same entry of the first level */

struct record {
	struct mmu_stale last;
	u32 count;
};

static void request(void *opaque, const struct mmu_request *r)
{
	(void)opaque;
	(void)r;
}

static void stale(void *opaque, const struct mmu_stale *use)
{
	struct record *r = opaque;

	r->last = *use;
	r->count++;
}

/* Return a fixture with a page of context CTX that has been read and written in mode strict. */
static struct fixture *strict(struct record *r, struct mmu_tlb_entry *far)
{
	struct fixture *fx = fx_create();

	memset(r, 0, sizeof(*r));
	if (far)
		mmu_tlb_set_far(&fx->tlb, far, FAR);
	testmem_map(fx->tm, CTX, VA, 4096, PUMICE_PAGE_SIZE_4K, 0);
	mmu_set_stale(&fx->mmu, stale, r);
	mmu_set_request(&fx->mmu, request, NULL);
	mmu_job_begins(&fx->mmu, CTX);
	assert_non_null(fx_translate(fx, CTX, VA, READ));
	assert_non_null(fx_translate(fx, CTX, VA, WRITE));
	assert_int_equal(r->count, 0);
	return fx;
}

static void first_use_in_a_job_of_a_page_that_was_replaced_is_reported(void **state)
{
	struct fixture *fx;
	struct record r;

	(void)state;
	fx = strict(&r, NULL);
	testmem_map(fx->tm, CTX, VA, 4096, PUMICE_PAGE_SIZE_4K, 0);
	mmu_job_begins(&fx->mmu, CTX);
	fx_translate(fx, CTX, VA + 8, WRITE);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.last.addr, VA + 8);
	assert_int_equal(r.last.ctx, CTX);
	assert_int_equal(r.last.access, WRITE);
	assert_int_equal(r.last.unit, PUMICE_UNIT_USC_DATA);
	fx_translate(fx, CTX, VA, READ);
	assert_int_equal(r.count, 1);
	mmu_job_begins(&fx->mmu, CTX);
	fx_translate(fx, CTX, VA, READ);
	assert_int_equal(r.count, 2);
	fx_destroy(fx);
}

/* Its user unmaps it too early, and the invalidation follows. */
static void page_that_is_replaced_while_a_job_uses_it_is_not_reported(void **state)
{
	struct fixture *fx;
	struct record r;

	(void)state;
	fx = strict(&r, NULL);
	testmem_map(fx->tm, CTX, VA, 4096, PUMICE_PAGE_SIZE_4K, 0);
	fx_translate(fx, CTX, VA, READ);
	mmu_invalidate_range(&fx->mmu, CTX, VA, VA);
	mmu_job_begins(&fx->mmu, CTX);
	fx_translate(fx, CTX, VA, READ);
	assert_int_equal(r.count, 0);
	fx_destroy(fx);
}

static void pages_that_stay_the_same_are_not_reported(void **state)
{
	struct fixture *fx;
	struct record r;

	(void)state;
	fx = strict(&r, NULL);
	testmem_map(fx->tm, CTX, VA + 4096, 4096, PUMICE_PAGE_SIZE_4K, TESTMEM_NULL);
	fx_translate(fx, CTX, VA + 4096, WRITE);
	mmu_job_begins(&fx->mmu, CTX);
	fx_translate(fx, CTX, VA, READ);
	fx_translate(fx, CTX, VA + 4096, WRITE);
	fx_translate(fx, CTX, VA + 4096, READ);
	mmu_job_begins(&fx->mmu, CTX);
	fx_translate(fx, CTX, VA + 4096, READ);
	assert_int_equal(r.count, 0);
	fx_destroy(fx);
}

/* A load by the entry is right; the store after it is not. */
static void store_is_reported_after_the_page_has_become_read_only(void **state)
{
	struct fixture *fx;
	struct record r;
	u8 *host;

	(void)state;
	fx = strict(&r, NULL);
	host = fx_translate(fx, CTX, VA, READ);
	testmem_map_bus(fx->tm, CTX, VA, testmem_bus(fx->tm, host), 4096, PUMICE_PAGE_SIZE_4K,
			TESTMEM_RO);
	mmu_job_begins(&fx->mmu, CTX);
	fx_translate(fx, CTX, VA, READ);
	assert_int_equal(r.count, 0);
	fx_translate(fx, CTX, VA, WRITE);
	assert_int_equal(r.count, 1);
	fx_destroy(fx);
}

static void entries_of_the_second_level_are_compared(void **state)
{
	struct mmu_tlb_entry *far = mmu_tlb_far_create(FAR);
	struct fixture *fx;
	struct record r;

	(void)state;
	assert_non_null(far);
	fx = strict(&r, far);
	testmem_map(fx->tm, CTX, VA, 4096, PUMICE_PAGE_SIZE_4K, 0);
	memset(fx->tlb.entry, 0, sizeof(fx->tlb.entry));
	mmu_job_begins(&fx->mmu, CTX);
	fx_translate(fx, CTX, VA, READ);
	assert_int_equal(r.count, 1);
	fx_destroy(fx);
	host_free(far);
}

/* Of instructions the USC reports them, with their place. */
static void use_that_was_found_before_the_access_is_not_reported_again(void **state)
{
	struct fixture *fx;
	struct record r;

	(void)state;
	fx = strict(&r, NULL);
	testmem_map(fx->tm, CTX, VA, 4096, PUMICE_PAGE_SIZE_4K, 0);
	assert_false(mmu_uses_stale(&fx->mmu, &fx->tlb, CTX, VA, READ, PUMICE_UNIT_USC_DATA));
	mmu_job_begins(&fx->mmu, CTX);
	assert_false(mmu_uses_stale(&fx->mmu, &fx->tlb, CTX, VA + 4096, READ,
				    PUMICE_UNIT_USC_DATA));
	assert_true(mmu_uses_stale(&fx->mmu, &fx->tlb, CTX, VA, READ, PUMICE_UNIT_USC_DATA));
	fx_translate(fx, CTX, VA, READ);
	assert_int_equal(r.count, 0);
	fx_destroy(fx);
}

/* As two lanes of an instruction do. */
static void use_of_an_entry_lost_by_the_first_level_is_not_reported_again(void **state)
{
	struct mmu_tlb_entry *far = mmu_tlb_far_create(FAR);
	struct fixture *fx;
	struct record r;
	u32 changed;

	(void)state;
	assert_non_null(far);
	assert_int_equal(mmu_tlb_number(VA), mmu_tlb_number(OTHER_VA));
	fx = strict(&r, far);
	testmem_map(fx->tm, CTX, OTHER_VA, 4096, PUMICE_PAGE_SIZE_4K, 0);
	for (changed = 0; changed < 2; changed++) {
		fx_translate(fx, CTX, OTHER_VA, READ);
		mmu_job_begins(&fx->mmu, CTX);
		/* Before the first use in the job, or after it. */
		if (!changed)
			testmem_map(fx->tm, CTX, VA, 4096, PUMICE_PAGE_SIZE_4K, 0);
		fx_translate(fx, CTX, VA, READ);
		assert_int_equal(r.count, 1);
		if (changed)
			testmem_map(fx->tm, CTX, VA, 4096, PUMICE_PAGE_SIZE_4K, 0);
		fx_translate(fx, CTX, OTHER_VA, READ);
		fx_translate(fx, CTX, VA, READ);
		assert_int_equal(r.count, 1);
		mmu_invalidate_range(&fx->mmu, CTX, VA, VA);
		fx_translate(fx, CTX, VA, READ);
	}
	fx_destroy(fx);
	host_free(far);
}

/* A page has one entry in the second level, and one for each grain in the first. */
static void use_of_a_large_page_is_reported_once(void **state)
{
	struct mmu_tlb_entry *far = mmu_tlb_far_create(FAR);
	const u64 large = VA + (2u << 20);
	struct fixture *fx;
	struct record r;

	(void)state;
	assert_non_null(far);
	fx = strict(&r, far);
	atomic_store(&fx->mmu.page_sizes, PUMICE_FIELD_PREP(PUMICE_MMU_PAGE_SIZES__MODE,
							    PUMICE_MMU_PAGE_SIZES_RANGE));
	atomic_store(&fx->mmu.range_start[0],
		     large | PUMICE_FIELD_PREP(PUMICE_MMU_RANGE_START__SIZE, PUMICE_PAGE_SIZE_64K));
	atomic_store(&fx->mmu.range_end[0], large | PUMICE_MMU_RANGE_END__ENABLE__MASK);
	testmem_map(fx->tm, CTX, large, 65536, PUMICE_PAGE_SIZE_64K, 0);
	fx_translate(fx, CTX, large, READ);
	testmem_map(fx->tm, CTX, large, 65536, PUMICE_PAGE_SIZE_64K, 0);
	mmu_job_begins(&fx->mmu, CTX);
	fx_translate(fx, CTX, large, READ);
	fx_translate(fx, CTX, large + 4096, READ);
	assert_int_equal(r.count, 1);
	fx_destroy(fx);
	host_free(far);
}

/* A page whose memory is in two regions has an entry in the second level for each grain, too. */
static void use_of_a_page_in_two_regions_is_reported_once(void **state)
{
	struct mmu_tlb_entry *far = mmu_tlb_far_create(FAR);
	const u64 large = VA + (2u << 20), other = large + MMU_TLB_ENTRIES * 4096ull;
	const struct pumice_mem_region *all;
	struct mem_map map = { 0 };
	struct fixture *fx;
	struct record r;
	u64 cut;

	(void)state;
	assert_non_null(far);
	fx = strict(&r, far);
	atomic_store(&fx->mmu.page_sizes, PUMICE_FIELD_PREP(PUMICE_MMU_PAGE_SIZES__MODE,
							    PUMICE_MMU_PAGE_SIZES_RANGE));
	atomic_store(&fx->mmu.range_start[0],
		     large | PUMICE_FIELD_PREP(PUMICE_MMU_RANGE_START__SIZE, PUMICE_PAGE_SIZE_64K));
	atomic_store(&fx->mmu.range_end[0], large | PUMICE_MMU_RANGE_END__ENABLE__MASK);
	assert_int_equal(mmu_tlb_number(large), mmu_tlb_number(other));
	all = testmem_region(fx->tm);
	testmem_map(fx->tm, CTX, other, 65536, PUMICE_PAGE_SIZE_64K, 0);
	cut = testmem_bus(fx->tm, testmem_map(fx->tm, CTX, large, 65536, PUMICE_PAGE_SIZE_64K,
					      0)) + 8192 - all->addr;
	assert_int_equal(mem_map_set(&map, (const struct pumice_mem_region[]){
		{ .addr = all->addr, .size = cut, .host = all->host },
		{ .addr = all->addr + cut, .size = all->size - cut, .host = all->host + cut },
	}, 2), 0);
	fx->mmu.map = &map;
	fx_translate(fx, CTX, large, READ);
	testmem_map(fx->tm, CTX, large, 65536, PUMICE_PAGE_SIZE_64K, 0);
	mmu_job_begins(&fx->mmu, CTX);
	fx_translate(fx, CTX, large, READ);
	assert_int_equal(r.count, 1);
	assert_non_null(fx_translate(fx, CTX, other, READ));
	fx_translate(fx, CTX, large, READ);
	assert_int_equal(r.count, 1);
	fx_destroy(fx);
	mem_map_clear(&map);
	host_free(far);
}

static void jobs_of_other_contexts_do_not_begin_one_of_this(void **state)
{
	struct fixture *fx;
	struct record r;

	(void)state;
	fx = strict(&r, NULL);
	testmem_map(fx->tm, CTX, VA, 4096, PUMICE_PAGE_SIZE_4K, 0);
	mmu_job_begins(&fx->mmu, CTX + 1);
	fx_translate(fx, CTX, VA, READ);
	assert_int_equal(r.count, 0);
	fx_destroy(fx);
}

/* Its memory is used for jobs of all others: free lists, contexts' buffers. */
static void jobs_of_all_contexts_use_context_0(void **state)
{
	struct fixture *fx;
	struct record r;

	(void)state;
	fx = strict(&r, NULL);
	testmem_map(fx->tm, 0, VA, 4096, PUMICE_PAGE_SIZE_4K, 0);
	assert_non_null(fx_translate(fx, 0, VA, READ));
	testmem_map(fx->tm, 0, VA, 4096, PUMICE_PAGE_SIZE_4K, 0);
	mmu_job_begins(&fx->mmu, CTX);
	fx_translate(fx, 0, VA, READ);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.last.ctx, 0);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_use_in_a_job_of_a_page_that_was_replaced_is_reported),
		cmocka_unit_test(page_that_is_replaced_while_a_job_uses_it_is_not_reported),
		cmocka_unit_test(pages_that_stay_the_same_are_not_reported),
		cmocka_unit_test(store_is_reported_after_the_page_has_become_read_only),
		cmocka_unit_test(entries_of_the_second_level_are_compared),
		cmocka_unit_test(use_of_an_entry_lost_by_the_first_level_is_not_reported_again),
		cmocka_unit_test(use_of_a_large_page_is_reported_once),
		cmocka_unit_test(use_of_a_page_in_two_regions_is_reported_once),
		cmocka_unit_test(jobs_of_other_contexts_do_not_begin_one_of_this),
		cmocka_unit_test(jobs_of_all_contexts_use_context_0),
		cmocka_unit_test(use_that_was_found_before_the_access_is_not_reported_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
