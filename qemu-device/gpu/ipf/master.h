/* SPDX-License-Identifier: MIT */
/*
 * Master IPF: distributes tiles to the cores.
 *
 * Source: document 004, "Master IPF" and "PDM". Each core PDM has a bounded FIFO of tiles, which it
 * renders one by one; the next tile is for the core with the fewest in its FIFO, of several for the
 * one after the core that received the last: so a core that is faster receives more. A tile stays
 * on its core. When all FIFOs are full, the next tile waits.
 *
 * Limits: the lists of a tile are merged by its core (ipf.h), when it reads them.
 *
 * Locking: the owner's.
 */
#ifndef PUMICE_GPU_IPF_MASTER_H
#define PUMICE_GPU_IPF_MASTER_H

#include "../fifo/fifo.h"
#include "pumice_regs.h"

#define IPF_MASTER_TILES 64u	/* most entries of a FIFO */

/* A tile that its core has not begun. */
struct ipf_work {
	u16 x, y;
	bool branch;		/* it has primitives */
	bool own_store;		/* it is stored by a program of its own: store */
	u32 store[4];		/* a valid stage */
};

struct ipf_master {
	u32 cores;
	u32 next;		/* core after the one that received the last tile */
	bool waits;		/* the next tile, if one follows, found all FIFOs full */
	struct ipf_queue {
		struct fifo tiles;
		u32 first;	/* entry that is the first one */
		struct ipf_work work[IPF_MASTER_TILES];
	} core[PUMICE_MAX_CORES];
};

/* depth: of each FIFO, 1 to IPF_MASTER_TILES */
void ipf_master_init(struct ipf_master *master, u32 cores, u32 depth);
/* Drop all tiles. */
void ipf_master_clear(struct ipf_master *master, u64 now);

/* Return whether tiles should be added: a core has few. */
bool ipf_master_low(const struct ipf_master *master);
/* Add a tile to the FIFO of a core; there is room. Return whether there is room for another one. */
bool ipf_master_add(struct ipf_master *master, const struct ipf_work *work, u64 now);
/* The next tile, if one follows, waits for room: it is counted when it is added. */
void ipf_master_wait(struct ipf_master *master);
/* Remove the next tile of a core. Returns false if it has none. */
bool ipf_master_take(struct ipf_master *master, u32 core, struct ipf_work *work, u64 now);

/* Return the number of tiles in the FIFO of a core, and in those of all cores. */
static inline u32 ipf_master_tiles(const struct ipf_master *master, u32 core)
{
	return master->core[core].tiles.level;
}
u32 ipf_master_all(const struct ipf_master *master);
/* Add waits and occupancy of all FIFOs to counters; any thread. */
void ipf_master_counters(const struct ipf_master *master, u64 *waits, u64 *occupancy);

#endif
