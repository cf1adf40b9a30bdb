// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* SUBMIT: accepted and refused arguments; a refused call has no effect. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "igt_pumice.h"
#include "fixture.h"
#include "sync.h"

IGT_TEST_DESCRIPTION("Submission of jobs: arguments, order, all or nothing.");

#define WORDS 32u	/* words that a store or copy writes */

/** struct submit_fixture - a fixture, and a job that would be accepted */
struct submit_fixture {
	struct fixture fx;
	struct drm_pumice_sync sync;
	struct drm_pumice_job job;
};

static struct submit_fixture *submit_fixture(void)
{
	struct submit_fixture *g = calloc(1, sizeof(*g));

	igt_assert(g);
	g->fx = fx_open();
	g->sync = then_signal(g->fx.sync, 0);
	g->job = (struct drm_pumice_job){
		.context = g->fx.context,
		.stream = fx_store_stream(&g->fx, g->fx.data.va, 77),
		.syncs = ARRAY_OF(&g->sync, 1),
	};
	return g;
}

/* The job must be refused without effect; the next must work. */
static void refuse(struct submit_fixture *g, int error)
{
	u32 failed = 99;

	igt_assert_eq(gpu_submit(g->fx.fd, &g->job, 1, &failed), -error);
	igt_assert_eq_u32(failed, 0);
	igt_assert_eq(sync_wait(g->fx.fd, g->fx.sync, 0, 0), -EINVAL);
	igt_assert_eq_u64(need_state(g->fx.fd, g->fx.context).jobs_done, 0);
	igt_assert_eq_u32(g->fx.data.cpu[0], 0);
}

static void basic(void)
{
	struct submit_fixture *g = submit_fixture();

	CHECK_OK(gpu_submit(g->fx.fd, &g->job, 1, NULL));
	igt_assert_eq(fx_wait(&g->fx), 1);
	fx_check_words(g->fx.data.cpu, 77);
}

static void no_jobs(void)
{
	struct drm_pumice_submit submit = {
		.jobs = { .stride = sizeof(struct drm_pumice_job), .array = 16 },
	};
	int fd = need_gpu();

	do_ioctl(fd, DRM_IOCTL_PUMICE_SUBMIT, &submit);
}

static void too_many_jobs(void)
{
	static const u32 counts[] = { DRM_PUMICE_MAX_JOBS + 1, 1u << 28, UINT32_MAX };
	struct submit_fixture *g = submit_fixture();
	u32 i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct drm_pumice_submit submit = { .jobs = ARRAY_OF(&g->job, counts[i]) };

		do_ioctl_err(g->fx.fd, DRM_IOCTL_PUMICE_SUBMIT, &submit, E2BIG);
	}
}

static void bad_flags(void)
{
	struct submit_fixture *g = submit_fixture();
	u32 bit;

	for (bit = 0; bit < 32; bit++) {
		struct drm_pumice_submit submit = {
			.flags = 1u << bit, .jobs = ARRAY_OF(&g->job, 1),
		};

		do_ioctl_err(g->fx.fd, DRM_IOCTL_PUMICE_SUBMIT, &submit, EINVAL);
		g->job.flags = 1u << bit;
		refuse(g, EINVAL);
		g->job.flags = 0;
	}
}

static void bad_padding(void)
{
	struct submit_fixture *g = submit_fixture();
	struct drm_pumice_submit submit = { .pad = 1, .jobs = ARRAY_OF(&g->job, 1) };

	do_ioctl_err(g->fx.fd, DRM_IOCTL_PUMICE_SUBMIT, &submit, EINVAL);
	g->job.hwrt = 1;
	refuse(g, EINVAL);
}

static void bad_context(void)
{
	struct submit_fixture *g = submit_fixture(), *other = submit_fixture();

	g->job.context = NO_HANDLE;
	refuse(g, ENOENT);
	need_context(other->fx.fd, other->fx.vm);
	g->job.context = need_context(other->fx.fd, other->fx.vm);
	refuse(g, ENOENT);
}

static void bad_stream(void)
{
	struct submit_fixture *g = submit_fixture();
	u64 stream = g->job.stream;

	for (g->job.stream = stream + 1; g->job.stream < stream + 4; g->job.stream++)
		refuse(g, EINVAL);
}

static void bad_sync(void)
{
	struct submit_fixture *g = submit_fixture();

	g->sync.handle = NO_HANDLE;
	refuse(g, ENOENT);
	g->sync = then_signal(g->fx.sync, 0);
	g->sync.flags |= 1u << 31;
	refuse(g, EINVAL);
	g->sync = then_signal(g->fx.sync, 0);
	g->sync.value = 1;
	refuse(g, EINVAL);
	g->sync = wait_for(g->fx.sync, 0);
	refuse(g, EINVAL);
}

static void bad_pointer(void)
{
	struct submit_fixture *g = submit_fixture();
	struct drm_pumice_submit submit = {
		.jobs = { .stride = sizeof(g->job), .count = 1, .array = 16 },
	};

	do_ioctl_err(g->fx.fd, DRM_IOCTL_PUMICE_SUBMIT, &submit, EFAULT);
	g->job.syncs.array = 16;
	refuse(g, EFAULT);
}

/* Elements of a newer interface: unknown fields must be zero. */
static void stride_grown(void)
{
	struct {
		struct drm_pumice_job job;
		u64 later;
	} jobs[2] = { 0 };
	struct submit_fixture *g = submit_fixture();
	struct drm_pumice_submit submit = { .jobs = ARRAY_OF(jobs, 2) };

	jobs[0].job = jobs[1].job = g->job;
	jobs[1].later = 1;
	do_ioctl_err(g->fx.fd, DRM_IOCTL_PUMICE_SUBMIT, &submit, E2BIG);
	jobs[1].later = 0;
	submit.jobs.count = 2;
	do_ioctl(g->fx.fd, DRM_IOCTL_PUMICE_SUBMIT, &submit);
	igt_assert_eq(fx_wait(&g->fx), 1);
	igt_assert_eq_u64(need_state(g->fx.fd, g->fx.context).jobs_done, 2);
}

static void stride_too_small(void)
{
	struct submit_fixture *g = submit_fixture();
	struct drm_pumice_submit submit = { .jobs = ARRAY_OF(&g->job, 1) };

	submit.jobs.stride = 8;
	do_ioctl_err(g->fx.fd, DRM_IOCTL_PUMICE_SUBMIT, &submit, EINVAL);
}

/* The index of the refused one is returned, and those before it have not run either. */
static void all_or_nothing(void)
{
	struct submit_fixture *g = submit_fixture();
	struct drm_pumice_job jobs[5];
	u32 bad, i, failed;

	for (bad = 0; bad < 5; bad++) {
		for (i = 0; i < 5; i++)
			jobs[i] = g->job;
		jobs[bad].context = NO_HANDLE;
		igt_assert_eq(gpu_submit(g->fx.fd, jobs, 5, &failed), -ENOENT);
		igt_assert_eq_u32(failed, bad);
	}
	igt_assert_eq_u64(need_state(g->fx.fd, g->fx.context).jobs_done, 0);
	igt_assert_eq(sync_wait(g->fx.fd, g->fx.sync, 0, 0), -EINVAL);
	igt_assert_eq_u32(g->fx.data.cpu[0], 0);
}

static void in_order(void)
{
	struct fixture fx = fx_open();
	u32 i;

	for (i = 0; i < WORDS; i++)
		fx.data.cpu[i] = i;
	for (i = 0; i < 200; i++)
		fx_submit(&fx, fx_copy_stream(&fx, fx_data(&fx, (i + 1) * WORDS),
					      fx_data(&fx, i * WORDS), 1));
	igt_assert_eq(fx_wait(&fx), 1);
	fx_check_words(fx.data.cpu + 200 * WORDS, 200);
}

static void more_than_the_ring_fits(void)
{
	struct fixture fx = fx_open();
	u64 stream = fx_empty_stream(&fx);
	u32 i;

	for (i = 0; i < 3000; i++)
		fx_submit(&fx, stream);
	igt_assert_eq(fx_wait(&fx), 1);
	igt_assert_eq_u64(need_state(fx.fd, fx.context).jobs_done, 3000);
}

static void many_contexts(void)
{
	struct fixture fx = fx_open();
	u32 syncs[64], i;

	for (i = 0; i < 64; i++) {
		fx.context = need_context(fx.fd, fx.vm);
		fx.sync = syncs[i] = need_sync(fx.fd);
		fx_submit(&fx, fx_store_stream(&fx, fx_data(&fx, i * WORDS), 1000 * i));
	}
	for (i = 0; i < 64; i++) {
		need_wait(fx.fd, syncs[i], 0);
		igt_assert_eq(sync_status(fx.fd, syncs[i], 0), 1);
		fx_check_words(fx.data.cpu + i * WORDS, 1000 * i);
	}
}

static void many_processes(void)
{
	struct igt_helper_process helpers[4] = {};
	struct fixture fx;
	u32 i, k;

	for (i = 0; i < 4; i++) {
		igt_pumice_fork_helper(&helpers[i]) {
			fx = fx_open();
			for (k = 0; k < 50; k++) {
				igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, fx.data.va,
									  1000 * i + k)), 1);
				fx_check_words(fx.data.cpu, 1000 * i + k);
			}
		}
	}
	for (i = 0; i < 4; i++)
		igt_pumice_join(&helpers[i]);
}

int igt_main()
{
	igt_fixture()
		igt_pumice_require(IGT_PUMICE_PATIENT);

	igt_pumice_subtest("basic", "a job runs and signals", basic);
	igt_pumice_subtest("no-jobs", "a call without jobs succeeds, whatever the pointer",
			   no_jobs);
	igt_pumice_subtest("too-many-jobs", "more jobs than the limit are refused", too_many_jobs);
	igt_pumice_subtest("bad-flags", "unknown flags are refused", bad_flags);
	igt_pumice_subtest("bad-padding", "padding must be zero", bad_padding);
	igt_pumice_subtest("bad-context", "a context must be one of the file", bad_context);
	igt_pumice_subtest("bad-stream", "a stream must be aligned", bad_stream);
	igt_pumice_subtest("bad-sync", "syncs: handle, flags, value; nothing to wait for",
			   bad_sync);
	igt_pumice_subtest("bad-pointer", "arrays must be in mapped memory", bad_pointer);
	igt_pumice_subtest("stride-grown", "larger elements are accepted if the rest is zero",
			   stride_grown);
	igt_pumice_subtest("stride-too-small", "smaller elements are refused", stride_too_small);
	igt_pumice_subtest("all-or-nothing",
			   "one bad job refuses the whole call, and its index is returned",
			   all_or_nothing);
	igt_pumice_subtest("in-order", "jobs of a context run in order", in_order);
	igt_pumice_subtest("more-than-the-ring-fits", "more jobs than fit in the ring all run",
			   more_than_the_ring_fits);
	igt_pumice_subtest("many-contexts", "64 contexts with a job each", many_contexts);
	igt_pumice_subtest("many-processes", "four processes at once see their own results",
			   many_processes);
}
