// SPDX-License-Identifier: MIT
/*
 * Row: y = a x + y over 16 Mi floats, in GB/s of loads and stores.
 *
 * Values are small whole numbers, and remain exact for any number of additions.
 */
#include "bench.h"
#include "saxpy.pasm.h"

#define COUNT	(16u << 20)
#define BYTES	((uint64_t)COUNT * sizeof(float))
#define FACTOR	2.0f
#define BLOCK	256u	/* elements */
#define BLOCKS	64u	/* of a wave */

static float x_of(uint32_t i)
{
	return (float)(i * 2654435761u >> 28) - 8.0f;
}

static float y_of(uint32_t i)
{
	return (float)(i * 2246822519u >> 28) - 8.0f;
}

static void fill(void *const buffers[BENCH_BUFFERS])
{
	float *x = buffers[0], *y = buffers[1];

	for (uint32_t i = 0; i < COUNT; i++) {
		x[i] = x_of(i);
		y[i] = y_of(i);
	}
}

static long check(void *const buffers[BENCH_BUFFERS])
{
	const float *y = buffers[1];

	for (uint32_t i = 0; i < COUNT; i++)
		if (y[i] != FACTOR * x_of(i) + y_of(i))
			return i;
	return -1;
}

static void ours(struct gpu_work *work, const struct pumice_buffer *buffers)
{
	gpu_add_address(work, &buffers[0]);
	gpu_add_address(work, &buffers[1]);
	gpu_add_float(work, FACTOR);
	gpu_add_word(work, BLOCKS);
	work->groups[0] = COUNT / (BLOCK * BLOCKS);
}

static void peer(struct pocl_work *work, const struct pocl_buffer *buffers)
{
	const cl_float factor = FACTOR;

	pocl_add_buffer(work, &buffers[0]);
	pocl_add_buffer(work, &buffers[1]);
	pocl_add(work, sizeof(factor), &factor);
	work->dims = 1;
	work->global[0] = COUNT;
}

void bench_saxpy(struct bench *bench)
{
	const struct bench_workload workload = {
		.name = "saxpy, 16 Mi floats",
		.unit = "GB/s",
		.figure = BENCH_RATE,
		.scale = 3e-9 * (double)BYTES,
		.goal = 0.3,
		.scaling_goal = 1.7,
		.repeats = 4,
		.program = saxpy_program,
		.program_bytes = sizeof(saxpy_program),
		.kernel = "saxpy",
		.bytes = { BYTES, BYTES },
		.fill = fill,
		.check = check,
		.ours = ours,
		.peer = peer,
	};

	bench_workload(bench, &workload);
}
