// SPDX-License-Identifier: MIT
/*
 * Boxes of a node: all four at once.
 *
 * Source: Documentation/rays.rst, "Arithmetic". The margin of a ray (ray.c) enlarges each box, so
 * that a box is missed only if every triangle in it is.
 *
 * Limits: a box with NaN may be hit or not.
 */
#include <string.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "internal.h"

typedef float boxes __attribute__((vector_size(RTU_CHILDREN * 4)));
typedef s32 bits __attribute__((vector_size(RTU_CHILDREN * 4)));

static inline boxes load(const float *from)
{
	boxes v;

	memcpy(&v, from, sizeof(v));
	return v;
}

/* a if it is greater, or less, than b; else, also with NaN, b. And a bit for each box. */
#ifdef __SSE__
static inline boxes greater(boxes a, boxes b)
{
	return (boxes)_mm_max_ps((__m128)a, (__m128)b);
}

static inline boxes less(boxes a, boxes b)
{
	return (boxes)_mm_min_ps((__m128)a, (__m128)b);
}

static inline u32 set_of(bits m)
{
	return (u32)_mm_movemask_ps((__m128)m);
}
#else
static inline boxes choose(bits m, boxes yes, boxes no)
{
	return (boxes)((m & (bits)yes) | (~m & (bits)no));
}

static inline boxes greater(boxes a, boxes b)
{
	return choose(a > b, a, b);
}

static inline boxes less(boxes a, boxes b)
{
	return choose(a < b, a, b);
}

static inline u32 set_of(bits m)
{
	return (u32)((m[0] & 1) | (m[1] & 2) | (m[2] & 4) | (m[3] & 8));
}
#endif

/* Raise low and lower high to the part of the ray between the sides of one axis. */
static inline void axis(const struct rtu_space *s, u32 a, const float *low, const float *high,
			boxes *begin, boxes *end)
{
	boxes first = load(s->negative[a] ? high : low);
	boxes last = load(s->negative[a] ? low : high);

	first = (first - s->origin[a]) * s->inverse[a] - s->margin[a];
	last = (last - s->origin[a]) * s->inverse[a] + s->margin[a];
	*begin = greater(first, *begin);
	*end = less(last, *end);
}

u32 rtu_boxes(const struct rtu_space *space, const struct pumice_rt_node *node, float min,
	      float max, float *near)
{
	boxes begin = { min, min, min, min }, end = { max, max, max, max };

	axis(space, 0, node->low_x, node->high_x, &begin, &end);
	axis(space, 1, node->low_y, node->high_y, &begin, &end);
	axis(space, 2, node->low_z, node->high_z, &begin, &end);
	memcpy(near, &begin, sizeof(begin));
	return set_of(begin <= end);
}
