// SPDX-License-Identifier: MIT
/* Vertex cache of the TSP. See cache.h. */
#include "cache.h"

#include <stdlib.h>
#include <string.h>

#include "../host_line.h"

_Static_assert(PUMICE_MAX_VARYINGS <= UINT8_MAX, "words are bits 40 to 47 of a key");

/*
 * Outputs of usual vertices, in one line of the host's cache: they are not apart by the size of
 * the largest one, which would use only few of that cache's sets.
 */
#define FEW_WORDS	16u

#define KEY_VALID	(1ull << 63)

#define WAY_BITS	2u
#define WAY_MASK	((1u << WAY_BITS) - 1)
#define ORDER_BITS	(TSP_CACHE_WAYS * WAY_BITS)
#define EMPTY_ORDER	(3u << 6 | 2u << 4 | 1u << 2 | 0u)

_Static_assert(TSP_CACHE_WAYS == 4, "way_of() has four lines, an order is one byte");

/*
 * Vertex of each way (key_of()), or 0, and the order of their uses: the way used last in the
 * lowest bits.
 */
struct tsp_cache_set {
	u64 key[TSP_CACHE_WAYS];
	u8 order;
};

static u64 key_of(u32 block, u32 vertex, u32 words)
{
	return KEY_VALID | (u64)words << 40 | (u64)vertex << 32 | block;
}

void tsp_cache_empty(struct tsp_cache *cache)
{
	u32 i;

	for (i = 0; i < cache->sets; i++)
		cache->set[i] = (struct tsp_cache_set){ .order = EMPTY_ORDER };
}

bool tsp_cache_init(struct tsp_cache *cache, u32 vertices)
{
	*cache = (struct tsp_cache){ .sets = vertices / TSP_CACHE_WAYS };
	cache->set = calloc(cache->sets, sizeof(*cache->set));
	cache->few = aligned_alloc(HOST_LINE, vertices * FEW_WORDS * sizeof(*cache->few));
	cache->value = calloc(vertices, PUMICE_MAX_VARYINGS * sizeof(*cache->value));
	if (!cache->set || !cache->few || !cache->value)
		return false;
	tsp_cache_empty(cache);
	return true;
}

void tsp_cache_fini(struct tsp_cache *cache)
{
	free(cache->set);
	free(cache->few);
	free(cache->value);
}

void tsp_cache_reset(struct tsp_cache *cache)
{
	tsp_cache_empty(cache);
	cache->job = 0;
	atomic_store_explicit(&cache->hits, 0, memory_order_relaxed);
	atomic_store_explicit(&cache->misses, 0, memory_order_relaxed);
}

void tsp_cache_begin(struct tsp_cache *cache, u64 job)
{
	if (cache->job != job)
		tsp_cache_empty(cache);
	cache->job = job;
}

static void count(_Atomic u64 *counter)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

/* Return the way that has a key, or TSP_CACHE_WAYS. */
static u32 way_of(const struct tsp_cache_set *set, u64 key)
{
	return set->key[0] == key ? 0 : set->key[1] == key ? 1 : set->key[2] == key ? 2 :
	       set->key[3] == key ? 3 : TSP_CACHE_WAYS;
}

/* Move a way to the front of the order. */
static u32 move_to_front(u32 order, u32 way)
{
	u32 at, before, after;	/* position of the way; masks of the ways before and after it */

	for (at = 0; (order >> at & WAY_MASK) != way; at += WAY_BITS)
		;
	before = (1u << at) - 1;
	after = ~0u << (at + WAY_BITS);
	return (order & after) | (order & before) << WAY_BITS | way;
}

float *tsp_cache_find(struct tsp_cache *cache, u32 block, u32 vertex, u32 words, bool *hit)
{
	const u32 number = (block + vertex) & (cache->sets - 1);
	struct tsp_cache_set *set = &cache->set[number];
	const u64 key = key_of(block, vertex, words);
	u32 way = way_of(set, key);
	size_t line;

	*hit = way < TSP_CACHE_WAYS;
	if (*hit) {
		count(&cache->hits);
		set->order = (u8)move_to_front(set->order, way);
	} else {
		count(&cache->misses);
		way = set->order >> (ORDER_BITS - WAY_BITS);
		set->order = (u8)(set->order << WAY_BITS | way);
		set->key[way] = key;
	}
	line = number * TSP_CACHE_WAYS + way;
	return words <= FEW_WORDS ? cache->few + line * FEW_WORDS :
				    cache->value + line * PUMICE_MAX_VARYINGS;
}
