// SPDX-License-Identifier: MIT
/*
 * pumice-trace: counts of the memory hierarchy. See trace_counts.h.
 *
 * A sample has hit rates and bytes of the interval before it. A client or level without requests
 * then has no values in it.
 */
#include "trace_counts.h"

#include <stdlib.h>
#include <time.h>

#define INTERVAL_NS	50000000u

struct trace_counts {
	struct pumice_device *dev;
	struct counts *before;		/* of the last sample; NULL: there are no more */
	uint64_t last;			/* CLOCK_MONOTONIC of it, ns */
	bool any;
};

static uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

struct trace_counts *trace_counts_open(struct pumice_device *dev, char *error, size_t bytes)
{
	struct trace_counts *t = calloc(1, sizeof(*t));

	if (!t) {
		snprintf(error, bytes, "out of memory");
		return NULL;
	}
	t->dev = dev;
	t->last = monotonic_ns();
	t->before = counts_read(dev, error, bytes);
	if (t->before)
		return t;
	free(t);
	return NULL;
}

static void put(struct perfetto *p, uint64_t ns, const char *row, const char *what, uint64_t value)
{
	char name[64];

	snprintf(name, sizeof(name), "%s %s", row, what);
	perfetto_sample(p, ns, name, value);
}

/* Rates are in whole per cent. */
static void put_rate(struct perfetto *p, uint64_t ns, const char *row, const char *what,
		     uint64_t hits, uint64_t misses)
{
	const int tenths = counts_rate(hits, misses);

	if (tenths >= 0)
		put(p, ns, row, what, (uint64_t)(tenths + 5) / 10);
}

static void put_counts(struct perfetto *p, uint64_t ns, const struct counts *c)
{
	uint32_t i;

	for (i = 0; i < c->clients; i++) {
		const struct pumice_hierarchy_client *client = &c->client[i];

		put_rate(p, ns, client->name, "hits of level 1, %", client->first_hits,
			 client->first_misses);
		put_rate(p, ns, client->name, "hits of level 2, %", client->second_hits,
			 client->second_misses);
		put_rate(p, ns, client->name, "hits of the SLC, %", client->slc_hits,
			 client->slc_misses);
	}
	for (i = 0; i < c->levels; i++) {
		const struct pumice_hierarchy_level *level = &c->level[i];

		if (!level->requests)
			continue;
		put_rate(p, ns, level->name, "hits, %", level->hits, level->misses);
		put(p, ns, level->name, "bytes read", level->read_bytes);
		put(p, ns, level->name, "bytes written", level->written_bytes);
	}
}

void trace_counts_sample(struct trace_counts *t, struct perfetto *p, uint64_t clock_hz,
			 int64_t shift, bool now)
{
	const uint64_t time = monotonic_ns();
	char error[PUMICE_ERROR_BYTES];
	struct counts *after, *since;
	uint64_t ticks, cpu_ns;

	if (!t->before || (!now && time - t->last < INTERVAL_NS))
		return;
	t->last = time;
	after = counts_read(t->dev, error, sizeof(error));
	since = after ? counts_between(t->before, after) : NULL;
	if (since && counts_any(since) && !pumice_device_timestamp(t->dev, &ticks, &cpu_ns)) {
		const unsigned __int128 ns = (unsigned __int128)ticks * 1000000000u / clock_hz;

		put_counts(p, (uint64_t)((int64_t)ns + shift), since);
		t->any = true;
	}
	free(since);
	free(t->before);
	t->before = after;
}

bool trace_counts_close(struct trace_counts *t)
{
	bool any;

	if (!t)
		return false;
	any = t->any;
	free(t->before);
	free(t);
	return any;
}
