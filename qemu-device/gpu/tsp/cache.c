// SPDX-License-Identifier: MIT
/* Vertex cache of the TSP. See cache.h. */
#include "cache.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(PUMICE_MAX_VARYINGS <= UINT8_MAX, "words are bits 40 to 47 of a key");

/* Of a line: what it has, in one word, and the clock of its last use. 0: empty. */
struct tsp_cache_set {
	u64 key[TSP_CACHE_WAYS];
	u64 used[TSP_CACHE_WAYS];
};

static u64 key_of(u32 block, u32 vertex, u32 words)
{
	return 1ull << 63 | (u64)words << 40 | (u64)vertex << 32 | block;
}

bool tsp_cache_init(struct tsp_cache *cache, u32 vertices)
{
	*cache = (struct tsp_cache){ .sets = vertices / TSP_CACHE_WAYS };
	cache->set = calloc(cache->sets, sizeof(*cache->set));
	cache->value = calloc(vertices, PUMICE_MAX_VARYINGS * sizeof(*cache->value));
	return cache->set && cache->value;
}

void tsp_cache_fini(struct tsp_cache *cache)
{
	free(cache->set);
	free(cache->value);
}

static void empty(struct tsp_cache *cache)
{
	memset(cache->set, 0, cache->sets * sizeof(*cache->set));
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
	const u32 first = ((block + vertex) & (cache->sets - 1)) * TSP_CACHE_WAYS;
	struct tsp_cache_set *set = &cache->set[first / TSP_CACHE_WAYS];
	const u64 key = key_of(block, vertex, words);
	u32 way = 0, n;

	while (way < TSP_CACHE_WAYS && set->key[way] != key)
		way++;
	*hit = way < TSP_CACHE_WAYS;
	if (!*hit) {
		for (way = 0, n = 1; n < TSP_CACHE_WAYS; n++)
			way = set->used[n] < set->used[way] ? n : way;
		set->key[way] = key;
	}
	count(*hit ? &cache->hits : &cache->misses);
	set->used[way] = ++cache->clock;
	cache->last = first + way;
	return cache->value + (size_t)cache->last * PUMICE_MAX_VARYINGS;
}

void tsp_cache_drop(struct tsp_cache *cache)
{
	struct tsp_cache_set *set = &cache->set[cache->last / TSP_CACHE_WAYS];

	set->key[cache->last % TSP_CACHE_WAYS] = 0;
	set->used[cache->last % TSP_CACHE_WAYS] = 0;
}
