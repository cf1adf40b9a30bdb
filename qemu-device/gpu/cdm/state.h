/* SPDX-License-Identifier: MIT */
/*
 * The CDM's state, shared by its files: cdm.c (a job's beginning and end), walk.c
 * (commands), save.c (switching out). Nobody else includes this.
 *
 * Plain data but for the pointers of the configuration, so that a snapshot is a
 * copy. Device lock.
 */
#ifndef PUMICE_GPU_CDM_STATE_H
#define PUMICE_GPU_CDM_STATE_H

#include "cdm.h"
#include "command.h"

enum cdm_phase {
	CDM_IDLE,
	CDM_RESTORE,	/* reads the saved state of the job */
	CDM_FETCH,	/* the next command */
	CDM_LOAD,	/* programs of a launch */
	CDM_DEAL,	/* work-groups of a launch */
	CDM_WAIT,	/* until all groups are done: then the command that waits */
	CDM_SWITCH,	/* the same, then the job is saved */
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
	struct cdm_job job;
	bool switch_wanted;	/* at the next work-group boundary */
	u64 pc;			/* GPU virtual address of the command; behind it while it deals */
	u32 depth;
	u64 return_pc[PUMICE_CDM_MAX_DEPTH];
	bool has_state;
	struct cdm_command waiting;	/* the command of CDM_WAIT */
	bool unlocked;		/* the PDS works for the launch without the device lock */
	bool announce;		/* the launch is new: its event is to be written */
	u64 command;		/* where it is in the stream */
	bool dealing;		/* groups of the launch are left to deal */
	struct pds_launch launch;	/* its state is that of the last STATE command */
	u64 groups;		/* work-groups of the launch */
	u64 linear;		/* the next of them */
	u32 next[3];		/* its id, base not included */
	struct mmu_tlb tlb;

	/* Performance counters. */
	u64 busy_ns;		/* of jobs that have ended */
	u64 commands;
	u64 dealt;		/* work-groups */
};

/* The job is to end by this fault, unless something else stopped it before. */
void cdm_stop_fault(struct cdm *cdm, const struct gpu_fault *fault);
/* The same for a fault of the CDM itself at an address of its own choice. */
void cdm_stop_at(struct cdm *cdm, enum pumice_fault reason, unsigned int ctx, u64 addr);

/* walk.c: fetch a command and do or begin it; *cost becomes what it took of the budget. */
void cdm_walk_fetch(struct cdm *cdm, unsigned int *cost);
/* All groups are done: do the command that waited for it. */
void cdm_walk_waited(struct cdm *cdm, unsigned int *cost);
/*
 * Begin to deal the groups of cdm->launch from number linear on, of which there are
 * more: go to LOAD, or further.
 */
void cdm_walk_deal_from(struct cdm *cdm, u64 linear);
/* Load a piece of the launch's programs, then go to DEAL. False when it must wait for memory. */
bool cdm_walk_load(struct cdm *cdm);
/* Deal one work-group, or a piece of it. False when it must wait for room. */
bool cdm_walk_deal(struct cdm *cdm);

/* save.c: write the state of a job without running groups. False when the job was stopped. */
bool cdm_save(struct cdm *cdm);
/* Read it back; the job goes on, or is stopped. */
void cdm_restore(struct cdm *cdm);

#endif
