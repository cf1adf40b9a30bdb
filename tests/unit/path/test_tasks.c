// SPDX-License-Identifier: MIT
/*
 * Tasks without instances in a compute stream: a launch that depends on one reads the stores before
 * it; a launch that does not runs meanwhile, and even ends the wait of those before the task. And
 * tasks that a USC manages beyond its slots, counted.
 */
#include "path.h"

#include "pumice/pumice_perf.h"
#include "pumice/pumice_tasks.h"
#include "pumice_regs.h"

#include "add.pasm.h"
#include "hold.pasm.h"
#include "raise.pasm.h"

#define COUNT	64u	/* instances of each launch */
#define TURNS	20000u
#define FILL_TURNS	2000u	/* longer than the groups of fill_slots() are dispatched */
#define FLAG	7u

/* Areas of the memory for results, words. */
#define HELD	1024u
#define COPY	2048u

static uint64_t va_of(const struct path *p, uint32_t word)
{
	return p->out_va + word * sizeof(uint32_t);
}

static void dispatch_after(struct path *p, const struct pumice_kernel *k, const uint32_t *uniforms,
			   uint32_t words)
{
	struct pumice_dispatch d;

	pumice_dispatch_init(&d, k);
	d.uniforms = uniforms;
	d.uniform_words = words;
	assert_int_equal(pumice_stream_dispatch_after(p->stream, &d), 0);
}

/*
 * The first launch waits for the flag, which the second one sets. The third one copies the results
 * of the first.
 */
static void check(struct path *p)
{
	struct pumice_kernel *hold = path_kernel(p, hold_program, sizeof(hold_program));
	struct pumice_kernel *raise = path_kernel(p, raise_program, sizeof(raise_program));
	struct pumice_kernel *add = path_kernel(p, add_program, sizeof(add_program));
	const uint32_t held[5] = { VA_WORDS(p->out_va), VA_WORDS(va_of(p, HELD)), TURNS };
	const uint32_t flag[3] = { VA_WORDS(p->out_va), FLAG };
	const uint32_t copy[5] = { VA_WORDS(va_of(p, HELD)), VA_WORDS(va_of(p, COPY)), 100 };
	uint32_t i, round;

	for (round = 0; round < 3; round++) {
		memset(p->out_cpu, 0, p->out_bytes);
		path_dispatch(p, hold, 1, held, 5);
		assert_int_equal(pumice_stream_task(p->stream), 0);
		path_dispatch(p, raise, 1, flag, 3);
		dispatch_after(p, add, copy, 5);
		if (path_run(p, NULL))
			fail_msg("%s", pumice_device_error(p->dev));
		for (i = 0; i < COUNT; i++) {
			assert_int_equal(p->out_cpu[HELD + i], FLAG);
			assert_int_equal(p->out_cpu[COPY + i], FLAG + 100);
		}
	}
	pumice_kernel_destroy(add);
	pumice_kernel_destroy(raise);
	pumice_kernel_destroy(hold);
}

static void a_task_carries_a_dependency_to_a_later_launch(void **state)
{
	(void)state;
	path_each(check);
}

static void a_task_carries_a_dependency_with_each_preset(void **state)
{
	(void)state;
	path_each_preset(check);
}

/* Run the job in p->stream; returns how many of its tasks were ready before a slot was free. */
static uint64_t run_and_count(struct path *p)
{
	struct pumice_job_sync signal = { .signal = true };
	struct pumice_job job = { .context = p->context, .syncs = &signal, .sync_count = 1 };
	struct pumice_wait wait = { 0 };
	struct pumice_perfmon *monitor;
	uint32_t counter;
	uint64_t value;

	assert_int_equal(pumice_stream_end(p->stream, &job.stream), 0);
	assert_int_equal(pumice_perf_counter_find(p->dev, "PDS_SLOT_WAITS", &counter), 0);
	assert_int_equal(pumice_perfmon_create(p->dev, &counter, 1, &monitor), 0);
	assert_int_equal(pumice_sync_create(p->dev, 0, &signal.sync), 0);
	job.perfmon = pumice_perfmon_id(monitor);
	assert_int_equal(pumice_submit(p->dev, &job, 1, NULL), 0);
	wait.sync = signal.sync;
	assert_int_equal(pumice_sync_wait(&wait, 1, 0, LONG), 0);
	assert_int_equal(pumice_perfmon_read(monitor, 0, &value), 0);
	pumice_sync_destroy(signal.sync);
	pumice_perfmon_destroy(monitor);
	return value;
}

/* As many groups as two USCs manage tasks at most; the flag is set from the beginning. */
static uint64_t fill_slots(struct path *p)
{
	const uint32_t uniforms[5] = { VA_WORDS(p->out_va), VA_WORDS(va_of(p, HELD)), FILL_TURNS };
	struct pumice_kernel *hold = path_kernel(p, hold_program, sizeof(hold_program));
	const uint32_t groups = 2 * PUMICE_USC_TASKS;
	uint64_t waits;
	uint32_t i;

	memset(p->out_cpu, 0, p->out_bytes);
	p->out_cpu[0] = FLAG;
	path_dispatch(p, hold, groups, uniforms, 5);
	waits = run_and_count(p);
	for (i = 0; i < groups * COUNT; i++)
		assert_int_equal(p->out_cpu[HELD + i], FLAG);
	pumice_kernel_destroy(hold);
	return waits;
}

/* The same on a device with these sizes. */
static uint64_t waits_for_slots(const char *sizes)
{
	struct path p = { .preset = sizes, .threads = 0 };
	uint64_t waits;

	path_open(&p);
	waits = fill_slots(&p);
	path_close(&p);
	return waits;
}

/*
 * Without threads the order of steps is fixed: all groups are dispatched before the first one ends.
 */
static void tasks_are_managed_beyond_the_slots_of_a_usc(void **state)
{
	(void)state;
	assert_int_equal(waits_for_slots("default,cores=1"),
			 2 * (PUMICE_USC_TASKS - PUMICE_USC_SLOTS));
	assert_int_equal(waits_for_slots("default,cores=1,tasks=48"), 0);
	assert_int_equal(waits_for_slots("default,cores=1,slots=1"), 2 * (PUMICE_USC_TASKS - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task_carries_a_dependency_to_a_later_launch),
		cmocka_unit_test(a_task_carries_a_dependency_with_each_preset),
		cmocka_unit_test(tasks_are_managed_beyond_the_slots_of_a_usc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
