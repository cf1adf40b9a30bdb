// SPDX-License-Identifier: MIT
/*
 * Single operations at the edges of their operands, against values computed
 * manually from IEEE 754 and hw/isa.xml. Every operation runs in each of its forms
 * and at each vector level of this host.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "single.h"

#define NAN0 0x7fc00000u

/* Two sources and the expected result. Operations of one source ignore b. */
struct sum {
	u8 op, type;
	u32 a, b, want;
};

#define S(op, type, a, b, want) { PUMICE_USC_OP_##op, type, a, b, want }

static const struct sum sums[] = {
	S(ADD, U32, 0xffffffff, 1, 0),
	S(ADD, I32, 0x7fffffff, 1, 0x80000000),
	S(ADD, F32, 0x3f800000, 0x33800000, 0x3f800000),	/* half an ulp: to even, down */
	S(ADD, F32, 0x3f800001, 0x33800000, 0x3f800002),	/* to even, up */
	S(ADD, F32, 0x3f800000, 0x33800001, 0x3f800001),
	S(ADD, F32, 0x00000001, 0x00000001, 0x00000002),	/* denormals are kept */
	S(ADD, F32, 0x00800000, 0x80000001, 0x007fffff),
	S(ADD, F32, 0x7f7fffff, 0x7f7fffff, 0x7f800000),
	S(ADD, F32, 0x7f800000, 0xff800000, NAN0),
	S(ADD, F32, 0x7f800001, 0x3f800000, NAN0),		/* signalling */
	S(ADD, F32, 0xffc00123, 0x3f800000, NAN0),		/* payload and sign are lost */
	S(ADD, F32, 0x3f800000, 0x7fffffff, NAN0),
	S(ADD, F32, 0x80000000, 0x80000000, 0x80000000),
	S(ADD, F32, 0x80000000, 0x00000000, 0x00000000),
	S(ADD, F32, 0x3f800000, 0xbf800000, 0x00000000),
	S(SUB, U32, 0, 1, 0xffffffff),
	S(SUB, I32, 0x80000000, 1, 0x7fffffff),
	S(SUB, F32, 0x00000000, 0x00000000, 0x00000000),
	S(SUB, F32, 0x80000000, 0x00000000, 0x80000000),
	S(SUB, F32, 0x7f800000, 0x7f800000, NAN0),
	S(SUB, F32, 0x00800000, 0x00000001, 0x007fffff),
	S(MUL, U32, 0xffffffff, 0xffffffff, 1),
	S(MUL, I32, 0x80000000, 0xffffffff, 0x80000000),
	S(MUL, U32, 0x00010001, 0x00010001, 0x00020001),
	S(MUL, F32, 0x3fffffff, 0x3fffffff, 0x407ffffe),
	S(MUL, F32, 0x00000001, 0x3f000000, 0x00000000),	/* half the least: to even */
	S(MUL, F32, 0x00000003, 0x3f000000, 0x00000002),
	S(MUL, F32, 0x00800000, 0x3f000000, 0x00400000),
	S(MUL, F32, 0x7f7fffff, 0x40000000, 0x7f800000),
	S(MUL, F32, 0x00000000, 0x7f800000, NAN0),
	S(MUL, F32, 0xbf800000, 0x00000000, 0x80000000),
	S(DIV, U32, 7, 2, 3),
	S(DIV, U32, 0x80000000, 0xffffffff, 0),
	S(DIV, U32, 5, 0, 0xffffffff),
	S(DIV, I32, 0xfffffff9, 2, 0xfffffffd),			/* -7 / 2 = -3 */
	S(DIV, I32, 0x80000000, 0xffffffff, 0x80000000),
	S(DIV, I32, 0x80000000, 0, 0xffffffff),
	S(DIV, F32, 0x3f800000, 0x40400000, 0x3eaaaaab),	/* 1 / 3 */
	S(DIV, F32, 0xbf800000, 0x00000000, 0xff800000),
	S(DIV, F32, 0x3f800000, 0x80000000, 0xff800000),
	S(DIV, F32, 0x00000000, 0x00000000, NAN0),
	S(DIV, F32, 0x00800000, 0x40000000, 0x00400000),
	S(DIV, F32, 0x00000001, 0x40000000, 0x00000000),
	S(DIV, F32, 0x3f800000, 0x7f800000, 0x00000000),
	S(REM, U32, 7, 3, 1),
	S(REM, U32, 7, 0, 7),
	S(REM, U32, 0xffffffff, 10, 5),
	S(REM, I32, 0xfffffff9, 3, 0xffffffff),			/* -7 rem 3 = -1 */
	S(REM, I32, 7, 0xfffffffd, 1),
	S(REM, I32, 0x80000000, 0xffffffff, 0),
	S(REM, I32, 0x80000000, 0, 0x80000000),
	S(MIN, U32, 0x80000000, 1, 1),
	S(MIN, I32, 0x80000000, 1, 0x80000000),
	S(MIN, F32, 0x3f800000, 0xc0000000, 0xc0000000),
	S(MIN, F32, 0x00000000, 0x80000000, 0x80000000),
	S(MIN, F32, 0x80000000, 0x00000000, 0x80000000),
	S(MIN, F32, 0x7fc00001, 0x7f800000, 0x7f800000),
	S(MIN, F32, 0x40000000, 0xffc00001, 0x40000000),
	S(MIN, F32, 0x7f800001, 0xffc00001, NAN0),
	S(MIN, F32, 0x00000001, 0x00000002, 0x00000001),
	S(MAX, U32, 0x80000000, 1, 0x80000000),
	S(MAX, I32, 0x80000000, 1, 1),
	S(MAX, F32, 0x3f800000, 0xc0000000, 0x3f800000),
	S(MAX, F32, 0x00000000, 0x80000000, 0x00000000),
	S(MAX, F32, 0x80000000, 0x00000000, 0x00000000),
	S(MAX, F32, 0x80000000, 0x80000000, 0x80000000),
	S(MAX, F32, 0x7fc00001, 0xff800000, 0xff800000),
	S(MAX, F32, 0x40000000, 0x7f800001, 0x40000000),
	S(MAX, F32, 0xffffffff, 0x7f800001, NAN0),
	S(MAX, F32, 0x80000001, 0x80000002, 0x80000001),
	S(NEG, I32, 1, 0, 0xffffffff),
	S(NEG, I32, 0x80000000, 0, 0x80000000),
	S(NEG, F32, 0x00000000, 0, 0x80000000),
	S(NEG, F32, 0x7f800001, 0, 0xff800001),			/* NaN keeps its payload */
	S(ABS, I32, 0xffffffff, 0, 1),
	S(ABS, I32, 0x80000000, 0, 0x80000000),
	S(ABS, F32, 0x80000000, 0, 0x00000000),
	S(ABS, F32, 0xffc00123, 0, 0x7fc00123),
	S(CVT_F32, U32, 0xffffffff, 0, 0x4f800000),
	S(CVT_F32, U32, 0xffffff7f, 0, 0x4f7fffff),
	S(CVT_F32, U32, 0xffffff80, 0, 0x4f800000),		/* half an ulp: to even */
	S(CVT_F32, U32, 0x80000000, 0, 0x4f000000),
	S(CVT_F32, U32, 0x01000001, 0, 0x4b800000),
	S(CVT_F32, U32, 0x01000003, 0, 0x4b800002),
	S(CVT_F32, U32, 0, 0, 0),
	S(CVT_F32, I32, 0x80000000, 0, 0xcf000000),
	S(CVT_F32, I32, 0xffffffff, 0, 0xbf800000),
	S(CVT_F32, I32, 0x7fffffff, 0, 0x4f000000),
	S(CVT_INT, U32, 0x40200000, 0, 2),			/* 2.5 */
	S(CVT_INT, U32, 0x3f7fffff, 0, 0),
	S(CVT_INT, U32, 0xbf800000, 0, 0),
	S(CVT_INT, U32, 0x4effffff, 0, 0x7fffff80),
	S(CVT_INT, U32, 0x4f000000, 0, 0x80000000),
	S(CVT_INT, U32, 0x4f000001, 0, 0x80000100),
	S(CVT_INT, U32, 0x4f7fffff, 0, 0xffffff00),
	S(CVT_INT, U32, 0x4f800000, 0, 0xffffffff),
	S(CVT_INT, U32, 0x7f800000, 0, 0xffffffff),
	S(CVT_INT, U32, 0xff800000, 0, 0),
	S(CVT_INT, U32, 0xffc00000, 0, 0),
	S(CVT_INT, I32, 0xc0200000, 0, 0xfffffffe),		/* -2.5 */
	S(CVT_INT, I32, 0xbf000000, 0, 0),
	S(CVT_INT, I32, 0x4effffff, 0, 0x7fffff80),
	S(CVT_INT, I32, 0x4f000000, 0, 0x7fffffff),
	S(CVT_INT, I32, 0xcf000000, 0, 0x80000000),
	S(CVT_INT, I32, 0xcf000001, 0, 0x80000000),
	S(CVT_INT, I32, 0xff800000, 0, 0x80000000),
	S(CVT_INT, I32, 0x7f800001, 0, 0),
	S(AND, U32, 0xf0f0f0f0, 0xff00ff00, 0xf000f000),
	S(OR, U32, 0xf0f0f0f0, 0xff00ff00, 0xfff0fff0),
	S(XOR, U32, 0xf0f0f0f0, 0xff00ff00, 0x0ff00ff0),
	S(NOT, U32, 0xf0f0f0f0, 0, 0x0f0f0f0f),
	S(SHL, U32, 0x80000001, 31, 0x80000000),
	S(SHL, U32, 0x00000003, 33, 0x00000006),		/* modulo 32 */
	S(SHL, U32, 0x12345678, 32, 0x12345678),
	S(SHR, U32, 0x80000000, 31, 1),
	S(SHR, U32, 0x80000000, 0xffffffe1, 0x40000000),
	S(SHR, I32, 0x80000000, 31, 0xffffffff),
	S(SHR, I32, 0x40000000, 30, 1),
	S(EQ, U32, 5, 5, 1),
	S(EQ, F32, 0x00000000, 0x80000000, 1),
	S(EQ, F32, NAN0, NAN0, 0),
	S(EQ, F32, 0x00000001, 0x00000000, 0),			/* a denormal is not zero */
	S(NE, U32, 5, 5, 0),
	S(NE, F32, 0x00000000, 0x80000000, 0),
	S(NE, F32, NAN0, NAN0, 1),
	S(LT, U32, 1, 0xffffffff, 1),
	S(LT, I32, 1, 0xffffffff, 0),
	S(LT, F32, 0x80000000, 0x00000000, 0),
	S(LT, F32, 0x80000001, 0x00000000, 1),
	S(LT, F32, NAN0, 0x3f800000, 0),
	S(LE, U32, 7, 7, 1),
	S(LE, I32, 0x80000000, 0x7fffffff, 1),
	S(LE, F32, 0x80000000, 0x00000000, 1),
	S(LE, F32, NAN0, NAN0, 0),
	S(GT, U32, 0xffffffff, 1, 1),
	S(GT, I32, 0xffffffff, 1, 0),
	S(GT, F32, 0x7f800000, 0x7f7fffff, 1),
	S(GT, F32, 0x3f800000, NAN0, 0),
	S(GE, U32, 7, 7, 1),
	S(GE, I32, 0x80000000, 0x7fffffff, 0),
	S(GE, F32, 0x00000000, 0x80000000, 1),
	S(GE, F32, NAN0, NAN0, 0),
};

#define SUMS (sizeof(sums) / sizeof(sums[0]))

enum { T_OUT = SINGLE_OUT };

/* Run insn with V0 and V1 as given; out is R0 of lanes instances. */
static void run_one(struct fixture *fx, struct pumice_usc_insn insn, u32 lanes, const u32 *v0,
		    const u32 *v1, u32 *out)
{
	single_run(fx, insn, lanes, (single_sources){ v0, v1 }, out);
}

static bool has_second_source(u8 op)
{
	switch (op) {
	case PUMICE_USC_OP_NEG:
	case PUMICE_USC_OP_ABS:
	case PUMICE_USC_OP_CVT_F32:
	case PUMICE_USC_OP_CVT_INT:
	case PUMICE_USC_OP_NOT:
		return false;
	default:
		return true;
	}
}

static void check_sum(const struct sum *s, const char *form, u32 got)
{
	if (got != s->want)
		fail_msg("op %#x type %u %s: %#x, %#x gives %#x, must be %#x", s->op, s->type, form,
			 s->a, s->b, got, s->want);
}

static void check_sums(struct fixture *fx)
{
	u32 v0[PUMICE_LANES], v1[PUMICE_LANES], out[PUMICE_LANES];

	for (u32 n = 0; n < SUMS; n++) {
		const struct sum *s = &sums[n];
		struct pumice_usc_insn insn = { .opcode = s->op, .type = s->type,
						.form = SCALAR_FORM, .dst = R_ELEM(T_OUT),
						.src0 = V_ELEM(0) };

		for (u32 l = 0; l < PUMICE_LANES; l++) {
			v0[l] = s->a;
			v1[l] = s->b;
		}
		if (has_second_source(s->op))
			insn.src1 = V_ELEM(1);
		run_one(fx, insn, PUMICE_LANES, v0, v1, out);
		check_sum(s, "scalar", out[0]);
		assert_int_equal(out[1], SINGLE_MARK);
		if (s->op == PUMICE_USC_OP_DIV || s->op == PUMICE_USC_OP_REM)
			continue;
		insn.form = 0;
		insn.dst = R(T_OUT);
		insn.src0 = V(0);
		insn.src1 = insn.src1 ? V(1) : 0;
		run_one(fx, insn, PUMICE_LANES, v0, v1, out);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			check_sum(s, "vector", out[l]);
		if (!insn.src1)
			continue;
		insn.src1 = IMM;
		insn.imm = s->b;
		run_one(fx, insn, PUMICE_LANES, v0, v1, out);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			check_sum(s, "with a word", out[l]);
	}
}

static void usc_arithmetic_gives_the_defined_bits_in_every_form(void **state)
{
	(void)state;
	single_at_each_level(check_sums);
}

/* Lane numbers in V0, and 100 minus them in V1. */
static void ramp(u32 *v0, u32 *v1)
{
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		v0[l] = l;
		v1[l] = 100 - l;
	}
}

static void check_cross_lane(struct fixture *fx)
{
	u32 v0[PUMICE_LANES], v1[PUMICE_LANES], out[PUMICE_LANES];

	ramp(v0, v1);
	run_one(fx, INSN(ROTATE, .dst = R(T_OUT), .src0 = V(1), .src1 = IMM, .imm = 35),
		PUMICE_LANES, v0, v1, out);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(out[l], 100 - (l + 3) % 32);
	run_one(fx, INSN(BUTTERFLY, .dst = R(T_OUT), .src0 = V(1), .src1 = IMM, .imm = 0x8000000b),
		PUMICE_LANES, v0, v1, out);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(out[l], 100 - (l ^ 11));
	/* 100 - l modulo 32 is 4 - l modulo 32. */
	run_one(fx, INSN(SHUFFLE, .dst = R(T_OUT), .src0 = V(0), .src1 = V(1)), PUMICE_LANES, v0,
		v1, out);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(out[l], (36 - l) % 32);
	run_one(fx, INSN(SHUFFLE, .dst = R(T_OUT), .src0 = V(1), .src1 = IMM, .imm = 33),
		PUMICE_LANES, v0, v1, out);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(out[l], 99);
}

static void usc_cross_lane_reads_wrap_at_32_lanes(void **state)
{
	(void)state;
	single_at_each_level(check_cross_lane);
}

static void check_masked(struct fixture *fx)
{
	u32 v0[PUMICE_LANES], v1[PUMICE_LANES], out[PUMICE_LANES];
	u32 mask = usc_double_mask(MASK_K(LO16), false, MASK_K(CH2), true);

	ramp(v0, v1);
	run_one(fx, INSN(MOV, .dst = R(T_OUT), .mask = (u16)mask, .src0 = V(1)), PUMICE_LANES, v0,
		v1, out);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(out[l], l < 16 && l % 4 >= 2 ? 100 - l : SINGLE_MARK);
	run_one(fx, INSN(SELECT, .dst = R(T_OUT), .mask = (u16)mask, .src0 = V(0), .src1 = V(1)),
		PUMICE_LANES, v0, v1, out);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(out[l], l < 16 && l % 4 >= 2 ? 100 - l : l);
	run_one(fx, INSN(ADD, .dst = R(T_OUT), .src0 = V(0), .src1 = M(mask)), PUMICE_LANES, v0, v1,
		out);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(out[l], l + (l < 16 && l % 4 >= 2));
}

static void usc_double_mask_is_true_where_both_registers_are(void **state)
{
	(void)state;
	single_at_each_level(check_masked);
}

/*
 * All 32 mask registers: 16 constants, of which 12 exist, then R0 to R15. R0 is the result, which
 * is SINGLE_MARK before, in whose bit 0 is 1.
 */
static void check_mask_registers(struct fixture *fx)
{
	static const u32 constants[] = {
		0, UINT32_MAX, 0xaaaaaaaa, 0, UINT32_MAX, 0x55555555, 0x49249249, 0x11111111,
		0x0000ffff, 0x33333333, 0x0f0f0f0f, 0x00ff00ff,
	};
	u32 v0[PUMICE_LANES], v1[PUMICE_LANES], out[PUMICE_LANES];

	ramp(v0, v1);
	for (u32 n = 0; n < 32; n++) {
		u32 lanes = n < 12 ? constants[n] : n == MASK_R(0) ? UINT32_MAX : 0;
		struct pumice_usc_insn insn = INSN(MOV, .dst = R(T_OUT), .mask = (u16)IF(n),
						   .src0 = V(1));

		if (n >= 12 && n < MASK_R(0))
			continue;	/* refused: test_refusals.c */
		run_one(fx, insn, PUMICE_LANES, v0, v1, out);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			assert_int_equal(out[l], lanes >> l & 1 ? v1[l] : SINGLE_MARK);
	}
}

static void usc_every_mask_register_selects_its_lanes(void **state)
{
	(void)state;
	single_at_each_level(check_mask_registers);
}

static void check_first(struct fixture *fx)
{
	u32 v0[PUMICE_LANES], v1[PUMICE_LANES], out[PUMICE_LANES];
	struct pumice_usc_insn insn = INSN(FIRST_WHERE_TRUE, .dst = R_ELEM(T_OUT),
					   .mask = (u16)IF_NOT(MASK_K(LO16)), .src0 = V(1));

	ramp(v0, v1);
	run_one(fx, insn, PUMICE_LANES, v0, v1, out);
	assert_int_equal(out[0], 100 - 16);
	/* The true lanes are not valid: as if there were none. */
	run_one(fx, insn, 16, v0, v1, out);
	assert_int_equal(out[0], SINGLE_MARK);
	insn.mask = (u16)IF(MASK_K(ZERO));
	run_one(fx, insn, PUMICE_LANES, v0, v1, out);
	assert_int_equal(out[0], SINGLE_MARK);
}

static void usc_first_where_true_uses_valid_lanes_or_keeps_the_destination(void **state)
{
	(void)state;
	single_at_each_level(check_first);
}

/* 1e8, 1, -1e8, 1 and four zeroes per chunk: in the order of pairs the ones are lost. */
static void check_reduce_order(struct fixture *fx)
{
	static const u32 chunk[8] = { 0x4cbebc20, 0x3f800000, 0xccbebc20, 0x3f800000 };
	u32 v0[PUMICE_LANES], v1[PUMICE_LANES] = { 0 }, out[PUMICE_LANES];

	for (u32 l = 0; l < PUMICE_LANES; l++)
		v0[l] = chunk[l % 8];
	run_one(fx, INSN(REDUCE_PART, .type = F32, .func = PUMICE_USC_REDUCE_ADD, .dst = R(T_OUT),
			 .src0 = V(0)), PUMICE_LANES, v0, v1, out);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(out[l], l % 8 ? SINGLE_MARK : 0);
	/* (1e8 + 1) + (-1e8 + 1) again, now over lanes 0, 8, 16, 24. */
	for (u32 c = 0; c < 4; c++)
		v0[c * 8] = chunk[c];
	run_one(fx, INSN(REDUCE_FINISH, .type = F32, .func = PUMICE_USC_REDUCE_ADD,
			 .dst = R_ELEM(T_OUT), .src0 = V(0)), PUMICE_LANES, v0, v1, out);
	assert_int_equal(out[0], 0);
	assert_int_equal(out[1], SINGLE_MARK);
}

static void usc_reductions_add_pairs_first(void **state)
{
	(void)state;
	single_at_each_level(check_reduce_order);
}

/* Results of reductions without lanes and with one lane, for each operator and type. */
static void check_reduce_identity(struct fixture *fx)
{
	static const struct { u8 func, type; u32 identity; } table[] = {
		{ PUMICE_USC_REDUCE_ADD, U32, 0 },
		{ PUMICE_USC_REDUCE_ADD, I32, 0 },
		{ PUMICE_USC_REDUCE_ADD, F32, 0x80000000 },
		{ PUMICE_USC_REDUCE_MIN, U32, 0xffffffff },
		{ PUMICE_USC_REDUCE_MIN, I32, 0x7fffffff },
		{ PUMICE_USC_REDUCE_MIN, F32, NAN0 },
		{ PUMICE_USC_REDUCE_MAX, U32, 0 },
		{ PUMICE_USC_REDUCE_MAX, I32, 0x80000000 },
		{ PUMICE_USC_REDUCE_MAX, F32, NAN0 },
		{ PUMICE_USC_REDUCE_AND, U32, 0xffffffff },
		{ PUMICE_USC_REDUCE_OR, U32, 0 },
		{ PUMICE_USC_REDUCE_XOR, U32, 0 },
	};
	u32 v0[PUMICE_LANES], v1[PUMICE_LANES], out[PUMICE_LANES];

	ramp(v0, v1);
	for (u32 n = 0; n < sizeof(table) / sizeof(table[0]); n++) {
		run_one(fx, INSN(REDUCE_PART, .type = table[n].type, .func = table[n].func,
				 .dst = R(T_OUT), .src0 = V(1)), 9, v0, v1, out);
		assert_int_equal(out[8], 92);
		assert_int_equal(out[16], table[n].identity);
		assert_int_equal(out[24], table[n].identity);
		run_one(fx, INSN(REDUCE_FINISH, .type = table[n].type, .func = table[n].func,
				 .dst = R_ELEM(T_OUT), .src0 = V(1)), 3, v0, v1, out);
		assert_int_equal(out[0], 100);
	}
}

static void usc_reductions_treat_invalid_lanes_as_identity(void **state)
{
	(void)state;
	single_at_each_level(check_reduce_identity);
}

static void check_own_element(struct fixture *fx)
{
	u32 v0[PUMICE_LANES], v1[PUMICE_LANES], out[PUMICE_LANES];

	ramp(v0, v1);
	run_one(fx, INSN(ADD, .dst = R(T_OUT), .src0 = V(1), .src1 = R_ELEM(T_OUT)), PUMICE_LANES,
		v0, v1, out);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(out[l], 100 - l + SINGLE_MARK);
	run_one(fx, INSN(SELECT, .dst = R(T_OUT), .mask = IF(MASK_K(CH4)), .src0 = V(0),
			 .src1 = R_ELEM(T_OUT)), PUMICE_LANES, v0, v1, out);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(out[l], l % 8 < 4 ? SINGLE_MARK : l);
}

static void usc_scalar_source_may_be_element_0_of_the_destination(void **state)
{
	(void)state;
	single_at_each_level(check_own_element);
}

/* The thread's own floating-point mode: flush denormals, round up. */
static void usc_step_ignores_and_restores_the_floating_point_mode_of_its_thread(void **state)
{
	(void)state;
#ifdef __SSE2__
	const u32 mode = 0x1f80 | 0x8040 | 0x4000;
	u32 v0[PUMICE_LANES], v1[PUMICE_LANES], out[PUMICE_LANES], after;
	struct fixture *fx = fx_create(4096);

	for (u32 l = 0; l < PUMICE_LANES; l++) {
		v0[l] = l % 2 ? 0x00000001 : 0x3f800000;
		v1[l] = l % 2 ? 0x00000001 : 0x33800000;
	}
	__builtin_ia32_ldmxcsr(mode);
	run_one(fx, INSN(ADD, .type = F32, .dst = R(T_OUT), .src0 = V(0), .src1 = V(1)),
		PUMICE_LANES, v0, v1, out);
	after = __builtin_ia32_stmxcsr();
	__builtin_ia32_ldmxcsr(0x1f80);
	assert_int_equal(after & ~0x3fu, mode);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(out[l], l % 2 ? 2 : 0x3f800000);
	fx_destroy(fx);
#else
	skip();
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usc_arithmetic_gives_the_defined_bits_in_every_form),
		cmocka_unit_test(usc_cross_lane_reads_wrap_at_32_lanes),
		cmocka_unit_test(usc_double_mask_is_true_where_both_registers_are),
		cmocka_unit_test(usc_every_mask_register_selects_its_lanes),
		cmocka_unit_test(usc_first_where_true_uses_valid_lanes_or_keeps_the_destination),
		cmocka_unit_test(usc_reductions_add_pairs_first),
		cmocka_unit_test(usc_reductions_treat_invalid_lanes_as_identity),
		cmocka_unit_test(usc_scalar_source_may_be_element_0_of_the_destination),
		cmocka_unit_test(usc_step_ignores_and_restores_the_floating_point_mode_of_its_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
