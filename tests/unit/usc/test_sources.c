// SPDX-License-Identifier: MIT
/*
 * Programs that are found by where they were fetched from: until when, and for which limits. Code
 * that is overwritten without an operation on caches is the usual way to be seen by a fetch.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "program.h"
#include "fixture.h"

/* More than are decoded in one piece of a load. */
#define INSNS	(USC_DECODE_PIECE + 2)
#define OTHER_CODE 16384u	/* bytes from the code */
#define OTHERS	4000u	/* programs, of more memory than idle ones may have */

static const struct usc_program_limits limits = { .temps = 4, .attrs = 2, .shared = 2 };

/* Write movs of a value, and an end. */
static void put_code(u32 *code, u32 insns, u32 value)
{
	u32 i;

	for (i = 0; i + 1 < insns; i++)
		usc_put(code, i,
			INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = IMM, .imm = value));
	usc_put(code, i, INSN(END));
}

/* Overwrite the code. */
static void write_code(struct fixture *fx, u32 value)
{
	put_code((u32 *)(void *)fx->code, INSNS, value);
}

static struct usc_program *get(struct fixture *fx, const struct usc_program_limits *of)
{
	struct usc_program *p = usc_program_get(fx->cache, &fx->mmu, &fx->tlb, FX_CTX, FX_CODE,
						INSNS, of, &fx->fault);

	assert_non_null(p);
	return p;
}

/* Return the value of the program that the code is now. */
static u32 value_of_code(struct fixture *fx)
{
	struct usc_program *p = get(fx, &limits);
	const u32 value = p->pool[0];

	fx_put(fx, p);
	return value;
}

static void usc_code_is_fetched_once_until_it_may_have_changed(void **state)
{
	struct fixture *fx = *state;

	write_code(fx, 1);
	assert_int_equal(value_of_code(fx), 1);
	write_code(fx, 2);
	assert_int_equal(value_of_code(fx), 1);
	mmu_job_begins(&fx->mmu, FX_CTX + 1);
	assert_int_equal(value_of_code(fx), 1);
	mmu_job_begins(&fx->mmu, FX_CTX);
	assert_int_equal(value_of_code(fx), 2);
}

static void usc_code_is_fetched_after_operations_that_drop_lines(void **state)
{
	static const struct {
		enum mmu_cache_kind kind;
		unsigned int ctx;
		bool drops;
	} ops[] = {
		{ MMU_CACHE_FENCE, FX_CTX, false }, { MMU_CACHE_CLEAN, FX_CTX, false },
		{ MMU_CACHE_NONE, FX_CTX, false }, { MMU_CACHE_INVALIDATE, FX_CTX, true },
		{ MMU_CACHE_INVALIDATE, FX_CTX + 1, false },
		{ MMU_CACHE_INVALIDATE, MMU_TABLES, false },
		{ MMU_CACHE_INVALIDATE, MMU_ALL_CONTEXTS, true },
		{ MMU_CACHE_DROP, FX_CTX, true }, { MMU_CACHE_DROP, MMU_ALL_CONTEXTS, true },
	};
	struct fixture *fx = *state;
	u32 n, seen = 100;

	write_code(fx, seen);
	assert_int_equal(value_of_code(fx), seen);
	for (n = 0; n < sizeof(ops) / sizeof(ops[0]); n++) {
		write_code(fx, n);
		mmu_cache_op(&fx->mmu, &(struct mmu_cache_op){
			.kind = ops[n].kind, .ctx = ops[n].ctx, .last = UINT64_MAX,
			.scope = PUMICE_MEM_SCOPE_GPU, .usc = MMU_ALL_USCS,
		});
		seen = ops[n].drops ? n : seen;
		assert_int_equal(value_of_code(fx), seen);
	}
}

static void usc_code_is_fetched_after_an_invalidation_of_translations(void **state)
{
	struct fixture *fx = *state;

	write_code(fx, 1);
	assert_int_equal(value_of_code(fx), 1);
	write_code(fx, 2);
	mmu_invalidate_all(&fx->mmu);
	assert_int_equal(value_of_code(fx), 2);
}

static void usc_code_is_fetched_for_other_limits(void **state)
{
	struct usc_program_limits other = limits;
	struct fixture *fx = *state;
	struct usc_program *p;

	write_code(fx, 1);
	assert_int_equal(value_of_code(fx), 1);
	write_code(fx, 2);
	other.stage = USC_STAGE_VERTEX;
	p = get(fx, &other);
	assert_int_equal(p->pool[0], 2);
	assert_int_equal(p->limits.stage, USC_STAGE_VERTEX);
	fx_put(fx, p);
	/* Each has its own. */
	assert_int_equal(value_of_code(fx), 1);
	/* One that the code does not fit is refused, although it is known for others. */
	other = limits;
	other.temps = 0;
	assert_null(usc_program_get(fx->cache, &fx->mmu, &fx->tlb, FX_CTX, FX_CODE, INSNS, &other,
				    &fx->fault));
}

/* The code changes while a load is under way, which ends with the former words. */
static void usc_source_is_as_it_was_before_the_load(void **state)
{
	struct usc_program *p = NULL;
	struct fixture *fx = *state;
	struct usc_load *load = NULL;
	enum usc_load_result result;

	write_code(fx, 1);
	result = usc_program_load(fx->cache, &fx->mmu, &fx->tlb, FX_CTX, FX_CODE, INSNS, &limits,
				  &load, &p, &fx->fault);
	assert_int_equal(result, USC_LOAD_MORE);
	write_code(fx, 2);
	mmu_drop_code(&fx->mmu, FX_CTX);
	while (result == USC_LOAD_MORE)
		result = usc_program_load(fx->cache, &fx->mmu, &fx->tlb, FX_CTX, FX_CODE, INSNS,
					  &limits, &load, &p, &fx->fault);
	assert_int_equal(result, USC_LOAD_DONE);
	assert_int_equal(p->pool[0], 1);
	fx_put(fx, p);
	assert_int_equal(value_of_code(fx), 2);
}

/* Load a long program at another address, each time from another source. */
static void make_long_program(struct fixture *fx, u32 number)
{
	const struct usc_program_limits own = { .temps = 4 + number / 200 };
	const u32 insns = 56 + number % 200;
	struct usc_program *p;

	put_code((u32 *)(void *)(fx->code + OTHER_CODE), insns, number);
	p = usc_program_get(fx->cache, &fx->mmu, &fx->tlb, FX_CTX, FX_CODE + OTHER_CODE, insns,
			    &own, &fx->fault);
	assert_non_null(p);
	assert_int_equal(p->pool[0], number);
	fx_put(fx, p);
}

/* Its program is evicted when others need the memory, and the words are fetched again. */
static void usc_source_of_an_evicted_program_is_forgotten(void **state)
{
	struct fixture *fx = *state;
	u32 n;

	write_code(fx, 1);
	assert_int_equal(value_of_code(fx), 1);
	write_code(fx, 2);
	assert_int_equal(value_of_code(fx), 1);
	for (n = 0; n < OTHERS; n++)
		make_long_program(fx, n);
	assert_int_equal(value_of_code(fx), 2);
}

static void ignore(void *opaque, const struct mmu_request *request)
{
	u32 *requests = opaque;

	*requests += request->unit == PUMICE_UNIT_USC_CODE;
}

static void usc_detailed_modes_fetch_each_time(void **state)
{
	struct fixture *fx = *state;
	u32 requests = 0, first;

	mmu_set_request(&fx->mmu, ignore, &requests);
	write_code(fx, 1);
	assert_int_equal(value_of_code(fx), 1);
	first = requests;
	assert_true(first > 0);
	write_code(fx, 2);
	assert_int_equal(value_of_code(fx), 2);
	assert_int_equal(requests, 2 * first);
	mmu_set_request(&fx->mmu, NULL, NULL);
}

#define SHORT	2u	/* instructions */
#define PLACES	4096u	/* some share a slot of the cache with that of another context */

static u32 value_at(struct fixture *fx, unsigned int ctx, u64 addr)
{
	struct usc_program *p = usc_program_get(fx->cache, &fx->mmu, &fx->tlb, ctx, addr, SHORT,
						&limits, &fx->fault);
	u32 value;

	assert_non_null(p);
	value = p->pool[0];
	fx_put(fx, p);
	return value;
}

/* Two contexts with the same addresses and counts: each has its own code. */
static void usc_code_is_that_of_its_context(void **state)
{
	const u32 bytes = SHORT * PUMICE_USC_WORDS * sizeof(u32), other = FX_CTX + 1;
	const u64 first = FX_CODE + 0x10000000ull;
	struct fixture *fx = *state;
	u8 *code[2];
	u32 n, c;

	for (c = 0; c < 2; c++)
		code[c] = testmem_map(fx->mem, FX_CTX + c, first, PLACES * bytes,
				      PUMICE_PAGE_SIZE_4K, 0);
	while (mmu_generation(&fx->mmu, other) < mmu_generation(&fx->mmu, FX_CTX))
		mmu_invalidate_ctx(&fx->mmu, other);
	while (mmu_generation(&fx->mmu, FX_CTX) < mmu_generation(&fx->mmu, other))
		mmu_invalidate_ctx(&fx->mmu, FX_CTX);
	while (mmu_code_count(&fx->mmu, other) < mmu_code_count(&fx->mmu, FX_CTX))
		mmu_drop_code(&fx->mmu, other);
	while (mmu_code_count(&fx->mmu, FX_CTX) < mmu_code_count(&fx->mmu, other))
		mmu_drop_code(&fx->mmu, FX_CTX);
	for (n = 0; n < PLACES; n++) {
		for (c = 0; c < 2; c++)
			put_code((u32 *)(void *)(code[c] + n * bytes), SHORT, 10 + c);
		assert_int_equal(value_at(fx, FX_CTX, first + n * bytes), 10);
		assert_int_equal(value_at(fx, other, first + n * bytes), 11);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FX_TEST(usc_code_is_fetched_once_until_it_may_have_changed),
		FX_TEST(usc_code_is_fetched_after_operations_that_drop_lines),
		FX_TEST(usc_code_is_fetched_after_an_invalidation_of_translations),
		FX_TEST(usc_code_is_fetched_for_other_limits),
		FX_TEST(usc_source_is_as_it_was_before_the_load),
		FX_TEST(usc_source_of_an_evicted_program_is_forgotten),
		FX_TEST(usc_detailed_modes_fetch_each_time),
		FX_TEST(usc_code_is_that_of_its_context),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
