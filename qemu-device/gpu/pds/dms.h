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
	u8 waiting;			/* bit n: data master n found no room */
	u8 limited;			/* of these, those that only their own limits keep out: the
					 * room is not for them, so they precede no other */
	u64 claims;			/* of all data masters, */
	u64 last[PDS_DM_COUNT];		/* and their number at the last one of each */
};

/* Forget who waits and who claimed; the policy remains. */
void dms_reset(struct dms *dms);
/* Return whether a data master may claim room, if there is any. */
bool dms_admits(const struct dms *dms, enum pds_dm dm);
/* Return the data masters that wait and may claim room: bit n is data master n. */
u8 dms_admitted(const struct dms *dms);
/* A data master waits for room. Returns false when it has waited before. */
bool dms_wait(struct dms *dms, enum pds_dm dm);
/* A data master does not wait any more. Returns those that may claim room because of it. */
u8 dms_leave(struct dms *dms, enum pds_dm dm);
/* The same: it has claimed room. */
u8 dms_claimed(struct dms *dms, enum pds_dm dm);

#endif
