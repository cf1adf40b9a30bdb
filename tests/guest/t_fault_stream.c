// SPDX-License-Identifier: MIT
/* Malformed control streams and PDS programs: each faults its job, by name, and no other job. */
#include <errno.h>
#include <string.h>

#include "fault.h"
#include "harness.h"
#include "pumice_formats.h"

#define UNMAPPED FX_FREE

/* Return the type field of a command, which is in the same place in all commands. */
static u32 command_word(u32 type)
{
	return PUMICE_FIELD_PREP(PUMICE_CDM_HALT__TYPE, type);
}

/* ------------------------------------------------------------- the stream */

static void unmapped_stream(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_context_get_state state =
		expect_fault(&fx, UNMAPPED, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_UNIT_CDM);

	CHECK_EQUAL(state.fault_va, UNMAPPED);
	CHECK_EQUAL(state.access, PUMICE_ACCESS_READ);
}

static void stream_beyond_the_space(void)
{
	struct fixture fx = fx_open();

	/* The firmware does not start addresses that exceed the CDM's register. */
	expect_fault(&fx, 1ull << PUMICE_MMU_VA_BITS, PUMICE_FAULT_MMU_ADDRESS, PUMICE_UNIT_FW);
	expect_fault(&fx, 1ull << 63, PUMICE_FAULT_MMU_ADDRESS, PUMICE_UNIT_FW);
}

static void stream_that_runs_into_a_hole(void)
{
	struct fixture fx = fx_open();
	struct mem mem = need_mem(fx.fd, fx.vm, UNMAPPED, PAGE);
	struct drm_pumice_context_get_state state;
	u32 i;

	for (i = 0; i < PAGE / 4; i++)
		pumice_cdm_fence_pack(&mem.cpu[i], &(struct pumice_cdm_fence){ 0 });
	state = expect_fault(&fx, UNMAPPED, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_UNIT_CDM);
	CHECK_EQUAL(state.fault_va, UNMAPPED + PAGE);
}

static void command_that_reaches_into_a_hole(void)
{
	struct fixture fx = fx_open();
	struct mem mem = need_mem(fx.fd, fx.vm, UNMAPPED, PAGE);
	struct drm_pumice_context_get_state state;

	mem.cpu[PAGE / 4 - 1] = command_word(PUMICE_CDM_TYPE_LAUNCH);
	state = expect_fault(&fx, UNMAPPED + PAGE - 4, PUMICE_FAULT_MMU_PT_INVALID,
			     PUMICE_UNIT_CDM);
	CHECK_EQUAL(state.fault_va, UNMAPPED + PAGE);
}

static void unknown_commands(void)
{
	struct fixture fx = fx_open();
	u32 type;

	for (type = 0; type < 16; type++) {
		u32 word = command_word(type);

		if (type && type < PUMICE_CDM_TYPE_COUNT)
			continue;
		expect_fault(&fx, fx_place(&fx, &word, 1), PUMICE_FAULT_CDM_COMMAND,
			     PUMICE_UNIT_CDM);
	}
}

static void reserved_bits_of_a_command(void)
{
	struct fixture fx = fx_open();
	u32 word = command_word(PUMICE_CDM_TYPE_HALT) | 1;

	expect_fault(&fx, fx_place(&fx, &word, 1), PUMICE_FAULT_CDM_RESERVED, PUMICE_UNIT_CDM);
}

static void launch_without_state(void)
{
	struct fixture fx = fx_open();
	const struct pumice_cdm_launch grid = { .groups_x = 1, .groups_y = 1, .groups_z = 1 };
	u32 words[PUMICE_CDM_LAUNCH_WORDS];

	pumice_cdm_launch_pack(words, &grid);
	expect_fault(&fx, fx_place(&fx, words, PUMICE_CDM_LAUNCH_WORDS),
		     PUMICE_FAULT_CDM_STATE, PUMICE_UNIT_CDM);
}

static void return_outside_of_a_sub_list(void)
{
	struct fixture fx = fx_open();
	u32 word = command_word(PUMICE_CDM_TYPE_RETURN);

	expect_fault(&fx, fx_place(&fx, &word, 1), PUMICE_FAULT_CDM_RETURN, PUMICE_UNIT_CDM);
}

static u64 place_call(struct fixture *fx, u64 to)
{
	const struct pumice_cdm_call call = { .addr = to };
	u32 words[PUMICE_CDM_CALL_WORDS + PUMICE_CDM_HALT_WORDS];

	pumice_cdm_call_pack(words, &call);
	words[PUMICE_CDM_CALL_WORDS] = command_word(PUMICE_CDM_TYPE_HALT);
	return fx_place(fx, words, sizeof(words) / sizeof(words[0]));
}

static void sub_list_that_calls_itself(void)
{
	struct fixture fx = fx_open();
	u64 at = fx_empty_stream(&fx) + 16;

	CHECK_EQUAL(place_call(&fx, at), at);
	expect_fault(&fx, at, PUMICE_FAULT_CDM_DEPTH, PUMICE_UNIT_CDM);
}

static void call_of_an_unmapped_sub_list(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_context_get_state state =
		expect_fault(&fx, place_call(&fx, UNMAPPED), PUMICE_FAULT_MMU_PT_INVALID,
			     PUMICE_UNIT_CDM);

	CHECK_EQUAL(state.fault_va, UNMAPPED);
}

/* -------------------------------------------------- state and launch words */

/* Return the stream of a launch with this state, whose PDS program is @pds. */
static u64 state_stream(struct fixture *fx, struct pumice_cdm_state state,
			struct pumice_cdm_launch grid)
{
	u32 words[PUMICE_CDM_STATE_WORDS + PUMICE_CDM_LAUNCH_WORDS + PUMICE_CDM_HALT_WORDS];

	pumice_cdm_state_pack(words, &state);
	pumice_cdm_launch_pack(words + PUMICE_CDM_STATE_WORDS, &grid);
	words[PUMICE_CDM_STATE_WORDS + PUMICE_CDM_LAUNCH_WORDS] =
		command_word(PUMICE_CDM_TYPE_HALT);
	return fx_place(fx, words, sizeof(words) / sizeof(words[0]));
}

static const struct pumice_cdm_launch one_group = { .groups_x = 1, .groups_y = 1, .groups_z = 1 };

/* Create a PDS program that starts an empty task, and a state that uses it. */
static struct pumice_cdm_state good_state(struct fixture *fx)
{
	const struct shader shader = shader_end();
	u32 words[2 * 4] = { 0 };

	pumice_pds_pack(words, &(struct pumice_pds_insn){
		.opcode = PUMICE_PDS_OP_TASK, .addr = fx_place(fx, shader.words, 4), .insns = 1,
	});
	pumice_pds_pack(words + 4, &(struct pumice_pds_insn){ .opcode = PUMICE_PDS_OP_END });
	return (struct pumice_cdm_state){
		.pds_addr = fx_place(fx, words, 8), .pds_insns = 2, .shared = 4, .attrs = 1,
		.temps = 4, .size_x = 32, .size_y = 1, .size_z = 1,
	};
}

static void good_state_works(void)
{
	struct fixture fx = fx_open();

	CHECK_EQUAL(fx_run(&fx, state_stream(&fx, good_state(&fx), one_group)), 1);
}

static void group_of_no_or_too_many_instances(void)
{
	struct fixture fx = fx_open();
	struct pumice_cdm_state state = good_state(&fx);

	state.size_x = 0;
	expect_fault(&fx, state_stream(&fx, state, one_group), PUMICE_FAULT_CDM_GROUP_SIZE,
		     PUMICE_UNIT_CDM);
	state.size_x = 1024;
	state.size_y = 2;
	expect_fault(&fx, state_stream(&fx, state, one_group), PUMICE_FAULT_CDM_GROUP_SIZE,
		     PUMICE_UNIT_CDM);
	state.size_x = 2047;
	state.size_y = 2047;
	state.size_z = 1023;
	expect_fault(&fx, state_stream(&fx, state, one_group), PUMICE_FAULT_CDM_GROUP_SIZE,
		     PUMICE_UNIT_CDM);
}

static void grid_that_overflows(void)
{
	struct fixture fx = fx_open();
	struct pumice_cdm_launch grid = one_group;

	grid.base_x = UINT32_MAX;
	grid.groups_x = 2;
	expect_fault(&fx, state_stream(&fx, good_state(&fx), grid), PUMICE_FAULT_CDM_GRID,
		     PUMICE_UNIT_CDM);
	grid = (struct pumice_cdm_launch){
		.groups_x = UINT32_MAX, .groups_y = UINT32_MAX, .groups_z = UINT32_MAX,
	};
	expect_fault(&fx, state_stream(&fx, good_state(&fx), grid), PUMICE_FAULT_CDM_GRID,
		     PUMICE_UNIT_CDM);
}

static void launch_that_can_never_fit(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_query_gpu info = need_info(fx.fd);
	struct pumice_cdm_state state = good_state(&fx);

	state.local_bytes = info.local_bytes + 4;
	expect_fault(&fx, state_stream(&fx, state, one_group), PUMICE_FAULT_PDS_RESOURCE,
		     PUMICE_UNIT_PDS);
	state = good_state(&fx);
	state.temps = PUMICE_USC_MAX_TEMPS;
	state.attrs = PUMICE_USC_MAX_ATTRS;
	state.size_x = PUMICE_GROUP_INSTANCES;
	expect_fault(&fx, state_stream(&fx, state, one_group), PUMICE_FAULT_PDS_RESOURCE,
		     PUMICE_UNIT_PDS);
}

/* ----------------------------------------------------------- PDS programs */

static const struct pumice_pds_insn pds_end = { .opcode = PUMICE_PDS_OP_END };

/* Expect a fault of a PDS program with one instruction before task and end. */
static void refuse_pds(struct fixture *fx, struct pumice_pds_insn first, u32 fault, u32 unit)
{
	const struct shader shader = shader_end();
	const struct pumice_pds_insn task = {
		.opcode = PUMICE_PDS_OP_TASK, .addr = fx_place(fx, shader.words, 4), .insns = 1,
	};
	struct pumice_cdm_state state = good_state(fx);
	u32 words[3 * 4] = { 0 };

	pumice_pds_pack(words, &first);
	pumice_pds_pack(words + 4, &task);
	pumice_pds_pack(words + 8, &pds_end);
	state.pds_addr = fx_place(fx, words, 12);
	state.pds_insns = 3;
	expect_fault(fx, state_stream(fx, state, one_group), fault, unit);
}

static void unmapped_pds_program(void)
{
	struct fixture fx = fx_open();
	struct pumice_cdm_state state = good_state(&fx);
	struct drm_pumice_context_get_state after;

	state.pds_addr = UNMAPPED;
	after = expect_fault(&fx, state_stream(&fx, state, one_group),
			     PUMICE_FAULT_MMU_PT_INVALID, PUMICE_UNIT_PDS);
	CHECK_EQUAL(after.fault_va, UNMAPPED);
}

static void pds_program_of_no_instructions(void)
{
	struct fixture fx = fx_open();
	struct pumice_cdm_state state = good_state(&fx);

	state.pds_insns = 0;
	expect_fault(&fx, state_stream(&fx, state, one_group), PUMICE_FAULT_PDS_ADDRESS,
		     PUMICE_UNIT_PDS);
}

static void illegal_pds_instruction(void)
{
	struct fixture fx = fx_open();
	struct pumice_cdm_state state = good_state(&fx);
	u32 words[4] = { 0xff };

	state.pds_addr = fx_place(&fx, words, 4);
	state.pds_insns = 1;
	expect_fault(&fx, state_stream(&fx, state, one_group), PUMICE_FAULT_PDS_OPCODE,
		     PUMICE_UNIT_PDS);
	memset(words, 0, sizeof(words));
	state.pds_addr = fx_place(&fx, words, 4);
	expect_fault(&fx, state_stream(&fx, state, one_group), PUMICE_FAULT_PDS_OPCODE,
		     PUMICE_UNIT_PDS);
}

static void reserved_bits_of_a_pds_instruction(void)
{
	struct fixture fx = fx_open();
	struct pumice_cdm_state state = good_state(&fx);
	u32 words[4] = { 0 };

	pumice_pds_pack(words, &pds_end);
	words[3] |= 1u << 31;
	state.pds_addr = fx_place(&fx, words, 4);
	state.pds_insns = 1;
	expect_fault(&fx, state_stream(&fx, state, one_group), PUMICE_FAULT_PDS_RESERVED,
		     PUMICE_UNIT_PDS);
}

static void pds_program_without_end(void)
{
	struct fixture fx = fx_open();
	struct pumice_cdm_state state = good_state(&fx);

	state.pds_insns = 1;
	expect_fault(&fx, state_stream(&fx, state, one_group), PUMICE_FAULT_PDS_NO_END,
		     PUMICE_UNIT_PDS);
}

static void pds_program_without_task(void)
{
	struct fixture fx = fx_open();
	struct pumice_cdm_state state = good_state(&fx);
	u32 words[4] = { 0 };

	pumice_pds_pack(words, &pds_end);
	state.pds_addr = fx_place(&fx, words, 4);
	state.pds_insns = 1;
	expect_fault(&fx, state_stream(&fx, state, one_group), PUMICE_FAULT_PDS_NO_TASK,
		     PUMICE_UNIT_PDS);
}

static void pds_program_with_two_tasks(void)
{
	struct fixture fx = fx_open();
	const struct shader shader = shader_end();

	refuse_pds(&fx, (struct pumice_pds_insn){
		.opcode = PUMICE_PDS_OP_TASK, .addr = fx_place(&fx, shader.words, 4), .insns = 1,
	}, PUMICE_FAULT_PDS_TWO_TASKS, PUMICE_UNIT_PDS);
}

static void pds_register_beyond_the_allocation(void)
{
	struct fixture fx = fx_open();

	refuse_pds(&fx, (struct pumice_pds_insn){
		.opcode = PUMICE_PDS_OP_LDI, .bank = PUMICE_PDS_BANK_SH, .reg = 4,
	}, PUMICE_FAULT_PDS_REGISTER, PUMICE_UNIT_PDS);
	refuse_pds(&fx, (struct pumice_pds_insn){
		.opcode = PUMICE_PDS_OP_LDI, .bank = PUMICE_PDS_BANK_V, .reg = 1,
	}, PUMICE_FAULT_PDS_REGISTER, PUMICE_UNIT_PDS);
}

static void pds_source_that_a_shared_register_cannot_take(void)
{
	struct fixture fx = fx_open();

	refuse_pds(&fx, (struct pumice_pds_insn){
		.opcode = PUMICE_PDS_OP_MOV, .bank = PUMICE_PDS_BANK_SH,
		.source = PUMICE_PDS_SOURCE_LOCAL_X,
	}, PUMICE_FAULT_PDS_SOURCE, PUMICE_UNIT_PDS);
}

static void pds_burst_that_is_malformed(void)
{
	struct fixture fx = fx_open();
	struct pumice_pds_insn dma = {
		.opcode = PUMICE_PDS_OP_DMA, .bank = PUMICE_PDS_BANK_SH, .count = 4,
		.addr = fx.data.va + 2,
	};

	refuse_pds(&fx, dma, PUMICE_FAULT_PDS_DMA, PUMICE_UNIT_PDS);
	dma.addr = fx.data.va;
	dma.count = 0;
	refuse_pds(&fx, dma, PUMICE_FAULT_PDS_DMA, PUMICE_UNIT_PDS);
}

static void pds_burst_from_unmapped_memory(void)
{
	struct fixture fx = fx_open();

	refuse_pds(&fx, (struct pumice_pds_insn){
		.opcode = PUMICE_PDS_OP_DMA, .bank = PUMICE_PDS_BANK_SH, .count = 4,
		.addr = UNMAPPED,
	}, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_UNIT_PDS);
}

static const struct test_case cases[] = {
	TEST_CASE(unmapped_stream),
	TEST_CASE(stream_beyond_the_space),
	TEST_CASE(stream_that_runs_into_a_hole),
	TEST_CASE(command_that_reaches_into_a_hole),
	TEST_CASE(unknown_commands),
	TEST_CASE(reserved_bits_of_a_command),
	TEST_CASE(launch_without_state),
	TEST_CASE(return_outside_of_a_sub_list),
	TEST_CASE(sub_list_that_calls_itself),
	TEST_CASE(call_of_an_unmapped_sub_list),
	TEST_CASE(good_state_works),
	TEST_CASE(group_of_no_or_too_many_instances),
	TEST_CASE(grid_that_overflows),
	TEST_CASE(launch_that_can_never_fit),
	TEST_CASE(unmapped_pds_program),
	TEST_CASE(pds_program_of_no_instructions),
	TEST_CASE(illegal_pds_instruction),
	TEST_CASE(reserved_bits_of_a_pds_instruction),
	TEST_CASE(pds_program_without_end),
	TEST_CASE(pds_program_without_task),
	TEST_CASE(pds_program_with_two_tasks),
	TEST_CASE(pds_register_beyond_the_allocation),
	TEST_CASE(pds_source_that_a_shared_register_cannot_take),
	TEST_CASE(pds_burst_that_is_malformed),
	TEST_CASE(pds_burst_from_unmapped_memory),
};

TEST_MAIN(cases)
