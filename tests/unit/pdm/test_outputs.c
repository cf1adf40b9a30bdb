// SPDX-License-Identifier: MIT
/*
 * Pixel outputs of tiles in the stores of USCs: the occupied bytes are those of the tiles in
 * flight, tiles wait for room, and pictures do not depend on the store.
 */
#include <string.h>

#include "../../../qemu-device/gpu/pdm/state.h"
#include "../../../qemu-device/gpu/pds/pds.h"
#include "perf.h"
#include "fixture.h"

static struct fixture fx;
static u8 expected[FX_BYTES];

#define COMMON		PUMICE_OUTPUT_STORE_COMMON
#define PARTITION	PUMICE_OUTPUT_STORE_PARTITION

/* Least bytes of a store that remain for tasks: outputs.c. */
#define KEPT_COMMON	(64u << 10)
#define KEPT_UNIFIED	(256u << 10)

static void make_scene(const struct scene_size *size)
{
	static const enum fx_program program[] = { FX_PLAIN, FX_BLEND, FX_PUNCH };
	struct pumice_isp_state isp = {
		.depth_func = PUMICE_COMPARE_ALWAYS, .scissor_x1 = 8192, .scissor_y1 = 8192,
		.sample_mask = 15,
	};
	u32 i;

	memset(fx.colour, 0xee, FX_BYTES);
	scene_begin(&fx, size);
	for (i = 0; i < 9; i++) {
		const struct scene_prim prim = {
			.triangle = { .x = { 0, (150 - 9 * (s32)i) << 8, 0 },
				      .y = { 0, 0, (150 - 7 * (s32)i) << 8 },
				      .z = { 0.5f, 0.5f, 0.5f } },
			.value = { 3 + (float)i, 0.5f },
		};

		isp.pass_type = i % 3 == 2 ? PUMICE_PASS_TYPE_PUNCH_THROUGH :
				i % 3 ? PUMICE_PASS_TYPE_TRANSLUCENT : PUMICE_PASS_TYPE_OPAQUE;
		scene_set_object(&fx, i, &isp, program[i % 3], false);
		scene_draw(&fx, i, &prim, 1);
	}
	scene_end(&fx, true);
}

static u64 counter(enum pumice_perf_counter number)
{
	u64 value[PUMICE_PERF_NUMBER] = { 0 };

	pds_counters_add(fx.pds, value);
	return value[number];
}

static struct pds_load load(void)
{
	struct pds_load load;

	pds_load(fx.pds, &load);
	return load;
}

static void run(const struct scene_size *size, u32 outputs)
{
	make_scene(size);
	fx.record.outputs = (u8)outputs;
	pds_reset_peak_outputs(fx.pds);
	fx_start(&fx, false);
	fx_run(&fx);
	assert_int_equal(fx.end, DM_DONE);
	assert_int_equal(load().output_bytes, 0);
	assert_int_equal(fx_free_pages(&fx), FX_PAGES);
}

static const u32 pixels[] = {
	[PUMICE_TILE_SIZE_32X32] = 1024, [PUMICE_TILE_SIZE_16X16] = 256,
	[PUMICE_TILE_SIZE_32X16] = 512,
};

static const struct fx_stores stores[] = {
	{ 512u << 10, 576u << 10, COMMON, 0, 0 },
	{ 1024u << 10, 64u << 10, PARTITION, 0, 0 },
};

/* A core has two tiles in flight: for each tile size, samples and outputs. */
static void occupancy_is_that_of_two_tiles_of_each_core(void **state)
{
	static const u32 outputs[] = { 1, 7, 32 };
	struct scene_size size = { .width = 90, .height = 70 };
	u32 s, n, cores;

	(void)state;
	for (s = 0; s < 2; s++)
		for (cores = 1; cores <= 2; cores++) {
			fx_open_stores(&fx, cores, &stores[s]);
			for (size.tile_size = 0; size.tile_size < 3; size.tile_size++)
				for (size.samples = 1; size.samples <= 4; size.samples *= 2)
					for (n = 0; n < 3; n++) {
						run(&size, outputs[n]);
						assert_int_equal(load().peak_output_bytes,
								 cores * 2 *
								 pixels[size.tile_size] *
								 size.samples * outputs[n] * 4);
					}
			assert_int_equal(counter(PUMICE_PERF_PDM_OUTPUT_WAITS), 0);
			fx_close(&fx);
		}
}

/* Draw with room for this number of tiles on the only USC of a core: the same picture. */
static void check_same(const struct scene_size *size, u32 cores, enum pumice_output_store outputs,
		       u32 tiles)
{
	const u32 tile = pixels[size->tile_size] * size->samples * 4;
	const bool partition = outputs == PARTITION;
	const struct fx_stores small = {
		KEPT_UNIFIED + (partition ? tiles * tile : 0),
		KEPT_COMMON + (partition ? 0 : tiles * tile), outputs, 1, 0,
	};

	fx_open_stores(&fx, cores, &small);
	run(size, 1);
	assert_memory_equal(fx.colour, expected, FX_BYTES);
	assert_int_equal(load().peak_output_bytes, cores * tiles * tile);
	assert_int_equal(counter(PUMICE_PERF_PDM_OUTPUT_WAITS) > 0, tiles < 2);
	fx_close(&fx);
}

static void tiles_that_wait_for_room_are_drawn_the_same(void **state)
{
	static const struct scene_size size = { .width = 90, .height = 70, .samples = 4,
						.tile_size = PUMICE_TILE_SIZE_32X16 };
	u32 cores, tiles;

	(void)state;
	fx_open(&fx, 1);
	run(&size, 1);
	memcpy(expected, fx.colour, FX_BYTES);
	fx_close(&fx);
	for (cores = 1; cores <= 3; cores++)
		for (tiles = 1; tiles <= 2; tiles++) {
			check_same(&size, cores, COMMON, tiles);
			check_same(&size, cores, PARTITION, tiles);
		}
}

/* A limit of the PDM that one tile exceeds: a tile at a time on each USC. */
static void a_limit_delays_tiles_and_changes_nothing(void **state)
{
	static const struct scene_size size = { .width = 90, .height = 70, .samples = 4,
						.tile_size = PUMICE_TILE_SIZE_32X32 };
	const struct pds_control control = { .out_of_order = true, .pdm.tasks = 1,
					     .pdm.common_bytes = 4, .pdm.unified_bytes = 4 };
	u32 s;

	(void)state;
	for (s = 0; s < 2; s++) {
		fx_open_stores(&fx, 1, &stores[s]);
		run(&size, 1);
		memcpy(expected, fx.colour, FX_BYTES);
		pds_set_control(fx.pds, &control);
		run(&size, 1);
		assert_memory_equal(fx.colour, expected, FX_BYTES);
		fx_close(&fx);
	}
}

/* More words than the store has are refused by name, before any tile; the largest tile is drawn. */
static void a_tile_that_can_never_fit_is_refused(void **state)
{
	static const struct scene_size size = { .width = 90, .height = 70, .samples = 4,
						.tile_size = PUMICE_TILE_SIZE_32X32 };
	const u32 tile = 1024 * 4 * 4;
	u32 s;

	(void)state;
	for (s = 0; s < 2; s++) {
		const struct fx_stores few = s ?
			(struct fx_stores){ KEPT_UNIFIED + 3 * tile, 64u << 10, PARTITION, 0, 0 } :
			(struct fx_stores){ 512u << 10, KEPT_COMMON + 3 * tile, COMMON, 0, 0 };
		const u32 most = ((s ? KEPT_UNIFIED : KEPT_COMMON) + 3 * tile) / tile;

		fx_open_stores(&fx, 2, &few);
		run(&size, 3);
		make_scene(&size);
		fx.record.outputs = (u8)(most + 1);
		fx_start(&fx, false);
		fx_run(&fx);
		assert_int_equal(fx.end, DM_FAULT);
		assert_int_equal(pdm_status(fx.pdm)->fault.fault, PUMICE_FAULT_PDM_OUTPUTS);
		assert_true(pdm_status(fx.pdm)->fault.addr == FX_RENDER);
		assert_int_equal(load().peak_output_bytes, 2 * 2 * 3 * tile);
		assert_int_equal(fx_free_pages(&fx), FX_PAGES);
		/* It fits, but leaves nothing to the tasks of the end of the tile. */
		make_scene(&size);
		fx.record.outputs = (u8)most;
		fx_start(&fx, false);
		fx_run(&fx);
		assert_int_equal(fx.end, DM_FAULT);
		assert_int_equal(pdm_status(fx.pdm)->fault.fault, PUMICE_FAULT_PDS_RESOURCE);
		run(&size, 3);
		fx_close(&fx);
	}
}

/* With tiles that wait, at every step: outputs are free, and the next job is complete. */
static void an_abort_or_reset_frees_outputs(void **state)
{
	static const struct scene_size size = { .width = 90, .height = 70, .samples = 4,
						.tile_size = PUMICE_TILE_SIZE_32X32 };
	const struct fx_stores small = { 512u << 10, KEPT_COMMON + 1024 * 4 * 4, COMMON, 1, 0 };
	u32 steps, i, aborted = 0;
	bool over = false;

	(void)state;
	fx_open_stores(&fx, 2, &small);
	run(&size, 1);
	memcpy(expected, fx.colour, FX_BYTES);
	for (steps = 0; !over; steps++) {
		make_scene(&size);
		fx_start(&fx, false);
		for (i = 0; i < steps && !fx.ends; i++)
			fx_step(&fx);
		over = fx.ends;
		if (steps % 2) {
			fx_reset(&fx);
		} else if (!over) {
			fx.locked = true;
			pdm_abort(fx.pdm);
			fx.locked = false;
			fx_run(&fx);
			aborted += fx.end == DM_ABORTED;
		}
		assert_int_equal(load().output_bytes, 0);
	}
	assert_true(aborted > 5);
	run(&size, 1);
	assert_memory_equal(fx.colour, expected, FX_BYTES);
	fx_close(&fx);
}

static void check_numbers(u32 cores)
{
	u32 core, i;

	for (core = 0; core < cores; core++)
		for (i = 0; i < PDM_TILES; i++)
			assert_int_equal(fx.pdm->core[core].tile[i]->outputs.tile, i);
}

/* Each tile of a core waits for outputs by itself: they have its number at all times. */
static void outputs_have_the_number_of_their_tile(void **state)
{
	static const struct scene_size size = { .width = 90, .height = 70, .samples = 4,
						.tile_size = PUMICE_TILE_SIZE_32X32 };
	u32 i;

	(void)state;
	fx_open(&fx, 2);
	check_numbers(2);
	run(&size, 1);
	check_numbers(2);
	fx_reset(&fx);
	check_numbers(2);
	make_scene(&size);
	fx_start(&fx, false);
	for (i = 0; i < 12; i++)
		assert_true(fx_step(&fx));
	assert_int_equal(fx.ends, 0);
	assert_true(load().output_bytes > 0);
	fx_reset(&fx);
	check_numbers(2);
	run(&size, 1);
	check_numbers(2);
	fx_close(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(occupancy_is_that_of_two_tiles_of_each_core),
		cmocka_unit_test(tiles_that_wait_for_room_are_drawn_the_same),
		cmocka_unit_test(a_limit_delays_tiles_and_changes_nothing),
		cmocka_unit_test(a_tile_that_can_never_fit_is_refused),
		cmocka_unit_test(an_abort_or_reset_frees_outputs),
		cmocka_unit_test(outputs_have_the_number_of_their_tile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
