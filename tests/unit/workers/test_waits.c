// SPDX-License-Identifier: MIT
/*
 * Workers with a unit whose step waits for the others or parks them, and the wake-ups that this
 * step defers before and after.
 */
#include "cmocka_all.h"

#include <sched.h>
#include <string.h>
#include <time.h>

#include "../../../qemu-device/gpu/workers/workers.h"

/*
 * The step of unit 0 wakes unit 1, waits for the others or parks them, wakes unit 2, and is held
 * until the test has run unit 3.
 */
enum { WAITER, BEFORE, AFTER, LAST, UNITS };

/* Only a defect takes that long. */
#define PATIENCE_MS	20000u
/* Idle threads sleep after much less. */
#define IDLE_MS		50u

struct fixture {
	struct workers *w;
	bool parks;			/* unit 0 parks the others */
	_Atomic bool held;
	_Atomic bool waited;		/* unit 0 has waited, and woken unit 2 */
	_Atomic unsigned int steps[UNITS];
	unsigned int seen[UNITS];	/* steps while unit 0 was held */
	bool passed_on;			/* unit 1 has run while unit 0 was held */
};

static u64 now(void *opaque)
{
	(void)opaque;
	return 0;
}

static bool step(void *opaque, unsigned int index, const _Atomic bool *stop)
{
	struct fixture *fx = opaque;

	(void)stop;
	if (index == WAITER) {
		workers_wake(fx->w, BEFORE);
		if (fx->parks) {
			workers_park_others(fx->w, WAITER);
			workers_unpark(fx->w);
		} else {
			workers_quiesce(fx->w, WAITER);
		}
		workers_wake(fx->w, AFTER);
		atomic_store(&fx->waited, true);
		while (atomic_load(&fx->held))
			sched_yield();
	}
	atomic_fetch_add(&fx->steps[index], 1);
	return false;
}

static void sleep_ms(unsigned int ms)
{
	const struct timespec t = { .tv_nsec = 1000000l * ms };

	nanosleep(&t, NULL);
}

/* Wait until a unit has ended its first step. */
static bool until_run(struct fixture *fx, unsigned int unit)
{
	unsigned int i;

	for (i = 0; i < PATIENCE_MS && !atomic_load(&fx->steps[unit]); i++)
		sleep_ms(1);
	return atomic_load(&fx->steps[unit]);
}

/* Run the units on two threads, of which one is asleep when the step of unit 0 begins. */
static void run(struct fixture *fx, bool parks)
{
	struct workers_unit unit[UNITS];
	const struct workers_config config = { .threads = 2, .units = UNITS, .unit = unit,
					       .now = now };
	unsigned int i;

	memset(fx, 0, sizeof(*fx));
	fx->parks = parks;
	fx->held = true;
	for (i = 0; i < UNITS; i++)
		unit[i] = (struct workers_unit){
			.step = step, .opaque = fx, .index = i,
			.defer = i == WAITER ? WORKERS_DEFER_ALL : WORKERS_DEFER_NONE };
	fx->w = workers_create(&config);
	assert_non_null(fx->w);
	sleep_ms(IDLE_MS);
	workers_wake(fx->w, WAITER);
	for (i = 0; i < PATIENCE_MS && !atomic_load(&fx->waited); i++)
		sleep_ms(1);
	fx->passed_on = !parks && until_run(fx, BEFORE);
	/* One thread is free: it has run all that was queued before. */
	workers_wake(fx->w, LAST);
	until_run(fx, LAST);
	for (i = 0; i < UNITS; i++)
		fx->seen[i] = atomic_load(&fx->steps[i]);
	atomic_store(&fx->held, false);
	for (i = 0; i < UNITS; i++)
		until_run(fx, i);
	workers_destroy(fx->w);
	assert_int_equal(fx->seen[WAITER], 0);
	assert_int_equal(fx->seen[LAST], 1);
	for (i = 0; i < UNITS; i++)
		assert_int_equal(fx->steps[i], 1);
}

/* The thread that sleeps is woken for them. */
static void deferred_wake_ups_are_passed_on_before_a_step_waits(void **state)
{
	struct fixture fx;

	(void)state;
	run(&fx, false);
	assert_true(fx.passed_on);
	assert_int_equal(fx.seen[BEFORE], 1);
}

static void wake_ups_after_the_wait_of_a_step_are_deferred(void **state)
{
	struct fixture fx;

	(void)state;
	run(&fx, false);
	assert_int_equal(fx.seen[AFTER], 0);
}

static void deferred_wake_ups_remain_deferred_when_a_step_parks_others(void **state)
{
	struct fixture fx;

	(void)state;
	run(&fx, true);
	assert_int_equal(fx.seen[BEFORE], 0);
	assert_int_equal(fx.seen[AFTER], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deferred_wake_ups_are_passed_on_before_a_step_waits),
		cmocka_unit_test(wake_ups_after_the_wait_of_a_step_are_deferred),
		cmocka_unit_test(deferred_wake_ups_remain_deferred_when_a_step_parks_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
