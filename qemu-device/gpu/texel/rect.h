/* SPDX-License-Identifier: MIT */
/*
 * Transfers of rectangles of a layer's blocks between GPU memory and a buffer, in every
 * layout.
 *
 * Source: hw/surface.h. For the PBE and the PTLA. Each 4 KiB grain is translated separately;
 * a block never crosses one.
 */
#ifndef PUMICE_GPU_TEXEL_RECT_H
#define PUMICE_GPU_TEXEL_RECT_H

#include <stdbool.h>
#include <string.h>

#include "../mmu/mmu.h"
#include "surface.h"

/* Copy a texel or a run of them, mostly short: the common sizes are constants for the compiler. */
static inline void texel_copy(u8 *to, const u8 *from, u64 bytes)
{
	switch (bytes) {
	case 1:
		*to = *from;
		break;
	case 2:
		memcpy(to, from, 2);
		break;
	case 4:
		memcpy(to, from, 4);
		break;
	case 8:
		memcpy(to, from, 8);
		break;
	case 16:
		memcpy(to, from, 16);
		break;
	case 32:
		memcpy(to, from, 32);
		break;
	default:
		memcpy(to, from, bytes);
		break;
	}
}

/* Requester of the accesses. */
struct texel_memory {
	struct mmu *mmu;
	struct mmu_tlb *tlb;
	unsigned int ctx;
	enum pumice_unit unit;
	struct gpu_fault *fault;	/* filled in by mmu_translate() */
};

/* Blocks, inside the layer. */
struct texel_rect {
	const struct pumice_level *level;
	u64 addr;		/* GPU virtual address of the layer */
	u32 x, y, width, height;
};

/*
 * Row n of the rectangle is at n * pitch in the buffer. Returns false on a fault; the blocks
 * before it are done.
 */
bool texel_rect_load(const struct texel_memory *memory, const struct texel_rect *rect, u8 *to,
		     u32 pitch);
/* Store only the bits of each block that are set in mask; NULL: all. */
bool texel_rect_store(const struct texel_memory *memory, const struct texel_rect *rect,
		      const u8 *from, u32 pitch, const u8 *mask);

/*
 * Store the same block everywhere. Returns false, with some of the blocks done, where a store would
 * fault: the caller stores all in another way. Not in detailed modes; fault of memory is not used.
 */
bool texel_rect_fill(const struct texel_memory *memory, const struct texel_rect *rect,
		     const u8 *block);

#endif
