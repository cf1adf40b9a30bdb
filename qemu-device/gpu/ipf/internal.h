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
/* Host pointer to va, to the end of its 4 KiB page; NULL with *fault. */
const u32 *ipf_host(const struct ipf_source *source, u64 va, struct gpu_fault *fault);
/* The same if the TLB holds it, else NULL: to say that memory will be needed soon. */
const u32 *ipf_hint(const struct ipf_source *source, u64 va);
/* Copy words: each is read once. */
static inline void ipf_copy(u32 *to, const u32 *from, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}
/* Words of one page from va. */
static inline bool ipf_read(const struct ipf_source *source, u64 va, u32 *words, u32 count,
			    struct gpu_fault *fault)
{
	const u32 *host = ipf_host(source, va, fault);

	if (host)
		ipf_copy(words, host, count);
	return host != NULL;
}
/*
 * The first primitive of the mask will be fetched soon: bring its block's header, its
 * index word and, as if vertices stood in the order of primitives, its vertices nearer to the
 * processor. A guess, for a block like another; nothing depends on it.
 */
void ipf_hint_prim(const struct ipf_source *source, u32 block,
		   const struct pumice_prim_block *like, u32 mask);
/* Read and check the header of a block. */
bool ipf_read_block(const struct ipf_source *source, u32 block, struct pumice_prim_block *header,
		    struct gpu_fault *fault);

#endif
