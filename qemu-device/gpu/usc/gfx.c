// SPDX-License-Identifier: MIT
/*
 * Positions of pixels and samples.
 *
 * Source: Documentation/precision.rst, "Coverage" and "Varyings".
 */
#include "gfx.h"

#define SIXTEENTHS 16.0f	/* in a pixel */

void usc_gfx_sample_position(u32 samples, u32 sample, u32 *x16, u32 *y16)
{
	static const u8 two[2][2] = { { 4, 4 }, { 12, 12 } };
	static const u8 four[4][2] = { { 6, 2 }, { 14, 6 }, { 2, 10 }, { 10, 14 } };
	static const u8 one[2] = { 8, 8 };
	const u8 *at = samples == 2 ? two[sample % 2] : samples == 4 ? four[sample % 4] : one;

	*x16 = at[0];
	*y16 = at[1];
}

void usc_gfx_position(const struct usc_gfx *gfx, const struct usc_span *span, u32 pixel,
		      bool centroid, float *x, float *y)
{
	const struct usc_tile *tile = gfx->tile;
	u32 covered = span->covered >> pixel * 4 & ((1u << tile->samples) - 1);
	u32 quads = tile->width / 2u;	/* in a row of the tile */
	u32 x16 = 8, y16 = 8;

	if (gfx->sample != USC_PIXEL_RATE)
		usc_gfx_sample_position(tile->samples, gfx->sample, &x16, &y16);
	else if (centroid && covered && covered != (1u << tile->samples) - 1)
		usc_gfx_sample_position(tile->samples, (u32)__builtin_ctz(covered), &x16, &y16);
	*x = (float)(span->quad % quads * 2 + pixel % 2) + (float)x16 / SIXTEENTHS;
	*y = (float)(span->quad / quads * 2 + pixel / 2) + (float)y16 / SIXTEENTHS;
}

/* Tiles are as wide as a power of two. */
void usc_gfx_positions(const struct usc_gfx *gfx, const struct usc_span *span, u32 spans,
		       bool centroid, float *x, float *y)
{
	const struct usc_tile *tile = gfx->tile;
	u32 across = tile->width / 2u, row = (u32)__builtin_ctz(across), x16 = 8, y16 = 8;
	float dx, dy;

	if (gfx->sample == USC_PIXEL_RATE && centroid && tile->samples > 1) {
		for (u32 l = 0; l < spans * USC_SPAN_LANES; l++)
			usc_gfx_position(gfx, &span[l / USC_SPAN_LANES], l % USC_SPAN_LANES, true,
					 &x[l], &y[l]);
		return;
	}
	if (gfx->sample != USC_PIXEL_RATE)
		usc_gfx_sample_position(tile->samples, gfx->sample, &x16, &y16);
	dx = (float)x16 / SIXTEENTHS;
	dy = (float)y16 / SIXTEENTHS;
	for (u32 n = 0; n < spans; n++, x += USC_SPAN_LANES, y += USC_SPAN_LANES) {
		float left = (float)((span[n].quad & (across - 1)) * 2) + dx;
		float top = (float)((u32)span[n].quad >> row << 1) + dy;

		x[0] = x[2] = left;
		x[1] = x[3] = left + 1;
		y[0] = y[1] = top;
		y[2] = y[3] = top + 1;
	}
}
