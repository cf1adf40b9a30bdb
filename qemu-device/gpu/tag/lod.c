// SPDX-License-Identifier: MIT
/*
 * Coordinates, layers, levels of detail.
 *
 * Source: Documentation/formats.rst, "Reading".
 */
#include <math.h>
#include <string.h>

#include "pumice_isa_enums.h"
#include "state.h"

/* Return the nearest integer, halves to even, clamped to 0 and max. */
static u32 layer_of(float f, u32 max)
{
	if (!(f > 0.0f))
		return 0;
	if (f >= (float)max)
		return max;
	return (u32)(f + 0x1p23f) - 0x800000u;
}

static void read_layers(struct tag_wave *w, const u32 *row)
{
	const struct tag_state *s = w->state;
	u32 count = s->cube ? s->surface.depth / 6 : s->surface.depth;

	for (u32 l = 0; l < PUMICE_LANES; l++) {
		float f;

		memcpy(&f, &row[l], sizeof(f));
		w->layer[l] = layer_of(f, count - 1) * (s->cube ? 6 : 1);
	}
}

/* Return whether levels of detail or anisotropy are needed by this read. */
static bool needs_derivatives(const struct tag_wave *w)
{
	const struct pumice_sampler *p = &w->state->sampler;

	switch (w->request->op) {
	case PUMICE_USC_OP_SAMPLE_GRAD:
	case PUMICE_USC_OP_QUERY_LOD:
		return true;
	case PUMICE_USC_OP_SAMPLE:
	case PUMICE_USC_OP_SAMPLE_BIAS:
	case PUMICE_USC_OP_SAMPLE_CMP:
		return p->mip_filter != PUMICE_MIP_FILTER_NONE || p->min_linear != p->mag_linear ||
		       p->aniso_log2;
	default:
		return false;
	}
}

void tag_coordinates(struct tag_wave *w)
{
	const struct tag_request *r = w->request;
	const struct tag_state *s = w->state;
	u32 rows = s->cube ? 3 : s->dims;
	bool derivatives = needs_derivatives(w);

	memcpy(w->coord, r->coord, rows * sizeof(w->coord[0]));
	if (s->array)
		read_layers(w, r->coord + rows * PUMICE_LANES);
	else if (s->cube)
		memset(w->layer, 0, sizeof(w->layer));
	if (derivatives && r->op == PUMICE_USC_OP_SAMPLE_GRAD) {
		memcpy(w->dx, r->extra, rows * sizeof(w->dx[0]));
		memcpy(w->dy, r->extra + rows * PUMICE_LANES, rows * sizeof(w->dy[0]));
	} else if (derivatives && r->spans) {
		for (u32 a = 0; a < rows; a++)
			w->tag->ops->spans((const u32 *)(const void *)w->coord[a], w->dx[a],
					   w->dy[a]);
	} else {
		derivatives = false;
	}
	if (s->cube)
		tag_cube_project(w, derivatives);
	if (r->op != PUMICE_USC_OP_SAMPLE_GRAD && r->extra)
		memcpy(w->extra, r->extra, sizeof(w->extra));
}

/*
 * The longer of the two derivatives determines the level; if it is much longer than the
 * shorter, several samples along it use a finer level.
 */
static void anisotropy(struct tag_wave *w, const float *x2, const float *y2, float *squares)
{
	const float max = (float)(1u << w->state->sampler.aniso_log2);

	for (u32 l = 0; l < PUMICE_LANES; l++) {
		bool along_x = x2[l] >= y2[l];
		float big = along_x ? x2[l] : y2[l], small = along_x ? y2[l] : x2[l];
		float ratio = big > 1.0f ? sqrtf(big / small) : 1.0f;
		float steps = ratio > 1.0f ? (ratio < max ? ceilf(ratio) : max) : 1.0f;

		w->steps[l] = steps;
		squares[l] = big / (steps * steps);
		for (u32 a = 0; a < 2; a++)
			w->axis[a][l] = along_x ? w->dx[a][l] : w->dy[a][l];
		if (steps > (float)w->max_steps)
			w->max_steps = (u32)steps;
	}
}

/* Return log2 of texels of level 0 for a pixel. */
static void from_derivatives(struct tag_wave *w)
{
	const struct tag_state *s = w->state;
	const u32 size[3] = { s->surface.width, s->surface.height, s->surface.depth };
	float x2[PUMICE_LANES] = { 0 }, y2[PUMICE_LANES] = { 0 };
	float squares[PUMICE_LANES] __attribute__((aligned(64)));

	for (u32 a = 0; a < s->dims; a++) {
		float n = s->sampler.texels ? 1.0f : (float)size[a];

		for (u32 l = 0; l < PUMICE_LANES; l++) {
			float x = w->dx[a][l] * n, y = w->dy[a][l] * n;

			x2[l] += x * x;
			y2[l] += y * y;
		}
	}
	if (s->sampler.aniso_log2 && s->sampler.min_linear && s->dims == 2) {
		anisotropy(w, x2, y2, squares);
	} else {
		for (u32 l = 0; l < PUMICE_LANES; l++)
			squares[l] = x2[l] > y2[l] ? x2[l] : y2[l];
	}
	w->tag->ops->log2(squares, w->lod_raw);
}

static void select_levels(struct tag_wave *w)
{
	const struct tag_state *s = w->state;
	const struct pumice_sampler *p = &s->sampler;
	const float last = (float)(s->surface.levels - 1);
	bool two = false;
	u32 linear = 0;

	for (u32 l = 0; l < PUMICE_LANES; l++) {
		float lod = w->lod[l], whole;

		linear |= (u32)(lod > 0.0f ? p->min_linear : p->mag_linear) << l;
		lod = lod > 0.0f ? lod : 0.0f;
		lod = lod < last ? lod : last;
		if (p->mip_filter == PUMICE_MIP_FILTER_NEAREST)
			lod += 0.5f;
		w->level[0][l] = (u32)lod;
		whole = (float)w->level[0][l];
		w->level_weight[l] = lod - whole;
		w->level[1][l] = w->level[0][l] + (lod > whole);
		two |= lod > whole;
	}
	w->linear = linear;
	w->two_levels = two && p->mip_filter == PUMICE_MIP_FILTER_LINEAR;
}

void tag_levels(struct tag_wave *w)
{
	const struct tag_state *s = w->state;
	const struct pumice_sampler *p = &s->sampler;
	const struct tag_request *r = w->request;
	bool bias = r->op == PUMICE_USC_OP_SAMPLE_BIAS, lod = r->op == PUMICE_USC_OP_SAMPLE_LOD;
	bool derivatives = needs_derivatives(w) &&
			   (r->spans || r->op == PUMICE_USC_OP_SAMPLE_GRAD);

	w->max_steps = 1;
	w->two_levels = false;
	memset(w->level, 0, sizeof(w->level));
	if (r->op == PUMICE_USC_OP_GATHER || r->op == PUMICE_USC_OP_GATHER_CMP) {
		w->linear = ~0u;
		return;
	}
	/* Not used. */
	if (r->op != PUMICE_USC_OP_QUERY_LOD && p->mip_filter == PUMICE_MIP_FILTER_NONE &&
	    p->min_linear == p->mag_linear && !derivatives) {
		w->linear = p->min_linear ? ~0u : 0;
		return;
	}
	memset(w->lod_raw, 0, sizeof(w->lod_raw));
	if (derivatives)
		from_derivatives(w);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		float f = (lod ? w->extra[l] : w->lod_raw[l]) + s->lod_bias;

		f += bias ? w->extra[l] : 0.0f;
		w->lod_raw[l] = f;
		f = f > s->min_lod ? f : s->min_lod;
		w->lod[l] = f < s->max_lod ? f : s->max_lod;
	}
	if (r->op == PUMICE_USC_OP_SAMPLE_CMP_LOD0)
		memset(w->lod, 0, sizeof(w->lod));
	select_levels(w);
	if (p->mip_filter == PUMICE_MIP_FILTER_NONE)
		memset(w->level, 0, sizeof(w->level));
}
