// SPDX-License-Identifier: MIT
/* Caches of the texture cache units of a core, with a next level that records requests. */
#include "../support/lines.h"

#include "../../../qemu-device/gpu/tcu/cache.h"
#include "surface.h"

#define SIZE	128u	/* texels of a side, of 4 bytes */
#define BLOCK	8u	/* of texels that are read together */

static struct lines lines;

static struct tcu_caches *create(bool halves)
{
	const struct tcu_config config = {
		.uscs = 4, .halves = halves, .first_bytes = 512, .second_bytes = 8192, .ways = 4,
		.line_bytes = 32, .segment_bytes = 32, .next = lines_take, .opaque = &lines,
	};
	const char *error;
	struct tcu_caches *tcu = tcu_caches_create(&config, &error);

	assert_non_null(tcu);
	lines.count = 0;
	return tcu;
}

static void read_texel(struct tcu_caches *tcu, u32 usc, u64 addr)
{
	const struct mem_request r = {
		.client = PUMICE_MEM_CLIENT_TEXTURE, .ctx = 1, .addr = addr, .bytes = 4,
	};

	tcu_caches_read(tcu, usc, &r);
}

static void first_caches_are_those_of_uscs_or_halves(void **state)
{
	static const u32 misses[] = { 4, 2 };
	u32 halves, usc, i;

	(void)state;
	for (halves = 0; halves < 2; halves++) {
		struct tcu_caches *tcu = create(halves);
		u64 sum = 0;

		for (usc = 0; usc < 4; usc++)
			read_texel(tcu, usc, 64);
		assert_int_equal(tcu_caches_count(tcu), misses[halves]);
		for (i = 0; i < tcu_caches_count(tcu); i++)
			sum += lines_of(tcu_caches_first(tcu, i)).misses;
		assert_int_equal(sum, misses[halves]);
		assert_int_equal(lines_of(tcu_caches_second(tcu)).misses, 1);
		assert_int_equal(lines.count, 1);
		tcu_caches_destroy(tcu);
	}
}

/* Four lines of a set remain, and the one that was not used for longest is replaced. */
static void sets_have_four_ways(void **state)
{
	const u64 size = 512;	/* lines at this distance share a set, whatever the ways */
	struct tcu_caches *tcu = create(true);
	u32 i;

	(void)state;
	for (i = 0; i < 4; i++)
		read_texel(tcu, 0, i * size);
	for (i = 4; i--;)
		read_texel(tcu, 0, i * size);
	assert_int_equal(lines_of(tcu_caches_first(tcu, 0)).hits, 4);
	read_texel(tcu, 0, 4 * size);
	read_texel(tcu, 0, 0);
	assert_int_equal(lines_of(tcu_caches_first(tcu, 0)).hits, 5);
	read_texel(tcu, 0, 3 * size);
	assert_int_equal(lines_of(tcu_caches_first(tcu, 0)).hits, 5);
	tcu_caches_destroy(tcu);
}

/* Read a square texture block by block, each by columns; return the misses of the first cache. */
static u64 misses_of(u32 layout)
{
	const struct pumice_level level =
		pumice_plane(PUMICE_FORMAT_RGBA8_UNORM, layout, SIZE, SIZE, 4 * SIZE);
	struct tcu_caches *tcu = create(true);
	u32 x, y, i;
	u64 misses;

	for (y = 0; y < SIZE; y += BLOCK) {
		for (x = 0; x < SIZE; x += BLOCK) {
			for (i = 0; i < BLOCK * BLOCK; i++)
				read_texel(tcu, 0, pumice_level_offset(&level, 0, x + i / BLOCK,
								       y + i % BLOCK));
		}
	}
	misses = lines_of(tcu_caches_first(tcu, 0)).misses;
	tcu_caches_destroy(tcu);
	return misses;
}

/* Columns first: in a linear texture each texel of a column is in another row's line. */
static void twiddled_textures_miss_less_than_linear_ones(void **state)
{
	u64 linear = misses_of(PUMICE_LAYOUT_LINEAR), twiddled = misses_of(PUMICE_LAYOUT_TWIDDLED);

	(void)state;
	print_message("misses: linear %llu, twiddled %llu\n", (unsigned long long)linear,
		      (unsigned long long)twiddled);
	assert_int_equal(twiddled, SIZE * SIZE * 4 / 32);
	assert_true(linear > 2 * twiddled);
}

static void a_first_cache_is_invalidated_alone(void **state)
{
	const struct cache_range all = cache_range_all(CACHE_ANY_CTX);
	struct tcu_caches *tcu = create(false);
	struct level_swept sum = { 0 };

	(void)state;
	read_texel(tcu, 0, 0);
	read_texel(tcu, 1, 0);
	tcu_caches_invalidate_first(tcu, 1, &all, &sum);
	assert_int_equal(sum.lines, 1);
	assert_true(cache_find(level_cache(tcu_caches_first(tcu, 0)), 1, 0, NULL));
	assert_true(cache_find(level_cache(tcu_caches_second(tcu)), 1, 0, NULL));
	tcu_caches_invalidate_second(tcu, &all, &sum);
	assert_false(cache_find(level_cache(tcu_caches_second(tcu)), 1, 0, NULL));
	tcu_caches_destroy(tcu);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_caches_are_those_of_uscs_or_halves),
		cmocka_unit_test(sets_have_four_ways),
		cmocka_unit_test(twiddled_textures_miss_less_than_linear_ones),
		cmocka_unit_test(a_first_cache_is_invalidated_alone),
	};

	return cmocka_run_group_tests_name("tcu", tests, NULL, NULL);
}
