/* SPDX-License-Identifier: MIT */
/*
 * Names of the RISC-V encodings that the firmware processor supports.
 *
 * Sources: RISC-V unprivileged ISA 20191213, chapters 2, 7, 9, 16 and 24; privileged ISA
 * 20211203, chapters 2 and 3. Immediates and the compressed formats are decoded in decode.c
 * and decode_c.c.
 */
#ifndef PUMICE_FWCPU_RV_H
#define PUMICE_FWCPU_RV_H

/* Major opcodes, bits 6:0 (unprivileged, table 24.1). */
enum rv_opcode {
	RV_LOAD		= 0x03,
	RV_MISC_MEM	= 0x0f,
	RV_OP_IMM	= 0x13,
	RV_AUIPC	= 0x17,
	RV_STORE	= 0x23,
	RV_OP		= 0x33,
	RV_LUI		= 0x37,
	RV_BRANCH	= 0x63,
	RV_JALR		= 0x67,
	RV_JAL		= 0x6f,
	RV_SYSTEM	= 0x73,
};

/* funct7 of RV_OP and of the immediate shifts (table 24.2). */
enum rv_funct7 {
	RV_F7_BASE	= 0x00,
	RV_F7_MULDIV	= 0x01,
	RV_F7_ALT	= 0x20,	/* SUB, SRA */
};

/* Whole instructions with no operands. */
enum rv_whole {
	RV_ECALL	= 0x00000073,
	RV_EBREAK	= 0x00100073,
	RV_WFI		= 0x10500073,
	RV_MRET		= 0x30200073,
};

/* Interrupt numbers, as bits of mip/mie and as causes (privileged, 3.1.9). */
enum rv_irq {
	RV_IRQ_TIMER	= 7,
	RV_IRQ_EXTERNAL	= 11,
};

#define RV_CAUSE_INTERRUPT	0x80000000u

/* Exception codes (privileged, table 3.6). */
enum rv_cause {
	RV_CAUSE_FETCH_ACCESS		= 1,
	RV_CAUSE_ILLEGAL		= 2,
	RV_CAUSE_BREAKPOINT		= 3,
	RV_CAUSE_LOAD_MISALIGNED	= 4,
	RV_CAUSE_LOAD_ACCESS		= 5,
	RV_CAUSE_STORE_MISALIGNED	= 6,
	RV_CAUSE_STORE_ACCESS		= 7,
	RV_CAUSE_ECALL_M		= 11,
};

/* mstatus (privileged, 3.1.6). */
#define RV_MSTATUS_MIE		(1u << 3)
#define RV_MSTATUS_MPIE		(1u << 7)
#define RV_MSTATUS_MPP_M	(3u << 11)

/* mtvec (privileged, 3.1.7). */
#define RV_MTVEC_VECTORED	1u
#define RV_MTVEC_BASE		(~3u)

/* misa: MXL 32 bits; extensions C, I, M (privileged, 3.1.1). */
#define RV_MISA			((1u << 30) | (1u << 2) | (1u << 8) | (1u << 12))

/* CSR numbers (privileged, table 2.5). */
enum rv_csr {
	RV_CSR_MSTATUS		= 0x300,
	RV_CSR_MISA		= 0x301,
	RV_CSR_MIE		= 0x304,
	RV_CSR_MTVEC		= 0x305,
	RV_CSR_MCOUNTEREN	= 0x306,
	RV_CSR_MSTATUSH		= 0x310,
	RV_CSR_MCOUNTINHIBIT	= 0x320,
	RV_CSR_MHPMEVENT3	= 0x323,
	RV_CSR_MHPMEVENT31	= 0x33f,
	RV_CSR_MSCRATCH		= 0x340,
	RV_CSR_MEPC		= 0x341,
	RV_CSR_MCAUSE		= 0x342,
	RV_CSR_MTVAL		= 0x343,
	RV_CSR_MIP		= 0x344,
	RV_CSR_MCYCLE		= 0xb00,
	RV_CSR_MINSTRET		= 0xb02,
	RV_CSR_MHPMCOUNTER3	= 0xb03,
	RV_CSR_MHPMCOUNTER31	= 0xb1f,
	RV_CSR_MCYCLEH		= 0xb80,
	RV_CSR_MINSTRETH	= 0xb82,
	RV_CSR_MHPMCOUNTER3H	= 0xb83,
	RV_CSR_MHPMCOUNTER31H	= 0xb9f,
	RV_CSR_CYCLE		= 0xc00,
	RV_CSR_TIME		= 0xc01,
	RV_CSR_INSTRET		= 0xc02,
	RV_CSR_CYCLEH		= 0xc80,
	RV_CSR_TIMEH		= 0xc81,
	RV_CSR_INSTRETH		= 0xc82,
	RV_CSR_MVENDORID	= 0xf11,
	RV_CSR_MARCHID		= 0xf12,
	RV_CSR_MIMPID		= 0xf13,
	RV_CSR_MHARTID		= 0xf14,
	RV_CSR_MCONFIGPTR	= 0xf15,
};

/* CSR numbers 0xc00..0xfff are read-only (privileged, 2.1). */
#define RV_CSR_READ_ONLY	0xc00u

/* funct3 of the CSR instructions (unprivileged, chapter 9). */
enum rv_csr_funct3 {
	RV_CSRRW	= 1,
	RV_CSRRS	= 2,
	RV_CSRRC	= 3,
	RV_CSR_IMM	= 4,	/* added: the operand is the rs1 field itself */
};

#endif
