// SPDX-License-Identifier: MIT
/* Atomic operations of all cores on the same few words: no result is lost or repeated. */
#include "path.h"

#include <stdlib.h>

#include "atomics_128.pasm.h"
#include "atomics_32.pasm.h"
#include "atomics_64.pasm.h"

#define N	65536u	/* instances, at most */
#define N_STRICT 2048u	/* in mode strict: each access is compared with others */

/* The presets have room for two waves at least. */
static const struct path_sized programs[] = {
	PATH_SIZED(atomics, 128), PATH_SIZED(atomics, 64), PATH_SIZED(atomics, 32),
};

/* Words that atomics.pasm accesses, in this order. */
enum { COUNT, DOWN, MIN, MAX, AND, OR, XOR, XCHG, FLOAT, MIN_SIGNED, MAX_UNSIGNED, CMPXCHG,
       LOCAL, LOCAL_MOST, WORDS };

#define TICKETS		64u
#define EXCHANGED	(TICKETS + N)

static uint32_t instances = N;

static void set_up(uint32_t *w)
{
	memset(w, 0, WORDS * sizeof(*w));
	w[MIN] = UINT32_MAX;
	w[MAX] = 0x80000000u;
	w[AND] = UINT32_MAX;
	memset(w + TICKETS, 0xff, 2 * N * sizeof(*w));
}

static void check_words(const uint32_t *w, uint32_t group)
{
	uint32_t all = 0, i;
	float sum;

	for (i = 0; i < instances; i++)
		all ^= i * 0x9e3779b1u;
	memcpy(&sum, &w[FLOAT], sizeof(sum));
	assert_int_equal(w[COUNT], instances);
	assert_int_equal(w[DOWN], -instances);
	assert_int_equal(w[MIN], 5);
	assert_int_equal((int32_t)w[MAX], (int32_t)instances - 101);
	assert_int_equal(w[AND], 0);
	assert_int_equal(w[OR], UINT32_MAX);
	assert_int_equal(w[XOR], all);
	assert_true(sum == (float)instances);
	assert_int_equal((int32_t)w[MIN_SIGNED], -3);
	assert_int_equal(w[MAX_UNSIGNED], instances - 1);
	assert_int_equal(w[CMPXCHG], instances / 4);
	assert_int_equal(w[LOCAL], instances);
	assert_int_equal(w[LOCAL_MOST], instances / group * (group - 1));
}

/* Each of 0 to count - 1 occurs once; one of them may be stored elsewhere. */
static void check_each_once(const uint32_t *list, uint32_t apart, uint32_t count)
{
	char *seen = calloc(count, 1);
	uint32_t i;

	assert_non_null(seen);
	for (i = 0; i < count; i++) {
		uint32_t value = i < instances ? list[i] : apart;

		assert_true(value < count);
		assert_int_equal(seen[value]++, 0);
	}
	free(seen);
}

static void check_contention_of(struct path *p, const struct path_sized *program)
{
	const uint32_t uniforms[6] = {
		VA_WORDS(p->out_va), VA_WORDS(p->out_va + TICKETS * 4),
		VA_WORDS(p->out_va + EXCHANGED * 4),
	};
	struct pumice_kernel *k = path_kernel(p, program->file, program->bytes);
	const uint32_t groups = instances / program->group;

	set_up(p->out_cpu);
	if (path_dispatch_if_it_fits(p, k, program->group, groups, uniforms, 6)) {
		check_words(p->out_cpu, program->group);
		check_each_once(p->out_cpu + TICKETS, 0, instances);
		/* Every value except the last was exchanged for another, as was the initial 0. */
		check_each_once(p->out_cpu + EXCHANGED, p->out_cpu[XCHG], instances + 1);
	}
	pumice_kernel_destroy(k);
}

static void check_contention(struct path *p)
{
	size_t i;

	for (i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		check_contention_of(p, &programs[i]);
}

static void atomics_of_all_cores_on_one_word_are_all_applied(void **state)
{
	const char *mode = getenv("PUMICE_MODE");
	unsigned int threads;

	(void)state;
	if (mode && !strcmp(mode, "strict"))
		instances = N_STRICT;
	for (threads = 2 * FIRST_THREADS; threads <= 4; threads += FIRST_THREADS + 1)
		path_one(16, threads, check_contention);
	path_one(1, 2, check_contention);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(atomics_of_all_cores_on_one_word_are_all_applied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
