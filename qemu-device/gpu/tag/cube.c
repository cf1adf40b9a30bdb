// SPDX-License-Identifier: MIT
/*
 * Cubes: directions become places on faces.
 *
 * Source: Documentation/formats.rst, "Cubes".
 */
#include <math.h>

#include "state.h"

/* How a face lies: the axes of its u, of its v and the major one, and which way they go. */
static const struct {
	u8 axis[3];
	float sign[3];
} face[6] = {
	{ { 2, 1, 0 }, { -1, -1, 1 } }, { { 2, 1, 0 }, { 1, -1, -1 } },	/* +x, -x */
	{ { 0, 2, 1 }, { 1, 1, 1 } }, { { 0, 2, 1 }, { 1, -1, -1 } },	/* +y, -y */
	{ { 0, 1, 2 }, { 1, -1, 1 } }, { { 0, 1, 2 }, { -1, -1, -1 } },	/* +z, -z */
};

static u32 face_of(const float d[3])
{
	float ax = fabsf(d[0]), ay = fabsf(d[1]), az = fabsf(d[2]);

	if (az >= ax && az >= ay)
		return d[2] < 0 ? 5 : 4;
	if (ay >= ax)
		return d[1] < 0 ? 3 : 2;
	return d[0] < 0 ? 1 : 0;
}

/* Component n of a vector as a face has it: along its u, its v, out of the cube. */
static float along(const float d[3], u32 f, u32 n)
{
	return d[face[f].axis[n]] * face[f].sign[n];
}

/* A place on a face of a direction's component. */
static float on_face(float a, float m)
{
	return 0.5f * (a / m + 1.0f);
}

/* Derivative of (a / m + 1) / 2, where da and dm are those of a and m. */
static float quotient(float a, float da, float m, float dm)
{
	return 0.5f * (da * m - a * dm) / (m * m);
}

/* Directions become places on faces; so do their derivatives, each lane on its own face. */
void tag_cube_project(struct tag_wave *w, bool derivatives)
{
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		const float d[3] = { w->coord[0][l], w->coord[1][l], w->coord[2][l] };
		const float dx[3] = { w->dx[0][l], w->dx[1][l], w->dx[2][l] };
		const float dy[3] = { w->dy[0][l], w->dy[1][l], w->dy[2][l] };
		u32 f = face_of(d);
		float m = along(d, f, 2);

		w->layer[l] += f;
		w->coord[0][l] = on_face(along(d, f, 0), m);
		w->coord[1][l] = on_face(along(d, f, 1), m);
		for (u32 n = 0; n < 2 && derivatives; n++) {
			float a = along(d, f, n);

			w->dx[n][l] = quotient(a, along(dx, f, n), m, along(dx, f, 2));
			w->dy[n][l] = quotient(a, along(dy, f, n), m, along(dy, f, 2));
		}
	}
}
