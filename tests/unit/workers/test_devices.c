// SPDX-License-Identifier: MIT
/*
 * Workers of two devices in one process: a step of one, which has threads, wakes and polls the
 * other one, which has none, as a host that runs a device inside another one's callback.
 */
#include "cmocka_all.h"

#include <sched.h>
#include <string.h>
#include <time.h>

#include "../../../qemu-device/gpu/workers/workers.h"

/* Of each device: unit 0 wakes the others, unit 1 is woken in each, unit 2 in its own device. */
enum { WAKER, POLLED, OTHER, UNITS };

/* Only a defect takes that long. */
#define PATIENCE_MS	20000u

struct device {
	struct workers *w;
	struct device *inner;	/* woken and polled by the step of unit WAKER, or NULL */
	_Atomic unsigned int steps[UNITS];
	/* Steps before the end of the step of unit WAKER: of the device, of the inner one. */
	unsigned int early[UNITS], inner_early[UNITS];
};

static u64 now(void *opaque)
{
	(void)opaque;
	return 0;
}

static void copy_steps(unsigned int *to, struct device *from)
{
	for (unsigned int i = 0; i < UNITS; i++)
		to[i] = atomic_load(&from->steps[i]);
}

/* Wake a unit, which is deferred, and wait for another device and run it meanwhile. */
static void wake_and_poll(struct device *d)
{
	workers_wake(d->w, OTHER);
	workers_wake(d->inner->w, POLLED);
	workers_quiesce(d->inner->w, WORKERS_OUTSIDE);
	while (!workers_poll(d->inner->w, 1))
		;
	workers_wake(d->w, POLLED);
	copy_steps(d->early, d);
	copy_steps(d->inner_early, d->inner);
}

static bool step(void *opaque, unsigned int index, const _Atomic bool *stop)
{
	struct device *d = opaque;

	(void)stop;
	if (index == WAKER && d->inner)
		wake_and_poll(d);
	atomic_fetch_add(&d->steps[index], 1);
	return false;
}

static void create(struct device *d, unsigned int threads, struct device *inner)
{
	struct workers_unit unit[UNITS];
	const struct workers_config config = { .threads = threads, .units = UNITS, .unit = unit,
					       .now = now };

	memset(d, 0, sizeof(*d));
	d->inner = inner;
	for (unsigned int i = 0; i < UNITS; i++)
		unit[i] = (struct workers_unit){
			.step = step, .opaque = d, .index = i,
			.defer = i == WAKER ? WORKERS_DEFER_ALL : WORKERS_DEFER_NONE };
	d->w = workers_create(&config);
	assert_non_null(d->w);
}

/* Wait until a unit has run. */
static void until_run(struct device *d, unsigned int unit)
{
	const struct timespec ms = { .tv_nsec = 1000000 };

	for (unsigned int i = 0; i < PATIENCE_MS && !atomic_load(&d->steps[unit]); i++)
		nanosleep(&ms, NULL);
	assert_int_equal(atomic_load(&d->steps[unit]), 1);
}

/*
 * A wake-up of another device is not deferred. The deferred ones of a step remain those of its own
 * device while it waits for the other one or polls it, and so do those that follow.
 */
static void deferred_wake_ups_remain_those_of_their_device(void **state)
{
	struct device outer, inner;

	(void)state;
	create(&inner, 0, NULL);
	create(&outer, 2, &inner);
	workers_wake(outer.w, WAKER);
	until_run(&outer, POLLED);
	until_run(&outer, OTHER);
	workers_destroy(outer.w);
	assert_int_equal(outer.early[POLLED] + outer.early[OTHER], 0);
	assert_int_equal(inner.early[WAKER], 0);
	assert_int_equal(outer.inner_early[POLLED], 1);
	assert_int_equal(outer.inner_early[OTHER], 0);
	workers_destroy(inner.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deferred_wake_ups_remain_those_of_their_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
