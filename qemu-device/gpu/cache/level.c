// SPDX-License-Identifier: MIT
/*
 * A level of the hierarchy above the SLC.
 *
 * Source: document 000, "Mixed Cache Units"; document 004, "DCU" and "TCU".
 */
#include "level.h"

#include <stdlib.h>
#include <string.h>

/* Last writer of a line. */
struct owner {
	u8 client, usc;
};

struct level {
	struct level_config config;	/* constant */
	struct cache *cache;
	struct owner *owner;		/* of each line, valid while it is dirty */
	struct level_counters counters;
	struct level_client client[PUMICE_MEM_CLIENT_COUNT];
};

struct level *level_create(const struct level_config *config, const char **error)
{
	struct level *level = calloc(1, sizeof(*level));

	*error = "no memory for a cache";
	if (!level)
		return NULL;
	level->config = *config;
	level->cache = cache_create(&config->cache, error);
	if (!level->cache)
		goto failed;
	level->owner = calloc(cache_lines(level->cache), sizeof(*level->owner));
	if (level->owner)
		return level;
	*error = "no memory for a cache";
failed:
	level_destroy(level);
	return NULL;
}

void level_destroy(struct level *level)
{
	if (!level)
		return;
	cache_destroy(level->cache);
	free(level->owner);
	free(level);
}

void level_reset(struct level *level)
{
	cache_reset(level->cache);
	memset(&level->counters, 0, sizeof(level->counters));
	memset(level->client, 0, sizeof(level->client));
}

bool level_split(const struct level *level, struct mem_request *request, u32 usc,
		 struct level_request *part)
{
	u32 line = level->config.cache.line_bytes;
	u32 room = line - (u32)(request->addr & (line - 1));
	u32 bytes = request->bytes < room ? request->bytes : room;

	if (!bytes)
		return false;
	*part = (struct level_request){
		.addr = request->addr, .ctx = request->ctx, .bytes = bytes, .used = bytes,
		.client = request->client, .usc = usc,
		.kind = request->atomic ? LEVEL_ATOMIC :
			request->write	? LEVEL_WRITE :
					  LEVEL_READ,
		.covered = cache_segments_covered(level->cache, request->addr, bytes),
	};
	request->addr += bytes;
	request->bytes -= bytes;
	return true;
}

static void count(struct level *level, const struct level_request *request)
{
	level->counters.all.requests++;
	level->counters.all.bytes += request->used;
	level->client[request->client].requests++;
	level->client[request->client].bytes += request->used;
}

static void count_result(struct level *level, const struct level_request *request, bool hit)
{
	count(level, request);
	level->counters.all.hits += hit;
	level->counters.all.misses += !hit;
	level->client[request->client].hits += hit;
	level->client[request->client].misses += !hit;
}

/* Make a request of the next level. */
static void send(struct level *level, const struct level_request *request)
{
	if (request->kind == LEVEL_READ) {
		level->counters.fills++;
		level->counters.read_bytes += request->used;
	} else if (request->kind == LEVEL_WRITE) {
		level->counters.writes++;
		level->counters.written_bytes += request->used;
	}
	level->config.next(level->config.opaque, request);
}

/* Make a request like *like for each run of consecutive segments of a line. */
static void send_segments(struct level *level, struct level_request like, u64 line, u32 segments)
{
	const u32 bytes = level->config.cache.segment_bytes;

	while (segments) {
		u32 first = (u32)__builtin_ctz(segments);
		u64 run = ((u64)segments >> first) + 1;	/* the lowest run of ones becomes zeros */
		u32 length = (u32)__builtin_ctzll(run);

		like.addr = line + (u64)first * bytes;
		like.bytes = length * bytes;
		like.used = like.bytes;
		like.covered = (u32)((1ull << length) - 1) << first;
		send(level, &like);
		segments &= ~like.covered;
	}
}

/* Write the dirty segments of a line to the next level. */
static void write_back(struct level *level, const struct cache_line *line)
{
	const struct owner *owner = &level->owner[line->entry];
	const struct level_request like = {
		.ctx = line->ctx, .client = owner->client, .usc = owner->usc, .kind = LEVEL_WRITE,
	};

	send_segments(level, like, line->addr, line->dirty);
}

/* Access the store; write back the line that is replaced, if any. */
static void access_store(struct level *level, const struct level_request *request,
			 enum cache_kind kind, struct cache_result *result)
{
	const struct cache_access access = {
		.addr = request->addr, .ctx = request->ctx, .bytes = request->bytes, .kind = kind,
		.allocate = kind != CACHE_UPDATE,
	};

	cache_access(level->cache, &access, result);
	count_result(level, request, result->hit);
	if (!result->evicted)
		return;
	level->counters.evictions++;
	write_back(level, &result->victim);
}

static void read_line(struct level *level, const struct level_request *request)
{
	struct cache_result result;
	struct level_request fill = *request;

	access_store(level, request, CACHE_READ, &result);
	if (result.hit)
		return;
	fill.addr = cache_line_addr(level->cache, request->addr);
	fill.bytes = level->config.cache.line_bytes;
	fill.used = fill.bytes;
	send(level, &fill);
}

static void write_line(struct level *level, const struct level_request *request)
{
	const u32 line_bytes = level->config.cache.line_bytes;
	u64 line = cache_line_addr(level->cache, request->addr);
	struct level_request fill = *request;
	struct cache_result result;

	access_store(level, request, CACHE_WRITE, &result);
	level->owner[result.entry] = (struct owner){ (u8)request->client, (u8)request->usc };
	if (result.hit)
		return;
	fill.kind = LEVEL_READ;
	send_segments(level, fill, line,
		      cache_segments(level->cache, line, line_bytes) & ~request->covered);
}

void level_update(struct level *level, const struct level_request *request)
{
	struct cache_result result;

	access_store(level, request, CACHE_UPDATE, &result);
}

void level_pass(struct level *level, const struct level_request *request)
{
	send(level, request);
}

void level_combine(struct level *level, const struct level_request *request)
{
	count(level, request);
	level->counters.all.combined++;
	level->client[request->client].combined++;
}

void level_drop_line(struct level *level, u32 ctx, u64 addr)
{
	struct cache_line line;

	if (cache_clean_line(level->cache, ctx, addr, &line))
		write_back(level, &line);
	level->counters.dropped += cache_drop_line(level->cache, ctx, addr, &line);
}

void level_request(struct level *level, const struct level_request *request)
{
	switch (request->kind) {
	case LEVEL_READ:
		read_line(level, request);
		break;
	case LEVEL_WRITE:
		if (level->config.write_back) {
			write_line(level, request);
			break;
		}
		level_update(level, request);
		level_pass(level, request);
		break;
	case LEVEL_ATOMIC:
		level_drop_line(level, request->ctx, request->addr);
		count(level, request);
		level->counters.all.atomics++;
		level->client[request->client].atomics++;
		send(level, request);
		break;
	}
}

/* Of level_clean() and level_invalidate(). */
struct sweep {
	struct level *level;
	struct level_swept *sum;
};

static u64 dirty_bytes(const struct level *level, const struct cache_line *line)
{
	return (u64)__builtin_popcount(line->dirty) * level->config.cache.segment_bytes;
}

static void cleaned(void *opaque, const struct cache_line *line)
{
	const struct sweep *sweep = opaque;

	sweep->sum->written_bytes += dirty_bytes(sweep->level, line);
	write_back(sweep->level, line);
}

static void invalidated(void *opaque, const struct cache_line *line)
{
	const struct sweep *sweep = opaque;

	sweep->sum->lost_bytes += dirty_bytes(sweep->level, line);
	sweep->level->counters.dropped++;
}

void level_clean(struct level *level, const struct cache_range *range, struct level_swept *sum)
{
	struct sweep sweep = { level, sum };

	sum->lines += cache_clean(level->cache, range, cleaned, &sweep);
}

void level_invalidate(struct level *level, const struct cache_range *range, struct level_swept *sum)
{
	struct sweep sweep = { level, sum };

	sum->lines += cache_invalidate(level->cache, range, invalidated, &sweep);
}

const struct cache *level_cache(const struct level *level)
{
	return level->cache;
}

static void add_client(const struct level_client *from, struct level_client *sum)
{
	sum->requests += from->requests;
	sum->bytes += from->bytes;
	sum->hits += from->hits;
	sum->misses += from->misses;
	sum->atomics += from->atomics;
	sum->combined += from->combined;
}

void level_counters_add(const struct level *level, struct level_counters *sum)
{
	const struct level_counters *from = &level->counters;

	add_client(&from->all, &sum->all);
	sum->evictions += from->evictions;
	sum->dropped += from->dropped;
	sum->fills += from->fills;
	sum->read_bytes += from->read_bytes;
	sum->writes += from->writes;
	sum->written_bytes += from->written_bytes;
}

void level_client_add(const struct level *level, u32 client, struct level_client *sum)
{
	add_client(&level->client[client], sum);
}
