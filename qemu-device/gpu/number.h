/* SPDX-License-Identifier: MIT */
/* Numbers as they stand in words of memory and registers. */
#ifndef PUMICE_GPU_NUMBER_H
#define PUMICE_GPU_NUMBER_H

#include <string.h>

#include "pumice_types.h"

static inline float f32_of(u32 bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static inline u32 f32_bits(float f)
{
	u32 bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

#endif
