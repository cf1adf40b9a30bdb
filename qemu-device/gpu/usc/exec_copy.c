// SPDX-License-Identifier: MIT
/*
 * Copies between memory and local memory by a whole work-group, and the window of dynamic
 * constants.
 *
 * Source: document 000, "System Memory Access"; document 003, "Dynamic Constant Registers".
 * Each wave moves its share when it issues the copy. The whole copy must be within the
 * allocation of local memory; every wave checks this.
 *
 * Limits: memory is copied word by word or in vectors of words, each accessed once; a wave
 * whose share faults has copied the words before the faulting grain.
 */
#include "exec.h"

#define GRAIN (1u << MMU_GRAIN_SHIFT)
#define QUAD 4u

/* Four words at any word address. */
typedef u32 quad __attribute__((vector_size(QUAD * 4), may_alias, aligned(4)));

static void copy_words(u32 *to, const u32 *from, u32 words)
{
	for (; words >= QUAD; words -= QUAD, to += QUAD, from += QUAD)
		*(quad *)(void *)to = *(const quad *)(const void *)from;
	for (; words; words--, to++, from++)
		__atomic_store_n(to, __atomic_load_n(from, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

struct usc_share usc_copy_share(const struct exec *x, const struct usc_insn *i)
{
	const struct usc_wave *wave = x->wave;
	u32 waves = x->usc->run[x->usc->task[wave->slot].group].waves;
	u32 first = i->words * (u32)wave->in_group / waves;

	return (struct usc_share){
		.first = first,
		.words = i->words * (wave->in_group + 1u) / waves - first,
	};
}

static u32 group_instances(const struct exec *x)
{
	const struct usc_group *g = &x->usc->group[x->usc->task[x->wave->slot].group];
	u32 instances = 0;

	for (u32 t = 0; t < g->tasks; t++)
		instances += x->usc->task[g->slot[t]].instances;
	return instances;
}

/* Return the fault of an invalid copy. */
static enum pumice_fault copy_fault(const struct exec *x, const struct usc_insn *i, u32 local, u64 va)
{
	if (group_instances(x) < PUMICE_USC_COPY_INSTANCES)
		return PUMICE_FAULT_USC_BURST;
	if (va % 4)
		return PUMICE_FAULT_USC_BURST_ALIGN;
	if (local % 4)
		return PUMICE_FAULT_USC_LOCAL_ALIGN;
	if ((u64)local + i->words * 4u > x->local_bytes)
		return PUMICE_FAULT_USC_LOCAL_BOUNDS;
	return PUMICE_FAULT_NONE;
}

/*
 * Copy words between local memory and va, a grain at a time. Returns false with x->fault set
 * on a fault.
 */
static bool copy_grains(struct exec *x, u32 *local, u64 va, u32 words, bool store)
{
	while (words) {
		u32 part = (GRAIN - (u32)(va % GRAIN)) / 4;
		u32 *host = (u32 *)(void *)exec_host(x, va, store);

		if (!host)
			return false;
		part = part < words ? part : words;
		copy_words(store ? host : local, store ? local : host, part);
		local += part;
		va += part * 4u;
		words -= part;
	}
	return true;
}

static const struct usc_insn *copy(struct exec *x, const struct usc_insn *i, bool store)
{
	u32 local = *exec_operand(x, i, USC_SRC0);
	u64 va = exec_base(x, i);
	enum pumice_fault fault = copy_fault(x, i, local, va);
	struct usc_share share = usc_copy_share(x, i);

	if (fault == PUMICE_FAULT_USC_BURST_ALIGN)
		return exec_align_fault(x, i, fault, va, store);
	if (fault == PUMICE_FAULT_USC_LOCAL_ALIGN || fault == PUMICE_FAULT_USC_LOCAL_BOUNDS)
		return exec_local_fault(x, i, fault, local);
	if (fault != PUMICE_FAULT_NONE)
		return exec_fault(x, i, fault);
	if (!copy_grains(x, (u32 *)(void *)(x->local + local) + share.first, va + share.first * 4u,
			 share.words, store))
		return exec_mmu_fault(x, i);
	exec_signal(x, i);
	return exec_next(x, i);
}

static const struct usc_insn *group_load(struct exec *x, const struct usc_insn *i)
{
	return copy(x, i, false);
}

static const struct usc_insn *group_store(struct exec *x, const struct usc_insn *i)
{
	return copy(x, i, true);
}

static const struct usc_insn *dc_window(struct exec *x, const struct usc_insn *i)
{
	u64 va = exec_base(x, i);

	if (va % 4)
		return exec_align_fault(x, i, PUMICE_FAULT_USC_BURST_ALIGN, va, false);
	x->wave->dc_base = va;
	x->wave->dc_words = i->words;
	exec_dc_drop(x);
	return exec_next(x, i);
}

usc_exec_fn *usc_exec_copy_find(const struct usc_insn *insn)
{
	switch (insn->op) {
	case PUMICE_USC_OP_GROUP_LOAD:
		return group_load;
	case PUMICE_USC_OP_GROUP_STORE:
		return group_store;
	case PUMICE_USC_OP_DC_WINDOW:
		return dc_window;
	default:
		return NULL;
	}
}
