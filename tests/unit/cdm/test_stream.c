// SPDX-License-Identifier: MIT
/*
 * The walk through a control stream: each command, sub-lists, fences, grids,
 * the budget, and the times and counts in the registers.
 */
#include "cdm_fixture.h"

static void an_empty_stream_ends_done(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	put_halt(fx);
	cdmfx_start(fx);
	assert_int_equal(fx->ended, 0);	/* never from cdm_start() */
	cdmfx_walk(fx);
	assert_int_equal(fx->ended, 1);
	assert_int_equal(fx->end, DM_DONE);
	assert_int_equal(cdm_status(fx->cdm)->fault.fault, PUMICE_FAULT_NONE);
	assert_int_equal(fx->pds.launches, 0);
	assert_false(cdm_step(fx->cdm, 10));
	cdmfx_destroy(fx);
}

static void a_launch_passes_the_state_and_every_group_to_the_pds(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();
	u32 x, y, z, n = 0;

	(void)state;
	put_state(fx, 4, 5, 6);
	put_launch_at(fx, &(struct pumice_cdm_launch){ false, 3, 4, 2, 100, 0xffff0000, 7 });
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_DONE);
	assert_int_equal(fx->pds.launches, 1);
	assert_int_equal(fx->pds.launch.ctx, CDMFX_CTX);
	assert_int_equal(fx->pds.launch.state.pds_addr, 0x5550);
	assert_int_equal(fx->pds.launch.state.local_bytes, 12);
	assert_int_equal(fx->pds.launch.state.size_z, 6);
	assert_int_equal(fx->pds.launch.grid.groups_y, 4);
	assert_int_equal(fx->pds.started, 24);
	for (z = 0; z < 2; z++) {
		for (y = 0; y < 4; y++) {
			for (x = 0; x < 3; x++, n++) {
				assert_int_equal(fx->pds.group[n].linear, n);
				assert_int_equal(fx->pds.group[n].id[0], 100 + x);
				assert_int_equal(fx->pds.group[n].id[1], 0xffff0000 + y);
				assert_int_equal(fx->pds.group[n].id[2], 7 + z);
			}
		}
	}
	assert_int_equal(cdm_status(fx->cdm)->done, 24);
	cdmfx_destroy(fx);
}

static void a_zero_count_launches_none(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	put_state(fx, 1, 1, 1);
	put_launch(fx, 0, 1, 1);
	put_launch(fx, 1, 0, 1);
	put_launch(fx, 0xffffffff, 0xffffffff, 0);
	put_launch(fx, 2, 1, 1);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_DONE);
	assert_int_equal(fx->pds.launches, 1);
	assert_int_equal(fx->pds.started, 2);
	cdmfx_destroy(fx);
}

static void state_stays_until_the_next_state(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	put_state(fx, 4, 1, 1);
	put_launch(fx, 1, 1, 1);
	put_launch(fx, 1, 1, 1);
	put_state(fx, 8, 1, 1);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_finish(fx);
	assert_int_equal(fx->pds.launches, 2);
	assert_int_equal(fx->pds.launch.state.size_x, 4);
	cdmfx_destroy(fx);
}

/* State belongs to a job: the next one starts without. */
static void state_does_not_survive_the_job(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	put_state(fx, 1, 1, 1);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_finish(fx);
	fx->at = CDMFX_STREAM;
	put_launch(fx, 1, 1, 1);
	put_halt(fx);
	fx->ended = 0;
	cdmfx_start(fx);
	cdmfx_walk(fx);
	cdmfx_expect_fault(fx, PUMICE_FAULT_CDM_STATE, CDMFX_STREAM);
	cdmfx_destroy(fx);
}

/* Sub-lists: calls nest, return to the word after the call, and keep the state they set. */
static void sub_lists_nest_and_return_after_their_call(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();
	const u64 list[PUMICE_CDM_MAX_DEPTH] = { CDMFX_STREAM + 0x400, CDMFX_STREAM + 0x800,
						 CDMFX_STREAM + 0xffc, CDMFX_STREAM + 0x2000 };
	u32 depth;

	(void)state;
	put_call(fx, list[0]);
	put_launch(fx, 50, 1, 1);
	put_halt(fx);
	for (depth = 0; depth < PUMICE_CDM_MAX_DEPTH; depth++) {
		fx->at = list[depth];
		put_state(fx, (u16)(depth + 1), 1, 1);
		put_launch(fx, depth + 1, 1, 1);
		if (depth + 1 < PUMICE_CDM_MAX_DEPTH)
			put_call(fx, list[depth + 1]);
		put_launch(fx, depth + 10, 1, 1);
		put_return(fx);
	}
	cdmfx_start(fx);
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_DONE);
	assert_int_equal(fx->pds.started, 1 + 2 + 3 + 4 + 13 + 12 + 11 + 10 + 50);
	/* The order proves that each list continued after its call. */
	assert_int_equal(fx->pds.group[10].launch, 5);
	assert_int_equal(fx->pds.group[10 + 13].launch, 6);
	assert_int_equal(fx->pds.group[10 + 13 + 12 + 11 + 10].launch, 9);
	assert_int_equal(fx->pds.launch.state.size_x, PUMICE_CDM_MAX_DEPTH);
	cdmfx_destroy(fx);
}

/* Repeated calls of one list do not nest. */
static void a_sub_list_can_be_called_any_number_of_times(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();
	u32 i;

	(void)state;
	put_state(fx, 1, 1, 1);
	for (i = 0; i < 100; i++)
		put_call(fx, CDMFX_STREAM + 0x3000);
	put_halt(fx);
	fx->at = CDMFX_STREAM + 0x3000;
	put_launch(fx, 1, 1, 1);
	put_return(fx);
	cdmfx_start(fx);
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_DONE);
	assert_int_equal(fx->pds.started, 100);
	cdmfx_destroy(fx);
}

static void halt_ends_the_job_inside_a_sub_list(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();
	u32 i;

	(void)state;
	put_state(fx, 1, 1, 1);
	put_call(fx, CDMFX_STREAM + 0x100);
	put_launch(fx, 1, 1, 1);
	fx->at = CDMFX_STREAM + 0x100;
	put_halt(fx);
	/* The depth is not kept for the next job either. */
	for (i = 1; i <= 2 * PUMICE_CDM_MAX_DEPTH; i++) {
		cdmfx_start(fx);
		cdmfx_walk(fx);
		assert_int_equal(fx->ended, i);
		assert_int_equal(fx->end, DM_DONE);
		assert_int_equal(fx->pds.launches, 0);
	}
	cdmfx_destroy(fx);
}

static void commands_may_cross_pages(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	put_call(fx, CDMFX_STREAM + 0x1000 - 8);
	put_halt(fx);
	fx->at = CDMFX_STREAM + 0x1000 - 8;
	put_state(fx, 1, 1, 1);
	put_call(fx, CDMFX_STREAM + 0x2000 - 12);
	put_return(fx);
	fx->at = CDMFX_STREAM + 0x2000 - 12;
	put_launch(fx, 5, 1, 1);
	put_return(fx);
	cdmfx_start(fx);
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_DONE);
	assert_int_equal(fx->pds.started, 5);
	cdmfx_destroy(fx);
}

static void launches_run_in_parallel_without_a_fence(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	put_state(fx, 1, 1, 1);
	put_launch(fx, 2, 1, 1);
	put_launch(fx, 3, 1, 1);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_walk(fx);
	assert_int_equal(fx->pds.running, 5);
	assert_int_equal(fx->ended, 0);	/* HALT waits for them */
	assert_int_equal(fx->pds.group[2].launch, 2);	/* counts from 0 again */
	assert_int_equal(fx->pds.group[2].linear, 0);
	assert_int_equal(fx->pds.group[2].id[0], 0);
	assert_int_equal(fx->pds.group[4].id[0], 2);
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_DONE);
	cdmfx_destroy(fx);
}

static void a_fence_delays_launches_until_the_last_group_ends(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();
	unsigned int wakes;

	(void)state;
	put_fence(fx);	/* with nothing before it: no wait */
	put_state(fx, 1, 1, 1);
	put_launch(fx, 3, 1, 1);
	put_fence(fx);
	put_launch(fx, 1, 1, 1);
	put_fence(fx);
	put_fence(fx);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_walk(fx);
	assert_int_equal(fx->pds.started, 3);
	fake_pds_finish(&fx->pds);
	cdmfx_walk(fx);
	fake_pds_finish(&fx->pds);
	cdmfx_walk(fx);
	assert_int_equal(fx->pds.started, 3);
	wakes = fx->wakes;
	fake_pds_finish(&fx->pds);
	assert_true(fx->wakes > wakes);
	cdmfx_walk(fx);
	assert_int_equal(fx->pds.started, 4);
	assert_int_equal(fx->ended, 0);
	fake_pds_finish(&fx->pds);
	cdmfx_walk(fx);
	assert_int_equal(fx->ended, 1);
	cdmfx_destroy(fx);
}

/* A full PDS: each group that ends wakes the CDM, which dispatches one more. */
static void a_launch_waits_for_room_and_continues_in_order(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();
	u32 i;

	(void)state;
	fx->pds.room = 3;
	put_state(fx, 1, 1, 1);
	put_launch(fx, 10, 1, 1);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_walk(fx);
	assert_int_equal(fx->pds.started, 3);
	for (i = 4; i <= 10; i++) {
		unsigned int wakes = fx->wakes;

		assert_false(cdm_step(fx->cdm, 100));
		fake_pds_finish(&fx->pds);
		assert_true(fx->wakes > wakes);
		cdmfx_walk(fx);
		assert_int_equal(fx->pds.started, i);
	}
	cdmfx_finish(fx);
	for (i = 0; i < 10; i++)
		assert_int_equal(fx->pds.group[i].linear, i);
	assert_int_equal(cdm_status(fx->cdm)->done, 10);
	cdmfx_destroy(fx);
}

static void a_step_does_not_exceed_its_budget(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	put_state(fx, 1, 1, 1);
	put_launch(fx, 0x10000, 1, 1);
	put_halt(fx);
	cdmfx_start(fx);
	assert_true(cdm_step(fx->cdm, 100));	/* the beginning of a launch ends a step */
	assert_false(cdm_step(fx->cdm, 100));	/* the source dispatches the groups */
	assert_int_equal(fx->pds.started, 0);
	assert_true(cdmfx_source(fx, 0, 7));
	assert_int_equal(fx->pds.started, 7);
	assert_true(cdmfx_source(fx, 0, 1));
	assert_int_equal(fx->pds.started, 8);
	/* A launch with more expensive groups dispatches fewer per step, but at least one. */
	fx->pds.cost = 10;
	assert_true(cdmfx_source(fx, 0, 25));
	assert_int_equal(fx->pds.started, 8 + 3);
	assert_true(cdmfx_source(fx, 0, 1));
	assert_int_equal(fx->pds.started, 12);
	fx->pds.cost = 0x80000000;
	assert_true(cdmfx_source(fx, 0, 100));
	assert_int_equal(fx->pds.started, 13);
	cdm_abort(fx->cdm);
	cdmfx_finish(fx);
	cdmfx_destroy(fx);
}

/* The largest grids: the walk does not wrap at 32 bits. */
static void large_grids_are_accepted(void **state)
{
	static const struct {
		struct pumice_cdm_launch grid;
		u32 started;	/* by a step of 98 */
	} cases[] = {
		{ { false, 0xffffffff, 1, 1, 0, 0, 0 }, 98 },
		{ { false, 1, 1, 1, 0xfffffffe, 0xfffffffe, 0xfffffffe }, 1 },
		{ { false, 0xffffffff, 0xffffffff, 1, 0, 0, 0xfffffffe }, 98 },
		{ { false, 0x80000000, 0x80000000, 3, 0, 0, 0 }, 98 },
		{ { false, 0xffffffff, 1, 0xffffffff, 0, 0, 0 }, 98 },
	};
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cdm_fixture *fx = cdmfx_create();

		put_state(fx, 1, 1, 1);
		put_launch_at(fx, &cases[i].grid);
		put_halt(fx);
		cdmfx_start(fx);
		cdm_step(fx->cdm, 2);
		cdmfx_source(fx, 0, 98);
		assert_int_equal(cdm_status(fx->cdm)->fault.fault, PUMICE_FAULT_NONE);
		assert_int_equal(fx->pds.started, cases[i].started);
		cdm_abort(fx->cdm);
		cdmfx_finish(fx);
		cdmfx_destroy(fx);
	}
}

static void times_and_counts_are_those_of_the_job(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	put_state(fx, 1, 1, 1);
	put_launch(fx, 2, 1, 1);
	put_halt(fx);
	fx->clock = 5000;
	cdmfx_start(fx);
	assert_int_equal(cdm_status(fx->cdm)->time_start, 5000);
	fx->clock = 6000;
	cdmfx_walk(fx);
	assert_int_equal(cdm_status(fx->cdm)->done, 0);
	fake_pds_finish(&fx->pds);
	assert_int_equal(cdm_status(fx->cdm)->done, 1);
	fx->clock = 7000;
	fake_pds_finish(&fx->pds);
	cdmfx_walk(fx);
	assert_int_equal(cdm_status(fx->cdm)->time_start, 5000);
	assert_int_equal(cdm_status(fx->cdm)->time_end, 7000);
	assert_int_equal(cdm_status(fx->cdm)->done, 2);
	/* They are kept until the next job starts. */
	fx->clock = 8000;
	cdmfx_start(fx);
	assert_int_equal(cdm_status(fx->cdm)->time_start, 8000);
	assert_int_equal(cdm_status(fx->cdm)->done, 0);
	cdmfx_finish(fx);
	cdmfx_destroy(fx);
}

static void start_while_busy_does_nothing(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	put_state(fx, 1, 1, 1);
	put_launch(fx, 2, 1, 1);
	put_halt(fx);
	cdmfx_start(fx);
	assert_false(cdm_start(
		fx->cdm, &(struct cdm_job){ .ctx = CDMFX_CTX, .stream = CDMFX_STREAM + 0x1000 }));
	cdmfx_walk(fx);
	assert_false(cdm_start(
		fx->cdm, &(struct cdm_job){ .ctx = CDMFX_CTX, .stream = CDMFX_STREAM }));
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_DONE);
	assert_int_equal(fx->pds.started, 2);
	assert_false(cdm_start(
		fx->cdm, &(struct cdm_job){ .ctx = PUMICE_MMU_CONTEXTS, .stream = CDMFX_STREAM }));
	assert_false(cdm_status(fx->cdm)->busy);
	cdmfx_destroy(fx);
}

/* The callback for the end of a job may start the next one at once. */
static void a_job_can_be_started_from_the_end_of_another(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	put_state(fx, 1, 1, 1);
	put_launch(fx, 2, 1, 1);
	put_halt(fx);
	fx->restarts = 3;
	cdmfx_start(fx);
	while (fx->restarts || cdm_status(fx->cdm)->busy) {
		cdmfx_walk(fx);
		fake_pds_finish_all(&fx->pds);
	}
	assert_int_equal(fx->ended, 4);
	assert_int_equal(fx->pds.started, 8);
	cdmfx_destroy(fx);
}

static void reset_drops_the_job_without_an_event(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	put_state(fx, 1, 1, 1);
	put_launch(fx, 2, 1, 1);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_walk(fx);
	cdm_reset(fx->cdm);
	fx->pds.running = 0;
	assert_int_equal(fx->ended, 0);
	assert_false(cdm_status(fx->cdm)->busy);
	assert_int_equal(cdm_status(fx->cdm)->time_start, 0);
	assert_false(cdm_step(fx->cdm, 10));
	cdmfx_start(fx);
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_DONE);
	cdmfx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_stream_ends_done),
		cmocka_unit_test(a_launch_passes_the_state_and_every_group_to_the_pds),
		cmocka_unit_test(a_zero_count_launches_none),
		cmocka_unit_test(state_stays_until_the_next_state),
		cmocka_unit_test(state_does_not_survive_the_job),
		cmocka_unit_test(sub_lists_nest_and_return_after_their_call),
		cmocka_unit_test(a_sub_list_can_be_called_any_number_of_times),
		cmocka_unit_test(halt_ends_the_job_inside_a_sub_list),
		cmocka_unit_test(commands_may_cross_pages),
		cmocka_unit_test(launches_run_in_parallel_without_a_fence),
		cmocka_unit_test(a_fence_delays_launches_until_the_last_group_ends),
		cmocka_unit_test(a_launch_waits_for_room_and_continues_in_order),
		cmocka_unit_test(a_step_does_not_exceed_its_budget),
		cmocka_unit_test(large_grids_are_accepted),
		cmocka_unit_test(times_and_counts_are_those_of_the_job),
		cmocka_unit_test(start_while_busy_does_nothing),
		cmocka_unit_test(a_job_can_be_started_from_the_end_of_another),
		cmocka_unit_test(reset_drops_the_job_without_an_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
