// SPDX-License-Identifier: MIT
/*
 * Tasks of the vertex and the pixel data master: the USC they are dispatched to, their
 * limits, priorities between data masters, and calls of their owners.
 */
#include "stage_fixture.h"

#include <string.h>

#define PER_CORE FX_USCS_PER_CORE

static const struct pumice_pds_insn program[] = { TASK, END };

struct task_fixture {
	struct fixture *fx;
	struct stage_owner vdm, pdm;
	struct pds_stage vertex, fragment;
};

static struct task_fixture make(unsigned int cores, const struct fx_stores *stores,
				struct pumice_stage registers)
{
	const struct pds_stage_limits vertex = { .stage = USC_STAGE_VERTEX, .vo = 4 };
	const struct pds_stage_limits fragment = { .stage = USC_STAGE_FRAGMENT };
	struct task_fixture b = { .fx = fx_create(cores * PER_CORE, stores) };

	assert_true(stage_load(b.fx, &registers, &vertex, program, 2, &b.vertex));
	assert_true(stage_load(b.fx, &registers, &fragment, program, 2, &b.fragment));
	return b;
}

/* Owners are called by address, so the fixture must not move any more. */
static void own(struct task_fixture *b)
{
	stage_own(b->fx, PDS_DM_VDM, &b->vdm);
	stage_own(b->fx, PDS_DM_PDM, &b->pdm);
}

static void destroy(struct task_fixture *b)
{
	fx_finish_all(b->fx);
	pds_stage_drop(b->fx->pds, &b->vertex);
	pds_stage_drop(b->fx->pds, &b->fragment);
	fx_destroy(b->fx);
}

static enum pds_result claim(struct task_fixture *b, enum pds_dm dm, unsigned int core,
			     u32 instances, u32 prims, struct pds_place *place)
{
	return pds_task_claim(b->fx->pds, dm, core,
			      dm == PDS_DM_VDM ? &b->vertex : &b->fragment, instances, prims,
			      place, &b->fx->fault);
}

/* Claim and start. */
static enum pds_result start(struct task_fixture *b, enum pds_dm dm, unsigned int core,
			     u32 instances, const struct usc_gfx *gfx)
{
	struct pds_place place;
	enum pds_result result = claim(b, dm, core, instances, 1, &place);

	if (result == PDS_STARTED)
		pds_task_start(b->fx->pds, dm, &place, gfx);
	return result;
}

static void a_task_stays_on_its_core_on_the_emptiest_usc(void **state)
{
	struct task_fixture b = make(3, NULL, (struct pumice_stage){ .temps = 4 });
	struct pds_place place;
	u32 waves[PER_CORE] = { 0 }, i;

	(void)state;
	own(&b);
	for (i = 0; i < 24; i++) {
		u32 fewest = UINT32_MAX, n, instances = 1 + i * 37 % 128;

		for (n = 0; n < PER_CORE; n++)
			fewest = waves[n] < fewest ? waves[n] : fewest;
		assert_int_equal(claim(&b, PDS_DM_VDM, 1, instances, 1, &place), PDS_STARTED);
		assert_int_equal(place.usc / PER_CORE, 1);
		assert_int_equal(waves[place.usc % PER_CORE], fewest);
		waves[place.usc % PER_CORE] += (instances + 31) / 32;
		pds_task_start(b.fx->pds, PDS_DM_VDM, &place, NULL);
	}
	destroy(&b);
}

static void a_task_is_described_to_its_usc(void **state)
{
	const struct pumice_stage stage = { .temps = 4, .attrs = 3, .shared = 10, .coeffs = 6,
					      .coeffs_alt = 2 };
	struct task_fixture b = make(1, NULL, stage);
	const struct usc_gfx gfx = { .stage = USC_STAGE_FRAGMENT };
	const struct usc_task *task;
	struct pds_place place;
	struct usc *usc;

	(void)state;
	own(&b);
	assert_int_equal(claim(&b, PDS_DM_PDM, 0, 100, 5, &place), PDS_STARTED);
	pds_task_start(b.fx->pds, PDS_DM_PDM, &place, &gfx);
	usc = b.fx->usc[place.usc];
	task = &usc->task[usc->group[place.group].slot[0]];
	assert_ptr_equal(usc->group[place.group].gfx, &gfx);
	assert_int_equal(usc->group[place.group].ctx, FX_CTX);
	assert_int_equal(task->instances, 100);
	assert_int_equal(task->waves, 4);
	assert_int_equal(task->shared, 10);
	assert_int_equal(task->coeffs, 30);
	assert_int_equal(task->coeffs_alt, 10);
	assert_int_equal(b.fx->wakes[place.usc], 1);
	assert_int_equal(pds_groups(b.fx->pds), 0);	/* counts those of the CDM only */
	assert_int_equal(fx_load(b.fx).tasks, 1);
	fake_usc_finish(usc, place.group);
	assert_int_equal(b.pdm.done[0], 1);
	assert_ptr_equal(b.pdm.last, &gfx);
	assert_int_equal(b.vdm.done[0], 0);
	assert_int_equal(b.fx->done, 0);
	destroy(&b);
}

static void primitives_are_bound_by_store_and_count(void **state)
{
	static const struct fx_stores small = { 1 << 19, 1000 * 4, 4096 };
	const struct pumice_stage stage = { .shared = 100, .coeffs = 90 };
	struct task_fixture b = make(1, &small, stage);
	struct pds_place place;

	(void)state;
	own(&b);
	assert_int_equal(pds_stage_max_prims(b.fx->pds, &b.fragment), 10);
	assert_int_equal(claim(&b, PDS_DM_PDM, 0, 128, 11, &place), PDS_FAULT);
	fx_expect_fault(b.fx, PUMICE_FAULT_PDS_RESOURCE, PUMICE_UNIT_PDS, FX_PDS, 0);
	assert_int_equal(claim(&b, PDS_DM_PDM, 0, 128, 10, &place), PDS_STARTED);
	pds_task_drop(b.fx->pds, &place);
	b.fragment.state.coeffs_alt = 10;	/* 100 for each, both sets */
	assert_int_equal(pds_stage_max_prims(b.fx->pds, &b.fragment), 9);
	assert_int_equal(claim(&b, PDS_DM_PDM, 0, 128, 10, &place), PDS_FAULT);
	fx_expect_fault(b.fx, PUMICE_FAULT_PDS_RESOURCE, PUMICE_UNIT_PDS, FX_PDS, 0);
	assert_int_equal(claim(&b, PDS_DM_PDM, 0, 128, 9, &place), PDS_STARTED);
	pds_task_drop(b.fx->pds, &place);
	b.fragment.state.coeffs_alt = 0;
	b.fragment.state.coeffs = 0;
	assert_int_equal(pds_stage_max_prims(b.fx->pds, &b.fragment), 32);
	b.fragment.state.coeffs = 1;
	assert_int_equal(pds_stage_max_prims(b.fx->pds, &b.fragment), 32);
	destroy(&b);
}

static void limits_are_counted_for_each_data_master(void **state)
{
	struct task_fixture b = make(1, NULL, (struct pumice_stage){ .temps = 10, .shared = 8 });
	u32 n;

	(void)state;
	own(&b);
	fx_control(b.fx, (struct pds_control){
		.out_of_order = true, .vdm = { .tasks = 3 },
		.pdm = { .unified_bytes = 4 * 2 * 10 * 128, .common_bytes = 1000 * 4 } });
	for (n = 0; start(&b, PDS_DM_VDM, 0, 128, NULL) == PDS_STARTED; n++)
		;
	assert_int_equal(n, 3 * PER_CORE);
	for (n = 0; start(&b, PDS_DM_PDM, 0, 128, NULL) == PDS_STARTED; n++)
		;
	assert_int_equal(n, 2 * PER_CORE);
	/* A limit below a task's need still admits one. */
	fx_control(b.fx, (struct pds_control){ .out_of_order = true, .vdm = { .common_bytes = 4 } });
	fx_finish_all(b.fx);
	for (n = 0; start(&b, PDS_DM_VDM, 0, 128, NULL) == PDS_STARTED; n++)
		;
	assert_int_equal(n, PER_CORE);
	destroy(&b);
}

/* Only the CDM releases in order: a task after a running group is released at once. */
static void tasks_are_released_out_of_order(void **state)
{
	struct task_fixture b = make(1, NULL, (struct pumice_stage){ .temps = 4 });
	struct pds_launch launch = fx_launch(32, 1, 1);
	struct pds_place place;
	u32 i;

	(void)state;
	own(&b);
	fx_program_empty(b.fx, &launch);
	assert_true(fx_begin(b.fx, &launch));
	fx_control(b.fx, (struct pds_control){ .out_of_order = false });
	for (i = 0; i < PER_CORE; i++)
		assert_int_equal(fx_group(b.fx, i, 0, 0, i), PDS_STARTED);
	assert_int_equal(claim(&b, PDS_DM_VDM, 0, 64, 1, &place), PDS_STARTED);
	pds_task_start(b.fx->pds, PDS_DM_VDM, &place, NULL);
	fake_usc_finish(b.fx->usc[place.usc], place.group);
	assert_int_equal(fx_load(b.fx).tasks, PER_CORE);
	assert_int_equal(fx_load(b.fx).held, 0);
	destroy(&b);
}

/* DMS. */
static void compute_frees_a_core_on_which_others_wait(void **state)
{
	struct task_fixture b = make(2, NULL, (struct pumice_stage){ .temps = 4 });
	struct pds_launch launch = fx_launch(32, 1, 1);
	struct pds_place place;
	u32 n = 0, i;

	(void)state;
	own(&b);
	fx_program_empty(b.fx, &launch);
	assert_true(fx_begin(b.fx, &launch));
	while (fx_group(b.fx, n, 0, 0, n) == PDS_STARTED)
		n++;
	assert_int_equal(n, 2 * PER_CORE * PUMICE_USC_SLOTS);
	assert_int_equal(claim(&b, PDS_DM_VDM, 1, 128, 1, &place), PDS_WAIT);
	/* Room on both cores: compute uses that of core 0 only. */
	fake_usc_finish(b.fx->usc[0], fake_usc_oldest(b.fx->usc[0]));
	assert_int_equal(b.vdm.room[0] + b.vdm.room[1], 0);
	assert_int_equal(b.fx->room, 1);
	fake_usc_finish(b.fx->usc[PER_CORE], fake_usc_oldest(b.fx->usc[PER_CORE]));
	assert_int_equal(b.vdm.room[1], 1);
	assert_int_equal(b.fx->room, 1);	/* not on the core where the VDM waits */
	assert_int_equal(fx_group(b.fx, 0, 0, 0, 0), PDS_STARTED);
	assert_int_equal(fx_group(b.fx, 0, 0, 0, 0), PDS_WAIT);
	assert_int_equal(claim(&b, PDS_DM_VDM, 1, 128, 1, &place), PDS_STARTED);
	assert_int_equal(place.usc, PER_CORE);
	assert_int_equal(b.fx->room, 2);	/* compute is notified of room */
	pds_task_start(b.fx->pds, PDS_DM_VDM, &place, NULL);
	assert_int_equal(fx_group(b.fx, 0, 0, 0, 0), PDS_WAIT);
	/* The end of a task wakes compute, which might not be woken otherwise. */
	fake_usc_finish(b.fx->usc[PER_CORE], place.group);
	assert_int_equal(b.fx->room, 3);
	for (i = 0; i < 2; i++)
		assert_int_equal(fx_group(b.fx, 0, 0, 0, 0), i ? PDS_WAIT : PDS_STARTED);
	destroy(&b);
}

static void an_abort_stops_tasks_of_one_data_master(void **state)
{
	struct task_fixture b = make(1, NULL, (struct pumice_stage){ .temps = 4 });
	struct pds_launch launch = fx_launch(32, 1, 1);
	u64 groups[2] = { 0 };
	struct pds_place place[2];
	u32 i;

	(void)state;
	own(&b);
	fx_program_empty(b.fx, &launch);
	assert_true(fx_begin(b.fx, &launch));
	for (i = 0; i < PER_CORE; i++)
		assert_int_equal(fx_group(b.fx, i, 0, 0, i), PDS_STARTED);
	for (i = 0; i < 2; i++) {
		enum pds_dm dm = i ? PDS_DM_PDM : PDS_DM_VDM;

		assert_int_equal(claim(&b, dm, 0, 32, 1, &place[i]), PDS_STARTED);
		pds_task_start(b.fx->pds, dm, &place[i], NULL);
		groups[i] = 1ull << place[i].group;
	}
	fx_lock(b.fx);
	pds_dm_abort(b.fx->pds, PDS_DM_PDM);
	fx_unlock(b.fx);
	for (i = 0; i < PER_CORE; i++)
		assert_int_equal(b.fx->usc[i]->aborted_groups,
				 i == place[1].usc ? groups[1] : 0);
	fx_abort(b.fx);	/* of compute */
	assert_int_equal(b.fx->usc[place[0].usc]->aborted_groups & groups[0], 0);
	assert_int_equal(pds_groups(b.fx->pds), PER_CORE);
	destroy(&b);
}

static void an_abort_ends_the_wait_for_room(void **state)
{
	struct task_fixture b = make(1, NULL, (struct pumice_stage){ .temps = 4 });
	struct pds_place place;

	(void)state;
	own(&b);
	while (start(&b, PDS_DM_VDM, 0, 1, NULL) == PDS_STARTED)
		;
	assert_int_equal(claim(&b, PDS_DM_PDM, 0, 1, 1, &place), PDS_WAIT);
	fx_lock(b.fx);
	pds_dm_abort(b.fx->pds, PDS_DM_PDM);
	fx_unlock(b.fx);
	fx_finish_oldest(b.fx);
	assert_int_equal(b.pdm.room[0], 0);
	assert_int_equal(b.vdm.room[0], 1);
	destroy(&b);
}

static void a_fault_goes_to_the_owner_of_the_task(void **state)
{
	struct task_fixture b = make(1, NULL, (struct pumice_stage){ .temps = 4 });
	const struct usc_gfx gfx = { .stage = USC_STAGE_VERTEX };
	struct pds_place place;

	(void)state;
	own(&b);
	assert_int_equal(claim(&b, PDS_DM_VDM, 0, 9, 1, &place), PDS_STARTED);
	pds_task_start(b.fx->pds, PDS_DM_VDM, &place, &gfx);
	fake_usc_fault(b.fx->usc[place.usc], place.group, PUMICE_FAULT_MMU_READ_ONLY);
	assert_int_equal(b.vdm.faults, 1);
	assert_ptr_equal(b.vdm.last, &gfx);
	assert_int_equal(b.vdm.fault.fault, PUMICE_FAULT_MMU_READ_ONLY);
	assert_int_equal(b.pdm.faults, 0);
	assert_int_equal(b.fx->faults, 0);
	destroy(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task_stays_on_its_core_on_the_emptiest_usc),
		cmocka_unit_test(a_task_is_described_to_its_usc),
		cmocka_unit_test(primitives_are_bound_by_store_and_count),
		cmocka_unit_test(limits_are_counted_for_each_data_master),
		cmocka_unit_test(tasks_are_released_out_of_order),
		cmocka_unit_test(compute_frees_a_core_on_which_others_wait),
		cmocka_unit_test(an_abort_stops_tasks_of_one_data_master),
		cmocka_unit_test(an_abort_ends_the_wait_for_room),
		cmocka_unit_test(a_fault_goes_to_the_owner_of_the_task),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
