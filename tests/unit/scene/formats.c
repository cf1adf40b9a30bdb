// SPDX-License-Identifier: MIT
/* Texels and depths of scenes, by a table of its own, independent of hw/surface.h. */
#include <math.h>

#include "scene.h"

/* Components from the lowest bit on, in the order of the format's name. */
struct packing {
	uint32_t format;
	bool srgb;
	bool floats;		/* of 16 bits */
	uint8_t bits[4];
	uint8_t place[4];	/* index in R, G, B, A */
};

static const struct packing packings[] = {
	{ PUMICE_FORMAT_RGBA8_UNORM, false, false, { 8, 8, 8, 8 }, { 0, 1, 2, 3 } },
	{ PUMICE_FORMAT_RGBA8_SRGB, true, false, { 8, 8, 8, 8 }, { 0, 1, 2, 3 } },
	{ PUMICE_FORMAT_BGRA8_UNORM, false, false, { 8, 8, 8, 8 }, { 2, 1, 0, 3 } },
	{ PUMICE_FORMAT_BGRA8_SRGB, true, false, { 8, 8, 8, 8 }, { 2, 1, 0, 3 } },
	{ PUMICE_FORMAT_R8_UNORM, false, false, { 8 }, { 0 } },
	{ PUMICE_FORMAT_RG8_UNORM, false, false, { 8, 8 }, { 0, 1 } },
	{ PUMICE_FORMAT_R5G6B5_UNORM, false, false, { 5, 6, 5 }, { 0, 1, 2 } },
	{ PUMICE_FORMAT_RGBA4_UNORM, false, false, { 4, 4, 4, 4 }, { 0, 1, 2, 3 } },
	{ PUMICE_FORMAT_RGB5A1_UNORM, false, false, { 5, 5, 5, 1 }, { 0, 1, 2, 3 } },
	{ PUMICE_FORMAT_RGB10A2_UNORM, false, false, { 10, 10, 10, 2 }, { 0, 1, 2, 3 } },
	{ PUMICE_FORMAT_RG16_UNORM, false, false, { 16, 16 }, { 0, 1 } },
	{ PUMICE_FORMAT_RGBA16_UNORM, false, false, { 16, 16, 16, 16 }, { 0, 1, 2, 3 } },
	{ PUMICE_FORMAT_R16_FLOAT, false, true, { 16 }, { 0 } },
	{ PUMICE_FORMAT_RG16_FLOAT, false, true, { 16, 16 }, { 0, 1 } },
	{ PUMICE_FORMAT_RGBA16_FLOAT, false, true, { 16, 16, 16, 16 }, { 0, 1, 2, 3 } },
};

#define PACKINGS	(sizeof(packings) / sizeof(packings[0]))

static const struct packing *find(uint32_t format)
{
	uint32_t i;

	for (i = 0; i < PACKINGS - 1; i++)
		if (packings[i].format == format)
			break;
	return &packings[i];
}

uint32_t scene_format(uint32_t n)
{
	return packings[n % PACKINGS].format;
}

uint32_t scene_texel_bytes(uint32_t format)
{
	const struct packing *p = find(format);

	return (uint32_t)(p->bits[0] + p->bits[1] + p->bits[2] + p->bits[3]) / 8;
}

static double half(uint32_t h)
{
	const int exponent = (int)(h >> 10 & 31);
	const double mantissa = (double)(h & 1023);
	const double value = exponent ? ldexp(1024 + mantissa, exponent - 25) :
					ldexp(mantissa, -24);

	return h >> 15 ? -value : value;
}

static double encode_srgb(double v)
{
	return v <= 0.0031308 ? v * 12.92 : 1.055 * pow(v, 1 / 2.4) - 0.055;
}

static bool is_unorm(uint32_t value, uint32_t bits, bool srgb, double colour, double error)
{
	const double most = (double)((1u << bits) - 1);
	double low = fmin(fmax(colour - error, 0), 1), high = fmin(fmax(colour + error, 0), 1);
	double slack;

	if (srgb) {
		low = encode_srgb(low);
		high = encode_srgb(high);
	}
	/*
	 * A rounded value is within half a step; f32 before it, and
	 * the curve, may be off by a little.
	 */
	slack = (srgb ? 0.01 : 1e-5) + most * 0x1p-22;
	return value >= floor(low * most + 0.5 - slack) && value <= ceil(high * most - 0.5 + slack);
}

bool scene_texel_is(uint32_t format, const uint8_t *texel, const double colour[4], double error)
{
	const struct packing *p = find(format);
	uint64_t word = 0;
	uint32_t i;

	memcpy(&word, texel, scene_texel_bytes(format));
	for (i = 0; i < 4 && p->bits[i]; i++) {
		const double c = colour[p->place[i]];
		const uint32_t value = (uint32_t)(word & ((1u << p->bits[i]) - 1));

		word >>= p->bits[i];
		if (p->floats) {
			if (fabs(half(value) - c) > error + fabs(c) * 0x1p-11 + 0x1p-25)
				return false;
		} else if (!is_unorm(value, p->bits[i], p->srgb && p->place[i] < 3, c, error)) {
			return false;
		}
	}
	return true;
}

uint32_t scene_depth(uint32_t depth_format, float depth)
{
	const uint32_t bits = depth_format == PUMICE_DEPTH_FORMAT_D16 ? 16 : 24;

	if (depth_format == PUMICE_DEPTH_FORMAT_D32F)
		return fx_f32(depth);
	return (uint32_t)rint((double)depth * ((1u << bits) - 1));
}
