// SPDX-License-Identifier: MIT
/*
 * PDS: stages (programs) of the vertex and the pixel data master.
 *
 * Source: document 004, "PDS"; hw/formats.xml, stage.
 */
#include <string.h>

#include "fill.h"
#include "state.h"

/* Return whether the vertex pipe memory has room for outputs of some instances. */
static bool outputs_fit(const struct pds *pds, const struct pds_stage_limits *limits)
{
	if (limits->deferred || limits->stage == USC_STAGE_RAYS)
		return pds_pool_instances(pds, limits->vo);
	return limits->stage != USC_STAGE_VERTEX ||
	       pds_piece_limits(pds, limits->vo + limits->positions).vertices;
}

/*
 * Return whether the stage's resources are within limits, a full task fits on a USC with the pixel
 * outputs of its tile, and some vertices have room for their outputs.
 */
static bool resources_suffice(const struct pds *pds, const struct pumice_stage *state,
			      const struct pds_stage_limits *limits)
{
	const struct pds_capacity capacity = pds_capacity_for_tile(pds, limits->tile_words);
	struct pds_need need;

	if (state->temps > PUMICE_USC_MAX_TEMPS || state->attrs > PUMICE_USC_MAX_ATTRS ||
	    state->shared > PUMICE_USC_MAX_SHARED || state->coeffs > PUMICE_PRIM_COEFFS ||
	    state->coeffs_alt > PUMICE_USC_MAX_COEFFS_ALT)
		return false;
	if (!outputs_fit(pds, limits))
		return false;
	pds_need_of_stage(state, PDS_DM_PDM, pds->config.batch, 1, &need);
	return pds_need_fits(&need, &capacity);
}

static struct usc_program_limits code_limits(const struct pds *pds,
					     const struct pumice_stage *state,
					     const struct pds_stage_limits *limits)
{
	return (struct usc_program_limits){
		.temps = state->temps, .attrs = state->attrs, .shared = state->shared,
		.coeffs = state->coeffs, .coeffs_alt = state->coeffs_alt,
		.slot_regs = pds->config.slot_regs,
		.stage = limits->deferred ? USC_STAGE_DEFERRED : limits->stage,
		.vo = limits->vo, .outputs = limits->outputs,
	};
}

/* Do the part of the load that is not divided: check the resources, load the PDS program. */
static bool begin(struct pds *pds, struct mmu_tlb *tlb, unsigned int ctx,
		  const struct pumice_stage *state, const struct pds_stage_limits *limits,
		  struct pds_stage *out, struct gpu_fault *fault)
{
	const struct pds_program_limits program = {
		.shared = state->shared, .coeffs = state->coeffs, .attrs = state->attrs,
		.coeffs_alt = state->coeffs_alt,
		.instances = pds->config.batch, .stage = limits->stage,
		.varyings = limits->varyings,
		.attribute = limits->attribute, .attributes = limits->attributes,
	};

	pds_stage_clear(out);
	if (!resources_suffice(pds, state, limits)) {
		*fault = (struct gpu_fault){
			.fault = PUMICE_FAULT_PDS_RESOURCE, .unit = PUMICE_UNIT_PDS,
			.ctx = (u8)ctx, .addr = state->pds_addr,
		};
		return false;
	}
	out->state = *state;
	return pds_program_load(&out->program, pds->config.mmu, tlb, ctx, state->pds_addr,
				state->pds_insns, &program, fault);
}

enum pds_load_result pds_stage_load(struct pds *pds, struct mmu_tlb *tlb, unsigned int ctx,
				    const struct pumice_stage *state,
				    const struct pds_stage_limits *limits, struct pds_stage *out,
				    struct gpu_fault *fault)
{
	const struct pumice_pds_insn *task;
	struct usc_program_limits code;
	enum pds_load_result result;

	if (!out->load && !begin(pds, tlb, ctx, state, limits, out, fault))
		return PDS_LOAD_FAULT;
	/* Of the state that was checked, also if the caller has read it again since. */
	code = code_limits(pds, &out->state, limits);
	task = &out->program.insn[out->program.task];
	*fault = (struct gpu_fault){ 0 };
	result = pds_load_result_of(usc_program_load(pds->config.programs, pds->config.mmu, tlb,
						     ctx, task->addr, task->insns, &code,
						     &out->load, &out->code, fault));
	if (result != PDS_LOADED)
		return result;
	out->stage = limits->stage;
	out->tile_words = limits->tile_words;
	out->vo_words = limits->vo;
	out->ctx = ctx;
	out->code_addr = task->addr;
	return PDS_LOADED;
}

void pds_stage_drop(struct pds *pds, struct pds_stage *stage)
{
	usc_load_drop(pds->config.programs, stage->load);
	stage->load = NULL;
	if (stage->code)
		usc_program_put(pds->config.programs, stage->code);
	stage->code = NULL;
}

bool pds_fill_piece(struct pds *pds, const struct pds_place *place, const struct pds_stage *stage,
		    bool (*run)(struct pds_fill *fill, const void *in,
				const struct pumice_pds_insn *insn, struct gpu_fault *fault),
		    const void *in, u32 count, struct mmu_tlb *tlb, u32 *pc,
		    struct gpu_fault *fault)
{
	struct usc *usc = pds->config.usc[place->usc];
	struct pds_fill fill = {
		.usc = usc, .task = pds_task_of(pds, place, 0), .mmu = pds->config.mmu,
		.tlb = tlb, .ctx = stage->ctx,
	};
	bool ok = true;
	u32 written = 0;

	tlb->usc = place->usc;
	if (!*pc)
		pds_fill_zero(&fill);
	for (; ok && *pc < stage->program.insns && pds_piece_continues(&fill, written); ++*pc) {
		const struct pumice_pds_insn *insn = &stage->program.insn[*pc];

		*fault = (struct gpu_fault){ .pc = *pc };
		ok = run(&fill, in, insn, fault);
		written += pds_insn_words(insn, count);
	}
	pds_count_dma(pds, place->usc, fill.dma_bytes);
	return ok;
}
