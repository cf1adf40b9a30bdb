// SPDX-License-Identifier: MIT
/*
 * Reference model: rounding, scaling, conversions, bits, and the transcendental
 * operations of one lane.
 *
 * Source: hw/isa.xml. Floating point is the C library's, in double or long
 * double; bits are counted and moved individually.
 */
#include <math.h>
#include <string.h>

#include "ref_model.h"

#define NAN_BITS 0x7fc00000u

u32 ref_undecided;

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
		return NAN_BITS;
	memcpy(&bits, &g, sizeof(bits));
	return bits;
}

/* To a multiple of 2^-10 of the exponent's power of two, or of 2^-24. */
static u32 to_f16(u32 a)
{
	double x = number(a), size = fabs(x), quantum;
	u32 sign = signbit(x) ? 0x8000 : 0;
	int exponent;

	if (isnan(x))
		return 0x7e00;
	frexp(size, &exponent);
	quantum = ldexp(1, exponent < -13 ? -24 : exponent - 11);
	if (!isinf(size))
		size = nearbyint(size / quantum) * quantum;
	if (size > 65504)
		return sign + 0x7c00;
	frexp(size, &exponent);
	if (size < 0x1p-14)
		return sign + (u32)(size * 0x1p24);
	return sign + (u32)(exponent + 14) * 1024 + (u32)(ldexp(size, 11 - exponent) - 1024);
}

static u32 from_f16(u32 h)
{
	u32 exponent = h / 1024 % 32, fraction = h % 1024;
	double size;

	if (exponent == 31)
		size = fraction ? (double)NAN : (double)INFINITY;
	else if (exponent == 0)
		size = fraction * 0x1p-24;
	else
		size = ldexp(1024 + fraction, (int)exponent - 25);
	return rounded(h & 0x8000 ? -size : size);
}

/* Return the value of a type, clamped to a range. */
static u32 saturated(enum pumice_usc_type type, u32 a, s32 min, s32 max)
{
	double x = type == PUMICE_USC_TYPE_F32 ? trunc(number(a)) :
		   type == PUMICE_USC_TYPE_I32 ? (double)(s32)a : (double)a;

	if (isnan(x))
		return 0;
	return x < min ? (u32)min : x > max ? (u32)max : (u32)(s32)x;
}

static bool convert(enum pumice_usc_op op, enum pumice_usc_type type, u32 a, u32 *out)
{
	switch (op) {
	case PUMICE_USC_OP_CVT_F16:
		*out = to_f16(a);
		return true;
	case PUMICE_USC_OP_CVT_U8:
		*out = saturated(type, a, 0, 255);
		return true;
	case PUMICE_USC_OP_CVT_I8:
		*out = saturated(type, a, -128, 127);
		return true;
	case PUMICE_USC_OP_CVT_U16:
		*out = saturated(type, a, 0, 65535);
		return true;
	case PUMICE_USC_OP_CVT_I16:
		*out = saturated(type, a, -32768, 32767);
		return true;
	case PUMICE_USC_OP_CVT_F32:
		*out = from_f16(a % 65536);
		return type == PUMICE_USC_TYPE_F16;
	default:
		return false;
	}
}

static u32 half(enum pumice_usc_type type, u32 a)
{
	if (type == PUMICE_USC_TYPE_F32)
		return to_f16(a);
	if (type == PUMICE_USC_TYPE_I32)
		return saturated(type, a, -32768, 32767) % 65536;
	return saturated(type, a, 0, 65535);
}

static u32 value_of_half(enum pumice_usc_type type, u32 h)
{
	if (type == PUMICE_USC_TYPE_F32)
		return from_f16(h);
	return type == PUMICE_USC_TYPE_I32 && h >= 0x8000 ? h - 0x10000 : h;
}

static bool pack(enum pumice_usc_op op, enum pumice_usc_type type, u32 a, u32 b, u32 *out)
{
	switch (op) {
	case PUMICE_USC_OP_PACK16:
		*out = half(type, a) + half(type, b) * 65536;
		return true;
	case PUMICE_USC_OP_UNPACK16_LO:
		*out = value_of_half(type, a % 65536);
		return true;
	case PUMICE_USC_OP_UNPACK16_HI:
		*out = value_of_half(type, a / 65536);
		return true;
	case PUMICE_USC_OP_EXT8:
		*out = a % 256;
		if (type == PUMICE_USC_TYPE_I32 && *out > 127)
			*out -= 256;
		return true;
	default:
		return false;
	}
}

static bool round_and_scale(enum pumice_usc_op op, u32 a, u32 b, u32 *out)
{
	double x = number(a), m;
	s32 by = (s32)b;
	int e = 0;

	m = frexp(x, &e);
	switch (op) {
	case PUMICE_USC_OP_FLOOR:
		*out = rounded(floor(x));
		return true;
	case PUMICE_USC_OP_CEIL:
		*out = rounded(ceil(x));
		return true;
	case PUMICE_USC_OP_TRUNC:
		*out = rounded(trunc(x));
		return true;
	case PUMICE_USC_OP_RINT:
		*out = rounded(nearbyint(x));
		return true;
	case PUMICE_USC_OP_LDEXP:
		*out = rounded(ldexp(x, by < -999 ? -999 : by > 999 ? 999 : by));
		return true;
	case PUMICE_USC_OP_FREXP_EXP:
		*out = isfinite(x) ? (u32)e : 0;
		return true;
	case PUMICE_USC_OP_FREXP_MANT:
		*out = rounded(m);
		return true;
	default:
		return false;
	}
}

static u32 extract(bool is_signed, u32 a, u32 where)
{
	u32 low = where % 32, width = where / 256 % 64, out = 0;
	bool last = false;

	for (u32 n = 0; n < 32; n++) {
		if (n < width)
			last = low + n < 32 ? a >> (low + n) & 1 : is_signed && a >> 31;
		else if (!is_signed)
			last = false;
		out |= (u32)last << n;
	}
	return out;
}

/* Tests every bit. */
static u32 survey(enum pumice_usc_op op, u32 a)
{
	u32 high = 0, low = 32, count = 0, reverse = 0;

	for (u32 n = 0; n < 32; n++) {
		if (a >> n & 1) {
			high = n + 1;
			low = low == 32 ? n : low;
			count++;
			reverse += 1u << (31 - n);
		}
	}
	if (op == PUMICE_USC_OP_POPCOUNT)
		return count;
	if (op == PUMICE_USC_OP_CLZ)
		return 32 - high;
	return op == PUMICE_USC_OP_CTZ ? low : reverse;
}

static bool bits(enum pumice_usc_op op, enum pumice_usc_type type, u32 a, u32 b, u32 *out)
{
	switch (op) {
	case PUMICE_USC_OP_BFE:
		*out = extract(type == PUMICE_USC_TYPE_I32, a, b);
		return true;
	case PUMICE_USC_OP_POPCOUNT:
	case PUMICE_USC_OP_CLZ:
	case PUMICE_USC_OP_CTZ:
	case PUMICE_USC_OP_BITREV:
		*out = survey(op, a);
		return true;
	case PUMICE_USC_OP_BYTEREV:
		*out = a % 256 << 24 | a / 256 % 256 << 16 | a / 65536 % 256 << 8 | a >> 24;
		return true;
	case PUMICE_USC_OP_MULHI:
		*out = type == PUMICE_USC_TYPE_I32 ?
			(u32)((u64)((int64_t)(s32)a * (s32)b) >> 32) : (u32)((u64)a * b >> 32);
		return true;
	case PUMICE_USC_OP_UDIV_RCP:
		*out = a < 2 ? 0xffffffffu : (u32)((1ull << 32) / a);
		return true;
	default:
		return false;
	}
}

bool ref_more(enum pumice_usc_op op, enum pumice_usc_type type, u32 a, u32 b, u32 *out)
{
	return convert(op, type, a, out) || pack(op, type, a, b, out) ||
	       round_and_scale(op, a, b, out) || bits(op, type, a, b, out);
}

/* Round to nearest; a result at or close to the middle of two floats is counted. */
static u32 nearest(long double exact)
{
	float f = (float)exact;
	long double off;
	int exponent;

	if (isnan(exact))
		return NAN_BITS;
	if (isfinite(exact) && exact != 0) {
		frexpl(exact, &exponent);
		exponent = exponent < -125 ? -125 : exponent;
		off = fmodl(fabsl(ldexpl(exact, 24 - exponent)), 1);
		ref_undecided += fabsl(off - 0.5l) < 0x1p-20l;
	}
	return rounded((double)f);
}

bool ref_transcendental(enum pumice_usc_op op, u32 a, u32 *out)
{
	double x = number(a);

	switch (op) {
	case PUMICE_USC_OP_RCP:
		*out = rounded(1 / x);
		return true;
	case PUMICE_USC_OP_SQRT:
		*out = rounded(sqrt(x));
		return true;
	case PUMICE_USC_OP_RSQRT:
		*out = nearest(1 / sqrtl(x));
		return true;
	case PUMICE_USC_OP_EXP2:
		*out = nearest(exp2l(x));
		return true;
	case PUMICE_USC_OP_LOG2:
		*out = nearest(log2l(x));
		return true;
	case PUMICE_USC_OP_SIN:
		*out = nearest(sinl(x));
		return true;
	case PUMICE_USC_OP_COS:
		*out = nearest(cosl(x));
		return true;
	default:
		return false;
	}
}
