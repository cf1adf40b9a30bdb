// SPDX-License-Identifier: MIT
/*
 * Scheduling of waves: round robin over groups, and within a group over its waves.
 *
 * Source: document 002, "Waves"; document 000, "Unified Shading Cluster"; document 004, "USSE".
 *
 * A wave's quantum ends after USC_WAVE_QUANTUM instructions, at a barrier, when it must wait
 * for a signal while others of its group can run, and when it ends. A group's ends after
 * USC_GROUP_QUANTUM. So a loop cannot keep other work from running, and the registers of only
 * few waves at a time need the host's cache. Quanta are part of the state: the order of
 * execution does not depend on how much is run in one step.
 *
 * Programs of different data masters are scheduled finely, as document 004 does: they take turns
 * after USC_SHARED_QUANTUM. While instructions are run one at a time (step.c), which the host's
 * cache does not make slower, turns are of USC_FINE_QUANTUM, and when all waves of a group that can
 * run wait for signals, another group replaces it at once. Of its groups, a data master continues
 * with one for USC_GROUP_QUANTUM whenever it does not wait; all of them in turn would compete for
 * the same words of memory. If all groups wait, the one whose wait ends first continues. Slots are
 * counted for the USC, so a wait elapses while other groups run.
 *
 * Limits: waves are run one at a time. A fault stops its group at once; earlier stores of its
 * waves remain.
 */
#include "../number.h"
#include "exec.h"
#include "float_env.h"
#include "minmax.h"

/*
 * Additional cost of a slow instruction for a step, in instructions: a texture instruction
 * takes up to 20 us, so that a step of 8192 instructions could take 160 ms, in which no other
 * work runs without threads. A report of up to 64 groups that ended costs as much.
 */
#define SLOW_COST	64u

/*
 * Return the first member of a set at or after position from, cyclically. The set is not
 * empty.
 */
static unsigned int next_in(u64 set, unsigned int from)
{
	u64 later = from < 64 ? set & ~0ull << from : 0;

	return (unsigned int)__builtin_ctzll(later ? later : set);
}

static void group_faulted(struct usc *usc, unsigned int group, const struct gpu_fault *fault)
{
	usc_report_ended(usc);	/* before the fault stops the job */
	if (usc->strict)
		usc_watch_fault(usc, group, fault);
	usc->config.ops->fault(usc->config.opaque, group, fault);
	usc_group_finish(usc, group);
}

/* Report that waves wait at a barrier or a work-group copy which others never reach. */
static void fault_barrier(struct usc *usc, unsigned int group)
{
	const struct usc_group *g = &usc->group[group];
	const struct usc_run *run = &usc->run[group];
	const u32 first = (u32)__builtin_ctz(run->barrier | run->copying);
	const struct usc_wave *wave = &usc->wave[run->wave[first]];
	/* It continues after the barrier, but at the copy. */
	u32 pc = wave->pc - (run->barrier >> first & 1);
	const struct gpu_fault fault = {
		.fault = PUMICE_FAULT_USC_BARRIER,
		.unit = PUMICE_UNIT_USC_CODE,
		.ctx = g->ctx,
		.usc = (u16)usc->config.number,
		.pc = pc,
		.code = g->code_addr,
		.addr = g->code_addr + (u64)pc * PUMICE_USC_WORDS * sizeof(u32),
		.wave_known = true,
		.slot = wave->slot,
		.wave = (u8)(run->wave[first] % USC_MAX_WAVES),
		.lanes = wave->valid,
	};

	group_faulted(usc, group, &fault);
}

/* Return whether all waves of the group wait at one barrier or copy. Barriers are all alike. */
static bool all_wait(const struct usc *usc, const struct usc_run *run)
{
	u32 pc = usc->wave[run->wave[0]].pc;

	if (run->ended || (run->barrier && run->copying))
		return false;
	for (u32 w = 1; run->copying && w < run->waves; w++) {
		if (usc->wave[run->wave[w]].pc != pc)
			return false;
	}
	return true;
}

/*
 * Called when no wave of the group can run: end it, or pass the barrier or execute the copy if
 * all are there.
 */
static void finish_or_release(struct usc *usc, unsigned int group)
{
	struct usc_run *run = &usc->run[group];

	if (!run->barrier && !run->copying) {
		usc_group_finish(usc, group);
	} else if (!all_wait(usc, run)) {
		fault_barrier(usc, group);
	} else if (run->copying) {
		run->together = run->copying;
		run->runnable = run->copying;
		run->copying = 0;
		run->executed = false;
		if (usc->watch)
			usc_watch_meet(usc->watch, group, run->together);
	} else {
		if (usc->watch) {
			usc_watch_barrier(usc, group);
			usc_watch_meet(usc->watch, group, run->barrier);
		}
		run->runnable = run->barrier;
		run->barrier = 0;
		usc_count(usc, PUMICE_PERF_USC_BARRIERS, 1);
	}
}

/* Return the slot at which a wave of the group can issue: the first whose wait ends. */
static u64 ready_at(const struct usc *usc, unsigned int group)
{
	const struct usc_run *run = &usc->run[group];
	u64 slot = UINT64_MAX;

	for (u32 waves = run->runnable; waves; waves &= waves - 1)
		slot = min_u64(slot, usc->wave[run->wave[__builtin_ctz(waves)]].resume);
	return slot;
}

static unsigned int master_of(const struct usc *usc, unsigned int group)
{
	return usc_gfx_master(usc->group[group].gfx);
}

/* Return the group of a set whose wait ends first. The set is not empty. */
static unsigned int first_ready(const struct usc *usc, u64 groups)
{
	unsigned int best = (unsigned int)__builtin_ctzll(groups);

	for (; groups; groups &= groups - 1) {
		const unsigned int group = (unsigned int)__builtin_ctzll(groups);

		if (ready_at(usc, group) < ready_at(usc, best))
			best = group;
	}
	return best;
}

/* Return the group of a data master that it continues with, or the next that waits less. */
static unsigned int group_of_master(struct usc *usc, unsigned int master, u64 groups)
{
	unsigned int group;

	if (!usc->kept_left[master] || !(groups >> usc->kept[master] & 1)) {
		usc->kept[master] = (u8)next_in(groups, usc->kept[master] + 1u);
		usc->kept_left[master] = USC_GROUP_QUANTUM;
	}
	group = usc->kept[master];
	for (u64 left = groups; left; left &= ~(1ull << group)) {
		group = next_in(left, group);
		if (ready_at(usc, group) <= usc->slots)
			return group;
	}
	return first_ready(usc, groups);
}

/* Return whether groups of several data masters run. */
static bool is_shared(const struct usc *usc)
{
	u32 masters = 0;

	for (u32 n = 0; n < PUMICE_WAVE_MASTER_COUNT; n++)
		masters += usc->running_of[n] != 0;
	return masters > 1;
}

void usc_turns_begin(struct usc *usc, unsigned int group)
{
	usc->running_of[master_of(usc, group)]++;
	if (is_shared(usc))
		usc->left = min_u32(usc->left, USC_SHARED_QUANTUM);
}

void usc_turns_end(struct usc *usc, unsigned int group)
{
	usc->running_of[master_of(usc, group)]--;
}

/* Select the next group where data masters take turns. */
static unsigned int choose_finely(struct usc *usc)
{
	u64 of[PUMICE_WAVE_MASTER_COUNT] = { 0 };
	unsigned int group;

	for (u64 left = usc->running; left; left &= left - 1) {
		group = (unsigned int)__builtin_ctzll(left);
		of[master_of(usc, group)] |= 1ull << group;
	}
	for (u32 n = 1; n <= PUMICE_WAVE_MASTER_COUNT; n++) {
		const unsigned int master = (usc->master + n) % PUMICE_WAVE_MASTER_COUNT;

		if (!of[master])
			continue;
		group = group_of_master(usc, master, of[master]);
		if (ready_at(usc, group) <= usc->slots) {
			usc->master = (u8)master;
			return group;
		}
	}
	return first_ready(usc, usc->running);
}

/* Select the next group to run. */
static unsigned int choose_group(struct usc *usc)
{
	if (usc->left && usc->running >> usc->current & 1)
		return usc->current;
	if (usc_is_stepped(usc)) {
		usc->current = (u8)choose_finely(usc);
		usc->left = USC_FINE_QUANTUM;
	} else if (is_shared(usc)) {
		usc->current = (u8)choose_finely(usc);
		usc->left = USC_SHARED_QUANTUM;
	} else {
		usc->current = (u8)next_in(usc->running, usc->current + 1u);
		usc->left = USC_GROUP_QUANTUM;
	}
	return usc->current;
}

/* Count slots that a group used against the quantum in which its data master keeps it. */
static void use_kept(struct usc *usc, unsigned int group, u32 used)
{
	const unsigned int master = master_of(usc, group);

	if (usc->kept[master] == group)
		usc->kept_left[master] -= min_u32(used, usc->kept_left[master]);
}

/* Select the next wave of a group to run: first those that execute an instruction together. */
static struct usc_wave *choose_wave(struct usc *usc, struct usc_run *run)
{
	if (run->together) {
		run->current = (u8)__builtin_ctz(run->together);
		run->left = 1;
	} else if (!run->left || !(run->runnable >> run->current & 1)) {
		run->current = (u8)next_in(run->runnable, run->current + 1u);
		run->left = USC_WAVE_QUANTUM;
	}
	return &usc->wave[run->wave[run->current]];
}

/* A wave has ended: notify the PDS if it was the last of its task, but not of the group. */
static void notify_task(struct usc *usc, unsigned int group, const struct usc_wave *wave)
{
	const struct usc_run *run = &usc->run[group];
	const struct usc_task *task = &usc->task[wave->slot];
	const u32 first = usc->wave[wave->slot * USC_MAX_WAVES].in_group;
	const u32 waves = ((1u << task->waves) - 1) << first;

	if ((run->ended & waves) == waves && (u32)__builtin_popcount(run->ended) < run->waves)
		usc->config.ops->task_done(usc->config.opaque, usc->config.number, group,
					   task->index);
}

/* Handle a wave that left the interpreter before the end of its slice. */
static void wave_left(struct usc *usc, unsigned int group, struct exec *x, struct usc_wave *wave)
{
	struct usc_run *run = &usc->run[group];
	u32 bit = 1u << run->current;

	/* Before the group can be reported as done. */
	if (x->exit == USC_EXIT_END || x->exit == USC_EXIT_FAULT || run->ended)
		usc_exec_count(x);
	switch (x->exit) {
	case USC_EXIT_YIELD:
		run->left = 0;
		wave->resume = usc->slots + x->wait;
		if (x->stepped && ready_at(usc, group) > usc->slots)
			usc->left = 0;	/* another group, if there is one */
		return;
	case USC_EXIT_FAULT:
		group_faulted(usc, group, &x->fault);
		return;
	case USC_EXIT_BARRIER:
		run->barrier |= bit;
		break;
	case USC_EXIT_COPY:
		run->copying |= bit;
		break;
	case USC_EXIT_SLOT:
		run->meeting |= bit;
		break;
	default:
		run->ended |= bit;
		if (usc->watch)
			usc_watch_wave_end(usc->watch, group, wave->in_group, wave->pc - 1);
	}
	run->runnable &= ~bit;
	if (run->meeting)
		usc_slot_select_writers(usc, run, wave->slot);
	if (run->ended & bit)
		notify_task(usc, group, wave);
	if (!run->runnable)
		finish_or_release(usc, group);
}

/* Return whether a wave of the group is the only one that can run: its waits need no other. */
static bool is_alone(const struct usc *usc, const struct usc_run *run, bool fine)
{
	return !(run->runnable & (run->runnable - 1)) &&
	       (!fine || !(usc->running & (usc->running - 1)));
}

/*
 * Run a quantum of a wave; returns the issue slots it used. It is selected only after all
 * other waves ran, so if its wait is not over yet, all waves wait.
 */
static u32 run_wave(struct usc *usc, struct usc_run *run, struct exec *x, struct usc_wave *wave,
		    u32 slice)
{
	const u32 together = run->together;
	u64 stalled = x->stalled;
	u32 used;

	if (wave->resume > usc->slots)
		x->stalled += wave->resume - usc->slots;
	used = usc_exec(x, wave, slice, together || is_alone(usc, run, x->stepped));
	if (together)
		run->together &= ~(1u << run->current);
	used = used ? used : 1;	/* a deferred wait costs its slot */
	usc->slots += used + (x->stalled - stalled);
	return used;
}

/* Continue one group until its quantum or the budget ends; returns the rest of the budget. */
static u32 run_group(struct usc *usc, struct exec *x, u32 budget, const _Atomic bool *stop)
{
	unsigned int group = choose_group(usc);
	struct usc_run *run = &usc->run[group];
	u64 bit = 1ull << group;
	bool turns;

	usc_exec_group(x, usc, group);
	turns = x->stepped || is_shared(usc);
	if (!turns || !usc->ended)
		usc->unreported = 0;
	while (budget && usc->left && (usc->running & bit)) {
		struct usc_wave *wave = choose_wave(usc, run);
		u32 used = run_wave(usc, run, x, wave,
				    min_u32(budget, min_u32(usc->left, run->left)));

		budget -= min_u32(budget, used + x->slow * SLOW_COST);
		x->slow = 0;
		usc->left -= used;
		run->left -= used;
		usc->unreported += used;
		if (turns)
			use_kept(usc, group, used);
		if (x->exit != USC_EXIT_SLICE)
			wave_left(usc, group, x, wave);
		if (usc->unreported >= USC_WAVE_QUANTUM && usc->ended && (usc->running & bit))
			usc_report_ended(usc);	/* groups before this one, which is longer */
		if (stop && atomic_load_explicit(stop, memory_order_acquire))
			break;
	}
	usc_exec_count(x);
	return budget;
}

/* Begin the groups started since the last call. One without instances is done at once. */
static void begin_started(struct usc *usc)
{
	u64 fresh = atomic_load(&usc->live) & ~(usc->running | usc->ended);

	for (; fresh; fresh &= fresh - 1) {
		unsigned int group = (unsigned int)__builtin_ctzll(fresh);

		usc_group_begin(usc, group);
		if (!usc->run[group].waves)
			usc_group_finish(usc, group);
	}
}

/*
 * A group's bit in abort may be left from an earlier group, until it starts. So the live groups are
 * read first, and bits of others remain.
 */
static void drop_aborted(struct usc *usc)
{
	const u64 live = atomic_load(&usc->live);
	u64 groups = atomic_load(&usc->abort) & live;

	atomic_fetch_and(&usc->abort, ~groups);
	for (; groups; groups &= groups - 1)
		usc_group_finish(usc, (unsigned int)__builtin_ctzll(groups));
}

bool usc_step(struct usc *usc, u32 budget, const _Atomic bool *stop)
{
	struct float_env host;
	struct exec x;

	x.stop = stop;
	x.slow = 0;
	x.far_hits = 0;
	float_env_enter(&host);
	while (budget) {
		if (atomic_load_explicit(&usc->abort, memory_order_relaxed))
			drop_aborted(usc);
		begin_started(usc);
		if (!usc->running && !usc->ended)
			break;
		if (usc->running) {
			usc_busy_begin(usc);
			budget = run_group(usc, &x, budget, stop);
		} else {
			usc_report_ended(usc);	/* the PDS may start others now */
			budget -= min_u32(budget, SLOW_COST);
		}
		if (stop && atomic_load_explicit(stop, memory_order_acquire))
			break;
	}
	float_env_leave(&host);
	usc_busy_end(usc);
	usc_report_ended(usc);
	return usc_has_work(usc);
}
