// SPDX-License-Identifier: MIT
/*
 * Resets of the GPU, and time-outs around them: the results of jobs that the firmware
 * never had, and the order in which the jobs of a queue complete.
 *
 * Most cases bind the device with a build of the firmware that stops reading the
 * kernel CCB once it has replied to the kick of a context of low priority.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "harness.h"
#include "parameters.h"
#include "fixture.h"
#include "system.h"
#include "uevent.h"

#define USUAL_TIMEOUT_MS	60000
#define FW_TIMEOUT_MS		2000
/* Entries of the kernel CCB that can be in use (PUMICE_KCCB_COUNT of the driver). */
#define KCCB_ENTRIES		255

/* For time_out(): how often each thread opens the GPU, and the jobs that it submits. */
#define LIVES	6
#define THREADS	8
#define JOBS	80

static int need_deaf_gpu(void)
{
	need_firmware("DEAF");
	CHECK_OK(set_module_parameter("fw_timeout_ms", FW_TIMEOUT_MS));
	return need_gpu();
}

/*
 * The firmware stops reading commands; one job is on the GPU and does not end.
 * @syncs: signaled by each of @count more jobs, of which KCCB_ENTRIES are kicked.
 */
static struct fixture fx_deaf(int fd, u32 *syncs, u32 count)
{
	struct fixture fx = fx_with(fd, DRM_PUMICE_PRIORITY_LOW, USUAL_TIMEOUT_MS);
	u64 empty;
	u32 i;

	fx_block(&fx);
	empty = fx_empty_stream(&fx);
	for (i = 0; i < count; i++) {
		fx.sync = syncs[i] = need_sync(fx.fd);
		fx_submit(&fx, empty);
	}
	need_in_flight(1 + KCCB_ENTRIES);
	return fx;
}

static void check_innocent(struct fixture *fx)
{
	struct drm_pumice_job job = { .context = fx->context, .stream = fx_empty_stream(fx) };

	CHECK_EQUAL(fx_wait(fx), -ECANCELED);
	CHECK_EQUAL(need_state(fx->fd, fx->context).state, DRM_PUMICE_CONTEXT_INNOCENT);
	CHECK_ERROR(gpu_submit(fx->fd, &job, 1, NULL), EIO);
}

/*
 * The second context's only job waits for space in the kernel CCB when it times out. The
 * next firmware gets it.
 */
static void job_that_the_firmware_never_got_may_time_out(void)
{
	struct fixture late = fx_with(need_deaf_gpu(), DRM_PUMICE_PRIORITY_NORMAL, 100), deaf;
	u32 syncs[KCCB_ENTRIES];

	deaf = fx_deaf(late.fd, syncs, KCCB_ENTRIES);
	fx_submit(&late, fx_store_stream(&late, late.data.va, 1));
	CHECK_EQUAL(fx_wait(&late), 1);
	CHECK_EQUAL(late.data.cpu[0], 1);
	check_innocent(&deaf);
	fx_check_works(&late);
}

/* The firmware frees no space for the last jobs. The reset ends all of them in order. */
static void jobs_end_in_their_order_when_the_firmware_is_full(void)
{
	u32 syncs[KCCB_ENTRIES + 20], i;
	struct fixture deaf = fx_deaf(need_deaf_gpu(), syncs, KCCB_ENTRIES + 20);
	u64 before, at;

	for (i = 0; i < KCCB_ENTRIES + 20; i++)
		need_wait(deaf.fd, syncs[i], 0);
	before = sync_signaled_at(deaf.fd, syncs[0]);
	for (i = 1; i < KCCB_ENTRIES + 20; i++) {
		at = sync_signaled_at(deaf.fd, syncs[i]);
		if (at < before)
			test_fail(__FILE__, __LINE__, "job %u ended %llu us before the one before it",
				  i, (unsigned long long)(before - at) / 1000);
		CHECK_EQUAL(sync_status(deaf.fd, syncs[i], 0), -ECANCELED);
		before = at;
	}
	check_innocent(&deaf);
}

/** struct unmapper - a thread whose VM_BIND the firmware does not reply */
struct unmapper {
	struct fixture *fx;
	bool done;	/* atomic */
};

#define TABLES_VA	FX_FREE
#define TABLES_BYTES	(64 * MIB)	/* 32 page tables */

static void *unmap_tables(void *arg)
{
	struct unmapper *unmapper = arg;
	const struct drm_pumice_bind_op op = bind_unmap(TABLES_VA, TABLES_BYTES);

	gpu_bind(unmapper->fx->fd, unmapper->fx->vm, &op, 1, NULL);
	__atomic_store_n(&unmapper->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/*
 * Page tables that an unmap detaches are freed when the TLBs were invalidated. The firmware
 * receives the request and does not reply: then a reset does it, and the memory of page tables
 * must not decrease before.
 */
static void page_tables_stay_until_the_tlbs_are_invalidated(void)
{
	struct fixture fx = fx_open();
	struct unmapper unmapper = { .fx = &fx };
	int resets = need_counts().resets;
	pthread_t thread;
	u64 before;

	CHECK_OK(set_module_parameter("fw_timeout_ms", FW_TIMEOUT_MS));
	need_map(fx.fd, fx.vm, 0, 0, TABLES_VA, TABLES_BYTES, DRM_PUMICE_BIND_NULL);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, TABLES_VA, 1)), 1);
	before = fdinfo_number(fx.fd, "pumice-page-tables");
	fx_block(&fx);
	need_firmware_stopped();
	CHECK_OK(-pthread_create(&thread, NULL, unmap_tables, &unmapper));
	while (fdinfo_number(fx.fd, "pumice-page-tables") >= before)
		CHECK(!__atomic_load_n(&unmapper.done, __ATOMIC_ACQUIRE) ||
		      fdinfo_number(fx.fd, "pumice-page-tables") < before);
	CHECK(need_counts().resets > resets);
	CHECK_OK(-pthread_join(thread, NULL));
	CHECK_EQUAL(fx_wait(&fx), -ECANCELED);
	fx = fx_open();
	fx_check_works(&fx);
}

/* Several threads detect a firmware that stops reading: one reset is enough. */
static void firmware_that_stops_reading_costs_one_reset(void)
{
	int fd = need_deaf_gpu(), resets = need_counts().resets, i;
	u32 syncs[KCCB_ENTRIES];
	struct fixture late[3], deaf;

	for (i = 0; i < 3; i++)
		late[i] = fx_with(fd, DRM_PUMICE_PRIORITY_NORMAL, 100);
	deaf = fx_deaf(fd, syncs, KCCB_ENTRIES);
	for (i = 0; i < 3; i++)
		fx_submit(&late[i], fx_empty_stream(&late[i]));
	for (i = 0; i < 3; i++)
		CHECK_EQUAL(fx_wait(&late[i]), 1);
	check_innocent(&deaf);
	fx_check_works(&late[0]);
	CHECK_EQUAL(need_counts().resets, resets + 1);
}

/* Open the GPU and submit jobs of which one hangs, most of them queued after it. */
static void live(unsigned int *seed)
{
	struct fixture fx = fx_open();
	const u64 good = fx_store_stream(&fx, fx.data.va, 5), loop = fx_loop_stream(&fx);
	const int hang = rand_r(seed) % (JOBS / 2);
	int i, err = 0;

	for (i = 0; i < JOBS && !err; i++) {
		struct drm_pumice_job job = {
			.context = fx.context, .stream = i == hang ? loop : good,
		};

		err = gpu_submit(fx.fd, &job, 1, NULL);
		CHECK(!err || err == -EIO);
	}
	if (rand_r(seed) % 2)
		CHECK_OK(gpu_context_destroy(fx.fd, fx.context));
	fx_close(&fx);
}

static void *lives(void *arg)
{
	unsigned int seed = (unsigned int)(uintptr_t)arg;
	int i;

	for (i = 0; i < LIVES; i++)
		live(&seed);
	return NULL;
}

/* Contexts are created and destroyed while their jobs time out. */
static void time_out(unsigned int ms)
{
	pthread_t threads[THREADS];
	struct fixture fx;
	uintptr_t i;

	need_firmware(NULL);
	CHECK_OK(set_module_parameter("fw_timeout_ms", USUAL_TIMEOUT_MS));
	CHECK_OK(set_module_parameter("job_timeout_ms", ms));
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, lives, (void *)(i + ms)));
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_join(threads[i], NULL));
	CHECK_OK(set_module_parameter("job_timeout_ms", USUAL_TIMEOUT_MS));
	fx = fx_open();
	fx_check_works(&fx);
}

static void jobs_may_time_out_after_4_ms(void)
{
	time_out(4);
}

static void jobs_may_time_out_after_100_ms(void)
{
	time_out(100);
}

/*
 * The worker of an asynchronous bind waits for a reset, because the firmware does not reply.
 * The kernel reports errors of the wait, which the runner finds in its log.
 */
static void asynchronous_bind_may_reset_the_gpu(void)
{
	struct drm_pumice_bind_op op = bind_unmap(FX_FREE, 16 * PAGE);
	struct drm_pumice_sync done;
	int resets, i;

	need_firmware(NULL);
	resets = need_counts().resets;
	for (i = 0; i < 20 && need_counts().resets == resets; i++) {
		struct fixture fx = fx_open();

		CHECK_OK(set_module_parameter("fw_timeout_ms", FW_TIMEOUT_MS));
		done = then_signal(need_sync(fx.fd), 0);
		need_map(fx.fd, fx.vm, need_bo(fx.fd, 16 * PAGE), 0, FX_FREE, 16 * PAGE, 0);
		CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 7)), 1);
		CHECK_OK(set_module_parameter("fw_timeout_ms", 0));
		CHECK_OK(gpu_bind_async(fx.fd, fx.vm, &op, 1, &done, 1));
		need_wait(fx.fd, done.handle, 0);
		CHECK_OK(set_module_parameter("fw_timeout_ms", FW_TIMEOUT_MS));
		fx_close(&fx);
	}
	CHECK(need_counts().resets > resets);
}

static void check_resets(int fd, u64 count, u64 guilty, u64 innocent)
{
	struct drm_pumice_file_get_resets resets;

	CHECK_OK(gpu_resets(fd, &resets));
	CHECK_EQUAL(resets.state, 0);
	CHECK_EQUAL(resets.resets, count);
	CHECK_EQUAL(resets.guilty, guilty);
	CHECK_EQUAL(resets.innocent, innocent);
}

/* For its own contexts, destroyed ones included; and for the GPU since it was opened. */
static void file_reports_resets_and_time_outs(void)
{
	struct fixture hanging, lost, idle;
	int later;

	need_firmware(NULL);
	hanging = fx_with(need_gpu(), DRM_PUMICE_PRIORITY_NORMAL, 200);
	lost = fx_open();
	idle = fx_open();
	check_resets(hanging.fd, 0, 0, 0);
	fx_hang(&hanging);
	CHECK_EQUAL(fx_wait(&hanging), -ETIMEDOUT);
	check_resets(hanging.fd, 0, 1, 0);
	check_resets(lost.fd, 0, 0, 0);
	CHECK_OK(gpu_context_destroy(hanging.fd, hanging.context));
	check_resets(hanging.fd, 0, 1, 0);
	fx_block(&lost);
	need_flr();
	CHECK_EQUAL(fx_wait(&lost), -ECANCELED);
	later = need_gpu();
	check_resets(hanging.fd, 1, 1, 0);
	check_resets(lost.fd, 1, 0, 1);
	check_resets(idle.fd, 1, 0, 0);
	check_resets(later, 0, 0, 0);
	lost.context = need_context(lost.fd, lost.vm);
	fx_block(&lost);
	need_flr();
	CHECK_EQUAL(fx_wait(&lost), -ECANCELED);
	check_resets(lost.fd, 2, 0, 2);
	check_resets(later, 1, 0, 0);
}

/* Destroying a context with jobs does not count as a fault. */
static void destroyed_contexts_are_not_blamed(void)
{
	struct fixture fx;

	need_firmware(NULL);
	fx = fx_open();
	fx_block(&fx);
	CHECK_OK(gpu_context_destroy(fx.fd, fx.context));
	check_resets(fx.fd, 0, 0, 0);
}

static void arguments_of_the_reset_query_must_be_zero(void)
{
	struct drm_pumice_file_get_resets flags = { .flags = 1 }, state = { .state = ~0u };
	int fd = need_gpu();

	CHECK_ERROR(gpu_ioctl(fd, DRM_IOCTL_PUMICE_FILE_GET_RESETS, &flags), EINVAL);
	CHECK_EQUAL(flags.flags, 1);
	/* The output of the previous call is ignored. */
	CHECK_OK(gpu_ioctl(fd, DRM_IOCTL_PUMICE_FILE_GET_RESETS, &state));
	CHECK_EQUAL(state.state, 0);
}

static void reset_is_announced_where_the_kernel_can(void)
{
	u32 syncs[KCCB_ENTRIES + 1];
	int fd = need_deaf_gpu(), events = need_uevents();
	struct fixture deaf = fx_deaf(fd, syncs, KCCB_ENTRIES + 1);

	check_innocent(&deaf);
	check_wedged(events, "WEDGED=none");
}

static void usual_firmware_works_afterwards(void)
{
	struct fixture fx;

	need_firmware(NULL);
	fx = fx_open();
	fx_check_works(&fx);
}

static const struct test_case cases[] = {
	TEST_CASE_RESETS(job_that_the_firmware_never_got_may_time_out),
	TEST_CASE_RESETS(jobs_end_in_their_order_when_the_firmware_is_full),
	TEST_CASE_RESETS(firmware_that_stops_reading_costs_one_reset),
	TEST_CASE_RESETS(page_tables_stay_until_the_tlbs_are_invalidated),
	TEST_CASE(jobs_may_time_out_after_4_ms),
	TEST_CASE(jobs_may_time_out_after_100_ms),
	TEST_CASE_RESETS(asynchronous_bind_may_reset_the_gpu),
	TEST_CASE(file_reports_resets_and_time_outs),
	TEST_CASE(destroyed_contexts_are_not_blamed),
	TEST_CASE(arguments_of_the_reset_query_must_be_zero),
	TEST_CASE_RESETS(reset_is_announced_where_the_kernel_can),
	TEST_CASE(usual_firmware_works_afterwards),
};

int main(int argc, char **argv)
{
	const struct test_parameter timeouts[] = {
		{ "job_timeout_ms", USUAL_TIMEOUT_MS },
		{ "fw_timeout_ms", FW_TIMEOUT_MS },
	};

	return test_main_with(argc, argv, cases, sizeof(cases) / sizeof(cases[0]), timeouts,
			      sizeof(timeouts) / sizeof(timeouts[0]));
}
