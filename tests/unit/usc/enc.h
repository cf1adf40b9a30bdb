/* SPDX-License-Identifier: MIT */
/*
 * Writing USC instructions in C, for tests and benchmarks.
 *
 *	u32 code[2 * PUMICE_USC_WORDS];
 *	usc_put(code, 0, INSN(ADD, .type = F32, .dst = R(1), .src0 = R(2), .src1 = IMM, .imm = 7));
 *	usc_put(code, 1, INSN(END));
 *
 * Only the generated packers define field positions.
 */
#ifndef PUMICE_TESTS_USC_ENC_H
#define PUMICE_TESTS_USC_ENC_H

#include "pumice_formats.h"
#include "pumice_isa.h"

#define INSN(name, ...) \
	((struct pumice_usc_insn){ .opcode = PUMICE_USC_OP_##name, __VA_ARGS__ })

#define U32 PUMICE_USC_TYPE_U32
#define I32 PUMICE_USC_TYPE_I32
#define F32 PUMICE_USC_TYPE_F32
#define SCALAR_FORM PUMICE_USC_FORM_SCALAR

static inline u32 usc_operand(enum pumice_usc_bank bank, u32 num, bool elem)
{
	const struct pumice_usc_operand v = { .bank = bank, .num = (u16)num, .elem = elem };
	u32 raw;

	pumice_usc_operand_pack(&raw, &v);
	return raw;
}

/* Return a double mask of mask registers a and b. */
static inline u32 usc_double_mask(u32 a, bool a_not, u32 b, bool b_not)
{
	const struct pumice_usc_mask v = { .a = a, .a_not = a_not, .b = b, .b_not = b_not };
	u32 raw;

	pumice_usc_mask_pack(&raw, &v);
	return raw;
}

/* Operands: whole registers, element 0 of them, and words for all lanes. */
#define R(n) usc_operand(PUMICE_USC_BANK_R, (n), false)
#define V(n) usc_operand(PUMICE_USC_BANK_V, (n), false)
#define R_ELEM(n) usc_operand(PUMICE_USC_BANK_R, (n), true)
#define V_ELEM(n) usc_operand(PUMICE_USC_BANK_V, (n), true)
#define SH(n) usc_operand(PUMICE_USC_BANK_SH, (n), false)
#define K(name) usc_operand(PUMICE_USC_BANK_K, PUMICE_USC_K_##name, false)
#define SR(name) usc_operand(PUMICE_USC_BANK_SR, PUMICE_USC_SR_##name, false)
#define SR_ELEM(name) usc_operand(PUMICE_USC_BANK_SR, PUMICE_USC_SR_##name, true)
#define SC(n) usc_operand(PUMICE_USC_BANK_SC, (n), false)
#define M(mask) usc_operand(PUMICE_USC_BANK_M, (mask), false)
#define IMM usc_operand(PUMICE_USC_BANK_IMM, 0, false)

/* Masks: a constant, a temporary, both negated, and two together. */
#define MASK_K(name) PUMICE_USC_K_##name
#define MASK_R(n) (PUMICE_USC_MASK_CONSTS + (n))
#define IF(reg) usc_double_mask((reg), false, MASK_K(ONE), false)
#define IF_NOT(reg) usc_double_mask((reg), true, MASK_K(ONE), false)
#define IF_BOTH(a, b) usc_double_mask((a), false, (b), false)
#define ALWAYS IF(MASK_K(ONE))

/* Write instruction number n of a program. */
static inline void usc_put(u32 *code, u32 n, struct pumice_usc_insn insn)
{
	pumice_usc_pack(&code[n * PUMICE_USC_WORDS], &insn);
}

#endif
