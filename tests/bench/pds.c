// SPDX-License-Identifier: MIT
/*
 * Rows: effect of the PDS's limits and its order of allocation on throughput, in
 * thousands of work-groups per second. Both sides are our GPU, with other registers.
 *
 * Small groups: the number of groups on a USC determines how often the CDM must be stepped
 * for more. Unequal groups: in order, resources of short groups are freed only when a
 * long one that started before them has ended.
 */
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

static void prove(struct setting *setting, const struct gpu_buffer *out, const char *name)
{
	const uint32_t *number = out->cpu;

	memset(out->cpu, 0, GROUPS * sizeof(*number));
	run(setting);
	for (uint32_t i = 0; i < GROUPS; i++)
		if (number[i] != i + 1)
			bench_fail("%s: work-group %u did not run", name, i);
}

/* One row: groups of which every so-many-th is long, under two settings. */
static void compare(struct bench *bench, const char *name, const char *peer_name, uint32_t every,
		    struct setting ours, struct setting peer)
{
	struct gpu_work work;
	struct gpu_buffer out;
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

	gpu_buffer(&bench->gpu, GROUPS * sizeof(uint32_t), &out);
	gpu_work(&bench->gpu, unequal_program, sizeof(unequal_program), &work);
	gpu_add_address(&work, &out);
	gpu_add_word(&work, every);
	gpu_add_word(&work, LONG);
	gpu_add_word(&work, SHORT);
	work.groups[0] = GROUPS;
	ours.work = peer.work = &work;
	prove(&ours, &out, name);
	prove(&peer, &out, name);
	bench_contest(bench, &contest);
	gpu_register(&bench->gpu, PUMICE_PDS_CDM_TASKS, PUMICE_PDS_CDM_TASKS__RESET);
	gpu_register(&bench->gpu, PUMICE_PDS_CTRL, PUMICE_PDS_CTRL__RESET);
	gpu_work_free(&work);
	gpu_buffer_free(&bench->gpu, &out);
}

void bench_pds(struct bench *bench)
{
	const struct setting usual = { .control = PUMICE_PDS_CTRL__RESET };
	const struct setting one = { .tasks = 1, .control = PUMICE_PDS_CTRL__RESET };
	const struct setting few = { .tasks = FEW, .control = PUMICE_PDS_CTRL__RESET };
	const struct setting in_order = { .tasks = FEW, .control = 0 };

	compare(bench, "PDS: small groups, no limit", "at most 1 task a USC", GROUPS, usual, one);
	compare(bench, "PDS: unequal groups, 16 tasks a USC, out of order", "in order", EVERY, few,
		in_order);
}
