// SPDX-License-Identifier: MIT
/*
 * What jobs wait for and signal: order, binary and timeline syncobjs.
 *
 * Jobs wait for one that never ends but shares the GPU (rig_run_on()), so that a job which
 * does not wait is seen to run. Destroying its context lets them go.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <xf86drm.h>

#include "harness.h"
#include "rig.h"
#include "system.h"

#define WORDS 32u	/* that a copy or store job writes */

/* A job with one wait and one signal, either left out by handle 0. */
struct link {
	struct drm_pumice_sync syncs[2];
	struct drm_pumice_job job;
};

static void make_link(struct link *link, u32 context, u64 stream, u32 wait, u32 signal)
{
	u32 count = 0;

	if (wait)
		link->syncs[count++] = wait_for(wait, 0);
	if (signal)
		link->syncs[count++] = then_signal(signal, 0);
	link->job = (struct drm_pumice_job){
		.context = context, .stream = stream, .syncs = ARRAY_OF(link->syncs, count),
	};
}

static void submit_link(struct rig *rig, u32 context, u64 stream, u32 wait, u32 signal)
{
	struct link link;

	make_link(&link, context, stream, wait, signal);
	CHECK_OK(gpu_submit(rig->fd, &link.job, 1, NULL));
}

/* Stream that copies the words of place @index to the next place, adding 1. */
static u64 step_stream(struct rig *rig, u32 index)
{
	return rig_copy_stream(rig, rig_data(rig, (index + 1) * WORDS),
			       rig_data(rig, index * WORDS), 1);
}

static void start_words(struct rig *rig, u32 value)
{
	u32 i;

	for (i = 0; i < WORDS; i++)
		rig->data.cpu[i] = value + i;
}

static void empty_stream_signals_its_fence(void)
{
	struct rig rig = rig_open();

	CHECK_EQUAL(rig_run(&rig, rig_empty_stream(&rig)), 1);
}

static void job_without_syncs_runs(void)
{
	struct rig rig = rig_open();

	submit_link(&rig, rig.context, rig_store_stream(&rig, rig.data.va, 3), 0, 0);
	CHECK_EQUAL(rig_run(&rig, rig_empty_stream(&rig)), 1);
	rig_check_words(rig.data.cpu, 3);
}

static void jobs_of_a_context_run_in_order(void)
{
	struct rig rig = rig_open();
	u32 i;

	start_words(&rig, 1000);
	for (i = 0; i < 100; i++)
		submit_link(&rig, rig.context, step_stream(&rig, i), 0, i == 99 ? rig.sync : 0);
	CHECK_EQUAL(rig_wait(&rig), 1);
	rig_check_words(rig.data.cpu + 100 * WORDS, 1100);
}

static void more_jobs_than_the_ring_holds_all_run(void)
{
	struct rig rig = rig_open();
	u64 stream = rig_empty_stream(&rig);
	const int resets = need_counts().resets;
	u32 i;

	for (i = 0; i < 4000; i++)
		submit_link(&rig, rig.context, stream, 0, 0);
	CHECK_EQUAL(rig_run(&rig, stream), 1);
	CHECK_EQUAL(need_state(rig.fd, rig.context).jobs_done, 4001);
	/* A reset would write what the firmware could not read anew. */
	CHECK_EQUAL(need_counts().resets, resets);
}

static void as_many_jobs_as_promised_run_from_one_call(void)
{
	struct rig rig = rig_open();
	struct link *links = calloc(DRM_PUMICE_MAX_JOBS, sizeof(*links));
	struct drm_pumice_job jobs[DRM_PUMICE_MAX_JOBS];
	u32 i;

	CHECK(links);
	start_words(&rig, 1);
	for (i = 0; i < DRM_PUMICE_MAX_JOBS; i++) {
		make_link(&links[i], rig.context, step_stream(&rig, i), 0,
			  i == DRM_PUMICE_MAX_JOBS - 1 ? rig.sync : 0);
		jobs[i] = links[i].job;
	}
	CHECK_OK(gpu_submit(rig.fd, jobs, DRM_PUMICE_MAX_JOBS, NULL));
	CHECK_EQUAL(rig_wait(&rig), 1);
	rig_check_words(rig.data.cpu + DRM_PUMICE_MAX_JOBS * WORDS, 1 + DRM_PUMICE_MAX_JOBS);
}

static void as_many_syncs_as_promised_are_signaled(void)
{
	struct rig rig = rig_open();
	struct drm_pumice_sync syncs[DRM_PUMICE_MAX_SYNCS];
	struct drm_pumice_job job = {
		.context = rig.context, .stream = rig_empty_stream(&rig),
		.syncs = ARRAY_OF(syncs, DRM_PUMICE_MAX_SYNCS),
	};
	u32 i;

	for (i = 0; i < DRM_PUMICE_MAX_SYNCS; i++)
		syncs[i] = then_signal(need_sync(rig.fd), 0);
	CHECK_OK(gpu_submit(rig.fd, &job, 1, NULL));
	for (i = 0; i < DRM_PUMICE_MAX_SYNCS; i++)
		need_wait(rig.fd, syncs[i].handle, 0);
}

#define CONTEXTS 4u
#define CHAIN 32u

static void let_go(struct rig *holder)
{
	CHECK_OK(gpu_context_destroy(holder->fd, holder->context));
}

/*
 * A chain of copies over several contexts, each waiting for the one before. The first words
 * are there only when all jobs are submitted and the first one is held: a job that did not
 * wait has copied what was there before.
 */
static void run_chain(bool one_call)
{
	struct rig rig = rig_open(), holder = rig_on(rig.fd);
	struct link links[CHAIN];
	struct drm_pumice_job jobs[CHAIN];
	u32 contexts[CONTEXTS], last = holder.sync, i;

	rig_run_on(&holder);
	for (i = 0; i < CONTEXTS; i++)
		contexts[i] = need_context(rig.fd, rig.vm);
	for (i = 0; i < CHAIN; i++) {
		u32 next = need_sync(rig.fd);

		make_link(&links[i], contexts[i % CONTEXTS], step_stream(&rig, i), last, next);
		jobs[i] = links[i].job;
		last = next;
	}
	if (one_call) {
		CHECK_OK(gpu_submit(rig.fd, jobs, CHAIN, NULL));
	} else {
		for (i = 0; i < CHAIN; i++)
			CHECK_OK(gpu_submit(rig.fd, &jobs[i], 1, NULL));
	}
	rig_check_held(rig.fd, last, 0);
	start_words(&rig, 50);
	let_go(&holder);
	need_wait(rig.fd, last, 0);
	CHECK_EQUAL(sync_status(rig.fd, last, 0), 1);
	rig_check_words(rig.data.cpu + CHAIN * WORDS, 50 + CHAIN);
}

static void jobs_of_one_call_wait_for_each_other_across_contexts(void)
{
	run_chain(true);
}

static void jobs_of_many_calls_wait_for_each_other_across_contexts(void)
{
	run_chain(false);
}

static void one_job_waits_for_many_contexts(void)
{
	int fd = need_gpu();
	struct rig rigs[8], holders[8], last = rig_on(fd);
	struct drm_pumice_sync syncs[9];
	struct drm_pumice_job job = {
		.context = last.context, .stream = rig_empty_stream(&last),
		.syncs = ARRAY_OF(syncs, 9),
	};
	u32 i;

	for (i = 0; i < 8; i++) {
		rigs[i] = rig_on(fd);
		holders[i] = rig_on(fd);
		rig_run_on(&holders[i]);
		submit_link(&rigs[i], rigs[i].context,
			    rig_store_stream(&rigs[i], rigs[i].data.va, i * 100),
			    holders[i].sync, rigs[i].sync);
		syncs[i] = wait_for(rigs[i].sync, 0);
	}
	syncs[8] = then_signal(last.sync, 0);
	CHECK_OK(gpu_submit(fd, &job, 1, NULL));
	/* One after the other ends: the last job waits for each. */
	for (i = 0; i < 8; i++) {
		rig_check_held(fd, last.sync, 0);
		let_go(&holders[i]);
		CHECK_EQUAL(rig_wait(&rigs[i]), 1);
		rig_check_words(rigs[i].data.cpu, i * 100);
	}
	CHECK_EQUAL(rig_wait(&last), 1);
}

/* Without its wait the job of higher priority would go first. */
static void job_of_high_priority_waits_for_one_of_low(void)
{
	struct rig rig = rig_open();
	struct rig blocker = rig_on(rig.fd);
	u32 low, high, stored = need_sync(rig.fd);

	CHECK_OK(gpu_context_create(rig.fd, rig.vm, DRM_PUMICE_PRIORITY_LOW, &low));
	CHECK_OK(gpu_context_create(rig.fd, rig.vm, DRM_PUMICE_PRIORITY_HIGH, &high));
	rig_block(&blocker);
	submit_link(&rig, low, rig_store_stream(&rig, rig.data.va, 90), 0, stored);
	submit_link(&rig, high, step_stream(&rig, 0), stored, rig.sync);
	need_in_flight(3);
	CHECK_OK(gpu_context_destroy(rig.fd, blocker.context));
	CHECK_EQUAL(rig_wait(&rig), 1);
	rig_check_words(rig.data.cpu + WORDS, 91);
}

static void job_waits_until_a_busy_context_is_killed(void)
{
	int fd = need_gpu();
	struct rig holder = rig_on(fd), waiter = rig_on(fd);

	rig_run_on(&holder);
	submit_link(&waiter, waiter.context, rig_store_stream(&waiter, waiter.data.va, 8),
		    holder.sync, waiter.sync);
	rig_check_held(fd, waiter.sync, 0);
	let_go(&holder);
	CHECK_EQUAL(rig_wait(&waiter), 1);
	CHECK_EQUAL(rig_wait(&holder), -ECANCELED);
	rig_check_works(&waiter);
}

static void destroying_a_waiting_context_cancels_its_job(void)
{
	int fd = need_gpu();
	struct rig holder = rig_on(fd), waiter = rig_on(fd);

	rig_run_on(&holder);
	submit_link(&waiter, waiter.context, rig_empty_stream(&waiter), holder.sync, waiter.sync);
	rig_check_held(fd, waiter.sync, 0);
	CHECK_OK(gpu_context_destroy(fd, waiter.context));
	CHECK_EQUAL(rig_wait(&waiter), -ECANCELED);
	CHECK(sync_is_pending(fd, holder.sync, 0));
	let_go(&holder);
}

static void signaled_fence_holds_nothing_up(void)
{
	struct rig rig = rig_open();

	submit_link(&rig, rig.context, rig_empty_stream(&rig), need_signaled_sync(rig.fd),
		    rig.sync);
	CHECK_EQUAL(rig_wait(&rig), 1);
}

static u64 reached(int fd, u32 timeline)
{
	u64 point = 0;

	CHECK_OK(drmSyncobjQuery(fd, &timeline, &point, 1) ? -errno : 0);
	return point;
}

static void timeline_reaches_the_points_that_jobs_signal(void)
{
	struct rig rig = rig_open();
	u32 timeline = need_sync(rig.fd);

	CHECK_OK(rig_try_points(&rig, rig_empty_stream(&rig), timeline, 0, 1));
	CHECK_OK(rig_try_points(&rig, rig_empty_stream(&rig), timeline, 0, 2));
	CHECK_OK(rig_try_points(&rig, rig_empty_stream(&rig), timeline, 0, 10));
	need_wait(rig.fd, timeline, 2);
	need_wait(rig.fd, timeline, 10);
	CHECK_EQUAL(reached(rig.fd, timeline), 10);
	CHECK_EQUAL(sync_status(rig.fd, timeline, 10), 1);
}

static void point_between_is_reached_with_the_next(void)
{
	struct rig rig = rig_open();
	u32 timeline = need_sync(rig.fd);

	CHECK_OK(rig_try_points(&rig, rig_empty_stream(&rig), timeline, 0, 10));
	need_wait(rig.fd, timeline, 5);
	CHECK(reached(rig.fd, timeline) >= 5);
}

/* Point 1 is pending until @holder's context is destroyed. */
static void hold_point(struct rig *holder, u32 timeline)
{
	rig_run_on(holder);
	CHECK_OK(drmSyncobjTransfer(holder->fd, timeline, 1, holder->sync, 0, 0));
}

static void jobs_wait_for_points_across_contexts(void)
{
	int fd = need_gpu();
	struct rig rig = rig_on(fd), other = rig, holder = rig_on(fd);
	u32 timeline = need_sync(fd), i;

	other.context = need_context(fd, rig.vm);
	hold_point(&holder, timeline);
	for (i = 0; i < 16; i++) {
		u64 stream = step_stream(&rig, i);

		CHECK_OK(rig_try_points(i % 2 ? &other : &rig, stream, timeline, i + 1, i + 2));
	}
	rig_check_held(fd, timeline, 17);
	start_words(&rig, 7);
	let_go(&holder);
	need_wait(fd, timeline, 17);
	rig_check_words(rig.data.cpu + 16 * WORDS, 7 + 16);
}

static void jobs_of_one_call_wait_for_each_others_points(void)
{
	struct rig rig = rig_open(), holder = rig_on(rig.fd);
	u32 timeline = need_sync(rig.fd), other = need_context(rig.fd, rig.vm), i;
	struct drm_pumice_sync syncs[8][2];
	struct drm_pumice_job jobs[8];

	hold_point(&holder, timeline);
	for (i = 0; i < 8; i++) {
		syncs[i][0] = then_signal(timeline, i + 2);
		syncs[i][1] = wait_for(timeline, i + 1);
		jobs[i] = (struct drm_pumice_job){
			.context = i % 2 ? other : rig.context, .stream = step_stream(&rig, i),
			.syncs = ARRAY_OF(syncs[i], 2),
		};
	}
	CHECK_OK(gpu_submit(rig.fd, jobs, 8, NULL));
	rig_check_held(rig.fd, timeline, 9);
	start_words(&rig, 70);
	let_go(&holder);
	need_wait(rig.fd, timeline, 9);
	rig_check_words(rig.data.cpu + 8 * WORDS, 78);
}

/*
 * The holder of the tests below shares the GPU: a job that does not wait for it runs beside
 * it, and was submitted before those that are seen to end here.
 */
static void check_waits(struct rig *rig, u32 fence)
{
	const u32 done = need_sync(rig->fd);
	const struct drm_pumice_sync signal = then_signal(done, 0);
	const struct drm_pumice_job job = {
		.context = need_context(rig->fd, rig->vm), .stream = rig_empty_stream(rig),
		.syncs = ARRAY_OF(&signal, 1),
	};
	u32 i;

	for (i = 0; i < 3; i++) {
		CHECK_OK(gpu_submit(rig->fd, &job, 1, NULL));
		need_wait(rig->fd, done, 0);
		CHECK(sync_is_pending(rig->fd, fence, 0));
	}
	CHECK_OK(gpu_context_destroy(rig->fd, rig->context));
	need_wait(rig->fd, fence, 0);
}

/* A grid that is never through, and gives way to others between its work-groups. */
static u64 endless_grid(struct rig *rig)
{
	const struct shader shader = shader_store_one();
	const u64 va = rig_data(rig, RIG_RUNS_WORD);

	return rig_stream(rig, &(struct launch){
		.shader = &shader, .params = { (u32)va, (u32)(va >> 32), 1 },
		.groups = UINT32_MAX, .size = 1,
	});
}

static void job_waits_for_one_that_shares_the_gpu(void)
{
	struct rig rig = rig_open();
	const u32 late = need_sync(rig.fd);
	const struct drm_pumice_sync syncs[] = { wait_for(rig.sync, 0), then_signal(late, 0) };
	const struct drm_pumice_job job = {
		.context = need_context(rig.fd, rig.vm), .stream = rig_empty_stream(&rig),
		.syncs = ARRAY_OF(syncs, 2),
	};

	rig_run_on(&rig);
	CHECK_OK(gpu_submit(rig.fd, &job, 1, NULL));
	check_waits(&rig, late);
}

static void job_waits_for_one_of_its_call_that_shares_the_gpu(void)
{
	struct rig rig = rig_open();
	const u32 late = need_sync(rig.fd), held = need_sync(rig.fd);
	const struct drm_pumice_sync first = then_signal(held, 0);
	const struct drm_pumice_sync second[] = { wait_for(held, 0), then_signal(late, 0) };
	const struct drm_pumice_job jobs[] = {
		{ .context = rig.context, .stream = endless_grid(&rig),
		  .syncs = ARRAY_OF(&first, 1) },
		{ .context = need_context(rig.fd, rig.vm), .stream = rig_empty_stream(&rig),
		  .syncs = ARRAY_OF(second, 2) },
	};

	CHECK_OK(gpu_submit(rig.fd, jobs, 2, NULL));
	check_waits(&rig, late);
}

/* A point that the call itself signals is reached when those below it are, too. */
static void job_waits_for_points_from_before_its_call(void)
{
	struct rig rig = rig_open();
	const u32 late = need_sync(rig.fd), timeline = need_sync(rig.fd);
	const struct drm_pumice_sync first = then_signal(timeline, 5);
	const struct drm_pumice_sync second[] = { wait_for(timeline, 5), then_signal(late, 0) };
	const struct drm_pumice_job jobs[] = {
		{ .context = need_context(rig.fd, rig.vm), .stream = rig_empty_stream(&rig),
		  .syncs = ARRAY_OF(&first, 1) },
		{ .context = need_context(rig.fd, rig.vm), .stream = rig_empty_stream(&rig),
		  .syncs = ARRAY_OF(second, 2) },
	};

	CHECK_OK(rig_try_points(&rig, endless_grid(&rig), timeline, 0, 3));
	CHECK_OK(gpu_submit(rig.fd, jobs, 2, NULL));
	check_waits(&rig, late);
}

#define THREADS 4u
#define THREAD_JOBS 100u

static void *submit_many(void *arg)
{
	struct rig *rig = arg;
	u32 i;

	for (i = 0; i < THREAD_JOBS; i++)
		submit_link(rig, rig->context, RIG_CODE, 0, 0);
	return NULL;
}

static void threads_may_submit_to_one_context(void)
{
	struct rig rig = rig_open();
	pthread_t threads[THREADS];
	u32 i;

	CHECK_EQUAL(rig_empty_stream(&rig), RIG_CODE);
	for (i = 0; i < THREADS; i++)
		CHECK_OK(-pthread_create(&threads[i], NULL, submit_many, &rig));
	for (i = 0; i < THREADS; i++)
		CHECK_OK(-pthread_join(threads[i], NULL));
	CHECK_EQUAL(rig_run(&rig, RIG_CODE), 1);
	CHECK_EQUAL(need_state(rig.fd, rig.context).jobs_done, THREADS * THREAD_JOBS + 1);
}

/** struct waiter - a thread that waits for what nobody has submitted yet */
struct waiter {
	int fd;
	u32 sync;
	int result;
};

static void *wait_for_submit(void *arg)
{
	struct waiter *waiter = arg;
	s64 deadline = (s64)(now_ns() + WAIT_SECONDS * 1000000000ull);

	waiter->result = drmSyncobjWait(waiter->fd, &waiter->sync, 1, deadline,
					DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, NULL);
	return NULL;
}

static void cpu_may_wait_before_the_job_is_submitted(void)
{
	struct rig rig = rig_open();
	struct waiter waiter = { .fd = rig.fd, .sync = rig.sync, .result = 99 };
	pthread_t thread;

	CHECK_OK(-pthread_create(&thread, NULL, wait_for_submit, &waiter));
	rig_submit(&rig, rig_empty_stream(&rig));
	CHECK_OK(-pthread_join(thread, NULL));
	CHECK_OK(waiter.result);
}

static void fence_travels_as_a_sync_file(void)
{
	struct rig first = rig_open(), second = rig_open();
	u32 imported = need_sync(second.fd);
	int file;

	rig_run_on(&first);
	file = need_sync_file(first.fd, first.sync);
	CHECK_EQUAL(sync_file_status(file), 0);
	CHECK_OK(drmSyncobjImportSyncFile(second.fd, imported, file));
	submit_link(&second, second.context, rig_empty_stream(&second), imported, second.sync);
	rig_check_held(second.fd, second.sync, 0);
	let_go(&first);
	CHECK_EQUAL(rig_wait(&second), 1);
	CHECK_EQUAL(sync_file_status(file), -ECANCELED);
}

static void syncobj_is_shared_between_files(void)
{
	struct rig first = rig_open(), second = rig_open(), holder = rig_on(first.fd);
	u32 imported = 0;
	int file = -1;

	CHECK_OK(drmSyncobjHandleToFD(first.fd, first.sync, &file));
	CHECK_OK(drmSyncobjFDToHandle(second.fd, file, &imported));
	rig_run_on(&holder);
	submit_link(&first, first.context, rig_store_stream(&first, first.data.va, 4),
		    holder.sync, first.sync);
	submit_link(&second, second.context, rig_empty_stream(&second), imported, second.sync);
	rig_check_held(second.fd, second.sync, 0);
	let_go(&holder);
	CHECK_EQUAL(rig_wait(&second), 1);
	rig_check_words(first.data.cpu, 4);
}

static const struct test_case cases[] = {
	TEST_CASE(empty_stream_signals_its_fence),
	TEST_CASE(job_without_syncs_runs),
	TEST_CASE(jobs_of_a_context_run_in_order),
	TEST_CASE(more_jobs_than_the_ring_holds_all_run),
	TEST_CASE(as_many_jobs_as_promised_run_from_one_call),
	TEST_CASE(as_many_syncs_as_promised_are_signaled),
	TEST_CASE(jobs_of_one_call_wait_for_each_other_across_contexts),
	TEST_CASE(jobs_of_many_calls_wait_for_each_other_across_contexts),
	TEST_CASE(one_job_waits_for_many_contexts),
	TEST_CASE(job_of_high_priority_waits_for_one_of_low),
	TEST_CASE(job_waits_until_a_busy_context_is_killed),
	TEST_CASE(destroying_a_waiting_context_cancels_its_job),
	TEST_CASE(signaled_fence_holds_nothing_up),
	TEST_CASE(timeline_reaches_the_points_that_jobs_signal),
	TEST_CASE(point_between_is_reached_with_the_next),
	TEST_CASE(jobs_wait_for_points_across_contexts),
	TEST_CASE(jobs_of_one_call_wait_for_each_others_points),
	TEST_CASE(job_waits_for_one_that_shares_the_gpu),
	TEST_CASE(job_waits_for_one_of_its_call_that_shares_the_gpu),
	TEST_CASE(job_waits_for_points_from_before_its_call),
	TEST_CASE(threads_may_submit_to_one_context),
	TEST_CASE(cpu_may_wait_before_the_job_is_submitted),
	TEST_CASE(fence_travels_as_a_sync_file),
	TEST_CASE(syncobj_is_shared_between_files),
};

TEST_MAIN(cases)
