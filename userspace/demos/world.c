// SPDX-License-Identifier: MIT
/* Lit objects seen by a camera, and textures made by formulas. */
#include "world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lit_colour.pasm.h"
#include "lit_texture.pasm.h"
#include "mesh_vertex.pasm.h"

void world_open(struct world *w, struct draw *draw)
{
	*w = (struct world){ .draw = draw, .light = { 0.42f, 0.78f, 0.46f }, .ambient = 0.14f };
	w->vertex = draw_program(draw, mesh_vertex_program, sizeof(mesh_vertex_program));
	w->textured = draw_program(draw, lit_texture_program, sizeof(lit_texture_program));
	w->plain = draw_program(draw, lit_colour_program, sizeof(lit_colour_program));
}

void world_close(struct world *w)
{
	pumice_kernel_destroy(w->vertex);
	pumice_kernel_destroy(w->textured);
	pumice_kernel_destroy(w->plain);
}

void world_look(struct world *w, const float eye[3], const float at[3], float fov)
{
	static const float up[3] = { 0, 1, 0 };
	const float aspect = (float)w->draw->options.width / (float)w->draw->options.height;
	const struct matrix lens = matrix_perspective(fov, aspect, 0.5f, 100);
	const struct matrix view = matrix_look_at(eye, at, up);

	w->clip = matrix_multiply(&lens, &view);
	memcpy(w->eye, eye, sizeof(w->eye));
}

static void fragment_words(const struct world *w, const struct world_look_of *look,
			   uint32_t words[11])
{
	uint32_t i;

	for (i = 0; i < 3; i++) {
		words[i] = PUMICE_WORD_F32(w->light[i]);
		words[4 + i] = PUMICE_WORD_F32(w->eye[i]);
		words[8 + i] = PUMICE_WORD_F32(look->colour[i]);
	}
	words[3] = PUMICE_WORD_F32(w->ambient);
	words[7] = PUMICE_WORD_F32(look->shine);
}

void world_object(const struct world *w, struct world_object *o, const struct draw_model *model,
		  const struct matrix *place, const struct world_look_of *look)
{
	const struct matrix clip = matrix_multiply(&w->clip, place);

	draw_object_init(w->draw, &o->object);
	draw_matrices(o->vertex_words, &clip, place);
	fragment_words(w, look, o->fragment_words);
	o->object.model = model;
	o->object.vertex = w->vertex;
	o->object.fragment = look->texture ? w->textured : w->plain;
	o->object.vertex_uniforms = o->vertex_words;
	o->object.vertex_words = 32;
	o->object.fragment_uniforms = o->fragment_words;
	o->object.fragment_words = 11;
	o->object.texture = look->texture;
	o->object.mipmaps = true;
}

void world_add(const struct world *w, const struct draw_model *model, const struct matrix *place,
	       const struct world_look_of *look)
{
	struct world_object o;

	world_object(w, &o, model, place, look);
	draw_add(w->draw, &o.object);
}

/* ----------------------------------------------------------------- textures */

static uint32_t *make_texels(uint32_t size)
{
	uint32_t *texels = malloc((size_t)size * size * sizeof(*texels));

	if (!texels)
		demo_fail("demo", "no memory for a texture");
	return texels;
}

static uint32_t pack(float r, float g, float b)
{
	const float c[3] = { r, g, b };
	uint32_t word = 0xff000000u;

	for (uint32_t i = 0; i < 3; i++)
		word |= (uint32_t)(fminf(fmaxf(c[i], 0), 1) * 255 + 0.5f) << (8 * i);
	return word;
}

/* A hash of a point, 0 to 1. */
static float noise_at(int x, int y, int period)
{
	uint32_t h = (uint32_t)((x % period + period) % period) * 374761393u +
		     (uint32_t)((y % period + period) % period) * 668265263u;

	h = (h ^ h >> 13) * 1274126177u;
	return (float)((h ^ h >> 16) & 0xffff) / 65535;
}

/* Smooth noise that repeats after period. */
static float noise(float x, float y, int period)
{
	const float fx = floorf(x), fy = floorf(y);
	const int ix = (int)fx, iy = (int)fy;
	float u = x - fx, v = y - fy;

	u = u * u * (3 - 2 * u);
	v = v * v * (3 - 2 * v);
	return (noise_at(ix, iy, period) * (1 - u) + noise_at(ix + 1, iy, period) * u) * (1 - v) +
	       (noise_at(ix, iy + 1, period) * (1 - u) + noise_at(ix + 1, iy + 1, period) * u) * v;
}

/* Noise of several sizes, x and y from 0 to 1. */
static float turbulence(float x, float y, int period, int octaves)
{
	float sum = 0, weight = 0.5f;

	for (int i = 0; i < octaves; i++, period *= 2, weight /= 2)
		sum += weight * noise(x * (float)period, y * (float)period, period);
	return sum;
}

uint32_t *world_bricks(uint32_t size)
{
	uint32_t *texels = make_texels(size);

	for (uint32_t y = 0; y < size; y++) {
		for (uint32_t x = 0; x < size; x++) {
			const float u = (float)x / (float)size * 4, v = (float)y / (float)size * 8;
			const int row = (int)v;
			const float s = u + (row & 1 ? 0.5f : 0), fu = s - floorf(s);
			const float fv = v - floorf(v);
			const float grain = turbulence(u / 4, v / 8, 16, 4);
			const float hue = noise_at((int)floorf(s) % 4, row, 64);

			if (fu < 0.05f || fv < 0.1f)
				texels[y * size + x] = pack(0.62f + 0.2f * grain, 0.6f + 0.2f * grain,
							    0.56f + 0.2f * grain);
			else
				texels[y * size + x] = pack(0.5f + 0.25f * hue + 0.2f * grain,
							    0.2f + 0.12f * hue + 0.16f * grain,
							    0.14f + 0.06f * hue + 0.12f * grain);
		}
	}
	return texels;
}

uint32_t *world_marble(uint32_t size)
{
	uint32_t *texels = make_texels(size);

	for (uint32_t y = 0; y < size; y++) {
		for (uint32_t x = 0; x < size; x++) {
			const float u = (float)x / (float)size, v = (float)y / (float)size;
			const float t = turbulence(u, v, 4, 6);
			const float vein = fabsf(sinf(6.2831853f * (2 * u + v + 1.6f * t)));
			const float k = powf(vein, 0.45f);

			texels[y * size + x] = pack(0.22f + 0.72f * k, 0.26f + 0.66f * k,
						    0.34f + 0.56f * k);
		}
	}
	return texels;
}

uint32_t *world_checker(uint32_t size, uint32_t squares)
{
	uint32_t *texels = make_texels(size);
	const uint32_t square = size / squares;

	for (uint32_t y = 0; y < size; y++) {
		for (uint32_t x = 0; x < size; x++) {
			const float t = 0.08f * turbulence((float)x / (float)size,
							   (float)y / (float)size, 8, 4);

			texels[y * size + x] = (x / square + y / square) & 1 ?
				pack(0.84f + t, 0.83f + t, 0.8f + t) :
				pack(0.2f + t, 0.24f + t, 0.3f + t);
		}
	}
	return texels;
}
