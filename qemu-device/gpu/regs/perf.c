// SPDX-License-Identifier: MIT
/*
 * Registers of unit PERF: performance counters, summed over the blocks that
 * count, or of the memory hierarchy.
 */
#include "units.h"

REG_READ(reg_perf_ctrl)
{
	(void)at;
	return PUMICE_FIELD_PREP(PUMICE_PERF_CTRL__DETAIL, gpu->perf_detail);
}

REG_WRITE(reg_perf_ctrl_write)
{
	(void)at;
	gpu_set_detail(gpu, value & PUMICE_PERF_CTRL__DETAIL__MASK);
	return REG_DONE;
}

/*
 * Only the counts of a counter's own row are read from the hierarchy, and none for the others: each
 * read completes the requests that it has queued.
 */
REG_READ(reg_perf_counter)
{
	u64 value[PUMICE_PERF_COUNTER_COUNT], count;

	if (hier_counts_perf(&gpu->counts, gpu->hierarchy, at->index, &count))
		return count;
	gpu_counters(gpu, value);
	return value[at->index] - gpu->perf_base[at->index];
}
