/* SPDX-License-Identifier: MIT */
/*
 * One triangle in one tile, ready for the vector loops: between isp.c and the
 * levels of raster.h. Nobody else includes this.
 *
 * Coordinates are pixels from the tile's corner. Edges are exact in 32 bits,
 * because those that hold everywhere in the bounds are left out, and the others
 * change their sign there.
 */
#ifndef PUMICE_GPU_ISP_DRAW_H
#define PUMICE_GPU_ISP_DRAW_H

#include "isp.h"

#define ISP_CHUNK	8u	/* pixels that are worked on at a time: two quads side by side */
#define ISP_MAX_EDGES	7u	/* three of the triangle, four of the clip rectangle */
#define ISP_MAX_COLUMNS	8u	/* chunks side by side in a tile */

/* What is done where the triangle covers. */
enum isp_mode {
	ISP_PROBE,	/* nothing: does it need a flush? */
	ISP_TEST,	/* test, write, tag */
	ISP_TEST_LATE,	/* test and tag; what passes is written later */
	ISP_COVER,	/* tag */
};

struct isp_draw {
	u32 col0, col1, row0, row1;	/* chunks and rows of quads; col1 and row1 are outside */
	u32 chunks;		/* of a row of quads */
	u32 samples;		/* of a pixel */
	u32 mask;		/* samples that may be covered */
	u32 edges;
	s32 a[ISP_MAX_EDGES], b[ISP_MAX_EDGES];	/* a pixel */
	s32 c[PUMICE_MAX_SAMPLES][ISP_MAX_EDGES];	/* at the tile's first pixel */
	double z0, dzdx, dzdy, bias;
	double x[PUMICE_MAX_SAMPLES], y[PUMICE_MAX_SAMPLES];	/* first pixel's sample less the vertex */
	enum isp_mode mode;
	bool blends;		/* needs what is under it: every pass type but OPAQUE */
	bool test, depth_write, stencil;
	u8 depth_func;
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

/* For tests: use this one from now on, or what suits the processor where fn is NULL. */
void isp_use_raster(isp_raster_fn *fn);

#endif
