/* SPDX-License-Identifier: MIT */
/*
 * Lines and points as rectangles.
 *
 * Source: Documentation/precision.rst, "Coverage". Corners A, B, C, D are in cyclic order;
 * the rectangle is the triangles A B C and A C D.
 */
#ifndef PUMICE_GPU_TA_SHAPE_H
#define PUMICE_GPU_TA_SHAPE_H

#include <math.h>
#include <stdbool.h>

#include "pumice_types.h"

#define SHAPE_POINT_MIN	0.0625f	/* pixels */
#define SHAPE_POINT_MAX	256.0f
#define SHAPE_LINE_MAX	64.0f

/* Positions in 1/256 pixel. */
struct shape_corners {
	s32 x[4], y[4];
};

/* Clamp the size of a point, or width of a line, to the supported range. */
static inline float shape_size(float size, float max)
{
	return fmaxf(SHAPE_POINT_MIN, fminf(max, size));
}

/* Returns false if the line has no length. */
static inline bool shape_line(s32 x0, s32 y0, s32 x1, s32 y1, float width,
			      struct shape_corners *out)
{
	const double dx = (double)(x1 - x0), dy = (double)(y1 - y0);
	const double l = sqrt(dx * dx + dy * dy), h = (double)width * 128;
	s32 nx, ny;

	if (x0 == x1 && y0 == y1)
		return false;
	nx = (s32)rint(-dy * h / l);
	ny = (s32)rint(dx * h / l);
	*out = (struct shape_corners){
		.x = { x0 + nx, x0 - nx, x1 - nx, x1 + nx },
		.y = { y0 + ny, y0 - ny, y1 - ny, y1 + ny },
	};
	return true;
}

static inline void shape_point(s32 x, s32 y, float size, struct shape_corners *out)
{
	const s32 h = (s32)rint((double)size * 128);

	*out = (struct shape_corners){
		.x = { x - h, x + h, x + h, x - h },
		.y = { y - h, y - h, y + h, y + h },
	};
}

#endif
