// SPDX-License-Identifier: MIT
/*
 * Control and status registers: implemented bits of each, effects of the access
 * instructions, counting of the counters.
 */
#include <stdio.h>

#include "pair.h"
#include "rvasm.h"

static void run_program(struct pair *p, const uint32_t *words, size_t count)
{
	pair_restart(p);
	pair_code(p, words, count);
	pair_run(p, (uint32_t)count);
}

#define RUN(p, ...) \
	run_program(p, (const uint32_t[]) { __VA_ARGS__ }, \
		    sizeof((const uint32_t[]) { __VA_ARGS__ }) / 4)

static uint32_t x(const struct pair *p, unsigned int reg)
{
	return p->cpu.arch.x[reg];
}

static void registers_store_their_implemented_bits(void **state)
{
	static const struct {
		uint32_t csr, ones, zeros;
	} cases[] = {
		{ MSTATUS, BIT_MPP | BIT_MIE | BIT_MPIE, BIT_MPP },
		{ MISA, 0x40001104, 0x40001104 },
		{ MIE, BIT_TIMER | BIT_EXTERNAL, 0 },
		{ MTVEC, 0xfffffffd, 0 },
		{ MSCRATCH, 0xffffffff, 0 },
		{ MEPC, 0xfffffffe, 0 },
		{ MCAUSE, 0xffffffff, 0 },
		{ MTVAL, 0xffffffff, 0 },
		{ MIP, 0, 0 },
		{ 0x306, 0, 0 },		/* mcounteren */
		{ 0x310, 0, 0 },		/* mstatush */
		{ 0x320, 0, 0 },		/* mcountinhibit */
		{ 0xb03, 0, 0 },		/* mhpmcounter3 */
		{ 0xb9f, 0, 0 },		/* mhpmcounter31h */
		{ 0x33f, 0, 0 },		/* mhpmevent31 */
	};
	struct pair *p = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int32_t csr = (int32_t)cases[i].csr;

		snprintf(p->what, sizeof(p->what), "csr %#x", cases[i].csr);
		RUN(p, ADDI(5, 0, -1), CSRRW(0, csr, 5), CSRRS(6, csr, 0), CSRRW(0, csr, 0),
		    CSRRS(7, csr, 0));
		assert_int_equal(x(p, 6), cases[i].ones);
		assert_int_equal(x(p, 7), cases[i].zeros);
		assert_int_equal(p->cpu.arch.pc, PAIR_CODE + 20);
	}
}

static void set_and_clear_change_the_named_bits_and_return_the_old_value(void **state)
{
	struct pair *p = *state;

	RUN(p, ADDI(5, 0, 0x0f0), ADDI(6, 0, 0x03c), CSRRW(7, MSCRATCH, 5),
	    CSRRS(8, MSCRATCH, 6), CSRRC(9, MSCRATCH, 6), CSRRSI(10, MSCRATCH, 3),
	    CSRRCI(11, MSCRATCH, 1), CSRRWI(12, MSCRATCH, 31), CSRRS(13, MSCRATCH, 0));
	assert_int_equal(x(p, 7), 0);
	assert_int_equal(x(p, 8), 0x0f0);
	assert_int_equal(x(p, 9), 0x0fc);
	assert_int_equal(x(p, 10), 0x0c0);
	assert_int_equal(x(p, 11), 0x0c3);
	assert_int_equal(x(p, 12), 0x0c2);
	assert_int_equal(x(p, 13), 31);
}

static void a_register_is_read_before_the_same_register_is_written(void **state)
{
	struct pair *p = *state;

	RUN(p, ADDI(5, 0, 0x111), CSRRW(0, MSCRATCH, 5), ADDI(5, 0, 0x222), CSRRW(5, MSCRATCH, 5),
	    CSRRS(6, MSCRATCH, 0));
	assert_int_equal(x(p, 5), 0x111);
	assert_int_equal(x(p, 6), 0x222);
}

static void identity_registers_can_be_read_and_not_written(void **state)
{
	struct pair *p = *state;

	RUN(p, CSRRS(7, MHARTID, 0), CSRRS(8, MVENDORID, 0), CSRRSI(9, MHARTID, 0));
	assert_int_equal(x(p, 7), PAIR_HART);
	assert_int_equal(x(p, 8), 0);
	assert_int_equal(x(p, 9), PAIR_HART);

	RUN(p, CSRRWI(7, MHARTID, 0));
	assert_int_equal(p->cpu.arch.mcause, CAUSE_ILLEGAL);
	assert_int_equal(p->cpu.arch.mtval, CSRRWI(7, MHARTID, 0));
	RUN(p, CSRRS(7, CYCLE, 5));
	assert_int_equal(p->cpu.arch.mcause, CAUSE_ILLEGAL);
	assert_int_equal(x(p, 7), 0);
}

static void registers_of_absent_modes_are_illegal(void **state)
{
	/* medeleg, mideleg, menvcfg, sstatus, satp, pmpcfg0, tselect, dcsr, hpmcounter3 */
	static const int32_t absent[] = {
		0x302, 0x303, 0x30a, 0x100, 0x180, 0x3a0, 0x7a0, 0x7b0, 0xc03,
	};
	struct pair *p = *state;

	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		RUN(p, CSRRS(7, absent[i], 0));
		assert_int_equal(p->cpu.arch.mcause, CAUSE_ILLEGAL);
		assert_int_equal(p->cpu.arch.mtval, CSRRS(7, absent[i], 0));
	}
}

static void counters_count_the_instructions_before_the_reading_one(void **state)
{
	struct pair *p = *state;

	RUN(p, NOP, NOP, CSRRS(7, INSTRET, 0), CSRRS(8, MINSTRET, 0), CSRRS(9, CYCLE, 0));
	assert_int_equal(x(p, 7), 2);
	assert_int_equal(x(p, 8), 3);
	assert_int_equal(x(p, 9), 4);
}

static void a_written_counter_has_that_value_at_the_next_instruction(void **state)
{
	struct pair *p = *state;

	RUN(p, ADDI(5, 0, 100), CSRRW(0, MINSTRET, 5), CSRRS(7, MINSTRET, 0), CSRRW(0, MCYCLE, 5),
	    CSRRS(8, MCYCLE, 0));
	assert_int_equal(x(p, 7), 100);
	assert_int_equal(x(p, 8), 100);
}

static void counters_carry_into_their_high_half(void **state)
{
	struct pair *p = *state;

	RUN(p, ADDI(5, 0, -1), CSRRW(0, MINSTRET, 5), NOP, CSRRS(7, MINSTRET, 0),
	    CSRRS(8, MINSTRETH, 0), CSRRW(0, MINSTRETH, 5), CSRRW(0, MINSTRET, 5), NOP,
	    CSRRS(9, MINSTRETH, 0));
	assert_int_equal(x(p, 7), 0);
	assert_int_equal(x(p, 8), 1);
	assert_int_equal(x(p, 9), 0);
}

static void a_trapping_instruction_takes_a_cycle_and_does_not_retire(void **state)
{
	struct pair *p = *state;

	pair_restart(p);
	PAIR_PROGRAM(p, NOP, ECALL);
	pair_put32(p, PAIR_HANDLER, NOP);
	pair_run(p, 3);
	assert_int_equal(p->cpu.arch.mcycle, 3);
	assert_int_equal(p->cpu.arch.minstret, 2);
}

static void time_is_set_by_the_caller(void **state)
{
	struct pair *p = *state;

	pair_restart(p);
	PAIR_PROGRAM(p, CSRRS(7, TIME, 0), CSRRS(8, TIMEH, 0));
	p->now = 0x123456789aull;
	pair_run(p, 2);
	assert_int_equal(x(p, 7), 0x3456789a);
	assert_int_equal(x(p, 8), 0x12);
}

static void mip_shows_lines_and_timer_whether_enabled_or_not(void **state)
{
	struct pair *p = *state;

	PAIR_PROGRAM(p, CSRRS(7, MIP, 0), CSRRS(8, MIP, 0), CSRRS(9, MIP, 0));
	pair_set_timer(p, 50);
	p->now = 49;
	pair_run(p, 1);
	assert_int_equal(x(p, 7), 0);
	p->now = 50;
	pair_run(p, 1);
	assert_int_equal(x(p, 8), BIT_TIMER);
	pair_set_irq(p, true);
	pair_set_timer(p, 51);
	pair_run(p, 1);
	assert_int_equal(x(p, 9), BIT_EXTERNAL);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, pair_setup, pair_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(registers_store_their_implemented_bits),
		TEST(set_and_clear_change_the_named_bits_and_return_the_old_value),
		TEST(a_register_is_read_before_the_same_register_is_written),
		TEST(identity_registers_can_be_read_and_not_written),
		TEST(registers_of_absent_modes_are_illegal),
		TEST(counters_count_the_instructions_before_the_reading_one),
		TEST(a_written_counter_has_that_value_at_the_next_instruction),
		TEST(counters_carry_into_their_high_half),
		TEST(a_trapping_instruction_takes_a_cycle_and_does_not_retire),
		TEST(time_is_set_by_the_caller),
		TEST(mip_shows_lines_and_timer_whether_enabled_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
