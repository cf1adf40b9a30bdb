// SPDX-License-Identifier: MIT
/*
 * USCs of one slot that tasks of other data masters hold, perhaps for ever: tasks are assigned to
 * the others of the core while these serve their data master, and else wait for the same slots.
 */
#include "stage_fixture.h"

#include <string.h>

#include "../../../qemu-device/gpu/pds/outputs.h"
#include "perf.h"

#define TASKS	3u	/* that a USC manages; it has one slot */
#define WORDS	(32u * 32 * 4)	/* outputs of a tile */

static const struct pumice_stage four_temps = { .temps = 4 };

/* One core of two USCs. */
static struct stage_tasks *create(enum pumice_output_store outputs)
{
	const struct fx_stores stores = {
		.unified_bytes = FX_UNIFIED, .common_bytes = FX_COMMON, .local_bytes = FX_LOCAL,
		.slots = 1, .tasks = TASKS, .outputs = outputs,
	};

	return stage_tasks_create(1, &stores, &four_temps);
}

/* Start a task, and return its USC. */
static unsigned int start(struct stage_tasks *t, enum pds_dm dm)
{
	struct pds_place place;

	assert_int_equal(stage_task_start(t, dm, 0, 32, &place), PDS_STARTED);
	return place.usc;
}

static bool waits(struct stage_tasks *t, enum pds_dm dm)
{
	struct pds_place place;

	return stage_task_start(t, dm, 0, 32, &place) == PDS_WAIT;
}

static void a_task_is_not_assigned_to_a_usc_that_another_data_master_holds(void **state)
{
	struct stage_tasks *t = create(PUMICE_OUTPUT_STORE_COMMON);
	const unsigned int held = start(t, PDS_DM_PDM);
	struct usc *other = t->fx->usc[!held];
	unsigned int i;

	(void)state;
	for (i = 0; i < TASKS; i++)
		assert_int_equal(start(t, PDS_DM_VDM), !held);
	assert_true(waits(t, PDS_DM_VDM));
	/* As often as its own tasks end, whatever runs on the other USC. */
	for (i = 0; i < 10; i++) {
		fake_usc_finish(other, fake_usc_oldest(other));
		assert_int_equal(t->owner[PDS_DM_VDM].room[0], i + 1);
		assert_int_equal(start(t, PDS_DM_VDM), !held);
		assert_true(waits(t, PDS_DM_VDM));
	}
	/* The end of the other data master's task is an end, too. */
	fake_usc_finish(t->fx->usc[held], fake_usc_oldest(t->fx->usc[held]));
	assert_int_equal(t->owner[PDS_DM_VDM].room[0], i + 1);
	assert_int_equal(start(t, PDS_DM_VDM), held);
	stage_tasks_destroy(t);
}

/* Work-groups of one step, too, of which none is started before the last one has room. */
static void work_groups_of_one_step_are_not_assigned_there(void **state)
{
	struct stage_tasks *t = create(PUMICE_OUTPUT_STORE_COMMON);
	const unsigned int held = start(t, PDS_DM_PDM);
	struct pds_launch launch = fx_launch(32, 1, 1);
	struct fixture *fx = t->fx;
	const u32 id[3] = { 0 };
	u32 i;

	(void)state;
	fx_program_empty(fx, &launch);
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(pds_groups_claim(fx->pds, 0, TASKS + 1), TASKS);
	for (i = 0; i < TASKS; i++)
		assert_int_equal(pds_group_fill(fx->pds, 0, id, i, &fx->fault), PDS_STARTED);
	assert_int_equal(pds_groups_start(fx->pds, 0), TASKS);
	assert_int_equal(fx->usc[held]->started, 1);
	for (i = 0; i < TASKS; i++)
		fake_usc_finish(fx->usc[!held], fake_usc_oldest(fx->usc[!held]));
	assert_int_equal(pds_done(fx->pds), TASKS);
	stage_tasks_destroy(t);
}

/* A data master that no USC of the core serves gets its turn among those that hold them. */
static void a_data_master_without_a_usc_waits_for_the_slots_of_others(void **state)
{
	struct stage_tasks *t = create(PUMICE_OUTPUT_STORE_COMMON);
	struct fixture *fx = t->fx;
	unsigned int usc;

	(void)state;
	assert_int_not_equal(start(t, PDS_DM_PDM), start(t, PDS_DM_PDM));
	usc = start(t, PDS_DM_VDM);
	assert_int_equal(start(t, PDS_DM_VDM), !usc);
	assert_int_equal(fx_counter(fx, PUMICE_PERF_PDS_SLOT_WAITS), 2);
	/* Its tasks get slots before those of the holder that are ready later. */
	assert_int_equal(start(t, PDS_DM_PDM), usc);
	fake_usc_finish(fx->usc[usc], fake_usc_oldest(fx->usc[usc]));
	fake_usc_finish(fx->usc[usc], fake_usc_oldest(fx->usc[usc]));
	assert_int_equal(t->owner[PDS_DM_VDM].done[0], 1);
	stage_tasks_destroy(t);
}

/* It is at its limit on the USC that it has, and ends of others there do not help it. */
static void a_data_master_at_its_limit_does_not_keep_the_usc_of_another_from_others(void **state)
{
	struct stage_tasks *t = create(PUMICE_OUTPUT_STORE_COMMON);
	struct pds_launch launch = fx_launch(32, 1, 1);
	struct fixture *fx = t->fx;

	(void)state;
	fx_control(fx, (struct pds_control){
		.out_of_order = true, .policy = PUMICE_DMS_POLICY_VDM_PDM_CDM,
		.vdm = { .tasks = 1 },
	});
	start(t, PDS_DM_PDM);
	start(t, PDS_DM_VDM);
	assert_true(waits(t, PDS_DM_VDM));
	fx_program_empty(fx, &launch);
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(pds_groups_claim(fx->pds, 0, 1), 1);
	pds_groups_drop(fx->pds, 0);
	stage_tasks_destroy(t);
}

/* It may be ready before a task that is being filled, which then waits for it. */
static void a_task_that_waits_for_others_is_not_assigned_where_one_is_filled(void **state)
{
	struct stage_tasks *t = create(PUMICE_OUTPUT_STORE_COMMON);
	struct pds_place place;
	unsigned int busy;

	(void)state;
	assert_int_equal(stage_task_claim(t, PDS_DM_VDM, 0, 32, 1, &place), PDS_STARTED);
	busy = start(t, PDS_DM_VDM);
	assert_int_equal(busy, !place.usc);
	/* The next one of the round robin is the USC of the first task. */
	assert_int_equal(start(t, PDS_DM_PDM), busy);
	/* Yet it may if there is no room on others. */
	assert_int_equal(start(t, PDS_DM_RDM), busy);
	assert_int_equal(start(t, PDS_DM_RDM), place.usc);
	pds_task_start(t->fx->pds, PDS_DM_VDM, &place, NULL);
	stage_tasks_destroy(t);
}

/* With pixel outputs in its partition a task of a tile has one USC: there it waits for others. */
static void a_task_of_a_tile_waits_on_the_usc_of_its_outputs(void **state)
{
	struct stage_tasks *t = create(PUMICE_OUTPUT_STORE_PARTITION);
	struct pds_outputs outputs[2];
	struct pds_place place;
	u32 i;

	(void)state;
	memset(outputs, 0, sizeof(outputs));
	for (i = 0; i < 2; i++) {
		outputs[i].tile = (u8)i;
		assert_int_equal(pds_outputs_claim(t->fx->pds, 0, WORDS, FX_CTX, &outputs[i]),
				 PDS_STARTED);
	}
	assert_int_not_equal(outputs[0].usc, outputs[1].usc);
	assert_int_equal(pds_tile_task_claim(t->fx->pds, &outputs[0], &t->stage[PDS_DM_PDM], 32, 1,
					     &place, &t->fx->fault), PDS_STARTED);
	pds_task_start(t->fx->pds, PDS_DM_PDM, &place, NULL);
	assert_int_equal(start(t, PDS_DM_VDM), outputs[1].usc);
	assert_int_equal(pds_tile_task_claim(t->fx->pds, &outputs[1], &t->stage[PDS_DM_PDM], 32, 1,
					     &place, &t->fx->fault), PDS_STARTED);
	assert_int_equal(place.usc, outputs[1].usc);
	pds_task_start(t->fx->pds, PDS_DM_PDM, &place, NULL);
	fx_finish_all(t->fx);
	for (i = 0; i < 2; i++)
		pds_outputs_free(t->fx->pds, &outputs[i]);
	stage_tasks_destroy(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task_is_not_assigned_to_a_usc_that_another_data_master_holds),
		cmocka_unit_test(work_groups_of_one_step_are_not_assigned_there),
		cmocka_unit_test(a_data_master_without_a_usc_waits_for_the_slots_of_others),
		cmocka_unit_test(a_data_master_at_its_limit_does_not_keep_the_usc_of_another_from_others),
		cmocka_unit_test(a_task_that_waits_for_others_is_not_assigned_where_one_is_filled),
		cmocka_unit_test(a_task_of_a_tile_waits_on_the_usc_of_its_outputs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
