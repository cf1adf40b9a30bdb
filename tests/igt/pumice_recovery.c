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
#define RESETS	6u	/* under load */

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
	enum { FIXTURES = 4, HANGS = 2 };
	int fd = need_gpu();
	struct fixture fixtures[FIXTURES];
	u32 first[FIXTURES], i;

	for (i = 0; i < FIXTURES; i++) {
		fixtures[i] = fx_on(fd);
		first[i] = fixtures[i].sync;
		fx_submit(&fixtures[i], fx_store_stream(&fixtures[i], fixtures[i].data.va, 10 * i));
	}
	for (i = 0; i < FIXTURES; i++) {
		need_wait(fd, first[i], 0);
		if (i == HANGS)
			fx_hang(&fixtures[i]);
		fixtures[i].sync = need_sync(fd);
		fx_submit(&fixtures[i], fx_store_stream(&fixtures[i], fx_data(&fixtures[i], WORDS),
							10 * i + 5));
	}
	for (i = 0; i < FIXTURES; i++) {
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

/* Jobs of all helpers; shared with them. */
struct counts_of_jobs {
	u32 begun, done;	/* atomic */
};

/* Work-groups of a job of a helper, which takes longer than the others, and all words it stores. */
#define LONG_GROUPS	512u
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

static u64 deadline(void)
{
	return now_ns() + WAIT_SECONDS * 1000000000ull;
}

/* Wait until the last submitted job has begun to store, or has ended. */
static void wait_for_first_word(const struct fixture *fx, const struct mem *mem, u32 value)
{
	const u64 end = deadline();

	while (*(volatile const u32 *)mem->cpu != value && sync_is_pending(fx->fd, fx->sync, 0)) {
		igt_assert_f(now_ns() < end, "a job neither begins nor ends\n");
		usleep(100);
	}
}

/* The context of a job that was lost in a reset caused nothing. */
static void check_lost(struct fixture *fx)
{
	igt_assert_eq(fx_wait(fx), -ECANCELED);
	igt_assert_eq_u32(need_state(fx->fd, fx->context).state, DRM_PUMICE_CONTEXT_INNOCENT);
}

/* Jobs have the correct result, or are lost with their context in a reset. */
static void store_until_closed(int stop, struct counts_of_jobs *jobs)
{
	struct fixture fx = fx_open();
	struct mem mem = need_mem(fx.fd, fx.vm, FX_FREE, LONG_BYTES);
	u32 value = 1;
	char byte;

	while (read(stop, &byte, 1) < 0) {
		value += WORDS;
		fx.used = 0;
		fx_submit(&fx, long_stream(&fx, &mem, value));
		wait_for_first_word(&fx, &mem, value);
		__atomic_add_fetch(&jobs->begun, 1, __ATOMIC_RELAXED);
		if (fx_wait(&fx) == 1) {
			check_long(&mem, value);
			igt_assert_eq_u32(need_state(fx.fd, fx.context).state, 0);
			__atomic_add_fetch(&jobs->done, 1, __ATOMIC_RELAXED);
		} else {
			check_lost(&fx);
			CHECK_OK(gpu_context_destroy(fx.fd, fx.context));
			fx.context = need_context(fx.fd, fx.vm);
		}
	}
}

static void wait_for_one_more(const u32 *jobs)
{
	const u32 before = __atomic_load_n(jobs, __ATOMIC_RELAXED);
	const u64 end = deadline();

	while (__atomic_load_n(jobs, __ATOMIC_RELAXED) == before) {
		igt_assert_f(now_ns() < end, "the helpers make no progress\n");
		usleep(100);
	}
}

/*
 * Reset the GPU while it runs a job of @running, and while one of @waiting waits for that: the
 * first is lost with its context; the second, which has not begun, runs after the reset, once.
 */
static void reset_with_jobs(struct fixture *running, struct fixture *waiting, u32 round)
{
	const struct drm_pumice_sync syncs[] = {
		wait_for(running->sync, 0), then_signal(waiting->sync, 0),
	};
	const struct drm_pumice_job job = {
		.context = waiting->context, .syncs = ARRAY_OF(syncs, 2),
		.stream = fx_copy_stream(waiting, waiting->data.va, waiting->data.va, 1),
	};

	running->context = need_context(running->fd, running->vm);
	fx_run_on(running);
	CHECK_OK(gpu_submit(waiting->fd, &job, 1, NULL));
	fx_check_held(waiting->fd, waiting->sync, 0);
	fx_check_words(waiting->data.cpu, round);
	need_flr();
	check_lost(running);
	CHECK_OK(gpu_context_destroy(running->fd, running->context));
	igt_assert_eq(fx_wait(waiting), 1);
	fx_check_words(waiting->data.cpu, round + 1);
	igt_assert_eq_u32(need_state(waiting->fd, waiting->context).state, 0);
}

/* In each round, a job of a helper has ended since the last reset, and another has begun. */
static void reset_repeatedly(const struct counts_of_jobs *jobs)
{
	struct fixture running = fx_open(), waiting = fx_on(running.fd);
	u32 round;

	for (round = 0; round < WORDS; round++)
		waiting.data.cpu[round] = round;
	for (round = 0; round < RESETS; round++) {
		wait_for_one_more(&jobs->done);
		wait_for_one_more(&jobs->begun);
		reset_with_jobs(&running, &waiting, round);
	}
}

static void resets_under_load(void)
{
	struct igt_helper_process helpers[HELPERS] = {};
	struct counts_of_jobs *jobs;
	int stop[2];
	u32 i;

	/* No job hangs, however slow the machine is. */
	CHECK_OK(set_module_parameter("job_timeout_ms", IGT_PUMICE_PATIENT));
	jobs = mmap(NULL, sizeof(*jobs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		    0);
	igt_assert(jobs != MAP_FAILED);
	igt_assert_eq(pipe2(stop, O_NONBLOCK), 0);
	for (i = 0; i < HELPERS; i++) {
		igt_pumice_fork_helper(&helpers[i]) {
			close(stop[1]);
			store_until_closed(stop[0], jobs);
		}
	}
	reset_repeatedly(jobs);
	close(stop[1]);
	for (i = 0; i < HELPERS; i++)
		igt_pumice_join(&helpers[i]);
	CHECK_OK(set_module_parameter("job_timeout_ms", IGT_PUMICE_IMPATIENT));
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
				"a job that hangs stops its own context only",
				hang_between_good_jobs, IGT_PUMICE_TIMED_OUT);
	igt_pumice_subtest("reset-of-an-idle-gpu", "an idle context survives resets",
			   reset_of_an_idle_gpu);
	igt_pumice_subtest("resets-under-load",
			   "jobs that run at a reset are lost, those that wait for them are not",
			   resets_under_load);
}
