// SPDX-License-Identifier: MIT
/*
 * Endless work-groups of one virtual GPU, and fragment jobs of others, on the real data masters: no
 * virtual GPU keeps another one from the USCs.
 */
#include "fixture.h"
#include "pumice_isa.h"
#include "regs/regs.h"

#define HOLD_US		2000u
#define HOLD_NS		(HOLD_US * 1000u)
#define REGIONS_VA	(FX_STREAM_VA + 0x2000)
#define ROW_BYTES	(PUMICE_LANES * 4u)
#define RUNS		40u	/* of fx_run(), for a job that has to wait for room */
#define SIDE		64u	/* of the scene, pixels */
#define KICK_STEPS	20u	/* between two kicks */

static u32 looks;	/* of the firmware at waves: writes to WAVE_CTRL */

/* The linker replaces the device's own function by these. */
enum reg_after __real_regs_write(struct pumice_gpu *gpu, enum pumice_reg_bus bus, unsigned int os,
				 u32 offset, u64 value, unsigned int size);
enum reg_after __wrap_regs_write(struct pumice_gpu *gpu, enum pumice_reg_bus bus, unsigned int os,
				 u32 offset, u64 value, unsigned int size);
enum reg_after __wrap_regs_write(struct pumice_gpu *gpu, enum pumice_reg_bus bus, unsigned int os,
				 u32 offset, u64 value, unsigned int size)
{
	looks += bus == PUMICE_REG_BUS_FW && offset == PUMICE_WAVE_CTRL;
	return __real_regs_write(gpu, bus, os, offset, value, size);
}

/* Virtual GPU 1 has the endless job; fragment jobs of the others store nothing. */
struct starved {
	struct fixture *of[3];
	struct fx_vm vm[3];
	struct fx_context c[3];
	u32 scene[3];	/* fw addresses */
};

/* Write a program of one instruction and the PDS program that starts it. */
static void put_program(struct fx_vm *vm, u8 opcode)
{
	const struct pumice_usc_insn insn = { .opcode = opcode };
	const struct pumice_pds_insn task = {
		.opcode = PUMICE_PDS_OP_TASK, .addr = FX_CODE_VA, .insns = 1,
	};
	const struct pumice_pds_insn end = { .opcode = PUMICE_PDS_OP_END };

	pumice_usc_pack(vm->code, &insn);
	pumice_pds_pack(vm->code + 4, &task);
	pumice_pds_pack(vm->code + 8, &end);
}

/*
 * Launch one work-group that takes the unified store of a USC and never ends, then groups that end,
 * on another USC, for the time of any test.
 */
static void put_endless_and_short(struct fx_vm *vm, u32 temps)
{
	const struct pumice_usc_insn insn = { .opcode = PUMICE_USC_OP_END };
	const struct pumice_pds_insn task = {
		.opcode = PUMICE_PDS_OP_TASK, .addr = FX_CODE_VA + 64, .insns = 1,
	};
	const struct pumice_pds_insn end = { .opcode = PUMICE_PDS_OP_END };
	struct pumice_cdm_state state = {
		.pds_addr = FX_CODE_VA + 16, .pds_insns = 2, .temps = (u8)temps,
		.size_x = 1024, .size_y = 1, .size_z = 1,
	};
	struct pumice_cdm_launch launch = { .groups_x = 1, .groups_y = 1, .groups_z = 1 };
	u32 *word = vm->stream;

	put_program(vm, PUMICE_USC_OP_JUMP);
	pumice_usc_pack(vm->code + 16, &insn);
	pumice_pds_pack(vm->code + 20, &task);
	pumice_pds_pack(vm->code + 24, &end);
	pumice_cdm_state_pack(word, &state);
	pumice_cdm_launch_pack(word + PUMICE_CDM_STATE_WORDS, &launch);
	word += PUMICE_CDM_STATE_WORDS + PUMICE_CDM_LAUNCH_WORDS;
	state.pds_addr = FX_CODE_VA + 80;
	state.temps = 1;
	state.size_x = 1;
	launch.groups_x = 65535;
	launch.groups_y = 65535;
	pumice_cdm_state_pack(word, &state);
	pumice_cdm_launch_pack(word + PUMICE_CDM_STATE_WORDS, &launch);
	word += PUMICE_CDM_STATE_WORDS + PUMICE_CDM_LAUNCH_WORDS;
	*word = PUMICE_CDM_TYPE_HALT << PUMICE_CDM_HALT__TYPE__SHIFT;
}

/* Launch work-groups that never end. */
static void put_endless(struct fx_vm *vm, u32 groups, u32 instances, u32 temps)
{
	const struct pumice_cdm_state state = {
		.pds_addr = FX_CODE_VA + 16, .pds_insns = 2, .temps = (u8)temps,
		.size_x = (u16)instances, .size_y = 1, .size_z = 1,
	};
	const struct pumice_cdm_launch launch = {
		.groups_x = groups, .groups_y = 1, .groups_z = 1,
	};

	put_program(vm, PUMICE_USC_OP_JUMP);
	pumice_cdm_state_pack(vm->stream, &state);
	pumice_cdm_launch_pack(vm->stream + PUMICE_CDM_STATE_WORDS, &launch);
	vm->stream[PUMICE_CDM_STATE_WORDS + PUMICE_CDM_LAUNCH_WORDS] =
		PUMICE_CDM_TYPE_HALT << PUMICE_CDM_HALT__TYPE__SHIFT;
}

/* Write a scene without primitives and a render record; each tile has a task at its end. */
static void put_scene(struct starved *s, u32 os)
{
	struct fixture *r = s->of[os];
	struct pumice_free_list list = {
		.base = 0x300000, .pages = 10, .head = PUMICE_PM_NO_PAGE, .free = 10,
		.max_pages = 40,
	};
	struct pumice_scene scene = {
		.width = SIDE, .height = SIDE, .cores = 1, .regions = REGIONS_VA, .valid = true,
	};
	struct pumice_pdm_render record = { .outputs = 1, .clear_depth = 1 };
	const struct pumice_stage stage = {
		.pds_addr = FX_CODE_VA + 16, .pds_insns = 2, .temps = 1,
	};
	const struct pumice_scene_chain none = {
		.head = PUMICE_PM_NO_PAGE, .tail = PUMICE_PM_NO_PAGE,
	};
	const struct pumice_mmu_pt_entry regions = {
		.valid = true, .pm_owned = true, .addr = testmem_alloc(r->tm, 4096, 4096),
	};
	const u32 chains = PUMICE_PM_LISTS * PUMICE_MACRO_TILES_X * PUMICE_MACRO_TILES_Y;
	u32 *words, i;

	fx_fw_alloc(r, 40 * 4, &list.links);
	words = fx_fw_alloc(r, PUMICE_FREE_LIST_WORDS * 4, &scene.free_list0);
	pumice_free_list_pack(words, &list);
	words = fx_fw_alloc(r, 4 * (PUMICE_SCENE_WORDS + chains * PUMICE_SCENE_CHAIN_WORDS),
			    &s->scene[os]);
	pumice_scene_pack(words, &scene);
	for (i = 0; i < chains; i++)
		pumice_scene_chain_pack(words + PUMICE_SCENE_WORDS + i * PUMICE_SCENE_CHAIN_WORDS,
					&none);
	s->vm[os].pt[2] = pumice_mmu_pt_entry_pack64(&regions);
	put_program(&s->vm[os], PUMICE_USC_OP_END);
	pumice_stage_pack(record.end_of_tile, &stage);
	pumice_pdm_render_pack(s->vm[os].stream, &record);
}

/* @hold_us: 0: default */
static void create_cores(struct starved *s, u32 hold_us, u32 cores)
{
	u32 os;

	s->of[0] = fx_booted_cores(3, cores);
	s->of[0]->boot->os_hold_us = hold_us;
	for (os = 0; os < 3; os++) {
		if (os) {
			s->of[os] = fx_guest(s->of[0], os);
			assert_int_equal(fx_connect(s->of[os]), FWIF_STATE_READY);
		}
		fx_vm(s->of[os], &s->vm[os]);
		fx_context_of(s->of[os], &s->vm[os], os == 1 ? FWIF_DM_CDM : FWIF_DM_PDM, 1,
			      &s->c[os]);
		if (os != 1)
			put_scene(s, os);
	}
}

static void create(struct starved *s, u32 hold_us)
{
	create_cores(s, hold_us, 1);
}

static void begin(struct starved *s, u32 os)
{
	const struct fwif_cccb_render cmd = {
		.header = { FWIF_CCCB_FRAGMENT, sizeof(cmd) },
		.stream = FX_STREAM_VA, .seqno = 1, .scene = s->scene[os],
	};

	if (os == 1)
		fx_compute(&s->c[os], FX_STREAM_VA, 1);
	else
		fx_bytes(&s->c[os], &cmd, sizeof(cmd));
	fx_update(&s->c[os], s->c[os].object_addr, 1);
	fx_put_kick(s->of[os], &s->c[os]);
	fx_kick(s->of[os]);
}

/* Registers of an instance with which a work-group of 1024 takes the unified store of a USC. */
static u32 all_temps(struct starved *s)
{
	const u32 kib = PUMICE_FIELD_GET(PUMICE_SYS_STORES__UNIFIED_KIB,
					 fx_reg(s->of[0], PUMICE_SYS_STORES));

	return kib * 1024 / ROW_BYTES / (1024 / PUMICE_LANES);
}

static void run_until_done(struct starved *s, u32 os)
{
	u32 i;

	for (i = 0; i < RUNS && !*s->c[os].object; i++)
		fx_run(s->of[0]);
	assert_int_equal(*s->c[os].object, 1);
	assert_int_equal(fx_result(&s->c[os], 1)->fault, PUMICE_FAULT_NONE);
	assert_int_equal(s->c[os].f->state, FWIF_CONTEXT_OK);
}

static void limits_leave_room_for_other_virtual_gpus(void **state)
{
	struct starved s;

	(void)state;
	create(&s, 0);
	put_endless(&s.vm[1], 100000, 1, 2);
	begin(&s, 1);
	fx_run(s.of[0]);
	begin(&s, 0);
	run_until_done(&s, 0);
	assert_int_equal(s.c[1].f->state, FWIF_CONTEXT_OK);
	fx_destroy(s.of[0]);
}

static void a_job_that_keeps_another_from_the_uscs_is_killed(void **state)
{
	struct starved s;
	u64 start;

	(void)state;
	create(&s, HOLD_US);
	put_endless(&s.vm[1], 64, 1024, all_temps(&s));
	begin(&s, 1);
	fx_run(s.of[0]);
	assert_int_equal(s.c[1].f->state, FWIF_CONTEXT_OK);
	start = fx_clock(s.of[0]);
	begin(&s, 0);
	run_until_done(&s, 0);
	assert_int_equal(s.c[1].f->state, FWIF_CONTEXT_KILLED);
	assert_int_equal(fx_result(&s.c[1], 1)->fault, PUMICE_FAULT_KILLED);
	assert_in_range(fx_result(&s.c[0], 1)->time_end - start, HOLD_NS, 3 * HOLD_NS);
	fx_destroy(s.of[0]);
}

static void a_job_that_is_kept_from_the_uscs_is_not_killed(void **state)
{
	struct starved s;

	(void)state;
	create(&s, HOLD_US);
	put_endless(&s.vm[1], 64, 1024, all_temps(&s));
	begin(&s, 1);
	fx_run(s.of[0]);
	begin(&s, 0);
	begin(&s, 2);
	run_until_done(&s, 0);
	run_until_done(&s, 2);
	assert_int_equal(s.c[1].f->state, FWIF_CONTEXT_KILLED);
	fx_destroy(s.of[0]);
}

/* Run for some holds at most, with a job that makes progress. */
static void run_holds(struct starved *s, u32 os, u32 holds)
{
	const u64 start = fx_clock(s->of[0]);

	while (!*s->c[os].object && fx_clock(s->of[0]) - start < (u64)holds * HOLD_NS)
		fx_run(s->of[0]);
	assert_int_equal(*s->c[os].object, 1);
	assert_int_equal(fx_result(&s->c[os], 1)->fault, PUMICE_FAULT_NONE);
	assert_int_equal(s->c[os].f->state, FWIF_CONTEXT_OK);
}

static void progress_on_another_core_defers_the_kill_once(void **state)
{
	struct starved s;

	(void)state;
	create_cores(&s, HOLD_US, 2);
	put_endless_and_short(&s.vm[1], all_temps(&s));
	begin(&s, 1);
	fx_run(s.of[0]);
	begin(&s, 0);
	run_holds(&s, 0, 12);
	assert_int_equal(s.c[1].f->state, FWIF_CONTEXT_KILLED);
	fx_destroy(s.of[0]);
}

static void a_job_kept_by_one_with_progress_is_not_killed(void **state)
{
	struct starved s;

	(void)state;
	create_cores(&s, HOLD_US, 2);
	put_endless_and_short(&s.vm[1], all_temps(&s));
	begin(&s, 1);
	fx_run(s.of[0]);
	begin(&s, 2);
	begin(&s, 0);
	run_holds(&s, 2, 12);
	run_holds(&s, 0, 12);
	assert_int_equal(s.c[1].f->state, FWIF_CONTEXT_KILLED);
	fx_destroy(s.of[0]);
}

/* Kick the firmware again and again for some holds, or until a job has ended; return the kicks. */
static u32 kick_for(struct starved *s, u32 os, u32 holds)
{
	const u64 start = fx_clock(s->of[0]);
	u32 kicks = 0;

	while (!*s->c[os].object && fx_clock(s->of[0]) - start < (u64)holds * HOLD_NS) {
		fx_kick(s->of[1]);
		fx_steps(s->of[0], KICK_STEPS);
		kicks++;
	}
	return kicks;
}

/* Each look stops the whole GPU. No job is kept from the USCs: one look for each in a hold. */
static void kicks_cause_no_looks_at_waves(void **state)
{
	struct starved s;

	(void)state;
	create(&s, HOLD_US);
	put_endless(&s.vm[1], 100000, 1, 2);
	put_program(&s.vm[0], PUMICE_USC_OP_JUMP);
	begin(&s, 1);
	fx_run(s.of[0]);
	begin(&s, 0);
	kick_for(&s, 0, 2);
	looks = 0;
	assert_true(kick_for(&s, 0, 4) > 100);
	assert_in_range(looks, 4, 2 * 5);
	assert_int_equal(s.c[0].f->state, FWIF_CONTEXT_OK);
	assert_int_equal(s.c[1].f->state, FWIF_CONTEXT_OK);
	fx_destroy(s.of[0]);
}

/* Of the third, which is kept, as long as its time is extended. */
static void kicks_while_a_job_is_kept_cause_no_looks_at_waves(void **state)
{
	struct starved s;

	(void)state;
	create_cores(&s, HOLD_US, 2);
	put_endless_and_short(&s.vm[1], all_temps(&s));
	begin(&s, 1);
	fx_run(s.of[0]);
	begin(&s, 2);
	begin(&s, 0);
	looks = 0;
	assert_true(kick_for(&s, 2, 12) > 50);
	assert_int_equal(*s.c[2].object, 1);
	assert_in_range(looks, 2, 12);
	fx_destroy(s.of[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_leave_room_for_other_virtual_gpus),
		cmocka_unit_test(a_job_that_keeps_another_from_the_uscs_is_killed),
		cmocka_unit_test(a_job_that_is_kept_from_the_uscs_is_not_killed),
		cmocka_unit_test(progress_on_another_core_defers_the_kill_once),
		cmocka_unit_test(a_job_kept_by_one_with_progress_is_not_killed),
		cmocka_unit_test(kicks_cause_no_looks_at_waves),
		cmocka_unit_test(kicks_while_a_job_is_kept_cause_no_looks_at_waves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
