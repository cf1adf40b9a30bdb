// SPDX-License-Identifier: MIT
/*
 * Partial renders (document 004, "Master DPM"): a geometry job for which there
 * are no pages.
 *
 *   RUNS -> GROWS            the host was asked for pages of its lists, one by one
 *        -> WAITS            a fragment job runs, which will free pages, or must come first
 *        -> FLUSHES          the region headers of the scene so far are written
 *        -> QUEUES           the PDM has to become free
 *        -> RENDERS -> RUNS  the PDM has rendered the scene so far, its pages are free
 *
 * From GROWS and WAITS the job goes on as soon as pages may have come. What has
 * gone on and stops again with no primitive finished since takes the next way in
 * turn, so that no two jobs pass pages to and fro for ever. A partial render that
 * lets nothing go on, with no other scene being rendered, is the end: PM_MEMORY.
 */
#include "boot.h"
#include "bus.h"
#include "dm.h"
#include "freelist.h"
#include "log.h"
#include "partial.h"
#include "pumice_formats.h"
#include "sched.h"
#include "ufo.h"
#include "window.h"

static enum state { RUNS, GROWS, WAITS, FLUSHES, QUEUES, RENDERS } state;
static struct context *job;	/* on the VDM, once it has stopped */

/* Of the job's present stop. */
static u64 freed_at_stop;
static u32 list[PUMICE_PM_LISTS];	/* its scene's; 0: none, or asked for */
static u32 asked;			/* the one that the host was asked for */

/* What was tried since the job finished its last primitive. */
static u64 groups_at_stop;
static bool waited, rendered;

static bool killed;			/* while RENDERS: the VDM's turn comes behind the PDM's */
static struct fwif_job_result failure;	/* why the job is stopped, if it has a fault */

/* The next state of a job that is on the VDM, for the host to see. */
static void enter(enum state next)
{
	state = next;
	dm_stop(job, next == GROWS || next == WAITS || next == QUEUES,
		next == FLUSHES || next == RENDERS);
}

static void go_on(void)
{
	enter(RUNS);
	dm_vdm_resume();
}

/* Stop the job with a fault of the firmware's own. */
static void fail(enum pumice_fault fault)
{
	failure = (struct fwif_job_result){
		.fault = (u8)fault, .unit = PUMICE_UNIT_PM, .addr = job->scene,
	};
	enter(RUNS);
	dm_abort(FWIF_DM_VDM);
}

static void render(void)
{
	enter(RENDERS);
	dm_partial_start(job);
}

/* Whether the scene has memory for a partial render, and the job a record of one. */
static bool can_render(void)
{
	u32 words[PUMICE_SCENE_WORDS];
	struct pumice_scene scene;

	if (!job->render || !window_read(job->scene, words, PUMICE_SCENE_WORDS))
		return false;
	pumice_scene_unpack(words, &scene);
	return scene.spill;
}

/* Whether fragment jobs have to end first: what they render may be read by this one. */
static bool comes_later(void)
{
	return job->before && ufo_check(job->before, job->before_value) == UFO_WAITING;
}

/* No list grows: pages of others, or a partial render. */
static void do_without(void)
{
	if (freelist_freed() != freed_at_stop) {
		go_on();
	} else if (comes_later() || (sched_runs(FWIF_DM_PDM) && (!waited || rendered))) {
		waited = true;
		enter(WAITS);
	} else if (rendered || !can_render()) {
		fail(PUMICE_FAULT_PM_MEMORY);
	} else {
		enter(FLUSHES);
		dm_vdm_flush();
	}
}

/* Ask for the next list that may grow. */
static void ask(void)
{
	u32 i;

	for (i = 0; i < PUMICE_PM_LISTS; i++) {
		asked = list[i];
		list[i] = 0;
		if (asked && freelist_ask(asked)) {
			enter(GROWS);
			return;
		}
	}
	asked = 0;
	do_without();
}

static void find_lists(void)
{
	u32 words[PUMICE_SCENE_WORDS];
	struct pumice_scene scene = { .width = 0 };

	if (window_read(job->scene, words, PUMICE_SCENE_WORDS))
		pumice_scene_unpack(words, &scene);
	list[0] = scene.free_list0;
	list[1] = scene.free_list1;
}

/* The job has run out of pages. */
static void stopped(void)
{
	u64 groups = dm_groups(FWIF_DM_VDM);

	if (groups != groups_at_stop) {
		waited = false;
		rendered = false;
	}
	groups_at_stop = groups;
	freed_at_stop = freelist_freed();
	find_lists();
	ask();
}

void partial_memory(struct context *c)
{
	if (killed || failure.fault)
		return;
	job = c;
	switch (state) {
	case RUNS:
		stopped();
		break;
	case FLUSHES:
		if (sched_runs(FWIF_DM_PDM))
			enter(QUEUES);
		else
			render();
		break;
	default:
		break;
	}
}

void partial_grown(u32 grown, bool grew)
{
	if (state == GROWS && grew)
		go_on();
	else if (state == GROWS && grown == asked)
		ask();
	else if (state == WAITS && grew)
		go_on();
}

bool partial_wants_pdm(void)
{
	return state == FLUSHES || state == QUEUES || state == RENDERS;
}

bool partial_on_pdm(void)
{
	return state == RENDERS;
}

static void count_partial(void)
{
	job->partials++;
	fw_boot->partials++;
	rendered = true;
	log_event(FWIF_LOG_PARTIAL, job->id, job->seqno, job->partials);
}

void partial_pdm_ended(bool aborted)
{
	struct fwif_job_result r = { .fault = 0 };

	dm_fault(FWIF_DM_PDM, &r);
	if (killed || aborted) {
		enter(RUNS);
		dm_abort(FWIF_DM_VDM);
	} else if (r.fault) {
		enter(RUNS);
		failure = r;
		dm_abort(FWIF_DM_VDM);
	} else {
		count_partial();
		go_on();
	}
}

void partial_pdm_free(void)
{
	switch (state) {
	case GROWS:
	case WAITS:
		go_on();
		break;
	case QUEUES:
		render();
		break;
	default:
		break;
	}
}

void partial_kill(void)
{
	killed = true;
	if (state == GROWS)
		freelist_forget(asked);
	dm_abort(state == RENDERS ? FWIF_DM_PDM : FWIF_DM_VDM);
	if (state != RENDERS)
		state = RUNS;
}

void partial_vdm_ended(struct fwif_job_result *r)
{
	if (failure.fault && !killed) {
		r->fault = failure.fault;
		r->unit = failure.unit;
		r->access = failure.access;
		r->mmu_context = failure.mmu_context;
		r->addr = failure.addr;
		r->pc = failure.pc;
		r->usc = failure.usc;
	}
	failure.fault = PUMICE_FAULT_NONE;
	state = RUNS;
	killed = false;
	waited = false;
	rendered = false;
	groups_at_stop = 0;
}
