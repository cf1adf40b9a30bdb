// SPDX-License-Identifier: MIT
/*
 * Calls of several threads on the same VMs and BOs at the same time.
 *
 * The return value of a single call does not matter, as long as its interface documents
 * it: the kernel must survive, which the runner checks in its log, the GPU must work
 * afterwards, and no object may remain.
 *
 * Each case races for PUMICE_RACE_SECONDS, at most RACE_MAX; usually RACE_USUAL.
 * With signals, a timer interrupts the threads' calls in the middle.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <xf86drm.h>

#include "harness.h"
#include "interrupt.h"
#include "parameters.h"
#include "fixture.h"
#include "system.h"

#define RACE_USUAL	3u	/* default, seconds */
#define RACE_MAX	600u
#define NS_PER_SECOND	1000000000ull
#define USUAL_MS	30000	/* job time-out; exceeds the needs of any job of a case */
#define HANG_MS		50	/* job time-out of contexts whose jobs never end */

#define VMS		2
#define JOBS		32	/* jobs per call; each in a context of its own */
#define EXTERNAL	100	/* BOs that a SUBMIT to the second VM must lock */
#define THREADS		4
#define MAX_QUEUED	32	/* calls after which a thread waits for its jobs */

#define SHARED_VA	FX_FREE
#define OTHER_VA	(FX_FREE + GIB)
#define EXTERNAL_VA	(FX_FREE + 2 * GIB)

/** struct race - state shared by the threads of a case */
struct race {
	int fd;
	struct fixture fixtures[VMS];		/* on one file */
	u64 empty[VMS];			/* a stream in each that ends at once */
	u64 endless;			/* a stream in the first VM */
	u32 contexts[JOBS];		/* of the first VM */
	u32 shared;			/* BO that is always mapped in the second VM */
	bool signals;
	bool stop;			/* atomic */
};

/** struct racer - one thread */
struct racer {
	pthread_t thread;
	struct race *race;
	void (*step)(struct race *race, u32 round);
	u32 interval_us;	/* of signals */
	u32 rounds;
};

/* Call that a signal may interrupt; it is not repeated, so that lock owners alternate. */
static void call(int fd, unsigned long request, void *arg)
{
	CHECK(!ioctl(fd, request, arg) || errno == EINTR);
}

static void submit_empty(struct race *race, u32 vm, struct drm_pumice_job *jobs, u32 count,
			 u32 round)
{
	struct drm_pumice_sync done = then_signal(race->fixtures[vm].sync, 0);
	struct drm_pumice_submit submit = { .jobs = ARRAY_OF(jobs, count) };

	if ((round + 1) % (MAX_QUEUED / count)) {
		call(race->fd, DRM_IOCTL_PUMICE_SUBMIT, &submit);
		return;
	}
	jobs[count - 1].syncs = (struct drm_pumice_array)ARRAY_OF(&done, 1);
	CHECK_OK(gpu_submit(race->fd, jobs, count, NULL));
	need_wait(race->fd, done.handle, 0);
}

/* One job in each context: each adds a fence to each BO of the VM. */
static void submit_many(struct race *race, u32 round)
{
	struct drm_pumice_job jobs[JOBS] = { 0 };
	u32 i;

	for (i = 0; i < JOBS; i++) {
		jobs[i].context = race->contexts[i];
		jobs[i].stream = race->empty[0];
	}
	submit_empty(race, 0, jobs, JOBS, round);
}

static void submit_first(struct race *race, u32 round)
{
	struct drm_pumice_job job = {
		.context = race->fixtures[0].context, .stream = race->empty[0],
	};

	submit_empty(race, 0, &job, 1, round);
}

/* Keep the shared BO's reservation locked for long. */
static void submit_second(struct race *race, u32 round)
{
	struct drm_pumice_job job = {
		.context = race->fixtures[1].context, .stream = race->empty[1],
	};

	submit_empty(race, 1, &job, 1, round);
}

static void bind_once(struct race *race, u32 vm, struct drm_pumice_bind_op op)
{
	struct drm_pumice_vm_bind bind = { .vm = race->fixtures[vm].vm, .ops = ARRAY_OF(&op, 1) };

	call(race->fd, DRM_IOCTL_PUMICE_VM_BIND, &bind);
}

static void bind_shared(struct race *race, u64 va)
{
	bind_once(race, 0, bind_map(race->shared, 0, va, PAGE, 0));
	bind_once(race, 0, bind_unmap(va, PAGE));
}

static void bind_shared_here(struct race *race, u32 round)
{
	(void)round;
	bind_shared(race, SHARED_VA);
}

static void bind_shared_there(struct race *race, u32 round)
{
	(void)round;
	bind_shared(race, OTHER_VA);
}

static void wait_until(u64 deadline)
{
	const struct timespec time = {
		.tv_sec = (time_t)(deadline / NS_PER_SECOND),
		.tv_nsec = (long)(deadline % NS_PER_SECOND),
	};
	int err;

	do {
		err = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
	} while (err == EINTR);
	CHECK_OK(-err);
}

/*
 * Create a context whose job never ends: every other one is destroyed before its time-out or
 * while it is killed.
 */
static void hang(struct race *race, u32 round)
{
	const u32 context = need_context(race->fd, race->fixtures[0].vm);
	struct drm_pumice_sync done = then_signal(need_sync(race->fd), 0);
	struct drm_pumice_job job = {
		.context = context, .stream = race->endless, .syncs = ARRAY_OF(&done, 1),
	};

	CHECK_OK(gpu_submit(race->fd, &job, 1, NULL));
	if (round % 2) {
		need_wait(race->fd, done.handle, 0);
		CHECK_EQUAL(need_state(race->fd, context).state, DRM_PUMICE_CONTEXT_GUILTY);
	} else {
		wait_until(now_ns() + round * 7919 % (2 * HANG_MS) * 1000000ull);
	}
	CHECK_OK(gpu_context_destroy(race->fd, context));
	CHECK_OK(drmSyncobjDestroy(race->fd, done.handle));
}

/* Map and unmap a BO whose reservation has no slots for fences yet in both VMs. */
static void bind_fresh(struct race *race, u32 round)
{
	struct drm_pumice_bind_op map, unmap = bind_unmap(SHARED_VA, PAGE);
	volatile u32 spin;
	u32 bo;

	CHECK_OK(gpu_bo_create(race->fd, PAGE, 0, &bo));
	map = bind_map(bo, 0, SHARED_VA, PAGE, 0);
	CHECK_OK(gpu_bind(race->fd, race->fixtures[1].vm, &map, 1, NULL));
	CHECK_OK(gpu_bind(race->fd, race->fixtures[0].vm, &map, 1, NULL));
	/* Let SUBMIT reach a different point each time. */
	for (spin = round * 37 % 400; spin; spin--)
		;
	CHECK_OK(gpu_bind(race->fd, race->fixtures[0].vm, &unmap, 1, NULL));
	CHECK_OK(gpu_bind(race->fd, race->fixtures[1].vm, &unmap, 1, NULL));
	CHECK_OK(gpu_bo_close(race->fd, bo));
}

/*
 * Create and destroy a context and a VM without jobs: their destruction starts the works of
 * their schedulers once more, and then frees these.
 */
static void destroy_unused(struct race *race, u32 round)
{
	const u32 vm = need_vm(race->fd);

	CHECK_OK(gpu_context_destroy(race->fd, need_context(race->fd, vm)));
	CHECK_OK(gpu_vm_destroy(race->fd, vm));
	(void)round;
}

static void *race_on(void *arg)
{
	struct racer *racer = arg;
	struct race *race = racer->race;
	timer_t timer = 0;

	if (race->signals)
		timer = interrupt_me(racer->interval_us);
	while (!__atomic_load_n(&race->stop, __ATOMIC_RELAXED))
		racer->step(race, racer->rounds++);
	if (race->signals)
		timer_delete(timer);
	return NULL;
}

static struct race race_open(bool signals)
{
	struct race race = { .fd = need_gpu(), .signals = signals };
	u32 i;

	for (i = 0; i < VMS; i++) {
		race.fixtures[i] = fx_on(race.fd);
		race.empty[i] = fx_empty_stream(&race.fixtures[i]);
	}
	race.endless = fx_loop_stream(&race.fixtures[0]);
	for (i = 0; i < JOBS; i++)
		race.contexts[i] = need_context(race.fd, race.fixtures[0].vm);
	race.shared = need_bo(race.fd, PAGE);
	need_map(race.fd, race.fixtures[1].vm, race.shared, 0, OTHER_VA, PAGE, 0);
	for (i = 0; i < EXTERNAL; i++)
		need_map(race.fd, race.fixtures[1].vm, need_bo(race.fd, PAGE), 0,
			 EXTERNAL_VA + i * PAGE, PAGE, 0);
	return race;
}

/* Unmap BOs from the CPU, which would otherwise stay. */
static void race_close(struct race *race)
{
	u32 i;

	for (i = 0; i < VMS; i++) {
		CHECK_OK(munmap(race->fixtures[i].code.cpu, race->fixtures[i].code.size));
		CHECK_OK(munmap(race->fixtures[i].data.cpu, race->fixtures[i].data.size));
	}
	close(race->fd);
}

static u32 race_seconds(void)
{
	const char *text = getenv("PUMICE_RACE_SECONDS");
	unsigned long seconds = text ? strtoul(text, NULL, 10) : RACE_USUAL;

	CHECK(seconds && seconds <= RACE_MAX);
	return (u32)seconds;
}

/* Check that all jobs of contexts from before the race completed successfully. */
static void check_contexts(const struct race *race)
{
	struct drm_pumice_context_get_state state;
	u32 i;

	for (i = 0; i < VMS + JOBS; i++) {
		state = need_state(race->fd, i < VMS ? race->fixtures[i].context :
							race->contexts[i - VMS]);
		CHECK_EQUAL(state.state, 0);
		CHECK_EQUAL(state.jobs_faulted, 0);
	}
}

/* Run the steps concurrently, check that the GPU works, and that all objects are freed. */
static void race_run(bool signals, void (*const steps[])(struct race *race, u32 round), u32 count)
{
	struct race race = race_open(signals);
	struct racer racers[THREADS] = { 0 };
	u32 i;

	/* Applies to contexts created from now on. */
	CHECK_OK(set_module_parameter("job_timeout_ms", HANG_MS));
	for (i = 0; i < count; i++) {
		racers[i] = (struct racer){
			.race = &race, .step = steps[i], .interval_us = 1000 + 370 * i,
		};
		CHECK_OK(-pthread_create(&racers[i].thread, NULL, race_on, &racers[i]));
	}
	wait_until(now_ns() + race_seconds() * NS_PER_SECOND);
	__atomic_store_n(&race.stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < count; i++) {
		CHECK_OK(-pthread_join(racers[i].thread, NULL));
		test_note("thread %u: %u rounds", i, racers[i].rounds);
	}
	CHECK_OK(set_module_parameter("job_timeout_ms", USUAL_MS));
	for (i = 0; i < VMS; i++)
		fx_check_works(&race.fixtures[i]);
	check_contexts(&race);
	race_close(&race);
	need_nothing_left();
}

/*
 * SUBMIT backs off if another call holds a BO's reservation, and locks that BO first when it
 * tries again. By then it may have been unmapped.
 */
static void race_submit_with_unmap(bool signals)
{
	static void (*const steps[])(struct race *race, u32 round) = {
		submit_many, submit_second, bind_fresh,
	};

	race_run(signals, steps, 3);
}

/* The first mapping of a BO in a VM is created, and read, while the last one is removed. */
static void race_map_with_unmap(bool signals)
{
	static void (*const steps[])(struct race *race, u32 round) = {
		submit_first, submit_second, bind_shared_here, bind_shared_there,
	};

	race_run(signals, steps, 4);
}

static void submit_while_a_shared_bo_is_unmapped(void)
{
	race_submit_with_unmap(false);
}

static void submit_while_a_shared_bo_is_unmapped_with_signals(void)
{
	race_submit_with_unmap(true);
}

static void map_while_the_same_bo_is_unmapped(void)
{
	race_map_with_unmap(false);
}

static void map_while_the_same_bo_is_unmapped_with_signals(void)
{
	race_map_with_unmap(true);
}

/* Time-outs, and destruction of contexts at that time, with other jobs that must succeed. */
static void race_time_outs(bool signals)
{
	static void (*const steps[])(struct race *race, u32 round) = {
		hang, submit_many, submit_second, bind_shared_here,
	};

	race_run(signals, steps, 4);
}

static void time_outs_in_parallel_with_jobs_and_binds(void)
{
	race_time_outs(false);
}

static void time_outs_in_parallel_with_jobs_and_binds_and_signals(void)
{
	race_time_outs(true);
}

static void destroy_contexts_without_jobs(void)
{
	static void (*const steps[])(struct race *race, u32 round) = {
		destroy_unused, destroy_unused, submit_second,
	};

	race_run(false, steps, 3);
}

static const struct test_case cases[] = {
	TEST_CASE_SECONDS(submit_while_a_shared_bo_is_unmapped, 2 * RACE_MAX),
	TEST_CASE_SECONDS(submit_while_a_shared_bo_is_unmapped_with_signals, 2 * RACE_MAX),
	TEST_CASE_SECONDS(map_while_the_same_bo_is_unmapped, 2 * RACE_MAX),
	TEST_CASE_SECONDS(map_while_the_same_bo_is_unmapped_with_signals, 2 * RACE_MAX),
	TEST_CASE_SECONDS(time_outs_in_parallel_with_jobs_and_binds, 2 * RACE_MAX),
	TEST_CASE_SECONDS(time_outs_in_parallel_with_jobs_and_binds_and_signals, 2 * RACE_MAX),
	TEST_CASE_SECONDS(destroy_contexts_without_jobs, 2 * RACE_MAX),
};

TEST_MAIN_TIMEOUT(cases, USUAL_MS)
