// SPDX-License-Identifier: MIT
/*
 * pumice-demo-blur: Gaussian blur of a PNG picture.
 *
 * Two passes of one program, along the rows and along the columns. The CPU does
 * the same operations in the same order; every pixel must be equal.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blur.pasm.h"
#include "demo.h"
#include "picture.h"

#define NAME	"pumice-demo-blur"
#define MAX_SIDE 8192u
#define MAX_RADIUS 64u
#define GROUP_X	32u
#define GROUP_Y	4u

struct image {
	uint32_t width, height, radius;
	uint32_t *pixels;	/* the original */
	float weights[2 * MAX_RADIUS + 1];
};

/* Draw a picture with edges in all directions: rings, squares, lines. */
static uint32_t made_up(uint32_t x, uint32_t y)
{
	const double dx = x - 150.0, dy = y - 120.0, r = sqrt(dx * dx + dy * dy);
	uint32_t red = r < 100.0 && (uint32_t)r / 12 % 2 ? 235 : 30;
	uint32_t green = (x / 24 + y / 24) % 2 ? 200 : 40;
	uint32_t blue = (x + 2 * y) % 64 < 6 ? 255 : 80;

	if (x > 230 && x < 290 && y > 150 && y < 210)
		red = green = blue = 255;
	return red | green << 8 | blue << 16 | 0xff000000u;
}

static void make_up(struct image *image)
{
	image->width = 320;
	image->height = 240;
	image->pixels = malloc((size_t)image->width * image->height * sizeof(uint32_t));
	if (!image->pixels)
		demo_fail(NAME, "out of memory");
	for (uint32_t i = 0; i < image->width * image->height; i++)
		image->pixels[i] = made_up(i % image->width, i / image->width);
}

static void fill_weights(struct image *image)
{
	const double sigma = image->radius / 2.5;
	double sum = 0.0;

	for (uint32_t i = 0; i <= 2 * image->radius; i++) {
		const double x = (double)i - image->radius;

		sum += exp(-x * x / (2.0 * sigma * sigma));
	}
	for (uint32_t i = 0; i <= 2 * image->radius; i++) {
		const double x = (double)i - image->radius;

		image->weights[i] = (float)(exp(-x * x / (2.0 * sigma * sigma)) / sum);
	}
}

/* Compute one pixel of a pass, with the operations of blur.pasm; stride and last in pixels. */
static uint32_t blur_pixel(const struct image *image, const uint32_t *line, uint32_t stride,
			   uint32_t last, uint32_t at)
{
	float sum[3] = { 0.0f, 0.0f, 0.0f };
	uint32_t pixel = 0xff000000u;

	for (uint32_t tap = 0; tap <= 2 * image->radius; tap++) {
		int64_t from = (int64_t)at + tap - image->radius;

		from = from < 0 ? 0 : from > last ? last : from;
		for (unsigned int c = 0; c < 3; c++)
			sum[c] = fmaf((float)(line[from * stride] >> 8 * c & 255),
				      image->weights[tap], sum[c]);
	}
	for (unsigned int c = 0; c < 3; c++) {
		const float rounded = sum[c] + 0.5f;

		pixel |= (rounded >= 255.0f ? 255u : (uint32_t)rounded) << 8 * c;
	}
	return pixel;
}

/* Count the pixels that differ from the CPU's. */
static uint32_t count_wrong(const struct image *image, const uint32_t *got)
{
	const uint32_t w = image->width, h = image->height;
	uint32_t *rows = malloc((size_t)w * h * sizeof(*rows)), wrong = 0;

	if (!rows)
		demo_fail(NAME, "out of memory");
	for (uint32_t i = 0; i < w * h; i++)
		rows[i] = blur_pixel(image, image->pixels + i / w * w, 1, w - 1, i % w);
	for (uint32_t i = 0; i < w * h; i++)
		wrong += got[i] != blur_pixel(image, rows + i % w, w, h - 1, i / w);
	free(rows);
	return wrong;
}

/* Layout of the pixels in one direction. */
struct direction {
	uint32_t stride, last;	/* bytes; pixels minus 1 */
};

static void fill_uniforms(uint32_t uniforms[11], uint64_t from, uint64_t to, uint64_t weights,
			  struct direction along, struct direction across, uint32_t taps)
{
	demo_address(uniforms, from);
	demo_address(uniforms + 2, to);
	demo_address(uniforms + 4, weights);
	uniforms[6] = along.stride;
	uniforms[7] = along.last;
	uniforms[8] = across.stride;
	uniforms[9] = across.last;
	uniforms[10] = taps;
}

static void run(struct demo *demo, const struct image *image, struct pumice_buffer pixels[3],
		const struct pumice_buffer *weights)
{
	const struct direction x = { 4, image->width - 1 };
	const struct direction y = { 4 * image->width, image->height - 1 };
	const uint32_t taps = 2 * image->radius + 1;
	uint32_t rows[11], columns[11];
	const struct demo_launch launches[2] = {
		{ .groups = { x.last / GROUP_X + 1, y.last / GROUP_Y + 1, 1 }, .uniforms = rows,
		  .uniform_words = 11 },
		{ .groups = { y.last / GROUP_X + 1, x.last / GROUP_Y + 1, 1 },
		  .uniforms = columns, .uniform_words = 11 },
	};

	fill_uniforms(rows, pixels[0].va, pixels[1].va, weights->va, x, y, taps);
	fill_uniforms(columns, pixels[1].va, pixels[2].va, weights->va, y, x, taps);
	demo_begin(demo);
	demo_add(demo, &launches[0]);
	demo_add(demo, &launches[1]);
	demo_end(demo);
	demo_report(demo);
}

/* Save the original and, to its right, the blurred picture. */
static void write_picture(const struct image *image, const uint32_t *blurred, const char *path)
{
	const uint32_t w = image->width, h = image->height;
	uint8_t *rgb = malloc((size_t)w * h * 2 * 3);

	if (!rgb)
		demo_fail(NAME, "out of memory");
	for (size_t i = 0; i < (size_t)w * h * 2; i++) {
		const size_t x = i % (2 * w), y = i / (2 * w);
		const uint32_t pixel = x < w ? image->pixels[y * w + x] : blurred[y * w + x - w];

		for (unsigned int c = 0; c < 3; c++)
			rgb[3 * i + c] = (uint8_t)(pixel >> 8 * c);
	}
	demo_write_picture(NAME, path, 2 * w, h, rgb);
	free(rgb);
}

static int blur(const struct image *image, const char *device, const char *path)
{
	const uint64_t bytes = (uint64_t)image->width * image->height * sizeof(uint32_t);
	struct pumice_buffer pixels[3], weights;
	struct demo demo;
	uint32_t wrong;
	int status;

	demo_open(&demo, NAME, device, blur_program, sizeof(blur_program));
	for (int i = 0; i < 3; i++)
		demo_buffer(&demo, bytes, &pixels[i]);
	demo_buffer(&demo, sizeof(image->weights), &weights);
	memcpy(pixels[0].cpu, image->pixels, bytes);
	memcpy(weights.cpu, image->weights, sizeof(image->weights));
	run(&demo, image, pixels, &weights);
	wrong = count_wrong(image, pixels[2].cpu);
	status = demo_result(NAME, !wrong, "%u of %u pixels equal the CPU's",
			     image->width * image->height - wrong, image->width * image->height);
	write_picture(image, pixels[2].cpu, path);
	for (int i = 0; i < 3; i++)
		pumice_buffer_destroy(&pixels[i]);
	pumice_buffer_destroy(&weights);
	demo_close(&demo);
	return status;
}

int main(int argc, char **argv)
{
	const char *device, *path = "blur.png", *input = NULL, *error;
	struct image image = { .radius = 8 };
	int status;
	const struct command_option own[] = {
		{ 'i', "input", "FILE.png", "picture to blur (default: a generated picture)",
		  .text = &input },
		{ 'r', "radius", "RADIUS", "of the Gaussian, in pixels, 1 to 64 (default 8)",
		  .number = &image.radius, .min = 1, .max = MAX_RADIUS },
		COMMAND_OUTPUT(&path, "FILE.png", "the original and the result (default blur.png)"),
		{ 0 }
	};

	device = demo_arguments(NAME,
				"Blurs a picture, writes it next to the original, and checks every pixel.\n",
		own, argc, argv);
	if (!input)
		make_up(&image);
	else
		image.pixels = picture_read(input, MAX_SIDE, &image.width, &image.height, &error);
	if (!image.pixels)
		demo_fail(NAME, "%s: %s", input, error);
	fill_weights(&image);
	status = blur(&image, device, path);
	free(image.pixels);
	return status;
}
