// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Points of timeline syncobjs that jobs wait for and signal. Binary syncobjs are
 * in pumice_fence.c, which also describes how a fence is kept pending.
 */
#include <errno.h>
#include <unistd.h>

#include "igt_pumice.h"
#include "fixture.h"
#include "sync.h"
#include "system.h"

IGT_TEST_DESCRIPTION("Points of timelines that jobs, other files and the CPU wait for and signal.");

#define WORDS 32u	/* words that a store or copy writes */
#define FAR (1ull << 40)

static void release(struct fixture *blocker)
{
	CHECK_OK(gpu_context_destroy(blocker->fd, blocker->context));
}

static void points(struct fixture *fx, u64 stream, u32 timeline, u64 wait, u64 signal)
{
	CHECK_OK(fx_try_points(fx, stream, timeline, wait, signal));
}

/* Submit a job that waits for a binary syncobj and signals a point. */
static void point_after(struct fixture *fx, u64 stream, u32 wait, u32 timeline, u64 signal)
{
	struct drm_pumice_sync syncs[] = { wait_for(wait, 0), then_signal(timeline, signal) };
	struct drm_pumice_job job = {
		.context = fx->context, .stream = stream, .syncs = ARRAY_OF(syncs, 2),
	};

	CHECK_OK(gpu_submit(fx->fd, &job, 1, NULL));
}

/* Keep a point of a timeline pending until @holder's context is destroyed. */
static void hold_point(struct fixture *holder, u32 timeline, u64 point)
{
	fx_run_on(holder);
	igt_assert_eq(drmSyncobjTransfer(holder->fd, timeline, point, holder->sync, 0, 0), 0);
}

static u64 reached(int fd, u32 timeline)
{
	u64 point = 0;

	igt_assert_eq(drmSyncobjQuery(fd, &timeline, &point, 1), 0);
	return point;
}

static u64 submitted(int fd, u32 timeline)
{
	u64 point = 0;

	igt_assert_eq(drmSyncobjQuery2(fd, &timeline, &point, 1,
				       DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED), 0);
	return point;
}

static int wait_flags(int fd, u32 timeline, u64 point, u64 timeout_ns, u32 flags)
{
	return drmSyncobjTimelineWait(fd, &timeline, &point, 1, (s64)(now_ns() + timeout_ns),
				      flags, NULL);
}

static u64 step(struct fixture *fx, u32 index)
{
	return fx_copy_stream(fx, fx_data(fx, (index + 1) * WORDS),
			      fx_data(fx, index * WORDS), 1);
}

/* ------------------------------------------------------------------- reaching */

static void point_reached(void)
{
	struct fixture fx = fx_open();
	u32 timeline = need_sync(fx.fd), i;

	for (i = 1; i <= 10; i++)
		points(&fx, fx_store_stream(&fx, fx.data.va, i), timeline, 0, i);
	need_wait(fx.fd, timeline, 10);
	igt_assert_eq_u64(reached(fx.fd, timeline), 10);
	fx_check_words(fx.data.cpu, 10);
}

/* A job that waits for a point does not wait for later ones. */
static void point_pending(void)
{
	struct fixture fx = fx_open(), holder = fx_on(fx.fd), waiter = fx_on(fx.fd);
	u32 timeline = need_sync(fx.fd);

	points(&fx, fx_empty_stream(&fx), timeline, 0, 1);
	need_wait(fx.fd, timeline, 1);
	fx_run_on(&holder);
	point_after(&fx, fx_empty_stream(&fx), holder.sync, timeline, 2);
	fx_check_held(fx.fd, timeline, 2);
	igt_assert_eq_u64(reached(fx.fd, timeline), 1);
	igt_assert_eq_u64(submitted(fx.fd, timeline), 2);
	igt_assert(!sync_is_pending(fx.fd, timeline, 1));
	points(&waiter, fx_store_stream(&waiter, waiter.data.va, 9), timeline, 1, 0);
	igt_assert_eq(fx_run(&waiter, fx_empty_stream(&waiter)), 1);
	fx_check_words(waiter.data.cpu, 9);
	igt_assert(sync_is_pending(fx.fd, timeline, 2));
	release(&holder);
	need_wait(fx.fd, timeline, 2);
	igt_assert_eq_u64(reached(fx.fd, timeline), 2);
}

static void point_between(void)
{
	struct fixture fx = fx_open(), holder = fx_on(fx.fd);
	u32 timeline = need_sync(fx.fd);

	fx_run_on(&holder);
	point_after(&fx, fx_empty_stream(&fx), holder.sync, timeline, 10);
	fx_check_held(fx.fd, timeline, 5);
	igt_assert(sync_is_pending(fx.fd, timeline, 10));
	release(&holder);
	need_wait(fx.fd, timeline, 5);
	igt_assert_eq_u64(reached(fx.fd, timeline), 10);
}

static void huge_points(void)
{
	struct fixture fx = fx_open(), holder = fx_on(fx.fd);
	u32 timeline = need_sync(fx.fd);

	hold_point(&holder, timeline, FAR);
	points(&fx, fx_store_stream(&fx, fx.data.va, 3), timeline, FAR, FAR + 1);
	points(&fx, fx_empty_stream(&fx), timeline, FAR + 1, UINT64_MAX);
	fx_check_held(fx.fd, timeline, FAR);
	igt_assert_eq_u64(need_state(fx.fd, fx.context).jobs_done, 0);
	release(&holder);
	need_wait(fx.fd, timeline, UINT64_MAX);
	igt_assert_eq_u64(reached(fx.fd, timeline), UINT64_MAX);
	fx_check_words(fx.data.cpu, 3);
}

/* The later point's job has ended; the point is not reached before the earlier one is. */
static void later_job_first(void)
{
	struct fixture early = fx_open(), late = fx_on(early.fd), holder = fx_on(early.fd);
	u32 timeline = need_sync(early.fd);

	fx_run_on(&holder);
	point_after(&early, fx_empty_stream(&early), holder.sync, timeline, 1);
	points(&late, fx_store_stream(&late, late.data.va, 5), timeline, 0, 2);
	igt_assert_eq(fx_run(&late, fx_empty_stream(&late)), 1);
	fx_check_words(late.data.cpu, 5);
	fx_check_held(early.fd, timeline, 1);
	igt_assert(sync_is_pending(early.fd, timeline, 2));
	igt_assert_eq_u64(reached(early.fd, timeline), 0);
	release(&holder);
	need_wait(early.fd, timeline, 2);
	igt_assert_eq_u64(reached(early.fd, timeline), 2);
	igt_assert_eq_u64(need_state(early.fd, early.context).jobs_done, 1);
}

/* A point below the last does not make a wait pending again. */
static void point_out_of_order(void)
{
	struct fixture fx = fx_open();
	u32 timeline = need_sync(fx.fd);

	points(&fx, fx_empty_stream(&fx), timeline, 0, 10);
	need_wait(fx.fd, timeline, 10);
	points(&fx, fx_store_stream(&fx, fx.data.va, 6), timeline, 0, 5);
	need_wait(fx.fd, timeline, 5);
	need_wait(fx.fd, timeline, 10);
	igt_assert_eq(fx_run(&fx, fx_empty_stream(&fx)), 1);
	fx_check_words(fx.data.cpu, 6);
}

/* Alternately in two contexts: jobs of one context are ordered anyway. */
static void many_points(void)
{
	struct fixture fixtures[2] = { fx_open() };
	/* Its job must last as long as a thousand calls may take: the time limit of a subtest. */
	struct fixture holder = fx_with(fixtures[0].fd, DRM_PUMICE_PRIORITY_NORMAL,
					30 * IGT_PUMICE_PATIENT);
	u64 stream = fx_empty_stream(&fixtures[0]);
	u32 timeline = need_sync(fixtures[0].fd), i;

	fixtures[1] = fixtures[0];
	fixtures[1].context = need_context(fixtures[0].fd, fixtures[0].vm);
	hold_point(&holder, timeline, 1);
	for (i = 2; i <= 1001; i++)
		points(&fixtures[i % 2], stream, timeline, i - 1, i);
	fx_check_held(fixtures[0].fd, timeline, 2);
	for (i = 0; i < 2; i++)
		igt_assert_eq_u64(need_state(fixtures[i].fd, fixtures[i].context).jobs_done, 0);
	release(&holder);
	/* The limit of a wait is for some jobs, not for a thousand. */
	for (i = 101; i <= 1001; i += 100)
		need_wait(fixtures[0].fd, timeline, i);
	igt_assert_eq_u64(reached(fixtures[0].fd, timeline), 1001);
	for (i = 0; i < 2; i++)
		igt_assert_eq_u64(need_state(fixtures[i].fd, fixtures[i].context).jobs_done, 500);
}

/* ------------------------------------------------------------------- waiters */

static void ping_pong(void)
{
	struct fixture ping = fx_open(), pong = ping, holder = fx_on(ping.fd);
	u32 timeline = need_sync(ping.fd), i;

	pong.context = need_context(ping.fd, ping.vm);
	hold_point(&holder, timeline, 1);
	for (i = 0; i < 200; i++)
		points(i % 2 ? &pong : &ping, step(&ping, i), timeline, i + 1, i + 2);
	fx_check_held(ping.fd, timeline, 201);
	/* A job that did not wait has not copied the data. */
	for (i = 0; i < WORDS; i++)
		ping.data.cpu[i] = i;
	release(&holder);
	need_wait(ping.fd, timeline, 201);
	fx_check_words(ping.data.cpu + 200 * WORDS, 200);
}

static void many_wait_for_one(void)
{
	int fd = need_gpu();
	struct fixture holder = fx_on(fd), fixtures[8];
	u32 timeline = need_sync(fd), i;

	hold_point(&holder, timeline, 7);
	for (i = 0; i < 8; i++) {
		struct drm_pumice_sync syncs[2];
		struct drm_pumice_job job = { .syncs = ARRAY_OF(syncs, 2) };

		fixtures[i] = fx_on(fd);
		syncs[0] = wait_for(timeline, i % 7 + 1);
		syncs[1] = then_signal(fixtures[i].sync, 0);
		job.context = fixtures[i].context;
		job.stream = fx_store_stream(&fixtures[i], fixtures[i].data.va, 100 * i);
		CHECK_OK(gpu_submit(fd, &job, 1, NULL));
	}
	for (i = 0; i < 8; i++)
		fx_check_held(fd, fixtures[i].sync, 0);
	release(&holder);
	for (i = 0; i < 8; i++) {
		igt_assert_eq(fx_wait(&fixtures[i]), 1);
		fx_check_words(fixtures[i].data.cpu, 100 * i);
	}
}

/*
 * A point is reached when all lower ones are. A job that waits for one of the same call waits
 * for those of earlier calls, too, although the job that signals it has ended.
 */
static void points_of_earlier_calls(void)
{
	struct fixture early = fx_open(), fx = fx_on(early.fd), waiter = fx_on(early.fd);
	u32 timeline = need_sync(early.fd);
	struct drm_pumice_sync syncs[] = {
		then_signal(timeline, 2), wait_for(timeline, 2), then_signal(waiter.sync, 0),
	};
	struct drm_pumice_job jobs[] = {
		{ .context = fx.context, .stream = fx_store_stream(&fx, fx.data.va, 3),
		  .syncs = ARRAY_OF(syncs, 1) },
		{ .context = waiter.context,
		  .stream = fx_store_stream(&waiter, waiter.data.va, 5),
		  .syncs = ARRAY_OF(syncs + 1, 2) },
	};

	hold_point(&early, timeline, 1);
	CHECK_OK(gpu_submit(early.fd, jobs, 2, NULL));
	igt_assert_eq(fx_run(&fx, fx_empty_stream(&fx)), 1);
	fx_check_words(fx.data.cpu, 3);
	fx_check_held(early.fd, waiter.sync, 0);
	release(&early);
	igt_assert_eq(fx_wait(&waiter), 1);
	fx_check_words(waiter.data.cpu, 5);
}

static void unsubmitted_point(void)
{
	struct fixture fx = fx_open();
	u32 timeline = need_sync(fx.fd);
	u64 stream = fx_empty_stream(&fx);

	igt_assert_eq(fx_try_points(&fx, stream, timeline, 1, 0), -EINVAL);
	points(&fx, stream, timeline, 0, 1);
	igt_assert_eq(fx_try_points(&fx, stream, timeline, 2, 0), -EINVAL);
	igt_assert_eq(fx_try_points(&fx, stream, timeline, 1, 2), 0);
	need_wait(fx.fd, timeline, 2);
}

static void point_zero(void)
{
	struct fixture fx = fx_open();
	u32 timeline = need_sync(fx.fd);
	struct drm_pumice_sync sync = {
		.flags = DRM_PUMICE_SYNC_SIGNAL | DRM_PUMICE_SYNC_TIMELINE, .handle = timeline,
	};
	struct drm_pumice_job job = {
		.context = fx.context, .stream = fx_empty_stream(&fx),
		.syncs = ARRAY_OF(&sync, 1),
	};

	igt_assert_eq(gpu_submit(fx.fd, &job, 1, NULL), -EINVAL);
	igt_assert_eq_u64(submitted(fx.fd, timeline), 0);
}

static void cpu_signals(void)
{
	struct fixture fx = fx_open();
	u32 timeline = need_sync(fx.fd);
	u64 point = 3;

	igt_assert_eq(drmSyncobjTimelineSignal(fx.fd, &timeline, &point, 1), 0);
	points(&fx, fx_store_stream(&fx, fx.data.va, 8), timeline, 3, 4);
	need_wait(fx.fd, timeline, 4);
	igt_assert_eq_u64(reached(fx.fd, timeline), 4);
	fx_check_words(fx.data.cpu, 8);
}

/* The waiter waits before the point exists, in another process. */
static void wait_before_submit(void)
{
	struct fixture fx = fx_open();
	u32 timeline = need_sync(fx.fd);
	int ready[2];
	struct igt_helper_process waiter = {};
	char byte = 1;

	igt_assert_eq(pipe(ready), 0);
	igt_pumice_fork_helper(&waiter) {
		igt_assert_eq(write(ready[1], &byte, 1), 1);
		igt_assert_eq(wait_flags(fx.fd, timeline, 2, WAIT_SECONDS * 1000000000ull,
					 DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT), 0);
	}
	igt_assert_eq(read(ready[0], &byte, 1), 1);
	igt_assert_eq(wait_flags(fx.fd, timeline, 2, 0, 0), -EINVAL);
	points(&fx, fx_empty_stream(&fx), timeline, 0, 1);
	igt_assert_eq(wait_flags(fx.fd, timeline, 2, 0, 0), -EINVAL);
	points(&fx, fx_empty_stream(&fx), timeline, 1, 2);
	igt_pumice_join(&waiter);
}

/* A point is available when its signal is submitted, before it is reached. */
static void wait_available(void)
{
	struct fixture fx = fx_open(), holder = fx_on(fx.fd);
	u32 timeline = need_sync(fx.fd);
	const u32 flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE |
			  DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;

	igt_assert_eq(wait_flags(fx.fd, timeline, 1, 0, flags), -ETIME);
	fx_run_on(&holder);
	point_after(&fx, fx_empty_stream(&fx), holder.sync, timeline, 1);
	igt_assert_eq(wait_flags(fx.fd, timeline, 1, 0, flags), 0);
	fx_check_held(fx.fd, timeline, 1);
	igt_assert_eq(wait_flags(fx.fd, timeline, 1, 0, 0), -ETIME);
	release(&holder);
	need_wait(fx.fd, timeline, 1);
}

static void other_file_waits(void)
{
	struct fixture here = fx_open(), there = fx_open();
	u32 timeline = need_sync(here.fd), imported;
	int shared = -1;

	igt_assert_eq(drmSyncobjHandleToFD(here.fd, timeline, &shared), 0);
	igt_assert_eq(drmSyncobjFDToHandle(there.fd, shared, &imported), 0);
	hold_point(&here, timeline, 1);
	points(&there, fx_store_stream(&there, there.data.va, 7), imported, 1, 2);
	/* The point waits for the previous one, whether its own job has run or not. */
	fx_check_held(here.fd, timeline, 2);
	igt_assert_eq_u64(need_state(there.fd, there.context).jobs_done, 0);
	release(&here);
	need_wait(here.fd, timeline, 2);
	fx_check_words(there.data.cpu, 7);
}

/* ----------------------------------------------------- how jobs end, where fences go */

static void fault_at_a_point(void)
{
	struct fixture fx = fx_open(), waiter = fx_on(fx.fd), holder = fx_on(fx.fd);
	u32 timeline = need_sync(fx.fd);

	fx_run_on(&holder);
	point_after(&fx, fx_store_stream(&fx, FX_FREE, 0), holder.sync, timeline, 1);
	points(&waiter, fx_store_stream(&waiter, waiter.data.va, 4), timeline, 1, 2);
	fx_check_held(fx.fd, timeline, 2);
	igt_assert_eq_u64(need_state(fx.fd, waiter.context).jobs_done, 0);
	release(&holder);
	need_wait(fx.fd, timeline, 2);
	igt_assert_eq_u64(reached(fx.fd, timeline), 2);
	fx_check_words(waiter.data.cpu, 4);
	igt_assert_eq_u64(need_state(fx.fd, fx.context).jobs_faulted, 1);
	igt_assert_eq_u64(need_state(fx.fd, waiter.context).jobs_faulted, 0);
}

static void transfer_both_ways(void)
{
	struct fixture fx = fx_open(), holder = fx_on(fx.fd);
	u32 timeline = need_sync(fx.fd), binary = need_sync(fx.fd);

	fx_run_on(&holder);
	igt_assert_eq(drmSyncobjTransfer(fx.fd, timeline, 9, holder.sync, 0, 0), 0);
	igt_assert_eq(drmSyncobjTransfer(fx.fd, binary, 0, timeline, 9, 0), 0);
	point_after(&fx, fx_store_stream(&fx, fx.data.va, 2), binary, timeline, 10);
	igt_assert_eq_u64(submitted(fx.fd, timeline), 10);
	fx_check_held(fx.fd, timeline, 9);
	igt_assert(sync_is_pending(fx.fd, binary, 0));
	igt_assert_eq_u64(need_state(fx.fd, fx.context).jobs_done, 0);
	release(&holder);
	need_wait(fx.fd, timeline, 10);
	igt_assert_eq_u64(reached(fx.fd, timeline), 10);
	fx_check_words(fx.data.cpu, 2);
}

static void canceled_point(void)
{
	struct fixture fx = fx_open(), waiter = fx_on(fx.fd);
	u32 timeline = need_sync(fx.fd);

	fx_run_on(&fx);
	points(&fx, fx_empty_stream(&fx), timeline, 0, 1);
	points(&waiter, fx_store_stream(&waiter, waiter.data.va, 6), timeline, 1, 2);
	fx_check_held(fx.fd, timeline, 2);
	igt_assert_eq_u64(need_state(fx.fd, waiter.context).jobs_done, 0);
	release(&fx);
	need_wait(fx.fd, timeline, 2);
	igt_assert_eq_u64(reached(fx.fd, timeline), 2);
	fx_check_words(waiter.data.cpu, 6);
}

static void one_job_two_points(void)
{
	struct fixture fx = fx_open();
	u32 timeline = need_sync(fx.fd), other = need_sync(fx.fd);
	struct drm_pumice_sync syncs[] = {
		then_signal(timeline, 1), then_signal(other, 6), then_signal(timeline, 4),
	};
	struct drm_pumice_job job = {
		.context = fx.context, .stream = fx_store_stream(&fx, fx.data.va, 1),
		.syncs = ARRAY_OF(syncs, 3),
	};

	CHECK_OK(gpu_submit(fx.fd, &job, 1, NULL));
	need_wait(fx.fd, timeline, 4);
	need_wait(fx.fd, other, 6);
	igt_assert_eq_u64(reached(fx.fd, timeline), 4);
	igt_assert_eq_u64(reached(fx.fd, other), 6);
	fx_check_words(fx.data.cpu, 1);
}

int igt_main()
{
	igt_fixture()
		igt_pumice_require(IGT_PUMICE_PATIENT);

	igt_pumice_subtest("point-reached", "a point is reached when its job has ended",
			   point_reached);
	igt_pumice_subtest("point-pending", "a point is pending until its job has ended",
			   point_pending);
	igt_pumice_subtest("point-between",
			   "a point without a signal of its own is reached with the next",
			   point_between);
	igt_pumice_subtest("huge-points", "points are numbers of 64 bits", huge_points);
	igt_pumice_subtest("later-job-first", "no point is reached before those below it",
			   later_job_first);
	igt_pumice_subtest("point-out-of-order",
			   "a lower point after a higher one does not delay a wait",
			   point_out_of_order);
	igt_pumice_subtest("many-points", "a thousand jobs along one timeline", many_points);
	igt_pumice_subtest("ping-pong", "two contexts alternate by a timeline", ping_pong);
	igt_pumice_subtest("many-wait-for-one", "eight contexts wait for points of one job",
			   many_wait_for_one);
	igt_pumice_subtest("points-of-earlier-calls",
			   "a wait for a point of the same call includes earlier ones",
			   points_of_earlier_calls);
	igt_pumice_subtest("unsubmitted-point",
			   "a job cannot wait for a point without a submitted signal",
			   unsubmitted_point);
	igt_pumice_subtest("point-zero", "point 0 is refused", point_zero);
	igt_pumice_subtest("cpu-signals", "a job waits for a point that the CPU signals",
			   cpu_signals);
	igt_pumice_subtest("wait-before-submit",
			   "a process may wait for a point that is not submitted yet",
			   wait_before_submit);
	igt_pumice_subtest("wait-available", "a wait for the submission of a point ends with it",
			   wait_available);
	igt_pumice_subtest("other-file-waits", "a timeline joins jobs of two files",
			   other_file_waits);
	igt_pumice_subtest("fault-at-a-point", "a job that faults reaches its point",
			   fault_at_a_point);
	igt_pumice_subtest("transfer-both-ways",
			   "a fence can be transferred from binary to timeline and back",
			   transfer_both_ways);
	igt_pumice_subtest("canceled-point", "a point whose context is destroyed is reached",
			   canceled_point);
	igt_pumice_subtest("one-job-two-points", "a job may signal several points",
			   one_job_two_points);
}
