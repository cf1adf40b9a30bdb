// SPDX-License-Identifier: MIT
/*
 * Compute data master: the beginning and the end of a job.
 *
 * Source: document 000, "Compute Workload"; commands are in walk.c, switching out in save.c.
 *
 * A job ends only in cdm_step(), after the PDS has no group left. A reason to stop before its
 * HALT only selects how it ends: the first reason wins.
 */
#include "cdm.h"

#include <stdlib.h>
#include <string.h>

#include "../number.h"
#include "perf.h"
#include "state.h"

#define COST_LOAD 16u	/* one piece of a load, in units of one command */

struct cdm *cdm_create(const struct cdm_config *config)
{
	struct cdm *cdm = calloc(1, sizeof(*cdm));

	if (!cdm)
		return NULL;
	cdm->config = *config;
	if (!cdm_sources_create(cdm)) {
		free(cdm);
		return NULL;
	}
	return cdm;
}

void cdm_destroy(struct cdm *cdm)
{
	if (!cdm)
		return;
	cdm_sources_destroy(cdm);
	free(cdm);
}

void cdm_connect(struct cdm *cdm, struct pds *pds)
{
	cdm->pds = pds;
}

void cdm_reset(struct cdm *cdm)
{
	const struct cdm_config config = cdm->config;
	struct cdm_source *source = cdm->source;
	struct pds *pds = cdm->pds;

	memset(cdm, 0, sizeof(*cdm));
	cdm->config = config;
	cdm->source = source;
	cdm->pds = pds;
	cdm_sources_reset(cdm);
}

static u64 now(const struct cdm *cdm)
{
	return cdm->config.ops->now(cdm->config.opaque);
}

static void wake(const struct cdm *cdm)
{
	cdm->config.ops->wake(cdm->config.opaque);
}

void cdm_count_done(struct cdm *cdm)
{
	cdm->run.status.done = pds_done(cdm->pds) - cdm->done_before;
}

static void stopped(void *opaque)
{
	struct cdm *cdm = opaque;

	cdm_count_done(cdm);	/* groups that end later are not counted */
	/* The launch for which the PDS runs unlocked ends when that call returns: walk.c. */
	if (cdm->phase == CDM_LOAD && !cdm->unlocked)
		pds_launch_end(cdm->pds);
	/* Sources drop the groups that they fill: then the launch ends later, in a step. */
	if (cdm->open) {
		cdm_sources_stop(cdm);
		cdm_sources_close(cdm);
	}
	cdm->phase = CDM_DRAIN;
	pds_abort(cdm->pds);
	wake(cdm);
}

static const struct dm_unit cdm_unit = { .unit = PUMICE_UNIT_CDM, .stopped = stopped };

static bool begin(struct cdm *cdm, const struct cdm_job *job, enum cdm_phase phase)
{
	if (cdm->phase != CDM_IDLE || job->ctx >= PUMICE_MMU_CONTEXTS)
		return false;
	dm_run_begin(&cdm->run, &cdm_unit, cdm, now(cdm));
	cdm->phase = phase;
	cdm->job = *job;
	cdm->switch_wanted = false;
	cdm->walk.pc = job->stream;
	cdm->walk.depth = 0;
	cdm->has_state = false;
	cdm->dispatching = false;
	cdm->announce = false;
	cdm->done_before = pds_done(cdm->pds);	/* no group runs */
	trace_set_tag(cdm->config.trace, TRACE_CDM, job->tag);
	trace_event(cdm->config.trace, PUMICE_TRACE_KIND_JOB_START, TRACE_CDM, job->ctx, TRACE_CDM,
		    job->stream, trace_job(job->tag, phase == CDM_RESTORE));
	wake(cdm);
	return true;
}

bool cdm_start(struct cdm *cdm, const struct cdm_job *job)
{
	return begin(cdm, job, CDM_FETCH);
}

bool cdm_resume(struct cdm *cdm, const struct cdm_job *job)
{
	return begin(cdm, job, CDM_RESTORE);
}

void cdm_abort(struct cdm *cdm)
{
	dm_abort(&cdm->run);
}

void cdm_switch_out(struct cdm *cdm)
{
	if (cdm->phase == CDM_IDLE)
		return;
	cdm->switch_wanted = true;
	wake(cdm);
}

/* A TASK that is not dispatched is fetched again: the saved state has launches only. */
static void leave_task(struct cdm *cdm)
{
	if (!cdm->launch.sequences)
		return;
	cdm->dispatching = false;
	cdm->walk.pc = cdm->command;
}

/*
 * A requested switch begins between two groups or commands. A waiting command, or a TASK that is
 * not dispatched, has had no effect yet: the resumed job fetches it again.
 */
static void begin_switch(struct cdm *cdm)
{
	if (cdm->phase == CDM_LOAD) {
		pds_launch_end(cdm->pds);
		leave_task(cdm);
	}
	if (cdm->open)
		cdm_sources_withdraw(cdm);
	cdm->phase = CDM_SWITCH;
}

/* No source takes groups of the launch any longer. Returns false if some are not started. */
static bool end_dispatch(struct cdm *cdm)
{
	if (!cdm_sources_close(cdm))
		return false;
	if (cdm->linear == cdm->groups)
		cdm->dispatching = false;
	else
		leave_task(cdm);
	return true;
}

static void end_job(struct cdm *cdm)
{
	if (cdm->run.end == DM_DONE)
		cdm_count_done(cdm);
	cdm->phase = CDM_IDLE;
	dm_run_end(&cdm->run, now(cdm));
	trace_event(cdm->config.trace, PUMICE_TRACE_KIND_JOB_END, TRACE_CDM,
		    cdm->job.ctx, TRACE_CDM, cdm->run.status.fault.fault, cdm->run.end);
	trace_set_tag(cdm->config.trace, TRACE_CDM, 0);
	cdm->config.ops->ended(cdm->config.opaque, cdm->run.end);
}

/* All groups of the job are done: save it, unless it was stopped. */
static void finish_switch(struct cdm *cdm)
{
	cdm_count_done(cdm);
	if (!cdm_save(cdm))
		return;
	cdm->run.end = DM_SWITCHED;
	end_job(cdm);
}

/* Do one step of the walk; *cost becomes its share of the budget. False when it must wait. */
static bool step(struct cdm *cdm, unsigned int *cost)
{
	*cost = 1;
	if (cdm->switch_wanted &&
	    (cdm->phase == CDM_FETCH || cdm->phase == CDM_LOAD || cdm->phase == CDM_DISPATCH ||
	     cdm->phase == CDM_WAIT))
		begin_switch(cdm);
	switch (cdm->phase) {
	case CDM_IDLE:
		return false;
	case CDM_RESTORE:
		cdm_restore(cdm);
		return true;
	case CDM_FETCH:
		cdm_walk_fetch(cdm, cost);
		return true;
	case CDM_LOAD:
		*cost = COST_LOAD;
		return cdm_walk_load(cdm);
	case CDM_DISPATCH:
		return cdm_walk_dispatch(cdm);
	case CDM_WAIT:
		if (!cdm_walk_may_run(cdm))
			return false;
		cdm_walk_waited(cdm, cost);
		return true;
	case CDM_SWITCH:
		if ((cdm->open && !end_dispatch(cdm)) || pds_groups(cdm->pds))
			return false;
		finish_switch(cdm);
		return cdm->phase != CDM_IDLE;
	case CDM_DRAIN:
		if ((cdm->open && !cdm_sources_close(cdm)) || pds_groups(cdm->pds))
			return false;
		end_job(cdm);
		return cdm->phase != CDM_IDLE;
	}
	return false;
}

bool cdm_step(struct cdm *cdm, unsigned int budget)
{
	unsigned int cost;

	for (; budget; budget -= min_u32(cost, budget)) {
		if (!step(cdm, &cost))
			return false;
	}
	return cdm->phase != CDM_IDLE;
}

const struct dm_status *cdm_status(struct cdm *cdm)
{
	if (cdm->run.status.busy && cdm->run.end == DM_DONE)
		cdm_count_done(cdm);
	return &cdm->run.status;
}

void cdm_counters_add(const struct cdm *cdm, u64 *value)
{
	value[PUMICE_PERF_CDM_BUSY] += dm_run_busy_ns(&cdm->run, now(cdm));
	value[PUMICE_PERF_CDM_COMMANDS] += cdm->commands;
	value[PUMICE_PERF_CDM_GROUPS] += cdm_sources_dispatched(cdm);
}

/* Called without the device lock. Commands wait for these ends; for room, pds_room_left(). */
static void pds_groups_ended(void *opaque)
{
	wake(opaque);
}

static void pds_group_fault(void *opaque, const struct gpu_fault *fault)
{
	struct cdm *cdm = opaque;

	dm_stop_fault(&cdm->run, fault);
}

/* Called without the device lock: the phase may have changed, then the step does nothing. */
static void pds_room_left(void *opaque, unsigned int core)
{
	const struct cdm *cdm = opaque;

	cdm->config.ops->wake_source(cdm->config.opaque, core);
}

const struct pds_ops cdm_pds_ops = {
	.ended = pds_groups_ended,
	.fault = pds_group_fault,
	.room = pds_room_left,
};
