// SPDX-License-Identifier: MIT
/*
 * Free lists and data sets in process: lists that grow while a scene is binned, a
 * second list, no memory at all, and contexts that are killed meanwhile. A scene that
 * needs many pages is drawn each time, and must equal the picture with enough pages. All of
 * this with lists that the driver maps, and with those whose page tables the GPU keeps.
 */
#include <errno.h>
#include <stdio.h>

#include "scene.h"

#define SEED	1000015u	/* one that needs many pages */
#define TIMES	100u		/* instances: as many times the primitives */
#define ENOUGH	8192u		/* pages */
#define FEW	20u

#define RANDOM	200u	/* scenes that are drawn with both kinds of lists */

static struct scene scene;
static struct picture right, now;
static bool gpu_tables;		/* the GPU keeps the page tables of lists */

static void make_scene(uint32_t times)
{
	uint32_t i;

	scene_make(&scene, SEED);
	for (i = 0; i < scene.draws; i++)
		scene.draw[i].instances *= times;
}

static int draw_right(void **state)
{
	struct fixture fx;

	(void)state;
	fx_open(&fx, "cores=1,threads=0", ENOUGH);
	make_scene(TIMES);
	scene_draw_gpu(&fx, &scene, &right);
	assert_int_equal(fx_partials(&fx), 0);
	fx_close(&fx);
	return 0;
}

static void assert_right(void)
{
	assert_memory_equal(now.colour, right.colour, sizeof(now.colour));
	assert_memory_equal(now.depth, right.depth, sizeof(now.depth));
	assert_memory_equal(now.visible, right.visible, sizeof(now.visible));
}

static void create_list(struct fixture *fx, const struct pumice_freelist_desc *desc,
			struct pumice_freelist **list)
{
	fx_check(fx, "free list", gpu_tables ?
		 pumice_freelist_create_gpu_tables(fx->vm, desc, list) :
		 pumice_freelist_create(fx->vm, desc, list));
}

/* Replace the fixture's list. */
static void set_list(struct fixture *fx, const struct pumice_freelist_desc *desc)
{
	pumice_freelist_destroy(fx->list);
	create_list(fx, desc, &fx->list);
}

static const char *const devices[] = { "cores=1,threads=0", "cores=4,threads=2" };

/* On each device, of a list that is large enough in the end: in one render. */
static void draw_without_partials(const struct pumice_freelist_desc *desc)
{
	struct fixture fx;
	uint32_t i;

	for (i = 0; i < 2; i++) {
		fx_open(&fx, devices[i], 1);
		set_list(&fx, desc);
		scene_draw_gpu(&fx, &scene, &now);
		assert_right();
		assert_int_equal(fx_partials(&fx), 0);
		fx_close(&fx);
	}
}

static void a_list_grows_in_time_and_nothing_is_rendered_before_the_end(void **state)
{
	const struct pumice_freelist_desc desc = {
		.initial_pages = 40, .max_pages = ENOUGH, .grow_pages = 20, .threshold = 50,
	};

	(void)state;
	draw_without_partials(&desc);
}

/* Without a threshold pages are requested when the list is empty: the job stalls. */
static void an_empty_list_grows_by_a_page_at_a_time(void **state)
{
	const struct pumice_freelist_desc desc = {
		.initial_pages = gpu_tables ? 3 : 1, .max_pages = ENOUGH, .grow_pages = 1,
	};

	(void)state;
	draw_without_partials(&desc);
}

static struct pumice_device_stats stats_of(struct fixture *fx)
{
	struct pumice_device_stats stats;

	fx_check(fx, "statistics", pumice_device_stats(fx->dev, &stats, sizeof(stats)));
	return stats;
}

static uint32_t partials_of(struct fixture *fx, uint64_t job)
{
	struct pumice_job_result r;

	fx_check(fx, "result", pumice_context_get_job_result(fx->context, job, &r, sizeof(r)));
	return r.partial_renders;
}

static void a_list_at_its_maximum_is_used_with_partial_renders(void **state)
{
	const struct pumice_freelist_desc desc = {
		.initial_pages = FEW, .max_pages = 2 * FEW, .grow_pages = 5, .threshold = 90,
	};
	struct pumice_device_stats stats;
	struct fixture fx;

	(void)state;
	fx_open(&fx, devices[0], 1);
	set_list(&fx, &desc);
	scene_draw_gpu(&fx, &scene, &now);
	assert_right();
	stats = stats_of(&fx);
	assert_true(stats.partial_renders > 0);
	assert_int_equal(fx_partials(&fx), stats.partial_renders);
	assert_int_equal(partials_of(&fx, 1), stats.partial_renders);
	assert_int_equal(partials_of(&fx, 2), 0);
	assert_true(stats.geometry_busy && stats.fragment_busy);
	assert_int_equal(stats.compute_busy + stats.transfer_busy, 0);
	/* Nothing was lost: again, and again with the same pages. */
	scene_draw_gpu(&fx, &scene, &now);
	assert_right();
	assert_int_equal(partials_of(&fx, 3), stats_of(&fx).partial_renders -
			 stats.partial_renders);
	fx_close(&fx);
}

/* Create the frame's data set again, with these lists. */
static void set_lists(struct fixture *fx, struct scene_frame *f, struct pumice_freelist *local,
		      struct pumice_freelist *global, uint32_t spill_outputs)
{
	const struct pumice_hwrt_desc set = {
		.width = scene.width, .height = scene.height, .samples = scene.samples,
		.tile_size = scene.tile_size, .local = local, .global = global,
		.spill_outputs = spill_outputs,
	};

	pumice_hwrt_destroy(f->frame.hwrt);
	fx_check(fx, "data set", pumice_hwrt_create(fx->vm, &set, &f->frame.hwrt));
}

static void the_global_list_serves_when_the_local_one_is_empty(void **state)
{
	const struct pumice_freelist_desc desc = { .initial_pages = FEW, .max_pages = FEW };
	struct pumice_freelist *local;
	const struct pumice_image_part part = { 0 };
	struct scene_frame f;
	struct fixture fx;

	(void)state;
	fx_open(&fx, devices[0], ENOUGH);
	create_list(&fx, &desc, &local);
	scene_put(&fx, &scene, &f);
	set_lists(&fx, &f, local, fx.list, 0);
	fx_check(&fx, "render", pumice_render(fx.context, &f.frame, LONG, NULL));
	memset(&now, 0, sizeof(now));
	assert_int_equal(partials_of(&fx, 1) + partials_of(&fx, 2), 0);
	fx_check(&fx, "read", pumice_image_download(f.image[0], part, now.colour, 0));
	assert_memory_equal(now.colour, right.colour, sizeof(now.colour));
	assert_int_equal(fx_partials(&fx), 0);
	scene_free(&f);
	pumice_freelist_destroy(local);
	fx_close(&fx);
}

static void without_pages_and_memory_for_partial_renders_the_job_faults_alone(void **state)
{
	const struct pumice_freelist_desc desc = { .initial_pages = FEW, .max_pages = FEW };
	struct pumice_job_result result;
	struct scene_frame f;
	struct fixture fx;

	(void)state;
	fx_open(&fx, devices[0], 1);
	set_list(&fx, &desc);
	pumice_stream_reset(fx.stream);
	scene_put(&fx, &scene, &f);
	set_lists(&fx, &f, fx.list, NULL, 0);
	assert_int_equal(pumice_render(fx.context, &f.frame, LONG, NULL), -EIO);
	fx_check(&fx, "result",
		 pumice_context_get_job_result(fx.context, 1, &result, sizeof(result)));
	assert_int_equal(result.fault, PUMICE_FAULT_PM_MEMORY);
	fx_check(&fx, "result",
		 pumice_context_get_job_result(fx.context, 2, &result, sizeof(result)));
	assert_int_equal(result.fault, PUMICE_FAULT_PM_NO_SCENE);
	/* The same frame, with memory for partial renders. */
	set_lists(&fx, &f, fx.list, NULL, SCENE_OUTPUTS);
	assert_int_equal(pumice_render(fx.context, &f.frame, LONG, NULL), 0);
	assert_true(fx_partials(&fx) > 0);
	scene_free(&f);
	fx_close(&fx);
}

/* Random scenes, some of which share a list, and some of which have partial renders. */
static void scenes_are_the_same_with_page_tables_of_the_gpu(void **state)
{
	const struct pumice_freelist_desc few = { .initial_pages = 2 * FEW, .max_pages = 2 * FEW };
	const struct pumice_freelist_desc many = { .initial_pages = 2048, .max_pages = 2048 };
	static struct picture first;
	struct fixture fx;
	uint32_t i;

	(void)state;
	fx_open(&fx, devices[1], 2048);
	for (i = 0; i < RANDOM; i++) {
		scene_make(&scene, i + 1);
		gpu_tables = false;
		set_list(&fx, i % 3 ? &many : &few);
		scene_draw_gpu(&fx, &scene, &first);
		gpu_tables = true;
		set_list(&fx, i % 3 ? &many : &few);
		scene_draw_gpu(&fx, &scene, &now);
		assert_memory_equal(now.colour, first.colour, sizeof(now.colour));
		assert_memory_equal(now.depth, first.depth, sizeof(now.depth));
		assert_memory_equal(now.stencil, first.stencil, sizeof(now.stencil));
		assert_memory_equal(now.visible, first.visible, sizeof(now.visible));
	}
	fx_close(&fx);
}

/* Frames of a context that is killed at once are CANCELED; those of another are drawn. */
static void a_killed_context_does_not_affect_pages_or_other_contexts(void **state)
{
	const struct pumice_freelist_desc desc = { .initial_pages = ENOUGH, .max_pages = ENOUGH };
	struct pumice_context *victim;
	struct pumice_gfx_job jobs[2];
	struct pumice_job_result result;
	struct scene_frame f;
	struct fixture fx;
	uint32_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		fx_open(&fx, devices[i], 1);
		set_list(&fx, &desc);
		fx_check(&fx, "context",
			 pumice_context_create_type(fx.vm, PUMICE_CONTEXT_RENDER,
						    PUMICE_PRIORITY_NORMAL, &victim));
		pumice_stream_reset(fx.stream);
		scene_put(&fx, &scene, &f);
		jobs[0] = (struct pumice_gfx_job){
			.context = victim, .stream = f.frame.geometry,
			.type = PUMICE_JOB_GEOMETRY, .hwrt = f.frame.hwrt,
		};
		jobs[1] = jobs[0];
		jobs[1].type = PUMICE_JOB_FRAGMENT;
		jobs[1].stream = f.frame.render;
		fx_check(&fx, "submit", pumice_submit_gfx(fx.dev, jobs, 2, NULL));
		fx_check(&fx, "kill", pumice_context_kill(victim));
		fx_check(&fx, "result", pumice_context_get_job_result(victim, 2, &result,
									 sizeof(result)));
		assert_true(result.error == -ECANCELED || !result.error);
		assert_int_equal(pumice_submit_gfx(fx.dev, jobs, 2, NULL), -EIO);
		/* The scene of the killed job is used again, by the other context. */
		fx_check(&fx, "render", pumice_render(fx.context, &f.frame, LONG, NULL));
		scene_free(&f);
		scene_draw_gpu(&fx, &scene, &now);
		assert_right();
		pumice_context_destroy(victim);
		fx_close(&fx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_grows_in_time_and_nothing_is_rendered_before_the_end),
		cmocka_unit_test(an_empty_list_grows_by_a_page_at_a_time),
		cmocka_unit_test(a_list_at_its_maximum_is_used_with_partial_renders),
		cmocka_unit_test(the_global_list_serves_when_the_local_one_is_empty),
		cmocka_unit_test(without_pages_and_memory_for_partial_renders_the_job_faults_alone),
		cmocka_unit_test(a_killed_context_does_not_affect_pages_or_other_contexts),
	};

	const struct CMUnitTest same[] = {
		cmocka_unit_test(scenes_are_the_same_with_page_tables_of_the_gpu),
	};
	int failed = cmocka_run_group_tests_name("free lists", tests, draw_right, NULL);

	gpu_tables = true;
	failed += cmocka_run_group_tests_name("page tables of the GPU", tests, draw_right, NULL);
	return failed + cmocka_run_group_tests_name("both", same, NULL, NULL);
}
