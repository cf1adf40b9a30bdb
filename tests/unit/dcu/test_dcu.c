// SPDX-License-Identifier: MIT
/* The data cache unit of a core, with a next level that records requests. */
#include "../support/lines.h"

#include "../../../qemu-device/gpu/dcu/dcu.h"

#define LINE	32u
#define BASE	0x10000ull

static struct lines lines;
static struct dcu *dcu;

static int create(void **state)
{
	/* Document 004, "DCU". */
	const struct dcu_config config = {
		.uscs = 4, .l1_bytes = 512, .l2_bytes = 1024, .ways = 4, .line_bytes = LINE,
		.segment_bytes = LINE, .next = lines_take, .opaque = &lines,
	};
	const char *error;

	(void)state;
	lines.count = 0;
	dcu = dcu_create(&config, &error);
	return !dcu;
}

static int destroy(void **state)
{
	(void)state;
	dcu_destroy(dcu);
	return 0;
}

static void request(u32 usc, enum pumice_mem_client client, u64 addr, u32 bytes)
{
	const struct mem_request r = lines_request(client, addr, bytes);

	dcu_request(dcu, usc, &r);
}

static void two_uscs_share_an_l1_and_all_the_l2(void **state)
{
	u32 usc;

	(void)state;
	assert_int_equal(dcu_halves(dcu), 2);
	for (usc = 0; usc < 4; usc++)
		request(usc, PUMICE_MEM_CLIENT_USC_LOAD, BASE, 4);
	for (usc = 0; usc < 2; usc++) {
		assert_int_equal(lines_of(dcu_l1(dcu, usc)).misses, 1);
		assert_int_equal(lines_of(dcu_l1(dcu, usc)).hits, 1);
	}
	assert_int_equal(lines_of(dcu_l2(dcu)).misses, 1);
	assert_int_equal(lines_of(dcu_l2(dcu)).hits, 1);
	assert_int_equal(lines.count, 1);
}

static void a_burst_becomes_requests_of_lines(void **state)
{
	(void)state;
	request(0, PUMICE_MEM_CLIENT_PDS_CONSTANT, BASE + 16, 64);
	assert_int_equal(lines.count, 3);
	lines_check(&lines, 0, LEVEL_READ, BASE, LINE);
	lines_check(&lines, 2, LEVEL_READ, BASE + 2 * LINE, LINE);
}

/* A store goes to the L2, whose line is read unless it is written as a whole, and stays there. */
static void stores_pass_the_l1_and_stay_in_the_l2(void **state)
{
	const struct cache_range all = cache_range_all(CACHE_ANY_CTX);
	struct level_swept sum = { 0 };

	(void)state;
	request(0, PUMICE_MEM_CLIENT_USC_STORE, BASE, LINE);
	assert_int_equal(lines.count, 0);
	request(0, PUMICE_MEM_CLIENT_USC_STORE, BASE + LINE, 4);
	assert_int_equal(lines.count, 1);
	assert_int_equal(lines_of(dcu_l2(dcu)).requests, 2);
	assert_false(cache_find(level_cache(dcu_l1(dcu, 0)), 1, BASE, NULL));
	dcu_clean(dcu, &all, &sum);
	assert_int_equal(sum.written_bytes, 2 * LINE);
	assert_int_equal(lines.count, 3);
	request(0, PUMICE_MEM_CLIENT_USC_STORE, BASE, 4);
	dcu_invalidate_l2(dcu, &all, &sum);
	assert_int_equal(sum.lost_bytes, LINE);
}

static void an_atomic_operation_drops_the_line(void **state)
{
	(void)state;
	request(0, PUMICE_MEM_CLIENT_USC_LOAD, BASE, 4);
	request(0, PUMICE_MEM_CLIENT_USC_STORE, BASE, 4);
	request(0, PUMICE_MEM_CLIENT_USC_ATOMIC, BASE, 4);
	lines_check(&lines, 1, LEVEL_WRITE, BASE, LINE);
	lines_check(&lines, 2, LEVEL_ATOMIC, BASE, 4);
	assert_false(cache_find(level_cache(dcu_l1(dcu, 0)), 1, BASE, NULL));
	assert_false(cache_find(level_cache(dcu_l2(dcu)), 1, BASE, NULL));
}

static void halves_are_invalidated_alone(void **state)
{
	const struct cache_range all = cache_range_all(CACHE_ANY_CTX);
	struct level_swept sum = { 0 };

	(void)state;
	request(0, PUMICE_MEM_CLIENT_USC_LOAD, BASE, 4);
	request(3, PUMICE_MEM_CLIENT_USC_LOAD, BASE, 4);
	dcu_invalidate_l1(dcu, 1, &all, &sum);
	assert_int_equal(sum.lines, 1);
	assert_true(cache_find(level_cache(dcu_l1(dcu, 0)), 1, BASE, NULL));
	assert_false(cache_find(level_cache(dcu_l1(dcu, 1)), 1, BASE, NULL));
	dcu_invalidate_l1(dcu, DCU_ALL_HALVES, &all, &sum);
	assert_int_equal(sum.lines, 2);
	assert_false(cache_find(level_cache(dcu_l1(dcu, 0)), 1, BASE, NULL));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, create, destroy)
	const struct CMUnitTest tests[] = {
		TEST(two_uscs_share_an_l1_and_all_the_l2),
		TEST(a_burst_becomes_requests_of_lines),
		TEST(stores_pass_the_l1_and_stay_in_the_l2),
		TEST(an_atomic_operation_drops_the_line),
		TEST(halves_are_invalidated_alone),
	};

	return cmocka_run_group_tests_name("dcu", tests, NULL, NULL);
}
