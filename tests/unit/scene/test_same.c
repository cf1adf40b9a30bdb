// SPDX-License-Identifier: MIT
/*
 * The same scenes on devices that differ in cores, threads and room for the
 * parameter buffer: the same pictures to the bit.
 */
#include <stdio.h>

#include "scene.h"

#define SCENES	60u

static struct picture first[SCENES], now;
static struct scene scene;
static uint32_t scenes;	/* that are drawn */

static void scene_assert_same(const struct scene *s, const struct picture *a,
			      const struct picture *b)
{
	const size_t samples = (size_t)s->width * s->height * s->samples;
	size_t n;

	for (n = 0; n < samples; n++)
		if (memcmp(a->colour[n], b->colour[n], 16) || memcmp(&a->id[n], &b->id[n], 4) ||
		    memcmp(&a->depth[n], &b->depth[n], 4) || a->stencil[n] != b->stencil[n] ||
		    a->mask[n] != b->mask[n])
			fail_msg("scene %u: sample %zu differs: draw %g and %g", s->seed, n,
				 a->id[n], b->id[n]);
	assert_memory_equal(a->visible, b->visible, sizeof(a->visible));
	assert_memory_equal(a->packed, b->packed, sizeof(a->packed));
}

/*
 * @change: of each draw, or NULL. @times: factor for instances. @keep: the result is the reference
 * for the others.
 * Return: partial renders.
 */
static uint64_t draw_changed(const char *options, uint32_t pages, uint32_t times,
			     void (*change)(struct scene_draw *), bool keep)
{
	struct fixture fx;
	uint64_t partials;
	uint32_t i, d;

	print_message("%s, %u pages\n", options, pages);
	fx_open(&fx, options, pages);
	for (i = 0; i < scenes; i++) {
		scene_make(&scene, 1000000 + i);
		for (d = 0; d < scene.draws; d++) {
			scene.draw[d].instances *= times;
			if (change)
				change(&scene.draw[d]);
		}
		scene_draw_gpu(&fx, &scene, keep ? &first[i] : &now);
		if (!keep)
			scene_assert_same(&scene, &first[i], &now);
	}
	partials = fx_partials(&fx);
	print_message("%u partial renders\n", (unsigned int)partials);
	fx_close(&fx);
	return partials;
}

static uint64_t draw_all(const char *options, uint32_t pages, uint32_t times, bool keep)
{
	return draw_changed(options, pages, times, NULL, keep);
}

static void use_registers(struct scene_draw *draw)
{
	draw->streams = 0;
}

static void use_streams(struct scene_draw *draw)
{
	draw->streams = 1 + draw->count % SCENE_STREAM_WORDS;
}

static void shade_in_binning(struct scene_draw *draw)
{
	draw->deferred = false;
}

static void shade_in_tiles(struct scene_draw *draw)
{
	draw->coordinate = draw->deferred = true;
}

static void uniform_streams_change_nothing(void **state)
{
	(void)state;
	draw_changed("cores=1,threads=0", 2048, 1, use_registers, true);
	draw_changed("cores=1,threads=0", 2048, 1, use_streams, false);
	draw_changed("cores=4,threads=2", 2048, 1, use_streams, false);
}

static void cores_and_threads_change_nothing(void **state)
{
	static const uint32_t cores[] = { 1, 2, 4, 16 };
	char options[64];
	uint32_t c, threads;

	(void)state;
	for (c = 0; c < 4; c++) {
		for (threads = 0; threads < 3; threads++) {
			snprintf(options, sizeof(options), "cores=%u,threads=%u", cores[c],
				 threads);
			draw_all(options, 2048, 1, !c && !threads);
		}
	}
}

static void split_thresholds_change_nothing(void **state)
{
	static const uint32_t split[] = { 1, 2, 7, 1000000 };
	char options[64];
	uint32_t i;

	(void)state;
	draw_all("cores=1,threads=0", 2048, 1, true);
	for (i = 0; i < 4; i++) {
		snprintf(options, sizeof(options), "cores=4,threads=2,split=%u", split[i]);
		draw_all(options, 2048, 1, false);
	}
}

static void partial_renders_change_nothing(void **state)
{
	(void)state;
	/* Each macro tile needs a page for its list and one for a block, on each core. */
	assert_int_equal(draw_all("cores=1,threads=0", 8192, 40, true), 0);
	assert_true(draw_all("cores=1,threads=0", 20, 40, false) > 20);
	assert_true(draw_all("cores=4,threads=2,split=3", 80, 40, false) > 10);
}

static void deferred_vertices_change_nothing(void **state)
{
	(void)state;
	draw_changed("cores=1,threads=0", 8192, 10, shade_in_binning, true);
	draw_changed("cores=1,threads=0", 8192, 10, shade_in_tiles, false);
	draw_changed("cores=4,threads=2,split=3", 8192, 10, shade_in_tiles, false);
	draw_changed("cores=2,threads=1,batch=16", 8192, 10, shade_in_tiles, false);
	assert_true(draw_changed("cores=1,threads=0", 20, 10, shade_in_tiles, false) > 5);
	draw_changed("cores=2,threads=1,vpm-kib=256", 8192, 10, shade_in_tiles, false);
	draw_changed("cores=1,threads=2,vpm-kib=256", 20, 10, shade_in_tiles, false);
}

static int draw_share(void **state)
{
	(void)state;
	scenes = SCENES / SCENE_SHARE;
	return 0;
}

static int draw_every_scene(void **state)
{
	(void)state;
	scenes = SCENES;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(cores_and_threads_change_nothing, draw_share),
		cmocka_unit_test_setup(uniform_streams_change_nothing, draw_share),
		cmocka_unit_test_setup(split_thresholds_change_nothing, draw_share),
		cmocka_unit_test_setup(partial_renders_change_nothing, draw_every_scene),
		cmocka_unit_test_setup(deferred_vertices_change_nothing, draw_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
