// SPDX-License-Identifier: MIT
/*
 * Render contexts: the jobs that SUBMIT accepts, and the results of pairs, whether or
 * not they complete.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <xf86drm.h>

#include "harness.h"
#include "pumice_regs.h"
#include "render.h"
#include "system.h"

#define ROUNDS	20u	/* calls, each with the maximum number of pairs */

/* Create a render context after all objects of the previous case were freed. */
static struct render fresh_render(void)
{
	need_nothing_left();
	return render_open();
}

/* Submitting must be refused with the index of a job, and leave no object. */
static void refuse(const struct render *r, const struct drm_pumice_job *jobs, u32 count,
		   int error, u32 index)
{
	u32 failed = 99;

	CHECK_ERROR(gpu_submit(r->fx.fd, jobs, count, &failed), error);
	CHECK_EQUAL(failed, index);
	CHECK_EQUAL(need_state(r->fx.fd, r->context).jobs_done, 0);
	CHECK_EQUAL(need_counts().jobs, 0);
}

static void pair_that_is_right_runs(void)
{
	struct render r = fresh_render();

	render_check_works(&r);
	CHECK_EQUAL(need_state(r.fx.fd, r.context).jobs_done, 4);
	CHECK_EQUAL(need_state(r.fx.fd, r.context).state, 0);
}

static void render_context_takes_pairs_only(void)
{
	struct render r = fresh_render();
	struct drm_pumice_job jobs[4];

	render_pair(&r, 0, jobs);
	render_pair(&r, 1, jobs + 2);
	refuse(&r, jobs, 1, EINVAL, 0);
	refuse(&r, jobs + 1, 1, EINVAL, 0);
	refuse(&r, jobs, 3, EINVAL, 2);
	jobs[1].type = DRM_PUMICE_JOB_GEOMETRY;
	refuse(&r, jobs, 2, EINVAL, 0);
	jobs[1].type = DRM_PUMICE_JOB_DEFAULT;
	refuse(&r, jobs, 2, EINVAL, 0);
	jobs[0] = jobs[3];
	jobs[1] = jobs[2];
	refuse(&r, jobs, 2, EINVAL, 0);
	jobs[0] = (struct drm_pumice_job){ .context = r.context, .stream = r.geometry };
	refuse(&r, jobs, 1, EINVAL, 0);
}

static void other_contexts_take_no_render_jobs(void)
{
	struct render r = fresh_render();
	u32 transfer = need_context_of(r.fx.fd, r.fx.vm, DRM_PUMICE_CONTEXT_TRANSFER);
	struct drm_pumice_job jobs[2];

	render_pair(&r, 0, jobs);
	jobs[0].context = jobs[1].context = r.fx.context;
	refuse(&r, jobs, 2, EINVAL, 0);
	jobs[0].context = jobs[1].context = transfer;
	refuse(&r, jobs, 2, EINVAL, 0);
	jobs[0] = (struct drm_pumice_job){
		.context = transfer, .stream = r.geometry, .hwrt = r.hwrt,
	};
	refuse(&r, jobs, 1, EINVAL, 0);
	jobs[0].hwrt = 0;
	jobs[0].hwrt_data = 1;
	refuse(&r, jobs, 1, EINVAL, 0);
}

static void jobs_of_a_pair_belong_together(void)
{
	struct render r = fresh_render();
	u32 context = need_context_of(r.fx.fd, r.fx.vm, DRM_PUMICE_CONTEXT_RENDER);
	u32 hwrt = need_hwrt(r.fx.fd, render_hwrt_args(r.fx.vm, r.list));
	struct drm_pumice_job jobs[2];

	render_pair(&r, 0, jobs);
	jobs[1].context = context;
	refuse(&r, jobs, 2, EINVAL, 1);
	render_pair(&r, 0, jobs);
	jobs[1].hwrt = hwrt;
	refuse(&r, jobs, 2, EINVAL, 1);
	render_pair(&r, 0, jobs);
	jobs[1].hwrt_data = 1;
	refuse(&r, jobs, 2, EINVAL, 1);
}

static void type_and_flags_are_checked(void)
{
	struct render r = fresh_render();
	struct drm_pumice_job jobs[2];
	u32 i;

	for (i = 0; i < 2; i++) {
		render_pair(&r, 0, jobs);
		jobs[i].flags = 1;
		refuse(&r, jobs, 2, EINVAL, i);
	}
	render_pair(&r, 0, jobs);
	jobs[0].type = 3;
	refuse(&r, jobs, 2, EINVAL, 0);
	jobs[0].type = UINT32_MAX;
	refuse(&r, jobs, 2, EINVAL, 0);
}

static void streams_must_be_aligned(void)
{
	struct render r = fresh_render();
	struct drm_pumice_job jobs[2];
	u32 off;

	for (off = 1; off < 4; off++) {
		render_pair(&r, 0, jobs);
		jobs[0].stream += off;
		refuse(&r, jobs, 2, EINVAL, 0);
	}
	for (off = 1; off < 16; off++) {
		render_pair(&r, 0, jobs);
		jobs[1].stream += off;
		refuse(&r, jobs, 2, EINVAL, 1);
	}
}

static void data_set_must_be_the_files_and_the_vms(void)
{
	struct render r = fresh_render(), other = render_open();
	u32 vm = need_vm(r.fx.fd);
	u32 list = need_free_list(r.fx.fd, render_list_args(vm));
	u32 hwrt = need_hwrt(r.fx.fd, render_hwrt_args(vm, list));
	struct drm_pumice_job jobs[2];
	u32 foreign = need_hwrt(other.fx.fd, render_hwrt_args(other.fx.vm, other.list));

	foreign = need_hwrt(other.fx.fd, render_hwrt_args(other.fx.vm, other.list)) + foreign;
	render_pair(&r, 0, jobs);
	jobs[0].hwrt = 0;
	refuse(&r, jobs, 2, ENOENT, 0);
	jobs[0].hwrt = NO_HANDLE;
	refuse(&r, jobs, 2, ENOENT, 0);
	jobs[0].hwrt = foreign;
	refuse(&r, jobs, 2, ENOENT, 0);
	jobs[0].hwrt = hwrt;
	refuse(&r, jobs, 2, EINVAL, 0);
	render_pair(&r, DRM_PUMICE_HWRT_DATA, jobs);
	refuse(&r, jobs, 2, EINVAL, 0);
	render_pair(&r, 0, jobs);
	jobs[1].hwrt = NO_HANDLE;
	refuse(&r, jobs, 2, ENOENT, 1);
}

static void many_pairs_in_one_call_run_in_order(void)
{
	struct drm_pumice_job jobs[DRM_PUMICE_MAX_JOBS];
	struct render r = fresh_render();
	struct drm_pumice_job_get_result a, b;
	u32 i;

	for (i = 0; i < DRM_PUMICE_MAX_JOBS; i += 2)
		render_pair(&r, i / 2 % DRM_PUMICE_HWRT_DATA, jobs + i);
	CHECK_OK(gpu_submit(r.fx.fd, jobs, DRM_PUMICE_MAX_JOBS, NULL));
	CHECK_EQUAL(render_run(&r, 0, r.geometry, r.fragment), 1);
	/* The results of the last are kept. */
	for (i = 6; i < DRM_PUMICE_MAX_JOBS; i += 2) {
		CHECK_OK(gpu_job_result(r.fx.fd, r.context, i + 1, &a));
		CHECK_OK(gpu_job_result(r.fx.fd, r.context, i + 2, &b));
		CHECK_EQUAL(a.error, 0);
		CHECK_EQUAL(b.error, 0);
		/* The fragment job follows its geometry job, which waits for its scene. */
		CHECK(b.start >= a.end);
		CHECK_OK(gpu_job_result(r.fx.fd, r.context, i - 2, &b));
		CHECK(a.start >= b.end);
	}
}

/* More than fit into the fragment queue's ring: geometry jobs wait for space. */
static void many_pairs_in_flight_end(void)
{
	struct drm_pumice_job jobs[DRM_PUMICE_MAX_JOBS];
	struct render r = fresh_render();
	u32 i, round;

	fx_block(&r.fx);
	for (round = 0; round < 16; round++) {
		struct drm_pumice_sync wait = wait_for(r.fx.sync, 0);

		for (i = 0; i < DRM_PUMICE_MAX_JOBS; i += 2)
			render_pair(&r, i / 2 % DRM_PUMICE_HWRT_DATA, jobs + i);
		jobs[1].syncs = (struct drm_pumice_array)ARRAY_OF(&wait, 1);
		CHECK_OK(gpu_submit(r.fx.fd, jobs, DRM_PUMICE_MAX_JOBS, NULL));
	}
	CHECK_EQUAL(need_state(r.fx.fd, r.context).jobs_done, 0);
	CHECK_OK(gpu_context_destroy(r.fx.fd, r.fx.context));
	CHECK_EQUAL(render_run(&r, 0, r.geometry, r.fragment), 1);
	CHECK_EQUAL(need_state(r.fx.fd, r.context).jobs_done, 16 * DRM_PUMICE_MAX_JOBS + 2);
	CHECK_EQUAL(need_state(r.fx.fd, r.context).jobs_faulted, 0);
}

/* The fence of a fragment job implies its geometry job: both have been counted. */
static void fence_of_a_pair_is_the_end_of_both_jobs(void)
{
	struct drm_pumice_job jobs[DRM_PUMICE_MAX_JOBS];
	struct drm_pumice_sync done[DRM_PUMICE_MAX_JOBS / 2];
	struct render r = fresh_render();
	u32 round, i, jobs_before;

	for (i = 0; i < DRM_PUMICE_MAX_JOBS / 2; i++) {
		done[i] = then_signal(need_sync(r.fx.fd), 0);
		render_pair(&r, i % DRM_PUMICE_HWRT_DATA, jobs + 2 * i);
		jobs[2 * i + 1].syncs = (struct drm_pumice_array)ARRAY_OF(&done[i], 1);
	}
	for (round = 0; round < ROUNDS; round++) {
		jobs_before = round * DRM_PUMICE_MAX_JOBS;
		CHECK_OK(gpu_submit(r.fx.fd, jobs, DRM_PUMICE_MAX_JOBS, NULL));
		for (i = 0; i < DRM_PUMICE_MAX_JOBS / 2; i++) {
			need_wait(r.fx.fd, done[i].handle, 0);
			CHECK(need_state(r.fx.fd, r.context).jobs_done >=
			      jobs_before + 2 * (i + 1));
		}
	}
}

/*
 * Submit a pair whose job @waiting waits for an endless job of the fixture's context, which
 * is submitted too. Return: the syncobj that job @ending signals.
 */
static u32 submit_held(struct render *r, u32 waiting, u32 ending)
{
	struct drm_pumice_sync syncs[2] = { then_signal(need_sync(r->fx.fd), 0) };
	struct drm_pumice_job jobs[2];

	fx_block(&r->fx);
	syncs[1] = wait_for(r->fx.sync, 0);
	render_pair(r, 0, jobs);
	jobs[waiting].syncs = (struct drm_pumice_array)ARRAY_OF(syncs + 1, 1);
	jobs[ending].syncs = (struct drm_pumice_array)ARRAY_OF(syncs, 1 + (waiting == ending));
	CHECK_OK(gpu_submit(r->fx.fd, jobs, 2, NULL));
	return syncs[0].handle;
}

/* The geometry job is not started while its fragment job must wait. */
static void geometry_waits_for_the_dependencies_of_its_fragment_job(void)
{
	struct render r = fresh_render();
	u32 done = submit_held(&r, 1, 0);

	need_in_flight(3);
	CHECK(sync_is_pending(r.fx.fd, done, 0));
	CHECK_OK(gpu_context_destroy(r.fx.fd, r.fx.context));
	need_wait(r.fx.fd, done, 0);
	CHECK_EQUAL(sync_status(r.fx.fd, done, 0), 1);
}

static void compute_sees_results_of_earlier_jobs(void)
{
	struct render r = fresh_render();
	struct drm_pumice_sync signal = then_signal(need_sync(r.fx.fd), 0), wait;
	struct drm_pumice_job jobs[3];

	wait = wait_for(signal.handle, 0);
	render_pair(&r, 0, jobs);
	jobs[1].syncs = (struct drm_pumice_array)ARRAY_OF(&signal, 1);
	jobs[2] = (struct drm_pumice_job){
		.context = r.fx.context, .stream = fx_store_stream(&r.fx, r.fx.data.va, 7),
		.syncs = ARRAY_OF(&wait, 1),
	};
	CHECK_OK(gpu_submit(r.fx.fd, jobs, 3, NULL));
	CHECK_EQUAL(fx_run(&r.fx, fx_empty_stream(&r.fx)), 1);
	fx_check_words(r.fx.data.cpu, 7);
}

static void unbound_streams_fault_and_the_context_continues(void)
{
	struct render r = fresh_render();
	struct drm_pumice_job_get_result result;

	CHECK_EQUAL(render_run(&r, 0, FX_FREE, r.fragment), -EIO);
	CHECK_OK(gpu_job_result(r.fx.fd, r.context, 1, &result));
	CHECK_EQUAL(result.error, -EIO);
	CHECK_EQUAL(result.fault_va, FX_FREE);
	CHECK_OK(gpu_job_result(r.fx.fd, r.context, 2, &result));
	CHECK_EQUAL(result.fault, PUMICE_FAULT_PM_NO_SCENE);
	CHECK(need_state(r.fx.fd, r.context).state & DRM_PUMICE_CONTEXT_FAULTED);
	render_check_works(&r);
	CHECK_EQUAL(render_run(&r, 0, r.geometry, FX_FREE), -EIO);
	CHECK_OK(gpu_job_result(r.fx.fd, r.context, 8, &result));
	CHECK_EQUAL(result.error, -EIO);
	CHECK_EQUAL(result.fault_va, FX_FREE);
	render_check_works(&r);
	fx_check_works(&r.fx);
}

/* For any words in a stream and a record, the job ends, and others continue. */
static void arbitrary_jobs_end(void)
{
	struct render r = fresh_render();
	u32 words[32], i, round, seed = 1;

	for (round = 0; round < 60; round++) {
		u64 at;

		for (i = 0; i < 32; i++) {
			seed = seed * 1664525u + 1013904223u;
			words[i] = round % 2 ? seed : seed & 0x0fffffffu;
		}
		at = fx_place(&r.fx, words, 32);
		if (round % 3)
			CHECK(render_run(&r, round % 2, at, r.fragment) != 0);
		else
			CHECK(render_run(&r, round % 2, r.geometry, at) != 0);
	}
	render_check_works(&r);
	fx_check_works(&r.fx);
}

static void scene_of_another_size_or_context_is_new(void)
{
	struct render a = fresh_render(), b = a;

	b.context = need_context_of(a.fx.fd, a.fx.vm, DRM_PUMICE_CONTEXT_RENDER);
	render_check_works(&a);
	render_check_works(&b);
	CHECK_OK(gpu_context_destroy(a.fx.fd, a.context));
	render_check_works(&b);
}

static void endless_geometry_costs_its_context(void)
{
	struct render r = fresh_render(), next;
	long usual = module_parameter("job_timeout_ms");
	struct drm_pumice_sync first, second;
	struct drm_pumice_job jobs[2];

	CHECK_OK(set_module_parameter("job_timeout_ms", 500));
	next = render_on(&r.fx);
	CHECK_OK(set_module_parameter("job_timeout_ms", usual));
	first = then_signal(need_sync(r.fx.fd), 0);
	second = then_signal(need_sync(r.fx.fd), 0);
	render_pair(&next, 0, jobs);
	jobs[0].stream = geometry_loop_stream(&next.fx);
	jobs[0].syncs = (struct drm_pumice_array)ARRAY_OF(&first, 1);
	jobs[1].syncs = (struct drm_pumice_array)ARRAY_OF(&second, 1);
	CHECK_OK(gpu_submit(r.fx.fd, jobs, 2, NULL));
	need_wait(r.fx.fd, first.handle, 0);
	need_wait(r.fx.fd, second.handle, 0);
	CHECK_EQUAL(sync_status(r.fx.fd, first.handle, 0), -ETIMEDOUT);
	CHECK_EQUAL(sync_status(r.fx.fd, second.handle, 0), -ECANCELED);
	CHECK(need_state(r.fx.fd, next.context).state & DRM_PUMICE_CONTEXT_GUILTY);
	CHECK_ERROR(gpu_submit(r.fx.fd, jobs, 2, NULL), EIO);
	render_check_works(&r);
}

static void context_destroyed_while_busy_ends_both_jobs(void)
{
	struct render r = fresh_render();
	u32 i;

	fx_block(&r.fx);
	for (i = 0; i < 20; i++) {
		struct drm_pumice_sync wait = wait_for(r.fx.sync, 0);
		struct drm_pumice_sync done = then_signal(need_sync(r.fx.fd), 0);
		u32 context = need_context_of(r.fx.fd, r.fx.vm, DRM_PUMICE_CONTEXT_RENDER);
		struct drm_pumice_job jobs[2];

		render_pair(&r, i % 2, jobs);
		jobs[0].context = jobs[1].context = context;
		jobs[i / 2 % 2].syncs = (struct drm_pumice_array)ARRAY_OF(&wait, 1);
		CHECK_OK(gpu_submit(r.fx.fd, jobs, 2, NULL));
		render_pair(&r, i % 2, jobs);
		jobs[0].context = jobs[1].context = context;
		jobs[1].syncs = (struct drm_pumice_array)ARRAY_OF(&done, 1);
		CHECK_OK(gpu_submit(r.fx.fd, jobs, 2, NULL));
		CHECK_OK(gpu_context_destroy(r.fx.fd, context));
		need_wait(r.fx.fd, done.handle, 0);
		CHECK_EQUAL(sync_status(r.fx.fd, done.handle, 0), -ECANCELED);
	}
	CHECK_OK(gpu_context_destroy(r.fx.fd, r.fx.context));
	render_check_works(&r);
}

static void objects_destroyed_under_a_job_stay_for_it(void)
{
	struct render r = fresh_render();
	u32 done = submit_held(&r, 0, 1);

	CHECK_OK(gpu_hwrt_destroy(r.fx.fd, r.hwrt));
	CHECK_OK(gpu_free_list_destroy(r.fx.fd, r.list));
	CHECK_EQUAL(need_counts().free_lists, 1);
	CHECK_EQUAL(need_counts().hwrts, 1);
	CHECK_OK(gpu_context_destroy(r.fx.fd, r.fx.context));
	need_wait(r.fx.fd, done, 0);
	CHECK_EQUAL(sync_status(r.fx.fd, done, 0), 1);
}

static void leave_all(void)
{
	struct render r = fresh_render();
	u32 i;

	fx_block(&r.fx);
	for (i = 0; i < 50; i++)
		render_submit(&r, i % 2, r.geometry, r.fragment);
}

static void process_that_exits_leaves_nothing(void)
{
	pid_t pid = fork();

	if (!pid) {
		leave_all();
		_exit(0);
	}
	need_nothing_left();
}

static void gpu_reset_reinitializes_scenes_and_lists(void)
{
	struct render r = fresh_render();

	render_check_works(&r);
	need_flr();
	render_check_works(&r);
}

static void context_whose_job_runs_is_innocent_of_a_reset(void)
{
	struct render r = fresh_render(), next;
	struct drm_pumice_job jobs[2];

	render_block(&r);
	need_flr();
	CHECK_EQUAL(fx_wait(&r.fx), -ECANCELED);
	CHECK(need_state(r.fx.fd, r.context).state & DRM_PUMICE_CONTEXT_INNOCENT);
	render_pair(&r, 0, jobs);
	CHECK_ERROR(gpu_submit(r.fx.fd, jobs, 2, NULL), EIO);
	next = render_on(&r.fx);
	render_check_works(&next);
}

static const struct test_case cases[] = {
	TEST_CASE(pair_that_is_right_runs),
	TEST_CASE(render_context_takes_pairs_only),
	TEST_CASE(other_contexts_take_no_render_jobs),
	TEST_CASE(jobs_of_a_pair_belong_together),
	TEST_CASE(type_and_flags_are_checked),
	TEST_CASE(streams_must_be_aligned),
	TEST_CASE(data_set_must_be_the_files_and_the_vms),
	TEST_CASE(many_pairs_in_one_call_run_in_order),
	TEST_CASE(many_pairs_in_flight_end),
	TEST_CASE(fence_of_a_pair_is_the_end_of_both_jobs),
	TEST_CASE(geometry_waits_for_the_dependencies_of_its_fragment_job),
	TEST_CASE(compute_sees_results_of_earlier_jobs),
	TEST_CASE(unbound_streams_fault_and_the_context_continues),
	TEST_CASE(arbitrary_jobs_end),
	TEST_CASE(scene_of_another_size_or_context_is_new),
	TEST_CASE(endless_geometry_costs_its_context),
	TEST_CASE(context_destroyed_while_busy_ends_both_jobs),
	TEST_CASE(objects_destroyed_under_a_job_stay_for_it),
	TEST_CASE(process_that_exits_leaves_nothing),
	TEST_CASE(gpu_reset_reinitializes_scenes_and_lists),
	TEST_CASE(context_whose_job_runs_is_innocent_of_a_reset),
};

TEST_MAIN(cases)
