/* SPDX-License-Identifier: MIT */
/* Scalar numbers: floats in words of memory and registers, minimum and maximum, division. */
#ifndef PUMICE_GPU_NUMBER_H
#define PUMICE_GPU_NUMBER_H

#include <string.h>

#include "pumice_types.h"

static inline float u32_as_f32(u32 bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static inline u32 f32_as_u32(float f)
{
	u32 bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

static inline u32 min_u32(u32 a, u32 b)
{
	return a < b ? a : b;
}

static inline u64 min_u64(u64 a, u64 b)
{
	return a < b ? a : b;
}

static inline u64 max_u64(u64 a, u64 b)
{
	return a > b ? a : b;
}

static inline s32 min_s32(s32 a, s32 b)
{
	return a < b ? a : b;
}

static inline s32 max_s32(s32 a, s32 b)
{
	return a > b ? a : b;
}

/* Divide and round up; n + d must be within the range of u32. */
static inline u32 div_up(u32 n, u32 d)
{
	return (n + d - 1) / d;
}

#endif
