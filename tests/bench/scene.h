/* SPDX-License-Identifier: MIT */
/* Scenes of all sides of drawing: triangles on a cleared square. */
#ifndef PUMICE_BENCH_SCENE_H
#define PUMICE_BENCH_SCENE_H

#include <stdbool.h>
#include <stdint.h>

/* One vertex: clip position with w = 1, and the inputs of the fragment. */
struct draw_vertex {
	float x, y, z;
	float a, b, c;	/* texture coordinates a, b; or red, green, blue */
};

/* The scene of both sides: triangles on a cleared square, RGBA8. */
struct draw_scene {
	uint32_t size;			/* of the target, pixels */
	const struct draw_vertex *vertex;
	uint32_t vertices;		/* three for each triangle */
	const uint32_t *texture;	/* RGBA8, square, bilinear, repeated;
					 * NULL: colours of the vertices */
	uint32_t texture_size;
	bool lit;			/* colours by a normal and a direction of light instead */
	bool depth;			/* test LESS and write; else in order */
	bool blend;			/* half of the colour below */
	uint32_t samples;		/* of a pixel, averaged in the picture; 0: one */
	uint32_t draws;			/* each of its own part of the vertices; 0: one */
	bool uniforms;			/* each draw has a colour that it adds, 0 in the picture */
	uint32_t insns;			/* of our fragment program, jumped over; 0: none */
};

/* Return the vertices of a draw. */
static inline uint32_t draw_part(uint32_t vertices, uint32_t draws)
{
	return draws ? vertices / draws : vertices;
}

/* Allocate right-angled triangles at random places; their legs have a length in clip space. */
struct draw_vertex *draw_triangles(uint32_t count, float leg);

#endif
