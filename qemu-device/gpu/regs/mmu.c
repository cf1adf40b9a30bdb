// SPDX-License-Identifier: MIT
/* Registers of unit MMU: contexts, page-size ranges, TLB invalidation. */
#include "../coherence.h"
#include "units.h"

REG_READ(reg_mmu_ctx)
{
	return atomic_load(&gpu->mmu.ctx[at->index]);
}

/* The host may write context 0, the firmware all. */
REG_WRITE(reg_mmu_ctx_write)
{
	if (at->index && at->bus == PUMICE_REG_BUS_HOST) {
		gpu_log(gpu, PUMICE_LOG_GUEST_ERROR,
			"host write to MMU context %u, which is the firmware's", at->index);
	} else {
		coherence_tables_change(gpu, at->index);
		atomic_store(&gpu->mmu.ctx[at->index], value);
	}
	return REG_DONE;
}

/* An invalidation of all contexts is one event, with a context number past the last. */
static void trace_inval(struct pumice_gpu *gpu, unsigned int ctx, u64 first, u64 last)
{
	trace_event(&gpu->trace, PUMICE_TRACE_KIND_MMU_INVALIDATE, TRACE_NO_JOB, ctx, 0, first,
		    last);
}

/* Drop the entries of all contexts; the unit that wrote waits for the others' steps. */
static enum reg_after inval_all(struct pumice_gpu *gpu)
{
	gpu_tlb_drop(gpu, PUMICE_MMU_CONTEXTS);
	trace_inval(gpu, PUMICE_MMU_CONTEXTS, 0, (1ull << PUMICE_MMU_VA_BITS) - 1);
	return REG_WAIT;
}

/* Set a register that page sizes depend on: no entry of the former size survives a change. */
static enum reg_after set_sizes(struct pumice_gpu *gpu, _Atomic u64 *reg, u64 value)
{
	if (atomic_load(reg) == value)
		return REG_DONE;
	atomic_store(reg, value);
	return inval_all(gpu);
}

REG_READ(reg_mmu_range_start)
{
	return atomic_load(&gpu->mmu.range_start[at->index]);
}

REG_WRITE(reg_mmu_range_start_write)
{
	return set_sizes(gpu, &gpu->mmu.range_start[at->index], value);
}

REG_READ(reg_mmu_range_end)
{
	return atomic_load(&gpu->mmu.range_end[at->index]);
}

REG_WRITE(reg_mmu_range_end_write)
{
	return set_sizes(gpu, &gpu->mmu.range_end[at->index], value);
}

REG_READ(reg_mmu_page_sizes)
{
	(void)at;
	return atomic_load(&gpu->mmu.page_sizes);
}

REG_WRITE(reg_mmu_page_sizes_write)
{
	(void)at;
	return set_sizes(gpu, &gpu->mmu.page_sizes, value);
}

REG_READ(reg_mmu_inval_start)
{
	(void)at;
	return gpu->mmu.inval_start;
}

REG_WRITE(reg_mmu_inval_start_write)
{
	(void)at;
	gpu->mmu.inval_start = value;
	return REG_DONE;
}

REG_READ(reg_mmu_inval_end)
{
	(void)at;
	return gpu->mmu.inval_end;
}

REG_WRITE(reg_mmu_inval_end_write)
{
	(void)at;
	gpu->mmu.inval_end = value;
	return REG_DONE;
}

REG_WRITE(reg_mmu_inval)
{
	u32 op = (u32)PUMICE_FIELD_GET(PUMICE_MMU_INVAL__OP, value);
	u32 ctx = (u32)PUMICE_FIELD_GET(PUMICE_MMU_INVAL__CTX, value);

	(void)at;
	gpu_trace(gpu, PUMICE_TRACE_TLB_INVALIDATE, op, ctx, 0);
	switch (op) {
	case PUMICE_MMU_INVAL_ALL:
		return inval_all(gpu);
	case PUMICE_MMU_INVAL_CONTEXT:
		gpu_tlb_drop(gpu, ctx);
		trace_inval(gpu, ctx, 0, (1ull << PUMICE_MMU_VA_BITS) - 1);
		return REG_WAIT;
	case PUMICE_MMU_INVAL_RANGE:
		gpu_tlb_drop_range(gpu, ctx, gpu->mmu.inval_start, gpu->mmu.inval_end);
		trace_inval(gpu, ctx, gpu->mmu.inval_start,
			    gpu->mmu.inval_end | ((1ull << MMU_GRAIN_SHIFT) - 1));
		return REG_WAIT;
	default:
		gpu_log(gpu, PUMICE_LOG_GUEST_ERROR, "unknown TLB invalidation %u", op);
		return REG_DONE;
	}
}

REG_READ(reg_mmu_fault_count)
{
	(void)at;
	return atomic_load(&gpu->mmu.fault_count);
}
