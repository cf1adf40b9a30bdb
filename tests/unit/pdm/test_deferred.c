// SPDX-License-Identifier: MIT
/*
 * Deferred vertices in blocks that the test writes: numbers and instances that the vertex program
 * gets, records and blocks that are refused, jobs that stop while a vertex task runs, and rows of
 * the vertex pipe memory.
 */
#include <string.h>

#include "../../../qemu-device/gpu/ipf/ipf.h"
#include "../../../qemu-device/gpu/ta/ta.h"
#include "../../../qemu-device/gpu/usc/program.h"
#include "fixture.h"
#include "perf.h"

#define RECORD		(FX_STATES + 0x8000u)	/* the vdm_state */
#define NUMBER		4000000u	/* of the provoking vertex; exact as f32 */
#define INSTANCE	77u
#define SIDE		64u	/* of the target, four tiles */

static struct fixture fx;

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

/* The host's view of the block of the tile's only entry. */
static u32 *block(u32 tile)
{
	return scene_block(&fx, tile, 0);
}

/* Let the block of a tile have deferred vertices. */
static void defer(u32 *words, u32 vertex_data)
{
	struct scene_deferred deferred = {
		.vertex_data = (u8)vertex_data, .record = RECORD,
		.draw = { .instance = INSTANCE, .base_instance = 5 },
	};
	u32 v;

	for (v = 0; v < PUMICE_BLOCK_VERTICES; v++)
		deferred.number[v] = NUMBER - 1 + v % 3;
	scene_defer(words, &deferred);
}

static void put_record(const struct pumice_vdm_state *record)
{
	pumice_vdm_state_pack((u32 *)(void *)(fx.states + (RECORD - FX_STATES)), record);
}

/* A triangle over the whole target whose fragments are the first varying. */
static void make_scene(enum fx_program program, u32 vertex_data)
{
	const struct pumice_isp_state isp = scene_usual_isp();
	const struct scene_prim prim = {
		.triangle = { .x = { 0, 400 << 8, 0 }, .y = { 0, 0, 400 << 8 },
			      .z = { 0.25f, 0.25f, 0.25f } },
	};
	const struct pumice_vdm_state record = scene_vertex_state(&fx, program);
	u32 tile;

	scene_begin_square(&fx, SIDE);
	scene_set_object(&fx, 0, &isp, FX_PLAIN, false);
	scene_draw(&fx, 0, &prim, 1);
	for (tile = 0; tile < 4; tile++)
		defer(block(tile), vertex_data);
	put_record(&record);
	scene_end(&fx, true);
}

static void run_good(u32 vertex_data)
{
	u32 i;

	make_scene(FX_VERTEX, vertex_data);
	fx_start(&fx, false);
	fx_run(&fx);
	assert_int_equal(fx.end, DM_DONE);
	for (i = 0; i < SIDE * SIDE; i++)
		assert_float_equal(((const float *)(const void *)fx.colour)[i], (float)NUMBER, 0);
	assert_int_equal(fx_free_pages(&fx), FX_PAGES);
}

static void vertex_programs_get_the_numbers_of_blocks(void **state)
{
	(void)state;
	run_good(PUMICE_VERTEX_DATA_NUMBER);
	/*
	 * The program's positions are 0, so that clipping leaves nothing: a corner is its vertex.
	 */
	run_good(PUMICE_VERTEX_DATA_CLIPPED);
}

static void run_fault(enum pumice_fault why, enum pumice_unit unit, u64 addr)
{
	const struct gpu_fault *fault = &pdm_status(fx.pdm)->fault;

	fx_start(&fx, false);
	fx_run(&fx);
	assert_int_equal(fx.end, DM_FAULT);
	assert_int_equal(fault->fault, why);
	assert_int_equal(fault->unit, unit);
	if (addr)
		assert_true(fault->addr == addr);
	assert_int_equal(fx_free_pages(&fx), FX_PAGES);
}

static void records_are_checked_when_they_are_rendered(void **state)
{
	struct pumice_vdm_state record;
	u32 *words = (u32 *)(void *)(fx.states + (RECORD - FX_STATES));

	(void)state;
	make_scene(FX_VERTEX, PUMICE_VERTEX_DATA_NUMBER);
	record = scene_vertex_state(&fx, FX_VERTEX);
	record.deferred = false;
	put_record(&record);
	run_fault(PUMICE_FAULT_TSP_STATE, PUMICE_UNIT_TSP, RECORD);

	make_scene(FX_VERTEX, PUMICE_VERTEX_DATA_NUMBER);
	words[8] |= 1u << 26;
	run_fault(PUMICE_FAULT_VDM_RESERVED, PUMICE_UNIT_TSP, RECORD);

	make_scene(FX_VERTEX, PUMICE_VERTEX_DATA_NUMBER);
	record = scene_vertex_state(&fx, FX_VERTEX);
	memset(record.coordinate, 0, sizeof(record.coordinate));
	put_record(&record);
	run_fault(PUMICE_FAULT_VDM_STATE, PUMICE_UNIT_TSP, RECORD);

	/* Clipping needs the varyings of the block. */
	make_scene(FX_VERTEX, PUMICE_VERTEX_DATA_CLIPPED);
	record = scene_vertex_state(&fx, FX_VERTEX);
	record.varyings = SCENE_VARYINGS + 1;
	put_record(&record);
	run_fault(PUMICE_FAULT_TSP_STATE, PUMICE_UNIT_TSP, RECORD);

	/* The program writes more outputs than there are. */
	make_scene(FX_VERTEX, PUMICE_VERTEX_DATA_NUMBER);
	record = scene_vertex_state(&fx, FX_VERTEX);
	record.varyings = 0;
	put_record(&record);
	run_fault(PUMICE_FAULT_USC_REGISTER, PUMICE_UNIT_USC_CODE, 0);
	run_good(PUMICE_VERTEX_DATA_NUMBER);
}

static void vertex_programs_that_fault_stop_the_job(void **state)
{
	struct pumice_vdm_state record = scene_vertex_state(&fx, FX_VERTEX_FAR);

	(void)state;
	make_scene(FX_VERTEX_FAR, PUMICE_VERTEX_DATA_NUMBER);
	run_fault(PUMICE_FAULT_MMU_PC_INVALID, PUMICE_UNIT_PDS, 0);
	make_scene(FX_VERTEX, PUMICE_VERTEX_DATA_NUMBER);
	record.vertex[1] += 1 << 8;	/* more instructions */
	record.vertex[0] = 0x40;
	put_record(&record);
	run_fault(PUMICE_FAULT_MMU_PD_INVALID, PUMICE_UNIT_PDS, 0);
	run_good(PUMICE_VERTEX_DATA_NUMBER);
}

static void blocks_with_bad_vertices_are_refused(void **state)
{
	struct pumice_prim_block header;
	u32 *words;

	(void)state;
	make_scene(FX_VERTEX, PUMICE_VERTEX_DATA_CLIPPED);
	words = block(0) + PUMICE_PRIM_BLOCK_WORDS + PUMICE_BLOCK_PRIMS + PUMICE_PRIM_DRAW_WORDS;
	words[PUMICE_PRIM_VERTEX_WORDS + 3] = PUMICE_CLIP_CORNERS;
	run_fault(PUMICE_FAULT_IPF_BLOCK, PUMICE_UNIT_PB, 0);

	make_scene(FX_VERTEX, PUMICE_VERTEX_DATA_CLIPPED);
	words = block(0) + PUMICE_PRIM_BLOCK_WORDS + PUMICE_BLOCK_PRIMS + PUMICE_PRIM_DRAW_WORDS;
	words[PUMICE_PRIM_VERTEX_WORDS + 3] |= 1u << 4;
	run_fault(PUMICE_FAULT_IPF_BLOCK, PUMICE_UNIT_PB, 0);

	/* Deferred without a record, a record without deferred vertices, unknown data. */
	make_scene(FX_VERTEX, PUMICE_VERTEX_DATA_NUMBER);
	pumice_prim_block_unpack(block(0), &header);
	header.vertex_state = 0;
	pumice_prim_block_pack(block(0), &header);
	run_fault(PUMICE_FAULT_IPF_BLOCK, PUMICE_UNIT_IPF, 0);

	make_scene(FX_VERTEX, PUMICE_VERTEX_DATA_NUMBER);
	header.vertex_state = RECORD;
	header.vertex_data = PUMICE_VERTEX_DATA_VARYINGS;
	pumice_prim_block_pack(block(0), &header);
	run_fault(PUMICE_FAULT_IPF_BLOCK, PUMICE_UNIT_IPF, 0);

	make_scene(FX_VERTEX, PUMICE_VERTEX_DATA_NUMBER);
	header.vertex_data = PUMICE_VERTEX_DATA_COUNT;
	pumice_prim_block_pack(block(0), &header);
	run_fault(PUMICE_FAULT_IPF_BLOCK, PUMICE_UNIT_IPF, 0);
	run_good(PUMICE_VERTEX_DATA_NUMBER);
}

static void abort_now(void)
{
	fx.locked = true;
	pdm_abort(fx.pdm);
	fx.locked = false;
}

static void vertex_tasks_are_aborted_at_every_step(void **state)
{
	u32 steps, i, aborted = 0;
	bool over = false;

	(void)state;
	for (steps = 0; !over; steps++) {
		make_scene(FX_VERTEX, PUMICE_VERTEX_DATA_NUMBER);
		fx_start(&fx, false);
		for (i = 0; i < steps && !fx.ends; i++)
			assert_true(fx_step(&fx));
		over = fx.ends;
		if (!over) {
			abort_now();
			fx_run(&fx);
			aborted += fx.end == DM_ABORTED;
		}
		assert_int_equal(fx_free_pages(&fx), FX_PAGES);
	}
	assert_true(aborted > 4);
	make_scene(FX_VERTEX_LOOP, PUMICE_VERTEX_DATA_NUMBER);
	fx_start(&fx, false);
	for (i = 0; i < 3000; i++)
		assert_true(fx_step(&fx));
	assert_int_equal(fx.ends, 0);
	abort_now();
	fx_run(&fx);
	assert_int_equal(fx.end, DM_ABORTED);
	run_good(PUMICE_VERTEX_DATA_NUMBER);
}

static void a_reset_drops_vertex_tasks(void **state)
{
	u32 steps, i;

	(void)state;
	for (steps = 0; steps < 12; steps++) {
		make_scene(FX_VERTEX_LOOP, PUMICE_VERTEX_DATA_NUMBER);
		fx_start(&fx, false);
		for (i = 0; i < steps && !fx.ends; i++)
			fx_step(&fx);
		fx_reset(&fx);
		run_good(PUMICE_VERTEX_DATA_NUMBER);
	}
}

/* A triangle over the whole target, not deferred, whose fragments never end. */
static void make_endless_fragments(void)
{
	const struct pumice_isp_state isp = scene_usual_isp();
	const struct scene_prim prim = {
		.triangle = { .x = { 0, 400 << 8, 0 }, .y = { 0, 0, 400 << 8 },
			      .z = { 0.25f, 0.25f, 0.25f } },
	};

	scene_begin_square(&fx, SIDE);
	scene_set_object(&fx, 0, &isp, FX_LOOP, false);
	scene_draw(&fx, 0, &prim, 1);
	scene_end(&fx, true);
}

/*
 * A reset frees the outputs that vertex tasks hold. The tiles of the next job do not free them
 * again when it is aborted, though they have no vertex tasks that replace them.
 */
static void a_reset_frees_outputs_of_vertex_tasks_once(void **state)
{
	u32 steps, i;

	(void)state;
	for (steps = 0; steps < 12; steps++) {
		make_scene(FX_VERTEX_LOOP, PUMICE_VERTEX_DATA_NUMBER);
		fx_start(&fx, false);
		for (i = 0; i < 100 && fx_vpm_rows(&fx) == 0; i++)
			assert_true(fx_step(&fx));
		assert_true(fx_vpm_rows(&fx) > 0);
		fx_reset(&fx);
		assert_int_equal(fx_vpm_rows(&fx), 0);

		make_endless_fragments();
		fx_start(&fx, false);
		for (i = 0; i < steps; i++)
			assert_true(fx_step(&fx));
		abort_now();
		fx_run(&fx);
		assert_int_equal(fx.end, DM_ABORTED);
		assert_int_equal(fx_vpm_rows(&fx), 0);
	}
	run_good(PUMICE_VERTEX_DATA_NUMBER);
}

/* The next job's record is at the same address, but its program is another one. */
static void shaded_vertices_are_of_one_job(void **state)
{
	const float *colour = (const float *)(const void *)fx.colour;
	struct pumice_vdm_state record;

	(void)state;
	run_good(PUMICE_VERTEX_DATA_NUMBER);
	make_scene(FX_VERTEX, PUMICE_VERTEX_DATA_NUMBER);
	record = scene_vertex_state(&fx, FX_VERTEX);
	record.point_size = true;	/* the first varying is the second output now */
	put_record(&record);
	fx_start(&fx, false);
	fx_run(&fx);
	assert_int_equal(fx.end, DM_DONE);
	assert_float_equal(colour[0], (float)INSTANCE, 0);
}

/* A job of the VDM has all the memory for programs of its share. */
static void vertex_programs_do_not_wait_for_those_of_the_vdm(void **state)
{
	bool waits = false;

	(void)state;
	assert_int_equal(usc_cache_reserve(fx.programs, USC_STAGE_VERTEX, USC_CACHE_VDM_BYTES,
					   &waits), USC_LOAD_DONE);
	run_good(PUMICE_VERTEX_DATA_NUMBER);
	usc_cache_release(fx.programs, USC_STAGE_VERTEX, USC_CACHE_VDM_BYTES);
}

/* ------------------------------------------------------------ bounds */

static u32 clips, fetches;

void __real_ta_clip_again(const struct pumice_vdm_state *state, u8 kind, u64 flat,
			  const struct ta_source *source, u32 vertices,
			  const u8 *corner, float *out);
void __wrap_ta_clip_again(const struct pumice_vdm_state *state, u8 kind, u64 flat,
			  const struct ta_source *source, u32 vertices,
			  const u8 *corner, float *out);

void __wrap_ta_clip_again(const struct pumice_vdm_state *state, u8 kind, u64 flat,
			  const struct ta_source *source, u32 vertices,
			  const u8 *corner, float *out)
{
	clips++;
	__real_ta_clip_again(state, kind, flat, source, vertices, corner, out);
}

bool __real_ipf_fetch_deferred(const struct pm_scene *scene, struct mmu *mmu, struct mmu_tlb *tlb,
			       u32 block, const struct pumice_prim_block *header,
			       const struct pumice_prim_index *index, struct ipf_deferred *out,
			       struct gpu_fault *fault);
bool __wrap_ipf_fetch_deferred(const struct pm_scene *scene, struct mmu *mmu, struct mmu_tlb *tlb,
			       u32 block, const struct pumice_prim_block *header,
			       const struct pumice_prim_index *index, struct ipf_deferred *out,
			       struct gpu_fault *fault);

bool __wrap_ipf_fetch_deferred(const struct pm_scene *scene, struct mmu *mmu, struct mmu_tlb *tlb,
			       u32 block, const struct pumice_prim_block *header,
			       const struct pumice_prim_index *index, struct ipf_deferred *out,
			       struct gpu_fault *fault)
{
	fetches++;
	return __real_ipf_fetch_deferred(scene, mmu, tlb, block, header, index, out, fault);
}

/* A primitive for each quad of a tile, all of the same three vertices: those are shaded once. */
static void make_small_primitives(u32 vertex_data)
{
	const struct pumice_isp_state isp = scene_usual_isp();
	const struct pumice_vdm_state record = scene_vertex_state(&fx, FX_VERTEX);
	struct scene_prim prim[PUMICE_BLOCK_PRIMS];
	u32 quad, n;

	scene_begin_square(&fx, 32);
	scene_set_object(&fx, 0, &isp, FX_PLAIN, false);
	for (quad = 0; quad < 256; quad++) {
		const s32 x = (s32)(quad % 16) << 9, y = (s32)(quad / 16) << 9;

		n = quad % PUMICE_BLOCK_PRIMS;
		prim[n] = (struct scene_prim){
			.triangle = { .x = { x, x + 1024, x }, .y = { y, y, y + 1024 },
				      .z = { 0.25f, 0.25f, 0.25f } },
		};
		if (n == PUMICE_BLOCK_PRIMS - 1)
			scene_draw(&fx, 0, prim, PUMICE_BLOCK_PRIMS);
	}
	for (n = 0; n < 8; n++)
		defer(scene_block(&fx, 0, n), vertex_data);
	put_record(&record);
	scene_end(&fx, true);
}

/* Run to the end. Return the most clips, and fetches, of a step. */
static void run_counted(u32 *most_clips, u32 *most_fetches)
{
	u32 all_clips = 0, all_fetches = 0, i;

	*most_clips = *most_fetches = 0;
	fx_start(&fx, false);
	while (!fx.ends) {
		clips = fetches = 0;
		assert_true(fx_step(&fx));
		*most_clips = clips > *most_clips ? clips : *most_clips;
		*most_fetches = fetches > *most_fetches ? fetches : *most_fetches;
		all_clips += clips;
		all_fetches += fetches;
	}
	assert_int_equal(fx.end, DM_DONE);
	for (i = 0; i < 32 * 32; i++)
		assert_float_equal(((const float *)(const void *)fx.colour)[i], (float)NUMBER, 0);
	assert_true(all_clips == 0 || all_clips == 256);
	assert_true(all_fetches >= 512);
	fx_run(&fx);
}

/* 256 primitives of shaded vertices: work that is not divided unless steps are charged for it. */
static void steps_are_charged_for_the_vertices_of_primitives(void **state)
{
	u32 most_clips, most_fetches;

	(void)state;
	make_small_primitives(PUMICE_VERTEX_DATA_CLIPPED);
	run_counted(&most_clips, &most_fetches);
	assert_in_range(most_clips, 1, PUMICE_BLOCK_PRIMS);
	make_small_primitives(PUMICE_VERTEX_DATA_NUMBER);
	run_counted(&most_clips, &most_fetches);
	assert_int_equal(most_clips, 0);
	assert_in_range(most_fetches, 1, 200);
}

/*
 * Tiles whose last program never ends: no primitive follows, so their vertex programs are released.
 */
static void a_tile_releases_its_vertex_program_after_the_last_primitive(void **state)
{
	bool waits = false;
	u32 i;

	(void)state;
	make_scene(FX_VERTEX, PUMICE_VERTEX_DATA_NUMBER);
	pumice_stage_pack(fx.record.end_of_tile, &fx.stage[FX_TILE_LOOP]);
	fx_start(&fx, false);
	for (i = 0; i < 3000; i++)
		assert_true(fx_step(&fx));
	assert_int_equal(fx.ends, 0);
	for (i = 0; i < 8 && usc_cache_reserve(fx.programs, USC_STAGE_DEFERRED,
					       USC_CACHE_DEFERRED_BYTES, &waits) != USC_LOAD_DONE;
	     i++)
		usc_cache_sweep(fx.programs);
	assert_true(i < 8);
	usc_cache_release(fx.programs, USC_STAGE_DEFERRED, USC_CACHE_DEFERRED_BYTES);
	abort_now();
	fx_run(&fx);
	assert_int_equal(fx.end, DM_ABORTED);
	run_good(PUMICE_VERTEX_DATA_NUMBER);
}

static void make_deferred_tile(void)
{
	make_small_primitives(PUMICE_VERTEX_DATA_NUMBER);
}

static void a_wait_for_a_vertex_program_is_counted(void **state)
{
	(void)state;
	fx_close(&fx);
	fx_open(&fx, 1);
	fx_check_memory_wait(&fx, USC_STAGE_DEFERRED, USC_CACHE_DEFERRED_BYTES,
			     make_deferred_tile);
	run_good(PUMICE_VERTEX_DATA_NUMBER);
}

/* A tile of two objects, the first one with deferred vertices; nothing is stored. */
static void make_two_objects(void)
{
	const struct pumice_isp_state isp = scene_usual_isp();
	const struct pumice_vdm_state record = scene_vertex_state(&fx, FX_VERTEX);
	struct scene_prim prim = {
		.triangle = { .x = { 0, 400 << 8, 0 }, .y = { 0, 0, 400 << 8 },
			      .z = { 0.25f, 0.25f, 0.25f } },
	};
	u32 i;

	scene_begin_square(&fx, 32);
	memset(fx.record.end_of_tile, 0, sizeof(fx.record.end_of_tile));
	scene_set_object(&fx, 0, &isp, FX_PLAIN, false);
	scene_set_object(&fx, 1, &isp, FX_BLEND, false);
	scene_draw(&fx, 0, &prim, 1);
	defer(block(0), PUMICE_VERTEX_DATA_NUMBER);
	for (i = 0; i < 3; i++)
		prim.triangle.y[i] += 16 << 8;
	scene_draw(&fx, 1, &prim, 1);
	put_record(&record);
	scene_end(&fx, true);
}

/* Memory for the program of the first object alone: the tile waits for that of the second one. */
static void a_tile_releases_its_vertex_program_before_it_waits_for_memory(void **state)
{
	const u64 bytes = USC_CACHE_PDM_BYTES - usc_predecode_bytes(2);
	bool waits = false;
	u32 i;

	(void)state;
	fx_close(&fx);
	fx_open(&fx, 1);
	fx_wait_for_memory(&fx, USC_STAGE_FRAGMENT, bytes, make_two_objects);
	for (i = 0; i < 8 && usc_cache_reserve(fx.programs, USC_STAGE_DEFERRED,
					       USC_CACHE_DEFERRED_BYTES, &waits) != USC_LOAD_DONE;
	     i++)
		usc_cache_sweep(fx.programs);
	assert_true(i < 8);
	usc_cache_release(fx.programs, USC_STAGE_DEFERRED, USC_CACHE_DEFERRED_BYTES);
	usc_cache_release(fx.programs, USC_STAGE_FRAGMENT, bytes);
	fx_run(&fx);
	assert_int_equal(fx.end, DM_DONE);
	run_good(PUMICE_VERTEX_DATA_NUMBER);
}

/* ------------------------------------------------------------ vertex pipe memory */

/* Rows of the smallest VPM for the vertex program: its pool has those of one wave. */
#define MIN_ROWS	(4u * (4u + SCENE_VARYINGS))

static void open_rows(u32 rows)
{
	const struct fx_stores stores = {
		.unified_bytes = 512u << 10, .common_bytes = 576u << 10,
		.outputs = PUMICE_OUTPUT_STORE_COMMON, .vpm_bytes = rows * PUMICE_LANES * 4u,
	};

	fx_close(&fx);
	fx_open_stores(&fx, 1, &stores);
}

static void open_usual(void)
{
	fx_close(&fx);
	fx_open(&fx, 1);
}

/* With room for the outputs of one tile the other one waits. The fixture checks the rows in use. */
static void tiles_wait_for_rows_of_their_outputs(void **state)
{
	u64 waits;

	(void)state;
	run_good(PUMICE_VERTEX_DATA_NUMBER);
	assert_int_equal(fx_counter(&fx, PUMICE_PERF_VPM_WAITS), 0);
	open_rows(MIN_ROWS);
	run_good(PUMICE_VERTEX_DATA_NUMBER);
	waits = fx_counter(&fx, PUMICE_PERF_VPM_WAITS);
	assert_true(waits > 0);
	assert_true(fx_counter(&fx, PUMICE_PERF_VPM_OCCUPANCY) > 0);
	run_good(PUMICE_VERTEX_DATA_CLIPPED);
	assert_true(fx_counter(&fx, PUMICE_PERF_VPM_WAITS) > waits);
	open_usual();
}

static void rows_are_returned_whenever_a_job_stops(void **state)
{
	open_rows(MIN_ROWS);
	vertex_tasks_are_aborted_at_every_step(state);
	a_reset_drops_vertex_tasks(state);
	vertex_programs_that_fault_stop_the_job(state);
	blocks_with_bad_vertices_are_refused(state);
	open_usual();
}

/* A vertex program whose outputs the pool can never hold is refused. */
static void outputs_beyond_the_pool_are_a_fault(void **state)
{
	(void)state;
	open_rows(MIN_ROWS - 1);
	make_scene(FX_VERTEX, PUMICE_VERTEX_DATA_NUMBER);
	run_fault(PUMICE_FAULT_PDS_RESOURCE, PUMICE_UNIT_PDS, 0);
	open_usual();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vertex_programs_get_the_numbers_of_blocks),
		cmocka_unit_test(records_are_checked_when_they_are_rendered),
		cmocka_unit_test(vertex_programs_that_fault_stop_the_job),
		cmocka_unit_test(blocks_with_bad_vertices_are_refused),
		cmocka_unit_test(vertex_tasks_are_aborted_at_every_step),
		cmocka_unit_test(a_reset_drops_vertex_tasks),
		cmocka_unit_test(a_reset_frees_outputs_of_vertex_tasks_once),
		cmocka_unit_test(shaded_vertices_are_of_one_job),
		cmocka_unit_test(vertex_programs_do_not_wait_for_those_of_the_vdm),
		cmocka_unit_test(steps_are_charged_for_the_vertices_of_primitives),
		cmocka_unit_test(a_tile_releases_its_vertex_program_after_the_last_primitive),
		cmocka_unit_test(a_wait_for_a_vertex_program_is_counted),
		cmocka_unit_test(a_tile_releases_its_vertex_program_before_it_waits_for_memory),
		cmocka_unit_test(tiles_wait_for_rows_of_their_outputs),
		cmocka_unit_test(rows_are_returned_whenever_a_job_stops),
		cmocka_unit_test(outputs_beyond_the_pool_are_a_fault),
	};

	return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
