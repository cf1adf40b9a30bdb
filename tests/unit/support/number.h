/* SPDX-License-Identifier: MIT */
/* Numbers for tests: random ones that are the same in every run, and floats as words. */
#ifndef PUMICE_TEST_NUMBER_H
#define PUMICE_TEST_NUMBER_H

#include <string.h>

#include "pumice_types.h"

#define NUMBER_SEED	88172645463325252ull	/* any that is not 0 */

/* Return a number from 0 to below - 1; *state is not 0. */
static inline u32 number_random(u64 *state, u32 below)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (u32)((*state >> 11) % below);
}

static inline u32 number_bits(float f)
{
	u32 bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

static inline float number_float(u32 bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

#endif
