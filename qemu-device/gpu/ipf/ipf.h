/* SPDX-License-Identifier: MIT */
/*
 * ISP parameter fetch (IPF) of a core: reads primitives from the blocks of the parameter buffer.
 *
 * Source: document 004, "ISP Parameter Fetch". The entries of a tile's command stream come from
 * the master IPF (master.h). The TSP's fetches of varyings are here, too.
 *
 * Everything read is checked: a damaged block is a fault. Each word is read once; host pointers
 * are not kept beyond a call.
 */
#ifndef PUMICE_GPU_IPF_H
#define PUMICE_GPU_IPF_H

#include <stdbool.h>

#include "../fault.h"
#include "../mmu/mmu.h"
#include "../pm/pm.h"
#include "pumice_regs.h"

/*
 * An entry of a tile's stream: primitives of one block that touch the tile. It is a validated
 * tile_entry and its block's header.
 */
struct ipf_prims {
	u32 block;		/* pb_ref */
	u32 mask;		/* primitives of the block */
	struct pumice_prim_block header;
};

/*
 * The following functions fetch from a block with its header as the master IPF passed it, which is
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
