/* SPDX-License-Identifier: MIT */
/*
 * Instructions as words, for the programs of tests. Written after the formats of
 * the unprivileged ISA 20191213, section 2.3; immediates must fit.
 */
#ifndef PUMICE_TEST_FWCPU_RVASM_H
#define PUMICE_TEST_FWCPU_RVASM_H

#include <stdint.h>

static inline uint32_t rv_r(uint32_t match, unsigned int rd, unsigned int rs1, unsigned int rs2)
{
	return match | rd << 7 | rs1 << 15 | rs2 << 20;
}

static inline uint32_t rv_i(uint32_t match, unsigned int rd, unsigned int rs1, int32_t imm)
{
	return match | rd << 7 | rs1 << 15 | (uint32_t)imm << 20;
}

static inline uint32_t rv_s(uint32_t match, unsigned int rs2, unsigned int rs1, int32_t imm)
{
	uint32_t u = (uint32_t)imm;

	return match | (u & 31) << 7 | rs1 << 15 | rs2 << 20 | (u >> 5 & 127) << 25;
}

static inline uint32_t rv_b(uint32_t match, unsigned int rs1, unsigned int rs2, int32_t distance)
{
	uint32_t u = (uint32_t)distance;

	return match | (u >> 11 & 1) << 7 | (u >> 1 & 15) << 8 | rs1 << 15 | rs2 << 20 |
	       (u >> 5 & 63) << 25 | (u >> 12 & 1) << 31;
}

static inline uint32_t rv_j(uint32_t match, unsigned int rd, int32_t distance)
{
	uint32_t u = (uint32_t)distance;

	return match | rd << 7 | (u >> 12 & 255) << 12 | (u >> 11 & 1) << 20 |
	       (u >> 1 & 1023) << 21 | (u >> 20 & 1) << 31;
}

#define ADDI(rd, rs1, imm)	rv_i(0x00000013, rd, rs1, imm)
#define LUI(rd, imm20)		(0x00000037u | (rd) << 7 | (uint32_t)(imm20) << 12)
#define LW(rd, imm, rs1)	rv_i(0x00002003, rd, rs1, imm)
#define LB(rd, imm, rs1)	rv_i(0x00000003, rd, rs1, imm)
#define SW(rs2, imm, rs1)	rv_s(0x00002023, rs2, rs1, imm)
#define SH(rs2, imm, rs1)	rv_s(0x00001023, rs2, rs1, imm)
#define SB(rs2, imm, rs1)	rv_s(0x00000023, rs2, rs1, imm)
#define BNE(rs1, rs2, distance)	rv_b(0x00001063, rs1, rs2, distance)
#define JAL(rd, distance)	rv_j(0x0000006f, rd, distance)
#define JALR(rd, rs1, imm)	rv_i(0x00000067, rd, rs1, imm)
#define CSRRW(rd, csr, rs1)	rv_i(0x00001073, rd, rs1, csr)
#define CSRRS(rd, csr, rs1)	rv_i(0x00002073, rd, rs1, csr)
#define CSRRC(rd, csr, rs1)	rv_i(0x00003073, rd, rs1, csr)
#define CSRRWI(rd, csr, imm5)	rv_i(0x00005073, rd, imm5, csr)
#define CSRRSI(rd, csr, imm5)	rv_i(0x00006073, rd, imm5, csr)
#define CSRRCI(rd, csr, imm5)	rv_i(0x00007073, rd, imm5, csr)
#define NOP			0x00000013u
#define ECALL			0x00000073u
#define EBREAK			0x00100073u
#define WFI			0x10500073u
#define MRET			0x30200073u
#define FENCE			0x0ff0000fu
#define FENCE_I			0x0000100fu
#define ILLEGAL			0xffffffffu

/* CSR numbers the tests name. */
enum {
	MSTATUS = 0x300, MISA = 0x301, MIE = 0x304, MTVEC = 0x305, MSCRATCH = 0x340,
	MEPC = 0x341, MCAUSE = 0x342, MTVAL = 0x343, MIP = 0x344, MCYCLE = 0xb00,
	MINSTRET = 0xb02, MCYCLEH = 0xb80, MINSTRETH = 0xb82, CYCLE = 0xc00, TIME = 0xc01,
	INSTRET = 0xc02, TIMEH = 0xc81, MVENDORID = 0xf11, MHARTID = 0xf14,
};

/* Bits of mstatus, mie and mip. */
enum {
	BIT_MIE = 1 << 3, BIT_MPIE = 1 << 7, BIT_MPP = 3 << 11,
	BIT_TIMER = 1 << 7, BIT_EXTERNAL = 1 << 11,
};

/* Trap causes. */
#define CAUSE_FETCH_ACCESS	1u
#define CAUSE_ILLEGAL		2u
#define CAUSE_BREAKPOINT	3u
#define CAUSE_LOAD_MISALIGNED	4u
#define CAUSE_LOAD_ACCESS	5u
#define CAUSE_STORE_MISALIGNED	6u
#define CAUSE_STORE_ACCESS	7u
#define CAUSE_ECALL		11u
#define CAUSE_TIMER_IRQ		0x80000007u
#define CAUSE_EXTERNAL_IRQ	0x8000000bu

#endif
