/* SPDX-License-Identifier: MIT */
/*
 * Commands of the compute control stream: fetched, checked, unpacked.
 *
 * Source: document 000, "Compute Workload"; hw/formats.xml, stream "cdm". Each word is read
 * from memory once; all further code uses the copy.
 */
#ifndef PUMICE_GPU_CDM_COMMAND_H
#define PUMICE_GPU_CDM_COMMAND_H

#include <stdbool.h>

#include "../dm/walk.h"
#include "../fault.h"
#include "../mmu/mmu.h"
#include "pumice_formats.h"


/* One validated command. */
struct cdm_command {
	u8 type;	/* enum pumice_cdm_type */
	u8 words;
	union {
		struct pumice_cdm_state state;
		struct pumice_cdm_launch launch;
		struct pumice_cdm_launch_indirect indirect;
		struct dm_control control;
	};
};

/*
 * Check and unpack one command; words has as many words as the first one indicates. Returns
 * PUMICE_FAULT_NONE with *out filled, or the reason.
 */
enum pumice_fault cdm_command_decode(const u32 *words, struct cdm_command *out);

/*
 * Fetch and decode the command at GPU virtual address addr. Returns false with all of *fault
 * filled in.
 */
bool cdm_command_fetch(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 addr,
		       struct cdm_command *out, struct gpu_fault *fault);

/*
 * Count the work-groups of a launch. Returns PUMICE_FAULT_NONE with *groups filled, or
 * PUMICE_FAULT_CDM_GRID when a count and its base, or the product of the counts, overflow.
 */
enum pumice_fault cdm_launch_groups(const struct pumice_cdm_launch *launch, u64 *groups);

#endif
