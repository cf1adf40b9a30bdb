// SPDX-License-Identifier: MIT
/* Vertex cache of the TSP. See cache.h. */
#include "cache.h"

#include <stdlib.h>

struct tsp_cache_line {
	u64 used;	/* clock of its last use; 0: empty */
	u32 block;
	u8 vertex, words;
	float value[PUMICE_MAX_VARYINGS];
};

bool tsp_cache_init(struct tsp_cache *cache, u32 vertices)
{
	*cache = (struct tsp_cache){ .sets = vertices / TSP_CACHE_WAYS };
	cache->line = calloc(vertices, sizeof(*cache->line));
	return cache->line;
}

void tsp_cache_fini(struct tsp_cache *cache)
{
	free(cache->line);
}

static void empty(struct tsp_cache *cache)
{
	u32 i;

	for (i = 0; i < cache->sets * TSP_CACHE_WAYS; i++)
		cache->line[i].used = 0;
}

void tsp_cache_reset(struct tsp_cache *cache)
{
	empty(cache);
	cache->job = 0;
	atomic_store_explicit(&cache->hits, 0, memory_order_relaxed);
	atomic_store_explicit(&cache->misses, 0, memory_order_relaxed);
}

void tsp_cache_begin(struct tsp_cache *cache, u64 job)
{
	if (cache->job != job)
		empty(cache);
	cache->job = job;
}

static void count(_Atomic u64 *counter)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

float *tsp_cache_find(struct tsp_cache *cache, u32 block, u32 vertex, u32 words, bool *hit)
{
	struct tsp_cache_line *set = &cache->line[((block + vertex) & (cache->sets - 1)) *
						  TSP_CACHE_WAYS];
	struct tsp_cache_line *oldest = set, *line;

	cache->clock++;
	for (line = set; line < set + TSP_CACHE_WAYS; line++) {
		if (line->used && line->block == block && line->vertex == vertex &&
		    line->words == words) {
			line->used = cache->clock;
			count(&cache->hits);
			*hit = true;
			return line->value;
		}
		if (line->used < oldest->used)
			oldest = line;
	}
	oldest->used = cache->clock;
	oldest->block = block;
	oldest->vertex = (u8)vertex;
	oldest->words = (u8)words;
	count(&cache->misses);
	*hit = false;
	return oldest->value;
}

void tsp_cache_drop(struct tsp_cache *cache)
{
	u32 i;

	for (i = 0; i < cache->sets * TSP_CACHE_WAYS; i++)
		if (cache->line[i].used == cache->clock)
			cache->line[i].used = 0;
}
