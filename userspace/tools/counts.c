// SPDX-License-Identifier: MIT
/*
 * Counts of the memory hierarchy, for tools. See counts.h.
 *
 * Hit rates are hits of hits and misses: combined, atomic and bypassing requests are neither.
 */
#include "counts.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "hier.h"

#define FOLDERS		"/sys/kernel/debug/dri/"
#define PATH_BYTES	96
#define LINE_BYTES	1024

/* The values of a row follow its name, in the order of the columns. */
#define VALUES(type)	offsetof(struct type, requests)
#define BUS_COLUMNS	3u
_Static_assert(sizeof(struct pumice_hierarchy_bus) - VALUES(pumice_hierarchy_bus) ==
	       BUS_COLUMNS * sizeof(uint64_t), "columns of buses");
_Static_assert(sizeof(struct pumice_hierarchy_client) - VALUES(pumice_hierarchy_client) ==
	       PUMICE_HIER_CLIENT_NUMBER * sizeof(uint64_t), "columns of clients");
_Static_assert(sizeof(struct pumice_hierarchy_level) - VALUES(pumice_hierarchy_level) ==
	       PUMICE_HIER_LEVEL_NUMBER * sizeof(uint64_t), "columns of levels");

/* Get the path of the driver's file; false: the GPU has no driver. */
static bool driver_path(struct pumice_device *dev, char *path)
{
	const int fd = pumice_device_drm_fd(dev);
	struct stat node;

	if (fd < 0 || fstat(fd, &node))
		return false;
	snprintf(path, PATH_BYTES, FOLDERS "%u/hierarchy", minor(node.st_rdev));
	return true;
}

/* Parse "NAME VALUE…" into the name and values of a row. Returns whether all are there. */
static bool parse_row(const char *line, char *name, void *values, uint32_t columns)
{
	int used;
	uint32_t n;

	if (sscanf(line, "%31s%n", name, &used) != 1)
		return false;
	for (n = 0; n < columns; n++) {
		uint64_t value;

		line += used;
		if (sscanf(line, "%" SCNu64 "%n", &value, &used) != 1)
			return false;
		memcpy((char *)values + n * sizeof(value), &value, sizeof(value));
	}
	return true;
}

static bool parse_client(struct counts *c, const char *line)
{
	struct pumice_hierarchy_client *client = &c->client[c->clients];

	if (c->clients == COUNTS_CLIENTS)
		return false;
	c->clients++;
	return parse_row(line, client->name, (char *)client + VALUES(pumice_hierarchy_client),
			 PUMICE_HIER_CLIENT_NUMBER);
}

static bool parse_level(struct counts *c, const char *line)
{
	struct pumice_hierarchy_level *level = &c->level[c->levels];

	if (c->levels == COUNTS_LEVELS)
		return false;
	c->levels++;
	return parse_row(line, level->name, (char *)level + VALUES(pumice_hierarchy_level),
			 PUMICE_HIER_LEVEL_NUMBER);
}

struct counts *counts_parse(FILE *file, char *error, size_t bytes)
{
	struct counts *c = calloc(1, sizeof(*c));
	bool (*parse)(struct counts *c, const char *line) = NULL;
	char line[LINE_BYTES];
	bool ok = c;

	while (ok && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "client ", strlen("client ")))
			parse = parse_client;
		else if (!strncmp(line, "level ", strlen("level ")))
			parse = parse_level;
		else if (*line != '\n')
			ok = parse && parse(c, line);
	}
	if (ok && !ferror(file) && c->clients && c->levels)
		return c;
	snprintf(error, bytes, "%s", !c ? "out of memory" : ferror(file) ? strerror(errno) :
		 "the driver's file of counts is not valid");
	free(c);
	return NULL;
}

static struct counts *read_file(const char *path, char *error, size_t bytes)
{
	FILE *file = fopen(path, "re");
	struct counts *c;

	if (!file) {
		snprintf(error, bytes, "%s: %s; it needs root, debugfs, and a device of register map 2.9",
			 path, strerror(errno));
		return NULL;
	}
	c = counts_parse(file, error, bytes);
	fclose(file);
	return c;
}

/* Read rows of clients and levels by the library. Return: 0 or a negative errno. */
static int read_rows(struct pumice_device *dev, struct counts *c)
{
	int err = 0;

	while (!err && c->clients < COUNTS_CLIENTS) {
		err = pumice_hierarchy_client_get(dev, c->clients, &c->client[c->clients],
						  sizeof(c->client[0]));
		c->clients += !err;
	}
	if (err == -ENOENT)
		err = 0;
	while (!err && c->levels < COUNTS_LEVELS) {
		err = pumice_hierarchy_level_get(dev, c->levels, &c->level[c->levels],
						 sizeof(c->level[0]));
		c->levels += !err;
	}
	return err == -ENOENT ? 0 : err;
}

/* Read rows of buses; only a GPU in this process has them. Return: 0 or a negative errno. */
static int read_buses(struct pumice_device *dev, struct counts *c)
{
	int err = 0;

	while (!err && c->buses < COUNTS_CLIENTS) {
		err = pumice_hierarchy_bus_get(dev, c->buses, &c->bus[c->buses], sizeof(c->bus[0]));
		c->buses += !err;
	}
	return err == -ENOENT || err == -EOPNOTSUPP ? 0 : err;
}

struct counts *counts_read(struct pumice_device *dev, char *error, size_t bytes)
{
	char path[PATH_BYTES];
	struct counts *c;

	if (driver_path(dev, path))
		return read_file(path, error, bytes);
	c = calloc(1, sizeof(*c));
	if (c && !read_rows(dev, c) && !read_buses(dev, c))
		return c;
	snprintf(error, bytes, "%s", c ? pumice_device_error(dev) : "out of memory");
	free(c);
	return NULL;
}

/*
 * Subtract the values of an earlier row, unless counts have begun again: then some value may be
 * smaller, others not.
 */
static void subtract(void *values, const void *earlier, uint32_t columns)
{
	uint64_t a[PUMICE_HIER_CLIENT_NUMBER + PUMICE_HIER_LEVEL_NUMBER];
	uint64_t b[PUMICE_HIER_CLIENT_NUMBER + PUMICE_HIER_LEVEL_NUMBER];
	uint32_t n;

	memcpy(a, values, columns * sizeof(*a));
	memcpy(b, earlier, columns * sizeof(*b));
	for (n = 0; n < columns; n++)
		if (a[n] < b[n])
			return;
	for (n = 0; n < columns; n++)
		a[n] -= b[n];
	memcpy(values, a, columns * sizeof(*a));
}

struct counts *counts_between(const struct counts *before, const struct counts *after)
{
	struct counts *c = malloc(sizeof(*c));
	uint32_t i;

	if (!c)
		return NULL;
	*c = *after;
	for (i = 0; i < c->clients; i++)
		subtract((char *)&c->client[i] + VALUES(pumice_hierarchy_client),
			 (const char *)&before->client[i] + VALUES(pumice_hierarchy_client),
			 PUMICE_HIER_CLIENT_NUMBER);
	for (i = 0; i < c->levels; i++)
		subtract((char *)&c->level[i] + VALUES(pumice_hierarchy_level),
			 (const char *)&before->level[i] + VALUES(pumice_hierarchy_level),
			 PUMICE_HIER_LEVEL_NUMBER);
	for (i = 0; i < c->buses; i++)
		subtract((char *)&c->bus[i] + VALUES(pumice_hierarchy_bus),
			 (const char *)&before->bus[i] + VALUES(pumice_hierarchy_bus), BUS_COLUMNS);
	return c;
}

bool counts_any(const struct counts *counts)
{
	uint32_t i;

	for (i = 0; i < counts->clients; i++)
		if (counts->client[i].requests)
			return true;
	return false;
}

int counts_rate(uint64_t hits, uint64_t misses)
{
	const uint64_t all = hits + misses;

	return all ? (int)((hits * 1000 + all / 2) / all) : -1;
}

/* Print a rate in per cent. */
static void print_rate(FILE *out, uint64_t hits, uint64_t misses)
{
	const int tenths = counts_rate(hits, misses);

	if (tenths < 0)
		fprintf(out, " %8s", "-");
	else
		fprintf(out, " %5d.%d%%", tenths / 10, tenths % 10);
}

static void print_client(FILE *out, const struct pumice_hierarchy_client *c)
{
	if (!c->requests)
		return;
	fprintf(out, "%-16s %12" PRIu64 " %14" PRIu64, c->name, c->requests, c->bytes);
	print_rate(out, c->first_hits, c->first_misses);
	print_rate(out, c->second_hits, c->second_misses);
	print_rate(out, c->slc_hits, c->slc_misses);
	fprintf(out, " %12" PRIu64 " %14" PRIu64 " %14" PRIu64 "\n", c->slc_bypasses, c->read_bytes,
		c->written_bytes);
}

static void print_level(FILE *out, const struct pumice_hierarchy_level *l)
{
	fprintf(out, "%-16s %12" PRIu64 " %14" PRIu64, l->name, l->requests, l->bytes);
	print_rate(out, l->hits, l->misses);
	fprintf(out, " %14" PRIu64 " %14" PRIu64 "\n", l->read_bytes, l->written_bytes);
}

static void print_bus(FILE *out, const struct pumice_hierarchy_bus *b)
{
	if (b->requests)
		fprintf(out, "%-16s %12" PRIu64 " %14" PRIu64 " %14" PRIu64 "\n", b->name,
			b->requests, b->read_bytes, b->written_bytes);
}

void counts_print(FILE *out, const struct counts *counts)
{
	uint32_t i;

	fprintf(out, "%-16s %12s %14s %8s %8s %8s %12s %14s %14s\n", "client", "requests", "bytes",
		"level 1", "level 2", "slc", "bypasses", "memory read", "memory written");
	for (i = 0; i < counts->clients; i++)
		print_client(out, &counts->client[i]);
	fprintf(out, "\n%-16s %12s %14s %8s %14s %14s\n", "level", "requests", "bytes", "hits",
		"bytes read", "bytes written");
	for (i = 0; i < counts->levels; i++)
		print_level(out, &counts->level[i]);
	if (counts->buses)
		fprintf(out, "\n%-16s %12s %14s %14s\n", "on buses", "requests", "bytes read",
			"bytes written");
	for (i = 0; i < counts->buses; i++)
		print_bus(out, &counts->bus[i]);
}
