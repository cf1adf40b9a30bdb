/* SPDX-License-Identifier: MIT */
/*
 * Ray tracing unit (RTU): walks acceleration structures for rays of a wave. Each USC has a port
 * of it, with a TLB of its own.
 *
 * Source: document 000, "Terminology"; hw/rt.xml for structures; Documentation/rays.rst for the
 * arithmetic. Used by one thread at a time.
 *
 * Limits: some rtu_piece() steps of a query are done in a call, so that a structure in guest memory
 * cannot occupy the unit, and PUMICE_RT_MAX_STEPS of a ray in all.
 */
#ifndef PUMICE_GPU_RTU_H
#define PUMICE_GPU_RTU_H

#include <stdbool.h>

#include "../fault.h"
#include "../mmu/mmu.h"

struct rtu;

/* Steps, nodes and leaves, after which a call returns: less than 0.2 ms. */
#define RTU_PIECE 2048u
/* The same in detailed modes, where each is a request to the memory hierarchy or two. */
#define RTU_DETAILED_PIECE 256u

/* Return the steps after which a call returns. */
static inline u32 rtu_piece(const struct mmu *mmu)
{
	return mmu_is_detailed(mmu) ? RTU_DETAILED_PIECE : RTU_PIECE;
}

/*
 * usc: the one whose caches serve it, over all cores; of the walker of the data master, which is
 * outside of the cores, the first one. waves: number of queries that can be interrupted at a time.
 */
struct rtu *rtu_create(struct mmu *mmu, u32 usc, u32 waves);
void rtu_destroy(struct rtu *rtu);
/* Clear the TLB. Counts are kept. */
void rtu_reset(struct rtu *rtu);

struct rtu_query {
	unsigned int ctx;	/* MMU context */
	u64 addr;		/* of the structure */
	bool any;		/* end with the first hit that is found */
	const u32 *ray;		/* PUMICE_RT_RAY_REGS rows of 32 lanes */
	u32 *result;		/* PUMICE_RT_RESULT_REGS rows; may be those of the ray */
	u32 lanes;		/* lanes still to do, which are removed */
	u32 wave;		/* whose query it is; less than waves */
	u32 steps;		/* out: done in this call, nodes, leaves
				 * and rays, at most rtu_piece() */
	bool resumed;		/* continues the wave's query, after MORE */
};

enum rtu_status { RTU_DONE, RTU_MORE, RTU_FAULT };

/*
 * Trace the rays of a query's lanes, lowest first. MORE: call again, with resumed. FAULT: *fault is
 * filled in except usc and pc; it is that of the lowest lane left.
 */
enum rtu_status rtu_trace(struct rtu *rtu, struct rtu_query *query, struct gpu_fault *fault);

/* Add the counters RTU_* to value[], by enum pumice_perf_counter. Any thread. */
void rtu_counters_add(const struct rtu *rtu, u64 *value);

#endif
