// SPDX-License-Identifier: MIT
/*
 * Performance counters: the difference that one slice makes.
 *
 * The device's counters run for ever and know no job. A data master has one job at
 * a time, so what its own blocks count in the slice is the job's own. Source:
 * hw/perf.h.
 *
 * The PM works for both: what it hands out is the geometry jobs', what it gets back
 * the fragment jobs'.
 *
 * Limits: what data masters share (PUMICE_PERF_SHARED) counts for all jobs that run
 * side by side; the kernel decides who may read it. Translation misses of the firmware itself are among
 * MMU_TLB_MISSES.
 */
#include "bus.h"
#include "counters.h"
#include "fwif.h"
#include "perf.h"
#include "window.h"

_Static_assert(sizeof(struct fwif_perf) / sizeof(u64) >= PUMICE_PERF_NUMBER, "struct fwif_perf");

#define BIT(category)	(1u << PUMICE_PERF_##category)

/* Categories that count for jobs of a data master. */
static const u16 counts[FWIF_DM_COUNT] = {
	[FWIF_DM_CDM] = BIT(CDM) | PUMICE_PERF_SHARED,
	[FWIF_DM_VDM] = BIT(VDM) | BIT(TA) | BIT(PM) | PUMICE_PERF_SHARED,
	[FWIF_DM_PDM] = BIT(PDM) | PUMICE_PERF_SHARED,
	[FWIF_DM_TDM] = BIT(TDM) | BIT(MMU),
};

#define CATEGORY_BIT(name, category, detailed, unit, description) BIT(category),
static const u16 category[PUMICE_PERF_NUMBER] = { PUMICE_PERF_COUNTERS(CATEGORY_BIT) };

static bool counts_for(u32 dm, u32 counter)
{
	if (counter == PUMICE_PERF_PM_FREED)
		return dm == FWIF_DM_PDM;
	return category[counter] & counts[dm];
}

static u64 before[FWIF_DM_COUNT][PUMICE_PERF_NUMBER];
static u32 counted;		/* jobs that are counted now */
static u32 ctrl_before;		/* before the first of them */

void counters_begin(u32 dm)
{
	u32 i;

	if (!counted++) {
		ctrl_before = reg_read(PUMICE_PERF_CTRL);
		reg_write(PUMICE_PERF_CTRL, ctrl_before | PUMICE_PERF_CTRL__DETAIL__MASK);
	}
	for (i = 0; i < PUMICE_PERF_NUMBER; i++)
		before[dm][i] = reg_read64_moving(PUMICE_PERF_COUNTER(i));
}

void counters_end(u32 dm, u32 addr)
{
	u64 value[PUMICE_PERF_NUMBER];
	u32 i;

	if (!--counted)
		reg_write(PUMICE_PERF_CTRL, ctrl_before);
	if (!window_read(addr, value, sizeof(value) / 4))
		return;
	for (i = 0; i < PUMICE_PERF_NUMBER; i++)
		if (counts_for(dm, i))
			value[i] += reg_read64_moving(PUMICE_PERF_COUNTER(i)) - before[dm][i];
	window_write(addr, value, sizeof(value) / 4);
}
