// SPDX-License-Identifier: MIT
/*
 * Macro tiling engine: lines and points that cover no sample of the target.
 *
 * Source: document 004, "MTE"; Documentation/precision.rst, "Coverage" and "Small primitives".
 * A line or a point is a parallelogram. Its intersection with a row (or column) of samples is an
 * interval, whose ends move by a constant quotient and remainder from each row to the next: so
 * the result is exact, in integers, without a division for each row. The search ends at the first
 * covered sample, and follows the direction in which the shape has fewer rows.
 */
#include "internal.h"

#define PIXEL		256
#define CORNERS		4u

/* An edge: a u + b v + c >= 0 inside; u along the rows of samples, v across them. */
struct edge {
	s64 a, b, c;
};

/* floor(K / abs(a)) and the remainder, for K = b v + c at the current row of an edge. */
struct bound {
	s64 quotient, rest;
	s64 step, step_rest;	/* change of them from a row to the next */
	s64 divisor;		/* 0: the edge is parallel to the rows, quotient is K */
	bool lower;		/* u >= -quotient, else u <= quotient */
};

/* Rows of the samples of one number: positions in 1/256 pixel. */
struct rows {
	s64 first, count;	/* rows of pixels */
	s64 width;		/* pixels of a row */
	s64 du, dv;		/* of the sample in its pixel */
};

/* Corners are in an order of positive area. The rule of precision.rst, as part of c. */
static void set_edges(const struct ta_shape *s, bool swapped, struct edge out[CORNERS])
{
	u32 i;

	for (i = 0; i < CORNERS; i++) {
		const u32 j = (i + 1) % CORNERS;
		const s64 dx = s->x[j] - s->x[i], dy = s->y[j] - s->y[i];
		const bool top_left = dy < 0 || (!dy && dx > 0);

		out[i].a = swapped ? dx : -dy;
		out[i].b = swapped ? -dy : dx;
		out[i].c = dy * s->x[i] - dx * s->y[i] - !top_left;
	}
}

/* Divide; the remainder is at least 0. */
static s64 divide(s64 value, s64 by, s64 *rest)
{
	const s64 quotient = value / by - (value % by < 0);

	*rest = value - quotient * by;
	return quotient;
}

static void begin(const struct edge *e, s64 v, struct bound *out)
{
	const s64 k = e->b * v + e->c;

	*out = (struct bound){
		.quotient = k, .step = e->b * PIXEL, .lower = e->a > 0,
		.divisor = e->a < 0 ? -e->a : e->a,
	};
	if (!out->divisor)
		return;
	out->quotient = divide(k, out->divisor, &out->rest);
	out->step = divide(e->b * PIXEL, out->divisor, &out->step_rest);
}

static void next_row(struct bound *b)
{
	b->quotient += b->step;
	b->rest += b->step_rest;
	if (b->rest >= b->divisor && b->divisor) {
		b->rest -= b->divisor;
		b->quotient++;
	}
}

/* Return whether the interval of the current row contains a sample. */
static bool row_covers(const struct bound bound[CORNERS], const struct rows *r)
{
	s64 low = r->du, high = (r->width - 1) * PIXEL + r->du;
	u32 i;

	for (i = 0; i < CORNERS; i++) {
		const s64 quotient = bound[i].quotient;

		if (!bound[i].divisor) {
			if (quotient < 0)
				return false;
		} else if (bound[i].lower) {
			low = -quotient > low ? -quotient : low;
		} else {
			high = quotient < high ? quotient : high;
		}
	}
	/* The first sample that is not before the lower end. */
	return r->du + ((low - r->du + PIXEL - 1) & -PIXEL) <= high;
}

/* Search the rows; *left is decremented for each of them. */
static bool rows_cover(const struct edge edge[CORNERS], const struct rows *r, s64 *left)
{
	struct bound bound[CORNERS];
	s64 row;
	u32 i;

	for (i = 0; i < CORNERS; i++)
		begin(&edge[i], r->first * PIXEL + r->dv, &bound[i]);
	for (row = 0; row < r->count; row++) {
		--*left;
		if (row_covers(bound, r))
			return true;
		for (i = 0; i < CORNERS; i++)
			next_row(&bound[i]);
	}
	return false;
}

/* Get the first pixel and number of pixels of a range in 1/256 pixel, within size pixels. */
static s64 pixels_of(s32 from, s32 to, s64 size, s64 *first)
{
	const s64 start = from > 0 ? from / PIXEL : 0;
	const s64 end = to < 0 ? 0 : to / PIXEL + 1 < size ? to / PIXEL + 1 : size;

	*first = start;
	return end > start ? end - start : 0;
}

bool small_covers_sample(struct ta *ta, const struct ta_shape *s)
{
	const s64 width = ta->scene.width, height = ta->scene.height;
	s64 x, y, left = (s64)ta->budget * TA_UNIT_ROWS;
	const s64 columns = pixels_of(s->x0, s->x1, width, &x);
	const s64 lines = pixels_of(s->y0, s->y1, height, &y);
	const bool swapped = columns < lines;
	struct edge edge[CORNERS];
	bool covers = false;
	u32 i;

	set_edges(s, swapped, edge);
	for (i = 0; i < ta->scene.samples && !covers; i++) {
		const s64 dx = ta->sample_x[i], dy = ta->sample_y[i];
		const struct rows rows = {
			.first = swapped ? x : y, .count = swapped ? columns : lines,
			.width = swapped ? height : width,
			.du = swapped ? dy : dx, .dv = swapped ? dx : dy,
		};

		covers = rows_cover(edge, &rows, &left);
	}
	ta->budget = (s32)(left / TA_UNIT_ROWS);
	return covers;
}
