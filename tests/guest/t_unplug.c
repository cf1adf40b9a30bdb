// SPDX-License-Identifier: MIT
/*
 * The device goes while it is used: unbound from its driver, reset, removed.
 *
 * Every case leaves the device bound, and the next one starts by making sure.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "pumice_regs.h"
#include "render.h"
#include "system.h"

/* The device works for who opens it now. */
static void check_fresh_device(void)
{
	struct rig rig;

	need_bound();
	rig = rig_open();
	rig_check_works(&rig);
	rig_close(&rig);
}

static struct rig rig_before_unplug(void)
{
	need_bound();
	return rig_open();
}

static void check_newer_gone(const struct rig *rig)
{
	u32 counter = 0;
	u64 value;
	struct drm_pumice_bo_set_label label = { .handle = rig->code.handle };
	struct drm_pumice_job_get_result result = { .context = rig->context };
	struct drm_pumice_perf_counter_get get = { .counter = 0 };
	struct drm_pumice_perfmon_create create = { .counters = ARRAY_OF(&counter, 1) };
	struct drm_pumice_perfmon_destroy destroy = { .id = 1 };
	struct drm_pumice_perfmon_get_values values = { .id = 1, .values = (uintptr_t)&value };
	struct drm_pumice_vm_bind bind = { .vm = rig->vm, .flags = DRM_PUMICE_VM_BIND_ASYNC };

	CHECK_ERROR(gpu_ioctl(rig->fd, DRM_IOCTL_PUMICE_BO_SET_LABEL, &label), ENODEV);
	CHECK_ERROR(gpu_ioctl(rig->fd, DRM_IOCTL_PUMICE_JOB_GET_RESULT, &result), ENODEV);
	CHECK_ERROR(gpu_ioctl(rig->fd, DRM_IOCTL_PUMICE_PERF_COUNTER_GET, &get), ENODEV);
	CHECK_ERROR(gpu_ioctl(rig->fd, DRM_IOCTL_PUMICE_PERFMON_CREATE, &create), ENODEV);
	CHECK_ERROR(gpu_ioctl(rig->fd, DRM_IOCTL_PUMICE_PERFMON_DESTROY, &destroy), ENODEV);
	CHECK_ERROR(gpu_ioctl(rig->fd, DRM_IOCTL_PUMICE_PERFMON_GET_VALUES, &values), ENODEV);
	CHECK_ERROR(gpu_ioctl(rig->fd, DRM_IOCTL_PUMICE_VM_BIND, &bind), ENODEV);
}

/* Every ioctl of an open file must tell that the device is gone. */
static void check_gone(const struct rig *rig)
{
	struct drm_pumice_context_get_state state;
	struct drm_pumice_job job = { .context = rig->context, .stream = RIG_CODE };
	struct drm_pumice_bind_op op = bind_unmap(RIG_FREE, PAGE);
	u32 size = 0, out;
	u64 offset;

	CHECK_ERROR(gpu_query(rig->fd, DRM_PUMICE_QUERY_GPU, NULL, &size), ENODEV);
	CHECK_ERROR(gpu_bo_create(rig->fd, PAGE, 0, &out), ENODEV);
	CHECK_ERROR(gpu_bo_offset(rig->fd, rig->code.handle, &offset), ENODEV);
	CHECK_ERROR(gpu_vm_create(rig->fd, &out), ENODEV);
	CHECK_ERROR(gpu_vm_destroy(rig->fd, rig->vm), ENODEV);
	CHECK_ERROR(gpu_bind(rig->fd, rig->vm, &op, 1, NULL), ENODEV);
	CHECK_ERROR(gpu_vm_state(rig->fd, rig->vm, &out), ENODEV);
	CHECK_ERROR(gpu_context_create(rig->fd, rig->vm, 1, &out), ENODEV);
	CHECK_ERROR(gpu_context_destroy(rig->fd, rig->context), ENODEV);
	CHECK_ERROR(gpu_context_state(rig->fd, rig->context, &state), ENODEV);
	CHECK_ERROR(gpu_submit(rig->fd, &job, 1, NULL), ENODEV);
	check_newer_gone(rig);
}

static void open_files_get_enodev(void)
{
	struct rig rig = rig_before_unplug();

	rig_check_works(&rig);
	need_unbound();
	check_gone(&rig);
	check_fresh_device();
	check_gone(&rig);
}

static void closing_a_file_after_unplug_is_fine(void)
{
	struct rig rig = rig_before_unplug();

	rig_check_works(&rig);
	need_unbound();
	rig_close(&rig);
	check_fresh_device();
}

/* Fences of a file whose device goes: kept as sync files, for the file's ioctls end. */
static void jobs_in_flight_end_with_enodev(void)
{
	struct rig rig = rig_before_unplug();
	int running, queued;

	rig_block(&rig);
	running = need_sync_file(rig.fd, rig.sync);
	rig.sync = need_sync(rig.fd);
	rig_submit(&rig, rig_empty_stream(&rig));
	queued = need_sync_file(rig.fd, rig.sync);
	need_unbound();
	CHECK_EQUAL(sync_file_status(running), -ENODEV);
	CHECK(sync_file_status(queued) < 0);
	check_fresh_device();
}

static void job_that_waits_for_another_context_ends_too(void)
{
	struct rig blocked = rig_before_unplug(), waiter = rig_on(blocked.fd);
	struct drm_pumice_sync syncs[] = { wait_for(blocked.sync, 0), then_signal(waiter.sync, 0) };
	struct drm_pumice_job job = {
		.context = waiter.context, .stream = rig_empty_stream(&waiter),
		.syncs = ARRAY_OF(syncs, 2),
	};
	int file;

	rig_block(&blocked);
	CHECK_OK(gpu_submit(blocked.fd, &job, 1, NULL));
	file = need_sync_file(waiter.fd, waiter.sync);
	need_unbound();
	CHECK(sync_file_status(file) < 0);
	check_fresh_device();
}

/** struct waiter - a thread that waits for a fence while the device goes */
struct waiter {
	struct rig *rig;
	atomic_bool started;
	int result;
};

static void *wait_for_fence(void *arg)
{
	struct waiter *waiter = arg;

	atomic_store(&waiter->started, true);
	waiter->result = sync_wait(waiter->rig->fd, waiter->rig->sync, 0,
				   WAIT_SECONDS * 1000000000ull);
	return NULL;
}

static void who_waits_is_woken(void)
{
	struct rig rig = rig_before_unplug();
	struct waiter waiter = { .rig = &rig, .result = 99 };
	pthread_t thread;

	rig_block(&rig);
	CHECK_OK(-pthread_create(&thread, NULL, wait_for_fence, &waiter));
	while (!atomic_load(&waiter.started))
		sched_yield();
	need_unbound();
	CHECK_OK(-pthread_join(thread, NULL));
	/* The wait ends with the fence, or finds the device gone if it began after that. */
	CHECK(!waiter.result || waiter.result == -ENODEV || waiter.result == -1);
	check_fresh_device();
}

static void unbinding_and_binding_can_be_repeated(void)
{
	u32 i;

	for (i = 0; i < 10; i++) {
		need_bound();
		need_unbound();
	}
	check_fresh_device();
}

/* Submits until the device is gone; ends with 0 if that was the reason. */
static void submit_until_gone(int ready)
{
	struct rig rig = rig_open();
	const struct drm_pumice_job job = {
		.context = rig.context, .stream = rig_store_stream(&rig, rig.data.va, 1),
	};
	int err;

	CHECK(write(ready, "r", 1) == 1);
	do {
		err = gpu_submit(rig.fd, &job, 1, NULL);
	} while (!err);
	_exit(err == -ENODEV ? 0 : 1);
}

#define PROCESSES 4

/* Unplug while some processes submit, each of which must learn of it. */
static void unplug_under_load(void)
{
	pid_t pids[PROCESSES];
	int fds[2], status;
	char byte;
	u32 i;

	need_bound();
	CHECK_OK(pipe(fds));
	for (i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		if (!pids[i])
			submit_until_gone(fds[1]);
	}
	for (i = 0; i < PROCESSES; i++)
		CHECK(read(fds[0], &byte, 1) == 1);
	close(fds[0]);
	close(fds[1]);
	need_unbound();
	for (i = 0; i < PROCESSES; i++) {
		CHECK(waitpid(pids[i], &status, 0) == pids[i]);
		CHECK(WIFEXITED(status));
		CHECK_EQUAL(WEXITSTATUS(status), 0);
	}
	check_fresh_device();
}

static void processes_that_submit_meanwhile_learn_of_it(void)
{
	unplug_under_load();
	need_nothing_left();
}

static void nothing_keeps_the_module_after_unplug(void)
{
	u32 round;

	for (round = 0; round < 5; round++)
		unplug_under_load();
	need_module_unused();
}

static void removed_device_comes_back_with_a_rescan(void)
{
	struct rig rig = rig_before_unplug(), fresh;

	rig_block(&rig);
	need_removed();
	check_gone(&rig);
	need_rescanned();
	fresh = rig_open();
	rig_check_works(&fresh);
}

static void function_level_reset_cancels_what_runs(void)
{
	struct rig rig = rig_before_unplug(), idle = rig_on(rig.fd);
	struct drm_pumice_context_get_state state;

	rig_check_works(&idle);
	rig_block(&rig);
	need_flr();
	CHECK_EQUAL(rig_wait(&rig), -ECANCELED);
	state = need_state(rig.fd, rig.context);
	CHECK_EQUAL(state.state, DRM_PUMICE_CONTEXT_INNOCENT);
	CHECK_EQUAL(state.fault, PUMICE_FAULT_RESET);
}

static void contexts_without_jobs_survive_a_function_level_reset(void)
{
	struct rig rig = rig_before_unplug(), busy = rig_on(rig.fd);

	rig_check_works(&rig);
	rig_block(&busy);
	need_flr();
	rig_check_works(&rig);
	CHECK_EQUAL(need_state(rig.fd, rig.context).state, 0);
	busy.context = need_context(busy.fd, busy.vm);
	rig_check_works(&busy);
}

static void mappings_survive_a_function_level_reset(void)
{
	struct rig rig = rig_before_unplug();
	struct mem mem = need_mem(rig.fd, rig.vm, RIG_FREE, 4 * MIB);

	need_flr();
	CHECK_EQUAL(rig_run(&rig, rig_store_stream(&rig, RIG_FREE + 3 * MIB, 12)), 1);
	rig_check_words(mem.cpu + 3 * MIB / 4, 12);
}

static void function_level_reset_can_be_repeated(void)
{
	struct rig rig = rig_before_unplug();
	u32 i;

	for (i = 0; i < 10; i++) {
		need_flr();
		rig_check_works(&rig);
	}
}

static void render_jobs_and_what_they_use_are_unplugged(void)
{
	struct rig rig = rig_before_unplug();
	struct render r = render_on(&rig);
	struct drm_pumice_free_list_create list = render_list_args(rig.vm);
	struct drm_pumice_hwrt_create hwrt = render_hwrt_args(rig.vm, r.list);
	struct drm_pumice_sync syncs[2];
	struct drm_pumice_job jobs[2];
	int file;

	rig_block(&r.rig);
	syncs[0] = wait_for(r.rig.sync, 0);
	syncs[1] = then_signal(need_sync(rig.fd), 0);
	render_pair(&r, 0, jobs);
	jobs[1].syncs = (struct drm_pumice_array)ARRAY_OF(syncs, 2);
	CHECK_OK(gpu_submit(rig.fd, jobs, 2, NULL));
	file = need_sync_file(rig.fd, syncs[1].handle);
	need_unbound();
	CHECK_EQUAL(sync_file_status(file), -ENODEV);
	CHECK_ERROR(gpu_submit(rig.fd, jobs, 2, NULL), ENODEV);
	CHECK_ERROR(gpu_free_list_create(rig.fd, &list), ENODEV);
	CHECK_ERROR(gpu_hwrt_create(rig.fd, &hwrt), ENODEV);
	rig_close(&r.rig);
	need_bound();
	r = render_open();
	render_check_works(&r);
}

static const struct test_case cases[] = {
	TEST_CASE(open_files_get_enodev),
	TEST_CASE(closing_a_file_after_unplug_is_fine),
	TEST_CASE(jobs_in_flight_end_with_enodev),
	TEST_CASE(job_that_waits_for_another_context_ends_too),
	TEST_CASE(who_waits_is_woken),
	TEST_CASE(unbinding_and_binding_can_be_repeated),
	TEST_CASE(processes_that_submit_meanwhile_learn_of_it),
	TEST_CASE(nothing_keeps_the_module_after_unplug),
	TEST_CASE(removed_device_comes_back_with_a_rescan),
	TEST_CASE(function_level_reset_cancels_what_runs),
	TEST_CASE(contexts_without_jobs_survive_a_function_level_reset),
	TEST_CASE(mappings_survive_a_function_level_reset),
	TEST_CASE(function_level_reset_can_be_repeated),
	TEST_CASE(render_jobs_and_what_they_use_are_unplugged),
};

TEST_MAIN(cases)
