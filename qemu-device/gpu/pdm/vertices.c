// SPDX-License-Identifier: MIT
/*
 * PDM: deferred vertex shading.
 *
 * Source: document 001, "Rendering Pass": the complete vertex program runs for the vertices of a
 * tile when the tile is rendered; hw/formats.xml, vdm_state.deferred and prim_block. Blocks of such
 * draws have positions and numbers of vertices. Before a task of fragments is filled, the vertices
 * of its primitives are shaded in vertex tasks on the core's USCs: so only those of visible
 * primitives, and only if the fragment program reads varyings. A task's outputs are in the pool of
 * the core's VPM until it has ended; a tile keeps shaded vertices for further tasks.
 *
 * The varyings of a primitive that binning clipped are those of the same clipping, with the
 * positions that the vertex program computes.
 *
 * Limits: a tile has one vertex task at a time, of vertices of one draw.
 */
#include <string.h>

#include "../number.h"
#include "../record.h"
#include "../ta/ta.h"
#include "state.h"

/* Of a primitive, in units of about 50 ns. */
#define COST_GATHER	64u	/* read its vertices, find them in vertex[] */
#define COST_CLIP	200u	/* clip it again, perhaps read the record of its draw */

/* ------------------------------------------------------------ vertices of a task */

static bool is_same_draw(const struct pdm_vertex *a, const struct pdm_vertex *b)
{
	return a->state == b->state && a->draw.instance == b->draw.instance &&
	       a->draw.base_instance == b->draw.base_instance;
}

/* Return the link to the first vertex of the numbers that share a bucket with this one. */
static u16 *bucket(struct pdm_vertices *v, u32 number)
{
	return &v->bucket[number % PDM_BUCKETS];
}

/* Return the index of a vertex that is kept, or PDM_VERTICES. */
static u32 find(struct pdm_vertices *v, const struct pdm_vertex *key)
{
	u32 i;

	for (i = *bucket(v, key->number); i; i = v->vertex[i - 1].link) {
		const struct pdm_vertex *vertex = &v->vertex[i - 1];

		if (vertex->number == key->number && vertex->kept == v->kept &&
		    is_same_draw(vertex, key))
			return i - 1;
	}
	return PDM_VERTICES;
}

/* Remove a vertex from its bucket, if it has one. */
static void unlink_vertex(struct pdm_vertices *v, u32 i)
{
	u16 *link = bucket(v, v->vertex[i].number);

	while (*link && *link != i + 1)
		link = &v->vertex[*link - 1].link;
	if (*link)
		*link = v->vertex[i].link;
}

/* Replace the oldest vertex that no primitive of the task has. */
static u32 replace(struct pdm_vertices *v, const struct pdm_vertex *key)
{
	u16 *first = bucket(v, key->number);
	u32 i;

	do {
		i = v->next++ % PDM_VERTICES;
	} while (v->vertex[i].needed == v->gather);
	unlink_vertex(v, i);
	v->vertex[i] = *key;
	v->vertex[i].kept = v->kept;
	v->vertex[i].link = *first;
	*first = (u16)(i + 1);
	return i;
}

/* Add a vertex to those of the task; returns its index. */
static u16 need(struct pdm_vertices *v, const struct pdm_vertex *key)
{
	u32 i = find(v, key);

	if (i == PDM_VERTICES)
		i = replace(v, key);
	if (!v->vertex[i].shaded && v->vertex[i].needed != v->gather)
		v->missing[v->missing_count++] = (u16)i;
	v->vertex[i].needed = v->gather;
	return (u16)i;
}

/*
 * Return whether the planes of a primitive will be kept until the task is filled: planes_of() of
 * task.c, after planes of all other primitives of the task.
 */
static bool keeps_planes(const struct pdm_tile *tile, const struct pdm_task *task,
			 const struct pdm_prim *r)
{
	return r->planes &&
	       tile->planes + task->prims - r->planes < PDM_PLANES - PDM_TASK_SPANS;
}

/* Find the vertices of primitive i of the task, and those that are missing. */
static bool gather_prim(struct pdm_tile *tile, const struct pdm_prim *r, u32 i,
			struct gpu_fault *fault)
{
	struct pdm_vertices *v = &tile->vertices;
	struct pdm_vertex key = { .state = r->header.vertex_state };
	struct ipf_deferred from = { .vertices = 0 };
	struct pdm *pdm = tile->pdm;
	u32 n;

	if (!ipf_fetch_deferred(&pdm->scene, pdm->config.mmu, &tile->core->tlb, r->block,
				&r->header, &r->prim.index, &from, fault))
		return false;
	v->cost += COST_GATHER;
	key.draw = from.draw;
	for (n = 0; n < from.vertices; n++) {
		key.number = from.number[n];
		v->of[i][n] = need(v, &key);
	}
	return true;
}

/* Find the vertices of all primitives of the task, and those that are missing. */
static bool gather(struct pdm_tile *tile, const struct pdm_task *task, struct gpu_fault *fault)
{
	struct pdm_vertices *v = &tile->vertices;
	u32 i;

	v->gather++;
	v->missing_count = 0;
	for (i = 0; i < task->prims; i++) {
		const struct pdm_prim *r = &tile->record[task->prim[i]];

		if (pdm_is_deferred(&r->header) && !keeps_planes(tile, task, r) &&
		    !gather_prim(tile, r, i, fault))
			return false;
	}
	return true;
}

/* Select missing vertices of one draw for a vertex task. */
static void select_vertices(struct pdm_vertices *v, u32 batch)
{
	const struct pdm_vertex *first = &v->vertex[v->missing[0]];
	u32 i;

	v->count = 0;
	for (i = 0; i < v->missing_count && v->count < batch; i++) {
		const struct pdm_vertex *vertex = &v->vertex[v->missing[i]];

		if (!is_same_draw(vertex, first))
			continue;
		v->shading[v->count] = v->missing[i];
		v->number[v->count++] = vertex->number;
	}
}

/* ------------------------------------------------------------ the vertex task */

/* Read the record of a draw, which may have changed since the draw was binned. */
static bool read_record(struct pdm_tile *tile, u64 addr, struct vdm_record *record,
			struct gpu_fault *fault)
{
	const struct pdm *pdm = tile->pdm;
	const struct gpu_record from = {
		pdm->config.mmu, &tile->core->tlb, pdm->job.ctx, addr, PUMICE_UNIT_TSP,
	};

	if (!vdm_record_fetch(&from, record, fault))
		return false;
	return record->state.deferred || gpu_record_refuse(&from, PUMICE_FAULT_TSP_STATE, fault);
}

/* Do a piece of loading the program of the selected vertices. DONE: it is loaded. */
static enum pdm_step load(struct pdm_tile *tile, u32 *cost)
{
	struct pdm_vertices *v = &tile->vertices;
	struct pdm *pdm = tile->pdm;
	const u64 state = v->vertex[v->shading[0]].state;
	struct pds_stage_limits limits = { .stage = USC_STAGE_VERTEX, .deferred = true,
					   .tile_words = pdm_output_words(pdm) };
	struct gpu_fault fault = { 0 };

	if (v->loaded && v->state == state)
		return PDM_STEP_DONE;
	if (v->state != state) {
		pdm_vertices_release(tile);
		v->state = state;
		if (!read_record(tile, state, &v->record, &fault)) {
			pdm_fault(pdm, &fault);
			return PDM_STEP_ON;
		}
	}
	limits.vo = vdm_record_vo(&v->record);
	limits.attribute = v->record.attribute;
	limits.attributes = v->record.state.attribute_count;
	switch (pdm_load_stage(tile, &v->record.vertex, &limits, &v->stage, cost, &fault)) {
	case PDS_LOADED:
		v->loaded = true;
		return PDM_STEP_DONE;
	case PDS_LOAD_MORE:
		return PDM_STEP_ON;
	case PDS_LOAD_WAIT:
		return PDM_STEP_WAIT;
	default:
		pdm_fault(pdm, &fault);
		return PDM_STEP_ON;
	}
}

/* Start the filled task. Outputs that the program does not write are 0. */
static void run(struct pdm_tile *tile)
{
	struct pdm_vertices *v = &tile->vertices;
	struct pds *pds = tile->pdm->config.pds;

	v->room = tile->place;
	v->gfx = (struct usc_gfx){
		.stage = USC_STAGE_VERTEX, .deferred = true, .sample = USC_PIXEL_RATE,
		.vo = pds_pool_row(pds, &v->room), .vo_words = v->stage.vo_words,
		.uniforms = v->record.state.uniforms,
		.uniform_words = v->record.state.uniform_words, .opaque = tile,
	};
	memset(v->gfx.vo, 0, v->room.vpm_rows * PUMICE_LANES * sizeof(*v->gfx.vo));
	v->phase = PDM_VERTEX_RUN;
	v->total += v->count;
	atomic_store(&v->ended, false);
	atomic_fetch_add(&tile->running, 1);
	pds_task_start(pds, PDS_DM_PDM, &tile->place, &v->gfx);
}

/* Claim room for the task, fill and start it. */
static enum pdm_step start(struct pdm_tile *tile, u32 *cost)
{
	struct pdm_vertices *v = &tile->vertices;
	struct pds *pds = tile->pdm->config.pds;
	const struct pdm_vertex *first = &v->vertex[v->shading[0]];
	const struct pds_vertices in = {
		.vertex = v->number, .instance = first->draw.instance,
		.base_instance = first->draw.base_instance,
		.count = min_u32(v->count, pds_pool_instances(pds, v->stage.vo_words)),
	};
	struct gpu_fault fault = { 0 };
	enum pdm_step step;

	/* The others are selected again for the next task. */
	v->count = in.count;
	step = pdm_claim(tile, &v->stage, v->count, 1);
	if (step != PDM_STEP_DONE)
		return step;
	*cost = PDM_COST_PIECE;
	if (!pds_fill_vertices(pds, &tile->place, &v->stage, &in, &tile->core->tlb,
			       &tile->fill_pc, &fault)) {
		tile->filling = false;
		pds_task_drop(pds, &tile->place);
		pdm_fault(tile->pdm, &fault);
		return PDM_STEP_ON;
	}
	if (tile->fill_pc == v->stage.program.insns) {
		tile->filling = false;
		run(tile);
	}
	return PDM_STEP_ON;
}

/* Keep the outputs of the ended task, whose rows of the VPM are free then. */
static void collect(struct pdm_tile *tile)
{
	struct pdm_vertices *v = &tile->vertices;
	const u32 words = v->gfx.vo_words, first = 4u + v->record.state.point_size;
	u32 i, n;

	for (i = 0; i < v->count; i++) {
		struct pdm_vertex *to = &v->vertex[v->shading[i]];
		const u32 *from = v->gfx.vo + i / PUMICE_LANES * words * PUMICE_LANES +
				  i % PUMICE_LANES;

		for (n = 0; n < 4; n++)
			to->position[n] = from[n * PUMICE_LANES];
		for (n = 0; n < v->record.state.varyings; n++)
			to->varying[n] = from[(first + n) * PUMICE_LANES];
		to->shaded = true;
	}
	pds_pool_free(tile->pdm->config.pds, PDS_DM_PDM, &v->room);
}

/* Select the vertices of the next task. DONE: none are missing. */
static enum pdm_step next(struct pdm_tile *tile, const struct pdm_task *task)
{
	struct pdm_vertices *v = &tile->vertices;
	struct gpu_fault fault = { 0 };

	if (!gather(tile, task, &fault)) {
		pdm_fault(tile->pdm, &fault);
		return PDM_STEP_ON;
	}
	if (!v->missing_count)
		return PDM_STEP_DONE;
	select_vertices(v, min_u32(tile->pdm->config.batch, PDM_NEEDED));
	v->phase = PDM_VERTEX_LOAD;
	return PDM_STEP_ON;
}

enum pdm_step pdm_vertices_shade(struct pdm_tile *tile, const struct pdm_task *task, u32 *cost)
{
	struct pdm_vertices *v = &tile->vertices;
	enum pdm_step step;

	switch (v->phase) {
	case PDM_VERTEX_IDLE:
		break;
	case PDM_VERTEX_LOAD:
		step = load(tile, cost);
		if (step == PDM_STEP_DONE)
			v->phase = PDM_VERTEX_START;
		return step == PDM_STEP_DONE ? PDM_STEP_ON : step;
	case PDM_VERTEX_START:
		return start(tile, cost);
	case PDM_VERTEX_RUN:
		if (!atomic_load(&v->ended))
			return PDM_STEP_WAIT;
		collect(tile);
		v->phase = PDM_VERTEX_IDLE;
		break;
	}
	return next(tile, task);
}

/* ------------------------------------------------------------ varyings */

/* The varyings of a corner are not its vertex's: clip the primitive as binning did. */
static bool clip_again(struct pdm_tile *tile, const struct pdm_prim *r,
		       const struct ipf_deferred *from, const struct ta_source *source,
		       float *value, struct gpu_fault *fault)
{
	const struct pdm_vertices *v = &tile->vertices;
	const struct pdm_object *o = tile->objects[r->object];
	const struct vdm_record *record = &v->record;
	struct vdm_record other;

	if (v->state != r->header.vertex_state) {
		if (!read_record(tile, r->header.vertex_state, &other, fault))
			return false;
		record = &other;
	}
	if (record->state.varyings != o->tsp.varyings) {
		*fault = (struct gpu_fault){
			.fault = PUMICE_FAULT_TSP_STATE, .unit = PUMICE_UNIT_TSP,
			.ctx = (u8)tile->pdm->job.ctx, .addr = r->header.vertex_state,
		};
		return false;
	}
	ta_clip_again(&record->state, r->header.kind, o->tsp.flat, source, from->vertices,
		      from->corner, value);
	return true;
}

bool pdm_vertices_varyings(struct pdm_tile *tile, u32 in_task, const struct pdm_prim *r,
			   float *value, struct gpu_fault *fault)
{
	const u32 varyings = tile->objects[r->object]->tsp.varyings;
	struct pdm_vertices *v = &tile->vertices;
	struct pdm *pdm = tile->pdm;
	struct ta_source source[3];
	struct ipf_deferred from;
	u32 i;

	if (!ipf_fetch_deferred(&pdm->scene, pdm->config.mmu, &tile->core->tlb, r->block,
				&r->header, &r->prim.index, &from, fault))
		return false;
	for (i = 0; i < from.vertices; i++) {
		const struct pdm_vertex *vertex = &v->vertex[v->of[in_task][i]];

		source[i] = (struct ta_source){ vertex->position, vertex->varying };
		memcpy(value + i * varyings, vertex->varying, varyings * sizeof(*value));
	}
	if (r->header.vertex_data != PUMICE_VERTEX_DATA_CLIPPED)
		return true;
	v->cost += COST_CLIP;
	return clip_again(tile, r, &from, source, value, fault);
}

u32 pdm_vertices_cost(struct pdm_tile *tile)
{
	const u32 cost = tile->vertices.cost;

	tile->vertices.cost = 0;
	return cost;
}

void pdm_vertices_release(struct pdm_tile *tile)
{
	struct pdm_vertices *v = &tile->vertices;

	if (!v->state)
		return;
	pds_stage_drop(tile->pdm->config.pds, &v->stage);
	memset(&v->stage, 0, sizeof(v->stage));
	v->loaded = false;
	v->state = 0;
}

void pdm_vertices_cancel(struct pdm_tile *tile)
{
	pds_pool_free(tile->pdm->config.pds, PDS_DM_PDM, &tile->vertices.room);
	tile->vertices.phase = PDM_VERTEX_IDLE;
}

void pdm_vertices_drop(struct pdm_tile *tile)
{
	struct pdm_vertices *v = &tile->vertices;

	pdm_vertices_release(tile);
	v->kept++;
	v->phase = PDM_VERTEX_IDLE;
}
