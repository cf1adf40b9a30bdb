// SPDX-License-Identifier: MIT
/*
 * Performance counters: the difference that one slice makes.
 *
 * The device's counters run for ever and know no job; one job at a time has the
 * data master, so what they gain in its slice is its own. Source: hw/perf.h.
 *
 * Limits: translation misses of the firmware itself are among MMU_TLB_MISSES.
 */
#include "bus.h"
#include "counters.h"
#include "fwif.h"
#include "perf.h"
#include "window.h"

_Static_assert(sizeof(struct fwif_perf) / sizeof(u64) >= PUMICE_PERF_NUMBER, "struct fwif_perf");

static u64 before[PUMICE_PERF_NUMBER];
static u32 ctrl_before;

void counters_begin(void)
{
	u32 i;

	ctrl_before = reg_read(PUMICE_PERF_CTRL);
	reg_write(PUMICE_PERF_CTRL, ctrl_before | PUMICE_PERF_CTRL__DETAIL__MASK);
	for (i = 0; i < PUMICE_PERF_NUMBER; i++)
		before[i] = reg_read64_moving(PUMICE_PERF_COUNTER(i));
}

void counters_end(u32 addr)
{
	u64 value[PUMICE_PERF_NUMBER];
	u32 i;

	reg_write(PUMICE_PERF_CTRL, ctrl_before);
	if (!window_read(addr, value, sizeof(value) / 4))
		return;
	for (i = 0; i < PUMICE_PERF_NUMBER; i++)
		value[i] += reg_read64_moving(PUMICE_PERF_COUNTER(i)) - before[i];
	window_write(addr, value, sizeof(value) / 4);
}
