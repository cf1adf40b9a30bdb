// SPDX-License-Identifier: MIT
/*
 * Long programs, which are loaded in pieces: the guest may change their state meanwhile, and a step
 * of a core does no more pieces than its budget of time admits.
 */
#include <string.h>

#include "../../../qemu-device/gpu/pds/gfx.h"
#include "../../../qemu-device/gpu/tsp/tsp.h"
#include "../../../qemu-device/gpu/usc/program.h"
#include "fixture.h"

#define SIDE	32u
#define PIECES	16u	/* of a long program */
#define LONG	(PIECES * USC_DECODE_PIECE)
#define STEP_PIECES	4u	/* 200 us of a step, 50 us of a piece */

_Static_assert(LONG <= USC_FETCH_PIECE, "the first piece fetches all of it");

static struct fixture fx;

/* ------------------------------------------------------------ a tile */

static void begin(void)
{
	static const struct scene_size size = { SIDE, SIDE, 1, PUMICE_TILE_SIZE_32X32 };

	memset(fx.colour, 0, FX_BYTES);
	scene_begin(&fx, &size);
}

/* Draw the pixels from x0 to x1 - 1 with a program that stores a value. */
static void draw(u32 object, enum fx_program program, u32 x0, u32 x1, float value)
{
	const struct pumice_isp_state isp = {
		.depth_func = PUMICE_COMPARE_ALWAYS, .scissor_x0 = (u16)x0, .scissor_x1 = (u16)x1,
		.scissor_y1 = SIDE, .sample_mask = 15,
	};
	const struct scene_prim prim = {
		.triangle = { .x = { 0, 200 << 8, 0 }, .y = { 0, 0, 200 << 8 } },
		.value = { value },
	};

	scene_set_object(&fx, object, &isp, program, false);
	scene_draw(&fx, object, &prim, 1);
}

static float colour_at(u32 x, u32 y)
{
	return ((const float *)(const void *)fx.colour)[y * SIDE + x];
}

static void expect_colour(u32 x0, u32 x1, float value)
{
	u32 x, y;

	for (y = 0; y < SIDE; y++)
		for (x = x0; x < x1; x++)
			assert_float_equal(colour_at(x, y), value, 0);
}

/* ------------------------------------------------------------ loads */

static struct {
	u32 calls, waits;	/* of all loads */
	u32 in_step, most;	/* calls in a step of the core, and in any */
} loads;

enum pds_load_result __real_pds_stage_load(struct pds *pds, struct mmu_tlb *tlb, unsigned int ctx,
					   const struct pumice_stage *state,
					   const struct pds_stage_limits *limits,
					   struct pds_stage *out, struct gpu_fault *fault);
enum pds_load_result __wrap_pds_stage_load(struct pds *pds, struct mmu_tlb *tlb, unsigned int ctx,
					   const struct pumice_stage *state,
					   const struct pds_stage_limits *limits,
					   struct pds_stage *out, struct gpu_fault *fault);

enum pds_load_result __wrap_pds_stage_load(struct pds *pds, struct mmu_tlb *tlb, unsigned int ctx,
					   const struct pumice_stage *state,
					   const struct pds_stage_limits *limits,
					   struct pds_stage *out, struct gpu_fault *fault)
{
	const enum pds_load_result result =
		__real_pds_stage_load(pds, tlb, ctx, state, limits, out, fault);

	loads.calls++;
	loads.waits += result == PDS_LOAD_WAIT;
	loads.in_step++;
	return result;
}

/* Run a job on the only core, and count its loads by step. */
static void run(void)
{
	memset(&loads, 0, sizeof(loads));
	scene_end(&fx, true);
	fx_start(&fx, false);
	while (!fx.ends) {
		loads.in_step = 0;
		assert_true(fx_step(&fx));
		if (loads.in_step > loads.most)
			loads.most = loads.in_step;
	}
	assert_int_equal(fx.end, DM_DONE);
	assert_int_equal(pdm_status(fx.pdm)->fault.fault, PUMICE_FAULT_NONE);
	assert_int_equal(fx_free_pages(&fx), FX_PAGES);
}

/* ------------------------------------------------------------ the state changes meanwhile */

/* Changes of a state after it was read: it would be refused, or is that of another program. */
enum change {
	NO_CHANGE, TEMPS, ATTRS, SHARED, COEFFS, VARYINGS, NO_PROGRAM, OTHER_PROGRAM, RESERVED,
	CHANGES,
};

static enum change change;
static u32 reads;

static void change_state(void)
{
	u32 *words = (u32 *)(void *)(fx.states + (scene_tsp_address(0) - FX_STATES));
	struct pumice_stage stage = fx.stage[change == OTHER_PROGRAM ? FX_LOOP : FX_PLAIN];
	struct pumice_tsp_state tsp;

	assert_int_equal(pumice_tsp_state_unpack(words, &tsp), PUMICE_UNPACK_OK);
	tsp.varyings += change == VARYINGS;
	if (change == TEMPS)
		stage.temps = 255;
	if (change == ATTRS)
		stage.attrs = 0;
	if (change == SHARED)
		stage.shared = 4095;
	if (change == COEFFS)
		stage.coeffs = 0;
	if (change == NO_PROGRAM)
		memset(&stage, 0, sizeof(stage));
	pumice_stage_pack(tsp.fragment, &stage);
	pumice_tsp_state_pack(words, &tsp);
	if (change == RESERVED)
		words[11] = 1;
}

bool __real_tsp_state_load(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 addr,
			   struct tsp_state *state, struct gpu_fault *fault);
bool __wrap_tsp_state_load(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 addr,
			   struct tsp_state *state, struct gpu_fault *fault);

bool __wrap_tsp_state_load(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 addr,
			   struct tsp_state *state, struct gpu_fault *fault)
{
	const bool ok = __real_tsp_state_load(mmu, tlb, ctx, addr, state, fault);

	reads++;
	change_state();
	return ok;
}

static void a_state_that_changes_while_its_program_is_loaded_is_read_once(void **state)
{
	(void)state;
	for (change = NO_CHANGE; change < CHANGES; change++) {
		fx_open(&fx, 1);
		fx_lengthen(&fx, FX_PLAIN, LONG);
		begin();
		draw(0, FX_PLAIN, 0, SIDE, 7);
		reads = 0;
		run();
		assert_int_equal(reads, 1);
		expect_colour(0, SIDE, 7);
		/* The end of tile is loaded at once. */
		assert_int_equal(loads.calls, 1 + PIECES);
		fx_close(&fx);
	}
	change = NO_CHANGE;
}

/* ------------------------------------------------------------ the time of a step */

static void a_step_does_four_pieces_of_loading_an_object(void **state)
{
	(void)state;
	fx_open(&fx, 1);
	fx_lengthen(&fx, FX_PLAIN, LONG);
	begin();
	draw(0, FX_PLAIN, 0, SIDE, 7);
	run();
	expect_colour(0, SIDE, 7);
	assert_int_equal(loads.calls, 1 + PIECES);
	assert_int_equal(loads.most, STEP_PIECES);
	fx_close(&fx);
}

/* Short programs have one piece, which is their last. */
static void a_step_loads_four_short_programs(void **state)
{
	const u32 objects = 16, width = SIDE / objects;
	u32 i;

	(void)state;
	fx_open(&fx, 1);
	begin();
	for (i = 0; i < objects; i++)
		draw(i, FX_PLAIN, i * width, (i + 1) * width, (float)(i + 1));
	run();
	for (i = 0; i < objects; i++)
		expect_colour(i * width, (i + 1) * width, (float)(i + 1));
	assert_int_equal(loads.calls, 1 + objects);
	assert_int_equal(loads.most, STEP_PIECES);
	fx_close(&fx);
}

/* Memory for the end of tile and one long program: the second one waits, and is loaded again. */
static void a_load_that_finds_no_memory_is_a_piece(void **state)
{
	const u64 room = usc_predecode_bytes(2) + usc_predecode_bytes(LONG);

	(void)state;
	fx_open(&fx, 1);
	fx_lengthen(&fx, FX_PLAIN, LONG);
	fx_lengthen(&fx, FX_BLEND, LONG);
	fx_occupy_memory(&fx, USC_STAGE_FRAGMENT, USC_CACHE_PDM_BYTES - room);
	begin();
	draw(0, FX_PLAIN, 0, SIDE / 2, 7);
	draw(1, FX_BLEND, SIDE / 2, SIDE, 5);
	run();
	expect_colour(0, SIDE / 2, 7);
	expect_colour(SIDE / 2, SIDE, 5);
	assert_true(loads.waits > 0);
	assert_int_equal(loads.most, STEP_PIECES);
	fx_close(&fx);
}

static void a_step_does_four_pieces_of_loading_a_store_program(void **state)
{
	struct pumice_stage usual;

	(void)state;
	fx_open(&fx, 1);
	usual = fx.stage[FX_END_OF_TILE];
	fx_lengthen(&fx, FX_END_OF_TILE, LONG);
	begin();
	draw(0, FX_PLAIN, 0, SIDE, 7);
	pumice_stage_pack(fx.record.end_of_tile, &usual);
	control_begin(&fx, FX_CONTROL);
	control_tile(&fx, 0, 0);
	control_branch(&fx);
	control_store_program(&fx, &fx.stage[FX_END_OF_TILE], true);
	run();
	expect_colour(0, SIDE, 7);
	/* Those of the record and of the object are loaded at once. */
	assert_int_equal(loads.calls, 2 + PIECES);
	assert_int_equal(loads.most, STEP_PIECES);
	fx_close(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_state_that_changes_while_its_program_is_loaded_is_read_once),
		cmocka_unit_test(a_step_does_four_pieces_of_loading_an_object),
		cmocka_unit_test(a_step_loads_four_short_programs),
		cmocka_unit_test(a_load_that_finds_no_memory_is_a_piece),
		cmocka_unit_test(a_step_does_four_pieces_of_loading_a_store_program),
	};

	return cmocka_run_group_tests_name("pdm load", tests, NULL, NULL);
}
