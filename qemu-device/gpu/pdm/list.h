/* SPDX-License-Identifier: MIT */
/*
 * Render control list: the walk through it, and the FIFO of its tiles.
 *
 * Source: document 001, "Binning Pass"; hw/render.xml. Included by state.h only.
 *
 * One core at a time walks the list, without the device lock, and appends tiles to the FIFO;
 * all cores claim tiles from it, with the lock. A full FIFO stops the walk. Its size is the property
 * tile-fifo.
 *
 * For a job whose stream is a render record the commands are not read but generated: those of
 * all tiles, macro tile by macro tile. They are executed like the others.
 */
#ifndef PUMICE_GPU_PDM_LIST_H
#define PUMICE_GPU_PDM_LIST_H

#include "../fifo/fifo.h"
#include "../mmu/mmu.h"
#include "command.h"

#define PDM_LIST_TILES	64u	/* most entries of the FIFO */
#define PDM_LIST_LOW	4u	/* the walk continues when this part of it, or less, is in use */
#define PDM_LIST_WINDOW	64u	/* words that are read ahead, at most: an aligned block */
#define PDM_LIST_PIECE	256u	/* commands of a step of the walk */

#define PDM_MAX_TILES_X	(PUMICE_MAX_RENDER_SIZE / 16u)	/* of the smallest tiles */

/* A tile that no core has claimed. */
struct pdm_entry {
	u16 x, y;
	bool branch;		/* it has primitives */
	bool own_store;		/* it is stored by a program of its own: store */
	u32 store[4];		/* a valid stage */
};

struct pdm_list {
	/* Device lock. */
	bool walking;		/* a core walks the list */
	bool ended;		/* no more entries will follow */
	struct fifo tiles;	/* from master IPF to core PDMs, */
	u32 first;		/* whose first entry is this one */
	struct pdm_entry entry[PDM_LIST_TILES];

	/* Of the core that walks. */
	struct mmu_tlb tlb;
	u64 pc, command_pc;
	u32 depth;
	u64 return_pc[PUMICE_PDM_MAX_DEPTH];
	bool window_valid;
	u64 window_at;			/* address of the window */
	u32 window[PDM_LIST_WINDOW];
	bool appended;			/* tiles, in this piece */
	bool generated;			/* the commands, and where */
	u32 at_macro, at_x, at_y, at_step;
	u32 idle;			/* commands since the last store */
	bool open;			/* a tile is not stored yet: next */
	struct pdm_entry next;
	bool seen[PDM_MAX_TILES_X][PDM_MAX_TILES_X];	/* tiles, by row and column */
	_Atomic u64 commands;		/* executed; a counter */
};

#endif
