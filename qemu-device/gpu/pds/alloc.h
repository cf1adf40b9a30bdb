/* SPDX-License-Identifier: MIT */
/*
 * Allocator of one store of one USC.
 *
 * Source: document 000, "Programmable Data Sequencer" (the resource controller)
 * and "USC Register Stores". Hands out contiguous pieces, first fit, and joins
 * free neighbours, so a store that everybody has left is one piece again.
 *
 * Limits: counts units and knows nothing of their size; as many live pieces as
 * a USC has slots, because every piece belongs to a task or to a group, and a
 * group has at least one task.
 */
#ifndef PUMICE_GPU_PDS_ALLOC_H
#define PUMICE_GPU_PDS_ALLOC_H

#include <stdbool.h>

#include "pumice_regs.h"
#include "pumice_types.h"

/* Live pieces cut the store into at most one free piece more than there are of them. */
#define PDS_STORE_EXTENTS (PUMICE_USC_SLOTS + 1u)

struct pds_extent {
	u32 start, count;	/* units */
};

/* Plain data. */
struct pds_store {
	u32 size;	/* units in all */
	u32 free;	/* units in the extents below */
	u32 extents;	/* how many of them are in use */
	struct pds_extent extent[PDS_STORE_EXTENTS];	/* free; by rising start, none touch */
};

/* Make all size units free. */
void pds_store_init(struct pds_store *store, u32 size);

/*
 * Take count units that lie together; the lowest place where they fit. False,
 * and nothing changed, when there is no such place now. No units are always to
 * be had, at 0.
 */
bool pds_store_alloc(struct pds_store *store, u32 count, u32 *start);

/* Give back what pds_store_alloc() gave, whole. */
void pds_store_free(struct pds_store *store, u32 start, u32 count);

#endif
