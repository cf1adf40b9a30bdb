// SPDX-License-Identifier: MIT
/* The curves of pumice-growth. See growth.h. */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "growth.h"

#define PIXELS		256u	/* width and height of a target, if these do not grow */
#define LEG		(2 * 2.0f / PIXELS)	/* of a triangle, 2 pixels */
#define GROUPS		64u	/* of a job while cores grow */
#define JOBS		16u	/* of a context */
#define PAGE		4096u
#define SPACING		(2ull * PAGE)	/* from page to page: no two are one range */

static void check(const struct growth *g, int err)
{
	if (err)
		bench_fail("%s", pumice_device_error(g->gpu.dev));
}

/* --------------------------------------------------------------------- frames */

static void open_frame(struct growth *g, uint32_t triangles, uint32_t draws)
{
	struct draw_vertex *vertex = draw_triangles(triangles, LEG);
	const struct draw_scene scene = { .size = PIXELS, .vertex = vertex,
					  .vertices = triangles * 3, .depth = true,
					  .draws = draws };

	draw_work(&g->gpu, &scene, &g->frame);
	free(vertex);
}

static void open_draws(struct growth *g)
{
	gpu_open(&g->gpu, 1);
	open_frame(g, g->size, g->size);
}

static void open_triangles(struct growth *g)
{
	gpu_open(&g->gpu, 1);
	open_frame(g, g->size, 0);
}

/* One layer over a square of this number of pixels. */
static void open_pixels(struct growth *g)
{
	static const struct draw_vertex corner[6] = {
		{ -1, -1, 0, 1, 0, 0 }, { 1, -1, 0, 0, 1, 0 }, { 1, 1, 0, 0, 0, 1 },
		{ -1, -1, 0, 1, 0, 0 }, { 1, 1, 0, 0, 0, 1 }, { -1, 1, 0, 0, 1, 0 },
	};
	struct draw_scene scene = { .size = 1, .vertex = corner, .vertices = 6, .depth = true };

	while (scene.size * scene.size < g->size)
		scene.size++;
	gpu_open(&g->gpu, 1);
	draw_work(&g->gpu, &scene, &g->frame);
}

static void run_frame(struct growth *g)
{
	draw_run(&g->frame);
}

static void close_frame(struct growth *g)
{
	draw_work_free(&g->frame);
	gpu_close(&g->gpu);
}

/* --------------------------------------------------------------------- launches */

/* Prepare a launch of groups of one wave. */
static void open_launch(struct growth *g, uint32_t groups)
{
	gpu_work_text(&g->gpu, ".group 32, 1, 1\nend\n", &g->work);
	g->work.groups[0] = groups;
	g->launch = gpu_build(&g->work, 1, g->gpu.stream);
}

static void open_groups(struct growth *g)
{
	gpu_open(&g->gpu, 1);
	open_launch(g, g->size);
}

static void run_launch(struct growth *g)
{
	check(g, pumice_context_run(g->gpu.context, g->launch, PUMICE_FOREVER, NULL));
}

static void close_launch(struct growth *g)
{
	gpu_work_free(&g->work);
	gpu_close(&g->gpu);
}

static void open_cores(struct growth *g)
{
	gpu_open_cores(&g->gpu, 1, g->size);
	open_launch(g, GROUPS);
	open_frame(g, GROUPS, 0);
}

static void run_cores(struct growth *g)
{
	run_launch(g);
	run_frame(g);
}

static void close_cores(struct growth *g)
{
	draw_work_free(&g->frame);
	close_launch(g);
}

/* --------------------------------------------------------------------- jobs */

static void open_points(struct growth *g)
{
	gpu_open(&g->gpu, 1);
	open_launch(g, 1);
	check(g, pumice_sync_create(g->gpu.dev, 0, &g->sync[0]));
}

/* Jobs that each wait for the point of the one before. The host only waits for the last point. */
static void run_points(struct growth *g)
{
	struct pumice_job_sync syncs[2] = {
		{ .sync = g->sync[0] }, { .sync = g->sync[0], .signal = true },
	};
	const struct pumice_job job = { .context = g->gpu.context, .stream = g->launch,
					.syncs = syncs, .sync_count = 2 };
	struct pumice_wait wait = { .sync = g->sync[0] };
	uint32_t n;

	check(g, pumice_sync_reset(g->sync[0]));
	check(g, pumice_sync_signal(g->sync[0], 1));
	for (n = 1; n <= g->size; n++) {
		syncs[0].point = n;
		syncs[1].point = n + 1;
		check(g, pumice_submit(g->gpu.dev, &job, 1, NULL));
	}
	wait.point = g->size + 1;
	check(g, pumice_sync_wait(&wait, 1, 0, PUMICE_FOREVER));
}

static void close_points(struct growth *g)
{
	pumice_sync_destroy(g->sync[0]);
	close_launch(g);
}

static void open_contexts(struct growth *g)
{
	uint32_t n;

	gpu_open(&g->gpu, 1);
	open_launch(g, 1);
	for (n = 0; n < g->size; n++) {
		check(g, pumice_context_create(g->gpu.vm, PUMICE_PRIORITY_NORMAL, &g->context[n]));
		check(g, pumice_sync_create(g->gpu.dev, 0, &g->sync[n]));
	}
}

/* Jobs of all contexts in turn, then a wait for all. */
static void run_contexts(struct growth *g)
{
	struct pumice_wait wait[GROWTH_CONTEXTS];
	uint32_t n, round;

	for (round = 0; round < JOBS; round++)
		for (n = 0; n < g->size; n++) {
			const struct pumice_job_sync done = { .sync = g->sync[n], .signal = true };
			const struct pumice_job job = { .context = g->context[n],
							.stream = g->launch, .syncs = &done,
							.sync_count = 1 };

			check(g, pumice_submit(g->gpu.dev, &job, 1, NULL));
		}
	for (n = 0; n < g->size; n++)
		wait[n] = (struct pumice_wait){ .sync = g->sync[n] };
	check(g, pumice_sync_wait(wait, g->size, 0, PUMICE_FOREVER));
}

static void close_contexts(struct growth *g)
{
	uint32_t n;

	for (n = 0; n < g->size; n++) {
		pumice_sync_destroy(g->sync[n]);
		pumice_context_destroy(g->context[n]);
	}
	close_launch(g);
}

/* --------------------------------------------------------------------- binds */

static void open_binds(struct growth *g)
{
	gpu_open(&g->gpu, 1);
	check(g, pumice_bo_create(g->gpu.dev, GROWTH_BINDS * PAGE, NULL, &g->bo));
	check(g, pumice_vm_va_alloc(g->gpu.vm, g->size * SPACING, 0, &g->va));
}

/* Bind pages, some of them in each call, and unbind all in one operation. */
static void run_binds(struct growth *g)
{
	const struct pumice_bind all = { .va = g->va, .size = g->size * SPACING };
	uint32_t done, n, part;

	for (done = 0; done < g->size; done += part) {
		part = g->size - done < GROWTH_BINDS ? g->size - done : GROWTH_BINDS;
		for (n = 0; n < part; n++)
			g->op[n] = (struct pumice_bind){
				.va = g->va + (done + n) * SPACING, .size = PAGE, .bo = g->bo,
				.bo_offset = (uint64_t)n * PAGE,
			};
		check(g, pumice_vm_bind(g->gpu.vm, g->op, part, NULL));
	}
	check(g, pumice_vm_bind(g->gpu.vm, &all, 1, NULL));
}

static void close_binds(struct growth *g)
{
	pumice_bo_destroy(g->bo);
	gpu_close(&g->gpu);
}

/* --------------------------------------------------------------------- curves */

static const uint32_t pixels[] = { 64 * 64, 128 * 128, 256 * 256, 512 * 512, 1024 * 1024,
				   2048 * 2048, 4096 * 4096, 8192 * 8192, 0 };
static const uint32_t cores[] = { 1, 2, 3, 4, 6, 8, 12, 16, 0 };

const struct growth_curve growth_curves[] = {
	{ "draws", 32, 65536, NULL, open_draws, run_frame, close_frame },
	{ "triangles", 256, 262144, NULL, open_triangles, run_frame, close_frame },
	{ "pixels", 0, 0, pixels, open_pixels, run_frame, close_frame },
	{ "work-groups", 64, 1048576, NULL, open_groups, run_launch, close_launch },
	{ "binds", 64, 65536, NULL, open_binds, run_binds, close_binds },
	{ "points", 32, 32768, NULL, open_points, run_points, close_points },
	{ "contexts", 1, GROWTH_CONTEXTS, NULL, open_contexts, run_contexts, close_contexts },
	{ "cores", 0, 0, cores, open_cores, run_cores, close_cores },
	{ 0 },
};
