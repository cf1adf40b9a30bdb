// SPDX-License-Identifier: MIT
/* Data master selector of a core. See dms.h. */
#include "dms.h"

_Static_assert(PDS_WAITERS <= 8, "waiters are bits of a u8");

/* Bits of dms_waiting(). */
#define CDM	(1u << PDS_DM_CDM)
#define VDM	(1u << PDS_DM_VDM)
#define PDM	(1u << PDS_DM_PDM)
#define RDM	(1u << PDS_DM_RDM)

#define POOL	(PDM | RDM)	/* whose tasks have rows of the pool of the VPM: rows.c */

/*
 * For policies with fixed priorities: data masters that precede each one. The RDM has the priority
 * of the CDM.
 */
static const u8 higher[][PDS_DM_COUNT] = {
	[PUMICE_DMS_POLICY_GRAPHICS] = { [PDS_DM_CDM] = VDM | PDM, [PDS_DM_RDM] = VDM | PDM },
	[PUMICE_DMS_POLICY_CDM_VDM_PDM] = {
		[PDS_DM_VDM] = CDM | RDM, [PDS_DM_PDM] = CDM | RDM | VDM },
	[PUMICE_DMS_POLICY_CDM_PDM_VDM] = {
		[PDS_DM_PDM] = CDM | RDM, [PDS_DM_VDM] = CDM | RDM | PDM },
	[PUMICE_DMS_POLICY_VDM_CDM_PDM] = {
		[PDS_DM_CDM] = VDM, [PDS_DM_RDM] = VDM, [PDS_DM_PDM] = VDM | CDM | RDM },
	[PUMICE_DMS_POLICY_VDM_PDM_CDM] = {
		[PDS_DM_PDM] = VDM, [PDS_DM_CDM] = VDM | PDM, [PDS_DM_RDM] = VDM | PDM },
	[PUMICE_DMS_POLICY_PDM_CDM_VDM] = {
		[PDS_DM_CDM] = PDM, [PDS_DM_RDM] = PDM, [PDS_DM_VDM] = PDM | CDM | RDM },
	[PUMICE_DMS_POLICY_PDM_VDM_CDM] = {
		[PDS_DM_VDM] = PDM, [PDS_DM_CDM] = PDM | VDM, [PDS_DM_RDM] = PDM | VDM },
};

/* Data masters of the same priority as each one: these take turns. */
static const u8 equal[PDS_DM_COUNT] = { [PDS_DM_CDM] = RDM, [PDS_DM_RDM] = CDM };

void dms_reset(struct dms *dms)
{
	*dms = (struct dms){ .policy = dms->policy };
}

/* Return the data masters whose last claim was earlier than that of one. */
static u32 earlier(const struct dms *dms, enum pds_dm dm)
{
	u32 n, set = 0;

	for (n = 0; n < PDS_DM_COUNT; n++)
		set |= (u32)(dms->last[n] < dms->last[dm]) << n;
	return set;
}

/* Return the data masters that precede one while they wait. */
static u32 preceding(const struct dms *dms, enum pds_dm dm)
{
	if (dms->policy == PUMICE_DMS_POLICY_ROUND_ROBIN)
		return earlier(dms, dm);
	return higher[dms->policy][dm] | (equal[dm] & earlier(dms, dm));
}

bool dms_admits(const struct dms *dms, enum pds_dm dm)
{
	const u32 waiting = dms_waiting(dms) & ~(u32)dms->limited;
	const bool has_rows = POOL >> dm & 1;

	return !((has_rows ? waiting : waiting & ~(u32)dms->pooled) & preceding(dms, dm));
}

u8 dms_admitted(const struct dms *dms)
{
	const u32 waiting = dms_waiting(dms);
	unsigned int dm;
	u8 set = 0;

	for (dm = 0; waiting >> dm; dm++) {
		if (waiting >> dm & 1 && dms_admits(dms, (enum pds_dm)dm))
			set |= (u8)(1u << dm);
	}
	return set;
}

u8 dms_first(const struct dms *dms, u8 set)
{
	unsigned int dm;
	u8 first = 0;

	if (dms->policy == PUMICE_DMS_POLICY_ROUND_ROBIN)
		return set;
	for (dm = 0; dm < PDS_DM_COUNT; dm++)
		if (set >> dm & 1 && !(set & higher[dms->policy][dm]))
			first |= (u8)(1u << dm);
	return first;
}

/* Set a bit. Return false if it was set before. */
static bool enter(u8 *set, unsigned int bit)
{
	const u8 before = *set;

	*set |= (u8)(1u << bit);
	return *set != before;
}

bool dms_wait(struct dms *dms, enum pds_dm dm, unsigned int waiter)
{
	return enter(&dms->waiting[dm], waiter);
}

bool dms_wait_outputs(struct dms *dms, unsigned int tile)
{
	return enter(&dms->outputs, tile);
}

void dms_leave(struct dms *dms, enum pds_dm dm)
{
	dms->waiting[dm] = 0;
	if (dm == PDS_DM_PDM)
		dms->outputs = 0;
}

/* A data master has claimed: its wait, a bit of a set, has ended. */
static void claimed(struct dms *dms, enum pds_dm dm, u8 *set, unsigned int bit)
{
	*set &= (u8)~(1u << bit);
	dms->last[dm] = ++dms->claims;
}

void dms_claimed(struct dms *dms, enum pds_dm dm, unsigned int waiter)
{
	claimed(dms, dm, &dms->waiting[dm], waiter);
}

void dms_outputs_claimed(struct dms *dms, unsigned int tile)
{
	claimed(dms, PDS_DM_PDM, &dms->outputs, tile);
}
