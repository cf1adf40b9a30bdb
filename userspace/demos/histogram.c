// SPDX-License-Identifier: MIT
/*
 * pumice-demo-histogram: how often each byte value occurs, by atomics.
 *
 * The bytes are the brightness of a generated picture; the counts are
 * compared with the CPU's and drawn as bars below it.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demo.h"
#include "histogram.pasm.h"
#include "picture.h"

#define NAME	"pumice-demo-histogram"
#define SIDE	512u		/* pixels of a line and of a column */
#define BINS	256u
#define BAR	(SIDE / BINS)	/* pixels of a bar */
#define BARS	160u		/* pixels of the highest */
#define GROUPS	32u
#define GROUP	256u

/* Generate clouds with grain. */
static void draw(uint8_t *shade)
{
	uint32_t random = 12345;

	for (uint32_t y = 0; y < SIDE; y++) {
		for (uint32_t x = 0; x < SIDE; x++) {
			const double u = x / 40.0, v = y / 40.0;
			double value = sin(u + 2.0 * sin(v * 0.7)) + cos(v * 1.3 + sin(u)) +
				       0.3 * sin(5.0 * u) * cos(4.0 * v);

			value = 128.0 + 45.0 * value + 24.0 * (demo_random_unit(&random) - 0.5);
			shade[y * SIDE + x] = (uint8_t)fmin(fmax(value, 0.0), 255.0);
		}
	}
}

static uint32_t count_wrong(const uint8_t *shade, const uint32_t *counts)
{
	uint32_t want[BINS] = { 0 }, wrong = 0;

	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		want[shade[i]]++;
	for (uint32_t i = 0; i < BINS; i++)
		wrong += counts[i] != want[i];
	return wrong;
}

/* Save the picture, with the bars below it. */
static void write_picture(const uint8_t *shade, const uint32_t *counts, const char *path)
{
	uint8_t *rgb = calloc((size_t)SIDE * (SIDE + BARS), 3);
	uint32_t most = 1;

	if (!rgb)
		demo_fail(NAME, "out of memory");
	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		memset(rgb + 3 * (size_t)i, shade[i], 3);
	for (uint32_t i = 0; i < BINS; i++)
		most = counts[i] > most ? counts[i] : most;
	for (uint32_t x = 0; x < SIDE; x++) {
		const uint32_t height = (uint32_t)((uint64_t)counts[x / BAR] * BARS / most);

		for (uint32_t y = 0; y < height; y++) {
			uint8_t *pixel = rgb + 3 * ((size_t)(SIDE + BARS - 1 - y) * SIDE + x);

			pixel[0] = 255;
			pixel[1] = (uint8_t)(x / BAR);
			pixel[2] = 64;
		}
	}
	if (!picture_write(path, SIDE, SIDE + BARS, rgb))
		demo_fail(NAME, "%s: cannot be written: %s", path, strerror(errno));
	free(rgb);
	printf("%s: wrote %s\n", NAME, path);
}

int main(int argc, char **argv)
{
	const uint32_t groups[3] = { GROUPS, 1, 1 };
	const char *device, *path = "histogram.png";
	struct pumice_buffer shade, counts;
	uint32_t uniforms[6], wrong;
	struct demo demo;
	int status;
	const struct command_option own[] = {
		COMMAND_OUTPUT(&path, "FILE.png", "the picture and its histogram (default histogram.png)"),
		{ 0 }
	};

	device = demo_arguments(NAME,
				"Counts the 256 shades of a picture of 512x512 pixels and checks the counts.\n",
				own, argc, argv);
	demo_open(&demo, NAME, device, histogram_program, sizeof(histogram_program));
	demo_buffer(&demo, SIDE * SIDE, &shade);
	demo_buffer(&demo, BINS * sizeof(uint32_t), &counts);
	draw(shade.cpu);
	demo_address(uniforms, shade.va);
	demo_address(uniforms + 2, counts.va);
	uniforms[4] = SIDE * SIDE / 4;
	uniforms[5] = GROUPS * GROUP;
	demo_run(&demo, groups, uniforms, 6);
	demo_report(&demo);
	wrong = count_wrong(shade.cpu, counts.cpu);
	status = demo_result(NAME, !wrong, "%u of %u counts equal the CPU's", BINS - wrong, BINS);
	write_picture(shade.cpu, counts.cpu, path);
	pumice_buffer_destroy(&shade);
	pumice_buffer_destroy(&counts);
	demo_close(&demo);
	return status;
}
