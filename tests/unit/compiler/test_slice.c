// SPDX-License-Identifier: MIT
/* Coordinate programs: the rest of a vertex program, and programs that have none. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "asm.h"
#include "pumice/pumice_gfx.h"
#include "slice.h"

/* Derive the program of a text and disassemble it. */
static int derive(const char *text, uint32_t outputs, char **result, char *error, size_t bytes)
{
	uint8_t *file, *made;
	size_t file_bytes, made_bytes;
	int err;

	assert_int_equal(pumice_assemble("test", text, NULL, NULL, &file, &file_bytes), 0);
	err = slice_file(file, file_bytes, outputs, &made, &made_bytes, error, bytes);
	free(file);
	if (err)
		return err;
	assert_int_equal(pumice_disassemble(made, made_bytes, result, error, bytes), 0);
	free(made);
	return 0;
}

static void expect(const char *text, uint32_t outputs, const char *const *has,
		   const char *const *lacks)
{
	char error[512] = "", *result;

	if (derive(text, outputs, &result, error, sizeof(error)))
		fail_msg("%s", error);
	for (; *has; has++)
		if (!strstr(result, *has))
			fail_msg("no %s in\n%s", *has, result);
	for (; *lacks; lacks++)
		if (strstr(result, *lacks))
			fail_msg("%s in\n%s", *lacks, result);
	free(result);
}

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

static const char lit[] =
	"mul.f32 r0, v0, sh0\n"
	"mul.f32 r1, v1, sh1\n"
	"uvsw vo0, r0\n"
	"uvsw vo1, r1\n"
	"uvsw vo2, v2\n"
	"uvsw vo3, v3\n"
	"mul.f32 r2, v4, sh2\n"		/* the size */
	"uvsw vo4, r2\n"
	"max.f32 r3, v5, sh3\n"		/* a varying */
	"uvsw vo5, r3\n"
	"end\n";

static void only_the_position_remains(void **state)
{
	(void)state;
	expect(lit, 4, LIST("mul.f32", "v1, sh1", "vo3", "end"),
	       LIST("v4, sh2", "max.f32", "vo4", "vo5"));
	expect(lit, 5, LIST("v4, sh2", "vo4"), LIST("max.f32", "vo5"));
}

static void branches_and_their_dependencies_remain(void **state)
{
	(void)state;
	expect("mov r0, [one], 0\n"
	       "mov r9, [one], 5\n"
	       "again:\n"
	       "add.u32 r0, r0, 1\n"
	       "add.f32 r2, r2, v5\n"		/* for a varying only */
	       "lt.u32 r1, r0, r9\n"
	       "add.f32 r3, r3, v0\n"
	       "br_any again, [r1]\n"
	       "uvsw vo0, r3\n"
	       "uvsw vo1, v1\n"
	       "uvsw vo2, v2\n"
	       "uvsw vo3, v3\n"
	       "uvsw vo4, r2\n"
	       "end\n", 4,
	       LIST("lt.u32", "br_any", "r3, r3, v0", "r0, r0, 1", "r9"), LIST("v5", "vo4"));
}

static void branches_go_where_they_went(void **state)
{
	(void)state;
	/* The first instruction is removed, and the one that the branch goes to. */
	expect("mov r7, v5\n"
	       "brz skip, sh0\n"
	       "mov r0, v0\n"
	       "skip:\n"
	       "mov r8, v5\n"
	       "uvsw vo0, r0\n"
	       "uvsw vo1, v1\n"
	       "uvsw vo2, v2\n"
	       "uvsw vo3, v3\n"
	       "uvsw vo4, r8\n"
	       "end\n", 4, LIST("v0\nL2:\n"), LIST("r7", "r8"));
}

static void loads_remain_with_their_waits(void **state)
{
	(void)state;
	expect("global_load32 sig0, r0, [one], sh0 + v0\n"
	       "global_load32 sig1, r1, [one], sh2 + v1\n"
	       "sig_wait r2[0], sig1\n"
	       "sig_wait r3[0], sig0\n"
	       "uvsw vo0, r0\n"
	       "uvsw vo1, v1\n"
	       "uvsw vo2, v2\n"
	       "uvsw vo3, v3\n"
	       "uvsw vo4, r1\n"
	       "end\n", 4, LIST("sh0 + v0", "sig_wait r3[0], sig0"), LIST("sh2", "sig1"));
}

static void reads_of_the_uniform_stream_all_remain(void **state)
{
	(void)state;
	expect("mul.f32 r5, v5, uniform\n"
	       "mul.f32 r0, v0, uniform\n"
	       "uvsw vo0, r0\n"
	       "uvsw vo1, v1\n"
	       "uvsw vo2, v2\n"
	       "uvsw vo3, v3\n"
	       "uvsw vo4, r5\n"
	       "end\n", 4, LIST("v5, uniform", "v0, uniform"), LIST("vo4"));
}

static void programs_without_a_coordinate_program_are_refused(void **state)
{
	char error[512], *result;

	(void)state;
	assert_int_equal(derive("global_store32 sig0, [one], sh0 + v0, v1\nuvsw vo3, v0\nend\n", 4,
				&result, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "instruction 0 stores to memory"));
	assert_int_equal(derive("global_atomic.u32 add, sig0, r0, [one], sh0 + v0, v1\n"
				"uvsw vo3, v0\nend\n", 4, &result, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "stores to memory"));
	assert_int_equal(derive("uvsw vo2, v0\nend\n", 4, &result, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "of 4 outputs: the vertex program has 3"));
	assert_int_equal(derive(lit, 0, &result, error, sizeof(error)), -EINVAL);
	assert_int_equal(derive("mov o0, v0\nend\n", 4, &result, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "a fragment program has no position"));
	assert_int_equal(derive(".word 0xff, 0, 0, 0\nuvsw vo3, v0\nend\n", 4, &result, error,
				sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "instruction 0 is not legal"));
}

static void derived_files_keep_lines_and_resources(void **state)
{
	const struct pumice_asm_options options = { .lines = true };
	struct pumice_source_line line;
	struct pumice_program *whole, *part;
	struct pumice_program_info before, after;
	char error[512] = "";
	uint32_t count = 1;
	size_t bytes;
	uint8_t *file;

	(void)state;
	assert_int_equal(pumice_assemble_with("lit.pasm", lit, &options, &file, &bytes), 0);
	assert_int_equal(pumice_program_parse(file, bytes, &whole, NULL, 0), 0);
	free(file);
	assert_int_equal(pumice_program_positions(whole, 5, &part, error, sizeof(error)), 0);
	pumice_program_info(whole, &before);
	pumice_program_info(part, &after);
	assert_int_equal(before.usc_insns - after.usc_insns, 2);
	assert_int_equal(after.attrs, before.attrs);
	assert_int_equal(after.temps, before.temps);
	assert_int_equal(after.shared, before.shared);
	/* The end is the last line of both. */
	assert_int_equal(pumice_program_get_lines(part, after.usc_insns - 1, &line, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(line.line, 11);
	assert_int_equal(pumice_program_positions(part, 6, &whole, error, sizeof(error)), -EINVAL);
	pumice_program_destroy(part);
	pumice_program_destroy(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_position_remains),
		cmocka_unit_test(branches_and_their_dependencies_remain),
		cmocka_unit_test(branches_go_where_they_went),
		cmocka_unit_test(loads_remain_with_their_waits),
		cmocka_unit_test(reads_of_the_uniform_stream_all_remain),
		cmocka_unit_test(programs_without_a_coordinate_program_are_refused),
		cmocka_unit_test(derived_files_keep_lines_and_resources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
