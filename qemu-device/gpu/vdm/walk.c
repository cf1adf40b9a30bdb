// SPDX-License-Identifier: MIT
/*
 * Vertex data master: the walk through the control stream, and how draws are split.
 *
 * Source: document 004, "Master VDM"; document 001; hw/formats.xml, stream "vdm".
 *
 * Only the indices of draws with primitive restart are read here: a chunk stores where the
 * run that it begins in started.
 */
#include <stdlib.h>
#include <string.h>

#include "state.h"

/* End the job with a fault of the VDM at an address of the stream. */
static enum vdm_walk_result stop_here(struct vdm *vdm, enum pumice_fault reason, u64 addr)
{
	dm_stop_at(&vdm->run, reason, vdm->job.ctx, addr);
	return VDM_WALK_STOPPED;
}

static enum vdm_walk_result stop_fault(struct vdm *vdm, const struct gpu_fault *fault)
{
	dm_stop_fault(&vdm->run, fault);
	return VDM_WALK_STOPPED;
}

void vdm_shared_put(struct vdm *vdm, struct vdm_shared *shared)
{
	if (!shared || --shared->refs)
		return;
	pds_stage_drop(vdm->config.pds, &shared->vertex);
	pds_stage_drop(vdm->config.pds, &shared->coordinate);
	free(shared);
}

enum pds_load_result vdm_walk_load(struct vdm *vdm, struct gpu_fault *fault)
{
	struct vdm_shared *shared = vdm->walk.loading;
	struct pds_stage_limits limits = {
		.stage = USC_STAGE_VERTEX, .vo = shared->vo_words,
		.positions = vdm_record_kept_positions(&shared->record),
		.attribute = shared->record.attribute,
		.attributes = shared->record.state.attribute_count,
	};
	enum pds_load_result result = PDS_LOADED;

	/* The PDM loads deferred programs. */
	if (!shared->vertex.code && !shared->record.state.deferred)
		result = pds_stage_load(vdm->config.pds, &vdm->walk.tlb, vdm->job.ctx,
					&shared->record.vertex, &limits, &shared->vertex, fault);
	if (result != PDS_LOADED || !shared->record.coordinate.pds_insns)
		return result;
	limits.vo = vdm_record_coordinate_vo(&shared->record);
	limits.positions = 0;
	return pds_stage_load(vdm->config.pds, &vdm->walk.tlb, vdm->job.ctx,
			      &shared->record.coordinate, &limits, &shared->coordinate, fault);
}

void vdm_walk_loaded(struct vdm *vdm)
{
	vdm->walk.shared = vdm->walk.loading;
	vdm->walk.loading = NULL;
}

static enum vdm_walk_result run_state(struct vdm *vdm, u64 addr)
{
	const struct gpu_record from = {
		vdm->config.mmu, &vdm->walk.tlb, vdm->job.ctx, addr, PUMICE_UNIT_VDM,
	};
	struct vdm_shared *shared = malloc(sizeof(*shared));
	struct gpu_fault fault = { 0 };

	if (!shared)
		return stop_here(vdm, PUMICE_FAULT_VDM_STATE, addr);
	/* The record is read as a whole. */
	pds_stage_clear(&shared->vertex);
	pds_stage_clear(&shared->coordinate);
	shared->refs = 1;
	shared->addr = addr;
	if (!vdm_record_fetch(&from, &shared->record, &fault)) {
		vdm_shared_put(vdm, shared);
		return stop_fault(vdm, &fault);
	}
	/* No later draw uses the last state: release its programs before these are loaded. */
	vdm_shared_put(vdm, vdm->walk.shared);
	vdm->walk.shared = NULL;
	shared->vo_words = vdm_record_vo(&shared->record);
	vdm->walk.loading = shared;
	return VDM_WALK_LOAD;
}

/* Begin a draw. Positions after the last whole primitive of a list are ignored. */
static enum vdm_walk_result run_draw(struct vdm *vdm, const struct vdm_draw *draw)
{
	struct vdm_walk *walk = &vdm->walk;
	const u32 vertices = vdm_topology_vertices(draw->topology);
	const u32 step = vdm_topology_step(draw->topology);

	if (!walk->shared)
		return stop_here(vdm, PUMICE_FAULT_VDM_STATE, walk->draw_pc);
	if (!draw->instances || draw->count < vertices)
		return VDM_WALK_ON;
	walk->draw = *draw;
	walk->drawing = true;
	walk->instance = 0;
	walk->place = (struct vdm_place){ 0 };
	walk->count = draw->restart ? draw->count : draw->count - draw->count % step;
	return VDM_WALK_ON;
}

static enum vdm_walk_result run_call(struct vdm *vdm, const struct vdm_command *cmd)
{
	struct vdm_walk *walk = &vdm->walk;

	if (walk->depth == PUMICE_VDM_MAX_DEPTH)
		return stop_here(vdm, PUMICE_FAULT_VDM_DEPTH, walk->draw_pc);
	walk->return_pc[walk->depth++] = walk->pc;
	walk->pc = cmd->addr;
	return VDM_WALK_ON;
}

static enum vdm_walk_result run_return(struct vdm *vdm)
{
	struct vdm_walk *walk = &vdm->walk;

	if (!walk->depth)
		return stop_here(vdm, PUMICE_FAULT_VDM_RETURN, walk->draw_pc);
	walk->pc = walk->return_pc[--walk->depth];
	return VDM_WALK_ON;
}

/* Return whether scene.limit can hold one more chunk. */
static bool has_number(const struct vdm *vdm)
{
	return vdm->made != UINT32_MAX - 1;
}

/* Make the chunk of a task without instances. */
static enum vdm_walk_result make_task(struct vdm *vdm, struct vdm_chunk *chunk)
{
	struct vdm_walk *walk = &vdm->walk;

	if (!walk->shared || !has_number(vdm))
		return stop_here(vdm, PUMICE_FAULT_VDM_STATE, walk->draw_pc);
	*chunk = (struct vdm_chunk){
		.sequence = vdm->made, .shared = walk->shared, .task = true,
	};
	walk->shared->refs++;
	walk->after = vdm->made + 1;
	return VDM_WALK_CHUNK;
}

/* Return whether a command waits for chunks that are not done. */
static bool is_held(const struct vdm *vdm, const struct vdm_command *cmd)
{
	if (cmd->type == PUMICE_VDM_TYPE_FLUSH)
		return vdm->lowest != vdm->made;
	return cmd->draw.after && vdm->lowest < vdm->walk.after;
}

/* Fetch and execute a command. */
static enum vdm_walk_result run_command(struct vdm *vdm, struct vdm_chunk *chunk)
{
	struct vdm_walk *walk = &vdm->walk;
	struct vdm_command cmd;
	struct gpu_fault fault = { 0 };

	if (!vdm_command_fetch(vdm->config.mmu, &walk->tlb, vdm->job.ctx, walk->pc, &cmd, &fault))
		return stop_fault(vdm, &fault);
	if (is_held(vdm, &cmd))
		return VDM_WALK_HELD;	/* it is fetched again */
	walk->draw_pc = walk->pc;
	walk->pc += cmd.words * sizeof(u32);
	switch ((enum pumice_vdm_type)cmd.type) {
	case PUMICE_VDM_TYPE_STATE:
		return run_state(vdm, cmd.addr);
	case PUMICE_VDM_TYPE_DRAW_INDIRECT:
	case PUMICE_VDM_TYPE_DRAW_INDEXED_INDIRECT:
		if (!vdm_command_counts(vdm->config.mmu, &walk->tlb, vdm->job.ctx, &cmd, &fault))
			return stop_fault(vdm, &fault);
		return run_draw(vdm, &cmd.draw);
	case PUMICE_VDM_TYPE_DRAW:
	case PUMICE_VDM_TYPE_DRAW_INDEXED:
		return run_draw(vdm, &cmd.draw);
	case PUMICE_VDM_TYPE_CALL:
		return run_call(vdm, &cmd);
	case PUMICE_VDM_TYPE_RETURN:
		return run_return(vdm);
	case PUMICE_VDM_TYPE_LINK:
		walk->pc = cmd.addr;
		return VDM_WALK_ON;
	case PUMICE_VDM_TYPE_HALT:
		walk->halted = true;
		return VDM_WALK_END;
	case PUMICE_VDM_TYPE_TASK:
		return make_task(vdm, chunk);
	case PUMICE_VDM_TYPE_FLUSH:
		return dm_flush(vdm->config.mmu, PUMICE_UNIT_VDM, vdm->job.ctx, &cmd.flush) ?
			       VDM_WALK_SWEPT : VDM_WALK_ON;
	}
	return VDM_WALK_ON;
}

/*
 * Return the number of positions in a chunk of the draw: split primitives, if restart shortens none
 * of them.
 */
static u64 chunk_places(const struct vdm *vdm, const struct vdm_walk *walk)
{
	const u32 step = vdm_topology_step(walk->draw.topology);
	u64 places = (u64)vdm->job.split * step;

	if (!walk->place.at && step == 1)
		places += vdm_topology_vertices(walk->draw.topology) - 1;
	return places < walk->count - walk->place.at ? places : walk->count - walk->place.at;
}

/* Split the next chunk off the draw. */
static enum vdm_walk_result make_chunk(struct vdm *vdm, struct vdm_chunk *chunk, u32 *cost)
{
	struct vdm_walk *walk = &vdm->walk;
	struct vdm_reader reader = {
		.mmu = vdm->config.mmu, .tlb = &walk->tlb, .ctx = vdm->job.ctx,
	};
	const u64 places = chunk_places(vdm, walk);
	struct gpu_fault fault = { 0 };

	if (!has_number(vdm))
		return stop_here(vdm, PUMICE_FAULT_VDM_STATE, walk->draw_pc);
	vdm->parts += !walk->place.at;
	*chunk = (struct vdm_chunk){
		.sequence = vdm->made, .draw = walk->draw, .shared = walk->shared,
		.instance = walk->draw.base_instance + walk->instance,
		.part = vdm->parts, .from = walk->place, .end = walk->place.at + places,
	};
	if (walk->draw.restart) {
		*cost = 1 + (u32)(places / VDM_PIECE_PRIMS);
		if (!vdm_find_run(&reader, &walk->draw, walk->place.at, chunk->end,
				  &walk->place.run, &fault))
			return stop_fault(vdm, &fault);
	}
	walk->place.at = chunk->end;
	if (walk->place.at == walk->count) {
		walk->place = (struct vdm_place){ 0 };
		walk->drawing = ++walk->instance < walk->draw.instances;
	}
	walk->shared->refs++;
	return VDM_WALK_CHUNK;
}

enum vdm_walk_result vdm_walk(struct vdm *vdm, struct vdm_chunk *chunk, u32 *cost)
{
	*cost = 1;
	if (vdm->walk.loading)
		return VDM_WALK_LOAD;
	if (vdm->walk.drawing)
		return make_chunk(vdm, chunk, cost);
	return vdm->walk.halted ? VDM_WALK_END : run_command(vdm, chunk);
}

void vdm_walk_begin(struct vdm *vdm)
{
	vdm_shared_put(vdm, vdm->walk.shared);
	vdm->walk = (struct vdm_walk){ .pc = vdm->job.stream };
}
