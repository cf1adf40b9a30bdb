// SPDX-License-Identifier: MIT
/* Model of a cache. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

#include "../support/cmocka_all.h"

void model_create(struct model *model, const struct cache_config *config)
{
	memset(model, 0, sizeof(*model));
	model->config = *config;
	model->sets = config->bytes / config->line_bytes / config->ways;
	model->way = calloc(model->sets * config->ways, sizeof(*model->way));
	model->fills = calloc(model->sets, sizeof(*model->fills));
	assert_true(model->way && model->fills);
}

void model_destroy(struct model *model)
{
	free(model->way);
	free(model->fills);
}

static u32 set_of(const struct model *model, u64 addr)
{
	u64 number = addr / model->config.line_bytes;
	u32 skip;

	for (skip = 0; skip < model->config.skip_bits; skip++)
		number /= 2;
	return (u32)(number % model->sets);
}

struct model_way *model_find(struct model *model, u32 ctx, u64 addr)
{
	struct model_way *set = &model->way[set_of(model, addr) * model->config.ways];
	u32 i;

	for (i = 0; i < model->config.ways; i++) {
		if (set[i].valid && set[i].ctx == ctx &&
		    set[i].number == addr / model->config.line_bytes)
			return &set[i];
	}
	return NULL;
}

/* Return the time of the last use of count ways. */
static u64 last_use(const struct model_way *way, u32 count)
{
	u64 last = 0;
	u32 i;

	for (i = 0; i < count; i++)
		last = way[i].used > last ? way[i].used : last;
	return last;
}

/* Halve the ways until one remains; each time the half is kept whose last use is longer ago. */
static struct model_way *longest_unused(struct model_way *way, u32 count)
{
	while (count > 1) {
		count /= 2;
		if (last_use(way, count) > last_use(way + count, count))
			way += count;
	}
	return way;
}

struct model_way *model_next(struct model *model, u64 addr)
{
	u32 index = set_of(model, addr), i;
	struct model_way *set = &model->way[index * model->config.ways];

	if (model->config.order == CACHE_FIFO)
		return &set[model->fills[index] % model->config.ways];
	for (i = 0; i < model->config.ways; i++) {
		if (!set[i].valid)
			return &set[i];
	}
	return longest_unused(set, model->config.ways);
}

struct cache_line model_line(const struct model *model, const struct model_way *way)
{
	struct cache_line line = {
		.addr = way->number * model->config.line_bytes,
		.ctx = way->ctx,
		.entry = (u32)(way - model->way),
	};
	u32 i;

	for (i = 0; i < CACHE_MAX_SEGMENTS; i++)
		line.dirty |= (u32)way->dirty[i] << i;
	return line;
}

bool model_clean(struct model *model, struct model_way *way)
{
	u64 before = model->counters.written_segments;
	u32 i;

	for (i = 0; i < CACHE_MAX_SEGMENTS; i++) {
		model->counters.written_segments += way->dirty[i];
		way->dirty[i] = false;
	}
	model->counters.written_lines += model->counters.written_segments != before;
	return model->counters.written_segments != before;
}

void model_drop(struct model *model, struct model_way *way)
{
	way->valid = false;
	memset(way->dirty, 0, sizeof(way->dirty));
	model->counters.dropped++;
}

static void fill(struct model *model, const struct cache_access *access,
		 struct cache_result *result)
{
	struct model_way *way = model_next(model, access->addr);

	model->fills[set_of(model, access->addr)]++;
	result->filled = true;
	if (way->valid) {
		result->evicted = true;
		result->victim = model_line(model, way);
		model->counters.evictions++;
		model_clean(model, way);
	}
	way->valid = true;
	way->ctx = access->ctx;
	way->number = access->addr / model->config.line_bytes;
}

void model_access(struct model *model, const struct cache_access *access,
		  struct cache_result *result)
{
	struct model_way *way = model_find(model, access->ctx, access->addr);
	u64 byte, end = access->addr + access->bytes;

	memset(result, 0, sizeof(*result));
	result->hit = way;
	model->counters.requests++;
	model->counters.hits += result->hit;
	model->counters.misses += !result->hit;
	if (!way) {
		if (!access->allocate)
			return;
		fill(model, access, result);
		way = model_find(model, access->ctx, access->addr);
	}
	result->entry = (u32)(way - model->way);
	way->used = ++model->time;
	for (byte = access->addr; access->kind == CACHE_WRITE && byte < end; byte++) {
		if (byte / model->config.line_bytes == way->number)
			way->dirty[byte % model->config.line_bytes / model->config.segment_bytes] =
				true;
	}
}
