// SPDX-License-Identifier: MIT
/*
 * TSP FPU: planes of a triangle's varyings, of 1/w and of depth.
 *
 * Source: document 004, "TSP FPU"; Documentation/precision.rst, "Varyings" and
 * "Point coordinates". All in f64 from exact positions; the three coefficients are rounded to
 * f32 at the end.
 */
#include "../number.h"
#include "tsp.h"

/* Common to all planes of a triangle: coefficients of slopes from values at the corners. */
struct frame {
	double x1, x2;		/* slope in x is x1 (v1 - v0) + x2 (v2 - v0) */
	double y1, y2;
	double x0, y0;		/* of the first corner, from the tile's corner, pixels */
};

static struct frame frame_of(const struct tsp_input *in)
{
	const struct isp_triangle *t = in->triangle;
	const double per_pixel = 1.0 / (1u << PUMICE_SUBPIXEL_BITS);
	const double x10 = (t->x[1] - t->x[0]) * per_pixel, y10 = (t->y[1] - t->y[0]) * per_pixel;
	const double x20 = (t->x[2] - t->x[0]) * per_pixel, y20 = (t->y[2] - t->y[0]) * per_pixel;
	const double over_area = 1.0 / (x10 * y20 - x20 * y10);

	return (struct frame){
		.x1 = y20 * over_area, .x2 = -y10 * over_area,
		.y1 = -x20 * over_area, .y2 = x10 * over_area,
		.x0 = t->x[0] * per_pixel - in->x0, .y0 = t->y[0] * per_pixel - in->y0,
	};
}

static struct tsp_plane plane(const struct frame *f, double v0, double v1, double v2)
{
	const double d1 = v1 - v0, d2 = v2 - v0;
	const double a = d1 * f->x1 + d2 * f->x2, b = d1 * f->y1 + d2 * f->y2;

	return (struct tsp_plane){ (float)a, (float)b, (float)(v0 - a * f->x0 - b * f->y0) };
}

/* Corners of the triangle that planes are computed from. */
struct corners {
	const float *value[3];	/* varyings */
	double w[3];		/* 1/w */
};

/*
 * Compute the plane of a component of a point's coordinate: 0 at the sides of the least x and y,
 * with the origin at the lower left of the greatest y, and 1 at the opposite ones.
 */
static struct tsp_plane point_plane(const struct tsp_state *state, const struct tsp_input *in,
				    const struct frame *f, const struct corners *c, u32 n)
{
	const bool second = n != state->point_varying, flip = second && state->point_lower_left;
	const bool linear = (state->flat | state->linear) >> n & 1;
	const s32 *at = second ? in->triangle->y : in->triangle->x;
	const s32 low = min_s32(min_s32(at[0], at[1]), at[2]);
	double v[3];
	u32 i;

	for (i = 0; i < 3; i++) {
		const bool far = at[i] > low;

		v[i] = far == flip ? 0 : linear ? 1 : c->w[i];
	}
	return plane(f, v[0], v[1], v[2]);
}

static struct tsp_plane varying_plane(const struct tsp_state *state, const struct tsp_input *in,
				      const struct frame *f, const struct corners *c, u32 n)
{
	const float *const *v = c->value;
	const double *w = c->w;

	if (in->point && state->point_coord && n - state->point_varying < 2)
		return point_plane(state, in, f, c, n);
	if (state->flat >> n & 1)
		return (struct tsp_plane){
			0, 0, in->value[in->prim->index.provoking][n],
		};
	if (state->linear >> n & 1)
		return plane(f, (double)v[0][n], (double)v[1][n], (double)v[2][n]);
	return plane(f, (double)v[0][n] * w[0], (double)v[1][n] * w[1], (double)v[2][n] * w[2]);
}

void tsp_set_up(const struct tsp_state *state, const struct tsp_input *in, struct tsp_plane *out)
{
	const struct isp_setup *s = in->depth;
	const struct frame f = frame_of(in);
	const u32 count = state->varyings;
	struct corners c;
	u64 left;
	u32 i;

	for (i = 0; i < 3; i++) {
		const u32 vertex = in->triangle->vertex[i];

		c.value[i] = in->value[vertex];
		c.w[i] = (double)in->prim->vertex[vertex].rw;
	}
	for (left = in->needed; left; left &= left - 1) {
		const u32 n = (u32)__builtin_ctzll(left);

		out[n] = varying_plane(state, in, &f, &c, n);
	}
	out[count] = plane(&f, c.w[0], c.w[1], c.w[2]);
	if (!s)
		return;
	out[count + 1] = (struct tsp_plane){
		(float)s->dzdx, (float)s->dzdy,
		(float)(s->z0 - s->dzdx * f.x0 - s->dzdy * f.y0 + s->bias),
	};
}
