// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* A program in the form of IGT's with all possible verdicts, which test_layer.py runs. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#include "igt.h"

IGT_TEST_DESCRIPTION("Every verdict that a subtest can end with.");

#define NO_IOCTL 0xffffffffu

static void fail_below(void)
{
	igt_assert_eq(1, 2);
}

static void add_more_subtests(void)
{
	igt_describe("A group whose fixture skips");
	igt_subtest_group() {
		igt_fixture()
			igt_require_f(false, "nothing here\n");

		igt_describe("never runs");
		igt_subtest("skipped-by-fixture")
			igt_assert(false);
	}

	igt_subtest_group() {
		igt_fixture()
			igt_assert(!getenv("LAYER_SAMPLE_FAILS"));

		igt_subtest("failed-by-fixture")
			igt_assert(true);
	}

	igt_subtest("after-groups")
		igt_assert(true);

	igt_subtest("child-passes") {
		igt_fork(child, 3)
			igt_assert_lte(child, 2);
		igt_waitchildren();
	}

	igt_subtest("child-fails") {
		igt_fork(child, 3)
			igt_assert_neq(child, 1);
		igt_waitchildren();
	}

	igt_subtest("child-crashes") {
		igt_fork(child, 1)
			raise(SIGSEGV);
		igt_waitchildren();
	}

	igt_subtest("child-hangs") {
		igt_fork(child, 2)
			pause();
		igt_waitchildren_timeout(1, "children that pause");
	}
}

static void clean_up(int signal)
{
	printf("cleaned up, signal %d\n", signal);
	fflush(stdout);
}

/* Runs in a child, which may not have children. */
static void run_helper(int status)
{
	struct igt_helper_process helper = {};

	igt_fork(child, 1) {
		igt_fork_helper(&helper)
			igt_assert_eq(status, 0);
		igt_assert_eq(igt_wait_helper(&helper), 0);
	}
	igt_waitchildren();
}

static void add_helpers(void)
{
	struct igt_helper_process helper = { .use_SIGKILL = true };

	igt_subtest("helper-passes")
		run_helper(0);

	igt_subtest("helper-is-stopped") {
		igt_fork_helper(&helper)
			pause();
		igt_stop_helper(&helper);
	}

	igt_subtest("helper-fails")
		run_helper(1);

	igt_subtest("announces")
		igt_emit_ignore_dmesg_regex("job [0-9]+ timed out|reset");
}

int igt_main()
{
	int fd = -1;

	igt_fixture() {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (getenv("LAYER_SAMPLE_CLEANS"))
			igt_install_exit_handler(clean_up);
		if (getenv("LAYER_SAMPLE_TERMINATES"))
			raise(SIGTERM);
	}

	igt_describe("Succeeds");
	igt_subtest("passes")
		igt_assert_fd(fd);

	igt_subtest("fails") {
		igt_debug("said before the failure\n");
		fail_below();
	}

	igt_subtest("skips")
		igt_skip_on(fd >= 0);

	igt_subtest("crashes")
		raise(SIGSEGV);

	igt_subtest("warns")
		igt_warn("a warning\n");

	igt_subtest("ioctl-refused")
		do_ioctl_err(fd, NO_IOCTL, NULL, ENOTTY);

	igt_subtest("ioctl-fails")
		do_ioctl(fd, NO_IOCTL, NULL);

	igt_subtest("succeeds-early") {
		igt_success();
		igt_assert(false);
	}

	igt_subtest("aborts")
		igt_abort_on_f(fd >= 0, "not fit\n");

	add_more_subtests();
	add_helpers();
}
