/* SPDX-License-Identifier: MIT */
/*
 * The compute data master, as the scheduler uses it: one slice of one job after
 * the other. All functions are called with interrupts off.
 */
#ifndef FW_DM_H
#define FW_DM_H

#include "context.h"

/** dm_start - begin a slice: start the context's job, or resume it if it was switched out. */
void dm_start(struct context *c);

/** dm_switch_out - ask for the job's state at the next work-group boundary. */
void dm_switch_out(void);

/** dm_abort - stop the job. */
void dm_abort(void);

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

/** dm_job_gone - tell the host that the context has no started job any more. */
void dm_job_gone(struct context *c);

/** dm_slice_start - GPU clock when the running slice began. */
u64 dm_slice_start(void);

#endif
