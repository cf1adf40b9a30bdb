// SPDX-License-Identifier: MIT
/* SUBMIT: arguments. Dependencies and signals of submitted jobs are in t_sync.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "fixture.h"

/* struct drm_pumice_job as it was first published: without the performance monitor. */
#define FIRST_JOB_BYTES	32u

/** struct submit_fixture - a fixture, and a job that would be accepted */
struct submit_fixture {
	struct fixture fx;
	struct drm_pumice_sync sync;
	struct drm_pumice_job job;
};

static struct submit_fixture *submit_fixture(void)
{
	struct submit_fixture *g = calloc(1, sizeof(*g));

	CHECK(g);
	g->fx = fx_open();
	g->sync = then_signal(g->fx.sync, 0);
	g->job = (struct drm_pumice_job){
		.context = g->fx.context, .stream = fx_empty_stream(&g->fx),
		.syncs = ARRAY_OF(&g->sync, 1),
	};
	return g;
}

/* Submitting the job must be refused, with its index, and leave no object. */
static void refuse(struct submit_fixture *g, int error)
{
	u32 failed = 99;

	CHECK_ERROR(gpu_submit(g->fx.fd, &g->job, 1, &failed), error);
	CHECK_EQUAL(failed, 0);
	CHECK_ERROR(sync_wait(g->fx.fd, g->fx.sync, 0, 0), EINVAL);
	CHECK_EQUAL(need_state(g->fx.fd, g->fx.context).jobs_done, 0);
}

static void valid_job_is_accepted(void)
{
	struct submit_fixture *g = submit_fixture();

	CHECK_OK(gpu_submit(g->fx.fd, &g->job, 1, NULL));
	CHECK_EQUAL(fx_wait(&g->fx), 1);
}

static void submit_flags_are_refused(void)
{
	struct submit_fixture *g = submit_fixture();
	u32 bit;

	for (bit = 0; bit < 32; bit++) {
		struct drm_pumice_submit args = { .flags = 1u << bit,
						  .jobs = ARRAY_OF(&g->job, 1) };

		CHECK_ERROR(gpu_ioctl(g->fx.fd, DRM_IOCTL_PUMICE_SUBMIT, &args), EINVAL);
	}
}

static void submit_padding_must_be_zero(void)
{
	struct submit_fixture *g = submit_fixture();
	struct drm_pumice_submit args[] = {
		{ .pad = 1, .jobs = ARRAY_OF(&g->job, 1) },
		{ .pad2 = 1, .jobs = ARRAY_OF(&g->job, 1) },
	};

	CHECK_ERROR(gpu_ioctl(g->fx.fd, DRM_IOCTL_PUMICE_SUBMIT, &args[0]), EINVAL);
	CHECK_ERROR(gpu_ioctl(g->fx.fd, DRM_IOCTL_PUMICE_SUBMIT, &args[1]), EINVAL);
}

/* It is output only, so the value from a previous call is not an argument. */
static void index_of_the_failing_job_is_not_read(void)
{
	struct submit_fixture *g = submit_fixture();
	struct drm_pumice_submit args = { .jobs = ARRAY_OF(&g->job, 1), .failed_job = 1000 };

	CHECK_OK(gpu_ioctl(g->fx.fd, DRM_IOCTL_PUMICE_SUBMIT, &args));
	CHECK_EQUAL(fx_wait(&g->fx), 1);
}

/* A program that was built before the structure grew. */
static void submit_as_first_published_is_accepted(void)
{
	struct submit_fixture *g = submit_fixture();
	struct {
		struct {
			u32 flags;
			u32 pad;
			struct drm_pumice_array jobs;
		} args;
		u32 canary;
	} first = { .args.jobs = ARRAY_OF(&g->job, 1), .canary = 0x12345678 };
	unsigned long request = DRM_IOWR(DRM_COMMAND_BASE + DRM_PUMICE_SUBMIT, first.args);

	CHECK_OK(gpu_ioctl(g->fx.fd, request, &first));
	CHECK_EQUAL(fx_wait(&g->fx), 1);
	g->job.flags = 1;
	CHECK_ERROR(gpu_ioctl(g->fx.fd, request, &first), EINVAL);
	CHECK_EQUAL(first.args.jobs.count, 1);
	CHECK_EQUAL(first.canary, 0x12345678);
}

static void an_empty_array_of_jobs_is_accepted(void)
{
	struct drm_pumice_submit args = {
		.jobs = { .stride = sizeof(struct drm_pumice_job), .array = 16 },
	};

	CHECK_OK(gpu_ioctl(need_gpu(), DRM_IOCTL_PUMICE_SUBMIT, &args));
}

static void job_flags_are_refused(void)
{
	struct submit_fixture *g = submit_fixture();
	u32 bit;

	for (bit = 0; bit < 32; bit++) {
		g->job.flags = 1u << bit;
		refuse(g, EINVAL);
	}
}

static void context_must_exist(void)
{
	struct submit_fixture *g = submit_fixture();

	g->job.context = 0;
	refuse(g, ENOENT);
	g->job.context = NO_HANDLE;
	refuse(g, ENOENT);
}

static void context_of_another_file_is_refused(void)
{
	struct submit_fixture *g = submit_fixture();
	int other = need_gpu();
	u32 vm = need_vm(other);

	need_context(other, vm);
	g->job.context = need_context(other, vm);
	refuse(g, ENOENT);
}

static void stream_must_be_aligned(void)
{
	struct submit_fixture *g = submit_fixture();
	u64 stream = g->job.stream, off;

	for (off = 1; off < 4; off++) {
		g->job.stream = stream + off;
		refuse(g, EINVAL);
	}
}

static void too_many_jobs_are_refused(void)
{
	struct submit_fixture *g = submit_fixture();
	static const u32 counts[] = { DRM_PUMICE_MAX_JOBS + 1, 1u << 28, 1u << 31, UINT32_MAX };
	u32 i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		CHECK_ERROR(gpu_submit(g->fx.fd, &g->job, counts[i], NULL), E2BIG);
}

static void too_many_syncs_are_refused(void)
{
	struct submit_fixture *g = submit_fixture();
	static const u32 counts[] = { DRM_PUMICE_MAX_SYNCS + 1, 1u << 28, UINT32_MAX };
	u32 i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		g->job.syncs.count = counts[i];
		refuse(g, E2BIG);
	}
}

static void too_small_strides_are_refused(void)
{
	struct submit_fixture *g = submit_fixture();
	struct drm_pumice_submit args = { .jobs = ARRAY_OF(&g->job, 1) };

	args.jobs.stride = FIRST_JOB_BYTES - 1;
	CHECK_ERROR(gpu_ioctl(g->fx.fd, DRM_IOCTL_PUMICE_SUBMIT, &args), EINVAL);
	args.jobs.stride = 0;
	CHECK_ERROR(gpu_ioctl(g->fx.fd, DRM_IOCTL_PUMICE_SUBMIT, &args), EINVAL);
	g->job.syncs.stride = sizeof(g->sync) - 4;
	refuse(g, EINVAL);
	g->job.syncs.stride = 0;
	refuse(g, EINVAL);
}

static void first_published_job_is_still_accepted(void)
{
	struct submit_fixture *g = submit_fixture();
	struct drm_pumice_submit args = { .jobs = ARRAY_OF(&g->job, 1) };

	/* Memory after it is not read. */
	g->job.perfmon = NO_HANDLE;
	g->job.hwrt = 1;
	args.jobs.stride = FIRST_JOB_BYTES;
	CHECK_OK(gpu_ioctl(g->fx.fd, DRM_IOCTL_PUMICE_SUBMIT, &args));
	CHECK_EQUAL(fx_wait(&g->fx), 1);
}

static void job_padding_must_be_zero(void)
{
	struct submit_fixture *g = submit_fixture();

	g->job.hwrt = 1;
	refuse(g, EINVAL);
}

static void perfmon_must_exist(void)
{
	struct submit_fixture *g = submit_fixture();

	g->job.perfmon = NO_HANDLE;
	refuse(g, ENOENT);
}

static void jobs_may_grow_by_zeroes_only(void)
{
	struct submit_fixture *g = submit_fixture();
	struct {
		struct drm_pumice_job job;
		u64 more;
	} grown = { .job = g->job };
	struct drm_pumice_submit args = { .jobs = ARRAY_OF(&grown, 1) };

	CHECK_OK(gpu_ioctl(g->fx.fd, DRM_IOCTL_PUMICE_SUBMIT, &args));
	CHECK_EQUAL(fx_wait(&g->fx), 1);
	grown.more = 1;
	CHECK_ERROR(gpu_ioctl(g->fx.fd, DRM_IOCTL_PUMICE_SUBMIT, &args), E2BIG);
}

static void syncs_may_grow_by_zeroes_only(void)
{
	struct submit_fixture *g = submit_fixture();
	struct {
		struct drm_pumice_sync sync;
		u64 more;
	} grown = { .sync = g->sync, .more = 1 };

	g->job.syncs = (struct drm_pumice_array)ARRAY_OF(&grown, 1);
	refuse(g, E2BIG);
	grown.more = 0;
	CHECK_OK(gpu_submit(g->fx.fd, &g->job, 1, NULL));
	CHECK_EQUAL(fx_wait(&g->fx), 1);
}

static void arrays_must_be_readable(void)
{
	struct submit_fixture *g = submit_fixture();

	CHECK_ERROR(gpu_submit(g->fx.fd, (void *)16, 1, NULL), EFAULT);
	CHECK_ERROR(gpu_submit(g->fx.fd, NULL, 1, NULL), EFAULT);
	g->job.syncs.array = 16;
	refuse(g, EFAULT);
	g->job.syncs.array = 0xffffffff81000000ull;
	refuse(g, EFAULT);
}

static void sync_flags_must_be_known(void)
{
	struct submit_fixture *g = submit_fixture();
	u32 bit;

	for (bit = 2; bit < 32; bit++) {
		g->sync.flags = DRM_PUMICE_SYNC_SIGNAL | 1u << bit;
		refuse(g, EINVAL);
	}
}

static void syncobj_must_exist(void)
{
	struct submit_fixture *g = submit_fixture();

	g->sync.handle = 0;
	refuse(g, ENOENT);
	g->sync.handle = NO_HANDLE;
	refuse(g, ENOENT);
	g->sync = wait_for(NO_HANDLE, 0);
	refuse(g, ENOENT);
}

static void syncobj_of_another_file_is_refused(void)
{
	struct submit_fixture *g = submit_fixture();
	int other = need_gpu();

	need_sync(other);
	g->sync.handle = need_sync(other);
	refuse(g, ENOENT);
}

static void timeline_point_zero_is_refused(void)
{
	struct submit_fixture *g = submit_fixture();

	g->sync.flags = DRM_PUMICE_SYNC_SIGNAL | DRM_PUMICE_SYNC_TIMELINE;
	refuse(g, EINVAL);
	g->sync.flags = DRM_PUMICE_SYNC_TIMELINE;
	refuse(g, EINVAL);
}

static void point_of_a_binary_syncobj_is_refused(void)
{
	struct submit_fixture *g = submit_fixture();

	g->sync.value = 1;
	refuse(g, EINVAL);
}

static void wait_without_a_signaler_is_refused(void)
{
	struct submit_fixture *g = submit_fixture();

	g->sync = wait_for(need_sync(g->fx.fd), 0);
	refuse(g, EINVAL);
	g->sync = wait_for(need_sync(g->fx.fd), 5);
	refuse(g, EINVAL);
}

static void waiting_for_ones_own_signal_is_refused(void)
{
	struct submit_fixture *g = submit_fixture();
	const struct drm_pumice_sync syncs[] = {
		then_signal(g->fx.sync, 0), wait_for(g->fx.sync, 0),
	};

	g->job.syncs = (struct drm_pumice_array)ARRAY_OF(syncs, 2);
	refuse(g, EINVAL);
}

static void waiting_for_a_later_job_is_refused(void)
{
	struct submit_fixture *g = submit_fixture();
	struct drm_pumice_sync wait = wait_for(g->fx.sync, 0);
	struct drm_pumice_job jobs[] = { g->job, g->job };
	u32 failed = 99;

	jobs[0].syncs = (struct drm_pumice_array)ARRAY_OF(&wait, 1);
	CHECK_ERROR(gpu_submit(g->fx.fd, jobs, 2, &failed), EINVAL);
	CHECK_EQUAL(failed, 0);
	CHECK_ERROR(sync_wait(g->fx.fd, g->fx.sync, 0, 0), EINVAL);
}

static void index_of_refused_job_is_reported_and_no_job_is_submitted(void)
{
	struct submit_fixture *g = submit_fixture();
	struct drm_pumice_job jobs[4] = { g->job, g->job, g->job, g->job };
	u32 failed = 99;

	jobs[2].stream++;
	CHECK_ERROR(gpu_submit(g->fx.fd, jobs, 4, &failed), EINVAL);
	CHECK_EQUAL(failed, 2);
	CHECK_ERROR(sync_wait(g->fx.fd, g->fx.sync, 0, 0), EINVAL);

	/* The job after it is the first that runs. */
	CHECK_OK(gpu_submit(g->fx.fd, &g->job, 1, NULL));
	CHECK_EQUAL(fx_wait(&g->fx), 1);
	CHECK_EQUAL(need_state(g->fx.fd, g->fx.context).jobs_done, 1);
}

static void refused_call_leaves_a_signaled_syncobj_as_it_was(void)
{
	struct submit_fixture *g = submit_fixture();
	struct drm_pumice_job jobs[2] = { g->job, g->job };

	CHECK_OK(gpu_submit(g->fx.fd, &g->job, 1, NULL));
	CHECK_EQUAL(fx_wait(&g->fx), 1);
	jobs[1].context = NO_HANDLE;
	CHECK_ERROR(gpu_submit(g->fx.fd, jobs, 2, NULL), ENOENT);
	CHECK_EQUAL(fx_wait(&g->fx), 1);
}

static void refused_timeline_signal_adds_no_point(void)
{
	struct submit_fixture *g = submit_fixture();
	struct drm_pumice_job jobs[2] = { g->job, g->job };
	u32 timeline = need_sync(g->fx.fd);

	g->sync = then_signal(timeline, 1);
	jobs[1].flags = 1;
	CHECK_ERROR(gpu_submit(g->fx.fd, jobs, 2, NULL), EINVAL);
	CHECK_ERROR(sync_wait(g->fx.fd, timeline, 1, 0), EINVAL);
}

static const struct test_case cases[] = {
	TEST_CASE(valid_job_is_accepted),
	TEST_CASE(submit_flags_are_refused),
	TEST_CASE(submit_padding_must_be_zero),
	TEST_CASE(index_of_the_failing_job_is_not_read),
	TEST_CASE(submit_as_first_published_is_accepted),
	TEST_CASE(an_empty_array_of_jobs_is_accepted),
	TEST_CASE(job_flags_are_refused),
	TEST_CASE(context_must_exist),
	TEST_CASE(context_of_another_file_is_refused),
	TEST_CASE(stream_must_be_aligned),
	TEST_CASE(too_many_jobs_are_refused),
	TEST_CASE(too_many_syncs_are_refused),
	TEST_CASE(too_small_strides_are_refused),
	TEST_CASE(first_published_job_is_still_accepted),
	TEST_CASE(job_padding_must_be_zero),
	TEST_CASE(perfmon_must_exist),
	TEST_CASE(jobs_may_grow_by_zeroes_only),
	TEST_CASE(syncs_may_grow_by_zeroes_only),
	TEST_CASE(arrays_must_be_readable),
	TEST_CASE(sync_flags_must_be_known),
	TEST_CASE(syncobj_must_exist),
	TEST_CASE(syncobj_of_another_file_is_refused),
	TEST_CASE(timeline_point_zero_is_refused),
	TEST_CASE(point_of_a_binary_syncobj_is_refused),
	TEST_CASE(wait_without_a_signaler_is_refused),
	TEST_CASE(waiting_for_ones_own_signal_is_refused),
	TEST_CASE(waiting_for_a_later_job_is_refused),
	TEST_CASE(index_of_refused_job_is_reported_and_no_job_is_submitted),
	TEST_CASE(refused_call_leaves_a_signaled_syncobj_as_it_was),
	TEST_CASE(refused_timeline_signal_adds_no_point),
};

TEST_MAIN(cases)
