// SPDX-License-Identifier: MIT
/*
 * Rows: effect of the PDS's limits and its order of allocation on throughput, in
 * thousands of work-groups per second. Both sides are our GPU, with other registers,
 * or with one thread: each core has a PDS of its own.
 *
 * Small groups: the number of groups on a USC determines how often the CDM must be stepped
 * for more. Unequal groups: in order, resources of short groups are freed only when a
 * long one that started before them has ended.
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "unequal.pasm.h"

#define GROUPS		16384u
#define SHORT		4u	/* rounds of a group's loop */
#define LONG		20000u
#define EVERY		256u	/* groups, one of which is long */

#define FEW	16u	/* tasks of a USC, so that the order matters */

/* A setting of the PDS's registers, with the work that runs under it. */
struct setting {
	struct gpu_work *work;
	uint32_t tasks;		/* PDS_CDM_TASKS */
	uint32_t control;	/* PDS_CTRL */
};

static void run(void *data)
{
	const struct setting *setting = data;
	struct gpu *gpu = setting->work->gpu;

	gpu_register(gpu, PUMICE_PDS_CDM_TASKS, setting->tasks);
	gpu_register(gpu, PUMICE_PDS_CTRL, setting->control);
	gpu_run(setting->work);
}

static void prove(struct setting *setting, const struct pumice_buffer *out, const char *name)
{
	const uint32_t *number = out->cpu;

	memset(out->cpu, 0, GROUPS * sizeof(*number));
	run(setting);
	for (uint32_t i = 0; i < GROUPS; i++)
		if (number[i] != i + 1)
			bench_fail("%s: work-group %u did not run", name, i);
}

/* Groups of which every so-many-th is long, and the buffer that they write. */
struct groups {
	struct gpu_work work;
	struct pumice_buffer out;
};

static void open_groups(struct gpu *gpu, uint32_t every, struct groups *g)
{
	gpu_buffer(gpu, GROUPS * sizeof(uint32_t), &g->out);
	gpu_work(gpu, unequal_program, sizeof(unequal_program), &g->work);
	gpu_add_address(&g->work, &g->out);
	gpu_add_word(&g->work, every);
	gpu_add_word(&g->work, LONG);
	gpu_add_word(&g->work, SHORT);
	g->work.groups[0] = GROUPS;
}

static void close_groups(struct gpu *gpu, struct groups *g)
{
	gpu_register(gpu, PUMICE_PDS_CDM_TASKS, PUMICE_PDS_CDM_TASKS__RESET);
	gpu_register(gpu, PUMICE_PDS_CTRL, PUMICE_PDS_CTRL__RESET);
	gpu_work_free(&g->work);
	pumice_buffer_destroy(&g->out);
}

/* One row: the same groups under two settings. */
static void compare(struct bench *bench, const char *name, const char *peer_name, uint32_t every,
		    struct setting ours, struct setting peer)
{
	struct groups groups;
	const struct bench_contest contest = {
		.name = name,
		.unit = "k groups/s",
		.peer_name = peer_name,
		.figure = BENCH_RATE,
		.scale = GROUPS * 1e-3,
		.repeats = 1,
		.ours = run,
		.peer = run,
		.our_data = &ours,
		.peer_data = &peer,
	};

	open_groups(&bench->gpu, every, &groups);
	ours.work = peer.work = &groups.work;
	prove(&ours, &groups.out, name);
	prove(&peer, &groups.out, name);
	bench_contest(bench, &contest);
	close_groups(&bench->gpu, &groups);
}

/* One row: small groups, with all threads and with one. */
static void against_one_thread(struct bench *bench, struct setting usual)
{
	struct setting single = usual;
	struct groups ours, peer;
	char name[64];
	const struct bench_contest contest = {
		.name = name, .unit = "k groups/s", .peer_name = "Pumice, one thread",
		.figure = BENCH_RATE, .scale = GROUPS * 1e-3, .goal = 1.7, .repeats = 1,
		.ours = run, .peer = run, .our_data = &usual, .peer_data = &single,
	};

	snprintf(name, sizeof(name), "PDS: small groups, %u threads", bench->threads);
	open_groups(&bench->gpu, GROUPS, &ours);
	open_groups(&bench->single, GROUPS, &peer);
	usual.work = &ours.work;
	single.work = &peer.work;
	prove(&usual, &ours.out, name);
	prove(&single, &peer.out, name);
	bench_contest(bench, &contest);
	close_groups(&bench->single, &peer);
	close_groups(&bench->gpu, &ours);
}

void bench_pds(struct bench *bench)
{
	const struct setting usual = { .control = PUMICE_PDS_CTRL__RESET };
	const struct setting one = { .tasks = 1, .control = PUMICE_PDS_CTRL__RESET };
	const struct setting few = { .tasks = FEW, .control = PUMICE_PDS_CTRL__RESET };
	const struct setting in_order = { .tasks = FEW, .control = 0 };

	compare(bench, "PDS: small groups, no limit", "at most 1 task a USC", GROUPS, usual, one);
	if (bench->threads > 1)
		against_one_thread(bench, usual);
	compare(bench, "PDS: unequal groups, 16 tasks a USC, out of order", "in order", EVERY, few,
		in_order);
}
