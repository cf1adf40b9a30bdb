/* SPDX-License-Identifier: MIT */
/*
 * Local and global memory: 32 bits in each active lane.
 *
 * Source: document 002, "Local memory" and "Global (async) memory".
 * Included by level_*.c behind vec.h.
 *
 * Of several lanes that fault the lowest is reported. Lanes below it may have
 * stored already. Of lanes that store to one address the highest wins.
 *
 * Limits: guest memory may be changed by others at any time; it is accessed in
 * aligned 32-bit units that do not tear, and each is read once.
 */

/* Lanes whose value is above limit. */
static inline u32 lanes_above(const vu *v, u32 less, u32 limit)
{
	u32 bits = 0;

	EACH(k)
		bits |= vec_bits((vu)(v[k] - less > splat(limit))) << (k * VEC_LANES);
	return bits;
}

/* Lanes whose address, offset plus low, is not a multiple of 4. */
static inline u32 lanes_misaligned(const vu *v, u32 low)
{
	u32 bits = 0;

	EACH(k)
		bits |= vec_bits((vu)(((v[k] + low) & 3) != 0)) << (k * VEC_LANES);
	return bits;
}

/* All lanes, each 4 bytes behind the one before it. */
static inline bool contiguous(const vu *off, u32 active)
{
	u32 first = *(const u32 *)(const void *)off;
	u32 other = 0;

	if (active != UINT32_MAX)
		return false;
	EACH(k)
		other |= vec_bits((vu)(off[k] != splat(first) + lane_numbers(k) * 4));
	return !other;
}

/* Read the active lanes at p + off - less, all of them within an area. */
static inline void gather(vu *d, const u8 *p, const vu *off, u32 less, u32 active)
{
	const u32 *o = (const u32 *)(const void *)off;
	u32 *lane = (u32 *)(void *)d;
	u32 offset[PUMICE_LANES];

	/* The destination may be the row of offsets. */
	memcpy(offset, o, sizeof(offset));
	for (; active; active &= active - 1) {
		u32 l = (u32)__builtin_ctz(active);
		const u32 *word = (const u32 *)(const void *)(p + (offset[l] - less));

		lane[l] = __atomic_load_n(word, __ATOMIC_RELAXED);
	}
}

static inline void scatter(u8 *p, const vu *off, u32 less, const vu *s, u32 active)
{
	const u32 *offset = (const u32 *)(const void *)off, *lane = (const u32 *)(const void *)s;

	for (; active; active &= active - 1) {
		u32 l = (u32)__builtin_ctz(active);
		u32 *word = (u32 *)(void *)(p + (offset[l] - less));

		__atomic_store_n(word, lane[l], __ATOMIC_RELAXED);
	}
}

static inline void copy_row(vu_any *d, const vu_any *s)
{
	EACH(k)
		d[k] = s[k];
}

/* The fault of the lowest lane of a local access that is not all right. */
static const struct usc_insn *local_fault(struct exec *x, const struct usc_insn *i, u32 lane)
{
	const u32 *off = exec_operand(x, i, USC_SRC0);

	return exec_fault(x, i, (off[lane] + i->value) & 3 ? PUMICE_FAULT_USC_LOCAL_ALIGN :
							     PUMICE_FAULT_USC_LOCAL_BOUNDS);
}

/* Active lanes that may not access local memory. */
static inline u32 local_bad(const struct exec *x, const struct usc_insn *i, const vu *off, u32 active)
{
	u32 need = i->value + 4;

	if (x->local_bytes < need)
		return active;
	return (lanes_above(off, 0, x->local_bytes - need) | lanes_misaligned(off, i->value)) &
	       active;
}

static const struct usc_insn *local_load(struct exec *x, const struct usc_insn *i)
{
	const vu *off = row_of(x, i, USC_SRC0);
	u32 active = mask_bits(x, i) & x->valid;
	u32 bad = local_bad(x, i, off, active);
	vu *d = row_of(x, i, USC_DST);
	const u8 *p;
	u32 first;

	if (!active)
		return i + 1;
	if (bad)
		return local_fault(x, i, (u32)__builtin_ctz(bad));
	first = ((const u32 *)(const void *)off)[__builtin_ctz(active)];
	p = x->local + first + i->value;
	/* Mostly the lanes lie close together: then one row holds them all. */
	if (!(lanes_above(off, first, USC_LOCAL_SLACK - 4) & active)) {
		vu idx[VECS], r[VECS];

		EACH(k)
			idx[k] = (off[k] - first) >> 2;
		permute(r, (const vu_any *)(const void *)p, idx);
		EACH(k)
			d[k] = active == UINT32_MAX ? r[k] : pick(bits_vec(active, k), r[k], d[k]);
	} else {
		gather(d, p, off, first, active);
	}
	return i + 1;
}

static const struct usc_insn *local_store(struct exec *x, const struct usc_insn *i)
{
	const vu *off = row_of(x, i, USC_SRC0), *s = row_of(x, i, USC_SRC1);
	u32 active = mask_bits(x, i) & x->valid;
	u32 bad = local_bad(x, i, off, active);
	u8 *p = x->local + i->value;

	if (bad)
		return local_fault(x, i, (u32)__builtin_ctz(bad));
	if (contiguous(off, active))
		copy_row((vu_any *)(void *)(p + *(const u32 *)(const void *)off),
			 (const vu_any *)s);
	else
		scatter(p, off, 0, s, active);
	return i + 1;
}

/* Base address of a global access, displacement included. */
static inline u64 global_base(const struct exec *x, const struct usc_insn *i)
{
	u64 base = 0;

	if (!i->no_base) {
		/* The pair lies in neighbouring words, or in element 0 of neighbouring rows. */
		u32 step = i->base[USC_SRC2] == USC_BASE_SHARED ? 1 : USC_ROW_WORDS;
		const u32 *pair = exec_operand(x, i, USC_SRC2);

		base = pair[0] | (u64)pair[step] << 32;
	}
	return base + i->value;
}

static inline u8 *global_host(struct exec *x, u64 va, bool store)
{
	struct usc *usc = x->usc;
	u8 *host = NULL;

	if (!(va >> PUMICE_MMU_VA_BITS))
		host = mmu_tlb_lookup(usc->config.mmu, &usc->tlb, x->ctx, va,
				      store ? MMU_TLB_WRITE : MMU_TLB_READ);
	if (host)
		return host;
	x->fault = (struct gpu_fault){ 0 };
	return mmu_translate(usc->config.mmu, &usc->tlb, x->ctx, va,
			     store ? PUMICE_ACCESS_WRITE : PUMICE_ACCESS_READ,
			     PUMICE_UNIT_USC_DATA, &x->fault);
}

/*
 * The lanes of one 4 KiB grain at a time, the one of the lowest lane first.
 * Returns false with x->fault at the first grain that faults.
 */
static inline bool global_lanes(struct exec *x, u64 base, const vu *off, vu *data, u32 active,
				bool store)
{
	const u32 grain = 1u << MMU_GRAIN_SHIFT;

	while (active) {
		u32 first = ((const u32 *)(const void *)off)[__builtin_ctz(active)];
		u64 va = base + first;
		u32 below = (u32)va & (grain - 1), above = grain - 1 - below;
		u8 *host = global_host(x, va, store);
		u32 low, span, lanes;

		if (!host)
			return false;
		/* The offsets that fall into the grain; they never wrap. */
		below = first < below ? first : below;
		above = UINT32_MAX - first < above ? UINT32_MAX - first : above;
		low = first - below;
		span = below + above;
		lanes = active & ~lanes_above(off, low, span);
		host -= below;
		active &= ~lanes;
		if (contiguous(off, lanes)) {
			vu_any *there = (vu_any *)(void *)(host + below);

			if (store)
				copy_row(there, (const vu_any *)data);
			else
				copy_row((vu_any *)data, there);
		} else if (store) {
			scatter(host, off, low, data, lanes);
		} else {
			gather(data, host, off, low, lanes);
		}
	}
	return true;
}

static inline const struct usc_insn *global_access(struct exec *x, const struct usc_insn *i, bool store)
{
	vu *data = row_of(x, i, store ? USC_SRC1 : USC_DST);
	u32 active = mask_bits(x, i) & x->valid;
	u64 base = global_base(x, i);
	vu off[VECS];
	u32 bad;

	/* A copy: a load may write the row of offsets. */
	copy_row((vu_any *)off, (const vu_any *)row_of(x, i, USC_SRC0));
	bad = lanes_misaligned(off, (u32)base) & active;
	if (bad)
		active &= (bad & -bad) - 1;
	if (!global_lanes(x, base, off, data, active, store))
		return exec_mmu_fault(x, i);
	if (bad)
		return exec_fault(x, i, PUMICE_FAULT_USC_GLOBAL_ALIGN);
	x->wave->done[i->sig[0]] = exec_clock(x, i) + 1 + USC_GLOBAL_LATENCY;
	return i + 1;
}

static const struct usc_insn *global_load(struct exec *x, const struct usc_insn *i)
{
	return global_access(x, i, false);
}

static const struct usc_insn *global_store(struct exec *x, const struct usc_insn *i)
{
	return global_access(x, i, true);
}

static usc_exec_fn *memory_find(const struct usc_insn *insn)
{
	switch (insn->op) {
	case PUMICE_USC_OP_LOCAL_LOAD32:
		return local_load;
	case PUMICE_USC_OP_LOCAL_STORE32:
		return local_store;
	case PUMICE_USC_OP_GLOBAL_LOAD32:
		return global_load;
	case PUMICE_USC_OP_GLOBAL_STORE32:
		return global_store;
	default:
		return NULL;
	}
}
