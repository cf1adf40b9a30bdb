// SPDX-License-Identifier: MIT
/*
 * Work-group copies to memory whose source is read when they are complete: a program that
 * overwrites it before its wait stores the new words, or is reported. Loads are in test_late.c,
 * random programs in test_random.c.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "exec.h"
#include "late_code.h"

#define LENGTH(array)	(sizeof(array) / sizeof((array)[0]))
#define AT		256u	/* destination: byte in the data */
#define WORDS		20u	/* of a copy */
#define FIRST		5u	/* source at issue */
#define SECOND		6u	/* source after it */
#define PAGE_BYTES	4096u

#define WAIT(n)		INSN(SIG_WAIT, .dst = R_ELEM(3), .sig0 = (n))
#define COPY_LOCAL	INSN(GROUP_STORE, .sig0 = 3, .src0 = R_ELEM(2), .src2 = SH(0), .disp = AT, \
			     .words = WORDS)
#define COPY_SHARED	INSN(GROUP_STORE_SHARED, .sig0 = 3, .src0 = SH(8), .src2 = SH(0), \
			     .disp = AT, .words = WORDS)
/* Word n of the second page, with another signal. */
#define COPY_SECOND(s, n) INSN(GROUP_STORE, .sig0 = (s), .src0 = R_ELEM(2), .src2 = SH(2), \
			       .disp = (u16)((n) * 4), .words = 1)
/* R4 is FIRST and R5 is SECOND: to the words of each lane. */
#define STORE_LOCAL(r)	INSN(LOCAL_STORE32, .mask = ALWAYS, .src0 = R(0), .src1 = R(r))
#define STORE_SHARED(v)	INSN(MOV, .form = SCALAR_FORM, .dst = SH(9), .src0 = IMM, .imm = (v))

static const enum usc_late_mode modes[] = { USC_LATE_DATA, USC_LATE_POISON };

static u32 word(const struct fixture *fx, u32 n)
{
	return ((const u32 *)(const void *)fx->data)[n];
}

/* Begin a program: the source, word 1 of each store, is FIRST. */
static void begin_copy(struct code *c)
{
	begin(c);
	add(c, INSN(MOV, .dst = R(2), .mask = ALWAYS, .src0 = IMM));
	add(c, INSN(MOV, .dst = R(4), .mask = ALWAYS, .src0 = IMM, .imm = FIRST));
	add(c, INSN(MOV, .dst = R(5), .mask = ALWAYS, .src0 = IMM, .imm = SECOND));
	add(c, STORE_LOCAL(4));
	add(c, STORE_SHARED(FIRST));
}

static void add_fillers(struct code *c, u32 count)
{
	for (u32 n = 0; n < count; n++)
		add(c, INSN(MOV, .dst = R(6), .mask = ALWAYS, .src0 = IMM));
}

/* Memory has its previous words until the copy is complete, and then those of the source. */
static void copies_store_the_words_of_the_source_when_they_are_complete(void **state)
{
	const struct {
		struct pumice_usc_insn copy, overwrite;
	} cases[] = {
		{ COPY_LOCAL, STORE_LOCAL(5) },
		{ COPY_SHARED, STORE_SHARED(SECOND) },
	};
	struct fixture *fx = fixture_of(USC_LATE_DATA);
	struct code c;

	(void)state;
	for (u32 n = 0; n < LENGTH(cases); n++) {
		begin_copy(&c);
		add(&c, cases[n].copy);
		add(&c, cases[n].overwrite);
		add(&c, INSN(GLOBAL_LOAD32, .sig0 = 4, .dst = R(9), .mask = ALWAYS, .src2 = SH(0),
			     .src0 = R(0), .disp = AT));
		add(&c, WAIT(3));
		add(&c, INSN(GLOBAL_LOAD32, .sig0 = 5, .dst = R(10), .mask = ALWAYS, .src2 = SH(0),
			     .src0 = R(0), .disp = AT));
		run(fx, &c, GROUP);
		assert_int_equal(fx->faults, 0);
		assert_int_equal(result(fx, 9), LOADED + AT / 4 + 1);
		assert_int_equal(result(fx, 10), SECOND);
		assert_int_equal(word(fx, AT / 4 + 1), SECOND);
		assert_int_equal(word(fx, AT / 4 - 1), LOADED + AT / 4 - 1);
		assert_int_equal(word(fx, AT / 4 + WORDS), LOADED + AT / 4 + WORDS);
	}
	fx_destroy(fx);
}

/* To the issue slot. */
static void copies_are_complete_when_their_signal_is_done(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_DATA);
	struct code c;

	(void)state;
	for (u32 n = USC_GLOBAL_LATENCY - 1; n <= USC_GLOBAL_LATENCY; n++) {
		begin_copy(&c);
		add(&c, COPY_LOCAL);
		add_fillers(&c, n);
		add(&c, STORE_LOCAL(5));
		run(fx, &c, GROUP);
		assert_int_equal(word(fx, AT / 4 + 1), n < USC_GLOBAL_LATENCY ? SECOND : FIRST);
	}
	fx_destroy(fx);
}

/* By default the source is read at issue. */
static void early_copies_store_the_words_of_the_source_at_issue(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_EARLY);
	struct code c;

	(void)state;
	begin_copy(&c);
	add(&c, COPY_LOCAL);
	add(&c, STORE_LOCAL(5));
	add(&c, WAIT(3));
	run(fx, &c, GROUP);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(word(fx, AT / 4 + 1), FIRST);
	fx_destroy(fx);
}

/* Each way to write the source. */
static void sources_are_reported_wherever_they_are_written(void **state)
{
	const struct {
		struct pumice_usc_insn copy, write;
		u32 place;
		bool local;
	} cases[] = {
		{ COPY_LOCAL, STORE_LOCAL(5), 0, true },
		{ COPY_LOCAL, INSN(LOCAL_STORE8, .mask = IF(MASK_K(ONE)), .src0 = R(0),
				   .src1 = R(5), .disp = 4 * (WORDS - 1)), 4 * (WORDS - 1), true },
		{ COPY_LOCAL, INSN(LOCAL_ATOMICW, .dst = R(6), .mask = ALWAYS, .src0 = R(2),
				   .src1 = R(5)), 0, true },
		{ COPY_LOCAL, INSN(GROUP_LOAD, .sig0 = 4, .src0 = R_ELEM(2), .src2 = SH(0),
				   .words = 1), 0, true },
		{ COPY_SHARED, STORE_SHARED(SECOND), SH(9), false },
		{ COPY_SHARED, INSN(SHARED_LOAD, .sig0 = 4, .dst = SH(7 + WORDS), .src2 = SH(0),
				    .words = 2), SH(7 + WORDS), false },
		{ COPY_SHARED, INSN(GROUP_LOAD_SHARED, .sig0 = 4, .dst = SH(7), .src2 = SH(0),
				    .words = 2), SH(8), false },
	};
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	for (u32 n = 0; n < LENGTH(cases); n++) {
		begin_copy(&c);
		add(&c, cases[n].copy);
		add_fillers(&c, n % 2 * USC_GLOBAL_LATENCY);
		add(&c, cases[n].write);
		run(fx, &c, GROUP);
		assert_late(fx, &c, cases[n].place, cases[n].local, true);
		assert_int_equal(word(fx, AT / 4 + 1), LOADED + AT / 4 + 1);
	}
	fx_destroy(fx);
}

/* Reads, and writes of other words, need no wait; after a wait the source is free. */
static void sources_may_be_read_before_the_wait(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	begin_copy(&c);
	add(&c, COPY_LOCAL);
	add(&c, INSN(GROUP_STORE_SHARED, .sig0 = 4, .src0 = SH(8), .src2 = SH(0), .disp = 2 * AT,
		     .words = 2));
	add(&c, INSN(LOCAL_LOAD32, .dst = R(9), .mask = ALWAYS, .src0 = R(0)));
	add(&c, INSN(LOCAL_STORE32, .mask = ALWAYS, .src0 = R(0), .src1 = R(5),
		     .disp = 4 * WORDS));
	add(&c, INSN(MOV, .dst = R(10), .mask = ALWAYS, .src0 = SH(9)));
	add(&c, INSN(MOV, .form = SCALAR_FORM, .dst = SH(10), .src0 = IMM));
	add(&c, INSN(SIG_WAITALL2, .dst = R_ELEM(3), .sig0 = 4, .sig1 = 3));
	add(&c, STORE_LOCAL(5));
	add(&c, STORE_SHARED(SECOND));
	run(fx, &c, GROUP);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(result(fx, 9), FIRST);
	assert_int_equal(result(fx, 10), FIRST);
	assert_int_equal(word(fx, AT / 4 + 1), FIRST);
	assert_int_equal(word(fx, 2 * AT / 4 + 1), FIRST);
	fx_destroy(fx);
}

/* Run a program in two tasks of a wave each. */
static void run_two_tasks(struct fixture *fx, struct code *c)
{
	const struct fx_group group = { .tasks = 2, .instances = { GROUP, GROUP },
					.limits = late_limits, .local_bytes = 1024 };
	struct usc_program *program = program_of(fx, c, &group.limits);

	fx_fill(fx, 0, &group, program);
	for (u32 t = 0; t < group.tasks; t++) {
		memset(usc_shared(fx->usc, usc_task(fx->usc, t)), 0, group.limits.shared * 4);
		fx_set_base(fx, t, FX_DATA);
	}
	usc_group_start(fx->usc, 0);
	fx_run(fx, 1u << 20);
	assert_int_equal(fx->done[0], 1);
	fx_put(fx, program);
}

/* The words are in memory when any wave has waited, also one of another task. */
static void copies_are_complete_with_the_first_wait(void **state)
{
	const struct pumice_usc_insn copies[] = { COPY_LOCAL, COPY_SHARED };
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	for (u32 n = 0; n < LENGTH(copies); n++) {
		u32 branch;

		begin_copy(&c);
		add(&c, INSN(BARRIER));
		add(&c, copies[n]);
		branch = c.insns;
		add(&c, INSN(BRZ, .target = branch + 4, .src0 = SR_ELEM(WAVE_IN_GROUP)));
		add(&c, WAIT(3));
		add(&c, INSN(GLOBAL_LOAD32, .sig0 = 5, .dst = R(10), .mask = ALWAYS, .src2 = SH(0),
			     .src0 = R(0), .disp = AT));
		add(&c, WAIT(5));
		add(&c, INSN(BARRIER));
		run_two_tasks(fx, &c);
		assert_int_equal(fx->faults, 0);
		assert_int_equal(fx->usc->unified[usc_wave_regs(&fx->usc->task[1], 0) +
						  10 * USC_ROW_WORDS + 1], FIRST);
	}
	fx_destroy(fx);
}

/* One that does not wait is reported, although another has. */
static void each_wave_waits_before_it_writes_the_source(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;
	u32 branch;

	(void)state;
	begin_copy(&c);
	add(&c, INSN(BARRIER));
	add(&c, COPY_LOCAL);
	branch = c.insns;
	add(&c, INSN(BRNZ, .target = branch + 2, .src0 = SR_ELEM(WAVE_IN_GROUP)));
	add(&c, WAIT(3));
	add(&c, INSN(BARRIER));
	add(&c, STORE_LOCAL(5));
	run(fx, &c, 2 * GROUP);
	assert_late(fx, &c, 0, true, true);
	assert_int_equal(fx->fault.wave, 1);
	fx_destroy(fx);
}

/* A load that began before the copy is complete before it, whichever wait is first. */
static void accesses_are_complete_in_the_order_of_issue(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_DATA);
	struct code c;

	(void)state;
	for (u32 n = 0; n < 2; n++) {
		begin_copy(&c);
		add(&c, INSN(GROUP_LOAD, .sig0 = 4, .src0 = R_ELEM(2), .src2 = SH(0),
			     .words = WORDS));
		add(&c, COPY_LOCAL);
		if (n)
			add(&c, WAIT(3));
		run(fx, &c, GROUP);
		assert_int_equal(word(fx, AT / 4 + 1), LOADED + 1);
	}
	fx_destroy(fx);
}

/* More copies than are kept: the oldest is completed, no word is lost. */
static void many_copies_lose_nothing(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	begin_copy(&c);
	for (u32 n = 0; n < 20; n++)
		add(&c, INSN(GROUP_STORE, .sig0 = (u8)(n % 16), .src0 = R_ELEM(2), .src2 = SH(0),
			     .disp = (u16)(AT + n * 4), .words = 1));
	run(fx, &c, GROUP);
	assert_int_equal(fx->faults, 0);
	for (u32 n = 0; n < 21; n++)
		assert_int_equal(word(fx, AT / 4 + n), n < 20 ? FIRST : LOADED + AT / 4 + n);
	fx_destroy(fx);
}

/* The source may be read until then, and written after it. */
static void a_source_is_reported_after_any_number_of_copies(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	for (u32 waits = 0; waits < 2; waits++) {
		begin_copy(&c);
		add(&c, COPY_LOCAL);
		for (u32 n = 0; n < 20; n++)
			add(&c, INSN(GROUP_STORE, .sig0 = 4, .src0 = R_ELEM(2), .src2 = SH(0),
				     .disp = (u16)(AT + (WORDS + n) * 4), .words = 1));
		add(&c, WAIT(4));
		add(&c, INSN(LOCAL_LOAD32, .dst = R(7), .mask = ALWAYS, .src0 = R(0)));
		if (waits)
			add(&c, WAIT(3));
		add(&c, STORE_LOCAL(5));
		run(fx, &c, GROUP);
		if (waits)
			assert_int_equal(fx->faults, 0);
		else
			assert_late(fx, &c, 0, true, true);
		assert_int_equal(word(fx, AT / 4 + 1), FIRST);
	}
	fx_destroy(fx);
}

/*
 * Run a program with copies to two pages: SH2 is the address of the second one. After instruction
 * issued the mapping of the first pages is removed; the fault is that of the copy at first.
 */
static void run_and_unmap(struct fixture *fx, struct code *c, u32 first, u32 issued, u32 pages)
{
	struct usc_program *program = program_of(fx, c, &late_limits);
	u32 *shared;

	fx_fill(fx, 0, &(struct fx_group){ .tasks = 1, .instances = { GROUP },
					   .limits = late_limits, .local_bytes = 1024 }, program);
	fx_set_base(fx, 0, FX_DATA);
	shared = usc_shared(fx->usc, usc_task(fx->usc, 0));
	shared[2] = (u32)FX_DATA + PAGE_BYTES;
	shared[3] = 0;
	usc_group_start(fx->usc, 0);
	for (u32 step = 0; fx->usc->wave[0].pc <= issued; step++) {
		assert_true(step < 2 * MAX_INSNS);
		usc_step(fx->usc, 1, NULL);
	}
	assert_int_equal(fx->faults, 0);
	testmem_unmap(fx->mem, FX_CTX, FX_DATA, (u64)pages * PAGE_BYTES);
	mmu_invalidate_all(&fx->mmu);
	fx_run(fx, 1u << 20);
	assert_int_equal(fx->faults, 1);
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_MMU_PT_INVALID);
	assert_int_equal(fx->fault.addr, FX_DATA + AT);
	assert_int_equal(fx->fault.access, PUMICE_ACCESS_WRITE);
	assert_int_equal(fx->fault.pc, first);
	fx_put(fx, program);
}

/* A mapping that is removed meanwhile: the fault is one of the copy. */
static void copies_whose_mapping_is_removed_fault(void **state)
{
	(void)state;
	for (u32 n = 0; n < LENGTH(modes); n++) {
		struct fixture *fx = fixture_of(modes[n]);
		struct code c;
		u32 copy;

		begin_copy(&c);
		copy = c.insns;
		add(&c, COPY_LOCAL);
		add_fillers(&c, 4);
		add(&c, WAIT(3));
		run_and_unmap(fx, &c, copy, copy, 1);
		fx_destroy(fx);
	}
}

/* The fault of the first of two copies is reported, and the second one is not stored. */
static void copies_after_one_that_faults_are_not_stored(void **state)
{
	const struct pumice_usc_insn waits[] = {
		INSN(SIG_WAITALL2, .dst = R_ELEM(3), .sig0 = 4, .sig1 = 3),
		INSN(MEM_FENCE, .func = PUMICE_USC_SCOPE_SYSTEM),
		INSN(END),
	};

	(void)state;
	for (u32 n = 0; n < LENGTH(modes) * LENGTH(waits) * 2; n++) {
		const u32 pages = n % 2 + 1;
		struct fixture *fx = fixture_of(modes[n / 2 % LENGTH(modes)]);
		struct code c;
		u32 copy;

		begin_copy(&c);
		copy = c.insns;
		add(&c, COPY_LOCAL);
		add(&c, COPY_SECOND(4, 0));
		add(&c, waits[n / 2 / LENGTH(modes)]);
		run_and_unmap(fx, &c, copy, copy + 1, pages);
		assert_int_equal(word(fx, PAGE_BYTES / 4), LOADED + PAGE_BYTES / 4);
		fx_destroy(fx);
	}
}

/* The copy that is completed since there are too many faults, too: the wave stops there. */
static void copy_that_is_completed_for_another_faults(void **state)
{
	(void)state;
	for (u32 n = 0; n < LENGTH(modes); n++) {
		struct fixture *fx = fixture_of(modes[n]);
		struct code c;
		u32 copy;

		begin_copy(&c);
		copy = c.insns;
		add(&c, COPY_LOCAL);
		for (u32 m = 0; m < 20; m++)
			add(&c, COPY_SECOND(4, m));
		add(&c, WAIT(4));
		run_and_unmap(fx, &c, copy, copy, 1);
		assert_int_equal(fx->usc->wave[0].pc, copy + 16);
		for (u32 m = 0; m < 20; m++)
			assert_int_equal(word(fx, PAGE_BYTES / 4 + m), LOADED + PAGE_BYTES / 4 + m);
		fx_destroy(fx);
	}
}

/* Word of the destination when an operation on caches was passed to the hierarchy. */
static u32 found, operations;

static void find_copy(void *opaque, const struct mmu_cache_op *op)
{
	(void)op;
	found = word(opaque, AT / 4 + 1);
	operations++;
}

/* Also where waves of the group wait in turn. */
static void operations_on_caches_follow_the_stores_of_copies(void **state)
{
	const struct pumice_usc_insn ops[] = {
		INSN(MEM_FENCE, .func = PUMICE_USC_SCOPE_SYSTEM),
		INSN(CACHE_CLEAN, .func = PUMICE_USC_SCOPE_SYSTEM),
		INSN(CACHE_INVALIDATE, .func = PUMICE_USC_SCOPE_GROUP),
		INSN(CACHE_CLEAN_RANGE, .func = PUMICE_USC_SCOPE_CORE, .src2 = SH(0), .words = 1),
		INSN(CACHE_INVALIDATE_RANGE, .func = PUMICE_USC_SCOPE_CORE, .src2 = SH(0),
		     .words = 1),
	};

	(void)state;
	for (u32 n = 0; n < LENGTH(ops) * LENGTH(modes) * 2; n++) {
		const u32 waves = n % 2 + 1;
		struct fixture *fx = fixture_of(modes[n / 2 % LENGTH(modes)]);
		struct code c;

		begin_copy(&c);
		add(&c, COPY_LOCAL);
		add(&c, ops[n / 2 / LENGTH(modes)]);
		found = operations = 0;
		mmu_set_cache_op(&fx->mmu, find_copy, fx);
		run(fx, &c, waves * GROUP);
		mmu_set_cache_op(&fx->mmu, NULL, NULL);
		assert_int_equal(fx->faults, 0);
		assert_int_equal(operations, waves);
		assert_int_equal(found, FIRST);
		fx_destroy(fx);
	}
}

/* While the fence of one wave waits, another one may still overwrite the source. */
static void copies_are_not_complete_when_a_fence_begins_to_wait(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_DATA);
	struct code c;

	(void)state;
	begin_copy(&c);
	add(&c, COPY_LOCAL);
	add(&c, INSN(BRNZ, .target = (u16)(c.insns + 2), .src0 = SR_ELEM(WAVE_IN_GROUP)));
	add(&c, INSN(MEM_FENCE, .func = PUMICE_USC_SCOPE_SYSTEM));
	add(&c, STORE_LOCAL(5));
	run(fx, &c, 2 * GROUP);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(word(fx, AT / 4 + 1), SECOND);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_store_the_words_of_the_source_when_they_are_complete),
		cmocka_unit_test(copies_are_complete_when_their_signal_is_done),
		cmocka_unit_test(early_copies_store_the_words_of_the_source_at_issue),
		cmocka_unit_test(sources_are_reported_wherever_they_are_written),
		cmocka_unit_test(sources_may_be_read_before_the_wait),
		cmocka_unit_test(copies_are_complete_with_the_first_wait),
		cmocka_unit_test(each_wave_waits_before_it_writes_the_source),
		cmocka_unit_test(accesses_are_complete_in_the_order_of_issue),
		cmocka_unit_test(many_copies_lose_nothing),
		cmocka_unit_test(a_source_is_reported_after_any_number_of_copies),
		cmocka_unit_test(copies_whose_mapping_is_removed_fault),
		cmocka_unit_test(copies_after_one_that_faults_are_not_stored),
		cmocka_unit_test(copy_that_is_completed_for_another_faults),
		cmocka_unit_test(operations_on_caches_follow_the_stores_of_copies),
		cmocka_unit_test(copies_are_not_complete_when_a_fence_begins_to_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
