// SPDX-License-Identifier: MIT
/*
 * Bus interface: FIFOs of the requesters, arbitration, and returns in order.
 *
 * Source: document 000, "Memory Hierarchy".
 *
 * The numbers of a FIFO only increase, and their low bits are places in its ring: those from
 * returned to submitted are in the SLC or held back, those from submitted to entered wait for it.
 */
#include "bif.h"

#include <stdlib.h>
#include <string.h>

#include "minmax.h"

#define WORD_BITS 64u

struct slot {
	struct bif_request request;
	bool complete;
};

struct queue {
	struct slot slot[BIF_FIFO];
	u32 returned, submitted, entered;	/* requests so far */
};

struct bif {
	struct bif_config config;	/* constant, as are the next ones */
	struct slc *slc;
	bif_return *returned;
	void *opaque;

	struct queue *queue;	/* [requesters] */
	u64 *waiting;		/* bit of a requester: it has requests to submit */
	u32 next;		/* the first requester of the next arbitration */
	u32 pending;		/* requests in all FIFOs */
	u64 rounds;		/* steps of bif_drain() that this BIF was the first argument of */
	struct bif_client *client;	/* [clients] */
	struct bif_counters counters;
};

static u32 words_of(const struct bif_config *config)
{
	return (config->requesters + WORD_BITS - 1) / WORD_BITS;
}

const char *bif_check(const struct bif_config *config, const struct slc *slc)
{
	if (!config->requesters || config->requesters > BIF_MAX_REQUESTERS)
		return "a BIF must have 1 to 1024 requesters";
	if (!config->clients || config->clients > slc_sizes(slc)->clients)
		return "a BIF must have clients, at most those of its SLC";
	if (config->input >= slc_sizes(slc)->inputs)
		return "the input of a BIF must be one of its SLC";
	return NULL;
}

/* A request of this BIF is complete in the SLC. Return it, if it is the oldest of its requester. */
static void completed(void *opaque, const struct slc_request *request)
{
	struct bif *bif = opaque;
	u32 requester = (u32)(request->token >> 32), number = (u32)request->token;
	struct queue *queue = &bif->queue[requester];

	queue->slot[number % BIF_FIFO].complete = true;
	bif->counters.held += number != queue->returned;
	while (queue->returned != queue->submitted) {
		struct slot *slot = &queue->slot[queue->returned % BIF_FIFO];

		if (!slot->complete)
			return;
		queue->returned++;
		bif->pending--;
		bif->counters.returns++;
		if (bif->returned)
			bif->returned(bif->opaque, requester, &slot->request);
	}
}

struct bif *bif_create(const struct bif_config *config, struct slc *slc, bif_return *returned,
		       void *opaque, const char **error)
{
	struct bif *bif;

	*error = bif_check(config, slc);
	if (*error)
		return NULL;
	bif = calloc(1, sizeof(*bif));
	if (!bif)
		goto no_memory;
	bif->config = *config;
	bif->slc = slc;
	bif->returned = returned;
	bif->opaque = opaque;
	bif->queue = calloc(config->requesters, sizeof(*bif->queue));
	bif->waiting = calloc(words_of(config), sizeof(*bif->waiting));
	bif->client = calloc(config->clients, sizeof(*bif->client));
	if (!bif->queue || !bif->waiting || !bif->client)
		goto no_memory;
	slc_connect(slc, config->input, completed, bif);
	return bif;
no_memory:
	bif_destroy(bif);
	*error = "no memory for a BIF";
	return NULL;
}

void bif_destroy(struct bif *bif)
{
	if (!bif)
		return;
	free(bif->queue);
	free(bif->waiting);
	free(bif->client);
	free(bif);
}

void bif_reset(struct bif *bif)
{
	memset(bif->queue, 0, bif->config.requesters * sizeof(*bif->queue));
	memset(bif->waiting, 0, words_of(&bif->config) * sizeof(*bif->waiting));
	memset(bif->client, 0, bif->config.clients * sizeof(*bif->client));
	memset(&bif->counters, 0, sizeof(bif->counters));
	bif->next = 0;
	bif->pending = 0;
	bif->rounds = 0;
}

bool bif_request(struct bif *bif, u32 requester, const struct bif_request *request)
{
	struct queue *queue = &bif->queue[requester];
	struct bif_client *client = &bif->client[request->client];

	if (queue->entered - queue->returned == BIF_FIFO) {
		bif->counters.refused++;
		return false;
	}
	queue->slot[queue->entered++ % BIF_FIFO] = (struct slot){ .request = *request };
	bif->waiting[requester / WORD_BITS] |= 1ull << requester % WORD_BITS;
	bif->pending++;
	bif->counters.requests++;
	bif->counters.most = max_u32(bif->counters.most, bif->pending);
	client->requests++;
	client->read_bytes += request->kind == SLC_WRITE ? 0 : request->bytes;
	client->written_bytes += request->kind == SLC_READ ? 0 : request->bytes;
	return true;
}

/* Submit the next request of a requester, which has one. False: its bank has no room. */
static bool submit(struct bif *bif, u32 requester)
{
	struct queue *queue = &bif->queue[requester];
	const struct bif_request *request = &queue->slot[queue->submitted % BIF_FIFO].request;
	const struct slc_request submitted = {
		.addr = request->addr,
		.ctx = request->ctx,
		.bytes = request->bytes,
		.client = request->client,
		.input = bif->config.input,
		.token = (u64)requester << 32 | queue->submitted,
		.kind = request->kind,
		.bypass = request->bypass,
	};

	if (!slc_submit(bif->slc, &submitted))
		return false;
	queue->submitted++;
	if (queue->submitted == queue->entered)
		bif->waiting[requester / WORD_BITS] &= ~(1ull << requester % WORD_BITS);
	return true;
}

/* Return the first requester from one on that has requests to submit; requesters: none. */
static u32 next_waiting(const struct bif *bif, u32 from)
{
	u32 words = words_of(&bif->config), word = from / WORD_BITS;
	u64 bits;

	if (from >= bif->config.requesters)
		return bif->config.requesters;
	bits = bif->waiting[word] >> from % WORD_BITS << from % WORD_BITS;
	while (!bits && ++word < words)
		bits = bif->waiting[word];
	return bits ? word * WORD_BITS + (u32)__builtin_ctzll(bits) : bif->config.requesters;
}

/* Submit a request of one of the requesters from one to before another. Returns whether it did. */
static bool arbitrate(struct bif *bif, u32 from, u32 to)
{
	u32 requester;

	for (requester = next_waiting(bif, from); requester < to;
	     requester = next_waiting(bif, requester + 1)) {
		if (submit(bif, requester)) {
			bif->next = (requester + 1) % bif->config.requesters;
			return true;
		}
		bif->counters.blocked++;
	}
	return false;
}

void bif_step(struct bif *bif)
{
	u32 next = bif->next;

	if (!arbitrate(bif, next, bif->config.requesters))
		arbitrate(bif, 0, next);
}

u32 bif_pending(const struct bif *bif)
{
	return bif->pending;
}

u32 bif_pending_of(const struct bif *bif, u32 requester)
{
	const struct queue *queue = &bif->queue[requester];

	return queue->entered - queue->returned;
}

static u64 pending_of_all(struct bif *const *bifs, u32 count)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < count; i++)
		sum += bif_pending(bifs[i]);
	return sum;
}

/*
 * Each request is submitted in one step, and in each period of SLC_MAX_STEPS one completes. Those
 * that other BIFs have submitted may be before them.
 */
u64 bif_drain_limit(struct bif *const *bifs, u32 count)
{
	u64 others = count ? slc_pending(bifs[0]->slc) : 0;

	return (pending_of_all(bifs, count) + others) * (1 + SLC_MAX_STEPS);
}

u64 bif_drain(struct bif *const *bifs, u32 count)
{
	u64 limit = bif_drain_limit(bifs, count), steps;
	u32 i;

	for (steps = 0; steps < limit && pending_of_all(bifs, count); steps++) {
		u64 first = bifs[0]->rounds++;

		for (i = 0; i < count; i++)
			bif_step(bifs[(first + i) % count]);
		slc_step(bifs[0]->slc);
	}
	return steps;
}

const struct bif_client *bif_client(const struct bif *bif, u32 client)
{
	return &bif->client[client];
}

const struct bif_counters *bif_counters(const struct bif *bif)
{
	return &bif->counters;
}
