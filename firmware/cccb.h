/* SPDX-License-Identifier: MIT */
/* Client CCB: the commands of one context. Called with interrupts off. */
#ifndef FW_CCCB_H
#define FW_CCCB_H

#include "context.h"
#include "pumice_formats.h"

/* A scene and its chains, bytes. */
#define SCENE_BYTES	(4 * (PUMICE_SCENE_WORDS + PUMICE_SCENE_CHAIN_WORDS * PUMICE_PM_LISTS * \
			      PUMICE_MACRO_TILES_X * PUMICE_MACRO_TILES_Y))

/* Result of cccb_advance(). */
enum cccb_progress {
	CCCB_EMPTY,	/* no command is queued */
	CCCB_MORE,	/* more commands; other contexts are served first */
	CCCB_BLOCKED,	/* waits for an update object */
	CCCB_JOB,	/* a job is prepared: c->stream, seqno, job_bytes */
};

/**
 * cccb_advance - execute a context's commands up to the next job.
 *
 * Waits whose value is reached are skipped, updates are written. If the context
 * was killed, all waits are skipped and jobs end as KILLED. A malformed command
 * breaks the context and drops all its commands.
 */
enum cccb_progress cccb_advance(struct context *c);

/** cccb_job_ended - write the result of the context's job and consume its command. */
void cccb_job_ended(struct context *c, const struct fwif_job_result *result);

#endif
