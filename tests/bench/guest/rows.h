/* SPDX-License-Identifier: MIT */
/* Rows of the guest's benchmarks, and samples from which their figures are. */
#ifndef PUMICE_BENCH_GUEST_ROWS_H
#define PUMICE_BENCH_GUEST_ROWS_H

#include "fixture.h"

#define SAMPLES		400u

/** struct samples - times of one measured quantity; all zero at first */
struct samples {
	double us[SAMPLES];
	unsigned int count;
};

/** samples_add - add a time in nanoseconds; at most SAMPLES of them. */
void samples_add(struct samples *s, u64 ns);

/** samples_median - return the median in microseconds; sorts them. */
double samples_median(struct samples *s);

/** struct row - one line of the table */
struct row {
	const char *name;
	const char *unit;
	double ours;
	double peer;
	const char *peer_name;	/* NULL: without @peer */
	bool rate;		/* more is better */
	double goal;		/* least ratio; 0: none */
	double limit;		/* instead, the most of @ours; 0: none */
};

/** row_print - print a row as an element of the list that scripts/bench.py reads. */
void row_print(const struct row *row);

/** row_print_limit - the same with the goal that the figure is at most @limit, without peer. */
void row_print_limit(const char *name, const char *unit, double ours, double limit);

/** bench_binds - print the rows of many binds in one call, and of their removal. */
void bench_binds(void);

/** bench_contexts - print the rows of several contexts and processes. */
void bench_contexts(void);

#endif
