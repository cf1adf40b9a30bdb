/* SPDX-License-Identifier: MIT */
/*
 * Lanes of twice the width: the two halves of a vector as doubles or 64-bit integers, for
 * intermediate results of more than 32 bits.
 *
 * Included by level_*.c after row.inc.h.
 *
 * Limits: only operations whose result IEEE 754 or C defines to the bit, so results are equal
 * on every level; nothing is contracted (see meson.build).
 */

typedef u64 vq __attribute__((vector_size(VEC_BYTES), may_alias));
typedef double vd __attribute__((vector_size(VEC_BYTES), may_alias));
typedef u32 vu_half __attribute__((vector_size(VEC_BYTES / 2), may_alias));
typedef float vf_half __attribute__((vector_size(VEC_BYTES / 2), may_alias));

#if VEC_BYTES == 64
#define LOW_HALF(a) __builtin_shufflevector(a, a, 0, 1, 2, 3, 4, 5, 6, 7)
#define HIGH_HALF(a) __builtin_shufflevector(a, a, 8, 9, 10, 11, 12, 13, 14, 15)
#define JOIN(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, \
					   12, 13, 14, 15)
#elif VEC_BYTES == 32
#define LOW_HALF(a) __builtin_shufflevector(a, a, 0, 1, 2, 3)
#define HIGH_HALF(a) __builtin_shufflevector(a, a, 4, 5, 6, 7)
#define JOIN(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
#else
#define LOW_HALF(a) __builtin_shufflevector(a, a, 0, 1)
#define HIGH_HALF(a) __builtin_shufflevector(a, a, 2, 3)
#define JOIN(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3)
#endif

/* Convert f32 lanes to double, exactly. */
static inline vd wide_low(vu a)
{
	return __builtin_convertvector((vf_half)LOW_HALF(a), vd);
}

static inline vd wide_high(vu a)
{
	return __builtin_convertvector((vf_half)HIGH_HALF(a), vd);
}

/* Convert back, with one rounding. */
static inline vu narrow(vd low, vd high)
{
	vu_half l = (vu_half)__builtin_convertvector(low, vf_half);
	vu_half h = (vu_half)__builtin_convertvector(high, vf_half);

	return JOIN(l, h);
}

/* Convert u32 lanes to 64-bit integers, and back to their low words. */
static inline vq u_wide_low(vu a)
{
	return __builtin_convertvector(LOW_HALF(a), vq);
}

static inline vq u_wide_high(vu a)
{
	return __builtin_convertvector(HIGH_HALF(a), vq);
}

static inline vu u_narrow(vq low, vq high)
{
	vu_half l = __builtin_convertvector(low, vu_half);
	vu_half h = __builtin_convertvector(high, vu_half);

	return JOIN(l, h);
}

static inline vd d_splat(double value)
{
	return (vd){ 0 } + value;
}

static inline vd d_select(vq m, vd t, vd f)
{
	return (vd)((m & (vq)t) | (~m & (vq)f));
}

#define D_ONE_BITS 0x3ff0000000000000ull
#define D_TWO_52_BITS 0x4330000000000000ull	/* 2^52: its low bits are an integer */
#define D_ROUNDER 0x1.8p52	/* adding it rounds to an integer, to nearest even */

/* Convert an integer below 2^32 to double. */
static inline vd d_of_word(vq word)
{
	return (vd)(word | D_TWO_52_BITS) - 0x1p52;
}

/* Return 2^k; k as the low bits of a sum with D_ROUNDER, within the exponents of normal doubles. */
static inline vd d_power(vq k)
{
	return (vd)((k << 52) + D_ONE_BITS);
}

static inline vd d_sqrt(vd a)
{
#if VEC_BYTES == 64
	return (vd)_mm512_sqrt_pd((__m512d)a);
#elif VEC_BYTES == 32
	return (vd)_mm256_sqrt_pd((__m256d)a);
#elif defined(__SSE2__)
	return (vd)_mm_sqrt_pd((__m128d)a);
#else
	for (u32 l = 0; l < VEC_LANES / 2; l++)
		a[l] = __builtin_sqrt(a[l]);
	return a;
#endif
}

static inline vf f_sqrt_of(vf a)
{
#if VEC_BYTES == 64
	return (vf)_mm512_sqrt_ps((__m512)a);
#elif VEC_BYTES == 32
	return (vf)_mm256_sqrt_ps((__m256)a);
#elif defined(__SSE2__)
	return (vf)_mm_sqrt_ps((__m128)a);
#else
	for (u32 l = 0; l < VEC_LANES; l++)
		a[l] = __builtin_sqrtf(a[l]);
	return a;
#endif
}
