/* SPDX-License-Identifier: MIT */
/*
 * Render control list: the walk through it.
 *
 * Source: document 001, "Binning Pass"; hw/render.xml. Included by state.h only.
 *
 * One core at a time walks the list, without the device lock, and passes tiles to the master IPF,
 * which distributes them to the FIFOs of the cores; each core claims tiles from its own, with the
 * lock. The walk stops when all are full, and continues when one has few. Their size is the
 * property tile-fifo.
 *
 * For a job whose stream is a render record the commands are not read but generated: those of
 * all tiles, macro tile by macro tile. They are executed like the others.
 */
#ifndef PUMICE_GPU_PDM_LIST_H
#define PUMICE_GPU_PDM_LIST_H

#include "../ipf/master.h"
#include "../mmu/mmu.h"
#include "command.h"

#define PDM_LIST_WINDOW	64u	/* words that are read ahead, at most: an aligned block */
#define PDM_LIST_PIECE	256u	/* commands of a step of the walk */

#define PDM_MAX_TILES_X	(PUMICE_MAX_RENDER_SIZE / 16u)	/* of the smallest tiles */

struct pdm_list {
	/* Device lock. */
	bool walking;		/* a core walks the list */
	bool ended;		/* no more entries will follow */
	bool held;		/* a flush waits for the tiles before it; it is fetched again */
	struct ipf_master master;	/* the FIFOs of the cores */

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
	struct ipf_work next;
	bool seen[PDM_MAX_TILES_X][PDM_MAX_TILES_X];	/* tiles, by row and column */
	_Atomic u64 commands;		/* executed; a counter */
};

#endif
