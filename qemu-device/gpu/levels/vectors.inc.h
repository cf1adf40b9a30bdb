/* SPDX-License-Identifier: MIT */
/*
 * A row of 32 lanes as a few vectors of the host's size.
 *
 * Included once per vector level, by a file that defines VEC_BYTES. All arithmetic on these
 * types is the compiler's vector extensions, so that results are equal on every level.
 *
 * Limits: little endian.
 */
#define VEC_LANES (VEC_BYTES / 4)
#define VECS (PUMICE_LANES / VEC_LANES)
/* For every vector of a row. */
#define EACH(k) _Pragma("GCC unroll 8") for (u32 k = 0; k < VECS; k++)

typedef u32 vu __attribute__((vector_size(VEC_BYTES), may_alias));
typedef s32 vs __attribute__((vector_size(VEC_BYTES), may_alias));
typedef float vf __attribute__((vector_size(VEC_BYTES), may_alias));

static inline vu splat(u32 word)
{
	return (vu){ 0 } + word;
}

/* Select the bits of t where those of m are set, of f where they are clear. */
static inline vu vu_select(vu m, vu t, vu f)
{
	return (m & t) | (~m & f);
}
