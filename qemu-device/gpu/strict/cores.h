/* SPDX-License-Identifier: MIT */
/*
 * Mode strict: bytes that the data and texture caches of cores may hold, and that another unit has
 * stored since.
 *
 * Source: the project's decision; Documentation/hierarchy.rst, "Fences and cache operations".
 * Caches are not coherent with each other: a store is seen by the USC that executes it and, when it
 * was passed on, by reads that fill a line afterwards. A USC whose caches have read a byte before
 * needs an invalidation with a scope that has these caches. Texture caches receive no stores.
 *
 * Each byte is of the first caches of a USC and of those of its core, for data and for textures.
 * It is as if caches had any size, so that findings do not depend on the preset's sizes.
 *
 * Limits: the last CORES_LINES lines of 64 bytes are known, and fewer if many have the same hash.
 * Only the addresses are kept: the read has the value of memory. Of two levels a read has filled
 * both, though a line of the second may be there since another USC of the core has read it. A load
 * for a compare-and-exchange operation may be old: bytes that such operations write do not become
 * stale, for other reads neither.
 */
#ifndef PUMICE_GPU_STRICT_CORES_H
#define PUMICE_GPU_STRICT_CORES_H

#include <stdbool.h>

#include "../mmu/mmu.h"

#define CORES_LINES	16384u
#define CORES_NO_USC	UINT32_MAX	/* a unit without data caches of a USC */

struct cores;

/* An access to bytes of a context; not to coherent memory. */
struct cores_access {
	unsigned int ctx;
	u64 va, bytes;
	u32 usc;	/* over all cores; of a store CORES_NO_USC if it is not by data caches */
	bool texture;	/* of a read: by texture caches */
	bool atomic;	/* of a store: the caches of the USC's core drop the line */
	bool compares;	/* it writes if memory has a value which was loaded before */
};

/* Create the state of a GPU; NULL when out of memory. Functions accept NULL, for other modes. */
struct cores *cores_create(u32 cores, u32 uscs_per_core);
void cores_destroy(struct cores *cores);

/* The functions take a lock, a leaf. Any thread. */

/*
 * From now on reads and stores fill whole lines of some bytes, a power of two and at least
 * LINES_BYTES, or only the bytes that they access: 0, as at first. With lines a program is tested
 * for bytes that it shares with others in a line of real caches.
 */
void cores_fill(struct cores *cores, u32 bytes);
/* Drop all lines: a reset. */
void cores_reset(struct cores *cores);
/* A unit reads by the caches of a USC. Returns whether a byte is stale there, the first in *at. */
bool cores_read(struct cores *cores, const struct cores_access *read, u64 *at);
/* A unit stores. */
void cores_write(struct cores *cores, const struct cores_access *write);
/* An operation on caches; one that does not drop lines has no effect. */
void cores_operate(struct cores *cores, const struct mmu_cache_op *op);

#endif
