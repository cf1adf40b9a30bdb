/* SPDX-License-Identifier: MIT */
/* Floats in words of memory and registers. */
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

#endif
