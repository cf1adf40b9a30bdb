// SPDX-License-Identifier: MIT
/*
 * Removal of the device while it is used: unbound from its driver, reset, removed.
 *
 * Every case leaves the device bound, and the next one starts by checking that.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xf86drm.h>

#include "harness.h"
#include "pumice_regs.h"
#include "render.h"
#include "system.h"
#include "uevent.h"

/* Time-out of a job whose GPU is lost meanwhile. */
#define LOST_TIMEOUT_MS	200
/* Time slice for which firmware with the defect REFUSE does not boot. */
#define REFUSED_SLICE_US 1

/* Check that the device works when it is opened again. */
static void check_fresh_device(void)
{
	struct fixture fx;

	need_bound();
	fx = fx_open();
	fx_check_works(&fx);
	fx_close(&fx);
}

static struct fixture fx_before_unplug(void)
{
	need_bound();
	return fx_open();
}

static void check_newer_ioctls_fail(const struct fixture *fx)
{
	u32 counter = 0;
	u64 value;
	struct drm_pumice_bo_set_label label = { .handle = fx->code.handle };
	struct drm_pumice_job_get_result result = { .context = fx->context };
	struct drm_pumice_perf_counter_get get = { .counter = 0 };
	struct drm_pumice_perfmon_create create = { .counters = ARRAY_OF(&counter, 1) };
	struct drm_pumice_perfmon_destroy destroy = { .id = 1 };
	struct drm_pumice_perfmon_get_values values = { .id = 1, .values = (uintptr_t)&value };
	struct drm_pumice_file_get_resets resets;
	struct drm_pumice_vm_bind bind = { .vm = fx->vm, .flags = DRM_PUMICE_VM_BIND_ASYNC };

	CHECK_ERROR(gpu_ioctl(fx->fd, DRM_IOCTL_PUMICE_BO_SET_LABEL, &label), ENODEV);
	CHECK_ERROR(gpu_ioctl(fx->fd, DRM_IOCTL_PUMICE_JOB_GET_RESULT, &result), ENODEV);
	CHECK_ERROR(gpu_ioctl(fx->fd, DRM_IOCTL_PUMICE_PERF_COUNTER_GET, &get), ENODEV);
	CHECK_ERROR(gpu_ioctl(fx->fd, DRM_IOCTL_PUMICE_PERFMON_CREATE, &create), ENODEV);
	CHECK_ERROR(gpu_ioctl(fx->fd, DRM_IOCTL_PUMICE_PERFMON_DESTROY, &destroy), ENODEV);
	CHECK_ERROR(gpu_ioctl(fx->fd, DRM_IOCTL_PUMICE_PERFMON_GET_VALUES, &values), ENODEV);
	CHECK_ERROR(gpu_ioctl(fx->fd, DRM_IOCTL_PUMICE_VM_BIND, &bind), ENODEV);
	CHECK_ERROR(gpu_context_set_priority(fx->fd, fx->context, 1), ENODEV);
	CHECK_ERROR(gpu_resets(fx->fd, &resets), ENODEV);
}

/* Every ioctl of an open file must return that the device was removed. */
static void check_all_ioctls_fail(const struct fixture *fx)
{
	struct drm_pumice_context_get_state state;
	struct drm_pumice_job job = { .context = fx->context, .stream = FX_CODE };
	struct drm_pumice_bind_op op = bind_unmap(FX_FREE, PAGE);
	u32 size = 0, out;
	u64 offset;

	CHECK_ERROR(gpu_query(fx->fd, DRM_PUMICE_QUERY_GPU, NULL, &size), ENODEV);
	CHECK_ERROR(gpu_bo_create(fx->fd, PAGE, 0, &out), ENODEV);
	CHECK_ERROR(gpu_bo_offset(fx->fd, fx->code.handle, &offset), ENODEV);
	CHECK_ERROR(gpu_vm_create(fx->fd, &out), ENODEV);
	CHECK_ERROR(gpu_vm_destroy(fx->fd, fx->vm), ENODEV);
	CHECK_ERROR(gpu_bind(fx->fd, fx->vm, &op, 1, NULL), ENODEV);
	CHECK_ERROR(gpu_vm_state(fx->fd, fx->vm, &out), ENODEV);
	CHECK_ERROR(gpu_context_create(fx->fd, fx->vm, 1, &out), ENODEV);
	CHECK_ERROR(gpu_context_destroy(fx->fd, fx->context), ENODEV);
	CHECK_ERROR(gpu_context_state(fx->fd, fx->context, &state), ENODEV);
	CHECK_ERROR(gpu_submit(fx->fd, &job, 1, NULL), ENODEV);
	check_newer_ioctls_fail(fx);
}

static void open_files_get_enodev(void)
{
	struct fixture fx = fx_before_unplug();

	fx_check_works(&fx);
	need_unbound();
	check_all_ioctls_fail(&fx);
	check_fresh_device();
	check_all_ioctls_fail(&fx);
}

static void closing_a_file_after_unplug_succeeds(void)
{
	struct fixture fx = fx_before_unplug();

	fx_check_works(&fx);
	need_unbound();
	fx_close(&fx);
	check_fresh_device();
}

/* Fences of a file whose device is removed: kept as sync files, as the file's ioctls end. */
static void jobs_in_flight_end_with_enodev(void)
{
	struct fixture fx = fx_before_unplug();
	int running, queued;

	fx_block(&fx);
	running = need_sync_file(fx.fd, fx.sync);
	fx.sync = need_sync(fx.fd);
	fx_submit(&fx, fx_empty_stream(&fx));
	queued = need_sync_file(fx.fd, fx.sync);
	need_unbound();
	CHECK_EQUAL(sync_file_status(running), -ENODEV);
	CHECK(sync_file_status(queued) < 0);
	check_fresh_device();
}

static void job_that_waits_for_another_context_ends_too(void)
{
	struct fixture blocked = fx_before_unplug(), waiter = fx_on(blocked.fd);
	struct drm_pumice_sync syncs[] = { wait_for(blocked.sync, 0), then_signal(waiter.sync, 0) };
	struct drm_pumice_job job = {
		.context = waiter.context, .stream = fx_empty_stream(&waiter),
		.syncs = ARRAY_OF(syncs, 2),
	};
	int file;

	fx_block(&blocked);
	CHECK_OK(gpu_submit(blocked.fd, &job, 1, NULL));
	file = need_sync_file(waiter.fd, waiter.sync);
	need_unbound();
	CHECK(sync_file_status(file) < 0);
	check_fresh_device();
}

/** struct waiter - a thread that waits for a fence while the device is removed */
struct waiter {
	struct fixture *fx;
	atomic_bool started;
	int result;
};

static void *wait_for_fence(void *arg)
{
	struct waiter *waiter = arg;

	atomic_store(&waiter->started, true);
	waiter->result = sync_wait(waiter->fx->fd, waiter->fx->sync, 0,
				   WAIT_SECONDS * 1000000000ull);
	return NULL;
}

static void waiters_are_woken(void)
{
	struct fixture fx = fx_before_unplug();
	struct waiter waiter = { .fx = &fx, .result = 99 };
	pthread_t thread;

	fx_block(&fx);
	CHECK_OK(-pthread_create(&thread, NULL, wait_for_fence, &waiter));
	while (!atomic_load(&waiter.started))
		sched_yield();
	need_unbound();
	CHECK_OK(-pthread_join(thread, NULL));
	/* The wait ends with the fence, or fails if it began after the removal. */
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

/* Submit until the device is removed; exit with 0 if that was the reason. */
static void submit_until_unplugged(int ready)
{
	struct fixture fx = fx_open();
	const struct drm_pumice_job job = {
		.context = fx.context, .stream = fx_store_stream(&fx, fx.data.va, 1),
	};
	int err;

	CHECK(write(ready, "r", 1) == 1);
	do {
		/* Up to the limit of the queue: on a busy machine the GPU is slower than this. */
		err = gpu_submit(fx.fd, &job, 1, NULL);
	} while (!err || err == -ENOSPC);
	_exit(err == -ENODEV ? 0 : -err);
}

#define PROCESSES 4

/* Unplug while some processes submit, each of which must get the error. */
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
			submit_until_unplugged(fds[1]);
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

static void processes_that_submit_during_unplug_get_enodev(void)
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

/* A dma-buf of another driver, with its memory. */
static int need_foreign_memory(u64 bytes, u32 **cpu)
{
	struct udmabuf_create create = { .size = bytes };
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), file;

	CHECK(device >= 0);
	create.memfd = memfd_create("foreign", MFD_ALLOW_SEALING);
	CHECK((int)create.memfd >= 0);
	CHECK_OK(ftruncate(create.memfd, bytes));
	CHECK_OK(fcntl(create.memfd, F_ADD_SEALS, F_SEAL_SHRINK));
	*cpu = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, create.memfd, 0);
	CHECK(*cpu != MAP_FAILED);
	file = ioctl(device, UDMABUF_CREATE, &create);
	CHECK(file >= 0);
	close(device);
	close(create.memfd);
	return file;
}

/*
 * Its mapping for the device is removed with the device, not with the buffer: the debug
 * kernel's DMA-API check reports remaining mappings, and late unmapping.
 */
static void imported_memory_is_unmapped_with_the_device(void)
{
	struct fixture fx = fx_before_unplug();
	u32 *cpu, handle, again;
	int file = need_foreign_memory(16 * PAGE, &cpu);

	CHECK_OK(drmPrimeFDToHandle(fx.fd, file, &handle));
	need_map(fx.fd, fx.vm, handle, 0, FX_FREE, 16 * PAGE, 0);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 77)), 1);
	fx_check_words(cpu, 77);
	need_unbound();
	fx_close(&fx);
	need_bound();
	fx = fx_open();
	CHECK_OK(drmPrimeFDToHandle(fx.fd, file, &again));
	need_map(fx.fd, fx.vm, again, 0, FX_FREE, 16 * PAGE, 0);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 99)), 1);
	fx_check_words(cpu, 99);
}

static void *close_file(void *fd)
{
	close(*(int *)fd);
	return NULL;
}

/* A buffer being freed during the removal is found by it, or waited for. */
static void memory_that_is_freed_meanwhile_is_unmapped_with_the_device(void)
{
	const u32 buffers = 64;
	u32 round, i;

	for (round = 0; round < 8; round++) {
		struct fixture fx = fx_before_unplug();
		pthread_t thread;

		for (i = 0; i < buffers; i++)
			need_map(fx.fd, fx.vm, need_bo(fx.fd, MIB / 4), 0,
				 FX_FREE + i * 4 * MIB, MIB / 4, 0);
		fx_check_works(&fx);
		CHECK_OK(munmap(fx.code.cpu, FX_CODE_BYTES));
		CHECK_OK(munmap(fx.data.cpu, FX_DATA_BYTES));
		CHECK_OK(pthread_create(&thread, NULL, close_file, &fx.fd));
		need_unbound();
		CHECK_OK(pthread_join(thread, NULL));
	}
	need_bound();
	need_nothing_left();
}

static void removed_device_comes_back_with_a_rescan(void)
{
	struct fixture fx = fx_before_unplug(), fresh;

	fx_block(&fx);
	need_removed();
	check_all_ioctls_fail(&fx);
	need_rescanned();
	fresh = fx_open();
	fx_check_works(&fresh);
}

static void function_level_reset_cancels_running_jobs(void)
{
	struct fixture fx = fx_before_unplug(), idle = fx_on(fx.fd);
	struct drm_pumice_context_get_state state;

	fx_check_works(&idle);
	fx_block(&fx);
	need_flr();
	CHECK_EQUAL(fx_wait(&fx), -ECANCELED);
	state = need_state(fx.fd, fx.context);
	CHECK_EQUAL(state.state, DRM_PUMICE_CONTEXT_INNOCENT);
	CHECK_EQUAL(state.fault, PUMICE_FAULT_RESET);
}

static void contexts_without_jobs_survive_a_function_level_reset(void)
{
	struct fixture fx = fx_before_unplug(), busy = fx_on(fx.fd);

	fx_check_works(&fx);
	fx_block(&busy);
	need_flr();
	fx_check_works(&fx);
	CHECK_EQUAL(need_state(fx.fd, fx.context).state, 0);
	busy.context = need_context(busy.fd, busy.vm);
	fx_check_works(&busy);
}

static void mappings_survive_a_function_level_reset(void)
{
	struct fixture fx = fx_before_unplug();
	struct mem mem = need_mem(fx.fd, fx.vm, FX_FREE, 4 * MIB);

	need_flr();
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE + 3 * MIB, 12)), 1);
	fx_check_words(mem.cpu + 3 * MIB / 4, 12);
}

static void function_level_reset_can_be_repeated(void)
{
	struct fixture fx = fx_before_unplug();
	u32 i;

	for (i = 0; i < 10; i++) {
		need_flr();
		fx_check_works(&fx);
	}
}

static void render_jobs_and_their_objects_are_unplugged(void)
{
	struct fixture fx = fx_before_unplug();
	struct render r = render_on(&fx);
	struct drm_pumice_free_list_create list = render_list_args(fx.vm);
	struct drm_pumice_hwrt_create hwrt = render_hwrt_args(fx.vm, r.list);
	struct drm_pumice_sync syncs[2];
	struct drm_pumice_job jobs[2];
	int file;

	fx_block(&r.fx);
	syncs[0] = wait_for(r.fx.sync, 0);
	syncs[1] = then_signal(need_sync(fx.fd), 0);
	render_pair(&r, 0, jobs);
	jobs[1].syncs = (struct drm_pumice_array)ARRAY_OF(syncs, 2);
	CHECK_OK(gpu_submit(fx.fd, jobs, 2, NULL));
	file = need_sync_file(fx.fd, syncs[1].handle);
	need_unbound();
	CHECK_EQUAL(sync_file_status(file), -ENODEV);
	CHECK_ERROR(gpu_submit(fx.fd, jobs, 2, NULL), ENODEV);
	CHECK_ERROR(gpu_free_list_create(fx.fd, &list), ENODEV);
	CHECK_ERROR(gpu_hwrt_create(fx.fd, &hwrt), ENODEV);
	fx_close(&r.fx);
	need_bound();
	r = render_open();
	render_check_works(&r);
}

static int unload_module(void)
{
	return syscall(SYS_delete_module, "pumice", O_NONBLOCK) ? -errno : 0;
}

static void load_module(long timeout_ms)
{
	char parameter[64];
	pid_t pid = fork();
	int status;

	snprintf(parameter, sizeof(parameter), "job_timeout_ms=%ld", timeout_ms);
	CHECK(pid >= 0);
	if (!pid) {
		execlp("modprobe", "modprobe", "pumice", parameter, NULL);
		_exit(127);
	}
	CHECK_EQUAL(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	need_bound();
}

/*
 * Fences call the module. It may be unloaded with the last of them, not before, and while that
 * is being released: here the release and the unloading are as close as possible.
 */
static void module_stays_as_long_as_a_fence(void)
{
	u64 deadline = now_ns() + 60 * 1000000000ull;
	u32 round;

	for (round = 0; round < 5; round++) {
		struct fixture fx = fx_before_unplug();
		long timeout_ms = module_parameter("job_timeout_ms");
		pthread_t thread;
		int file, err;

		fx_check_works(&fx);
		file = need_sync_file(fx.fd, fx.sync);
		fx_close(&fx);
		need_left((struct counts){ .fences = 1 });
		CHECK_ERROR(unload_module(), EAGAIN);
		CHECK_EQUAL(sync_file_status(file), 1);
		CHECK_OK(pthread_create(&thread, NULL, close_file, &file));
		do {
			err = unload_module();
			CHECK(!err || err == -EAGAIN);
		} while (err && now_ns() < deadline);
		CHECK_OK(err);
		CHECK_OK(pthread_join(thread, NULL));
		load_module(timeout_ms);
	}
}

/* Return the status of a sync file after it has signaled. */
static int ended_status(int file)
{
	struct pollfd readable = { .fd = file, .events = POLLIN };

	CHECK_EQUAL(poll(&readable, 1, WAIT_SECONDS * 1000), 1);
	return sync_file_status(file);
}

/* Check the file's calls while they have results: first all succeed, then the GPU is lost. */
static void need_refusals(int fd)
{
	u64 deadline = now_ns() + WAIT_SECONDS * 1000000000ull;
	struct drm_pumice_file_get_resets resets;
	u32 lost = 0;
	int err;

	do {
		err = gpu_resets(fd, &resets);
		if (err)
			continue;
		CHECK(resets.state == DRM_PUMICE_RESETS_LOST || resets.state == lost);
		lost = resets.state;
	} while (!err && now_ns() < deadline);
	CHECK_EQUAL(err, -ENODEV);
}

/* Firmware that refuses to boot again: after two attempts the driver unplugs the GPU. */
static void gpu_that_does_not_come_back_is_unplugged(void)
{
	struct fixture fx, idle;
	int events, running, queued;

	need_firmware("REFUSE");
	fx = fx_with(need_gpu(), DRM_PUMICE_PRIORITY_NORMAL, LOST_TIMEOUT_MS);
	idle = fx_open();
	fx_block(&fx);
	running = need_sync_file(fx.fd, fx.sync);
	fx.sync = need_sync(fx.fd);
	fx_submit(&fx, fx_empty_stream(&fx));
	queued = need_sync_file(fx.fd, fx.sync);
	events = need_uevents();
	CHECK_OK(set_module_parameter("slice_us", REFUSED_SLICE_US));
	need_firmware_stopped();
	CHECK_EQUAL(ended_status(running), -ECANCELED);
	CHECK(ended_status(queued) < 0);
	need_refusals(idle.fd);
	check_all_ioctls_fail(&idle);
	check_all_ioctls_fail(&fx);
	check_wedged(events, "WEDGED=rebind,bus-reset");
	CHECK_OK(set_module_parameter("slice_us", 0));
	need_unbound();
	need_firmware(NULL);
	check_fresh_device();
}

static const struct test_case cases[] = {
	TEST_CASE(open_files_get_enodev),
	TEST_CASE(closing_a_file_after_unplug_succeeds),
	TEST_CASE(jobs_in_flight_end_with_enodev),
	TEST_CASE(job_that_waits_for_another_context_ends_too),
	TEST_CASE(waiters_are_woken),
	TEST_CASE(unbinding_and_binding_can_be_repeated),
	TEST_CASE(processes_that_submit_during_unplug_get_enodev),
	TEST_CASE(nothing_keeps_the_module_after_unplug),
	TEST_CASE(imported_memory_is_unmapped_with_the_device),
	TEST_CASE(memory_that_is_freed_meanwhile_is_unmapped_with_the_device),
	TEST_CASE(removed_device_comes_back_with_a_rescan),
	TEST_CASE(function_level_reset_cancels_running_jobs),
	TEST_CASE(contexts_without_jobs_survive_a_function_level_reset),
	TEST_CASE(mappings_survive_a_function_level_reset),
	TEST_CASE(function_level_reset_can_be_repeated),
	TEST_CASE(render_jobs_and_their_objects_are_unplugged),
	TEST_CASE(module_stays_as_long_as_a_fence),
	TEST_CASE_RESETS(gpu_that_does_not_come_back_is_unplugged),
};

TEST_MAIN(cases)
