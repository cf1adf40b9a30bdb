/* SPDX-License-Identifier: MIT */
/*
 * Integer computation (unprivileged ISA 20191213, sections 2.4 and 7). Part of
 * fwcpu_exec(), exec.c; no header of its own.
 */
#define A	x[in->rs1]
#define B	x[in->rs2]
#define IMM	in->imm

#define ALU_AS(name, length, result)					\
op_##name:								\
	x[in->rd] = (result);						\
	NEXT(length);

#define ALU(name, result)						\
	ALU_AS(name, 4, result)

#define ALU_BOTH(name, result)						\
	ALU_AS(name, 4, result)						\
	ALU_AS(C_##name, 2, result)

	ALU_BOTH(CONST, IMM)
	ALU_BOTH(ADDI, A + IMM)
	ALU_BOTH(ANDI, A & IMM)
	ALU_BOTH(SLLI, A << (IMM & 31))
	ALU_BOTH(SRLI, A >> (IMM & 31))
	ALU_BOTH(SRAI, sra(A, IMM))
	ALU(XORI, A ^ IMM)
	ALU(ORI, A | IMM)
	ALU(SLTI, (int32_t)A < (int32_t)IMM)
	ALU(SLTIU, A < IMM)

	ALU_BOTH(ADD, A + B)
	ALU_BOTH(SUB, A - B)
	ALU_BOTH(XOR, A ^ B)
	ALU_BOTH(OR, A | B)
	ALU_BOTH(AND, A & B)
	ALU(SLL, A << (B & 31))
	ALU(SRL, A >> (B & 31))
	ALU(SRA, sra(A, B))
	ALU(SLT, (int32_t)A < (int32_t)B)
	ALU(SLTU, A < B)

	ALU(MUL, A * B)
	ALU(MULH, mulh(A, B))
	ALU(MULHSU, mulhsu(A, B))
	ALU(MULHU, (uint32_t)((uint64_t)A * B >> 32))
	ALU(DIV, div_signed(A, B))
	ALU(DIVU, B ? A / B : UINT32_MAX)
	ALU(REM, rem_signed(A, B))
	ALU(REMU, B ? A % B : A)

#undef A
#undef B
#undef IMM
#undef ALU
#undef ALU_AS
#undef ALU_BOTH
