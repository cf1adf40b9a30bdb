/* SPDX-License-Identifier: MIT */
/*
 * The data masters, as the scheduler uses them: slices of jobs, one after the
 * other on each of them. @dm is enum fwif_dm. All functions are called with
 * interrupts off.
 */
#ifndef FW_DM_H
#define FW_DM_H

#include "context.h"

/** dm_start - begin a slice: start the context's job, or resume it if it was switched out. */
void dm_start(struct context *c);

/** dm_switch_out - ask for the CDM's job's state at the next work-group boundary. */
void dm_switch_out(void);

/** dm_abort - stop the job. */
void dm_abort(u32 dm);

/**
 * dm_stop - show the host why the running job does not go on.
 * @stopped: it waits for others, or for the host
 * @renders_partial: the PDM is with, or kept for, its partial render
 *
 * Both false: it goes on.
 */
void dm_stop(struct context *c, bool stopped, bool renders_partial);

/** dm_busy - whether a data master has a job, or drains. */
bool dm_busy(u32 dm);

/** dm_slice_end - the data master stopped: account for the slice. @c: whose job it was */
void dm_slice_end(struct context *c);

/**
 * dm_result - what the data master tells of the job that ended.
 * @aborted: because it was told to
 * @r: out, wholly
 *
 * Comes behind dm_slice_end().
 */
void dm_result(const struct context *c, bool aborted, struct fwif_job_result *r);

/** dm_fault - how a data master's last job stopped. @r: out, the fields of the fault only */
void dm_fault(u32 dm, struct fwif_job_result *r);

/** dm_fault_code - GPU virtual address of the program in which a data master's last job stopped. */
u64 dm_fault_code(u32 dm);

/** dm_job_gone - tell the host that the context has no started job any more. */
void dm_job_gone(struct context *c);

/** dm_slice_start - GPU clock when the running slice began. */
u64 dm_slice_start(u32 dm);

/** dm_groups - what the running job has finished. */
u64 dm_groups(u32 dm);

/*
 * A geometry job that stands still for want of pages: go on; or write the region
 * headers of the scene so far; or have the PDM render it.
 */
void dm_vdm_resume(void);
void dm_vdm_flush(void);
/** dm_partial_start - @c: context of the geometry job; the PDM is free */
void dm_partial_start(const struct context *c);

#endif
