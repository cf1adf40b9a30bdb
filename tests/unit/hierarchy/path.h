/* SPDX-License-Identifier: MIT */
/*
 * Model of the whole memory hierarchy, to compare the blocks with: one request after the other, a
 * byte after the other, each complete before the next one begins. Written from hw/clients.xml, the
 * documents and the headers of the blocks; each cache is the model of the tests of the tag store.
 *
 * It shares with the code the vectors of the hash of banks only, which tests/unit/slc proves.
 */
#ifndef PUMICE_TEST_HIERARCHY_PATH_H
#define PUMICE_TEST_HIERARCHY_PATH_H

#include "../../../qemu-device/gpu/hierarchy/hierarchy.h"
#include "../../../qemu-device/gpu/slc/hash.h"
#include "../cache/model.h"

#define PATH_CORES	HIERARCHY_MAX_CORES
#define PATH_USCS	(PATH_CORES * 4u)
#define PATH_MAX_LINE	128u
#define PATH_BIFS	(PATH_USCS + 1u)

/* Last writer of a line. */
struct path_writer {
	u32 client, usc;
};

/* A cache. */
struct path_store {
	struct model tags;
	struct path_writer *writer;	/* of each line */
};

/* Line of an MCU L0 whose writes are combined. */
struct path_open {
	bool open;
	u64 number;	/* of the line */
	u32 ctx, client;
	bool written[PATH_MAX_LINE];	/* its bytes */
};

/* Request to bytes of one line. */
struct path_piece {
	u64 number;	/* of the line */
	u32 from, to;	/* first byte of the line, and the one after the last */
	u32 ctx, client;
	u32 usc;	/* over all cores; not of direct clients */
	enum slc_kind kind;
	bool bypass;	/* of all caches */
	bool written[PATH_MAX_LINE];	/* bytes of the line */
};

struct path {
	struct hierarchy_config config;
	u32 mcu_banks;	/* of an L1; 1 with a DCU */
	u32 bifs_per_core;
	struct slc_hash hash;
	/* A core has USCs or halves; partitions: pds, code, data. */
	struct path_store data_l1[PATH_USCS][3], data_l2[PATH_CORES][4];
	struct path_open open[PATH_USCS][3];
	struct path_store texture_l1[PATH_USCS], texture_l2[PATH_CORES];
	struct path_store slc[SLC_MAX_BANKS];

	struct hierarchy_level level[PUMICE_CACHE_COUNT];
	struct hierarchy_client client[PUMICE_MEM_CLIENT_COUNT];
	struct slc_bank bank[SLC_MAX_BANKS];	/* without steps and waits */
	u64 bif[PATH_BIFS];	/* requests */
};

void path_create(struct path *p, const struct hierarchy_config *config);
void path_destroy(struct path *p);

/* As the functions of hierarchy.h; requests are valid. */
void path_request(struct path *p, const struct mem_request *request);
struct level_swept path_fence(struct path *p, u32 usc, enum hierarchy_scope scope, u32 ctx);
struct level_swept path_clean(struct path *p, u32 usc, enum hierarchy_scope scope,
			      const struct cache_range *range);
struct level_swept path_invalidate(struct path *p, u32 usc, enum hierarchy_scope scope,
				   const struct cache_range *range);

/* path_slc.c: perform a request from a BIF. */
void path_slc(struct path *p, u32 bif, const struct path_piece *piece);
/* Write the dirty segments of a line to memory. Returns the bytes. */
u64 path_slc_write_back(struct path *p, u32 bank, const struct cache_line *line);

/* Return the bytes of a line whose segments are dirty. */
u64 path_dirty_bytes(const struct path *p, const struct cache_line *line);
/* Access a cache for a request. */
void path_access(const struct path *p, struct path_store *store, const struct path_piece *piece,
		 enum cache_kind kind, bool allocate, struct cache_result *result);
/* Return whether a request writes all bytes of a segment. */
bool path_covers(const struct path *p, const struct path_piece *piece, u32 segment);

#endif
