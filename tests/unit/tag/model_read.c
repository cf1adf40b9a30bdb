// SPDX-License-Identifier: MIT
/* Filters of the scalar model. See model.h. */
#include <math.h>

#include "model.h"

/* Return a texel number along an axis of n texels; -1: the border. */
static s32 wrap_index(s32 i, u32 wrap, s32 n)
{
	switch (wrap) {
	case PUMICE_WRAP_REPEAT:
		return (i % n + n) % n;
	case PUMICE_WRAP_MIRROR:
		i = (i % (2 * n) + 2 * n) % (2 * n);
		return i < n ? i : 2 * n - 1 - i;
	case PUMICE_WRAP_BORDER:
		return i < 0 || i >= n ? -1 : i;
	case PUMICE_WRAP_MIRROR_ONCE:
		i = i < 0 ? -1 - i : i;
		return i < n ? i : n - 1;
	default:
		return i < 0 ? 0 : i < n ? i : n - 1;
	}
}

static u32 dims_of(u32 dim)
{
	switch (dim) {
	case PUMICE_TEXTURE_DIM_1D:
	case PUMICE_TEXTURE_DIM_1D_ARRAY:
		return 1;
	case PUMICE_TEXTURE_DIM_3D:
		return 3;
	default:
		return 2;
	}
}

static u32 axis_size(const struct model_surface *s, u32 axis, u32 level)
{
	return model_level_size(axis == 0 ? s->width : axis == 1 ? s->height : s->depth, level);
}

static struct model_texel border_colour(const struct model_read *r)
{
	double white = r->border == PUMICE_BORDER_OPAQUE_WHITE;
	struct model_texel t = { { white, white, white,
				   r->border != PUMICE_BORDER_TRANSPARENT_BLACK } };

	for (u32 c = model_components(r->surface.format); c < 4; c++)
		t.c[c] = c == 3;
	return t;
}

static bool compare(u32 func, double a, double b)
{
	bool less = a < b, equal = a == b, greater = a > b;

	/* The three bits of a function's number select the cases for which it is true. */
	return (func & 1 && less) || (func & 2 && equal) || (func & 4 && greater);
}

/* Return a texel, or the result of its comparison. */
static struct model_texel judged(const struct model_read *r, struct model_texel t)
{
	double reference = r->reference;

	if (!r->compare)
		return t;
	if (r->surface.format != PUMICE_FORMAT_D32_FLOAT)
		reference = fmin(fmax(reference, 0), 1);
	t.c[0] = compare(r->func, (float)reference, (float)t.c[0]);
	t.c[1] = t.c[2] = t.c[3] = t.c[0];
	return t;
}

/* A texel by integer coordinates, which may be beyond the edges. */
static struct model_texel tap(const struct model_read *r, u32 level, u32 layer, const s32 at[3])
{
	const struct model_surface *s = &r->surface;
	s32 inside[3] = { 0 };
	bool beyond = false;

	for (u32 a = 0; a < dims_of(s->dim); a++) {
		inside[a] = wrap_index(at[a], r->wrap[a], (s32)axis_size(s, a, level));
		beyond |= inside[a] < 0;
	}
	if (s->dim == PUMICE_TEXTURE_DIM_3D)
		layer = (u32)inside[2];
	return judged(r, beyond ? border_colour(r) :
		      model_texel_at(s, r->memory, level, layer, (u32)inside[0], (u32)inside[1]));
}

/*
 * Return the texel of a cube beyond an edge of a face: the intersection of the cube with the line
 * from its centre through the texel's centre on the extended plane of this face.
 */
static struct model_texel across(const struct model_read *r, u32 level, u32 layer,
				 const s32 at[3])
{
	u32 n = axis_size(&r->surface, 0, level), face;
	double dir[3], u, v;

	model_direction(layer % 6, (at[0] + 0.5) / n, (at[1] + 0.5) / n, dir);
	face = model_face(dir, &u, &v);
	return judged(r, model_texel_at(&r->surface, r->memory, level, layer - layer % 6 + face,
					(u32)floor(u * n), (u32)floor(v * n)));
}

/*
 * The four texels of a cube's filter from first on. At the cube's corner there are only
 * three: the fourth is their average, or, for a gather, the nearest one on the face.
 */
static void cube_taps(const struct model_read *r, u32 level, u32 layer, const s32 first[3],
		      bool gather, struct model_texel t[4])
{
	s32 n = (s32)axis_size(&r->surface, 0, level);
	u32 missing = 4;

	for (u32 i = 0; i < 4; i++) {
		const s32 at[3] = { first[0] + (s32)(i & 1), first[1] + (s32)(i >> 1), 0 };
		bool out_u = at[0] < 0 || at[0] >= n, out_v = at[1] < 0 || at[1] >= n;

		t[i] = out_u != out_v ? across(r, level, layer, at) : tap(r, level, layer, at);
		if (out_u && out_v)
			missing = i;
	}
	if (missing == 4 || gather)
		return;
	for (u32 c = 0; c < 4; c++) {
		double sum = 0;

		for (u32 i = 0; i < 4; i++)
			sum += i == missing ? 0 : t[i].c[c];
		t[missing].c[c] = sum / 3;
	}
}

static bool is_cube(const struct model_read *r)
{
	return r->surface.dim == PUMICE_TEXTURE_DIM_CUBE ||
	       r->surface.dim == PUMICE_TEXTURE_DIM_CUBE_ARRAY;
}

static double position(const struct model_read *r, u32 axis, u32 level, const double coord[3])
{
	return coord[axis] * (r->texels ? 1.0 : axis_size(&r->surface, axis, level));
}

struct model_texel model_sample(const struct model_read *r, u32 level, u32 layer,
				const double coord[3])
{
	u32 dims = dims_of(r->surface.dim);
	struct model_texel sum = { { 0 } }, cube[4];
	s32 first[3] = { 0 }, at[3] = { 0 };
	double part[3] = { 0 };

	for (u32 a = 0; a < dims; a++) {
		double p = position(r, a, level, coord) - (r->linear ? 0.5 : 0);

		first[a] = (s32)floor(p);
		part[a] = r->linear ? p - floor(p) : 0;
	}
	if (is_cube(r) && r->linear)
		cube_taps(r, level, layer, first, false, cube);
	for (u32 n = 0; n < 1u << dims; n++) {
		struct model_texel t;
		double weight = 1;

		for (u32 a = 0; a < dims; a++) {
			at[a] = first[a] + (s32)(n >> a & 1);
			weight *= n >> a & 1 ? part[a] : 1 - part[a];
		}
		if (weight == 0)
			continue;
		t = is_cube(r) && r->linear ? cube[n] : tap(r, level, layer, at);
		for (u32 c = 0; c < 4; c++)
			sum.c[c] += weight * t.c[c];
	}
	return sum;
}

void model_gather(const struct model_read *r, u32 layer, const double coord[3],
		  struct model_texel out[4])
{
	const s32 first[3] = { (s32)floor(position(r, 0, 0, coord) - 0.5),
			       (s32)floor(position(r, 1, 0, coord) - 0.5), 0 };

	if (is_cube(r)) {
		cube_taps(r, 0, layer, first, true, out);
		return;
	}
	for (u32 n = 0; n < 4; n++) {
		const s32 at[3] = { first[0] + (s32)(n & 1), first[1] + (s32)(n >> 1), 0 };

		out[n] = tap(r, 0, layer, at);
	}
}

double model_margin(const struct model_read *r, u32 level, const double coord[3], bool linear)
{
	double nearest = 0.5;

	for (u32 a = 0; a < dims_of(r->surface.dim); a++) {
		double p = position(r, a, level, coord) - (linear ? 0.5 : 0);

		nearest = fmin(nearest, fabs(p - round(p)));
	}
	return nearest;
}

/* The common table of faces: major axis, u and v. */
u32 model_face(const double dir[3], double *u, double *v)
{
	double x = dir[0], y = dir[1], z = dir[2], major, s, t;
	u32 face;

	if (fabs(z) >= fabs(x) && fabs(z) >= fabs(y)) {
		face = z < 0 ? 5 : 4;
		s = z < 0 ? -x : x;
		t = -y;
		major = fabs(z);
	} else if (fabs(y) >= fabs(x)) {
		face = y < 0 ? 3 : 2;
		s = x;
		t = y < 0 ? -z : z;
		major = fabs(y);
	} else {
		face = x < 0 ? 1 : 0;
		s = x < 0 ? z : -z;
		t = -y;
		major = fabs(x);
	}
	*u = (s / major + 1) / 2;
	*v = (t / major + 1) / 2;
	return face;
}

void model_direction(u32 face, double u, double v, double dir[3])
{
	const double s = 2 * u - 1, t = 2 * v - 1;
	const double all[6][3] = { { 1, -t, -s }, { -1, -t, s }, { s, 1, t },
				   { s, -1, -t }, { s, -t, 1 }, { -s, -t, -1 } };

	for (u32 a = 0; a < 3; a++)
		dir[a] = all[face][a];
}
