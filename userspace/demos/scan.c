// SPDX-License-Identifier: MIT
/*
 * pumice-demo-scan: inclusive prefix sums.
 *
 * Three launches of one job: sums inside of blocks of 1024 values, the same over
 * the blocks' totals, and the addition of the sum before each block but the first.
 * A launch has at least one work-group, so one block needs no third launch.
 */
#include <stdio.h>
#include <stdlib.h>

#include "demo.h"
#include "scan.pasm.h"
#include "scan_add.pasm.h"

#define NAME	"pumice-demo-scan"
#define BLOCK	1024u

/* Addresses of all buffers. */
struct scan {
	uint32_t count, blocks;
	struct pumice_buffer values, sums, totals, spare;
};

static void run(struct demo *demo, struct pumice_kernel *add, const struct scan *s)
{
	uint32_t inner[7], outer[7], rest[5];
	const struct demo_launch launches[] = {
		{ .groups = { s->blocks, 1, 1 }, .uniforms = inner, .uniform_words = 7 },
		{ .groups = { 1, 1, 1 }, .uniforms = outer, .uniform_words = 7 },
		{ .kernel = add, .base = 1, .groups = { s->blocks - 1, 1, 1 }, .uniforms = rest,
		  .uniform_words = 5 },
	};

	demo_address(inner, s->values.va);
	demo_address(inner + 2, s->sums.va);
	demo_address(inner + 4, s->totals.va);
	inner[6] = s->count;
	demo_address(outer, s->totals.va);
	demo_address(outer + 2, s->totals.va);
	demo_address(outer + 4, s->spare.va);
	outer[6] = s->blocks;
	demo_address(rest, s->sums.va);
	demo_address(rest + 2, s->totals.va);
	rest[4] = s->count;
	demo_begin(demo);
	for (unsigned int i = 0; i < (s->blocks > 1 ? 3 : 2); i++)
		demo_add(demo, &launches[i]);
	demo_end(demo);
	demo_report(demo);
}

static uint32_t count_wrong(const struct scan *s)
{
	const uint32_t *values = s->values.cpu, *sums = s->sums.cpu;
	uint32_t sum = 0, wrong = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		sum += values[i];
		wrong += sums[i] != sum;
	}
	return wrong;
}

int main(int argc, char **argv)
{
	struct scan s = { .count = 1000000 };
	struct pumice_kernel *add;
	const char *device;
	uint32_t random = 7, wrong;
	struct demo demo;
	int status;
	const struct command_option own[] = {
		{ 'n', "values", "N", "values, 1 to 1048576 (default 1000000)",
		  .number = &s.count, .min = 1, .max = BLOCK * BLOCK },
		{ 0 }
	};

	device = demo_arguments(NAME,
				"Computes prefix sums modulo 2^32.\n",
				own, argc, argv);
	s.blocks = (s.count + BLOCK - 1) / BLOCK;
	demo_open(&demo, NAME, device, scan_program, sizeof(scan_program));
	add = demo_kernel(&demo, scan_add_program, sizeof(scan_add_program));
	demo_buffer(&demo, (uint64_t)s.count * sizeof(uint32_t), &s.values);
	demo_buffer(&demo, (uint64_t)s.count * sizeof(uint32_t), &s.sums);
	demo_buffer(&demo, BLOCK * sizeof(uint32_t), &s.totals);
	demo_buffer(&demo, sizeof(uint32_t), &s.spare);
	for (uint32_t i = 0; i < s.count; i++)
		((uint32_t *)s.values.cpu)[i] = demo_random(&random) >> 8;
	run(&demo, add, &s);
	wrong = count_wrong(&s);
	status = demo_result(NAME, !wrong, "%u of %u prefix sums equal the CPU's",
			     s.count - wrong, s.count);
	pumice_buffer_destroy(&s.values);
	pumice_buffer_destroy(&s.sums);
	pumice_buffer_destroy(&s.totals);
	pumice_buffer_destroy(&s.spare);
	demo_kernel_free(add);
	demo_close(&demo);
	return status;
}
