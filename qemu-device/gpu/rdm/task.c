// SPDX-License-Identifier: MIT
/*
 * Ray-tracing data master: tasks on the USCs.
 *
 * Source: document 000, "Programmable Data Sequencer". Tasks are dispatched in the order of the
 * queue, to the cores in turn.
 */
#include <string.h>

#include "state.h"

struct rdm_task *rdm_task_find(struct rdm *rdm, u32 first, u32 end)
{
	for (u32 n = first; n < end; n++)
		if (rdm->task[n].phase == RDM_TASK_FREE)
			return &rdm->task[n];
	return NULL;
}

void rdm_task_take(struct rdm *rdm, struct rdm_task *task, enum rdm_kind kind,
		   enum rdm_task_phase phase)
{
	task->kind = kind;
	task->phase = phase;
	task->launch = &rdm->launch[rdm->current];
	task->launch->tasks++;
	task->filling = false;
}

void rdm_task_free(struct rdm_task *task)
{
	task->phase = RDM_TASK_FREE;
	task->launch->tasks--;
}

void rdm_task_queue(struct rdm *rdm, struct rdm_task *task)
{
	task->phase = RDM_TASK_QUEUED;
	rdm->queue[(rdm->queue_first + rdm->queued++) % RDM_TASKS] = (u8)(task - rdm->task);
}

/* A core has room for a task: the RDM waits on no other. */
static void leave_others(struct rdm *rdm, unsigned int core)
{
	u32 waits = rdm->waits_on & ~(1u << core);

	for (; waits; waits &= waits - 1)
		pds_task_leave(rdm->config.pds, PDS_DM_RDM, (unsigned int)__builtin_ctz(waits));
	rdm->waits_on = 0;
	rdm->next_core = (core + 1) % rdm->config.cores;
}

/* Claim room on any core. */
static enum rdm_result claim(struct rdm *rdm, struct rdm_task *task, struct gpu_fault *fault)
{
	const struct pds_stage *stage = &task->launch->stage[task->kind];
	unsigned int n;

	for (n = 0; n < rdm->config.cores; n++) {
		const unsigned int core = (rdm->next_core + n) % rdm->config.cores;

		switch (pds_task_claim(rdm->config.pds, PDS_DM_RDM, core, stage, task->count, 1,
				       &task->place, fault)) {
		case PDS_STARTED:
			leave_others(rdm, core);
			task->filling = true;
			task->fill_pc = 0;
			return RDM_MORE;
		case PDS_WAIT:
			rdm->waits_on |= 1u << core;
			break;
		default:
			return RDM_FAULTED;
		}
	}
	return RDM_STALL;
}

/* Return the bytes of the rows that a task has in the VPM: with the registers of its rays, or 0. */
static size_t output_bytes(const struct rdm_task *task)
{
	return task->place.vpm_rows * PUMICE_LANES * sizeof(*task->ray);
}

/* Start the filled task, which is the first of the queue. */
static void start(struct rdm *rdm, struct rdm_task *task)
{
	const struct pumice_rdm_state *state = &task->launch->programs.state;
	const bool generate = task->kind == RDM_GENERATE;

	task->gfx = (struct usc_gfx){
		.stage = generate ? USC_STAGE_RAYS : USC_STAGE_HIT, .sample = USC_PIXEL_RATE,
		.opaque = task, .uniforms = state->uniforms, .uniform_words = state->uniform_words,
	};
	if (generate) {
		task->gfx.vo = pds_pool_row(rdm->config.pds, &task->place);
		task->gfx.vo_words = PUMICE_RT_RAY_REGS;
		memset(task->gfx.vo, 0, output_bytes(task));
	}
	task->phase = RDM_TASK_RUN;
	task->filling = false;
	atomic_store(&task->ended, false);
	rdm->queue_first = (rdm->queue_first + 1) % RDM_TASKS;
	rdm->queued--;
	rdm_count(&rdm->tasks, 1);
	atomic_fetch_add(&rdm->running, 1);
	pds_task_start(rdm->config.pds, PDS_DM_RDM, &task->place, &task->gfx);
	if (atomic_load(&rdm->stopping)) {	/* it may have started after the abort */
		rdm->config.ops->lock(rdm->config.opaque);
		pds_dm_abort(rdm->config.pds, PDS_DM_RDM);
		rdm->config.ops->unlock(rdm->config.opaque);
	}
}

enum rdm_result rdm_task_start(struct rdm *rdm, struct gpu_fault *fault)
{
	struct rdm_task *task = &rdm->task[rdm->queue[rdm->queue_first]];
	const struct pds_stage *stage;
	struct pds_rays in;

	if (!rdm->queued)
		return RDM_STALL;
	if (!task->filling) {
		const enum rdm_result result = claim(rdm, task, fault);

		if (!task->filling)
			return result;
	}
	stage = &task->launch->stage[task->kind];
	in = (struct pds_rays){
		.index = task->index, .width = task->launch->width, .count = task->count,
		.ray = task->ray, .result = task->result,
	};
	if (!pds_fill_rays(rdm->config.pds, &task->place, stage, &in, &rdm->tlb, &task->fill_pc,
			   fault))
		return RDM_FAULTED;
	if (task->fill_pc == stage->program.insns)
		start(rdm, task);
	return RDM_MORE;
}

/*
 * Copy the rays that an ended task has generated: its rows are free before they are traced, which
 * may have to wait for tasks of hits and misses.
 */
static void read_outputs(struct rdm *rdm, struct rdm_task *task)
{
	if (!task->place.vpm_rows)
		return;
	memcpy(task->ray, task->gfx.vo, output_bytes(task));
	pds_pool_free(rdm->config.pds, PDS_DM_RDM, &task->place);
}

void rdm_task_reap(struct rdm *rdm)
{
	const bool stopping = atomic_load(&rdm->stopping);

	for (u32 n = 0; n < RDM_TASKS; n++) {
		struct rdm_task *task = &rdm->task[n];

		if (task->phase != RDM_TASK_RUN || !atomic_load(&task->ended))
			continue;
		rdm->ended += !stopping;
		read_outputs(rdm, task);
		if (task->kind == RDM_GENERATE && !stopping)
			task->phase = RDM_TASK_TRACE;
		else
			rdm_task_free(task);
	}
}

bool rdm_task_any(const struct rdm *rdm)
{
	for (u32 n = 0; n < RDM_TASKS; n++)
		if (rdm->task[n].phase != RDM_TASK_FREE)
			return true;
	return false;
}

void rdm_task_drop_all(struct rdm *rdm)
{
	for (u32 n = 0; n < RDM_TASKS; n++)
		if (rdm->task[n].phase != RDM_TASK_FREE && rdm->task[n].filling)
			pds_task_drop(rdm->config.pds, &rdm->task[n].place);
	rdm_task_reset(rdm);
}

void rdm_task_reset(struct rdm *rdm)
{
	for (u32 n = 0; n < RDM_TASKS; n++)
		rdm->task[n].phase = RDM_TASK_FREE;
	memset(rdm->collector, 0, sizeof(rdm->collector));
	rdm->tracing = NULL;
	rdm->queue_first = rdm->queued = 0;
	rdm->waits_on = 0;
}

/* struct pds_task_ops; called by any thread. */

static void task_done(void *opaque, unsigned int core, const struct usc_gfx *gfx)
{
	struct rdm_task *task = gfx->opaque;
	struct rdm *rdm = opaque;

	(void)core;
	atomic_store(&task->ended, true);
	/* Nothing of the task is used from here. */
	atomic_fetch_sub(&rdm->running, 1);
	rdm->config.ops->wake(rdm->config.opaque, 0);
}

static void task_fault(void *opaque, unsigned int core, const struct usc_gfx *gfx,
		       const struct gpu_fault *fault)
{
	struct rdm *rdm = opaque;

	(void)core;
	(void)gfx;
	rdm->config.ops->lock(rdm->config.opaque);
	dm_stop_fault(&rdm->run, fault);
	rdm->config.ops->unlock(rdm->config.opaque);
}

static void room(void *opaque, unsigned int core)
{
	struct rdm *rdm = opaque;

	(void)core;
	rdm->config.ops->wake(rdm->config.opaque, 0);
}

const struct pds_task_ops rdm_task_ops = {
	.task_done = task_done,
	.task_fault = task_fault,
	.room = room,
};
