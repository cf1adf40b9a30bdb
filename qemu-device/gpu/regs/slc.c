// SPDX-License-Identifier: MIT
/*
 * Registers of unit SLC: operations of the firmware on caches.
 *
 * No document describes them. An operation is performed in the firmware's step, without the device
 * lock: it may take milliseconds for the largest SLC, and does not depend on steps of other units.
 * Its time is bounded by the number of lines.
 */
#include "units.h"

/* Fields of SLC_OP. */
struct slc_op {
	bool clean, invalidate, range, all;
	u32 scope, ctx;
};

static struct slc_op op_of(u32 value)
{
	return (struct slc_op){
		.clean = value & PUMICE_SLC_OP__CLEAN__MASK,
		.invalidate = value & PUMICE_SLC_OP__INVALIDATE__MASK,
		.range = value & PUMICE_SLC_OP__RANGE__MASK,
		.all = value & PUMICE_SLC_OP__ALL__MASK,
		.scope = PUMICE_FIELD_GET(PUMICE_SLC_OP__SCOPE, value),
		.ctx = PUMICE_FIELD_GET(PUMICE_SLC_OP__CTX, value),
	};
}

REG_READ(reg_slc_start)
{
	(void)at;
	return gpu->slc_regs.start;
}

REG_WRITE(reg_slc_start_write)
{
	(void)at;
	gpu->slc_regs.start = value;
	return REG_DONE;
}

REG_READ(reg_slc_end)
{
	(void)at;
	return gpu->slc_regs.end;
}

REG_WRITE(reg_slc_end_write)
{
	(void)at;
	gpu->slc_regs.end = value;
	return REG_DONE;
}

REG_READ(reg_slc_count)
{
	(void)at;
	return gpu->slc_regs.count;
}

/* Return what is wrong with an operation, or NULL. */
static const char *op_error(const struct pumice_gpu *gpu, const struct slc_op *op)
{
	if (!op->clean && !op->invalidate)
		return "neither cleans nor invalidates";
	if (!pumice_mem_scope_valid(op->scope))
		return "has a scope that does not exist";
	if (!op->all && op->ctx > MMU_TABLES)
		return "has a context that does not exist";
	if (op->range && gpu->slc_regs.start > gpu->slc_regs.end)
		return "has a range that ends before it starts";
	return NULL;
}

REG_WRITE(reg_slc_op)
{
	const struct slc_op op = op_of((u32)value);
	const char *error = op_error(gpu, &op);

	(void)at;
	if (error) {
		gpu_log(gpu, PUMICE_LOG_GUEST_ERROR, "cache operation 0x%x %s", (u32)value, error);
		return REG_DONE;
	}
	gpu->slc_regs.count++;
	if (gpu->hierarchy)
		return REG_CACHES;
	/* Mode fast has no lines, but keeps decoded programs. */
	reg_slc_perform(gpu, (u32)value);
	return REG_DONE;
}

/*
 * The CPU writes entries of translation tables for new mappings without an invalidation, since TLBs
 * hold no entries that are not valid. The SLC may hold the line, with the entry as it was.
 */
static bool includes_tables(const struct slc_op *op)
{
	return op->invalidate && !op->range && !op->all && op->ctx < MMU_TABLES &&
	       op->scope == PUMICE_MEM_SCOPE_SYSTEM;
}

void reg_slc_perform(struct pumice_gpu *gpu, u32 value)
{
	const struct slc_op op = op_of(value);

	mmu_cache_op(&gpu->mmu, &(struct mmu_cache_op){
		.kind = !op.invalidate ? MMU_CACHE_CLEAN :
			op.clean       ? MMU_CACHE_INVALIDATE :
					 MMU_CACHE_DROP,
		.scope = (enum pumice_mem_scope)op.scope, .usc = MMU_ALL_USCS,
		.ctx = op.all ? MMU_ALL_CONTEXTS : op.ctx,
		.first = op.range ? gpu->slc_regs.start : 0,
		.last = op.range ? gpu->slc_regs.end : UINT64_MAX,
	});
	/* Written first, whatever the operation is: the MMU keeps some of them itself. */
	if (includes_tables(&op))
		mmu_cache_op(&gpu->mmu, &(struct mmu_cache_op){
			.kind = MMU_CACHE_INVALIDATE, .scope = PUMICE_MEM_SCOPE_SYSTEM,
			.usc = MMU_ALL_USCS, .ctx = MMU_TABLES, .first = 0, .last = UINT64_MAX,
		});
}
