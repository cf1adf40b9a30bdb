/* SPDX-License-Identifier: MIT */
/* Minimum and maximum of integers, for the firmware and the device. */
#ifndef PUMICE_MINMAX_H
#define PUMICE_MINMAX_H

#include "pumice_types.h"

static inline u32 min_u32(u32 a, u32 b)
{
	return a < b ? a : b;
}

static inline u32 max_u32(u32 a, u32 b)
{
	return a > b ? a : b;
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

#endif
