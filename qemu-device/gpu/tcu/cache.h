/* SPDX-License-Identifier: MIT */
/*
 * Caches of the texture cache units of a core: first ones, and a second one that they share.
 *
 * Source: document 000, "Texture Pipeline Unit": a TCU for each USC, with levels L0 and L1.
 * Document 004, "TCU": an L1 for each half of the core (two pipes and a TAG), and an L2 for the
 * core; 4-way, pseudo-LRU.
 *
 * They hold texels and are only read. Another block's write to a texture is not seen in them until
 * they are invalidated.
 *
 * Locking: none; the caller has a lock.
 */
#ifndef PUMICE_GPU_TCU_CACHE_H
#define PUMICE_GPU_TCU_CACHE_H

#include "../cache/level.h"
#include "../share.h"

#define TCU_MAX_FIRST	4u
#define TCU_ALL_FIRST	(~0u)

struct tcu_config {
	u32 uscs;	/* of the core, 1 to TCU_MAX_FIRST */
	bool halves;	/* a first cache for each half, as in document 004; else for each USC */
	u32 first_bytes, second_bytes;	/* of each first one; of the core */
	u32 ways;	/* of both */
	u32 line_bytes, segment_bytes;
	level_next *next;	/* takes the requests of the second one */
	void *opaque;
};

struct tcu_caches;

/* Check the sizes. Returns the error, a constant text, or NULL. */
const char *tcu_caches_check(const struct tcu_config *config);
/* Create empty caches. Returns NULL with the reason, a constant text, in *error. */
struct tcu_caches *tcu_caches_create(const struct tcu_config *config, const char **error);
/* NULL is permitted. */
void tcu_caches_destroy(struct tcu_caches *tcu);
/* Drop lines and counters. */
void tcu_caches_reset(struct tcu_caches *tcu);

/* Perform a read of a USC. Its place is ignored. */
void tcu_caches_read(struct tcu_caches *tcu, u32 usc, const struct mem_request *request);
/* Drop lines of the first cache of a number, or of TCU_ALL_FIRST; of the second one. */
void tcu_caches_invalidate_first(struct tcu_caches *tcu, u32 number,
				 const struct cache_range *range, struct level_swept *sum);
void tcu_caches_invalidate_second(struct tcu_caches *tcu, const struct cache_range *range,
				  struct level_swept *sum);

/* Return the number of first caches; that of a USC's. */
u32 tcu_caches_count(const struct tcu_caches *tcu);
u32 tcu_caches_of_usc(const struct tcu_caches *tcu, u32 usc);
const struct level *tcu_caches_first(const struct tcu_caches *tcu, u32 number);
const struct level *tcu_caches_second(const struct tcu_caches *tcu);

#endif
