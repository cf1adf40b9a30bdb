/* SPDX-License-Identifier: MIT */
/*
 * Scheduling of contexts onto the data masters.
 *
 * High priority runs before normal before low; contexts of one priority are served
 * round robin, for one job or, on the CDM, one time slice, whichever is shorter. A
 * starved context, which has waited FWIF_STARVE_SLICES slices, runs before those of
 * a higher priority. All this is within a virtual GPU; those that have ready contexts
 * are served in turn, whatever the priorities.
 */
#ifndef FW_SCHED_H
#define FW_SCHED_H

#include "context.h"

void sched_init(void);

/**
 * sched_kick - schedule a context whose client CCB was written. Interrupts off.
 * @write: new offset, checked
 */
void sched_kick(struct context *c, u32 write);

/**
 * sched_check_dependencies - background task: execute the commands of the next
 * context up to its next job or unfulfilled wait.
 */
void sched_check_dependencies(void);

/** sched_start_next - start prepared jobs on idle data masters. Interrupts off. */
void sched_start_next(void);

/**
 * sched_job_ended - interrupt task: complete the job of a stopped data master.
 * @aborted: the firmware aborted it
 */
void sched_job_ended(u32 dm, bool aborted);

/** sched_pdm_ended - interrupt task: complete the job or the partial render of the stopped PDM. */
void sched_pdm_ended(bool aborted);

/** sched_vdm_memory - interrupt task: handle a VDM out of pages, or whose scene is flushed. */
void sched_vdm_memory(void);

/** sched_job_switched - interrupt task: requeue the CDM's job, which was switched out and saved. */
void sched_job_switched(void);

/**
 * sched_review - switch the job on the CDM out if its deadline has passed, else set
 * the timer to the deadline. Interrupts off.
 */
void sched_review(void);

/** sched_set_priority - set a context's priority; applies to its ready or running job too. */
void sched_set_priority(struct context *c, u32 priority);

/** sched_kill - start killing a context; done when context_has_work() is false. Interrupts off. */
void sched_kill(struct context *c);

/** sched_has_background_work - return whether contexts have to be checked. Interrupts off. */
bool sched_has_background_work(void);

#endif
