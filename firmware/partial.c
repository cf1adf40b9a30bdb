// SPDX-License-Identifier: MIT
/*
 * Partial renders (document 004, "Master DPM"): geometry jobs that are stalled on
 * pages.
 *
 *   RUNNING -> GROWING       the host was requested to grow its lists, one by one
 *     -> WAITING             a fragment job runs that will free pages, or that precedes this job
 *     -> FLUSHING            the region headers of the scene so far are written
 *     -> QUEUED              waits until the PDM is idle
 *     -> RENDERING -> RUNNING  the PDM has rendered the scene so far, its pages are freed
 *
 * From GROWING and WAITING the job is resumed as soon as pages may be available. If it
 * stalls again without having finished a primitive, the next of these measures is
 * used, so that two jobs cannot pass pages to each other forever. If the job stalls
 * after a partial render, and no other scene is being rendered, it fails: PM_MEMORY.
 */
#include "boot.h"
#include "bus.h"
#include "dm.h"
#include "freelist.h"
#include "log.h"
#include "os.h"
#include "partial.h"
#include "pumice_formats.h"
#include "ufo.h"
#include "window.h"

static enum state { RUNNING, GROWING, WAITING, FLUSHING, QUEUED, RENDERING } state;
static struct context *job;	/* on the VDM, after its first stall */

/* Of the job's present stall. */
static u64 freed_at_stop;
static u32 list[PUMICE_PM_LISTS];	/* of its scene; 0: none, or requested already */
static u32 requested;			/* the list that was requested to grow last */

/* Measures used since the job finished its last primitive. */
static u64 groups_at_stop;
static bool waited, rendered;

static u64 render_start;		/* GPU clock at the start of the last partial render */
static bool killed;			/* while RENDERING: the VDM is aborted after the PDM */
static struct fwif_job_result failure;	/* the fault for which the job is aborted, if any */

/* Change the state of a job on the VDM and publish it to the host. */
static void enter(enum state next)
{
	state = next;
	dm_stop(job, next == GROWING || next == WAITING || next == QUEUED,
		next == FLUSHING || next == RENDERING);
}

static void resume(void)
{
	log_event(FWIF_LOG_PAGES_RESUME, job->id, job->seqno, 0);
	enter(RUNNING);
	dm_vdm_resume();
}

/* Abort the job with a fault of the firmware's own. */
static void fail(enum pumice_fault fault)
{
	failure = (struct fwif_job_result){
		.fault = (u8)fault, .unit = PUMICE_UNIT_PM, .addr = job->scene,
	};
	enter(RUNNING);
	dm_abort(FWIF_DM_VDM);
}

static void render(void)
{
	enter(RENDERING);
	render_start = clock_now();
	dm_partial_start(job);
}

/* Return whether the scene has memory for a partial render, and the job a pdm_render. */
static bool can_render(void)
{
	u32 words[PUMICE_SCENE_WORDS];
	struct pumice_scene scene;

	if (!job->render || !window_read(job->scene, words, PUMICE_SCENE_WORDS))
		return false;
	pumice_scene_unpack(words, &scene);
	return scene.spill;
}

/*
 * Return whether earlier fragment jobs must end first, since their targets may be read by this job.
 */
static bool has_pending_deps(void)
{
	return job->before && ufo_check(job->before, job->before_value) == UFO_WAITING;
}

/*
 * Return whether a fragment job of the same virtual GPU runs, or will run after those of others: no
 * other frees pages of the lists.
 */
static bool fragment_job_runs(void)
{
	const struct context *c = dm_running(FWIF_DM_PDM);

	return (c && c->os == job->os) || context_any_ready(job->os, FWIF_DM_PDM);
}

void partial_count_freed(u32 os)
{
	const struct context *c = state == RENDERING ? job : dm_running(FWIF_DM_PDM);

	freelist_count_freed(c ? c->os : os);
}

/* Return whether pages were freed since the stall that may be of the job's lists. */
static bool pages_freed(void)
{
	partial_count_freed(job->os);
	return freelist_freed(job->os) != freed_at_stop;
}

/* No list can grow: wait for pages of other jobs, or do a partial render. */
static void on_grow_failed(void)
{
	if (pages_freed()) {
		resume();
	} else if (has_pending_deps() || (fragment_job_runs() && (!waited || rendered))) {
		waited = true;
		log_event(FWIF_LOG_PAGES_WAIT, job->id, job->seqno, 0);
		enter(WAITING);
	} else if (rendered || !can_render()) {
		fail(PUMICE_FAULT_PM_MEMORY);
	} else {
		log_event(FWIF_LOG_PARTIAL_REQUEST, job->id, job->seqno, job->partials + 1);
		enter(FLUSHING);
		dm_vdm_flush();
	}
}

/* Request pages for the next list that may grow. */
static void request_pages(void)
{
	u32 i;

	for (i = 0; i < PUMICE_PM_LISTS; i++) {
		requested = list[i];
		list[i] = 0;
		if (requested && freelist_request(requested)) {
			enter(GROWING);
			return;
		}
	}
	requested = 0;
	on_grow_failed();
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

/* The job has run out of pages: start with the first measure. */
static void handle_stall(void)
{
	u64 groups = dm_groups(FWIF_DM_VDM);

	if (groups != groups_at_stop) {
		waited = false;
		rendered = false;
	}
	log_event(FWIF_LOG_PAGES_STALL, job->id, job->seqno, 0);
	groups_at_stop = groups;
	partial_count_freed(job->os);
	freed_at_stop = freelist_freed(job->os);
	find_lists();
	request_pages();
}

void partial_memory(struct context *c)
{
	if (killed || failure.fault)
		return;
	job = c;
	switch (state) {
	case RUNNING:
		handle_stall();
		break;
	case FLUSHING:
		if (dm_running(FWIF_DM_PDM))
			enter(QUEUED);
		else
			render();
		break;
	default:
		break;
	}
}

void partial_grown(u32 grown, bool grew)
{
	if (!job || job->os != os_number)
		return;
	if (state == GROWING && grew)
		resume();
	else if (state == GROWING && grown == requested)
		request_pages();
	else if (state == WAITING && grew)
		resume();
}

bool partial_wants_pdm(void)
{
	return state == FLUSHING || state == QUEUED || state == RENDERING;
}

bool partial_on_pdm(void)
{
	return state == RENDERING;
}

u64 partial_render_start(void)
{
	return render_start;
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

	os_select(job->os);
	partial_count_freed(job->os);
	dm_fault(FWIF_DM_PDM, &r);
	if (killed || aborted) {
		enter(RUNNING);
		dm_abort(FWIF_DM_VDM);
	} else if (r.fault) {
		enter(RUNNING);
		failure = r;
		dm_abort(FWIF_DM_VDM);
	} else {
		count_partial();
		resume();
	}
}

void partial_pdm_free(u32 os)
{
	if (job)
		os_select(job->os);
	switch (state) {
	case GROWING:
	case WAITING:
		if (os == job->os)
			resume();
		break;
	case QUEUED:
		render();
		break;
	default:
		break;
	}
}

void partial_fragment_removed(u32 os)
{
	if (state == WAITING && os == job->os && !fragment_job_runs())
		resume();
}

struct context *partial_waits_for_pdm(void)
{
	return state == QUEUED ? job : NULL;
}

void partial_kill(void)
{
	killed = true;
	if (state == GROWING)
		freelist_cancel(requested);
	dm_abort(state == RENDERING ? FWIF_DM_PDM : FWIF_DM_VDM);
	if (state != RENDERING)
		state = RUNNING;
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
	state = RUNNING;
	killed = false;
	waited = false;
	rendered = false;
	groups_at_stop = 0;
}
