/* SPDX-License-Identifier: MIT */
/*
 * Execution of PDS programs: fills the shared, coefficient and attribute registers of one
 * task.
 *
 * Source: document 000, "PDS Compute Workload Programs"; hw/isa.xml, isa "pds". Instances are
 * numbered x fastest: linear = x + size_x * (y + size_y * z).
 */
#ifndef PUMICE_GPU_PDS_RUN_H
#define PUMICE_GPU_PDS_RUN_H

#include <stdatomic.h>

#include "../usc/usc.h"
#include "pds.h"
#include "program.h"

/* Position of every instance in its work-group, by linear number; equal for a whole launch. */
struct pds_local_ids {
	u16 id[3][PUMICE_GROUP_INSTANCES];
};

/* Inputs of a PDS program from its work-group. */
struct pds_run {
	const struct pds_launch *launch;
	const struct pds_local_ids *local;
	const struct pds_program *program;
	const u32 *id;		/* work-group id, base included; 3 of them */
	struct mmu *mmu;
	struct mmu_tlb *tlb;
	_Atomic u64 *dma_bytes;	/* counts bytes read by bursts */
};

/* Number the instances of a work-group of this state, which has a legal size. */
void pds_number_instances(const struct pumice_cdm_state *state, struct pds_local_ids *local);

#define PDS_WHOLE	UINT32_MAX	/* no limit for a piece */

/*
 * Run the program for one described task that is not started, from instruction *pc until
 * about reads memory reads were done; *pc becomes the next instruction, after end the number
 * of instructions. Registers that it does not write become zero, so no value of an earlier
 * task remains. Returns false with all of *fault filled in when a burst faults.
 */
bool pds_run_task(const struct pds_run *run, struct usc *usc, const struct usc_task *task,
		  u32 reads, u32 *pc, struct gpu_fault *fault);

#endif
