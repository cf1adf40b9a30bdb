/* SPDX-License-Identifier: MIT */
/*
 * Commands of the ray control stream: fetched, checked, unpacked.
 *
 * Source: hw/rdm.xml, stream "rdm". Each word is read from memory once; all further code uses the
 * copy.
 */
#ifndef PUMICE_GPU_RDM_COMMAND_H
#define PUMICE_GPU_RDM_COMMAND_H

#include <stdbool.h>

#include "../dm/walk.h"

/* Programs of a launch. */
enum rdm_kind { RDM_GENERATE, RDM_HIT, RDM_MISS, RDM_KINDS };

/* A validated STATE. */
struct rdm_programs {
	struct pumice_rdm_state state;
	struct pumice_stage stage[RDM_KINDS];	/* pds_insns is 0 if there is none */
};

/* One validated command. */
struct rdm_command {
	u8 type;	/* enum pumice_rdm_type */
	u8 words;
	union {
		struct rdm_programs programs;
		struct pumice_rdm_launch launch;
		struct dm_control control;
	};
};

/* Return the type of a control command, which both streams have. */
static inline enum pumice_cdm_type rdm_control_type(const struct rdm_command *command)
{
	return (enum pumice_cdm_type)command->type;
}

/*
 * Check and unpack one command; words has as many words as the first one indicates. Returns
 * PUMICE_FAULT_NONE with *out filled, or the reason.
 */
enum pumice_fault rdm_command_decode(const u32 *words, struct rdm_command *out);

/*
 * Fetch and decode the command at GPU virtual address addr. Returns false with all of *fault filled
 * in.
 */
bool rdm_command_fetch(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 addr,
		       struct rdm_command *out, struct gpu_fault *fault);

#endif
