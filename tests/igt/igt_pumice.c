// SPDX-License-Identifier: MIT
/* What the driver's IGT tests share. See igt_pumice.h. */
#include "igt_pumice.h"

#include <sys/wait.h>
#include <unistd.h>

#include "system.h"

#define SECONDS 90	/* of a subtest: below the time limit that the runner is given */

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

void igt_pumice_require(long timeout_ms)
{
	int fd = gpu_open();

	igt_require_f(fd >= 0, "no render node of the pumice driver\n");
	close(fd);
	usual_timeout_ms = module_parameter("job_timeout_ms");
	igt_assert_lt(0, usual_timeout_ms);
	CHECK_OK(set_module_parameter("job_timeout_ms", timeout_ms));
}

void igt_pumice_restore(void)
{
	CHECK_OK(set_module_parameter("job_timeout_ms", usual_timeout_ms));
}

void igt_pumice_join(pid_t pid)
{
	int status = 0;

	igt_assert(pid > 0);
	igt_assert_eq(waitpid(pid, &status, 0), pid);
	igt_assert_f(!status, "process %d ended with status %#x\n", pid, status);
}

void igt_pumice_alone(const struct igt_pumice_case *one)
{
	igt_fork(child, 1)
		one->run();
	igt_waitchildren_timeout(SECONDS, one->name);
}
