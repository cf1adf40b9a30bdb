// SPDX-License-Identifier: MIT
/*
 * Every encoding: legal ones execute as in the reference, all others raise an
 * illegal-instruction exception with the instruction's bits in mtval.
 *
 * All 49152 compressed halfwords; of 4-byte instructions every combination of
 * major opcode, funct3 and funct7, every CSR number with every CSR
 * instruction, and every operand-less system instruction.
 */
#include <stdio.h>

#include "pair.h"
#include "rvasm.h"

/* Register values with which about half of the loads and stores succeed. */
static void set_registers(struct pair *p, struct random *rnd)
{
	for (unsigned int i = 1; i < 32; i++) {
		uint32_t val = random_operand(rnd);

		if (random_next(rnd) % 2)
			val = 0x400 + (random_next(rnd) & 0x3fc);
		pair_set_x(p, i, val);
	}
}

/* Back to PAIR_CODE with no trap open; counters and CSRs are not changed. */
static void rewind_to_code(struct pair *p)
{
	pair_set_pc(p, PAIR_CODE);
	p->cpu.arch.state = FWCPU_STATE_RUNNING;
	p->ref.state = REF_RUNNING;
	p->cpu.arch.trap_open = 0;
	p->ref.handler_open = false;
	p->cpu.arch.mtvec = PAIR_HANDLER;
	p->ref.mtvec = PAIR_HANDLER;
}

static void run_encoding(struct pair *p, uint32_t raw, bool legal, uint32_t mask)
{
	snprintf(p->what, sizeof(p->what), "encoding %#x", raw);
	rewind_to_code(p);
	pair_put32(p, PAIR_CODE, raw);
	pair_run(p, 1);
	if (legal)
		return;
	assert_int_equal(p->cpu.arch.mcause, CAUSE_ILLEGAL);
	assert_int_equal(p->cpu.arch.mtval, raw & mask);
	assert_int_equal(p->cpu.arch.mepc, PAIR_CODE);
	assert_int_equal(p->cpu.arch.pc, PAIR_HANDLER);
}

static void every_compressed_halfword_agrees_with_the_reference(void **state)
{
	struct pair *p = *state;
	struct random rnd = { random_seed(__func__) };
	unsigned int legal = 0;

	for (uint32_t raw = 0; raw < 0x10000; raw++) {
		bool is_legal = ref_find16(raw);

		if (raw % 4 == 3)
			continue;
		legal += is_legal;
		for (int again = 0; again < 3; again++) {
			set_registers(p, &rnd);
			run_encoding(p, raw, is_legal, 0xffff);
		}
	}
	/*
	 * Counted manually from tables 16.5 to 16.7:
	 * quadrant 0: C.ADDI4SPN 8 * 255, C.LW and C.SW 2048 each
	 * quadrant 1: C.ADDI, C.JAL, C.LI, C.J, C.BEQZ, C.BNEZ 2048 each, C.LUI and
	 * C.ADDI16SP 32 * 63, C.SRLI and C.SRAI 256 each, C.ANDI 512, four of 64
	 * quadrant 2: C.SLLI 1024, C.LWSP 31 * 64, C.SWSP 2048, C.JR 31, C.MV 32 * 31,
	 * C.EBREAK 1, C.JALR 31, C.ADD 32 * 31
	 */
	assert_int_equal(legal, 8 * 255 + 2 * 2048 +
				6 * 2048 + 32 * 63 + 2 * 256 + 512 + 4 * 64 +
				1024 + 31 * 64 + 2048 + 31 + 32 * 31 + 1 + 31 + 32 * 31);
}

static void every_opcode_funct3_funct7_agrees_with_the_reference(void **state)
{
	struct pair *p = *state;
	struct random rnd = { random_seed(__func__) };

	for (uint32_t i = 0; i < 32 * 8 * 128; i++) {
		uint32_t raw = 3 | (i % 32) << 2 | (i / 32 % 8) << 12 | (i / 256) << 25;

		for (int again = 0; again < 4; again++) {
			uint32_t full = raw | (random_next(&rnd) & 0x01ff8f80);
			const struct ref_op *op = ref_find32(full);

			set_registers(p, &rnd);
			/* CSR accesses are legal by register; they have their own test. */
			run_encoding(p, full, op, 0xffffffff);
		}
	}
}

static void every_csr_number_agrees_with_the_reference(void **state)
{
	struct pair *p = *state;
	struct random rnd = { random_seed(__func__) };

	for (uint32_t i = 0; i < 4096 * 8 * 2; i++) {
		uint32_t raw = 0x73 | (i / 2 % 8) << 12 | (i / 16) << 20;
		uint32_t rd = random_next(&rnd) % 32;
		uint32_t rs1 = i % 2 ? 1 + random_next(&rnd) % 31 : 0;

		raw |= rd << 7 | rs1 << 15;
		set_registers(p, &rnd);
		run_encoding(p, raw, true, 0);
	}
}

static void only_four_words_are_system_instructions_without_csr(void **state)
{
	struct pair *p = *state;
	unsigned int legal = 0;

	for (uint32_t i = 0; i < 1u << 12; i++) {
		for (uint32_t operands = 0; operands < 4; operands++) {
			uint32_t raw = 0x73 | i << 20 | (operands & 1) << 7 |
				       (operands >> 1) << 15;
			bool is_legal = raw == ECALL || raw == EBREAK || raw == WFI || raw == MRET;

			legal += is_legal;
			run_encoding(p, raw, is_legal, 0xffffffff);
		}
	}
	assert_int_equal(legal, 4);
}

static void instructions_longer_than_four_bytes_are_illegal(void **state)
{
	struct pair *p = *state;

	/* 48-bit, 64-bit and reserved lengths: unprivileged, section 1.5. */
	run_encoding(p, 0x0000001f, false, 0xffffffff);
	run_encoding(p, 0x1234003f, false, 0xffffffff);
	run_encoding(p, 0xffff7fff, false, 0xffffffff);
	run_encoding(p, 0xffffffff, false, 0xffffffff);
	run_encoding(p, 0x00000000, false, 0xffff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_compressed_halfword_agrees_with_the_reference,
						pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(
			every_opcode_funct3_funct7_agrees_with_the_reference,
			pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(every_csr_number_agrees_with_the_reference,
						pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(only_four_words_are_system_instructions_without_csr,
						pair_setup, pair_teardown),
		cmocka_unit_test_setup_teardown(instructions_longer_than_four_bytes_are_illegal,
						pair_setup, pair_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
