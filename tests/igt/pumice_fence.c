// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Fences of jobs: binary syncobjs and sync files, over contexts, VMs, files and
 * processes. Timelines are in pumice_timeline.c.
 *
 * A job that never ends keeps a fence pending for as long as a test requires; destroying
 * its context releases it. Where a job must wait for that fence, the one that never ends
 * shares the GPU (fx_run_on()) and others are scheduled, so that a job which does not
 * wait is detected. Where only fences are checked, it is a single work-group (fx_block())
 * and no other job runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

#include <linux/sync_file.h>

#include "igt_pumice.h"
#include "fixture.h"
#include "sync.h"
#include "system.h"

IGT_TEST_DESCRIPTION("Fences of jobs: when they signal, their errors, waits of other processes.");

#define WORDS 32u	/* words that a store or copy writes */
#define POLL_MS (WAIT_SECONDS * 1000)

static void release(struct fixture *blocker)
{
	CHECK_OK(gpu_context_destroy(blocker->fd, blocker->context));
}

/* Submit a job with one wait and one signal; 0 omits either. */
static void submit(struct fixture *fx, u64 stream, u32 wait, u32 signal)
{
	struct drm_pumice_sync syncs[2];
	struct drm_pumice_job job = { .context = fx->context, .stream = stream };
	u32 count = 0;

	if (wait)
		syncs[count++] = wait_for(wait, 0);
	if (signal)
		syncs[count++] = then_signal(signal, 0);
	job.syncs = (struct drm_pumice_array)ARRAY_OF(syncs, count);
	CHECK_OK(gpu_submit(fx->fd, &job, 1, NULL));
}

/* Stream that copies the words at @index to the next position, adding 1. */
static u64 step(struct fixture *fx, u32 index)
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

static bool file_is_ready(int file, int milliseconds)
{
	struct pollfd poll_fd = { .fd = file, .events = POLLIN };

	return poll(&poll_fd, 1, milliseconds) == 1 && poll_fd.revents & POLLIN;
}

static int merge(int first, int second)
{
	struct sync_merge_data data = { .name = "merged", .fd2 = second };

	igt_assert_eq(ioctl(first, SYNC_IOC_MERGE, &data), 0);
	return data.fence;
}

static u32 import_sync_file(int fd, int file)
{
	u32 sync = need_sync(fd);

	igt_assert_eq(drmSyncobjImportSyncFile(fd, sync, file), 0);
	return sync;
}

/* --------------------------------------------------------------- when it signals */

static void not_before_its_job(void)
{
	struct fixture fx = fx_open();

	fx_block(&fx);
	igt_assert_eq(sync_wait(fx.fd, fx.sync, 0, 0), -ETIME);
	igt_assert_eq(sync_status(fx.fd, fx.sync, 0), 0);
	release(&fx);
	igt_assert_eq(fx_wait(&fx), -ECANCELED);
}

static void not_before_the_data(void)
{
	struct fixture fx = fx_open();
	u32 round;

	for (round = 0; round < 50; round++) {
		fx.data.cpu[WORDS - 1] = 0;
		fx_submit(&fx, fx_store_stream(&fx, fx.data.va, 1000 * round + 1));
		need_wait(fx.fd, fx.sync, 0);
		fx_check_words(fx.data.cpu, 1000 * round + 1);
	}
}

static void in_order_of_submission(void)
{
	struct fixture fx = fx_open();
	u32 syncs[32], i;

	for (i = 0; i < 32; i++) {
		fx.sync = syncs[i] = need_sync(fx.fd);
		fx_submit(&fx, fx_store_stream(&fx, fx_data(&fx, i * WORDS), i));
	}
	/* The last is waited for; all before it must have signaled, with their data. */
	need_wait(fx.fd, syncs[31], 0);
	for (i = 0; i < 32; i++) {
		igt_assert_eq(sync_wait(fx.fd, syncs[i], 0, 0), 0);
		fx_check_words(fx.data.cpu + i * WORDS, i);
	}
}

static void zero_timeout(void)
{
	struct fixture fx = fx_open();
	s64 long_ago = 1;

	fx_block(&fx);
	igt_assert_eq(drmSyncobjWait(fx.fd, &fx.sync, 1, 0, 0, NULL), -ETIME);
	igt_assert_eq(drmSyncobjWait(fx.fd, &fx.sync, 1, long_ago, 0, NULL), -ETIME);
	release(&fx);
	need_wait(fx.fd, fx.sync, 0);
	igt_assert_eq(drmSyncobjWait(fx.fd, &fx.sync, 1, 0, 0, NULL), 0);
}

static void note_signal(int number)
{
	(void)number;
}

/* The wait continues after each signal, until the fence signals. */
static void wait_interrupted(void)
{
	const struct itimerval often = {
		.it_interval = { .tv_usec = 1000 }, .it_value = { .tv_usec = 1000 },
	};
	const struct itimerval never = { 0 };
	const struct sigaction action = { .sa_handler = note_signal };
	struct fixture fx = fx_open();
	u32 i;

	for (i = 0; i < 200; i++)
		fx_submit(&fx, fx_store_stream(&fx, fx_data(&fx, i % 8 * WORDS), i));
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	need_wait(fx.fd, fx.sync, 0);
	setitimer(ITIMER_REAL, &never, NULL);
	igt_assert_eq(sync_status(fx.fd, fx.sync, 0), 1);
	igt_assert_eq_u64(need_state(fx.fd, fx.context).jobs_done, 200);
}

static void wait_any(void)
{
	int fd = need_gpu();
	struct fixture blocked = fx_on(fd), quick = fx_on(fd);
	u32 syncs[2] = { blocked.sync, quick.sync }, first = 99;
	s64 deadline = (s64)now_ns() + WAIT_SECONDS * 1000000000ll;

	igt_assert_eq(fx_run(&quick, fx_empty_stream(&quick)), 1);
	fx_block(&blocked);
	igt_assert_eq(drmSyncobjWait(fd, syncs, 2, deadline, 0, &first), 0);
	igt_assert_eq_u32(first, 1);
	igt_assert_eq(drmSyncobjWait(fd, syncs, 2, 0, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL, NULL),
		      -ETIME);
	release(&blocked);
	igt_assert_eq(drmSyncobjWait(fd, syncs, 2, deadline, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL,
				     NULL), 0);
}

static void wait_all_of_many(void)
{
	int fd = need_gpu();
	struct fixture fixtures[8];
	u32 syncs[8], i;
	s64 deadline = (s64)now_ns() + WAIT_SECONDS * 1000000000ll;

	for (i = 0; i < 8; i++) {
		fixtures[i] = fx_on(fd);
		syncs[i] = fixtures[i].sync;
		fx_submit(&fixtures[i], fx_store_stream(&fixtures[i], fixtures[i].data.va, 10 * i));
	}
	igt_assert_eq(drmSyncobjWait(fd, syncs, 8, deadline, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL,
				     NULL), 0);
	for (i = 0; i < 8; i++)
		fx_check_words(fixtures[i].data.cpu, 10 * i);
}

/* The waiter waits before the job is submitted, in another process. */
static void wait_before_submit(void)
{
	int fd = need_gpu(), ready[2];
	struct fixture fx = fx_on(fd);
	s64 deadline = (s64)now_ns() + WAIT_SECONDS * 1000000000ll;
	u32 sync = fx.sync;
	struct igt_helper_process waiter = {};
	char byte = 1;

	igt_assert_eq(pipe(ready), 0);
	igt_pumice_fork_helper(&waiter) {
		igt_assert_eq(write(ready[1], &byte, 1), 1);
		igt_assert_eq(drmSyncobjWait(fd, &sync, 1, deadline,
					     DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, NULL), 0);
	}
	igt_assert_eq(read(ready[0], &byte, 1), 1);
	igt_assert_eq(drmSyncobjWait(fd, &sync, 1, 0, 0, NULL), -EINVAL);
	fx_submit(&fx, fx_empty_stream(&fx));
	igt_pumice_join(&waiter);
}

/* --------------------------------------------------------------------- payload */

static void fault_is_carried(void)
{
	struct fixture fx = fx_open();

	igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 0)), -EIO);
	/* A wait succeeds when the job has ended, whatever its result. */
	igt_assert_eq(sync_wait(fx.fd, fx.sync, 0, 0), 0);
}

static void fault_is_carried_by_a_merge(void)
{
	struct fixture good = fx_open(), bad = fx_open();
	int merged;

	igt_assert_eq(fx_run(&bad, fx_store_stream(&bad, FX_FREE, 0)), -EIO);
	fx_block(&good);
	merged = merge(need_sync_file(good.fd, good.sync), need_sync_file(bad.fd, bad.sync));
	igt_assert(!file_is_ready(merged, 0));
	release(&good);
	igt_assert(file_is_ready(merged, POLL_MS));
	igt_assert_lt(sync_file_status(merged), 0);
}

static void fault_is_not_inherited(void)
{
	int fd = need_gpu();
	struct fixture holder = fx_on(fd), bad = fx_on(fd), waiter = fx_on(fd);

	fx_run_on(&holder);
	submit(&bad, fx_store_stream(&bad, FX_FREE, 0), holder.sync, bad.sync);
	submit(&waiter, fx_store_stream(&waiter, waiter.data.va, 5), bad.sync, waiter.sync);
	fx_check_held(fd, waiter.sync, 0);
	release(&holder);
	igt_assert_eq(fx_wait(&waiter), 1);
	fx_check_words(waiter.data.cpu, 5);
	igt_assert_eq(fx_wait(&bad), -EIO);
}

static void survives_its_context(void)
{
	struct fixture fx = fx_open();
	u32 faulted = need_sync(fx.fd);

	submit(&fx, fx_store_stream(&fx, FX_FREE, 0), 0, faulted);
	igt_assert_eq(fx_run(&fx, fx_empty_stream(&fx)), 1);
	release(&fx);
	CHECK_OK(gpu_vm_destroy(fx.fd, fx.vm));
	igt_assert_eq(sync_status(fx.fd, faulted, 0), -EIO);
	igt_assert_eq(sync_status(fx.fd, fx.sync, 0), 1);
}

static void survives_its_file(void)
{
	struct fixture fx = fx_open(), other = fx_open();
	int file;

	fx_run_on(&fx);
	file = need_sync_file(fx.fd, fx.sync);
	submit(&other, fx_store_stream(&other, other.data.va, 3),
	       import_sync_file(other.fd, file), other.sync);
	fx_check_held(other.fd, other.sync, 0);
	fx_close(&fx);
	igt_assert(file_is_ready(file, POLL_MS));
	igt_assert_eq(sync_file_status(file), -ECANCELED);
	igt_assert_eq(fx_wait(&other), 1);
	fx_check_words(other.data.cpu, 3);
}

/* ------------------------------------------------------------------ sync files */

static void poll_sync_file(void)
{
	struct fixture fx = fx_open();
	int file;

	fx_block(&fx);
	file = need_sync_file(fx.fd, fx.sync);
	igt_assert(!file_is_ready(file, 0));
	igt_assert_eq(sync_file_status(file), 0);
	release(&fx);
	igt_assert(file_is_ready(file, POLL_MS));
	igt_assert_eq(sync_file_status(file), -ECANCELED);
}

static void export_signaled(void)
{
	struct fixture fx = fx_open();
	int file;

	igt_assert_eq(fx_run(&fx, fx_empty_stream(&fx)), 1);
	file = need_sync_file(fx.fd, fx.sync);
	igt_assert(file_is_ready(file, 0));
	igt_assert_eq(sync_file_status(file), 1);
}

static void export_empty(void)
{
	int fd = need_gpu(), file = -1;
	u32 sync = need_sync(fd);

	igt_assert_neq(drmSyncobjExportSyncFile(fd, sync, &file), 0);
	igt_assert_eq(file, -1);
}

/* A sync file has the fence at export: later fences of the syncobj do not affect it. */
static void export_keeps_its_fence(void)
{
	struct fixture fx = fx_open();
	int file, signaled = need_sync_file(fx.fd, need_signaled_sync(fx.fd));

	fx_block(&fx);
	file = need_sync_file(fx.fd, fx.sync);
	igt_assert_eq(drmSyncobjImportSyncFile(fx.fd, fx.sync, signaled), 0);
	igt_assert(!sync_is_pending(fx.fd, fx.sync, 0));
	igt_assert(!file_is_ready(file, 0));
	release(&fx);
	igt_assert(file_is_ready(file, POLL_MS));
	igt_assert_eq(sync_file_status(file), -ECANCELED);
}

static void merge_waits_for_both(void)
{
	struct fixture first = fx_open(), second = fx_open();
	int merged;

	igt_assert_eq(fx_run(&second, fx_empty_stream(&second)), 1);
	fx_block(&first);
	merged = merge(need_sync_file(first.fd, first.sync),
		       need_sync_file(second.fd, second.sync));
	igt_assert(!file_is_ready(merged, 0));
	release(&first);
	igt_assert(file_is_ready(merged, POLL_MS));
}

static void job_waits_for_a_merge(void)
{
	struct fixture first = fx_open(), second = fx_open(), last = fx_open();
	int merged;

	igt_assert_eq(fx_run(&second, fx_store_stream(&second, second.data.va, 8)), 1);
	fx_run_on(&first);
	merged = merge(need_sync_file(first.fd, first.sync),
		       need_sync_file(second.fd, second.sync));
	submit(&last, fx_store_stream(&last, last.data.va, 9), import_sync_file(last.fd, merged),
	       last.sync);
	fx_check_held(last.fd, last.sync, 0);
	igt_assert_eq_u32(last.data.cpu[1], 0);
	release(&first);
	igt_assert_eq(fx_wait(&last), 1);
	fx_check_words(last.data.cpu, 9);
}

/* ------------------------------------------------------------- across processes */

static void other_process_polls(void)
{
	struct fixture fx = fx_open();
	int file, ready[2];
	struct igt_helper_process poller = {};
	char byte = 1;

	fx_block(&fx);
	file = need_sync_file(fx.fd, fx.sync);
	igt_assert_eq(pipe(ready), 0);
	igt_pumice_fork_helper(&poller) {
		igt_assert(!file_is_ready(file, 0));
		igt_assert_eq(write(ready[1], &byte, 1), 1);
		igt_assert(file_is_ready(file, POLL_MS));
	}
	igt_assert_eq(read(ready[0], &byte, 1), 1);
	release(&fx);
	igt_pumice_join(&poller);
}

/* A job of the child waits for one of the parent, on a file of its own. */
static void other_process_waits_on_gpu(void)
{
	struct fixture parent = fx_open();
	int file, waits[2];
	struct igt_helper_process child = {};
	char byte = 1;

	fx_run_on(&parent);
	file = need_sync_file(parent.fd, parent.sync);
	igt_assert_eq(pipe(waits), 0);
	igt_pumice_fork_helper(&child) {
		struct fixture fx = fx_open();

		submit(&fx, fx_store_stream(&fx, fx.data.va, 44),
		       import_sync_file(fx.fd, file), fx.sync);
		need_in_flight(2);
		fx_check_held(fx.fd, fx.sync, 0);
		igt_assert_eq(write(waits[1], &byte, 1), 1);
		igt_assert_eq(fx_wait(&fx), 1);
		fx_check_words(fx.data.cpu, 44);
	}
	/* Not before the child has checked that its job waits; its failure ends the read, too. */
	close(waits[1]);
	igt_assert_eq(read(waits[0], &byte, 1), 1);
	release(&parent);
	igt_pumice_join(&child);
}

static void other_process_shares_syncobj(void)
{
	struct fixture parent = fx_open();
	int shared = -1;
	struct igt_helper_process child = {};

	igt_assert_eq(drmSyncobjHandleToFD(parent.fd, parent.sync, &shared), 0);
	igt_pumice_fork_helper(&child) {
		struct fixture fx = fx_open();

		igt_assert_eq(drmSyncobjFDToHandle(fx.fd, shared, &fx.sync), 0);
		igt_assert_eq(fx_run(&fx, fx_empty_stream(&fx)), 1);
	}
	igt_pumice_join(&child);
	/* The child signaled a fence that the parent has. */
	igt_assert_eq(sync_status(parent.fd, parent.sync, 0), 1);
}

static void killed_process_signals(void)
{
	struct fixture fx = fx_open();
	int shared = -1, ready[2];
	struct igt_helper_process child = { .use_SIGKILL = true };
	char byte = 1;

	igt_assert_eq(drmSyncobjHandleToFD(fx.fd, fx.sync, &shared), 0);
	igt_assert_eq(pipe(ready), 0);
	igt_pumice_fork_helper(&child) {
		struct fixture doomed = fx_open();

		igt_assert_eq(drmSyncobjFDToHandle(doomed.fd, shared, &doomed.sync), 0);
		fx_block(&doomed);
		igt_assert_eq(write(ready[1], &byte, 1), 1);
		pause();
	}
	igt_assert_eq(read(ready[0], &byte, 1), 1);
	igt_assert(sync_is_pending(fx.fd, fx.sync, 0));
	igt_stop_helper(&child);
	need_wait(fx.fd, fx.sync, 0);
	igt_assert_eq(sync_status(fx.fd, fx.sync, 0), -ECANCELED);
}

/* ---------------------------------------------------------------- many at once */

/*
 * Jobs that each copy the output of the previous one. The first words are written only when all
 * jobs are submitted and the first one is still blocked: a job that did not wait has copied
 * the previous contents.
 */
static void chain(struct fixture *fixtures, u32 count, u32 length)
{
	struct fixture holder = fx_on(fixtures[0].fd);
	u32 last = holder.sync, i;

	fx_run_on(&holder);
	for (i = 0; i < length; i++) {
		u32 next = need_sync(fixtures[0].fd);

		submit(&fixtures[i % count], step(&fixtures[i % count], i), last, next);
		last = next;
	}
	fx_check_held(fixtures[0].fd, last, 0);
	start_words(&fixtures[0], 10);
	release(&holder);
	need_wait(fixtures[0].fd, last, 0);
	igt_assert_eq(sync_status(fixtures[0].fd, last, 0), 1);
}

static void chain_over_contexts(void)
{
	struct fixture fixtures[2] = { fx_open() };

	fixtures[1] = fixtures[0];
	fixtures[1].used = FX_CODE_BYTES / 2;
	fixtures[1].context = need_context(fixtures[0].fd, fixtures[0].vm);
	chain(fixtures, 2, 100);
	fx_check_words(fixtures[0].data.cpu + 100 * WORDS, 110);
}

/* Each VM maps the same memory for its data. */
static void chain_over_vms(void)
{
	int fd = need_gpu();
	struct fixture fixtures[4];
	u32 i;

	for (i = 0; i < 4; i++) {
		fixtures[i] = fx_on(fd);
		need_map(fd, fixtures[i].vm, fixtures[0].data.handle, 0, FX_DATA, FX_DATA_BYTES, 0);
	}
	chain(fixtures, 4, 100);
	fx_check_words(fixtures[0].data.cpu + 100 * WORDS, 110);
}

/* A chain over two files, with a sync file for every link and memory shared by PRIME. */
static void chain_over_files(void)
{
	struct fixture fixtures[2] = { fx_open(), fx_open() }, holder = fx_open();
	int shared = -1, file;
	u32 handle, i;

	igt_assert_eq(drmPrimeHandleToFD(fixtures[0].fd, fixtures[0].data.handle, DRM_CLOEXEC,
					 &shared),
		      0);
	igt_assert_eq(drmPrimeFDToHandle(fixtures[1].fd, shared, &handle), 0);
	need_map(fixtures[1].fd, fixtures[1].vm, handle, 0, FX_DATA, FX_DATA_BYTES, 0);
	fx_run_on(&holder);
	file = need_sync_file(holder.fd, holder.sync);
	for (i = 0; i < 50; i++) {
		struct fixture *fx = &fixtures[i % 2];

		submit(fx, step(fx, i), import_sync_file(fx->fd, file), fx->sync);
		close(file);
		file = need_sync_file(fx->fd, fx->sync);
	}
	fx_check_held(fixtures[1].fd, fixtures[1].sync, 0);
	start_words(&fixtures[0], 30);
	release(&holder);
	igt_assert(file_is_ready(file, POLL_MS));
	igt_assert_eq(sync_file_status(file), 1);
	fx_check_words(fixtures[0].data.cpu + 50 * WORDS, 80);
}

static void one_call_many_jobs(void)
{
	struct fixture fx = fx_open(), holder = fx_on(fx.fd);
	u32 contexts[4], i, k;
	struct drm_pumice_sync syncs[DRM_PUMICE_MAX_JOBS][5];
	struct drm_pumice_job jobs[DRM_PUMICE_MAX_JOBS];

	fx_run_on(&holder);
	for (i = 0; i < 4; i++)
		contexts[i] = need_context(fx.fd, fx.vm);
	for (i = 0; i < DRM_PUMICE_MAX_JOBS; i++) {
		for (k = 0; k < 4; k++)
			syncs[i][k] = then_signal(need_sync(fx.fd), 0);
		syncs[i][4] = wait_for(i ? syncs[i - 1][i % 4].handle : holder.sync, 0);
		jobs[i] = (struct drm_pumice_job){
			.context = contexts[i % 4], .stream = step(&fx, i),
			.syncs = ARRAY_OF(syncs[i], 5),
		};
	}
	CHECK_OK(gpu_submit(fx.fd, jobs, DRM_PUMICE_MAX_JOBS, NULL));
	fx_check_held(fx.fd, syncs[DRM_PUMICE_MAX_JOBS - 1][0].handle, 0);
	start_words(&fx, 5);
	release(&holder);
	for (k = 0; k < 4; k++)
		need_wait(fx.fd, syncs[DRM_PUMICE_MAX_JOBS - 1][k].handle, 0);
	fx_check_words(fx.data.cpu + DRM_PUMICE_MAX_JOBS * WORDS, 5 + DRM_PUMICE_MAX_JOBS);
	for (i = 0; i < DRM_PUMICE_MAX_JOBS; i++) {
		for (k = 0; k < 4; k++)
			igt_assert_eq(sync_status(fx.fd, syncs[i][k].handle, 0), 1);
	}
}

static void job_waits_for_maximum(void)
{
	struct fixture fx = fx_open(), holder = fx_on(fx.fd);
	struct drm_pumice_sync syncs[DRM_PUMICE_MAX_SYNCS];
	struct drm_pumice_job job = {
		.context = fx.context, .stream = fx_store_stream(&fx, fx.data.va, 6),
		.syncs = ARRAY_OF(syncs, DRM_PUMICE_MAX_SYNCS),
	};
	u32 i;

	for (i = 0; i < DRM_PUMICE_MAX_SYNCS - 2; i++)
		syncs[i] = wait_for(need_signaled_sync(fx.fd), 0);
	fx_run_on(&holder);
	syncs[i++] = wait_for(holder.sync, 0);
	syncs[i] = then_signal(fx.sync, 0);
	CHECK_OK(gpu_submit(fx.fd, &job, 1, NULL));
	fx_check_held(fx.fd, fx.sync, 0);
	release(&holder);
	igt_assert_eq(fx_wait(&fx), 1);
	fx_check_words(fx.data.cpu, 6);
}

/* The second signal replaces the first. */
static void signal_twice(void)
{
	int fd = need_gpu();
	struct fixture quick = fx_on(fd), blocked = fx_on(fd);
	u32 sync = need_sync(fd);

	submit(&quick, fx_empty_stream(&quick), 0, sync);
	need_wait(fd, sync, 0);
	fx_block(&blocked);
	submit(&blocked, fx_empty_stream(&blocked), 0, sync);
	igt_assert(sync_is_pending(fd, sync, 0));
	release(&blocked);
	need_wait(fd, sync, 0);
	igt_assert_eq(sync_status(fd, sync, 0), -ECANCELED);
}

static void signal_twice_by_one_job(void)
{
	struct fixture fx = fx_open();
	u32 sync = need_sync(fx.fd);
	struct drm_pumice_sync syncs[] = { then_signal(sync, 0), then_signal(sync, 0) };
	struct drm_pumice_job job = {
		.context = fx.context, .stream = fx_store_stream(&fx, fx.data.va, 2),
		.syncs = ARRAY_OF(syncs, 2),
	};

	CHECK_OK(gpu_submit(fx.fd, &job, 1, NULL));
	need_wait(fx.fd, sync, 0);
	igt_assert_eq(sync_status(fx.fd, sync, 0), 1);
	fx_check_words(fx.data.cpu, 2);
}

/*
 * A job waits for the fence that the syncobj had at its submission: here that of the blocking
 * job, while the job that signals the syncobj later waits for it.
 */
static void wait_uses_fence_at_submission(void)
{
	int fd = need_gpu();
	struct fixture holder = fx_on(fd), first = fx_on(fd), second = fx_on(fd);
	u32 sync = holder.sync;

	fx_run_on(&holder);
	submit(&first, fx_store_stream(&first, first.data.va, 4), sync, first.sync);
	submit(&second, fx_empty_stream(&second), first.sync, sync);
	fx_check_held(fd, first.sync, 0);
	fx_check_held(fd, sync, 0);
	release(&holder);
	igt_assert_eq(fx_wait(&first), 1);
	fx_check_words(first.data.cpu, 4);
	need_wait(fd, sync, 0);
	igt_assert_eq(sync_status(fd, sync, 0), 1);
}

static void reset_empties(void)
{
	struct fixture fx = fx_open();

	igt_assert_eq(fx_run(&fx, fx_empty_stream(&fx)), 1);
	igt_assert_eq(drmSyncobjReset(fx.fd, &fx.sync, 1), 0);
	igt_assert_eq(sync_wait(fx.fd, fx.sync, 0, 0), -EINVAL);
	igt_assert_eq(fx_run(&fx, fx_empty_stream(&fx)), 1);
}

static void destroyed_syncobj(void)
{
	int fd = need_gpu();
	struct fixture holder = fx_on(fd), waiter = fx_on(fd);

	fx_run_on(&holder);
	submit(&waiter, fx_store_stream(&waiter, waiter.data.va, 4), holder.sync, waiter.sync);
	igt_assert_eq(drmSyncobjDestroy(fd, holder.sync), 0);
	fx_check_held(fd, waiter.sync, 0);
	release(&holder);
	igt_assert_eq(fx_wait(&waiter), 1);
	fx_check_words(waiter.data.cpu, 4);
}

int igt_main()
{
	igt_fixture()
		igt_pumice_require(IGT_PUMICE_PATIENT);

	igt_pumice_subtest("not-before-its-job", "a fence is pending as long as its job runs",
			   not_before_its_job);
	igt_pumice_subtest("not-before-the-data",
			   "a job's stores are visible when its fence signals",
			   not_before_the_data);
	igt_pumice_subtest("in-order-of-submission", "a context's fences signal in order",
			   in_order_of_submission);
	igt_pumice_subtest("zero-timeout", "a wait with a time-out of 0 returns the current state",
			   zero_timeout);
	igt_pumice_subtest("wait-interrupted", "a wait continues after signals", wait_interrupted);
	igt_pumice_subtest("wait-any", "a wait for any returns the one that signaled", wait_any);
	igt_pumice_subtest("wait-all-of-many", "a wait for all waits for each", wait_all_of_many);
	igt_pumice_subtest("wait-before-submit",
			   "a process may wait for a job that is not submitted yet",
			   wait_before_submit);
	igt_pumice_subtest("fault-is-carried", "the fence of a job that faulted carries the error",
			   fault_is_carried);
	igt_pumice_subtest("fault-is-carried-by-a-merge",
			   "a merged fence carries the error of a job that faulted",
			   fault_is_carried_by_a_merge);
	igt_pumice_subtest("fault-is-not-inherited", "a job that waits for one that faulted runs",
			   fault_is_not_inherited);
	igt_pumice_subtest("survives-its-context",
			   "a fence keeps its status when its context and VM are destroyed",
			   survives_its_context);
	igt_pumice_subtest("survives-its-file", "a fence signals after its file is closed",
			   survives_its_file);
	igt_pumice_subtest("poll-sync-file", "a sync file is readable when its job has ended",
			   poll_sync_file);
	igt_pumice_subtest("export-signaled", "a fence can be exported after its job",
			   export_signaled);
	igt_pumice_subtest("export-empty", "a syncobj without a fence cannot be exported",
			   export_empty);
	igt_pumice_subtest("export-keeps-its-fence",
			   "a sync file keeps the fence that it was exported from",
			   export_keeps_its_fence);
	igt_pumice_subtest("merge-waits-for-both", "a merged fence signals with the last",
			   merge_waits_for_both);
	igt_pumice_subtest("job-waits-for-a-merge", "a job waits for all of a merged fence",
			   job_waits_for_a_merge);
	igt_pumice_subtest("other-process-polls", "a sync file wakes another process",
			   other_process_polls);
	igt_pumice_subtest("other-process-waits-on-gpu",
			   "a job of another process waits on the GPU", other_process_waits_on_gpu);
	igt_pumice_subtest("other-process-shares-syncobj",
			   "a syncobj can be signaled by another process",
			   other_process_shares_syncobj);
	igt_pumice_subtest("killed-process-signals", "fences of a process that was killed signal",
			   killed_process_signals);
	igt_pumice_subtest("chain-over-contexts", "a hundred jobs, alternately of two contexts",
			   chain_over_contexts);
	igt_pumice_subtest("chain-over-vms", "a hundred jobs, round robin over four VMs",
			   chain_over_vms);
	igt_pumice_subtest("chain-over-files",
			   "fifty jobs, alternately of two files, by sync files", chain_over_files);
	igt_pumice_subtest("one-call-many-jobs",
			   "64 jobs of one call over four contexts, with five syncs each",
			   one_call_many_jobs);
	igt_pumice_subtest("job-waits-for-maximum",
			   "a job waits for as many fences as the limit allows",
			   job_waits_for_maximum);
	igt_pumice_subtest("signal-twice", "a second signal replaces the first",
			   signal_twice);
	igt_pumice_subtest("signal-twice-by-one-job", "one job may signal a syncobj twice",
			   signal_twice_by_one_job);
	igt_pumice_subtest("wait-uses-fence-at-submission",
			   "a job waits for the fence that the syncobj had at submission",
			   wait_uses_fence_at_submission);
	igt_pumice_subtest("reset-empties", "a syncobj can be emptied and used again",
			   reset_empties);
	igt_pumice_subtest("destroyed-syncobj", "a job waits although the syncobj is destroyed",
			   destroyed_syncobj);
}
