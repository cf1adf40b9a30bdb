// SPDX-License-Identifier: MIT
/*
 * Triangles: watertight.
 *
 * Source: Documentation/rays.rst, "Arithmetic". The vertices are sheared so that the ray is the z
 * axis: x and y of a vertex are f32 and depend on the vertex and the ray only. On which side of an
 * edge the ray passes is the sign of a difference of two products, which f64 has exactly; so both
 * triangles of an edge see the ray at the same side of it, and a ray between them hits at least
 * one.
 *
 * Limits: a triangle that the ray sees from the edge is not hit.
 */
#include "internal.h"

/* A vertex, relative to the ray. */
struct point {
	double x, y;	/* f32 values */
	float z;	/* along the ray, not divided by its length */
};

static inline struct point shear(const struct rtu_space *s, const float *v)
{
	const float z = v[s->z] - s->origin[s->z];
	const float x = v[s->x] - s->origin[s->x] - s->shear_x * z;
	const float y = v[s->y] - s->origin[s->y] - s->shear_y * z;

	return (struct point){ .x = x, .y = y, .z = z };
}

/* Positive if the ray passes at the left of the edge from a to b. */
static inline double side(const struct point *a, const struct point *b)
{
	return a->x * b->y - a->y * b->x;
}

/* Round to f32; a zero is positive. */
static inline float rounded(double number)
{
	return (float)(number + 0.0);
}

/* Of hits of equal t the lowest instance and then primitive is the closest. */
static inline bool closer(const struct rtu_hit *hit, float t, u32 instance, u32 primitive)
{
	if (t < hit->t || hit->kind == PUMICE_RT_HIT_NONE)
		return true;
	return instance < hit->instance ||
	       (instance == hit->instance && primitive < hit->primitive);
}

bool rtu_triangle(const struct rtu_space *space, const struct pumice_rt_triangle *triangle,
		  float min, u32 instance, struct rtu_hit *hit)
{
	const struct point a = shear(space, triangle->v0), b = shear(space, triangle->v1),
			   c = shear(space, triangle->v2);
	const double u = side(&b, &c), v = side(&c, &a), w = side(&a, &b);
	double sum;
	float t;

	if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0))
		return false;
	sum = u + v + w;
	if (!(sum < 0 || sum > 0))
		return false;
	t = rounded((u * a.z + v * b.z + w * c.z) / (sum * space->length_z));
	if (!(t >= min && t <= hit->t) || !closer(hit, t, instance, triangle->primitive))
		return false;
	*hit = (struct rtu_hit){
		.t = t, .u = rounded(v / sum), .v = rounded(w / sum), .instance = instance,
		.primitive = triangle->primitive,
		.kind = sum < 0 ? PUMICE_RT_HIT_FRONT : PUMICE_RT_HIT_BACK,
	};
	return true;
}
