// SPDX-License-Identifier: MIT
/*
 * Ray-tracing data master: the beginning and the end of a job.
 *
 * Source: document 000, "Terminology". A job ends only in rdm_step(), after the last of its tasks
 * has ended. A reason to stop before its HALT only selects how it ends: the first reason wins.
 */
#include "rdm.h"

#include <stdlib.h>
#include <string.h>

#include "../number.h"
#include "perf.h"
#include "state.h"

/* Budget of a step, in commands. */
#define STEP_COST	8u
#define WORK_COST	4u	/* a piece of work: less than 0.2 ms */

struct rdm *rdm_create(const struct dm_config *config)
{
	struct rdm *rdm = calloc(1, sizeof(*rdm));

	if (!rdm)
		return NULL;
	rdm->config = *config;
	rdm->rtu = rtu_create(config->mmu, 0, 1);
	rdm->task = calloc(RDM_TASKS, sizeof(*rdm->task));
	if (!rdm->rtu || !rdm->task) {
		rdm_destroy(rdm);
		return NULL;
	}
	pds_set_task_ops(config->pds, PDS_DM_RDM, &rdm_task_ops, rdm);
	return rdm;
}

void rdm_destroy(struct rdm *rdm)
{
	if (!rdm)
		return;
	rdm_launch_drop(rdm);
	rtu_destroy(rdm->rtu);
	free(rdm->task);
	free(rdm);
}

void rdm_reset(struct rdm *rdm)
{
	rdm_launch_drop(rdm);
	rdm_task_reset(rdm);
	rtu_reset(rdm->rtu);
	mmu_tlb_reset(&rdm->tlb);
	rdm->run = (struct dm_run){ 0 };
	rdm->phase = RDM_IDLE;
	rdm->has_programs = false;
	rdm->next_core = 0;
	atomic_store(&rdm->stopping, false);
	atomic_store(&rdm->running, 0);
	atomic_store(&rdm->rays, 0);
	atomic_store(&rdm->hits, 0);
	atomic_store(&rdm->tasks, 0);
}

static u64 now(const struct rdm *rdm)
{
	return rdm->config.ops->now(rdm->config.opaque);
}

static void wake(const struct rdm *rdm)
{
	rdm->config.ops->wake(rdm->config.opaque, 0);
}

static void stopped(void *opaque)
{
	struct rdm *rdm = opaque;

	rdm->phase = RDM_DRAIN;
	atomic_store(&rdm->stopping, true);
	pds_dm_abort(rdm->config.pds, PDS_DM_RDM);
	wake(rdm);
}

static const struct dm_unit rdm_unit = { .unit = PUMICE_UNIT_RDM, .stopped = stopped };

bool rdm_start(struct rdm *rdm, const struct dm_job *job)
{
	if (rdm->phase != RDM_IDLE || job->ctx >= PUMICE_MMU_CONTEXTS)
		return false;
	dm_run_begin(&rdm->run, &rdm_unit, rdm, now(rdm));
	rdm->phase = RDM_FETCH;
	rdm->job = *job;
	rdm->walk = (struct dm_walk){ .pc = job->stream };
	rdm->has_programs = false;
	rdm->ended = 0;
	trace_set_tag(rdm->config.trace, TRACE_RDM, job->tag);
	trace_event(rdm->config.trace, PUMICE_TRACE_KIND_JOB_START, TRACE_RDM, job->ctx, TRACE_RDM,
		    job->stream, trace_job(job->tag, false));
	wake(rdm);
	return true;
}

void rdm_abort(struct rdm *rdm)
{
	dm_abort(&rdm->run);
}

const struct dm_status *rdm_status(const struct rdm *rdm)
{
	return &rdm->run.status;
}

void rdm_counters_add(const struct rdm *rdm, u64 *value)
{
	value[PUMICE_PERF_RDM_BUSY] += dm_run_busy_ns(&rdm->run, now(rdm));
	value[PUMICE_PERF_RDM_RAYS] += atomic_load(&rdm->rays);
	value[PUMICE_PERF_RDM_HITS] += atomic_load(&rdm->hits);
	value[PUMICE_PERF_RDM_TASKS] += atomic_load(&rdm->tasks);
	rtu_counters_add(rdm->rtu, value);
}

/* No task runs. */
static void end_job(struct rdm *rdm)
{
	rdm_task_drop_all(rdm);
	rdm_launch_drop(rdm);
	pds_dm_abort(rdm->config.pds, PDS_DM_RDM);	/* cancels waiting claims of the job */
	rdm->phase = RDM_IDLE;
	atomic_store(&rdm->stopping, false);
	dm_run_end(&rdm->run, now(rdm));
	trace_event(rdm->config.trace, PUMICE_TRACE_KIND_JOB_END, TRACE_RDM,
		    rdm->job.ctx, TRACE_RDM, rdm->run.status.fault.fault, rdm->run.end);
	trace_set_tag(rdm->config.trace, TRACE_RDM, 0);
	rdm->config.ops->ended(rdm->config.opaque, rdm->run.end);
}

/*
 * Do a piece of work without the lock. If it is done, *done is set. Returns whether there is more.
 */
static bool work(struct rdm *rdm, enum rdm_result (*piece)(struct rdm *, struct gpu_fault *),
		 bool *done)
{
	const enum rdm_phase phase = rdm->phase;
	struct gpu_fault fault = { 0 };
	enum rdm_result result;

	rdm->config.ops->unlock(rdm->config.opaque);
	result = piece(rdm, &fault);
	rdm->config.ops->lock(rdm->config.opaque);
	if (result == RDM_FAULTED)
		dm_stop_fault(&rdm->run, &fault);
	*done = rdm->phase == phase && result == RDM_DONE;	/* else it was stopped */
	return rdm->phase != phase || result != RDM_STALL;
}

static bool load(struct rdm *rdm)
{
	bool done, more = work(rdm, rdm_launch_load, &done);

	if (!done)
		return more;
	rdm->phase = RDM_RUN;
	trace_event(rdm->config.trace, PUMICE_TRACE_KIND_LAUNCH, TRACE_RDM, rdm->job.ctx, 0,
		    rdm->launch[rdm->current].rays, rdm->command);
	return true;
}

static bool run(struct rdm *rdm)
{
	bool done, more = work(rdm, rdm_launch_run, &done);

	if (done)
		rdm->phase = RDM_FETCH;
	return more;
}

/*
 * Return whether all tasks have ended that were started, and are reaped. A task may end during the
 * search for ended ones: so the count is read first.
 */
static bool drained(struct rdm *rdm)
{
	const bool ended = !atomic_load(&rdm->running);

	rdm_task_reap(rdm);
	return ended && (atomic_load(&rdm->stopping) || !rdm_task_any(rdm));
}

/* Return the cost of the command that was just executed: an operation on caches ends the step. */
static u32 command_cost(struct rdm *rdm)
{
	const u32 cost = rdm->walk.swept ? STEP_COST : 1;

	rdm->walk.swept = false;
	return cost;
}

/* Do one step of the job, with the lock; *cost becomes its share of the budget. */
static bool advance(struct rdm *rdm, u32 *cost)
{
	*cost = 1;
	switch (rdm->phase) {
	case RDM_IDLE:
		return false;
	case RDM_FETCH:
		rdm_walk_fetch(rdm);
		*cost = command_cost(rdm);
		return true;
	case RDM_LOAD:
		*cost = WORK_COST;
		return load(rdm);
	case RDM_RUN:
		*cost = WORK_COST;
		return run(rdm);
	case RDM_WAIT:
		if (!drained(rdm))
			return false;
		rdm_walk_waited(rdm);
		*cost = command_cost(rdm);
		return true;
	case RDM_DRAIN:
		if (!drained(rdm))
			return false;
		rdm->run.status.done = rdm->ended;
		end_job(rdm);
		return rdm->phase != RDM_IDLE;
	}
	return false;
}

bool rdm_step(struct rdm *rdm, const _Atomic bool *stop)
{
	bool more = true;
	u32 left, cost;

	rdm->config.ops->lock(rdm->config.opaque);
	for (left = STEP_COST; more && left; left -= min_u32(cost, left)) {
		if (left < STEP_COST && atomic_load_explicit(stop, memory_order_relaxed))
			break;
		more = advance(rdm, &cost);
		if (rdm->phase != RDM_IDLE)
			rdm->run.status.done = rdm->ended;
	}
	rdm->config.ops->unlock(rdm->config.opaque);
	return more;
}
