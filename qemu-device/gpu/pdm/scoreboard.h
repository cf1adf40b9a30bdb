/* SPDX-License-Identifier: MIT */
/*
 * Scoreboard of a tile: locks of the samples that its running tasks may access.
 *
 * Source: document 001, "Rendering Pass": it is locked and unlocked around accesses to the tile
 * buffer, which orders the fragments of a pixel. A task locks the samples of its spans when it is
 * issued, and unlocks them when it has ended and was reaped. A task of a later pass is held while
 * one of its own samples is locked; tasks are issued in order, so those of a sample run in the
 * order of its primitives.
 *
 * The unit of a lock is the sample: a program reads and writes no others, and in a pass each has
 * one owner, so that a sample never has two tasks, while a pixel may.
 *
 * Tasks whose program decides on depth, stencil or mask (discard, depth) have late locks, too: the
 * ISP waits for these.
 *
 * Used by the thread of the core's unit alone.
 */
#ifndef PUMICE_GPU_PDM_SCOREBOARD_H
#define PUMICE_GPU_PDM_SCOREBOARD_H

#include <stdbool.h>

#include "../usc/gfx.h"

#define PDM_QUADS	(PUMICE_TILE_PIXELS / USC_SPAN_LANES)

/* Sets of samples are those of usc_span; indexed by the quad of the tile. */
struct pdm_scoreboard {
	u16 locked[PDM_QUADS];
	u16 late[PDM_QUADS];	/* of these, samples of tasks with late locks */
	u32 late_tasks;		/* tasks with late locks */
};

/* Unlock all samples: no task of the tile runs. */
void pdm_scoreboard_reset(struct pdm_scoreboard *board);
/* Return whether a sample of the spans is locked. */
bool pdm_scoreboard_holds(const struct pdm_scoreboard *board, const struct usc_span *span,
			  u32 spans);
/* Lock the samples of the spans of a task; none of them is locked. */
void pdm_scoreboard_lock(struct pdm_scoreboard *board, const struct usc_span *span, u32 spans,
			 bool late);
/* Unlock the samples that the same spans have locked. */
void pdm_scoreboard_unlock(struct pdm_scoreboard *board, const struct usc_span *span, u32 spans,
			   bool late);

#endif
