// SPDX-License-Identifier: MIT
/* A job of a data master from its start to its end. See dm.h. */
#include "dm.h"

void dm_run_begin(struct dm_run *run, u64 now)
{
	run->status = (struct dm_status){ .busy = true, .time_start = now };
	run->end = DM_DONE;
}

bool dm_run_stop(struct dm_run *run, enum dm_end end, const struct gpu_fault *fault)
{
	if (!run->status.busy || run->end != DM_DONE)
		return false;
	if (fault)
		run->status.fault = *fault;
	run->end = end;
	return true;
}

void dm_run_end(struct dm_run *run, u64 now)
{
	run->status.busy = false;
	run->status.time_end = now;
	run->busy_ns += now - run->status.time_start;
}

u64 dm_run_busy_ns(const struct dm_run *run, u64 now)
{
	return run->busy_ns + (run->status.busy ? now - run->status.time_start : 0);
}

struct gpu_fault dm_fault(enum pumice_unit unit, enum pumice_fault reason, unsigned int ctx,
			  u64 addr)
{
	return (struct gpu_fault){
		.fault = (u8)reason, .unit = (u8)unit, .ctx = (u8)ctx, .addr = addr,
	};
}
