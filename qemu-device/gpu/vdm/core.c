// SPDX-License-Identifier: MIT
/*
 * Vertex data master: the work of one core.
 *
 * Source: document 004, "VDM" and "PDS"; document 001 for the coordinate program.
 *
 * A core takes a chunk and goes through it piece by piece: assembles primitives,
 * shades their vertices in tasks on its USCs, waits for these, and gives the
 * primitives to its TA. Where there is a coordinate program, that runs first and
 * only what the TA does not cull goes on.
 *
 * Whoever parks the GPU waits for a turn, so that does a bounded piece of the work, below
 * a millisecond of it: one of a PDS program, of the TA's primitives or of its headers.
 *
 * Registers that a program does not write read as 0: outputs are zeroed before.
 */
#include <string.h>

#include "state.h"

#define TURNS		16u	/* in a step: a quantum at most */
#define POSITION_WORDS	4u

/* A turn went on, or waits for a wake-up. */
enum turn { TURN_ON, TURN_WAIT };

static void lock(struct vdm *vdm)
{
	vdm->config.ops->lock(vdm->config.opaque);
}

static void unlock(struct vdm *vdm)
{
	vdm->config.ops->unlock(vdm->config.opaque);
}

static enum turn stop_fault(struct vdm *vdm, const struct gpu_fault *fault)
{
	lock(vdm);
	vdm_stop_fault(vdm, fault);
	unlock(vdm);
	return TURN_ON;
}

static void count(_Atomic u64 *counter, u64 n)
{
	atomic_store_explicit(counter,
			      atomic_load_explicit(counter, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

static enum turn chunk_done(struct vdm_core *core)
{
	lock(core->vdm);
	vdm_deal_done(core->vdm, core);
	unlock(core->vdm);
	return TURN_ON;
}

/* Assemble the next piece of the chunk. */
static enum turn assemble(struct vdm_core *core)
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
			  &core->place, chunk->end, &core->cache, &core->piece, &fault))
		return stop_fault(vdm, &fault);
	count(&core->indices, reader.read);
	core->prims += core->piece.prims;
	core->next = core->tasks = core->binned = 0;
	if (core->piece.prims)
		core->phase = chunk->shared->coordinate.code ? VDM_CORE_COORDINATE :
							       VDM_CORE_VERTEX;
	return TURN_ON;
}

/* Claim room for a task of so many vertices. */
static enum turn claim(struct vdm_core *core, const struct pds_stage *stage, u32 vertices)
{
	struct vdm *vdm = core->vdm;
	struct gpu_fault fault;

	switch (pds_task_claim(vdm->config.pds, PDS_DM_VDM, core->number, stage, vertices, 1,
			       &core->room, &fault)) {
	case PDS_STARTED:
		core->filling = true;
		core->fill_pc = 0;
		return TURN_ON;
	case PDS_WAIT:
		return TURN_WAIT;
	default:
		return stop_fault(vdm, &fault);
	}
}

/* Start the task that is filled, of so many vertices. */
static void start_task(struct vdm_core *core, const struct pds_stage *stage, u32 vo_words,
		       u32 vertices)
{
	struct vdm *vdm = core->vdm;
	struct pds *pds = vdm->config.pds;
	struct usc_gfx *gfx = &core->gfx[core->tasks];

	*gfx = (struct usc_gfx){
		.stage = USC_STAGE_VERTEX, .sample = USC_PIXEL_RATE,
		.vo = core->vo + core->next * vo_words, .vo_words = vo_words,
	};
	memset(gfx->vo, 0, (vertices + PUMICE_LANES - 1) / PUMICE_LANES * vo_words *
			   PUMICE_LANES * sizeof(u32));
	core->filling = false;
	core->tasks++;
	core->next += vertices;
	count(&core->vertices, vertices);
	atomic_fetch_add(&core->outstanding, 1);
	pds_task_start(pds, PDS_DM_VDM, &core->room, stage, gfx);
	if (atomic_load(&vdm->stopping)) {	/* it may have missed the abort */
		lock(vdm);
		pds_dm_abort(pds, PDS_DM_VDM);
		unlock(vdm);
	}
}

/* A piece of filling a task for the next vertices; it is started when it is filled. */
static enum turn fill_task(struct vdm_core *core, const struct pds_stage *stage, u32 vo_words)
{
	struct vdm *vdm = core->vdm;
	struct pds *pds = vdm->config.pds;
	const u32 left = core->piece.vertices - core->next;
	const struct pds_vertices in = {
		.vertex = core->piece.vertex + core->next, .instance = core->chunk.instance,
		.base_instance = core->chunk.draw.base_instance,
		.count = left < PUMICE_TASK_INSTANCES ? left : PUMICE_TASK_INSTANCES,
	};
	struct gpu_fault fault;

	if (!core->filling) {
		const enum turn turn = claim(core, stage, in.count);

		if (!core->filling)
			return turn;
	}
	if (!pds_fill_vertices(pds, &core->room, stage, &in, &core->tlb, &core->fill_pc, &fault))
		return stop_fault(vdm, &fault);
	if (core->fill_pc == stage->program.insns)
		start_task(core, stage, vo_words, in.count);
	return TURN_ON;
}

/* A piece of shading the piece's vertices; *done becomes whether all are. */
static enum turn shade(struct vdm_core *core, const struct pds_stage *stage, u32 vo_words,
		       bool *done)
{
	*done = false;
	if (core->next < core->piece.vertices)
		return fill_task(core, stage, vo_words);
	if (atomic_load(&core->outstanding))
		return TURN_WAIT;
	*done = true;
	return TURN_ON;
}

static struct ta_draw ta_draw_of(const struct vdm_core *core)
{
	return (struct ta_draw){
		.state = core->chunk.shared->record.state,
		.kind = (u8)vdm_topology_kind(core->chunk.draw.topology),
		.sequence = core->chunk.sequence,
	};
}

/* The TA of a core begins when its first primitives come. */
static bool begin_ta(struct vdm_core *core)
{
	if (core->begun)
		return true;
	core->begun = ta_begin(core->ta, &core->vdm->scene);
	if (!core->begun) {
		lock(core->vdm);
		vdm_stop_at(core->vdm, PUMICE_FAULT_PM_MEMORY, 0, core->vdm->scene.addr);
		unlock(core->vdm);
	}
	return core->begun;
}

static enum turn coordinate(struct vdm_core *core)
{
	struct vdm_piece *piece = &core->piece;
	const struct ta_vertices vertices = {
		.vo = core->vo, .vo_words = POSITION_WORDS, .count = piece->vertices,
	};
	const struct ta_draw draw = ta_draw_of(core);
	bool keep[VDM_PIECE_PRIMS];
	enum turn turn;
	bool done;

	turn = shade(core, &core->chunk.shared->coordinate, POSITION_WORDS, &done);
	if (!done)
		return turn;
	if (!begin_ta(core))
		return TURN_ON;
	memset(keep, true, piece->prims * sizeof(*keep));
	ta_cull(core->ta, &draw, &vertices, piece->prim, piece->prims, keep);
	vdm_piece_keep(piece, keep);
	core->next = core->tasks = 0;
	core->phase = piece->prims ? VDM_CORE_VERTEX : VDM_CORE_ASSEMBLE;
	return TURN_ON;
}

static enum turn vertex(struct vdm_core *core)
{
	const struct vdm_shared *shared = core->chunk.shared;
	bool done;
	enum turn turn = shade(core, &shared->vertex, shared->vo_words, &done);

	if (done)
		core->phase = VDM_CORE_BIN;
	return turn;
}

/* No page for the next primitive: stand still, with the place in the piece. */
static enum turn stand(struct vdm_core *core)
{
	struct vdm *vdm = core->vdm;

	lock(vdm);
	atomic_store(&core->stands, true);
	vdm->short_of_pages = true;
	vdm_deal_memory(vdm);
	unlock(vdm);
	return TURN_WAIT;
}

static enum turn bin(struct vdm_core *core)
{
	const struct vdm_piece *piece = &core->piece;
	const struct ta_vertices vertices = {
		.vo = core->vo, .vo_words = core->chunk.shared->vo_words, .count = piece->vertices,
	};
	const struct ta_draw draw = ta_draw_of(core);
	const u32 before = core->binned;
	struct gpu_fault fault = { 0 };
	enum ta_result result;

	if (!begin_ta(core))
		return TURN_ON;
	result = ta_primitives(core->ta, &draw, &vertices, piece->prim, piece->prims,
			       &core->binned, &fault);
	core->moved |= core->binned != before;
	switch (result) {
	case TA_OK:
		core->phase = VDM_CORE_ASSEMBLE;
		core->moved = true;
		return TURN_ON;
	case TA_MORE:
		return TURN_ON;
	case TA_MEMORY:
		return stand(core);
	case TA_FAULT:
		break;
	}
	return stop_fault(core->vdm, &fault);
}

/*
 * Write some region headers of what the core has binned. Device lock held on entry and
 * return.
 */
static enum turn write_headers(struct vdm_core *core)
{
	struct vdm *vdm = core->vdm;
	enum ta_result result;
	struct gpu_fault fault;
	bool any = false;

	if (!vdm->pending) {
		vdm_headers_done(vdm);
		return TURN_ON;
	}
	if (!core->begun)
		return TURN_WAIT;
	core->writing = true;
	unlock(vdm);
	result = ta_finish(core->ta, &any, &fault);
	lock(vdm);
	core->writing = false;
	if (result == TA_MORE)
		return TURN_ON;
	core->begun = false;
	if (result != TA_OK) {
		vdm_stop_fault(vdm, &fault);
		return TURN_ON;
	}
	vdm->used |= (u32)any << core->number;
	if ((vdm->phase == VDM_FLUSH || vdm->phase == VDM_FINISH) && !--vdm->pending)
		vdm_headers_done(vdm);
	return TURN_ON;
}

/*
 * The job was stopped: let go of the chunk when its tasks are gone. Device lock held on
 * entry and return.
 */
static enum turn drain(struct vdm_core *core)
{
	if (core->filling) {	/* the core is busy, so the job does not end meanwhile */
		core->filling = false;
		unlock(core->vdm);
		pds_task_drop(core->vdm->config.pds, PDS_DM_VDM, &core->room);
		lock(core->vdm);
	}
	if (atomic_load(&core->outstanding))
		return TURN_WAIT;
	core->busy = false;
	core->phase = VDM_CORE_IDLE;
	atomic_store(&core->stands, false);
	vdm_try_end(core->vdm, core->number);
	return core->vdm->phase == VDM_FREE ? TURN_ON : TURN_WAIT;
}

/*
 * The first steps of a job, and the last ones of a job that was stopped, follow the free
 * lists' links. That is done in pieces without the device lock, which registers need; the
 * core counts as writing meanwhile. Device lock held on entry and return.
 */
static enum turn begin(struct vdm_core *core)
{
	struct vdm *vdm = core->vdm;
	enum pm_result result;
	struct gpu_fault fault;

	if (core->number)
		return TURN_WAIT;
	core->writing = true;
	unlock(vdm);
	result = vdm_begin_piece(vdm, &fault);
	lock(vdm);
	core->writing = false;
	if (vdm->phase != VDM_BEGIN)
		return TURN_ON;
	if (result == PM_FAULT)
		vdm_stop_fault(vdm, &fault);
	else if (result == PM_OK)
		vdm_run(vdm);
	return TURN_ON;
}

static enum turn free_scene(struct vdm_core *core)
{
	struct vdm *vdm = core->vdm;
	enum pm_result result;

	if (core->number != vdm->freer)
		return TURN_WAIT;
	unlock(vdm);
	result = vdm_free_piece(vdm);
	lock(vdm);
	if (result == PM_MORE)
		return TURN_ON;
	vdm_freed(vdm);
	return TURN_WAIT;
}

/* What the job as a whole asks of the core. Device lock held. */
static enum turn attend(struct vdm_core *core)
{
	struct vdm *vdm = core->vdm;

	switch (vdm->phase) {
	case VDM_IDLE:
	case VDM_MEMORY:
		return TURN_WAIT;
	case VDM_BEGIN:
		return begin(core);
	case VDM_FREE:
		return free_scene(core);
	case VDM_RUN:
		if (core->busy)
			return atomic_load(&core->stands) ? TURN_WAIT : TURN_ON;
		if (core->number >= vdm->cores)
			return TURN_WAIT;
		return vdm_deal(vdm, core) == VDM_DEAL_WAIT ? TURN_WAIT : TURN_ON;
	case VDM_FLUSH:
	case VDM_FINISH:
		return write_headers(core);
	case VDM_DRAIN:
		return drain(core);
	}
	return TURN_WAIT;
}

static enum turn turn(struct vdm_core *core)
{
	enum turn turn;
	bool idle;

	if (!atomic_load(&core->vdm->stopping) && !atomic_load(&core->stands)) {
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
	turn = attend(core);
	idle = core->vdm->phase == VDM_IDLE;
	unlock(core->vdm);
	/* After a job that was stopped. The TA begins in this thread, so not meanwhile. */
	if (idle)
		ta_trim(core->ta);
	return turn;
}

bool vdm_core_step(struct vdm *vdm, unsigned int number, const _Atomic bool *stop)
{
	unsigned int n;

	for (n = 0; n < TURNS; n++) {
		if (turn(&vdm->core[number]) == TURN_WAIT)
			return false;
		if (atomic_load_explicit(stop, memory_order_relaxed))
			break;
	}
	return true;
}
