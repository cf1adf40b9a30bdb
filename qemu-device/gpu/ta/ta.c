// SPDX-License-Identifier: MIT
/*
 * Tiling accelerator of one core: scenes and calls.
 *
 * Source: document 004, "Tiling Accelerator". See ta.h and internal.h.
 */
#include <stdlib.h>
#include <string.h>

#include "../usc/gfx.h"
#include "internal.h"
#include "shape.h"

struct ta *ta_create(const struct ta_config *config)
{
	struct ta *ta = calloc(1, sizeof(*ta));

	if (!ta)
		return NULL;
	ta->config = *config;
	ta->mte.place = ta->te.place = config->core + 1;
	ta->culling = calloc(1, sizeof(*ta->culling));
	if (!ta->culling) {
		free(ta);
		return NULL;
	}
	return ta;
}

void ta_destroy(struct ta *ta)
{
	if (!ta)
		return;
	free(ta->tile);
	free(ta->touch);
	free(ta->spares);
	free(ta->vertex);
	free(ta->culling->vertex);
	free(ta->culling);
	free(ta);
}

/*
 * Allocate room for the tiles of a scene, and for the spare pages of a macro tile: a chunk
 * for each of its tiles, and a block.
 */
static bool make_room(struct ta *ta, const struct pm_scene *scene)
{
	const u32 tiles = scene->tiles_x * scene->tiles_y;
	const u32 per_page = PUMICE_PM_PAGE_SIZE / (PUMICE_TILE_CHUNK_WORDS * 4) - 1;
	const u32 spares = scene->macro_w * scene->macro_h / per_page + 3;

	if (tiles > ta->tiles_room) {
		free(ta->tile);
		free(ta->touch);
		ta->tile = malloc(tiles * sizeof(*ta->tile));
		ta->touch = malloc(tiles * sizeof(*ta->touch));
		ta->tiles_room = ta->tile && ta->touch ? tiles : 0;
	}
	if (spares > ta->spare_room) {
		free(ta->spares);
		ta->spares = malloc(PM_MACRO_TILES * spares * sizeof(*ta->spares));
		ta->spare_room = ta->spares ? spares : 0;
	}
	return tiles <= ta->tiles_room && spares <= ta->spare_room;
}

bool ta_is_large(const struct ta *ta)
{
	return ta->tiles_room > TA_KEEP / (sizeof(*ta->tile) + sizeof(*ta->touch));
}

void ta_trim(struct ta *ta)
{
	if (!ta_is_large(ta))
		return;
	free(ta->tile);
	free(ta->touch);
	ta->tile = NULL;
	ta->touch = NULL;
	ta->tiles_room = 0;
}

/* Clear tile lists of the scene; false when the budget ends before the last one. */
static bool clear_tiles(struct ta *ta)
{
	const u32 tiles = ta->scene.tiles_x * ta->scene.tiles_y;
	const u32 count = min_u32(tiles - ta->cleared, TA_PIECE * TA_UNIT_CLEAR);

	memset(ta->tile + ta->cleared, 0, count * sizeof(*ta->tile));
	ta->cleared += count;
	ta->budget -= (s32)(count / TA_UNIT_CLEAR);
	return ta->cleared == tiles;
}

bool ta_begin(struct ta *ta, const struct pm_scene *scene)
{
	u32 i;

	if (!make_room(ta, scene))
		return false;
	ta->scene = *scene;
	ta->cleared = ta->headers = 0;
	ta->open = ta->have_header = false;
	ta->step = TA_STEP_BEGIN;
	for (i = 0; i < scene->tiles_x; i++)
		ta->macro_x[i] = (u8)(i / scene->macro_w);
	for (i = 0; i < scene->tiles_y; i++)
		ta->macro_y[i] = (u8)(i / scene->macro_h);
	for (i = 0; i < PM_MACRO_TILES; i++) {
		memset(&ta->macro[i], 0, sizeof(ta->macro[i]));
		ta->macro[i].spare = ta->spares + i * ta->spare_room;
	}
	for (i = 0; i < scene->samples; i++) {
		u32 x, y;

		usc_gfx_sample_position(scene->samples, i, &x, &y);
		ta->sample_x[i] = (s32)x * 16;
		ta->sample_y[i] = (s32)y * 16;
	}
	ta->any = false;
	return true;
}

/* Continue open blocks if the draw's common state is unchanged. */
static void set_header(struct ta *ta, const struct ta_draw *draw)
{
	const struct pumice_prim_block header = {
		.varyings = draw->state.varyings, .kind = draw->kind, .sequence = draw->sequence,
		.isp_state = draw->state.isp_state, .tsp_state = draw->state.tsp_state,
		.vertex_state = draw->state.deferred ? draw->vertex_state : 0,
	};
	const struct pumice_prim_block *old = &ta->header;

	if (ta->have_header && old->varyings == header.varyings && old->kind == header.kind &&
	    old->sequence == header.sequence && old->isp_state == header.isp_state &&
	    old->tsp_state == header.tsp_state && old->vertex_state == header.vertex_state)
		return;
	ta->header = header;
	ta->draw = draw->draw;
	ta->have_header = true;
	ta->serial++;
}

/* Make room for the vertices of a call. Returns false when out of memory. */
static bool open_vertices(struct ta *ta, const struct ta_vertices *vertices)
{
	if (vertices->count > ta->vertex_room) {
		free(ta->vertex);
		ta->vertex = malloc(vertices->count * sizeof(*ta->vertex));
		ta->vertex_room = ta->vertex ? vertices->count : 0;
		if (!ta->vertex)
			return false;
	}
	ta->batch++;
	ta->transformed = 0;
	return true;
}

/* Transform the vertices that have become ready since the last time. */
static void transform_ready(struct ta *ta, const struct ta_vertices *vertices)
{
	ta->in = vertices;
	mte_transform(&ta->view, vertices, ta->transformed, ta->vertex);
	ta->transformed = vertices->ready;
}

static bool is_known_kind(u8 kind)
{
	return pumice_prim_kind_valid(kind);
}

/* Begin to cull a list of primitives. Returns false if nothing can be culled. */
static bool open_culling(struct ta *ta, const struct ta_draw *draw,
			 const struct ta_vertices *vertices)
{
	struct ta *culling = ta->culling;

	mte_view(&culling->view, draw);
	/* There are only positions. A point may have any size. */
	culling->view.varyings = 0;
	if (culling->view.point_size)
		culling->view.point_width = SHAPE_POINT_MAX;
	culling->view.point_size = false;
	culling->scene = ta->scene;
	memcpy(culling->sample_x, ta->sample_x, sizeof(ta->sample_x));
	memcpy(culling->sample_y, ta->sample_y, sizeof(ta->sample_y));
	culling->budget = (s32)TA_PIECE;
	culling->open = is_known_kind(draw->kind) && vertices->vo_words >= 4 &&
			open_vertices(culling, vertices);
	return culling->open;
}

void ta_cull(struct ta *ta, const struct ta_draw *draw, const struct ta_vertices *vertices,
	     const struct ta_prim *prims, u32 first, u32 end, bool *keep)
{
	struct ta *culling = ta->culling;
	struct gpu_fault fault = { 0 };
	u32 i;

	if (first ? !culling->open : !open_culling(ta, draw, vertices))
		return;
	transform_ready(culling, vertices);
	for (i = first; i < end; i++) {
		bool kept = false;

		if (!draw->state.discard)
			mte_primitive(culling, &prims[i], &kept, &fault);
		count_add(&ta->counters.culled, keep[i] && !kept);
		keep[i] = keep[i] && kept;
	}
}

/* Suspend the primitive and store its next step. */
static enum ta_result suspend(struct ta *ta, enum ta_step step, enum ta_result result)
{
	ta->step = step;
	return result;
}

/* Complete the primitive: it is in all of its tiles, or in none. */
static enum ta_result complete(struct ta *ta, bool culled)
{
	count_add(&ta->counters.culled, culled);
	ta->step = TA_STEP_BEGIN;
	return TA_OK;
}

/*
 * Process one primitive from its current step. It is added to tiles only in the last step,
 * which cannot run out of memory.
 */
static inline enum ta_result process_primitive(struct ta *ta, const struct ta_prim *prim,
					       struct gpu_fault *fault)
{
	enum ta_result result;
	bool kept;

	switch (ta->step) {
	case TA_STEP_BEGIN:
		result = mte_primitive(ta, prim, &kept, fault);
		if (result != TA_OK)
			return result;
		ta->budget -= TA_COST_PRIMITIVE;
		if (!kept)
			return complete(ta, true);
		te_begin(ta);
		/* fall through */
	case TA_STEP_TILES:
		if (!te_tiles(ta))
			return suspend(ta, TA_STEP_TILES, TA_MORE);
		if (!ta->touches)
			return complete(ta, true);
		block_begin(ta);
		/* fall through */
	case TA_STEP_RESERVE:
		result = block_reserve(ta, fault);
		if (result != TA_OK)
			return suspend(ta, TA_STEP_RESERVE, result);
		count_add(&ta->counters.clipped, ta->poly.clipped);
		if (!block_put(ta, fault))
			return TA_FAULT;
		/* fall through */
	case TA_STEP_PUT:
		result = stream_put(ta, fault);
		if (result != TA_OK)
			return suspend(ta, TA_STEP_PUT, result);
	}
	return complete(ta, false);
}

static enum ta_result bad_draw(struct gpu_fault *fault)
{
	*fault = (struct gpu_fault){ .fault = PUMICE_FAULT_VDM_STATE, .unit = PUMICE_UNIT_MTE };
	return TA_FAULT;
}

/* Do the first piece of a call. Returns false when out of memory, or if the draw is invalid. */
static bool open_call(struct ta *ta, const struct ta_draw *draw, const struct ta_vertices *vertices)
{
	mte_view(&ta->view, draw);
	if (draw->state.deferred) {
		ta->view.deferred = true;
		ta->view.varyings = 0;
	}
	if (!is_known_kind(draw->kind) || ta->view.varyings > PUMICE_MAX_VARYINGS ||
	    vertices->vo_words < ta->view.first + ta->view.varyings ||
	    (ta->view.deferred && (!vertices->number || !draw->vertex_state)) ||
	    !open_vertices(ta, vertices))
		return false;
	set_header(ta, draw);
	ta->step = TA_STEP_BEGIN;
	return true;
}

/* Return whether a primitive has a vertex that is not shaded yet. */
static inline bool lacks_vertices(const struct ta_vertices *in, const struct ta_prim *prim)
{
	u32 i;

	for (i = 0; i < 3; i++)
		if (prim->v[i] >= in->ready && prim->v[i] < in->count)
			return true;
	return false;
}

/* Process primitives within the budget. */
static enum ta_result process_primitives(struct ta *ta, const struct ta_prim *prims, u32 count,
					 u32 *done, struct gpu_fault *fault)
{
	const bool partial = ta->in->ready < ta->in->count;
	enum ta_result result = TA_OK;
	u32 n;

	for (n = *done; n < count; n++) {
		if (ta->budget <= 0)
			result = TA_MORE;
		else if (partial && lacks_vertices(ta->in, &prims[n]))
			result = TA_VERTICES;
		else
			result = process_primitive(ta, &prims[n], fault);
		if (result != TA_OK)
			break;
	}
	*done = n;
	return result == TA_OK && ta->in->more ? TA_VERTICES : result;
}

enum ta_result ta_primitives(struct ta *ta, const struct ta_draw *draw,
			     const struct ta_vertices *vertices, const struct ta_prim *prims,
			     u32 count, u32 *done, struct gpu_fault *fault)
{
	enum ta_result result;

	if (draw->state.discard) {
		count_add(&ta->counters.culled, count - *done);
		*done = count;
		return TA_OK;
	}
	ta->budget = (s32)TA_PIECE;
	if (!clear_tiles(ta))
		return TA_MORE;
	if (!ta->open && !open_call(ta, draw, vertices))
		return bad_draw(fault);
	transform_ready(ta, vertices);
	result = process_primitives(ta, prims, count, done, fault);
	ta->open = result != TA_OK && result != TA_FAULT;
	return result;
}

/* Return the DPM's pages to the master DPM, which frees them by macro tile. */
static enum ta_result return_pages(struct ta *ta, struct gpu_fault *fault)
{
	switch (pm_return_piece(ta->config.pm, ta->config.core, fault)) {
	case PM_MORE:
		return TA_MORE;
	case PM_FAULT:
		return TA_FAULT;
	default:
		return TA_OK;
	}
}

enum ta_result ta_finish(struct ta *ta, bool *any, struct gpu_fault *fault)
{
	enum ta_result result = TA_OK;

	*any = ta->any;
	if (ta->any && ta->config.core >= ta->scene.cores) {
		*fault = (struct gpu_fault){
			.fault = PUMICE_FAULT_PM_SCENE, .unit = PUMICE_UNIT_TE,
			.addr = ta->scene.addr,
		};
		return TA_FAULT;
	}
	if (ta->any)
		result = stream_finish(ta, fault);
	if (result == TA_OK)
		result = return_pages(ta, fault);
	if (result == TA_OK)
		ta_trim(ta);
	return result;
}

const struct ta_counters *ta_counters(const struct ta *ta)
{
	return &ta->counters;
}

void ta_reset_counters(struct ta *ta)
{
	atomic_store(&ta->counters.culled, 0);
	atomic_store(&ta->counters.clipped, 0);
	atomic_store(&ta->counters.blocks, 0);
	atomic_store(&ta->counters.tile_entries, 0);
}
