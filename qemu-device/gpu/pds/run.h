/* SPDX-License-Identifier: MIT */
/*
 * Running a PDS program: fills the shared, coefficient and attribute registers of
 * one task.
 *
 * Source: document 000, "PDS Compute Workload Programs"; hw/isa.xml, isa "pds".
 * Instances are numbered x fastest: linear = x + size_x * (y + size_y * z).
 */
#ifndef PUMICE_GPU_PDS_RUN_H
#define PUMICE_GPU_PDS_RUN_H

#include <stdatomic.h>

#include "../usc/usc.h"
#include "pds.h"
#include "program.h"

/* Place of every instance in its work-group, by linear number; the same for a whole launch. */
struct pds_local_ids {
	u16 id[3][PUMICE_GROUP_INSTANCES];
};

/* All that a PDS program knows of the work-group for which it runs. */
struct pds_run {
	const struct pds_launch *launch;
	const struct pds_local_ids *local;
	const struct pds_program *program;
	const u32 *id;		/* work-group id, base included; 3 of them */
	struct mmu *mmu;
	struct mmu_tlb *tlb;
	_Atomic u64 *dma_bytes;	/* counts what bursts have read */
};

/* Number the instances of a work-group of this state, which has a legal size. */
void pds_number_instances(const struct pumice_cdm_state *state, struct pds_local_ids *local);

#define PDS_WHOLE	UINT32_MAX	/* pieces are as long as they take */

/*
 * Run the program for one task that is filled in and not started, from instruction *pc on
 * until about so many reads of memory were made; *pc becomes the next instruction, and that
 * of the end is the last. Registers that it does not write become zero, so nothing of an
 * earlier task is left. False with *fault filled in wholly when a burst faults.
 */
bool pds_run_task(const struct pds_run *run, struct usc *usc, const struct usc_task *task,
		  u32 reads, u32 *pc, struct gpu_fault *fault);

#endif
