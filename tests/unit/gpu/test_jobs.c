// SPDX-License-Identifier: MIT
/*
 * Jobs through the whole GPU: they end, fault and abort as requested, their results do
 * not depend on cores and threads; park, reset, invalidation and a changed memory map
 * may occur while they run.
 */
#include "../../../qemu-device/gpu/gpu.h"
#include "../../../qemu-device/gpu/usc/program.h"
#include "../usc/enc.h"
#include "job.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOCK_WAIT_MS 10000	/* by then a thread has begun to wait for a lock */

static const struct job number = { .program = JOB_NUMBER, .group = 200, .groups = 777 };
static const struct job forever = { .program = JOB_FOREVER, .group = 256, .groups = 64 };
static const struct job touch = { .program = JOB_TOUCH, .group = 1024, .groups = 64 };

static void results_are_the_same_for_any_cores_and_threads(void **state)
{
	static const unsigned int cores[] = { 1, 2, 4, 16 };
	unsigned int i, threads;

	(void)state;
	for (i = 0; i < 4; i++) {
		for (threads = 0; threads < 3; threads++) {
			const struct fx_options options = { .cores = cores[i],
							     .threads = threads };
			struct fixture *fx = fx_create(&options);
			u32 *data = job_map(fx);

			fx_boot_proxy(fx);
			assert_int_equal(job_run(fx, &number),
					 PUMICE_IC_PENDING__CDM_DONE__MASK);
			assert_int_equal(fx_fw_read(fx, PUMICE_CDM_STATUS), 0);
			assert_int_equal(fx_fw_read64(fx, PUMICE_CDM_GROUPS), number.groups);
			assert_int_equal(fx_read(fx, PUMICE_DBG_CDM_GROUPS), number.groups);
			assert_int_equal(fx_read(fx, PUMICE_DBG_TASKS), 0);
			assert_true(fx_fw_read64(fx, PUMICE_CDM_TIME_START) <=
				    fx_fw_read64(fx, PUMICE_CDM_TIME_END));
			job_assert_numbers(data, &number);
			fx_destroy(fx);
		}
	}
}

static void a_faulting_job_reports_the_reason_and_the_next_one_runs(void **state)
{
	const struct job wild = { .program = JOB_WILD, .group = 64, .groups = 10 };
	unsigned int threads;

	(void)state;
	for (threads = 0; threads < 3; threads++) {
		struct fixture *fx = fx_create(&(struct fx_options){ .threads = threads });
		u32 *data = job_map(fx), status;

		fx_boot_proxy(fx);
		assert_int_equal(job_run(fx, &wild), PUMICE_IC_PENDING__CDM_FAULT__MASK);
		status = fx_fw_read(fx, PUMICE_CDM_STATUS);
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_CDM_STATUS__FAULT, status),
				 PUMICE_FAULT_MMU_PC_INVALID);
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_CDM_STATUS__UNIT, status),
				 PUMICE_UNIT_USC_DATA);
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_CDM_STATUS__ACCESS, status),
				 PUMICE_ACCESS_WRITE);
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_CDM_STATUS__BUSY, status), 0);
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_CDM_FAULT_INFO__CTX,
						  fx_fw_read64(fx, PUMICE_CDM_FAULT_INFO)),
				 JOB_CTX);
		assert_int_equal(fx_fw_read64(fx, PUMICE_CDM_FAULT_ADDR) >> 32, 0x50);
		assert_int_equal(fx_read(fx, PUMICE_DBG_CDM_STATUS), status);
		assert_non_null(strstr(fx->log, "mmu-pc-invalid"));
		assert_true(fx_read(fx, PUMICE_MMU_FAULT_COUNT) > 0);

		assert_int_equal(job_run(fx, &number), PUMICE_IC_PENDING__CDM_DONE__MASK);
		assert_int_equal(fx_fw_read(fx, PUMICE_CDM_STATUS), 0);
		job_assert_numbers(data, &number);
		fx_destroy(fx);
	}
}

/* Offsets in the page at JOB_CODE of the job below, in bytes. */
enum { WRITER_PDS = 0, READER_PDS = 256, WRITER = 512, READER = 1024 };

/* A PDS program that sets SH0, SH1 = base and starts three instructions at code. */
static void put_pds(u32 *at, u64 base, u32 code)
{
	const struct pumice_pds_insn insns[] = {
		{ .opcode = PUMICE_PDS_OP_LDI, .reg = 0, .imm = (u32)base },
		{ .opcode = PUMICE_PDS_OP_LDI, .reg = 1, .imm = (u32)(base >> 32) },
		{ .opcode = PUMICE_PDS_OP_TASK, .addr = JOB_CODE + code, .insns = 3 },
		{ .opcode = PUMICE_PDS_OP_END },
	};
	u32 i;

	for (i = 0; i < 4; i++)
		pumice_pds_pack(at + i * PUMICE_PDS_WORDS, &insns[i]);
}

/* A program that stores value at an offset from the base. */
static void put_store(u32 *code, u32 value, u32 offset)
{
	usc_put(code, 0, INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = IMM, .imm = value));
	usc_put(code, 1, INSN(GLOBAL_STORE32, .mask = ALWAYS, .src2 = SH(0), .src0 = R(1),
			      .src1 = R(0), .disp = offset));
	usc_put(code, 2, INSN(END));
}

static u32 *put_launch(u32 *at, u32 pds)
{
	struct pumice_cdm_state state = job_state(1);

	state.pds_addr = JOB_CODE + pds;
	state.pds_insns = 4;
	pumice_cdm_state_pack(at, &state);
	at += PUMICE_CDM_STATE_WORDS;
	pumice_cdm_launch_pack(at, &(struct pumice_cdm_launch){ false, 1, 1, 1, 0, 0, 0 });
	return at + PUMICE_CDM_LAUNCH_WORDS;
}

/* One launch changes the immediate of another's program, which ran before. */
static void code_written_by_a_launch_runs_after_a_flush(void **state)
{
	struct fixture *fx = fx_create(NULL);
	u32 *data = job_map(fx), *stream = job_stream(fx), *at = stream, word;
	u64 bus = testmem_alloc(fx->tm, 4096, 4096);
	u32 *code = testmem_host(fx->tm, bus);

	(void)state;
	testmem_map_bus(fx->tm, JOB_CTX, JOB_CODE, bus, 4096, PUMICE_PAGE_SIZE_4K, 0);
	put_pds(code + WRITER_PDS / 4, JOB_CODE + READER, WRITER);
	put_pds(code + READER_PDS / 4, JOB_DATA, READER);
	put_store(code + READER / 4, 0x11111111, 0);
	for (word = 0; code[READER / 4 + word] != 0x11111111; word++)
		assert_true(word < 4);
	put_store(code + WRITER / 4, 0x22222222, word * 4);
	at = put_launch(at, READER_PDS);
	pumice_cdm_flush_pack(at++, &(struct pumice_cdm_flush){ .data = true, .code = true });
	pumice_cdm_marker_pack(at, &(struct pumice_cdm_marker){ .addr = JOB_DATA + 8, .value = 1 });
	at = put_launch(at + PUMICE_CDM_MARKER_WORDS, WRITER_PDS);
	pumice_cdm_flush_pack(at++, &(struct pumice_cdm_flush){ .data = true, .code = true });
	at = put_launch(at, READER_PDS);
	pumice_cdm_halt_pack(at, &(struct pumice_cdm_halt){ 0 });
	fx_boot_proxy(fx);
	job_control(fx, PUMICE_CDM_CTRL__START__MASK);
	assert_int_equal(fx_fw_wait(fx, JOB_EVENTS), PUMICE_IC_PENDING__CDM_DONE__MASK);
	assert_int_equal(data[2], 1);
	assert_int_equal(data[0], 0x22222222);
	fx_destroy(fx);
}

static void an_endless_job_ends_by_abort(void **state)
{
	unsigned int threads;

	(void)state;
	for (threads = 0; threads < 3; threads++) {
		struct fixture *fx = fx_create(&(struct fx_options){ .threads = threads });
		u32 *data = job_map(fx);

		fx_boot_proxy(fx);
		job_start(fx, &forever);
		fx_wait_reg(fx, PUMICE_DBG_CDM_STATUS, PUMICE_DBG_CDM_STATUS__BUSY__MASK,
			    PUMICE_DBG_CDM_STATUS__BUSY__MASK);
		fx_fw_write(fx, PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__ABORT__MASK);
		assert_int_equal(fx_fw_wait(fx, JOB_EVENTS),
				 PUMICE_IC_PENDING__CDM_ABORTED__MASK);
		assert_int_equal(fx_read(fx, PUMICE_DBG_TASKS), 0);
		assert_int_equal(job_run(fx, &number), PUMICE_IC_PENDING__CDM_DONE__MASK);
		job_assert_numbers(data, &number);
		fx_destroy(fx);
	}
}

static void firmware_is_served_while_a_job_fills_every_usc(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 2, .threads = 1 });
	unsigned int i;

	(void)state;
	job_map(fx);
	fx_boot_proxy(fx);
	job_start(fx, &forever);
	for (i = 0; i < 100; i++)
		assert_int_equal(fx_fw_read(fx, PUMICE_SYS_ID), PUMICE_SYS_ID__RESET);
	fx_destroy(fx);
}

static void a_second_start_is_ignored_while_busy(void **state)
{
	struct fixture *fx = fx_create(NULL);

	(void)state;
	job_map(fx);
	fx_boot_proxy(fx);
	job_start(fx, &forever);
	fx_fw_write(fx, PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__START__MASK);
	assert_non_null(strstr(fx->log, "busy"));
	fx_fw_write(fx, PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__ABORT__MASK);
	assert_int_equal(fx_fw_wait(fx, JOB_EVENTS), PUMICE_IC_PENDING__CDM_ABORTED__MASK);
	fx_destroy(fx);
}

static void a_parked_gpu_accesses_no_memory(void **state)
{
	unsigned int threads, i;

	(void)state;
	for (threads = 1; threads < 4; threads++) {
		const struct fx_options options = { .cores = 2, .threads = threads };
		struct fixture *fx = fx_create(&options);
		u32 *data = job_map(fx);

		fx_boot_proxy(fx);
		job_start(fx, &touch);
		for (i = 0; i < 20; i++) {
			fx_wait_word(fx, &data[5], job_number(5));
			pumice_gpu_park(fx->gpu);
			pumice_gpu_park(fx->gpu);
			pumice_gpu_unpark(fx->gpu);
			/* A wave that still ran would write job_number(5) again. */
			data[5] = 0;
			fx_read(fx, PUMICE_FW_STATUS);
			assert_int_equal(*(volatile u32 *)&data[5], 0);
			pumice_gpu_unpark(fx->gpu);
		}
		fx_destroy(fx);
	}
}

static void the_memory_map_changes_under_a_running_job(void **state)
{
	const struct fx_options options = { .cores = 2, .threads = 2 };
	struct fixture *fx = fx_create(&options);
	u32 *data = job_map(fx);

	(void)state;
	fx_boot_proxy(fx);
	job_start(fx, &touch);
	fx_wait_word(fx, data, job_number(0));
	/* The same memory: the job is not affected. */
	assert_int_equal(pumice_gpu_set_memory(fx->gpu, testmem_region(fx->tm), 1), 0);
	assert_int_equal(fx_read(fx, PUMICE_DBG_CDM_STATUS), PUMICE_DBG_CDM_STATUS__BUSY__MASK);
	/* No memory: the job faults, and the firmware locks up at its next access of its window. */
	assert_int_equal(pumice_gpu_set_memory(fx->gpu, NULL, 0), 0);
	fx_wait_reg(fx, PUMICE_DBG_CDM_STATUS, PUMICE_DBG_CDM_STATUS__BUSY__MASK, 0);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_DBG_CDM_STATUS__FAULT,
					  fx_read(fx, PUMICE_DBG_CDM_STATUS)),
			 PUMICE_FAULT_MMU_TABLE_BUS);
	fx_write(fx, PUMICE_OS_SCHEDULE, 1);
	fx_wait_reg(fx, PUMICE_FW_STATUS, PUMICE_FW_STATUS__STATE__MASK,
		    PUMICE_FIELD_PREP(PUMICE_FW_STATUS__STATE, PUMICE_FW_STATE_LOCKUP));
	fx_destroy(fx);
}

static void reset_in_the_middle_of_a_job_leaves_a_new_gpu(void **state)
{
	unsigned int threads, i;

	(void)state;
	for (threads = 0; threads < 3; threads++) {
		struct fixture *fx = fx_create(&(struct fx_options){ .threads = threads });
		u64 clock = fx_read(fx, PUMICE_SYS_CLOCK);
		u32 *data = job_map(fx);

		for (i = 0; i < 5; i++) {
			fx_setup_mmu(fx);
			data[5] = 0;
			fx_boot_proxy(fx);
			job_start(fx, &touch);
			fx_wait_word(fx, &data[5], job_number(5));
			fx_write(fx, PUMICE_SYS_RESET, PUMICE_SYS_RESET_KEY);
			assert_int_equal(fx_read(fx, PUMICE_SYS_STATUS), 0);
			assert_int_equal(fx_read(fx, PUMICE_FW_STATUS), 0);
			assert_int_equal(fx_read(fx, PUMICE_FW_CTRL), 0);
			assert_int_equal(fx_read(fx, PUMICE_MMU_CTX(0)), 0);
			assert_int_equal(fx_read(fx, PUMICE_MMU_CTX(JOB_CTX)), 0);
			assert_int_equal(fx_read(fx, PUMICE_DBG_CDM_STATUS), 0);
			assert_int_equal(fx_read(fx, PUMICE_DBG_TASKS), 0);
			assert_int_equal(fx_read(fx, PUMICE_OS_IRQ_ENABLE), 0);
			data[5] = 0;
			if (!threads)
				assert_int_equal(fx_drain(fx), UINT64_MAX);
			pumice_gpu_park(fx->gpu);
			pumice_gpu_unpark(fx->gpu);
			assert_int_equal(*(volatile u32 *)&data[5], 0);
		}
		assert_true(fx_read(fx, PUMICE_SYS_CLOCK) >= clock);
		fx_write(fx, PUMICE_SYS_RESET, PUMICE_SYS_RESET_KEY ^ 1);
		fx_destroy(fx);
	}
}

/* A thread of the guest that invalidates and parks as fast as it can. */
struct pest {
	struct fixture *fx;
	_Atomic bool stop;
	unsigned int rounds;
};

static void *pest_main(void *arg)
{
	struct pest *pest = arg;
	u32 op = 0;

	while (!atomic_load(&pest->stop)) {
		fx_write(pest->fx, PUMICE_MMU_INVAL,
			 PUMICE_FIELD_PREP(PUMICE_MMU_INVAL__OP, op++ % PUMICE_MMU_INVAL_COUNT) |
				 PUMICE_FIELD_PREP(PUMICE_MMU_INVAL__CTX, JOB_CTX));
		pest->rounds++;
	}
	return NULL;
}

static void concurrent_invalidations_of_host_and_firmware_do_not_deadlock(void **state)
{
	const struct fx_options options = { .cores = 2, .threads = 2 };
	struct fixture *fx = fx_create(&options);
	u32 *data = job_map(fx);
	struct pest pest[2] = { { .fx = fx }, { .fx = fx } };
	pthread_t thread[2];
	unsigned int i;

	(void)state;
	fx_boot_proxy(fx);
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, pest_main, &pest[i]), 0);
	for (i = 0; i < 5; i++) {
		memset(data, 0, JOB_DATA_BYTES);
		job_start(fx, &number);
		fx_fw_write(fx, PUMICE_MMU_INVAL, PUMICE_MMU_INVAL_ALL);
		pumice_gpu_park(fx->gpu);
		pumice_gpu_unpark(fx->gpu);
		assert_int_equal(pumice_gpu_set_memory(fx->gpu, testmem_region(fx->tm), 1), 0);
		assert_int_equal(fx_fw_wait(fx, JOB_EVENTS), PUMICE_IC_PENDING__CDM_DONE__MASK);
		job_assert_numbers(data, &number);
	}
	for (i = 0; i < 2; i++) {
		atomic_store(&pest[i].stop, true);
		pthread_join(thread[i], NULL);
	}
	fx_destroy(fx);
}

static void an_invalidation_completes_before_the_write(void **state)
{
	const struct fx_options options = { .cores = 1, .threads = 2 };
	struct fixture *fx = fx_create(&options);
	u64 page = 2ull << 20, old_bus, new_bus;
	u32 *old = job_map(fx), *fresh, i;

	(void)state;
	fx_boot_proxy(fx);
	job_start(fx, &touch);
	old_bus = testmem_bus(fx->tm, old);
	new_bus = testmem_alloc(fx->tm, page, page);
	fresh = testmem_host(fx->tm, new_bus);
	for (i = 0; i < 20; i++) {
		u32 *unmapped = i & 1 ? fresh : old;

		fx_wait_word(fx, &unmapped[7], job_number(7));
		testmem_map_bus(fx->tm, JOB_CTX, JOB_DATA, i & 1 ? old_bus : new_bus, page,
				PUMICE_PAGE_SIZE_2M, TESTMEM_NX);
		fx_write(fx, PUMICE_MMU_INVAL,
			 PUMICE_FIELD_PREP(PUMICE_MMU_INVAL__OP, PUMICE_MMU_INVAL_CONTEXT) |
				 PUMICE_FIELD_PREP(PUMICE_MMU_INVAL__CTX, JOB_CTX));
		/* All later stores must write to the other page. */
		unmapped[7] = 0;
		fx_fw_read(fx, PUMICE_SYS_ID);
		pumice_gpu_park(fx->gpu);
		assert_int_equal(*(volatile u32 *)&unmapped[7], 0);
		pumice_gpu_unpark(fx->gpu);
	}
	fx_destroy(fx);
}

/* A load that waits for memory times out, even if another one starts to wait later. */
static void each_wait_for_memory_of_programs_has_its_own_deadline(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .manual_clock = true });
	struct usc_program_cache *programs = fx->gpu->programs;
	bool waits = false;
	u64 later;
	u32 status;

	(void)state;
	job_map(fx);
	fx_boot_proxy(fx);
	usc_cache_reserve(programs, USC_STAGE_COMPUTE, USC_CACHE_CDM_BYTES, &waits);
	assert_false(waits);
	job_start(fx, &number);
	assert_int_equal(fx_drain(fx), USC_LOAD_PATIENCE_NS);
	fx->clock += USC_LOAD_PATIENCE_NS / 4;
	later = usc_cache_wait(programs, 0);
	assert_int_equal(fx_drain(fx), USC_LOAD_PATIENCE_NS / 4 * 3);
	fx->clock += USC_LOAD_PATIENCE_NS / 4 * 3;
	assert_int_equal(fx_fw_wait(fx, JOB_EVENTS), PUMICE_IC_PENDING__CDM_FAULT__MASK);
	assert_true(gpu_clock(fx->gpu) < later);
	status = fx_fw_read(fx, PUMICE_CDM_STATUS);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_CDM_STATUS__FAULT, status),
			 PUMICE_FAULT_USC_MEMORY);
	usc_cache_release(programs, USC_STAGE_COMPUTE, USC_CACHE_CDM_BYTES);
	assert_int_equal(job_run(fx, &number), PUMICE_IC_PENDING__CDM_DONE__MASK);
	fx_destroy(fx);
}

/* Work-groups of one wave, one for each USC. */
static void programs_read_their_core_and_the_number_of_their_usc_in_it(void **state)
{
	enum { CORES = 3, USCS = 4 };
	static const struct job place = { .program = JOB_PLACE, .group = PUMICE_LANES,
					  .groups = CORES * USCS };
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = CORES,
							     .uscs_per_core = USCS });
	const u32 *data = job_map(fx);
	u32 i, seen = 0;

	(void)state;
	fx_boot_proxy(fx);
	assert_int_equal(job_run(fx, &place), PUMICE_IC_PENDING__CDM_DONE__MASK);
	for (i = 0; i < CORES * USCS; i++) {
		u32 core = data[i * PUMICE_LANES] >> 8, usc = data[i * PUMICE_LANES] & 0xff;

		assert_true(core < CORES && usc < USCS);
		seen |= 1u << (core * USCS + usc);
	}
	assert_int_equal(seen, (1u << CORES * USCS) - 1);
	fx_destroy(fx);
}

static void invalid_configurations_are_refused_with_a_reason(void **state)
{
	static const struct {
		struct pumice_gpu_config config;
		const char *words;	/* of the reason */
	} bad[] = {
		{ { .cores = PUMICE_MAX_CORES + 1 }, "cores must" },
		{ { .threads = 65 }, "threads must" },
		{ { .oses = PUMICE_OS_COUNT + 1 }, "oses must" },
		{ { .unified_kib = 4096 }, "unified store" },
		{ { .common_kib = 1024 }, "common store" },
		{ { .local_kib = 1024 }, "local memory" },
		{ { .slot_registers = PUMICE_USC_OWN_REGS + 1 }, "slot registers" },
		{ { .preset = "volcano" }, "the preset must" },
		{ { .preset = "" }, "the preset must" },
		{ { .preset = "DEFAULT" }, "the preset must" },
		{ { .uscs_per_core = PUMICE_MAX_USCS_PER_CORE + 1 }, "uscs must" },
		{ { .slots = PUMICE_USC_SLOTS + 1 }, "slots must" },
		{ { .tasks = PUMICE_USC_SLOTS - 1 }, "tasks must" },
		{ { .tasks = PUMICE_USC_TASKS + 1 }, "tasks must" },
		{ { .waves = 193 }, "waves must" },
		{ { .batch = 8 }, "batch must" },
		{ { .batch = 48 }, "batch must" },
		{ { .batch = 160 }, "batch must" },
		/* A task of the default batch has 4 waves. */
		{ { .waves = 3 }, "more waves than a USC" },
		{ { .preset = "waves", .batch = 96 }, "more waves than a USC" },
		{ { .late = "" }, "late must" },
		{ { .late = "soon" }, "late must" },
		{ { .late = "POISON" }, "late must" },
		{ { .pixel_outputs = "" }, "pixel-outputs must" },
		{ { .pixel_outputs = "tile" }, "pixel-outputs must" },
		{ { .pixel_outputs = "COMMON" }, "pixel-outputs must" },
		{ { .vpm_kib = 4097 }, "vertex pipe memory" },
		{ { .idx_fifo = 4097 }, "IDX FIFO" },
		{ { .chunk_fifo = 5 }, "chunks" },
		{ { .tile_fifo = 65 }, "FIFO of tiles" },
		{ { .tsp_vertices = 2 }, "cache of the TSP" },
		{ { .tsp_vertices = 96 }, "cache of the TSP" },
		{ { .tsp_vertices = 2048 }, "cache of the TSP" },
		{ { .slc_kib = 8 }, "system level cache must" },
		{ { .slc_kib = 96 }, "system level cache must" },
		{ { .slc_kib = 131072 }, "system level cache must" },
		{ { .data_l1_bytes = 128 }, "caches of data and textures" },
		{ { .data_l2_bytes = 1000 }, "caches of data and textures" },
		{ { .texture_l1_bytes = 2u << 20 }, "caches of data and textures" },
		{ { .texture_l2_bytes = 3 << 10 }, "caches of data and textures" },
		{ { .cache_style = (enum pumice_cache_style)3 }, "caches of a core" },
		{ { .line_bytes = 16 }, "lines of caches" },
		{ { .line_bytes = 96 }, "lines of caches" },
		{ { .line_bytes = 256 }, "lines of caches" },
		{ { .segment_bytes = 16 }, "segments of lines" },
		{ { .segment_bytes = 48 }, "segments of lines" },
		{ { .segment_bytes = 128 }, "segments of lines" },
		{ { .line_bytes = 32, .segment_bytes = 64 }, "segments of lines" },
		{ { .data_ways = 3 }, "caches must have 1 to 16 ways" },
		{ { .texture_ways = 32 }, "caches must have 1 to 16 ways" },
		{ { .slc_ways = 24 }, "caches must have 1 to 16 ways" },
	};
	static const struct pumice_gpu_ops no_ops;
	const char *why;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		why = NULL;
		assert_null(pumice_gpu_create(&bad[i].config, &no_ops, NULL, &why));
		assert_non_null(why);
		if (!strstr(why, bad[i].words))
			fail_msg("row %u is refused: %s", i, why);
	}
}

static uint64_t no_time(void *opaque)
{
	(void)opaque;
	return 0;
}

/* Each cache names itself when it has fewer lines than ways. */
static void caches_of_fewer_lines_than_ways_are_refused(void **state)
{
	static const struct {
		struct pumice_gpu_config config;
		const char *why;
	} rows[] = {
		{ { .preset = "sgx543mp4", .data_l1_bytes = 256, .data_ways = 16 },
		  "the first data cache has fewer lines than ways" },
		{ { .data_l2_bytes = 256 }, "the second data cache has fewer lines than ways" },
		{ { .texture_l1_bytes = 256 },
		  "the first texture cache has fewer lines than ways" },
		{ { .texture_l1_bytes = 1024, .texture_l2_bytes = 512, .texture_ways = 8 },
		  "the second texture cache has fewer lines than ways" },
		{ { .cores = 16, .uscs_per_core = 4, .slc_kib = 32 },
		  "a bank of the system level cache has fewer lines than ways" },
	};
	static const struct pumice_gpu_config good[] = {
		{ .data_l1_bytes = 256 },	/* an MCU L0 has one set */
		{ .preset = "sgx543mp4", .data_l1_bytes = 512, .data_ways = 16 },
		{ .cores = 16, .uscs_per_core = 4, .slc_kib = 64 },
		{ .preset = "sgx543mp4", .cores = 16, .slc_kib = 16 },
		{ .preset = "volcanic", .cache_style = PUMICE_CACHE_STYLE_DCU, .line_bytes = 64 },
	};
	static const struct pumice_gpu_ops ops = { .now = no_time };
	const char *why;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_null(pumice_gpu_create(&rows[i].config, &ops, NULL, &why));
		assert_string_equal(why, rows[i].why);
	}
	for (i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct pumice_gpu *gpu = pumice_gpu_create(&good[i], &ops, NULL, &why);

		assert_non_null(gpu);
		pumice_gpu_destroy(gpu);
	}
}

/* Read a texture by words that do not describe a texture; return FAULT_INFO. */
static u64 run_bad_read(struct fixture *fx, u32 *code)
{
	struct pumice_cdm_state state = job_state(PUMICE_LANES);
	u32 *at = job_stream(fx);

	put_pds(code + READER_PDS / 4, JOB_DATA, READER);
	usc_put(code + READER / 4, 0, INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = IMM));
	usc_put(code + READER / 4, 1, INSN(SAMPLE, .type = F32, .dst = R(4), .src0 = R(0),
					   .src2 = SH(0)));
	usc_put(code + READER / 4, 2, INSN(END));
	state.pds_addr = JOB_CODE + READER_PDS;
	state.pds_insns = 4;
	state.shared = 16;
	state.temps = 8;
	pumice_cdm_state_pack(at, &state);
	at += PUMICE_CDM_STATE_WORDS;
	pumice_cdm_launch_pack(at,
			       &(struct pumice_cdm_launch){ .groups_x = 1, .groups_y = 1,
							    .groups_z = 1 });
	pumice_cdm_halt_pack(at + PUMICE_CDM_LAUNCH_WORDS, &(struct pumice_cdm_halt){ 0 });
	job_control(fx, PUMICE_CDM_CTRL__START__MASK);
	assert_int_equal(fx_fw_wait(fx, JOB_EVENTS), PUMICE_IC_PENDING__CDM_FAULT__MASK);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_CDM_STATUS__FAULT,
					  fx_fw_read(fx, PUMICE_CDM_STATUS)),
			 PUMICE_FAULT_TAG_STATE);
	return fx_fw_read64(fx, PUMICE_CDM_FAULT_INFO);
}

/* Two TAGs a core, each shared by two of its four USCs; others have no number. */
static void a_texture_fault_names_the_tag_of_the_usc(void **state)
{
	static const struct job wild = { .program = JOB_WILD, .group = 64, .groups = 10 };
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 2, .uscs_per_core = 4 });
	u32 *code, i, seen = 0;
	u64 bus;

	(void)state;
	job_map(fx);
	bus = testmem_alloc(fx->tm, 4096, 4096);
	code = testmem_host(fx->tm, bus);
	testmem_map_bus(fx->tm, JOB_CTX, JOB_CODE, bus, 4096, PUMICE_PAGE_SIZE_4K, 0);
	fx_boot_proxy(fx);
	for (i = 0; i < 32; i++) {
		const u64 info = run_bad_read(fx, code);
		const u32 usc = (u32)PUMICE_FIELD_GET(PUMICE_CDM_FAULT_INFO__USC, info);
		char text[16];

		assert_int_equal(PUMICE_FIELD_GET(PUMICE_CDM_FAULT_INFO__INDEX, info), usc / 2);
		snprintf(text, sizeof(text), "by tag %u ", usc / 2);
		assert_non_null(strstr(fx->log, text));
		seen |= 1u << usc / 2;
	}
	assert_int_equal(seen, 0xf);
	assert_int_equal(job_run(fx, &wild), PUMICE_IC_PENDING__CDM_FAULT__MASK);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_CDM_FAULT_INFO__INDEX,
					  fx_fw_read64(fx, PUMICE_CDM_FAULT_INFO)), 0);
	fx_destroy(fx);
}

static void *lock_and_unlock(void *opaque)
{
	gpu_lock(opaque);
	gpu_unlock(opaque);
	return NULL;
}

/* Run an endless stream of commands without threads: each poll is one step of a unit. */
static u64 most_commands_of_a_step(struct fixture *fx)
{
	const u32 counter = PUMICE_PERF_COUNTER(PUMICE_PERF_CDM_COMMANDS);
	const struct pumice_cdm_link link = { .addr = JOB_STREAM };
	u64 commands, before, most = 0;
	u32 i;

	pumice_cdm_link_pack(job_stream(fx), &link);
	job_control(fx, PUMICE_CDM_CTRL__START__MASK);
	commands = fx_read(fx, counter);
	for (i = 0; i < 100; i++) {
		before = commands;
		fx_poll(fx, 0);
		commands = fx_read(fx, counter);
		most = commands - before > most ? commands - before : most;
	}
	job_control(fx, PUMICE_CDM_CTRL__ABORT__MASK);
	assert_int_equal(fx_fw_wait(fx, JOB_EVENTS), PUMICE_IC_PENDING__CDM_ABORTED__MASK);
	return most;
}

static void the_cdm_ends_its_step_when_a_unit_waits_for_the_lock(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 4 });
	pthread_t thread;
	u32 ms;

	(void)state;
	job_map(fx);
	fx_boot_proxy(fx);
	gpu_lock(fx->gpu);
	assert_int_equal(pthread_create(&thread, NULL, lock_and_unlock, fx->gpu), 0);
	for (ms = 0; ms < LOCK_WAIT_MS && !atomic_load(&fx->gpu->lock_waits); ms++)
		usleep(1000);
	assert_int_equal(atomic_load(&fx->gpu->lock_waits), 1);
	gpu_unlock(fx->gpu);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(atomic_load(&fx->gpu->lock_waits), 0);
	atomic_store(&fx->gpu->lock_waits, 1);
	assert_in_range(most_commands_of_a_step(fx), 1, 8);
	atomic_store(&fx->gpu->lock_waits, 0);
	/* Otherwise a step executes more. */
	assert_true(most_commands_of_a_step(fx) > 8);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_texture_fault_names_the_tag_of_the_usc),
		cmocka_unit_test(results_are_the_same_for_any_cores_and_threads),
		cmocka_unit_test(a_faulting_job_reports_the_reason_and_the_next_one_runs),
		cmocka_unit_test(code_written_by_a_launch_runs_after_a_flush),
		cmocka_unit_test(an_endless_job_ends_by_abort),
		cmocka_unit_test(firmware_is_served_while_a_job_fills_every_usc),
		cmocka_unit_test(a_second_start_is_ignored_while_busy),
		cmocka_unit_test(a_parked_gpu_accesses_no_memory),
		cmocka_unit_test(the_memory_map_changes_under_a_running_job),
		cmocka_unit_test(reset_in_the_middle_of_a_job_leaves_a_new_gpu),
		cmocka_unit_test(concurrent_invalidations_of_host_and_firmware_do_not_deadlock),
		cmocka_unit_test(an_invalidation_completes_before_the_write),
		cmocka_unit_test(each_wait_for_memory_of_programs_has_its_own_deadline),
		cmocka_unit_test(programs_read_their_core_and_the_number_of_their_usc_in_it),
		cmocka_unit_test(the_cdm_ends_its_step_when_a_unit_waits_for_the_lock),
		cmocka_unit_test(invalid_configurations_are_refused_with_a_reason),
		cmocka_unit_test(caches_of_fewer_lines_than_ways_are_refused),
	};

	return cmocka_run_group_tests_name("gpu jobs", tests, NULL, NULL);
}
