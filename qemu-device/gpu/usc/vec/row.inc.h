/* SPDX-License-Identifier: MIT */
/*
 * Rows of operands: lane masks, selection, permutation.
 *
 * Included once per vector level (level_*.c), which defines VEC_BYTES. Operations that the
 * compiler's vector extensions lack (lane masks to bits) are here, per level.
 *
 * Limits: rows are aligned to a row's size.
 */
#include "../exec.h"

#include "../../levels/vectors.inc.h"

/* vu at any word address. */
typedef u32 vu_any __attribute__((vector_size(VEC_BYTES), may_alias, aligned(4)));

/* vm: a condition on the lanes of one vector, in the host's native form. */
#if VEC_BYTES == 64
typedef __mmask16 vm;

static inline vm vm_test(vu a, vu bits)
{
	return _mm512_test_epi32_mask((__m512i)a, (__m512i)bits);
}

static inline vm vm_above(vu a, vu b)
{
	return _mm512_cmpgt_epu32_mask((__m512i)a, (__m512i)b);
}

static inline vm vm_equal(vu a, vu b)
{
	return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b);
}

static inline vm vm_nan(vf a)
{
	return _mm512_cmp_ps_mask((__m512)a, (__m512)a, _CMP_UNORD_Q);
}

static inline u32 vm_bits(vm m)
{
	return m;
}

static inline vm vm_of_bits(u32 bits)
{
	return (vm)bits;
}

/* Select lanes of t where m is true, of f elsewhere. */
static inline vu vm_select(vm m, vu t, vu f)
{
	return (vu)_mm512_mask_mov_epi32((__m512i)f, m, (__m512i)t);
}
#else
typedef vu vm;	/* all ones or zero */

static inline vm vm_test(vu a, vu bits)
{
	return (vu)((a & bits) != 0);
}

static inline vm vm_above(vu a, vu b)
{
	return (vu)(a > b);
}

static inline vm vm_equal(vu a, vu b)
{
	return (vu)(a == b);
}

static inline vm vm_nan(vf a)
{
	return (vu)(a != a);
}

static inline u32 vm_bits(vm m)
{
#if VEC_BYTES == 32
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

static inline vm vm_of_bits(u32 bits)
{
	vu lane;

	for (u32 l = 0; l < VEC_LANES; l++)
		lane[l] = 1u << l;
	return vm_test(splat(bits), lane);
}

static inline vu vm_select(vm m, vu t, vu f)
{
	return vu_select(m, t, f);
}
#endif

static inline vu *row_of(const struct exec *x, const struct usc_insn *i, enum usc_place place)
{
	return (vu *)(void *)exec_operand(x, i, place);
}

/* The same for an operand among the wave's registers in the unified store, where most are. */
static inline vu *reg_of(const struct exec *x, const struct usc_insn *i, enum usc_place place)
{
	return (vu *)(void *)(x->base[USC_BASE_REG] + i->offset[place]);
}

/* Return vector k of the lane numbers. */
static inline vu lane_numbers(unsigned int k)
{
	vu n;

	for (u32 l = 0; l < VEC_LANES; l++)
		n[l] = k * VEC_LANES + l;
	return n;
}

/* Bits of a row of lanes from those of its vectors: for use after EACH(k). */
#define ROW_BITS(m, k) (vm_bits(m) << ((k) * VEC_LANES))

/* Return the lanes of vector k whose bit is set. */
static inline vm vector_mask(u32 bits, unsigned int k)
{
	return vm_of_bits(bits >> (k * VEC_LANES));
}

/* Return vector k of a double mask. */
static inline vm mask_vector(const struct exec *x, const struct usc_mask *mask, unsigned int k)
{
	const vu *a = (const vu *)(const void *)exec_mask_row(x, mask, 0);
	const vu *b = (const vu *)(const void *)exec_mask_row(x, mask, 1);

	return vm_test((a[k] ^ mask->invert[0]) & (b[k] ^ mask->invert[1]), splat(1));
}

/*
 * Return the valid lanes where the instruction's mask is true. Functions have two variants,
 * for masks that are constant when the program is built and for others.
 */
static inline u32 active_lanes(const struct exec *x, const struct usc_insn *i, bool known)
{
	const struct usc_mask *mask;
	u32 bits = 0;

	if (known)
		return i->lanes & x->valid;
	mask = exec_mask(x, i, USC_MASK_OF_LANES);
	EACH(k)
		bits |= ROW_BITS(mask_vector(x, mask, k), k);
	return bits & x->valid;
}

/* The common body of a family of functions, which differ by constant arguments. */
#define FAMILY static inline __attribute__((always_inline)) const struct usc_insn *

#define VARIANT(name, call)								\
	static const struct usc_insn *name(struct exec *x, const struct usc_insn *i)	\
	{										\
		return call;								\
	}

/* name_known and name_masked, from an inline function. */
#define MASKED(name)									\
	VARIANT(name##_known, name(x, i, true))						\
	VARIANT(name##_masked, name(x, i, false))

/* Set d[l] = s[idx[l] mod 32]; d may be the same row as s or idx. */
static inline __attribute__((always_inline)) void
permute(vu *d, const vu_any *s, const vu *idx)
{
#if VEC_BYTES == 64
	const __m512i low = (__m512i)s[0], high = (__m512i)s[1];

	EACH(k)
		d[k] = (vu)_mm512_permutex2var_epi32(low, (__m512i)idx[k], high);
#elif VEC_BYTES == 32
	const __m256i s0 = (__m256i)s[0], s1 = (__m256i)s[1], s2 = (__m256i)s[2],
		      s3 = (__m256i)s[3];

	/* Bits 3 and 4 of the index, moved to the sign bit, select one of the four vectors. */
	EACH(k) {
		__m256i at = (__m256i)idx[k];
		__m256 bit3 = (__m256)(idx[k] << 28), bit4 = (__m256)(idx[k] << 27);
		__m256 low = _mm256_blendv_ps((__m256)_mm256_permutevar8x32_epi32(s0, at),
					      (__m256)_mm256_permutevar8x32_epi32(s1, at), bit3);
		__m256 high = _mm256_blendv_ps((__m256)_mm256_permutevar8x32_epi32(s2, at),
					       (__m256)_mm256_permutevar8x32_epi32(s3, at), bit3);

		d[k] = (vu)_mm256_blendv_ps(low, high, bit4);
	}
#else
	vu from[VECS], at[VECS];

	EACH(k) {
		from[k] = s[k];
		at[k] = idx[k] % PUMICE_LANES;
	}
	EACH(k) {
		vu r;

		for (u32 l = 0; l < VEC_LANES; l++)
			r[l] = ((const u32 *)(const void *)from)[at[k][l]];
		d[k] = r;
	}
#endif
}
