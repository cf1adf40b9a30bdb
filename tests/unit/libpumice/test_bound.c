// SPDX-License-Identifier: MIT
/*
 * The bound ranges of an address space, compared after each operation with an array that has an
 * element for each page: binds, unbinds and destroyed buffers, at random.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bound.h"
#include "internal.h"

#include <cmocka.h>

#define PAGES	48u	/* of the address space */
#define FIRST	7u	/* page of its first address */
#define BOS	3u
#define ROUNDS	20000u

/* Contents of a page. */
struct page {
	const struct pumice_bo *bo;
	u64 bo_offset;
	u32 flags;	/* of the bind */
	bool bound;
};

struct model {
	struct page page[PAGES];
	struct pumice_bo bo[BOS];
	u32 random;
};

static u32 next(struct model *m, u32 below)
{
	m->random = m->random * 1664525 + 1013904223;
	return (m->random >> 16) % below;
}

static u64 va_of(u32 page)
{
	return (u64)(FIRST + page) * PAGE_BYTES;
}

/* Bind or unbind some pages, in the model too. */
static void change(struct model *m, struct bound *bound)
{
	const u32 at = next(m, PAGES), count = 1 + next(m, PAGES - at), what = next(m, 4);
	struct pumice_bind op = { .va = va_of(at), .size = (u64)count * PAGE_BYTES };
	u32 i;

	if (what == 1)
		op.flags = PUMICE_BIND_NULL;
	if (what > 1) {
		op.bo = &m->bo[next(m, BOS)];
		op.bo_offset = (u64)next(m, PAGES) * PAGE_BYTES;
		op.flags = what == 2 ? PUMICE_BIND_READONLY : 0;
	}
	bound_change(bound, &op);
	for (i = at; i < at + count; i++)
		m->page[i] = (struct page){ op.bo, op.bo ? op.bo_offset + (i - at) * PAGE_BYTES : 0,
					    op.flags, what > 0 };
}

/* Remove the ranges of a buffer, or all. */
static void remove_some(struct model *m, struct bound *bound)
{
	const struct pumice_bind all = { .flags = PUMICE_BIND_UNMAP_ALL };
	const struct pumice_bo *bo = next(m, 8) ? &m->bo[next(m, BOS)] : NULL;
	u32 i;

	if (bo)
		bound_forget(bound, bo);
	else
		bound_change(bound, &all);
	for (i = 0; i < PAGES; i++)
		if (!bo || m->page[i].bo == bo)
			m->page[i] = (struct page){ 0 };
}

/* The ranges are sorted, do not overlap, and are the pages of the model. */
static void check(const struct model *m, struct bound *bound)
{
	u32 page = 0, count = 0, of_bos = 0;
	const struct bound_range *r;
	u64 last = va_of(0);

	assert_false(bound->incomplete);
	for (r = bound_first(bound); r; r = bound_next((struct bound_range *)r)) {
		u64 offset;

		assert_true(r->at.va >= last && r->at.size && r->at.size % PAGE_BYTES == 0);
		last = range_end(&r->at);
		count++;
		of_bos += r->bo != NULL;
		for (; va_of(page) < r->at.va; page++)
			assert_false(m->page[page].bound);
		for (offset = 0; offset < r->at.size; offset += PAGE_BYTES, page++) {
			assert_true(page < PAGES && m->page[page].bound);
			assert_ptr_equal(m->page[page].bo, r->bo);
			assert_int_equal(m->page[page].flags, r->flags);
			if (r->bo)
				assert_int_equal(m->page[page].bo_offset, r->bo_offset + offset);
		}
	}
	for (; page < PAGES; page++)
		assert_false(m->page[page].bound);
	assert_int_equal(bound->count, count);
	for (page = 0; page < BOS; page++)
		of_bos -= m->bo[page].bound;
	assert_int_equal(of_bos, 0);
}

static void ranges_equal_those_of_an_array_of_pages(void **state)
{
	struct bound bound = { 0 };
	struct model m = { .random = 1 };
	u32 i;

	(void)state;
	for (i = 0; i < BOS; i++) {
		m.bo[i].size = 2 * PAGES * PAGE_BYTES;
		pthread_mutex_init(&m.bo[i].lock, NULL);
	}
	for (i = 0; i < ROUNDS; i++) {
		if (next(&m, 16))
			change(&m, &bound);
		else
			remove_some(&m, &bound);
		check(&m, &bound);
	}
	for (i = 0; i < BOS; i++)
		pthread_mutex_destroy(&m.bo[i].lock);
	bound_fini(&bound);
}

/* The part of a buffer that was unbound is named, not the rest. */
static void an_unbound_part_is_remembered_as_such(void **state)
{
	struct pumice_bo bo = { .size = 3 * PAGE_BYTES, .label = "x" };
	struct pumice_bind op = { .bo = &bo, .va = va_of(0), .size = bo.size };
	const struct bound_former *former;
	struct bound bound = { 0 };

	(void)state;
	pthread_mutex_init(&bo.lock, NULL);
	bound_change(&bound, &op);
	op = (struct pumice_bind){ .va = va_of(1), .size = PAGE_BYTES };
	bound_change(&bound, &op);
	assert_int_equal(bound.count, 2);
	former = bound_find_former(&bound, va_of(1) + 8);
	assert_non_null(former);
	assert_int_equal(former->va, va_of(1));
	assert_int_equal(former->size, PAGE_BYTES);
	assert_string_equal(former->label, "x");
	bound_fini(&bound);
	pthread_mutex_destroy(&bo.lock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_equal_those_of_an_array_of_pages),
		cmocka_unit_test(an_unbound_part_is_remembered_as_such),
	};

	return cmocka_run_group_tests_name("bound", tests, NULL, NULL);
}
