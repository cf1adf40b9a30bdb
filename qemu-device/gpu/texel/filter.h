/* SPDX-License-Identifier: MIT */
/*
 * Filtering: linear interpolation, and levels of detail.
 *
 * Source: Documentation/formats.rst, "Filtering". Included by level_*.c after format.h.
 */

/*
 * Interpolate: a at weight 0, b at 1. With guard, b is ignored at weight 0 even if it is
 * infinite or NaN; for finite values this needs no guard.
 */
static inline vf lerp(vf a, vf b, vf weight, bool guard)
{
	vf r = a + (b - a) * weight;

	return guard ? f_select((vu)(weight == 0.0f), a, r) : r;
}

/* Blend texels z * 4 + y * 2 + x to one, along x, y and z; the texels are overwritten. */
static void blend(u32 dims, bool guard, const struct tf_taps *t, struct texel_rows *texel,
		  struct texel_rows *out)
{
	for (u32 a = 0; a < dims; a++) {
		const float *weight = t->weight[a];

		for (u32 n = 0; n < 1u << (dims - a - 1); n++) {
			struct texel_rows *to = a + 1 == dims ? out : &texel[n];
			const struct texel_rows *from = &texel[2 * n];

			for (u32 c = 0; c < 4; c++) {
				EACH(k)
					VF(to->row[c])[k] = lerp(CVF(from[0].row[c])[k],
								 CVF(from[1].row[c])[k],
								 CVF(weight)[k], guard);
			}
		}
	}
}

/* The same for four texels of a UNORM format of at most a word, from their words. */
static void bilinear(const struct pumice_pixel_info *info, const struct tf_taps *t,
		     const u32 (*words)[PUMICE_LANES], struct texel_rows *out)
{
	for (u32 c = 0; c < 4; c++) {
		u32 up = 32 - info->bits[c] - info->shift[c], down = 32 - info->bits[c];

		if (c >= info->components) {
			EACH(k) VF(out->row[c])[k] = f_splat(c < 3 ? 0.0f : 1.0f);
			continue;
		}
		EACH(k) {
			vf wx = CVF(t->weight[0])[k], wy = CVF(t->weight[1])[k];
			vf p[4];

			for (u32 n = 0; n < 4; n++)
				p[n] = f_of_s((vs)(CVU(words[n])[k] << up >> down));
			VF(out->row[c])[k] = lerp(lerp(p[0], p[1], wx, false),
						  lerp(p[2], p[3], wx, false), wy, false);
		}
	}
}

/* Interpolate from rows to other by a weight. */
static void mix(bool guard, const float *weight, const struct texel_rows *other,
		struct texel_rows *rows)
{
	for (u32 c = 0; c < 4; c++) {
		EACH(k)
			VF(rows->row[c])[k] = lerp(VF(rows->row[c])[k], CVF(other->row[c])[k],
						   CVF(weight)[k], guard);
	}
}

/*
 * Return log2 of the square root of a non-negative number: the exponent, and for the mantissa m in
 * 0.7 to 1.42, 2 artanh((m - 1) / (m + 1)) / ln 2 by four terms of its series. Error below
 * 1e-6; 0 results in -63.5 or less, infinity and NaN in 64 or more.
 */
static void half_log2(const float *squares, float *out)
{
	EACH(k) {
		vu bits = CVU(squares)[k];
		vu above = (vu)((bits & 0x7fffff) > 0x3504f3u);	/* fraction above that of root 2 */
		vs exponent = (vs)(bits >> 23 & 0xff) - 127 - (vs)above;
		vf m = (vf)((bits & 0x7fffff) | (0x3f800000u - (above & 0x800000)));
		vf t = (m - 1.0f) / (m + 1.0f), tt = t * t;
		vf series = t * (2.88539008f + tt * (0.961796694f + tt * (0.577078016f +
					tt * 0.412198583f)));

		VF(out)[k] = (f_of_s(exponent) + series) * 0.5f;
	}
}

#if VEC_BYTES == 64
#define SPAN_OF(v, n) \
	__builtin_shufflevector(v, v, n, n, n, n, 4 + n, 4 + n, 4 + n, 4 + n, \
				8 + n, 8 + n, 8 + n, 8 + n, 12 + n, 12 + n, 12 + n, 12 + n)
#elif VEC_BYTES == 32
#define SPAN_OF(v, n) \
	__builtin_shufflevector(v, v, n, n, n, n, 4 + n, 4 + n, 4 + n, 4 + n)
#else
#define SPAN_OF(v, n) __builtin_shufflevector(v, v, n, n, n, n)
#endif

/* Compute differences in a span, equal for its four lanes: along its upper and its left edge. */
static void spans(const u32 *row, float *dx, float *dy)
{
	EACH(k) {
		vf v = CVF(row)[k];
		vf corner = SPAN_OF(v, 0);

		VF(dx)[k] = SPAN_OF(v, 1) - corner;
		VF(dy)[k] = SPAN_OF(v, 2) - corner;
	}
}
