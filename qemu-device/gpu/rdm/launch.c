// SPDX-License-Identifier: MIT
/*
 * Ray-tracing data master: programs and the progress of a launch.
 *
 * Limits: a launch loads its programs again, also those of the launch before it.
 */
#include <string.h>

#include "state.h"

static void drop(struct rdm *rdm, struct rdm_launch *launch)
{
	enum rdm_kind kind;

	for (kind = RDM_GENERATE; kind < RDM_KINDS; kind++)
		pds_stage_drop(rdm->config.pds, &launch->stage[kind]);
	memset(launch, 0, sizeof(*launch));
}

void rdm_launch_drop(struct rdm *rdm)
{
	for (u32 n = 0; n < RDM_LAUNCHES; n++)
		drop(rdm, &rdm->launch[n]);
}

/* Use the place of an earlier launch, whose tasks have ended. */
static bool begin(struct rdm *rdm, struct rdm_launch *launch)
{
	rdm_task_reap(rdm);
	if (launch->tasks)
		return false;
	drop(rdm, launch);
	launch->programs = rdm->programs;
	launch->width = rdm->next.width;
	launch->rays = (u64)rdm->next.width * rdm->next.height;
	launch->addr = rdm->next.rays;
	rdm->begun = true;
	return true;
}

/*
 * Drop the programs of the other launch if its tasks have ended:
 * they hold memory of the RDM's share.
 */
static bool drop_other(struct rdm *rdm)
{
	struct rdm_launch *other = &rdm->launch[(rdm->current + 1) % RDM_LAUNCHES];

	rdm_task_reap(rdm);
	if (other->tasks || !other->loaded)
		return false;
	drop(rdm, other);
	return true;
}

/* Load a piece of a program. */
static enum rdm_result load(struct rdm *rdm, struct rdm_launch *launch, enum rdm_kind kind,
			    struct gpu_fault *fault)
{
	const bool generate = kind == RDM_GENERATE;
	const struct pds_stage_limits limits = {
		.stage = generate ? USC_STAGE_RAYS : USC_STAGE_HIT,
		.vo = generate ? PUMICE_RT_RAY_REGS : 0,
	};

	switch (pds_stage_load(rdm->config.pds, &rdm->tlb, rdm->job.ctx,
			       &launch->programs.stage[kind], &limits, &launch->stage[kind],
			       fault)) {
	case PDS_LOAD_FAULT:
		return RDM_FAULTED;
	case PDS_LOAD_WAIT:
		return drop_other(rdm) ? RDM_MORE : RDM_STALL;
	case PDS_LOAD_MORE:
		return RDM_MORE;
	case PDS_LOADED:
		break;
	}
	return RDM_DONE;
}

enum rdm_result rdm_launch_load(struct rdm *rdm, struct gpu_fault *fault)
{
	struct rdm_launch *launch = &rdm->launch[rdm->current];
	enum rdm_result result = RDM_DONE;

	if (!rdm->begun && !begin(rdm, launch))
		return RDM_STALL;
	if (launch->programs.stage[launch->loaded].pds_insns)
		result = load(rdm, launch, (enum rdm_kind)launch->loaded, fault);
	if (result != RDM_DONE)
		return result;
	return ++launch->loaded == RDM_KINDS ? RDM_DONE : RDM_MORE;
}

/* Return whether a batch is in use. */
static bool has_batches(const struct rdm *rdm)
{
	for (u32 n = 0; n < RDM_BATCHES; n++)
		if (rdm->task[n].phase != RDM_TASK_FREE)
			return true;
	return false;
}

enum rdm_result rdm_launch_run(struct rdm *rdm, struct gpu_fault *fault)
{
	const struct rdm_launch *launch = &rdm->launch[rdm->current];
	enum rdm_result result;

	rdm_task_reap(rdm);
	result = rdm_task_start(rdm, fault);
	if (result == RDM_STALL)
		result = rdm_source_trace(rdm, fault);
	if (result == RDM_STALL)
		result = rdm_source_begin(rdm, fault);
	if (result != RDM_STALL || launch->next < launch->rays || has_batches(rdm))
		return result;
	rdm_source_flush(rdm);
	return rdm->queued ? rdm_task_start(rdm, fault) : RDM_DONE;
}
