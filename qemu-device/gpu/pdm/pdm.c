// SPDX-License-Identifier: MIT
/*
 * Pixel data master: the beginning and the end of a job, and control of the tiles of each core.
 *
 * Source: document 004, "PDM", "Master IPF", "Master DPM"; hw/formats.xml, pdm_render, scene.
 * Tiles are dispatched in the order of the render control list; when the last one of a macro
 * tile is done its pages are freed. Those of tiles that are not in the list are freed at the end.
 *
 * A job is read and checked in the step of core 0, and ended in the step of the first core
 * that finds no more work: both without the device lock, which accesses to the data master's
 * registers need. A reason to stop a job before its last tile only selects how it ends: the
 * first reason wins.
 */
#include "pdm.h"

#include <stdlib.h>
#include <string.h>

#include "../host_alloc.h"
#include "../host_line.h"
#include "../record.h"
#include "../pds/direct.h"
#include "perf.h"
#include "state.h"
#include "surface.h"

#define RENDER_ALIGN	16u
#define BUDGET		4096u	/* of a step, in units of about 50 ns */
#define COST_PIECE	512u	/* of one piece of the PM's work */
#define LOAD_PARTS	4u	/* of a job */

static void lock(struct pdm *pdm)
{
	pdm->config.ops->lock(pdm->config.opaque);
}

static void unlock(struct pdm *pdm)
{
	pdm->config.ops->unlock(pdm->config.opaque);
}

static u64 now(const struct pdm *pdm)
{
	return pdm->config.ops->now(pdm->config.opaque);
}

static void wake_all(struct pdm *pdm)
{
	unsigned int i;

	for (i = 0; i < pdm->config.cores; i++)
		pdm->config.ops->wake(pdm->config.opaque, i);
}

/* ------------------------------------------------------------ allocation */

/* Return the size of a tile's memory: whole lines, as aligned_alloc() needs it. */
static size_t room_of_tile(void)
{
	return (sizeof(struct pdm_tile) + HOST_LINE - 1) / HOST_LINE * HOST_LINE;
}

static bool create_core(struct pdm *pdm, unsigned int number)
{
	struct pdm_core *core = &pdm->core[number];
	unsigned int i;

	core->number = number;
	core->tlb.place = number + 1;
	/* A tile's primitives are spread over the whole parameter buffer. */
	mmu_tlb_set_far(&core->tlb, mmu_tlb_far_create(MMU_TLB_FAR_ENTRIES), MMU_TLB_FAR_ENTRIES);
	ipf_master_share_tlb(&pdm->list.master, number, &core->tlb);
	for (i = 0; i < PDM_TILES; i++) {
		core->tile[i] = aligned_alloc(HOST_LINE, room_of_tile());
		if (!core->tile[i])
			return false;
		/* The large arrays are written before they are read. */
		memset(core->tile[i], 0, offsetof(struct pdm_tile, record));
		memset(&core->tile[i]->vertices, 0, sizeof(core->tile[i]->vertices));
		core->tile[i]->vertices.kept = 1;	/* of no vertex */
		core->tile[i]->pdm = pdm;
		core->tile[i]->core = core;
		core->tile[i]->pbe_tlb.place = number + 1;
		core->tile[i]->slot = (u8)i;
		core->tile[i]->outputs.tile = (u8)i;
	}
	return core->tlb.far && tsp_cache_init(&core->vertices, pdm->config.tsp_vertices);
}

struct pdm *pdm_create(const struct dm_config *config)
{
	struct pdm *pdm = calloc(1, sizeof(*pdm));
	unsigned int i;

	if (!pdm)
		return NULL;
	pdm->config = *config;
	ipf_master_init(&pdm->list.master, config->cores, config->tile_fifo);
	for (i = 0; i < config->cores; i++) {
		if (!create_core(pdm, i)) {
			pdm_destroy(pdm);
			return NULL;
		}
	}
	pds_set_task_ops(config->pds, PDS_DM_PDM, &pdm_task_ops, pdm);
	return pdm;
}

static void drop_stages(struct pdm *pdm)
{
	unsigned int i, t;

	for (i = 0; i < pdm->config.cores; i++)
		for (t = 0; t < PDM_TILES; t++)
			if (pdm->core[i].tile[t])
				pdm_objects_drop(pdm->core[i].tile[t]);
	pds_stage_drop(pdm->config.pds, &pdm->background);
	pds_stage_drop(pdm->config.pds, &pdm->end_of_tile);
	pdm->has_background = false;
	pdm->has_end_of_tile = false;
}

void pdm_destroy(struct pdm *pdm)
{
	unsigned int i, t;

	if (!pdm)
		return;
	drop_stages(pdm);
	for (i = 0; i < pdm->config.cores; i++) {
		for (t = 0; t < PDM_TILES; t++) {
			if (pdm->core[i].tile[t])
				pdm_objects_destroy(pdm->core[i].tile[t]);
			free(pdm->core[i].tile[t]);
		}
		host_free(pdm->core[i].tlb.far);
		tsp_cache_fini(&pdm->core[i].vertices);
	}
	free(pdm);
}

static void reset_tile(struct pdm_tile *tile)
{
	unsigned int i;

	tile->phase = PDM_TILE_NONE;
	tile->traced = tile->traced_isp = tile->traced_pass = 0;
	tile->built = NULL;
	tile->filling = false;
	tile->memory_waits = false;
	tile->outputs = (struct pds_outputs){ .tile = tile->slot };
	tile->vertices.room.vpm_rows = 0;	/* the PDS is reset, too */
	tile->issued = 0;
	atomic_store(&tile->running, 0);
	atomic_store(&tile->starved, false);
	for (i = 0; i < PDM_TASKS; i++)
		atomic_store(&tile->task[i].state, PDM_TASK_FREE);
}

void pdm_reset(struct pdm *pdm)
{
	unsigned int i, t;

	drop_stages(pdm);
	for (i = 0; i < pdm->config.cores; i++) {
		tsp_cache_reset(&pdm->core[i].vertices);
		for (t = 0; t < PDM_TILES; t++)
			reset_tile(pdm->core[i].tile[t]);
	}
	pdm->run.status = (struct dm_status){ 0 };
	atomic_store(&pdm->phase, PDM_IDLE);
	atomic_store(&pdm->stopping, false);
	pdm->active = 0;
	atomic_store(&pdm->memory_waits, 0);
	pdm->scene_known = false;
	pdm->counts = (struct pdm_counts){ 0 };
	pdm_list_reset(pdm);
	pdm->run.busy_ns = 0;
}

/* ------------------------------------------------------------ registers */

static void stopped(void *opaque)
{
	struct pdm *pdm = opaque;

	atomic_store(&pdm->stopping, true);
	pds_dm_abort(pdm->config.pds, PDS_DM_PDM);
	wake_all(pdm);
}

/* The PDM has no accesses of its own: the IPF reads for it. */
static const struct dm_unit pdm_unit = { .unit = PUMICE_UNIT_IPF, .stopped = stopped };

bool pdm_start(struct pdm *pdm, const struct dm_job *job)
{
	if (atomic_load(&pdm->phase) != PDM_IDLE || job->ctx >= PUMICE_MMU_CONTEXTS)
		return false;
	dm_run_begin(&pdm->run, &pdm_unit, pdm, now(pdm));
	pdm->job = *job;
	pdm->number++;
	pdm->scene_known = false;
	pdm->loaded = 0;
	atomic_store(&pdm->stopping, false);
	atomic_store(&pdm->phase, PDM_LOAD);
	trace_set_tag(pdm->config.trace, TRACE_PDM, job->tag);
	trace_event(pdm->config.trace, PUMICE_TRACE_KIND_JOB_START, TRACE_PDM, job->ctx, TRACE_PDM,
		    job->stream, trace_job(job->tag, job->partial));
	pdm->config.ops->wake(pdm->config.opaque, 0);
	return true;
}

/* A job whose tiles are done is not stopped: it ends anyway. */
void pdm_abort(struct pdm *pdm)
{
	if (atomic_load(&pdm->phase) != PDM_FINISH)
		dm_abort(&pdm->run);
}

void pdm_fault(struct pdm *pdm, const struct gpu_fault *fault)
{
	lock(pdm);
	if (atomic_load(&pdm->phase) != PDM_FINISH)
		dm_stop_fault(&pdm->run, fault);
	unlock(pdm);
}

void pdm_fault_at(struct pdm *pdm, enum pumice_fault reason, enum pumice_unit unit, u64 addr)
{
	const struct gpu_fault fault = dm_fault(unit, reason, pdm->job.ctx, addr);

	pdm_fault(pdm, &fault);
}

const struct dm_status *pdm_status(const struct pdm *pdm)
{
	return &pdm->run.status;
}

void pdm_counters_add(const struct pdm *pdm, u64 *value)
{
	unsigned int i;

	value[PUMICE_PERF_PDM_BUSY] += dm_run_busy_ns(&pdm->run, now(pdm));
	value[PUMICE_PERF_PDM_TILES] += pdm->counts.tiles;
	value[PUMICE_PERF_PDM_PRIMITIVES] += pdm->counts.primitives;
	value[PUMICE_PERF_PDM_COVERED] += pdm->counts.covered;
	value[PUMICE_PERF_PDM_SHADED] += pdm->counts.shaded;
	value[PUMICE_PERF_PDM_PASSES] += pdm->counts.passes;
	value[PUMICE_PERF_PDM_TASKS] += pdm->counts.tasks;
	value[PUMICE_PERF_PDM_PLANES] += pdm->counts.planes;
	value[PUMICE_PERF_PDM_VERTICES] += pdm->counts.vertices;
	value[PUMICE_PERF_PDM_SCOREBOARD_WAITS] += pdm->counts.waits;
	value[PUMICE_PERF_PDM_SCOREBOARD_ISP_WAITS] += pdm->counts.isp_waits;
	ipf_master_counters(&pdm->list.master, &value[PUMICE_PERF_PDM_FIFO_WAITS],
			    &value[PUMICE_PERF_PDM_FIFO_OCCUPANCY]);
	value[PUMICE_PERF_PDM_COMMANDS] += atomic_load(&pdm->list.commands);
	for (i = 0; i < pdm->config.cores; i++) {
		value[PUMICE_PERF_PDM_TSP_HITS] += atomic_load(&pdm->core[i].vertices.hits);
		value[PUMICE_PERF_PDM_TSP_MISSES] += atomic_load(&pdm->core[i].vertices.misses);
	}
}

/* ------------------------------------------------------------ reading a job */

/* Result of reading a part of the job. */
enum load {
	LOAD_DONE,
	LOAD_MORE,	/* a piece was done */
	LOAD_WAIT,	/* no memory for programs at present */
	LOAD_FAULT,
};

/* Check that rows of a buffer do not overlap, or tiles would depend on each other. */
static bool strides_suffice(const struct pdm *pdm, const struct pumice_pdm_render *r)
{
	const u32 samples = pdm->scene.width * pdm->scene.samples;
	const bool depth = r->depth_load || r->depth_store;
	const bool stencil = r->stencil_load || r->stencil_store;
	const bool packed = r->depth_format == PUMICE_DEPTH_FORMAT_D24_S8;

	if ((depth || (stencil && packed)) &&
	    (r->depth_stride % 4 || r->depth_stride < samples * isp_depth_bytes(r->depth_format)))
		return false;
	if (stencil && !packed && r->stencil_stride < samples)
		return false;
	return !(r->mask_load || r->mask_store) ||
	       r->mask_stride >= pumice_mask_row_bytes(pdm->scene.width, pdm->scene.samples);
}

static bool mask_well_formed(const struct pumice_pdm_render *r)
{
	return r->mask_plane || !(r->mask_load || r->mask_store || r->clear_mask);
}

static bool well_formed(const struct pdm *pdm, const struct pumice_pdm_render *r)
{
	const float z = r->clear_depth;

	return r->outputs && r->outputs <= PUMICE_USC_MAX_OUTPUTS && z >= 0 && z <= 1 &&
	       mask_well_formed(r) && strides_suffice(pdm, r);
}

static struct gpu_record render_record(struct pdm *pdm)
{
	return (struct gpu_record){ pdm->config.mmu, &pdm->tlb, pdm->job.ctx, pdm->record,
				    PUMICE_UNIT_ISP };
}

static bool load_render(struct pdm *pdm, struct gpu_fault *fault)
{
	const struct gpu_record record = render_record(pdm);
	u32 words[PUMICE_PDM_RENDER_WORDS];

	if (record.addr % RENDER_ALIGN)
		return gpu_record_refuse(&record, PUMICE_FAULT_PDM_RENDER, fault);
	if (!gpu_record_read(&record, words, PUMICE_PDM_RENDER_WORDS, fault))
		return false;
	if (pumice_pdm_render_unpack(words, &pdm->render) != PUMICE_UNPACK_OK ||
	    !well_formed(pdm, &pdm->render))
		return gpu_record_refuse(&record, PUMICE_FAULT_PDM_RENDER, fault);
	if (!pds_outputs_fit(pdm->config.pds, pdm_output_words(pdm)))
		return gpu_record_refuse(&record, PUMICE_FAULT_PDM_OUTPUTS, fault);
	return true;
}

static enum load load_stage(struct pdm *pdm, const u32 words[4], u8 stage, struct pds_stage *out,
			    bool *has, struct gpu_fault *fault)
{
	const struct pds_stage_limits limits = { .stage = stage, .outputs = pdm->render.outputs,
						 .tile_words = pdm_output_words(pdm) };
	const struct gpu_record record = render_record(pdm);
	struct pumice_stage state;

	if (pumice_stage_unpack(words, &state) != PUMICE_UNPACK_OK) {
		gpu_record_refuse(&record, PUMICE_FAULT_PDM_RENDER, fault);
		return LOAD_FAULT;
	}
	if (!state.pds_insns)
		return LOAD_DONE;
	switch (pds_stage_load(pdm->config.pds, &pdm->tlb, pdm->job.ctx, &state, &limits, out,
			       fault)) {
	case PDS_LOADED:
		pds_stage_find_direct(out);
		*has = true;
		return LOAD_DONE;
	case PDS_LOAD_MORE:
		return LOAD_MORE;
	case PDS_LOAD_WAIT:
		return LOAD_WAIT;
	default:
		return LOAD_FAULT;
	}
}

static enum load load_scene(struct pdm *pdm, struct gpu_fault *fault)
{
	switch (pm_scene_load_piece(pdm->config.pm, pdm->job.scene, pdm->job.ctx, &pdm->scene,
				    fault)) {
	case PM_OK:
		break;
	case PM_MORE:
		return LOAD_MORE;
	default:
		return LOAD_FAULT;
	}
	if (!pm_scene_state_read(pdm->config.pm, &pdm->scene, &pdm->scene_state, fault))
		return LOAD_FAULT;
	if (!pdm->scene_state.valid && !pdm->job.partial) {
		*fault = (struct gpu_fault){ .fault = PUMICE_FAULT_PM_NO_SCENE,
					     .unit = PUMICE_UNIT_PM, .addr = pdm->job.scene };
		return LOAD_FAULT;
	}
	pdm->scene_known = true;
	return LOAD_DONE;
}

/* Check that spill memory exists if the job needs it. */
static bool spill_suffices(const struct pdm *pdm, struct gpu_fault *fault)
{
	if (!pdm->job.partial && !pdm->scene_state.spilled)
		return true;
	if (pdm->scene.spill && pdm_spill_bytes(pdm) <= pdm->scene.spill_bytes)
		return true;
	*fault = (struct gpu_fault){ .fault = PUMICE_FAULT_PM_MEMORY, .unit = PUMICE_UNIT_PM,
				     .ctx = (u8)pdm->job.ctx, .addr = pdm->scene.spill };
	return false;
}

static void count_tiles(struct pdm *pdm)
{
	u32 macro;

	for (macro = 0; macro < PM_MACRO_TILES; macro++)
		pdm->left[macro] = pm_macro_tile_tiles(&pdm->scene, macro);
}

/* Read the next part of the job. */
static enum load load_part(struct pdm *pdm, struct gpu_fault *fault)
{
	bool ok = true;

	switch (pdm->loaded) {
	case 0:
		return load_scene(pdm, fault);
	case 1:
		ok = pdm_list_open(pdm, &pdm->record, fault) && load_render(pdm, fault) &&
		     spill_suffices(pdm, fault);
		break;
	case 2:
		return load_stage(pdm, pdm->render.background, USC_STAGE_FRAGMENT,
				  &pdm->background, &pdm->has_background, fault);
	case 3:
		return load_stage(pdm, pdm->render.end_of_tile, USC_STAGE_TILE,
				  &pdm->end_of_tile, &pdm->has_end_of_tile, fault);
	}
	return ok ? LOAD_DONE : LOAD_FAULT;
}

/* Read a piece of the job. Returns false when it must wait. */
static bool load_job(struct pdm *pdm)
{
	struct gpu_fault fault = { 0 };
	enum load result = LOAD_FAULT;
	bool ok;

	/* Also for a stopped job: the pages of its scene are freed. */
	if (!atomic_load(&pdm->stopping) || !pdm->loaded) {
		result = load_part(pdm, &fault);
		if (result == LOAD_FAULT)
			pdm_fault(pdm, &fault);
		else if (result != LOAD_DONE || ++pdm->loaded < LOAD_PARTS)
			return result != LOAD_WAIT;
	}
	ok = result == LOAD_DONE;
	lock(pdm);
	if (ok) {
		count_tiles(pdm);
		pdm_list_begin(pdm);
	}
	atomic_store(&pdm->phase, PDM_RUN);
	wake_all(pdm);
	unlock(pdm);
	return true;
}

/* ------------------------------------------------------------ dispatch of tiles */

/* Next action of a tile without work. */
enum claim { CLAIM_NOTHING, CLAIM_WALK, CLAIM_TILE, CLAIM_DROP };

/* Device lock held. */
static enum claim claim_locked(struct pdm *pdm, struct pdm_tile *tile)
{
	if (atomic_load(&pdm->phase) != PDM_RUN || atomic_load(&pdm->stopping))
		return CLAIM_NOTHING;
	if (pdm_list_claim_walk(pdm))
		return CLAIM_WALK;
	if (pdm_list_claim_tile(tile))
		return CLAIM_TILE;
	/*
	 * Objects whose programs do not run again: they use memory that other tiles wait for, also
	 * those of other cores.
	 */
	if (pdm_list_core_done(pdm, tile->core->number) && pdm_programs_held(tile))
		return CLAIM_DROP;
	return CLAIM_NOTHING;
}

/* Claim a tile, or walk the list. DONE: the tile is begun; WAIT: there is nothing to do now. */
static enum pdm_step claim_tile(struct pdm *pdm, struct pdm_tile *tile)
{
	enum claim claim;

	lock(pdm);
	claim = claim_locked(pdm, tile);
	pdm->active += claim != CLAIM_NOTHING;	/* keeps the job from ending until then */
	unlock(pdm);
	switch (claim) {
	case CLAIM_TILE:
		pdm_tile_begin(tile);
		return PDM_STEP_DONE;
	case CLAIM_WALK:
		pdm_list_walk(pdm);
		break;
	case CLAIM_DROP:
		pdm_objects_drop(tile);
		break;
	case CLAIM_NOTHING:
		return PDM_STEP_WAIT;
	}
	lock(pdm);
	pdm->active--;
	unlock(pdm);
	return PDM_STEP_ON;
}

static void release_tile(struct pdm *pdm, struct pdm_tile *tile)
{
	tile->phase = PDM_TILE_NONE;
	lock(pdm);
	pdm->active--;
	unlock(pdm);
}

/* The trace is disabled, so that no core reads these meanwhile. */
void pdm_trace_begin(struct pdm *pdm)
{
	unsigned int i;

	for (i = 0; i < pdm->config.cores; i++) {
		const u64 reads = halves_reads_ahead(pdm->config.halves, i);

		atomic_store(&pdm->core[i].ahead_base, reads);
		atomic_store(&pdm->core[i].ahead_last, reads);
	}
}

/* A tile has ended: trace how much was read ahead of programs, if anything was. */
static void trace_reads(struct pdm *pdm, struct pdm_core *core)
{
	const u64 on = trace_on(pdm->config.trace, PUMICE_TRACE_KIND_TAG);
	u64 reads;

	if (!on)
		return;
	reads = halves_reads_ahead(pdm->config.halves, core->number);
	if (reads != atomic_load(&core->ahead_last))
		trace_write(pdm->config.trace, on, &(struct trace_item){
			.kind = PUMICE_TRACE_KIND_TAG, .dm = TRACE_PDM, .ctx = pdm->job.ctx,
			.usc = (u8)(core->number * pdm->config.uscs_per_core),
			.arg0 = reads - atomic_load(&core->ahead_base), .arg1 = 1,
		});
	atomic_store(&core->ahead_last, reads);
}

/* Complete a tile; the last one of a macro tile frees its pages. */
static void tile_done(struct pdm *pdm, struct pdm_tile *tile)
{
	bool last;

	pdm_trace_end(tile, &tile->traced, PUMICE_TRACE_KIND_TILE, PUMICE_TRACE_PHASE_END,
		      tile->stats.shaded);
	trace_reads(pdm, tile->core);
	lock(pdm);
	pdm->run.status.done++;
	pdm->counts.tiles++;
	pdm->counts.primitives += tile->stats.primitives;
	pdm->counts.covered += tile->stats.covered;
	pdm->counts.shaded += tile->stats.shaded;
	pdm->counts.passes += tile->stats.passes;
	pdm->counts.tasks += tile->tasks;
	pdm->counts.planes += tile->varying_planes;
	pdm->counts.vertices += tile->vertices.total;
	pdm->counts.waits += tile->waits;
	pdm->counts.isp_waits += tile->isp_waits;
	last = !--pdm->left[tile->macro];
	unlock(pdm);
	if (last)
		tile->phase = PDM_TILE_LEAVE;
	else
		release_tile(pdm, tile);
}

/* Free a piece of the macro tile's pages. */
static void free_pages(struct pdm *pdm, struct pdm_tile *tile)
{
	struct gpu_fault fault = { 0 };

	switch (pm_free_macro_tile_piece(pdm->config.pm, tile->core->number, &pdm->scene,
					 tile->macro, &fault)) {
	case PM_MORE:
		return;
	case PM_FAULT:
		pdm_fault(pdm, &fault);
		break;
	default:
		break;
	}
	release_tile(pdm, tile);
}

/* ------------------------------------------------------------ the end */

/* Update the scene at the end of the job. */
static enum pm_result end_scene(struct pdm *pdm, struct gpu_fault *fault)
{
	const u64 tiles = (u64)pdm->scene.tiles_x * pdm->scene.tiles_y;
	struct pm_scene_state *state = &pdm->scene_state;
	enum pm_result result = PM_OK;

	if (!pdm->scene_known)
		return PM_OK;
	/* A list that does not render all tiles leaves pages of the others. */
	if (pdm->run.end != DM_DONE || pdm->run.status.done < tiles)
		result = pm_free_scene_piece(pdm->config.pm, &pdm->scene, TRACE_PDM,
					     fault);
	if (result == PM_MORE)
		return PM_MORE;
	state->valid = false;
	state->used = 0;
	state->spilled = pdm->run.end == DM_DONE && pdm->job.partial;
	state->partials += state->spilled;
	if (!pm_scene_state_write(pdm->config.pm, &pdm->scene, state, fault))
		result = PM_FAULT;
	return result;
}

/*
 * Finish the job when all tiles are done, or when it was stopped and has drained. Phase
 * FINISH. Returns false when called too early.
 */
static bool finish(struct pdm *pdm)
{
	struct gpu_fault fault = { 0 };
	const enum pm_result result = end_scene(pdm, &fault);

	if (result == PM_MORE)
		return false;
	drop_stages(pdm);
	lock(pdm);
	if (result == PM_FAULT)
		dm_stop_fault(&pdm->run, &fault);
	pds_dm_abort(pdm->config.pds, PDS_DM_PDM);	/* cancels waiting claims of the job */
	dm_run_end(&pdm->run, now(pdm));
	atomic_store(&pdm->phase, PDM_IDLE);
	trace_event(pdm->config.trace, PUMICE_TRACE_KIND_JOB_END, TRACE_PDM,
		    pdm->job.ctx, TRACE_PDM, pdm->run.status.fault.fault, pdm->run.end);
	trace_set_tag(pdm->config.trace, TRACE_PDM, 0);
	pdm->config.ops->ended(pdm->config.opaque, pdm->run.end);
	unlock(pdm);
	return true;
}

/* Return true for the one core that ends the job. */
static bool claim_finish(struct pdm *pdm, unsigned int core)
{
	bool mine;

	lock(pdm);
	mine = atomic_load(&pdm->phase) == PDM_RUN && !pdm->active &&
	       (atomic_load(&pdm->stopping) || pdm_list_done(pdm));
	if (mine) {
		pdm->finisher = core;
		atomic_store(&pdm->phase, PDM_FINISH);
	}
	unlock(pdm);
	return mine;
}

/* ------------------------------------------------------------ step of a core */

/* Continue a tile, or start one. True while more can be done at once. */
static bool step_tile(struct pdm *pdm, struct pdm_tile *tile, u32 *budget,
		      const _Atomic bool *stop_flag)
{
	enum pdm_step step = PDM_STEP_ON;
	u32 cost;

	while (*budget && !atomic_load_explicit(stop_flag, memory_order_relaxed)) {
		if (tile->phase == PDM_TILE_NONE) {
			step = claim_tile(pdm, tile);
			if (step == PDM_STEP_WAIT)
				return false;
			if (step == PDM_STEP_ON) {
				*budget -= COST_PIECE < *budget ? COST_PIECE : *budget;
				continue;
			}
		}
		if (atomic_load(&pdm->stopping)) {
			if (!pdm_tile_cancel(tile))
				return false;
			trace_reads(pdm, tile->core);
			release_tile(pdm, tile);
			continue;
		}
		if (tile->phase == PDM_TILE_LEAVE) {
			*budget -= COST_PIECE < *budget ? COST_PIECE : *budget;
			free_pages(pdm, tile);
			continue;
		}
		cost = 1;
		step = pdm_tile_step(tile, &cost);
		*budget -= cost < *budget ? cost : *budget;
		if (step == PDM_STEP_WAIT)
			return false;
		if (step == PDM_STEP_DONE)
			tile_done(pdm, tile);
	}
	return true;
}

bool pdm_core_step(struct pdm *pdm, unsigned int core, const _Atomic bool *stop_flag)
{
	const u32 phase = atomic_load(&pdm->phase);
	u32 budget = BUDGET, i;
	bool more = false;

	if (phase == PDM_LOAD && !core)
		return load_job(pdm);
	if (phase == PDM_FINISH && core == pdm->finisher)
		return !finish(pdm);
	if (phase != PDM_RUN)
		return false;
	for (i = 0; i < PDM_TILES; i++)
		more |= step_tile(pdm, pdm->core[core].tile[i], &budget, stop_flag);
	if (!more && claim_finish(pdm, core))
		more = !finish(pdm);
	return more;
}
