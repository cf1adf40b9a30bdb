// SPDX-License-Identifier: MIT
/*
 * The uniform stream: order of its words, waves, its end, pages, and stages without one.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "exec.h"
#include "fixture.h"

#define WORDS		40u	/* of the stream, unless a test has others */
#define STREAM_AT	3840u	/* in the data: 64 words before the end of the first page */
#define MAX_INSNS	64u

static u32 code[MAX_INSNS * PUMICE_USC_WORDS];
static u32 insns;

/* Each word of the data is its offset in words plus this. */
static u32 word_at(u32 n)
{
	return 0xabc00000u + n * 3;
}

static void begin(void)
{
	insns = 0;
}

static void put(struct pumice_usc_insn insn)
{
	assert_true(insns < MAX_INSNS);
	usc_put(code, insns++, insn);
}

/* Run the program in a task of the stage with this number of instances. Returns the task. */
static const struct usc_task *run(struct fixture *fx, u32 stage, u32 words, u32 instances)
{
	static struct usc_span span[PUMICE_TASK_INSTANCES / USC_SPAN_LANES];
	static const struct usc_tile tile = { .samples = 1, .width = 32, .height = 32 };
	static struct usc_gfx gfx;
	const struct usc_program_limits limits = { .temps = 16, .shared = 2, .slot_regs = 1,
						   .stage = stage };
	const struct fx_group group = {
		.tasks = 1, .instances = { instances }, .limits = limits,
		.gfx = stage == USC_STAGE_COMPUTE ? NULL : &gfx,
	};
	struct usc_program *program;
	u32 n;

	for (n = 0; n < PUMICE_TASK_INSTANCES / USC_SPAN_LANES; n++)
		span[n] = (struct usc_span){ .quad = (u8)n, .samples = 0x1111 };
	gfx = (struct usc_gfx){
		.stage = (u8)stage, .sample = USC_PIXEL_RATE, .uniforms = FX_DATA + STREAM_AT,
		.uniform_words = words, .tile = &tile, .span = span,
		.spans = instances / USC_SPAN_LANES,
	};
	for (n = 0; n < FX_DATA_BYTES / 4; n++)
		((u32 *)(void *)fx->data)[n] = word_at(n);
	put(INSN(END));
	program = fx_program(fx, code, insns, &limits);
	assert_non_null(program);
	fx_run_group(fx, &group, program);
	fx_put(fx, program);
	return usc_task(fx->usc, usc_group(fx->usc, 0)->slot[0]);
}

/* Word n of the stream. */
static u32 uniform(u32 n)
{
	return word_at(STREAM_AT / 4 + n);
}

static const u32 *temp(struct fixture *fx, const struct usc_task *task, u32 wave, u32 n)
{
	return fx->usc->unified + usc_wave_regs(task, wave) + n * USC_ROW_WORDS;
}

static void usc_uniforms_are_read_in_order_by_each_wave(void **state)
{
	struct fixture *fx = *state;
	const struct usc_task *task;
	u32 w, n, l;

	begin();
	for (n = 0; n < 16; n++)
		put(INSN(MOV, .dst = R(n), .mask = ALWAYS, .src0 = SR(UNIFORM)));
	task = run(fx, USC_STAGE_VERTEX, WORDS, 70);
	assert_int_equal(fx->faults, 0);
	for (w = 0; w < 3; w++)
		for (n = 0; n < 16; n++)
			for (l = 0; l < PUMICE_LANES; l++)
				assert_int_equal(temp(fx, task, w, n)[l], uniform(n));
}

/* Sources are read from the first on; scalar forms, and masks that are false, read a word, too. */
static void usc_each_operand_is_the_next_uniform(void **state)
{
	struct fixture *fx = *state;
	const struct usc_task *task;

	begin();
	put(INSN(SUB, .dst = R(0), .src0 = SR(UNIFORM), .src1 = SR(UNIFORM)));
	put(INSN(SUB, .form = SCALAR_FORM, .dst = R_ELEM(1), .src0 = SR_ELEM(UNIFORM),
		 .src1 = SR_ELEM(UNIFORM)));
	put(INSN(MOV, .dst = R(2), .mask = IF_NOT(MASK_K(ONE)), .src0 = SR(UNIFORM)));
	put(INSN(MAD, .dst = R(3), .src0 = SR(UNIFORM), .src1 = SR(UNIFORM), .src2 = SR(UNIFORM)));
	put(INSN(MOV, .dst = R(4), .mask = ALWAYS, .src0 = SR_ELEM(UNIFORM)));
	/* Written once for the task: the wave that does not provide the value reads a word, too. */
	put(INSN(MOV, .dst = usc_operand(PUMICE_USC_BANK_SL, 0, false), .mask = ALWAYS,
		 .src0 = SR(UNIFORM)));
	put(INSN(MOV, .dst = R(5), .mask = ALWAYS,
		 .src0 = usc_operand(PUMICE_USC_BANK_SL, 0, false)));
	put(INSN(MOV, .dst = R(6), .mask = ALWAYS, .src0 = SR(UNIFORM)));
	task = run(fx, USC_STAGE_VERTEX, WORDS, 64);
	assert_int_equal(fx->faults, 0);
	for (u32 w = 0; w < 2; w++) {
		assert_int_equal(temp(fx, task, w, 0)[9], uniform(0) - uniform(1));
		assert_int_equal(temp(fx, task, w, 1)[0], uniform(2) - uniform(3));
		assert_int_equal(temp(fx, task, w, 2)[9], 0);
		assert_int_equal(temp(fx, task, w, 3)[9], uniform(5) * uniform(6) + uniform(7));
		assert_int_equal(temp(fx, task, w, 4)[9], uniform(8));
		assert_int_equal(temp(fx, task, w, 5)[9], uniform(9));
		assert_int_equal(temp(fx, task, w, 6)[9], uniform(10));
	}
}

/* A branch that reads a word does so each time; loops of fragments, over a page. */
static void usc_loops_read_on(void **state)
{
	struct fixture *fx = *state;
	const struct usc_task *task;
	u32 sum = 0, n;

	begin();
	put(INSN(MOV, .form = SCALAR_FORM, .dst = R_ELEM(1), .src0 = IMM, .imm = 100));
	put(INSN(ADD, .dst = R(0), .src0 = R(0), .src1 = SR(UNIFORM)));
	put(INSN(SUB, .form = SCALAR_FORM, .dst = R_ELEM(1), .src0 = R_ELEM(1), .src1 = IMM,
		 .imm = 1));
	put(INSN(BRNZ, .target = 1, .src0 = R_ELEM(1)));
	put(INSN(BRNZ, .target = 6, .src0 = SR_ELEM(UNIFORM)));
	put(INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = IMM, .imm = 0));
	put(INSN(MOV, .dst = R(2), .mask = ALWAYS, .src0 = SR(UNIFORM)));
	task = run(fx, USC_STAGE_FRAGMENT, 102, 64);
	assert_int_equal(fx->faults, 0);
	for (n = 0; n < 100; n++)
		sum += uniform(n);
	assert_int_equal(temp(fx, task, 0, 0)[5], sum);
	assert_int_equal(temp(fx, task, 1, 0)[31], sum);
	assert_int_equal(temp(fx, task, 1, 2)[31], uniform(101));
}

static void must_fault(struct fixture *fx, enum pumice_fault fault, u32 pc)
{
	assert_int_equal(fx->faults, 1);
	assert_int_equal(fx->fault.fault, fault);
	assert_int_equal(fx->fault.pc, pc);
}

static void usc_a_read_beyond_the_uniforms_faults(void **state)
{
	struct fixture *fx = *state;

	begin();
	for (u32 n = 0; n < 4; n++)
		put(INSN(MOV, .dst = R(n), .mask = ALWAYS, .src0 = SR(UNIFORM)));
	put(INSN(ADD, .dst = R(5), .src0 = SR(UNIFORM), .src1 = SR(UNIFORM)));
	run(fx, USC_STAGE_VERTEX, 6, 32);
	assert_int_equal(fx->faults, 0);
	insns--;
	run(fx, USC_STAGE_VERTEX, 5, 32);
	must_fault(fx, PUMICE_FAULT_USC_UNIFORM, 4);
	insns--;
	run(fx, USC_STAGE_VERTEX, 0, 32);
	must_fault(fx, PUMICE_FAULT_USC_UNIFORM, 0);
	insns--;
	run(fx, USC_STAGE_COMPUTE, 40, 32);
	must_fault(fx, PUMICE_FAULT_USC_UNIFORM, 0);
}

/* The data end 128 words after the page that the stream begins in. */
static void usc_uniforms_outside_of_memory_fault(void **state)
{
	struct fixture *fx = *state;
	const u32 mapped = (FX_DATA_BYTES - STREAM_AT) / 4;

	begin();
	put(INSN(MOV, .form = SCALAR_FORM, .dst = R_ELEM(1), .src0 = IMM, .imm = mapped));
	put(INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = SR(UNIFORM)));
	put(INSN(SUB, .form = SCALAR_FORM, .dst = R_ELEM(1), .src0 = R_ELEM(1), .src1 = IMM,
		 .imm = 1));
	put(INSN(BRNZ, .target = 1, .src0 = R_ELEM(1)));
	put(INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = SR(UNIFORM)));
	run(fx, USC_STAGE_VERTEX, mapped + 10, 32);
	must_fault(fx, PUMICE_FAULT_MMU_PT_INVALID, 4);
	assert_int_equal(fx->fault.addr, FX_DATA + FX_DATA_BYTES);
}

/* Fetched words are kept until mem_fence. */
static void usc_fetched_uniforms_are_dropped_by_a_fence(void **state)
{
	struct fixture *fx = *state;
	const struct usc_task *task;

	begin();
	put(INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = SR(UNIFORM)));
	put(INSN(MOV, .form = SCALAR_FORM, .dst = R_ELEM(4), .src0 = IMM,
		 .imm = (u32)(FX_DATA + STREAM_AT)));
	put(INSN(MOV, .dst = R(6), .mask = ALWAYS, .src0 = IMM, .imm = 4));
	put(INSN(GLOBAL_STORE32, .mask = ALWAYS, .src2 = R_ELEM(4), .src0 = R(6), .src1 = R(6)));
	put(INSN(GLOBAL_STORE32, .mask = ALWAYS, .src2 = R_ELEM(4), .src0 = R(6), .src1 = R(6),
		 .disp = 4));
	put(INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = SR(UNIFORM)));
	put(INSN(MEM_FENCE, .func = PUMICE_USC_SCOPE_GROUP));
	put(INSN(MOV, .dst = R(2), .mask = ALWAYS, .src0 = SR(UNIFORM)));
	task = run(fx, USC_STAGE_VERTEX, WORDS, 32);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(temp(fx, task, 0, 0)[0], uniform(0));
	assert_int_equal(temp(fx, task, 0, 1)[0], uniform(1));
	assert_int_equal(temp(fx, task, 0, 2)[0], 4);
}

/* It is read only. */
static void usc_refuses_to_write_the_uniform_register(void **state)
{
	struct fixture *fx = *state;
	const struct usc_program_limits limits = { .temps = 16, .stage = USC_STAGE_VERTEX };
	const struct pumice_usc_insn bad[] = {
		INSN(MOV, .mask = ALWAYS, .dst = SR(UNIFORM), .src0 = R(0)),
		INSN(MOV, .form = SCALAR_FORM, .dst = SR_ELEM(UNIFORM), .src0 = R_ELEM(0)),
		INSN(GLOBAL_LOAD32, .mask = ALWAYS, .dst = SR(UNIFORM), .src0 = R(0)),
	};

	for (u32 n = 0; n < sizeof(bad) / sizeof(bad[0]); n++) {
		assert_null(fx_program_insns(fx, &bad[n], 1, &limits));
		assert_int_equal(fx->fault.fault, PUMICE_FAULT_USC_OPERAND);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FX_TEST(usc_uniforms_are_read_in_order_by_each_wave),
		FX_TEST(usc_each_operand_is_the_next_uniform),
		FX_TEST(usc_loops_read_on),
		FX_TEST(usc_a_read_beyond_the_uniforms_faults),
		FX_TEST(usc_uniforms_outside_of_memory_fault),
		FX_TEST(usc_fetched_uniforms_are_dropped_by_a_fence),
		FX_TEST(usc_refuses_to_write_the_uniform_register),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
