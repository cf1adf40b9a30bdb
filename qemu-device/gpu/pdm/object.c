// SPDX-License-Identifier: MIT
/*
 * PDM: state of objects, read and decoded once while a tile caches it, a TSP state with its
 * program.
 *
 * Source: document 004, "ISP Parameter Fetch", "TSP Parameter Fetch"; hw/formats.xml, isp_state,
 * tsp_state. A hash table of pairs of addresses for each tile in flight, so that it needs no lock.
 * It is kept for the following tiles of a job. The ISP state of an object is read when its first
 * primitive is drawn; its TSP state and program when the first of its visible spans is shaded, so
 * not at all if it is hidden.
 *
 * Limits: PDM_MAX_OBJECTS pairs; when there are more, the tile shades all pending spans and
 * drops all pairs. Without memory for another program the tile drops its programs alone.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../usc/program.h"
#include "state.h"

/* Of a piece of loading a program, in units of about 50 ns. */
#define COST_LOAD	128u	/* read the state and a PDS program, look the program up */
#define COST_DECODE	4u	/* an instruction */
#define FETCHED_PER_UNIT 4u	/* instructions that are read, hashed and compared in a unit */

_Static_assert(USC_DECODE_PIECE * COST_DECODE == PDM_COST_PIECE, "cost of decoding a piece");
_Static_assert(USC_FETCH_PIECE / FETCHED_PER_UNIT == PDM_COST_PIECE, "cost of fetching a piece");

/* Linear probing would need empty entries, so the whole table is searched where necessary. */
static u32 hash_of(u64 isp_addr, u64 tsp_addr)
{
	const u64 mixed = (isp_addr * 31 + tsp_addr) >> 4;

	return (u32)((mixed ^ mixed >> 7 ^ mixed >> 15) % PDM_MAX_OBJECTS);
}

static bool check_visibility(struct pdm_tile *tile, const struct pdm_object *o)
{
	if (!o->isp.visibility || o->isp.visibility_id < tile->pdm->render.visibility_count)
		return true;
	pdm_fault_at(tile->pdm, PUMICE_FAULT_ISP_STATE, PUMICE_UNIT_ISP, o->isp_addr);
	return false;
}

/*
 * An object that needs the mask plane of a tile that has none must not be drawn as if it did not.
 */
static bool check_mask(struct pdm_tile *tile, const struct pdm_object *o)
{
	if (tile->pdm->render.mask_plane || !(o->isp.mask_test || o->isp.mask_op))
		return true;
	pdm_fault_at(tile->pdm, PUMICE_FAULT_ISP_STATE, PUMICE_UNIT_ISP, o->isp_addr);
	return false;
}

/* Read the ISP state. Returns false when the job was stopped. */
static bool read_isp(struct pdm_tile *tile, struct pdm_object *o)
{
	struct pdm *pdm = tile->pdm;
	struct gpu_fault fault = { 0 };

	if (!isp_state_load(pdm->config.mmu, &tile->core->tlb, pdm->job.ctx, o->isp_addr, &o->isp,
			    &fault)) {
		pdm_fault(pdm, &fault);
		return false;
	}
	return check_visibility(tile, o) && check_mask(tile, o);
}

void pdm_wait_memory(struct pdm_tile *tile, bool waits)
{
	struct pdm *pdm = tile->pdm;
	unsigned int i;

	if (tile->memory_waits == waits)
		return;
	tile->memory_waits = waits;
	if (!waits) {
		atomic_fetch_sub(&pdm->memory_waits, 1);
		return;
	}
	atomic_fetch_add(&pdm->memory_waits, 1);
	for (i = 0; i < pdm->config.cores; i++)
		pdm->config.ops->wake(pdm->config.opaque, i);
}

/*
 * Return the cost of the piece of a load that completed it. An only piece with more instructions
 * than are decoded in one has found them in the cache.
 */
static u32 cost_of_last(const struct pds_stage *stage, bool only)
{
	const u32 insns = stage->program.insn[stage->program.task].insns;
	const u32 decode = insns * COST_DECODE;

	if (decode <= PDM_COST_PIECE)
		return COST_LOAD + decode;
	return only ? COST_LOAD + insns / FETCHED_PER_UNIT : PDM_COST_PIECE;
}

enum pds_load_result pdm_load_stage(struct pdm_tile *tile, const struct pumice_stage *state,
				    const struct pds_stage_limits *limits, struct pds_stage *out,
				    u32 *cost, struct gpu_fault *fault)
{
	const struct pdm *pdm = tile->pdm;
	const bool first = !out->load;
	const enum pds_load_result result =
		pds_stage_load(pdm->config.pds, &tile->core->tlb, pdm->job.ctx, state, limits, out,
			       fault);

	*cost += result == PDS_LOADED ? cost_of_last(out, first) : PDM_COST_PIECE;
	pdm_wait_memory(tile, result == PDS_LOAD_WAIT);
	return result;
}

/* Read the TSP state, or do a piece of loading its program. */
static enum pds_load_result load_piece(struct pdm_tile *tile, struct pdm_object *o, u32 *cost,
				       struct gpu_fault *fault)
{
	struct pdm *pdm = tile->pdm;
	struct pds_stage_limits limits = {
		.stage = USC_STAGE_FRAGMENT, .outputs = pdm->render.outputs,
		.tile_words = pdm_output_words(pdm),
	};

	if (!o->stage.load && !tsp_state_load(pdm->config.mmu, &tile->core->tlb, pdm->job.ctx,
					      o->tsp_addr, &o->tsp, fault))
		return PDS_LOAD_FAULT;
	limits.varyings = o->tsp.varyings;
	return pdm_load_stage(tile, &o->tsp.fragment, &limits, &o->stage, cost, fault);
}

/*
 * There is no memory for the program of an object: the tile drops all others, which may occupy it,
 * before it waits. Those of running tasks are dropped when these have ended, whose time is not that
 * of the load's wait: the load is repeated then. No task is built.
 */
static enum pdm_step wait_for_memory(struct pdm_tile *tile, struct pdm_object *o)
{
	if (!pdm_programs_held(tile))
		return PDM_STEP_WAIT;
	if (atomic_load(&tile->running)) {
		pds_stage_drop(tile->pdm->config.pds, &o->stage);
		return PDM_STEP_WAIT;
	}
	pdm_programs_drop(tile);
	return PDM_STEP_ON;
}

enum pdm_step pdm_object_load(struct pdm_tile *tile, struct pdm_object *o, u32 *cost)
{
	struct pdm *pdm = tile->pdm;
	struct gpu_fault fault = { 0 };

	if (o->stage.code)
		return PDM_STEP_DONE;
	/* The load is repeated when the last task has ended: wait_for_memory(). */
	if (tile->memory_waits && atomic_load(&tile->running))
		return PDM_STEP_WAIT;
	switch (load_piece(tile, o, cost, &fault)) {
	case PDS_LOADED:
		break;
	case PDS_LOAD_MORE:
		return PDM_STEP_ON;
	case PDS_LOAD_WAIT:
		return wait_for_memory(tile, o);
	default:
		pdm_fault(pdm, &fault);
		return PDM_STEP_ON;
	}
	o->varyings = pds_program_varyings(&o->stage.program);
	o->varying_count = (u32)__builtin_popcountll(o->varyings);
	o->reads_depth = pds_program_reads_depth(&o->stage.program);
	o->max_prims = pds_stage_max_prims(pdm->config.pds, &o->stage);
	if (o->max_prims > PDM_TASK_SPANS)
		o->max_prims = PDM_TASK_SPANS;
	tile->programs++;
	return PDM_STEP_DONE;
}

enum pdm_step pdm_object_get(struct pdm_tile *tile, u64 isp_addr, u64 tsp_addr, u16 *out)
{
	u32 place = hash_of(isp_addr, tsp_addr), tries;
	struct pdm_object *o;

	for (tries = 0; tries < PDM_MAX_OBJECTS; tries++, place = (place + 1) % PDM_MAX_OBJECTS) {
		o = tile->objects[place];
		if (!o || !o->used)
			break;
		if (o->isp_addr == isp_addr && o->tsp_addr == tsp_addr) {
			*out = (u16)place;
			return PDM_STEP_DONE;
		}
	}
	if (tries == PDM_MAX_OBJECTS)
		return PDM_STEP_WAIT;
	if (!o)
		o = malloc(sizeof(*o));
	if (!o) {
		/* Treat as a full table; when it is empty the host is out of memory. */
		if (!tile->object_count)
			pdm_fault_at(tile->pdm, PUMICE_FAULT_PDS_RESOURCE, PUMICE_UNIT_TSP,
				     tsp_addr);
		return PDM_STEP_WAIT;
	}
	tile->objects[place] = o;
	memset(o, 0, offsetof(struct pdm_object, stage));
	pds_stage_clear(&o->stage);
	o->isp_addr = isp_addr;
	o->tsp_addr = tsp_addr;
	if (!read_isp(tile, o))
		return PDM_STEP_ON;
	o->used = true;
	tile->object_count++;
	*out = (u16)place;
	return PDM_STEP_DONE;
}

void pdm_programs_drop(struct pdm_tile *tile)
{
	struct pds *pds = tile->pdm->config.pds;
	u32 i;

	for (i = 0; i < PDM_MAX_OBJECTS; i++)
		if (tile->objects[i])
			pds_stage_drop(pds, &tile->objects[i]->stage);
	tile->programs = 0;
	pdm_vertices_release(tile);
	pds_stage_drop(pds, &tile->own_store);
	tile->own_state = PDM_STORE_NONE;
}

void pdm_objects_drop(struct pdm_tile *tile)
{
	u32 i;

	pdm_programs_drop(tile);
	for (i = 0; i < PDM_MAX_OBJECTS; i++)
		if (tile->objects[i])
			tile->objects[i]->used = false;
	tile->object_count = 0;
	tile->object_known = false;
	pdm_vertices_drop(tile);
}

void pdm_objects_destroy(struct pdm_tile *tile)
{
	u32 i;

	for (i = 0; i < PDM_MAX_OBJECTS; i++) {
		free(tile->objects[i]);
		tile->objects[i] = NULL;
	}
}
