/* SPDX-License-Identifier: MIT */
/*
 * Reciprocal, roots, exponential, logarithm, sine and cosine of one vector.
 *
 * Source: hw/isa.xml, "Transcendental". Included by level_*.c after float.inc.h.
 *
 * All functions except the reciprocal and the square root are computed in double by a power
 * series with an error of at most 2^-40, and rounded to f32 once: so the error stays within
 * 0.51 ulp, and results are equal on every host. Measured by
 * tests/unit/usc/test_transcendental.c.
 */

static inline vu f_rcp(vu a)
{
	return f_result(1.0f / (vf)a);
}

static inline vu f_sqrt(vu a)
{
	return f_result(f_sqrt_of((vf)a));
}

static inline vu f_rsqrt(vu a)
{
	return f_result((vf)narrow(1.0 / d_sqrt(wide_low(a)), 1.0 / d_sqrt(wide_high(a))));
}

/* Evaluate a power series in x, the lowest coefficient first. */
static inline vd d_series(vd x, const double *coefficient, u32 count)
{
	vd sum = d_splat(coefficient[count - 1]);

	_Pragma("GCC unroll 16") for (u32 n = count - 1; n--;)
		sum = sum * x + coefficient[n];
	return sum;
}

#define SERIES(x, coefficient) d_series(x, coefficient, sizeof(coefficient) / sizeof(double))

/* Beyond this every result is zero or infinity. */
#define EXP2_MOST 200.0

/* 2^x = 2^k 2^f, k an integer and |f| at most 1/2; 2^f by the series of e^(f ln 2). */
static inline vd d_exp2(vd x)
{
	static const double series[] = {
		0x1.0000000000000p+0, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c58fp-3,
		0x1.c6b08d704a0c0p-5, 0x1.3b2ab6fba4e77p-7, 0x1.5d87fe78a6731p-10,
		0x1.430912f86c787p-13, 0x1.ffcbfc588b0c7p-17, 0x1.62c0223a5c824p-20,
		0x1.b5253d395e7c4p-24, 0x1.e4cf5158b8ecap-28,
	};
	vd k;

	x = d_select((vq)(x > EXP2_MOST), d_splat(EXP2_MOST), x);
	x = d_select((vq)(x < -EXP2_MOST), d_splat(-EXP2_MOST), x);
	k = x + D_ROUNDER;
	return SERIES(x - (k - D_ROUNDER), series) * d_power((vq)k);
}

static inline vu f_exp2(vu a)
{
	vu r = narrow(d_exp2(wide_low(a)), d_exp2(wide_high(a)));

	return f_result((vf)vu_select((vu)((vf)a != (vf)a), a, r));
}

#define D_EXPONENT 0xfff0000000000000ull
#define D_ROOT_HALF_BITS 0x3fe6a09e667f3bcdull

/*
 * x = 2^k m with m between the roots of 1/2 and 2, and log2 m = 2 / ln 2 *
 * atanh(s) with s = (m - 1) / (m + 1). For finite x > 0.
 */
static inline vd d_log2(vd x)
{
	static const double series[] = {	/* of atanh(s) / s in s^2, times 2 / ln 2 */
		0x1.71547652b82fep+1, 0x1.ec709dc3a03fdp-1, 0x1.2776c50ef9bfep-1,
		0x1.a61762a7aded9p-2, 0x1.484b13d7c02a9p-2, 0x1.0c9a84994022dp-2,
		0x1.c68f568d31760p-3, 0x1.89f3b1694cffep-3, 0x1.5b9ac9b743f0dp-3,
	};
	vq above = (vq)x - D_ROOT_HALF_BITS;	/* its exponent field is k */
	vd k = d_of_word((above + D_ONE_BITS) >> 52) - 1023.0;
	vd m = (vd)((vq)x - (above & D_EXPONENT));
	vd s = (m - 1.0) / (m + 1.0);

	return k + s * SERIES(s * s, series);
}

static inline vu f_log2(vu a)
{
	vu usual = f_is_finite(a) & (vu)((vs)a >= 0);
	vu safe = vu_select(usual, a, splat(0x3f800000u));
	vu r = narrow(d_log2(wide_low(safe)), d_log2(wide_high(safe)));
	/*
	 * Infinity and NaN are returned unchanged, zero results in minus infinity, negative
	 * values in NaN.
	 */
	vu other = vu_select((vu)(a < F_SIGN), a, splat(USC_F32_NAN));

	other = vu_select((vu)((a & ~F_SIGN) == 0), splat(F_SIGN | F_INFINITY), other);
	return f_result((vf)vu_select(usual, r, other));
}

/* Up to this angle pi / 2 in three parts is sufficient: products with the first two are exact. */
#define CIRCLE_NEAR 0x1p20

/* An angle as quarter turns and a remainder of at most an eighth of a turn. */
struct circle {
	vd rest;	/* radians */
	vq quarters;	/* in the low two bits */
};

static inline struct circle d_reduce(vd x)
{
	vq near = (vq)(x <= CIRCLE_NEAR);
	vd safe = (vd)((vq)x & near), k = safe * 0x1.45f306dc9c883p-1 + D_ROUNDER;
	struct circle c = { .quarters = (vq)k };

	k -= D_ROUNDER;
	c.rest = safe - k * 0x1.921fb544p+0;
	c.rest -= k * 0x1.0b4611a6p-34;
	c.rest -= k * 0x1.3198a2e037073p-69;
	for (u32 l = 0; l < VEC_LANES / 2; l++) {
		if (!near[l] && x[l] < __builtin_inf()) {
			double rest;

			c.quarters[l] = usc_reduce_angle((float)x[l], &rest);
			c.rest[l] = rest;
		}
	}
	return c;
}

/* Sine of the non-negative angle plus quarters quarter turns. */
static inline vd d_sin(vd x, u32 quarters)
{
	static const double sine[] = {	/* of sin(r) / r in r^2 */
		1.0, -0x1.5555555555555p-3, 0x1.1111111111111p-7, -0x1.a01a01a01a01ap-13,
		0x1.71de3a556c734p-19, -0x1.ae64567f544e4p-26, 0x1.6124613a86d09p-33,
	};
	static const double cosine[] = {
		1.0, -0.5, 0x1.5555555555555p-5, -0x1.6c16c16c16c17p-10, 0x1.a01a01a01a01ap-16,
		-0x1.27e4fb7789f5cp-22, 0x1.1eed8eff8d898p-29, -0x1.93974a8c07c9dp-37,
	};
	struct circle c = d_reduce(x);
	vd square = c.rest * c.rest;
	vq quadrant = c.quarters + quarters, odd = -(quadrant & 1);
	vd r = d_select(odd, SERIES(square, cosine), c.rest * SERIES(square, sine));

	return (vd)((vq)r ^ ((quadrant & 2) << 62));
}

/* Results for arguments that are not angles: infinity and NaN. */
static inline vu f_of_angle(vu a, vu r)
{
	return vu_select((vu)((a & ~F_SIGN) >= F_INFINITY), splat(USC_F32_NAN), r);
}

static inline vu f_sin(vu a)
{
	vu size = a & ~F_SIGN;
	vu r = narrow(d_sin(wide_low(size), 0), d_sin(wide_high(size), 0));

	return f_of_angle(a, r ^ (a & F_SIGN));
}

static inline vu f_cos(vu a)
{
	vu size = a & ~F_SIGN;

	return f_of_angle(a, narrow(d_sin(wide_low(size), 1), d_sin(wide_high(size), 1)));
}
