// SPDX-License-Identifier: MIT
/* What the driver's IGT tests share. See igt_pumice.h. */
#include "igt_pumice.h"

#include <unistd.h>

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

void igt_pumice_require(void)
{
	int fd = gpu_open();

	igt_require_f(fd >= 0, "no render node of the pumice driver\n");
	close(fd);
}

void igt_pumice_alone(const struct igt_pumice_case *one)
{
	igt_fork(child, 1)
		one->run();
	igt_waitchildren_timeout(SECONDS, one->name);
}
