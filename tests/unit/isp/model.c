// SPDX-License-Identifier: MIT
/* See model.h. */
#include "model.h"

#include <math.h>
#include <string.h>

#include "../support/number.h"

static u64 seed = NUMBER_SEED;

u32 model_below(u32 n)
{
	return number_random(&seed, n);
}

u64 model_random(void)
{
	return (u64)model_below(UINT32_MAX) << 32 | model_below(UINT32_MAX);
}

static double unit(void)
{
	return (double)(model_random() >> 11) * 0x1p-53;
}

void model_random_tile(struct isp_tile *tile)
{
	static const u32 size[3][2] = { { 32, 32 }, { 16, 16 }, { 32, 16 } };
	const u32 kind = model_below(3);
	u32 s, p;

	tile->width = size[kind][0];
	tile->height = size[kind][1];
	tile->x0 = model_below(8192 / tile->width) * tile->width;
	tile->y0 = model_below(8192 / tile->height) * tile->height;
	tile->clip_x = model_below(4) ? tile->width : 1 + model_below(tile->width);
	tile->clip_y = model_below(4) ? tile->height : 1 + model_below(tile->height);
	tile->samples = 1u << model_below(3);
	isp_tile_clear(tile, (float)unit(), (u8)model_below(256));
	for (s = 0; s < 4; s++) {
		for (p = 0; p < 1024; p++) {
			if (model_below(2))
				tile->depth[s][p] = (float)unit();
			if (p < ISP_MASK_BYTES)
				tile->mask[s][p] = (u8)model_below(256);
			tile->stencil[s][p] = (u8)(model_below(2) ? model_below(256) :
								    model_below(3) + 254);
		}
	}
}

void model_random_triangle(const struct isp_tile *tile, struct isp_triangle *t, u32 kind)
{
	static const u32 range[] = { 2, 8, 40, 200, 4000, 32000 };
	const u32 r = range[kind % 6];
	const s32 cx = (s32)(tile->x0 + model_below(tile->width)) * 256;
	const s32 cy = (s32)(tile->y0 + model_below(tile->height)) * 256;
	u32 i;

	for (i = 0; i < 3; i++) {
		s32 x = cx + (s32)model_below(r * 256) - (s32)(r * 128);
		s32 y = cy + (s32)model_below(r * 256) - (s32)(r * 128);

		/* Half of them on sample positions, where edges meet samples. */
		if (model_below(2)) {
			x &= ~31;
			y &= ~31;
		}
		x = x > ISP_MAX_POSITION ? ISP_MAX_POSITION : x;
		y = y > ISP_MAX_POSITION ? ISP_MAX_POSITION : y;
		t->x[i] = x < -ISP_MAX_POSITION ? -ISP_MAX_POSITION : x;
		t->y[i] = y < -ISP_MAX_POSITION ? -ISP_MAX_POSITION : y;
		t->z[i] = (float)(unit() * 1.2 - 0.1);
		t->vertex[i] = (u8)i;
	}
	if (!model_below(64))
		t->z[model_below(3)] = NAN;
	if (!model_below(64))
		t->z[model_below(3)] = INFINITY;
}

static void random_face(struct isp_stencil *f)
{
	*f = (struct isp_stencil){
		.func = (u8)model_below(8), .sfail = (u8)model_below(8),
		.zfail = (u8)model_below(8), .pass = (u8)model_below(8),
		.ref = (u8)model_below(256),
		.mask = (u8)(model_below(2) ? 255 : model_below(256)),
		.write = (u8)(model_below(2) ? 255 : model_below(256)),
	};
}

void model_random_state(const struct isp_tile *tile, struct isp_state *state)
{
	*state = (struct isp_state){
		.pass_type = (u8)model_below(4), .depth_func = (u8)model_below(8),
		.depth_write = model_below(2), .stencil = model_below(2),
		.depth_bias = model_below(2), .x1 = 8192, .y1 = 8192,
		.sample_mask = (u8)(model_below(2) ? 15 : model_below(16)),
		.bias_constant = (float)(unit() * 1000 - 500),
		.bias_slope = (float)(unit() * 4 - 2),
		.bias_clamp = model_below(2) ? 0 : (float)(unit() * 0.01 - 0.005),
	};
	/* Without any test: rare otherwise. */
	if (!model_below(8)) {
		state->pass_type = PUMICE_PASS_TYPE_OPAQUE;
		state->depth_func = PUMICE_COMPARE_ALWAYS;
		state->stencil = false;
	} else if (!model_below(3)) {
		state->mask_test = (u8)model_below(PUMICE_MASK_TEST_COUNT);
		state->mask_op = (u8)model_below(PUMICE_MASK_OP_COUNT);
	}
	state->no_tag = state->pass_type == PUMICE_PASS_TYPE_OPAQUE && !model_below(4);
	random_face(&state->face[0]);
	random_face(&state->face[1]);
	if (model_below(2))
		return;
	state->x0 = (u16)(tile->x0 + model_below(tile->width));
	state->x1 = (u16)(tile->x0 + model_below(tile->width + 1));
	state->y0 = (u16)(tile->y0 + model_below(tile->height));
	state->y1 = (u16)(tile->y0 + model_below(tile->height + 1));
}

u32 model_pixel(const struct isp_tile *tile, u32 x, u32 y)
{
	return (y / 2 * (tile->width / 2) + x / 2) * 4 + y % 2 * 2 + x % 2;
}

static bool mask_bit(const struct isp_tile *tile, u32 s, u32 p)
{
	return tile->mask[s][p / 8] & 1u << p % 8;
}

void model_copy(struct model *m, const struct isp_tile *tile)
{
	u32 s, x, y;

	for (s = 0; s < tile->samples; s++) {
		for (y = 0; y < tile->height; y++) {
			for (x = 0; x < tile->width; x++) {
				const u32 p = model_pixel(tile, x, y);

				m->depth[s][y * 32 + x] = tile->depth[s][p];
				m->stencil[s][y * 32 + x] = tile->stencil[s][p];
				m->tag[s][y * 32 + x] = tile->tag[s][p];
				m->mask[s][y * 32 + x] = mask_bit(tile, s, p);
			}
		}
	}
}

u32 model_differs(const struct model *m, const struct isp_tile *tile)
{
	u32 s, x, y, differs = 0;

	for (s = 0; s < tile->samples; s++) {
		for (y = 0; y < tile->height; y++) {
			for (x = 0; x < tile->width; x++) {
				const u32 p = model_pixel(tile, x, y), q = y * 32 + x;

				differs += memcmp(&m->depth[s][q], &tile->depth[s][p], 4) ||
					   m->stencil[s][q] != tile->stencil[s][p] ||
					   m->tag[s][q] != tile->tag[s][p] ||
					   m->mask[s][q] != mask_bit(tile, s, p);
			}
		}
	}
	return differs;
}

/* Sample positions in 1/256 pixel. */
static void sample_at(const struct isp_tile *tile, u32 x, u32 y, u32 sample, s64 *sx, s64 *sy)
{
	static const u8 two[2][2] = { { 4, 4 }, { 12, 12 } };
	static const u8 four[4][2] = { { 6, 2 }, { 14, 6 }, { 2, 10 }, { 10, 14 } };
	u32 ox = 8, oy = 8;

	if (tile->samples == 2) {
		ox = two[sample][0];
		oy = two[sample][1];
	} else if (tile->samples == 4) {
		ox = four[sample][0];
		oy = four[sample][1];
	}
	*sx = (s64)(tile->x0 + x) * 256 + ox * 16;
	*sy = (s64)(tile->y0 + y) * 256 + oy * 16;
}

bool model_covers(const struct isp_tile *tile, const struct isp_triangle *t,
		  const struct isp_state *state, u32 x, u32 y, u32 sample)
{
	const u32 px = tile->x0 + x, py = tile->y0 + y;
	u32 order[3] = { 0, 1, 2 }, n;
	__int128 area;
	s64 sx, sy;

	if (x >= tile->clip_x || y >= tile->clip_y || px < state->x0 || px >= state->x1 ||
	    py < state->y0 || py >= state->y1 || !(state->sample_mask >> sample & 1))
		return false;
	area = (__int128)((s64)t->x[1] - t->x[0]) * ((s64)t->y[2] - t->y[0]) -
	       (__int128)((s64)t->x[2] - t->x[0]) * ((s64)t->y[1] - t->y[0]);
	if (!area)
		return false;
	if (area < 0) {
		order[1] = 2;
		order[2] = 1;
	}
	sample_at(tile, x, y, sample, &sx, &sy);
	for (n = 0; n < 3; n++) {
		const u32 i = order[n], j = order[(n + 1) % 3];
		const __int128 e = (__int128)((s64)t->x[j] - t->x[i]) * (sy - t->y[i]) -
				   (__int128)((s64)t->y[j] - t->y[i]) * (sx - t->x[i]);
		const bool edge = t->y[j] < t->y[i] || (t->y[j] == t->y[i] && t->x[j] > t->x[i]);

		if (e < 0 || (e == 0 && !edge))
			return false;
	}
	return true;
}

float model_depth(const struct isp_tile *tile, const struct isp_triangle *t,
		  const struct isp_state *state, u32 x, u32 y, u32 sample)
{
	double vx[3], vy[3], a, dzdx, dzdy, z, bias = 0;
	s64 sx, sy;
	u32 i;

	for (i = 0; i < 3; i++) {
		vx[i] = t->x[i] / 256.0;
		vy[i] = t->y[i] / 256.0;
	}
	a = (double)((s64)((s64)t->x[1] - t->x[0]) * ((s64)t->y[2] - t->y[0]) -
		     (s64)((s64)t->x[2] - t->x[0]) * ((s64)t->y[1] - t->y[0])) / 65536;
	dzdx = (((double)t->z[1] - (double)t->z[0]) * (vy[2] - vy[0]) -
		((double)t->z[2] - (double)t->z[0]) * (vy[1] - vy[0])) / a;
	dzdy = (((double)t->z[2] - (double)t->z[0]) * (vx[1] - vx[0]) -
		((double)t->z[1] - (double)t->z[0]) * (vx[2] - vx[0])) / a;
	if (state->depth_bias) {
		bias = (double)state->bias_constant * 0x1p-24 +
		       (double)state->bias_slope * fmax(fabs(dzdx), fabs(dzdy));
		if (state->bias_clamp > 0)
			bias = fmin(bias, (double)state->bias_clamp);
		if (state->bias_clamp < 0)
			bias = fmax(bias, (double)state->bias_clamp);
	}
	sample_at(tile, x, y, sample, &sx, &sy);
	z = ((double)t->z[0] + dzdx * ((double)sx / 256 - vx[0])) +
		dzdy * ((double)sy / 256 - vy[0]);
	z = z + bias;
	if (!(z > 0))
		return 0;
	return z > 1 ? 1 : (float)z;
}

static bool compare(u32 func, double a, double b)
{
	switch (func) {
	case PUMICE_COMPARE_NEVER: return false;
	case PUMICE_COMPARE_LESS: return a < b;
	case PUMICE_COMPARE_EQUAL: return a == b;
	case PUMICE_COMPARE_LESS_EQUAL: return a <= b;
	case PUMICE_COMPARE_GREATER: return a > b;
	case PUMICE_COMPARE_NOT_EQUAL: return a != b;
	case PUMICE_COMPARE_GREATER_EQUAL: return a >= b;
	default: return true;
	}
}

static u8 stencil_op(u32 op, int old, int ref)
{
	switch (op) {
	case PUMICE_STENCIL_OP_KEEP: return (u8)old;
	case PUMICE_STENCIL_OP_ZERO: return 0;
	case PUMICE_STENCIL_OP_REPLACE: return (u8)ref;
	case PUMICE_STENCIL_OP_INCR: return (u8)(old == 255 ? 255 : old + 1);
	case PUMICE_STENCIL_OP_DECR: return (u8)(old == 0 ? 0 : old - 1);
	case PUMICE_STENCIL_OP_INVERT: return (u8)(255 - old);
	case PUMICE_STENCIL_OP_INCR_WRAP: return (u8)(old + 1);
	default: return (u8)(old - 1);
	}
}

bool model_mask_test(const struct model *m, const struct isp_state *state, u32 sample, u32 at)
{
	switch (state->mask_test) {
	case PUMICE_MASK_TEST_SET: return m->mask[sample][at];
	case PUMICE_MASK_TEST_CLEAR: return !m->mask[sample][at];
	default: return true;
	}
}

static bool mask_op(u32 op, bool old)
{
	switch (op) {
	case PUMICE_MASK_OP_SET: return true;
	case PUMICE_MASK_OP_CLEAR: return false;
	case PUMICE_MASK_OP_INVERT: return !old;
	default: return old;
	}
}

bool model_test(struct model *m, const struct isp_state *state, bool back, u32 sample, u32 at,
		float z, bool write_pass)
{
	const struct isp_stencil *f = &state->face[back];
	const u8 old = m->stencil[sample][at];
	const bool near = compare(state->depth_func, (double)z, (double)m->depth[sample][at]);
	const bool ok = !state->stencil || compare(f->func, f->ref & f->mask, old & f->mask);
	const u32 op = !ok ? f->sfail : !near ? f->zfail : f->pass;

	if (state->stencil && (!(ok && near) || write_pass))
		m->stencil[sample][at] =
			(u8)((old & ~f->write) | (stencil_op(op, old, f->ref) & f->write));
	if (ok && near && write_pass && state->depth_write)
		m->depth[sample][at] = z;
	if (ok && near && write_pass)
		m->mask[sample][at] = mask_op(state->mask_op, m->mask[sample][at]);
	return ok && near;
}

static bool passes(const struct model *m, const struct isp_state *state, bool back, u32 sample,
		   u32 at, float z)
{
	static struct model copy;

	copy.depth[sample][at] = m->depth[sample][at];
	copy.stencil[sample][at] = m->stencil[sample][at];
	return model_test(&copy, state, back, sample, at, z, true);
}

/* Return whether all tests are done after the program. */
static bool untested(const struct isp_state *state)
{
	const struct isp_stencil *f = state->face;

	if (state->pass_type == PUMICE_PASS_TYPE_PUNCH_THROUGH)
		return state->stencil && (f[0].sfail || f[0].zfail || f[1].sfail || f[1].zfail);
	return state->pass_type == PUMICE_PASS_TYPE_DEPTH_WRITE;
}

/* Draw one covered sample. */
static void draw_sample(struct model *m, const struct isp_state *state, bool back, u32 tag, u32 s,
			u32 at, float z, bool many, struct model_result *r)
{
	const u32 old = m->tag[s][at];
	bool pass = true;

	r->overlap |= old >> 31;
	if (!model_mask_test(m, state, s, at))
		return;
	if (!untested(state))
		pass = passes(m, state, back, s, at, z);
	r->overlap |= pass && old && state->pass_type != PUMICE_PASS_TYPE_OPAQUE;
	if (!untested(state))
		model_test(m, state, back, s, at, z,
			   state->pass_type != PUMICE_PASS_TYPE_PUNCH_THROUGH);
	if (!pass)
		return;
	r->passed++;
	if (state->no_tag)
		return;
	m->tag[s][at] = state->pass_type == PUMICE_PASS_TYPE_OPAQUE ||
			(state->pass_type == PUMICE_PASS_TYPE_TRANSLUCENT && !many) ?
				tag : tag | 1u << 31;
}

struct model_result model_draw(struct model *m, const struct isp_tile *tile,
			       const struct isp_triangle *t, const struct isp_state *state,
			       bool back, u32 tag)
{
	struct model_result r = { 0 };
	u32 x, y, s;

	for (y = 0; y < tile->height; y++) {
		for (x = 0; x < tile->width; x++) {
			bool any = false;

			for (s = 0; s < tile->samples; s++) {
				if (!model_covers(tile, t, state, x, y, s))
					continue;
				any = true;
				draw_sample(m, state, back, tag, s, y * 32 + x,
					    model_depth(tile, t, state, x, y, s),
					    tile->samples > 1, &r);
			}
			r.covered += any;
		}
	}
	return r;
}
