// SPDX-License-Identifier: MIT
/*
 * Compute data master: the walk through the control stream.
 *
 * Source: document 000, "Compute Workload"; hw/formats.xml, stream "cdm".
 *
 * A command that waits for the launches before it is kept, decoded, until the last group is
 * done; a launch that waits for tasks without instances, until these are done. Commands that other
 * data masters have, too, are in dm/walk.c.
 *
 * Each launch fetches its programs again, since none are kept beyond it. FLUSH waits, and then
 * operates on the caches of the modelled hierarchy.
 */
#include <limits.h>
#include <string.h>

#include "state.h"

/* End the job with a fault of the CDM at the current command. */
static void stop_here(struct cdm *cdm, enum pumice_fault reason)
{
	dm_stop_at(&cdm->run, reason, cdm->job.ctx, cdm->walk.pc);
}

static u64 next_addr(const struct cdm *cdm, const struct cdm_command *cmd)
{
	return cdm->walk.pc + cmd->words * sizeof(u32);
}

bool cdm_walk_load(struct cdm *cdm)
{
	enum pds_load_result result;
	struct gpu_fault fault = { 0 };

	cdm->unlocked = true;
	result = pds_launch_begin(cdm->pds, &cdm->launch, &fault);
	cdm->unlocked = false;
	if (cdm->phase != CDM_LOAD) {	/* the job was stopped meanwhile */
		if (result != PDS_LOAD_FAULT)
			pds_launch_end(cdm->pds);
		return true;
	}
	switch (result) {
	case PDS_LOAD_FAULT:
		cdm->dispatching = false;
		cdm->phase = CDM_FETCH;	/* the fault is not a launch's */
		dm_stop_fault(&cdm->run, &fault);
		break;
	case PDS_LOADED:
		cdm->phase = CDM_DISPATCH;
		if (cdm->announce)
			trace_event(cdm->config.trace, PUMICE_TRACE_KIND_LAUNCH, TRACE_CDM,
				    cdm->job.ctx, 0, cdm->groups, cdm->command);
		cdm->announce = false;
		cdm_sources_open(cdm);
		break;
	case PDS_LOAD_WAIT:
		return false;
	case PDS_LOAD_MORE:
		break;
	}
	return true;
}

void cdm_walk_dispatch_from(struct cdm *cdm, u64 linear)
{
	cdm->launch.ctx = cdm->job.ctx;
	cdm->linear = linear;
	cdm->dispatching = true;
	cdm->phase = CDM_LOAD;
	cdm_walk_load(cdm);
}

/* Begin a launch, which fetches and checks programs: *cost fills one step. */
static void run_launch(struct cdm *cdm, const struct cdm_command *cmd,
		       const struct pumice_cdm_launch *grid, unsigned int *cost)
{
	const u64 command = cdm->walk.pc;
	enum pumice_fault reason;

	if (!cdm->has_state) {
		stop_here(cdm, PUMICE_FAULT_CDM_STATE);
		return;
	}
	reason = cdm_launch_groups(grid, &cdm->groups);
	if (reason) {
		stop_here(cdm, reason);
		return;
	}
	cdm->walk.pc = next_addr(cdm, cmd);
	cdm->phase = CDM_FETCH;
	if (!cdm->groups)
		return;
	*cost = UINT_MAX;
	cdm->launch.grid = *grid;
	cdm->launch.sequences = cmd->type == PUMICE_CDM_TYPE_TASK;
	cdm->announce = true;
	cdm->command = command;
	cdm_walk_dispatch_from(cdm, 0);
}

/* A task without instances is dispatched as a launch of one group. */
static void run_task(struct cdm *cdm, const struct cdm_command *cmd, unsigned int *cost)
{
	run_launch(cdm, cmd,
		   &(struct pumice_cdm_launch){ .groups_x = 1, .groups_y = 1, .groups_z = 1 },
		   cost);
}

/* Make earlier stores visible. An operation on caches fills one step: *cost. See dm_flush(). */
static void fence(struct cdm *cdm, unsigned int *cost)
{
	if (dm_fence(cdm->config.mmu, PUMICE_UNIT_CDM, cdm->job.ctx))
		*cost = UINT_MAX;
}

/* All counts are read once and checked like those of a LAUNCH. */
static void run_indirect(struct cdm *cdm, const struct cdm_command *cmd, unsigned int *cost)
{
	const struct pumice_cdm_launch_indirect *ind = &cmd->indirect;
	struct gpu_fault fault = { 0 };
	u32 counts[3];

	if (!cdm->has_state) {
		stop_here(cdm, PUMICE_FAULT_CDM_STATE);
		return;
	}
	fence(cdm, cost);
	if (!mmu_read(cdm->config.mmu, &cdm->tlb, cdm->job.ctx, ind->addr, counts, sizeof(counts),
		      PUMICE_ACCESS_READ, PUMICE_UNIT_CDM, &fault)) {
		dm_stop_fault(&cdm->run, &fault);
		return;
	}
	run_launch(cdm, cmd,
		   &(struct pumice_cdm_launch){
			   .groups_x = counts[0], .groups_y = counts[1], .groups_z = counts[2],
			   .base_x = ind->base_x, .base_y = ind->base_y, .base_z = ind->base_z },
		   cost);
}

/* Return whether the command was executed; else the job was stopped. */
static bool run_control(struct cdm *cdm, const struct cdm_command *cmd)
{
	const struct dm_walk_access access = {
		.run = &cdm->run, .mmu = cdm->config.mmu, .tlb = &cdm->tlb, .ctx = cdm->job.ctx,
		.now = cdm->config.ops->now, .opaque = cdm->config.opaque,
		.too_deep = PUMICE_FAULT_CDM_DEPTH, .no_call = PUMICE_FAULT_CDM_RETURN,
	};

	return dm_walk_control(&cdm->walk, &access, (enum pumice_cdm_type)cmd->type, &cmd->control,
			       next_addr(cdm, cmd));
}

/* Return whether a command has to wait for work before it that has not ended. */
static bool waits(const struct cdm *cdm, const struct cdm_command *cmd)
{
	const bool groups = pds_groups(cdm->pds);

	switch ((enum pumice_cdm_type)cmd->type) {
	case PUMICE_CDM_TYPE_LAUNCH_INDIRECT:
		return groups;
	case PUMICE_CDM_TYPE_LAUNCH:
		return cmd->launch.after && pds_pending(cdm->pds);
	case PUMICE_CDM_TYPE_TASK:
		return pds_pending(cdm->pds) == PDS_MAX_PENDING;
	default:
		return groups && dm_control_waits((enum pumice_cdm_type)cmd->type, &cmd->control);
	}
}

bool cdm_walk_may_run(const struct cdm *cdm)
{
	return !waits(cdm, &cdm->waiting);
}

static void run_command(struct cdm *cdm, const struct cdm_command *cmd, unsigned int *cost)
{
	cdm->commands++;
	switch ((enum pumice_cdm_type)cmd->type) {
	case PUMICE_CDM_TYPE_STATE:
		cdm->launch.state = cmd->state;
		cdm->has_state = true;
		cdm->walk.pc = next_addr(cdm, cmd);
		break;
	case PUMICE_CDM_TYPE_LAUNCH:
		if (cmd->launch.after)
			fence(cdm, cost);
		run_launch(cdm, cmd, &cmd->launch, cost);
		break;
	case PUMICE_CDM_TYPE_LAUNCH_INDIRECT:
		run_indirect(cdm, cmd, cost);
		break;
	case PUMICE_CDM_TYPE_TASK:
		run_task(cdm, cmd, cost);
		break;
	case PUMICE_CDM_TYPE_HALT:
		cdm->phase = CDM_DRAIN;
		break;
	default:
		if (run_control(cdm, cmd))
			cdm->phase = CDM_FETCH;
		if (cdm->walk.swept)
			*cost = UINT_MAX;
		break;
	}
}

void cdm_walk_fetch(struct cdm *cdm, unsigned int *cost)
{
	struct gpu_fault fault = { 0 };
	struct cdm_command cmd;

	if (cdm->walk.pc % sizeof(u32)) {
		stop_here(cdm, PUMICE_FAULT_CDM_ALIGN);
		return;
	}
	if (!cdm_command_fetch(cdm->config.mmu, &cdm->tlb, cdm->job.ctx, cdm->walk.pc,
			       &cmd, &fault)) {
		dm_stop_fault(&cdm->run, &fault);
		return;
	}
	if (waits(cdm, &cmd)) {
		cdm->waiting = cmd;
		cdm->phase = CDM_WAIT;
		return;
	}
	run_command(cdm, &cmd, cost);
}

void cdm_walk_waited(struct cdm *cdm, unsigned int *cost)
{
	run_command(cdm, &cdm->waiting, cost);
}

bool cdm_walk_dispatch(struct cdm *cdm)
{
	if (atomic_load(&cdm->taken) != cdm->groups) {
		cdm_sources_feed(cdm);
		return false;
	}
	if (!cdm_sources_close(cdm))
		return false;
	cdm->dispatching = false;
	cdm->phase = CDM_FETCH;
	return true;
}
