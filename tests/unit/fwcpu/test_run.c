// SPDX-License-Identifier: MIT
/*
 * Running: set-up, budget, halt, saved state; and self-modifying code.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "pair.h"
#include "rvasm.h"

static struct fwcpu_config good_config(struct fixture *w)
{
	return (struct fwcpu_config) {
		.ram = w->ram,
		.ram_size = FX_RAM_SIZE,
		.mmio_base = FX_MMIO_BASE,
		.mmio_size = FX_MMIO_SIZE,
		.window_base = FX_WINDOW_BASE,
		.bus = { .opaque = w, .load = fx_load, .store = fx_store },
	};
}

static void refuse(const struct fwcpu_config *cfg)
{
	struct fwcpu cpu;

	assert_int_equal(fwcpu_init(&cpu, cfg), -EINVAL);
	fwcpu_destroy(&cpu);
}

static void impossible_configurations_are_refused(void **state)
{
	struct pair *p = *state;
	const struct fwcpu_config good = good_config(&p->cpu_fixture);
	struct fwcpu_config cfg;

#define REFUSE(field, value) (cfg = good, cfg.field = (value), refuse(&cfg))
	REFUSE(ram, NULL);
	REFUSE(ram_size, 0);
	REFUSE(ram_size, 1022);
	REFUSE(ram_size, FX_MMIO_BASE + 4);
	REFUSE(mmio_base, FX_MMIO_BASE + 2);
	REFUSE(mmio_size, 6);
	REFUSE(mmio_size, 0xfffffffc);
	REFUSE(window_base, FX_WINDOW_BASE + 4);
	REFUSE(window_base, 0);
	REFUSE(bus.load, NULL);
	REFUSE(bus.store, NULL);
#undef REFUSE
}

static void the_smallest_ram_works(void **state)
{
	struct pair *p = *state;
	struct fwcpu_config cfg = good_config(&p->cpu_fixture);
	struct fwcpu cpu;

	cfg.ram_size = 4;
	assert_int_equal(fwcpu_init(&cpu, &cfg), 0);
	fwcpu_start(&cpu, 0);
	pair_put32(p, 0, JAL(5, 0));
	assert_int_equal(fwcpu_run(&cpu, 100, 0), FWCPU_STOP_BUDGET);
	assert_int_equal(cpu.arch.x[5], 4);
	assert_int_equal(cpu.executed, 100);
	fwcpu_destroy(&cpu);
}

static void a_processor_does_nothing_before_it_is_started(void **state)
{
	struct pair *p = *state;

	fwcpu_reset(&p->cpu);
	assert_int_equal(fwcpu_run(&p->cpu, 100, 0), FWCPU_STOP_HALT);
	assert_int_equal(p->cpu.executed, 0);
	assert_false(fwcpu_wakeable(&p->cpu, 0));
	fwcpu_start(&p->cpu, PAIR_CODE | 1);
	assert_int_equal(p->cpu.arch.pc, PAIR_CODE);
	assert_true(fwcpu_wakeable(&p->cpu, 0));
}

static void every_budget_is_used_to_the_last_unit(void **state)
{
	struct pair *p = *state;

	PAIR_PROGRAM(p, ADDI(7, 7, 1), JAL(0, -4));
	for (uint32_t budget = 0; budget < 300; budget++) {
		snprintf(p->what, sizeof(p->what), "budget %u", budget);
		assert_int_equal(pair_run(p, budget), FWCPU_STOP_BUDGET);
		assert_int_equal(p->cpu.executed, budget);
	}
	assert_int_equal(p->cpu.arch.minstret, 299 * 300 / 2);
}

static void exceptions_use_budget_too(void **state)
{
	struct pair *p = *state;

	/* Only MRET retires: the run still ends. */
	PAIR_PROGRAM(p, ECALL);
	pair_put32(p, PAIR_HANDLER, MRET);
	pair_run(p, 101);
	assert_int_equal(p->cpu.executed, 101);
	assert_int_equal(p->cpu.arch.minstret, 50);
}

static void halt_stops_a_running_and_a_sleeping_processor(void **state)
{
	struct pair *p = *state;

	PAIR_PROGRAM(p, JAL(0, 0));
	fwcpu_run(&p->cpu, 10, 0);
	fwcpu_halt(&p->cpu);
	assert_int_equal(fwcpu_run(&p->cpu, 100, 0), FWCPU_STOP_HALT);
	assert_int_equal(p->cpu.executed, 0);
	assert_int_equal(p->cpu.arch.pc, PAIR_CODE);

	pair_restart(p);
	PAIR_PROGRAM(p, WFI);
	assert_int_equal(fwcpu_run(&p->cpu, 10, 0), FWCPU_STOP_WFI);
	fwcpu_halt(&p->cpu);
	assert_true(fwcpu_wakeable(&p->cpu, 0));
	assert_int_equal(fwcpu_run(&p->cpu, 10, 0), FWCPU_STOP_HALT);
}

static void *raise_line(void *cpu)
{
	fwcpu_set_irq(cpu, true);
	return NULL;
}

static void *request_halt(void *cpu)
{
	fwcpu_window_flush(cpu);
	fwcpu_halt(cpu);
	return NULL;
}

static void other_threads_reach_a_running_processor(void **state)
{
	struct pair *p = *state;
	pthread_t thread;

	p->cpu.arch.mie = BIT_EXTERNAL;
	p->cpu.arch.mstatus = BIT_MIE;
	PAIR_PROGRAM(p, JAL(0, 0));
	pair_put32(p, PAIR_HANDLER, LW(7, 0, 5));
	pair_put32(p, PAIR_HANDLER + 4, JAL(0, -4));
	p->cpu.arch.x[5] = FX_WINDOW_BASE;

	assert_int_equal(pthread_create(&thread, NULL, raise_line, &p->cpu), 0);
	while (p->cpu.arch.pc == PAIR_CODE)
		assert_int_equal(fwcpu_run(&p->cpu, 1000, 0), FWCPU_STOP_BUDGET);
	assert_int_equal(pthread_join(thread, NULL), 0);

	assert_int_equal(pthread_create(&thread, NULL, request_halt, &p->cpu), 0);
	while (fwcpu_run(&p->cpu, 1000, 0) != FWCPU_STOP_HALT)
		;
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(p->cpu.arch.mcause, CAUSE_EXTERNAL_IRQ);
}

static bool halting_store(void *opaque, uint32_t addr, unsigned int size, uint32_t val)
{
	(void)addr, (void)size, (void)val;
	fwcpu_halt(opaque);
	return true;
}

static void a_store_can_halt_its_own_processor(void **state)
{
	struct pair *p = *state;

	p->cpu.cfg.bus.store = halting_store;
	p->cpu.cfg.bus.opaque = &p->cpu;
	p->cpu.arch.x[5] = FX_MMIO_BASE;
	PAIR_PROGRAM(p, SW(5, 0, 5), ADDI(7, 0, 1));
	assert_int_equal(fwcpu_run(&p->cpu, 100, 0), FWCPU_STOP_HALT);
	assert_int_equal(p->cpu.executed, 1);
	assert_int_equal(p->cpu.arch.pc, PAIR_CODE + 4);
}

static void reset_clears_registers_and_keeps_ram_and_line(void **state)
{
	struct pair *p = *state;

	PAIR_PROGRAM(p, ADDI(7, 0, 1));
	fwcpu_run(&p->cpu, 1, 0);
	fwcpu_set_irq(&p->cpu, true);
	fwcpu_set_timer(&p->cpu, 1);
	fwcpu_halt(&p->cpu);
	fwcpu_reset(&p->cpu);
	assert_int_equal(p->cpu.arch.x[7], 0);
	assert_int_equal(p->cpu.arch.mtvec, 0);
	assert_true(p->cpu.arch.mtimecmp == UINT64_MAX);
	assert_int_equal(pair_word(p, PAIR_CODE), ADDI(7, 0, 1));
	fwcpu_start(&p->cpu, PAIR_CODE);
	assert_int_equal(fwcpu_run(&p->cpu, 1, 0), FWCPU_STOP_BUDGET);
	assert_true(p->cpu.irq_line);
}

static void saved_state_continues_where_it_was_saved(void **state)
{
	struct pair *p = *state;
	struct fwcpu_arch saved;

	PAIR_PROGRAM(p, ADDI(7, 7, 1), CSRRW(0, MSCRATCH, 7), JAL(0, -8));
	pair_run(p, 100);
	saved = p->cpu.arch;
	fwcpu_reset(&p->cpu);
	fwcpu_restore(&p->cpu, &saved);
	snprintf(p->what, sizeof(p->what), "restored");
	pair_run(p, 100);
}

static void saved_state_is_not_trusted(void **state)
{
	struct pair *p = *state;
	struct fwcpu_arch bad;

	memset(&bad, 0xff, sizeof(bad));
	fwcpu_restore(&p->cpu, &bad);
	assert_int_equal(p->cpu.arch.state, FWCPU_STATE_STOPPED);
	assert_int_equal(p->cpu.arch.x[0], 0);
	assert_int_equal(p->cpu.arch.pc, 0xfffffffe);
	assert_int_equal(p->cpu.arch.mstatus, BIT_MIE | BIT_MPIE);
	assert_int_equal(p->cpu.arch.mie, BIT_TIMER | BIT_EXTERNAL);
	assert_int_equal(p->cpu.arch.mtvec, 0xfffffffd);
	assert_int_equal(p->cpu.arch.mepc, 0xfffffffe);

	/* A pc outside of RAM faults when it runs, without other effects. */
	bad.state = FWCPU_STATE_RUNNING;
	fwcpu_restore(&p->cpu, &bad);
	assert_int_equal(fwcpu_run(&p->cpu, 10, 0), FWCPU_STOP_LOCKUP);
	assert_int_equal(p->cpu.arch.lockup_cause, CAUSE_FETCH_ACCESS);
}

static void a_store_is_visible_to_the_next_instruction(void **state)
{
	struct pair *p = *state;

	/* Two iterations: decoded and run as x7 += 1, then overwritten by x7 += 16. */
	pair_set_x(p, 5, PAIR_CODE);
	pair_set_x(p, 6, ADDI(7, 7, 16));
	PAIR_PROGRAM(p, ADDI(7, 7, 1), SW(6, 0, 5), JAL(0, -8));
	pair_run(p, 6);
	assert_int_equal(p->cpu.arch.x[7], 17);

	/* The instruction just ahead, in the same run. */
	pair_restart(p);
	pair_set_x(p, 5, PAIR_CODE);
	pair_set_x(p, 6, ADDI(7, 7, 16));
	PAIR_PROGRAM(p, NOP, ADDI(7, 7, 1), SW(6, 12, 5), ADDI(7, 7, 1));
	pair_run(p, 4);
	assert_int_equal(p->cpu.arch.x[7], 17);
}

static void a_store_of_any_width_at_any_offset_changes_the_code_it_touches(void **state)
{
	static const uint32_t stores[] = { 0x0023, 0x1023, 0x2023 };
	struct pair *p = *state;

	/* Offsets around a granule of the watch, and around the instruction. */
	for (uint32_t i = 0; i < 3 * 12; i++) {
		uint32_t target = 0x800 - 6 + 2 * (i % 6);

		for (int32_t offset = -4; offset <= 4; offset++) {
			pair_restart(p);
			snprintf(p->what, sizeof(p->what), "target %#x offset %d", target, offset);
			pair_set_x(p, 5, target);
			pair_set_x(p, 6, 0x00a50513);
			PAIR_PROGRAM(p, JALR(1, 5, 0), rv_s(stores[i / 12], 6, 5, offset),
				     JALR(1, 5, 0), JAL(0, 0));
			pair_put32(p, target, i / 6 % 2 ? ADDI(7, 7, 1) : 0x83850385);
			pair_put32(p, target + 4, JALR(0, 1, 0));
			pair_run(p, 12);
		}
	}
}

static void fence_i_makes_writes_of_the_host_visible(void **state)
{
	struct pair *p = *state;

	PAIR_PROGRAM(p, ADDI(7, 0, 1), FENCE_I, JAL(0, -8));
	fwcpu_run(&p->cpu, 3, 0);
	p->cpu_fixture.ram[PAIR_CODE + 3] = 0x10;	/* the immediate becomes 257 */
	fwcpu_run(&p->cpu, 2, 0);
	fwcpu_run(&p->cpu, 2, 0);
	assert_int_equal(p->cpu.arch.x[7], 257);
}

static void the_host_can_report_its_writes(void **state)
{
	struct pair *p = *state;

	PAIR_PROGRAM(p, ADDI(7, 0, 1), JAL(0, -4));
	fwcpu_run(&p->cpu, 2, 0);
	p->cpu_fixture.ram[PAIR_CODE + 3] = 0x10;
	fwcpu_code_changed(&p->cpu, PAIR_CODE + 3, 1);
	fwcpu_run(&p->cpu, 1, 0);
	assert_int_equal(p->cpu.arch.x[7], 257);

	/* Ranges that end, or begin, beyond RAM. */
	fwcpu_code_changed(&p->cpu, FX_RAM_SIZE - 2, 0xffffffff);
	fwcpu_code_changed(&p->cpu, FX_RAM_SIZE, 4);
	fwcpu_code_changed(&p->cpu, 0, 0);
	fwcpu_code_changed(&p->cpu, 0, 0xffffffff);
}

static void running_off_ram_faults_also_after_a_flush(void **state)
{
	struct pair *p = *state;

	pair_put16(p, FX_RAM_SIZE - 2, 0x0001);
	fwcpu_code_changed(&p->cpu, 0, FX_RAM_SIZE);
	PAIR_PROGRAM(p, FENCE_I, JALR(0, 5, 0));
	pair_set_x(p, 5, FX_RAM_SIZE - 2);
	pair_run(p, 4);
	assert_int_equal(p->cpu.arch.mcause, CAUSE_FETCH_ACCESS);
	assert_int_equal(p->cpu.arch.mepc, FX_RAM_SIZE);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, pair_setup, pair_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(impossible_configurations_are_refused),
		TEST(the_smallest_ram_works),
		TEST(a_processor_does_nothing_before_it_is_started),
		TEST(every_budget_is_used_to_the_last_unit),
		TEST(exceptions_use_budget_too),
		TEST(halt_stops_a_running_and_a_sleeping_processor),
		TEST(other_threads_reach_a_running_processor),
		TEST(a_store_can_halt_its_own_processor),
		TEST(reset_clears_registers_and_keeps_ram_and_line),
		TEST(saved_state_continues_where_it_was_saved),
		TEST(saved_state_is_not_trusted),
		TEST(a_store_is_visible_to_the_next_instruction),
		TEST(a_store_of_any_width_at_any_offset_changes_the_code_it_touches),
		TEST(fence_i_makes_writes_of_the_host_visible),
		TEST(the_host_can_report_its_writes),
		TEST(running_off_ram_faults_also_after_a_flush),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
