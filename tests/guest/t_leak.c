// SPDX-License-Identifier: MIT
/*
 * No object remains when a user exits, in any way.
 *
 * The counts are absolute: no other process may use the GPU, and leaks of programs
 * that ran before this one are detected here too.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>
#include <xf86drm.h>

#include "harness.h"
#include "fixture.h"
#include "system.h"

/* Run a part of a case in a process that exits without cleanup afterwards. */
static void in_child(void (*part)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		part();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

static void earlier_programs_leave_no_objects(void)
{
	need_nothing_left();
}

static void use_and_exit(void)
{
	struct fixture fx = fx_open();

	fx_check_works(&fx);
	need_bo(fx.fd, 8 * MIB);
	CHECK(need_counts().bos >= 3);
	CHECK(need_counts().vms >= 1);
	CHECK(need_counts().contexts >= 1);
}

static void exit_without_cleaning_up_leaves_nothing(void)
{
	in_child(use_and_exit);
	need_nothing_left();
}

static void destroyed_contexts_are_counted_until_they_are_freed(void)
{
	struct counts before, after;
	struct fixture fx;

	need_contexts_freed();
	fx = fx_open();
	fx_check_works(&fx);
	before = need_counts();
	CHECK_OK(gpu_context_destroy(fx.fd, fx.context));
	after = need_counts();
	CHECK_EQUAL(after.contexts, before.contexts - 1);
	/* The fence of its last job, which the syncobj has, refers to it. */
	CHECK_EQUAL(after.destroyed, 1);
	fx_close(&fx);
	need_contexts_freed();
}

static void fault_and_exit(void)
{
	struct fixture fx = fx_open();

	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 0)), -EIO);
}

static void faulted_job_leaves_nothing(void)
{
	in_child(fault_and_exit);
	need_nothing_left();
}

static void exit_while_running(void)
{
	struct fixture fx = fx_open();
	u32 i;

	fx_block(&fx);
	for (i = 0; i < 100; i++)
		fx_submit(&fx, fx_empty_stream(&fx));
	CHECK(sync_is_pending(fx.fd, fx.sync, 0));
}

static void exit_with_jobs_in_flight_leaves_nothing(void)
{
	in_child(exit_while_running);
	need_nothing_left();
	in_child(use_and_exit);
}

static void killed_process_with_a_running_job_leaves_nothing(void)
{
	int fds[2], status;
	char byte;
	pid_t pid;

	CHECK_OK(pipe(fds));
	pid = fork();
	if (!pid) {
		exit_while_running();
		CHECK(write(fds[1], "r", 1) == 1);
		for (;;)
			pause();
	}
	CHECK(read(fds[0], &byte, 1) == 1);
	CHECK(need_counts().jobs > 0);
	CHECK_OK(kill(pid, SIGKILL));
	CHECK(waitpid(pid, &status, 0) == pid);
	need_nothing_left();
	in_child(use_and_exit);
}

static void process_killed_while_it_submits_leaves_nothing(void)
{
	u32 round;

	for (round = 0; round < 10; round++) {
		int fds[2], status;
		char byte;
		pid_t pid;

		CHECK_OK(pipe(fds));
		pid = fork();
		if (!pid) {
			struct fixture fx = fx_open();
			u64 stream = fx_empty_stream(&fx);

			CHECK(write(fds[1], "r", 1) == 1);
			for (;;)
				fx_submit(&fx, stream);
		}
		CHECK(read(fds[0], &byte, 1) == 1);
		CHECK_OK(kill(pid, SIGKILL));
		CHECK(waitpid(pid, &status, 0) == pid);
		close(fds[0]);
		close(fds[1]);
	}
	need_nothing_left();
}

static void fence_may_outlive_its_file(void)
{
	struct fixture fx = fx_open();
	int file;

	fx_block(&fx);
	file = need_sync_file(fx.fd, fx.sync);
	fx_close(&fx);
	CHECK_EQUAL(sync_file_status(file), -ECANCELED);
	close(file);
	need_nothing_left();
}

static void mapped_memory_outlives_its_file_until_it_is_unmapped(void)
{
	int fd = need_gpu();
	u32 *cpu = need_cpu(fd, need_bo(fd, PAGE), PAGE);

	cpu[0] = 42;
	close(fd);
	CHECK_EQUAL(cpu[0], 42);
	CHECK_EQUAL(need_counts().bos, 1);
	munmap(cpu, PAGE);
	need_nothing_left();
}

static void exported_memory_lives_until_its_file_is_closed(void)
{
	int fd = need_gpu(), prime = -1;

	CHECK_OK(drmPrimeHandleToFD(fd, need_bo(fd, PAGE), DRM_CLOEXEC | DRM_RDWR, &prime));
	close(fd);
	CHECK_EQUAL(need_counts().bos, 1);
	close(prime);
	need_nothing_left();
}

static void destroyed_objects_are_freed_before_the_file_is_closed(void)
{
	int fd = need_gpu();
	u32 round;

	for (round = 0; round < 20; round++) {
		struct fixture fx = fx_on(fd);

		fx_check_works(&fx);
		CHECK_OK(gpu_context_destroy(fd, fx.context));
		CHECK_OK(gpu_vm_destroy(fd, fx.vm));
		munmap(fx.code.cpu, fx.code.size);
		munmap(fx.data.cpu, fx.data.size);
		CHECK_OK(gpu_bo_close(fd, fx.code.handle));
		CHECK_OK(gpu_bo_close(fd, fx.data.handle));
		CHECK_OK(drmSyncobjDestroy(fd, fx.sync));
	}
	need_nothing_left();
}

static void refused_calls_leak_nothing(void)
{
	struct fixture fx = fx_open();
	struct counts before = need_counts();
	struct drm_pumice_sync syncs[] = { then_signal(fx.sync, 0), wait_for(NO_HANDLE, 0) };
	struct drm_pumice_job job = {
		.context = fx.context, .stream = FX_CODE, .syncs = ARRAY_OF(syncs, 2),
	};
	struct drm_pumice_job jobs[2] = { job, job };
	struct drm_pumice_bind_op op = bind_map(fx.code.handle, 0, FX_FREE + 1, PAGE, 0);
	u32 i, out;

	jobs[0].syncs.count = 1;
	for (i = 0; i < 50; i++) {
		CHECK_ERROR(gpu_submit(fx.fd, &job, 1, NULL), ENOENT);
		CHECK_ERROR(gpu_submit(fx.fd, jobs, 2, NULL), ENOENT);
		CHECK_ERROR(gpu_bind(fx.fd, fx.vm, &op, 1, NULL), EINVAL);
		CHECK_ERROR(gpu_context_create(fx.fd, fx.vm, 99, &out), EINVAL);
		CHECK_ERROR(gpu_context_create(fx.fd, NO_HANDLE, 1, &out), ENOENT);
		CHECK_ERROR(gpu_bo_create(fx.fd, 0, 0, &out), EINVAL);
	}
	need_left(before);
}

static void unbound_memory_is_freed_while_its_vm_lives(void)
{
	struct fixture fx = fx_open();
	struct counts before = need_counts();
	u32 handle = need_bo(fx.fd, 4 * MIB);

	need_map(fx.fd, fx.vm, handle, 0, FX_FREE, 4 * MIB, 0);
	CHECK_OK(gpu_bo_close(fx.fd, handle));
	CHECK_EQUAL(need_counts().bos, before.bos + 1);
	need_unmap(fx.fd, fx.vm, FX_FREE + PAGE, PAGE);
	CHECK_EQUAL(need_counts().bos, before.bos + 1);
	need_unmap(fx.fd, fx.vm, FX_FREE, 4 * MIB);
	need_left(before);
}

static void nothing_keeps_the_module(void)
{
	need_nothing_left();
	need_module_unused();
}

static const struct test_case cases[] = {
	TEST_CASE(earlier_programs_leave_no_objects),
	TEST_CASE(exit_without_cleaning_up_leaves_nothing),
	TEST_CASE(destroyed_contexts_are_counted_until_they_are_freed),
	TEST_CASE(faulted_job_leaves_nothing),
	TEST_CASE(exit_with_jobs_in_flight_leaves_nothing),
	TEST_CASE(killed_process_with_a_running_job_leaves_nothing),
	TEST_CASE(process_killed_while_it_submits_leaves_nothing),
	TEST_CASE(fence_may_outlive_its_file),
	TEST_CASE(mapped_memory_outlives_its_file_until_it_is_unmapped),
	TEST_CASE(exported_memory_lives_until_its_file_is_closed),
	TEST_CASE(destroyed_objects_are_freed_before_the_file_is_closed),
	TEST_CASE(refused_calls_leak_nothing),
	TEST_CASE(unbound_memory_is_freed_while_its_vm_lives),
	TEST_CASE(nothing_keeps_the_module),
};

TEST_MAIN(cases)
