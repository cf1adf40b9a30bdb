// SPDX-License-Identifier: MIT
/* Reference of ray queries. See rays.h. */
#include <math.h>
#include <stddef.h>

#include "rays.h"

/* Triangles that are missed by more than this do not reduce the margin. */
#define NEAR_EDGE	1e-4
#define NEAR_END	1e-3

static double dot(const double *a, const double *b)
{
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Intersect the ray's line with the plane of a triangle. Returns the determinant. */
static double intersect(const struct ref_ray *ray, const float *corner, struct ref_hit *hit)
{
	const double d[3] = { ray->direction[0], ray->direction[1], ray->direction[2] };
	double e[3], f[3], o[3], p[3], q[3], det;

	for (uint32_t k = 0; k < 3; k++) {
		e[k] = (double)corner[3 + k] - corner[k];
		f[k] = (double)corner[6 + k] - corner[k];
		o[k] = (double)ray->origin[k] - corner[k];
	}
	for (uint32_t k = 0; k < 3; k++) {
		const uint32_t i = (k + 1) % 3, j = (k + 2) % 3;

		p[k] = d[i] * f[j] - d[j] * f[i];
		q[k] = o[i] * e[j] - o[j] * e[i];
	}
	det = dot(e, p);
	hit->u = dot(o, p) / det;
	hit->v = dot(d, q) / det;
	hit->t = dot(f, q) / det;
	return det;
}

void ref_trace(const struct ref_ray *ray, const float *vertices, uint32_t triangles,
	       struct ref_hit *hit)
{
	double margin = INFINITY;

	*hit = (struct ref_hit){ .triangle = REF_MISS, .t = INFINITY };
	for (uint32_t n = 0; n < triangles; n++) {
		struct ref_hit at = { .triangle = n };
		double edge, end;

		at.front = intersect(ray, vertices + (size_t)n * 9, &at) > 0;
		edge = fmin(fmin(at.u, at.v), 1 - at.u - at.v);
		end = fmin(at.t - ray->min, ray->max - at.t);
		if (edge > -NEAR_EDGE && end > -NEAR_END)
			margin = fmin(margin, fmin(fabs(edge), fabs(end)));
		if (!(edge >= 0) || end < 0)
			continue;
		margin = fmin(margin, fabs(at.t - hit->t));
		if (at.t < hit->t)
			*hit = at;
	}
	hit->margin = margin;
}
