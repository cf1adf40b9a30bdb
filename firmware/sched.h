/* SPDX-License-Identifier: MIT */
/*
 * Scheduling of contexts onto the data masters.
 *
 * High priority goes before normal before low; inside a priority contexts take
 * turns, a job or, on the CDM, a time slice each, whichever is shorter. A context
 * that has waited FWIF_STARVE_SLICES slices has one before those of a higher priority.
 */
#ifndef FW_SCHED_H
#define FW_SCHED_H

#include "context.h"

void sched_init(void);

/** sched_runs - whether a data master has a job of a context. @dm: enum fwif_dm. Interrupts off. */
bool sched_runs(u32 dm);

/** sched_kick - a context's client CCB was written. @write: new offset, checked. Interrupts off. */
void sched_kick(struct context *c, u32 write);

/**
 * sched_check_dependencies - background task: let the context whose turn it is
 * go on to its next job, or find that it has to wait.
 */
void sched_check_dependencies(void);

/** sched_start_next - start prepared jobs where data masters are free. Interrupts off. */
void sched_start_next(void);

/** sched_job_ended - interrupt task: a data master stopped. @aborted: because it was told to */
void sched_job_ended(u32 dm, bool aborted);

/** sched_pdm_ended - the same of the PDM, whose job may be a partial render. */
void sched_pdm_ended(bool aborted);

/** sched_vdm_memory - interrupt task: the VDM's job is out of pages, or has flushed its scene. */
void sched_vdm_memory(void);

/** sched_job_switched - interrupt task: the job left the CDM and is saved. */
void sched_job_switched(void);

/**
 * sched_review - look whether the job on the CDM has to leave, and set
 * the timer for when it will have to. Interrupts off.
 */
void sched_review(void);

/** sched_set_priority - of a context from now on, and of the job that it has ready or running. */
void sched_set_priority(struct context *c, u32 priority);

/** sched_kill - begin to kill a context; done when context_has_work() is false. Interrupts off. */
void sched_kill(struct context *c);

/** sched_has_background_work - contexts wait to be checked. Interrupts off. */
bool sched_has_background_work(void);

#endif
