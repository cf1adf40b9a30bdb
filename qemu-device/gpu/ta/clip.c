// SPDX-License-Identifier: MIT
/*
 * Clipping of triangles and lines, and faces of triangles before it.
 *
 * Source: Documentation/precision.rst, "Clipping": plane by plane, in f32, new vertices
 * always computed from the inside one, so that primitives that share an edge get the same
 * ones; "Faces".
 *
 * A new vertex belongs to one primitive only; so its flat varyings are those of the provoking
 * vertex, which may have been clipped. The TSP state has the mask of flat varyings.
 */
#include "internal.h"

#include <math.h>
#include <string.h>

struct clip_vertex {
	float pos[4];
	u32 source;	/* number of the vertex, or TA_NEW */
	float v[PUMICE_MAX_VARYINGS];
};

struct polygon {
	u32 count;
	struct clip_vertex vertex[TA_POLYGON + 1];	/* one more while clipping by a plane */
};

static float distance(const struct ta_view *view, const float *pos, u32 plane)
{
	const float w = pos[3];

	switch (plane) {
	case 0:
		return w - 0x1p-32f;
	case 1:
		return view->minus_w ? pos[2] + w : pos[2];
	case 2:
		return w - pos[2];
	case 3:
		return pos[0] * view->scale[0] + view->low[0] * w;
	case 4:
		return view->high[0] * w - pos[0] * view->scale[0];
	case 5:
		return pos[1] * view->scale[1] + view->low[1] * w;
	default:
		return view->high[1] * w - pos[1] * view->scale[1];
	}
}

/* Compute the vertex on the plane between a, inside, and b, outside. */
static void cut(struct clip_vertex *out, const struct clip_vertex *a, float da,
		const struct clip_vertex *b, float db, u32 varyings)
{
	const float t = da / (da - db);
	u32 i;

	out->source = TA_NEW;
	for (i = 0; i < 4; i++)
		out->pos[i] = a->pos[i] + (b->pos[i] - a->pos[i]) * t;
	for (i = 0; i < varyings; i++)
		out->v[i] = a->v[i] + (b->v[i] - a->v[i]) * t;
}

/*
 * Clip by one plane. A polygon that is slightly concave after rounding might be crossed more
 * than twice; vertices without room are omitted.
 */
static void clip_plane(const struct ta_view *view, u32 plane, const struct polygon *in,
		       struct polygon *out)
{
	const bool closed = in->count > 2;
	float d[TA_POLYGON + 1];
	u32 i;

	for (i = 0; i < in->count; i++)
		d[i] = distance(view, in->vertex[i].pos, plane);
	out->count = 0;
	for (i = 0; i < in->count; i++) {
		const u32 j = i + 1 < in->count ? i + 1 : 0;
		const bool inside = d[i] >= 0;

		if (inside && out->count < TA_POLYGON)
			out->vertex[out->count++] = in->vertex[i];
		if ((!j && !closed) || inside == (d[j] >= 0) || out->count >= TA_POLYGON)
			continue;
		if (inside)
			cut(&out->vertex[out->count++], &in->vertex[i], d[i], &in->vertex[j],
			    d[j], view->varyings);
		else
			cut(&out->vertex[out->count++], &in->vertex[j], d[j], &in->vertex[i],
			    d[i], view->varyings);
	}
}

static bool is_outside(const struct ta_view *view, const struct polygon *p, u32 plane)
{
	u32 i;

	for (i = 0; i < p->count; i++)
		if (!(distance(view, p->vertex[i].pos, plane) >= 0))
			return true;
	return false;
}

/*
 * Return whether the state culls the face of a triangle: the determinant has the sign of the area
 * that clipping leaves, also if vertices have a negative w.
 */
static bool is_face_culled(const struct ta *ta, const struct ta_prim *prim)
{
	const struct ta_view *view = &ta->view;
	const bool mirrored = (view->scale[0] < 0) != (view->scale[1] < 0);
	double x[3], y[3], w[3], det;
	u32 i;

	for (i = 0; i < 3; i++) {
		x[i] = (double)u32_as_f32(ta_vo(ta->in, prim->v[i], 0));
		y[i] = (double)u32_as_f32(ta_vo(ta->in, prim->v[i], 1));
		w[i] = (double)u32_as_f32(ta_vo(ta->in, prim->v[i], 3));
	}
	det = x[0] * (y[1] * w[2] - y[2] * w[1]) + x[1] * (y[2] * w[0] - y[0] * w[2]) +
	      x[2] * (y[0] * w[1] - y[1] * w[0]);
	if (mirrored != view->front_ccw)
		det = -det;
	return (det > 0 && view->cull_front) || (det < 0 && view->cull_back);
}

/* Read which varyings are flat, once per draw. */
static bool read_flat(struct ta *ta, struct gpu_fault *fault)
{
	u32 words[PUMICE_TSP_STATE_WORDS];
	struct pumice_tsp_state state;

	if (ta->view.flat_known || !ta->view.varyings)
		return true;
	*fault = (struct gpu_fault){ .unit = PUMICE_UNIT_MTE };
	if (!mmu_read(ta->config.mmu, &ta->mte, ta->scene.ctx, ta->view.tsp_state, words,
		      sizeof(words), PUMICE_ACCESS_READ, PUMICE_UNIT_MTE, fault))
		return false;
	/* The TSP checks whether it is valid, if a part is visible. */
	pumice_tsp_state_unpack(words, &state);
	ta->view.flat = state.flat;
	ta->view.flat_known = true;
	return true;
}

static void load(const struct ta *ta, const struct ta_prim *prim, u32 count, struct polygon *p)
{
	const u32 words = ta->view.varyings;
	u32 i, n;

	p->count = count;
	for (i = 0; i < count; i++) {
		struct clip_vertex *v = &p->vertex[i];

		v->source = prim->v[i];
		for (n = 0; n < 4; n++) {
			const u32 bits = ta_vo(ta->in, prim->v[i], n);

			memcpy(&v->pos[n], &bits, sizeof(bits));
		}
		for (n = 0; n < words; n++) {
			const u32 bits = ta_vo(ta->in, prim->v[i], ta->view.first + n);

			memcpy(&v->v[n], &bits, sizeof(bits));
		}
	}
}

/* Set the corners of ta.poly from the polygon; none if one of them has no valid position. */
static void store_corners(struct ta *ta, u32 provoking, const struct polygon *p)
{
	const struct ta_view *view = &ta->view;
	struct ta_poly *poly = &ta->poly;
	u32 i, n;

	poly->corners = 0;
	for (i = 0; i < p->count; i++) {
		const struct clip_vertex *v = &p->vertex[i];
		struct ta_corner *c = &poly->corner[i];

		c->source = v->source;
		if (v->source != TA_NEW) {
			c->v = ta->vertex[v->source];
			continue;
		}
		c->v = mte_project(view, v->pos);
		if (c->v.out)
			return;
		if (view->kind == PUMICE_PRIM_KIND_LINE)
			c->v.size = view->line_width;
		for (n = 0; n < view->varyings; n++) {
			const u32 bits = ta_vo(ta->in, provoking, view->first + n);

			if (view->flat >> n & 1)
				memcpy(&poly->varyings[i][n], &bits, sizeof(bits));
			else
				poly->varyings[i][n] = v->v[n];
		}
	}
	poly->corners = p->count;
}

/* Clip by all planes; returns which of both polygons is the result, which may be empty. */
static u32 clip_polygon(const struct ta_view *view, struct polygon polygon[2])
{
	u32 now = 0, plane;

	for (plane = 0; plane < TA_PLANES && polygon[now].count; plane++) {
		if ((plane == 1 || plane == 2) && !view->depth_clip)
			continue;
		if (!is_outside(view, &polygon[now], plane))
			continue;
		clip_plane(view, plane, &polygon[now], &polygon[!now]);
		now = !now;
	}
	return now;
}

enum ta_result clip_primitive(struct ta *ta, const struct ta_prim *prim, u32 count,
			      struct gpu_fault *fault)
{
	struct polygon polygon[2];
	u32 now;

	ta->poly.corners = 0;
	if (count == 3 && is_face_culled(ta, prim))
		return TA_OK;
	ta->poly.clipped = true;
	if (count == 1)
		return TA_OK;
	if (!read_flat(ta, fault))
		return TA_FAULT;
	load(ta, prim, count, &polygon[0]);
	now = clip_polygon(&ta->view, polygon);
	if (polygon[now].count >= count)
		store_corners(ta, prim->v[ta->view.provoking], &polygon[now]);
	return TA_OK;
}

/* Set the varyings of a corner that clipping made; flat ones are the provoking vertex's. */
static void again_corner(const struct ta_view *view, const struct clip_vertex *v,
			 const struct ta_source *source, float *out)
{
	u32 n;

	if (v->source != TA_NEW) {
		memcpy(out, source[v->source].varyings, view->varyings * sizeof(*out));
		return;
	}
	for (n = 0; n < view->varyings; n++) {
		if (view->flat >> n & 1)
			memcpy(&out[n], &source[view->provoking].varyings[n], sizeof(*out));
		else
			out[n] = v->v[n];
	}
}

void ta_clip_again(const struct pumice_vdm_state *state, u8 kind, u64 flat,
		   const struct ta_source *source, u32 vertices, const u8 *corner, float *out)
{
	const struct ta_draw draw = { .state = *state, .kind = kind };
	struct polygon polygon[2] = { { .count = vertices } };
	const struct polygon *result;
	struct ta_view view;
	u32 i;

	mte_view(&view, &draw);
	view.flat = flat;
	for (i = 0; i < vertices; i++) {
		struct clip_vertex *v = &polygon[0].vertex[i];

		v->source = i;
		memcpy(v->pos, source[i].position, sizeof(v->pos));
		memcpy(v->v, source[i].varyings, view.varyings * sizeof(*v->v));
	}
	result = &polygon[clip_polygon(&view, polygon)];
	for (i = 0; i < vertices; i++) {
		const struct clip_vertex other = { .source = corner[i] % vertices };
		const struct clip_vertex *v = corner[i] < result->count ?
					      &result->vertex[corner[i]] : &other;

		again_corner(&view, v, source, out + i * view.varyings);
	}
}
