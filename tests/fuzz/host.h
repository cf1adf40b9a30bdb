/* SPDX-License-Identifier: MIT */
/*
 * The firmware's host (tests/firmware/fixture.h) for fuzz targets: waits that are
 * bounded by what the GPU does and not by the clock, and a job that must work.
 */
#ifndef PUMICE_FUZZ_HOST_H
#define PUMICE_FUZZ_HOST_H

#include "fuzz.h"
#include "fixture.h"

/* Let the GPU run for some steps, or until it has nothing to do. */
void host_run(struct fixture *r, unsigned int polls);

/* Run until a word of shared memory has a value that is not @not. Returns false if it never does. */
bool host_wait(struct fixture *r, const u32 *word, u32 not);

/* Send a command and wait for its answer, which must come. */
u32 host_call(struct fixture *r, const struct fwif_kccb_cmd *cmd);
u32 host_call_context(struct fixture *r, u32 type, const struct fx_context *c);

/*
 * Wait for job @seqno of a context, which updates the context's object, for so many polls;
 * then kill it. Returns its result, which must be there and have valid enumerators.
 * @each: what to do after every poll, or NULL.
 */
const struct fwif_job_result *host_end_job(struct fixture *r, struct fx_context *c, u32 seqno,
					   unsigned int polls, void (*each)(struct fixture *r));

/* A job in a VM and context of its own stores what it should, and ends well. */
void host_check_job(struct fixture *r);

/*
 * After SYS_RESET the real firmware boots on the GPU, which has so many threads, in memory
 * of its own, and runs a job.
 */
void host_check_recovery(struct pumice_gpu *gpu, unsigned int threads);

#endif
