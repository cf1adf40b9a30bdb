// SPDX-License-Identifier: MIT
/*
 * Control flow of the whole wave, barrier, end, and completion signals.
 *
 * Source: document 002, "Control flow" and "Global (async) memory".
 *
 * Limits: br_all, br_any need lanes and are in vec/move.inc.h. Data moves when a global access is
 * issued; its signal is done USC_GLOBAL_LATENCY of the wave's issue slots later. So an access
 * is complete when the wave ends, even if its signal is not done. late.c makes the data late.
 */
#include "exec.h"
#include "minmax.h"

static const struct usc_insn *jump(struct exec *x, const struct usc_insn *i)
{
	return exec_jump(x, i, i->value);
}

static const struct usc_insn *brz(struct exec *x, const struct usc_insn *i)
{
	return *exec_operand(x, i, USC_SRC0) ? exec_next(x, i) : exec_jump(x, i, i->value);
}

static const struct usc_insn *brnz(struct exec *x, const struct usc_insn *i)
{
	return *exec_operand(x, i, USC_SRC0) ? exec_jump(x, i, i->value) : exec_next(x, i);
}

static const struct usc_insn *barrier(struct exec *x, const struct usc_insn *i)
{
	return exec_leave(x, i + 1, USC_EXIT_BARRIER);
}

static const struct usc_insn *end(struct exec *x, const struct usc_insn *i)
{
	return exec_leave(x, i + 1, USC_EXIT_END);
}

const struct usc_insn *usc_exec_past_end(struct exec *x, const struct usc_insn *i)
{
	return exec_fault(x, i, PUMICE_FAULT_USC_END);
}

u64 exec_signals_done(const struct exec *x, const struct usc_insn *i)
{
	u64 when = 0;

	for (u32 n = 0; n < sizeof(i->sig); n++)
		when = max_u64(when, x->wave->done[i->sig[n]]);
	return when;
}

u64 exec_all_done(const struct exec *x)
{
	u64 when = 0;

	for (u32 n = 0; n < PUMICE_USC_SIGNALS; n++)
		when = max_u64(when, x->wave->done[n]);
	return when;
}

u64 exec_first_done(const struct exec *x, const struct usc_insn *i)
{
	u64 when = UINT64_MAX;

	for (u32 signals = exec_signals(i); signals; signals &= signals - 1)
		when = min_u64(when, x->wave->done[__builtin_ctz(signals)]);
	return when;
}

u32 exec_any_done(const struct exec *x, const struct usc_insn *i)
{
	const u64 ends = max_u64(exec_first_done(x, i), exec_clock(x, i));
	u32 done = 0;

	for (u32 signals = exec_signals(i); signals; signals &= signals - 1) {
		if (x->wave->done[__builtin_ctz(signals)] <= ends)
			done |= signals & -signals;
	}
	return done;
}

static const struct usc_insn *sig_done(struct exec *x, const struct usc_insn *i)
{
	*exec_operand(x, i, USC_DST) = exec_signals_done(x, i) <= exec_clock(x, i);
	return exec_next(x, i);
}

/*
 * Wait by advancing the wave's clock. If other waves can run meanwhile it yields, and issues
 * the wait again in its next quantum; then the result is false.
 */
static bool wait_until(struct exec *x, u64 when, u64 now)
{
	x->wave->clock += when - now;
	if (x->exclusive)
		x->stalled += when - now;
	else
		x->wait = when - now;
	return x->exclusive;
}

static const struct usc_insn *sig_wait(struct exec *x, const struct usc_insn *i)
{
	u64 when = exec_signals_done(x, i), now = exec_clock(x, i);

	if (when > now && !wait_until(x, when, now))
		return exec_leave(x, i, USC_EXIT_YIELD);
	*exec_operand(x, i, USC_DST) = 1;
	return exec_next(x, i);
}

static const struct usc_insn *sig_waitany(struct exec *x, const struct usc_insn *i)
{
	u64 when = exec_first_done(x, i), now = exec_clock(x, i);

	if (when > now && !wait_until(x, when, now))
		return exec_leave(x, i, USC_EXIT_YIELD);
	*exec_operand(x, i, USC_DST) = exec_any_done(x, i);
	return exec_next(x, i);
}

/*
 * Wait for all accesses of the wave and drop what it has fetched. Returns false if the wave leaves,
 * and begins the instruction again. The accesses were done when they were issued, so in every
 * scope it is sufficient to wait for all signals and to order the accesses for other threads.
 */
static bool fence(struct exec *x, const struct usc_insn *i)
{
	u64 when = exec_all_done(x), now = exec_clock(x, i);

	if (when > now && !wait_until(x, when, now))
		return false;
	exec_dc_drop(x);
	x->wave->uniforms_kept = false;
	if (i->func != PUMICE_USC_SCOPE_GROUP)
		atomic_thread_fence(memory_order_seq_cst);
	return true;
}

/* More than the budget of a step, in slow instructions. */
#define CACHE_OP_COST	(1u << 16)

/*
 * Execute an operation of the wave on caches. In detailed modes it may take as long as all lines of
 * the caches, so the step ends after one. A fence within a core is an access only.
 */
static void cache_op(struct exec *x, const struct usc_insn *i, enum mmu_cache_kind kind,
		     u64 first, u64 last)
{
	static const enum pumice_mem_scope scopes[PUMICE_USC_SCOPE_COUNT] = {
		[PUMICE_USC_SCOPE_GROUP] = PUMICE_MEM_SCOPE_GROUP,
		[PUMICE_USC_SCOPE_CORE] = PUMICE_MEM_SCOPE_CORE,
		[PUMICE_USC_SCOPE_DEVICE] = PUMICE_MEM_SCOPE_GPU,
		[PUMICE_USC_SCOPE_SYSTEM] = PUMICE_MEM_SCOPE_SYSTEM,
	};
	const enum pumice_mem_scope scope = scopes[i->func];

	mmu_cache_op(x->usc->config.mmu, &(struct mmu_cache_op){
		.kind = kind, .scope = scope, .usc = x->usc->config.number,
		.ctx = x->ctx, .first = first, .last = last,
	});
	if (!x->usc->config.mmu->cache_op)
		return;
	if (kind == MMU_CACHE_FENCE && scope != PUMICE_MEM_SCOPE_GPU &&
	    scope != PUMICE_MEM_SCOPE_SYSTEM) {
		exec_check_stop(x);
		return;
	}
	x->slow += CACHE_OP_COST;
	exec_pause(x);
}

static const struct usc_insn *mem_fence(struct exec *x, const struct usc_insn *i)
{
	if (!fence(x, i))
		return exec_leave(x, i, USC_EXIT_YIELD);
	cache_op(x, i, MMU_CACHE_FENCE, 0, UINT64_MAX);
	return exec_next(x, i);
}

/* On all lines of the context. */
static const struct usc_insn *cache_all(struct exec *x, const struct usc_insn *i)
{
	if (!fence(x, i))
		return exec_leave(x, i, USC_EXIT_YIELD);
	cache_op(x, i, i->op == PUMICE_USC_OP_CACHE_CLEAN ? MMU_CACHE_CLEAN : MMU_CACHE_INVALIDATE,
		 0, UINT64_MAX);
	return exec_next(x, i);
}

/* On the lines of a range, which is cut off at the end of the numbers. */
static const struct usc_insn *cache_range(struct exec *x, const struct usc_insn *i)
{
	const u64 first = exec_base(x, i), bytes = i->words * 4u;

	if (!fence(x, i))
		return exec_leave(x, i, USC_EXIT_YIELD);
	cache_op(x, i, i->op == PUMICE_USC_OP_CACHE_CLEAN_RANGE ? MMU_CACHE_CLEAN :
								  MMU_CACHE_INVALIDATE,
		 first, first + min_u64(bytes - 1, UINT64_MAX - first));
	return exec_next(x, i);
}

usc_exec_fn *usc_exec_flow_find(const struct usc_insn *insn)
{
	switch (insn->op) {
	case PUMICE_USC_OP_SIG_DONE1:
	case PUMICE_USC_OP_SIG_DONE2:
		return sig_done;
	case PUMICE_USC_OP_SIG_WAIT:
	case PUMICE_USC_OP_SIG_WAITALL2:
	case PUMICE_USC_OP_SIG_WAITALL3:
	case PUMICE_USC_OP_SIG_WAITALL4:
		return sig_wait;
	case PUMICE_USC_OP_SIG_WAITANY2:
	case PUMICE_USC_OP_SIG_WAITANY3:
	case PUMICE_USC_OP_SIG_WAITANY4:
		return sig_waitany;
	case PUMICE_USC_OP_MEM_FENCE:
		return mem_fence;
	case PUMICE_USC_OP_CACHE_CLEAN:
	case PUMICE_USC_OP_CACHE_INVALIDATE:
		return cache_all;
	case PUMICE_USC_OP_CACHE_CLEAN_RANGE:
	case PUMICE_USC_OP_CACHE_INVALIDATE_RANGE:
		return cache_range;
	case PUMICE_USC_OP_BRZ:
		return brz;
	case PUMICE_USC_OP_BRNZ:
		return brnz;
	case PUMICE_USC_OP_JUMP:
		return jump;
	case PUMICE_USC_OP_BARRIER:
		return barrier;
	case PUMICE_USC_OP_END:
		return end;
	default:
		return NULL;
	}
}
