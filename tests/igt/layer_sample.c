// SPDX-License-Identifier: MIT
/* A program of IGT's form with every verdict that there is: what test_layer.py runs. */
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

int igt_main()
{
	int fd = -1;

	igt_fixture()
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	igt_describe("Ends well");
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
}
