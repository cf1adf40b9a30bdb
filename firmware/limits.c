// SPDX-License-Identifier: MIT
/*
 * Limits of the PDS by data master and load (document 000, "Programmable Data Sequencer": controls
 * of the allocation for each data master). The load is the number of data masters that have jobs.
 * One that is alone uses all of each USC; where two have jobs, each is limited to its share of
 * every USC, where three have, to two thirds of that, where all four have, to half. A share is at
 * most three quarters by default, so that of two data masters one leaves the other a quarter at
 * least, and next to the largest pixel outputs on a USC a quarter of the rest; of three, two leave
 * the last one a sixth, and of four, three leave it an eighth. All together may use all.
 *
 * While several virtual GPUs are connected the load is always that of all four: resources of the
 * job of one cannot be taken back when that of another starts on a data master that was idle.
 *
 * The limit of tasks is a share of the slots. The PDS compares it with the tasks that a USC manages
 * for the data master, those without slots too: so it has at most that share of the slots, and the
 * entries beyond the slots are left to others.
 *
 * A register is written only if its value changes: each write makes the PDS compare all waiting
 * tasks with the limits again.
 *
 * The host selects the policy of the data master selector (DMS), by which data masters wait for
 * each other. While several virtual GPUs are connected, round robin replaces the default: with a
 * fixed order, short tasks of one could keep large ones of another waiting for ever.
 */
#include "boot.h"
#include "bus.h"
#include "limits.h"
#include "os.h"

#define MASTERS		FWIF_DM_COUNT	/* of these the TDM has no tasks */
#define SHARE_ONE	256u
#define SHARE_NO_LIMIT	255u
#define KIB		1024u
#define ALONE		1u	/* load without limits */
#define PAIR		2u	/* load for which the shares are specified */
#define ALL		4u	/* load of all data masters with tasks */

enum { TASKS, UNIFIED, COMMON, LOCAL, RESOURCES };

static const u16 limit_reg[MASTERS][RESOURCES] = {
	[FWIF_DM_CDM] = { PUMICE_PDS_CDM_TASKS, PUMICE_PDS_CDM_UNIFIED, PUMICE_PDS_CDM_COMMON,
			  PUMICE_PDS_CDM_LOCAL },
	[FWIF_DM_VDM] = { PUMICE_PDS_VDM_TASKS, PUMICE_PDS_VDM_UNIFIED, PUMICE_PDS_VDM_COMMON },
	[FWIF_DM_PDM] = { PUMICE_PDS_PDM_TASKS, PUMICE_PDS_PDM_UNIFIED, PUMICE_PDS_PDM_COMMON },
	[FWIF_DM_RDM] = { PUMICE_PDS_RDM_TASKS, PUMICE_PDS_RDM_UNIFIED, PUMICE_PDS_RDM_COMMON },
};

static const u8 default_share[MASTERS] = {
	[FWIF_DM_CDM] = FWIF_PDS_SHARE_CDM,
	[FWIF_DM_VDM] = FWIF_PDS_SHARE_VDM,
	[FWIF_DM_PDM] = FWIF_PDS_SHARE_PDM,
	[FWIF_DM_RDM] = FWIF_PDS_SHARE_RDM,
};

static u32 size[RESOURCES];	/* of one USC: slots (not managed tasks), and bytes of the stores */
static u32 written[MASTERS][RESOURCES];		/* values of the registers */

static u32 policy;				/* the same, of DMS_POLICY */

/* Limits depend on no more than this. */
static struct {
	u32 load;		/* number of data masters that have jobs, at least ALONE */
	u32 shares;		/* if not ALONE: those requested by the host */
} limited = { .load = ALONE };

/* Return whether there is such a limit: the TDM has none, and an older device has no RDM. */
static bool has_limit(u32 dm, u32 resource)
{
	return limit_reg[dm][resource] &&
	       (dm != FWIF_DM_RDM || boot_device_minor() >= FWIF_RDM_SINCE_MAP);
}

void limits_init(void)
{
	u32 stores = reg_read(PUMICE_SYS_STORES), dm, resource;

	size[TASKS] = PUMICE_FIELD_GET(PUMICE_SYS_CONFIG__SLOTS, reg_read(PUMICE_SYS_CONFIG));
	size[UNIFIED] = PUMICE_FIELD_GET(PUMICE_SYS_STORES__UNIFIED_KIB, stores) * KIB;
	size[COMMON] = PUMICE_FIELD_GET(PUMICE_SYS_STORES__COMMON_KIB, stores) * KIB;
	size[LOCAL] = PUMICE_FIELD_GET(PUMICE_SYS_STORES__LOCAL_KIB, stores) * KIB;
	/* A firmware that ran before may have left others. */
	for (dm = 0; dm < MASTERS; dm++)
		for (resource = 0; resource < RESOURCES; resource++)
			if (has_limit(dm, resource))
				reg_write(limit_reg[dm][resource], 0);
	if (boot_device_minor() >= FWIF_DMS_POLICY_SINCE_MAP)
		reg_write(PUMICE_PDS_DMS_POLICY, 0);
}

/* Return whether more than one virtual GPU is connected. */
static bool shared_by_several(void)
{
	u32 os;

	for (os = 1; os < os_count(); os++)
		if (os_connected(os))
			return true;
	return false;
}

static void update_policy(void)
{
	u32 requested = os_config()->dms_policy;

	if (!pumice_dms_policy_valid(requested))
		requested = 0;
	if (requested == PUMICE_DMS_POLICY_GRAPHICS && shared_by_several())
		requested = PUMICE_DMS_POLICY_ROUND_ROBIN;
	if (requested == policy || boot_device_minor() < FWIF_DMS_POLICY_SINCE_MAP)
		return;
	policy = requested;
	reg_write(PUMICE_PDS_DMS_POLICY,
		  PUMICE_FIELD_PREP(PUMICE_PDS_DMS_POLICY__POLICY, policy));
}

/* Return the share of a data master that is not alone: of those requested, or the default. */
static u32 share_of(u32 dm, u32 shares)
{
	u32 byte = dm == FWIF_DM_RDM ? FWIF_PDS_SHARE_BYTE_RDM : dm;
	u32 share = shares >> byte * 8 & 0xff;

	return share ? share : default_share[dm];
}

/*
 * Return the number of data masters with tasks that have a job, or ALONE if none has; ALL if
 * several virtual GPUs are connected.
 */
static u32 load_of(u32 masters)
{
	u32 load = 0;

	if (shared_by_several())
		return ALL;
	for (masters &= ~(1u << FWIF_DM_TDM); masters; masters &= masters - 1)
		load++;
	return load ? load : ALONE;
}

static u32 limit_of(u32 resource, u32 share, u32 load)
{
	u32 limit = size[resource] * (share * PAIR / load) / SHARE_ONE;

	/* 0 would be no limit. */
	return limit ? limit : 1;
}

static void set(u32 dm, u32 resource, u32 limit)
{
	if (written[dm][resource] == limit || !has_limit(dm, resource))
		return;
	written[dm][resource] = limit;
	reg_write(limit_reg[dm][resource], limit);
}

void limits_update(u32 masters)
{
	u32 load = load_of(masters), shares = os_config()->pds_shares;
	u32 dm, resource;

	update_policy();
	/* The usual case: jobs of one data master start and end. */
	if (load == limited.load && (load == ALONE || shares == limited.shares))
		return;
	limited.load = load;
	limited.shares = shares;
	for (dm = 0; dm < MASTERS; dm++) {
		u32 share = share_of(dm, shares);

		for (resource = 0; resource < RESOURCES; resource++)
			set(dm, resource, load == ALONE || share == SHARE_NO_LIMIT ? 0 :
			    limit_of(resource, share, load));
	}
}
