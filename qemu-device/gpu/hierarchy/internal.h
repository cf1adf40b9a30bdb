/* SPDX-License-Identifier: MIT */
/* State of the memory hierarchy, shared by its files. */
#ifndef PUMICE_GPU_HIERARCHY_INTERNAL_H
#define PUMICE_GPU_HIERARCHY_INTERNAL_H

#include <pthread.h>

#include <string.h>

#include "../dcu/dcu.h"
#include "../mcu/mcu.h"
#include "../tcu/cache.h"
#include "hierarchy.h"

#define BIF_USCS	2u	/* USCs that share a BIF, with an MCU */
#define MAX_BIFS	(HIERARCHY_MAX_CORES * MCU_MAX_USCS / BIF_USCS + 1)
#define QUEUED_LINES	1024u	/* a power of two */

/* Data and texture caches of a core. */
struct hierarchy_core {
	struct hierarchy *h;
	u32 number;
	struct mcu *mcu;	/* one of the two */
	struct dcu *dcu;
	struct tcu_caches *tcu;
};

/* Requests of units. */
struct hierarchy_made {
	u64 requests, bytes;
};

struct hierarchy {
	struct hierarchy_config config;	/* constant, as are the next ones */
	u32 bifs, bifs_per_core;
	struct slc *slc;
	struct bif *bif[MAX_BIFS];
	struct hierarchy_core core[HIERARCHY_MAX_CORES];

	pthread_mutex_t lock;		/* guards all below, and the blocks above */
	struct hierarchy_made made[PUMICE_MEM_CLIENT_COUNT];
	u64 invalid;	/* requests that were not valid */
	/*
	 * Requester + 1 of queued requests, over all BIFs, by a hash of their line; 0: none. Those
	 * of one requester are in order; a request of another one for the same line waits for them.
	 */
	u16 queued[QUEUED_LINES];
};

static inline void hierarchy_drain_locked(struct hierarchy *h)
{
	bif_drain(h->bif, h->bifs);
	memset(h->queued, 0, sizeof(h->queued));
}

#endif
