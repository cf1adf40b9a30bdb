// SPDX-License-Identifier: MIT
/* Halves of cores: which USCs share units, and threads that share a texture unit. */
#include "../support/cmocka_all.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "../../../qemu-device/gpu/half/half.h"
#include "../../../qemu-device/gpu/tag/state.h"
#include "../support/testmem.h"
#include "perf.h"
#include "pumice_info.h"

#define CTX	5u
#define VA	0x4000000ull
#define SIDE	64u
#define THREADS	4u
#define READS	2000u

struct fixture {
	struct testmem *tm;
	struct mmu mmu;
	struct halves *halves;
	u8 *memory;
	u32 state[TAG_STATE_WORDS];
};

static void open_fixture(struct fixture *fx, unsigned int cores, unsigned int uscs)
{
	const struct pumice_texture texture = {
		.addr = VA, .format = PUMICE_FORMAT_RGBA8_UNORM, .layout = PUMICE_LAYOUT_TWIDDLED,
		.dim = PUMICE_TEXTURE_DIM_2D, .levels = 1, .width = SIDE - 1, .height = SIDE - 1,
		.swizzle_g = 1, .swizzle_b = 2, .swizzle_a = 3,
	};
	const struct pumice_sampler sampler = { .min_linear = true, .mag_linear = true };
	u32 i;

	memset(fx, 0, sizeof(*fx));
	fx->tm = testmem_create(TESTMEM_SIZE);
	testmem_bind(fx->tm, &fx->mmu);
	fx->memory = testmem_map(fx->tm, CTX, VA, SIDE * SIDE * 4, PUMICE_PAGE_SIZE_4K, 0);
	for (i = 0; i < SIDE * SIDE * 4; i++)
		fx->memory[i] = (u8)(i * 2654435761u >> 24);
	fx->halves = halves_create(&fx->mmu, cores, uscs);
	assert_non_null(fx->halves);
	pumice_texture_pack(fx->state, &texture);
	pumice_sampler_pack(fx->state + PUMICE_TEXTURE_WORDS, &sampler);
}

static void close_fixture(struct fixture *fx)
{
	halves_destroy(fx->halves);
	testmem_destroy(fx->tm);
}

static u64 counter(const struct fixture *fx, enum pumice_perf_counter n)
{
	u64 value[PUMICE_PERF_NUMBER] = { 0 };

	halves_counters_add(fx->halves, value);
	return value[n];
}

/* Read through an interface at positions that depend on a number. */
static bool read_through(struct fixture *fx, struct tag *tag, unsigned int tcu, u32 number,
			 u32 (*out)[PUMICE_LANES], struct gpu_fault *fault)
{
	float coord[2][PUMICE_LANES];
	const struct tag_request request = {
		.op = PUMICE_USC_OP_SAMPLE, .type = PUMICE_USC_TYPE_F32,
		.dim = PUMICE_TEXTURE_DIM_2D, .ctx = CTX, .state = fx->state, .lanes = UINT32_MAX,
		.tcu = (u8)tcu,
		.coord = (const u32 *)(const void *)coord,
	};
	u32 l;

	for (l = 0; l < PUMICE_LANES; l++) {
		coord[0][l] = (float)((number * 37 + l * 5) % 101) / 101;
		coord[1][l] = (float)((number * 53 + l * 11) % 97) / 97;
	}
	return tag_read(tag, &request, out[0], fault);
}

static bool read_at(struct fixture *fx, struct tag *tag, u32 number, u32 (*out)[PUMICE_LANES],
		    struct gpu_fault *fault)
{
	return read_through(fx, tag, 0, number, out, fault);
}

/* Document 004: two of each a core, each shared by two of four pipes. */
static void units_are_shared_by_half_the_uscs(void **state)
{
	/* Half of each USC of a core, by the number of USCs. */
	static const unsigned int half[4][4] = { { 0 }, { 0, 1 }, { 0, 0, 1 }, { 0, 0, 1, 1 } };
	unsigned int uscs, a, b;

	(void)state;
	for (uscs = 1; uscs <= 4; uscs++) {
		struct fixture fx;

		open_fixture(&fx, 3, uscs);
		for (a = 0; a < 3 * uscs; a++) {
			struct half *first = halves_of(fx.halves, a);

			assert_ptr_equal(first->titr.tag, first->tag);
			for (b = 0; b < 3 * uscs; b++)
				assert_int_equal(first == halves_of(fx.halves, b),
						 a / uscs == b / uscs &&
						 half[uscs - 1][a % uscs] ==
						 half[uscs - 1][b % uscs]);
		}
		close_fixture(&fx);
	}
}

/* Set the filter of the sampler. */
static void set_filter(struct fixture *fx, bool linear)
{
	const struct pumice_sampler sampler = { .min_linear = linear, .mag_linear = linear };

	pumice_sampler_pack(fx->state + PUMICE_TEXTURE_WORDS, &sampler);
}

/*
 * Document 000: an interface for each USC, up to four an SPU. USC n reads n + 1 times, half of them
 * with a filter of four texels; each interface counts the requests of its USC alone.
 */
static void each_usc_has_an_interface_of_its_spu(void **state)
{
	const unsigned int cores = 3;
	u32 out[4][PUMICE_LANES];
	unsigned int uscs, usc, n;
	struct gpu_fault fault;

	(void)state;
	for (uscs = 1; uscs <= SPU_TCUS; uscs++) {
		u64 want[SPU_TCUS] = { 0 };
		struct fixture fx;

		open_fixture(&fx, cores, uscs);
		for (usc = 0; usc < cores * uscs; usc++) {
			const unsigned int tcu = half_tcu_of_usc(usc % uscs, uscs);

			for (n = 0; n <= usc; n++) {
				set_filter(&fx, n & 1);
				assert_true(read_through(&fx, halves_of(fx.halves, usc)->tag, tcu,
							 n, out, &fault));
				want[usc % uscs] += n & 1 ? 4 : 1;
			}
		}
		for (usc = 0; usc < cores * uscs; usc++)
			assert_int_equal(tcu_requests(halves_tcu_of(fx.halves, usc)),
					 (usc + 1) / 2 * 5 + (usc + 1) % 2);
		for (n = 0; n < SPU_TCUS; n++)
			assert_int_equal(counter(&fx, PUMICE_PERF_TAG_TCU0_REQUESTS + n), want[n]);
		close_fixture(&fx);
	}
}

static void a_fault_has_the_number_of_the_tag(void **state)
{
	u32 out[4][PUMICE_LANES];
	unsigned int usc;
	struct fixture fx;

	(void)state;
	open_fixture(&fx, 4, 4);
	fx.state[1] = ~0u;
	for (usc = 0; usc < 16; usc++) {
		struct gpu_fault fault = { 0 };

		assert_false(read_at(&fx, halves_of(fx.halves, usc)->tag, 0, out, &fault));
		assert_int_equal(fault.fault, PUMICE_FAULT_TAG_STATE);
		assert_int_equal(fault.unit, PUMICE_UNIT_TAG);
		assert_int_equal(fault.index, usc / 2);
	}
	close_fixture(&fx);
}

struct reader {
	pthread_t thread;
	struct fixture *fx;
	u32 first, different, refused;
	u32 (*want)[4][PUMICE_LANES];
};

static void *read_all(void *opaque)
{
	struct reader *r = opaque;
	struct tag *tag = halves_of(r->fx->halves, r->first % 2)->tag;
	u32 out[4][PUMICE_LANES], i;
	struct gpu_fault fault;

	for (i = 0; i < READS; i++) {
		const u32 n = (r->first * 7 + i) % READS;

		r->refused += !read_at(r->fx, tag, n, out, &fault);
		r->different += !!memcmp(out, r->want[n], sizeof(out));
	}
	return NULL;
}

static void threads_that_share_a_tag_read_the_texels_of_one(void **state)
{
	static u32 want[READS][4][PUMICE_LANES];
	struct reader reader[THREADS];
	struct gpu_fault fault;
	struct fixture fx;
	u32 i;

	(void)state;
	open_fixture(&fx, 1, 4);
	for (i = 0; i < READS; i++)
		assert_true(read_at(&fx, halves_of(fx.halves, 3)->tag, i, want[i], &fault));
	for (i = 0; i < THREADS; i++) {
		reader[i] = (struct reader){ .fx = &fx, .first = i, .want = want };
		assert_int_equal(pthread_create(&reader[i].thread, NULL, read_all, &reader[i]), 0);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(reader[i].thread, NULL);
		assert_int_equal(reader[i].refused, 0);
		assert_int_equal(reader[i].different, 0);
	}
	assert_int_equal(counter(&fx, PUMICE_PERF_TAG_READS), READS * (THREADS + 1));
	assert_int_equal(counter(&fx, PUMICE_PERF_TAG_TF_RESULTS), READS * (THREADS + 1));
	close_fixture(&fx);
}

/* A read of a thread of its own, which announces it. */
struct announced {
	struct fixture *fx;
	_Atomic bool begun;
};

static void *read_announced(void *opaque)
{
	struct announced *a = opaque;
	u32 out[4][PUMICE_LANES];
	struct gpu_fault fault;

	atomic_store(&a->begun, true);
	return read_at(a->fx, halves_of(a->fx->halves, 0)->tag, 1, out, &fault) ? a : NULL;
}

/* Let a thread begin a read while the TAG is in use. It may come to the TAG only afterwards. */
static void read_in_use(struct fixture *fx)
{
	struct tag *tag = halves_of(fx->halves, 0)->tag;
	struct announced a = { .fx = fx };
	pthread_t thread;
	void *done;
	u32 i;

	pthread_mutex_lock(&tag->lock);
	assert_int_equal(pthread_create(&thread, NULL, read_announced, &a), 0);
	while (!atomic_load(&a.begun))
		sched_yield();
	for (i = 0; i < 100; i++)
		sched_yield();
	pthread_mutex_unlock(&tag->lock);
	pthread_join(thread, &done);
	assert_ptr_equal(done, &a);
}

static void a_read_that_waits_for_the_tag_is_counted(void **state)
{
	u32 out[4][PUMICE_LANES], round;
	struct gpu_fault fault;
	struct fixture fx;

	(void)state;
	open_fixture(&fx, 1, 2);
	assert_true(read_at(&fx, halves_of(fx.halves, 0)->tag, 0, out, &fault));
	assert_int_equal(counter(&fx, PUMICE_PERF_TAG_WAITS), 0);
	for (round = 0; round < 1000 && !counter(&fx, PUMICE_PERF_TAG_WAITS); round++)
		read_in_use(&fx);
	assert_int_equal(counter(&fx, PUMICE_PERF_TAG_WAITS), 1);
	close_fixture(&fx);
}

/* Let a unit work until its time is not 0. */
static void take_time(struct activity *activity)
{
	while (!activity_busy_ns(activity))
		activity_end(activity, activity_begin(activity));
}

static void counts_are_summed_and_cleared(void **state)
{
	u32 out[4][PUMICE_LANES], i;
	struct gpu_fault fault;
	struct fixture fx;

	(void)state;
	open_fixture(&fx, 2, 2);
	halves_set_detail(fx.halves, true);
	for (i = 0; i < 4; i++) {
		struct half *half = halves_of(fx.halves, i);

		assert_true(read_at(&fx, half->tag, i, out, &fault));
		assert_int_equal(activity_requests(&half->tf.activity), 1);
		activity_count(&half->uitr.activity);
		activity_count(&half->titr.activity);
		activity_count(&half->titr.activity);
		count_add(&half->titr.reads, 3);
		assert_true(atomic_load(&half->uitr.activity.detail));
		assert_true(atomic_load(&half->titr.activity.detail));
	}
	assert_int_equal(counter(&fx, PUMICE_PERF_TAG_READS), 4);
	assert_int_equal(counter(&fx, PUMICE_PERF_TAG_TF_RESULTS), 4);
	assert_int_equal(counter(&fx, PUMICE_PERF_TAG_TCU0_REQUESTS), 2 * 4);
	assert_int_equal(counter(&fx, PUMICE_PERF_TAG_TCU1_REQUESTS), 2 * 4);
	assert_int_equal(counter(&fx, PUMICE_PERF_PDM_UITR_REQUESTS), 4);
	assert_int_equal(counter(&fx, PUMICE_PERF_PDM_TITR_REQUESTS), 8);
	take_time(&halves_of(fx.halves, 3)->tf.activity);
	assert_true(counter(&fx, PUMICE_PERF_TAG_TF_BUSY) > 0);
	take_time(&halves_of(fx.halves, 1)->uitr.activity);
	assert_true(counter(&fx, PUMICE_PERF_PDM_UITR_BUSY) > 0);
	assert_int_equal(counter(&fx, PUMICE_PERF_PDM_TITR_BUSY), 0);
	take_time(&halves_of(fx.halves, 2)->titr.activity);
	assert_true(counter(&fx, PUMICE_PERF_PDM_TITR_BUSY) > 0);
	assert_int_equal(halves_reads_ahead(fx.halves, 0), 6);
	assert_int_equal(halves_reads_ahead(fx.halves, 1), 6);
	assert_true(counter(&fx, PUMICE_PERF_TAG_BUSY) > 0);
	halves_reset(fx.halves);
	for (i = 0; i < PUMICE_PERF_NUMBER; i++)
		assert_int_equal(counter(&fx, (enum pumice_perf_counter)i), 0);
	assert_int_equal(halves_reads_ahead(fx.halves, 1), 0);
	close_fixture(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_are_shared_by_half_the_uscs),
		cmocka_unit_test(each_usc_has_an_interface_of_its_spu),
		cmocka_unit_test(a_fault_has_the_number_of_the_tag),
		cmocka_unit_test(threads_that_share_a_tag_read_the_texels_of_one),
		cmocka_unit_test(a_read_that_waits_for_the_tag_is_counted),
		cmocka_unit_test(counts_are_summed_and_cleared),
	};

	return cmocka_run_group_tests_name("half", tests, NULL, NULL);
}
