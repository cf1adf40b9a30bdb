/* SPDX-License-Identifier: MIT */
/*
 * Conversion of a row of texels between words and components.
 *
 * Source: Documentation/formats.rst. Included by level_*.c after vec.h. A format is a table
 * of shifts and sizes (hw/surface.h): the same few loops do all of them.
 *
 * Limits: no component crosses a word.
 */
#define F_SIGN 0x80000000u
#define F_INF 0x7f800000u
#define F_QNAN 0x7fc00000u

/*
 * Convert small floats to f32: 5 exponent bits like f16, m fraction bits, in the low bits; no sign.
 */
static inline vu f_of_small(vu size, u32 m)
{
	u32 up = 23 - m, inf = 31u << m;
	vu normal = (size << up) + ((127u - 15) << 23);
	vu small = (vu)(f_of_s((vs)size) * (1.0f / (float)(1u << (14 + m))));
	vu r = u_select((vu)(size < (1u << m)), small, normal);

	r = u_select((vu)(size == inf), splat(F_INF), r);
	return u_select((vu)(size > inf), splat(F_QNAN), r);
}

/*
 * Convert in the other direction a value without a sign, to nearest even. Normal numbers lose
 * fraction bits, with a carry into the exponent; denormal ones are rounded by the sum with a power
 * of two whose last bit is their unit. Not clamped: a value that is too large results in infinity
 * or more.
 */
static inline vu f_to_small(vu size, u32 m)
{
	u32 down = 23 - m;
	vu bias = splat((1u << (down - 1)) - 1);
	vu normal = (size + bias + ((size >> down) & 1) - ((127u - 15) << 23)) >> down;
	float unit = (float)(1u << (23 - m)) * 0x1p-14f;
	vu small = (vu)((vf)size + unit) - (vu)f_splat(unit);

	return u_select((vu)(size < ((127u - 14) << 23)), small, normal);
}

static inline vu f_of_half(vu a)
{
	return f_of_small(a & 0x7fff, 10) | (a & 0x8000) << 16;
}

static inline vu f_to_half(vu a)
{
	vu size = a & ~F_SIGN;
	vu r = f_to_small(size, 10);

	r = u_select((vu)(size >= 0x477ff000u), splat(0x7c00), r);	/* 65520 and above */
	return u_select((vu)(size > F_INF), splat(0x7e00), r | (a >> 16 & 0x8000));
}

/* Convert to 10 or 11 bits, m of them fraction: negative becomes 0, finite stays finite. */
static inline vu f_to_tiny(vu a, u32 m)
{
	u32 inf = 31u << m;
	vu size = a & ~F_SIGN;
	vu r = f_to_small(size, m);

	/* Limit: 2^16 minus half a unit of the last binary place before it. */
	r = u_select((vu)(r >= inf) | (vu)(size >= 0x47800000u), splat(inf - 1), r);
	r = u_select((vu)(size == F_INF), splat(inf), r);
	r = u_select((vu)((vs)a < 0), splat(0), r);
	return u_select((vu)(size > F_INF), splat(inf | 1u << (m - 1)), r);
}

static inline vu expand_float(vu v, u32 bits)
{
	if (bits == 32)
		return v;
	return bits == 16 ? f_of_half(v) : f_of_small(v, bits - 5);
}

/* Extract a component's bits, sign-extended if signed. */
static inline vu component_bits(const struct pumice_pixel_info *info, u32 c, vu word)
{
	u32 bits = info->bits[c];

	word <<= 32 - bits - info->shift[c] % 32;
	if (info->kind == PUMICE_KIND_SNORM || info->kind == PUMICE_KIND_SINT)
		return (vu)((vs)word >> (32 - bits));
	return word >> (32 - bits);
}

static inline vu expand_vector(const struct pumice_pixel_info *info, u32 c, vu word)
{
	vu v = component_bits(info, c, word);
	s32 max;

	switch (info->kind) {
	case PUMICE_KIND_UNORM:
		return (vu)f_of_s((vs)v);
	case PUMICE_KIND_SNORM:
		max = (s32)((1u << (info->bits[c] - 1)) - 1);
		return (vu)f_of_s(s_max((vs)v, (vs)splat((u32)-max)));
	case PUMICE_KIND_FLOAT:
		return expand_float(v, info->bits[c]);
	default:
		return v;
	}
}

static void expand_srgb(const struct pumice_pixel_info *info, u32 c, const u32 *words, u32 *out)
{
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		float f = texel_srgb_to_linear[words[l] >> info->shift[c] & 0xff];

		memcpy(&out[l], &f, sizeof(f));
	}
}

static void expand(const struct pumice_pixel_info *info, const struct texel_rows *words,
		   struct texel_rows *out)
{
	for (u32 c = 0; c < 4; c++) {
		const u32 *word = words->row[info->shift[c] / 32];
		bool integer = texel_integer(info);

		if (c >= info->components)
			EACH(k) VU(out->row[c])[k] = splat(c < 3 ? 0 : integer ? 1 : 0x3f800000u);
		else if (info->flags & PUMICE_FORMAT_SRGB && c < 3)
			expand_srgb(info, c, word, out->row[c]);
		else
			EACH(k) VU(out->row[c])[k] = expand_vector(info, c, CVU(word)[k]);
	}
}

static void scale(const float by[4], struct texel_rows *rows)
{
	for (u32 c = 0; c < 4; c++) {
		if (by[c] != 1.0f)
			EACH(k) VF(rows->row[c])[k] /= by[c];
	}
}

/* Clamp to 0 to 1; NaN becomes 0. */
static inline vf f_unit(vf a)
{
	return f_min(f_max(a, f_splat(0.0f)), f_splat(1.0f));
}

static inline vu pack_unorm(vf a, u32 bits, const vf *dither)
{
	float max = (float)((1u << bits) - 1);
	vf scaled = f_unit(a) * max;

	if (dither)
		return (vu)s_of_f(scaled + *dither);
	/* The sum's last bit has the value 1: rounded to nearest even. */
	return (vu)(scaled + 0x1p23f) - 0x4b000000u;
}

static inline vu pack_snorm(vf a, u32 bits)
{
	float max = (float)((1u << (bits - 1)) - 1);
	vf number = (vf)((vu)a & (vu)(a == a));
	vf unit = f_min(f_max(number, f_splat(-1.0f)), f_splat(1.0f));

	return (vu)(unit * max + 0x1.8p23f) - 0x4b400000u;
}

static inline vu pack_uint(vu a, u32 bits)
{
	u32 max = bits == 32 ? ~0u : (1u << bits) - 1;

	return u_select((vu)(a > max), splat(max), a);
}

static inline vu pack_sint(vu a, u32 bits)
{
	s32 max = (s32)((1u << (bits - 1)) - 1);

	return (vu)s_min(s_max((vs)a, (vs)splat((u32)(-max - 1))), (vs)splat((u32)max));
}

static inline vu pack_float(vu a, u32 bits)
{
	if (bits == 32)
		return a;
	return bits == 16 ? f_to_half(a) : f_to_tiny(a, bits - 5);
}

static inline vu pack_vector(const struct pumice_pixel_info *info, u32 c, vu a, const vf *dither)
{
	u32 bits = info->bits[c];

	switch (info->kind) {
	case PUMICE_KIND_UNORM:
		return pack_unorm((vf)a, bits, c < 3 ? dither : NULL);
	case PUMICE_KIND_SNORM:
		return pack_snorm((vf)a, bits);
	case PUMICE_KIND_UINT:
		return pack_uint(a, bits);
	case PUMICE_KIND_SINT:
		return pack_sint(a, bits);
	default:
		return pack_float(a, bits);
	}
}

/*
 * Components that vectors do not accelerate: the sRGB curve, and depths, rounded in f64 like
 * the ISP.
 */
static void pack_lanes(const struct pumice_pixel_info *info, u32 c, const u32 *in, u32 *word)
{
	double max = (double)((1u << info->bits[c]) - 1);

	for (u32 l = 0; l < PUMICE_LANES; l++) {
		float f;
		u32 v;

		memcpy(&f, &in[l], sizeof(f));
		if (info->flags & PUMICE_FORMAT_SRGB)
			v = texel_srgb_code(f);
		else
			v = f > 0.0f ? (u32)((f < 1.0f ? f : 1.0f) * max + 0x1p52 - 0x1p52) : 0;
		word[l] |= v << info->shift[c] % 32;
	}
}

static void pack(const struct pumice_pixel_info *info, const struct texel_rows *in,
		 const struct texel_dither *dither, struct texel_rows *words)
{
	vf add = { 0 };

	if (dither && dither->on) {
		for (u32 l = 0; l < VEC_LANES; l++)
			add[l] = dither->add[l % 4];
	}
	for (u32 n = 0; n < (info->bytes + 3u) / 4; n++)
		EACH(k) VU(words->row[n])[k] = splat(0);
	for (u32 c = 0; c < info->components; c++) {
		u32 *word = words->row[info->shift[c] / 32];
		u32 shift = info->shift[c] % 32, max = ~0u >> (32 - info->bits[c]);
		const vf *adds = dither && dither->on ? &add : NULL;

		if ((info->flags & PUMICE_FORMAT_SRGB && c < 3) ||
		    (info->flags & PUMICE_FORMAT_DEPTH && info->kind == PUMICE_KIND_UNORM)) {
			pack_lanes(info, c, in->row[c], word);
			continue;
		}
		EACH(k)
			VU(word)[k] |= (pack_vector(info, c, CVU(in->row[c])[k], adds) & max)
				       << shift;
	}
}
