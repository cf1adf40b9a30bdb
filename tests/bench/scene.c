// SPDX-License-Identifier: MIT
/* Scenes of all sides of drawing. See scene.h. */
#include "scene.h"

#include <stdlib.h>

#include "common.h"

static float number(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return (float)(*state >> 8) / 16777216.0f;
}

static void put_triangle(struct draw_vertex *v, float leg, uint32_t *state)
{
	const float x = number(state) * (2 - leg) - 1;
	const float y = number(state) * (2 - leg) - 1, z = number(state) * 1.8f - 0.9f;
	const float r = number(state), g = number(state), b = number(state);

	v[0] = (struct draw_vertex){ x, y, z, r, g, b };
	v[1] = (struct draw_vertex){ x + leg, y, z, r, g, b };
	v[2] = (struct draw_vertex){ x, y + leg, z, r, g, b };
}

struct draw_vertex *draw_triangles(uint32_t count, float leg)
{
	struct draw_vertex *vertex = malloc(count * 3ull * sizeof(*vertex));
	uint32_t state = 1, i;

	if (!vertex)
		bench_fail("out of memory");
	for (i = 0; i < count; i++)
		put_triangle(vertex + i * 3ull, leg, &state);
	return vertex;
}
