// SPDX-License-Identifier: MIT
/*
 * Tiling engine: find the tiles that a primitive touches.
 *
 * Source: document 004, "TE". A shape touches a tile when it has a point inside the tile's
 * part of the render target, edges of the tile not included: no sample is on them. All
 * arithmetic is on integers, so the list is exact.
 *
 * A convex shape touches an interval of the tiles in a row. It is computed from the parts of
 * the shape's edges in the row: each end of an edge in the row, and each crossing of the
 * row's limits, is a position; the interval is from the lowest to the highest of them.
 */
#include "../number.h"
#include "internal.h"

#include <string.h>

/* An interval of tile columns; empty where from > to. */
struct span {
	s32 from, to;
};

/* One row of tiles; positions in 1/256 pixel. */
struct row {
	s32 top, bottom;	/* limits of its part of the target */
	s32 tile_w, width;	/* width of a tile, of the target */
	bool inside;		/* a position is left of the target's right edge */
};

static s64 floor_div(s64 a, s64 b)
{
	const s64 q = a / b;

	return a % b < 0 ? q - 1 : q;
}

/* Extend the span to position x = num / den, den > 0. */
static void include(struct row *row, struct span *span, s64 num, s64 den)
{
	/* Tile t has points right of x where (t + 1) * w > x, left of x where t * w < x. */
	const s64 from = floor_div(num, den * row->tile_w);
	const s64 to = floor_div(num - 1, den * row->tile_w);

	if (from < span->from)
		span->from = (s32)from;
	if (to > span->to)
		span->to = (s32)to;
	if (num < row->width * den)
		row->inside = true;
}

/* Extend the span to the crossing of the edge from a to b, a above b, with height y. */
static void cross(struct row *row, struct span *span, const struct ta_shape *s, u32 a, u32 b, s32 y)
{
	const s64 dy = (s64)s->y[b] - s->y[a], dx = (s64)s->x[b] - s->x[a];

	if (s->y[a] < y && y < s->y[b])
		include(row, span, s->x[a] * dy + ((s64)y - s->y[a]) * dx, dy);
}

static struct span row_span(struct row *row, const struct ta_shape *s)
{
	struct span span = { .from = INT32_MAX, .to = INT32_MIN };
	u32 i;

	row->inside = false;
	for (i = 0; i < s->count; i++) {
		const u32 j = i + 1 < s->count ? i + 1 : 0;
		const u32 a = s->y[i] <= s->y[j] ? i : j, b = a == i ? j : i;

		if (s->y[i] >= row->top && s->y[i] <= row->bottom)
			include(row, &span, s->x[i], 1);
		cross(row, &span, s, a, b, row->top);
		cross(row, &span, s, a, b, row->bottom);
	}
	if (!row->inside)
		span.to = span.from - 1;
	return span;
}

static void touch(struct ta *ta, u32 tx, u32 ty, u32 mask)
{
	const u32 macro = ta->macro_y[ty] * PUMICE_MACRO_TILES_X + ta->macro_x[tx];

	ta->touched |= 1u << macro;
	ta->touch[ta->touches++] = (struct ta_touch){
		.tile = ty * ta->scene.tiles_x + tx, .macro = (u8)macro, .mask = (u8)mask,
	};
}

/* Return the columns or rows between two positions, on the target. */
static struct span limits(s32 low, s32 high, s32 size, u32 tiles)
{
	struct span span = {
		.from = low < 0 ? 0 : low / size,
		.to = high <= 0 ? -1 : (high - 1) / size,
	};

	if (span.to >= (s32)tiles)
		span.to = (s32)tiles - 1;
	return span;
}

/* Add the tiles of one row, for all parts of the primitive. */
static void add_row(struct ta *ta, const struct span *column, s32 ty)
{
	const struct ta_poly *poly = &ta->poly;
	const s32 tile_h = (s32)ta->scene.tile_h * 256, height = (s32)ta->scene.height * 256;
	struct row row = {
		.top = ty * tile_h, .bottom = (ty + 1) * tile_h,
		.tile_w = (s32)ta->scene.tile_w * 256, .width = (s32)ta->scene.width * 256,
	};
	struct span span[TA_SUBS], all = { .from = INT32_MAX, .to = INT32_MIN };
	s32 tx;
	u32 i;

	if (row.bottom > height)
		row.bottom = height;
	for (i = 0; i < poly->subs; i++) {
		const struct ta_shape *s = &poly->shape[i];

		span[i] = (struct span){ .from = 0, .to = -1 };
		if (s->y0 >= row.bottom || s->y1 <= row.top)
			continue;
		span[i] = row_span(&row, s);
		if (span[i].from < column->from)
			span[i].from = column->from;
		if (span[i].to > column->to)
			span[i].to = column->to;
		if (span[i].from > span[i].to)
			continue;
		all.from = span[i].from < all.from ? span[i].from : all.from;
		all.to = span[i].to > all.to ? span[i].to : all.to;
	}
	for (tx = all.from; tx <= all.to; tx++) {
		u32 mask = 0;

		for (i = 0; i < poly->subs; i++)
			if (tx >= span[i].from && tx <= span[i].to)
				mask |= 1u << i;
		if (mask)
			touch(ta, (u32)tx, (u32)ty, mask);
	}
}

/*
 * Return whether the whole shape is on the target: then, if it is in one row or one column, it
 * touches all tiles of its bounding rectangle.
 */
static bool is_inside(const struct ta *ta, const struct ta_shape *s)
{
	return s->x0 >= 0 && s->y0 >= 0 && s->x1 <= (s32)ta->scene.width * 256 &&
	       s->y1 <= (s32)ta->scene.height * 256;
}

/* Add rows of the primitive from ta.row; false when the budget ends first. */
static bool add_rows(struct ta *ta, const struct span *column, const struct span *rows)
{
	const s32 cost = TA_COST_ROW * (s32)ta->poly.subs;
	const s32 from = max_s32(ta->row, rows->from);
	const u32 before = ta->touches;
	s32 t, budget = ta->budget;

	for (t = from; t <= rows->to; t++) {
		if ((t - from) * cost + (s32)(ta->touches - before) >= budget)
			break;
		add_row(ta, column, t);
	}
	ta->budget = budget - (t - from) * cost - (s32)(ta->touches - before);
	ta->row = t;
	return t > rows->to;
}

/* A row or a column of tiles is at most one piece. */
bool te_tiles(struct ta *ta)
{
	const struct ta_poly *poly = &ta->poly;
	struct ta_shape all = poly->shape[0];
	struct span column, rows;
	s32 t;
	u32 i;

	for (i = 1; i < poly->subs; i++) {
		const struct ta_shape *s = &poly->shape[i];

		all.x0 = min_s32(s->x0, all.x0);
		all.x1 = max_s32(s->x1, all.x1);
		all.y0 = min_s32(s->y0, all.y0);
		all.y1 = max_s32(s->y1, all.y1);
	}
	column = limits(all.x0, all.x1, (s32)ta->scene.tile_w * 256, ta->scene.tiles_x);
	rows = limits(all.y0, all.y1, (s32)ta->scene.tile_h * 256, ta->scene.tiles_y);
	if (poly->subs == 1 && is_inside(ta, &all) && rows.from == rows.to) {
		for (t = column.from; t <= column.to; t++)
			touch(ta, (u32)t, (u32)rows.from, 1);
	} else if (poly->subs == 1 && is_inside(ta, &all) && column.from == column.to) {
		for (t = rows.from; t <= rows.to; t++)
			touch(ta, (u32)column.from, (u32)t, 1);
	} else {
		return add_rows(ta, &column, &rows);
	}
	ta->budget -= (s32)ta->touches;
	return true;
}
