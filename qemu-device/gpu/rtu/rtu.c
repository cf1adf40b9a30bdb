// SPDX-License-Identifier: MIT
/*
 * Ray tracing unit: the rays of a wave.
 *
 * Source: hw/isa.xml, ray_query, for the registers of rays and results.
 *
 * Limits: one ray at a time. A ray that is interrupted is complete in walk[] and continues there.
 */
#include <stdlib.h>
#include <string.h>

#include "../host_alloc.h"
#include "perf.h"
#include "internal.h"
#include "pumice_regs.h"

struct rtu *rtu_create(struct mmu *mmu, u32 usc, u32 waves)
{
	struct rtu *rtu = calloc(1, sizeof(*rtu));

	if (!rtu)
		return NULL;
	rtu->mmu = mmu;
	rtu->tlb.usc = usc;
	mmu_tlb_set_far(&rtu->tlb, mmu_tlb_far_create(MMU_TLB_FAR_ENTRIES), MMU_TLB_FAR_ENTRIES);
	rtu->walk = calloc(waves, sizeof(*rtu->walk));
	if (!rtu->tlb.far || !rtu->walk) {
		rtu_destroy(rtu);
		return NULL;
	}
	return rtu;
}

void rtu_destroy(struct rtu *rtu)
{
	if (!rtu)
		return;
	free(rtu->walk);
	host_free(rtu->tlb.far);
	free(rtu);
}

void rtu_reset(struct rtu *rtu)
{
	mmu_tlb_reset(&rtu->tlb);
}

/* Registers of a ray and of a result, as they follow each other. */
struct ray_regs {
	float origin[3], min, direction[3], max;
};

struct result_regs {
	float t, u, v;
	u32 instance, primitive, kind;
};

_Static_assert(sizeof(struct ray_regs) == PUMICE_RT_RAY_REGS * 4, "registers of a ray");
_Static_assert(sizeof(struct result_regs) == PUMICE_RT_RESULT_REGS * 4, "registers of a result");

static void load_ray(const struct rtu_query *query, u32 lane, struct rtu_walk *walk)
{
	u32 words[PUMICE_RT_RAY_REGS];
	struct ray_regs regs;

	for (u32 n = 0; n < PUMICE_RT_RAY_REGS; n++)
		words[n] = query->ray[n * PUMICE_LANES + lane];
	memcpy(&regs, words, sizeof(regs));
	memcpy(walk->ray.origin, regs.origin, sizeof(regs.origin));
	memcpy(walk->ray.direction, regs.direction, sizeof(regs.direction));
	walk->min = regs.min;
	walk->hit = (struct rtu_hit){
		.t = regs.max, .instance = UINT32_MAX, .primitive = UINT32_MAX,
		.kind = PUMICE_RT_HIT_NONE,
	};
}

static void store_result(const struct rtu_query *query, u32 lane, const struct rtu_hit *hit)
{
	const struct result_regs result = {
		.t = hit->t, .u = hit->u, .v = hit->v, .instance = hit->instance,
		.primitive = hit->primitive, .kind = hit->kind,
	};
	u32 words[PUMICE_RT_RESULT_REGS];

	memcpy(words, &result, sizeof(words));
	for (u32 n = 0; n < PUMICE_RT_RESULT_REGS; n++)
		query->result[n * PUMICE_LANES + lane] = words[n];
}

/* Trace rays until the budget is used, and subtract their steps from it. */
static enum rtu_status trace(struct rtu *rtu, struct rtu_query *query, u32 *budget,
			     struct gpu_fault *fault)
{
	struct rtu_walk *walk = &rtu->walk[query->wave];

	walk->busy = query->resumed && walk->busy;
	for (; query->lanes; query->lanes &= query->lanes - 1) {
		const u32 lane = (u32)__builtin_ctz(query->lanes);

		if (!*budget)
			return RTU_MORE;
		if (!walk->busy) {
			--*budget;
			load_ray(query, lane, walk);
			if (!rtu_walk_begin(rtu, query, walk, fault))
				return RTU_FAULT;
		}
		if (!rtu_walk_run(rtu, query, walk, budget, fault)) {
			walk->busy = false;
			return RTU_FAULT;
		}
		walk->busy = walk->levels != 0;
		if (walk->busy)
			return RTU_MORE;
		store_result(query, lane, &walk->hit);
	}
	return RTU_DONE;
}

enum rtu_status rtu_trace(struct rtu *rtu, struct rtu_query *query, struct gpu_fault *fault)
{
	const u32 piece = rtu_piece(rtu->mmu);
	u32 budget = piece;
	const enum rtu_status status = trace(rtu, query, &budget, fault);

	query->steps = piece - budget;
	return status;
}

void rtu_counters_add(const struct rtu *rtu, u64 *value)
{
	value[PUMICE_PERF_RTU_RAYS] += atomic_load_explicit(&rtu->rays, memory_order_relaxed);
	value[PUMICE_PERF_RTU_NODES] += atomic_load_explicit(&rtu->nodes, memory_order_relaxed);
	value[PUMICE_PERF_RTU_LEAVES] += atomic_load_explicit(&rtu->leaves, memory_order_relaxed);
}
