// SPDX-License-Identifier: MIT
/*
 * ray_query: its operands, mask, signal and faults, and queries that are interrupted. The results
 * themselves are those of the ray tracing unit: tests/unit/rtu.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "../../../qemu-device/gpu/rtu/rtu.h"
#include "exec.h"
#include "fixture.h"
#include "perf.h"
#include "rays.h"

#define DATA_BYTES	(4u << 20)
#define TEMPS		10u
#define RESULT		0u	/* R0 and following */
#define KEPT		0x77u	/* in them before the query */
#define WAIT		9u	/* for the result of sig_wait */
#define SQUARES		RAYS_SQUARES

static const struct fx_group one_wave = {
	.tasks = 1,
	.instances = { PUMICE_LANES },
	.limits = { .temps = TEMPS, .attrs = PUMICE_RT_RAY_REGS, .shared = 4 },
};

#define QUERY(to, lanes, ...)							\
	INSN(RAY_QUERY, .dst = (to), .mask = (lanes), .src2 = SH(0), .src0 = V(0), __VA_ARGS__)

static u32 bits_of(float number)
{
	u32 bits;

	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

/* Build squares at an offset of the data. */
static void build(struct fixture *fx, struct tree *tree, u32 offset, u32 count)
{
	assert_true(offset + tree_bytes(count * 2) <= DATA_BYTES);
	rays_build(tree, fx->data + offset, FX_DATA + offset, count);
}

/* Set the ray of a lane: along z from x = lane / 4 and y = -1 - lane / 8, which begins at from. */
static void set_ray(struct fixture *fx, u32 lane, float from)
{
	const float ray[PUMICE_RT_RAY_REGS] = { (float)lane / 4, -1 - (float)lane / 8, 0, from,
						0, 0, 1, 100 };

	for (u32 n = 0; n < PUMICE_RT_RAY_REGS; n++)
		usc_attr(fx->usc, usc_task(fx->usc, 0), 0, n)[lane] = bits_of(ray[n]);
}

/* Run the instruction as number TEMPS - 1 of a program in which R0 to R8 are KEPT. */
static void run_group(struct fixture *fx, const struct fx_group *group, struct pumice_usc_insn insn,
		      u64 base)
{
	u32 code[(TEMPS + 3) * PUMICE_USC_WORDS], n;
	struct usc_program *program;

	for (n = 0; n < TEMPS - 1; n++)
		usc_put(code, n, INSN(MOV, .dst = R(n), .mask = ALWAYS, .src0 = IMM, .imm = KEPT));
	usc_put(code, n++, insn);
	usc_put(code, n++, INSN(SIG_WAIT, .dst = R_ELEM(WAIT), .sig0 = insn.sig0));
	usc_put(code, n++, INSN(END));
	program = fx_program(fx, code, n, &group->limits);
	assert_non_null(program);
	fx_clear(fx);
	fx_fill(fx, 0, group, program);
	fx_set_base(fx, 0, base);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		set_ray(fx, l, l % 3 == 2 ? 4.5f : 0);
	usc_group_start(fx->usc, 0);
	fx_run(fx, 1000);
	assert_int_equal(fx->done[0], 1);
	fx_put(fx, program);
}

/* The same in a compute program. */
static void run(struct fixture *fx, struct pumice_usc_insn insn, u64 base, u32 instances)
{
	struct fx_group group = one_wave;

	group.instances[0] = instances;
	run_group(fx, &group, insn, base);
}

static u32 reg(const struct fixture *fx, u32 number, u32 lane)
{
	return fx->usc->unified[usc_wave_regs(usc_task(fx->usc, 0),
					      0) + number * USC_ROW_WORDS + lane];
}

/* Check the closest hit of a lane whose ray begins at 0 or 4.5: the first square, or the second. */
static void check_hit(const struct fixture *fx, u32 first, u32 lane)
{
	u32 square = lane % 3 == 2 ? 1 : 0;

	assert_int_equal(reg(fx, first, lane), bits_of((float)(4 + square)));
	assert_int_equal(reg(fx, first + 3, lane), ~0u);
	assert_int_equal(reg(fx, first + 4, lane), square * 2);
	assert_int_equal(reg(fx, first + 5, lane), PUMICE_RT_HIT_BACK);
}

static u64 counted(const struct fixture *fx, enum pumice_perf_counter counter)
{
	u64 value[PUMICE_PERF_NUMBER] = { 0 };

	usc_counters_add(fx->usc, value);
	return value[counter];
}

static int setup(void **state)
{
	*state = fx_create(DATA_BYTES);
	return 0;
}

static void usc_ray_query_writes_six_registers_of_active_lanes(void **state)
{
	struct fixture *fx = *state;
	struct tree tree;

	build(fx, &tree, 0, SQUARES);
	run(fx, QUERY(R(RESULT), ALWAYS, .sig0 = 3), tree.va, 30);
	assert_int_equal(fx->faults, 0);
	for (u32 l = 0; l < 30; l++)
		check_hit(fx, RESULT, l);
	for (u32 n = 0; n < TEMPS - 1; n++) {
		assert_int_equal(reg(fx, n, 30), KEPT);
		assert_int_equal(reg(fx, n, 31), KEPT);
		assert_int_equal(reg(fx, n, 0) == KEPT, n >= PUMICE_RT_RESULT_REGS);
	}
	assert_int_equal(counted(fx, PUMICE_PERF_RTU_RAYS), 30);
	assert_int_equal(counted(fx, PUMICE_PERF_RTU_LEAVES) >= 30, 1);
	assert_int_equal(counted(fx, PUMICE_PERF_RTU_NODES) >= 30, 1);
	run(fx, QUERY(R(RESULT), IF(MASK_K(LO16)), .sig0 = 0), tree.va, PUMICE_LANES);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		if (l < 16)
			check_hit(fx, RESULT, l);
		else
			assert_int_equal(reg(fx, RESULT, l), KEPT);
	}
}

/* A task of graphics: of fragments, every fifth pixel is not covered. */
struct graphics {
	u32 outputs[PUMICE_TILE_PIXELS], vo[4 * PUMICE_LANES];
	struct usc_span span[PUMICE_LANES / USC_SPAN_LANES];
	struct usc_tile tile;
	struct usc_gfx gfx;
};

static bool is_covered(u32 stage, u32 lane)
{
	return stage != USC_STAGE_FRAGMENT || lane % 5;
}

static void make_graphics(u32 stage, struct graphics *t)
{
	*t = (struct graphics){
		.tile = { .pixels = PUMICE_TILE_PIXELS, .outputs = t->outputs, .words = 1,
			  .samples = 1, .width = 32, .height = 32 },
		.gfx = { .stage = (u8)stage, .sample = USC_PIXEL_RATE, .vo = t->vo, .vo_words = 4,
			 .tile = &t->tile, .span = t->span,
			 .spans = PUMICE_LANES / USC_SPAN_LANES },
	};
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		struct usc_span *span = &t->span[l / USC_SPAN_LANES];

		span->quad = (u8)(l / USC_SPAN_LANES);
		if (is_covered(stage, l))
			span->samples |= (u16)(1u << l % USC_SPAN_LANES * 4);
		span->covered = span->samples;
	}
}

/* Vertex, fragment and tile programs trace the rays of their valid lanes. */
static void usc_ray_queries_of_graphics_trace_valid_lanes(void **state)
{
	static struct graphics t;
	struct fixture *fx = *state;
	struct tree tree;

	build(fx, &tree, 0, SQUARES);
	for (u32 stage = USC_STAGE_VERTEX; stage <= USC_STAGE_TILE; stage++) {
		struct fx_group group = one_wave;
		const u64 before = counted(fx, PUMICE_PERF_RTU_RAYS);
		u32 rays = 0;

		make_graphics(stage, &t);
		group.gfx = &t.gfx;
		group.prims = 1;
		group.limits.stage = stage;
		group.limits.vo = stage == USC_STAGE_VERTEX ? 4 : 0;
		group.limits.outputs = stage == USC_STAGE_VERTEX ? 0 : 1;
		run_group(fx, &group, QUERY(R(RESULT), ALWAYS, .sig0 = 3), tree.va);
		assert_int_equal(fx->faults, 0);
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			rays += is_covered(stage, l);
			if (is_covered(stage, l))
				check_hit(fx, RESULT, l);
			else
				assert_int_equal(reg(fx, RESULT, l), KEPT);
		}
		assert_int_equal(counted(fx, PUMICE_PERF_RTU_RAYS) - before, rays);
	}
}

static void usc_ray_query_adds_base_and_displacement(void **state)
{
	struct fixture *fx = *state;
	struct tree tree;

	build(fx, &tree, 0x400, SQUARES);
	run(fx, QUERY(R(RESULT), ALWAYS, .disp = 0x400), FX_DATA, PUMICE_LANES);
	assert_int_equal(fx->faults, 0);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		check_hit(fx, RESULT, l);
}

static void usc_ray_query_replaces_its_own_ray(void **state)
{
	struct fixture *fx = *state;
	struct tree tree;

	build(fx, &tree, 0, SQUARES);
	run(fx, QUERY(V(1), ALWAYS, .sig0 = 0), tree.va, PUMICE_LANES);
	assert_int_equal(fx->faults, 0);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		check_hit(fx, TEMPS + 1, l);
}

/* Of three squares in a leaf's reach: the closest is always the first, any is one of them. */
static void usc_ray_query_for_any_hit_stops_at_the_first_found(void **state)
{
	struct fixture *fx = *state;
	u64 leaves;
	struct tree tree;

	build(fx, &tree, 0, 300);
	leaves = counted(fx, PUMICE_PERF_RTU_LEAVES);
	run(fx, QUERY(R(RESULT), ALWAYS, .func = PUMICE_USC_RAY_ANY), tree.va, PUMICE_LANES);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(reg(fx, RESULT + 5, l), PUMICE_RT_HIT_BACK);
	leaves = counted(fx, PUMICE_PERF_RTU_LEAVES) - leaves;
	assert_in_range(leaves, PUMICE_LANES, PUMICE_LANES * 12);
	run(fx, QUERY(R(RESULT), ALWAYS, .func = PUMICE_USC_RAY_CLOSEST), tree.va, PUMICE_LANES);
	assert_true(counted(fx, PUMICE_PERF_RTU_LEAVES) - leaves > PUMICE_LANES * 100);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		check_hit(fx, RESULT, l);
}

/*
 * 8000 squares in three places: a query visits them all and is done in pieces. Its results replace
 * the registers of its base and its mask, which hold for all of it.
 */
static void continue_query(struct fixture *fx)
{
	u32 code[8 * PUMICE_USC_WORDS];
	struct fx_group group = one_wave;
	struct usc_program *program;
	struct tree tree;

	build(fx, &tree, 0, 8000);
	usc_put(code, 0, INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = SH(0)));
	usc_put(code, 1, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = SH(1)));
	usc_put(code, 2, INSN(MOV, .dst = R(5), .mask = ALWAYS, .src0 = K(ONE)));
	usc_put(code, 3, INSN(RAY_QUERY, .dst = R(0), .mask = IF(MASK_R(5)), .src2 = R_ELEM(0),
			      .src0 = V(0), .sig0 = 2));
	usc_put(code, 4, INSN(SIG_WAIT, .dst = R_ELEM(WAIT), .sig0 = 2));
	usc_put(code, 5, INSN(END));
	program = fx_program(fx, code, 6, &group.limits);
	assert_non_null(program);
	for (u32 detail = 0; detail < 2; detail++) {
		usc_set_detail(fx->usc, detail);
		fx_clear(fx);
		fx_fill(fx, 0, &group, program);
		fx_set_base(fx, 0, tree.va);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			set_ray(fx, l, l % 3 == 2 ? 4.5f : 0);
		usc_group_start(fx->usc, 0);
		/* A step of little work does not do all of it. */
		usc_step(fx->usc, 64, NULL);
		assert_int_equal(fx->done[0], 0);
		fx_run(fx, 64);
		assert_int_equal(fx->faults, 0);
		assert_int_equal(fx->done[0], 1);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			check_hit(fx, RESULT, l);
	}
	/* One instruction, however often it was continued. */
	assert_int_equal(counted(fx, PUMICE_PERF_USC_INSN_GLOBAL), 1);
	assert_int_equal(counted(fx, PUMICE_PERF_RTU_RAYS), 2 * PUMICE_LANES);
	fx_put(fx, program);
}

static void usc_ray_query_continues_after_an_interruption(void **state)
{
	continue_query(*state);
}

/*
 * Also if data arrive late. A use of its result is reported, or reads the register as it was before
 * the query began, in all of its lanes: those that were traced before the interruption, too.
 */
static void usc_ray_query_that_continues_is_late(void **state)
{
	u32 code[5 * PUMICE_USC_WORDS];

	(void)state;
	usc_put(code, 0, INSN(MOV, .dst = R(5), .mask = ALWAYS, .src0 = K(ONE)));
	usc_put(code, 1, QUERY(R(0), IF(MASK_R(5)), .sig0 = 2));
	usc_put(code, 2, INSN(MOV, .dst = R(6), .mask = ALWAYS, .src0 = R(5)));
	usc_put(code, 3, INSN(SIG_WAIT, .dst = R_ELEM(WAIT), .sig0 = 2));
	usc_put(code, 4, INSN(END));
	for (enum usc_late_mode late = USC_LATE_DATA; late <= USC_LATE_POISON; late++) {
		struct fixture *fx = fx_create_late(DATA_BYTES, late);
		struct usc_program *program;
		struct tree tree;

		continue_query(fx);
		build(fx, &tree, 0, 8000);
		program = fx_program(fx, code, 5, &one_wave.limits);
		assert_non_null(program);
		fx_clear(fx);
		fx_fill(fx, 0, &one_wave, program);
		fx_set_base(fx, 0, tree.va);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			set_ray(fx, l, l % 2 ? -50 : 0);
		usc_group_start(fx->usc, 0);
		fx_run(fx, 64);
		assert_int_equal(fx->faults, late == USC_LATE_POISON);
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			if (late == USC_LATE_DATA)
				assert_int_equal(reg(fx, 6, l), 1);
			else
				assert_int_equal(reg(fx, 5, l), PUMICE_USC_POISON);
		}
		fx_put(fx, program);
		fx_destroy(fx);
	}
}

#define QUERIES	200u
#define STEP	8192u	/* budget of a step, as of the device */

/*
 * 200 queries, none of which is interrupted: a step ends after as many nodes and leaves as its
 * budget is for, 4 for an instruction, and at most the two pieces that begin before it is used.
 */
static void usc_ray_queries_of_a_step_are_bounded(void **state)
{
	struct fixture *fx = *state;
	u32 *code = test_calloc((QUERIES + 1) * PUMICE_USC_WORDS, sizeof(*code));
	struct usc_program *program;
	struct tree tree;
	u64 steps;

	build(fx, &tree, 0, 36);
	run(fx, QUERY(R(RESULT), ALWAYS, .sig0 = 0), tree.va, PUMICE_LANES);
	steps = counted(fx, PUMICE_PERF_RTU_NODES) + counted(fx, PUMICE_PERF_RTU_LEAVES);
	assert_in_range(steps, RTU_PIECE / 4, RTU_PIECE - 2 * PUMICE_LANES);
	for (u32 n = 0; n < QUERIES; n++)
		usc_put(code, n, QUERY(R(RESULT), ALWAYS, .sig0 = n % PUMICE_USC_SIGNALS));
	usc_put(code, QUERIES, INSN(END));
	program = fx_program(fx, code, QUERIES + 1, &one_wave.limits);
	assert_non_null(program);
	fx_clear(fx);
	fx_fill(fx, 0, &one_wave, program);
	fx_set_base(fx, 0, tree.va);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		set_ray(fx, l, l % 3 == 2 ? 4.5f : 0);
	usc_group_start(fx->usc, 0);
	usc_step(fx->usc, STEP, NULL);
	assert_int_equal(fx->done[0], 0);
	assert_in_range(counted(fx, PUMICE_PERF_RTU_NODES) + counted(fx, PUMICE_PERF_RTU_LEAVES) -
			steps, STEP, 4 * STEP + 2 * RTU_PIECE);
	fx_run(fx, STEP);
	assert_int_equal(fx->faults, 0);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		check_hit(fx, RESULT, l);
	assert_int_equal(counted(fx, PUMICE_PERF_RTU_RAYS), (QUERIES + 1) * PUMICE_LANES);
	fx_put(fx, program);
	test_free(code);
}

/* Data that arrive late: before the wait a use of any of the six registers is a fault. */
static void usc_ray_query_results_are_late(void **state)
{
	struct fixture *fx = fx_create_late(DATA_BYTES, USC_LATE_POISON);
	u32 code[4 * PUMICE_USC_WORDS];
	struct usc_program *program;
	struct tree tree;

	(void)state;
	build(fx, &tree, 0, SQUARES);
	for (u32 n = 0; n <= PUMICE_RT_RESULT_REGS; n++) {
		usc_put(code, 0, QUERY(R(RESULT), ALWAYS, .sig0 = 7));
		usc_put(code, 1, INSN(MOV, .dst = R(WAIT), .mask = ALWAYS, .src0 = R(RESULT + n)));
		usc_put(code, 2, INSN(SIG_WAIT, .dst = R_ELEM(WAIT), .sig0 = 7));
		usc_put(code, 3, INSN(END));
		program = fx_program(fx, code, 4, &one_wave.limits);
		assert_non_null(program);
		fx_clear(fx);
		fx_fill(fx, 0, &one_wave, program);
		fx_set_base(fx, 0, tree.va);
		usc_group_start(fx->usc, 0);
		fx_run(fx, 1000);
		assert_int_equal(fx->done[0], 1);
		/* The register after them is not part of the result. */
		assert_int_equal(fx->faults, n < PUMICE_RT_RESULT_REGS);
		if (fx->faults) {
			assert_int_equal(fx->fault.fault, PUMICE_FAULT_USC_LATE);
			assert_int_equal(fx->fault.pc, 1);
			assert_int_equal(reg(fx, RESULT + n, 0), PUMICE_USC_POISON);
		}
		fx_put(fx, program);
	}
	fx_destroy(fx);
}

static void usc_ray_query_is_done_with_its_signal(void **state)
{
	struct fixture *fx = *state;
	u32 code[4 * PUMICE_USC_WORDS];
	struct usc_program *program;
	struct tree tree;

	build(fx, &tree, 0, SQUARES);
	usc_put(code, 0, QUERY(R(RESULT), ALWAYS, .sig0 = 7));
	usc_put(code, 1, INSN(SIG_DONE1, .dst = R_ELEM(6), .sig0 = 7));
	usc_put(code, 2, INSN(SIG_DONE1, .dst = R_ELEM(7), .sig0 = 6));
	usc_put(code, 3, INSN(END));
	program = fx_program(fx, code, 4, &one_wave.limits);
	assert_non_null(program);
	fx_clear(fx);
	fx_fill(fx, 0, &one_wave, program);
	fx_set_base(fx, 0, tree.va);
	usc_group_start(fx->usc, 0);
	fx_run(fx, 1000);
	assert_int_equal(reg(fx, 6, 0), 0);
	assert_int_equal(reg(fx, 7, 0), 1);
	fx_put(fx, program);
}

static void usc_ray_query_faults_report_the_lane(void **state)
{
	struct fixture *fx = *state;
	struct tree tree;

	build(fx, &tree, 0, SQUARES);
	run(fx, QUERY(R(RESULT), IF_NOT(MASK_K(LO16)), .sig0 = 0), tree.va + 32, PUMICE_LANES);
	assert_int_equal(fx->faults, 1);
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_RTU_ALIGN);
	assert_int_equal(fx->fault.unit, PUMICE_UNIT_RTU);
	assert_int_equal(fx->fault.ctx, FX_CTX);
	assert_int_equal(fx->fault.usc, FX_NUMBER);
	assert_int_equal(fx->fault.pc, TEMPS - 1);
	assert_true(fx->fault.addr == tree.va + 32);
	assert_true(fx->fault.lane_known);
	assert_int_equal(fx->fault.lane, 16);
	tree.header[0] ^= 0x100;
	run(fx, QUERY(R(RESULT), ALWAYS, .sig0 = 1), tree.va, PUMICE_LANES);
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_RTU_HEADER);
	assert_int_equal(fx->fault.lane, 0);
	/* Without a ray nothing is read. */
	run(fx, QUERY(R(RESULT), IF(MASK_K(ZERO)), .sig0 = 0), tree.va, PUMICE_LANES);
	assert_int_equal(fx->faults, 0);
}

static void usc_ray_query_operands_are_checked(void **state)
{
	struct fixture *fx = *state;
	struct pumice_usc_insn insn;
	u32 code[2 * PUMICE_USC_WORDS];

	usc_put(code, 1, INSN(END));
	for (u32 n = 0; n < 6; n++) {
		enum pumice_fault want = PUMICE_FAULT_USC_OPERAND;

		insn = QUERY(R(RESULT), ALWAYS, .sig0 = 0);
		if (n == 0)
			insn.func = PUMICE_USC_RAY_COUNT;
		if (n == 1)
			insn.dst = SH(0);
		if (n == 2)
			insn.src0 = SH(0);
		if (n == 3)
			insn.src2 = V(0);
		if (n == 4)
			insn.dst = R(TEMPS - PUMICE_RT_RESULT_REGS + 1);
		if (n == 5)
			insn.src0 = V(1);
		if (n >= 4)
			want = PUMICE_FAULT_USC_REGISTER;
		usc_put(code, 0, insn);
		assert_null(fx_program(fx, code, 2, &one_wave.limits));
		assert_int_equal(fx->fault.fault, want);
	}
	/* No index, and no other bit. */
	for (u32 bit = 72; bit < 96; bit++) {
		usc_put(code, 0, QUERY(R(RESULT), ALWAYS, .sig0 = 0));
		code[bit / 32] |= 1u << bit % 32;
		assert_null(fx_program(fx, code, 2, &one_wave.limits));
		assert_int_equal(fx->fault.fault, PUMICE_FAULT_USC_RESERVED);
	}
}

/* Random programs */

#define PROGRAMS	2000u
#define RANDOM_TEMPS	24u
#define ROOM		22u	/* of these for rays and results; the last two are the base */

static u32 random_below(u64 *state, u32 n)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)((*state >> 33) * n >> 31);
}

/* A query with random operands. Registers of the ray and the result may overlap. */
struct random_query {
	u32 src, dst, mask, disp;
	bool invert, any, base_in_temps;
	float ray[PUMICE_LANES][PUMICE_RT_RAY_REGS];
};

static void make_query(u64 *seed, struct random_query *q)
{
	static const u32 masks[] = { MASK_K(ONE), MASK_K(LO16), MASK_K(CH2), MASK_K(CH4) };
	static const float from[] = { 0, 4, 4.5f, 5.5f, 7 }, to[] = { 100, INFINITY, 4.2f, 5 };

	*q = (struct random_query){
		.src = random_below(seed, ROOM - PUMICE_RT_RAY_REGS + 1),
		.dst = random_below(seed, ROOM - PUMICE_RT_RESULT_REGS + 1),
		.mask = masks[random_below(seed, 4)], .disp = random_below(seed, 32) * 128,
		.invert = random_below(seed, 4) == 0, .any = random_below(seed, 3) == 0,
		.base_in_temps = random_below(seed, 2),
	};
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		const float x = (float)random_below(seed, 25) - 12;
		const float y = (float)random_below(seed, 25) - 12;
		const float ray[PUMICE_RT_RAY_REGS] = { x, y, 0, from[random_below(seed, 5)],
							0, 0, 1, to[random_below(seed, 4)] };

		memcpy(q->ray[l], ray, sizeof(ray));
	}
}

static bool lane_active(const struct random_query *q, u32 lane)
{
	const bool on = q->mask == MASK_K(ONE) || (q->mask == MASK_K(LO16) && lane < 16) ||
			(q->mask == MASK_K(CH2) && lane / 2 % 2 == 0) ||
			(q->mask == MASK_K(CH4) && lane / 4 % 2 == 0);

	return on != q->invert;
}

static struct usc_program *random_program(struct fixture *fx, const struct random_query *q,
					  const struct usc_program_limits *limits)
{
	u32 code[(RANDOM_TEMPS + PUMICE_RT_RAY_REGS + 6) * PUMICE_USC_WORDS], n = 0;

	for (; n < ROOM; n++)
		usc_put(code, n,
			INSN(MOV, .dst = R(n), .mask = ALWAYS, .src0 = IMM, .imm = KEPT + n));
	usc_put(code, n++, INSN(MOV, .dst = R(ROOM), .mask = ALWAYS, .src0 = SH(0)));
	usc_put(code, n++, INSN(MOV, .dst = R(ROOM + 1), .mask = ALWAYS, .src0 = SH(1)));
	for (u32 k = 0; k < PUMICE_RT_RAY_REGS; k++)
		usc_put(code, n++, INSN(MOV, .dst = R(q->src + k), .mask = ALWAYS, .src0 = V(k)));
	usc_put(code, n++, INSN(RAY_QUERY, .dst = R(q->dst), .src0 = R(q->src), .sig0 = 5,
				.mask = q->invert ? IF_NOT(q->mask) : IF(q->mask),
				.src2 = q->base_in_temps ? R_ELEM(ROOM) : SH(0), .disp = q->disp,
				.func = q->any ? PUMICE_USC_RAY_ANY : PUMICE_USC_RAY_CLOSEST));
	usc_put(code, n++, INSN(SIG_WAIT, .form = 0, .dst = SH(2), .sig0 = 5));
	usc_put(code, n++, INSN(END));
	return fx_program(fx, code, n, limits);
}

/* Return whether the register of a lane has the model's value. */
static bool as_model(const struct fixture *fx, const struct random_query *q, u32 n, u32 lane)
{
	const u32 got = reg(fx, n, lane);
	u32 result[PUMICE_RT_RESULT_REGS], ray[PUMICE_RT_RAY_REGS];

	memcpy(ray, q->ray[lane], sizeof(ray));
	rays_model(q->ray[lane], result);
	if (lane_active(q, lane) && n >= q->dst && n < q->dst + PUMICE_RT_RESULT_REGS) {
		const u32 k = n - q->dst;

		/* Any square is right that the ray reaches; which one is not defined. */
		if (q->any && result[5] && k != 5)
			return k == 3 ? got == ~0u : true;
		return got == result[k];
	}
	if (n >= q->src && n < q->src + PUMICE_RT_RAY_REGS)
		return got == ray[n - q->src];
	return got == KEPT + n;
}

static void usc_ray_query_with_random_operands_agrees_with_the_model(void **state)
{
	struct fixture *fx = *state;
	struct fx_group group = one_wave;
	struct random_query q;
	struct tree tree;
	u64 seed = 1;

	group.limits.temps = RANDOM_TEMPS;
	for (u32 p = 0; p < PROGRAMS; p++) {
		struct usc_program *program;

		make_query(&seed, &q);
		build(fx, &tree, q.disp, SQUARES);
		program = random_program(fx, &q, &group.limits);
		assert_non_null(program);
		fx_clear(fx);
		fx_fill(fx, 0, &group, program);
		fx_set_base(fx, 0, FX_DATA);
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			for (u32 n = 0; n < PUMICE_RT_RAY_REGS; n++)
				usc_attr(fx->usc, usc_task(fx->usc, 0), 0, n)[l] =
					bits_of(q.ray[l][n]);
		}
		usc_group_start(fx->usc, 0);
		fx_run(fx, 1 + random_below(&seed, 50));
		assert_int_equal(fx->faults, 0);
		for (u32 n = 0; n < ROOM; n++) {
			for (u32 l = 0; l < PUMICE_LANES; l++) {
				if (!as_model(fx, &q, n, l))
					fail_msg("program %u: r%u of lane %u is %#x", p, n, l,
						 reg(fx, n, l));
			}
		}
		fx_put(fx, program);
	}
}

#define RAY_TEST(name) cmocka_unit_test_setup_teardown(name, setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RAY_TEST(usc_ray_query_writes_six_registers_of_active_lanes),
		RAY_TEST(usc_ray_queries_of_graphics_trace_valid_lanes),
		RAY_TEST(usc_ray_query_adds_base_and_displacement),
		RAY_TEST(usc_ray_query_replaces_its_own_ray),
		RAY_TEST(usc_ray_query_for_any_hit_stops_at_the_first_found),
		RAY_TEST(usc_ray_query_continues_after_an_interruption),
		cmocka_unit_test(usc_ray_query_that_continues_is_late),
		RAY_TEST(usc_ray_queries_of_a_step_are_bounded),
		cmocka_unit_test(usc_ray_query_results_are_late),
		RAY_TEST(usc_ray_query_is_done_with_its_signal),
		RAY_TEST(usc_ray_query_faults_report_the_lane),
		RAY_TEST(usc_ray_query_operands_are_checked),
		RAY_TEST(usc_ray_query_with_random_operands_agrees_with_the_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
