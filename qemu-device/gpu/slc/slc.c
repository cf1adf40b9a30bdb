// SPDX-License-Identifier: MIT
/*
 * System level cache: queues of the banks, and the execution of requests.
 *
 * Source: document 000, "System Level Cache"; document 004, "SLC".
 *
 * A request remains in the queue of its bank until it is complete. It refers to the latest earlier
 * one of the same line, if there is one, and starts when that one is complete. So requests of a
 * line form a chain in the order of submission, whatever others do.
 *
 * A fill that would replace a line with a request in execution waits for it. At most SLC_MISS_STEPS
 * later it can start, so that every queue makes progress.
 */
#include "slc.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"

#define NONE (~0u)

enum state { STATE_FREE, STATE_QUEUED, STATE_EXECUTING };

struct entry {
	struct slc_request request;
	u64 line;	/* address of its line */
	u32 after;	/* entry that must be complete before, or NONE */
	enum state state;
	u64 since;	/* step from which only the bank could prevent the start */
	u64 ready;	/* STATE_EXECUTING: step of the completion */
};

struct bank {
	struct cache *cache;
	u8 *owner;	/* of each of its lines: the client that wrote it last */
	struct entry entry[SLC_QUEUE];
	u8 order[SLC_QUEUE];	/* numbers of the entries in use, in the order of submission */
	u32 count;		/* of the entries in use */
	u64 idle;		/* step from which the RAM is not in use */
	struct slc_bank counters;
};

struct input {
	slc_done *done;		/* may be NULL */
	void *opaque;
};

struct slc {
	struct slc_config config;	/* constant, as are the next ones */
	struct slc_hash hash;
	struct bank *bank;		/* [banks] */
	struct input *input;		/* [inputs] */

	struct slc_client *client;	/* [clients] */
	u64 now;			/* number of steps; only increases */
	u32 pending;
};

static bool power_of_two(u32 n)
{
	return n && !(n & (n - 1));
}

static u32 log2_u32(u32 n)
{
	return (u32)__builtin_ctz(n);
}

/* Return the sizes of a bank; the configuration has been checked but for these. */
static struct cache_config bank_config(const struct slc_config *config)
{
	return (struct cache_config){
		.bytes = config->bytes / config->banks,
		.ways = config->ways,
		.line_bytes = config->line_bytes,
		.segment_bytes = config->segment_bytes,
		.skip_bits = log2_u32(config->banks),
		.order = CACHE_PLRU,
	};
}

const char *slc_check(const struct slc_config *config)
{
	struct cache_config bank;

	if (!power_of_two(config->bytes) || config->bytes > SLC_MAX_BYTES)
		return "bytes of the SLC must be a power of two, at most 64 MiB";
	if (!power_of_two(config->banks) || config->banks > SLC_MAX_BANKS)
		return "banks of the SLC must be a power of two, at most 64";
	if (config->banks > config->bytes)
		return "the SLC must not have more banks than bytes";
	if (!config->inputs || config->inputs > SLC_MAX_INPUTS)
		return "the SLC must have 1 to 256 inputs";
	if (!config->clients || config->clients > SLC_MAX_CLIENTS)
		return "the SLC must have 1 to 256 clients";
	bank = bank_config(config);
	return cache_check(&bank);
}

static bool bank_create(struct bank *bank, const struct cache_config *config)
{
	const char *error;

	bank->cache = cache_create(config, &error);
	if (!bank->cache)
		return false;
	bank->owner = calloc(cache_lines(bank->cache), sizeof(*bank->owner));
	return bank->owner;
}

struct slc *slc_create(const struct slc_config *config, const char **error)
{
	struct cache_config bank;
	struct slc *slc;
	u32 i;

	*error = slc_check(config);
	if (*error)
		return NULL;
	slc = calloc(1, sizeof(*slc));
	if (!slc)
		goto no_memory;
	slc->config = *config;
	slc_hash_init(&slc->hash, log2_u32(config->banks), log2_u32(config->line_bytes));
	slc->bank = calloc(config->banks, sizeof(*slc->bank));
	slc->input = calloc(config->inputs, sizeof(*slc->input));
	slc->client = calloc(config->clients, sizeof(*slc->client));
	if (!slc->bank || !slc->input || !slc->client)
		goto no_memory;
	bank = bank_config(config);
	for (i = 0; i < config->banks; i++) {
		if (!bank_create(&slc->bank[i], &bank))
			goto no_memory;
	}
	return slc;
no_memory:
	slc_destroy(slc);
	*error = "no memory for the SLC";
	return NULL;
}

void slc_destroy(struct slc *slc)
{
	u32 i;

	if (!slc)
		return;
	for (i = 0; slc->bank && i < slc->config.banks; i++) {
		cache_destroy(slc->bank[i].cache);
		free(slc->bank[i].owner);
	}
	free(slc->bank);
	free(slc->input);
	free(slc->client);
	free(slc);
}

void slc_reset(struct slc *slc)
{
	u32 i;

	for (i = 0; i < slc->config.banks; i++) {
		struct bank *bank = &slc->bank[i];

		cache_reset(bank->cache);
		memset(bank->entry, 0, sizeof(bank->entry));
		memset(&bank->counters, 0, sizeof(bank->counters));
		bank->count = 0;
		bank->idle = 0;
	}
	memset(slc->client, 0, slc->config.clients * sizeof(*slc->client));
	slc->now = 0;
	slc->pending = 0;
}

const struct slc_config *slc_sizes(const struct slc *slc)
{
	return &slc->config;
}

void slc_connect(struct slc *slc, u32 input, slc_done *done, void *opaque)
{
	slc->input[input].done = done;
	slc->input[input].opaque = opaque;
}

u32 slc_bank_of(const struct slc *slc, u32 ctx, u64 addr)
{
	return slc_hash_bank(&slc->hash, ctx, addr);
}

/* Return the latest entry in use of a line, or NONE. */
static u32 latest_of_line(const struct bank *bank, u32 ctx, u64 line)
{
	u32 i;

	for (i = bank->count; i--;) {
		const struct entry *entry = &bank->entry[bank->order[i]];

		if (entry->line == line && entry->request.ctx == ctx)
			return bank->order[i];
	}
	return NONE;
}

bool slc_submit(struct slc *slc, const struct slc_request *request)
{
	struct bank *bank = &slc->bank[slc_bank_of(slc, request->ctx, request->addr)];
	u64 line = cache_line_addr(bank->cache, request->addr);
	struct slc_client *client = &slc->client[request->client];
	u32 free = 0;

	if (bank->count == SLC_QUEUE)
		return false;
	while (bank->entry[free].state != STATE_FREE)
		free++;
	bank->entry[free] = (struct entry){
		.request = *request,
		.line = line,
		.after = latest_of_line(bank, request->ctx, line),
		.state = STATE_QUEUED,
		.since = slc->now + 1,
	};
	bank->counters.waited_line += bank->entry[free].after != NONE;
	bank->order[bank->count++] = (u8)free;
	slc->pending++;
	bank->counters.requests++;
	client->requests++;
	client->bytes += request->bytes;
	return true;
}

u32 slc_pending(const struct slc *slc)
{
	return slc->pending;
}

/* A request of a client reads segments, as bits, from memory. Returns whether there are any. */
static bool memory_read(const struct slc *slc, struct bank *bank, u32 client, u32 segments)
{
	u64 bytes = (u64)__builtin_popcount(segments) * slc->config.segment_bytes;

	bank->counters.read_bytes += bytes;
	slc->client[client].read_bytes += bytes;
	return bytes;
}

static void memory_write(const struct slc *slc, struct bank *bank, u32 client, u32 segments)
{
	u64 bytes = (u64)__builtin_popcount(segments) * slc->config.segment_bytes;

	bank->counters.written_bytes += bytes;
	slc->client[client].written_bytes += bytes;
}

/* Write the dirty segments of a line to memory, before its entry has another owner. */
static void write_back(const struct slc *slc, struct bank *bank, const struct cache_line *line)
{
	bank->counters.written_lines += line->dirty != 0;
	memory_write(slc, bank, bank->owner[line->entry], line->dirty);
}

/* Perform a request that does not fill lines. Returns whether it reads memory. */
static bool bypass(const struct slc *slc, struct bank *bank, const struct slc_request *request)
{
	u32 segments = cache_segments(bank->cache, request->addr, request->bytes);
	struct cache_line line = { .dirty = 0 };

	bank->counters.bypasses++;
	slc->client[request->client].bypasses++;
	/* A line that is held remains, with the same data as memory in these bytes. */
	if (request->kind != SLC_READ)
		memory_write(slc, bank, request->client, segments);
	if (request->kind == SLC_WRITE)
		return false;
	cache_find(bank->cache, request->ctx, request->addr, &line);
	return memory_read(slc, bank, request->client, segments & ~line.dirty);
}

/* Perform a cached request. Returns whether it reads memory. */
static bool cached(const struct slc *slc, struct bank *bank, const struct slc_request *request)
{
	const struct cache_access access = {
		.addr = request->addr,
		.ctx = request->ctx,
		.bytes = request->bytes,
		.kind = request->kind == SLC_READ ? CACHE_READ : CACHE_WRITE,
		.allocate = true,
	};
	struct slc_client *client = &slc->client[request->client];
	struct cache_result result;
	u32 segments;

	cache_access(bank->cache, &access, &result);
	bank->counters.hits += result.hit;
	bank->counters.misses += !result.hit;
	client->hits += result.hit;
	client->misses += !result.hit;
	if (result.evicted) {
		bank->counters.evictions++;
		write_back(slc, bank, &result.victim);
	}
	if (access.kind == CACHE_WRITE)
		bank->owner[result.entry] = (u8)request->client;
	if (result.hit)
		return false;
	segments = cache_segments(bank->cache, access.addr & ~(u64)(slc->config.line_bytes - 1),
				  slc->config.line_bytes);
	if (request->kind == SLC_WRITE)
		segments &= ~cache_segments_covered(bank->cache, access.addr, access.bytes);
	bank->counters.fills += segments != 0;
	return memory_read(slc, bank, request->client, segments);
}

/* Return whether a request would replace a line that has a request in execution. */
static bool victim_in_use(const struct bank *bank, const struct slc_request *request)
{
	struct cache_line line;
	u32 i;

	if (request->bypass || cache_find(bank->cache, request->ctx, request->addr, NULL) ||
	    !cache_victim(bank->cache, request->addr, &line))
		return false;
	for (i = 0; i < bank->count; i++) {
		const struct entry *entry = &bank->entry[bank->order[i]];

		if (entry->state == STATE_EXECUTING && entry->line == line.addr &&
		    entry->request.ctx == line.ctx)
			return true;
	}
	return false;
}

/* Return the number of steps that a request uses the RAM. */
static u32 ram_steps(const struct slc_request *request)
{
	u64 first = request->addr / SLC_RAM_BYTES;
	u64 last = (request->addr + request->bytes - 1) / SLC_RAM_BYTES;

	return (u32)(last - first + 1) * (request->kind == SLC_ATOMIC ? 2 : 1);
}

static void execute(const struct slc *slc, struct bank *bank, struct entry *entry)
{
	const struct slc_request *request = &entry->request;
	u32 steps = ram_steps(request);
	bool reads = request->bypass ? bypass(slc, bank, request) : cached(slc, bank, request);

	entry->state = STATE_EXECUTING;
	entry->ready = slc->now + steps + (reads ? SLC_MISS_STEPS : 0);
	bank->idle = slc->now + steps;
	bank->counters.steps += steps;
}

/* Start the oldest request that can. */
static void start(const struct slc *slc, struct bank *bank)
{
	u32 i;

	for (i = 0; i < bank->count; i++) {
		struct entry *entry = &bank->entry[bank->order[i]];

		if (entry->state != STATE_QUEUED || entry->after != NONE ||
		    victim_in_use(bank, &entry->request))
			continue;
		bank->counters.waited_bank += entry->since < slc->now;
		execute(slc, bank, entry);
		return;
	}
}

/* Remove the request at a place of the order, and permit the next one of its line. */
static void complete(struct slc *slc, struct bank *bank, u32 place)
{
	u32 number = bank->order[place], i;
	const struct slc_request request = bank->entry[number].request;
	const struct input *input = &slc->input[request.input];

	bank->entry[number].state = STATE_FREE;
	bank->count--;
	memmove(&bank->order[place], &bank->order[place + 1], bank->count - place);
	for (i = place; i < bank->count; i++) {
		struct entry *entry = &bank->entry[bank->order[i]];

		if (entry->after == number) {
			entry->after = NONE;
			entry->since = slc->now;
		}
	}
	slc->pending--;
	if (input->done)
		input->done(input->opaque, &request);
}

void slc_step(struct slc *slc)
{
	u32 i, place;

	slc->now++;
	for (i = 0; i < slc->config.banks; i++) {
		struct bank *bank = &slc->bank[i];

		for (place = 0; place < bank->count;) {
			const struct entry *entry = &bank->entry[bank->order[place]];

			if (entry->state == STATE_EXECUTING && entry->ready <= slc->now)
				complete(slc, bank, place);
			else
				place++;
		}
		if (bank->count && bank->idle <= slc->now)
			start(slc, bank);
	}
}

/* Of slc_clean() and slc_invalidate(): a bank and the sums over all. */
struct sweep {
	const struct slc *slc;
	struct bank *bank;
	struct slc_swept sum;
};

static void cleaned(void *opaque, const struct cache_line *line)
{
	struct sweep *sweep = opaque;

	write_back(sweep->slc, sweep->bank, line);
	sweep->sum.written_bytes +=
		(u64)__builtin_popcount(line->dirty) * sweep->slc->config.segment_bytes;
}

static void dropped(void *opaque, const struct cache_line *line)
{
	struct sweep *sweep = opaque;

	sweep->bank->counters.dropped++;
	sweep->sum.lost_bytes +=
		(u64)__builtin_popcount(line->dirty) * sweep->slc->config.segment_bytes;
}

struct slc_swept slc_clean(struct slc *slc, const struct cache_range *range)
{
	struct sweep sweep = { .slc = slc };
	u32 i;

	for (i = 0; i < slc->config.banks; i++) {
		sweep.bank = &slc->bank[i];
		sweep.sum.lines += cache_clean(sweep.bank->cache, range, cleaned, &sweep);
	}
	return sweep.sum;
}

struct slc_swept slc_invalidate(struct slc *slc, const struct cache_range *range)
{
	struct sweep sweep = { .slc = slc };
	u32 i;

	for (i = 0; i < slc->config.banks; i++) {
		sweep.bank = &slc->bank[i];
		sweep.sum.lines += cache_invalidate(sweep.bank->cache, range, dropped, &sweep);
	}
	return sweep.sum;
}

bool slc_find(const struct slc *slc, u32 ctx, u64 addr, struct cache_line *line)
{
	return cache_find(slc->bank[slc_bank_of(slc, ctx, addr)].cache, ctx, addr, line);
}

const struct slc_client *slc_client(const struct slc *slc, u32 client)
{
	return &slc->client[client];
}

const struct slc_bank *slc_bank(const struct slc *slc, u32 bank)
{
	return &slc->bank[bank].counters;
}
