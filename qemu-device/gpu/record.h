/* SPDX-License-Identifier: MIT */
/*
 * Records in the job's memory that the fragment phase reads once: render record, ISP state,
 * TSP state.
 */
#ifndef PUMICE_GPU_RECORD_H
#define PUMICE_GPU_RECORD_H

#include <stdbool.h>

#include "fault.h"
#include "mmu/mmu.h"

/* Address of a record, and the unit that reads it. */
struct gpu_record {
	struct mmu *mmu;
	struct mmu_tlb *tlb;
	unsigned int ctx;
	u64 addr;
	enum pumice_unit unit;
};

/* Copy its words. Returns false with all of *fault filled in. */
bool gpu_record_read(const struct gpu_record *record, u32 *words, u32 count,
		     struct gpu_fault *fault);
/* Set *fault to a fault at the record; returns false. */
bool gpu_record_refuse(const struct gpu_record *record, enum pumice_fault why,
		       struct gpu_fault *fault);

#endif
