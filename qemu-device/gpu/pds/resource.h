/* SPDX-License-Identifier: MIT */
/*
 * Resources of one USC: needs of a work-group, and current owners.
 *
 * Source: document 000, "Programmable Data Sequencer" and "USC Register Stores". A work-group
 * of n instances has ceil(n / 128) tasks, at least one. Every task takes an entry of the tasks that
 * the USC manages, rows of the unified store (a register of a wave is a row) and words of the
 * common store (shared registers, followed by the coefficients of both sets); the group takes local
 * memory. A group is allocated on one USC, because it shares local memory and barriers. A vertex
 * task also takes rows of its core's VPM for its outputs.
 *
 * More tasks are managed than a USC has slots: a group gets slots, one for each task, and its waves
 * are in flight, when its registers are filled and as many are free.
 *
 * Pixel outputs belong to a tile, from its beginning until it is stored: they are at the end of the
 * store that they are allocated from, so that tasks find contiguous room before them (outputs.c).
 */
#ifndef PUMICE_GPU_PDS_RESOURCE_H
#define PUMICE_GPU_PDS_RESOURCE_H

#include <stdbool.h>

#include "alloc.h"
#include "pumice_formats.h"

/* Data masters, each with its own share of a USC. */
enum pds_dm { PDS_DM_CDM, PDS_DM_VDM, PDS_DM_PDM, PDS_DM_RDM, PDS_DM_COUNT };

/*
 * Claims of a data master that may wait on a core at the same time: of the PDM one for each tile in
 * flight, of others one.
 */
#define PDS_WAITERS PDS_OUTPUT_PIECES

/* Local memory is allocated in rows of one word of each of its 32 banks. */
#define PDS_LOCAL_ROW_BYTES (PUMICE_LANES * 4u)

/* Resources of an empty USC. */
struct pds_capacity {
	u32 managed;	/* tasks, at least as many as slots, at most PUMICE_USC_TASKS */
	u32 tasks;	/* slots, at most PUMICE_USC_SLOTS */
	u32 waves;	/* that can be in flight */
	u32 rows;	/* unified store */
	u32 words;	/* common store */
	u32 local_rows;	/* local memory */
	bool partition;	/* pixel outputs are in the unified store, not in the common store */
};

/*
 * Needs of one work-group, equal for all groups of a launch; or of one task of the VDM, PDM or
 * RDM, which is a group of its own.
 */
struct pds_need {
	u8 dm;		/* enum pds_dm */
	u8 on;		/* 1 + the USC of a core that alone may run it, or 0 */
	u8 waiter;	/* of the data master on the core; less than PDS_WAITERS */
	u32 instances;	/* of the group, 0 to PUMICE_GROUP_INSTANCES */
	u32 waves;	/* of all its tasks */
	u32 tasks;	/* 1 to PUMICE_GROUP_TASKS */
	u32 wave_rows;	/* unified store rows of one wave */
	u32 words;	/* common store words of one task */
	u32 local_rows;
	u32 vpm_rows;	/* of the core's VPM */
};

/* Limits of a data master's share of a USC; UINT32_MAX: no limit. */
struct pds_limits {
	u32 tasks, rows, words, local_rows;
};

/* Resources of one work-group. */
struct pds_claim {
	bool in_slots;	/* the group has slots: it runs, or has run */
	bool ended;	/* the group has ended; the claim waits to be released in order */
	u64 order;	/* claims of a USC are numbered in order of allocation */
	u64 ready;	/* number in the order in which groups became ready for slots; 0: it is not
			 * filled, or has slots */
	struct pds_need need;
	u8 released;	/* bit n: task n has ended before its group, and has no resources */
	u8 entry[PUMICE_GROUP_TASKS];	/* of each task, among those that the USC manages */
	u8 slot[PUMICE_GROUP_TASKS];	/* valid if in_slots */
	u32 row[PUMICE_GROUP_TASKS];	/* first row of each task */
	u32 word[PUMICE_GROUP_TASKS];	/* first common store word of each task */
	u32 local_row;
};

/* A data master's share of a USC; pixel outputs are in the PDM's. */
struct pds_share {
	u32 groups, tasks, rows, words, local_rows;
};

/* Ready groups of one data master, in the order in which they became ready: first to end - 1. */
struct pds_queue {
	u32 first, end;		/* modulo the number of entries */
	u8 group[PUMICE_USC_TASKS];
};

/* Accounts of one USC. Plain data. */
struct pds_unit {
	u64 entries;	/* bit n: entry n is in use */
	u64 slots;	/* bit n: slot n is in use */
	u64 live;	/* bit n: claim n is: its group has resources */
	u64 claims;	/* total so far */
	u64 readied;	/* groups that became ready so far */
	struct pds_queue ready[PDS_DM_COUNT];
	u32 managed;	/* tasks: entries in use */
	u32 waiting;	/* of these, tasks of ready groups, which wait for slots */
	u32 tasks;	/* slots in use */
	u32 held;	/* of these, tasks of groups that have ended */
	u32 waves;	/* of groups that have not ended */
	u32 in_flight;	/* of these, waves of groups that have slots */
	u32 max_managed, max_tasks, max_waves;	/* the USC's */
	struct pds_store unified;	/* rows */
	struct pds_store common;	/* words */
	struct pds_store local;		/* rows */
	bool partition;			/* store of the pixel outputs: the unified one */
	u32 output_units;		/* of all pieces: rows or words of that store */
	struct pds_extent output[PDS_OUTPUT_PIECES];	/* pieces; count 0: none */
	struct pds_share share[PDS_DM_COUNT];
	struct pds_claim claim[PUMICE_USC_TASKS];	/* by group number */
};

/* Return the number of instances, of waves, of task number task of a group. */
u32 pds_task_instances(const struct pds_need *need, u32 task);
u32 pds_task_waves(const struct pds_need *need, u32 task);

/*
 * Compute the needs of a work-group of this state. The state's work-group has at most
 * PUMICE_GROUP_INSTANCES instances.
 */
void pds_need_of(const struct pumice_cdm_state *state, struct pds_need *need);

/*
 * Compute the needs of a task of a stage on its USC; prims is 1 except for the PDM. Rows of the VPM
 * are the caller's to add.
 */
void pds_need_of_stage(const struct pumice_stage *stage, enum pds_dm dm, u32 instances, u32 prims,
		       struct pds_need *need);

/* Return whether a group fits on an empty USC. */
bool pds_need_fits(const struct pds_need *need, const struct pds_capacity *capacity);

void pds_unit_init(struct pds_unit *unit, const struct pds_capacity *capacity);

/*
 * Allocate all needs of a group but slots; *group becomes its number. Returns false without a
 * change when a resource is not available now or would exceed its data master's limits. The limits
 * do not apply to a USC on which the data master has no resources.
 */
bool pds_unit_claim(struct pds_unit *unit, const struct pds_need *need,
		    const struct pds_limits *limits, unsigned int *group);

/*
 * Return whether a data master's limits permit a claim. Those of the PDM do not count the largest
 * piece of pixel outputs, or a tile that needs most of them would run one task at a time.
 */
bool pds_unit_permits(const struct pds_unit *unit, const struct pds_need *need,
		      const struct pds_limits *limits);

/*
 * Return whether other data masters hold the USC: if they had slots for all tasks that are managed
 * for them, too few would remain for a need. The first function is for one with tasks of others.
 */
bool pds_unit_is_held_by_others(const struct pds_unit *unit, const struct pds_need *need);
static inline bool pds_unit_is_held(const struct pds_unit *unit, const struct pds_need *need)
{
	return unit->managed != unit->share[need->dm].tasks &&
	       pds_unit_is_held_by_others(unit, need);
}

/*
 * Return whether it has a task that is not ready: its registers are being filled, or it has no
 * instances and waits for those before it.
 */
bool pds_unit_is_filling(const struct pds_unit *unit);

/* A group is filled: it may get slots. */
void pds_unit_ready(struct pds_unit *unit, unsigned int group);

/*
 * Find the group that became ready first, of the data masters in a set (bit n: number n). Returns
 * false when there is none.
 */
bool pds_unit_first_ready(const struct pds_unit *unit, u32 set, unsigned int *group);

/* Give slots to a ready group. Returns false without a change when too few are free. */
bool pds_unit_run(struct pds_unit *unit, unsigned int group);

/* A ready group does not wait for slots any longer, and will end without. */
void pds_unit_cancel(struct pds_unit *unit, unsigned int group);

/*
 * Return whether a need fits on a USC that has its pixel outputs and no tasks: if not,
 * no end of a task makes room for it.
 */
bool pds_unit_could_fit(const struct pds_unit *unit, const struct pds_need *need);

/*
 * Allocate units of the store of pixel outputs for a tile, after the units that are reserved for
 * tasks; *piece becomes its number. Results as those of pds_unit_claim(); the limits do not apply
 * to a USC without pixel outputs.
 */
bool pds_unit_claim_outputs(struct pds_unit *unit, u32 units, u32 reserve,
			    const struct pds_limits *limits, u32 *piece);

/* Return whether it would succeed if all tasks had ended. */
bool pds_unit_could_fit_outputs(const struct pds_unit *unit, u32 units, u32 reserve,
				const struct pds_limits *limits);

/* Free a piece. */
void pds_unit_free_outputs(struct pds_unit *unit, u32 piece);

/* Tasks and waves of a claim that were not released before. */
u32 pds_claim_tasks(const struct pds_claim *claim);
u32 pds_claim_waves(const struct pds_claim *claim);

/* Free the resources of one task of a live group that has slots and has not ended. */
void pds_unit_release_task(struct pds_unit *unit, unsigned int group, u32 task);

/* Mark a live group as ended: its waves are released, its other resources are still allocated. */
void pds_unit_end(struct pds_unit *unit, unsigned int group);

/*
 * Find the next ended work-group of the CDM to release: any, or if in_order only the one that
 * was claimed before all live ones. Returns false when there is none. Tasks of other data
 * masters are released at once. A group without instances does not precede others: it may wait for
 * a slot that one of them holds.
 */
bool pds_unit_next(const struct pds_unit *unit, bool in_order, unsigned int *group);

/* Free all resources of an ended group. */
void pds_unit_release(struct pds_unit *unit, unsigned int group);

#endif
