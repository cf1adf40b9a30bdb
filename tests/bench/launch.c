// SPDX-License-Identifier: MIT
/* Row: from the launch of 64 instances to the end of their job, in us: the median. */
#include <string.h>

#include "bench.h"
#include "number.pasm.h"

#define COUNT	64u
#define REPEATS	10u
#define ROUNDS	100u

static void fill(void *const buffers[BENCH_BUFFERS])
{
	memset(buffers[0], 0xff, COUNT * sizeof(uint32_t));
}

static long check(void *const buffers[BENCH_BUFFERS])
{
	const uint32_t *out = buffers[0];

	for (uint32_t i = 0; i < COUNT; i++)
		if (out[i] != i)
			return i;
	return -1;
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

void bench_launch(struct bench *bench)
{
	const struct bench_workload workload = {
		.name = "launch to finish, 64 instances",
		.unit = "us",
		.figure = BENCH_TIME,
		.scale = 1e6,
		.goal = 0.5,
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
}
