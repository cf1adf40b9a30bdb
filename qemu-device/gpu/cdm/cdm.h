/* SPDX-License-Identifier: MIT */
/*
 * Compute data master (CDM): walks the control stream of one compute job and dispatches its
 * work-groups to the PDS.
 *
 * Source: document 000, "Compute Workload". One job at a time; sub-lists nest
 * PUMICE_CDM_MAX_DEPTH deep. A job can be switched out at a work-group boundary and resumed
 * later (formats.xml, cdm_save).
 *
 * Each core has a source, which fills and starts work-groups there, in steps of its own.
 *
 * Locking: every function is called with the device lock held, except cdm_source_step().
 */
#ifndef PUMICE_GPU_CDM_H
#define PUMICE_GPU_CDM_H

#include <stdatomic.h>
#include <stdbool.h>

#include "../dm/dm.h"
#include "../fault.h"
#include "../mmu/mmu.h"
#include "../pds/pds.h"
#include "../trace/trace.h"

struct cdm;

struct cdm_ops {
	void (*ended)(void *opaque, enum dm_end end);	/* all groups of the job have drained */
	void (*wake)(void *opaque);	/* cdm_step() has something to do; no lock, or any */
	void (*wake_source)(void *opaque, unsigned int core);	/* cdm_source_step(), likewise */
	void (*lock)(void *opaque);	/* the device lock */
	void (*unlock)(void *opaque);
	u64 (*now)(void *opaque);	/* GPU clock */
};

struct cdm_config {
	unsigned int cores;	/* 1 to PUMICE_MAX_CORES */
	struct mmu *mmu;
	const struct cdm_ops *ops;
	void *opaque;
	struct trace *trace;	/* or NULL */
};

/* Values latched when a job is started. */
struct cdm_job {
	unsigned int ctx;	/* MMU context of stream and groups */
	u64 stream;		/* GPU virtual address; not used by a job that is resumed */
	u64 save;		/* GPU virtual address, in context 0, of its cdm_save */
	u64 tag;		/* CDM_TAG */
};

/* Allocate an idle CDM. Returns NULL when out of memory. */
struct cdm *cdm_create(const struct cdm_config *config);
void cdm_destroy(struct cdm *cdm);
/* Connect the PDS whose ops (cdm_pds_ops) have this CDM as opaque. */
void cdm_connect(struct cdm *cdm, struct pds *pds);
/* Return to idle at once, without callbacks; the caller resets the PDS as well. */
void cdm_reset(struct cdm *cdm);

/*
 * Start a job: walk its control stream, or resume the state that a switch saved at job->save.
 * Returns false and does nothing while busy, or for a context that does not exist. Only
 * cdm_step() calls ops->ended.
 */
bool cdm_start(struct cdm *cdm, const struct cdm_job *job);
bool cdm_resume(struct cdm *cdm, const struct cdm_job *job);
/* Stop the job; ignored while idle. The first reason to stop a job determines how it ends. */
void cdm_abort(struct cdm *cdm);
/*
 * Switch the job out: dispatch no more groups; when the running ones are done, save the state
 * and end as DM_SWITCHED, unless the job completes or is stopped before that. Ignored
 * while idle.
 */
void cdm_switch_out(struct cdm *cdm);
/*
 * Continue the walk: about budget commands, and at most the beginning of one launch. True while
 * more can be done at once; after false, ops->wake requests the next call.
 */
bool cdm_step(struct cdm *cdm, unsigned int budget);
/*
 * Step the source of a core, which dispatches work-groups: about budget ordinary ones, less when
 * *stop becomes true. One thread at a time for each core; no lock. True while more can be done at
 * once; after false, ops->wake_source requests the next call.
 */
bool cdm_source_step(struct cdm *cdm, unsigned int core, unsigned int budget,
		     const _Atomic bool *stop);
/* State visible in registers; valid until the next call of any function. */
const struct dm_status *cdm_status(struct cdm *cdm);
/* Add the counters CDM_* to value[], by enum pumice_perf_counter. */
void cdm_counters_add(const struct cdm *cdm, u64 *value);

extern const struct pds_ops cdm_pds_ops;

#endif
