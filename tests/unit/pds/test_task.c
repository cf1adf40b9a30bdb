// SPDX-License-Identifier: MIT
/*
 * Tasks of the vertex and the pixel data master: the USC they are dispatched to, their
 * limits, priorities between data masters, and calls of their owners.
 */
#include "stage_fixture.h"

#define PER_CORE FX_USCS_PER_CORE

static const struct pumice_stage four_temps = { .temps = 4 };

static void a_task_stays_on_its_core_on_the_emptiest_usc(void **state)
{
	struct stage_tasks *t = stage_tasks_create(3, NULL, &four_temps);
	struct pds_place place;
	u32 waves[PER_CORE] = { 0 }, i;

	(void)state;
	for (i = 0; i < 24; i++) {
		u32 fewest = UINT32_MAX, n, instances = 1 + i * 37 % 128;

		for (n = 0; n < PER_CORE; n++)
			fewest = waves[n] < fewest ? waves[n] : fewest;
		assert_int_equal(stage_task_start(t, PDS_DM_VDM, 1, instances, &place),
				 PDS_STARTED);
		assert_int_equal(place.usc / PER_CORE, 1);
		assert_int_equal(waves[place.usc % PER_CORE], fewest);
		waves[place.usc % PER_CORE] += (instances + 31) / 32;
	}
	stage_tasks_destroy(t);
}

static void a_task_is_described_to_its_usc(void **state)
{
	const struct pumice_stage stage = { .temps = 4, .attrs = 3, .shared = 10, .coeffs = 6,
					      .coeffs_alt = 2 };
	struct stage_tasks *t = stage_tasks_create(1, NULL, &stage);
	const struct usc_gfx gfx = { .stage = USC_STAGE_FRAGMENT };
	const struct usc_task *task;
	struct pds_place place;
	struct usc *usc;

	(void)state;
	assert_int_equal(stage_task_claim(t, PDS_DM_PDM, 0, 100, 5, &place), PDS_STARTED);
	pds_task_start(t->fx->pds, PDS_DM_PDM, &place, &gfx);
	usc = t->fx->usc[place.usc];
	task = &usc->task[usc->group[place.group].slot[0]];
	assert_ptr_equal(usc->group[place.group].gfx, &gfx);
	assert_int_equal(usc->group[place.group].ctx, FX_CTX);
	assert_int_equal(task->instances, 100);
	assert_int_equal(task->waves, 4);
	assert_int_equal(task->shared, 10);
	assert_int_equal(task->coeffs, 30);
	assert_int_equal(task->coeffs_alt, 10);
	assert_int_equal(t->fx->wakes[place.usc], 1);
	assert_int_equal(pds_groups(t->fx->pds), 0);	/* counts those of the CDM only */
	assert_int_equal(fx_load(t->fx).tasks, 1);
	fake_usc_finish(usc, place.group);
	assert_int_equal(t->owner[PDS_DM_PDM].done[0], 1);
	assert_ptr_equal(t->owner[PDS_DM_PDM].last, &gfx);
	assert_int_equal(t->owner[PDS_DM_VDM].done[0], 0);
	assert_int_equal(pds_done(t->fx->pds), 0);
	stage_tasks_destroy(t);
}

static void primitives_are_bound_by_store_and_count(void **state)
{
	static const struct fx_stores small = { .unified_bytes = 1 << 19, .common_bytes = 1000 * 4,
						.local_bytes = 4096 };
	const struct pumice_stage stage = { .shared = 100, .coeffs = 90 };
	struct stage_tasks *t = stage_tasks_create(1, &small, &stage);
	struct pds_stage *fragment = &t->stage[PDS_DM_PDM];
	struct pds_place place;

	(void)state;
	assert_int_equal(pds_stage_max_prims(t->fx->pds, fragment), 10);
	assert_int_equal(stage_task_claim(t, PDS_DM_PDM, 0, 128, 11, &place), PDS_FAULT);
	fx_expect_fault(t->fx, PUMICE_FAULT_PDS_RESOURCE, PUMICE_UNIT_PDS, FX_PDS, 0);
	assert_int_equal(stage_task_claim(t, PDS_DM_PDM, 0, 128, 10, &place), PDS_STARTED);
	pds_task_drop(t->fx->pds, &place);
	fragment->state.coeffs_alt = 10;	/* 100 for each, both sets */
	assert_int_equal(pds_stage_max_prims(t->fx->pds, fragment), 9);
	assert_int_equal(stage_task_claim(t, PDS_DM_PDM, 0, 128, 10, &place), PDS_FAULT);
	fx_expect_fault(t->fx, PUMICE_FAULT_PDS_RESOURCE, PUMICE_UNIT_PDS, FX_PDS, 0);
	assert_int_equal(stage_task_claim(t, PDS_DM_PDM, 0, 128, 9, &place), PDS_STARTED);
	pds_task_drop(t->fx->pds, &place);
	fragment->state.coeffs_alt = 0;
	fragment->state.coeffs = 0;
	assert_int_equal(pds_stage_max_prims(t->fx->pds, fragment), 32);
	fragment->state.coeffs = 1;
	assert_int_equal(pds_stage_max_prims(t->fx->pds, fragment), 32);
	stage_tasks_destroy(t);
}

static void limits_are_counted_for_each_data_master(void **state)
{
	const struct pumice_stage stage = { .temps = 10, .shared = 8 };
	struct stage_tasks *t = stage_tasks_create(1, NULL, &stage);
	struct pds_place place;
	u32 n;

	(void)state;
	fx_control(t->fx, (struct pds_control){
		.out_of_order = true, .vdm = { .tasks = 3 },
		.pdm = { .unified_bytes = 4 * 2 * 10 * 128, .common_bytes = 1000 * 4 } });
	for (n = 0; stage_task_start(t, PDS_DM_VDM, 0, 128, &place) == PDS_STARTED; n++)
		;
	assert_int_equal(n, 3 * PER_CORE);
	for (n = 0; stage_task_start(t, PDS_DM_PDM, 0, 128, &place) == PDS_STARTED; n++)
		;
	assert_int_equal(n, 2 * PER_CORE);
	/* A limit below a task's need still admits one. */
	fx_control(t->fx,
		   (struct pds_control){ .out_of_order = true, .vdm = { .common_bytes = 4 } });
	fx_finish_all(t->fx);
	for (n = 0; stage_task_start(t, PDS_DM_VDM, 0, 128, &place) == PDS_STARTED; n++)
		;
	assert_int_equal(n, PER_CORE);
	stage_tasks_destroy(t);
}

/* Only the CDM releases in order: a task after a running group is released at once. */
static void tasks_are_released_out_of_order(void **state)
{
	struct stage_tasks *t = stage_tasks_create(1, NULL, &four_temps);
	struct pds_launch launch = fx_launch(32, 1, 1);
	struct pds_place place;
	u32 i;

	(void)state;
	fx_program_empty(t->fx, &launch);
	assert_true(fx_begin(t->fx, &launch));
	fx_control(t->fx, (struct pds_control){ .out_of_order = false });
	for (i = 0; i < PER_CORE; i++)
		assert_int_equal(fx_group(t->fx, i, 0, 0, i), PDS_STARTED);
	assert_int_equal(stage_task_start(t, PDS_DM_VDM, 0, 64, &place), PDS_STARTED);
	fake_usc_finish(t->fx->usc[place.usc], place.group);
	assert_int_equal(fx_load(t->fx).tasks, PER_CORE);
	assert_int_equal(fx_load(t->fx).held, 0);
	stage_tasks_destroy(t);
}

/* DMS. */
static void compute_frees_a_core_on_which_others_wait(void **state)
{
	struct stage_tasks *t = stage_tasks_create(2, NULL, &four_temps);
	struct pds_launch launch = fx_launch(32, 1, 1);
	struct pds_place place;
	u32 n = 0, i;

	(void)state;
	fx_program_empty(t->fx, &launch);
	assert_true(fx_begin(t->fx, &launch));
	while (fx_group(t->fx, n, 0, 0, n) == PDS_STARTED)
		n++;
	assert_int_equal(n, 2 * PER_CORE * PUMICE_USC_SLOTS);
	assert_int_equal(stage_task_claim(t, PDS_DM_VDM, 1, 128, 1, &place), PDS_WAIT);
	/* Room on both cores: compute uses that of core 0 only. */
	fake_usc_finish(t->fx->usc[0], fake_usc_oldest(t->fx->usc[0]));
	assert_int_equal(t->owner[PDS_DM_VDM].room[0] + t->owner[PDS_DM_VDM].room[1], 0);
	assert_int_equal(t->fx->room, 1);
	fake_usc_finish(t->fx->usc[PER_CORE], fake_usc_oldest(t->fx->usc[PER_CORE]));
	assert_int_equal(t->owner[PDS_DM_VDM].room[1], 1);
	assert_int_equal(t->fx->room, 1);	/* not on the core where the VDM waits */
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_STARTED);
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_WAIT);
	assert_int_equal(stage_task_claim(t, PDS_DM_VDM, 1, 128, 1, &place), PDS_STARTED);
	assert_int_equal(place.usc, PER_CORE);
	assert_int_equal(t->fx->room, 2);	/* compute is notified of room */
	pds_task_start(t->fx->pds, PDS_DM_VDM, &place, NULL);
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_WAIT);
	/* The end of a task wakes compute, which might not be woken otherwise. */
	fake_usc_finish(t->fx->usc[PER_CORE], place.group);
	assert_int_equal(t->fx->room, 3);
	for (i = 0; i < 2; i++)
		assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), i ? PDS_WAIT : PDS_STARTED);
	stage_tasks_destroy(t);
}

/* Compute precedes on cores where it waits, also while it uses another one; but not for long. */
static void a_pause_of_compute_ends_its_waits(void **state)
{
	struct stage_tasks *t = stage_tasks_create(2, NULL, &four_temps);
	struct pds_launch launch = fx_launch(32, 1, 1);
	struct pds_place place;
	u32 n = 0;

	(void)state;
	fx_control(t->fx, (struct pds_control){
		.out_of_order = true, .policy = PUMICE_DMS_POLICY_CDM_VDM_PDM,
	});
	fx_program_empty(t->fx, &launch);
	assert_true(fx_begin(t->fx, &launch));
	while (fx_group(t->fx, n, 0, 0, n) == PDS_STARTED)
		n++;
	assert_int_equal(stage_task_claim(t, PDS_DM_VDM, 1, 32, 1, &place), PDS_WAIT);
	fake_usc_finish(t->fx->usc[0], fake_usc_oldest(t->fx->usc[0]));
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_STARTED);
	fake_usc_finish(t->fx->usc[PER_CORE], fake_usc_oldest(t->fx->usc[PER_CORE]));
	assert_int_equal(stage_task_claim(t, PDS_DM_VDM, 1, 32, 1, &place), PDS_WAIT);
	fx_lock(t->fx);
	pds_groups_leave(t->fx->pds, 1);
	fx_unlock(t->fx);
	assert_int_equal(t->owner[PDS_DM_VDM].room[1], 1);
	assert_int_equal(stage_task_claim(t, PDS_DM_VDM, 1, 32, 1, &place), PDS_STARTED);
	pds_task_start(t->fx->pds, PDS_DM_VDM, &place, NULL);
	stage_tasks_destroy(t);
}

static void an_abort_stops_tasks_of_one_data_master(void **state)
{
	struct stage_tasks *t = stage_tasks_create(1, NULL, &four_temps);
	struct pds_launch launch = fx_launch(32, 1, 1);
	u64 groups[2] = { 0 };
	struct pds_place place[2];
	u32 i;

	(void)state;
	fx_program_empty(t->fx, &launch);
	assert_true(fx_begin(t->fx, &launch));
	for (i = 0; i < PER_CORE; i++)
		assert_int_equal(fx_group(t->fx, i, 0, 0, i), PDS_STARTED);
	for (i = 0; i < 2; i++) {
		enum pds_dm dm = i ? PDS_DM_PDM : PDS_DM_VDM;

		assert_int_equal(stage_task_start(t, dm, 0, 32, &place[i]), PDS_STARTED);
		groups[i] = 1ull << place[i].group;
	}
	stage_tasks_abort(t, PDS_DM_PDM);
	for (i = 0; i < PER_CORE; i++)
		assert_int_equal(t->fx->usc[i]->aborted_groups,
				 i == place[1].usc ? groups[1] : 0);
	fx_abort(t->fx);	/* of compute */
	assert_int_equal(t->fx->usc[place[0].usc]->aborted_groups & groups[0], 0);
	assert_int_equal(pds_groups(t->fx->pds), PER_CORE);
	stage_tasks_destroy(t);
}

static void an_abort_ends_the_wait_for_room(void **state)
{
	struct stage_tasks *t = stage_tasks_create(1, NULL, &four_temps);
	struct pds_place place;

	(void)state;
	while (stage_task_start(t, PDS_DM_VDM, 0, 1, &place) == PDS_STARTED)
		;
	assert_int_equal(stage_task_claim(t, PDS_DM_PDM, 0, 1, 1, &place), PDS_WAIT);
	stage_tasks_abort(t, PDS_DM_PDM);
	fx_finish_oldest(t->fx);
	assert_int_equal(t->owner[PDS_DM_PDM].room[0], 0);
	assert_int_equal(t->owner[PDS_DM_VDM].room[0], 1);
	stage_tasks_destroy(t);
}

static void a_fault_goes_to_the_owner_of_the_task(void **state)
{
	struct stage_tasks *t = stage_tasks_create(1, NULL, &four_temps);
	const struct usc_gfx gfx = { .stage = USC_STAGE_VERTEX };
	struct pds_place place;

	(void)state;
	assert_int_equal(stage_task_claim(t, PDS_DM_VDM, 0, 9, 1, &place), PDS_STARTED);
	pds_task_start(t->fx->pds, PDS_DM_VDM, &place, &gfx);
	fake_usc_fault(t->fx->usc[place.usc], place.group, PUMICE_FAULT_MMU_READ_ONLY);
	assert_int_equal(t->owner[PDS_DM_VDM].faults, 1);
	assert_ptr_equal(t->owner[PDS_DM_VDM].last, &gfx);
	assert_int_equal(t->owner[PDS_DM_VDM].fault.fault, PUMICE_FAULT_MMU_READ_ONLY);
	assert_int_equal(t->owner[PDS_DM_PDM].faults, 0);
	assert_int_equal(t->fx->faults, 0);
	stage_tasks_destroy(t);
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
		cmocka_unit_test(a_pause_of_compute_ends_its_waits),
		cmocka_unit_test(an_abort_stops_tasks_of_one_data_master),
		cmocka_unit_test(an_abort_ends_the_wait_for_room),
		cmocka_unit_test(a_fault_goes_to_the_owner_of_the_task),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
