// SPDX-License-Identifier: MIT
/* Results: correct, and bit-identical on any number of cores and threads. */
#include "path.h"

#include <stdlib.h>

#include "add.pasm.h"
#include "copies_160.pasm.h"
#include "copies_32.pasm.h"
#include "copies_64.pasm.h"
#include "mix_32.pasm.h"
#include "mix_64.pasm.h"
#include "mix_96.pasm.h"
#include "store.pasm.h"

#define GROUPS	40u
#define ROUNDS	25u
#define LANES	32u
#define SIZES	3u
#define GROUP	96u	/* instances of a group of mix.pasm, at most */

/* The presets have room for two waves at least. */
static const struct path_sized mix[SIZES] = {
	PATH_SIZED(mix, 96), PATH_SIZED(mix, 64), PATH_SIZED(mix, 32),
};

static const struct path_sized copies[SIZES] = {
	PATH_SIZED(copies, 160), PATH_SIZED(copies, 64), PATH_SIZED(copies, 32),
};

static void check_job(struct path *p)
{
	path_assert_works(p, p->context);
}

static void job_writes_its_results(void **state)
{
	(void)state;
	path_each(check_job);
}

/* The computation of mix.pasm for one group, in plain C. */
static float reduce_wave(const float *v)
{
	float chunk[4];
	int c;

	for (c = 0; c < 4; c++, v += 8)
		chunk[c] = ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
	return (chunk[0] + chunk[1]) + (chunk[2] + chunk[3]);
}

/* Of group @group, of @size instances. */
static void mix_group(uint32_t group, uint32_t size, float seed, float *value)
{
	float part[GROUP], shuffled[GROUP], sum;
	uint32_t round, i, wave;

	for (i = 0; i < size; i++)
		value[i] = (float)(group * size + i) * seed;
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < size; i++)
			part[i] = value[(i + 21) % size] * 0.3f;
		for (i = 0; i < size; i++)
			value[i] = value[i] + part[i];
		for (i = 0; i < size; i++)
			shuffled[i] = value[i / LANES * LANES + (i + 5) % LANES];
		for (wave = 0; wave < size / LANES; wave++) {
			sum = reduce_wave(value + wave * LANES) * 0.01f;
			for (i = wave * LANES; i < (wave + 1) * LANES; i++)
				if (i & 1)
					value[i] = shuffled[i] + sum;
		}
		for (i = 0; i < size; i++)
			value[i] = value[i] * 0.5f;
	}
}

static void check_mix_of(struct path *p, const struct path_sized *program)
{
	const float seed = 1.7f;
	uint32_t uniforms[4] = { VA_WORDS(p->out_va), ROUNDS }, group;
	struct pumice_kernel *k = path_kernel(p, program->file, program->bytes);
	float expect[GROUP];
	bool ran;

	memcpy(&uniforms[3], &seed, 4);
	/* A compute unit of "waves" has two (document 002, "Our own architecture"), not three. */
	ran = path_dispatch_if_it_fits(p, k, program->group, GROUPS, uniforms, 4);
	for (group = 0; ran && group < GROUPS; group++) {
		mix_group(group, program->group, seed, expect);
		assert_memory_equal(p->out_cpu + group * program->group, expect,
				    program->group * sizeof(expect[0]));
	}
	pumice_kernel_destroy(k);
}

static void check_mix(struct path *p)
{
	uint32_t i;

	for (i = 0; i < SIZES; i++)
		check_mix_of(p, &mix[i]);
}

static void results_are_the_same_bits_for_any_cores_and_threads(void **state)
{
	(void)state;
	path_each(check_mix);
}

static void check_fence(struct path *p)
{
	struct pumice_kernel *store = path_kernel(p, store_program, sizeof(store_program));
	struct pumice_kernel *add = path_kernel(p, add_program, sizeof(add_program));
	const uint64_t second = p->out_va + p->out_bytes / 2;
	const uint32_t first[3] = { VA_WORDS(p->out_va), 7 };
	const uint32_t there[5] = { VA_WORDS(p->out_va), VA_WORDS(second), 100 };
	const uint32_t back[5] = { VA_WORDS(second), VA_WORDS(p->out_va), 1000 };
	uint32_t i;

	path_dispatch(p, store, 100, first, 3);
	assert_int_equal(pumice_stream_fence(p->stream), 0);
	path_dispatch(p, add, 100, there, 5);
	assert_int_equal(pumice_stream_fence(p->stream), 0);
	path_dispatch(p, add, 100, back, 5);
	assert_int_equal(path_run(p, NULL), 0);
	for (i = 0; i < 6400; i++)
		assert_int_equal(p->out_cpu[i], 1107 + i);
	pumice_kernel_destroy(add);
	pumice_kernel_destroy(store);
}

static void launches_after_a_fence_read_the_stores_before_it(void **state)
{
	(void)state;
	path_each(check_fence);
}

static void check_copies_of(struct path *p, const struct path_sized *program)
{
	const uint32_t copied = program->group, input = GROUPS * 2 * copied;
	const uint64_t from = p->out_va + input * sizeof(uint32_t);
	const uint32_t uniforms[4] = { VA_WORDS(from), VA_WORDS(p->out_va) };
	struct pumice_kernel *k = path_kernel(p, program->file, program->bytes);
	uint32_t group, i;
	bool ran;

	assert_true(p->out_va >> 32 == (p->out_va + p->out_bytes) >> 32);
	for (i = 0; i < GROUPS * copied; i++)
		p->out_cpu[input + i] = i * 0x9e3779b1u;
	ran = path_dispatch_if_it_fits(p, k, copied, GROUPS, uniforms, 4);
	for (group = 0; ran && group < GROUPS; group++) {
		const uint32_t *in = p->out_cpu + input + group * copied;
		const uint32_t *out = p->out_cpu + group * 2 * copied;

		for (i = 0; i < copied; i++) {
			assert_int_equal(out[i], 3 * in[i] + in[copied - 1 - i]);
			assert_int_equal(out[copied + i], in[i < 16 ? 16 + i : i]);
		}
	}
	pumice_kernel_destroy(k);
}

static void check_copies(struct path *p)
{
	uint32_t i;

	for (i = 0; i < SIZES; i++)
		check_copies_of(p, &copies[i]);
}

static void work_groups_copy_between_memory_and_both_stores(void **state)
{
	(void)state;
	path_each(check_copies);
}

static void check_sizes(struct path *p)
{
	check_fence(p);
	check_mix(p);
	check_copies(p);
	check_fence(p);
}

static void results_are_right_under_each_preset(void **state)
{
	(void)state;
	path_each_preset(check_sizes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(job_writes_its_results),
		cmocka_unit_test(results_are_the_same_bits_for_any_cores_and_threads),
		cmocka_unit_test(work_groups_copy_between_memory_and_both_stores),
		cmocka_unit_test(launches_after_a_fence_read_the_stores_before_it),
		cmocka_unit_test(results_are_right_under_each_preset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
