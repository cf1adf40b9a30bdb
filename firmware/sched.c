// SPDX-License-Identifier: MIT
/*
 * Scheduling: where a context stands, and which job runs next.
 *
 *   IDLE -> CHECK -> READY -> RUNNING -> (CHECK's question) -> ...
 *             \        ^         |
 *              \       +---------+ switched out at the end of its slice
 *               \-> BLOCKED -> CHECK when an update object changed
 *
 * The end of a job asks CHECK's question in the interrupt already, so that the
 * next job starts without a turn of the background loop.
 *
 * One deadline is kept for the job on the data master: when another that is
 * ready has to have its turn. It is looked at again whenever a context becomes
 * ready, and when the timer says that it has come.
 *
 * Limits: a job leaves at a work-group boundary. One whose work-groups do not
 * end keeps the data master until the host kills it.
 */
#include "boot.h"
#include "bus.h"
#include "cccb.h"
#include "csr.h"
#include "dm.h"
#include "fwccb.h"
#include "log.h"
#include "sched.h"
#include "ufo.h"

static struct context_list check = CONTEXT_LIST_EMPTY;
static struct context_list blocked = CONTEXT_LIST_EMPTY;
static struct context_list ready[FWIF_PRIORITIES] = {
	CONTEXT_LIST_EMPTY, CONTEXT_LIST_EMPTY, CONTEXT_LIST_EMPTY,
};
/* Whose job is on the data master, or NULL. */
static struct context *running;
static bool leaving;	/* it was asked to leave */
static bool boosted;	/* it runs before higher priorities, for one slice */

#define NEVER		(~0ull)
#define TICKS_PER_US	(PUMICE_SYS_CLOCK_HZ__RESET / 1000000)

static void to_check(struct context *c)
{
	c->place = PLACE_CHECK;
	context_list_push(&check, c);
}

static void to_ready(struct context *c)
{
	c->place = PLACE_READY;
	c->ready_since = clock_now();
	context_list_push(&ready[c->priority], c);
}

/* Let a context that is on no list go on, and put it where it belongs. */
static void go_on(struct context *c)
{
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
		context_list_push(&blocked, c);
		break;
	case CCCB_JOB:
		to_ready(c);
		break;
	}
}

void sched_kick(struct context *c, u32 write)
{
	ufo_note_change();
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
	return ufo_changed() || !context_list_empty(&check);
}

void sched_check_dependencies(void)
{
	u32 irq = irq_off();
	struct context *c;

	if (ufo_changed())
		context_list_move(&check, &blocked, PLACE_CHECK);
	ufo_changes_seen();
	c = context_list_pop(&check);
	if (c)
		go_on(c);
	sched_start_next();
	irq_restore(irq);
}

/* The slice that the host asks for, ticks. */
static u64 slice_ticks(void)
{
	u32 us = fw_boot->slice_us;

	if (!us)
		us = FWIF_SLICE_US;
	if (us < FWIF_SLICE_MIN_US)
		us = FWIF_SLICE_MIN_US;
	if (us > FWIF_SLICE_MAX_US)
		us = FWIF_SLICE_MAX_US;
	return (u64)us * TICKS_PER_US;
}

/* For the log; what is beyond 4 s counts as that. */
static u32 us_of(u64 ticks)
{
	return (ticks >> 32 ? 0xffffffffu : (u32)ticks) / TICKS_PER_US;
}

static u64 least(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* When the first of a list has waited so long that priorities count no more. */
static u64 starves_at(u32 priority)
{
	const struct context *first = context_at(ready[priority].head);

	return first->ready_since + FWIF_STARVE_SLICES * slice_ticks();
}

/* When the job on the data master has to go for another that is ready. */
static u64 slice_deadline(void)
{
	u64 end = dm_slice_start() + slice_ticks(), deadline = NEVER, starved;
	u32 p;

	for (p = 0; p < FWIF_PRIORITIES; p++) {
		if (context_list_empty(&ready[p]))
			continue;
		if (p > running->priority && !boosted)
			return 0;
		if (p >= running->priority || boosted) {
			deadline = least(deadline, end);
		} else {
			starved = starves_at(p);
			deadline = least(deadline, starved > end ? starved : end);
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

void sched_review(void)
{
	u64 deadline = NEVER;

	if (running && running->save && !leaving) {
		deadline = slice_deadline();
		if (deadline != NEVER && deadline <= clock_now()) {
			leaving = true;
			dm_switch_out();
			deadline = NEVER;
		}
	}
	set_timer(deadline);
}

/* The list to take from: the highest, unless a lower one has waited too long. */
static s32 choose_priority(void)
{
	s32 highest = FWIF_PRIORITIES - 1, p;
	u64 now;

	while (highest >= 0 && context_list_empty(&ready[highest]))
		highest--;
	now = highest > 0 ? clock_now() : 0;
	for (p = 0; p < highest; p++)
		if (!context_list_empty(&ready[p]) && starves_at((u32)p) <= now)
			return p;
	return highest;
}

/* A context goes before those of a higher priority. */
static void note_boost(const struct context *c)
{
	u64 waited = clock_now() - c->ready_since;
	u32 highest = FWIF_PRIORITIES - 1;

	while (context_list_empty(&ready[highest]) && highest > c->priority)
		highest--;
	boosted = highest > c->priority;
	if (!boosted)
		return;
	fw_boot->boosts++;
	log_event(FWIF_LOG_CONTEXT_BOOST, c->id, us_of(waited), highest);
}

void sched_start_next(void)
{
	s32 priority;

	if (!running) {
		priority = choose_priority();
		if (priority < 0) {
			set_timer(NEVER);
			return;
		}
		running = context_list_pop(&ready[priority]);
		running->place = PLACE_RUNNING;
		note_boost(running);
		dm_start(running);
	}
	sched_review();
}

static void tell_fault(const struct context *c, const struct fwif_job_result *r)
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
		tell_fault(c, r);
	else
		log_event(FWIF_LOG_JOB_DONE, c->id, r->seqno, 0);
}

/* The data master is free. */
static struct context *take_running(void)
{
	struct context *c = running;

	running = NULL;
	leaving = false;
	boosted = false;
	if (c)
		dm_slice_end(c);
	return c;
}

void sched_job_ended(bool aborted)
{
	struct context *c = take_running();
	struct fwif_job_result result;

	if (!c)
		return;
	dm_result(c, aborted, &result);
	account(c, &result);
	cccb_job_ended(c, &result);
	go_on(c);
	sched_start_next();
}

void sched_job_switched(void)
{
	struct context *c = take_running();

	if (!c)
		return;
	fw_boot->switches++;
	log_event(FWIF_LOG_JOB_SWITCH, c->id, c->seqno,
		  us_of(clock_now() - dm_slice_start()));
	if (context_is_dead(c))
		to_check(c);
	else
		to_ready(c);
	sched_start_next();
}

void sched_kill(struct context *c)
{
	log_event(FWIF_LOG_CONTEXT_KILL, c->id, c->seqno, 0);
	if (c->state == FWIF_CONTEXT_OK)
		context_set_state(c, FWIF_CONTEXT_KILLED);
	switch (c->place) {
	case PLACE_BLOCKED:
		context_list_remove(&blocked, c);
		to_check(c);
		break;
	case PLACE_READY:
		context_list_remove(&ready[c->priority], c);
		to_check(c);
		break;
	case PLACE_RUNNING:
		dm_abort();
		break;
	}
}
