// SPDX-License-Identifier: MIT
/*
 * Index registers outside of arithmetic: document 003, "Index Registers". Offsets and bases of
 * memory, data of loads and stores, planes, conditions of branches; and their bounds, which are
 * those of the last register of an operand.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "exec.h"
#include "fixture.h"

#define MAX_INSNS 32u
#define FRAGMENT_PRIMS 3u

static const struct usc_program_limits compute = {
	.temps = 40, .attrs = 4, .shared = 20, .coeffs = 8, .coeffs_alt = 6,
};
static const struct usc_program_limits fragment = {
	.temps = 8, .attrs = 4, .coeffs = 10, .coeffs_alt = 7, .stage = USC_STAGE_FRAGMENT,
};

/* An operand with an index register; idx counts from 1. */
static u32 indexed(enum pumice_usc_bank bank, u32 num, bool elem, u32 idx)
{
	const struct pumice_usc_operand v = {
		.bank = bank, .num = (u16)num, .elem = elem, .idx = idx,
	};
	u32 raw;

	pumice_usc_operand_pack(&raw, &v);
	return raw;
}

#define IDX(n) usc_operand(PUMICE_USC_BANK_IDX, (n), false)
#define R_AT(n, idx) indexed(PUMICE_USC_BANK_R, n, false, idx)

/* A program on one task of 32 instances; IDX0 becomes V0, IDX1 V1. */
struct run {
	struct fixture *fx;
	struct fx_group group;
	struct usc_task *task;
	u32 code[MAX_INSNS * PUMICE_USC_WORDS];
	u32 insns;
	u32 v[4][PUMICE_LANES];
};

static void put(struct run *r, struct pumice_usc_insn insn)
{
	usc_put(r->code, r->insns++, insn);
}

static void begin(struct run *r, struct fixture *fx, const struct usc_program_limits *limits)
{
	memset(r, 0, sizeof(*r));
	r->fx = fx;
	r->group = (struct fx_group){ .tasks = 1, .instances = { 32 }, .limits = *limits,
				      .local_bytes = 1024 };
	put(r, INSN(MOV, .dst = IDX(0), .mask = ALWAYS, .src0 = V(0)));
	put(r, INSN(MOV, .dst = IDX(1), .mask = ALWAYS, .src0 = V(1)));
	for (u32 n = 0; n < FX_DATA_BYTES / 4; n++)
		((u32 *)(void *)fx->data)[n] = n;
}

/*
 * Shared registers 6 and 7, 10 and 11, and so on are the address of the data, 16 bytes further each
 * time; the others are 0xbad.
 */
static void fill(struct run *r)
{
	u32 *shared = usc_shared(r->fx->usc, r->task);

	for (u32 n = 0; n < r->group.limits.shared; n++) {
		u64 va = FX_DATA + (n / 4 - 1u) * 16;

		shared[n] = n < 6 || n % 4 < 2 ? 0xbad : n % 4 == 2 ? (u32)va : (u32)(va >> 32);
	}
	for (u32 n = 0; n < 4; n++)
		memcpy(usc_attr(r->fx->usc, r->task, 0, n), r->v[n], sizeof(r->v[n]));
}

static void start(struct run *r)
{
	struct usc_program *program;

	put(r, INSN(END));
	program = fx_program(r->fx, r->code, r->insns, &r->group.limits);
	assert_non_null(program);
	fx_clear(r->fx);
	fx_fill(r->fx, 0, &r->group, program);
	r->task = usc_task(r->fx->usc, 0);
	fill(r);
}

static void finish(struct run *r)
{
	struct usc_program *program = usc_group(r->fx->usc, 0)->program;

	usc_group_start(r->fx->usc, 0);
	fx_run(r->fx, 10000);
	fx_put(r->fx, program);
}

static void run(struct run *r)
{
	start(r);
	finish(r);
}

static const u32 *temp(const struct run *r, u32 n)
{
	return r->fx->usc->unified + usc_wave_regs(r->task, 0) + n * PUMICE_LANES;
}

static void must_fault(const struct run *r, u32 pc)
{
	assert_int_equal(r->fx->faults, 1);
	assert_int_equal(r->fx->fault.fault, PUMICE_FAULT_USC_INDEX);
	assert_int_equal(r->fx->fault.pc, pc);
}

/* R4, R6, R8, R10 are 4 * lane, with 0, 128, 256, 384 added. */
static void put_offsets(struct run *r)
{
	put(r, INSN(SHL, .dst = R(4), .src0 = K(SID), .src1 = IMM, .imm = 2));
	for (u32 n = 1; n < 4; n++)
		put(r, INSN(ADD, .dst = R(4 + 2 * n), .src0 = R(4), .src1 = IMM, .imm = 128 * n));
}

static void usc_offsets_of_memory_are_indexed_lane_by_lane(void **state)
{
	struct run r;

	begin(&r, *state, &compute);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		r.v[0][l] = l * 7 % 4;
	put_offsets(&r);
	put(&r, INSN(GLOBAL_LOAD32, .dst = R(0), .mask = ALWAYS, .src2 = SH(6), .src0 = R_AT(4, 1),
		     .dim = PUMICE_USC_DIM_2));
	put(&r, INSN(LOCAL_STORE32, .mask = ALWAYS, .src0 = R_AT(4, 1), .src1 = R(0),
		     .dim = PUMICE_USC_DIM_2));
	put(&r, INSN(LOCAL_LOAD32, .dst = R(1), .mask = ALWAYS, .src0 = R_AT(4, 1),
		     .dim = PUMICE_USC_DIM_2));
	run(&r);
	assert_int_equal(r.fx->faults, 0);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		u32 word = l + 32 * (l * 7 % 4);

		assert_int_equal(temp(&r, 0)[l], word);
		assert_int_equal(temp(&r, 1)[l], word);
		assert_int_equal(((u32 *)(void *)r.fx->usc->local)[word], word);
	}
}

static void usc_base_of_memory_is_indexed_by_lane_0(void **state)
{
	static const u32 bank[] = { PUMICE_USC_BANK_SH, PUMICE_USC_BANK_R };

	for (u32 n = 0; n < 2; n++) {
		struct run r;

		begin(&r, *state, &compute);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			r.v[0][l] = l ? 0xffffffff : 2;	/* the others are not used */
		put_offsets(&r);
		/*
		 * Its words are in element 0 of neighbouring registers; other elements are not 0.
		 */
		put(&r, INSN(MOV, .dst = R(14), .mask = ALWAYS, .src0 = IMM, .imm = 0xbad));
		put(&r, INSN(MOV, .form = SCALAR_FORM, .dst = R_ELEM(14), .src0 = SH(14)));
		put(&r, INSN(MOV, .form = SCALAR_FORM, .dst = R_ELEM(15), .src0 = SH(15)));
		put(&r, INSN(GLOBAL_LOAD32, .dst = R(0), .mask = ALWAYS, .src0 = R(4),
			     .src2 = indexed(bank[n], 6, n, 1), .dim = PUMICE_USC_DIM_4));
		run(&r);
		assert_int_equal(r.fx->faults, 0);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			assert_int_equal(temp(&r, 0)[l], l + 8);
	}
}

/* The pair of a base has to exist: 18 + 1 is the last of 20 registers. */
static void usc_both_words_of_an_indexed_base_exist(void **state)
{
	for (u32 index = 12; index < 14; index++) {
		struct run r;

		begin(&r, *state, &compute);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			r.v[0][l] = index;
		put_offsets(&r);
		put(&r, INSN(GLOBAL_STORE32, .mask = ALWAYS, .src0 = R(4), .src1 = R(6),
			     .src2 = indexed(PUMICE_USC_BANK_SH, 6, false, 1)));
		run(&r);
		if (index == 12)
			assert_int_equal(r.fx->faults, 0);
		else
			must_fault(&r, 6);
	}
}

/* Three words to the registers that each lane selects, and the same ones back. */
static void usc_data_of_bursts_begins_at_the_register_of_each_lane(void **state)
{
	u32 *data;
	struct run r;

	begin(&r, *state, &compute);
	data = (u32 *)(void *)r.fx->data;
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		r.v[0][l] = l % 3;
		r.v[1][l] = (l + l % 2) % 3;
	}
	put(&r, INSN(MUL, .dst = R(4), .src0 = K(SID), .src1 = IMM, .imm = 12));
	put(&r, INSN(BURST_LOAD, .dst = R_AT(20, 1), .mask = ALWAYS, .src2 = SH(6), .src0 = R(4),
		     .words = 3, .dim = PUMICE_USC_DIM_4));
	put(&r, INSN(BURST_STORE, .src1 = R_AT(20, 2), .mask = ALWAYS, .src2 = SH(6), .src0 = R(4),
		     .words = 3, .disp = 4000, .dim = PUMICE_USC_DIM_4));
	run(&r);
	assert_int_equal(r.fx->faults, 0);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		for (u32 n = 0; n < 12; n++)
			assert_int_equal(temp(&r, 20 + n)[l],
					 n / 4 == l % 3 && n % 4 < 3 ? l * 3 + n % 4 : 0);
		for (u32 n = 0; n < 3; n++)	/* odd lanes store registers that were not loaded */
			assert_int_equal(data[1000 + l * 3 + n], l % 2 ? 0 : l * 3 + n);
	}
}

/* The last of 4 registers of one lane is R39 or R40, which does not exist; nothing is loaded. */
static void usc_every_register_of_an_indexed_operand_exists(void **state)
{
	for (u32 beyond = 0; beyond < 2; beyond++) {
		struct run r;

		begin(&r, *state, &compute);
		r.v[0][17] = 26 + beyond;
		put_offsets(&r);
		put(&r, INSN(GLOBAL_LOAD128, .dst = R_AT(10, 1), .mask = IF_NOT(MASK_K(ONE)),
			     .src2 = SH(6), .src0 = R(4)));
		put(&r, INSN(GLOBAL_LOAD128, .dst = R_AT(10, 1), .mask = ALWAYS, .src2 = SH(6),
			     .src0 = R(4)));
		run(&r);
		if (beyond) {
			must_fault(&r, 6);	/* whatever the mask */
			assert_int_equal(temp(&r, 10)[3], 3 * 4 + 384);
		} else {
			assert_int_equal(r.fx->faults, 0);
			assert_int_equal(temp(&r, 36)[17], 17);
			assert_int_equal(temp(&r, 39)[17], 20);
			assert_int_equal(temp(&r, 13)[16], 19);
		}
	}
}

/* A load writes the lanes of its mask: shared registers are scattered, others keep their values. */
static void usc_local_load_is_scattered_to_shared_registers(void **state)
{
	struct run r;

	begin(&r, *state, &compute);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		r.v[0][l] = l % 8;
	put_offsets(&r);
	put(&r, INSN(LOCAL_STORE32, .mask = ALWAYS, .src0 = R(4), .src1 = K(SID)));
	put(&r, INSN(LOCAL_LOAD32, .dst = indexed(PUMICE_USC_BANK_SH, 10, false, 1),
		     .mask = IF(MASK_K(LO16)), .src0 = R(4)));
	run(&r);
	assert_int_equal(r.fx->faults, 0);
	for (u32 n = 0; n < 8; n++)	/* lanes 8 to 15 take precedence */
		assert_int_equal(usc_shared(r.fx->usc, r.task)[10 + n], 8 + n);
	assert_int_equal(usc_shared(r.fx->usc, r.task)[9], 0xbad);
}

static void usc_condition_of_a_branch_is_indexed_by_lane_0(void **state)
{
	struct run r;

	begin(&r, *state, &compute);
	r.v[0][0] = 1;	/* SH5 is not 0, R1[0] is */
	put(&r, INSN(BRZ, .src0 = indexed(PUMICE_USC_BANK_SH, 4, false, 1), .target = 4));
	put(&r, INSN(BRZ, .src0 = indexed(PUMICE_USC_BANK_R, 0, true, 1), .target = 5));
	put(&r, INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = IMM, .imm = 1));
	put(&r, INSN(BRZ, .src0 = indexed(PUMICE_USC_BANK_SH, 19, false, 1), .target = 4));
	run(&r);
	must_fault(&r, 5);
	assert_int_equal(temp(&r, 0)[0], 0);
}

/* Planes of primitive p of set s: A, B, C of register n are 0, 0 and a number of the three. */
static void fill_planes(u32 *words, u32 set, u32 each)
{
	for (u32 p = 0; p < FRAGMENT_PRIMS; p++) {
		for (u32 n = 0; n < each; n++) {
			float c = n < 2 ? 0 : (float)(set * 1000 + p * 100 + n);

			memcpy(&words[p * each + n], &c, sizeof(c));
		}
	}
}

/* Every plane from register 1 on is (number, number, number) at x + y of the lane. */
static void run_planes(struct run *r, u32 bank, u32 num, u32 prim_step)
{
	static struct usc_span span[8];
	static struct usc_tile tile = { .words = 1, .samples = 1, .width = 32, .height = 32 };
	struct usc_gfx gfx = {
		.stage = USC_STAGE_FRAGMENT, .sample = USC_PIXEL_RATE, .tile = &tile, .span = span,
		.spans = 8, .coeffs = fragment.coeffs, .coeffs_alt = fragment.coeffs_alt,
	};

	for (u32 n = 0; n < 8; n++)
		span[n] = (struct usc_span){ .quad = (u8)n, .samples = 0x1111, .covered = 0x1111,
					     .live = 0x1111, .prim = (u8)(n * prim_step % 3) };
	r->group.gfx = &gfx;
	r->group.prims = FRAGMENT_PRIMS;
	put(r, INSN(ITR, .func = PUMICE_USC_ITERATE_LINEAR, .comps = 1, .dst = R(0),
		    .src0 = indexed(bank, num, false, 1), .dim = PUMICE_USC_DIM_2));
	start(r);
	fill_planes(usc_coeffs(r->fx->usc, r->task), 1, fragment.coeffs);
	fill_planes(usc_coeffs_alt(r->fx->usc, r->task), 2, fragment.coeffs_alt);
	finish(r);
}

static void usc_planes_are_indexed_lane_by_lane(void **state)
{
	/* The last planes begin at registers 7 of 10 and 4 of 7. */
	static const struct { u32 bank, set, num, most; } cases[] = {
		{ PUMICE_USC_BANK_CF, 1, 1, 3 }, { PUMICE_USC_BANK_CFA, 2, 0, 2 },
	};

	for (u32 n = 0; n < 4; n++) {
		const u32 set = cases[n / 2].set, num = cases[n / 2].num, most = cases[n / 2].most;
		struct run r;

		begin(&r, *state, &fragment);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			r.v[0][l] = l % (most + 1);
		run_planes(&r, cases[n / 2].bank, num, n % 2);
		assert_int_equal(r.fx->faults, 0);
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			u32 reg = num + l % (most + 1) * 2, quad = l / 4;
			u32 prim = quad * (n % 2) % 3;
			float x = (float)(quad * 2 + l % 2) + 0.5f, y = (float)(l % 4 / 2) + 0.5f;
			float abc[3], value;

			for (u32 k = 0; k < 3; k++)
				abc[k] = reg + k < 2 ? 0 :
					(float)(set * 1000 + prim * 100 + reg + k);
			memcpy(&value, &temp(&r, 0)[l], sizeof(value));
			assert_true(value == abc[0] * x + abc[1] * y + abc[2]);
		}
		begin(&r, *state, &fragment);
		r.v[0][9] = most + 1;
		run_planes(&r, cases[n / 2].bank, num, n % 2);
		must_fault(&r, 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FX_TEST(usc_offsets_of_memory_are_indexed_lane_by_lane),
		FX_TEST(usc_base_of_memory_is_indexed_by_lane_0),
		FX_TEST(usc_both_words_of_an_indexed_base_exist),
		FX_TEST(usc_data_of_bursts_begins_at_the_register_of_each_lane),
		FX_TEST(usc_every_register_of_an_indexed_operand_exists),
		FX_TEST(usc_local_load_is_scattered_to_shared_registers),
		FX_TEST(usc_condition_of_a_branch_is_indexed_by_lane_0),
		FX_TEST(usc_planes_are_indexed_lane_by_lane),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
