// SPDX-License-Identifier: MIT
/*
 * Decoder for 4-byte instructions: RV32I, M, Zicsr, Zifencei and the machine-mode
 * instructions.
 *
 * Sources: unprivileged ISA 20191213, chapters 2, 3, 7, 9 and 24; privileged ISA 20211203,
 * section 3.3. All other encodings are illegal. The fields that FENCE and FENCE.I reserve are
 * ignored, as required by chapters 2.7 and 3.
 */
#include "internal.h"

static uint32_t bits(uint32_t raw, unsigned int hi, unsigned int lo)
{
	return (raw >> lo) & ((2u << (hi - lo)) - 1);
}

/* Immediate formats (unprivileged, section 2.3). */
static uint32_t imm_i(uint32_t raw)
{
	return fwcpu_sext(bits(raw, 31, 20), 12);
}

static uint32_t imm_s(uint32_t raw)
{
	return fwcpu_sext(bits(raw, 31, 25) << 5 | bits(raw, 11, 7), 12);
}

static uint32_t imm_b(uint32_t raw)
{
	return fwcpu_sext(bits(raw, 31, 31) << 12 | bits(raw, 7, 7) << 11 |
		    bits(raw, 30, 25) << 5 | bits(raw, 11, 8) << 1, 13);
}

static uint32_t imm_u(uint32_t raw)
{
	return raw & 0xfffff000u;
}

static uint32_t imm_j(uint32_t raw)
{
	return fwcpu_sext(bits(raw, 31, 31) << 20 | bits(raw, 19, 12) << 12 |
		    bits(raw, 20, 20) << 11 | bits(raw, 30, 21) << 1, 21);
}

static uint8_t op_imm(uint32_t raw, uint32_t *imm)
{
	static const uint8_t ops[8] = {
		FWCPU_OP_ADDI, FWCPU_OP_SLLI, FWCPU_OP_SLTI, FWCPU_OP_SLTIU,
		FWCPU_OP_XORI, FWCPU_OP_SRLI, FWCPU_OP_ORI, FWCPU_OP_ANDI,
	};
	uint8_t op = ops[bits(raw, 14, 12)];
	uint32_t funct7 = bits(raw, 31, 25);

	*imm = imm_i(raw);
	if (op != FWCPU_OP_SLLI && op != FWCPU_OP_SRLI)
		return op;

	*imm = bits(raw, 24, 20);
	if (funct7 == RV_F7_BASE)
		return op;
	if (funct7 == RV_F7_ALT && op == FWCPU_OP_SRLI)
		return FWCPU_OP_SRAI;
	return FWCPU_OP_ILLEGAL;
}

static uint8_t op_reg(uint32_t raw)
{
	static const uint8_t base[8] = {
		FWCPU_OP_ADD, FWCPU_OP_SLL, FWCPU_OP_SLT, FWCPU_OP_SLTU,
		FWCPU_OP_XOR, FWCPU_OP_SRL, FWCPU_OP_OR, FWCPU_OP_AND,
	};
	static const uint8_t muldiv[8] = {
		FWCPU_OP_MUL, FWCPU_OP_MULH, FWCPU_OP_MULHSU, FWCPU_OP_MULHU,
		FWCPU_OP_DIV, FWCPU_OP_DIVU, FWCPU_OP_REM, FWCPU_OP_REMU,
	};
	uint8_t op = base[bits(raw, 14, 12)];

	switch (bits(raw, 31, 25)) {
	case RV_F7_BASE:
		return op;
	case RV_F7_MULDIV:
		return muldiv[bits(raw, 14, 12)];
	case RV_F7_ALT:
		if (op == FWCPU_OP_ADD)
			return FWCPU_OP_SUB;
		if (op == FWCPU_OP_SRL)
			return FWCPU_OP_SRA;
		return FWCPU_OP_ILLEGAL;
	default:
		return FWCPU_OP_ILLEGAL;
	}
}

static uint8_t op_load(uint32_t raw)
{
	static const uint8_t ops[8] = {
		FWCPU_OP_LB, FWCPU_OP_LH, FWCPU_OP_LW, FWCPU_OP_ILLEGAL,
		FWCPU_OP_LBU, FWCPU_OP_LHU, FWCPU_OP_ILLEGAL, FWCPU_OP_ILLEGAL,
	};

	return ops[bits(raw, 14, 12)];
}

static uint8_t op_store(uint32_t raw)
{
	switch (bits(raw, 14, 12)) {
	case 0:
		return FWCPU_OP_SB;
	case 1:
		return FWCPU_OP_SH;
	case 2:
		return FWCPU_OP_SW;
	default:
		return FWCPU_OP_ILLEGAL;
	}
}

static uint8_t op_branch(uint32_t raw)
{
	static const uint8_t ops[8] = {
		FWCPU_OP_BEQ, FWCPU_OP_BNE, FWCPU_OP_ILLEGAL, FWCPU_OP_ILLEGAL,
		FWCPU_OP_BLT, FWCPU_OP_BGE, FWCPU_OP_BLTU, FWCPU_OP_BGEU,
	};

	return ops[bits(raw, 14, 12)];
}

static uint8_t op_misc_mem(uint32_t raw)
{
	switch (bits(raw, 14, 12)) {
	case 0:
		return FWCPU_OP_FENCE;
	case 1:
		return FWCPU_OP_FENCE_I;
	default:
		return FWCPU_OP_ILLEGAL;
	}
}

/* Unknown registers and writes to read-only ones are detected here. */
static uint8_t op_system(uint32_t raw, struct fwcpu_insn *in)
{
	uint32_t funct3 = bits(raw, 14, 12);
	bool write = (funct3 & 3) == RV_CSRRW || in->rs1 != 0;
	int row;

	switch (raw) {
	case RV_ECALL:
		return FWCPU_OP_ECALL;
	case RV_EBREAK:
		return FWCPU_OP_EBREAK;
	case RV_MRET:
		return FWCPU_OP_MRET;
	case RV_WFI:
		return FWCPU_OP_WFI;
	}
	if ((funct3 & 3) == 0)
		return FWCPU_OP_ILLEGAL;

	row = fwcpu_csr_row(bits(raw, 31, 20), write);
	if (row < 0)
		return FWCPU_OP_ILLEGAL;
	in->imm = (uint32_t)row;
	in->rs2 = (uint8_t)funct3;
	return FWCPU_OP_CSR;
}

struct fwcpu_insn fwcpu_decode32(uint32_t raw, uint32_t pc)
{
	struct fwcpu_insn in = {
		.op = FWCPU_OP_ILLEGAL,
		.rd = (uint8_t)bits(raw, 11, 7),
		.rs1 = (uint8_t)bits(raw, 19, 15),
		.rs2 = (uint8_t)bits(raw, 24, 20),
	};

	if (in.rd == 0)
		in.rd = FWCPU_REG_SINK;

	switch (bits(raw, 6, 0)) {
	case RV_LUI:
		in.op = FWCPU_OP_CONST;
		in.imm = imm_u(raw);
		break;
	case RV_AUIPC:
		in.op = FWCPU_OP_CONST;
		in.imm = pc + imm_u(raw);
		break;
	case RV_OP_IMM:
		in.op = op_imm(raw, &in.imm);
		break;
	case RV_OP:
		in.op = op_reg(raw);
		break;
	case RV_LOAD:
		in.op = op_load(raw);
		in.imm = imm_i(raw);
		break;
	case RV_STORE:
		in.op = op_store(raw);
		in.imm = imm_s(raw);
		break;
	case RV_BRANCH:
		in.op = op_branch(raw);
		in.imm = fwcpu_halfwords(imm_b(raw));
		break;
	case RV_JAL:
		in.op = FWCPU_OP_JAL;
		in.imm = fwcpu_halfwords(imm_j(raw));
		break;
	case RV_JALR:
		if (bits(raw, 14, 12) == 0)
			in.op = FWCPU_OP_JALR;
		in.imm = imm_i(raw);
		break;
	case RV_MISC_MEM:
		in.op = op_misc_mem(raw);
		break;
	case RV_SYSTEM:
		in.op = op_system(raw, &in);
		break;
	}
	return in;
}
