/* SPDX-License-Identifier: MIT */
/*
 * Lanes of a row to and from memory: those that follow each other in one go,
 * others word by word.
 *
 * Included by level_*.c behind vec.h.
 *
 * Limits: the caller has checked every address. Guest memory may be changed by
 * others at any time: each word is accessed once, aligned, and so never torn.
 */

#define MANY_RUNS 6	/* from here on lane by lane is faster */

/* Lanes whose offset is 4 above that of the lane before; never lane 0. */
static inline u32 following_lanes(const vu *off)
{
	u32 bits = 0;
#if USC_VEC_BYTES == 64
	const __m512i low = (__m512i)off[0], high = (__m512i)off[1];
	const vu before[VECS] = { (vu)_mm512_alignr_epi32(low, low, VEC_LANES - 1),
				  (vu)_mm512_alignr_epi32(high, low, VEC_LANES - 1) };
#else
	u32 word[PUMICE_LANES + 1] = { 0 };
	vu before[VECS];

	memcpy(&word[1], off, sizeof(before));
	memcpy(before, word, sizeof(before));
#endif
	EACH(k)
		bits |= ROW_BITS(vm_equal(off[k], before[k] + 4), k);
	return bits & ~1u;
}

/* The lanes from the lowest on that follow each other. */
static inline u32 first_run(u32 lanes, u32 following)
{
	unsigned int start = (unsigned int)__builtin_ctz(lanes);
	u64 stop = ~((u64)(lanes & following) >> start) & ~1ull;

	return (u32)(((1ull << __builtin_ctzll(stop)) - 1) << start);
}

/* Words p[l] to the lanes whose bit is set. */
static inline void load_run(vu *d, const u32 *p, u32 lanes)
{
#if USC_VEC_BYTES == 64
	EACH(k)
		d[k] = (vu)_mm512_mask_loadu_epi32((__m512i)d[k], vector_mask(lanes, k),
						   p + k * VEC_LANES);
#elif USC_VEC_BYTES == 32
	EACH(k) {
		vm m = vector_mask(lanes, k);

		d[k] = vm_pick(m, (vu)_mm256_maskload_epi32((const int *)p + k * VEC_LANES,
							    (__m256i)m), d[k]);
	}
#else
	for (; lanes; lanes &= lanes - 1) {
		u32 l = (u32)__builtin_ctz(lanes);

		((u32 *)(void *)d)[l] = __atomic_load_n(&p[l], __ATOMIC_RELAXED);
	}
#endif
}

static inline void store_run(u32 *p, const vu *s, u32 lanes)
{
#if USC_VEC_BYTES == 64
	EACH(k)
		_mm512_mask_storeu_epi32(p + k * VEC_LANES, vector_mask(lanes, k), (__m512i)s[k]);
#elif USC_VEC_BYTES == 32
	EACH(k)
		_mm256_maskstore_epi32((int *)p + k * VEC_LANES, (__m256i)vector_mask(lanes, k),
				       (__m256i)s[k]);
#else
	for (; lanes; lanes &= lanes - 1) {
		u32 l = (u32)__builtin_ctz(lanes);

		__atomic_store_n(&p[l], ((const u32 *)(const void *)s)[l], __ATOMIC_RELAXED);
	}
#endif
}

/* Words at base + off - less, which is below 2^31, to the lanes whose bit is set. */
static inline void gather(vu *d, const u8 *base, const vu *off, u32 less, u32 lanes)
{
#if USC_VEC_BYTES == 64
	EACH(k)
		d[k] = (vu)_mm512_mask_i32gather_epi32((__m512i)d[k], vector_mask(lanes, k),
						       (__m512i)(off[k] - less), base, 1);
#elif USC_VEC_BYTES == 32
	EACH(k)
		d[k] = (vu)_mm256_mask_i32gather_epi32((__m256i)d[k],
						       (const int *)(const void *)base,
						       (__m256i)(off[k] - less),
						       (__m256i)vector_mask(lanes, k), 1);
#else
	for (; lanes; lanes &= lanes - 1) {
		u32 l = (u32)__builtin_ctz(lanes);
		u32 at = ((const u32 *)(const void *)off)[l] - less;

		((u32 *)(void *)d)[l] = __atomic_load_n((const u32 *)(const void *)(base + at),
							__ATOMIC_RELAXED);
	}
#endif
}

/* Of lanes with one address the highest is stored last. */
static inline void scatter(u8 *base, const vu *off, u32 less, const vu *s, u32 lanes)
{
	for (; lanes; lanes &= lanes - 1) {
		u32 l = (u32)__builtin_ctz(lanes);
		u32 at = ((const u32 *)(const void *)off)[l] - less;

		__atomic_store_n((u32 *)(void *)(base + at), ((const u32 *)(const void *)s)[l],
				 __ATOMIC_RELAXED);
	}
}

static inline bool few_runs(u32 lanes, u32 following)
{
	return __builtin_popcount(lanes & ~(following & lanes << 1)) < MANY_RUNS;
}

/*
 * Where lane 0's word would be, if that of the lowest lane is at base + off -
 * less and the others follow it. Nothing below that lane's is accessed.
 */
static inline u32 *row_at(const u8 *base, const vu *off, u32 less, u32 lanes)
{
	u32 l = (u32)__builtin_ctz(lanes);
	u32 at = ((const u32 *)(const void *)off)[l] - less;

	return (u32 *)((uintptr_t)base + at - l * sizeof(u32));
}

/* Words at base + off - less to the lanes whose bit is set. */
static inline void load_lanes(vu *d, const u8 *base, const vu *off, u32 less, u32 lanes)
{
	u32 following = following_lanes(off), run;

	if (!few_runs(lanes, following)) {
		gather(d, base, off, less, lanes);
		return;
	}
	for (; lanes; lanes &= ~run) {
		run = first_run(lanes, following);
		load_run(d, row_at(base, off, less, lanes), run);
	}
}

/* The other way. */
static inline void store_lanes(u8 *base, const vu *off, u32 less, const vu *s, u32 lanes)
{
	u32 following = following_lanes(off), run;

	if (!few_runs(lanes, following)) {
		scatter(base, off, less, s, lanes);
		return;
	}
	for (; lanes; lanes &= ~run) {
		run = first_run(lanes, following);
		store_run(row_at(base, off, less, lanes), s, run);
	}
}
