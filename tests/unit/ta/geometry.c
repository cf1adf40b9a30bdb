// SPDX-License-Identifier: MIT
/* Exact geometry for tests. See geometry.h. */
#include "geometry.h"

#include <math.h>

int64_t geo_area(const struct geo *g)
{
	int64_t sum = 0;
	unsigned int i;

	for (i = 0; i < g->n; i++) {
		const unsigned int j = (i + 1) % g->n;

		sum += g->x[i] * g->y[j] - g->x[j] * g->y[i];
	}
	return sum;
}

/* Along the axis (ax, ay) the interiors do not overlap. */
static bool separates(const struct geo *a, const struct geo *b, int64_t ax, int64_t ay)
{
	int64_t low[2] = { INT64_MAX, INT64_MAX }, high[2] = { INT64_MIN, INT64_MIN };
	const struct geo *g[2] = { a, b };
	unsigned int k, i;

	for (k = 0; k < 2; k++)
		for (i = 0; i < g[k]->n; i++) {
			const int64_t d = g[k]->x[i] * ax + g[k]->y[i] * ay;

			low[k] = d < low[k] ? d : low[k];
			high[k] = d > high[k] ? d : high[k];
		}
	return high[0] <= low[1] || high[1] <= low[0];
}

bool geo_meets(const struct geo *g, int64_t x0, int64_t y0, int64_t x1, int64_t y1)
{
	const struct geo r = { { x0, x1, x1, x0 }, { y0, y0, y1, y1 }, 4 };
	unsigned int i;

	if (separates(g, &r, 1, 0) || separates(g, &r, 0, 1))
		return false;
	for (i = 0; i < g->n; i++) {
		const unsigned int j = (i + 1) % g->n;

		if ((g->x[i] != g->x[j] || g->y[i] != g->y[j]) &&
		    separates(g, &r, g->y[j] - g->y[i], g->x[i] - g->x[j]))
			return false;
	}
	return true;
}

bool geo_covers(const struct geo *g, int64_t x, int64_t y)
{
	const bool flip = geo_area(g) < 0;
	unsigned int k;

	for (k = 0; k < 3; k++) {
		const unsigned int i = flip ? (k + 1) % 3 : k, j = flip ? k : (k + 1) % 3;
		const int64_t e = (g->x[j] - g->x[i]) * (y - g->y[i]) -
				  (g->y[j] - g->y[i]) * (x - g->x[i]);

		if (e < 0 || (!e && !((g->y[j] == g->y[i] && g->x[j] > g->x[i]) ||
				      g->y[j] < g->y[i])))
			return false;
	}
	return true;
}

bool geo_line(struct geo *g, int64_t x0, int64_t y0, int64_t x1, int64_t y1, double width)
{
	const double dx = (double)(x1 - x0), dy = (double)(y1 - y0);
	const double l = sqrt(dx * dx + dy * dy), h = width * 128;
	int64_t nx, ny;

	if (l == 0)
		return false;
	nx = llrint(-dy * h / l);
	ny = llrint(dx * h / l);
	*g = (struct geo){ { x0 + nx, x0 - nx, x1 - nx, x1 + nx },
			   { y0 + ny, y0 - ny, y1 - ny, y1 + ny }, 4 };
	return true;
}

void geo_point(struct geo *g, int64_t x, int64_t y, double size)
{
	const int64_t h = llrint(size * 128);

	*g = (struct geo){ { x - h, x + h, x + h, x - h }, { y - h, y - h, y + h, y + h }, 4 };
}

void geo_sample(unsigned int samples, unsigned int sample, int64_t *x, int64_t *y)
{
	static const int one[1][2] = { { 8, 8 } }, two[2][2] = { { 4, 4 }, { 12, 12 } };
	static const int four[4][2] = { { 6, 2 }, { 14, 6 }, { 2, 10 }, { 10, 14 } };
	const int *at = samples == 1 ? one[sample] : samples == 2 ? two[sample] : four[sample];

	*x = at[0] * 16;
	*y = at[1] * 16;
}
