// SPDX-License-Identifier: MIT
/*
 * The walk through a control stream: each command, sub-lists, fences, grids,
 * the budget, and the times and counts in the registers.
 */
#include "cdm_fixture.h"

static void an_empty_stream_ends_done(void **state)
{
	struct cdm_fixture *b = cdmfx_create();

	(void)state;
	put_halt(b);
	cdmfx_start(b);
	assert_int_equal(b->ended, 0);	/* never from cdm_start() */
	cdmfx_walk(b);
	assert_int_equal(b->ended, 1);
	assert_int_equal(b->end, DM_DONE);
	assert_int_equal(cdm_status(b->cdm)->fault.fault, PUMICE_FAULT_NONE);
	assert_int_equal(b->pds.launches, 0);
	assert_false(cdm_step(b->cdm, 10));
	cdmfx_destroy(b);
}

static void a_launch_passes_the_state_and_every_group_to_the_pds(void **state)
{
	struct cdm_fixture *b = cdmfx_create();
	u32 x, y, z, n = 0;

	(void)state;
	put_state(b, 4, 5, 6);
	put_launch_at(b, &(struct pumice_cdm_launch){ 3, 4, 2, 100, 0xffff0000, 7 });
	put_halt(b);
	cdmfx_start(b);
	cdmfx_finish(b);
	assert_int_equal(b->end, DM_DONE);
	assert_int_equal(b->pds.launches, 1);
	assert_int_equal(b->pds.launch.ctx, CDMFX_CTX);
	assert_int_equal(b->pds.launch.state.pds_addr, 0x5550);
	assert_int_equal(b->pds.launch.state.local_bytes, 12);
	assert_int_equal(b->pds.launch.state.size_z, 6);
	assert_int_equal(b->pds.launch.grid.groups_y, 4);
	assert_int_equal(b->pds.started, 24);
	for (z = 0; z < 2; z++) {
		for (y = 0; y < 4; y++) {
			for (x = 0; x < 3; x++, n++) {
				assert_int_equal(b->pds.group[n].linear, n);
				assert_int_equal(b->pds.group[n].id[0], 100 + x);
				assert_int_equal(b->pds.group[n].id[1], 0xffff0000 + y);
				assert_int_equal(b->pds.group[n].id[2], 7 + z);
			}
		}
	}
	assert_int_equal(cdm_status(b->cdm)->done, 24);
	cdmfx_destroy(b);
}

static void a_zero_count_launches_none(void **state)
{
	struct cdm_fixture *b = cdmfx_create();

	(void)state;
	put_state(b, 1, 1, 1);
	put_launch(b, 0, 1, 1);
	put_launch(b, 1, 0, 1);
	put_launch(b, 0xffffffff, 0xffffffff, 0);
	put_launch(b, 2, 1, 1);
	put_halt(b);
	cdmfx_start(b);
	cdmfx_finish(b);
	assert_int_equal(b->end, DM_DONE);
	assert_int_equal(b->pds.launches, 1);
	assert_int_equal(b->pds.started, 2);
	cdmfx_destroy(b);
}

static void state_stays_until_the_next_state(void **state)
{
	struct cdm_fixture *b = cdmfx_create();

	(void)state;
	put_state(b, 4, 1, 1);
	put_launch(b, 1, 1, 1);
	put_launch(b, 1, 1, 1);
	put_state(b, 8, 1, 1);
	put_halt(b);
	cdmfx_start(b);
	cdmfx_finish(b);
	assert_int_equal(b->pds.launches, 2);
	assert_int_equal(b->pds.launch.state.size_x, 4);
	cdmfx_destroy(b);
}

/* State belongs to a job: the next one starts without. */
static void state_does_not_survive_the_job(void **state)
{
	struct cdm_fixture *b = cdmfx_create();

	(void)state;
	put_state(b, 1, 1, 1);
	put_halt(b);
	cdmfx_start(b);
	cdmfx_finish(b);
	b->at = CDMFX_STREAM;
	put_launch(b, 1, 1, 1);
	put_halt(b);
	b->ended = 0;
	cdmfx_start(b);
	cdmfx_walk(b);
	cdmfx_expect_fault(b, PUMICE_FAULT_CDM_STATE, CDMFX_STREAM);
	cdmfx_destroy(b);
}

/* Sub-lists: calls nest, return to the word after the call, and keep the state they set. */
static void sub_lists_nest_and_return_after_their_call(void **state)
{
	struct cdm_fixture *b = cdmfx_create();
	const u64 list[PUMICE_CDM_MAX_DEPTH] = { CDMFX_STREAM + 0x400, CDMFX_STREAM + 0x800,
						 CDMFX_STREAM + 0xffc, CDMFX_STREAM + 0x2000 };
	u32 depth;

	(void)state;
	put_call(b, list[0]);
	put_launch(b, 50, 1, 1);
	put_halt(b);
	for (depth = 0; depth < PUMICE_CDM_MAX_DEPTH; depth++) {
		b->at = list[depth];
		put_state(b, (u16)(depth + 1), 1, 1);
		put_launch(b, depth + 1, 1, 1);
		if (depth + 1 < PUMICE_CDM_MAX_DEPTH)
			put_call(b, list[depth + 1]);
		put_launch(b, depth + 10, 1, 1);
		put_return(b);
	}
	cdmfx_start(b);
	cdmfx_finish(b);
	assert_int_equal(b->end, DM_DONE);
	assert_int_equal(b->pds.started, 1 + 2 + 3 + 4 + 13 + 12 + 11 + 10 + 50);
	/* The order proves that each list continued after its call. */
	assert_int_equal(b->pds.group[10].launch, 5);
	assert_int_equal(b->pds.group[10 + 13].launch, 6);
	assert_int_equal(b->pds.group[10 + 13 + 12 + 11 + 10].launch, 9);
	assert_int_equal(b->pds.launch.state.size_x, PUMICE_CDM_MAX_DEPTH);
	cdmfx_destroy(b);
}

/* Repeated calls of one list do not nest. */
static void a_sub_list_can_be_called_any_number_of_times(void **state)
{
	struct cdm_fixture *b = cdmfx_create();
	u32 i;

	(void)state;
	put_state(b, 1, 1, 1);
	for (i = 0; i < 100; i++)
		put_call(b, CDMFX_STREAM + 0x3000);
	put_halt(b);
	b->at = CDMFX_STREAM + 0x3000;
	put_launch(b, 1, 1, 1);
	put_return(b);
	cdmfx_start(b);
	cdmfx_finish(b);
	assert_int_equal(b->end, DM_DONE);
	assert_int_equal(b->pds.started, 100);
	cdmfx_destroy(b);
}

static void halt_ends_the_job_inside_a_sub_list(void **state)
{
	struct cdm_fixture *b = cdmfx_create();
	u32 i;

	(void)state;
	put_state(b, 1, 1, 1);
	put_call(b, CDMFX_STREAM + 0x100);
	put_launch(b, 1, 1, 1);
	b->at = CDMFX_STREAM + 0x100;
	put_halt(b);
	/* The depth is not kept for the next job either. */
	for (i = 1; i <= 2 * PUMICE_CDM_MAX_DEPTH; i++) {
		cdmfx_start(b);
		cdmfx_walk(b);
		assert_int_equal(b->ended, i);
		assert_int_equal(b->end, DM_DONE);
		assert_int_equal(b->pds.launches, 0);
	}
	cdmfx_destroy(b);
}

static void commands_may_cross_pages(void **state)
{
	struct cdm_fixture *b = cdmfx_create();

	(void)state;
	put_call(b, CDMFX_STREAM + 0x1000 - 8);
	put_halt(b);
	b->at = CDMFX_STREAM + 0x1000 - 8;
	put_state(b, 1, 1, 1);
	put_call(b, CDMFX_STREAM + 0x2000 - 12);
	put_return(b);
	b->at = CDMFX_STREAM + 0x2000 - 12;
	put_launch(b, 5, 1, 1);
	put_return(b);
	cdmfx_start(b);
	cdmfx_finish(b);
	assert_int_equal(b->end, DM_DONE);
	assert_int_equal(b->pds.started, 5);
	cdmfx_destroy(b);
}

static void launches_run_in_parallel_without_a_fence(void **state)
{
	struct cdm_fixture *b = cdmfx_create();

	(void)state;
	put_state(b, 1, 1, 1);
	put_launch(b, 2, 1, 1);
	put_launch(b, 3, 1, 1);
	put_halt(b);
	cdmfx_start(b);
	cdmfx_walk(b);
	assert_int_equal(b->pds.running, 5);
	assert_int_equal(b->ended, 0);	/* HALT waits for them */
	assert_int_equal(b->pds.group[2].launch, 2);	/* counts from 0 again */
	assert_int_equal(b->pds.group[2].linear, 0);
	assert_int_equal(b->pds.group[2].id[0], 0);
	assert_int_equal(b->pds.group[4].id[0], 2);
	cdmfx_finish(b);
	assert_int_equal(b->end, DM_DONE);
	cdmfx_destroy(b);
}

static void a_fence_delays_launches_until_the_last_group_ends(void **state)
{
	struct cdm_fixture *b = cdmfx_create();
	unsigned int wakes;

	(void)state;
	put_fence(b);	/* with nothing before it: no wait */
	put_state(b, 1, 1, 1);
	put_launch(b, 3, 1, 1);
	put_fence(b);
	put_launch(b, 1, 1, 1);
	put_fence(b);
	put_fence(b);
	put_halt(b);
	cdmfx_start(b);
	cdmfx_walk(b);
	assert_int_equal(b->pds.started, 3);
	fake_pds_finish(&b->pds);
	cdmfx_walk(b);
	fake_pds_finish(&b->pds);
	cdmfx_walk(b);
	assert_int_equal(b->pds.started, 3);
	wakes = b->wakes;
	fake_pds_finish(&b->pds);
	assert_true(b->wakes > wakes);
	cdmfx_walk(b);
	assert_int_equal(b->pds.started, 4);
	assert_int_equal(b->ended, 0);
	fake_pds_finish(&b->pds);
	cdmfx_walk(b);
	assert_int_equal(b->ended, 1);
	cdmfx_destroy(b);
}

/* A full PDS: each group that ends wakes the CDM, which dispatches one more. */
static void a_launch_waits_for_room_and_continues_in_order(void **state)
{
	struct cdm_fixture *b = cdmfx_create();
	u32 i;

	(void)state;
	b->pds.room = 3;
	put_state(b, 1, 1, 1);
	put_launch(b, 10, 1, 1);
	put_halt(b);
	cdmfx_start(b);
	cdmfx_walk(b);
	assert_int_equal(b->pds.started, 3);
	for (i = 4; i <= 10; i++) {
		unsigned int wakes = b->wakes;

		assert_false(cdm_step(b->cdm, 100));
		fake_pds_finish(&b->pds);
		assert_true(b->wakes > wakes);
		cdmfx_walk(b);
		assert_int_equal(b->pds.started, i);
	}
	cdmfx_finish(b);
	for (i = 0; i < 10; i++)
		assert_int_equal(b->pds.group[i].linear, i);
	assert_int_equal(cdm_status(b->cdm)->done, 10);
	cdmfx_destroy(b);
}

static void a_step_does_not_exceed_its_budget(void **state)
{
	struct cdm_fixture *b = cdmfx_create();

	(void)state;
	put_state(b, 1, 1, 1);
	put_launch(b, 0x10000, 1, 1);
	put_halt(b);
	cdmfx_start(b);
	assert_true(cdm_step(b->cdm, 100));	/* the beginning of a launch ends a step */
	assert_int_equal(b->pds.started, 0);
	assert_true(cdm_step(b->cdm, 7));
	assert_int_equal(b->pds.started, 7);
	assert_true(cdm_step(b->cdm, 1));
	assert_int_equal(b->pds.started, 8);
	/* A launch with more expensive groups dispatches fewer per step, but at least one. */
	b->pds.cost = 10;
	assert_true(cdm_step(b->cdm, 25));
	assert_int_equal(b->pds.started, 8 + 3);
	assert_true(cdm_step(b->cdm, 1));
	assert_int_equal(b->pds.started, 12);
	b->pds.cost = 0x80000000;
	assert_true(cdm_step(b->cdm, 100));
	assert_int_equal(b->pds.started, 13);
	cdm_abort(b->cdm);
	cdmfx_finish(b);
	cdmfx_destroy(b);
}

/* The largest grids: the walk does not wrap at 32 bits. */
static void large_grids_are_accepted(void **state)
{
	static const struct {
		struct pumice_cdm_launch grid;
		u32 started;	/* by a step of 98 */
	} cases[] = {
		{ { 0xffffffff, 1, 1, 0, 0, 0 }, 98 },
		{ { 1, 1, 1, 0xfffffffe, 0xfffffffe, 0xfffffffe }, 1 },
		{ { 0xffffffff, 0xffffffff, 1, 0, 0, 0xfffffffe }, 98 },
		{ { 0x80000000, 0x80000000, 3, 0, 0, 0 }, 98 },
		{ { 0xffffffff, 1, 0xffffffff, 0, 0, 0 }, 98 },
	};
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cdm_fixture *b = cdmfx_create();

		put_state(b, 1, 1, 1);
		put_launch_at(b, &cases[i].grid);
		put_halt(b);
		cdmfx_start(b);
		cdm_step(b->cdm, 2);
		cdm_step(b->cdm, 98);
		assert_int_equal(cdm_status(b->cdm)->fault.fault, PUMICE_FAULT_NONE);
		assert_int_equal(b->pds.started, cases[i].started);
		cdm_abort(b->cdm);
		cdmfx_finish(b);
		cdmfx_destroy(b);
	}
}

static void times_and_counts_are_those_of_the_job(void **state)
{
	struct cdm_fixture *b = cdmfx_create();

	(void)state;
	put_state(b, 1, 1, 1);
	put_launch(b, 2, 1, 1);
	put_halt(b);
	b->clock = 5000;
	cdmfx_start(b);
	assert_int_equal(cdm_status(b->cdm)->time_start, 5000);
	b->clock = 6000;
	cdmfx_walk(b);
	assert_int_equal(cdm_status(b->cdm)->done, 0);
	fake_pds_finish(&b->pds);
	assert_int_equal(cdm_status(b->cdm)->done, 1);
	b->clock = 7000;
	fake_pds_finish(&b->pds);
	cdmfx_walk(b);
	assert_int_equal(cdm_status(b->cdm)->time_start, 5000);
	assert_int_equal(cdm_status(b->cdm)->time_end, 7000);
	assert_int_equal(cdm_status(b->cdm)->done, 2);
	/* They are kept until the next job starts. */
	b->clock = 8000;
	cdmfx_start(b);
	assert_int_equal(cdm_status(b->cdm)->time_start, 8000);
	assert_int_equal(cdm_status(b->cdm)->done, 0);
	cdmfx_finish(b);
	cdmfx_destroy(b);
}

static void start_while_busy_does_nothing(void **state)
{
	struct cdm_fixture *b = cdmfx_create();

	(void)state;
	put_state(b, 1, 1, 1);
	put_launch(b, 2, 1, 1);
	put_halt(b);
	cdmfx_start(b);
	assert_false(cdm_start(
		b->cdm, &(struct cdm_job){ .ctx = CDMFX_CTX, .stream = CDMFX_STREAM + 0x1000 }));
	cdmfx_walk(b);
	assert_false(cdm_start(
		b->cdm, &(struct cdm_job){ .ctx = CDMFX_CTX, .stream = CDMFX_STREAM }));
	cdmfx_finish(b);
	assert_int_equal(b->end, DM_DONE);
	assert_int_equal(b->pds.started, 2);
	assert_false(cdm_start(
		b->cdm, &(struct cdm_job){ .ctx = PUMICE_MMU_CONTEXTS, .stream = CDMFX_STREAM }));
	assert_false(cdm_status(b->cdm)->busy);
	cdmfx_destroy(b);
}

/* The callback for the end of a job may start the next one at once. */
static void a_job_can_be_started_from_the_end_of_another(void **state)
{
	struct cdm_fixture *b = cdmfx_create();

	(void)state;
	put_state(b, 1, 1, 1);
	put_launch(b, 2, 1, 1);
	put_halt(b);
	b->restarts = 3;
	cdmfx_start(b);
	while (b->restarts || cdm_status(b->cdm)->busy) {
		cdmfx_walk(b);
		fake_pds_finish_all(&b->pds);
	}
	assert_int_equal(b->ended, 4);
	assert_int_equal(b->pds.started, 8);
	cdmfx_destroy(b);
}

static void reset_drops_the_job_without_an_event(void **state)
{
	struct cdm_fixture *b = cdmfx_create();

	(void)state;
	put_state(b, 1, 1, 1);
	put_launch(b, 2, 1, 1);
	put_halt(b);
	cdmfx_start(b);
	cdmfx_walk(b);
	cdm_reset(b->cdm);
	b->pds.running = 0;
	assert_int_equal(b->ended, 0);
	assert_false(cdm_status(b->cdm)->busy);
	assert_int_equal(cdm_status(b->cdm)->time_start, 0);
	assert_false(cdm_step(b->cdm, 10));
	cdmfx_start(b);
	cdmfx_finish(b);
	assert_int_equal(b->end, DM_DONE);
	cdmfx_destroy(b);
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
