// SPDX-License-Identifier: MIT
/*
 * Compute data master: the walk through the control stream, and the end of a
 * job.
 *
 * Source: document 000, "Compute Workload"; commands are in command.c.
 *
 * A job ends in one place, cdm_step(), after the PDS has no group left.
 * Whatever stops it before its HALT only chooses how it will end: the first
 * reason wins.
 */
#include "cdm.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

enum cdm_phase {
	CDM_IDLE,
	CDM_FETCH,	/* the next command */
	CDM_DEAL,	/* work-groups of a launch */
	CDM_FENCE,	/* until all groups are done */
	CDM_DRAIN,	/* the same, then the job ends */
};

struct cdm {
	/* Configuration. */
	struct cdm_config config;
	struct pds *pds;

	/* What the registers show. */
	struct cdm_status status;

	/* Running state. */
	enum cdm_phase phase;
	enum cdm_end end;	/* how the job ends: DONE until something stops it */
	unsigned int ctx;
	u64 pc;			/* GPU virtual address of the command */
	u32 depth;
	u64 return_pc[PUMICE_CDM_MAX_DEPTH];
	bool has_state;
	struct pds_launch launch;	/* its state is that of the last STATE command */
	u64 groups;		/* work-groups of the launch */
	u64 linear;		/* the next of them */
	u32 next[3];		/* its id, base not included */
	struct mmu_tlb tlb;
};

struct cdm *cdm_create(const struct cdm_config *config)
{
	struct cdm *cdm = calloc(1, sizeof(*cdm));

	if (cdm)
		cdm->config = *config;
	return cdm;
}

void cdm_destroy(struct cdm *cdm)
{
	free(cdm);
}

void cdm_connect(struct cdm *cdm, struct pds *pds)
{
	cdm->pds = pds;
}

void cdm_reset(struct cdm *cdm)
{
	const struct cdm_config config = cdm->config;
	struct pds *pds = cdm->pds;

	memset(cdm, 0, sizeof(*cdm));
	cdm->config = config;
	cdm->pds = pds;
}

bool cdm_start(struct cdm *cdm, unsigned int ctx, u64 stream)
{
	if (cdm->phase != CDM_IDLE || ctx >= PUMICE_MMU_CONTEXTS)
		return false;
	cdm->status = (struct cdm_status){
		.busy = true, .time_start = cdm->config.ops->now(cdm->config.opaque),
	};
	cdm->phase = CDM_FETCH;
	cdm->end = CDM_END_DONE;
	cdm->ctx = ctx;
	cdm->pc = stream;
	cdm->depth = 0;
	cdm->has_state = false;
	cdm->config.ops->wake(cdm->config.opaque);
	return true;
}

/* The job is to end in another way than by its HALT. */
static void stop(struct cdm *cdm, enum cdm_end end)
{
	if (cdm->phase == CDM_DEAL)
		pds_launch_end(cdm->pds);
	cdm->phase = CDM_DRAIN;
	cdm->end = end;
	pds_abort(cdm->pds);
	cdm->config.ops->wake(cdm->config.opaque);
}

static void stop_fault(struct cdm *cdm, const struct gpu_fault *fault)
{
	if (cdm->phase == CDM_IDLE || cdm->end != CDM_END_DONE)
		return;
	cdm->status.fault = *fault;
	stop(cdm, CDM_END_FAULT);
}

/* A fault of the CDM itself, at the current command. */
static void stop_here(struct cdm *cdm, enum pumice_fault reason)
{
	const struct gpu_fault fault = {
		.fault = (u8)reason, .unit = PUMICE_UNIT_CDM, .ctx = (u8)cdm->ctx, .addr = cdm->pc,
	};

	stop_fault(cdm, &fault);
}

void cdm_abort(struct cdm *cdm)
{
	if (cdm->phase == CDM_IDLE || cdm->end != CDM_END_DONE)
		return;
	stop(cdm, CDM_END_ABORTED);
}

/* A launch fetches and checks programs, up to 1 MiB: *cost says that it was enough for one step. */
static void run_launch(struct cdm *cdm, const struct cdm_command *cmd, unsigned int *cost)
{
	enum pumice_fault reason;
	struct gpu_fault fault;

	if (!cdm->has_state) {
		stop_here(cdm, PUMICE_FAULT_CDM_STATE);
		return;
	}
	reason = cdm_launch_groups(&cmd->launch, &cdm->groups);
	if (reason) {
		stop_here(cdm, reason);
		return;
	}
	cdm->pc += cmd->words * sizeof(u32);
	if (!cdm->groups)
		return;
	*cost = UINT_MAX;
	cdm->launch.ctx = cdm->ctx;
	cdm->launch.grid = cmd->launch;
	if (!pds_launch_begin(cdm->pds, &cdm->launch, &fault)) {
		stop_fault(cdm, &fault);
		return;
	}
	cdm->linear = 0;
	memset(cdm->next, 0, sizeof(cdm->next));
	cdm->phase = CDM_DEAL;
}

static void run_call(struct cdm *cdm, const struct cdm_command *cmd)
{
	if (cdm->depth == PUMICE_CDM_MAX_DEPTH) {
		stop_here(cdm, PUMICE_FAULT_CDM_DEPTH);
		return;
	}
	cdm->return_pc[cdm->depth++] = cdm->pc + cmd->words * sizeof(u32);
	cdm->pc = cmd->call.addr;
}

static void run_return(struct cdm *cdm)
{
	if (!cdm->depth) {
		stop_here(cdm, PUMICE_FAULT_CDM_RETURN);
		return;
	}
	cdm->pc = cdm->return_pc[--cdm->depth];
}

/* Fetch one command and do what it says; *cost is 1, or becomes what it took more. */
static void step_fetch(struct cdm *cdm, unsigned int *cost)
{
	struct cdm_command cmd;
	struct gpu_fault fault;

	if (cdm->pc % sizeof(u32)) {
		stop_here(cdm, PUMICE_FAULT_CDM_ALIGN);
		return;
	}
	if (!cdm_command_fetch(cdm->config.mmu, &cdm->tlb, cdm->ctx, cdm->pc, &cmd, &fault)) {
		stop_fault(cdm, &fault);
		return;
	}
	switch ((enum pumice_cdm_type)cmd.type) {
	case PUMICE_CDM_TYPE_STATE:
		cdm->launch.state = cmd.state;
		cdm->has_state = true;
		cdm->pc += cmd.words * sizeof(u32);
		break;
	case PUMICE_CDM_TYPE_LAUNCH:
		run_launch(cdm, &cmd, cost);
		break;
	case PUMICE_CDM_TYPE_CALL:
		run_call(cdm, &cmd);
		break;
	case PUMICE_CDM_TYPE_RETURN:
		run_return(cdm);
		break;
	case PUMICE_CDM_TYPE_FENCE:
		cdm->pc += cmd.words * sizeof(u32);
		cdm->phase = CDM_FENCE;
		break;
	case PUMICE_CDM_TYPE_HALT:
		cdm->phase = CDM_DRAIN;
		break;
	default:
		stop_here(cdm, PUMICE_FAULT_CDM_COMMAND);
	}
}

/* Go to the next work-group of the grid, x fastest. */
static void advance(struct cdm *cdm)
{
	const struct pumice_cdm_launch *grid = &cdm->launch.grid;

	if (++cdm->linear == cdm->groups) {
		pds_launch_end(cdm->pds);
		cdm->phase = CDM_FETCH;
		return;
	}
	if (++cdm->next[0] < grid->groups_x)
		return;
	cdm->next[0] = 0;
	if (++cdm->next[1] < grid->groups_y)
		return;
	cdm->next[1] = 0;
	cdm->next[2]++;
}

/* Deal one work-group. False when it must wait for room. */
static bool step_deal(struct cdm *cdm)
{
	const struct pumice_cdm_launch *grid = &cdm->launch.grid;
	const u32 id[3] = {
		grid->base_x + cdm->next[0], grid->base_y + cdm->next[1],
		grid->base_z + cdm->next[2],
	};
	struct gpu_fault fault;

	switch (pds_group(cdm->pds, id, cdm->linear, &fault)) {
	case PDS_STARTED:
		advance(cdm);
		return true;
	case PDS_WAIT:
		return false;
	case PDS_FAULT:
		stop_fault(cdm, &fault);
		return true;
	}
	return false;
}

static void end_job(struct cdm *cdm)
{
	cdm->phase = CDM_IDLE;
	cdm->status.busy = false;
	cdm->status.time_end = cdm->config.ops->now(cdm->config.opaque);
	cdm->config.ops->ended(cdm->config.opaque, cdm->end);
}

/* One step of the walk; *cost becomes what it took of the budget. False when it cannot go on. */
static bool step(struct cdm *cdm, unsigned int *cost)
{
	*cost = 1;
	switch (cdm->phase) {
	case CDM_IDLE:
		return false;
	case CDM_FETCH:
		step_fetch(cdm, cost);
		return true;
	case CDM_DEAL:
		*cost = pds_launch_cost(cdm->pds);
		return step_deal(cdm);
	case CDM_FENCE:
		if (pds_groups(cdm->pds))
			return false;
		cdm->phase = CDM_FETCH;
		return true;
	case CDM_DRAIN:
		if (pds_groups(cdm->pds))
			return false;
		end_job(cdm);
		return cdm->phase != CDM_IDLE;
	}
	return false;
}

bool cdm_step(struct cdm *cdm, unsigned int budget)
{
	unsigned int cost;

	for (; budget; budget -= cost < budget ? cost : budget) {
		if (!step(cdm, &cost))
			return false;
	}
	return cdm->phase != CDM_IDLE;
}

const struct cdm_status *cdm_status(const struct cdm *cdm)
{
	return &cdm->status;
}

static void pds_group_done(void *opaque)
{
	struct cdm *cdm = opaque;

	if (cdm->end == CDM_END_DONE)
		cdm->status.groups++;
	/* Room matters while dealing; a fence and the end wait for the last one. */
	if (cdm->phase == CDM_DEAL || !pds_groups(cdm->pds))
		cdm->config.ops->wake(cdm->config.opaque);
}

static void pds_group_fault(void *opaque, const struct gpu_fault *fault)
{
	stop_fault(opaque, fault);
}

const struct pds_ops cdm_pds_ops = {
	.group_done = pds_group_done,
	.fault = pds_group_fault,
};
