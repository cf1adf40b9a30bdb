// SPDX-License-Identifier: MIT
/*
 * Writes to slot registers: once for the task, by its first active instance.
 *
 * Source: document 000, "Slot Register Store"; document 003, "Slot Registers": one instance
 * writes for each instruction, and all instances of the slot read the same value.
 *
 * The waves of a task execute an instruction that writes a slot register together. A wave that
 * reaches one waits until every other wave of its task has reached one, waits at a barrier or a
 * work-group copy, or has ended. Of the waiting waves, those at the instruction of the lowest
 * one then execute it, in ascending order and before any other wave runs; the first of them
 * with an active lane determines the value. So no wave writes while another wave of its task
 * may read, and values do not depend on the order in which waves are scheduled.
 *
 * Limits: a wave that polls memory until a waiting wave of its task has written it never ends.
 */
#include "exec.h"

/* Return whether a lane is valid and, of a vector or of first_where_true, not masked. */
static bool is_active(const struct exec *x, const struct usc_insn *i)
{
	const u32 *a, *b;
	const struct usc_mask *mask;
	u32 lanes = 0;

	if (!i->masked || i->op == PUMICE_USC_OP_BALLOT || i->op == PUMICE_USC_OP_SELECT)
		return x->valid;
	if (i->lanes_known)
		return i->lanes & x->valid;
	mask = exec_mask(x, i, USC_MASK_OF_LANES);
	a = exec_mask_row(x, mask, 0);
	b = exec_mask_row(x, mask, 1);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		lanes |= ((a[l] ^ mask->invert[0]) & (b[l] ^ mask->invert[1]) & 1) << l;
	return lanes & x->valid;
}

/* Return the slot register that the instruction writes. */
static u32 *destination(const struct exec *x, const struct usc_insn *i)
{
	u32 offset = i->lookups >> USC_DST & 1 ? exec_lookup(x, i, USC_DST)->offset :
						 i->offset[USC_DST];

	return (u32 *)(void *)(x->base[USC_BASE_SLOT] + offset);
}

const struct usc_insn *usc_exec_slot_write(struct exec *x, const struct usc_insn *i)
{
	const struct usc_task *task = &x->usc->task[x->wave->slot];
	struct usc_run *run = &x->usc->run[task->group];
	const struct usc_insn *limit = x->limit, *next;
	u32 *word, before;
	bool active;

	if (task->waves < 2 && x->valid)
		return exec_then(x, i);
	if (task->waves > 1 && !(run->together >> x->wave->in_group & 1))
		return exec_leave(x, i, USC_EXIT_SLOT);
	word = destination(x, i);
	before = *word;
	active = is_active(x, i);
	/* Run this instruction only, so that control returns here. */
	x->limit = i + 1;
	next = exec_then(x, i);
	if (!active || (task->waves > 1 && run->executed))
		*word = before;
	run->executed |= active;
	if (!x->limit)
		return next;
	x->limit = x->pause ? EXEC_PAUSE : limit;
	return (uintptr_t)next < (uintptr_t)x->limit ? next->run(x, next) : next;
}

/* Return the waves of a task, by number in its group. */
static u32 waves_of(const struct usc *usc, unsigned int slot)
{
	u32 first = usc->wave[slot * USC_MAX_WAVES].in_group;

	return ((1u << usc->task[slot].waves) - 1) << first;
}

void usc_slot_select_writers(struct usc *usc, struct usc_run *run, unsigned int slot)
{
	u32 waves = waves_of(usc, slot), waiting = run->meeting & waves, pc;

	if (!waiting || (run->runnable & waves))
		return;
	pc = usc->wave[run->wave[__builtin_ctz(waiting)]].pc;
	for (; waiting; waiting &= waiting - 1) {
		unsigned int w = (unsigned int)__builtin_ctz(waiting);

		if (usc->wave[run->wave[w]].pc == pc)
			run->together |= 1u << w;
	}
	run->meeting &= ~run->together;
	run->runnable |= run->together;
	run->executed = false;
	if (usc->watch)
		usc_watch_meet(usc->watch, usc->task[slot].group, run->together);
}
