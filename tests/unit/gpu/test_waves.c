// SPDX-License-Identifier: MIT
/*
 * The window onto the waves in flight (unit WAVE): each wave once, with its position, while
 * the USCs run; from either bus, and without data from before a reset.
 */
#include "job.h"

#include <string.h>

#include "../../../qemu-device/gpu/usc/usc.h"
#include "../usc/enc.h"

#define ALL_MASTERS PUMICE_WAVE_CTRL__WRITABLE

static const struct job forever = { .program = JOB_FOREVER, .group = 80, .groups = 3 };
#define FOREVER_WAVES 9u	/* 80 instances are 3 waves, the last of 16 lanes */

struct wave {
	u32 pc, lanes, where;
	u64 code;
};

static u32 take(struct fixture *fx, u32 masters)
{
	fx_write(fx, PUMICE_WAVE_CTRL, masters);
	return (u32)fx_read(fx, PUMICE_WAVE_COUNT);
}

static struct wave look_at(struct fixture *fx, u32 index)
{
	fx_write(fx, PUMICE_WAVE_SELECT, index);
	return (struct wave){
		.pc = (u32)fx_read(fx, PUMICE_WAVE_PC),
		.lanes = (u32)fx_read(fx, PUMICE_WAVE_LANES),
		.where = (u32)fx_read(fx, PUMICE_WAVE_WHERE),
		.code = fx_read(fx, PUMICE_WAVE_CODE),
	};
}

/* Without threads the GPU works only when it is polled. */
static void wait_for_waves(struct fixture *fx, u32 waves)
{
	while (take(fx, ALL_MASTERS) != waves)
		if (!fx->threads)
			fx_poll(fx, 1000000);
}

static void assert_loops(const struct wave *w)
{
	/* shl, and the jump back to it; before them the code that runs once */
	assert_in_range(w->pc, 0, 3);
	assert_true(w->lanes == UINT32_MAX || w->lanes == 0xffff);
	assert_int_equal(w->code, JOB_CODE);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__CTX, w->where), JOB_CTX);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__STATE, w->where),
			 PUMICE_WAVE_STATE_RUNS);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__MASTER, w->where),
			 PUMICE_WAVE_MASTER_CDM);
	assert_in_range(PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__USC, w->where), 0, 3);
}

static void each_wave_is_reported_once_at_its_instruction(void **state)
{
	unsigned int threads, i, n, m;

	(void)state;
	for (threads = 0; threads < 3; threads++) {
		const struct fx_options options = { .cores = 2, .threads = threads };
		struct fixture *fx = fx_create(&options);
		struct wave w[FOREVER_WAVES];
		u32 partial;

		job_map(fx);
		fx_boot_proxy(fx);
		job_start(fx, &forever);
		wait_for_waves(fx, FOREVER_WAVES);
		for (i = 0; i < 50; i++) {
			assert_int_equal(take(fx, ALL_MASTERS), FOREVER_WAVES);
			for (n = 0, partial = 0; n < FOREVER_WAVES; n++) {
				w[n] = look_at(fx, n);
				assert_loops(&w[n]);
				partial += w[n].lanes == 0xffff;
				for (m = 0; m < n; m++)
					assert_int_not_equal(w[n].where, w[m].where);
			}
			assert_int_equal(partial, 3);
			if (!threads)
				fx_poll(fx, 1000000);
		}
		fx_destroy(fx);
	}
}

/* Instances below 32 loop at instruction 4, the others wait at instruction 2, or end there. */
static void write_uneven_code(struct fixture *fx, struct pumice_usc_insn second)
{
	struct pumice_mmu_pt_entry pt;
	u32 *code, n = 0;

	pumice_mmu_pt_entry_unpack64(*testmem_pt_entry(fx->tm, JOB_CTX, JOB_CODE), &pt);
	code = testmem_host(fx->tm, pt.addr);
	usc_put(code, n++,
		INSN(LT, .type = U32, .dst = R(0), .src0 = V(0), .src1 = IMM, .imm = 32));
	usc_put(code, n++, INSN(BR_ANY, .mask = IF(MASK_R(0)), .target = 4));
	usc_put(code, n++, second);
	usc_put(code, n++, INSN(END));
	usc_put(code, n++, INSN(JUMP, .target = 4));
}

/* Start work-groups of code that is written. */
static void start_groups(struct fixture *fx, u32 instances, u32 groups)
{
	const struct pumice_cdm_launch launch = {
		.groups_x = groups, .groups_y = 1, .groups_z = 1,
	};
	const struct pumice_cdm_state s = job_state(instances);
	u32 *at = job_stream(fx);

	pumice_cdm_state_pack(at, &s);
	pumice_cdm_launch_pack(at + PUMICE_CDM_STATE_WORDS, &launch);
	pumice_cdm_halt_pack(at + PUMICE_CDM_STATE_WORDS + PUMICE_CDM_LAUNCH_WORDS,
			     &(struct pumice_cdm_halt){ 0 });
	job_control(fx, PUMICE_CDM_CTRL__START__MASK);
}

/* A work-group of two waves of that code; both have reached their final position. */
static struct fixture *fx_with_uneven_waves(struct pumice_usc_insn second)
{
	struct fixture *fx = fx_create(NULL);
	u32 n;

	job_map(fx);
	fx_boot_proxy(fx);
	job_write_programs(fx, JOB_NUMBER);	/* of as many instructions */
	write_uneven_code(fx, second);
	start_groups(fx, 64, 1);
	while (!take(fx, ALL_MASTERS))
		fx_poll(fx, 1000000);
	for (n = 0; n < 20; n++)
		fx_poll(fx, 1000000);
	return fx;
}

/* The higher wave waits at an instruction for the lower one. */
static void check_waiting_wave(struct pumice_usc_insn second)
{
	struct fixture *fx = fx_with_uneven_waves(second);
	u32 seen = 0, n;

	assert_int_equal(take(fx, ALL_MASTERS), 2);
	for (n = 0; n < 2; n++) {
		struct wave w = look_at(fx, n);
		bool barrier = PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__STATE, w.where) ==
			       PUMICE_WAVE_STATE_BARRIER;

		assert_int_equal(w.pc, barrier ? 2 : 4);
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__WAVE, w.where), barrier);
		seen |= 1u << barrier;
	}
	assert_int_equal(seen, 3);
	fx_destroy(fx);
}

static void a_wave_at_a_barrier_is_reported_there(void **state)
{
	(void)state;
	check_waiting_wave(INSN(BARRIER));
}

static void a_wave_at_a_work_group_copy_is_reported_there(void **state)
{
	(void)state;
	check_waiting_wave(INSN(GROUP_LOAD, .src0 = SC(0), .words = 1));
}

static void a_wave_that_has_ended_is_not_reported(void **state)
{
	struct fixture *fx = fx_with_uneven_waves(INSN(END));
	struct wave w;

	(void)state;
	assert_int_equal(take(fx, ALL_MASTERS), 1);
	w = look_at(fx, 0);
	assert_int_equal(w.pc, 4);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__WAVE, w.where), 0);
	fx_destroy(fx);
}

static void only_waves_of_the_selected_masters_are_reported(void **state)
{
	struct fixture *fx = fx_create(NULL);

	(void)state;
	job_map(fx);
	fx_boot_proxy(fx);
	job_start(fx, &forever);
	wait_for_waves(fx, FOREVER_WAVES);
	assert_int_equal(take(fx, PUMICE_WAVE_CTRL__CDM__MASK), FOREVER_WAVES);
	assert_int_equal(take(fx, PUMICE_WAVE_CTRL__VDM__MASK), 0);
	assert_int_equal(take(fx, PUMICE_WAVE_CTRL__PDM__MASK), 0);
	assert_int_equal(take(fx, 0), 0);
	assert_int_equal(take(fx, UINT32_MAX), FOREVER_WAVES);
	assert_int_equal(look_at(fx, FOREVER_WAVES).code, 0);
	assert_int_equal(look_at(fx, FOREVER_WAVES).where, 0);
	assert_int_equal(look_at(fx, UINT16_MAX).code, 0);
	fx_destroy(fx);
}

/* A snapshot is kept until the next one of its bus, even if the waves end. */
static void each_bus_has_a_snapshot_of_its_own(void **state)
{
	unsigned int threads;

	(void)state;
	for (threads = 0; threads < 3; threads++) {
		const struct fx_options options = { .cores = 2, .threads = threads };
		struct fixture *fx = fx_create(&options);

		job_map(fx);
		fx_boot_proxy(fx);
		job_start(fx, &forever);
		wait_for_waves(fx, FOREVER_WAVES);
		fx_fw_write(fx, PUMICE_WAVE_CTRL, ALL_MASTERS);
		assert_int_equal(fx_fw_read(fx, PUMICE_WAVE_COUNT), FOREVER_WAVES);
		fx_fw_write(fx, PUMICE_WAVE_SELECT, 5);
		assert_int_equal(fx_fw_read64(fx, PUMICE_WAVE_CODE), JOB_CODE);
		assert_int_equal(take(fx, 0), 0);
		assert_int_equal(fx_fw_read(fx, PUMICE_WAVE_COUNT), FOREVER_WAVES);
		assert_int_equal(fx_fw_read(fx, PUMICE_WAVE_SELECT), 5);
		assert_int_equal(take(fx, ALL_MASTERS), FOREVER_WAVES);

		job_control(fx, PUMICE_CDM_CTRL__ABORT__MASK);
		assert_int_equal(fx_fw_wait(fx, JOB_EVENTS), PUMICE_IC_PENDING__CDM_ABORTED__MASK);
		assert_int_equal(fx_read(fx, PUMICE_WAVE_COUNT), FOREVER_WAVES);
		assert_int_equal(take(fx, ALL_MASTERS), 0);
		assert_int_equal(fx_fw_read(fx, PUMICE_WAVE_COUNT), FOREVER_WAVES);
		fx_destroy(fx);
	}
}

static void a_reset_drops_the_snapshot(void **state)
{
	struct fixture *fx = fx_create(NULL);

	(void)state;
	job_map(fx);
	fx_boot_proxy(fx);
	job_start(fx, &forever);
	wait_for_waves(fx, FOREVER_WAVES);
	look_at(fx, 3);
	fx_write(fx, PUMICE_SYS_RESET, PUMICE_SYS_RESET_KEY);
	assert_int_equal(fx_read(fx, PUMICE_WAVE_COUNT), 0);
	assert_int_equal(fx_read(fx, PUMICE_WAVE_SELECT), 0);
	assert_int_equal(fx_read(fx, PUMICE_WAVE_CODE), 0);
	assert_int_equal(take(fx, ALL_MASTERS), 0);
	fx_destroy(fx);
}

/* All slots of all USCs full: the maximum number of waves is reported, each at another position. */
static void all_waves_of_a_full_gpu_are_reported(void **state)
{
	const struct job full = { .program = JOB_FOREVER, .group = 128, .groups = 1000 };
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 1, .uscs_per_core = 2,
								    .unified_kib = 4095 });
	u32 where[2 * USC_WAVES], n, m;
	const u32 most = 2 * USC_WAVES;

	(void)state;
	job_map(fx);
	fx_boot_proxy(fx);
	job_start(fx, &full);
	wait_for_waves(fx, most);
	for (n = 0; n < most; n++) {
		const struct wave w = look_at(fx, n);

		assert_int_equal(w.code, JOB_CODE);
		where[n] = w.where;
		for (m = 0; m < n; m++)
			assert_int_not_equal(where[n], where[m]);
	}
	fx_destroy(fx);
}

/* A loop without an end on one USC of the core; instances on others store a word that is not 0. */
static void write_code_of_pipes(struct fixture *fx, u32 endless)
{
	const struct pumice_usc_insn insns[] = {
		INSN(SHL, .type = U32, .dst = R(1), .src0 = V(0), .src1 = IMM, .imm = 2),
		INSN(XOR, .dst = R(0), .src0 = SR(USC), .src1 = IMM, .imm = endless),
		INSN(BRZ, .src0 = R_ELEM(0), .target = 2),
		INSN(GLOBAL_STORE32, .sig0 = 0, .mask = ALWAYS, .src2 = SH(0), .src0 = R(1),
		     .src1 = R(0)),
		INSN(END),
	};
	struct pumice_mmu_pt_entry pt;
	u32 *code, n;

	pumice_mmu_pt_entry_unpack64(*testmem_pt_entry(fx->tm, JOB_CTX, JOB_CODE), &pt);
	code = testmem_host(fx->tm, pt.addr);
	for (n = 0; n < sizeof(insns) / sizeof(insns[0]); n++)
		usc_put(code, n, insns[n]);
}

/* Document 004, USSE: each pipe has its own scheduler, decoder and data path. */
static void a_pipe_needs_no_other_one_to_end(u32 uscs, u32 endless)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 1, .uscs_per_core = uscs });
	const u32 *data = job_map(fx);
	u32 polls, usc, seen = 0, i;

	fx_boot_proxy(fx);
	job_write_programs(fx, JOB_NUMBER);	/* of as many instructions */
	write_code_of_pipes(fx, endless);
	start_groups(fx, PUMICE_LANES, uscs);
	for (polls = 0; polls < 1000 && fx_fw_read(fx, PUMICE_CDM_GROUPS) < uscs - 1; polls++)
		fx_poll(fx, 100000);
	assert_int_equal(fx_fw_read(fx, PUMICE_CDM_GROUPS), uscs - 1);
	for (i = 0; i < uscs * PUMICE_LANES; i++) {
		usc = data[i] ^ endless;
		assert_in_range(usc, 0, uscs - 1);
		seen |= 1u << usc;
	}
	assert_int_equal(seen, (1u << uscs) - 1);
	assert_int_equal(take(fx, ALL_MASTERS), 1);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__USC, look_at(fx, 0).where), endless);
	fx_destroy(fx);
}

static void pipes_of_a_core_do_not_wait_for_each_other(void **state)
{
	u32 uscs, endless;

	(void)state;
	for (uscs = 2; uscs <= PUMICE_MAX_USCS_PER_CORE; uscs++)
		for (endless = 0; endless < uscs; endless++)
			a_pipe_needs_no_other_one_to_end(uscs, endless);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_wave_is_reported_once_at_its_instruction),
		cmocka_unit_test(a_wave_at_a_barrier_is_reported_there),
		cmocka_unit_test(a_wave_at_a_work_group_copy_is_reported_there),
		cmocka_unit_test(a_wave_that_has_ended_is_not_reported),
		cmocka_unit_test(only_waves_of_the_selected_masters_are_reported),
		cmocka_unit_test(each_bus_has_a_snapshot_of_its_own),
		cmocka_unit_test(a_reset_drops_the_snapshot),
		cmocka_unit_test(all_waves_of_a_full_gpu_are_reported),
		cmocka_unit_test(pipes_of_a_core_do_not_wait_for_each_other),
	};

	return cmocka_run_group_tests_name("waves in flight", tests, NULL, NULL);
}
