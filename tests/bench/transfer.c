// SPDX-License-Identifier: MIT
/*
 * Rows: copies by the PTLA, against memcpy() and against one thread.
 *
 * 8 MiB, a large texture, copied often enough for a job of 64: at that size two threads of
 * memcpy() are twice as fast as one, so that a row about threads measures the PTLA and not
 * the memory, most of whose bandwidth one thread of memcpy() uses here.
 */
#include <string.h>

#include "bench.h"
#include <pumice/pumice_gfx.h>

#define BYTES		(8u << 20)
#define COPIES		8u
#define STREAM_BYTES	4096
#define TIMEOUT_NS	(60 * 1000000000ull)

struct side {
	struct gpu *gpu;
	struct pumice_context *context;
	struct pumice_stream *stream;
	struct pumice_buffer from, to;
	uint64_t va;
};

static void check(const struct side *side, const char *what, int ret)
{
	if (ret)
		bench_fail("%s: %s", what, pumice_device_error(side->gpu->dev));
}

static void open_side(struct gpu *gpu, struct side *side)
{
	struct pumice_tdm_copy copy = { .bytes = BYTES };
	uint32_t *from;

	side->gpu = gpu;
	check(side, "context",
	      pumice_context_create_type(gpu->vm, PUMICE_CONTEXT_TRANSFER,
					 PUMICE_PRIORITY_NORMAL, &side->context));
	check(side, "stream", pumice_stream_create(gpu->vm, STREAM_BYTES, &side->stream));
	gpu_buffer(gpu, BYTES, &side->from);
	gpu_buffer(gpu, BYTES, &side->to);
	from = side->from.cpu;
	for (uint32_t i = 0; i < BYTES / 4; i++)
		from[i] = i * 2654435761u;
	copy.src = side->from.va;
	copy.dst = side->to.va;
	for (uint32_t i = 0; i < COPIES; i++)
		check(side, "copy", pumice_stream_copy(side->stream, &copy));
	check(side, "end", pumice_stream_tdm_end(side->stream, &side->va));
}

static void close_side(struct side *side)
{
	pumice_buffer_destroy(&side->to);
	pumice_buffer_destroy(&side->from);
	pumice_stream_destroy(side->stream);
	pumice_context_destroy(side->context);
}

static void run_ours(void *data)
{
	struct side *side = data;

	check(side, "job", pumice_context_run(side->context, side->va, TIMEOUT_NS, NULL));
}

static void run_memcpy(void *data)
{
	struct side *side = data;

	for (uint32_t i = 0; i < COPIES; i++) {
		memcpy(side->to.cpu, side->from.cpu, BYTES);
		/* Prevent the compiler from removing the copy. */
		__asm__ volatile("" : : "r"(side->to.cpu) : "memory");
	}
}

static void prove(struct side *side)
{
	memset(side->to.cpu, 0, BYTES);
	run_ours(side);
	if (memcmp(side->to.cpu, side->from.cpu, BYTES))
		bench_fail("transfer copy: wrong bytes");
}

void bench_transfer(struct bench *bench)
{
	struct side ours, single;
	char name[64];
	struct bench_contest contest = {
		.name = "transfer copy, 8 times 8 MiB", .unit = "GB/s", .peer_name = "memcpy",
		.figure = BENCH_RATE, .scale = COPIES * BYTES * 1e-9, .goal = 0.5, .repeats = 2,
		.ours = run_ours, .peer = run_memcpy, .our_data = &ours, .peer_data = &ours,
	};

	if (bench->only && !strstr(contest.name, bench->only))
		return;
	open_side(&bench->gpu, &ours);
	open_side(&bench->single, &single);
	prove(&ours);
	prove(&single);
	bench_contest(bench, &contest);
	snprintf(name, sizeof(name), "%s, %u threads", contest.name, bench->threads);
	contest.name = name;
	contest.peer_name = "Pumice, one thread";
	contest.goal = 1.7;
	contest.peer = run_ours;
	contest.peer_data = &single;
	if (bench->threads > 1)
		bench_contest(bench, &contest);
	close_side(&single);
	close_side(&ours);
}
