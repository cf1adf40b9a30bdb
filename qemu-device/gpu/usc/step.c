// SPDX-License-Identifier: MIT
/*
 * Execution of a wave an instruction at a time. See step.h.
 *
 * Limits: several times slower than the interpreter's loop, and without pairs of instructions.
 */
#include "step.h"

#include "../strict/lines.h"

/* Return whether the instruction that was just run is complete: not deferred, and no fault. */
static bool is_complete(const struct exec *x)
{
	return x->exit != USC_EXIT_FAULT && x->exit != USC_EXIT_YIELD &&
	       x->exit != USC_EXIT_SLOT && x->exit != USC_EXIT_COPY;
}

void usc_get_place(const struct usc *usc, struct lines_writer *place)
{
	const struct exec *x = usc->stepped;

	if (!x)
		return;
	place->slot = x->wave->slot;
	place->wave = x->wave->in_group;
	place->lane_known = usc->stepped_lane < PUMICE_LANES;
	place->lane = (u8)usc->stepped_lane;
	place->usc = (u16)usc->config.number;
	place->pc = (u32)(usc->stepped_at - x->program->insn);
	place->code = x->code_addr;
}

bool usc_compares(const struct usc *usc)
{
	return usc->stepped && usc->stepped_at->op == PUMICE_USC_OP_GLOBAL_ATOMIC &&
	       usc->stepped_at->func == PUMICE_USC_ATOMIC_CMPXCHG;
}

static const struct usc_insn *run(struct exec *x, const struct usc_insn *i)
{
	const bool detailed = mmu_is_detailed(x->usc->config.mmu);
	bool going = (uintptr_t)i < (uintptr_t)x->limit;

	while (going) {
		const struct usc_insn *at = i;
		struct usc_late_step late;
		struct usc_requests requests;
		struct usc_watch_step watch;
		struct usc_unset_step unset;
		struct usc_tally tally;

		x->usc->stepped_at = i;
		if (x->usc->late && !usc_late_begin(x, i, &late))
			return i;
		if (x->detail)
			usc_tally_begin(x, i, &tally);
		if (detailed)
			usc_requests_begin(x, i, &requests);
		if (detailed && x->usc->strict)
			usc_stale_begin(x, i, &requests);
		if (x->usc->watch) {
			usc_watch_begin(x, i, &watch);
			usc_unset_begin(x, i, &watch, &unset);
		}
		x->limit = i + 1;	/* only this instruction */
		if (x->usc->late && late.stores)
			i = usc_late_store(x, i);
		else
			i = i->run(x, i);
		/* A jump has begun a new run of instructions, as far as the slice allows. */
		going = x->limit && !x->pause && x->done + (u32)(i - x->from) < x->slice;
		if (!is_complete(x))
			continue;
		if (x->detail)
			usc_tally_end(x, at, &tally);
		if (detailed)
			usc_requests_end(x, &requests);
		if (x->usc->watch && detailed)
			usc_watch_memory(x, at, &requests, &watch);
		if (x->usc->watch) {
			usc_watch_end(x, at, &watch);
			usc_unset_end(x, at, &watch, &unset);
		}
		if (x->usc->late && !usc_late_end(x, at, &late))
			return at;
	}
	return i;
}

const struct usc_insn *usc_exec_stepped(struct exec *x, const struct usc_insn *i)
{
	const struct usc_insn *next;

	if (!x->usc->strict)
		return run(x, i);
	x->usc->stepped = x;
	x->usc->stepped_lane = PUMICE_LANES;
	next = run(x, i);
	x->usc->stepped = NULL;
	return next;
}
