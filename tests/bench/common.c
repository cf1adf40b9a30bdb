// SPDX-License-Identifier: MIT
/* Of pumice-bench and pumice-growth. See common.h. */
#include "common.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double bench_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

double bench_cpu(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

_Noreturn void bench_fail(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

unsigned int bench_number(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (!*text || *end || !value || value > 1000)
		bench_fail("%s is not a number from 1 to 1000", text);
	return (unsigned int)value;
}
