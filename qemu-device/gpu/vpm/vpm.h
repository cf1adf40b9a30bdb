/* SPDX-License-Identifier: MIT */
/*
 * Vertex pipe memory (VPM) of a core: the outputs of its vertex tasks, from their start until their
 * consumer has read them.
 *
 * Source: document 001, "Binning Pass"; document 003, "Vertex Output Registers". Its size is the
 * property vpm-kib. A row has one output register of a wave: PUMICE_LANES words.
 *
 * Three quarters are a ring for tasks of the VDM, whose rows are freed in the order of allocation.
 * So free rows are contiguous but for the end of the ring, where an allocation that does not fit
 * begins at row 0. A position counts all rows ever allocated, the skipped ones included.
 *
 * The rest is a pool for tasks of other data masters, whose rows are freed in any order. It is
 * separate because a VDM that waits for a partial render may have the whole ring, and the render
 * needs outputs of deferred vertices.
 *
 * Limits: rows of the pool are allocated by the PDS, which has the allocator of stores
 * (../pds/rows.c); here they are counted.
 *
 * Locking: the caller's, which is the lock of the core's PDS. Rows belong to those who allocated
 * them.
 */
#ifndef PUMICE_GPU_VPM_H
#define PUMICE_GPU_VPM_H

#include <stdbool.h>

#include "pumice_formats.h"

#define VPM_ROW_WORDS	PUMICE_LANES
#define VPM_ROW_BYTES	(VPM_ROW_WORDS * 4u)

struct vpm {
	/* Constant. */
	u32 rows;	/* of the ring */
	u32 pool_rows;	/* of the pool, after those */
	u32 *memory;

	/* Positions: rows from tail to head are allocated. */
	u64 head, tail;
	/* The last allocation, and head before it: without the rows that it skipped. */
	u64 last, before;

	u32 pool_used;	/* rows of the pool */

	/* Performance counters. */
	u64 waits;	/* times that a waiter began to wait for rows; counted by the caller */
	u64 occupancy;	/* rows * ns up to time */
	u64 time;
};

/* Make an empty memory of this size, of both parts. Returns false when out of memory. */
bool vpm_init(struct vpm *vpm, u32 bytes);
void vpm_fini(struct vpm *vpm);
/* Free all rows and clear the counters. */
void vpm_reset(struct vpm *vpm);

/* For the ring. */

/* Return whether this number of contiguous rows can be allocated now. */
bool vpm_has_room(const struct vpm *vpm, u32 rows);
/* Allocate contiguous rows, at position *at. Returns false without a change if there is no room. */
bool vpm_alloc(struct vpm *vpm, u32 rows, u64 now, u64 *at);
/* Free the last allocation, which begins at a position, and the rows that it skipped. */
void vpm_undo(struct vpm *vpm, u64 at, u64 now);
/* Free all rows before a position. */
void vpm_free(struct vpm *vpm, u64 end, u64 now);

/* Return the row at a position. */
static inline u32 *vpm_row(const struct vpm *vpm, u64 at)
{
	return vpm->memory + at % vpm->rows * VPM_ROW_WORDS;
}

/* For the pool. */

/* Count rows that were allocated, or with add false freed. */
void vpm_pool_count(struct vpm *vpm, u32 rows, bool add, u64 now);

/* Return row number n of the pool, from 0. */
static inline u32 *vpm_pool_row(const struct vpm *vpm, u32 n)
{
	return vpm->memory + ((u64)vpm->rows + n) * VPM_ROW_WORDS;
}

/* For both. */

/* Update the counter of occupancy. */
void vpm_tick(struct vpm *vpm, u64 now);

/* Return the number of rows in use. */
static inline u32 vpm_used(const struct vpm *vpm)
{
	return (u32)(vpm->head - vpm->tail) + vpm->pool_used;
}

#endif
