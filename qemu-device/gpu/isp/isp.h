/* SPDX-License-Identifier: MIT */
/*
 * Image synthesis processor (ISP): which samples of a tile a primitive owns.
 *
 * Source: document 004, "ISP"; Documentation/precision.rst for coverage and depth;
 * hw/formats.xml, isp_state. Triangles are rasterised into the tile on the chip:
 * depth, stencil, and for each sample a tag, which names the primitive that is
 * to be shaded there. Hidden-surface removal is that: a nearer opaque primitive
 * overwrites tags, and only the last one is shaded.
 *
 * Everything works on eight pixels at a time, two quads of 2x2; raster.h is
 * compiled for several vector levels. Used by the thread of the core's unit, but
 * for isp_late_depth(), which USCs call for pixels that nobody else touches.
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
 * A tag: 0 for none, else number of a primitive, with ISP_LATE if its program is to run
 * before anything covers it.
 */
#define ISP_LATE	0x80000000u

/* A tile on the chip; pixel p is quad * 4 + place in the quad, as in usc_tile. */
struct isp_tile {
	u32 x0, y0;		/* pixel of its upper left corner */
	u32 width, height;	/* of a tile */
	u32 clip_x, clip_y;	/* first column and row outside of the target, from the corner */
	u32 samples;		/* 1, 2 or 4 */
	bool late;		/* a tag with ISP_LATE is pending */
	u32 row0, row1;		/* rows of quads with pending tags: from row0, before row1 */
	float depth[PUMICE_MAX_SAMPLES][PUMICE_TILE_PIXELS] __attribute__((aligned(64)));
	u32 tag[PUMICE_MAX_SAMPLES][PUMICE_TILE_PIXELS] __attribute__((aligned(64)));
	u8 stencil[PUMICE_MAX_SAMPLES][PUMICE_TILE_PIXELS] __attribute__((aligned(64)));
};

/* Clear tags, and depth and stencil to these values. */
void isp_tile_clear(struct isp_tile *tile, float depth, u8 stencil);
/* No tag is pending any more. */
void isp_tile_clear_tags(struct isp_tile *tile);

/* Stencil test of one face. */
struct isp_stencil {
	u8 func, sfail, zfail, pass;	/* enum pumice_compare, enum pumice_stencil_op */
	u8 ref, mask, write;
};

/* isp_state, checked. */
struct isp_state {
	u8 pass_type;		/* enum pumice_pass_type */
	u8 depth_func;		/* enum pumice_compare */
	bool depth_write, stencil, depth_bias, visibility;
	bool no_tag;		/* tests and writes, but is not shaded; OPAQUE only */
	u16 visibility_id;
	u16 x0, x1, y0, y1;	/* scissor */
	u8 sample_mask;
	struct isp_stencil face[2];	/* front, back */
	float bias_constant, bias_slope, bias_clamp;
};

/*
 * PUNCH_THROUGH whose failing tests change the stencil, which what the program drops
 * must not: its program runs for every covered sample.
 */
bool isp_tests_late(const struct isp_state *state);

/* Read and check the state of an object. False with *fault filled in wholly. */
bool isp_state_load(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 addr,
		    struct isp_state *state, struct gpu_fault *fault);

/* A triangle of a primitive. */
struct isp_triangle {
	s32 x[3], y[3];		/* 1/256 pixel */
	float z[3];
	u8 vertex[3];		/* of the primitive, whose values the corner has */
};

/* Positions beyond the guard band, and what lines and points add to it, come from no MTE. */
#define ISP_MAX_POSITION ((s32)((PUMICE_GUARD_BAND + 512u) << PUMICE_SUBPIXEL_BITS))

/*
 * The triangles of a primitive of this kind: 0 to 2, in out. False for positions
 * that no MTE writes.
 */
bool isp_expand(u32 kind, const struct ipf_prim *prim, struct isp_triangle out[2], u32 *count);

/* Plane and edges of a triangle; good for every tile. */
struct isp_setup {
	s32 a[3], b[3];		/* edge n is a x + b y + c >= 0, x and y in 1/256 pixel */
	s64 c[3];		/* one less unless it is a top or left edge */
	s32 min_x, max_x, min_y, max_y;
	double x0, y0, z0, dzdx, dzdy, bias;
};
/* False for a triangle without area. */
bool isp_set_up(const struct isp_triangle *triangle, const struct isp_state *state,
		struct isp_setup *out);

/* What drawing a triangle into the tile has done. */
struct isp_result {
	u32 covered;		/* pixels, of which at least one sample */
	u32 passed;		/* samples, which got the tag unless the object has none */
};

/*
 * Whether the triangle needs what is pending to be shaded first: it covers a
 * sample with a late tag, or, unless it is opaque, passes where a tag is.
 */
bool isp_must_flush(const struct isp_tile *tile, const struct isp_setup *setup,
		    const struct isp_state *state, bool back);
/* Test, write depth and stencil unless the program is to come first, and tag. */
void isp_draw(struct isp_tile *tile, const struct isp_setup *setup, const struct isp_state *state,
	      bool back, u32 tag, struct isp_result *result);

/* Samples of the span's pixels that the triangle covers, as in usc_span. */
u16 isp_coverage(const struct isp_tile *tile, const struct isp_setup *setup,
		 const struct isp_state *state, u32 quad);

/*
 * Which samples of the span fail their tests, as in usc_span; of an object with
 * isp_tests_late(), before its program runs. Nothing is written.
 */
u16 isp_late_failing(const struct isp_tile *tile, const struct isp_setup *setup,
		     const struct isp_state *state, bool back, u32 quad, u32 samples);
/*
 * PUNCH_THROUGH: its program has run. Write depth and stencil of live samples, and
 * the stencil of those that failed. Returns how many are live.
 */
u32 isp_late_write(struct isp_tile *tile, const struct isp_setup *setup,
		   const struct isp_state *state, bool back, const struct usc_span *span);
/*
 * DEPTH_WRITE: test and write the span's live samples with the depths of its four
 * pixels; samples that fail are no longer live. Returns how many passed.
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
/* Depths that were read from memory as they are: those that are not 0 to 1 become so. */
void isp_clamp_depth(float *z, u32 count);
/* Bytes of a sample's depth in memory. */
u32 isp_depth_bytes(u32 format);

#endif
