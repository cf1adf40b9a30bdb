/* SPDX-License-Identifier: MIT */
/*
 * f32 arithmetic of one vector beyond sums and products: fused, rounding to integers,
 * scaling, the last step of a division.
 *
 * Source: hw/isa.xml, "Three operands" and "Rounding, scaling and helpers of division".
 * Included by level_*.c after double.inc.h.
 */

#define F_SIGN 0x80000000u
#define F_INFINITY 0x7f800000u
#define F_FRACTION 0x007fffffu

/* Return an arithmetic result: every NaN becomes the canonical one. */
static inline vu f_result(vf r)
{
	return vm_select(vm_nan(r), splat(USC_F32_NAN), (vu)r);
}

#if VEC_BYTES == 16
/*
 * Fused without support of the host: the product is exact in double, and the sum is rounded
 * to odd, so that only the following rounding to f32 has an effect (53 >= 24 + 2 bits).
 */
static inline vd d_fused(vd a, vd b, vd c)
{
	vd p = a * b, s = p + c, back = s - p;
	vd lost = (p - (s - back)) + (c - back);
	vq inexact = (vq)(lost < 0) | (vq)(lost > 0);
	vq away = (vq)((lost > 0) == (s > 0));	/* the exact sum is farther from zero */
	vq even = ((vq)s & 1) - 1;

	return (vd)((vq)s + (inexact & even & ((away & 2) - 1)));
}
#endif

/* NaN is not made canonical: for intermediate sums. */
static inline vf f_fma_any_nan(vu a, vu b, vu c)
{
#if VEC_BYTES == 64
	return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif VEC_BYTES == 32
	return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
	return (vf)narrow(d_fused(wide_low(a), wide_low(b), wide_low(c)),
			  d_fused(wide_high(a), wide_high(b), wide_high(c)));
#endif
}

static inline vu f_fma(vu a, vu b, vu c)
{
	return f_result(f_fma_any_nan(a, b, c));
}

/* src0 is the quotient, src1 the dividend, src2 the divisor. */
static inline vu f_div_fixup(vu q, vu a, vu b)
{
	vu a_size = a & ~F_SIGN, b_size = b & ~F_SIGN;
	vu special = (vu)(a_size == 0) | (vu)(b_size == 0) | (vu)(a_size >= F_INFINITY) |
		     (vu)(b_size >= F_INFINITY);

	return f_result((vf)vu_select(special, (vu)((vf)a / (vf)b), q));
}

/* Return the lanes with a fraction; never NaN. */
static inline vu f_has_fraction(vu a)
{
	return (vu)((vf)(a & ~F_SIGN) < 0x1p23f);
}

/* Round towards zero and keep the sign. */
static inline vu f_trunc(vu a)
{
	vu small = f_has_fraction(a);
	vf whole = __builtin_convertvector(__builtin_convertvector((vf)(a & small), vs), vf);

	return f_result((vf)vu_select(small, (vu)whole | (a & F_SIGN), a));
}

static inline vu f_floor(vu a)
{
	vf t = (vf)f_trunc(a);
	vu lower = (vu)(t - 1.0f);

	return vu_select((vu)(t > (vf)a), lower, (vu)t);
}

static inline vu f_ceil(vu a)
{
	vf t = (vf)f_trunc(a);
	vu higher = (vu)(t + 1.0f);

	return vu_select((vu)(t < (vf)a), higher, (vu)t);
}

/* Round to nearest even: the sum with 2^23 has no bits for a fraction. */
static inline vu f_rint(vu a)
{
	vf whole = ((vf)(a & ~F_SIGN) + 0x1p23f) - 0x1p23f;

	return f_result((vf)vu_select(f_has_fraction(a), (vu)whole | (a & F_SIGN), a));
}

/* Larger exponents also result in zero or infinity. */
#define LDEXP_MOST 300

static inline vu f_ldexp(vu a, vu n)
{
	vs by = (vs)n;
	vu k;

	by = (vs)vu_select((vu)(by > LDEXP_MOST), splat(LDEXP_MOST), (vu)by);
	by = (vs)vu_select((vu)(by < -LDEXP_MOST), splat((u32)-LDEXP_MOST), (vu)by);
	k = (vu)(by + 1023);
	return f_result((vf)narrow(wide_low(a) * (vd)(u_wide_low(k) << 52),
				   wide_high(a) * (vd)(u_wide_high(k) << 52)));
}

/* Return the lanes whose value has an exponent and a mantissa: neither zero, infinite nor NaN. */
static inline vu f_is_finite(vu a)
{
	vu size = a & ~F_SIGN;

	return (vu)(size != 0) & (vu)(size < F_INFINITY);
}

/* Return the bits of the value, of a denormal those of 2^24 times it. */
static inline vu f_normal(vu a, vu denormal)
{
	return vu_select(denormal, (vu)((vf)a * 0x1p24f), a);
}

static inline vu f_frexp_exp(vu a)
{
	vu denormal = (vu)((a & F_INFINITY) == 0);
	vu biased = (f_normal(a, denormal) & F_INFINITY) >> 23;

	return (biased - 126 - (denormal & 24)) & f_is_finite(a);
}

static inline vu f_frexp_mant(vu a)
{
	vu bits = f_normal(a, (vu)((a & F_INFINITY) == 0));
	vu half = (bits & (F_SIGN | F_FRACTION)) | 0x3f000000u;

	return f_result((vf)vu_select(f_is_finite(a), half, a));
}
