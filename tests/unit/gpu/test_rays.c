// SPDX-License-Identifier: MIT
/*
 * Jobs of the ray-tracing data master through its registers: they end, abort and are reset while
 * they run; the mirrors of the registers for the host; a hang that is injected; limits of the PDS;
 * memory for one program.
 */
#include "../../../qemu-device/gpu/gpu.h"
#include "../../../qemu-device/gpu/usc/program.h"
#include "job.h"

#include <string.h>

#include "pumice_isa.h"

#define RAYS		1000u
#define STRUCTURE	(JOB_DATA + (1u << 20))	/* empty: all rays miss */
#define BUFFER		(JOB_DATA + (2u << 20))	/* of rays */
#define ANOTHER		(JOB_PDS + 2048)	/* another PDS program */
#define EVENTS		(PUMICE_IC_PENDING__RDM_DONE__MASK | PUMICE_IC_PENDING__RDM_FAULT__MASK | \
			 PUMICE_IC_PENDING__RDM_ABORTED__MASK)

/* Return the host memory of a page of job.h. */
static u32 *host(struct fixture *fx, u64 va)
{
	struct pumice_mmu_pt_entry pt;

	pumice_mmu_pt_entry_unpack64(*testmem_pt_entry(fx->tm, JOB_CTX, va), &pt);
	return testmem_host(fx->tm, pt.addr);
}

/* The programs of job.h, with the number of the ray in V0. */
static void write_pds(struct fixture *fx)
{
	const struct pumice_pds_insn index = {
		.opcode = PUMICE_PDS_OP_MOV, .bank = PUMICE_PDS_BANK_V,
		.source = PUMICE_PDS_SOURCE_RAY_INDEX,
	};

	pumice_pds_pack(host(fx, JOB_PDS) + 2 * PUMICE_PDS_WORDS, &index);
}

/* Write another program, after those, with an END more; return its instructions. */
static u32 write_another(struct fixture *fx)
{
	u32 *pds = host(fx, JOB_PDS), *code = host(fx, JOB_CODE), *task;
	struct pumice_pds_insn insn;

	memcpy(pds + (ANOTHER - JOB_PDS) / 4, pds, 5 * PUMICE_PDS_WORDS * 4);
	task = pds + (ANOTHER - JOB_PDS) / 4 + 3 * PUMICE_PDS_WORDS;
	assert_int_equal(pumice_pds_unpack(task, &insn), PUMICE_ISA_UNPACK_OK);
	assert_int_equal(insn.opcode, PUMICE_PDS_OP_TASK);
	memcpy(code + insn.insns * PUMICE_USC_WORDS, code + (insn.insns - 1) * PUMICE_USC_WORDS,
	       PUMICE_USC_WORDS * 4);
	insn.insns++;
	pumice_pds_pack(task, &insn);
	return insn.insns;
}

/* Launch all rays, which miss, with the PDS program at pds; return the next word. */
static u32 *put_launch(u32 *at, u64 pds)
{
	const struct pumice_stage miss = {
		.pds_addr = pds, .pds_insns = 5, .shared = 2, .attrs = 1, .temps = 3,
	};
	const struct pumice_rdm_launch launch = { .width = RAYS, .height = 1, .rays = BUFFER };
	struct pumice_rdm_state state = { .structure = STRUCTURE };

	pumice_stage_pack(state.miss, &miss);
	pumice_rdm_state_pack(at, &state);
	pumice_rdm_launch_pack(at + PUMICE_RDM_STATE_WORDS, &launch);
	return at + PUMICE_RDM_STATE_WORDS + PUMICE_RDM_LAUNCH_WORDS;
}

/* Write the memory that launches read. */
static void write_programs(struct fixture *fx, u32 *data, enum job_program program)
{
	const struct pumice_rt_header header = { .level = PUMICE_RT_LEVEL_BOTTOM };

	job_write_programs(fx, program);
	write_pds(fx);
	pumice_rt_header_pack(data + (STRUCTURE - JOB_DATA) / 4, &header);
}

static void start_stream(struct fixture *fx)
{
	fx_fw_write64(fx, PUMICE_MMU_CTX(JOB_CTX), testmem_ctx_reg(fx->tm, JOB_CTX));
	fx_fw_write64(fx, PUMICE_RDM_STREAM_BASE, JOB_STREAM);
	fx_fw_write64(fx, PUMICE_RDM_TAG, 0x700000005);
	fx_fw_write(fx, PUMICE_RDM_MMU_CTX, JOB_CTX);
	fx_fw_write(fx, PUMICE_RDM_CTRL, PUMICE_RDM_CTRL__START__MASK);
}

static void start(struct fixture *fx, u32 *data, enum job_program program)
{
	write_programs(fx, data, program);
	pumice_cdm_halt_pack(put_launch(job_stream(fx), JOB_PDS), &(struct pumice_cdm_halt){ 0 });
	start_stream(fx);
}

static void assert_complete(struct fixture *fx, u32 *data)
{
	u32 i;

	memset(data, 0, (RAYS + 1) * sizeof(*data));
	start(fx, data, JOB_NUMBER);
	assert_int_equal(fx_fw_wait(fx, EVENTS), PUMICE_IC_PENDING__RDM_DONE__MASK);
	assert_int_equal(fx_fw_read(fx, PUMICE_RDM_STATUS), 0);
	assert_int_equal(fx_fw_read64(fx, PUMICE_RDM_GROUPS), (RAYS + 127) / 128);
	assert_true(fx_fw_read64(fx, PUMICE_RDM_TIME_START) <=
		    fx_fw_read64(fx, PUMICE_RDM_TIME_END));
	for (i = 0; i < RAYS; i++)
		assert_int_equal(data[i], job_number(i));
	assert_int_equal(data[RAYS], 0);
	assert_int_equal(fx_read(fx, PUMICE_DBG_TASKS), 0);
}

static const struct fx_options options[] = {
	{ .cores = 1 }, { .cores = 4, .threads = 2 },
	{ .cores = 2, .uscs_per_core = 1, .threads = 1, .slots = 2 },
};

/* Tasks in flight: all, or one for each slot. */
static const u32 in_flight[] = { 8, 8, 4 };

static void jobs_end_and_the_host_sees_their_registers(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		struct fixture *fx = fx_create(&options[i]);
		u32 *data = job_map(fx);

		fx_boot_proxy(fx);
		assert_complete(fx, data);
		assert_complete(fx, data);	/* with counts of its own */
		assert_int_equal(fx_read(fx, PUMICE_DBG_RDM_STREAM), JOB_STREAM);
		assert_int_equal(fx_read(fx, PUMICE_DBG_RDM_TAG), 0x700000005);
		assert_int_equal(fx_read(fx, PUMICE_DBG_RDM_CTX), JOB_CTX);
		assert_int_equal(fx_read(fx, PUMICE_DBG_RDM_STATUS), 0);
		fx_destroy(fx);
	}
}

static void an_abort_stops_the_job_and_the_next_one_runs(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		struct fixture *fx = fx_create(&options[i]);
		u32 *data = job_map(fx);

		fx_boot_proxy(fx);
		start(fx, data, JOB_FOREVER);
		fx_wait_reg(fx, PUMICE_DBG_TASKS, ~0u, in_flight[i]);
		assert_int_equal(fx_read(fx, PUMICE_DBG_RDM_STATUS) &
				 PUMICE_DBG_RDM_STATUS__BUSY__MASK, 1);
		/* Ignored while busy. */
		fx_fw_write(fx, PUMICE_RDM_CTRL, PUMICE_RDM_CTRL__START__MASK);
		fx_fw_write(fx, PUMICE_RDM_CTRL, PUMICE_RDM_CTRL__ABORT__MASK);
		assert_int_equal(fx_fw_wait(fx, EVENTS), PUMICE_IC_PENDING__RDM_ABORTED__MASK);
		assert_int_equal(fx_fw_read64(fx, PUMICE_RDM_GROUPS), 0);
		assert_complete(fx, data);
		fx_destroy(fx);
	}
}

static void a_reset_while_a_job_runs_leaves_nothing_of_it(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		struct fixture *fx = fx_create(&options[i]);
		u32 *data = job_map(fx);

		fx_boot_proxy(fx);
		start(fx, data, JOB_FOREVER);
		fx_wait_reg(fx, PUMICE_DBG_TASKS, ~0u, in_flight[i]);
		pumice_gpu_reset(fx->gpu);
		assert_int_equal(fx_read(fx, PUMICE_DBG_RDM_STATUS), 0);
		assert_int_equal(fx_read(fx, PUMICE_DBG_RDM_STREAM), 0);
		assert_int_equal(fx_read(fx, PUMICE_DBG_TASKS), 0);
		fx_setup_mmu(fx);
		fx_boot_proxy(fx);
		assert_complete(fx, data);
		fx_destroy(fx);
	}
}

static void limits_apply_to_its_tasks(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 1, .threads = 1 });
	const u32 uscs = (u32)PUMICE_FIELD_GET(PUMICE_SYS_CONFIG__USCS,
					       fx_read(fx, PUMICE_SYS_CONFIG));
	u32 *data = job_map(fx);

	(void)state;
	fx_boot_proxy(fx);
	fx_write(fx, PUMICE_PDS_RDM_TASKS, 1);
	assert_int_equal(fx_read(fx, PUMICE_PDS_RDM_TASKS), 1);
	fx_write(fx, PUMICE_PDS_RDM_UNIFIED, 1 << 20);
	fx_write(fx, PUMICE_PDS_RDM_COMMON, 1 << 19);
	assert_int_equal(fx_read(fx, PUMICE_PDS_RDM_UNIFIED), 1 << 20);
	assert_int_equal(fx_read(fx, PUMICE_PDS_RDM_COMMON), 1 << 19);
	start(fx, data, JOB_FOREVER);
	fx_wait_reg(fx, PUMICE_PDS_DMS_WAITS(3), ~0u, 1);	/* no room for a third task */
	assert_int_equal(fx_read(fx, PUMICE_PDS_TASKS), uscs);
	fx_fw_write(fx, PUMICE_RDM_CTRL, PUMICE_RDM_CTRL__ABORT__MASK);
	assert_int_equal(fx_fw_wait(fx, EVENTS), PUMICE_IC_PENDING__RDM_ABORTED__MASK);
	assert_complete(fx, data);
	fx_destroy(fx);
}

/*
 * Memory for one program: a launch waits until the tasks of the one before it have ended, whose
 * programs are dropped then.
 */
static void programs_of_a_launch_that_has_ended_make_room(void **state)
{
	u32 i, n;

	(void)state;
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		struct fixture *fx = fx_create(&options[i]);
		u32 *data = job_map(fx), *at = job_stream(fx);
		bool short_of = false;

		fx_boot_proxy(fx);
		write_programs(fx, data, JOB_NUMBER);
		assert_int_equal(usc_cache_reserve(fx->gpu->programs, USC_STAGE_HIT,
						   USC_CACHE_RDM_BYTES -
						   usc_predecode_bytes(write_another(fx)),
						   &short_of),
				 USC_LOAD_DONE);
		for (n = 0; n < 4; n++)
			at = put_launch(at, n % 2 ? ANOTHER : JOB_PDS);
		pumice_cdm_halt_pack(at, &(struct pumice_cdm_halt){ 0 });
		start_stream(fx);
		assert_int_equal(fx_fw_wait(fx, EVENTS), PUMICE_IC_PENDING__RDM_DONE__MASK);
		assert_int_equal(fx_fw_read64(fx, PUMICE_RDM_GROUPS), 4 * ((RAYS + 127) / 128));
		for (n = 0; n < RAYS; n++)
			assert_int_equal(data[n], job_number(n));
		assert_int_equal(data[RAYS], 0);
		fx_destroy(fx);
	}
}

/* The same while the tasks of the first launch run: the second one waits, without an end. */
static void programs_of_running_tasks_stay(void **state)
{
	struct fixture *fx = fx_create(&options[0]);
	u32 *data = job_map(fx), *at, n;
	bool short_of = false;

	(void)state;
	fx_boot_proxy(fx);
	write_programs(fx, data, JOB_FOREVER);
	assert_int_equal(usc_cache_reserve(fx->gpu->programs, USC_STAGE_HIT,
					   USC_CACHE_RDM_BYTES -
					   usc_predecode_bytes(write_another(fx)), &short_of),
			 USC_LOAD_DONE);
	at = put_launch(put_launch(job_stream(fx), JOB_PDS), ANOTHER);
	pumice_cdm_halt_pack(at, &(struct pumice_cdm_halt){ 0 });
	start_stream(fx);
	fx_wait_reg(fx, PUMICE_DBG_TASKS, ~0u, in_flight[0]);
	for (n = 0; n < 100; n++) {
		pumice_gpu_poll(fx->gpu, 1000000);
		assert_int_equal(fx_read(fx, PUMICE_DBG_TASKS), in_flight[0]);
	}
	fx_fw_write(fx, PUMICE_RDM_CTRL, PUMICE_RDM_CTRL__ABORT__MASK);
	assert_int_equal(fx_fw_wait(fx, EVENTS), PUMICE_IC_PENDING__RDM_ABORTED__MASK);
	fx_destroy(fx);
}

static void a_hang_that_is_injected_ends_with_a_reset(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 1, .fault_injection = true });
	u32 *data = job_map(fx);

	(void)state;
	fx_boot_proxy(fx);
	assert_int_equal(pumice_gpu_inject(fx->gpu, "unit-hang,where=rdm"), 0);
	start(fx, data, JOB_NUMBER);
	fx_fw_write(fx, PUMICE_RDM_CTRL, PUMICE_RDM_CTRL__ABORT__MASK);
	fx_drain(fx);
	assert_int_equal(fx_fw_read(fx, PUMICE_RDM_STATUS) & PUMICE_RDM_STATUS__BUSY__MASK, 1);
	assert_int_equal(fx_fw_read(fx, PUMICE_IC_PENDING) & EVENTS, 0);
	pumice_gpu_reset(fx->gpu);
	fx_setup_mmu(fx);
	fx_boot_proxy(fx);
	assert_complete(fx, data);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_end_and_the_host_sees_their_registers),
		cmocka_unit_test(an_abort_stops_the_job_and_the_next_one_runs),
		cmocka_unit_test(a_reset_while_a_job_runs_leaves_nothing_of_it),
		cmocka_unit_test(limits_apply_to_its_tasks),
		cmocka_unit_test(programs_of_a_launch_that_has_ended_make_room),
		cmocka_unit_test(programs_of_running_tasks_stay),
		cmocka_unit_test(a_hang_that_is_injected_ends_with_a_reset),
	};

	return cmocka_run_group_tests_name("rays", tests, NULL, NULL);
}
