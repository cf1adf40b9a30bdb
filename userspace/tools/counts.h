/* SPDX-License-Identifier: MIT */
/*
 * Counts of the memory hierarchy, for tools: all clients and levels, and tables of them.
 *
 * Those of a GPU with a driver are read from the driver's file in debugfs, which needs root; those
 * of others by the library.
 */
#ifndef PUMICE_TOOLS_COUNTS_H
#define PUMICE_TOOLS_COUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <pumice/pumice.h>

#define COUNTS_CLIENTS	256u
#define COUNTS_LEVELS	16u

struct counts {
	struct pumice_hierarchy_client client[COUNTS_CLIENTS];
	struct pumice_hierarchy_level level[COUNTS_LEVELS];
	struct pumice_hierarchy_bus bus[COUNTS_CLIENTS];
	uint32_t clients, levels, buses;	/* buses: clients; 0 if the GPU is not in process */
};

/* Return all counts, to be freed; or NULL with the reason in @error. */
struct counts *counts_read(struct pumice_device *dev, char *error, size_t bytes);
/* The same from the driver's file. */
struct counts *counts_parse(FILE *file, char *error, size_t bytes);

/*
 * Return the counts of the requests between two readings, to be freed; or NULL without memory.
 * Counts begin at 0 when the mode changes: a client or level of which any value is smaller than
 * before has those since then. Rows are matched by their place, since both are of the same GPU.
 */
struct counts *counts_between(const struct counts *before, const struct counts *after);
/* Return whether there is any request. */
bool counts_any(const struct counts *counts);

/* Return hits in tenths of per cent of hits and misses, rounded; -1 if there are neither. */
int counts_rate(uint64_t hits, uint64_t misses);
/* Print tables of the clients with requests, of all levels, and of clients on buses. */
void counts_print(FILE *out, const struct counts *counts);

#endif
