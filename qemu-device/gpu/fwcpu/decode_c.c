// SPDX-License-Identifier: MIT
/*
 * Decoder for 2-byte instructions: RV32C, expanded to base operations.
 *
 * Source: unprivileged ISA 20191213, chapter 16 (tables 16.4 to 16.7). The
 * floating-point, RV64 and RV128 code points, the reserved ones, and shifts by
 * 32 and more are illegal; HINTs do nothing, as their expansion does.
 */
#include "internal.h"

/* Implicit registers of compressed instructions. */
enum { REG_ZERO = 0, REG_RA = 1, REG_SP = 2 };

static const struct fwcpu_insn illegal = { .op = FWCPU_OP_ILLEGAL };

/* Move bit @from of @raw to bit @to. */
static uint32_t bit(uint32_t raw, unsigned int from, unsigned int to)
{
	return ((raw >> from) & 1) << to;
}

/* Move the @width bits of @raw at @from to @to. */
static uint32_t field(uint32_t raw, unsigned int from, unsigned int width, unsigned int to)
{
	return ((raw >> from) & ((1u << width) - 1)) << to;
}

/* The full-width register fields, and the 3-bit ones that mean x8..x15. */
static uint32_t rd_full(uint32_t raw)
{
	return field(raw, 7, 5, 0);
}

static uint32_t rs2_full(uint32_t raw)
{
	return field(raw, 2, 5, 0);
}

static uint32_t r_high(uint32_t raw)
{
	return 8 + field(raw, 7, 3, 0);
}

static uint32_t r_low(uint32_t raw)
{
	return 8 + field(raw, 2, 3, 0);
}

/* Immediates, named after the instructions that use them (section 16.2 and later). */
static uint32_t imm_6(uint32_t raw)
{
	return fwcpu_sext(bit(raw, 12, 5) | field(raw, 2, 5, 0), 6);
}

static uint32_t imm_lw(uint32_t raw)
{
	return bit(raw, 5, 6) | field(raw, 10, 3, 3) | bit(raw, 6, 2);
}

static uint32_t imm_addi4spn(uint32_t raw)
{
	return field(raw, 7, 4, 6) | field(raw, 11, 2, 4) | bit(raw, 5, 3) | bit(raw, 6, 2);
}

static uint32_t imm_addi16sp(uint32_t raw)
{
	return fwcpu_sext(bit(raw, 12, 9) | field(raw, 3, 2, 7) | bit(raw, 5, 6) |
		    bit(raw, 2, 5) | bit(raw, 6, 4), 10);
}

static uint32_t imm_lwsp(uint32_t raw)
{
	return field(raw, 2, 2, 6) | bit(raw, 12, 5) | field(raw, 4, 3, 2);
}

static uint32_t imm_swsp(uint32_t raw)
{
	return field(raw, 7, 2, 6) | field(raw, 9, 4, 2);
}

static uint32_t imm_j(uint32_t raw)
{
	return fwcpu_sext(bit(raw, 12, 11) | bit(raw, 8, 10) | field(raw, 9, 2, 8) |
		    bit(raw, 6, 7) | bit(raw, 7, 6) | bit(raw, 2, 5) |
		    bit(raw, 11, 4) | field(raw, 3, 3, 1), 12);
}

static uint32_t imm_b(uint32_t raw)
{
	return fwcpu_sext(bit(raw, 12, 8) | field(raw, 5, 2, 6) | bit(raw, 2, 5) |
		    field(raw, 10, 2, 3) | field(raw, 3, 2, 1), 9);
}

static struct fwcpu_insn make(enum fwcpu_op op, uint32_t rd, uint32_t rs1, uint32_t rs2,
			      uint32_t imm)
{
	return (struct fwcpu_insn) {
		.op = (uint8_t)op,
		.rd = (uint8_t)(rd ? rd : FWCPU_REG_SINK),
		.rs1 = (uint8_t)rs1,
		.rs2 = (uint8_t)rs2,
		.imm = imm,
	};
}

static struct fwcpu_insn quadrant0(uint32_t raw)
{
	switch (field(raw, 13, 3, 0)) {
	case 0: /* C.ADDI4SPN; an immediate of 0 is reserved, all zero is illegal */
		if (imm_addi4spn(raw) == 0)
			return illegal;
		return make(FWCPU_OP_C_ADDI, r_low(raw), REG_SP, 0, imm_addi4spn(raw));
	case 2: /* C.LW */
		return make(FWCPU_OP_C_LW, r_low(raw), r_high(raw), 0, imm_lw(raw));
	case 6: /* C.SW */
		return make(FWCPU_OP_C_SW, 0, r_high(raw), r_low(raw), imm_lw(raw));
	default:
		return illegal;
	}
}

/* C.LUI and C.ADDI16SP share a code point; an immediate of 0 is reserved in both. */
static struct fwcpu_insn lui_addi16sp(uint32_t raw)
{
	if (imm_6(raw) == 0)
		return illegal;
	if (rd_full(raw) == REG_SP)
		return make(FWCPU_OP_C_ADDI, REG_SP, REG_SP, 0, imm_addi16sp(raw));
	return make(FWCPU_OP_C_CONST, rd_full(raw), 0, 0, imm_6(raw) << 12);
}

/* C.SRLI, C.SRAI, C.ANDI and the register-register group (table 16.6). */
static struct fwcpu_insn misc_alu(uint32_t raw)
{
	static const uint8_t ops[4] = {
		FWCPU_OP_C_SUB, FWCPU_OP_C_XOR, FWCPU_OP_C_OR, FWCPU_OP_C_AND,
	};
	uint32_t r = r_high(raw);
	bool high = bit(raw, 12, 0);

	switch (field(raw, 10, 2, 0)) {
	case 0:
		return high ? illegal : make(FWCPU_OP_C_SRLI, r, r, 0, field(raw, 2, 5, 0));
	case 1:
		return high ? illegal : make(FWCPU_OP_C_SRAI, r, r, 0, field(raw, 2, 5, 0));
	case 2:
		return make(FWCPU_OP_C_ANDI, r, r, 0, imm_6(raw));
	default:
		return high ? illegal : make(ops[field(raw, 5, 2, 0)], r, r, r_low(raw), 0);
	}
}

static struct fwcpu_insn quadrant1(uint32_t raw)
{
	uint32_t rd = rd_full(raw);

	switch (field(raw, 13, 3, 0)) {
	case 0: /* C.NOP, C.ADDI */
		return make(FWCPU_OP_C_ADDI, rd, rd, 0, imm_6(raw));
	case 1: /* C.JAL */
		return make(FWCPU_OP_C_JAL, REG_RA, 0, 0, fwcpu_halfwords(imm_j(raw)));
	case 2: /* C.LI */
		return make(FWCPU_OP_C_CONST, rd, 0, 0, imm_6(raw));
	case 3:
		return lui_addi16sp(raw);
	case 4:
		return misc_alu(raw);
	case 5: /* C.J */
		return make(FWCPU_OP_C_JAL, REG_ZERO, 0, 0, fwcpu_halfwords(imm_j(raw)));
	case 6: /* C.BEQZ */
		return make(FWCPU_OP_C_BEQ, 0, r_high(raw), REG_ZERO, fwcpu_halfwords(imm_b(raw)));
	default: /* C.BNEZ */
		return make(FWCPU_OP_C_BNE, 0, r_high(raw), REG_ZERO, fwcpu_halfwords(imm_b(raw)));
	}
}

/* C.JR, C.MV, C.EBREAK, C.JALR and C.ADD (table 16.7). */
static struct fwcpu_insn jump_move_add(uint32_t raw)
{
	uint32_t rd = rd_full(raw);
	uint32_t rs2 = rs2_full(raw);
	bool add = bit(raw, 12, 0);

	if (rs2 && add)
		return make(FWCPU_OP_C_ADD, rd, rd, rs2, 0);
	if (rs2)
		return make(FWCPU_OP_C_ADDI, rd, rs2, 0, 0);
	if (rd)
		return make(FWCPU_OP_C_JALR, add ? REG_RA : REG_ZERO, rd, 0, 0);
	return add ? make(FWCPU_OP_EBREAK, 0, 0, 0, 0) : illegal;
}

static struct fwcpu_insn quadrant2(uint32_t raw)
{
	uint32_t rd = rd_full(raw);

	switch (field(raw, 13, 3, 0)) {
	case 0: /* C.SLLI */
		if (bit(raw, 12, 0))
			return illegal;
		return make(FWCPU_OP_C_SLLI, rd, rd, 0, field(raw, 2, 5, 0));
	case 2: /* C.LWSP */
		if (rd == 0)
			return illegal;
		return make(FWCPU_OP_C_LW, rd, REG_SP, 0, imm_lwsp(raw));
	case 4:
		return jump_move_add(raw);
	case 6: /* C.SWSP */
		return make(FWCPU_OP_C_SW, 0, REG_SP, rs2_full(raw), imm_swsp(raw));
	default:
		return illegal;
	}
}

struct fwcpu_insn fwcpu_decode16(uint16_t raw)
{
	switch (raw & 3) {
	case 0:
		return quadrant0(raw);
	case 1:
		return quadrant1(raw);
	case 2:
		return quadrant2(raw);
	default: /* the first half of a longer instruction */
		return illegal;
	}
}
