// SPDX-License-Identifier: MIT
/*
 * Compressed blocks. See blocks.h.
 *
 * An ETC2 block is a big-endian number of 64 bits; its pixels are numbered column
 * by column. A BC block is little endian, row by row. Colours of BC are
 * interpolated to the nearest 8-bit number, halves upwards.
 */
#include "blocks.h"

#include <stdbool.h>
#include <string.h>

#include "surface.h"

struct rgb {
	s32 c[3];
};

static u32 byte_of(s32 v)
{
	return v < 0 ? 0 : v > 255 ? 255 : (u32)v;
}

static u32 pack_rgb(const struct rgb *colour, s32 add)
{
	return byte_of(colour->c[0] + add) | byte_of(colour->c[1] + add) << 8 |
	       byte_of(colour->c[2] + add) << 16 | 0xff000000u;
}

static u64 big_endian(const u8 *block)
{
	u64 v = 0;

	for (u32 n = 0; n < 8; n++)
		v = v << 8 | block[n];
	return v;
}

/* Extract size bits from bit low. */
static u32 bits_of(u64 v, u32 low, u32 size)
{
	return (u32)(v >> low) & ((1u << size) - 1);
}

/* Return the two-bit number of the pixel. */
static u32 etc_index(u64 v, u32 x, u32 y)
{
	u32 pixel = x * 4 + y;

	return bits_of(v, 16 + pixel, 1) << 1 | bits_of(v, pixel, 1);
}

/* Decode two colours, one for each half, and steps up and down from it. */
static void etc_halves(u64 v, const struct rgb base[2], bool clear, u32 out[16])
{
	static const u8 step[8][2] = {
		{ 2, 8 }, { 5, 17 }, { 9, 29 }, { 13, 42 },
		{ 18, 60 }, { 24, 80 }, { 33, 106 }, { 47, 183 },
	};
	bool flip = bits_of(v, 32, 1);
	u32 table[2] = { bits_of(v, 37, 3), bits_of(v, 34, 3) };

	for (u32 y = 0; y < 4; y++) {
		for (u32 x = 0; x < 4; x++) {
			u32 half = flip ? y / 2 : x / 2, index = etc_index(v, x, y);
			s32 add = step[table[half]][index & 1];

			if (clear && !(index & 1))
				add = 0;
			out[y * 4 + x] = clear && index == 2 ? 0 :
				pack_rgb(&base[half], index & 2 ? -add : add);
		}
	}
}

/* Four colours, one of which is selected per pixel. */
static void etc_paint(u64 v, const u32 paint[4], bool clear, u32 out[16])
{
	for (u32 y = 0; y < 4; y++) {
		for (u32 x = 0; x < 4; x++) {
			u32 index = etc_index(v, x, y);

			out[y * 4 + x] = clear && index == 2 ? 0 : paint[index];
		}
	}
}

static struct rgb rgb4(u32 r, u32 g, u32 b)
{
	return (struct rgb){ { (s32)(r * 17), (s32)(g * 17), (s32)(b * 17) } };
}

static const u8 etc_distance[8] = { 3, 6, 11, 16, 23, 32, 41, 64 };

static void etc_t(u64 v, bool clear, u32 out[16])
{
	struct rgb one = rgb4(bits_of(v, 59, 2) << 2 | bits_of(v, 56, 2), bits_of(v, 52, 4),
			      bits_of(v, 48, 4));
	struct rgb two = rgb4(bits_of(v, 44, 4), bits_of(v, 40, 4), bits_of(v, 36, 4));
	s32 d = etc_distance[bits_of(v, 34, 2) << 1 | bits_of(v, 32, 1)];
	const u32 paint[4] = {
		pack_rgb(&one, 0), pack_rgb(&two, d), pack_rgb(&two, 0), pack_rgb(&two, -d),
	};

	etc_paint(v, paint, clear, out);
}

static void etc_h(u64 v, bool clear, u32 out[16])
{
	struct rgb one = rgb4(bits_of(v, 59, 4), bits_of(v, 56, 3) << 1 | bits_of(v, 52, 1),
			      bits_of(v, 51, 1) << 3 | bits_of(v, 47, 3));
	struct rgb two = rgb4(bits_of(v, 43, 4), bits_of(v, 39, 4), bits_of(v, 35, 4));
	/*
	 * The order of the colours encodes the last bit; R is the highest byte in this
	 * comparison.
	 */
	bool order = (one.c[0] << 16 | one.c[1] << 8 | one.c[2]) >=
		     (two.c[0] << 16 | two.c[1] << 8 | two.c[2]);
	s32 d = etc_distance[bits_of(v, 34, 1) << 2 | bits_of(v, 32, 1) << 1 | (u32)order];
	const u32 paint[4] = {
		pack_rgb(&one, d), pack_rgb(&one, -d), pack_rgb(&two, d), pack_rgb(&two, -d),
	};

	etc_paint(v, paint, clear, out);
}

static s32 widen(u32 v, u32 bits)
{
	return (s32)(v << (8 - bits) | v >> (2 * bits - 8));
}

static void etc_planar(u64 v, u32 out[16])
{
	const struct rgb o = { { widen(bits_of(v, 57, 6), 6),
				 widen(bits_of(v, 56, 1) << 6 | bits_of(v, 49, 6), 7),
				 widen(bits_of(v, 48, 1) << 5 | bits_of(v, 43, 2) << 3 |
				       bits_of(v, 39, 3), 6) } };
	const struct rgb h = { { widen(bits_of(v, 34, 5) << 1 | bits_of(v, 32, 1), 6),
				 widen(bits_of(v, 25, 7), 7), widen(bits_of(v, 19, 6), 6) } };
	const struct rgb down = { { widen(bits_of(v, 13, 6), 6), widen(bits_of(v, 6, 7), 7),
				    widen(bits_of(v, 0, 6), 6) } };

	for (s32 y = 0; y < 4; y++) {
		for (s32 x = 0; x < 4; x++) {
			struct rgb p;

			for (u32 c = 0; c < 3; c++)
				p.c[c] = (x * (h.c[c] - o.c[c]) + y * (down.c[c] - o.c[c]) +
					  4 * o.c[c] + 2) >> 2;
			out[y * 4 + x] = pack_rgb(&p, 0);
		}
	}
}

/* alpha: blocks with transparent texels, which have no mode with two independent colours. */
static void etc_colour(const u8 *block, bool alpha, u32 out[16])
{
	u64 v = big_endian(block);
	bool flag = bits_of(v, 33, 1), clear = alpha && !flag;
	struct rgb base[2];

	for (u32 c = 0; c < 3; c++) {
		u32 low = 56 - 8 * c;
		s32 first = (s32)bits_of(v, low + 3, 5);
		s32 second = first + ((s32)(bits_of(v, low, 3) ^ 4) - 4);

		if (!alpha && !flag) {
			base[0].c[c] = (s32)bits_of(v, low + 4, 4) * 17;
			base[1].c[c] = (s32)bits_of(v, low, 4) * 17;
			continue;
		}
		if (second < 0 || second > 31) {
			if (c == 0)
				etc_t(v, clear, out);
			else if (c == 1)
				etc_h(v, clear, out);
			else
				etc_planar(v, out);
			return;
		}
		base[0].c[c] = widen((u32)first, 5);
		base[1].c[c] = widen((u32)second, 5);
	}
	etc_halves(v, base, clear, out);
}

static void etc_alpha(const u8 *block, u32 out[16])
{
	static const s8 table[16][8] = {
		{ -3, -6, -9, -15, 2, 5, 8, 14 }, { -3, -7, -10, -13, 2, 6, 9, 12 },
		{ -2, -5, -8, -13, 1, 4, 7, 12 }, { -2, -4, -6, -13, 1, 3, 5, 12 },
		{ -3, -6, -8, -12, 2, 5, 7, 11 }, { -3, -7, -9, -11, 2, 6, 8, 10 },
		{ -4, -7, -8, -11, 3, 6, 7, 10 }, { -3, -5, -8, -11, 2, 4, 7, 10 },
		{ -2, -6, -8, -10, 1, 5, 7, 9 }, { -2, -5, -8, -10, 1, 4, 7, 9 },
		{ -2, -4, -8, -10, 1, 3, 7, 9 }, { -2, -5, -7, -10, 1, 4, 6, 9 },
		{ -3, -4, -7, -10, 2, 3, 6, 9 }, { -1, -2, -3, -10, 0, 1, 2, 9 },
		{ -4, -6, -8, -9, 3, 5, 7, 8 }, { -3, -5, -7, -9, 2, 4, 6, 8 },
	};
	u64 v = big_endian(block);
	s32 base = (s32)bits_of(v, 56, 8), times = (s32)bits_of(v, 52, 4);
	u32 row = bits_of(v, 48, 4);

	for (u32 y = 0; y < 4; y++) {
		for (u32 x = 0; x < 4; x++) {
			u32 index = bits_of(v, 45 - 3 * (x * 4 + y), 3);
			u32 a = byte_of(base + table[row][index] * times);

			out[y * 4 + x] = (out[y * 4 + x] & 0xffffff) | a << 24;
		}
	}
}

static struct rgb rgb565(u32 v)
{
	return (struct rgb){ { widen(v >> 11, 5), widen(v >> 5 & 63, 6), widen(v & 31, 5) } };
}

/* Interpolate a and b: (ma * a + mb * b) / (ma + mb), to nearest. */
static s32 between(s32 a, s32 ma, s32 b, s32 mb)
{
	s32 sum = ma + mb;

	return (2 * (ma * a + mb * b) + sum) / (2 * sum);
}

static u32 rgb_between(const struct rgb *a, s32 ma, const struct rgb *b, s32 mb)
{
	struct rgb r;

	for (u32 c = 0; c < 3; c++)
		r.c[c] = between(a->c[c], ma, b->c[c], mb);
	return pack_rgb(&r, 0);
}

/* transparent: the order of the colours may select three colours and a transparent one. */
static void bc_colour(const u8 *block, bool transparent, u32 out[16])
{
	u32 first = block[0] | (u32)block[1] << 8, second = block[2] | (u32)block[3] << 8;
	struct rgb a = rgb565(first), b = rgb565(second);
	u32 paint[4] = { pack_rgb(&a, 0), pack_rgb(&b, 0) };

	if (first > second || !transparent) {
		paint[2] = rgb_between(&a, 2, &b, 1);
		paint[3] = rgb_between(&a, 1, &b, 2);
	} else {
		paint[2] = rgb_between(&a, 1, &b, 1);
		paint[3] = 0;
	}
	for (u32 n = 0; n < 16; n++)
		out[n] = paint[block[4 + n / 4] >> (n % 4 * 2) & 3];
}

static void bc2_alpha(const u8 *block, u32 out[16])
{
	for (u32 n = 0; n < 16; n++)
		out[n] = (out[n] & 0xffffff) | (block[n / 2] >> (n % 2 * 4) & 15) * 17u << 24;
}

static void bc3_alpha(const u8 *block, u32 out[16])
{
	s32 a = block[0], b = block[1], max = a > b ? 7 : 5;
	u32 paint[8] = { (u32)a, (u32)b, 0, 0, 0, 0, 0, 255 };
	u64 indices = 0;

	for (s32 n = 1; n < max; n++)
		paint[n + 1] = (u32)between(a, max - n, b, n);
	memcpy(&indices, block + 2, 6);
	for (u32 n = 0; n < 16; n++)
		out[n] = (out[n] & 0xffffff) | paint[indices >> (3 * n) & 7] << 24;
}

void texel_block_decode(u32 format, const u8 *block, u32 out[16])
{
	switch (format) {
	case PUMICE_FORMAT_ETC2_RGB8:
	case PUMICE_FORMAT_ETC2_RGB8_SRGB:
		etc_colour(block, false, out);
		break;
	case PUMICE_FORMAT_ETC2_RGB8A1:
		etc_colour(block, true, out);
		break;
	case PUMICE_FORMAT_ETC2_RGBA8:
	case PUMICE_FORMAT_ETC2_RGBA8_SRGB:
		etc_colour(block + 8, false, out);
		etc_alpha(block, out);
		break;
	case PUMICE_FORMAT_BC1_RGBA:
	case PUMICE_FORMAT_BC1_RGBA_SRGB:
		bc_colour(block, true, out);
		break;
	case PUMICE_FORMAT_BC2_RGBA:
	case PUMICE_FORMAT_BC2_RGBA_SRGB:
		bc_colour(block + 8, false, out);
		bc2_alpha(block, out);
		break;
	default:
		bc_colour(block + 8, false, out);
		bc3_alpha(block, out);
		break;
	}
}
