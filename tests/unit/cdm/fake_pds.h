/* SPDX-License-Identifier: MIT */
/*
 * A fake PDS that records the calls of the CDM, for tests of the CDM alone.
 *
 * It implements pds.h. Groups run until the test ends them. A call that the
 * contract forbids (a group outside of a launch, a launch inside of one) fails
 * the test.
 */
#ifndef PUMICE_FAKE_PDS_H
#define PUMICE_FAKE_PDS_H

#include "../../../qemu-device/gpu/cdm/cdm.h"

#define FAKE_GROUPS 4096u	/* that are recorded */
#define FAKE_CORES	4u
#define FAKE_BATCH	8u	/* most groups of a claim */

struct fake_group {
	u32 id[3];
	u64 linear;
	unsigned int core;
	u32 launch;	/* number of its launch, from 1 */
	u16 size_x;	/* of the state */
	struct pumice_cdm_launch grid;
	bool sequences;	/* it has no instances */
};

struct fake_core {
	bool full;	/* set by the test: it has no room */
	u32 waves;	/* groups that were started; the test may change it */
	bool waits;	/* for room: an end notifies it */
	unsigned int leaves;	/* calls of pds_groups_leave() */
	u32 claimed, filled;
	struct fake_group group[FAKE_BATCH];	/* those that are filled */
};

struct pds {
	/* Set by the test. */
	unsigned int room;		/* groups that can run at a time */
	unsigned int cost;		/* pds_launch_cost() */
	u32 batch;			/* groups of a claim, at most FAKE_BATCH */
	enum pumice_fault begin_fault;	/* pds_launch_begin() refuses with this */
	u64 fault_linear;		/* faults at dispatch, with group_fault */
	enum pumice_fault group_fault;
	u32 load_pieces;		/* calls until a launch is loaded, from 1 on; 0: one */
	bool load_waits;		/* between them it waits for memory */
	u32 fill_pieces;		/* calls before the one that starts a group */
	/* Called while the device lock is dropped. */
	void (*during_load)(struct pds *pds);
	void (*during_fill)(struct pds *pds);
	void *during_opaque;

	/* Recorded calls. */
	bool in_launch;
	u32 launches, aborts, loads;
	u32 pieces_left, fills_left;
	u32 dropped;		/* groups */
	struct fake_core core[FAKE_CORES];
	struct pds_launch launch;	/* the last one */
	struct fake_group group[FAKE_GROUPS];
	u64 started;		/* groups */
	unsigned int running;	/* groups, */
	unsigned int pending;	/* of these without instances */
	u64 done;		/* groups with instances that have ended */

	const struct pds_ops *ops;
	void *opaque;
};

/* End one running group: one with instances if there is any. */
void fake_pds_finish(struct pds *pds);
/* End one without instances. */
void fake_pds_finish_task(struct pds *pds);
void fake_pds_finish_all(struct pds *pds);
/* A running group faults. */
void fake_pds_fault(struct pds *pds, enum pumice_fault reason);

#endif
