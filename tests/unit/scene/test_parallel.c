// SPDX-License-Identifier: MIT
/*
 * Parallel execution: the geometry of a frame in parallel with the fragments of the previous
 * one, compute and transfers in parallel with both. Measured by the GPU's own clock; without
 * threads the order of all events depends on the jobs only.
 */
#include <stdlib.h>

#include "scene.h"

#define BYTES	(8u << 20)

static struct scene scene;
static struct fixture fx;
static struct scene_frame frame;

static int open_fixture(void **state)
{
	(void)state;
	fx_open(&fx, "cores=2,threads=0", 2048);
	scene_make(&scene, 5);
	pumice_stream_reset(fx.stream);
	scene_put(&fx, &scene, &frame);
	return 0;
}

static int close_fixture(void **state)
{
	(void)state;
	scene_free(&frame);
	fx_close(&fx);
	return 0;
}

/* Both jobs of a frame into one scene of the data set. */
static void add_frame(struct pumice_gfx_job *jobs, uint32_t scene_number,
		      const struct pumice_job_sync *signal)
{
	jobs[0] = (struct pumice_gfx_job){
		.context = fx.context, .stream = frame.frame.geometry,
		.type = PUMICE_JOB_GEOMETRY, .hwrt = frame.frame.hwrt, .hwrt_data = scene_number,
	};
	jobs[1] = (struct pumice_gfx_job){
		.context = fx.context, .stream = frame.frame.render,
		.type = PUMICE_JOB_FRAGMENT, .hwrt = frame.frame.hwrt, .hwrt_data = scene_number,
		.syncs = signal, .sync_count = signal ? 1 : 0,
	};
}

static struct pumice_job_result result_of(struct pumice_context *context, uint64_t job)
{
	struct pumice_job_result r;

	fx_check(&fx, "result", pumice_context_get_job_result(context, job, &r, sizeof(r)));
	assert_int_equal(r.error, 0);
	return r;
}

static bool overlap(const struct pumice_job_result *a, const struct pumice_job_result *b)
{
	return a->start < b->end && b->start < a->end;
}

static void wait_for(struct pumice_sync *sync)
{
	const struct pumice_wait wait = { .sync = sync };

	fx_check(&fx, "wait", pumice_sync_wait(&wait, 1, 0, LONG));
}

static void geometry_runs_in_parallel_with_fragments_of_the_previous_frame(void **state)
{
	const uint64_t first = pumice_context_jobs(fx.context) + 1;
	struct pumice_job_result geometry[4], fragment[4];
	struct pumice_gfx_job jobs[8];
	struct pumice_job_sync signal = { .signal = true };
	uint32_t i;

	(void)state;
	fx_check(&fx, "sync", pumice_sync_create(fx.dev, 0, &signal.sync));
	for (i = 0; i < 4; i++)
		add_frame(&jobs[i * 2], i % 2, i == 3 ? &signal : NULL);
	fx_check(&fx, "submit", pumice_submit_gfx(fx.dev, jobs, 8, NULL));
	wait_for(signal.sync);
	for (i = 0; i < 4; i++) {
		geometry[i] = result_of(fx.context, first + i * 2);
		fragment[i] = result_of(fx.context, first + i * 2 + 1);
		assert_true(geometry[i].end <= fragment[i].start);
	}
	assert_true(overlap(&geometry[1], &fragment[0]));
	/* A scene is not binned again before it has been rendered. */
	for (i = 2; i < 4; i++)
		assert_true(geometry[i].start >= fragment[i - 2].end);
	pumice_sync_destroy(signal.sync);
}

/* A long compute job. */
static uint64_t put_loop(struct pumice_stream *stream, struct pumice_kernel **kernel)
{
	static const char text[] =
		".group 32\nmov r0[0], 200000\nagain:\nadd.f32 r1, r1, 1.0\n"
		"sub.u32 r0[0], r0[0], 1\nbrnz again, r0[0]\nend\n";
	struct pumice_dispatch dispatch = { .groups = { 1, 1, 1 } };
	uint64_t va;

	*kernel = fx_kernel(&fx, text);
	dispatch.kernel = *kernel;
	fx_check(&fx, "dispatch", pumice_stream_dispatch(stream, &dispatch));
	fx_check(&fx, "stream", pumice_stream_end(stream, &va));
	return va;
}

static void compute_and_transfers_run_in_parallel_with_a_frame(void **state)
{
	const uint64_t first = pumice_context_jobs(fx.context) + 1;
	struct pumice_context *compute, *transfer;
	struct pumice_stream *loop, *copy;
	struct pumice_job_result geometry, fragment, looped, copied;
	struct pumice_job_sync signal[3];
	struct pumice_gfx_job jobs[4] = { 0 };
	struct fx_buffer memory;
	struct pumice_kernel *kernel;
	uint32_t i;

	(void)state;
	fx_check(&fx, "context", pumice_context_create(fx.vm, PUMICE_PRIORITY_NORMAL, &compute));
	fx_check(&fx, "context",
		 pumice_context_create_type(fx.vm, PUMICE_CONTEXT_TRANSFER,
					    PUMICE_PRIORITY_NORMAL, &transfer));
	fx_check(&fx, "stream", pumice_stream_create(fx.vm, 65536, &loop));
	fx_check(&fx, "stream", pumice_stream_create(fx.vm, 65536, &copy));
	fx_buffer(&fx, 2 * BYTES, &memory);
	for (i = 0; i < 3; i++) {
		signal[i] = (struct pumice_job_sync){ .signal = true };
		fx_check(&fx, "sync", pumice_sync_create(fx.dev, 0, &signal[i].sync));
	}
	fx_check(&fx, "copy", pumice_stream_copy(copy, &(struct pumice_tdm_copy){
		.src = memory.va, .dst = memory.va + BYTES, .bytes = BYTES }));
	jobs[0].context = compute;
	jobs[0].stream = put_loop(loop, &kernel);
	jobs[1].context = transfer;
	fx_check(&fx, "copy", pumice_stream_tdm_end(copy, &jobs[1].stream));
	add_frame(&jobs[2], 0, &signal[2]);
	for (i = 0; i < 2; i++) {
		jobs[i].syncs = &signal[i];
		jobs[i].sync_count = 1;
	}
	fx_check(&fx, "submit", pumice_submit_gfx(fx.dev, jobs, 4, NULL));
	for (i = 0; i < 3; i++)
		wait_for(signal[i].sync);
	looped = result_of(compute, 1);
	copied = result_of(transfer, 1);
	geometry = result_of(fx.context, first);
	fragment = result_of(fx.context, first + 1);
	assert_true(overlap(&looped, &geometry));
	assert_true(overlap(&looped, &fragment));
	assert_true(overlap(&looped, &copied));
	for (i = 0; i < 3; i++)
		pumice_sync_destroy(signal[i].sync);
	fx_buffer_free(&fx, &memory);
	pumice_kernel_destroy(kernel);
	pumice_stream_destroy(copy);
	pumice_stream_destroy(loop);
	pumice_context_destroy(transfer);
	pumice_context_destroy(compute);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(geometry_runs_in_parallel_with_fragments_of_the_previous_frame),
		cmocka_unit_test(compute_and_transfers_run_in_parallel_with_a_frame),
	};

	return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
