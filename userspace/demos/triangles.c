// SPDX-License-Identifier: MIT
/*
 * 200,000 triangles of two pixels, each in one colour, at random places and depths.
 *
 * The CPU rasterises the same triangles by the precision rules: positions
 * are on the grid of 1/256 pixel, so every pixel must be the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "plain_colour.pasm.h"
#include "plain_vertex.pasm.h"

#define NAME	"pumice-demo-triangles"
#define SIZE	1024u
#define COUNT	200000u

/* A triangle in 1/256 pixel, clockwise on the screen; depth in steps of 2^-20. */
struct small {
	int32_t x[3], y[3];
	uint32_t depth;
	uint8_t rgb[3];
};

static void make_small(struct small *t, uint32_t *random)
{
	const int32_t x = (int32_t)(demo_random(random) % (SIZE * 256 - 1024));
	const int32_t y = (int32_t)(demo_random(random) % (SIZE * 256 - 1024));
	const float hue = (float)x / (SIZE * 256), tone = 0.35f + 0.65f * demo_random_unit(random);

	t->x[0] = x + (int32_t)(demo_random(random) % 256);
	t->y[0] = y;
	t->x[1] = x + 512 + (int32_t)(demo_random(random) % 256);
	t->y[1] = y + 256 + (int32_t)(demo_random(random) % 256);
	t->x[2] = x;
	t->y[2] = y + 512 + (int32_t)(demo_random(random) % 256);
	t->depth = demo_random(random) % (1u << 20);
	t->rgb[0] = (uint8_t)(255 * tone * (1 - hue));
	t->rgb[1] = (uint8_t)(255 * tone * (0.25f + 0.5f * (float)y / (SIZE * 256)));
	t->rgb[2] = (uint8_t)(255 * tone * hue);
}

static void make_mesh(const struct small *small, struct mesh *mesh)
{
	uint32_t i, k, c;

	mesh->vertices = mesh->indices = COUNT * 3;
	mesh->vertex = calloc(mesh->vertices, sizeof(*mesh->vertex));
	mesh->index = calloc(mesh->indices, sizeof(*mesh->index));
	if (!mesh->vertex || !mesh->index)
		demo_fail(NAME, "out of memory");
	for (i = 0; i < COUNT * 3; i++) {
		const struct small *t = &small[i / 3];
		struct mesh_vertex *v = &mesh->vertex[i];

		k = i % 3;
		v->position[0] = (float)t->x[k] / (SIZE * 128) - 1;
		v->position[1] = 1 - (float)t->y[k] / (SIZE * 128);
		v->position[2] = (float)t->depth / (1u << 20);
		for (c = 0; c < 3; c++)
			v->normal[c] = (float)t->rgb[c] / 255;
		mesh->index[i] = i;
	}
}

/* Return whether a sample is on the inner side of the edge from a to b. */
static bool inside(const struct small *t, int a, int b, int32_t x, int32_t y)
{
	const int64_t dx = t->x[b] - t->x[a], dy = t->y[b] - t->y[a];
	const int64_t e = dx * (y - t->y[a]) - dy * (x - t->x[a]);

	return e > 0 || (!e && ((!dy && dx > 0) || dy < 0));
}

static void rasterise(const struct small *t, uint8_t *rgb, uint32_t *depth)
{
	int32_t x, y;

	for (y = t->y[0] / 256; y <= t->y[2] / 256 + 1 && y < (int32_t)SIZE; y++) {
		for (x = t->x[2] / 256; x <= t->x[1] / 256 && x < (int32_t)SIZE; x++) {
			const int32_t sx = x * 256 + 128, sy = y * 256 + 128;
			const uint32_t at = (uint32_t)y * SIZE + (uint32_t)x;

			if (!inside(t, 0, 1, sx, sy) || !inside(t, 1, 2, sx, sy) ||
			    !inside(t, 2, 0, sx, sy) || t->depth >= depth[at])
				continue;
			depth[at] = t->depth;
			memcpy(rgb + at * 3, t->rgb, 3);
		}
	}
}

static uint32_t count_wrong(const struct small *small, const uint8_t *picture)
{
	uint8_t *rgb = calloc(SIZE * SIZE, 3);
	uint32_t *depth = malloc(SIZE * SIZE * sizeof(*depth));
	uint32_t i, wrong = 0;

	if (!rgb || !depth)
		demo_fail(NAME, "out of memory");
	for (i = 0; i < SIZE * SIZE; i++)
		depth[i] = 1u << 20;
	for (i = 0; i < COUNT; i++)
		rasterise(&small[i], rgb, depth);
	for (i = 0; i < SIZE * SIZE; i++)
		wrong += memcmp(rgb + i * 3, picture + i * 3, 3) != 0;
	free(rgb);
	free(depth);
	return wrong;
}

static uint8_t *draw_all(struct draw *draw, const struct small *small)
{
	struct draw_object object;
	struct draw_model model;
	struct mesh mesh;

	make_mesh(small, &mesh);
	draw_model(draw, &mesh, &model);
	mesh_free(&mesh);
	draw_object_init(draw, &object);
	object.model = &model;
	object.state.vdm.varyings = 3;
	object.state.vdm.cull_back = false;
	object.state.tsp.flat = 7;
	object.vertex = draw_program(draw, plain_vertex_program, sizeof(plain_vertex_program));
	object.fragment = draw_program(draw, plain_colour_program, sizeof(plain_colour_program));
	draw_begin(draw);
	draw_add(draw, &object);
	draw_end(draw);
	draw_report(draw, "200,000 triangles");
	pumice_kernel_destroy((struct pumice_kernel *)object.vertex);
	pumice_kernel_destroy((struct pumice_kernel *)object.fragment);
	draw_model_free(&model);
	return draw_pixels(draw);
}

int main(int argc, char **argv)
{
	const struct draw_options options = { .width = SIZE, .height = SIZE,
					      .format = PUMICE_FORMAT_RGBA8_UNORM };
	const char *path = "triangles.png", *device;
	struct small *small = calloc(COUNT, sizeof(*small));
	uint32_t random = 2026, wrong, i;
	struct draw draw;
	uint8_t *rgb;
	int status;

	device = draw_arguments(NAME,
				"Draws 200,000 triangles of two pixels and checks every pixel.\n",
				argc, argv, &path);
	if (!small)
		demo_fail(NAME, "out of memory");
	for (i = 0; i < COUNT; i++)
		make_small(&small[i], &random);
	draw_open(&draw, NAME, device, &options);
	rgb = draw_all(&draw, small);
	wrong = count_wrong(small, rgb);
	status = demo_result(NAME, !wrong, "%u of %u pixels equal the CPU's",
			     SIZE * SIZE - wrong, SIZE * SIZE);
	demo_write_picture(NAME, path, SIZE, SIZE, rgb);
	draw_close(&draw);
	free(rgb);
	free(small);
	return status;
}
