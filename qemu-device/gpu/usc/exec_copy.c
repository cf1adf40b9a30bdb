// SPDX-License-Identifier: MIT
/*
 * Copies by a whole work-group between memory and local memory or the common store, bursts from
 * memory to the common store, and the window of dynamic constants.
 *
 * Source: document 000, "System Memory Access"; document 003, "Shared Registers" and "Dynamic
 * Constant Registers".
 *
 * A work-group copy is one instruction for the group. A wave that reaches it waits until all
 * waves of the group have; then the lowest executes it for all, and each sets its signal. So
 * neither operands nor data depend on the order in which waves are scheduled. A copy to the
 * common store writes the shared registers of each task, which has its own; one from there
 * reads those of the lowest wave's task.
 *
 * Where data are late (late_copy.c), a copy to memory is only checked here, and its words are
 * stored when it is complete.
 *
 * Limits: memory is copied word by word or in vectors of words, each accessed once; a copy or
 * burst that faults has copied the words before the faulting grain.
 */
#include "exec.h"
#include "minmax.h"

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

static const struct usc_group *group_of(const struct exec *x)
{
	return &x->usc->group[x->usc->task[x->wave->slot].group];
}

static u32 group_instances(const struct exec *x)
{
	const struct usc_group *g = group_of(x);
	u32 instances = 0;

	for (u32 t = 0; t < g->tasks; t++)
		instances += x->usc->task[g->slot[t]].instances;
	return instances;
}

/* Return how many of some words are in the grain of va. */
static u32 words_in_grain(u64 va, u32 words)
{
	return min_u32((GRAIN - (u32)(va % GRAIN)) / 4, words);
}

bool usc_copy_store(struct exec *x, const u32 *chip, u64 va, u32 words)
{
	while (words) {
		u32 part = words_in_grain(va, words);
		u32 *host = (u32 *)(void *)exec_host(x, va, true);

		if (!host)
			return false;
		copy_words(host, chip, part);
		exec_stored(x, va, part * 4u);
		chip += part;
		va += part * 4u;
		words -= part;
	}
	return true;
}

/*
 * Copy words between on-chip memory and va, a grain at a time. Returns false with x->fault set
 * on a fault.
 */
static bool copy_grains(struct exec *x, u32 *chip, u64 va, u32 words, bool store)
{
	const bool late = store && x->usc->late;

	while (words) {
		u32 part = words_in_grain(va, words), *host;

		exec_expect(x, va, part * 4u, store);
		host = (u32 *)(void *)exec_host(x, va, store);
		if (!host)
			return false;
		exec_request(x, va, part * 4u, store, PUMICE_UNIT_USC_DATA);
		if (!late)
			copy_words(store ? host : chip, store ? chip : host, part);
		chip += part;
		va += part * 4u;
		words -= part;
	}
	return true;
}

/* Check the group and the address of a copy or burst. NULL: both are valid. */
static const struct usc_insn *refuse(struct exec *x, const struct usc_insn *i, bool store)
{
	u64 va = exec_base(x, i);

	if (pumice_usc_is_group_copy(i->op) && group_instances(x) < PUMICE_USC_COPY_INSTANCES)
		return exec_fault(x, i, PUMICE_FAULT_USC_BURST);
	return va % 4 ? exec_align_fault(x, i, PUMICE_FAULT_USC_BURST_ALIGN, va, store) : NULL;
}

static const struct usc_insn *copy_local(struct exec *x, const struct usc_insn *i, bool store)
{
	u32 local = *exec_operand(x, i, USC_SRC0);
	const struct usc_insn *stop = refuse(x, i, store);

	if (stop)
		return stop;
	if (local % 4)
		return exec_local_fault(x, i, PUMICE_FAULT_USC_LOCAL_ALIGN, local);
	if ((u64)local + i->words * 4u > x->local_bytes)
		return exec_local_fault(x, i, PUMICE_FAULT_USC_LOCAL_BOUNDS, local);
	if (!copy_grains(x, (u32 *)(void *)(x->local + local), exec_base(x, i), i->words, store))
		return exec_mmu_fault(x, i);
	exec_signal(x, i);
	return exec_next(x, i);
}

static const struct usc_insn *group_load(struct exec *x, const struct usc_insn *i)
{
	return copy_local(x, i, false);
}

static const struct usc_insn *group_store(struct exec *x, const struct usc_insn *i)
{
	return copy_local(x, i, true);
}

/* Return the first shared register of an operand, or NULL: lane 0's index is out of range. */
static u32 *shared_registers(const struct exec *x, const struct usc_insn *i, enum usc_place place)
{
	const struct usc_lookup *l;
	u32 index;

	if (i->base[place] != USC_BASE_OWN)
		return exec_operand(x, i, place);
	l = exec_lookup(x, i, place);
	index = *exec_operand(x, i, place);
	if (index > l->last)
		return NULL;
	return (u32 *)(void *)(x->base[l->base] + l->offset + (index << (l->shift + l->dim)));
}

/* Copy loaded shared registers of the wave's task to the group's other tasks. */
static void copy_to_tasks(const struct exec *x, const u32 *from, u32 words)
{
	const struct usc_group *g = group_of(x);
	const size_t first = (size_t)(from - (x->usc->common + x->wave->shared));

	for (u32 t = 0; t < g->tasks; t++) {
		const struct usc_task *task = &x->usc->task[g->slot[t]];

		if (g->slot[t] != x->wave->slot && task->instances)
			copy_words(usc_shared(x->usc, task) + first, from, words);
	}
}

/* Copy to the shared registers of an operand, or from them. */
static const struct usc_insn *copy_shared(struct exec *x, const struct usc_insn *i,
					  enum usc_place place, bool store)
{
	u32 *shared = shared_registers(x, i, place);
	const struct usc_insn *stop = refuse(x, i, store);

	if (stop)
		return stop;
	if (!shared) {
		stop = exec_fault(x, i, PUMICE_FAULT_USC_INDEX);
		exec_fault_lane(x, 1);
		return stop;
	}
	if (!copy_grains(x, shared, exec_base(x, i), i->words, store))
		return exec_mmu_fault(x, i);
	if (i->op == PUMICE_USC_OP_GROUP_LOAD_SHARED)
		copy_to_tasks(x, shared, i->words);
	exec_signal(x, i);
	return exec_next(x, i);
}

static const struct usc_insn *group_store_shared(struct exec *x, const struct usc_insn *i)
{
	return copy_shared(x, i, USC_SRC0, true);
}

/* Also the group's copy. */
static const struct usc_insn *shared_load(struct exec *x, const struct usc_insn *i)
{
	return copy_shared(x, i, USC_DST, false);
}

static struct usc_run *run_of(const struct exec *x)
{
	return &x->usc->run[x->usc->task[x->wave->slot].group];
}

bool usc_copy_executes(const struct exec *x)
{
	const struct usc_run *run = run_of(x);

	return run->waves == 1 || ((run->together >> x->wave->in_group & 1) && !run->executed);
}

const struct usc_insn *usc_exec_group_copy(struct exec *x, const struct usc_insn *i)
{
	struct usc_run *run = run_of(x);

	if (usc_copy_executes(x)) {
		run->executed = true;
		return exec_then(x, i);
	}
	if (!(run->together >> x->wave->in_group & 1))
		return exec_leave(x, i, USC_EXIT_COPY);
	exec_signal(x, i);
	return exec_next(x, i);
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
	case PUMICE_USC_OP_GROUP_LOAD_SHARED:
	case PUMICE_USC_OP_SHARED_LOAD:
		return shared_load;
	case PUMICE_USC_OP_GROUP_STORE_SHARED:
		return group_store_shared;
	case PUMICE_USC_OP_DC_WINDOW:
		return dc_window;
	default:
		return NULL;
	}
}
