// SPDX-License-Identifier: MIT
/*
 * PDM: tasks of spans.
 *
 * Source: document 004, "PDS", "TSP". A task holds up to 32 spans of one object, of at most
 * the primitives for which it has coefficient registers; at sample rate, of one sample.
 * Background and end-of-tile programs are tasks of a fixed stage with a primitive that has no
 * varyings.
 *
 * A task belongs to the core's thread while it is built and when it is done; to its USC's
 * thread while it runs. Tasks of several passes run at the same time; each holds locks of its
 * samples (scoreboard.h). Discards are applied when the task is reaped, before any other primitive
 * is drawn over its pixels.
 */
#include <string.h>

#include "../pbe/pbe.h"
#include "state.h"

/* In units of about 50 ns. */
#define COST_TASK	64u
#define COST_TEXTURE	128u	/* of an instruction that reads one or two levels */
#define COST_READ	8u	/* of a burst */
#define WORDS_OF_UNIT	16u	/* words that instructions write to registers in a unit */
#define MAX_ATTEMPTS	1u

/* ------------------------------------------------------------ running tasks */

static struct pdm_task *task_of(const struct usc_gfx *gfx)
{
	return gfx->opaque;
}

static void op_depth(const struct usc_gfx *gfx, struct usc_span *span, const u32 *depth)
{
	struct pdm_task *task = task_of(gfx);
	struct pdm_tile *tile = task->tile;
	const struct isp_state *isp = &tile->objects[task->object]->isp;
	u32 i;

	for (i = 0; i < USC_WAVE_SPANS && span < task->span + task->spans; i++, span++) {
		const struct pdm_prim *r = &tile->record[task->prim[span->prim]];
		float z[USC_SPAN_LANES];

		memcpy(z, depth + i * USC_SPAN_LANES, sizeof(z));
		task->visible += isp_late_depth(&tile->isp, isp, r->back, span, z);
	}
}

static bool op_pbe(const struct usc_gfx *gfx, const u32 state[8], struct gpu_fault *fault)
{
	struct pdm_tile *tile = task_of(gfx)->tile;
	trace_span span = pdm_trace_start(tile, PUMICE_TRACE_KIND_PBE);
	bool ok;

	ok = pbe_store(tile->pdm->config.mmu, &tile->pbe_tlb, tile->pdm->job.ctx, &tile->usc,
		       state, fault);
	pdm_trace_end(tile, &span, PUMICE_TRACE_KIND_PBE,
		      ok ? PUMICE_TRACE_PHASE_END : PUMICE_TRACE_PHASE_CANCEL, !ok);
	return ok;
}

static const struct usc_gfx_ops gfx_ops = { .depth = op_depth, .pbe = op_pbe };

static void wake(struct pdm_tile *tile)
{
	tile->pdm->config.ops->wake(tile->pdm->config.opaque, tile->core->number);
}

/* A vertex task has ended: the tile waits for it. */
static void vertices_done(struct pdm_tile *tile)
{
	atomic_store(&tile->vertices.ended, true);
	atomic_fetch_sub(&tile->running, 1);
	wake(tile);
}

static void task_done(void *opaque, unsigned int core, const struct usc_gfx *gfx)
{
	struct pdm_task *task;
	struct pdm_tile *tile;
	bool starved;

	(void)opaque;

	(void)core;
	if (gfx->deferred) {
		vertices_done(gfx->opaque);
		return;
	}
	task = task_of(gfx);
	tile = task->tile;
	atomic_store(&task->state, PDM_TASK_DONE);
	starved = atomic_exchange(&tile->starved, false);
	if (atomic_fetch_sub(&tile->running, 1) == 1 || starved)
		wake(tile);
}

static void task_fault(void *opaque, unsigned int core, const struct usc_gfx *gfx,
		       const struct gpu_fault *fault)
{
	(void)core;
	(void)gfx;
	pdm_fault(opaque, fault);
}

static void room(void *opaque, unsigned int core)
{
	struct pdm *pdm = opaque;

	pdm->config.ops->wake(pdm->config.opaque, core);
}

const struct pds_task_ops pdm_task_ops = {
	.task_done = task_done,
	.task_fault = task_fault,
	.room = room,
};

/* ------------------------------------------------------------ finished tasks */

/* Get the triangle of a record. */
static bool triangle_of(const struct pdm_prim *r, struct isp_triangle *out)
{
	struct isp_triangle both[2];
	u32 count;

	if (!isp_expand(r->header.kind, &r->prim, both, &count) || r->half >= count)
		return false;
	*out = both[r->half];
	return true;
}

/* Set up the triangle of a record again. */
static bool set_up_again(const struct pdm_tile *tile, const struct pdm_prim *r,
			 struct isp_setup *setup)
{
	struct isp_triangle triangle;

	return triangle_of(r, &triangle) &&
	       isp_set_up(&triangle, &tile->objects[r->object]->isp, setup);
}

/* Write depth and stencil of the samples that a punch-through program kept. */
static void write_late(struct pdm_tile *tile, struct pdm_task *task)
{
	struct pdm_object *o = tile->objects[task->object];
	struct isp_setup setup;
	u32 i, last = PDM_MAX_PRIMS;

	for (i = 0; i < task->spans; i++) {
		const struct usc_span *span = &task->span[i];
		const u32 n = task->prim[span->prim];

		if (n != last && !set_up_again(tile, &tile->record[n], &setup))
			continue;
		last = n;
		task->visible += isp_late_write(&tile->isp, &setup, &o->isp, tile->record[n].back,
						span);
	}
}

void pdm_tasks_reap(struct pdm_tile *tile)
{
	u64 left;

	for (left = tile->issued; left; left &= left - 1) {
		struct pdm_task *task = &tile->task[__builtin_ctzll(left)];
		struct pdm_object *o;

		if (atomic_load(&task->state) != PDM_TASK_DONE)
			continue;
		if (task->late && !atomic_load(&tile->pdm->stopping)) {
			o = tile->objects[task->object];
			if (o->isp.pass_type == PUMICE_PASS_TYPE_PUNCH_THROUGH)
				write_late(tile, task);
			if (o->isp.visibility)
				o->visible += task->visible;
		}
		pdm_scoreboard_unlock(&tile->scoreboard, task->span, task->spans, task->late);
		tile->issued &= ~(left & -left);
		atomic_store(&task->state, PDM_TASK_FREE);
	}
}

bool pdm_tasks_await(struct pdm_tile *tile, bool (*waits)(const struct pdm_tile *tile))
{
	u32 attempt;

	for (attempt = 0; attempt <= MAX_ATTEMPTS; attempt++) {
		pdm_tasks_reap(tile);
		if (!waits(tile))
			return false;
		/* A task may have ended before it read the flag: search again. */
		atomic_store(&tile->starved, true);
	}
	return true;
}

/* ------------------------------------------------------------ building tasks */

static bool none_free(const struct pdm_tile *tile)
{
	return tile->issued == UINT64_MAX;
}

/* Find a free task; if there is none the core is woken when a task ends. No task is built. */
static struct pdm_task *find_free(struct pdm_tile *tile)
{
	if (pdm_tasks_await(tile, none_free))
		return NULL;
	return &tile->task[__builtin_ctzll(~tile->issued)];
}

/* Samples of a span that the task's program is run for, by rate. */
static u32 samples_at(const struct pdm_span *span, u32 sample)
{
	return sample == USC_PIXEL_RATE ? span->samples : span->samples & 0x1111u << sample;
}

/* Count the pixels in a set of samples. */
static u32 pixels_of(u32 samples)
{
	samples |= samples >> 1;
	samples |= samples >> 2;
	/* The sum of the four nibbles is in the highest nibble. */
	return (samples & 0x1111) * 0x1111 >> 12 & 0xf;
}

/*
 * Number of a primitive in the task; PDM_TASK_SPANS when the task has no room. The place that is
 * recorded for it is valid if the task has the primitive there.
 */
static u32 prim_in_task(struct pdm_shade *shade, struct pdm_task *task, u16 prim, u32 max)
{
	const u32 place = shade->place[prim];

	if (place < task->prims && task->prim[place] == prim)
		return place;
	if (task->prims == max)
		return PDM_TASK_SPANS;
	shade->place[prim] = (u8)task->prims;
	task->prim[task->prims] = prim;
	return task->prims++;
}

/* Return the samples that failed their tests, for an object whose program also runs for those. */
static u16 failing(const struct pdm_tile *tile, const struct pdm_span *span, u32 samples)
{
	const struct pdm_prim *r = &tile->record[span->prim];
	const struct isp_state *state;
	struct isp_setup setup;

	if (tile->shade.fixed)
		return 0;
	state = &tile->objects[r->object]->isp;
	if (!isp_tests_late(state) || !set_up_again(tile, r, &setup))
		return 0;
	return isp_late_failing(&tile->isp, &setup, state, r->back, span->quad, samples);
}

static u16 coverage(const struct pdm_tile *tile, const struct pdm_span *span)
{
	const u32 all = 0x1111u * ((1u << tile->isp.samples) - 1);
	const struct pdm_prim *r = &tile->record[span->prim];
	struct isp_setup setup;

	/* One sample is its own centroid. */
	if (tile->shade.fixed || tile->isp.samples == 1 || span->samples == all ||
	    !set_up_again(tile, r, &setup))
		return span->samples;
	return isp_coverage(&tile->isp, &setup, &tile->objects[r->object]->isp, span->quad);
}

/* Add spans from at_span to end while there is room. */
static void add_spans(struct pdm_tile *tile, struct pdm_task *task, u32 end, u32 max)
{
	const u32 spans = tile->pdm->config.batch / USC_SPAN_LANES;
	struct pdm_shade *shade = &tile->shade;

	for (; shade->at_span < end && task->spans < spans; shade->at_span++) {
		const struct pdm_span *from = &shade->sorted[shade->at_span];
		const u32 samples = samples_at(from, task->gfx.sample);
		u32 prim;

		if (!samples)
			continue;
		prim = prim_in_task(shade, task, from->prim, max);
		if (prim == PDM_TASK_SPANS)
			return;
		task->span[task->spans++] = (struct usc_span){
			.quad = from->quad, .prim = (u8)prim, .covered = coverage(tile, from),
			.samples = (u16)samples, .failed = failing(tile, from, samples),
		};
		task->fragments += pixels_of(samples);
	}
}

static void init_task(struct pdm_tile *tile, struct pdm_task *task, const struct pds_stage *stage,
		      u32 sample)
{
	task->tile = tile;
	task->stage = stage;
	task->late = false;
	task->spans = 0;
	task->prims = 0;
	task->fragments = 0;
	task->visible = 0;
	task->gfx = (struct usc_gfx){
		.stage = stage->stage, .sample = (u8)sample, .ops = &gfx_ops, .opaque = task,
		.tile = &tile->usc, .span = task->span, .coeffs = stage->state.coeffs,
		.coeffs_alt = stage->state.coeffs_alt,
	};
}

/* Build the next task of an object, which is loaded. Returns false when there is none. */
static bool build_object(struct pdm_tile *tile, struct pdm_task *task, u32 number)
{
	const struct pdm_object *o = tile->objects[number];
	const u32 samples = o->tsp.sample_rate ? tile->isp.samples : 1;
	struct pdm_shade *shade = &tile->shade;

	for (; shade->at_sample < samples; shade->at_sample++) {
		init_task(tile, task, &o->stage,
			  o->tsp.sample_rate ? shade->at_sample : USC_PIXEL_RATE);
		task->object = (u16)number;
		task->gfx.uniforms = o->tsp.uniforms;
		task->gfx.uniform_words = o->tsp.uniform_words;
		task->gfx.depth_writes = o->isp.pass_type == PUMICE_PASS_TYPE_DEPTH_WRITE;
		task->gfx.discards = task->gfx.depth_writes ||
				     o->isp.pass_type == PUMICE_PASS_TYPE_PUNCH_THROUGH;
		task->late = task->gfx.discards;
		if (shade->at_span < o->first)
			shade->at_span = o->first;
		add_spans(tile, task, o->first + o->spans, o->max_prims);
		if (task->spans)
			return true;
		shade->at_span = o->first;
	}
	shade->at_sample = 0;
	return false;
}

/*
 * Build the next task of the fixed stage, or of the objects that have spans; each object is loaded
 * before its first task. DONE: the task is built, or has no spans: there is none.
 */
static enum pdm_step build(struct pdm_tile *tile, struct pdm_task *task, u32 *cost)
{
	struct pdm_shade *shade = &tile->shade;
	enum pdm_step step;

	if (shade->fixed) {
		init_task(tile, task, shade->fixed, USC_PIXEL_RATE);
		add_spans(tile, task, shade->spans, 1);
		return PDM_STEP_DONE;
	}
	for (; shade->at_object < shade->objects; shade->at_object++) {
		const u32 number = shade->order[shade->at_object];

		step = pdm_object_load(tile, tile->objects[number], cost);
		if (step != PDM_STEP_DONE || build_object(tile, task, number))
			return step;
	}
	task->spans = 0;
	return PDM_STEP_DONE;
}

/* Varyings of a primitive's vertices: in the cache of the TSP, or in memory of its own. */
struct varyings {
	const float *of[3];
	float own[3 * PUMICE_MAX_VARYINGS];
};

/* Find the vertices of a primitive in the TSP's cache, and read the others from its block. */
static bool cached_varyings(struct pdm_tile *tile, const struct pdm_prim *r, struct varyings *v,
			    struct gpu_fault *fault)
{
	const u8 index[3] = { r->prim.index.v0, r->prim.index.v1, r->prim.index.v2 };
	struct tsp_cache *cache = &tile->core->vertices;
	const struct pdm *pdm = tile->pdm;
	struct ipf_varyings missing = { .header = &r->header, .block = r->block };
	u32 i;

	for (i = 0; i < ipf_vertices(r->header.kind); i++) {
		bool hit;
		float *value = tsp_cache_find(cache, r->block, index[i], r->header.varyings, &hit);

		v->of[i] = value;
		if (hit)
			continue;
		missing.vertex[missing.count] = index[i];
		missing.out[missing.count++] = value;
	}
	if (!missing.count || ipf_fetch_varyings(&pdm->scene, pdm->config.mmu, &tile->core->tlb,
						 &missing, fault))
		return true;
	/* The lines of the missing vertices were not written. */
	tsp_cache_empty(cache);
	return false;
}

/* Read the varyings of a primitive of the task, from the parameter buffer or just shaded. */
static bool varyings_of(struct pdm_tile *tile, const struct pdm_prim *r, u32 in_task,
			struct varyings *v, struct gpu_fault *fault)
{
	u32 i;

	if (!pdm_is_deferred(&r->header))
		return cached_varyings(tile, r, v, fault);
	for (i = 0; i < 3; i++)
		v->of[i] = v->own + i * r->header.varyings;
	return pdm_vertices_varyings(tile, in_task, r, v->own, fault);
}

/*
 * Return the planes of a primitive, computed here unless an earlier task of the pass needed
 * them.
 */
static const struct tsp_plane *planes_of(struct pdm_tile *tile, struct pdm_prim *r, u32 in_task,
					 struct gpu_fault *fault)
{
	const struct pdm_object *o = tile->objects[r->object];
	struct varyings v;
	struct isp_triangle triangle;
	struct isp_setup setup;
	struct tsp_input in = {
		.triangle = &triangle, .prim = &r->prim, .value = v.of,
		.needed = o->varyings, .point = r->header.kind == PUMICE_PRIM_KIND_POINT,
		.x0 = tile->isp.x0, .y0 = tile->isp.y0,
	};

	/*
	 * The planes of the last 32 primitives are kept while a task is filled with as many
	 * new ones.
	 */
	if (r->planes && tile->planes - r->planes < PDM_PLANES - PDM_TASK_SPANS)
		return tile->plane[r->planes % PDM_PLANES];
	if (r->header.varyings != o->tsp.varyings) {
		*fault = dm_fault(PUMICE_UNIT_TSP, PUMICE_FAULT_TSP_STATE, tile->pdm->job.ctx,
				  o->tsp_addr);
		return NULL;
	}
	v.of[0] = v.of[1] = v.of[2] = NULL;
	if (!triangle_of(r, &triangle) ||
	    (o->reads_depth && !isp_set_up(&triangle, &o->isp, &setup)) ||
	    (o->varyings && !varyings_of(tile, r, in_task, &v, fault)))
		return NULL;
	if (o->reads_depth)
		in.depth = &setup;
	r->planes = ++tile->planes;
	tile->varying_planes += o->varying_count;
	tsp_set_up(&o->tsp, &in, tile->plane[r->planes % PDM_PLANES]);
	return tile->plane[r->planes % PDM_PLANES];
}

static bool gather_prims(struct pdm_tile *tile, struct pdm_task *task, struct itr_prim *prim,
			 struct gpu_fault *fault)
{
	u32 i;

	for (i = 0; i < task->prims; i++) {
		struct pdm_prim *r = &tile->record[task->prim[i]];

		prim[i].front = !r->back;
		prim[i].plane = planes_of(tile, r, i, fault);
		if (!prim[i].plane)
			return false;
	}
	return true;
}

/* Return the cost of instructions of the PDS program, which have filled the task's registers. */
static u32 cost_of_fill(const struct pdm_task *task, u32 from, u32 to)
{
	const u32 instances = task->spans * USC_SPAN_LANES;
	u32 words = 0, cost = 0, i;

	for (i = from; i < to; i++) {
		const struct pumice_pds_insn *insn = &task->stage->program.insn[i];

		if (insn->opcode == PUMICE_PDS_OP_TEXTURE)
			cost += COST_TEXTURE;
		cost += pds_insn_reads(insn, instances) * COST_READ;
		words += pds_insn_words(insn, instances) *
			 (pds_bank_is_coeffs(insn->bank) ? task->prims : 1);
	}
	return cost + words / WORDS_OF_UNIT;
}

/* Fill a claimed task's registers, one piece. */
static bool fill(struct pdm_tile *tile, struct pdm_task *task, u32 *cost, struct gpu_fault *fault)
{
	const u32 from = tile->fill_pc;
	const struct tsp_plane flat[2] = {
		{ 0, 0, 1 }, { 0, 0, 0 },
	};
	struct itr_prim prim[PDM_TASK_SPANS];
	struct pds_fragments in = { .gfx = &task->gfx, .prim = prim, .prims = task->prims };
	bool ok;

	prim[0] = (struct itr_prim){ .plane = flat, .front = true };
	if (!tile->shade.fixed) {
		in.varyings = tile->objects[task->object]->tsp.varyings;
		if (!gather_prims(tile, task, prim, fault))
			return false;
	}
	ok = pds_fill_fragments(tile->pdm->config.pds, &tile->place, task->stage, &in,
				halves_of(tile->pdm->config.halves, tile->place.usc),
				&tile->core->tlb, &tile->fill_pc, fault);
	*cost += cost_of_fill(task, from, tile->fill_pc);
	return ok;
}

enum pdm_step pdm_claim(struct pdm_tile *tile, const struct pds_stage *stage, u32 instances,
			u32 prims)
{
	struct gpu_fault fault = { 0 };

	if (tile->filling)
		return PDM_STEP_DONE;
	switch (pds_tile_task_claim(tile->pdm->config.pds, &tile->outputs, stage, instances, prims,
				    &tile->place, &fault)) {
	case PDS_WAIT:
		return PDM_STEP_WAIT;
	case PDS_STARTED:
		tile->filling = true;
		tile->fill_pc = 0;
		return PDM_STEP_DONE;
	default:
		pdm_fault(tile->pdm, &fault);
		return PDM_STEP_ON;
	}
}

/* Shade the vertices of the built task, then claim room for it. DONE: claimed. */
static enum pdm_step prepare(struct pdm_tile *tile, struct pdm_task *task, u32 *cost)
{
	const u32 instances = task->gfx.stage == USC_STAGE_TILE ? 1 : task->spans * USC_SPAN_LANES;
	enum pdm_step step = PDM_STEP_DONE;

	if (!tile->ready && !tile->shade.fixed && tile->objects[task->object]->varyings)
		step = pdm_vertices_shade(tile, task, cost);
	if (step != PDM_STEP_DONE)
		return step;
	tile->ready = true;
	return pdm_claim(tile, task->stage, instances, task->prims);
}

/* Claim room for the built task, fill and start it. */
static enum pdm_step start(struct pdm_tile *tile, struct pdm_task *task, u32 *cost)
{
	struct pds *pds = tile->pdm->config.pds;
	struct gpu_fault fault = { 0 };
	enum pdm_step step = prepare(tile, task, cost);

	if (step != PDM_STEP_DONE)
		return step;
	if (!fill(tile, task, cost, &fault)) {
		tile->filling = false;
		pds_task_drop(pds, &tile->place);
		pdm_fault(tile->pdm, &fault);
		return PDM_STEP_ON;
	}
	if (tile->fill_pc < task->stage->program.insns) {
		/* It read PDS_PIECE_TEXTURES textures, perhaps with many samples each. */
		*cost += PDM_COST_PIECE;
		return PDM_STEP_ON;
	}
	tile->filling = false;
	tile->built = NULL;
	if (!tile->shade.fixed)
		tile->stats.shaded += task->fragments;
	tile->tasks++;
	tile->issued |= 1ull << (task - tile->task);
	pdm_scoreboard_lock(&tile->scoreboard, task->span, task->spans, task->late);
	atomic_store(&task->state, PDM_TASK_RUNS);
	atomic_fetch_add(&tile->running, 1);
	pds_task_start(pds, PDS_DM_PDM, &tile->place, &task->gfx);
	return PDM_STEP_ON;
}

static bool is_locked(const struct pdm_tile *tile)
{
	const struct pdm_task *task = tile->built;

	return pdm_scoreboard_holds(&tile->scoreboard, task->span, task->spans);
}

/*
 * Return whether the built task is held: a task of an earlier pass has a sample of it. It has no
 * room then, and has read nothing, so that it waits for running tasks alone, and reads what these
 * have written to memory.
 */
static bool is_held(struct pdm_tile *tile)
{
	if (!is_locked(tile) || !pdm_tasks_await(tile, is_locked)) {
		tile->held = false;
		return false;
	}
	tile->waits += !tile->held;
	tile->held = true;
	return true;
}

enum pdm_step pdm_task_next(struct pdm_tile *tile, u32 *cost)
{
	struct pdm_task *task = tile->built;
	enum pdm_step step;

	*cost = COST_TASK;
	if (!task) {
		task = find_free(tile);
		if (!task)
			return PDM_STEP_WAIT;
		step = build(tile, task, cost);
		if (step != PDM_STEP_DONE || !task->spans)
			return step;
		task->gfx.spans = task->spans;
		tile->ready = false;
		tile->held = false;
		atomic_store(&task->state, PDM_TASK_BUILT);
		tile->built = task;
	}
	if (is_held(tile))
		return PDM_STEP_WAIT;
	step = start(tile, task, cost);
	*cost += pdm_vertices_cost(tile);
	return step;
}
