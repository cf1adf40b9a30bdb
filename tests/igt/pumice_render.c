// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Render and transfer contexts: pairs of jobs, their fences, and their dependencies on
 * each other and on compute.
 */
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "igt_pumice.h"
#include "pumice_regs.h"
#include "render.h"

IGT_TEST_DESCRIPTION("Geometry, fragment and transfer jobs through SUBMIT.");

static void basic(void)
{
	struct render r = render_open();

	render_check_works(&r);
	igt_assert_eq_u32(need_state(r.fx.fd, r.context).jobs_done, 4);
}

static void triangle(void)
{
	struct render r = render_open();
	struct mem target = need_mem(r.fx.fd, r.fx.vm, FX_FREE, RENDER_SIZE * RENDER_SIZE * 4);
	struct mem vertices = need_mem(r.fx.fd, r.fx.vm, FX_FREE + MIB, PAGE);
	struct vertex *v = (struct vertex *)vertices.cpu;

	/* Larger than the target in every direction: all of it is covered. */
	v[0] = (struct vertex){ -1, -1, 0.5f, 1, { 0, 1, 0, 0 } };
	v[1] = (struct vertex){ 3, -1, 0.5f, 1, { 0, 1, 0, 0 } };
	v[2] = (struct vertex){ -1, 3, 0.5f, 1, { 0, 1, 0, 0 } };
	igt_assert_eq(render_run(&r, 0, render_draw_stream(&r, vertices.va, 3),
				 render_store_record(&r, target.va)), 1);
	for (u32 i = 0; i < RENDER_SIZE * RENDER_SIZE; i++)
		igt_assert_eq_u32(target.cpu[i], 0xff00ff00);
}

/* Every way to leave a pair incomplete. */
static void half_a_pair(void)
{
	struct render r = render_open();
	struct drm_pumice_job jobs[4];
	u32 failed;

	render_pair(&r, 0, jobs);
	render_pair(&r, 1, jobs + 2);
	igt_assert_eq(gpu_submit(r.fx.fd, jobs, 1, &failed), -EINVAL);
	igt_assert_eq_u32(failed, 0);
	igt_assert_eq(gpu_submit(r.fx.fd, jobs + 1, 1, &failed), -EINVAL);
	igt_assert_eq_u32(failed, 0);
	igt_assert_eq(gpu_submit(r.fx.fd, jobs, 3, &failed), -EINVAL);
	igt_assert_eq_u32(failed, 2);
	jobs[1] = jobs[3];
	igt_assert_eq(gpu_submit(r.fx.fd, jobs, 2, &failed), -EINVAL);
	igt_assert_eq_u32(failed, 1);
	igt_assert_eq_u32(need_state(r.fx.fd, r.context).jobs_done, 0);
}

static void fences(void)
{
	struct render r = render_open();
	struct drm_pumice_sync first = then_signal(need_sync(r.fx.fd), 0);
	struct drm_pumice_sync second = then_signal(need_sync(r.fx.fd), 3);
	struct drm_pumice_job jobs[2];

	render_pair(&r, 0, jobs);
	jobs[0].syncs = (struct drm_pumice_array)ARRAY_OF(&first, 1);
	jobs[1].syncs = (struct drm_pumice_array)ARRAY_OF(&second, 1);
	CHECK_OK(gpu_submit(r.fx.fd, jobs, 2, NULL));
	need_wait(r.fx.fd, second.handle, 3);
	/* The fragment job ends after its geometry job. */
	igt_assert_eq(sync_status(r.fx.fd, first.handle, 0), 1);
	igt_assert_eq(sync_status(r.fx.fd, second.handle, 3), 1);
}

/* While a fragment job must wait, its geometry job does not begin. */
static void fragment_waits(void)
{
	struct render r = render_open(), witness = render_open();
	struct drm_pumice_sync done = then_signal(need_sync(r.fx.fd), 0), wait;
	struct drm_pumice_job jobs[2];

	fx_block(&r.fx);
	wait = wait_for(r.fx.sync, 0);
	render_pair(&r, 0, jobs);
	jobs[0].syncs = (struct drm_pumice_array)ARRAY_OF(&done, 1);
	jobs[1].syncs = (struct drm_pumice_array)ARRAY_OF(&wait, 1);
	CHECK_OK(gpu_submit(r.fx.fd, jobs, 2, NULL));
	/* Data masters alternate: a job that did not wait would end before a later pair. */
	render_check_works(&witness);
	igt_assert(sync_is_pending(r.fx.fd, done.handle, 0));
	CHECK_OK(gpu_context_destroy(r.fx.fd, r.fx.context));
	need_wait(r.fx.fd, done.handle, 0);
	igt_assert_eq(sync_status(r.fx.fd, done.handle, 0), 1);
}

static void parallel_to_compute(void)
{
	struct render r = render_open();

	fx_block(&r.fx);
	r.fx.sync = need_sync(r.fx.fd);
	render_check_works(&r);
}

static void fault_of_geometry(void)
{
	struct render r = render_open();
	struct drm_pumice_job_get_result result;

	igt_assert_eq(render_run(&r, 0, FX_FREE, r.fragment), -EIO);
	CHECK_OK(gpu_job_result(r.fx.fd, r.context, 1, &result));
	igt_assert_eq(result.error, -EIO);
	CHECK_OK(gpu_job_result(r.fx.fd, r.context, 2, &result));
	igt_assert_eq(result.error, -EIO);
	igt_assert_eq_u32(result.fault, PUMICE_FAULT_PM_NO_SCENE);
	render_check_works(&r);
}

static void many_contexts(void)
{
	struct render r = render_open();
	u32 contexts[32], i;

	for (i = 0; i < 32; i++) {
		contexts[i] = need_context_of(r.fx.fd, r.fx.vm, DRM_PUMICE_CONTEXT_RENDER);
		r.context = contexts[i];
		render_submit(&r, i % 2, r.geometry, r.fragment);
	}
	for (i = 0; i < 32; i++) {
		r.context = contexts[31 - i];
		render_check_works(&r);
	}
}

static void many_processes(void)
{
	struct igt_helper_process helpers[4] = {};
	struct render r;
	u32 i, k;

	for (i = 0; i < 4; i++) {
		igt_pumice_fork_helper(&helpers[i]) {
			r = render_open();
			for (k = 0; k < 50; k++)
				igt_assert_eq(render_run(&r, k % 2, r.geometry, r.fragment), 1);
		}
	}
	for (i = 0; i < 4; i++)
		igt_pumice_join(&helpers[i]);
}

static void transfer_copies(void)
{
	struct fixture fx = fx_open();
	u32 i;

	fx.context = need_context_of(fx.fd, fx.vm, DRM_PUMICE_CONTEXT_TRANSFER);
	for (i = 0; i < 1000; i++)
		fx.data.cpu[i] = i * i;
	igt_assert_eq(fx_run(&fx, transfer_copy_stream(&fx, fx.data.va + 8192, fx.data.va,
						       4000)), 1);
	for (i = 0; i < 1000; i++)
		igt_assert_eq_u32(fx.data.cpu[2048 + i], i * i);
}

/* A chain through all data masters, in one call. */
static void all_data_masters(void)
{
	struct render r = render_open();
	u32 transfer = need_context_of(r.fx.fd, r.fx.vm, DRM_PUMICE_CONTEXT_TRANSFER);
	u32 steps = need_sync(r.fx.fd);
	struct drm_pumice_sync syncs[] = {
		then_signal(steps, 1), wait_for(steps, 1), then_signal(steps, 2),
		wait_for(steps, 2), then_signal(steps, 3),
	};
	u64 va = r.fx.data.va;
	struct drm_pumice_job jobs[4] = {
		[0] = { .context = r.fx.context, .stream = fx_store_stream(&r.fx, va, 70),
			.syncs = ARRAY_OF(syncs, 1) },
		[3] = { .context = transfer,
			.stream = transfer_copy_stream(&r.fx, va + 512, va, 128),
			.syncs = ARRAY_OF(syncs + 3, 2) },
	};

	render_pair(&r, 0, jobs + 1);
	jobs[2].syncs = (struct drm_pumice_array)ARRAY_OF(syncs + 1, 2);
	CHECK_OK(gpu_submit(r.fx.fd, jobs, 4, NULL));
	need_wait(r.fx.fd, steps, 3);
	fx_check_words(r.fx.data.cpu + 128, 70);
}

int igt_main()
{
	igt_fixture()
		igt_pumice_require(IGT_PUMICE_PATIENT);

	igt_pumice_subtest("basic", "a pair runs and signals", basic);
	igt_pumice_subtest("triangle", "a triangle covers the target", triangle);
	igt_pumice_subtest("half-a-pair", "a geometry job without its fragment job is refused",
			   half_a_pair);
	igt_pumice_subtest("fences", "a fragment job ends after its geometry job", fences);
	igt_pumice_subtest("fragment-waits",
			   "a geometry job waits for the dependencies of its fragment job",
			   fragment_waits);
	igt_pumice_subtest("parallel-to-compute", "pairs run in parallel to a compute job",
			   parallel_to_compute);
	igt_pumice_subtest("fault-of-geometry", "a geometry job that faults ends its fragment job",
			   fault_of_geometry);
	igt_pumice_subtest("many-contexts", "32 contexts share two scenes", many_contexts);
	igt_pumice_subtest("many-processes", "four processes at once", many_processes);
	igt_pumice_subtest("transfer", "a transfer context copies", transfer_copies);
	igt_pumice_subtest("all-data-masters", "compute, geometry, fragments, transfer in one call",
			   all_data_masters);
}
