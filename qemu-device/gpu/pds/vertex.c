// SPDX-License-Identifier: MIT
/*
 * PDS: fill the registers of a vertex task.
 *
 * Source: document 004, "PDS"; hw/isa.xml, isa "pds".
 */
#include "attr.h"
#include "state.h"

/* Execute mov of the vertex or instance number, for every instance. */
static void run_mov(const struct pds_fill *fill, const struct pds_vertices *in,
		    const struct pumice_pds_insn *insn)
{
	u32 wave, lane;

	for (wave = 0; wave < fill->task->waves; wave++) {
		u32 *row = usc_attr(fill->usc, fill->task, wave, insn->reg);

		for (lane = 0; lane < pds_wave_lanes(fill->task, wave); lane++)
			row[lane] = insn->source == PUMICE_PDS_SOURCE_VERTEX ?
				    in->vertex[wave * PUMICE_LANES + lane] : in->instance;
	}
}

/* Fetch an attribute that is equal for all vertices of an instance. */
static bool attr_of_instance(struct pds_fill *fill, const struct pds_vertices *in,
			     const struct pumice_pds_insn *insn, struct gpu_fault *fault)
{
	const u32 index = in->base_instance + (in->instance - in->base_instance) / insn->divisor;
	u32 value[PUMICE_LANES * 4];
	u32 wave, comp, lane;

	if (!pds_attr_wave(fill, insn, &index, 1, value, fault))
		return false;
	for (wave = 0; wave < fill->task->waves; wave++) {
		u32 *rows = usc_attr(fill->usc, fill->task, wave, insn->reg);

		for (comp = 0; comp < 4; comp++) {
			for (lane = 0; lane < pds_wave_lanes(fill->task, wave); lane++)
				rows[comp * USC_ROW_WORDS + lane] = value[comp * PUMICE_LANES];
		}
	}
	return true;
}

static bool run_attr(struct pds_fill *fill, const struct pds_vertices *in,
		     const struct pumice_pds_insn *insn, struct gpu_fault *fault)
{
	u32 wave;

	if (insn->divisor)
		return attr_of_instance(fill, in, insn, fault);
	for (wave = 0; wave < fill->task->waves; wave++) {
		if (!pds_attr_wave(fill, insn, in->vertex + wave * PUMICE_LANES,
				   pds_wave_lanes(fill->task, wave),
				   usc_attr(fill->usc, fill->task, wave, insn->reg), fault))
			return false;
	}
	return true;
}

static bool run(struct pds_fill *fill, const void *in,
		const struct pumice_pds_insn *insn, struct gpu_fault *fault)
{
	switch ((enum pumice_pds_op)insn->opcode) {
	case PUMICE_PDS_OP_LDI:
		pds_fill_value(fill, insn, insn->imm);
		return true;
	case PUMICE_PDS_OP_MOV:
		run_mov(fill, in, insn);
		return true;
	case PUMICE_PDS_OP_DMA:
		return pds_fill_dma(fill, insn, fault);
	case PUMICE_PDS_OP_ATTR:
		return run_attr(fill, in, insn, fault);
	default:
		return true;
	}
}

bool pds_fill_vertices(struct pds *pds, const struct pds_place *place,
		       const struct pds_stage *stage, const struct pds_vertices *in,
		       struct mmu_tlb *tlb, u32 *pc, struct gpu_fault *fault)
{
	return pds_fill_piece(pds, place, stage, run, in, in->count, tlb, pc, fault);
}
