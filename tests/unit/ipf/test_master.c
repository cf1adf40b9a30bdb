// SPDX-License-Identifier: MIT
/*
 * Distribution of tiles by the master IPF, against a model: lists of the numbers of the tiles of
 * each core.
 */
#include "../support/cmocka_all.h"

#include <string.h>

#include "../../../qemu-device/gpu/ipf/master.h"
#include "../support/number.h"

#define STEPS	20000u

static u64 seed = NUMBER_SEED;
static struct ipf_master master;
static u64 clock;
static const struct pm_scene scene = { .tiles_x = 1 };
static const struct ipf_job job = { .scene = &scene };

static bool add(u32 number)
{
	const struct ipf_work work = { .x = (u16)number, .y = (u16)(number >> 16), .branch = true };

	return ipf_master_add(&master, &work, ++clock);
}

static u32 take(u32 core)
{
	struct ipf_work work;

	if (!ipf_master_take(&master, core, 0, &work, ++clock))
		return UINT32_MAX;
	assert_true(work.branch);
	return work.x | (u32)work.y << 16;
}

/* The core for the next tile by the rule: the fewest, and of several the next one in turn. */
static u32 model_core(const u32 *count, u32 cores, u32 last)
{
	u32 fewest = UINT32_MAX, i, core = 0;

	for (i = 0; i < cores; i++)
		fewest = count[i] < fewest ? count[i] : fewest;
	for (i = cores; i; i--)
		if (count[(last + i) % cores] == fewest)
			core = (last + i) % cores;
	return core;
}

static void tiles_are_for_the_core_with_the_fewest(void **state)
{
	static u32 list[PUMICE_MAX_CORES][IPF_MASTER_TILES];
	u32 cores, i, n;

	(void)state;
	for (cores = 1; cores <= PUMICE_MAX_CORES; cores++) {
		const u32 depth = 1 + number_random(&seed, IPF_MASTER_TILES);
		u32 count[PUMICE_MAX_CORES] = { 0 }, last = cores - 1, added = 0, all = 0;

		ipf_master_init(&master, cores, depth);
		ipf_master_begin(&master, &job, clock);
		for (i = 0; i < STEPS; i++) {
			const u32 core = number_random(&seed, cores);

			if (all < cores * depth && number_random(&seed, 2)) {
				last = model_core(count, cores, last);
				assert_true(count[last] < depth);
				list[last][count[last]++] = added;
				assert_int_equal(add(added++), ++all < cores * depth);
			} else if (!count[core]) {
				assert_int_equal(take(core), UINT32_MAX);
			} else {
				assert_int_equal(take(core), list[core][0]);
				memmove(list[core], list[core] + 1, --count[core] * sizeof(u32));
				all--;
			}
			assert_int_equal(ipf_master_all(&master), all);
			for (n = 0; n < cores; n++)
				assert_int_equal(ipf_master_tiles(&master, n), count[n]);
		}
	}
}

static void a_faster_core_receives_more(void **state)
{
	u32 taken[3] = { 0 }, time, number = 0;

	(void)state;
	ipf_master_init(&master, 3, 4);
	ipf_master_begin(&master, &job, clock);
	for (time = 0; time < 600; time++) {
		while (ipf_master_all(&master) < 12)
			add(number++);
		/* Durations of a tile: 1, 2, 3. */
		taken[0] += take(0) != UINT32_MAX;
		taken[1] += time % 2 == 0 && take(1) != UINT32_MAX;
		taken[2] += time % 3 == 0 && take(2) != UINT32_MAX;
	}
	assert_int_equal(taken[0], 600);
	assert_int_equal(taken[1], 300);
	assert_int_equal(taken[2], 200);
}

static void a_full_fifo_of_each_core_makes_tiles_wait(void **state)
{
	u64 waits = 0, occupancy = 0;
	u32 i;

	(void)state;
	ipf_master_init(&master, 2, 4);
	ipf_master_begin(&master, &job, clock);
	assert_true(ipf_master_low(&master));
	for (i = 0; i < 8; i++)
		assert_int_equal(add(i), i < 7);
	assert_false(ipf_master_low(&master));
	ipf_master_wait(&master);
	ipf_master_wait(&master);
	clock += 100;
	assert_int_equal(take(1), 1);
	ipf_master_counters(&master, &waits, &occupancy);
	assert_int_equal(waits, 0);	/* not known yet: no tile may follow */
	assert_true(occupancy >= 4 * 100);
	assert_false(ipf_master_low(&master));
	take(1);
	take(1);
	assert_true(ipf_master_low(&master));
}

/* Tiles in the FIFOs of all cores times ns. It is up to date when no tile is left. */
static void occupancy_is_the_sum_of_tiles_over_time(void **state)
{
	u64 waits = 0, occupancy = 0, expected = 0;
	u32 i;

	(void)state;
	ipf_master_init(&master, 3, 4);
	ipf_master_begin(&master, &job, clock);
	for (i = 0; i <= STEPS; i++) {
		const u32 all = ipf_master_all(&master), action = number_random(&seed, 64);
		const u64 last = clock;

		clock += number_random(&seed, 100);
		if (!action || i == STEPS)
			ipf_master_begin(&master, &job, ++clock);
		else if (all < 12 && action < 40)
			add(i);
		else
			take(action % 3);
		expected += all * (clock - last);
	}
	ipf_master_counters(&master, &waits, &occupancy);
	assert_int_equal(occupancy, expected);
}

/*
 * Counted when it is added, whichever core has room for it then; and of a stopped job, not at all.
 */
static void a_tile_that_found_all_fifos_full_is_counted_once(void **state)
{
	const u32 cores = 3, depth = 2;
	u32 all = 0, i;
	u64 expected = 0;
	bool full = false;

	(void)state;
	ipf_master_init(&master, cores, depth);
	ipf_master_begin(&master, &job, clock);
	for (i = 0; i < STEPS; i++) {
		const u32 action = number_random(&seed, 64);
		u64 waits = 0, occupancy = 0;

		if (!action) {
			ipf_master_begin(&master, &job, ++clock);
			all = 0;
			full = false;
		} else if (all < cores * depth && action < 40) {
			expected += full;
			full = ++all == cores * depth;
			if (!add(i))
				ipf_master_wait(&master);
		} else if (take(action % cores) != UINT32_MAX) {
			all--;
		}
		ipf_master_counters(&master, &waits, &occupancy);
		assert_int_equal(waits, expected);
	}
	assert_true(expected > 1000);
}

static void tiles_of_a_stopped_job_are_dropped(void **state)
{
	u32 i;

	(void)state;
	ipf_master_init(&master, 3, 2);
	ipf_master_begin(&master, &job, clock);
	for (i = 0; i < 4; i++)
		add(i);
	ipf_master_begin(&master, &job, ++clock);
	assert_int_equal(ipf_master_all(&master), 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(take(i), UINT32_MAX);
	/* The next job begins with the first core. */
	add(7);
	assert_int_equal(take(0), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiles_are_for_the_core_with_the_fewest),
		cmocka_unit_test(a_faster_core_receives_more),
		cmocka_unit_test(a_full_fifo_of_each_core_makes_tiles_wait),
		cmocka_unit_test(occupancy_is_the_sum_of_tiles_over_time),
		cmocka_unit_test(a_tile_that_found_all_fifos_full_is_counted_once),
		cmocka_unit_test(tiles_of_a_stopped_job_are_dropped),
	};

	return cmocka_run_group_tests_name("ipf master", tests, NULL, NULL);
}
