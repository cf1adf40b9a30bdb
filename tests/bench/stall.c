// SPDX-License-Identifier: MIT
/*
 * Rows: the longest that a register read waits while a job does its worst, in ms.
 *
 * A guest's processor that reads a register is stalled, and QEMU's big lock is held, until
 * the GPU's lock is free. What holds that lock must be bounded, whatever a job asks for. The
 * peer is a job that needs nothing of the lock but to be launched.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define PROGRAMS	6u	/* more than the CDM's share of the program memory holds */
#define CLEARING	2000u	/* work-groups */
#define LOOPS		"400000"	/* of the peer's waves */
#define READS		64u	/* between two looks at the job */
#define LINE		32u	/* bytes of an instruction's text, at most */

/* The works of one job, and the longest read so far. */
struct stall {
	struct gpu_work works[PROGRAMS];
	unsigned int count;
	double worst;		/* seconds */
};

static void look(void *data)
{
	struct stall *stall = data;

	for (unsigned int i = 0; i < READS; i++) {
		const double start = bench_now();
		double took;

		gpu_register_read(stall->works[0].gpu, PUMICE_OS_IRQ_STATUS);
		took = bench_now() - start;
		stall->worst = took > stall->worst ? took : stall->worst;
	}
}

static double worst_read(void *data)
{
	struct stall *stall = data;

	stall->worst = 0;
	gpu_watch(stall->works, stall->count, look, stall);
	return stall->worst;
}

/* As long as a program may be; each number makes another one. */
static void long_program(struct gpu *gpu, unsigned int number, struct gpu_work *work)
{
	char *text = malloc((size_t)PUMICE_USC_MAX_INSNS * LINE), *at = text;

	if (!text)
		bench_fail("out of memory");
	at += sprintf(at, ".group 32, 1, 1\nmov r0, [one], %u\n", number);
	for (unsigned int i = 2; i < PUMICE_USC_MAX_INSNS; i++)
		at += sprintf(at, "mov r0, [one], 0\n");
	strcpy(at, "end\n");
	gpu_work_text(gpu, text, work);
	free(text);
}

/* A wave of each thread's core that computes for a while. */
static void computing(struct gpu *gpu, struct stall *stall)
{
	static const char text[] =
		".group 32, 1, 1\n"
		"mov r0[0], " LOOPS "\n"
		"round:\n"
		"mul.u32 r2, r2, 3\n"
		"sub.u32 r0[0], r0[0], 1\n"
		"brnz round, r0[0]\n"
		"end\n";

	stall->count = 1;
	gpu_work_text(gpu, text, &stall->works[0]);
	stall->works[0].groups[0] = 64;
}

static void compare(struct bench *bench, const char *name, struct stall *ours)
{
	struct stall peer = { 0 };
	const struct bench_contest contest = {
		.name = name,
		.unit = "ms",
		.peer_name = "a job that computes",
		.figure = BENCH_TIME,
		.scale = 1e3,
		.measure = worst_read,
		.our_data = ours,
		.peer_data = &peer,
	};

	computing(&bench->gpu, &peer);
	bench_contest(bench, &contest);
	gpu_work_free(&peer.works[0]);
	for (unsigned int i = 0; i < ours->count; i++)
		gpu_work_free(&ours->works[i]);
}

void bench_stall(struct bench *bench)
{
	struct stall programs = { .count = PROGRAMS }, clearing = { .count = 1 };

	for (unsigned int i = 0; i < PROGRAMS; i++)
		long_program(&bench->gpu, i, &programs.works[i]);
	compare(bench, "register read, worst of a job: programs of 65,536 instructions",
		&programs);
	gpu_work_text(&bench->gpu, ".group 1024, 1, 1\n.input v95, global_x\nend\n",
		      &clearing.works[0]);
	clearing.works[0].groups[0] = CLEARING;
	compare(bench, "register read, worst of a job: work-groups that are cleared", &clearing);
}
