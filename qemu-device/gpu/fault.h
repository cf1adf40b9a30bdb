/* SPDX-License-Identifier: MIT */
/*
 * A fault: the reason to stop a job, and its position. The reasons are those of
 * hw/registers.xml, enum fault; the device, the firmware, the driver and the library use the
 * same names.
 */
#ifndef PUMICE_GPU_FAULT_H
#define PUMICE_GPU_FAULT_H

#include <stdbool.h>

#include "pumice_regs.h"
#include "pumice_types.h"

struct gpu_fault {
	u8 fault;	/* enum pumice_fault */
	u8 unit;	/* enum pumice_unit */
	u8 access;	/* enum pumice_access, of MMU faults */
	u8 ctx;		/* MMU context of the request */
	u8 index;	/* number of the unit over all cores, see FAULT_INFO */
	u16 usc;	/* USC number over all cores, for USC faults */
	u32 pc;		/* instruction index in the USC or PDS program */
	u64 addr;	/* GPU virtual address, see CDM_FAULT_ADDR */
	u64 code;	/* GPU virtual address of the USC program; 0 if the fault is not in one */

	/* See FAULT_WAVE. */
	bool wave_known, lane_known, group_known;
	u8 lane, wave, slot;
	u16 instance;
	u32 lanes;
	u32 group[3];
};

/* Register FAULT_WAVE of any data master: the CDM's layout is that of all. */
static inline u64 fault_wave(const struct gpu_fault *f)
{
	return PUMICE_FIELD_PREP(PUMICE_CDM_FAULT_WAVE__LANE, (u64)f->lane) |
	       PUMICE_FIELD_PREP(PUMICE_CDM_FAULT_WAVE__WAVE_KNOWN, (u64)f->wave_known) |
	       PUMICE_FIELD_PREP(PUMICE_CDM_FAULT_WAVE__LANE_KNOWN, (u64)f->lane_known) |
	       PUMICE_FIELD_PREP(PUMICE_CDM_FAULT_WAVE__GROUP_KNOWN, (u64)f->group_known) |
	       PUMICE_FIELD_PREP(PUMICE_CDM_FAULT_WAVE__WAVE, (u64)f->wave) |
	       PUMICE_FIELD_PREP(PUMICE_CDM_FAULT_WAVE__INSTANCE, (u64)f->instance) |
	       PUMICE_FIELD_PREP(PUMICE_CDM_FAULT_WAVE__SLOT, (u64)f->slot) |
	       PUMICE_FIELD_PREP(PUMICE_CDM_FAULT_WAVE__LANES, (u64)f->lanes);
}

/* Register FAULT_GROUP. */
static inline u64 fault_group(const struct gpu_fault *f)
{
	return PUMICE_FIELD_PREP(PUMICE_CDM_FAULT_GROUP__X, (u64)f->group[0]) |
	       PUMICE_FIELD_PREP(PUMICE_CDM_FAULT_GROUP__Y, (u64)f->group[1]);
}

#endif
