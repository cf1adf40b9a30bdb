// SPDX-License-Identifier: MIT
/*
 * Kernel memory that a process makes the driver allocate: it is charged to the
 * process's own limit, queues are bounded, and killing the process ends the
 * call that allocates.
 *
 * A child in a memory cgroup of its own reaches the limit, while its parent, outside
 * of the cgroup, uses the GPU.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup.h"
#include "harness.h"
#include "fixture.h"
#include "system.h"

#define LIMIT		(24 * MIB)	/* bytes that the child may use */
#define JOB_BYTES	600u		/* minimum for a job and its fence: 640 on 6.12 */
#define BLOCK		(2 * MIB)	/* what one page table maps */
#define BLOCKS		16384u		/* their tables are more than twice the limit */
#define BATCH		64u		/* operations per call */
#define HELD_MS		600000		/* time-out of the job that queues wait for */
#define OUT_OF_MEMORY	10		/* exit status of a child that reached its limit */

#define FIRST_VA	(FX_FREE + 64 * GIB)
#define LAST_VA		(FX_FREE + 65 * GIB)
#define BIG_VA		(FX_FREE + 66 * GIB)
#define BIG		(128 * MIB)
#define NULL_BYTES	DRM_PUMICE_MAX_BO_SIZE	/* size of a NULL mapping */
#define NULL_MAPS	((u32)(DRM_PUMICE_MAX_QUEUED_TABLES / (NULL_BYTES / BLOCK)) - 1)
#define MANY_TABLES	16u

static struct cgroup limited_cgroup(void)
{
	struct cgroup cgroup = need_cgroup("greedy");

	cgroup_limit(&cgroup, LIMIT);
	return cgroup;
}

/* Start a child in the cgroup; it exits with OUT_OF_MEMORY if it runs out of memory. */
static pid_t start_limited(void (*run)(void), const struct cgroup *cgroup)
{
	pid_t child = fork();

	CHECK(child >= 0);
	if (child)
		return child;
	cgroup_enter(cgroup);
	run();
	_exit(0);
}

static void end_if_out_of_memory(int err)
{
	if (err == -ENOMEM)
		_exit(OUT_OF_MEMORY);
	CHECK_OK(err);
}

/* Check that it reached its limit: one of its calls failed, or the kernel killed it. */
static void check_stopped(pid_t child)
{
	int status;

	CHECK_EQUAL(waitpid(child, &status, 0), child);
	if (WIFSIGNALED(status))
		CHECK_EQUAL(WTERMSIG(status), SIGKILL);
	else
		CHECK_EQUAL(WEXITSTATUS(status), OUT_OF_MEMORY);
	test_note("the child %s", WIFSIGNALED(status) ? "was killed" : "got ENOMEM");
}

static bool has_ended(pid_t child)
{
	siginfo_t info = { 0 };

	CHECK_OK(waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) ? -errno : 0);
	return info.si_pid == child;
}

/* Map a page of one BO into each of many blocks, which needs a table for each. */
static void make_tables(void)
{
	struct drm_pumice_bind_op ops[BATCH];
	int fd = need_gpu();
	u32 vm = need_vm(fd), bo = need_bo(fd, PAGE), i, j;

	for (i = 0; i < BLOCKS; i += BATCH) {
		for (j = 0; j < BATCH; j++)
			ops[j] = bind_map(bo, 0, FX_FREE + (i + j) * BLOCK, PAGE, 0);
		end_if_out_of_memory(gpu_bind(fd, vm, ops, BATCH, NULL));
	}
}

/* Like make_tables(), with a BO for each block. */
static void make_small_bos(void)
{
	int fd = need_gpu();
	u32 vm = need_vm(fd), bo, i;

	for (i = 0; i < BLOCKS; i++) {
		struct drm_pumice_bind_op op;

		end_if_out_of_memory(gpu_bo_create(fd, PAGE, 0, &bo));
		op = bind_map(bo, 0, FX_FREE + i * BLOCK, PAGE, 0);
		end_if_out_of_memory(gpu_bind(fd, vm, &op, 1, NULL));
	}
}

/* The child is stopped, and its parent is not affected. */
static void run_in_parallel(void (*greedy)(void))
{
	struct fixture fx = fx_open();
	u64 stream = fx_store_stream(&fx, FX_FREE, 1);
	struct cgroup cgroup = limited_cgroup();
	pid_t child;

	child = start_limited(greedy, &cgroup);
	while (!has_ended(child)) {
		need_map(fx.fd, fx.vm, fx.data.handle, 0, FX_FREE, PAGE, 0);
		CHECK_EQUAL(fx_run(&fx, stream), 1);
		need_unmap(fx.fd, fx.vm, FX_FREE, PAGE);
	}
	check_stopped(child);
	fx_check_works(&fx);
	/* The parent's own objects; its syncobj has a fence. */
	need_left((struct counts){ .bos = 2, .vms = 1, .contexts = 1, .fences = 1 });
	cgroup_remove(&cgroup);
}

static void page_tables_count_against_the_callers_limit(void)
{
	run_in_parallel(make_tables);
}

static void small_bos_count_against_the_callers_limit(void)
{
	run_in_parallel(make_small_bos);
}

/** struct held - a VM whose asynchronous binds wait */
struct held {
	struct fixture fx;
	struct fixture blocker;	/* its job blocks them, on the same file */
};

static struct held held_open(void)
{
	struct held held = { .fx = fx_open() };
	long usual = module_parameter("job_timeout_ms");

	/* Its job must last as long as filling queues may take. */
	CHECK_OK(set_module_parameter("job_timeout_ms", HELD_MS));
	held.blocker = fx_on(held.fx.fd);
	CHECK_OK(set_module_parameter("job_timeout_ms", usual));
	fx_block(&held.blocker);
	return held;
}

static int queue_binds(struct held *held, const struct drm_pumice_bind_op *ops, u32 count)
{
	struct drm_pumice_sync wait = wait_for(held->blocker.sync, 0);

	return gpu_bind_async(held->fx.fd, held->fx.vm, ops, count, &wait, 1);
}

/* Belongs to the process whose child queues binds: the file and the BO's pages are its own. */
static struct held queue;
static u32 queue_bo;

/*
 * Queue page tables for waiting binds. Each operation needs enough of them that an allocation
 * of tables is the one that fails, when everything else of the operation has been prepared.
 */
static void queue_tables(void)
{
	const struct drm_pumice_bind_op op = bind_map(queue_bo, 0, FX_FREE, BIG, 0);
	u32 i;

	for (i = 0; i < BLOCKS; i++)
		end_if_out_of_memory(queue_binds(&queue, &op, 1));
}

static void run_queue(void)
{
	struct cgroup cgroup = limited_cgroup();

	queue = held_open();
	queue_bo = need_bo(queue.fx.fd, BIG);
	need_map(queue.fx.fd, queue.blocker.vm, queue_bo, 0, FX_FREE, BIG, 0);
	check_stopped(start_limited(queue_tables, &cgroup));
	cgroup_remove(&cgroup);
}

static void queued_binds_count_against_the_callers_limit(void)
{
	pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (!child) {
		run_queue();
		_exit(0);
	}
	CHECK_EQUAL(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	/* Includes the objects of the failed call. */
	need_nothing_left();
	need_module_unused();
}

static void release_binds(struct held *held)
{
	struct drm_pumice_sync done = then_signal(need_sync(held->fx.fd), 0);

	CHECK_OK(gpu_context_destroy(held->fx.fd, held->blocker.context));
	/* There is no space for a call that signals the end; earlier ones complete one by one. */
	while (gpu_bind_async(held->fx.fd, held->fx.vm, NULL, 0, &done, 1) == -ENOSPC)
		usleep(1000);
	need_wait(held->fx.fd, done.handle, 0);
}

static void queued_calls_are_bounded(void)
{
	struct held held = held_open();
	u32 i;

	for (i = 0; i < DRM_PUMICE_MAX_QUEUED_BINDS; i++)
		CHECK_OK(queue_binds(&held, NULL, 0));
	CHECK_ERROR(queue_binds(&held, NULL, 0), ENOSPC);
	release_binds(&held);
	fx_check_works(&held.fx);
}

static void queued_tables_are_bounded(void)
{
	const u32 calls = DRM_PUMICE_MAX_QUEUED_TABLES / 2 / DRM_PUMICE_MAX_BIND_OPS;
	struct held held = held_open();
	struct drm_pumice_bind_op *ops = calloc(DRM_PUMICE_MAX_BIND_OPS, sizeof(*ops));
	u32 i;

	CHECK(ops);
	for (i = 0; i < DRM_PUMICE_MAX_BIND_OPS; i++)
		ops[i] = bind_unmap(FX_FREE + i * BLOCK, PAGE);
	for (i = 0; i < calls; i++)
		CHECK_OK(queue_binds(&held, ops, DRM_PUMICE_MAX_BIND_OPS));
	CHECK_ERROR(queue_binds(&held, ops, 1), ENOSPC);
	CHECK_OK(queue_binds(&held, NULL, 0));
	release_binds(&held);
	CHECK_OK(queue_binds(&held, ops, DRM_PUMICE_MAX_BIND_OPS));
	fx_check_works(&held.fx);
}

static void queued_jobs_are_bounded(void)
{
	struct held held = held_open();
	struct drm_pumice_job jobs[DRM_PUMICE_MAX_JOBS] = { 0 };
	struct drm_pumice_sync wait = wait_for(held.blocker.sync, 0);
	u64 stream = fx_empty_stream(&held.fx);
	u32 i, failed;

	for (i = 0; i < DRM_PUMICE_MAX_JOBS; i++)
		jobs[i] = (struct drm_pumice_job){
			.context = held.fx.context, .stream = stream, .syncs = ARRAY_OF(&wait, 1),
		};
	for (i = 1; i < DRM_PUMICE_MAX_QUEUED_JOBS / DRM_PUMICE_MAX_JOBS; i++)
		CHECK_OK(gpu_submit(held.fx.fd, jobs, DRM_PUMICE_MAX_JOBS, NULL));
	CHECK_OK(gpu_submit(held.fx.fd, jobs, DRM_PUMICE_MAX_JOBS - 3, NULL));
	CHECK_ERROR(gpu_submit(held.fx.fd, jobs, DRM_PUMICE_MAX_JOBS, &failed), ENOSPC);
	CHECK_EQUAL(failed, 3);
	CHECK_OK(gpu_submit(held.fx.fd, jobs, 3, NULL));
	CHECK_ERROR(gpu_submit(held.fx.fd, jobs, 1, &failed), ENOSPC);
	CHECK_EQUAL(failed, 0);
	/* Other contexts have their own limit. */
	jobs[0].context = need_context(held.fx.fd, held.fx.vm);
	CHECK_OK(gpu_submit(held.fx.fd, jobs, 1, NULL));
	CHECK_OK(gpu_context_destroy(held.fx.fd, held.blocker.context));
	fx_check_works(&(struct fixture){
		.fd = held.fx.fd, .vm = held.fx.vm, .context = jobs[0].context,
		.sync = held.fx.sync, .code = held.fx.code, .used = held.fx.used,
		.data = held.fx.data,
	});
}

/* The memory of waiting jobs is charged to the process that submitted them. */
static void queued_jobs_are_charged_to_the_caller(void)
{
	struct cgroup cgroup = need_cgroup("owner");
	struct held held = held_open();
	struct drm_pumice_sync done = then_signal(need_sync(held.fx.fd), 0);
	const struct drm_pumice_sync syncs[] = { wait_for(held.blocker.sync, 0), done };
	struct drm_pumice_job job = {
		.context = held.fx.context, .stream = fx_empty_stream(&held.fx),
		.syncs = ARRAY_OF(syncs, 1),
	};
	u64 before, more;
	u32 i;

	cgroup_enter(&cgroup);
	CHECK_OK(gpu_submit(held.fx.fd, &job, 1, NULL));
	before = cgroup_charged(&cgroup);
	for (i = 2; i < DRM_PUMICE_MAX_QUEUED_JOBS; i++)
		CHECK_OK(gpu_submit(held.fx.fd, &job, 1, NULL));
	job.syncs.count = 2;
	CHECK_OK(gpu_submit(held.fx.fd, &job, 1, NULL));
	more = cgroup_charged(&cgroup) - before;
	cgroup_enter(NULL);
	test_note("%llu bytes a job", (unsigned long long)more / DRM_PUMICE_MAX_QUEUED_JOBS);
	CHECK(more + cgroup_stock() >= DRM_PUMICE_MAX_QUEUED_JOBS * JOB_BYTES);
	CHECK_OK(gpu_context_destroy(held.fx.fd, held.blocker.context));
	/* The queue has no space for another job before the first ones ran. */
	need_wait(held.fx.fd, done.handle, 0);
	fx_check_works(&held.fx);
	cgroup_remove(&cgroup);
}

/* A bind of many operations, each of which changes many pages; the last maps LAST_VA. */
static void bind_for_long(const struct fixture *fx, u32 big)
{
	struct drm_pumice_bind_op *ops = calloc(DRM_PUMICE_MAX_BIND_OPS, sizeof(*ops));
	u32 last = DRM_PUMICE_MAX_BIND_OPS - 1, i;

	CHECK(ops);
	ops[0] = bind_map(fx->data.handle, 0, FIRST_VA, PAGE, 0);
	for (i = 1; i < last; i++)
		ops[i] = bind_map(big, i % 2 * PAGE, BIG_VA, BIG - PAGE, 0);
	ops[last] = bind_map(fx->data.handle, 0, LAST_VA, PAGE, 0);
	gpu_bind(fx->fd, fx->vm, ops, DRM_PUMICE_MAX_BIND_OPS, NULL);
	_exit(0);
}

static void killed_process_ends_its_bind(void)
{
	struct fixture fx = fx_open();
	u64 before = fdinfo_number(fx.fd, "pumice-page-tables");
	u32 big = need_bo(fx.fd, BIG);
	pid_t child;
	int status;

	child = fork();
	CHECK(child >= 0);
	if (!child)
		bind_for_long(&fx, big);
	/* The file is shared: its statistics show the progress of the child's call. */
	while (fdinfo_number(fx.fd, "pumice-page-tables") < before + BIG / BLOCK * PAGE / 1024)
		CHECK(!has_ended(child));
	CHECK_OK(kill(child, SIGKILL) ? -errno : 0);
	CHECK_EQUAL(waitpid(child, &status, 0), child);
	CHECK(WIFSIGNALED(status));
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FIRST_VA, 3)), 1);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, LAST_VA, 3)), -EIO);
	fx_check_works(&fx);
}

/* Queue maps that need almost as many tables as a VM's queue may have. */
static void queue_for_long(const struct fixture *fx)
{
	struct drm_pumice_bind_op ops[NULL_MAPS];
	u32 i;

	for (i = 0; i < NULL_MAPS; i++)
		ops[i] = (struct drm_pumice_bind_op){
			.flags = DRM_PUMICE_BIND_NULL, .va = FIRST_VA + i * NULL_BYTES,
			.size = NULL_BYTES,
		};
	gpu_bind_async(fx->fd, fx->vm, ops, NULL_MAPS, NULL, 0);
	_exit(0);
}

/* The tables are allocated before the call is queued, so none remain. */
static void killed_process_allocates_no_more_tables(void)
{
	struct fixture fx = fx_open();
	u64 before = fdinfo_number(fx.fd, "pumice-page-tables");
	pid_t child;
	int status;

	child = fork();
	CHECK(child >= 0);
	if (!child)
		queue_for_long(&fx);
	while (fdinfo_number(fx.fd, "pumice-page-tables") < before + MANY_TABLES * PAGE / 1024)
		CHECK(!has_ended(child));
	CHECK_OK(kill(child, SIGKILL) ? -errno : 0);
	CHECK_EQUAL(waitpid(child, &status, 0), child);
	CHECK(WIFSIGNALED(status));
	CHECK_EQUAL(fdinfo_number(fx.fd, "pumice-page-tables"), before);
	fx_check_works(&fx);
}

static const struct test_case cases[] = {
	TEST_CASE(page_tables_count_against_the_callers_limit),
	TEST_CASE(small_bos_count_against_the_callers_limit),
	TEST_CASE(queued_binds_count_against_the_callers_limit),
	TEST_CASE(queued_calls_are_bounded),
	TEST_CASE(queued_tables_are_bounded),
	TEST_CASE(queued_jobs_are_bounded),
	TEST_CASE(queued_jobs_are_charged_to_the_caller),
	TEST_CASE(killed_process_ends_its_bind),
	TEST_CASE(killed_process_allocates_no_more_tables),
};

TEST_MAIN(cases)
