// SPDX-License-Identifier: MIT
/*
 * Vertex data master: the beginning and the end of a job.
 *
 * Source: document 004, "Master VDM". walk.c has the control stream, core.c the work of a
 * core; state.h describes the rest.
 *
 * A job ends in the step of a core, when no core has work of it. A reason to stop before its
 * HALT only selects how it ends: the first reason wins. A stopped job keeps no pages.
 */
#include "vdm.h"

#include <stdlib.h>
#include <string.h>

#include "../number.h"
#include "perf.h"
#include "state.h"

static void task_done(void *opaque, unsigned int number, const struct usc_gfx *gfx)
{
	struct vdm *vdm = opaque;
	struct vdm_core *core = &vdm->core[number];
	_Atomic bool *done = gfx->opaque;
	bool last;

	atomic_store(done, true);
	last = atomic_fetch_sub(&core->outstanding, 1) == 1;
	/* Nothing of the task is used from here. */
	if (atomic_exchange(&core->watching, false) || last)
		vdm->config.ops->wake(vdm->config.opaque, number);
}

static void task_fault(void *opaque, unsigned int number, const struct usc_gfx *gfx,
		       const struct gpu_fault *fault)
{
	struct vdm *vdm = opaque;

	(void)number;
	(void)gfx;
	vdm->config.ops->lock(vdm->config.opaque);
	dm_stop_fault(&vdm->run, fault);
	vdm->config.ops->unlock(vdm->config.opaque);
}

static void room(void *opaque, unsigned int number)
{
	struct vdm *vdm = opaque;

	vdm->config.ops->wake(vdm->config.opaque, number);
}

static const struct pds_task_ops task_ops = {
	.task_done = task_done,
	.task_fault = task_fault,
	.room = room,
};

static void init_fifos(struct vdm_core *core)
{
	fifo_init(&core->idx, core->vdm->config.idx_fifo);
	fifo_init(&core->fifo, core->vdm->config.chunk_fifo);
	core->chunks = 0;
}

static bool core_init(struct vdm *vdm, unsigned int number)
{
	struct vdm_core *core = &vdm->core[number];
	const struct ta_config config = {
		.core = number, .mmu = vdm->config.mmu, .pm = vdm->config.pm,
	};

	core->vdm = vdm;
	core->number = number;
	core->tlb.place = number + 1;
	core->ta = ta_create(&config);
	init_fifos(core);
	return core->ta;
}

struct vdm *vdm_create(const struct dm_config *config)
{
	struct vdm *vdm = calloc(1, sizeof(*vdm));
	unsigned int i;
	bool ok;

	if (!vdm)
		return NULL;
	vdm->config = *config;
	vdm->core = calloc(config->cores, sizeof(*vdm->core));
	ok = vdm->core;
	for (i = 0; ok && i < config->cores; i++)
		ok = core_init(vdm, i);
	if (!ok) {
		vdm_destroy(vdm);
		return NULL;
	}
	pds_set_task_ops(config->pds, PDS_DM_VDM, &task_ops, vdm);
	return vdm;
}

void vdm_destroy(struct vdm *vdm)
{
	unsigned int i;

	if (!vdm)
		return;
	vdm_dispatch_clear(vdm);
	for (i = 0; vdm->core && i < vdm->config.cores; i++)
		ta_destroy(vdm->core[i].ta);
	free(vdm->core);
	free(vdm);
}

/* Clear all state of a job from a core. */
static void core_clear(struct vdm_core *core)
{
	core->busy = core->writing = core->begun = core->progressed = core->filling = false;
	core->quiet = core->keep = core->reuse.valid = core->binning = false;
	core->traced = 0;
	atomic_store(&core->stalled, false);
	core->phase = VDM_CORE_IDLE;
	core->first = core->back = core->front = core->queued = 0;
	core->vpm = core->prims = 0;	/* the PDS is reset, too */
	init_fifos(core);
}

void vdm_reset(struct vdm *vdm)
{
	unsigned int i;

	vdm_dispatch_clear(vdm);
	for (i = 0; i < vdm->config.cores; i++) {
		core_clear(&vdm->core[i]);
		if (ta_is_large(vdm->core[i].ta))	/* a step frees its memory */
			vdm->config.ops->wake(vdm->config.opaque, i);
		atomic_store(&vdm->core[i].outstanding, 0);
		atomic_store(&vdm->core[i].indices, 0);
		atomic_store(&vdm->core[i].vertices, 0);
		ta_reset_counters(vdm->core[i].ta);
		mmu_tlb_reset(&vdm->core[i].tlb);
	}
	memset(&vdm->walk, 0, sizeof(vdm->walk));
	vdm->walk_wanted = false;
	vdm->run = (struct dm_run){ 0 };
	vdm->primitives = 0;
	vdm->phase = VDM_IDLE;
	atomic_store(&vdm->stopping, false);
	vdm->scene_open = false;
}

static u64 now(const struct vdm *vdm)
{
	return vdm->config.ops->now(vdm->config.opaque);
}

void vdm_wake_all(const struct vdm *vdm)
{
	unsigned int i;

	for (i = 0; i < vdm->config.cores; i++)
		vdm->config.ops->wake(vdm->config.opaque, i);
}

static void stopped(void *opaque)
{
	struct vdm *vdm = opaque;

	vdm->phase = VDM_DRAIN;
	atomic_store(&vdm->stopping, true);
	pds_dm_abort(vdm->config.pds, PDS_DM_VDM);
	vdm_wake_all(vdm);
}

static const struct dm_unit vdm_unit = { .unit = PUMICE_UNIT_VDM, .stopped = stopped };

bool vdm_start(struct vdm *vdm, const struct dm_job *job)
{
	if (vdm->phase != VDM_IDLE || job->ctx >= PUMICE_MMU_CONTEXTS)
		return false;
	dm_run_begin(&vdm->run, &vdm_unit, vdm, now(vdm));
	vdm->phase = VDM_BEGIN;
	vdm->job = *job;
	if (!vdm->job.split)
		vdm->job.split = 1;
	vdm->scene_open = false;
	vdm->begun = 0;
	vdm->before = 0;
	vdm->short_of_pages = vdm->exclusive = vdm->flushed = vdm->progress = false;
	vdm->held = false;
	vdm_walk_begin(vdm);
	trace_set_tag(vdm->config.trace, TRACE_VDM, job->tag);
	trace_event(vdm->config.trace, PUMICE_TRACE_KIND_JOB_START, TRACE_VDM, job->ctx, TRACE_VDM,
		    job->stream, trace_job(job->tag, false));
	vdm->config.ops->wake(vdm->config.opaque, 0);
	return true;
}

enum pm_result vdm_begin_piece(struct vdm *vdm, struct gpu_fault *fault)
{
	const struct pm_scene_state none = { 0 };
	struct pm *pm = vdm->config.pm;
	enum pm_result result;

	if (!vdm->begun)
		result = pm_scene_load_piece(pm, vdm->job.scene, vdm->job.ctx, &vdm->scene, fault);
	else
		result = pm_scene_begin_piece(pm, &vdm->scene, fault);
	if (result != PM_OK)
		return result;
	if (!vdm->begun++)
		return PM_MORE;
	vdm->scene_open = true;
	return pm_scene_state_write(pm, &vdm->scene, &none, fault) ? PM_OK : PM_FAULT;
}

void vdm_run(struct vdm *vdm)
{
	vdm->cores = min_u32(vdm->config.cores, vdm->scene.cores);
	vdm->phase = VDM_RUN;
	vdm_wake_all(vdm);
}

void vdm_abort(struct vdm *vdm)
{
	dm_abort(&vdm->run);
}

void vdm_resume(struct vdm *vdm)
{
	unsigned int i;

	if (vdm->phase != VDM_MEMORY)
		return;
	for (i = 0; i < vdm->cores; i++)
		atomic_store(&vdm->core[i].stalled, false);
	vdm->short_of_pages = false;
	vdm->phase = VDM_RUN;
	vdm_wake_all(vdm);
}

void vdm_flush(struct vdm *vdm)
{
	unsigned int i;

	if (vdm->phase != VDM_MEMORY)
		return;
	if (!vdm->scene.spill) {
		dm_stop_at(&vdm->run, PUMICE_FAULT_PM_MEMORY, 0, vdm->scene.addr);
		return;
	}
	vdm_dispatch_rewind(vdm);
	vdm->phase = VDM_FLUSH;
	vdm->used = vdm->pending = 0;
	for (i = 0; i < vdm->cores; i++)
		vdm->pending += vdm->core[i].begun;
	vdm_wake_all(vdm);
}

static void end_job(struct vdm *vdm)
{
	unsigned int i;

	vdm_dispatch_clear(vdm);
	/*
	 * All cores are idle; their own threads have cleared the fields that belong to them.
	 */
	for (i = 0; i < vdm->config.cores; i++)
		vdm->core[i].begun = vdm->core[i].progressed = false;
	pds_dm_abort(vdm->config.pds, PDS_DM_VDM);	/* cancels waiting claims of the job */
	vdm->phase = VDM_IDLE;
	atomic_store(&vdm->stopping, false);
	dm_run_end(&vdm->run, now(vdm));
	trace_event(vdm->config.trace, PUMICE_TRACE_KIND_JOB_END, TRACE_VDM,
		    vdm->job.ctx, TRACE_VDM, vdm->run.status.fault.fault, vdm->run.end);
	trace_set_tag(vdm->config.trace, TRACE_VDM, 0);
	if (vdm->run.end != DM_DONE)
		vdm_wake_all(vdm);	/* so that their TAs free memory */
	vdm->config.ops->ended(vdm->config.opaque, vdm->run.end);
}

enum pm_result vdm_free_piece(struct vdm *vdm)
{
	struct gpu_fault ignored = { 0 };

	return pm_free_scene_piece(vdm->config.pm, &vdm->scene, TRACE_VDM, &ignored);
}

void vdm_freed(struct vdm *vdm)
{
	const struct pm_scene_state none = { 0 };
	struct gpu_fault ignored = { 0 };

	pm_scene_state_write(vdm->config.pm, &vdm->scene, &none, &ignored);
	end_job(vdm);
}

void vdm_try_end(struct vdm *vdm, unsigned int number)
{
	unsigned int i;

	for (i = 0; i < vdm->config.cores; i++) {
		const struct vdm_core *core = &vdm->core[i];

		if (core->busy || core->writing || atomic_load(&core->outstanding))
			return;
	}
	if (!vdm->scene_open) {
		end_job(vdm);
		return;
	}
	vdm->phase = VDM_FREE;
	vdm->freeing_core = number;
}

void vdm_headers_done(struct vdm *vdm)
{
	const bool flush = vdm->phase == VDM_FLUSH;
	struct pm_scene_state state;
	struct gpu_fault fault = { 0 };

	if (!pm_scene_state_read(vdm->config.pm, &vdm->scene, &state, &fault)) {
		dm_stop_fault(&vdm->run, &fault);
		return;
	}
	state.valid = true;
	state.used = vdm->used;
	state.limit = flush ? vdm->lowest + 1 : 0;
	if (!pm_scene_state_write(vdm->config.pm, &vdm->scene, &state, &fault)) {
		dm_stop_fault(&vdm->run, &fault);
		return;
	}
	if (!flush) {
		end_job(vdm);
		return;
	}
	vdm->flushed = true;
	vdm->progress = false;
	vdm->phase = VDM_MEMORY;
	vdm->config.ops->ended(vdm->config.opaque, DM_MEMORY);
}

const struct dm_status *vdm_status(const struct vdm *vdm)
{
	return &vdm->run.status;
}

void vdm_counters_add(const struct vdm *vdm, u64 *value)
{
	unsigned int i;

	value[PUMICE_PERF_VDM_BUSY] += dm_run_busy_ns(&vdm->run, now(vdm));
	value[PUMICE_PERF_VDM_PRIMITIVES] += vdm->primitives;
	for (i = 0; i < vdm->config.cores; i++) {
		const struct vdm_core *core = &vdm->core[i];
		const struct ta_counters *ta = ta_counters(core->ta);

		value[PUMICE_PERF_VDM_INDICES] += atomic_load(&core->indices);
		value[PUMICE_PERF_VDM_VERTICES] += atomic_load(&core->vertices);
		value[PUMICE_PERF_VDM_IDX_WAITS] += atomic_load(&core->idx.waited);
		value[PUMICE_PERF_VDM_IDX_OCCUPANCY] += atomic_load(&core->idx.occupancy);
		value[PUMICE_PERF_VDM_FIFO_OCCUPANCY] += atomic_load(&core->fifo.occupancy);
		value[PUMICE_PERF_TA_CULLED] += ta->culled;
		value[PUMICE_PERF_TA_CLIPPED] += ta->clipped;
		value[PUMICE_PERF_TA_BLOCKS] += ta->blocks;
		value[PUMICE_PERF_TA_TILE_ENTRIES] += ta->tile_entries;
	}
}
