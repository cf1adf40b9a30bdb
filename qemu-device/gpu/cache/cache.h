/* SPDX-License-Identifier: MIT */
/*
 * Tag store of a cache: the lines that it holds and the segments of them that are not yet in the
 * next level. All levels of the memory hierarchy are made of these.
 *
 * Source: document 000, "Memory Hierarchy" and "System Memory Access" (lines, segments); document
 * 004, "SLC", "DCU" and "TCU" (set-associative, pseudo-LRU).
 *
 * A line is identified by context and address, since the caches are virtually addressed: the MMU is
 * between them and memory. A line is valid as a whole, and dirty by segments, the unit in which
 * memory is accessed. The store never reads or writes another level: it returns the evicted,
 * cleaned and dropped lines, and the caller accounts for them.
 *
 * The same calls in the same order always give the same results.
 *
 * Place of strict mode: its lines have data. The number of an entry, which every function here
 * returns with a line, is constant as long as the line is held, is less than cache_lines(), and is
 * that of the evicted line as well. So data, owners and states are arrays of the caller with
 * cache_lines() elements, and this store remains without them.
 *
 * Locking: none; the caller has a lock, or is the only user.
 *
 * Limits: the CACHE_MAX_* below bound the memory of a store to about 20 bytes a line.
 */
#ifndef PUMICE_GPU_CACHE_H
#define PUMICE_GPU_CACHE_H

#include <stdbool.h>

#include "pumice_types.h"

#define CACHE_MAX_BYTES		(64u << 20)	/* of a store */
#define CACHE_MAX_WAYS		64u
#define CACHE_MIN_LINE		16u		/* bytes of a line */
#define CACHE_MAX_LINE		1024u
#define CACHE_MAX_SEGMENTS	32u		/* of a line */
#define CACHE_MAX_CTX		63u		/* largest number of a context */
#define CACHE_ADDR_BITS		56u		/* of an address in any context */
#define CACHE_ANY_CTX		(~0u)		/* in a range: every context */

enum cache_order {
	/*
	 * Tree pseudo-LRU. Lines that are not valid are filled first, the lowest way before others.
	 */
	CACHE_PLRU,
	/*
	 * Ways are filled in rotation, also past ways that an invalidation has left empty: the
	 * order of small in-order caches (document 000, "MCU L0").
	 */
	CACHE_FIFO,
};

struct cache_config {
	u32 bytes;		/* of all lines; the numbers here are powers of two */
	u32 ways;		/* at most the number of lines */
	u32 line_bytes;
	u32 segment_bytes;	/* at most a line */
	/*
	 * Low bits of a line's number that do not select its set: log2 of the number of banks, if
	 * the store is that of a bank.
	 */
	u32 skip_bits;
	enum cache_order order;
};

/* A line as others see it. */
struct cache_line {
	u64 addr;	/* of its first byte */
	u32 ctx;
	u32 dirty;	/* bit n: segment n is not in the next level yet */
	u32 entry;	/* its number, less than cache_lines() */
};

enum cache_kind {
	CACHE_READ,
	CACHE_WRITE,	/* write-back: its segments become dirty */
	CACHE_UPDATE,	/* write-through: the caller writes the next level, too */
};

/* Access to one line. */
struct cache_access {
	u64 addr;	/* less than 1 << CACHE_ADDR_BITS */
	u32 ctx;	/* at most CACHE_MAX_CTX */
	u32 bytes;	/* not 0; those past the end of the line are ignored */
	enum cache_kind kind;
	bool allocate;	/* a miss fills a line */
};

struct cache_result {
	bool hit;
	bool filled;	/* a line was allocated for it: not hit, and allocate */
	bool evicted;	/* victim is a line that was replaced */
	u32 entry;	/* of the line, if hit or filled; that of the victim, too */
	struct cache_line victim;	/* dirty: the segments to write back */
};

/*
 * Lines to which an operation applies: those that contain a byte from first to last, of a context
 * or of all of them.
 */
struct cache_range {
	u32 ctx;	/* or CACHE_ANY_CTX */
	u64 first, last;
};

/* All lines of a context, or of all contexts: CACHE_ANY_CTX. */
static inline struct cache_range cache_range_all(u32 ctx)
{
	return (struct cache_range){ .ctx = ctx, .first = 0, .last = ~0ull };
}

/* Called with a line in the order of entries; it must not call the store. */
typedef void cache_visit(void *opaque, const struct cache_line *line);

/* Over all time; cache_reset() clears them. */
struct cache_counters {
	u64 requests;		/* cache_access(): hits + misses */
	u64 hits, misses;
	u64 evictions;		/* lines that were replaced, dirty or not */
	u64 written_lines;	/* evicted and cleaned lines with dirty segments */
	u64 written_segments;	/* of these lines */
	u64 dropped;		/* lines that were invalidated */
};

struct cache;

/* Check the sizes. Returns the error, a constant text, or NULL. */
const char *cache_check(const struct cache_config *config);

/* Create an empty store. Returns NULL with the reason, a constant text, in *error. */
struct cache *cache_create(const struct cache_config *config, const char **error);
/* NULL is permitted. */
void cache_destroy(struct cache *cache);
/* Drop all lines and clear order and counters: the state after cache_create(). */
void cache_reset(struct cache *cache);

/* Return the number of lines. */
u32 cache_lines(const struct cache *cache);
/* Return the address of the line that contains an address. */
u64 cache_line_addr(const struct cache *cache, u64 addr);

/*
 * Return the segments of a line that a range of bytes touches, as bits; the range is cut off at the
 * end of the line.
 */
u32 cache_segments(const struct cache *cache, u64 addr, u32 bytes);
/* As cache_segments(), but only those that the range covers: a write of these needs no fill. */
u32 cache_segments_covered(const struct cache *cache, u64 addr, u32 bytes);

/*
 * Perform an access. A hit makes the line the most recently used one; a miss that allocates fills a
 * line and returns the line that it replaces. A fill is of a whole line: the caller reads it from
 * the next level.
 */
void cache_access(struct cache *cache, const struct cache_access *access,
		  struct cache_result *result);

/* Return whether a line is held, and the line in *line, which may be NULL. Changes nothing. */
bool cache_find(const struct cache *cache, u32 ctx, u64 addr, struct cache_line *line);
/*
 * Return whether a fill of a line, which is not held, would replace another one, and that one in
 * *line. Changes nothing.
 */
bool cache_victim(const struct cache *cache, u64 addr, struct cache_line *line);

/*
 * Clean one line: it is held on and has no dirty segments afterwards. Returns whether it had any;
 * *line is the line before, for the caller to write it back.
 */
bool cache_clean_line(struct cache *cache, u32 ctx, u64 addr, struct cache_line *line);
/*
 * Drop one line. Returns whether it was held; *line is the line before: its dirty segments are lost
 * unless the caller writes them back.
 */
bool cache_drop_line(struct cache *cache, u32 ctx, u64 addr, struct cache_line *line);

/*
 * Clean the lines of a range and call visit, which may be NULL, for each that had dirty segments,
 * with these. Returns the number of these lines.
 */
u32 cache_clean(struct cache *cache, const struct cache_range *range, cache_visit *visit,
		void *opaque);
/*
 * Drop the lines of a range and call visit, which may be NULL, for each: dirty segments are lost
 * unless it writes them back. Returns the number of the lines.
 */
u32 cache_invalidate(struct cache *cache, const struct cache_range *range, cache_visit *visit,
		     void *opaque);
/* Call visit for each line of a range. Returns the number of the lines. */
u32 cache_each(const struct cache *cache, const struct cache_range *range, cache_visit *visit,
	       void *opaque);

/*
 * Return how many entries cache_clean() and cache_invalidate() have visited, the measure of their
 * time: at most those of the sets that lines of the range can be in, and none if the context has no
 * line, or no dirty one. cache_reset() clears it.
 */
u64 cache_visited(const struct cache *cache);

const struct cache_counters *cache_counters(const struct cache *cache);

#endif
