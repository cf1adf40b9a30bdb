/* SPDX-License-Identifier: MIT */
/*
 * The firmware's host (tests/firmware/fixture.h) for fuzz targets: waits that are
 * bounded by steps of the GPU instead of time, and a job that must work.
 */
#ifndef PUMICE_FUZZ_HOST_H
#define PUMICE_FUZZ_HOST_H

#include "fuzz.h"
#include "fixture.h"

/* Run the GPU for some steps, or until it is idle. */
void host_run(struct fixture *r, unsigned int polls);

/* Run until a word of shared memory differs from @not. Return false if it never does. */
bool host_wait(struct fixture *r, const u32 *word, u32 not);

/* Send a command and wait for its reply, which is required. */
u32 host_call(struct fixture *r, const struct fwif_kccb_cmd *cmd);
u32 host_call_context(struct fixture *r, u32 type, const struct fx_context *c);

/*
 * Wait for job @seqno of a context, which updates the context's object, for at most @polls
 * polls; then kill it. Return its result, which is required and must have valid enumerators.
 * @each: called after every poll, or NULL
 */
const struct fwif_job_result *host_end_job(struct fixture *r, struct fx_context *c, u32 seqno,
					   unsigned int polls, void (*each)(struct fixture *r));

/* Check that a job in a new VM and context stores the expected word and succeeds. */
void host_check_job(struct fixture *r);

/*
 * Check that after SYS_RESET the real firmware boots on the GPU, which has @threads, in
 * separate memory, and runs a job.
 */
void host_check_recovery(struct pumice_gpu *gpu, unsigned int threads);

#endif
