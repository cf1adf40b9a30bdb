// SPDX-License-Identifier: MIT
/*
 * Ray-tracing data master: the walk through the control stream.
 *
 * Source: hw/rdm.xml, stream "rdm". A command that waits for the launches before it is kept,
 * decoded, until the last task has ended.
 */
#include "state.h"

static void stop_here(struct rdm *rdm, enum pumice_fault reason)
{
	dm_stop_at(&rdm->run, reason, rdm->job.ctx, rdm->walk.pc);
}

static u64 next_addr(const struct rdm *rdm, const struct rdm_command *cmd)
{
	return rdm->walk.pc + cmd->words * sizeof(u32);
}

/* Rays have one source. */
static bool source_valid(const struct rdm *rdm, const struct pumice_rdm_launch *launch)
{
	return rdm->has_programs &&
	       !launch->rays == (rdm->programs.stage[RDM_GENERATE].pds_insns != 0);
}

static void run_launch(struct rdm *rdm, const struct rdm_command *cmd)
{
	const struct pumice_rdm_launch *launch = &cmd->launch;
	const u64 rays = (u64)launch->width * launch->height;

	if (!source_valid(rdm, launch)) {
		stop_here(rdm, PUMICE_FAULT_RDM_STATE);
		return;
	}
	if (rays > UINT32_MAX) {
		stop_here(rdm, PUMICE_FAULT_RDM_RAYS);
		return;
	}
	if (rays) {
		rdm->current = (rdm->current + 1) % RDM_LAUNCHES;
		rdm->begun = false;
		rdm->next = *launch;
		rdm->command = rdm->walk.pc;
		rdm->phase = RDM_LOAD;
	}
	rdm->walk.pc = next_addr(rdm, cmd);
}

static void run_control(struct rdm *rdm, const struct rdm_command *cmd)
{
	const struct dm_walk_access access = {
		.run = &rdm->run, .mmu = rdm->config.mmu, .tlb = &rdm->tlb, .ctx = rdm->job.ctx,
		.now = rdm->config.ops->now, .opaque = rdm->config.opaque,
		.too_deep = PUMICE_FAULT_RDM_DEPTH, .no_call = PUMICE_FAULT_RDM_RETURN,
	};

	if (dm_walk_control(&rdm->walk, &access, rdm_control_type(cmd), &cmd->control,
			    next_addr(rdm, cmd)))
		rdm->phase = RDM_FETCH;
}

static void run_command(struct rdm *rdm, const struct rdm_command *cmd)
{
	switch ((enum pumice_rdm_type)cmd->type) {
	case PUMICE_RDM_TYPE_STATE:
		rdm->programs = cmd->programs;
		rdm->has_programs = true;
		rdm->walk.pc = next_addr(rdm, cmd);
		break;
	case PUMICE_RDM_TYPE_LAUNCH:
		run_launch(rdm, cmd);
		break;
	case PUMICE_RDM_TYPE_HALT:
		rdm->phase = RDM_DRAIN;
		break;
	default:
		run_control(rdm, cmd);
		break;
	}
}

void rdm_walk_fetch(struct rdm *rdm)
{
	struct gpu_fault fault = { 0 };
	struct rdm_command cmd;

	if (rdm->walk.pc % sizeof(u32)) {
		stop_here(rdm, PUMICE_FAULT_RDM_ALIGN);
		return;
	}
	if (!rdm_command_fetch(rdm->config.mmu, &rdm->tlb, rdm->job.ctx, rdm->walk.pc, &cmd,
			       &fault)) {
		dm_stop_fault(&rdm->run, &fault);
		return;
	}
	if (cmd.type != PUMICE_RDM_TYPE_STATE && cmd.type != PUMICE_RDM_TYPE_LAUNCH &&
	    dm_control_waits(rdm_control_type(&cmd), &cmd.control)) {
		rdm->waiting = cmd;
		rdm->phase = RDM_WAIT;
		return;
	}
	run_command(rdm, &cmd);
}

void rdm_walk_waited(struct rdm *rdm)
{
	run_command(rdm, &rdm->waiting);
}
