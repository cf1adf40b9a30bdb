// SPDX-License-Identifier: MIT
/*
 * Invalid programs: every reason for which the USC refuses an encoding, with the reported
 * position; and that random words do no harm.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"
#include "fixture.h"

#define NOISE 100000u

static const struct usc_program_limits limits = {
	.temps = 8, .attrs = 3, .shared = 5, .coeffs = 2, .coeffs_alt = 1, .slot_regs = 3,
};

/* One instruction between two valid ones, and the expected fault. */
struct refusal {
	const char *rule;
	struct pumice_usc_insn insn;
	enum pumice_fault fault;
};

#define NO(text, f, ...) { text, INSN(__VA_ARGS__), PUMICE_FAULT_##f }
/* Operands and masks as constants; those of enc.h are function calls. */
#define BANK(bank, n, e)						\
	(PUMICE_FIELD_PREP(PUMICE_USC_OPERAND__BANK, PUMICE_USC_BANK_##bank) |	\
	 PUMICE_FIELD_PREP(PUMICE_USC_OPERAND__NUM, n) |		\
	 PUMICE_FIELD_PREP(PUMICE_USC_OPERAND__ELEM, e))
#define INDEXED(n) PUMICE_FIELD_PREP(PUMICE_USC_OPERAND__IDX, n)
#define RAW_MASK(a, b)							\
	(PUMICE_FIELD_PREP(PUMICE_USC_MASK__A, a) | PUMICE_FIELD_PREP(PUMICE_USC_MASK__B, b))

static struct refusal refusals[] = {
	NO("no such type", USC_TYPE, ADD, .type = 3, .dst = BANK(R, 0, 0), .src0 = BANK(R, 1, 0),
	   .src1 = BANK(R, 2, 0)),
	NO("mov is untyped", USC_TYPE, MOV, .type = F32, .mask = RAW_MASK(1, 1),
	   .dst = BANK(R, 0, 0), .src0 = BANK(R, 1, 0)),
	NO("no rem of f32", USC_TYPE, REM, .type = F32, .form = 1, .dst = BANK(R, 0, 1),
	   .src0 = BANK(R, 1, 1), .src1 = BANK(R, 2, 1)),
	NO("div has no vector form", USC_TYPE, DIV, .dst = BANK(R, 0, 0), .src0 = BANK(R, 1, 0),
	   .src1 = BANK(R, 2, 0)),
	NO("select has no scalar form", USC_TYPE, SELECT, .form = 1, .mask = RAW_MASK(1, 1),
	   .dst = BANK(R, 0, 0), .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0)),
	NO("no bitwise reduction of f32", USC_TYPE, REDUCE_PART, .type = F32,
	   .func = PUMICE_USC_REDUCE_XOR, .dst = BANK(R, 0, 0), .src0 = BANK(R, 1, 0)),
	NO("no bitwise reduction of i32", USC_TYPE, REDUCE_FINISH, .type = I32,
	   .func = PUMICE_USC_REDUCE_AND, .dst = BANK(R, 0, 1), .src0 = BANK(R, 1, 0)),
	NO("no such reduction", USC_OPERAND, REDUCE_PART, .func = PUMICE_USC_REDUCE_COUNT,
	   .dst = BANK(R, 0, 0), .src0 = BANK(R, 1, 0)),
	NO("unused source is zero", USC_RESERVED, NOT, .dst = BANK(R, 0, 0),
	   .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0)),
	NO("unused mask is zero", USC_RESERVED, ADD, .mask = 1, .dst = BANK(R, 0, 0),
	   .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0)),
	NO("unused immediate is zero", USC_RESERVED, ADD, .imm = 1, .dst = BANK(R, 0, 0),
	   .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0)),
	NO("unused signal is zero", USC_RESERVED, SIG_WAIT, .sig1 = 1, .dst = BANK(R, 0, 1)),
	NO("the signal that a wait for any of two does not have is zero", USC_RESERVED,
	   SIG_WAITANY2, .sig2 = 1, .dst = BANK(R, 0, 1)),
	NO("the signal that a wait for any of three does not have is zero", USC_RESERVED,
	   SIG_WAITANY3, .sig3 = 1, .dst = BANK(R, 0, 1)),
	NO("the mask of signals is a scalar", USC_OPERAND, SIG_WAITANY4, .dst = BANK(R, 0, 0)),
	NO("end has no operands", USC_RESERVED, END, .target = 1),
	NO("destination is not a constant", USC_OPERAND, ADD, .dst = BANK(K, 1, 0),
	   .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0)),
	NO("vector destination is whole", USC_OPERAND, ADD, .dst = BANK(R, 0, 1),
	   .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0)),
	NO("scalar destination is an element", USC_OPERAND, ADD, .form = 1, .dst = BANK(R, 0, 0),
	   .src0 = BANK(R, 1, 1), .src1 = BANK(R, 2, 1)),
	NO("left source is not a scalar", USC_OPERAND, ADD, .dst = BANK(R, 0, 0),
	   .src0 = BANK(SH, 1, 0), .src1 = BANK(R, 2, 0)),
	NO("scalar source is not a vector", USC_OPERAND, BRZ, .src0 = BANK(R, 1, 0)),
	NO("shared registers have no elements", USC_OPERAND, BRZ, .src0 = BANK(SH, 1, 1)),
	NO("immediate has no number", USC_OPERAND, BRZ, .src0 = BANK(IMM, 1, 0)),
	NO("no bank after the last", USC_OPERAND, BRZ, .src0 = PUMICE_USC_BANK_COUNT),
	NO("no constant 12", USC_OPERAND, ADD, .dst = BANK(R, 0, 0), .src0 = BANK(K, 12, 0),
	   .src1 = BANK(R, 2, 0)),
	NO("no special register 7", USC_OPERAND, ADD, .dst = BANK(R, 0, 0), .src0 = BANK(SR, 7, 0),
	   .src1 = BANK(R, 2, 0)),
	NO("special register 32 has another number", USC_OPERAND, ADD, .dst = BANK(R, 0, 0),
	   .src0 = BANK(SR, 32, 0), .src1 = BANK(R, 2, 0)),
	NO("no special register 52", USC_OPERAND, ADD, .dst = BANK(R, 0, 0),
	   .src0 = BANK(SR, 52, 0), .src1 = BANK(R, 2, 0)),
	NO("the uniform register is not indexed", USC_OPERAND, ADD, .dst = BANK(R, 0, 0),
	   .src0 = BANK(SR, 51, 0) | INDEXED(1), .src1 = BANK(R, 2, 0)),
	NO("no special constant 32", USC_OPERAND, BRZ, .src0 = BANK(SC, 32, 0)),
	NO("no special constant 240", USC_OPERAND, BRZ, .src0 = BANK(SC, 240, 0)),
	NO("special registers are read-only", USC_OPERAND, ADD, .dst = BANK(SR, 0, 0),
	   .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0)),
	NO("special registers are read-only after the offset registers", USC_OPERAND, ADD,
	   .dst = BANK(SR, 47, 0), .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0)),
	NO("special registers are read-only in scalar forms", USC_OPERAND, ADD, .form = 1,
	   .dst = BANK(SR, 4, 1), .src0 = BANK(R, 1, 1), .src1 = BANK(R, 2, 1)),
	NO("no offset register is stored to memory", USC_OPERAND, GLOBAL_STORE32,
	   .mask = RAW_MASK(1, 1), .src0 = BANK(R, 1, 0), .src1 = BANK(SR, 36, 0)),
	NO("no offset register is loaded", USC_OPERAND, GLOBAL_LOAD32, .mask = RAW_MASK(1, 1),
	   .dst = BANK(SR, 43, 0), .src0 = BANK(R, 1, 0)),
	NO("offset registers are not indexed", USC_OPERAND, ADD, .dst = BANK(R, 0, 0),
	   .src0 = BANK(SR, 36, 0) | INDEXED(1), .src1 = BANK(R, 2, 0)),
	NO("an offset register for a slot register is not a scalar destination", USC_OPERAND, ADD,
	   .form = 1, .dst = BANK(SR, 41, 1), .src0 = BANK(R, 1, 1), .src1 = BANK(R, 2, 1)),
	NO("no signal 16 of a texture read", USC_OPERAND, SAMPLE, .type = F32, .async = 17,
	   .dst = BANK(R, 0, 0), .src0 = BANK(R, 4, 0), .src2 = BANK(SH, 0, 0)),
	NO("a load at word addresses uses as many registers", USC_REGISTER, LOCAL_LOAD128W,
	   .mask = RAW_MASK(1, 1), .dst = BANK(R, 5, 0), .src0 = BANK(R, 1, 0)),
	NO("a store at word addresses uses as many registers", USC_REGISTER, LOCAL_STORE64W,
	   .mask = RAW_MASK(1, 1), .src0 = BANK(R, 1, 0), .src1 = BANK(R, 7, 0)),
	NO("mask register 12 is reserved", USC_OPERAND, BR_ANY, .mask = RAW_MASK(12, 1)),
	NO("mask register 15 is reserved", USC_OPERAND, BR_ALL, .mask = RAW_MASK(1, 15)),
	NO("reserved mask as value", USC_OPERAND, ADD, .dst = BANK(R, 0, 0),
	   .src0 = BANK(M, RAW_MASK(13, 1), 0), .src1 = BANK(R, 2, 0)),
	NO("address is not a constant", USC_OPERAND, LOCAL_LOAD32, .mask = RAW_MASK(1, 1),
	   .dst = BANK(R, 0, 0), .src0 = BANK(K, 2, 0)),
	NO("base is not a constant", USC_OPERAND, GLOBAL_LOAD32, .mask = RAW_MASK(1, 1),
	   .dst = BANK(R, 0, 0), .src0 = BANK(R, 1, 0), .src2 = BANK(SC, 0, 0)),
	NO("temporary beyond the allocation", USC_REGISTER, ADD, .dst = BANK(R, 8, 0),
	   .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0)),
	NO("temporary source beyond the allocation", USC_REGISTER, ADD, .dst = BANK(R, 7, 0),
	   .src0 = BANK(R, 1, 0), .src1 = BANK(R, 4095, 0)),
	NO("attribute beyond the allocation", USC_REGISTER, ADD, .dst = BANK(R, 0, 0),
	   .src0 = BANK(V, 3, 0), .src1 = BANK(R, 2, 0)),
	NO("shared register beyond the allocation", USC_REGISTER, BRZ, .src0 = BANK(SH, 5, 0)),
	NO("mask register beyond the allocation", USC_REGISTER, BR_ANY, .mask = RAW_MASK(24, 1)),
	NO("second mask register beyond", USC_REGISTER, BR_ANY, .mask = RAW_MASK(1, 31)),
	NO("mask value beyond the allocation", USC_REGISTER, ADD, .dst = BANK(R, 0, 0),
	   .src0 = BANK(M, RAW_MASK(24, 1), 0), .src1 = BANK(R, 2, 0)),
	NO("high word of a base beyond", USC_REGISTER, GLOBAL_LOAD32, .mask = RAW_MASK(1, 1),
	   .dst = BANK(R, 0, 0), .src0 = BANK(R, 1, 0), .src2 = BANK(SH, 4, 0)),
	NO("high element of a base beyond", USC_REGISTER, GLOBAL_LOAD32, .mask = RAW_MASK(1, 1),
	   .dst = BANK(R, 0, 0), .src0 = BANK(R, 1, 0), .src2 = BANK(R, 7, 1)),
	NO("coefficient register beyond the allocation", USC_REGISTER, BRZ,
	   .src0 = BANK(CF, 2, 0)),
	NO("alternate coefficient register beyond the allocation", USC_REGISTER, BRZ,
	   .src0 = BANK(CFA, 1, 0)),
	NO("slot register beyond the configuration", USC_REGISTER, BRZ, .src0 = BANK(SL, 3, 0)),
	NO("internal register beyond the configuration", USC_REGISTER, ADD, .dst = BANK(I, 5, 0),
	   .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0)),
	NO("no internal register 8", USC_OPERAND, ADD, .dst = BANK(I, 8, 0),
	   .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0)),
	NO("no index register 2", USC_OPERAND, ADD, .dst = BANK(IDX, 2, 0),
	   .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0)),
	NO("no pixel outputs", USC_BANK, ADD, .dst = BANK(O, 0, 0), .src0 = BANK(R, 1, 0),
	   .src1 = BANK(R, 2, 0)),
	NO("no third index register", USC_OPERAND, ADD, .dst = BANK(R, 0, 0),
	   .src0 = BANK(R, 1, 0) | INDEXED(3), .src1 = BANK(R, 2, 0)),
	NO("dynamic constants are always indexed", USC_OPERAND, ADD, .dst = BANK(R, 0, 0),
	   .src0 = BANK(DC, 0, 0), .src1 = BANK(R, 2, 0)),
	NO("dynamic constants are not written", USC_OPERAND, ADD,
	   .dst = BANK(DC, 0, 0) | INDEXED(1), .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0)),
	NO("internal registers are not indexed", USC_OPERAND, ADD, .dst = BANK(R, 0, 0),
	   .src0 = BANK(I, 0, 0) | INDEXED(1), .src1 = BANK(R, 2, 0)),
	NO("a vector writes no shared register without an index", USC_OPERAND, ADD,
	   .dst = BANK(SH, 0, 0), .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0)),
	NO("a vector writes no coefficient register without an index", USC_OPERAND, ADD,
	   .dst = BANK(CF, 0, 0), .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0)),
	NO("indexed shared destination beyond the allocation", USC_REGISTER, ADD,
	   .dst = BANK(SH, 5, 0) | INDEXED(1), .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0)),
	NO("a load writes no shared register without an index", USC_OPERAND, LOCAL_LOAD32,
	   .mask = RAW_MASK(1, 1), .dst = BANK(SH, 0, 0), .src0 = BANK(R, 1, 0)),
	NO("a load of global memory writes no shared register", USC_OPERAND, GLOBAL_LOAD32,
	   .mask = RAW_MASK(1, 1), .dst = BANK(SH, 0, 0) | INDEXED(1), .src0 = BANK(R, 1, 0)),
	NO("slot registers are not indexed", USC_OPERAND, ADD, .dst = BANK(R, 0, 0),
	   .src0 = BANK(R, 1, 0), .src1 = BANK(SL, 0, 0) | INDEXED(1)),
	NO("indexed memory offset beyond the allocation", USC_REGISTER, LOCAL_LOAD32,
	   .mask = RAW_MASK(1, 1), .dst = BANK(R, 0, 0), .src0 = BANK(R, 8, 0) | INDEXED(1)),
	NO("second word of an indexed base beyond the allocation", USC_REGISTER, GLOBAL_LOAD32,
	   .mask = RAW_MASK(1, 1), .dst = BANK(R, 0, 0), .src0 = BANK(R, 1, 0),
	   .src2 = BANK(SH, 4, 0) | INDEXED(1)),
	NO("a dimension of a load without an index is zero", USC_RESERVED, LOCAL_LOAD32,
	   .mask = RAW_MASK(1, 1), .dst = BANK(R, 0, 0), .src0 = BANK(R, 1, 0), .dim = 1),
	NO("no sixth dimension of a load", USC_OPERAND, LOCAL_LOAD32, .mask = RAW_MASK(1, 1),
	   .dst = BANK(R, 0, 0), .src0 = BANK(R, 1, 0) | INDEXED(1), .dim = 5),
	NO("results of signals are not indexed", USC_OPERAND, SIG_WAIT,
	   .dst = BANK(R, 0, 1) | INDEXED(1)),
	NO("masks of signals are not indexed", USC_OPERAND, SIG_WAITANY2,
	   .dst = BANK(R, 0, 1) | INDEXED(1)),
	NO("a dimension without an index is zero", USC_RESERVED, ADD, .dst = BANK(R, 0, 0),
	   .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0), .dim = 1),
	NO("no such dimension", USC_OPERAND, ADD, .dst = BANK(R, 0, 0),
	   .src0 = BANK(R, 1, 0) | INDEXED(1), .src1 = BANK(R, 2, 0), .dim = 5),
	NO("indexed register beyond the allocation", USC_REGISTER, ADD, .dst = BANK(R, 0, 0),
	   .src0 = BANK(R, 8, 0) | INDEXED(1), .src1 = BANK(R, 2, 0)),
	NO("indexed destination beyond the allocation", USC_REGISTER, ADD,
	   .dst = BANK(V, 3, 0) | INDEXED(2), .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0)),
	NO("slot register is not a scalar destination", USC_OPERAND, ADD, .form = 1,
	   .dst = BANK(SL, 0, 0), .src0 = BANK(R, 1, 1), .src1 = BANK(R, 2, 1)),
	NO("third source beyond the allocation", USC_REGISTER, FMA, .type = F32,
	   .dst = BANK(R, 0, 0), .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0),
	   .src2 = BANK(R, 8, 0)),
	NO("third source is not a base", USC_OPERAND, FMA, .type = F32, .dst = BANK(R, 0, 0),
	   .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0)),
	NO("fma is of f32 alone", USC_TYPE, FMA, .dst = BANK(R, 0, 0), .src0 = BANK(R, 1, 0),
	   .src1 = BANK(R, 2, 0), .src2 = BANK(R, 3, 0)),
	NO("f16 is converted only", USC_TYPE, ADD, .type = PUMICE_USC_TYPE_F16,
	   .dst = BANK(R, 0, 0), .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0)),
	NO("no bitwise scan of f32", USC_TYPE, SCAN, .type = F32, .func = PUMICE_USC_REDUCE_OR,
	   .dst = BANK(R, 0, 0), .src0 = BANK(R, 1, 0)),
	NO("no bitwise scan of i32", USC_TYPE, SCAN_EXCL, .type = I32,
	   .func = PUMICE_USC_REDUCE_AND, .dst = BANK(R, 0, 0), .src0 = BANK(R, 1, 0)),
	NO("no such scan", USC_OPERAND, SCAN, .func = PUMICE_USC_REDUCE_COUNT,
	   .dst = BANK(R, 0, 0), .src0 = BANK(R, 1, 0)),
	NO("no least of f32 in memory", USC_TYPE, LOCAL_ATOMIC, .type = F32,
	   .func = PUMICE_USC_ATOMIC_MIN, .mask = RAW_MASK(1, 1), .dst = BANK(R, 0, 0),
	   .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0)),
	NO("no exchange of i32 in memory", USC_TYPE, GLOBAL_ATOMIC, .type = I32,
	   .func = PUMICE_USC_ATOMIC_XCHG, .mask = RAW_MASK(1, 1), .dst = BANK(R, 0, 0),
	   .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0)),
	NO("no such atomic operation", USC_OPERAND, LOCAL_ATOMIC,
	   .func = PUMICE_USC_ATOMIC_COUNT, .mask = RAW_MASK(1, 1), .dst = BANK(R, 0, 0),
	   .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0)),
	NO("comparison value beyond the allocation", USC_REGISTER, LOCAL_ATOMIC,
	   .func = PUMICE_USC_ATOMIC_CMPXCHG, .mask = RAW_MASK(1, 1), .dst = BANK(R, 0, 0),
	   .src0 = BANK(R, 1, 0), .src1 = BANK(R, 7, 0)),
	NO("comparison value at a word address beyond the allocation", USC_REGISTER, LOCAL_ATOMICW,
	   .func = PUMICE_USC_ATOMIC_CMPXCHG, .mask = RAW_MASK(1, 1), .dst = BANK(R, 0, 0),
	   .src0 = BANK(R, 1, 0), .src1 = BANK(R, 7, 0)),
	NO("second register of a load beyond", USC_REGISTER, LOCAL_LOAD64, .mask = RAW_MASK(1, 1),
	   .dst = BANK(R, 7, 0), .src0 = BANK(R, 1, 0)),
	NO("second register of a store beyond", USC_REGISTER, GLOBAL_STORE64,
	   .mask = RAW_MASK(1, 1), .src0 = BANK(R, 1, 0), .src1 = BANK(V, 2, 0)),
	NO("fourth register of a load beyond", USC_REGISTER, GLOBAL_LOAD128,
	   .mask = RAW_MASK(1, 1), .dst = BANK(R, 5, 0), .src0 = BANK(R, 1, 0)),
	NO("fourth register of a store beyond", USC_REGISTER, LOCAL_STORE128,
	   .mask = RAW_MASK(1, 1), .src0 = BANK(R, 1, 0), .src1 = BANK(V, 0, 0)),
	NO("no loads to internal registers", USC_OPERAND, GLOBAL_LOAD32, .mask = RAW_MASK(1, 1),
	   .dst = BANK(I, 0, 0), .src0 = BANK(R, 1, 0)),
	NO("no narrow loads to internal registers", USC_OPERAND, GLOBAL_LOAD8,
	   .mask = RAW_MASK(1, 1), .dst = BANK(I, 0, 0), .src0 = BANK(R, 1, 0)),
	NO("no stores of internal registers", USC_OPERAND, GLOBAL_STORE32, .mask = RAW_MASK(1, 1),
	   .src0 = BANK(R, 1, 0), .src1 = BANK(I, 0, 0)),
	NO("no narrow stores of internal registers", USC_OPERAND, GLOBAL_STORE8,
	   .mask = RAW_MASK(1, 1), .src0 = BANK(R, 1, 0), .src1 = BANK(I, 0, 0)),
	NO("no stores of 16 bits of internal registers", USC_OPERAND, GLOBAL_STORE16,
	   .mask = RAW_MASK(1, 1), .src0 = BANK(R, 1, 0), .src1 = BANK(I, 0, 0)),
	NO("no atomic result in internal registers", USC_OPERAND, GLOBAL_ATOMIC,
	   .mask = RAW_MASK(1, 1), .dst = BANK(I, 0, 0), .src0 = BANK(R, 1, 0),
	   .src1 = BANK(R, 2, 0)),
	NO("no bursts of internal registers", USC_OPERAND, BURST_STORE, .mask = RAW_MASK(1, 1),
	   .src0 = BANK(R, 1, 0), .src1 = BANK(I, 0, 0), .words = 1),
	NO("no bursts to internal registers", USC_OPERAND, BURST_LOAD, .mask = RAW_MASK(1, 1),
	   .dst = BANK(I, 0, 0), .src0 = BANK(R, 1, 0), .words = 1),
	NO("a burst of no words", USC_BURST, BURST_LOAD, .mask = RAW_MASK(1, 1),
	   .dst = BANK(R, 2, 0), .src0 = BANK(R, 1, 0)),
	NO("a burst of 17 words", USC_BURST, BURST_STORE, .mask = RAW_MASK(1, 1),
	   .src0 = BANK(R, 1, 0), .src1 = BANK(R, 2, 0), .words = 17),
	NO("a burst beyond the registers", USC_REGISTER, BURST_LOAD, .mask = RAW_MASK(1, 1),
	   .dst = BANK(R, 2, 0), .src0 = BANK(R, 1, 0), .words = 7),
	NO("a copy of no words", USC_BURST, GROUP_LOAD, .src0 = BANK(SC, 0, 0),
	   .src2 = BANK(SH, 0, 0)),
	NO("a copy of 1025 words", USC_BURST, GROUP_STORE, .src0 = BANK(SC, 0, 0),
	   .src2 = BANK(SH, 0, 0), .words = 1025),
	NO("a copy to shared registers of no words", USC_BURST, GROUP_LOAD_SHARED,
	   .dst = BANK(SH, 0, 0), .src2 = BANK(SH, 0, 0)),
	NO("a copy to 1025 shared registers", USC_BURST, GROUP_LOAD_SHARED, .dst = BANK(SH, 0, 0),
	   .src2 = BANK(SH, 0, 0), .words = 1025),
	NO("a copy beyond the shared registers", USC_REGISTER, GROUP_LOAD_SHARED,
	   .dst = BANK(SH, 2, 0), .src2 = BANK(SH, 0, 0), .words = 4),
	NO("an indexed copy beyond the shared registers", USC_REGISTER, GROUP_LOAD_SHARED,
	   .dst = BANK(SH, 2, 0) | INDEXED(1), .src2 = BANK(SH, 0, 0), .words = 4),
	NO("a copy to temporaries", USC_OPERAND, GROUP_LOAD_SHARED, .dst = BANK(R, 0, 0),
	   .src2 = BANK(SH, 0, 0), .words = 4),
	NO("a copy to shared registers has no offset in local memory", USC_RESERVED,
	   GROUP_LOAD_SHARED, .dst = BANK(SH, 0, 0), .src0 = BANK(SH, 1, 0),
	   .src2 = BANK(SH, 0, 0), .words = 4),
	NO("a copy from shared registers of no words", USC_BURST, GROUP_STORE_SHARED,
	   .src0 = BANK(SH, 0, 0), .src2 = BANK(SH, 0, 0)),
	NO("a copy from 1025 shared registers", USC_BURST, GROUP_STORE_SHARED,
	   .src0 = BANK(SH, 0, 0), .src2 = BANK(SH, 0, 0), .words = 1025),
	NO("a copy from beyond the shared registers", USC_REGISTER, GROUP_STORE_SHARED,
	   .src0 = BANK(SH, 2, 0), .src2 = BANK(SH, 0, 0), .words = 4),
	NO("a copy from coefficient registers", USC_OPERAND, GROUP_STORE_SHARED,
	   .src0 = BANK(CF, 0, 0), .src2 = BANK(SH, 0, 0), .words = 1),
	NO("a copy from shared registers has no destination", USC_RESERVED, GROUP_STORE_SHARED,
	   .dst = BANK(SH, 0, 0), .src0 = BANK(SH, 1, 0), .src2 = BANK(SH, 0, 0), .words = 4),
	NO("a copy to local memory has no destination", USC_RESERVED, GROUP_LOAD,
	   .dst = BANK(SH, 0, 0), .src0 = BANK(SC, 0, 0), .src2 = BANK(SH, 0, 0), .words = 4),
	NO("a burst to shared registers of no words", USC_BURST, SHARED_LOAD,
	   .dst = BANK(SH, 0, 0), .src2 = BANK(SH, 0, 0)),
	NO("a burst to 17 shared registers", USC_BURST, SHARED_LOAD, .dst = BANK(SH, 0, 0),
	   .src2 = BANK(SH, 0, 0), .words = 17),
	NO("a burst beyond the shared registers", USC_REGISTER, SHARED_LOAD,
	   .dst = BANK(SH, 2, 0), .src2 = BANK(SH, 0, 0), .words = 4),
	NO("a burst to shared registers writes no temporaries", USC_OPERAND, SHARED_LOAD,
	   .dst = BANK(R, 0, 0), .src2 = BANK(SH, 0, 0), .words = 4),
	NO("a burst to shared registers has no offset", USC_RESERVED, SHARED_LOAD,
	   .dst = BANK(SH, 0, 0), .src0 = BANK(R, 1, 0), .src2 = BANK(SH, 0, 0), .words = 4),
	NO("a dimension of a burst without an index is zero", USC_RESERVED, SHARED_LOAD,
	   .dst = BANK(SH, 0, 0), .src2 = BANK(SH, 0, 0), .words = 4, .dim = 1),
	NO("a window has no destination", USC_RESERVED, DC_WINDOW, .dst = BANK(SH, 0, 0),
	   .src2 = BANK(SH, 0, 0), .words = 4),
	NO("no dynamic constants in a window", USC_BURST, DC_WINDOW, .src2 = BANK(SH, 0, 0)),
	NO("16385 dynamic constants", USC_BURST, DC_WINDOW, .src2 = BANK(SH, 0, 0),
	   .words = 16385),
	NO("no such scope", USC_OPERAND, MEM_FENCE, .func = PUMICE_USC_SCOPE_COUNT),
	NO("no such scope of an operation", USC_OPERAND, CACHE_CLEAN, .func = 15),
	NO("no words in a range", USC_BURST, CACHE_CLEAN_RANGE, .src2 = BANK(SH, 0, 0)),
	NO("16385 words in a range", USC_BURST, CACHE_INVALIDATE_RANGE, .src2 = BANK(SH, 0, 0),
	   .words = 16385),
	NO("branch past the program", USC_BRANCH, JUMP, .target = 3),
	NO("branch far away", USC_BRANCH, BR_ANY, .mask = RAW_MASK(1, 1), .target = 0xfffff),
};

#define REFUSALS (sizeof(refusals) / sizeof(refusals[0]))

/* Write words between a mov and an end; the program, or NULL with fx->fault. */
static struct usc_program *try_words(struct fixture *fx, const u32 *words)
{
	u32 code[3 * PUMICE_USC_WORDS];

	usc_put(code, 0, INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = K(SID)));
	memcpy(&code[PUMICE_USC_WORDS], words, PUMICE_USC_WORDS * 4);
	usc_put(code, 2, INSN(END));
	memset(&fx->fault, 0xee, sizeof(fx->fault));
	return fx_program(fx, code, 3, &limits);
}

static void check_refused(struct fixture *fx, const char *rule, const u32 *words,
			  enum pumice_fault fault)
{
	struct usc_program *program = try_words(fx, words);

	if (program)
		fail_msg("%s: accepted", rule);
	if (fx->fault.fault != fault)
		fail_msg("%s: fault %u, must be %u", rule, fx->fault.fault, fault);
	assert_int_equal(fx->fault.unit, PUMICE_UNIT_USC_CODE);
	assert_int_equal(fx->fault.ctx, FX_CTX);
	assert_int_equal(fx->fault.pc, 1);
	assert_int_equal(fx->fault.addr, FX_CODE + 16);
}

static void usc_refuses_every_illegal_encoding_with_its_fault(void **state)
{
	struct fixture *fx = *state;
	u32 words[PUMICE_USC_WORDS];

	for (u32 n = 0; n < REFUSALS; n++) {
		pumice_usc_pack(words, &refusals[n].insn);
		check_refused(fx, refusals[n].rule, words, refusals[n].fault);
	}
}

static void usc_refuses_unknown_opcodes_and_reserved_bits(void **state)
{
	struct fixture *fx = *state;
	u32 words[PUMICE_USC_WORDS];

	for (u32 opcode = 0; opcode < 256; opcode++) {
		if (pumice_isa_find_opcode(&pumice_usc_isa, opcode))
			continue;
		memset(words, 0, sizeof(words));
		words[0] = opcode;
		check_refused(fx, "unknown opcode", words, PUMICE_FAULT_USC_OPCODE);
	}
	for (u32 bit = 8; bit < 128; bit++) {
		struct pumice_usc_insn end = INSN(END);

		pumice_usc_pack(words, &end);
		words[bit / 32] |= 1u << bit % 32;
		check_refused(fx, "a bit of end", words, PUMICE_FAULT_USC_RESERVED);
	}
}

static void usc_accepts_the_last_register_of_each_allocation(void **state)
{
	static const struct pumice_usc_insn good[] = {
		INSN(ADD, .dst = BANK(R, 7, 0), .src0 = BANK(V, 2, 0), .src1 = BANK(SH, 4, 0)),
		INSN(BR_ANY, .mask = RAW_MASK(23, 11), .target = 2),
		INSN(GLOBAL_LOAD32, .mask = RAW_MASK(1, 1), .dst = BANK(R, 0, 0),
		     .src0 = BANK(R, 1, 0), .src2 = BANK(SH, 3, 0)),
		INSN(GLOBAL_LOAD32, .mask = RAW_MASK(1, 1), .dst = BANK(R, 0, 0),
		     .src0 = BANK(R, 1, 0), .src2 = BANK(V, 1, 1)),
		INSN(ADD, .dst = BANK(I, 4, 0), .src0 = BANK(SL, 2, 0), .src1 = BANK(CF, 1, 0)),
		INSN(ADD, .dst = BANK(SL, 2, 0), .src0 = BANK(IDX, 1, 0),
		     .src1 = BANK(R, 7, 0) | INDEXED(2), .dim = PUMICE_USC_DIM_16),
		INSN(MOV, .mask = RAW_MASK(1, 1), .dst = BANK(V, 2, 0) | INDEXED(1),
		     .src0 = BANK(DC, 4095, 0) | INDEXED(1)),
		INSN(BURST_LOAD, .mask = RAW_MASK(1, 1), .dst = BANK(R, 2, 0),
		     .src0 = BANK(R, 1, 0), .words = 6),
		INSN(LOCAL_LOAD128, .mask = RAW_MASK(1, 1), .dst = BANK(R, 4, 0),
		     .src0 = BANK(R, 1, 0)),
		INSN(LOCAL_ATOMIC, .func = PUMICE_USC_ATOMIC_CMPXCHG, .mask = RAW_MASK(1, 1),
		     .dst = BANK(SL, 0, 0), .src0 = BANK(R, 1, 0), .src1 = BANK(R, 6, 0)),
		INSN(GROUP_LOAD, .src0 = BANK(CF, 1, 0), .src2 = BANK(CF, 0, 0), .words = 1024),
		INSN(DC_WINDOW, .src2 = BANK(R, 6, 1), .words = 16384),
		INSN(GROUP_LOAD_SHARED, .dst = BANK(SH, 2, 0), .src2 = BANK(SH, 3, 0), .words = 3),
		INSN(GROUP_STORE_SHARED, .src0 = BANK(SH, 0, 0), .words = 5),
		INSN(SHARED_LOAD, .dst = BANK(SH, 4, 0) | INDEXED(2), .dim = PUMICE_USC_DIM_16,
		     .src2 = BANK(R, 6, 1), .words = 1),
	};
	struct fixture *fx = *state;
	u32 words[PUMICE_USC_WORDS];

	for (u32 n = 0; n < sizeof(good) / sizeof(good[0]); n++) {
		struct usc_program *program;

		pumice_usc_pack(words, &good[n]);
		program = try_words(fx, words);
		assert_non_null(program);
		fx_put(fx, program);
	}
}

/* A program of this number of instructions at an address is refused. */
static void check_place_refused(struct fixture *fx, u64 addr, u32 insns, enum pumice_fault fault)
{
	assert_null(usc_program_get(fx->cache, &fx->mmu, &fx->tlb, FX_CTX, addr, insns, &limits,
				    &fx->fault));
	assert_int_equal(fx->fault.fault, fault);
	assert_int_equal(fx->fault.addr, addr);
}

static void usc_refuses_misaligned_empty_and_too_long_programs(void **state)
{
	struct fixture *fx = *state;

	check_place_refused(fx, FX_CODE + 8, 1, PUMICE_FAULT_USC_PROGRAM);
	check_place_refused(fx, FX_CODE, 0, PUMICE_FAULT_USC_PROGRAM);
	check_place_refused(fx, FX_CODE, PUMICE_USC_MAX_INSNS + 1, PUMICE_FAULT_USC_PROGRAM);
}

static void usc_fetch_is_an_access_for_execution(void **state)
{
	const u64 va = FX_CODE + FX_CODE_BYTES;
	struct fixture *fx = *state;

	testmem_map(fx->mem, FX_CTX, va, 4096, PUMICE_PAGE_SIZE_4K, TESTMEM_NX);
	check_place_refused(fx, va, 1, PUMICE_FAULT_MMU_NO_EXEC);
	assert_int_equal(fx->fault.unit, PUMICE_UNIT_USC_CODE);
	assert_int_equal(fx->fault.access, PUMICE_ACCESS_EXEC);
	check_place_refused(fx, va + 4096, 1, PUMICE_FAULT_MMU_PT_INVALID);
}

static bool is_program_fault(u32 fault)
{
	return (fault >= PUMICE_FAULT_USC_OPCODE && fault <= PUMICE_FAULT_USC_BRANCH) ||
	       fault == PUMICE_FAULT_USC_BURST || fault == PUMICE_FAULT_USC_STAGE;
}

/* Run an accepted program, with a small budget to end loops. */
static void run_noise(struct fixture *fx, struct usc_program *program)
{
	const struct fx_group group = {
		.tasks = 1, .instances = { 40 }, .limits = limits, .local_bytes = 64,
	};

	fx_clear(fx);
	fx_fill(fx, 0, &group, program);
	usc_group_start(fx->usc, 0);
	usc_step(fx->usc, 200, NULL);
	usc_abort(fx->usc);
	usc_step(fx->usc, 1, NULL);
	assert_int_equal(fx->done[0], 1);
	assert_true(fx->faults <= 1);
}

static void usc_random_words_are_refused_or_run_without_harm(void **state)
{
	struct gen_rng rng = { 7 };
	struct fixture *fx = *state;
	u32 words[PUMICE_USC_WORDS], accepted = 0;

	for (u32 n = 0; n < NOISE; n++) {
		struct usc_program *program;

		gen_noise(&rng, words);
		program = try_words(fx, words);
		if (program) {
			accepted++;
			run_noise(fx, program);
			fx_put(fx, program);
		} else {
			assert_true(is_program_fault(fx->fault.fault));
			assert_int_equal(fx->fault.pc, 1);
		}
	}
	/* Otherwise the random words do not test execution. */
	assert_true(accepted > NOISE / 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usc_refuses_every_illegal_encoding_with_its_fault),
		cmocka_unit_test(usc_refuses_unknown_opcodes_and_reserved_bits),
		cmocka_unit_test(usc_accepts_the_last_register_of_each_allocation),
		cmocka_unit_test(usc_refuses_misaligned_empty_and_too_long_programs),
		cmocka_unit_test(usc_fetch_is_an_access_for_execution),
		cmocka_unit_test(usc_random_words_are_refused_or_run_without_harm),
	};

	return cmocka_run_group_tests(tests, fx_setup, fx_teardown);
}
