/* SPDX-License-Identifier: MIT */
/*
 * Partial renders: measures for a geometry job that has run out of pages. Called
 * with interrupts off.
 */
#ifndef FW_PARTIAL_H
#define FW_PARTIAL_H

#include "context.h"

/** partial_memory - interrupt task: handle a stall of the VDM's job. @c: its owner */
void partial_memory(struct context *c);

/** partial_grown - process the host's reply about a list. @grew: it has more pages */
void partial_grown(u32 list, bool grew);

/** partial_wants_pdm - return whether the PDM is reserved for a partial render. */
bool partial_wants_pdm(void);

/** partial_on_pdm - return whether the PDM runs a partial render. */
bool partial_on_pdm(void);

/** partial_render_start - return the GPU clock when the last partial render began. */
u64 partial_render_start(void);

/** partial_pdm_ended - interrupt task: continue the geometry job after its partial render. */
void partial_pdm_ended(bool aborted);

/**
 * partial_pdm_free - start a queued partial render, after the end of a fragment job, or resume a
 * job that waits for pages of its virtual GPU. @os: virtual GPU of the fragment job
 */
void partial_pdm_free(u32 os);

/**
 * partial_count_freed - count the pages freed so far for the virtual GPU whose job is on the PDM:
 * no other job frees pages while it runs. @os: that to count them for if the PDM is idle
 */
void partial_count_freed(u32 os);

/**
 * partial_fragment_removed - resume a job that waits for the pages of fragment jobs, if there is
 * none. @os: virtual GPU of a ready fragment job that was removed, which is selected
 */
void partial_fragment_removed(u32 os);

/** partial_waits_for_pdm - return the context whose partial render waits for the PDM, or NULL. */
struct context *partial_waits_for_pdm(void);

/** partial_kill - stop the VDM's job, whatever it is stalled on. */
void partial_kill(void);

/**
 * partial_vdm_ended - reset the state of the measures, after the end of the VDM's job.
 * @r: its result; set to the fault for which the firmware aborted the job, if any
 */
void partial_vdm_ended(struct fwif_job_result *r);

#endif
