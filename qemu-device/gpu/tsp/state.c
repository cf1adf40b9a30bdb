// SPDX-License-Identifier: MIT
/*
 * TSP state: read once from memory, check, unpack.
 *
 * Source: hw/formats.xml, tsp_state. Every object has a fragment program, which may be empty.
 */
#include "tsp.h"

#include "../record.h"

bool tsp_state_load(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 addr,
		    struct tsp_state *state, struct gpu_fault *fault)
{
	const struct gpu_record record = { mmu, tlb, ctx, addr, PUMICE_UNIT_TSP };
	u32 words[PUMICE_TSP_STATE_WORDS];
	struct pumice_tsp_state raw;

	if (!gpu_record_read(&record, words, PUMICE_TSP_STATE_WORDS, fault))
		return false;
	if (pumice_tsp_state_unpack(words, &raw) != PUMICE_UNPACK_OK ||
	    pumice_stage_unpack(raw.fragment, &state->fragment) != PUMICE_UNPACK_OK ||
	    !state->fragment.pds_insns || raw.varyings > PUMICE_MAX_VARYINGS ||
	    raw.uniform_words > PUMICE_USC_MAX_UNIFORMS ||
	    (raw.point_coord && raw.point_varying + 1u >= raw.varyings))
		return gpu_record_refuse(&record, PUMICE_FAULT_TSP_STATE, fault);
	state->varyings = raw.varyings;
	state->sample_rate = raw.sample_rate;
	state->flat = raw.flat;
	state->linear = raw.linear;
	state->point_coord = raw.point_coord;
	state->point_lower_left = raw.point_origin == PUMICE_POINT_ORIGIN_LOWER_LEFT;
	state->point_varying = raw.point_varying;
	state->uniforms = raw.uniforms;
	state->uniform_words = raw.uniform_words;
	return true;
}
