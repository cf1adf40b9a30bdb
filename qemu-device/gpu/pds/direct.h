/* SPDX-License-Identifier: MIT */
/*
 * PDS: programs of the pixel data master that need no task, as all instances do the same.
 *
 * The PDS fills the shared registers as those of a task, and counts the tasks that are left out:
 * results, counters of memory and of performance are those of tasks. Times in which units work or
 * tasks are in slots, and PEAK_TASKS, are of those that are run. If a fault would occur nothing is
 * counted, and the data master runs tasks, which have it; memory may then have more of the constant
 * pixels that it stores before the fault.
 */
#ifndef PUMICE_GPU_PDS_DIRECT_H
#define PUMICE_GPU_PDS_DIRECT_H

#include "../usc/direct.h"
#include "gfx.h"

/* Shared registers of a task. */
struct pds_direct {
	u64 dma_bytes;	/* read for these */
	u32 shared[PUMICE_USC_MAX_SHARED];
};

/* Set the kind of a loaded stage, stage->direct. */
void pds_stage_find_direct(struct pds_stage *stage);
/*
 * Return whether a stage of this kind can be executed now: the GPU is in mode fast, and neither the
 * trace nor detailed counters show its instructions.
 */
bool pds_is_direct(const struct pds *pds, const struct pds_stage *stage, enum usc_direct kind);
/* Fill the shared registers, in the thread of the TLB; false: a task would fault. */
bool pds_direct_fill(const struct pds *pds, const struct pds_stage *stage, struct mmu_tlb *tlb,
		     struct pds_direct *direct);
/* Count tasks, with a number of waves of all, on a core. Any thread. */
void pds_direct_count(struct pds *pds, unsigned int core, const struct pds_stage *stage,
		      const struct pds_direct *direct, u32 tasks, u32 waves);

#endif
