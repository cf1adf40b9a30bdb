/* SPDX-License-Identifier: MIT */
/*
 * Filling a task's registers: operations common to PDS programs of all data masters. The
 * program was checked by pds_program_load(): registers and addresses are in range here.
 */
#ifndef PUMICE_GPU_PDS_FILL_H
#define PUMICE_GPU_PDS_FILL_H

#include "../mmu/mmu.h"
#include "../number.h"
#include "../usc/usc.h"
#include "pumice_isa.h"

/* A task whose registers are filled, and its access to memory. */
struct pds_fill {
	struct usc *usc;
	const struct usc_task *task;
	struct mmu *mmu;
	struct mmu_tlb *tlb;
	unsigned int ctx;
	u64 dma_bytes;	/* read so far */
	u32 reads;	/* memory reads so far, each of consecutive bytes */
};

/* Approximate limit of a piece of a run; each read is some 50 us. */
#define PDS_PIECE_READS	128u
#define PDS_PIECE_WORDS	16384u

/* Return whether a piece that has written this number of words executes another instruction. */
static inline bool pds_piece_continues(const struct pds_fill *fill, u32 written)
{
	return fill->reads < PDS_PIECE_READS && written < PDS_PIECE_WORDS;
}

/* Return the number of instances of one wave of a task. */
static inline u32 pds_wave_lanes(const struct usc_task *task, u32 wave)
{
	u32 rest = task->instances - wave * PUMICE_LANES;

	return min_u32(rest, PUMICE_LANES);
}

/* Zero all registers that the PDS owns, so no value of an earlier task remains. */
void pds_fill_zero(const struct pds_fill *fill);
/* Return the first register of a bank that the task's instances share. */
u32 *pds_fill_bank(const struct pds_fill *fill, u32 bank);
/* Write a value to a register, of every instance if it is an attribute: ldi, some of mov. */
void pds_fill_value(const struct pds_fill *fill, const struct pumice_pds_insn *insn, u32 value);
/* Read count words. Returns false with the MMU's fault in *fault. */
bool pds_fill_burst(struct pds_fill *fill, u64 addr, u32 *words, u32 count,
		    struct gpu_fault *fault);
/* Execute operation dma. */
bool pds_fill_dma(struct pds_fill *fill, const struct pumice_pds_insn *insn,
		  struct gpu_fault *fault);

#endif
