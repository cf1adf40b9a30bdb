// SPDX-License-Identifier: MIT
/*
 * pumice-trace: counts of the memory hierarchy. See trace_counts.h.
 *
 * A sample has hit rates, and bytes per second, of the interval before it. A counter of a trace has
 * its value until the next one: so a level that was in use before and is not in the interval has 0
 * bytes, once. A rate of no requests does not exist, and the last one remains.
 */
#include "trace_counts.h"

#include <stdlib.h>
#include <time.h>

#define INTERVAL_NS	50000000u

struct trace_counts {
	struct pumice_device *dev;
	struct counts *before;		/* of the last sample; NULL: there are no more */
	uint64_t last;			/* CLOCK_MONOTONIC of it, ns */
	uint32_t in_use;		/* levels with bytes or requests in it, a bit each */
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

/* Put the bytes of an interval in ns. */
static void put_bytes(struct perfetto *p, uint64_t ns, const char *row, const char *what,
		      uint64_t bytes, uint64_t interval)
{
	put(p, ns, row, what,
	    (uint64_t)((unsigned __int128)bytes * 1000000000u / (interval ? interval : 1)));
}

static bool is_in_use(const struct pumice_hierarchy_level *level)
{
	return level->requests || level->read_bytes || level->written_bytes;
}

_Static_assert(COUNTS_LEVELS <= 32, "bits of in_use");

static void put_levels(struct trace_counts *t, struct perfetto *p, uint64_t ns,
		       const struct counts *c, uint64_t interval)
{
	const uint32_t before = t->in_use;
	uint32_t i;

	t->in_use = 0;
	for (i = 0; i < c->levels; i++) {
		const struct pumice_hierarchy_level *level = &c->level[i];
		const uint32_t bit = is_in_use(level);

		t->in_use |= bit << i;
		if (!bit && !(before >> i & 1))
			continue;
		put_rate(p, ns, level->name, "hits, %", level->hits, level->misses);
		put_bytes(p, ns, level->name, "read, bytes/s", level->read_bytes, interval);
		put_bytes(p, ns, level->name, "written, bytes/s", level->written_bytes, interval);
	}
}

static void put_clients(struct perfetto *p, uint64_t ns, const struct counts *c)
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
}

/* Add a sample of the counts since the last one, in ns of CLOCK_MONOTONIC, to a trace. */
static void add_sample(struct trace_counts *t, struct perfetto *p, const struct counts *since,
		       uint64_t interval, uint64_t clock_hz, int64_t shift)
{
	const bool any = counts_any(since);
	uint64_t ticks, cpu_ns, ns;

	if ((!any && !t->in_use) || pumice_device_timestamp(t->dev, &ticks, &cpu_ns))
		return;
	ns = (uint64_t)((unsigned __int128)ticks * 1000000000u / clock_hz) + (uint64_t)shift;
	put_clients(p, ns, since);
	put_levels(t, p, ns, since, interval);
	t->any |= any;
}

void trace_counts_sample(struct trace_counts *t, struct perfetto *p, uint64_t clock_hz,
			 int64_t shift, bool now)
{
	const uint64_t time = monotonic_ns(), interval = time - t->last;
	char error[PUMICE_ERROR_BYTES];
	struct counts *after, *since;

	if (!t->before || (!now && interval < INTERVAL_NS))
		return;
	t->last = time;
	after = counts_read(t->dev, error, sizeof(error));
	since = after ? counts_between(t->before, after) : NULL;
	if (since)
		add_sample(t, p, since, interval, clock_hz, shift);
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
