// SPDX-License-Identifier: MIT
/* The mixed cache units of a core, with a next level that records requests. */
#include "../support/lines.h"

#include "../../../qemu-device/gpu/mcu/mcu.h"

#define LINE	128u
#define BASE	0x10000ull

static struct lines lines;
static struct mcu *mcu;

static int create(void **state)
{
	const struct mcu_config config = {
		.uscs = 2, .l0_bytes = 4 * LINE, .l1_bytes = 16 * LINE, .l1_ways = 4,
		.line_bytes = LINE, .segment_bytes = 64, .next = lines_take, .opaque = &lines,
	};
	const char *error;

	(void)state;
	lines.count = 0;
	mcu = mcu_create(&config, &error);
	return !mcu;
}

static int destroy(void **state)
{
	(void)state;
	mcu_destroy(mcu);
	return 0;
}

static void request(u32 usc, enum pumice_mem_client client, u64 addr, u32 bytes)
{
	const struct mem_request r = lines_request(client, addr, bytes);

	mcu_request(mcu, usc, &r);
}

static void load(u32 usc, u64 addr, u32 bytes)
{
	request(usc, PUMICE_MEM_CLIENT_USC_LOAD, addr, bytes);
}

static void store(u32 usc, u64 addr, u32 bytes)
{
	request(usc, PUMICE_MEM_CLIENT_USC_STORE, addr, bytes);
}

static struct level_client l0_of(u32 usc, enum l0_partition part)
{
	return lines_of(mcu_l0(mcu, usc, part));
}

static struct level_client l1_of_line(u64 addr)
{
	return lines_of(mcu_l1(mcu, (u32)(addr / LINE) & (mcu_banks(mcu) - 1)));
}

/* Document 000, "System Memory Access". */
static void sixteen_threads_in_a_line_are_one_miss(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 16; i++)
		load(0, BASE + 8 * i, 8);
	assert_int_equal(l0_of(0, L0_DATA).misses, 1);
	assert_int_equal(l0_of(0, L0_DATA).hits, 15);
	assert_int_equal(lines.count, 1);
	lines_check(&lines, 0, LEVEL_READ, BASE, LINE);
}

static void a_burst_is_split_into_lines(void **state)
{
	(void)state;
	load(0, BASE + 96, 64);
	load(0, BASE + 4 * LINE, 3 * LINE);
	assert_int_equal(l0_of(0, L0_DATA).requests, 5);
	assert_int_equal(lines.count, 5);
	lines_check(&lines, 1, LEVEL_READ, BASE + LINE, LINE);
	lines_check(&lines, 4, LEVEL_READ, BASE + 6 * LINE, LINE);
}

static void writes_of_a_line_are_one_write_of_it(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 16; i++)
		store(0, BASE + 8 * i, 8);
	assert_int_equal(l1_of_line(BASE).requests, 0);
	mcu_flush(mcu, 1);
	assert_int_equal(l1_of_line(BASE).requests, 0);
	mcu_flush(mcu, 0);
	assert_int_equal(l0_of(0, L0_DATA).combined, 15);
	assert_int_equal(l1_of_line(BASE).requests, 1);
	assert_int_equal(l1_of_line(BASE).bytes, LINE);
	/* The line is written as a whole, and is not read. */
	assert_int_equal(lines.count, 0);
}

/* Only segments that the writes do not cover are read. */
static void a_part_of_a_line_reads_its_rest(void **state)
{
	(void)state;
	store(0, BASE, 32);
	store(0, BASE + 32, 36);
	mcu_flush(mcu, 0);
	assert_int_equal(l1_of_line(BASE).bytes, 68);
	assert_int_equal(lines.count, 1);
	lines_check(&lines, 0, LEVEL_READ, BASE + 64, 64);
}

/* The write spans the bytes between, but covers none of the segments, and has 8 bytes. */
static void bytes_apart_are_one_write(void **state)
{
	(void)state;
	store(0, BASE, 4);
	store(0, BASE + 124, 4);
	mcu_flush(mcu, 0);
	assert_int_equal(l1_of_line(BASE).requests, 1);
	assert_int_equal(l1_of_line(BASE).bytes, 8);
	lines_check(&lines, 0, LEVEL_READ, BASE, LINE);
}

static void another_line_and_a_read_pass_the_open_line_on(void **state)
{
	(void)state;
	store(0, BASE, 4);
	store(0, BASE + 2 * LINE, 4);
	assert_int_equal(l1_of_line(BASE).requests, 1);
	load(0, BASE + 4 * LINE, 4);
	assert_int_equal(l1_of_line(BASE).requests, 2);
	load(0, BASE + 2 * LINE, 4);
	/* The write, and the read that follows it. */
	assert_int_equal(l1_of_line(BASE).requests, 4);
	assert_int_equal(l1_of_line(BASE).hits, 1);
	assert_int_equal(l0_of(0, L0_DATA).combined, 0);
}

static void partitions_and_uscs_share_the_l1_only(void **state)
{
	(void)state;
	request(0, PUMICE_MEM_CLIENT_PDS_CONSTANT, BASE, 4);
	request(0, PUMICE_MEM_CLIENT_ATTRIBUTE, BASE, 4);
	request(0, PUMICE_MEM_CLIENT_USC_CODE, BASE, 4);
	load(0, BASE, 4);
	load(1, BASE, 4);
	assert_int_equal(l0_of(0, L0_PDS).misses, 1);
	assert_int_equal(l0_of(0, L0_PDS).hits, 1);
	assert_int_equal(l0_of(0, L0_CODE).misses, 1);
	assert_int_equal(l0_of(0, L0_DATA).misses, 1);
	assert_int_equal(l0_of(1, L0_DATA).misses, 1);
	assert_int_equal(l1_of_line(BASE).misses, 1);
	assert_int_equal(l1_of_line(BASE).hits, 3);
	assert_int_equal(lines.count, 1);
}

/* The first line is replaced first, although it was used last. */
static void an_l0_replaces_in_the_order_of_fills(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 4; i++)
		load(0, BASE + i * LINE, 4);
	load(0, BASE, 4);
	load(0, BASE + 4 * LINE, 4);
	assert_int_equal(l0_of(0, L0_DATA).hits, 1);
	load(0, BASE + LINE, 4);
	assert_int_equal(l0_of(0, L0_DATA).hits, 2);
	load(0, BASE, 4);
	assert_int_equal(l0_of(0, L0_DATA).hits, 2);
}

static void consecutive_lines_are_in_different_banks(void **state)
{
	(void)state;
	assert_int_equal(mcu_banks(mcu), 2);
	load(0, BASE, 2 * LINE);
	assert_int_equal(lines_of(mcu_l1(mcu, 0)).requests, 1);
	assert_int_equal(lines_of(mcu_l1(mcu, 1)).requests, 1);
}

/* Of the segments that were written, for the one that wrote last. */
static void a_replaced_line_is_written_back(void **state)
{
	u32 i;

	(void)state;
	store(0, BASE + 64, 4);
	mcu_flush(mcu, 0);
	store(1, BASE + 68, 4);
	mcu_flush(mcu, 1);
	assert_int_equal(lines.count, 1);
	/* Lines of the set: 2 banks of 2 sets. */
	for (i = 1; i <= 4; i++)
		load(0, BASE + 4 * i * LINE, 4);
	assert_int_equal(lines.count, 6);
	lines_check(&lines, 4, LEVEL_WRITE, BASE + 64, 64);
	assert_int_equal(lines.request[4].client, PUMICE_MEM_CLIENT_USC_STORE);
	assert_int_equal(lines.request[4].usc, 1);
	lines_check(&lines, 5, LEVEL_READ, BASE + 16 * LINE, LINE);
}

static void an_atomic_operation_drops_the_line(void **state)
{
	(void)state;
	load(0, BASE, 4);
	request(0, PUMICE_MEM_CLIENT_USC_CODE, BASE, 4);
	store(0, BASE, 4);
	request(0, PUMICE_MEM_CLIENT_USC_ATOMIC, BASE + 8, 4);
	assert_int_equal(lines.count, 3);
	lines_check(&lines, 1, LEVEL_WRITE, BASE, 64);
	lines_check(&lines, 2, LEVEL_ATOMIC, BASE + 8, 4);
	assert_false(cache_find(level_cache(mcu_l0(mcu, 0, L0_DATA)), 1, BASE, NULL));
	assert_false(cache_find(level_cache(mcu_l0(mcu, 0, L0_CODE)), 1, BASE, NULL));
	assert_false(cache_find(level_cache(mcu_l1(mcu, 0)), 1, BASE, NULL));
}

static void cleaning_writes_and_invalidating_loses_dirty_lines(void **state)
{
	const struct cache_range all = cache_range_all(CACHE_ANY_CTX);
	struct level_swept sum = { 0 };

	(void)state;
	store(0, BASE, LINE);
	mcu_flush(mcu, MCU_ALL_USCS);
	mcu_clean(mcu, &all, &sum);
	assert_int_equal(sum.lines, 1);
	assert_int_equal(sum.written_bytes, LINE);
	lines_check(&lines, 0, LEVEL_WRITE, BASE, LINE);
	store(0, BASE, 4);
	mcu_flush(mcu, MCU_ALL_USCS);
	mcu_invalidate_l1(mcu, &all, &sum);
	assert_int_equal(sum.lines, 2);
	assert_int_equal(sum.lost_bytes, 64);
	load(0, BASE, 4);
	mcu_invalidate_l0(mcu, 1, &all, &sum);
	load(0, BASE, 4);
	assert_int_equal(l0_of(0, L0_DATA).hits, 1);
	mcu_invalidate_l0(mcu, 0, &all, &sum);
	load(0, BASE, 4);
	assert_int_equal(l0_of(0, L0_DATA).hits, 1);
}

/* Each bank has whole sets: an L1 of one set has one bank, whatever the number of USCs is. */
static void banks_are_no_more_than_sets(void **state)
{
	struct mcu_config c = {
		.uscs = MCU_MAX_USCS, .l0_bytes = 4 * LINE, .l1_ways = 4, .line_bytes = LINE,
		.segment_bytes = 64, .next = lines_take, .opaque = &lines,
	};
	const char *error;
	struct mcu *small;
	u32 sets;

	(void)state;
	for (sets = 1; sets <= 8; sets *= 2) {
		c.l1_bytes = sets * c.l1_ways * LINE;
		assert_null(mcu_check(&c));
		small = mcu_create(&c, &error);
		assert_non_null(small);
		assert_int_equal(mcu_banks(small), sets < MCU_MAX_USCS ? sets : MCU_MAX_USCS);
		mcu_destroy(small);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, create, destroy)
	const struct CMUnitTest tests[] = {
		TEST(sixteen_threads_in_a_line_are_one_miss),
		TEST(a_burst_is_split_into_lines),
		TEST(writes_of_a_line_are_one_write_of_it),
		TEST(a_part_of_a_line_reads_its_rest),
		TEST(bytes_apart_are_one_write),
		TEST(another_line_and_a_read_pass_the_open_line_on),
		TEST(partitions_and_uscs_share_the_l1_only),
		TEST(an_l0_replaces_in_the_order_of_fills),
		TEST(consecutive_lines_are_in_different_banks),
		TEST(a_replaced_line_is_written_back),
		TEST(an_atomic_operation_drops_the_line),
		TEST(cleaning_writes_and_invalidating_loses_dirty_lines),
		TEST(banks_are_no_more_than_sets),
	};

	return cmocka_run_group_tests_name("mcu", tests, NULL, NULL);
}
