// SPDX-License-Identifier: MIT
/*
 * Row: the Mandelbrot set, 1024 x 1024 pixels, at most 256 iterations, in ms.
 *
 * Both sides round every operation, so that the counts can be compared.
 */
#include "bench.h"
#include "mandelbrot.pasm.h"

#define SIDE	1024u
#define LIMIT	256u
#define LEFT	(-2.0f)
#define TOP	(-1.25f)
#define STEP	(2.5f / SIDE)

static void fill(void *const buffers[BENCH_BUFFERS])
{
	uint32_t *image = buffers[0];

	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		image[i] = UINT32_MAX;
}

static uint32_t iterations(uint32_t x, uint32_t y)
{
	const float c_re = (float)x * STEP + LEFT, c_im = (float)y * STEP + TOP;
	float z_re = 0.0f, z_im = 0.0f;
	uint32_t count = 0;

	while (count < LIMIT) {
		const float re2 = z_re * z_re, im2 = z_im * z_im;

		if (!(re2 + im2 <= 4.0f))
			break;
		z_im = z_im * z_re;
		z_im = z_im + z_im + c_im;
		z_re = re2 - im2 + c_re;
		count++;
	}
	return count;
}

static long check(void *const buffers[BENCH_BUFFERS])
{
	const uint32_t *image = buffers[0];

	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		if (image[i] != iterations(i % SIDE, i / SIDE))
			return i;
	return -1;
}

static void ours(struct gpu_work *work, const struct pumice_buffer *buffers)
{
	gpu_add_address(work, &buffers[0]);
	gpu_add_word(work, SIDE);
	gpu_add_word(work, SIDE);
	gpu_add_word(work, LIMIT);
	gpu_add_float(work, LEFT);
	gpu_add_float(work, TOP);
	gpu_add_float(work, STEP);
	work->groups[0] = SIDE / 32;
	work->groups[1] = SIDE / 4;
}

static void peer(struct pocl_work *work, const struct pocl_buffer *buffers)
{
	const cl_uint numbers[3] = { SIDE, SIDE, LIMIT };
	const cl_float places[3] = { LEFT, TOP, STEP };

	pocl_add_buffer(work, &buffers[0]);
	for (unsigned int i = 0; i < 3; i++)
		pocl_add(work, sizeof(numbers[i]), &numbers[i]);
	for (unsigned int i = 0; i < 3; i++)
		pocl_add(work, sizeof(places[i]), &places[i]);
	work->dims = 2;
	work->global[0] = work->global[1] = SIDE;
}

void bench_mandelbrot(struct bench *bench)
{
	const struct bench_workload workload = {
		.name = "Mandelbrot 1024x1024, 256 iterations",
		.unit = "ms",
		.figure = BENCH_TIME,
		.scale = 1e3,
		.goal = 0.5,
		.scaling_goal = 1.7,
		.repeats = 1,
		.program = mandelbrot_program,
		.program_bytes = sizeof(mandelbrot_program),
		.kernel = "mandelbrot",
		.bytes = { SIDE * SIDE * sizeof(uint32_t) },
		.fill = fill,
		.check = check,
		.ours = ours,
		.peer = peer,
	};

	bench_workload(bench, &workload);
}
