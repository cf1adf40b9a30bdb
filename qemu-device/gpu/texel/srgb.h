/* SPDX-License-Identifier: MIT */
/*
 * The sRGB curve.
 *
 * Source: srgb.c. From the curve an 8-bit code becomes the nearest f32; to the
 * curve, the nearest code, ties to the higher. A value's upper 16 bits say which of
 * two neighbouring codes it has; one comparison says which.
 */
#ifndef PUMICE_GPU_TEXEL_SRGB_H
#define PUMICE_GPU_TEXEL_SRGB_H

#include <string.h>

#include "pumice_types.h"

#define TEXEL_SRGB_SLOTS 1664u	/* from 2^-13 to 1, 128 for each power of two */

extern const float texel_srgb_to_linear[256];
extern const float texel_srgb_least[257];
extern const u8 texel_srgb_first[TEXEL_SRGB_SLOTS];

/* Nearest code; what is not a number is 0. */
static inline u32 texel_srgb_code(float linear)
{
	u32 bits, code;

	if (!(linear >= 0x1p-13f))
		return 0;
	if (linear >= 1.0f)
		return 255;
	memcpy(&bits, &linear, sizeof(bits));
	code = texel_srgb_first[(bits >> 16) - 0x3900u];
	return code + (linear >= texel_srgb_least[code + 1]);
}

#endif
