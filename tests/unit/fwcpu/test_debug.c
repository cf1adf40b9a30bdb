// SPDX-License-Identifier: MIT
/*
 * Breakpoints and single steps. A processor that is debugged computes what the reference,
 * which has no breakpoints, computes.
 */
#include <errno.h>

#include "debug.h"
#include "pair.h"
#include "rvasm.h"

#define AT(n)	(PAIR_CODE + 4 * (n))

/* Run the processor alone. */
static enum fwcpu_stop run(struct pair *p, uint32_t budget)
{
	return fwcpu_run(&p->cpu, budget, p->now);
}

static void a_breakpoint_stops_before_its_instruction(void **state)
{
	struct pair *p = *state;

	PAIR_PROGRAM(p, ADDI(7, 7, 1), ADDI(8, 8, 1), JAL(0, -8));
	assert_int_equal(fwcpu_add_breakpoint(&p->cpu, AT(1)), 0);
	assert_int_equal(run(p, 1000), FWCPU_STOP_BREAK);
	assert_int_equal(p->cpu.arch.pc, AT(1));
	assert_int_equal(p->cpu.arch.x[7], 1);
	assert_int_equal(p->cpu.arch.x[8], 0);
	assert_int_equal(p->cpu.executed, 1);
	assert_int_equal(p->cpu.arch.minstret, 1);
	/* Running again stops again; a step continues. */
	assert_int_equal(run(p, 1000), FWCPU_STOP_BREAK);
	assert_int_equal(p->cpu.executed, 0);
	fwcpu_step(&p->cpu, p->now);
	assert_int_equal(p->cpu.arch.pc, AT(2));
	assert_int_equal(p->cpu.arch.x[8], 1);
	assert_int_equal(run(p, 1000), FWCPU_STOP_BREAK);
	assert_int_equal(p->cpu.arch.x[7], 2);
	assert_int_equal(p->cpu.arch.x[8], 1);
}

static void a_breakpoint_is_found_in_code_that_has_run(void **state)
{
	struct pair *p = *state;

	PAIR_PROGRAM(p, ADDI(7, 7, 1), JAL(0, -4));
	assert_int_equal(run(p, 10), FWCPU_STOP_BUDGET);
	assert_int_equal(fwcpu_add_breakpoint(&p->cpu, AT(1)), 0);
	assert_int_equal(run(p, 10), FWCPU_STOP_BREAK);
	assert_int_equal(fwcpu_remove_breakpoint(&p->cpu, AT(1)), 0);
	assert_int_equal(run(p, 10), FWCPU_STOP_BUDGET);
	assert_int_equal(fwcpu_remove_breakpoint(&p->cpu, AT(1)), -ENOENT);
}

static void a_breakpoint_survives_stores_fence_i_and_reset(void **state)
{
	struct pair *p = *state;

	/* The program stores the instruction that has the breakpoint anew, and flushes. */
	PAIR_PROGRAM(p, LW(9, 12, 5), SW(9, 12, 5), FENCE_I, ADDI(7, 7, 1), JAL(0, -16));
	p->cpu.arch.x[5] = PAIR_CODE;
	assert_int_equal(fwcpu_add_breakpoint(&p->cpu, AT(3)), 0);
	assert_int_equal(run(p, 100), FWCPU_STOP_BREAK);
	assert_int_equal(p->cpu.arch.pc, AT(3));
	fwcpu_step(&p->cpu, p->now);
	assert_int_equal(run(p, 100), FWCPU_STOP_BREAK);
	assert_int_equal(p->cpu.arch.x[7], 1);

	fwcpu_reset(&p->cpu);
	fwcpu_start(&p->cpu, AT(3));
	assert_int_equal(run(p, 100), FWCPU_STOP_BREAK);
	fwcpu_remove_breakpoints(&p->cpu);
	assert_int_equal(run(p, 1), FWCPU_STOP_BUDGET);
	assert_int_equal(p->cpu.arch.x[7], 1);
}

static void a_store_next_to_a_breakpoint_changes_its_instruction(void **state)
{
	struct pair *p = *state;
	const uint32_t changed = ADDI(7, 7, 64);

	PAIR_PROGRAM(p, SW(9, 4, 5), ADDI(7, 7, 1), JAL(0, -4));
	p->cpu.arch.x[5] = PAIR_CODE;
	p->cpu.arch.x[9] = changed;
	assert_int_equal(fwcpu_add_breakpoint(&p->cpu, AT(1)), 0);
	assert_int_equal(run(p, 100), FWCPU_STOP_BREAK);
	fwcpu_step(&p->cpu, p->now);
	assert_int_equal(p->cpu.arch.x[7], 64);
}

static void compressed_instructions_have_breakpoints(void **state)
{
	struct pair *p = *state;

	/* c.addi x7, 1; c.addi x7, 1; c.j -4 */
	pair_put16(p, PAIR_CODE, 0x0385);
	pair_put16(p, PAIR_CODE + 2, 0x0385);
	pair_put16(p, PAIR_CODE + 4, 0xbff5);
	assert_int_equal(fwcpu_add_breakpoint(&p->cpu, PAIR_CODE + 2), 0);
	assert_int_equal(run(p, 100), FWCPU_STOP_BREAK);
	assert_int_equal(p->cpu.arch.pc, PAIR_CODE + 2);
	fwcpu_step(&p->cpu, p->now);
	assert_int_equal(p->cpu.arch.pc, PAIR_CODE + 4);
	assert_int_equal(p->cpu.arch.x[7], 2);
}

static void impossible_breakpoints_are_refused(void **state)
{
	struct pair *p = *state;
	uint32_t i;

	assert_int_equal(fwcpu_add_breakpoint(&p->cpu, 1), -EINVAL);
	assert_int_equal(fwcpu_add_breakpoint(&p->cpu, FX_RAM_SIZE), -EINVAL);
	assert_int_equal(fwcpu_add_breakpoint(&p->cpu, FX_WINDOW_BASE), -EINVAL);
	assert_int_equal(fwcpu_add_breakpoint(&p->cpu, FX_RAM_SIZE - 2), 0);
	for (i = 1; i < FWCPU_BREAKPOINTS; i++)
		assert_int_equal(fwcpu_add_breakpoint(&p->cpu, 4 * i), 0);
	assert_int_equal(fwcpu_add_breakpoint(&p->cpu, 4 * i), -ENOSPC);
	/* An address that has a breakpoint does not use another entry. */
	assert_int_equal(fwcpu_add_breakpoint(&p->cpu, 4), 0);
	fwcpu_remove_breakpoints(&p->cpu);
	assert_false(fwcpu_has_breakpoint(&p->cpu, 4));
}

static void a_step_takes_no_interrupt_and_a_run_does(void **state)
{
	struct pair *p = *state;

	PAIR_PROGRAM(p, ADDI(7, 7, 1), ADDI(7, 7, 1), JAL(0, -8));
	pair_put32(p, PAIR_HANDLER, JAL(0, 0));
	p->cpu.arch.mie = BIT_EXTERNAL;
	p->cpu.arch.mstatus = BIT_MIE;
	fwcpu_set_irq(&p->cpu, true);
	fwcpu_step(&p->cpu, p->now);
	assert_int_equal(p->cpu.arch.pc, AT(1));
	assert_int_equal(p->cpu.executed, 1);
	run(p, 1);
	assert_int_equal(p->cpu.arch.mepc, AT(1));
	assert_int_equal(p->cpu.arch.mcause, CAUSE_EXTERNAL_IRQ);
}

/* The interrupt that is due is not taken between the breakpoint and the halt. */
static void a_breakpoint_is_reported_where_it_is(void **state)
{
	struct pair *p = *state;

	PAIR_PROGRAM(p, SW(6, 0, 5), ADDI(7, 7, 1), JAL(0, -4));
	p->cpu.arch.mie = BIT_EXTERNAL;
	assert_int_equal(fwcpu_add_breakpoint(&p->cpu, AT(1)), 0);
	p->cpu.arch.mstatus = BIT_MIE;
	p->cpu.arch.x[5] = FX_MMIO_BASE + 4 * 5;
	assert_int_equal(run(p, 1), FWCPU_STOP_BUDGET);
	assert_int_equal(run(p, 100), FWCPU_STOP_BREAK);
	fwcpu_set_irq(&p->cpu, true);
	assert_int_equal(p->cpu.arch.pc, AT(1));
	/* Due when the run begins, it comes first, as it would without a breakpoint. */
	pair_put32(p, PAIR_HANDLER, JAL(0, 0));
	assert_int_equal(run(p, 1), FWCPU_STOP_BUDGET);
	assert_int_equal(p->cpu.arch.mepc, AT(1));
}

static void wfi_completes_at_once_in_a_step(void **state)
{
	struct pair *p = *state;

	PAIR_PROGRAM(p, WFI, WFI, ADDI(7, 7, 1));
	fwcpu_step(&p->cpu, p->now);
	assert_int_equal(p->cpu.arch.pc, AT(1));
	assert_int_equal(p->cpu.arch.state, FWCPU_STATE_RUNNING);
	/* A sleeping processor continues. */
	assert_int_equal(run(p, 10), FWCPU_STOP_WFI);
	fwcpu_step(&p->cpu, p->now);
	assert_int_equal(p->cpu.arch.x[7], 1);
}

static void a_stopped_processor_does_not_step(void **state)
{
	struct pair *p = *state;

	PAIR_PROGRAM(p, ADDI(7, 7, 1));
	fwcpu_halt(&p->cpu);
	assert_int_equal(run(p, 10), FWCPU_STOP_HALT);
	fwcpu_step(&p->cpu, p->now);
	assert_int_equal(p->cpu.arch.pc, PAIR_CODE);
	assert_int_equal(p->cpu.arch.x[7], 0);
}

static void steps_and_a_run_have_the_same_result(void **state)
{
	struct pair *p = *state;
	uint32_t i;

	PAIR_PROGRAM(p, ADDI(7, 7, 3), ECALL, SW(7, 0x100, 0), LW(8, 0x100, 0), JAL(1, -16));
	pair_put32(p, PAIR_HANDLER, CSRRS(9, MEPC, 0));
	pair_put32(p, PAIR_HANDLER + 4, ADDI(9, 9, 4));
	pair_put32(p, PAIR_HANDLER + 8, CSRRW(0, MEPC, 9));
	pair_put32(p, PAIR_HANDLER + 12, MRET);
	for (i = 0; i < 200; i++) {
		if (i == 50)
			assert_int_equal(fwcpu_add_breakpoint(&p->cpu, AT(2)), 0);
		fwcpu_step(&p->cpu, p->now);
		p->ref.mtime = p->now;
		ref_step(&p->ref);
		pair_compare(p);
	}
}

static void csrs_can_be_read_and_written(void **state)
{
	struct pair *p = *state;
	uint32_t val = 0;

	assert_true(fwcpu_csr_poke(&p->cpu, MSCRATCH, 0x12345678));
	assert_true(fwcpu_csr_peek(&p->cpu, MSCRATCH, &val));
	assert_int_equal(val, 0x12345678);
	assert_true(fwcpu_csr_poke(&p->cpu, MIE, 0xffffffff));
	assert_true(fwcpu_csr_peek(&p->cpu, MIE, &val));
	assert_int_equal(val, BIT_TIMER | BIT_EXTERNAL);
	assert_true(fwcpu_csr_peek(&p->cpu, MHARTID, &val));
	assert_int_equal(val, PAIR_HART);
	assert_false(fwcpu_csr_poke(&p->cpu, MHARTID, 0));
	assert_false(fwcpu_csr_poke(&p->cpu, MCYCLE, 0));
	assert_false(fwcpu_csr_peek(&p->cpu, 0x7ff, &val));
	assert_false(fwcpu_csr_peek(&p->cpu, UINT32_MAX, &val));
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, pair_setup, pair_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_breakpoint_stops_before_its_instruction),
		TEST(a_breakpoint_is_found_in_code_that_has_run),
		TEST(a_breakpoint_survives_stores_fence_i_and_reset),
		TEST(a_store_next_to_a_breakpoint_changes_its_instruction),
		TEST(compressed_instructions_have_breakpoints),
		TEST(impossible_breakpoints_are_refused),
		TEST(a_step_takes_no_interrupt_and_a_run_does),
		TEST(a_breakpoint_is_reported_where_it_is),
		TEST(wfi_completes_at_once_in_a_step),
		TEST(a_stopped_processor_does_not_step),
		TEST(steps_and_a_run_have_the_same_result),
		TEST(csrs_can_be_read_and_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
