/* SPDX-License-Identifier: MIT */
/*
 * The memory hierarchy: takes the requests of all units, routes each through the caches of its path
 * to the SLC and memory, and counts.
 *
 * Source: document 000, "Memory Hierarchy"; document 004, "SLC", "DCU", "TCU" and "BIF". The path
 * of each client is that of hw/clients.xml.
 *
 *   data      MCU or DCU of the core  \
 *   texture   TCU caches of the core   > BIF > SLC > memory
 *   direct                            /
 *
 * BIFs: with an MCU one for each two USCs of a core, with a DCU one a core, and one for the
 * masters. Requests of direct clients of a core use its first one. Caches are neither coherent with
 * each other nor with the CPU: software requests hierarchy_fence(), _clean() and _invalidate().
 *
 * Requests to the SLC are queued and worked off when the FIFO of a requester is full, by
 * hierarchy_drain(), and by every function that reads or changes the state otherwise.
 *
 * Place of strict mode: config.in_order, by which a request is complete when hierarchy_request()
 * returns; data of lines are in strict/lines.h. Place of a mode that counts cycles: bif.h and
 * slc.h, whose steps are cycles.
 *
 * Locking: one mutex, a leaf; every function acquires it. Deterministic if the order of calls is.
 *
 * Limits: addresses have less than 56 bits.
 */
#ifndef PUMICE_GPU_HIERARCHY_H
#define PUMICE_GPU_HIERARCHY_H

#include "../bif/bif.h"
#include "../cache/level.h"
#include "../pumice_gpu.h"
#include "pumice_regs.h"

#define HIERARCHY_MAX_CORES	16u

struct hierarchy_config {
	u32 cores, uscs;	/* uscs: of a core */
	enum pumice_cache_style style;	/* MCU or DCU */
	u32 line_bytes, segment_bytes;
	/* As in hw/presets.h. */
	u32 data_l1_bytes, data_l2_bytes, data_ways;
	u32 texture_l1_bytes, texture_l2_bytes, texture_ways;
	u32 slc_bytes, slc_ways, slc_banks;
	bool in_order;	/* drain after each request to the SLC */
};

/* Reach of an operation; each includes the ones before it. */
enum hierarchy_scope {
	HIERARCHY_GROUP,	/* a USC */
	HIERARCHY_CORE,
	HIERARCHY_GPU,		/* all cores */
	HIERARCHY_SYSTEM	/* the CPU: the SLC as well */
};

/*
 * Counters of a client. First and second level: of the data or texture caches on its path. Requests
 * of the SLC = hits + misses + bypasses.
 */
struct hierarchy_client {
	u64 requests, bytes;	/* as units made them */
	struct level_client first, second;
	struct slc_client slc;
};

/*
 * Counters of all caches of a level; requests = hits + misses + atomics + combined + bypasses.
 * Fills are reads from the next level, or memory. Those of the SLC, and its writes, are of lines;
 * its bytes include those of bypasses.
 */
struct hierarchy_level {
	struct level_client requests;
	u64 bypasses;		/* SLC only */
	u64 evictions, dropped;
	u64 fills, read_bytes;
	u64 writes, written_bytes;
};

struct hierarchy;

/* Check the sizes. Returns the error, a constant text, or NULL. */
const char *hierarchy_check(const struct hierarchy_config *config);
/* Create empty caches. Returns NULL with the reason, a constant text, in *error. */
struct hierarchy *hierarchy_create(const struct hierarchy_config *config, const char **error);
/* NULL is permitted. */
void hierarchy_destroy(struct hierarchy *h);
/* Drop lines, pending requests and counters: the state after creation. */
void hierarchy_reset(struct hierarchy *h);

/*
 * Perform a request. False: it is not valid (client, place, context, address or length, or a write
 * by the path of textures), and nothing happens but that hierarchy_invalid() counts it.
 */
bool hierarchy_request(struct hierarchy *h, const struct mem_request *request);
/* Work off all queued requests. */
void hierarchy_drain(struct hierarchy *h);

/*
 * Make earlier writes of a USC visible in a scope. GROUP and CORE: pass on the open lines of its
 * MCU L0; GPU: and write the dirty lines of a context, or CACHE_ANY_CTX, of its core to the SLC;
 * SYSTEM: and those of the SLC to memory.
 */
struct level_swept hierarchy_fence(struct hierarchy *h, u32 usc, enum hierarchy_scope scope,
				   u32 ctx);
/*
 * Write dirty lines of a range, or all if range is NULL, to the level after the scope. The USC
 * selects the core, and is ignored by GPU and SYSTEM. GROUP has no dirty lines but open ones.
 */
struct level_swept hierarchy_clean(struct hierarchy *h, u32 usc, enum hierarchy_scope scope,
				   const struct cache_range *range);
/*
 * Drop lines of a range, or all if range is NULL. GROUP: of the first data and texture caches of
 * the USC; CORE: of its core; GPU: of all cores; SYSTEM: and of the SLC. Open lines are passed on
 * before; dirty lines are lost, which lost_bytes counts, unless they were cleaned.
 */
struct level_swept hierarchy_invalidate(struct hierarchy *h, u32 usc, enum hierarchy_scope scope,
					const struct cache_range *range);

/*
 * Clean and invalidate in one step, so that no line is lost that a request makes dirty in between:
 * the operation of software without privileges. lost_bytes is 0.
 */
struct level_swept hierarchy_flush(struct hierarchy *h, u32 usc, enum hierarchy_scope scope,
				   const struct cache_range *range);

/* Counters since creation or reset, after draining. cache: enum pumice_cache. */
void hierarchy_client_counters(struct hierarchy *h, u32 client, struct hierarchy_client *out);
void hierarchy_level_counters(struct hierarchy *h, enum pumice_cache cache,
			      struct hierarchy_level *out);
/* Requests of lines of a client that all BIFs have passed to the SLC. */
void hierarchy_bus_counters(struct hierarchy *h, u32 client, struct bif_client *out);
/* Of one bank and one BIF, for tests: these have the order of requests, and compare sums. */
void hierarchy_bank_counters(struct hierarchy *h, u32 bank, struct slc_bank *out);
void hierarchy_bif_counters(struct hierarchy *h, u32 bif, struct bif_counters *out);
/*
 * Return the number of requests since creation or reset that were not valid. Units make none: one
 * is a defect of the unit, or of its client in hw/clients.xml.
 */
u64 hierarchy_invalid(struct hierarchy *h);
/* Return the number of BIFs, those of core 0 first and that of the masters last. */
u32 hierarchy_bifs(const struct hierarchy *h);

/*
 * Return whether a line is held by the cache of a level that serves a USC, whose number the SLC
 * ignores; of an MCU L0 in the partition of a client. For tests and for strict mode.
 */
bool hierarchy_holds(struct hierarchy *h, enum pumice_cache cache, u32 usc, u32 client, u32 ctx,
		     u64 addr);

#endif
