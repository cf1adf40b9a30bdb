// SPDX-License-Identifier: MIT
/*
 * Isolation of jobs: a tile has no contents of another context's job, however that job
 * ended, and even if the render's programs do not write all outputs.
 */
#include <string.h>

#include "fixture.h"
#include "surface.h"

#define SECRET	1234.5f
#define STEPS	24u	/* of the first job before it is stopped */

static struct fixture fx;

/* Ends of the first job. */
enum ending { ENDING_DONE, ENDING_ABORT, ENDING_RESET, ENDINGS };

static int open_fixture(void **state)
{
	(void)state;
	fx_open(&fx, 2);
	return 0;
}

static int close_fixture(void **state)
{
	(void)state;
	fx_close(&fx);
	return 0;
}

/* Every sample of the target becomes the secret, in two outputs, and its mask bit is set. */
static void draw_secret(const struct scene_size *size)
{
	const struct pumice_isp_state isp = {
		.depth_func = PUMICE_COMPARE_ALWAYS, .depth_write = true, .stencil = true,
		.front_func = PUMICE_COMPARE_ALWAYS, .front_pass = PUMICE_STENCIL_OP_REPLACE,
		.front_ref = 0x5a, .front_mask = 0xff, .front_write = 0xff,
		.scissor_x1 = 8192, .scissor_y1 = 8192, .sample_mask = 15,
		.mask_op = PUMICE_MASK_OP_SET,
	};
	const struct scene_prim prim = {
		.triangle = { .x = { 0, 400 << 8, 0 }, .y = { 0, 0, 400 << 8 },
			      .z = { 0.25f, 0.25f, 0.25f } },
		.value = { SECRET, 0.5f },
	};

	scene_begin(&fx, size);
	scene_set_object(&fx, 0, &isp, FX_PLAIN, false);
	scene_draw(&fx, 0, &prim, 1);
	scene_end(&fx, true);
	fx.record.mask_plane = true;
}

static void run_first(const struct scene_size *size, enum ending ending, u32 steps)
{
	u32 i;

	draw_secret(size);
	fx_start(&fx, false);
	if (ending == ENDING_DONE) {
		fx_run(&fx);
		for (i = 0; i < size->width * size->height * size->samples; i++)
			assert_float_equal(((const float *)(const void *)fx.colour)[i], SECRET, 0);
		return;
	}
	for (i = 0; i < steps && !fx.ends; i++)
		fx_step(&fx);
	if (ending == ENDING_RESET) {
		fx_reset(&fx);
		return;
	}
	if (!fx.ends) {
		fx.locked = true;
		pdm_abort(fx.pdm);
		fx.locked = false;
		fx_run(&fx);
	}
}

/* A job that draws nothing, with a background program that writes nothing, or none. */
static void check_second(const struct scene_size *size, bool background)
{
	const u32 words = size->width * size->height * size->samples;
	const u32 *colour = (const u32 *)(const void *)fx.colour;
	const float *depth = (const float *)(const void *)fx.depth;
	u32 i;

	scene_begin(&fx, size);
	scene_end(&fx, true);
	if (background)
		pumice_stage_pack(fx.record.background, &fx.stage[FX_NOTHING]);
	fx.record.clear_stencil = 7;
	fx.record.depth_store = true;
	fx.record.stencil_store = true;
	fx.record.depth_format = PUMICE_DEPTH_FORMAT_D32F;
	fx.record.depth_addr = FX_DEPTH;
	fx.record.depth_stride = size->width * size->samples * 4;
	fx.record.stencil_addr = FX_STENCIL;
	fx.record.stencil_stride = size->width * size->samples;
	fx.record.mask_plane = true;
	fx.record.mask_store = true;
	fx.record.mask_addr = FX_MASK;
	fx.record.mask_stride = (size->width * size->samples + 7) / 8;
	memset(fx.colour, 0xee, FX_BYTES);
	memset(fx.mask, 0xee, FX_BYTES);
	fx_start_in(&fx, FX_OTHER_CTX, false);
	fx_run(&fx);
	assert_int_equal(fx.end, DM_DONE);
	for (i = 0; i < words; i++) {
		assert_int_equal(colour[i], 0);
		assert_float_equal(depth[i], 1.0f, 0.0f);
		assert_int_equal(fx.stencil[i], 7);
	}
	for (i = 0; i < fx.record.mask_stride * size->height; i++)
		assert_int_equal(fx.mask[i], 0);
}

/*
 * A tile spills its whole mask plane in a partial render, also the bits beyond the target, which
 * no load sets.
 */
static void bits_beyond_a_loaded_mask_are_spilled_as_zero(void **state)
{
	static const struct scene_size first = {
		.width = 64, .height = 64, .samples = 4, .tile_size = PUMICE_TILE_SIZE_32X32,
	};
	static const struct scene_size size = {
		.width = 18, .height = 9, .samples = 4, .tile_size = PUMICE_TILE_SIZE_32X32,
	};
	u32 i, ones = 0;

	(void)state;
	run_first(&first, ENDING_DONE, 0);
	scene_begin(&fx, &size);
	scene_end(&fx, true);
	fx.record.mask_plane = true;
	fx.record.mask_load = true;
	fx.record.mask_addr = FX_MASK;
	fx.record.mask_stride = pumice_mask_row_bytes(size.width, size.samples);
	memset(fx.mask, 0, FX_BYTES);
	memset(fx.spill, 0, FX_SPILL_BYTES);
	fx_start_in(&fx, FX_OTHER_CTX, true);
	fx_run(&fx);
	assert_int_equal(fx.end, DM_DONE);
	for (i = 0; i < FX_SPILL_BYTES; i++)
		ones += fx.spill[i] == 0xff;
	assert_int_equal(ones, 0);
}

static void check_all(bool background)
{
	static const struct scene_size sizes[] = {
		{ .width = 64, .height = 64, .samples = 1, .tile_size = PUMICE_TILE_SIZE_32X32 },
		{ .width = 64, .height = 64, .samples = 4, .tile_size = PUMICE_TILE_SIZE_32X32 },
		{ .width = 50, .height = 40, .samples = 2, .tile_size = PUMICE_TILE_SIZE_16X16 },
	};
	u32 n, ending, steps;

	for (n = 0; n < sizeof(sizes) / sizeof(*sizes); n++) {
		for (ending = 0; ending < ENDINGS; ending++) {
			for (steps = 1; steps < (ending == ENDING_DONE ? 2 : STEPS); steps++) {
				run_first(&sizes[n], ending, steps);
				check_second(&sizes[n], background);
			}
		}
	}
}

static void a_background_without_outputs_discloses_nothing(void **state)
{
	(void)state;
	check_all(true);
}

static void a_tile_without_background_begins_at_zero(void **state)
{
	(void)state;
	check_all(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_background_without_outputs_discloses_nothing),
		cmocka_unit_test(a_tile_without_background_begins_at_zero),
		cmocka_unit_test(bits_beyond_a_loaded_mask_are_spilled_as_zero),
	};

	return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
