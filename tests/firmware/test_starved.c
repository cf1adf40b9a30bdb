// SPDX-License-Identifier: MIT
/*
 * Work-groups of one virtual GPU, and jobs of others, on the real data masters: no virtual GPU
 * keeps another one from the USCs, and none is killed whose work-groups end.
 */
#include <string.h>

#include "fixture.h"
#include "minmax.h"
#include "pumice_isa.h"
#include "regs/regs.h"

#define HOLD_US		2000u
#define HOLD_NS		(HOLD_US * 1000u)
#define REGIONS_VA	(FX_STREAM_VA + 0x2000)
#define ROW_BYTES	(PUMICE_LANES * 4u)
#define RUNS		40u	/* of fx_run(), for a job that has to wait for room */
#define SIDE		64u	/* of the scene, pixels */
#define KICK_STEPS	20u	/* between two kicks */
#define RENDER_VA	(FX_STREAM_VA + 0x800)	/* of the partial renders of geometry jobs */

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
	u32 *scene_words[3];	/* of a fragment job, which ends the scene, */
	u32 valid_scene[3][PUMICE_SCENE_WORDS];	/* and before it */
	u32 dm[3];	/* of the contexts */
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

/* Write a loop at the begin of the programs. */
static void put_loop(struct fx_vm *vm, u32 loops)
{
	const struct pumice_pds_insn task = {
		.opcode = PUMICE_PDS_OP_TASK, .addr = FX_CODE_VA + 64, .insns = FX_LOOP_INSNS,
	};
	const struct pumice_pds_insn end = { .opcode = PUMICE_PDS_OP_END };

	fx_put_loop(vm->code + 16, loops);
	pumice_pds_pack(vm->code + 4, &task);
	pumice_pds_pack(vm->code + 8, &end);
}

/* Launch work-groups of the program. */
static void put_launch(struct fx_vm *vm, u32 groups, u32 instances, u32 temps)
{
	const struct pumice_cdm_state state = {
		.pds_addr = FX_CODE_VA + 16, .pds_insns = 2, .temps = (u8)temps,
		.size_x = (u16)instances, .size_y = 1, .size_z = 1,
	};
	const struct pumice_cdm_launch launch = {
		.groups_x = groups, .groups_y = 1, .groups_z = 1,
	};

	pumice_cdm_state_pack(vm->stream, &state);
	pumice_cdm_launch_pack(vm->stream + PUMICE_CDM_STATE_WORDS, &launch);
	vm->stream[PUMICE_CDM_STATE_WORDS + PUMICE_CDM_LAUNCH_WORDS] =
		PUMICE_CDM_TYPE_HALT << PUMICE_CDM_HALT__TYPE__SHIFT;
}

/* Launch work-groups that never end. */
static void put_endless(struct fx_vm *vm, u32 groups, u32 instances, u32 temps)
{
	put_program(vm, PUMICE_USC_OP_JUMP);
	put_launch(vm, groups, instances, temps);
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
		.pds_addr = FX_CODE_VA + 16, .pds_insns = 2, .temps = 2,
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
	s->scene_words[os] = words;
	memcpy(s->valid_scene[os], words, sizeof(s->valid_scene[os]));
	for (i = 0; i < chains; i++)
		pumice_scene_chain_pack(words + PUMICE_SCENE_WORDS + i * PUMICE_SCENE_CHAIN_WORDS,
					&none);
	s->vm[os].pt[2] = pumice_mmu_pt_entry_pack64(&regions);
	put_program(&s->vm[os], PUMICE_USC_OP_END);
	pumice_stage_pack(record.end_of_tile, &stage);
	pumice_pdm_render_pack(s->vm[os].stream, &record);
}

/* Data masters of the contexts of virtual GPUs 0 to 2. */
static const u32 fragments_of_others[] = { FWIF_DM_PDM, FWIF_DM_CDM, FWIF_DM_PDM };

/* @hold_us: 0: default. @dm: by virtual GPU */
static void create_of(struct starved *s, u32 hold_us, u32 cores, u32 uscs, const u32 dm[3])
{
	u32 os;

	s->of[0] = fx_booted_cores(3, cores, uscs);
	s->of[0]->boot->os_hold_us = hold_us;
	for (os = 0; os < 3; os++) {
		if (os) {
			s->of[os] = fx_guest(s->of[0], os);
			assert_int_equal(fx_connect(s->of[os]), FWIF_STATE_READY);
		}
		fx_vm(s->of[os], &s->vm[os]);
		s->dm[os] = dm[os];
		fx_context_of(s->of[os], &s->vm[os], dm[os], 1, &s->c[os]);
		if (dm[os] != FWIF_DM_CDM)
			put_scene(s, os);
	}
}

static void create_cores(struct starved *s, u32 hold_us, u32 cores)
{
	create_of(s, hold_us, cores, 1, fragments_of_others);
}

static void create(struct starved *s, u32 hold_us)
{
	create_cores(s, hold_us, 1);
}

/* Begin a job with a sequence number. */
static void begin_next(struct starved *s, u32 os, u32 seqno)
{
	const bool geometry = s->dm[os] == FWIF_DM_VDM;
	const struct fwif_cccb_render cmd = {
		.header = { geometry ? FWIF_CCCB_GEOMETRY : FWIF_CCCB_FRAGMENT, sizeof(cmd) },
		.stream = FX_STREAM_VA, .seqno = seqno, .scene = s->scene[os],
		.render = geometry ? RENDER_VA : 0,
	};

	if (s->dm[os] == FWIF_DM_PDM)
		memcpy(s->scene_words[os], s->valid_scene[os], sizeof(s->valid_scene[os]));
	if (s->dm[os] == FWIF_DM_CDM)
		fx_compute(&s->c[os], FX_STREAM_VA, seqno);
	else
		fx_bytes(&s->c[os], &cmd, sizeof(cmd));
	fx_update(&s->c[os], s->c[os].object_addr, seqno);
	fx_put_kick(s->of[os], &s->c[os]);
	fx_kick(s->of[os]);
}

static void begin(struct starved *s, u32 os)
{
	begin_next(s, os, 1);
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

/* Jobs of virtual GPUs 2 and 0 that 1 keeps from the USCs, with progress on one of two cores. */
static void create_kept(struct starved *s)
{
	create_cores(s, HOLD_US, 2);
	put_endless_and_short(&s->vm[1], all_temps(s));
	begin(s, 1);
	fx_run(s->of[0]);
	begin(s, 2);
	begin(s, 0);
}

static void a_job_kept_by_one_with_progress_is_not_killed(void **state)
{
	struct starved s;

	(void)state;
	create_kept(&s);
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

/* Each look at waves stops the whole GPU. */
static void reviews_do_not_stop_the_gpu(void **state)
{
	struct starved s;

	(void)state;
	create(&s, HOLD_US);
	put_endless(&s.vm[1], 100000, 1, 2);
	put_program(&s.vm[0], PUMICE_USC_OP_JUMP);
	begin(&s, 1);
	fx_run(s.of[0]);
	begin(&s, 0);
	looks = 0;
	assert_true(kick_for(&s, 0, 6) > 100);
	assert_int_equal(looks, 0);
	assert_int_equal(s.c[0].f->state, FWIF_CONTEXT_OK);
	assert_int_equal(s.c[1].f->state, FWIF_CONTEXT_OK);
	fx_destroy(s.of[0]);
}

/* The only look is that for the report about the job that is killed. */
static void reviews_of_a_kept_job_do_not_stop_the_gpu(void **state)
{
	struct starved s;

	(void)state;
	create_kept(&s);
	looks = 0;
	assert_true(kick_for(&s, 2, 12) > 10);
	assert_int_equal(*s.c[2].object, 1);
	assert_int_equal(looks, 1);
	fx_destroy(s.of[0]);
}

/* 48 work-groups have slots, and the task of a tile is managed, but gets none. */
static void a_job_that_takes_all_slots_is_killed(void **state)
{
	struct starved s;

	(void)state;
	create(&s, HOLD_US);
	s.of[0]->boot->pds_shares = ~0u;
	put_endless(&s.vm[1], PUMICE_USC_SLOTS + 2, 1, 2);
	begin(&s, 1);
	fx_run(s.of[0]);
	assert_int_equal(fx_reg(s.of[0], PUMICE_PDS_TASKS), PUMICE_USC_SLOTS);
	begin(&s, 0);
	run_holds(&s, 0, 6);
	assert_int_equal(s.c[1].f->state, FWIF_CONTEXT_KILLED);
	fx_destroy(s.of[0]);
}

static void the_pds_shows_waits_and_the_oldest_tasks(void **state)
{
	struct starved s;
	u64 start, oldest;

	(void)state;
	create(&s, 0);
	put_endless(&s.vm[1], 64, 1024, all_temps(&s));
	begin(&s, 1);
	fx_run(s.of[0]);
	start = fx_clock(s.of[0]);
	/* The CDM waits for its own tasks only, and has some. */
	assert_int_equal(fx_reg(s.of[0], PUMICE_PDS_STARVED(0)), 0);
	oldest = fx_reg(s.of[0], PUMICE_PDS_OLDEST(0));
	assert_in_range(oldest, 1, start);
	assert_int_equal(fx_reg(s.of[0], PUMICE_PDS_OLDEST(8)), 0);
	begin(&s, 0);
	fx_steps(s.of[0], 500);
	assert_in_range(fx_reg(s.of[0], PUMICE_PDS_STARVED(2)), start, start + HOLD_NS);
	assert_int_equal(fx_reg(s.of[0], PUMICE_PDS_OLDEST(8)), oldest);
	assert_int_equal(fx_reg(s.of[0], PUMICE_PDS_OLDEST(2)), 0);
	fx_call_context(s.of[1], FWIF_KCCB_CONTEXT_KILL, &s.c[1]);
	run_until_done(&s, 0);
	assert_int_equal(fx_reg(s.of[0], PUMICE_PDS_STARVED(2)), 0);
	assert_int_equal(fx_reg(s.of[0], PUMICE_PDS_OLDEST(8)), 0);
	fx_destroy(s.of[0]);
}

/* Run a job of virtual GPU 0, and return the policy that the firmware has set for it. */
static u32 policy_of_job(struct starved *s, u32 *seqno)
{
	begin_next(s, 0, ++*seqno);
	fx_run(s->of[0]);
	return fx_reg(s->of[0], PUMICE_PDS_DMS_POLICY);
}

/* Unless the host selects another policy than the default. */
static void virtual_gpus_take_turns_for_room(void **state)
{
	struct starved s;
	u32 seqno = 0;

	(void)state;
	create(&s, 0);
	put_program(&s.vm[0], PUMICE_USC_OP_END);
	assert_int_equal(policy_of_job(&s, &seqno), PUMICE_DMS_POLICY_ROUND_ROBIN);
	s.of[0]->boot->dms_policy = PUMICE_DMS_POLICY_VDM_CDM_PDM;
	assert_int_equal(policy_of_job(&s, &seqno), PUMICE_DMS_POLICY_VDM_CDM_PDM);
	s.of[0]->boot->dms_policy = PUMICE_DMS_POLICY_GRAPHICS;
	fx_disconnect(s.of[1]);
	assert_int_equal(policy_of_job(&s, &seqno), PUMICE_DMS_POLICY_ROUND_ROBIN);
	fx_disconnect(s.of[2]);
	assert_int_equal(policy_of_job(&s, &seqno), PUMICE_DMS_POLICY_GRAPHICS);
	fx_destroy(s.of[0]);
}

/* One of several USCs of a core is taken: tiles have room on the other one. */
static void a_job_with_room_on_another_usc_needs_no_kill(void **state)
{
	struct starved s;

	(void)state;
	create_of(&s, HOLD_US, 1, 2, fragments_of_others);
	put_endless(&s.vm[1], 1, 1024, all_temps(&s));
	begin(&s, 1);
	fx_run(s.of[0]);
	begin(&s, 0);
	run_until_done(&s, 0);
	assert_int_equal(s.c[1].f->state, FWIF_CONTEXT_OK);
	fx_destroy(s.of[0]);
}

static void a_job_that_takes_all_uscs_of_a_core_is_killed(void **state)
{
	struct starved s;

	(void)state;
	create_of(&s, HOLD_US, 2, 2, fragments_of_others);
	put_endless(&s.vm[1], 3, 1024, all_temps(&s));
	begin(&s, 1);
	fx_run(s.of[0]);
	begin(&s, 0);
	run_holds(&s, 0, 6);
	assert_int_equal(s.c[1].f->state, FWIF_CONTEXT_KILLED);
	fx_destroy(s.of[0]);
}

/* Jobs on the CDM are switched out long before the end of a hold. */
static void slices_of_compute_jobs_do_not_renew_the_time(void **state)
{
	static const u32 dm[] = { FWIF_DM_CDM, FWIF_DM_PDM, FWIF_DM_CDM };
	struct starved s;
	u32 os;

	(void)state;
	create_of(&s, HOLD_US, 1, 1, dm);
	s.of[0]->boot->slice_us = FWIF_SLICE_MIN_US;
	put_program(&s.vm[1], PUMICE_USC_OP_JUMP);
	begin(&s, 1);
	fx_run(s.of[0]);
	for (os = 0; os < 3; os += 2) {
		put_program(&s.vm[os], PUMICE_USC_OP_END);
		put_launch(&s.vm[os], 2, 1024, all_temps(&s));
		begin(&s, os);
	}
	run_holds(&s, 0, 8);
	run_holds(&s, 2, 2);
	assert_int_equal(s.c[1].f->state, FWIF_CONTEXT_KILLED);
	fx_destroy(s.of[0]);
}

/* Write a program that never ends on core 1, and a loop on core 0. */
static void put_endless_on_core_1(struct fx_vm *vm, u32 loops)
{
	const struct pumice_usc_operand usc = {
		.bank = PUMICE_USC_BANK_SR, .num = PUMICE_USC_SR_CORE, .elem = true,
	};
	struct pumice_usc_insn insn = { .opcode = PUMICE_USC_OP_BRNZ, .target = 0 };
	const struct pumice_pds_insn task = {
		.opcode = PUMICE_PDS_OP_TASK, .addr = FX_CODE_VA + 64, .insns = 1 + FX_LOOP_INSNS,
	};
	const struct pumice_pds_insn end = { .opcode = PUMICE_PDS_OP_END };

	pumice_usc_operand_pack(&insn.src0, &usc);
	pumice_usc_pack(vm->code + 16, &insn);
	fx_put_loop(vm->code + 16 + PUMICE_USC_WORDS, loops);
	pumice_pds_pack(vm->code + 4, &task);
	pumice_pds_pack(vm->code + 8, &end);
}

/* Return for how long the CDM has waited, ns, or 0. */
static u64 cdm_waited(struct starved *s)
{
	const u32 since = fx_reg(s->of[0], PUMICE_PDS_STARVED(0));

	return since ? fx_clock(s->of[0]) - since : 0;
}

/* Write a fragment job whose task on core 1 never ends, and whose tiles have many on core 0. */
static void put_fragments_of_two_cores(struct starved *s, u32 os)
{
	struct pumice_scene scene;

	put_endless_on_core_1(&s->vm[os], 450000);
	assert_int_equal(pumice_scene_unpack(s->valid_scene[os], &scene), PUMICE_UNPACK_OK);
	scene.width *= 4;
	scene.height *= 4;
	pumice_scene_pack(s->valid_scene[os], &scene);
}

/*
 * A compute job waits for both cores, is switched out, has a work-group on core 0, and waits again:
 * less than a hold each time, and more in all. The task on core 1 is older. Each kick is a review.
 */
static void work_groups_end_the_time_of_earlier_slices(void **state)
{
	static const u32 dm[] = { FWIF_DM_CDM, FWIF_DM_PDM, FWIF_DM_CDM };
	u64 start, before, longest = 0;
	struct starved s;

	(void)state;
	create_of(&s, HOLD_US, 2, 1, dm);
	s.of[0]->boot->slice_us = FWIF_SLICE_MIN_US;
	put_fragments_of_two_cores(&s, 1);
	begin(&s, 1);
	fx_steps(s.of[0], 200);
	put_loop(&s.vm[0], 100);
	put_launch(&s.vm[0], 3, 1024, all_temps(&s));
	begin(&s, 0);
	start = fx_clock(s.of[0]);
	while (cdm_waited(&s) < HOLD_NS * 6 / 10 && fx_clock(s.of[0]) - start < HOLD_NS)
		fx_steps(s.of[0], 50);
	before = cdm_waited(&s);
	begin(&s, 2);
	while (!*s.c[0].object && fx_clock(s.of[0]) - start < 4 * HOLD_NS) {
		longest = max_u64(longest, cdm_waited(&s));
		fx_kick(s.of[1]);
		fx_steps(s.of[0], KICK_STEPS);
	}
	assert_int_equal(*s.c[2].object, 1);
	assert_int_equal(s.of[0]->boot->switches, 1);
	assert_in_range(before, HOLD_NS / 2, HOLD_NS);
	assert_in_range(longest, HOLD_NS - before + HOLD_NS / 20, HOLD_NS);
	assert_int_equal(*s.c[0].object, 1);
	assert_int_equal(s.c[1].f->state, FWIF_CONTEXT_OK);
	fx_destroy(s.of[0]);
}

/* A geometry job whose stream is a LINK to itself: it has no tasks and needs no room. */
static void put_link(struct fx_vm *vm)
{
	const struct pumice_vdm_link link = { .addr = FX_STREAM_VA };

	pumice_vdm_link_pack(vm->stream, &link);
}

/*
 * Submit compute jobs of virtual GPU 0, one after the other, for some holds, and assert that they
 * are not killed; return the number of those that have ended.
 */
static u32 run_compute(struct starved *s, u32 holds)
{
	const u64 start = fx_clock(s->of[0]);
	u32 seqno = 1;

	begin_next(s, 0, seqno);
	while (fx_clock(s->of[0]) - start < (u64)holds * HOLD_NS) {
		fx_steps(s->of[0], 50);
		assert_int_equal(s->c[0].f->state, FWIF_CONTEXT_OK);
		if (*s->c[0].object == seqno && seqno < 30)
			begin_next(s, 0, ++seqno);
	}
	return *s->c[0].object;
}

/*
 * Virtual GPU 1 has a geometry job that never ends, 2 waits for the VDM or not, and 0 has compute
 * jobs with progress.
 */
static void create_link(struct starved *s, bool waits, u32 groups, u32 loops)
{
	static const u32 dm[] = { FWIF_DM_CDM, FWIF_DM_VDM, FWIF_DM_VDM };

	create_of(s, HOLD_US, 2, 1, dm);
	put_link(&s->vm[1]);
	s->vm[2].stream[0] = (u32)PUMICE_VDM_TYPE_HALT << PUMICE_VDM_HALT__TYPE__SHIFT;
	fx_vm_groups(&s->vm[0], groups, loops, false);
	begin(s, 1);
	fx_steps(s->of[0], 200);
	if (waits)
		begin(s, 2);
}

static void a_job_without_tasks_kills_no_others(void **state)
{
	struct starved s;

	(void)state;
	create_link(&s, false, 100000000, 30000);
	run_compute(&s, 12);
	assert_int_equal(s.c[1].f->state, FWIF_CONTEXT_OK);
	fx_destroy(s.of[0]);
}

static void a_job_without_tasks_kills_no_short_jobs(void **state)
{
	struct starved s;

	(void)state;
	create_link(&s, false, 20, 3000);
	assert_true(run_compute(&s, 12) > 2);
	assert_int_equal(s.c[1].f->state, FWIF_CONTEXT_OK);
	fx_destroy(s.of[0]);
}

/* It is killed at the end of its own hold, and others are not. */
static void a_job_without_tasks_is_killed_for_one_that_waits(void **state)
{
	struct starved s;

	(void)state;
	create_link(&s, true, 100000000, 30000);
	run_compute(&s, 2);
	assert_int_equal(s.c[1].f->state, FWIF_CONTEXT_KILLED);
	assert_int_equal(*s.c[2].object, 1);
	assert_int_equal(fx_result(&s.c[2], 1)->fault, PUMICE_FAULT_NONE);
	fx_destroy(s.of[0]);
}

static void a_job_without_tasks_is_killed_next_to_short_jobs(void **state)
{
	struct starved s;

	(void)state;
	create_link(&s, true, 20, 3000);
	assert_true(run_compute(&s, 2) > 0);
	assert_int_equal(s.c[1].f->state, FWIF_CONTEXT_KILLED);
	assert_int_equal(*s.c[2].object, 1);
	fx_destroy(s.of[0]);
}

/*
 * A fragment job gets no room for longer than a hold, because the host prefers the CDM, whose
 * work-groups take whole USCs; but each of them ends.
 */
static void jobs_whose_tasks_end_are_not_killed(void **state)
{
	struct starved s;
	u64 start, longest = 0;

	(void)state;
	create(&s, HOLD_US);
	s.of[0]->boot->dms_policy = PUMICE_DMS_POLICY_CDM_VDM_PDM;
	put_loop(&s.vm[1], 30000);
	put_launch(&s.vm[1], 20, 1024, all_temps(&s));
	begin(&s, 1);
	fx_steps(s.of[0], 200);
	begin(&s, 0);
	start = fx_clock(s.of[0]);
	while (!*s.c[0].object && fx_clock(s.of[0]) - start < 20ull * HOLD_NS) {
		const u32 since = fx_reg(s.of[0], PUMICE_PDS_STARVED(2));

		if (since)
			longest = max_u64(longest, fx_clock(s.of[0]) - since);
		fx_steps(s.of[0], 50);
	}
	assert_in_range(longest, 2 * HOLD_NS, 20 * HOLD_NS);
	assert_int_equal(*s.c[1].object, 1);
	assert_int_equal(fx_result(&s.c[1], 1)->fault, PUMICE_FAULT_NONE);
	assert_int_equal(*s.c[0].object, 1);
	assert_int_equal(fx_result(&s.c[0], 1)->fault, PUMICE_FAULT_NONE);
	fx_destroy(s.of[0]);
}

/* Return a number less than a limit. */
static u32 below(u32 *seed, u32 limit)
{
	*seed = *seed * 1664525 + 1013904223;
	return (u32)((u64)*seed * limit >> 32);
}

/* Write the job of a virtual GPU anew: tasks of different lengths, some of which take a USC. */
static void put_random(struct starved *s, u32 os, u32 *seed)
{
	const u32 temps = below(seed, 3) ? 2 : all_temps(s);

	put_loop(&s->vm[os], 1 + below(seed, 1500));
	if (s->dm[os] == FWIF_DM_CDM)
		put_launch(&s->vm[os], 1 + below(seed, 12), 1 + below(seed, 1024), temps);
}

/* Run random jobs of all virtual GPUs for some holds; return how many have ended. */
static u32 run_random(struct starved *s, u32 *seed, u32 holds)
{
	const u64 start = fx_clock(s->of[0]);
	u32 seqno[3] = { 0 }, os, ended = 0;

	while (fx_clock(s->of[0]) - start < (u64)holds * HOLD_NS) {
		for (os = 0; os < 3; os++) {
			assert_int_not_equal(s->c[os].f->state, FWIF_CONTEXT_KILLED);
			if (*s->c[os].object != seqno[os])
				continue;
			if (seqno[os])
				assert_int_equal(fx_result(&s->c[os], seqno[os])->fault,
						 PUMICE_FAULT_NONE);
			ended += seqno[os] != 0;
			put_random(s, os, seed);
			begin_next(s, os, ++seqno[os]);
		}
		fx_steps(s->of[0], 50);
	}
	for (os = 0; os < 3; os++)
		assert_true(seqno[os] > 1);
	return ended;
}

static void random_jobs_with_progress_are_not_killed(void **state)
{
	static const u32 dm[][3] = {
		{ FWIF_DM_CDM, FWIF_DM_PDM, FWIF_DM_CDM },
		{ FWIF_DM_PDM, FWIF_DM_CDM, FWIF_DM_PDM },
		{ FWIF_DM_PDM, FWIF_DM_PDM, FWIF_DM_CDM },
	};
	u32 seed, round;

	(void)state;
	for (round = 0; round < 6; round++) {
		struct starved s;

		seed = round + 1;
		create_of(&s, HOLD_US, 1 + round % 2, 1 + round / 3, dm[round % 3]);
		s.of[0]->boot->slice_us = FWIF_SLICE_MIN_US;
		assert_true(run_random(&s, &seed, 20) > 100);
		fx_destroy(s.of[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_leave_room_for_other_virtual_gpus),
		cmocka_unit_test(a_job_that_keeps_another_from_the_uscs_is_killed),
		cmocka_unit_test(a_job_that_is_kept_from_the_uscs_is_not_killed),
		cmocka_unit_test(progress_on_another_core_defers_the_kill_once),
		cmocka_unit_test(a_job_kept_by_one_with_progress_is_not_killed),
		cmocka_unit_test(reviews_do_not_stop_the_gpu),
		cmocka_unit_test(reviews_of_a_kept_job_do_not_stop_the_gpu),
		cmocka_unit_test(a_job_that_takes_all_slots_is_killed),
		cmocka_unit_test(the_pds_shows_waits_and_the_oldest_tasks),
		cmocka_unit_test(virtual_gpus_take_turns_for_room),
		cmocka_unit_test(a_job_with_room_on_another_usc_needs_no_kill),
		cmocka_unit_test(a_job_that_takes_all_uscs_of_a_core_is_killed),
		cmocka_unit_test(slices_of_compute_jobs_do_not_renew_the_time),
		cmocka_unit_test(work_groups_end_the_time_of_earlier_slices),
		cmocka_unit_test(a_job_without_tasks_kills_no_others),
		cmocka_unit_test(a_job_without_tasks_kills_no_short_jobs),
		cmocka_unit_test(a_job_without_tasks_is_killed_for_one_that_waits),
		cmocka_unit_test(a_job_without_tasks_is_killed_next_to_short_jobs),
		cmocka_unit_test(jobs_whose_tasks_end_are_not_killed),
		cmocka_unit_test(random_jobs_with_progress_are_not_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
