// SPDX-License-Identifier: MIT
/*
 * The account of a bounded FIFO: each value after each call, against a model.
 */
#include "../support/cmocka_all.h"

#include "../../../qemu-device/gpu/fifo/fifo.h"
#include "../support/number.h"

#define STEPS	20000u
#define DEPTH	7u

/* Three units for 10 ns, five for 100 ns, none for 1000 ns, seven for 10000 ns. */
static void occupancy_is_the_sum_of_levels_over_time(void **state)
{
	struct fifo fifo;

	(void)state;
	fifo_init(&fifo, DEPTH);
	assert_true(fifo_push(&fifo, 3, 50));
	assert_int_equal(fifo.occupancy, 0);
	assert_true(fifo_push(&fifo, 2, 60));
	assert_int_equal(fifo.occupancy, 3 * 10);
	fifo_pop(&fifo, 5, 160);
	assert_int_equal(fifo.occupancy, 3 * 10 + 5 * 100);
	assert_true(fifo_push(&fifo, DEPTH, 1160));
	assert_int_equal(fifo.occupancy, 3 * 10 + 5 * 100);
	fifo_pop(&fifo, 1, 11160);
	assert_int_equal(fifo.occupancy, 3 * 10 + 5 * 100 + DEPTH * 10000);
	fifo_init(&fifo, DEPTH);
	assert_int_equal(fifo.occupancy, 0);
}

static void counters_are_those_of_a_model(void **state)
{
	u64 seed = NUMBER_SEED, now = 0, time = 0, occupancy = 0, waited = 0;
	u32 level = 0, i;
	bool waits = false;
	struct fifo fifo;

	(void)state;
	fifo_init(&fifo, DEPTH);
	for (i = 0; i < STEPS; i++) {
		const u32 n = number_random(&seed, DEPTH + 2);
		const bool push = number_random(&seed, 2), fits = push ? level + n <= DEPTH :
									 n <= level;

		now += number_random(&seed, 1000);
		if (push)
			assert_int_equal(fifo_push(&fifo, n, now), fits);
		else if (fits)
			fifo_pop(&fifo, n, now);
		if (fits) {
			occupancy += level * (now - time);
			time = now;
			level = push ? level + n : level - n;
			waits = waits && !push;
		} else if (push) {
			waited += !waits;
			waits = true;
		}
		assert_int_equal(fifo.level, level);
		assert_int_equal(fifo.occupancy, occupancy);
		assert_int_equal(fifo.waited, waited);
	}
	assert_true(waited > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(occupancy_is_the_sum_of_levels_over_time),
		cmocka_unit_test(counters_are_those_of_a_model),
	};

	return cmocka_run_group_tests_name("fifo", tests, NULL, NULL);
}
