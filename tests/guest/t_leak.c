// SPDX-License-Identifier: MIT
/*
 * What is left when a user goes, however it goes: nothing.
 *
 * The counts are absolute: nobody else may use the GPU, and what any program
 * before this one left behind is found here too.
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
#include "rig.h"
#include "system.h"

/* Run a part of a case in a process that just exits afterwards. */
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

static void nothing_is_left_of_the_programs_before(void)
{
	need_nothing_left();
}

static void use_and_exit(void)
{
	struct rig rig = rig_open();

	rig_check_works(&rig);
	need_bo(rig.fd, 8 * MIB);
	CHECK(need_counts().bos >= 3);
	CHECK(need_counts().vms >= 1);
	CHECK(need_counts().contexts >= 1);
}

static void exit_without_cleaning_up_leaves_nothing(void)
{
	in_child(use_and_exit);
	need_nothing_left();
}

static void fault_and_exit(void)
{
	struct rig rig = rig_open();

	CHECK_EQUAL(rig_run(&rig, rig_store_stream(&rig, RIG_FREE, 0)), -EIO);
}

static void faulted_job_leaves_nothing(void)
{
	in_child(fault_and_exit);
	need_nothing_left();
}

static void exit_while_running(void)
{
	struct rig rig = rig_open();
	u32 i;

	rig_block(&rig);
	for (i = 0; i < 100; i++)
		rig_submit(&rig, rig_empty_stream(&rig));
	CHECK(sync_is_pending(rig.fd, rig.sync, 0));
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
			struct rig rig = rig_open();
			u64 stream = rig_empty_stream(&rig);

			CHECK(write(fds[1], "r", 1) == 1);
			for (;;)
				rig_submit(&rig, stream);
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
	struct rig rig = rig_open();
	int file;

	rig_block(&rig);
	file = need_sync_file(rig.fd, rig.sync);
	rig_close(&rig);
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

static void destroyed_objects_are_gone_before_the_file_is_closed(void)
{
	int fd = need_gpu();
	u32 round;

	for (round = 0; round < 20; round++) {
		struct rig rig = rig_on(fd);

		rig_check_works(&rig);
		CHECK_OK(gpu_context_destroy(fd, rig.context));
		CHECK_OK(gpu_vm_destroy(fd, rig.vm));
		munmap(rig.code.cpu, rig.code.size);
		munmap(rig.data.cpu, rig.data.size);
		CHECK_OK(gpu_bo_close(fd, rig.code.handle));
		CHECK_OK(gpu_bo_close(fd, rig.data.handle));
		CHECK_OK(drmSyncobjDestroy(fd, rig.sync));
	}
	need_nothing_left();
}

static void refused_calls_leave_nothing(void)
{
	struct rig rig = rig_open();
	struct counts before = need_counts();
	struct drm_pumice_sync syncs[] = { then_signal(rig.sync, 0), wait_for(NO_HANDLE, 0) };
	struct drm_pumice_job job = {
		.context = rig.context, .stream = RIG_CODE, .syncs = ARRAY_OF(syncs, 2),
	};
	struct drm_pumice_job jobs[2] = { job, job };
	struct drm_pumice_bind_op op = bind_map(rig.code.handle, 0, RIG_FREE + 1, PAGE, 0);
	u32 i, out;

	jobs[0].syncs.count = 1;
	for (i = 0; i < 50; i++) {
		CHECK_ERROR(gpu_submit(rig.fd, &job, 1, NULL), ENOENT);
		CHECK_ERROR(gpu_submit(rig.fd, jobs, 2, NULL), ENOENT);
		CHECK_ERROR(gpu_bind(rig.fd, rig.vm, &op, 1, NULL), EINVAL);
		CHECK_ERROR(gpu_context_create(rig.fd, rig.vm, 99, &out), EINVAL);
		CHECK_ERROR(gpu_context_create(rig.fd, NO_HANDLE, 1, &out), ENOENT);
		CHECK_ERROR(gpu_bo_create(rig.fd, 0, 0, &out), EINVAL);
	}
	need_left(before);
}

static void unbound_memory_is_freed_while_its_vm_lives(void)
{
	struct rig rig = rig_open();
	struct counts before = need_counts();
	u32 handle = need_bo(rig.fd, 4 * MIB);

	need_map(rig.fd, rig.vm, handle, 0, RIG_FREE, 4 * MIB, 0);
	CHECK_OK(gpu_bo_close(rig.fd, handle));
	CHECK_EQUAL(need_counts().bos, before.bos + 1);
	need_unmap(rig.fd, rig.vm, RIG_FREE + PAGE, PAGE);
	CHECK_EQUAL(need_counts().bos, before.bos + 1);
	need_unmap(rig.fd, rig.vm, RIG_FREE, 4 * MIB);
	need_left(before);
}

static void nothing_keeps_the_module(void)
{
	need_nothing_left();
	need_module_unused();
}

static const struct test_case cases[] = {
	TEST_CASE(nothing_is_left_of_the_programs_before),
	TEST_CASE(exit_without_cleaning_up_leaves_nothing),
	TEST_CASE(faulted_job_leaves_nothing),
	TEST_CASE(exit_with_jobs_in_flight_leaves_nothing),
	TEST_CASE(killed_process_with_a_running_job_leaves_nothing),
	TEST_CASE(process_killed_while_it_submits_leaves_nothing),
	TEST_CASE(fence_may_outlive_its_file),
	TEST_CASE(mapped_memory_outlives_its_file_until_it_is_unmapped),
	TEST_CASE(exported_memory_lives_until_its_file_is_closed),
	TEST_CASE(destroyed_objects_are_gone_before_the_file_is_closed),
	TEST_CASE(refused_calls_leave_nothing),
	TEST_CASE(unbound_memory_is_freed_while_its_vm_lives),
	TEST_CASE(nothing_keeps_the_module),
};

TEST_MAIN(cases)
