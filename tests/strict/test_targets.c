// SPDX-License-Identifier: MIT
/* Mode strict: texture reads of targets that are being stored. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "strict/targets.h"

/* Numbers of data masters. */
#define COMPUTE	1u
#define PIXELS	2u	/* stores targets */
#define CTX	3u
#define OTHER	4u
#define VA	0x40000000ull
#define TAG	0x700000005ull

static struct targets *targets;
static struct targets_other other;

static int set_up(void **state)
{
	(void)state;
	targets = targets_create(PIXELS);
	targets_job_begin(targets, PIXELS, TAG);
	return !targets;
}

static int tear_down(void **state)
{
	(void)state;
	targets_destroy(targets);
	return 0;
}

static bool store_in(unsigned int ctx, u64 va, u64 bytes)
{
	const struct targets_access a = {
		.master = PIXELS, .ctx = ctx, .va = va, .bytes = bytes,
		.place = { .unit = PUMICE_UNIT_PBE },
	};

	return targets_store(targets, &a, &other);
}

static bool store(u64 va, u64 bytes)
{
	return store_in(CTX, va, bytes);
}

static bool read_by(u32 master, u64 va, u64 bytes)
{
	const struct targets_access a = {
		.master = master, .ctx = CTX, .va = va, .bytes = bytes,
		.place = { .unit = PUMICE_UNIT_TAG, .pc = 7, .code = 9 },
	};

	return targets_read(targets, &a, &other);
}

static void bytes_that_the_job_has_stored_are_found(void **state)
{
	(void)state;
	assert_false(store(VA + 60, 8));
	assert_false(read_by(PIXELS, VA + 56, 4));
	assert_false(read_by(PIXELS, VA + 68, 4));
	assert_true(read_by(PIXELS, VA + 56, 8));
	assert_int_equal(other.va, VA + 60);
	assert_true(read_by(PIXELS, VA + 64, 128));
	assert_int_equal(other.va, VA + 64);
	assert_true(read_by(PIXELS, VA + 67, 4));
	assert_int_equal(other.va, VA + 67);
	assert_true(other.same_job);
	assert_int_equal(other.master, PIXELS);
	assert_int_equal(other.tag, TAG);
	assert_int_equal(other.place.unit, PUMICE_UNIT_PBE);
}

static void other_jobs_that_run_are_found(void **state)
{
	(void)state;
	targets_job_begin(targets, COMPUTE, 1);
	store(VA, 64);
	assert_true(read_by(COMPUTE, VA + 32, 4));
	assert_false(other.same_job);
	assert_int_equal(other.tag, TAG);
}

static void stores_of_a_job_that_has_ended_are_not_found(void **state)
{
	(void)state;
	store(VA, 64);
	targets_job_end(targets, PIXELS);
	targets_job_begin(targets, COMPUTE, 1);
	assert_false(read_by(COMPUTE, VA, 64));
	targets_job_begin(targets, PIXELS, TAG + 1);
	assert_false(read_by(COMPUTE, VA, 64));
	assert_false(read_by(PIXELS, VA, 64));
	assert_false(store(VA + 128, 64));
	assert_true(read_by(PIXELS, VA + 128, 64));
	/* It begins without an end of the former one, as after a reset. */
	targets_job_begin(targets, PIXELS, TAG + 2);
	assert_false(read_by(PIXELS, VA + 128, 64));
}

static void store_of_bytes_that_another_job_reads_is_found(void **state)
{
	(void)state;
	targets_job_begin(targets, COMPUTE, 5);
	assert_false(read_by(COMPUTE, VA + 8, 4));
	assert_false(store(VA, 8));
	assert_true(store(VA, 16));
	assert_int_equal(other.va, VA + 8);
	assert_int_equal(other.master, COMPUTE);
	assert_int_equal(other.tag, 5);
	assert_false(other.same_job);
	assert_int_equal(other.place.code, 9);
	assert_int_equal(other.place.pc, 7);
	targets_job_end(targets, COMPUTE);
	assert_false(store(VA, 16));
}

/* As a background program loads the target. */
static void reads_that_precede_the_store_of_their_own_job_are_not_found(void **state)
{
	(void)state;
	assert_false(read_by(PIXELS, VA, 64));
	assert_false(store(VA, 64));
}

/* The stream of the job has waited for its tiles. */
static void a_flush_precedes_reads_of_the_same_job(void **state)
{
	(void)state;
	targets_job_begin(targets, COMPUTE, 1);
	store(VA, 64);
	targets_flush(targets, OTHER);
	assert_true(read_by(PIXELS, VA, 4));
	targets_flush(targets, CTX);
	assert_false(read_by(PIXELS, VA, 4));
	assert_true(read_by(COMPUTE, VA, 4));
	store(VA, 4);
	assert_true(read_by(PIXELS, VA, 4));
}

/* A row of a tile of 32 pixels of one byte is half a line: another tile has the other half. */
static void a_flush_precedes_reads_of_a_line_that_is_stored_again(void **state)
{
	(void)state;
	targets_job_begin(targets, COMPUTE, 1);
	store(VA, 32);
	targets_flush(targets, CTX);
	store(VA + 32, 32);
	assert_false(read_by(PIXELS, VA, 32));
	assert_true(read_by(PIXELS, VA, 64));
	assert_int_equal(other.va, VA + 32);
	assert_true(read_by(COMPUTE, VA, 64));
	assert_int_equal(other.va, VA);
	store(VA + 8, 8);
	assert_true(read_by(PIXELS, VA, 32));
	assert_int_equal(other.va, VA + 8);
	targets_flush(targets, CTX);
	assert_false(read_by(PIXELS, VA, 64));
}

static void contexts_are_apart(void **state)
{
	(void)state;
	store_in(OTHER, VA, 64);
	assert_false(read_by(PIXELS, VA, 64));
}

static void reset_ends_all_jobs(void **state)
{
	(void)state;
	store(VA, 64);
	targets_reset(targets);
	assert_false(read_by(PIXELS, VA, 64));
	/* No job: accesses are of none. */
	assert_false(store(VA, 64));
	targets_job_begin(targets, PIXELS, TAG);
	assert_false(read_by(PIXELS, VA, 64));
}

static void the_last_lines_are_known(void **state)
{
	u32 known = 0;
	u64 n;

	(void)state;
	for (n = 0; n < TARGETS_LINES + 2; n++)
		store(VA + n * 64, 64);
	for (n = 0; n < TARGETS_LINES; n++)
		known += read_by(PIXELS, VA + n * 64, 4);
	assert_int_equal(known, TARGETS_LINES - 2);
	assert_true(read_by(PIXELS, VA + n * 64, 4));
}

static void other_modes_have_no_targets(void **state)
{
	const struct targets_access a = { .bytes = 4 };

	(void)state;
	assert_false(targets_read(NULL, &a, &other));
	assert_false(targets_store(NULL, &a, &other));
	targets_job_begin(NULL, PIXELS, TAG);
	targets_job_end(NULL, PIXELS);
	targets_reset(NULL);
	targets_flush(NULL, CTX);
	targets_destroy(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(bytes_that_the_job_has_stored_are_found),
		TEST(other_jobs_that_run_are_found),
		TEST(stores_of_a_job_that_has_ended_are_not_found),
		TEST(store_of_bytes_that_another_job_reads_is_found),
		TEST(reads_that_precede_the_store_of_their_own_job_are_not_found),
		TEST(a_flush_precedes_reads_of_the_same_job),
		TEST(a_flush_precedes_reads_of_a_line_that_is_stored_again),
		TEST(contexts_are_apart),
		TEST(reset_ends_all_jobs),
		TEST(the_last_lines_are_known),
		TEST(other_modes_have_no_targets),
	};

	return cmocka_run_group_tests_name("strict_targets", tests, NULL, NULL);
}
