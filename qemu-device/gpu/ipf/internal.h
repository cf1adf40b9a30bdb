/* SPDX-License-Identifier: MIT */
/* Reads of the parameter buffer, by the master IPF (stream.c) and by a core (block.c). */
#ifndef PUMICE_GPU_IPF_INTERNAL_H
#define PUMICE_GPU_IPF_INTERNAL_H

#include "ipf.h"

/* Source of a request: MMU context and scene. unit: or MMU_SECOND() of it. */
struct ipf_source {
	const struct pm_scene *scene;
	struct mmu *mmu;
	struct mmu_tlb *tlb;
	enum pumice_unit unit;
};

/* Set *fault to a fault at an address of the job; returns false. */
bool ipf_fault(const struct ipf_source *source, struct gpu_fault *fault, enum pumice_fault why,
	       u64 addr);
/*
 * Return a host pointer to va, valid to the end of its 4 KiB page; NULL with *fault. bytes as for
 * mmu_translate().
 */
const u32 *ipf_host(const struct ipf_source *source, u64 va, u64 bytes, struct gpu_fault *fault);
/* Return the same on a TLB hit, else NULL: for prefetches. */
const u32 *ipf_hint(const struct ipf_source *source, u64 va);
/* Copy words: each is read once. */
static inline void ipf_copy(u32 *to, const u32 *from, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}
/* Read words of one page from va. */
static inline bool ipf_read(const struct ipf_source *source, u64 va, u32 *words, u32 count,
			    struct gpu_fault *fault)
{
	const u32 *host = ipf_host(source, va, count * sizeof(*words), fault);

	if (host)
		ipf_copy(words, host, count);
	return host != NULL;
}
/*
 * Prefetch for the first primitive of the mask: its block's header, its index word and its
 * vertices, as if vertices were in the order of primitives. Only a hint, which assumes a
 * typical block.
 */
void ipf_hint_prim(const struct ipf_source *source, u32 block,
		   const struct pumice_prim_block *like, u32 mask);
/* Read and check the header of a block. */
bool ipf_read_block(const struct ipf_source *source, u32 block, struct pumice_prim_block *header,
		    struct gpu_fault *fault);

#endif
