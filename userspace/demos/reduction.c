// SPDX-License-Identifier: MIT
/* pumice-demo-reduction: sum, minimum and maximum of many values. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "demo.h"
#include "reduction.pasm.h"

#define NAME	"pumice-demo-reduction"
#define GROUPS	32u
#define GROUP	256u

static const char usage[] =
	"usage: " NAME " [-n VALUES] [-d DEVICE]\n"
	"Reduces values (default 1000000) to their sum modulo 2^32, the least and the greatest.\n"
	"  -d DEVICE   as pumice_device_open() takes it: drm, inproc:cores=4,threads=2 …\n";

struct result {
	uint32_t sum, least, most;
};

static struct result reduce(const uint32_t *values, uint32_t count)
{
	struct result r = { .least = UINT32_MAX };

	for (uint32_t i = 0; i < count; i++) {
		r.sum += values[i];
		r.least = values[i] < r.least ? values[i] : r.least;
		r.most = values[i] > r.most ? values[i] : r.most;
	}
	return r;
}

int main(int argc, char **argv)
{
	const uint32_t groups[3] = { GROUPS, 1, 1 };
	uint32_t count = 1000000, random = 1, uniforms[6];
	struct demo_buffer values, result;
	const char *device = NULL;
	struct result want, *got;
	struct demo demo;
	bool ok;
	int option;

	while ((option = getopt(argc, argv, "n:d:h")) != -1) {
		if (option == 'n')
			count = demo_number(NAME, optarg, 1, 1u << 26);
		else if (option == 'd')
			device = optarg;
		else
			return fputs(usage, option == 'h' ? stdout : stderr), option != 'h';
	}
	demo_open(&demo, NAME, device, reduction_program, sizeof(reduction_program));
	demo_buffer(&demo, (uint64_t)count * sizeof(uint32_t), &values);
	demo_buffer(&demo, sizeof(struct result), &result);
	for (uint32_t i = 0; i < count; i++)
		((uint32_t *)values.cpu)[i] = demo_random(&random);
	got = result.cpu;
	*got = (struct result){ .least = UINT32_MAX };
	demo_address(uniforms, values.va);
	demo_address(uniforms + 2, result.va);
	uniforms[4] = count;
	uniforms[5] = GROUPS * GROUP;
	demo_run(&demo, groups, uniforms, 6);
	demo_report(&demo);
	want = reduce(values.cpu, count);
	ok = got->sum == want.sum && got->least == want.least && got->most == want.most;
	printf("%s: %u values: sum 0x%08x, least %u, greatest %u; the CPU: 0x%08x, %u, %u: %s\n",
	       NAME, count, got->sum, got->least, got->most, want.sum, want.least, want.most,
	       ok ? "ok" : "WRONG");
	demo_buffer_free(&demo, &values);
	demo_buffer_free(&demo, &result);
	demo_close(&demo);
	return !ok;
}
