// SPDX-License-Identifier: MIT
/*
 * Allocation limits of each resource, order of release, and the occupancy figures. The
 * reference of the random test keeps a list of groups in the order in which they started.
 */
#include <string.h>

#include "fixture.h"

/* Every group of these tests: 2 tasks of 5 waves, 20 rows a wave, 30 words a task, 2 local rows. */
#define INSTANCES	160
#define TASKS		2u
#define WAVES		5u
#define ROWS		(5u * 20u)
#define WORDS		(2u * 30u)
#define LOCAL_ROWS	2u
#define ROOM		(PUMICE_USC_SLOTS / TASKS)	/* groups on a USC: slots run out first */

static struct fixture *limits_fixture(unsigned int uscs)
{
	static const struct pumice_pds_insn insns[] = { TASK, END };
	struct fixture *fx = fx_create(uscs, NULL);
	struct pds_launch launch = fx_launch(INSTANCES, 1, 1);

	launch.state.temps = 20;
	launch.state.shared = 20;
	launch.state.coeffs = 10;
	launch.state.local_bytes = 200;
	fx_program(fx, &launch, insns, 2);
	assert_true(fx_begin(fx, &launch));
	return fx;
}

/* Groups that start before one has to wait. */
static u32 fill(struct fixture *fx)
{
	u32 n = 0;

	while (fx_group(fx, n, 0, 0, n) == PDS_STARTED)
		n++;
	return n;
}

struct limit_case {
	const char *what;
	struct pds_control control;
	u32 groups;	/* that run at a time on a USC */
};

static const struct limit_case limit_cases[] = {
	{ "none", { .tasks = 0 }, ROOM },
	{ "tasks of one group", { .tasks = TASKS }, 1 },
	{ "tasks of one group and a half", { .tasks = TASKS + 1 }, 1 },
	{ "tasks of seven groups", { .tasks = 7 * TASKS }, 7 },
	{ "more tasks than slots", { .tasks = 255 }, ROOM },
	{ "rows of three groups", { .unified_bytes = 3 * ROWS * 128 }, 3 },
	{ "rows of three groups less a byte", { .unified_bytes = 3 * ROWS * 128 - 1 }, 2 },
	{ "words of four groups", { .common_bytes = 4 * WORDS * 4 }, 4 },
	{ "words of four groups less a byte", { .common_bytes = 4 * WORDS * 4 - 1 }, 3 },
	{ "local rows of two groups", { .local_bytes = 2 * LOCAL_ROWS * 128 }, 2 },
	{ "local rows of two groups less a byte", { .local_bytes = 2 * LOCAL_ROWS * 128 - 1 }, 1 },
	{ "the minimum of all counts",
	  { .tasks = 6 * TASKS, .unified_bytes = 4 * ROWS * 128, .common_bytes = 5 * WORDS * 4 },
	  4 },
	/* Below the need of a group: still one at a time. */
	{ "one task", { .tasks = 1 }, 1 },
	{ "a byte of unified store", { .unified_bytes = 1 }, 1 },
	{ "a byte of common store", { .common_bytes = 1 }, 1 },
	{ "a byte of local memory", { .local_bytes = 1 }, 1 },
};

static void a_limit_bounds_the_groups_on_each_usc(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(limit_cases) / sizeof(limit_cases[0]); i++) {
		struct fixture *fx = limits_fixture(3);
		struct pds_control control = limit_cases[i].control;

		control.out_of_order = i & 1;	/* has no effect here */
		fx_control(fx, control);
		if (fill(fx) != 3 * limit_cases[i].groups)
			fail_msg("%s: %u groups", limit_cases[i].what, pds_groups(fx->pds));
		/* One ends, one starts. */
		assert_true(fx_finish_oldest(fx));
		assert_int_equal(fill(fx), 1);
		fx_destroy(fx);
	}
}

static void a_limit_applies_to_groups_that_start_later(void **state)
{
	struct fixture *fx = limits_fixture(1);

	(void)state;
	assert_int_equal(fill(fx), ROOM);
	fx_control(fx, (struct pds_control){ .out_of_order = true, .tasks = 3 * TASKS });
	assert_int_equal(pds_groups(fx->pds), ROOM);
	while (pds_groups(fx->pds) > 3) {
		assert_true(fx_finish_oldest(fx));
		assert_int_equal(fill(fx), 0);
	}
	assert_true(fx_finish_oldest(fx));
	assert_int_equal(fill(fx), 1);
	fx_control(fx, (struct pds_control){ .out_of_order = true });
	assert_int_equal(fill(fx), ROOM - 3);
	fx_destroy(fx);
}

/* Groups that never fit are refused by the sizes of the stores, independent of the limits. */
static void a_limit_never_refuses_a_launch(void **state)
{
	struct fixture *fx = limits_fixture(1);
	struct pds_launch launch = fx_launch(1024, 1, 1);
	struct pumice_pds_insn insns[] = { TASK, END };

	(void)state;
	fx_end(fx);
	fx_control(fx, (struct pds_control){ .tasks = 1, .unified_bytes = 1, .common_bytes = 1,
					       .local_bytes = 1 });
	launch.state.temps = 128;
	launch.state.shared = 2048;
	launch.state.local_bytes = FX_LOCAL;
	fx_program(fx, &launch, insns, 2);
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(fill(fx), 1);
	fx_destroy(fx);
}

/* Finish the running group that is number n by its start. */
static void finish_nth(struct fixture *fx, u32 n)
{
	struct usc *usc = fx->usc[0];
	u64 order = 0;
	u32 best = FAKE_NONE, g;

	for (n++; n; n--) {
		u64 next = UINT64_MAX;

		for (g = 0; g < PUMICE_USC_SLOTS; g++) {
			if (fake_usc_running(usc, g) && usc->start_order[g] > order &&
			    usc->start_order[g] < next) {
				next = usc->start_order[g];
				best = g;
			}
		}
		order = next;
	}
	fake_usc_finish(usc, best);
}

static void in_order_a_group_is_held_until_earlier_ones_have_ended(void **state)
{
	struct fixture *fx = limits_fixture(1);
	u32 i;

	(void)state;
	fx_control(fx, (struct pds_control){ .out_of_order = false });
	assert_int_equal(fill(fx), ROOM);
	/* All but the first end: nothing is released. */
	for (i = ROOM - 1; i > 0; i--) {
		finish_nth(fx, i);
		assert_int_equal(fx_load(fx).held, (ROOM - i) * TASKS);
		assert_int_equal(fx_load(fx).tasks, PUMICE_USC_SLOTS);
		assert_int_equal(fx_load(fx).waves, i * WAVES);
		assert_int_equal(fill(fx), 0);
	}
	assert_int_equal(pds_groups(fx->pds), 1);
	finish_nth(fx, 0);
	assert_int_equal(fx_load(fx).held, 0);
	assert_int_equal(fx_load(fx).tasks, 0);
	assert_int_equal(fill(fx), ROOM);
	fx_destroy(fx);
}

static void in_order_each_usc_has_its_own_order(void **state)
{
	struct fixture *fx = limits_fixture(2);

	(void)state;
	fx_control(fx, (struct pds_control){ .out_of_order = false });
	assert_int_equal(fill(fx), 2 * ROOM);
	/* The first group continues to run; USC 1 releases its own. */
	fake_usc_finish(fx->usc[1], fake_usc_oldest(fx->usc[1]));
	assert_int_equal(fx_load(fx).held, 0);
	assert_int_equal(fill(fx), 1);
	fx_destroy(fx);
}

/*
 * One task of each of two running groups ends: a further group has room, if release is not in
 * order. All figures follow, and the rest of those groups is released once.
 */
static void a_task_releases_its_resources_before_its_group(void **state)
{
	struct fixture *fx = limits_fixture(1);
	struct usc *usc = fx->usc[0];
	u32 group, n = fill(fx);

	(void)state;
	assert_int_equal(n, ROOM);
	group = fake_usc_oldest(usc);
	fake_usc_finish_task(usc, group, 0);
	assert_int_equal(fx_load(fx).tasks, n * TASKS - 1);
	assert_int_equal(fx_load(fx).waves, n * WAVES - 4);
	assert_int_equal(fx_load(fx).held, 0);
	assert_int_equal(fx_group(fx, n, 0, 0, n), PDS_WAIT);
	fake_usc_finish(usc, group);
	assert_int_equal(fx_load(fx).tasks, (n - 1) * TASKS);
	assert_int_equal(fx_load(fx).waves, (n - 1) * WAVES);
	/* The first task of one group, and the second one of another. */
	group = fake_usc_oldest(usc);
	fake_usc_finish_task(usc, group, 1);
	assert_int_equal(fx_load(fx).waves, (n - 1) * WAVES - 1);
	assert_int_equal(fx_group(fx, n, 0, 0, n), PDS_STARTED);
	assert_int_equal(fx_group(fx, n, 0, 0, n), PDS_WAIT);
	fake_usc_finish(usc, group);
	fx_finish_all(fx);
	/* A limit of two groups counts the tasks that have not ended. */
	fx_control(fx, (struct pds_control){ .out_of_order = true, .tasks = 2 * TASKS,
					     .unified_bytes = 2 * ROWS * 128,
					     .common_bytes = 2 * WORDS * 4 });
	assert_int_equal(fill(fx), 2);
	group = fake_usc_oldest(usc);
	fake_usc_finish_task(usc, group, 0);
	assert_int_equal(fill(fx), 0);
	fake_usc_finish_task(usc, group == 0 ? 1 : 0, 0);
	assert_int_equal(fill(fx), 1);
	fx_finish_all(fx);
	/* In order nothing is released before the group. */
	fx_control(fx, (struct pds_control){ .out_of_order = false });
	assert_int_equal(fill(fx), ROOM);
	group = fake_usc_oldest(usc);
	fake_usc_finish_task(usc, group, 0);
	assert_int_equal(fx_load(fx).tasks, ROOM * TASKS);
	fx_destroy(fx);
}

static void held_groups_count_against_the_limits(void **state)
{
	struct fixture *fx = limits_fixture(1);

	(void)state;
	fx_control(fx, (struct pds_control){ .tasks = 4 * TASKS });
	assert_int_equal(fill(fx), 4);
	finish_nth(fx, 2);
	assert_int_equal(fill(fx), 0);
	finish_nth(fx, 0);
	assert_int_equal(fill(fx), 1);
	finish_nth(fx, 0);
	assert_int_equal(fx_load(fx).held, 0);	/* 1 and 2 were released together */
	assert_int_equal(fill(fx), 2);
	fx_destroy(fx);
}

static void switching_to_out_of_order_releases_held_groups(void **state)
{
	struct fixture *fx = limits_fixture(1);

	(void)state;
	fx_control(fx, (struct pds_control){ .out_of_order = false });
	assert_int_equal(fill(fx), ROOM);
	finish_nth(fx, 5);
	finish_nth(fx, 9);
	assert_int_equal(fx_load(fx).held, 2 * TASKS);
	fx_control(fx, (struct pds_control){ .out_of_order = true });
	assert_int_equal(fx_load(fx).held, 0);
	assert_int_equal(fill(fx), 2);
	fx_destroy(fx);
}

static void a_reset_restores_limits_and_order(void **state)
{
	struct fixture *fx = limits_fixture(1);

	(void)state;
	fx_control(fx, (struct pds_control){ .tasks = 1 });
	fx_end(fx);
	fx_lock(fx);
	pds_reset(fx->pds);
	assert_true(pds_control(fx->pds)->out_of_order);
	assert_int_equal(pds_control(fx->pds)->tasks, 0);
	fx_unlock(fx);
	fx_destroy(fx);
}

static u32 next_random(u64 *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)(*state >> 33);
}

/* Groups of the reference, in the order in which they started. */
struct reference {
	struct {
		u32 group;	/* of the fake USC */
		bool ended;
	} list[PUMICE_USC_SLOTS];
	u32 count;
};

/* Remove groups that the order releases. */
static void settle(struct reference *ref, bool out_of_order)
{
	u32 i = 0;

	while (i < ref->count) {
		if (ref->list[i].ended) {
			memmove(&ref->list[i], &ref->list[i + 1],
				(ref->count - i - 1) * sizeof(ref->list[0]));
			ref->count--;
		} else if (out_of_order) {
			i++;
		} else {
			break;
		}
	}
}

static u32 newest_group(const struct usc *usc)
{
	u32 newest = FAKE_NONE, g;

	for (g = 0; g < PUMICE_USC_SLOTS; g++) {
		if (fake_usc_running(usc, g) &&
		    (newest == FAKE_NONE || usc->start_order[g] > usc->start_order[newest]))
			newest = g;
	}
	return newest;
}

static void random_starts_and_ends_keep_order_and_limits(void **state)
{
	struct fixture *fx = limits_fixture(1);
	struct reference ref = { .count = 0 };
	struct pds_control control = { .out_of_order = true };
	u64 rnd = 0x5eed0031;
	u32 step, refused = 0, held = 0;

	(void)state;
	print_message("seed 0x%llx\n", (unsigned long long)rnd);
	for (step = 0; step < 50000; step++) {
		u32 what = next_random(&rnd) % 100;

		if (what == 0) {
			control.out_of_order = next_random(&rnd) & 1;
			control.tasks = next_random(&rnd) % 40;
			fx_control(fx, control);
			settle(&ref, control.out_of_order);
		} else if (what < 52) {
			bool fits = ref.count < ROOM &&
				    (!control.tasks || !ref.count ||
				     (ref.count + 1) * TASKS <= control.tasks);
			bool started = fx_group(fx, 0, 0, 0, step) == PDS_STARTED;

			assert_int_equal(started, fits);
			refused += !fits;
			if (started) {
				ref.list[ref.count].group = newest_group(fx->usc[0]);
				ref.list[ref.count++].ended = false;
			}
		} else if (ref.count) {
			u32 n = next_random(&rnd) % ref.count;

			if (!ref.list[n].ended)
				fake_usc_finish(fx->usc[0], ref.list[n].group);
			ref.list[n].ended = true;
			settle(&ref, control.out_of_order);
		}
		assert_int_equal(fx_load(fx).tasks, ref.count * TASKS);
		held += fx_load(fx).held > 0;
	}
	assert_true(refused > 1000 && held > 1000);
	fx_destroy(fx);
}

static void a_wait_is_counted_once_however_often_it_is_tried(void **state)
{
	struct fixture *fx = limits_fixture(1);
	u32 i;

	(void)state;
	fill(fx);
	assert_int_equal(fx_counter(fx, PUMICE_PERF_PDS_WAITS), 1);
	for (i = 0; i < 5; i++)
		assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_WAIT);
	assert_int_equal(fx_counter(fx, PUMICE_PERF_PDS_WAITS), 1);
	fx_finish_oldest(fx);
	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
	assert_int_equal(fx_counter(fx, PUMICE_PERF_PDS_WAITS), 1);
	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_WAIT);
	assert_int_equal(fx_counter(fx, PUMICE_PERF_PDS_WAITS), 2);
	fx_destroy(fx);
}

static void occupancy_is_the_sum_of_tasks_over_time(void **state)
{
	struct fixture *fx = limits_fixture(2);

	(void)state;
	fx->clock = 1000;
	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
	fx->clock = 1100;	/* 2 tasks for 100 */
	assert_int_equal(fx_group(fx, 1, 0, 0, 1), PDS_STARTED);
	assert_int_equal(fx_counter(fx, PUMICE_PERF_PDS_OCCUPANCY), 200);
	fx->clock = 1150;	/* 4 for 50 */
	fx_finish_oldest(fx);
	fx->clock = 1157;	/* 2 for 7 */
	assert_int_equal(fx_counter(fx, PUMICE_PERF_PDS_OCCUPANCY), 200 + 200 + 14);
	fx_finish_oldest(fx);
	fx->clock = 9999;	/* none */
	assert_int_equal(fx_counter(fx, PUMICE_PERF_PDS_OCCUPANCY), 200 + 200 + 14);
	assert_int_equal(fx_counter(fx, PUMICE_PERF_PDS_TASKS), 4);
	fx_destroy(fx);
}

static void the_peak_is_kept_until_it_is_reset(void **state)
{
	struct fixture *fx = limits_fixture(1);
	u32 i;

	(void)state;
	for (i = 0; i < 5; i++)
		assert_int_equal(fx_group(fx, i, 0, 0, i), PDS_STARTED);
	for (i = 0; i < 3; i++)
		fx_finish_oldest(fx);
	assert_int_equal(fx_load(fx).peak_tasks, 5 * TASKS);
	assert_int_equal(fx_load(fx).tasks, 2 * TASKS);
	assert_int_equal(fx_load(fx).waves, 2 * WAVES);
	fx_lock(fx);
	pds_reset_peak(fx->pds);
	fx_unlock(fx);
	assert_int_equal(fx_load(fx).peak_tasks, 2 * TASKS);
	fx_destroy(fx);
}

static void bytes_of_bursts_are_counted(void **state)
{
	static const struct pumice_pds_insn insns[] = { DMA(SH, 0, 5, FX_DATA, 0),
							DMA(CF, 0, 3, FX_DATA, 0),
							DMA(V, 0, 2, FX_DATA, 8), TASK, END };
	struct pds_launch launch = fx_launch(40, 1, 1);
	struct fixture *fx = fx_create(1, NULL);

	(void)state;
	launch.state.shared = 5;
	launch.state.coeffs = 3;
	launch.state.attrs = 2;
	fx_program(fx, &launch, insns, 5);
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
	assert_int_equal(fx_counter(fx, PUMICE_PERF_PDS_DMA_BYTES), (5 + 3 + 2 * 40) * 4);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_limit_bounds_the_groups_on_each_usc),
		cmocka_unit_test(a_limit_applies_to_groups_that_start_later),
		cmocka_unit_test(a_limit_never_refuses_a_launch),
		cmocka_unit_test(in_order_a_group_is_held_until_earlier_ones_have_ended),
		cmocka_unit_test(in_order_each_usc_has_its_own_order),
		cmocka_unit_test(a_task_releases_its_resources_before_its_group),
		cmocka_unit_test(held_groups_count_against_the_limits),
		cmocka_unit_test(switching_to_out_of_order_releases_held_groups),
		cmocka_unit_test(a_reset_restores_limits_and_order),
		cmocka_unit_test(random_starts_and_ends_keep_order_and_limits),
		cmocka_unit_test(a_wait_is_counted_once_however_often_it_is_tried),
		cmocka_unit_test(occupancy_is_the_sum_of_tasks_over_time),
		cmocka_unit_test(the_peak_is_kept_until_it_is_reset),
		cmocka_unit_test(bytes_of_bursts_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
