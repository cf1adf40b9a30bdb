/* SPDX-License-Identifier: MIT */
/*
 * Account of a bounded FIFO between two blocks: its level, the sum of levels over time, and waits
 * for room. The entries are its owner's.
 *
 * Source: document 004, "VDM" (from the master VDM), "MTE" (IDX FIFO) and "PDM" (from the master
 * IPF).
 *
 * Locking: the owner's, or it is used by one thread. The two counters may be read by any thread.
 */
#ifndef PUMICE_GPU_FIFO_H
#define PUMICE_GPU_FIFO_H

#include <stdatomic.h>
#include <stdbool.h>

#include "../count.h"
#include "pumice_types.h"

struct fifo {
	u32 depth, level;	/* units that it has room for, and that are in it */
	bool waits;		/* the next ones were counted as waiting */
	u64 time;		/* GPU clock, when the level last changed */
	_Atomic u64 waited;	/* how often units had to wait for room */
	_Atomic u64 occupancy;	/* level * ns up to time */
};

static inline void fifo_init(struct fifo *fifo, u32 depth)
{
	fifo->depth = depth;
	fifo->level = 0;
	fifo->waits = false;
	fifo->time = 0;
	atomic_store(&fifo->waited, 0);
	atomic_store(&fifo->occupancy, 0);
}

/* The level is about to change. */
static inline void fifo_tick(struct fifo *fifo, u64 now)
{
	if (now > fifo->time)
		count_add(&fifo->occupancy, fifo->level * (now - fifo->time));
	fifo->time = now;
}

/* The next units have to wait for room: count them once. */
static inline void fifo_wait(struct fifo *fifo)
{
	if (!fifo->waits)
		count_add(&fifo->waited, 1);
	fifo->waits = true;
}

/* Enter n units; false: they have to wait. */
static inline bool fifo_push(struct fifo *fifo, u32 n, u64 now)
{
	if (fifo->level + n > fifo->depth) {
		fifo_wait(fifo);
		return false;
	}
	fifo_tick(fifo, now);
	fifo->waits = false;
	fifo->level += n;
	return true;
}

/* Remove n units. */
static inline void fifo_pop(struct fifo *fifo, u32 n, u64 now)
{
	fifo_tick(fifo, now);
	fifo->level -= n;
}

#endif
