// SPDX-License-Identifier: MIT
/*
 * The workers alone, with units that only record calls.
 *
 * Threads are blocked and released by gates, so that nothing depends on timing.
 */
#include "cmocka_all.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../../qemu-device/gpu/log_limit.h"
#include "../../../qemu-device/gpu/workers/workers.h"

#define UNITS 6u

static _Thread_local bool registered;	/* thread_start() came */

struct fixture {
	struct workers *w;
	unsigned int threads;
	_Atomic u64 clock;
	_Atomic unsigned int kicks;
	_Atomic unsigned int begun, ended;	/* threads */

	/* Of each unit. */
	_Atomic unsigned int steps[UNITS];
	_Atomic unsigned int more[UNITS];	/* steps that request another */
	_Atomic int inside[UNITS];
	_Atomic bool held[UNITS];	/* the step waits at its gate until this is false... */
	_Atomic bool heeds_stop[UNITS];	/* ...or until it is requested to stop */
	_Atomic bool stopped[UNITS];	/* it read the stop flag as true */
	_Atomic unsigned int reads[UNITS];	/* of the stop flag */
	_Atomic bool overlap;		/* some unit was in two steps at once */
	unsigned int wakes[UNITS];	/* units that the next step wakes, a bit each */
	u64 deadline[UNITS];		/* set in the next step, if not 0 */
	bool wakes_itself[UNITS];	/* in the next step */

	char order[256];		/* steps in order, one letter each; without threads only */

	/* Thread that ran a unit last, and steps of unit 5 when unit 4 first ran. */
	_Atomic unsigned int thread[UNITS];
	_Atomic unsigned int before_4;
};

/* Homes: unit 4 at thread 0 of two, unit 5 at thread 1, the others anywhere. */
static const unsigned int home[UNITS] = { 0, 0, 0, 0, 2, 1 };

/* The number in a worker's name. */
static unsigned int own_thread(void)
{
	static _Thread_local char name[16];

	if (!*name)
		assert_int_equal(pthread_getname_np(pthread_self(), name, sizeof(name)), 0);
	assert_memory_equal(name, "pumice/", 7);
	return (unsigned int)atoi(name + 7);
}

/* Wake the units that the test has selected for this step. */
static void wake_others(struct fixture *fx, unsigned int index)
{
	unsigned int wakes = fx->wakes[index], i;

	fx->wakes[index] = 0;
	for (i = 0; i < UNITS; i++)
		if (wakes >> i & 1)
			workers_wake(fx->w, i);
}

static bool step(void *opaque, unsigned int index, const _Atomic bool *stop)
{
	struct fixture *fx = opaque;

	if (fx->threads) {
		if (!registered)
			atomic_store(&fx->overlap, true);
		atomic_store(&fx->thread[index], own_thread());
	}
	wake_others(fx, index);
	if (atomic_fetch_add(&fx->inside[index], 1))
		atomic_store(&fx->overlap, true);
	if (fx->deadline[index]) {
		workers_set_deadline(fx->w, index, fx->deadline[index]);
		fx->deadline[index] = 0;
	}
	if (fx->wakes_itself[index]) {
		fx->wakes_itself[index] = false;
		workers_wake(fx->w, index);
	}
	if (!fx->threads && strlen(fx->order) + 1 < sizeof(fx->order))
		fx->order[strlen(fx->order)] = (char)('a' + index);
	if (index == 4 && !atomic_load(&fx->steps[4]))
		atomic_store(&fx->before_4, atomic_load(&fx->steps[5]));
	while (atomic_load(&fx->held[index])) {
		if (atomic_load(stop)) {
			atomic_store(&fx->stopped[index], true);
			if (atomic_load(&fx->heeds_stop[index]))
				break;
		}
		atomic_fetch_add(&fx->reads[index], 1);
		sched_yield();
	}
	atomic_fetch_add(&fx->steps[index], 1);
	atomic_fetch_sub(&fx->inside[index], 1);
	if (!atomic_load(&fx->more[index]))
		return false;
	atomic_fetch_sub(&fx->more[index], 1);
	return true;
}

static u64 now(void *opaque)
{
	return atomic_load(&((struct fixture *)opaque)->clock);
}

static void kick(void *opaque)
{
	atomic_fetch_add(&((struct fixture *)opaque)->kicks, 1);
}

static void thread_start(void *opaque)
{
	registered = true;
	atomic_fetch_add(&((struct fixture *)opaque)->begun, 1);
}

static void thread_end(void *opaque)
{
	assert_true(registered);
	atomic_fetch_add(&((struct fixture *)opaque)->ended, 1);
}

/* Unit 0 is urgent; wake-ups by unit 1 may be deferred. */
static struct fixture *fx_create_deferring(unsigned int threads, enum workers_defer defer)
{
	struct fixture *fx = calloc(1, sizeof(*fx));
	struct workers_unit unit[UNITS];
	const struct workers_config config = { .threads = threads, .units = UNITS, .unit = unit,
					       .now = now, .now_opaque = fx,
					       .kick = kick, .kick_opaque = fx,
					       .thread_start = thread_start,
					       .thread_end = thread_end, .thread_opaque = fx };
	unsigned int i;

	for (i = 0; i < UNITS; i++)
		unit[i] = (struct workers_unit){ .step = step, .opaque = fx, .index = i,
						 .urgent = !i, .home = home[i],
						 .defer = i == 1 ? defer : 0 };
	fx->threads = threads;
	fx->w = workers_create(&config);
	assert_non_null(fx->w);
	return fx;
}

static struct fixture *fx_create(unsigned int threads)
{
	return fx_create_deferring(threads, WORKERS_DEFER_NONE);
}

static void fx_destroy(struct fixture *fx)
{
	workers_destroy(fx->w);
	assert_false(atomic_load(&fx->overlap));
	/* The host was notified of each thread before and after it ran. */
	assert_int_equal(atomic_load(&fx->begun), fx->threads);
	assert_int_equal(atomic_load(&fx->ended), fx->threads);
	free(fx);
}

/* Only a defect takes that long. */
#define PATIENCE_S	20

static time_t seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

static void until_steps(struct fixture *fx, unsigned int unit, unsigned int steps)
{
	const time_t end = seconds() + PATIENCE_S;

	while (atomic_load(&fx->steps[unit]) < steps && seconds() < end)
		sched_yield();
	if (atomic_load(&fx->steps[unit]) < steps)
		fail_msg("unit %u ended %u of %u steps", unit, atomic_load(&fx->steps[unit]),
			 steps);
}

static void until_inside(struct fixture *fx, unsigned int unit)
{
	const time_t end = seconds() + PATIENCE_S;

	while (!atomic_load(&fx->inside[unit]) && seconds() < end)
		sched_yield();
	if (!atomic_load(&fx->inside[unit]))
		fail_msg("unit %u is not in a step", unit);
}

static u64 poll_all(struct fixture *fx)
{
	u64 wait;

	do {
		wait = workers_poll(fx->w, 1);
	} while (!wait);
	return wait;
}

static void units_run_in_the_order_of_their_wake_ups_urgent_ones_first(void **state)
{
	struct fixture *fx = fx_create(0);

	(void)state;
	workers_wake(fx->w, 3);
	workers_wake(fx->w, 1);
	workers_wake(fx->w, 3);
	workers_wake(fx->w, 0);
	workers_wake(fx->w, 2);
	assert_int_equal(poll_all(fx), WORKERS_NEVER);
	assert_string_equal(fx->order, "adbc");
	fx_destroy(fx);
}

static void a_unit_with_more_work_is_queued_after_the_others(void **state)
{
	struct fixture *fx = fx_create(0);

	(void)state;
	fx->more[0] = 2;
	fx->more[1] = 1;
	workers_wake(fx->w, 1);
	workers_wake(fx->w, 2);
	workers_wake(fx->w, 0);
	assert_int_equal(poll_all(fx), WORKERS_NEVER);
	assert_string_equal(fx->order, "abcaba");
	fx_destroy(fx);
}

static void a_poll_ends_after_its_budget_and_reports_it(void **state)
{
	struct fixture *fx = fx_create(0);

	(void)state;
	fx->more[1] = 50;
	workers_wake(fx->w, 1);
	assert_int_equal(workers_poll(fx->w, 10 * WORKERS_QUANTUM_NS), 0);
	assert_int_equal(fx->steps[1], 11);
	assert_int_equal(workers_poll(fx->w, 100 * WORKERS_QUANTUM_NS), WORKERS_NEVER);
	assert_int_equal(fx->steps[1], 51);
	fx_destroy(fx);
}

static void the_poller_is_kicked_for_work_and_not_while_parked(void **state)
{
	struct fixture *fx = fx_create(0);

	(void)state;
	workers_wake(fx->w, 1);
	assert_int_equal(fx->kicks, 1);
	workers_park(fx->w);
	workers_wake(fx->w, 2);
	assert_int_equal(fx->kicks, 1);
	assert_int_equal(workers_poll(fx->w, WORKERS_QUANTUM_NS), WORKERS_NEVER);
	assert_int_equal(fx->steps[1], 0);
	workers_unpark(fx->w);
	assert_int_equal(fx->kicks, 2);
	assert_int_equal(poll_all(fx), WORKERS_NEVER);
	assert_int_equal(fx->steps[2], 1);
	workers_park(fx->w);
	workers_unpark(fx->w);
	assert_int_equal(fx->kicks, 2);
	fx_destroy(fx);
}

static void a_deadline_wakes_its_unit_once_and_is_reported_to_the_poller(void **state)
{
	struct fixture *fx = fx_create(0);

	(void)state;
	fx->deadline[2] = 1000;
	fx->deadline[4] = 700;
	workers_wake(fx->w, 2);
	workers_wake(fx->w, 4);
	assert_int_equal(poll_all(fx), 700);
	atomic_store(&fx->clock, 699);
	assert_int_equal(poll_all(fx), 1);
	atomic_store(&fx->clock, 800);
	assert_int_equal(poll_all(fx), 200);
	assert_int_equal(fx->steps[4], 2);
	assert_int_equal(fx->steps[2], 1);
	atomic_store(&fx->clock, 5000);
	assert_int_equal(poll_all(fx), WORKERS_NEVER);
	assert_int_equal(fx->steps[2], 2);
	assert_int_equal(fx->steps[4], 2);
	fx_destroy(fx);
}

static void a_later_deadline_replaces_the_first(void **state)
{
	struct fixture *fx = fx_create(0);

	(void)state;
	workers_set_deadline(fx->w, 1, 100);
	workers_set_deadline(fx->w, 1, 900);
	atomic_store(&fx->clock, 500);
	assert_int_equal(poll_all(fx), 400);
	workers_set_deadline(fx->w, 1, WORKERS_NEVER);
	atomic_store(&fx->clock, 1000);
	assert_int_equal(poll_all(fx), WORKERS_NEVER);
	assert_int_equal(fx->steps[1], 0);
	fx_destroy(fx);
}

/* Two waits in one unit: the earlier deadline wakes in time, in either order. */
static void an_added_deadline_does_not_delay_an_earlier_one(void **state)
{
	struct fixture *fx = fx_create(0);

	(void)state;
	workers_add_deadline(fx->w, 1, 100);
	workers_add_deadline(fx->w, 1, 900);
	assert_int_equal(poll_all(fx), 100);
	workers_add_deadline(fx->w, 1, 50);
	assert_int_equal(poll_all(fx), 50);
	atomic_store(&fx->clock, 50);
	poll_all(fx);
	assert_int_equal(fx->steps[1], 1);
	fx_destroy(fx);
}

static void clear_drops_wake_ups_and_deadlines(void **state)
{
	struct fixture *fx = fx_create(0);

	(void)state;
	workers_wake(fx->w, 1);
	workers_set_deadline(fx->w, 2, 0);
	workers_park(fx->w);
	workers_clear(fx->w);
	workers_unpark(fx->w);
	assert_int_equal(poll_all(fx), WORKERS_NEVER);
	assert_string_equal(fx->order, "");
	workers_wake(fx->w, 1);
	assert_int_equal(poll_all(fx), WORKERS_NEVER);
	assert_string_equal(fx->order, "b");
	/* It is queued since it was woken during its step. */
	fx->wakes_itself[1] = true;
	workers_wake(fx->w, 1);
	assert_int_equal(workers_poll(fx->w, 1), 0);
	workers_clear(fx->w);
	assert_int_equal(poll_all(fx), WORKERS_NEVER);
	assert_string_equal(fx->order, "bb");
	workers_wake(fx->w, 1);
	assert_int_equal(poll_all(fx), WORKERS_NEVER);
	assert_string_equal(fx->order, "bbb");
	fx_destroy(fx);
}

static void a_wake_up_during_a_step_leads_to_another(void **state)
{
	struct fixture *fx = fx_create(1);

	(void)state;
	fx->held[1] = true;
	workers_wake(fx->w, 1);
	until_inside(fx, 1);
	workers_wake(fx->w, 1);
	workers_wake(fx->w, 1);
	fx->held[1] = false;
	until_steps(fx, 1, 2);
	fx_destroy(fx);
}

static void a_unit_is_stepped_by_one_thread_at_a_time(void **state)
{
	struct fixture *fx = fx_create(4);
	unsigned int i;

	(void)state;
	for (i = 0; i < UNITS; i++)
		fx->more[i] = 20000;
	for (i = 0; i < 20000; i++)
		workers_wake(fx->w, i % UNITS);
	for (i = 0; i < UNITS; i++)
		until_steps(fx, i, 20000);
	fx_destroy(fx);	/* checks overlap */
}

static void units_run_in_parallel(void **state)
{
	struct fixture *fx = fx_create(3);

	(void)state;
	fx->held[1] = fx->held[2] = fx->held[3] = true;
	workers_wake(fx->w, 1);
	workers_wake(fx->w, 2);
	workers_wake(fx->w, 3);
	until_inside(fx, 1);
	until_inside(fx, 2);
	until_inside(fx, 3);
	fx->held[1] = fx->held[2] = fx->held[3] = false;
	fx_destroy(fx);
}

static void an_urgent_unit_cuts_a_step_short_when_no_thread_is_idle(void **state)
{
	struct fixture *fx = fx_create(1);

	(void)state;
	fx->held[1] = true;
	fx->heeds_stop[1] = true;
	fx->more[1] = 1000000;
	workers_wake(fx->w, 1);
	until_inside(fx, 1);
	workers_wake(fx->w, 0);
	until_steps(fx, 0, 1);
	fx->held[1] = false;
	fx_destroy(fx);
}

/* Run two threads in units 1 and 2. Return the unit of the thread with a number. */
static unsigned int hold_both(struct fixture *fx, unsigned int thread)
{
	fx->held[1] = fx->held[2] = true;
	workers_wake(fx->w, 1);
	workers_wake(fx->w, 2);
	until_inside(fx, 1);
	until_inside(fx, 2);
	return atomic_load(&fx->thread[1]) == thread ? 1 : 2;
}

/* Its step had more to do, so it was queued after the others; then it is woken. */
static void an_urgent_unit_that_is_queued_becomes_the_head(void **state)
{
	struct fixture *fx = fx_create(0);

	(void)state;
	fx->more[0] = 1;
	workers_wake(fx->w, 1);
	workers_wake(fx->w, 2);
	workers_wake(fx->w, 3);
	workers_wake(fx->w, 0);
	workers_poll(fx->w, 0);
	assert_string_equal(fx->order, "a");
	workers_wake(fx->w, 0);
	workers_wake(fx->w, 4);
	assert_int_equal(poll_all(fx), WORKERS_NEVER);
	assert_string_equal(fx->order, "aabcde");
	fx_destroy(fx);
}

static void an_urgent_unit_that_is_woken_in_its_step_runs_next(void **state)
{
	struct fixture *fx = fx_create(0);

	(void)state;
	fx->wakes_itself[0] = true;
	workers_wake(fx->w, 1);
	workers_wake(fx->w, 0);
	assert_int_equal(poll_all(fx), WORKERS_NEVER);
	assert_string_equal(fx->order, "aab");
	fx_destroy(fx);
}

/* Its own thread runs it again: a guest that rings the doorbell stops no other unit. */
static void an_urgent_unit_that_runs_stops_no_other(void **state)
{
	struct fixture *fx = fx_create(2);
	unsigned int reads;

	(void)state;
	fx->held[0] = fx->held[1] = true;
	/* The urgent one first: while it has no thread, it may stop the other one's. */
	workers_wake(fx->w, 0);
	until_inside(fx, 0);
	workers_wake(fx->w, 1);
	until_inside(fx, 1);
	workers_wake(fx->w, 0);
	workers_wake(fx->w, 0);
	fx->held[0] = false;
	until_steps(fx, 0, 2);
	/* A stop would be set: the next whole round of the step reads it. */
	reads = atomic_load(&fx->reads[1]);
	while (atomic_load(&fx->reads[1]) < reads + 2)
		sched_yield();
	assert_false(atomic_load(&fx->stopped[1]));
	fx->held[1] = false;
	fx_destroy(fx);
}

/* The same, if it was woken in that step too. */
static void an_urgent_unit_that_is_awake_and_queued_becomes_the_head(void **state)
{
	struct fixture *fx = fx_create(0);

	(void)state;
	fx->more[0] = 1;
	fx->wakes_itself[0] = true;
	workers_wake(fx->w, 1);
	workers_wake(fx->w, 2);
	workers_wake(fx->w, 0);
	workers_poll(fx->w, 0);
	workers_wake(fx->w, 0);
	assert_int_equal(poll_all(fx), WORKERS_NEVER);
	assert_string_equal(fx->order, "aabc");
	fx_destroy(fx);
}

/* It is woken all the time and has always more to do: others have their turns and whole steps. */
static void an_urgent_unit_that_continues_stops_no_other(void **state)
{
	struct fixture *fx = fx_create(1);
	unsigned int reads;

	(void)state;
	atomic_store(&fx->held[0], true);
	atomic_store(&fx->more[0], 1);
	atomic_store(&fx->held[1], true);
	workers_wake(fx->w, 0);
	until_inside(fx, 0);
	workers_wake(fx->w, 1);
	atomic_store(&fx->held[0], false);
	until_inside(fx, 1);
	workers_wake(fx->w, 0);
	reads = atomic_load(&fx->reads[1]);
	while (atomic_load(&fx->reads[1]) < reads + 2)
		sched_yield();
	assert_false(atomic_load(&fx->stopped[1]));
	atomic_store(&fx->held[1], false);
	until_steps(fx, 0, 2);
	fx_destroy(fx);
}

static void a_thread_prefers_its_home_units_and_others_do_not_starve(void **state)
{
	struct fixture *fx = fx_create(2);
	unsigned int first, other;

	(void)state;
	/* Unit 4 was queued first, and its home is the blocked thread. */
	first = hold_both(fx, 1);
	other = 3 - first;
	fx->more[5] = 100;
	workers_wake(fx->w, 4);
	workers_wake(fx->w, 5);
	fx->held[first] = false;
	until_steps(fx, 4, 1);
	until_steps(fx, 5, 101);
	assert_int_equal(fx->before_4, WORKERS_MAX_SKIPS);
	assert_int_equal(fx->thread[4], 1);
	fx->held[other] = false;
	fx_destroy(fx);
}

static void a_thread_without_home_units_runs_others(void **state)
{
	struct fixture *fx = fx_create(2);
	unsigned int first;

	(void)state;
	first = hold_both(fx, 0);
	workers_wake(fx->w, 5);
	fx->held[first] = false;
	until_steps(fx, 5, 1);
	assert_int_equal(fx->thread[5], 0);
	fx->held[3 - first] = false;
	fx_destroy(fx);
}

/* Run unit 3 so often that each unit that is queued before has run on the thread that is free. */
static void run_the_queue(struct fixture *fx)
{
	unsigned int i;

	for (i = 0; i <= WORKERS_MAX_SKIPS + 1; i++) {
		const unsigned int steps = atomic_load(&fx->steps[3]);

		workers_wake(fx->w, 3);
		until_steps(fx, 3, steps + 1);
	}
}

/*
 * Unit 1 wakes units 0, 4 and 5. Only the one at home in its thread waits for the end of its step;
 * not if another thread wakes it, too.
 */
static void units_whose_wake_ups_are_deferred_run_after_the_step(void **state)
{
	unsigned int defer, again, here, other;

	(void)state;
	for (defer = 0; defer < 2; defer++) {
		for (again = 2; again--;) {
			struct fixture *fx = fx_create_deferring(2, defer ?
							  WORKERS_DEFER_HOME : WORKERS_DEFER_NONE);

			fx->held[1] = true;
			fx->wakes[1] = 1u << 0 | 1u << 4 | 1u << 5;
			workers_wake(fx->w, 1);
			until_inside(fx, 1);
			here = fx->thread[1] ? 5 : 4;
			other = 9 - here;
			if (again)
				workers_wake(fx->w, here);
			run_the_queue(fx);
			assert_int_equal(fx->steps[0], 1);
			assert_int_equal(fx->steps[other], 1);
			assert_int_equal(!fx->steps[here], defer && !again);
			fx->held[1] = false;
			until_steps(fx, here, defer && again ? 2 : 1);
			fx_destroy(fx);
		}
	}
}

/*
 * With WORKERS_DEFER_ALL all of them wait. Then both threads run them: the unit of the thread
 * itself is held until another one, which that thread left in the queue, has run.
 */
static void all_units_whose_wake_ups_are_deferred_run_after_the_step(void **state)
{
	struct fixture *fx = fx_create_deferring(2, WORKERS_DEFER_ALL);
	unsigned int i;

	(void)state;
	fx->held[1] = true;
	fx->wakes[1] = 1u << 0 | 1u << 4 | 1u << 5;
	workers_wake(fx->w, 1);
	until_inside(fx, 1);
	run_the_queue(fx);
	assert_int_equal(fx->steps[0] + fx->steps[4] + fx->steps[5], 0);
	fx->held[4] = fx->held[5] = true;
	fx->held[1] = false;
	until_inside(fx, 4);
	until_inside(fx, 5);
	fx->held[4] = fx->held[5] = false;
	for (i = 4; i <= 5; i++)
		until_steps(fx, i, 1);
	until_steps(fx, 0, 1);
	fx_destroy(fx);
}

/* Without another thread that would run them, nothing is gained by waiting. */
static void one_thread_queues_units_at_once(void **state)
{
	struct fixture *fx = fx_create_deferring(1, WORKERS_DEFER_ALL);

	(void)state;
	/* Unit 4 is queued while the step runs, before unit 3. */
	fx->wakes[1] = 1u << 4;
	fx->held[1] = fx->held[4] = true;
	workers_wake(fx->w, 1);
	until_inside(fx, 1);
	workers_wake(fx->w, 3);
	fx->held[1] = false;
	until_inside(fx, 4);
	assert_int_equal(fx->steps[3], 0);
	fx->held[4] = false;
	until_steps(fx, 3, 1);
	fx_destroy(fx);
}

#define MANY	WORKERS_MAX_UNITS

/* Units of which the first wakes all others in its first step, and their steps. */
struct many {
	struct workers *w;
	_Atomic unsigned int steps[MANY];
};

static bool step_many(void *opaque, unsigned int index, const _Atomic bool *stop)
{
	struct many *m = opaque;
	unsigned int i;

	(void)stop;
	for (i = 1; !index && !atomic_load(&m->steps[0]) && i < MANY; i++)
		workers_wake(m->w, i);
	atomic_fetch_add(&m->steps[index], 1);
	return false;
}

/*
 * One step wakes all other units of the largest GPU. Wake-ups of those at home in its thread are
 * deferred: every second one, also of those in the second word of the thread's bits. Each runs
 * once. A unit that is queued runs before WORKERS_MAX_SKIPS + 1 others for each one before it:
 * further steps of the first unit, which wake none, let all run.
 */
static void deferred_wake_ups_of_all_units_are_passed_on(void **state)
{
	struct many m = { 0 };
	struct workers_unit unit[MANY];
	const struct workers_config config = { .threads = 2, .units = MANY, .unit = unit,
					       .now = now, .now_opaque = &(struct fixture){ 0 } };
	unsigned int i;

	(void)state;
	for (i = 0; i < MANY; i++)
		unit[i] = (struct workers_unit){ .step = step_many, .opaque = &m, .index = i,
						 .home = i,
						 .defer = i ? WORKERS_DEFER_NONE :
							      WORKERS_DEFER_HOME };
	m.w = workers_create(&config);
	assert_non_null(m.w);
	for (i = 0; i <= MANY * (WORKERS_MAX_SKIPS + 1); i++) {
		workers_wake(m.w, 0);
		while (atomic_load(&m.steps[0]) <= i)
			sched_yield();
	}
	workers_quiesce(m.w, WORKERS_OUTSIDE);
	for (i = 1; i < MANY; i++)
		assert_int_equal(atomic_load(&m.steps[i]), 1);
	workers_destroy(m.w);
}

struct call {
	struct fixture *fx;
	unsigned int self;
	_Atomic bool done;
};

static void *call_quiesce(void *arg)
{
	struct call *c = arg;

	workers_quiesce(c->fx->w, c->self);
	atomic_store(&c->done, true);
	return NULL;
}

static void *call_park(void *arg)
{
	struct call *c = arg;

	workers_park(c->fx->w);
	atomic_store(&c->done, true);
	return NULL;
}

static void quiesce_waits_for_running_steps_and_not_for_its_own(void **state)
{
	struct fixture *fx = fx_create(2);
	struct call call = { .fx = fx, .self = 0 };
	pthread_t thread;

	(void)state;
	fx->held[0] = fx->held[1] = true;
	workers_wake(fx->w, 0);
	workers_wake(fx->w, 1);
	until_inside(fx, 0);
	until_inside(fx, 1);
	assert_int_equal(pthread_create(&thread, NULL, call_quiesce, &call), 0);
	while (!atomic_load(&fx->stopped[1]))
		sched_yield();
	assert_false(atomic_load(&call.done));
	assert_false(atomic_load(&fx->stopped[0]));
	fx->held[1] = false;
	pthread_join(thread, NULL);
	assert_true(atomic_load(&call.done));
	fx->held[0] = false;
	fx_destroy(fx);
}

/* Unit 2 begins its first step when the call waits for that of unit 1 already. */
static void quiesce_does_not_wait_for_steps_that_begin_later(void **state)
{
	struct fixture *fx = fx_create(2);
	struct call call = { .fx = fx, .self = WORKERS_OUTSIDE };
	unsigned int yields = 0;
	pthread_t thread;

	(void)state;
	fx->held[1] = fx->held[2] = true;
	workers_wake(fx->w, 1);
	until_inside(fx, 1);
	assert_int_equal(pthread_create(&thread, NULL, call_quiesce, &call), 0);
	while (!atomic_load(&fx->stopped[1]))
		sched_yield();
	workers_wake(fx->w, 2);
	until_inside(fx, 2);
	fx->held[1] = false;
	while (!atomic_load(&call.done) && yields++ < 10000000)
		sched_yield();
	fx->held[2] = false;
	pthread_join(thread, NULL);
	assert_true(yields < 10000000);
	fx_destroy(fx);
}

static void quiesce_returns_although_units_start_new_steps(void **state)
{
	struct fixture *fx = fx_create(2);
	unsigned int i;

	(void)state;
	fx->more[1] = fx->more[2] = 1u << 30;
	workers_wake(fx->w, 1);
	workers_wake(fx->w, 2);
	until_steps(fx, 2, 1);
	for (i = 0; i < 1000; i++)
		workers_quiesce(fx->w, WORKERS_OUTSIDE);
	fx_destroy(fx);
}

static void park_waits_for_steps_and_holds_until_the_last_unpark(void **state)
{
	struct fixture *fx = fx_create(2);
	struct call call = { .fx = fx };
	pthread_t thread;
	unsigned int steps;

	(void)state;
	fx->held[1] = true;
	fx->more[1] = 1u << 30;
	workers_wake(fx->w, 1);
	until_inside(fx, 1);
	assert_int_equal(pthread_create(&thread, NULL, call_park, &call), 0);
	while (!atomic_load(&fx->stopped[1]))
		sched_yield();
	assert_false(atomic_load(&call.done));
	fx->held[1] = false;
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&fx->inside[1]), 0);

	workers_park(fx->w);
	steps = fx->steps[1];
	workers_wake(fx->w, 2);
	workers_unpark(fx->w);
	assert_int_equal(fx->steps[1], steps);
	assert_int_equal(fx->steps[2], 0);
	workers_unpark(fx->w);
	until_steps(fx, 1, steps + 1);
	until_steps(fx, 2, 1);
	fx_destroy(fx);
}

static void nested_parks_hold_the_poller_until_the_last_unpark(void **state)
{
	struct fixture *fx = fx_create(0);

	(void)state;
	workers_park(fx->w);
	workers_park(fx->w);
	workers_wake(fx->w, 2);
	workers_unpark(fx->w);
	assert_int_equal(poll_all(fx), WORKERS_NEVER);
	assert_int_equal(fx->steps[2], 0);
	workers_unpark(fx->w);
	assert_int_equal(poll_all(fx), WORKERS_NEVER);
	assert_int_equal(fx->steps[2], 1);
	fx_destroy(fx);
}

static void a_deadline_wakes_a_sleeping_thread(void **state)
{
	struct fixture *fx = fx_create(2);

	(void)state;
	workers_set_deadline(fx->w, 3, 5000);
	atomic_store(&fx->clock, 5000);
	until_steps(fx, 3, 1);
	fx_destroy(fx);
}

/* Log lines caused by a guest: a limited number per second, others are counted. */
static void lines_of_the_log_are_limited_and_counted(void **state)
{
	struct log_limit limit = { 0 };
	const u64 start = 5 * LOG_LIMIT_NS;
	u32 n, dropped = 99, let = 0;

	(void)state;
	for (n = 0; n < 1000; n++)
		let += log_limit_allow(&limit, start + n, &dropped);
	assert_int_equal(let, LOG_LIMIT_LINES);
	assert_int_equal(dropped, 0);
	assert_false(log_limit_allow(&limit, start + LOG_LIMIT_NS - 1, &dropped));
	assert_true(log_limit_allow(&limit, start + LOG_LIMIT_NS, &dropped));
	assert_int_equal(dropped, 1001 - LOG_LIMIT_LINES);
	assert_true(log_limit_allow(&limit, start + LOG_LIMIT_NS, &dropped));
	assert_int_equal(dropped, 0);
}

/* All at one clock value; the count of suppressed ones saturates. */
static void lines_of_one_moment_are_counted_without_wrapping(void **state)
{
	struct log_limit limit = { 0 };
	const u64 start = 7 * LOG_LIMIT_NS + 1;
	u32 n, dropped = 99, let = 0;

	(void)state;
	for (n = 0; n < 100; n++)
		let += log_limit_allow(&limit, start, &dropped);
	assert_int_equal(let, 32);
	assert_true(log_limit_allow(&limit, start + LOG_LIMIT_NS, &dropped));
	assert_int_equal(dropped, 68);
	limit = (struct log_limit){ .since = start, .lines = LOG_LIMIT_LINES,
				    .dropped = UINT32_MAX };
	assert_false(log_limit_allow(&limit, start, &dropped));
	assert_true(log_limit_allow(&limit, start + LOG_LIMIT_NS, &dropped));
	assert_int_equal(dropped, UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_run_in_the_order_of_their_wake_ups_urgent_ones_first),
		cmocka_unit_test(a_unit_with_more_work_is_queued_after_the_others),
		cmocka_unit_test(a_poll_ends_after_its_budget_and_reports_it),
		cmocka_unit_test(the_poller_is_kicked_for_work_and_not_while_parked),
		cmocka_unit_test(a_deadline_wakes_its_unit_once_and_is_reported_to_the_poller),
		cmocka_unit_test(a_later_deadline_replaces_the_first),
		cmocka_unit_test(an_added_deadline_does_not_delay_an_earlier_one),
		cmocka_unit_test(clear_drops_wake_ups_and_deadlines),
		cmocka_unit_test(a_wake_up_during_a_step_leads_to_another),
		cmocka_unit_test(a_unit_is_stepped_by_one_thread_at_a_time),
		cmocka_unit_test(units_run_in_parallel),
		cmocka_unit_test(an_urgent_unit_cuts_a_step_short_when_no_thread_is_idle),
		cmocka_unit_test(an_urgent_unit_that_is_queued_becomes_the_head),
		cmocka_unit_test(an_urgent_unit_that_is_woken_in_its_step_runs_next),
		cmocka_unit_test(an_urgent_unit_that_runs_stops_no_other),
		cmocka_unit_test(an_urgent_unit_that_is_awake_and_queued_becomes_the_head),
		cmocka_unit_test(an_urgent_unit_that_continues_stops_no_other),
		cmocka_unit_test(a_thread_prefers_its_home_units_and_others_do_not_starve),
		cmocka_unit_test(a_thread_without_home_units_runs_others),
		cmocka_unit_test(units_whose_wake_ups_are_deferred_run_after_the_step),
		cmocka_unit_test(all_units_whose_wake_ups_are_deferred_run_after_the_step),
		cmocka_unit_test(one_thread_queues_units_at_once),
		cmocka_unit_test(deferred_wake_ups_of_all_units_are_passed_on),
		cmocka_unit_test(quiesce_waits_for_running_steps_and_not_for_its_own),
		cmocka_unit_test(quiesce_does_not_wait_for_steps_that_begin_later),
		cmocka_unit_test(quiesce_returns_although_units_start_new_steps),
		cmocka_unit_test(park_waits_for_steps_and_holds_until_the_last_unpark),
		cmocka_unit_test(nested_parks_hold_the_poller_until_the_last_unpark),
		cmocka_unit_test(a_deadline_wakes_a_sleeping_thread),
		cmocka_unit_test(lines_of_the_log_are_limited_and_counted),
		cmocka_unit_test(lines_of_one_moment_are_counted_without_wrapping),
	};

	return cmocka_run_group_tests_name("workers", tests, NULL, NULL);
}
