// SPDX-License-Identifier: MIT
/* Counts of the memory hierarchy as users read them. See hier_counts.h. */
#include "hier_counts.h"

#include <string.h>

#include "hier.h"
#include "perf.h"
#include "pumice_regs.h"

_Static_assert(PUMICE_MEM_CLIENT_COUNT <= PUMICE_HIER_FIRST_LEVEL, "rows of clients and levels");
_Static_assert((unsigned int)PUMICE_HIER_CLIENT_NUMBER <= PUMICE_HIER_VALUE_COUNT &&
	       (unsigned int)PUMICE_HIER_LEVEL_NUMBER <= PUMICE_HIER_VALUE_COUNT,
	       "columns have registers");

void hier_counts_save(struct hier_counts *counts, struct hierarchy *h)
{
	u32 i;

	for (i = 0; i < PUMICE_MEM_CLIENT_COUNT; i++) {
		hierarchy_client_counters(h, i, &counts->client[i]);
		hierarchy_bus_counters(h, i, &counts->bus[i]);
	}
	for (i = 0; i < PUMICE_CACHE_COUNT; i++)
		hierarchy_level_counters(h, (enum pumice_cache)i, &counts->level[i]);
}

static void put_client(const struct hierarchy_client *c, u64 value[PUMICE_HIER_VALUE_COUNT])
{
	value[PUMICE_HIER_CLIENT_REQUESTS] = c->requests;
	value[PUMICE_HIER_CLIENT_BYTES] = c->bytes;
	value[PUMICE_HIER_CLIENT_FIRST_REQUESTS] = c->first.requests;
	value[PUMICE_HIER_CLIENT_FIRST_HITS] = c->first.hits;
	value[PUMICE_HIER_CLIENT_FIRST_MISSES] = c->first.misses;
	value[PUMICE_HIER_CLIENT_FIRST_COMBINED] = c->first.combined;
	value[PUMICE_HIER_CLIENT_SECOND_REQUESTS] = c->second.requests;
	value[PUMICE_HIER_CLIENT_SECOND_HITS] = c->second.hits;
	value[PUMICE_HIER_CLIENT_SECOND_MISSES] = c->second.misses;
	value[PUMICE_HIER_CLIENT_SECOND_COMBINED] = c->second.combined;
	value[PUMICE_HIER_CLIENT_SLC_HITS] = c->slc.hits;
	value[PUMICE_HIER_CLIENT_SLC_MISSES] = c->slc.misses;
	value[PUMICE_HIER_CLIENT_SLC_BYPASSES] = c->slc.bypasses;
	value[PUMICE_HIER_CLIENT_READ_BYTES] = c->slc.read_bytes;
	value[PUMICE_HIER_CLIENT_WRITTEN_BYTES] = c->slc.written_bytes;
}

static void put_level(const struct hierarchy_level *l, u64 value[PUMICE_HIER_VALUE_COUNT])
{
	value[PUMICE_HIER_LEVEL_REQUESTS] = l->requests.requests;
	value[PUMICE_HIER_LEVEL_BYTES] = l->requests.bytes;
	value[PUMICE_HIER_LEVEL_HITS] = l->requests.hits;
	value[PUMICE_HIER_LEVEL_MISSES] = l->requests.misses;
	value[PUMICE_HIER_LEVEL_ATOMICS] = l->requests.atomics;
	value[PUMICE_HIER_LEVEL_COMBINED] = l->requests.combined;
	value[PUMICE_HIER_LEVEL_BYPASSES] = l->bypasses;
	value[PUMICE_HIER_LEVEL_EVICTIONS] = l->evictions;
	value[PUMICE_HIER_LEVEL_DROPPED] = l->dropped;
	value[PUMICE_HIER_LEVEL_FILLS] = l->fills;
	value[PUMICE_HIER_LEVEL_READ_BYTES] = l->read_bytes;
	value[PUMICE_HIER_LEVEL_WRITES] = l->writes;
	value[PUMICE_HIER_LEVEL_WRITTEN_BYTES] = l->written_bytes;
}

void hier_counts_row(const struct hier_counts *saved, struct hierarchy *h, u32 row,
		u64 value[PUMICE_HIER_VALUE_COUNT])
{
	const u32 level = row - PUMICE_HIER_FIRST_LEVEL;	/* rows before it: a large number */
	struct hierarchy_client client;
	struct hierarchy_level cache;

	memset(value, 0, PUMICE_HIER_VALUE_COUNT * sizeof(*value));
	if (row < PUMICE_MEM_CLIENT_COUNT) {
		client = saved->client[row];
		if (h)
			hierarchy_client_counters(h, row, &client);
		put_client(&client, value);
	} else if (level < PUMICE_CACHE_COUNT) {
		cache = saved->level[level];
		if (h)
			hierarchy_level_counters(h, (enum pumice_cache)level, &cache);
		put_level(&cache, value);
	}
}

/* Row and column of a performance counter of the hierarchy; held is false for other counters. */
struct perf_place {
	u16 row;
	u8 column;
	bool held;
};

#define ROW_CLIENT(name)	(PUMICE_MEM_CLIENT_##name)
#define ROW_LEVEL(name)		(PUMICE_HIER_FIRST_LEVEL + PUMICE_CACHE_##name)
#define PLACE(unused, kind, name, value, unit, description) \
	[PUMICE_PERF_HIER_##name##_##value] = { \
		.row = ROW_##kind(name), .column = PUMICE_HIER_##kind##_##value, .held = true, \
	},
static const struct perf_place perf_place[PUMICE_PERF_NUMBER] = {
	PUMICE_PERF_HIER_ROWS(PLACE, unused)
};

bool hier_counts_perf(const struct hier_counts *saved, struct hierarchy *h, u32 counter,
		      u64 *count)
{
	u64 value[PUMICE_HIER_VALUE_COUNT];

	if (counter >= PUMICE_PERF_NUMBER || !perf_place[counter].held)
		return false;
	hier_counts_row(saved, h, perf_place[counter].row, value);
	*count = value[perf_place[counter].column];
	return true;
}
