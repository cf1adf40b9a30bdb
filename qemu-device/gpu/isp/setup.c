// SPDX-License-Identifier: MIT
/*
 * ISP FPU, second half: edges, depth plane and bias of a triangle.
 *
 * Source: Documentation/precision.rst, "Coverage", "Depth".
 */
#include <math.h>

#include "../number.h"
#include "isp.h"

static s32 min_of(const s32 v[3])
{
	return min_s32(min_s32(v[0], v[1]), v[2]);
}

static s32 max_of(const s32 v[3])
{
	return max_s32(max_s32(v[0], v[1]), v[2]);
}

/* Set the edge from one corner to another of a triangle of positive area. */
static void set_edge(struct isp_setup *out, u32 n, const struct isp_triangle *t, u32 from, u32 to)
{
	const s32 dx = t->x[to] - t->x[from], dy = t->y[to] - t->y[from];
	const bool top_left = dy < 0 || (!dy && dx > 0);

	out->a[n] = -dy;
	out->b[n] = dx;
	out->c[n] = (s64)dy * t->x[from] - (s64)dx * t->y[from] - !top_left;
}

static double bias_of(const struct isp_state *state, const struct isp_setup *s)
{
	double bias;

	if (!state->depth_bias)
		return 0;
	bias = (double)state->bias_constant * 0x1p-24 +
	       (double)state->bias_slope * fmax(fabs(s->dzdx), fabs(s->dzdy));
	if (state->bias_clamp > 0 && bias > (double)state->bias_clamp)
		return (double)state->bias_clamp;
	if (state->bias_clamp < 0 && bias < (double)state->bias_clamp)
		return (double)state->bias_clamp;
	return bias;
}

bool isp_set_up(const struct isp_triangle *t, const struct isp_state *state, struct isp_setup *out)
{
	const s64 area = (s64)(t->x[1] - t->x[0]) * (t->y[2] - t->y[0]) -
			 (s64)(t->x[2] - t->x[0]) * (t->y[1] - t->y[0]);
	const double per_pixel = 1.0 / (1u << PUMICE_SUBPIXEL_BITS);
	const double x10 = (t->x[1] - t->x[0]) * per_pixel, y10 = (t->y[1] - t->y[0]) * per_pixel;
	const double x20 = (t->x[2] - t->x[0]) * per_pixel, y20 = (t->y[2] - t->y[0]) * per_pixel;
	const double z10 = (double)t->z[1] - (double)t->z[0];
	const double z20 = (double)t->z[2] - (double)t->z[0];
	const double a = (double)area * (per_pixel * per_pixel);
	const u32 second = area > 0 ? 1 : 2, third = area > 0 ? 2 : 1;

	if (!area)
		return false;
	set_edge(out, 0, t, 0, second);
	set_edge(out, 1, t, second, third);
	set_edge(out, 2, t, third, 0);
	out->min_x = min_of(t->x);
	out->max_x = max_of(t->x);
	out->min_y = min_of(t->y);
	out->max_y = max_of(t->y);
	out->x0 = t->x[0] * per_pixel;
	out->y0 = t->y[0] * per_pixel;
	out->z0 = (double)t->z[0];
	out->dzdx = (z10 * y20 - z20 * y10) / a;
	out->dzdy = (z20 * x10 - z10 * x20) / a;
	out->bias = bias_of(state, out);
	return true;
}
