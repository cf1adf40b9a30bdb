/* SPDX-License-Identifier: MIT */
/*
 * Data of vertex, pixel and ray programs that compute programs lack: location of outputs, pixels
 * of lanes.
 *
 * Source: document 003, "Vertex Output Registers", "Pixel Output Registers" and "Coefficient
 * Registers"; document 004, "USSE": spans of 2x2 pixels. The data master owns all of this, fills it
 * before usc_group_start() and keeps it until the group is done.
 */
#ifndef PUMICE_GPU_USC_GFX_H
#define PUMICE_GPU_USC_GFX_H

#include <stdbool.h>

#include "../fault.h"

/* Data master of a program, which determines its operations and banks. */
enum usc_stage {
	USC_STAGE_COMPUTE, USC_STAGE_VERTEX, USC_STAGE_FRAGMENT, USC_STAGE_TILE,
	USC_STAGE_DEFERRED,	/* for loads only: VERTEX that the PDM runs */
	USC_STAGE_RAYS,		/* generates rays */
	USC_STAGE_HIT,		/* is run for rays that hit, or for those that do not */
};

#define USC_SPAN_LANES	4u
#define USC_WAVE_SPANS	(PUMICE_LANES / USC_SPAN_LANES)
#define USC_PIXEL_RATE	0xffu	/* usc_gfx.sample of a program that runs once for a pixel */

/*
 * 2x2 pixels of one primitive: four lanes, upper left, upper right, lower left,
 * lower right. Sample s of pixel p is bit 4 p + s.
 */
struct usc_span {
	u8 quad;	/* in the tile, row by row of quads */
	u8 prim;	/* primitive in the task: its coefficients */
	u16 covered;	/* by the primitive, hidden samples too: for centroid positions */
	u16 samples;	/* covered, and visible except the failed ones */
	/*
	 * Of these, samples that failed their tests. They run only because failing has an
	 * effect unless the program drops them; they receive no output.
	 */
	u16 failed;
	u16 live;	/* of these, samples that the program did not drop; the USC writes it
			 * when the wave ends */
};

/* The tile that is being rendered; pixel p is quad * 4 + index in the span. */
struct usc_tile {
	/*
	 * In a store of a USC: word n of sample s of pixel p is
	 * outputs[(s * words + n) * pixels + p].
	 */
	u32 *outputs;
	u16 pixels;	/* of a tile: width * height */
	u8 words;	/* pixel output registers */
	u8 samples;	/* 1, 2 or 4 */
	u16 x0, y0;	/* pixel of its upper left corner */
	u16 width, height;	/* of a tile, pixels: 32x32, 16x16, 32x16 */
};

struct usc_gfx;

struct usc_gfx_ops {
	/*
	 * Operation depth: test and write depth and stencil of the wave's spans with these
	 * depths, f32 of each lane, and clear failing samples in span->live. Pixels of one
	 * pass are not in two waves, so no lock is needed.
	 */
	void (*depth)(const struct usc_gfx *gfx, struct usc_span *span, const u32 *depth);
	/*
	 * Operation pbe: convert and store the tile. Returns false with *fault filled in
	 * except usc and pc.
	 */
	bool (*pbe)(const struct usc_gfx *gfx, const u32 state[8], struct gpu_fault *fault);
};

/* Data of one group, which is one task. */
struct usc_gfx {
	u8 stage;		/* enum usc_stage */
	u8 sample;		/* sample that the program runs for, or USC_PIXEL_RATE */
	bool discards;		/* discard is allowed */
	bool depth_writes;	/* so is depth */
	bool deferred;		/* VERTEX: a task of the PDM, for a tile */
	const struct usc_gfx_ops *ops;
	void *opaque;		/* private data of the owner of ops */

	/* VERTEX, FRAGMENT, RAYS, HIT: the uniform stream that each wave begins at the start of. */
	u64 uniforms;		/* GPU virtual address, aligned to 256 bytes */
	u32 uniform_words;

	/*
	 * VERTEX, RAYS: register n of wave w is the row at vo + (w * vo_words + n) * PUMICE_LANES.
	 */
	u32 *vo;
	u32 vo_words;

	/* FRAGMENT and TILE. Lanes after the last span are not valid. */
	const struct usc_tile *tile;
	struct usc_span *span;	/* of lane l of wave w: span[w * USC_WAVE_SPANS + l / 4] */
	u32 spans;
	u32 coeffs;		/* coefficient registers of one primitive; primitive n's
				 * follow those of n - 1 */
	u32 coeffs_alt;		/* those of the alternate set, the same */
};

/* Return whether the lanes of a group's waves are pixels of spans. */
static inline bool usc_gfx_has_spans(const struct usc_gfx *gfx)
{
	return gfx->stage == USC_STAGE_FRAGMENT || gfx->stage == USC_STAGE_TILE;
}

/* Return the data master of a group. @gfx: NULL of a work-group */
static inline enum pumice_wave_master usc_gfx_master(const struct usc_gfx *gfx)
{
	if (!gfx)
		return PUMICE_WAVE_MASTER_CDM;
	if (gfx->stage == USC_STAGE_RAYS || gfx->stage == USC_STAGE_HIT)
		return PUMICE_WAVE_MASTER_RDM;
	return gfx->stage == USC_STAGE_VERTEX && !gfx->deferred ? PUMICE_WAVE_MASTER_VDM :
								  PUMICE_WAVE_MASTER_PDM;
}

/*
 * Get the offset of a lane's sample position from the tile's corner, pixels; for itr and the PDS.
 */
void usc_gfx_position(const struct usc_gfx *gfx, const struct usc_span *span, u32 pixel,
		      bool centroid, float *x, float *y);
/* Get the same for all lanes of spans spans, four per span. */
void usc_gfx_positions(const struct usc_gfx *gfx, const struct usc_span *span, u32 spans,
		       bool centroid, float *x, float *y);
/*
 * Get the position of a sample in its pixel, 1/16 pixel: of 1, 2 or 4 samples
 * (Documentation/precision.rst).
 */
void usc_gfx_sample_position(u32 samples, u32 sample, u32 *x16, u32 *y16);

#endif
