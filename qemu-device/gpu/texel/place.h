/* SPDX-License-Identifier: MIT */
/*
 * Addresses and weights of coordinates.
 *
 * Source: Documentation/formats.rst, "Filtering"; hw/surface.h for the layouts. Included by
 * level_*.c after vec.h.
 */

/* Clamp of coordinates; also used for NaN. */
#define COORD_MAX 1e9f

/*
 * Return a coordinate as a position along an axis of n texels, clamped for conversion to an
 * integer.
 */
static inline vf axis_position(vf c, enum pumice_wrap wrap, bool texels, float n)
{
	c = f_min(f_max(c, f_splat(-COORD_MAX)), f_splat(COORD_MAX));
	switch (wrap) {
	case PUMICE_WRAP_REPEAT:
		return (c - f_floor(c)) * n;
	case PUMICE_WRAP_MIRROR:
		return (c - 2.0f * f_floor(c * 0.5f)) * n;
	default:
		if (!texels)
			c *= n;
		return f_min(f_max(c, f_splat(-n - 1.0f)), f_splat(n + 1.0f));
	}
}

/* Wrap a texel number that may be out of range. */
static inline vs axis_wrap(vs i, enum pumice_wrap wrap, s32 n)
{
	const vs last = (vs)splat((u32)n - 1), zero = { 0 };

	switch (wrap) {
	case PUMICE_WRAP_REPEAT:
		i += (vs)((vu)(i < zero) & (u32)n);
		i -= (vs)((vu)(i > last) & (u32)n);
		break;
	case PUMICE_WRAP_MIRROR:
		i = (vs)u_select((vu)(i < zero), (vu)~i, (vu)i);
		i = (vs)u_select((vu)(i > last), (vu)(2 * last + 1 - i), (vu)i);
		break;
	case PUMICE_WRAP_MIRROR_ONCE:
		i = (vs)u_select((vu)(i < zero), (vu)~i, (vu)i);
		break;
	default:
		break;
	}
	return s_min(s_max(i, zero), last);
}

static inline void place_axis(const struct tf_place *p, u32 a, struct tf_taps *t)
{
	const enum pumice_wrap wrap = (enum pumice_wrap)p->wrap[a];
	const s32 n = (s32)p->size[a];

	EACH(k) {
		vf x = axis_position(CVF(p->coord[a])[k], wrap, p->texels, (float)n);
		vf low = f_floor(x - 0.5f), part = (x - 0.5f) - low;
		vs first;

		if (p->linear != ~0u) {
			vu linear = u_lanes(p->linear, k);

			low = f_select(linear, low, f_floor(x));
			part = (vf)((vu)part & linear);
		}
		first = s_of_f(low);
		VF(t->weight[a])[k] = part;
		VU(t->index[a][0])[k] = (vu)axis_wrap(first, wrap, n);
		VU(t->index[a][1])[k] = (vu)axis_wrap(first + 1, wrap, n);
		if (wrap == PUMICE_WRAP_BORDER) {
			VU(t->beyond[a][0])[k] = (vu)((vu)first >= (u32)n);
			VU(t->beyond[a][1])[k] = (vu)((vu)(first + 1) >= (u32)n);
		}
	}
}

static inline vu spread(vu n)
{
	n = (n | n << 8) & 0x00ff00ff;
	n = (n | n << 4) & 0x0f0f0f0f;
	n = (n | n << 2) & 0x33333333;
	return (n | n << 1) & 0x55555555;
}

/* Return the result of pumice_level_column(), in blocks. */
static inline vu column_blocks(const struct pumice_level *level, vu x)
{
	u32 bits = level->squares;

	switch (level->layout) {
	case PUMICE_LAYOUT_TILED:
		return ((x >> 3) << 6) + (x & 7);
	case PUMICE_LAYOUT_TWIDDLED:
		return ((x >> bits) << (2 * bits)) + spread(x & ((1u << bits) - 1));
	default:
		return x;
	}
}

/* Return the result of pumice_level_row(), in blocks; for LINEAR in rows. */
static inline vu row_blocks(const struct pumice_level *level, vu y)
{
	u32 bits = level->squares;

	switch (level->layout) {
	case PUMICE_LAYOUT_TILED:
		return (y >> 3) * (level->squares * 64) + ((y & 7) << 3);
	case PUMICE_LAYOUT_TWIDDLED:
		return ((y >> bits) << (2 * bits)) + (spread(y & ((1u << bits) - 1)) << 1);
	default:
		return y;
	}
}

/* Compute addresses of the rows of blocks at tap y of slice tap z. */
static inline void place_rows(const struct tf_place *p, u32 z, u32 y, struct tf_taps *t)
{
	const struct pumice_level *level = p->level;
	const u64 step = level->layout == PUMICE_LAYOUT_LINEAR ? level->stride : level->bytes;
	const u32 *layer = p->dims == 3 ? t->index[2][z] : p->layer;
	u64 *row = t->row[z][y];
	u32 part[PUMICE_LANES] __attribute__((aligned(64)));
	/* Nearly always a layer is small enough for 32 bits. */
	const bool small = level->layer_bytes <= ~0u;

	EACH(k) {
		vu v = p->dims > 1 ? CVU(t->index[1][y])[k] >> p->block_shift : splat(0);

		VU(part)[k] = row_blocks(level, v) * (small ? (u32)step : 1);
	}
	if (small) {
		for (u32 k = 0; k < 2 * VECS; k++)
			((vl *)row)[k] = p->addr +
					 __builtin_convertvector(((const vh *)part)[k], vl);
	} else {
		for (u32 l = 0; l < PUMICE_LANES; l++)
			row[l] = p->addr + part[l] * step;
	}
	if (!layer)
		return;
	for (u32 l = 0; l < PUMICE_LANES; l++)
		row[l] += layer[l] * level->layer_bytes;
}

static void place(const struct tf_place *p, struct tf_taps *t)
{
	for (u32 a = 0; a < p->dims; a++)
		place_axis(p, a, t);
	for (u32 x = 0; x < 2; x++) {
		EACH(k) {
			vu v = CVU(t->index[0][x])[k] >> p->block_shift;

			VU(t->column[x])[k] = column_blocks(p->level, v) * p->level->bytes;
		}
	}
	for (u32 z = 0; z < (p->dims > 2 ? 2u : 1u); z++) {
		for (u32 y = 0; y < (p->dims > 1 ? 2u : 1u); y++)
			place_rows(p, z, y, t);
	}
}
