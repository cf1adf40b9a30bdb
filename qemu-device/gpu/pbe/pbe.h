/* SPDX-License-Identifier: MIT */
/*
 * Pixel back end (PBE): packs a finished tile and stores it.
 *
 * Source: document 004, "PBE"; hw/formats.xml, pbe_state; hw/surface.h.
 */
#ifndef PUMICE_GPU_PBE_H
#define PUMICE_GPU_PBE_H

#include <stdbool.h>

#include "../mmu/mmu.h"
#include "../usc/gfx.h"

/*
 * Convert and store a tile; words: a pbe_state. Returns false with *fault filled in except
 * usc and pc.
 */
bool pbe_store(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, const struct usc_tile *tile,
	       const u32 words[8], struct gpu_fault *fault);

/*
 * The same for a tile all of whose samples have the outputs output[]. Returns false if the store
 * would fault, or depends on positions: then the caller fills the tile's outputs, and stores these.
 * Not in detailed modes.
 */
bool pbe_store_constant(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx,
			const struct usc_tile *tile, const u32 *output, const u32 words[8]);

#endif
