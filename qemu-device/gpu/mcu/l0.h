/* SPDX-License-Identifier: MIT */
/*
 * MCU L0 of one USC: the DMA engine, which expands bursts of reads to lines and combines bursts of
 * writes, and a small in-order read cache for each category of requests.
 *
 * Source: document 000, "MCU L0".
 *
 * Writes of a client are combined in one open line of each partition. The line is passed on when
 * another line is written, or the same one by another client, when it is read or an atomic
 * operation applies to it, and by l0_flush(): as one write for each run of consecutive segments
 * that have written bytes, from the first to the last one of these. The counters have the written
 * bytes, without gaps between them.
 * A write also updates the line in the partition's cache; it allocates none.
 *
 * Partitions are not coherent with each other: a line of one is stale when another one's write
 * changes it. Only atomic operations drop the line in all of them.
 *
 * Locking: none; the caller has a lock.
 *
 * Limits: lines of at most 128 bytes.
 */
#ifndef PUMICE_GPU_MCU_L0_H
#define PUMICE_GPU_MCU_L0_H

#include "../cache/level.h"

#define L0_MAX_LINE 128u

/* Categories of requests. */
enum l0_partition {
	L0_PDS,		/* data that the PDS fetches into stores of the USC */
	L0_CODE,	/* instructions */
	L0_DATA,	/* loads and stores of programs */
	L0_PARTITIONS
};

struct l0;

/* Return the partition of a client. */
enum l0_partition l0_partition_of(u32 client);

/* config: the cache of a partition. Returns NULL with the reason, a constant text, in *error. */
struct l0 *l0_create(const struct level_config *config, const char **error);
/* NULL is permitted. */
void l0_destroy(struct l0 *l0);
void l0_reset(struct l0 *l0);
/* Perform a request of any length by USC usc of the core. */
void l0_request(struct l0 *l0, u32 usc, const struct mem_request *request);
/* Pass on all open lines. */
void l0_flush(struct l0 *l0);
void l0_invalidate(struct l0 *l0, const struct cache_range *range, struct level_swept *sum);

const struct level *l0_level(const struct l0 *l0, enum l0_partition partition);

#endif
