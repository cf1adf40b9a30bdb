// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Helpers shared by the driver's IGT tests. See igt_pumice.h. */
#include "igt_pumice.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "system.h"

/* Time limit of a subtest: below the runner's limit, which scripts/igt.py sets. */
#define SECONDS		90
#define DEBUG_FACTOR	6	/* on a kernel with debug checks */

void test_fail(const char *file, int line, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	igt_critical("Check failed, file %s:%d:\n", file, line);
	igt_critical("%s\n", text);
	igt_fail(IGT_EXIT_FAILURE);
}

static long usual_timeout_ms;

static void restore_timeout(int signal)
{
	(void)signal;
	set_module_parameter("job_timeout_ms", usual_timeout_ms);
}

/*
 * All files of the GPU that the program opens afterwards are of the device that IGT selects.
 * drm_open_driver_render() would keep a file of it open to the end of the program, and thus
 * the module and the node's number.
 */
static void choose_device(void)
{
	int fd = __drm_open_driver_render(DRIVER_PUMICE);

	igt_require_f(fd >= 0, "there is no render node of the driver\n");
	gpu_choose(fd);
	drm_close_driver(fd);
}

void igt_pumice_require(long timeout_ms)
{
	choose_device();
	usual_timeout_ms = module_parameter("job_timeout_ms");
	igt_assert_lt(0, usual_timeout_ms);
	igt_install_exit_handler(restore_timeout);
	CHECK_OK(set_module_parameter("job_timeout_ms", timeout_ms));
}

/* The process that may fork. */
static pid_t parent;

bool igt_pumice_end_with_parent(void)
{
	CHECK(!prctl(PR_SET_PDEATHSIG, SIGKILL));
	/* The parent may have ended before that. */
	if (getppid() != parent)
		_exit(IGT_EXIT_FAILURE);
	parent = getpid();
	return true;
}

void igt_pumice_join(struct igt_helper_process *helper)
{
	int status = igt_wait_helper(helper);

	igt_assert_f(!status, "process %d ended with status %#x\n", helper->pid, status);
}

/* Return the time limit of a subtest on this kernel, in seconds. */
static unsigned int limit(void)
{
	return access("/sys/kernel/debug/kmemleak", F_OK) ? SECONDS : DEBUG_FACTOR * SECONDS;
}

void igt_pumice_alone(const char *name, void (*run)(void))
{
	parent = getpid();
	igt_fork(child, 1) {
		igt_pumice_end_with_parent();
		run();
	}
	igt_waitchildren_timeout(limit(), name);
}
