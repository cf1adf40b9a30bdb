/* SPDX-License-Identifier: MIT */
/*
 * One vector level: all row functions.
 *
 * Included by level_*.c, which define VEC_BYTES and TEXEL_LEVEL_OPS (the name
 * of the table) and set the compiler to that level.
 */
#include "vec.h"

#include "format.h"

#include "place.h"
#include "filter.h"

const struct texel_ops TEXEL_LEVEL_OPS = {
	.expand = expand,
	.scale = scale,
	.pack = pack,
	.place = place,
	.blend = blend,
	.bilinear = bilinear,
	.mix = mix,
	.log2 = half_log2,
	.spans = spans,
};
