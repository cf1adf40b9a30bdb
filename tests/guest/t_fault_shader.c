// SPDX-License-Identifier: MIT
/* Invalid shader programs: each faults its job, by name, and affects no other job. */
#include <errno.h>
#include <string.h>

#include "fault.h"
#include "harness.h"
#include "pumice_formats.h"

#define UNMAPPED FX_FREE

/* Expect a fault of a shader; unless the launch changes it, sh0:sh1 is the fixture's data. */
static struct drm_pumice_context_get_state refuse(struct fixture *fx, const struct shader *shader,
						  u32 fault, u32 unit)
{
	const struct launch launch = {
		.shader = shader,
		.params = { (u32)fx->data.va, (u32)(fx->data.va >> 32), 1 },
	};

	return expect_fault(fx, fx_stream(fx, &launch), fault, unit);
}

/* Expect a fault of one instruction, at index 1, after a valid one. */
static struct drm_pumice_context_get_state refuse_insn(struct fixture *fx,
						       struct pumice_usc_insn insn, u32 fault)
{
	struct shader shader = { .insns = 0 };
	struct drm_pumice_context_get_state state;

	emit(&shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_ADD, .dst = reg_r(1), .src0 = reg_v(0), .src1 = reg_sh(2),
	});
	emit(&shader, insn);
	emit_end(&shader);
	state = refuse(fx, &shader, fault, PUMICE_UNIT_USC_CODE);
	CHECK_EQUAL(state.pc, 1);
	return state;
}

static void unknown_opcode(void)
{
	static const u32 bad[][4] = {
		{ 0, 0, 0, 0 }, { 0xff, 0, 0, 0 },
		{ UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX },
	};
	struct fixture fx = fx_open();
	u32 i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct shader shader = { .insns = 0 };

		emit_raw(&shader, bad[i]);
		refuse(&fx, &shader, PUMICE_FAULT_USC_OPCODE, PUMICE_UNIT_USC_CODE);
	}
}

static void reserved_bits_of_an_instruction(void)
{
	struct fixture fx = fx_open();
	struct shader shader = shader_end();

	shader.words[3] |= 1u << 31;
	refuse(&fx, &shader, PUMICE_FAULT_USC_RESERVED, PUMICE_UNIT_USC_CODE);
}

static void operation_that_does_not_exist_for_its_type(void)
{
	struct fixture fx = fx_open();

	refuse_insn(&fx, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_AND, .type = PUMICE_USC_TYPE_F32, .dst = reg_r(1),
		.src0 = reg_r(1), .src1 = reg_r(1),
	}, PUMICE_FAULT_USC_TYPE);
}

static void operand_that_the_place_does_not_take(void)
{
	struct fixture fx = fx_open();

	refuse_insn(&fx, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_ADD, .dst = reg_sh(1), .src0 = reg_r(1), .src1 = reg_r(1),
	}, PUMICE_FAULT_USC_OPERAND);
}

static void register_beyond_the_allocation(void)
{
	struct fixture fx = fx_open();

	refuse_insn(&fx, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_ADD, .dst = reg_r(SHADER_TEMPS), .src0 = reg_r(1),
		.src1 = reg_r(1),
	}, PUMICE_FAULT_USC_REGISTER);
	refuse_insn(&fx, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_ADD, .dst = reg_r(1), .src0 = reg_r(1),
		.src1 = reg_sh(LAUNCH_PARAMS),
	}, PUMICE_FAULT_USC_REGISTER);
	refuse_insn(&fx, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_ADD, .dst = reg_r(1), .src0 = reg_v(1), .src1 = reg_r(1),
	}, PUMICE_FAULT_USC_REGISTER);
}

static void branch_out_of_the_program(void)
{
	struct fixture fx = fx_open();

	refuse_insn(&fx, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_JUMP, .target = 3,
	}, PUMICE_FAULT_USC_BRANCH);
	refuse_insn(&fx, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_JUMP, .target = 0xfffff,
	}, PUMICE_FAULT_USC_BRANCH);
}

static void running_past_the_last_instruction(void)
{
	struct fixture fx = fx_open();
	struct shader shader = { .insns = 0 };

	emit_store(&shader, 1, 0);
	refuse(&fx, &shader, PUMICE_FAULT_USC_END, PUMICE_UNIT_USC_CODE);
}

/* ------------------------------------------------------- location in memory */

/* Expect a fault of a launch whose PDS program starts @insns instructions at @code. */
static struct drm_pumice_context_get_state refuse_task(struct fixture *fx, u64 code, u32 insns,
						       u32 fault, u32 unit)
{
	u32 pds[2 * 4] = { 0 }, words[16];
	struct pumice_cdm_state state = {
		.pds_insns = 2, .temps = 4, .size_x = 32, .size_y = 1, .size_z = 1,
	};
	const struct pumice_cdm_launch grid = { .groups_x = 1, .groups_y = 1, .groups_z = 1 };
	u32 count = PUMICE_CDM_STATE_WORDS;

	pumice_pds_pack(pds, &(struct pumice_pds_insn){
		.opcode = PUMICE_PDS_OP_TASK, .addr = code, .insns = insns,
	});
	pumice_pds_pack(pds + 4, &(struct pumice_pds_insn){ .opcode = PUMICE_PDS_OP_END });
	state.pds_addr = fx_place(fx, pds, 8);
	pumice_cdm_state_pack(words, &state);
	pumice_cdm_launch_pack(words + count, &grid);
	count += PUMICE_CDM_LAUNCH_WORDS;
	pumice_cdm_halt_pack(words + count, &(struct pumice_cdm_halt){ 0 });
	return expect_fault(fx, fx_place(fx, words, count + 1), fault, unit);
}

static void unmapped_program(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_context_get_state state =
		refuse_task(&fx, UNMAPPED, 4, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_UNIT_USC_CODE);

	CHECK_EQUAL(state.fault_va, UNMAPPED);
	CHECK_EQUAL(state.access, PUMICE_ACCESS_EXEC);
}

static void misaligned_program(void)
{
	struct fixture fx = fx_open();

	refuse_task(&fx, FX_CODE + 8, 1, PUMICE_FAULT_USC_PROGRAM, PUMICE_UNIT_USC_CODE);
}

static void program_of_no_or_too_many_instructions(void)
{
	struct fixture fx = fx_open();

	refuse_task(&fx, FX_CODE, 0, PUMICE_FAULT_USC_PROGRAM, PUMICE_UNIT_USC_CODE);
	refuse_task(&fx, FX_CODE, PUMICE_USC_MAX_INSNS + 1, PUMICE_FAULT_USC_PROGRAM,
		    PUMICE_UNIT_USC_CODE);
}

/* ---------------------------------------------------------------- accesses */

static void misaligned_global_access(void)
{
	struct fixture fx = fx_open();
	struct shader shader = { .insns = 0 };
	struct drm_pumice_context_get_state state;

	emit_store(&shader, 1, 2);
	emit_end(&shader);
	state = refuse(&fx, &shader, PUMICE_FAULT_USC_GLOBAL_ALIGN, PUMICE_UNIT_USC_DATA);
	CHECK_EQUAL(state.pc, 1);
	CHECK_EQUAL(state.access, PUMICE_ACCESS_WRITE);
	CHECK_EQUAL(state.fault_va % 4, 2);
}

static void unmapped_load(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_context_get_state state =
		expect_fault(&fx, fx_copy_stream(&fx, fx.data.va, UNMAPPED, 0),
			     PUMICE_FAULT_MMU_PT_INVALID, PUMICE_UNIT_USC_DATA);

	CHECK_EQUAL(state.access, PUMICE_ACCESS_READ);
	CHECK_EQUAL(state.fault_va, UNMAPPED);
}

static void unmapped_store(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_context_get_state state =
		expect_fault(&fx, fx_store_stream(&fx, UNMAPPED, 0),
			     PUMICE_FAULT_MMU_PT_INVALID, PUMICE_UNIT_USC_DATA);

	CHECK_EQUAL(state.access, PUMICE_ACCESS_WRITE);
	CHECK_EQUAL(state.fault_va, UNMAPPED);
}

/*
 * Instances store to the first word of the data, but instance 84 of the second work-group to
 * an unmapped address: its lane, wave and group are those of the fault.
 */
static void fault_names_program_wave_lane_and_group(void)
{
	struct drm_pumice_job_get_result result = { 0 };
	struct fixture fx = fx_open();
	struct shader shader = { .insns = 0 };
	const struct launch launch = {
		.shader = &shader, .groups = 2, .size = 128,
		.params = { (u32)fx.data.va, (u32)(fx.data.va >> 32), 128 + 84 },
	};

	emit(&shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_SUB, .dst = reg_r(1), .src0 = reg_v(0), .src1 = reg_sh(2),
	});
	/* This is 0 only for that instance, and 1 - min(x, 1) is 1. */
	emit(&shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_MIN, .dst = reg_r(1), .src0 = reg_r(1),
		.src1 = immediate(), .imm = 1,
	});
	emit(&shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_XOR, .dst = reg_r(1), .src0 = reg_r(1),
		.src1 = immediate(), .imm = 1,
	});
	emit(&shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_SHL, .dst = reg_r(1), .src0 = reg_r(1),
		.src1 = immediate(), .imm = 31,
	});
	emit(&shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_GLOBAL_STORE32, .mask = mask_all(), .src0 = reg_r(1),
		.src1 = reg_r(1), .src2 = reg_sh(0),
	});
	emit_end(&shader);
	expect_fault(&fx, fx_stream(&fx, &launch), PUMICE_FAULT_MMU_PT_INVALID,
		     PUMICE_UNIT_USC_DATA);
	CHECK_OK(gpu_job_result(fx.fd, fx.context, 1, &result));
	CHECK_EQUAL(result.known, DRM_PUMICE_FAULT_PROGRAM | DRM_PUMICE_FAULT_WAVE |
				  DRM_PUMICE_FAULT_LANE | DRM_PUMICE_FAULT_GROUP);
	CHECK(result.code >= FX_CODE && result.code < FX_CODE + FX_CODE_BYTES);
	CHECK_EQUAL(result.pc, 4);
	CHECK_EQUAL(result.fault_va, fx.data.va + (1u << 31));
	CHECK_EQUAL(result.lane, 84 % 32);
	CHECK_EQUAL(result.instance, 84);
	CHECK_EQUAL(result.wave, 84 / 32);
	CHECK_EQUAL(result.lanes, UINT32_MAX);
	CHECK_EQUAL(result.group[0], 1);
	CHECK_EQUAL(result.group[1], 0);
	CHECK_EQUAL(result.group[2], 0);
	/* A job that completed successfully has no fault location. */
	CHECK_OK(gpu_job_result(fx.fd, fx.context, 2, &result));
	CHECK_EQUAL(result.error, 0);
	CHECK_EQUAL(result.known, 0);
	CHECK_EQUAL(result.code, 0);
}

static void access_beyond_the_space(void)
{
	struct fixture fx = fx_open();

	expect_fault(&fx, fx_store_stream(&fx, 1ull << PUMICE_MMU_VA_BITS, 0),
		     PUMICE_FAULT_MMU_ADDRESS, PUMICE_UNIT_USC_DATA);
	expect_fault(&fx, fx_store_stream(&fx, UINT64_MAX - 3, 0),
		     PUMICE_FAULT_MMU_ADDRESS, PUMICE_UNIT_USC_DATA);
}

static void firmware_memory_is_out_of_reach(void)
{
	struct fixture fx = fx_open();

	/* At low addresses, context 0 has the firmware's structures. */
	expect_fault(&fx, fx_store_stream(&fx, PAGE, 0), PUMICE_FAULT_MMU_PT_INVALID,
		     PUMICE_UNIT_USC_DATA);
}

static struct shader shader_local_store(u16 displacement)
{
	struct shader shader = { .insns = 0 };

	emit(&shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_SHL, .dst = reg_r(0), .src0 = reg_v(0),
		.src1 = immediate(), .imm = 2,
	});
	emit(&shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_LOCAL_STORE32, .mask = mask_all(), .src0 = reg_r(0),
		.src1 = reg_r(0), .disp = displacement,
	});
	emit_end(&shader);
	return shader;
}

static void local_access_out_of_bounds(void)
{
	struct fixture fx = fx_open();
	struct shader inside = shader_local_store(0), outside = shader_local_store(4);
	struct launch launch = { .shader = &inside, .local_bytes = 128 };
	struct drm_pumice_context_get_state state;

	CHECK_EQUAL(fx_run(&fx, fx_stream(&fx, &launch)), 1);
	launch.shader = &outside;
	state = expect_fault(&fx, fx_stream(&fx, &launch), PUMICE_FAULT_USC_LOCAL_BOUNDS,
			     PUMICE_UNIT_USC_DATA);
	CHECK_EQUAL(state.fault_va, 128);
	launch.shader = &inside;
	launch.local_bytes = 0;
	expect_fault(&fx, fx_stream(&fx, &launch), PUMICE_FAULT_USC_LOCAL_BOUNDS,
		     PUMICE_UNIT_USC_DATA);
}

static void local_access_misaligned(void)
{
	struct fixture fx = fx_open();
	struct shader shader = shader_local_store(1);
	const struct launch launch = { .shader = &shader, .local_bytes = 256 };

	expect_fault(&fx, fx_stream(&fx, &launch), PUMICE_FAULT_USC_LOCAL_ALIGN,
		     PUMICE_UNIT_USC_DATA);
}

/* Wave 0 waits at the barrier; the others end, so that it waits forever. */
static void barrier_that_is_never_reached(void)
{
	struct fixture fx = fx_open();
	struct shader shader = { .insns = 0 };
	const struct launch launch = { .shader = &shader, .size = 128 };

	emit(&shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_LT, .dst = reg_r(0), .src0 = reg_v(0),
		.src1 = immediate(), .imm = 32,
	});
	emit(&shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_BR_ANY, .mask = mask_register(0), .target = 3,
	});
	emit_end(&shader);
	emit(&shader, (struct pumice_usc_insn){ .opcode = PUMICE_USC_OP_BARRIER });
	emit_end(&shader);
	expect_fault(&fx, fx_stream(&fx, &launch), PUMICE_FAULT_USC_BARRIER,
		     PUMICE_UNIT_USC_CODE);
}

/* --------------------------------------------------------- around the fault */

static void job_with_many_faults_reports_one(void)
{
	struct fixture fx = fx_open();
	const struct shader shader = shader_store();
	const struct launch launch = {
		.shader = &shader, .params = { (u32)UNMAPPED, (u32)(UNMAPPED >> 32) },
		.groups = 500, .size = 256,
	};

	expect_fault(&fx, fx_stream(&fx, &launch), PUMICE_FAULT_MMU_PT_INVALID,
		     PUMICE_UNIT_USC_DATA);
}

static void jobs_after_a_faulting_one_run(void)
{
	struct fixture fx = fx_open();
	u64 bad = fx_store_stream(&fx, UNMAPPED, 0);
	u64 good = fx_store_stream(&fx, fx.data.va, 31);

	fx_submit(&fx, bad);
	fx_submit(&fx, good);
	CHECK_EQUAL(fx_wait(&fx), 1);
	fx_check_words(fx.data.cpu, 31);
	CHECK_EQUAL(need_state(fx.fd, fx.context).jobs_faulted, 1);
}

static void job_that_waits_for_a_faulting_one_runs(void)
{
	int fd = need_gpu();
	struct fixture bad = fx_on(fd), good = fx_on(fd);
	struct drm_pumice_sync syncs[] = { wait_for(bad.sync, 0), then_signal(good.sync, 0) };
	struct drm_pumice_job job = {
		.context = good.context, .stream = fx_store_stream(&good, good.data.va, 32),
		.syncs = ARRAY_OF(syncs, 2),
	};

	fx_submit(&bad, fx_store_stream(&bad, UNMAPPED, 0));
	CHECK_OK(gpu_submit(fd, &job, 1, NULL));
	CHECK_EQUAL(fx_wait(&good), 1);
	CHECK_EQUAL(fx_wait(&bad), -EIO);
	fx_check_words(good.data.cpu, 32);
}

static void last_fault_is_the_one_reported(void)
{
	struct fixture fx = fx_open();

	expect_fault(&fx, fx_store_stream(&fx, UNMAPPED, 0), PUMICE_FAULT_MMU_PT_INVALID,
		     PUMICE_UNIT_USC_DATA);
	expect_fault(&fx, UNMAPPED, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_UNIT_CDM);
}

static void hundred_faults_in_a_row_do_no_harm(void)
{
	struct fixture fx = fx_open();
	u64 bad = fx_store_stream(&fx, UNMAPPED, 0);
	u32 i;

	for (i = 0; i < 100; i++)
		fx_submit(&fx, bad);
	CHECK_EQUAL(fx_wait(&fx), -EIO);
	CHECK_EQUAL(need_state(fx.fd, fx.context).jobs_faulted, 100);
	fx_check_works(&fx);
}

static const struct test_case cases[] = {
	TEST_CASE(unknown_opcode),
	TEST_CASE(reserved_bits_of_an_instruction),
	TEST_CASE(operation_that_does_not_exist_for_its_type),
	TEST_CASE(operand_that_the_place_does_not_take),
	TEST_CASE(register_beyond_the_allocation),
	TEST_CASE(branch_out_of_the_program),
	TEST_CASE(running_past_the_last_instruction),
	TEST_CASE(unmapped_program),
	TEST_CASE(misaligned_program),
	TEST_CASE(program_of_no_or_too_many_instructions),
	TEST_CASE(misaligned_global_access),
	TEST_CASE(unmapped_load),
	TEST_CASE(unmapped_store),
	TEST_CASE(fault_names_program_wave_lane_and_group),
	TEST_CASE(access_beyond_the_space),
	TEST_CASE(firmware_memory_is_out_of_reach),
	TEST_CASE(local_access_out_of_bounds),
	TEST_CASE(local_access_misaligned),
	TEST_CASE(barrier_that_is_never_reached),
	TEST_CASE(job_with_many_faults_reports_one),
	TEST_CASE(jobs_after_a_faulting_one_run),
	TEST_CASE(job_that_waits_for_a_faulting_one_runs),
	TEST_CASE(last_fault_is_the_one_reported),
	TEST_CASE(hundred_faults_in_a_row_do_no_harm),
};

TEST_MAIN(cases)
