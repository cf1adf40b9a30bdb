/* SPDX-License-Identifier: MIT */
/*
 * Shared declarations of the rows: contests between two sides, workloads
 * from which contests are generated, and the list of results.
 *
 * A contest runs both sides alternately, and uses the best round
 * of each: other load on the host affects both sides, and can only make a round
 * slower. Where a run is as short as a thread's wake-up, the best is random, and the
 * median of many rounds is used. Both sides have been checked against the CPU
 * before the first round.
 *
 * A result's ratio is always "higher is better for us": ours / peer of rates,
 * peer / ours of times.
 */
#ifndef PUMICE_BENCH_H
#define PUMICE_BENCH_H

#include <stdbool.h>
#include <stdio.h>

#include "common.h"
#include "gpu.h"
#include "pocl.h"

/* Conversion of a run's seconds to a figure. */
enum bench_figure {
	BENCH_RATE,	/* scale / seconds */
	BENCH_TIME,	/* scale * seconds */
};

/* Two implementations of the same task. */
struct bench_contest {
	const char *name;
	const char *unit;
	const char *peer_name;
	enum bench_figure figure;
	double scale;
	double goal;		/* minimum ratio; 0: none */
	double limit;		/* of our figure, a time; 0: none */
	unsigned int repeats;	/* runs of a round, whose mean is used */
	unsigned int median_of;	/* factor of rounds for the median; 0: use the best round */
	void (*ours)(void *data);	/* one run, from submission to the end */
	void (*peer)(void *data);
	/* Instead of the two, where a run's figure is not its length: runs, returns seconds. */
	double (*measure)(void *data);
	void *our_data, *peer_data;
};

#define BENCH_BUFFERS 3

/* A kernel in both languages, on buffers of its own on each side. */
struct bench_workload {
	const char *name;
	const char *unit;
	enum bench_figure figure;
	double scale;
	double goal;		/* against PoCL; 0: none */
	double limit;		/* of our time; 0: none */
	double scaling_goal;	/* all threads against one; 0: no such row */
	unsigned int repeats;
	unsigned int median_of;	/* as in the contest */
	const unsigned char *program;
	size_t program_bytes;
	const char *kernel;	/* PoCL's */
	uint64_t bytes[BENCH_BUFFERS];	/* 0 for none */
	/* Fill the buffers before the run that is checked. */
	void (*fill)(void *const buffers[BENCH_BUFFERS]);
	/* Check the buffers after one run; return a wrong element, or -1. */
	long (*check)(void *const buffers[BENCH_BUFFERS]);
	/* Arguments and range. */
	void (*ours)(struct gpu_work *work, const struct pumice_buffer *buffers);
	void (*peer)(struct pocl_work *work, const struct pocl_buffer *buffers);
};

/* Output of results, and the GPUs to measure. */
struct bench {
	FILE *json;
	unsigned int rounds;
	unsigned int rows;	/* written so far */
	const char *only;	/* rows whose name has this in it; NULL: all */
	unsigned int threads;
	struct gpu gpu;		/* with these threads */
	struct gpu single;	/* with one */
	struct pocl pocl;
};

/* Run a contest and write its row. */
void bench_contest(struct bench *bench, const struct bench_contest *contest);

/* The contests of a workload: against PoCL, and of all threads against one. */
void bench_workload(struct bench *bench, const struct bench_workload *workload);

/* Small whole numbers, so that sums of products are exact in any order. */
void bench_fill(float *values, uint32_t count, uint32_t seed);

/* The rows, one file each. */
void bench_matmul(struct bench *bench);
void bench_mandelbrot(struct bench *bench);
void bench_saxpy(struct bench *bench);
void bench_launch(struct bench *bench);
void bench_costs(struct bench *bench);
void bench_pds(struct bench *bench);
void bench_scenes(struct bench *bench);
/* Without Embree, no row. */
void bench_rays(struct bench *bench);
void bench_transfer(struct bench *bench);
void bench_stall(struct bench *bench);
void bench_modes(struct bench *bench);

#endif
