// SPDX-License-Identifier: MIT
/*
 * TSP FPU: planes of a triangle's varyings, of 1/w and of depth.
 *
 * Source: document 004, "TSP FPU"; Documentation/precision.rst, "Varyings". All in
 * f64 from exact positions; the three coefficients are rounded to f32 at the end.
 */
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
		.x0 = in->setup->x0 - in->x0, .y0 = in->setup->y0 - in->y0,
	};
}

static struct tsp_plane plane(const struct frame *f, double v0, double v1, double v2)
{
	const double d1 = v1 - v0, d2 = v2 - v0;
	const double a = d1 * f->x1 + d2 * f->x2, b = d1 * f->y1 + d2 * f->y2;

	return (struct tsp_plane){ (float)a, (float)b, (float)(v0 - a * f->x0 - b * f->y0) };
}

void tsp_set_up(const struct tsp_state *state, const struct tsp_input *in, struct tsp_plane *out)
{
	const struct isp_setup *s = in->setup;
	const struct frame f = frame_of(in);
	const u32 count = state->varyings, provoking = in->prim->index.provoking;
	const float *v[3];
	double w[3];
	u32 i, n;

	for (i = 0; i < 3; i++) {
		const u32 vertex = in->triangle->vertex[i];

		v[i] = in->value + vertex * count;
		w[i] = (double)in->prim->vertex[vertex].rw;
	}
	for (n = 0; n < count; n++) {
		if (state->flat >> n & 1)
			out[n] = (struct tsp_plane){ 0, 0, in->value[provoking * count + n] };
		else if (state->linear >> n & 1)
			out[n] = plane(&f, (double)v[0][n], (double)v[1][n], (double)v[2][n]);
		else
			out[n] = plane(&f, (double)v[0][n] * w[0], (double)v[1][n] * w[1],
				       (double)v[2][n] * w[2]);
	}
	out[count] = plane(&f, w[0], w[1], w[2]);
	out[count + 1] = (struct tsp_plane){
		(float)s->dzdx, (float)s->dzdy,
		(float)(s->z0 - s->dzdx * f.x0 - s->dzdy * f.y0 + s->bias),
	};
}
