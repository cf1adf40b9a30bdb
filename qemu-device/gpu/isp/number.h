/* SPDX-License-Identifier: MIT */
/* An f32 that stands in a word of memory; for the fragment phase. */
#ifndef PUMICE_GPU_ISP_NUMBER_H
#define PUMICE_GPU_ISP_NUMBER_H

#include <string.h>

#include "pumice_types.h"

static inline float isp_number(u32 word)
{
	float number;

	memcpy(&number, &word, sizeof(number));
	return number;
}

#endif
