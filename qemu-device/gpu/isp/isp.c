// SPDX-License-Identifier: MIT
/*
 * ISP: rasterisation of a triangle in a tile.
 *
 * Source: document 004, "ISP"; Documentation/precision.rst. Determines the chunks of the tile
 * that the triangle may touch and the edges that cross them; the vector loops do the rest.
 */
#include "isp.h"

#include <string.h>

#include "../levels/levels.h"
#include "../number.h"
#include "draw.h"

#define SUBPIXELS	256
#define SIXTEENTH	(SUBPIXELS / 16)

_Static_assert(1u << PUMICE_SUBPIXEL_BITS == SUBPIXELS, "positions");

void isp_tile_clear_tags(struct isp_tile *tile)
{
	const u32 pixels = tile->width * 2, first = tile->row0 * pixels;
	u32 s;

	if (tile->row1 > tile->row0)
		for (s = 0; s < tile->samples; s++)
			memset(&tile->tag[s][first], 0,
			       (tile->row1 - tile->row0) * pixels * sizeof(tile->tag[0][0]));
	tile->row0 = tile->height / 2;
	tile->row1 = 0;
	tile->late = false;
}

void isp_tile_clear(struct isp_tile *tile, float depth, u8 stencil)
{
	u32 s, p;

	for (s = 0; s < tile->samples; s++)
		for (p = 0; p < PUMICE_TILE_PIXELS; p++)
			tile->depth[s][p] = depth;
	memset(tile->stencil, stencil, tile->samples * sizeof(tile->stencil[0]));
	tile->row0 = 0;
	tile->row1 = tile->height / 2;
	isp_tile_clear_tags(tile);
}

static isp_raster_fn *find_raster(void)
{
#ifdef __x86_64__
	if (gpu_level_usable(GPU_LEVEL_AVX512))
		return isp_raster_avx512;
	if (gpu_level_usable(GPU_LEVEL_AVX2))
		return isp_raster_avx2;
#endif
	return isp_raster_base;
}

static isp_raster_fn *_Atomic chosen;

void isp_use_raster(isp_raster_fn *fn)
{
	atomic_store(&chosen, fn);
}

static void raster(struct isp_tile *tile, const struct isp_draw *draw, struct isp_done *done)
{
	isp_raster_fn *fn = atomic_load_explicit(&chosen, memory_order_relaxed);

	if (!fn) {
		fn = find_raster();
		atomic_store_explicit(&chosen, fn, memory_order_relaxed);
	}
	fn(tile, draw, done);
}

/* Pixels of the tile, x1 and y1 exclusive. */
struct bounds {
	s32 x0, x1, y0, y1;
};

/*
 * Return the pixels whose samples may be in the triangle's box; no sample is closer to a
 * pixel's edge than 2/16.
 */
static struct bounds box_of(const struct isp_tile *tile, const struct isp_setup *s)
{
	const s32 near = tile->samples == 1 ? SUBPIXELS / 2 : 2 * SIXTEENTH, far = SUBPIXELS - near;
	const s32 x = (s32)tile->x0, y = (s32)tile->y0;

	return (struct bounds){
		.x0 = ((s->min_x - far + SUBPIXELS - 1) >> PUMICE_SUBPIXEL_BITS) - x,
		.x1 = ((s->max_x - near) >> PUMICE_SUBPIXEL_BITS) + 1 - x,
		.y0 = ((s->min_y - far + SUBPIXELS - 1) >> PUMICE_SUBPIXEL_BITS) - y,
		.y1 = ((s->max_y - near) >> PUMICE_SUBPIXEL_BITS) + 1 - y,
	};
}

static void add_edge(struct isp_draw *d, s32 a, s32 b, s32 c)
{
	const u32 n = d->edges++;
	u32 s;

	d->a[n] = a;
	d->b[n] = b;
	for (s = 0; s < PUMICE_MAX_SAMPLES; s++)
		d->c[s][n] = c;
}

/*
 * Clip to target and scissor, adding edges where they cross the chunks. False: no pixel
 * remains.
 */
static bool clip(const struct isp_tile *tile, const struct isp_state *state, struct bounds *box,
		 struct isp_draw *d)
{
	const s32 x0 = max_s32(0, state->x0 - (s32)tile->x0);
	const s32 x1 = min_s32((s32)tile->clip_x, state->x1 - (s32)tile->x0);
	const s32 y0 = max_s32(0, state->y0 - (s32)tile->y0);
	const s32 y1 = min_s32((s32)tile->clip_y, state->y1 - (s32)tile->y0);

	if (box->x0 < x0) {
		box->x0 = x0;
		if (x0 % 4)
			add_edge(d, 1, 0, -x0);
	}
	if (box->x1 > x1) {
		box->x1 = x1;
		if (x1 % 4)
			add_edge(d, -1, 0, x1 - 1);
	}
	if (box->y0 < y0) {
		box->y0 = y0;
		if (y0 % 2)
			add_edge(d, 0, 1, -y0);
	}
	if (box->y1 > y1) {
		box->y1 = y1;
		if (y1 % 2)
			add_edge(d, 0, -1, y1 - 1);
	}
	return box->x0 < box->x1 && box->y0 < box->y1;
}

/* Samples of the tile's first pixel, 1/256 pixel from the target's corner. */
struct positions {
	s32 x[PUMICE_MAX_SAMPLES], y[PUMICE_MAX_SAMPLES];
};

/*
 * Add one edge for the chunks' pixels; false if no pixel is inside. It is omitted if it is
 * true everywhere; else its values there fit 32 bits: it changes sign within 32 x 32 pixels.
 */
static bool add_triangle_edge(struct isp_draw *d, const struct positions *at,
			      const struct isp_setup *s, u32 edge)
{
	const s64 a = s->a[edge], b = s->b[edge];
	const s64 x0 = d->col0 * 4, x1 = d->col1 * 4 - 1, y0 = d->row0 * 2, y1 = d->row1 * 2 - 1;
	const s64 low = (a < 0 ? a * x1 : a * x0) + (b < 0 ? b * y1 : b * y0);
	const s64 high = (a < 0 ? a * x0 : a * x1) + (b < 0 ? b * y0 : b * y1);
	bool any = false, all = true;
	s64 c[PUMICE_MAX_SAMPLES];
	u32 i;

	for (i = 0; i < d->samples; i++) {
		c[i] = (s->c[edge] + a * at->x[i] + b * at->y[i]) >> PUMICE_SUBPIXEL_BITS;
		any |= c[i] + high >= 0;
		all &= c[i] + low >= 0;
	}
	if (!any || all)
		return any;
	d->a[d->edges] = (s32)a;
	d->b[d->edges] = (s32)b;
	/*
	 * A sample that is inside or outside everywhere may exceed the others' range by less
	 * than a pixel's step; the sum still fits.
	 */
	for (i = 0; i < d->samples; i++)
		d->c[i][d->edges] = (s32)c[i];
	d->edges++;
	return true;
}

/* Set up chunks, edges and depth plane. False when the triangle covers no part of the tile. */
static bool prepare(const struct isp_tile *tile, const struct isp_setup *s,
		    const struct isp_state *state, struct isp_draw *d)
{
	const double per_pixel = 1.0 / SUBPIXELS;
	struct bounds box = box_of(tile, s);
	struct positions at;
	u32 i, x16, y16;

	d->edges = 0;
	if (!clip(tile, state, &box, d))
		return false;
	d->col0 = (u32)box.x0 / 4;
	d->col1 = (u32)(box.x1 + 3) / 4;
	d->row0 = (u32)box.y0 / 2;
	d->row1 = (u32)(box.y1 + 1) / 2;
	d->chunks = tile->width / 4;
	d->samples = tile->samples;
	d->mask = state->sample_mask & ((1u << tile->samples) - 1);
	for (i = 0; i < tile->samples; i++) {
		usc_gfx_sample_position(tile->samples, i, &x16, &y16);
		at.x[i] = (s32)(tile->x0 * SUBPIXELS + x16 * SIXTEENTH);
		at.y[i] = (s32)(tile->y0 * SUBPIXELS + y16 * SIXTEENTH);
	}
	for (i = 0; i < 3; i++)
		if (!add_triangle_edge(d, &at, s, i))
			return false;
	d->z0 = s->z0;
	d->dzdx = s->dzdx;
	d->dzdy = s->dzdy;
	d->bias = s->bias;
	for (i = 0; i < tile->samples; i++) {
		d->x[i] = at.x[i] * per_pixel - s->x0;
		d->y[i] = at.y[i] * per_pixel - s->y0;
	}
	return d->mask;
}

static void set_tests(struct isp_draw *d, const struct isp_state *state, bool back)
{
	d->blends = state->pass_type != PUMICE_PASS_TYPE_OPAQUE;
	d->test = state->pass_type != PUMICE_PASS_TYPE_DEPTH_WRITE && !isp_tests_late(state);
	d->depth_func = state->depth_func;
	d->depth_write = state->depth_write;
	d->stencil = state->stencil;
	d->face = state->face[back];
	d->mask_test = state->mask_test;
	d->mask_op = state->mask_op;
}

bool isp_must_flush(const struct isp_tile *tile, const struct isp_setup *setup,
		    const struct isp_state *state, bool back)
{
	struct isp_draw d;
	struct isp_done done;

	if (tile->row0 >= tile->row1 ||
	    (state->pass_type == PUMICE_PASS_TYPE_OPAQUE && !tile->late) ||
	    !prepare(tile, setup, state, &d))
		return false;
	d.mode = ISP_PROBE;
	set_tests(&d, state, back);
	/* A probe writes nothing. */
	raster((struct isp_tile *)(uintptr_t)tile, &d, &done);
	return done.overlap;
}

bool isp_accesses(const struct isp_tile *tile, const struct isp_setup *setup,
		  const struct isp_state *state, const u16 *quads)
{
	const u32 in_chunk = ISP_CHUNK / USC_SPAN_LANES;
	struct isp_draw d;
	u32 row, col;

	if (!prepare(tile, setup, state, &d))
		return false;
	for (row = d.row0; row < d.row1; row++)
		for (col = d.col0 * in_chunk; col < d.col1 * in_chunk; col++)
			if (quads[row * d.chunks * in_chunk + col])
				return true;
	return false;
}

/*
 * Return whether the object must be shaded before any other is drawn over it: if its tests are
 * late, and if a program that runs once for several samples reads the first of them, which must not
 * depend on later occlusion.
 */
static bool shade_first(const struct isp_tile *tile, const struct isp_state *state)
{
	return state->pass_type != PUMICE_PASS_TYPE_OPAQUE &&
	       (state->pass_type != PUMICE_PASS_TYPE_TRANSLUCENT || tile->samples > 1);
}

void isp_draw(struct isp_tile *tile, const struct isp_setup *setup, const struct isp_state *state,
	      bool back, u32 tag, struct isp_result *result)
{
	static const u8 modes[] = {
		[PUMICE_PASS_TYPE_OPAQUE] = ISP_TEST,
		[PUMICE_PASS_TYPE_TRANSLUCENT] = ISP_TEST,
		[PUMICE_PASS_TYPE_PUNCH_THROUGH] = ISP_TEST_LATE,
		[PUMICE_PASS_TYPE_DEPTH_WRITE] = ISP_COVER,
	};
	struct isp_draw d;
	struct isp_done done;

	*result = (struct isp_result){ 0 };
	if (!prepare(tile, setup, state, &d))
		return;
	d.mode = isp_tests_late(state) ? ISP_COVER : (enum isp_mode)modes[state->pass_type];
	set_tests(&d, state, back);
	d.tag = shade_first(tile, state) ? tag | ISP_LATE : tag;
	d.tags = !state->no_tag;
	raster(tile, &d, &done);
	result->covered = done.covered;
	result->passed = done.passed;
	if (!done.passed || !d.tags)
		return;
	tile->late |= d.tag >> 31;
	tile->row0 = min_u32(d.row0, tile->row0);
	tile->row1 = max_u32(d.row1, tile->row1);
}
