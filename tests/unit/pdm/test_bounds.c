// SPDX-License-Identifier: MIT
/*
 * Resources of a job: scarce memory for decoded programs, and the device lock.
 */
#include <string.h>

#include "../../../qemu-device/gpu/usc/program.h"
#include "rig.h"

static struct rig rig;
static u32 waits;

/* ------------------------------------------------------------ a scene of several programs */

static const struct scene_size size = { .width = 70, .height = 50, .samples = 1,
					.tile_size = PUMICE_TILE_SIZE_32X32 };

static void draw(u32 object, float z)
{
	const struct scene_prim prim = {
		.triangle = { .x = { 0, 200 << 8, 0 }, .y = { 0, 0, 200 << 8 }, .z = { z, z, z } },
		.value = { 3 + z, 0.5f },
	};

	scene_draw(&rig, object, &prim, 1);
}

static void make_scene(void)
{
	static const enum rig_program program[] = { RIG_PLAIN, RIG_BLEND, RIG_PUNCH };
	struct pumice_isp_state isp = {
		.depth_func = PUMICE_COMPARE_LESS_EQUAL, .depth_write = true,
		.scissor_x1 = 8192, .scissor_y1 = 8192, .sample_mask = 15, .visibility = true,
		.visibility_id = 1,
	};
	struct pumice_pdm_render *r = &rig.record;
	const float far = 1;
	u32 i;

	memset(rig.visible, 0, 0x1000);
	memset(rig.colour, 0xee, RIG_BYTES);
	scene_begin(&rig, &size);
	memcpy(&r->clear_depth, &far, 4);
	r->visibility_addr = RIG_VISIBLE;
	r->visibility_count = 4;
	for (i = 0; i < 3; i++) {
		isp.pass_type = i == 2 ? PUMICE_PASS_TYPE_PUNCH_THROUGH :
			        i ? PUMICE_PASS_TYPE_TRANSLUCENT : PUMICE_PASS_TYPE_OPAQUE;
		scene_set_object(&rig, i, &isp, program[i], false);
	}
	draw(0, 0.9f);
	draw(1, 0.8f);
	draw(2, 0.7f);
	draw(1, 0.6f);
	draw(0, 0.5f);
	draw(2, 0.4f);
	scene_end(&rig, true);
}

static void run_scene(void)
{
	make_scene();
	rig_start(&rig, false);
	rig_run(&rig);
	assert_int_equal(rig.end, DM_DONE);
	assert_int_equal(rig_free_pages(&rig), RIG_PAGES);
}

/* ------------------------------------------------------------ memory of programs */

static u64 cache_now(void *opaque)
{
	(void)opaque;
	return 0;	/* no time-out */
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
	for (i = 0; i < rig.cores; i++)
		rig.awake_core[i] = true;
}

static const struct usc_cache_ops cache_ops = {
	.now = cache_now, .wait = cache_wait, .room = cache_room,
};

/*
 * Room for the end of tile and one more program, the longest one. Tiles that wait have released
 * their programs, and finished tiles all of theirs, else this would never end.
 */
static void render_with_room_for_one_program(u32 cores)
{
	static u8 colour[RIG_BYTES], visible[0x1000];
	const u64 room = usc_predecode_bytes(2) + usc_predecode_bytes(8);
	bool short_of = false;

	rig_open(&rig, cores);
	usc_program_cache_set_ops(rig.programs, &cache_ops, NULL);
	run_scene();
	assert_int_equal(waits, 0);
	memcpy(colour, rig.colour, sizeof(colour));
	memcpy(visible, rig.visible, sizeof(visible));
	rig_close(&rig);

	rig_open(&rig, cores);
	usc_program_cache_set_ops(rig.programs, &cache_ops, NULL);
	assert_int_equal(usc_cache_reserve(rig.programs, USC_STAGE_FRAGMENT,
					   USC_CACHE_PDM_BYTES - room, &short_of), USC_LOAD_DONE);
	run_scene();
	assert_memory_equal(rig.colour, colour, sizeof(colour));
	assert_memory_equal(rig.visible, visible, sizeof(visible));
	rig_close(&rig);
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

/* ------------------------------------------------------------ the device lock */

u32 __real_pm_macro_tile(const struct pm_scene *scene, u32 x, u32 y);
u32 __wrap_pm_macro_tile(const struct pm_scene *scene, u32 x, u32 y);

/* Divide instead of counting a quarter of a million tiles with the lock held. */
u32 __wrap_pm_macro_tile(const struct pm_scene *scene, u32 x, u32 y)
{
	assert_false(rig.locked);
	return __real_pm_macro_tile(scene, x, y);
}

static void tiles_are_not_counted_one_by_one_with_the_device_lock_held(void **state)
{
	(void)state;
	waits = 0;
	rig_open(&rig, 2);
	run_scene();
	assert_int_equal(pdm_status(rig.pdm)->done, 6);
	rig_close(&rig);
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
		cmocka_unit_test(a_tile_releases_its_programs_before_it_waits_for_memory),
		cmocka_unit_test(tiles_of_all_cores_share_memory_for_one_program),
		cmocka_unit_test(tiles_are_not_counted_one_by_one_with_the_device_lock_held),
		cmocka_unit_test(the_tiles_of_a_macro_tile_are_counted_correctly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
