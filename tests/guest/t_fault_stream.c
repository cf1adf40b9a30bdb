// SPDX-License-Identifier: MIT
/* Malformed control streams and PDS programs: each faults its job, by name, and harms nobody. */
#include <errno.h>
#include <string.h>

#include "fault.h"
#include "harness.h"
#include "pumice_formats.h"

#define UNMAPPED RIG_FREE

/* Types of commands: all of them have the type where HALT has it. */
static u32 command_word(u32 type)
{
	return PUMICE_FIELD_PREP(PUMICE_CDM_HALT__TYPE, type);
}

/* ------------------------------------------------------------- the stream */

static void unmapped_stream(void)
{
	struct rig rig = rig_open();
	struct drm_pumice_context_get_state state =
		expect_fault(&rig, UNMAPPED, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_UNIT_CDM);

	CHECK_EQUAL(state.fault_va, UNMAPPED);
	CHECK_EQUAL(state.access, PUMICE_ACCESS_READ);
}

static void stream_beyond_the_space(void)
{
	struct rig rig = rig_open();

	/* The firmware does not start what the CDM's register cannot hold. */
	expect_fault(&rig, 1ull << PUMICE_MMU_VA_BITS, PUMICE_FAULT_MMU_ADDRESS, PUMICE_UNIT_FW);
	expect_fault(&rig, 1ull << 63, PUMICE_FAULT_MMU_ADDRESS, PUMICE_UNIT_FW);
}

static void stream_that_runs_into_a_hole(void)
{
	struct rig rig = rig_open();
	struct mem mem = need_mem(rig.fd, rig.vm, UNMAPPED, PAGE);
	struct drm_pumice_context_get_state state;
	u32 i;

	for (i = 0; i < PAGE / 4; i++)
		pumice_cdm_fence_pack(&mem.cpu[i], &(struct pumice_cdm_fence){ 0 });
	state = expect_fault(&rig, UNMAPPED, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_UNIT_CDM);
	CHECK_EQUAL(state.fault_va, UNMAPPED + PAGE);
}

static void command_that_reaches_into_a_hole(void)
{
	struct rig rig = rig_open();
	struct mem mem = need_mem(rig.fd, rig.vm, UNMAPPED, PAGE);
	struct drm_pumice_context_get_state state;

	mem.cpu[PAGE / 4 - 1] = command_word(PUMICE_CDM_TYPE_LAUNCH);
	state = expect_fault(&rig, UNMAPPED + PAGE - 4, PUMICE_FAULT_MMU_PT_INVALID,
			     PUMICE_UNIT_CDM);
	CHECK_EQUAL(state.fault_va, UNMAPPED + PAGE);
}

static void unknown_commands(void)
{
	struct rig rig = rig_open();
	u32 type;

	for (type = 0; type < 16; type++) {
		u32 word = command_word(type);

		if (type && type < PUMICE_CDM_TYPE_COUNT)
			continue;
		expect_fault(&rig, rig_place(&rig, &word, 1), PUMICE_FAULT_CDM_COMMAND,
			     PUMICE_UNIT_CDM);
	}
}

static void reserved_bits_of_a_command(void)
{
	struct rig rig = rig_open();
	u32 word = command_word(PUMICE_CDM_TYPE_HALT) | 1;

	expect_fault(&rig, rig_place(&rig, &word, 1), PUMICE_FAULT_CDM_RESERVED, PUMICE_UNIT_CDM);
}

static void launch_without_state(void)
{
	struct rig rig = rig_open();
	const struct pumice_cdm_launch grid = { .groups_x = 1, .groups_y = 1, .groups_z = 1 };
	u32 words[PUMICE_CDM_LAUNCH_WORDS];

	pumice_cdm_launch_pack(words, &grid);
	expect_fault(&rig, rig_place(&rig, words, PUMICE_CDM_LAUNCH_WORDS),
		     PUMICE_FAULT_CDM_STATE, PUMICE_UNIT_CDM);
}

static void return_outside_of_a_sub_list(void)
{
	struct rig rig = rig_open();
	u32 word = command_word(PUMICE_CDM_TYPE_RETURN);

	expect_fault(&rig, rig_place(&rig, &word, 1), PUMICE_FAULT_CDM_RETURN, PUMICE_UNIT_CDM);
}

static u64 place_call(struct rig *rig, u64 to)
{
	const struct pumice_cdm_call call = { .addr = to };
	u32 words[PUMICE_CDM_CALL_WORDS + PUMICE_CDM_HALT_WORDS];

	pumice_cdm_call_pack(words, &call);
	words[PUMICE_CDM_CALL_WORDS] = command_word(PUMICE_CDM_TYPE_HALT);
	return rig_place(rig, words, sizeof(words) / sizeof(words[0]));
}

static void sub_list_that_calls_itself(void)
{
	struct rig rig = rig_open();
	u64 at = rig_empty_stream(&rig) + 16;

	CHECK_EQUAL(place_call(&rig, at), at);
	expect_fault(&rig, at, PUMICE_FAULT_CDM_DEPTH, PUMICE_UNIT_CDM);
}

static void call_of_an_unmapped_sub_list(void)
{
	struct rig rig = rig_open();
	struct drm_pumice_context_get_state state =
		expect_fault(&rig, place_call(&rig, UNMAPPED), PUMICE_FAULT_MMU_PT_INVALID,
			     PUMICE_UNIT_CDM);

	CHECK_EQUAL(state.fault_va, UNMAPPED);
}

/* -------------------------------------------------- state and launch words */

/* Stream of a launch with this state, whose PDS program is @pds. */
static u64 state_stream(struct rig *rig, struct pumice_cdm_state state,
			struct pumice_cdm_launch grid)
{
	u32 words[PUMICE_CDM_STATE_WORDS + PUMICE_CDM_LAUNCH_WORDS + PUMICE_CDM_HALT_WORDS];

	pumice_cdm_state_pack(words, &state);
	pumice_cdm_launch_pack(words + PUMICE_CDM_STATE_WORDS, &grid);
	words[PUMICE_CDM_STATE_WORDS + PUMICE_CDM_LAUNCH_WORDS] =
		command_word(PUMICE_CDM_TYPE_HALT);
	return rig_place(rig, words, sizeof(words) / sizeof(words[0]));
}

static const struct pumice_cdm_launch one_group = { .groups_x = 1, .groups_y = 1, .groups_z = 1 };

/* A PDS program that starts an empty task, and a state that uses it. */
static struct pumice_cdm_state good_state(struct rig *rig)
{
	const struct shader shader = shader_end();
	u32 words[2 * 4] = { 0 };

	pumice_pds_pack(words, &(struct pumice_pds_insn){
		.opcode = PUMICE_PDS_OP_TASK, .addr = rig_place(rig, shader.words, 4), .insns = 1,
	});
	pumice_pds_pack(words + 4, &(struct pumice_pds_insn){ .opcode = PUMICE_PDS_OP_END });
	return (struct pumice_cdm_state){
		.pds_addr = rig_place(rig, words, 8), .pds_insns = 2, .shared = 4, .attrs = 1,
		.temps = 4, .size_x = 32, .size_y = 1, .size_z = 1,
	};
}

static void good_state_works(void)
{
	struct rig rig = rig_open();

	CHECK_EQUAL(rig_run(&rig, state_stream(&rig, good_state(&rig), one_group)), 1);
}

static void group_of_no_or_too_many_instances(void)
{
	struct rig rig = rig_open();
	struct pumice_cdm_state state = good_state(&rig);

	state.size_x = 0;
	expect_fault(&rig, state_stream(&rig, state, one_group), PUMICE_FAULT_CDM_GROUP_SIZE,
		     PUMICE_UNIT_CDM);
	state.size_x = 1024;
	state.size_y = 2;
	expect_fault(&rig, state_stream(&rig, state, one_group), PUMICE_FAULT_CDM_GROUP_SIZE,
		     PUMICE_UNIT_CDM);
	state.size_x = 2047;
	state.size_y = 2047;
	state.size_z = 1023;
	expect_fault(&rig, state_stream(&rig, state, one_group), PUMICE_FAULT_CDM_GROUP_SIZE,
		     PUMICE_UNIT_CDM);
}

static void grid_that_overflows(void)
{
	struct rig rig = rig_open();
	struct pumice_cdm_launch grid = one_group;

	grid.base_x = UINT32_MAX;
	grid.groups_x = 2;
	expect_fault(&rig, state_stream(&rig, good_state(&rig), grid), PUMICE_FAULT_CDM_GRID,
		     PUMICE_UNIT_CDM);
	grid = (struct pumice_cdm_launch){
		.groups_x = UINT32_MAX, .groups_y = UINT32_MAX, .groups_z = UINT32_MAX,
	};
	expect_fault(&rig, state_stream(&rig, good_state(&rig), grid), PUMICE_FAULT_CDM_GRID,
		     PUMICE_UNIT_CDM);
}

static void launch_that_can_never_fit(void)
{
	struct rig rig = rig_open();
	struct drm_pumice_query_gpu info = need_info(rig.fd);
	struct pumice_cdm_state state = good_state(&rig);

	state.local_bytes = info.local_bytes + 4;
	expect_fault(&rig, state_stream(&rig, state, one_group), PUMICE_FAULT_PDS_RESOURCE,
		     PUMICE_UNIT_PDS);
	state = good_state(&rig);
	state.shared = PUMICE_USC_MAX_SHARED;
	state.size_x = PUMICE_GROUP_INSTANCES;
	expect_fault(&rig, state_stream(&rig, state, one_group), PUMICE_FAULT_PDS_RESOURCE,
		     PUMICE_UNIT_PDS);
	state = good_state(&rig);
	state.temps = PUMICE_USC_MAX_TEMPS;
	state.attrs = PUMICE_USC_MAX_ATTRS;
	state.size_x = PUMICE_GROUP_INSTANCES;
	expect_fault(&rig, state_stream(&rig, state, one_group), PUMICE_FAULT_PDS_RESOURCE,
		     PUMICE_UNIT_PDS);
}

/* ----------------------------------------------------------- PDS programs */

static const struct pumice_pds_insn pds_end = { .opcode = PUMICE_PDS_OP_END };

/* A PDS program of one instruction before task and end must fault. */
static void refuse_pds(struct rig *rig, struct pumice_pds_insn first, u32 fault, u32 unit)
{
	const struct shader shader = shader_end();
	const struct pumice_pds_insn task = {
		.opcode = PUMICE_PDS_OP_TASK, .addr = rig_place(rig, shader.words, 4), .insns = 1,
	};
	struct pumice_cdm_state state = good_state(rig);
	u32 words[3 * 4] = { 0 };

	pumice_pds_pack(words, &first);
	pumice_pds_pack(words + 4, &task);
	pumice_pds_pack(words + 8, &pds_end);
	state.pds_addr = rig_place(rig, words, 12);
	state.pds_insns = 3;
	expect_fault(rig, state_stream(rig, state, one_group), fault, unit);
}

static void unmapped_pds_program(void)
{
	struct rig rig = rig_open();
	struct pumice_cdm_state state = good_state(&rig);
	struct drm_pumice_context_get_state after;

	state.pds_addr = UNMAPPED;
	after = expect_fault(&rig, state_stream(&rig, state, one_group),
			     PUMICE_FAULT_MMU_PT_INVALID, PUMICE_UNIT_PDS);
	CHECK_EQUAL(after.fault_va, UNMAPPED);
}

static void pds_program_of_no_instructions(void)
{
	struct rig rig = rig_open();
	struct pumice_cdm_state state = good_state(&rig);

	state.pds_insns = 0;
	expect_fault(&rig, state_stream(&rig, state, one_group), PUMICE_FAULT_PDS_ADDRESS,
		     PUMICE_UNIT_PDS);
}

static void illegal_pds_instruction(void)
{
	struct rig rig = rig_open();
	struct pumice_cdm_state state = good_state(&rig);
	u32 words[4] = { 0xff };

	state.pds_addr = rig_place(&rig, words, 4);
	state.pds_insns = 1;
	expect_fault(&rig, state_stream(&rig, state, one_group), PUMICE_FAULT_PDS_OPCODE,
		     PUMICE_UNIT_PDS);
	memset(words, 0, sizeof(words));
	state.pds_addr = rig_place(&rig, words, 4);
	expect_fault(&rig, state_stream(&rig, state, one_group), PUMICE_FAULT_PDS_OPCODE,
		     PUMICE_UNIT_PDS);
}

static void reserved_bits_of_a_pds_instruction(void)
{
	struct rig rig = rig_open();
	struct pumice_cdm_state state = good_state(&rig);
	u32 words[4] = { 0 };

	pumice_pds_pack(words, &pds_end);
	words[3] |= 1u << 31;
	state.pds_addr = rig_place(&rig, words, 4);
	state.pds_insns = 1;
	expect_fault(&rig, state_stream(&rig, state, one_group), PUMICE_FAULT_PDS_RESERVED,
		     PUMICE_UNIT_PDS);
}

static void pds_program_without_end(void)
{
	struct rig rig = rig_open();
	struct pumice_cdm_state state = good_state(&rig);

	state.pds_insns = 1;
	expect_fault(&rig, state_stream(&rig, state, one_group), PUMICE_FAULT_PDS_NO_END,
		     PUMICE_UNIT_PDS);
}

static void pds_program_without_task(void)
{
	struct rig rig = rig_open();
	struct pumice_cdm_state state = good_state(&rig);
	u32 words[4] = { 0 };

	pumice_pds_pack(words, &pds_end);
	state.pds_addr = rig_place(&rig, words, 4);
	state.pds_insns = 1;
	expect_fault(&rig, state_stream(&rig, state, one_group), PUMICE_FAULT_PDS_NO_TASK,
		     PUMICE_UNIT_PDS);
}

static void pds_program_with_two_tasks(void)
{
	struct rig rig = rig_open();
	const struct shader shader = shader_end();

	refuse_pds(&rig, (struct pumice_pds_insn){
		.opcode = PUMICE_PDS_OP_TASK, .addr = rig_place(&rig, shader.words, 4), .insns = 1,
	}, PUMICE_FAULT_PDS_TWO_TASKS, PUMICE_UNIT_PDS);
}

static void pds_register_beyond_the_allocation(void)
{
	struct rig rig = rig_open();

	refuse_pds(&rig, (struct pumice_pds_insn){
		.opcode = PUMICE_PDS_OP_LDI, .bank = PUMICE_PDS_BANK_SH, .reg = 4,
	}, PUMICE_FAULT_PDS_REGISTER, PUMICE_UNIT_PDS);
	refuse_pds(&rig, (struct pumice_pds_insn){
		.opcode = PUMICE_PDS_OP_LDI, .bank = PUMICE_PDS_BANK_V, .reg = 1,
	}, PUMICE_FAULT_PDS_REGISTER, PUMICE_UNIT_PDS);
}

static void pds_source_that_a_shared_register_cannot_take(void)
{
	struct rig rig = rig_open();

	refuse_pds(&rig, (struct pumice_pds_insn){
		.opcode = PUMICE_PDS_OP_MOV, .bank = PUMICE_PDS_BANK_SH,
		.source = PUMICE_PDS_SOURCE_LOCAL_X,
	}, PUMICE_FAULT_PDS_SOURCE, PUMICE_UNIT_PDS);
}

static void pds_burst_that_is_malformed(void)
{
	struct rig rig = rig_open();
	struct pumice_pds_insn dma = {
		.opcode = PUMICE_PDS_OP_DMA, .bank = PUMICE_PDS_BANK_SH, .count = 4,
		.addr = rig.data.va + 2,
	};

	refuse_pds(&rig, dma, PUMICE_FAULT_PDS_DMA, PUMICE_UNIT_PDS);
	dma.addr = rig.data.va;
	dma.count = 0;
	refuse_pds(&rig, dma, PUMICE_FAULT_PDS_DMA, PUMICE_UNIT_PDS);
}

static void pds_burst_from_unmapped_memory(void)
{
	struct rig rig = rig_open();

	refuse_pds(&rig, (struct pumice_pds_insn){
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
