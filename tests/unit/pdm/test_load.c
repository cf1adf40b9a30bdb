// SPDX-License-Identifier: MIT
/*
 * Long programs, which are loaded in pieces: the guest may change their state meanwhile, and a step
 * of a core does no more work of loading programs and filling tasks than its budget of time admits.
 */
#include <string.h>

#include "../../../qemu-device/gpu/pds/fill.h"
#include "../../../qemu-device/gpu/pds/gfx.h"
#include "../../../qemu-device/gpu/tsp/tsp.h"
#include "../../../qemu-device/gpu/usc/program.h"
#include "../../../qemu-device/gpu/vdm/command.h"
#include "fixture.h"
#include "perf.h"

#define SIDE	32u
#define PIECES	16u	/* of a long program */
#define LONG	(PIECES * USC_DECODE_PIECE)
#define STEP_PIECES	4u	/* 200 us of a step, 50 us of a piece */
#define COLUMNS	4u
#define OBJECTS	(COLUMNS * COLUMNS)
#define RECORD	(FX_STATES + 0x8000u)	/* the vdm_state */
#define NUMBER	100u	/* of a deferred vertex */

_Static_assert(LONG <= USC_FETCH_PIECE, "the first piece fetches all of it");

static struct fixture fx;

/* ------------------------------------------------------------ a tile */

struct rect {
	u32 x0, y0, x1, y1;
};

static const struct rect whole = { 0, 0, SIDE, SIDE };

/* Return one of the equal parts of the tile. */
static struct rect part(u32 i, u32 columns, u32 rows)
{
	const u32 width = SIDE / columns, height = SIDE / rows;
	const u32 x = i % columns * width, y = i / columns * height;

	return (struct rect){ x, y, x + width, y + height };
}

/* Draw some pixels with a program that stores a value. */
static void draw(u32 object, enum fx_program program, const struct rect *r, float value)
{
	struct pumice_isp_state isp = scene_usual_isp();
	const struct scene_prim prim = {
		.triangle = { .x = { 0, 200 << 8, 0 }, .y = { 0, 0, 200 << 8 } },
		.value = { value },
	};

	isp.scissor_x0 = (u16)r->x0;
	isp.scissor_x1 = (u16)r->x1;
	isp.scissor_y0 = (u16)r->y0;
	isp.scissor_y1 = (u16)r->y1;
	scene_set_object(&fx, object, &isp, program, false);
	scene_draw(&fx, object, &prim, 1);
}

static void expect_colour(const struct rect *r, float value)
{
	u32 x, y;

	for (y = r->y0; y < r->y1; y++)
		for (x = r->x0; x < r->x1; x++)
			assert_float_equal(scene_colour(&fx, SIDE, x, y), value, 0);
}

/* ------------------------------------------------------------ the work of a step */

/* Work of a step of the core, and the most of any. */
struct work {
	u32 loads;		/* pieces of them */
	u32 fills;		/* the same */
	u32 textures, bursts;	/* reads of fills */
	u32 words;		/* written by those bursts */
};

static struct {
	u32 loads, waits;	/* of all steps */
	u32 uscs;		/* with tasks that were filled: a bit each */
	u32 textures;		/* reads of their programs */
	struct work step, most;
} work;

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

	work.loads++;
	work.waits += result == PDS_LOAD_WAIT;
	work.step.loads++;
	return result;
}

bool __real_pds_fill_fragments(struct pds *pds, const struct pds_place *place,
			       const struct pds_stage *stage, const struct pds_fragments *in,
			       struct half *half, struct mmu_tlb *tlb, u32 *pc,
			       struct gpu_fault *fault);
bool __wrap_pds_fill_fragments(struct pds *pds, const struct pds_place *place,
			       const struct pds_stage *stage, const struct pds_fragments *in,
			       struct half *half, struct mmu_tlb *tlb, u32 *pc,
			       struct gpu_fault *fault);

bool __wrap_pds_fill_fragments(struct pds *pds, const struct pds_place *place,
			       const struct pds_stage *stage, const struct pds_fragments *in,
			       struct half *half, struct mmu_tlb *tlb, u32 *pc,
			       struct gpu_fault *fault)
{
	u32 i = *pc;
	const bool ok = __real_pds_fill_fragments(pds, place, stage, in, half, tlb, pc, fault);

	assert_ptr_equal(half, halves_of(fx.halves, place->usc));
	work.uscs |= 1u << place->usc;
	work.step.fills++;
	for (; i < *pc; i++) {
		const struct pumice_pds_insn *insn = &stage->program.insn[i];
		const bool coeffs = insn->bank == PUMICE_PDS_BANK_CF;

		work.step.textures += insn->opcode == PUMICE_PDS_OP_TEXTURE;
		work.textures += insn->opcode == PUMICE_PDS_OP_TEXTURE;
		if (insn->opcode != PUMICE_PDS_OP_DMA)
			continue;
		work.step.bursts++;
		work.step.words += insn->count * (coeffs ? in->prims : 1);
	}
	return ok;
}

static void keep_most(u32 *most, u32 value)
{
	if (value > *most)
		*most = value;
}

static void end_step(void)
{
	keep_most(&work.most.loads, work.step.loads);
	keep_most(&work.most.fills, work.step.fills);
	keep_most(&work.most.textures, work.step.textures);
	keep_most(&work.most.bursts, work.step.bursts);
	keep_most(&work.most.words, work.step.words);
	memset(&work.step, 0, sizeof(work.step));
}

/* Run a job on the only core, and count its work by step. */
static void run(void)
{
	memset(&work, 0, sizeof(work));
	scene_end(&fx, true);
	fx_start(&fx, false);
	while (!fx.ends) {
		assert_true(fx_step(&fx));
		end_step();
	}
	assert_int_equal(fx.end, DM_DONE);
	assert_int_equal(pdm_status(fx.pdm)->fault.fault, PUMICE_FAULT_NONE);
	assert_int_equal(fx_free_pages(&fx), FX_PAGES);
}

/* Draw a tile of objects of a program, side by side; the end of tile is loaded at once. */
static void run_objects(enum fx_program program, u32 columns, u32 rows)
{
	u32 i;

	scene_begin_square(&fx, SIDE);
	for (i = 0; i < columns * rows; i++) {
		const struct rect r = part(i, columns, rows);

		draw(i, program, &r, (float)(i + 1));
	}
	run();
	for (i = 0; i < columns * rows; i++) {
		const struct rect r = part(i, columns, rows);

		expect_colour(&r, (float)(i + 1));
	}
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
	if (change != NO_CHANGE)
		change_state();
	return ok;
}

static void a_state_that_changes_while_its_program_is_loaded_is_read_once(void **state)
{
	(void)state;
	for (change = NO_CHANGE; change < CHANGES; change++) {
		fx_open(&fx, 1);
		fx_lengthen(&fx, FX_PLAIN, LONG);
		reads = 0;
		run_objects(FX_PLAIN, 1, 1);
		assert_int_equal(reads, 1);
		assert_int_equal(work.loads, 1 + PIECES);
		fx_close(&fx);
	}
	change = NO_CHANGE;
}

/* ------------------------------------------------------------ iterators */

static u64 counter(enum pumice_perf_counter n)
{
	u64 value[PUMICE_PERF_NUMBER] = { 0 };

	halves_counters_add(fx.halves, value);
	return value[n];
}

/* Four USCs have two halves with iterators, each for the tasks of its own USCs. */
static void tasks_are_filled_by_the_iterators_of_their_half(void **state)
{
	const struct fx_stores stores = {
		.unified_bytes = 512u << 10, .common_bytes = 576u << 10, .uscs = 4,
	};
	u32 i;

	(void)state;
	fx_open_stores(&fx, 1, &stores);
	scene_begin_square(&fx, SIDE);
	for (i = 0; i < OBJECTS; i++) {
		const struct rect r = part(i, COLUMNS, COLUMNS);

		draw(i, FX_TEXEL, &r, 1);
	}
	run();
	assert_int_equal(work.uscs, 15);
	/* The program iterates two words and has one read. */
	assert_int_equal(counter(PUMICE_PERF_PDM_UITR_REQUESTS), 2 * work.textures);
	assert_int_equal(counter(PUMICE_PERF_PDM_TITR_REQUESTS), work.textures);
	fx_close(&fx);
}

/* ------------------------------------------------------------ the time of loads */

static void a_step_does_four_pieces_of_loading_an_object(void **state)
{
	(void)state;
	fx_open(&fx, 1);
	fx_lengthen(&fx, FX_PLAIN, LONG);
	run_objects(FX_PLAIN, 1, 1);
	assert_int_equal(work.loads, 1 + PIECES);
	assert_int_equal(work.most.loads, STEP_PIECES);
	fx_close(&fx);
}

/* The last piece of a load is one, too: these programs have no other. */
static void a_step_loads_four_programs_of_one_piece(void **state)
{
	(void)state;
	fx_open(&fx, 1);
	fx_lengthen(&fx, FX_PLAIN, USC_DECODE_PIECE);
	run_objects(FX_PLAIN, COLUMNS, COLUMNS);
	assert_int_equal(work.loads, 1 + OBJECTS);
	assert_int_equal(work.most.loads, STEP_PIECES);
	fx_close(&fx);
}

/* All but the first one are in the cache, and only fetched and compared: a piece, too. */
static void a_step_finds_four_long_programs_in_the_cache(void **state)
{
	(void)state;
	fx_open(&fx, 1);
	fx_lengthen(&fx, FX_PLAIN, LONG);
	run_objects(FX_PLAIN, COLUMNS, COLUMNS);
	assert_int_equal(work.loads, 1 + PIECES + OBJECTS - 1);
	assert_int_equal(work.most.loads, STEP_PIECES);
	fx_close(&fx);
}

/* Less than a piece, but some 6 us each. */
static void a_step_loads_up_to_32_short_programs(void **state)
{
	(void)state;
	fx_open(&fx, 1);
	run_objects(FX_PLAIN, 8, 8);
	assert_int_equal(work.loads, 1 + 64);
	assert_in_range(work.most.loads, 4 * STEP_PIECES, 32);
	fx_close(&fx);
}

/* Memory for the end of tile and one long program: the second one waits, and is loaded again. */
static void a_load_that_finds_no_memory_is_a_piece(void **state)
{
	const u64 room = usc_predecode_bytes(2) + usc_predecode_bytes(LONG);
	const struct rect left = part(0, 2, 1), right = part(1, 2, 1);

	(void)state;
	fx_open(&fx, 1);
	fx_lengthen(&fx, FX_PLAIN, LONG);
	fx_lengthen(&fx, FX_BLEND, LONG);
	fx_occupy_memory(&fx, USC_STAGE_FRAGMENT, USC_CACHE_PDM_BYTES - room);
	scene_begin_square(&fx, SIDE);
	draw(0, FX_PLAIN, &left, 7);
	draw(1, FX_BLEND, &right, 5);
	run();
	expect_colour(&left, 7);
	expect_colour(&right, 5);
	assert_true(work.waits > 0);
	assert_int_equal(work.most.loads, STEP_PIECES);
	fx_close(&fx);
}

static void a_step_does_four_pieces_of_loading_a_store_program(void **state)
{
	struct pumice_stage usual;

	(void)state;
	fx_open(&fx, 1);
	usual = fx.stage[FX_END_OF_TILE];
	fx_lengthen(&fx, FX_END_OF_TILE, LONG);
	scene_begin_square(&fx, SIDE);
	draw(0, FX_PLAIN, &whole, 7);
	pumice_stage_pack(fx.record.end_of_tile, &usual);
	control_begin(&fx, FX_CONTROL);
	control_tile(&fx, 0, 0);
	control_branch(&fx);
	control_store_program(&fx, &fx.stage[FX_END_OF_TILE], true);
	run();
	expect_colour(&whole, 7);
	/* Those of the record and of the object are loaded at once. */
	assert_int_equal(work.loads, 2 + PIECES);
	assert_int_equal(work.most.loads, STEP_PIECES);
	fx_close(&fx);
}

/* The last piece of a tile's program, and the first one of the next tile's, are in one step. */
static void a_step_does_four_pieces_of_loading_two_store_programs(void **state)
{
	struct pumice_stage usual, first;
	u32 x;

	(void)state;
	fx_open(&fx, 1);
	usual = fx.stage[FX_END_OF_TILE];
	fx_lengthen(&fx, FX_END_OF_TILE, LONG);
	first = fx.stage[FX_END_OF_TILE];
	fx_lengthen(&fx, FX_END_OF_TILE, LONG - USC_DECODE_PIECE);
	scene_begin_square(&fx, 2 * SIDE);
	pumice_stage_pack(fx.record.end_of_tile, &usual);
	pumice_stage_pack(fx.record.background, &fx.stage[FX_BACKGROUND]);
	control_begin(&fx, FX_CONTROL);
	control_tile(&fx, 0, 0);
	control_store_program(&fx, &first, false);
	control_tile(&fx, 1, 0);
	control_store_program(&fx, &fx.stage[FX_END_OF_TILE], true);
	run();
	for (x = 0; x < 2 * SIDE; x++) {
		assert_float_equal(scene_colour(&fx, 2 * SIDE, x, 0), 0.25f, 0);
		assert_float_equal(scene_colour(&fx, 2 * SIDE, x, SIDE), 0, 0);
	}
	/* Those of the record are loaded at once. */
	assert_int_equal(work.loads, 2 + PIECES + PIECES - 1);
	assert_int_equal(work.most.loads, STEP_PIECES);
	fx_close(&fx);
}

/* ------------------------------------------------------------ programs of deferred vertices */

static u32 records;	/* that were read */

static void put_record(enum fx_program program)
{
	const struct pumice_vdm_state record = scene_vertex_state(&fx, program);

	pumice_vdm_state_pack((u32 *)(void *)(fx.states + (RECORD - FX_STATES)), &record);
}

bool __real_vdm_record_fetch(const struct gpu_record *from, struct vdm_record *out,
			     struct gpu_fault *fault);
bool __wrap_vdm_record_fetch(const struct gpu_record *from, struct vdm_record *out,
			     struct gpu_fault *fault);

/* The record of another program is at the same address afterwards. */
bool __wrap_vdm_record_fetch(const struct gpu_record *from, struct vdm_record *out,
			     struct gpu_fault *fault)
{
	const bool ok = __real_vdm_record_fetch(from, out, fault);

	records++;
	put_record(FX_VERTEX_SECOND);
	return ok;
}

/* Draw the number of a vertex, which a long program writes. */
static void run_deferred(void)
{
	struct scene_deferred deferred = { .vertex_data = PUMICE_VERTEX_DATA_NUMBER,
					   .record = RECORD };
	u32 i;

	for (i = 0; i < PUMICE_BLOCK_VERTICES; i++)
		deferred.number[i] = NUMBER;
	fx_lengthen(&fx, FX_PLAIN, USC_DECODE_PIECE);	/* a piece, too */
	fx_lengthen(&fx, FX_VERTEX, LONG);
	scene_begin_square(&fx, SIDE);
	draw(0, FX_PLAIN, &whole, 0);
	scene_defer(scene_block(&fx, 0, 0), &deferred);
	put_record(FX_VERTEX);
	records = 0;
	run();
	expect_colour(&whole, (float)NUMBER);
	/* The end of tile and the program of the object are loaded at once. */
	assert_int_equal(work.loads, 2 + PIECES);
}

static void a_record_that_changes_while_its_program_is_loaded_is_read_once(void **state)
{
	(void)state;
	fx_open(&fx, 1);
	run_deferred();
	assert_int_equal(records, 1);
	fx_close(&fx);
}

static void a_step_does_four_pieces_of_loading_a_vertex_program(void **state)
{
	(void)state;
	fx_open(&fx, 1);
	run_deferred();
	assert_int_equal(work.most.loads, STEP_PIECES);
	fx_close(&fx);
}

/* ------------------------------------------------------------ the time of filling tasks */

#define STEP_TEXTURES	(STEP_PIECES * PDS_PIECE_TEXTURES)

static void a_step_reads_eight_textures_of_one_task(void **state)
{
	(void)state;
	fx_open(&fx, 1);
	run_objects(FX_READS, 1, 1);
	assert_int_equal(work.most.textures, STEP_TEXTURES);
	fx_close(&fx);
}

/* Their first piece is the last one, and has one read: a task takes some 10 us. */
static void a_step_reads_up_to_20_textures_of_many_tasks(void **state)
{
	static const struct scene_size size = { SIDE, SIDE, 4, PUMICE_TILE_SIZE_32X32 };
	const struct pumice_isp_state isp = scene_usual_isp();
	const struct scene_prim prim = {
		.triangle = { .x = { 0, 200 << 8, 0 }, .y = { 0, 0, 200 << 8 } }, .value = { 7 },
	};

	(void)state;
	fx_open(&fx, 1);
	scene_begin(&fx, &size);
	scene_set_object(&fx, 0, &isp, FX_TEXEL, true);
	scene_draw(&fx, 0, &prim, 1);
	run();
	assert_in_range(work.most.textures, 10, 20);
	fx_close(&fx);
}

/* The limits of a piece, PDS_PIECE_READS and PDS_PIECE_WORDS, are those of other data masters. */
static void a_step_does_four_pieces_of_bursts(void **state)
{
	const u32 bursts = 200;

	(void)state;
	fx_open(&fx, 1);
	fx_set_bursts(&fx, FX_BURST, bursts, 1);
	run_objects(FX_BURST, COLUMNS, COLUMNS);
	/* The last task of a step is filled whole. */
	assert_in_range(work.most.bursts, bursts, STEP_PIECES * PDS_PIECE_READS + bursts - 1);
	fx_close(&fx);
}

static void a_step_writes_four_pieces_of_words(void **state)
{
	(void)state;
	fx_open(&fx, 1);
	fx_set_bursts(&fx, FX_BURST, PDS_PIECE_WORDS / FX_BURST_WORDS, FX_BURST_WORDS);
	run_objects(FX_BURST, COLUMNS, COLUMNS);
	assert_int_equal(work.most.fills, STEP_PIECES);
	assert_int_equal(work.most.words, STEP_PIECES * PDS_PIECE_WORDS);
	fx_close(&fx);
}

/* A primitive for each quad: a task has as many primitives as it has spans. */
static void draw_quads(enum fx_program program)
{
	const struct pumice_isp_state isp = scene_usual_isp();
	struct scene_prim prim[PUMICE_BLOCK_PRIMS];
	u32 quad;

	scene_begin_square(&fx, SIDE);
	scene_set_object(&fx, 0, &isp, program, false);
	for (quad = 0; quad < SIDE / 2 * SIDE / 2; quad++) {
		const s32 x = (s32)(quad % (SIDE / 2)) << 9, y = (s32)(quad / (SIDE / 2)) << 9;
		const u32 n = quad % PUMICE_BLOCK_PRIMS;

		prim[n] = (struct scene_prim){
			.triangle = { .x = { x, x + 1024, x }, .y = { y, y, y + 1024 } },
			.value = { 7 },
		};
		if (n == PUMICE_BLOCK_PRIMS - 1)
			scene_draw(&fx, 0, prim, PUMICE_BLOCK_PRIMS);
	}
}

/* Words of coefficients are those of each primitive of the task. */
static void a_step_writes_four_pieces_of_coefficients(void **state)
{
	const u32 words = FX_BURST_COEFFS_WORDS * PUMICE_BLOCK_PRIMS;

	(void)state;
	fx_open(&fx, 1);
	fx_set_bursts(&fx, FX_BURST_COEFFS, PDS_PIECE_WORDS / words, FX_BURST_COEFFS_WORDS);
	draw_quads(FX_BURST_COEFFS);
	run();
	expect_colour(&whole, 7);
	assert_int_equal(work.most.fills, STEP_PIECES);
	assert_int_equal(work.most.words, STEP_PIECES * PDS_PIECE_WORDS);
	fx_close(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_state_that_changes_while_its_program_is_loaded_is_read_once),
		cmocka_unit_test(tasks_are_filled_by_the_iterators_of_their_half),
		cmocka_unit_test(a_step_does_four_pieces_of_loading_an_object),
		cmocka_unit_test(a_step_loads_four_programs_of_one_piece),
		cmocka_unit_test(a_step_finds_four_long_programs_in_the_cache),
		cmocka_unit_test(a_step_loads_up_to_32_short_programs),
		cmocka_unit_test(a_load_that_finds_no_memory_is_a_piece),
		cmocka_unit_test(a_step_does_four_pieces_of_loading_a_store_program),
		cmocka_unit_test(a_step_does_four_pieces_of_loading_two_store_programs),
		cmocka_unit_test(a_record_that_changes_while_its_program_is_loaded_is_read_once),
		cmocka_unit_test(a_step_does_four_pieces_of_loading_a_vertex_program),
		cmocka_unit_test(a_step_reads_eight_textures_of_one_task),
		cmocka_unit_test(a_step_reads_up_to_20_textures_of_many_tasks),
		cmocka_unit_test(a_step_does_four_pieces_of_bursts),
		cmocka_unit_test(a_step_writes_four_pieces_of_words),
		cmocka_unit_test(a_step_writes_four_pieces_of_coefficients),
	};

	return cmocka_run_group_tests_name("pdm load", tests, NULL, NULL);
}
