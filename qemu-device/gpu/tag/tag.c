// SPDX-License-Identifier: MIT
/*
 * Texture unit: processing of requests.
 *
 * Source: document 004, "TAG"; Documentation/formats.rst for the rules. Everything
 * is done for 32 lanes at a time. Lanes that do not read use the address of the first one
 * that does, so that they add no address.
 *
 * Limits: different levels of the lanes of a wave are processed one at a time.
 */
#include "tag.h"

#include <stdlib.h>
#include <string.h>

#include "../host_line.h"
#include "../lock.h"
#include "../number.h"
#include "perf.h"
#include "state.h"

struct tag *tag_create(const struct tag_config *config)
{
	struct tag *tag = aligned_alloc(HOST_LINE, div_up(sizeof(*tag), HOST_LINE) * HOST_LINE);

	if (!tag)
		return NULL;
	memset(tag, 0, sizeof(*tag));
	tag->config = *config;
	tag->ops = texel_ops();
	lock_init(&tag->lock);
	return tag;
}

void tag_destroy(struct tag *tag)
{
	if (!tag)
		return;
	pthread_mutex_destroy(&tag->lock);
	free(tag);
}

void tag_reset(struct tag *tag)
{
	mmu_tlb_reset(&tag->tlb);
	memset(tag->state, 0, sizeof(tag->state));
	memset(tag->block, 0, sizeof(tag->block));
	activity_reset(&tag->activity);
	atomic_store_explicit(&tag->waits, 0, memory_order_relaxed);
}

void tag_set_detail(struct tag *tag, bool detail)
{
	activity_set_detail(&tag->activity, detail);
}

void tag_counters_add(const struct tag *tag, u64 *value)
{
	value[PUMICE_PERF_TAG_READS] += activity_requests(&tag->activity);
	value[PUMICE_PERF_TAG_BUSY] += activity_busy_ns(&tag->activity);
	value[PUMICE_PERF_TAG_WAITS] += atomic_load_explicit(&tag->waits, memory_order_relaxed);
}

/* Wait until no other request is processed, and begin one. */
static void enter(struct tag *tag)
{
	if (!pthread_mutex_trylock(&tag->lock))
		return;
	pthread_mutex_lock(&tag->lock);
	count_add(&tag->waits, 1);
}

static bool compares(u32 op)
{
	return op == PUMICE_USC_OP_SAMPLE_CMP || op == PUMICE_USC_OP_SAMPLE_CMP_LOD0 ||
	       op == PUMICE_USC_OP_GATHER_CMP;
}

/* Return whether texture and sampler are valid for the operation. */
static bool request_valid(const struct tag_request *r, const struct tag_state *s)
{
	bool gathers = r->op == PUMICE_USC_OP_GATHER || r->op == PUMICE_USC_OP_GATHER_CMP;

	if (!s->texture_valid || s->texture.dim != r->dim)
		return false;
	if (r->op != PUMICE_USC_OP_QUERY_LOD &&
	    texel_integer(s->tf.info) == (r->type == PUMICE_USC_TYPE_F32))
		return false;
	if (r->op == PUMICE_USC_OP_FETCH)
		return !s->cube;
	if (!s->sampler_valid || s->sampler.compare != compares(r->op))
		return r->op == PUMICE_USC_OP_QUERY_LOD && s->sampler_valid;
	if (gathers && s->dims != 2)
		return false;
	if (compares(r->op))
		return s->tf.info->flags & PUMICE_FORMAT_DEPTH;
	return !s->filters || !texel_integer(s->tf.info);
}

/* Copy the inputs of the first reading lane to lanes that do not read. */
static void follow_lanes(struct tag_wave *w)
{
	u32 first = (u32)__builtin_ctz(w->request->lanes);

	if (w->linear >> first & 1)
		w->linear |= ~w->request->lanes;
	else
		w->linear &= w->request->lanes;
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		if (w->request->lanes >> l & 1)
			continue;
		for (u32 a = 0; a < w->state->dims; a++)
			w->coord[a][l] = w->coord[a][first];
		w->layer[l] = w->layer[first];
		w->level[0][l] = w->level[0][first];
		w->level[1][l] = w->level[1][first];
		w->level_weight[l] = w->level_weight[first];
		if (w->max_steps == 1)
			continue;
		w->steps[l] = w->steps[first];
		for (u32 a = 0; a < 2; a++)
			w->axis[a][l] = w->axis[a][first];
	}
}

static void place_level(const struct tag_wave *w, u32 level,
			const float (*coord)[PUMICE_LANES], struct tf_taps *taps)
{
	const struct tag_state *s = w->state;
	const struct pumice_level *l = &s->level[level];
	const struct tf_place place = {
		.dims = s->dims, .wrap = { s->wrap[0], s->wrap[1], s->wrap[2] },
		.texels = s->sampler.texels, .linear = w->linear,
		.size = { l->width, l->height, l->layers },
		.block_shift = s->tf.info->block == 4 ? 2 : 0,
		.addr = s->texture.addr + l->offset, .level = l, .coord = coord,
		.layer = s->array || s->cube ? w->layer : NULL,
	};

	w->tag->ops->place(&place, taps);
}

/* Copy a lane's part of other. */
static void copy_lane(const struct tag_state *s, u32 l, const struct tf_taps *other,
		      struct tf_taps *taps)
{
	for (u32 a = 0; a < s->dims; a++) {
		taps->weight[a][l] = other->weight[a][l];
		for (u32 n = 0; n < 2; n++) {
			taps->index[a][n][l] = other->index[a][n][l];
			taps->beyond[a][n][l] = other->beyond[a][n][l];
		}
	}
	for (u32 n = 0; n < 2; n++) {
		taps->column[n][l] = other->column[n][l];
		taps->row[0][n][l] = other->row[0][n][l];
		taps->row[1][n][l] = other->row[1][n][l];
	}
}

/* Compute addresses and weights of all lanes, level by level. */
static void place_lanes(const struct tag_wave *w, const u32 *level,
			const float (*coord)[PUMICE_LANES], struct tf_taps *taps)
{
	struct tf_taps other;
	u32 left = 0;

	place_level(w, level[0], coord, taps);
	for (u32 l = 1; l < PUMICE_LANES; l++)
		left |= (u32)(level[l] != level[0]) << l;
	while (left) {
		u32 next = level[__builtin_ctz(left)];

		place_level(w, next, coord, &other);
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			if (level[l] != next)
				continue;
			copy_lane(w->state, l, &other, taps);
			left &= ~(1u << l);
		}
	}
}

/* Read the words of texel n (z * 4 + y * 2 + x) of the filter. */
static bool read_tap(struct tag_wave *w, const struct tf_taps *t, u32 n, struct texel_rows *words)
{
	u32 x = n & 1, y = n >> 1 & 1, z = n >> 2;
	static const u32 zero[PUMICE_LANES];

	return tag_read_words(w, t->row[z][y], t->column[x], t->index[0][x],
			      w->state->dims > 1 ? t->index[1][y] : zero, words);
}

/* Read and expand texel n. */
static bool expand_tap(struct tag_wave *w, const struct tf_taps *t, u32 n, struct texel_rows *texel)
{
	struct texel_rows words;

	if (!read_tap(w, t, n, &words))
		return false;
	tf_expand(w->tag->config.tf, &w->read, t, n, &words, texel);
	return true;
}

/* The same for a cube whose filters cross edges of faces in some lanes. */
static bool expand_cube_tap(struct tag_wave *w, const u32 *level, const struct tf_taps *t,
			    u32 lanes, u32 n, struct texel_rows *texel, u32 *corner)
{
	struct texel_rows words;
	struct tag_tap tap;

	tag_cube_tap(w, level, t, lanes, n, &tap);
	if (!tag_read_words(w, tap.row, tap.column, tap.x, tap.y, &words))
		return false;
	tf_expand(w->tag->config.tf, &w->read, t, n, &words, texel);
	*corner = tap.corner;
	return true;
}

static __attribute__((noinline)) bool
sample_faces(struct tag_wave *w, const u32 *level, const struct tf_taps *t, u32 lanes,
	     struct texel_rows *out)
{
	struct texel_rows texel[4];
	u32 corner[4];

	for (u32 n = 0; n < 4; n++) {
		if (!expand_cube_tap(w, level, t, lanes, n, &texel[n], &corner[n]))
			return false;
	}
	tag_cube_corners(texel, corner);
	tf_filter(w->tag->config.tf, &w->read, 2, t, texel, out);
	return true;
}

/* Compute one sample of one level. */
static bool sample_level(struct tag_wave *w, const u32 *level, const float (*coord)[PUMICE_LANES],
			 struct texel_rows *out)
{
	const struct tag_state *s = w->state;
	struct texel_rows texel[8];
	struct tf_taps taps;
	u32 n;

	place_lanes(w, level, coord, &taps);
	if (!w->linear)
		return expand_tap(w, &taps, 0, out);
	if (s->cube) {
		u32 lanes = tag_cube_lanes(w, &taps);

		if (lanes)
			return sample_faces(w, level, &taps, lanes, out);
	}
	if (s->plain && s->dims == 2 && !s->tf.border_axes && !w->read.reference) {
		u32 words[4][PUMICE_LANES] __attribute__((aligned(64)));

		if (!tag_read_four(w, &taps, words))
			return false;
		tf_bilinear(w->tag->config.tf, &w->read, &taps, (const u32 (*)[PUMICE_LANES])words,
			    out);
		return true;
	}
	for (n = 0; n < 1u << s->dims; n++) {
		if (!expand_tap(w, &taps, n, &texel[n]))
			return false;
	}
	tf_filter(w->tag->config.tf, &w->read, s->dims, &taps, texel, out);
	return true;
}

/* Compute one sample of the one or two levels of each lane. */
static bool sample_levels(struct tag_wave *w, const float (*coord)[PUMICE_LANES],
			  struct texel_rows *out)
{
	struct texel_rows finer;

	if (!sample_level(w, w->level[0], coord, out))
		return false;
	if (!w->two_levels)
		return true;
	if (!sample_level(w, w->level[1], coord, &finer))
		return false;
	tf_mix(w->tag->config.tf, &w->read, w->level_weight, &finer, out);
	return true;
}

/* Average each lane's samples along the axis of anisotropy. */
static bool sample_axis(struct tag_wave *w, struct texel_rows *out)
{
	float coord[3][PUMICE_LANES] __attribute__((aligned(64)));
	u32 layer[PUMICE_LANES];
	struct texel_rows one;

	memcpy(layer, w->layer, sizeof(layer));
	for (u32 step = 0; step < w->max_steps; step++) {
		for (u32 a = 0; a < 2; a++) {
			for (u32 l = 0; l < PUMICE_LANES; l++) {
				float at = ((float)step + 0.5f) / w->steps[l] - 0.5f;
				bool one_step = w->steps[l] <= 1.0f || (float)step >= w->steps[l];

				coord[a][l] = one_step ? w->coord[a][l] :
							 w->coord[a][l] + w->axis[a][l] * at;
			}
		}
		if (w->state->cube) {
			memcpy(w->layer, layer, sizeof(layer));
			tag_cube_wrap(w, coord);
		}
		if (!sample_levels(w, (const float (*)[PUMICE_LANES])coord, &one))
			return false;
		tf_add(w->tag->config.tf, &one, step, w->steps, out);
	}
	tf_average(w->tag->config.tf, w->steps, out);
	return true;
}

static bool sample(struct tag_wave *w, u32 *out)
{
	struct texel_rows texel;

	if (w->max_steps > 1) {
		if (!sample_axis(w, &texel))
			return false;
	} else if (!sample_levels(w, (const float (*)[PUMICE_LANES])w->coord, &texel)) {
		return false;
	}
	tf_result(w->tag->config.tf, &w->read, &texel, out);
	return true;
}

static bool gather(struct tag_wave *w, u32 *out)
{
	struct texel_rows texel;
	struct tf_taps taps;
	u32 faces = 0, corner;

	place_lanes(w, w->level[0], (const float (*)[PUMICE_LANES])w->coord, &taps);
	if (w->state->cube)
		faces = tag_cube_lanes(w, &taps);
	for (u32 n = 0; n < 4; n++) {
		if (!(faces ? expand_cube_tap(w, w->level[0], &taps, faces, n, &texel, &corner) :
			      expand_tap(w, &taps, n, &texel)))
			return false;
		tf_gather(w->tag->config.tf, &w->read, w->request->comp, &texel,
			  out + n * PUMICE_LANES);
	}
	activity_count(&w->tag->config.tf->activity);
	return true;
}

static void query_lod(const struct tag_wave *w, u32 *out)
{
	memcpy(out, w->lod, sizeof(w->lod));
	memcpy(out + PUMICE_LANES, w->lod_raw, sizeof(w->lod_raw));
	memset(out + 2 * PUMICE_LANES, 0, 2 * sizeof(w->lod));
}

/* Compute the address of a lane's texel by integer coordinates; false if it is out of range. */
static bool fetch_lane(const struct tag_wave *w, u32 l, struct tf_taps *t)
{
	const struct tag_request *r = w->request;
	const struct tag_state *s = w->state;
	u32 at[3] = { 0 }, level = r->extra[l], layer = 0;
	const struct pumice_level *v;

	if (level >= s->surface.levels)
		return false;
	v = &s->level[level];
	for (u32 a = 0; a < s->dims; a++)
		at[a] = r->coord[a * PUMICE_LANES + l];
	if (s->array)
		layer = r->coord[s->dims * PUMICE_LANES + l];
	if (s->dims == 3)
		layer = at[2];
	if (at[0] >= v->width || at[1] >= v->height || layer >= v->layers)
		return false;
	t->index[0][0][l] = at[0];
	t->index[1][0][l] = at[1];
	t->column[0][l] = tag_column_bytes(s, level, at[0]);
	t->row[0][0][l] = tag_row_address(s, level, layer, at[1]);
	return true;
}

static bool fetch(struct tag_wave *w, u32 *out)
{
	struct texel_rows words, texel;
	struct tf_taps taps;
	u32 lanes = 0, l;

	for (l = 0; l < PUMICE_LANES; l++) {
		if (w->request->lanes >> l & 1)
			lanes |= (u32)fetch_lane(w, l, &taps) << l;
	}
	if (!lanes) {
		memset(out, 0, sizeof(texel.row));
		return true;
	}
	for (l = 0; l < PUMICE_LANES; l++) {
		u32 first = (u32)__builtin_ctz(lanes);

		if (lanes >> l & 1)
			continue;
		taps.index[0][0][l] = taps.index[0][0][first];
		taps.index[1][0][l] = taps.index[1][0][first];
		taps.column[0][l] = taps.column[0][first];
		taps.row[0][0][l] = taps.row[0][0][first];
	}
	if (!tag_read_words(w, taps.row[0][0], taps.column[0], taps.index[0][0], taps.index[1][0],
			    &words))
		return false;
	tf_expand(w->tag->config.tf, &w->read, NULL, 0, &words, &texel);
	tf_result(w->tag->config.tf, &w->read, &texel, out);
	for (u32 n = 0; n < 4 * PUMICE_LANES; n++)
		out[n] = lanes >> n % PUMICE_LANES & 1 ? out[n] : 0;
	return true;
}

static bool run(struct tag_wave *w, u32 *out)
{
	if (w->request->op == PUMICE_USC_OP_FETCH)
		return fetch(w, out);
	tag_coordinates(w);
	tag_levels(w);
	if (w->request->op == PUMICE_USC_OP_QUERY_LOD) {
		query_lod(w, out);
		return true;
	}
	if (~w->request->lanes)
		follow_lanes(w);
	if (w->request->op == PUMICE_USC_OP_GATHER || w->request->op == PUMICE_USC_OP_GATHER_CMP)
		return gather(w, out);
	return sample(w, out);
}

/* Process a request; the unit is the caller's. */
static bool process(struct tag *tag, const struct tag_request *request, u32 *out,
		    struct gpu_fault *fault)
{
	struct tag_wave w;

	w.tag = tag;
	w.request = request;
	w.tcu = &tag->config.tcu[request->tcu];
	tag->tlb.usc = tag->config.first_usc + request->tcu;
	tag->tlb.program = request->program;
	w.fault = fault;
	w.state = tag_state_get(tag, request->state);
	if (!request_valid(request, w.state)) {
		fault->fault = PUMICE_FAULT_TAG_STATE;
		fault->unit = PUMICE_UNIT_TAG;
		fault->access = PUMICE_ACCESS_READ;
		fault->ctx = (u8)request->ctx;
		fault->addr = 0;
		return false;
	}
	if (!request->lanes)
		return true;
	w.read = (struct tf_read){
		.state = &w.state->tf, .reference = compares(request->op) ? w.extra : NULL,
	};
	memset(w.windows.grain, 0xff, sizeof(w.windows.grain));
	w.windows.near = mmu_is_detailed(tag->config.mmu) ? 0 : 1u << MMU_GRAIN_SHIFT;
	return run(&w, out);
}

bool tag_read(struct tag *tag, const struct tag_request *request, u32 *out,
	      struct gpu_fault *fault)
{
	u64 began;
	bool ok;

	enter(tag);
	began = activity_begin(&tag->activity);
	activity_count(&tag->activity);
	ok = process(tag, request, out, fault);
	activity_end(&tag->activity, began);
	pthread_mutex_unlock(&tag->lock);
	if (!ok)
		fault->index = tag->config.number;
	return ok;
}
