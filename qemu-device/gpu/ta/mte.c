// SPDX-License-Identifier: MIT
/*
 * Macro tiling engine: viewport transform and culling.
 *
 * Source: document 004, "MTE"; Documentation/precision.rst, "Clipping", "Screen positions"
 * and "Faces". The vertices that a call finds ready are transformed first, a wave's rows at a time;
 * then each primitive is culled, or stored in ta.poly. Triangles that have to be clipped are culled
 * by the face of their clip positions before; the parts that remain, and all others, by their area.
 *
 * Limits: a vertex made by clipping where w is nearly 0 can be far beyond the guard band, by
 * rounding; it is clamped to 256 pixels from it. A viewport that results in NaN drops the
 * primitive.
 */
#include "internal.h"

#include <math.h>
#include <string.h>

#include "../number.h"
#include "shape.h"

#define LANES	PUMICE_LANES

void mte_view(struct ta_view *view, const struct ta_draw *draw)
{
	const struct pumice_vdm_state *s = &draw->state;
	const float guard = (float)PUMICE_GUARD_BAND;
	u32 i, vertices = draw->kind == PUMICE_PRIM_KIND_TRIANGLE ? 3 :
			  draw->kind == PUMICE_PRIM_KIND_LINE ? 2 : 1;

	*view = (struct ta_view){
		.scale = { s->scale_x, s->scale_y, s->scale_z },
		.offset = { s->offset_x, s->offset_y, s->offset_z },
		.depth_clip = s->depth_clip, .minus_w = s->clip_minus_w,
		.front_ccw = s->front_ccw, .cull_front = s->cull_front,
		.cull_back = s->cull_back, .small_cull = s->small_cull,
		.kind = draw->kind, .provoking = (u8)(s->provoking_last ? vertices - 1 : 0),
		.varyings = s->varyings, .first = s->point_size ? 5 : 4,
		.line_width = shape_size(s->line_width, SHAPE_LINE_MAX),
		.point_size = s->point_size,
		.point_width = shape_size(s->point_width, SHAPE_POINT_MAX),
		.tsp_state = s->tsp_state,
	};
	for (i = 0; i < 2; i++) {
		view->low[i] = view->offset[i] + guard;
		view->high[i] = guard - view->offset[i];
	}
}

/* Intermediate rows of a wave's positions. */
struct rows {
	float x[LANES], y[LANES], z[LANES], w[LANES];
	float sx[LANES], sy[LANES], sz[LANES], rw[LANES];
	u64 fx[LANES], fy[LANES];	/* the position in the low 32 bits */
	u32 out[LANES];
};

/* Planes: see precision.rst. Comparisons are such that NaN is outside. */
static void outcodes(const struct ta_view *view, struct rows *r)
{
	const float near_w = view->minus_w ? 1.0f : 0.0f;
	const u32 depth = view->depth_clip ? 3u << 1 : 0;
	u32 i;

	for (i = 0; i < LANES; i++) {
		const float x = r->x[i], y = r->y[i], z = r->z[i], w = r->w[i];
		const float finite = (x - x) + (y - y) + (z - z) + (w - w);
		const float px = x * view->scale[0], py = y * view->scale[1];
		const float near = z + near_w * w;
		u32 out = 0;

		out |= w - 0x1p-32f >= 0 ? 0 : 1u << 0;
		out |= near >= 0 ? 0 : 1u << 1;
		out |= w - z >= 0 ? 0 : 1u << 2;
		out &= depth | 1u;
		out |= px + view->low[0] * w >= 0 ? 0 : 1u << 3;
		out |= view->high[0] * w - px >= 0 ? 0 : 1u << 4;
		out |= py + view->low[1] * w >= 0 ? 0 : 1u << 5;
		out |= view->high[1] * w - py >= 0 ? 0 : 1u << 6;
		out |= finite == 0 ? 0 : TA_BAD;
		r->out[i] = out;
	}
}

/*
 * Return the nearest integer to position times 256, ties to even: the low bits of a sum without
 * binary places.
 */
static u64 fixed(float position)
{
	const double sum = (double)position * 256.0 + 0x1.8p52;
	u64 bits;

	memcpy(&bits, &sum, sizeof(bits));
	return bits;
}

/* Clamp a position; a NaN stays a NaN. */
static float limit(float position)
{
	position = position < -TA_LIMIT ? -TA_LIMIT : position;
	return position > TA_LIMIT ? TA_LIMIT : position;
}

static void project(const struct ta_view *view, struct rows *r)
{
	u32 i;

	for (i = 0; i < LANES; i++) {
		r->sx[i] = limit(r->x[i] / r->w[i] * view->scale[0] + view->offset[0]);
		r->sy[i] = limit(r->y[i] / r->w[i] * view->scale[1] + view->offset[1]);
		r->sz[i] = r->z[i] / r->w[i] * view->scale[2] + view->offset[2];
		r->rw[i] = 1.0f / r->w[i];
	}
	for (i = 0; i < LANES; i++) {
		r->fx[i] = fixed(r->sx[i]);
		r->fy[i] = fixed(r->sy[i]);
	}
	/* Inside all planes but without a valid position: see Limits. */
	for (i = 0; i < LANES; i++)
		if (!r->out[i] && isnan(r->sx[i] + r->sy[i]))
			r->out[i] = TA_BAD;
}

static void store(const struct rows *r, u32 count, struct ta_vertex *out)
{
	u32 i;

	for (i = 0; i < count; i++)
		out[i] = (struct ta_vertex){
			.x = (s32)(u32)r->fx[i], .y = (s32)(u32)r->fy[i], .z = r->sz[i],
			.rw = r->rw[i], .out = r->out[i],
		};
}

/* Set the sizes of points and widths of lines. */
static void set_sizes(const struct ta_view *view, const struct ta_vertices *in, u32 first,
		      struct ta_vertex *out)
{
	u32 v;

	if (view->kind == PUMICE_PRIM_KIND_TRIANGLE)
		return;
	for (v = first; v < in->ready; v++) {
		if (view->kind == PUMICE_PRIM_KIND_LINE)
			out[v].size = view->line_width;
		else if (view->point_size && in->vo_words > 4)
			out[v].size = shape_size(u32_as_f32(ta_vo(in, v, 4)), SHAPE_POINT_MAX);
		else
			out[v].size = view->point_width;
	}
}

void mte_transform(const struct ta_view *view, const struct ta_vertices *in, u32 first,
		   struct ta_vertex *out)
{
	struct rows r;
	u32 v;

	for (v = first; v < in->ready; v += LANES) {
		const u32 *row = in->wave[v / LANES];

		memcpy(r.x, row, sizeof(r.x));
		memcpy(r.y, row + LANES, sizeof(r.y));
		memcpy(r.z, row + 2 * LANES, sizeof(r.z));
		memcpy(r.w, row + 3 * LANES, sizeof(r.w));
		outcodes(view, &r);
		project(view, &r);
		store(&r, min_u32(in->ready - v, LANES), out + v);
	}
	set_sizes(view, in, first, out);
}

/* Project one vertex made by clipping: it is inside, or nearly so. */
struct ta_vertex mte_project(const struct ta_view *view, const float pos[4])
{
	const float x = limit(pos[0] / pos[3] * view->scale[0] + view->offset[0]);
	const float y = limit(pos[1] / pos[3] * view->scale[1] + view->offset[1]);
	const float z = pos[2] / pos[3] * view->scale[2] + view->offset[2];
	struct ta_vertex v = { .z = z, .rw = 1.0f / pos[3] };

	if (isnan(x + y)) {
		v.out = TA_BAD;
		return v;
	}
	v.x = (s32)(u32)fixed(x);
	v.y = (s32)(u32)fixed(y);
	return v;
}

static void bound(struct ta_shape *s)
{
	u32 i;

	s->x0 = s->x1 = s->x[0];
	s->y0 = s->y1 = s->y[0];
	for (i = 1; i < s->count; i++) {
		s->x0 = min_s32(s->x[i], s->x0);
		s->x1 = max_s32(s->x[i], s->x1);
		s->y0 = min_s32(s->y[i], s->y0);
		s->y1 = max_s32(s->y[i], s->y1);
	}
}

static bool is_off_screen(const struct ta *ta, const struct ta_shape *s)
{
	return s->x1 <= 0 || s->y1 <= 0 || s->x0 >= (s32)ta->scene.width * 256 ||
	       s->y0 >= (s32)ta->scene.height * 256;
}

/* Return whether no sample is in the bounding rectangle, edges included: then it covers none. */
static bool is_between_samples(const struct ta *ta, const struct ta_shape *s)
{
	u32 i;

	if (s->x1 - s->x0 >= 256 && s->y1 - s->y0 >= 256)
		return false;
	for (i = 0; i < ta->scene.samples; i++) {
		const s32 dx = ta->sample_x[i], dy = ta->sample_y[i];

		/* The last sample that is not beyond the far edge. */
		if ((((s->x1 - dx) & ~255) + dx) >= s->x0 &&
		    (((s->y1 - dy) & ~255) + dy) >= s->y0)
			return false;
	}
	return true;
}

/* Add the triangle of corners a, b, c, unless it is culled. */
static void add_triangle(struct ta *ta, u32 a, u32 b, u32 c)
{
	struct ta_poly *poly = &ta->poly;
	const struct ta_vertex *p = &poly->corner[a].v, *q = &poly->corner[b].v;
	const struct ta_vertex *r = &poly->corner[c].v;
	const s64 area = (s64)(q->x - p->x) * (r->y - p->y) - (s64)(r->x - p->x) * (q->y - p->y);
	const bool front = ta->view.front_ccw ? area < 0 : area > 0;
	struct ta_shape *shape = &poly->shape[poly->subs];

	if (!area || (front ? ta->view.cull_front : ta->view.cull_back))
		return;
	shape->x[0] = p->x;
	shape->y[0] = p->y;
	shape->x[1] = q->x;
	shape->y[1] = q->y;
	shape->x[2] = r->x;
	shape->y[2] = r->y;
	shape->count = 3;
	bound(shape);
	if (is_off_screen(ta, shape) || (ta->view.small_cull && is_between_samples(ta, shape)))
		return;
	poly->sub[poly->subs++] = (struct ta_sub){
		.v = { (u8)a, (u8)b, (u8)c }, .provoking = ta->view.provoking, .back = !front,
	};
}

static void add_rectangle(struct ta *ta, const struct shape_corners *corners)
{
	struct ta_poly *poly = &ta->poly;
	struct ta_shape *shape = &poly->shape[0];

	memcpy(shape->x, corners->x, sizeof(shape->x));
	memcpy(shape->y, corners->y, sizeof(shape->y));
	shape->count = 4;
	bound(shape);
	if (is_off_screen(ta, shape))
		return;
	/* Without budget, which only ta_cull() exceeds, it is kept: ta_primitives() culls it. */
	if (ta->view.small_cull && ta->budget > 0 && !small_covers_sample(ta, shape))
		return;
	poly->sub[poly->subs++] = (struct ta_sub){
		.v = { 0, (u8)(poly->corners - 1), 0 }, .provoking = ta->view.provoking,
	};
}

/* Return a corner of a clipped triangle's part that has the provoking vertex's flat varyings. */
static u8 provoking_corner(const struct ta *ta, const struct ta_sub *sub, u32 provoking)
{
	u8 i;

	for (i = 0; i < 3; i++) {
		const u32 source = ta->poly.corner[sub->v[i]].source;

		if (source == TA_NEW || source == provoking)
			return i;
	}
	return 0;
}

/* Add the triangles of the corners, or the one rectangle of a line or point. */
static void add_subs(struct ta *ta, const struct ta_prim *prim)
{
	struct ta_poly *poly = &ta->poly;
	const struct ta_vertex *p = &poly->corner[0].v, *q = &poly->corner[1].v;
	struct shape_corners corners;
	u32 i;

	if (ta->view.kind == PUMICE_PRIM_KIND_TRIANGLE) {
		for (i = 2; i < poly->corners; i++)
			add_triangle(ta, 0, i - 1, i);
		for (i = 0; poly->clipped && i < poly->subs; i++)
			poly->sub[i].provoking = provoking_corner(ta, &poly->sub[i],
								  prim->v[ta->view.provoking]);
	} else if (ta->view.kind == PUMICE_PRIM_KIND_LINE) {
		if (shape_line(p->x, p->y, q->x, q->y, p->size, &corners))
			add_rectangle(ta, &corners);
	} else {
		shape_point(p->x, p->y, p->size, &corners);
		add_rectangle(ta, &corners);
	}
}

enum ta_result mte_primitive(struct ta *ta, const struct ta_prim *prim, bool *kept,
			     struct gpu_fault *fault)
{
	const u32 count = ta->view.kind == PUMICE_PRIM_KIND_TRIANGLE ? 3 :
			  ta->view.kind == PUMICE_PRIM_KIND_LINE ? 2 : 1;
	struct ta_poly *poly = &ta->poly;
	u32 any = 0, all = ~0u, i;

	*kept = false;
	poly->subs = 0;
	poly->clipped = false;
	memset(poly->source, 0, sizeof(poly->source));
	for (i = 0; i < count; i++) {
		if (prim->v[i] >= ta->in->count)
			return TA_OK;
		poly->corner[i].v = ta->vertex[prim->v[i]];
		poly->corner[i].source = poly->source[i] = prim->v[i];
		any |= poly->corner[i].v.out;
		all &= poly->corner[i].v.out;
	}
	poly->corners = count;
	if (any & TA_BAD || all)
		return TA_OK;
	if (any) {
		enum ta_result result = clip_primitive(ta, prim, count, fault);

		if (result != TA_OK || poly->corners < count) {
			if (poly->clipped)
				ta->budget -= TA_COST_CLIP;
			return result;
		}
	}
	add_subs(ta, prim);
	/* Only now: add_rectangle() has to find the budget with which the primitive began. */
	if (any)
		ta->budget -= TA_COST_CLIP;
	*kept = poly->subs != 0;
	return TA_OK;
}
