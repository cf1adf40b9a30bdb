/* SPDX-License-Identifier: MIT */
/*
 * A row of 32 lanes as a few vectors of the host's size.
 *
 * Included once per vector level (level_*.c), which defines USC_VEC_BYTES. All
 * arithmetic is the compiler's vector extensions, so that every level computes
 * the same; what the extensions cannot say (lane masks to bits) is here, per level.
 *
 * Limits: little endian; rows are aligned to a row's size.
 */
#include "exec.h"

#define VEC_LANES (USC_VEC_BYTES / 4)
#define VECS (PUMICE_LANES / VEC_LANES)
/* For every vector of a row. */
#define EACH(k) _Pragma("GCC unroll 8") for (unsigned int k = 0; k < VECS; k++)

typedef u32 vu __attribute__((vector_size(USC_VEC_BYTES), may_alias));
typedef s32 vs __attribute__((vector_size(USC_VEC_BYTES), may_alias));
typedef float vf __attribute__((vector_size(USC_VEC_BYTES), may_alias));
/* The same anywhere in memory. */
typedef u32 vu_any __attribute__((vector_size(USC_VEC_BYTES), may_alias, aligned(4)));

static inline vu splat(u32 word)
{
	return (vu){ 0 } + word;
}

/* Lanes of t where m is all ones, of f where it is zero. */
static inline vu pick(vu m, vu t, vu f)
{
	return (m & t) | (~m & f);
}

static inline vu *row_of(const struct exec *x, const struct usc_insn *i, enum usc_place place)
{
	return (vu *)(void *)exec_operand(x, i, place);
}

/* Vector k of lane numbers. */
static inline vu lane_numbers(unsigned int k)
{
	vu n;

	for (u32 l = 0; l < VEC_LANES; l++)
		n[l] = k * VEC_LANES + l;
	return n;
}

/* Bits of the lanes that are not zero; m is all ones or zero in each. */
static inline u32 vec_bits(vu m)
{
#if USC_VEC_BYTES == 64
	return _mm512_movepi32_mask((__m512i)m);
#elif USC_VEC_BYTES == 32
	return (u32)_mm256_movemask_ps((__m256)m);
#elif defined(__SSE2__)
	return (u32)_mm_movemask_ps((__m128)m);
#else
	u32 bits = 0;

	for (u32 l = 0; l < VEC_LANES; l++)
		bits |= (m[l] & 1) << l;
	return bits;
#endif
}

/* All ones in the lanes of vector k whose bit is set. */
static inline vu bits_vec(u32 bits, unsigned int k)
{
	return (vu)((splat(bits) >> lane_numbers(k) & 1) != 0);
}

/* Vector k of a double mask: 1 or 0 in each lane. */
static inline vu mask_value(const struct exec *x, const struct usc_mask *mask, unsigned int k)
{
	const vu *a = (const vu *)(const void *)exec_mask_row(x, mask, 0);
	const vu *b = (const vu *)(const void *)exec_mask_row(x, mask, 1);

	return (a[k] ^ mask->invert[0]) & (b[k] ^ mask->invert[1]) & 1;
}

/* The lanes where the instruction's mask is true, valid or not. */
static inline u32 mask_bits(const struct exec *x, const struct usc_insn *i)
{
	const struct usc_mask *mask = exec_mask(x, i, USC_MASK_OF_LANES);
	u32 bits = 0;

	if (mask->constant)
		return mask->bits;
	EACH(k)
		bits |= vec_bits(-mask_value(x, mask, k)) << (k * VEC_LANES);
	return bits;
}

/* d[l] = s[idx[l] mod 32]; d may be the same row as s or idx. */
static inline void permute(vu *d, const vu_any *s, const vu *idx)
{
#if USC_VEC_BYTES == 64
	const __m512i low = (__m512i)s[0], high = (__m512i)s[1];

	EACH(k)
		d[k] = (vu)_mm512_permutex2var_epi32(low, (__m512i)idx[k], high);
#else
	u32 from[PUMICE_LANES], to[PUMICE_LANES];

	memcpy(from, s, sizeof(from));
	for (u32 l = 0; l < PUMICE_LANES; l++)
		to[l] = from[((const u32 *)(const void *)idx)[l] % PUMICE_LANES];
	memcpy(d, to, sizeof(to));
#endif
}
