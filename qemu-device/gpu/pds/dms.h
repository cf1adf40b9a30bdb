/* SPDX-License-Identifier: MIT */
/*
 * Data master selector of a core: which data masters may claim room while others wait for it.
 *
 * Source: document 004, "DMS": it arbitrates between the data masters that share the PDS of a
 * core. The policies are ours; register DMS_POLICY selects one.
 *
 * Locking: that of the core's PDS.
 */
#ifndef PUMICE_GPU_PDS_DMS_H
#define PUMICE_GPU_PDS_DMS_H

#include "pumice_regs.h"
#include "resource.h"

struct dms {
	enum pumice_dms_policy policy;
	u8 waiting[PDS_DM_COUNT];	/* of each data master: bit n: its
					 * waiter n found no room for
					 * a task */
	u8 outputs;			/* bit n: tile n of the PDM found no room for its outputs */
	u8 limited;			/* of those that wait, those that only their own limits
					 * or the pixel outputs of tiles exclude: they cannot
					 * use the room, so they precede no other */
	u8 pooled;			/* of those that wait, those that only rows of the pool
					 * exclude, which others have: they precede none that has
					 * no such rows */
	u64 claims;			/* of all data masters, */
	u64 last[PDS_DM_COUNT];		/* and their number at the last one of each */
};

/* Reset the waits and the order of claims; the policy remains. */
void dms_reset(struct dms *dms);
/* Return whether a data master may claim room, if there is any. */
bool dms_admits(const struct dms *dms, enum pds_dm dm);
/* Return the data masters that wait and may claim room: bit n is data master n. */
u8 dms_admitted(const struct dms *dms);
/*
 * Of some data masters whose tasks wait for slots, return those that no other one of these
 * precedes, as sets. Round robin has no precedence here: it applies to claims.
 */
u8 dms_first(const struct dms *dms, u8 set);
/* Return the data masters that wait: bit n is data master n. */
static inline u8 dms_waiting(const struct dms *dms)
{
	u8 set = (u8)((dms->outputs != 0) << PDS_DM_PDM);
	unsigned int dm;

	for (dm = 0; dm < PDS_DM_COUNT; dm++)
		set |= (u8)((dms->waiting[dm] != 0) << dm);
	return set;
}

/* Return whether no other data master waits for tasks, and no tile for outputs: the usual case. */
static inline bool dms_is_alone(const struct dms *dms, enum pds_dm dm)
{
	u8 others = dms->outputs;
	unsigned int n;

	for (n = 0; n < PDS_DM_COUNT; n++)
		others |= n == dm ? 0 : dms->waiting[n];
	return !others;
}

/*
 * Record that a waiter of a data master waits for room for a task. Return false if it was recorded
 * before.
 */
bool dms_wait(struct dms *dms, enum pds_dm dm, unsigned int waiter);
/* The same for room for the outputs of a tile of the PDM. */
bool dms_wait_outputs(struct dms *dms, unsigned int tile);
/* Record that a data master no longer waits. */
void dms_leave(struct dms *dms, enum pds_dm dm);
/* The same for a waiter that has claimed room for a task; others of its data master still wait. */
void dms_claimed(struct dms *dms, enum pds_dm dm, unsigned int waiter);
/* The same for a tile that has claimed room for its outputs. */
void dms_outputs_claimed(struct dms *dms, unsigned int tile);

#endif
