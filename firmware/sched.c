// SPDX-License-Identifier: MIT
/*
 * Scheduling: where a context stands, and which job runs next.
 *
 *   IDLE -> CHECK -> READY -> RUNNING -> (CHECK's question) -> ...
 *             \-> BLOCKED -> CHECK when an update object changed
 *
 * The end of a job asks CHECK's question in the interrupt already, so that the
 * next job starts without a turn of the background loop.
 */
#include "boot.h"
#include "bus.h"
#include "cccb.h"
#include "csr.h"
#include "fwccb.h"
#include "log.h"
#include "mmu.h"
#include "sched.h"
#include "ufo.h"

static struct context_list check = CONTEXT_LIST_EMPTY;
static struct context_list blocked = CONTEXT_LIST_EMPTY;
static struct context_list ready[FWIF_PRIORITIES] = {
	CONTEXT_LIST_EMPTY, CONTEXT_LIST_EMPTY, CONTEXT_LIST_EMPTY,
};
static struct context *running;
static u8 running_mmu;

static void to_check(struct context *c)
{
	c->place = PLACE_CHECK;
	context_list_push(&check, c);
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
		c->place = PLACE_READY;
		context_list_push(&ready[c->priority], c);
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

static struct context *next_ready(void)
{
	u32 i;

	for (i = FWIF_PRIORITIES; i-- > 0;)
		if (!context_list_empty(&ready[i]))
			return context_list_pop(&ready[i]);
	return NULL;
}

void sched_start_next(void)
{
	struct context *c;

	if (running)
		return;
	c = next_ready();
	if (!c)
		return;
	running = c;
	c->place = PLACE_RUNNING;
	running_mmu = (u8)mmu_bind(c);
	reg_write64(PUMICE_CDM_STREAM_BASE, c->stream);
	reg_write(PUMICE_CDM_MMU_CTX, PUMICE_FIELD_PREP(PUMICE_CDM_MMU_CTX__ID, running_mmu));
	reg_write(PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__START__MASK);
	fw_boot->jobs_started++;
	fw_boot->active_context = c->id;
	log_event(FWIF_LOG_JOB_START, c->id, c->seqno, running_mmu);
}

/* What the data master tells of the job that ended. */
static void read_result(struct fwif_job_result *r, bool aborted)
{
	u32 status = reg_read(PUMICE_CDM_STATUS);
	u64 info;

	r->fault = (u8)PUMICE_FIELD_GET(PUMICE_CDM_STATUS__FAULT, status);
	r->time_start = reg_read64(PUMICE_CDM_TIME_START);
	r->time_end = reg_read64(PUMICE_CDM_TIME_END);
	r->groups = reg_read64(PUMICE_CDM_GROUPS);
	r->mmu_context = running_mmu;
	if (aborted) {
		r->fault = PUMICE_FAULT_KILLED;
		r->unit = PUMICE_UNIT_FW;
	} else if (r->fault) {
		info = reg_read64(PUMICE_CDM_FAULT_INFO);
		r->unit = (u8)PUMICE_FIELD_GET(PUMICE_CDM_STATUS__UNIT, status);
		r->access = (u8)PUMICE_FIELD_GET(PUMICE_CDM_STATUS__ACCESS, status);
		r->mmu_context = (u8)PUMICE_FIELD_GET(PUMICE_CDM_FAULT_INFO__CTX, info);
		r->addr = reg_read64(PUMICE_CDM_FAULT_ADDR);
		r->pc = (u32)PUMICE_FIELD_GET(PUMICE_CDM_FAULT_INFO__PC, info);
		r->usc = (u32)PUMICE_FIELD_GET(PUMICE_CDM_FAULT_INFO__USC, info);
	}
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

void sched_job_ended(bool aborted)
{
	struct context *c = running;
	struct fwif_job_result result = { 0 };

	if (!c)
		return;
	running = NULL;
	fw_boot->active_context = FWIF_NO_CONTEXT;
	result.seqno = c->seqno;
	read_result(&result, aborted);
	account(c, &result);
	cccb_job_ended(c, &result);
	go_on(c);
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
		reg_write(PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__ABORT__MASK);
		break;
	}
}
