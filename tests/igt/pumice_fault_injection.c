// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * The probe of the device with its first, second, ... allocation failing. The kernel's fail-nth
 * makes the n-th one of this process fail (debug kernel); binding by sysfs probes in the process
 * that writes. The same for every ioctl: tests/guest/t_alloc_fail.c.
 *
 * The allocations are dealt out to several subtests, each of which takes every STEP-th.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "igt_pumice.h"
#include "rig.h"
#include "system.h"

IGT_TEST_DESCRIPTION("A probe that runs out of memory fails as a whole, and the next one works.");

#define FAIL_NTH	"/proc/thread-self/fail-nth"
#define DEBUGFS		"/sys/kernel/debug/"
#define PCI_DRIVER	"/sys/bus/pci/drivers/pumice"
#define STEP		6u
#define MIN_FAILURES	5u	/* of a subtest; a probe allocates more often */

/* Said by the driver, the driver core and the firmware loader of a probe that failed. */
#define MESSAGES	"failed with error|cannot be|\\*ERROR\\*|pumice"

/* Without these, only allocations that may not wait would fail. */
static const struct setting {
	const char *path;
	const char *value, *usual;
} settings[] = {
	{ DEBUGFS "failslab/ignore-gfp-wait", "N", "Y" },
	{ DEBUGFS "failslab/verbose", "0", "2" },
	{ DEBUGFS "fail_page_alloc/ignore-gfp-wait", "N", "Y" },
	{ DEBUGFS "fail_page_alloc/min-order", "0", "1" },
	{ DEBUGFS "fail_page_alloc/verbose", "0", "2" },
};

#define SETTINGS	(sizeof(settings) / sizeof(settings[0]))

static void restore_settings(int signal)
{
	u32 i;

	(void)signal;
	for (i = 0; i < SETTINGS; i++)
		write_file(settings[i].path, settings[i].usual);
}

static void need_settings(void)
{
	u32 i;

	igt_require_f(!access(FAIL_NTH, W_OK), "the kernel has no fail-nth\n");
	igt_install_exit_handler(restore_settings);
	for (i = 0; i < SETTINGS; i++)
		CHECK_OK(write_file(settings[i].path, settings[i].value));
}

/* Bind the device with the @nth allocation failing. Return: whether there was one to fail. */
static bool bind_with_failure(u32 nth, int *err)
{
	char text[32] = "", name[64];
	int fd = open(FAIL_NTH, O_RDWR | O_CLOEXEC);

	igt_assert_fd(fd);
	CHECK_OK(gpu_pci_name(name, sizeof(name)));
	snprintf(text, sizeof(text), "%u", nth);
	igt_assert_lt(0, (int)pwrite(fd, text, strlen(text), 0));
	*err = write_file(PCI_DRIVER "/bind", name);
	memset(text, 0, sizeof(text));
	igt_assert_lt(0, (int)pread(fd, text, sizeof(text) - 1, 0));
	if (atoi(text))
		igt_assert_eq((int)pwrite(fd, "0", 1, 0), 1);
	close(fd);
	return !atoi(text);
}

static void check_works(void)
{
	struct rig rig;

	need_bound();
	rig = rig_open();
	rig_check_works(&rig);
	rig_close(&rig);
}

/* Fail allocations @first, @first + STEP, ... of the probe, to the last that it makes. */
static void fail_from(u32 first)
{
	u32 nth = first, failed = 0;
	int err, fd;

	for (;; nth += STEP) {
		need_unbound();
		if (!bind_with_failure(nth, &err))
			break;
		/* A driver can do without some things that it wants. */
		if (err) {
			fd = gpu_open();
			igt_assert_lt(fd, 0);
			failed++;
		}
	}
	CHECK_OK(err);
	igt_info("%u of %u probes failed\n", failed, (nth - first) / STEP);
	igt_assert_lte_u32(MIN_FAILURES, failed);
	check_works();
	need_nothing_left();
}

static void probe_1(void)
{
	fail_from(1);
}

static void probe_2(void)
{
	fail_from(2);
}

static void probe_3(void)
{
	fail_from(3);
}

static void probe_4(void)
{
	fail_from(4);
}

static void probe_5(void)
{
	fail_from(5);
}

static void probe_6(void)
{
	fail_from(6);
}

int igt_main()
{
	igt_fixture() {
		igt_pumice_require(IGT_PUMICE_PATIENT);
		need_settings();
	}

	igt_pumice_subtest_logs("probe-1", "allocations 1, 7, 13, ... fail", probe_1, MESSAGES);
	igt_pumice_subtest_logs("probe-2", "allocations 2, 8, 14, ... fail", probe_2, MESSAGES);
	igt_pumice_subtest_logs("probe-3", "allocations 3, 9, 15, ... fail", probe_3, MESSAGES);
	igt_pumice_subtest_logs("probe-4", "allocations 4, 10, 16, ... fail", probe_4, MESSAGES);
	igt_pumice_subtest_logs("probe-5", "allocations 5, 11, 17, ... fail", probe_5, MESSAGES);
	igt_pumice_subtest_logs("probe-6", "allocations 6, 12, 18, ... fail", probe_6, MESSAGES);
}
