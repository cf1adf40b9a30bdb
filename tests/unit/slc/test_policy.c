// SPDX-License-Identifier: MIT
/*
 * Cached and bypassing requests and atomics: lines that are filled, bytes from and to memory.
 */
#include "../support/cmocka_all.h"

#include "fixture.h"

/* Assert the bytes from and to memory of a client, which are then those of the banks as well. */
static void assert_memory(const struct fixture *fx, u32 client, u64 read, u64 written)
{
	assert_int_equal(slc_client(fx->slc, client)->read_bytes, read);
	assert_int_equal(slc_client(fx->slc, client)->written_bytes, written);
}

static void miss_fills_the_whole_line(void **state)
{
	struct fixture fx;
	u32 thread;

	(void)state;
	fixture_create(&fx, &fixture_wide);
	for (thread = 0; thread < 16; thread++)
		fixture_submit(&fx, thread * 8, 8, SLC_READ, false);
	fixture_finish(&fx);
	assert_int_equal(slc_client(fx.slc, 0)->misses, 1);
	assert_int_equal(slc_client(fx.slc, 0)->hits, 15);
	assert_int_equal(slc_client(fx.slc, 0)->bytes, 128);
	assert_memory(&fx, 0, 128, 0);
	fixture_destroy(&fx);
	fixture_create(&fx, &fixture_narrow);
	fixture_perform(&fx, 8, 8, SLC_READ, false);
	assert_memory(&fx, 0, 32, 0);
	fixture_destroy(&fx);
}

static void write_reads_only_segments_that_it_does_not_cover(void **state)
{
	static const struct {
		u64 addr;
		u32 bytes, read;
	} cases[] = {
		{ 0, 128, 0 }, { 0, 64, 64 }, { 64, 64, 64 }, { 0, 63, 128 }, { 1, 127, 64 },
		{ 4, 4, 128 },
	};
	struct fixture fx;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fixture_create(&fx, &fixture_wide);
		fixture_perform(&fx, cases[i].addr, cases[i].bytes, SLC_WRITE, false);
		assert_memory(&fx, 0, cases[i].read, 0);
		assert_int_equal(fx.when[0] > SLC_MISS_STEPS, cases[i].read != 0);
		assert_int_equal(slc_client(fx.slc, 0)->misses, 1);
		fixture_destroy(&fx);
	}
}

static void write_back_is_of_the_written_segments(void **state)
{
	const struct slc_config config = {
		.bytes = 128, .banks = 1, .ways = 1, .line_bytes = 128, .segment_bytes = 64,
		.inputs = 1, .clients = FIXTURE_CLIENTS,
	};
	struct fixture fx;

	(void)state;
	fixture_create(&fx, &config);
	fixture_perform(&fx, 64, 4, SLC_WRITE, false);
	assert_memory(&fx, 0, 128, 0);
	fixture_perform(&fx, 128, 128, SLC_WRITE, false);
	assert_memory(&fx, 0, 128, 64);
	fixture_perform(&fx, 0, 4, SLC_READ, false);
	assert_memory(&fx, 0, 256, 192);
	fixture_perform(&fx, 128, 4, SLC_READ, false);
	assert_memory(&fx, 0, 384, 192);
	assert_int_equal(slc_bank(fx.slc, 0)->evictions, 3);
	assert_int_equal(slc_bank(fx.slc, 0)->written_lines, 2);
	assert_int_equal(slc_bank(fx.slc, 0)->written_bytes, 192);
	fixture_destroy(&fx);
}

static void write_back_counts_for_the_last_writer(void **state)
{
	const struct cache_range all = cache_range_all(CACHE_ANY_CTX);
	struct slc_swept swept;
	struct fixture fx;

	(void)state;
	fixture_create(&fx, &fixture_wide);
	fixture_submit_of(&fx, 1, 0, 64, SLC_WRITE, false);
	fixture_submit_of(&fx, 2, 64, 64, SLC_WRITE, false);
	fixture_submit_of(&fx, 3, 0, 128, SLC_READ, false);
	fixture_submit_of(&fx, 3, 128, 4, SLC_WRITE, false);
	fixture_finish(&fx);
	swept = slc_clean(fx.slc, &all);
	assert_int_equal(swept.lines, 2);
	assert_int_equal(swept.written_bytes, 192);
	assert_int_equal(swept.lost_bytes, 0);
	assert_memory(&fx, 1, 64, 0);
	assert_memory(&fx, 2, 0, 128);
	assert_memory(&fx, 3, 128, 64);
	fixture_destroy(&fx);
}

static void bypassing_requests_fill_no_line(void **state)
{
	struct fixture fx;

	(void)state;
	fixture_create(&fx, &fixture_wide);
	fixture_perform(&fx, 32, 16, SLC_READ, true);
	fixture_perform(&fx, 32, 64, SLC_READ, true);
	fixture_perform(&fx, 32, 16, SLC_WRITE, true);
	assert_false(slc_find(fx.slc, 1, 32, NULL));
	assert_memory(&fx, 0, 64 + 128, 64);
	assert_int_equal(slc_client(fx.slc, 0)->bypasses, 3);
	assert_int_equal(slc_client(fx.slc, 0)->hits + slc_client(fx.slc, 0)->misses, 0);
	/* A write is complete without waiting for memory. */
	assert_int_equal(fx.when[2] - fx.when[1], 2);
	fixture_destroy(&fx);
}

static void bypassing_write_keeps_the_line_and_its_dirty_segments(void **state)
{
	struct cache_line line;
	struct fixture fx;

	(void)state;
	fixture_create(&fx, &fixture_wide);
	fixture_perform(&fx, 0, 4, SLC_WRITE, false);
	fixture_perform(&fx, 64, 64, SLC_WRITE, true);
	assert_memory(&fx, 0, 128, 64);
	assert_true(slc_find(fx.slc, 1, 0, &line));
	assert_int_equal(line.dirty, 1);
	fixture_perform(&fx, 64, 4, SLC_READ, false);
	assert_int_equal(slc_client(fx.slc, 0)->hits, 1);
	fixture_destroy(&fx);
}

static void bypassing_read_uses_the_dirty_segments(void **state)
{
	struct cache_line line;
	struct fixture fx;

	(void)state;
	fixture_create(&fx, &fixture_wide);
	fixture_perform(&fx, 64, 4, SLC_WRITE, false);
	fixture_perform(&fx, 64, 4, SLC_READ, true);
	assert_int_equal(fx.when[1] - fx.when[0], 2);
	assert_memory(&fx, 0, 128, 0);
	fixture_perform(&fx, 0, 128, SLC_READ, true);
	assert_memory(&fx, 0, 128 + 64, 0);
	assert_int_equal(fx.when[2] - fx.when[1], 1 + 2 + SLC_MISS_STEPS);
	assert_true(slc_find(fx.slc, 1, 0, &line));
	assert_int_equal(line.dirty, 2);
	fixture_destroy(&fx);
}

/* Document 004, "SLC": writes to the parameter buffer would evict what is read many times. */
static void bypassing_writes_evict_nothing(void **state)
{
	struct fixture fx;
	u32 lines = fixture_wide.bytes / 128, i;

	(void)state;
	fixture_create(&fx, &fixture_wide);
	for (i = 0; i < lines; i++)
		fixture_perform(&fx, i * 128ull, 64, SLC_READ, false);
	for (i = 0; i < 4 * lines; i++)
		fixture_perform(&fx, (1ull << 32) + i * 128ull, 128, SLC_WRITE, true);
	for (i = 0; i < lines; i++)
		fixture_perform(&fx, i * 128ull, 64, SLC_READ, false);
	assert_int_equal(slc_client(fx.slc, 0)->misses, lines);
	assert_int_equal(slc_client(fx.slc, 0)->hits, lines);
	assert_int_equal(fixture_sum(&fx, &fixture_wide, evictions), 0);
	fixture_destroy(&fx);
}

static void atomics_are_cached_and_leave_dirty_segments(void **state)
{
	struct cache_line line;
	struct fixture fx;

	(void)state;
	fixture_create(&fx, &fixture_wide);
	fixture_perform(&fx, 72, 8, SLC_ATOMIC, false);
	assert_memory(&fx, 0, 128, 0);
	assert_true(slc_find(fx.slc, 1, 0, &line));
	assert_int_equal(line.dirty, 2);
	/* Even one of a whole segment reads it. */
	fixture_perform(&fx, 4096, 64, SLC_ATOMIC, false);
	assert_memory(&fx, 0, 256, 0);
	assert_int_equal(slc_client(fx.slc, 0)->misses, 2);
	assert_int_equal(slc_client(fx.slc, 0)->bypasses, 0);
	fixture_destroy(&fx);
}

/* Coherent pages: the operation is done in memory, but for segments that a line has dirty. */
static void bypassing_atomics_read_and_write_memory(void **state)
{
	struct fixture fx;

	(void)state;
	fixture_create(&fx, &fixture_wide);
	fixture_perform(&fx, 72, 8, SLC_ATOMIC, true);
	assert_false(slc_find(fx.slc, 1, 72, NULL));
	assert_memory(&fx, 0, 64, 64);
	assert_int_equal(slc_client(fx.slc, 0)->bypasses, 1);
	assert_int_equal(slc_client(fx.slc, 0)->hits + slc_client(fx.slc, 0)->misses, 0);
	fixture_perform(&fx, 72, 8, SLC_WRITE, false);
	assert_memory(&fx, 0, 64 + 128, 64);
	fixture_perform(&fx, 72, 8, SLC_ATOMIC, true);
	assert_memory(&fx, 0, 64 + 128, 128);
	fixture_destroy(&fx);
}

static void clean_and_invalidate_return_their_bytes(void **state)
{
	const struct cache_range some = { .ctx = 1, .first = 0, .last = 511 };
	const struct cache_range other = cache_range_all(2);
	struct slc_swept swept;
	struct fixture fx;
	u32 i;

	(void)state;
	fixture_create(&fx, &fixture_wide);
	/* Lines over all banks, every other one written, half of it. */
	for (i = 0; i < 8; i++)
		fixture_submit(&fx, i * 128, 64, i % 2 ? SLC_WRITE : SLC_READ, false);
	fixture_finish(&fx);
	assert_int_equal(slc_clean(fx.slc, &other).lines, 0);
	assert_int_equal(slc_invalidate(fx.slc, &other).lines, 0);
	swept = slc_clean(fx.slc, &some);
	assert_int_equal(swept.lines, 2);
	assert_int_equal(swept.written_bytes, 128);
	assert_memory(&fx, 0, 4 * 128 + 4 * 64, 128);
	swept = slc_invalidate(fx.slc, &some);
	assert_int_equal(swept.lines, 4);
	assert_int_equal(swept.lost_bytes, 0);
	swept = slc_invalidate(fx.slc, &(struct cache_range){ CACHE_ANY_CTX, 0, ~0ull });
	assert_int_equal(swept.lines, 4);
	assert_int_equal(swept.lost_bytes, 128);
	assert_int_equal(swept.written_bytes, 0);
	assert_memory(&fx, 0, 4 * 128 + 4 * 64, 128);
	fixture_destroy(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(miss_fills_the_whole_line),
		cmocka_unit_test(write_reads_only_segments_that_it_does_not_cover),
		cmocka_unit_test(write_back_is_of_the_written_segments),
		cmocka_unit_test(write_back_counts_for_the_last_writer),
		cmocka_unit_test(bypassing_requests_fill_no_line),
		cmocka_unit_test(bypassing_write_keeps_the_line_and_its_dirty_segments),
		cmocka_unit_test(bypassing_read_uses_the_dirty_segments),
		cmocka_unit_test(bypassing_writes_evict_nothing),
		cmocka_unit_test(atomics_are_cached_and_leave_dirty_segments),
		cmocka_unit_test(bypassing_atomics_read_and_write_memory),
		cmocka_unit_test(clean_and_invalidate_return_their_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
