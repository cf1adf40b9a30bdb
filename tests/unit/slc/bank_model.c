// SPDX-License-Identifier: MIT
/* Model of a bank of the SLC. */
#include "bank_model.h"

#include <stdlib.h>
#include <string.h>

#include "../support/cmocka_all.h"

void bank_model_create(struct bank_model *bank, const struct slc_config *config,
		       struct slc_client *client)
{
	struct cache_config cache = {
		.bytes = config->bytes / config->banks, .ways = config->ways,
		.line_bytes = config->line_bytes, .segment_bytes = config->segment_bytes,
	};

	memset(bank, 0, sizeof(*bank));
	while (1u << cache.skip_bits < config->banks)
		cache.skip_bits++;
	model_create(&bank->cache, &cache);
	bank->writer = calloc(cache.bytes / cache.line_bytes, sizeof(*bank->writer));
	assert_non_null(bank->writer);
	bank->client = client;
}

void bank_model_destroy(struct bank_model *bank)
{
	model_destroy(&bank->cache);
	free(bank->writer);
}

static bool same_line(const struct bank_model *bank, const struct slc_request *a,
		      const struct slc_request *b)
{
	u32 bytes = bank->cache.config.line_bytes;

	return a->ctx == b->ctx && a->addr / bytes == b->addr / bytes;
}

/* Return whether an earlier request of the same line is not complete. */
static bool ordered(const struct bank_model *bank, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		if (same_line(bank, &bank->list[i].request, &bank->list[n].request))
			return true;
	}
	return false;
}

bool bank_model_submit(struct bank_model *bank, const struct slc_request *request)
{
	struct bank_request *new = &bank->list[bank->count];

	if (bank->count == SLC_QUEUE)
		return false;
	*new = (struct bank_request){ .request = *request, .since = bank->now + 1 };
	new->ordered = ordered(bank, bank->count++);
	bank->counters.waited_line += new->ordered;
	bank->counters.requests++;
	bank->client[request->client].requests++;
	bank->client[request->client].bytes += request->bytes;
	return true;
}

static void read_memory(struct bank_model *bank, u32 client, u64 segments)
{
	bank->counters.read_bytes += segments * bank->cache.config.segment_bytes;
	bank->client[client].read_bytes += segments * bank->cache.config.segment_bytes;
}

static void write_memory(struct bank_model *bank, u32 client, u64 segments)
{
	bank->counters.written_bytes += segments * bank->cache.config.segment_bytes;
	bank->client[client].written_bytes += segments * bank->cache.config.segment_bytes;
}

/* Return the number of bytes of a request in a segment of its line. */
static u32 bytes_in(const struct bank_model *bank, const struct slc_request *request, u32 segment)
{
	u64 line = request->addr / bank->cache.config.line_bytes * bank->cache.config.line_bytes;
	u64 first = line + segment * bank->cache.config.segment_bytes, byte;
	u32 count = 0;

	for (byte = request->addr; byte < request->addr + request->bytes; byte++)
		count += byte >= first && byte < first + bank->cache.config.segment_bytes;
	return count;
}

/* Return the segments that are read from memory. */
static u64 bypass(struct bank_model *bank, const struct slc_request *request)
{
	const struct model_way *way = model_find(&bank->cache, request->ctx, request->addr);
	u32 segments = bank->cache.config.line_bytes / bank->cache.config.segment_bytes, i;
	u64 read = 0, written = 0;

	bank->counters.bypasses++;
	bank->client[request->client].bypasses++;
	for (i = 0; i < segments; i++) {
		if (!bytes_in(bank, request, i))
			continue;
		written += request->kind != SLC_READ;
		read += request->kind != SLC_WRITE && (!way || !way->dirty[i]);
	}
	write_memory(bank, request->client, written);
	return read;
}

static u64 through_cache(struct bank_model *bank, const struct slc_request *request)
{
	const struct cache_access access = {
		.addr = request->addr, .ctx = request->ctx, .bytes = request->bytes,
		.kind = request->kind == SLC_READ ? CACHE_READ : CACHE_WRITE, .allocate = true,
	};
	u32 segments = bank->cache.config.line_bytes / bank->cache.config.segment_bytes, i;
	struct cache_result result;
	u64 read = 0;

	model_access(&bank->cache, &access, &result);
	bank->counters.hits += result.hit;
	bank->client[request->client].hits += result.hit;
	bank->counters.misses += !result.hit;
	bank->client[request->client].misses += !result.hit;
	if (result.evicted) {
		bank->counters.evictions++;
		bank->counters.written_lines += result.victim.dirty != 0;
		write_memory(bank, bank->writer[result.victim.entry],
			     (u64)__builtin_popcount(result.victim.dirty));
	}
	if (request->kind != SLC_READ)
		bank->writer[result.entry] = request->client;
	for (i = 0; i < segments && !result.hit; i++)
		read += request->kind != SLC_WRITE ||
			bytes_in(bank, request, i) != bank->cache.config.segment_bytes;
	if (read)
		bank->counters.fills++;
	return read;
}

/* Return whether a started request has the line that this one would replace. */
static bool victim_in_use(struct bank_model *bank, const struct slc_request *request)
{
	const struct model_way *way;
	struct slc_request victim;
	u32 i;

	if (request->bypass || model_find(&bank->cache, request->ctx, request->addr))
		return false;
	way = model_next(&bank->cache, request->addr);
	victim.ctx = way->ctx;
	victim.addr = way->number * bank->cache.config.line_bytes;
	for (i = 0; way->valid && i < bank->count; i++) {
		if (bank->list[i].started && same_line(bank, &bank->list[i].request, &victim))
			return true;
	}
	return false;
}

static void start(struct bank_model *bank, struct bank_request *one)
{
	u64 rows = 0, read, row, end = one->request.addr + one->request.bytes;

	for (row = one->request.addr / 64 * 64; row < end; row += 64)
		rows++;
	if (one->request.kind == SLC_ATOMIC)
		rows *= 2;
	read = one->request.bypass ? bypass(bank, &one->request) :
				     through_cache(bank, &one->request);
	read_memory(bank, one->request.client, read);
	bank->counters.waited_bank += bank->now > one->since;
	bank->counters.steps += rows;
	bank->busy_until = bank->now + rows;
	one->started = true;
	one->ready = bank->now + rows + (read ? SLC_MISS_STEPS : 0);
}

/* Remove a request; the next one of its line could start now. */
static void finish(struct bank_model *bank, u32 n, slc_done *done, void *opaque)
{
	const struct slc_request request = bank->list[n].request;
	u32 i;

	for (i = n + 1; i < bank->count; i++)
		bank->list[i - 1] = bank->list[i];
	bank->count--;
	for (i = 0; i < bank->count; i++) {
		if (same_line(bank, &bank->list[i].request, &request)) {
			bank->list[i].since = bank->now;
			break;
		}
	}
	done(opaque, &request);
}

void bank_model_step(struct bank_model *bank, slc_done *done, void *opaque)
{
	u32 i = 0;

	bank->now++;
	while (i < bank->count) {
		if (bank->list[i].started && bank->list[i].ready <= bank->now)
			finish(bank, i, done, opaque);
		else
			i++;
	}
	for (i = 0; i < bank->count && bank->busy_until <= bank->now; i++) {
		if (!bank->list[i].started && !ordered(bank, i) &&
		    !victim_in_use(bank, &bank->list[i].request)) {
			start(bank, &bank->list[i]);
			break;
		}
	}
}
