// SPDX-License-Identifier: MIT
/* Data of lines against memory: reads of stale lines, and bytes that were not cleaned. */
#include "lines_fixture.h"

static struct lines_counts counts(void)
{
	struct lines_counts now;

	lines_get_counts(lines, &now);
	return now;
}

/* Read bytes in a job, write one of them by the CPU, and begin another job. */
static void read_before(u64 va, u64 bytes, u64 changed)
{
	assert_false(reads(va, bytes));
	memory[changed - VA]++;
	lines_job_begin(lines, CTX);
}

static void first_stale_byte_of_a_read_is_returned(void **state)
{
	(void)state;
	read_before(VA + 32, 160, VA + 130);
	memory[131]++;
	assert_true(reads(VA + 48, 100));
	assert_int_equal(at, VA + 130);
	/* Of each job, until the lines are invalidated. */
	assert_false(reads(VA + 48, 100));
	lines_job_begin(lines, CTX);
	assert_true(reads(VA + 131, 1));
	assert_int_equal(at, VA + 131);
	lines_drop(lines, CTX, VA + 128, VA + 128);
	lines_job_begin(lines, CTX);
	assert_false(reads(VA + 48, 100));
}

static void bytes_that_no_job_has_read_are_not_stale(void **state)
{
	(void)state;
	read_before(VA + 8, 8, VA + 16);
	assert_false(reads(VA + 16, 4));
	memory[9]++;
	assert_false(reads(VA + 8, 1));
	assert_true(reads(VA + 9, 1));
}

static void memory_that_is_written_during_a_job_is_not_compared(void **state)
{
	(void)state;
	assert_false(reads(VA, 4));
	memory[0]++;
	assert_false(reads(VA, 4));
}

static void jobs_of_other_contexts_compare_nothing(void **state)
{
	(void)state;
	assert_false(reads(VA, 4));
	memory[0]++;
	lines_job_begin(lines, OTHER);
	assert_false(reads(VA, 4));
	assert_false(lines_read(lines, OTHER, VA, 4, &at));
}

static void invalidated_lines_are_not_stale(void **state)
{
	(void)state;
	assert_false(reads(VA, 256));
	memory[0]++;
	memory[64]++;
	memory[128]++;
	lines_drop(lines, OTHER, 0, ALL);
	lines_clean(lines, CTX, 0, ALL);
	lines_drop(lines, CTX, VA + 127, VA + 127);
	lines_job_begin(lines, CTX);
	assert_false(reads(VA + 64, 64));
	assert_true(reads(VA, 64));
	assert_true(reads(VA + 128, 64));
	memory[200]++;
	lines_drop(lines, MMU_ALL_CONTEXTS, 0, ALL);
	lines_job_begin(lines, CTX);
	assert_false(reads(VA, 256));
	/* A range of more lines than there are. */
	memory[0]++;
	memory[255]++;
	lines_drop(lines, CTX, VA + 255, VA + BYTES);
	lines_job_begin(lines, CTX);
	assert_false(reads(VA + 192, 64));
	assert_true(reads(VA, 64));
}

/* By the caches, with data that arrive later, or to memory. */
static void writes_of_units_are_not_stale(void **state)
{
	(void)state;
	assert_false(reads(VA, 128));
	lines_write(lines, CTX, VA + 62, 4, &writer);
	lines_write(lines, CTX, VA + 8, 1, NULL);
	lines_bypass(lines, CTX, VA + 16, 1);
	memory[8]++;
	memory[16]++;
	memory[62]++;
	memory[65]++;
	lines_job_begin(lines, CTX);
	assert_false(reads(VA, 128));
	memory[66]++;
	lines_job_begin(lines, CTX);
	assert_true(reads(VA, 128));
	assert_int_equal(at, VA + 66);
}

static void bytes_that_are_read_after_a_write_are_compared(void **state)
{
	(void)state;
	assert_false(reads(VA, 4));
	lines_write(lines, CTX, VA, 4, &writer);
	assert_false(reads(VA, 4));
	memory[0]++;
	lines_job_begin(lines, CTX);
	assert_true(reads(VA, 4));
}

/* Scenes and lists of pages are in it. */
static void bytes_of_context_0_are_compared_in_each_job(void **state)
{
	u8 *shared = testmem_map(tm, 0, VA, LINES_GRAIN, PUMICE_PAGE_SIZE_4K, 0);

	(void)state;
	assert_false(lines_read(lines, 0, VA, 4, &at));
	shared[0]++;
	lines_job_begin(lines, CTX);
	assert_true(lines_read(lines, 0, VA, 4, &at));
}

/* They are announced as loads, and requested as stores. */
static void stale_bytes_of_an_atomic_operation_are_found(void **state)
{
	(void)state;
	read_before(VA + 60, 8, VA + 66);
	assert_false(lines_is_stale(lines, CTX, VA + 60, 8, &at));
	lines_expect(lines, CTX, VA + 60, 8, false);
	lines_expect(lines, CTX, VA + 60, 8, true);
	assert_false(lines_is_stale(lines, CTX, VA + 60, 6, &at));
	assert_false(lines_is_stale(lines, CTX, VA + 67, 8, &at));
	assert_false(lines_is_stale(lines, OTHER, VA + 60, 8, &at));
	assert_true(lines_is_stale(lines, CTX, VA + 60, 8, &at));
	assert_int_equal(at, VA + 66);
	lines_write(lines, CTX, VA + 60, 8, &writer);
	assert_false(lines_is_stale(lines, CTX, VA + 60, 8, &at));
	assert_false(lines_is_stale(lines, MMU_TABLES, VA, 8, &at));
	assert_false(lines_is_stale(NULL, CTX, VA, 8, &at));
}

/* Another USC has done its operation, and not yet requested it: in this job, or one before. */
static void results_of_atomic_operations_are_not_stale(void **state)
{
	u32 n;

	(void)state;
	for (n = 0; n < 2; n++) {
		const u64 va = VA + n * 256;

		assert_false(reads(va, 4));
		lines_job_begin(lines, CTX);
		announce_atomic(va);
		memory[va - VA]++;
		if (n)
			lines_job_begin(lines, CTX);
		announce_atomic(va);
		assert_false(lines_is_stale(lines, CTX, va, 4, &at));
		lines_write(lines, CTX, va, 4, &writer);
		assert_false(lines_is_stale(lines, CTX, va, 4, &at));
	}
}

/* It may be before the operation, such as a compare-and-exchange. */
static void loads_after_an_announced_store_keep_no_copy(void **state)
{
	(void)state;
	announce_atomic(VA);
	assert_false(reads(VA, 4));
	memory[0]++;
	lines_job_begin(lines, CTX);
	assert_false(reads(VA, 4));
}

static void stale_bytes_are_stale_after_an_announced_store(void **state)
{
	(void)state;
	read_before(VA, 8, VA + 2);
	announce_atomic(VA);
	lines_job_begin(lines, CTX);
	assert_true(reads(VA, 8));
	assert_int_equal(at, VA + 2);
	assert_true(lines_is_stale(lines, CTX, VA, 4, &at));
}

static void first_dirty_byte_of_a_job_is_found_once(void **state)
{
	struct lines_dirty dirty;

	(void)state;
	lines_write(lines, CTX, VA + 192, 4, &writer);
	lines_write(lines, CTX, VA + 70, 4, &writer);
	lines_write(lines, OTHER, VA, 4, &writer);
	lines_write(lines, CTX, VA, 4, NULL);
	end_of_a_job_handled();
	assert_true(lines_take_dirty(lines, 1u << OTHER, &dirty));
	assert_int_equal(dirty.va, VA + 70);
	assert_int_equal(dirty.ctx, CTX);
	assert_int_equal(dirty.tag, 17);
	assert_int_equal(dirty.master, PUMICE_WAVE_MASTER_CDM);
	assert_int_equal(dirty.writer.pc, 7);
	assert_false(lines_take_dirty(lines, 0, &dirty));
}

static void last_writer_of_a_line_is_returned(void **state)
{
	const struct lines_writer last = { .unit = PUMICE_UNIT_USC_DATA, .pc = 8, .code = 9 };
	struct lines_dirty dirty;

	(void)state;
	lines_write(lines, CTX, VA, 4, &writer);
	lines_write(lines, CTX, VA + 4, 4, &last);
	end_of_a_job_handled();
	assert_true(lines_take_dirty(lines, 0, &dirty));
	assert_int_equal(dirty.writer.pc, 8);
}

static void jobs_that_run_or_are_not_handled_have_no_dirty_byte(void **state)
{
	struct lines_dirty dirty;

	(void)state;
	lines_write(lines, CTX, VA, 4, &writer);
	assert_false(lines_take_dirty(lines, 0, &dirty));
	lines_job_end(lines, CTX, PUMICE_UNIT_CDM, PUMICE_WAVE_MASTER_CDM, 17, true);
	assert_false(lines_take_dirty(lines, 0, &dirty));
	lines_job_handled(lines, PUMICE_UNIT_VDM);
	assert_false(lines_take_dirty(lines, 0, &dirty));
	lines_job_handled(lines, PUMICE_UNIT_CDM);
	assert_false(lines_take_dirty(lines, 1u << CTX, &dirty));
	assert_false(lines_take_dirty(lines, 0, &dirty));
}

#define TAG	17u	/* of the job of end_of_a_job_handled() */

/* A job has written bytes, and the firmware signals its end before it cleans the caches. */
static bool signal_and_clean(u32 busy, u64 tag, struct lines_dirty *dirty)
{
	lines_write(lines, CTX, VA + 6, 4, &writer);
	end_of_a_job_handled();
	lines_job_signalled(lines, busy, tag);
	lines_clean(lines, CTX, 0, ALL);
	return lines_take_dirty(lines, 0, dirty);
}

static void bytes_that_are_cleaned_after_the_signal_are_found(void **state)
{
	struct lines_dirty dirty;

	(void)state;
	assert_true(signal_and_clean(1u << OTHER, TAG, &dirty));
	assert_true(dirty.cleaned);
	assert_int_equal(dirty.va, VA + 6);
	assert_int_equal(dirty.ctx, CTX);
	assert_int_equal(dirty.tag, TAG);
	assert_int_equal(dirty.writer.pc, 7);
	assert_false(lines_take_dirty(lines, 0, &dirty));
	/* Of another job, and while one of the context runs, nothing is known. */
	assert_false(signal_and_clean(0, TAG + 1, &dirty));
	assert_false(signal_and_clean(1u << CTX, TAG, &dirty));
	/* Each end is new. */
	end_of_a_job_handled();
	assert_false(lines_take_dirty(lines, 0, &dirty));
	lines_job_signalled(NULL, 0, TAG);
}

static void bytes_that_are_never_cleaned_are_not_those_of_the_signal(void **state)
{
	struct lines_dirty dirty;

	(void)state;
	lines_write(lines, CTX, VA, 4, &writer);
	end_of_a_job_handled();
	lines_job_signalled(lines, 0, TAG);
	assert_true(lines_take_dirty(lines, 0, &dirty));
	assert_false(dirty.cleaned);
	assert_false(lines_take_dirty(lines, 0, &dirty));
}

static void a_clean_before_the_signal_leaves_no_dirty_byte(void **state)
{
	struct lines_dirty dirty;

	(void)state;
	lines_write(lines, CTX, VA, 4, &writer);
	end_of_a_job_handled();
	lines_clean(lines, CTX, 0, ALL);
	lines_job_signalled(lines, 0, TAG);
	assert_false(lines_take_dirty(lines, 0, &dirty));
}

/* That job may be switched out later, and its bytes remain dirty. */
static void job_that_begins_after_an_end_may_have_dirty_bytes(void **state)
{
	struct lines_dirty dirty;

	(void)state;
	end_of_a_job_handled();
	lines_job_begin(lines, CTX);
	lines_write(lines, CTX, VA, 4, &writer);
	assert_false(lines_take_dirty(lines, 0, &dirty));
	end_of_a_job_handled();
	lines_job_begin(lines, OTHER);
	assert_true(lines_take_dirty(lines, 0, &dirty));
}

/* It began before that end, runs no longer, and needs no clean. */
static void job_that_is_switched_out_after_an_end_may_have_dirty_bytes(void **state)
{
	struct lines_dirty dirty;

	(void)state;
	end_of_a_job_handled();
	lines_write(lines, CTX, VA, 4, &writer);
	lines_job_switched(lines, OTHER);
	lines_job_switched(lines, CTX);
	assert_false(lines_take_dirty(lines, 0, &dirty));
	end_of_a_job_handled();
	lines_job_switched(lines, OTHER);
	assert_true(lines_take_dirty(lines, 0, &dirty));
}

static void end_before_a_reset_is_not_one_of_a_job_after_it(void **state)
{
	struct lines_dirty dirty;

	(void)state;
	end_of_a_job_handled();
	lines_reset(lines);
	lines_write(lines, CTX, VA, 4, &writer);
	assert_false(lines_take_dirty(lines, 0, &dirty));
}

static void cleaned_lines_are_not_dirty(void **state)
{
	struct lines_dirty dirty;

	(void)state;
	lines_write(lines, CTX, VA, 4, &writer);
	lines_write(lines, CTX, VA + 64, 4, &writer);
	lines_clean(lines, CTX, VA + 3, VA + 63);
	end_of_a_job_handled();
	assert_true(lines_take_dirty(lines, 0, &dirty));
	assert_int_equal(dirty.va, VA + 64);
	lines_drop(lines, CTX, VA + 64, VA + 64);
	end_of_a_job_handled();
	assert_false(lines_take_dirty(lines, 0, &dirty));
	lines_write(lines, CTX, VA, 4, &writer);
	end_of_a_job_handled();
	lines_reset(lines);
	end_of_a_job_handled();
	assert_false(lines_take_dirty(lines, 0, &dirty));
}

/* ------------------------------------------------------------------- data */

/* Assert the bytes of a grain that a unit reads, from a byte on; without: those of memory. */
static void assert_held(u64 va, const char *bytes)
{
	const u64 grain = va & ~(u64)(LINES_GRAIN - 1);
	u8 to[LINES_GRAIN];
	u32 n;

	assert_int_equal(lines_held(lines, CTX, grain, memory + (grain - VA), to), bytes != NULL);
	if (!bytes)
		return;
	assert_memory_equal(to + (va - grain), bytes, strlen(bytes));
	for (n = 0; n < LINES_GRAIN; n++)
		if (n < va - grain || n >= va - grain + strlen(bytes))
			assert_int_equal(to[n], memory[grain - VA + n]);
}

static void stale_bytes_are_read_as_the_caches_hold_them(void **state)
{
	const u64 last = VA + 2 * LINES_GRAIN - 2;
	u64 visited;

	(void)state;
	put(last, "ab");
	assert_false(reads(last, 2));
	assert_held(last, NULL);
	put(last, "xb");
	assert_held(last, NULL);	/* during the job memory is read */
	lines_job_begin(lines, CTX);
	assert_true(reads(last, 2));
	put(last, "xz");		/* as above */
	put(last - 64, "other");
	assert_held(last, "a");
	assert_held(VA, NULL);
	lines_job_begin(lines, OTHER);
	assert_held(last, "a");
	/* The same values again. */
	put(last, "ab");
	lines_job_begin(lines, CTX);
	assert_false(reads(last, 2));
	assert_held(last, NULL);
	put(last, "az");
	lines_job_begin(lines, CTX);
	assert_true(reads(last, 2));
	assert_held(last, "ab");
	lines_write(lines, CTX, last + 1, 1, NULL);
	assert_held(last, NULL);
	put(last, "x");
	lines_job_begin(lines, CTX);
	assert_true(reads(last, 2));
	assert_held(last, "a");
	lines_drop(lines, CTX, last, last);
	visited = counts().visited;
	assert_held(last, NULL);
	assert_int_equal(counts().visited, visited);
	assert_false(lines_held(lines, MMU_TABLES, VA, memory, memory));
	assert_false(lines_held(NULL, CTX, VA, memory, memory));
}

/* Lanes announce their loads, so that stale bytes are known before the instruction runs. */
static void bytes_that_will_be_read_are_compared_before(void **state)
{
	struct lines_counts before, after;

	(void)state;
	put(VA + 62, "abcd");
	assert_false(reads(VA + 62, 3));
	put(VA + 62, "wxyz");
	lines_job_begin(lines, CTX);
	lines_expect(lines, CTX, VA + 62, 4, false);
	assert_held(VA + 62, "abc");
	/* A finding has to follow. */
	assert_true(reads(VA + 62, 4));
	assert_int_equal(at, VA + 62);
	lines_get_counts(lines, &before);
	lines_expect(lines, CTX, VA + 62, 4, false);
	lines_expect(lines, CTX, VA + 200, 4, false);
	lines_get_counts(lines, &after);
	assert_int_equal(after.copied, before.copied);
	lines_expect(lines, MMU_TABLES, VA, 4, false);
	lines_expect(NULL, CTX, VA, 4, true);
}

/* Those of a window of constants that no lane has read. */
static void bytes_that_are_announced_only_are_not_stale(void **state)
{
	(void)state;
	assert_false(reads(VA, 4));
	lines_expect(lines, CTX, VA + 8, 4, false);
	memory[8]++;
	lines_job_begin(lines, CTX);
	lines_expect(lines, CTX, VA + 8, 4, false);
	assert_held(VA + 8, NULL);
	assert_false(reads(VA + 8, 4));
	/* The same with bytes that have been read. */
	assert_false(reads(VA + 16, 4));
	memory[20]++;
	lines_job_begin(lines, CTX);
	lines_expect(lines, CTX, VA + 16, 8, false);
	memory[20]++;
	lines_job_begin(lines, CTX);
	assert_false(reads(VA + 20, 4));
}

/* Of many lines, the operations of a stream are on a few. */
static void operations_visit_lines_that_they_end(void **state)
{
	struct lines_dirty dirty;
	u64 before;
	u32 n;

	(void)state;
	for (n = 0; n < 1000; n++)
		assert_false(reads(VA + n * 64ull, 4));
	for (n = 900; n < 1000; n++)
		lines_write(lines, CTX, VA + n * 64ull, 4, &writer);
	before = counts().visited;
	lines_clean(lines, CTX, VA + 920 * 64, VA + 921 * 64);
	lines_drop(lines, CTX, VA + 930 * 64, VA + 930 * 64 + 63);
	assert_int_equal(counts().visited - before, 3);
	end_of_a_job_handled();
	assert_true(lines_take_dirty(lines, 0, &dirty));
	assert_int_equal(dirty.va, VA + 900 * 64);
	assert_int_equal(counts().visited - before, 3);
	/* The next lowest one. */
	lines_clean(lines, CTX, VA, VA + 900 * 64);
	end_of_a_job_handled();
	assert_true(lines_take_dirty(lines, 0, &dirty));
	assert_int_equal(dirty.va, VA + 901 * 64);
	before = counts().visited;
	for (n = 0; n < 100; n++)
		lines_clean(lines, CTX, 0, ALL);
	assert_int_equal(counts().visited - before, 96);
	end_of_a_job_handled();
	assert_false(lines_take_dirty(lines, 0, &dirty));
	assert_int_equal(counts().visited - before, 96);
}

/* It is done under the device lock: of the lines that became dirty last. */
static void search_for_the_next_dirty_line_has_a_limit(void **state)
{
	const u32 all = 5000, limit = 4096;
	struct lines_dirty dirty;
	u64 before;
	u32 n;

	(void)state;
	for (n = 0; n < all; n++)
		lines_write(lines, CTX, VA + n * 64ull, 4, &writer);
	lines_clean(lines, CTX, VA, VA);
	end_of_a_job_handled();
	before = counts().visited;
	assert_true(lines_take_dirty(lines, 0, &dirty));
	assert_int_equal(counts().visited - before, limit);
	assert_int_equal(dirty.va, VA + (all - limit) * 64ull);
}

static void operations_on_a_range_visit_no_line_after_all_were_dropped(void **state)
{
	u64 before;
	u32 n;

	(void)state;
	for (n = 0; n < 1000; n++)
		assert_false(reads(VA + n * 64ull, 4));
	lines_drop(lines, CTX, 0, ALL);
	before = counts().visited;
	lines_drop(lines, CTX, VA, VA + 999 * 64);
	assert_int_equal(counts().visited, before);
}

/* Others of the line may be stored by units at the same time. */
static void words_of_the_bytes_are_read(void **state)
{
	const u64 before = counts().copied;

	(void)state;
	assert_false(reads(VA + 7, 2));
	assert_int_equal(counts().copied - before, 2);
	assert_false(reads(VA + 20, 4));
	assert_int_equal(counts().copied - before, 3);
	memory[21]++;
	lines_job_begin(lines, CTX);
	assert_true(reads(VA + 20, 4));
}

/* All lines are used, and most of them several times. */
static void oldest_lines_are_replaced(void **state)
{
	/* About one line of each set. */
	const u64 some = LINES_SETS * LINES_BYTES;
	u64 va;

	(void)state;
	for (va = VA; va < VA + BYTES; va += LINES_BYTES)
		assert_false(reads(va, 8));
	for (va = VA; va < VA + BYTES; va += LINES_BYTES)
		memory[va - VA]++;
	lines_job_begin(lines, CTX);
	for (va = VA + BYTES - some; va < VA + BYTES; va += LINES_BYTES)
		assert_true(reads(va, 8));
	for (va = VA; va < VA + some; va += LINES_BYTES)
		assert_false(reads(va, 8));
	lines_drop(lines, CTX, 0, ALL);
	lines_job_begin(lines, CTX);
	for (va = VA; va < VA + BYTES; va += LINES_BYTES)
		assert_false(reads(va, 8));
}

static void memory_that_is_not_mapped_is_not_compared(void **state)
{
	(void)state;
	assert_false(reads(VA + BYTES, 8));
	lines_job_begin(lines, CTX);
	assert_false(reads(VA + BYTES, 8));
	assert_false(lines_read(lines, MMU_TABLES, VA, 8, &at));
	assert_false(lines_read(NULL, CTX, VA, 8, &at));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(first_stale_byte_of_a_read_is_returned),
		TEST(bytes_that_no_job_has_read_are_not_stale),
		TEST(memory_that_is_written_during_a_job_is_not_compared),
		TEST(jobs_of_other_contexts_compare_nothing),
		TEST(invalidated_lines_are_not_stale),
		TEST(writes_of_units_are_not_stale),
		TEST(bytes_that_are_read_after_a_write_are_compared),
		TEST(bytes_of_context_0_are_compared_in_each_job),
		TEST(stale_bytes_of_an_atomic_operation_are_found),
		TEST(results_of_atomic_operations_are_not_stale),
		TEST(loads_after_an_announced_store_keep_no_copy),
		TEST(stale_bytes_are_stale_after_an_announced_store),
		TEST(first_dirty_byte_of_a_job_is_found_once),
		TEST(last_writer_of_a_line_is_returned),
		TEST(jobs_that_run_or_are_not_handled_have_no_dirty_byte),
		TEST(bytes_that_are_cleaned_after_the_signal_are_found),
		TEST(bytes_that_are_never_cleaned_are_not_those_of_the_signal),
		TEST(a_clean_before_the_signal_leaves_no_dirty_byte),
		TEST(job_that_begins_after_an_end_may_have_dirty_bytes),
		TEST(job_that_is_switched_out_after_an_end_may_have_dirty_bytes),
		TEST(end_before_a_reset_is_not_one_of_a_job_after_it),
		TEST(cleaned_lines_are_not_dirty),
		TEST(stale_bytes_are_read_as_the_caches_hold_them),
		TEST(bytes_that_will_be_read_are_compared_before),
		TEST(bytes_that_are_announced_only_are_not_stale),
		TEST(operations_visit_lines_that_they_end),
		TEST(search_for_the_next_dirty_line_has_a_limit),
		TEST(operations_on_a_range_visit_no_line_after_all_were_dropped),
		TEST(words_of_the_bytes_are_read),
		TEST(oldest_lines_are_replaced),
		TEST(memory_that_is_not_mapped_is_not_compared),
#undef TEST
	};

	return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
