// SPDX-License-Identifier: MIT
/* Tests of the sources of the cores: distribution of work-groups, waits, stops, switches. */
#include "cdm_fixture.h"

#include <string.h>

#define CORES	4u

/* A job of one launch of this many groups, whose first step has distributed them. */
static struct cdm_fixture *job_of(u32 groups, const u32 *waves)
{
	struct cdm_fixture *fx = cdmfx_create_for(CORES);
	u32 i;

	for (i = 0; waves && i < CORES; i++)
		fx->pds.core[i].waves = waves[i];
	put_state(fx, 1, 1, 1);
	put_launch(fx, groups, 1, 1);
	put_halt(fx);
	cdmfx_start(fx);
	cdm_step(fx->cdm, 2);
	return fx;
}

/* Step a source until it has nothing to do. Returns the groups that it has started. */
static u64 drain(struct cdm_fixture *fx, unsigned int core)
{
	const u64 before = fx->pds.started;

	while (cdmfx_source(fx, core, 64))
		;
	return fx->pds.started - before;
}

static void finish(struct cdm_fixture *fx, u64 groups)
{
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_DONE);
	assert_int_equal(fx->pds.started, groups);
	assert_int_equal(cdm_status(fx->cdm)->done, groups);
	cdmfx_destroy(fx);
}

static void a_few_groups_are_distributed_to_all_cores(void **state)
{
	struct cdm_fixture *fx = job_of(6, NULL);
	u32 i;

	(void)state;
	assert_int_equal(fx->sources, 0xf);
	for (i = 0; i < CORES; i++)
		assert_int_equal(drain(fx, i), i < 2 ? 2 : 1);
	finish(fx, 6);
}

static void cores_with_fewer_waves_get_more_groups(void **state)
{
	static const u32 waves[CORES] = { 3, 0, 5, 1 };
	static const u32 groups[CORES] = { 1, 4, 0, 3 };
	struct cdm_fixture *fx = job_of(8, waves);
	u32 i;

	(void)state;
	for (i = 0; i < CORES; i++)
		assert_int_equal(drain(fx, i), groups[i]);
	finish(fx, 8);
}

static void many_groups_are_distributed_evenly(void **state)
{
	static const u32 waves[CORES] = { 300, 0, 0, 0 };
	struct cdm_fixture *fx = job_of(4002, waves);
	u32 i;

	(void)state;
	for (i = 0; i < CORES; i++)
		assert_int_equal(drain(fx, i), i < 2 ? 1001 : 1000);
	finish(fx, 4002);
}

/* The first groups of a launch are in order, whichever core starts them. */
static void sources_take_the_next_groups_of_the_launch(void **state)
{
	struct cdm_fixture *fx = job_of(12, NULL);
	u32 i;

	(void)state;
	for (i = 0; i < 12; i++)
		cdmfx_source(fx, (i * 3) % CORES, 1);
	for (i = 0; i < 12; i++) {
		assert_int_equal(fx->pds.group[i].linear, i);
		assert_int_equal(fx->pds.group[i].id[0], i);
		assert_int_equal(fx->pds.group[i].core, (i * 3) % CORES);
	}
	finish(fx, 12);
}

/* A source that has started all of its groups gets those of others. */
static void a_core_that_is_done_starts_groups_of_others(void **state)
{
	struct cdm_fixture *fx = job_of(1000, NULL);

	(void)state;
	fx->woken = false;
	assert_int_equal(drain(fx, 1), 250);
	assert_true(fx->woken);
	cdm_step(fx->cdm, 1);
	assert_in_range(drain(fx, 1), 750 / CORES, 750 / CORES + 1);
	finish(fx, 1000);
}

/* A core without room does not delay groups for which others have room. */
static void groups_of_a_core_without_room_are_started_by_others(void **state)
{
	struct cdm_fixture *fx = cdmfx_create_for(CORES);
	u32 i;

	(void)state;
	fx->pds.core[0].full = fx->pds.core[2].full = true;
	put_state(fx, 1, 1, 1);
	put_launch(fx, 10, 1, 1);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_walk(fx);
	assert_int_equal(fx->pds.started, 10);
	for (i = 0; i < 10; i++)
		assert_int_equal(fx->pds.group[i].core % 2, 1);
	finish(fx, 10);
}

/* Others had none left before. */
static void a_core_that_finds_no_room_leaves_its_group_to_one_without(void **state)
{
	struct cdm_fixture *fx = job_of(CORES, NULL);
	unsigned int core;

	(void)state;
	fx->pds.core[0].full = true;
	for (core = 1; core < CORES; core++)
		assert_int_equal(drain(fx, core), 1);
	cdm_step(fx->cdm, 1);
	fx->woken = false;
	assert_int_equal(drain(fx, 0), 0);
	assert_true(fx->woken);
	cdmfx_walk(fx);
	assert_int_equal(fx->pds.started, CORES);
	finish(fx, CORES);
}

/* When no core has room, the first one that has some starts groups. */
static void a_job_waits_for_room_on_any_core(void **state)
{
	struct cdm_fixture *fx = cdmfx_create_for(CORES);
	unsigned int core;

	(void)state;
	for (core = 0; core < CORES; core++)
		fx->pds.core[core].full = true;
	put_state(fx, 1, 1, 1);
	put_launch(fx, 10, 1, 1);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_walk(fx);
	assert_int_equal(fx->pds.started, 0);
	for (core = CORES; core--;) {
		if (!fx->pds.core[core].waits)
			continue;
		fx->pds.core[core].full = false;
		cdm_pds_ops.room(fx->cdm, core);
		break;
	}
	cdmfx_walk(fx);
	assert_int_equal(fx->pds.started, 10);
	finish(fx, 10);
}

/* Its room may be that of other data masters. */
static void a_source_without_groups_does_not_wait_for_room(void **state)
{
	struct cdm_fixture *fx = job_of(2, NULL);

	(void)state;
	fx->pds.core[0].full = true;
	assert_int_equal(drain(fx, 0), 0);
	assert_true(fx->pds.core[0].waits);
	assert_int_equal(drain(fx, 1), 1);
	cdm_step(fx->cdm, 1);		/* core 1 has none left: it gets that of core 0 */
	assert_int_equal(drain(fx, 0), 0);
	assert_false(fx->pds.core[0].waits);
	cdmfx_walk(fx);
	assert_int_equal(fx->pds.started, 2);
	finish(fx, 2);
}

static void sources_take_the_device_lock_for_faults_only(void **state)
{
	u32 fault;

	(void)state;
	for (fault = 0; fault < 2; fault++) {
		struct cdm_fixture *fx = cdmfx_create_for(CORES);

		fx->pds.group_fault = fault ? PUMICE_FAULT_MMU_PT_INVALID : PUMICE_FAULT_NONE;
		fx->pds.fault_linear = 30;
		put_state(fx, 1, 1, 1);
		put_launch(fx, 100, 1, 1);
		put_halt(fx);
		cdmfx_start(fx);
		cdmfx_finish(fx);
		assert_int_equal(fx->end, fault ? DM_FAULT : DM_DONE);
		assert_int_equal(fx->locks, fault);
		cdmfx_destroy(fx);
	}
}

/* Groups that were claimed together and precede one that cannot be filled run. */
static void groups_before_a_refused_one_are_started(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	fx->pds.batch = FAKE_BATCH;
	fx->pds.group_fault = PUMICE_FAULT_MMU_PT_INVALID;
	fx->pds.fault_linear = 5;
	put_state(fx, 1, 1, 1);
	put_launch(fx, 8, 1, 1);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_walk(fx);
	assert_int_equal(fx->pds.started, 5);
	assert_int_equal(fx->pds.aborts, 1);
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_FAULT);
	cdmfx_destroy(fx);
}

/* A source fills a group in pieces. */
static struct cdm_fixture *filling(u32 groups)
{
	struct cdm_fixture *fx = cdmfx_create_for(2);

	fx->pds.fill_pieces = 4;
	put_state(fx, 1, 1, 1);
	put_launch(fx, groups, 1, 1);
	put_halt(fx);
	cdmfx_start(fx);
	cdm_step(fx->cdm, 2);
	assert_true(cdmfx_source(fx, 0, 2));
	assert_int_equal(fx->pds.core[0].claimed, 1);
	return fx;
}

/* Also between the groups that have claimed room together, and between pieces of one. */
static void a_source_ends_its_step_when_it_is_stopped(void **state)
{
	const _Atomic bool stop = true;
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	fx->pds.batch = FAKE_BATCH;
	put_state(fx, 1, 1, 1);
	put_launch(fx, 40, 1, 1);
	put_halt(fx);
	cdmfx_start(fx);
	cdm_step(fx->cdm, 2);
	assert_true(cdm_source_step(fx->cdm, 0, 64, &stop));
	assert_int_equal(fx->pds.core[0].claimed, FAKE_BATCH);
	assert_int_equal(fx->pds.core[0].filled, 1);
	finish(fx, 40);
}

static void a_stopped_job_ends_after_its_sources_have_dropped_their_groups(void **state)
{
	struct cdm_fixture *fx = filling(10);

	(void)state;
	cdm_abort(fx->cdm);
	assert_true(fx->sources & 1);
	while (cdm_step(fx->cdm, 1))
		;
	assert_int_equal(fx->ended, 0);
	assert_true(fx->pds.in_launch);
	fx->woken = false;
	assert_false(cdmfx_source(fx, 0, 1));
	assert_int_equal(fx->pds.dropped, 1);
	assert_true(fx->woken);
	cdmfx_walk(fx);
	assert_int_equal(fx->ended, 1);
	assert_int_equal(fx->end, DM_ABORTED);
	assert_int_equal(fx->pds.started, 0);
	cdmfx_destroy(fx);
}

/* Its number is taken: the saved job continues after it. */
static void a_switch_waits_for_the_group_that_is_being_filled(void **state)
{
	struct cdm_fixture *fx = filling(10);

	(void)state;
	cdm_switch_out(fx->cdm);
	while (cdm_step(fx->cdm, 1))
		;
	assert_int_equal(fx->ended, 0);
	fx->woken = false;
	while (cdmfx_source(fx, 0, 1))
		;
	assert_true(fx->woken);
	assert_int_equal(fx->pds.started, 1);
	assert_int_equal(drain(fx, 1), 0);
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_SWITCHED);
	cdm_reset(fx->cdm);
	fx->pds.fill_pieces = 0;
	cdmfx_resume(fx);
	cdmfx_walk(fx);
	assert_int_equal(fx->pds.group[1].linear, 1);
	finish(fx, 10);
}

static void a_reset_while_a_source_fills_leaves_an_idle_cdm(void **state)
{
	struct cdm_fixture *fx = filling(10);

	(void)state;
	cdm_reset(fx->cdm);
	memset(fx->pds.core, 0, sizeof(fx->pds.core));
	fx->pds.in_launch = false;
	fx->pds.fills_left = 0;
	assert_false(cdmfx_source(fx, 0, 8));
	assert_int_equal(fx->pds.started, 0);
	cdmfx_start(fx);
	finish(fx, 10);
}

static u32 next_random(u64 *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)(*state >> 33);
}

#define GROUPS	600u

static void random_step(struct cdm_fixture *fx, u64 *rnd)
{
	const u32 what = next_random(rnd);
	const unsigned int core = what >> 8 & (CORES - 1);

	switch (what % 8) {
	case 0:
	case 1:
	case 2:
		cdmfx_source(fx, core, 1 + (what >> 12 & 7));
		break;
	case 3:
	case 4:
		cdm_step(fx->cdm, 1);
		break;
	case 5:
		fx->pds.core[core].full = !fx->pds.core[core].full;
		if (!fx->pds.core[core].full)
			cdm_pds_ops.room(fx->cdm, core);
		break;
	default:
		if (fx->pds.running)
			fake_pds_finish(&fx->pds);
	}
}

/* Complete a job whose cores have been full or not at random. */
static void open_all(struct cdm_fixture *fx)
{
	u32 i;

	for (i = 0; i < CORES; i++) {
		fx->pds.core[i].full = false;
		cdm_pds_ops.room(fx->cdm, i);
	}
	cdmfx_finish(fx);
}

/* Random steps, waits, ends and switches: each group is started once. */
static void no_group_is_lost_or_started_twice(void **state)
{
	u64 rnd = 0x5eed0017;
	u32 run, i, switches = 0;

	(void)state;
	for (run = 0; run < 200; run++) {
		struct cdm_fixture *fx = cdmfx_create_for(CORES);
		u8 seen[GROUPS] = { 0 };

		fx->pds.room = 1 + next_random(&rnd) % 40;
		fx->pds.batch = 1 + next_random(&rnd) % FAKE_BATCH;
		put_state(fx, 1, 1, 1);
		put_launch(fx, 10, 20, 3);
		put_halt(fx);
		cdmfx_start(fx);
		while (!fx->ended || fx->end == DM_SWITCHED) {
			const u32 steps = next_random(&rnd) % 400;

			for (i = 0; i < steps && cdm_status(fx->cdm)->busy; i++)
				random_step(fx, &rnd);
			if (cdm_status(fx->cdm)->busy) {
				cdm_switch_out(fx->cdm);
				open_all(fx);
			}
			if (fx->end != DM_SWITCHED)
				break;
			switches++;
			cdmfx_resume(fx);
		}
		assert_int_equal(fx->end, DM_DONE);
		assert_int_equal(fx->pds.started, GROUPS);
		assert_int_equal(cdm_status(fx->cdm)->done, GROUPS);
		for (i = 0; i < GROUPS; i++) {
			const struct fake_group *group = &fx->pds.group[i];

			assert_in_range(group->linear, 0, GROUPS - 1);
			assert_int_equal(seen[group->linear]++, 0);
			assert_int_equal(group->id[0] + 10 * group->id[1] + 200 * group->id[2],
					 group->linear);
		}
		cdmfx_destroy(fx);
	}
	assert_true(switches > 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_few_groups_are_distributed_to_all_cores),
		cmocka_unit_test(cores_with_fewer_waves_get_more_groups),
		cmocka_unit_test(many_groups_are_distributed_evenly),
		cmocka_unit_test(sources_take_the_next_groups_of_the_launch),
		cmocka_unit_test(a_core_that_is_done_starts_groups_of_others),
		cmocka_unit_test(groups_of_a_core_without_room_are_started_by_others),
		cmocka_unit_test(a_core_that_finds_no_room_leaves_its_group_to_one_without),
		cmocka_unit_test(a_job_waits_for_room_on_any_core),
		cmocka_unit_test(a_source_without_groups_does_not_wait_for_room),
		cmocka_unit_test(sources_take_the_device_lock_for_faults_only),
		cmocka_unit_test(groups_before_a_refused_one_are_started),
		cmocka_unit_test(a_source_ends_its_step_when_it_is_stopped),
		cmocka_unit_test(a_stopped_job_ends_after_its_sources_have_dropped_their_groups),
		cmocka_unit_test(a_switch_waits_for_the_group_that_is_being_filled),
		cmocka_unit_test(a_reset_while_a_source_fills_leaves_an_idle_cdm),
		cmocka_unit_test(no_group_is_lost_or_started_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
