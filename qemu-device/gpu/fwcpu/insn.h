/* SPDX-License-Identifier: MIT */
/*
 * The decoded instruction: output of decode.c, executed by exec.c.
 *
 * One 8-byte record for each halfword of private RAM. Compressed instructions become the
 * equivalent base operation; if the length is needed for the next pc the operation exists
 * twice, FWCPU_OP_x and FWCPU_OP_C_x, so that the interpreter never waits for a length to be
 * loaded.
 */
#ifndef PUMICE_FWCPU_INSN_H
#define PUMICE_FWCPU_INSN_H

#include <stdint.h>

/* Operations that have a compressed form: 4 and 2 bytes long. */
#define FWCPU_OPS_BOTH(X) \
	X(CONST) X(ADDI) X(ANDI) X(SLLI) X(SRLI) X(SRAI) \
	X(ADD) X(SUB) X(XOR) X(OR) X(AND) \
	X(LW) X(SW) X(BEQ) X(BNE) X(JAL) X(JALR)

/* Operations of one length, or without one because they never fall through. */
#define FWCPU_OPS_SINGLE(X) \
	X(ILLEGAL) X(FETCH_FAULT) \
	X(SLTI) X(SLTIU) X(XORI) X(ORI) \
	X(SLL) X(SLT) X(SLTU) X(SRL) X(SRA) \
	X(MUL) X(MULH) X(MULHSU) X(MULHU) X(DIV) X(DIVU) X(REM) X(REMU) \
	X(LB) X(LH) X(LBU) X(LHU) X(SB) X(SH) \
	X(BLT) X(BGE) X(BLTU) X(BGEU) \
	X(FENCE) X(FENCE_I) X(ECALL) X(EBREAK) X(MRET) X(WFI) X(CSR) \
	X(BREAK)

#define FWCPU_OP_ENUM(name)		FWCPU_OP_##name,
#define FWCPU_OP_ENUM_BOTH(name)	FWCPU_OP_##name, FWCPU_OP_C_##name,

enum fwcpu_op {
	FWCPU_OP_DECODE,	/* zeroed memory: not decoded yet */
	FWCPU_OPS_BOTH(FWCPU_OP_ENUM_BOTH)
	FWCPU_OPS_SINGLE(FWCPU_OP_ENUM)
	FWCPU_OP_COUNT
};

/*
 * CONST is LUI, AUIPC and the load of an immediate: imm is the result. imm of branches and
 * JAL is the distance in halfwords. For CSR imm is the row of the register table, rs2 the
 * funct3, and rs1 a register or the operand. An rd of x0 is stored as FWCPU_REG_SINK.
 * BREAK takes the place of an instruction that has a breakpoint (debug.h).
 */
struct fwcpu_insn {
	uint8_t op;		/* enum fwcpu_op */
	uint8_t rd;
	uint8_t rs1;
	uint8_t rs2;
	uint32_t imm;
};

/**
 * fwcpu_decode32 - decode a 4-byte instruction. @pc: its address, bytes
 *
 * Return: the record; FWCPU_OP_ILLEGAL for reserved and unimplemented encodings.
 */
struct fwcpu_insn fwcpu_decode32(uint32_t raw, uint32_t pc);

/** fwcpu_decode16 - as fwcpu_decode32(), for a compressed instruction. */
struct fwcpu_insn fwcpu_decode16(uint16_t raw);

#endif
