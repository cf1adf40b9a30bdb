/* SPDX-License-Identifier: MIT */
/*
 * MMU contexts 1 to 31, assigned to VMs (document 000, "Memory Hierarchy"). All
 * functions are called with interrupts off. A VM is identified by its catalogue and its
 * virtual GPU, as one value: os_vm(). So no virtual GPU can name a VM of another,
 * and the device lets its jobs access memory of their virtual GPU only.
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
 * mmu_bind - bind an MMU context to a context's VM; if none is free, reassign the
 * least recently used one. It remains bound at least until mmu_unbind().
 */
u32 mmu_bind(struct context *c);

/** mmu_find - return the MMU context of a context's VM, or 0. */
u32 mmu_find(const struct context *c);

/** mmu_unbind - release after the job has left its data master. @ctx: returned by mmu_bind() */
void mmu_unbind(u32 ctx);

/**
 * mmu_invalidate - invalidate TLB entries after a change of a VM's tables.
 * @catalogue: the VM
 * @start: first GPU virtual address, 4 KiB aligned
 * @end: last byte; start > end: everything
 */
void mmu_invalidate(u64 catalogue, u64 start, u64 end);

/** mmu_release - unbind a VM's MMU context, if it has one. No job may use it. */
void mmu_release(u64 catalogue);

/**
 * mmu_release_next - the same for one VM of the selected virtual GPU.
 *
 * Return: false if none has an MMU context.
 */
bool mmu_release_next(void);

#endif
