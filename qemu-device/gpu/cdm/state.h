/* SPDX-License-Identifier: MIT */
/*
 * The CDM's state, shared by its files: cdm.c (a job's beginning and end), walk.c (commands),
 * save.c (switching out). No other file includes this.
 *
 * Plain data except the pointers of the configuration, so that a snapshot is a copy. Device
 * lock.
 */
#ifndef PUMICE_GPU_CDM_STATE_H
#define PUMICE_GPU_CDM_STATE_H

#include "cdm.h"
#include "command.h"

enum cdm_phase {
	CDM_IDLE,
	CDM_RESTORE,	/* read the saved state of the job */
	CDM_FETCH,	/* fetch the next command */
	CDM_LOAD,	/* load programs of a launch */
	CDM_DISPATCH,	/* dispatch work-groups of a launch */
	CDM_WAIT,	/* wait for the dependency of the waiting command, then execute it */
	CDM_SWITCH,	/* wait for all groups, then save the job */
	CDM_DRAIN,	/* wait for all groups, then end the job */
};

struct cdm {
	/* Configuration. */
	struct cdm_config config;
	struct pds *pds;

	/* State of the running job. */
	struct dm_run run;
	enum cdm_phase phase;
	struct cdm_job job;
	bool switch_wanted;	/* switch out at the next work-group boundary */
	struct dm_walk walk;	/* its pc: the command; the next one while dispatching */
	bool has_state;
	struct cdm_command waiting;	/* the waiting command of CDM_WAIT */
	bool unlocked;		/* the PDS begins the launch without the device lock */
	bool announce;		/* the launch is new: write its trace event */
	u64 command;		/* its address in the stream */
	bool dispatching;	/* the launch has groups to dispatch */
	struct pds_launch launch;	/* its state is that of the last STATE command; a TASK is
					 * dispatched as a launch */
	u64 groups;		/* work-groups of the launch */
	u64 linear;		/* number of the next one */
	u32 next[3];		/* its id, base not included */
	u64 done_before;	/* pds_done() less the groups of the job that have ended */
	struct mmu_tlb tlb;

	/* Performance counters. */
	u64 commands;
	u64 dispatched;		/* work-groups */
};

/*
 * cdm.c: update the number of groups in the status. USCs end groups without the device lock: they
 * change nothing here, and only the PDS counts them.
 */
void cdm_count_done(struct cdm *cdm);

/* walk.c: fetch a command and execute or begin it; *cost becomes its share of the budget. */
void cdm_walk_fetch(struct cdm *cdm, unsigned int *cost);
/* Return whether the work that the waiting command depends on has ended. */
bool cdm_walk_may_run(const struct cdm *cdm);
/* That work has ended: execute the waiting command. */
void cdm_walk_waited(struct cdm *cdm, unsigned int *cost);
/*
 * Begin to dispatch the groups of cdm->launch from number linear, which is less than their
 * count: go to LOAD, or further.
 */
void cdm_walk_dispatch_from(struct cdm *cdm, u64 linear);
/*
 * Load a piece of the launch's programs, then go to DISPATCH. False when it must wait for
 * memory.
 */
bool cdm_walk_load(struct cdm *cdm);
/* Dispatch one work-group, or a piece of one. False when it must wait for room. */
bool cdm_walk_dispatch(struct cdm *cdm);

/* save.c: save the state of a job without running groups. False when the job was stopped. */
bool cdm_save(struct cdm *cdm);
/* Restore it; the job continues, or is stopped. */
void cdm_restore(struct cdm *cdm);

#endif
