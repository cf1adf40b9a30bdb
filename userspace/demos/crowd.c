// SPDX-License-Identifier: MIT
/* A crowd of knots and balls. */
#include "crowd.h"

#include <stdlib.h>
#include <string.h>

#include "lit_glass.pasm.h"

#define ROWS	9
#define COLUMNS	9

static void make_models(struct crowd *c)
{
	struct mesh mesh;
	uint32_t *texels = world_checker(256, 4);

	mesh_knot(&mesh, 2, 3, 0.8f, 0.22f, 160, 20);
	draw_model(&c->draw, &mesh, &c->knot);
	mesh_free(&mesh);
	mesh_sphere(&mesh, 0.62f, 24, 48);
	draw_model(&c->draw, &mesh, &c->ball);
	mesh_free(&mesh);
	mesh_plane(&mesh, 40, 20, 24);
	draw_model(&c->draw, &mesh, &c->floor);
	mesh_free(&mesh);
	c->checker = draw_texture(&c->draw, 256, texels);
	free(texels);
	c->glass = draw_program(&c->draw, lit_glass_program, sizeof(lit_glass_program));
}

void crowd_open(struct crowd *c, const char *name, const char *device,
		const struct draw_options *options)
{
	static const float eye[3] = { 0, 4.2f, 12.5f }, at[3] = { 0, 0.2f, 0 };

	draw_open(&c->draw, name, device, options);
	memcpy(c->draw.clear, (float[4]){ 0.3f, 0.42f, 0.6f, 1 }, sizeof(c->draw.clear));
	world_open(&c->world, &c->draw);
	world_look(&c->world, eye, at, 0.8f);
	make_models(c);
}

void crowd_close(struct crowd *c)
{
	draw_model_free(&c->knot);
	draw_model_free(&c->ball);
	draw_model_free(&c->floor);
	pumice_image_destroy(c->checker);
	pumice_kernel_destroy(c->glass);
	world_close(&c->world);
	draw_close(&c->draw);
}

static bool is_glass(int row, int column)
{
	return (row + column) % 2 && (row * 3 + column) % 4 < 2;
}

static void add_one(struct crowd *c, int row, int column)
{
	const float x = ((float)column - (COLUMNS - 1) / 2.0f) * 2.0f;
	const float z = ((float)row - (ROWS - 1) / 2.0f) * 2.0f;
	const float hue = (float)((row * 5 + column * 3) % 7) / 6;
	const struct matrix move = matrix_translate(x, 0.3f, z);
	const struct matrix rotation = matrix_rotate((float)(row * COLUMNS + column),
						     0.6f, 0.8f, 0);
	const struct matrix place = matrix_multiply(&move, &rotation);
	const struct world_look_of look = {
		.colour = { 0.85f - 0.6f * hue, 0.25f + 0.35f * hue * (1 - hue) * 4,
			    0.15f + 0.65f * hue },
		.shine = is_glass(row, column) ? 0.9f : 0.5f,
	};
	struct world_object o;

	world_object(&c->world, &o, (row + column) % 2 ? &c->ball : &c->knot, &place, &look);
	if (is_glass(row, column)) {
		o.object.fragment = c->glass;
		o.object.state.isp.pass_type = PUMICE_PASS_TYPE_TRANSLUCENT;
		o.object.state.isp.depth_write = false;
	}
	draw_add(&c->draw, &o.object);
}

void crowd_draw(struct crowd *c)
{
	const struct matrix floor = matrix_translate(0, -0.6f, 0);
	const struct world_look_of look = { { 1, 1, 1 }, 0.1f, c->checker };
	int glass, row, column;

	draw_begin(&c->draw);
	world_add(&c->world, &c->floor, &floor, &look);
	for (glass = 0; glass < 2; glass++)
		for (row = 0; row < ROWS; row++)
			for (column = 0; column < COLUMNS; column++)
				if (is_glass(row, column) == glass)
					add_one(c, row, column);
	draw_end(&c->draw);
}
