/* SPDX-License-Identifier: MIT */
/*
 * Exact geometry for tests, by other methods than the device's: separating axes for
 * intersections, and the coverage rule sample by sample. Source: Documentation/precision.rst.
 */
#ifndef PUMICE_TA_GEOMETRY_H
#define PUMICE_TA_GEOMETRY_H

#include <stdbool.h>
#include <stdint.h>

/* A convex polygon, 1/256 pixel. */
struct geo {
	int64_t x[4], y[4];
	unsigned int n;
};

/* Return twice the area, positive if clockwise on the screen. */
int64_t geo_area(const struct geo *g);
/* Return whether the interior of g intersects that of the rectangle. */
bool geo_meets(const struct geo *g, int64_t x0, int64_t y0, int64_t x1, int64_t y1);
/* Return whether the sample at x, y is covered: triangles only. */
bool geo_covers(const struct geo *g, int64_t x, int64_t y);
/* Line and point as specified. False: empty. */
bool geo_line(struct geo *g, int64_t x0, int64_t y0, int64_t x1, int64_t y1, double width);
void geo_point(struct geo *g, int64_t x, int64_t y, double size);
/* Get the position of a sample in its pixel, 1/256 pixel. */
void geo_sample(unsigned int samples, unsigned int sample, int64_t *x, int64_t *y);

#endif
