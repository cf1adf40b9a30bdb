// SPDX-License-Identifier: MIT
/*
 * A process whose GPU is debugged: opens the device that it is given, prints "ready", and for
 * each line on its input submits one job, checks the results and prints "right". Ends with its
 * input.
 */
#include <stdio.h>
#include <string.h>

#include "../../examples/gpu.h"

#define COUNT	1000u
#define GROUP	64u

/* Uniforms: array (address), number of elements. */
static const char shader[] =
	PUMICE_LINE(.group 64)
	PUMICE_LINE(.uniforms sh0, 3)
	PUMICE_LINE(.input v0, global_x)
	PUMICE_LINE(lt.u32 r0, v0, sh2)
	PUMICE_LINE(add.u32 r1, v0, v0)
	PUMICE_STORE32(sh0, v0, [r0], r1, r3)
	PUMICE_LINE(end);

static bool run_job(struct gpu *gpu)
{
	const uint32_t uniforms[] = { PUMICE_WORDS_VA(gpu->va), COUNT };
	const struct pumice_dispatch dispatch = {
		.kernel = gpu->kernel,
		.groups = { (COUNT + GROUP - 1) / GROUP, 1, 1 },
		.uniforms = uniforms,
		.uniform_words = PUMICE_UNIFORM_WORDS(uniforms),
	};
	const uint32_t *out = gpu->cpu;
	uint64_t start;
	uint32_t i;

	memset(gpu->cpu, 0xff, COUNT * sizeof(*out));
	pumice_stream_reset(gpu->stream);
	gpu_check(gpu, pumice_stream_dispatch(gpu->stream, &dispatch), "dispatch");
	gpu_check(gpu, pumice_stream_end(gpu->stream, &start), "end");
	gpu_check(gpu, pumice_context_run(gpu->context, start, PUMICE_FOREVER, NULL), "run");
	for (i = 0; i < COUNT; i++) {
		if (out[i] != 2 * i)
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	char line[16];
	struct gpu gpu;
	bool right = true;

	gpu_open_compute(&gpu, argc, argv, shader, COUNT * sizeof(uint32_t));
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while (right && fgets(line, sizeof(line), stdin)) {
		right = run_job(&gpu);
		puts(right ? "right" : "wrong");
	}
	gpu_close(&gpu);
	return !right;
}
