/* SPDX-License-Identifier: MIT */
/*
 * Coherence of the GPU's caches: which operations are due when. All functions do nothing on
 * devices before FWIF_CACHES_SINCE_MAP. They are called with interrupts off.
 */
#ifndef FW_CACHES_H
#define FW_CACHES_H

#include "context.h"

/* A test build, TEST=EARLY, cleans the caches after the update of a job's object, not before. */
#ifdef FW_TEST_EARLY
#define CACHES_END_LATE	true
#else
#define CACHES_END_LATE	false
#endif

/**
 * caches_start - make data of others visible to a job, as its command requests.
 * @c: owner of the job, which has not started
 * @ctx: MMU context of its VM
 */
void caches_start(const struct context *c, u32 ctx);

/** caches_start_partial - the same for a partial render of a geometry job. */
void caches_start_partial(const struct context *c, u32 ctx);

/**
 * caches_end - make the writes of a job visible to the host and to other devices, as its command
 * requests. Before any of them can find out that it has ended.
 */
void caches_end(const struct context *c, u32 ctx);

/** caches_flush - write and drop all lines of an MMU context. */
void caches_flush(u32 ctx);

/** caches_flush_range - write and drop the lines of a range. @last: last byte */
void caches_flush_range(u32 ctx, u64 first, u64 last);

/** caches_flush_range_again - the same with the range of the last caches_flush_range(). */
void caches_flush_range_again(u32 ctx);

/** caches_flush_tables - write and drop the lines of translation tables: the host changed some. */
void caches_flush_tables(void);

/** caches_flush_shared - write and drop the lines of MMU context 0: lists of pages and scenes. */
void caches_flush_shared(void);

#endif
