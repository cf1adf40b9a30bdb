/* SPDX-License-Identifier: MIT */
/*
 * Mode strict: texture reads of a target that is still being stored.
 *
 * Source: the project's decision; document 004, "PBE" and "TCU": the pixel back end stores each
 * tile when it is complete, in any order, and textures are read by caches of their own. So a read
 * has a defined value only if the job that stores has ended.
 *
 * A byte of a target is compared if the job that stores it runs: with reads of the same job that
 * follow the store without a FLUSH of its stream between them, and with those of other jobs that
 * run at the same time, in either order.
 *
 * Limits: of each kind TARGETS_LINES lines of 64 bytes are known, the last ones, and fewer if many
 * have the same hash. A read that precedes the store of its own job has the value from before the
 * job, which a background program loads; if it is of another tile it is not found. Reads of a
 * compute job end when it is switched out.
 */
#ifndef PUMICE_GPU_STRICT_TARGETS_H
#define PUMICE_GPU_STRICT_TARGETS_H

#include <stdbool.h>

#include "lines.h"

#define TARGETS_LINES	131072u
#define TARGETS_MASTERS	8u	/* most data masters */

struct targets;

/* An access to bytes of a context. */
struct targets_access {
	u32 master;	/* number of the data master whose job it is of */
	unsigned int ctx;
	u64 va, bytes;
	struct lines_writer place;
};

/* The other side. */
struct targets_other {
	u32 master;	/* number of the data master */
	u64 tag;	/* of its job */
	u64 va;		/* first byte of both */
	bool same_job;
	struct lines_writer place;
};

/*
 * Create the state of a GPU; NULL when out of memory. storing: number of the data master whose jobs
 * store targets. The functions accept NULL, for other modes.
 */
struct targets *targets_create(u32 storing);
void targets_destroy(struct targets *targets);

/* The functions take a lock, a leaf. Any thread. */

/* A data master begins a job; one that it had has ended. */
void targets_job_begin(struct targets *targets, u32 master, u64 tag);
void targets_job_end(struct targets *targets, u32 master);
/* All jobs have ended: a reset. */
void targets_reset(struct targets *targets);
/* The job that stores has waited for its tiles: they precede its later reads. */
void targets_flush(struct targets *targets, unsigned int ctx);
/* The PBE stores. Returns whether another job that runs has read one of the bytes. */
bool targets_store(struct targets *targets, const struct targets_access *store,
		   struct targets_other *other);
/* A texture is read. Returns whether a job that runs has stored one of the bytes. */
bool targets_read(struct targets *targets, const struct targets_access *read,
		  struct targets_other *other);

#endif
