/* SPDX-License-Identifier: MIT */
/*
 * Model of a cache, to compare the tag store with: a list of ways with the time of their last use,
 * from which the way to replace is computed anew every time. Also used by the tests of the SLC.
 */
#ifndef PUMICE_TEST_CACHE_MODEL_H
#define PUMICE_TEST_CACHE_MODEL_H

#include "cache/cache.h"

struct model_way {
	bool valid;
	u32 ctx;
	u64 number;	/* of the line: address / line_bytes */
	bool dirty[CACHE_MAX_SEGMENTS];
	u64 used;	/* time of the last use of the way; 0: never */
};

struct model {
	struct cache_config config;
	u32 sets;
	struct model_way *way;	/* [sets * ways] */
	u64 *fills;		/* [sets] */
	u64 time;
	struct cache_counters counters;
};

void model_create(struct model *model, const struct cache_config *config);
void model_destroy(struct model *model);

/* As the functions of cache.h. */
void model_access(struct model *model, const struct cache_access *access,
		  struct cache_result *result);
/* Return the way that holds a line, or NULL. */
struct model_way *model_find(struct model *model, u32 ctx, u64 addr);
/* Return the way that a fill of a line would use. */
struct model_way *model_next(struct model *model, u64 addr);
/* Return a way as the store would describe it. */
struct cache_line model_line(const struct model *model, const struct model_way *way);
/* Count and clear dirty segments. Returns whether there were any. */
bool model_clean(struct model *model, struct model_way *way);
void model_drop(struct model *model, struct model_way *way);

#endif
