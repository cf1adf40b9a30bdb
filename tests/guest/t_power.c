// SPDX-License-Identifier: MIT
/*
 * Power management: a GPU without jobs sleeps, without visible effects; likewise when the
 * whole system sleeps, which waits for a GPU with jobs.
 *
 * The delay after which the GPU sleeps is set to zero while this program runs.
 * System sleep uses the kernel's test mode, which ends by itself (pm_test).
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "debugfs.h"
#include "harness.h"
#include "power.h"
#include "render.h"
#include "system.h"

/*
 * Nominal duration of the system's sleep, which the kernel spends in a loop that it has calibrated
 * at boot: on an emulated processor it may take much less.
 */
#define SLEEP_S	"4"
/* Number of jobs that do nothing: a queue's ring holds some, the kernel the others. */
#define QUEUED_JOBS	500u
#define FIRMWARE_JOBS	407u

static void gpu_without_jobs_sleeps(void)
{
	need_gpu();
	need_gpu_asleep();
}

static void open_file_with_context_does_not_keep_it_awake(void)
{
	struct fixture fx = fx_open();

	fx_check_works(&fx);
	need_gpu_asleep();
}

static void job_keeps_it_awake(void)
{
	struct fixture fx = fx_open();
	unsigned int i;

	fx_block(&fx);
	need_in_flight(1);
	for (i = 0; i < 50; i++)
		CHECK(power_is("active"));
	gpu_context_destroy(fx.fd, fx.context);
	need_gpu_asleep();
}

/* The GPU's own counters restart with each sleep. */
static void statistics_survive_sleep(void)
{
	struct render r = render_open();
	struct drm_pumice_query_stats before, after;
	struct fixture transfer = r.fx;

	transfer.context = need_context_of(r.fx.fd, r.fx.vm, DRM_PUMICE_CONTEXT_TRANSFER);
	render_check_works(&r);
	fx_check_works(&r.fx);
	CHECK_EQUAL(fx_run(&transfer, transfer_fill_stream(&transfer, r.fx.data.va, 1, 64)), 1);
	before = need_stats(r.fx.fd);
	need_gpu_asleep();
	after = need_stats(r.fx.fd);
	CHECK_EQUAL(after.compute_busy, before.compute_busy);
	CHECK_EQUAL(after.geometry_busy, before.geometry_busy);
	CHECK_EQUAL(after.fragment_busy, before.fragment_busy);
	CHECK_EQUAL(after.transfer_busy, before.transfer_busy);
	CHECK_EQUAL(after.partial_renders, before.partial_renders);
}

static void context_continues_after_each_sleep(void)
{
	struct fixture fx = fx_open();
	unsigned int i;

	for (i = 1; i <= 20; i++) {
		CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, fx.data.va, i)), 1);
		CHECK_EQUAL(fx.data.cpu[0], i);
		need_gpu_asleep();
	}
	CHECK_EQUAL(need_state(fx.fd, fx.context).jobs_done, 20);
	CHECK_EQUAL(need_state(fx.fd, fx.context).jobs_faulted, 0);
}

static void sleep_is_not_a_gpu_reset(void)
{
	struct fixture fx = fx_open();
	int resets = need_counts().resets;

	fx_check_works(&fx);
	need_gpu_asleep();
	fx_check_works(&fx);
	CHECK_EQUAL(need_counts().resets, resets);
	CHECK_EQUAL(need_state(fx.fd, fx.context).state, 0);
}

/* Changes of mappings wake the GPU in mode strict, for the description of buffers. */
static bool binds_wake(void)
{
	return !strcmp(debugfs_text("mode"), "strict\n");
}

static void mapping_changed_during_sleep_is_seen(void)
{
	const bool wakes = binds_wake();
	struct fixture fx = fx_open();
	u32 other = need_bo(fx.fd, FX_DATA_BYTES);
	u32 *cpu = need_cpu(fx.fd, other, FX_DATA_BYTES);
	u64 stream = fx_store_stream(&fx, fx.data.va, 5);

	CHECK_EQUAL(fx_run(&fx, stream), 1);
	CHECK_EQUAL(fx.data.cpu[0], 5);
	fx.data.cpu[0] = 0;
	need_gpu_asleep();
	need_unmap(fx.fd, fx.vm, fx.data.va, FX_DATA_BYTES);
	need_map(fx.fd, fx.vm, other, 0, fx.data.va, FX_DATA_BYTES, 0);
	CHECK(wakes || power_is("suspended"));
	CHECK_EQUAL(fx_run(&fx, stream), 1);
	CHECK_EQUAL(cpu[0], 5);
	CHECK_EQUAL(fx.data.cpu[0], 0);
}

static void objects_may_be_destroyed_during_sleep(void)
{
	const bool wakes = binds_wake();
	struct fixture fx = fx_open();

	fx_check_works(&fx);
	need_gpu_asleep();
	CHECK_OK(gpu_context_destroy(fx.fd, fx.context));
	need_unmap(fx.fd, fx.vm, fx.data.va, FX_DATA_BYTES);
	CHECK_OK(gpu_vm_destroy(fx.fd, fx.vm));
	fx_close(&fx);
	need_nothing_left();
	CHECK(wakes || power_is("suspended"));
}

static void clock_continues_during_sleep(void)
{
	struct drm_pumice_query_timestamp before, after;
	u32 size = sizeof(before);
	int fd = need_gpu();

	CHECK_OK(gpu_query(fd, DRM_PUMICE_QUERY_TIMESTAMP, &before, &size));
	need_gpu_asleep();
	CHECK_OK(gpu_query(fd, DRM_PUMICE_QUERY_TIMESTAMP, &after, &size));
	CHECK(after.gpu_ticks > before.gpu_ticks);
}

static void function_reset_during_sleep_harms_no_context(void)
{
	struct fixture fx = fx_open();

	fx_check_works(&fx);
	need_gpu_asleep();
	need_flr();
	fx_check_works(&fx);
	CHECK_EQUAL(need_state(fx.fd, fx.context).state, 0);
}

static void driver_may_be_unbound_and_bound_during_sleep(void)
{
	struct fixture fx = fx_open();

	fx_check_works(&fx);
	need_gpu_asleep();
	need_unbound();
	fx_close(&fx);
	need_bound();
	CHECK_OK(power_set("autosuspend_delay_ms", "0"));
	fx = fx_open();
	fx_check_works(&fx);
	need_gpu_asleep();
}

static void context_continues_after_the_system_slept(void)
{
	struct fixture fx = fx_open();

	fx_check_works(&fx);
	need_system_sleep(SLEEP_S);
	fx_check_works(&fx);
	CHECK_EQUAL(need_state(fx.fd, fx.context).state, 0);
}

/* Let the system sleep without jobs; return how long that takes, in ns. */
static u64 time_of_a_sleep(void)
{
	const u64 start = now_ns();

	need_system_sleep(SLEEP_S);
	return now_ns() - start;
}

/*
 * The system may sleep when an endless job has been stopped. Until then the queue of the
 * other context, which the driver checks periodically, submits no more jobs to the
 * firmware: exactly those that did not fit run after the sleep.
 */
static void queued_jobs_wait_for_the_end_of_the_systems_sleep(void)
{
	int fd = need_gpu();
	struct fixture hanging = fx_with(fd, DRM_PUMICE_PRIORITY_NORMAL, 4000);
	struct fixture queued = fx_with(fd, DRM_PUMICE_PRIORITY_NORMAL, 400);
	u32 syncs[QUEUED_JOBS], i, slept_before = 0;
	u64 empty = fx_empty_stream(&queued), gap, longest = 0;
	const u64 sleep = time_of_a_sleep();

	fx_block(&hanging);
	for (i = 0; i < QUEUED_JOBS; i++) {
		queued.sync = syncs[i] = need_sync(fd);
		fx_submit(&queued, empty);
	}
	need_in_flight(1 + FIRMWARE_JOBS);
	need_system_sleep(SLEEP_S);
	for (i = 0; i < QUEUED_JOBS; i++) {
		need_wait(fd, syncs[i], 0);
		CHECK_EQUAL(sync_status(fd, syncs[i], 0), 1);
		gap = i ? sync_signaled_at(fd, syncs[i]) - sync_signaled_at(fd, syncs[i - 1]) : 0;
		if (gap > longest) {
			longest = gap;
			slept_before = i;
		}
	}
	CHECK_EQUAL(slept_before, FIRMWARE_JOBS);
	CHECK(longest > sleep / 2);
	CHECK_EQUAL(fx_wait(&hanging), -ETIMEDOUT);
}

static const struct test_case cases[] = {
	TEST_CASE(gpu_without_jobs_sleeps),
	TEST_CASE(open_file_with_context_does_not_keep_it_awake),
	TEST_CASE(job_keeps_it_awake),
	TEST_CASE(statistics_survive_sleep),
	TEST_CASE(context_continues_after_each_sleep),
	TEST_CASE(sleep_is_not_a_gpu_reset),
	TEST_CASE(mapping_changed_during_sleep_is_seen),
	TEST_CASE(objects_may_be_destroyed_during_sleep),
	TEST_CASE(clock_continues_during_sleep),
	TEST_CASE(function_reset_during_sleep_harms_no_context),
	TEST_CASE(driver_may_be_unbound_and_bound_during_sleep),
	TEST_CASE(context_continues_after_the_system_slept),
	TEST_CASE(queued_jobs_wait_for_the_end_of_the_systems_sleep),
};

int main(int argc, char **argv)
{
	char usual[32];
	int status;

	power_read("autosuspend_delay_ms", usual, sizeof(usual));
	if (power_set("autosuspend_delay_ms", "0")) {
		printf("Bail out! the delay before sleep cannot be set\n");
		return 1;
	}
	status = test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
	return power_set("autosuspend_delay_ms", usual) ? 1 : status;
}
