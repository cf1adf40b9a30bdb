// SPDX-License-Identifier: MIT
/*
 * Clear and store without tasks: pictures, faults and counters are those of tasks, which run while
 * the trace is on; and it happens without a USC.
 */
#include <string.h>

#include "../../../qemu-device/gpu/inject/inject.h"
#include "../../../qemu-device/gpu/usc/direct.h"
#include "fixture.h"
#include "perf.h"

#define SIDE		70u	/* pixels of the target: 9 tiles of 32 x 32, some cut off */
#define TILES		9u
#define FILL		0xee	/* bytes of the target before */

static struct fixture fx;

static const struct scene_size usual = { .width = SIDE, .height = SIDE, .samples = 1,
					 .tile_size = PUMICE_TILE_SIZE_32X32 };

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

/* Results of a job. */
struct result {
	u8 colour[SIDE * SIDE * PUMICE_MAX_SAMPLES * 4], second[FX_SECOND];
	u64 tasks, waves, issued, bytes, pdm_tasks, faults;
	struct gpu_fault fault;
	u32 wakes;	/* of USCs */
	enum dm_end end;
};

static void get_counters(u64 value[PUMICE_PERF_NUMBER])
{
	u32 n;

	memset(value, 0, PUMICE_PERF_NUMBER * sizeof(value[0]));
	pds_counters_add(fx.pds, value);
	pdm_counters_add(fx.pdm, value);
	mmu_counters_add(&fx.mmu, value);
	for (n = 0; n < fx.uscs; n++)
		usc_counters_add(fx.usc[n], value);
}

static u32 count_wakes(void)
{
	u32 n, wakes = 0;

	for (n = 0; n < fx.uscs; n++)
		wakes += fx.usc_wakes[n];
	return wakes;
}

/* Run the job of the scene, with tasks or without. */
static void run(bool tasks, struct result *out)
{
	u64 before[PUMICE_PERF_NUMBER], after[PUMICE_PERF_NUMBER];
	const u32 wakes = count_wakes();

	memset(fx.colour, FILL, 2 * FX_SECOND);
	testtrace_on(&fx.trace, tasks ? TESTTRACE_ALL : 0);
	get_counters(before);
	fx_start(&fx, false);
	fx_run(&fx);
	get_counters(after);
	testtrace_on(&fx.trace, 0);
	memset(out, 0, sizeof(*out));
	memcpy(out->colour, fx.colour, sizeof(out->colour));
	memcpy(out->second, fx.colour + FX_SECOND, sizeof(out->second));
	out->tasks = after[PUMICE_PERF_PDS_TASKS] - before[PUMICE_PERF_PDS_TASKS];
	out->waves = after[PUMICE_PERF_USC_WAVES] - before[PUMICE_PERF_USC_WAVES];
	out->issued = after[PUMICE_PERF_USC_ISSUED] - before[PUMICE_PERF_USC_ISSUED];
	out->bytes = after[PUMICE_PERF_PDS_DMA_BYTES] - before[PUMICE_PERF_PDS_DMA_BYTES];
	out->pdm_tasks = after[PUMICE_PERF_PDM_TASKS] - before[PUMICE_PERF_PDM_TASKS];
	out->faults = after[PUMICE_PERF_MMU_FAULTS] - before[PUMICE_PERF_MMU_FAULTS];
	out->fault = pdm_status(fx.pdm)->fault;
	out->wakes = count_wakes() - wakes;
	out->end = fx.end;
}

/* Begin a scene with a background; a triangle covers some tiles if drawn. */
static void make_scene(const struct scene_size *size, enum fx_program background, bool drawn)
{
	const struct pumice_isp_state isp = scene_usual_isp();
	const struct scene_prim prim = {
		.triangle = { .x = { 0, 20 << 8, 0 }, .y = { 0, 0, 20 << 8 },
			      .z = { 0.5f, 0.5f, 0.5f } },
		.value = { 3, 0.5f },
	};

	scene_begin(&fx, size);
	if (background != FX_PROGRAMS)
		pumice_stage_pack(fx.record.background, &fx.stage[background]);
	if (drawn) {
		scene_set_object(&fx, 0, &isp, FX_BLEND, false);
		scene_draw(&fx, 0, &prim, 1);
	}
	scene_end(&fx, true);
}

static void assert_same(const struct result *a, const struct result *b)
{
	assert_int_equal(a->end, b->end);
	assert_memory_equal(a->colour, b->colour, sizeof(a->colour));
	assert_memory_equal(a->second, b->second, sizeof(a->second));
	assert_int_equal(a->tasks, b->tasks);
	assert_int_equal(a->waves, b->waves);
	assert_int_equal(a->issued, b->issued);
	assert_int_equal(a->bytes, b->bytes);
	assert_int_equal(a->pdm_tasks, b->pdm_tasks);
	assert_int_equal(a->faults, b->faults);
	assert_int_equal(a->fault.fault, b->fault.fault);
	assert_int_equal(a->fault.unit, b->fault.unit);
	assert_int_equal(a->fault.addr, b->fault.addr);
	assert_int_equal(a->fault.pc, b->fault.pc);
	assert_int_equal(a->fault.wave_known, b->fault.wave_known);
}

static void check(const struct scene_size *size, enum fx_program background, bool drawn,
		  struct result *direct)
{
	static struct result tasks;

	make_scene(size, background, drawn);
	run(true, &tasks);
	make_scene(size, background, drawn);
	run(false, direct);
	assert_same(&tasks, direct);
	assert_true(tasks.wakes > 0);
}

static void results_and_counters_are_those_of_tasks(void **state)
{
	static const enum fx_program backgrounds[] = {
		FX_PROGRAMS, FX_BACKGROUND, FX_BACKGROUND_READ, FX_BACKGROUND_COLUMN,
		FX_BACKGROUND_PART, FX_BACKGROUND_LANES, FX_BACKGROUND_BANKS,
		FX_BACKGROUND_COEFFS, FX_BACKGROUND_ALL_SHARED, FX_BACKGROUND_COEFFS_ALT,
		FX_BACKGROUND_SLOT, FX_BACKGROUND_TEMP, FX_BACKGROUND_UNWRITTEN,
		FX_BACKGROUND_WORDS, FX_BACKGROUND_INDEXED, FX_NOTHING,
	};
	struct scene_size size = { .width = SIDE, .height = SIDE - 1 };
	static struct result direct;
	u32 n;

	(void)state;
	*(float *)(void *)(fx.states + (FX_ATTRIBUTES - FX_STATES)) = 0.625f;
	for (n = 0; n < sizeof(backgrounds) / sizeof(backgrounds[0]); n++)
		for (size.tile_size = 0; size.tile_size < 3; size.tile_size++)
			for (size.samples = 1; size.samples <= 4; size.samples *= 2) {
				check(&size, backgrounds[n], false, &direct);
				assert_int_equal(direct.end, DM_DONE);
				check(&size, backgrounds[n], true, &direct);
			}
}

/* The task of the end of tile, of the triangle and of its tile are left. */
static void a_tile_without_primitives_needs_no_usc(void **state)
{
	static struct result r;
	u32 p;

	(void)state;
	make_scene(&usual, FX_BACKGROUND, false);
	run(false, &r);
	assert_int_equal(r.end, DM_DONE);
	assert_int_equal(r.wakes, 0);
	assert_int_equal(r.pdm_tasks, TILES * (1024 / 128 + 1));
	assert_int_equal(r.waves, TILES * (1024 / PUMICE_LANES + 1));
	for (p = 0; p < SIDE * SIDE; p++)
		assert_float_equal(((const float *)(const void *)r.colour)[p], 0.25f, 0);
	make_scene(&usual, FX_BACKGROUND, true);
	run(false, &r);
	assert_true(r.wakes > 0 && r.wakes <= 3);
}

/* The next job reads what the host has written since. */
static void a_constant_is_read_for_each_job(void **state)
{
	float *const word = (float *)(void *)(fx.states + (FX_ATTRIBUTES - FX_STATES));
	static struct result r;
	u32 n;

	(void)state;
	for (n = 1; n < 4; n++) {
		*word = (float)n;
		make_scene(&usual, FX_BACKGROUND_READ, false);
		run(false, &r);
		assert_int_equal(r.wakes, 0);
		assert_float_equal(((const float *)(const void *)r.colour)[SIDE + 1], (float)n, 0);
	}
}

/* Each page in turn is missing or read-only: the fault of a task, counted once. */
static void faults_are_those_of_tasks(void **state)
{
	static struct result direct, tasks;
	u32 n;

	(void)state;
	for (n = 0; n < 5; n++) {
		const u64 at = n < 4 ? FX_COLOUR + n * 4096 : FX_ATTRIBUTES;

		/* With empty TLBs. */
		close_fixture(NULL);
		open_fixture(NULL);
		testmem_unmap(fx.tm, FX_CTX, at, 4096);
		make_scene(&usual, FX_BACKGROUND_READ, false);
		run(true, &tasks);
		make_scene(&usual, FX_BACKGROUND_READ, false);
		run(false, &direct);
		assert_int_equal(tasks.end, DM_FAULT);
		assert_int_equal(direct.end, DM_FAULT);
		assert_int_equal(direct.faults, 1);
		assert_int_equal(direct.fault.fault, PUMICE_FAULT_MMU_PT_INVALID);
		assert_int_equal(direct.fault.unit, tasks.fault.unit);
		assert_int_equal(direct.fault.pc, tasks.fault.pc);
		assert_int_equal(direct.fault.addr & ~4095ull, at);
		assert_int_equal(direct.fault.wave_known, tasks.fault.wave_known);
	}
}

/* A tile's step is to be short: a program of more instructions has tasks. */
static void a_long_program_has_tasks(void **state)
{
	u32 longer;

	(void)state;
	for (longer = 0; longer < 2; longer++) {
		static struct result r;

		close_fixture(NULL);
		open_fixture(NULL);
		fx_lengthen(&fx, FX_BACKGROUND, USC_DIRECT_INSNS + 1 + longer);
		make_scene(&usual, FX_BACKGROUND, false);
		run(false, &r);
		assert_int_equal(r.end, DM_DONE);
		assert_int_equal(r.wakes != 0, longer);
		assert_int_equal(r.issued, TILES * (32 * (USC_DIRECT_INSNS + 1 + longer) + 2));
	}
	close_fixture(NULL);
	open_fixture(NULL);
}

/* Each of two targets has the picture. */
static void all_stores_are_executed(void **state)
{
	static struct result tasks, direct;

	(void)state;
	make_scene(&usual, FX_BACKGROUND, false);
	pumice_stage_pack(fx.record.end_of_tile, &fx.stage[FX_END_OF_TILE_TWO]);
	run(true, &tasks);
	make_scene(&usual, FX_BACKGROUND, false);
	pumice_stage_pack(fx.record.end_of_tile, &fx.stage[FX_END_OF_TILE_TWO]);
	run(false, &direct);
	assert_int_equal(direct.wakes, 0);
	assert_same(&tasks, &direct);
	assert_memory_equal(direct.colour, direct.second, SIDE * SIDE * 4);
}

/* A tile's own store program. */
static void an_own_store_needs_no_usc(void **state)
{
	static struct result r;

	(void)state;
	make_scene(&usual, FX_BACKGROUND, false);
	memset(fx.record.end_of_tile, 0, sizeof(fx.record.end_of_tile));
	control_begin(&fx, FX_CONTROL);
	control_tile(&fx, 0, 0);
	control_store_program(&fx, &fx.stage[FX_END_OF_TILE], true);
	run(false, &r);
	fx.job_stream = 0;
	assert_int_equal(r.end, DM_DONE);
	assert_int_equal(r.wakes, 0);
	assert_float_equal(((const float *)(const void *)r.colour)[SIDE + 1], 0.25f, 0);
}

/* They show more of instructions than their number. */
static void detailed_counters_and_injected_faults_have_tasks(void **state)
{
	const struct inject_request slow = {
		.kind = PUMICE_INJECT_KIND_SLOW_MEMORY, .where = PUMICE_INJECT_WHERE_USC,
		.count = 1000,
	};
	static struct result r;
	struct inject inject;
	u32 n;

	(void)state;
	for (n = 0; n < fx.uscs; n++)
		usc_set_detail(fx.usc[n], true);
	make_scene(&usual, FX_BACKGROUND, false);
	run(false, &r);
	assert_true(r.wakes > 0);
	for (n = 0; n < fx.uscs; n++)
		usc_set_detail(fx.usc[n], false);
	inject_init(&inject);
	assert_true(inject_arm(&inject, &slow));
	fx.mmu.inject = &inject;
	make_scene(&usual, FX_BACKGROUND, false);
	run(false, &r);
	fx.mmu.inject = NULL;
	inject_destroy(&inject);
	assert_true(r.wakes > 0);
	make_scene(&usual, FX_BACKGROUND, false);
	run(false, &r);
	assert_int_equal(r.wakes, 0);
}

static void a_reset_clears_the_counters(void **state)
{
	static struct result r;

	(void)state;
	make_scene(&usual, FX_BACKGROUND, false);
	run(false, &r);
	assert_true(fx_counter(&fx, PUMICE_PERF_PDS_TASKS) > 0);
	fx_reset(&fx);
	assert_int_equal(fx_counter(&fx, PUMICE_PERF_PDS_TASKS), 0);
	assert_int_equal(fx_counter(&fx, PUMICE_PERF_USC_WAVES), 0);
	assert_int_equal(fx_counter(&fx, PUMICE_PERF_USC_ISSUED), 0);
}

/* So has one whose registers are many. */
static void a_program_that_reads_much_has_tasks(void **state)
{
	static struct result r;

	(void)state;
	make_scene(&usual, FX_BACKGROUND_WORDS, false);
	run(false, &r);
	assert_true(r.wakes > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_and_counters_are_those_of_tasks),
		cmocka_unit_test(a_tile_without_primitives_needs_no_usc),
		cmocka_unit_test(a_constant_is_read_for_each_job),
		cmocka_unit_test(faults_are_those_of_tasks),
		cmocka_unit_test(a_long_program_has_tasks),
		cmocka_unit_test(a_program_that_reads_much_has_tasks),
		cmocka_unit_test(all_stores_are_executed),
		cmocka_unit_test(an_own_store_needs_no_usc),
		cmocka_unit_test(detailed_counters_and_injected_faults_have_tasks),
		cmocka_unit_test(a_reset_clears_the_counters),
	};

	return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
