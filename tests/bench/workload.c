// SPDX-License-Identifier: MIT
/*
 * The contests of a workload: the same buffers and the same kernel on our GPU, on
 * our GPU with one thread, and in PoCL; each is checked once before measuring.
 */
#include <string.h>

#include "bench.h"

struct our_side {
	struct pumice_buffer buffer[BENCH_BUFFERS];
	struct gpu_work work;
};

struct peer_side {
	struct pocl *pocl;
	struct pocl_buffer buffer[BENCH_BUFFERS];
	struct pocl_work work;
};

static void run_ours(void *data)
{
	struct our_side *side = data;

	gpu_run(&side->work);
}

static void run_peer(void *data)
{
	struct peer_side *side = data;

	pocl_run(&side->work);
}

/* One run on fresh data must equal the CPU's result. */
static void prove(const struct bench_workload *w, const char *who,
		  void *const buffers[BENCH_BUFFERS], void (*run)(void *), void *side)
{
	long wrong;

	w->fill(buffers);
	run(side);
	wrong = w->check(buffers);
	if (wrong >= 0)
		bench_fail("%s: element %ld of the result of %s is wrong", w->name, wrong, who);
}

static void open_ours(const struct bench_workload *w, struct gpu *gpu, struct our_side *side)
{
	void *cpu[BENCH_BUFFERS] = { NULL };

	memset(side, 0, sizeof(*side));
	for (unsigned int i = 0; i < BENCH_BUFFERS && w->bytes[i]; i++) {
		gpu_buffer(gpu, w->bytes[i], &side->buffer[i]);
		cpu[i] = side->buffer[i].cpu;
	}
	gpu_work(gpu, w->program, w->program_bytes, &side->work);
	w->ours(&side->work, side->buffer);
	prove(w, "Pumice", cpu, run_ours, side);
}

static void close_ours(const struct bench_workload *w, struct our_side *side)
{
	gpu_work_free(&side->work);
	for (unsigned int i = 0; i < BENCH_BUFFERS && w->bytes[i]; i++)
		pumice_buffer_destroy(&side->buffer[i]);
}

static void open_peer(const struct bench_workload *w, struct pocl *pocl, struct peer_side *side)
{
	void *cpu[BENCH_BUFFERS] = { NULL };

	*side = (struct peer_side){ .pocl = pocl };
	for (unsigned int i = 0; i < BENCH_BUFFERS && w->bytes[i]; i++) {
		pocl_buffer(pocl, w->bytes[i], &side->buffer[i]);
		cpu[i] = side->buffer[i].cpu;
	}
	pocl_work(pocl, w->kernel, &side->work);
	w->peer(&side->work, side->buffer);
	prove(w, "PoCL", cpu, run_peer, side);
}

static void close_peer(const struct bench_workload *w, struct peer_side *side)
{
	pocl_work_free(&side->work);
	for (unsigned int i = 0; i < BENCH_BUFFERS && w->bytes[i]; i++)
		pocl_buffer_free(side->pocl, &side->buffer[i]);
}

static void against_pocl(struct bench *bench, const struct bench_workload *w,
			 struct our_side *ours)
{
	struct peer_side peer;
	const struct bench_contest contest = {
		.name = w->name,
		.unit = w->unit,
		.peer_name = "PoCL",
		.figure = w->figure,
		.scale = w->scale,
		.goal = w->goal,
		.limit = w->limit,
		.repeats = w->repeats,
		.median_of = w->median_of,
		.ours = run_ours,
		.peer = run_peer,
		.our_data = ours,
		.peer_data = &peer,
	};

	open_peer(w, &bench->pocl, &peer);
	bench_contest(bench, &contest);
	close_peer(w, &peer);
}

static void against_one_thread(struct bench *bench, const struct bench_workload *w,
			       struct our_side *ours)
{
	struct our_side single;
	char name[80];
	const struct bench_contest contest = {
		.name = name,
		.unit = w->unit,
		.peer_name = "Pumice, one thread",
		.figure = w->figure,
		.scale = w->scale,
		.goal = w->scaling_goal,
		.repeats = w->repeats,
		.median_of = w->median_of,
		.ours = run_ours,
		.peer = run_ours,
		.our_data = ours,
		.peer_data = &single,
	};

	snprintf(name, sizeof(name), "%s, %u threads", w->name, bench->threads);
	open_ours(w, &bench->single, &single);
	bench_contest(bench, &contest);
	close_ours(w, &single);
}

void bench_workload(struct bench *bench, const struct bench_workload *workload)
{
	struct our_side ours;

	if (bench->only && !strstr(workload->name, bench->only))
		return;
	open_ours(workload, &bench->gpu, &ours);
	against_pocl(bench, workload, &ours);
	if (workload->scaling_goal > 0 && bench->threads > 1)
		against_one_thread(bench, workload, &ours);
	close_ours(workload, &ours);
}
