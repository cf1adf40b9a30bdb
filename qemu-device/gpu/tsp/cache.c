// SPDX-License-Identifier: MIT
/* Vertex cache of the TSP. See cache.h. */
#include "cache.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(PUMICE_MAX_VARYINGS <= UINT8_MAX, "words are bits 40 to 47 of a key");

/*
 * Outputs of usual vertices, in one line of the host's cache: they are not apart by the size of
 * the largest one, which would use only few of that cache's sets.
 */
#define FEW_WORDS	16u

#define HOST_LINE	64u	/* bytes */

#define KEY_VALID	(1ull << 63)
#define KEY_WAY_SHIFT	56	/* way of the set, two bits */
#define KEY_WAY		(3ull << KEY_WAY_SHIFT)

_Static_assert(TSP_CACHE_WAYS == 4, "the number of a way has two bits, place_of() has 4 lines");

/* Vertex (key_of()) and way of each line, the line used last first. Without KEY_VALID: empty. */
struct tsp_cache_set {
	u64 key[TSP_CACHE_WAYS];
};

static u64 key_of(u32 block, u32 vertex, u32 words)
{
	return KEY_VALID | (u64)words << 40 | (u64)vertex << 32 | block;
}

static void empty(struct tsp_cache *cache)
{
	u32 i, way;

	for (i = 0; i < cache->sets; i++)
		for (way = 0; way < TSP_CACHE_WAYS; way++)
			cache->set[i].key[way] = (u64)way << KEY_WAY_SHIFT;
}

bool tsp_cache_init(struct tsp_cache *cache, u32 vertices)
{
	*cache = (struct tsp_cache){ .sets = vertices / TSP_CACHE_WAYS };
	cache->set = calloc(cache->sets, sizeof(*cache->set));
	cache->few = aligned_alloc(HOST_LINE, vertices * FEW_WORDS * sizeof(*cache->few));
	cache->value = calloc(vertices, PUMICE_MAX_VARYINGS * sizeof(*cache->value));
	if (!cache->set || !cache->few || !cache->value)
		return false;
	empty(cache);
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

static bool has(const struct tsp_cache_set *set, u32 at, u64 key)
{
	return !((set->key[at] ^ key) & ~KEY_WAY);
}

/* Return the place of a key in the order of uses, or TSP_CACHE_WAYS. */
static u32 place_of(const struct tsp_cache_set *set, u64 key)
{
	return has(set, 0, key) ? 0 : has(set, 1, key) ? 1 : has(set, 2, key) ? 2 :
	       has(set, 3, key) ? 3 : TSP_CACHE_WAYS;
}

/* Set the key of the line at a place to be used last, and return its way. */
static u64 use(struct tsp_cache_set *set, u32 at, u64 key)
{
	const u64 way = set->key[at] & KEY_WAY;

	for (; at; at--)
		set->key[at] = set->key[at - 1];
	set->key[0] = key | way;
	return way >> KEY_WAY_SHIFT;
}

float *tsp_cache_find(struct tsp_cache *cache, u32 block, u32 vertex, u32 words, bool *hit)
{
	const u32 number = (block + vertex) & (cache->sets - 1);
	struct tsp_cache_set *set = &cache->set[number];
	const u64 key = key_of(block, vertex, words);
	const u32 at = place_of(set, key);

	*hit = at < TSP_CACHE_WAYS;
	if (*hit) {
		count(&cache->hits);
		cache->last = number * TSP_CACHE_WAYS + (u32)use(set, at, key);
	} else {
		count(&cache->misses);
		cache->last = number * TSP_CACHE_WAYS + (u32)use(set, TSP_CACHE_WAYS - 1, key);
	}
	return words <= FEW_WORDS ? cache->few + (size_t)cache->last * FEW_WORDS :
				    cache->value + (size_t)cache->last * PUMICE_MAX_VARYINGS;
}

void tsp_cache_drop(struct tsp_cache *cache)
{
	struct tsp_cache_set *set = &cache->set[cache->last / TSP_CACHE_WAYS];
	const u64 way = set->key[0] & KEY_WAY;
	u32 at;

	for (at = 0; at + 1 < TSP_CACHE_WAYS; at++)
		set->key[at] = set->key[at + 1];
	set->key[at] = way;
}
