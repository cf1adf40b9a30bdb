// SPDX-License-Identifier: MIT
/*
 * Reference model: arithmetic of one lane.
 *
 * Source: hw/isa.xml. f32 sums, differences and products are computed in double,
 * where they are exact or round innocuously (53 >= 2 * 24 + 2 bits), and rounded
 * once; therefore they do not depend on the compiler's treatment of float.
 */
#include <math.h>
#include <string.h>

#include "ref_model.h"

static double number(u32 bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return (double)f;
}

static u32 rounded(double d)
{
	volatile float f = (float)d;
	float g = f;
	u32 bits;

	if (isnan(d))
		return 0x7fc00000u;
	memcpy(&bits, &g, sizeof(bits));
	return bits;
}

static u32 alu_f32(enum pumice_usc_op op, u32 a, u32 b)
{
	double x = number(a), y = number(b);

	switch (op) {
	case PUMICE_USC_OP_ADD:
		return rounded(x + y);
	case PUMICE_USC_OP_SUB:
		return rounded(x - y);
	case PUMICE_USC_OP_MUL:
		return rounded(x * y);
	case PUMICE_USC_OP_DIV:
		return rounded(x / y);
	case PUMICE_USC_OP_MIN:
	case PUMICE_USC_OP_MAX:
		if (isnan(x) && isnan(y))
			return 0x7fc00000u;
		if (isnan(x) || isnan(y))
			return isnan(x) ? b : a;
		if (x == 0 && y == 0)
			x = signbit(x) ? -1 : 1, y = signbit(y) ? -1 : 1;
		if (op == PUMICE_USC_OP_MIN)
			return x <= y ? a : b;
		return x >= y ? a : b;
	case PUMICE_USC_OP_NEG:
		return a < 0x80000000u ? a + 0x80000000u : a - 0x80000000u;
	case PUMICE_USC_OP_ABS:
		return a % 0x80000000u;
	case PUMICE_USC_OP_EQ:
		return x == y;
	case PUMICE_USC_OP_NE:
		return !(x == y);
	case PUMICE_USC_OP_LT:
		return x < y;
	case PUMICE_USC_OP_LE:
		return x <= y;
	case PUMICE_USC_OP_GT:
		return x > y;
	case PUMICE_USC_OP_GE:
		return x >= y;
	default:
		return 0;
	}
}

static u32 to_int(double d, double min, double max)
{
	if (isnan(d))
		return 0;
	d = trunc(d);
	d = d < min ? min : d > max ? max : d;
	return (u32)(int64_t)d;
}

/* Signed and unsigned: both in 64 bits, where nothing overflows. */
static u32 alu_int(enum pumice_usc_op op, bool is_signed, u32 a, u32 b)
{
	int64_t x = is_signed ? (int64_t)(s32)a : (int64_t)a;
	int64_t y = is_signed ? (int64_t)(s32)b : (int64_t)b;

	switch (op) {
	case PUMICE_USC_OP_ADD:
		return (u32)(x + y);
	case PUMICE_USC_OP_SUB:
		return (u32)(x - y);
	case PUMICE_USC_OP_MUL:
		return (u32)((u64)a * b);
	case PUMICE_USC_OP_DIV:
		return y ? (u32)(x / y) : 0xffffffffu;
	case PUMICE_USC_OP_REM:
		return y ? (u32)(x - y * (x / y)) : a;
	case PUMICE_USC_OP_MIN:
		return x <= y ? a : b;
	case PUMICE_USC_OP_MAX:
		return x >= y ? a : b;
	case PUMICE_USC_OP_NEG:
		return (u32)-x;
	case PUMICE_USC_OP_ABS:
		return (u32)(x < 0 ? -x : x);
	case PUMICE_USC_OP_CVT_F32:
		return rounded((double)x);
	case PUMICE_USC_OP_CVT_INT:
		return is_signed ? to_int(number(a), -0x1p31, 0x1p31 - 1) :
				   to_int(number(a), 0, 0x1p32 - 1);
	case PUMICE_USC_OP_SHL:
		return (u32)((u64)a << b % 32);
	case PUMICE_USC_OP_SHR:
		/* Division by a power of two, rounded down. */
		return (u32)((x - (x < 0 ? (int64_t)(1u << b % 32) - 1 : 0)) /
			     (int64_t)(1ull << b % 32));
	case PUMICE_USC_OP_EQ:
		return x == y;
	case PUMICE_USC_OP_NE:
		return x != y;
	case PUMICE_USC_OP_LT:
		return x < y;
	case PUMICE_USC_OP_LE:
		return x <= y;
	case PUMICE_USC_OP_GT:
		return x > y;
	case PUMICE_USC_OP_GE:
		return x >= y;
	default:
		return 0;
	}
}

/* Logic bit by bit. */
static u32 alu_bits(enum pumice_usc_op op, u32 a, u32 b)
{
	u32 out = 0;

	for (u32 bit = 1; bit; bit *= 2) {
		bool x = a & bit, y = b & bit, r;

		if (op == PUMICE_USC_OP_AND)
			r = x && y;
		else if (op == PUMICE_USC_OP_OR)
			r = x || y;
		else if (op == PUMICE_USC_OP_XOR)
			r = x != y;
		else
			r = !x;
		out += r ? bit : 0;
	}
	return out;
}

/* Division with a zero, an infinity or a NaN, as specified by IEEE 754. */
static u32 fix_up(u32 quotient, u32 a, u32 b)
{
	double x = number(a), y = number(b);

	if (x == 0 || y == 0 || !isfinite(x) || !isfinite(y))
		return rounded(x / y);
	return rounded(number(quotient));
}

static u32 insert(u32 a, u32 b, u32 where)
{
	u32 low = where % 32, width = where / 256 % 64;

	for (u32 n = 0; n < width && low + n < 32; n++)
		a = (a & ~(1u << (low + n))) | (b >> n & 1) << (low + n);
	return a;
}

static u32 basic(enum pumice_usc_op op, enum pumice_usc_type type, u32 a, u32 b)
{
	return type == PUMICE_USC_TYPE_F32 ? alu_f32(op, a, b) :
					     alu_int(op, type == PUMICE_USC_TYPE_I32, a, b);
}

u32 ref_alu(enum pumice_usc_op op, enum pumice_usc_type type, u32 a, u32 b)
{
	u32 out;

	switch (op) {
	case PUMICE_USC_OP_MOV:
		return a;
	case PUMICE_USC_OP_AND:
	case PUMICE_USC_OP_OR:
	case PUMICE_USC_OP_XOR:
	case PUMICE_USC_OP_NOT:
		return alu_bits(op, a, b);
	case PUMICE_USC_OP_ADD:
	case PUMICE_USC_OP_SUB:
	case PUMICE_USC_OP_MUL:
		return basic(op, type, a, b);
	case PUMICE_USC_OP_CVT_F32:
	case PUMICE_USC_OP_CVT_INT:
		if (type != PUMICE_USC_TYPE_F16)
			return alu_int(op, type == PUMICE_USC_TYPE_I32, a, b);
		/* fall through */
	default:
		if (ref_more(op, type, a, b, &out) || ref_transcendental(op, a, &out))
			return out;
		return basic(op, type, a, b);
	}
}

u32 ref_alu3(enum pumice_usc_op op, enum pumice_usc_type type, u32 a, u32 b, u32 c)
{
	switch (op) {
	case PUMICE_USC_OP_FMA:
		return rounded((double)fmaf((float)number(a), (float)number(b), (float)number(c)));
	case PUMICE_USC_OP_MAD:
		return (u32)((u64)a * b + c);
	case PUMICE_USC_OP_BFI:
		return insert(a, b, c);
	case PUMICE_USC_OP_DIV_FIXUP:
		return fix_up(a, b, c);
	case PUMICE_USC_OP_CLAMP:
		return ref_alu(PUMICE_USC_OP_MIN, type, ref_alu(PUMICE_USC_OP_MAX, type, a, b), c);
	default:
		return ref_alu(op, type, a, b);
	}
}
