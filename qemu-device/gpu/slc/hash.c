// SPDX-License-Identifier: MIT
/*
 * Hash of a line to a bank of the SLC: the vectors of the bits.
 *
 * Source: document 000, "Memory Hierarchy".
 */
#include "hash.h"

#include <stdbool.h>

#define KEY_BITS	64u
/* Start of the sequence that vectors are selected from: the most even of some, at odd strides. */
#define SEED		0xdaa66d2c7ddf743full

/* Return whether a vector is a sum of some of those before bit n, as many as bits - 1. */
static bool depends(const u8 *vector, u32 n, u32 bits, u32 candidate)
{
	u32 set, i;

	for (set = 0; set < 1u << (bits - 1); set++) {
		u32 sum = 0;

		for (i = 0; i < bits - 1; i++)
			sum ^= set >> i & 1 ? vector[n - 1 - i] : 0;
		if (sum == candidate)
			return true;
	}
	return false;
}

void slc_hash_init(struct slc_hash *hash, u32 bits, u32 line_shift)
{
	u8 vector[KEY_BITS];
	u64 random = SEED;
	u32 n, i;

	*hash = (struct slc_hash){ .bits = bits, .line_shift = line_shift };
	for (n = 0; n < KEY_BITS && bits; n++) {
		if (n < bits) {
			vector[n] = (u8)(1u << n);
		} else {
			do {
				random ^= random << 13;
				random ^= random >> 7;
				random ^= random << 17;
				vector[n] = (u8)((random >> 11) & ((1u << bits) - 1));
			} while (depends(vector, n, bits, vector[n]));
		}
		for (i = 0; i < bits; i++)
			hash->mask[i] |= (u64)(vector[n] >> i & 1) << n;
	}
}
