// SPDX-License-Identifier: MIT
/*
 * Copies by a whole work-group, bursts to the common store, the window of dynamic constants,
 * fences: the executing wave, sizes, alignment, bounds, faults, and refused encodings.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "exec.h"
#include "fixture.h"

#define DATA_BYTES 0x8000u
#define LOCAL_BYTES 8192u
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const struct usc_program_limits limits = { .temps = 4, .attrs = 0, .shared = 4 };

/* A copy: SH0 and SH1 the base, SH2 the offset in local memory. */
struct copy {
	struct fx_group group;
	struct pumice_usc_insn insn;
	u64 base;
	u32 local;
};

#define COPY(op, n, ...) INSN(op, .src0 = SH(2), .src2 = SH(0), .words = (n), __VA_ARGS__)

static struct usc_program *copy_program(struct fixture *fx, const struct copy *c)
{
	const struct pumice_usc_insn code[] = {
		INSN(LOCAL_STORE32, .mask = ALWAYS, .src0 = R(0), .src1 = K(ONE)),
		c->insn,
		INSN(SIG_WAIT, .dst = R_ELEM(1)),
		INSN(BARRIER),
		INSN(END),
	};

	return fx_program_insns(fx, code, LENGTH(code), &limits);
}

/* Run it; local memory of the group begins 512 bytes after the store's beginning. */
static void run_copy(struct fixture *fx, struct copy *c)
{
	struct usc_program *program = copy_program(fx, c);

	assert_non_null(program);
	c->group.limits = limits;
	if (!c->group.local_bytes)
		c->group.local_bytes = LOCAL_BYTES;
	fx_clear(fx);
	fx->next_local = 512;
	fx_fill(fx, 0, &c->group, program);
	for (u32 t = 0; t < c->group.tasks; t++) {
		fx_set_base(fx, t, c->base);
		usc_shared(fx->usc, usc_task(fx->usc, t))[2] = c->local;
	}
	usc_group_start(fx->usc, 0);
	fx_run(fx, 100);
	assert_int_equal(fx->done[0], 1);
	fx_put(fx, program);
}

static const u32 *local_words(struct fixture *fx)
{
	return (const u32 *)(const void *)(fx->usc->local + 512);
}

static void fill(struct fixture *fx)
{
	for (u32 n = 0; n < DATA_BYTES / 4; n++)
		((u32 *)(void *)fx->data)[n] = n + 1000;
}

static struct fixture *create(void)
{
	struct fixture *fx = fx_create(DATA_BYTES);

	fill(fx);
	return fx;
}

/* Every word is copied, and no other changes, for any number of waves: across a page too. */
static void usc_group_load_copies_every_word(void **state)
{
	static const struct fx_group shapes[] = {
		{ .tasks = 1, .instances = { 17 } },
		{ .tasks = 1, .instances = { 128 } },
		{ .tasks = 3, .instances = { 128, 128, 1 } },
		{ .tasks = 8, .instances = { 128, 128, 128, 128, 128, 128, 128, 128 } },
		{ .tasks = 3, .instances = { 8, 0, 9 } },
	};
	static const u32 counts[] = { 1, 2, 3, 7, 16, 33, 129, 1000, 1023, 1024 };
	struct fixture *fx = create();

	(void)state;
	for (u32 n = 0; n < 50; n++) {
		u32 words = counts[n % 10];
		struct copy c = {
			.group = shapes[n / 10], .insn = COPY(GROUP_LOAD, words, .disp = 4),
			.base = FX_DATA + 3000, .local = 20,
		};

		run_copy(fx, &c);
		assert_int_equal(fx->faults, 0);
		for (u32 w = 0; w < LOCAL_BYTES / 4; w++)
			assert_int_equal(local_words(fx)[w], w == 0 ? 1 : w >= 5 && w < 5 + words ?
					 1000 + 3004 / 4 + w - 5 : 0);
	}
	fx_destroy(fx);
}

/* Local memory is 1 in its first word and 0 after it. */
static void usc_group_store_copies_every_word(void **state)
{
	struct fixture *fx = create();
	struct copy c = {
		.group = { .tasks = 2, .instances = { 128, 40 } },
		.insn = COPY(GROUP_STORE, 1024), .base = FX_DATA + 2052,
	};

	(void)state;
	run_copy(fx, &c);
	assert_int_equal(fx->faults, 0);
	for (u32 w = 0; w < DATA_BYTES / 4; w++)
		assert_int_equal(((u32 *)(void *)fx->data)[w], w == 513 ? 1 :
				 w > 513 && w < 513 + 1024 ? 0 : w + 1000);
	fx_destroy(fx);
}

#define SHARED_REGS 40u	/* of each task that run_code() runs */

/* Shared register n of a task before the program runs; not of those with the base. */
static u32 initial_shared(u32 task, u32 n)
{
	return 7000 + 100 * task + n;
}

/* From register loaded on, a task has the data from this word on; those below are as they were. */
static void check_shared(struct fixture *fx, u32 task, u32 loaded, u32 word)
{
	const u32 *shared = usc_shared(fx->usc, usc_task(fx->usc, task));

	for (u32 n = 2; n < SHARED_REGS; n++)
		assert_int_equal(shared[n], n < loaded ? initial_shared(task, n) :
				 1000 + word + n - loaded);
}

/* Run code in three waves of a task and 20 lanes of another; SH0 and SH1 the base. */
static void run_code(struct fixture *fx, const struct pumice_usc_insn *code, u32 count, u32 budget)
{
	const struct usc_program_limits many = { .temps = 4, .shared = SHARED_REGS };
	const struct fx_group group = {
		.tasks = 2, .instances = { 96, 20 }, .limits = many, .local_bytes = LOCAL_BYTES,
	};
	struct usc_program *program = fx_program_insns(fx, code, count, &many);

	assert_non_null(program);
	fx_clear(fx);
	fx_fill(fx, 0, &group, program);
	for (u32 t = 0; t < 2; t++) {
		u32 *shared = usc_shared(fx->usc, usc_task(fx->usc, t));

		for (u32 n = 2; n < SHARED_REGS; n++)
			shared[n] = initial_shared(t, n);
		fx_set_base(fx, t, FX_DATA);
	}
	usc_group_start(fx->usc, 0);
	fx_run(fx, budget);
	assert_int_equal(fx->done[0], 1);
	fx_put(fx, program);
}

/* The offset in local memory differs between waves: that of the lowest is used, once. */
static void usc_group_copy_is_executed_once_with_the_operands_of_the_lowest_wave(void **state)
{
	static const u32 budgets[] = { 1, 2, 100, 100000 };
	const struct pumice_usc_insn code[] = {
		INSN(MUL, .form = SCALAR_FORM, .dst = R_ELEM(0), .src0 = SR_ELEM(WAVE_IN_GROUP),
		     .src1 = IMM, .imm = 400),
		INSN(GROUP_LOAD, .src0 = R_ELEM(0), .src2 = SH(0), .words = 11),
		INSN(SIG_DONE1, .dst = R_ELEM(1)),
		INSN(SIG_WAIT, .dst = R_ELEM(2)),
		INSN(MOV, .dst = R(2), .mask = ALWAYS, .src0 = IMM, .imm = 40),
		INSN(LOCAL_LOAD32, .dst = R(3), .mask = ALWAYS, .src0 = R(2)),
		INSN(END),
	};
	struct fixture *fx = create();

	(void)state;
	for (u32 n = 0; n < 4; n++) {
		run_code(fx, code, LENGTH(code), budgets[n]);
		assert_int_equal(fx->faults, 0);
		for (u32 w = 0; w < LOCAL_BYTES / 4; w++)
			assert_int_equal(((u32 *)(void *)fx->usc->local)[w],
					 w < 11 ? 1000 + w : 0);
		/* No barrier: each wave has a signal, and the last word after it has waited. */
		for (u32 w = 0; w < 4; w++) {
			const u32 *regs = fx->usc->unified +
					  usc_wave_regs(usc_task(fx->usc, w / 3), w % 3);

			assert_int_equal(regs[1 * PUMICE_LANES], 0);
			assert_int_equal(regs[3 * PUMICE_LANES], 1010);
		}
	}
	fx_destroy(fx);
}

/* The third wave is elsewhere: the others' fault is at this instruction. */
static void check_unreached(struct fixture *fx, const struct pumice_usc_insn code[5], u32 pc)
{
	run_code(fx, code, 5, 100);
	assert_int_equal(fx->faults, 1);
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_USC_BARRIER);
	assert_int_equal(fx->fault.pc, pc);
	assert_int_equal(((u32 *)(void *)fx->usc->local)[0], 0);
}

static void usc_group_copy_that_a_wave_never_reaches_faults(void **state)
{
	struct pumice_usc_insn code[] = {
		INSN(EQ, .dst = R(0), .src0 = SR(WAVE_IN_GROUP), .src1 = IMM, .imm = 2),
		INSN(BRNZ, .target = 3, .src0 = R_ELEM(0)),
		INSN(GROUP_LOAD, .src0 = SC(0), .src2 = SH(0), .words = 11),
		INSN(END),
		INSN(END),
	};
	struct fixture *fx = create();

	(void)state;
	/* It ends, waits at a barrier, or waits at another copy. */
	for (u32 n = 0; n < 3; n++) {
		if (n == 1)
			code[3] = INSN(BARRIER);
		if (n == 2)
			code[3] = INSN(GROUP_LOAD, .src0 = SC(0), .src2 = SH(0), .words = 11);
		check_unreached(fx, code, 2);
	}
	/* It would continue at the copy. */
	code[1] = INSN(BRZ, .target = 3, .src0 = R_ELEM(0));
	code[2] = INSN(END);
	check_unreached(fx, code, 3);
	code[2] = INSN(BARRIER);
	check_unreached(fx, code, 3);
	fx_destroy(fx);
}

/* Loaded words are in the registers of both tasks; those of the lowest wave's task are stored. */
static void usc_group_copies_to_and_from_the_common_store(void **state)
{
	const struct pumice_usc_insn code[] = {
		INSN(GROUP_STORE_SHARED, .src0 = SH(2), .src2 = SH(0), .disp = 400, .words = 9),
		INSN(GROUP_LOAD_SHARED, .dst = SH(20), .src2 = SH(0), .disp = 8, .words = 20),
		INSN(SIG_WAIT, .dst = R_ELEM(1)),
		INSN(END),
	};
	struct fixture *fx = create();

	(void)state;
	run_code(fx, code, 4, 100);
	assert_int_equal(fx->faults, 0);
	check_shared(fx, 0, 20, 2);
	check_shared(fx, 1, 20, 2);
	for (u32 w = 0; w < DATA_BYTES / 4; w++)
		assert_int_equal(((u32 *)(void *)fx->data)[w],
				 w >= 100 && w < 109 ? initial_shared(0, 2 + w - 100) : 1000 + w);
	fx_destroy(fx);
}

/* Of the wave's own task only: here of the second one. */
static void usc_shared_load_writes_the_registers_of_its_task(void **state)
{
	const struct pumice_usc_insn code[] = {
		INSN(EQ, .dst = R(0), .src0 = SR(TASK_IN_GROUP), .src1 = IMM, .imm = 0),
		INSN(BRNZ, .target = 3, .src0 = R_ELEM(0)),
		INSN(SHARED_LOAD, .dst = SH(24), .src2 = SH(0), .disp = 4, .words = 16),
		INSN(END),
	};
	struct fixture *fx = create();

	(void)state;
	run_code(fx, code, 4, 100);
	assert_int_equal(fx->faults, 0);
	check_shared(fx, 0, SHARED_REGS, 0);
	check_shared(fx, 1, 24, 1);
	fx_destroy(fx);
}

/* The last index whose registers exist, and the next one. */
static void usc_indexed_shared_data_stays_within_the_registers(void **state)
{
	struct pumice_usc_operand to = { .bank = PUMICE_USC_BANK_SH, .num = 4, .idx = 1 };
	struct fixture *fx = create();
	u32 dst;

	(void)state;
	pumice_usc_operand_pack(&dst, &to);
	for (u32 index = 20; index <= 21; index++) {
		const struct pumice_usc_insn code[] = {
			INSN(MOV, .dst = usc_operand(PUMICE_USC_BANK_IDX, 0, false), .mask = ALWAYS,
			     .src0 = IMM, .imm = index),
			INSN(SHARED_LOAD, .dst = dst, .src2 = SH(0), .words = 16),
			INSN(GROUP_LOAD_SHARED, .dst = dst, .src2 = SH(0), .words = 16),
			INSN(END),
		};

		run_code(fx, code, 4, 100);
		assert_int_equal(fx->faults, index == 21);
		assert_int_equal(fx->fault.lane_known, index == 21);
		if (index == 21) {
			assert_int_equal(fx->fault.fault, PUMICE_FAULT_USC_INDEX);
			assert_int_equal(fx->fault.lane, 0);
		} else {
			assert_int_equal(usc_shared(fx->usc, usc_task(fx->usc, 1))[39], 1015);
		}
	}
	fx_destroy(fx);
}

/* Run code in a group of one task; SH0 and SH1 the base. */
static void run_task(struct fixture *fx, const struct fx_group *group,
		     const struct pumice_usc_insn *code, u32 count)
{
	struct usc_program *program = fx_program_insns(fx, code, count, &limits);

	assert_non_null(program);
	fx_clear(fx);
	fx_fill(fx, 0, group, program);
	fx_set_base(fx, 0, FX_DATA);
	usc_group_start(fx->usc, 0);
	fx_run(fx, 100);
	fx_put(fx, program);
}

/* The last wave ends between the copy and the barrier that the others wait at. */
static void usc_barrier_after_a_copy_that_a_wave_never_reaches_faults(void **state)
{
	const struct fx_group group = {
		.tasks = 1, .instances = { 96 }, .limits = limits, .local_bytes = LOCAL_BYTES,
	};
	const struct pumice_usc_insn code[] = {
		INSN(EQ, .dst = R(0), .src0 = SR(WAVE_IN_GROUP), .src1 = IMM, .imm = 2),
		INSN(GROUP_LOAD, .src0 = SC(0), .src2 = SH(0), .words = 10),
		INSN(SIG_WAIT, .dst = R_ELEM(1)),
		INSN(BRNZ, .target = 5, .src0 = R_ELEM(0)),
		INSN(BARRIER),
		INSN(END),
	};
	struct fixture *fx = create();

	(void)state;
	run_task(fx, &group, code, LENGTH(code));
	assert_int_equal(fx->done[0], 1);
	assert_int_equal(fx->faults, 1);
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_USC_BARRIER);
	assert_int_equal(fx->fault.pc, 4);
	/* The copy itself was executed. */
	for (u32 w = 0; w < 10; w++)
		assert_int_equal(((u32 *)(void *)fx->usc->local)[w], 1000 + w);
	fx_destroy(fx);
}

static void check_fault_at(struct fixture *fx, struct copy *c, enum pumice_fault fault,
			   enum pumice_access access, u64 addr)
{
	run_copy(fx, c);
	assert_int_equal(fx->faults, 1);
	assert_int_equal(fx->fault.fault, fault);
	assert_int_equal(fx->fault.unit, PUMICE_UNIT_USC_DATA);
	assert_int_equal(fx->fault.pc, 1);
	assert_int_equal(fx->fault.usc, FX_NUMBER);
	assert_int_equal(fx->fault.access, access);
	assert_true(fx->fault.addr == addr);
}

/* A fault of the instruction, not of its data. */
static void check_fault(struct fixture *fx, struct copy *c, enum pumice_fault fault)
{
	check_fault_at(fx, c, fault, PUMICE_ACCESS_READ, FX_CODE + 16);
}

/* An access to misaligned memory. */
static void check_align_fault(struct fixture *fx, struct copy *c, enum pumice_access access, u64 va)
{
	check_fault_at(fx, c, PUMICE_FAULT_USC_BURST_ALIGN, access, va);
}

/* A copy beyond the allocated local memory. */
static void check_bounds_fault(struct fixture *fx, struct copy *c, u32 offset)
{
	check_fault_at(fx, c, PUMICE_FAULT_USC_LOCAL_BOUNDS, PUMICE_ACCESS_READ, offset);
}

static void usc_group_copy_needs_17_instances(void **state)
{
	const struct pumice_usc_insn copies[] = {
		COPY(GROUP_LOAD, 4), COPY(GROUP_STORE, 4),
		INSN(GROUP_LOAD_SHARED, .dst = SH(0), .src2 = SH(0), .words = 4),
		INSN(GROUP_STORE_SHARED, .src0 = SH(0), .src2 = SH(0), .words = 4),
	};
	struct copy c = {
		.group = { .tasks = 1, .instances = { 16 } },
		.insn = INSN(SHARED_LOAD, .dst = SH(0), .src2 = SH(0), .words = 4), .base = FX_DATA,
	};
	struct fixture *fx = create();

	(void)state;
	/* A burst needs no group. */
	run_copy(fx, &c);
	assert_int_equal(fx->faults, 0);
	for (u32 n = 0; n < 4; n++) {
		c.insn = copies[n];
		c.group = (struct fx_group){ .tasks = 1, .instances = { 16 } };
		check_fault(fx, &c, PUMICE_FAULT_USC_BURST);
		c.group = (struct fx_group){ .tasks = 2, .instances = { 8, 8 } };
		check_fault(fx, &c, PUMICE_FAULT_USC_BURST);
		c.group = (struct fx_group){ .tasks = 2, .instances = { 8, 9 } };
		run_copy(fx, &c);
		assert_int_equal(fx->faults, 0);
	}
	fx_destroy(fx);
}

static void usc_group_copy_addresses_are_4_byte_aligned(void **state)
{
	struct fixture *fx = create();

	(void)state;
	for (u32 odd = 1; odd < 4; odd++) {
		struct copy c = {
			.group = { .tasks = 1, .instances = { 32 } },
			.insn = COPY(GROUP_LOAD, 4), .base = FX_DATA + odd,
		};

		check_align_fault(fx, &c, PUMICE_ACCESS_READ, FX_DATA + odd);
		c.base = FX_DATA;
		c.insn.disp = (u16)odd;
		check_align_fault(fx, &c, PUMICE_ACCESS_READ, FX_DATA + odd);
		c.insn = COPY(GROUP_STORE, 4);
		c.local = odd;
		check_fault_at(fx, &c, PUMICE_FAULT_USC_LOCAL_ALIGN, PUMICE_ACCESS_READ, odd);
		c.insn = INSN(GROUP_LOAD_SHARED, .dst = SH(0), .src2 = SH(0), .disp = (u16)odd,
			      .words = 4);
		check_align_fault(fx, &c, PUMICE_ACCESS_READ, FX_DATA + odd);
		c.insn.opcode = PUMICE_USC_OP_SHARED_LOAD;
		check_align_fault(fx, &c, PUMICE_ACCESS_READ, FX_DATA + odd);
		c.insn = INSN(GROUP_STORE_SHARED, .src0 = SH(0), .src2 = SH(0), .disp = (u16)odd,
			      .words = 4);
		check_align_fault(fx, &c, PUMICE_ACCESS_WRITE, FX_DATA + odd);
	}
	fx_destroy(fx);
}

static void usc_group_copy_stays_within_local_memory(void **state)
{
	struct copy c = {
		.group = { .tasks = 1, .instances = { 32 }, .local_bytes = 64 },
		.insn = COPY(GROUP_LOAD, 16), .base = FX_DATA,
	};
	struct fixture *fx = create();

	(void)state;
	run_copy(fx, &c);
	assert_int_equal(fx->faults, 0);
	c.insn.words = 17;
	check_bounds_fault(fx, &c, 0);
	c.insn.words = 1;
	c.local = 64;
	check_bounds_fault(fx, &c, 64);
	c.local = 0xfffffffcu;
	check_bounds_fault(fx, &c, 0xfffffffcu);
	fx_destroy(fx);
}

/* One wave; the second grain is not mapped. The words before it have been copied. */
static void usc_group_copy_reports_the_first_word_that_faults(void **state)
{
	struct copy c = {
		.group = { .tasks = 1, .instances = { 32 } },
		.insn = COPY(GROUP_STORE, 100), .base = FX_DATA + DATA_BYTES - 40,
	};
	struct fixture *fx = create();

	(void)state;
	run_copy(fx, &c);
	assert_int_equal(fx->faults, 1);
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_MMU_PT_INVALID);
	assert_int_equal(fx->fault.access, PUMICE_ACCESS_WRITE);
	assert_true(fx->fault.addr == FX_DATA + DATA_BYTES);
	for (u32 w = 0; w < 10; w++)
		assert_int_equal(((u32 *)(void *)fx->data)[DATA_BYTES / 4 - 10 + w], w == 0);
	/* To and from the common store, too. */
	c.base = FX_DATA + DATA_BYTES - 4;
	c.insn = INSN(SHARED_LOAD, .dst = SH(2), .src2 = SH(0), .words = 2);
	check_fault_at(fx, &c, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_ACCESS_READ,
		       FX_DATA + DATA_BYTES);
	c.insn.opcode = PUMICE_USC_OP_GROUP_LOAD_SHARED;
	check_fault_at(fx, &c, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_ACCESS_READ,
		       FX_DATA + DATA_BYTES);
	c.insn = INSN(GROUP_STORE_SHARED, .src0 = SH(2), .src2 = SH(0), .words = 2);
	check_fault_at(fx, &c, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_ACCESS_WRITE,
		       FX_DATA + DATA_BYTES);
	c.insn = COPY(GROUP_STORE, 100);
	c.base = (1ull << 40) - 4;
	run_copy(fx, &c);
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_MMU_PC_INVALID);
	c.base = 1ull << 40;
	run_copy(fx, &c);
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_MMU_ADDRESS);
	fx_destroy(fx);
}

static void refuse(struct fixture *fx, struct pumice_usc_insn insn)
{
	struct copy c = { .insn = insn };

	memset(&fx->fault, 0, sizeof(fx->fault));
	assert_null(copy_program(fx, &c));
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_USC_BURST);
}

static void usc_copies_and_windows_of_no_or_too_many_words_are_refused(void **state)
{
	struct fixture *fx = create();

	(void)state;
	refuse(fx, COPY(GROUP_LOAD, 0));
	refuse(fx, COPY(GROUP_LOAD, 1025));
	refuse(fx, COPY(GROUP_STORE, 0));
	refuse(fx, COPY(GROUP_STORE, 32767));
	refuse(fx, INSN(GROUP_LOAD_SHARED, .dst = SH(0), .src2 = SH(0), .words = 0));
	refuse(fx, INSN(GROUP_STORE_SHARED, .src0 = SH(0), .src2 = SH(0), .words = 1025));
	refuse(fx, INSN(SHARED_LOAD, .dst = SH(0), .src2 = SH(0), .words = 17));
	refuse(fx, INSN(DC_WINDOW, .src2 = SH(0), .words = 0));
	refuse(fx, INSN(DC_WINDOW, .src2 = SH(0), .words = 16385));
	fx_destroy(fx);
}

static void usc_window_is_4_byte_aligned(void **state)
{
	struct copy c = {
		.group = { .tasks = 1, .instances = { 1 } },
		.insn = INSN(DC_WINDOW, .src2 = SH(0), .words = 16384), .base = FX_DATA + 2,
	};
	struct fixture *fx = create();

	(void)state;
	check_align_fault(fx, &c, PUMICE_ACCESS_READ, FX_DATA + 2);
	/* Nothing is read before it is used. */
	c.base = 0x123456789cull;
	run_copy(fx, &c);
	assert_int_equal(fx->faults, 0);
	assert_true(fx->usc->wave[0].dc_base == c.base);
	assert_int_equal(fx->usc->wave[0].dc_words, 16384);
	fx_destroy(fx);
}

/* After a fence or a cache operation every signal is done, for any scope. */
static void usc_fence_waits_for_every_signal(void **state)
{
	static const u8 ops[] = {
		PUMICE_USC_OP_MEM_FENCE, PUMICE_USC_OP_CACHE_CLEAN, PUMICE_USC_OP_CACHE_INVALIDATE,
		PUMICE_USC_OP_CACHE_CLEAN_RANGE, PUMICE_USC_OP_CACHE_INVALIDATE_RANGE,
	};
	const struct fx_group group = { .tasks = 1, .instances = { 32 }, .limits = limits };
	struct fixture *fx = create();

	(void)state;
	for (u32 n = 0; n < LENGTH(ops) * PUMICE_USC_SCOPE_COUNT; n++) {
		const u8 op = ops[n / PUMICE_USC_SCOPE_COUNT];
		const bool range = op >= PUMICE_USC_OP_CACHE_CLEAN_RANGE;
		const struct pumice_usc_insn code[] = {
			INSN(GLOBAL_LOAD32, .sig0 = 3, .dst = R(0), .mask = ALWAYS, .src2 = SH(0),
			     .src0 = R(1)),
			INSN(SIG_DONE1, .dst = R_ELEM(2), .sig0 = 3),
			{ .opcode = op, .func = n % PUMICE_USC_SCOPE_COUNT,
			  .words = range ? 16 : 0, .src2 = range ? SH(0) : 0 },
			INSN(SIG_DONE1, .dst = R_ELEM(3), .sig0 = 3),
			INSN(END),
		};

		run_task(fx, &group, code, LENGTH(code));
		assert_int_equal(fx->faults, 0);
		assert_int_equal(fx->usc->unified[2 * PUMICE_LANES], 0);
		assert_int_equal(fx->usc->unified[3 * PUMICE_LANES], 1);
	}
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usc_group_load_copies_every_word),
		cmocka_unit_test(usc_group_store_copies_every_word),
		cmocka_unit_test(usc_group_copy_is_executed_once_with_the_operands_of_the_lowest_wave),
		cmocka_unit_test(usc_group_copy_that_a_wave_never_reaches_faults),
		cmocka_unit_test(usc_group_copies_to_and_from_the_common_store),
		cmocka_unit_test(usc_shared_load_writes_the_registers_of_its_task),
		cmocka_unit_test(usc_indexed_shared_data_stays_within_the_registers),
		cmocka_unit_test(usc_barrier_after_a_copy_that_a_wave_never_reaches_faults),
		cmocka_unit_test(usc_group_copy_needs_17_instances),
		cmocka_unit_test(usc_group_copy_addresses_are_4_byte_aligned),
		cmocka_unit_test(usc_group_copy_stays_within_local_memory),
		cmocka_unit_test(usc_group_copy_reports_the_first_word_that_faults),
		cmocka_unit_test(usc_copies_and_windows_of_no_or_too_many_words_are_refused),
		cmocka_unit_test(usc_window_is_4_byte_aligned),
		cmocka_unit_test(usc_fence_waits_for_every_signal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
