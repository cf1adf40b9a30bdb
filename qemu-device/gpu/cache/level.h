/* SPDX-License-Identifier: MIT */
/*
 * A level of the hierarchy above the SLC: a store of lines (cache.h) and the requests that it makes
 * of the next level. The caches of MCU, DCU and TCU are made of these.
 *
 * Source: document 000, "Mixed Cache Units" and "Texture Pipeline Unit"; document 004, "DCU" and
 * "TCU".
 *
 * A read that misses fills a line, for which the level reads the whole line. A write is passed on
 * and updates a line that is held (write-through), or fills one and remains in it until the line is
 * replaced or cleaned (write-back); then the fill reads only the segments that the write does not
 * cover. An atomic operation is performed in the SLC: the line is cleaned and dropped, and the
 * request passed on.
 *
 * Requests to the next level are made in the order: write-backs of the replaced line, the fill, the
 * request itself if it is passed on. Write-backs are those of the client and the USC that wrote to
 * the line last.
 *
 * Place of strict mode: data of lines, by the entries of cache.h. Of a mode that counts cycles: the
 * time of a request is that of the levels that it passes; none is counted here.
 *
 * Locking: none; the caller has a lock. Everything is deterministic.
 */
#ifndef PUMICE_GPU_CACHE_LEVEL_H
#define PUMICE_GPU_CACHE_LEVEL_H

#include "../mem/request.h"
#include "cache.h"

enum level_kind { LEVEL_READ, LEVEL_WRITE, LEVEL_ATOMIC };

/* Request to one line. */
struct level_request {
	u64 addr;
	u32 ctx;
	u32 bytes;	/* not 0; within a line */
	u32 used;	/* those that the counters have: all, but of combined writes (mcu/l0.h) */
	u32 client;	/* enum pumice_mem_client */
	u32 usc;	/* number of the requester's USC in its core */
	enum level_kind kind;
	u32 covered;	/* of a write: segments of the line that it writes as a whole, as bits */
};

/* Take a request; it must not call the level that makes it. */
typedef void level_next(void *opaque, const struct level_request *request);

struct level_config {
	struct cache_config cache;
	bool write_back;	/* else write-through */
	level_next *next;
	void *opaque;
};

/* Requests of a level, of all clients or of one; requests = hits + misses + atomics + combined. */
struct level_client {
	u64 requests, bytes;
	u64 hits, misses;
	u64 atomics;
	u64 combined;	/* writes that were combined with an earlier one (mcu.h) */
};

struct level_counters {
	struct level_client all;
	u64 evictions;	/* lines that were replaced, dirty or not */
	u64 dropped;	/* lines that an atomic operation or an invalidation dropped */
	/* Requests to the next level, and their bytes: atomics count as neither. */
	u64 fills, read_bytes;
	u64 writes, written_bytes;
};

/* Result of cleaning or invalidating. */
struct level_swept {
	u64 lines;		/* that were cleaned or dropped */
	u64 written_bytes;	/* to the next level */
	u64 lost_bytes;		/* dirty segments that were dropped */
};

struct level;

/* Create an empty level. Returns NULL with the reason, a constant text, in *error. */
struct level *level_create(const struct level_config *config, const char **error);
/* NULL is permitted. */
void level_destroy(struct level *level);
/* Drop all lines, without writing them, and clear the counters. */
void level_reset(struct level *level);

/*
 * Return the part of a request that is in the line of its first byte, for lines of a level, as the
 * request of a USC of the core; *request is advanced to the rest. False: there is none left.
 */
bool level_split(const struct level *level, struct mem_request *request, u32 usc,
		 struct level_request *part);

/* Perform a request. */
void level_request(struct level *level, const struct level_request *request);
/* The two halves of a write-through: update and count the line; pass the write on. */
void level_update(struct level *level, const struct level_request *request);
void level_pass(struct level *level, const struct level_request *request);
/* Count a write that is combined with an earlier one, which was counted by level_update(). */
void level_combine(struct level *level, const struct level_request *request);
/* Write back a line if it is dirty, and drop it. */
void level_drop_line(struct level *level, u32 ctx, u64 addr);

/* Write the dirty lines of a range to the next level, or drop lines without writing them. */
void level_clean(struct level *level, const struct cache_range *range, struct level_swept *sum);
void level_invalidate(struct level *level, const struct cache_range *range,
		      struct level_swept *sum);

const struct cache *level_cache(const struct level *level);
/* Add counters to *sum; those over all time, which level_reset() clears. */
void level_counters_add(const struct level *level, struct level_counters *sum);
void level_client_add(const struct level *level, u32 client, struct level_client *sum);

#endif
