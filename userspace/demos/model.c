// SPDX-License-Identifier: MIT
/*
 * A textured and lit model with mip-maps and depth: a knot of marble over a checkered
 * floor, next to a brick box and a polished ball.
 *
 * The GPU draws it twice, with triangles in the order of the model and in the
 * reverse: depth determines visibility, so both pictures must be the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

#define NAME	"pumice-demo-model"
#define WIDTH	960u
#define HEIGHT	720u
#define TEXELS	512u

enum { KNOT, BALL, BOX, FLOOR, MODELS };

struct show {
	struct draw draw;
	struct world world;
	struct draw_model model[MODELS];
	struct pumice_image *texture[MODELS];
};

static struct pumice_image *texture_of(struct show *s, uint32_t *texels)
{
	struct pumice_image *image = draw_texture(&s->draw, TEXELS, texels);

	free(texels);
	return image;
}

static void make(struct show *s)
{
	struct mesh mesh;

	mesh_knot(&mesh, 2, 3, 1.55f, 0.42f, 480, 48);
	draw_model(&s->draw, &mesh, &s->model[KNOT]);
	mesh_free(&mesh);
	mesh_sphere(&mesh, 0.7f, 48, 96);
	draw_model(&s->draw, &mesh, &s->model[BALL]);
	mesh_free(&mesh);
	mesh_box(&mesh, 0.8f, 0.8f, 0.8f);
	draw_model(&s->draw, &mesh, &s->model[BOX]);
	mesh_free(&mesh);
	mesh_plane(&mesh, 30, 15, 24);
	draw_model(&s->draw, &mesh, &s->model[FLOOR]);
	mesh_free(&mesh);
	s->texture[KNOT] = texture_of(s, world_marble(TEXELS));
	s->texture[BALL] = NULL;
	s->texture[BOX] = texture_of(s, world_bricks(TEXELS));
	s->texture[FLOOR] = texture_of(s, world_checker(TEXELS, 4));
}

static void free_all(struct show *s)
{
	uint32_t i;

	for (i = 0; i < MODELS; i++) {
		draw_model_free(&s->model[i]);
		pumice_image_destroy(s->texture[i]);
	}
	world_close(&s->world);
	draw_close(&s->draw);
}

static struct matrix place_of(uint32_t model)
{
	struct matrix rotation, move;

	switch (model) {
	case KNOT:
		rotation = matrix_rotate(0.5f, 0, 1, 0);
		move = matrix_translate(0, 1.5f, 0);
		break;
	case BALL:
		rotation = matrix_identity();
		move = matrix_translate(2.7f, 0.1f, 1.3f);
		break;
	case BOX:
		rotation = matrix_rotate(0.6f, 0, 1, 0);
		move = matrix_translate(-2.9f, 0.2f, 0.6f);
		break;
	default:
		rotation = matrix_identity();
		move = matrix_translate(0, -0.6f, 0);
		break;
	}
	return matrix_multiply(&move, &rotation);
}

static uint8_t *draw_frame(struct show *s, bool reverse)
{
	static const struct world_look_of looks[MODELS] = {
		[KNOT] = { { 1, 1, 1 }, 0.5f, NULL },
		[BALL] = { { 0.75f, 0.12f, 0.08f }, 0.9f, NULL },
		[BOX] = { { 1, 1, 1 }, 0.05f, NULL },
		[FLOOR] = { { 1, 1, 1 }, 0.12f, NULL },
	};
	uint32_t i;

	draw_begin(&s->draw);
	for (i = 0; i < MODELS; i++) {
		const uint32_t m = reverse ? MODELS - 1 - i : i;
		const struct matrix place = place_of(m);
		struct world_look_of look = looks[m];

		look.texture = s->texture[m];
		world_add(&s->world, &s->model[m], &place, &look);
	}
	draw_end(&s->draw);
	draw_report(&s->draw, reverse ? "back to front" : "front to back");
	return draw_pixels(&s->draw);
}

int main(int argc, char **argv)
{
	static const float eye[3] = { 1.6f, 3.0f, 7.2f }, at[3] = { 0, 0.9f, 0 };
	static const float sky[3] = { 0.32f, 0.45f, 0.62f };
	const struct draw_options options = { .width = WIDTH, .height = HEIGHT, .samples = 4 };
	const char *path = "model.png", *device;
	uint8_t *first, *second;
	struct show s;
	int wrong, status;

	device = draw_arguments(NAME,
				"Draws a textured and lit model, front to back and back to front.\n",
				argc, argv, &path);
	draw_open(&s.draw, NAME, device, &options);
	memcpy(s.draw.clear, sky, sizeof(sky));
	world_open(&s.world, &s.draw);
	world_look(&s.world, eye, at, 0.75f);
	make(&s);
	first = draw_frame(&s, false);
	second = draw_frame(&s, true);
	wrong = memcmp(first, second, WIDTH * HEIGHT * 3);
	status = demo_result(NAME, !wrong, "the same picture in either order");
	demo_write_picture(NAME, path, WIDTH, HEIGHT, first);
	free(first);
	free(second);
	free_all(&s);
	return status;
}
