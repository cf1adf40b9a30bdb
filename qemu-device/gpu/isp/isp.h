/* SPDX-License-Identifier: MIT */
/*
 * Image synthesis processor (ISP): determines which primitive owns each sample of a tile.
 *
 * Source: document 004, "ISP"; Documentation/precision.rst for coverage and depth;
 * hw/formats.xml, isp_state. Triangles are rasterised into the tile on the chip: depth,
 * stencil, mask, and for each sample a tag, the number of the primitive to shade there. This
 * implements hidden-surface removal: a nearer opaque primitive overwrites tags, and only the
 * last one is shaded.
 *
 * Everything works on eight pixels at a time, two quads of 2x2; raster.h is compiled for
 * several vector levels. Used by the thread of the core's unit, except isp_late_depth(),
 * which USCs call for pixels that only they access.
 */
#ifndef PUMICE_GPU_ISP_H
#define PUMICE_GPU_ISP_H

#include <stdbool.h>

#include "../fault.h"
#include "../ipf/ipf.h"
#include "../mmu/mmu.h"
#include "../usc/gfx.h"
#include "pumice_formats.h"

/*
 * A tag: 0 for none, else number of a primitive, with ISP_LATE if its program must run before
 * it is covered.
 */
#define ISP_LATE	0x80000000u

#define ISP_MASK_BYTES	(PUMICE_TILE_PIXELS / 8)	/* mask plane of one sample of all pixels */

/* A tile on the chip; pixel p is quad * 4 + index in the quad, as in usc_tile. */
struct isp_tile {
	u32 x0, y0;		/* pixel of its upper left corner */
	u32 width, height;	/* size of a tile */
	u32 clip_x, clip_y;	/* first column and row outside of the target, from the corner */
	u32 samples;		/* 1, 2 or 4 */
	bool late;		/* a tag with ISP_LATE is pending */
	u32 row0, row1;		/* rows of quads with pending tags: from row0, before row1 */
	float depth[PUMICE_MAX_SAMPLES][PUMICE_TILE_PIXELS] __attribute__((aligned(64)));
	u32 tag[PUMICE_MAX_SAMPLES][PUMICE_TILE_PIXELS] __attribute__((aligned(64)));
	u8 stencil[PUMICE_MAX_SAMPLES][PUMICE_TILE_PIXELS] __attribute__((aligned(64)));
	u8 mask[PUMICE_MAX_SAMPLES][ISP_MASK_BYTES];	/* pixel p is bit p % 8 of byte p / 8 */
};

/* Index of a pixel in the arrays of the tile. */
static inline u32 isp_pixel_at(const struct isp_tile *tile, u32 x, u32 y)
{
	return (y / 2 * (tile->width / 2) + x / 2) * USC_SPAN_LANES + y % 2 * 2 + x % 2;
}

/* Clear tags, and depth and stencil to these values. */
void isp_tile_clear(struct isp_tile *tile, float depth, u8 stencil);
/* Clear all pending tags. */
void isp_tile_clear_tags(struct isp_tile *tile);

/* Stencil test of one face. */
struct isp_stencil {
	u8 func, sfail, zfail, pass;	/* enum pumice_compare, enum pumice_stencil_op */
	u8 ref, mask, write;
};

/* Validated isp_state. */
struct isp_state {
	u8 pass_type;		/* enum pumice_pass_type */
	u8 depth_func;		/* enum pumice_compare */
	bool depth_write, stencil, depth_bias, visibility;
	bool no_tag;		/* tests and writes, but is not shaded; OPAQUE only */
	u16 visibility_id;
	u16 x0, x1, y0, y1;	/* scissor */
	u8 sample_mask;
	u8 mask_test, mask_op;	/* enum pumice_mask_test, enum pumice_mask_op */
	struct isp_stencil face[2];	/* front, back */
	float bias_constant, bias_slope, bias_clamp;
};

/*
 * Return whether an object is PUNCH_THROUGH and failing tests change its stencil. Samples that the
 * program drops must not change it, so the program runs for every covered sample.
 */
bool isp_tests_late(const struct isp_state *state);

/* Read and check the state of an object. Returns false with all of *fault filled in. */
bool isp_state_load(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 addr,
		    struct isp_state *state, struct gpu_fault *fault);

/* A triangle of a primitive. */
struct isp_triangle {
	s32 x[3], y[3];		/* 1/256 pixel */
	float z[3];
	u8 vertex[3];		/* vertex of the primitive with the corner's values */
};

/* No MTE writes positions beyond the guard band plus the extent of lines and points. */
#define ISP_MAX_POSITION ((s32)((PUMICE_GUARD_BAND + 512u) << PUMICE_SUBPIXEL_BITS))

/*
 * Store the 0 to 2 triangles of a primitive of this kind to out. Returns false for positions
 * that no MTE writes.
 */
bool isp_expand(u32 kind, const struct ipf_prim *prim, struct isp_triangle out[2], u32 *count);

/* Plane and edges of a triangle; valid for every tile. */
struct isp_setup {
	s32 a[3], b[3];		/* edge n is a x + b y + c >= 0, x and y in 1/256 pixel */
	s64 c[3];		/* minus 1 unless it is a top or left edge */
	s32 min_x, max_x, min_y, max_y;
	double x0, y0, z0, dzdx, dzdy, bias;
};
/* Set up a triangle. Returns false if it has no area. */
bool isp_set_up(const struct isp_triangle *triangle, const struct isp_state *state,
		struct isp_setup *out);

/* Result of drawing a triangle into the tile. */
struct isp_result {
	u32 covered;		/* pixels with at least one covered sample */
	u32 passed;		/* passing samples, tagged unless the object has no tag */
};

/*
 * Return whether pending samples must be shaded before the triangle: it covers a sample with a late
 * tag, or, unless it is opaque, passes at a tagged sample.
 */
bool isp_must_flush(const struct isp_tile *tile, const struct isp_setup *setup,
		    const struct isp_state *state, bool back);
/*
 * Return whether drawing the triangle accesses depth, stencil or mask of a quad with an entry that
 * is not 0: all quads of the chunks that it may touch.
 */
bool isp_accesses(const struct isp_tile *tile, const struct isp_setup *setup,
		  const struct isp_state *state, const u16 *quads);
/* Test, write depth, stencil and mask unless the program must run first, and tag. */
void isp_draw(struct isp_tile *tile, const struct isp_setup *setup, const struct isp_state *state,
	      bool back, u32 tag, struct isp_result *result);

/* Return the samples of the span's pixels that the triangle covers, as in usc_span. */
u16 isp_coverage(const struct isp_tile *tile, const struct isp_setup *setup,
		 const struct isp_state *state, u32 quad);

/*
 * Return the samples of the span that fail their tests, as in usc_span; for an object with
 * isp_tests_late(), before its program runs. Does not modify the tile. The mask test is not
 * repeated here and below: samples that failed it have no tag.
 */
u16 isp_late_failing(const struct isp_tile *tile, const struct isp_setup *setup,
		     const struct isp_state *state, bool back, u32 quad, u32 samples);
/*
 * After the program of a PUNCH_THROUGH object: write depth, stencil and mask of live samples,
 * and the stencil of failed ones. Returns the number of live samples.
 */
u32 isp_late_write(struct isp_tile *tile, const struct isp_setup *setup,
		   const struct isp_state *state, bool back, const struct usc_span *span);
/*
 * DEPTH_WRITE: test and write the span's live samples with the depths of its four pixels;
 * samples that fail are no longer live. Returns the number of passing samples.
 */
u32 isp_late_depth(struct isp_tile *tile, const struct isp_state *state, bool back,
		   struct usc_span *span, const float depth[USC_SPAN_LANES]);

/* Depth and stencil of a tile in memory. */
struct isp_zs {
	unsigned int ctx;
	u8 format;		/* enum pumice_depth_format */
	u64 depth, stencil;	/* GPU virtual addresses */
	u32 depth_stride, stencil_stride;
};
bool isp_load(struct isp_tile *tile, const struct isp_zs *zs, bool depth, bool stencil,
	      struct mmu *mmu, struct mmu_tlb *tlb, struct gpu_fault *fault);
bool isp_store(const struct isp_tile *tile, const struct isp_zs *zs, bool depth, bool stencil,
	       struct mmu *mmu, struct mmu_tlb *tlb, struct gpu_fault *fault);

/* Mask plane in memory. */
struct isp_mask_plane {
	unsigned int ctx;
	u64 addr;		/* GPU virtual address */
	u32 stride;
};
/* Set or clear all mask bits of the tile. */
void isp_mask_clear(struct isp_tile *tile, bool set);
bool isp_mask_load(struct isp_tile *tile, const struct isp_mask_plane *plane, struct mmu *mmu,
		   struct mmu_tlb *tlb, struct gpu_fault *fault);
bool isp_mask_store(const struct isp_tile *tile, const struct isp_mask_plane *plane,
		    struct mmu *mmu, struct mmu_tlb *tlb, struct gpu_fault *fault);

/* Clamp depths that were read unchanged from memory to 0 to 1. */
void isp_clamp_depth(float *z, u32 count);
/* Return the bytes of a sample's depth in memory. */
u32 isp_depth_bytes(u32 format);

#endif
