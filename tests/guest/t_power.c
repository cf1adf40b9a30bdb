// SPDX-License-Identifier: MIT
/*
 * Power management: a GPU without jobs sleeps, unnoticed; and so when the
 * whole system sleeps, which a GPU with jobs makes wait.
 *
 * The delay after which the GPU sleeps is set to nothing for the run of this program.
 * The system's sleep is the kernel's test of it, which ends by itself (pm_test).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <fcntl.h>
#include <unistd.h>

#include "harness.h"
#include "render.h"
#include "system.h"

#define WAIT_MS	5000
/* Sleep of the system: its length, and what must be seen of it at least. */
#define SLEEP_S	"4"
#define SLEEP_MIN_NS	2000000000ull
/* Jobs that do nothing: of which the ring of a queue holds some, the kernel the others. */
#define QUEUED_JOBS	500u
#define FIRMWARE_JOBS	407u

static void attribute_path(char *path, unsigned int bytes, const char *attribute)
{
	char name[64];

	CHECK_OK(gpu_pci_name(name, sizeof(name)));
	snprintf(path, bytes, "/sys/bus/pci/devices/%s/power/%s", name, attribute);
}

static void read_attribute(const char *attribute, char *text, unsigned int bytes)
{
	char path[256];
	ssize_t got;
	int fd;

	attribute_path(path, sizeof(path), attribute);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	got = read(fd, text, bytes - 1);
	CHECK(got > 0);
	text[got - 1] = '\0';	/* over the newline */
	close(fd);
}

static int set_attribute(const char *attribute, const char *text)
{
	char path[256];

	attribute_path(path, sizeof(path), attribute);
	return write_file(path, text);
}

static bool is_status(const char *status)
{
	char text[32];

	read_attribute("runtime_status", text, sizeof(text));
	return !strcmp(text, status);
}

/* Wait until it sleeps. */
static void need_asleep(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	unsigned int i;

	for (i = 0; i < WAIT_MS && !is_status("suspended"); i++)
		nanosleep(&pause, NULL);
	CHECK(is_status("suspended"));
}

static void gpu_without_jobs_sleeps(void)
{
	need_gpu();
	need_asleep();
}

static void open_file_with_context_does_not_keep_it_awake(void)
{
	struct rig rig = rig_open();

	rig_check_works(&rig);
	need_asleep();
}

static void job_keeps_it_awake(void)
{
	struct rig rig = rig_open();
	unsigned int i;

	rig_block(&rig);
	need_in_flight(1);
	for (i = 0; i < 50; i++)
		CHECK(is_status("active"));
	gpu_context_destroy(rig.fd, rig.context);
	need_asleep();
}

/* The GPU's own counters begin anew with each sleep. */
static void statistics_survive_sleep(void)
{
	struct render r = render_open();
	struct drm_pumice_query_stats before, after;
	struct rig transfer = r.rig;

	transfer.context = need_context_of(r.rig.fd, r.rig.vm, DRM_PUMICE_CONTEXT_TRANSFER);
	render_check_works(&r);
	rig_check_works(&r.rig);
	CHECK_EQUAL(rig_run(&transfer, transfer_fill_stream(&transfer, r.rig.data.va, 1, 64)), 1);
	before = need_stats(r.rig.fd);
	need_asleep();
	after = need_stats(r.rig.fd);
	CHECK_EQUAL(after.compute_busy, before.compute_busy);
	CHECK_EQUAL(after.geometry_busy, before.geometry_busy);
	CHECK_EQUAL(after.fragment_busy, before.fragment_busy);
	CHECK_EQUAL(after.transfer_busy, before.transfer_busy);
	CHECK_EQUAL(after.partial_renders, before.partial_renders);
}

static void context_goes_on_after_each_sleep(void)
{
	struct rig rig = rig_open();
	unsigned int i;

	for (i = 1; i <= 20; i++) {
		CHECK_EQUAL(rig_run(&rig, rig_store_stream(&rig, rig.data.va, i)), 1);
		CHECK_EQUAL(rig.data.cpu[0], i);
		need_asleep();
	}
	CHECK_EQUAL(need_state(rig.fd, rig.context).jobs_done, 20);
	CHECK_EQUAL(need_state(rig.fd, rig.context).jobs_faulted, 0);
}

static void sleep_is_no_gpu_reset(void)
{
	struct rig rig = rig_open();
	int resets = need_counts().resets;

	rig_check_works(&rig);
	need_asleep();
	rig_check_works(&rig);
	CHECK_EQUAL(need_counts().resets, resets);
	CHECK_EQUAL(need_state(rig.fd, rig.context).state, 0);
}

static void mapping_changed_during_sleep_is_seen(void)
{
	struct rig rig = rig_open();
	u32 other = need_bo(rig.fd, RIG_DATA_BYTES);
	u32 *cpu = need_cpu(rig.fd, other, RIG_DATA_BYTES);
	u64 stream = rig_store_stream(&rig, rig.data.va, 5);

	CHECK_EQUAL(rig_run(&rig, stream), 1);
	CHECK_EQUAL(rig.data.cpu[0], 5);
	rig.data.cpu[0] = 0;
	need_asleep();
	need_unmap(rig.fd, rig.vm, rig.data.va, RIG_DATA_BYTES);
	need_map(rig.fd, rig.vm, other, 0, rig.data.va, RIG_DATA_BYTES, 0);
	CHECK(is_status("suspended"));
	CHECK_EQUAL(rig_run(&rig, stream), 1);
	CHECK_EQUAL(cpu[0], 5);
	CHECK_EQUAL(rig.data.cpu[0], 0);
}

static void objects_may_go_during_sleep(void)
{
	struct rig rig = rig_open();

	rig_check_works(&rig);
	need_asleep();
	CHECK_OK(gpu_context_destroy(rig.fd, rig.context));
	need_unmap(rig.fd, rig.vm, rig.data.va, RIG_DATA_BYTES);
	CHECK_OK(gpu_vm_destroy(rig.fd, rig.vm));
	rig_close(&rig);
	need_nothing_left();
	CHECK(is_status("suspended"));
}

static void clock_goes_on_during_sleep(void)
{
	struct drm_pumice_query_timestamp before, after;
	u32 size = sizeof(before);
	int fd = need_gpu();

	CHECK_OK(gpu_query(fd, DRM_PUMICE_QUERY_TIMESTAMP, &before, &size));
	need_asleep();
	CHECK_OK(gpu_query(fd, DRM_PUMICE_QUERY_TIMESTAMP, &after, &size));
	CHECK(after.gpu_ticks > before.gpu_ticks);
}

static void function_reset_during_sleep_harms_nobody(void)
{
	struct rig rig = rig_open();

	rig_check_works(&rig);
	need_asleep();
	need_flr();
	rig_check_works(&rig);
	CHECK_EQUAL(need_state(rig.fd, rig.context).state, 0);
}

static void driver_may_go_and_come_during_sleep(void)
{
	struct rig rig = rig_open();

	rig_check_works(&rig);
	need_asleep();
	need_unbound();
	rig_close(&rig);
	need_bound();
	CHECK_OK(set_attribute("autosuspend_delay_ms", "0"));
	rig = rig_open();
	rig_check_works(&rig);
	need_asleep();
}

/* The system sleeps for SLEEP_S, as far as its devices go. */
static void need_system_sleep(void)
{
	CHECK_OK(write_file("/sys/module/suspend/parameters/pm_test_delay", SLEEP_S));
	CHECK_OK(write_file("/sys/power/pm_test", "devices"));
	CHECK_OK(write_file("/sys/power/state", "freeze"));
	CHECK_OK(write_file("/sys/power/pm_test", "none"));
}

static void context_goes_on_after_the_system_slept(void)
{
	struct rig rig = rig_open();

	rig_check_works(&rig);
	need_system_sleep();
	rig_check_works(&rig);
	CHECK_EQUAL(need_state(rig.fd, rig.context).state, 0);
}

/*
 * The system may sleep when an endless job has been stopped. Until then the queue of the
 * other context, which the driver looks at now and then, gives no more jobs to the
 * firmware: those that it lacked room for run after the sleep, and only those.
 */
static void jobs_in_the_queue_wait_for_the_end_of_the_systems_sleep(void)
{
	int fd = need_gpu();
	struct rig hanging = rig_with(fd, DRM_PUMICE_PRIORITY_NORMAL, 4000);
	struct rig queued = rig_with(fd, DRM_PUMICE_PRIORITY_NORMAL, 400);
	u32 syncs[QUEUED_JOBS], i, slept_before = 0;
	u64 empty = rig_empty_stream(&queued), gap, longest = 0;

	rig_block(&hanging);
	for (i = 0; i < QUEUED_JOBS; i++) {
		queued.sync = syncs[i] = need_sync(fd);
		rig_submit(&queued, empty);
	}
	need_in_flight(1 + FIRMWARE_JOBS);
	need_system_sleep();
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
	CHECK(longest > SLEEP_MIN_NS);
	CHECK_EQUAL(rig_wait(&hanging), -ETIMEDOUT);
}

static const struct test_case cases[] = {
	TEST_CASE(gpu_without_jobs_sleeps),
	TEST_CASE(open_file_with_context_does_not_keep_it_awake),
	TEST_CASE(job_keeps_it_awake),
	TEST_CASE(statistics_survive_sleep),
	TEST_CASE(context_goes_on_after_each_sleep),
	TEST_CASE(sleep_is_no_gpu_reset),
	TEST_CASE(mapping_changed_during_sleep_is_seen),
	TEST_CASE(objects_may_go_during_sleep),
	TEST_CASE(clock_goes_on_during_sleep),
	TEST_CASE(function_reset_during_sleep_harms_nobody),
	TEST_CASE(driver_may_go_and_come_during_sleep),
	TEST_CASE(context_goes_on_after_the_system_slept),
	TEST_CASE(jobs_in_the_queue_wait_for_the_end_of_the_systems_sleep),
};

int main(int argc, char **argv)
{
	char usual[32];
	int status;

	read_attribute("autosuspend_delay_ms", usual, sizeof(usual));
	if (set_attribute("autosuspend_delay_ms", "0")) {
		printf("Bail out! the delay before sleep cannot be set\n");
		return 1;
	}
	status = test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
	return set_attribute("autosuspend_delay_ms", usual) ? 1 : status;
}
