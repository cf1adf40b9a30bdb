// SPDX-License-Identifier: MIT
/* Reference rasteriser: clipping and screen positions. Source: Documentation/precision.rst. */
#include <math.h>
#include <string.h>

#include "reference.h"

#define GUARD	16384.0f
#define PLANES	7

/* Return the distance of a vertex from plane n; each operation is rounded to f32. */
static float distance(const struct ref_state *s, const struct ref_vertex *v, unsigned int n)
{
	const float x = v->pos[0], y = v->pos[1], z = v->pos[2], w = v->pos[3];
	volatile float a, b;

	switch (n) {
	case 0:
		return w - 0x1p-32f;
	case 1:
		return s->clip_minus_w ? z + w : z;
	case 2:
		return w - z;
	case 3:
		a = x * s->scale[0];
		b = s->offset[0] + GUARD;
		b = b * w;
		return a + b;
	case 4:
		a = GUARD - s->offset[0];
		a = a * w;
		b = x * s->scale[0];
		return a - b;
	case 5:
		a = y * s->scale[1];
		b = s->offset[1] + GUARD;
		b = b * w;
		return a + b;
	default:
		a = GUARD - s->offset[1];
		a = a * w;
		b = y * s->scale[1];
		return a - b;
	}
}

static float between(float a, float b, float t)
{
	volatile float d = b - a, e = d * t;

	return a + e;
}

static struct ref_vertex cut(const struct ref_state *s, const struct ref_vertex *in, float din,
			     const struct ref_vertex *out, float dout)
{
	volatile float d = din - dout;
	const float t = din / d;
	struct ref_vertex v = *in;
	unsigned int i;

	for (i = 0; i < 4; i++)
		v.pos[i] = between(in->pos[i], out->pos[i], t);
	for (i = 0; i < s->varyings; i++)
		v.v[i] = between(in->v[i], out->v[i], t);
	return v;
}

/* Clip a polygon, or a line, by one plane. */
static void clip_plane(const struct ref_state *s, struct ref_polygon *p, unsigned int plane)
{
	const struct ref_polygon in = *p;
	const bool closed = in.count > 2;
	float d[REF_POLYGON];
	bool all = true;
	unsigned int i;

	for (i = 0; i < in.count; i++) {
		d[i] = distance(s, &in.vertex[i], plane);
		all = all && d[i] >= 0;
	}
	if (all)
		return;
	p->count = 0;
	for (i = 0; i < in.count; i++) {
		const unsigned int j = (i + 1) % in.count;

		if (d[i] >= 0)
			p->vertex[p->count++] = in.vertex[i];
		if (j == 0 && !closed)
			break;
		if (d[i] >= 0 && !(d[j] >= 0))
			p->vertex[p->count++] = cut(s, &in.vertex[i], d[i], &in.vertex[j], d[j]);
		else if (!(d[i] >= 0) && d[j] >= 0)
			p->vertex[p->count++] = cut(s, &in.vertex[j], d[j], &in.vertex[i], d[i]);
	}
}

/* Return the product of two f32, rounded to f64. */
static double product(float a, float b)
{
	volatile double p = (double)a * (double)b;

	return p;
}

/* Return the determinant of x, y, w, with the sign of a clockwise area on the screen. */
static double orientation(const struct ref_state *s, const struct ref_vertex *v)
{
	volatile double sum = 0, term;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		const float *p = v[(i + 1) % 3].pos, *q = v[(i + 2) % 3].pos;

		term = product(p[1], q[3]) - product(q[1], p[3]);
		term = (double)v[i].pos[0] * term;
		sum = sum + term;
	}
	for (i = 0; i < 2; i++)
		if (s->scale[i] < 0)
			sum = -sum;
	return sum;
}

bool ref_culls(const struct ref_state *state, const struct ref_vertex *triangle)
{
	const double d = orientation(state, triangle);

	if (d == 0)
		return false;
	return (d < 0) == state->front_ccw ? state->cull_front : state->cull_back;
}

/* Return whether a vertex is outside of a plane, so that the primitive has to be clipped. */
static bool crosses(const struct ref_state *s, const struct ref_vertex *v, unsigned int count)
{
	unsigned int plane, i;

	for (plane = 0; plane < PLANES; plane++) {
		if ((plane == 1 || plane == 2) && !s->depth_clip)
			continue;
		for (i = 0; i < count; i++)
			if (!(distance(s, &v[i], plane) >= 0))
				return true;
	}
	return false;
}

bool ref_clip(const struct ref_state *state, const struct ref_vertex *vertices, unsigned int count,
	      struct ref_polygon *polygon)
{
	unsigned int plane, i, k;

	for (i = 0; i < count; i++)
		for (k = 0; k < 4; k++)
			if (!isfinite(vertices[i].pos[k]))
				return false;
	if (count == 3 && crosses(state, vertices, count) && ref_culls(state, vertices))
		return false;
	polygon->count = count;
	memcpy(polygon->vertex, vertices, count * sizeof(*vertices));
	for (plane = 0; plane < PLANES && polygon->count; plane++) {
		if ((plane == 1 || plane == 2) && !state->depth_clip)
			continue;
		clip_plane(state, polygon, plane);
	}
	return polygon->count >= count;
}

bool ref_project(const struct ref_state *state, const struct ref_vertex *vertex,
		 struct ref_screen *out)
{
	volatile float s[3];
	unsigned int i;

	for (i = 0; i < 3; i++) {
		s[i] = vertex->pos[i] / vertex->pos[3];
		s[i] = s[i] * state->scale[i];
		s[i] = s[i] + state->offset[i];
		if (i < 2 && fabsf(s[i]) > GUARD + 256)
			s[i] = copysignf(GUARD + 256, s[i]);
	}
	if (isnan(s[0]) || isnan(s[1]))
		return false;
	*out = (struct ref_screen){
		.x = (int64_t)rint((double)s[0] * 256), .y = (int64_t)rint((double)s[1] * 256),
		.z = s[2], .rw = 1.0f / vertex->pos[3], .size = vertex->size, .v = vertex->v,
	};
	return true;
}

void ref_sample(uint32_t samples, uint32_t sample, int64_t *x, int64_t *y)
{
	static const int at[5][4][2] = {
		[1] = { { 8, 8 } },
		[2] = { { 4, 4 }, { 12, 12 } },
		[4] = { { 6, 2 }, { 14, 6 }, { 2, 10 }, { 10, 14 } },
	};

	*x = at[samples][sample][0] * 16;
	*y = at[samples][sample][1] * 16;
}
