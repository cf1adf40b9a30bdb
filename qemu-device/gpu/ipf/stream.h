/* SPDX-License-Identifier: MIT */
/*
 * Master IPF: the one command stream of a tile.
 *
 * Source: document 004, "Master IPF"; hw/formats.xml, region, tile_chunk, tile_entry. Each core
 * has written a list of its own for the tile, which the region header of that core names. They are
 * merged by the chunk numbers (sequence) in the headers of their blocks, so that the entries of the
 * stream are in submission order. An entry does not name the core that wrote it.
 *
 * The stream is read when its next entry is requested: no list is accessed before the first one.
 *
 * Everything read is checked: a damaged region header, list or block is a fault, and so is an
 * endless list: one whose chunks repeat, or that has more chunks than the free lists have room for.
 * Each word is read once; host pointers are not kept beyond a call.
 */
#ifndef PUMICE_GPU_IPF_STREAM_H
#define PUMICE_GPU_IPF_STREAM_H

#include "ipf.h"

/* The parameter buffer of a job: constant while its tiles are rendered. */
struct ipf_job {
	const struct pm_scene *scene;
	struct mmu *mmu;
	u32 used;	/* cores that have written region headers; of pm_scene_state */
	u32 limit;	/* a list ends at the first block whose sequence is not below it; 0: none */
};

/* The list of one core. */
struct ipf_list {
	u32 chunk;	/* pb_ref */
	u32 entry;	/* next in the chunk */
	u32 chunks;	/* chunks so far */
	u32 mark;	/* recorded chunk: number 1, 2, 4, 8 and so on */
	struct ipf_prims next;
};

/* State of the merge. Plain data, so it may be copied between two calls. */
struct ipf_stream {
	u32 tile;	/* its number: row by row */
	bool opened;	/* its lists are known */
	u32 lists;	/* those with more entries; in the order of cores */
	struct ipf_list list[PUMICE_MAX_CORES];
};

/* Begin the stream of a tile. branch: it has primitives; else the stream is empty. */
void ipf_stream_begin(struct ipf_stream *stream, u32 tile, bool branch);

/* PRIMS: *prims is the next entry. FAULT: all of *fault is filled in, and the stream has ended. */
enum ipf_result { IPF_PRIMS, IPF_END, IPF_FAULT };
enum ipf_result ipf_stream_next(struct ipf_stream *stream, const struct ipf_job *job,
				struct mmu_tlb *tlb, struct ipf_prims *prims,
				struct gpu_fault *fault);

#endif
