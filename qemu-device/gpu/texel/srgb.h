/* SPDX-License-Identifier: MIT */
/*
 * The sRGB curve.
 *
 * Source: srgb.c. Decoding maps an 8-bit code to the nearest f32; encoding finds the nearest
 * code, ties to the higher. A value's upper 16 bits select two neighbouring codes; one
 * comparison selects one of them.
 */
#ifndef PUMICE_GPU_TEXEL_SRGB_H
#define PUMICE_GPU_TEXEL_SRGB_H

#include <string.h>

#include "pumice_types.h"

#define TEXEL_SRGB_SLOTS 1664u	/* from 2^-13 to 1, 128 for each power of two */

extern const float texel_srgb_to_linear[256];
extern const float texel_srgb_min[257];
extern const u8 texel_srgb_first[TEXEL_SRGB_SLOTS];

/*
 * Return the nearest code; 0 for NaN. The range is checked on the bits, which order as the
 * values do, so that the compiler can prove the index, also for a constant NaN.
 */
static inline u32 texel_srgb_code(float linear)
{
	const u32 min = 0x39000000u, one = 0x3f800000u, infinity = 0x7f800000u;
	u32 bits, code;

	memcpy(&bits, &linear, sizeof(bits));
	if (bits < min || bits > infinity)	/* too small, NaN or negative */
		return 0;
	if (bits >= one)
		return 255;
	code = texel_srgb_first[(bits - min) >> 16];
	return code + (linear >= texel_srgb_min[code + 1]);
}

#endif
