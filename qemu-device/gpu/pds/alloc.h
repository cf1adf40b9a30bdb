/* SPDX-License-Identifier: MIT */
/*
 * Allocator of one store of one USC, or of half of the pool of a core's VPM.
 *
 * Source: document 000, "Programmable Data Sequencer" (the resource controller) and "USC
 * Register Stores". Allocates contiguous pieces, first fit, and joins free neighbours, so an
 * empty store is one piece again.
 *
 * Limits: counts units, whatever their size; at most as many live pieces as a USC manages tasks,
 * because every piece belongs to a task or to a group, and a group has at least one task; and
 * PDS_OUTPUT_PIECES of pixel outputs. The pool has fewer: one for each tile in flight, and for each
 * batch of the RDM.
 */
#ifndef PUMICE_GPU_PDS_ALLOC_H
#define PUMICE_GPU_PDS_ALLOC_H

#include <stdbool.h>

#include "pumice_regs.h"
#include "pumice_types.h"

#define PDS_OUTPUT_PIECES 4u	/* most pieces of pixel outputs in a
				 * store, each of a tile in flight */

/* n live pieces divide the store into at most n + 1 free pieces. */
#define PDS_STORE_EXTENTS (PUMICE_USC_TASKS + PDS_OUTPUT_PIECES + 1u)

struct pds_extent {
	u32 start, count;	/* units */
};

/* Plain data, no pointers. */
struct pds_store {
	u32 size;	/* total units */
	u32 free;	/* units in the extents below */
	u32 extents;	/* number of extents in use */
	struct pds_extent extent[PDS_STORE_EXTENTS];	/* free extents by ascending start;
							 * no two are adjacent */
};

/* Make all size units free. */
void pds_store_init(struct pds_store *store, u32 size);

/*
 * Allocate count contiguous units at the lowest possible position. Returns false without a
 * change when no free extent is large enough. A count of 0 always succeeds, with *start 0.
 */
bool pds_store_alloc(struct pds_store *store, u32 count, u32 *start);

/* Return whether pds_store_alloc() of a count would succeed. */
bool pds_store_has_room(const struct pds_store *store, u32 count);

/*
 * Allocate at the highest possible position that is a multiple of align and not below lowest. A
 * count of 0 is not allowed.
 */
bool pds_store_alloc_high(struct pds_store *store, u32 count, u32 align, u32 lowest, u32 *start);

/* Free a whole piece of the functions above. */
void pds_store_free(struct pds_store *store, u32 start, u32 count);

#endif
