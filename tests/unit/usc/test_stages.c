// SPDX-License-Identifier: MIT
/*
 * Permissions of each stage, and how graphics programs stop: refusals by name, rules that
 * are checked only when a task runs, faults of the texture unit and of the PBE.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "exec.h"
#include "fake_tag.h"
#include "gen.h"
#include "fixture.h"

#define BANK(bank, n)							\
	(PUMICE_FIELD_PREP(PUMICE_USC_OPERAND__BANK, PUMICE_USC_BANK_##bank) |	\
	 PUMICE_FIELD_PREP(PUMICE_USC_OPERAND__NUM, n))
#define INDEXED(bank, n)	(BANK(bank, n) | PUMICE_FIELD_PREP(PUMICE_USC_OPERAND__IDX, 1))
#define ONE_MASK							\
	(PUMICE_FIELD_PREP(PUMICE_USC_MASK__A, 1) | PUMICE_FIELD_PREP(PUMICE_USC_MASK__B, 1))

enum { C = 1 << USC_STAGE_COMPUTE, VS = 1 << USC_STAGE_VERTEX, FS = 1 << USC_STAGE_FRAGMENT,
       TS = 1 << USC_STAGE_TILE, ALL = C | VS | FS | TS };

static struct usc_program_limits limits_of(u32 stage)
{
	return (struct usc_program_limits){
		.temps = 8, .attrs = 6, .shared = 20, .coeffs = 9, .stage = stage,
		.vo = stage == USC_STAGE_VERTEX ? 5 : 0,
		.outputs = stage >= USC_STAGE_FRAGMENT ? 3 : 0,
	};
}

/* An instruction, the stages that may use it, and the fault of the others. */
static const struct {
	const char *rule;
	struct pumice_usc_insn insn;
	u32 stages;
	enum pumice_fault fault;
} cases[] = {
#define CASE(text, in, f, ...) { text, INSN(__VA_ARGS__), in, PUMICE_FAULT_##f }
	CASE("last vertex output", VS, USC_STAGE, UVSW, .dst = BANK(VO, 4), .src0 = BANK(R, 1)),
	CASE("varying", FS, USC_STAGE, ITR, .comps = 2, .dst = BANK(R, 6), .src0 = BANK(CF, 3)),
	CASE("discard", FS, USC_STAGE, DISCARD, .mask = ONE_MASK),
	CASE("depth", FS, USC_STAGE, DEPTH, .type = F32, .src0 = BANK(R, 1)),
	CASE("pbe", TS, USC_STAGE, PBE, .src0 = BANK(SH, 12)),
	CASE("output as source", FS | TS, USC_BANK, ADD, .dst = BANK(R, 0), .src0 = BANK(O, 2),
	     .src1 = BANK(R, 1)),
	CASE("output as destination", FS | TS, USC_BANK, MOV, .mask = ONE_MASK, .dst = BANK(O, 0),
	     .src0 = BANK(SH, 1)),
	CASE("indexed output", FS | TS, USC_BANK, ADD, .dst = INDEXED(O, 2), .src0 = BANK(R, 0),
	     .src1 = BANK(R, 1)),
	CASE("indexed vertex output", VS, USC_STAGE, UVSW, .dst = INDEXED(VO, 4),
	     .src0 = BANK(R, 1)),
	CASE("derivative", ALL, NONE, DDX, .type = F32, .dst = BANK(R, 0), .src0 = BANK(R, 1)),
	CASE("texture", ALL, NONE, SAMPLE, .type = F32, .func = PUMICE_TEXTURE_DIM_CUBE_ARRAY,
	     .dst = BANK(R, 4), .src0 = BANK(V, 2), .src2 = BANK(SH, 8)),
	CASE("derivatives of a cube", ALL, NONE, SAMPLE_GRAD, .type = F32,
	     .func = PUMICE_TEXTURE_DIM_CUBE, .dst = BANK(R, 0), .src0 = BANK(R, 0),
	     .src1 = BANK(V, 0), .src2 = BANK(SH, 0)),
	CASE("ray query", ALL, NONE, RAY_QUERY, .mask = ONE_MASK, .dst = BANK(R, 2),
	     .src0 = BANK(R, 0), .src2 = BANK(SH, 0)),
	CASE("texture without its further operand", ALL, NONE, FETCH, .type = U32,
	     .func = PUMICE_TEXTURE_DIM_2D, .dst = BANK(R, 0), .src0 = BANK(R, 0),
	     .src2 = BANK(SH, 0)),
};

/* Invalid in all stages: the fault is that of the nearest stage. */
static const struct {
	const char *rule;
	u32 stage;
	struct pumice_usc_insn insn;
	enum pumice_fault fault;
} never[] = {
#define NEVER(text, stage, f, ...) { text, USC_STAGE_##stage, INSN(__VA_ARGS__), PUMICE_FAULT_##f }
	NEVER("vertex output beyond", VERTEX, USC_REGISTER, UVSW, .dst = BANK(VO, 5),
	      .src0 = BANK(R, 1)),
	NEVER("vertex output of a scalar", VERTEX, USC_OPERAND, UVSW, .dst = BANK(VO, 0),
	      .src0 = BANK(SH, 1)),
	NEVER("pixel output beyond", FRAGMENT, USC_REGISTER, ADD, .dst = BANK(O, 3),
	      .src0 = BANK(R, 1), .src1 = BANK(R, 2)),
	NEVER("pixel output beyond, with an index", FRAGMENT, USC_REGISTER, ADD, .dst = BANK(R, 3),
	      .src0 = INDEXED(O, 3), .src1 = BANK(R, 2)),
	NEVER("vertex output beyond, with an index", VERTEX, USC_REGISTER, UVSW,
	      .dst = INDEXED(VO, 5), .src0 = BANK(R, 1)),
	NEVER("vertex output as source", VERTEX, USC_OPERAND, ADD, .dst = BANK(R, 3),
	      .src0 = BANK(VO, 0), .src1 = BANK(R, 2)),
	NEVER("planes beyond", FRAGMENT, USC_REGISTER, ITR, .comps = 3, .dst = BANK(R, 0),
	      .src0 = BANK(CF, 1)),
	NEVER("varyings beyond", FRAGMENT, USC_REGISTER, ITR, .comps = 3, .dst = BANK(R, 6),
	      .src0 = BANK(CF, 0)),
	NEVER("no component", FRAGMENT, USC_OPERAND, ITR, .dst = BANK(R, 0), .src0 = BANK(CF, 0)),
	NEVER("five components", FRAGMENT, USC_OPERAND, ITR, .comps = 5, .dst = BANK(R, 0),
	      .src0 = BANK(CF, 0)),
	NEVER("perspective without w", FRAGMENT, USC_OPERAND, ITR, .comps = 1,
	      .func = PUMICE_USC_ITERATE_PERSPECTIVE, .dst = BANK(R, 0), .src0 = BANK(CF, 0)),
	NEVER("w without perspective", FRAGMENT, USC_OPERAND, ITR, .comps = 1,
	      .func = PUMICE_USC_ITERATE_LINEAR_CENTROID, .dst = BANK(R, 0),
	      .src0 = BANK(CF, 0), .src1 = BANK(CF, 3)),
	NEVER("w beyond", FRAGMENT, USC_REGISTER, ITR, .comps = 1,
	      .func = PUMICE_USC_ITERATE_PERSPECTIVE_CENTROID, .dst = BANK(R, 0),
	      .src0 = BANK(CF, 0), .src1 = BANK(CF, 7)),
	NEVER("no such mode", FRAGMENT, USC_OPERAND, ITR, .comps = 1,
	      .func = PUMICE_USC_ITERATE_COUNT, .dst = BANK(R, 0), .src0 = BANK(CF, 0)),
	NEVER("no varying in internal registers", FRAGMENT, USC_OPERAND, ITR, .comps = 1,
	      .dst = BANK(I, 0), .src0 = BANK(CF, 0)),
	NEVER("texture state beyond", COMPUTE, USC_REGISTER, SAMPLE, .type = F32,
	      .dst = BANK(R, 0), .src0 = BANK(R, 0), .src2 = BANK(SH, 9)),
	NEVER("no texels in internal registers", COMPUTE, USC_OPERAND, SAMPLE, .type = F32,
	      .dst = BANK(I, 0), .src0 = BANK(R, 0), .src2 = BANK(SH, 0)),
	NEVER("fourth texel register beyond", VERTEX, USC_REGISTER, SAMPLE, .type = F32,
	      .dst = BANK(R, 5), .src0 = BANK(R, 0), .src2 = BANK(SH, 0)),
	NEVER("coordinates beyond", TILE, USC_REGISTER, SAMPLE, .type = F32,
	      .func = PUMICE_TEXTURE_DIM_CUBE_ARRAY, .dst = BANK(R, 0), .src0 = BANK(V, 3),
	      .src2 = BANK(SH, 0)),
	NEVER("derivatives beyond", FRAGMENT, USC_REGISTER, SAMPLE_GRAD, .type = F32,
	      .func = PUMICE_TEXTURE_DIM_3D, .dst = BANK(R, 0), .src0 = BANK(R, 0),
	      .src1 = BANK(R, 3), .src2 = BANK(SH, 0)),
	NEVER("fetch of a cube", FRAGMENT, USC_OPERAND, FETCH, .type = F32,
	      .func = PUMICE_TEXTURE_DIM_CUBE, .dst = BANK(R, 0), .src0 = BANK(R, 0),
	      .src2 = BANK(SH, 0)),
	NEVER("gather of 3D", FRAGMENT, USC_OPERAND, GATHER, .type = F32,
	      .func = PUMICE_TEXTURE_DIM_3D, .dst = BANK(R, 0), .src0 = BANK(R, 0),
	      .src2 = BANK(SH, 0)),
	NEVER("no such dimension", FRAGMENT, USC_OPERAND, SAMPLE, .type = F32,
	      .func = PUMICE_TEXTURE_DIM_COUNT, .dst = BANK(R, 0), .src0 = BANK(R, 0),
	      .src2 = BANK(SH, 0)),
	NEVER("comparison of integers", FRAGMENT, USC_TYPE, SAMPLE_CMP, .type = I32,
	      .func = PUMICE_TEXTURE_DIM_2D, .dst = BANK(R, 0), .src0 = BANK(R, 0),
	      .src1 = BANK(R, 0), .src2 = BANK(SH, 0)),
	NEVER("texture state in coefficients", FRAGMENT, USC_OPERAND, SAMPLE, .type = F32,
	      .dst = BANK(R, 0), .src0 = BANK(R, 0), .src2 = BANK(CF, 0)),
	NEVER("pbe state beyond", TILE, USC_REGISTER, PBE, .src0 = BANK(SH, 13)),
};

static struct usc_program *load(struct fixture *fx, u32 stage, struct pumice_usc_insn insn)
{
	const struct usc_program_limits limits = limits_of(stage);
	u32 code[2 * PUMICE_USC_WORDS];

	usc_put(code, 0, insn);
	usc_put(code, 1, INSN(END));
	return fx_program(fx, code, 2, &limits);
}

static void usc_stages_have_their_own_operations_and_banks(void **state)
{
	struct fixture *fx = *state;

	for (u32 n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		for (u32 stage = USC_STAGE_COMPUTE; stage <= USC_STAGE_TILE; stage++) {
			struct usc_program *program = load(fx, stage, cases[n].insn);

			if (!program != !(cases[n].stages >> stage & 1))
				fail_msg("%s in stage %u", cases[n].rule, stage);
			if (program)
				fx_put(fx, program);
			else if (fx->fault.fault != cases[n].fault)
				fail_msg("%s in stage %u: fault %u", cases[n].rule, stage,
					 fx->fault.fault);
		}
	}
}

static void usc_refuses_operations_of_no_stage(void **state)
{
	struct fixture *fx = *state;

	for (u32 n = 0; n < sizeof(never) / sizeof(never[0]); n++) {
		if (load(fx, never[n].stage, never[n].insn))
			fail_msg("%s: accepted", never[n].rule);
		if (fx->fault.fault != never[n].fault)
			fail_msg("%s: fault %u", never[n].rule, fx->fault.fault);
	}
}

static void usc_same_code_of_two_stages_is_two_programs(void **state)
{
	struct fixture *fx = *state;
	struct pumice_usc_insn nothing = INSN(MOV, .mask = ONE_MASK, .dst = BANK(R, 0),
					      .src0 = BANK(R, 1));
	struct usc_program *vertex = load(fx, USC_STAGE_VERTEX, nothing);
	struct usc_program *tile = load(fx, USC_STAGE_TILE, nothing);

	assert_ptr_not_equal(vertex, tile);
	assert_ptr_equal(load(fx, USC_STAGE_TILE, nothing), tile);
	fx_put(fx, vertex);
	fx_put(fx, tile);
	fx_put(fx, tile);
}

/* The greatest index is in the program's form: tasks with other numbers have another one. */
static void usc_indexed_outputs_are_checked_against_each_tasks_own_number(void **state)
{
	static const struct pumice_usc_insn write[] = {
		INSN(UVSW, .dst = INDEXED(VO, 1), .src0 = BANK(R, 1)),
		INSN(MOV, .mask = ONE_MASK, .dst = INDEXED(O, 1), .src0 = BANK(R, 1)),
	};
	struct fixture *fx = *state;

	for (u32 n = 0; n < 2; n++) {
		struct usc_program_limits limits = limits_of(n ? USC_STAGE_TILE : USC_STAGE_VERTEX);
		struct usc_program *few, *same, *many;
		u32 code[2 * PUMICE_USC_WORDS];

		usc_put(code, 0, write[n]);
		usc_put(code, 1, INSN(END));
		few = fx_program(fx, code, 2, &limits);
		limits.temps++;
		same = fx_program(fx, code, 2, &limits);
		*(n ? &limits.outputs : &limits.vo) += 1;
		many = fx_program(fx, code, 2, &limits);
		assert_ptr_equal(few, same);
		assert_ptr_not_equal(few, many);
		fx_put(fx, few);
		fx_put(fx, same);
		fx_put(fx, many);
	}
}

/* A task of one whole span. */
struct task {
	struct usc_gfx gfx;
	struct usc_tile tile;
	struct usc_span span;
	u8 samples;	/* 2, or 0 for one */
	u32 outputs[2 * 3 * PUMICE_TILE_PIXELS];
	u32 pbe_calls, pbe_state[8];
	bool pbe_fails;
};

static bool take_pbe(const struct usc_gfx *gfx, const u32 state[8], struct gpu_fault *fault)
{
	struct task *t = gfx->opaque;

	t->pbe_calls++;
	memcpy(t->pbe_state, state, sizeof(t->pbe_state));
	*fault = (struct gpu_fault){ .fault = PUMICE_FAULT_PBE_STATE, .unit = PUMICE_UNIT_PBE,
				     .ctx = FX_CTX, .addr = 0x1234 };
	return !t->pbe_fails;
}

static void take_depth(const struct usc_gfx *gfx, struct usc_span *span, const u32 *depth)
{
	assert_true(span >= gfx->span && span < gfx->span + gfx->spans);
	span->live &= (u16)depth[0];
}

static const struct usc_gfx_ops ops = { .pbe = take_pbe, .depth = take_depth };

/* Groups of one task each, whose shared registers are 1000, 1001, ... */
static void fill_program(struct fixture *fx, struct task *t, u32 stage,
			  struct usc_program *program, u32 groups)
{
	const struct fx_group group = {
		.tasks = 1, .instances = { 4 }, .limits = limits_of(stage),
		.gfx = stage == USC_STAGE_COMPUTE ? NULL : &t->gfx,
		.prims = 1,
	};
	const u16 covered = t->samples ? 0x3333 : 0x1111;

	assert_non_null(program);
	t->tile = (struct usc_tile){ .outputs = t->outputs,
				     .pixels = PUMICE_TILE_PIXELS, .words = 3,
				     .samples = t->samples ? t->samples : 1,
				     .width = 32, .height = 32 };
	t->span = (struct usc_span){ .samples = covered, .covered = covered };
	t->gfx.stage = (u8)stage;
	t->gfx.sample = USC_PIXEL_RATE;
	t->gfx.ops = &ops;
	t->gfx.opaque = t;
	t->gfx.tile = &t->tile;
	t->gfx.span = &t->span;
	t->gfx.spans = 1;
	t->gfx.coeffs = group.limits.coeffs;
	t->gfx.coeffs_alt = group.limits.coeffs_alt;
	fx_clear(fx);
	for (u32 g = 0; g < groups; g++) {
		fx_fill(fx, g, &group, program);
		for (u32 n = 0; n < group.limits.shared; n++)
			usc_shared(fx->usc, usc_task(fx->usc, g))[n] = 1000 + n;
	}
}

static void start_program(struct fixture *fx, struct task *t, u32 stage,
			  struct usc_program *program, u32 groups)
{
	fill_program(fx, t, stage, program, groups);
	for (u32 g = 0; g < groups; g++)
		usc_group_start(fx->usc, g);
}

static void run_program(struct fixture *fx, struct task *t, u32 stage, struct usc_program *program)
{
	start_program(fx, t, stage, program, 1);
	/* Random loops end here. */
	usc_step(fx->usc, 200, NULL);
	usc_abort(fx->usc);
	usc_step(fx->usc, 1, NULL);
	assert_int_equal(fx->done[0], 1);
	fx_put(fx, program);
}

static void run(struct fixture *fx, struct task *t, u32 stage, struct pumice_usc_insn insn)
{
	run_program(fx, t, stage, load(fx, stage, insn));
}

static void must_fault(const struct fixture *fx, enum pumice_fault fault)
{
	assert_int_equal(fx->faults, 1);
	assert_int_equal(fx->fault.fault, fault);
	assert_int_equal(fx->fault.pc, 0);
	assert_int_equal(fx->fault.usc, FX_NUMBER);
}

/* Other data masters wait for each of their tasks: it is reported when it ends. */
static void usc_tasks_of_graphics_are_reported_one_by_one(void **state)
{
	struct fixture *fx = *state;
	struct task t = { .samples = 0 };
	struct usc_program *program = load(fx, USC_STAGE_FRAGMENT,
					   INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = K(SID)));

	start_program(fx, &t, USC_STAGE_FRAGMENT, program, 3);
	assert_false(usc_step(fx->usc, 1000, NULL));
	assert_int_equal(fx->reports, 3);
	fx_put(fx, program);
}

static void usc_discard_and_depth_require_an_object_with_them(void **state)
{
	struct fixture *fx = *state;
	struct task t = { 0 };

	run(fx, &t, USC_STAGE_FRAGMENT, INSN(DISCARD, .mask = ONE_MASK));
	must_fault(fx, PUMICE_FAULT_USC_STAGE);
	run(fx, &t, USC_STAGE_FRAGMENT, INSN(DEPTH, .type = F32, .src0 = BANK(R, 1)));
	must_fault(fx, PUMICE_FAULT_USC_STAGE);
	t.gfx.discards = true;
	run(fx, &t, USC_STAGE_FRAGMENT, INSN(DISCARD, .mask = ONE_MASK));
	assert_int_equal(fx->faults, 0);
	assert_int_equal(t.span.live, 0);
}

static void usc_passes_the_tile_to_the_pbe_with_its_state(void **state)
{
	struct fixture *fx = *state;
	struct task t = { 0 };

	run(fx, &t, USC_STAGE_TILE, INSN(PBE, .src0 = BANK(SH, 7)));
	assert_int_equal(fx->faults, 0);
	assert_int_equal(t.pbe_calls, 1);
	for (u32 n = 0; n < 8; n++)
		assert_int_equal(t.pbe_state[n], 1007 + n);
	t.pbe_fails = true;
	run(fx, &t, USC_STAGE_TILE, INSN(PBE, .src0 = BANK(SH, 7)));
	must_fault(fx, PUMICE_FAULT_PBE_STATE);
	assert_int_equal(fx->fault.unit, PUMICE_UNIT_PBE);
	assert_int_equal(fx->fault.addr, 0x1234);
}

/* The index register is set by the first of two instructions. */
static void run_indexed(struct fixture *fx, struct task *t, u32 stage, const u32 index[4],
			struct pumice_usc_insn insn)
{
	const struct usc_program_limits limits = limits_of(stage);
	struct usc_program *program;
	u32 code[3 * PUMICE_USC_WORDS];

	usc_put(code, 0, INSN(MOV, .mask = ONE_MASK, .dst = BANK(IDX, 0), .src0 = BANK(V, 0)));
	usc_put(code, 1, insn);
	usc_put(code, 2, INSN(END));
	program = fx_program(fx, code, 3, &limits);
	fill_program(fx, t, stage, program, 1);
	memcpy(usc_attr(fx->usc, usc_task(fx->usc, 0), 0, 0), index, 4 * sizeof(*index));
	for (u32 l = 0; l < PUMICE_LANES; l++)
		usc_attr(fx->usc, usc_task(fx->usc, 0), 0, 1)[l] = 70 + l;
	usc_group_start(fx->usc, 0);
	usc_step(fx->usc, 200, NULL);
	assert_int_equal(fx->done[0], 1);
	fx_put(fx, program);
}

static void usc_pixel_outputs_are_indexed_lane_by_lane(void **state)
{
	static const u32 index[4] = { 1, 0, 1, 0 }, beyond[4] = { 0, 0, 2, 0 };
	struct fixture *fx = *state;
	struct task t = { 0 };

	for (u32 n = 0; n < 3 * PUMICE_TILE_PIXELS; n++)
		t.outputs[n] = 1000 + n;
	/* O1[IDX0] of pixels 0 to 3. */
	run_indexed(fx, &t, USC_STAGE_FRAGMENT, index,
		    INSN(ADD, .dst = INDEXED(O, 1), .src0 = BANK(V, 1), .src1 = INDEXED(O, 1)));
	assert_int_equal(fx->faults, 0);
	for (u32 p = 0; p < 4; p++) {
		for (u32 n = 0; n < 3; n++) {
			u32 at = n * PUMICE_TILE_PIXELS + p;
			bool written = n == 1 + index[p];

			assert_int_equal(t.outputs[at], 1000 + at + (written ? 70 + p : 0));
		}
	}
	run_indexed(fx, &t, USC_STAGE_TILE, beyond,
		    INSN(MOV, .mask = ONE_MASK, .dst = INDEXED(O, 1), .src0 = BANK(V, 1)));
	assert_int_equal(fx->faults, 1);
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_USC_INDEX);
	assert_int_equal(fx->fault.lane, 2);
	run_indexed(fx, &t, USC_STAGE_TILE, beyond,
		    INSN(MOV, .mask = ONE_MASK, .dst = BANK(R, 0), .src0 = INDEXED(O, 1)));
	assert_int_equal(fx->faults, 1);
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_USC_INDEX);
	assert_int_equal(fx->fault.lane, 2);
}

static void usc_indexed_pixel_outputs_obey_mask_and_dimension(void **state)
{
	static const u32 index[4] = { 1, 0, 1, 0 };
	struct fixture *fx = *state;
	struct task t = { .samples = 2 };

	for (u32 n = 0; n < 2 * 3 * PUMICE_TILE_PIXELS; n++)
		t.outputs[n] = 1000 + n;
	/* O0[IDX0, 2] is O2 of pixels 0 and 2, O0 of the others; the mask has pixels 0 and 1. */
	run_indexed(fx, &t, USC_STAGE_FRAGMENT, index,
		    INSN(MOV, .mask = (u16)IF(MASK_K(CH2)), .dst = INDEXED(O, 0),
			 .src0 = BANK(V, 1), .dim = PUMICE_USC_DIM_2));
	assert_int_equal(fx->faults, 0);
	/* Both samples of a pixel keep their values unless it is written. */
	for (u32 p = 0; p < 4; p++) {
		for (u32 n = 0; n < 2 * 3; n++) {
			u32 at = n * PUMICE_TILE_PIXELS + p;
			bool written = p < 2 && n % 3 == 2 * index[p];

			assert_int_equal(t.outputs[at], written ? 70 + p : 1000 + at);
		}
	}
}

static void usc_vertex_outputs_are_indexed_lane_by_lane(void **state)
{
	static const u32 index[4] = { 1, 0, 1, 0 }, beyond[4] = { 0, 0, 2, 0 };
	struct fixture *fx = *state;
	u32 vo[6 * PUMICE_LANES];
	struct task t = { .gfx = { .vo = vo, .vo_words = 5 } };

	memset(vo, 0x5a, sizeof(vo));
	/* VO0[IDX0, 4]: 0 or 4. */
	run_indexed(fx, &t, USC_STAGE_VERTEX, index,
		    INSN(UVSW, .dst = INDEXED(VO, 0), .src0 = BANK(V, 1),
			 .dim = PUMICE_USC_DIM_4));
	assert_int_equal(fx->faults, 0);
	for (u32 n = 0; n < 6; n++) {
		for (u32 l = 0; l < 4; l++)
			assert_int_equal(vo[n * PUMICE_LANES + l],
					 n == 4 * index[l] ? 70 + l : 0x5a5a5a5a);
	}
	run_indexed(fx, &t, USC_STAGE_VERTEX, beyond,
		    INSN(UVSW, .dst = INDEXED(VO, 0), .src0 = BANK(V, 1),
			 .dim = PUMICE_USC_DIM_4));
	assert_int_equal(fx->faults, 1);
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_USC_INDEX);
	assert_int_equal(fx->fault.pc, 1);
	assert_int_equal(fx->fault.lane, 2);
}

/* Lanes 16 and up of the first wave cover nothing: the second wave determines the values. */
static void usc_lanes_without_a_sample_write_no_slot_register(void **state)
{
	const struct pumice_usc_insn insns[] = {
		INSN(MOV, .mask = (u16)IF_NOT(MASK_K(LO16)), .dst = BANK(SL, 0), .src0 = K(SID)),
		INSN(GE, .dst = R(1), .src0 = K(SID), .src1 = IMM, .imm = 20),
		INSN(MOV, .mask = (u16)IF(MASK_R(1)), .dst = BANK(SL, 1), .src0 = K(SID)),
		INSN(END),
	};
	struct fixture *fx = *state;
	struct usc_span spans[16] = { 0 };
	struct fx_group group = {
		.tasks = 1, .instances = { 64 }, .limits = limits_of(USC_STAGE_FRAGMENT),
		.prims = 1,
	};
	struct task t = { 0 };
	struct usc_program *program;

	group.limits.slot_regs = 2;
	program = fx_program_insns(fx, insns, 4, &group.limits);
	fill_program(fx, &t, USC_STAGE_FRAGMENT, program, 0);
	for (u32 n = 0; n < 16; n++)
		spans[n] = (struct usc_span){ .quad = (u8)n,
					      .samples = n < 4 || n >= 8 ? 0x1111 : 0 };
	t.gfx.span = spans;
	t.gfx.spans = 16;
	group.gfx = &t.gfx;
	fx_run_group(fx, &group, program);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(fx->usc->slot_reg[0][0], 16);
	assert_int_equal(fx->usc->slot_reg[0][1], 20);
	fx_put(fx, program);
}

static void usc_texture_fault_stops_the_group_and_reports_the_instruction(void **state)
{
	const struct pumice_usc_insn sample = INSN(SAMPLE, .type = F32, .dst = BANK(R, 0),
						   .src0 = BANK(R, 4), .src2 = BANK(SH, 0));
	struct fixture *fx = *state;
	struct task t = { 0 };
	fake_tag_fault = (struct gpu_fault){ .fault = PUMICE_FAULT_TAG_STATE,
					     .unit = PUMICE_UNIT_TAG, .ctx = FX_CTX };
	run(fx, &t, USC_STAGE_FRAGMENT, sample);
	fake_tag_fault.fault = PUMICE_FAULT_NONE;
	must_fault(fx, PUMICE_FAULT_TAG_STATE);
	assert_int_equal(fx->fault.unit, PUMICE_UNIT_TAG);
	run(fx, &t, USC_STAGE_FRAGMENT, sample);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(usc_tag_reads(fx->usc, PUMICE_WAVE_MASTER_PDM), 1);
}

#define SLOW	4u	/* slow instructions of a program */

/* A program of slow instructions alone: reads of textures, or the PBE's. */
static struct usc_program *slow_program(struct fixture *fx, u32 stage)
{
	const struct usc_program_limits limits = limits_of(stage);
	u32 code[(SLOW + 1) * PUMICE_USC_WORDS], n;

	for (n = 0; n < SLOW; n++)
		usc_put(code, n, stage == USC_STAGE_TILE ?
			INSN(PBE, .src0 = BANK(SH, 0)) :
			INSN(SAMPLE, .type = F32, .dst = BANK(R, 0), .src0 = BANK(R, 4),
			     .src2 = BANK(SH, 0)));
	usc_put(code, n, INSN(END));
	return fx_program(fx, code, SLOW + 1, &limits);
}

static u64 slow_done(struct fixture *fx, const struct task *t)
{
	return t->pbe_calls + usc_tag_reads(fx->usc, PUMICE_WAVE_MASTER_PDM);
}

static void usc_step_requested_to_end_runs_one_slow_instruction(void **state)
{
	static const u32 stages[] = { USC_STAGE_FRAGMENT, USC_STAGE_TILE };
	const _Atomic bool stop = true;
	struct fixture *fx = *state;

	for (u32 i = 0; i < 2; i++) {
		struct task t = { 0 };
		struct usc_program *program = slow_program(fx, stages[i]);
		u64 before;

		start_program(fx, &t, stages[i], program, 1);
		before = slow_done(fx, &t);
		for (u32 n = 1; n <= SLOW; n++) {
			usc_step(fx->usc, 200, &stop);
			assert_int_equal(slow_done(fx, &t) - before, n);
		}
		usc_step(fx->usc, 200, NULL);
		assert_int_equal(fx->done[0], 1);
		fx_put(fx, program);
	}
}

/* Each costs as much as many others: the budget of 300 is used up by two groups' eight. */
static void usc_slow_instructions_cost_the_step_more(void **state)
{
	static const u32 stages[] = { USC_STAGE_FRAGMENT, USC_STAGE_TILE };
	struct fixture *fx = *state;

	for (u32 i = 0; i < 2; i++) {
		struct task t = { 0 };
		struct usc_program *program = slow_program(fx, stages[i]);
		u64 before;

		start_program(fx, &t, stages[i], program, 3);
		before = slow_done(fx, &t);
		usc_step(fx->usc, 300, NULL);
		assert_int_equal(slow_done(fx, &t) - before, 2 * SLOW);
		usc_step(fx->usc, 300, NULL);
		assert_int_equal(slow_done(fx, &t) - before, 3 * SLOW);
		fx_put(fx, program);
	}
}

static void usc_detailed_counters_count_the_operations_of_graphics(void **state)
{
	static const struct {
		u32 stage;
		struct pumice_usc_insn insn;
		enum pumice_perf_counter counter;
	} kinds[] = {
		{ USC_STAGE_VERTEX, INSN(UVSW, .dst = BANK(VO, 4), .src0 = BANK(R, 1)),
		  PUMICE_PERF_USC_INSN_MOVE },
		{ USC_STAGE_FRAGMENT, INSN(ITR, .comps = 1, .dst = BANK(R, 0),
					   .src0 = BANK(CF, 0)), PUMICE_PERF_USC_INSN_FLOAT },
		{ USC_STAGE_FRAGMENT, INSN(DDY, .type = F32, .dst = BANK(R, 0),
					   .src0 = BANK(O, 1)), PUMICE_PERF_USC_INSN_CROSS },
		{ USC_STAGE_FRAGMENT, INSN(MOV, .mask = ONE_MASK, .dst = BANK(O, 0),
					   .src0 = BANK(R, 1)), PUMICE_PERF_USC_INSN_MOVE },
		{ USC_STAGE_FRAGMENT, INSN(SAMPLE, .type = F32, .dst = BANK(R, 0),
					   .src0 = BANK(R, 4), .src2 = BANK(SH, 0)),
		  PUMICE_PERF_USC_INSN_GLOBAL },
		{ USC_STAGE_TILE, INSN(PBE, .src0 = BANK(SH, 0)), PUMICE_PERF_USC_INSN_GLOBAL },
	};
	struct fixture *fx = *state;
	u32 vo[5 * PUMICE_LANES];
	struct task t = { .gfx = { .vo = vo, .vo_words = 5 } };

	usc_set_detail(fx->usc, true);
	for (u32 n = 0; n < sizeof(kinds) / sizeof(kinds[0]); n++) {
		u64 before[PUMICE_PERF_NUMBER] = { 0 }, after[PUMICE_PERF_NUMBER] = { 0 };

		usc_counters_add(fx->usc, before);
		run(fx, &t, kinds[n].stage, kinds[n].insn);
		usc_counters_add(fx->usc, after);
		assert_int_equal(fx->faults, 0);
		assert_int_equal(after[kinds[n].counter] - before[kinds[n].counter], 1);
		assert_int_equal(after[PUMICE_PERF_USC_INSN_FLOW] -
				 before[PUMICE_PERF_USC_INSN_FLOW], 1);	/* end */
		assert_int_equal(after[PUMICE_PERF_USC_ISSUED] - before[PUMICE_PERF_USC_ISSUED], 2);
	}
}

#define NOISE 60000u

/* Only the fixture's memory and stores may change: checked by sanitizers. */
static void usc_random_words_in_every_stage_do_no_harm(void **state)
{
	struct gen_rng rng = { 11 };
	struct fixture *fx = *state;
	u32 words[2 * PUMICE_USC_WORDS], vo[5 * PUMICE_LANES], accepted = 0;
	struct task t = { .gfx = { .vo = vo, .vo_words = 5, .discards = true,
				   .depth_writes = true } };

	for (u32 n = 0; n < NOISE; n++) {
		u32 stage = gen_below(&rng, 4);
		const struct usc_program_limits limits = limits_of(stage);
		struct usc_program *program;

		gen_noise(&rng, words);
		usc_put(words, 1, INSN(END));
		program = fx_program(fx, words, 2, &limits);
		if (!program)
			continue;
		accepted++;
		run_program(fx, &t, stage, program);
		assert_true(fx->faults <= 1);
	}
	assert_true(accepted > NOISE / 1000);
}

static void usc_samples_are_positioned_by_the_precision_rules(void **state)
{
	static const u8 at[5][4][2] = {
		[1] = { { 8, 8 } },
		[2] = { { 4, 4 }, { 12, 12 } },
		[4] = { { 6, 2 }, { 14, 6 }, { 2, 10 }, { 10, 14 } },
	};

	(void)state;
	for (u32 samples = 1; samples <= 4; samples *= 2) {
		for (u32 n = 0; n < samples; n++) {
			u32 x, y;

			usc_gfx_sample_position(samples, n, &x, &y);
			assert_int_equal(x, at[samples][n][0]);
			assert_int_equal(y, at[samples][n][1]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FX_TEST(usc_stages_have_their_own_operations_and_banks),
		FX_TEST(usc_refuses_operations_of_no_stage),
		FX_TEST(usc_same_code_of_two_stages_is_two_programs),
		FX_TEST(usc_indexed_outputs_are_checked_against_each_tasks_own_number),
		FX_TEST(usc_tasks_of_graphics_are_reported_one_by_one),
		FX_TEST(usc_discard_and_depth_require_an_object_with_them),
		FX_TEST(usc_passes_the_tile_to_the_pbe_with_its_state),
		FX_TEST(usc_pixel_outputs_are_indexed_lane_by_lane),
		FX_TEST(usc_vertex_outputs_are_indexed_lane_by_lane),
		FX_TEST(usc_lanes_without_a_sample_write_no_slot_register),
		FX_TEST(usc_indexed_pixel_outputs_obey_mask_and_dimension),
		FX_TEST(usc_texture_fault_stops_the_group_and_reports_the_instruction),
		FX_TEST(usc_step_requested_to_end_runs_one_slow_instruction),
		FX_TEST(usc_slow_instructions_cost_the_step_more),
		FX_TEST(usc_detailed_counters_count_the_operations_of_graphics),
		FX_TEST(usc_random_words_in_every_stage_do_no_harm),
		FX_TEST(usc_samples_are_positioned_by_the_precision_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
