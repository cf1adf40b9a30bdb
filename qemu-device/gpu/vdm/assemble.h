/* SPDX-License-Identifier: MIT */
/*
 * Assembly of primitives: indices of a chunk are read, a vertex cache finds those
 * that were there before, and what is left is a list of vertices to shade and
 * primitives that name them.
 *
 * Source: document 004, "VDM": only unique indices go on to the PDS.
 *
 * A place in a draw counts its vertices or indices from 0. A run is what lies
 * between two restarts: it begins at the start of the draw or behind an index of
 * all ones, and a primitive never reaches over its edges.
 */
#ifndef PUMICE_GPU_VDM_ASSEMBLE_H
#define PUMICE_GPU_VDM_ASSEMBLE_H

#include "../ta/ta.h"
#include "command.h"

#define VDM_PIECE_PRIMS		512u
#define VDM_PIECE_VERTICES	(3u * VDM_PIECE_PRIMS)	/* whole waves */
#define VDM_CACHE_ENTRIES	4096u	/* more than twice the vertices of a piece */

/* What a core has under way at a time. */
struct vdm_piece {
	u32 prims, vertices;
	struct ta_prim prim[VDM_PIECE_PRIMS];
	u32 vertex[VDM_PIECE_VERTICES];		/* vertex numbers, base_vertex included */
};

/* Indices that a piece has seen, by open addressing; an entry of another stamp is empty. */
struct vdm_cache {
	u16 stamp;
	struct {
		u32 index;
		u16 local;	/* place in piece.vertex */
		u16 stamp;
	} entry[VDM_CACHE_ENTRIES];
};

/* How far the assembly of a chunk is. */
struct vdm_place {
	u64 at;		/* next place in the draw */
	u64 run;	/* where its run begins */
};

/* Memory as the reader of indices sees it. */
struct vdm_reader {
	struct mmu *mmu;
	struct mmu_tlb *tlb;
	unsigned int ctx;
	u64 read;	/* indices so far */
};

/* Vertices of a primitive; of a strip or fan, of its first one. */
u32 vdm_topology_vertices(u32 topology);
/* Places from one primitive to the next: 1 for strips and fans. */
u32 vdm_topology_step(u32 topology);
enum pumice_prim_kind vdm_topology_kind(u32 topology);

/* Where the run of place end begins, if that of place begin does at *run. False: an MMU fault. */
bool vdm_find_run(struct vdm_reader *reader, const struct vdm_draw *draw, u64 begin, u64 end,
		  u64 *run, struct gpu_fault *fault);
/*
 * Assemble the primitives that are complete at the places from *place on, as far as a
 * piece has room and not beyond end. False with what the MMU says in *fault.
 */
bool vdm_assemble(struct vdm_reader *reader, const struct vdm_draw *draw, bool provoking_last,
		  struct vdm_place *place, u64 end, struct vdm_cache *cache,
		  struct vdm_piece *piece, struct gpu_fault *fault);
/* Drop primitives that are not kept, and vertices that none of the others has. */
void vdm_piece_keep(struct vdm_piece *piece, const bool *keep);

#endif
