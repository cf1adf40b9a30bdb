// SPDX-License-Identifier: MIT
/*
 * Cubes: positions of directions on faces, and filters across a face's edge.
 *
 * Source: Documentation/formats.rst, "Cubes".
 *
 * Limits: lane by lane. A wave whose filters stay on their faces costs only the check for
 * edges more than a 2D texture.
 */
#include <math.h>
#include <string.h>

#include "../number.h"
#include "state.h"

/* Orientation of a face: the axes of its u, of its v and the major one, and their signs. */
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

/* Return component n of a vector in a face's system: along its u, its v, out of the cube. */
static float along(const float d[3], u32 f, u32 n)
{
	return d[face[f].axis[n]] * face[f].sign[n];
}

/* Return the position on a face of a direction's component; on the face even if that is NaN. */
static float on_face(float a, float m)
{
	return clamp01_f32(0.5f * (a / m + 1.0f));
}

/* Return the derivative of (a / m + 1) / 2, where da and dm are those of a and m. */
static float quotient(float a, float da, float m, float dm)
{
	return 0.5f * (da * m - a * dm) / (m * m);
}

/* Project directions to positions on faces, and their derivatives, each lane on its own face. */
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

/*
 * Move positions beyond an edge, on the plane of their face, to the face that their
 * directions intersect.
 */
void tag_cube_wrap(struct tag_wave *w, float (*coord)[PUMICE_LANES])
{
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		float u = coord[0][l], v = coord[1][l], d[3];
		u32 f = w->layer[l] % 6, g;

		if (u >= 0.0f && u <= 1.0f && v >= 0.0f && v <= 1.0f)
			continue;
		d[face[f].axis[0]] = (2.0f * u - 1.0f) * face[f].sign[0];
		d[face[f].axis[1]] = (2.0f * v - 1.0f) * face[f].sign[1];
		d[face[f].axis[2]] = face[f].sign[2];
		g = face_of(d);
		w->layer[l] += g - f;
		for (u32 n = 0; n < 2; n++)
			coord[n][l] = on_face(along(d, g, n), along(d, g, 2));
	}
}

u32 tag_cube_lanes(const struct tag_wave *w, const struct tf_taps *t)
{
	u32 beyond[PUMICE_LANES], any = 0, lanes = 0;

	for (u32 l = 0; l < PUMICE_LANES; l++) {
		beyond[l] = t->beyond[0][0][l] | t->beyond[0][1][l] | t->beyond[1][0][l] |
			    t->beyond[1][1][l];
		any |= beyond[l];
	}
	for (u32 l = 0; l < PUMICE_LANES && any; l++)
		lanes |= (beyond[l] & 1) << l;
	return lanes & w->linear & w->request->lanes;
}

/*
 * Step to the texel past the high or low end of u (axis 0) or v (1), next to the one at at[].
 * Counted in half texels from the middle of a cube of n texels a side: faces are n away,
 * centres of texels odd or even as n is not; the two texels at an edge mirror each other.
 */
static void step_over(u32 n, u32 axis, bool high, u32 *layer, s32 at[2])
{
	const u32 f = *layer % 6, normal = face[f].axis[axis];
	const s32 side = (s32)n;
	s32 p[3];
	u32 g;

	for (u32 a = 0; a < 2; a++)
		p[face[f].axis[a]] = (2 * at[a] + 1 - side) * (s32)face[f].sign[a];
	p[normal] = (high ? side : -side) * (s32)face[f].sign[axis];
	p[face[f].axis[2]] = (side - 1) * (s32)face[f].sign[2];
	g = 2 * normal + (p[normal] < 0);
	*layer += g - f;
	for (u32 a = 0; a < 2; a++)
		at[a] = (p[face[g].axis[a]] * (s32)face[g].sign[a] + side - 1) / 2;
}

void tag_cube_tap(const struct tag_wave *w, const u32 *level, const struct tf_taps *t,
		  u32 lanes, u32 n, struct tag_tap *tap)
{
	const u32 high[2] = { n & 1, n >> 1 };

	memcpy(tap->row, t->row[0][high[1]], sizeof(tap->row));
	memcpy(tap->column, t->column[high[0]], sizeof(tap->column));
	memcpy(tap->x, t->index[0][high[0]], sizeof(tap->x));
	memcpy(tap->y, t->index[1][high[1]], sizeof(tap->y));
	tap->corner = 0;
	for (; lanes; lanes &= lanes - 1) {
		u32 l = (u32)__builtin_ctz(lanes), layer = w->layer[l];
		s32 at[2] = { (s32)tap->x[l], (s32)tap->y[l] };
		bool u = t->beyond[0][high[0]][l], v = t->beyond[1][high[1]][l];

		tap->corner |= (u32)(u && v) << l;
		if (u == v)
			continue;
		step_over(w->state->level[level[l]].width, v, high[v], &layer, at);
		tap->x[l] = (u32)at[0];
		tap->y[l] = (u32)at[1];
		tap->row[l] = tag_row_address(w->state, level[l], layer, tap->y[l]);
		tap->column[l] = tag_column_bytes(w->state, level[l], tap->x[l]);
	}
}

/* Set texel n to the average of the three others, in the lanes of corner. */
static void fill_corner(struct texel_rows texel[4], u32 n, u32 corner)
{
	for (; corner; corner &= corner - 1) {
		u32 l = (u32)__builtin_ctz(corner);

		for (u32 c = 0; c < 4; c++) {
			float sum = 0.0f, one;

			for (u32 other = 0; other < 4; other++) {
				memcpy(&one, &texel[other].row[c][l], sizeof(one));
				sum += other == n ? 0.0f : one;
			}
			sum /= 3.0f;
			memcpy(&texel[n].row[c][l], &sum, sizeof(sum));
		}
	}
}

void tag_cube_corners(struct texel_rows texel[4], const u32 corner[4])
{
	for (u32 n = 0; n < 4; n++)
		fill_corner(texel, n, corner[n]);
}
