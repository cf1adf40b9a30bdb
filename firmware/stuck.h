/* SPDX-License-Identifier: MIT */
/* Position of a running job that is about to be killed: struct fwif_stuck. */
#ifndef FW_STUCK_H
#define FW_STUCK_H

#include "context.h"

/**
 * stuck_capture - capture the position of the running job and report it to the host.
 * @c: its context; its job is on its data master
 * @partial: the pixel data master runs a partial render for it
 *
 * Call with interrupts off, before the job is stopped.
 */
void stuck_capture(const struct context *c, bool partial);

/**
 * stuck_fault - report the position of a job's fault to the host.
 * @c: its context
 * @r: its result, with a fault
 *
 * Limits: faults of a partial render have no position; they are another data master's.
 */
void stuck_fault(const struct context *c, const struct fwif_job_result *r);

/**
 * stuck_result - add the captured position to the result of a killed job.
 * @c: its context
 * @r: out, unit, addr, pc and usc only; unchanged if the job was not captured
 */
void stuck_result(const struct context *c, struct fwif_job_result *r);

#endif
