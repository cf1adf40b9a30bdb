/* SPDX-License-Identifier: MIT */
/*
 * Texture filter (TF): from texels, as the TCU reads them, to the results of a read.
 *
 * Source: document 004, "TF"; Documentation/formats.rst, "Filtering". Receives the words of texels,
 * the state of texture and sampler, and weights from the TAG of its half of a core. Expands
 * formats, converts sRGB, compares depths, filters. Processes a wave at a time. Used by its TAG
 * only, so by one thread at a time.
 */
#ifndef PUMICE_GPU_TF_H
#define PUMICE_GPU_TF_H

#include "../activity.h"
#include "../texel/tf.h"
#include "pumice_formats.h"

/* The unit. */
struct tf {
	const struct texel_ops *ops;
	struct activity activity;	/* requests: results */
};

/* State of a texture and its sampler. */
struct tf_state {
	const struct pumice_pixel_info *info;
	float scale[4];
	u8 swizzle[4];
	bool same;		/* the swizzle is R, G, B, A */
	u8 border_axes;		/* bit a: texels beyond axis a have the border's colour; never for
				 * cubes */
	u8 compare_func;	/* enum pumice_compare */
	u32 border_colour[4];	/* f32 before scaling, or integers */
};

/* A read. */
struct tf_read {
	const struct tf_state *state;
	const float *reference;	/* of each lane, to compare depths with; else NULL */
};

void tf_init(struct tf *tf);

/*
 * Expand the words of texel n (z * 4 + y * 2 + x) of a filter to numbers before scaling. taps: NULL
 * of a texel that has no border.
 */
void tf_expand(struct tf *tf, const struct tf_read *read, const struct tf_taps *taps, u32 n,
	       const struct texel_rows *words, struct texel_rows *texel);
/* Filter expanded texels along dims axes; they are overwritten. */
void tf_filter(struct tf *tf, const struct tf_read *read, u32 dims, const struct tf_taps *taps,
	       struct texel_rows *texel, struct texel_rows *out);
/*
 * Expand and filter the words of four texels along two axes; of a UNORM format of at most a word,
 * without border and comparison.
 */
void tf_bilinear(struct tf *tf, const struct tf_read *read, const struct tf_taps *taps,
		 const u32 (*words)[PUMICE_LANES], struct texel_rows *out);
/* Interpolate between two levels: to other's at weight 1. */
void tf_mix(struct tf *tf, const struct tf_read *read, const float *weight,
	    const struct texel_rows *other, struct texel_rows *out);
/* Add sample step of the lanes that have more than step samples. */
void tf_add(struct tf *tf, const struct texel_rows *one, u32 step, const float *steps,
	    struct texel_rows *sum);
/* Divide sums by the number of samples. */
void tf_average(struct tf *tf, const float *steps, struct texel_rows *sum);
/* Write the result of a read to four rows. */
void tf_result(struct tf *tf, const struct tf_read *read, struct texel_rows *texel, u32 *out);
/* Write component comp of one texel, or its comparison, to one row: a part of a result. */
void tf_gather(struct tf *tf, const struct tf_read *read, u32 comp,
	       struct texel_rows *texel, u32 *out);

#endif
