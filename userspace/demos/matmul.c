// SPDX-License-Identifier: MIT
/*
 * pumice-demo-matmul: the tiled matrix product of document 002.
 *
 * A work-group of 8 x 8 instances computes a tile; there are more
 * work-groups than units, so the GPU dispatches them as units become free.
 * The result is compared bit by bit with the same sums computed on the CPU.
 */
#include <stdio.h>
#include <stdlib.h>

#include "demo.h"
#include "matmul.pasm.h"

#define NAME	"pumice-demo-matmul"
#define TILE	8u
#define MAX_N	4096u

/* Generate small values that are not round numbers, the same in every run. */
static void fill(float *matrix, uint32_t count, uint32_t seed)
{
	uint32_t state = seed;

	for (uint32_t i = 0; i < count; i++) {
		state = state * 1664525u + 1013904223u;
		matrix[i] = (float)(state >> 8) / 8388608.0f - 1.0f;
	}
}

/* Count elements of C that differ from the sum over ascending k, rounded in each step. */
static uint32_t count_wrong(const float *a, const float *b, const float *c, uint32_t n)
{
	float *row = malloc(n * sizeof(*row));
	uint32_t wrong = 0;

	if (!row)
		demo_fail(NAME, "out of memory");
	for (uint32_t y = 0; y < n; y++) {
		for (uint32_t x = 0; x < n; x++)
			row[x] = 0.0f;
		for (uint32_t k = 0; k < n; k++)
			for (uint32_t x = 0; x < n; x++)
				row[x] += a[y * n + k] * b[k * n + x];
		for (uint32_t x = 0; x < n; x++)
			wrong += row[x] != c[y * n + x];
	}
	free(row);
	return wrong;
}

static void run(struct demo *demo, uint32_t n, uint32_t runs, const uint32_t *uniforms)
{
	const uint32_t tiles = (n + TILE - 1) / TILE;
	const uint32_t groups[3] = { tiles, tiles, 1 };
	uint64_t device_ns = UINT64_MAX, wall_ns = UINT64_MAX;

	for (uint32_t i = 0; i < runs; i++) {
		demo_run(demo, groups, uniforms, 8);
		if (demo->device_ns < device_ns)
			device_ns = demo->device_ns;
		if (demo->wall_ns < wall_ns)
			wall_ns = demo->wall_ns;
	}
	demo->device_ns = device_ns;
	demo->wall_ns = wall_ns;
	demo_report(demo);
	printf("%s: %u work-groups, %.3f GFLOP/s by device time\n", NAME, tiles * tiles,
	       2.0 * n * n * n / (double)(device_ns ? device_ns : 1));
}

int main(int argc, char **argv)
{
	struct pumice_buffer a, b, c;
	struct demo demo;
	uint32_t n = 128, runs = 1, uniforms[8], wrong;
	const char *device;
	int status;
	const struct command_option own[] = {
		{ 'n', "size", "N", "rows and columns, 1 to 4096 (default 128)",
		  .number = &n, .min = 1, .max = MAX_N },
		{ 'r', "runs", "RUNS", "runs, of which the fastest is reported (default 1)",
		  .number = &runs, .min = 1, .max = 1000 },
		{ 0 }
	};

	device = demo_arguments(NAME,
				"Multiplies two N x N matrices and checks the product.\n",
				own, argc, argv);
	demo_open(&demo, NAME, device, matmul_program, sizeof(matmul_program));
	demo_buffer(&demo, (uint64_t)n * n * sizeof(float), &a);
	demo_buffer(&demo, (uint64_t)n * n * sizeof(float), &b);
	demo_buffer(&demo, (uint64_t)n * n * sizeof(float), &c);
	fill(a.cpu, n * n, 1);
	fill(b.cpu, n * n, 2);
	demo_address(uniforms, a.va);
	demo_address(uniforms + 2, b.va);
	demo_address(uniforms + 4, c.va);
	uniforms[6] = n;
	uniforms[7] = (n + TILE - 1) / TILE;
	run(&demo, n, runs, uniforms);
	wrong = count_wrong(a.cpu, b.cpu, c.cpu, n);
	status = demo_result(NAME, !wrong, "%u x %u product, %u of %u elements equal the CPU's to "
			     "the bit", n, n, n * n - wrong, n * n);
	pumice_buffer_destroy(&a);
	pumice_buffer_destroy(&b);
	pumice_buffer_destroy(&c);
	demo_close(&demo);
	return status;
}
