/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic of one lane where C leaves it undefined or defines it differently.
 *
 * Source: hw/isa.xml, the meaning of each operation. Used by the scalar forms and by the
 * reductions.
 */
#ifndef PUMICE_GPU_USC_SCALAR_H
#define PUMICE_GPU_USC_SCALAR_H

#include <string.h>

#include "../number.h"
#include "exec.h"

/* Return an arithmetic result: any NaN becomes the canonical one. */
static inline u32 f32_result(float f)
{
	return f != f ? USC_F32_NAN : f32_as_u32(f);
}

static inline bool f32_is_nan(u32 bits)
{
	return u32_as_f32(bits) != u32_as_f32(bits);
}

/* Return the minimum: if one operand is NaN the other one; of zeroes the negative one. */
static inline u32 f32_min(u32 a, u32 b)
{
	if (f32_is_nan(a))
		return f32_is_nan(b) ? USC_F32_NAN : b;
	if (f32_is_nan(b) || u32_as_f32(a) < u32_as_f32(b))
		return a;
	return u32_as_f32(b) < u32_as_f32(a) ? b : a | b;
}

/* Return the maximum: if one operand is NaN the other one; of zeroes the positive one. */
static inline u32 f32_max(u32 a, u32 b)
{
	if (f32_is_nan(a))
		return f32_is_nan(b) ? USC_F32_NAN : b;
	if (f32_is_nan(b) || u32_as_f32(a) > u32_as_f32(b))
		return a;
	return u32_as_f32(b) > u32_as_f32(a) ? b : a & b;
}

/*
 * Reduce a finite angle of at least 2^20 radians: returns its quarter turns modulo 4, rounded
 * to nearest, with the remainder in radians.
 */
u32 usc_reduce_angle(float angle, double *rest);

static inline u32 s32_min(u32 a, u32 b)
{
	return (s32)a < (s32)b ? a : b;
}

static inline u32 s32_max(u32 a, u32 b)
{
	return (s32)a > (s32)b ? a : b;
}

#endif
