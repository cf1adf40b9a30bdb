// SPDX-License-Identifier: MIT
/*
 * Rows: costs of one of many launches, and of one of many binds of a page. The peer is the same
 * with a shorter program, or in an address space without other mappings: the cost must not grow
 * with these.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#define LAUNCHES	1000u	/* of a job */
#define PAGE		4096u
#define BINDS		4096u	/* of a call */
#define OTHERS		20000u	/* mappings of single pages */
#define SPACING		(2ull * PAGE)	/* from page to page: no two are one range */

/* ------------------------------------------------------------------- launches */

struct launches {
	struct gpu_work work;
	struct pumice_stream *stream;
	uint64_t start;
};

/* Launches of a program that jumps over all but its ends. */
static void open_launches(struct gpu *gpu, uint32_t insns, struct launches *l)
{
	char *text = malloc(64 + insns * 24ull), *at = text;
	uint32_t n;

	if (!text)
		bench_fail("out of memory");
	at += sprintf(at, ".group 1, 1, 1\njump last\n");
	for (n = 2; n < insns; n++)
		at += sprintf(at, "mov r1, [one], %u\n", n);
	sprintf(at, "last:\nend\n");
	gpu_work_text(gpu, text, &l->work);
	free(text);
	if (pumice_stream_create(gpu->vm, 1 << 20, &l->stream))
		bench_fail("%s", pumice_device_error(gpu->dev));
	for (n = 0; n < LAUNCHES; n++) {
		struct pumice_dispatch dispatch;

		pumice_dispatch_init(&dispatch, l->work.kernel);
		if (pumice_stream_dispatch(l->stream, &dispatch))
			bench_fail("%s", pumice_device_error(gpu->dev));
	}
	if (pumice_stream_end(l->stream, &l->start))
		bench_fail("%s", pumice_device_error(gpu->dev));
}

static void close_launches(struct launches *l)
{
	pumice_stream_destroy(l->stream);
	gpu_work_free(&l->work);
}

static void run_launches(void *data)
{
	struct launches *l = data;

	if (pumice_context_run(l->work.gpu->context, l->start, PUMICE_FOREVER, NULL))
		bench_fail("%s", pumice_device_error(l->work.gpu->dev));
}

static void compare_launches(struct bench *bench, uint32_t insns, const char *name)
{
	struct launches ours, peer;
	const struct bench_contest contest = {
		.name = name, .unit = "us", .peer_name = "10 instructions",
		.figure = BENCH_TIME, .scale = 1e6 / LAUNCHES, .goal = 0.7, .limit = 1.5,
		.repeats = 1,
		.ours = run_launches, .peer = run_launches, .our_data = &ours, .peer_data = &peer,
	};

	open_launches(&bench->single, insns, &ours);
	open_launches(&bench->single, 10, &peer);
	bench_contest(bench, &contest);
	close_launches(&peer);
	close_launches(&ours);
}

/* ------------------------------------------------------------------- binds */

struct binds {
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_bo *bo;
	uint64_t va, others;	/* of BINDS and OTHERS pages, SPACING apart */
	struct pumice_bind op[BINDS];
};

static void check_binds(const struct binds *b, int err)
{
	if (err)
		bench_fail("%s", pumice_device_error(b->dev));
}

/* Bind pages from va on. */
static void bind_pages(struct binds *b, uint64_t va, uint32_t count)
{
	uint32_t n;

	for (n = 0; n < count; n++)
		b->op[n] = (struct pumice_bind){
			.va = va + n * SPACING, .size = PAGE, .bo = b->bo,
			.bo_offset = (uint64_t)n * PAGE,
		};
	check_binds(b, pumice_vm_bind(b->vm, b->op, count, NULL));
}

static void unbind_pages(struct binds *b, uint64_t va, uint32_t count)
{
	const struct pumice_bind op = { .va = va, .size = count * SPACING };

	check_binds(b, pumice_vm_bind(b->vm, &op, 1, NULL));
}

static void open_binds(struct gpu *gpu, uint32_t others, struct binds *b)
{
	uint32_t done, part;

	b->dev = gpu->dev;
	check_binds(b, pumice_vm_create(b->dev, &b->vm));
	check_binds(b, pumice_bo_create(b->dev, (uint64_t)BINDS * PAGE, NULL, &b->bo));
	check_binds(b, pumice_vm_va_alloc(b->vm, BINDS * SPACING, 0, &b->va));
	check_binds(b, pumice_vm_va_alloc(b->vm, OTHERS * SPACING, 0, &b->others));
	for (done = 0; done < others; done += part) {
		part = others - done < BINDS ? others - done : BINDS;
		bind_pages(b, b->others + done * SPACING, part);
	}
}

static void close_binds(struct binds *b)
{
	pumice_vm_destroy(b->vm);
	pumice_bo_destroy(b->bo);
	free(b);
}

static double measure_binds(void *data)
{
	struct binds *b = data;
	const double start = bench_now();
	double seconds;

	bind_pages(b, b->va, BINDS);
	seconds = bench_now() - start;
	unbind_pages(b, b->va, BINDS);
	return seconds;
}

static double measure_unbinds(void *data)
{
	struct binds *b = data;
	double start;

	bind_pages(b, b->va, BINDS);
	start = bench_now();
	unbind_pages(b, b->va, BINDS);
	return bench_now() - start;
}

static void compare_binds(struct bench *bench)
{
	struct binds *ours = calloc(1, sizeof(*ours)), *peer = calloc(1, sizeof(*peer));
	struct bench_contest contest = {
		.name = "bind of a page, 20,000 others bound", .unit = "us",
		.peer_name = "without others", .figure = BENCH_TIME, .scale = 1e6 / BINDS,
		.goal = 0.7, .limit = 5, .repeats = 1, .measure = measure_binds,
	};

	if (!ours || !peer)
		bench_fail("out of memory");
	open_binds(&bench->single, OTHERS, ours);
	open_binds(&bench->single, 0, peer);
	contest.our_data = ours;
	contest.peer_data = peer;
	bench_contest(bench, &contest);
	contest.name = "unbind of 4,096 pages in one operation, 20,000 others bound";
	contest.unit = "ms";
	contest.scale = 1e3;
	contest.limit = 10;
	contest.measure = measure_unbinds;
	bench_contest(bench, &contest);
	close_binds(peer);
	close_binds(ours);
}

void bench_costs(struct bench *bench)
{
	compare_launches(bench, 1000, "launch, program of 1,000 instructions");
	compare_launches(bench, 10000, "launch, program of 10,000 instructions");
	compare_binds(bench);
}
