// SPDX-License-Identifier: MIT
/*
 * Tag store of a cache.
 *
 * Source: document 000, "Memory Hierarchy"; document 004, "SLC".
 *
 * The entries of a set are consecutive. A tag is one word, so that the search of a set compares
 * words only. The order of a set is one word as well: the bits of a tree, or the next way to fill.
 */
#include "cache.h"

#include <stdlib.h>
#include <string.h>

/* Addresses of lines have zeros in their low bits: one of them makes the tag of a line not 0. */
#define TAG_VALID	1ull
#define NO_ENTRY	(~0u)

struct cache {
	struct cache_config config;	/* constant, as are the next ones */
	u32 lines, sets;
	u32 line_shift, segment_shift;

	u64 *tag;	/* of each entry: tag_of(), 0 if it holds no line */
	u32 *dirty;	/* of each entry: its segments; 0 if it holds no line */
	/*
	 * Of each set. CACHE_PLRU: bit n is node n of a tree, with the root at 1 and the children
	 * of n at 2 * n and 2 * n + 1; a bit that is set leads to the second child, which then has
	 * the way to replace. CACHE_FIFO: the way to fill next.
	 */
	u64 *order;
	struct cache_counters counters;
};

static bool power_of_two(u32 n)
{
	return n && !(n & (n - 1));
}

const char *cache_check(const struct cache_config *config)
{
	if (!power_of_two(config->bytes) || config->bytes > CACHE_MAX_BYTES)
		return "bytes of a cache must be a power of two, at most 64 MiB";
	if (!power_of_two(config->line_bytes) || config->line_bytes < CACHE_MIN_LINE ||
	    config->line_bytes > CACHE_MAX_LINE)
		return "bytes of a line must be a power of two from 16 to 1024";
	if (config->line_bytes > config->bytes)
		return "a line must not be larger than its cache";
	if (!power_of_two(config->segment_bytes) || config->segment_bytes > config->line_bytes ||
	    config->line_bytes / config->segment_bytes > CACHE_MAX_SEGMENTS)
		return "a segment must be a power of two from 1/32 of a line to a line";
	if (!power_of_two(config->ways) || config->ways > CACHE_MAX_WAYS)
		return "ways of a cache must be a power of two, at most 64";
	if (config->ways > config->bytes / config->line_bytes)
		return "a cache must not have more ways than lines";
	if (config->skip_bits >= CACHE_ADDR_BITS)
		return "a cache must not skip all bits of an address";
	if (config->order != CACHE_PLRU && config->order != CACHE_FIFO)
		return "order of a cache must be that of a tree or FIFO";
	return NULL;
}

struct cache *cache_create(const struct cache_config *config, const char **error)
{
	struct cache *cache;

	*error = cache_check(config);
	if (*error)
		return NULL;
	cache = calloc(1, sizeof(*cache));
	if (!cache)
		goto no_memory;
	cache->config = *config;
	cache->lines = config->bytes / config->line_bytes;
	cache->sets = cache->lines / config->ways;
	cache->line_shift = (u32)__builtin_ctz(config->line_bytes);
	cache->segment_shift = (u32)__builtin_ctz(config->segment_bytes);
	cache->tag = calloc(cache->lines, sizeof(*cache->tag));
	cache->dirty = calloc(cache->lines, sizeof(*cache->dirty));
	cache->order = calloc(cache->sets, sizeof(*cache->order));
	if (!cache->tag || !cache->dirty || !cache->order)
		goto no_memory;
	return cache;
no_memory:
	cache_destroy(cache);
	*error = "no memory for a cache";
	return NULL;
}

void cache_destroy(struct cache *cache)
{
	if (!cache)
		return;
	free(cache->tag);
	free(cache->dirty);
	free(cache->order);
	free(cache);
}

void cache_reset(struct cache *cache)
{
	memset(cache->tag, 0, cache->lines * sizeof(*cache->tag));
	memset(cache->dirty, 0, cache->lines * sizeof(*cache->dirty));
	memset(cache->order, 0, cache->sets * sizeof(*cache->order));
	memset(&cache->counters, 0, sizeof(cache->counters));
}

u32 cache_lines(const struct cache *cache)
{
	return cache->lines;
}

u64 cache_line_addr(const struct cache *cache, u64 addr)
{
	return addr & ~(u64)(cache->config.line_bytes - 1);
}

u32 cache_segments(const struct cache *cache, u64 addr, u32 bytes)
{
	u32 line_bytes = cache->config.line_bytes;
	u32 first = (u32)(addr & (line_bytes - 1));
	u32 last = bytes > line_bytes - first ? line_bytes - 1 : first + bytes - 1;

	return (2u << (last >> cache->segment_shift)) - (1u << (first >> cache->segment_shift));
}

u32 cache_segments_covered(const struct cache *cache, u64 addr, u32 bytes)
{
	u32 line_bytes = cache->config.line_bytes, segment = cache->config.segment_bytes;
	u32 first = (u32)(addr & (line_bytes - 1));
	u32 end = bytes > line_bytes - first ? line_bytes : first + bytes;
	u32 from = (first + segment - 1) >> cache->segment_shift;
	u32 to = end >> cache->segment_shift;

	return from < to ? (2u << (to - 1)) - (1u << from) : 0;
}

static u64 tag_of(const struct cache *cache, u32 ctx, u64 addr)
{
	return cache_line_addr(cache, addr) | (u64)ctx << CACHE_ADDR_BITS | TAG_VALID;
}

static u32 set_of(const struct cache *cache, u64 addr)
{
	return (u32)(addr >> cache->line_shift >> cache->config.skip_bits) & (cache->sets - 1);
}

/* Return the line of an entry, which holds one. */
static struct cache_line line_of(const struct cache *cache, u32 entry)
{
	u64 tag = cache->tag[entry];

	return (struct cache_line){
		.addr = tag & ((1ull << CACHE_ADDR_BITS) - 1) & ~TAG_VALID,
		.ctx = (u32)(tag >> CACHE_ADDR_BITS),
		.dirty = cache->dirty[entry],
		.entry = entry,
	};
}

/* Return the entry that holds a line, or NO_ENTRY. */
static u32 entry_of(const struct cache *cache, u32 ctx, u64 addr)
{
	u64 tag = tag_of(cache, ctx, addr);
	u32 first = set_of(cache, addr) * cache->config.ways;
	u32 way;

	for (way = 0; way < cache->config.ways; way++) {
		if (cache->tag[first + way] == tag)
			return first + way;
	}
	return NO_ENTRY;
}

/* Make a way the most recently used one: every node on its path leads to the other child. */
static void touch(struct cache *cache, u32 set, u32 way)
{
	u64 tree = cache->order[set];
	u32 node = 1, half;

	for (half = cache->config.ways / 2; half; half /= 2) {
		u32 second = !!(way & half);

		tree = (tree & ~(1ull << node)) | (u64)!second << node;
		node = 2 * node + second;
	}
	cache->order[set] = tree;
}

/* Return the way that the tree leads to. */
static u32 tree_way(u64 tree, u32 ways)
{
	u32 node = 1;

	while (node < ways)
		node = 2 * node + (u32)(tree >> node & 1);
	return node - ways;
}

/* Return the entry of a set to fill next. */
static u32 next_entry(const struct cache *cache, u32 set)
{
	u32 first = set * cache->config.ways;
	u32 way;

	if (cache->config.order == CACHE_FIFO)
		return first + (u32)cache->order[set];
	for (way = 0; way < cache->config.ways; way++) {
		if (!cache->tag[first + way])
			return first + way;
	}
	return first + tree_way(cache->order[set], cache->config.ways);
}

/* Count dirty segments that leave the store. */
static void count_written(struct cache *cache, u32 dirty)
{
	cache->counters.written_lines += dirty != 0;
	cache->counters.written_segments += (u32)__builtin_popcount(dirty);
}

/* Fill an entry of a set with a line that is not held. */
static void fill(struct cache *cache, u32 set, const struct cache_access *access,
		 struct cache_result *result)
{
	u32 entry = next_entry(cache, set);

	result->filled = true;
	result->entry = entry;
	result->evicted = cache->tag[entry] != 0;
	if (result->evicted) {
		result->victim = line_of(cache, entry);
		cache->counters.evictions++;
		count_written(cache, result->victim.dirty);
	}
	cache->tag[entry] = tag_of(cache, access->ctx, access->addr);
	cache->dirty[entry] = 0;
	if (cache->config.order == CACHE_FIFO)
		cache->order[set] = (cache->order[set] + 1) & (cache->config.ways - 1);
}

void cache_access(struct cache *cache, const struct cache_access *access,
		  struct cache_result *result)
{
	u32 set = set_of(cache, access->addr);

	memset(result, 0, sizeof(*result));
	result->entry = entry_of(cache, access->ctx, access->addr);
	result->hit = result->entry != NO_ENTRY;
	cache->counters.requests++;
	if (result->hit) {
		cache->counters.hits++;
	} else {
		cache->counters.misses++;
		if (!access->allocate)
			return;
		fill(cache, set, access, result);
	}
	if (cache->config.order == CACHE_PLRU)
		touch(cache, set, result->entry & (cache->config.ways - 1));
	if (access->kind == CACHE_WRITE)
		cache->dirty[result->entry] |= cache_segments(cache, access->addr, access->bytes);
}

bool cache_find(const struct cache *cache, u32 ctx, u64 addr, struct cache_line *line)
{
	u32 entry = entry_of(cache, ctx, addr);

	if (entry == NO_ENTRY)
		return false;
	if (line)
		*line = line_of(cache, entry);
	return true;
}

bool cache_victim(const struct cache *cache, u64 addr, struct cache_line *line)
{
	u32 entry = next_entry(cache, set_of(cache, addr));

	if (!cache->tag[entry])
		return false;
	*line = line_of(cache, entry);
	return true;
}

/* Clean the line of an entry, which holds one. Returns whether it was dirty. */
static bool clean_entry(struct cache *cache, u32 entry)
{
	u32 dirty = cache->dirty[entry];

	count_written(cache, dirty);
	cache->dirty[entry] = 0;
	return dirty != 0;
}

static void drop_entry(struct cache *cache, u32 entry)
{
	cache->counters.dropped++;
	cache->tag[entry] = 0;
	cache->dirty[entry] = 0;
}

bool cache_clean_line(struct cache *cache, u32 ctx, u64 addr, struct cache_line *line)
{
	u32 entry = entry_of(cache, ctx, addr);

	if (entry == NO_ENTRY)
		return false;
	*line = line_of(cache, entry);
	return clean_entry(cache, entry);
}

bool cache_drop_line(struct cache *cache, u32 ctx, u64 addr, struct cache_line *line)
{
	u32 entry = entry_of(cache, ctx, addr);

	if (entry == NO_ENTRY)
		return false;
	*line = line_of(cache, entry);
	drop_entry(cache, entry);
	return true;
}

/* Return whether an entry holds a line of a range, and the line in *line. */
static bool in_range(const struct cache *cache, u32 entry, const struct cache_range *range,
		     struct cache_line *line)
{
	if (!cache->tag[entry])
		return false;
	*line = line_of(cache, entry);
	return (range->ctx == CACHE_ANY_CTX || range->ctx == line->ctx) &&
	       line->addr <= range->last &&
	       line->addr + (cache->config.line_bytes - 1) >= range->first;
}

u32 cache_clean(struct cache *cache, const struct cache_range *range, cache_visit *visit,
		void *opaque)
{
	struct cache_line line;
	u32 entry, count = 0;

	for (entry = 0; entry < cache->lines; entry++) {
		if (!cache->dirty[entry] || !in_range(cache, entry, range, &line))
			continue;
		clean_entry(cache, entry);
		count++;
		if (visit)
			visit(opaque, &line);
	}
	return count;
}

u32 cache_invalidate(struct cache *cache, const struct cache_range *range, cache_visit *visit,
		     void *opaque)
{
	struct cache_line line;
	u32 entry, count = 0;

	for (entry = 0; entry < cache->lines; entry++) {
		if (!in_range(cache, entry, range, &line))
			continue;
		drop_entry(cache, entry);
		count++;
		if (visit)
			visit(opaque, &line);
	}
	return count;
}

u32 cache_each(const struct cache *cache, const struct cache_range *range, cache_visit *visit,
	       void *opaque)
{
	struct cache_line line;
	u32 entry, count = 0;

	for (entry = 0; entry < cache->lines; entry++) {
		if (!in_range(cache, entry, range, &line))
			continue;
		count++;
		visit(opaque, &line);
	}
	return count;
}

const struct cache_counters *cache_counters(const struct cache *cache)
{
	return &cache->counters;
}
