// SPDX-License-Identifier: MIT
/*
 * The scoreboard: tasks of a later pass run while those of earlier ones do, unless they have the
 * same samples; primitives are drawn meanwhile, unless running tasks decide on pixels near them.
 *
 * One core, one tile of 32 x 32. The test holds USCs, so that tasks do not end.
 */
#include <string.h>

#include "../../../qemu-device/gpu/pdm/state.h"
#include "fixture.h"
#include "perf.h"

#define SIDE	32u
#define ALL	UINT32_MAX
#define MANY	(PDM_MAX_PRIMS / PUMICE_BLOCK_PRIMS + 1)	/* blocks */

static struct fixture fx;

/* ------------------------------------------------------------ scenes */

static struct pdm_tile *tile(void)
{
	return fx.pdm->core[0].tile[0];
}

/* Values that blending adds, and depth. */
struct layer {
	enum fx_program program;
	enum pumice_pass_type pass_type;
	u32 y0, y1;	/* rows of pixels, all columns; y1 is outside */
	float z, value;
	bool tests;	/* passes if it is nearer, and writes its depth */
};

static void set_layer(u32 object, const struct layer *l)
{
	struct pumice_isp_state isp = scene_usual_isp();

	isp.pass_type = (u8)l->pass_type;
	isp.scissor_y0 = (u16)l->y0;
	isp.scissor_y1 = (u16)l->y1;
	if (l->tests)
		isp.depth_func = PUMICE_COMPARE_LESS;
	isp.depth_write = l->tests;
	scene_set_object(&fx, object, &isp, l->program, false);
}

/* Add count triangles, each of which covers the layer's rows. */
static void draw(u32 object, const struct layer *l, u32 count)
{
	struct scene_prim prim[PUMICE_BLOCK_PRIMS];
	u32 i;

	for (i = 0; i < count; i++)
		prim[i] = (struct scene_prim){
			.triangle = { .x = { 0, 80 << 8, 0 }, .y = { 0, 0, 80 << 8 },
				      .z = { l->z, l->z, l->z } },
			.value = { l->value, 0.5f },
		};
	scene_draw(&fx, object, prim, count);
}

static void draw_layers(const struct layer *layers, u32 count)
{
	u32 i;

	scene_begin_square(&fx, SIDE);
	for (i = 0; i < count; i++) {
		set_layer(i, &layers[i]);
		draw(i, &layers[i], 1);
	}
}

static void start(void)
{
	scene_end(&fx, true);
	fx_start(&fx, false);
}

/* Run until all units that are not held wait. */
static void run_held(u32 uscs)
{
	u32 steps = 0;

	fx.held_uscs = uscs;
	while (fx_step(&fx)) {
		assert_true(steps++ < 10000);
		fx_check_order(&fx);
	}
	assert_int_equal(fx.ends, 0);
}

static void finish(void)
{
	fx.held_uscs = 0;
	/* A USC that was held has been woken, a core that waits for it has not. */
	fx_run(&fx);
	assert_int_equal(fx.end, DM_DONE);
}

static u64 counter(enum pumice_perf_counter number)
{
	u64 value[PUMICE_PERF_NUMBER] = { 0 };

	pdm_counters_add(fx.pdm, value);
	return value[number];
}

static void check_rows(u32 y0, u32 y1, float value)
{
	u32 x, y;

	for (y = y0; y < y1; y++)
		for (x = 0; x < SIDE; x++)
			assert_true(scene_colour(&fx, SIDE, x, y) == value);
}

static int open_fixture(void **state)
{
	(void)state;
	fx_open(&fx, 1);
	return 0;
}

static int close_fixture(void **state)
{
	(void)state;
	fx_close(&fx);
	return 0;
}

#define BLEND(y0, y1, value) \
	{ FX_BLEND, PUMICE_PASS_TYPE_TRANSLUCENT, y0, y1, 0.5f, value, false }

/* ------------------------------------------------------------ tasks */

/* The second layer is of the same pass as the third, which has the samples of the first. */
static const struct layer two_passes[] = {
	BLEND(16, 32, 8), BLEND(0, 8, 2), BLEND(16, 32, 1),
};

static void tasks_of_other_samples_start_before_the_pass_has_ended(void **state)
{
	const u64 waits = counter(PUMICE_PERF_PDM_SCOREBOARD_WAITS);

	(void)state;
	draw_layers(two_passes, 3);
	start();
	run_held(ALL);
	/* 128 quads of the first pass, 64 of the second one; the others are held. */
	assert_int_equal(tile()->stats.passes, 2);
	assert_int_equal(tile()->tasks, 4 + 2);
	assert_int_equal(atomic_load(&tile()->running), 4 + 2);
	assert_non_null(tile()->built);
	assert_true(tile()->held);
	/* One wait, however often the core looks. */
	fx.awake_core[0] = true;
	run_held(ALL);
	assert_int_equal(tile()->waits, 1);
	finish();
	check_rows(0, 8, 2);
	check_rows(8, 16, 0);
	check_rows(16, 32, 8 / 2 + 1);
	assert_true(counter(PUMICE_PERF_PDM_SCOREBOARD_WAITS) > waits);
}

/* Tasks of one USC end: those of the next pass over the same samples start, and no others. */
static void a_task_waits_for_those_of_its_samples_alone(void **state)
{
	const struct layer layers[] = { BLEND(0, 32, 8), BLEND(0, 32, 1) };
	u32 most = 0, i;

	(void)state;
	/* Each USC has the first task in one of two frames. */
	for (i = 0; i < 2 * FX_USCS_PER_CORE; i++) {
		draw_layers(layers, 2);
		start();
		run_held(ALL);
		assert_int_equal(tile()->tasks, 8);
		assert_true(tile()->held);
		run_held(ALL & ~(1u << i / 2));
		assert_true(tile()->tasks < 16);
		assert_true(atomic_load(&tile()->running) > 0);
		most = tile()->tasks > most ? tile()->tasks : most;
		finish();
		check_rows(0, 32, 8 / 2 + 1);
	}
	/* If the USC ran the first task. */
	assert_true(most > 8);
}

/* The third layer has no sample of the first, but shares quads with it; it overlaps the second. */
static void a_task_does_not_wait_for_other_samples_of_its_quads(void **state)
{
	const struct layer layers[] = { BLEND(0, 3, 8), BLEND(6, 8, 4), BLEND(3, 8, 1) };

	(void)state;
	draw_layers(layers, 3);
	start();
	run_held(ALL);
	/* Its first task, of rows 3 to 5, runs; the second layer holds the other one. */
	assert_int_equal(tile()->stats.passes, 2);
	assert_int_equal(tile()->tasks, 3);
	assert_true(tile()->held);
	finish();
	check_rows(0, 3, 8);
	check_rows(3, 6, 1);
	check_rows(6, 8, 4 / 2 + 1);
}

static u32 looks;
static u64 issued;	/* tasks, before the first look */

/*
 * Return whether no task was reaped. After the first look a task ends before it is notified that
 * the tile waits.
 */
static bool none_ended(const struct pdm_tile *t)
{
	const u32 running = atomic_load(&t->running);
	const bool none = t->issued == issued;

	if (!looks++) {
		fx.held_uscs = ALL & ~1u;
		while (atomic_load(&t->running) == running)
			assert_true(fx_step(&fx));
		fx.held_uscs = ALL;
	}
	return none;
}

static void a_task_that_ends_before_the_tile_waits_is_not_missed(void **state)
{
	bool waits;

	(void)state;
	draw_layers(two_passes, 3);
	start();
	run_held(ALL);
	/* As if the core had just been woken. */
	atomic_store(&tile()->starved, false);
	looks = 0;
	issued = tile()->issued;
	waits = pdm_tasks_await(tile(), none_ended);
	assert_true(!waits || fx.awake_core[0]);
	fx.awake_core[0] = true;
	finish();
	check_rows(16, 32, 8 / 2 + 1);
}

/* Many layers: the tasks of a sample run in the order of the primitives. */
static void layers_are_blended_in_order(void **state)
{
	struct layer layers[12];
	float want = 0;
	u32 i, round;

	(void)state;
	for (i = 0; i < 12; i++) {
		layers[i] = (struct layer)BLEND(i % 3 * 4, 32 - i % 5, (float)(1u << i));
		if (i % 3 * 4 <= 12 && 32 - i % 5 > 12)
			want = want / 2 + layers[i].value;
	}
	for (round = 1; round <= 20; round++) {
		draw_layers(layers, 12);
		start();
		fx.shuffle = round;
		finish();
		fx.shuffle = 0;
		check_rows(12, 16, want);
	}
}

/* ------------------------------------------------------------ late decisions */

/*
 * A program that drops every second pixel, and a nearer layer over it; meanwhile another one is
 * drawn over the first.
 */
static const struct layer late_scene[] = {
	{ FX_PUNCH, PUMICE_PASS_TYPE_PUNCH_THROUGH, 0, 8, 0.3f, 8, true },
	BLEND(16, 32, 4),
	{ FX_BLEND, PUMICE_PASS_TYPE_TRANSLUCENT, 16, 32, 0.9f, 1, false },
	{ FX_PLAIN, PUMICE_PASS_TYPE_OPAQUE, 0, 8, 0.5f, 2, true },
};

static void check_late_rows(u32 rows, float kept, float dropped)
{
	u32 x, y;

	for (y = 0; y < rows; y++)
		for (x = 0; x < SIDE; x++)
			assert_true(scene_colour(&fx, SIDE, x, y) ==
				    ((x ^ y) & 1 ? kept : dropped));
}

static void check_late(void)
{
	check_late_rows(8, 8, 2);
}

static void primitives_near_undecided_pixels_wait_and_others_do_not(void **state)
{
	const u64 waits = counter(PUMICE_PERF_PDM_SCOREBOARD_ISP_WAITS);

	(void)state;
	draw_layers(late_scene, 4);
	start();
	run_held(ALL);
	/* The third layer is drawn, the fourth is not. */
	assert_int_equal(tile()->phase, PDM_TILE_WALK);
	assert_int_equal(tile()->stats.passes, 1);
	assert_int_equal(tile()->stats.primitives, 4);
	assert_int_equal(tile()->isp.row0, 8);
	assert_int_equal(tile()->isp.row1, 16);
	assert_true(tile()->isp_held);
	fx.awake_core[0] = true;
	run_held(ALL);
	finish();
	check_late();
	check_rows(16, 32, 4 / 2 + 1);
	assert_int_equal(counter(PUMICE_PERF_PDM_SCOREBOARD_ISP_WAITS) - waits, 1);
}

/* Two primitives wait, each for one of two late tasks; nothing is shaded in between. */
static void each_primitive_that_waits_is_counted(void **state)
{
	const struct layer layers[] = {
		late_scene[0], late_scene[1], late_scene[2],
		{ FX_PLAIN, PUMICE_PASS_TYPE_OPAQUE, 0, 4, 0.5f, 2, true },
		{ FX_PLAIN, PUMICE_PASS_TYPE_OPAQUE, 4, 8, 0.5f, 2, true },
	};
	u32 most = 0, i;

	(void)state;
	/* Each USC has the first late task in one of two frames. */
	for (i = 0; i < 2 * FX_USCS_PER_CORE; i++) {
		draw_layers(layers, 5);
		start();
		run_held(ALL);
		assert_int_equal(tile()->scoreboard.late_tasks, 2);
		assert_int_equal(tile()->isp_waits, 1);
		run_held(ALL & ~(1u << i / 2));
		assert_true(tile()->isp_held);
		most = tile()->isp_waits > most ? tile()->isp_waits : most;
		finish();
		check_late();
	}
	/* If the USC ran the first late task. */
	assert_int_equal(most, 2);
}

/* More primitives than tags can number, while late tasks refer to the first of them. */
static void check_records(u32 rows, u32 late_tasks)
{
	const struct layer many = { FX_PLAIN, PUMICE_PASS_TYPE_OPAQUE, 16, 32, 0.9f, 3, false };
	struct layer layers[4];
	u32 i;

	memcpy(layers, late_scene, sizeof(layers));
	layers[0].y1 = rows;
	layers[3].y1 = rows;
	draw_layers(layers, 3);
	set_layer(4, &many);
	for (i = 0; i < MANY; i++)
		draw(4, &many, PUMICE_BLOCK_PRIMS);
	set_layer(3, &layers[3]);
	draw(3, &layers[3], 1);
	start();
	run_held(ALL);
	assert_int_equal(tile()->phase, PDM_TILE_WALK);
	assert_int_equal(tile()->prim_count, PDM_MAX_PRIMS);
	assert_int_equal(tile()->scoreboard.late_tasks, late_tasks);
	assert_int_equal(tile()->isp_waits, 1);
	/* One wait, however often the core looks. */
	fx.awake_core[0] = true;
	run_held(ALL);
	assert_int_equal(tile()->isp_waits, 1);
	finish();
	check_late_rows(rows, 8, 2);
	check_rows(16, 32, 3);
}

static void records_of_running_tasks_are_kept(void **state)
{
	(void)state;
	check_records(8, 2);
	check_records(4, 1);
}

/* ------------------------------------------------------------ stops */

/* Held tasks, and primitives that wait: the next job is complete. */
static void check_next_job(void)
{
	draw_layers(two_passes, 3);
	start();
	finish();
	check_rows(16, 32, 8 / 2 + 1);
}

/* Draw with this program in the first layer until the tile waits for it, and stop the job. */
static void check_stop(enum fx_program program, bool late, bool reset)
{
	struct layer layers[4];
	u32 i;

	memcpy(layers, late_scene, sizeof(layers));
	if (!late)
		memcpy(layers, two_passes, sizeof(two_passes));
	layers[0].program = program;
	draw_layers(layers, late ? 4 : 3);
	start();
	for (i = 0; i < 200; i++)
		fx_step(&fx);
	assert_int_equal(fx.ends, 0);
	assert_true(late ? tile()->isp_held : tile()->held);
	if (reset) {
		fx_reset(&fx);
	} else {
		fx.locked = true;
		pdm_abort(fx.pdm);
		fx.locked = false;
		fx_run(&fx);
		assert_int_equal(fx.end, DM_ABORTED);
	}
	check_next_job();
}

static void endless_tasks_hold_others_until_the_job_is_stopped(void **state)
{
	(void)state;
	check_stop(FX_LOOP, false, false);
	check_stop(FX_LOOP, true, false);
	check_stop(FX_LOOP, false, true);
	check_stop(FX_LOOP, true, true);
}

static void a_fault_of_a_task_ends_the_wait_for_it(void **state)
{
	struct layer layers[3];

	(void)state;
	memcpy(layers, two_passes, sizeof(layers));
	layers[0].program = FX_BAD_STORE;
	draw_layers(layers, 3);
	start();
	run_held(ALL);
	assert_true(tile()->held);
	fx.held_uscs = 0;
	fx_run(&fx);
	assert_int_equal(fx.end, DM_FAULT);
	check_next_job();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_of_other_samples_start_before_the_pass_has_ended),
		cmocka_unit_test(a_task_waits_for_those_of_its_samples_alone),
		cmocka_unit_test(a_task_does_not_wait_for_other_samples_of_its_quads),
		cmocka_unit_test(a_task_that_ends_before_the_tile_waits_is_not_missed),
		cmocka_unit_test(layers_are_blended_in_order),
		cmocka_unit_test(primitives_near_undecided_pixels_wait_and_others_do_not),
		cmocka_unit_test(each_primitive_that_waits_is_counted),
		cmocka_unit_test(records_of_running_tasks_are_kept),
		cmocka_unit_test(endless_tasks_hold_others_until_the_job_is_stopped),
		cmocka_unit_test(a_fault_of_a_task_ends_the_wait_for_it),
	};

	return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
