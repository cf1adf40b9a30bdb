// SPDX-License-Identifier: MIT
/* Fake neighbours of the PDS for fragment tasks. See fake_gfx.h. */
#include "fake_gfx.h"

#include <string.h>

bool tag_read(struct tag *tag, const struct tag_request *request, u32 *out,
	      struct gpu_fault *fault)
{
	u32 row, lane;

	tag->reads++;
	if (tag->reads == 1)
		tag->rest_known = true;
	tag->request = *request;
	memcpy(tag->state, request->state, sizeof(tag->state));
	if (tag->faults) {
		fault->fault = PUMICE_FAULT_TAG_STATE;
		fault->unit = PUMICE_UNIT_TAG;
		fault->access = 0;
		fault->ctx = (u8)request->ctx;
		fault->addr = 0;
		return false;
	}
	memset(out, 0, 4 * PUMICE_LANES * sizeof(*out));
	memcpy(out, request->coord, tag->rows * PUMICE_LANES * sizeof(*out));
	for (row = 0; row < tag->rows; row++) {
		for (lane = 0; lane < PUMICE_LANES; lane++) {
			if (request->lanes >> lane & 1)
				continue;
			tag->rest_known &= !request->coord[row * PUMICE_LANES + lane];
			out[row * PUMICE_LANES + lane] = FAKE_TAG_REST;
		}
	}
	return true;
}

void usc_gfx_position(const struct usc_gfx *gfx, const struct usc_span *span, u32 pixel,
		      bool centroid, float *x, float *y)
{
	const u32 quads = gfx->tile->width / 2u;

	*x = (float)(span->quad % quads * 2 + (pixel & 1)) + (centroid ? 0.125f : 0.5f);
	*y = (float)(span->quad / quads * 2 + (pixel >> 1)) + (centroid ? 0.875f : 0.5f);
}

void usc_gfx_positions(const struct usc_gfx *gfx, const struct usc_span *span, u32 spans,
		       bool centroid, float *x, float *y)
{
	for (u32 l = 0; l < spans * USC_SPAN_LANES; l++)
		usc_gfx_position(gfx, &span[l / USC_SPAN_LANES], l % USC_SPAN_LANES, centroid,
				 &x[l], &y[l]);
}
