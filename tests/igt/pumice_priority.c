// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Priorities between contexts, time slices, round robin.
 *
 * The long job here is a grid that never completes: it can be switched out
 * between work-groups, so a job that ends while it is pending was scheduled meanwhile.
 *
 * A job that has been ready for 64 slices precedes those of a higher priority. So
 * where an order is checked, slices have the maximum length: on a busy machine
 * default ones are over before a test has submitted all its jobs.
 */
#include <errno.h>
#include <unistd.h>

#include "igt_pumice.h"
#include "render.h"
#include "fixture.h"
#include "sync.h"
#include "system.h"

IGT_TEST_DESCRIPTION("Order of jobs by the priority of their contexts, without starvation.");

#define LOW	DRM_PUMICE_PRIORITY_LOW
#define NORMAL	DRM_PUMICE_PRIORITY_NORMAL
#define HIGH	DRM_PUMICE_PRIORITY_HIGH
#define LEVELS	(HIGH + 1)
#define UNPRIVILEGED	65534
#define WORDS	32u	/* words that a store job writes */

/* A finite job with many work-groups: 2 MiB of words. */
#define LONG_GROUPS	2048u
#define LONG_SIZE	256u
#define LONG_WORDS	(LONG_GROUPS * LONG_SIZE)
#define PREEMPTED	3u	/* number of its runs in which it must be preempted */
#define MOST_LAUNCHES	64u	/* of the longest run, a second or so */

/* Time slices, us. */
#define SLICE_FIRMWARE	0	/* the firmware's own choice */
#define SLICE_USUAL	2000
#define SLICE_LONGEST	1000000

/* Number of slices after which a waiting job runs before those of a higher priority. */
#define STARVE_SLICES	64

/* Set the slice of all contexts, effective when the next one is created. */
static void use_slices(long us)
{
	CHECK_OK(set_module_parameter("slice_us", us));
}

static struct fixture fx_of(int fd, u32 priority)
{
	struct fixture fx = fx_on(fd);

	CHECK_OK(gpu_context_destroy(fd, fx.context));
	CHECK_OK(gpu_context_create(fd, fx.vm, priority, &fx.context));
	return fx;
}

static void release(struct fixture *fx)
{
	CHECK_OK(gpu_context_destroy(fx->fd, fx->context));
}

/* A job of @fixture must complete successfully while the one of @long_one continues. */
static void check_gets_in(struct fixture *fx, struct fixture *long_one)
{
	u32 value = 500 + (u32)fx->used;

	igt_assert_eq(fx_run(fx, fx_store_stream(fx, fx->data.va, value)), 1);
	fx_check_words(fx->data.cpu, value);
	igt_assert(sync_is_pending(long_one->fd, long_one->sync, 0));
}

static void every_level_runs(void)
{
	int fd = need_gpu();
	u32 priority;

	for (priority = LOW; priority <= HIGH; priority++) {
		struct fixture fx = fx_of(fd, priority);

		fx_check_works(&fx);
	}
}

static void unknown_level(void)
{
	static const u32 unknown[] = { HIGH + 1, 32, UINT32_MAX };
	int fd = need_gpu();
	u32 vm = need_vm(fd), context, i;

	for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		igt_assert_eq(gpu_context_create(fd, vm, unknown[i], &context), -EINVAL);
}

static void high_needs_rights(void)
{
	int fd = need_gpu();
	u32 vm = need_vm(fd), context;
	struct igt_helper_process unprivileged = {};

	igt_pumice_fork_helper(&unprivileged) {
		igt_assert_eq(setgid(UNPRIVILEGED), 0);
		igt_assert_eq(setuid(UNPRIVILEGED), 0);
		igt_assert_eq_u32(need_info(fd).priorities, 1u << LOW | 1u << NORMAL);
		igt_assert_eq(gpu_context_create(fd, vm, HIGH, &context), -EACCES);
		igt_assert_eq(gpu_context_create(fd, vm, NORMAL, &context), 0);
		igt_assert_eq(gpu_context_create(fd, vm, LOW, &context), 0);
	}
	igt_pumice_join(&unprivileged);
}

/* Queue a job each in contexts of all levels, or of the lowest, after a job of @blocker. */
static void queue_levels(int fd, struct fixture *blocker, struct fixture *fixtures, bool of_low)
{
	u32 level;

	for (level = LOW; level <= HIGH; level++)
		fixtures[level] = fx_of(fd, of_low ? LOW : level);
	fx_block(blocker);
	for (level = LOW; level <= HIGH; level++)
		fx_submit(&fixtures[level], fx_empty_stream(&fixtures[level]));
	need_in_flight(LEVELS + 1);
}

/* Destroy the blocker: the jobs of queue_levels() must run from the highest to the lowest. */
static void check_order(int fd, struct fixture *blocker, struct fixture *fixtures)
{
	u64 start[LEVELS];
	u32 level;

	release(blocker);
	for (level = LOW; level <= HIGH; level++) {
		igt_assert_eq(fx_wait(&fixtures[level]), 1);
		start[level] = need_state(fd, fixtures[level].context).last_start;
	}
	igt_assert_lt_u64(start[HIGH], start[NORMAL]);
	igt_assert_lt_u64(start[NORMAL], start[LOW]);
}

/* Waiting jobs run by priority, regardless of the order of submission. */
static void higher_first(void)
{
	int fd = need_gpu();
	struct fixture blocker, fixtures[LEVELS];

	use_slices(SLICE_LONGEST);
	blocker = fx_on(fd);
	queue_levels(fd, &blocker, fixtures, false);
	check_order(fd, &blocker, fixtures);
}

/* Contexts get their priorities while their jobs wait, the last one the highest. */
static void changed_while_queued(void)
{
	int fd = need_gpu();
	struct fixture blocker, fixtures[LEVELS];
	u32 level;

	use_slices(SLICE_LONGEST);
	blocker = fx_on(fd);
	queue_levels(fd, &blocker, fixtures, true);
	for (level = LOW; level <= HIGH; level++)
		igt_assert_eq(gpu_context_set_priority(fd, fixtures[level].context, level), 0);
	check_order(fd, &blocker, fixtures);
}

static void change_bad_arguments(void)
{
	static const struct drm_pumice_context_set_priority bad[] = {
		{ .priority = HIGH + 1 },
		{ .priority = 32 },
		{ .priority = UINT32_MAX },
		{ .priority = LOW, .flags = 1 },
		{ .priority = LOW, .flags = 1u << 31 },
		{ .priority = LOW, .pad = 1 },
	};
	struct fixture fx = fx_of(need_gpu(), LOW);
	u32 i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct drm_pumice_context_set_priority args = bad[i];

		args.id = fx.context;
		do_ioctl_err(fx.fd, DRM_IOCTL_PUMICE_CONTEXT_SET_PRIORITY, &args, EINVAL);
		/* Arguments are checked before the context is looked up. */
		args.id = UINT32_MAX;
		do_ioctl_err(fx.fd, DRM_IOCTL_PUMICE_CONTEXT_SET_PRIORITY, &args, EINVAL);
	}
	fx_check_works(&fx);
}

static void change_unknown_context(void)
{
	struct fixture fx = fx_open(), other = fx_open();
	u32 unknown = need_context(fx.fd, fx.vm);

	CHECK_OK(gpu_context_destroy(fx.fd, unknown));
	igt_assert_eq(gpu_context_set_priority(fx.fd, 0, LOW), -ENOENT);
	igt_assert_eq(gpu_context_set_priority(fx.fd, unknown, LOW), -ENOENT);
	igt_assert_eq(gpu_context_set_priority(fx.fd, UINT32_MAX, LOW), -ENOENT);
	/* Ids are those of a file. */
	CHECK_OK(gpu_context_create(other.fd, other.vm, LOW, &unknown));
	CHECK_OK(gpu_context_create(other.fd, other.vm, LOW, &unknown));
	igt_assert_eq(gpu_context_set_priority(fx.fd, unknown, LOW), -ENOENT);
	igt_assert_eq(gpu_context_set_priority(other.fd, unknown, LOW), 0);
}

static void raising_needs_rights(void)
{
	int fd = need_gpu();
	u32 context = need_context(fd, need_vm(fd));
	struct igt_helper_process unprivileged = {};

	igt_pumice_fork_helper(&unprivileged) {
		igt_assert_eq(setgid(UNPRIVILEGED), 0);
		igt_assert_eq(setuid(UNPRIVILEGED), 0);
		igt_assert_eq(gpu_context_set_priority(fd, context, HIGH), -EACCES);
		igt_assert_eq(gpu_context_set_priority(fd, context, LOW), 0);
		igt_assert_eq(gpu_context_set_priority(fd, context, NORMAL), 0);
	}
	igt_pumice_join(&unprivileged);
}

static void get_in(u32 short_priority, u32 long_priority)
{
	int fd = need_gpu();
	struct fixture long_one, fx;
	u32 i;

	use_slices(SLICE_FIRMWARE);
	long_one = fx_of(fd, long_priority);
	fx = fx_of(fd, short_priority);
	fx_run_on(&long_one);
	for (i = 0; i < 5; i++)
		check_gets_in(&fx, &long_one);
	release(&long_one);
	igt_assert_eq(fx_wait(&long_one), -ECANCELED);
}

static void high_preempts_normal(void)
{
	get_in(HIGH, NORMAL);
}

static void normal_preempts_low(void)
{
	get_in(NORMAL, LOW);
}

static void equals_alternate(void)
{
	get_in(NORMAL, NORMAL);
}

static void low_is_not_starved(void)
{
	get_in(LOW, HIGH);
}

/*
 * GPU time in ms that a chain of short jobs takes concurrently with a long one. Before each short
 * job there is a transfer job, during which the long one has the compute data master back: so
 * each short job must preempt it. The CPU is not involved.
 */
static u64 chain_ms(u32 short_priority, u32 long_priority, u32 jobs)
{
	int fd = need_gpu();
	struct fixture long_one = fx_of(fd, long_priority), fx = fx_of(fd, short_priority);
	struct fixture transfer = fx;
	u64 empty = fx_empty_stream(&fx), fill, start = 0;
	u32 last = 0, next, i;

	transfer.context = need_context_of(fd, fx.vm, DRM_PUMICE_CONTEXT_TRANSFER);
	fill = transfer_fill_stream(&fx, fx.data.va, 1, WORDS);
	fx_run_on(&long_one);
	for (i = 0; i < 2 * jobs; i++, last = next) {
		struct fixture *one = i % 2 ? &fx : &transfer;
		struct drm_pumice_sync syncs[2];
		struct drm_pumice_job job = {
			.context = one->context, .stream = i % 2 ? empty : fill,
			.syncs = ARRAY_OF(syncs, last ? 2 : 1),
		};

		next = need_sync(fd);
		syncs[0] = then_signal(next, 0);
		syncs[1] = wait_for(last, 0);
		CHECK_OK(gpu_submit(fd, &job, 1, NULL));
		if (i == 1) {
			need_wait(fd, next, 0);
			start = need_state(fd, fx.context).last_end;
		}
	}
	need_wait(fd, last, 0);
	igt_assert_eq_u64(need_state(fd, fx.context).jobs_done, jobs);
	igt_assert(sync_is_pending(fd, long_one.sync, 0));
	release(&long_one);
	return (need_state(fd, fx.context).last_end - start) / (need_info(fd).clock_hz / 1000);
}

/* Without priorities, each job but the first would wait for the end of a slice. */
static void high_preempts_at_once(void)
{
	const u32 jobs = 10;

	use_slices(SLICE_LONGEST);
	igt_assert_lt_u64(chain_ms(HIGH, NORMAL, jobs), jobs * SLICE_LONGEST / 1000 / 2);
}

/* Without slices, each would wait until it counts as starved, or longer. */
static void equals_wait_for_a_slice(void)
{
	const u32 jobs = 50;

	use_slices(SLICE_USUAL);
	igt_assert_lt_u64(chain_ms(NORMAL, NORMAL, jobs),
			  jobs * STARVE_SLICES * SLICE_USUAL / 1000 / 2);
}

/* Several jobs that never end, one at each priority, and all others are scheduled. */
static void many_endless_jobs(void)
{
	int fd = need_gpu();
	struct fixture fixtures[3], late;
	u32 i;

	use_slices(SLICE_FIRMWARE);
	late = fx_of(fd, LOW);
	for (i = 0; i < 3; i++) {
		fixtures[i] = fx_of(fd, i);
		fx_run_on(&fixtures[i]);
	}
	for (i = 0; i < 3; i++)
		igt_assert(sync_is_pending(fd, fixtures[i].sync, 0));
	check_gets_in(&late, &fixtures[HIGH]);
}

static void sixty_four_contexts(void)
{
	int fd = need_gpu();
	struct fixture long_one, fx;
	u32 syncs[64], i;

	use_slices(SLICE_FIRMWARE);
	long_one = fx_of(fd, HIGH);
	fx = fx_on(fd);
	fx_run_on(&long_one);
	for (i = 0; i < 64; i++) {
		CHECK_OK(gpu_context_create(fd, fx.vm, i % 2, &fx.context));
		fx.sync = syncs[i] = need_sync(fd);
		fx_submit(&fx, fx_store_stream(&fx, fx_data(&fx, i * WORDS), 100 * i));
	}
	for (i = 0; i < 64; i++) {
		need_wait(fd, syncs[i], 0);
		igt_assert_eq(sync_status(fd, syncs[i], 0), 1);
		fx_check_words(fx.data.cpu + i * WORDS, 100 * i);
	}
	igt_assert(sync_is_pending(fd, long_one.sync, 0));
}

static void priority_does_not_bypass_a_wait(void)
{
	struct fixture low = fx_of(need_gpu(), LOW), high = low, blocker = fx_on(low.fd);
	struct drm_pumice_sync syncs[] = {
		wait_for(low.sync, 0), then_signal(need_sync(low.fd), 0),
	};
	struct drm_pumice_job job = { .syncs = ARRAY_OF(syncs, 2) };

	CHECK_OK(gpu_context_create(low.fd, low.vm, HIGH, &high.context));
	fx_block(&blocker);
	fx_submit(&low, fx_store_stream(&low, low.data.va, 90));
	job.context = high.context;
	job.stream = fx_copy_stream(&low, fx_data(&low, WORDS), low.data.va, 1);
	CHECK_OK(gpu_submit(low.fd, &job, 1, NULL));
	need_in_flight(3);
	release(&blocker);
	need_wait(low.fd, syncs[1].handle, 0);
	fx_check_words(low.data.cpu + WORDS, 91);
}

/* Return whether the last job of @fx was switched out more often than slices of it were over. */
static bool was_preempted(const struct fixture *fx, u64 groups)
{
	const u64 slice = (u64)need_info(fx->fd).clock_hz * SLICE_LONGEST / 1000000;
	struct drm_pumice_job_get_result result;

	CHECK_OK(gpu_job_result(fx->fd, fx->context, 0, &result));
	igt_assert_eq_u64(result.groups, groups);
	return result.slices - 1 > result.run_ticks / slice;
}

/*
 * A job that adds 1 to each word shows work that is lost, and work that is repeated. It is twice
 * as long after each run in which it was not preempted, because the machine submits slowly.
 */
static void preempted_job_is_exact(void)
{
	struct fixture fx = fx_of(need_gpu(), LOW), other;
	struct mem mem = need_mem(fx.fd, fx.vm, FX_FREE, LONG_WORDS * 4);
	const u32 va[2] = { (u32)mem.va, (u32)(mem.va >> 32) };
	const struct shader shader = shader_copy();
	const struct launch launch = {
		.shader = &shader, .params = { va[0], va[1], va[0], va[1], 1 },
		.groups = LONG_GROUPS, .size = LONG_SIZE,
	};
	u32 launches = 1, preempted = 0, sum = 0, i;

	use_slices(SLICE_LONGEST);
	other = fx_of(fx.fd, HIGH);
	for (i = 0; i < LONG_WORDS; i++)
		mem.cpu[i] = i;
	while (preempted < PREEMPTED) {
		igt_assert_lte_u32(launches, MOST_LAUNCHES);
		fx_submit(&fx, fx_repeat_stream(&fx, &launch, launches));
		igt_assert_eq(fx_wait_interrupting(&fx, &other), 1);
		sum += launches;
		for (i = 0; i < LONG_WORDS; i++)
			igt_assert_eq_u32(mem.cpu[i], sum + i);
		if (was_preempted(&fx, (u64)launches * LONG_GROUPS))
			preempted++;
		else
			launches *= 2;
	}
}

static long usual_slice_us;

static void restore_slices(int signal)
{
	(void)signal;
	set_module_parameter("slice_us", usual_slice_us);
}

int igt_main()
{
	igt_fixture() {
		igt_pumice_require(IGT_PUMICE_PATIENT);
		usual_slice_us = module_parameter("slice_us");
		igt_install_exit_handler(restore_slices);
	}

	igt_pumice_subtest("every-level-runs", "contexts of every priority work", every_level_runs);
	igt_pumice_subtest("unknown-level", "other priorities are refused", unknown_level);
	igt_pumice_subtest("high-needs-rights", "high priority needs CAP_SYS_NICE",
			   high_needs_rights);
	igt_pumice_subtest("higher-first",
			   "of the waiting jobs the one of highest priority runs first",
			   higher_first);
	igt_pumice_subtest("changed-while-queued", "a changed priority applies to waiting jobs",
			   changed_while_queued);
	igt_pumice_subtest("change-bad-arguments",
			   "changes to unknown levels, flags and padding are refused",
			   change_bad_arguments);
	igt_pumice_subtest("change-unknown-context", "only contexts of the file can be changed",
			   change_unknown_context);
	igt_pumice_subtest("raising-needs-rights", "a change to high priority needs CAP_SYS_NICE",
			   raising_needs_rights);
	igt_pumice_subtest("high-preempts-normal",
			   "a high-priority job runs while a normal one continues",
			   high_preempts_normal);
	igt_pumice_subtest("normal-preempts-low",
			   "a normal job runs while a low-priority one continues",
			   normal_preempts_low);
	igt_pumice_subtest("equals-alternate", "jobs of one priority alternate",
			   equals_alternate);
	igt_pumice_subtest("low-is-not-starved",
			   "a low-priority job runs although a high-priority one never ends",
			   low_is_not_starved);
	igt_pumice_subtest("high-preempts-at-once",
			   "a high-priority job does not wait for a slice of a normal one",
			   high_preempts_at_once);
	igt_pumice_subtest("equals-wait-for-a-slice",
			   "jobs of one priority wait for one slice, not for several",
			   equals_wait_for_a_slice);
	igt_pumice_subtest("many-endless-jobs",
			   "another job runs although each priority has an endless one",
			   many_endless_jobs);
	igt_pumice_subtest("sixty-four-contexts",
			   "64 contexts run in parallel to an endless high-priority job",
			   sixty_four_contexts);
	igt_pumice_subtest("priority-does-not-bypass-a-wait",
			   "a high-priority job waits for a low-priority one",
			   priority_does_not_bypass_a_wait);
	igt_pumice_subtest("preempted-job-is-exact",
			   "a preempted job neither loses nor repeats work",
			   preempted_job_is_exact);
}
