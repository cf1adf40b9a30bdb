// SPDX-License-Identifier: MIT
/*
 * No word of one user's jobs is readable by another's: every store, after every kind of end,
 * after few steps and after many.
 */
#include "canary.h"

#define VARIANTS	3u	/* sources of the fragment registers: see fill_first() */

static const u32 steps[] = { 400, 4000 };

static void check(enum canary_end end, u32 count)
{
	u32 variant, store;

	for (variant = 0; variant < VARIANTS; variant++) {
		struct canary *c = canary_open();

		for (store = 0; store < CANARY_PROBES; store++) {
			/* Each look may overwrite words that the next one must find. */
			const struct canary_look look = {
				.store = (enum canary_store)store, .number = variant + store,
				.rotate = 8 * variant, .output = variant,
				.points = variant % 2, .instances = variant ? 5 + variant : 0,
			};

			canary_fill(c, end, variant, count);
			canary_probe(c, &look);
		}
		canary_close(c);
	}
}

static void check_steps(enum canary_end end)
{
	for (u32 n = 0; n < sizeof(steps) / sizeof(*steps); n++)
		check(end, steps[n]);
}

static void jobs_that_end_leave_no_word(void **state)
{
	(void)state;
	check(CANARY_DONE, 0);
}

static void jobs_that_fault_leave_no_word(void **state)
{
	(void)state;
	check(CANARY_FAULTED, 0);
}

static void jobs_that_are_killed_leave_no_word(void **state)
{
	(void)state;
	check_steps(CANARY_KILLED);
}

static void a_reset_in_the_middle_of_jobs_leaves_no_word(void **state)
{
	(void)state;
	check_steps(CANARY_RESET);
}

static void jobs_that_still_run_or_are_switched_out_show_no_word(void **state)
{
	(void)state;
	check_steps(CANARY_RUNNING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_that_end_leave_no_word),
		cmocka_unit_test(jobs_that_fault_leave_no_word),
		cmocka_unit_test(jobs_that_are_killed_leave_no_word),
		cmocka_unit_test(a_reset_in_the_middle_of_jobs_leaves_no_word),
		cmocka_unit_test(jobs_that_still_run_or_are_switched_out_show_no_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
