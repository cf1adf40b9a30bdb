/* SPDX-License-Identifier: MIT */
/*
 * Hash of a line to a bank of the SLC.
 *
 * Source: document 000, "Memory Hierarchy" (hash for an even distribution of the address space).
 *
 * Each bit of {context, line number} has a vector of as many bits as a number of a bank has; the
 * bank is the XOR of the vectors of the bits that are set. Any as many consecutive bits have
 * linearly independent vectors, and the lowest ones those of the identity: so lines at any stride
 * that is a power of two use all banks equally, and consecutive aligned lines, as many as there are
 * banks, are in different ones. Otherwise vectors are irregular: with those of a polynomial, which
 * repeat, multiples of 2^n - 1 meet in few banks.
 */
#ifndef PUMICE_GPU_SLC_HASH_H
#define PUMICE_GPU_SLC_HASH_H

#include "pumice_types.h"

#define SLC_HASH_MAX_BITS	6u

struct slc_hash {
	u32 bits;		/* of a number of a bank */
	u32 line_shift;		/* log2 of the bytes of a line */
	u64 mask[SLC_HASH_MAX_BITS];	/* bit n of a bank is the parity of the bits in mask[n] */
};

/* bits: log2 of the number of banks, at most SLC_HASH_MAX_BITS. */
void slc_hash_init(struct slc_hash *hash, u32 bits, u32 line_shift);

/* Return the bank of a line, by an address in it. */
static inline u32 slc_hash_bank(const struct slc_hash *hash, u32 ctx, u64 addr)
{
	/* Numbers of lines have less than 58 bits. */
	u64 key = addr >> hash->line_shift ^ (u64)ctx << 58;
	u32 bank = 0, i;

	for (i = 0; i < hash->bits; i++)
		bank |= (u32)__builtin_parityll(key & hash->mask[i]) << i;
	return bank;
}

#endif
