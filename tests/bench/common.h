/* SPDX-License-Identifier: MIT */
/* Of pumice-bench and pumice-growth: the clock, and messages of errors. */
#ifndef PUMICE_BENCH_COMMON_H
#define PUMICE_BENCH_COMMON_H

/* Return CLOCK_MONOTONIC, seconds. */
double bench_now(void);

/* Return the processor time of this process, seconds. */
double bench_cpu(void);

/* Exit with a message. */
_Noreturn void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Parse the number of an option, from 1 to 1000. */
unsigned int bench_number(const char *text);

#endif
