// SPDX-License-Identifier: MIT
/*
 * ISP, sample by sample: tests and writes after a program has run.
 *
 * Source: Documentation/precision.rst; document 004, "ISP": objects whose depth is known late. The
 * same rules as raster.h, in plain C: few pixels need it.
 */
#include "../number.h"
#include "isp.h"

static bool compare(u32 func, double a, double b)
{
	if (func == PUMICE_COMPARE_ALWAYS)
		return true;
	return (func & PUMICE_COMPARE_LESS && a < b) || (func & PUMICE_COMPARE_EQUAL && a == b) ||
	       (func & PUMICE_COMPARE_GREATER && a > b);
}

static u8 stencil_op(u32 op, u8 old, u8 ref)
{
	switch (op) {
	case PUMICE_STENCIL_OP_ZERO:
		return 0;
	case PUMICE_STENCIL_OP_REPLACE:
		return ref;
	case PUMICE_STENCIL_OP_INCR:
		return old < UINT8_MAX ? old + 1 : old;
	case PUMICE_STENCIL_OP_DECR:
		return old ? old - 1 : old;
	case PUMICE_STENCIL_OP_INVERT:
		return (u8)~old;
	case PUMICE_STENCIL_OP_INCR_WRAP:
		return (u8)(old + 1);
	case PUMICE_STENCIL_OP_DECR_WRAP:
		return (u8)(old - 1);
	default:
		return old;
	}
}

static void write_stencil(u8 *at, const struct isp_stencil *face, u32 op)
{
	*at = (u8)((*at & ~face->write) | (stencil_op(op, *at, face->ref) & face->write));
}

/*
 * Apply the object's operation to a mask bit. A byte has the bits of other spans, too, which
 * other USCs may write at the same time.
 */
static void write_mask(struct isp_tile *tile, const struct isp_state *state, u32 s, u32 p)
{
	u8 *const at = &tile->mask[s][p / 8];
	const u8 bit = (u8)(1u << p % 8);

	switch (state->mask_op) {
	case PUMICE_MASK_OP_SET:
		__atomic_fetch_or(at, bit, __ATOMIC_RELAXED);
		break;
	case PUMICE_MASK_OP_CLEAR:
		__atomic_fetch_and(at, (u8)~bit, __ATOMIC_RELAXED);
		break;
	case PUMICE_MASK_OP_INVERT:
		__atomic_fetch_xor(at, bit, __ATOMIC_RELAXED);
		break;
	}
}

/* Return the pixel of the tile for an index in a quad. */
static u32 column(const struct isp_tile *tile, u32 quad, u32 place)
{
	return quad % (tile->width / 2) * 2 + place % 2;
}

static u32 row(const struct isp_tile *tile, u32 quad, u32 place)
{
	return quad / (tile->width / 2) * 2 + place / 2;
}

static bool fails_visibly(const struct isp_stencil *face)
{
	return face->sfail != PUMICE_STENCIL_OP_KEEP || face->zfail != PUMICE_STENCIL_OP_KEEP;
}

bool isp_tests_late(const struct isp_state *state)
{
	return state->pass_type == PUMICE_PASS_TYPE_PUNCH_THROUGH && state->stencil &&
	       (fails_visibly(&state->face[0]) || fails_visibly(&state->face[1]));
}

/* A sample: its bit in a span, its pixel's index in the quad and in the tile. */
struct sample {
	u32 bit, place, s, p;
};

/* Return the first sample of a set, as in usc_span. */
static struct sample first_sample(u32 samples, u32 quad)
{
	const u32 bit = (u32)__builtin_ctz(samples), place = bit / PUMICE_MAX_SAMPLES;

	return (struct sample){ bit, place, bit % PUMICE_MAX_SAMPLES,
				quad * USC_SPAN_LANES + place };
}

static float depth_at(const struct isp_tile *tile, const struct isp_setup *s, u32 quad, u32 place,
		      u32 sample)
{
	u32 x16, y16;
	double x, y;

	usc_gfx_sample_position(tile->samples, sample, &x16, &y16);
	x = (tile->x0 + column(tile, quad, place)) + x16 / 16.0;
	y = (tile->y0 + row(tile, quad, place)) + y16 / 16.0;
	return (float)clamp01_f64((s->z0 + s->dzdx * (x - s->x0)) +
				  s->dzdy * (y - s->y0) + s->bias);
}

u16 isp_coverage(const struct isp_tile *tile, const struct isp_setup *setup,
		 const struct isp_state *state, u32 quad)
{
	u32 place, s, e, x16, y16, covered = 0;

	for (place = 0; place < USC_SPAN_LANES; place++) {
		const u32 px = tile->x0 + column(tile, quad, place);
		const u32 py = tile->y0 + row(tile, quad, place);

		if (px < state->x0 || px >= state->x1 || py < state->y0 || py >= state->y1 ||
		    px >= tile->x0 + tile->clip_x || py >= tile->y0 + tile->clip_y)
			continue;
		for (s = 0; s < tile->samples; s++) {
			bool in = state->sample_mask >> s & 1;

			usc_gfx_sample_position(tile->samples, s, &x16, &y16);
			for (e = 0; e < 3; e++)
				in &= setup->a[e] * (s64)(px * 256 + x16 * 16) +
				      setup->b[e] * (s64)(py * 256 + y16 * 16) + setup->c[e] >= 0;
			covered |= (u32)in << (place * PUMICE_MAX_SAMPLES + s);
		}
	}
	return (u16)covered;
}

static bool stencil_passes(const struct isp_stencil *face, u8 stencil)
{
	return compare(face->func, face->ref & face->mask, stencil & face->mask);
}

/* Test one sample with its depth and apply the effects of failing or passing. */
static bool test_one(struct isp_tile *tile, const struct isp_state *state,
		     const struct isp_stencil *face, u32 s, u32 p, float z)
{
	u8 *stencil = &tile->stencil[s][p];
	const bool near = compare(state->depth_func, (double)z, (double)tile->depth[s][p]);

	if (state->stencil) {
		const bool ok = stencil_passes(face, *stencil);

		write_stencil(stencil, face, !ok ? face->sfail : near ? face->pass : face->zfail);
		if (!ok)
			return false;
	}
	if (!near)
		return false;
	if (state->depth_write)
		tile->depth[s][p] = z;
	write_mask(tile, state, s, p);
	return true;
}

u16 isp_late_failing(const struct isp_tile *tile, const struct isp_setup *setup,
		     const struct isp_state *state, bool back, u32 quad, u32 samples)
{
	const struct isp_stencil *face = &state->face[back];
	u32 failing = 0;

	for (; samples; samples &= samples - 1) {
		const struct sample at = first_sample(samples, quad);
		const double z = (double)depth_at(tile, setup, quad, at.place, at.s);

		if (!compare(state->depth_func, z, (double)tile->depth[at.s][at.p]) ||
		    (state->stencil && !stencil_passes(face, tile->stencil[at.s][at.p])))
			failing |= 1u << at.bit;
	}
	return (u16)failing;
}

u32 isp_late_write(struct isp_tile *tile, const struct isp_setup *setup,
		   const struct isp_state *state, bool back, const struct usc_span *span)
{
	const struct isp_stencil *face = &state->face[back];
	u32 left = (span->live | span->failed) & span->samples, count = 0;

	for (; left; left &= left - 1) {
		const struct sample at = first_sample(left, span->quad);

		if (span->failed >> at.bit & 1) {
			test_one(tile, state, face, at.s, at.p,
				 depth_at(tile, setup, span->quad, at.place, at.s));
			continue;
		}
		count++;
		if (state->stencil)
			write_stencil(&tile->stencil[at.s][at.p], face, face->pass);
		write_mask(tile, state, at.s, at.p);
		if (state->depth_write)
			tile->depth[at.s][at.p] =
				depth_at(tile, setup, span->quad, at.place, at.s);
	}
	return count;
}

u32 isp_late_depth(struct isp_tile *tile, const struct isp_state *state, bool back,
		   struct usc_span *span, const float depth[USC_SPAN_LANES])
{
	u32 live = span->live & span->samples, count = 0;

	for (; live; live &= live - 1) {
		const struct sample at = first_sample(live, span->quad);

		if (test_one(tile, state, &state->face[back], at.s, at.p,
			     clamp01_f32(depth[at.place])))
			count++;
		else
			span->live &= (u16)~(1u << at.bit);
	}
	return count;
}
