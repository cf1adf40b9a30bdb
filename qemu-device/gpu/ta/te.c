// SPDX-License-Identifier: MIT
/*
 * Tiling engine: find the tiles that a primitive touches.
 *
 * Source: document 004, "TE". A shape touches a tile when it has a point inside the tile's
 * part of the render target, edges of the tile not included: no sample is on them. All
 * arithmetic is on integers, so the list is exact and minimal.
 *
 * Two algorithms:
 * - A primitive on the target within one row or one column of tiles touches all tiles of its
 *   bounding rectangle.
 * - For others, edges are followed from row to row of tiles. A convex shape touches an
 *   interval of the tiles in a row: from the lowest to the highest of its corners in the row
 *   and of the positions where edges cross the row's limits. From one limit to the next an
 *   edge moves by a constant number of columns and a constant rest.
 */
#include "../number.h"
#include "internal.h"

#include <string.h>

/* An interval of tile columns; empty where from > to. */
struct span {
	s32 from, to;
};

/* Sizes in 1/256 pixel. */
struct grid {
	s32 tile_w, tile_h;
	s32 width, height;	/* of the target */
};

/* Limits of a row's part of the target, 1/256 pixel. */
struct row {
	s32 top, bottom;
	bool cut;		/* by the lower edge of the target */
};

/* A position, by tiles. */
struct place {
	struct span span;	/* place_at() */
	bool inside;		/* left of the right edge of the target */
};

/*
 * An edge of a shape, and its position on a horizontal line: column + rest / den tiles from the
 * left, 0 <= rest < den. The line may be above or below the edge: then on its straight line.
 */
struct edge {
	s32 x, top, bottom;		/* upper end, y of the lower end; top < bottom */
	s64 dx, den;
	s64 column, rest;
	s64 step_column, step_rest;	/* from a row to the next one */
	s64 end_column, end_rest;	/* of the right edge of the target */
};

/* Corners and edges of a shape, from the first row that it is in. */
struct outline {
	bool started;
	struct place corner[4];
	struct edge edge[4];
	u32 edges;
};

/* Return floor(a / b), b > 0, and a - b * floor(a / b) in *rest. */
static s64 divide(s64 a, s64 b, s64 *rest)
{
	s64 q = a / b;

	*rest = a % b;
	if (*rest < 0) {
		*rest += b;
		q--;
	}
	return q;
}

/* From the first tile with points right of the position to the last one with points left of it. */
static struct place place_at(s64 column, s64 rest, bool inside)
{
	return (struct place){ { (s32)column, (s32)(rest ? column : column - 1) }, inside };
}

static void include(struct place *all, const struct place *place)
{
	all->span.from = min_s32(all->span.from, place->span.from);
	all->span.to = max_s32(all->span.to, place->span.to);
	all->inside |= place->inside;
}

static void include_edge(struct place *all, const struct edge *e)
{
	const bool inside = e->column < e->end_column ||
			    (e->column == e->end_column && e->rest < e->end_rest);
	const struct place place = place_at(e->column, e->rest, inside);

	include(all, &place);
}

static void move_edge(struct edge *e, s32 y)
{
	const s64 dy = (s64)e->bottom - e->top;

	e->column = divide(e->x * dy + ((s64)y - e->top) * e->dx, e->den, &e->rest);
}

static void step_edge(struct edge *e)
{
	e->column += e->step_column;
	e->rest += e->step_rest;
	if (e->rest >= e->den) {
		e->rest -= e->den;
		e->column++;
	}
}

/* The edge between two corners with different y, on the line at y. */
static void start_edge(struct edge *e, const struct grid *grid, const struct ta_shape *s, u32 i,
		       u32 j, s32 y)
{
	const u32 a = s->y[i] < s->y[j] ? i : j, b = a == i ? j : i;
	const s64 dy = (s64)s->y[b] - s->y[a];

	e->x = s->x[a];
	e->top = s->y[a];
	e->bottom = s->y[b];
	e->dx = (s64)s->x[b] - s->x[a];
	e->den = dy * grid->tile_w;
	e->step_column = divide(e->dx * grid->tile_h, e->den, &e->step_rest);
	e->end_column = grid->width / grid->tile_w;
	e->end_rest = grid->width % grid->tile_w * dy;
	move_edge(e, y);
}

static void start_outline(struct outline *o, const struct grid *grid, const struct ta_shape *s,
			  s32 y)
{
	s64 column, rest;
	u32 i;

	o->started = true;
	o->edges = 0;
	for (i = 0; i < s->count; i++) {
		const u32 j = i + 1 < s->count ? i + 1 : 0;

		column = divide(s->x[i], grid->tile_w, &rest);
		o->corner[i] = place_at(column, rest, s->x[i] < grid->width);
		if (s->y[i] != s->y[j])
			start_edge(&o->edge[o->edges++], grid, s, i, j, y);
	}
}

/*
 * Return the tiles of the row that the shape touches; the row follows that of the last call, or
 * is the shape's first one.
 */
static struct span row_span(struct outline *o, const struct grid *grid, const struct row *row,
			    const struct ta_shape *s)
{
	struct place all = { .span = { .from = INT32_MAX, .to = INT32_MIN } };
	u32 i;

	if (!o->started)
		start_outline(o, grid, s, row->top);
	for (i = 0; i < s->count; i++)
		if (s->y[i] >= row->top && s->y[i] <= row->bottom)
			include(&all, &o->corner[i]);
	for (i = 0; i < o->edges; i++) {
		struct edge *e = &o->edge[i];

		if (e->top < row->top && row->top < e->bottom)
			include_edge(&all, e);
		if (row->cut)
			move_edge(e, row->bottom);
		else
			step_edge(e);
		if (e->top < row->bottom && row->bottom < e->bottom)
			include_edge(&all, e);
	}
	if (!all.inside)
		all.span.to = all.span.from - 1;
	return all.span;
}

static void touch(struct ta *ta, u32 tx, u32 ty, u32 mask)
{
	const u32 macro = ta->macro_y[ty] * PUMICE_MACRO_TILES_X + ta->macro_x[tx];

	ta->touched |= 1u << macro;
	ta->touch[ta->touches++] = (struct ta_touch){
		.tile = ty * ta->scene.tiles_x + tx, .macro = (u8)macro, .mask = (u8)mask,
	};
}

/* Return the columns or rows between two positions, on the target. size: of a tile, pixels. */
static struct span limits(s32 low, s32 high, u32 size, u32 tiles)
{
	/* A power of two: this is on the path of each primitive, where divisions would be slow. */
	const int shift = __builtin_ctz(size * 256);
	struct span span = {
		.from = low < 0 ? 0 : low >> shift,
		.to = high <= 0 ? -1 : (high - 1) >> shift,
	};

	if (span.to >= (s32)tiles)
		span.to = (s32)tiles - 1;
	return span;
}

/* Add the tiles of row ty, for all parts of the primitive. */
static void add_row(struct ta *ta, const struct grid *grid, struct outline *outline,
		    const struct span *column, s32 ty)
{
	const struct ta_poly *poly = &ta->poly;
	const s32 top = ty * grid->tile_h, bottom = top + grid->tile_h;
	const struct row row = {
		.top = top, .bottom = min_s32(bottom, grid->height), .cut = bottom > grid->height,
	};
	struct span span[TA_SUBS], all = { .from = INT32_MAX, .to = INT32_MIN };
	s32 tx;
	u32 i;

	for (i = 0; i < poly->subs; i++) {
		const struct ta_shape *s = &poly->shape[i];

		span[i] = (struct span){ .from = 0, .to = -1 };
		if (s->y0 >= row.bottom || s->y1 <= row.top)
			continue;
		span[i] = row_span(&outline[i], grid, &row, s);
		span[i].from = max_s32(span[i].from, column->from);
		span[i].to = min_s32(span[i].to, column->to);
		if (span[i].from > span[i].to)
			continue;
		all.from = min_s32(span[i].from, all.from);
		all.to = max_s32(span[i].to, all.to);
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
	const struct grid grid = {
		.tile_w = (s32)ta->scene.tile_w * 256, .tile_h = (s32)ta->scene.tile_h * 256,
		.width = (s32)ta->scene.width * 256, .height = (s32)ta->scene.height * 256,
	};
	struct outline outline[TA_SUBS];
	s32 t, budget = ta->budget;
	u32 i;

	for (i = 0; i < ta->poly.subs; i++)
		outline[i].started = false;
	for (t = from; t <= rows->to; t++) {
		if ((t - from) * cost + (s32)(ta->touches - before) >= budget)
			break;
		add_row(ta, &grid, outline, column, t);
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
	column = limits(all.x0, all.x1, ta->scene.tile_w, ta->scene.tiles_x);
	rows = limits(all.y0, all.y1, ta->scene.tile_h, ta->scene.tiles_y);
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
