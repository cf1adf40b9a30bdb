// SPDX-License-Identifier: MIT
/*
 * Data of loads that arrive late: which uses are reported, and which waits are sufficient.
 * Slot registers and pixel outputs are in test_late_banks.c, random programs in test_graphics.c and
 * test_random.c.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "exec.h"
#include "late_code.h"

/* A use of R8 after a load of it is reported. */
static void assert_use_is_late(struct fixture *fx, struct pumice_usc_insn use, bool write)
{
	struct code c;

	begin(&c);
	add_load(&c);
	add(&c, use);
	run(fx, &c, GROUP);
	assert_late(fx, &c, R(8), false, write);
}

/* Each way to read a register. */
static void late_registers_are_reported_wherever_they_are_read(void **state)
{
	const struct pumice_usc_insn reads[] = {
		INSN(ADD, .dst = R(1), .src0 = R(8), .src1 = IMM),
		INSN(ADD, .dst = R(1), .src0 = R(2), .src1 = R(8)),
		INSN(ADD, .dst = R(1), .src0 = R(2), .src1 = R_ELEM(8)),
		INSN(MAD, .dst = R(1), .src0 = R(2), .src1 = R(3), .src2 = R(8)),
		INSN(MOV, .form = SCALAR_FORM, .dst = R_ELEM(1), .src0 = R_ELEM(8)),
		INSN(MOV, .dst = R(1), .mask = IF(MASK_R(8)), .src0 = IMM),
		INSN(MOV, .dst = R(1), .mask = IF_BOTH(MASK_K(ONE), MASK_R(8)), .src0 = IMM),
		INSN(ADD, .dst = R(1), .src0 = M(IF(MASK_R(8))), .src1 = IMM),
		INSN(SELECT, .dst = R(1), .mask = ALWAYS, .src0 = R(8), .src1 = IMM),
		INSN(GLOBAL_STORE32, .mask = ALWAYS, .src2 = SH(0), .src0 = R(8), .src1 = R(0)),
		INSN(GLOBAL_STORE32, .mask = ALWAYS, .src2 = SH(0), .src0 = R(0), .src1 = R(8)),
		INSN(GLOBAL_STORE32, .mask = ALWAYS, .src2 = R_ELEM(7), .src0 = R(0),
		     .src1 = R(1)),
		INSN(BURST_STORE, .mask = ALWAYS, .src2 = SH(0), .src0 = R(0), .src1 = R(6),
		     .words = 3),
		INSN(LOCAL_LOAD32, .dst = R(1), .mask = ALWAYS, .src0 = R(8)),
		INSN(LOCAL_LOAD32W, .dst = R(1), .mask = ALWAYS, .src0 = R(8)),
		INSN(LOCAL_ATOMICW, .dst = R(1), .mask = ALWAYS, .src0 = R(8), .src1 = R(2)),
		INSN(SAMPLE, .type = F32, .dst = R(1), .func = PUMICE_TEXTURE_DIM_2D,
		     .src0 = R(7), .src2 = SH(8)),
		INSN(BRZ, .src0 = R_ELEM(8)),
		INSN(BR_ALL, .mask = IF(MASK_R(8))),
		INSN(REDUCE_FINISH, .dst = R_ELEM(1), .src0 = R(8)),
	};
	struct fixture *fx = fixture_of(USC_LATE_POISON);

	(void)state;
	for (u32 n = 0; n < sizeof(reads) / sizeof(reads[0]); n++)
		assert_use_is_late(fx, reads[n], false);
	fx_destroy(fx);
}

/* Each way to write one. */
static void late_registers_are_reported_wherever_they_are_written(void **state)
{
	const struct pumice_usc_insn writes[] = {
		INSN(MOV, .dst = R(8), .mask = ALWAYS, .src0 = IMM),
		INSN(MOV, .form = SCALAR_FORM, .dst = R_ELEM(8), .src0 = IMM),
		INSN(LOCAL_LOAD128, .dst = R(5), .mask = ALWAYS, .src0 = R(0)),
		INSN(GLOBAL_LOAD32, .dst = R(8), .mask = ALWAYS, .src2 = SH(0), .src0 = R(0)),
		INSN(SIG_WAIT, .dst = R_ELEM(8), .sig0 = 3),
		INSN(SIG_WAITANY2, .dst = R_ELEM(8), .sig0 = 3, .sig1 = 4),
	};
	struct fixture *fx = fixture_of(USC_LATE_POISON);

	(void)state;
	for (u32 n = 0; n < sizeof(writes) / sizeof(writes[0]); n++)
		assert_use_is_late(fx, writes[n], true);
	fx_destroy(fx);
}

/* Each access that loads registers; the last of them is used. */
static void every_access_with_a_signal_loads_late(void **state)
{
	const struct {
		struct pumice_usc_insn insn;
		u32 reg;	/* R */
	} loads[] = {
		{ INSN(GLOBAL_LOAD8, .sig0 = 3, .dst = R(8), .mask = ALWAYS, .src2 = SH(0),
		       .src0 = R(0)), 8 },
		{ INSN(GLOBAL_LOAD16, .sig0 = 3, .dst = R(8), .mask = ALWAYS, .src2 = SH(0),
		       .src0 = R(0)), 8 },
		{ INSN(GLOBAL_LOAD64, .sig0 = 3, .dst = R(8), .mask = ALWAYS, .src2 = SH(0),
		       .src0 = R(0)), 9 },
		{ INSN(GLOBAL_LOAD128, .sig0 = 3, .dst = R(8), .mask = ALWAYS, .src2 = SH(0),
		       .src0 = R(0)), 11 },
		{ INSN(GLOBAL_ATOMIC, .sig0 = 3, .dst = R(8), .mask = ALWAYS, .src2 = SH(0),
		       .src0 = R(0), .src1 = R(1)), 8 },
		{ INSN(BURST_LOAD, .sig0 = 3, .dst = R(8), .mask = ALWAYS, .src2 = SH(0),
		       .src0 = R(0), .words = 16), 23 },
		{ INSN(SAMPLE, .async = PUMICE_USC_ASYNC_SIG3, .type = F32, .dst = R(8),
		       .func = PUMICE_TEXTURE_DIM_2D, .src0 = R(0), .src2 = SH(8)), 11 },
	};
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	for (u32 n = 0; n < sizeof(loads) / sizeof(loads[0]); n++) {
		begin(&c);
		add(&c, loads[n].insn);
		add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = R(loads[n].reg)));
		run(fx, &c, GROUP);
		assert_late(fx, &c, R(loads[n].reg), false, false);
		assert_int_equal(result(fx, loads[n].reg), PUMICE_USC_POISON);
	}
	fx_destroy(fx);
}

/* A texture read without a signal is complete when the next instruction begins. */
static void texture_read_without_a_signal_is_complete(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	begin(&c);
	add(&c, INSN(SAMPLE, .type = F32, .dst = R(8), .func = PUMICE_TEXTURE_DIM_2D, .src0 = R(0),
		     .src2 = SH(8)));
	add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = R(8)));
	run(fx, &c, GROUP);
	assert_int_equal(fx->faults, 0);
	assert_int_not_equal(result(fx, 1), BEFORE);
	assert_int_equal(result(fx, 1), result(fx, 8));
	fx_destroy(fx);
}

/* Index registers, attributes, and registers that indices select, are late, too. */
static void late_registers_of_other_banks_are_reported(void **state)
{
	const struct pumice_usc_operand indexed = { .bank = PUMICE_USC_BANK_R, .num = 8, .idx = 1 };
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;
	u32 raw, shared;

	(void)state;
	begin(&c);
	add(&c, INSN(GLOBAL_LOAD32, .sig0 = 3, .dst = V(2), .mask = ALWAYS, .src2 = SH(0),
		     .src0 = R(0)));
	add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = V(2)));
	run(fx, &c, GROUP);
	assert_late(fx, &c, V(2), false, false);

	pumice_usc_operand_pack(&raw, &indexed);
	begin(&c);
	add(&c, INSN(GLOBAL_LOAD32, .sig0 = 3, .dst = IDX(0), .mask = ALWAYS, .src2 = SH(0),
		     .src0 = R(0)));
	add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = raw));
	run(fx, &c, GROUP);
	assert_late(fx, &c, IDX(0), false, false);

	/* The index of the destination of a burst is read, too. */
	pumice_usc_operand_pack(&shared, &(struct pumice_usc_operand){
		.bank = PUMICE_USC_BANK_SH, .num = 8, .idx = 1 });
	begin(&c);
	add(&c, INSN(GLOBAL_LOAD32, .sig0 = 3, .dst = IDX(0), .mask = ALWAYS, .src2 = SH(0),
		     .src0 = R(0)));
	add(&c, INSN(SHARED_LOAD, .sig0 = 1, .dst = shared, .src2 = SH(0), .words = 1));
	run(fx, &c, GROUP);
	assert_late(fx, &c, IDX(0), false, false);

	/* Lane l selects register 8 + l / 16. */
	begin(&c);
	add(&c, INSN(SHR, .dst = IDX(0), .src0 = K(SID), .src1 = IMM, .imm = 4));
	add(&c, INSN(GLOBAL_LOAD32, .sig0 = 3, .dst = raw, .mask = ALWAYS, .src2 = SH(0),
		     .src0 = R(0)));
	add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = R(10)));
	add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = R(9)));
	run(fx, &c, GROUP);
	assert_late(fx, &c, R(9), false, false);
	assert_int_equal(result(fx, 8), PUMICE_USC_POISON);
	assert_int_equal(result(fx, 9), BEFORE);	/* of lane 1: not loaded */
	fx_destroy(fx);
}

/* Each wait, with the signal in each of its operands. */
static void every_wait_is_sufficient(void **state)
{
	const struct pumice_usc_insn waits[] = {
		INSN(SIG_WAIT, .dst = R_ELEM(2), .sig0 = 3),
		INSN(SIG_WAITALL2, .dst = R_ELEM(2), .sig0 = 3, .sig1 = 1),
		INSN(SIG_WAITALL2, .dst = R_ELEM(2), .sig0 = 1, .sig1 = 3),
		INSN(SIG_WAITALL3, .dst = R_ELEM(2), .sig0 = 3, .sig1 = 1, .sig2 = 2),
		INSN(SIG_WAITALL3, .dst = R_ELEM(2), .sig0 = 1, .sig1 = 3, .sig2 = 2),
		INSN(SIG_WAITALL3, .dst = R_ELEM(2), .sig0 = 1, .sig1 = 2, .sig2 = 3),
		INSN(SIG_WAITALL4, .dst = R_ELEM(2), .sig0 = 3, .sig1 = 0, .sig2 = 1, .sig3 = 2),
		INSN(SIG_WAITALL4, .dst = R_ELEM(2), .sig0 = 0, .sig1 = 3, .sig2 = 1, .sig3 = 2),
		INSN(SIG_WAITALL4, .dst = R_ELEM(2), .sig0 = 0, .sig1 = 1, .sig2 = 3, .sig3 = 2),
		INSN(SIG_WAITALL4, .dst = R_ELEM(2), .sig0 = 0, .sig1 = 1, .sig2 = 2, .sig3 = 3),
		INSN(MEM_FENCE, .func = PUMICE_USC_SCOPE_GROUP),
		INSN(CACHE_CLEAN, .func = PUMICE_USC_SCOPE_CORE),
		INSN(CACHE_INVALIDATE, .func = PUMICE_USC_SCOPE_SYSTEM),
		INSN(CACHE_CLEAN_RANGE, .src2 = SH(0), .words = 1),
		INSN(CACHE_INVALIDATE_RANGE, .src2 = SH(0), .words = 1),
	};
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	for (u32 n = 0; n < sizeof(waits) / sizeof(waits[0]); n++) {
		begin(&c);
		add_load(&c);
		add(&c, waits[n]);
		add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = R(8)));
		run(fx, &c, GROUP);
		assert_int_equal(fx->faults, 0);
		assert_int_equal(result(fx, 1), LOADED + 1);
		assert_int_equal(result(fx, 8), LOADED + 1);
	}
	fx_destroy(fx);
}

/* sig_done is a wait only when it has returned 1; time alone is none, nor another signal. */
static void only_a_wait_for_the_signal_is_sufficient(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;
	u32 top;

	(void)state;
	begin(&c);
	add_load(&c);
	add(&c, INSN(SIG_DONE1, .dst = R_ELEM(2), .sig0 = 3));
	add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = R(8)));
	run(fx, &c, GROUP);
	assert_late(fx, &c, R(8), false, false);

	begin(&c);
	add_load(&c);
	top = c.insns;
	add(&c, INSN(SIG_DONE2, .dst = R_ELEM(2), .sig0 = 1, .sig1 = 3));
	add(&c, INSN(BRZ, .target = top, .src0 = R_ELEM(2)));
	add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = R(8)));
	run(fx, &c, GROUP);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(result(fx, 1), LOADED + 1);

	begin(&c);
	add_load(&c);
	add(&c, INSN(SIG_WAIT, .dst = R_ELEM(2), .sig0 = 2));
	for (u32 n = 0; n < USC_GLOBAL_LATENCY; n++)
		add(&c, INSN(MOV, .dst = R(3), .mask = ALWAYS, .src0 = IMM));
	add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = R(8)));
	run(fx, &c, GROUP);
	assert_late(fx, &c, R(8), false, false);
	fx_destroy(fx);
}

/* Begin a program that loads R9 with signal 4 and then R8 with signal 3. */
static void begin_two_loads(struct code *c)
{
	begin(c);
	add(c, INSN(GLOBAL_LOAD32, .sig0 = 4, .dst = R(9), .mask = ALWAYS, .src2 = SH(0),
		    .src0 = R(0), .disp = 64));
	add_load(c);
}

/* A wait for any is one for the signals of its result only: here signal 4, or one never used. */
static void wait_for_any_is_sufficient_for_the_signals_of_its_result(void **state)
{
	const struct {
		struct pumice_usc_insn wait;
		u32 result;
	} cases[] = {
		{ INSN(SIG_WAITANY2, .dst = R_ELEM(2), .sig0 = 3, .sig1 = 4), 1u << 4 },
		{ INSN(SIG_WAITANY3, .dst = R_ELEM(2), .sig0 = 4, .sig1 = 3, .sig2 = 3), 1u << 4 },
		{ INSN(SIG_WAITANY4, .dst = R_ELEM(2), .sig0 = 3, .sig1 = 3, .sig2 = 3, .sig3 = 4),
		  1u << 4 },
		{ INSN(SIG_WAITANY2, .dst = R_ELEM(2), .sig0 = 3, .sig1 = 0), 1u << 0 },
	};
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	for (u32 n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		const bool has_r9 = cases[n].result >> 4 & 1;

		begin_two_loads(&c);
		add(&c, cases[n].wait);
		if (has_r9)
			add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = R(9)));
		add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = R(8)));
		run(fx, &c, GROUP);
		assert_late(fx, &c, R(8), false, false);
		assert_int_equal(result(fx, 8), PUMICE_USC_POISON);
		assert_int_equal(result(fx, 9), has_r9 ? LOADED + 17 : PUMICE_USC_POISON);
	}
	fx_destroy(fx);
}

/* Waits until the result has both; the mask is in element 0 of R2. */
static void repeated_waits_for_any_complete_every_load(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;
	u32 top;

	(void)state;
	begin_two_loads(&c);
	top = c.insns;
	add(&c, INSN(SIG_WAITANY2, .dst = R_ELEM(2), .sig0 = 3, .sig1 = 4));
	add(&c, INSN(XOR, .form = SCALAR_FORM, .dst = R_ELEM(3), .src0 = R_ELEM(2), .src1 = IMM,
		     .imm = 1u << 3 | 1u << 4));
	add(&c, INSN(BRNZ, .target = top, .src0 = R_ELEM(3)));
	add(&c, INSN(ADD, .dst = R(1), .src0 = R(8), .src1 = R(9)));
	run(fx, &c, GROUP);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(result(fx, 1), 2 * LOADED + 1 + 17);
	fx_destroy(fx);
}

/* The same for shared registers and local memory. */
static void words_of_copies_wait_for_their_signal_among_several(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	begin(&c);
	add(&c, INSN(SHARED_LOAD, .sig0 = 4, .dst = SH(8), .src2 = SH(0), .words = 2));
	add(&c, INSN(GROUP_LOAD, .sig0 = 3, .src0 = R_ELEM(2), .src2 = SH(0), .words = 20));
	add(&c, INSN(SIG_WAITANY2, .dst = R_ELEM(2), .sig0 = 3, .sig1 = 4));
	add(&c, INSN(MOV, .dst = R(4), .mask = ALWAYS, .src0 = SH(9)));
	add(&c, INSN(LOCAL_LOAD32, .dst = R(1), .mask = ALWAYS, .src0 = R(12)));
	run(fx, &c, GROUP);
	assert_late(fx, &c, 0, true, false);
	assert_int_equal(result(fx, 4), LOADED + 1);
	fx_destroy(fx);
}

/* With data: those of signals that are not in the result arrive later. */
static void data_arrive_with_their_signal_among_several(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_DATA);
	struct code c;

	(void)state;
	begin(&c);
	add(&c, INSN(GLOBAL_LOAD32, .sig0 = 4, .dst = R(9), .mask = ALWAYS, .src2 = SH(0),
		     .src0 = R(0)));
	for (u32 n = 0; n < 4; n++)
		add(&c, INSN(MOV, .dst = R(3), .mask = ALWAYS, .src0 = IMM));
	add_load(&c);
	add(&c, INSN(SIG_WAITANY2, .dst = R_ELEM(2), .sig0 = 3, .sig1 = 4));
	add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = R(8)));
	add(&c, INSN(MOV, .dst = R(4), .mask = ALWAYS, .src0 = R(9)));
	run(fx, &c, GROUP);
	assert_int_equal(result(fx, 1), BEFORE);
	assert_int_equal(result(fx, 4), LOADED + 1);
	assert_int_equal(result(fx, 8), LOADED + 1);
	fx_destroy(fx);
}

/* Shared registers and local memory, in each access that reads or writes them. */
static void late_shared_registers_and_local_memory_are_reported(void **state)
{
	const struct {
		struct pumice_usc_insn load, use;
		u32 place;
		bool local, write;
	} cases[] = {
		{ INSN(SHARED_LOAD, .sig0 = 3, .dst = SH(8), .src2 = SH(0), .words = 16),
		  INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = SH(23)), SH(23), false, false },
		{ INSN(GROUP_LOAD_SHARED, .sig0 = 3, .dst = SH(8), .src2 = SH(0), .words = 20),
		  INSN(GROUP_STORE_SHARED, .src0 = SH(27), .src2 = SH(0), .words = 2), SH(27),
		  false, false },
		{ INSN(SHARED_LOAD, .sig0 = 3, .dst = SH(8), .src2 = SH(0), .words = 1),
		  INSN(MOV, .form = SCALAR_FORM, .dst = SH(8), .src0 = IMM), SH(8), false, true },
		{ INSN(SHARED_LOAD, .sig0 = 3, .dst = SH(8), .src2 = SH(0), .words = 1),
		  INSN(GLOBAL_STORE32, .mask = ALWAYS, .src2 = SH(7), .src0 = R(0), .src1 = R(1)),
		  SH(8), false, false },
		{ INSN(SHARED_LOAD, .sig0 = 3, .dst = SH(8), .src2 = SH(0), .words = 1),
		  INSN(SAMPLE, .type = F32, .dst = R(1), .func = PUMICE_TEXTURE_DIM_2D,
		       .src0 = R(0), .src2 = SH(2)), SH(8), false, false },
		{ INSN(GROUP_LOAD, .sig0 = 3, .src0 = R_ELEM(2), .src2 = SH(0), .words = 20),
		  INSN(LOCAL_LOAD32, .dst = R(1), .mask = ALWAYS, .src0 = R(0), .disp = 76), 76,
		  true, false },
		{ INSN(GROUP_LOAD, .sig0 = 3, .src0 = R_ELEM(2), .src2 = SH(0), .words = 20),
		  INSN(LOCAL_STORE8, .mask = IF(MASK_K(ONE)), .src0 = R(0), .src1 = R(1)), 0, true,
		  true },
		{ INSN(GROUP_LOAD, .sig0 = 3, .src0 = R_ELEM(2), .src2 = SH(0), .words = 20),
		  INSN(GROUP_STORE, .src0 = R_ELEM(2), .src2 = SH(0), .words = 1), 0, true, false },
	};
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	for (u32 n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		begin(&c);
		add(&c, INSN(MOV, .dst = R(2), .mask = ALWAYS, .src0 = IMM));
		add(&c, cases[n].load);
		add(&c, cases[n].use);
		run(fx, &c, GROUP);
		assert_late(fx, &c, cases[n].place, cases[n].local, cases[n].write);
	}
	fx_destroy(fx);
}

/* Words before and after those that are loaded are not late, and after a wait none is. */
static void only_the_words_of_a_copy_are_late(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	begin(&c);
	add(&c, INSN(MOV, .dst = R(2), .mask = ALWAYS, .src0 = IMM, .imm = 4));
	add(&c, INSN(GROUP_LOAD, .sig0 = 3, .src0 = R_ELEM(2), .src2 = SH(0), .words = 20));
	add(&c, INSN(SHARED_LOAD, .sig0 = 4, .dst = SH(8), .src2 = SH(0), .words = 2));
	add(&c, INSN(LOCAL_LOAD32, .dst = R(1), .mask = ALWAYS, .src0 = R(0), .disp = 84));
	add(&c, INSN(LOCAL_LOAD32, .dst = R(1), .mask = ALWAYS, .src0 = R(12)));
	add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = SH(7)));
	add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = SH(10)));
	add(&c, INSN(SIG_WAITALL2, .dst = R_ELEM(3), .sig0 = 4, .sig1 = 3));
	add(&c, INSN(MOV, .dst = R(4), .mask = ALWAYS, .src0 = SH(9)));
	add(&c, INSN(LOCAL_LOAD32, .dst = R(5), .mask = ALWAYS, .src0 = R(0)));
	run(fx, &c, GROUP);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(result(fx, 4), LOADED + 1);
	assert_int_equal(result(fx, 5), LOADED);
	fx_destroy(fx);
}

/*
 * Run a copy of 20 words to byte 4 of local memory, whose address is in r[idx0 * 2 + 3] or in
 * sh[idx0 * 2 + 17], and one more instruction.
 */
static void run_indexed_copy(struct fixture *fx, struct code *c, bool shared,
			     struct pumice_usc_insn wait, struct pumice_usc_insn use)
{
	const struct pumice_usc_operand address = {
		.bank = shared ? PUMICE_USC_BANK_SH : PUMICE_USC_BANK_R, .num = shared ? 17 : 3,
		.elem = !shared, .idx = 1,
	};
	u32 raw;

	pumice_usc_operand_pack(&raw, &address);
	begin(c);
	add(c, INSN(MOV, .dst = IDX(0), .mask = ALWAYS, .src0 = IMM, .imm = 1));
	add(c, INSN(MOV, .form = SCALAR_FORM, .dst = shared ? SH(19) : R_ELEM(5), .src0 = IMM,
		    .imm = 4));
	add(c, INSN(GROUP_LOAD, .sig0 = 3, .src0 = raw, .src2 = SH(0), .words = 20,
		    .dim = 1));
	/* Words before and after those that are loaded. */
	add(c, INSN(LOCAL_LOAD32, .dst = R(1), .mask = ALWAYS, .src0 = R(12)));
	add(c, INSN(LOCAL_LOAD32, .dst = R(1), .mask = ALWAYS, .src0 = R(0), .disp = 84));
	add(c, wait);
	add(c, use);
	run(fx, c, GROUP);
}

/* The address of a copy may be indexed. */
static void words_of_a_copy_at_an_indexed_address_are_late(void **state)
{
	const struct pumice_usc_insn wait = INSN(SIG_WAIT, .dst = R_ELEM(3), .sig0 = 3);
	const struct pumice_usc_insn other = INSN(SIG_WAIT, .dst = R_ELEM(3), .sig0 = 2);
	const struct pumice_usc_insn use = INSN(LOCAL_LOAD32, .dst = R(4), .mask = ALWAYS,
						.src0 = R(0), .disp = 80);
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	for (u32 shared = 0; shared < 2; shared++) {
		run_indexed_copy(fx, &c, shared, other, use);
		assert_late(fx, &c, 80, true, false);
		assert_true(fx->fault.lane_known);
		assert_int_equal(fx->fault.lane, 0);
		run_indexed_copy(fx, &c, shared, wait,
				 INSN(LOCAL_LOAD32, .dst = R(4), .mask = ALWAYS, .src0 = R(0)));
		assert_int_equal(fx->faults, 0);
		assert_int_equal(result(fx, 4), LOADED);
	}
	fx_destroy(fx);
}

/* Each wave waits for a copy of the group: one that does not is reported, although another has. */
static void each_wave_waits_for_a_copy_of_its_group(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;
	u32 branch;

	(void)state;
	begin(&c);
	add(&c, INSN(MOV, .dst = R(2), .mask = ALWAYS, .src0 = IMM));
	add(&c, INSN(GROUP_LOAD, .sig0 = 3, .src0 = R_ELEM(2), .src2 = SH(0), .words = 20));
	branch = c.insns;
	add(&c, INSN(BRNZ, .target = branch + 2, .src0 = SR_ELEM(WAVE_IN_GROUP)));
	add(&c, INSN(SIG_WAIT, .dst = R_ELEM(3), .sig0 = 3));
	add(&c, INSN(BARRIER));
	add(&c, INSN(LOCAL_LOAD32, .dst = R(1), .mask = ALWAYS, .src0 = R(2)));
	run(fx, &c, 2 * GROUP);
	assert_late(fx, &c, 0, true, false);
	assert_int_equal(fx->fault.wave, 1);
	fx_destroy(fx);
}

/* Without poison: previous contents until the access is complete, then the data, without a wait. */
static void data_arrive_when_the_access_is_complete(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_DATA);
	struct code c;

	(void)state;
	begin(&c);
	add_load(&c);
	add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = R(8)));
	for (u32 n = 1; n < USC_GLOBAL_LATENCY; n++)
		add(&c, INSN(MOV, .dst = R(2), .mask = ALWAYS, .src0 = R(8)));
	add(&c, INSN(MOV, .dst = R(3), .mask = ALWAYS, .src0 = R(8)));
	run(fx, &c, GROUP);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(result(fx, 1), BEFORE);
	assert_int_equal(result(fx, 2), BEFORE);
	assert_int_equal(result(fx, 3), LOADED + 1);
	fx_destroy(fx);
}

/* The same for shared registers and of local memory; the end of the program is a wait. */
static void words_arrive_when_the_access_is_complete(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_DATA);
	struct code c;

	(void)state;
	begin(&c);
	add(&c, INSN(MOV, .dst = R(2), .mask = ALWAYS, .src0 = IMM));
	add(&c, INSN(SHARED_LOAD, .sig0 = 3, .dst = SH(8), .src2 = SH(0), .words = 16));
	add(&c, INSN(GROUP_LOAD, .sig0 = 4, .src0 = R_ELEM(2), .src2 = SH(0), .words = 32));
	add(&c, INSN(MOV, .dst = R(4), .mask = ALWAYS, .src0 = SH(9)));
	add(&c, INSN(LOCAL_LOAD32, .dst = R(5), .mask = ALWAYS, .src0 = R(0)));
	for (u32 n = 0; n < USC_GLOBAL_LATENCY; n++)
		add(&c, INSN(MOV, .dst = R(3), .mask = ALWAYS, .src0 = IMM));
	add(&c, INSN(MOV, .dst = R(6), .mask = ALWAYS, .src0 = SH(9)));
	add(&c, INSN(LOCAL_LOAD32, .dst = R(7), .mask = ALWAYS, .src0 = R(0)));
	add_load(&c);
	run(fx, &c, GROUP);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(result(fx, 4), 0);
	assert_int_equal(result(fx, 5), 0);
	assert_int_equal(result(fx, 6), LOADED + 1);
	assert_int_equal(result(fx, 7), LOADED + 1);
	assert_int_equal(result(fx, 8), LOADED + 1);
	fx_destroy(fx);
}

/* More ranges than are kept: the oldest arrives, nothing is lost. */
static void many_bursts_to_shared_registers_lose_nothing(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	begin(&c);
	for (u32 n = 0; n < 30; n++)
		add(&c, INSN(SHARED_LOAD, .sig0 = (u8)(n % 16), .dst = SH(8 + n), .src2 = SH(0),
			     .disp = (u16)(n * 4), .words = 1));
	add(&c, INSN(MEM_FENCE));
	for (u32 n = 0; n < 30; n += 29)
		add(&c, INSN(MOV, .dst = R(4 + n % 2), .mask = ALWAYS, .src0 = SH(8 + n)));
	run(fx, &c, GROUP);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(result(fx, 4), LOADED);
	assert_int_equal(result(fx, 5), LOADED + 29);
	fx_destroy(fx);
}

/* With a range more than a wave's list has, and with many. Signal 3 is that of the first two. */
static void a_missing_wait_is_reported_after_any_number_of_bursts(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	for (u32 n = 0; n < 4; n++) {
		const u32 bursts = n < 2 ? 17 : 32;
		const bool second = n % 2;

		begin(&c);
		for (u32 b = 0; b < bursts; b++)
			add(&c, INSN(SHARED_LOAD, .sig0 = b < 2 ? 3 : 4, .dst = SH(8 + b),
				     .src2 = SH(0), .disp = (u16)(b * 4), .words = 1));
		add(&c, INSN(SIG_WAIT, .dst = R_ELEM(3), .sig0 = 4));
		add(&c, INSN(MOV, .dst = R(4), .mask = ALWAYS, .src0 = SH(8 + 2)));
		add(&c, INSN(MOV, .dst = R(4), .mask = ALWAYS, .src0 = SH(8 + second)));
		run(fx, &c, GROUP);
		assert_late(fx, &c, SH(8 + second), false, false);
		/* None is missing after the wait. */
		c.insns -= 2;
		add(&c, INSN(SIG_WAIT, .dst = R_ELEM(3), .sig0 = 3));
		add(&c, INSN(MOV, .dst = R(4), .mask = ALWAYS, .src0 = SH(8 + second)));
		run(fx, &c, GROUP);
		assert_int_equal(fx->faults, 0);
		assert_int_equal(result(fx, 4), LOADED + second);
	}
	fx_destroy(fx);
}

/* A wave that starts in the place of one that faulted has to wait for none of its bursts. */
static void a_new_wave_has_no_bursts_of_the_one_before(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	begin(&c);
	for (u32 n = 0; n < 17; n++)
		add(&c, INSN(SHARED_LOAD, .sig0 = 3, .dst = SH(8 + n), .src2 = SH(0), .words = 1));
	add(&c, INSN(MOV, .dst = R(4), .mask = ALWAYS, .src0 = SH(8)));
	run(fx, &c, GROUP);
	assert_late(fx, &c, SH(8), false, false);
	begin(&c);
	add_load(&c);
	add(&c, INSN(MOV, .dst = R(4), .mask = ALWAYS, .src0 = SH(8)));
	run(fx, &c, GROUP);
	assert_int_equal(fx->faults, 0);
	fx_destroy(fx);
}

/* Lanes outside of the mask keep their contents, and a load in no lane is not under way. */
static void only_active_lanes_are_late(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	begin(&c);
	add(&c, INSN(GLOBAL_LOAD32, .sig0 = 3, .dst = R(8), .mask = IF(MASK_K(ZERO)),
		     .src2 = SH(0), .src0 = R(0)));
	add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = R(8)));
	add(&c, INSN(GLOBAL_LOAD32, .sig0 = 3, .dst = R(8), .mask = IF_NOT(MASK_K(ALO8)),
		     .src2 = SH(0), .src0 = R(0)));
	add(&c, INSN(MOV, .dst = R(2), .mask = ALWAYS, .src0 = R(8)));
	run(fx, &c, GROUP);
	assert_late(fx, &c, R(8), false, false);
	assert_int_equal(result(fx, 1), BEFORE);
	assert_int_equal(result(fx, 8), BEFORE);	/* lane 1 is not loaded */
	fx_destroy(fx);
}

/* A wave that starts in the place of one that faulted has nothing under way. */
static void a_new_wave_has_no_late_registers(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	begin(&c);
	add_load(&c);
	add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = R(8)));
	run(fx, &c, GROUP);
	assert_int_equal(fx->faults, 1);
	begin(&c);
	add(&c, INSN(GLOBAL_LOAD32, .sig0 = 1, .dst = R(20), .mask = ALWAYS, .src2 = SH(0),
		     .src0 = R(0)));
	add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = R(8)));
	run(fx, &c, GROUP);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(result(fx, 1), BEFORE);
	fx_destroy(fx);
}

/* By default data are early, and nothing is reported. */
static void early_data_need_no_wait(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_EARLY);
	struct code c;

	(void)state;
	begin(&c);
	add_load(&c);
	add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = R(8)));
	run(fx, &c, GROUP);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(result(fx, 1), LOADED + 1);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late_registers_are_reported_wherever_they_are_read),
		cmocka_unit_test(late_registers_are_reported_wherever_they_are_written),
		cmocka_unit_test(every_access_with_a_signal_loads_late),
		cmocka_unit_test(texture_read_without_a_signal_is_complete),
		cmocka_unit_test(late_registers_of_other_banks_are_reported),
		cmocka_unit_test(every_wait_is_sufficient),
		cmocka_unit_test(only_a_wait_for_the_signal_is_sufficient),
		cmocka_unit_test(wait_for_any_is_sufficient_for_the_signals_of_its_result),
		cmocka_unit_test(repeated_waits_for_any_complete_every_load),
		cmocka_unit_test(words_of_copies_wait_for_their_signal_among_several),
		cmocka_unit_test(data_arrive_with_their_signal_among_several),
		cmocka_unit_test(late_shared_registers_and_local_memory_are_reported),
		cmocka_unit_test(only_the_words_of_a_copy_are_late),
		cmocka_unit_test(words_of_a_copy_at_an_indexed_address_are_late),
		cmocka_unit_test(each_wave_waits_for_a_copy_of_its_group),
		cmocka_unit_test(data_arrive_when_the_access_is_complete),
		cmocka_unit_test(words_arrive_when_the_access_is_complete),
		cmocka_unit_test(many_bursts_to_shared_registers_lose_nothing),
		cmocka_unit_test(a_missing_wait_is_reported_after_any_number_of_bursts),
		cmocka_unit_test(a_new_wave_has_no_bursts_of_the_one_before),
		cmocka_unit_test(only_active_lanes_are_late),
		cmocka_unit_test(a_new_wave_has_no_late_registers),
		cmocka_unit_test(early_data_need_no_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
