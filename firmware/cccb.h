/* SPDX-License-Identifier: MIT */
/* Client CCB: the commands of one context. Called with interrupts off. */
#ifndef FW_CCCB_H
#define FW_CCCB_H

#include "context.h"

/* How far a context came. */
enum cccb_progress {
	CCCB_EMPTY,	/* nothing left */
	CCCB_MORE,	/* there is more; others shall have a turn first */
	CCCB_BLOCKED,	/* waits for an update object */
	CCCB_JOB,	/* a job is prepared: c->stream, seqno, job_bytes */
};

/**
 * cccb_advance - carry out a context's commands up to the next job.
 *
 * Waits that are fulfilled are passed, updates are made. Of a killed context
 * waits are passed too and jobs end as KILLED. A malformed command breaks the
 * context and drops all its commands.
 */
enum cccb_progress cccb_advance(struct context *c);

/** cccb_job_ended - leave the result of the context's job and go past its command. */
void cccb_job_ended(struct context *c, const struct fwif_job_result *result);

#endif
