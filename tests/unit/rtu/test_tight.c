// SPDX-License-Identifier: MIT
/*
 * Shared edges have no gap: rays inside of closed meshes, aimed at edges and vertices, always hit.
 */
#include "fixture.h"

#include <math.h>
#include <string.h>

#define RAYS 100000u
#define SIDE 24u			/* of the grid of each face of a cube */
#define TRIANGLES (6 * SIDE * SIDE * 2)

/* A point of a face of the cube, moved to the surface of a lumpy ball at centre. */
static void point(u32 face, u32 x, u32 y, const float *centre, bool ball, float *out)
{
	float v[3], length;

	v[face % 3] = face < 3 ? 1 : -1;
	v[(face + 1) % 3] = (float)x / SIDE * 2 - 1;
	v[(face + 2) % 3] = (float)y / SIDE * 2 - 1;
	length = ball ? sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) : 1;
	if (ball)
		length /= 1 + 0.3f * sinf(7 * v[0]) * sinf(5 * v[1]) * sinf(3 * v[2]);
	for (u32 a = 0; a < 3; a++)
		out[a] = v[a] / length + centre[a];
}

static void mesh(const float *centre, bool ball, float *v)
{
	static const u8 corner[6][2] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 0 },
					 { 1, 1 }, { 0, 1 } };

	for (u32 n = 0; n < TRIANGLES * 3; n++) {
		u32 square = n / 6, at = n % 6;

		point(square / (SIDE * SIDE), square % SIDE + corner[at][0],
		      square / SIDE % SIDE + corner[at][1], centre, ball, v + (size_t)n * 3);
	}
}

/* Aim at a point of an edge, or at a vertex, of a random triangle. */
static void aim(u64 *seed, const float *vertices, const float *centre, struct ray *ray)
{
	const float *v = vertices + (size_t)rand_below(seed, TRIANGLES) * 9;
	u32 a = rand_below(seed, 3), b = (a + 1) % 3;
	float w = rand_below(seed, 4) ? rand_float(seed, 0, 1) : (float)rand_below(seed, 2);

	*ray = (struct ray){ .max = INFINITY };
	for (u32 k = 0; k < 3; k++) {
		ray->origin[k] = centre[k] + rand_float(seed, -0.1f, 0.1f);
		ray->direction[k] = v[a * 3 + k] * (1 - w) + v[b * 3 + k] * w - ray->origin[k];
	}
}

static void check_mesh(const float *centre, bool ball)
{
	static float vertices[TRIANGLES * 9];
	static struct ray rays[RAYS];
	static struct result got[RAYS];
	struct fixture fx;
	struct tree tree;
	u32 lost = 0;

	fx_setup(&fx);
	mesh(centre, ball, vertices);
	fx_triangles(&fx, &tree, vertices, TRIANGLES);
	for (u32 n = 0; n < RAYS; n++)
		aim(&fx.seed, vertices, centre, &rays[n]);
	fx_trace_all(&fx, tree.va, false, rays, got, RAYS);
	for (u32 n = 0; n < RAYS; n++) {
		lost += got[n].kind == PUMICE_RT_HIT_NONE;
		/* The aim is 1 away. A folded mesh is never hit far before it. */
		if (got[n].kind)
			assert_in_range((u32)(got[n].t * 1000), 950, 1050);
	}
	assert_int_equal(lost, 0);
	fx_trace_all(&fx, tree.va, true, rays, got, RAYS);
	for (u32 n = 0; n < RAYS; n++)
		assert_int_not_equal(got[n].kind, PUMICE_RT_HIT_NONE);
	fx_teardown(&fx);
}

static void no_ray_passes_between_triangles_of_a_ball(void **state)
{
	(void)state;
	check_mesh((const float[]){ 0, 0, 0 }, true);
}

/* The sides of boxes are edges of the mesh, and coordinates have few bits left for the mesh. */
static void no_ray_passes_between_triangles_of_a_cube(void **state)
{
	(void)state;
	check_mesh((const float[]){ 0, 0, 0 }, false);
	check_mesh((const float[]){ 900, -700, 1000 }, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_ray_passes_between_triangles_of_a_ball),
		cmocka_unit_test(no_ray_passes_between_triangles_of_a_cube),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
