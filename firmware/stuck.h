/* SPDX-License-Identifier: MIT */
/* Where a running job that is about to be killed has got to: struct fwif_stuck. */
#ifndef FW_STUCK_H
#define FW_STUCK_H

#include "context.h"

/**
 * stuck_capture - look at the job that runs, and report to the host where it is.
 * @c: its context; its job is on its data master
 * @partial: the pixel data master does a partial render for it
 *
 * With interrupts off, before the job is stopped.
 */
void stuck_capture(const struct context *c, bool partial);

/**
 * stuck_fault - report to the host at which instruction a job faulted.
 * @c: its context
 * @r: its result, with a fault
 *
 * Limits: nothing of a fault in a partial render, which is another data master's.
 */
void stuck_fault(const struct context *c, const struct fwif_job_result *r);

/**
 * stuck_result - what a job's result says of where it was killed.
 * @c: its context
 * @r: out, unit, addr, pc and usc only; nothing if the job was not captured
 */
void stuck_result(const struct context *c, struct fwif_job_result *r);

#endif
