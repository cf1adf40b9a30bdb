// SPDX-License-Identifier: MIT
/* Tasks without instances in the compute control stream, and launches that wait for them. */
#include "cdm_fixture.h"

#include "perf.h"

static void put_launch_after(struct cdm_fixture *fx, u32 groups)
{
	put_launch_at(fx, &(struct pumice_cdm_launch){
		.after = true, .groups_x = groups, .groups_y = 1, .groups_z = 1 });
}

/* State, a launch of two groups, and a task. */
static struct cdm_fixture *create(void)
{
	struct cdm_fixture *fx = cdmfx_create();

	put_state(fx, 4, 1, 1);
	put_launch(fx, 2, 1, 1);
	put_task(fx);
	return fx;
}

static void a_task_holds_only_launches_that_depend_on_it(void **state)
{
	struct cdm_fixture *fx = create();

	(void)state;
	put_launch(fx, 3, 1, 1);
	put_launch_after(fx, 5);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_walk(fx);
	assert_int_equal(fx->pds.started, 2 + 1 + 3);
	assert_true(fx->pds.group[2].sequences);
	assert_int_equal(fx->pds.group[2].size_x, 4);
	assert_false(fx->pds.group[3].sequences);
	/* Groups that end do not matter, only the task. */
	while (fx->pds.running > 2)
		fake_pds_finish(&fx->pds);
	cdmfx_walk(fx);
	assert_int_equal(fx->pds.started, 6);
	fake_pds_finish_task(&fx->pds);
	cdmfx_walk(fx);
	assert_int_equal(fx->pds.started, 11);
	assert_false(fx->pds.group[10].sequences);
	assert_int_equal(fx->pds.running, 6);
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_DONE);
	cdmfx_destroy(fx);
}

/* Without a task before it, a launch that depends on tasks is as any other. */
static void a_launch_without_a_task_before_it_does_not_wait(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	put_state(fx, 1, 1, 1);
	put_launch(fx, 2, 1, 1);
	put_launch_after(fx, 3);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_walk(fx);
	assert_int_equal(fx->pds.started, 5);
	cdmfx_finish(fx);
	cdmfx_destroy(fx);
}

static void a_fence_and_the_end_of_a_job_wait_for_tasks(void **state)
{
	struct cdm_fixture *fx = create();

	(void)state;
	put_fence(fx);
	put_launch(fx, 1, 1, 1);
	put_task(fx);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_walk(fx);
	fake_pds_finish(&fx->pds);
	fake_pds_finish(&fx->pds);
	cdmfx_walk(fx);
	assert_int_equal(fx->pds.started, 3);
	fake_pds_finish_task(&fx->pds);
	cdmfx_walk(fx);
	assert_int_equal(fx->pds.started, 5);
	fake_pds_finish(&fx->pds);
	cdmfx_walk(fx);
	assert_int_equal(fx->ended, 0);
	fake_pds_finish_task(&fx->pds);
	cdmfx_walk(fx);
	assert_int_equal(fx->ended, 1);
	cdmfx_destroy(fx);
}

/* The fake PDS checks that there are not more. */
static void a_task_waits_while_as_many_are_pending_as_there_may_be(void **state)
{
	struct cdm_fixture *fx = create();
	u32 n;

	(void)state;
	for (n = 1; n < 50; n++)
		put_task(fx);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_walk(fx);
	assert_int_equal(fx->pds.pending, PDS_MAX_PENDING);
	for (n = PDS_MAX_PENDING; n < 50; n++) {
		fake_pds_finish_task(&fx->pds);
		cdmfx_walk(fx);
		assert_int_equal(fx->pds.started, 2 + n + 1);
	}
	cdmfx_finish(fx);
	cdmfx_destroy(fx);
}

static void a_task_is_not_a_work_group(void **state)
{
	struct cdm_fixture *fx = create();
	u64 value[PUMICE_PERF_COUNTER_COUNT] = { 0 };

	(void)state;
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_finish(fx);
	cdm_counters_add(fx->cdm, value);
	assert_int_equal(value[PUMICE_PERF_CDM_GROUPS], 2);
	assert_int_equal(value[PUMICE_PERF_CDM_COMMANDS], 4);
	assert_int_equal(cdm_status(fx->cdm)->done, 2);
	cdmfx_destroy(fx);
}

static void a_task_needs_state(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	put_task(fx);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_finish(fx);
	cdmfx_expect_fault(fx, PUMICE_FAULT_CDM_STATE, CDMFX_STREAM);
	cdmfx_destroy(fx);
}

static void a_stopped_job_drops_waiting_commands(void **state)
{
	struct cdm_fixture *fx = create();

	(void)state;
	put_launch_after(fx, 5);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_walk(fx);
	cdm_abort(fx->cdm);
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_ABORTED);
	assert_int_equal(fx->pds.started, 3);
	cdmfx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task_holds_only_launches_that_depend_on_it),
		cmocka_unit_test(a_launch_without_a_task_before_it_does_not_wait),
		cmocka_unit_test(a_fence_and_the_end_of_a_job_wait_for_tasks),
		cmocka_unit_test(a_task_waits_while_as_many_are_pending_as_there_may_be),
		cmocka_unit_test(a_task_is_not_a_work_group),
		cmocka_unit_test(a_task_needs_state),
		cmocka_unit_test(a_stopped_job_drops_waiting_commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
