// SPDX-License-Identifier: MIT
/*
 * Performance counters: count the difference over each slice.
 *
 * The device's counters run continuously, without regard to jobs. A data master
 * runs one job at a time, so the counts of its own blocks during a slice belong
 * to that job. Source: hw/perf.h.
 *
 * The PM serves two data masters: pages that it allocates count for geometry jobs,
 * pages that are freed for fragment jobs.
 *
 * Counters of the memory hierarchy do not change in mode fast, and devices before
 * FWIF_PERF_HIER_SINCE_MAP have none: then they are not read. The mode does not change while a data
 * master has a job, but may before the firmware has read the counters, which then begin at 0.
 *
 * Limits: counters shared by data masters (PUMICE_PERF_SHARED) include all jobs that
 * run in parallel; the kernel decides who may read them. Translation misses of the
 * firmware itself are included in MMU_TLB_MISSES, its requests in HIER_FW_*.
 */
#include "boot.h"
#include "bus.h"
#include "counters.h"
#include "fwif.h"
#include "minmax.h"
#include "perf.h"
#include "window.h"

_Static_assert(sizeof(struct fwif_perf) / sizeof(u64) >= PUMICE_PERF_NUMBER, "struct fwif_perf");

#define BIT(category)	(1u << PUMICE_PERF_##category)

/* Categories that count for the jobs of each data master. */
static const u16 counts[FWIF_DM_COUNT] = {
	[FWIF_DM_CDM] = BIT(CDM) | PUMICE_PERF_SHARED,
	[FWIF_DM_VDM] = BIT(VDM) | BIT(TA) | BIT(PM) | PUMICE_PERF_SHARED,
	[FWIF_DM_PDM] = BIT(PDM) | PUMICE_PERF_SHARED,
	[FWIF_DM_TDM] = BIT(TDM) | BIT(MMU) | BIT(HIER),
	[FWIF_DM_RDM] = BIT(RDM) | PUMICE_PERF_SHARED,
};

#define CATEGORY_BIT(name, category, detailed, unit, description) BIT(category),
static const u16 category[PUMICE_PERF_NUMBER] = { PUMICE_PERF_COUNTERS(CATEGORY_BIT) };

/* Categories that are counted for the slice of each data master. */
static u16 counting[FWIF_DM_COUNT];

static bool counts_for(u32 dm, u32 counter)
{
	if (counter == PUMICE_PERF_PM_FREED)
		return dm == FWIF_DM_PDM;
	return category[counter] & counting[dm];
}

static bool hierarchy_counts(void)
{
	if (boot_device_minor() < FWIF_PERF_HIER_SINCE_MAP)
		return false;
	return PUMICE_FIELD_GET(PUMICE_SYS_MODE__MODE, reg_read(PUMICE_SYS_MODE)) !=
	       PUMICE_MODE_FAST;
}

static u64 before[FWIF_DM_COUNT][PUMICE_PERF_NUMBER];
static u32 counted;		/* running jobs with performance counters */
static u32 ctrl_before;		/* PERF_CTRL before the first of them */

u32 counters_bytes(void)
{
	const u32 minor = boot_host_minor();

	return minor < 8 ? FWIF_PERF_BYTES_1_7 :
	       minor < 14 ? FWIF_PERF_BYTES_1_13 :
	       sizeof(struct fwif_perf);
}

/* Counters for which the host's driver has room. */
static u32 counters_number(void)
{
	return min_u32(counters_bytes() / sizeof(u64), PUMICE_PERF_NUMBER);
}

void counters_begin(u32 dm)
{
	const u32 number = counters_number();
	u32 i;

	if (!counted++) {
		ctrl_before = reg_read(PUMICE_PERF_CTRL);
		reg_write(PUMICE_PERF_CTRL, ctrl_before | PUMICE_PERF_CTRL__DETAIL__MASK);
	}
	counting[dm] = counts[dm] & (u16)~(hierarchy_counts() ? 0 : BIT(HIER));
	for (i = 0; i < number; i++)
		if (counts_for(dm, i))
			before[dm][i] = reg_read64_moving(PUMICE_PERF_COUNTER(i));
}

void counters_end(u32 dm, u32 addr)
{
	const u32 number = counters_number();
	static u64 value[PUMICE_PERF_NUMBER];	/* too large for the stack; interrupts are off */
	u64 now;
	u32 i;

	if (!--counted)
		reg_write(PUMICE_PERF_CTRL, ctrl_before);
	if (!window_read(addr, value, number * 2))
		return;
	for (i = 0; i < number; i++) {
		if (!counts_for(dm, i))
			continue;
		now = reg_read64_moving(PUMICE_PERF_COUNTER(i));
		value[i] += now - (now < before[dm][i] ? 0 : before[dm][i]);
	}
	window_write(addr, value, number * 2);
}
