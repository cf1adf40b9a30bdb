// SPDX-License-Identifier: MIT
/*
 * Rules of the tag store, one by one: sizes, segments, order of replacement, ranges.
 */
#include "../support/cmocka_all.h"

#include <string.h>

#include "cache/cache.h"

/* Two sets of two ways. */
static const struct cache_config small = {
	.bytes = 512, .ways = 2, .line_bytes = 128, .segment_bytes = 64,
};

static struct cache *create(const struct cache_config *config)
{
	const char *error;
	struct cache *cache = cache_create(config, &error);

	assert_non_null(cache);
	return cache;
}

static struct cache_result access_line(struct cache *cache, u32 ctx, u64 addr, u32 bytes,
				       enum cache_kind kind)
{
	const struct cache_access access = {
		.addr = addr, .ctx = ctx, .bytes = bytes, .kind = kind, .allocate = true,
	};
	struct cache_result result;

	cache_access(cache, &access, &result);
	return result;
}

static bool hits(struct cache *cache, u64 addr)
{
	return access_line(cache, 1, addr, 4, CACHE_READ).hit;
}

/* Document 000, "System Memory Access". */
static void sixteen_threads_in_a_line_are_one_miss_and_fifteen_hits(void **state)
{
	struct cache *cache = create(&small);
	u32 thread;

	(void)state;
	for (thread = 0; thread < 16; thread++)
		access_line(cache, 1, 0x10000 + thread * 8, 8, CACHE_READ);
	assert_int_equal(cache_counters(cache)->misses, 1);
	assert_int_equal(cache_counters(cache)->hits, 15);
	cache_destroy(cache);
}

static void segments_are_those_of_the_bytes(void **state)
{
	static const struct cache_config config[] = {
		{ .bytes = 512, .ways = 1, .line_bytes = 128, .segment_bytes = 64 },
		{ .bytes = 512, .ways = 1, .line_bytes = 32, .segment_bytes = 32 },
		{ .bytes = 512, .ways = 1, .line_bytes = 512, .segment_bytes = 16 },
	};
	u32 i, addr, bytes, byte;

	(void)state;
	for (i = 0; i < sizeof(config) / sizeof(config[0]); i++) {
		struct cache *cache = create(&config[i]);
		u32 line = config[i].line_bytes, segment = config[i].segment_bytes;

		for (addr = 0; addr < line; addr++) {
			for (bytes = 1; bytes <= line + 1; bytes++) {
				u32 end = addr + bytes < line ? addr + bytes : line;
				u32 touched = 0, covered = 0;

				for (byte = addr; byte < end; byte++)
					touched |= 1u << byte / segment;
				for (byte = 0; byte < line; byte += segment) {
					if (byte >= addr && byte + segment <= end)
						covered |= 1u << byte / segment;
				}
				assert_int_equal(cache_segments(cache, 4096 + addr, bytes),
						 touched);
				assert_int_equal(cache_segments_covered(cache, 4096 + addr, bytes),
						 covered);
			}
		}
		cache_destroy(cache);
	}
}

static void tree_replaces_the_way_that_was_not_used_last(void **state)
{
	struct cache *cache = create(&small);

	(void)state;
	/* One set: lines at a distance of 256 bytes. */
	assert_false(hits(cache, 0));
	assert_false(hits(cache, 256));
	assert_true(hits(cache, 0));
	assert_false(hits(cache, 512));
	assert_true(hits(cache, 0));
	assert_false(hits(cache, 256));
	cache_destroy(cache);
}

static void fifo_replaces_the_first_line_although_it_was_used_last(void **state)
{
	struct cache_config config = small;
	struct cache *cache;

	(void)state;
	config.order = CACHE_FIFO;
	cache = create(&config);
	assert_false(hits(cache, 0));
	assert_false(hits(cache, 256));
	assert_true(hits(cache, 0));
	assert_false(hits(cache, 512));
	assert_true(hits(cache, 256));
	assert_false(hits(cache, 0));
	cache_destroy(cache);
}

static void evicted_line_has_the_written_segments(void **state)
{
	struct cache *cache = create(&small);
	struct cache_result result;

	(void)state;
	access_line(cache, 1, 0, 128, CACHE_READ);
	access_line(cache, 1, 64, 4, CACHE_WRITE);
	access_line(cache, 1, 256, 128, CACHE_UPDATE);
	result = access_line(cache, 1, 512, 4, CACHE_READ);
	assert_true(result.evicted);
	assert_int_equal(result.victim.addr, 0);
	assert_int_equal(result.victim.dirty, 2);
	assert_int_equal(result.victim.entry, result.entry);
	/* A write-through write leaves the line clean. */
	result = access_line(cache, 1, 768, 4, CACHE_READ);
	assert_true(result.evicted);
	assert_int_equal(result.victim.addr, 256);
	assert_int_equal(result.victim.dirty, 0);
	cache_destroy(cache);
}

static void miss_without_allocation_changes_nothing(void **state)
{
	struct cache *cache = create(&small);
	const struct cache_access access = { .addr = 0, .ctx = 1, .bytes = 4, .kind = CACHE_WRITE };
	struct cache_result result;

	(void)state;
	cache_access(cache, &access, &result);
	assert_false(result.hit || result.filled || result.evicted);
	assert_false(cache_find(cache, 1, 0, NULL));
	cache_destroy(cache);
}

static void contexts_have_lines_of_their_own(void **state)
{
	struct cache *cache = create(&(struct cache_config){
		.bytes = 8192, .ways = 64, .line_bytes = 128, .segment_bytes = 64 });
	u32 ctx;

	(void)state;
	for (ctx = 0; ctx <= 32; ctx++)
		assert_false(access_line(cache, ctx, 0xfffffff000, 4, CACHE_READ).hit);
	for (ctx = 0; ctx <= 32; ctx++)
		assert_true(access_line(cache, ctx, 0xfffffff07c, 4, CACHE_READ).hit);
	cache_destroy(cache);
}

/* Lines 0, 128, 256 and 384 of context 1, and the first of context 2. */
static struct cache *filled(void)
{
	struct cache *cache = create(&(struct cache_config){
		.bytes = 2048, .ways = 4, .line_bytes = 128, .segment_bytes = 64 });
	u64 addr;

	for (addr = 0; addr < 512; addr += 128)
		access_line(cache, 1, addr, 128, CACHE_WRITE);
	access_line(cache, 2, 0, 128, CACHE_WRITE);
	return cache;
}

static void range_includes_the_lines_of_its_two_ends_only(void **state)
{
	static const struct {
		struct cache_range range;
		u32 lines;	/* bit n: line n of context 1; bit 4: that of context 2 */
	} cases[] = {
		{ { 1, 128, 255 }, 0x2 },
		{ { 1, 255, 256 }, 0x6 },
		{ { 1, 127, 127 }, 0x1 },
		{ { 1, 128, 128 }, 0x2 },
		{ { 1, 512, ~0ull }, 0 },
		{ { 2, 0, ~0ull }, 0x10 },
		{ { 3, 0, ~0ull }, 0 },
		{ { CACHE_ANY_CTX, 0, 0 }, 0x11 },
		{ { CACHE_ANY_CTX, 0, ~0ull }, 0x1f },
	};
	u32 i, line;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cache *cache = filled();
		u32 count = (u32)__builtin_popcount(cases[i].lines);

		assert_int_equal(cache_clean(cache, &cases[i].range, NULL, NULL), count);
		assert_int_equal(cache_counters(cache)->written_segments, 2 * count);
		for (line = 0; line < 5; line++) {
			struct cache_line found;

			assert_true(cache_find(cache, line < 4 ? 1 : 2, line % 4 * 128, &found));
			assert_int_equal(found.dirty, cases[i].lines >> line & 1 ? 0 : 3);
		}
		assert_int_equal(cache_clean(cache, &cases[i].range, NULL, NULL), 0);
		assert_int_equal(cache_invalidate(cache, &cases[i].range, NULL, NULL), count);
		for (line = 0; line < 5; line++)
			assert_int_equal(cache_find(cache, line < 4 ? 1 : 2, line % 4 * 128, NULL),
					 !(cases[i].lines >> line & 1));
		cache_destroy(cache);
	}
}

/* The entries that an operation visits are its cost. */
static u64 visited(struct cache *cache, u32 ctx, u64 first, u64 last, bool clean)
{
	const struct cache_range range = { ctx, first, last };
	const u64 before = cache_visited(cache);

	if (clean)
		cache_clean(cache, &range, NULL, NULL);
	else
		cache_invalidate(cache, &range, NULL, NULL);
	return cache_visited(cache) - before;
}

/* A loop of operations costs nothing after the first one. */
static void operations_on_contexts_without_lines_visit_nothing(void **state)
{
	struct cache *cache = create(&(struct cache_config){
		.bytes = 64 << 10, .ways = 4, .line_bytes = 128, .segment_bytes = 64 });

	(void)state;
	assert_int_equal(visited(cache, CACHE_ANY_CTX, 0, ~0ull, false), 0);
	access_line(cache, 1, 0x1000, 4, CACHE_READ);
	access_line(cache, 2, 0x1000, 4, CACHE_WRITE);
	assert_int_equal(visited(cache, 3, 0, ~0ull, false), 0);
	assert_int_equal(visited(cache, 1, 0, ~0ull, true), 0);
	assert_in_range(visited(cache, 2, 0, ~0ull, true), 1, 512);
	assert_int_equal(visited(cache, 2, 0, ~0ull, true), 0);
	assert_int_equal(visited(cache, CACHE_ANY_CTX, 0, ~0ull, true), 0);
	assert_in_range(visited(cache, 2, 0, ~0ull, false), 1, 512);
	assert_int_equal(visited(cache, 2, 0, ~0ull, false), 0);
	assert_in_range(visited(cache, CACHE_ANY_CTX, 0, ~0ull, false), 1, 512);
	assert_int_equal(visited(cache, CACHE_ANY_CTX, 0, ~0ull, false), 0);
	cache_destroy(cache);
}

/* 128 sets of 4 ways; a bank of 4 has each fourth line. */
static void operations_visit_the_sets_of_their_range_only(void **state)
{
	static const struct {
		u32 skip_bits;
		u64 first, last;
		u32 entries;
	} cases[] = {
		{ 0, 0x1000, 0x1003, 4 }, { 0, 0x107f, 0x1080, 8 },
		{ 0, 127 * 128, 128 * 128, 8 },	/* the last set and the first one */
		{ 0, 0, 126 * 128 - 1, 504 },
		{ 2, 0x1000, 0x1003, 4 }, { 2, 0x1000, 0x11ff, 4 }, { 2, 0x1180, 0x1200, 8 },
	};
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cache *cache = create(&(struct cache_config){
			.bytes = 64 << 10, .ways = 4, .line_bytes = 128, .segment_bytes = 64,
			.skip_bits = cases[i].skip_bits });

		/* A line that is not in the range, so that the operation looks for it. */
		access_line(cache, 1, 0x3000000 + 126 * 128, 4, CACHE_WRITE);
		assert_int_equal(visited(cache, 1, cases[i].first, cases[i].last, true),
				 cases[i].entries);
		cache_destroy(cache);
	}
}

static void reset_restores_the_first_state(void **state)
{
	struct cache *cache = filled();
	const struct cache_range all = cache_range_all(CACHE_ANY_CTX);
	static const struct cache_counters none;

	(void)state;
	cache_reset(cache);
	assert_memory_equal(cache_counters(cache), &none, sizeof(none));
	assert_int_equal(cache_invalidate(cache, &all, NULL, NULL), 0);
	assert_int_equal(cache_visited(cache), 0);
	assert_int_equal(access_line(cache, 1, 0, 4, CACHE_READ).entry, 0);
	cache_destroy(cache);
}

static void sizes_that_no_cache_can_have_are_refused(void **state)
{
	static const struct {
		struct cache_config config;
		const char *error;
	} cases[] = {
		{ { .bytes = 0, .ways = 1, .line_bytes = 32, .segment_bytes = 32 },
		  "bytes of a cache must be a power of two, at most 64 MiB" },
		{ { .bytes = 768, .ways = 1, .line_bytes = 32, .segment_bytes = 32 },
		  "bytes of a cache must be a power of two, at most 64 MiB" },
		{ { .bytes = 128u << 20, .ways = 1, .line_bytes = 32, .segment_bytes = 32 },
		  "bytes of a cache must be a power of two, at most 64 MiB" },
		{ { .bytes = 512, .ways = 1, .line_bytes = 0, .segment_bytes = 32 },
		  "bytes of a line must be a power of two from 16 to 1024" },
		{ { .bytes = 512, .ways = 1, .line_bytes = 48, .segment_bytes = 16 },
		  "bytes of a line must be a power of two from 16 to 1024" },
		{ { .bytes = 512, .ways = 1, .line_bytes = 8, .segment_bytes = 8 },
		  "bytes of a line must be a power of two from 16 to 1024" },
		{ { .bytes = 4096, .ways = 1, .line_bytes = 2048, .segment_bytes = 64 },
		  "bytes of a line must be a power of two from 16 to 1024" },
		{ { .bytes = 64, .ways = 1, .line_bytes = 128, .segment_bytes = 64 },
		  "a line must not be larger than its cache" },
		{ { .bytes = 512, .ways = 1, .line_bytes = 32, .segment_bytes = 0 },
		  "a segment must be a power of two from 1/32 of a line to a line" },
		{ { .bytes = 512, .ways = 1, .line_bytes = 32, .segment_bytes = 24 },
		  "a segment must be a power of two from 1/32 of a line to a line" },
		{ { .bytes = 512, .ways = 1, .line_bytes = 32, .segment_bytes = 64 },
		  "a segment must be a power of two from 1/32 of a line to a line" },
		{ { .bytes = 512, .ways = 1, .line_bytes = 128, .segment_bytes = 2 },
		  "a segment must be a power of two from 1/32 of a line to a line" },
		{ { .bytes = 512, .ways = 0, .line_bytes = 32, .segment_bytes = 32 },
		  "ways of a cache must be a power of two, at most 64" },
		{ { .bytes = 512, .ways = 3, .line_bytes = 32, .segment_bytes = 32 },
		  "ways of a cache must be a power of two, at most 64" },
		{ { .bytes = 8192, .ways = 128, .line_bytes = 32, .segment_bytes = 32 },
		  "ways of a cache must be a power of two, at most 64" },
		{ { .bytes = 512, .ways = 32, .line_bytes = 32, .segment_bytes = 32 },
		  "a cache must not have more ways than lines" },
		{ { .bytes = 512, .ways = 1, .line_bytes = 32, .segment_bytes = 32,
		    .skip_bits = 56 },
		  "a cache must not skip all bits of an address" },
		{ { .bytes = 512, .ways = 1, .line_bytes = 32, .segment_bytes = 32,
		    .order = (enum cache_order)2 },
		  "order of a cache must be that of a tree or FIFO" },
	};
	const char *error;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_null(cache_create(&cases[i].config, &error));
		assert_string_equal(error, cases[i].error);
		assert_string_equal(cache_check(&cases[i].config), cases[i].error);
	}
	cache_destroy(NULL);
}

static void largest_sizes_are_permitted(void **state)
{
	struct cache *cache = create(&(struct cache_config){
		.bytes = CACHE_MAX_BYTES, .ways = 64, .line_bytes = 16, .segment_bytes = 16 });

	(void)state;
	assert_int_equal(cache_lines(cache), 1u << 22);
	assert_false(hits(cache, (1ull << CACHE_ADDR_BITS) - 1));
	assert_true(hits(cache, (1ull << CACHE_ADDR_BITS) - 16));
	cache_destroy(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sixteen_threads_in_a_line_are_one_miss_and_fifteen_hits),
		cmocka_unit_test(segments_are_those_of_the_bytes),
		cmocka_unit_test(tree_replaces_the_way_that_was_not_used_last),
		cmocka_unit_test(fifo_replaces_the_first_line_although_it_was_used_last),
		cmocka_unit_test(evicted_line_has_the_written_segments),
		cmocka_unit_test(miss_without_allocation_changes_nothing),
		cmocka_unit_test(contexts_have_lines_of_their_own),
		cmocka_unit_test(range_includes_the_lines_of_its_two_ends_only),
		cmocka_unit_test(operations_on_contexts_without_lines_visit_nothing),
		cmocka_unit_test(operations_visit_the_sets_of_their_range_only),
		cmocka_unit_test(reset_restores_the_first_state),
		cmocka_unit_test(sizes_that_no_cache_can_have_are_refused),
		cmocka_unit_test(largest_sizes_are_permitted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
