// SPDX-License-Identifier: MIT
/* Findings of one USC in mode strict. Those of programs on a GPU are in tests/strict/. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "exec.h"
#include "late_code.h"
#include "strict/strict.h"

#define INSTANCES	16u
#define WAVE	usc_operand(PUMICE_USC_BANK_SR, PUMICE_USC_SR_WAVE_IN_GROUP, true)
#define LOOPS	200u

static struct strict strict;

static void add_loop(struct code *c)
{
	add(c, INSN(MOV, .form = SCALAR_FORM, .dst = R_ELEM(6), .src0 = IMM, .imm = LOOPS));
	add(c, INSN(SUB, .form = SCALAR_FORM, .dst = R_ELEM(6), .src0 = R_ELEM(6), .src1 = IMM,
		    .imm = 1));
	add(c, INSN(BRNZ, .target = c->insns - 1, .src0 = R_ELEM(6)));
}

/* Wave 0 ends; later wave 1 executes a barrier. *end: the instruction of wave 0's end. */
static struct usc_program *ends_before_a_barrier(struct fixture *fx, u32 *end)
{
	struct code c;

	begin(&c);
	add(&c, INSN(MOV, .form = SCALAR_FORM, .dst = R_ELEM(6), .src0 = WAVE));
	add(&c, INSN(BRNZ, .target = c.insns + 2, .src0 = R_ELEM(6)));
	*end = c.insns;
	add(&c, INSN(END));
	add_loop(&c);
	add(&c, INSN(BARRIER));
	return program_of(fx, &c, &late_limits);
}

static struct usc_program *program_that_runs(struct fixture *fx)
{
	struct code c;

	begin(&c);
	for (u32 n = 0; n < 4; n++)
		add_loop(&c);
	return program_of(fx, &c, &late_limits);
}

static void the_end_of_a_wave_whose_place_another_group_has_is_found(void **state)
{
	const struct fx_group first = { .tasks = 2, .instances = { INSTANCES, INSTANCES },
					.limits = late_limits };
	const struct fx_group second = { .tasks = 1, .instances = { INSTANCES },
					 .limits = late_limits };
	struct fixture *fx = fixture_of(USC_LATE_POISON);
	struct strict_finding finding;
	struct usc_program *program[2];
	struct usc_checks checks;
	u32 end;

	(void)state;
	strict_init(&strict, NULL, NULL, NULL);
	assert_true(usc_checks_create(&checks, fx->usc, true));
	usc_exchange_checks(fx->usc, &strict, &checks);
	usc_checks_destroy(&checks);
	program[0] = ends_before_a_barrier(fx, &end);
	program[1] = program_that_runs(fx);
	fx_fill(fx, 0, &first, program[0]);
	run_to_end_of_task(fx);
	fx->next_slot = 0;
	fx_fill(fx, 1, &second, program[1]);
	usc_group_start(fx->usc, 1);
	fx_run(fx, 1u << 20);
	assert_int_equal(fx->faults, 1);
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_USC_BARRIER);
	assert_true(strict_get(&strict, 0, &finding));
	assert_int_equal(finding.kind, PUMICE_FINDING_DIVERGENT_BARRIER);
	assert_true(finding.other.known);
	assert_int_equal(finding.other.wave, 0);
	assert_int_equal(finding.other.pc, end);
	fx_put(fx, program[0]);
	fx_put(fx, program[1]);
	fx_destroy(fx);
	strict_destroy(&strict);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_end_of_a_wave_whose_place_another_group_has_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
