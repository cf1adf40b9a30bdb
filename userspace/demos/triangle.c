// SPDX-License-Identifier: MIT
/*
 * The first triangle: interpolated red, green and blue.
 *
 * The CPU computes every pixel by areas, in f64: coverage
 * must be equal, and the colours within a step of 8 bits.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "draw.h"
#include "plain_colour.pasm.h"
#include "plain_vertex.pasm.h"

#define NAME	"pumice-demo-triangle"
#define SIZE	480u

/* Clip space is 2 wide: positions are multiples of 1/256 pixel. */
static const float at[3][2] = { { -0.8f, -0.7f }, { 0.8f, -0.7f }, { 0.0f, 0.8f } };

static void make_mesh(struct mesh *mesh)
{
	static struct mesh_vertex vertex[3];
	static uint32_t index[3] = { 0, 1, 2 };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		vertex[i].position[0] = at[i][0];
		vertex[i].position[1] = at[i][1];
		vertex[i].position[2] = 0.5f;
		vertex[i].normal[i] = 1;	/* its colour */
	}
	*mesh = (struct mesh){ .vertex = vertex, .vertices = 3, .index = index, .indices = 3 };
}

static double edge(const double a[2], const double b[2], double x, double y)
{
	return (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
}

/* Count the wrong values of the picture. */
static uint32_t count_wrong(const uint8_t *rgb, const uint8_t background)
{
	double v[3][2], area;
	uint32_t x, y, c, wrong = 0;

	for (c = 0; c < 3; c++) {
		v[c][0] = rint((double)(at[c][0] * (SIZE * 0.5f) + SIZE * 0.5f) * 256) / 256;
		v[c][1] = rint((double)(at[c][1] * (SIZE * -0.5f) + SIZE * 0.5f) * 256) / 256;
	}
	area = edge(v[0], v[1], v[2][0], v[2][1]);
	for (y = 0; y < SIZE; y++) {
		for (x = 0; x < SIZE; x++) {
			const double px = x + 0.5, py = y + 0.5;
			const double w[3] = { edge(v[1], v[2], px, py) / area,
					      edge(v[2], v[0], px, py) / area,
					      edge(v[0], v[1], px, py) / area };
			const int inside = w[0] > 0 && w[1] > 0 && w[2] > 0;

			for (c = 0; c < 3; c++)
				wrong += fabs(rgb[(y * SIZE + x) * 3 + c] -
					      (inside ? w[c] * 255 : background)) > 1.01;
		}
	}
	return wrong;
}

int main(int argc, char **argv)
{
	const struct draw_options options = { .width = SIZE, .height = SIZE,
					      .format = PUMICE_FORMAT_RGBA8_UNORM };
	const char *path = "triangle.png", *device;
	struct draw_object object;
	struct draw_model model;
	struct mesh mesh;
	struct draw draw;
	uint8_t *rgb;
	uint32_t wrong, c;
	int status;

	device = draw_arguments(NAME,
				"Draws a triangle of interpolated colours and checks every value.\n",
				argc, argv, &path);
	draw_open(&draw, NAME, device, &options);
	make_mesh(&mesh);
	draw_model(&draw, &mesh, &model);
	for (c = 0; c < 3; c++)
		draw.clear[c] = 24 / 255.0f;
	draw_object_init(&draw, &object);
	object.model = &model;
	object.state.vdm.varyings = 3;
	object.vertex = draw_program(&draw, plain_vertex_program, sizeof(plain_vertex_program));
	object.fragment = draw_program(&draw, plain_colour_program, sizeof(plain_colour_program));
	draw_begin(&draw);
	draw_add(&draw, &object);
	draw_end(&draw);
	draw_report(&draw, "one triangle");
	rgb = draw_pixels(&draw);
	wrong = count_wrong(rgb, 24);
	status = demo_result(NAME, !wrong, "%u of %u values equal the CPU's",
			     SIZE * SIZE * 3 - wrong, SIZE * SIZE * 3);
	free(rgb);
	draw_write(&draw, path);
	pumice_kernel_destroy((struct pumice_kernel *)object.vertex);
	pumice_kernel_destroy((struct pumice_kernel *)object.fragment);
	draw_model_free(&model);
	draw_close(&draw);
	return status;
}
