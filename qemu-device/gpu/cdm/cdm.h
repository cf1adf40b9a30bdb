/* SPDX-License-Identifier: MIT */
/*
 * Compute data master (CDM): walks the control stream of one compute job and
 * hands its work-groups to the PDS.
 *
 * Source: document 000, "Compute Workload". One job at a time; sub-lists nest
 * PUMICE_CDM_MAX_DEPTH deep.
 *
 * Locking: every function is called with the device lock held.
 */
#ifndef PUMICE_GPU_CDM_H
#define PUMICE_GPU_CDM_H

#include <stdbool.h>

#include "../fault.h"
#include "../mmu/mmu.h"
#include "../pds/pds.h"

struct cdm;

/* How a job ended; each comes after all its groups have drained. */
enum cdm_end { CDM_END_DONE, CDM_END_FAULT, CDM_END_ABORTED };

struct cdm_ops {
	void (*ended)(void *opaque, enum cdm_end end);
	void (*wake)(void *opaque);	/* cdm_step() has something to do */
	u64 (*now)(void *opaque);	/* GPU clock */
};

struct cdm_config {
	struct mmu *mmu;
	const struct cdm_ops *ops;
	void *opaque;
};

/* State that the registers show. */
struct cdm_status {
	bool busy;
	struct gpu_fault fault;	/* of the running or last job */
	u64 time_start, time_end;	/* GPU clock; of the running or last job */
	u64 groups;	/* work-groups that finished, those of a stopped job until it stopped */
};

/* Make an idle CDM. NULL when memory lacks. */
struct cdm *cdm_create(const struct cdm_config *config);
void cdm_destroy(struct cdm *cdm);
/* The PDS whose ops (cdm_pds_ops, opaque this CDM) lead back here. */
void cdm_connect(struct cdm *cdm, struct pds *pds);
/* Back to idle at once, without callbacks; the PDS is reset beside it. */
void cdm_reset(struct cdm *cdm);

/*
 * Start a job: walk the control stream at the GPU virtual address stream, in
 * MMU context ctx. Returns false and does nothing while busy, or for a context
 * that does not exist. ops->ended comes from cdm_step() only.
 */
bool cdm_start(struct cdm *cdm, unsigned int ctx, u64 stream);
/* Stop the job; ignored while idle. What stopped a job first is how it ends. */
void cdm_abort(struct cdm *cdm);
/*
 * Walk on: about budget commands or ordinary work-groups, and at most one
 * launch's beginning. True while it could go on at once; after false, ops->wake
 * tells when to call again.
 */
bool cdm_step(struct cdm *cdm, unsigned int budget);
/* What the registers show; good until the next call of any function. */
const struct cdm_status *cdm_status(const struct cdm *cdm);

extern const struct pds_ops cdm_pds_ops;

#endif
