/* SPDX-License-Identifier: MIT */
/*
 * Addresses of the texels of 32 lanes, and filtering: interface of the TAG and the TF.
 *
 * Source: document 004, "TAG", "TF"; Documentation/formats.rst, "Filtering".
 */
#ifndef PUMICE_GPU_TEXEL_TF_H
#define PUMICE_GPU_TEXEL_TF_H

#include "texel.h"

/* A read of one level. */
struct tf_place {
	u32 dims;		/* 1 to 3; cubes 2 */
	u8 wrap[3];		/* enum pumice_wrap */
	bool texels;		/* coordinates count texels */
	u32 linear;		/* lanes that filter; the others take the nearest texel */
	u32 size[3];		/* size of the level */
	u32 block_shift;	/* log2 of a block's width */
	u64 addr;		/* address of the level's layer 0 */
	const struct pumice_level *level;
	const float (*coord)[PUMICE_LANES];	/* dims rows */
	const u32 *layer;	/* of each lane, or NULL */
};

/* Up to eight texels of each lane: x, y, z each 0 or 1. */
struct tf_taps {
	float weight[3][PUMICE_LANES];	/* weight of tap 1 along each axis */
	u32 index[3][2][PUMICE_LANES];	/* texel coordinates, inside the level */
	u32 beyond[3][2][PUMICE_LANES];	/* all ones: use the border; only axes with BORDER */
	u32 column[2][PUMICE_LANES];	/* byte offset for x */
	u64 row[2][2][PUMICE_LANES];	/* address of [z][y]'s row of blocks */
} __attribute__((aligned(64)));

#endif
