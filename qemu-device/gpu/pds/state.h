/* SPDX-License-Identifier: MIT */
/*
 * The PDS's state, shared by its files: pds.c (launches and groups of the CDM), task.c (tasks
 * of the VDM and PDM), stage.c and the files that fill registers. No other file includes
 * this.
 *
 * Locking: the device lock guards fields that change while jobs run, except atomic ones.
 * Registers of a task belong to its claimer until it is started.
 */
#ifndef PUMICE_GPU_PDS_STATE_H
#define PUMICE_GPU_PDS_STATE_H

#include <stdatomic.h>

#include "code.h"
#include "gfx.h"
#include "run.h"

#define PDS_UNIFIED_ROW_BYTES (USC_ROW_WORDS * (u32)sizeof(u32))

_Static_assert(PDS_MAX_USCS <= 64, "USCs that were tried are bits of a u64");

/* The PDS's state of one USC. */
struct unit {
	struct pds_unit accounts;
	u16 code[PUMICE_USC_SLOTS];	/* program of each running work-group */
	u64 linear[PUMICE_USC_SLOTS];	/* the group's number in its launch */
	u32 id[PUMICE_USC_SLOTS][3];	/* the group's id, base included */
	const struct usc_gfx *gfx[PUMICE_USC_SLOTS];	/* of each task of another data master */
	u64 started[PDS_DM_COUNT];	/* bit n: group n runs and is of the data master */
	u64 stopped;		/* bit n: group n runs, and its job was stopped */
	/* For the trace: reads of its texture unit when the trace began, and in the last event. */
	u64 tag_base[PDS_DM_COUNT], tag_last[PDS_DM_COUNT];
	trace_span span[PUMICE_USC_SLOTS];	/* of each task of another data master */
};

/* The launch being dispatched. */
struct current {
	bool begun;	/* its programs are loaded */
	bool loading;	/* the PDS program is loaded, the USC program is not */
	struct usc_load *load;
	u16 code;
	bool slow;	/* groups are filled in pieces, without the device lock */
	unsigned int cost;
	bool waits;	/* the next group waits for room */
	struct pds_launch launch;
	struct pds_need need;
	struct pds_program program;
	struct pds_local_ids local;

	/* A group that is being filled. */
	bool filling;
	unsigned int usc, group;
	u32 task;	/* number in the group */
	u32 pc;
};

/* Receiver of task events. */
struct pds_task_owner {
	const struct pds_task_ops *ops;
	void *opaque;
};

struct pds {
	struct pds_config config;
	struct pds_capacity capacity;	/* of each USC */

	/* Registers. */
	struct pds_control control;
	struct pds_limits limits[PDS_DM_COUNT];	/* limits from the registers, for each USC */

	/* Running state. */
	struct unit *unit;		/* config.uscs of them */
	struct pds_code_table codes;
	struct current current;
	unsigned int next;		/* next USC of the round robin, for groups */
	u8 core_next[PUMICE_MAX_CORES];	/* next USC of the round robin in a core, for tasks */
	u8 waiting[PUMICE_MAX_CORES];	/* bit n: data master n waits for room there (DMS) */
	struct pds_task_owner owner[PDS_DM_COUNT];
	unsigned int groups;		/* groups of the CDM that have not ended, on all USCs */
	u32 tasks, peak_tasks, held, waves;	/* see struct pds_load */
	struct mmu_tlb tlb;

	/* Performance counters. */
	u64 started, waited;
	_Atomic u64 dma_bytes;
	u64 occupancy;			/* tasks * ns up to time */
	u64 time;			/* GPU clock, when tasks last started or ended */
};

/* Return the core of a USC. */
static inline unsigned int pds_core_of(const struct pds *pds, unsigned int usc)
{
	return usc / pds->config.uscs_per_core;
}

/*
 * Find the USC with the fewest waves of count USCs from first, except those tried; among
 * equals the first from next. Returns false when all were tried.
 */
bool pds_lowest_load(const struct pds *pds, unsigned int first, unsigned int count,
		     unsigned int next, u64 tried, unsigned int *usc);
/* Count a claim that begins to run, or that has ended and still has its slots. */
void pds_count_start(struct pds *pds, const struct pds_need *need);
void pds_count_end(struct pds *pds, const struct pds_need *need);
/* Release the resources of an ended claim. */
void pds_release(struct pds *pds, struct pds_unit *unit, unsigned int group);
/* Start a filled group on its USC, and wake the USC if it was idle. Device lock held. */
void pds_group_start(struct pds *pds, unsigned int usc, unsigned int group);

/* task.c: a task of the VDM or PDM has ended, or faulted. Takes the device lock. */
void pds_task_ended(struct pds *pds, unsigned int usc, unsigned int group);
void pds_task_faulted(struct pds *pds, unsigned int group, const struct gpu_fault *fault);
/* Resources of a core were released: notify data masters that wait there. Device lock held. */
void pds_room(struct pds *pds, unsigned int core);

/* Mark all running groups of a data master on a USC as stopped, and abort them. */
void pds_stop_groups(struct pds *pds, unsigned int usc, enum pds_dm dm);
/* Return whether a group ends because its job was stopped. Called once, when it has ended. */
bool pds_was_stopped(struct unit *unit, unsigned int group);
/*
 * A group has ended: trace how much the texture unit of its USC has read for its data master, if
 * it has. Device lock held.
 */
void pds_trace_tag(struct pds *pds, unsigned int usc, unsigned int group);

#endif
