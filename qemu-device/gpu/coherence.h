/* SPDX-License-Identifier: MIT */
/*
 * Mode strict: coherence of caches and TLBs with memory. Connects jobs, requests and operations of
 * the GPU to strict/lines.h and the MMU, and requests to the bounds of buffers, strict/places.h. In
 * other modes the functions do nothing.
 */
#ifndef PUMICE_GPU_COHERENCE_H
#define PUMICE_GPU_COHERENCE_H

#include "masters.h"
#include "mmu/mmu.h"
#include "pumice_regs.h"

struct pumice_gpu;

/* Data masters: enum gpu_master_number, and the CDM. */
#define COHERENCE_CDM		GPU_MASTERS
#define COHERENCE_MASTERS	(GPU_MASTERS + 1u)

/* A job that runs: its registers, as START has latched them. */
struct coherence_job {
	unsigned int ctx;
	u64 tag;
};

/* struct mmu, stale; opaque: the GPU. Report the use of a stale TLB entry. */
void coherence_stale(void *opaque, const struct mmu_stale *use);
/* struct mmu, walked; opaque: the GPU. Report memory of tables that has another use. */
void coherence_walked(void *opaque, const struct mmu_walked *walked);
/* A unit accesses memory, by a client of the memory hierarchy. */
void coherence_request(struct pumice_gpu *gpu, const struct mmu_request *r, u32 client);
/*
 * struct mmu, held; opaque: the GPU. A unit reads by the caches: copy a grain that has stale bytes
 * as they hold it.
 */
bool coherence_held(void *opaque, const struct mmu_request *read, const u8 *grain, u8 *to);
/* The tables of an MMU context will be replaced: bytes that only caches hold are of the former. */
void coherence_tables_change(struct pumice_gpu *gpu, unsigned int ctx);
/* All jobs have ended: a reset. Parked. */
void coherence_reset(struct pumice_gpu *gpu);
/* An operation on caches. */
void coherence_operate(struct pumice_gpu *gpu, const struct mmu_cache_op *op);

/*
 * Before a data master begins the job in its registers, or continues it; not one that is busy,
 * which ignores START. number: enum gpu_master_number, or COHERENCE_CDM. Device lock held.
 */
void coherence_job_begins(struct pumice_gpu *gpu, u32 number);
/* The job of a data master has ended. Device lock held. */
void coherence_job_ends(struct pumice_gpu *gpu, u32 number);
/* The compute job was switched out. Device lock held. */
void coherence_compute_switched(struct pumice_gpu *gpu);
/* The firmware clears events, ends of jobs among them. */
void coherence_events_cleared(struct pumice_gpu *gpu, u32 events);
/*
 * The firmware reads the status of a data master, and so handles the end of its job. One whose
 * event it has not cleared is not handled: fault injection delays or drops events, and the status
 * is read for other reasons, too.
 */
void coherence_job_handled(struct pumice_gpu *gpu, enum pumice_unit unit);
/*
 * The firmware updates an object for a job, of this TAG, that has ended: note bytes that the job
 * wrote and the caches hold, as others may read memory now. Device lock held.
 */
void coherence_signalled(struct pumice_gpu *gpu, u64 tag);
/* The firmware sleeps: it has handled ends of jobs. No lock held. */
void coherence_asleep(struct pumice_gpu *gpu);

#endif
