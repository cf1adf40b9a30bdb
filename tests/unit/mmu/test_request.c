// SPDX-License-Identifier: MIT
/*
 * Requests to the memory hierarchy in detailed modes: one for each access, and for each entry of a
 * table that a walk reads.
 */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#define READ	PUMICE_ACCESS_READ
#define WRITE	PUMICE_ACCESS_WRITE
#define VA	0x40000000ull
#define MOST	32u
#define FAR	64u

struct record {
	struct mmu_request request[MOST];
	u32 count;
};

static void record(void *opaque, const struct mmu_request *request)
{
	struct record *r = opaque;

	assert_true(r->count < MOST);
	r->request[r->count++] = *request;
}

/* Return a fixture with a page of context CTX, in a detailed mode. */
static struct fixture *detailed(struct record *r, u8 **host)
{
	struct fixture *fx = fx_create();

	memset(r, 0, sizeof(*r));
	*host = testmem_map(fx->tm, CTX, VA, 4096, PUMICE_PAGE_SIZE_4K, 0);
	fx->tlb.place = 7;
	mmu_set_request(&fx->mmu, record, r);
	return fx;
}

/* Check the requests since the last check: of walks, then one of the unit. */
static void assert_requests(struct record *r, u32 walks, u64 va, u64 bytes,
			    enum pumice_access access)
{
	const struct mmu_request *last = &r->request[walks];
	u32 i;

	assert_int_equal(r->count, walks + 1);
	for (i = 0; i < walks; i++) {
		assert_int_equal(r->request[i].unit, PUMICE_UNIT_NONE);
		assert_int_equal(r->request[i].access, READ);
		assert_int_equal(r->request[i].bytes, sizeof(u64));
		assert_int_equal(r->request[i].ctx, CTX);
	}
	assert_int_equal(last->unit, PUMICE_UNIT_USC_DATA);
	assert_int_equal(last->place, 7);
	assert_int_equal(last->ctx, CTX);
	assert_int_equal(last->addr, va);
	assert_int_equal(last->bytes, bytes);
	assert_int_equal(last->access, access);
	r->count = 0;
}

static void each_access_is_a_request_and_the_first_has_a_walk(void **state)
{
	struct fixture *fx;
	struct record r;
	u8 *host;

	(void)state;
	fx = detailed(&r, &host);
	assert_ptr_equal(fx_translate(fx, CTX, VA + 8, READ), host + 8);
	/* Catalogue, directory, table. */
	assert_requests(&r, 3, VA + 8, 1, READ);
	assert_ptr_equal(fx_translate(fx, CTX, VA + 9, WRITE), host + 9);
	assert_requests(&r, 0, VA + 9, 1, WRITE);
	mmu_invalidate_ctx(&fx->mmu, CTX);
	assert_ptr_equal(fx_translate(fx, CTX, VA, READ), host);
	assert_requests(&r, 3, VA, 1, READ);
	assert_int_equal(fx->tlb.hits, 1);
	fx_destroy(fx);
}

/* In both levels; the functions that do not request find nothing. */
static void entries_are_for_accesses_with_requests_only(void **state)
{
	struct mmu_tlb_entry *far = mmu_tlb_far_create(FAR);
	struct fixture *fx;
	struct record r;
	u8 *host, *found;

	(void)state;
	assert_non_null(far);
	fx = detailed(&r, &host);
	mmu_tlb_set_far(&fx->tlb, far, FAR);
	assert_ptr_equal(fx_translate(fx, CTX, VA, READ), host);
	assert_null(mmu_tlb_find(&fx->mmu, &fx->tlb, CTX, VA, MMU_TLB_READ));
	assert_null(mmu_tlb_lookup(&fx->mmu, &fx->tlb, CTX, VA, MMU_TLB_READ));
	assert_int_equal(mmu_tlb_extent(&fx->mmu, &fx->tlb, CTX, VA, MMU_TLB_READ, &found), 0);
	mmu_set_request(&fx->mmu, NULL, NULL);
	r.count = 0;
	assert_ptr_equal(fx_translate(fx, CTX, VA, READ), host);
	assert_ptr_equal(mmu_tlb_lookup(&fx->mmu, &fx->tlb, CTX, VA, MMU_TLB_READ), host);
	assert_int_equal(r.count, 0);
	mmu_set_request(&fx->mmu, record, &r);
	assert_null(mmu_tlb_find(&fx->mmu, &fx->tlb, CTX, VA, MMU_TLB_READ));
	fx_destroy(fx);
	host_free(far);
}

static void a_faulting_access_has_its_walk_only(void **state)
{
	struct fixture *fx;
	struct record r;
	u8 *host;

	(void)state;
	fx = detailed(&r, &host);
	assert_null(fx_translate(fx, CTX, VA + 4096, READ));
	assert_int_equal(r.count, 3);
	assert_int_equal(r.request[2].unit, PUMICE_UNIT_NONE);
	r.count = 0;
	assert_null(fx_translate(fx, CTX, 1ull << PUMICE_MMU_VA_BITS, READ));
	assert_int_equal(r.count, 0);
	fx_destroy(fx);
}

static void copies_request_the_bytes_of_each_grain(void **state)
{
	u8 data[4096 + 24];
	struct fixture *fx;
	struct record r;
	u8 *host;

	(void)state;
	fx = detailed(&r, &host);
	testmem_map(fx->tm, CTX, VA + 4096, 4096, PUMICE_PAGE_SIZE_4K, 0);
	memset(data, 1, sizeof(data));
	assert_true(mmu_write(&fx->mmu, &fx->tlb, CTX, VA + 4096 - 16, data, 24,
			      PUMICE_UNIT_USC_DATA, &fx->fault));
	assert_int_equal(r.count, 8);
	assert_int_equal(r.request[3].addr, VA + 4096 - 16);
	assert_int_equal(r.request[3].bytes, 16);
	assert_int_equal(r.request[7].addr, VA + 4096);
	assert_int_equal(r.request[7].bytes, 8);
	r.count = 0;
	assert_true(mmu_read(&fx->mmu, &fx->tlb, CTX, VA, data, 64, READ, PUMICE_UNIT_USC_DATA,
			     &fx->fault));
	assert_requests(&r, 0, VA, 64, READ);
	fx_destroy(fx);
}

/* Tables that the MMU keeps for the PM: a cleared one, and an entry of it and of its directory. */
static void writes_of_the_mmu_to_tables_are_requests(void **state)
{
	struct mmu_owned at = { .va = VA };
	struct fixture *fx;
	struct record r;
	u8 *host;

	(void)state;
	fx = detailed(&r, &host);
	at.directory = testmem_alloc(fx->tm, 4096, 4096);
	at.table = testmem_alloc(fx->tm, 4096, 4096);
	assert_true(mmu_owned_map(&fx->mmu, &at, 0, true));
	assert_int_equal(r.count, 3);
	assert_int_equal(r.request[0].addr, at.table);
	assert_int_equal(r.request[0].bytes, 4096);
	assert_int_equal(r.request[1].addr, at.table);
	assert_int_equal(r.request[2].addr, at.directory);
	assert_int_equal(r.request[2].access, WRITE);
	r.count = 0;
	mmu_owned_unmap(&fx->mmu, &at);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.request[0].addr, at.table);
	fx_destroy(fx);
}

/* Hits of each level of the TLB, and misses; walks are not marked. */
static void requests_to_coherent_pages_are_marked(void **state)
{
	struct mmu_tlb_entry *far = mmu_tlb_far_create(FAR);
	struct fixture *fx;
	struct record r;
	u8 *host;
	u32 i;

	(void)state;
	assert_non_null(far);
	fx = detailed(&r, &host);
	mmu_tlb_set_far(&fx->tlb, far, FAR);
	testmem_map(fx->tm, CTX, VA + 4096, 4096, PUMICE_PAGE_SIZE_4K, TESTMEM_COHERENT);
	for (i = 0; i < 3; i++) {
		if (i == 2)
			memset(fx->tlb.entry, 0, sizeof(fx->tlb.entry));
		assert_non_null(fx_translate(fx, CTX, VA, READ));
		assert_non_null(fx_translate(fx, CTX, VA + 4096, READ));
		assert_non_null(fx_translate(fx, CTX, VA + 8191, WRITE));
	}
	assert_int_equal(fx->tlb.misses, 2);
	for (i = 0; i < r.count; i++) {
		bool walk = r.request[i].unit == PUMICE_UNIT_NONE;

		assert_int_equal(r.request[i].coherent, !walk && r.request[i].addr >= VA + 4096);
	}
	assert_int_equal(r.count, 6 + 9);
	fx_destroy(fx);
	host_free(far);
}

/* The first and the last grain of a page. */
static void coherent_pages_have_any_size(void **state)
{
	struct fixture *fx;
	struct record r;
	u8 *host;
	u32 size;

	(void)state;
	fx = detailed(&r, &host);
	for (size = 0; size < PUMICE_PAGE_SIZE_COUNT; size++) {
		const u64 bytes = testmem_page_bytes((enum pumice_page_size)size);
		const u64 va = VA + (size + 1) * (1ull << MMU_BLOCK_SHIFT);

		testmem_map(fx->tm, CTX, va, bytes, (enum pumice_page_size)size, TESTMEM_COHERENT);
		r.count = 0;
		assert_non_null(fx_translate(fx, CTX, va, READ));
		assert_true(r.request[r.count - 1].coherent);
		assert_non_null(fx_translate(fx, CTX, va + bytes - 1, WRITE));
		assert_true(r.request[r.count - 1].coherent);
	}
	fx_destroy(fx);
}

/* Further bytes of a page whose entry another page has replaced: without another walk. */
static void a_part_of_a_page_is_coherent_without_its_entry(void **state)
{
	const u64 other = VA + MMU_TLB_ENTRIES * 4096ull;
	struct fixture *fx;
	struct record r;
	u8 *host;

	(void)state;
	fx = detailed(&r, &host);
	testmem_map(fx->tm, CTX, other, 4096, PUMICE_PAGE_SIZE_4K, TESTMEM_COHERENT);
	assert_ptr_equal(mmu_tlb_entry(&fx->tlb, VA), mmu_tlb_entry(&fx->tlb, other));
	assert_non_null(fx_translate(fx, CTX, other, READ));
	assert_non_null(fx_translate(fx, CTX, VA, READ));
	r.count = 0;
	mmu_request(&fx->mmu, &fx->tlb, CTX, other + 8, 8, READ, PUMICE_UNIT_USC_DATA);
	mmu_request(&fx->mmu, &fx->tlb, CTX, VA + 8, 8, READ, PUMICE_UNIT_USC_DATA);
	assert_int_equal(r.count, 2);
	assert_true(r.request[0].coherent);
	assert_false(r.request[1].coherent);
	fx_destroy(fx);
}

/* Though they have no memory: the requests are made. */
static void coherent_null_pages_are_marked(void **state)
{
	struct fixture *fx;
	struct record r;
	u8 *host;

	(void)state;
	fx = detailed(&r, &host);
	testmem_map_bus(fx->tm, CTX, VA + 4096, 0, 4096, PUMICE_PAGE_SIZE_4K,
			TESTMEM_NULL | TESTMEM_COHERENT);
	assert_non_null(fx_translate(fx, CTX, VA + 4096, READ));
	assert_true(r.request[r.count - 1].coherent);
	assert_non_null(fx_translate(fx, CTX, VA + 4096, WRITE));
	assert_true(r.request[r.count - 1].coherent);
	fx_destroy(fx);
}

/* The inline functions find the entry of a coherent page as any other. */
static void fast_mode_ignores_coherence(void **state)
{
	struct fixture *fx = fx_create();
	u8 *host;

	(void)state;
	host = testmem_map(fx->tm, CTX, VA, 4096, PUMICE_PAGE_SIZE_4K,
			   TESTMEM_COHERENT | TESTMEM_RO);
	assert_ptr_equal(fx_translate(fx, CTX, VA, READ), host);
	assert_ptr_equal(mmu_tlb_lookup(&fx->mmu, &fx->tlb, CTX, VA, MMU_TLB_READ), host);
	assert_null(mmu_tlb_lookup(&fx->mmu, &fx->tlb, CTX, VA, MMU_TLB_WRITE));
	assert_null(fx_translate(fx, CTX, VA, WRITE));
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_MMU_READ_ONLY);
	fx_destroy(fx);
}

static struct mmu_request last_read;

/* The second word of the page, and it alone, differs in caches. */
static bool hold(void *opaque, const struct mmu_request *read, const u8 *grain, u8 *to)
{
	last_read = *read;
	if (*(const bool *)opaque)
		return false;
	memcpy(to, grain, 4096);
	memset(to + 4, 0xcc, 4);
	return true;
}

static void reads_return_data_that_caches_hold(void **state)
{
	struct fixture *fx;
	struct record r;
	bool none = false;
	u8 *host;
	u32 n;

	(void)state;
	fx = detailed(&r, &host);
	memset(host, 0x11, 4096);
	mmu_set_held(&fx->mmu, hold, &none);
	/* The entry is filled, and then found. */
	for (n = 0; n < 2; n++) {
		const u8 *data = fx_translate(fx, CTX, VA + 2, READ);

		assert_memory_equal(data, "\x11\x11\xcc\xcc\xcc\xcc\x11", 7);
		assert_int_equal(last_read.unit, PUMICE_UNIT_USC_DATA);
		assert_int_equal(last_read.ctx, CTX);
		assert_int_equal(last_read.addr, VA + 2);
		assert_int_equal(last_read.access, READ);
	}
	assert_ptr_equal(fx_translate(fx, CTX, VA + 2, WRITE), host + 2);
	none = true;
	assert_ptr_equal(fx_translate(fx, CTX, VA + 2, READ), host + 2);
	mmu_set_held(&fx->mmu, NULL, NULL);
	none = false;
	assert_ptr_equal(fx_translate(fx, CTX, VA + 2, READ), host + 2);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_access_is_a_request_and_the_first_has_a_walk),
		cmocka_unit_test(entries_are_for_accesses_with_requests_only),
		cmocka_unit_test(a_faulting_access_has_its_walk_only),
		cmocka_unit_test(copies_request_the_bytes_of_each_grain),
		cmocka_unit_test(writes_of_the_mmu_to_tables_are_requests),
		cmocka_unit_test(requests_to_coherent_pages_are_marked),
		cmocka_unit_test(coherent_pages_have_any_size),
		cmocka_unit_test(a_part_of_a_page_is_coherent_without_its_entry),
		cmocka_unit_test(coherent_null_pages_are_marked),
		cmocka_unit_test(fast_mode_ignores_coherence),
		cmocka_unit_test(reads_return_data_that_caches_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
