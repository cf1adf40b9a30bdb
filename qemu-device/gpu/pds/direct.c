// SPDX-License-Identifier: MIT
/*
 * PDS: programs of the pixel data master that need no task. See direct.h.
 */
#include "direct.h"

#include <string.h>

#include "../inject/inject.h"
#include "../number.h"
#include "../trace/trace.h"
#include "state.h"

#define MAX_WORDS 1024u	/* of shared registers that are filled for each tile */

/* Return whether an instruction writes what all tasks of a job have to a shared register. */
static bool is_direct(const struct pumice_pds_insn *insn)
{
	switch ((enum pumice_pds_op)insn->opcode) {
	case PUMICE_PDS_OP_LDI:
	case PUMICE_PDS_OP_DMA:
		return insn->bank == PUMICE_PDS_BANK_SH;
	case PUMICE_PDS_OP_TASK:
	case PUMICE_PDS_OP_END:
		return true;
	default:
		return false;
	}
}

void pds_stage_find_direct(struct pds_stage *stage)
{
	u32 n, words = 0;

	stage->direct = USC_DIRECT_NONE;
	for (n = 0; n < stage->program.insns; n++) {
		const struct pumice_pds_insn *insn = &stage->program.insn[n];

		if (!is_direct(insn))
			return;
		words += insn->opcode == PUMICE_PDS_OP_DMA ? insn->count : 1;
	}
	if (words > MAX_WORDS)
		return;
	stage->direct = (u8)usc_direct_of(stage->code);
}

/* Return whether faults are injected that concern tasks. */
static bool is_injected(const struct mmu *mmu)
{
	return mmu->inject && (inject_armed(mmu->inject, PUMICE_INJECT_KIND_PAGE_TABLE) ||
			       inject_armed(mmu->inject, PUMICE_INJECT_KIND_SLOW_MEMORY));
}

bool pds_is_direct(const struct pds *pds, const struct pds_stage *stage, enum usc_direct kind)
{
	return stage->direct == kind && !usc_is_stepped(pds->config.usc[0]) &&
	       !trace_is_enabled(pds->config.trace) && !is_injected(pds->config.mmu);
}

/* Read words of one instruction. Returns whether the MMU translates their addresses. */
static bool read_words(const struct pds *pds, const struct pds_stage *stage, struct mmu_tlb *tlb,
		       const struct pumice_pds_insn *insn, u32 *to)
{
	const u64 grain = 1ull << MMU_GRAIN_SHIFT;
	u64 addr = insn->addr, left = insn->count * sizeof(u32);
	u8 *at = (u8 *)to;

	while (left) {
		const u64 part = min_u64(grain - (addr & (grain - 1)), left);
		const u8 *host = mmu_reach(pds->config.mmu, tlb, stage->ctx, addr, part,
					   PUMICE_ACCESS_READ, PUMICE_UNIT_PDS);

		if (!host)
			return false;
		memcpy(at, host, part);
		addr += part;
		at += part;
		left -= part;
	}
	return true;
}

bool pds_direct_fill(const struct pds *pds, const struct pds_stage *stage, struct mmu_tlb *tlb,
		     struct pds_direct *direct)
{
	u32 n;

	direct->dma_bytes = 0;
	memset(direct->shared, 0, stage->state.shared * sizeof(u32));
	for (n = 0; n < stage->program.insns; n++) {
		const struct pumice_pds_insn *insn = &stage->program.insn[n];

		if (insn->opcode == PUMICE_PDS_OP_LDI)
			direct->shared[insn->reg] = insn->imm;
		if (insn->opcode != PUMICE_PDS_OP_DMA)
			continue;
		if (!read_words(pds, stage, tlb, insn, &direct->shared[insn->reg]))
			return false;
		direct->dma_bytes += insn->count * sizeof(u32);
	}
	return true;
}

void pds_direct_count(struct pds *pds, unsigned int core, const struct pds_stage *stage,
		      const struct pds_direct *direct, u32 tasks, u32 waves)
{
	struct pds_direct_counts *c = &pds->core[core].direct;
	const u64 issued = (u64)usc_direct_issued(stage->code) * waves;

	atomic_fetch_add_explicit(&c->tasks, tasks, memory_order_relaxed);
	atomic_fetch_add_explicit(&c->waves, waves, memory_order_relaxed);
	atomic_fetch_add_explicit(&c->issued, issued, memory_order_relaxed);
	atomic_fetch_add_explicit(&pds->core[core].dma_bytes, direct->dma_bytes * tasks,
				  memory_order_relaxed);
}
