// SPDX-License-Identifier: MIT
/* pumice-demo-reduction: sum, minimum and maximum of many values. */
#include <stdio.h>
#include <stdlib.h>

#include "demo.h"
#include "reduction.pasm.h"

#define NAME	"pumice-demo-reduction"
#define GROUPS	32u
#define GROUP	256u

struct result {
	uint32_t sum, min, max;
};

static struct result reduce(const uint32_t *values, uint32_t count)
{
	struct result r = { .min = UINT32_MAX };

	for (uint32_t i = 0; i < count; i++) {
		r.sum += values[i];
		r.min = values[i] < r.min ? values[i] : r.min;
		r.max = values[i] > r.max ? values[i] : r.max;
	}
	return r;
}

int main(int argc, char **argv)
{
	const uint32_t groups[3] = { GROUPS, 1, 1 };
	uint32_t count = 1000000, random = 1, uniforms[6];
	struct pumice_buffer values, result;
	const char *device;
	struct result want, *got;
	struct demo demo;
	bool ok;
	int status;
	const struct command_option own[] = {
		{ 'n', "values", "N", "values, 1 to 67108864 (default 1000000)",
		  .number = &count, .min = 1, .max = 1u << 26 },
		{ 0 }
	};

	device = demo_arguments(NAME,
				"Reduces values to their sum modulo 2^32, minimum and maximum.\n",
				own, argc, argv);
	demo_open(&demo, NAME, device, reduction_program, sizeof(reduction_program));
	demo_buffer(&demo, (uint64_t)count * sizeof(uint32_t), &values);
	demo_buffer(&demo, sizeof(struct result), &result);
	for (uint32_t i = 0; i < count; i++)
		((uint32_t *)values.cpu)[i] = demo_random(&random);
	got = result.cpu;
	*got = (struct result){ .min = UINT32_MAX };
	demo_address(uniforms, values.va);
	demo_address(uniforms + 2, result.va);
	uniforms[4] = count;
	uniforms[5] = GROUPS * GROUP;
	demo_run(&demo, groups, uniforms, 6);
	demo_report(&demo);
	want = reduce(values.cpu, count);
	ok = got->sum == want.sum && got->min == want.min && got->max == want.max;
	status = demo_result(NAME, ok, "%u values: sum 0x%08x, minimum %u, maximum %u; the CPU: "
			     "0x%08x, %u, %u", count, got->sum, got->min, got->max, want.sum,
			     want.min, want.max);
	pumice_buffer_destroy(&values);
	pumice_buffer_destroy(&result);
	demo_close(&demo);
	return status;
}
