// SPDX-License-Identifier: MIT
/*
 * Dependencies and signals of jobs: order, binary and timeline syncobjs.
 *
 * Jobs wait for one that never ends but shares the GPU (fx_run_on()), so that a job which
 * does not wait is detected. Destroying its context releases them.
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
#include "fixture.h"
#include "system.h"

#define WORDS 32u	/* words that a copy or store job writes */

/* A job with one wait and one signal; handle 0 omits either. */
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

static void submit_link(struct fixture *fx, u32 context, u64 stream, u32 wait, u32 signal)
{
	struct link link;

	make_link(&link, context, stream, wait, signal);
	CHECK_OK(gpu_submit(fx->fd, &link.job, 1, NULL));
}

/* Stream that copies the words at @index to the next position, adding 1. */
static u64 step_stream(struct fixture *fx, u32 index)
{
	return fx_copy_stream(fx, fx_data(fx, (index + 1) * WORDS),
			      fx_data(fx, index * WORDS), 1);
}

static void start_words(struct fixture *fx, u32 value)
{
	u32 i;

	for (i = 0; i < WORDS; i++)
		fx->data.cpu[i] = value + i;
}

static void empty_stream_signals_its_fence(void)
{
	struct fixture fx = fx_open();

	CHECK_EQUAL(fx_run(&fx, fx_empty_stream(&fx)), 1);
}

static void job_without_syncs_runs(void)
{
	struct fixture fx = fx_open();

	submit_link(&fx, fx.context, fx_store_stream(&fx, fx.data.va, 3), 0, 0);
	CHECK_EQUAL(fx_run(&fx, fx_empty_stream(&fx)), 1);
	fx_check_words(fx.data.cpu, 3);
}

static void jobs_of_a_context_run_in_order(void)
{
	struct fixture fx = fx_open();
	u32 i;

	start_words(&fx, 1000);
	for (i = 0; i < 100; i++)
		submit_link(&fx, fx.context, step_stream(&fx, i), 0, i == 99 ? fx.sync : 0);
	CHECK_EQUAL(fx_wait(&fx), 1);
	fx_check_words(fx.data.cpu + 100 * WORDS, 1100);
}

static void more_jobs_than_the_ring_holds_all_run(void)
{
	struct fixture fx = fx_open();
	u64 stream = fx_empty_stream(&fx);
	u32 i;

	for (i = 0; i < 4000; i++)
		submit_link(&fx, fx.context, stream, 0, 0);
	CHECK_EQUAL(fx_run(&fx, stream), 1);
	CHECK_EQUAL(need_state(fx.fd, fx.context).jobs_done, 4001);
}

static void as_many_jobs_as_promised_run_from_one_call(void)
{
	struct fixture fx = fx_open();
	struct link *links = calloc(DRM_PUMICE_MAX_JOBS, sizeof(*links));
	struct drm_pumice_job jobs[DRM_PUMICE_MAX_JOBS];
	u32 i;

	CHECK(links);
	start_words(&fx, 1);
	for (i = 0; i < DRM_PUMICE_MAX_JOBS; i++) {
		make_link(&links[i], fx.context, step_stream(&fx, i), 0,
			  i == DRM_PUMICE_MAX_JOBS - 1 ? fx.sync : 0);
		jobs[i] = links[i].job;
	}
	CHECK_OK(gpu_submit(fx.fd, jobs, DRM_PUMICE_MAX_JOBS, NULL));
	CHECK_EQUAL(fx_wait(&fx), 1);
	fx_check_words(fx.data.cpu + DRM_PUMICE_MAX_JOBS * WORDS, 1 + DRM_PUMICE_MAX_JOBS);
}

static void as_many_syncs_as_promised_are_signaled(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_sync syncs[DRM_PUMICE_MAX_SYNCS];
	struct drm_pumice_job job = {
		.context = fx.context, .stream = fx_empty_stream(&fx),
		.syncs = ARRAY_OF(syncs, DRM_PUMICE_MAX_SYNCS),
	};
	u32 i;

	for (i = 0; i < DRM_PUMICE_MAX_SYNCS; i++)
		syncs[i] = then_signal(need_sync(fx.fd), 0);
	CHECK_OK(gpu_submit(fx.fd, &job, 1, NULL));
	for (i = 0; i < DRM_PUMICE_MAX_SYNCS; i++)
		need_wait(fx.fd, syncs[i].handle, 0);
}

#define CONTEXTS 4u
#define CHAIN 32u

static void let_go(struct fixture *holder)
{
	CHECK_OK(gpu_context_destroy(holder->fd, holder->context));
}

/*
 * A chain of copies over several contexts, each waiting for the previous one. The first words
 * are written only when all jobs are submitted and the first one is blocked: a job that did
 * not wait has copied the previous contents.
 */
static void run_chain(bool one_call)
{
	struct fixture fx = fx_open(), holder = fx_on(fx.fd);
	struct link links[CHAIN];
	struct drm_pumice_job jobs[CHAIN];
	u32 contexts[CONTEXTS], last = holder.sync, i;

	fx_run_on(&holder);
	for (i = 0; i < CONTEXTS; i++)
		contexts[i] = need_context(fx.fd, fx.vm);
	for (i = 0; i < CHAIN; i++) {
		u32 next = need_sync(fx.fd);

		make_link(&links[i], contexts[i % CONTEXTS], step_stream(&fx, i), last, next);
		jobs[i] = links[i].job;
		last = next;
	}
	if (one_call) {
		CHECK_OK(gpu_submit(fx.fd, jobs, CHAIN, NULL));
	} else {
		for (i = 0; i < CHAIN; i++)
			CHECK_OK(gpu_submit(fx.fd, &jobs[i], 1, NULL));
	}
	fx_check_held(fx.fd, last, 0);
	start_words(&fx, 50);
	let_go(&holder);
	need_wait(fx.fd, last, 0);
	CHECK_EQUAL(sync_status(fx.fd, last, 0), 1);
	fx_check_words(fx.data.cpu + CHAIN * WORDS, 50 + CHAIN);
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
	struct fixture fixtures[8], holders[8], last = fx_on(fd);
	struct drm_pumice_sync syncs[9];
	struct drm_pumice_job job = {
		.context = last.context, .stream = fx_empty_stream(&last),
		.syncs = ARRAY_OF(syncs, 9),
	};
	u32 i;

	for (i = 0; i < 8; i++) {
		fixtures[i] = fx_on(fd);
		holders[i] = fx_on(fd);
		fx_run_on(&holders[i]);
		submit_link(&fixtures[i], fixtures[i].context,
			    fx_store_stream(&fixtures[i], fixtures[i].data.va, i * 100),
			    holders[i].sync, fixtures[i].sync);
		syncs[i] = wait_for(fixtures[i].sync, 0);
	}
	syncs[8] = then_signal(last.sync, 0);
	CHECK_OK(gpu_submit(fd, &job, 1, NULL));
	/* They end one by one: the last job waits for each. */
	for (i = 0; i < 8; i++) {
		fx_check_held(fd, last.sync, 0);
		let_go(&holders[i]);
		CHECK_EQUAL(fx_wait(&fixtures[i]), 1);
		fx_check_words(fixtures[i].data.cpu, i * 100);
	}
	CHECK_EQUAL(fx_wait(&last), 1);
}

/* Without its wait the job of higher priority would run first. */
static void job_of_high_priority_waits_for_one_of_low(void)
{
	struct fixture fx = fx_open();
	struct fixture blocker = fx_on(fx.fd);
	u32 low, high, stored = need_sync(fx.fd);

	CHECK_OK(gpu_context_create(fx.fd, fx.vm, DRM_PUMICE_PRIORITY_LOW, &low));
	CHECK_OK(gpu_context_create(fx.fd, fx.vm, DRM_PUMICE_PRIORITY_HIGH, &high));
	fx_block(&blocker);
	submit_link(&fx, low, fx_store_stream(&fx, fx.data.va, 90), 0, stored);
	submit_link(&fx, high, step_stream(&fx, 0), stored, fx.sync);
	need_in_flight(3);
	CHECK_OK(gpu_context_destroy(fx.fd, blocker.context));
	CHECK_EQUAL(fx_wait(&fx), 1);
	fx_check_words(fx.data.cpu + WORDS, 91);
}

static void job_waits_until_a_busy_context_is_killed(void)
{
	int fd = need_gpu();
	struct fixture holder = fx_on(fd), waiter = fx_on(fd);

	fx_run_on(&holder);
	submit_link(&waiter, waiter.context, fx_store_stream(&waiter, waiter.data.va, 8),
		    holder.sync, waiter.sync);
	fx_check_held(fd, waiter.sync, 0);
	let_go(&holder);
	CHECK_EQUAL(fx_wait(&waiter), 1);
	CHECK_EQUAL(fx_wait(&holder), -ECANCELED);
	fx_check_works(&waiter);
}

static void destroying_a_waiting_context_cancels_its_job(void)
{
	int fd = need_gpu();
	struct fixture holder = fx_on(fd), waiter = fx_on(fd);

	fx_run_on(&holder);
	submit_link(&waiter, waiter.context, fx_empty_stream(&waiter), holder.sync, waiter.sync);
	fx_check_held(fd, waiter.sync, 0);
	CHECK_OK(gpu_context_destroy(fd, waiter.context));
	CHECK_EQUAL(fx_wait(&waiter), -ECANCELED);
	CHECK(sync_is_pending(fd, holder.sync, 0));
	let_go(&holder);
}

static void signaled_fence_delays_nothing(void)
{
	struct fixture fx = fx_open();

	submit_link(&fx, fx.context, fx_empty_stream(&fx), need_signaled_sync(fx.fd),
		    fx.sync);
	CHECK_EQUAL(fx_wait(&fx), 1);
}

static u64 reached(int fd, u32 timeline)
{
	u64 point = 0;

	CHECK_OK(drmSyncobjQuery(fd, &timeline, &point, 1) ? -errno : 0);
	return point;
}

static void timeline_reaches_the_points_that_jobs_signal(void)
{
	struct fixture fx = fx_open();
	u32 timeline = need_sync(fx.fd);

	CHECK_OK(fx_try_points(&fx, fx_empty_stream(&fx), timeline, 0, 1));
	CHECK_OK(fx_try_points(&fx, fx_empty_stream(&fx), timeline, 0, 2));
	CHECK_OK(fx_try_points(&fx, fx_empty_stream(&fx), timeline, 0, 10));
	need_wait(fx.fd, timeline, 2);
	need_wait(fx.fd, timeline, 10);
	CHECK_EQUAL(reached(fx.fd, timeline), 10);
	CHECK_EQUAL(sync_status(fx.fd, timeline, 10), 1);
}

static void point_between_is_reached_with_the_next(void)
{
	struct fixture fx = fx_open();
	u32 timeline = need_sync(fx.fd);

	CHECK_OK(fx_try_points(&fx, fx_empty_stream(&fx), timeline, 0, 10));
	need_wait(fx.fd, timeline, 5);
	CHECK(reached(fx.fd, timeline) >= 5);
}

/* Point 1 is pending until @holder's context is destroyed. */
static void hold_point(struct fixture *holder, u32 timeline)
{
	fx_run_on(holder);
	CHECK_OK(drmSyncobjTransfer(holder->fd, timeline, 1, holder->sync, 0, 0));
}

static void jobs_wait_for_points_across_contexts(void)
{
	int fd = need_gpu();
	struct fixture fx = fx_on(fd), other = fx, holder = fx_on(fd);
	u32 timeline = need_sync(fd), i;

	other.context = need_context(fd, fx.vm);
	hold_point(&holder, timeline);
	for (i = 0; i < 16; i++) {
		u64 stream = step_stream(&fx, i);

		CHECK_OK(fx_try_points(i % 2 ? &other : &fx, stream, timeline, i + 1, i + 2));
	}
	fx_check_held(fd, timeline, 17);
	start_words(&fx, 7);
	let_go(&holder);
	need_wait(fd, timeline, 17);
	fx_check_words(fx.data.cpu + 16 * WORDS, 7 + 16);
}

static void jobs_of_one_call_wait_for_each_others_points(void)
{
	struct fixture fx = fx_open(), holder = fx_on(fx.fd);
	u32 timeline = need_sync(fx.fd), other = need_context(fx.fd, fx.vm), i;
	struct drm_pumice_sync syncs[8][2];
	struct drm_pumice_job jobs[8];

	hold_point(&holder, timeline);
	for (i = 0; i < 8; i++) {
		syncs[i][0] = then_signal(timeline, i + 2);
		syncs[i][1] = wait_for(timeline, i + 1);
		jobs[i] = (struct drm_pumice_job){
			.context = i % 2 ? other : fx.context, .stream = step_stream(&fx, i),
			.syncs = ARRAY_OF(syncs[i], 2),
		};
	}
	CHECK_OK(gpu_submit(fx.fd, jobs, 8, NULL));
	fx_check_held(fx.fd, timeline, 9);
	start_words(&fx, 70);
	let_go(&holder);
	need_wait(fx.fd, timeline, 9);
	fx_check_words(fx.data.cpu + 8 * WORDS, 78);
}

/*
 * The holder of the tests below shares the GPU: a job that does not wait for it runs
 * concurrently, and was submitted before those whose completion is checked here.
 */
static void check_waits(struct fixture *fx, u32 fence)
{
	const u32 done = need_sync(fx->fd);
	const struct drm_pumice_sync signal = then_signal(done, 0);
	const struct drm_pumice_job job = {
		.context = need_context(fx->fd, fx->vm), .stream = fx_empty_stream(fx),
		.syncs = ARRAY_OF(&signal, 1),
	};
	u32 i;

	for (i = 0; i < 3; i++) {
		CHECK_OK(gpu_submit(fx->fd, &job, 1, NULL));
		need_wait(fx->fd, done, 0);
		CHECK(sync_is_pending(fx->fd, fence, 0));
	}
	CHECK_OK(gpu_context_destroy(fx->fd, fx->context));
	need_wait(fx->fd, fence, 0);
}

/* A grid that never completes, and can be switched out between its work-groups. */
static u64 endless_grid(struct fixture *fx)
{
	const struct shader shader = shader_store_one();
	const u64 va = fx_data(fx, FX_RUNS_WORD);

	return fx_stream(fx, &(struct launch){
		.shader = &shader, .params = { (u32)va, (u32)(va >> 32), 1 },
		.groups = UINT32_MAX, .size = 1,
	});
}

static void job_waits_for_one_that_shares_the_gpu(void)
{
	struct fixture fx = fx_open();
	const u32 late = need_sync(fx.fd);
	const struct drm_pumice_sync syncs[] = { wait_for(fx.sync, 0), then_signal(late, 0) };
	const struct drm_pumice_job job = {
		.context = need_context(fx.fd, fx.vm), .stream = fx_empty_stream(&fx),
		.syncs = ARRAY_OF(syncs, 2),
	};

	fx_run_on(&fx);
	CHECK_OK(gpu_submit(fx.fd, &job, 1, NULL));
	check_waits(&fx, late);
}

static void job_waits_for_one_of_its_call_that_shares_the_gpu(void)
{
	struct fixture fx = fx_open();
	const u32 late = need_sync(fx.fd), held = need_sync(fx.fd);
	const struct drm_pumice_sync first = then_signal(held, 0);
	const struct drm_pumice_sync second[] = { wait_for(held, 0), then_signal(late, 0) };
	const struct drm_pumice_job jobs[] = {
		{ .context = fx.context, .stream = endless_grid(&fx),
		  .syncs = ARRAY_OF(&first, 1) },
		{ .context = need_context(fx.fd, fx.vm), .stream = fx_empty_stream(&fx),
		  .syncs = ARRAY_OF(second, 2) },
	};

	CHECK_OK(gpu_submit(fx.fd, jobs, 2, NULL));
	check_waits(&fx, late);
}

/* A point that the call itself signals is reached when lower points are, too. */
static void job_waits_for_points_from_before_its_call(void)
{
	struct fixture fx = fx_open();
	const u32 late = need_sync(fx.fd), timeline = need_sync(fx.fd);
	const struct drm_pumice_sync first = then_signal(timeline, 5);
	const struct drm_pumice_sync second[] = { wait_for(timeline, 5), then_signal(late, 0) };
	const struct drm_pumice_job jobs[] = {
		{ .context = need_context(fx.fd, fx.vm), .stream = fx_empty_stream(&fx),
		  .syncs = ARRAY_OF(&first, 1) },
		{ .context = need_context(fx.fd, fx.vm), .stream = fx_empty_stream(&fx),
		  .syncs = ARRAY_OF(second, 2) },
	};

	CHECK_OK(fx_try_points(&fx, endless_grid(&fx), timeline, 0, 3));
	CHECK_OK(gpu_submit(fx.fd, jobs, 2, NULL));
	check_waits(&fx, late);
}

#define THREADS 4u
#define THREAD_JOBS 100u

static void *submit_many(void *arg)
{
	struct fixture *fx = arg;
	u32 i;

	for (i = 0; i < THREAD_JOBS; i++)
		submit_link(fx, fx->context, FX_CODE, 0, 0);
	return NULL;
}

static void threads_may_submit_to_one_context(void)
{
	struct fixture fx = fx_open();
	pthread_t threads[THREADS];
	u32 i;

	CHECK_EQUAL(fx_empty_stream(&fx), FX_CODE);
	for (i = 0; i < THREADS; i++)
		CHECK_OK(-pthread_create(&threads[i], NULL, submit_many, &fx));
	for (i = 0; i < THREADS; i++)
		CHECK_OK(-pthread_join(threads[i], NULL));
	CHECK_EQUAL(fx_run(&fx, FX_CODE), 1);
	CHECK_EQUAL(need_state(fx.fd, fx.context).jobs_done, THREADS * THREAD_JOBS + 1);
}

/** struct waiter - a thread that waits for a point not submitted yet */
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
	struct fixture fx = fx_open();
	struct waiter waiter = { .fd = fx.fd, .sync = fx.sync, .result = 99 };
	pthread_t thread;

	CHECK_OK(-pthread_create(&thread, NULL, wait_for_submit, &waiter));
	fx_submit(&fx, fx_empty_stream(&fx));
	CHECK_OK(-pthread_join(thread, NULL));
	CHECK_OK(waiter.result);
}

static void fence_travels_as_a_sync_file(void)
{
	struct fixture first = fx_open(), second = fx_open();
	u32 imported = need_sync(second.fd);
	int file;

	fx_run_on(&first);
	file = need_sync_file(first.fd, first.sync);
	CHECK_EQUAL(sync_file_status(file), 0);
	CHECK_OK(drmSyncobjImportSyncFile(second.fd, imported, file));
	submit_link(&second, second.context, fx_empty_stream(&second), imported, second.sync);
	fx_check_held(second.fd, second.sync, 0);
	let_go(&first);
	CHECK_EQUAL(fx_wait(&second), 1);
	CHECK_EQUAL(sync_file_status(file), -ECANCELED);
}

static void syncobj_is_shared_between_files(void)
{
	struct fixture first = fx_open(), second = fx_open(), holder = fx_on(first.fd);
	u32 imported = 0;
	int file = -1;

	CHECK_OK(drmSyncobjHandleToFD(first.fd, first.sync, &file));
	CHECK_OK(drmSyncobjFDToHandle(second.fd, file, &imported));
	fx_run_on(&holder);
	submit_link(&first, first.context, fx_store_stream(&first, first.data.va, 4),
		    holder.sync, first.sync);
	submit_link(&second, second.context, fx_empty_stream(&second), imported, second.sync);
	fx_check_held(second.fd, second.sync, 0);
	let_go(&holder);
	CHECK_EQUAL(fx_wait(&second), 1);
	fx_check_words(first.data.cpu, 4);
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
	TEST_CASE(signaled_fence_delays_nothing),
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
