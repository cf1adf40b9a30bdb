// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Threads of one process that submit, bind, fault and hang concurrently. Each has a context; other
 * shared objects differ by case.
 *
 * An assertion that fails in a thread may end only that thread: each notes its completion.
 */
#include <errno.h>
#include <pthread.h>

#include "igt_pumice.h"
#include "fixture.h"
#include "sync.h"

IGT_TEST_DESCRIPTION("Threads of one process that share a file, a VM or nothing.");

#define THREADS	6u
#define ROUNDS	25u
#define WORDS	32u

/* State of a thread. */
struct worker {
	struct fixture fx;
	u32 number;
	void (*round)(struct worker *worker, u32 round);
	bool done;
};

static u32 value_of(const struct worker *worker, u32 round)
{
	return 100000 * (worker->number + 1) + WORDS * round;
}

static void store(struct worker *worker, u32 round)
{
	struct fixture *fx = &worker->fx;
	u32 word = worker->number * WORDS, value = value_of(worker, round);

	igt_assert_eq(fx_run(fx, fx_store_stream(fx, fx_data(fx, word), value)), 1);
	fx_check_words(fx->data.cpu + word, value);
}

/* Map memory of the thread's own at an address of its own, new in each round. */
static void rebind(struct worker *worker, u32 round)
{
	struct fixture *fx = &worker->fx;
	u64 va = FX_FREE + worker->number * 4 * PAGE;
	struct mem mem = need_mem(fx->fd, fx->vm, va, PAGE);
	u32 value = value_of(worker, round);

	igt_assert_eq(fx_run(fx, fx_store_stream(fx, va, value)), 1);
	fx_check_words(mem.cpu, value);
	need_unmap(fx->fd, fx->vm, va, PAGE);
	igt_assert_eq(fx_run(fx, fx_store_stream(fx, va, 0)), -EIO);
	CHECK_OK(gpu_bo_close(fx->fd, mem.handle));
	store(worker, round);
}

/* Half of the threads fault. */
static void fault(struct worker *worker, u32 round)
{
	struct fixture *fx = &worker->fx;

	if (worker->number % 2)
		igt_assert_eq(fx_run(fx, fx_store_stream(fx, FX_FREE, round)), -EIO);
	store(worker, round);
}

/* One hangs occasionally. */
static void hang(struct worker *worker, u32 round)
{
	struct fixture *fx = &worker->fx;

	if (!worker->number && round % 12 == 3) {
		fx_hang(fx);
		igt_assert_eq(fx_wait(fx), -ETIMEDOUT);
		CHECK_OK(gpu_context_destroy(fx->fd, fx->context));
		fx->context = need_context(fx->fd, fx->vm);
	}
	store(worker, round);
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	u32 round;

	for (round = 0; round < ROUNDS; round++)
		worker->round(worker, round);
	worker->done = true;
	return NULL;
}

static void run(struct worker *workers, void (*round)(struct worker *worker, u32 round))
{
	pthread_t threads[THREADS];
	u32 i;

	for (i = 0; i < THREADS; i++) {
		workers[i].number = i;
		workers[i].round = round;
		workers[i].done = false;
		igt_assert_eq(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < THREADS; i++)
		igt_assert(workers[i].done);
}

static void on_files_of_their_own(void (*round)(struct worker *worker, u32 round))
{
	struct worker workers[THREADS];
	u32 i;

	for (i = 0; i < THREADS; i++)
		workers[i].fx = fx_open();
	run(workers, round);
}

static void on_one_file(void (*round)(struct worker *worker, u32 round))
{
	struct worker workers[THREADS];
	int fd = need_gpu();
	u32 i;

	for (i = 0; i < THREADS; i++)
		workers[i].fx = fx_on(fd);
	run(workers, round);
}

/* Code memory is divided, the rest is separated by address. */
static void in_one_vm(void (*round)(struct worker *worker, u32 round))
{
	struct worker workers[THREADS];
	struct fixture fx = fx_open();
	u32 i;

	for (i = 0; i < THREADS; i++) {
		workers[i].fx = fx;
		workers[i].fx.used = i * FX_CODE_BYTES / THREADS & ~15ull;
		workers[i].fx.sync = need_sync(fx.fd);
		workers[i].fx.context = need_context(fx.fd, fx.vm);
	}
	run(workers, round);
}

static void files_store(void)
{
	on_files_of_their_own(store);
}

static void file_rebind(void)
{
	on_one_file(rebind);
}

static void file_fault(void)
{
	on_one_file(fault);
}

static void file_hang(void)
{
	on_one_file(hang);
}

static void vm_store(void)
{
	in_one_vm(store);
}

static void vm_rebind(void)
{
	in_one_vm(rebind);
}

static void vm_hang(void)
{
	in_one_vm(hang);
}

int igt_main()
{
	igt_fixture()
		igt_pumice_require(IGT_PUMICE_IMPATIENT);

	igt_pumice_subtest("files-store", "threads with a file each", files_store);
	igt_pumice_subtest("file-rebind", "threads that bind, on one file", file_rebind);
	igt_pumice_subtest("file-fault", "threads that fault, on one file", file_fault);
	igt_pumice_subtest_logs("file-hang", "a thread that hangs, on one file", file_hang,
				IGT_PUMICE_TIMED_OUT);
	igt_pumice_subtest("vm-store", "threads in one VM", vm_store);
	igt_pumice_subtest("vm-rebind", "threads that bind, in one VM", vm_rebind);
	igt_pumice_subtest_logs("vm-hang", "a thread that hangs, in one VM", vm_hang,
				IGT_PUMICE_TIMED_OUT);
}
