// SPDX-License-Identifier: MIT
/*
 * Compressed blocks, one texel at a time: the scalar model's own decoder.
 *
 * Bits of an ETC2 block are numbered as in the Khronos Data Format Specification: 63 is
 * the first bit of the first byte.
 */
#include <math.h>
#include <string.h>

#include "model.h"

/* Return bits high to low of a big-endian block of 8 bytes. */
static int field(const u8 *block, int high, int low)
{
	int v = 0;

	for (int bit = high; bit >= low; bit--)
		v = v * 2 + (block[(63 - bit) / 8] >> bit % 8 & 1);
	return v;
}

static double clamp255(double v)
{
	return v < 0 ? 0 : v > 255 ? 255 : v;
}

static int extend(int v, int bits)
{
	return bits == 4 ? v * 16 + v : bits == 5 ? v * 8 + v / 4 : bits == 6 ? v * 4 + v / 16 :
							    v * 2 + v / 64;
}

static const int modifiers[8][2] = {
	{ 2, 8 }, { 5, 17 }, { 9, 29 }, { 13, 42 }, { 18, 60 }, { 24, 80 },
	{ 33, 106 }, { 47, 183 },
};
static const int distances[8] = { 3, 6, 11, 16, 23, 32, 41, 64 };

/* Two colours of 4 bits a component, a distance, and the ones that it is added to. */
static void paint(const int first[3], const int second[3], bool h_mode, int d, int which,
		  double out[3])
{
	for (int c = 0; c < 3; c++) {
		int a = extend(first[c], 4), b = extend(second[c], 4);
		const int t[4] = { a, b + d, b, b - d }, h[4] = { a + d, a - d, b + d, b - d };

		out[c] = clamp255(h_mode ? h[which] : t[which]);
	}
}

static void t_mode(const u8 *p, int which, double out[3])
{
	const int first[3] = { field(p, 60, 59) * 4 + field(p, 57, 56), field(p, 55, 52),
			       field(p, 51, 48) };
	const int second[3] = { field(p, 47, 44), field(p, 43, 40), field(p, 39, 36) };

	paint(first, second, false, distances[field(p, 35, 34) * 2 + field(p, 32, 32)], which, out);
}

static void h_mode(const u8 *p, int which, double out[3])
{
	const int first[3] = { field(p, 62, 59), field(p, 58, 56) * 2 + field(p, 52, 52),
			       field(p, 51, 51) * 8 + field(p, 49, 47) };
	const int second[3] = { field(p, 46, 43), field(p, 42, 39), field(p, 38, 35) };
	int order = first[0] * 256 + first[1] * 16 + first[2] >=
		    second[0] * 256 + second[1] * 16 + second[2];

	paint(first, second, true,
	      distances[field(p, 34, 34) * 4 + field(p, 32, 32) * 2 + order], which, out);
}

static void planar(const u8 *p, int x, int y, double out[3])
{
	const int o[3] = { extend(field(p, 62, 57), 6),
			   extend(field(p, 56, 56) * 64 + field(p, 54, 49), 7),
			   extend(field(p, 48, 48) * 32 + field(p, 44, 43) * 8 + field(p, 41, 39),
				  6) };
	const int h[3] = { extend(field(p, 38, 34) * 2 + field(p, 32, 32), 6),
			   extend(field(p, 31, 25), 7), extend(field(p, 24, 19), 6) };
	const int v[3] = { extend(field(p, 18, 13), 6), extend(field(p, 12, 6), 7),
			   extend(field(p, 5, 0), 6) };

	for (int c = 0; c < 3; c++)
		out[c] = clamp255(floor((x * (h[c] - o[c]) + y * (v[c] - o[c]) +
					 4 * o[c] + 2) / 4.0));
}

/* Colour and, of punch-through blocks, whether the texel is opaque. */
static bool etc_texel(const u8 *p, bool punch, int x, int y, double out[3])
{
	int n = x * 4 + y, which = field(p, 16 + n, 16 + n) * 2 + field(p, n, n);
	bool opaque = !punch || field(p, 33, 33), differential = punch || field(p, 33, 33);
	int half = field(p, 32, 32) ? y / 2 : x / 2;
	int table = half ? field(p, 36, 34) : field(p, 39, 37);
	int add = modifiers[table][which % 2] * (which >= 2 ? -1 : 1);

	for (int c = 0; c < 3; c++) {
		int top = 63 - 8 * c, base = field(p, top, top - 4),
			delta = field(p, top - 5, top - 7);

		delta -= delta > 3 ? 8 : 0;
		if (differential && (base + delta < 0 || base + delta > 31)) {
			if (c == 2)
				planar(p, x, y, out);
			else if (c == 0)
				t_mode(p, which, out);
			else
				h_mode(p, which, out);
			return c == 2 || opaque || which != 2;
		}
		if (differential)
			out[c] = extend(base + (half ? delta : 0), 5);
		else
			out[c] = extend(half ? field(p, top - 4, top - 7) :
					       field(p, top, top - 3), 4);
	}
	if (!opaque && which == 0)
		add = 0;
	for (int c = 0; c < 3; c++)
		out[c] = clamp255(out[c] + add);
	return opaque || which != 2;
}

static double eac_alpha(const u8 *p, int x, int y)
{
	/* The four steps down of each table; upwards they are one less, in another order. */
	static const int table[16][4] = {
		{ 3, 6, 9, 15 }, { 3, 7, 10, 13 }, { 2, 5, 8, 13 }, { 2, 4, 6, 13 },
		{ 3, 6, 8, 12 }, { 3, 7, 9, 11 }, { 4, 7, 8, 11 }, { 3, 5, 8, 11 },
		{ 2, 6, 8, 10 }, { 2, 5, 8, 10 }, { 2, 4, 8, 10 }, { 2, 5, 7, 10 },
		{ 3, 4, 7, 10 }, { 1, 2, 3, 10 }, { 4, 6, 8, 9 }, { 3, 5, 7, 9 },
	};
	int n = x * 4 + y, which = field(p, 47 - 3 * n, 45 - 3 * n);
	int step = table[field(p, 51, 48)][which % 4];

	step = which < 4 ? -step : step - 1;
	return clamp255(field(p, 63, 56) + step * field(p, 55, 52));
}

/* Return the nearest whole number, halves upwards. */
static double nearest(double v)
{
	return floor(v + 0.5 + 1e-9);
}

static bool bc_texel(const u8 *p, bool punch, int n, double out[3])
{
	int first = p[0] + 256 * p[1], second = p[2] + 256 * p[3];
	int which = p[4 + n / 4] >> (2 * (n % 4)) & 3;
	bool three = punch && first <= second;
	static const double parts[2][4] = { { 0, 1, 1 / 3.0, 2 / 3.0 }, { 0, 1, 0.5, 0 } };
	double t = parts[three][which];

	for (int c = 0; c < 3; c++) {
		const int low[3] = { 11, 5, 0 }, bits[3] = { 5, 6, 5 };
		int a = extend(first >> low[c] & ((1 << bits[c]) - 1), bits[c]);
		int b = extend(second >> low[c] & ((1 << bits[c]) - 1), bits[c]);

		out[c] = nearest(a + (b - a) * t);
	}
	if (three && which == 3)
		out[0] = out[1] = out[2] = 0;
	return !(three && which == 3);
}

static double bc3_alpha(const u8 *p, int n)
{
	int a = p[0], b = p[1], which = 0, steps = a > b ? 7 : 5;

	for (int bit = 0; bit < 3; bit++)
		which |= (p[2 + (3 * n + bit) / 8] >> (3 * n + bit) % 8 & 1) << bit;
	if (which < 2)
		return which ? b : a;
	if (which > steps)
		return which == 7 ? 255 : 0;
	return nearest(a + (b - a) * (which - 1.0) / steps);
}

struct model_texel model_block_texel(u32 format, const u8 *block, u32 x, u32 y)
{
	struct model_texel t = { { 0, 0, 0, 255 } };
	int n = (int)(4 * y + x);
	bool srgb = false;

	switch (format) {
	case PUMICE_FORMAT_ETC2_RGB8_SRGB:
		srgb = true;
		/* fall through */
	case PUMICE_FORMAT_ETC2_RGB8:
		etc_texel(block, false, (int)x, (int)y, t.c);
		break;
	case PUMICE_FORMAT_ETC2_RGB8A1:
		if (!etc_texel(block, true, (int)x, (int)y, t.c))
			memset(&t, 0, sizeof(t));
		break;
	case PUMICE_FORMAT_ETC2_RGBA8_SRGB:
	case PUMICE_FORMAT_ETC2_RGBA8:
		srgb = format == PUMICE_FORMAT_ETC2_RGBA8_SRGB;
		etc_texel(block + 8, false, (int)x, (int)y, t.c);
		t.c[3] = eac_alpha(block, (int)x, (int)y);
		break;
	case PUMICE_FORMAT_BC1_RGBA_SRGB:
	case PUMICE_FORMAT_BC1_RGBA:
		srgb = format == PUMICE_FORMAT_BC1_RGBA_SRGB;
		t.c[3] = bc_texel(block, true, n, t.c) ? 255 : 0;
		break;
	case PUMICE_FORMAT_BC2_RGBA_SRGB:
	case PUMICE_FORMAT_BC2_RGBA:
		srgb = format == PUMICE_FORMAT_BC2_RGBA_SRGB;
		bc_texel(block + 8, false, n, t.c);
		t.c[3] = (n % 2 ? block[n / 2] / 16 : block[n / 2] % 16) * 17;
		break;
	default:
		srgb = format == PUMICE_FORMAT_BC3_RGBA_SRGB;
		bc_texel(block + 8, false, n, t.c);
		t.c[3] = bc3_alpha(block, n);
		break;
	}
	for (int c = 0; c < 4; c++)
		t.c[c] = srgb && c < 3 ? model_from_srgb(t.c[c] / 255) : t.c[c] / 255;
	return t;
}
