// SPDX-License-Identifier: MIT
/*
 * Benchmark of the ISP: a tile filled by opaque layers, back to front, and small
 * triangles. Prints ns; not a test.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../../qemu-device/gpu/isp/isp.h"

static struct isp_tile tile;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void layers(u32 samples)
{
	const struct isp_state state = { .depth_func = PUMICE_COMPARE_LESS, .depth_write = true,
					 .x1 = 8192, .y1 = 8192, .sample_mask = 15 };
	struct isp_result result;
	struct isp_setup setup;
	const u32 rounds = 20000;
	double start;
	u32 n;

	tile = (struct isp_tile){ .x0 = 320, .y0 = 320, .width = 32, .height = 32, .clip_x = 32,
				  .clip_y = 32, .samples = samples };
	isp_tile_clear(&tile, 1, 0);
	start = now();
	for (n = 0; n < rounds; n++) {
		const float z = 1 - (float)n / (float)rounds;
		const struct isp_triangle t = { .x = { 0, 0, 1 << 20 }, .y = { 0, 1 << 20, 0 },
						.z = { z, z, z } };

		isp_set_up(&t, &state, &setup);
		isp_draw(&tile, &setup, &state, false, n + 1, &result);
	}
	printf("tile-layer, %u samples: %.0f ns\n", samples, (now() - start) / rounds);
}

static void small(void)
{
	const struct isp_state state = { .depth_func = PUMICE_COMPARE_LESS, .depth_write = true,
					 .x1 = 8192, .y1 = 8192, .sample_mask = 15 };
	struct isp_result result;
	struct isp_setup setup;
	const u32 rounds = 1000000;
	u64 passed = 0;
	double start;
	u32 n, i;

	srand(1);
	tile.samples = 1;
	isp_tile_clear(&tile, 1, 0);
	start = now();
	for (n = 0; n < rounds; n++) {
		const s32 x = 320 * 256 + rand() % 8192, y = 320 * 256 + rand() % 8192;
		struct isp_triangle t;

		for (i = 0; i < 3; i++) {
			t.x[i] = x + rand() % 512;
			t.y[i] = y + rand() % 512;
			t.z[i] = (float)(rand() % 1000) / 1000;
		}
		if (!isp_set_up(&t, &state, &setup))
			continue;
		isp_draw(&tile, &setup, &state, false, n + 1, &result);
		passed += result.passed;
	}
	printf("small triangle: %.0f ns (%.2f samples passed)\n", (now() - start) / rounds,
	       (double)passed / rounds);
}

int main(void)
{
	layers(1);
	layers(4);
	small();
	return 0;
}
