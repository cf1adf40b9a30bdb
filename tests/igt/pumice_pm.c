// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * System sleep, at the device level (pm_test), with open files and jobs.
 * Run-time power management is in tests/guest/t_power.c.
 */
#include <errno.h>

#include "igt_pumice.h"
#include "render.h"
#include "fixture.h"
#include "sync.h"
#include "system.h"

IGT_TEST_DESCRIPTION("Sleep of the system while the GPU is used.");

#define PM_TEST		"/sys/power/pm_test"
#define PM_TEST_DELAY	"/sys/module/suspend/parameters/pm_test_delay"
#define JOBS		40u
#define WORDS		32u
/* Duration of a job in flight when the system suspends, calibrated by a shorter one. */
#define LONG_MS		800u
#define SHORT_GROUPS	512u
#define GROUP_SIZE	256u


static void restore_pm(int signal)
{
	(void)signal;
	write_file(PM_TEST, "none");
	write_file(PM_TEST_DELAY, "5");
}

static void freeze(void)
{
	CHECK_OK(write_file("/sys/power/state", "freeze"));
}

static void freeze_idle(void)
{
	struct fixture fx = fx_open();
	u32 round;

	for (round = 0; round < 3; round++) {
		fx_check_works(&fx);
		freeze();
	}
	fx_check_works(&fx);
	igt_assert_eq_u32(need_state(fx.fd, fx.context).state, 0);
}

/* Data written before is preserved, on either side. */
static void freeze_keeps_memory(void)
{
	struct fixture fx = fx_open();
	struct mem mem = need_mem(fx.fd, fx.vm, FX_FREE, MIB);
	u32 i;

	for (i = 0; i < MIB / 4; i++)
		mem.cpu[i] = i * 7;
	igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, FX_FREE + MIB - 128, 5)), 1);
	freeze();
	fx_check_words(mem.cpu + MIB / 4 - WORDS, 5);
	for (i = 0; i < MIB / 4 - WORDS; i++)
		igt_assert_eq_u32(mem.cpu[i], i * 7);
	igt_assert_eq(fx_run(&fx, fx_copy_stream(&fx, fx.data.va, FX_FREE + MIB - 128, 1)),
		      1);
	fx_check_words(fx.data.cpu, 6);
}

/* Set the time limit of new contexts' jobs, and so of the suspend's wait for them. */
static void use_limit(long ms)
{
	CHECK_OK(set_module_parameter("job_timeout_ms", ms));
}

static u64 grid_stream(struct fixture *fx, u32 groups)
{
	const struct shader shader = shader_store_one();

	return fx_stream(fx, &(struct launch){
		.shader = &shader, .groups = groups, .size = GROUP_SIZE,
		.params = { (u32)fx->data.va, (u32)(fx->data.va >> 32), 1 },
	});
}

/* Start a job of about LONG_MS. Suspend waits for it for at most twice the limit of a job. */
static void start_long(struct fixture *fx)
{
	struct drm_pumice_job_get_result result;
	u64 groups;

	igt_assert_eq(fx_run(fx, grid_stream(fx, SHORT_GROUPS)), 1);
	CHECK_OK(gpu_job_result(fx->fd, fx->context, 0, &result));
	groups = (u64)LONG_MS * need_info(fx->fd).clock_hz / 1000 * SHORT_GROUPS /
		 result.run_ticks;
	fx_submit(fx, grid_stream(fx, (u32)groups));
}

/*
 * Suspend while a job is in flight, whose fence has not signaled. The system suspends when the
 * job has ended, and not before: it cannot complete in the remaining time after the sleep.
 */
static void freeze_in_flight(struct fixture *busy)
{
	const u64 start = now_ns();

	igt_assert(sync_is_pending(busy->fd, busy->sync, 0));
	freeze();
	igt_assert(!sync_is_pending(busy->fd, busy->sync, 0));
	igt_assert_lt_u64(start, sync_signaled_at(busy->fd, busy->sync));
}

/* Jobs in flight complete, queued ones run after the sleep; all of them in order. */
static void freeze_with_jobs(void)
{
	struct fixture fx, busy;
	u32 syncs[JOBS], i;

	use_limit(IGT_PUMICE_PATIENT);
	fx = fx_open();
	busy = fx_on(fx.fd);
	start_long(&busy);
	for (i = 0; i < JOBS; i++) {
		fx.sync = syncs[i] = need_sync(fx.fd);
		fx_submit(&fx, fx_store_stream(&fx, fx_data(&fx, i * WORDS), 100 * i));
	}
	freeze_in_flight(&busy);
	igt_assert_eq(fx_wait(&busy), 1);
	for (i = 0; i < JOBS; i++) {
		need_wait(fx.fd, syncs[i], 0);
		igt_assert_eq(sync_status(fx.fd, syncs[i], 0), 1);
		fx_check_words(fx.data.cpu + i * WORDS, 100 * i);
	}
}

/* All data masters. */
static void freeze_with_render(void)
{
	struct render r;
	struct fixture busy;
	u32 i;

	use_limit(IGT_PUMICE_PATIENT);
	r = render_open();
	busy = fx_on(r.fx.fd);
	start_long(&busy);
	for (i = 0; i < 10; i++)
		render_submit(&r, i % 2, r.geometry, r.fragment);
	freeze_in_flight(&busy);
	igt_assert_eq(fx_wait(&busy), 1);
	igt_assert_eq(fx_wait(&r.fx), 1);
	render_check_works(&r);
	fx_check_works(&r.fx);
}

/* A job that waits for a sync file; it signals its fixture's sync, and stores from @value on. */
static void submit_after(struct fixture *fx, int file, u32 value)
{
	u32 waits = need_sync(fx->fd);
	const struct drm_pumice_sync syncs[] = { wait_for(waits, 0), then_signal(fx->sync, 0) };
	const struct drm_pumice_job job = {
		.context = fx->context, .syncs = ARRAY_OF(syncs, 2),
		.stream = fx_store_stream(fx, fx->data.va, value),
	};

	igt_assert_eq(drmSyncobjImportSyncFile(fx->fd, waits, file), 0);
	CHECK_OK(gpu_submit(fx->fd, &job, 1, NULL));
}

/* A fence that is pending during suspend; jobs wait for it before and after. */
static void freeze_with_a_fence(void)
{
	struct fixture busy, before, after;
	int file;

	use_limit(IGT_PUMICE_PATIENT);
	busy = fx_open();
	before = fx_open();
	after = fx_open();
	start_long(&busy);
	file = need_sync_file(busy.fd, busy.sync);
	submit_after(&before, file, 3);
	igt_assert_eq(sync_file_status(file), 0);
	freeze_in_flight(&busy);
	igt_assert_eq(sync_file_status(file), 1);
	submit_after(&after, file, 4);
	igt_assert_eq(fx_wait(&before), 1);
	fx_check_words(before.data.cpu, 3);
	igt_assert_eq(fx_wait(&after), 1);
	fx_check_words(after.data.cpu, 4);
}

/* Suspend waits until the job has been stopped. */
static void freeze_with_a_job_that_hangs(void)
{
	struct fixture fx, good;

	use_limit(IGT_PUMICE_IMPATIENT);
	fx = fx_open();
	good = fx_open();
	fx_block(&fx);
	freeze_in_flight(&fx);
	igt_assert_eq(fx_wait(&fx), -ETIMEDOUT);
	fx_check_works(&good);
}

int igt_main()
{
	igt_fixture() {
		igt_pumice_require(IGT_PUMICE_IMPATIENT);
		igt_require(write_file(PM_TEST, "devices") == 0);
		igt_install_exit_handler(restore_pm);
		CHECK_OK(write_file(PM_TEST_DELAY, "0"));
	}

	igt_pumice_subtest("freeze-idle", "a context continues after each sleep", freeze_idle);
	igt_pumice_subtest("freeze-keeps-memory", "memory and mappings survive a sleep",
			   freeze_keeps_memory);
	igt_pumice_subtest("freeze-with-jobs", "queued jobs run, in order",
			   freeze_with_jobs);
	igt_pumice_subtest("freeze-with-render", "queued jobs of all data masters run",
			   freeze_with_render);
	igt_pumice_subtest("freeze-with-a-fence", "fences survive a sleep", freeze_with_a_fence);
	igt_pumice_subtest_logs("freeze-with-a-job-that-hangs",
				"the sleep waits for a job to be stopped",
				freeze_with_a_job_that_hangs, IGT_PUMICE_TIMED_OUT);
}
