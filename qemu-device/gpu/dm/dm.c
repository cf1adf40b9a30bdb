// SPDX-License-Identifier: MIT
/* A job of a data master from its start to its end. See dm.h. */
#include <stddef.h>

#include "dm.h"

void dm_run_begin(struct dm_run *run, const struct dm_unit *unit, void *opaque, u64 now)
{
	run->unit = unit;
	run->opaque = opaque;
	run->status = (struct dm_status){ .busy = true, .time_start = now };
	run->end = DM_DONE;
}

static void stop(struct dm_run *run, enum dm_end end, const struct gpu_fault *fault)
{
	if (!run->status.busy || run->end != DM_DONE)
		return;
	if (fault)
		run->status.fault = *fault;
	run->end = end;
	run->unit->stopped(run->opaque);
}

void dm_stop_fault(struct dm_run *run, const struct gpu_fault *fault)
{
	stop(run, DM_FAULT, fault);
}

void dm_stop_at(struct dm_run *run, enum pumice_fault reason, unsigned int ctx, u64 addr)
{
	const struct gpu_fault fault = dm_fault(run->unit->unit, reason, ctx, addr);

	stop(run, DM_FAULT, &fault);
}

void dm_abort(struct dm_run *run)
{
	stop(run, DM_ABORTED, NULL);
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
