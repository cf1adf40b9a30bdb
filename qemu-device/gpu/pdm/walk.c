// SPDX-License-Identifier: MIT
/*
 * PDM: draw the primitives of a tile with the ISP.
 *
 * Source: document 004, "ISP Parameter Fetch", "ISP". Before a primitive that reads the
 * pixels below it, or covers one whose depth is not known yet, all pending pixels are shaded;
 * then it is drawn. If a running task decides on the depth of pixels near it, it waits for that.
 */
#include "state.h"

/* Cost of a step, in units of about 50 ns. */
#define COST_PRIM	2u
#define COST_TILE	8u	/* of a primitive that fills the tile */

/* Shade the pending pixels, then continue the walk. */
static enum pdm_step flush(struct pdm_tile *tile)
{
	tile->isp_held = false;
	pdm_shade_pending(tile, PDM_TILE_WALK);
	return PDM_STEP_ON;
}

static bool pending(const struct pdm_tile *tile)
{
	return tile->isp.row0 < tile->isp.row1;
}

/* Look up the object of the next block. DONE: found. */
static enum pdm_step find_object(struct pdm_tile *tile)
{
	const struct pumice_prim_block *header = &tile->prims.header;
	const enum pdm_step step = pdm_object_get(tile, header->isp_state, header->tsp_state,
						  &tile->object);

	if (step == PDM_STEP_WAIT) {
		tile->drop_objects = true;
		return flush(tile);
	}
	tile->object_known = step == PDM_STEP_DONE;
	return step;
}

/* Receive the next entry of the tile's stream. DONE: there is one. */
static enum pdm_step next_block(struct pdm_tile *tile)
{
	struct gpu_fault fault = { 0 };

	switch (ipf_master_next(&tile->pdm->list.master, tile->core->number, tile->slot,
				&tile->prims, &fault)) {
	case IPF_PRIMS:
		tile->mask = tile->prims.mask;
		tile->object_known = false;
		return PDM_STEP_DONE;
	case IPF_END:
		tile->finished = true;
		return PDM_STEP_ON;
	default:
		pdm_fault(tile->pdm, &fault);
		return PDM_STEP_ON;
	}
}

/* Set up the next triangle; false if it has no area. */
static bool set_up(struct pdm_tile *tile)
{
	const struct pdm_object *o = tile->objects[tile->object];

	return isp_set_up(&tile->triangle[tile->at_triangle], &o->isp, &tile->setup);
}

/* Advance to the next primitive of the block. DONE: it is set up. */
static enum pdm_step next_prim(struct pdm_tile *tile)
{
	struct pdm *pdm = tile->pdm;
	struct gpu_fault fault = { 0 };

	tile->prim_number = (u32)__builtin_ctz(tile->mask);
	tile->mask &= tile->mask - 1;
	if (!ipf_fetch(&pdm->scene, pdm->config.mmu, &tile->core->tlb, tile->prims.block,
		       &tile->prims.header, tile->prim_number, &tile->prim, &fault)) {
		pdm_fault(pdm, &fault);
		return PDM_STEP_ON;
	}
	tile->at_triangle = 0;
	if (!isp_expand(tile->prims.header.kind, &tile->prim, tile->triangle, &tile->triangles)) {
		tile->triangles = 0;
		pdm_fault_at(pdm, PUMICE_FAULT_IPF_BLOCK, PUMICE_UNIT_ISP,
			     pm_address(&pdm->scene, tile->prims.block));
		return PDM_STEP_ON;
	}
	tile->stats.primitives++;
	return PDM_STEP_DONE;
}

/* Record the primitive that tags are about to refer to. */
static void record(struct pdm_tile *tile)
{
	struct pdm_prim *r = &tile->record[tile->prim_count];

	r->prim = tile->prim;
	r->header = tile->prims.header;
	r->block = tile->prims.block;
	r->object = tile->object;
	r->half = (u8)tile->at_triangle;
	r->back = tile->prim.index.back;
	r->planes = 0;
}

/*
 * Return whether drawing the current triangle accesses depth, stencil or mask on which a running
 * task decides: the ISP accesses whole chunks of pixels.
 */
static bool is_undecided(const struct pdm_tile *tile)
{
	const struct pdm_object *o = tile->objects[tile->object];

	return tile->scoreboard.late_tasks &&
	       isp_accesses(&tile->isp, &tile->setup, &o->isp, tile->scoreboard.late);
}

/* Return whether a running task refers to a record of a primitive. */
static bool records_in_use(const struct pdm_tile *tile)
{
	return tile->scoreboard.late_tasks;
}

/*
 * Wait for late tasks while a condition holds. A primitive that waits is counted once, for all its
 * conditions.
 */
static bool await(struct pdm_tile *tile, bool (*waits)(const struct pdm_tile *tile))
{
	if (!waits(tile) || !pdm_tasks_await(tile, waits))
		return false;
	tile->isp_waits += !tile->isp_held;
	tile->isp_held = true;
	return true;
}

/* Draw the current triangle. DONE: drawn. */
static enum pdm_step draw(struct pdm_tile *tile, u32 *cost)
{
	struct pdm_object *o = tile->objects[tile->object];
	const bool back = tile->prim.index.back;
	struct isp_result result;

	if (await(tile, is_undecided))
		return PDM_STEP_WAIT;
	if (pending(tile) && isp_must_flush(&tile->isp, &tile->setup, &o->isp, back))
		return flush(tile);
	if (!o->isp.no_tag && tile->prim_count == PDM_MAX_PRIMS && await(tile, records_in_use))
		return PDM_STEP_WAIT;
	tile->isp_held = false;
	if (!o->isp.no_tag) {
		/* No tag is free: drop invisible primitives, or shade all. */
		if (tile->prim_count == PDM_MAX_PRIMS &&
		    pdm_compact(tile) > PDM_MAX_PRIMS / 4 * 3)
			return flush(tile);
		record(tile);
	}
	isp_draw(&tile->isp, &tile->setup, &o->isp, back, tile->prim_count + 1, &result);
	tile->prim_count += result.passed && !o->isp.no_tag;
	tile->stats.covered += result.covered;
	if (o->isp.visibility && (o->isp.pass_type == PUMICE_PASS_TYPE_OPAQUE ||
				  o->isp.pass_type == PUMICE_PASS_TYPE_TRANSLUCENT))
		o->visible += result.passed;
	*cost += result.covered * COST_TILE / PUMICE_TILE_PIXELS;
	tile->at_triangle++;
	return PDM_STEP_DONE;
}

enum pdm_step pdm_walk(struct pdm_tile *tile, u32 *cost)
{
	enum pdm_step step;

	*cost = COST_PRIM;
	if (tile->finished)
		return PDM_STEP_DONE;
	if (tile->at_triangle == tile->triangles) {
		if (!tile->mask && next_block(tile) != PDM_STEP_DONE)
			return PDM_STEP_ON;
		step = tile->object_known ? PDM_STEP_DONE : find_object(tile);
		if (step != PDM_STEP_DONE) {
			*cost = PDM_COST_PIECE;
			return step;
		}
		if (next_prim(tile) != PDM_STEP_DONE)
			return PDM_STEP_ON;
	}
	while (tile->at_triangle < tile->triangles) {
		if (!set_up(tile)) {
			tile->at_triangle++;
			continue;
		}
		step = draw(tile, cost);
		if (step != PDM_STEP_DONE)
			return step;
	}
	return PDM_STEP_ON;
}
