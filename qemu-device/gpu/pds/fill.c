// SPDX-License-Identifier: MIT
/*
 * Filling a task's registers: operations common to PDS programs of all data masters.
 *
 * Source: hw/isa.xml, isa "pds", operations ldi and dma.
 */
#include "fill.h"

#include <string.h>

void pds_fill_zero(const struct pds_fill *fill)
{
	const struct usc_task *task = fill->task;
	u32 wave;

	if (task->shared)
		memset(usc_shared(fill->usc, task), 0, task->shared * sizeof(u32));
	/* The coefficients of the alternate set follow those of the normal one. */
	if (task->coeffs + task->coeffs_alt)
		memset(usc_coeffs(fill->usc, task), 0,
		       ((u32)task->coeffs + task->coeffs_alt) * sizeof(u32));
	/* The attribute rows of a wave are contiguous. */
	for (wave = 0; task->attrs && wave < task->waves; wave++)
		memset(usc_attr(fill->usc, task, wave, 0), 0,
		       task->attrs * USC_ROW_WORDS * sizeof(u32));
}

u32 *pds_fill_bank(const struct pds_fill *fill, u32 bank)
{
	switch ((enum pumice_pds_bank)bank) {
	case PUMICE_PDS_BANK_CF:
		return usc_coeffs(fill->usc, fill->task);
	case PUMICE_PDS_BANK_CFA:
		return usc_coeffs_alt(fill->usc, fill->task);
	default:
		return usc_shared(fill->usc, fill->task);
	}
}

void pds_fill_value(const struct pds_fill *fill, const struct pumice_pds_insn *insn, u32 value)
{
	u32 wave, lane;

	if (insn->bank != PUMICE_PDS_BANK_V) {
		pds_fill_bank(fill, insn->bank)[insn->reg] = value;
		return;
	}
	for (wave = 0; wave < fill->task->waves; wave++) {
		u32 *row = usc_attr(fill->usc, fill->task, wave, insn->reg);

		for (lane = 0; lane < pds_wave_lanes(fill->task, wave); lane++)
			row[lane] = value;
	}
}

bool pds_fill_burst(struct pds_fill *fill, u64 addr, u32 *words, u32 count,
		    struct gpu_fault *fault)
{
	if (!mmu_read(fill->mmu, fill->tlb, fill->ctx, addr, words, (u64)count * 4,
		      PUMICE_ACCESS_READ, PUMICE_UNIT_PDS, fault))
		return false;
	fill->dma_bytes += (u64)count * 4;
	fill->reads++;
	return true;
}

/*
 * Read the words of each lane of a wave, the first lane's from addr. *step becomes the
 * distance between two lanes' words in buf. Where the lanes' words leave no gap one burst
 * fetches all of them; a gap must not be touched.
 */
static bool gather(struct pds_fill *fill, const struct pumice_pds_insn *insn, u64 addr, u32 lanes,
		   u32 *buf, u32 *step, struct gpu_fault *fault)
{
	u32 lane;

	*step = insn->stride / 4;
	if (*step <= insn->count)
		return pds_fill_burst(fill, addr, buf, (lanes - 1) * *step + insn->count, fault);
	*step = insn->count;
	for (lane = 0; lane < lanes; lane++) {
		if (!pds_fill_burst(fill, addr + (u64)lane * insn->stride, buf + lane * *step,
				    insn->count, fault))
			return false;
	}
	return true;
}

bool pds_fill_dma(struct pds_fill *fill, const struct pumice_pds_insn *insn,
		  struct gpu_fault *fault)
{
	const struct usc_task *task = fill->task;
	u32 buf[PUMICE_LANES * PUMICE_USC_MAX_ATTRS];
	u32 wave, lane, reg, step;

	if (insn->bank != PUMICE_PDS_BANK_V)
		return pds_fill_burst(fill, insn->addr,
				      pds_fill_bank(fill, insn->bank) + insn->reg,
				      insn->count, fault);

	for (wave = 0; wave < task->waves; wave++) {
		u32 first = task->index * PUMICE_TASK_INSTANCES + wave * PUMICE_LANES;
		u32 lanes = pds_wave_lanes(task, wave);

		if (!gather(fill, insn, insn->addr + (u64)first * insn->stride, lanes, buf, &step,
			    fault))
			return false;
		for (reg = 0; reg < insn->count; reg++) {
			u32 *row = usc_attr(fill->usc, task, wave, insn->reg + reg);

			for (lane = 0; lane < lanes; lane++)
				row[lane] = buf[lane * step + reg];
		}
	}
	return true;
}
