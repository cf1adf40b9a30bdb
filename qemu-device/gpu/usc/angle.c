// SPDX-License-Identifier: MIT
/*
 * Large angles: reduction by quarter turns in integers.
 *
 * Source: the method of Payne and Hanek. Only those bits of 2 / pi are used whose product
 * with the angle's 24-bit mantissa can change the quarter turn modulo 4 or the first 94 bits
 * of the fraction after it.
 *
 * Limits: one lane; angles of at least 2^20, which are rare. No f32 is nearer to a multiple
 * of pi / 2 than 2^-31, so 63 bits of the remainder are significant.
 */
#include "exec.h"
#include "scalar.h"

#define FRACTION_BITS 23

/* 2 / pi after 32 zeroes: bit 31 of word 1 has the value 1/2. */
static const u32 two_over_pi[] = {
	0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u,
	0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u,
};

static u32 bits_from(u32 bit)
{
	u32 word = bit / 32, shift = bit % 32;

	return shift ? two_over_pi[word] << shift | two_over_pi[word + 1] >> (32 - shift) :
		       two_over_pi[word];
}

u32 usc_reduce_angle(float angle, double *rest)
{
	u32 bits = f32_as_u32(angle), exponent = bits >> FRACTION_BITS;
	u64 mantissa = (bits & ((1u << FRACTION_BITS) - 1)) | 1u << FRACTION_BITS;
	/* The angle is mantissa * 2^e; the first bit used has the value 2 * 2^-e. */
	u32 first = 30 + exponent - (127 + FRACTION_BITS);
	u64 low = mantissa * bits_from(first + 64);
	u64 middle = mantissa * bits_from(first + 32) + (low >> 32);
	u64 turns = (mantissa * bits_from(first) << 32) + middle;
	u64 quarters = (turns + (1ull << 61)) >> 62;	/* rounded to nearest */
	double fraction = (double)(s64)(turns - (quarters << 62)) * 0x1p-62 +
			  (double)(u32)low * 0x1p-94;

	*rest = fraction * 0x1.921fb54442d18p+0;
	return (u32)quarters & 3;
}
