/* SPDX-License-Identifier: MIT */
/*
 * Vertex cache of the TSP of one core: outputs of vertices of visible primitives, as the parameter
 * fetch reads them from primitive blocks.
 *
 * Source: document 004, "TSP": vertices that primitives share are read once. The document gives no
 * size: it is the property tsp-vertices. Sets of four ways, least recently used replacement; vertex
 * v of block b is in set (b + v) modulo the number of sets. It is emptied when a job begins: its
 * blocks are not written while it runs, but the same addresses have other vertices in the next one.
 *
 * Used by the thread of the core; the counters may be read by any.
 */
#ifndef PUMICE_GPU_TSP_CACHE_H
#define PUMICE_GPU_TSP_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "pumice_regs.h"
#include "pumice_types.h"

#define TSP_CACHE_WAYS 4u

struct tsp_cache_set;

struct tsp_cache {
	u32 sets;
	u64 job;		/* number of the job whose vertices it has */
	struct tsp_cache_set *set;
	/*
	 * Outputs of each line, of which TSP_CACHE_WAYS of a set follow each other: of vertices
	 * with few, and with up to PUMICE_MAX_VARYINGS.
	 */
	float *few, *value;
	_Atomic u64 hits, misses;
};

/* Make a cache of a power of two of vertices, at least TSP_CACHE_WAYS; false: out of memory. */
bool tsp_cache_init(struct tsp_cache *cache, u32 vertices);
void tsp_cache_fini(struct tsp_cache *cache);
/* Empty it and clear the counters. */
void tsp_cache_reset(struct tsp_cache *cache);
/* A job, by its number, which is not 0, uses the cache: drop vertices of another one. */
void tsp_cache_begin(struct tsp_cache *cache, u64 job);
/*
 * Find a vertex of words outputs. Returns its outputs, which remain until TSP_CACHE_WAYS - 1 other
 * vertices have been found. *hit: they are valid, or those of an earlier miss that the caller has
 * not written yet; else the caller writes them, or calls tsp_cache_empty() if it cannot.
 */
float *tsp_cache_find(struct tsp_cache *cache, u32 block, u32 vertex, u32 words, bool *hit);
/* Drop all vertices. */
void tsp_cache_empty(struct tsp_cache *cache);

#endif
