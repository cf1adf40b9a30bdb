// SPDX-License-Identifier: MIT
/*
 * Integer computation: every register-register, register-immediate, shift and
 * upper-immediate instruction of RV32I and M.
 *
 * Two ways: over edge operands against the reference, and against results
 * listed here from the manual (unprivileged 20191213, chapters 2 and 7).
 */
#include <stdio.h>

#include "pair.h"
#include "rvasm.h"

static const uint32_t edges[] = {
	0, 1, 2, 5, 31, 32, 33, 0x7f, 0x80, 0x7fff, 0x8000, 0xffff, 0x10000, 0x12345678,
	0x55555555, 0x7fffffff, 0x80000000, 0x80000001, 0xaaaaaaaa, 0xffff8000,
	0xfffffffe, 0xffffffff,
};
#define EDGES	(sizeof(edges) / sizeof(edges[0]))

static const int32_t immediates[] = { 0, 1, 2, 31, 0x555, 2047, -1, -2, -1366, -2047, -2048 };
#define IMMEDIATES	(sizeof(immediates) / sizeof(immediates[0]))

/* Run @raw alone with x5 = @a and x6 = @b. */
static void run_one(struct pair *p, const struct ref_op *op, uint32_t raw, uint32_t a, uint32_t b)
{
	snprintf(p->what, sizeof(p->what), "%s %#x (x5 = %#x, x6 = %#x)", op->name, raw, a, b);
	pair_put32(p, PAIR_CODE, raw);
	pair_set_pc(p, PAIR_CODE);
	pair_set_x(p, 5, a);
	pair_set_x(p, 6, b);
	assert_int_equal(pair_run(p, 1), FWCPU_STOP_BUDGET);
	assert_int_equal(p->cpu.arch.pc, PAIR_CODE + 4);
}

/* Write the result to another register, over each operand, and to x0. */
static const unsigned int targets[] = { 7, 5, 6, 0 };
#define TARGETS		(sizeof(targets) / sizeof(targets[0]))

static void sweep_registers(struct pair *p, const struct ref_op *op)
{
	for (size_t i = 0; i < EDGES * EDGES * TARGETS; i++) {
		uint32_t a = edges[i % EDGES];
		uint32_t b = edges[i / EDGES % EDGES];

		run_one(p, op, rv_r(op->match, targets[i / EDGES / EDGES], 5, 6), a, b);
	}
	run_one(p, op, rv_r(op->match, 7, 0, 6), 1, 0x80000000);
	run_one(p, op, rv_r(op->match, 7, 5, 0), 0x80000000, 1);
	run_one(p, op, rv_r(op->match, 31, 5, 5), 0xfffffffe, 1);
}

static void sweep_immediates(struct pair *p, const struct ref_op *op)
{
	for (size_t i = 0; i < EDGES * IMMEDIATES * TARGETS; i++) {
		uint32_t a = edges[i % EDGES];
		int32_t imm = immediates[i / EDGES % IMMEDIATES];

		run_one(p, op, rv_i(op->match, targets[i / EDGES / IMMEDIATES], 5, imm), a, 0);
	}
	run_one(p, op, rv_i(op->match, 7, 0, -5), 1, 0);
}

static void sweep_shift_amounts(struct pair *p, const struct ref_op *op)
{
	for (unsigned int i = 0; i < EDGES * 32 * TARGETS; i++)
		run_one(p, op, rv_r(op->match, targets[i / EDGES / 32], 5, i / EDGES % 32),
			edges[i % EDGES], 0);
}

static void sweep_upper(struct pair *p, const struct ref_op *op)
{
	static const uint32_t uppers[] = { 0, 1, 0x7ffff, 0x80000, 0xfffff, 0x12345 };

	for (size_t i = 0; i < sizeof(uppers) / sizeof(uppers[0]); i++) {
		run_one(p, op, op->match | 7 << 7 | uppers[i] << 12, 0, 0);
		run_one(p, op, op->match | uppers[i] << 12, 0, 0);
	}
}

static void every_computation_agrees_with_the_reference(void **state)
{
	struct pair *p = *state;
	unsigned int seen = 0;

	for (size_t i = 0; i < ref_ops32_count; i++) {
		const struct ref_op *op = &ref_ops32[i];

		if (op->format == REF_R)
			sweep_registers(p, op);
		else if (op->format == REF_I && (op->match & 0x7f) != 0x67)
			sweep_immediates(p, op);
		else if (op->format == REF_SHIFT)
			sweep_shift_amounts(p, op);
		else if (op->format == REF_U)
			sweep_upper(p, op);
		else
			continue;
		seen++;
	}
	/* 18 of M and R type, 6 immediates, 3 shifts, LUI and AUIPC. */
	assert_int_equal(seen, 18 + 6 + 3 + 2);
}

struct known {
	const char *what;
	uint32_t raw;
	uint32_t a, b;
	uint32_t result;
};

#define MULDIV(funct3)	(0x026283b3u | (funct3) << 12)

static const struct known knowns[] = {
	{ "add wraps", 0x006283b3, 0xffffffff, 2, 1 },
	{ "sub wraps", 0x406283b3, 0, 1, 0xffffffff },
	{ "sll by 31", 0x006293b3, 3, 31, 0x80000000 },
	{ "sll by 32 is by 0", 0x006293b3, 3, 32, 3 },
	{ "srl by 31", 0x0062d3b3, 0x80000000, 31, 1 },
	{ "sra by 31", 0x4062d3b3, 0x80000000, 31, 0xffffffff },
	{ "slt is signed", 0x0062a3b3, 0x80000000, 0x7fffffff, 1 },
	{ "sltu is unsigned", 0x0062b3b3, 0x80000000, 0x7fffffff, 0 },
	{ "sltiu extends the sign first", 0xfff2b393, 5, 0, 1 },
	{ "xori by -1 inverts", 0xfff2c393, 0x0f0f0f0f, 0, 0xf0f0f0f0 },
	{ "srai keeps the sign", 0x41f2d393, 0x80000000, 0, 0xffffffff },
	{ "lui", 0xfffff3b7, 0, 0, 0xfffff000 },
	{ "auipc adds its own address", 0x00001397, 0, 0, PAIR_CODE + 0x1000 },
};

static const struct known muldiv[] = {
	{ "mul keeps the low half", MULDIV(0), 0x80000000, 0x80000000, 0 },
	{ "mulh INT_MIN squared", MULDIV(1), 0x80000000, 0x80000000, 0x40000000 },
	{ "mulh -1 squared", MULDIV(1), 0xffffffff, 0xffffffff, 0 },
	{ "mulhsu -1 by UINT_MAX", MULDIV(2), 0xffffffff, 0xffffffff, 0xffffffff },
	{ "mulhsu INT_MIN by UINT_MAX", MULDIV(2), 0x80000000, 0xffffffff, 0x80000000 },
	{ "mulhu UINT_MAX squared", MULDIV(3), 0xffffffff, 0xffffffff, 0xfffffffe },
	{ "div towards zero", MULDIV(4), 0xfffffff9, 2, 0xfffffffd },
	{ "div by zero is -1", MULDIV(4), 7, 0, 0xffffffff },
	{ "div overflow is the dividend", MULDIV(4), 0x80000000, 0xffffffff, 0x80000000 },
	{ "divu by zero is UINT_MAX", MULDIV(5), 7, 0, 0xffffffff },
	{ "divu has no overflow", MULDIV(5), 0x80000000, 0xffffffff, 0 },
	{ "rem has the sign of the dividend", MULDIV(6), 0xfffffff9, 2, 0xffffffff },
	{ "rem by zero is the dividend", MULDIV(6), 0xfffffff9, 0, 0xfffffff9 },
	{ "rem overflow is zero", MULDIV(6), 0x80000000, 0xffffffff, 0 },
	{ "remu by zero is the dividend", MULDIV(7), 0xfffffff9, 0, 0xfffffff9 },
	{ "remu", MULDIV(7), 0xffffffff, 10, 5 },
};

static void check_known(struct pair *p, const struct known *k)
{
	pair_restart(p);
	snprintf(p->what, sizeof(p->what), "%s", k->what);
	PAIR_PROGRAM(p, k->raw);
	pair_set_x(p, 5, k->a);
	pair_set_x(p, 6, k->b);
	pair_run(p, 1);
	if (p->cpu.arch.x[7] != k->result)
		fail_msg("%s: %#x, should be %#x", k->what, p->cpu.arch.x[7], k->result);
}

static void base_computation_has_the_results_of_the_manual(void **state)
{
	for (size_t i = 0; i < sizeof(knowns) / sizeof(knowns[0]); i++)
		check_known(*state, &knowns[i]);
}

static void multiplication_and_division_have_the_results_of_the_manual(void **state)
{
	for (size_t i = 0; i < sizeof(muldiv) / sizeof(muldiv[0]); i++)
		check_known(*state, &muldiv[i]);
}

static void x0_remains_zero_after_any_write(void **state)
{
	struct pair *p = *state;

	snprintf(p->what, sizeof(p->what), "writes to x0");
	PAIR_PROGRAM(p, ADDI(0, 0, 5), LUI(0, 1), LW(0, 0, 0), JAL(0, 4), CSRRS(0, MHARTID, 0),
		     ADDI(7, 0, 1));
	pair_run(p, 6);
	assert_int_equal(p->cpu.arch.x[0], 0);
	assert_int_equal(p->cpu.arch.x[7], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_computation_agrees_with_the_reference,
						pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(base_computation_has_the_results_of_the_manual,
						pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(
			multiplication_and_division_have_the_results_of_the_manual,
			pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(x0_remains_zero_after_any_write,
						pair_setup, pair_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
