// SPDX-License-Identifier: MIT
/*
 * A scene drawn with a parameter buffer that is ten times too small,
 * next to the same scene with enough: partial renders store the tiles,
 * free the pages and continue, and both pictures must be bit-identical.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crowd.h"

#define NAME	"pumice-demo-partial"
#define WIDTH	640u
#define HEIGHT	480u

static uint8_t *draw_with(const char *device, uint32_t pages, uint64_t *used, uint64_t *partials,
			  struct crowd *c)
{
	const struct draw_options options = { .width = WIDTH, .height = HEIGHT, .pages = pages };

	crowd_open(c, NAME, device, &options);
	crowd_draw(c);
	draw_report(&c->draw, pages ? "a tenth of the pages" : "enough pages");
	*used = draw_counted(&c->draw, DRAW_PAGES);
	*partials = draw_counted(&c->draw, DRAW_PARTIALS);
	return draw_pixels(&c->draw);
}

/* Save two pictures side by side. */
static uint8_t *side_by_side(const uint8_t *left, const uint8_t *right)
{
	uint8_t *both = malloc((size_t)WIDTH * 2 * HEIGHT * 3);
	uint32_t y;

	if (!both)
		demo_fail(NAME, "out of memory");
	for (y = 0; y < HEIGHT; y++) {
		memcpy(both + (size_t)y * WIDTH * 6, left + (size_t)y * WIDTH * 3, WIDTH * 3);
		memcpy(both + (size_t)y * WIDTH * 6 + WIDTH * 3, right + (size_t)y * WIDTH * 3,
		       WIDTH * 3);
	}
	return both;
}

int main(int argc, char **argv)
{
	const char *path = "partial.png", *device;
	uint64_t pages, again, partials, none;
	uint8_t *enough, *small, *both;
	struct crowd c;
	int wrong, status;

	device = draw_arguments(NAME,
				"Draws a scene with enough memory for its parameter buffer and with a tenth of it.\n",
				argc, argv, &path);
	enough = draw_with(device, 0, &pages, &none, &c);
	crowd_close(&c);
	small = draw_with(device, (uint32_t)(pages / 10), &again, &partials, &c);
	wrong = memcmp(enough, small, WIDTH * HEIGHT * 3) || none || !partials;
	status = demo_result(NAME, !wrong, "%llu pages: %llu partial renders; %llu pages: %llu; "
			     "the same picture", (unsigned long long)pages,
			     (unsigned long long)none, (unsigned long long)(pages / 10),
			     (unsigned long long)partials);
	both = side_by_side(enough, small);
	demo_write_picture(NAME, path, WIDTH * 2, HEIGHT, both);
	crowd_close(&c);
	free(both);
	free(enough);
	free(small);
	return status;
}
