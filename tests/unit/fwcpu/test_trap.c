// SPDX-License-Identifier: MIT
/*
 * Exceptions, interrupts, MRET, WFI and lockup.
 */
#include <stdio.h>

#include "pair.h"
#include "rvasm.h"

/* Interrupts on, as firmware would: mie, then mstatus.MIE. */
static void enable(struct pair *p, uint32_t mie)
{
	p->cpu.arch.mie = mie;
	p->ref.mie = mie;
	p->cpu.arch.mstatus = BIT_MIE;
	p->ref.mie_bit = true;
}

static void exceptions_report_cause_address_and_value(void **state)
{
	const struct {
		uint32_t raw, cause, mtval;
	} cases[] = {
		{ ECALL, CAUSE_ECALL, 0 },
		{ EBREAK, CAUSE_BREAKPOINT, PAIR_CODE },
		{ 0x00009002, CAUSE_BREAKPOINT, PAIR_CODE },	/* c.ebreak */
		{ ILLEGAL, CAUSE_ILLEGAL, ILLEGAL },
		{ 0x12340000, CAUSE_ILLEGAL, 0 },		/* compressed: 16 bits only */
		{ 0x00002000, CAUSE_ILLEGAL, 0x2000 },
		{ LW(7, 0, 5), CAUSE_LOAD_ACCESS, 0x20000000 },
		{ LW(7, 1, 5), CAUSE_LOAD_MISALIGNED, 0x20000001 },
		{ SW(7, 0, 5), CAUSE_STORE_ACCESS, 0x20000000 },
		{ SW(7, 2, 5), CAUSE_STORE_MISALIGNED, 0x20000002 },
	};
	struct pair *p = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pair_restart(p);
		snprintf(p->what, sizeof(p->what), "%#x", cases[i].raw);
		pair_set_x(p, 5, 0x20000000);
		pair_set_x(p, 7, 0x77);
		enable(p, 0);
		PAIR_PROGRAM(p, cases[i].raw);
		assert_int_equal(pair_run(p, 1), FWCPU_STOP_BUDGET);
		assert_int_equal(p->cpu.arch.mcause, cases[i].cause);
		assert_int_equal(p->cpu.arch.mepc, PAIR_CODE);
		assert_int_equal(p->cpu.arch.mtval, cases[i].mtval);
		assert_int_equal(p->cpu.arch.pc, PAIR_HANDLER);
		assert_int_equal(p->cpu.arch.mstatus, BIT_MPIE);
		assert_int_equal(p->cpu.arch.x[7], 0x77);
	}
}

static void mret_returns_and_restores_the_interrupt_enable(void **state)
{
	struct pair *p = *state;

	enable(p, 0);
	PAIR_PROGRAM(p, ECALL, NOP);
	pair_put32(p, PAIR_HANDLER, CSRRS(7, MEPC, 0));
	pair_put32(p, PAIR_HANDLER + 4, ADDI(7, 7, 4));
	pair_put32(p, PAIR_HANDLER + 8, CSRRW(0, MEPC, 7));
	pair_put32(p, PAIR_HANDLER + 12, MRET);
	pair_run(p, 4);
	assert_int_equal(p->cpu.arch.mstatus, BIT_MPIE);
	pair_run(p, 1);
	assert_int_equal(p->cpu.arch.pc, PAIR_CODE + 4);
	assert_int_equal(p->cpu.arch.mstatus, BIT_MIE | BIT_MPIE);
}

static void a_trap_with_interrupts_off_returns_with_them_off(void **state)
{
	struct pair *p = *state;

	PAIR_PROGRAM(p, ECALL);
	pair_put32(p, PAIR_HANDLER, MRET);
	pair_run(p, 2);
	assert_int_equal(p->cpu.arch.mstatus, BIT_MPIE);
}

static void an_interrupt_saves_the_next_instruction_and_disables_interrupts(void **state)
{
	struct pair *p = *state;

	PAIR_PROGRAM(p, NOP, NOP);
	enable(p, BIT_EXTERNAL);
	pair_run(p, 1);
	pair_set_irq(p, true);
	pair_run(p, 0);
	assert_int_equal(p->cpu.arch.mcause, CAUSE_EXTERNAL_IRQ);
	assert_int_equal(p->cpu.arch.mepc, PAIR_CODE + 4);
	assert_int_equal(p->cpu.arch.mtval, 0);
	assert_int_equal(p->cpu.arch.pc, PAIR_HANDLER);
	assert_int_equal(p->cpu.arch.mstatus, BIT_MPIE);

	/* Level still high: no further interrupt until the handler enables them. */
	pair_put32(p, PAIR_HANDLER, NOP);
	pair_run(p, 1);
	assert_int_equal(p->cpu.arch.pc, PAIR_HANDLER + 4);
}

static void interrupts_require_mie_and_their_enable_bit(void **state)
{
	struct pair *p = *state;

	pair_set_irq(p, true);
	pair_set_timer(p, 0);
	PAIR_PROGRAM(p, NOP, NOP, NOP, NOP);
	pair_run(p, 1);
	enable(p, 0);
	pair_run(p, 1);
	enable(p, BIT_TIMER | BIT_EXTERNAL);
	p->cpu.arch.mstatus = 0;
	p->ref.mie_bit = false;
	pair_run(p, 1);
	assert_int_equal(p->cpu.arch.pc, PAIR_CODE + 12);
}

static void external_interrupt_precedes_the_timer(void **state)
{
	struct pair *p = *state;

	pair_set_timer(p, 0);
	pair_set_irq(p, true);
	enable(p, BIT_TIMER | BIT_EXTERNAL);
	pair_run(p, 0);
	assert_int_equal(p->cpu.arch.mcause, CAUSE_EXTERNAL_IRQ);

	/* The handler returns with the line low: the timer interrupt follows, same mepc. */
	pair_set_irq(p, false);
	pair_put32(p, PAIR_HANDLER, MRET);
	pair_run(p, 1);
	assert_int_equal(p->cpu.arch.mcause, CAUSE_TIMER_IRQ);
	assert_int_equal(p->cpu.arch.mepc, PAIR_CODE);
}

static void vectored_mode_spreads_interrupts_and_not_exceptions(void **state)
{
	static const struct {
		bool external;
		uint32_t offset;
	} cases[] = { { true, 4 * 11 }, { false, 4 * 7 } };
	struct pair *p = *state;

	for (int i = 0; i < 2; i++) {
		pair_restart(p);
		p->cpu.arch.mtvec = PAIR_HANDLER | 1;
		p->ref.mtvec = PAIR_HANDLER | 1;
		enable(p, BIT_TIMER | BIT_EXTERNAL);
		pair_set_irq(p, cases[i].external);
		pair_set_timer(p, 0);
		pair_run(p, 0);
		assert_int_equal(p->cpu.arch.pc, PAIR_HANDLER + cases[i].offset);
	}

	pair_restart(p);
	p->cpu.arch.mtvec = PAIR_HANDLER | 1;
	p->ref.mtvec = PAIR_HANDLER | 1;
	PAIR_PROGRAM(p, ECALL);
	pair_run(p, 1);
	assert_int_equal(p->cpu.arch.pc, PAIR_HANDLER);
}

static void a_handler_that_reopens_interrupts_is_interrupted(void **state)
{
	struct pair *p = *state;

	enable(p, BIT_TIMER | BIT_EXTERNAL);
	pair_set_timer(p, 0);
	PAIR_PROGRAM(p, NOP);
	pair_put32(p, PAIR_HANDLER, NOP);
	pair_put32(p, PAIR_HANDLER + 4, CSRRSI(0, MSTATUS, BIT_MIE));
	pair_put32(p, PAIR_HANDLER + 8, ADDI(7, 0, 1));
	pair_run(p, 1);
	pair_set_timer(p, 1000);
	pair_set_irq(p, true);
	/* Taken right after the write that enables interrupts, in the same run. */
	pair_run(p, 2);
	assert_int_equal(p->cpu.arch.x[7], 0);
	assert_int_equal(p->cpu.arch.mcause, CAUSE_EXTERNAL_IRQ);
	assert_int_equal(p->cpu.arch.mepc, PAIR_HANDLER + 8);
	assert_int_equal(p->cpu.arch.mstatus, BIT_MPIE);
}

static void a_pending_interrupt_is_taken_right_after_mret(void **state)
{
	struct pair *p = *state;

	enable(p, BIT_EXTERNAL);
	PAIR_PROGRAM(p, ECALL);
	pair_put32(p, PAIR_HANDLER, MRET);
	pair_run(p, 1);
	pair_set_irq(p, true);
	pair_set_x(p, 6, PAIR_CODE + 4);
	pair_put32(p, PAIR_HANDLER, CSRRW(0, MEPC, 6));
	pair_put32(p, PAIR_HANDLER + 4, MRET);
	pair_put32(p, PAIR_CODE + 4, ADDI(7, 0, 1));
	pair_run(p, 2);
	assert_int_equal(p->cpu.arch.mepc, PAIR_CODE + 4);
	pair_run(p, 10);
	assert_int_equal(p->cpu.arch.x[7], 0);
}

static void an_interrupt_raised_by_a_store_comes_before_the_next_instruction(void **state)
{
	struct pair *p = *state;

	enable(p, BIT_EXTERNAL);
	pair_set_x(p, 5, FX_MMIO_BASE);
	pair_set_x(p, 6, 1);
	PAIR_PROGRAM(p, SW(6, 4 * FX_REG_IRQ, 5), ADDI(7, 0, 1));
	pair_run(p, 1);
	assert_int_equal(p->cpu.arch.mepc, PAIR_CODE + 4);
	assert_int_equal(p->cpu.arch.x[7], 0);
}

static void an_endless_loop_takes_the_interrupt_within_the_poll_interval(void **state)
{
	struct pair *p = *state;

	enable(p, BIT_EXTERNAL);
	PAIR_PROGRAM(p, JAL(0, 0));
	pair_put32(p, PAIR_HANDLER, JAL(0, 0));
	snprintf(p->what, sizeof(p->what), "loop");
	pair_run(p, 1000);
	pair_set_irq(p, true);
	pair_run(p, FWCPU_POLL_INTERVAL);
	assert_int_equal(p->cpu.arch.mcause, CAUSE_EXTERNAL_IRQ);
}

static void wfi_sleeps_until_an_enabled_interrupt(void **state)
{
	struct pair *p = *state;

	enable(p, BIT_EXTERNAL);
	PAIR_PROGRAM(p, WFI, NOP);
	assert_int_equal(pair_run(p, 10), FWCPU_STOP_WFI);
	assert_int_equal(p->cpu.executed, 1);
	assert_false(fwcpu_wakeable(&p->cpu, p->now));
	assert_int_equal(pair_run(p, 10), FWCPU_STOP_WFI);
	assert_int_equal(p->cpu.executed, 0);

	pair_set_irq(p, true);
	assert_true(fwcpu_wakeable(&p->cpu, p->now));
	assert_int_equal(pair_run(p, 0), FWCPU_STOP_BUDGET);
	assert_int_equal(p->cpu.arch.mepc, PAIR_CODE + 4);
	assert_int_equal(p->cpu.arch.pc, PAIR_HANDLER);
}

static void wfi_with_interrupts_off_continues_after_itself(void **state)
{
	struct pair *p = *state;

	enable(p, BIT_TIMER);
	p->cpu.arch.mstatus = 0;
	p->ref.mie_bit = false;
	PAIR_PROGRAM(p, WFI, ADDI(7, 0, 1));
	pair_set_timer(p, 10);
	assert_int_equal(pair_run(p, 5), FWCPU_STOP_WFI);
	p->now = 10;
	assert_true(fwcpu_wakeable(&p->cpu, p->now));
	pair_run(p, 1);
	assert_int_equal(p->cpu.arch.x[7], 1);
}

static void wfi_does_not_sleep_when_an_interrupt_is_already_due(void **state)
{
	struct pair *p = *state;

	p->cpu.arch.mie = BIT_EXTERNAL;
	p->ref.mie = BIT_EXTERNAL;
	pair_set_irq(p, true);
	PAIR_PROGRAM(p, WFI, ADDI(7, 0, 1));
	assert_int_equal(pair_run(p, 2), FWCPU_STOP_BUDGET);
	assert_int_equal(p->cpu.arch.x[7], 1);
}

static void a_disabled_interrupt_does_not_wake(void **state)
{
	struct pair *p = *state;

	enable(p, BIT_TIMER);
	PAIR_PROGRAM(p, WFI);
	pair_set_irq(p, true);
	assert_int_equal(pair_run(p, 5), FWCPU_STOP_WFI);
	assert_false(fwcpu_wakeable(&p->cpu, p->now));
}

static void the_deadline_is_mtimecmp_when_the_timer_is_enabled(void **state)
{
	struct pair *p = *state;

	assert_true(fwcpu_next_deadline(&p->cpu) == FWCPU_NO_DEADLINE);
	pair_set_timer(p, 1234);
	assert_true(fwcpu_next_deadline(&p->cpu) == FWCPU_NO_DEADLINE);
	p->cpu.arch.mie = BIT_TIMER;
	assert_true(fwcpu_next_deadline(&p->cpu) == 1234);
}

static void the_timer_fires_at_its_tick_and_not_before(void **state)
{
	struct pair *p = *state;

	enable(p, BIT_TIMER);
	PAIR_PROGRAM(p, NOP, NOP);
	pair_set_timer(p, 100);
	p->now = 99;
	pair_run(p, 1);
	assert_int_equal(p->cpu.arch.pc, PAIR_CODE + 4);
	p->now = 100;
	pair_run(p, 0);
	assert_int_equal(p->cpu.arch.mcause, CAUSE_TIMER_IRQ);
}

static void lockup(struct pair *p, uint32_t cause, uint32_t pc, uint32_t tval)
{
	assert_int_equal(p->cpu.arch.state, FWCPU_STATE_LOCKUP);
	assert_int_equal(p->cpu.arch.lockup_cause, cause);
	assert_int_equal(p->cpu.arch.lockup_pc, pc);
	assert_int_equal(p->cpu.arch.lockup_tval, tval);
	assert_false(fwcpu_wakeable(&p->cpu, p->now));
	assert_int_equal(pair_run(p, 10), FWCPU_STOP_LOCKUP);
	assert_int_equal(p->cpu.executed, 0);
}

static void a_trap_without_a_handler_locks_up(void **state)
{
	struct pair *p = *state;

	PAIR_PROGRAM(p, NOP, ILLEGAL);
	p->cpu.arch.mtvec = 1;		/* vectored, and still no handler */
	p->ref.mtvec = 1;
	assert_int_equal(pair_run(p, 10), FWCPU_STOP_LOCKUP);
	assert_int_equal(p->cpu.executed, 2);
	lockup(p, CAUSE_ILLEGAL, PAIR_CODE + 4, ILLEGAL);
}

static void an_interrupt_without_a_handler_locks_up(void **state)
{
	struct pair *p = *state;

	p->cpu.arch.mtvec = 0;
	p->ref.mtvec = 0;
	enable(p, BIT_EXTERNAL);
	pair_set_irq(p, true);
	assert_int_equal(pair_run(p, 10), FWCPU_STOP_LOCKUP);
	lockup(p, CAUSE_EXTERNAL_IRQ, PAIR_CODE, 0);
}

static void a_handler_that_faults_at_its_first_instruction_locks_up(void **state)
{
	struct pair *p = *state;

	PAIR_PROGRAM(p, ECALL);
	pair_put32(p, PAIR_HANDLER, ILLEGAL);
	assert_int_equal(pair_run(p, 100), FWCPU_STOP_LOCKUP);
	assert_int_equal(p->cpu.executed, 3);
	lockup(p, CAUSE_ILLEGAL, PAIR_HANDLER, ILLEGAL);
}

static void a_handler_outside_ram_locks_up(void **state)
{
	struct pair *p = *state;

	p->cpu.arch.mtvec = FX_WINDOW_BASE;
	p->ref.mtvec = FX_WINDOW_BASE;
	PAIR_PROGRAM(p, ECALL);
	assert_int_equal(pair_run(p, 100), FWCPU_STOP_LOCKUP);
	lockup(p, CAUSE_FETCH_ACCESS, FX_WINDOW_BASE, FX_WINDOW_BASE);
}

static void a_handler_that_faults_on_its_broken_stack_locks_up(void **state)
{
	struct pair *p = *state;

	pair_set_x(p, 2, 0x20000000);
	PAIR_PROGRAM(p, ECALL);
	pair_put32(p, PAIR_HANDLER, ADDI(2, 2, -64));
	pair_put32(p, PAIR_HANDLER + 4, SW(1, 0, 2));
	assert_int_equal(pair_run(p, 100), FWCPU_STOP_LOCKUP);
	lockup(p, CAUSE_STORE_ACCESS, PAIR_HANDLER + 4, 0x20000000 - 128);
}

static void a_nested_exception_that_makes_progress_does_not_lock_up(void **state)
{
	struct pair *p = *state;

	/* The handler faults once itself, restores mepc explicitly and returns twice. */
	PAIR_PROGRAM(p, ECALL, JAL(0, 0));
	pair_put32(p, PAIR_HANDLER, BNE(7, 0, 12));
	pair_put32(p, PAIR_HANDLER + 4, ADDI(7, 0, 1));
	pair_put32(p, PAIR_HANDLER + 8, ECALL);
	pair_set_x(p, 6, PAIR_CODE + 4);
	pair_put32(p, PAIR_HANDLER + 12, CSRRW(0, MEPC, 6));
	pair_put32(p, PAIR_HANDLER + 16, MRET);
	assert_int_equal(pair_run(p, 50), FWCPU_STOP_BUDGET);
	assert_int_equal(p->cpu.arch.pc, PAIR_CODE + 4);
}

static void the_same_exception_again_after_mret_does_not_lock_up(void **state)
{
	struct pair *p = *state;

	PAIR_PROGRAM(p, ECALL);
	pair_put32(p, PAIR_HANDLER, MRET);
	assert_int_equal(pair_run(p, 1000), FWCPU_STOP_BUDGET);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, pair_setup, pair_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(exceptions_report_cause_address_and_value),
		TEST(mret_returns_and_restores_the_interrupt_enable),
		TEST(a_trap_with_interrupts_off_returns_with_them_off),
		TEST(an_interrupt_saves_the_next_instruction_and_disables_interrupts),
		TEST(interrupts_require_mie_and_their_enable_bit),
		TEST(external_interrupt_precedes_the_timer),
		TEST(vectored_mode_spreads_interrupts_and_not_exceptions),
		TEST(a_handler_that_reopens_interrupts_is_interrupted),
		TEST(a_pending_interrupt_is_taken_right_after_mret),
		TEST(an_interrupt_raised_by_a_store_comes_before_the_next_instruction),
		TEST(an_endless_loop_takes_the_interrupt_within_the_poll_interval),
		TEST(wfi_sleeps_until_an_enabled_interrupt),
		TEST(wfi_with_interrupts_off_continues_after_itself),
		TEST(wfi_does_not_sleep_when_an_interrupt_is_already_due),
		TEST(a_disabled_interrupt_does_not_wake),
		TEST(the_deadline_is_mtimecmp_when_the_timer_is_enabled),
		TEST(the_timer_fires_at_its_tick_and_not_before),
		TEST(a_trap_without_a_handler_locks_up),
		TEST(an_interrupt_without_a_handler_locks_up),
		TEST(a_handler_that_faults_at_its_first_instruction_locks_up),
		TEST(a_handler_outside_ram_locks_up),
		TEST(a_handler_that_faults_on_its_broken_stack_locks_up),
		TEST(a_nested_exception_that_makes_progress_does_not_lock_up),
		TEST(the_same_exception_again_after_mret_does_not_lock_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
