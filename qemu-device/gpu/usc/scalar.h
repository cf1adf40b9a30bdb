/* SPDX-License-Identifier: MIT */
/*
 * One lane's arithmetic where C leaves it open or says something else.
 *
 * Source: hw/isa.xml, the meaning of each operation. Used by the scalar forms
 * and by the reductions.
 */
#ifndef PUMICE_GPU_USC_SCALAR_H
#define PUMICE_GPU_USC_SCALAR_H

#include <string.h>

#include "../number.h"
#include "exec.h"

/* An arithmetic result. */
static inline u32 f32_result(float f)
{
	return f != f ? USC_F32_NAN : f32_bits(f);
}

static inline bool f32_is_nan(u32 bits)
{
	return f32_of(bits) != f32_of(bits);
}

/* If one is NaN the other; of zeroes the negative one. */
static inline u32 f32_min(u32 a, u32 b)
{
	if (f32_is_nan(a))
		return f32_is_nan(b) ? USC_F32_NAN : b;
	if (f32_is_nan(b) || f32_of(a) < f32_of(b))
		return a;
	return f32_of(b) < f32_of(a) ? b : a | b;
}

/* If one is NaN the other; of zeroes the positive one. */
static inline u32 f32_max(u32 a, u32 b)
{
	if (f32_is_nan(a))
		return f32_is_nan(b) ? USC_F32_NAN : b;
	if (f32_is_nan(b) || f32_of(a) > f32_of(b))
		return a;
	return f32_of(b) > f32_of(a) ? b : a & b;
}

/*
 * An angle in radians, at least 2^20 and finite: returns its quarter turns modulo
 * 4, to nearest, with the rest in radians.
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
