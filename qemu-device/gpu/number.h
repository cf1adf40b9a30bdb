/* SPDX-License-Identifier: MIT */
/* Scalar numbers: floats in words of memory and registers, division; integers: hw/minmax.h. */
#ifndef PUMICE_GPU_NUMBER_H
#define PUMICE_GPU_NUMBER_H

#include <string.h>

#include "minmax.h"
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

/* Limit to 0 to 1; a NaN becomes 0. */
static inline float clamp01_f32(float f)
{
	f = f > 0.0f ? f : 0.0f;
	return f < 1.0f ? f : 1.0f;
}

static inline double clamp01_f64(double f)
{
	f = f > 0.0 ? f : 0.0;
	return f < 1.0 ? f : 1.0;
}

/* Divide and round up; n + d must be within the range of u32. */
static inline u32 div_up(u32 n, u32 d)
{
	return (n + d - 1) / d;
}

#endif
