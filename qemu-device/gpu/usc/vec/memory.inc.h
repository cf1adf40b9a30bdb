/* SPDX-License-Identifier: MIT */
/*
 * Local and global memory: 32 bits in each active lane, and code shared with the other widths
 * (mem_narrow.inc.h, mem_wide.inc.h, mem_atomic.inc.h).
 *
 * Source: document 002, "Local memory" and "Global (async) memory". Included by level_*.c
 * after access.inc.h.
 *
 * Of several lanes that fault the lowest is reported. Lanes below it may have stored already.
 * Of lanes that store to the same address the highest wins.
 *
 * Limits: a wave's lanes are done in the order of the 4 KiB grains that they access.
 */

#define ROW_BYTES (PUMICE_LANES * 4u)
#define IN_ROW (ROW_BYTES - 4u)	/* bits of a multiple of 4 within a row's bytes */

static inline u32 first_lane(u32 lanes)
{
	return (u32)__builtin_ctz(lanes);
}

static inline void copy_row(vu *d, const vu *s)
{
	EACH(k)
		d[k] = s[k];
}

/* The same to and from any word address. */
static inline void copy_row_to(u8 *d, const vu *s)
{
	EACH(k)
		((vu_any *)(void *)d)[k] = s[k];
}

static inline void copy_row_from(vu *d, const u8 *s)
{
	EACH(k)
		d[k] = ((const vu_any *)(const void *)s)[k];
}

/* Return the lanes whose value minus less is above limit. */
static inline u32 lanes_above(const vu *v, u32 less, u32 limit)
{
	u32 bits = 0;

	EACH(k)
		bits |= ROW_BITS(vm_above(v[k] - less, splat(limit)), k);
	return bits;
}

/* Return the lanes whose value plus plus has a bit of test set. */
static inline u32 lanes_with(const vu *v, u32 plus, u32 test)
{
	u32 bits = 0;

	EACH(k)
		bits |= ROW_BITS(vm_test(v[k] + plus, splat(test)), k);
	return bits;
}

/*
 * Return the active lanes whose access of bytes at their offset exceeds local memory or is
 * misaligned, by the bits of align.
 */
static inline u32 local_faulting(const struct exec *x, const struct usc_insn *i, const vu *off,
				 u32 active, u32 bytes, u32 align)
{
	u32 need = i->value + bytes;

	if (x->local_bytes < need)
		return active;
	return (lanes_above(off, 0, x->local_bytes - need) | lanes_with(off, i->value, align)) &
	       active;
}

static const struct usc_insn *local_fault(struct exec *x, const struct usc_insn *i, u32 refused,
					  u32 align)
{
	u64 off = (u64)exec_operand(x, i, USC_SRC0)[first_lane(refused)] + i->value;
	const struct usc_insn *next;

	next = exec_local_fault(x, i, off & align ? PUMICE_FAULT_USC_LOCAL_ALIGN :
						    PUMICE_FAULT_USC_LOCAL_BOUNDS, off);
	exec_fault_lane(x, refused);
	return next;
}

/* Access lanes at any addresses, or fault. */
static __attribute__((noinline)) const struct usc_insn *
local_load_any(struct exec *x, const struct usc_insn *i, u32 active)
{
	const vu *off = row_of(x, i, USC_SRC0);
	vu *d = row_of(x, i, USC_DST);
	u32 refused = local_faulting(x, i, off, active, 4, 3);
	vu r[VECS];

	if (refused)
		return local_fault(x, i, refused, 3);
	copy_row(r, d);
	load_lanes(r, x->local + i->value, off, 0, active, following_lanes(off));
	copy_row(d, r);
	return exec_next(x, i);
}

/*
 * Fast path: all lanes are within one row of bytes from the first lane's address. Compute each
 * index; return false if a lane is outside.
 */
static inline __attribute__((always_inline)) bool
near_words(const vu *off, u32 first, u32 active, vu *idx)
{
	vu far = splat(0);

	EACH(k) {
		idx[k] = off[k] - first;
		if (active != UINT32_MAX)
			idx[k] = vm_select(vector_mask(active, k), idx[k], splat(0));
		far |= idx[k];
	}
	if (vm_bits(vm_test(far, splat(~IN_ROW))))
		return false;
	EACH(k)
		idx[k] >>= 2;
	return true;
}

/* Return whether words from idx, in the row of bytes that begins at at, are in local memory. */
static inline bool near_in_local(const struct exec *x, u64 at, const vu *idx, u32 words)
{
	u64 end = at + ROW_BYTES + (words - 1) * 4u;

	return !(at % 4) && at + words * 4u <= x->local_bytes &&
	       (end <= x->local_bytes ||
		!lanes_above(idx, 0, (x->local_bytes - words * 4u - (u32)at) / 4));
}

/* Select one word of each active lane from such a row. */
static inline __attribute__((always_inline)) void
load_near_word(const struct exec *x, u64 at, const vu *idx, u32 active, vu *d)
{
	vu r[VECS];

	permute(r, (const vu_any *)(const void *)(x->local + at), idx);
	if (active != UINT32_MAX) {
		EACH(k)
			r[k] = vm_select(vector_mask(active, k), r[k], d[k]);
	}
	copy_row(d, r);
}

/* Load words of lanes that are close together. Returns false without effect otherwise. */
static inline __attribute__((always_inline)) bool
local_load_near(struct exec *x, const struct usc_insn *i, u32 active, u32 words)
{
	const vu *off = row_of(x, i, USC_SRC0);
	u32 first = ((const u32 *)(const void *)off)[first_lane(active)];
	u64 at = (u64)first + i->value;
	vu *d = row_of(x, i, USC_DST);
	vu idx[VECS];

	if (!near_words(off, first, active, idx) || !near_in_local(x, at, idx, words))
		return false;
	for (u32 n = 0; n < words; n++)
		load_near_word(x, at + n * 4, idx, active, d + n * VECS);
	return true;
}

FAMILY
local_load(struct exec *x, const struct usc_insn *i, bool known)
{
	u32 active = active_lanes(x, i, known);

	if (active && !local_load_near(x, i, active, 1))
		return local_load_any(x, i, active);
	return exec_next(x, i);
}

static __attribute__((noinline)) const struct usc_insn *
local_store_any(struct exec *x, const struct usc_insn *i, u32 active)
{
	const vu *off = row_of(x, i, USC_SRC0);
	u32 refused = local_faulting(x, i, off, active, 4, 3);

	if (refused)
		return local_fault(x, i, refused, 3);
	store_lanes(x->local + i->value, off, 0, row_of(x, i, USC_SRC1), active,
		    following_lanes(off));
	return exec_next(x, i);
}

/* Usually all lanes are active and consecutive. */
FAMILY
local_store(struct exec *x, const struct usc_insn *i, bool known)
{
	const vu *off = row_of(x, i, USC_SRC0);
	u32 active = active_lanes(x, i, known);
	u64 at = (u64)*(const u32 *)(const void *)off + i->value;

	if ((active & (following_lanes(off) | 1)) != UINT32_MAX || at % 4 ||
	    at + ROW_BYTES > x->local_bytes)
		return local_store_any(x, i, active);
	copy_row_to(x->local + at, row_of(x, i, USC_SRC1));
	return exec_next(x, i);
}

/* Offsets within the 4 KiB grain of va = base + first: a range that does not wrap. */
struct grain {
	u32 low, span;	/* the lowest offset, and the distance to the highest */
	u8 *host;	/* the byte at the lowest offset */
	bool sink;	/* a null page: not to be read */
};

static inline bool find_grain(struct exec *x, u64 base, u32 first, bool store, struct grain *g)
{
	u64 va = base + first;
	u32 below = (u32)va & ((1u << MMU_GRAIN_SHIFT) - 1);
	u32 above = ((1u << MMU_GRAIN_SHIFT) - 1) - below;
	u8 *host = exec_host(x, va, store);

	if (!host)
		return false;
	below = first < below ? first : below;
	above = UINT32_MAX - first < above ? UINT32_MAX - first : above;
	*g = (struct grain){
		.low = first - below, .span = below + above, .host = host - below,
		.sink = store && mmu_in_sink(&x->usc->tlb, host),
	};
	return true;
}

/*
 * Access by lanes within one grain: words or parts of words at off - g->low bytes from
 * g->host. arg is private to the kind of access.
 */
typedef void grain_fn(const struct usc_insn *i, const struct grain *g, const vu *off, vu *data,
		      u32 lanes, u32 arg);

/*
 * Do all lanes of an access, a grain at a time, that of the lowest lane first. Returns false
 * with x->exit set at the first grain that faults.
 */
static inline __attribute__((always_inline)) bool
each_grain(struct exec *x, const struct usc_insn *i, u64 base, const vu *off, vu *data,
	   u32 active, bool store, grain_fn *fn, u32 arg)
{
	struct grain g;
	u32 lanes;

	for (; active; active &= ~lanes) {
		u32 first = ((const u32 *)(const void *)off)[first_lane(active)];

		if (!find_grain(x, base, first, store, &g)) {
			exec_mmu_fault(x, i);
			exec_fault_lane(x, active);
			return false;
		}
		lanes = active & ~lanes_above(off, g.low, g.span);
		fn(i, &g, off, data, lanes, arg);
	}
	return true;
}

/*
 * Return the active lanes that are misaligned, by the bits of align; of the others only lower
 * ones stay in *active.
 */
static inline u32 misaligned_lanes(const vu *off, u64 base, u32 align, u32 *active)
{
	u32 bad = lanes_with(off, (u32)base, align) & *active;

	if (bad)
		*active &= (bad & -bad) - 1;
	return bad;
}

/* Report the lowest of the misaligned lanes. */
static inline void align_fault(struct exec *x, const struct usc_insn *i, enum pumice_fault fault,
			       u64 base, const vu *off, u32 bad, bool store)
{
	u64 va = base + ((const u32 *)(const void *)off)[first_lane(bad)];

	exec_align_fault(x, i, fault, va, store);
	exec_fault_lane(x, bad);
}

/*
 * Access lanes at any addresses, none of which crosses the end of a grain. Returns false with
 * x->exit set on a fault, that of the lowest lane.
 */
static inline __attribute__((always_inline)) bool
global_any(struct exec *x, const struct usc_insn *i, u64 base, const vu *off, vu *data, u32 active,
	   u32 align, bool store, grain_fn *fn, u32 arg)
{
	u32 bad = misaligned_lanes(off, base, align, &active);

	if (!each_grain(x, i, base, off, data, active, store, fn, arg))
		return false;
	if (bad)
		align_fault(x, i, PUMICE_FAULT_USC_GLOBAL_ALIGN, base, off, bad, store);
	return !bad;
}

/* Access all lanes, adjacent in one grain. Returns false without effect otherwise. */
static inline bool global_row(struct exec *x, u64 va, const vu *off, vu *row,
			      u32 active, bool store)
{
	u8 *host;

	if (!all_in_step(off, active, 4) || va % 4 ||
	    va % (1u << MMU_GRAIN_SHIFT) + ROW_BYTES > 1u << MMU_GRAIN_SHIFT)
		return false;
	host = exec_host(x, va, store);
	if (!host)
		return false;
	if (store)
		copy_row_to(host, row);
	else
		copy_row_from(row, host);
	return true;
}

static inline void load_in_grain(const struct usc_insn *i, const struct grain *g, const vu *off,
				 vu *data, u32 lanes, u32 arg)
{
	(void)i, (void)arg;
	gather(data, g->host, off, g->low, lanes);
}

static inline void store_in_grain(const struct usc_insn *i, const struct grain *g, const vu *off,
				  vu *data, u32 lanes, u32 arg)
{
	(void)i, (void)arg;
	scatter(g->host, off, g->low, data, lanes);
}

/*
 * Return the lanes that follow the previous one in memory, none across the end of a grain:
 * runs of them are contiguous on the host, too.
 */
static inline u32 following_in_grain(const vu *off, u64 base)
{
	u32 inside = lanes_with(off, (u32)base, (1u << MMU_GRAIN_SHIFT) - 1);

	/* An offset that wrapped to 0 does not follow the previous one. */
	return following_lanes(off) & inside & lanes_with(off, 0, UINT32_MAX);
}

/* Access lanes in a few runs, from the lowest lane up. */
static inline __attribute__((always_inline)) bool
global_runs(struct exec *x, const struct usc_insn *i, u64 base, const vu *off, vu *data,
	    u32 active, u32 starts, bool store)
{
	u64 grain = UINT64_MAX;
	u8 *host = NULL;	/* address of the grain */

	while (starts) {
		u32 lane = first_lane(starts), first = starts & -starts;
		u64 va = base + ((const u32 *)(const void *)off)[lane];
		u32 in_grain = (u32)va & ((1u << MMU_GRAIN_SHIFT) - 1), run;
		u32 *at;

		if (va >> MMU_GRAIN_SHIFT != grain) {
			grain = va >> MMU_GRAIN_SHIFT;
			host = exec_host(x, va - in_grain, store);
			if (!host) {
				x->fault.addr = va;
				exec_mmu_fault(x, i);
				exec_fault_lane(x, first);
				return false;
			}
		}
		starts &= starts - 1;
		run = active & -first & ((starts & -starts) - 1);
		at = (u32 *)(uintptr_t)(host + in_grain - lane * sizeof(u32));
		if (store)
			store_run(at, data, run);
		else
			load_run(data, at, run);
	}
	return true;
}

/*
 * Access words of lanes at any addresses. Returns false with x->exit set on a fault, that of
 * the lowest lane.
 */
static inline __attribute__((always_inline)) bool
global_words32(struct exec *x, const struct usc_insn *i, u64 base, vu *data, u32 active, bool store)
{
	const vu *off = row_of(x, i, USC_SRC0);
	u32 bad = misaligned_lanes(off, base, 3, &active);
	u32 starts = run_starts(active, following_in_grain(off, base));
	bool ok;

	if (__builtin_popcount(starts) < MANY_RUNS)
		ok = global_runs(x, i, base, off, data, active, starts, store);
	else
		ok = each_grain(x, i, base, off, data, active, store,
				store ? store_in_grain : load_in_grain, 0);
	if (ok && bad)
		align_fault(x, i, PUMICE_FAULT_USC_GLOBAL_ALIGN, base, off, bad, store);
	return ok && !bad;
}

static __attribute__((noinline)) bool
global_load_any(struct exec *x, const struct usc_insn *i, u64 base, u32 active)
{
	vu *row = row_of(x, i, USC_DST), data[VECS];

	copy_row(data, row);
	if (!global_words32(x, i, base, data, active, false))
		return false;
	copy_row(row, data);
	return true;
}

static __attribute__((noinline)) bool
global_store_any(struct exec *x, const struct usc_insn *i, u64 base, u32 active)
{
	return global_words32(x, i, base, row_of(x, i, USC_SRC1), active, true);
}

FAMILY
global_access(struct exec *x, const struct usc_insn *i, bool store, bool known)
{
	vu *row = row_of(x, i, store ? USC_SRC1 : USC_DST);
	const vu *off = row_of(x, i, USC_SRC0);
	u32 active = active_lanes(x, i, known);
	u64 base = exec_base(x, i);

	if (!global_row(x, base + *(const u32 *)(const void *)off, off, row, active, store) &&
	    !(store ? global_store_any : global_load_any)(x, i, base, active))
		return i;
	exec_signal(x, i);
	return exec_next(x, i);
}

MASKED(local_load)
MASKED(local_store)
VARIANT(global_load_known, global_access(x, i, false, true))
VARIANT(global_load_masked, global_access(x, i, false, false))
VARIANT(global_store_known, global_access(x, i, true, true))
VARIANT(global_store_masked, global_access(x, i, true, false))

static usc_exec_fn *memory_find(const struct usc_insn *insn)
{
	switch (insn->op) {
	case PUMICE_USC_OP_LOCAL_LOAD32:
		return insn->lanes_known ? local_load_known : local_load_masked;
	case PUMICE_USC_OP_LOCAL_STORE32:
		return insn->lanes_known ? local_store_known : local_store_masked;
	case PUMICE_USC_OP_GLOBAL_LOAD32:
		return insn->lanes_known ? global_load_known : global_load_masked;
	case PUMICE_USC_OP_GLOBAL_STORE32:
		return insn->lanes_known ? global_store_known : global_store_masked;
	default:
		return NULL;
	}
}
