// SPDX-License-Identifier: MIT
/*
 * Rows: from the launch of 64 instances to the end of their job, in us: the median; and the time of
 * each of a million work-groups of one wave.
 */
#include <string.h>

#include "bench.h"
#include "number.pasm.h"
#include "wave.pasm.h"

#define COUNT	64u
#define REPEATS	10u
#define ROUNDS	100u
#define GROUPS	(1u << 20)
#define WAVE	32u	/* instances */

/* Return the first instance that has not written its number, or -1. */
static long first_wrong(const uint32_t *out, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (out[i] != i)
			return i;
	return -1;
}

static void fill(void *const buffers[BENCH_BUFFERS])
{
	memset(buffers[0], 0xff, COUNT * sizeof(uint32_t));
}

static long check(void *const buffers[BENCH_BUFFERS])
{
	return first_wrong(buffers[0], COUNT);
}

static void ours(struct gpu_work *work, const struct pumice_buffer *buffers)
{
	gpu_add_address(work, &buffers[0]);
}

static void peer(struct pocl_work *work, const struct pocl_buffer *buffers)
{
	pocl_add_buffer(work, &buffers[0]);
	work->dims = 1;
	work->global[0] = work->local[0] = COUNT;
}

static void fill_groups(void *const buffers[BENCH_BUFFERS])
{
	memset(buffers[0], 0xff, GROUPS * WAVE * sizeof(uint32_t));
}

static long check_groups(void *const buffers[BENCH_BUFFERS])
{
	return first_wrong(buffers[0], GROUPS * WAVE);
}

static void our_groups(struct gpu_work *work, const struct pumice_buffer *buffers)
{
	ours(work, buffers);
	work->groups[0] = GROUPS;
}

static void peer_groups(struct pocl_work *work, const struct pocl_buffer *buffers)
{
	pocl_add_buffer(work, &buffers[0]);
	work->dims = 1;
	work->global[0] = GROUPS * WAVE;
	work->local[0] = WAVE;
}

static void bench_groups(struct bench *bench)
{
	const struct bench_workload workload = {
		.name = "work-group of one wave, of a million",
		.unit = "us",
		.figure = BENCH_TIME,
		.scale = 1e6 / GROUPS,
		.limit = 0.1,
		.scaling_goal = 1.7,
		.repeats = 1,
		.program = wave_program,
		.program_bytes = sizeof(wave_program),
		.kernel = "number",
		.bytes = { GROUPS * WAVE * sizeof(uint32_t) },
		.fill = fill_groups,
		.check = check_groups,
		.ours = our_groups,
		.peer = peer_groups,
	};

	bench_workload(bench, &workload);
}

void bench_launch(struct bench *bench)
{
	const struct bench_workload workload = {
		.name = "launch to finish, 64 instances",
		.unit = "us",
		.figure = BENCH_TIME,
		.scale = 1e6,
		.goal = 1,
		.repeats = REPEATS,
		.median_of = ROUNDS,
		.program = number_program,
		.program_bytes = sizeof(number_program),
		.kernel = "number",
		.bytes = { COUNT * sizeof(uint32_t) },
		.fill = fill,
		.check = check,
		.ours = ours,
		.peer = peer,
	};

	bench_workload(bench, &workload);
	bench_groups(bench);
}
