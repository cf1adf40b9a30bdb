/* SPDX-License-Identifier: MIT */
/*
 * ISP parameter fetch (IPF): reads the parameter buffer tile by tile.
 *
 * Source: document 004, "Master IPF" and "ISP Parameter Fetch". Each core has written tile
 * streams of its own; they are merged by the sequence numbers of their blocks, so that a
 * tile's primitives are in submission order.
 *
 * Everything read is checked: a damaged region header, stream or block is a fault, and so is
 * an endless stream: one whose chunks repeat, or that has more chunks than the free lists
 * have room for. Each word is read once; host pointers are not kept beyond a call.
 */
#ifndef PUMICE_GPU_IPF_H
#define PUMICE_GPU_IPF_H

#include <stdbool.h>

#include "../fault.h"
#include "../mmu/mmu.h"
#include "../pm/pm.h"
#include "pumice_regs.h"

/* The streams of one tile. */
struct ipf_tile {
	const struct pm_scene *scene;
	struct mmu *mmu;
	struct mmu_tlb *tlb;
	u32 limit;		/* first sequence that is not rendered, or 0 */
	u32 cores;		/* streams with more primitives */
	struct ipf_stream {
		u32 chunk;	/* pb_ref */
		u32 entry;	/* next in the chunk */
		u32 chunks;	/* chunks so far */
		u32 mark;	/* recorded chunk: number 1, 2, 4, 8 and so on */
		u32 block, mask;	/* the next entry */
		struct pumice_prim_block header;	/* of its block */
		u8 core;
	} stream[PUMICE_MAX_CORES];
};

/* Primitives of one block that touch the tile: a validated tile_entry and its block's header. */
struct ipf_prims {
	u32 block;		/* pb_ref */
	u32 mask;		/* primitives of the block */
	struct pumice_prim_block header;
};

/*
 * Begin a tile. used: cores that have written region headers; limit: a stream ends at the
 * first block whose sequence is not below it, 0 for none (both of pm_scene_state). Returns
 * false with all of *fault filled in.
 */
bool ipf_tile_open(struct ipf_tile *tile, const struct pm_scene *scene, struct mmu *mmu,
		   struct mmu_tlb *tlb, u32 used, u32 limit, u32 tile_x, u32 tile_y,
		   struct gpu_fault *fault);

enum ipf_result { IPF_PRIMS, IPF_END, IPF_FAULT };
enum ipf_result ipf_next(struct ipf_tile *tile, struct ipf_prims *prims, struct gpu_fault *fault);

/*
 * The following functions fetch from a block with its header as ipf_next() returned it, which is
 * not checked again.
 */

/* A primitive: its index word and the fixed words of its vertices; unused ones are zero. */
struct ipf_prim {
	struct pumice_prim_index index;
	struct pumice_prim_vertex vertex[3];
};
bool ipf_fetch(const struct pm_scene *scene, struct mmu *mmu, struct mmu_tlb *tlb, u32 block,
	       const struct pumice_prim_block *header, u32 prim, struct ipf_prim *out,
	       struct gpu_fault *fault);
/* Vertices of a primitive whose vertex program has not run: deferred vertex shading. */
struct ipf_deferred {
	struct pumice_prim_draw draw;
	u32 vertices;	/* of its kind */
	u32 number[3];	/* of its vertices; if it was clipped, before it was */
	u8 corner[3];	/* of the clipped polygon: its vertices, if it was clipped */
};
/* Fetch the deferred vertices of a primitive. The block's vertex_data is not VARYINGS. */
bool ipf_fetch_deferred(const struct pm_scene *scene, struct mmu *mmu, struct mmu_tlb *tlb,
			u32 block, const struct pumice_prim_block *header,
			const struct pumice_prim_index *index, struct ipf_deferred *out,
			struct gpu_fault *fault);
/* Vertices of a block whose varyings the TSP reads: header->varyings words each. */
struct ipf_varyings {
	const struct pumice_prim_block *header;
	u32 block, count;	/* up to 3 vertices */
	u8 vertex[3];
	float *out[3];
};
/* Fetch the varyings of vertices of a block. Its vertex_data is VARYINGS. */
bool ipf_fetch_varyings(const struct pm_scene *scene, struct mmu *mmu, struct mmu_tlb *tlb,
			const struct ipf_varyings *v, struct gpu_fault *fault);
/* Return the number of vertices of a primitive. */
static inline u32 ipf_vertices(u8 kind)
{
	return kind == PUMICE_PRIM_KIND_TRIANGLE ? 3 : kind == PUMICE_PRIM_KIND_LINE ? 2 : 1;
}

#endif
