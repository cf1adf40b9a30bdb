// SPDX-License-Identifier: MIT
/*
 * PDM: rendering of a tile, from clear or load to store.
 *
 * Source: document 004, "PDM", "ISP", "PBE"; hw/formats.xml, pdm_render. Nothing here blocks:
 * a tile that needs the results of running tasks returns PDM_STEP_WAIT, and the core's unit is
 * woken when they have ended.
 */
#include <string.h>

#include "../pds/direct.h"
#include "state.h"

#define COST_PLAIN	16u	/* of loads and stores, in units of about 50 ns */

void pdm_tile_begin(struct pdm_tile *tile)
{
	const struct pdm *pdm = tile->pdm;
	const struct pm_scene *scene = &pdm->scene;
	struct isp_tile *isp = &tile->isp;

	tsp_cache_begin(&tile->core->vertices, pdm->number);
	tile->number_x = tile->entry.x;
	tile->number_y = tile->entry.y;
	tile->macro = pm_macro_tile(scene, tile->number_x, tile->number_y);
	isp->x0 = tile->number_x * scene->tile_w;
	isp->y0 = tile->number_y * scene->tile_h;
	isp->width = scene->tile_w;
	isp->height = scene->tile_h;
	isp->clip_x = scene->width - isp->x0 < isp->width ? scene->width - isp->x0 : isp->width;
	isp->clip_y = scene->height - isp->y0 < isp->height ? scene->height - isp->y0 : isp->height;
	isp->samples = scene->samples;
	tile->usc = (struct usc_tile){
		.pixels = (u16)(isp->width * isp->height), .words = pdm->render.outputs,
		.samples = (u8)scene->samples, .x0 = (u16)isp->x0, .y0 = (u16)isp->y0,
		.width = (u16)isp->width, .height = (u16)isp->height,
	};
	tile->stats = (struct pumice_tile_stats){ 0 };
	tile->tasks = 0;
	tile->waits = tile->isp_waits = 0;
	tile->isp_held = false;
	pdm_scoreboard_reset(&tile->scoreboard);
	tile->varying_planes = 0;
	tile->vertices.total = 0;
	tile->mask = 0;
	tile->triangles = 0;
	tile->at_triangle = 0;
	tile->finished = false;
	tile->is_constant = false;
	tile->drop_objects = false;
	tile->object_known = false;
	tile->prim_count = 0;
	tile->built = NULL;
	tile->filling = false;
	tile->phase = PDM_TILE_ROOM;
	tile->traced = pdm_trace_start(tile, PUMICE_TRACE_KIND_TILE);
}

static void enter(struct pdm_tile *tile, enum pdm_phase phase)
{
	tile->phase = phase;
	if (phase == PDM_TILE_WALK)
		tile->traced_isp = pdm_trace_start(tile, PUMICE_TRACE_KIND_ISP);
}

static struct isp_zs zs_of(const struct pdm *pdm)
{
	const struct pumice_pdm_render *r = &pdm->render;

	return (struct isp_zs){
		.ctx = pdm->job.ctx, .format = r->depth_format,
		.depth = r->depth_addr, .stencil = r->stencil_addr,
		.depth_stride = r->depth_stride, .stencil_stride = r->stencil_stride,
	};
}

static struct isp_mask_plane mask_of(const struct pdm *pdm)
{
	const struct pumice_pdm_render *r = &pdm->render;

	return (struct isp_mask_plane){
		.ctx = pdm->job.ctx, .addr = r->mask_addr, .stride = r->mask_stride,
	};
}

/* Load depth, stencil and mask from memory as the record requests. */
static bool load_planes(struct pdm_tile *tile, struct gpu_fault *fault)
{
	struct pdm *pdm = tile->pdm;
	const struct pumice_pdm_render *r = &pdm->render;
	const struct isp_mask_plane mask = mask_of(pdm);
	const struct isp_zs zs = zs_of(pdm);

	if ((r->depth_load || r->stencil_load) &&
	    !isp_load(&tile->isp, &zs, r->depth_load, r->stencil_load, pdm->config.mmu,
		      &tile->core->tlb, fault))
		return false;
	return !r->mask_load ||
	       isp_mask_load(&tile->isp, &mask, pdm->config.mmu, &tile->core->tlb, fault);
}

static bool store_planes(struct pdm_tile *tile, struct gpu_fault *fault)
{
	struct pdm *pdm = tile->pdm;
	const struct pumice_pdm_render *r = &pdm->render;
	const struct isp_mask_plane mask = mask_of(pdm);
	const struct isp_zs zs = zs_of(pdm);

	if ((r->depth_store || r->stencil_store) &&
	    !isp_store(&tile->isp, &zs, r->depth_store, r->stencil_store, pdm->config.mmu,
		       &tile->core->tlb, fault))
		return false;
	return !r->mask_store ||
	       isp_mask_store(&tile->isp, &mask, pdm->config.mmu, &tile->core->tlb, fault);
}

/* Initialise depth, stencil, mask and outputs. */
static bool fill_tile(struct pdm_tile *tile, struct gpu_fault *fault)
{
	struct pdm *pdm = tile->pdm;
	const struct pumice_pdm_render *r = &pdm->render;

	isp_tile_clear(&tile->isp, r->clear_depth, r->clear_stencil);
	if (r->mask_plane)
		isp_mask_clear(&tile->isp, r->clear_mask);
	if (pdm->scene_state.spilled)
		return pdm_spill_load(tile, fault);
	/*
	 * Also before a background program: the outputs that it writes are not known, and the
	 * others would keep values of the job that used the tile before.
	 */
	pdm_outputs_clear(tile);
	return load_planes(tile, fault);
}

/* Claim room for the outputs of the tile. */
static enum pdm_step claim_outputs(struct pdm_tile *tile)
{
	const struct pdm *pdm = tile->pdm;

	if (pds_outputs_claim(pdm->config.pds, tile->core->number, pdm_output_words(pdm),
			      pdm->job.ctx, &tile->outputs) == PDS_WAIT) {
		/*
		 * A tile that has room may wait for the memory of this one's old programs. Its wait
		 * wakes this one.
		 */
		if (atomic_load(&pdm->memory_waits))
			pdm_objects_drop(tile);
		return PDM_STEP_WAIT;
	}
	tile->usc.outputs = tile->outputs.word;
	tile->phase = PDM_TILE_BEGIN;
	return PDM_STEP_ON;
}

static enum pdm_step begin(struct pdm_tile *tile)
{
	struct pdm *pdm = tile->pdm;
	struct gpu_fault fault = { 0 };

	if (!fill_tile(tile, &fault)) {
		pdm_fault(pdm, &fault);
		return PDM_STEP_ON;
	}
	if (pdm->has_background && !pdm->scene_state.spilled && !pdm_background_direct(tile))
		pdm_shade_all(tile, &pdm->background, PDM_TILE_WALK);
	else
		enter(tile, PDM_TILE_WALK);
	return PDM_STEP_ON;
}

/* Drop all objects after their counts have been added. */
static enum pdm_step drop_objects(struct pdm_tile *tile)
{
	struct gpu_fault fault = { 0 };

	if (!pdm_visibility_add(tile, &fault)) {
		pdm_fault(tile->pdm, &fault);
		return PDM_STEP_ON;
	}
	pdm_objects_drop(tile);
	tile->drop_objects = false;
	enter(tile, tile->after);
	return PDM_STEP_ON;
}

/* Return whether tasks of a pass run while the next one is prepared: see scoreboard.h. */
static bool passes_overlap(const struct pdm_tile *tile)
{
	return tile->after == PDM_TILE_WALK && !tile->drop_objects;
}

/*
 * All tasks of the pass are started: continue with the primitives of the next one, or wait for
 * the tasks of all passes.
 */
static enum pdm_step drain(struct pdm_tile *tile)
{
	if (!passes_overlap(tile) && atomic_load(&tile->running))
		return PDM_STEP_WAIT;
	pdm_tasks_reap(tile);
	pdm_trace_pass_end(tile, PUMICE_TRACE_PHASE_END);
	tile->shade.spans = 0;
	/* Late tasks that run refer to their records: the next ones follow these. */
	if (!tile->shade.fixed && !tile->scoreboard.late_tasks)
		tile->prim_count = 0;
	/* No primitive follows: other tiles may wait for the memory of the vertex program. */
	if (tile->after == PDM_TILE_END)
		pdm_vertices_release(tile);
	if (tile->drop_objects)
		return drop_objects(tile);
	enter(tile, tile->after);
	return PDM_STEP_ON;
}

/* Do a piece of loading the tile's own store program. DONE: it is loaded. */
static enum pdm_step load_own_store(struct pdm_tile *tile, u32 *cost)
{
	struct pdm *pdm = tile->pdm;
	const struct pds_stage_limits limits = { .stage = USC_STAGE_TILE,
						 .outputs = pdm->render.outputs,
						 .tile_words = pdm_output_words(pdm) };
	struct gpu_fault fault = { 0 };
	struct pumice_stage stage;

	pumice_stage_unpack(tile->own_words, &stage);
	switch (pdm_load_stage(tile, &stage, &limits, &tile->own_store, cost, &fault)) {
	case PDS_LOADED:
		tile->own_state = PDM_STORE_LOADED;
		pds_stage_find_direct(&tile->own_store);
		return PDM_STEP_DONE;
	case PDS_LOAD_MORE:
		return PDM_STEP_ON;
	case PDS_LOAD_WAIT:
		/* Programs of the tile's objects, no longer needed, may occupy the memory. */
		if (!tile->programs)
			return PDM_STEP_WAIT;
		pdm_programs_drop(tile);
		return PDM_STEP_ON;
	default:
		pdm_fault(pdm, &fault);
		return PDM_STEP_ON;
	}
}

/* Find the program that stores the tile; *store is NULL if there is none. DONE: it is loaded. */
static enum pdm_step find_store(struct pdm_tile *tile, const struct pds_stage **store, u32 *cost)
{
	const struct pdm *pdm = tile->pdm;
	const struct ipf_work *entry = &tile->entry;
	struct pumice_stage stage;

	*store = pdm->has_end_of_tile ? &pdm->end_of_tile : NULL;
	if (!entry->own_store)
		return PDM_STEP_DONE;
	*store = NULL;
	pumice_stage_unpack(entry->store, &stage);
	if (!stage.pds_insns)
		return PDM_STEP_DONE;
	if (tile->own_state == PDM_STORE_NONE ||
	    memcmp(tile->own_words, entry->store, sizeof(tile->own_words)) != 0) {
		pds_stage_drop(pdm->config.pds, &tile->own_store);
		memcpy(tile->own_words, entry->store, sizeof(tile->own_words));
		tile->own_state = PDM_STORE_LOADING;
	}
	*store = &tile->own_store;
	return tile->own_state == PDM_STORE_LOADED ? PDM_STEP_DONE : load_own_store(tile, cost);
}

static enum pdm_step end(struct pdm_tile *tile, u32 *cost)
{
	struct pdm *pdm = tile->pdm;
	const struct pds_stage *program = NULL;
	struct gpu_fault fault = { 0 };
	enum pdm_step step;

	if (pdm->job.partial) {
		pdm_outputs_fill(tile);
		if (!pdm_spill_store(tile, &fault)) {
			pdm_fault(pdm, &fault);
			return PDM_STEP_ON;
		}
	} else {
		step = find_store(tile, &program, cost);
		if (step != PDM_STEP_DONE)
			return step;
	}
	if (program && !pdm_store_direct(tile, program, cost))
		pdm_shade_end(tile, program, PDM_TILE_STORE);
	else
		tile->phase = PDM_TILE_STORE;
	return PDM_STEP_ON;
}

static enum pdm_step store(struct pdm_tile *tile)
{
	struct pdm *pdm = tile->pdm;
	struct gpu_fault fault = { 0 };

	if ((!pdm->job.partial && !store_planes(tile, &fault)) ||
	    !pdm_visibility_add(tile, &fault) || !pdm_stats_store(tile, &fault)) {
		pdm_fault(pdm, &fault);
		return PDM_STEP_ON;
	}
	pds_outputs_free(pdm->config.pds, &tile->outputs);
	return PDM_STEP_DONE;
}

static enum pdm_step walk(struct pdm_tile *tile, u32 *cost)
{
	const enum pdm_step step = pdm_walk(tile, cost);

	if (step != PDM_STEP_DONE)
		return step;
	pdm_shade_pending(tile, PDM_TILE_END);
	return PDM_STEP_ON;
}

static enum pdm_step shade(struct pdm_tile *tile, u32 *cost)
{
	const enum pdm_step step = pdm_task_next(tile, cost);

	if (step != PDM_STEP_DONE)
		return step;
	tile->phase = PDM_TILE_DRAIN;
	return PDM_STEP_ON;
}

enum pdm_step pdm_tile_step(struct pdm_tile *tile, u32 *cost)
{
	*cost = COST_PLAIN;
	switch (tile->phase) {
	case PDM_TILE_ROOM:
		return claim_outputs(tile);
	case PDM_TILE_BEGIN:
		return begin(tile);
	case PDM_TILE_WALK:
		return walk(tile, cost);
	case PDM_TILE_SHADE:
		return shade(tile, cost);
	case PDM_TILE_DRAIN:
		return drain(tile);
	case PDM_TILE_END:
		return end(tile, cost);
	case PDM_TILE_STORE:
		return store(tile);
	case PDM_TILE_NONE:
	case PDM_TILE_LEAVE:	/* done in pdm.c */
		break;
	}
	return PDM_STEP_WAIT;
}

/* Trace the ends of all begun work as cancelled. */
static void trace_cancel(struct pdm_tile *tile)
{
	const enum pumice_trace_phase cancel = PUMICE_TRACE_PHASE_CANCEL;

	pdm_trace_end(tile, &tile->traced_isp, PUMICE_TRACE_KIND_ISP, cancel,
		      tile->stats.primitives);
	pdm_trace_pass_end(tile, cancel);
	pdm_trace_end(tile, &tile->traced, PUMICE_TRACE_KIND_TILE, cancel, tile->stats.shaded);
}

bool pdm_tile_cancel(struct pdm_tile *tile)
{
	struct pdm *pdm = tile->pdm;

	if (atomic_load(&tile->running)) {
		/* A task may have been started after the others were stopped. */
		pdm->config.ops->lock(pdm->config.opaque);
		pds_dm_abort(pdm->config.pds, PDS_DM_PDM);
		pdm->config.ops->unlock(pdm->config.opaque);
		return false;
	}
	if (tile->filling)
		pds_task_drop(pdm->config.pds, &tile->place);
	tile->filling = false;
	pdm_vertices_cancel(tile);
	if (tile->built)
		atomic_store(&tile->built->state, PDM_TASK_FREE);
	tile->built = NULL;
	pdm_wait_memory(tile, false);
	pdm_tasks_reap(tile);
	pds_outputs_free(pdm->config.pds, &tile->outputs);
	trace_cancel(tile);
	return true;
}
