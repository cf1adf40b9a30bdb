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
	return 0;
}

static int close_fixture(void **state)
{
	(void)state;
	fx_close(&fx);
	return 0;
}

static int open_frame(void **state)
{
	open_fixture(state);
	scene_make(&scene, 5);
	pumice_stream_reset(fx.stream);
	scene_put(&fx, &scene, &frame);
	return 0;
}

static int close_frame(void **state)
{
	scene_free(&frame);
	return close_fixture(state);
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

/* ------------------------------------------------ the two scenes of a data set */

#define LONG_FRAMES	3u

/* A scene of one triangle in the left half, or with right set in the other one. */
static void make_half(struct scene *s, bool right)
{
	struct scene_draw *d = &s->draw[0];
	uint32_t i;

	memset(s, 0, sizeof(*s));
	s->seed = 2;	/* a plain record, which is of no data set */
	s->width = s->height = 64;
	s->samples = 1;
	s->format = PUMICE_FORMAT_RGBA8_UNORM;
	s->depth_format = PUMICE_DEPTH_FORMAT_D32F;
	s->draws = 1;
	s->clear_depth = 1;
	pumice_draw_state_init(&d->state, s->width, s->height);
	d->state.vdm.varyings = SCENE_VARYINGS;
	d->topology = PUMICE_TOPOLOGY_TRIANGLES;
	d->first = right ? 3 : 0;
	d->count = 3;
	d->instances = 1;
	/* Both scenes have the vertices of both: they are in one buffer. */
	for (i = 0; i < 6; i++)
		d->vertex[i] = (struct scene_vertex){
			.position = { (float)(i / 3) - (i % 3 ? 0.9f : 0.1f),
				      i % 3 == 2 ? 0.8f : -0.8f, 0.5f, 1 },
			.colour = { 255, (uint8_t)(40 * i), 0, 255 },
		};
}

/* A scene that is rendered for longer than both others are binned. */
static void make_long(struct scene *s)
{
	uint32_t i;

	make_half(s, false);
	s->samples = 4;
	s->draws = SCENE_DRAWS;
	for (i = 1; i < SCENE_DRAWS; i++) {
		s->draw[i] = s->draw[0];
		s->draw[i].count = 6;
		s->draw[i].shading = SHADE_TEXTURE;
		s->draw[i].sample_rate = true;
	}
}

static void compare_colours(const struct scene_frame *got, const struct picture *want)
{
	const struct pumice_image_part part = { 0 };
	static float colour[64 * 64][4];

	fx_check(&fx, "read", pumice_image_download(got->image[0], part, colour, 0));
	assert_memory_equal(colour, want->colour, sizeof(colour));
}

/* Frames with streams of their own: long ones, then the two that are compared. */
#define FRAMES	(LONG_FRAMES + 2u)

struct frames {
	struct pumice_stream *stream[FRAMES];
	struct scene_frame frame[FRAMES];
};

static void put_frames(struct frames *f)
{
	struct pumice_stream *own = fx.stream;
	uint32_t i;

	for (i = 0; i < FRAMES; i++) {
		if (i < LONG_FRAMES)
			make_long(&scene);
		else
			make_half(&scene, i > LONG_FRAMES);
		fx_check(&fx, "stream", pumice_stream_create(fx.vm, 65536, &f->stream[i]));
		fx.stream = f->stream[i];
		scene_put(&fx, &scene, &f->frame[i]);
	}
	fx.stream = own;
}

static void free_frames(struct frames *f)
{
	uint32_t i;

	for (i = 0; i < FRAMES; i++) {
		scene_free(&f->frame[i]);
		pumice_stream_destroy(f->stream[i]);
	}
}

/* Submit all at once, the last two into one data set, and wait. */
static void submit_frames(const struct frames *f)
{
	struct pumice_job_sync signal = { .signal = true };
	struct pumice_gfx_job jobs[2 * FRAMES];
	uint32_t i;

	fx_check(&fx, "sync", pumice_sync_create(fx.dev, 0, &signal.sync));
	for (i = 0; i < FRAMES; i++) {
		const bool last = i == FRAMES - 1;

		frame = f->frame[i];
		if (last)
			frame.frame.hwrt = f->frame[i - 1].frame.hwrt;
		add_frame(&jobs[2 * i], last, last ? &signal : NULL);
	}
	fx_check(&fx, "submit", pumice_submit_gfx(fx.dev, jobs, 2 * FRAMES, NULL));
	wait_for(signal.sync);
	pumice_sync_destroy(signal.sync);
}

/*
 * Frame N+1 is binned into one scene while frame N, in the other one, waits to be rendered: the
 * render jobs of other data sets are before it in their queue. Both pictures are those of frames
 * alone.
 */
static void a_scene_binned_before_the_other_is_rendered_changes_nothing(void **state)
{
	static struct picture alone[2];
	struct frames f;
	uint64_t last;
	uint32_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		make_half(&scene, i);
		scene_draw_gpu(&fx, &scene, &alone[i]);
	}
	assert_memory_not_equal(alone[0].colour, alone[1].colour, 64 * 64 * 16);
	put_frames(&f);
	submit_frames(&f);
	/* Else it proves nothing. */
	last = pumice_context_jobs(fx.context);
	assert_true(result_of(fx.context, last - 1).end <= result_of(fx.context, last - 2).start);
	for (i = 0; i < 2; i++)
		compare_colours(&f.frame[LONG_FRAMES + i], &alone[i]);
	free_frames(&f);
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
		cmocka_unit_test_setup_teardown(
			geometry_runs_in_parallel_with_fragments_of_the_previous_frame,
			open_frame, close_frame),
		cmocka_unit_test_setup_teardown(
			a_scene_binned_before_the_other_is_rendered_changes_nothing, open_fixture,
			close_fixture),
		cmocka_unit_test_setup_teardown(compute_and_transfers_run_in_parallel_with_a_frame,
						open_frame, close_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
