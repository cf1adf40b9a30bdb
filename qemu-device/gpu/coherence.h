/* SPDX-License-Identifier: MIT */
/*
 * Mode strict: coherence of caches and TLBs with memory. Connects jobs, requests and operations of
 * the GPU to strict/lines.h and the MMU. In other modes the functions do nothing.
 */
#ifndef PUMICE_GPU_COHERENCE_H
#define PUMICE_GPU_COHERENCE_H

#include "mmu/mmu.h"
#include "pumice_regs.h"

struct pumice_gpu;

/* struct mmu, stale; opaque: the GPU. Report the use of a stale TLB entry. */
void coherence_stale(void *opaque, const struct mmu_stale *use);
/* A unit accesses memory, by a client of the memory hierarchy. */
void coherence_request(struct pumice_gpu *gpu, const struct mmu_request *r, u32 client);
/* An operation on caches. */
void coherence_operate(struct pumice_gpu *gpu, const struct mmu_cache_op *op);

/* A data master begins a job of an MMU context, or continues it. Device lock held. */
void coherence_job_begins(struct pumice_gpu *gpu, unsigned int ctx);
/* The compute job has ended, or that of another data master. Device lock held. */
void coherence_compute_ends(struct pumice_gpu *gpu);
struct gpu_master;
void coherence_job_ends(struct gpu_master *m);
/* The firmware reads the status of a data master, and so handles the end of its job. */
void coherence_job_handled(struct pumice_gpu *gpu, enum pumice_unit unit);
/* The firmware sleeps: it has handled ends of jobs. No lock held. */
void coherence_asleep(struct pumice_gpu *gpu);

#endif
