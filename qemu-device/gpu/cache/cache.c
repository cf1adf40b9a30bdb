// SPDX-License-Identifier: MIT
/*
 * Tag store of a cache.
 *
 * Source: document 000, "Memory Hierarchy"; document 004, "SLC".
 *
 * The entries of a set are consecutive. A tag is one word, so that the search of a set compares
 * words only. The order of a set is one word as well: the bits of a tree, or the next way to fill.
 *
 * Operations on a range visit the entries of the sets that its lines can be in, in the order of
 * entries, and end after the last line of the context: the counts of lines are for this.
 */
#include "cache.h"

#include <stdlib.h>
#include <string.h>

/* Addresses of lines have zeros in their low bits: one of them makes the tag of a line not 0. */
#define TAG_VALID	1ull
#define NO_ENTRY	(~0u)
#define ALL_CTX		(CACHE_MAX_CTX + 1)	/* in counts: the sum of all contexts */

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
	u32 held[ALL_CTX + 1];		/* lines of each context */
	u32 unclean[ALL_CTX + 1];	/* those with dirty segments */
	struct cache_counters counters;
	u64 visited;
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
	memset(cache->held, 0, sizeof(cache->held));
	memset(cache->unclean, 0, sizeof(cache->unclean));
	memset(&cache->counters, 0, sizeof(cache->counters));
	cache->visited = 0;
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

/* Change a count of lines of a context by 1 or -1. */
static void add(u32 *count, u32 ctx, int change)
{
	count[ctx] += (u32)change;
	count[ALL_CTX] += (u32)change;
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
		add(cache->held, result->victim.ctx, -1);
		if (result->victim.dirty)
			add(cache->unclean, result->victim.ctx, -1);
	}
	add(cache->held, access->ctx, 1);
	cache->tag[entry] = tag_of(cache, access->ctx, access->addr);
	cache->dirty[entry] = 0;
	if (cache->config.order == CACHE_FIFO)
		cache->order[set] = (cache->order[set] + 1) & (cache->config.ways - 1);
}

static void make_dirty(struct cache *cache, u32 entry, const struct cache_access *access)
{
	if (!cache->dirty[entry])
		add(cache->unclean, access->ctx, 1);
	cache->dirty[entry] |= cache_segments(cache, access->addr, access->bytes);
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
		make_dirty(cache, result->entry, access);
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

/* Clean a line that is held. Returns whether it was dirty. */
static bool clean_held(struct cache *cache, const struct cache_line *line)
{
	if (!line->dirty)
		return false;
	count_written(cache, line->dirty);
	add(cache->unclean, line->ctx, -1);
	cache->dirty[line->entry] = 0;
	return true;
}

static void drop_held(struct cache *cache, const struct cache_line *line)
{
	cache->counters.dropped++;
	add(cache->held, line->ctx, -1);
	if (line->dirty)
		add(cache->unclean, line->ctx, -1);
	cache->tag[line->entry] = 0;
	cache->dirty[line->entry] = 0;
}

bool cache_clean_line(struct cache *cache, u32 ctx, u64 addr, struct cache_line *line)
{
	u32 entry = entry_of(cache, ctx, addr);

	if (entry == NO_ENTRY)
		return false;
	*line = line_of(cache, entry);
	return clean_held(cache, line);
}

bool cache_drop_line(struct cache *cache, u32 ctx, u64 addr, struct cache_line *line)
{
	u32 entry = entry_of(cache, ctx, addr);

	if (entry == NO_ENTRY)
		return false;
	*line = line_of(cache, entry);
	drop_held(cache, line);
	return true;
}

/* Entries that an operation on a range visits. */
struct sweep {
	u32 at, end;		/* the next entry, and the end of these */
	u32 later, later_end;	/* then these, which follow in the order of entries */
	u32 left;		/* lines of the context that it has not found yet */
	bool dirty;		/* only lines with dirty segments */
	u32 visited;
};

/* Select the sets of lines from first to last. Consecutive lines are in consecutive sets. */
static void select_sets(const struct cache *cache, const struct cache_range *range,
			struct sweep *sweep)
{
	const u32 shift = cache->line_shift + cache->config.skip_bits;
	const u32 ways = cache->config.ways;
	const u64 more = range->first <= range->last ?
				 (range->last >> shift) - (range->first >> shift) : 0;
	u32 first, last;

	sweep->end = cache->lines;
	if (more + 1 >= cache->sets)
		return;
	first = set_of(cache, range->first);
	last = set_of(cache, range->last);
	if (first <= last) {
		sweep->at = first * ways;
		sweep->end = (last + 1) * ways;
	} else {
		sweep->end = (last + 1) * ways;
		sweep->later = first * ways;
		sweep->later_end = cache->lines;
	}
}

static struct sweep begin(const struct cache *cache, const struct cache_range *range, bool dirty)
{
	const u32 *count = dirty ? cache->unclean : cache->held;
	struct sweep sweep = { .dirty = dirty };

	if (range->ctx == CACHE_ANY_CTX)
		sweep.left = count[ALL_CTX];
	else if (range->ctx <= CACHE_MAX_CTX)
		sweep.left = count[range->ctx];
	select_sets(cache, range, &sweep);
	return sweep;
}

/* Return the next entry to visit, or NO_ENTRY. */
static u32 next_visit(struct sweep *sweep)
{
	if (!sweep->left)
		return NO_ENTRY;
	if (sweep->at == sweep->end) {
		sweep->at = sweep->later;
		sweep->end = sweep->later_end;
		sweep->later = sweep->later_end;
		if (sweep->at == sweep->end)
			return NO_ENTRY;
	}
	sweep->visited++;
	return sweep->at++;
}

/* Find the next line of a range. */
static bool find_next(const struct cache *cache, const struct cache_range *range,
		      struct sweep *sweep, struct cache_line *line)
{
	u32 entry;

	while ((entry = next_visit(sweep)) != NO_ENTRY) {
		if (!cache->tag[entry] || (sweep->dirty && !cache->dirty[entry]))
			continue;
		*line = line_of(cache, entry);
		if (range->ctx != CACHE_ANY_CTX && range->ctx != line->ctx)
			continue;
		sweep->left--;
		if (line->addr <= range->last &&
		    line->addr + (cache->config.line_bytes - 1) >= range->first)
			return true;
	}
	return false;
}

u32 cache_clean(struct cache *cache, const struct cache_range *range, cache_visit *visit,
		void *opaque)
{
	struct sweep sweep = begin(cache, range, true);
	struct cache_line line;
	u32 count = 0;

	while (find_next(cache, range, &sweep, &line)) {
		clean_held(cache, &line);
		count++;
		if (visit)
			visit(opaque, &line);
	}
	cache->visited += sweep.visited;
	return count;
}

u32 cache_invalidate(struct cache *cache, const struct cache_range *range, cache_visit *visit,
		     void *opaque)
{
	struct sweep sweep = begin(cache, range, false);
	struct cache_line line;
	u32 count = 0;

	while (find_next(cache, range, &sweep, &line)) {
		drop_held(cache, &line);
		count++;
		if (visit)
			visit(opaque, &line);
	}
	cache->visited += sweep.visited;
	return count;
}

u32 cache_each(const struct cache *cache, const struct cache_range *range, cache_visit *visit,
	       void *opaque)
{
	struct sweep sweep = begin(cache, range, false);
	struct cache_line line;
	u32 count = 0;

	while (find_next(cache, range, &sweep, &line)) {
		count++;
		visit(opaque, &line);
	}
	return count;
}

u64 cache_visited(const struct cache *cache)
{
	return cache->visited;
}

const struct cache_counters *cache_counters(const struct cache *cache)
{
	return &cache->counters;
}
