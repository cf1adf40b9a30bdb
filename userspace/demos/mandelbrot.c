// SPDX-License-Identifier: MIT
/*
 * pumice-demo-mandelbrot: the Mandelbrot set as a picture.
 *
 * The GPU counts iterations, one instance per pixel, with waves ending as a whole; the
 * counts are compared with the CPU's, then coloured and written by libpng.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "demo.h"
#include "mandelbrot.pasm.h"
#include "picture.h"

#define NAME	"pumice-demo-mandelbrot"
#define GROUP_X	32u
#define GROUP_Y	4u

/* The drawn area: uniforms of the program, and the picture's size. */
struct view {
	uint32_t width, height, limit;
	float re, im, step;
};

/* Run the same operations in the same order as mandelbrot.pasm. */
static uint32_t iterations(const struct view *view, uint32_t x, uint32_t y)
{
	const float c_re = (float)x * view->step + view->re;
	const float c_im = (float)y * view->step + view->im;
	float z_re = 0.0f, z_im = 0.0f;
	uint32_t count = 0;

	while (count < view->limit) {
		const float re2 = z_re * z_re, im2 = z_im * z_im;
		float product;

		if (!(re2 + im2 <= 4.0f))
			break;
		product = z_im * z_re;
		z_im = product + product + c_im;
		z_re = re2 - im2 + c_re;
		count++;
	}
	return count;
}

static uint32_t count_wrong(const struct view *view, const uint32_t *counts)
{
	uint32_t wrong = 0;

	for (uint32_t y = 0; y < view->height; y++)
		for (uint32_t x = 0; x < view->width; x++)
			wrong += counts[y * view->width + x] != iterations(view, x, y);
	return wrong;
}

/* Map a count to a colour: black inside, else cyclic in the logarithm of the count. */
static void colour(const struct view *view, uint32_t count, uint8_t rgb[3])
{
	const double t = 0.9 * log2((double)count + 1.0);

	for (unsigned int i = 0; i < 3; i++) {
		const double wave = 0.5 - 0.5 * cos(t * (1.0 + 0.25 * i) + 0.4 * i);

		rgb[i] = count >= view->limit ? 0 : (uint8_t)(255.0 * wave + 0.5);
	}
}

static void write_picture(const struct view *view, const uint32_t *counts, const char *path)
{
	uint8_t *rgb = malloc((size_t)view->width * view->height * 3);

	if (!rgb)
		demo_fail(NAME, "out of memory");
	for (uint32_t i = 0; i < view->width * view->height; i++)
		colour(view, counts[i], rgb + 3 * (size_t)i);
	demo_write_picture(NAME, path, view->width, view->height, rgb);
	free(rgb);
}

static void run(struct demo *demo, const struct view *view, uint64_t image)
{
	const uint32_t groups[3] = { (view->width + GROUP_X - 1) / GROUP_X,
				     (view->height + GROUP_Y - 1) / GROUP_Y, 1 };
	uint32_t uniforms[8];

	demo_address(uniforms, image);
	uniforms[2] = view->width;
	uniforms[3] = view->height;
	uniforms[4] = view->limit;
	uniforms[5] = PUMICE_WORD_F32(view->re);
	uniforms[6] = PUMICE_WORD_F32(view->im);
	uniforms[7] = PUMICE_WORD_F32(view->step);
	demo_run(demo, groups, uniforms, 8);
	demo_report(demo);
}

static void parse_size(const struct command *c, const char *text, void *data)
{
	struct view *view = data;
	char x, end;

	if (sscanf(text, "%5u%c%5u%c", &view->width, &x, &view->height, &end) != 3 || x != 'x' ||
	    !view->width || !view->height || view->width > 16384 || view->height > 16384)
		command_refuse(c, "-s %s: a size is two numbers from 1 to 16384, such as 480x320",
			       text);
}

int main(int argc, char **argv)
{
	struct view view = { .width = 480, .height = 320, .limit = 256 };
	const char *device, *path = "mandelbrot.png";
	struct pumice_buffer image;
	struct demo demo;
	uint32_t wrong;
	int status;
	const struct command_option own[] = {
		{ 's', "size", "WIDTHxHEIGHT", "pixels, at most 16384 (default 480x320)",
		  .parse = parse_size, .data = &view },
		{ 'i', "iterations", "N", "of a pixel, 1 to 1048576 (default 256)",
		  .number = &view.limit, .min = 1, .max = 1u << 20 },
		COMMAND_OUTPUT(&path, "FILE.png", "the picture (default mandelbrot.png)"),
		{ 0 }
	};

	device = demo_arguments(NAME,
				"Draws the Mandelbrot set and checks every pixel.\n",
				own, argc, argv);
	view.step = 3.6f / (float)view.width;
	view.re = -2.5f;
	view.im = -0.5f * view.step * (float)view.height;
	demo_open(&demo, NAME, device, mandelbrot_program, sizeof(mandelbrot_program));
	demo_buffer(&demo, (uint64_t)view.width * view.height * sizeof(uint32_t), &image);
	run(&demo, &view, image.va);
	wrong = count_wrong(&view, image.cpu);
	status = demo_result(NAME, !wrong, "%u of %u pixels equal the CPU's",
			     view.width * view.height - wrong, view.width * view.height);
	write_picture(&view, image.cpu, path);
	pumice_buffer_destroy(&image);
	demo_close(&demo);
	return status;
}
