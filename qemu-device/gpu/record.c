// SPDX-License-Identifier: MIT
/* Records of the fragment phase: read and refuse. See record.h. */
#include "record.h"

bool gpu_record_read(const struct gpu_record *r, u32 *words, u32 count, struct gpu_fault *fault)
{
	*fault = (struct gpu_fault){ .ctx = (u8)r->ctx };
	return mmu_read(r->mmu, r->tlb, r->ctx, r->addr, words, count * sizeof(*words),
			PUMICE_ACCESS_READ, r->unit, fault);
}

bool gpu_record_refuse(const struct gpu_record *r, enum pumice_fault why, struct gpu_fault *fault)
{
	*fault = (struct gpu_fault){
		.fault = (u8)why, .unit = (u8)r->unit, .ctx = (u8)r->ctx, .addr = r->addr,
	};
	return false;
}
