/* SPDX-License-Identifier: MIT */
/*
 * Tiling accelerator, internals: transform, cull and clip primitives (mte.c, clip.c), find
 * the tiles that they touch (te.c), and write both to the parameter buffer (block.c,
 * stream.c).
 *
 * Source: document 004, "MTE" and "TE"; hw/formats.xml. A primitive is written to the
 * parameter buffer in two steps: block_reserve() allocates all pages that it needs, and may
 * stop there; after that only a fault of the MMU can prevent it.
 *
 * Each step is done in pieces limited by ta.budget; struct ta has the progress of the
 * primitive.
 */
#ifndef PUMICE_GPU_TA_INTERNAL_H
#define PUMICE_GPU_TA_INTERNAL_H

#include <string.h>

#include "../count.h"
#include "../number.h"
#include "ta.h"

#define TA_PLANES	7u
#define TA_POLYGON	(3u + TA_PLANES)	/* maximum vertices of a clipped triangle */
_Static_assert(TA_POLYGON == PUMICE_CLIP_CORNERS, "corners that blocks can name");
#define TA_SUBS		(TA_POLYGON - 2u)	/* maximum triangles of it */
#define TA_NEW		0xffffffffu		/* ta_corner.source of a vertex made by clipping */
#define TA_BAD		(1u << TA_PLANES)	/* ta_vertex.out: no usable position */
/* Pixels; no position is farther out. */
#define TA_LIMIT	((float)PUMICE_GUARD_BAND + 256.0f)

#define BLOCK_CACHE	64u	/* vertices of a block in the cache */

/* A screen vertex: fields of prim_vertex, and the planes it is outside of. */
struct ta_vertex {
	s32 x, y;	/* 1/256 pixel */
	float z, rw, size;
	u32 out;	/* bit n: outside of plane n, in the order of precision.rst; TA_BAD */
};

struct ta_corner {
	struct ta_vertex v;
	u32 source;	/* number of the vertex, or TA_NEW */
};

/* One of the triangles of a primitive, or its line or point: corners of ta_poly. */
struct ta_sub {
	u8 v[3];
	u8 provoking;
	bool back;
};

/* The rectangle around a convex shape, and its corners in order; 1/256 pixel. */
struct ta_shape {
	s32 x[4], y[4];
	u32 count;
	s32 x0, y0, x1, y1;
};

/* A primitive that was not culled. */
struct ta_poly {
	u32 corners, subs;
	bool clipped;
	u16 source[3];		/* vertices of the primitive before it was clipped */
	struct ta_corner corner[TA_POLYGON];
	struct ta_sub sub[TA_SUBS];
	struct ta_shape shape[TA_SUBS];
	/* Varyings of corners of source TA_NEW. */
	float varyings[TA_POLYGON][PUMICE_MAX_VARYINGS];
};

/* State of the draw, prepared for the loops. */
struct ta_view {
	float scale[3], offset[3];
	float low[2], high[2];	/* offset + G and G - offset, for the guard band */
	bool depth_clip, minus_w, front_ccw, cull_front, cull_back, small_cull;
	u8 kind;
	u8 provoking;		/* index of the provoking vertex */
	u32 varyings;
	u32 first;		/* output of the first varying */
	bool deferred;		/* vertices have numbers instead of varyings */
	float line_width;
	bool point_size;
	float point_width;
	u64 tsp_state;
	bool flat_known;	/* flat is read from the TSP state */
	u64 flat;
};

/* A tile that a primitive touches, and the subs that touch it. */
struct ta_touch {
	u32 tile;
	u8 macro;
	u8 mask;
};

#define TA_CHUNK_ENTRIES	7u

/* Next step for the primitive of a call. */
enum ta_step {
	TA_STEP_BEGIN,		/* not begun */
	TA_STEP_TILES,		/* rows of tiles from ta.row */
	TA_STEP_RESERVE,	/* chunks for touches from ta.at, then pages */
	TA_STEP_PUT,		/* entries for touches from ta.at */
};

/* Units of ta.budget. */
#define TA_COST_PRIMITIVE	8	/* culled, and added to a few tiles */
#define TA_FEW			8u
#define TA_COST_CLIP		16
#define TA_COST_ROW		4	/* of tiles, for each part of the primitive */
#define TA_COST_PAGE		8
#define TA_COST_MACRO		2
#define TA_COST_HEADER		2	/* of a region, with its last chunk */
#define TA_UNIT_WORDS		16u	/* of vertices, written for one */
#define TA_UNIT_CLEAR		2u	/* tile lists cleared for one */
#define TA_UNIT_ROWS		8	/* rows of samples searched for one */

/* Tail of a tile's control stream: the last chunk, which is not in memory yet. */
struct ta_tile {
	u32 first, chunk;	/* pb_refs of the first and of this one, 0: none */
	u32 entries;
	struct pumice_tile_entry entry[TA_CHUNK_ENTRIES];
};

/* A page of the parameter buffer: blocks are allocated from the bottom, chunks from the top. */
struct ta_page {
	u32 ref;	/* pb_ref of its beginning */
	u32 low, high;	/* bytes; the range between is free, except the open block */
};

#define TA_PAGE_LOW	16u	/* first used byte: no item has offset 0 */

/* Pages and block that a macro tile writes to. */
struct ta_macro {
	/* One page for blocks, one for chunks; often the same. */
	struct ta_page page[2];
	u8 block_page, chunk_page;

	/* The open block. */
	u32 block;		/* pb_ref; 0: none is open */
	u64 serial;		/* ta.serial when it was opened */
	bool clipped;		/* of clipped primitives with deferred vertices */
	u32 prims, vertices;
	u32 open_bytes;		/* 0 without primitives */

	u32 spares;		/* allocated and unused pages */
	u32 *spare;		/* pb_refs of their beginnings; ta.spare_room of them */

	/* Vertices of the open block, by number: tag is ta.batch << 16 | number. */
	u64 tag[BLOCK_CACHE];
	u8 slot[BLOCK_CACHE];
};

struct ta {
	struct ta_config config;
	struct mmu_tlb mte, te;		/* one for each unit */
	struct pm_scene scene;
	struct ta_counters counters;

	/* Scene so far. */
	struct ta_tile *tile;		/* of all tiles, row by row */
	struct ta_touch *touch;		/* scratch, of the same size */
	u32 touches;
	u32 touched;			/* bit n: macro tile n is touched */
	u8 macro_x[PUMICE_MAX_RENDER_SIZE / 16], macro_y[PUMICE_MAX_RENDER_SIZE / 16];
	struct ta_macro macro[PM_MACRO_TILES];
	u32 *spares;			/* memory of ta_macro.spare */
	u32 spare_room;
	bool any;			/* a tile has an entry */
	u32 tiles_room;			/* tiles that tile and touch have room for */
	u32 cleared;			/* number of tiles, from the first, whose list is valid */
	u32 headers;			/* region headers written so far */

	/* Current call, and its primitive. */
	s32 budget;			/* remainder for this piece */
	bool open;			/* vertices are transformed and the header is set */
	enum ta_step step;
	s32 row;
	u32 at;
	u32 chunks[PM_MACRO_TILES];	/* chunks that touches below at need */
	u8 first[PM_MACRO_TILES];	/* number of its first sub in the blocks */
	s32 sample_x[PUMICE_MAX_SAMPLES], sample_y[PUMICE_MAX_SAMPLES];	/* 1/256 pixel */

	/* Draw of the open blocks: a serial number for the state that a block has in common. */
	u64 serial;
	struct pumice_prim_block header;
	struct pumice_prim_draw draw;	/* of deferred vertices */
	bool have_header;

	/* Vertices of the current call. */
	struct ta_view view;
	u64 batch;
	const struct ta_vertices *in;
	struct ta_vertex *vertex;
	u32 vertex_room;
	u32 transformed;		/* of them, from the first */
	struct ta_poly poly;

	/*
	 * For ta_cull(), while a call may be open: a TA of which only the scene, the budget, the
	 * vertices and the primitive are used.
	 */
	struct ta *culling;
};

/* Return output n of vertex v. */
static inline u32 ta_vo(const struct ta_vertices *in, u32 v, u32 n)
{
	return in->wave[v / PUMICE_LANES][n * PUMICE_LANES + v % PUMICE_LANES];
}

/*
 * Return the end of a piece of the touches from ta.at, charging a unit for each; a few are
 * free.
 */
static inline u32 ta_spend(struct ta *ta)
{
	const u32 left = ta->budget > 0 ? (u32)ta->budget : 0;
	u32 end = ta->touches;

	if (end <= TA_FEW)
		return end;
	if (end - ta->at > left)
		end = ta->at + left;
	ta->budget -= (s32)(end - ta->at);
	return end;
}

/* mte.c */
void mte_view(struct ta_view *view, const struct ta_draw *draw);
/* Transform the ready vertices from first, which begins a wave. */
void mte_transform(const struct ta_view *view, const struct ta_vertices *in, u32 first,
		   struct ta_vertex *out);
/* Set ta.poly from a primitive: TA_OK, and *kept false if it was culled. */
enum ta_result mte_primitive(struct ta *ta, const struct ta_prim *prim, bool *kept,
			     struct gpu_fault *fault);
struct ta_vertex mte_project(const struct ta_view *view, const float pos[4]);

/*
 * clip.c. Clip a primitive of count vertices; ta.poly's corners become the result, none if it
 * is empty. A triangle whose face is culled has none, and is not clipped: ta.poly.clipped is false.
 */
enum ta_result clip_primitive(struct ta *ta, const struct ta_prim *prim, u32 count,
			      struct gpu_fault *fault);

/*
 * small.c. Return whether the rectangle of a line or a point covers a sample of the target;
 * charges ta.budget for the search.
 */
bool small_covers_sample(struct ta *ta, const struct ta_shape *shape);

/* te.c: set ta.touch to the tiles of ta.poly. False: call again. */
static inline void te_begin(struct ta *ta)
{
	ta->touches = 0;
	ta->touched = 0;
	ta->row = 0;
}
bool te_tiles(struct ta *ta);

/* block.c: pages and blocks for ta.poly in the macro tiles of ta.touch; then write it there. */
static inline void block_begin(struct ta *ta)
{
	memset(ta->chunks, 0, sizeof(ta->chunks));
	ta->at = 0;
}
enum ta_result block_reserve(struct ta *ta, struct gpu_fault *fault);
bool block_put(struct ta *ta, struct gpu_fault *fault);
/* Use a spare page of a macro tile, which must have one. */
struct ta_page block_use_spare(struct ta_macro *macro);

/*
 * stream.c: entries for ta.poly in the tiles of ta.touch; the region headers. TA_OK,
 * TA_MORE or TA_FAULT.
 */
u32 stream_chunks_needed(const struct ta *ta, u32 touch);
enum ta_result stream_put(struct ta *ta, struct gpu_fault *fault);
enum ta_result stream_finish(struct ta *ta, struct gpu_fault *fault);

/*
 * Return a host pointer for a reference to the parameter buffer, valid to the end of its
 * page; NULL with *fault. bytes as for mmu_translate().
 */
u8 *ta_host(struct ta *ta, struct mmu_tlb *tlb, enum pumice_unit unit, u32 ref, u32 bytes,
	    struct gpu_fault *fault);

#endif
