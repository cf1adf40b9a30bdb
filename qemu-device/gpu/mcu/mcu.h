/* SPDX-License-Identifier: MIT */
/*
 * Mixed cache units (MCU) of a core: an L0 for each USC (l0.h) and an L1 that they share.
 *
 * Source: document 000, "Mixed Cache Units".
 *
 * The L1 caches reads and writes, in banks by the lowest bits of the number of a line: as many as
 * there are L0s, each of which has an interface to it. Its lines are written back when they are
 * replaced or cleaned, and writes that miss allocate one.
 *
 * Place of a mode that counts cycles: a bank performs one request at a time.
 *
 * Locking: none; the caller has a lock.
 */
#ifndef PUMICE_GPU_MCU_H
#define PUMICE_GPU_MCU_H

#include "l0.h"

#define MCU_MAX_USCS	4u
#define MCU_ALL_USCS	(~0u)

struct mcu_config {
	u32 uscs;	/* of the core, 1 to MCU_MAX_USCS */
	u32 l0_bytes;	/* of each partition of an L0 */
	u32 l1_bytes, l1_ways;	/* of all banks; ways of a bank */
	u32 line_bytes, segment_bytes;
	level_next *next;	/* takes the requests of the L1 */
	void *opaque;
};

struct mcu;

/* Check the sizes. Returns the error, a constant text, or NULL. */
const char *mcu_check(const struct mcu_config *config);
/* Create empty caches. Returns NULL with the reason, a constant text, in *error. */
struct mcu *mcu_create(const struct mcu_config *config, const char **error);
/* NULL is permitted. */
void mcu_destroy(struct mcu *mcu);
/* Drop lines, writes that are not passed on, and counters. */
void mcu_reset(struct mcu *mcu);

/* Perform a request of a USC. Its place is ignored. */
void mcu_request(struct mcu *mcu, u32 usc, const struct mem_request *request);
/* Pass on the open lines of a USC, or of MCU_ALL_USCS, to the L1. */
void mcu_flush(struct mcu *mcu, u32 usc);
/* Write dirty lines of the L1 to the next level; open lines are not flushed. */
void mcu_clean(struct mcu *mcu, const struct cache_range *range, struct level_swept *sum);
/* Drop lines of the L0 of a USC, or of MCU_ALL_USCS; of the L1. Nothing is written. */
void mcu_invalidate_l0(struct mcu *mcu, u32 usc, const struct cache_range *range,
		       struct level_swept *sum);
void mcu_invalidate_l1(struct mcu *mcu, const struct cache_range *range, struct level_swept *sum);

u32 mcu_banks(const struct mcu *mcu);
const struct level *mcu_l0(const struct mcu *mcu, u32 usc, enum l0_partition partition);
const struct level *mcu_l1(const struct mcu *mcu, u32 bank);

#endif
