/* SPDX-License-Identifier: MIT */
/*
 * Loads and stores of the lanes of a row: consecutive lanes in one operation, others word by
 * word.
 *
 * Included by level_*.c after row.inc.h.
 *
 * Limits: the caller has checked every address. The guest may change its memory at any time:
 * each word is accessed once, aligned, and so never torn.
 */

#define MANY_RUNS 6	/* with this many runs lane by lane is faster */

/* Return the last lane of a vector and all but the last lane of the next. */
#if VEC_BYTES == 64
#define SHIFT_IN(a, b) __builtin_shufflevector(a, b, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, \
					       26, 27, 28, 29, 30)
#elif VEC_BYTES == 32
#define SHIFT_IN(a, b) __builtin_shufflevector(a, b, 7, 8, 9, 10, 11, 12, 13, 14)
#else
#define SHIFT_IN(a, b) __builtin_shufflevector(a, b, 3, 4, 5, 6)
#endif

/*
 * Return the lanes whose offset is step above that of the previous lane, modulo 2^32; never
 * lane 0.
 */
static inline u32 lanes_in_step(const vu *off, u32 step)
{
	vu last = off[0];
	u32 bits = 0;

	EACH(k) {
		bits |= ROW_BITS(vm_equal(off[k], SHIFT_IN(last, off[k]) + step), k);
		last = off[k];
	}
	return bits & ~1u;
}

static inline u32 following_lanes(const vu *off)
{
	return lanes_in_step(off, 4);
}

/* Return whether all lanes are active and their offsets ascend by step, without a wrap. */
static inline bool all_in_step(const vu *off, u32 active, u32 step)
{
	return (active & (lanes_in_step(off, step) | 1)) == UINT32_MAX &&
	       *(const u32 *)(const void *)off <= UINT32_MAX - (PUMICE_LANES - 1) * step;
}

/* Return the first run of consecutive lanes. */
static inline u32 first_run(u32 lanes, u32 following)
{
	unsigned int start = (unsigned int)__builtin_ctz(lanes);
	u64 stop = ~((u64)(lanes & following) >> start) & ~1ull;

	return (u32)(((1ull << __builtin_ctzll(stop)) - 1) << start);
}

#if VEC_BYTES != 64
/* Copy count words, in whole vectors where possible. */
static inline void copy_words(u32 *to, const u32 *from, u32 count)
{
	for (; count >= VEC_LANES; count -= VEC_LANES, to += VEC_LANES, from += VEC_LANES)
		*(vu_any *)(void *)to = *(const vu_any *)(const void *)from;
	for (; count; count--, to++, from++)
		__atomic_store_n(to, __atomic_load_n(from, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}
#endif

/* Load words p[l] to the lanes whose bit is set, which are consecutive. */
static inline void load_run(vu *d, const u32 *p, u32 lanes)
{
#if VEC_BYTES == 64
	EACH(k)
		if (vector_mask(lanes, k))
			d[k] = (vu)_mm512_mask_loadu_epi32((__m512i)d[k], vector_mask(lanes, k),
							   p + k * VEC_LANES);
#else
	u32 l = (u32)__builtin_ctz(lanes);

	copy_words((u32 *)(void *)d + l, p + l, (u32)__builtin_popcount(lanes));
#endif
}

static inline void store_run(u32 *p, const vu *s, u32 lanes)
{
#if VEC_BYTES == 64
	EACH(k)
		_mm512_mask_storeu_epi32(p + k * VEC_LANES, vector_mask(lanes, k), (__m512i)s[k]);
#else
	u32 l = (u32)__builtin_ctz(lanes);

	copy_words(p + l, (const u32 *)(const void *)s + l, (u32)__builtin_popcount(lanes));
#endif
}

/* Load words at base + off - less, which is below 2^31, to the lanes whose bit is set. */
static inline void gather(vu *d, const u8 *base, const vu *off, u32 less, u32 lanes)
{
#if VEC_BYTES == 64
	EACH(k)
		d[k] = (vu)_mm512_mask_i32gather_epi32((__m512i)d[k], vector_mask(lanes, k),
						       (__m512i)(off[k] - less), base, 1);
#elif VEC_BYTES == 32
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

/* Of lanes with the same address the highest is stored last. */
static inline void scatter(u8 *base, const vu *off, u32 less, const vu *s, u32 lanes)
{
	for (; lanes; lanes &= lanes - 1) {
		u32 l = (u32)__builtin_ctz(lanes);
		u32 at = ((const u32 *)(const void *)off)[l] - less;

		__atomic_store_n((u32 *)(void *)(base + at), ((const u32 *)(const void *)s)[l],
				 __ATOMIC_RELAXED);
	}
}

/* Return the first lane of each run of consecutive lanes. */
static inline u32 run_starts(u32 lanes, u32 following)
{
	return lanes & ~(following & lanes << 1);
}

static inline bool few_runs(u32 lanes, u32 following)
{
	return __builtin_popcount(run_starts(lanes, following)) < MANY_RUNS;
}

/*
 * Return the address of lane 0's word, if that of the lowest lane is at base + off - less and
 * the others follow it. No word below that lane's is accessed.
 */
static inline u32 *row_at(const u8 *base, const vu *off, u32 less, u32 lanes)
{
	u32 l = (u32)__builtin_ctz(lanes);
	u32 at = ((const u32 *)(const void *)off)[l] - less;

	return (u32 *)((uintptr_t)base + at - l * sizeof(u32));
}

/*
 * Load words at base + off - less to the lanes whose bit is set; the caller passes
 * following_lanes(off).
 */
static inline void load_lanes(vu *d, const u8 *base, const vu *off, u32 less, u32 lanes,
			      u32 following)
{
	u32 run;

	if (!few_runs(lanes, following)) {
		gather(d, base, off, less, lanes);
		return;
	}
	for (; lanes; lanes &= ~run) {
		run = first_run(lanes, following);
		load_run(d, row_at(base, off, less, lanes), run);
	}
}

/* Store them. */
static inline void store_lanes(u8 *base, const vu *off, u32 less, const vu *s, u32 lanes,
			       u32 following)
{
	u32 run;

	if (!few_runs(lanes, following)) {
		scatter(base, off, less, s, lanes);
		return;
	}
	for (; lanes; lanes &= ~run) {
		run = first_run(lanes, following);
		store_run(row_at(base, off, less, lanes), s, run);
	}
}
