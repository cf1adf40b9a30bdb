// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * The system sleeps, as far as its devices go (pm_test), while files are open and jobs are there.
 * Run-time power management is in tests/guest/t_power.c.
 */
#include <errno.h>

#include "igt_pumice.h"
#include "render.h"
#include "rig.h"
#include "sync.h"
#include "system.h"

IGT_TEST_DESCRIPTION("Sleep of the system while the GPU is used.");

#define PM_TEST		"/sys/power/pm_test"
#define PM_TEST_DELAY	"/sys/module/suspend/parameters/pm_test_delay"
#define JOBS		40u
#define WORDS		32u

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
	struct rig rig = rig_open();
	u32 round;

	for (round = 0; round < 3; round++) {
		rig_check_works(&rig);
		freeze();
	}
	rig_check_works(&rig);
	igt_assert_eq_u32(need_state(rig.fd, rig.context).state, 0);
}

/* What was written before is there after, on either side. */
static void freeze_keeps_memory(void)
{
	struct rig rig = rig_open();
	struct mem mem = need_mem(rig.fd, rig.vm, RIG_FREE, MIB);
	u32 i;

	for (i = 0; i < MIB / 4; i++)
		mem.cpu[i] = i * 7;
	igt_assert_eq(rig_run(&rig, rig_store_stream(&rig, RIG_FREE + MIB - 128, 5)), 1);
	freeze();
	rig_check_words(mem.cpu + MIB / 4 - WORDS, 5);
	for (i = 0; i < MIB / 4 - WORDS; i++)
		igt_assert_eq_u32(mem.cpu[i], i * 7);
	igt_assert_eq(rig_run(&rig, rig_copy_stream(&rig, rig.data.va, RIG_FREE + MIB - 128, 1)),
		      1);
	rig_check_words(rig.data.cpu, 6);
}

/* Jobs that are in flight or queued then all run, in order. */
static void freeze_with_jobs(void)
{
	struct rig rig = rig_open();
	u32 syncs[JOBS], i;

	for (i = 0; i < JOBS; i++) {
		rig.sync = syncs[i] = need_sync(rig.fd);
		rig_submit(&rig, rig_store_stream(&rig, rig_data(&rig, i * WORDS), 100 * i));
	}
	freeze();
	for (i = 0; i < JOBS; i++) {
		need_wait(rig.fd, syncs[i], 0);
		igt_assert_eq(sync_status(rig.fd, syncs[i], 0), 1);
		rig_check_words(rig.data.cpu + i * WORDS, 100 * i);
	}
}

/* All data masters. */
static void freeze_with_render(void)
{
	struct render r = render_open();
	u32 i;

	for (i = 0; i < 10; i++)
		render_submit(&r, i % 2, r.geometry, r.fragment);
	freeze();
	igt_assert_eq(rig_wait(&r.rig), 1);
	render_check_works(&r);
	rig_check_works(&r.rig);
}

static void freeze_with_a_fence(void)
{
	struct rig first = rig_open(), second = rig_open();
	u32 waits = need_sync(second.fd);
	const struct drm_pumice_sync syncs[] = { wait_for(waits, 0), then_signal(second.sync, 0) };
	struct drm_pumice_job job = {
		.context = second.context, .syncs = ARRAY_OF(syncs, 2),
	};
	int file;

	job.stream = rig_store_stream(&second, second.data.va, 3);
	rig_check_works(&first);
	file = need_sync_file(first.fd, first.sync);
	freeze();
	igt_assert_eq(sync_file_status(file), 1);
	igt_assert_eq(drmSyncobjImportSyncFile(second.fd, waits, file), 0);
	CHECK_OK(gpu_submit(second.fd, &job, 1, NULL));
	igt_assert_eq(rig_wait(&second), 1);
	rig_check_words(second.data.cpu, 3);
}

/* The system waits until the job has been stopped. */
static void freeze_with_a_job_that_hangs(void)
{
	struct rig rig = rig_open(), good = rig_open();

	rig_block(&rig);
	freeze();
	igt_assert_eq(rig_wait(&rig), -ETIMEDOUT);
	rig_check_works(&good);
}

int igt_main()
{
	igt_fixture() {
		igt_pumice_require(IGT_PUMICE_IMPATIENT);
		igt_require(write_file(PM_TEST, "devices") == 0);
		igt_install_exit_handler(restore_pm);
		CHECK_OK(write_file(PM_TEST_DELAY, "0"));
	}

	igt_pumice_subtest("freeze-idle", "a context goes on after each sleep", freeze_idle);
	igt_pumice_subtest("freeze-keeps-memory", "memory and mappings outlast a sleep",
			   freeze_keeps_memory);
	igt_pumice_subtest("freeze-with-jobs", "jobs that are there run, in order",
			   freeze_with_jobs);
	igt_pumice_subtest("freeze-with-render", "so do those of all data masters",
			   freeze_with_render);
	igt_pumice_subtest("freeze-with-a-fence", "fences outlast a sleep", freeze_with_a_fence);
	igt_pumice_subtest_logs("freeze-with-a-job-that-hangs",
				"the sleep waits for a job to be stopped",
				freeze_with_a_job_that_hangs, IGT_PUMICE_TIMED_OUT);
}
