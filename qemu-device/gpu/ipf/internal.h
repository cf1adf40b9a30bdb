/* SPDX-License-Identifier: MIT */
/* ISP parameter fetch, inside: streams (ipf.c) and blocks (block.c). */
#ifndef PUMICE_GPU_IPF_INTERNAL_H
#define PUMICE_GPU_IPF_INTERNAL_H

#include "ipf.h"

/* How a request is made, and of what. */
struct ipf_source {
	const struct pm_scene *scene;
	struct mmu *mmu;
	struct mmu_tlb *tlb;
	enum pumice_unit unit;
};

/* *fault becomes a fault at a place of the job's memory; returns false. */
bool ipf_fault(const struct ipf_source *source, struct gpu_fault *fault, enum pumice_fault why,
	       u64 addr);
/*
 * Copy words, all of one 4 KiB page, from va. Each is read once. False with
 * *fault.
 */
bool ipf_read(const struct ipf_source *source, u64 va, u32 *words, u32 count,
	      struct gpu_fault *fault);
/* Where in a block an index word, or a vertex, stands. */
u32 ipf_index_at(u32 prim);
u32 ipf_vertex_at(const struct pumice_prim_block *header, u32 vertex);
/* Read and check the header of a block. */
bool ipf_read_block(const struct ipf_source *source, u32 block, struct pumice_prim_block *header,
		    struct gpu_fault *fault);

#endif
