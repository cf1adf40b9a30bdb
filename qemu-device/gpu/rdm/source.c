// SPDX-License-Identifier: MIT
/*
 * Ray-tracing data master: rays from their source through the walker to the tasks of hits and
 * misses.
 *
 * Source: hw/rdm.xml. A buffer of rays is guest memory: each word is read once.
 */
#include "../number.h"
#include "state.h"

#define KIND_ROW	(PUMICE_RT_RESULT_REGS - 1)	/* of a result: enum pumice_rt_hit */

/* Set up the next wave of a batch to be traced. */
static void begin_wave(struct rdm_task *batch)
{
	const u32 left = batch->count - batch->wave * PUMICE_LANES;
	const u32 lanes = left < PUMICE_LANES ? (1u << left) - 1 : UINT32_MAX;

	batch->lanes = batch->collect = lanes;
	batch->resumed = false;
}

/* Read the rays of a batch from the buffer. */
static bool read_rays(struct rdm *rdm, struct rdm_task *batch, struct gpu_fault *fault)
{
	u32 words[PUMICE_TASK_INSTANCES][PUMICE_RDM_RAY_WORDS];
	const u64 addr = batch->launch->addr + (u64)batch->index[0] * sizeof(words[0]);
	u32 n, reg;

	_Static_assert(PUMICE_RDM_RAY_WORDS == PUMICE_RT_RAY_REGS, "rays in memory are registers");
	if (!mmu_read(rdm->config.mmu, &rdm->tlb, rdm->job.ctx, addr, words,
		      batch->count * sizeof(words[0]), PUMICE_ACCESS_READ,
		      MMU_SECOND(PUMICE_UNIT_RDM), fault))
		return false;
	for (n = 0; n < batch->count; n++) {
		u32 *rows = batch->ray + n / PUMICE_LANES * PUMICE_RT_RAY_REGS * PUMICE_LANES;

		for (reg = 0; reg < PUMICE_RT_RAY_REGS; reg++)
			rows[reg * PUMICE_LANES + n % PUMICE_LANES] = words[n][reg];
	}
	return true;
}

enum rdm_result rdm_source_begin(struct rdm *rdm, struct gpu_fault *fault)
{
	struct rdm_launch *launch = &rdm->launch[rdm->current];
	struct rdm_task *batch = rdm_task_find(rdm, 0, RDM_BATCHES);
	const bool generates = launch->programs.stage[RDM_GENERATE].pds_insns;
	const u64 left = launch->rays - launch->next;
	u32 most = rdm->config.batch, n;

	if (!left || !batch)
		return RDM_STALL;
	if (generates)
		most = pds_pool_instances(rdm->config.pds, PUMICE_RT_RAY_REGS);
	batch->count = (u32)(left < most ? left : most);
	for (n = 0; n < batch->count; n++)
		batch->index[n] = (u32)launch->next++;
	rdm_task_take(rdm, batch, RDM_GENERATE, RDM_TASK_TRACE);
	if (generates)
		rdm_task_queue(rdm, batch);
	else if (!read_rays(rdm, batch, fault))
		return RDM_FAULTED;
	batch->wave = 0;
	begin_wave(batch);
	return RDM_MORE;
}

/* Copy the registers of a lane of a wave. */
static void copy_lane(u32 *to, u32 to_lane, const u32 *from, u32 from_lane, u32 registers)
{
	for (u32 reg = 0; reg < registers; reg++)
		to[reg * PUMICE_LANES + to_lane] = from[reg * PUMICE_LANES + from_lane];
}

/* Add a traced ray to the task of its kind. False: no task is free. */
static bool collect(struct rdm *rdm, const struct rdm_task *batch, u32 lane)
{
	const u32 *ray = batch->ray + batch->wave * PUMICE_RT_RAY_REGS * PUMICE_LANES;
	const u32 *result = batch->result + batch->wave * PUMICE_RT_RESULT_REGS * PUMICE_LANES;
	const bool hit = result[KIND_ROW * PUMICE_LANES + lane] != PUMICE_RT_HIT_NONE;
	const enum rdm_kind kind = hit ? RDM_HIT : RDM_MISS;
	struct rdm_task *task = rdm->collector[kind];
	u32 at;

	if (batch->launch->programs.stage[kind].pds_insns) {
		if (!task)
			task = rdm_task_find(rdm, RDM_BATCHES, RDM_TASKS);
		if (!task)
			return false;
		if (!rdm->collector[kind]) {
			rdm_task_take(rdm, task, kind, RDM_TASK_COLLECT);
			task->count = 0;
		}
		rdm->collector[kind] = task;
		at = task->count++;
		task->index[at] = batch->index[batch->wave * PUMICE_LANES + lane];
		copy_lane(task->ray + at / PUMICE_LANES * PUMICE_RT_RAY_REGS * PUMICE_LANES,
			  at % PUMICE_LANES, ray, lane, PUMICE_RT_RAY_REGS);
		copy_lane(task->result + at / PUMICE_LANES * PUMICE_RT_RESULT_REGS * PUMICE_LANES,
			  at % PUMICE_LANES, result, lane, PUMICE_RT_RESULT_REGS);
		if (task->count == rdm->config.batch) {
			rdm_task_queue(rdm, task);
			rdm->collector[kind] = NULL;
		}
	}
	rdm_count(&rdm->rays, 1);
	rdm_count(&rdm->hits, hit);
	return true;
}

/* Trace a piece of the rays of a wave. */
static enum rdm_result trace(struct rdm *rdm, struct rdm_task *batch, struct gpu_fault *fault)
{
	struct rtu_query query = {
		.ctx = rdm->job.ctx, .addr = batch->launch->programs.state.structure,
		.any = batch->launch->programs.state.any,
		.ray = batch->ray + batch->wave * PUMICE_RT_RAY_REGS * PUMICE_LANES,
		.result = batch->result + batch->wave * PUMICE_RT_RESULT_REGS * PUMICE_LANES,
		.lanes = batch->lanes, .resumed = batch->resumed,
	};
	const enum rtu_status status = rtu_trace(rdm->rtu, &query, fault);

	batch->lanes = query.lanes;
	batch->resumed = true;
	return status == RTU_FAULT ? RDM_FAULTED : RDM_MORE;
}

/* Return the batch to trace; the walker continues with the one that it has begun. */
static struct rdm_task *batch_to_trace(const struct rdm *rdm)
{
	if (rdm->tracing)
		return rdm->tracing;
	for (u32 n = 0; n < RDM_BATCHES; n++)
		if (rdm->task[n].phase == RDM_TASK_TRACE)
			return &rdm->task[n];
	return NULL;
}

enum rdm_result rdm_source_trace(struct rdm *rdm, struct gpu_fault *fault)
{
	struct rdm_task *batch = batch_to_trace(rdm);

	rdm->tracing = batch;
	if (!batch)
		return RDM_STALL;
	if (batch->lanes)
		return trace(rdm, batch, fault);
	for (; batch->collect; batch->collect &= batch->collect - 1)
		if (!collect(rdm, batch, (u32)__builtin_ctz(batch->collect)))
			return RDM_STALL;
	if (++batch->wave * PUMICE_LANES < batch->count) {
		begin_wave(batch);
		return RDM_MORE;
	}
	rdm_task_free(batch);
	rdm->tracing = NULL;
	return RDM_MORE;
}

void rdm_source_flush(struct rdm *rdm)
{
	for (enum rdm_kind kind = RDM_HIT; kind < RDM_KINDS; kind++) {
		if (rdm->collector[kind])
			rdm_task_queue(rdm, rdm->collector[kind]);
		rdm->collector[kind] = NULL;
	}
}
