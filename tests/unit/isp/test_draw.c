// SPDX-License-Identifier: MIT
/*
 * Drawing triangles into a tile against the scalar model: coverage, depth to the bit,
 * depth and stencil tests, tags, which primitives must flush. Every vector level
 * that this processor has.
 */
#include <string.h>

#include "../support/cmocka_all.h"

#include "../../../qemu-device/gpu/isp/draw.h"
#include "model.h"

#define TILES	120
#define DRAWS	60

static struct isp_tile tile;
static struct model model;

static void one_draw(u32 n)
{
	struct isp_triangle t;
	struct isp_state state;
	struct isp_setup setup;
	struct isp_result result = { 0 };
	struct model_result want;
	const bool back = model_below(2);
	bool flush = false, area;

	model_random_triangle(&tile, &t, n);
	model_random_state(&tile, &state);
	model_copy(&model, &tile);
	want = model_draw(&model, &tile, &t, &state, back, n + 1);
	area = isp_set_up(&t, &state, &setup);
	if (area) {
		flush = isp_must_flush(&tile, &setup, &state, back);
		isp_draw(&tile, &setup, &state, back, n + 1, &result);
	}
	assert_int_equal(flush, want.overlap);
	assert_int_equal(result.covered, want.covered);
	assert_int_equal(result.passed, want.passed);
	assert_int_equal(model_differs(&model, &tile), 0);
	if (!model_below(8)) {
		isp_tile_clear_tags(&tile);
		memset(model.tag, 0, sizeof(model.tag));
		assert_int_equal(model_differs(&model, &tile), 0);
		assert_false(tile.late);
	}
}

static void random_draws(isp_raster_fn *fn)
{
	u32 i, n;

	isp_use_raster(fn);
	for (i = 0; i < TILES; i++) {
		model_random_tile(&tile);
		for (n = 0; n < DRAWS; n++)
			one_draw(n);
	}
	isp_use_raster(NULL);
}

static void random_triangles_and_states_equal_the_model(void **state)
{
	(void)state;
	random_draws(NULL);
}

static void base_level_agrees_with_the_model(void **state)
{
	(void)state;
	random_draws(isp_raster_base);
}

static void avx2_level_agrees_with_the_model(void **state)
{
	(void)state;
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2")) {
		random_draws(isp_raster_avx2);
		return;
	}
#endif
	skip();
}

/* Every function with every operation: each case alone, on two stencil values that differ. */
static void every_function_and_operation(void **state)
{
	const struct isp_triangle t = {
		.x = { 0, 64 * 256, 0 }, .y = { 0, 0, 64 * 256 }, .z = { 0.25f, 0.75f, 0.5f },
	};
	struct isp_state s = { .x1 = 8192, .y1 = 8192, .sample_mask = 15, .stencil = true,
			       .depth_write = true };
	struct isp_setup setup;
	struct isp_result result;
	u32 n;

	(void)state;
	for (n = 0; n < 8 * 8 * 8 * 3; n++) {
		struct isp_stencil *f = &s.face[0];

		model_random_tile(&tile);
		tile.x0 = 0;
		tile.y0 = 0;
		s.depth_func = (u8)(n % 8);
		*f = (struct isp_stencil){ .func = (u8)(n / 8 % 8), .ref = 255, .mask = 255,
					   .write = 255 };
		*(n / 512 == 0 ? &f->sfail : n / 512 == 1 ? &f->zfail : &f->pass) =
			(u8)(n / 64 % 8);
		model_copy(&model, &tile);
		model_draw(&model, &tile, &t, &s, false, 1);
		assert_true(isp_set_up(&t, &s, &setup));
		isp_draw(&tile, &setup, &s, false, 1, &result);
		assert_int_equal(model_differs(&model, &tile), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_triangles_and_states_equal_the_model),
		cmocka_unit_test(base_level_agrees_with_the_model),
		cmocka_unit_test(avx2_level_agrees_with_the_model),
		cmocka_unit_test(every_function_and_operation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
