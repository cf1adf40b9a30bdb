/* SPDX-License-Identifier: MIT */
/*
 * System level cache (SLC): the last level before memory, for all cores and masters.
 *
 * Source: document 000, "Memory Hierarchy" and "System Level Cache"; document 004, "SLC" (16-way,
 * pseudo-LRU, requests that are not cached).
 *
 * Lines are distributed over banks by a hash of context and line number. Each bank has a queue of
 * requests, and performs one at a time: its RAM has 512 bits, so that a request takes a step for
 * each aligned 64 bytes that it touches, and twice that if it is an atomic, which reads and writes.
 * A request that reads memory completes SLC_MISS_STEPS later, and meanwhile the bank performs
 * others. So requests complete out of order, except that those of the same line are performed and
 * completed in the order of submission.
 *
 * Cached requests: a miss fills the whole line. A write reads from memory only those segments that
 * it does not cover, and its segments are written to memory when the line is replaced or cleaned.
 * Bypassing requests never fill a line: a write goes to memory, and updates the line if it is held;
 * a read uses the dirty segments of a line that is held, and reads the others from memory. Atomics
 * are performed here and therefore always cached.
 *
 * Bytes from and to memory are counted in whole segments, for the client that caused them: reads
 * for the one whose request misses, write-backs for the last one that wrote to the line.
 *
 * Place of further modes: a step is a cycle of the SLC's clock for a mode that counts these, which
 * replaces SLC_MISS_STEPS by the time of the memory. Data of lines are those of strict/lines.h,
 * which does not depend on the sizes here.
 *
 * Locking: none; the caller has a lock. Everything is deterministic.
 *
 * Limits: a request is within one line. Translation is not modelled here.
 */
#ifndef PUMICE_GPU_SLC_H
#define PUMICE_GPU_SLC_H

#include <stdbool.h>

#include "../cache/cache.h"

#define SLC_MAX_BYTES	(64u << 20)	/* of all banks */
#define SLC_MAX_BANKS	64u
#define SLC_MAX_INPUTS	256u
#define SLC_MAX_CLIENTS	256u
#define SLC_QUEUE	32u	/* requests in a bank, with those that wait for memory */
#define SLC_RAM_BYTES	64u	/* of a bank's RAM in one step */
#define SLC_MISS_STEPS	16u	/* from a miss to its completion */
/*
 * Steps within which one request of a full queue completes at the latest, if its bank does nothing
 * else: two for each row of the largest line.
 */
#define SLC_MAX_STEPS	(SLC_MISS_STEPS + 2 * CACHE_MAX_LINE / SLC_RAM_BYTES)

struct slc_config {
	u32 bytes;	/* of all banks together; sizes and banks are powers of two */
	u32 banks;
	u32 ways;
	u32 line_bytes, segment_bytes;
	u32 inputs;	/* blocks that submit requests */
	u32 clients;	/* for the counters */
};

enum slc_kind { SLC_READ, SLC_WRITE, SLC_ATOMIC };

struct slc_request {
	u64 addr;
	u32 ctx;
	u32 bytes;	/* not 0; within a line */
	u32 client;	/* less than the number of clients */
	u32 input;	/* less than the number of inputs */
	u64 token;	/* the input's, unchanged */
	enum slc_kind kind;
	bool bypass;	/* an atomic operation reads memory, and writes it */
};

/* A request of an input is complete. It must not call the SLC. */
typedef void slc_done(void *opaque, const struct slc_request *request);

/* Of a client. requests = hits + misses + bypasses. */
struct slc_client {
	u64 requests, bytes;
	u64 hits, misses;	/* cached requests */
	u64 bypasses;
	u64 read_bytes;		/* from memory */
	u64 written_bytes;	/* to memory */
};

/* Of a bank. */
struct slc_bank {
	u64 requests;
	u64 hits, misses, bypasses;
	u64 steps;		/* in which its RAM was in use */
	u64 waited_line;	/* requests that had to wait for one of the same line */
	u64 waited_bank;	/* others that had to wait for the bank */
	u64 evictions;		/* lines that were replaced */
	u64 dropped;		/* lines that slc_invalidate() dropped */
	u64 fills;		/* misses that read segments from memory */
	u64 written_lines;	/* lines that were written back, by eviction or cleaning */
	u64 read_bytes, written_bytes;	/* from and to memory */
};

/* Result of cleaning or invalidating. */
struct slc_swept {
	u64 lines;		/* that were cleaned or dropped */
	u64 written_bytes;	/* to memory */
	u64 lost_bytes;		/* dirty segments that were dropped */
};

struct slc;

/* Check the sizes. Returns the error, a constant text, or NULL. */
const char *slc_check(const struct slc_config *config);
/* Create an empty SLC. Returns NULL with the reason, a constant text, in *error. */
struct slc *slc_create(const struct slc_config *config, const char **error);
/* NULL is permitted. */
void slc_destroy(struct slc *slc);
/* Drop lines, requests and counters: the state after creation. Inputs stay connected. */
void slc_reset(struct slc *slc);
/* Return the sizes that it was created with. */
const struct slc_config *slc_sizes(const struct slc *slc);
/* Set the function that an input's completions call. */
void slc_connect(struct slc *slc, u32 input, slc_done *done, void *opaque);

/* Return the bank of an address. */
u32 slc_bank_of(const struct slc *slc, u32 ctx, u64 addr);

/* Enter a request into the queue of its bank. False: the queue is full; step, and repeat. */
bool slc_submit(struct slc *slc, const struct slc_request *request);
/* Perform one step of all banks: completions first, then each idle bank starts a request. */
void slc_step(struct slc *slc);
/* Return the number of requests that are not complete. */
u32 slc_pending(const struct slc *slc);

/*
 * Write the dirty lines of a range to memory, or drop lines without writing them; none of their
 * requests may be pending. To drop lines whose data are needed, clean first.
 */
struct slc_swept slc_clean(struct slc *slc, const struct cache_range *range);
struct slc_swept slc_invalidate(struct slc *slc, const struct cache_range *range);

/* Return whether a line is held, and the line in *line, which may be NULL. */
bool slc_find(const struct slc *slc, u32 ctx, u64 addr, struct cache_line *line);

/* Counters over all time; slc_reset() clears them. */
const struct slc_client *slc_client(const struct slc *slc, u32 client);
const struct slc_bank *slc_bank(const struct slc *slc, u32 bank);

#endif
