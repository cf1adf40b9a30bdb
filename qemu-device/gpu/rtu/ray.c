// SPDX-License-Identifier: MIT
/*
 * Rays in the space of a structure.
 *
 * Source: Documentation/rays.rst, "Arithmetic". A triangle is tested in coordinates that are
 * sheared along the ray, each rounded to f32 (triangle.c). That moves a vertex by at most a few
 * units in the last place of its distance from the origin, and boxes are enlarged by more than
 * that: so a triangle that is hit is never lost because its box is missed, and edges that two
 * triangles share have no gap.
 *
 * Limits: origins up to 2^60; the greatest component of a direction from 2^-60 to 2^60. Other rays
 * hit nothing.
 */
#include <math.h>

#include "internal.h"

#define LARGEST		0x1p60f
#define SMALLEST	0x1p-60f
/*
 * Margin of boxes by the greatest distance of the structure: at most 7 roundings of a vertex and
 * 4 of the box's t, each 2^-24 of it.
 */
#define MARGIN		0x1p-20f
#define MIN_MARGIN	0x1p-100f
/* Smaller components of a direction, by the greatest, are within the margin. */
#define MIN_SLOPE	0x1p-40f

static float greatest(const float *v)
{
	return fmaxf(fmaxf(fabsf(v[0]), fabsf(v[1])), fabsf(v[2]));
}

/* fmaxf() drops NaN. */
static bool within(const float *v)
{
	return fabsf(v[0]) <= LARGEST && fabsf(v[1]) <= LARGEST && fabsf(v[2]) <= LARGEST;
}

bool rtu_ray_valid(const struct rtu_ray *ray)
{
	return within(ray->origin) && within(ray->direction) &&
		greatest(ray->direction) >= SMALLEST;
}

static u8 greatest_axis(const float *d)
{
	u8 axis = fabsf(d[1]) > fabsf(d[0]) ? 1 : 0;

	return fabsf(d[2]) > fabsf(d[axis]) ? 2 : axis;
}

void rtu_space_set(struct rtu_space *space, const struct rtu_ray *ray,
		   const struct pumice_rt_header *structure)
{
	const float *d = ray->direction, *o = ray->origin;
	float far = 0, slope_min;

	space->z = greatest_axis(d);
	space->x = (u8)((space->z + 1) % 3);
	space->y = (u8)((space->z + 2) % 3);
	if (d[space->z] < 0) {
		u8 x = space->x;

		space->x = space->y;
		space->y = x;
	}
	space->length_z = d[space->z];
	space->shear_x = d[space->x] / d[space->z];
	space->shear_y = d[space->y] / d[space->z];
	for (u32 a = 0; a < 3; a++)
		far = fmaxf(far, fmaxf(fabsf(structure->low[a] - o[a]),
				       fabsf(structure->high[a] - o[a])));
	far = far * MARGIN + MIN_MARGIN;
	slope_min = fabsf(d[space->z]) * MIN_SLOPE;
	for (u32 a = 0; a < 3; a++) {
		float slope = fmaxf(fabsf(d[a]), slope_min);

		space->origin[a] = o[a];
		space->negative[a] = d[a] < 0;
		space->inverse[a] = 1 / (space->negative[a] ? -slope : slope);
		space->margin[a] = far / slope;
	}
}

static float row_times(const float *row, const float *v)
{
	return row[0] * v[0] + row[1] * v[1] + row[2] * v[2];
}

void rtu_ray_transform(struct rtu_ray *to, const struct rtu_ray *from,
		       const struct pumice_rt_instance *instance)
{
	for (u32 a = 0; a < 3; a++) {
		const float *row = &instance->to_object[a * 4];

		to->origin[a] = row_times(row, from->origin) + row[3];
		to->direction[a] = row_times(row, from->direction);
	}
}
