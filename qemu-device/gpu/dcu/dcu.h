/* SPDX-License-Identifier: MIT */
/*
 * Data cache unit (DCU) of a core: DMA translation and an L1 for each half, and an L2 for the core.
 *
 * Source: document 004, "DCU": one L0 DMA and one L1 for two pipes and the PDS, which fetches for
 * them; one L2 for all four pipes and the PDS.
 *
 * The L0 has no lines: it converts bursts to requests of lines. The L1 is write-through: a write
 * updates a line that it holds and goes to the L2, which is write-back and allocates lines for
 * writes.
 *
 * Locking: none; the caller has a lock.
 *
 * Limits: the document names no write policy; this is the project's choice.
 */
#ifndef PUMICE_GPU_DCU_H
#define PUMICE_GPU_DCU_H

#include "../cache/level.h"
#include "../share.h"

#define DCU_ALL_HALVES	(~0u)

struct dcu_config {
	u32 uscs;	/* of the core, at least 1 */
	u32 l1_bytes, l2_bytes;	/* of one half; of the core */
	u32 ways;	/* of both levels */
	u32 line_bytes, segment_bytes;
	level_next *next;	/* takes the requests of the L2 */
	void *opaque;
};

struct dcu;

/* Check the sizes. Returns the error, a constant text, or NULL. */
const char *dcu_check(const struct dcu_config *config);
/* Create empty caches. Returns NULL with the reason, a constant text, in *error. */
struct dcu *dcu_create(const struct dcu_config *config, const char **error);
/* NULL is permitted. */
void dcu_destroy(struct dcu *dcu);
/* Drop lines and counters. */
void dcu_reset(struct dcu *dcu);

/* Perform a request of a USC. Its place is ignored. */
void dcu_request(struct dcu *dcu, u32 usc, const struct mem_request *request);
/* Write dirty lines of the L2 to the next level. */
void dcu_clean(struct dcu *dcu, const struct cache_range *range, struct level_swept *sum);
/* Drop lines of the L1 of a half, or of DCU_ALL_HALVES; of the L2. Nothing is written. */
void dcu_invalidate_l1(struct dcu *dcu, u32 half, const struct cache_range *range,
		       struct level_swept *sum);
void dcu_invalidate_l2(struct dcu *dcu, const struct cache_range *range, struct level_swept *sum);

/* Return the number of halves. */
u32 dcu_halves(const struct dcu *dcu);
const struct level *dcu_l1(const struct dcu *dcu, u32 half);
const struct level *dcu_l2(const struct dcu *dcu);

#endif
