// SPDX-License-Identifier: MIT
/*
 * Free lists and data sets in process: lists that grow while a scene is binned, a
 * second list, no memory at all, and contexts that are killed meanwhile. A scene that
 * needs many pages is drawn each time, and must equal the picture with enough pages.
 */
#include <errno.h>
#include <stdio.h>

#include "scene.h"

#define SEED	1000000u	/* one that needs many pages */
#define TIMES	100u		/* instances: as many times the primitives */
#define ENOUGH	8192u		/* pages */
#define FEW	20u

static struct scene scene;
static struct picture right, now;

static void make_scene(uint32_t times)
{
	uint32_t i;

	scene_make(&scene, SEED);
	for (i = 0; i < scene.draws; i++)
		scene.draw[i].instances *= times;
}

static int draw_right(void **state)
{
	struct rig rig;

	(void)state;
	rig_open(&rig, "cores=1,threads=0", ENOUGH);
	make_scene(TIMES);
	scene_draw_gpu(&rig, &scene, &right);
	assert_int_equal(rig_partials(&rig), 0);
	rig_close(&rig);
	return 0;
}

static void assert_right(void)
{
	assert_memory_equal(now.colour, right.colour, sizeof(now.colour));
	assert_memory_equal(now.depth, right.depth, sizeof(now.depth));
	assert_memory_equal(now.visible, right.visible, sizeof(now.visible));
}

/* Replace the fixture's list. */
static void set_list(struct rig *rig, const struct pumice_freelist_desc *desc)
{
	pumice_freelist_destroy(rig->list);
	rig_check(rig, "free list", pumice_freelist_create(rig->vm, desc, &rig->list));
}

static const char *const devices[] = { "cores=1,threads=0", "cores=4,threads=2" };

/* On each device, of a list that is large enough in the end: in one render. */
static void draw_without_partials(const struct pumice_freelist_desc *desc)
{
	struct rig rig;
	uint32_t i;

	for (i = 0; i < 2; i++) {
		rig_open(&rig, devices[i], 1);
		set_list(&rig, desc);
		scene_draw_gpu(&rig, &scene, &now);
		assert_right();
		assert_int_equal(rig_partials(&rig), 0);
		rig_close(&rig);
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
		.initial_pages = 1, .max_pages = ENOUGH, .grow_pages = 1,
	};

	(void)state;
	draw_without_partials(&desc);
}

static struct pumice_device_stats stats_of(struct rig *rig)
{
	struct pumice_device_stats stats;

	rig_check(rig, "statistics", pumice_device_stats(rig->dev, &stats, sizeof(stats)));
	return stats;
}

static uint32_t partials_of(struct rig *rig, uint64_t job)
{
	struct pumice_job_result r;

	rig_check(rig, "result", pumice_context_get_job_result(rig->context, job, &r, sizeof(r)));
	return r.partial_renders;
}

static void a_list_at_its_maximum_is_used_with_partial_renders(void **state)
{
	const struct pumice_freelist_desc desc = {
		.initial_pages = FEW, .max_pages = 2 * FEW, .grow_pages = 5, .threshold = 90,
	};
	struct pumice_device_stats stats;
	struct rig rig;

	(void)state;
	rig_open(&rig, devices[0], 1);
	set_list(&rig, &desc);
	scene_draw_gpu(&rig, &scene, &now);
	assert_right();
	stats = stats_of(&rig);
	assert_true(stats.partial_renders > 0);
	assert_int_equal(rig_partials(&rig), stats.partial_renders);
	assert_int_equal(partials_of(&rig, 1), stats.partial_renders);
	assert_int_equal(partials_of(&rig, 2), 0);
	assert_true(stats.geometry_busy && stats.fragment_busy);
	assert_int_equal(stats.compute_busy + stats.transfer_busy, 0);
	/* Nothing was lost: again, and again with the same pages. */
	scene_draw_gpu(&rig, &scene, &now);
	assert_right();
	assert_int_equal(partials_of(&rig, 3), stats_of(&rig).partial_renders -
			 stats.partial_renders);
	rig_close(&rig);
}

/* Create the frame's data set again, with these lists. */
static void set_lists(struct rig *rig, struct scene_frame *f, struct pumice_freelist *local,
		      struct pumice_freelist *global, uint32_t spill_outputs)
{
	const struct pumice_hwrt_desc set = {
		.width = scene.width, .height = scene.height, .samples = scene.samples,
		.tile_size = scene.tile_size, .local = local, .global = global,
		.spill_outputs = spill_outputs,
	};

	pumice_hwrt_destroy(f->frame.hwrt);
	rig_check(rig, "data set", pumice_hwrt_create(rig->vm, &set, &f->frame.hwrt));
}

static void the_global_list_serves_when_the_local_one_is_empty(void **state)
{
	const struct pumice_freelist_desc desc = { .initial_pages = FEW, .max_pages = FEW };
	struct pumice_freelist *local;
	const struct pumice_image_part part = { 0 };
	struct scene_frame f;
	struct rig rig;

	(void)state;
	rig_open(&rig, devices[0], ENOUGH);
	rig_check(&rig, "free list", pumice_freelist_create(rig.vm, &desc, &local));
	scene_put(&rig, &scene, &f);
	set_lists(&rig, &f, local, rig.list, 0);
	rig_check(&rig, "render", pumice_render(rig.context, &f.frame, LONG, NULL));
	memset(&now, 0, sizeof(now));
	assert_int_equal(partials_of(&rig, 1) + partials_of(&rig, 2), 0);
	rig_check(&rig, "read", pumice_image_download(f.image[0], part, now.colour, 0));
	assert_memory_equal(now.colour, right.colour, sizeof(now.colour));
	assert_int_equal(rig_partials(&rig), 0);
	scene_free(&f);
	pumice_freelist_destroy(local);
	rig_close(&rig);
}

static void without_pages_and_memory_for_partial_renders_the_job_faults_alone(void **state)
{
	const struct pumice_freelist_desc desc = { .initial_pages = FEW, .max_pages = FEW };
	struct pumice_job_result result;
	struct scene_frame f;
	struct rig rig;

	(void)state;
	rig_open(&rig, devices[0], 1);
	set_list(&rig, &desc);
	pumice_stream_reset(rig.stream);
	scene_put(&rig, &scene, &f);
	set_lists(&rig, &f, rig.list, NULL, 0);
	assert_int_equal(pumice_render(rig.context, &f.frame, LONG, NULL), -EIO);
	rig_check(&rig, "result",
		  pumice_context_get_job_result(rig.context, 1, &result, sizeof(result)));
	assert_int_equal(result.fault, PUMICE_FAULT_PM_MEMORY);
	rig_check(&rig, "result",
		  pumice_context_get_job_result(rig.context, 2, &result, sizeof(result)));
	assert_int_equal(result.fault, PUMICE_FAULT_PM_NO_SCENE);
	/* The same frame, with memory for partial renders. */
	set_lists(&rig, &f, rig.list, NULL, SCENE_OUTPUTS);
	assert_int_equal(pumice_render(rig.context, &f.frame, LONG, NULL), 0);
	assert_true(rig_partials(&rig) > 0);
	scene_free(&f);
	rig_close(&rig);
}

/* Frames of a context that is killed at once are CANCELED; those of another are drawn. */
static void a_killed_context_does_not_affect_pages_or_other_contexts(void **state)
{
	struct pumice_context *victim;
	struct pumice_gfx_job jobs[2];
	struct pumice_job_result result;
	struct scene_frame f;
	struct rig rig;
	uint32_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		rig_open(&rig, devices[i], ENOUGH);
		rig_check(&rig, "context",
			  pumice_context_create_type(rig.vm, PUMICE_CONTEXT_RENDER,
						     PUMICE_PRIORITY_NORMAL, &victim));
		pumice_stream_reset(rig.stream);
		scene_put(&rig, &scene, &f);
		jobs[0] = (struct pumice_gfx_job){
			.context = victim, .stream = f.frame.geometry,
			.type = PUMICE_JOB_GEOMETRY, .hwrt = f.frame.hwrt,
		};
		jobs[1] = jobs[0];
		jobs[1].type = PUMICE_JOB_FRAGMENT;
		jobs[1].stream = f.frame.render;
		rig_check(&rig, "submit", pumice_submit_gfx(rig.dev, jobs, 2, NULL));
		rig_check(&rig, "kill", pumice_context_kill(victim));
		rig_check(&rig, "result", pumice_context_get_job_result(victim, 2, &result,
									 sizeof(result)));
		assert_true(result.error == -ECANCELED || !result.error);
		assert_int_equal(pumice_submit_gfx(rig.dev, jobs, 2, NULL), -EIO);
		/* The scene of the killed job is used again, by the other context. */
		rig_check(&rig, "render", pumice_render(rig.context, &f.frame, LONG, NULL));
		scene_free(&f);
		scene_draw_gpu(&rig, &scene, &now);
		assert_right();
		pumice_context_destroy(victim);
		rig_close(&rig);
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

	return cmocka_run_group_tests_name("free lists", tests, draw_right, NULL);
}
