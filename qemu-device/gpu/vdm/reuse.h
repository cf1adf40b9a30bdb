/* SPDX-License-Identifier: MIT */
/*
 * Vertices of a piece that the core has shaded for the previous piece: their outputs are copied.
 *
 * Source: document 001, "Binning Pass": a vertex that is referenced more than once is shaded once.
 *
 * A vertex of another draw or instance has other inputs, so that it is another vertex. Of a draw
 * without indices, strips and fans share vertices with their previous piece.
 *
 * If a coordinate program culls primitives, its positions are copied like outputs; and all outputs
 * that the piece before has are, because those that are used are not known yet.
 *
 * Limits: only of the last piece of the core, which is a cache of a fixed size: two pieces are in
 * the VPM at least.
 */
#ifndef PUMICE_GPU_VDM_REUSE_H
#define PUMICE_GPU_VDM_REUSE_H

#include "assemble.h"

/* The previous piece, and the vertices that are copied from it. */
struct vdm_reuse {
	bool valid;	/* its vertices were shaded, and the cache has their indices */
	u64 part;	/* its draw and instance: vdm_chunk.part */
	u32 sequence;	/* its chunk */
	/* By the cache's number, or by that of the position: that of its outputs. */
	u16 number[VDM_PIECE_MOST];
	u32 copies, copied;
	u16 copy[VDM_PIECE_VERTICES];	/* numbers of the outputs to copy */
};

/*
 * Number the vertices of a piece, which are final, such that those that are copied come first: when
 * the TA has binned the piece before, they are there. Those that are to be shaded begin a wave.
 * Then *reuse describes this piece, and piece->number is set.
 */
void vdm_reuse_arrange(struct vdm_reuse *reuse, struct vdm_piece *piece);
/*
 * The same for a piece without primitives so far: those of whole, which was arranged by *positions,
 * are added one by one.
 */
void vdm_reuse_begin(struct vdm_reuse *reuse, struct vdm_piece *whole,
		     const struct vdm_reuse *positions, struct vdm_piece *piece);
/* Add primitive n of whole to a piece, and those of its vertices that the piece does not have. */
void vdm_reuse_add(struct vdm_reuse *reuse, const struct vdm_piece *whole, u32 n,
		   struct vdm_piece *piece);
/*
 * Copy outputs of the piece before to those of the piece: before[n] and vo[n] are the vo_words rows
 * of wave n. Returns false if some are left for the next call.
 */
bool vdm_reuse_copy(struct vdm_reuse *reuse, u32 *const *before, u32 *const *vo, u32 vo_words);

#endif
