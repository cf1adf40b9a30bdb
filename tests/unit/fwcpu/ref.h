/* SPDX-License-Identifier: MIT */
/*
 * Reference model of the firmware processor, for tests only.
 *
 * Written from the RISC-V manuals (unprivileged 20191213, privileged 20211203)
 * independent of the processor, and built in another way: each instruction is looked
 * up by mask and match in a table, executed as the manual specifies, one at a time,
 * and compressed instructions are executed without expansion. It shares no code and
 * no header with the processor.
 */
#ifndef PUMICE_TEST_FWCPU_REF_H
#define PUMICE_TEST_FWCPU_REF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fixture.h"

enum ref_state { REF_RUNNING, REF_WAITING, REF_LOCKUP };

struct ref {
	uint32_t x[32];
	uint32_t pc;
	bool mie_bit;			/* mstatus.MIE */
	bool mpie_bit;			/* mstatus.MPIE */
	uint32_t mie, mtvec, mscratch, mepc, mcause, mtval;
	uint64_t mcycle, minstret, mtimecmp;
	uint64_t mtime;			/* set by the test */
	uint32_t hart_id;
	bool irq;			/* level of the external interrupt */
	enum ref_state state;
	bool handler_open;		/* since trap entry: no MRET, no write to mepc */
	struct fixture *fixture;

	/* Of the instruction being executed. */
	uint32_t next_pc;
	bool trapped;
	bool wrote_mcycle, wrote_minstret;
};

/* Operand layout, so that a test can generate instructions of every kind. */
enum ref_format {
	REF_R,		/* rd, rs1, rs2 */
	REF_I,		/* rd, rs1, imm[11:0] */
	REF_SHIFT,	/* rd, rs1, shamt */
	REF_LOAD,	/* rd, imm[11:0](rs1) */
	REF_S,		/* rs2, imm(rs1) */
	REF_B,		/* rs1, rs2, distance */
	REF_U,		/* rd, imm[31:12] */
	REF_J,		/* rd, distance */
	REF_CSR,	/* rd, csr, rs1 or uimm */
	REF_FIXED,	/* no operands to vary */
};

struct ref_op {
	const char *name;
	uint32_t mask;
	uint32_t match;
	enum ref_format format;
	void (*run)(struct ref *r, uint32_t raw);
};

extern const struct ref_op ref_ops32[];
extern const size_t ref_ops32_count;
extern const struct ref_op ref_ops16[];
extern const size_t ref_ops16_count;

/* Decode @raw; NULL for an illegal instruction. */
const struct ref_op *ref_find32(uint32_t raw);
const struct ref_op *ref_find16(uint32_t raw);

/* Take a due interrupt, wake from WFI; then execute one instruction if running. */
void ref_step(struct ref *r);

/* Take a due interrupt and wake from WFI only. */
void ref_interrupts(struct ref *r);

/* For ref_c.c and ref_csr.c. */
void ref_raise(struct ref *r, uint32_t cause, uint32_t tval);
bool ref_load(struct ref *r, uint32_t addr, unsigned int size, uint32_t *val);
void ref_store(struct ref *r, uint32_t addr, unsigned int size, uint32_t val);
bool ref_csr_read(struct ref *r, uint32_t number, uint32_t *val);
bool ref_csr_write(struct ref *r, uint32_t number, uint32_t val);

/*
 * Assemble an immediate as the manual's figures print it: @map lists the
 * immediate bit of each instruction bit from @top downwards.
 */
uint32_t ref_gather(uint32_t raw, unsigned int top, const uint8_t *map, size_t count);

/* As above, then sign-extended from its highest bit. */
int32_t ref_gather_signed(uint32_t raw, unsigned int top, const uint8_t *map, size_t count);

#define REF_UIMM(raw, top, ...) \
	ref_gather(raw, top, (const uint8_t[]) { __VA_ARGS__ }, \
		   sizeof((const uint8_t[]) { __VA_ARGS__ }))
#define REF_SIMM(raw, top, ...) \
	ref_gather_signed(raw, top, (const uint8_t[]) { __VA_ARGS__ }, \
			  sizeof((const uint8_t[]) { __VA_ARGS__ }))

#endif
