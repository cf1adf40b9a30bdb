// SPDX-License-Identifier: MIT
/* A scalar model of surfaces. See model.h. */
#include "model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Components from bit 0 on: letter, kind, bits. "X" is a gap. Compressed formats have the
 * bytes of a block instead.
 */
static const char *const format_text[PUMICE_FORMAT_COUNT] = {
	[PUMICE_FORMAT_R8_UNORM] = "Ru8", [PUMICE_FORMAT_RG8_UNORM] = "Ru8 Gu8",
	[PUMICE_FORMAT_RGBA8_UNORM] = "Ru8 Gu8 Bu8 Au8",
	[PUMICE_FORMAT_RGBA8_SRGB] = "Rc8 Gc8 Bc8 Au8",
	[PUMICE_FORMAT_BGRA8_UNORM] = "Bu8 Gu8 Ru8 Au8",
	[PUMICE_FORMAT_BGRA8_SRGB] = "Bc8 Gc8 Rc8 Au8",
	[PUMICE_FORMAT_R8_SNORM] = "Rs8", [PUMICE_FORMAT_RG8_SNORM] = "Rs8 Gs8",
	[PUMICE_FORMAT_RGBA8_SNORM] = "Rs8 Gs8 Bs8 As8",
	[PUMICE_FORMAT_R8_UINT] = "RU8", [PUMICE_FORMAT_RG8_UINT] = "RU8 GU8",
	[PUMICE_FORMAT_RGBA8_UINT] = "RU8 GU8 BU8 AU8",
	[PUMICE_FORMAT_R8_SINT] = "RS8", [PUMICE_FORMAT_RG8_SINT] = "RS8 GS8",
	[PUMICE_FORMAT_RGBA8_SINT] = "RS8 GS8 BS8 AS8",
	[PUMICE_FORMAT_R16_UNORM] = "Ru16", [PUMICE_FORMAT_RG16_UNORM] = "Ru16 Gu16",
	[PUMICE_FORMAT_RGBA16_UNORM] = "Ru16 Gu16 Bu16 Au16",
	[PUMICE_FORMAT_R16_SNORM] = "Rs16", [PUMICE_FORMAT_RG16_SNORM] = "Rs16 Gs16",
	[PUMICE_FORMAT_RGBA16_SNORM] = "Rs16 Gs16 Bs16 As16",
	[PUMICE_FORMAT_R16_UINT] = "RU16", [PUMICE_FORMAT_RG16_UINT] = "RU16 GU16",
	[PUMICE_FORMAT_RGBA16_UINT] = "RU16 GU16 BU16 AU16",
	[PUMICE_FORMAT_R16_SINT] = "RS16", [PUMICE_FORMAT_RG16_SINT] = "RS16 GS16",
	[PUMICE_FORMAT_RGBA16_SINT] = "RS16 GS16 BS16 AS16",
	[PUMICE_FORMAT_R16_FLOAT] = "Rf16", [PUMICE_FORMAT_RG16_FLOAT] = "Rf16 Gf16",
	[PUMICE_FORMAT_RGBA16_FLOAT] = "Rf16 Gf16 Bf16 Af16",
	[PUMICE_FORMAT_R32_FLOAT] = "Rf32", [PUMICE_FORMAT_RG32_FLOAT] = "Rf32 Gf32",
	[PUMICE_FORMAT_RGBA32_FLOAT] = "Rf32 Gf32 Bf32 Af32",
	[PUMICE_FORMAT_R32_UINT] = "RU32", [PUMICE_FORMAT_RG32_UINT] = "RU32 GU32",
	[PUMICE_FORMAT_RGBA32_UINT] = "RU32 GU32 BU32 AU32",
	[PUMICE_FORMAT_R32_SINT] = "RS32", [PUMICE_FORMAT_RG32_SINT] = "RS32 GS32",
	[PUMICE_FORMAT_RGBA32_SINT] = "RS32 GS32 BS32 AS32",
	[PUMICE_FORMAT_R5G6B5_UNORM] = "Ru5 Gu6 Bu5",
	[PUMICE_FORMAT_RGBA4_UNORM] = "Ru4 Gu4 Bu4 Au4",
	[PUMICE_FORMAT_RGB5A1_UNORM] = "Ru5 Gu5 Bu5 Au1",
	[PUMICE_FORMAT_RGB10A2_UNORM] = "Ru10 Gu10 Bu10 Au2",
	[PUMICE_FORMAT_RGB10A2_UINT] = "RU10 GU10 BU10 AU2",
	[PUMICE_FORMAT_R11G11B10_FLOAT] = "Rf11 Gf11 Bf10",
	[PUMICE_FORMAT_D16_UNORM] = "Ru16", [PUMICE_FORMAT_D24_UNORM] = "Ru24 Xu8",
	[PUMICE_FORMAT_D24_S8] = "Ru24 Xu8", [PUMICE_FORMAT_D32_FLOAT] = "Rf32",
	[PUMICE_FORMAT_S8_UINT] = "RU8",
	[PUMICE_FORMAT_ETC2_RGB8] = "8", [PUMICE_FORMAT_ETC2_RGB8_SRGB] = "8",
	[PUMICE_FORMAT_ETC2_RGB8A1] = "8", [PUMICE_FORMAT_ETC2_RGBA8] = "16",
	[PUMICE_FORMAT_ETC2_RGBA8_SRGB] = "16", [PUMICE_FORMAT_BC1_RGBA] = "8",
	[PUMICE_FORMAT_BC1_RGBA_SRGB] = "8", [PUMICE_FORMAT_BC2_RGBA] = "16",
	[PUMICE_FORMAT_BC2_RGBA_SRGB] = "16", [PUMICE_FORMAT_BC3_RGBA] = "16",
	[PUMICE_FORMAT_BC3_RGBA_SRGB] = "16",
};

static bool compressed(u32 format)
{
	return format_text[format][0] < 'A';
}

struct component {
	char letter, kind;
	u32 bits;
};

/* Return the components of a format, up to one of no letter. Parsed once. */
static const struct component *components(u32 format)
{
	static struct component all[PUMICE_FORMAT_COUNT][6];
	struct component *c = all[format];
	const char *text = format_text[format];
	int used;

	if (c->letter || compressed(format))
		return c;
	while (sscanf(text, " %c%c%u%n", &c->letter, &c->kind, &c->bits, &used) == 3) {
		text += used;
		c++;
	}
	c->letter = 0;
	return all[format];
}

u32 model_bytes(u32 format)
{
	u32 sum = 0;

	if (compressed(format))
		return (u32)atoi(format_text[format]);
	for (const struct component *c = components(format); c->letter; c++)
		sum += c->bits;
	return sum / 8;
}

u32 model_block(u32 format)
{
	return compressed(format) ? 4 : 1;
}

u32 model_component(u32 format, u32 component, char *kind, u32 *low)
{
	*low = 0;
	for (const struct component *c = components(format); c->letter; c++) {
		*kind = c->kind;
		if (c->letter == "RGBA"[component])
			return c->bits;
		*low += c->bits;
	}
	return 0;
}

bool model_integer(u32 format)
{
	char kind = 0;
	u32 low;

	return model_component(format, 0, &kind, &low) && (kind == 'U' || kind == 'S');
}

bool model_depth(u32 format)
{
	return format >= PUMICE_FORMAT_D16_UNORM && format <= PUMICE_FORMAT_D32_FLOAT;
}

u32 model_components(u32 format)
{
	u32 n = 0, low;
	char kind;

	if (format == PUMICE_FORMAT_ETC2_RGB8 || format == PUMICE_FORMAT_ETC2_RGB8_SRGB)
		return 3;
	if (compressed(format))
		return 4;
	while (n < 4 && model_component(format, n, &kind, &low))
		n++;
	return n;
}

double model_from_srgb(double c)
{
	return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

double model_to_srgb(double c)
{
	return c <= 0.0031308 ? c * 12.92 : 1.055 * pow(c, 1 / 2.4) - 0.055;
}

/* Convert a float of e exponent and m fraction bits; a sign bit above it if the format has one. */
static double small_float(u32 v, u32 e, u32 m, bool has_sign)
{
	double sign = has_sign && v >> (e + m) & 1 ? -1 : 1;
	u32 exponent = v >> m & ((1u << e) - 1), fraction = v & ((1u << m) - 1);
	int bias = (1 << (e - 1)) - 1;

	if (exponent == (1u << e) - 1)
		return fraction ? NAN : sign * INFINITY;
	if (!exponent)
		return sign * ldexp(fraction, 1 - bias - (int)m);
	return sign * ldexp(1 + ldexp(fraction, -(int)m), (int)exponent - bias);
}

static double component_value(u32 v, char kind, u32 bits)
{
	double most = ldexp(1, (int)bits) - 1, half = ldexp(1, (int)bits - 1);
	double as_signed = v >= half ? v - 2 * half : v;

	switch (kind) {
	case 'u':
		return v / most;
	case 'c':
		return model_from_srgb(v / most);
	case 's':
		return fmax(as_signed / (half - 1), -1);
	case 'U':
		return v;
	case 'S':
		return as_signed;
	default:
		if (bits == 32)
			return small_float(v, 8, 23, true);
		return bits == 16 ? small_float(v, 5, 10, true) :
			small_float(v, 5, bits - 5, false);
	}
}

struct model_texel model_decode(u32 format, const u8 *bytes)
{
	struct model_texel t = { { 0, 0, 0, 1 } };
	u32 at = 0;

	for (const struct component *c = components(format); c->letter; c++) {
		u32 v = 0;

		for (u32 b = 0; b < c->bits; b++, at++)
			v |= (u32)(bytes[at / 8] >> at % 8 & 1) << b;
		if (c->letter != 'X')
			t.c[strchr("RGBA", c->letter) - "RGBA"] =
				component_value(v, c->kind, c->bits);
	}
	return t;
}

double model_pattern(u32 format, u32 component, u32 v)
{
	u32 words[4] = { 0 }, low;
	char kind;

	model_component(format, component, &kind, &low);
	words[low / 32] = v << low % 32;
	return model_decode(format, (const u8 *)words).c[component];
}

/* Clamp and convert a value before rounding. */
static double brought(char kind, u32 bits, double v)
{
	switch (kind) {
	case 'u':
	case 'c':
		return v > 0 ? fmin(v, 1) : 0;
	case 's':
		return isnan(v) ? 0 : fmax(fmin(v, 1), -1);
	case 'U':
		return fmin(v, ldexp(1, (int)bits) - 1);
	case 'S':
		return fmax(fmin(v, ldexp(1, (int)bits - 1) - 1), -ldexp(1, (int)bits - 1));
	default:
		return bits < 16 && v < 0 ? 0 : v;
	}
}

bool model_stores(u32 format, u32 component, double value, u32 pattern)
{
	char kind = 0;
	u32 low, bits = model_component(format, component, &kind, &low);
	double wanted = brought(kind, bits, value), at = model_pattern(format, component, pattern);
	double slack = kind == 'f' || bits > 16 ? 0 : 0.005;

	if (isnan(wanted) || isnan(at))
		return isnan(wanted) && isnan(at);
	if (isinf(wanted))
		return at == wanted;
	if (kind == 'c')
		return fabs(model_to_srgb(wanted) - model_to_srgb(at)) * 255 <= 0.5 + 1e-6;
	/* Finite values remain finite in 10 and 11 bits; in 16, from 65520 on, infinite. */
	if (isinf(at))
		return bits == 16 && fabs(wanted) >= 65520;
	if (bits < 16 && kind == 'f' && wanted > at &&
	    isinf(model_pattern(format, component, pattern + 1)))
		return true;
	for (int side = -1; side <= 1; side += 2) {
		u32 other = (pattern + (u32)side) & (u32)((1ull << bits) - 1);
		double neighbour = model_pattern(format, component, other);

		if (isfinite(neighbour) &&
		    fabs(at - wanted) > fabs(neighbour - wanted) + slack * fabs(neighbour - at))
			return false;
	}
	return true;
}

bool model_stores_dithered(u32 format, u32 component, double value, u32 pattern, u32 x, u32 y)
{
	/* The 2x2 matrix, repeated. */
	static const int two[2][2] = { { 0, 2 }, { 3, 1 } };
	int order = 4 * two[y % 2][x % 2] + two[y / 2 % 2][x / 2 % 2];
	char kind = 0;
	u32 low, bits = model_component(format, component, &kind, &low);
	double scaled = brought(kind, bits, value) * (ldexp(1, (int)bits) - 1) + (order + 0.5) / 16;

	if (component == 3)
		return model_stores(format, component, value, pattern);
	return pattern >= floor(scaled - 1e-4) && pattern <= floor(scaled + 1e-4);
}

u32 model_level_size(u32 size, u32 level)
{
	while (level--)
		size = size > 1 ? size / 2 : 1;
	return size;
}

u32 model_layers(const struct model_surface *s, u32 level)
{
	return s->dim == PUMICE_TEXTURE_DIM_3D ? model_level_size(s->depth, level) : s->depth;
}

static u32 blocks(const struct model_surface *s, u32 size, u32 level)
{
	u32 b = model_block(s->format);

	return (model_level_size(size, level) + b - 1) / b;
}

/* Smallest power of two that is not below n. */
static u32 power_above(u32 n)
{
	u32 p = 1;

	while (p < n)
		p *= 2;
	return p;
}

/* The number of a block in its layer, counted in blocks (not LINEAR). */
static u64 number_of(u32 layout, u32 w, u32 h, u32 x, u32 y)
{
	u32 side, bit;
	u64 n;

	if (layout == PUMICE_LAYOUT_TILED)
		return (u64)((y / 8) * ((w + 7) / 8) + x / 8) * 64 + y % 8 * 8 + x % 8;
	side = power_above(w < h ? w : h);
	n = (u64)(x / side + y / side) * side * side;
	for (bit = 0; 1u << bit < side; bit++) {
		n += (u64)(x >> bit & 1) << (2 * bit);
		n += (u64)(y >> bit & 1) << (2 * bit + 1);
	}
	return n;
}

static u64 row_bytes(const struct model_surface *s, u32 level)
{
	return s->stride ? s->stride : (u64)blocks(s, s->width, level) * model_bytes(s->format);
}

static u64 layer_size(const struct model_surface *s, u32 level)
{
	u32 w = blocks(s, s->width, level), h = blocks(s, s->height, level), side;
	u64 bytes = model_bytes(s->format);

	if (s->layout == PUMICE_LAYOUT_LINEAR) {
		bytes = row_bytes(s, level) * h;
	} else if (s->layout == PUMICE_LAYOUT_TILED) {
		bytes *= (u64)((w + 7) / 8 * 8) * ((h + 7) / 8 * 8);
	} else {
		side = power_above(w < h ? w : h);
		bytes *= (u64)((w + side - 1) / side) * ((h + side - 1) / side) * side * side;
	}
	return (bytes + 15) / 16 * 16;
}

u64 model_offset(const struct model_surface *s, u32 level, u32 layer, u32 bx, u32 by)
{
	u64 offset = 0;

	for (u32 l = 0; l < level; l++)
		offset += layer_size(s, l) * model_layers(s, l);
	offset += layer_size(s, level) * layer;
	if (s->layout == PUMICE_LAYOUT_LINEAR)
		return offset + row_bytes(s, level) * by + (u64)bx * model_bytes(s->format);
	return offset + model_bytes(s->format) *
	       number_of(s->layout, blocks(s, s->width, level),
			 blocks(s, s->height, level), bx, by);
}

u64 model_bytes_of_all(const struct model_surface *s)
{
	return model_offset(s, s->levels - 1, model_layers(s, s->levels - 1), 0, 0);
}

struct model_texel model_texel_at(const struct model_surface *s, const u8 *memory, u32 level,
				  u32 layer, u32 x, u32 y)
{
	u32 b = model_block(s->format);
	const u8 *at = memory + model_offset(s, level, layer, x / b, y / b);

	return b > 1 ? model_block_texel(s->format, at, x % 4, y % 4) : model_decode(s->format, at);
}
