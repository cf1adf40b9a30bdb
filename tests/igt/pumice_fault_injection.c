// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * The probe of the device with its first, second, ... allocation failing. The kernel's fail-nth
 * makes the n-th one of this process fail (debug kernel); binding by sysfs probes in the process
 * that writes. The same for every ioctl: tests/guest/t_alloc_fail.c.
 *
 * The allocations are distributed over several subtests, each of which takes every STEP-th.
 *
 * Two parts of the probe are left out, because the kernel's own error paths there have bugs up
 * to at least Linux 6.12: drm_minor_alloc_release() stores an error pointer if the device of a
 * node could not be allocated, and the kernel warns if MSI-X vectors could not. Their limits
 * are counted in probes that fail at known points.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "igt_pumice.h"
#include "fixture.h"
#include "system.h"

IGT_TEST_DESCRIPTION("A probe that runs out of memory fails as a whole, and the next one works.");

#define FAIL_NTH	"/proc/thread-self/fail-nth"
#define DEBUGFS		"/sys/kernel/debug/"
#define PCI_DRIVER	"/sys/bus/pci/drivers/pumice"
#define PCI_DEVICES	"/sys/bus/pci/devices/"
#define PCI_BAR0	0x10	/* of 64 bits */
#define FIRMWARE	"/lib/firmware/pumice/pumice_fw.bin"
#define NEVER		1000000u
#define STEP		6u
#define MIN_FAILURES	5u	/* minimum per subtest; a probe makes more allocations */

/*
 * Driver, driver core, firmware loader and page allocator report a probe that failed, the last
 * one with the state of all memory: any line is expected. Defects that the kernel reports taint
 * it, and fail the guest (scripts/kernel_faults.py).
 */
#define MESSAGES	"."

/* Include allocations that may wait; by default only those that may not would fail. */
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
	rename(FIRMWARE ".away", FIRMWARE);
}

static void need_settings(void)
{
	u32 i;

	igt_require_f(!access(FAIL_NTH, W_OK), "the kernel has no fail-nth\n");
	igt_install_exit_handler(restore_settings);
	for (i = 0; i < SETTINGS; i++)
		CHECK_OK(write_file(settings[i].path, settings[i].value));
}

/* Bind the device with the @nth allocation failing. Return: by how many it exceeds their number. */
static u32 bind_with_failure(u32 nth, int *err)
{
	char text[32] = "", name[64];
	int fd = open(FAIL_NTH, O_RDWR | O_CLOEXEC);

	igt_assert_fd(fd);
	CHECK_OK(gpu_pci_name(name, sizeof(name)));
	snprintf(text, sizeof(text), "%u", nth);
	igt_assert_lt(0, (int)pwrite(fd, text, strlen(text), 0));
	*err = write_file(PCI_DRIVER "/bind", name);
	memset(text, 0, sizeof(text));
	/* Copies from and to the kernel fail the same way: this one, if it is the next. */
	if (pread(fd, text, sizeof(text) - 1, 0) < 0) {
		igt_assert_eq(errno, EFAULT);
		close(fd);
		return 1;
	}
	if (atoi(text) && pwrite(fd, "0", 1, 0) != 1)
		igt_assert_eq((int)pwrite(fd, "0", 1, 0), 1);
	close(fd);
	return (u32)atoi(text);
}

/** struct range - allocations of a probe, counted from 1 */
struct range {
	u32 first, last;
};

/* Count the allocations of a probe that fails because of a missing resource. */
static u32 count_until_it_fails(void)
{
	int err;
	u32 left = bind_with_failure(NEVER, &err);

	igt_assert_lt(err, 0);
	return NEVER - left;
}

/* Count the allocations of a probe while the GPU does not decode its BAR. */
static u32 count_without_registers(const char *name)
{
	const u64 none = 0;
	char path[128];
	u64 bar;
	u32 count;
	int fd;

	snprintf(path, sizeof(path), PCI_DEVICES "%s/config", name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	igt_assert_fd(fd);
	igt_assert_eq((int)pread(fd, &bar, sizeof(bar), PCI_BAR0), (int)sizeof(bar));
	igt_assert_eq((int)pwrite(fd, &none, sizeof(none), PCI_BAR0), (int)sizeof(none));
	count = count_until_it_fails();
	igt_assert_eq((int)pwrite(fd, &bar, sizeof(bar), PCI_BAR0), (int)sizeof(bar));
	close(fd);
	return count;
}

static u32 count_without_msix(const char *name)
{
	char path[128];
	u32 count;

	snprintf(path, sizeof(path), PCI_DEVICES "%s/msi_bus", name);
	CHECK_OK(write_file(path, "0"));
	count = count_until_it_fails();
	CHECK_OK(write_file(path, "1"));
	return count;
}

static u32 count_without_firmware(void)
{
	u32 count;

	igt_assert_eq(rename(FIRMWARE, FIRMWARE ".away"), 0);
	count = count_until_it_fails();
	igt_assert_eq(rename(FIRMWARE ".away", FIRMWARE), 0);
	return count;
}

/* Find the ranges: from the first GPU access to the vectors, and from the firmware to the end. */
static void find_ranges(struct range ranges[2])
{
	char name[64];

	CHECK_OK(gpu_pci_name(name, sizeof(name)));
	ranges[0].first = count_without_registers(name) + 1;
	ranges[0].last = count_without_msix(name);
	ranges[1].first = count_without_firmware() + 1;
	ranges[1].last = NEVER;
	igt_info("allocations %u to %u, and from %u on\n", ranges[0].first, ranges[0].last,
		 ranges[1].first);
	igt_assert_lt_u32(ranges[0].first, ranges[0].last);
	igt_assert_lt_u32(ranges[0].last, ranges[1].first);
}

static void check_works(void)
{
	struct fixture fx;

	need_bound();
	fx = fx_open();
	fx_check_works(&fx);
	fx_close(&fx);
}

/* Probe with the @nth allocation failing; it may succeed. Return: like bind_with_failure(). */
static u32 fail_nth(u32 nth, u32 *failed)
{
	int err, fd;
	u32 left = bind_with_failure(nth, &err);

	if (left) {
		CHECK_OK(err);
	} else if (err) {
		fd = gpu_open();
		igt_assert_lt(fd, 0);
		(*failed)++;
		return left;
	}
	need_unbound();
	return left;
}

/* Fail allocations @first, @first + STEP, ... of each range, to the last that there is. */
static void fail_from(u32 first)
{
	struct range ranges[2];
	u32 i, nth, probes = 0, failed = 0;

	/* A subtest that failed may have left the device without its driver. */
	need_bound();
	need_unbound();
	find_ranges(ranges);
	for (i = 0; i < 2; i++) {
		for (nth = ranges[i].first + first - 1; nth <= ranges[i].last; nth += STEP) {
			probes++;
			if (fail_nth(nth, &failed))
				break;
		}
	}
	igt_info("%u of %u probes failed\n", failed, probes);
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

	igt_pumice_subtest_regex("probe-1", "allocations 1, 7, 13, ... fail", probe_1, MESSAGES);
	igt_pumice_subtest_regex("probe-2", "allocations 2, 8, 14, ... fail", probe_2, MESSAGES);
	igt_pumice_subtest_regex("probe-3", "allocations 3, 9, 15, ... fail", probe_3, MESSAGES);
	igt_pumice_subtest_regex("probe-4", "allocations 4, 10, 16, ... fail", probe_4, MESSAGES);
	igt_pumice_subtest_regex("probe-5", "allocations 5, 11, 17, ... fail", probe_5, MESSAGES);
	igt_pumice_subtest_regex("probe-6", "allocations 6, 12, 18, ... fail", probe_6, MESSAGES);
}
