// SPDX-License-Identifier: MIT
/*
 * Tasks that a USC manages beyond its slots: they are filled, wait for slots, and get them in
 * order; and groups without instances, which wait for the groups before them.
 */
#include "stage_fixture.h"

#include "../../../qemu-device/gpu/pds/state.h"
#include "perf.h"

#define SLOTS	4u
#define TASKS	7u
#define USCS	FX_USCS_PER_CORE
#define PENDING	3u	/* groups without instances: few enough that others can hold all slots */

static const struct fx_stores small = {
	.unified_bytes = FX_UNIFIED, .common_bytes = FX_COMMON, .local_bytes = FX_LOCAL,
	.slots = SLOTS, .tasks = TASKS,
};

/*
 * A launch of groups of some instances; each finds its number in SH0, and a word of memory in SH1.
 */
static struct pds_launch launch_of(struct fixture *fx, u16 instances)
{
	const struct pumice_pds_insn insns[] = {
		MOV(SH, 0, GROUP_X), DMA(SH, 1, 1, FX_DATA, 0), TASK, END,
	};
	struct pds_launch launch = fx_launch(instances, 1, 1);

	launch.state.shared = 2;
	fx_program(fx, &launch, insns, 4);
	return launch;
}

static struct fixture *create(unsigned int uscs, u16 instances)
{
	struct fixture *fx = fx_create(uscs, &small);
	struct pds_launch launch = launch_of(fx, instances);

	assert_true(fx_begin(fx, &launch));
	return fx;
}

/* Begin another launch: of groups with instances, or of one without. */
static void begin_again(struct fixture *fx, bool sequences)
{
	struct pds_launch launch = launch_of(fx, 32);

	launch.sequences = sequences;
	fx_end(fx);
	assert_true(fx_begin(fx, &launch));
}

/* Start groups until one has to wait; returns their number. */
static u32 fill(struct fixture *fx)
{
	u32 n = 0;

	while (fx_group(fx, n, 0, 0, n) == PDS_STARTED)
		n++;
	return n;
}

/* The number in SH0 of the group that started last on a USC. */
static u32 newest(struct fixture *fx, unsigned int usc)
{
	unsigned int n, best = FAKE_NONE;

	for (n = 0; n < PUMICE_USC_TASKS; n++)
		if (fake_usc_running(fx->usc[usc], n) &&
		    (best == FAKE_NONE ||
		     fx->usc[usc]->start_order[n] > fx->usc[usc]->start_order[best]))
			best = n;
	return fake_usc_shared(fx->usc[usc], best, 0, 0);
}

/* Return the running groups of a USC, bit n: group n. */
static u64 running(const struct usc *usc)
{
	u64 groups = 0;
	unsigned int n;

	for (n = 0; n < PUMICE_USC_TASKS; n++)
		groups |= (u64)fake_usc_running(usc, n) << n;
	return groups;
}

/* A USC reports groups that end one after the other together. */
static void groups_that_end_together_are_released_together(void **state)
{
	struct fixture *fx = create(1, 32);
	unsigned int locks;
	u64 first;

	(void)state;
	assert_int_equal(fill(fx), TASKS);
	first = running(fx->usc[0]);
	locks = fx->locks;
	fake_usc_finish_groups(fx->usc[0], first);
	assert_int_equal(fx->locks, locks);
	assert_int_equal(pds_done(fx->pds), SLOTS);
	assert_int_equal(fx->room, 1);
	/* Those that were filled have their slots, and each of the others has room. */
	assert_int_equal(pds_groups(fx->pds), TASKS - SLOTS);
	assert_int_equal(fx->usc[0]->running, TASKS - SLOTS);
	assert_int_equal(fx_load(fx).tasks, TASKS - SLOTS);
	assert_int_equal(running(fx->usc[0]) & first, 0);
	assert_int_equal(fill(fx), SLOTS);
	fx_destroy(fx);
}

static void a_usc_manages_more_tasks_than_it_has_slots(void **state)
{
	struct fixture *fx = create(1, 32);
	u32 n;

	(void)state;
	assert_int_equal(fill(fx), TASKS);
	assert_int_equal(pds_groups(fx->pds), TASKS);
	assert_int_equal(fx->usc[0]->running, SLOTS);
	assert_int_equal(fx_load(fx).tasks, SLOTS);
	assert_int_equal(fx_load(fx).peak_tasks, SLOTS);
	assert_int_equal(fx_load(fx).waves, SLOTS);
	assert_int_equal(fx_counter(fx, PUMICE_PERF_PDS_TASKS), SLOTS);
	assert_int_equal(fx_counter(fx, PUMICE_PERF_PDS_SLOT_WAITS), TASKS - SLOTS);
	/* They get slots in order, with the registers that were filled before. */
	for (n = SLOTS; n < TASKS; n++) {
		assert_true(fx_finish_oldest(fx));
		assert_int_equal(fx->usc[0]->running, SLOTS);
		assert_int_equal(newest(fx, 0), n);
	}
	assert_int_equal(fx_counter(fx, PUMICE_PERF_PDS_TASKS), TASKS);
	assert_int_equal(fill(fx), TASKS - SLOTS);
	fx_destroy(fx);
}

static void a_task_that_ends_before_its_group_frees_its_slot(void **state)
{
	struct fixture *fx = create(1, 200);	/* 2 tasks */
	unsigned int first;

	(void)state;
	assert_int_equal(fill(fx), TASKS / 2);
	assert_int_equal(fx->usc[0]->running, SLOTS / 2);
	assert_int_equal(fx_counter(fx, PUMICE_PERF_PDS_SLOT_WAITS), 2);
	first = fake_usc_oldest(fx->usc[0]);
	fake_usc_finish_task(fx->usc[0], first, 1);
	assert_int_equal(fx->usc[0]->running, SLOTS / 2);	/* one slot is too few */
	fake_usc_finish_task(fx->usc[0], fake_usc_oldest(fx->usc[0]), 0);
	assert_int_equal(fx->usc[0]->running, SLOTS / 2 + 1);
	fx_destroy(fx);
}

/* One slot is free; the group that waits needs two, and the one after it one. */
static void a_group_that_waits_is_not_overtaken(void **state)
{
	struct fixture *fx = create(1, 200);
	u32 n;

	(void)state;
	for (n = 0; n < 3; n++)
		assert_int_equal(fx_group(fx, n, 0, 0, n), PDS_STARTED);
	fake_usc_finish_task(fx->usc[0], fake_usc_oldest(fx->usc[0]), 1);
	begin_again(fx, false);
	assert_int_equal(fx_group(fx, 3, 0, 0, 3), PDS_STARTED);
	assert_int_equal(fx->usc[0]->running, 2);
	assert_true(fx_finish_oldest(fx));
	assert_int_equal(newest(fx, 0), 2);
	assert_true(fx_finish_oldest(fx));
	assert_int_equal(newest(fx, 0), 3);
	fx_destroy(fx);
}

static void the_time_of_waits_is_counted(void **state)
{
	struct fixture *fx = create(1, 32);

	(void)state;
	fx->clock = 1000;
	assert_int_equal(fill(fx), TASKS);
	assert_int_equal(fx_counter(fx, PUMICE_PERF_PDS_SLOT_WAIT_TIME), 0);
	fx->clock += 100;
	assert_true(fx_finish_oldest(fx));
	fx->clock += 1000;
	assert_int_equal(fx_counter(fx, PUMICE_PERF_PDS_SLOT_WAIT_TIME),
			 (TASKS - SLOTS) * 100 + (TASKS - SLOTS - 1) * 1000);
	assert_int_equal(fx_counter(fx, PUMICE_PERF_PDS_OCCUPANCY), SLOTS * 1100);
	fx_destroy(fx);
}

/* Tasks that have no slots end, too, without having run. */
static void groups_that_wait_for_slots_are_stopped(void **state)
{
	struct fixture *fx = create(1, 32);
	unsigned int n, empty = 0;

	(void)state;
	fx->clock = 1000;
	assert_int_equal(fill(fx), TASKS);
	fx->clock += 100;
	fx_abort(fx);
	fx->clock += 1000;	/* no task waits */
	assert_int_equal(fx_counter(fx, PUMICE_PERF_PDS_SLOT_WAIT_TIME), (TASKS - SLOTS) * 100);
	assert_int_equal(fx->usc[0]->running, TASKS);
	for (n = 0; n < PUMICE_USC_TASKS; n++)
		empty += fake_usc_running(fx->usc[0], n) && !fx->usc[0]->group[n].tasks;
	assert_int_equal(empty, TASKS - SLOTS);
	assert_int_equal(fx_load(fx).tasks, SLOTS);
	fx_finish_all(fx);
	assert_int_equal(pds_done(fx->pds), TASKS);
	assert_int_equal(fx_counter(fx, PUMICE_PERF_PDS_TASKS), SLOTS);
	assert_int_equal(fill(fx), TASKS);
	fx_destroy(fx);
}

/* In order, later groups keep their slots until those before them have ended. */
static void in_order_every_group_gets_its_slot(void **state)
{
	struct fixture *fx = create(1, 32);
	u32 started = 0;

	(void)state;
	fx_control(fx, (struct pds_control){ .out_of_order = false });
	while (started < 200) {
		started += fill(fx);
		/* The newest first. */
		while (fx->usc[0]->running) {
			unsigned int n, best = FAKE_NONE;

			for (n = 0; n < PUMICE_USC_TASKS; n++)
				if (fake_usc_running(fx->usc[0], n) &&
				    (best == FAKE_NONE || fx->usc[0]->start_order[n] >
							  fx->usc[0]->start_order[best]))
					best = n;
			fake_usc_finish(fx->usc[0], best);
		}
		assert_int_equal(pds_done(fx->pds), started);
		assert_int_equal(fx_load(fx).held, 0);
	}
	fx_destroy(fx);
}

struct order_case {
	enum pumice_dms_policy policy;
	enum pds_dm first;
};

/* The CDM's task waits for longer; the policy decides which one gets the slot. */
static void the_policy_selects_which_data_master_gets_a_slot(void **state)
{
	static const struct order_case cases[] = {
		{ PUMICE_DMS_POLICY_GRAPHICS, PDS_DM_VDM },
		{ PUMICE_DMS_POLICY_ROUND_ROBIN, PDS_DM_CDM },
		{ PUMICE_DMS_POLICY_CDM_VDM_PDM, PDS_DM_CDM },
		{ PUMICE_DMS_POLICY_VDM_CDM_PDM, PDS_DM_VDM },
		{ PUMICE_DMS_POLICY_PDM_CDM_VDM, PDS_DM_CDM },
	};
	const struct pumice_stage registers = { .temps = 4 };
	u32 i, n;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stage_tasks *t = stage_tasks_create(1, &small, &registers);
		struct pds_launch launch = launch_of(t->fx, 32);
		const struct unit *unit = &t->fx->pds->unit[0];
		unsigned int vertex = 0;
		struct pds_place place;

		fx_control(t->fx, (struct pds_control){ .out_of_order = true,
							.policy = cases[i].policy });
		assert_true(fx_begin(t->fx, &launch));
		for (n = 0; n < USCS * (SLOTS + 1); n++)
			assert_int_equal(fx_group(t->fx, n, 0, 0, n), PDS_STARTED);
		for (n = 0; n < USCS; n++)
			assert_int_equal(stage_task_start(t, PDS_DM_VDM, 0, 32, &place),
					 PDS_STARTED);
		assert_true(fx_finish_oldest(t->fx));
		for (n = 0; n < PUMICE_USC_TASKS; n++)
			vertex += fake_usc_running(t->fx->usc[0], n) &&
				  unit->accounts.claim[n].need.dm == PDS_DM_VDM;
		assert_int_equal(vertex, cases[i].first == PDS_DM_VDM);
		stage_tasks_destroy(t);
	}
}

/* ------------------------------------------------------------ without instances */

static bool is_running(const struct fixture *fx, u32 groups)
{
	u32 running = 0, i;

	for (i = 0; i < fx->uscs; i++)
		running += fx->usc[i]->running;
	return running == groups;
}

/* It waits for the groups before it on all USCs, not for those after it. */
static void a_group_without_instances_waits_for_those_before_it(void **state)
{
	struct fixture *fx = create(3, 32);
	u64 bytes;
	u32 n;

	(void)state;
	for (n = 0; n < 5; n++)
		assert_int_equal(fx_group(fx, n, 0, 0, n), PDS_STARTED);
	bytes = fx_counter(fx, PUMICE_PERF_PDS_DMA_BYTES);
	begin_again(fx, true);
	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
	/* Its program has run, once. */
	assert_int_equal(fx_counter(fx, PUMICE_PERF_PDS_DMA_BYTES) - bytes, 4);
	begin_again(fx, false);
	for (n = 0; n < 4; n++)
		assert_int_equal(fx_group(fx, n, 0, 0, n), PDS_STARTED);
	assert_int_equal(pds_groups(fx->pds), 10);
	assert_true(is_running(fx, 9));
	for (n = 0; n < 4; n++) {
		assert_true(fx_finish_oldest(fx));
		assert_true(is_running(fx, 8 - n));
	}
	assert_true(fx_finish_oldest(fx));	/* the last one before it */
	assert_true(is_running(fx, 5));
	assert_int_equal(fx_load(fx).tasks, 5);
	assert_int_equal(fx_load(fx).waves, 4);	/* it has none */
	assert_int_equal(fx_sequenced(fx), 0);
	fx_finish_all(fx);
	assert_int_equal(pds_done(fx->pds), 9);
	assert_int_equal(fx_sequenced(fx), 1);
	fx_destroy(fx);
}

/* One that nothing precedes is started at once; each is also one of those before the next. */
static void groups_without_instances_end_one_after_another(void **state)
{
	struct fixture *fx = create(2, 32);
	u32 n;

	(void)state;
	begin_again(fx, true);
	for (n = 0; n < PDS_MAX_PENDING; n++) {
		assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
		assert_true(is_running(fx, 1));
	}
	for (n = 0; n < 1000; n++) {
		assert_true(fx_finish_oldest(fx));
		assert_int_equal(fx_sequenced(fx), n + 1);
		assert_true(is_running(fx, 1));
		assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
		assert_true(is_running(fx, 1));
	}
	fx_destroy(fx);
}

/*
 * In order, groups that were claimed after it would hold all slots of its USC until it has ended,
 * and it could not: it precedes none of them. The group that it waits for is on the other USC.
 */
static void a_group_without_instances_holds_up_no_release_in_order(void **state)
{
	struct fixture *fx = create(2, 32);
	unsigned int first;
	u32 n;

	(void)state;
	fx_control(fx, (struct pds_control){ .out_of_order = false });
	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
	first = fake_usc_oldest(fx->usc[0]);
	begin_again(fx, true);
	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
	begin_again(fx, false);
	for (n = 1; fx->usc[1]->running < SLOTS; n++)
		assert_int_equal(fx_group(fx, n, 0, 0, n), PDS_STARTED);
	for (n = 0; n < PUMICE_USC_TASKS; n++)
		if (fake_usc_running(fx->usc[1], n))
			fake_usc_finish(fx->usc[1], n);
	assert_int_equal(fx->usc[1]->running, 0);
	assert_int_equal(fx_load(fx).held, 0);
	fake_usc_finish(fx->usc[0], first);
	assert_int_equal(fx->usc[1]->running, 1);
	fx_finish_all(fx);
	assert_int_equal(fx_sequenced(fx), 1);
	fx_destroy(fx);
}

/* End the groups of the CDM that USCs have, and return how many were among them without tasks. */
static u32 finish_groups(struct fixture *fx)
{
	u32 n, usc, empty = 0;

	for (usc = 0; usc < fx->uscs; usc++)
		for (n = 0; n < PUMICE_USC_TASKS; n++) {
			if (!fake_usc_running(fx->usc[usc], n) ||
			    fx->pds->unit[usc].accounts.claim[n].need.dm != PDS_DM_CDM)
				continue;
			empty += !fx->usc[usc]->group[n].tasks;
			fake_usc_finish(fx->usc[usc], n);
		}
	return empty;
}

/*
 * Of a stopped job, groups without instances do not wait for the groups before them, nor for slots:
 * tasks of another job hold all slots, and more of them wait.
 */
static void stopped_groups_without_instances_wait_for_no_slot(void **state)
{
	const struct pumice_stage registers = { .temps = 4 };
	struct stage_tasks *t = stage_tasks_create(1, &small, &registers);
	struct pds_launch launch = launch_of(t->fx, 32);
	struct pds_place place;
	u32 n, vertices = 0;

	(void)state;
	assert_true(fx_begin(t->fx, &launch));
	for (n = 0; n < USCS; n++)
		assert_int_equal(fx_group(t->fx, n, 0, 0, n), PDS_STARTED);
	begin_again(t->fx, true);
	for (n = 0; n < PENDING; n++)
		assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_STARTED);
	while (stage_task_start(t, PDS_DM_VDM, 0, 32, &place) == PDS_STARTED)
		vertices++;
	assert_int_equal(vertices + USCS + PENDING, USCS * TASKS);
	assert_true(is_running(t->fx, USCS * SLOTS));
	fx_abort(t->fx);
	assert_int_equal(finish_groups(t->fx), PENDING);
	assert_int_equal(pds_groups(t->fx->pds), 0);
	assert_int_equal(fx_sequenced(t->fx), PENDING);
	/*
	 * The vertices were not stopped, and the next job is not ordered by the groups of this one.
	 */
	assert_int_equal(t->owner[PDS_DM_VDM].done[0], 0);
	fx_finish_all(t->fx);
	assert_int_equal(t->owner[PDS_DM_VDM].done[0], vertices);
	pds_task_leave(t->fx->pds, PDS_DM_VDM, 0);
	assert_int_equal(fx_group(t->fx, 0, 0, 0, 0), PDS_STARTED);
	assert_true(is_running(t->fx, 1));
	stage_tasks_destroy(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_usc_manages_more_tasks_than_it_has_slots),
		cmocka_unit_test(groups_that_end_together_are_released_together),
		cmocka_unit_test(a_task_that_ends_before_its_group_frees_its_slot),
		cmocka_unit_test(a_group_that_waits_is_not_overtaken),
		cmocka_unit_test(the_time_of_waits_is_counted),
		cmocka_unit_test(groups_that_wait_for_slots_are_stopped),
		cmocka_unit_test(in_order_every_group_gets_its_slot),
		cmocka_unit_test(the_policy_selects_which_data_master_gets_a_slot),
		cmocka_unit_test(a_group_without_instances_waits_for_those_before_it),
		cmocka_unit_test(groups_without_instances_end_one_after_another),
		cmocka_unit_test(a_group_without_instances_holds_up_no_release_in_order),
		cmocka_unit_test(stopped_groups_without_instances_wait_for_no_slot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
