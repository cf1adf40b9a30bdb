/* SPDX-License-Identifier: MIT */
/*
 * Bus interface (BIF): arbitrates between the requesters of a part of the GPU, and returns data of
 * the SLC to each in the order of its requests.
 *
 * Source: document 000, "Memory Hierarchy" (BIF overview); document 004, "BIF".
 *
 * A requester is a client at a place, by a number of the caller. Each has a FIFO of line requests.
 * In a step the BIF submits one request to its input of the SLC, round robin among the requesters
 * that have one, and passes over those whose bank has no room. A request remains in its FIFO until
 * it has returned: a completion whose earlier requests are not complete yet is held back.
 *
 * Place of further modes: a step is a cycle; strict mode drains after each request, so that data is
 * available to the unit when its request returns.
 *
 * Locking: none; the caller has one lock for the SLC and all its BIFs. Everything is deterministic.
 *
 * Limits: writes return as reads do, as an acknowledgement.
 */
#ifndef PUMICE_GPU_BIF_H
#define PUMICE_GPU_BIF_H

#include <stdbool.h>

#include "../slc/slc.h"

#define BIF_FIFO		16u	/* requests of a requester; a power of two */
#define BIF_MAX_REQUESTERS	1024u

struct bif_config {
	u32 requesters;
	u32 clients;	/* for the counters; at most those of the SLC */
	u32 input;	/* of the SLC; no other BIF has it */
};

/* Request to one line. */
struct bif_request {
	u64 addr;
	u32 ctx;
	u32 bytes;	/* not 0; within a line */
	u32 client;
	enum slc_kind kind;
	bool bypass;
	u64 token;	/* the requester's, unchanged */
};

/* A request returns to its requester. It must not call the BIF or the SLC. */
typedef void bif_return(void *opaque, u32 requester, const struct bif_request *request);

struct bif_client {
	u64 requests;
	u64 read_bytes, written_bytes;	/* atomics count as both */
};

struct bif_counters {
	u64 requests, returns;
	u64 held;	/* completions that waited for an earlier one of the requester */
	u64 blocked;	/* selected requests whose bank had no room */
	u64 refused;	/* requests that found the FIFO of the requester full */
	u32 most;	/* requests in all FIFOs at a time, at most so far */
};

struct bif;

/* Check the sizes, for an SLC. Returns the error, a constant text, or NULL. */
const char *bif_check(const struct bif_config *config, const struct slc *slc);
/*
 * Create a BIF on an input of an SLC, which must exist longer. returned may be NULL. Returns NULL
 * with the reason, a constant text, in *error.
 */
struct bif *bif_create(const struct bif_config *config, struct slc *slc, bif_return *returned,
		       void *opaque, const char **error);
/* No request is pending. NULL is permitted. */
void bif_destroy(struct bif *bif);
/* Drop requests and counters, without returns; the SLC is reset at the same time. */
void bif_reset(struct bif *bif);

/* Enter a request into the FIFO of its requester. False: it is full; drain or step, and repeat. */
bool bif_request(struct bif *bif, u32 requester, const struct bif_request *request);
/* Submit at most one request to the SLC. The caller then calls slc_step(). */
void bif_step(struct bif *bif);
/* Return the number of requests that have not returned, of all or of one requester. */
u32 bif_pending(const struct bif *bif);
u32 bif_pending_of(const struct bif *bif, u32 requester);

/*
 * Step BIFs of the same SLC, and that SLC, until all requests have returned. The first BIF of each
 * step rotates. Returns the number of steps, which is at most bif_drain_limit() of them.
 */
u64 bif_drain(struct bif *const *bifs, u32 count);
u64 bif_drain_limit(struct bif *const *bifs, u32 count);

const struct bif_client *bif_client(const struct bif *bif, u32 client);
const struct bif_counters *bif_counters(const struct bif *bif);

#endif
