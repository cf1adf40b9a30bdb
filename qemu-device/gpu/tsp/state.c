// SPDX-License-Identifier: MIT
/*
 * TSP state: read from memory once, checked, unpacked.
 *
 * Source: hw/formats.xml, tsp_state. Every object has a fragment program, if only
 * an empty one.
 */
#include "tsp.h"

bool tsp_state_load(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 addr,
		    struct tsp_state *state, struct gpu_fault *fault)
{
	u32 words[PUMICE_TSP_STATE_WORDS];
	struct pumice_tsp_state raw;

	*fault = (struct gpu_fault){ .ctx = (u8)ctx };
	if (!mmu_read(mmu, tlb, ctx, addr, words, sizeof(words), PUMICE_ACCESS_READ,
		      PUMICE_UNIT_TSP, fault))
		return false;
	if (pumice_tsp_state_unpack(words, &raw) != PUMICE_UNPACK_OK ||
	    pumice_stage_unpack(raw.fragment, &state->fragment) != PUMICE_UNPACK_OK ||
	    !state->fragment.pds_insns || raw.varyings > PUMICE_MAX_VARYINGS) {
		*fault = (struct gpu_fault){ .fault = PUMICE_FAULT_TSP_STATE,
					     .unit = PUMICE_UNIT_TSP, .ctx = (u8)ctx,
					     .addr = addr };
		return false;
	}
	state->varyings = raw.varyings;
	state->sample_rate = raw.sample_rate;
	state->flat = raw.flat;
	state->linear = raw.linear;
	return true;
}
