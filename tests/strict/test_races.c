// SPDX-License-Identifier: MIT
/* Races in memory: order of waves, work-groups and jobs, and the bounds of the shadow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "strict/race.h"

#include <cmocka.h>

#define MEMORY_BYTES	(5u << 20)	/* more than the shadow has blocks for */
#define BLOCK_BYTES	64u
#define BLOCKS		65536u

static struct race *race;
static u8 *memory;	/* only its addresses are used */
static struct race_other other;
static u32 clocks[2][RACE_WAVES];

static int set_up(void **state)
{
	(void)state;
	race = race_create();
	memory = aligned_alloc(4096, MEMORY_BYTES);
	memset(clocks, 0, sizeof(clocks));
	return !race || !memory;
}

static int tear_down(void **state)
{
	(void)state;
	race_destroy(race);
	free(memory);
	return 0;
}

/* A wave of a work-group, without order to any other. */
static struct race_access wave(u32 group, u8 number)
{
	return (struct race_access){ .group = group, .wave = number, .lane = 3, .pc = 10u + group,
				     .clock = 1, .before = clocks[0] };
}

static u32 group_of(enum pumice_wave_master master, u8 core)
{
	return race_group_begin(race, &(struct race_group){ .master = (u8)master, .ctx = 1,
							    .core = core, .usc = 4,
							    .code = 0x6000 });
}

static u32 compute_group(void)
{
	return group_of(PUMICE_WAVE_MASTER_CDM, 0);
}

static bool store(struct race_access a, u32 at, u32 bytes)
{
	a.write = true;
	return race_access(race, &a, memory + at, bytes, &other);
}

static bool load(struct race_access a, u32 at, u32 bytes)
{
	return race_access(race, &a, memory + at, bytes, &other);
}

static bool add(struct race_access a, u32 at)
{
	a.atomic = true;
	return store(a, at, 4);
}

static void work_groups_of_a_launch_race(void **state)
{
	const struct race_access a = wave(compute_group(), 0), b = wave(compute_group(), 0);

	(void)state;
	assert_false(store(a, 0, 4));
	assert_false(load(a, 0, 4));
	assert_true(load(b, 0, 4));
	assert_true(other.write && other.same_job);
	assert_int_equal(other.pc, a.pc);
	assert_int_equal(other.lane, 3);
	assert_int_equal(other.group.usc, 4);
	assert_int_equal(other.group.code, 0x6000);
	assert_false(load(a, 8, 4));
	assert_true(store(b, 8, 4));
	assert_false(other.write);
}

static void waves_of_a_work_group_race_by_their_clocks(void **state)
{
	struct race_access a = wave(compute_group(), 0), b = a;

	(void)state;
	b.wave = 1;
	b.before = clocks[1];
	assert_false(store(a, 0, 4));
	assert_true(store(b, 0, 4));
	assert_false(store(a, 8, 4));
	clocks[1][0] = 1;
	assert_false(store(b, 8, 4));
	a.clock = 2;
	assert_false(store(a, 16, 4));
	assert_true(store(b, 16, 4));
}

static void bytes_are_compared_not_words(void **state)
{
	const struct race_access a = wave(compute_group(), 0), b = wave(compute_group(), 0);

	(void)state;
	assert_false(store(a, 1, 1));
	assert_false(store(a, 3, 1));	/* of the same wave: both are kept */
	assert_false(load(b, 0, 1));
	assert_false(load(b, 2, 1));
	assert_true(load(b, 1, 1));
	/* An access over the end of a word, and of a block. */
	assert_false(store(a, 62, 4));
	assert_true(load(b, 64, 2));
	assert_false(load(b, 66, 2));
}

static void atomic_operations_race_with_others_only(void **state)
{
	const struct race_access a = wave(compute_group(), 0), b = wave(compute_group(), 0);

	(void)state;
	assert_false(add(a, 0));
	assert_false(add(b, 0));
	assert_true(load(a, 0, 4));
	assert_false(store(a, 8, 4));
	assert_true(add(b, 8));
	assert_false(add(a, 16));
	assert_true(store(b, 16, 4));
}

/* A load before it is examined by it. */
static void a_compare_and_exchange_does_not_race_with_loads(void **state)
{
	const struct race_access a = wave(compute_group(), 0), b = wave(compute_group(), 0);
	struct race_access exchange = b;

	(void)state;
	exchange.compares = true;
	assert_false(load(a, 0, 4));
	assert_false(add(exchange, 0));
	assert_false(load(a, 0, 4));
	assert_true(store(a, 0, 4));
	assert_false(store(a, 8, 4));
	assert_true(add(exchange, 8));
}

/* A command of the stream that waits for launches. */
static void launches_are_ordered_by_the_stream(void **state)
{
	const struct race_access a = wave(compute_group(), 0);

	(void)state;
	assert_false(store(a, 0, 4));
	race_job_orders(race);
	assert_false(store(wave(compute_group(), 0), 0, 4));
}

static void the_end_of_a_job_precedes_those_after(void **state)
{
	struct race_access a;

	(void)state;
	race_job_begin(race, PUMICE_WAVE_MASTER_CDM, 0x500000001, 0);
	a = wave(compute_group(), 0);
	assert_false(store(a, 0, 4));
	race_job_end(race, PUMICE_WAVE_MASTER_CDM, 100);
	race_job_begin(race, PUMICE_WAVE_MASTER_CDM, 0x600000001, 0);
	assert_false(store(wave(compute_group(), 0), 0, 4));
}

/* Its data master was busy: so it began after the other one, but does not depend on it. */
static void a_job_that_was_ready_before_the_end_of_another_races(void **state)
{
	(void)state;
	race_job_begin(race, PUMICE_WAVE_MASTER_CDM, 0x500000001, 0);
	assert_false(store(wave(compute_group(), 0), 0, 4));
	race_job_end(race, PUMICE_WAVE_MASTER_CDM, 100);
	race_job_begin(race, PUMICE_WAVE_MASTER_CDM, 0x600000001, 100);
	assert_false(load(wave(compute_group(), 0), 0, 4));
	race_job_end(race, PUMICE_WAVE_MASTER_CDM, 200);
	race_job_begin(race, PUMICE_WAVE_MASTER_VDM, 0x700000001, 99);
	assert_true(load(wave(group_of(PUMICE_WAVE_MASTER_VDM, 0), 0), 0, 4));
	assert_false(other.same_job);
	assert_int_equal(other.tag, 0x500000001);
}

static void jobs_that_run_at_a_time_race(void **state)
{
	struct race_access a, b;

	(void)state;
	race_job_begin(race, PUMICE_WAVE_MASTER_CDM, 0x500000001, 0);
	race_job_begin(race, PUMICE_WAVE_MASTER_PDM, 0x600000002, 0);
	a = wave(compute_group(), 0);
	b = wave(group_of(PUMICE_WAVE_MASTER_PDM, 0), 0);
	assert_false(store(a, 0, 4));
	assert_true(load(b, 0, 4));
	assert_false(other.same_job);
	assert_int_equal(other.tag, 0x500000001);
	assert_int_equal(other.group.master, PUMICE_WAVE_MASTER_CDM);
	/* The second one began before the first one ended. */
	race_job_end(race, PUMICE_WAVE_MASTER_CDM, 0);
	assert_true(load(b, 0, 4));
	race_job_begin(race, PUMICE_WAVE_MASTER_VDM, 0, 0);
	assert_false(load(wave(group_of(PUMICE_WAVE_MASTER_VDM, 0), 0), 0, 4));
}

static void a_job_that_a_reset_has_dropped_has_ended(void **state)
{
	struct race_access a;

	(void)state;
	race_job_begin(race, PUMICE_WAVE_MASTER_CDM, 1, 0);
	a = wave(compute_group(), 0);
	assert_false(store(a, 0, 4));
	race_job_begin(race, PUMICE_WAVE_MASTER_CDM, 2, 0);
	race_job_begin(race, PUMICE_WAVE_MASTER_PDM, 3, 0);
	assert_false(load(wave(group_of(PUMICE_WAVE_MASTER_PDM, 0), 0), 0, 4));
}

/* Pixels have an order that waves do not show. */
static void waves_of_a_graphics_job_do_not_race(void **state)
{
	const struct race_access a = wave(group_of(PUMICE_WAVE_MASTER_PDM, 0), 0);
	const struct race_access b = wave(group_of(PUMICE_WAVE_MASTER_PDM, 0), 0);

	(void)state;
	assert_false(store(a, 0, 4));
	assert_false(store(b, 0, 4));
}

/* A fence of a wave: its accesses so far are published, and it is after earlier ones. */
static void fence(struct race_access *a, u32 *before, bool device)
{
	before[a->wave] = a->clock;
	race_fence(race, a->group, before, device, &a->acquired);
	a->clock++;
}

static void fences_order_work_groups(void **state)
{
	struct race_access a = wave(compute_group(), 0), b = wave(compute_group(), 0);

	(void)state;
	a.before = clocks[0];
	b.before = clocks[1];
	assert_false(store(a, 0, 4));
	fence(&a, clocks[0], true);
	assert_false(store(a, 8, 4));	/* after the fence: not published */
	assert_true(load(b, 0, 4));	/* it has executed none */
	fence(&b, clocks[1], true);
	assert_false(load(b, 0, 4));
	assert_true(load(b, 8, 4));
	/* Fences in the wrong order. */
	assert_false(store(b, 16, 4));
	fence(&a, clocks[0], true);
	fence(&b, clocks[1], true);
	assert_true(load(a, 16, 4));
}

static void a_fence_of_a_core_orders_its_work_groups_only(void **state)
{
	struct race_access a = wave(group_of(PUMICE_WAVE_MASTER_CDM, 0), 0);
	struct race_access b = wave(group_of(PUMICE_WAVE_MASTER_CDM, 0), 0);
	struct race_access c = wave(group_of(PUMICE_WAVE_MASTER_CDM, 1), 0);

	(void)state;
	assert_false(store(a, 0, 4));
	fence(&a, clocks[0], false);
	fence(&b, clocks[1], false);
	fence(&c, clocks[1], true);
	assert_false(load(b, 0, 4));
	assert_true(load(c, 0, 4));
}

/* One work-group of the core publishes it for others of the GPU. */
static void a_fence_of_the_gpu_forwards_those_of_its_core(void **state)
{
	struct race_access a = wave(group_of(PUMICE_WAVE_MASTER_CDM, 0), 0);
	struct race_access b = wave(group_of(PUMICE_WAVE_MASTER_CDM, 0), 0);
	struct race_access c = wave(group_of(PUMICE_WAVE_MASTER_CDM, 1), 0);

	(void)state;
	assert_false(store(a, 0, 4));
	fence(&a, clocks[0], false);
	fence(&b, clocks[1], true);
	fence(&c, clocks[1], true);
	assert_false(load(c, 0, 4));
}

/* Fences that are not kept any longer have published all that they may have. */
static void many_fences_have_no_false_race(void **state)
{
	struct race_access a = wave(compute_group(), 0), b = wave(compute_group(), 0);

	(void)state;
	b.before = clocks[1];
	assert_false(store(a, 0, 4));
	fence(&a, clocks[0], true);
	fence(&b, clocks[1], true);
	for (u32 n = 0; n < 100; n++)
		fence(&a, clocks[0], true);
	assert_false(load(b, 0, 4));
	assert_false(store(a, 8, 4));
	assert_true(load(b, 8, 4));
}

static void two_readers_are_kept(void **state)
{
	struct race_access a = wave(compute_group(), 0), b = wave(compute_group(), 0);
	struct race_access c = wave(compute_group(), 0);

	(void)state;
	b.before = clocks[1];
	assert_false(load(a, 0, 4));
	assert_false(load(b, 0, 4));
	assert_false(load(b, 0, 4));
	fence(&b, clocks[1], true);
	fence(&c, clocks[1], true);
	assert_true(store(c, 0, 4));
	assert_int_equal(other.pc, a.pc);
}

/* The blocks that were accessed first are watched no longer, whatever was accessed since. */
static void the_oldest_blocks_are_replaced(void **state)
{
	const struct race_access a = wave(compute_group(), 0), b = wave(compute_group(), 0);

	(void)state;
	for (u32 n = 0; n < BLOCKS; n++)
		assert_false(store(a, n * BLOCK_BYTES, 4));
	assert_false(load(a, 0, 4));
	for (u32 n = 0; n < 5; n++)
		assert_false(store(a, (BLOCKS + n) * BLOCK_BYTES, 4));
	assert_true(load(b, 5 * BLOCK_BYTES, 4));
	assert_true(load(b, (BLOCKS + 4) * BLOCK_BYTES, 4));
	assert_false(load(b, 0, 4));	/* replaces number 5 */
	assert_false(load(b, 5 * BLOCK_BYTES, 4));
	assert_true(load(b, 7 * BLOCK_BYTES, 4));
}

/* An access of a work-group or job that is not kept any longer is not a race. */
static void old_work_groups_and_jobs_are_forgotten(void **state)
{
	struct race_access a = wave(compute_group(), 0);

	(void)state;
	assert_false(store(a, 0, 4));
	for (u32 n = 0; n < 16383; n++)
		compute_group();
	assert_true(load(wave(a.group + 16383, 0), 0, 4));
	assert_false(load(wave(compute_group(), 0), 0, 4));
	assert_false(store(a, 8, 4));
	a = wave(group_of(PUMICE_WAVE_MASTER_PDM, 0), 0);
	assert_false(store(a, 16, 4));
	for (u32 n = 0; n < 2000; n++)
		race_job_begin(race, PUMICE_WAVE_MASTER_VDM, n, 0);
	assert_false(store(wave(compute_group(), 0), 16, 4));
}

static const u8 *block_of_a_bucket(u64 n)
{
	return (const u8 *)(uintptr_t)((n << 14 | n) * BLOCK_BYTES);
}

/* Addresses of one bucket of the shadow, which a program can choose: each takes some steps. */
static void blocks_of_one_bucket_are_few(void **state)
{
	const u32 blocks = 4096, chain = 16;
	struct race_access a = wave(compute_group(), 0), b = wave(compute_group(), 0);
	u64 n;

	(void)state;
	a.write = b.write = true;
	for (n = 1; n <= blocks; n++)
		assert_false(race_access(race, &a, block_of_a_bucket(n), BLOCK_BYTES, &other));
	assert_true(race_compared(race) <= blocks * chain);
	assert_true(race_compared(race) > blocks * (chain - 1));
	/* The last ones are kept; the one before them is replaced by this access to it. */
	for (n = blocks - chain + 1; n <= blocks; n++)
		assert_true(race_access(race, &b, block_of_a_bucket(n) + 4, 4, &other));
	assert_false(race_access(race, &b, block_of_a_bucket(blocks - chain) + 4, 4, &other));
}

int main(void)
{
#define RACE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		RACE_TEST(work_groups_of_a_launch_race),
		RACE_TEST(waves_of_a_work_group_race_by_their_clocks),
		RACE_TEST(bytes_are_compared_not_words),
		RACE_TEST(atomic_operations_race_with_others_only),
		RACE_TEST(a_compare_and_exchange_does_not_race_with_loads),
		RACE_TEST(launches_are_ordered_by_the_stream),
		RACE_TEST(the_end_of_a_job_precedes_those_after),
		RACE_TEST(a_job_that_was_ready_before_the_end_of_another_races),
		RACE_TEST(jobs_that_run_at_a_time_race),
		RACE_TEST(a_job_that_a_reset_has_dropped_has_ended),
		RACE_TEST(waves_of_a_graphics_job_do_not_race),
		RACE_TEST(fences_order_work_groups),
		RACE_TEST(a_fence_of_a_core_orders_its_work_groups_only),
		RACE_TEST(a_fence_of_the_gpu_forwards_those_of_its_core),
		RACE_TEST(many_fences_have_no_false_race),
		RACE_TEST(two_readers_are_kept),
		RACE_TEST(the_oldest_blocks_are_replaced),
		RACE_TEST(blocks_of_one_bucket_are_few),
		RACE_TEST(old_work_groups_and_jobs_are_forgotten),
	};

	return cmocka_run_group_tests_name("races in memory", tests, NULL, NULL);
}
