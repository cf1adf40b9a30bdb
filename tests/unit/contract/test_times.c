// SPDX-License-Identifier: MIT
/*
 * Times of a job (hw/times.h): a writer of this test, which follows the rules of fwif.h, updates
 * them before the load whose number a test selects.
 */
#include "fwif.h"

static void before_load(void);

#define PUMICE_TIMES_LOAD(field)	(before_load(), (field))
#include "times.h"

#include "cmocka_all.h"

/* Loads of one attempt: the version, the times, the version. */
#define LOADS	7u

static struct fwif_context fw;
static u32 loads, update_at, update_count;

/* All times of one version are the same number. */
static void set_times(u64 n)
{
	fw.slice_start = n;
	fw.job_ticks = n;
	fw.stop_start = n;
	fw.stop_ticks = n;
	fw.job_seqno = (u32)n;
}

static void before_load(void)
{
	if (loads >= update_at && update_count && (loads - update_at) % LOADS == 0) {
		update_count--;
		fw.times_version += 2;
		set_times(fw.times_version);
	}
	loads++;
}

/* Update @count times, before load @at and the same one of the attempts that follow. */
static bool read_updated(u32 at, u32 count, struct pumice_times *times)
{
	fw.times_version = 2;
	set_times(2);
	loads = 0;
	update_at = at;
	update_count = count;
	return pumice_times_read(&fw, times);
}

static void assert_version(const struct pumice_times *times, u64 version)
{
	assert_int_equal(times->slice_start, version);
	assert_int_equal(times->job_ticks, version);
	assert_int_equal(times->stop_start, version);
	assert_int_equal(times->stop_ticks, version);
	assert_int_equal(times->job_seqno, version);
}

static void times_are_of_one_version(void **state)
{
	struct pumice_times times;
	u32 at;

	(void)state;
	assert_true(read_updated(0, 0, &times));
	assert_version(&times, 2);
	assert_int_equal(loads, LOADS);
	for (at = 0; at < LOADS; at++) {
		assert_true(read_updated(at, 1, &times));
		assert_version(&times, 4);
		assert_int_equal(loads, at ? 2 * LOADS : LOADS);
	}
	/* The firmware is stopped in the middle. */
	fw.times_version |= 1;
	assert_false(pumice_times_read(&fw, &times));
}

static void attempts_are_limited(void **state)
{
	struct pumice_times times;
	u32 at;

	(void)state;
	for (at = 1; at < LOADS; at++) {
		assert_true(read_updated(at, PUMICE_TIMES_ATTEMPTS - 1, &times));
		assert_version(&times, 2 * PUMICE_TIMES_ATTEMPTS);
		assert_false(read_updated(at, PUMICE_TIMES_ATTEMPTS, &times));
	}
}

static void a_job_is_not_charged_for_its_stops(void **state)
{
	static const struct {
		struct pumice_times times;
		u64 now, ran, itself;
	} rows[] = {
		/* Not started; between slices; in a slice that begins after the clock was read. */
		{ { 0, 0, 0, 0, 1 }, 1000, 0, 0 },
		{ { 0, 300, 0, 0, 1 }, 1000, 300, 300 },
		{ { 1001, 300, 0, 0, 1 }, 1000, 300, 300 },
		{ { 600, 300, 0, 0, 1 }, 1000, 700, 700 },
		/* Was stopped, is stopped, has been stopped all the time. */
		{ { 600, 300, 0, 50, 1 }, 1000, 700, 650 },
		{ { 600, 300, 900, 50, 1 }, 1000, 700, 550 },
		{ { 600, 0, 500, 100, 1 }, 1000, 400, 0 },
		/* Not more than the clock, whatever the firmware reports. */
		{ { 600, 5000, 0, 0, 1 }, 1000, 1000, 1000 },
	};
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(pumice_times_ran(&rows[i].times, rows[i].now), rows[i].ran);
		assert_int_equal(pumice_times_ran_itself(&rows[i].times, rows[i].now),
				 rows[i].itself);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_of_one_version),
		cmocka_unit_test(attempts_are_limited),
		cmocka_unit_test(a_job_is_not_charged_for_its_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
