// SPDX-License-Identifier: MIT
/* Texels: the host's vector level, and functions that need none. See texel.h. */
#include "texel.h"

#include <stdatomic.h>
#include <string.h>

#include "../levels/levels.h"
#include "internal.h"

const struct texel_ops *texel_level_ops(enum texel_level level)
{
	switch (level) {
	case TEXEL_LEVEL_BASE:
		return &texel_level_base;
	case TEXEL_LEVEL_AVX2:
#ifdef __x86_64__
		if (gpu_level_usable(GPU_LEVEL_AVX2))
			return &texel_level_avx2;
#endif
		return NULL;
	case TEXEL_LEVEL_AVX512:
#ifdef __x86_64__
		if (gpu_level_usable(GPU_LEVEL_AVX512))
			return &texel_level_avx512;
#endif
		return NULL;
	default:
		return NULL;
	}
}

const struct texel_ops *texel_ops(void)
{
	static const struct texel_ops *_Atomic chosen;
	const struct texel_ops *ops = atomic_load_explicit(&chosen, memory_order_relaxed);
	u32 level = TEXEL_LEVELS;

	while (!ops)
		ops = texel_level_ops((enum texel_level)--level);
	atomic_store_explicit(&chosen, ops, memory_order_relaxed);
	return ops;
}

float texel_scale(const struct pumice_pixel_info *info, u32 component)
{
	u32 bits = info->bits[component];

	if (component >= info->components || (info->flags & PUMICE_FORMAT_SRGB && component < 3))
		return 1.0f;
	if (info->kind == PUMICE_KIND_UNORM)
		return (float)((1u << bits) - 1);
	if (info->kind == PUMICE_KIND_SNORM)
		return (float)((1u << (bits - 1)) - 1);
	return 1.0f;
}

bool texel_dithers(const struct pumice_pixel_info *info)
{
	return info->kind == PUMICE_KIND_UNORM && info->components >= 3 && info->bits[0] != 8 &&
	       info->bits[0] <= 10;
}

/*
 * Return the thresholds of the 4x4 matrix, in 16ths less 1/2: those of an ordered dither after
 * Bayer, in which consecutive numbers are as far apart as possible.
 */
struct texel_dither texel_dither_row(u32 x, u32 y)
{
	static const u8 order[4][4] = {
		{ 0, 8, 2, 10 }, { 12, 4, 14, 6 }, { 3, 11, 1, 9 }, { 15, 7, 13, 5 },
	};
	struct texel_dither dither = { .on = true };

	for (u32 n = 0; n < 4; n++)
		dither.add[n] = ((float)order[y % 4][(x + n) % 4] + 0.5f) / 16.0f;
	return dither;
}

void texel_unpack(const struct pumice_pixel_info *info, const struct texel_rows *words,
		  struct texel_rows *out)
{
	float scale[4];

	for (u32 c = 0; c < 4; c++)
		scale[c] = texel_scale(info, c);
	texel_ops()->expand(info, words, out);
	texel_ops()->scale(scale, out);
}

void texel_words_load(u32 bytes, const u8 *from, u32 count, struct texel_rows *words)
{
	for (u32 l = 0; l < count; l++) {
		u32 word[4] = { 0 };

		switch (bytes) {
		case 1:
			word[0] = from[l];
			break;
		case 2:
			memcpy(word, from + l * 2, 2);
			break;
		case 4:
			memcpy(word, from + l * 4, 4);
			break;
		case 8:
			memcpy(word, from + l * 8, 8);
			break;
		default:
			memcpy(word, from + l * 16, 16);
			break;
		}
		for (u32 n = 0; n < (bytes + 3) / 4; n++)
			words->row[n][l] = word[n];
	}
}

void texel_words_store(u32 bytes, const struct texel_rows *words, u32 count, u8 *to)
{
	if (bytes == 4) {
		memcpy(to, words->row[0], (size_t)count * 4);
		return;
	}
	for (u32 l = 0; l < count; l++) {
		const u32 word[4] = { words->row[0][l], words->row[1][l], words->row[2][l],
				      words->row[3][l] };

		switch (bytes) {
		case 1:
			to[l] = (u8)word[0];
			break;
		case 2:
			memcpy(to + l * 2, word, 2);
			break;
		case 8:
			memcpy(to + l * 8, word, 8);
			break;
		default:
			memcpy(to + l * 16, word, 16);
			break;
		}
	}
}

void texel_component_bits(const struct pumice_pixel_info *info, u32 components, u8 bits[16])
{
	memset(bits, 0, 16);
	for (u32 c = 0; c < 4; c++) {
		if (!(components >> c & 1))
			continue;
		for (u32 b = info->shift[c]; b < info->shift[c] + (u32)info->bits[c]; b++)
			bits[b / 8] |= (u8)(1u << b % 8);
	}
}
