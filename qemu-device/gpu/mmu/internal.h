/* SPDX-License-Identifier: MIT */
/* Memory management unit: shared by its files. */
#ifndef PUMICE_GPU_MMU_INTERNAL_H
#define PUMICE_GPU_MMU_INTERNAL_H

#include "mmu.h"

/* Get the entry of a table at a bus address; false if there is no memory. Makes no request. */
bool mmu_get_entry(const struct mmu *mmu, unsigned int os, u64 addr, u64 *entry);

/*
 * Return the register with the catalogue for an address, and the virtual GPU whose memory it is in.
 * While several are active, each has a part of context 0 with a catalogue of its own. One other
 * than 0 whose part is disabled accesses no memory, in no context: it has been reset.
 */
u64 mmu_context_reg(const struct mmu *mmu, unsigned int ctx, u64 va, unsigned int *os);

#endif
