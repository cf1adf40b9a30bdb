/* SPDX-License-Identifier: MIT */
/*
 * Assembly of primitives: read the indices of a chunk, find repeated vertices in a vertex
 * cache, and make a list of vertices to shade and of primitives that refer to them.
 *
 * Source: document 004, "VDM": only unique indices are sent to the PDS.
 *
 * A position in a draw counts its vertices or indices from 0. A run is the range between two
 * restarts: it begins at the start of the draw or after an index of all ones, and no
 * primitive crosses its ends.
 */
#ifndef PUMICE_GPU_VDM_ASSEMBLE_H
#define PUMICE_GPU_VDM_ASSEMBLE_H

#include "../ta/ta.h"
#include "command.h"

#define VDM_PIECE_PRIMS		512u
#define VDM_PIECE_VERTICES	(3u * VDM_PIECE_PRIMS)	/* whole waves */
#define VDM_PIECE_MOST		(VDM_PIECE_VERTICES + PUMICE_LANES)	/* copies begin a wave */
#define VDM_CACHE_ENTRIES	4096u	/* more than twice the vertices of a piece */
#define VDM_NOT_CACHED		0xffffu

/* Unit of work of a core. */
struct vdm_piece {
	u32 prims, vertices;
	u32 first, shade;	/* those to shade, at the end; the others are copied: reuse.h */
	struct ta_prim prim[VDM_PIECE_PRIMS];
	u32 vertex[VDM_PIECE_VERTICES];		/* to shade: numbers, base_vertex included */
	/* By place in the outputs, copies included: the same. Set by vdm_reuse_arrange(). */
	u32 number[VDM_PIECE_MOST];
	/* Numbers of the vertices in the previous piece, or VDM_NOT_CACHED. */
	u16 before[VDM_PIECE_MOST];
};

/* An index in a piece; empty if the stamp is not that of the piece. */
struct vdm_cached {
	u32 index;
	u16 local;	/* index in piece.vertex */
	u16 stamp;
};

/*
 * Vertices of a piece and of the previous one, whose stamp is one lower. Indices are in a table for
 * each by open addressing: that of stamp n is table[n % 2]. Of a draw without indices the vertices
 * are consecutive, from position low on; a fan's first one precedes them if first is 1.
 */
struct vdm_cache {
	u16 stamp;
	struct vdm_cached table[2][VDM_CACHE_ENTRIES];
	u64 low;
	u32 first;
};

/* Progress of the assembly of a chunk. */
struct vdm_place {
	u64 at;		/* next position in the draw */
	u64 run;	/* start of its run */
};

/* Access of an index reader to memory. */
struct vdm_reader {
	struct mmu *mmu;
	struct mmu_tlb *tlb;
	unsigned int ctx;
	u64 read;	/* indices read so far */
};

/* Maximum size of a piece. */
struct vdm_piece_limits {
	u32 prims;	/* 1 to VDM_PIECE_PRIMS */
	u32 vertices;	/* 3 to VDM_PIECE_VERTICES */
};

/* Return the number of vertices of a primitive; of a strip or fan, of its first primitive. */
u32 vdm_topology_vertices(u32 topology);
/* Return the number of positions from one primitive to the next: 1 for strips and fans. */
u32 vdm_topology_step(u32 topology);
enum pumice_prim_kind vdm_topology_kind(u32 topology);

/*
 * Find the start of the run of position end; *run is that of position begin. Returns false on
 * an MMU fault.
 */
bool vdm_find_run(struct vdm_reader *reader, const struct vdm_draw *draw, u64 begin, u64 end,
		  u64 *run, struct gpu_fault *fault);
/*
 * Assemble the primitives that are complete at the positions from *place, until end or until
 * the piece is full. follows: the piece assembled before with this cache is of the same draw and
 * instance. Returns false with the MMU's fault in *fault.
 */
bool vdm_assemble(struct vdm_reader *reader, const struct vdm_draw *draw, bool provoking_last,
		  const struct vdm_piece_limits *limits, struct vdm_place *place, u64 end,
		  bool follows, struct vdm_cache *cache, struct vdm_piece *piece,
		  struct gpu_fault *fault);

#endif
