/* SPDX-License-Identifier: MIT */
/*
 * One triangle in one tile, prepared for the vector loops: interface of isp.c to the levels
 * of raster.h. No other file includes this.
 *
 * Coordinates are pixels from the tile's corner. Edges are exact in 32 bits, because edges
 * that are true in all of the bounds are omitted, and the others change their sign within.
 */
#ifndef PUMICE_GPU_ISP_DRAW_H
#define PUMICE_GPU_ISP_DRAW_H

#include "isp.h"

#define ISP_CHUNK	8u	/* pixels processed at a time: two adjacent quads */
#define ISP_MAX_EDGES	7u	/* three of the triangle, four of the clip rectangle */
#define ISP_MAX_COLUMNS	8u	/* adjacent chunks in a tile */

/* Action for covered samples. */
enum isp_mode {
	ISP_PROBE,	/* none: only find out whether a flush is needed */
	ISP_TEST,	/* test, write, tag */
	ISP_TEST_LATE,	/* test and tag; passing samples are written later */
	ISP_COVER,	/* tag */
};

struct isp_draw {
	u32 col0, col1, row0, row1;	/* chunks and rows of quads; col1 and row1 are outside */
	u32 chunks;		/* chunks of a row of quads */
	u32 samples;		/* samples of a pixel */
	u32 mask;		/* samples that may be covered */
	u32 edges;
	s32 a[ISP_MAX_EDGES], b[ISP_MAX_EDGES];	/* slopes per pixel */
	s32 c[PUMICE_MAX_SAMPLES][ISP_MAX_EDGES];	/* values at the tile's first pixel */
	double z0, dzdx, dzdy, bias;
	double x[PUMICE_MAX_SAMPLES], y[PUMICE_MAX_SAMPLES];	/* first pixel's sample minus the
								 * vertex */
	enum isp_mode mode;
	bool blends;		/* reads the pixels below it: every pass type except OPAQUE */
	bool test, depth_write, stencil;
	u8 depth_func;
	u8 mask_test, mask_op;	/* of the mask plane */
	struct isp_stencil face;
	bool tags;		/* tag is written */
	u32 tag;
};

struct isp_done {
	u32 covered, passed;
	bool overlap;
};

typedef void isp_raster_fn(struct isp_tile *tile, const struct isp_draw *draw,
			   struct isp_done *done);

extern isp_raster_fn isp_raster_base;
#ifdef __x86_64__
extern isp_raster_fn isp_raster_avx2, isp_raster_avx512;
#endif

/* For tests: use this function from now on, or select one for the processor if fn is NULL. */
void isp_use_raster(isp_raster_fn *fn);

#endif
