// SPDX-License-Identifier: MIT
/*
 * PDS programs that are refused: each reason, with the instruction that it reports,
 * before any group starts; and valid programs at the limits.
 */
#include <string.h>

#include "fixture.h"

#define SHARED	64u
#define ATTRS	20u
#define COEFFS	12u
#define COEFFS_ALT 7u
#define GROUP	40u	/* instances */
#define VA_END	(1ull << PUMICE_MMU_VA_BITS)

static struct pds_launch launch_with_registers(void)
{
	struct pds_launch launch = fx_launch(GROUP, 1, 1);

	launch.state.shared = SHARED;
	launch.state.attrs = ATTRS;
	launch.state.coeffs = COEFFS;
	launch.state.coeffs_alt = COEFFS_ALT;
	launch.state.temps = 4;
	return launch;
}

struct bad {
	const char *what;
	struct pumice_pds_insn insn;
	u32 flip_word, flip;	/* bits inverted after packing */
	enum pumice_fault fault;
};

static const struct bad bad_insns[] = {
	/* Opcodes: no operation, the first after the last, the maximum. */
	{ "opcode 0", END, 0, 0x05, PUMICE_FAULT_PDS_OPCODE },
	{ "opcode 11", END, 0, 0x0e, PUMICE_FAULT_PDS_OPCODE },
	{ "opcode 255", END, 0, 0xfa, PUMICE_FAULT_PDS_OPCODE },

	/* Reserved bits, the lowest and the highest of each layout's ranges. */
	{ "write word 2", LDI(SH, 0, 1), 2, 1, PUMICE_FAULT_PDS_RESERVED },
	{ "write word 3", LDI(SH, 0, 1), 3, 1u << 31, PUMICE_FAULT_PDS_RESERVED },
	{ "dma bit 24", DMA(SH, 0, 1, FX_DATA, 0), 0, 1u << 24, PUMICE_FAULT_PDS_RESERVED },
	{ "dma bit 31", DMA(SH, 0, 1, FX_DATA, 0), 0, 1u << 31, PUMICE_FAULT_PDS_RESERVED },
	{ "dma bit 45", DMA(SH, 0, 1, FX_DATA, 0), 1, 1u << 13, PUMICE_FAULT_PDS_RESERVED },
	{ "dma bit 104", DMA(SH, 0, 1, FX_DATA, 0), 3, 1u << 8, PUMICE_FAULT_PDS_RESERVED },
	{ "task bit 8", TASK, 0, 1u << 8, PUMICE_FAULT_PDS_RESERVED },
	{ "task bit 49", TASK, 1, 1u << 17, PUMICE_FAULT_PDS_RESERVED },
	{ "task bit 127", TASK, 3, 1u << 31, PUMICE_FAULT_PDS_RESERVED },

	/* Fields that the operation does not use. */
	{ "ldi with a source", LDI(SH, 0, 1), 0, 1u << 24, PUMICE_FAULT_PDS_RESERVED },
	{ "mov with an immediate", MOV(SH, 0, GROUP_X), 1, 1, PUMICE_FAULT_PDS_RESERVED },
	{ "end with a register", END, 0, 1u << 12, PUMICE_FAULT_PDS_RESERVED },
	{ "end with a bank", END, 0, 1u << 8, PUMICE_FAULT_PDS_RESERVED },
	{ "end with an immediate", END, 1, 1, PUMICE_FAULT_PDS_RESERVED },
	{ "shared burst with a stride", DMA(SH, 0, 1, FX_DATA, 4), 0, 0,
	  PUMICE_FAULT_PDS_RESERVED },

	/* Registers. */
	{ "shared register", LDI(SH, SHARED, 1), 0, 0, PUMICE_FAULT_PDS_REGISTER },
	{ "last shared register of all", LDI(SH, 4095, 1), 0, 0, PUMICE_FAULT_PDS_REGISTER },
	{ "attribute register", LDI(V, ATTRS, 1), 0, 0, PUMICE_FAULT_PDS_REGISTER },
	{ "mov to shared register", MOV(SH, SHARED, TASK), 0, 0, PUMICE_FAULT_PDS_REGISTER },
	{ "mov to attribute register", MOV(V, ATTRS, LOCAL_X), 0, 0, PUMICE_FAULT_PDS_REGISTER },
	{ "burst beyond the shared registers", DMA(SH, 1, SHARED, FX_DATA, 0), 0, 0,
	  PUMICE_FAULT_PDS_REGISTER },
	{ "burst beyond the attribute registers", DMA(V, ATTRS - 1, 2, FX_DATA, 8), 0, 0,
	  PUMICE_FAULT_PDS_REGISTER },
	{ "coefficient register", LDI(CF, COEFFS, 1), 0, 0, PUMICE_FAULT_PDS_REGISTER },
	{ "mov to coefficient register", MOV(CF, COEFFS, TASK), 0, 0, PUMICE_FAULT_PDS_REGISTER },
	{ "local_x to a coefficient register", MOV(CF, 0, LOCAL_X), 0, 0,
	  PUMICE_FAULT_PDS_SOURCE },
	{ "burst beyond the coefficient registers", DMA(CF, 1, COEFFS, FX_DATA, 0), 0, 0,
	  PUMICE_FAULT_PDS_REGISTER },
	{ "coefficient burst with a stride", DMA(CF, 0, 1, FX_DATA, 4), 0, 0,
	  PUMICE_FAULT_PDS_RESERVED },
	{ "alternate coefficient register", LDI(CFA, COEFFS_ALT, 1), 0, 0,
	  PUMICE_FAULT_PDS_REGISTER },
	{ "local_x to an alternate coefficient register", MOV(CFA, 0, LOCAL_X), 0, 0,
	  PUMICE_FAULT_PDS_SOURCE },
	{ "burst beyond the alternate coefficient registers", DMA(CFA, 1, COEFFS_ALT, FX_DATA, 0),
	  0, 0, PUMICE_FAULT_PDS_REGISTER },
	{ "bank 4", LDI(SH, 0, 1), 0, 4u << 8, PUMICE_FAULT_PDS_REGISTER },
	{ "bank 15 of a burst", DMA(SH, 0, 1, FX_DATA, 0), 0, 15u << 8,
	  PUMICE_FAULT_PDS_REGISTER },

	/* Sources. */
	{ "source 10", MOV(SH, 0, TASK), 0, 3u << 24, PUMICE_FAULT_PDS_SOURCE },
	{ "source 15", MOV(V, 0, TASK), 0, 6u << 24, PUMICE_FAULT_PDS_SOURCE },
	{ "source 23", MOV(V, 0, GLOBAL_Z), 0, 1u << 24, PUMICE_FAULT_PDS_SOURCE },
	{ "source 255", MOV(V, 0, GROUP_X), 0, 255u << 24, PUMICE_FAULT_PDS_SOURCE },
	{ "local_x to a shared register", MOV(SH, 0, LOCAL_X), 0, 0, PUMICE_FAULT_PDS_SOURCE },
	{ "local_y to a shared register", MOV(SH, 0, LOCAL_Y), 0, 0, PUMICE_FAULT_PDS_SOURCE },
	{ "local_z to a shared register", MOV(SH, 0, LOCAL_Z), 0, 0, PUMICE_FAULT_PDS_SOURCE },
	{ "local_linear to a shared register", MOV(SH, 0, LOCAL_LINEAR), 0, 0,
	  PUMICE_FAULT_PDS_SOURCE },
	{ "global_x to a shared register", MOV(SH, 0, GLOBAL_X), 0, 0, PUMICE_FAULT_PDS_SOURCE },
	{ "global_y to a shared register", MOV(SH, 0, GLOBAL_Y), 0, 0, PUMICE_FAULT_PDS_SOURCE },
	{ "global_z to a shared register", MOV(SH, 0, GLOBAL_Z), 0, 0, PUMICE_FAULT_PDS_SOURCE },

	/* Bursts. */
	{ "empty burst", DMA(SH, 0, 0, FX_DATA, 0), 0, 0, PUMICE_FAULT_PDS_DMA },
	{ "burst of 4097 words", DMA(SH, 0, 4097, FX_DATA, 0), 0, 0, PUMICE_FAULT_PDS_DMA },
	{ "burst address 1", DMA(SH, 0, 1, FX_DATA + 1, 0), 0, 0, PUMICE_FAULT_PDS_DMA },
	{ "burst address 2", DMA(V, 0, 1, FX_DATA + 2, 4), 0, 0, PUMICE_FAULT_PDS_DMA },
	{ "burst stride 2", DMA(V, 0, 1, FX_DATA, 2), 0, 0, PUMICE_FAULT_PDS_DMA },
	{ "burst over the end of the address space", DMA(SH, 0, 2, VA_END - 4, 0), 0, 0,
	  PUMICE_FAULT_PDS_DMA },
	{ "last instance's burst over the end",
	  DMA(V, 0, 2, VA_END - 4 - 16 * (GROUP - 1), 16), 0, 0, PUMICE_FAULT_PDS_DMA },
};

/* Each invalid instruction is the second, after a valid one. */
static void invalid_instructions_are_refused_with_their_error(void **state)
{
	struct pumice_pds_insn insns[] = { LDI(SH, 0, 1), END, TASK, END };
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(bad_insns) / sizeof(bad_insns[0]); i++) {
		const struct bad *bad = &bad_insns[i];
		struct fixture *fx = fx_create(1, NULL);
		struct pds_launch launch = launch_with_registers();
		u32 words[4 * PUMICE_PDS_WORDS], n;

		insns[1] = bad->insn;
		for (n = 0; n < 4; n++)
			pumice_pds_pack(words + n * PUMICE_PDS_WORDS, &insns[n]);
		words[PUMICE_PDS_WORDS + bad->flip_word] ^= bad->flip;
		fx_program_words(fx, &launch, words, 4);
		if (fx_begin(fx, &launch) || fx->fault.fault != bad->fault)
			fail_msg("%s: fault %u", bad->what, fx->fault.fault);
		fx_expect_fault(fx, bad->fault, PUMICE_UNIT_PDS, FX_PDS + 16, 1);
		assert_int_equal(fx->cache.gets, 0);
		fx_destroy(fx);
	}
}

static void operands_at_the_limit_are_accepted(void **state)
{
	static const struct pumice_pds_insn edge[] = {
		LDI(SH, SHARED - 1, 1),
		LDI(V, ATTRS - 1, 1),
		LDI(CF, COEFFS - 1, 1),
		LDI(CFA, COEFFS_ALT - 1, 1),
		DMA(CFA, 0, COEFFS_ALT, FX_DATA, 0),
		DMA(CF, 0, COEFFS, FX_DATA, 0),
		DMA(SH, 0, SHARED, FX_DATA, 0),
		DMA(SH, SHARED - 1, 1, VA_END - 4, 0),
		DMA(V, 0, ATTRS, FX_DATA, 0),
		DMA(V, 0, 1, VA_END - 4 - 65532ull * (GROUP - 1), 65532),
	};
	struct pumice_pds_insn insns[] = { TASK, END, END };
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(edge) / sizeof(edge[0]); i++) {
		struct fixture *fx = fx_create(1, NULL);
		struct pds_launch launch = launch_with_registers();

		insns[1] = edge[i];
		fx_program(fx, &launch, insns, 3);
		assert_true(fx_begin(fx, &launch));
		fx_destroy(fx);
	}
}

/* Whole programs: how they end and start a task. Only the pc is reported. */
static void programs_end_after_exactly_one_task(void **state)
{
	static const struct {
		struct pumice_pds_insn insn[5];
		u16 count;
		enum pumice_fault fault;
		u32 pc;
	} cases[] = {
		{ { END }, 1, PUMICE_FAULT_PDS_NO_TASK, 0 },
		{ { LDI(SH, 0, 1), END, TASK, END }, 4, PUMICE_FAULT_PDS_NO_TASK, 1 },
		{ { TASK, TASK, END }, 3, PUMICE_FAULT_PDS_TWO_TASKS, 1 },
		{ { TASK, LDI(SH, 0, 1), TASK, END }, 4, PUMICE_FAULT_PDS_TWO_TASKS, 2 },
		{ { TASK }, 1, PUMICE_FAULT_PDS_NO_END, 1 },
		{ { LDI(SH, 0, 1) }, 1, PUMICE_FAULT_PDS_NO_END, 1 },
		{ { TASK, LDI(V, 0, 1), END }, 2, PUMICE_FAULT_PDS_NO_END, 2 },
	};
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture *fx = fx_create(1, NULL);
		struct pds_launch launch = launch_with_registers();

		fx_program(fx, &launch, cases[i].insn, cases[i].count);
		assert_false(fx_begin(fx, &launch));
		fx_expect_fault(fx, cases[i].fault, PUMICE_UNIT_PDS, FX_PDS + 16 * cases[i].pc,
				cases[i].pc);
		fx_destroy(fx);
	}
}

/* Instructions after end are not executed and not checked. */
static void instructions_after_end_are_not_checked(void **state)
{
	const struct pumice_pds_insn insns[] = { TASK, END, { .opcode = PUMICE_PDS_OP_END } };
	struct fixture *fx = fx_create(1, NULL);
	struct pds_launch launch = launch_with_registers();
	u32 words[3 * PUMICE_PDS_WORDS], n;

	(void)state;
	for (n = 0; n < 3; n++)
		pumice_pds_pack(words + n * PUMICE_PDS_WORDS, &insns[n]);
	memset(words + 2 * PUMICE_PDS_WORDS, 0xff, 16);
	fx_program_words(fx, &launch, words, 3);
	assert_true(fx_begin(fx, &launch));
	fx_destroy(fx);
}

static void program_address_and_length_are_checked(void **state)
{
	static const struct {
		u64 addr;
		u16 insns;
	} cases[] = {
		{ FX_PDS, 0 }, { FX_PDS, PUMICE_PDS_MAX_INSNS + 1 }, { FX_PDS, 511 },
		{ FX_PDS + 4, 2 }, { FX_PDS + 8, 2 },
	};
	struct fixture *fx = fx_create(1, NULL);
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pds_launch launch = launch_with_registers();

		launch.state.pds_addr = cases[i].addr;
		launch.state.pds_insns = cases[i].insns;
		assert_false(fx_begin(fx, &launch));
		fx_expect_fault(fx, PUMICE_FAULT_PDS_ADDRESS, PUMICE_UNIT_PDS, cases[i].addr, 0);
	}
	fx_destroy(fx);
}

static void the_longest_program_runs(void **state)
{
	static struct pumice_pds_insn insns[PUMICE_PDS_MAX_INSNS];
	struct fixture *fx = fx_create(1, NULL);
	struct pds_launch launch = launch_with_registers();
	u32 i;

	(void)state;
	for (i = 0; i < PUMICE_PDS_MAX_INSNS - 2; i++)
		insns[i] = (struct pumice_pds_insn)LDI(SH, i % SHARED, i);
	insns[i++] = (struct pumice_pds_insn)TASK;
	insns[i] = (struct pumice_pds_insn)END;
	fx_program(fx, &launch, insns, PUMICE_PDS_MAX_INSNS);
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
	/* 254 writes over 64 registers: the last write to register 61 is number 253. */
	assert_int_equal(fake_usc_shared(fx->usc[0], 0, 0, 61), 253);
	assert_int_equal(fake_usc_shared(fx->usc[0], 0, 0, 62), 190);
	fx_destroy(fx);
}

/* The program's pages: missing, not executable, the second one missing. */
static void program_fetch_faults_report_address_and_instruction(void **state)
{
	const struct pumice_pds_insn insns[] = { TASK, END };
	struct fixture *fx = fx_create(1, NULL);
	struct pds_launch launch = launch_with_registers();

	(void)state;
	fx_program(fx, &launch, insns, 2);

	launch.state.pds_addr = FX_DATA;
	assert_false(fx_begin(fx, &launch));
	fx_expect_fault(fx, PUMICE_FAULT_MMU_NO_EXEC, PUMICE_UNIT_PDS, FX_DATA, 0);
	assert_int_equal(fx->fault.access, PUMICE_ACCESS_EXEC);

	launch.state.pds_addr = FX_PDS + FX_PDS_BYTES - 32;
	launch.state.pds_insns = 3;
	assert_false(fx_begin(fx, &launch));
	fx_expect_fault(fx, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_UNIT_PDS,
			FX_PDS + FX_PDS_BYTES, 2);

	launch.state.pds_addr = VA_END - 16;
	launch.state.pds_insns = 2;
	assert_false(fx_begin(fx, &launch));
	assert_int_equal(fx->fault.unit, PUMICE_UNIT_PDS);
	assert_int_equal(fx->fault.access, PUMICE_ACCESS_EXEC);
	fx_destroy(fx);
}

/* An error of the USC's program stops the launch, and all resources are freed. */
static void a_refused_usc_program_refuses_the_launch(void **state)
{
	struct pumice_pds_insn insns[] = { LDI(SH, 0, 1), TASK, END };
	struct fixture *fx = fx_create(1, NULL);
	struct pds_launch launch = launch_with_registers();

	(void)state;
	insns[1].insns = 0;
	fx_program(fx, &launch, insns, 3);
	assert_false(fx_begin(fx, &launch));
	fx_expect_fault(fx, PUMICE_FAULT_USC_PROGRAM, PUMICE_UNIT_USC_CODE, FX_CODE, 0);

	insns[1].insns = 1;
	insns[1].addr = FX_DATA;
	fx_program(fx, &launch, insns, 3);
	assert_false(fx_begin(fx, &launch));
	fx_expect_fault(fx, PUMICE_FAULT_MMU_NO_EXEC, PUMICE_UNIT_USC_CODE, FX_DATA, 0);
	fx_destroy(fx);
}

/* The USC checks its program against the registers of the state. */
static void the_usc_program_gets_the_states_limits(void **state)
{
	struct fixture *fx = fx_create(1, NULL);
	struct pds_launch launch = launch_with_registers();
	const struct usc_program *program;

	(void)state;
	fx_program_empty(fx, &launch);
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
	program = fx->usc[0]->group[0].program;
	assert_int_equal(program->addr, FX_CODE);
	assert_int_equal(program->insns, 1);
	assert_int_equal(program->limits.temps, 4);
	assert_int_equal(program->limits.attrs, ATTRS);
	assert_int_equal(program->limits.shared, SHARED);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(invalid_instructions_are_refused_with_their_error),
		cmocka_unit_test(operands_at_the_limit_are_accepted),
		cmocka_unit_test(programs_end_after_exactly_one_task),
		cmocka_unit_test(instructions_after_end_are_not_checked),
		cmocka_unit_test(program_address_and_length_are_checked),
		cmocka_unit_test(the_longest_program_runs),
		cmocka_unit_test(program_fetch_faults_report_address_and_instruction),
		cmocka_unit_test(a_refused_usc_program_refuses_the_launch),
		cmocka_unit_test(the_usc_program_gets_the_states_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
