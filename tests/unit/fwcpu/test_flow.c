// SPDX-License-Identifier: MIT
/*
 * Branches, jumps, and valid addresses of code: only in private RAM, to its last
 * halfword.
 */
#include <stdio.h>

#include "pair.h"
#include "rvasm.h"

/* C.NOP, as a halfword. */
#define C_NOP		0x0001u
#define LAST_HALFWORD	(FX_RAM_SIZE - 2)

static void run_at(struct pair *p, uint32_t pc, const char *what)
{
	snprintf(p->what, sizeof(p->what), "%s at %#x", what, pc);
	pair_set_pc(p, pc);
	pair_run(p, 1);
}

static void every_branch_agrees_for_every_pair_of_operands(void **state)
{
	static const uint32_t values[] = { 0, 1, 0x7fffffff, 0x80000000, 0xffffffff };
	static const int32_t distances[] = { 8, -8, 2, 4, 0, 4094, -4096 };
	struct pair *p = *state;
	unsigned int seen = 0;

	for (size_t i = 0; i < ref_ops32_count; i++) {
		if (ref_ops32[i].format != REF_B)
			continue;
		seen++;
		for (size_t n = 0; n < 5 * 5 * 7; n++) {
			pair_put32(p, PAIR_CODE, rv_b(ref_ops32[i].match, 5, 6, distances[n / 25]));
			pair_set_x(p, 5, values[n % 5]);
			pair_set_x(p, 6, values[n / 5 % 5]);
			run_at(p, PAIR_CODE, ref_ops32[i].name);
		}
	}
	assert_int_equal(seen, 6);
}

static void branches_compare_according_to_their_names(void **state)
{
	static const struct {
		uint32_t match;
		bool less, equal, greater;	/* for -1 and 1 as signed numbers */
	} cases[] = {
		{ 0x0063, false, true, false },		/* beq */
		{ 0x1063, true, false, true },		/* bne */
		{ 0x4063, true, false, false },		/* blt */
		{ 0x5063, false, true, true },		/* bge */
		{ 0x6063, false, false, true },		/* bltu: -1 is the largest */
		{ 0x7063, true, true, false },		/* bgeu */
	};
	static const uint32_t operands[3][2] = { { 0xffffffff, 1 }, { 7, 7 }, { 1, 0xffffffff } };
	struct pair *p = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool taken[3] = { cases[i].less, cases[i].equal, cases[i].greater };

		pair_put32(p, PAIR_CODE, rv_b(cases[i].match, 5, 6, 16));
		for (int n = 0; n < 3; n++) {
			pair_set_x(p, 5, operands[n][0]);
			pair_set_x(p, 6, operands[n][1]);
			run_at(p, PAIR_CODE, "branch");
			assert_int_equal(p->cpu.arch.pc, PAIR_CODE + (taken[n] ? 16 : 4));
		}
	}
}

static void jumps_link_the_next_instruction(void **state)
{
	struct pair *p = *state;

	pair_put32(p, PAIR_CODE, JAL(1, 0x100));
	run_at(p, PAIR_CODE, "jal");
	assert_int_equal(p->cpu.arch.pc, PAIR_CODE + 0x100);
	assert_int_equal(p->cpu.arch.x[1], PAIR_CODE + 4);

	pair_put16(p, PAIR_CODE, 0x2001);	/* c.jal . */
	run_at(p, PAIR_CODE, "c.jal");
	assert_int_equal(p->cpu.arch.pc, PAIR_CODE);
	assert_int_equal(p->cpu.arch.x[1], PAIR_CODE + 2);

	pair_set_x(p, 5, 0x200);
	pair_put16(p, PAIR_CODE, 0x9282);	/* c.jalr x5 */
	run_at(p, PAIR_CODE, "c.jalr");
	assert_int_equal(p->cpu.arch.pc, 0x200);
	assert_int_equal(p->cpu.arch.x[1], PAIR_CODE + 2);
}

static void jalr_reads_its_target_before_it_links_and_clears_bit_0(void **state)
{
	struct pair *p = *state;

	pair_set_x(p, 5, 0x203);
	pair_put32(p, PAIR_CODE, JALR(5, 5, -2));
	run_at(p, PAIR_CODE, "jalr");
	assert_int_equal(p->cpu.arch.pc, 0x200);
	assert_int_equal(p->cpu.arch.x[5], PAIR_CODE + 4);

	pair_set_x(p, 1, 0x300);
	pair_put16(p, PAIR_CODE, 0x9082);	/* c.jalr x1 */
	run_at(p, PAIR_CODE, "c.jalr");
	assert_int_equal(p->cpu.arch.pc, 0x300);
}

static void a_jump_out_of_ram_faults_at_its_target(void **state)
{
	static const uint32_t targets[] = {
		FX_RAM_SIZE, FX_RAM_SIZE + 2, FX_MMIO_BASE, FX_WINDOW_BASE, 0x7ffffffe,
		0xfffffffe,
	};
	struct pair *p = *state;

	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		pair_restart(p);
		pair_set_x(p, 5, targets[i]);
		PAIR_PROGRAM(p, JALR(1, 5, 0));
		snprintf(p->what, sizeof(p->what), "jalr to %#x", targets[i]);
		pair_run(p, 1);
		assert_int_equal(p->cpu.arch.pc, targets[i]);
		assert_int_equal(p->cpu.arch.x[1], PAIR_CODE + 4);
		pair_run(p, 1);
		assert_int_equal(p->cpu.arch.mcause, CAUSE_FETCH_ACCESS);
		assert_int_equal(p->cpu.arch.mepc, targets[i]);
		assert_int_equal(p->cpu.arch.mtval, targets[i]);
		assert_int_equal(p->cpu.arch.minstret, 1);
	}
}

static void a_jump_out_of_ram_faults_in_the_same_run_too(void **state)
{
	struct pair *p = *state;

	pair_set_x(p, 5, FX_WINDOW_BASE);
	PAIR_PROGRAM(p, JALR(1, 5, 0));
	snprintf(p->what, sizeof(p->what), "jalr");
	pair_run(p, 2);
	assert_int_equal(p->cpu.arch.mcause, CAUSE_FETCH_ACCESS);
	assert_int_equal(p->cpu.arch.mtval, FX_WINDOW_BASE);

	pair_restart(p);
	pair_put32(p, 0, JAL(1, -2));
	pair_set_pc(p, 0);
	pair_run(p, 2);
	assert_int_equal(p->cpu.arch.mcause, CAUSE_FETCH_ACCESS);
	assert_int_equal(p->cpu.arch.mtval, 0xfffffffe);
}

static void code_runs_to_the_last_halfword_and_faults_after_it(void **state)
{
	struct pair *p = *state;

	pair_put16(p, LAST_HALFWORD, C_NOP);
	run_at(p, LAST_HALFWORD, "c.nop");
	assert_int_equal(p->cpu.arch.pc, FX_RAM_SIZE);
	pair_run(p, 1);
	assert_int_equal(p->cpu.arch.mcause, CAUSE_FETCH_ACCESS);
	assert_int_equal(p->cpu.arch.mepc, FX_RAM_SIZE);
	assert_int_equal(p->cpu.arch.mtval, FX_RAM_SIZE);

	/* The same without a stop between. */
	pair_restart(p);
	pair_put16(p, LAST_HALFWORD, C_NOP);
	pair_set_pc(p, LAST_HALFWORD);
	pair_run(p, 2);
	assert_int_equal(p->cpu.arch.mepc, FX_RAM_SIZE);
	assert_int_equal(p->cpu.arch.minstret, 1);
}

static void an_instruction_cut_by_the_end_of_ram_faults_at_the_end(void **state)
{
	struct pair *p = *state;

	pair_put16(p, LAST_HALFWORD, NOP & 0xffff);
	run_at(p, LAST_HALFWORD, "half a nop");
	assert_int_equal(p->cpu.arch.mcause, CAUSE_FETCH_ACCESS);
	assert_int_equal(p->cpu.arch.mepc, LAST_HALFWORD);
	assert_int_equal(p->cpu.arch.mtval, FX_RAM_SIZE);

	/* A compressed instruction at the same address is complete. */
	pair_put16(p, LAST_HALFWORD, C_NOP);
	run_at(p, LAST_HALFWORD, "c.nop");
	assert_int_equal(p->cpu.arch.pc, FX_RAM_SIZE);
}

static void four_byte_instructions_need_only_halfword_alignment(void **state)
{
	struct pair *p = *state;

	pair_put16(p, PAIR_CODE, C_NOP);
	pair_put32(p, PAIR_CODE + 2, ADDI(7, 0, 77));
	pair_set_pc(p, PAIR_CODE);
	pair_run(p, 2);
	assert_int_equal(p->cpu.arch.x[7], 77);
	assert_int_equal(p->cpu.arch.pc, PAIR_CODE + 6);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, pair_setup, pair_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_branch_agrees_for_every_pair_of_operands),
		TEST(branches_compare_according_to_their_names),
		TEST(jumps_link_the_next_instruction),
		TEST(jalr_reads_its_target_before_it_links_and_clears_bit_0),
		TEST(a_jump_out_of_ram_faults_at_its_target),
		TEST(a_jump_out_of_ram_faults_in_the_same_run_too),
		TEST(code_runs_to_the_last_halfword_and_faults_after_it),
		TEST(an_instruction_cut_by_the_end_of_ram_faults_at_the_end),
		TEST(four_byte_instructions_need_only_halfword_alignment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
