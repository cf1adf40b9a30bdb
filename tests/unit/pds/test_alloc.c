// SPDX-License-Identifier: MIT
/*
 * The store allocator: no unit is lost or allocated twice, and the allocation is the
 * lowest that fits. The reference is a map with one flag per unit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../qemu-device/gpu/pds/alloc.h"
#include "cmocka_all.h"

#define SIZE 512u

static u32 next_random(u64 *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)(*state >> 33);
}

static void alloc_of_no_units_always_succeeds(void **state)
{
	struct pds_store store;
	u32 start;

	(void)state;
	pds_store_init(&store, 0);
	assert_true(pds_store_alloc(&store, 0, &start));
	assert_int_equal(start, 0);
	pds_store_free(&store, start, 0);
	assert_false(pds_store_alloc(&store, 1, &start));
}

static void alloc_can_use_every_unit_and_no_more(void **state)
{
	struct pds_store store;
	u32 start;

	(void)state;
	pds_store_init(&store, SIZE);
	assert_false(pds_store_alloc(&store, SIZE + 1, &start));
	assert_true(pds_store_alloc(&store, SIZE, &start));
	assert_int_equal(start, 0);
	assert_false(pds_store_alloc(&store, 1, &start));
	pds_store_free(&store, 0, SIZE);
	assert_true(pds_store_alloc(&store, SIZE, &start));
}

static void alloc_refuses_if_fragmented(void **state)
{
	struct pds_store store;
	u32 start, i;

	(void)state;
	pds_store_init(&store, 8);
	for (i = 0; i < 4; i++)
		assert_true(pds_store_alloc(&store, 2, &start));
	pds_store_free(&store, 0, 2);
	pds_store_free(&store, 4, 2);
	assert_int_equal(store.free, 4);
	assert_false(pds_store_alloc(&store, 3, &start));
	assert_true(pds_store_alloc(&store, 2, &start));
	assert_int_equal(start, 0);
}

/* Four adjacent pieces are freed in each of the 24 orders. */
static void free_merges_adjacent_units_in_any_order(void **state)
{
	u32 order;

	(void)state;
	for (order = 0; order < 256; order++) {
		u32 a = order & 3, b = order >> 2 & 3, c = order >> 4 & 3, d = order >> 6;
		const u32 piece[4] = { a, b, c, d };
		struct pds_store store;
		u32 start, i;

		if ((1u << a | 1u << b | 1u << c | 1u << d) != 15)
			continue;
		pds_store_init(&store, 40);
		for (i = 0; i < 4; i++)
			assert_true(pds_store_alloc(&store, 10, &start));
		for (i = 0; i < 4; i++)
			pds_store_free(&store, piece[i] * 10, 10);
		assert_int_equal(store.extents, 1);
		assert_true(pds_store_alloc(&store, 40, &start));
	}
}

/* The most fragmented store: every live piece, of tasks and outputs, is between free ones. */
#define LIVE (PUMICE_USC_TASKS + PDS_OUTPUT_PIECES)

static void alloc_supports_as_many_pieces_as_a_usc_manages_tasks(void **state)
{
	struct pds_store store;
	u32 start, i;

	(void)state;
	pds_store_init(&store, 3 * LIVE + 1);
	for (i = 0; i < 3 * LIVE + 1; i++)
		assert_true(pds_store_alloc(&store, 1, &start));
	for (i = 0; i < 3 * LIVE + 1; i += 3)
		pds_store_free(&store, i, 1);
	for (i = 2; i < 3 * LIVE + 1; i += 3)
		pds_store_free(&store, i, 1);
	assert_int_equal(store.extents, PDS_STORE_EXTENTS);
	assert_int_equal(store.free, 2 * LIVE + 1);
	for (i = 1; i < 3 * LIVE + 1; i += 3)
		pds_store_free(&store, i, 1);
	assert_int_equal(store.extents, 1);
	assert_true(pds_store_alloc(&store, 3 * LIVE + 1, &start));
}

struct model {
	bool taken[SIZE];
	struct pds_extent live[PUMICE_USC_TASKS];
	u32 lives;
};

/* First fit, unit by unit; SIZE when nothing fits. */
static u32 model_place(const struct model *m, u32 count)
{
	u32 start, run = 0;

	for (start = 0; start < SIZE; start++) {
		run = m->taken[start] ? 0 : run + 1;
		if (run == count)
			return start + 1 - count;
	}
	return SIZE;
}

static void model_check(const struct model *m, const struct pds_store *store)
{
	bool taken[SIZE];
	u32 i, j, free = 0;

	memset(taken, 1, sizeof(taken));
	for (i = 0; i < store->extents; i++) {
		const struct pds_extent *e = &store->extent[i];

		assert_true(e->count > 0 && e->start + e->count <= SIZE);
		if (i)
			assert_true(e[-1].start + e[-1].count < e->start);
		for (j = e->start; j < e->start + e->count; j++)
			taken[j] = false;
		free += e->count;
	}
	assert_int_equal(store->free, free);
	assert_memory_equal(taken, m->taken, sizeof(taken));
}

static void random_sequences_lose_and_overlap_nothing(void **state)
{
	u64 rnd = 0x5eed0001;
	u32 step;
	struct model m = { 0 };
	struct pds_store store;

	(void)state;
	print_message("seed 0x%llx\n", (unsigned long long)rnd);
	pds_store_init(&store, SIZE);
	for (step = 0; step < 200000; step++) {
		u32 count = next_random(&rnd) % 40 + 1;

		if (next_random(&rnd) % 2 && m.lives < PUMICE_USC_TASKS) {
			u32 want = model_place(&m, count), start;

			assert_int_equal(pds_store_alloc(&store, count, &start), want < SIZE);
			if (want == SIZE)
				continue;
			assert_int_equal(start, want);
			m.live[m.lives++] = (struct pds_extent){ start, count };
			memset(&m.taken[start], 1, count);
		} else if (m.lives) {
			u32 i = next_random(&rnd) % m.lives;
			struct pds_extent e = m.live[i];

			pds_store_free(&store, e.start, e.count);
			memset(&m.taken[e.start], 0, e.count);
			m.live[i] = m.live[--m.lives];
		}
		if (step % 16 == 0)
			model_check(&m, &store);
	}
	while (m.lives) {
		struct pds_extent e = m.live[--m.lives];

		pds_store_free(&store, e.start, e.count);
	}
	assert_int_equal(store.extents, 1);
	assert_int_equal(store.free, SIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alloc_of_no_units_always_succeeds),
		cmocka_unit_test(alloc_can_use_every_unit_and_no_more),
		cmocka_unit_test(alloc_refuses_if_fragmented),
		cmocka_unit_test(free_merges_adjacent_units_in_any_order),
		cmocka_unit_test(alloc_supports_as_many_pieces_as_a_usc_manages_tasks),
		cmocka_unit_test(random_sequences_lose_and_overlap_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
