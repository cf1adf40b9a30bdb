// SPDX-License-Identifier: MIT
/*
 * PDS: fill the registers of a task of rays.
 *
 * Source: document 000, "Programmable Data Sequencer"; hw/isa.xml, isa "pds", sources of rays.
 */
#include "fill.h"
#include "state.h"

/* Return the value of a source for an instance of a wave. */
static u32 value_of(const struct pds_rays *in, u32 source, u32 wave, u32 lane)
{
	const u32 index = in->index[wave * PUMICE_LANES + lane];
	u32 row;

	switch ((enum pumice_pds_source)source) {
	case PUMICE_PDS_SOURCE_RAY_INDEX:
		return index;
	case PUMICE_PDS_SOURCE_RAY_X:
		return index % in->width;
	case PUMICE_PDS_SOURCE_RAY_Y:
		return index / in->width;
	default:
		break;
	}
	if (source < PUMICE_PDS_SOURCE_RAY_T) {
		row = wave * PUMICE_RT_RAY_REGS + source - PUMICE_PDS_SOURCE_RAY_ORIGIN_X;
		return in->ray[row * PUMICE_LANES + lane];
	}
	row = wave * PUMICE_RT_RESULT_REGS + source - PUMICE_PDS_SOURCE_RAY_T;
	return in->result[row * PUMICE_LANES + lane];
}

_Static_assert(PUMICE_PDS_SOURCE_RAY_MAX - PUMICE_PDS_SOURCE_RAY_ORIGIN_X + 1 ==
	       PUMICE_RT_RAY_REGS, "sources of a ray are its registers");
_Static_assert(PUMICE_PDS_SOURCE_RAY_KIND - PUMICE_PDS_SOURCE_RAY_T + 1 == PUMICE_RT_RESULT_REGS,
	       "sources of a result are its registers");

static void run_mov(const struct pds_fill *fill, const struct pds_rays *in,
		    const struct pumice_pds_insn *insn)
{
	u32 wave, lane;

	for (wave = 0; wave < fill->task->waves; wave++) {
		u32 *row = usc_attr(fill->usc, fill->task, wave, insn->reg);

		for (lane = 0; lane < pds_wave_lanes(fill->task, wave); lane++)
			row[lane] = value_of(in, insn->source, wave, lane);
	}
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
	default:
		return true;
	}
}

bool pds_fill_rays(struct pds *pds, const struct pds_place *place, const struct pds_stage *stage,
		   const struct pds_rays *in, struct mmu_tlb *tlb, u32 *pc,
		   struct gpu_fault *fault)
{
	return pds_fill_piece(pds, place, stage, run, in, in->count, tlb, pc, fault);
}
