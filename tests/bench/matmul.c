// SPDX-License-Identifier: MIT
/*
 * Rows: products of matrices, N = 512, in GFLOP/s (a multiplication and an
 * addition for each inner step).
 *
 * The first is document 002's kernel, tiles of 8 x 8 in local memory, on both
 * sides. The second computes the same sums with tiles in registers, also on both sides.
 */
#include <string.h>

#include "bench.h"
#include "matmul_regs.pasm.h"
#include "matmul_tile8.pasm.h"

#define N	512u
#define BYTES	((uint64_t)N * N * sizeof(float))
#define FLOPS	(2.0 * N * N * N)
#define TILE	8u	/* rows and columns of a tile of document 002 */
#define REG_ROWS	8u	/* of a wave's tile in registers */
#define REG_COLUMNS	64u

static void fill(void *const buffers[BENCH_BUFFERS])
{
	bench_fill(buffers[0], N * N, 1);
	bench_fill(buffers[1], N * N, 2);
	memset(buffers[2], 0, BYTES);
}

static long check(void *const buffers[BENCH_BUFFERS])
{
	const float *a = buffers[0], *b = buffers[1], *c = buffers[2];

	for (uint32_t y = 0; y < N; y++) {
		float row[N] = { 0 };

		for (uint32_t k = 0; k < N; k++)
			for (uint32_t x = 0; x < N; x++)
				row[x] += a[y * N + k] * b[k * N + x];
		for (uint32_t x = 0; x < N; x++)
			if (c[y * N + x] != row[x])
				return y * N + x;
	}
	return -1;
}

static void add_matrices(struct gpu_work *work, const struct pumice_buffer *buffers)
{
	for (unsigned int i = 0; i < 3; i++)
		gpu_add_address(work, &buffers[i]);
	gpu_add_word(work, N);
}

static void ours_tile8(struct gpu_work *work, const struct pumice_buffer *buffers)
{
	add_matrices(work, buffers);
	work->groups[0] = work->groups[1] = N / TILE;
}

static void ours_regs(struct gpu_work *work, const struct pumice_buffer *buffers)
{
	add_matrices(work, buffers);
	work->groups[0] = N / REG_COLUMNS;
	work->groups[1] = N / REG_ROWS;
}

static void pocl_matrices(struct pocl_work *work, const struct pocl_buffer *buffers)
{
	const cl_int n = N;

	for (unsigned int i = 0; i < 3; i++)
		pocl_add_buffer(work, &buffers[i]);
	pocl_add(work, sizeof(n), &n);
	work->dims = 2;
}

static void peer_tile8(struct pocl_work *work, const struct pocl_buffer *buffers)
{
	pocl_matrices(work, buffers);
	work->global[0] = work->global[1] = N;
	work->local[0] = work->local[1] = TILE;
}

static void peer_regs(struct pocl_work *work, const struct pocl_buffer *buffers)
{
	pocl_matrices(work, buffers);
	work->global[0] = N / REG_COLUMNS * PUMICE_LANES;
	work->global[1] = N / REG_ROWS;
	work->local[0] = PUMICE_LANES;
	work->local[1] = 1;
}

void bench_matmul(struct bench *bench)
{
	const struct bench_workload tile8 = {
		.name = "matmul 512, 8x8 tiles in local memory",
		.unit = "GFLOP/s",
		.figure = BENCH_RATE,
		.scale = FLOPS * 1e-9,
		.goal = 2.0,
		.scaling_goal = 1.7,
		.repeats = 1,
		.program = matmul_tile8_program,
		.program_bytes = sizeof(matmul_tile8_program),
		.kernel = "matmul_tile8",
		.bytes = { BYTES, BYTES, BYTES },
		.fill = fill,
		.check = check,
		.ours = ours_tile8,
		.peer = peer_tile8,
	};
	struct bench_workload regs = tile8;

	regs.name = "matmul 512, 8x64 tiles in registers";
	regs.goal = 0;
	regs.program = matmul_regs_program;
	regs.program_bytes = sizeof(matmul_regs_program);
	regs.kernel = "matmul_regs";
	regs.ours = ours_regs;
	regs.peer = peer_regs;
	bench_workload(bench, &tile8);
	bench_workload(bench, &regs);
}
