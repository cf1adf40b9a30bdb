// SPDX-License-Identifier: MIT
/*
 * Stencil shadows: shadow volumes count their hidden faces
 * in the stencil, and points where the count is 0 are lit.
 *
 * Three passes in one frame: everything in dim light, which writes depth; the volumes,
 * which write only the stencil; everything again, lit, where there is no shadow. For
 * points of the floor the CPU traces a ray to check whether the ball blocks the light.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "volume.h"
#include "volume.pasm.h"
#include "world.h"

#define NAME	"pumice-demo-shadows"
#define WIDTH	960u
#define HEIGHT	720u
#define FAR	40.0f
#define FLOOR_Y	-0.6f

enum { KNOT, BALL, BOX, FLOOR, MODELS };

static const float ball_at[3] = { 2.6f, 0.8f, 1.1f };
#define BALL_RADIUS 0.75f

struct show {
	struct draw draw;
	struct world world;
	struct draw_model model[MODELS], volume[FLOOR];
	struct matrix place[MODELS];
	struct pumice_kernel *volume_vertex;
	struct pumice_image *checker, *bricks;
};

static void make_places(struct show *s)
{
	const struct matrix rotation = matrix_rotate(0.9f, 0, 1, 0);
	const struct matrix tilt = matrix_rotate(0.5f, 1, 0, 0);
	struct matrix move = matrix_translate(-0.4f, 1.75f, -0.6f);

	s->place[KNOT] = matrix_multiply(&move, &tilt);
	s->place[BALL] = matrix_translate(ball_at[0], ball_at[1], ball_at[2]);
	move = matrix_translate(-2.7f, 0.15f, 1.4f);
	s->place[BOX] = matrix_multiply(&move, &rotation);
	s->place[FLOOR] = matrix_translate(0, FLOOR_Y, 0);
}

static void make_model(struct show *s, uint32_t m, struct mesh *mesh)
{
	struct mesh volume;

	draw_model(&s->draw, mesh, &s->model[m]);
	if (m != FLOOR) {
		volume_make(mesh, &s->place[m], s->world.light, FAR, &volume);
		draw_model(&s->draw, &volume, &s->volume[m]);
		mesh_free(&volume);
	}
	mesh_free(mesh);
}

static void make(struct show *s)
{
	struct mesh mesh;
	uint32_t *texels;

	make_places(s);
	mesh_knot(&mesh, 2, 3, 1.3f, 0.33f, 320, 32);
	make_model(s, KNOT, &mesh);
	mesh_sphere(&mesh, BALL_RADIUS, 48, 96);
	make_model(s, BALL, &mesh);
	mesh_box(&mesh, 0.75f, 0.75f, 0.75f);
	make_model(s, BOX, &mesh);
	mesh_plane(&mesh, 30, 15, 24);
	make_model(s, FLOOR, &mesh);
	texels = world_checker(512, 4);
	s->checker = draw_texture(&s->draw, 512, texels);
	free(texels);
	texels = world_bricks(512);
	s->bricks = draw_texture(&s->draw, 512, texels);
	free(texels);
	s->volume_vertex = draw_program(&s->draw, volume_program, sizeof(volume_program));
}

/* Draw everything: the first time with depth, the second time where no shadow is. */
static void add_objects(struct show *s, bool lit)
{
	static const float colour[MODELS][3] = {
		{ 0.8f, 0.5f, 0.12f }, { 0.16f, 0.35f, 0.7f }, { 1, 1, 1 }, { 1, 1, 1 },
	};
	uint32_t m;

	for (m = 0; m < MODELS; m++) {
		struct world_look_of look = { .shine = lit ? m == FLOOR ? 0.1f : 0.5f : 0 };
		struct pumice_isp_state *isp;
		struct world_object o;

		memcpy(look.colour, colour[m], sizeof(look.colour));
		look.texture = m == FLOOR ? s->checker : m == BOX ? s->bricks : NULL;
		world_object(&s->world, &o, &s->model[m], &s->place[m], &look);
		isp = &o.object.state.isp;
		if (lit) {
			isp->depth_func = PUMICE_COMPARE_EQUAL;
			isp->depth_write = false;
			isp->stencil = true;
			isp->front_func = PUMICE_COMPARE_EQUAL;
		}
		draw_add(&s->draw, &o.object);
	}
}

static void add_volumes(struct show *s)
{
	uint32_t m;

	for (m = 0; m < FLOOR; m++) {
		struct draw_object o;

		draw_object_init(&s->draw, &o);
		o.model = &s->volume[m];
		o.vertex = s->volume_vertex;
		o.fragment = s->world.plain;	/* never runs */
		o.vertex_stream = (const uint32_t *)s->world.clip.m;
		o.stream_words = 16;
		o.state.vdm.varyings = 0;
		o.state.vdm.cull_back = false;
		o.state.isp.depth_write = false;
		o.state.isp.no_tag = true;
		o.state.isp.stencil = true;
		o.state.isp.front_zfail = PUMICE_STENCIL_OP_DECR_WRAP;
		o.state.isp.back_zfail = PUMICE_STENCIL_OP_INCR_WRAP;
		draw_add(&s->draw, &o);
	}
}

static uint8_t *draw_frame(struct show *s, bool shadows)
{
	const float light[3] = { s->world.light[0], s->world.light[1], s->world.light[2] };

	draw_begin(&s->draw);
	memset(s->world.light, 0, sizeof(s->world.light));	/* dim: ambient light only */
	add_objects(s, false);
	memcpy(s->world.light, light, sizeof(light));
	if (shadows)
		add_volumes(s);
	add_objects(s, true);
	draw_end(&s->draw);
	draw_report(&s->draw, shadows ? "three passes" : "without shadows");
	return draw_pixels(&s->draw);
}

/* Compute the distance of a point's light ray from the ball's centre, in radii. */
static float distance_to_ball(const struct show *s, const float p[3])
{
	const float *l = s->world.light;
	float to[3], along = 0, square = 0;
	uint32_t c;

	for (c = 0; c < 3; c++) {
		to[c] = ball_at[c] - p[c];
		along += to[c] * l[c];
	}
	for (c = 0; c < 3; c++) {
		const float off = to[c] - along * l[c];

		square += off * off;
	}
	return sqrtf(square) / BALL_RADIUS;
}

static float brightness(const uint8_t *rgb, uint32_t x, uint32_t y)
{
	const uint8_t *p = &rgb[(y * WIDTH + x) * 3];

	return (float)(p[0] + p[1] + p[2]);
}

/*
 * Check points of the floor in and around the ball's shadow: those darker
 * than without shadows are in it. Return the number of wrong ones.
 */
static uint32_t check_floor(const struct show *s, const uint8_t *rgb, const uint8_t *lit,
			    uint32_t *points)
{
	uint32_t wrong = 0;
	float a, b;

	*points = 0;
	for (a = -2; a <= 2; a += 0.05f) {
		for (b = -2; b <= 2; b += 0.05f) {
			const float t = (ball_at[1] - FLOOR_Y) / s->world.light[1];
			const float p[3] = { ball_at[0] - t * s->world.light[0] + a, FLOOR_Y,
					     ball_at[2] - t * s->world.light[2] + b };
			const float d = distance_to_ball(s, p);
			float clip[4], x, y;

			matrix_apply(&s->world.clip, p, 1, clip);
			x = (clip[0] / clip[3] * 0.5f + 0.5f) * WIDTH;
			y = (0.5f - clip[1] / clip[3] * 0.5f) * HEIGHT;
			/* Skip: the ball is not exactly round at the rim; the box hides others. */
			if (fabsf(d - 1) < 0.06f || d > 1.6f || x < 0 || y < 0 || x >= WIDTH ||
			    y >= HEIGHT || p[0] < 0.4f)
				continue;
			++*points;
			wrong += (d < 1) != (brightness(rgb, (uint32_t)x, (uint32_t)y) <
					     0.75f * brightness(lit, (uint32_t)x, (uint32_t)y));
		}
	}
	return wrong;
}

int main(int argc, char **argv)
{
	static const float eye[3] = { 1.2f, 3.6f, 8.2f }, at[3] = { 0, 0.6f, 0 };
	const struct draw_options options = { .width = WIDTH, .height = HEIGHT, .samples = 4 };
	const char *path = "shadows.png", *device;
	uint32_t wrong, points, m;
	struct show s;
	uint8_t *rgb, *lit;
	int status;

	device = draw_arguments(NAME,
				"Draws stencil shadows and checks points of the floor.\n",
				argc, argv, &path);
	draw_open(&s.draw, NAME, device, &options);
	memcpy(s.draw.clear, (float[4]){ 0.05f, 0.07f, 0.11f, 1 }, sizeof(s.draw.clear));
	world_open(&s.world, &s.draw);
	s.world.ambient = 0.2f;
	world_look(&s.world, eye, at, 0.72f);
	make(&s);
	lit = draw_frame(&s, false);
	rgb = draw_frame(&s, true);
	wrong = check_floor(&s, rgb, lit, &points);
	status = demo_result(NAME, !wrong, "%u of %u points of the floor equal the CPU's",
			     points - wrong, points);
	demo_write_picture(NAME, path, WIDTH, HEIGHT, rgb);
	free(rgb);
	free(lit);
	for (m = 0; m < MODELS; m++)
		draw_model_free(&s.model[m]);
	for (m = 0; m < FLOOR; m++)
		draw_model_free(&s.volume[m]);
	pumice_image_destroy(s.checker);
	pumice_image_destroy(s.bricks);
	pumice_kernel_destroy(s.volume_vertex);
	world_close(&s.world);
	draw_close(&s.draw);
	return status;
}
