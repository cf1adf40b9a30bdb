// SPDX-License-Identifier: MIT
/*
 * Stores of registers to memory that arrive late: when memory has the words, and which loads are
 * reported. Loads are in test_late.c, copies by a work-group in test_late_copies.c, random programs
 * in test_random.c and test_graphics.c.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "exec.h"
#include "faults.h"
#include "late_code.h"
#include "late_state.h"

#define LENGTH(array)	(sizeof(array) / sizeof((array)[0]))
#define AT		256u	/* destination: byte in the data */
#define VALUE		5u	/* R12 to R15 at issue */
#define OTHER		6u	/* after it */
#define PAGE_BYTES	4096u
#define POLLS		(1u << 20)	/* at most */

#define WAIT(n)		INSN(SIG_WAIT, .dst = R_ELEM(3), .sig0 = (n))
#define SET(n, v)	INSN(MOV, .dst = R(n), .mask = ALWAYS, .src0 = IMM, .imm = (v))
/* R12 to the word of each lane, with signal 3, or another one. */
#define STORE_WITH(s)	INSN(GLOBAL_STORE32, .sig0 = (s), .mask = ALWAYS, .src2 = SH(0), \
			     .src0 = R(0), .disp = AT, .src1 = R(12))
#define STORE		STORE_WITH(3)
#define LOAD(n, s)	INSN(GLOBAL_LOAD32, .sig0 = (s), .dst = R(n), .mask = ALWAYS, \
			     .src2 = SH(0), .src0 = R(0), .disp = AT)
/* An access of lanes that are 64 bytes apart, R1. */
#define WIDE(name, ...)	INSN(name, .sig0 = 3, .mask = ALWAYS, .src2 = SH(0), .src0 = R(1), \
			     .src1 = R(12), __VA_ARGS__)

static const enum usc_late_mode modes[] = { USC_LATE_DATA, USC_LATE_POISON };

static u32 word(const struct fixture *fx, u32 n)
{
	return ((const u32 *)(const void *)fx->data)[n];
}

static void begin_store(struct code *c)
{
	begin(c);
	add(c, INSN(SHL, .dst = R(1), .src0 = K(SID), .src1 = IMM, .imm = 6));
	add(c, INSN(AND, .dst = R(2), .src0 = K(SID), .src1 = IMM, .imm = 4));
	add(c, INSN(MOV, .dst = R(7), .mask = ALWAYS, .src0 = K(SID)));
	for (u32 n = 12; n < 28; n++)
		add(c, INSN(ADD, .dst = R(n), .src0 = K(SID), .src1 = IMM, .imm = VALUE - 1));
}

static void add_fillers(struct code *c, u32 count)
{
	for (u32 n = 0; n < count; n++)
		add(c, SET(6, 0));
}

/* The last instruction, of a wave, loads byte at of the data before the wait for signal 3. */
static void assert_late_load(const struct fixture *fx, const struct code *c, u32 at)
{
	assert_int_equal(fx->faults, 1);
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_USC_LATE);
	assert_int_equal(fx->fault.pc, c->insns - 2);
	assert_int_equal(fx->fault.access, PUMICE_ACCESS_READ);
	assert_true(pumice_late_is_memory(fx->fault.addr));
	assert_int_equal(pumice_late_memory_va(fx->fault.addr), FX_DATA + at);
	assert_int_equal(pumice_late_memory_signal(fx->fault.addr), 3);
}

/* Memory has its previous words until the store is complete, to the issue slot. */
static void stores_are_complete_when_their_signal_is_done(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_DATA);
	struct code c;

	(void)state;
	for (u32 n = USC_GLOBAL_LATENCY - 2; n <= USC_GLOBAL_LATENCY; n++) {
		begin(&c);
		add(&c, SET(12, VALUE));
		add(&c, STORE);
		add_fillers(&c, n);
		add(&c, LOAD(9, 4));
		run(fx, &c, GROUP);
		assert_int_equal(fx->faults, 0);
		assert_int_equal(result(fx, 9),
				 n < USC_GLOBAL_LATENCY ? LOADED + AT / 4 + 1 : VALUE);
		assert_int_equal(word(fx, AT / 4 + 1), VALUE);
	}
	fx_destroy(fx);
}

/* By default memory has the words at issue. */
static void early_stores_are_complete_at_issue(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_EARLY);
	struct code c;

	(void)state;
	begin_store(&c);
	add(&c, STORE);
	add(&c, LOAD(9, 4));
	run(fx, &c, GROUP);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(result(fx, 9), VALUE);
	fx_destroy(fx);
}

/* Each store: the same memory as by default, whatever its registers contain afterwards. */
static void programs_that_wait_store_the_same(void **state)
{
	const struct pumice_usc_insn stores[] = {
		STORE,
		WIDE(GLOBAL_STORE8, .disp = AT),
		WIDE(GLOBAL_STORE16, .disp = AT),
		WIDE(GLOBAL_STORE64, .disp = AT),
		WIDE(GLOBAL_STORE128, .disp = AT),
		WIDE(BURST_STORE, .disp = AT, .words = 3),
		WIDE(BURST_STORE, .disp = AT, .words = 16),
		INSN(GLOBAL_STORE32, .sig0 = 3, .mask = IF(MASK_R(7)), .src2 = SH(0), .src0 = R(1),
		     .disp = AT, .src1 = R(12)),
		INSN(GLOBAL_STORE32, .sig0 = 3, .mask = ALWAYS, .src2 = SH(0), .src0 = R(0),
		     .disp = AT, .src1 = K(SID)),
		INSN(GLOBAL_STORE32, .sig0 = 3, .mask = ALWAYS, .src2 = SH(0), .src0 = R(0),
		     .disp = AT, .src1 = M(IF(MASK_R(7)))),
		/* All lanes to two words: the highest of each takes precedence. */
		INSN(GLOBAL_STORE64, .sig0 = 3, .mask = ALWAYS, .src2 = SH(0), .src0 = R(2),
		     .disp = AT, .src1 = R(12)),
	};
	static u8 early[FX_DATA_BYTES];

	(void)state;
	for (u32 n = 0; n < LENGTH(stores) * 3; n++) {
		const bool late = n % 3;
		struct fixture *fx = fixture_of(late ? modes[n % 3 - 1] : USC_LATE_EARLY);
		struct code c;

		begin_store(&c);
		add(&c, INSN(ADD, .dst = R(6), .src0 = R(0), .src1 = M(ALWAYS)));
		add(&c, stores[n / 3]);
		add(&c, SET(12, OTHER));
		add(&c, SET(27, OTHER));
		add(&c, SET(0, 0));
		add(&c, SET(1, 0));
		add(&c, WAIT(3));
		add(&c, INSN(GLOBAL_LOAD32, .sig0 = 4, .dst = R(9), .mask = ALWAYS, .src2 = SH(0),
			     .src0 = R(2), .disp = AT));
		run(fx, &c, GROUP);
		assert_int_equal(fx->faults, 0);
		assert_int_not_equal(result(fx, 9), PUMICE_USC_POISON);
		if (!late)
			memcpy(early, fx->data, sizeof(early));
		else
			assert_memory_equal(early, fx->data, sizeof(early));
		fx_destroy(fx);
	}
}

/* Each way to load words of an own store. */
static void words_are_reported_wherever_they_are_loaded(void **state)
{
	const struct {
		struct pumice_usc_insn load;
		u32 at;
	} cases[] = {
		{ LOAD(9, 4), AT },
		{ INSN(GLOBAL_LOAD8, .dst = R(9), .mask = IF(MASK_R(7)), .src2 = SH(0),
		       .src0 = R(3), .disp = AT + 7), AT + 7 },
		{ INSN(GLOBAL_LOAD128, .dst = R(8), .mask = ALWAYS, .src2 = SH(0), .src0 = R(3),
		       .disp = AT - 12), AT },
		{ INSN(BURST_LOAD, .dst = R(8), .mask = ALWAYS, .src2 = SH(0), .src0 = R(3),
		       .disp = AT + 124, .words = 2), AT + 124 },
		{ INSN(GLOBAL_ATOMIC, .dst = R(8), .mask = ALWAYS, .src2 = SH(0), .src0 = R(3),
		       .disp = AT + 4, .src1 = R(2)), AT + 4 },
		{ INSN(SHARED_LOAD, .dst = SH(8), .src2 = SH(0), .disp = AT - 4, .words = 2), AT },
		{ INSN(GROUP_LOAD, .src0 = R_ELEM(3), .src2 = SH(0), .disp = AT - 4, .words = 2),
		  AT },
		{ INSN(GROUP_LOAD_SHARED, .dst = SH(8), .src2 = SH(0), .disp = AT - 4,
		       .words = 2), AT },
	};
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	for (u32 n = 0; n < 2 * LENGTH(cases); n++) {
		begin_store(&c);
		add(&c, SET(3, 0));
		add(&c, STORE);
		add_fillers(&c, n % 2 * USC_GLOBAL_LATENCY);	/* time replaces no wait */
		add(&c, cases[n / 2].load);
		run(fx, &c, GROUP);
		assert_late_load(fx, &c, cases[n / 2].at);
	}
	fx_destroy(fx);
}

/* The lane is that of the load, and the signal that of the store. */
static void the_lowest_lane_that_loads_is_reported(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	begin_store(&c);
	add(&c, STORE_WITH(5));
	add(&c, STORE);
	add(&c, WAIT(5));
	add(&c, INSN(GLOBAL_LOAD32, .dst = R(9), .mask = ALWAYS, .src2 = SH(0), .src0 = R(0),
		     .disp = AT - 20));
	run(fx, &c, GROUP);
	assert_late_load(fx, &c, AT);
	assert_true(fx->fault.lane_known);
	assert_int_equal(fx->fault.lane, 5);
	fx_destroy(fx);
}

/* Other bytes may be loaded, and any bytes after each kind of wait. */
static void loads_that_need_no_wait_are_not_reported(void **state)
{
	const struct pumice_usc_insn waits[] = {
		WAIT(3),
		INSN(SIG_WAITALL2, .dst = R_ELEM(3), .sig0 = 4, .sig1 = 3),
		INSN(SIG_WAITANY2, .dst = R_ELEM(3), .sig0 = 3, .sig1 = 3),
		INSN(MEM_FENCE, .func = PUMICE_USC_SCOPE_GROUP),
		INSN(CACHE_CLEAN, .func = PUMICE_USC_SCOPE_GROUP),
	};
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	for (u32 n = 0; n < LENGTH(waits); n++) {
		begin_store(&c);
		add(&c, STORE);
		add(&c, INSN(GLOBAL_LOAD32, .sig0 = 4, .dst = R(8), .mask = ALWAYS, .src2 = SH(0),
			     .src0 = R(0), .disp = AT + 128));
		add(&c, INSN(GLOBAL_LOAD8, .sig0 = 4, .dst = R(10), .mask = IF(MASK_K(ZERO)),
			     .src2 = SH(0), .src0 = R(0), .disp = AT));
		/* Words between those of its lanes. */
		add(&c, WIDE(GLOBAL_STORE32, .disp = 3 * AT));
		add(&c, INSN(GLOBAL_LOAD32, .sig0 = 4, .dst = R(11), .mask = ALWAYS, .src2 = SH(0),
			     .src0 = R(1), .disp = 3 * AT + 4));
		add(&c, waits[n]);
		add(&c, LOAD(9, 4));
		run(fx, &c, GROUP);
		assert_int_equal(fx->faults, 0);
		assert_int_equal(result(fx, 9), VALUE);
		assert_int_equal(result(fx, 8), LOADED + AT / 4 + 33);
	}
	fx_destroy(fx);
}

/* A wait for another signal, and a poll that is not done, do not suffice. */
static void other_waits_are_not_sufficient(void **state)
{
	const struct pumice_usc_insn waits[] = {
		WAIT(4),
		INSN(SIG_DONE1, .dst = R_ELEM(3), .sig0 = 3),
		INSN(BARRIER),
	};
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	for (u32 n = 0; n < LENGTH(waits); n++) {
		begin_store(&c);
		add(&c, STORE);
		add(&c, waits[n]);
		add(&c, LOAD(9, 4));
		run(fx, &c, GROUP);
		assert_late_load(fx, &c, AT);
	}
	fx_destroy(fx);
}

/* Wave 0 stores, and wave 1 loads the words. */
static void add_two_waves(struct code *c, bool wait, bool barrier)
{
	u32 branch;

	begin_store(c);
	add(c, INSN(AND, .dst = R(0), .src0 = R(0), .src1 = IMM, .imm = 127));
	branch = c->insns;
	add(c, INSN(BRNZ, .target = branch + 3, .src0 = SR_ELEM(WAVE_IN_GROUP)));
	add(c, STORE);
	add(c, wait ? WAIT(3) : SET(6, 0));
	if (barrier)
		add(c, INSN(BARRIER));
	branch = c->insns;
	add(c, INSN(BRZ, .target = branch + 2, .src0 = SR_ELEM(WAVE_IN_GROUP)));
	add(c, LOAD(9, 4));
}

/* A barrier makes visible only accesses that are complete. */
static void a_barrier_does_not_replace_the_wait(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	add_two_waves(&c, false, true);
	run(fx, &c, 2 * GROUP);
	assert_late_load(fx, &c, AT);
	assert_int_equal(fx->fault.wave, 1);

	add_two_waves(&c, true, true);
	run(fx, &c, 2 * GROUP);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(wave_result(fx, 1, 9), VALUE);
	fx_destroy(fx);

	/* Without poison wave 1 has the previous words. */
	fx = fixture_of(USC_LATE_DATA);
	add_two_waves(&c, false, true);
	run(fx, &c, 2 * GROUP);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(wave_result(fx, 1, 9), LOADED + AT / 4 + 1);
	assert_int_equal(word(fx, AT / 4 + 1), VALUE);
	fx_destroy(fx);
}

/* Without a barrier no order exists: wave 1 has the previous words, or the new ones. */
static void waves_that_have_not_met_are_not_reported(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	add_two_waves(&c, false, false);
	add(&c, INSN(BARRIER));
	run(fx, &c, 2 * GROUP);
	assert_int_equal(fx->faults, 0);
	assert_true(wave_result(fx, 1, 9) == VALUE ||
		    wave_result(fx, 1, 9) == LOADED + AT / 4 + 1);
	fx_destroy(fx);
}

/* Wave 1 polls a word that wave 0 stores before a barrier, without a wait. */
static void a_wave_at_a_barrier_stores_its_words_in_time(void **state)
{
	(void)state;
	for (u32 n = 0; n < LENGTH(modes); n++) {
		struct fixture *fx = fixture_of(modes[n]);
		struct code c;
		u32 branch;

		begin_store(&c);
		add(&c, INSN(AND, .dst = R(0), .src0 = R(0), .src1 = IMM, .imm = 127));
		add(&c, INSN(AND, .dst = R(12), .src0 = R(12), .src1 = IMM));
		add(&c, SET(10, POLLS));
		branch = c.insns;
		add(&c, INSN(BRNZ, .target = branch + 3, .src0 = SR_ELEM(WAVE_IN_GROUP)));
		add(&c, STORE);
		add(&c, INSN(JUMP, .target = branch + 8));
		add(&c, LOAD(9, 4));
		add(&c, WAIT(4));
		add(&c, INSN(BRZ, .target = branch + 8, .src0 = R_ELEM(9)));
		add(&c, INSN(SUB, .form = SCALAR_FORM, .dst = R_ELEM(10), .src0 = R_ELEM(10),
			     .src1 = IMM, .imm = 1));
		add(&c, INSN(BRNZ, .target = branch + 3, .src0 = R_ELEM(10)));
		add(&c, INSN(BARRIER));
		run(fx, &c, 2 * GROUP);
		assert_int_equal(fx->faults, 0);
		assert_int_equal(wave_result(fx, 1, 9), 0);
		fx_destroy(fx);
	}
}

/* Stores and copies to memory of a wave are complete in the order of issue. */
static void stores_are_complete_in_the_order_of_issue(void **state)
{
	const struct pumice_usc_insn copy = INSN(GROUP_STORE, .sig0 = 4, .src0 = R_ELEM(3),
						 .src2 = SH(0), .disp = AT, .words = 8);

	(void)state;
	for (u32 n = 0; n < LENGTH(modes) * 3; n++) {
		struct fixture *fx = fixture_of(modes[n / 3]);
		struct code c;

		begin_store(&c);
		add(&c, SET(3, 0));
		add(&c, n % 3 == 1 ? copy : STORE_WITH(4));
		add(&c, SET(12, OTHER));
		add(&c, n % 3 == 2 ? INSN(GROUP_STORE, .sig0 = 3, .src0 = R_ELEM(3),
					  .src2 = SH(0), .disp = AT, .words = 8) : STORE);
		add(&c, INSN(SIG_WAIT, .dst = R_ELEM(7), .sig0 = 3));
		run(fx, &c, GROUP);
		assert_int_equal(fx->faults, 0);
		assert_int_equal(word(fx, AT / 4 + 1), n % 3 == 2 ? 0 : OTHER);
		fx_destroy(fx);
	}
}

/* The end of a wave completes its stores, and more than a wave has records for. */
static void the_end_completes_all_stores(void **state)
{
	(void)state;
	for (u32 n = 0; n < LENGTH(modes); n++) {
		struct fixture *fx = fixture_of(modes[n]);
		struct code c;

		begin_store(&c);
		for (u32 m = 0; m < 70; m++)
			add(&c, INSN(GLOBAL_STORE32, .sig0 = (u8)(m % 16), .mask = ALWAYS,
				     .src2 = SH(0), .src0 = R(1), .disp = (u16)(AT + 4 * (m % 16)),
				     .src1 = R(12 + m % 16)));
		run(fx, &c, GROUP);
		assert_int_equal(fx->faults, 0);
		for (u32 m = 0; m < 16 * GROUP; m++)
			assert_int_equal(word(fx, AT / 4 + m), VALUE - 1 + m / 16);
		fx_destroy(fx);
	}
}

/* Addresses are checked at issue: the lowest lane that faults is reported, and none has stored. */
static void bad_addresses_fault_at_issue(void **state)
{
	const struct {
		struct pumice_usc_insn store;
		enum pumice_fault fault;
		u64 va;
		u32 lane;
	} cases[] = {
		{ INSN(GLOBAL_STORE32, .mask = ALWAYS, .src2 = SH(0), .src0 = R(4), .disp = AT,
		       .src1 = R(12)), PUMICE_FAULT_USC_GLOBAL_ALIGN, FX_DATA + AT + 1, 1 },
		{ INSN(GLOBAL_STORE16, .mask = ALWAYS, .src2 = SH(0), .src0 = R(4), .disp = AT,
		       .src1 = R(12)), PUMICE_FAULT_USC_GLOBAL_ALIGN, FX_DATA + AT + 1, 1 },
		{ INSN(BURST_STORE, .mask = ALWAYS, .src2 = SH(0), .src0 = R(4), .disp = AT,
		       .src1 = R(12), .words = 2), PUMICE_FAULT_USC_BURST_ALIGN,
		  FX_DATA + AT + 1, 1 },
		{ INSN(GLOBAL_STORE32, .mask = ALWAYS, .src2 = SH(0), .src0 = R(5),
		       .src1 = R(12)), PUMICE_FAULT_MMU_PT_INVALID, FX_DATA + FX_DATA_BYTES, 2 },
		{ INSN(GLOBAL_STORE64, .mask = ALWAYS, .src2 = SH(0), .src0 = R(5),
		       .disp = PAGE_BYTES - 4, .src1 = R(12)), PUMICE_FAULT_MMU_PT_INVALID,
		  FX_DATA + FX_DATA_BYTES, 1 },
	};

	(void)state;
	for (u32 n = 0; n < LENGTH(cases) * 3; n++) {
		struct fixture *fx = fixture_of(n % 3 ? modes[n % 3 - 1] : USC_LATE_EARLY);
		struct code c;

		begin_store(&c);
		add(&c, INSN(ADD, .dst = R(4), .src0 = K(SID), .src1 = IMM));
		add(&c, INSN(SHL, .dst = R(5), .src0 = K(SID), .src1 = IMM, .imm = 12));
		add(&c, cases[n / 3].store);
		run(fx, &c, GROUP);
		assert_int_equal(fx->faults, 1);
		assert_int_equal(fx->fault.fault, cases[n / 3].fault);
		assert_int_equal(fx->fault.pc, c.insns - 2);
		assert_int_equal(fx->fault.addr, cases[n / 3].va);
		assert_int_equal(fx->fault.access, PUMICE_ACCESS_WRITE);
		assert_true(fx->fault.lane_known);
		assert_int_equal(fx->fault.lane, cases[n / 3].lane);
		fx_destroy(fx);
	}
}

/* A mapping that is removed meanwhile: the fault is one of the store and its lane. */
static void stores_whose_mapping_is_removed_fault(void **state)
{
	(void)state;
	for (u32 n = 0; n < LENGTH(modes) * 2; n++) {
		struct fixture *fx = fixture_of(modes[n / 2]);
		struct usc_program *program;
		struct code c;
		u32 at;

		begin_store(&c);
		add(&c, INSN(MOV, .dst = R(5), .mask = ALWAYS, .src0 = R(1)));
		add(&c, INSN(SHL, .dst = R(5), .src0 = R(5), .src1 = IMM, .imm = 1));
		at = c.insns;
		add(&c, INSN(GLOBAL_STORE32, .sig0 = 3, .mask = ALWAYS, .src2 = SH(0), .src0 = R(5),
			     .disp = PAGE_BYTES - 256, .src1 = R(12)));
		add_fillers(&c, 2);
		if (n % 2)
			add(&c, WAIT(3));
		program = program_of(fx, &c, &late_limits);
		fx_fill(fx, 0, &(struct fx_group){ .tasks = 1, .instances = { GROUP },
						   .limits = late_limits, .local_bytes = 1024 },
			program);
		fx_set_base(fx, 0, FX_DATA);
		usc_group_start(fx->usc, 0);
		while (fx->usc->wave[0].pc <= at)
			usc_step(fx->usc, 1, NULL);
		assert_int_equal(fx->faults, 0);
		testmem_unmap(fx->mem, FX_CTX, FX_DATA + PAGE_BYTES, PAGE_BYTES);
		mmu_invalidate_all(&fx->mmu);
		fx_run(fx, 1u << 20);
		assert_int_equal(fx->faults, 1);
		assert_int_equal(fx->fault.fault, PUMICE_FAULT_MMU_PT_INVALID);
		assert_int_equal(fx->fault.addr, FX_DATA + PAGE_BYTES);
		assert_int_equal(fx->fault.access, PUMICE_ACCESS_WRITE);
		assert_int_equal(fx->fault.pc, at);
		assert_int_equal(fx->fault.lane, 2);
		fx_put(fx, program);
		fx_destroy(fx);
	}
}

/* A group that faults drops what is not complete, and the next one has none of it. */
static void stores_of_a_group_that_faults_are_dropped(void **state)
{
	(void)state;
	for (u32 n = 0; n < LENGTH(modes); n++) {
		struct fixture *fx = fixture_of(modes[n]);
		struct code c;

		begin_store(&c);
		add(&c, STORE);
		add(&c, INSN(LOCAL_LOAD32, .dst = R(9), .mask = ALWAYS, .src0 = R(0),
			     .disp = 1024));
		run(fx, &c, GROUP);
		assert_int_equal(fx->faults, 1);
		assert_int_equal(fx->fault.fault, PUMICE_FAULT_USC_LOCAL_BOUNDS);
		assert_int_equal(word(fx, AT / 4 + 1), LOADED + AT / 4 + 1);
		begin_store(&c);
		add(&c, LOAD(9, 4));
		run(fx, &c, GROUP);
		assert_int_equal(fx->faults, 0);
		assert_int_equal(word(fx, AT / 4 + 1), LOADED + AT / 4 + 1);
		fx_destroy(fx);
	}
}

/* Each load is compared with all lanes of all stores, none of which has its bytes. */
static void check_charge(u32 stores, u32 loads)
{
	const struct fx_group group = { .tasks = 1, .instances = { GROUP },
					.limits = late_limits };
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct usc_program *program;
	struct code c;
	u64 before, most = 0;
	bool more = true;

	begin(&c);
	add(&c, INSN(SHL, .dst = R(1), .src0 = K(SID), .src1 = IMM, .imm = 6));
	add(&c, SET(12, VALUE));
	for (u32 n = 0; n < stores; n++)
		add(&c, WIDE(GLOBAL_STORE32, .disp = AT));
	for (u32 n = 0; n < loads; n++) {
		add(&c, INSN(GLOBAL_LOAD32, .sig0 = 4, .dst = R(9), .mask = ALWAYS,
			     .src2 = SH(0), .src0 = R(1), .disp = AT + 4));
		add(&c, WAIT(4));
	}
	program = program_of(fx, &c, &late_limits);
	fx_fill(fx, 0, &group, program);
	fx_set_base(fx, 0, FX_DATA);
	usc_group_start(fx->usc, 0);
	while (more) {
		before = fx->usc->late->compared;
		more = usc_step(fx->usc, 512, NULL);
		if (fx->usc->late->compared - before > most)
			most = fx->usc->late->compared - before;
	}
	assert_int_equal(fx->faults, 0);
	assert_int_equal(fx->done[0], 1);
	assert_true(fx->usc->late->compared >= loads * stores * 32 * 31);
	assert_true(most < 4u * 48 * 32 * 33);
	fx_put(fx, program);
	fx_destroy(fx);
}

static void steps_are_charged_for_loads_that_are_compared(void **state)
{
	(void)state;
	check_charge(48, 16);
}

/* Each of them with less than a unit of the charge. */
static void steps_are_charged_for_many_loads_with_few_stores(void **state)
{
	(void)state;
	check_charge(7, 40);
}

/* Wave 0 skips these loads, and two instructions after them. */
static void add_early_end(struct code *c)
{
	add(c, INSN(MOV, .form = SCALAR_FORM, .dst = R_ELEM(6),
		    .src0 = usc_operand(PUMICE_USC_BANK_SR, PUMICE_USC_SR_WAVE_IN_GROUP, true)));
	add(c, INSN(BRZ, .target = c->insns + 43, .src0 = R_ELEM(6)));
	for (u32 n = 0; n < 20; n++) {
		add(c, INSN(GLOBAL_LOAD32, .sig0 = 5, .dst = R(10), .mask = ALWAYS, .src2 = SH(0),
			    .src0 = R(0), .disp = 2048));
		add(c, WAIT(5));
	}
}

/* A group of two tasks; a task waits while another group, of another MMU context, has the wave. */
static struct usc_program *two_tasks(struct fixture *fx)
{
	struct code c;

	begin(&c);
	add(&c, INSN(BARRIER));
	add_early_end(&c);
	add(&c, LOAD(9, 4));
	add(&c, WAIT(4));
	return program_of(fx, &c, &late_limits);
}

static struct usc_program *store_without_a_wait(struct fixture *fx)
{
	struct code c;

	begin(&c);
	add(&c, SET(12, VALUE));
	add(&c, STORE);
	for (u32 n = 0; n < 40; n++) {
		add(&c, INSN(GLOBAL_LOAD32, .sig0 = 5, .dst = R(10), .mask = ALWAYS, .src2 = SH(0),
			     .src0 = R(0), .disp = 2048));
		add(&c, WAIT(5));
	}
	return program_of(fx, &c, &late_limits);
}

static void stores_of_a_group_in_the_place_of_an_ended_wave_are_not_compared(void **state)
{
	const struct fx_group first = { .tasks = 2, .instances = { GROUP, GROUP },
					.limits = late_limits };
	const struct fx_group second = { .tasks = 1, .instances = { GROUP },
					 .limits = late_limits };
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct usc_program *program[2] = { two_tasks(fx), store_without_a_wait(fx) };

	(void)state;
	testmem_map(fx->mem, FX_CTX + 1, FX_DATA, 4096, PUMICE_PAGE_SIZE_4K, 0);
	fx_fill(fx, 0, &first, program[0]);
	fx_set_base(fx, 1, FX_DATA);
	run_to_end_of_task(fx);
	fx->next_slot = 0;
	fx_fill(fx, 1, &second, program[1]);
	usc_group(fx->usc, 1)->ctx = FX_CTX + 1;
	fx_set_base(fx, 0, FX_DATA);
	usc_group_start(fx->usc, 1);
	fx_run(fx, 1u << 20);
	assert_int_equal(fx->faults, 0);
	fx_put(fx, program[0]);
	fx_put(fx, program[1]);
	fx_destroy(fx);
}

/* The wave's own records, after another wave of the group has ended. */
static void stores_are_compared_after_another_wave_has_ended(void **state)
{
	const struct fx_group group = { .tasks = 2, .instances = { GROUP, GROUP },
					.limits = late_limits };
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct usc_program *program;
	struct code c;

	(void)state;
	begin(&c);
	add_early_end(&c);
	add(&c, STORE);
	add(&c, LOAD(9, 4));
	program = program_of(fx, &c, &late_limits);
	fx_fill(fx, 0, &group, program);
	fx_set_base(fx, 0, FX_DATA);
	fx_set_base(fx, 1, FX_DATA);
	run_to_end_of_task(fx);
	fx_run(fx, 1u << 20);
	assert_late_load(fx, &c, AT);
	fx_put(fx, program);
	fx_destroy(fx);
}

/* Other waves may not have their numbers for a long time. */
static void records_are_freed_with_their_group(void **state)
{
	const struct fx_group group = { .tasks = 1, .instances = { GROUP },
					.limits = late_limits };
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct usc_program *program;
	struct code c;

	(void)state;
	begin_store(&c);
	add(&c, STORE);
	add(&c, LOAD(9, 4));
	run(fx, &c, GROUP);
	assert_late_load(fx, &c, AT);
	assert_int_equal(fx->usc->late->stores, 0);
	begin_store(&c);
	add(&c, STORE);
	add_fillers(&c, 32);
	program = program_of(fx, &c, &late_limits);
	fx_fill(fx, 0, &group, program);
	fx_set_base(fx, 0, FX_DATA);
	usc_group_start(fx->usc, 0);
	while (!fx->usc->late->stores)
		assert_true(usc_step(fx->usc, 1, NULL));
	usc_reset(fx->usc);
	assert_int_equal(fx->usc->late->stores, 0);
	fx_put(fx, program);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_freed_with_their_group),
		cmocka_unit_test(steps_are_charged_for_loads_that_are_compared),
		cmocka_unit_test(steps_are_charged_for_many_loads_with_few_stores),
		cmocka_unit_test(stores_of_a_group_in_the_place_of_an_ended_wave_are_not_compared),
		cmocka_unit_test(stores_are_compared_after_another_wave_has_ended),
		cmocka_unit_test(stores_are_complete_when_their_signal_is_done),
		cmocka_unit_test(early_stores_are_complete_at_issue),
		cmocka_unit_test(programs_that_wait_store_the_same),
		cmocka_unit_test(words_are_reported_wherever_they_are_loaded),
		cmocka_unit_test(the_lowest_lane_that_loads_is_reported),
		cmocka_unit_test(loads_that_need_no_wait_are_not_reported),
		cmocka_unit_test(other_waits_are_not_sufficient),
		cmocka_unit_test(a_barrier_does_not_replace_the_wait),
		cmocka_unit_test(waves_that_have_not_met_are_not_reported),
		cmocka_unit_test(a_wave_at_a_barrier_stores_its_words_in_time),
		cmocka_unit_test(stores_are_complete_in_the_order_of_issue),
		cmocka_unit_test(the_end_completes_all_stores),
		cmocka_unit_test(bad_addresses_fault_at_issue),
		cmocka_unit_test(stores_whose_mapping_is_removed_fault),
		cmocka_unit_test(stores_of_a_group_that_faults_are_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
