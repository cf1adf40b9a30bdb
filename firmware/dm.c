// SPDX-License-Identifier: MIT
/*
 * The compute data master: slices of jobs (document 000, "Compute Workload").
 *
 * What a job has used is counted here, slice by slice, and told to the host
 * while the job goes on: the host's time-outs count the time on the data
 * master, not the waiting for others.
 */
#include "boot.h"
#include "bus.h"
#include "dm.h"
#include "log.h"
#include "mmu.h"
#include "counters.h"
#include "window.h"

/* The host's view of the slices: neighbours in struct fwif_context. */
struct shown {
	u64 run_ticks;
	u64 slice_start;
	u64 job_ticks;
	u32 job_seqno;
	u32 slices;
};

#define SHOWN_AT	__builtin_offsetof(struct fwif_context, run_ticks)
_Static_assert(__builtin_offsetof(struct fwif_context, slices) - SHOWN_AT ==
	       __builtin_offsetof(struct shown, slices), "struct shown");

static u64 slice_start;
static u8 mmu_context;

static void show(const struct context *c, u64 start)
{
	const struct shown shown = {
		.run_ticks = c->run_ticks,
		.slice_start = start,
		.job_ticks = c->job_ticks,
		.job_seqno = c->seqno,
		.slices = c->slices,
	};

	window_write(c->addr + SHOWN_AT, &shown, sizeof(shown) / 4);
}

void dm_start(struct context *c)
{
	mmu_context = (u8)mmu_bind(c);
	reg_write64(PUMICE_CDM_STREAM_BASE, c->stream);
	reg_write64(PUMICE_CDM_SAVE_BASE, c->save);
	reg_write64(PUMICE_CDM_TAG, PUMICE_FIELD_PREP(PUMICE_CDM_TAG__CONTEXT, (u64)c->id) |
				    PUMICE_FIELD_PREP(PUMICE_CDM_TAG__SEQNO, (u64)c->seqno));
	reg_write(PUMICE_CDM_MMU_CTX, PUMICE_FIELD_PREP(PUMICE_CDM_MMU_CTX__ID, mmu_context));
	if (c->perf)
		counters_begin();
	slice_start = clock_now();
	show(c, slice_start);
	if (c->started) {
		log_event(FWIF_LOG_JOB_RESUME, c->id, c->seqno, mmu_context);
		reg_write(PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__RESUME__MASK);
	} else {
		fw_boot->jobs_started++;
		log_event(FWIF_LOG_JOB_START, c->id, c->seqno, mmu_context);
		reg_write(PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__START__MASK);
	}
	fw_boot->active_context = c->id;
}

void dm_switch_out(void)
{
	reg_write(PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__SWITCH_OUT__MASK);
}

void dm_abort(void)
{
	reg_write(PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__ABORT__MASK);
}

void dm_slice_end(struct context *c)
{
	u64 start = reg_read64(PUMICE_CDM_TIME_START);
	u64 ticks = reg_read64(PUMICE_CDM_TIME_END) - start;

	if (!c->started)
		c->first_start = start;
	c->started = true;
	c->run_ticks += ticks;
	c->job_ticks += ticks;
	c->job_slices++;
	c->slices++;
	if (c->perf)
		counters_end(c->perf);
	show(c, 0);
	fw_boot->active_context = FWIF_NO_CONTEXT;
}

void dm_result(const struct context *c, bool aborted, struct fwif_job_result *r)
{
	u32 status = reg_read(PUMICE_CDM_STATUS);
	u64 info;

	*r = (struct fwif_job_result){
		.seqno = c->seqno,
		.fault = (u8)PUMICE_FIELD_GET(PUMICE_CDM_STATUS__FAULT, status),
		.mmu_context = mmu_context,
		.time_start = c->first_start,
		.time_end = reg_read64(PUMICE_CDM_TIME_END),
		.groups = reg_read64(PUMICE_CDM_GROUPS),
		.run_ticks = c->job_ticks,
		.slices = c->job_slices,
	};
	if (aborted) {
		r->fault = PUMICE_FAULT_KILLED;
		r->unit = PUMICE_UNIT_FW;
	} else if (r->fault) {
		info = reg_read64(PUMICE_CDM_FAULT_INFO);
		r->unit = (u8)PUMICE_FIELD_GET(PUMICE_CDM_STATUS__UNIT, status);
		r->access = (u8)PUMICE_FIELD_GET(PUMICE_CDM_STATUS__ACCESS, status);
		r->mmu_context = (u8)PUMICE_FIELD_GET(PUMICE_CDM_FAULT_INFO__CTX, info);
		r->addr = reg_read64(PUMICE_CDM_FAULT_ADDR);
		r->pc = (u32)PUMICE_FIELD_GET(PUMICE_CDM_FAULT_INFO__PC, info);
		r->usc = (u32)PUMICE_FIELD_GET(PUMICE_CDM_FAULT_INFO__USC, info);
	}
}

void dm_job_gone(struct context *c)
{
	c->started = false;
	c->job_ticks = 0;
	c->job_slices = 0;
	show(c, 0);
}

u64 dm_slice_start(void)
{
	return slice_start;
}
