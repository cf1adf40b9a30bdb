// SPDX-License-Identifier: MIT
/* The smallest picture: one triangle, every sample equal to the reference. */
#include <stdio.h>

#include "scene.h"

static void make_triangle(struct scene *s)
{
	static const float at[3][2] = { { -0.8f, -0.7f }, { 0.9f, -0.5f }, { 0.1f, 0.85f } };
	struct scene_draw *d = &s->draw[0];
	uint32_t i;

	memset(s, 0, sizeof(*s));
	s->width = s->height = 64;
	s->samples = 1;
	s->format = PUMICE_FORMAT_RGBA8_UNORM;
	s->depth_format = PUMICE_DEPTH_FORMAT_D32F;
	s->draws = 1;
	s->clear_depth = 1;
	pumice_draw_state_init(&d->state, s->width, s->height);
	d->state.vdm.varyings = SCENE_VARYINGS;
	d->state.isp.depth_func = PUMICE_COMPARE_LESS;
	d->state.isp.depth_write = true;
	d->topology = PUMICE_TOPOLOGY_TRIANGLES;
	d->count = 3;
	d->instances = 1;
	for (i = 0; i < 3; i++) {
		d->vertex[i] = (struct scene_vertex){ .position = { at[i][0], at[i][1], 0.5f, 1 } };
		d->vertex[i].colour[i] = 255;
		d->vertex[i].colour[3] = 255;
	}
}

static void print(const struct scene *s, const struct picture *gpu, const struct picture *ref)
{
	uint32_t x, y;

	for (y = 0; y < s->height; y += 2) {
		for (x = 0; x < s->width; x++) {
			const uint32_t n = y * s->width + x;

			putchar(gpu->id[n] != ref->id[n] ? '!' : ref->id[n] != 0 ? '#' : '.');
		}
		putchar('\n');
	}
}

static void a_triangle_is_drawn(void **state)
{
	static struct picture gpu, ref;
	static struct scene scene;
	struct fixture fx;
	uint32_t n;

	(void)state;
	make_triangle(&scene);
	fx_open(&fx, "cores=1,threads=0", 64);
	scene_draw_reference(&scene, &ref);
	scene_draw_gpu(&fx, &scene, &gpu);
	print(&scene, &gpu, &ref);
	for (n = 0; n < scene.width * scene.height; n++) {
		assert_true(gpu.id[n] == ref.id[n]);
		assert_memory_equal(&gpu.depth[n], &ref.depth[n], 4);
		assert_true(gpu.colour[n][0] - ref.colour[n][0] < 1e-5f);
		assert_true(ref.colour[n][0] - gpu.colour[n][0] < 1e-5f);
	}
	fx_close(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_triangle_is_drawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
