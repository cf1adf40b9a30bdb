/* SPDX-License-Identifier: MIT */
/* Reproducible random numbers: splitmix64. */
#ifndef PUMICE_TEST_TAG_RAND_H
#define PUMICE_TEST_TAG_RAND_H

#include "pumice_types.h"

static inline u32 rand_u32(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (u32)((z ^ z >> 31) >> 16);
}

static inline u32 rand_below(u64 *state, u32 n)
{
	return (u32)((u64)rand_u32(state) * n >> 32);
}

static inline float rand_float(u64 *state, float low, float high)
{
	return low + (high - low) * ((float)(rand_u32(state) >> 8) * 0x1p-24f);
}

#endif
