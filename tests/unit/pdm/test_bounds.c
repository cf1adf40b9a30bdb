// SPDX-License-Identifier: MIT
/*
 * Resources of a job: scarce memory for decoded programs, and the device lock.
 */
#include <string.h>

#include "../../../qemu-device/gpu/pdm/state.h"
#include "../../../qemu-device/gpu/pds/pds.h"
#include "../../../qemu-device/gpu/usc/program.h"
#include "fixture.h"
#include "perf.h"

static struct fixture fx;
static u32 waits;

/* ------------------------------------------------------------ a scene of several programs */

static const struct scene_size few = { .width = 70, .height = 50, .samples = 1,
				       .tile_size = PUMICE_TILE_SIZE_32X32 };
static const struct scene_size many = { .width = 96, .height = 96, .samples = 1,
					.tile_size = PUMICE_TILE_SIZE_16X16 };

static void draw(u32 object, float z)
{
	const struct scene_prim prim = {
		.triangle = { .x = { 0, 200 << 8, 0 }, .y = { 0, 0, 200 << 8 }, .z = { z, z, z } },
		.value = { 3 + z, 0.5f },
	};

	scene_draw(&fx, object, &prim, 1);
}

/* Begin a scene of an opaque, a translucent and a punch-through object. */
static void begin(const struct scene_size *size)
{
	static const enum fx_program program[] = { FX_PLAIN, FX_BLEND, FX_PUNCH };
	struct pumice_isp_state isp = {
		.depth_func = PUMICE_COMPARE_LESS_EQUAL, .depth_write = true,
		.scissor_x1 = 8192, .scissor_y1 = 8192, .sample_mask = 15, .visibility = true,
		.visibility_id = 1,
	};
	struct pumice_pdm_render *r = &fx.record;
	u32 i;

	memset(fx.visible, 0, 0x1000);
	memset(fx.colour, 0xee, FX_BYTES);
	scene_begin(&fx, size);
	r->clear_depth = 1;
	r->visibility_addr = FX_VISIBLE;
	r->visibility_count = 4;
	for (i = 0; i < 3; i++) {
		isp.pass_type = i == 2 ? PUMICE_PASS_TYPE_PUNCH_THROUGH :
			        i ? PUMICE_PASS_TYPE_TRANSLUCENT : PUMICE_PASS_TYPE_OPAQUE;
		scene_set_object(&fx, i, &isp, program[i], false);
	}
}

static void make_scene(const struct scene_size *size)
{
	begin(size);
	draw(0, 0.9f);
	draw(1, 0.8f);
	draw(2, 0.7f);
	draw(1, 0.6f);
	draw(0, 0.5f);
	draw(2, 0.4f);
	scene_end(&fx, true);
}

static void run_scene(const struct scene_size *size)
{
	make_scene(size);
	fx_start(&fx, false);
	fx_run(&fx);
	assert_int_equal(fx.end, DM_DONE);
	assert_int_equal(fx_free_pages(&fx), FX_PAGES);
}

/* ------------------------------------------------------------ memory of programs */

static u64 gpu_clock;

static u64 cache_now(void *opaque)
{
	(void)opaque;
	return gpu_clock;
}

static void cache_wait(void *opaque, u64 deadline)
{
	(void)opaque;
	(void)deadline;
	waits++;
}

static void cache_room(void *opaque)
{
	u32 i;

	(void)opaque;
	for (i = 0; i < fx.cores; i++)
		fx.awake_core[i] = true;
}

static const struct usc_cache_ops cache_ops = {
	.now = cache_now, .wait = cache_wait, .room = cache_room,
};

/*
 * The memory that others have, if there is room for the end of tile and the longest other program.
 */
static u64 other_bytes(void)
{
	return USC_CACHE_PDM_BYTES - usc_predecode_bytes(2) - usc_predecode_bytes(8);
}

static void open_with_room_for_one_program(u32 cores, const struct fx_stores *stores)
{
	bool short_of = false;

	fx_open_stores(&fx, cores, stores);
	usc_program_cache_set_ops(fx.programs, &cache_ops, NULL);
	assert_int_equal(usc_cache_reserve(fx.programs, USC_STAGE_FRAGMENT, other_bytes(),
					   &short_of), USC_LOAD_DONE);
}

/*
 * Room for the end of tile and one more program, the longest one. Tiles that wait have released
 * their programs, and finished tiles all of theirs, else this would never end.
 */
static void render_with_room_for_one_program(u32 cores)
{
	static const struct fx_stores stores = { 512u << 10, 576u << 10,
						 PUMICE_OUTPUT_STORE_COMMON, 0, 0 };
	static u8 colour[FX_BYTES], visible[0x1000];

	fx_open(&fx, cores);
	usc_program_cache_set_ops(fx.programs, &cache_ops, NULL);
	run_scene(&few);
	assert_int_equal(waits, 0);
	memcpy(colour, fx.colour, sizeof(colour));
	memcpy(visible, fx.visible, sizeof(visible));
	fx_close(&fx);

	open_with_room_for_one_program(cores, &stores);
	run_scene(&few);
	assert_memory_equal(fx.colour, colour, sizeof(colour));
	assert_memory_equal(fx.visible, visible, sizeof(visible));
	fx_close(&fx);
}

/*
 * From some step on, a limit admits only one of a core's two tiles at a time. The other one waits,
 * without the programs of its last tile, for which there would be no memory.
 */
static void a_tile_releases_its_programs_before_it_waits_for_outputs(void **state)
{
	static const struct fx_stores stores = { 512u << 10, 66u << 10, PUMICE_OUTPUT_STORE_COMMON,
						 1, 0 };
	struct pds_control control = { .out_of_order = true };
	u32 steps, i, limited = 0;

	(void)state;
	open_with_room_for_one_program(1, &stores);
	for (steps = 1; steps < 300; steps += 3) {
		control.pdm.common_bytes = 0;
		pds_set_control(fx.pds, &control);
		make_scene(&many);
		fx_start(&fx, false);
		for (i = 0; i < steps && !fx.ends; i++)
			assert_true(fx_step(&fx));
		limited += !fx.ends;
		control.pdm.common_bytes = 4;
		pds_set_control(fx.pds, &control);
		if (!fx.ends)
			fx_run(&fx);
		assert_int_equal(fx.end, DM_DONE);
	}
	assert_true(limited > 20);
	fx_close(&fx);
}

/* Programs are dropped with that of the vertices: no task may run, which might have one of them. */
void __real_pdm_vertices_release(struct pdm_tile *tile);
void __wrap_pdm_vertices_release(struct pdm_tile *tile);

void __wrap_pdm_vertices_release(struct pdm_tile *tile)
{
	assert_int_equal(atomic_load(&tile->running), 0);
	__real_pdm_vertices_release(tile);
}

static u32 drops;

void __real_pdm_objects_drop(struct pdm_tile *tile);
void __wrap_pdm_objects_drop(struct pdm_tile *tile);

void __wrap_pdm_objects_drop(struct pdm_tile *tile)
{
	drops++;
	__real_pdm_objects_drop(tile);
}

/* Abort a job while a tile waits for memory, and then let all programs have memory. */
static void abort_while_a_tile_waits(void)
{
	waits = 0;
	make_scene(&many);
	fx_start(&fx, false);
	while (!waits)
		assert_true(fx_step(&fx));
	fx.locked = true;
	pdm_abort(fx.pdm);
	fx.locked = false;
	fx_run(&fx);
	assert_int_equal(fx.end, DM_ABORTED);
	usc_cache_release(fx.programs, USC_STAGE_FRAGMENT, other_bytes());
}

/*
 * With memory for all programs: a tile drops its own after the last tile, and the job those of each
 * tile at its end. The end of a job ends waits for memory.
 */
static void a_tile_that_waits_for_outputs_keeps_its_programs(void **state)
{
	static const struct fx_stores stores = { 512u << 10, 66u << 10, PUMICE_OUTPUT_STORE_COMMON,
						 1, 0 };
	const struct pds_control one_tile = { .out_of_order = true, .pdm.common_bytes = 4 };
	u64 value[PUMICE_PERF_NUMBER] = { 0 };

	(void)state;
	open_with_room_for_one_program(1, &stores);
	abort_while_a_tile_waits();
	pds_set_control(fx.pds, &one_tile);
	drops = 0;
	run_scene(&many);
	pds_counters_add(fx.pds, value);
	assert_true(value[PUMICE_PERF_PDM_OUTPUT_WAITS] > 0);
	assert_in_range(drops, 1, 4);
	fx_close(&fx);
}

/* Those that wait for room for their outputs then drop programs, on all cores. */
static void a_wait_for_memory_wakes_the_tiles_of_all_cores_once(void **state)
{
	u32 i;

	(void)state;
	fx_open(&fx, 3);
	memset(fx.awake_core, 0, sizeof(fx.awake_core));
	pdm_wait_memory(fx.pdm->core[1].tile[0], true);
	for (i = 0; i < 3; i++)
		assert_true(fx.awake_core[i]);
	memset(fx.awake_core, 0, sizeof(fx.awake_core));
	pdm_wait_memory(fx.pdm->core[1].tile[0], true);
	pdm_wait_memory(fx.pdm->core[2].tile[1], false);
	for (i = 0; i < 3; i++)
		assert_false(fx.awake_core[i]);
	assert_int_equal(atomic_load(&fx.pdm->memory_waits), 1);
	pdm_wait_memory(fx.pdm->core[1].tile[0], false);
	assert_int_equal(atomic_load(&fx.pdm->memory_waits), 0);
	fx_close(&fx);
}

static void make_tile(void)
{
	static const struct scene_size one = { .width = 32, .height = 32, .samples = 1,
					       .tile_size = PUMICE_TILE_SIZE_32X32 };

	make_scene(&one);
	memset(fx.record.end_of_tile, 0, sizeof(fx.record.end_of_tile));
}

static void a_wait_for_the_program_of_an_object_is_counted(void **state)
{
	(void)state;
	fx_open(&fx, 1);
	fx_check_memory_wait(&fx, USC_STAGE_FRAGMENT, USC_CACHE_PDM_BYTES, make_tile);
	fx_close(&fx);
}

static void a_tile_releases_its_programs_before_it_waits_for_memory(void **state)
{
	(void)state;
	waits = 0;
	render_with_room_for_one_program(1);
	assert_true(waits > 0);
}

static void tiles_of_all_cores_share_memory_for_one_program(void **state)
{
	u32 cores;

	(void)state;
	for (cores = 2; cores <= PUMICE_MAX_CORES; cores *= 2) {
		waits = 0;
		render_with_room_for_one_program(cores);
		assert_true(waits > 0);
	}
}

/* ------------------------------------------------------------ programs of visible objects */

/* The first object hides the others, which have other programs. */
static void make_hidden(void)
{
	begin(&few);
	draw(0, 0.125f);
	draw(1, 0.8f);
	draw(2, 0.7f);
	draw(1, 0.6f);
	scene_end(&fx, true);
}

static void hidden_objects_need_no_memory_for_programs(void **state)
{
	static const struct fx_stores stores = { 512u << 10, 576u << 10,
						 PUMICE_OUTPUT_STORE_COMMON, 0, 0 };
	const float *colour;
	u32 i;

	(void)state;
	open_with_room_for_one_program(2, &stores);
	waits = 0;
	make_hidden();
	fx_start(&fx, false);
	fx_run(&fx);
	assert_int_equal(fx.end, DM_DONE);
	assert_int_equal(waits, 0);
	colour = (const float *)(const void *)fx.colour;
	for (i = 0; i < few.width * few.height; i++)
		assert_float_equal(colour[i], 3.125f, 0);
	assert_int_equal(*(const u64 *)(const void *)(fx.visible + 8), few.width * few.height);
	fx_close(&fx);
}

#define COLUMNS	4u	/* of 8 pixels */

static const struct scene_size tile_size = { .width = 32, .height = 32, .samples = 1,
					     .tile_size = PUMICE_TILE_SIZE_32X32 };

/* A tile of opaque objects side by side, with programs that write the varying. */
static void make_columns(void)
{
	static const enum fx_program program[COLUMNS] = { FX_READS, FX_BLEND, FX_PLAIN, FX_READS };
	const struct pumice_isp_state isp = {
		.depth_func = PUMICE_COMPARE_LESS_EQUAL, .scissor_x1 = 8192, .scissor_y1 = 8192,
		.sample_mask = 15,
	};
	u32 i;

	memset(fx.colour, 0, FX_BYTES);
	scene_begin(&fx, &tile_size);
	for (i = 0; i < COLUMNS; i++) {
		const s32 x0 = (s32)i << 11, x1 = x0 + (8 << 8), y1 = 32 << 8;
		const struct scene_prim prims[2] = {
			{ .triangle = { .x = { x0, x1, x0 }, .y = { 0, 0, y1 } },
			  .value = { (float)(i + 1) } },
			{ .triangle = { .x = { x1, x1, x0 }, .y = { 0, y1, y1 } },
			  .value = { (float)(i + 1) } },
		};

		scene_set_object(&fx, i, &isp, program[i], false);
		scene_draw(&fx, i, prims, 2);
	}
	scene_end(&fx, true);
}

static void check_columns(void)
{
	const float *colour = (const float *)(const void *)fx.colour;
	u32 x, y;

	assert_int_equal(fx.end, DM_DONE);
	assert_int_equal(pdm_status(fx.pdm)->fault.fault, PUMICE_FAULT_NONE);
	for (y = 0; y < 32; y++)
		for (x = 0; x < 32; x++)
			assert_float_equal(colour[y * 32 + x], (float)(x / 8 + 1), 0);
}

/* Room for the end of tile and one program of a column. */
static void open_with_room_for_a_column(void)
{
	bool short_of = false;

	fx_open(&fx, 1);
	usc_program_cache_set_ops(fx.programs, &cache_ops, NULL);
	assert_int_equal(usc_cache_reserve(fx.programs, USC_STAGE_FRAGMENT,
					   USC_CACHE_PDM_BYTES - usc_predecode_bytes(2) -
						   usc_predecode_bytes(4), &short_of),
			 USC_LOAD_DONE);
	waits = 0;
}

static void objects_of_a_pass_share_memory_for_one_program(void **state)
{
	u64 value[PUMICE_PERF_NUMBER] = { 0 };

	(void)state;
	open_with_room_for_a_column();
	make_columns();
	fx_start(&fx, false);
	fx_run(&fx);
	check_columns();
	assert_true(waits > 0);
	pdm_counters_add(fx.pdm, value);
	assert_int_equal(value[PUMICE_PERF_PDM_PASSES], 1);
	assert_true(value[PUMICE_PERF_PDM_BUSY] > 0);
	assert_int_equal(value[PUMICE_PERF_PDM_BUSY],
			 pdm_status(fx.pdm)->time_end - pdm_status(fx.pdm)->time_start);
	fx_close(&fx);
}

/* Run the core alone, until it waits: soon, as it does not poll. */
static void run_core(void)
{
	const _Atomic bool stop = false;
	u32 steps = 0;

	fx.awake_core[0] = true;
	while (fx.awake_core[0]) {
		fx.awake_core[0] = false;
		fx.awake_core[0] |= pdm_core_step(fx.pdm, 0, &stop);
		assert_true(steps++ < 100);
	}
}

/* The patience of a load that waits begins when tasks with other programs have ended. */
static void tasks_may_run_longer_than_a_load_waits(void **state)
{
	(void)state;
	open_with_room_for_a_column();
	make_columns();
	fx_start(&fx, false);
	run_core();
	assert_true(waits > 0);
	gpu_clock += 2 * USC_LOAD_PATIENCE_NS;
	run_core();
	assert_int_equal(fx.ends, 0);
	fx_run(&fx);
	check_columns();
	gpu_clock = 0;
	fx_close(&fx);
}

/* ------------------------------------------------------------ the device lock */

u32 __real_pm_macro_tile(const struct pm_scene *scene, u32 x, u32 y);
u32 __wrap_pm_macro_tile(const struct pm_scene *scene, u32 x, u32 y);

/* Divide instead of counting a quarter of a million tiles with the lock held. */
u32 __wrap_pm_macro_tile(const struct pm_scene *scene, u32 x, u32 y)
{
	assert_false(fx.locked);
	return __real_pm_macro_tile(scene, x, y);
}

static void tiles_are_not_counted_one_by_one_with_the_device_lock_held(void **state)
{
	(void)state;
	waits = 0;
	fx_open(&fx, 2);
	run_scene(&few);
	assert_int_equal(pdm_status(fx.pdm)->done, 6);
	fx_close(&fx);
}

/* For every size, the computed number equals the counted one. */
static void the_tiles_of_a_macro_tile_are_counted_correctly(void **state)
{
	struct pm_scene scene = { 0 };
	u32 x, y, macro;

	(void)state;
	for (scene.tiles_y = 1; scene.tiles_y <= 40; scene.tiles_y++) {
		for (scene.tiles_x = 1; scene.tiles_x <= 40; scene.tiles_x++) {
			u32 tiles[PM_MACRO_TILES] = { 0 };

			scene.macro_w = (scene.tiles_x + PUMICE_MACRO_TILES_X - 1) /
					PUMICE_MACRO_TILES_X;
			scene.macro_h = (scene.tiles_y + PUMICE_MACRO_TILES_Y - 1) /
					PUMICE_MACRO_TILES_Y;
			for (y = 0; y < scene.tiles_y; y++)
				for (x = 0; x < scene.tiles_x; x++)
					tiles[pm_macro_tile(&scene, x, y)]++;
			for (macro = 0; macro < PM_MACRO_TILES; macro++)
				assert_int_equal(pm_macro_tile_tiles(&scene, macro), tiles[macro]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tile_that_waits_for_outputs_keeps_its_programs),
		cmocka_unit_test(a_wait_for_memory_wakes_the_tiles_of_all_cores_once),
		cmocka_unit_test(a_wait_for_the_program_of_an_object_is_counted),
		cmocka_unit_test(a_tile_releases_its_programs_before_it_waits_for_memory),
		cmocka_unit_test(a_tile_releases_its_programs_before_it_waits_for_outputs),
		cmocka_unit_test(tiles_of_all_cores_share_memory_for_one_program),
		cmocka_unit_test(hidden_objects_need_no_memory_for_programs),
		cmocka_unit_test(objects_of_a_pass_share_memory_for_one_program),
		cmocka_unit_test(tasks_may_run_longer_than_a_load_waits),
		cmocka_unit_test(tiles_are_not_counted_one_by_one_with_the_device_lock_held),
		cmocka_unit_test(the_tiles_of_a_macro_tile_are_counted_correctly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
