/* SPDX-License-Identifier: MIT */
/*
 * Operations on vectors of a row of texels.
 *
 * Included once per vector level (level_*.c), which defines VEC_BYTES.
 *
 * Limits: rows are aligned to 64 bytes.
 */
#include "../levels/vectors.inc.h"

/* Vectors with the number of 64-bit lanes of a vector: of 64-bit lanes, and of 32-bit ones. */
typedef u64 vl __attribute__((vector_size(VEC_BYTES), may_alias));
typedef u32 vh __attribute__((vector_size(VEC_BYTES / 2), may_alias));

/* Vector k of a row. */
#define VU(row) ((vu *)(void *)(row))
#define VF(row) ((vf *)(void *)(row))
#define CVU(row) ((const vu *)(const void *)(row))
#define CVF(row) ((const vf *)(const void *)(row))

static inline vf f_splat(float f)
{
	return (vf){ 0 } + f;
}

/* Select lanes of t where m is all ones, of f where it is zero. */
static inline vu u_select(vu m, vu t, vu f)
{
#if VEC_BYTES == 64
	return (vu)_mm512_ternarylogic_epi32((__m512i)m, (__m512i)t, (__m512i)f, 0xca);
#elif VEC_BYTES == 32
	return (vu)_mm256_blendv_epi8((__m256i)f, (__m256i)t, (__m256i)m);
#else
	return vu_select(m, t, f);
#endif
}

static inline vf f_select(vu m, vf t, vf f)
{
	return (vf)u_select(m, (vu)t, (vu)f);
}

/* Return the maximum, the minimum; b if one is NaN. */
static inline vf f_max(vf a, vf b)
{
#if VEC_BYTES == 64
	return (vf)_mm512_max_ps((__m512)a, (__m512)b);
#elif VEC_BYTES == 32
	return (vf)_mm256_max_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
	return (vf)_mm_max_ps((__m128)a, (__m128)b);
#else
	return f_select((vu)(a > b), a, b);
#endif
}

static inline vf f_min(vf a, vf b)
{
#if VEC_BYTES == 64
	return (vf)_mm512_min_ps((__m512)a, (__m512)b);
#elif VEC_BYTES == 32
	return (vf)_mm256_min_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
	return (vf)_mm_min_ps((__m128)a, (__m128)b);
#else
	return f_select((vu)(a < b), a, b);
#endif
}

static inline vs s_max(vs a, vs b)
{
	return (vs)u_select((vu)(a > b), (vu)a, (vu)b);
}

static inline vs s_min(vs a, vs b)
{
	return (vs)u_select((vu)(a < b), (vu)a, (vu)b);
}

static inline vf f_of_s(vs a)
{
	return __builtin_convertvector(a, vf);
}

/* Round towards zero; a must be within the range of s32. */
static inline vs s_of_f(vf a)
{
	return __builtin_convertvector(a, vs);
}

/* Return the largest integer not above a, which must be within the range of s32. */
static inline vf f_floor(vf a)
{
	vf t = f_of_s(s_of_f(a));

	return t - (vf)((vu)(t > a) & (vu)f_splat(1.0f));
}

static inline vf f_abs(vf a)
{
	return (vf)((vu)a & 0x7fffffffu);
}

/* Return all ones in the lanes of vector k whose bit is set. */
static inline vu u_lanes(u32 bits, u32 k)
{
	vu lane;

	for (u32 l = 0; l < VEC_LANES; l++)
		lane[l] = 1u << l;
	return (vu)((splat(bits >> (k * VEC_LANES)) & lane) != 0);
}

/* Return all ones or all zeros. */
static inline vu u_mask(bool on)
{
	return splat(on ? ~0u : 0u);
}
