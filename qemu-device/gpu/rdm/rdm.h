/* SPDX-License-Identifier: MIT */
/*
 * Ray-tracing data master (RDM): walks the control stream of a job, traces the rays of its launches
 * in parallel with the cores, and runs tasks of those that hit and of those that do not.
 *
 * Source: document 000, "Terminology", which names the RDM; hw/rdm.xml; Documentation/rays.rst. It
 * has a worker unit of its own.
 *
 * Limits: one job at a time, which is not switched out. A launch is dispatched when all rays of the
 * one before it are; its tasks may run in parallel with those of that one.
 */
#ifndef PUMICE_GPU_RDM_H
#define PUMICE_GPU_RDM_H

#include <stdatomic.h>

#include "../dm/dm.h"

struct rdm;

/* The configuration has cores, batch, MMU, PDS, ops and trace. Returns NULL when out of memory. */
struct rdm *rdm_create(const struct dm_config *config);
void rdm_destroy(struct rdm *rdm);
/* Return to idle at once, without callbacks; the caller resets the PDS as well. */
void rdm_reset(struct rdm *rdm);

/* Device lock held. Start a job; false while busy, or for a context that does not exist. */
bool rdm_start(struct rdm *rdm, const struct dm_job *job);
void rdm_abort(struct rdm *rdm);
/* State visible in registers; done counts tasks. */
const struct dm_status *rdm_status(const struct rdm *rdm);
/* Add the counters RDM_*, and RTU_* of its walker, to value[], by enum pumice_perf_counter. */
void rdm_counters_add(const struct rdm *rdm, u64 *value);

/*
 * Run the unit for about WORKERS_QUANTUM_NS, less when *stop becomes true. True while there is
 * more; after false, ops->wake requests the next call. No lock.
 */
bool rdm_step(struct rdm *rdm, const _Atomic bool *stop);

#endif
