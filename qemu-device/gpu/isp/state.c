// SPDX-License-Identifier: MIT
/*
 * ISP state: read once from memory, check, unpack.
 *
 * Source: hw/formats.xml, isp_state.
 */
#include "isp.h"

#include "../record.h"

static bool well_formed(const struct pumice_isp_state *s)
{
	return s->scissor_x1 <= PUMICE_MAX_RENDER_SIZE && s->scissor_y1 <= PUMICE_MAX_RENDER_SIZE &&
	       pumice_pass_type_valid(s->pass_type) && pumice_mask_test_valid(s->mask_test) &&
	       (!s->no_tag || s->pass_type == PUMICE_PASS_TYPE_OPAQUE);
}

static void convert(const struct pumice_isp_state *s, struct isp_state *out)
{
	*out = (struct isp_state){
		.pass_type = s->pass_type, .depth_func = s->depth_func,
		.depth_write = s->depth_write, .stencil = s->stencil,
		.depth_bias = s->depth_bias, .visibility = s->visibility,
		.visibility_id = s->visibility_id, .no_tag = s->no_tag,
		.x0 = s->scissor_x0, .x1 = s->scissor_x1,
		.y0 = s->scissor_y0, .y1 = s->scissor_y1,
		.sample_mask = s->sample_mask,
		.mask_test = s->mask_test, .mask_op = s->mask_op,
		.face[0] = { s->front_func, s->front_sfail, s->front_zfail, s->front_pass,
			     s->front_ref, s->front_mask, s->front_write },
		.face[1] = { s->back_func, s->back_sfail, s->back_zfail, s->back_pass,
			     s->back_ref, s->back_mask, s->back_write },
		.bias_constant = s->bias_constant,
		.bias_slope = s->bias_slope,
		.bias_clamp = s->bias_clamp,
	};
}

bool isp_state_load(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 addr,
		    struct isp_state *state, struct gpu_fault *fault)
{
	const struct gpu_record record = { mmu, tlb, ctx, addr, PUMICE_UNIT_ISP };
	u32 words[PUMICE_ISP_STATE_WORDS];
	struct pumice_isp_state raw;

	if (!gpu_record_read(&record, words, PUMICE_ISP_STATE_WORDS, fault))
		return false;
	if (pumice_isp_state_unpack(words, &raw) != PUMICE_UNPACK_OK || !well_formed(&raw))
		return gpu_record_refuse(&record, PUMICE_FAULT_ISP_STATE, fault);
	convert(&raw, state);
	return true;
}
