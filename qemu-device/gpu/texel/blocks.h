/* SPDX-License-Identifier: MIT */
/*
 * Compressed blocks of 4x4 texels.
 *
 * Source: Khronos Data Format Specification, "ETC2 Compressed Texture Image
 * Formats" and "S3TC Compressed Texture Image Formats"; Documentation/formats.rst
 * for the rounding of the latter.
 */
#ifndef PUMICE_GPU_TEXEL_BLOCKS_H
#define PUMICE_GPU_TEXEL_BLOCKS_H

#include "pumice_types.h"

/*
 * Texel x, y becomes out[y * 4 + x]: R in the low byte, then G, B, A. All bit patterns are
 * valid blocks.
 */
void texel_block_decode(u32 format, const u8 *block, u32 out[16]);

#endif
