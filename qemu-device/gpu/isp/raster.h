/* SPDX-License-Identifier: MIT */
/*
 * Loops over a triangle's chunks of eight pixels: coverage, depth, stencil, tags.
 *
 * Source: Documentation/precision.rst. Included by level_*.c, which define ISP_RASTER (the
 * name of the function) and set the compiler to a vector level. Each operation on f64 is
 * rounded separately, in source order, so that results are equal on all levels and in any
 * other implementation.
 */
typedef s32 vi __attribute__((vector_size(32), may_alias));
typedef u32 vu __attribute__((vector_size(32), may_alias));
typedef float vf __attribute__((vector_size(32), may_alias));
typedef double vd __attribute__((vector_size(64), may_alias));
typedef long long vl __attribute__((vector_size(64), may_alias));
typedef u8 vb __attribute__((vector_size(8), may_alias));

#define INLINE static inline __attribute__((always_inline))

/* Pixel positions of the lanes of a chunk. */
#define LANES_X { 0, 1, 0, 1, 2, 3, 2, 3 }
#define LANES_Y { 0, 0, 1, 1, 0, 0, 1, 1 }
#define CHUNK_W 4
/* The lanes' bits in a byte of the mask plane. */
#define LANE_BITS { 1, 2, 4, 8, 16, 32, 64, 128 }

INLINE vi select_bits(vi mask, vi yes, vi no)
{
	return (yes & mask) | (no & ~mask);
}

/*
 * A comparison is the set of orders for which it is true, one bit each. Operands are never
 * NaN.
 */
INLINE vi compare(u32 func, vi less, vi equal, vi greater)
{
	return (less & -(s32)!!(func & PUMICE_COMPARE_LESS)) |
	       (equal & -(s32)!!(func & PUMICE_COMPARE_EQUAL)) |
	       (greater & -(s32)!!(func & PUMICE_COMPARE_GREATER));
}

INLINE vi compare_depth(u32 func, vf a, vf b)
{
	return compare(func, a < b, a == b, a > b);
}

INLINE vi stencil_op(u32 op, vi old, s32 ref)
{
	switch (op) {
	case PUMICE_STENCIL_OP_ZERO:
		return (vi){ 0 };
	case PUMICE_STENCIL_OP_REPLACE:
		return (vi){ 0 } + ref;
	case PUMICE_STENCIL_OP_INCR:
		return old - (old < 255);
	case PUMICE_STENCIL_OP_DECR:
		return old + (old > 0);
	case PUMICE_STENCIL_OP_INVERT:
		return old ^ 255;
	case PUMICE_STENCIL_OP_INCR_WRAP:
		return (old + 1) & 255;
	case PUMICE_STENCIL_OP_DECR_WRAP:
		return (old - 1) & 255;
	default:
		return old;
	}
}

/* Depth between 0 and 1, rounded to f32; NaN is 0. */
INLINE vf clamp_depth(vd z)
{
	const vd zero = { 0 }, one = zero + 1.0;
	const vl above = z > zero;
	vl below;

	z = (vd)((vl)z & above);
	below = z < one;
	z = (vd)(((vl)z & below) | ((vl)one & ~below));
	return __builtin_convertvector(z, vf);
}

/* Test and write the stencil of a chunk; returns the passing lanes of covered. */
INLINE vi test_stencil(u8 *at, const struct isp_draw *d, vi covered, vi depth, bool write)
{
	const struct isp_stencil *f = &d->face;
	const vi old = __builtin_convertvector(*(const vb *)at, vi);
	const vi ref = (vi){ 0 } + (f->ref & f->mask), value = old & f->mask;
	const vi ok = compare(f->func, ref < value, ref == value, ref > value) & covered;
	const vi fail = covered & ~ok, both = ok & depth;
	vi next;

	if (!write)
		return both;
	next = select_bits(fail, stencil_op(f->sfail, old, f->ref), old);
	next = select_bits(ok & ~depth, stencil_op(f->zfail, old, f->ref), next);
	if (d->mode == ISP_TEST)
		next = select_bits(both, stencil_op(f->pass, old, f->ref), next);
	next = (old & ~(s32)f->write) | (next & f->write);
	*(vb *)at = __builtin_convertvector(next, vb);
	return both;
}

INLINE u32 sum(vi v)
{
	u32 n = 0, i;

	for (i = 0; i < ISP_CHUNK; i++)
		n += (u32)v[i];
	return n;
}

/* A byte of the mask plane has the bits of a chunk: return the lanes that pass the test. */
INLINE vi test_mask(u32 bits, u32 test)
{
	const vi lane = LANE_BITS;
	const vi set = (lane & (s32)bits) != 0;

	return test == PUMICE_MASK_TEST_SET ? set : ~set;
}

/* Apply an operation to the bits of the passing lanes. */
INLINE void write_mask(u8 *at, u32 op, vi pass)
{
	const u32 bits = sum(pass & (vi)LANE_BITS);

	switch (op) {
	case PUMICE_MASK_OP_SET:
		*at |= (u8)bits;
		break;
	case PUMICE_MASK_OP_CLEAR:
		*at &= (u8)~bits;
		break;
	default:
		*at ^= (u8)bits;
	}
}

/* Kinds of draws: constants, so that each has loops with only the tests that it needs. */
enum kind {
	PROBE,		/* compares only */
	PLAIN,		/* only a depth test, written at once, of one sample */
	UNTESTED,	/* the same, but all pass, and depth is not written */
	COMMON,		/* everything without the mask plane */
	MASKED,
};

/* Sums over the chunks of a draw. */
struct sums {
	vi covered, passed, overlap;
};

/* Process one sample of a chunk, in the lanes of covered. */
INLINE void chunk(struct isp_tile *t, const struct isp_draw *d, u32 s, u32 p, vi covered, vd z64,
		  enum kind kind, struct sums *sums)
{
	const bool probe = kind == PROBE, plain = kind == PLAIN, masked = probe || kind == MASKED;
	vi *const tag = (vi *)&t->tag[s][p];
	vf *const depth = (vf *)&t->depth[s][p];
	u8 *const mask = &t->mask[s][p / ISP_CHUNK];
	vf z = { 0 };
	vi pass = covered;

	if (kind == UNTESTED) {
		sums->passed -= covered;
		if (d->tags)
			*tag = select_bits(covered, (vi){ 0 } + (s32)d->tag, *tag);
		return;
	}
	if (masked && d->mask_test)
		pass &= test_mask(*mask, d->mask_test);
	if (plain || d->test) {
		const vi open = pass;

		z = clamp_depth(z64);
		pass &= compare_depth(d->depth_func, z, *depth);
		if (!plain && d->stencil)
			pass = test_stencil(&t->stencil[s][p], d, open,
					    compare_depth(d->depth_func, z, *depth), !probe);
	}
	if (probe) {
		/* A late tag decides on the mask, too: it counts where the mask test fails. */
		sums->overlap |= covered & (*tag >> 31);
		if (d->blends)
			sums->overlap |= pass & (*tag != 0);
		return;
	}
	sums->passed -= pass;
	if (masked && d->mask_op && d->mode == ISP_TEST)
		write_mask(mask, d->mask_op, pass);
	if (d->depth_write && (plain || d->mode == ISP_TEST))
		*depth = (vf)select_bits(pass, (vi)z, (vi)*depth);
	if (d->tags)
		*tag = select_bits(pass, (vi){ 0 } + (s32)d->tag, *tag);
}

/* Compute the depth at each column of chunks, without the part of the row. */
INLINE void columns(const struct isp_draw *d, vd z[][PUMICE_MAX_SAMPLES])
{
	const vd lane = LANES_X;
	u32 col, s;

	for (col = d->col0; col < d->col1; col++)
		for (s = 0; s < d->samples; s++)
			z[col][s] = d->z0 + d->dzdx * (lane + (d->x[s] + col * CHUNK_W));
}

/* Compute the edges at the first column of a row. */
INLINE void edges_of_row(const struct isp_draw *d, u32 row, vi e[][ISP_MAX_EDGES])
{
	const vi x = (vi)LANES_X + (s32)(d->col0 * CHUNK_W), y = (vi)LANES_Y + (s32)(row * 2);
	u32 s, i;

	for (i = 0; i < d->edges; i++) {
		const vi part = x * d->a[i] + y * d->b[i];

		for (s = 0; s < d->samples; s++)
			e[s][i] = part + d->c[s][i];
	}
}

/* Return the lanes where all edges are true, and advance them to the next column. */
INLINE vi inside(const struct isp_draw *d, vi e[ISP_MAX_EDGES])
{
	vi outside = { 0 };
	u32 i;

	for (i = 0; i < d->edges; i++) {
		outside |= e[i];
		e[i] += d->a[i] * CHUNK_W;
	}
	return outside >= 0;
}

INLINE void raster(struct isp_tile *t, const struct isp_draw *d, enum kind kind, struct sums *sums)
{
	const bool one = kind == PLAIN || kind == UNTESTED;
	const u32 samples = one ? 1 : d->samples;
	vd zx[ISP_MAX_COLUMNS][PUMICE_MAX_SAMPLES], zy[PUMICE_MAX_SAMPLES];
	vi e[PUMICE_MAX_SAMPLES][ISP_MAX_EDGES];
	u32 row, col, s;

	columns(d, zx);
	for (row = d->row0; row < d->row1; row++) {
		u32 p = (row * d->chunks + d->col0) * ISP_CHUNK;

		edges_of_row(d, row, e);
		for (s = 0; s < samples; s++)
			zy[s] = d->dzdy * ((vd)LANES_Y + (d->y[s] + row * 2));
		for (col = d->col0; col < d->col1; col++, p += ISP_CHUNK) {
			vi any = { 0 };

			for (s = 0; s < samples; s++) {
				const vi covered = inside(d, e[s]);

				if (!one && !(d->mask >> s & 1))
					continue;
				any |= covered;
				chunk(t, d, s, p, covered, (zx[col][s] + zy[s]) + d->bias, kind,
				      sums);
			}
			sums->covered -= any;
		}
	}
}

void ISP_RASTER(struct isp_tile *tile, const struct isp_draw *draw, struct isp_done *done)
{
	const bool masked = draw->mask_test || draw->mask_op;
	const bool plain = draw->mode == ISP_TEST && !draw->stencil && draw->samples == 1 &&
			   (draw->mask & 1);
	struct sums sums = { { 0 }, { 0 }, { 0 } };
	u32 i;

	if (draw->mode == ISP_PROBE)
		raster(tile, draw, PROBE, &sums);
	else if (masked)
		raster(tile, draw, MASKED, &sums);
	else if (!plain)
		raster(tile, draw, COMMON, &sums);
	else if (draw->depth_func == PUMICE_COMPARE_ALWAYS && !draw->depth_write)
		raster(tile, draw, UNTESTED, &sums);
	else
		raster(tile, draw, PLAIN, &sums);
	done->covered = sum(sums.covered);
	done->passed = sum(sums.passed);
	done->overlap = false;
	for (i = 0; i < ISP_CHUNK; i++)
		done->overlap |= sums.overlap[i] != 0;
}
