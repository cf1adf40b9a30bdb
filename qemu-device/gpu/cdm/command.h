/* SPDX-License-Identifier: MIT */
/*
 * Commands of the compute control stream: fetched, checked, unpacked.
 *
 * Source: document 000, "Compute Workload"; hw/formats.xml, stream "cdm". Each
 * word is read from memory once; everything after works on the copy.
 */
#ifndef PUMICE_GPU_CDM_COMMAND_H
#define PUMICE_GPU_CDM_COMMAND_H

#include <stdbool.h>

#include "../fault.h"
#include "../mmu/mmu.h"
#include "pumice_formats.h"

#define CDM_MAX_WORDS 7u	/* of the longest command */

/* One command, checked. */
struct cdm_command {
	u8 type;	/* enum pumice_cdm_type */
	u8 words;
	union {
		struct pumice_cdm_state state;
		struct pumice_cdm_launch launch;
		struct pumice_cdm_call call;
		struct pumice_cdm_launch_indirect indirect;
		struct pumice_cdm_link link;
		struct pumice_cdm_timestamp timestamp;
		struct pumice_cdm_marker marker;
	};
};

/* What kind of command a first word is of, enum pumice_cdm_type if there is such. */
u32 cdm_command_type(u32 first);

/* Words of the command whose first word this is; 0 when there is no such command. */
u32 cdm_command_words(u32 first);

/*
 * Check and unpack one command from its words, of which there are as many as
 * its first word says. Returns PUMICE_FAULT_NONE with *out filled, or the
 * reason.
 */
enum pumice_fault cdm_command_decode(const u32 *words, struct cdm_command *out);

/*
 * Fetch and decode the command at GPU virtual address addr. False with *fault
 * filled in wholly.
 */
bool cdm_command_fetch(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 addr,
		       struct cdm_command *out, struct gpu_fault *fault);

/*
 * Work-groups of a launch. Returns PUMICE_FAULT_NONE with *groups filled, or
 * PUMICE_FAULT_CDM_GRID when a count and its base, or the product of the
 * counts, overflow.
 */
enum pumice_fault cdm_launch_groups(const struct pumice_cdm_launch *launch, u64 *groups);

#endif
