/* SPDX-License-Identifier: MIT */
/*
 * Master IPF: distributes tiles to the cores, and reads the parameter buffer for them.
 *
 * Source: document 004, "Master IPF" and "PDM". Each core PDM has a bounded FIFO of tiles, which it
 * renders one by one; the next tile is for the core with the fewest in its FIFO, of several for the
 * one after the core that received the last: so a core that is faster receives more. A tile stays
 * on its core. When all FIFOs are full, the next tile waits.
 *
 * With a tile its core receives one command stream (stream.h), into which the lists of all cores
 * are merged. Each core has a port of the master IPF: ports of different cores read in parallel,
 * and each reads several streams, one entry when the core requests it. Their requests are those of
 * a block outside of the cores.
 *
 * Locking: the owner's, but for ipf_master_next(): one thread at a time for each core.
 */
#ifndef PUMICE_GPU_IPF_MASTER_H
#define PUMICE_GPU_IPF_MASTER_H

#include "../fifo/fifo.h"
#include "stream.h"

#define IPF_MASTER_TILES 64u	/* most entries of a FIFO */
#define IPF_MASTER_STREAMS 2u	/* streams that a core receives at the same time */

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
	struct ipf_job job;
	struct ipf_queue {
		struct fifo tiles;
		u32 first;	/* entry that is the first one */
		struct ipf_work work[IPF_MASTER_TILES];
		/* The port of the core; used by its thread. */
		struct mmu_tlb tlb, *shared;	/* its own; that of the core, or NULL */
		struct ipf_stream stream[IPF_MASTER_STREAMS];
	} core[PUMICE_MAX_CORES];
};

/*
 * Initialise with empty FIFOs. depth: of each, 1 to IPF_MASTER_TILES. TLBs are kept: all bytes of a
 * new master are zero.
 */
void ipf_master_init(struct ipf_master *master, u32 cores, u32 depth);
/*
 * Let the port of a core share a TLB of the core, which has a second level: the core's thread uses
 * both, for the same pages. In fast mode, in which only the speed depends on it, the port uses this
 * TLB instead of its own; in detailed modes only its second level, because the port's requests have
 * another place.
 */
void ipf_master_share_tlb(struct ipf_master *master, u32 core, struct mmu_tlb *tlb);
/* Begin a job, which stays valid until its last tile is done: drop all tiles of the one before. */
void ipf_master_begin(struct ipf_master *master, const struct ipf_job *job, u64 now);

/* Return whether tiles should be added: a core has few. */
bool ipf_master_low(const struct ipf_master *master);
/* Add a tile to the FIFO of a core; there is room. Return whether there is room for another one. */
bool ipf_master_add(struct ipf_master *master, const struct ipf_work *work, u64 now);
/* The next tile, if one follows, waits for room: it is counted when it is added. */
void ipf_master_wait(struct ipf_master *master);
/*
 * Remove the next tile of a core, and begin its stream, by the number of one of the core's streams
 * that is not in use. Returns false if there is no tile.
 */
bool ipf_master_take(struct ipf_master *master, u32 core, u32 stream, struct ipf_work *work,
		     u64 now);
/* Read the next entry of a stream of a core: as ipf_stream_next(). */
enum ipf_result ipf_master_next(struct ipf_master *master, u32 core, u32 stream,
				struct ipf_prims *prims, struct gpu_fault *fault);

/* Return the number of tiles in the FIFO of a core, and in those of all cores. */
static inline u32 ipf_master_tiles(const struct ipf_master *master, u32 core)
{
	return master->core[core].tiles.level;
}
u32 ipf_master_all(const struct ipf_master *master);
/* Add waits and occupancy of all FIFOs to counters; any thread. */
void ipf_master_counters(const struct ipf_master *master, u64 *waits, u64 *occupancy);

#endif
