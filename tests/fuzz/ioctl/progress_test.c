// SPDX-License-Identifier: MIT
/* The end of a run of the ioctl fuzzer, on the build machine. */
#include "cmocka_all.h"
#include "progress.h"

static struct progress run(void)
{
	return (struct progress){ .kinds = PROGRESS_KINDS, .deadline = 1000, .limit = 3000 };
}

/* All kinds from the first one to the last one succeed. */
static void succeed(struct progress *p, uint32_t first, uint32_t last)
{
	for (; first <= last; first++)
		progress_done(p, first);
}

static void run_in_which_each_kind_has_succeeded_ends_at_its_deadline(void **state)
{
	struct progress p = run();

	(void)state;
	succeed(&p, 0, 63);
	assert_false(progress_is_over(&p, 999));
	assert_true(progress_is_over(&p, 1000));
	assert_int_equal(p.late, 0);
	/* Kinds that do not exist are not required. */
	p = run();
	p.kinds = 5;
	succeed(&p, 0, 4);
	assert_true(progress_is_over(&p, 1000));
}

static void run_continues_until_the_last_kind_has_succeeded(void **state)
{
	uint32_t kind;

	(void)state;
	for (kind = 0; kind < PROGRESS_KINDS; kind++) {
		struct progress p = run();

		succeed(&p, 0, 63);
		p.done[kind] = 0;
		assert_false(progress_is_over(&p, 1000));
		assert_false(progress_is_over(&p, 2999));
		progress_done(&p, kind);
		assert_true(progress_is_over(&p, 1000));
	}
}

static void run_without_a_kind_ends_at_its_limit(void **state)
{
	struct progress p = run();

	(void)state;
	succeed(&p, 1, 63);
	assert_false(progress_is_over(&p, 2999));
	assert_true(progress_is_over(&p, 3000));
}

/* Those that succeed before it are not, and those after it remain so. */
static void kinds_that_have_not_succeeded_at_the_deadline_are_late(void **state)
{
	struct progress p = run();

	(void)state;
	succeed(&p, 5, 62);
	assert_false(progress_is_over(&p, 999));
	assert_int_equal(p.late, 0);
	succeed(&p, 0, 3);
	assert_false(progress_is_over(&p, 1000));
	assert_int_equal(p.late, 1ull << 63 | 1ull << 4);
	progress_done(&p, 4);
	assert_false(progress_is_over(&p, 1001));
	progress_done(&p, 63);
	assert_true(progress_is_over(&p, 1002));
	assert_int_equal(p.late, 1ull << 63 | 1ull << 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(run_in_which_each_kind_has_succeeded_ends_at_its_deadline),
		cmocka_unit_test(run_continues_until_the_last_kind_has_succeeded),
		cmocka_unit_test(run_without_a_kind_ends_at_its_limit),
		cmocka_unit_test(kinds_that_have_not_succeeded_at_the_deadline_are_late),
	};

	return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
