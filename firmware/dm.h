/* SPDX-License-Identifier: MIT */
/*
 * The data masters, as the scheduler uses them: slices of jobs, one at a time
 * on each of them. @dm is enum fwif_dm. All functions are called with interrupts
 * off.
 */
#ifndef FW_DM_H
#define FW_DM_H

#include "context.h"

/** dm_tag - return the TAG of the data master for the context's job. */
u64 dm_tag(const struct context *c);

/** dm_start - begin a slice: start the context's job, or resume it if it was switched out. */
void dm_start(struct context *c);

/**
 * dm_running - return the owner of a data master's job, from dm_start() to dm_slice_end(), or NULL.
 * A partial render is not a job.
 */
struct context *dm_running(u32 dm);

/** dm_switch_out - request that the CDM's job is saved at the next work-group boundary. */
void dm_switch_out(void);

/** dm_abort - stop the job. */
void dm_abort(u32 dm);

/**
 * dm_stop - publish the reason why the running job is stalled.
 * @stopped: it waits for other jobs, or for the host
 * @renders_partial: the PDM runs, or is reserved for, its partial render
 *
 * Both false: it runs again.
 */
void dm_stop(struct context *c, bool stopped, bool renders_partial);

/** dm_busy - return whether a data master runs or drains a job. */
bool dm_busy(u32 dm);

/**
 * dm_slice_end - account for a slice after the data master stopped. @c: owner of its job
 *
 * It is published by dm_switched() or dm_job_reset(), one of which follows.
 */
void dm_slice_end(struct context *c);

/** dm_switched - publish that the job was switched out. */
void dm_switched(struct context *c);

/**
 * dm_result - read the result of the job that ended.
 * @aborted: the firmware aborted it
 * @r: out, all fields; of an aborted job without its position, which stuck_result() adds
 *
 * Call after dm_slice_end().
 */
void dm_result(const struct context *c, bool aborted, struct fwif_job_result *r);

/** dm_fault - read the fault of a data master's last job. @r: out, the fields of the fault only */
void dm_fault(u32 dm, struct fwif_job_result *r);

/** dm_fault_code - return the GPU virtual address of the program in which the last job faulted. */
u64 dm_fault_code(u32 dm);

/** dm_job_reset - publish that the context no longer has a started job. */
void dm_job_reset(struct context *c);

struct fwif_stuck;
/** dm_fault_wave - get lane, wave and work-group of the fault. @s: out, its first place exists */
void dm_fault_wave(u32 dm, struct fwif_stuck *s);

/** dm_slice_start - return the GPU clock when the running slice began. */
u64 dm_slice_start(u32 dm);

/** dm_groups - number of work-groups or primitives that the running job has finished. */
u64 dm_groups(u32 dm);

/*
 * For a geometry job that is stalled on pages: resume it; write the region
 * headers of the scene so far; have the PDM render that scene.
 */
void dm_vdm_resume(void);
void dm_vdm_flush(void);
/** dm_partial_start - start a partial render; the PDM is idle. @c: context of the geometry job */
void dm_partial_start(const struct context *c);

#endif
