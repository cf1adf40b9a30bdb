/* SPDX-License-Identifier: MIT */
/*
 * Atomic operations on local and global memory, 32 bits in each active lane.
 *
 * Source: hw/isa.xml, usc_atomic. Included by level_*.c after memory.inc.h.
 *
 * Lanes are done in order, the lowest first, since each must read the results of those before
 * it. Local memory belongs to the thread that runs the work-group; global memory is shared
 * with other threads and the guest's processors, so the host's atomic instructions are used
 * there.
 *
 * Limits: faults as in memory.inc.h; lanes below the one that faults are done.
 */
#include "../scalar.h"

/* Inputs and result of each lane. */
enum { ATOMIC_OLD, ATOMIC_VALUE, ATOMIC_EXPECTED, ATOMIC_ROWS };

/* Return the value of memory after the operation. */
static inline u32 atomic_result(const struct usc_insn *i, u32 old, u32 value, u32 expected)
{
	bool is_s32 = i->type == PUMICE_USC_TYPE_I32;

	switch (i->func) {
	case PUMICE_USC_ATOMIC_ADD:
		return i->type == PUMICE_USC_TYPE_F32 ?
			       f32_result(u32_as_f32(old) + u32_as_f32(value)) : old + value;
	case PUMICE_USC_ATOMIC_MIN:
		return is_s32 ? s32_min(old, value) : old < value ? old : value;
	case PUMICE_USC_ATOMIC_MAX:
		return is_s32 ? s32_max(old, value) : old > value ? old : value;
	case PUMICE_USC_ATOMIC_AND:
		return old & value;
	case PUMICE_USC_ATOMIC_OR:
		return old | value;
	case PUMICE_USC_ATOMIC_XOR:
		return old ^ value;
	case PUMICE_USC_ATOMIC_CMPXCHG:
		return old == expected ? value : old;
	default:	/* XCHG */
		return value;
	}
}

/* Operations without an instruction of the host. */
static inline u32 atomic_try(const struct usc_insn *i, u32 *at, u32 value)
{
	u32 old = __atomic_load_n(at, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(at, &old, atomic_result(i, old, value, 0), true,
					    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
	return old;
}

/* Do one lane's operation on shared memory; returns the previous value. */
static inline u32 atomic_shared(const struct usc_insn *i, u32 *at, u32 value, u32 expected)
{
	switch (i->func) {
	case PUMICE_USC_ATOMIC_ADD:
		return i->type == PUMICE_USC_TYPE_F32 ? atomic_try(i, at, value) :
			__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);
	case PUMICE_USC_ATOMIC_AND:
		return __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST);
	case PUMICE_USC_ATOMIC_OR:
		return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST);
	case PUMICE_USC_ATOMIC_XOR:
		return __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST);
	case PUMICE_USC_ATOMIC_XCHG:
		return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);
	case PUMICE_USC_ATOMIC_CMPXCHG:
		__atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST);
		return expected;
	default:
		return atomic_try(i, at, value);
	}
}

/* Copy the rows before the operation: it may overwrite its own operands. */
static inline void atomic_operands(const struct exec *x, const struct usc_insn *i, vu *data)
{
	const vu *value = row_of(x, i, USC_SRC1);

	copy_row(data + ATOMIC_OLD * VECS, row_of(x, i, USC_DST));
	copy_row(data + ATOMIC_VALUE * VECS, value);
	if (i->func == PUMICE_USC_ATOMIC_CMPXCHG)
		copy_row(data + ATOMIC_EXPECTED * VECS, value + VECS);
	else
		copy_row(data + ATOMIC_EXPECTED * VECS, value);
}

static const struct usc_insn *local_atomic(struct exec *x, const struct usc_insn *i)
{
	const vu *off = row_of(x, i, USC_SRC0);
	u32 active = active_lanes(x, i, i->lanes_known), lanes;
	u32 refused = local_faulting(x, i, off, active, 4, 3);
	vu data[ATOMIC_ROWS * VECS];
	const u32 *v = (const u32 *)(const void *)data;

	if (refused)
		return local_fault(x, i, refused, 3);
	atomic_operands(x, i, data);
	for (lanes = active; lanes; lanes &= lanes - 1) {
		u32 l = first_lane(lanes);
		u32 *at =
			(u32 *)(void *)(x->local + i->value + ((const u32 *)(const void *)off)[l]);
		u32 old = *at;

		*at = atomic_result(i, old, v[ATOMIC_VALUE * PUMICE_LANES + l],
				    v[ATOMIC_EXPECTED * PUMICE_LANES + l]);
		((u32 *)(void *)data)[l] = old;
	}
	copy_row(row_of(x, i, USC_DST), data);
	return exec_next(x, i);
}

static inline void atomic_in_grain(const struct usc_insn *i, const struct grain *g, const vu *off,
				   vu *data, u32 lanes, u32 arg)
{
	u32 *v = (u32 *)(void *)data;

	(void)arg;
	for (; lanes; lanes &= lanes - 1) {
		u32 l = first_lane(lanes);
		u8 *at = g->host + (((const u32 *)(const void *)off)[l] - g->low);

		/* A null page reads as zero, whatever was written to it. */
		if (g->sink)
			*(u32 *)(void *)at = 0;
		v[l] = atomic_shared(i, (u32 *)(void *)at, v[ATOMIC_VALUE * PUMICE_LANES + l],
				     v[ATOMIC_EXPECTED * PUMICE_LANES + l]);
	}
}

static const struct usc_insn *global_atomic(struct exec *x, const struct usc_insn *i)
{
	vu data[ATOMIC_ROWS * VECS];

	atomic_operands(x, i, data);
	if (!global_any(x, i, exec_base(x, i), row_of(x, i, USC_SRC0), data,
			active_lanes(x, i, i->lanes_known), 3, true, atomic_in_grain, 0))
		return i;
	copy_row(row_of(x, i, USC_DST), data);
	exec_signal(x, i);
	return exec_next(x, i);
}

static usc_exec_fn *atomic_find(const struct usc_insn *insn)
{
	switch (insn->op) {
	case PUMICE_USC_OP_LOCAL_ATOMIC:
		return local_atomic;
	case PUMICE_USC_OP_GLOBAL_ATOMIC:
		return global_atomic;
	default:
		return NULL;
	}
}
