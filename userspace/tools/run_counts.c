// SPDX-License-Identifier: MIT
/*
 * pumice-run: the counts of the memory hierarchy for the runs, as tables of clients and levels.
 * Hit rates are hits of hits and misses: combined, atomic and bypassing requests are neither.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <pumice/pumice.h>

#include "command.h"
#include "run.h"

#define MAX_CLIENTS	256u
#define MAX_LEVELS	16u

struct run_counts {
	struct pumice_hierarchy_client client[MAX_CLIENTS];
	struct pumice_hierarchy_level level[MAX_LEVELS];
	uint32_t clients, levels;
};

/*
 * Threads change the order of requests, and so the counts: they are disabled unless the device has
 * a number of them. The last one of equal keys is used.
 */
bool run_counted_device(const char *device, char *text, size_t bytes)
{
	static const char prefix[] = "inproc";
	const char *keys;
	int length;

	device = command_device_name(device);
	if (!device || strncmp(device, prefix, strlen(prefix)))
		return false;
	keys = device + strlen(prefix);
	if (*keys && *keys++ != ':')
		return false;
	length = snprintf(text, bytes, "inproc:threads=0,%s%smode=counted", keys, *keys ? "," : "");
	return length > 0 && (size_t)length < bytes;
}

struct run_counts *run_counts_read(struct pumice_device *dev)
{
	struct run_counts *c = calloc(1, sizeof(*c));
	int err = c ? 0 : -ENOMEM;

	while (!err && c->clients < MAX_CLIENTS) {
		err = pumice_hierarchy_client_get(dev, c->clients, &c->client[c->clients],
						  sizeof(c->client[0]));
		c->clients += !err;
	}
	if (err == -ENOENT)
		err = 0;
	while (!err && c->levels < MAX_LEVELS) {
		err = pumice_hierarchy_level_get(dev, c->levels, &c->level[c->levels],
						 sizeof(c->level[0]));
		c->levels += !err;
	}
	if (!err || err == -ENOENT)
		return c;
	run_error("%s", c ? pumice_device_error(dev) : "out of memory");
	free(c);
	return NULL;
}

/* Print a rate in per cent, rounded; nothing has none. */
static void print_rate(FILE *out, uint64_t hits, uint64_t misses)
{
	const uint64_t all = hits + misses;
	const uint64_t tenths = all ? (hits * 1000 + all / 2) / all : 0;

	if (all)
		fprintf(out, " %5" PRIu64 ".%u%%", tenths / 10, (unsigned int)(tenths % 10));
	else
		fprintf(out, " %8s", "-");
}

static void print_client(FILE *out, const struct pumice_hierarchy_client *a,
			 const struct pumice_hierarchy_client *b)
{
	if (a->requests == b->requests)
		return;
	fprintf(out, "%-16s %12" PRIu64 " %14" PRIu64, a->name, a->requests - b->requests,
		a->bytes - b->bytes);
	print_rate(out, a->first_hits - b->first_hits, a->first_misses - b->first_misses);
	print_rate(out, a->second_hits - b->second_hits, a->second_misses - b->second_misses);
	print_rate(out, a->slc_hits - b->slc_hits, a->slc_misses - b->slc_misses);
	fprintf(out, " %12" PRIu64 " %14" PRIu64 " %14" PRIu64 "\n",
		a->slc_bypasses - b->slc_bypasses, a->read_bytes - b->read_bytes,
		a->written_bytes - b->written_bytes);
}

static void print_level(FILE *out, const struct pumice_hierarchy_level *a,
			const struct pumice_hierarchy_level *b)
{
	fprintf(out, "%-16s %12" PRIu64 " %14" PRIu64, a->name, a->requests - b->requests,
		a->bytes - b->bytes);
	print_rate(out, a->hits - b->hits, a->misses - b->misses);
	fprintf(out, " %14" PRIu64 " %14" PRIu64 "\n", a->read_bytes - b->read_bytes,
		a->written_bytes - b->written_bytes);
}

void run_counts_print(FILE *out, const struct run_counts *before, const struct run_counts *after)
{
	uint32_t i;

	fprintf(out, "%-16s %12s %14s %8s %8s %8s %12s %14s %14s\n", "client", "requests", "bytes",
		"level 1", "level 2", "slc", "bypasses", "memory read", "memory written");
	for (i = 0; i < after->clients; i++)
		print_client(out, &after->client[i], &before->client[i]);
	fprintf(out, "\n%-16s %12s %14s %8s %14s %14s\n", "level", "requests", "bytes", "hits",
		"bytes read", "bytes written");
	for (i = 0; i < after->levels; i++)
		print_level(out, &after->level[i], &before->level[i]);
}
