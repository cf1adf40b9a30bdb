// SPDX-License-Identifier: MIT
/*
 * Data of loads to slot registers and pixel outputs that arrive late: of words that the waves of a
 * task share, and of the samples of pixels. Other registers are in test_late.c.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "exec.h"
#include "late_code.h"

/* Add a load of SL1 with signal 3. */
static void add_slot_load(struct code *c, u16 mask)
{
	add(c, INSN(GLOBAL_LOAD32, .sig0 = 3, .dst = SL(1), .mask = mask, .src2 = SH(0),
		    .src0 = R(0)));
}

/* Each way to use a slot register: as a row and as a scalar, read and written. */
static void late_slot_registers_are_reported(void **state)
{
	const struct {
		struct pumice_usc_insn use;
		bool write;
	} cases[] = {
		{ INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = SL(1)), false },
		{ INSN(ADD, .form = SCALAR_FORM, .dst = R_ELEM(1), .src0 = SL(1), .src1 = IMM),
		  false },
		{ INSN(MOV, .dst = SL(1), .mask = ALWAYS, .src0 = IMM), true },
		{ INSN(SIG_WAIT, .dst = SL(1), .sig0 = 3), true },
		{ INSN(GLOBAL_LOAD32, .dst = SL(1), .mask = ALWAYS, .src2 = SH(0), .src0 = R(0)),
		  true },
	};
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	for (u32 n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		begin(&c);
		add_slot_load(&c, ALWAYS);
		add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = SL(0)));
		add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = SL(2)));
		add(&c, cases[n].use);
		run(fx, &c, GROUP);
		assert_late(fx, &c, SL(1), false, cases[n].write);
		assert_int_equal(fx->usc->slot_reg[0][1], PUMICE_USC_POISON);
	}
	begin(&c);
	add_slot_load(&c, IF_NOT(MASK_K(ALO8)));
	add(&c, INSN(SIG_WAIT, .dst = R_ELEM(2), .sig0 = 3));
	add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = SL(1)));
	/* A load in no lane is not under way. */
	add_slot_load(&c, IF(MASK_K(ZERO)));
	add(&c, INSN(MOV, .dst = R(4), .mask = ALWAYS, .src0 = SL(1)));
	run(fx, &c, GROUP);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(result(fx, 1), LOADED + 8);
	assert_int_equal(result(fx, 4), LOADED + 8);
	fx_destroy(fx);
}

/*
 * The waves of a task load a slot register together, in lanes of the first wave, of the second,
 * or of both. One of them does not wait.
 */
static void each_wave_waits_for_a_slot_register_of_its_task(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	for (u32 n = 0; n < 9; n++) {
		const u32 hasty = n / 3;	/* a wave, or neither of them */
		const u32 active = n % 3;	/* a wave, or both of them */
		u32 branch;

		begin(&c);
		add(&c, INSN(ADD, .dst = R(5), .src1 = IMM, .imm = active == 1 ? 0 : 1,
			     .src0 = usc_operand(PUMICE_USC_BANK_SR, PUMICE_USC_SR_WAVE_IN_GROUP,
						 false)));
		add_slot_load(&c, active == 2 ? ALWAYS : IF(MASK_R(5)));
		branch = c.insns;
		if (hasty == 0)
			add(&c, INSN(BRZ, .target = branch + 2, .src0 = SR_ELEM(WAVE_IN_GROUP)));
		else if (hasty == 1)
			add(&c, INSN(BRNZ, .target = branch + 2, .src0 = SR_ELEM(WAVE_IN_GROUP)));
		add(&c, INSN(SIG_WAIT, .dst = R_ELEM(3), .sig0 = 3));
		add(&c, INSN(BARRIER));
		add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = SL(1)));
		run(fx, &c, 2 * GROUP);
		if (hasty < 2) {
			assert_late(fx, &c, SL(1), false, false);
			assert_int_equal(fx->fault.wave, hasty);
			continue;
		}
		assert_int_equal(fx->faults, 0);
		for (u32 w = 0; w < 2; w++)
			assert_int_equal(wave_result(fx, w, 1), LOADED);
	}
	fx_destroy(fx);
}

/* Without poison: the previous contents until the access is complete. */
static void slot_registers_arrive_when_the_access_is_complete(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_DATA);
	struct code c;

	(void)state;
	begin(&c);
	add(&c, INSN(MOV, .dst = SL(1), .mask = ALWAYS, .src0 = IMM, .imm = BEFORE));
	add_slot_load(&c, ALWAYS);
	for (u32 n = 0; n < USC_GLOBAL_LATENCY; n++)
		add(&c, INSN(MOV, .dst = R(2), .mask = ALWAYS, .src0 = SL(1)));
	add(&c, INSN(MOV, .dst = R(3), .mask = ALWAYS, .src0 = SL(1)));
	run(fx, &c, GROUP);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(result(fx, 2), BEFORE);
	assert_int_equal(result(fx, 3), LOADED);
	fx_destroy(fx);
}

/* Branch to target in one of two waves. */
static void add_branch_of(struct code *c, u32 wave, u32 target)
{
	if (wave)
		add(c, INSN(BRNZ, .target = target, .src0 = SR_ELEM(WAVE_IN_GROUP)));
	else
		add(c, INSN(BRZ, .target = target, .src0 = SR_ELEM(WAVE_IN_GROUP)));
}

/*
 * The last of some rounds in which two waves load SL1 together, in lanes of loader, or of both.
 * The other wave reads it in each slot after the load: in the last one as R3, before as R2.
 */
static void add_round_and_reads(struct code *c, u32 rounds, u32 loader)
{
	const u32 reader = loader == 0;
	const u16 mask = loader < 2 ? IF(MASK_R(5)) : ALWAYS;

	for (u32 n = 0; n < rounds; n++) {
		if (n)
			add(c, INSN(SIG_WAIT, .dst = R_ELEM(4), .sig0 = 3));
		add(c, INSN(MOV, .dst = SL(1), .mask = ALWAYS, .src0 = IMM, .imm = BEFORE));
		add_slot_load(c, mask);
	}
	/* The branch is the first slot. */
	add_branch_of(c, !reader, c->insns + 1 + USC_GLOBAL_LATENCY);
	for (u32 n = 1; n < USC_GLOBAL_LATENCY; n++)
		add(c, INSN(MOV, .dst = R(2), .mask = ALWAYS, .src0 = SL(1)));
	add(c, INSN(MOV, .dst = R(3), .mask = ALWAYS, .src0 = SL(1)));
	add(c, INSN(BARRIER));
}

/*
 * The same for a wave that has executed the load without an active lane before the other wave's
 * lanes load, for one that executes it next, and after an earlier load by both.
 */
static void slot_registers_of_two_waves_arrive_when_the_access_is_complete(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_DATA);
	struct code c;

	(void)state;
	for (u32 n = 0; n < 6; n++) {
		const u32 loader = n % 3, reader = loader == 0;

		begin(&c);
		add(&c, INSN(ADD, .dst = R(5), .src1 = IMM, .imm = loader == 1 ? 0 : 1,
			     .src0 = usc_operand(PUMICE_USC_BANK_SR, PUMICE_USC_SR_WAVE_IN_GROUP,
						 false)));
		add_round_and_reads(&c, 1 + n / 3, loader);
		run(fx, &c, 2 * GROUP);
		assert_int_equal(fx->faults, 0);
		assert_int_equal(wave_result(fx, reader, 2), BEFORE);
		assert_int_equal(wave_result(fx, reader, 3), LOADED);
	}
	fx_destroy(fx);
}

/* A wave that waits at a barrier while the other one loads again does not have to wait. */
static void a_wave_need_not_wait_for_a_load_that_it_does_not_execute(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	for (u32 n = 0; n < 2; n++) {
		begin(&c);
		add_slot_load(&c, ALWAYS);
		add(&c, INSN(SIG_WAIT, .dst = R_ELEM(4), .sig0 = 3));
		add_branch_of(&c, n, c.insns + 3);
		add_slot_load(&c, ALWAYS);
		add(&c, INSN(SIG_WAIT, .dst = R_ELEM(4), .sig0 = 3));
		add(&c, INSN(BARRIER));
		add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = SL(1)));
		run(fx, &c, 2 * GROUP);
		assert_int_equal(fx->faults, 0);
		for (u32 w = 0; w < 2; w++)
			assert_int_equal(wave_result(fx, w, 1), LOADED);
	}
	fx_destroy(fx);
}

/* Nor does a wave in the place of one whose group faulted between the waves of a load. */
static void a_new_wave_has_executed_no_load_to_a_slot_register(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct code c;

	(void)state;
	begin(&c);
	add(&c, INSN(ADD, .dst = R(0), .src0 = R(0), .src1 = IMM, .imm = 1));
	add(&c, INSN(MOV, .dst = R(5), .mask = ALWAYS,
		     .src0 = usc_operand(PUMICE_USC_BANK_SR, PUMICE_USC_SR_WAVE_IN_GROUP, false)));
	add_slot_load(&c, IF(MASK_R(5)));
	run(fx, &c, 2 * GROUP);
	assert_int_equal(fx->faults, 1);
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_USC_GLOBAL_ALIGN);
	assert_int_equal(fx->fault.wave, 1);
	begin(&c);
	add_branch_of(&c, 0, c.insns + 3);
	add_slot_load(&c, ALWAYS);
	add(&c, INSN(SIG_WAIT, .dst = R_ELEM(4), .sig0 = 3));
	add(&c, INSN(BARRIER));
	add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = SL(1)));
	run(fx, &c, 2 * GROUP);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(wave_result(fx, 0, 1), LOADED);
	fx_destroy(fx);
}

/* A group of two tasks: the waves of the first end, those of the second load SL1 many times. */
static struct usc_program *two_task_program(struct fixture *fx)
{
	struct code c;
	u32 loop;

	begin(&c);
	add(&c, INSN(SHR, .form = SCALAR_FORM, .dst = R_ELEM(6), .src0 = SR_ELEM(WAVE_IN_GROUP),
		     .src1 = IMM, .imm = 1));
	add(&c, INSN(BRZ, .target = c.insns + 6, .src0 = R_ELEM(6)));
	add(&c, INSN(MOV, .form = SCALAR_FORM, .dst = R_ELEM(7), .src0 = IMM, .imm = 2000));
	loop = c.insns;
	add_slot_load(&c, ALWAYS);
	add(&c, INSN(SIG_WAIT, .dst = R_ELEM(4), .sig0 = 3));
	add(&c, INSN(SUB, .form = SCALAR_FORM, .dst = R_ELEM(7), .src0 = R_ELEM(7), .src1 = IMM,
		     .imm = 1));
	add(&c, INSN(BRNZ, .target = loop, .src0 = R_ELEM(7)));
	return program_of(fx, &c, &late_limits);
}

/* A group in whose first wave no lane loads SL1: its wait is sufficient. */
static struct usc_program *second_wave_loads(struct fixture *fx)
{
	struct code c;

	begin(&c);
	add(&c, INSN(MOV, .dst = R(5), .mask = ALWAYS,
		     .src0 = usc_operand(PUMICE_USC_BANK_SR, PUMICE_USC_SR_WAVE_IN_GROUP, false)));
	add_slot_load(&c, IF(MASK_R(5)));
	add_branch_of(&c, 1, c.insns + 3);
	add(&c, INSN(SIG_WAIT, .dst = R_ELEM(4), .sig0 = 3));
	add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = SL(1)));
	add(&c, INSN(BARRIER));
	return program_of(fx, &c, &late_limits);
}

/*
 * A group has the places of waves of another one, whose task has ended. The other group's waves
 * load while this one has executed its load in the first of two waves only.
 */
static void loads_of_a_group_are_separate_from_those_in_its_earlier_places(void **state)
{
	const struct fx_group first = { .tasks = 2, .instances = { 2 * GROUP, 2 * GROUP },
					.limits = late_limits };
	const struct fx_group second = { .tasks = 1, .instances = { 2 * GROUP },
					 .limits = late_limits };
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct usc_program *program[] = { two_task_program(fx), second_wave_loads(fx) };
	struct usc *usc = fx->usc;
	u32 between = 0;

	(void)state;
	fx_fill(fx, 0, &first, program[0]);
	fx_set_base(fx, 1, FX_DATA);
	usc_group_start(fx->usc, 0);
	while (!fx->tasks_done)
		assert_true(usc_step(fx->usc, 1, NULL));
	assert_int_equal(fx->task_done[0], 0);
	fx->next_slot = 0;
	fx_fill(fx, 1, &second, program[1]);
	fx_set_base(fx, 0, FX_DATA);
	usc_group_start(fx->usc, 1);
	while (usc_step(fx->usc, 1, NULL)) {
		if (usc->run[1].together != 2)
			continue;
		/* The turn of the second group ends between its waves, for several loads. */
		if (usc->current == 1) {
			usc->left = 0;
			for (u32 w = 0; w < 2; w++)
				usc->wave[usc->run[1].wave[w]].resume = usc->slots + 1000;
		}
		between += usc->current == 0;
	}
	assert_true(between > 4);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(fx->done[0] + fx->done[1], 2);
	assert_int_equal(wave_result(fx, 0, 1), LOADED);
	fx_put(fx, program[0]);
	fx_put(fx, program[1]);
	fx_destroy(fx);
}

/* A tile of two samples a pixel and a wave whose first pixel has no second sample. */
struct tile {
	u32 words[2][2][PUMICE_TILE_PIXELS];	/* of a sample's register */
	struct usc_span span[USC_WAVE_SPANS];
};

static u32 emitted;	/* O1 of lane 0 in the last operation pbe */

static bool emit(const struct usc_gfx *gfx, const u32 state[8], struct gpu_fault *fault)
{
	(void)state, (void)fault;
	emitted = gfx->tile->outputs[PUMICE_TILE_PIXELS + 4];
	return true;
}

static void run_stage(struct fixture *fx, struct code *c, struct tile *t, enum usc_stage stage)
{
	static const struct usc_gfx_ops ops = { .pbe = emit };
	const struct usc_tile tile = { .pixels = PUMICE_TILE_PIXELS, .outputs = t->words[0][0],
				       .words = 2, .samples = 2, .width = 16, .height = 16 };
	const struct usc_gfx gfx = { .stage = (u8)stage, .sample = USC_PIXEL_RATE,
				     .ops = &ops, .discards = true, .tile = &tile, .span = t->span,
				     .spans = USC_WAVE_SPANS };
	struct fx_group group = { .tasks = 1, .instances = { GROUP }, .limits = late_limits,
				  .gfx = &gfx, .prims = 1 };

	group.limits.stage = stage;
	group.limits.outputs = 2;
	for (u32 s = 0; s < 4; s++)
		for (u32 n = 0; n < PUMICE_TILE_PIXELS; n++)
			t->words[s / 2][s % 2][n] = BEFORE;
	for (u32 n = 0; n < USC_WAVE_SPANS; n++)
		t->span[n] = (struct usc_span){ .quad = (u8)(n + 1),
						.samples = n ? 0x3333 : 0x3331,
						.covered = 0x3333 };
	run_group(fx, c, &group);
}

static void run_fragments(struct fixture *fx, struct code *c, struct tile *t)
{
	run_stage(fx, c, t, USC_STAGE_FRAGMENT);
}

/* Add a load of lane n's word n to O1 with signal 3. */
static void add_output_load(struct code *c)
{
	add(c, INSN(GLOBAL_LOAD32, .sig0 = 3, .dst = O(1), .mask = ALWAYS, .src2 = SH(0),
		    .src0 = R(0)));
}

/* O1 is loaded in both samples of each pixel, except in the sample that is not covered. */
static void assert_loaded(const struct tile *t)
{
	for (u32 l = 0; l < GROUP; l++) {
		assert_int_equal(t->words[0][1][4 + l], LOADED + l);
		assert_int_equal(t->words[1][1][4 + l], l ? LOADED + l : BEFORE);
		assert_int_equal(t->words[0][0][4 + l], BEFORE);
	}
}

/* Each way to use a pixel output: by number and by index, read and written. */
static void late_pixel_outputs_are_reported(void **state)
{
	const u32 indexed = usc_operand(PUMICE_USC_BANK_O, 0, false);
	struct pumice_usc_operand by_index;
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	static struct tile t;
	struct code c;
	u32 raw;

	(void)state;
	pumice_usc_operand_unpack(&indexed, &by_index);
	by_index.idx = 1;
	pumice_usc_operand_pack(&raw, &by_index);
	for (u32 n = 0; n < 4; n++) {
		const u32 place = n / 2 ? raw : O(1);

		begin(&c);
		add(&c, INSN(SHR, .dst = IDX(0), .src0 = K(SID), .src1 = IMM, .imm = 4));
		add_output_load(&c);
		add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = O(0)));
		if (n % 2)
			add(&c, INSN(MOV, .dst = place, .mask = ALWAYS, .src0 = IMM));
		else
			add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = place));
		run_fragments(fx, &c, &t);
		assert_late(fx, &c, O(1), false, n % 2);
		assert_int_equal(t.words[0][1][5], PUMICE_USC_POISON);
		assert_int_equal(t.words[1][1][4], BEFORE);
	}
	/* Each lane loads the register that its index selects. */
	begin(&c);
	add(&c, INSN(SHR, .dst = IDX(0), .src0 = K(SID), .src1 = IMM, .imm = 4));
	add(&c, INSN(GLOBAL_LOAD32, .sig0 = 3, .dst = raw, .mask = ALWAYS, .src2 = SH(0),
		     .src0 = R(0)));
	add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = O(1)));
	run_fragments(fx, &c, &t);
	assert_late(fx, &c, O(1), false, false);
	assert_int_equal(t.words[0][0][4 + 15], PUMICE_USC_POISON);
	assert_int_equal(t.words[0][0][4 + 16], BEFORE);
	assert_int_equal(t.words[0][1][4 + 15], BEFORE);
	assert_int_equal(t.words[0][1][4 + 16], PUMICE_USC_POISON);
	fx_destroy(fx);
}

/* Operation pbe emits a tile only after the wait for its outputs. */
static void late_pixel_outputs_are_not_emitted(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	static struct tile t;
	struct code c;

	(void)state;
	for (u32 n = 0; n < 2; n++) {
		begin(&c);
		add_output_load(&c);
		if (n)
			add(&c, INSN(SIG_WAIT, .dst = R_ELEM(2), .sig0 = 3));
		add(&c, INSN(PBE, .src0 = SH(0)));
		emitted = 0;
		run_stage(fx, &c, &t, USC_STAGE_TILE);
		if (n) {
			assert_int_equal(fx->faults, 0);
			assert_int_equal(emitted, LOADED);
		} else {
			assert_late(fx, &c, O(1), false, false);
			assert_int_equal(emitted, 0);
		}
	}
	fx_destroy(fx);
}

/* After a wait, or at the end, the tile has the data, in pixels that are dropped meanwhile too. */
static void pixel_outputs_arrive_with_a_wait(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	static struct tile t;
	struct code c;

	(void)state;
	for (u32 n = 0; n < 3; n++) {
		begin(&c);
		add_output_load(&c);
		if (n == 1)
			add(&c, INSN(DISCARD, .mask = IF(MASK_K(LO16))));
		if (n < 2)
			add(&c, INSN(SIG_WAIT, .dst = R_ELEM(2), .sig0 = 3));
		if (!n)
			add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = O(1)));
		run_fragments(fx, &c, &t);
		assert_int_equal(fx->faults, 0);
		assert_loaded(&t);
		if (!n)
			assert_int_equal(result(fx, 1), LOADED + 1);
	}
	/* The next wave in the place of one that faulted has none. */
	begin(&c);
	add_output_load(&c);
	add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = O(1)));
	run_fragments(fx, &c, &t);
	assert_int_equal(fx->faults, 1);
	begin(&c);
	add_load(&c);
	add(&c, INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = O(1)));
	run_fragments(fx, &c, &t);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(result(fx, 1), BEFORE);
	fx_destroy(fx);
}

/* Without poison: the previous contents until the access is complete. */
static void pixel_outputs_arrive_when_the_access_is_complete(void **state)
{
	struct fixture *fx = fixture_of(USC_LATE_DATA);
	static struct tile t;
	struct code c;

	(void)state;
	begin(&c);
	add_output_load(&c);
	for (u32 n = 0; n < USC_GLOBAL_LATENCY; n++)
		add(&c, INSN(MOV, .dst = R(2), .mask = ALWAYS, .src0 = O(1)));
	add(&c, INSN(MOV, .dst = R(3), .mask = ALWAYS, .src0 = O(1)));
	run_fragments(fx, &c, &t);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(result(fx, 2), BEFORE);
	assert_int_equal(result(fx, 3), LOADED + 1);
	assert_loaded(&t);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late_slot_registers_are_reported),
		cmocka_unit_test(each_wave_waits_for_a_slot_register_of_its_task),
		cmocka_unit_test(slot_registers_arrive_when_the_access_is_complete),
		cmocka_unit_test(slot_registers_of_two_waves_arrive_when_the_access_is_complete),
		cmocka_unit_test(a_wave_need_not_wait_for_a_load_that_it_does_not_execute),
		cmocka_unit_test(a_new_wave_has_executed_no_load_to_a_slot_register),
		cmocka_unit_test(loads_of_a_group_are_separate_from_those_in_its_earlier_places),
		cmocka_unit_test(late_pixel_outputs_are_reported),
		cmocka_unit_test(late_pixel_outputs_are_not_emitted),
		cmocka_unit_test(pixel_outputs_arrive_with_a_wait),
		cmocka_unit_test(pixel_outputs_arrive_when_the_access_is_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
