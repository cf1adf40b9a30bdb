// SPDX-License-Identifier: MIT
/*
 * Register banks beyond temporaries, attributes and shared registers, and the
 * operands that an index register selects: document 003, "Types of Registers".
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

/* Attributes: V0 is copied to an index register by most programs. */
static const struct usc_program_limits limits = {
	.temps = 40, .attrs = 4, .shared = 20, .coeffs = 18, .coeffs_alt = 12, .slot_regs = 3,
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
#define I(n) usc_operand(PUMICE_USC_BANK_I, (n), false)
#define SL(n) usc_operand(PUMICE_USC_BANK_SL, (n), false)
#define CF(n) usc_operand(PUMICE_USC_BANK_CF, (n), false)
#define CFA(n) usc_operand(PUMICE_USC_BANK_CFA, (n), false)

/* A program on one task, and the contents of its rows before and after. */
struct run {
	struct fixture *fx;
	struct usc_program *program;
	struct usc_task *task;
	u32 code[MAX_INSNS * PUMICE_USC_WORDS];
	u32 insns;
	u32 v[4][PUMICE_LANES];		/* attributes of every wave */
};

static void put(struct run *r, struct pumice_usc_insn insn)
{
	usc_put(r->code, r->insns++, insn);
}

/* Its first instruction; IDX0 becomes V0. */
static void begin(struct run *r, struct fixture *fx)
{
	memset(r, 0, sizeof(*r));
	r->fx = fx;
	put(r, INSN(MOV, .dst = IDX(0), .mask = ALWAYS, .src0 = V(0)));
}

/*
 * Shared register n is 1000 + n, coefficient n is 2000 + n, of the alternate set 3000 + n;
 * temporaries are the program's.
 * The address of the data is in the shared registers 0 and 1, and 10 and 11 of the alternate
 * set.
 */
static void run(struct run *r, u32 instances)
{
	const struct fx_group group = {
		.tasks = 1, .instances = { instances }, .limits = limits, .local_bytes = 256,
	};

	put(r, INSN(END));
	r->program = fx_program(r->fx, r->code, r->insns, &limits);
	assert_non_null(r->program);
	fx_clear(r->fx);
	fx_fill(r->fx, 0, &group, r->program);
	r->task = usc_task(r->fx->usc, 0);
	for (u32 n = 0; n < limits.shared; n++)
		usc_shared(r->fx->usc, r->task)[n] = 1000 + n;
	for (u32 n = 0; n < limits.coeffs; n++)
		usc_coeffs(r->fx->usc, r->task)[n] = 2000 + n;
	for (u32 n = 0; n < limits.coeffs_alt; n++)
		usc_coeffs_alt(r->fx->usc, r->task)[n] = 3000 + n;
	usc_coeffs_alt(r->fx->usc, r->task)[10] = (u32)FX_DATA;
	usc_coeffs_alt(r->fx->usc, r->task)[11] = (u32)(FX_DATA >> 32);
	usc_coeffs_alt(r->fx->usc, r->task)[10 + PUMICE_LANES] = 0xbad;
	fx_set_base(r->fx, 0, FX_DATA);
	for (u32 w = 0; w < r->task->waves; w++) {
		for (u32 n = 0; n < 4; n++)
			memcpy(usc_attr(r->fx->usc, r->task, w, n), r->v[n], sizeof(r->v[n]));
	}
	usc_group_start(r->fx->usc, 0);
	fx_run(r->fx, 10000);
	fx_put(r->fx, r->program);
}

static const u32 *temp(const struct run *r, u32 wave, u32 n)
{
	return r->fx->usc->unified + usc_wave_regs(r->task, wave) + n * PUMICE_LANES;
}

static void must_fault(const struct run *r, enum pumice_fault fault, u32 pc)
{
	assert_int_equal(r->fx->faults, 1);
	assert_int_equal(r->fx->fault.fault, fault);
	assert_int_equal(r->fx->fault.pc, pc);
}

/* R0 to R39 are their number times 100 plus the lane's. */
static void put_numbered_temps(struct run *r, u32 count)
{
	for (u32 n = 0; n < count; n++)
		put(r, INSN(ADD, .dst = R(n), .src0 = K(SID), .src1 = IMM, .imm = n * 100));
}

static void usc_vector_operand_is_indexed_lane_by_lane(void **state)
{
	struct run r;

	begin(&r, *state);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		r.v[0][l] = l % 3;
	put_numbered_temps(&r, 6);
	/* R1[IDX0, 2]: registers 1, 3, 5. */
	put(&r, INSN(MOV, .dst = R(39), .mask = ALWAYS, .dim = PUMICE_USC_DIM_2,
		     .src0 = indexed(PUMICE_USC_BANK_R, 1, false, 1)));
	run(&r, PUMICE_LANES);
	assert_int_equal(r.fx->faults, 0);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(temp(&r, 0, 39)[l], (1 + l % 3 * 2) * 100 + l);
}

static void usc_every_dimension_multiplies_the_index(void **state)
{
	struct run r;

	for (u32 dim = 0; dim < PUMICE_USC_DIM_COUNT; dim++) {
		begin(&r, *state);
		memset(r.v[0], 0, sizeof(r.v[0]));
		for (u32 l = 0; l < PUMICE_LANES; l++)
			r.v[0][l] = 1;
		put(&r, INSN(ADD, .dst = R(0), .src0 = K(ZERO), .dim = (u8)dim,
			     .src1 = indexed(PUMICE_USC_BANK_CF, 1, false, 1)));
		run(&r, 1);
		assert_int_equal(r.fx->faults, 0);
		assert_int_equal(temp(&r, 0, 0)[0], 2001 + (1 << dim));
	}
}

static void usc_scalar_operand_is_indexed_by_lane_0(void **state)
{
	struct run r;

	begin(&r, *state);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		r.v[0][l] = l ? 0xffffffff : 5;	/* the others would be far out of range */
	put_numbered_temps(&r, 8);
	put(&r, INSN(ROTATE, .dst = R(20), .src0 = K(SID),
		     .src1 = indexed(PUMICE_USC_BANK_SH, 3, false, 1)));
	put(&r, INSN(ADD, .dst = R(21), .src0 = K(ZERO),
		     .src1 = indexed(PUMICE_USC_BANK_R, 2, true, 1)));
	put(&r, INSN(MOV, .form = SCALAR_FORM, .src0 = IMM, .imm = 77,
		     .dst = indexed(PUMICE_USC_BANK_SH, 4, false, 1)));
	put(&r, INSN(MOV, .form = SCALAR_FORM, .src0 = IMM, .imm = 78,
		     .dst = indexed(PUMICE_USC_BANK_R, 25, true, 1)));
	put(&r, INSN(ADD, .form = SCALAR_FORM, .dst = R_ELEM(22), .src0 = IMM, .imm = 1,
		     .src1 = indexed(PUMICE_USC_BANK_CF, 4, false, 1)));
	put(&r, INSN(BALLOT, .dst = indexed(PUMICE_USC_BANK_CF, 5, false, 1),
		     .mask = (u16)IF(MASK_K(LO16))));
	run(&r, PUMICE_LANES);
	assert_int_equal(r.fx->faults, 0);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		assert_int_equal(temp(&r, 0, 20)[l], (l + 1008) % 32);
		assert_int_equal(temp(&r, 0, 21)[l], 700);
		assert_int_equal(temp(&r, 0, 30)[l], l ? 0 : 78);
	}
	assert_int_equal(temp(&r, 0, 22)[0], 2010);
	assert_int_equal(usc_shared(r.fx->usc, r.task)[9], 77);
	assert_int_equal(usc_coeffs(r.fx->usc, r.task)[10], 0x0000ffff);
}

static void usc_shared_and_coefficient_operands_are_gathered_lane_by_lane(void **state)
{
	struct run r;

	begin(&r, *state);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		r.v[0][l] = l < 30 ? (l * 5) % 8 : 0xffffffff;	/* the last two are not valid */
	put(&r, INSN(ADD, .dst = R(0), .src0 = K(ZERO), .dim = PUMICE_USC_DIM_2,
		     .src1 = indexed(PUMICE_USC_BANK_SH, 3, false, 1)));
	put(&r, INSN(SELECT, .dst = R(1), .mask = (u16)IF(MASK_K(LO16)),
		     .src0 = indexed(PUMICE_USC_BANK_CF, 2, false, 1),
		     .src1 = indexed(PUMICE_USC_BANK_SH, 4, false, 1)));
	run(&r, 30);
	assert_int_equal(r.fx->faults, 0);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		u32 at = (l * 5) % 8;

		assert_int_equal(temp(&r, 0, 0)[l], l < 30 ? 1003 + 2 * at : 0);
		assert_int_equal(temp(&r, 0, 1)[l], l < 16 ? 1004 + at : l < 30 ? 2002 + at : 0);
	}
}

/* Registers 4 to 11, four lanes each: the highest that is valid and not masked remains. */
static void usc_highest_lane_wins_if_lanes_write_to_one_shared_register(void **state)
{
	struct run r;

	begin(&r, *state);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		r.v[0][l] = l % 8;
	put(&r, INSN(ADD, .dst = indexed(PUMICE_USC_BANK_SH, 4, false, 1), .src0 = K(SID),
		     .src1 = IMM, .imm = 100));
	put(&r, INSN(MOV, .dst = indexed(PUMICE_USC_BANK_CF, 1, false, 1),
		     .mask = (u16)IF(MASK_K(LO16)), .src0 = K(SID)));
	put(&r, INSN(REDUCE_PART, .dst = indexed(PUMICE_USC_BANK_CF, 10, false, 1),
		     .src0 = K(ONE)));
	run(&r, 30);
	assert_int_equal(r.fx->faults, 0);
	for (u32 n = 0; n < 8; n++) {
		assert_int_equal(usc_shared(r.fx->usc, r.task)[4 + n], n < 6 ? 124 + n : 116 + n);
		assert_int_equal(usc_coeffs(r.fx->usc, r.task)[1 + n], 8 + n);
		assert_int_equal(usc_coeffs(r.fx->usc, r.task)[10 + n], n ? 2010 + n : 6);
	}
	assert_int_equal(usc_shared(r.fx->usc, r.task)[3], 1003);
	assert_int_equal(usc_shared(r.fx->usc, r.task)[12], 1012);
}

static void usc_indexed_destination_changes_only_in_lanes_that_are_written(void **state)
{
	struct run r;

	begin(&r, *state);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		r.v[0][l] = l % 2;
	put_numbered_temps(&r, 3);
	put(&r, INSN(MOV, .dst = indexed(PUMICE_USC_BANK_R, 1, false, 1),
		     .mask = (u16)IF(MASK_K(LO16)), .src0 = IMM, .imm = 9));
	put(&r, INSN(REDUCE_PART, .dst = indexed(PUMICE_USC_BANK_R, 10, false, 1),
		     .src0 = K(ONE)));
	run(&r, PUMICE_LANES);
	assert_int_equal(r.fx->faults, 0);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		assert_int_equal(temp(&r, 0, 0)[l], l);
		assert_int_equal(temp(&r, 0, 1)[l], l < 16 && l % 2 == 0 ? 9 : 100 + l);
		assert_int_equal(temp(&r, 0, 2)[l], l < 16 && l % 2 == 1 ? 9 : 200 + l);
		assert_int_equal(temp(&r, 0, 10)[l], l % 8 ? 0 : 8);
		assert_int_equal(temp(&r, 0, 11)[l], 0);
	}
}

/* Write an instruction with operand o as source or destination after the copy to IDX0. */
static void put_use(struct run *r, u32 o, bool dst, u8 dim)
{
	if (dst)
		put(r, INSN(ADD, .dst = o, .src0 = V(1), .src1 = V(2), .dim = dim));
	else
		put(r, INSN(ADD, .dst = R(30), .src0 = V(2), .src1 = o, .dim = dim));
}

static void assert_fault_lane(const struct run *r, u32 lane)
{
	assert_true(r->fx->fault.lane_known);
	assert_int_equal(r->fx->fault.lane, lane);
}

static void usc_index_beyond_the_allocation_faults(void **state)
{
	/* The last valid index of R3[IDX0, D] and V1[IDX0, D], and overflowing ones. */
	static const struct { u8 bank, dim; u32 num, last; } cases[] = {
		{ PUMICE_USC_BANK_R, PUMICE_USC_DIM_1, 3, 36 },
		{ PUMICE_USC_BANK_R, PUMICE_USC_DIM_4, 3, 9 },
		{ PUMICE_USC_BANK_R, PUMICE_USC_DIM_16, 39, 0 },
		{ PUMICE_USC_BANK_V, PUMICE_USC_DIM_2, 1, 1 },
		{ PUMICE_USC_BANK_SH, PUMICE_USC_DIM_1, 3, 16 },
		{ PUMICE_USC_BANK_CF, PUMICE_USC_DIM_8, 1, 2 },
	};
	static const u32 beyond[] = { 0x80000000, 0x40000000, 0x10000000, 0xffffffff, 0xfffffffe };
	struct run r;

	for (u32 n = 0; n < 2 * sizeof(cases) / sizeof(cases[0]); n++) {
		u32 o = indexed(cases[n / 2].bank, cases[n / 2].num, false, 1);

		for (u32 step = 0; step < 2 + sizeof(beyond) / sizeof(beyond[0]); step++) {
			begin(&r, *state);
			r.v[0][7] = step < 2 ? cases[n / 2].last + step : beyond[step - 2];
			put_use(&r, o, n % 2, cases[n / 2].dim);
			run(&r, PUMICE_LANES);
			if (!step) {
				assert_int_equal(r.fx->faults, 0);
				continue;
			}
			must_fault(&r, PUMICE_FAULT_USC_INDEX, 1);
			assert_fault_lane(&r, 7);
		}
	}
}

static void usc_scalar_index_beyond_the_allocation_faults(void **state)
{
	struct run r;

	for (u32 last = 0; last < 2; last++) {
		begin(&r, *state);
		r.v[0][0] = 14 + last;	/* CF3 to CF17 */
		put(&r, INSN(ADD, .form = SCALAR_FORM, .dst = R_ELEM(0), .src0 = V_ELEM(1),
			     .src1 = indexed(PUMICE_USC_BANK_CF, 3, false, 1)));
		run(&r, PUMICE_LANES);
		if (!last) {
			assert_int_equal(temp(&r, 0, 0)[0], 2017);
			continue;
		}
		must_fault(&r, PUMICE_FAULT_USC_INDEX, 1);
		assert_fault_lane(&r, 0);
	}
}

static void usc_index_of_a_lane_that_is_not_valid_never_faults(void **state)
{
	struct run r;

	begin(&r, *state);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		r.v[0][l] = l < 4 ? l : l % 2 ? 0xffffffff : 1;
		r.v[1][l] = 50 + l;
	}
	put_numbered_temps(&r, 4);
	put(&r, INSN(MOV, .dst = R(20), .mask = ALWAYS,
		     .src0 = indexed(PUMICE_USC_BANK_R, 0, false, 1)));
	put(&r, INSN(ADD, .dst = indexed(PUMICE_USC_BANK_R, 30, false, 1), .src0 = V(1),
		     .src1 = K(ZERO)));
	run(&r, 4);
	assert_int_equal(r.fx->faults, 0);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		assert_int_equal(temp(&r, 0, 20)[l], l < 4 ? l * 100 + l : l % 2 ? 0 : 100 + l);
		assert_int_equal(temp(&r, 0, 31)[l], l == 1 || (l >= 4 && l % 2 == 0) ? 50 + l : 0);
	}
}

static void usc_slot_register_takes_the_value_of_the_first_active_lane(void **state)
{
	struct run r;
	const u32 *sl;

	begin(&r, *state);
	put(&r, INSN(MOV, .dst = SL(0), .mask = (u16)IF_NOT(MASK_K(LO16)), .src0 = K(SID)));
	put(&r, INSN(ADD, .dst = SL(1), .src0 = K(SID), .src1 = IMM, .imm = 40));
	put(&r, INSN(MOV, .dst = SL(2), .mask = (u16)IF(MASK_K(ZERO)), .src0 = K(SID)));
	put(&r, INSN(LOCAL_LOAD32, .dst = SL(2), .mask = (u16)IF(MASK_K(ZERO)), .src0 = V(1)));
	/* As a vector, and as a scalar. */
	put(&r, INSN(ADD, .dst = R(0), .src0 = SL(1), .src1 = SL(0)));
	put(&r, INSN(BALLOT, .dst = SL(2), .mask = (u16)IF(MASK_K(CH2))));
	run(&r, 20);
	sl = r.fx->usc->slot_reg[0];
	assert_int_equal(sl[0], 16);
	assert_int_equal(sl[1], 40);
	assert_int_equal(sl[2], 0x00033333);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(temp(&r, 0, 0)[l], 56);
}

static void usc_slot_register_keeps_its_value_without_an_active_lane(void **state)
{
	struct run r;

	begin(&r, *state);
	put(&r, INSN(MOV, .dst = SL(0), .mask = ALWAYS, .src0 = IMM, .imm = 5));
	/* True in lanes 16 and up, of which none is valid. */
	put(&r, INSN(MOV, .dst = SL(0), .mask = (u16)IF_NOT(MASK_K(LO16)), .src0 = K(SID)));
	run(&r, 16);
	assert_int_equal(r.fx->usc->slot_reg[0][0], 5);
}

static void usc_slot_registers_are_shared_by_the_waves_of_a_task(void **state)
{
	struct run r;
	u32 wave, l;

	begin(&r, *state);
	put(&r, INSN(BRNZ, .src0 = SR_ELEM(WAVE_IN_GROUP), .target = 3));
	put(&r, INSN(MOV, .dst = SL(1), .mask = ALWAYS, .src0 = IMM, .imm = 11));
	put(&r, INSN(BARRIER));
	/* As a scalar, and as a vector register. */
	put(&r, INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = SL(1)));
	put(&r, INSN(ADD, .dst = R(1), .src0 = SL(1), .src1 = K(ZERO)));
	run(&r, 64);
	for (wave = 0; wave < 2; wave++) {
		for (l = 0; l < PUMICE_LANES; l++) {
			assert_int_equal(temp(&r, wave, 0)[l], 11);
			assert_int_equal(temp(&r, wave, 1)[l], 11);
		}
	}
}

/* Again in the slot of an earlier task, which wrote to it. */
static void usc_slot_registers_start_at_zero(void **state)
{
	struct run r;
	u32 again;

	for (again = 0; again < 2; again++) {
		begin(&r, *state);
		put(&r, INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = SL(1)));
		put(&r, INSN(MOV, .dst = SL(1), .mask = ALWAYS, .src0 = IMM, .imm = 11));
		run(&r, 32);
		assert_int_equal(temp(&r, 0, 0)[0], 0);
		assert_int_equal(r.fx->usc->slot_reg[0][1], 11);
	}
}

/*
 * Each wave of a task writes the same register, in an order set by barriers: all waves
 * read the last value.
 */
static void usc_slot_register_has_the_value_written_last(void **state)
{
	struct run r;
	u32 wave;

	begin(&r, *state);
	put(&r, INSN(BRNZ, .src0 = SR_ELEM(WAVE_IN_GROUP), .target = 3));
	put(&r, INSN(MOV, .dst = SL(1), .mask = ALWAYS, .src0 = IMM, .imm = 11));
	put(&r, INSN(BARRIER));
	put(&r, INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = SL(1)));
	put(&r, INSN(BARRIER));
	put(&r, INSN(BRZ, .src0 = SR_ELEM(WAVE_IN_GROUP), .target = 8));
	put(&r, INSN(ADD, .dst = SL(1), .src0 = SL(1), .src1 = IMM, .imm = 100));
	put(&r, INSN(BARRIER));
	put(&r, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = SL(1)));
	run(&r, 64);
	for (wave = 0; wave < 2; wave++) {
		assert_int_equal(temp(&r, wave, 0)[31], 11);
		assert_int_equal(temp(&r, wave, 1)[31], 111);
	}
	assert_int_equal(r.fx->usc->slot_reg[0][1], 111);
}

/*
 * Two waves write one register without a barrier, twice: both read the value of the lower
 * wave, in each order of execution, also if a slow loop delays that wave.
 */
static void usc_slot_register_takes_the_value_of_the_first_instance_of_the_task(void **state)
{
	struct run r;

	for (u32 late = 0; late < 2; late++) {
		begin(&r, *state);
		put(&r, INSN(EQ, .form = SCALAR_FORM, .dst = R_ELEM(4), .src0 = IMM, .imm = late,
			     .src1 = SR_ELEM(WAVE_IN_GROUP)));
		put(&r, INSN(MUL, .form = SCALAR_FORM, .dst = R_ELEM(4), .src0 = R_ELEM(4),
			     .src1 = IMM, .imm = 1000));
		put(&r, INSN(BRZ, .src0 = R_ELEM(4), .target = 6));
		put(&r, INSN(SUB, .form = SCALAR_FORM, .dst = R_ELEM(4), .src0 = R_ELEM(4),
			     .src1 = IMM, .imm = 1));
		put(&r, INSN(BRNZ, .src0 = R_ELEM(4), .target = 4));
		put(&r, INSN(ADD, .dst = SL(1), .src0 = SR(INSTANCE), .src1 = IMM, .imm = 500));
		put(&r, INSN(ADD, .dst = R(0), .src0 = SL(1), .src1 = K(ZERO)));
		/* True in instances of the upper wave only. */
		put(&r, INSN(GE, .dst = R(1), .src0 = SR(INSTANCE), .src1 = IMM, .imm = 40));
		put(&r, INSN(MOV, .dst = SL(1), .mask = (u16)IF(MASK_R(1)), .src0 = SR(INSTANCE)));
		put(&r, INSN(ADD, .dst = R(2), .src0 = SL(1), .src1 = K(ZERO)));
		run(&r, 64);
		assert_int_equal(r.fx->faults, 0);
		for (u32 i = 0; i < 64; i++) {
			assert_int_equal(temp(&r, i / 32, 0)[i % 32], 500);
			assert_int_equal(temp(&r, i / 32, 2)[i % 32], 40);
		}
	}
}

/* A loop counter: every wave of the task runs the loop as often as the task counts. */
static void usc_slot_register_counts_once_for_the_task(void **state)
{
	struct run r;

	begin(&r, *state);
	put(&r, INSN(ADD, .dst = SL(0), .src0 = SL(0), .src1 = IMM, .imm = 1));
	put(&r, INSN(ADD, .dst = R(0), .src0 = R(0), .src1 = K(ONE)));
	put(&r, INSN(LT, .dst = R(1), .src0 = SL(0), .src1 = IMM, .imm = 300));
	put(&r, INSN(BR_ANY, .mask = (u16)IF(MASK_R(1)), .target = 1));
	run(&r, 128);
	assert_int_equal(r.fx->usc->slot_reg[0][0], 300);
	for (u32 wave = 0; wave < 4; wave++)
		assert_int_equal(temp(&r, wave, 0)[0], 300);
}

/*
 * Waves that execute different writes: the lowest waiting wave's instruction is first, and one
 * wave at a barrier or ended is not waited for. A scalar result obeys the same rule.
 */
static void usc_slot_writes_of_waves_apart_follow_the_lowest_wave(void **state)
{
	struct run r;

	begin(&r, *state);
	put(&r, INSN(BRNZ, .src0 = SR_ELEM(WAVE_IN_GROUP), .target = 4));
	put(&r, INSN(ADD, .dst = SL(0), .src0 = SL(0), .src1 = IMM, .imm = 5));
	put(&r, INSN(BALLOT, .dst = SL(1), .mask = (u16)IF(MASK_K(LO16))));
	/* Wave 0 goes past the next write, then all meet at the ballot. */
	put(&r, INSN(MUL, .dst = SL(0), .src0 = SL(0), .src1 = IMM, .imm = 3));
	put(&r, INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = SL(0)));
	put(&r, INSN(BALLOT, .dst = SL(2), .mask = (u16)IF(MASK_K(ONE))));
	put(&r, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = SL(2)));
	run(&r, 40);
	/* (0 + 5) * 3 by both waves at once: the upper one waited at the product. */
	for (u32 wave = 0; wave < 2; wave++) {
		assert_int_equal(temp(&r, wave, 0)[0], 15);
		assert_int_equal(temp(&r, wave, 1)[0], 0xffffffff);
	}
	assert_int_equal(r.fx->usc->slot_reg[0][1], 0x0000ffff);
}

/* Two tasks of a group, each in a slot of its own: no task reads the other's values. */
static void usc_slot_registers_of_two_tasks_are_separate(void **state)
{
	const struct fx_group group = {
		.tasks = 2, .instances = { 64, 64 }, .limits = limits, .local_bytes = 256,
	};
	struct run r;
	u32 task, wave;

	begin(&r, *state);
	put(&r, INSN(ADD, .dst = SL(1), .src0 = K(ZERO), .src1 = SH(2)));
	put(&r, INSN(BARRIER));
	put(&r, INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = SL(1)));
	put(&r, INSN(END));
	r.program = fx_program(r.fx, r.code, r.insns, &limits);
	assert_non_null(r.program);
	fx_clear(r.fx);
	fx_fill(r.fx, 0, &group, r.program);
	for (task = 0; task < 2; task++)
		usc_shared(r.fx->usc, usc_task(r.fx->usc, task))[2] = 1000 * (task + 1);
	usc_group_start(r.fx->usc, 0);
	fx_run(r.fx, 10000);
	fx_put(r.fx, r.program);
	for (task = 0; task < 2; task++) {
		r.task = usc_task(r.fx->usc, task);
		for (wave = 0; wave < 2; wave++)
			assert_int_equal(temp(&r, wave, 0)[0], 1000 * (task + 1));
	}
}

static void usc_internal_and_index_registers_belong_to_one_wave_and_start_at_zero(void **state)
{
	struct run r;

	for (u32 again = 0; again < 2; again++) {
		begin(&r, *state);
		put(&r, INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = I(4)));
		put(&r, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = IDX(1)));
		put(&r, INSN(ADD, .dst = I(4), .src0 = I(4), .src1 = SR(INSTANCE)));
		put(&r, INSN(ADD, .dst = IDX(1), .src0 = I(4), .src1 = IMM, .imm = 7));
		put(&r, INSN(MOV, .dst = R(2), .mask = ALWAYS, .src0 = I(4)));
		put(&r, INSN(MOV, .dst = R(3), .mask = ALWAYS, .src0 = IDX(1)));
		run(&r, 64);
		for (u32 i = 0; i < 64; i++) {
			assert_int_equal(temp(&r, i / 32, 0)[i % 32], 0);
			assert_int_equal(temp(&r, i / 32, 1)[i % 32], 0);
			assert_int_equal(temp(&r, i / 32, 2)[i % 32], i);
			assert_int_equal(temp(&r, i / 32, 3)[i % 32], i + 7);
		}
	}
}

#define OFFSET(n) usc_operand(PUMICE_USC_BANK_SR, PUMICE_USC_SR_SR36 + (n), false)

/* 5 internal registers from the first offset register on, 3 slot registers from the last on. */
static void usc_offset_registers_are_the_internal_and_slot_registers(void **state)
{
	struct run r;

	begin(&r, *state);
	put(&r, INSN(ADD, .dst = I(4), .src0 = SR(INSTANCE), .src1 = IMM, .imm = 50));
	put(&r, INSN(ADD, .dst = SL(2), .src0 = K(ZERO), .src1 = IMM, .imm = 70));
	put(&r, INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = OFFSET(4)));
	put(&r, INSN(ADD, .dst = R(1), .src0 = OFFSET(5), .src1 = K(SID)));
	put(&r, INSN(ADD, .dst = OFFSET(0), .src0 = SR(INSTANCE), .src1 = IMM, .imm = 90));
	put(&r, INSN(MOV, .dst = OFFSET(7), .mask = ALWAYS, .src0 = SR(INSTANCE)));
	put(&r, INSN(MOV, .dst = R(2), .mask = ALWAYS, .src0 = I(0)));
	put(&r, INSN(ADD, .dst = R(3), .src0 = SL(0), .src1 = K(ZERO)));
	put(&r, INSN(MOV, .form = SCALAR_FORM, .src0 = IMM, .imm = 11,
		     .dst = usc_operand(PUMICE_USC_BANK_SR, PUMICE_USC_SR_SR36 + 1, true)));
	put(&r, INSN(MOV, .dst = R(4), .mask = ALWAYS, .src0 = I(1)));
	run(&r, 64);
	assert_int_equal(r.fx->faults, 0);
	for (u32 i = 0; i < 64; i++) {
		assert_int_equal(temp(&r, i / 32, 0)[i % 32], 50 + i);
		assert_int_equal(temp(&r, i / 32, 1)[i % 32], 70 + i % 32);
		assert_int_equal(temp(&r, i / 32, 2)[i % 32], 90 + i);
		assert_int_equal(temp(&r, i / 32, 3)[i % 32], 0);	/* of the first instance */
		assert_int_equal(temp(&r, i / 32, 4)[i % 32], i % 32 ? 0 : 11);
	}
}

static void usc_special_registers_have_the_sizes_of_group_and_task(void **state)
{
	struct run r;

	begin(&r, *state);
	put(&r, INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = SR(WAVES_IN_GROUP)));
	put(&r, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = SR(TASKS_IN_GROUP)));
	put(&r, INSN(MOV, .dst = R(2), .mask = ALWAYS, .src0 = SR(INSTANCES_IN_TASK)));
	put(&r, INSN(MOV, .dst = R(3), .mask = ALWAYS, .src0 = SR(BYTES_OF_LOCAL)));
	run(&r, 70);
	assert_int_equal(r.fx->faults, 0);
	for (u32 w = 0; w < 3; w++) {
		assert_int_equal(temp(&r, w, 0)[31], 3);
		assert_int_equal(temp(&r, w, 1)[31], 1);
		assert_int_equal(temp(&r, w, 2)[31], 70);
		assert_int_equal(temp(&r, w, 3)[31], 256);
	}
}

/* Constants in the even blocks of 32 numbers, all of which exist; registers in the odd ones. */
static void usc_special_constants_and_registers_are_interleaved_by_32(void **state)
{
	u32 constants = 0;

	(void)state;
	for (u32 n = 0; n < pumice_usc_isa.nr_specials; n++) {
		const struct pumice_isa_special *s = &pumice_usc_isa.specials[n];

		if (s->bank == PUMICE_USC_BANK_SC) {
			assert_int_equal(s->space, s->number);
			assert_int_equal(s->space / 32 % 2, 0);
			constants++;
		} else if (s->bank == PUMICE_USC_BANK_SR) {
			assert_int_equal(s->space / 32 % 2, 1);
			assert_true(s->space < 64);	/* 6 bits are sufficient */
			assert_int_equal(s->writable, s->space >= 36 && s->space <= 43);
		}
	}
	assert_int_equal(constants, 4 * 32);
}

static void usc_coefficients_follow_the_shared_registers(void **state)
{
	struct run r;

	begin(&r, *state);
	put(&r, INSN(ADD, .dst = R(0), .src0 = K(ZERO), .src1 = CF(17)));
	put(&r, INSN(MOV, .form = SCALAR_FORM, .dst = CF(0), .src0 = IMM, .imm = 3));
	run(&r, 1);
	assert_int_equal(temp(&r, 0, 0)[31], 2017);
	assert_int_equal(usc_shared(r.fx->usc, r.task)[limits.shared], 3);
	assert_int_equal(usc_shared(r.fx->usc, r.task)[limits.shared - 1],
			 1000 + limits.shared - 1);
}

/* Document 003: the alternate set is an allocation of its own, and like the normal one. */
static void usc_alternate_coefficients_follow_the_normal_ones(void **state)
{
	struct run r;

	begin(&r, *state);
	put(&r, INSN(ADD, .dst = R(0), .src0 = K(ZERO), .src1 = CFA(9)));
	put(&r, INSN(ADD, .dst = R(1), .src0 = K(ZERO), .src1 = CF(9)));
	put(&r, INSN(MOV, .form = SCALAR_FORM, .dst = CFA(0), .src0 = IMM, .imm = 3));
	run(&r, 1);
	assert_int_equal(r.fx->faults, 0);
	assert_int_equal(temp(&r, 0, 0)[31], 3009);
	assert_int_equal(temp(&r, 0, 1)[31], 2009);
	assert_int_equal(usc_shared(r.fx->usc, r.task)[limits.shared + limits.coeffs], 3);
	assert_int_equal(usc_coeffs(r.fx->usc, r.task)[limits.coeffs - 1], 2017);
}

/*
 * Each lane has an index of its own, the scalar form that of lane 0; the allocation is the limit.
 */
static void usc_alternate_coefficients_are_indexed(void **state)
{
	struct run r;

	begin(&r, *state);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		r.v[0][l] = (l + 3) % 4;
	put(&r, INSN(MOV, .dst = R(0), .mask = ALWAYS, .dim = PUMICE_USC_DIM_2,
		     .src0 = indexed(PUMICE_USC_BANK_CFA, 3, false, 1)));
	put(&r, INSN(ADD, .form = SCALAR_FORM, .dst = R_ELEM(1), .src0 = IMM,
		     .src1 = indexed(PUMICE_USC_BANK_CFA, 1, false, 1)));
	put(&r, INSN(MOV, .dst = indexed(PUMICE_USC_BANK_CFA, 0, false, 1), .mask = ALWAYS,
		     .src0 = K(SID)));
	put(&r, INSN(MOV, .dst = R(2), .mask = ALWAYS, .dim = PUMICE_USC_DIM_2,
		     .src0 = indexed(PUMICE_USC_BANK_CFA, 6, false, 1)));
	run(&r, 32);
	must_fault(&r, PUMICE_FAULT_USC_INDEX, 4);	/* 6 + 3 * 2 */
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(temp(&r, 0, 0)[l], 3003 + (l + 3) % 4 * 2);
	assert_int_equal(temp(&r, 0, 1)[0], 3004);
	for (u32 n = 0; n < limits.coeffs_alt; n++)
		assert_int_equal(usc_coeffs_alt(r.fx->usc, r.task)[n],
				 n < 4 ? 28 + (n + 1) % 4 : n == 10 ? (u32)FX_DATA :
				 n == 11 ? (u32)(FX_DATA >> 32) : 3000 + n);
}

static void usc_base_address_in_the_alternate_set_is_two_words(void **state)
{
	struct fixture *fx = *state;
	struct run r;

	for (u32 n = 0; n < PUMICE_LANES; n++)
		((u32 *)(void *)fx->data)[n] = 7 * n;
	begin(&r, fx);
	put(&r, INSN(SHL, .dst = R(1), .src0 = K(SID), .src1 = IMM, .imm = 2));
	put(&r, INSN(GLOBAL_LOAD32, .dst = R(0), .mask = ALWAYS, .src0 = R(1), .src2 = CFA(10)));
	run(&r, 32);
	assert_int_equal(fx->faults, 0);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(temp(&r, 0, 0)[l], 7 * l);
}

/* The window begins 40 bytes before the end of a page. */
#define WINDOW_DISP 4056u

static void put_window(struct run *r, u32 words)
{
	put(r, INSN(DC_WINDOW, .src2 = SH(0), .disp = WINDOW_DISP, .words = (u16)words));
}

static void put_dc_read(struct run *r, u32 num, u8 dim)
{
	put(r, INSN(MOV, .dst = R(0), .mask = ALWAYS, .dim = dim,
		    .src0 = indexed(PUMICE_USC_BANK_DC, num, false, 1)));
}

static void usc_dynamic_constants_are_read_from_memory_lane_by_lane(void **state)
{
	struct fixture *fx = *state;
	struct run r;

	for (u32 n = 0; n < FX_DATA_BYTES / 4; n++)
		((u32 *)(void *)fx->data)[n] = n * 3;
	begin(&r, fx);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		r.v[0][l] = l < 28 ? (31 - l) * 5 : 0xffffffff;	/* from lane 28 on not valid */
	put_window(&r, 400);
	put_dc_read(&r, 2, PUMICE_USC_DIM_2);
	run(&r, 28);
	assert_int_equal(fx->faults, 0);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		u32 word = WINDOW_DISP / 4 + 2 + (31 - l) * 10;

		assert_int_equal(temp(&r, 0, 0)[l], l < 28 ? word * 3 : 0);
	}
}

static void usc_dynamic_constants_end_where_their_window_ends(void **state)
{
	struct run r;

	for (u32 words = 20; words <= 21; words++) {
		begin(&r, *state);
		r.v[0][9] = 16;
		put_window(&r, words);
		put_dc_read(&r, 4, PUMICE_USC_DIM_1);	/* number 20 */
		run(&r, PUMICE_LANES);
		if (words == 20)
			must_fault(&r, PUMICE_FAULT_USC_INDEX, 2);
		else
			assert_int_equal(r.fx->faults, 0);
	}
	begin(&r, *state);
	r.v[0][9] = 0xfffffffc;	/* 4 + it is 0 modulo 2^32 */
	put_window(&r, 21);
	put_dc_read(&r, 4, PUMICE_USC_DIM_1);
	run(&r, PUMICE_LANES);
	must_fault(&r, PUMICE_FAULT_USC_INDEX, 2);
}

static void usc_has_no_dynamic_constants_before_the_first_window(void **state)
{
	struct run r;

	begin(&r, *state);
	put_dc_read(&r, 0, PUMICE_USC_DIM_1);
	run(&r, 1);
	must_fault(&r, PUMICE_FAULT_USC_INDEX, 1);
}

/* Windows that all instances have fetched so far. */
static u64 windows_fetched(const struct fixture *fx)
{
	u64 value[PUMICE_PERF_NUMBER] = { 0 };

	usc_counters_add(fx->usc, value);
	return value[PUMICE_PERF_USC_DC_WINDOWS];
}

static void usc_dynamic_constants_are_fetched_once_for_16_registers_of_an_instance(void **state)
{
	struct fixture *fx = *state;
	u64 before = windows_fetched(fx);
	struct run r;

	for (u32 n = 0; n < FX_DATA_BYTES / 4; n++)
		((u32 *)(void *)fx->data)[n] = n * 5;
	begin(&r, fx);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		r.v[0][l] = l * 16;
	put(&r, INSN(DC_WINDOW, .src2 = SH(0), .words = 1024));
	/* Registers 0 to 15 of each window; then the next one, in which register 1 is new. */
	for (u32 n = 0; n < 18; n++)
		put(&r, INSN(MOV, .dst = R(n), .mask = ALWAYS,
			     .src0 = indexed(PUMICE_USC_BANK_DC, n, false, 1)));
	run(&r, 30);
	assert_int_equal(fx->faults, 0);
	for (u32 n = 0; n < 18; n++) {
		for (u32 l = 0; l < 30; l++)
			assert_int_equal(temp(&r, 0, n)[l], (l * 16 + n) * 5);
	}
	assert_true(windows_fetched(fx) - before == 2 * 30);
}

static void usc_each_index_register_has_a_window_of_its_own(void **state)
{
	struct fixture *fx = *state;
	u64 before = windows_fetched(fx);
	struct run r;

	for (u32 n = 0; n < FX_DATA_BYTES / 4; n++)
		((u32 *)(void *)fx->data)[n] = n;
	begin(&r, fx);
	put(&r, INSN(MOV, .dst = IDX(1), .mask = ALWAYS, .src0 = IMM, .imm = 100));
	put(&r, INSN(DC_WINDOW, .src2 = SH(0), .words = 1024));
	for (u32 n = 0; n < 4; n++)
		put(&r, INSN(ADD, .dst = R(n), .src0 = indexed(PUMICE_USC_BANK_DC, n, false, 1),
			     .src1 = indexed(PUMICE_USC_BANK_DC, n, false, 2)));
	run(&r, 7);
	assert_int_equal(fx->faults, 0);
	for (u32 n = 0; n < 4; n++)
		assert_int_equal(temp(&r, 0, n)[6], 100 + 2 * n);
	assert_true(windows_fetched(fx) - before == 2 * 7);
}

static void usc_kept_window_shows_no_store_before_it_is_dropped(void **state)
{
	const u32 store = 700;
	struct fixture *fx = *state;
	struct run r;

	((u32 *)(void *)fx->data)[3] = 1;
	begin(&r, fx);
	put(&r, INSN(DC_WINDOW, .src2 = SH(0), .words = 64));
	put(&r,
	    INSN(MOV, .dst = R(0), .mask = ALWAYS,
		 .src0 = indexed(PUMICE_USC_BANK_DC, 3, false, 1)));
	for (u32 n = 0; n < 2; n++) {
		put(&r, INSN(MOV, .dst = R(10), .mask = ALWAYS, .src0 = IMM, .imm = store + n));
		put(&r, INSN(MOV, .dst = R(11), .mask = ALWAYS, .src0 = IMM, .imm = 12));
		put(&r, INSN(GLOBAL_STORE32, .mask = ALWAYS, .src2 = SH(0), .src0 = R(11),
			     .src1 = R(10)));
		put(&r, INSN(SIG_WAIT, .dst = R_ELEM(12)));
		put(&r, INSN(MOV, .dst = R(1 + 2 * n), .mask = ALWAYS,
			     .src0 = indexed(PUMICE_USC_BANK_DC, 3, false, 1)));
		put(&r, n ? INSN(DC_WINDOW, .src2 = SH(0), .words = 64) :
			    INSN(MEM_FENCE, .func = PUMICE_USC_SCOPE_GROUP));
		put(&r, INSN(MOV, .dst = R(2 + 2 * n), .mask = ALWAYS,
			     .src0 = indexed(PUMICE_USC_BANK_DC, 3, false, 1)));
	}
	run(&r, 1);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(temp(&r, 0, 0)[0], 1);
	assert_int_equal(temp(&r, 0, 1)[0], 1);
	assert_int_equal(temp(&r, 0, 2)[0], store);
	assert_int_equal(temp(&r, 0, 3)[0], store);
	assert_int_equal(temp(&r, 0, 4)[0], store + 1);
}

/* Another task in the same slot, with the same constants at other contents. */
static void usc_windows_end_with_their_task(void **state)
{
	struct fixture *fx = *state;
	struct run r;

	for (u32 n = 0; n < 2; n++) {
		((u32 *)(void *)fx->data)[0] = n + 5;
		begin(&r, fx);
		put(&r, INSN(DC_WINDOW, .src2 = SH(0), .words = 64));
		put_dc_read(&r, 0, PUMICE_USC_DIM_1);
		run(&r, PUMICE_LANES);
		assert_int_equal(temp(&r, 0, 0)[31], n + 5);
	}
}

static void usc_dynamic_constant_without_memory_is_an_mmu_fault_of_the_lowest_lane(void **state)
{
	struct run r;

	begin(&r, *state);
	r.v[0][5] = 3000;	/* after the data */
	r.v[0][6] = 16000;
	r.v[0][7] = 16384;	/* beyond the window, but a higher lane */
	put_window(&r, 16384);
	put_dc_read(&r, 0, PUMICE_USC_DIM_1);
	run(&r, PUMICE_LANES);
	must_fault(&r, PUMICE_FAULT_MMU_PT_INVALID, 2);
	assert_int_equal(r.fx->fault.unit, PUMICE_UNIT_USC_DATA);
	assert_int_equal(r.fx->fault.access, PUMICE_ACCESS_READ);
	/* The 64 bytes around the word are requested. */
	assert_int_equal(r.fx->fault.addr, (FX_DATA + WINDOW_DISP + 3000 * 4) & ~63ull);
}

int main(void)
{
	static const char *const levels[GPU_LEVELS] = { "base", "avx2", "avx512" };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usc_vector_operand_is_indexed_lane_by_lane),
		cmocka_unit_test(usc_every_dimension_multiplies_the_index),
		cmocka_unit_test(usc_scalar_operand_is_indexed_by_lane_0),
		cmocka_unit_test(usc_shared_and_coefficient_operands_are_gathered_lane_by_lane),
		cmocka_unit_test(usc_highest_lane_wins_if_lanes_write_to_one_shared_register),
		cmocka_unit_test(usc_indexed_destination_changes_only_in_lanes_that_are_written),
		cmocka_unit_test(usc_index_beyond_the_allocation_faults),
		cmocka_unit_test(usc_scalar_index_beyond_the_allocation_faults),
		cmocka_unit_test(usc_index_of_a_lane_that_is_not_valid_never_faults),
		cmocka_unit_test(usc_slot_register_takes_the_value_of_the_first_active_lane),
		cmocka_unit_test(usc_slot_register_keeps_its_value_without_an_active_lane),
		cmocka_unit_test(usc_slot_registers_are_shared_by_the_waves_of_a_task),
		cmocka_unit_test(usc_slot_registers_start_at_zero),
		cmocka_unit_test(usc_slot_register_has_the_value_written_last),
		cmocka_unit_test(usc_slot_register_takes_the_value_of_the_first_instance_of_the_task),
		cmocka_unit_test(usc_slot_register_counts_once_for_the_task),
		cmocka_unit_test(usc_slot_writes_of_waves_apart_follow_the_lowest_wave),
		cmocka_unit_test(usc_slot_registers_of_two_tasks_are_separate),
		cmocka_unit_test(usc_internal_and_index_registers_belong_to_one_wave_and_start_at_zero),
		cmocka_unit_test(usc_offset_registers_are_the_internal_and_slot_registers),
		cmocka_unit_test(usc_special_registers_have_the_sizes_of_group_and_task),
		cmocka_unit_test(usc_special_constants_and_registers_are_interleaved_by_32),
		cmocka_unit_test(usc_coefficients_follow_the_shared_registers),
		cmocka_unit_test(usc_alternate_coefficients_follow_the_normal_ones),
		cmocka_unit_test(usc_alternate_coefficients_are_indexed),
		cmocka_unit_test(usc_base_address_in_the_alternate_set_is_two_words),
		cmocka_unit_test(usc_dynamic_constants_are_read_from_memory_lane_by_lane),
		cmocka_unit_test(usc_dynamic_constants_end_where_their_window_ends),
		cmocka_unit_test(usc_has_no_dynamic_constants_before_the_first_window),
		cmocka_unit_test(usc_dynamic_constants_are_fetched_once_for_16_registers_of_an_instance),
		cmocka_unit_test(usc_each_index_register_has_a_window_of_its_own),
		cmocka_unit_test(usc_kept_window_shows_no_store_before_it_is_dropped),
		cmocka_unit_test(usc_windows_end_with_their_task),
		cmocka_unit_test(usc_dynamic_constant_without_memory_is_an_mmu_fault_of_the_lowest_lane),
	};
	int failed = 0;

	for (enum gpu_level level = 0; level < GPU_LEVELS; level++) {
		if (!gpu_level_usable(level))
			continue;
		usc_level_choose(level);
		failed += cmocka_run_group_tests_name(levels[level], tests, fx_setup, fx_teardown);
	}
	return failed;
}
