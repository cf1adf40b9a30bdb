// SPDX-License-Identifier: MIT
/*
 * Random scenes against the reference rasteriser: coverage (by the number that
 * each draw writes), depth, stencil, mask and visibility counts to the bit; colours
 * within the error of f32 planes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "scene.h"

/* Sanitizers are many times slower: run the first ones only. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SCENES	1000u
#else
#define SCENES	10000u
#endif
#define PAGES	2048u

/* Print the draws of a failed scene. */
static void describe(const struct scene *s)
{
	uint32_t i;

	for (i = 0; i < s->draws; i++) {
		const struct scene_draw *d = &s->draw[i];
		const struct pumice_isp_state *isp = &d->state.isp;
		const struct pumice_vdm_state *vdm = &d->state.vdm;

		print_message("draw %u: topology %u, shading %u, interpolation %u, %u vertices from "
			      "%u, %u instances, index of %u bytes%s%s%s%s%s%s%s%s%s%s%s, %u streamed; depth %u%s%s, "
			      "stencil %u, visibility %u; clip %u, -w %u, cull %u %u, ccw %u, "
			      "last %u, mask %x, scissor %u to %u, %u to %u, mask plane %u %u, scale "
			      "%g %g\n",
			      i + 1, d->topology, d->shading, d->interpolation, d->count, d->first,
			      d->instances, d->index_bytes, d->restart ? ", restart" : "",
			      d->sample_rate ? ", sample rate" : "",
			      d->point_size ? ", sizes" : "", d->coordinate ? ", coordinates" : "",
			      d->indirect ? ", indirect" : "",
			      d->deferred ? ", deferred" : "", d->table ? ", table" : "",
			      d->task ? ", task" : "", d->after ? ", after" : "",
			      d->state.tsp.point_coord ? ", point coordinates" : "",
			      d->coeffs ? ", coefficients" : "",
			      d->streams, isp->depth_func,
			      isp->depth_write ? " written" : "", isp->depth_bias ? " biased" : "",
			      isp->stencil, isp->visibility, vdm->depth_clip, vdm->clip_minus_w,
			      vdm->cull_front, vdm->cull_back, vdm->front_ccw, vdm->provoking_last,
			      isp->sample_mask, isp->scissor_x0, isp->scissor_x1, isp->scissor_y0,
			      isp->scissor_y1, isp->mask_test, isp->mask_op, vdm->scale_x,
			      vdm->scale_y);
	}
}

static void differ(const struct scene *s, size_t n, const struct picture *a,
		   const struct picture *b)
{
	const uint32_t pixel = (uint32_t)(n / s->samples);

	describe(s);
	fail_msg("scene %u (%u x %u, %u samples, tile %u, %u draws): pixel %u, %u sample %u: "
		 "draw %g depth %.9g stencil %u mask %u colour %.6f %.6f %.6f %.6f expected "
		 "%g %.9g %u %u %.6f %.6f %.6f %.6f, error %g",
		 s->seed, s->width, s->height, s->samples, s->tile_size, s->draws,
		 pixel % s->width, pixel / s->width, (uint32_t)(n % s->samples),
		 a->id[n], a->depth[n], a->stencil[n], a->mask[n], a->colour[n][0], a->colour[n][1],
		 a->colour[n][2], a->colour[n][3], b->id[n], b->depth[n], b->stencil[n], b->mask[n],
		 b->colour[n][0], b->colour[n][1], b->colour[n][2], b->colour[n][3], b->error[n]);
}

/* The further target: the average of each pixel's samples, in its format. */
static void compare_packed(const struct scene *s, const struct picture *gpu,
			   const struct picture *ref)
{
	const uint32_t bytes = scene_texel_bytes(s->format);
	uint32_t p, i, c;

	for (p = 0; p < s->width * s->height; p++) {
		const uint8_t *texel = gpu->packed + (size_t)p * bytes;
		double colour[4] = { 0 }, error = 0;

		for (i = p * s->samples; i < (p + 1) * s->samples; i++) {
			for (c = 0; c < 4; c++)
				colour[c] += (double)ref->colour[i][c] / s->samples;
			error += (double)ref->error[i] / s->samples;
		}
		if (scene_texel_is(s->format, texel, colour, error))
			continue;
		describe(s);
		fail_msg("scene %u: format %u: pixel %u, %u: %02x %02x %02x %02x is not "
			 "%f %f %f %f, error %f", s->seed, s->format, p % s->width, p / s->width,
			 texel[0], texel[1], texel[2], texel[3], colour[0], colour[1], colour[2],
			 colour[3], error);
	}
}

static void compare(const struct scene *s, const struct picture *gpu, const struct picture *ref)
{
	const size_t samples = (size_t)s->width * s->height * s->samples;
	uint32_t i;
	size_t n;

	for (n = 0; n < samples; n++) {
		const uint32_t stored = scene_depth(s->depth_format, ref->depth[n]);
		bool same = gpu->id[n] == ref->id[n] && gpu->stencil[n] == ref->stencil[n] &&
			    !memcmp(&gpu->depth[n], &stored, 4) &&
			    (!s->mask || gpu->mask[n] == ref->mask[n]);

		for (i = 0; i < 4; i++)
			same &= fabsf(gpu->colour[n][i] - ref->colour[n][i]) <= ref->error[n];
		if (!same)
			differ(s, n, gpu, ref);
	}
	compare_packed(s, gpu, ref);
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

static void check_scenes(const char *options, uint32_t first, uint32_t count)
{
	static struct picture gpu, ref;
	static struct scene scene;
	struct fixture fx;
	uint32_t i;

	fx_open(&fx, options, PAGES);
	for (i = first; i < first + count; i++) {
		scene_make(&scene, i);
		scene_draw_reference(&scene, &ref);
		scene_draw_gpu(&fx, &scene, &gpu);
		compare(&scene, &gpu, &ref);
	}
	fx_close(&fx);
}

static void scenes_equal_the_rules(void **state)
{
	uint32_t first, count;

	(void)state;
	range(&first, &count);
	check_scenes("cores=2,threads=0", first, count);
}

/* Tasks of 16 and of 64 vertices and fragments, USCs of two waves, one to four USCs a core. */
static void scenes_equal_the_rules_under_each_preset(void **state)
{
	(void)state;
	check_scenes("preset=volcanic,threads=0", 0, SCENES / 50);
	check_scenes("preset=waves,threads=0", 0, SCENES / 50);
	check_scenes("preset=sgx543mp4,threads=0", 0, SCENES / 50);
	check_scenes("preset=videocore4,threads=0", 0, SCENES / 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scenes_equal_the_rules),
		cmocka_unit_test(scenes_equal_the_rules_under_each_preset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
