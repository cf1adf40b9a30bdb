// SPDX-License-Identifier: MIT
/*
 * A GPU with two virtual GPUs, of which number 1 is a function of its own (pumice-vgpu): each has
 * a render node, and neither depends on the other more than necessary.
 *
 * Every case leaves both bound.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <libgen.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "fixture.h"
#include "harness.h"
#include "parameters.h"
#include "power.h"
#include "pumice_regs.h"
#include "system.h"

#define DRIVER		"/sys/bus/pci/drivers/pumice"
#define FIRST_NODE	128
#define NODES		16
#define NAME_BYTES	64
#define POLL_US		10000
#define SETTLE_NS	20000000000ull
/* Time-out of the firmware in cases that exceed it, ms. */
#define SHORT_TIMEOUT_MS	500
/* Time-out of a job that a system awaits before it sleeps: a lost connection is noticed earlier. */
#define SLEEPING_JOB_MS		2500

/* PCI names of both functions, bound or not. */
struct pair {
	char first[NAME_BYTES];
	char second[NAME_BYTES];
};

static u32 read_number(const char *path)
{
	FILE *file = fopen(path, "re");
	u32 number = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%x", &number) != 1)
		number = 0;
	fclose(file);
	return number;
}

/* Open the render node of the function with this PCI device id, or return a negative errno. */
static int open_function(u32 device)
{
	char path[128];
	int i;

	for (i = 0; i < NODES; i++) {
		snprintf(path, sizeof(path), "/sys/class/drm/renderD%d/device/device",
			 FIRST_NODE + i);
		if (read_number(path) != device)
			continue;
		snprintf(path, sizeof(path), "/dev/dri/renderD%d", FIRST_NODE + i);
		return open(path, O_RDWR | O_CLOEXEC);
	}
	return -ENODEV;
}

/* Open it, waiting until the driver is bound. */
static int need_function(u32 device)
{
	const u64 deadline = now_ns() + SETTLE_NS;
	int fd = open_function(device);

	while (fd < 0 && now_ns() < deadline) {
		usleep(POLL_US);
		fd = open_function(device);
	}
	CHECK(fd >= 0);
	return fd;
}

static struct fixture on_first(void)
{
	return fx_on(need_function(PUMICE_PCI_DEVICE));
}

static struct fixture on_second(void)
{
	return fx_on(need_function(PUMICE_PCI_DEVICE_VGPU));
}

static void unbind(const char *name)
{
	CHECK_OK(write_file(DRIVER "/unbind", name));
}

static void bind(const char *name)
{
	CHECK_OK(write_file(DRIVER "/bind", name));
}

/* Find the function with this PCI device id, and bind it if an earlier case failed. */
static void need_name(u32 device, char *name)
{
	char path[320];
	glob_t found;
	size_t i;

	name[0] = '\0';
	CHECK(!glob("/sys/bus/pci/devices/*", 0, NULL, &found));
	for (i = 0; i < found.gl_pathc; i++) {
		snprintf(path, sizeof(path), "%s/device", found.gl_pathv[i]);
		if (read_number(path) == device)
			snprintf(name, NAME_BYTES, "%s", basename(found.gl_pathv[i]));
	}
	globfree(&found);
	CHECK(name[0]);
	snprintf(path, sizeof(path), DRIVER "/%s", name);
	if (access(path, F_OK))
		bind(name);
}

/* Number 0 first: the other one is deferred without firmware. */
static struct pair need_pair(void)
{
	struct pair pair;

	need_name(PUMICE_PCI_DEVICE, pair.first);
	need_name(PUMICE_PCI_DEVICE_VGPU, pair.second);
	return pair;
}

static void check_both_work(void)
{
	struct fixture first = on_first(), second = on_second();

	fx_check_works(&first);
	fx_check_works(&second);
	fx_close(&second);
	fx_close(&first);
}

/* Return the status of a job, submitted last, whose device was unplugged meanwhile. */
static int status_of(int file)
{
	struct pollfd fd = { .fd = file, .events = POLLIN };

	CHECK_EQUAL(poll(&fd, 1, SETTLE_NS / 1000000), 1);
	return sync_file_status(file);
}

static void check_context(const struct fixture *fx, u32 state)
{
	CHECK_EQUAL(need_state(fx->fd, fx->context).state, state);
}

static void both_nodes_run_jobs(void)
{
	check_both_work();
}

static void second_runs_jobs_while_the_first_is_busy(void)
{
	struct fixture first = on_first(), second = on_second();

	fx_run_on(&first);
	fx_check_works(&second);
	CHECK(sync_is_pending(first.fd, first.sync, 0));
	fx_close(&first);
	fx_check_works(&second);
	fx_close(&second);
}

static void first_runs_jobs_while_the_second_is_busy(void)
{
	struct fixture first = on_first(), second = on_second();

	fx_run_on(&second);
	fx_check_works(&first);
	CHECK(sync_is_pending(second.fd, second.sync, 0));
	fx_close(&second);
	fx_check_works(&first);
	fx_close(&first);
}

/* The firmware kills it, because it cannot be switched out, not the driver after its time-out. */
static void check_hang(struct fixture *hanging, struct fixture *other)
{
	fx_block(hanging);
	fx_check_works(other);
	CHECK_EQUAL(fx_wait(hanging), -ETIMEDOUT);
	check_context(hanging, DRM_PUMICE_CONTEXT_GUILTY);
	CHECK_ERROR(fx_try_points(hanging, fx_empty_stream(hanging), hanging->sync, 0, 0), EIO);
	check_context(other, 0);
	fx_check_works(other);
	fx_close(hanging);
	fx_close(other);
	check_both_work();
}

static void hang_on_the_second_leaves_the_first(void)
{
	struct fixture first = on_first(), second = on_second();

	check_hang(&second, &first);
}

static void hang_on_the_first_leaves_the_second(void)
{
	struct fixture first = on_first(), second = on_second();

	check_hang(&first, &second);
}

static void files_of_the_whole_gpu_are_those_of_the_first(void)
{
	static const char *const names[] = { "gpu_trace", "hierarchy", "mode", "pds_shares" };
	char path[256];
	u32 i;

	gpu_choose(need_function(PUMICE_PCI_DEVICE));
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CHECK(debugfs_path(names[i], path, sizeof(path)));
	gpu_choose(need_function(PUMICE_PCI_DEVICE_VGPU));
	CHECK(debugfs_path("state", path, sizeof(path)));
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CHECK(!debugfs_path(names[i], path, sizeof(path)));
}

/* The first one's job runs on, and contexts of a new connection work. */
static void second_is_unbound_with_jobs(void)
{
	const struct pair pair = need_pair();
	struct fixture first = on_first(), second = on_second();
	int file;

	fx_run_on(&first);
	fx_run_on(&second);
	file = need_sync_file(second.fd, second.sync);
	unbind(pair.second);
	CHECK_EQUAL(status_of(file), -ENODEV);
	close(file);
	CHECK(sync_is_pending(first.fd, first.sync, 0));
	fx_close(&second);
	bind(pair.second);
	second = on_second();
	fx_check_works(&second);
	CHECK(sync_is_pending(first.fd, first.sync, 0));
	fx_close(&second);
	fx_close(&first);
}

/* The second one's connection ends with the GPU's; it is bound again when the first one is back. */
static void first_is_unbound_while_the_second_has_jobs(void)
{
	const struct pair pair = need_pair();
	struct fixture second = on_second();
	int file;

	CHECK_OK(set_module_parameter("fw_timeout_ms", SHORT_TIMEOUT_MS));
	fx_run_on(&second);
	file = need_sync_file(second.fd, second.sync);
	unbind(pair.first);
	CHECK(status_of(file) < 0);
	close(file);
	fx_close(&second);
	/* It was unplugged after two attempts to connect. */
	unbind(pair.second);
	bind(pair.first);
	bind(pair.second);
	check_both_work();
}

static void second_without_a_firmware_is_deferred(void)
{
	const struct pair pair = need_pair();

	unbind(pair.second);
	unbind(pair.first);
	CHECK_ERROR(write_file(DRIVER "/bind", pair.second), EAGAIN);
	CHECK_EQUAL(open_function(PUMICE_PCI_DEVICE_VGPU), -ENODEV);
	/* As when the module is loaded; the core does not repeat a bind by a user. */
	write_file("/sys/bus/pci/drivers_probe", pair.second);
	CHECK_EQUAL(open_function(PUMICE_PCI_DEVICE_VGPU), -ENODEV);
	bind(pair.first);
	check_both_work();
}

static void second_connects_again_after_a_reset_by_the_first(void)
{
	const int first = need_function(PUMICE_PCI_DEVICE);
	struct fixture idle, busy;

	need_pair();
	idle = on_second();
	busy = on_second();
	fx_check_works(&idle);
	fx_run_on(&busy);
	gpu_choose(first);
	need_flr();
	CHECK_EQUAL(fx_wait(&busy), -ECANCELED);
	check_context(&busy, DRM_PUMICE_CONTEXT_INNOCENT);
	fx_check_works(&idle);
	check_context(&idle, 0);
	fx_close(&busy);
	fx_close(&idle);
	close(first);
	check_both_work();
}

static void reset_of_the_second_function_leaves_the_first(void)
{
	struct fixture first, idle, busy;

	need_pair();
	first = on_first();
	idle = on_second();
	busy = on_second();
	fx_check_works(&idle);
	fx_run_on(&first);
	fx_run_on(&busy);
	gpu_choose(busy.fd);
	need_flr();
	CHECK_EQUAL(fx_wait(&busy), -ECANCELED);
	check_context(&busy, DRM_PUMICE_CONTEXT_INNOCENT);
	fx_check_works(&idle);
	CHECK(sync_is_pending(first.fd, first.sync, 0));
	check_context(&first, 0);
	fx_close(&busy);
	fx_close(&idle);
	fx_close(&first);
	check_both_work();
}

/* The system waits for the end of an endless job, and both work afterwards. */
static void check_sleep(u32 busy_device, u32 other_device)
{
	struct fixture busy, other;

	need_pair();
	busy = fx_with(need_function(busy_device), DRM_PUMICE_PRIORITY_NORMAL, SLEEPING_JOB_MS);
	other = fx_on(need_function(other_device));
	fx_check_works(&other);
	fx_run_on(&busy);
	need_system_sleep("1");
	CHECK_EQUAL(fx_wait(&busy), -ETIMEDOUT);
	fx_check_works(&other);
	check_context(&other, 0);
	fx_close(&other);
	fx_close(&busy);
	check_both_work();
}

static void system_sleeps_after_a_job_of_the_second(void)
{
	check_sleep(PUMICE_PCI_DEVICE_VGPU, PUMICE_PCI_DEVICE);
}

static void system_sleeps_after_a_job_of_the_first(void)
{
	check_sleep(PUMICE_PCI_DEVICE, PUMICE_PCI_DEVICE_VGPU);
}

static const struct test_case cases[] = {
	TEST_CASE(both_nodes_run_jobs),
	TEST_CASE(second_runs_jobs_while_the_first_is_busy),
	TEST_CASE(first_runs_jobs_while_the_second_is_busy),
	TEST_CASE(hang_on_the_second_leaves_the_first),
	TEST_CASE(hang_on_the_first_leaves_the_second),
	TEST_CASE(files_of_the_whole_gpu_are_those_of_the_first),
	TEST_CASE(second_is_unbound_with_jobs),
	TEST_CASE(reset_of_the_second_function_leaves_the_first),
	TEST_CASE(second_connects_again_after_a_reset_by_the_first),
	TEST_CASE(system_sleeps_after_a_job_of_the_second),
	TEST_CASE(system_sleeps_after_a_job_of_the_first),
	TEST_CASE(second_without_a_firmware_is_deferred),
	TEST_CASE(first_is_unbound_while_the_second_has_jobs),
};

int main(int argc, char **argv)
{
	/* Restored afterwards. */
	const struct test_parameter timeout = { "fw_timeout_ms", 5000 };

	return test_main_with(argc, argv, cases, sizeof(cases) / sizeof(cases[0]), &timeout, 1);
}
