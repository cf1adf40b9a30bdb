// SPDX-License-Identifier: MIT
/*
 * The tag store against the model, over random operations.
 */
#include "../support/cmocka_all.h"

#include <string.h>

#include "../support/number.h"
#include "model.h"

#define OPERATIONS	120000u
#define CONTEXTS	4u

struct fixture {
	struct cache *cache;
	struct model model;
	u64 random;
	/* For the functions that visit lines: the next way of the model, and the range. */
	u32 next;
	struct cache_range range;
	bool dirty_only;
};

static void fixture_create(struct fixture *fx, const struct cache_config *config)
{
	const char *error;

	memset(fx, 0, sizeof(*fx));
	fx->cache = cache_create(config, &error);
	assert_non_null(fx->cache);
	assert_null(error);
	model_create(&fx->model, config);
	fx->random = NUMBER_SEED;
}

static void fixture_destroy(struct fixture *fx)
{
	model_destroy(&fx->model);
	cache_destroy(fx->cache);
}

static void assert_line(const struct cache_line *line, const struct cache_line *expected)
{
	assert_int_equal(line->addr, expected->addr);
	assert_int_equal(line->ctx, expected->ctx);
	assert_int_equal(line->dirty, expected->dirty);
	assert_int_equal(line->entry, expected->entry);
}

/* Return an address of three times the lines of the cache, some at a distance. */
static u64 random_addr(struct fixture *fx)
{
	u64 addr = number_random(&fx->random, 3 * fx->model.config.bytes);

	return number_random(&fx->random, 8) ? addr : addr + (1ull << 39);
}

static u32 random_ctx(struct fixture *fx)
{
	/* The last one is that of bus addresses. */
	static const u32 ctx[CONTEXTS] = { 0, 1, 31, 32 };

	return ctx[number_random(&fx->random, CONTEXTS)];
}

static void access_both(struct fixture *fx)
{
	struct cache_access access = {
		.addr = random_addr(fx),
		.ctx = random_ctx(fx),
		.bytes = 1 + number_random(&fx->random, 2 * fx->model.config.line_bytes),
		.kind = (enum cache_kind)number_random(&fx->random, 3),
		.allocate = number_random(&fx->random, 8),
	};
	struct cache_result result, expected;

	cache_access(fx->cache, &access, &result);
	model_access(&fx->model, &access, &expected);
	assert_int_equal(result.hit, expected.hit);
	assert_int_equal(result.filled, expected.filled);
	assert_int_equal(result.evicted, expected.evicted);
	if (result.hit || result.filled)
		assert_int_equal(result.entry, expected.entry);
	if (result.evicted)
		assert_line(&result.victim, &expected.victim);
}

/* Perform an operation on one line in both. */
static void line_both(struct fixture *fx, u32 operation)
{
	u64 addr = random_addr(fx);
	u32 ctx = random_ctx(fx);
	struct model_way *way = model_find(&fx->model, ctx, addr), *next;
	struct cache_line line, expected = { .dirty = 0 };

	if (way)
		expected = model_line(&fx->model, way);
	switch (operation) {
	case 0:
		assert_int_equal(cache_clean_line(fx->cache, ctx, addr, &line),
				 way && expected.dirty);
		if (way && model_clean(&fx->model, way))
			assert_line(&line, &expected);
		break;
	case 1:
		assert_int_equal(cache_drop_line(fx->cache, ctx, addr, &line), way != NULL);
		if (way) {
			assert_line(&line, &expected);
			model_drop(&fx->model, way);
		}
		break;
	case 2:
		assert_int_equal(cache_find(fx->cache, ctx, addr, &line), way != NULL);
		assert_int_equal(cache_find(fx->cache, ctx, addr, NULL), way != NULL);
		if (way)
			assert_line(&line, &expected);
		break;
	default:
		next = model_next(&fx->model, addr);
		assert_int_equal(cache_victim(fx->cache, addr, &line), next->valid);
		if (next->valid) {
			expected = model_line(&fx->model, next);
			assert_line(&line, &expected);
		}
	}
}

static bool in_range(const struct fixture *fx, const struct model_way *way)
{
	u64 bytes = fx->model.config.line_bytes;

	if (!way->valid || (fx->range.ctx != CACHE_ANY_CTX && fx->range.ctx != way->ctx))
		return false;
	return way->number >= fx->range.first / bytes && way->number <= fx->range.last / bytes;
}

/* Move to the next line of the model that an operation applies to. Returns it, or NULL. */
static struct model_way *next_of_model(struct fixture *fx)
{
	u32 count = fx->model.sets * fx->model.config.ways;

	for (; fx->next < count; fx->next++) {
		struct model_way *way = &fx->model.way[fx->next];

		if (in_range(fx, way) && (!fx->dirty_only || model_line(&fx->model, way).dirty)) {
			fx->next++;
			return way;
		}
	}
	return NULL;
}

static void visit_same(void *opaque, const struct cache_line *line)
{
	struct fixture *fx = opaque;
	struct model_way *way = next_of_model(fx);
	struct cache_line expected;

	assert_non_null(way);
	expected = model_line(&fx->model, way);
	assert_line(line, &expected);
}

static void visit_cleaned(void *opaque, const struct cache_line *line)
{
	struct fixture *fx = opaque;

	visit_same(fx, line);
	model_clean(&fx->model, &fx->model.way[line->entry]);
}

static void visit_dropped(void *opaque, const struct cache_line *line)
{
	struct fixture *fx = opaque;

	visit_same(fx, line);
	model_drop(&fx->model, &fx->model.way[line->entry]);
}

static void sweep_both(struct fixture *fx)
{
	u64 first = random_addr(fx);

	fx->next = 0;
	fx->range = (struct cache_range){
		.ctx = number_random(&fx->random, 2) ? random_ctx(fx) : CACHE_ANY_CTX,
		.first = first,
		.last = first + number_random(&fx->random, fx->model.config.bytes / 2),
	};
	if (!number_random(&fx->random, 4))
		fx->range = cache_range_all(fx->range.ctx);
	switch (number_random(&fx->random, 4)) {
	case 0:
		fx->dirty_only = true;
		cache_clean(fx->cache, &fx->range, visit_cleaned, fx);
		break;
	case 1:
		fx->dirty_only = false;
		cache_invalidate(fx->cache, &fx->range, visit_dropped, fx);
		break;
	default:
		fx->dirty_only = false;
		cache_each(fx->cache, &fx->range, visit_same, fx);
	}
	assert_null(next_of_model(fx));
}

static void assert_same_counters(const struct fixture *fx)
{
	const struct cache_counters *counters = cache_counters(fx->cache);

	assert_memory_equal(counters, &fx->model.counters, sizeof(*counters));
	assert_int_equal(counters->hits + counters->misses, counters->requests);
}

static void run(const struct cache_config *config)
{
	struct fixture fx;
	u32 i, which;

	fixture_create(&fx, config);
	for (i = 0; i < OPERATIONS; i++) {
		which = number_random(&fx.random, 1000);
		if (which < 5)
			sweep_both(&fx);
		else if (which < 100)
			line_both(&fx, which % 4);
		else
			access_both(&fx);
		if (!(i % 1000))
			assert_same_counters(&fx);
	}
	assert_same_counters(&fx);
	/* The test is of something: each event occurred often. */
	assert_true(fx.model.counters.hits > OPERATIONS / 20);
	assert_true(fx.model.counters.written_segments > OPERATIONS / 20);
	assert_true(fx.model.counters.evictions > OPERATIONS / 20);
	fixture_destroy(&fx);
}

static void tree_of_16_ways_matches_a_model(void **state)
{
	(void)state;
	run(&(struct cache_config){ .bytes = 16384, .ways = 16, .line_bytes = 128,
				    .segment_bytes = 64, .skip_bits = 2 });
}

static void tree_of_4_ways_matches_a_model(void **state)
{
	(void)state;
	run(&(struct cache_config){ .bytes = 8192, .ways = 4, .line_bytes = 32,
				    .segment_bytes = 32 });
}

static void tree_of_64_ways_matches_a_model(void **state)
{
	(void)state;
	run(&(struct cache_config){ .bytes = 65536, .ways = 64, .line_bytes = 1024,
				    .segment_bytes = 32 });
}

static void fully_associative_store_matches_a_model(void **state)
{
	(void)state;
	run(&(struct cache_config){ .bytes = 512, .ways = 16, .line_bytes = 32,
				    .segment_bytes = 32 });
}

static void direct_mapped_store_matches_a_model(void **state)
{
	(void)state;
	run(&(struct cache_config){ .bytes = 1024, .ways = 1, .line_bytes = 64,
				    .segment_bytes = 16 });
}

static void fully_associative_fifo_matches_a_model(void **state)
{
	(void)state;
	run(&(struct cache_config){ .bytes = 4096, .ways = 32, .line_bytes = 128,
				    .segment_bytes = 64, .order = CACHE_FIFO });
}

static void fifo_of_sets_matches_a_model(void **state)
{
	(void)state;
	run(&(struct cache_config){ .bytes = 4096, .ways = 4, .line_bytes = 16,
				    .segment_bytes = 16, .order = CACHE_FIFO });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tree_of_16_ways_matches_a_model),
		cmocka_unit_test(tree_of_4_ways_matches_a_model),
		cmocka_unit_test(tree_of_64_ways_matches_a_model),
		cmocka_unit_test(fully_associative_store_matches_a_model),
		cmocka_unit_test(direct_mapped_store_matches_a_model),
		cmocka_unit_test(fully_associative_fifo_matches_a_model),
		cmocka_unit_test(fifo_of_sets_matches_a_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
