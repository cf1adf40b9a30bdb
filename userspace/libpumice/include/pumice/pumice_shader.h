/* SPDX-License-Identifier: MIT */
/*
 * Macros for shaders in C programs.
 *
 * Two kinds of macros. Some generate assembly text, as string literals to be
 * concatenated and passed to pumice_program_assemble(): single lines, and
 * sequences for operations of several instructions. Others fill the uniform
 * block of a dispatch, so that its declaration and its contents are in one file.
 *
 *   static const char text[] =
 *           PUMICE_LINE(.group 64)
 *           PUMICE_LINE(.uniforms sh0, 3)
 *           PUMICE_LINE(.input v0, global_x)
 *           PUMICE_UDIV(r0, v0, r1, r2)
 *           …
 *   const uint32_t uniforms[] = { PUMICE_WORDS_VA(out), PUMICE_WORD_F32(1.5f) };
 *
 * Registers are written as in the assembler; "t", "t0" … are temporary
 * registers that a sequence overwrites. Unless stated otherwise
 * operands are vector registers, all registers of a sequence differ
 * from the results and from each other, and sources are not modified.
 */
#ifndef PUMICE_PUMICE_SHADER_H
#define PUMICE_PUMICE_SHADER_H

#include <stdint.h>
#include <string.h>

/* ------------------------------------------------------------ uniform blocks */

/* The two words of a GPU virtual address or another 64-bit value: low, high. */
#define PUMICE_WORDS_VA(va) (uint32_t)(uint64_t)(va), (uint32_t)((uint64_t)(va) >> 32)

#define PUMICE_WORD_F32(value) pumice_word_f32(value)

/* Return the word of a float, for a block of uniforms. */
static inline uint32_t pumice_word_f32(float value)
{
	uint32_t word;

	memcpy(&word, &value, sizeof(word));
	return word;
}

/* Number of words of a uniform block that is an array. */
#define PUMICE_UNIFORM_WORDS(block) ((uint32_t)(sizeof(block) / sizeof(uint32_t)))

/* -------------------------------------------------------------------- text */

/* One line: an instruction, a directive, a label with its colon. */
#define PUMICE_LINE(...) #__VA_ARGS__ "\n"

/* A line whose arguments are macros to be expanded first. */
#define PUMICE_LINE_EXPANDED(...) PUMICE_LINE(__VA_ARGS__)

/* ----------------------------------------------------------------- integers */

/* q = n / d, unsigned; d is not 0. */
#define PUMICE_UDIV(q, n, d, t) \
	PUMICE_LINE(udiv_rcp t, d) \
	PUMICE_LINE(mulhi.u32 q, n, t) \
	PUMICE_LINE(mul.u32 t, q, d) \
	PUMICE_LINE(sub.u32 t, n, t) \
	PUMICE_LINE(ge.u32 t, t, d) \
	PUMICE_LINE(add.u32 q, q, t)

/* q = n / d and r = n - q * d, unsigned; d is not 0. */
#define PUMICE_UDIVREM(q, r, n, d) \
	PUMICE_UDIV(q, n, d, r) \
	PUMICE_LINE(mul.u32 r, q, d) \
	PUMICE_LINE(sub.u32 r, n, r)

/* q = n / d, signed, towards zero; d is not 0. The smallest number by -1 yields itself. */
#define PUMICE_SDIV(q, n, d, t0, t1, t2) \
	PUMICE_LINE(abs.i32 t0, n) \
	PUMICE_LINE(abs.i32 t1, d) \
	PUMICE_UDIV(q, t0, t1, t2) \
	PUMICE_LINE(xor t0, n, d) \
	PUMICE_LINE(shr.i32 t0, t0, 31) \
	PUMICE_LINE(xor q, q, t0) \
	PUMICE_LINE(sub.u32 q, q, t0)

/* hi, lo = a * b, unsigned, 64 bits. */
#define PUMICE_UMUL64(hi, lo, a, b) \
	PUMICE_LINE(mulhi.u32 hi, a, b) \
	PUMICE_LINE(mul.u32 lo, a, b)

/* hi, lo += b_hi, b_lo, 64 bits. */
#define PUMICE_ADD64(hi, lo, b_hi, b_lo, t) \
	PUMICE_LINE(add.u32 lo, lo, b_lo) \
	PUMICE_LINE(lt.u32 t, lo, b_lo) \
	PUMICE_LINE(add.u32 hi, hi, b_hi) \
	PUMICE_LINE(add.u32 hi, hi, t)

/* ------------------------------------------------------------------- floats */

/*
 * q = n / d, f32. Correctly rounded as in IEEE 754,
 * zeroes, infinities and NaN included, unless the quotient
 * is a denormal, which may be off by one in its last bit.
 */
#define PUMICE_FDIV(q, n, d, t0, t1, t2, t3) \
	PUMICE_LINE(frexp_mant.f32 t0, n) \
	PUMICE_LINE(frexp_mant.f32 t1, d) \
	PUMICE_LINE(rcp.f32 t2, t1) \
	PUMICE_LINE(mul.f32 q, t0, t2) \
	PUMICE_LINE(neg.f32 t1, t1) \
	PUMICE_LINE(fma.f32 t3, t1, q, t0) \
	PUMICE_LINE(fma.f32 q, t3, t2, q) \
	PUMICE_LINE(frexp_exp.f32 t0, n) \
	PUMICE_LINE(frexp_exp.f32 t1, d) \
	PUMICE_LINE(sub.i32 t0, t0, t1) \
	PUMICE_LINE(ldexp.f32 q, q, t0) \
	PUMICE_LINE(div_fixup.f32 q, q, n, d)

/* y = x clamped to 0 and 1; NaN becomes 0. y may be x. */
#define PUMICE_SATURATE(y, x) \
	PUMICE_LINE(clamp.f32 y, x, 0.0, 1.0)

/* y = a + (b - a) * w */
#define PUMICE_MIX(y, a, b, w) \
	PUMICE_LINE(sub.f32 y, b, a) \
	PUMICE_LINE(fma.f32 y, y, w, a)

/* y = a . b, of three components each. b: vector or shared registers. */
#define PUMICE_DOT3(y, a0, a1, a2, b0, b1, b2) \
	PUMICE_LINE(mul.f32 y, a0, b0) \
	PUMICE_LINE(fma.f32 y, a1, b1, y) \
	PUMICE_LINE(fma.f32 y, a2, b2, y)

/* y = (m0, m1, m2, m3) . (a0, a1, a2, 1): a component of a transformed point. m: as b above. */
#define PUMICE_TRANSFORM(y, a0, a1, a2, m0, m1, m2, m3) \
	PUMICE_LINE(fma.f32 y, a0, m0, m3) \
	PUMICE_LINE(fma.f32 y, a1, m1, y) \
	PUMICE_LINE(fma.f32 y, a2, m2, y)

/* y = e to the power of x. The relative error grows with |x|: at most (|x| + 1) 2^-23. */
#define PUMICE_EXP(y, x) \
	PUMICE_LINE(mul.f32 y, x, sc72) \
	PUMICE_LINE(exp2.f32 y, y)

/* y = natural logarithm of x; error at most 2 ulp. */
#define PUMICE_LOG(y, x) \
	PUMICE_LINE(log2.f32 y, x) \
	PUMICE_LINE(mul.f32 y, y, sc73)

/* y = square root of x * x + z * z, not protected against overflow. */
#define PUMICE_HYPOT(y, x, z) \
	PUMICE_LINE(mul.f32 y, x, x) \
	PUMICE_LINE(fma.f32 y, z, z, y) \
	PUMICE_LINE(sqrt.f32 y, y)

/* ---------------------------------------------------------------- the wave */

/* s = op over all valid lanes of x. s: a scalar, such as r4[0]; type: u32, i32, f32. */
#define PUMICE_WAVE_REDUCE(op, type, s, x, t) \
	PUMICE_LINE(reduce_part.type op, t, x) \
	PUMICE_LINE(reduce_finish.type op, s, t)

/* ------------------------------------------------------------------ memory */

/* Load y from base + 4 * index and wait. base: a pair of shared registers; w: a scalar. */
#define PUMICE_LOAD32(y, base, index, mask, t, w) \
	PUMICE_LINE(shl.u32 t, index, 2) \
	PUMICE_LINE(global_load32 sig15, y, mask, base + t) \
	PUMICE_LINE(sig_wait w, sig15)

/* Store 32 bits of x to base + 4 * index. */
#define PUMICE_STORE32(base, index, mask, x, t) \
	PUMICE_LINE(shl.u32 t, index, 2) \
	PUMICE_LINE(global_store32 sig15, mask, base + t, x)

#endif
