/* SPDX-License-Identifier: MIT */
/* Minimum and maximum of numbers. */
#ifndef PUMICE_FW_NUMBER_H
#define PUMICE_FW_NUMBER_H

#include "pumice_types.h"

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

#endif
