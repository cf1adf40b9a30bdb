/* SPDX-License-Identifier: MIT */
/* Traffic: counts of the memory hierarchy for a few jobs. See traffic.c. */
#ifndef EXAMPLE_TRAFFIC_H
#define EXAMPLE_TRAFFIC_H

#include "gpu.h"

#define TRAFFIC_CLIENTS	64u

struct traffic {
	struct pumice_hierarchy_client client[TRAFFIC_CLIENTS];
	uint32_t clients;
	uint64_t requests;		/* of all clients */
};

/* Open a device with empty caches, and memory for input and output. */
void traffic_open(struct gpu *gpu, uint64_t bytes);
/* Read the counts since then. */
void traffic_read(struct gpu *gpu, struct traffic *t);
/* Return the counts of a kind of requests, by its name in the hardware reference. */
const struct pumice_hierarchy_client *traffic_client(const struct traffic *t, const char *name);
/* Print a point of a line of a plot. */
void traffic_print(const char *plot, const char *line, double x, double y);

/* The experiments: traffic_compute.c, traffic_graphics.c. */
void traffic_stride(void);
void traffic_order(void);
void traffic_working_set(void);
void traffic_texture(void);
void traffic_layers(void);
void traffic_triangles(void);

#endif
