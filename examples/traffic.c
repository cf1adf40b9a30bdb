// SPDX-License-Identifier: MIT
/*
 * Traffic of memory: small experiments, each of which counts the requests of a few jobs in the
 * caches and in memory. The output is a table of comma-separated values, which the
 * documentation shows as plots.
 *
 *     ./traffic [DEVICE]
 *
 * Without a device, one in the process in mode counted and without threads, so that the counts are
 * the same each time.
 */
#include <math.h>
#include <stdio.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

#define DEVICE	"inproc:threads=0,mode=counted"

static const char *device = DEVICE;

void traffic_open(struct gpu *gpu, uint64_t bytes)
{
	char name[] = "traffic";
	char *argv[] = { name, (char *)device };

	gpu_open(gpu, 2, argv, bytes);
}

void traffic_read(struct gpu *gpu, struct traffic *t)
{
	struct pumice_hierarchy_client client;
	uint32_t n;
	int err;

	*t = (struct traffic){ 0 };
	for (n = 0; !(err = pumice_hierarchy_client_get(gpu->dev, n, &client, sizeof(client)));
	     n++) {
		if (n == TRAFFIC_CLIENTS)
			break;
		t->client[n] = client;
		t->requests += client.requests;
	}
	t->clients = n;
	if (err != -ENOENT)
		gpu_check(gpu, err, "counts");
	if (!t->requests) {
		fprintf(stderr, "the device does not count: use mode=counted\n");
		exit(1);
	}
}

const struct pumice_hierarchy_client *traffic_client(const struct traffic *t, const char *name)
{
	uint32_t n;

	for (n = 0; n < t->clients; n++)
		if (!strcmp(t->client[n].name, name))
			return &t->client[n];
	fprintf(stderr, "the GPU has no client %s\n", name);
	exit(1);
}

void traffic_print(const char *plot, const char *line, double x, double y)
{
	printf("%s,%s,%.10g,%.10g\n", plot, line, x, y);
}

int main(int argc, char **argv)
{
	if (argc > 2 || (argc > 1 && argv[1][0] == '-')) {
		fprintf(stderr, "usage: %s [DEVICE]; default: " DEVICE "\n", argv[0]);
		return 2;
	}
	if (argc > 1)
		device = argv[1];
	printf("plot,line,x,y\n");
	traffic_stride();
	traffic_order();
	traffic_working_set();
	traffic_texture();
	traffic_layers();
	traffic_triangles();
	return 0;
}
