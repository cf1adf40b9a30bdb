// SPDX-License-Identifier: MIT
/*
 * The cache of predecoded programs: what makes two programs the same, and what
 * stays in it.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "rig.h"

static const struct usc_program_limits limits = { .temps = 4, .attrs = 2, .shared = 2 };

/* insns - 1 movs of value and an end. */
static void write_code(u32 *code, u32 insns, u32 value)
{
	for (u32 n = 0; n + 1 < insns; n++)
		usc_put(code, n, INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = IMM, .imm = value));
	usc_put(code, insns - 1, INSN(END));
}

static void usc_program_is_found_by_content_wherever_it_lies(void **state)
{
	struct rig *rig = *state;
	u32 code[2 * PUMICE_USC_WORDS];
	struct usc_program *a, *b;

	write_code(code, 2, 5);
	a = rig_program(rig, code, 2, &limits);
	memcpy(rig->code + 4096, code, sizeof(code));
	b = usc_program_get(rig->cache, &rig->mmu, &rig->tlb, RIG_CTX, RIG_CODE + 4096, 2, &limits,
			    &rig->fault);
	assert_non_null(a);
	assert_ptr_equal(a, b);
	rig_put(rig, a);
	rig_put(rig, b);
	assert_ptr_equal(rig_program(rig, code, 2, &limits), a);
	rig_put(rig, a);
}

static void usc_overwritten_code_is_another_program(void **state)
{
	struct rig *rig = *state;
	u32 code[2 * PUMICE_USC_WORDS];
	struct usc_program *a, *b;

	write_code(code, 2, 5);
	a = rig_program(rig, code, 2, &limits);
	write_code(code, 2, 6);
	b = rig_program(rig, code, 2, &limits);
	assert_ptr_not_equal(a, b);
	assert_int_equal(a->pool[0], 5);
	assert_int_equal(b->pool[0], 6);
	rig_put(rig, a);
	rig_put(rig, b);
}

static void usc_same_code_with_other_limits_is_checked_again(void **state)
{
	struct usc_program_limits fewer = limits, more = limits;
	struct rig *rig = *state;
	u32 code[2 * PUMICE_USC_WORDS];
	struct usc_program *a, *b;

	write_code(code, 2, 5);
	fewer.temps = 0;
	more.attrs++;
	a = rig_program(rig, code, 2, &limits);
	b = rig_program(rig, code, 2, &more);
	assert_non_null(a);
	assert_non_null(b);
	assert_ptr_not_equal(a, b);
	assert_null(rig_program(rig, code, 2, &fewer));
	assert_int_equal(rig->fault.fault, PUMICE_FAULT_USC_REGISTER);
	rig_put(rig, a);
	rig_put(rig, b);
}

static void usc_cache_is_bounded_and_keeps_programs_in_use(void **state)
{
	const u32 insns = 60000;
	u32 *code = calloc(insns * PUMICE_USC_WORDS, 4);
	struct rig *rig = *state;
	struct usc_program *held;

	assert_non_null(code);
	write_code(code, insns, 0);
	held = rig_program(rig, code, insns, &limits);
	assert_non_null(held);
	/* Several times what the cache keeps; it must keep some, and no more. */
	for (u32 n = 1; n < 20; n++) {
		struct usc_program *p;

		write_code(code, insns, n);
		p = rig_program(rig, code, insns, &limits);
		assert_non_null(p);
		rig_put(rig, p);
		assert_true(usc_program_cache_idle(rig->cache) <= USC_CACHE_IDLE_BYTES);
	}
	assert_true(usc_program_cache_idle(rig->cache) > 0);
	assert_int_equal(held->pool[insns - 2], 0);
	write_code(code, insns, 0);
	assert_ptr_equal(rig_program(rig, code, insns, &limits), held);
	rig_put(rig, held);
	rig_put(rig, held);
	free(code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(usc_program_is_found_by_content_wherever_it_lies),
		RIG_TEST(usc_overwritten_code_is_another_program),
		RIG_TEST(usc_same_code_with_other_limits_is_checked_again),
		RIG_TEST(usc_cache_is_bounded_and_keeps_programs_in_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
