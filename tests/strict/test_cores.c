// SPDX-License-Identifier: MIT
/* Mode strict: bytes that caches of cores hold while others store them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "strict/cores.h"

#define CTX	3u
#define OTHER	4u
#define VA	0x40000000ull
#define ALL	UINT64_MAX
/* USCs of two cores, of which each has two. */
#define A	0u
#define A2	1u	/* of the same core */
#define B	2u

static struct cores *cores;
static u64 at;

static int set_up(void **state)
{
	(void)state;
	cores = cores_create(2, 2);
	return !cores;
}

static int tear_down(void **state)
{
	(void)state;
	cores_destroy(cores);
	return 0;
}

static bool read_as(u32 usc, bool texture, u64 va, u64 bytes)
{
	const struct cores_access a = { .ctx = CTX, .va = va, .bytes = bytes, .usc = usc,
					.texture = texture };

	return cores_read(cores, &a, &at);
}

static bool reads(u32 usc, u64 va, u64 bytes)
{
	return read_as(usc, false, va, bytes);
}

static bool samples(u32 usc, u64 va, u64 bytes)
{
	return read_as(usc, true, va, bytes);
}

static void stores_in(unsigned int ctx, u32 usc, u64 va, u64 bytes, bool atomic)
{
	const struct cores_access a = { .ctx = ctx, .va = va, .bytes = bytes, .usc = usc,
					.atomic = atomic };

	cores_write(cores, &a);
}

static void stores(u32 usc, u64 va, u64 bytes)
{
	stores_in(CTX, usc, va, bytes, false);
}

static void drop(enum pumice_mem_scope scope, u32 usc, unsigned int ctx, u64 first, u64 last)
{
	cores_operate(cores, &(struct mmu_cache_op){
		.kind = MMU_CACHE_INVALIDATE, .scope = scope, .usc = usc, .ctx = ctx,
		.first = first, .last = last });
}

static void bytes_that_another_usc_stores_are_stale(void **state)
{
	(void)state;
	assert_false(reads(A, VA + 56, 16));
	stores(B, VA + 60, 8);
	assert_false(reads(A, VA + 56, 4));
	assert_false(reads(A, VA + 68, 4));
	assert_true(reads(A, VA + 56, 8));
	assert_int_equal(at, VA + 60);
	assert_true(reads(A, VA + 64, 4));
	assert_int_equal(at, VA + 64);
}

static void bytes_that_were_not_read_before_are_not_stale(void **state)
{
	(void)state;
	assert_false(reads(A, VA, 4));
	stores(B, VA + 4, 4);
	assert_false(reads(A, VA + 4, 4));
	/* They are in the caches now. */
	stores(B, VA + 4, 4);
	assert_true(reads(A, VA + 4, 4));
}

static void own_stores_are_seen(void **state)
{
	(void)state;
	reads(A, VA, 8);
	stores(A, VA, 4);
	assert_false(reads(A, VA, 4));
	stores(B, VA, 8);
	stores(A, VA, 4);
	assert_false(reads(A, VA, 4));
	assert_true(reads(A, VA + 4, 4));
	/* The caches have bytes that were stored, too. */
	stores(A, VA + 16, 4);
	stores(B, VA + 16, 4);
	assert_true(reads(A, VA + 16, 4));
}

/* Only its first caches do not have the store. */
static void usc_of_the_same_core_needs_the_scope_group(void **state)
{
	(void)state;
	reads(A, VA, 4);
	stores(A2, VA, 4);
	assert_true(reads(A, VA, 4));
	drop(PUMICE_MEM_SCOPE_GROUP, A2, CTX, 0, ALL);
	assert_true(reads(A, VA, 4));
	drop(PUMICE_MEM_SCOPE_GROUP, A, CTX, 0, ALL);
	assert_false(reads(A, VA, 4));
}

static void usc_of_another_core_needs_the_scope_core(void **state)
{
	(void)state;
	reads(A, VA, 4);
	stores(B, VA, 4);
	drop(PUMICE_MEM_SCOPE_GROUP, A, CTX, 0, ALL);
	assert_true(reads(A, VA, 4));
	drop(PUMICE_MEM_SCOPE_CORE, B, CTX, 0, ALL);
	assert_true(reads(A, VA, 4));
	drop(PUMICE_MEM_SCOPE_CORE, A2, CTX, 0, ALL);
	assert_false(reads(A, VA, 4));
}

static void larger_scopes_are_of_all_cores(void **state)
{
	static const enum pumice_mem_scope scopes[] = { PUMICE_MEM_SCOPE_GPU,
							PUMICE_MEM_SCOPE_SYSTEM };

	(void)state;
	for (u32 n = 0; n < 2; n++) {
		reads(A, VA, 4);
		stores(B, VA, 4);
		drop(scopes[n], B, CTX, 0, ALL);
		assert_false(reads(A, VA, 4));
	}
	/* Of a stream, all of them have each scope. */
	stores(B, VA, 4);
	drop(PUMICE_MEM_SCOPE_GROUP, MMU_ALL_USCS, CTX, 0, ALL);
	assert_true(reads(A, VA, 4));
	drop(PUMICE_MEM_SCOPE_CORE, MMU_ALL_USCS, CTX, 0, ALL);
	assert_false(reads(A, VA, 4));
}

static void textures_receive_no_stores(void **state)
{
	(void)state;
	assert_false(samples(A, VA, 4));
	stores(A, VA, 4);
	assert_true(samples(A, VA, 4));
	assert_false(reads(A, VA, 4));
	drop(PUMICE_MEM_SCOPE_CORE, A, CTX, 0, ALL);
	assert_false(samples(A, VA, 4));
	assert_false(reads(A, VA, 4));
	/* By a unit that has no caches of a USC. */
	stores(CORES_NO_USC, VA, 4);
	assert_true(samples(A, VA, 4));
	assert_true(reads(A, VA, 4));
}

static void atomic_operations_drop_the_line_in_their_core(void **state)
{
	(void)state;
	reads(A, VA, 8);
	reads(B, VA, 8);
	stores_in(CTX, A, VA, 4, true);
	assert_true(reads(B, VA, 4));
	/* Nothing of it was left in A's core. */
	stores(B, VA, 8);
	assert_false(reads(A, VA, 8));
}

/* A compare-and-exchange operation with an old value changes nothing. */
static void values_that_are_compared_may_be_old(void **state)
{
	const struct cores_access compare = { .ctx = CTX, .va = VA, .bytes = 4, .usc = B,
					      .atomic = true, .compares = true };

	(void)state;
	reads(A, VA, 4);
	cores_write(cores, &compare);
	assert_false(reads(A, VA, 4));
}

static void ranges_and_contexts_are_apart(void **state)
{
	(void)state;
	reads(A, VA, 64);
	reads(A, VA + 64, 64);
	stores_in(OTHER, B, VA, 64, false);
	assert_false(reads(A, VA, 64));
	stores(B, VA, 128);
	drop(PUMICE_MEM_SCOPE_GPU, A, OTHER, 0, ALL);
	drop(PUMICE_MEM_SCOPE_GPU, A, CTX, VA + 128, ALL - 1);
	drop(PUMICE_MEM_SCOPE_GPU, A, CTX, VA + 70, VA + 71);
	assert_true(reads(A, VA, 64));
	assert_false(reads(A, VA + 64, 64));
	drop(PUMICE_MEM_SCOPE_GPU, A, MMU_TABLES, 0, ALL);
	assert_true(reads(A, VA, 64));
	drop(PUMICE_MEM_SCOPE_GPU, A, CTX, 0, ALL - 1);
	assert_false(reads(A, VA, 64));
	stores(B, VA, 64);
	drop(PUMICE_MEM_SCOPE_GPU, A, MMU_ALL_CONTEXTS, 0, ALL);
	assert_false(reads(A, VA, 64));
}

/* A program's range may be anywhere. */
static void ranges_end_with_the_last_line_of_64_bits(void **state)
{
	(void)state;
	reads(A, VA, 4);
	stores(B, VA, 4);
	drop(PUMICE_MEM_SCOPE_GPU, A, CTX, ALL - 63, ALL);
	drop(PUMICE_MEM_SCOPE_GPU, A, CTX, ALL - 100, ALL - 1);
	assert_true(reads(A, VA, 4));
}

static void operations_that_keep_lines_change_nothing(void **state)
{
	static const enum mmu_cache_kind kinds[] = { MMU_CACHE_FENCE, MMU_CACHE_CLEAN };
	u32 n;

	(void)state;
	reads(A, VA, 4);
	stores(B, VA, 4);
	for (n = 0; n < 2; n++)
		cores_operate(cores, &(struct mmu_cache_op){
			.kind = kinds[n], .scope = PUMICE_MEM_SCOPE_SYSTEM, .usc = A, .ctx = CTX,
			.last = ALL });
	assert_true(reads(A, VA, 4));
	cores_operate(cores, &(struct mmu_cache_op){
		.kind = MMU_CACHE_DROP, .scope = PUMICE_MEM_SCOPE_SYSTEM, .usc = A, .ctx = CTX,
		.last = ALL });
	assert_false(reads(A, VA, 4));
}

static void the_last_lines_are_known(void **state)
{
	u32 known = 0;
	u64 n;

	(void)state;
	for (n = 0; n < CORES_LINES + 2; n++)
		reads(A, VA + n * 64, 64);
	stores(B, VA, CORES_LINES * 64);
	for (n = CORES_LINES; n > CORES_LINES / 2; n--)
		known += reads(A, VA + (n - 1) * 64, 4);
	assert_int_equal(known, CORES_LINES / 2);
	cores_reset(cores);
	for (n = 0; n < CORES_LINES; n++)
		assert_false(reads(A, VA + n * 64, 4));
}

static void other_modes_and_units_have_no_lines(void **state)
{
	const struct cores_access none = { .bytes = 4, .usc = 7 };
	const struct mmu_cache_op op = { .kind = MMU_CACHE_INVALIDATE, .last = ALL };

	(void)state;
	assert_false(cores_read(NULL, &none, &at));
	cores_write(NULL, &none);
	cores_operate(NULL, &op);
	cores_reset(NULL);
	cores_destroy(NULL);
	/* Beyond the last USC: number 4 would be the first core. */
	assert_false(reads(4, VA, 4));
	stores(B, VA, 4);
	assert_false(reads(4, VA, 4));
	assert_false(reads(A, VA, 4));
	stores(4, VA, 4);
	assert_false(reads(A, VA, 4));
}

/* As in caches with lines of 128 bytes. */
static void reads_and_stores_fill_whole_lines_on_request(void **state)
{
	(void)state;
	cores_fill(cores, 128);
	assert_false(reads(A, VA, 4));
	stores(B, VA + 124, 4);
	stores(B, VA + 128, 4);
	assert_false(reads(A, VA + 120, 4));
	assert_false(reads(A, VA + 128, 4));
	assert_true(reads(A, VA + 120, 8));
	assert_int_equal(at, VA + 124);
	/* A store fills the rest of its line with former bytes, too. */
	stores(A, VA + 256, 32);
	stores(B, VA + 352, 32);
	assert_false(reads(A, VA + 256, 32));
	assert_true(reads(A, VA + 352, 32));
	drop(PUMICE_MEM_SCOPE_CORE, A, CTX, 0, ALL);
	assert_false(reads(A, VA + 352, 32));
	cores_fill(cores, 0);
	assert_false(reads(A, VA + 512, 4));
	stores(B, VA + 516, 4);
	assert_false(reads(A, VA + 516, 4));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(bytes_that_another_usc_stores_are_stale),
		TEST(bytes_that_were_not_read_before_are_not_stale),
		TEST(own_stores_are_seen),
		TEST(usc_of_the_same_core_needs_the_scope_group),
		TEST(usc_of_another_core_needs_the_scope_core),
		TEST(larger_scopes_are_of_all_cores),
		TEST(textures_receive_no_stores),
		TEST(atomic_operations_drop_the_line_in_their_core),
		TEST(values_that_are_compared_may_be_old),
		TEST(ranges_and_contexts_are_apart),
		TEST(ranges_end_with_the_last_line_of_64_bits),
		TEST(operations_that_keep_lines_change_nothing),
		TEST(reads_and_stores_fill_whole_lines_on_request),
		TEST(the_last_lines_are_known),
		TEST(other_modes_and_units_have_no_lines),
	};

	return cmocka_run_group_tests_name("strict_cores", tests, NULL, NULL);
}
