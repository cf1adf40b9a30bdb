// SPDX-License-Identifier: MIT
/*
 * Jobs of the ray-tracing data master through its registers: they end, abort and are reset while they
 * run; the mirrors of the registers for the host; a hang that is injected; limits of the PDS.
 */
#include "job.h"

#include <string.h>

#include "pumice_isa.h"

#define RAYS		1000u
#define STRUCTURE	(JOB_DATA + (1u << 20))	/* empty: all rays miss */
#define BUFFER		(JOB_DATA + (2u << 20))	/* of rays */
#define EVENTS		(PUMICE_IC_PENDING__RDM_DONE__MASK | PUMICE_IC_PENDING__RDM_FAULT__MASK | \
			 PUMICE_IC_PENDING__RDM_ABORTED__MASK)

/* The programs of job.h, with the number of the ray in V0. */
static void write_pds(struct fixture *fx)
{
	const struct pumice_pds_insn index = {
		.opcode = PUMICE_PDS_OP_MOV, .bank = PUMICE_PDS_BANK_V,
		.source = PUMICE_PDS_SOURCE_RAY_INDEX,
	};
	struct pumice_mmu_pt_entry pt;

	pumice_mmu_pt_entry_unpack64(*testmem_pt_entry(fx->tm, JOB_CTX, JOB_PDS), &pt);
	pumice_pds_pack((u32 *)testmem_host(fx->tm, pt.addr) + 2 * PUMICE_PDS_WORDS, &index);
}

static void write_stream(struct fixture *fx, u32 *data, enum job_program program)
{
	const struct pumice_rt_header header = { .level = PUMICE_RT_LEVEL_BOTTOM };
	const struct pumice_stage miss = {
		.pds_addr = JOB_PDS, .pds_insns = 5, .shared = 2, .attrs = 1, .temps = 3,
	};
	const struct pumice_rdm_launch launch = { .width = RAYS, .height = 1, .rays = BUFFER };
	struct pumice_rdm_state state = { .structure = STRUCTURE };
	u32 *at = job_stream(fx);

	job_write_programs(fx, program);
	write_pds(fx);
	pumice_rt_header_pack(data + (STRUCTURE - JOB_DATA) / 4, &header);
	pumice_stage_pack(state.miss, &miss);
	pumice_rdm_state_pack(at, &state);
	at += PUMICE_RDM_STATE_WORDS;
	pumice_rdm_launch_pack(at, &launch);
	at += PUMICE_RDM_LAUNCH_WORDS;
	pumice_cdm_halt_pack(at, &(struct pumice_cdm_halt){ 0 });
}

static void start(struct fixture *fx, u32 *data, enum job_program program)
{
	write_stream(fx, data, program);
	fx_fw_write64(fx, PUMICE_MMU_CTX(JOB_CTX), testmem_ctx_reg(fx->tm, JOB_CTX));
	fx_fw_write64(fx, PUMICE_RDM_STREAM_BASE, JOB_STREAM);
	fx_fw_write64(fx, PUMICE_RDM_TAG, 0x700000005);
	fx_fw_write(fx, PUMICE_RDM_MMU_CTX, JOB_CTX);
	fx_fw_write(fx, PUMICE_RDM_CTRL, PUMICE_RDM_CTRL__START__MASK);
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
	const u32 uscs = (u32)PUMICE_FIELD_GET(PUMICE_SYS_CONFIG__USCS, fx_read(fx, PUMICE_SYS_CONFIG));
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
		cmocka_unit_test(a_hang_that_is_injected_ends_with_a_reset),
	};

	return cmocka_run_group_tests_name("rays", tests, NULL, NULL);
}
