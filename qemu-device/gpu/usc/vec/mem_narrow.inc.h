/* SPDX-License-Identifier: MIT */
/*
 * Local and global memory: 8 and 16 bits in each active lane.
 *
 * Source: document 000, "System Memory Access", for the alignment; hw/isa.xml. Included by
 * level_*.c after memory.inc.h.
 *
 * Adjacent lanes are one block of memory. Otherwise loads read the aligned word around each
 * lane's bytes, so that all lanes are gathered at once; stores access only their own bytes.
 *
 * Limits: faults and the order of lanes as in memory.inc.h.
 */

/* Adjacent parts of words at any address: unsigned and signed. */
typedef u8 vb_any __attribute__((vector_size(VEC_LANES), may_alias, aligned(1)));
typedef s8 vsb_any __attribute__((vector_size(VEC_LANES), may_alias, aligned(1)));
typedef u16 vh_any __attribute__((vector_size(VEC_LANES * 2), may_alias, aligned(1)));
typedef s16 vsh_any __attribute__((vector_size(VEC_LANES * 2), may_alias, aligned(1)));

static inline __attribute__((always_inline)) vu
load_parts(const u8 *p, u32 bytes, bool sign)
{
	if (bytes == 1)
		return sign ? (vu)__builtin_convertvector(*(const vsb_any *)(const void *)p, vs) :
			      __builtin_convertvector(*(const vb_any *)p, vu);
	return sign ? (vu)__builtin_convertvector(*(const vsh_any *)(const void *)p, vs) :
		      __builtin_convertvector(*(const vh_any *)(const void *)p, vu);
}

static inline __attribute__((always_inline)) void
load_parts_row(vu *d, const u8 *p, u32 bytes, bool sign)
{
	EACH(k)
		d[k] = load_parts(p + k * VEC_LANES * bytes, bytes, sign);
}

static inline __attribute__((always_inline)) void
store_parts_row(u8 *p, const vu *s, u32 bytes)
{
	EACH(k) {
		u8 *to = p + k * VEC_LANES * bytes;

		if (bytes == 1)
			*(vb_any *)to = __builtin_convertvector(s[k], vb_any);
		else
			*(vh_any *)(void *)to = __builtin_convertvector(s[k], vh_any);
	}
}

/* Extract the part of each word that is at its lane's byte, extended to 32 bits. */
static inline vu part_of(vu word, vu at, u32 bytes, bool sign)
{
	u32 drop = 32 - bytes * 8;
	vu v = word >> (at % 4 * 8) << drop;

	return sign ? (vu)((vs)v >> drop) : v >> drop;
}

/* Load the lanes whose bit is set, at base + at: base is word aligned. */
static inline void gather_parts(vu *d, const u8 *base, const vu *at, u32 lanes,
				u32 bytes, bool sign)
{
	vu words[VECS], word_at[VECS];

	EACH(k) {
		word_at[k] = at[k] & ~3u;
		words[k] = splat(0);
	}
	gather(words, base, word_at, 0, lanes);
	EACH(k)
		d[k] = vm_select(vector_mask(lanes, k), part_of(words[k], at[k], bytes, sign),
				 d[k]);
}

/* Of lanes with the same address the highest is stored last. */
static inline __attribute__((always_inline)) void
scatter_parts(u8 *base, const vu *off, u32 less, const vu *s, u32 lanes, u32 bytes)
{
	for (; lanes; lanes &= lanes - 1) {
		u32 l = first_lane(lanes);
		u8 *at = base + (((const u32 *)(const void *)off)[l] - less);
		u32 value = ((const u32 *)(const void *)s)[l];

		if (bytes == 1)
			__atomic_store_n(at, (u8)value, __ATOMIC_RELAXED);
		else
			__atomic_store_n((u16 *)(void *)at, (u16)value, __ATOMIC_RELAXED);
	}
}

static inline bool is_signed(const struct usc_insn *i)
{
	return i->type == PUMICE_USC_TYPE_I32;
}

FAMILY
local_load_part(struct exec *x, const struct usc_insn *i, u32 bytes)
{
	const vu *off = row_of(x, i, USC_SRC0);
	u32 active = active_lanes(x, i, i->lanes_known);
	u32 refused = local_faulting(x, i, off, active, bytes, bytes - 1);
	vu at[VECS];

	if (refused)
		return local_fault(x, i, refused, bytes - 1);
	EACH(k)
		at[k] = off[k] + i->value;
	if (active)
		gather_parts(row_of(x, i, USC_DST), x->local, at, active, bytes, is_signed(i));
	return exec_next(x, i);
}

FAMILY
local_store_part(struct exec *x, const struct usc_insn *i, u32 bytes)
{
	const vu *off = row_of(x, i, USC_SRC0);
	u32 active = active_lanes(x, i, i->lanes_known);
	u32 refused = local_faulting(x, i, off, active, bytes, bytes - 1);
	const vu *s = row_of(x, i, USC_SRC1);

	if (refused)
		return local_fault(x, i, refused, bytes - 1);
	if (all_in_step(off, active, bytes))
		store_parts_row(x->local + i->value + *(const u32 *)(const void *)off, s, bytes);
	else
		scatter_parts(x->local + i->value, off, 0, s, active, bytes);
	return exec_next(x, i);
}

static inline void load_parts_in_grain(const struct usc_insn *i, const struct grain *g,
				       const vu *off, vu *data, u32 lanes, u32 bytes)
{
	/* The grain begins at a word boundary, also in this process. */
	u32 above = (u32)((uintptr_t)g->host % 4);
	vu at[VECS];

	EACH(k)
		at[k] = off[k] - g->low + above;
	gather_parts(data, g->host - above, at, lanes, bytes, is_signed(i));
}

static inline void store_parts_in_grain(const struct usc_insn *i, const struct grain *g,
					const vu *off, vu *data, u32 lanes, u32 bytes)
{
	(void)i;
	scatter_parts(g->host, off, g->low, data, lanes, bytes);
}

/* Access all lanes, adjacent in one grain. Returns false without effect otherwise. */
static inline __attribute__((always_inline)) bool
global_parts_row(struct exec *x, const struct usc_insn *i, u64 va, const vu *off, vu *row,
		 u32 active, u32 bytes, bool store)
{
	u8 *host;

	if (!all_in_step(off, active, bytes) || va % bytes ||
	    va % (1u << MMU_GRAIN_SHIFT) + PUMICE_LANES * bytes > 1u << MMU_GRAIN_SHIFT)
		return false;
	host = exec_host(x, va, store);
	if (!host)
		return false;
	if (store)
		store_parts_row(host, row, bytes);
	else if (is_signed(i))
		load_parts_row(row, host, bytes, true);
	else
		load_parts_row(row, host, bytes, false);
	return true;
}

FAMILY
global_part(struct exec *x, const struct usc_insn *i, u32 bytes, bool store)
{
	vu *row = row_of(x, i, store ? USC_SRC1 : USC_DST), off[VECS];
	u32 active = active_lanes(x, i, i->lanes_known);
	u64 base = exec_base(x, i);

	copy_row(off, row_of(x, i, USC_SRC0));	/* a load may overwrite it grain by grain */
	if (!global_parts_row(x, i, base + *(const u32 *)(const void *)off, off, row, active, bytes,
			      store) &&
	    !global_any(x, i, base, off, row, active, bytes - 1, store,
			store ? store_parts_in_grain : load_parts_in_grain, bytes))
		return i;
	exec_signal(x, i);
	return exec_next(x, i);
}

VARIANT(local_load8, local_load_part(x, i, 1))
VARIANT(local_load16, local_load_part(x, i, 2))
VARIANT(local_store8, local_store_part(x, i, 1))
VARIANT(local_store16, local_store_part(x, i, 2))
VARIANT(global_load8, global_part(x, i, 1, false))
VARIANT(global_load16, global_part(x, i, 2, false))
VARIANT(global_store8, global_part(x, i, 1, true))
VARIANT(global_store16, global_part(x, i, 2, true))

static usc_exec_fn *narrow_find(const struct usc_insn *insn)
{
	switch (insn->op) {
	case PUMICE_USC_OP_LOCAL_LOAD8:
		return local_load8;
	case PUMICE_USC_OP_LOCAL_LOAD16:
		return local_load16;
	case PUMICE_USC_OP_LOCAL_STORE8:
		return local_store8;
	case PUMICE_USC_OP_LOCAL_STORE16:
		return local_store16;
	case PUMICE_USC_OP_GLOBAL_LOAD8:
		return global_load8;
	case PUMICE_USC_OP_GLOBAL_LOAD16:
		return global_load16;
	case PUMICE_USC_OP_GLOBAL_STORE8:
		return global_store8;
	case PUMICE_USC_OP_GLOBAL_STORE16:
		return global_store16;
	default:
		return NULL;
	}
}
