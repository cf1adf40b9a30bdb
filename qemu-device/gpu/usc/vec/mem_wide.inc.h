/* SPDX-License-Identifier: MIT */
/*
 * Local and global memory: several consecutive words in each active lane, that is 64 and 128
 * bits, and bursts of up to 16 words.
 *
 * Source: document 000, "System Memory Access", for bursts and the alignment; hw/isa.xml.
 * Included by level_*.c after memory.inc.h.
 *
 * Word n of every lane is row n of the data. Consecutive lanes are a block of memory that is
 * these rows transposed; for 2, 4, 8, 16 words this is a few rounds of separating even words
 * from odd ones.
 *
 * A word that several lanes store gets the value of the highest lane, whichever of its words
 * that is: stores go lane by lane. Faults as in memory.inc.h, of a lane's words the first.
 */

#define MAX_VECS (PUMICE_USC_BURST_WORDS * VECS)
#define UNROLLED _Pragma("GCC unroll 32")

/* The even and the odd words of two vectors; the words of both halves alternately. */
#if VEC_BYTES == 64
#define EVEN(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, \
					   26, 28, 30)
#define ODD(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, \
					  27, 29, 31)
#define LOW(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, \
					  22, 7, 23)
#define HIGH(a, b) __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, \
					   14, 30, 15, 31)
#elif VEC_BYTES == 32
#define EVEN(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#define ODD(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)
#define LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#else
#define EVEN(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6)
#define ODD(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7)
#define LOW(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#endif

static inline bool is_power_of_two(u32 words)
{
	return !(words & (words - 1));
}

/* Load all lanes' words from a block of memory; words is a power of two. */
static inline __attribute__((always_inline)) void
load_block(vu *rows, const u8 *p, u32 words)
{
	vu one[MAX_VECS], two[MAX_VECS], *from = one, *to = two, *other;
	u32 vectors = words * VECS;

	UNROLLED
	for (u32 v = 0; v < vectors; v++)
		from[v] = ((const vu_any *)(const void *)p)[v];
	UNROLLED
	for (u32 step = words; step > 1; step /= 2) {
		UNROLLED
		for (u32 v = 0; v < vectors / 2; v++) {
			to[v] = EVEN(from[2 * v], from[2 * v + 1]);
			to[vectors / 2 + v] = ODD(from[2 * v], from[2 * v + 1]);
		}
		other = from;
		from = to;
		to = other;
	}
	UNROLLED
	for (u32 v = 0; v < vectors; v++)
		rows[v] = from[v];
}

/* Store them. */
static inline __attribute__((always_inline)) void
store_block(u8 *p, const vu *rows, u32 words)
{
	vu one[MAX_VECS], two[MAX_VECS], *from = one, *to = two, *other;
	u32 vectors = words * VECS;

	UNROLLED
	for (u32 v = 0; v < vectors; v++)
		from[v] = rows[v];
	UNROLLED
	for (u32 step = words; step > 1; step /= 2) {
		UNROLLED
		for (u32 v = 0; v < vectors / 2; v++) {
			to[2 * v] = LOW(from[v], from[vectors / 2 + v]);
			to[2 * v + 1] = HIGH(from[v], from[vectors / 2 + v]);
		}
		other = from;
		from = to;
		to = other;
	}
	UNROLLED
	for (u32 v = 0; v < vectors; v++)
		((vu_any *)(void *)p)[v] = from[v];
}

/* Load the words of each lane at base + off - less. */
static inline void gather_words(vu *rows, const u8 *base, const vu *off, u32 less, u32 lanes,
				u32 words)
{
	for (u32 n = 0; n < words; n++)
		gather(rows + n * VECS, base + n * 4, off, less, lanes);
}

/* Return one lane's word of a row. */
static inline u32 *lane_word(vu *rows, u32 n, u32 lane)
{
	return (u32 *)(void *)rows + n * PUMICE_LANES + lane;
}

static inline void scatter_words(u8 *base, const vu *off, u32 less, vu *rows, u32 lanes, u32 words)
{
	for (; lanes; lanes &= lanes - 1) {
		u32 l = first_lane(lanes);
		u32 *at = (u32 *)(void *)(base + (((const u32 *)(const void *)off)[l] - less));

		for (u32 n = 0; n < words; n++)
			__atomic_store_n(at + n, *lane_word(rows, n, l), __ATOMIC_RELAXED);
	}
}

FAMILY
local_words(struct exec *x, const struct usc_insn *i, u32 words, bool store)
{
	vu *rows = row_of(x, i, store ? USC_SRC1 : USC_DST), off[VECS];
	u32 active = active_lanes(x, i, i->lanes_known), refused;
	u8 *first;

	if (!store && active && local_load_near(x, i, active, words))
		return exec_next(x, i);
	copy_row(off, row_of(x, i, USC_SRC0));	/* a load may overwrite it row by row */
	refused = local_faulting(x, i, off, active, words * 4, 3);
	if (refused)
		return local_fault(x, i, refused, 3);
	first = x->local + i->value + *(const u32 *)(const void *)off;
	if (all_in_step(off, active, words * 4)) {
		if (store)
			store_block(first, rows, words);
		else
			load_block(rows, first, words);
	} else if (store) {
		scatter_words(x->local + i->value, off, 0, rows, active, words);
	} else {
		gather_words(rows, x->local + i->value, off, 0, active, words);
	}
	return exec_next(x, i);
}

static inline void load_words_in_grain(const struct usc_insn *i, const struct grain *g,
				       const vu *off, vu *data, u32 lanes, u32 words)
{
	(void)i;
	gather_words(data, g->host, off, g->low, lanes, words);
}

static inline void store_words_in_grain(const struct usc_insn *i, const struct grain *g,
					const vu *off, vu *data, u32 lanes, u32 words)
{
	(void)i;
	scatter_words(g->host, off, g->low, data, lanes, words);
}

/* Access lanes some of which cross the end of a grain: one at a time. */
static bool global_each_word(struct exec *x, const struct usc_insn *i, u64 base, const vu *off,
			     vu *rows, u32 active, u32 words, bool store)
{
	for (; active; active &= active - 1) {
		u32 l = first_lane(active);
		u64 va = base + ((const u32 *)(const void *)off)[l];

		for (u32 n = 0; n < words; n++) {
			u32 *at = (u32 *)(void *)exec_host(x, va + n * 4u, store);
			u32 *word = lane_word(rows, n, l);

			if (!at) {
				exec_mmu_fault(x, i);
				exec_fault_lane(x, active);
				return false;
			}
			if (store)
				__atomic_store_n(at, *word, __ATOMIC_RELAXED);
			else
				*word = __atomic_load_n(at, __ATOMIC_RELAXED);
		}
	}
	return true;
}

/* Return the active lanes whose words do not end in the grain where they begin. */
static inline u32 crossing_lanes(const vu *off, u64 base, u32 active, u32 words)
{
	u32 grain = 1u << MMU_GRAIN_SHIFT, bits = 0;

	EACH(k)
		bits |= ROW_BITS(vm_above((off[k] + (u32)base) & (grain - 1),
					  splat(grain - words * 4)), k);
	return bits & active;
}

/* Access lanes at any addresses. Returns false with x->exit set on a fault. */
static __attribute__((noinline)) bool
global_words_any(struct exec *x, const struct usc_insn *i, u64 base, vu *rows, u32 active,
		 u32 words, bool store)
{
	bool burst = i->op == PUMICE_USC_OP_BURST_LOAD || i->op == PUMICE_USC_OP_BURST_STORE, ok;
	vu off[VECS];
	u32 bad;

	copy_row(off, row_of(x, i, USC_SRC0));	/* a load may overwrite it row by row */
	bad = misaligned_lanes(off, base, 3, &active);
	if (crossing_lanes(off, base, active, words))
		ok = global_each_word(x, i, base, off, rows, active, words, store);
	else if (store)
		ok = each_grain(x, i, base, off, rows, active, true, store_words_in_grain, words);
	else
		ok = each_grain(x, i, base, off, rows, active, false, load_words_in_grain, words);
	if (ok && bad)
		align_fault(x, i, burst ? PUMICE_FAULT_USC_BURST_ALIGN :
					  PUMICE_FAULT_USC_GLOBAL_ALIGN, base, off, bad, store);
	return ok && !bad;
}

/*
 * Load the second block after p, the end of a block, to the host's cache: streams are read block by
 * block, often two in an iteration, and the host's own prefetchers stop at the ends of its pages.
 */
static inline __attribute__((always_inline)) void
prefetch_after(const u8 *p, u32 words)
{
	UNROLLED
	for (u32 n = 0; n < words * ROW_BYTES; n += HOST_LINE)
		__builtin_prefetch(p + words * ROW_BYTES + n);
}

/* Access all lanes, consecutive in one grain. Returns false without effect otherwise. */
static inline __attribute__((always_inline)) bool
global_block(struct exec *x, u64 va, const vu *off, vu *rows, u32 active, u32 words, bool store)
{
	u8 *host;

	if (!is_power_of_two(words) || !all_in_step(off, active, words * 4) || va % 4 ||
	    va % (1u << MMU_GRAIN_SHIFT) + words * ROW_BYTES > 1u << MMU_GRAIN_SHIFT)
		return false;
	host = exec_host(x, va, store);
	if (!host)
		return false;
	if (store) {
		store_block(host, rows, words);
	} else {
		prefetch_after(host + words * ROW_BYTES, words);
		load_block(rows, host, words);
	}
	return true;
}

FAMILY
global_words(struct exec *x, const struct usc_insn *i, u32 words, bool store)
{
	vu *rows = row_of(x, i, store ? USC_SRC1 : USC_DST);
	const vu *off = row_of(x, i, USC_SRC0);
	u32 active = active_lanes(x, i, i->lanes_known);
	u64 base = exec_base(x, i);

	if (!global_block(x, base + *(const u32 *)(const void *)off, off, rows, active, words,
			  store) &&
	    !global_words_any(x, i, base, rows, active, words, store))
		return i;
	exec_signal(x, i);
	return exec_next(x, i);
}

VARIANT(local_load64, local_words(x, i, 2, false))
VARIANT(local_load128, local_words(x, i, 4, false))
VARIANT(local_store64, local_words(x, i, 2, true))
VARIANT(local_store128, local_words(x, i, 4, true))
VARIANT(global_load64, global_words(x, i, 2, false))
VARIANT(global_load128, global_words(x, i, 4, false))
VARIANT(global_store64, global_words(x, i, 2, true))
VARIANT(global_store128, global_words(x, i, 4, true))
VARIANT(burst_load, global_words(x, i, i->words, false))
VARIANT(burst_store, global_words(x, i, i->words, true))
/* Whole bursts, which the compiler can unroll. */
VARIANT(burst_load_whole, global_words(x, i, PUMICE_USC_BURST_WORDS, false))
VARIANT(burst_store_whole, global_words(x, i, PUMICE_USC_BURST_WORDS, true))

/* A count that is a constant when compiled is faster. */
static usc_exec_fn *burst_find(u32 words, bool store)
{
	switch (words) {
	case 2:
		return store ? global_store64 : global_load64;
	case 4:
		return store ? global_store128 : global_load128;
	case PUMICE_USC_BURST_WORDS:
		return store ? burst_store_whole : burst_load_whole;
	default:
		return store ? burst_store : burst_load;
	}
}

static usc_exec_fn *wide_find(const struct usc_insn *insn)
{
	switch (insn->op) {
	case PUMICE_USC_OP_LOCAL_LOAD64:
		return local_load64;
	case PUMICE_USC_OP_LOCAL_LOAD128:
		return local_load128;
	case PUMICE_USC_OP_LOCAL_STORE64:
		return local_store64;
	case PUMICE_USC_OP_LOCAL_STORE128:
		return local_store128;
	case PUMICE_USC_OP_GLOBAL_LOAD64:
		return global_load64;
	case PUMICE_USC_OP_GLOBAL_LOAD128:
		return global_load128;
	case PUMICE_USC_OP_GLOBAL_STORE64:
		return global_store64;
	case PUMICE_USC_OP_GLOBAL_STORE128:
		return global_store128;
	case PUMICE_USC_OP_BURST_LOAD:
		return burst_find(insn->words, false);
	case PUMICE_USC_OP_BURST_STORE:
		return burst_find(insn->words, true);
	default:
		return NULL;
	}
}
