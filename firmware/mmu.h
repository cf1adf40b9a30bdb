/* SPDX-License-Identifier: MIT */
/*
 * MMU contexts 1 to 31, lent to VMs (document 000, "Memory Hierarchy"). All
 * functions are called with interrupts off; catalogues are bus addresses that
 * mmu_catalogue_valid() accepts.
 */
#ifndef FW_MMU_H
#define FW_MMU_H

#include "bus.h"

struct context;

static inline bool mmu_catalogue_valid(u64 catalogue)
{
	return catalogue && !(catalogue & ~PUMICE_MMU_CTX__CATALOGUE__MASK);
}

/**
 * mmu_bind - give a context's VM an MMU context, taking the one that rested
 * longest. It stays the VM's until mmu_unbind().
 */
u32 mmu_bind(struct context *c);

/** mmu_unbind - the job is off its data master. @ctx: what mmu_bind() gave */
void mmu_unbind(u32 ctx);

/**
 * mmu_invalidate - a VM's tables changed.
 * @catalogue: the VM
 * @start: first GPU virtual address, 4 KiB aligned
 * @end: last byte; start > end: everything
 */
void mmu_invalidate(u64 catalogue, u64 start, u64 end);

/** mmu_release - take a VM's MMU context away, if it has one. No job may use it. */
void mmu_release(u64 catalogue);

#endif
