// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Jobs that do not end: their context is stopped, all others continue. */
#include <errno.h>
#include <poll.h>

#include "igt_pumice.h"
#include "pumice_regs.h"
#include "fixture.h"
#include "sync.h"
#include "system.h"

IGT_TEST_DESCRIPTION("Jobs that exceed the time-out, and the contexts that this affects.");

static void check_guilty(struct fixture *fx)
{
	struct drm_pumice_context_get_state state;

	igt_assert_eq(fx_wait(fx), -ETIMEDOUT);
	state = need_state(fx->fd, fx->context);
	igt_assert_eq_u32(state.state, DRM_PUMICE_CONTEXT_GUILTY);
	igt_assert_eq_u32(state.fault, PUMICE_FAULT_KILLED);
}

static void endless_loop(void)
{
	struct fixture fx = fx_open();

	fx_block(&fx);
	check_guilty(&fx);
}

static void endless_grid(void)
{
	struct fixture fx = fx_open();
	const struct shader shader = shader_end();
	const struct launch launch = { .shader = &shader, .groups = UINT32_MAX, .size = 1 };

	fx_submit(&fx, fx_stream(&fx, &launch));
	check_guilty(&fx);
}

/* In every slot of every USC. */
static void endless_everywhere(void)
{
	struct fixture fx = fx_open();
	const struct shader shader = shader_loop();
	struct mem mem = need_mem(fx.fd, fx.vm, FX_FREE, MIB);
	const struct launch launch = {
		.shader = &shader, .params = { (u32)mem.va, (u32)(mem.va >> 32), 1 },
		.groups = 200, .size = 1024,
	};

	fx_submit(&fx, fx_stream(&fx, &launch));
	check_guilty(&fx);
	fx.context = need_context(fx.fd, fx.vm);
	fx_check_works(&fx);
}

static void guilty_refuses_jobs(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_job job = { .context = fx.context, .stream = fx_empty_stream(&fx) };
	u32 failed = 99;

	fx_block(&fx);
	check_guilty(&fx);
	igt_assert_eq(gpu_submit(fx.fd, &job, 1, &failed), -EIO);
	igt_assert_eq_u32(failed, 0);
}

static void new_context_works(void)
{
	struct fixture fx = fx_open();

	fx_block(&fx);
	check_guilty(&fx);
	fx.context = need_context(fx.fd, fx.vm);
	fx_check_works(&fx);
}

static void queued_jobs_canceled(void)
{
	struct fixture fx = fx_open();
	u32 queued[5], hanging = fx.sync, i;

	fx_block(&fx);
	for (i = 0; i < 5; i++) {
		fx.sync = queued[i] = need_sync(fx.fd);
		fx_submit(&fx, fx_store_stream(&fx, fx.data.va, 9));
	}
	for (i = 0; i < 5; i++) {
		need_wait(fx.fd, queued[i], 0);
		igt_assert_eq(sync_status(fx.fd, queued[i], 0), -ECANCELED);
	}
	igt_assert_eq(sync_status(fx.fd, hanging, 0), -ETIMEDOUT);
	igt_assert_eq_u32(fx.data.cpu[0], 0);
}

static void other_contexts_continue(void)
{
	int fd = need_gpu();
	struct fixture hanging = fx_on(fd), others[4];
	u32 i;

	for (i = 0; i < 4; i++)
		others[i] = fx_on(fd);
	fx_block(&hanging);
	for (i = 0; i < 4; i++)
		fx_submit(&others[i], fx_store_stream(&others[i], others[i].data.va, 10 * i));
	for (i = 0; i < 4; i++) {
		igt_assert_eq(fx_wait(&others[i]), 1);
		fx_check_words(others[i].data.cpu, 10 * i);
		igt_assert_eq_u32(need_state(fd, others[i].context).state, 0);
		fx_check_works(&others[i]);
	}
	check_guilty(&hanging);
}

static void dependent_runs_after(void)
{
	int fd = need_gpu();
	struct fixture hanging = fx_on(fd), waiter = fx_on(fd);
	struct drm_pumice_sync syncs[] = { wait_for(hanging.sync, 0), then_signal(waiter.sync, 0) };
	struct drm_pumice_job job = {
		.context = waiter.context, .stream = fx_store_stream(&waiter, waiter.data.va, 3),
		.syncs = ARRAY_OF(syncs, 2),
	};

	fx_block(&hanging);
	CHECK_OK(gpu_submit(fd, &job, 1, NULL));
	igt_assert_eq(fx_wait(&waiter), 1);
	fx_check_words(waiter.data.cpu, 3);
	igt_assert_eq_u32(need_state(fd, waiter.context).state, 0);
}

static void sync_file_has_error(void)
{
	struct fixture fx = fx_open();
	struct pollfd poll_fd = { .events = POLLIN };

	fx_block(&fx);
	poll_fd.fd = need_sync_file(fx.fd, fx.sync);
	igt_assert_eq(poll(&poll_fd, 1, WAIT_SECONDS * 1000), 1);
	igt_assert_eq(sync_file_status(poll_fd.fd), -ETIMEDOUT);
}

static void no_reset_of_the_gpu(void)
{
	struct fixture fx = fx_open();
	int resets = need_counts().resets;

	fx_block(&fx);
	check_guilty(&fx);
	igt_assert_eq(need_counts().resets, resets);
}

static void many_hang(void)
{
	int fd = need_gpu();
	struct fixture fixtures[4], good = fx_on(fd);
	u32 i;

	for (i = 0; i < 4; i++) {
		fixtures[i] = fx_on(fd);
		fx_hang(&fixtures[i]);
	}
	for (i = 0; i < 4; i++)
		check_guilty(&fixtures[i]);
	fx_check_works(&good);
}

static void check_resets(int fd, u64 resets, u64 guilty, u64 innocent)
{
	struct drm_pumice_file_get_resets got;

	CHECK_OK(gpu_resets(fd, &got));
	igt_assert_eq_u32(got.state, 0);
	igt_assert_eq_u64(got.resets, resets);
	igt_assert_eq_u64(got.guilty, guilty);
	igt_assert_eq_u64(got.innocent, innocent);
}

/* Two hang in one file, one is lost by a reset in another; a third is not affected. */
static void resets_by_file(void)
{
	struct fixture hanging = fx_open(), lost = fx_open();
	int idle = need_gpu();

	fx_block(&hanging);
	check_guilty(&hanging);
	hanging.context = need_context(hanging.fd, hanging.vm);
	fx_block(&hanging);
	check_guilty(&hanging);
	CHECK_OK(gpu_context_destroy(hanging.fd, hanging.context));
	check_resets(hanging.fd, 0, 2, 0);
	check_resets(lost.fd, 0, 0, 0);
	CHECK_OK(set_module_parameter("job_timeout_ms", IGT_PUMICE_PATIENT));
	lost.context = need_context(lost.fd, lost.vm);
	CHECK_OK(set_module_parameter("job_timeout_ms", IGT_PUMICE_IMPATIENT));
	fx_block(&lost);
	need_flr();
	igt_assert_eq(fx_wait(&lost), -ECANCELED);
	check_resets(hanging.fd, 1, 2, 0);
	check_resets(lost.fd, 1, 0, 1);
	check_resets(idle, 1, 0, 0);
	check_resets(need_gpu(), 0, 0, 0);
}

static void resets_bad_arguments(void)
{
	static const struct drm_pumice_file_get_resets bad[] = {
		{ .flags = 1 }, { .flags = 1u << 31 },
	};
	struct drm_pumice_file_get_resets again = { .state = UINT32_MAX, .resets = 7 };
	int fd = need_gpu();
	u32 i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct drm_pumice_file_get_resets args = bad[i];

		do_ioctl_err(fd, DRM_IOCTL_PUMICE_FILE_GET_RESETS, &args, EINVAL);
		igt_assert_eq_u32(args.flags, bad[i].flags);
	}
	do_ioctl_err(fd, DRM_IOCTL_PUMICE_FILE_GET_RESETS, NULL, EFAULT);
	/* Output fields may have any value. */
	CHECK_OK(gpu_ioctl(fd, DRM_IOCTL_PUMICE_FILE_GET_RESETS, &again));
	igt_assert_eq_u32(again.state, 0);
	igt_assert_eq_u64(again.resets, 0);
	check_resets(fd, 0, 0, 0);
}

int igt_main()
{
	igt_fixture()
		igt_pumice_require(IGT_PUMICE_IMPATIENT);

	igt_pumice_subtest_logs("endless-loop",
				"a job that loops is stopped, and its context becomes guilty",
				endless_loop, IGT_PUMICE_TIMED_OUT);
	igt_pumice_subtest_logs("endless-grid",
				"a job with an endless number of work-groups is stopped",
				endless_grid, IGT_PUMICE_TIMED_OUT);
	igt_pumice_subtest_logs("endless-everywhere",
				"a job that fills the GPU and never ends is stopped",
				endless_everywhere, IGT_PUMICE_TIMED_OUT);
	igt_pumice_subtest_logs("guilty-refuses-jobs", "a guilty context refuses jobs",
				guilty_refuses_jobs, IGT_PUMICE_TIMED_OUT);
	igt_pumice_subtest_logs("new-context-works", "a new context of the same VM works",
				new_context_works, IGT_PUMICE_TIMED_OUT);
	igt_pumice_subtest_logs("queued-jobs-canceled",
				"jobs queued after the one that hangs do not run",
				queued_jobs_canceled, IGT_PUMICE_TIMED_OUT);
	igt_pumice_subtest_logs("other-contexts-continue",
				"jobs of other contexts complete with correct results",
				other_contexts_continue, IGT_PUMICE_TIMED_OUT);
	igt_pumice_subtest_logs("dependent-runs-after",
				"a job that waits for one that hangs runs after it",
				dependent_runs_after, IGT_PUMICE_TIMED_OUT);
	igt_pumice_subtest_logs("sync-file-has-error", "a sync file carries the time-out",
				sync_file_has_error, IGT_PUMICE_TIMED_OUT);
	igt_pumice_subtest_logs("no-reset-of-the-gpu", "stopping a job requires no reset",
				no_reset_of_the_gpu, IGT_PUMICE_TIMED_OUT);
	igt_pumice_subtest_logs("resets-by-file",
				"a file reads the resets and states of its own contexts",
				resets_by_file, IGT_PUMICE_TIMED_OUT);
	igt_pumice_subtest("resets-bad-arguments",
			   "unknown flags are refused, and output fields are not read",
			   resets_bad_arguments);
	igt_pumice_subtest_logs("many-hang", "several jobs that hang are stopped one by one",
				many_hang, IGT_PUMICE_TIMED_OUT);
}
