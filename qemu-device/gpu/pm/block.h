/* SPDX-License-Identifier: MIT */
/*
 * Layout of a primitive block in the parameter buffer, which the TA writes and the IPF reads.
 *
 * Source: hw/formats.xml, prim_block: header, prim_index words, prim_draw if vertices are deferred,
 * vertices.
 */
#ifndef PUMICE_GPU_PM_BLOCK_H
#define PUMICE_GPU_PM_BLOCK_H

#include "pumice_formats.h"
#include "pumice_regs.h"

/* Offsets in bytes from the beginning of the block. */
#define BLOCK_INDEX_AT	(PUMICE_PRIM_BLOCK_WORDS * 4u)
#define BLOCK_DRAW_AT	(BLOCK_INDEX_AT + PUMICE_BLOCK_PRIMS * 4u)

static inline u32 block_vertex_at(u32 vertex_data)
{
	return BLOCK_DRAW_AT +
	       (vertex_data == PUMICE_VERTEX_DATA_VARYINGS ? 0 : PUMICE_PRIM_DRAW_WORDS * 4u);
}

/* Return the words of a vertex of the block: its position, and the data that follow it. */
static inline u32 block_vertex_words(u32 vertex_data, u32 varyings)
{
	switch (vertex_data) {
	case PUMICE_VERTEX_DATA_NUMBER:
		return PUMICE_PRIM_VERTEX_WORDS + 1;
	case PUMICE_VERTEX_DATA_CLIPPED:
		return PUMICE_PRIM_VERTEX_WORDS + PUMICE_PRIM_CLIP_WORDS;
	default:
		return PUMICE_PRIM_VERTEX_WORDS + varyings;
	}
}

#endif
