// SPDX-License-Identifier: MIT
/*
 * Scheduling: states of contexts, and selection of the next job.
 *
 *   IDLE -> CHECK -> READY -> RUNNING -> (as from CHECK) -> ...
 *             \        ^         |
 *              \       +---------+ switched out at the end of its slice
 *               \-> BLOCKED -> CHECK when an update object changed
 *
 * When a job ends, the interrupt task executes the context's next commands, so
 * that the next job starts without an iteration of the background loop.
 *
 * Each data master has a running job and lists of ready contexts of its own.
 * Only the CDM's jobs have slices: jobs of the others run to completion.
 *
 * There is one deadline, for the job on the CDM: when it has to be switched out
 * for another ready one. It is computed again whenever a context becomes ready,
 * and when the timer expires.
 *
 * Virtual GPUs are served in turn on each data master; priorities apply within each. A job that
 * cannot be switched out, and holds a data master that another virtual GPU has waited for for the
 * time of FWIF_OS_HOLD_US, is killed with its context: no virtual GPU depends on the host of
 * another. So is one with a task that keeps a job of another virtual GPU from all USCs: starve.c.
 *
 * Limits: a compute job is switched out at a work-group boundary. A job whose
 * work-groups do not end, or a job of another data master that does not end, keeps
 * its data master until the host kills it, if the device has one virtual GPU.
 */
#include "boot.h"
#include "bus.h"
#include "caches.h"
#include "cccb.h"
#include "counters.h"
#include "csr.h"
#include "dm.h"
#include "freelist.h"
#include "fwccb.h"
#include "log.h"
#include "minmax.h"
#include "mmu.h"
#include "os.h"
#include "partial.h"
#include "sched.h"
#include "starve.h"
#include "stuck.h"
#include "ufo.h"

/* Per virtual GPU. */
static struct context_list check[PUMICE_OS_COUNT];
static struct context_list blocked[PUMICE_OS_COUNT];
static u32 last_checked;		/* virtual GPU of the context that was checked last */

/* Per data master. */
static struct {
	struct context_list ready[PUMICE_OS_COUNT][FWIF_PRIORITIES];
	u32 last_os;			/* virtual GPU of its last slice */
	bool boosted;			/* runs before higher priorities, for one slice */
} master[FWIF_DM_COUNT];
static bool switching_out;	/* a switch of the job on the CDM was requested */
static u32 ready_masters;	/* bit n: data master n may have ready contexts */

#define NEVER		(~0ull)
#define TICKS_PER_US	(PUMICE_SYS_CLOCK_HZ__RESET / 1000000)

void sched_init(void)
{
	const struct context_list empty = CONTEXT_LIST_EMPTY;
	u32 os, dm, p;

	for (os = 0; os < PUMICE_OS_COUNT; os++) {
		check[os] = empty;
		blocked[os] = empty;
		for (dm = 0; dm < FWIF_DM_COUNT; dm++)
			for (p = 0; p < FWIF_PRIORITIES; p++)
				master[dm].ready[os][p] = empty;
	}
}

/* Return the lists of ready contexts of a context's data master and virtual GPU. */
static struct context_list *ready_of(const struct context *c)
{
	return master[c->dm].ready[c->os];
}

/* Return the virtual GPU that is served after another one. */
static u32 next_os(u32 os)
{
	return os + 1 < os_count() ? os + 1 : 0;
}

static void to_check(struct context *c)
{
	c->place = PLACE_CHECK;
	context_list_push(&check[c->os], c);
}

static void to_ready(struct context *c)
{
	c->place = PLACE_READY;
	c->ready_since = clock_now();
	ready_masters |= 1u << c->dm;
	context_list_push(&ready_of(c)[c->priority], c);
}

/* Execute commands of a context that is on no list, and append it to the list of its new state. */
static void advance(struct context *c)
{
	os_select(c->os);
	switch (cccb_advance(c)) {
	case CCCB_EMPTY:
		c->place = PLACE_IDLE;
		fw_boot->queued_contexts--;
		break;
	case CCCB_MORE:
		to_check(c);
		break;
	case CCCB_BLOCKED:
		c->place = PLACE_BLOCKED;
		context_list_push(&blocked[c->os], c);
		break;
	case CCCB_JOB:
		to_ready(c);
		break;
	}
}

void sched_kick(struct context *c, u32 write)
{
	ufo_set_changed();
	c->write = write;
	if (c->state == FWIF_CONTEXT_BROKEN) {
		c->read = write;
		context_publish_read(c);
	}
	if (c->place != PLACE_IDLE || c->read == write)
		return;
	fw_boot->queued_contexts++;
	to_check(c);
}

bool sched_has_background_work(void)
{
	u32 os;

	for (os = 0; os < os_count(); os++)
		if (!context_list_empty(&check[os]))
			return true;
	return ufo_changed();
}

/* Remove the next context to check, of each virtual GPU in turn; NULL if there is none. */
static struct context *pop_check(void)
{
	u32 i;

	for (i = 0; i < os_count(); i++) {
		last_checked = next_os(last_checked);
		if (!context_list_empty(&check[last_checked]))
			return context_list_pop(&check[last_checked]);
	}
	return NULL;
}

/* Check all blocked contexts again whose objects may have changed. */
static void unblock(void)
{
	u32 os;

	for (os = 0; ufo_changed() >> os; os++)
		if (ufo_changed() >> os & 1)
			context_list_move(&check[os], &blocked[os], PLACE_CHECK);
	ufo_clear_changed();
}

void sched_check_dependencies(void)
{
	u32 irq = irq_off();
	struct context *c;

	unblock();
	c = pop_check();
	if (c)
		advance(c);
	sched_start_next();
	irq_restore(irq);
}

/* Return the slice duration requested by the host, ticks. */
static u64 slice_ticks(void)
{
	u32 us = os_config()->slice_us;

	if (!us)
		us = FWIF_SLICE_US;
	if (us < FWIF_SLICE_MIN_US)
		us = FWIF_SLICE_MIN_US;
	if (us > FWIF_SLICE_MAX_US)
		us = FWIF_SLICE_MAX_US;
	return (u64)us * TICKS_PER_US;
}

/* Return microseconds for the log; durations above 4 s are reported as 4 s. */
static u32 us_of(u64 ticks)
{
	return (ticks >> 32 ? 0xffffffffu : (u32)ticks) / TICKS_PER_US;
}

/* Return the time at which the first context of a list precedes those of higher priorities. */
static u64 starvation_time(const struct context_list *list)
{
	const struct context *first = context_at(list->head);

	return first->ready_since + FWIF_STARVE_SLICES * slice_ticks();
}

/* Return whether a virtual GPU has ready contexts on a data master. */
static bool has_ready(u32 dm, u32 os)
{
	u32 p;

	for (p = 0; p < FWIF_PRIORITIES; p++)
		if (!context_list_empty(&master[dm].ready[os][p]))
			return true;
	return false;
}

/* Return whether a virtual GPU other than this one has ready contexts on a data master. */
static bool others_ready(u32 dm, u32 os)
{
	u32 other;

	for (other = 0; other < os_count(); other++)
		if (other != os && has_ready(dm, other))
			return true;
	return false;
}

/*
 * Return the time at which the job on the CDM is switched out for another ready context: one of
 * its own virtual GPU by priority, one of another at the end of the slice.
 */
static u64 slice_deadline(void)
{
	const struct context_list *ready = ready_of(dm_running(FWIF_DM_CDM));
	const struct context *running = dm_running(FWIF_DM_CDM);
	const bool boosted = master[FWIF_DM_CDM].boosted;
	u64 end = dm_slice_start(FWIF_DM_CDM) + slice_ticks(), deadline = NEVER, starved;
	u32 p;

	if (others_ready(FWIF_DM_CDM, running->os))
		deadline = end;
	for (p = 0; p < FWIF_PRIORITIES; p++) {
		if (context_list_empty(&ready[p]))
			continue;
		if (p > running->priority && !boosted)
			return 0;
		if (p >= running->priority || boosted) {
			deadline = min_u64(deadline, end);
		} else {
			starved = starvation_time(&ready[p]);
			deadline = min_u64(deadline, max_u64(starved, end));
		}
	}
	return deadline;
}

static void set_timer(u64 at)
{
	static u64 timer = NEVER;

	if (at == timer)
		return;
	timer = at;
	reg_write64(PUMICE_IC_TIMECMP, at);
}

/* Log why the job on the CDM is switched out. */
static void log_preemption(const struct context *c)
{
	const struct context_list *ready = ready_of(c);
	u32 p = FWIF_PRIORITIES - 1;

	os_select(c->os);
	while (p > c->priority && context_list_empty(&ready[p]))
		p--;
	if (p > c->priority && !master[FWIF_DM_CDM].boosted)
		log_event(FWIF_LOG_PREEMPT_PRIORITY, c->id, c->seqno, p);
	else
		log_event(FWIF_LOG_PREEMPT_SLICE, c->id, c->seqno, us_of(slice_ticks()));
}

/* Return the context that holds a data master, or NULL. */
static struct context *holder(u32 dm)
{
	if (dm == FWIF_DM_PDM && partial_on_pdm())
		return dm_running(FWIF_DM_VDM);
	return dm_running(dm);
}

/* Return the time since which its holder holds a data master. */
static u64 held_since(u32 dm)
{
	if (dm == FWIF_DM_PDM && partial_on_pdm())
		return partial_render_start();
	return dm_slice_start(dm);
}

/* Return the time since which a virtual GPU other than this one waits for a data master. */
static u64 waited_for_since(u32 dm, u32 os)
{
	const struct context *queued = dm == FWIF_DM_PDM ? partial_waits_for_pdm() : NULL;
	u64 since = queued && queued->os != os ? queued->stop_start : NEVER;
	u32 other, p;

	for (other = 0; other < os_count(); other++)
		for (p = 0; other != os && p < FWIF_PRIORITIES; p++) {
			const struct context_list *ready = &master[dm].ready[other][p];

			if (!context_list_empty(ready))
				since = min_u64(since, context_at(ready->head)->ready_since);
		}
	return since;
}

/* Return the ticks for which a job may hold a data master that other virtual GPUs wait for. */
static u64 hold_ticks(void)
{
	u32 us = os_config()->os_hold_us;

	return (u64)(us ? us : FWIF_OS_HOLD_US) * TICKS_PER_US;
}

/* Kill a context that another virtual GPU has waited for for too long. */
static void kill_holder(struct context *c)
{
	os_select(c->os);
	log_event(FWIF_LOG_OS_HOLD, c->id, c->seqno, us_of(hold_ticks()));
	sched_kill(c);
}

/*
 * Kill the job on a data master if it has held it for too long; else return the time at which that
 * will be so, or NEVER.
 */
static u64 review_hold(struct context *const *holders, u32 dm)
{
	struct context *c = holders[dm];
	u64 since, end;

	if (!c || context_is_dead(c))
		return NEVER;
	since = waited_for_since(dm, c->os);
	if (since == NEVER)
		return NEVER;
	end = max_u64(since, held_since(dm)) + hold_ticks();
	if (end <= clock_now() && starve_extends(holders, dm))
		end += STARVE_HOLDS * hold_ticks();
	if (end > clock_now())
		return end;
	kill_holder(c);
	return NEVER;
}

/* Review all data masters; return the time of the next review. */
static u64 review_holds(void)
{
	struct context *holders[FWIF_DM_COUNT];
	u64 next = NEVER;
	u32 dm, keepers;

	if (os_count() == 1)
		return NEVER;
	for (dm = 0; dm < FWIF_DM_COUNT; dm++)
		holders[dm] = holder(dm);
	keepers = starve_review(holders, hold_ticks(), &next);
	for (dm = 0; dm < FWIF_DM_COUNT; dm++)
		if (keepers >> dm & 1 && !context_is_dead(holders[dm]))
			kill_holder(holders[dm]);
	for (dm = 0; dm < FWIF_DM_COUNT; dm++)
		next = min_u64(next, review_hold(holders, dm));
	return next;
}

void sched_review(void)
{
	const struct context *running = dm_running(FWIF_DM_CDM);
	const u32 os = os_number;
	u64 deadline = NEVER;

	if (running && running->save && !switching_out) {
		deadline = slice_deadline();
		if (deadline != NEVER && deadline <= clock_now()) {
			switching_out = true;
			log_preemption(running);
			if (os_count() > 1)
				starve_switch(dm_running(FWIF_DM_CDM));
			dm_switch_out();
			deadline = NEVER;
		}
	}
	set_timer(min_u64(deadline, review_holds()));
	/* Commands of one virtual GPU end slices and holds of others. */
	os_select(os);
}

/* Select the highest priority, unless a context of a lower one is starved. */
static s32 choose_priority(const struct context_list *ready)
{
	s32 highest = FWIF_PRIORITIES - 1, p;
	u64 now;

	while (highest >= 0 && context_list_empty(&ready[highest]))
		highest--;
	now = highest > 0 ? clock_now() : 0;
	for (p = 0; p < highest; p++)
		if (!context_list_empty(&ready[p]) && starvation_time(&ready[p]) <= now)
			return p;
	return highest;
}

/* Record whether a context runs before ready contexts of a higher priority. */
static void note_boost(const struct context *c)
{
	const struct context_list *ready = ready_of(c);
	u32 highest = FWIF_PRIORITIES - 1;

	while (highest > c->priority && context_list_empty(&ready[highest]))
		highest--;
	master[c->dm].boosted = highest > c->priority;
	if (!master[c->dm].boosted)
		return;
	fw_boot->boosts++;
	log_event(FWIF_LOG_CONTEXT_BOOST, c->id, us_of(clock_now() - c->ready_since), highest);
}

/* Remove the next context to run on a data master, of each virtual GPU in turn, or return NULL. */
static struct context *pop_ready(u32 dm)
{
	u32 os = master[dm].last_os, i;
	s32 priority;

	for (i = 0; i < os_count(); i++) {
		os = next_os(os);
		priority = choose_priority(master[dm].ready[os]);
		if (priority < 0)
			continue;
		master[dm].last_os = os;
		return context_list_pop(&master[dm].ready[os][priority]);
	}
	return NULL;
}

/* Start a prepared job on a data master if it is idle. */
static void start_on(u32 dm)
{
	struct context *c;

	if (dm_running(dm) || (dm == FWIF_DM_PDM && partial_wants_pdm()))
		return;
	c = pop_ready(dm);
	if (!c) {
		ready_masters &= ~(1u << dm);
		return;
	}
	os_select(c->os);
	c->place = PLACE_RUNNING;
	note_boost(c);
	dm_start(c);
}

void sched_start_next(void)
{
	u32 dm;

	for (dm = 0; ready_masters >> dm; dm++)
		if (ready_masters >> dm & 1)
			start_on(dm);
	sched_review();
}

static void report_fault(const struct context *c, const struct fwif_job_result *r)
{
	const struct fwif_fwccb_msg msg = {
		.type = FWIF_FWCCB_JOB_FAULT,
		.context_id = c->id,
		.seqno = r->seqno,
		.code = r->fault,
		.addr = r->addr,
		.time = r->time_end,
	};

	fw_boot->jobs_faulted++;
	stuck_fault(c, r);
	log_event(FWIF_LOG_JOB_FAULT, c->id, r->seqno, r->fault);
	fwccb_send(&msg);
}

/* Count and report how a job ended. */
static void account(const struct context *c, const struct fwif_job_result *r)
{
	fw_boot->jobs_done++;
	if (r->fault == PUMICE_FAULT_KILLED)
		fw_boot->jobs_killed++;
	else if (r->fault)
		report_fault(c, r);
	else
		log_event(FWIF_LOG_JOB_DONE, c->id, r->seqno, 0);
}

/* Account for the end of a slice; return the owner of the job, or NULL. */
static struct context *end_slice(u32 dm)
{
	struct context *c = dm_running(dm);

	master[dm].boosted = false;
	if (dm == FWIF_DM_CDM)
		switching_out = false;
	if (!c)
		return NULL;
	os_select(c->os);
	dm_slice_end(c);
	return c;
}

static void count_slice(const struct context *c)
{
	if (c->perf)
		counters_end(c->dm, c->perf);
}

void sched_job_ended(u32 dm, bool aborted)
{
	struct context *c = end_slice(dm);
	struct fwif_job_result result;

	if (!c)
		return;
	starve_ended(dm);
	c->starved = 0;
	if (!CACHES_END_LATE)
		caches_end(c, mmu_find(c));
	count_slice(c);		/* with the lines that it has left to write */
	dm_result(c, aborted, &result);
	if (aborted)
		stuck_result(c, &result);
	if (dm == FWIF_DM_VDM)
		partial_vdm_ended(&result);
	account(c, &result);
	cccb_job_ended(c, &result);
	advance(c);
	if (dm == FWIF_DM_PDM) {
		freelist_count_freed(c->os);
		partial_pdm_free(c->os);
	}
	sched_start_next();
}

void sched_job_switched(void)
{
	struct context *c = end_slice(FWIF_DM_CDM);

	if (!c)
		return;
	count_slice(c);
	dm_switched(c);
	fw_boot->switches++;
	log_event(FWIF_LOG_JOB_SWITCH, c->id, c->seqno,
		  us_of(clock_now() - dm_slice_start(FWIF_DM_CDM)));
	if (context_is_dead(c))
		to_check(c);
	else
		to_ready(c);
	sched_start_next();
}

void sched_vdm_memory(void)
{
	struct context *c = dm_running(FWIF_DM_VDM);

	if (!c)
		return;
	os_select(c->os);
	partial_memory(c);
}

void sched_pdm_ended(bool aborted)
{
	if (!partial_on_pdm()) {
		sched_job_ended(FWIF_DM_PDM, aborted);
		return;
	}
	starve_ended(FWIF_DM_PDM);
	partial_pdm_ended(aborted);
	sched_start_next();
}

void sched_set_priority(struct context *c, u32 priority)
{
	if (priority == c->priority)
		return;
	log_event(FWIF_LOG_CONTEXT_PRIORITY, c->id, priority, c->priority);
	if (c->place == PLACE_READY)
		context_list_remove(&ready_of(c)[c->priority], c);
	c->priority = priority;
	/* It has waited since it became ready, independent of its priority. */
	if (c->place == PLACE_READY)
		context_list_insert(&ready_of(c)[priority], c);
	sched_review();
}

void sched_kill(struct context *c)
{
	log_event(FWIF_LOG_CONTEXT_KILL, c->id, c->seqno, 0);
	if (c->state == FWIF_CONTEXT_OK)
		context_set_state(c, FWIF_CONTEXT_KILLED);
	switch (c->place) {
	case PLACE_BLOCKED:
		context_list_remove(&blocked[c->os], c);
		to_check(c);
		break;
	case PLACE_READY:
		context_list_remove(&ready_of(c)[c->priority], c);
		to_check(c);
		if (c->dm == FWIF_DM_PDM)
			partial_fragment_removed(c->os);
		break;
	case PLACE_RUNNING:
		stuck_capture(c, c->dm == FWIF_DM_VDM && partial_on_pdm());
		if (c->dm == FWIF_DM_VDM)
			partial_kill();
		else
			dm_abort(c->dm);
		break;
	}
}
