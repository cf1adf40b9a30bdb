// SPDX-License-Identifier: MIT
/*
 * Thin rays with one, two and four samples a pixel, magnified side by side. With
 * more samples the result approaches a picture of 64 times as many pixels, averaged.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "plain_colour.pasm.h"
#include "plain_vertex.pasm.h"

#define NAME	"pumice-demo-msaa"
#define SIZE	160u
#define FINE	8u		/* pixels of the fine picture per pixel, in a line */
#define ZOOM	3u
#define RAYS	40u

static struct mesh_vertex corners[RAYS * 3];
static uint32_t order[RAYS * 3];

/* Generate rays around the centre, alternately white and coloured. */
static void make_rays(struct mesh *mesh)
{
	static const float colour[3][3] = { { 1, 1, 1 }, { 1, 0.45f, 0.1f }, { 0.2f, 0.6f, 1 } };
	uint32_t i, k;

	for (i = 0; i < RAYS; i++) {
		const float a = 6.2831853f * ((float)i + 0.25f) / RAYS, w = 0.011f;
		const float at[3][2] = {
			{ 0.06f * cosf(a), 0.06f * sinf(a) },
			{ 0.94f * cosf(a) + w * sinf(a), 0.94f * sinf(a) - w * cosf(a) },
			{ 0.94f * cosf(a) - w * sinf(a), 0.94f * sinf(a) + w * cosf(a) },
		};

		for (k = 0; k < 3; k++) {
			struct mesh_vertex *v = &corners[i * 3 + k];

			memcpy(v->position, at[k], sizeof(at[k]));
			v->position[2] = 0.5f;
			memcpy(v->normal, colour[i % 3], sizeof(v->normal));
			order[i * 3 + k] = i * 3 + k;
		}
	}
	*mesh = (struct mesh){ .vertex = corners, .vertices = RAYS * 3, .index = order,
			       .indices = RAYS * 3 };
}

/* Draw one picture: linear values as 8 bits, so that sums of them are valid. */
static uint8_t *draw_rays(const char *device, uint32_t size, uint32_t samples)
{
	const struct draw_options options = {
		.width = size, .height = size, .samples = samples,
		.format = PUMICE_FORMAT_RGBA8_UNORM,
	};
	struct draw_object object;
	struct draw_model model;
	struct draw draw;
	struct mesh mesh;
	uint8_t *rgb;

	make_rays(&mesh);
	draw_open(&draw, NAME, device, &options);
	draw_model(&draw, &mesh, &model);
	draw_object_init(&draw, &object);
	object.model = &model;
	object.state.vdm.varyings = 3;
	object.state.vdm.cull_back = false;
	object.vertex = draw_program(&draw, plain_vertex_program, sizeof(plain_vertex_program));
	object.fragment = draw_program(&draw, plain_colour_program, sizeof(plain_colour_program));
	draw_begin(&draw);
	draw_add(&draw, &object);
	draw_end(&draw);
	rgb = draw_pixels(&draw);
	pumice_kernel_destroy((struct pumice_kernel *)object.vertex);
	pumice_kernel_destroy((struct pumice_kernel *)object.fragment);
	draw_model_free(&model);
	draw_close(&draw);
	return rgb;
}

/* Compute the RMS difference from the averaged fine picture. */
static double error_of(const uint8_t *rgb, const uint8_t *fine)
{
	double sum = 0;
	uint32_t x, y, c, i;

	for (y = 0; y < SIZE; y++) {
		for (x = 0; x < SIZE; x++) {
			for (c = 0; c < 3; c++) {
				double mean = 0, d;

				for (i = 0; i < FINE * FINE; i++)
					mean += fine[(((size_t)y * FINE + i / FINE) * SIZE * FINE +
						      x * FINE + i % FINE) * 3 + c];
				d = rgb[(y * SIZE + x) * 3 + c] - mean / (FINE * FINE);
				sum += d * d;
			}
		}
	}
	return sqrt(sum / (SIZE * SIZE * 3));
}

/* Convert linear light to sRGB, as in picture files. */
static uint8_t encode(uint8_t value)
{
	const double v = value / 255.0;

	return (uint8_t)lrint(255 * (v <= 0.0031308 ? 12.92 * v :
				     1.055 * pow(v, 1 / 2.4) - 0.055));
}

static void put_panel(uint8_t *board, uint32_t panel, const uint8_t *rgb)
{
	const size_t row = (size_t)SIZE * ZOOM * 3;	/* pixels of the combined picture */
	uint32_t x, y, c;

	for (y = 0; y < SIZE * ZOOM; y++)
		for (x = 0; x < SIZE * ZOOM; x++)
			for (c = 0; c < 3; c++)
				board[(y * row + panel * SIZE * ZOOM + x) * 3 + c] =
					encode(rgb[(y / ZOOM * SIZE + x / ZOOM) * 3 + c]);
}

int main(int argc, char **argv)
{
	const char *path = "msaa.png", *device;
	uint8_t *fine, *board = malloc((size_t)SIZE * ZOOM * SIZE * ZOOM * 3 * 3);
	double error[3];
	uint32_t i;
	bool good;
	int status;

	device = draw_arguments(NAME,
				"Draws thin rays with one, two and four samples a pixel, side by side.\n",
		argc, argv, &path);
	if (!board)
		demo_fail(NAME, "out of memory");
	fine = draw_rays(device, SIZE * FINE, 1);
	for (i = 0; i < 3; i++) {
		uint8_t *rgb = draw_rays(device, SIZE, 1u << i);

		error[i] = error_of(rgb, fine);
		put_panel(board, i, rgb);
		free(rgb);
	}
	good = error[1] < error[0] && error[2] < error[1];
	status = demo_result(NAME, good, "off by %.2f, %.2f and %.2f of 255 with 1, 2 and 4 samples",
			     error[0], error[1], error[2]);
	demo_write_picture(NAME, path, SIZE * ZOOM * 3, SIZE * ZOOM, board);
	free(fine);
	free(board);
	return status;
}
