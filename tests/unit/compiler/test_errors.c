// SPDX-License-Identifier: MIT
/*
 * Bad input: every kind of error is found where it stands and named, nothing is
 * written, and damaged program files are refused.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "asm.h"

/* What was reported: the first error, and how many there were. */
struct reports {
	char first[1024];
	unsigned int count;
};

static void collect(void *data, const char *text)
{
	struct reports *reports = data;

	if (!reports->count++)
		snprintf(reports->first, sizeof(reports->first), "%s", text);
}

static void every_kind_of_error_is_named_at_its_place(void **state)
{
	static const struct {
		const char *text;
		const char *expected;	/* start of the first report */
	} cases[] = {
		{ "foo r1", "t:1:1: error: no such operation\nfoo r1\n^~~\n" },
		{ "end\n\tadd r1, r2, r3", "t:2:2: error: add needs a type" },
		{ "add.f64 r1, r2, r3", "t:1:1: error: add does not exist for this type" },
		{ "neg.u32 r1, r2", "t:1:1: error: neg does not exist for this type" },
		{ "add.u32 r1, 5, r3", "t:1:13: error: an immediate is not allowed here" },
		{ "add.u32 r1[0], r2, r3", "t:1:16: error: a scalar is needed here: r2[0]" },
		{ "add.u32 r1, r2", "t:1:15: error: expected ','" },
		{ "add.u32 r1, r2, r3, r4", "t:1:19: error: unexpected text" },
		{ "add.f32 r1, r2, 3", "t:1:17: error: an f32 operation: write 3.0" },
		{ "add.u32 r1, r2, 4294967296", "t:1:17: error: the number does not fit" },
		{ "select r1, [one], 1, 2", "t:1:22: error: an instruction has one immediate" },
		{ "mov r1, [r16], r2", "t:1:10: error: r16 cannot be a mask" },
		{ "mov r1, [sh1], r2", "t:1:10: error: sh1 cannot be a mask" },
		{ "mov r1, [r1 | r2], r2", "t:1:13: error: expected ']'" },
		{ "mov q1, [one], r2", "t:1:5: error: expected a register" },
		{ "mov r, [one], r2", "t:1:5: error: a register needs a number" },
		{ "mov r1[1], r2[0]", "t:1:8: error: only element 0" },
		{ "reduce_part.f32 xor, r1, r2", "t:1:1: error: bitwise reductions are for u32" },
		{ "reduce_part.u32 mul, r1, r2", "t:1:17: error: expected: Reduction operator" },
		{ "sig_wait r1[0], sig16", "t:1:17: error: expected a signal" },
		{ "local_load32 r1, [one], r2 + 4096", "t:1:30: error: a displacement is a whole" },
		{ "local_load32 r1, [one], sh0 + r2", "t:1:31: error: expected a displacement" },
		{ "global_load32 sig0, r1, [one], r0 + r2",
		  "t:1:32: error: a scalar is needed here: r0[0]" },
		{ "jump nowhere\nend", "t:1:6: error: no label nowhere" },
		{ "jump at_end\nend\nat_end:", "t:1:6: error: label at_end has no instruction" },
		{ "x: end\nx: end", "t:2:1: error: x is defined twice" },
		{ "r1: end", "t:1:1: error: r1 means something else" },
		{ ".alias sid, r1", "t:1:8: error: sid means something else" },
		{ "@", "t:1:1: error: expected an operation" },
		{ ".wrong", "t:1:1: error: no such directive" },
		{ ".group 33, 32", "t:1:14: error: a work-group has at most 1024" },
		{ ".group 0", "t:1:8: error: a work-group has 1 to 1024" },
		{ ".local 6", "t:1:8: error: local memory is a multiple of 4" },
		{ ".temps 249", "t:1:8: error: temporary registers is a whole number" },
		{ ".temps 2\nmov r2, [one], r1\nend", "t:3:4: error: the program names 3 temporary" },
		{ "mov r248, [one], r1\nend", "t:2:4: error: the program names 249 temporary" },
		{ ".uniforms v0, 4", "t:1:11: error: uniforms go to" },
		{ ".uniforms sh0, 0", "t:1:11: error: uniforms go to" },
		{ ".input sh0, local_x", "t:1:13: error: local_x differs between instances" },
		{ ".input sh0, colour", "t:1:13: error: expected a source" },
		{ ".const r0, 1", "t:1:8: error: expected a shared or attribute register" },
		{ ".equ N, r1", "t:1:9: error: expected a number" },
		{ ".endpds", "t:1:8: error: .endpds without .pds" },
		{ ".pds\nend", "t:2:4: error: .pds without .endpds" },
		{ ".const sh0, 1\n.pds", "t:2:5: error: the PDS program is made of directives" },
		{ ".pds\nfly\n.endpds", "t:2:1: error: no such PDS operation" },
		{ ".pds\ndma sh0, 4097, uniforms", "t:2:10: error: a number of words" },
		{ ".pds\ndma sh0, 4, 0x10000000000", "t:2:13: error: expected uniforms, code" },
		{ ".pds\nx: end", "t:2:1: error: a PDS program has no labels" },
		{ ".pds\ndma sh0, 1, uniforms + 4194304", "t:2:31: error: a uniform block holds" },
		{ ".pds\n.endpds\nend", "t:3:4: error: the PDS program has no instruction" },
		{ ".word 1, 2, 3", "t:1:14: error: expected ','" },
		{ "; nothing", "t:1:1: error: the program has no instruction" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct reports reports = { .count = 0 };
		uint8_t *file = NULL;
		size_t bytes;

		assert_int_equal(pumice_assemble("t", cases[i].text, collect, &reports, &file,
						 &bytes), -EINVAL);
		assert_null(file);
		if (strncmp(reports.first, cases[i].expected, strlen(cases[i].expected)))
			fail_msg("%s\ngave: %s\ninstead of: %s", cases[i].text, reports.first,
				 cases[i].expected);
	}
}

static void twenty_errors_are_reported_and_no_more(void **state)
{
	struct reports reports = { .count = 0 };
	char text[200] = "";
	uint8_t *file;
	size_t bytes;

	(void)state;
	for (unsigned int i = 0; i < 30; i++)
		strcat(text, "foo\n");
	assert_int_equal(pumice_assemble("t", text, collect, &reports, &file, &bytes), -EINVAL);
	assert_int_equal(reports.count, 20);
}

static void the_caret_stands_below_the_place_behind_tabs(void **state)
{
	struct reports reports = { .count = 0 };
	uint8_t *file;
	size_t bytes;

	(void)state;
	pumice_assemble("t", "\tmov\tr1, [one], q7", collect, &reports, &file, &bytes);
	assert_string_equal(reports.first, "t:1:17: error: expected a register\n"
					   "\tmov\tr1, [one], q7\n\t   \t           ^~\n");
}

static void random_text_never_crashes_the_assembler(void **state)
{
	static const char pieces[][16] = { "add", ".f32", " r1", ",", "[", "]", "sh0", "+", "-", "!",
					   "&", ":", "\n", ".pds", ".endpds", "dma ", "0x", "1.5e",
					   "99999999999999", ".group ", "one", ";", "\t", "loop",
					   ".equ A,", "global_load32 ", "sig0", "jump ", "\x80", "idx0" };
	uint32_t rng = 12345;

	(void)state;
	for (unsigned int round = 0; round < 3000; round++) {
		char text[512] = "";
		uint8_t *file;
		size_t bytes;

		for (unsigned int i = 0; i < 24; i++) {
			rng = rng * 1664525u + 1013904223u;
			strcat(text, pieces[(rng >> 8) % (sizeof(pieces) / sizeof(pieces[0]))]);
		}
		if (!pumice_assemble("t", text, NULL, NULL, &file, &bytes))
			free(file);
	}
}

static void a_damaged_file_is_refused_with_a_reason(void **state)
{
	uint8_t *file;
	size_t bytes;

	(void)state;
	assert_int_equal(pumice_assemble("t", ".uniforms sh0, 4\nmov r1, [one], sh3\nend\n", NULL,
					 NULL, &file, &bytes), 0);
	for (size_t bit = 0; bit < bytes * 8; bit++) {
		char error[256] = "", *text;

		file[bit / 8] ^= (uint8_t)(1u << bit % 8);
		/* Resources and sizes in the header are the file's own to say: not guarded by the sum. */
		if (pumice_disassemble(file, bytes, &text, error, sizeof(error))) {
			assert_true(error[0]);
		} else {
			assert_in_range(bit / 32, 7, 10);
			free(text);
		}
		file[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	for (size_t cut = 0; cut < bytes; cut++) {
		char error[256] = "", *text;

		assert_int_equal(pumice_disassemble(file, cut, &text, error, sizeof(error)), -EINVAL);
		assert_true(error[0]);
	}
	free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_error_is_named_at_its_place),
		cmocka_unit_test(twenty_errors_are_reported_and_no_more),
		cmocka_unit_test(the_caret_stands_below_the_place_behind_tabs),
		cmocka_unit_test(random_text_never_crashes_the_assembler),
		cmocka_unit_test(a_damaged_file_is_refused_with_a_reason),
	};

	return cmocka_run_group_tests_name("compiler-errors", tests, NULL, NULL);
}
