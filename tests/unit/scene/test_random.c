// SPDX-License-Identifier: MIT
/*
 * Random scenes against the reference rasteriser: coverage (by the number that
 * each draw writes), depth, stencil and visibility counts to the bit; colours
 * within the error that f32 planes have.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "scene.h"

#define SCENES	10000u
#define PAGES	2048u

static void differ(const struct scene *s, size_t n, const struct picture *a,
		   const struct picture *b)
{
	const uint32_t pixel = (uint32_t)(n / s->samples);

	fail_msg("scene %u (%u x %u, %u samples, tile %u, %u draws): pixel %u, %u sample %u: "
		 "draw %g depth %.9g stencil %u colour %.6f %.6f %.6f %.6f instead of "
		 "%g %.9g %u %.6f %.6f %.6f %.6f, error %g",
		 s->seed, s->width, s->height, s->samples, s->tile_size, s->draws,
		 pixel % s->width, pixel / s->width, (uint32_t)(n % s->samples),
		 a->id[n], a->depth[n], a->stencil[n], a->colour[n][0], a->colour[n][1],
		 a->colour[n][2], a->colour[n][3], b->id[n], b->depth[n], b->stencil[n],
		 b->colour[n][0], b->colour[n][1], b->colour[n][2], b->colour[n][3], b->error[n]);
}

static void compare(const struct scene *s, const struct picture *gpu, const struct picture *ref)
{
	const size_t samples = (size_t)s->width * s->height * s->samples;
	uint32_t i;
	size_t n;

	for (n = 0; n < samples; n++) {
		bool same = gpu->id[n] == ref->id[n] && gpu->stencil[n] == ref->stencil[n] &&
			    !memcmp(&gpu->depth[n], &ref->depth[n], 4);

		for (i = 0; i < 4; i++)
			same &= fabsf(gpu->colour[n][i] - ref->colour[n][i]) <= ref->error[n];
		if (!same)
			differ(s, n, gpu, ref);
	}
	for (i = 0; i < s->draws; i++)
		if (gpu->visible[i] != ref->visible[i])
			fail_msg("scene %u: draw %u: %llu samples pass instead of %llu", s->seed, i,
				 (unsigned long long)gpu->visible[i],
				 (unsigned long long)ref->visible[i]);
}

/* PUMICE_SCENE=first[,count]: these scenes only. */
static void range(uint32_t *first, uint32_t *count)
{
	const char *text = getenv("PUMICE_SCENE");
	char *end;

	*first = 0;
	*count = SCENES;
	if (!text)
		return;
	*first = (uint32_t)strtoul(text, &end, 0);
	*count = *end == ',' ? (uint32_t)strtoul(end + 1, NULL, 0) : 1;
}

static void scenes_are_as_the_rules_say(void **state)
{
	static struct picture gpu, ref;
	static struct scene scene;
	uint32_t first, count, i;
	struct rig rig;

	(void)state;
	range(&first, &count);
	rig_open(&rig, "cores=2,threads=0", PAGES);
	for (i = first; i < first + count; i++) {
		scene_make(&scene, i);
		scene_draw_reference(&scene, &ref);
		scene_draw_gpu(&rig, &scene, &gpu);
		compare(&scene, &gpu, &ref);
	}
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scenes_are_as_the_rules_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
