// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Closed files, destroyed contexts, faults, hangs and resets concurrently with others' jobs.
 * pumice_hang.c tests guilt and fences; these tests check that the other jobs are not affected.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "igt_pumice.h"
#include "fixture.h"
#include "sync.h"
#include "system.h"

IGT_TEST_DESCRIPTION("Jobs of other files during closed files, faults, hangs and resets.");

#define WORDS	32u
#define HELPERS	3
#define RESETS	10u	/* under load */
#define MOST_RESETS 60u	/* maximum until jobs have ended in every way */

static void check_store(struct fixture *fx, u32 value)
{
	igt_assert_eq(fx_run(fx, fx_store_stream(fx, fx->data.va, value)), 1);
	fx_check_words(fx->data.cpu, value);
}

/* A file is closed while its jobs run and wait; another's continue. */
static void close_fd(void)
{
	struct fixture good = fx_open();
	u32 round, i;

	for (round = 0; round < 10; round++) {
		struct fixture closing = fx_open();

		fx_run_on(&closing);
		for (i = 0; i < 20; i++)
			fx_submit(&closing, fx_store_stream(&closing, closing.data.va, i));
		fx_close(&closing);
		check_store(&good, 100 * round);
	}
}

static void close_fd_without_jobs(void)
{
	struct fixture good = fx_open();
	u32 round;

	for (round = 0; round < 10; round++) {
		struct fixture closing = fx_open();

		need_context(closing.fd, closing.vm);
		fx_close(&closing);
		check_store(&good, 100 * round);
	}
}

static void contexts_destroyed_with_jobs(void)
{
	struct fixture good = fx_open(), fx = fx_on(good.fd);
	u64 stream = fx_loop_stream(&fx);
	u32 round, i;

	CHECK_OK(gpu_context_destroy(fx.fd, fx.context));
	for (round = 0; round < 50; round++) {
		fx.context = need_context(fx.fd, fx.vm);
		for (i = 0; i <= round % 4; i++)
			fx_submit(&fx, stream);
		CHECK_OK(gpu_context_destroy(fx.fd, fx.context));
		igt_assert_eq(fx_wait(&fx), -ECANCELED);
	}
	check_store(&good, 7);
}

/* Of many jobs in flight together, exactly those that fault report it. */
static void faults_among_good_jobs(void)
{
	enum { JOBS = 60 };
	struct fixture fx = fx_open();
	u32 syncs[JOBS], i;

	for (i = 0; i < JOBS; i++) {
		fx.sync = syncs[i] = need_sync(fx.fd);
		fx_submit(&fx, fx_store_stream(&fx, i % 3 == 1 ? FX_FREE :
					       fx_data(&fx, i * WORDS), 1000 * i));
	}
	for (i = 0; i < JOBS; i++) {
		need_wait(fx.fd, syncs[i], 0);
		igt_assert_eq(sync_status(fx.fd, syncs[i], 0), i % 3 == 1 ? -EIO : 1);
		if (i % 3 != 1)
			fx_check_words(fx.data.cpu + i * WORDS, 1000 * i);
	}
	igt_assert_eq_u64(need_state(fx.fd, fx.context).jobs_faulted, JOBS / 3);
}

static void faults_in_parallel(void)
{
	struct igt_helper_process helpers[HELPERS] = {};
	struct fixture fx;
	u32 i, k;

	for (i = 0; i < HELPERS; i++) {
		igt_pumice_fork_helper(&helpers[i]) {
			fx = fx_open();
			for (k = 0; k < 40; k++) {
				igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, FX_FREE, k)),
					      -EIO);
				check_store(&fx, 1000 * i + k);
			}
		}
	}
	for (i = 0; i < HELPERS; i++)
		igt_pumice_join(&helpers[i]);
}

/* Jobs of a context before the one that hangs succeed, those after it do not run. */
static void hang_between_good_jobs(void)
{
	enum { RIGS = 4, HANGS = 2 };
	int fd = need_gpu();
	struct fixture fixtures[RIGS];
	u32 first[RIGS], i;

	for (i = 0; i < RIGS; i++) {
		fixtures[i] = fx_on(fd);
		first[i] = fixtures[i].sync;
		fx_submit(&fixtures[i], fx_store_stream(&fixtures[i], fixtures[i].data.va, 10 * i));
	}
	for (i = 0; i < RIGS; i++) {
		need_wait(fd, first[i], 0);
		if (i == HANGS)
			fx_hang(&fixtures[i]);
		fixtures[i].sync = need_sync(fd);
		fx_submit(&fixtures[i], fx_store_stream(&fixtures[i], fx_data(&fixtures[i], WORDS),
							10 * i + 5));
	}
	for (i = 0; i < RIGS; i++) {
		igt_assert_eq(fx_wait(&fixtures[i]), i == HANGS ? -ECANCELED : 1);
		fx_check_words(fixtures[i].data.cpu, 10 * i);
		if (i == HANGS)
			igt_assert_eq_u32(fixtures[i].data.cpu[WORDS + 1], 0);
		else
			fx_check_words(fixtures[i].data.cpu + WORDS, 10 * i + 5);
	}
}

/* No job was running: none is lost, in any number of resets. */
static void reset_of_an_idle_gpu(void)
{
	struct fixture fx = fx_open();
	u32 round;

	for (round = 0; round < 5; round++) {
		check_store(&fx, 100 * round);
		need_flr();
	}
	check_store(&fx, 7);
	igt_assert_eq_u32(need_state(fx.fd, fx.context).state, 0);
}

/* Like fx_submit(), for a context that a reset may have stopped. */
static int try_submit(struct fixture *fx, u64 stream)
{
	const struct drm_pumice_sync syncs[] = { then_signal(fx->sync, 0) };
	const struct drm_pumice_job job = {
		.context = fx->context, .stream = stream, .syncs = ARRAY_OF(syncs, 1),
	};

	return gpu_submit(fx->fd, &job, 1, NULL);
}

/* Counts of all helpers; shared with them. */
struct ends {
	u32 begun, well, cancelled;	/* jobs; atomic */
};

/* Work-groups of a job that is long enough to be running at a reset, and all words it stores. */
#define LONG_GROUPS	2048u
#define LONG_SIZE	256u
#define LONG_BYTES	(LONG_GROUPS * LONG_SIZE * 4)

static u64 long_stream(struct fixture *fx, const struct mem *mem, u32 value)
{
	const struct shader shader = shader_store();

	return fx_stream(fx, &(struct launch){
		.shader = &shader, .groups = LONG_GROUPS, .size = LONG_SIZE,
		.params = { (u32)mem->va, (u32)(mem->va >> 32), value },
	});
}

static void check_long(const struct mem *mem, u32 value)
{
	u32 i;

	for (i = 0; i < LONG_BYTES / 4; i++)
		igt_assert_eq_u32(mem->cpu[i], value + i);
}

/* Wait until the last submitted job has begun to store, or has ended. */
static void wait_for_first_word(const struct fixture *fx, const struct mem *mem, u32 value)
{
	while (*(volatile const u32 *)mem->cpu != value && sync_is_pending(fx->fd, fx->sync, 0))
		usleep(100);
}

/*
 * A job that has begun at a reset is lost with its context; one that had not begun is resubmitted
 * to the new firmware. No job has a wrong result.
 */
static void store_until_closed(int stop, struct ends *ends)
{
	struct fixture fx = fx_open();
	struct mem mem = need_mem(fx.fd, fx.vm, FX_FREE, LONG_BYTES);
	u32 value = 1;
	char byte;
	int status;

	while (read(stop, &byte, 1) < 0) {
		value += WORDS;
		if (need_state(fx.fd, fx.context).state) {
			CHECK_OK(gpu_context_destroy(fx.fd, fx.context));
			fx.context = need_context(fx.fd, fx.vm);
		}
		fx.used = 0;
		if (try_submit(&fx, long_stream(&fx, &mem, value)))
			continue;
		wait_for_first_word(&fx, &mem, value);
		__atomic_add_fetch(&ends->begun, 1, __ATOMIC_RELAXED);
		status = fx_wait(&fx);
		if (status == 1)
			check_long(&mem, value);
		else
			igt_assert_eq(status, -ECANCELED);
		__atomic_add_fetch(status == 1 ? &ends->well : &ends->cancelled, 1,
				   __ATOMIC_RELAXED);
	}
}

static bool both_ended(const struct ends *ends)
{
	return __atomic_load_n(&ends->well, __ATOMIC_RELAXED) &&
	       __atomic_load_n(&ends->cancelled, __ATOMIC_RELAXED);
}

/*
 * Wait for the beginning of a helper's job: the job of check_store() ends after those of the
 * helpers, so that on a slow machine none would be running at the reset that follows it.
 */
static void wait_for_a_beginning(const struct ends *ends)
{
	const u32 before = __atomic_load_n(&ends->begun, __ATOMIC_RELAXED);
	u32 us;

	for (us = 0; __atomic_load_n(&ends->begun, __ATOMIC_RELAXED) == before; us += 100) {
		igt_assert_lt_u32(us, 1000 * IGT_PUMICE_PATIENT);
		usleep(100);
	}
}

/* Runs until jobs have ended in both ways. */
static void resets_under_load(void)
{
	struct igt_helper_process helpers[HELPERS] = {};
	struct fixture fx = fx_open();
	struct ends *ends;
	int stop[2];
	u32 i;

	ends = mmap(NULL, sizeof(*ends), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		    0);
	igt_assert(ends != MAP_FAILED);
	igt_assert_eq(pipe2(stop, O_NONBLOCK), 0);
	for (i = 0; i < HELPERS; i++) {
		igt_pumice_fork_helper(&helpers[i]) {
			close(stop[1]);
			store_until_closed(stop[0], ends);
		}
	}
	for (i = 0; i < RESETS || !both_ended(ends); i++) {
		igt_assert_lt_u32(i, MOST_RESETS);
		fx.context = need_context(fx.fd, fx.vm);
		check_store(&fx, 1000 * i);
		wait_for_a_beginning(ends);
		need_flr();
	}
	close(stop[1]);
	for (i = 0; i < HELPERS; i++)
		igt_pumice_join(&helpers[i]);
}

int igt_main()
{
	igt_fixture()
		igt_pumice_require(IGT_PUMICE_IMPATIENT);

	igt_pumice_subtest("close-fd", "closing files with jobs does not affect other files",
			   close_fd);
	igt_pumice_subtest("close-fd-without-jobs",
			   "closing files without jobs does not affect other files",
			   close_fd_without_jobs);
	igt_pumice_subtest("contexts-destroyed-with-jobs",
			   "contexts can be destroyed with any number of jobs",
			   contexts_destroyed_with_jobs);
	igt_pumice_subtest("faults-among-good-jobs", "only the jobs that fault report a fault",
			   faults_among_good_jobs);
	igt_pumice_subtest("faults-in-parallel",
			   "processes that fault receive correct results, too", faults_in_parallel);
	igt_pumice_subtest_logs("hang-between-good-jobs",
				"a job that hangs stops its own context only", hang_between_good_jobs,
				IGT_PUMICE_TIMED_OUT);
	igt_pumice_subtest_logs("reset-of-an-idle-gpu", "an idle context survives resets",
				reset_of_an_idle_gpu, IGT_PUMICE_RESET);
	igt_pumice_subtest_logs("resets-under-load",
				"jobs that are running at a reset are canceled", resets_under_load,
				IGT_PUMICE_RESET "|" IGT_PUMICE_TIMED_OUT);
}
