// SPDX-License-Identifier: MIT
/*
 * Moving gears, as an animation, and four of its frames as a picture
 * in full colour, as the animation has 256 only. Consecutive frames
 * alternate between the scenes of the data set. After a rotation by
 * one tooth the picture must equal the first one.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "animation.h"
#include "world.h"

#define NAME	"gears"
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
	const struct matrix turn = matrix_rotate(30 * DEGREE, 0, 1, 0);
	const struct matrix view = matrix_multiply(&lean, &turn);
	uint32_t i;

	draw_begin(&s->draw);
	for (i = 0; i < GEARS; i++) {
		const float angle = i ? -2 * step * (float)(frame % FRAMES) : step * (float)(frame % FRAMES);
		const struct matrix move = matrix_translate(gears[i].x, gears[i].y, 0);
		const struct matrix spin =
			matrix_rotate(angle - gears[i].phase * DEGREE, 0, 0, 1);
		const struct matrix there = matrix_multiply(&view, &move);
		const struct matrix place = matrix_multiply(&there, &spin);
		struct world_look_of look = { .shine = 0.35f };

		memcpy(look.colour, gears[i].colour, sizeof(look.colour));
		world_add(&s->world, &s->model[i], &place, &look);
	}
	draw_end(&s->draw);
}

static void parse(int argc, char **argv, const char **path, const char **picture,
		  const char **device, uint32_t *turns)
{
	int option;

	while ((option = getopt(argc, argv, "o:p:d:t:h")) != -1) {
		if (option == 'o')
			*path = optarg;
		else if (option == 'p')
			*picture = optarg;
		else if (option == 'd')
			*device = optarg;
		else if (option == 't')
			*turns = demo_number(NAME, optarg, 1, 100);
		else {
			fprintf(option == 'h' ? stdout : stderr,
				"usage: pumice-demo-" NAME
				" [-t TURNS] [-o FILE.gif] [-p FILE.png] [-d DEVICE]\n");
			exit(option != 'h');
		}
	}
}

static void make(struct show *s, const char *device)
{
	static const float eye[3] = { -0.3f, -0.15f, 12.5f }, at[3] = { -0.3f, -0.15f, 0 };
	const struct draw_options options = { .width = WIDTH, .height = HEIGHT, .samples = 4 };
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

/* Draw a frame, and add it to the animation if it is new; return its error. */
static int show_frame(struct show *s, struct animation *film, uint32_t frame, uint8_t *first,
		      uint8_t *shown)
{
	const size_t bytes = WIDTH * HEIGHT * 3;
	uint8_t *rgb;
	int wrong = 0;

	draw_frame(s, frame);
	rgb = draw_pixels(&s->draw);
	if (!frame)
		memcpy(first, rgb, bytes);
	else if (frame % FRAMES == 0)
		wrong = memcmp(first, rgb, bytes);
	if (frame < FRAMES && !animation_picture(film, rgb, 4))
		demo_fail(NAME, "the animation cannot be written");
	if (frame < FRAMES && frame % (FRAMES / SHOWN) == 0)
		put_shown(shown, frame / (FRAMES / SHOWN), rgb);
	free(rgb);
	return wrong;
}

int main(int argc, char **argv)
{
	static uint8_t first[WIDTH * HEIGHT * 3], shown[SHOWN * WIDTH * HEIGHT * 3];
	const char *path = NAME ".gif", *picture = NAME ".png", *device = NULL;
	struct animation *film;
	uint32_t turns = 1, frame, i;
	struct show s;
	int wrong = 0;

	parse(argc, argv, &path, &picture, &device, &turns);
	make(&s, device);
	film = animation_open_pictures(path, WIDTH, HEIGHT);
	if (!film)
		demo_fail(NAME, "%s cannot be written", path);
	for (frame = 0; frame <= FRAMES * turns; frame++)
		wrong |= show_frame(&s, film, frame, first, shown);
	if (!animation_close(film))
		demo_fail(NAME, "%s cannot be written", path);
	draw_write_rgb(NAME, picture, 2 * WIDTH, 2 * HEIGHT, shown);
	draw_report(&s.draw, "the last frame");
	printf("%s: %u frames; behind a turn of a tooth: %s; wrote %s\n", NAME, frame,
	       wrong ? "DIFFERENT" : "the same picture", path);
	for (i = 0; i < GEARS; i++)
		draw_model_free(&s.draw, &s.model[i]);
	world_close(&s.world);
	draw_close(&s.draw);
	return wrong != 0;
}
