// SPDX-License-Identifier: MIT
/*
 * One timeline for all: jobs of two contexts add to the same words in turn, and
 * between them the address space changes under the address that they use. Only
 * the points of the timeline keep the order; nothing waits on the CPU before the
 * end.
 *
 *     ./timeline [DEVICE]
 */
#include <stdio.h>

#include "gpu.h"

#define ROUNDS	8u
#define WORDS	64u
#define PAGE	4096u
#define AT	0x40000000ull	/* where the window is */

/* x[i] = 2 * x[i] + n, for the one work-group there is. Uniforms: x (address), n. */
static const char shader[] =
	PUMICE_LINE(.group 64)
	PUMICE_LINE(.uniforms sh0, 3)
	PUMICE_LINE(.input v0, global_x)
	PUMICE_LOAD32(r1, sh0, v0, [one], r2, r3[0])
	PUMICE_LINE(mad r1, r1, 2, sh2)
	PUMICE_STORE32(sh0, v0, [one], r1, r2)
	PUMICE_LINE(end);

/* Create a stream that runs the kernel once with this n. */
static uint64_t add_stream(struct gpu *gpu, uint32_t n)
{
	const uint32_t uniforms[] = { PUMICE_WORDS_VA(AT), n };
	const struct pumice_dispatch dispatch = {
		.kernel = gpu->kernel, .groups = { 1, 1, 1 },
		.uniforms = uniforms, .uniform_words = PUMICE_UNIFORM_WORDS(uniforms),
	};
	uint64_t start = pumice_stream_va(gpu->stream);

	gpu_check(gpu, pumice_stream_dispatch(gpu->stream, &dispatch), "dispatch");
	gpu_check(gpu, pumice_stream_end(gpu->stream, NULL), "end");
	return start;
}

/* Queue a move of the window and a job that follows it: points @point + 1 and @point + 2. */
static void queue_round(struct gpu *gpu, struct pumice_context *context,
			struct pumice_sync *timeline, uint64_t point, uint32_t round)
{
	/* Move the window to the other page, after all operations queued so far. */
	const struct pumice_bind window = {
		.bo = gpu->memory.bo, .bo_offset = round % 2 * PAGE, .va = AT, .size = PAGE,
	};
	const struct pumice_job_sync moved[] = {
		{ .sync = timeline, .point = point + 1, .signal = true },
		{ .sync = timeline, .point = point },
	};
	const struct pumice_job_sync done[] = {
		{ .sync = timeline, .point = point + 1 },
		{ .sync = timeline, .point = point + 2, .signal = true },
	};
	const struct pumice_job job = {
		.context = context, .stream = add_stream(gpu, round), .syncs = done,
		.sync_count = 2,
	};

	gpu_check(gpu, pumice_vm_bind_async(gpu->vm, &window, 1, moved, point ? 2 : 1), "bind");
	gpu_check(gpu, pumice_submit(gpu->dev, &job, 1, NULL), "submit");
}

int main(int argc, char **argv)
{
	uint32_t expected[2] = { 0, 0 };
	struct pumice_context *other;
	struct pumice_sync *timeline;
	const uint32_t *words;
	struct gpu gpu;

	gpu_open_compute(&gpu, argc, argv, shader, 2 * PAGE);
	gpu_check(&gpu, pumice_context_create(gpu.vm, PUMICE_PRIORITY_LOW, &other), "context");
	gpu_check(&gpu, pumice_sync_create(gpu.dev, 0, &timeline), "timeline");

	for (uint32_t round = 0; round < ROUNDS; round++) {
		queue_round(&gpu, round / 2 % 2 ? other : gpu.context, timeline, 2 * round, round);
		expected[round % 2] = 2 * expected[round % 2] + round;
	}
	const struct pumice_wait wait = { .sync = timeline, .point = 2 * ROUNDS };
	gpu_check(&gpu, pumice_sync_wait(&wait, 1, 0, PUMICE_FOREVER), "wait");

	words = gpu.cpu;
	for (unsigned int i = 0; i < 2 * WORDS; i++) {
		uint32_t word = words[i / WORDS * (PAGE / 4) + i % WORDS];

		if (word != expected[i / WORDS]) {
			fprintf(stderr, "page %u, word %u is %u instead of %u\n", i / WORDS,
				i % WORDS, word, expected[i / WORDS]);
			return 1;
		}
	}
	printf("%u rounds kept their order\n", ROUNDS);
	pumice_context_destroy(other);
	pumice_sync_destroy(timeline);
	gpu_close(&gpu);
	return 0;
}
