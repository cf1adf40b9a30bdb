// SPDX-License-Identifier: MIT
/*
 * The vertex cache against a model: for each set a list of its vertices, the last one used first.
 */
#include "../support/cmocka_all.h"

#include <string.h>

#include "../../../qemu-device/gpu/tsp/cache.h"
#include "../support/number.h"

#define FINDS	20000u
#define WAYS	4u
#define MAX_SETS	32u

struct key {
	u32 block, vertex, words;
};

static u64 seed = NUMBER_SEED;
static struct key list[MAX_SETS][WAYS];
static u32 length[MAX_SETS];

static bool same(struct key a, struct key b)
{
	return a.block == b.block && a.vertex == b.vertex && a.words == b.words;
}

/* Use a vertex in the model; return whether it was there. */
static bool model_find(struct key key, u32 sets)
{
	const u32 set = (key.block + key.vertex) % sets;
	u32 at;
	bool hit;

	for (at = 0; at < length[set] && !same(list[set][at], key); at++)
		;
	hit = at < length[set];
	if (!hit && length[set] < WAYS)
		length[set]++;
	if (at == WAYS)
		at--;
	memmove(&list[set][1], &list[set][0], at * sizeof(key));
	list[set][0] = key;
	return hit;
}

/* The outputs of a vertex. */
static float value_of(struct key key, u32 n)
{
	return (float)(key.block * 1000 + key.vertex * 10 + key.words) + (float)n / 128;
}

/* Vertices with few outputs, up to 16, have another place than those with more. */
static struct key random_key(void)
{
	static const u32 words[] = { 5, 5, 5, 16, 17, 64 };

	return (struct key){ 1 + number_random(&seed, 6) * 65, number_random(&seed, 20),
			     words[number_random(&seed, 6)] };
}

static void hits_are_those_of_the_model(void **state)
{
	u32 vertices, i, n;

	(void)state;
	for (vertices = 4; vertices <= MAX_SETS * WAYS; vertices *= 2) {
		u64 hits = 0, misses = 0;
		struct tsp_cache cache;

		assert_true(tsp_cache_init(&cache, vertices));
		memset(length, 0, sizeof(length));
		for (i = 0; i < FINDS; i++) {
			const struct key key = random_key();
			bool hit, want = model_find(key, vertices / WAYS);
			float *value = tsp_cache_find(&cache, key.block, key.vertex,
						      key.words, &hit);

			assert_int_equal(hit, want);
			for (n = 0; n < key.words; n++) {
				if (!hit)
					value[n] = value_of(key, n);
				assert_true(value[n] == value_of(key, n));
			}
			hits += want;
			misses += !want;
		}
		assert_int_equal(atomic_load(&cache.hits), hits);
		assert_int_equal(atomic_load(&cache.misses), misses);
		assert_true(hits && misses);
		tsp_cache_fini(&cache);
	}
}

static void vertices_of_another_job_are_dropped(void **state)
{
	struct tsp_cache cache;
	bool hit;

	(void)state;
	assert_true(tsp_cache_init(&cache, 16));
	tsp_cache_begin(&cache, 1);
	tsp_cache_find(&cache, 7, 2, 4, &hit);
	assert_false(hit);
	/* Each tile of the job begins. */
	tsp_cache_begin(&cache, 1);
	tsp_cache_find(&cache, 7, 2, 4, &hit);
	assert_true(hit);
	tsp_cache_begin(&cache, 2);
	tsp_cache_find(&cache, 7, 2, 4, &hit);
	assert_false(hit);
	tsp_cache_reset(&cache);
	assert_int_equal(atomic_load(&cache.hits) + atomic_load(&cache.misses), 0);
	tsp_cache_begin(&cache, 2);
	tsp_cache_find(&cache, 7, 2, 4, &hit);
	assert_false(hit);
	tsp_cache_fini(&cache);
}

static void no_vertex_remains_when_some_could_not_be_read(void **state)
{
	struct tsp_cache cache;
	bool hit;

	(void)state;
	assert_true(tsp_cache_init(&cache, 4));
	tsp_cache_find(&cache, 1, 0, 4, &hit);
	tsp_cache_find(&cache, 1, 1, 4, &hit);
	tsp_cache_empty(&cache);
	tsp_cache_find(&cache, 1, 0, 4, &hit);
	assert_false(hit);
	tsp_cache_find(&cache, 1, 1, 4, &hit);
	assert_false(hit);
	tsp_cache_fini(&cache);
}

/* A primitive has three vertices, which are all used after the last one was found. */
static void the_vertices_of_a_primitive_remain(void **state)
{
	float *value[3];
	struct tsp_cache cache;
	u32 i, round;
	bool hit;

	(void)state;
	assert_true(tsp_cache_init(&cache, 4));
	for (round = 0; round < 100; round++) {
		for (i = 0; i < 3; i++) {
			value[i] = tsp_cache_find(&cache, 1 + number_random(&seed, 4),
						  number_random(&seed, 4) * 4 + i, 1, &hit);
			value[i][0] = (float)i;
		}
		for (i = 0; i < 3; i++)
			assert_true(value[i][0] == (float)i);
	}
	tsp_cache_fini(&cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hits_are_those_of_the_model),
		cmocka_unit_test(vertices_of_another_job_are_dropped),
		cmocka_unit_test(no_vertex_remains_when_some_could_not_be_read),
		cmocka_unit_test(the_vertices_of_a_primitive_remain),
	};

	return cmocka_run_group_tests_name("tsp cache", tests, NULL, NULL);
}
