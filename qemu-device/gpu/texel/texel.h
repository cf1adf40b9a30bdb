/* SPDX-License-Identifier: MIT */
/*
 * Conversion of texels between bits in memory and components, 32 lanes at a time.
 *
 * Source: hw/surface.h for the formats, Documentation/formats.rst for the rules. A row has 32
 * words. Words of a row of texels: row n has word n of each; texels smaller than a word are
 * in the low bits.
 *
 * The functions exist once per vector level; texel_ops() has those for this host. Results are
 * equal on all levels.
 */
#ifndef PUMICE_GPU_TEXEL_H
#define PUMICE_GPU_TEXEL_H

#include <stdbool.h>

#include "pumice_regs.h"
#include "surface.h"

struct texel_rows {
	u32 row[4][PUMICE_LANES];
} __attribute__((aligned(64)));

/* Added to a value before it is rounded down: an ordered dither, or 1/2. */
struct texel_dither {
	bool on;
	float add[4];		/* of texel n of a row: add[n % 4] */
};

struct tf_place;
struct tf_taps;

struct texel_ops {
	/*
	 * Expand components to numbers: f32, for UNORM and SNORM to be divided by
	 * texel_scale(), or integers. Missing components are 0, 0, 0, 1.
	 */
	void (*expand)(const struct pumice_pixel_info *info, const struct texel_rows *words,
		       struct texel_rows *out);
	/* Divide the components of UNORM and SNORM; scale: texel_scale() of each. */
	void (*scale)(const float scale[4], struct texel_rows *rows);
	/* Pack components to words. dither may be NULL. */
	void (*pack)(const struct pumice_pixel_info *info, const struct texel_rows *in,
		     const struct texel_dither *dither, struct texel_rows *words);
	/* Addresses and weights, filters: tf.h. */
	void (*place)(const struct tf_place *place, struct tf_taps *taps);
	void (*blend)(u32 dims, bool guard, const struct tf_taps *taps, struct texel_rows *texel,
		      struct texel_rows *out);
	void (*bilinear)(const struct pumice_pixel_info *info, const struct tf_taps *taps,
			 const u32 (*words)[PUMICE_LANES], struct texel_rows *out);
	void (*mix)(bool guard, const float *weight, const struct texel_rows *other,
		    struct texel_rows *rows);
	void (*log2)(const float *squares, float *out);
	void (*spans)(const u32 *row, float *dx, float *dy);
};

const struct texel_ops *texel_ops(void);

/* For tests: the functions of a level; NULL if the host does not support it. */
enum texel_level { TEXEL_LEVEL_BASE, TEXEL_LEVEL_AVX2, TEXEL_LEVEL_AVX512, TEXEL_LEVELS };
const struct texel_ops *texel_level_ops(enum texel_level level);

/* Return the divisor of a component's number: 1 if it is not UNORM or SNORM, or is sRGB. */
float texel_scale(const struct pumice_pixel_info *info, u32 component);

/* Return whether components are integers, which cannot be filtered or averaged. */
static inline bool texel_integer(const struct pumice_pixel_info *info)
{
	return info->kind == PUMICE_KIND_UINT || info->kind == PUMICE_KIND_SINT;
}

/* Return whether the dither has an effect in this format. */
bool texel_dithers(const struct pumice_pixel_info *info);
/* Return the dither of the row of texels that begins at x, y of a surface. */
struct texel_dither texel_dither_row(u32 x, u32 y);

/* Expand and scale. */
void texel_unpack(const struct pumice_pixel_info *info, const struct texel_rows *words,
		  struct texel_rows *out);

/* Copy count texels of a row between words and memory, unconverted. */
void texel_words_load(u32 bytes, const u8 *from, u32 count, struct texel_rows *words);
void texel_words_store(u32 bytes, const struct texel_rows *words, u32 count, u8 *to);

/* Return the bits of a texel that the components in a mask (bit 0: R) occupy; 16 bytes. */
void texel_component_bits(const struct pumice_pixel_info *info, u32 components, u8 bits[16]);

#endif
