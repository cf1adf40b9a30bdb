/* SPDX-License-Identifier: MIT */
/*
 * The CDM's state, shared by its files: cdm.c (a job's beginning and end), walk.c (commands),
 * source.c (sources of the cores), save.c (switching out). No other file includes this.
 *
 * Plain data except the pointers of the configuration and locks, so that a snapshot is a copy.
 * Device lock, except as noted. Sources read launch and groups, which are constant while open.
 */
#ifndef PUMICE_GPU_CDM_STATE_H
#define PUMICE_GPU_CDM_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "../host_line.h"
#include "cdm.h"
#include "command.h"

enum cdm_phase {
	CDM_IDLE,
	CDM_RESTORE,	/* read the saved state of the job */
	CDM_FETCH,	/* fetch the next command */
	CDM_LOAD,	/* load programs of a launch */
	CDM_DISPATCH,	/* sources dispatch work-groups of a launch */
	CDM_WAIT,	/* wait for the dependency of the waiting command, then execute it */
	CDM_SWITCH,	/* wait for all groups, then save the job */
	CDM_DRAIN,	/* wait for all groups, then end the job */
};

/* The source of one core. */
struct cdm_source {
	pthread_mutex_t lock;

	/* Guarded by the lock. */
	bool open;	/* a launch is being dispatched */
	bool stopped;	/* its job was stopped: groups are not started */
	bool waits;	/* it has found no room on its core */
	bool busy;	/* it has groups that are not started */
	u64 quota;	/* groups that it may take */
	u64 dispatched;	/* counter: work-groups with instances */

	/* While it is busy, of the thread that steps it, without the lock. */
	u32 left;	/* groups to fill */
	u64 linear;	/* number of the next one */
	u32 next[3];	/* its id, base not included */

	u8 apart[HOST_APART];	/* from the next core's */
};

struct cdm {
	/* Configuration. */
	struct cdm_config config;
	struct pds *pds;
	struct cdm_source *source;	/* config.cores of them */

	/* State of the running job. */
	struct dm_run run;
	enum cdm_phase phase;
	struct cdm_job job;
	_Atomic bool switch_wanted;	/* switch out at the next work-group boundary */
	struct dm_walk walk;	/* its pc: the command; the next one while dispatching */
	bool has_state;
	struct cdm_command waiting;	/* the waiting command of CDM_WAIT */
	bool unlocked;		/* the PDS begins the launch without the device lock */
	bool announce;		/* the launch is new: write its trace event */
	u64 command;		/* its address in the stream */
	bool dispatching;	/* the launch has groups to dispatch */
	bool open;		/* sources dispatch them */
	struct pds_launch launch;	/* its state is that of the last STATE command; a TASK is
					 * dispatched as a launch */
	u64 groups;		/* work-groups of the launch */
	u64 linear;		/* number of the next one, unless open */
	unsigned int next_core;	/* of the round robin */
	u64 done_before;	/* pds_done() less the groups of the job that have ended */
	struct mmu_tlb tlb;

	/* Performance counters. */
	u64 commands;

	/* Without a lock. All sources write these, and read fields of the launch for each group. */
	u8 apart_before[HOST_APART];
	_Atomic u64 taken;	/* linear while open: the next one for any source */
	_Atomic u32 starved;	/* bit n: source n has no number left */
	u8 apart_after[HOST_APART];
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
/* Continue while sources dispatch the launch. False when it must wait for them. */
bool cdm_walk_dispatch(struct cdm *cdm);

/* source.c: allocate the sources; false when out of memory. */
bool cdm_sources_create(struct cdm *cdm);
void cdm_sources_destroy(struct cdm *cdm);
void cdm_sources_reset(struct cdm *cdm);
/* Return the number of work-groups with instances that were started. */
u64 cdm_sources_dispatched(const struct cdm *cdm);
/* Dispatch the groups of the launch, which is loaded, from number linear. */
void cdm_sources_open(struct cdm *cdm);
/* Distribute again if a source has nothing to take. */
void cdm_sources_feed(struct cdm *cdm);
/* Let sources take no more groups; those that they have taken are started. */
void cdm_sources_withdraw(struct cdm *cdm);
/* The same, and the groups that are not started are dropped. */
void cdm_sources_stop(struct cdm *cdm);
/*
 * End the launch, of which no source can take a group. False when a source has groups that are not
 * started, and will wake the CDM. Then linear is the number of the first one that was not taken.
 */
bool cdm_sources_close(struct cdm *cdm);

/* save.c: save the state of a job without running groups. False when the job was stopped. */
bool cdm_save(struct cdm *cdm);
/* Restore it; the job continues, or is stopped. */
void cdm_restore(struct cdm *cdm);

#endif
