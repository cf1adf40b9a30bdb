/* SPDX-License-Identifier: MIT */
/*
 * Filling a task's registers: what PDS programs of every data master have in
 * common. The program was checked by pds_program_load(): registers and addresses
 * are in range here.
 */
#ifndef PUMICE_GPU_PDS_FILL_H
#define PUMICE_GPU_PDS_FILL_H

#include "../mmu/mmu.h"
#include "../usc/usc.h"
#include "pumice_isa.h"

/* The task whose registers are filled, and memory as it sees it. */
struct pds_fill {
	struct usc *usc;
	const struct usc_task *task;
	struct mmu *mmu;
	struct mmu_tlb *tlb;
	unsigned int ctx;
	u64 dma_bytes;	/* read so far */
	u32 reads;	/* of memory so far, each of consecutive bytes */
};

/* What a piece of a run does at most, about; each is some 50 us. */
#define PDS_PIECE_READS	128u
#define PDS_PIECE_WORDS	16384u

/* Whether a piece that has written so many words does another instruction. */
static inline bool pds_piece_goes_on(const struct pds_fill *fill, u32 written)
{
	return fill->reads < PDS_PIECE_READS && written < PDS_PIECE_WORDS;
}

/* Instances of one wave of a task. */
static inline u32 pds_wave_lanes(const struct usc_task *task, u32 wave)
{
	u32 rest = task->instances - wave * PUMICE_LANES;

	return rest < PUMICE_LANES ? rest : PUMICE_LANES;
}

/* Zero all registers that the PDS owns, so nothing of an earlier task is left. */
void pds_fill_zero(const struct pds_fill *fill);
/* Write a value to a register, of every instance if it is an attribute: ldi, some of mov. */
void pds_fill_value(const struct pds_fill *fill, const struct pumice_pds_insn *insn, u32 value);
/* Read count words. False with what the MMU says in *fault. */
bool pds_fill_burst(struct pds_fill *fill, u64 addr, u32 *words, u32 count,
		    struct gpu_fault *fault);
/* Operation dma. */
bool pds_fill_dma(struct pds_fill *fill, const struct pumice_pds_insn *insn,
		  struct gpu_fault *fault);

#endif
