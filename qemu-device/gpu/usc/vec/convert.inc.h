/* SPDX-License-Identifier: MIT */
/*
 * Conversions of one vector: f32 to and from integers, f16, 8 and 16 bits.
 *
 * Source: hw/isa.xml, "Arithmetic" and "Bits". Included by level_*.c after float.inc.h.
 *
 * Limits: f16 conversions use integer arithmetic, which every host has.
 */

/* Round towards zero; values must be within the range of s32. */
static inline vu truncate(vf f)
{
	return (vu)__builtin_convertvector(f, vs);
}

static inline vu f_to_s32(vu a)
{
	vf f = (vf)a;
	vu high = (vu)(f >= 0x1p31f), low = (vu)(f < -0x1p31f);
	vu fits = (vu)(f == f) & ~high & ~low;

	return truncate((vf)(a & fits)) | (high & 0x7fffffffu) | (low & 0x80000000u);
}

/* The upper half of the range is converted after subtracting 2^31, which is exact. */
static inline vu f_to_u32(vu a)
{
	vf f = (vf)a;
	vu over = (vu)(f >= 0x1p32f), upper = (vu)(f >= 0x1p31f) & ~over;
	vu lower = (vu)(f > 0.0f) & (vu)(f < 0x1p31f);
	vf reduced = (vf)((a & lower) | ((vu)(f - 0x1p31f) & upper));

	return (truncate(reduced) ^ (upper & 0x80000000u)) | over;
}

#define H_NAN 0x7e00u
#define H_INFINITY 0x7c00u

/*
 * Convert f32 to f16, to nearest even. Values that are normal in f16 lose 13 bits of fraction; a
 * carry correctly increments the exponent. Denormal results are in units of 2^-24, which the sum
 * with 1/2 has in its lowest bits.
 */
static inline vu f_to_f16(vu a)
{
	vu size = a & ~F_SIGN, sign = (a & F_SIGN) >> 16;
	vu normal = (size + 0xfff + ((size >> 13) & 1) - ((127u - 15) << 23)) >> 13;
	vu small = (vu)((vf)size + 0.5f) - 0x3f000000u;
	vu r = vu_select((vu)(size < (127u - 14) << 23), small, normal);

	r = vu_select((vu)(size >= 0x477ff000u), splat(H_INFINITY), r);	/* 65520 and above */
	return vu_select((vu)(size > F_INFINITY), splat(H_NAN), r | sign);
}

/* Convert the low half as f16 to f32: exact. */
static inline vu f_of_f16(vu a)
{
	vu sign = (a & 0x8000) << 16, size = a & 0x7fff;
	vu normal = (size << 13) + ((127u - 15) << 23);
	vu small = (vu)(__builtin_convertvector((vs)size, vf) * 0x1p-24f);
	vu r = vu_select((vu)(size < 0x400), small, normal);

	r = vu_select((vu)(size == H_INFINITY), splat(F_INFINITY), r);
	return vu_select((vu)(size > H_INFINITY), splat(USC_F32_NAN), r | sign);
}

static inline vu u_at_most(vu a, u32 max)
{
	return vu_select((vu)(a > max), splat(max), a);
}

static inline vu s_within(vu a, s32 min, s32 max)
{
	vu r = vu_select((vu)((vs)a < min), splat((u32)min), a);

	return vu_select((vu)((vs)a > max), splat((u32)max), r);
}

static inline vu f_within(vu a, s32 min, s32 max)
{
	return s_within(f_to_s32(a), min, max);
}

/* Sign-extend the low bits. */
static inline vu s_extend(vu a, u32 bits)
{
	return (vu)((vs)(a << (32 - bits)) >> (32 - bits));
}
