// SPDX-License-Identifier: MIT
/*
 * Vertex data master: work of one core.
 *
 * Source: document 004, "VDM" and "PDS"; document 001 for the coordinate program.
 *
 * A core processes a chunk in pieces: it assembles primitives, shades their vertices in tasks
 * on its USCs, waits for the tasks, and passes the primitives to its TA. A coordinate program
 * runs first, and only primitives that the TA does not cull are shaded by the vertex program. With
 * deferred vertex shading it is the only one: the TA gets positions and the numbers of vertices, and
 * the PDM runs the vertex program.
 *
 * Parking the GPU waits for the current step, so each step is bounded, below a millisecond: a
 * piece of a PDS program, of the TA's primitives or of its headers.
 *
 * Registers that a program does not write read as 0: outputs are zeroed before.
 */
#include <string.h>

#include "../number.h"
#include "state.h"

#define STEPS		16u	/* per call: one quantum at most */

/* Return whether another step can follow at once. */
enum step_result { STEP_ON, STEP_WAIT };

static void lock(struct vdm *vdm)
{
	vdm->config.ops->lock(vdm->config.opaque);
}

static void unlock(struct vdm *vdm)
{
	vdm->config.ops->unlock(vdm->config.opaque);
}

static enum step_result stop_fault(struct vdm *vdm, const struct gpu_fault *fault)
{
	lock(vdm);
	dm_stop_fault(&vdm->run, fault);
	unlock(vdm);
	return STEP_ON;
}

static void count(_Atomic u64 *counter, u64 n)
{
	atomic_store_explicit(counter,
			      atomic_load_explicit(counter, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

static enum step_result chunk_done(struct vdm_core *core)
{
	lock(core->vdm);
	vdm_dispatch_done(core->vdm, core);
	unlock(core->vdm);
	return STEP_ON;
}

/*
 * The outputs of the piece become those of the previous piece. Returns whether they can be copied.
 * With several cores only within a chunk: which lanes shade a vertex must not depend on the order
 * in which cores process chunks.
 */
static bool begin_piece(struct vdm_core *core)
{
	const struct vdm_chunk *chunk = &core->chunk;
	struct vdm_reuse *reuse = &core->reuse;
	const bool follows = reuse->valid && reuse->part == chunk->part &&
			     (reuse->sequence == chunk->sequence || core->vdm->cores == 1);
	u32 *vo = core->vo;

	core->vo = core->vo_before;
	core->vo_before = vo;
	reuse->valid = false;
	reuse->part = chunk->part;
	reuse->sequence = chunk->sequence;
	return follows;
}

/* The primitives of the piece are final. */
static void begin_vertices(struct vdm_core *core)
{
	if (core->chunk.draw.indexed)
		vdm_reuse_arrange(&core->reuse, &core->piece);
	core->phase = VDM_CORE_VERTEX;
}

/* Assemble the next piece of the chunk. */
static enum step_result assemble(struct vdm_core *core)
{
	struct vdm *vdm = core->vdm;
	const struct vdm_chunk *chunk = &core->chunk;
	struct vdm_reader reader = {
		.mmu = vdm->config.mmu, .tlb = &core->tlb, .ctx = vdm->job.ctx,
	};
	struct gpu_fault fault = { 0 };

	if (core->place.at == chunk->end)
		return chunk_done(core);
	if (!vdm_assemble(&reader, &chunk->draw, chunk->shared->record.state.provoking_last,
			  &core->place, chunk->end, begin_piece(core), &core->cache, &core->piece,
			  &fault))
		return stop_fault(vdm, &fault);
	count(&core->indices, reader.read);
	core->prims += core->piece.prims;
	core->next = core->tasks = core->binned = 0;
	if (!core->piece.prims)
		return STEP_ON;
	if (chunk->shared->coordinate.code)
		core->phase = VDM_CORE_COORDINATE;
	else
		begin_vertices(core);
	return STEP_ON;
}

/* Claim room for a task of this number of vertices. */
static enum step_result claim(struct vdm_core *core, const struct pds_stage *stage, u32 vertices)
{
	struct vdm *vdm = core->vdm;
	struct gpu_fault fault = { 0 };

	switch (pds_task_claim(vdm->config.pds, PDS_DM_VDM, core->number, stage, vertices, 1,
			       &core->room, &fault)) {
	case PDS_STARTED:
		core->filling = true;
		core->fill_pc = 0;
		return STEP_ON;
	case PDS_WAIT:
		return STEP_WAIT;
	default:
		return stop_fault(vdm, &fault);
	}
}

/* Waves of a full task. */
static u32 task_waves(const struct vdm *vdm)
{
	return div_up(vdm->config.batch, PUMICE_LANES);
}

/*
 * Tasks of half a wave leave the upper half of their rows empty: move the vertices of each
 * second task there, so that the TA reads whole waves.
 */
static void join_halves(struct vdm_core *core, u32 vo_words)
{
	const u32 half = PUMICE_LANES / 2;
	u32 task, n;

	for (task = 1; task < core->tasks; task++) {
		const u32 *from = core->vo + task * vo_words * PUMICE_LANES;
		u32 *to = core->vo + task / 2 * vo_words * PUMICE_LANES + task % 2 * half;

		for (n = 0; n < vo_words; n++)
			memcpy(to + n * PUMICE_LANES, from + n * PUMICE_LANES, half * sizeof(u32));
	}
}

/* Start the filled task of this number of vertices. */
static void start_task(struct vdm_core *core, u32 vo_words, u32 vertices)
{
	struct vdm *vdm = core->vdm;
	struct pds *pds = vdm->config.pds;
	struct usc_gfx *gfx = &core->gfx[core->tasks];

	*gfx = (struct usc_gfx){
		.stage = USC_STAGE_VERTEX, .sample = USC_PIXEL_RATE,
		.vo = core->vo + core->tasks * task_waves(vdm) * vo_words * PUMICE_LANES,
		.vo_words = vo_words,
		.uniforms = core->chunk.shared->record.state.uniforms,
		.uniform_words = core->chunk.shared->record.state.uniform_words,
	};
	memset(gfx->vo, 0, div_up(vertices, PUMICE_LANES) * vo_words * PUMICE_LANES *
			   sizeof(u32));
	core->filling = false;
	core->tasks++;
	core->next += vertices;
	count(&core->vertices, vertices);
	atomic_fetch_add(&core->outstanding, 1);
	pds_task_start(pds, PDS_DM_VDM, &core->room, gfx);
	if (atomic_load(&vdm->stopping)) {	/* it may have started after the abort */
		lock(vdm);
		pds_dm_abort(pds, PDS_DM_VDM);
		unlock(vdm);
	}
}

/* Do a piece of filling a task for the next vertices; start it when it is filled. */
static enum step_result fill_task(struct vdm_core *core, const struct pds_stage *stage,
				  u32 vo_words)
{
	struct vdm *vdm = core->vdm;
	struct pds *pds = vdm->config.pds;
	const u32 left = core->piece.shade - core->next;
	const struct pds_vertices in = {
		.vertex = core->piece.vertex + core->next, .instance = core->chunk.instance,
		.base_instance = core->chunk.draw.base_instance,
		.count = min_u32(left, vdm->config.batch),
	};
	struct gpu_fault fault = { 0 };

	if (!core->filling) {
		const enum step_result result = claim(core, stage, in.count);

		if (!core->filling)
			return result;
	}
	if (!pds_fill_vertices(pds, &core->room, stage, &in, &core->tlb, &core->fill_pc, &fault))
		return stop_fault(vdm, &fault);
	if (core->fill_pc == stage->program.insns)
		start_task(core, vo_words, in.count);
	return STEP_ON;
}

/* Do a piece of shading the piece's vertices; *done becomes true when all are shaded. */
static enum step_result shade(struct vdm_core *core, const struct pds_stage *stage, u32 vo_words,
			      bool *done)
{
	*done = false;
	if (core->next < core->piece.shade)
		return fill_task(core, stage, vo_words);
	if (atomic_load(&core->outstanding))
		return STEP_WAIT;
	if (core->vdm->config.batch < PUMICE_LANES)
		join_halves(core, vo_words);
	*done = true;
	return STEP_ON;
}

static struct ta_draw ta_draw_of(const struct vdm_core *core)
{
	return (struct ta_draw){
		.state = core->chunk.shared->record.state,
		.kind = (u8)vdm_topology_kind(core->chunk.draw.topology),
		.sequence = core->chunk.sequence,
		.vertex_state = core->chunk.shared->addr,
		.draw = {
			.instance = core->chunk.instance,
			.base_instance = core->chunk.draw.base_instance,
		},
	};
}

/* The TA of a core begins with the first primitives. */
static bool begin_ta(struct vdm_core *core)
{
	if (core->begun)
		return true;
	core->begun = ta_begin(core->ta, &core->vdm->scene);
	if (!core->begun) {
		lock(core->vdm);
		dm_stop_at(&core->vdm->run, PUMICE_FAULT_PM_MEMORY, 0, core->vdm->scene.addr);
		unlock(core->vdm);
	}
	return core->begun;
}

/* Trace that the TA begins work, and that it ends. */
static trace_span trace_ta(const struct vdm_core *core, enum pumice_trace_ta work, u64 prims)
{
	return trace_span_begin(core->vdm->config.trace,
				vdm_event(core, PUMICE_TRACE_KIND_TA, PUMICE_TRACE_PHASE_BEGIN,
					  work, prims));
}

static void trace_ta_end(const struct vdm_core *core, trace_span span, enum pumice_trace_ta work,
			 bool ok, u64 prims)
{
	trace_span_end(core->vdm->config.trace, &span,
		       vdm_event(core, PUMICE_TRACE_KIND_TA,
				 ok ? PUMICE_TRACE_PHASE_END : PUMICE_TRACE_PHASE_CANCEL,
				 work, prims));
}

static enum step_result coordinate(struct vdm_core *core)
{
	struct vdm_piece *piece = &core->piece;
	const struct vdm_shared *shared = core->chunk.shared;
	const u32 words = vdm_record_coordinate_vo(&shared->record);
	const struct ta_vertices vertices = {
		.vo = core->vo, .vo_words = words, .count = piece->vertices,
	};
	const struct ta_draw draw = ta_draw_of(core);
	const u32 prims = piece->prims;
	bool keep[VDM_PIECE_PRIMS];
	enum step_result result;
	trace_span span;
	bool done;

	result = shade(core, &shared->coordinate, words, &done);
	if (!done)
		return result;
	if (shared->record.state.deferred) {
		core->phase = VDM_CORE_BIN;
		return STEP_ON;
	}
	if (!begin_ta(core))
		return STEP_ON;
	memset(keep, true, prims * sizeof(*keep));
	span = trace_ta(core, PUMICE_TRACE_TA_CULL, prims);
	ta_cull(core->ta, &draw, &vertices, piece->prim, prims, keep);
	vdm_piece_keep(piece, keep);
	trace_ta_end(core, span, PUMICE_TRACE_TA_CULL, true, prims - piece->prims);
	core->next = core->tasks = 0;
	core->phase = VDM_CORE_ASSEMBLE;
	if (piece->prims)
		begin_vertices(core);
	return STEP_ON;
}

static enum step_result vertex(struct vdm_core *core)
{
	const struct vdm_shared *shared = core->chunk.shared;
	bool done;
	enum step_result result = shade(core, &shared->vertex, shared->vo_words, &done);

	if (!done)
		return result;
	if (core->chunk.draw.indexed) {
		if (!vdm_reuse_copy(&core->reuse, &core->piece, core->vo_before, core->vo,
				    shared->vo_words))
			return STEP_ON;
		core->reuse.valid = true;
	}
	core->phase = VDM_CORE_BIN;
	return result;
}

/* No page for the next primitive: stall; core->binned keeps the position in the piece. */
static enum step_result stall(struct vdm_core *core)
{
	struct vdm *vdm = core->vdm;

	lock(vdm);
	atomic_store(&core->stalled, true);
	vdm->short_of_pages = true;
	vdm_dispatch_memory(vdm);
	unlock(vdm);
	return STEP_WAIT;
}

static enum step_result bin(struct vdm_core *core)
{
	const struct vdm_piece *piece = &core->piece;
	const struct vdm_shared *shared = core->chunk.shared;
	const bool deferred = shared->record.state.deferred;
	const struct ta_vertices vertices = {
		.vo = core->vo, .count = piece->vertices, .number = deferred ? piece->vertex : NULL,
		.vo_words = deferred ? vdm_record_coordinate_vo(&shared->record) : shared->vo_words,
	};
	const struct ta_draw draw = ta_draw_of(core);
	const u32 before = core->binned;
	struct gpu_fault fault = { 0 };
	enum ta_result result;
	trace_span span;

	if (!begin_ta(core))
		return STEP_ON;
	span = trace_ta(core, PUMICE_TRACE_TA_BIN, piece->prims);
	result = ta_primitives(core->ta, &draw, &vertices, piece->prim, piece->prims,
			       &core->binned, &fault);
	trace_ta_end(core, span, PUMICE_TRACE_TA_BIN, result != TA_FAULT, core->binned);
	core->progressed |= core->binned != before;
	switch (result) {
	case TA_OK:
		core->phase = VDM_CORE_ASSEMBLE;
		core->progressed = true;
		return STEP_ON;
	case TA_MORE:
		return STEP_ON;
	case TA_MEMORY:
		return stall(core);
	case TA_FAULT:
		break;
	}
	return stop_fault(core->vdm, &fault);
}

/*
 * Write some region headers of the binned primitives. Device lock held on entry and return.
 */
static enum step_result write_headers(struct vdm_core *core)
{
	struct vdm *vdm = core->vdm;
	enum ta_result result;
	struct gpu_fault fault = { 0 };
	trace_span span;
	bool any = false;

	if (!vdm->pending) {
		vdm_headers_done(vdm);
		return STEP_ON;
	}
	if (!core->begun)
		return STEP_WAIT;
	core->writing = true;
	unlock(vdm);
	span = trace_ta(core, PUMICE_TRACE_TA_HEADERS, 0);
	result = ta_finish(core->ta, &any, &fault);
	trace_ta_end(core, span, PUMICE_TRACE_TA_HEADERS, result != TA_FAULT, 0);
	lock(vdm);
	core->writing = false;
	if (result == TA_MORE)
		return STEP_ON;
	core->begun = false;
	if (result != TA_OK) {
		dm_stop_fault(&vdm->run, &fault);
		return STEP_ON;
	}
	vdm->used |= (u32)any << core->number;
	if ((vdm->phase == VDM_FLUSH || vdm->phase == VDM_FINISH) && !--vdm->pending)
		vdm_headers_done(vdm);
	return STEP_ON;
}

/*
 * The job was stopped: release the chunk when its tasks have ended. Device lock held on entry
 * and return.
 */
static enum step_result drain(struct vdm_core *core)
{
	if (core->filling) {	/* the core is busy, so the job does not end meanwhile */
		core->filling = false;
		unlock(core->vdm);
		pds_task_drop(core->vdm->config.pds, &core->room);
		lock(core->vdm);
	}
	if (atomic_load(&core->outstanding))
		return STEP_WAIT;
	vdm_trace_chunk_end(core, PUMICE_TRACE_PHASE_CANCEL);
	core->busy = false;
	core->phase = VDM_CORE_IDLE;
	atomic_store(&core->stalled, false);
	vdm_try_end(core->vdm, core->number);
	return core->vdm->phase == VDM_FREE ? STEP_ON : STEP_WAIT;
}

/*
 * The first steps of a job, and the last ones of a stopped job, follow the free lists' links.
 * This is done in pieces without the device lock, which register accesses need; the core
 * counts as writing meanwhile. Device lock held on entry and return.
 */
static enum step_result begin(struct vdm_core *core)
{
	struct vdm *vdm = core->vdm;
	enum pm_result result;
	struct gpu_fault fault = { 0 };

	if (core->number)
		return STEP_WAIT;
	core->writing = true;
	unlock(vdm);
	result = vdm_begin_piece(vdm, &fault);
	lock(vdm);
	core->writing = false;
	if (vdm->phase != VDM_BEGIN)
		return STEP_ON;
	if (result == PM_FAULT)
		dm_stop_fault(&vdm->run, &fault);
	else if (result == PM_OK)
		vdm_run(vdm);
	return STEP_ON;
}

static enum step_result free_scene(struct vdm_core *core)
{
	struct vdm *vdm = core->vdm;
	enum pm_result result;

	if (core->number != vdm->freeing_core)
		return STEP_WAIT;
	unlock(vdm);
	result = vdm_free_piece(vdm);
	lock(vdm);
	if (result == PM_MORE)
		return STEP_ON;
	vdm_freed(vdm);
	return STEP_WAIT;
}

/* Do what the phase of the job requires of the core. Device lock held. */
static enum step_result step_job(struct vdm_core *core)
{
	struct vdm *vdm = core->vdm;

	switch (vdm->phase) {
	case VDM_IDLE:
	case VDM_MEMORY:
		return STEP_WAIT;
	case VDM_BEGIN:
		return begin(core);
	case VDM_FREE:
		return free_scene(core);
	case VDM_RUN:
		if (core->busy)
			return atomic_load(&core->stalled) ? STEP_WAIT : STEP_ON;
		if (core->number >= vdm->cores)
			return STEP_WAIT;
		return vdm_dispatch(vdm, core) == VDM_DISPATCH_WAIT ? STEP_WAIT : STEP_ON;
	case VDM_FLUSH:
	case VDM_FINISH:
		return write_headers(core);
	case VDM_DRAIN:
		return drain(core);
	}
	return STEP_WAIT;
}

static enum step_result step(struct vdm_core *core)
{
	enum step_result result;
	bool idle;

	if (!atomic_load(&core->vdm->stopping) && !atomic_load(&core->stalled)) {
		switch (core->phase) {
		case VDM_CORE_IDLE:
			break;
		case VDM_CORE_ASSEMBLE:
			return assemble(core);
		case VDM_CORE_COORDINATE:
			return coordinate(core);
		case VDM_CORE_VERTEX:
			return vertex(core);
		case VDM_CORE_BIN:
			return bin(core);
		}
	}
	lock(core->vdm);
	result = step_job(core);
	idle = core->vdm->phase == VDM_IDLE;
	unlock(core->vdm);
	/*
	 * After a stopped job. Only this thread begins the TA, so it cannot begin meanwhile.
	 */
	if (idle)
		ta_trim(core->ta);
	return result;
}

bool vdm_core_step(struct vdm *vdm, unsigned int number, const _Atomic bool *stop)
{
	unsigned int n;

	for (n = 0; n < STEPS; n++) {
		if (step(&vdm->core[number]) == STEP_WAIT)
			return false;
		if (atomic_load_explicit(stop, memory_order_relaxed))
			break;
	}
	return true;
}
