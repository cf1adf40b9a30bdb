// SPDX-License-Identifier: MIT
/*
 * Moving gears, as an animation, and four of its frames as a picture
 * in full colour, as the animation has 256 only. Consecutive frames
 * alternate between the scenes of the data set: a frame is queued before the
 * previous one is complete, and binned while that is rendered. After a rotation
 * by one tooth the picture must equal the first one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "animation.h"
#include "world.h"

#define NAME	"pumice-demo-gears"
#define WIDTH	480u
#define HEIGHT	360u
#define FRAMES	20u	/* of a tooth of the large gear */
#define SHOWN	4u	/* of these in the picture, two by two */
#define GEARS	3u

static const struct {
	float hole, radius, width, depth, x, y, phase;
	uint32_t teeth;
	float colour[3];
} gears[GEARS] = {
	{ 0.5f, 2.0f, 0.8f, 0.36f, -1.5f, -0.9f, 0, 20, { 0.7f, 0.06f, 0.04f } },
	{ 0.25f, 1.0f, 1.2f, 0.36f, 1.53f, -0.9f, 9, 10, { 0.05f, 0.5f, 0.1f } },
	{ 0.65f, 1.0f, 0.5f, 0.36f, -1.5f, 2.13f, 25, 10, { 0.1f, 0.16f, 0.7f } },
};

#define DEGREE 0.017453293f

struct show {
	struct draw draw;
	struct world world;
	struct draw_model model[GEARS];
};

static void draw_frame(struct show *s, uint32_t frame)
{
	/* The large gear rotates by a tooth in FRAMES; the others twice as fast, the other way. */
	const float step = 360.0f / 20 * DEGREE / (float)FRAMES;
	const struct matrix lean = matrix_rotate(20 * DEGREE, 1, 0, 0);
	const struct matrix rotation = matrix_rotate(30 * DEGREE, 0, 1, 0);
	const struct matrix view = matrix_multiply(&lean, &rotation);
	uint32_t i;

	draw_begin(&s->draw);
	for (i = 0; i < GEARS; i++) {
		const float angle = (i ? -2 : 1) * step * (float)(frame % FRAMES);
		const struct matrix move = matrix_translate(gears[i].x, gears[i].y, 0);
		const struct matrix spin =
			matrix_rotate(angle - gears[i].phase * DEGREE, 0, 0, 1);
		const struct matrix there = matrix_multiply(&view, &move);
		const struct matrix place = matrix_multiply(&there, &spin);
		struct world_look_of look = { .shine = 0.35f };

		memcpy(look.colour, gears[i].colour, sizeof(look.colour));
		world_add(&s->world, &s->model[i], &place, &look);
	}
	draw_queue(&s->draw);
}

static void make(struct show *s, const char *device)
{
	static const float eye[3] = { -0.3f, -0.15f, 12.5f }, at[3] = { -0.3f, -0.15f, 0 };
	const struct draw_options options = { .width = WIDTH, .height = HEIGHT, .samples = 4,
					       .ahead = true };
	uint32_t i;

	draw_open(&s->draw, NAME, device, &options);
	memcpy(s->draw.clear, (float[4]){ 0, 0, 0, 1 }, sizeof(s->draw.clear));
	world_open(&s->world, &s->draw);
	world_look(&s->world, eye, at, 0.62f);
	for (i = 0; i < GEARS; i++) {
		struct mesh mesh;

		mesh_gear(&mesh, gears[i].hole, gears[i].radius, gears[i].width, gears[i].teeth,
			  gears[i].depth);
		draw_model(&s->draw, &mesh, &s->model[i]);
		mesh_free(&mesh);
	}
}

/* Copy frame number n of those shown to its place. */
static void put_shown(uint8_t *shown, uint32_t n, const uint8_t *rgb)
{
	const size_t row = WIDTH * 3;
	uint8_t *to = shown + (n / 2 * HEIGHT * 2 + n % 2) * row;
	uint32_t y;

	for (y = 0; y < HEIGHT; y++)
		memcpy(to + y * 2 * row, rgb + y * row, row);
}

/* Complete a frame, and add it to the animation if it is new; return its error. */
static int show_frame(struct show *s, struct animation *film, uint32_t frame, uint8_t *first,
		      uint8_t *shown)
{
	const size_t bytes = WIDTH * HEIGHT * 3;
	uint8_t *rgb;
	int wrong = 0;

	rgb = draw_complete(&s->draw);
	if (!frame)
		memcpy(first, rgb, bytes);
	else if (frame % FRAMES == 0)
		wrong = memcmp(first, rgb, bytes);
	if (frame < FRAMES && !animation_picture(film, rgb, 4))
		demo_fail(NAME, "the animation cannot be written: %s", strerror(errno));
	if (frame < FRAMES && frame % (FRAMES / SHOWN) == 0)
		put_shown(shown, frame / (FRAMES / SHOWN), rgb);
	free(rgb);
	return wrong;
}

int main(int argc, char **argv)
{
	static uint8_t first[WIDTH * HEIGHT * 3], shown[SHOWN * WIDTH * HEIGHT * 3];
	const char *path = "gears.gif", *picture = "gears.png", *device;
	uint32_t turns = 1, frame, i;
	const struct command_option own[] = {
		{ 't', "turns", "N", "turns by a tooth, 1 to 100 (default 1)", .number = &turns,
		  .min = 1, .max = 100 },
		COMMAND_OUTPUT(&path, "FILE.gif", "the animation (default gears.gif)"),
		{ 'p', "picture", "FILE.png", "four of its frames (default gears.png)",
		  .text = &picture },
		{ 0 }
	};
	struct animation *film;
	struct show s;
	int wrong = 0, status;

	device = demo_arguments(NAME, "Draws moving gears as an animation.\n", own, argc, argv);
	make(&s, device);
	film = animation_open_pictures(path, WIDTH, HEIGHT);
	if (!film)
		demo_fail(NAME, "%s: cannot be written: %s", path, strerror(errno));
	draw_frame(&s, 0);
	for (frame = 0; frame <= FRAMES * turns; frame++) {
		if (frame < FRAMES * turns)
			draw_frame(&s, frame + 1);
		wrong |= show_frame(&s, film, frame, first, shown);
	}
	demo_write_animation(NAME, path, film);
	demo_write_picture(NAME, picture, 2 * WIDTH, 2 * HEIGHT, shown);
	draw_report(&s.draw, "the last frame");
	printf("%s: the binning of %u of %u frames overlapped the rendering of the previous one\n",
	       NAME, s.draw.overlapped, frame - 1);
	status = demo_result(NAME, !wrong && s.draw.overlapped,
			     "%u frames, some at a time; the same picture after a rotation by one tooth",
			     frame);
	for (i = 0; i < GEARS; i++)
		draw_model_free(&s.model[i]);
	world_close(&s.world);
	draw_close(&s.draw);
	return status;
}
