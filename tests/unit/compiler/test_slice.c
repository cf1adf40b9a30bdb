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
#include "pumice_isa.h"
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

#define POSITION "uvsw vo0, r0\nuvsw vo1, v1\nuvsw vo2, v2\nuvsw vo3, v3\n"

/* A query depends on the access, also on one whose registers are not read. */
static void queried_accesses_remain(void **state)
{
	(void)state;
	expect("global_load32 sig0, r5, [one], sh0 + v0\n"
	       "global_load32 sig1, r6, [one], sh2 + v1\n"
	       "sig_done1 r0[0], sig0\n"
	       "sig_wait r2[0], sig0\n"
	       "sig_wait r3[0], sig1\n"
	       POSITION
	       "uvsw vo4, r6\n"
	       "end\n", 4, LIST("sh0 + v0", "sig_done1", "sig_wait r2[0], sig0"),
	       LIST("sh2", "sig1"));
}

/* So does a wait for one of several. */
static void accesses_that_a_wait_for_any_names_remain(void **state)
{
	(void)state;
	expect("global_load32 sig0, r5, [one], sh0 + v0\n"
	       "global_load32 sig1, r6, [one], sh2 + v1\n"
	       "global_load32 sig2, r7, [one], sh4 + v1\n"
	       "sig_waitany2 r0[0], sig0, sig1\n"
	       "sig_wait r3[0], sig2\n"
	       POSITION
	       "uvsw vo4, r7\n"
	       "end\n", 4, LIST("sh0 + v0", "sh2 + v1", "sig_waitany2 r0[0], sig0, sig1"),
	       LIST("sh4", "sig2"));
}

/* A texture read names its signal in another way than a load. */
static void texture_reads_remain_with_their_waits(void **state)
{
	(void)state;
	expect("sample.f32 sig1, r0, 2d, v0, sh0\n"
	       "sample.f32 sig2, r8, 2d, v2, sh12\n"
	       "sig_wait r4[0], sig1\n"
	       "sig_wait r5[0], sig2\n"
	       POSITION
	       "uvsw vo4, r8\n"
	       "end\n", 4, LIST("v0, sh0", "sig_wait r4[0], sig1"), LIST("sh12", "sig2"));
}

/* Loads read it, also of other instances. A register that such an access overwrites is not read. */
static void writes_of_local_memory_remain(void **state)
{
	(void)state;
	expect(".local 4096\n"
	       "mov r1, v5\n"
	       "mov r2, [one], 64\n"
	       "local_atomic.u32 add, r1, [one], r2, v4\n"
	       "local_atomicw.u32 add, r1, [one], r2, v4\n"
	       "local_load32 r0, [one], r2\n"
	       "group_load sig0, sh4, sh0 + 64, 1024\n"
	       "sig_wait r4[0], sig0\n"
	       POSITION
	       "uvsw vo4, v6\n"
	       "end\n", 4,
	       LIST("local_atomic.u32", "local_atomicw", "r2, [one], 64", "group_load", "sig_wait"),
	       LIST("v5", "v6"));
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

/* The assembler refuses such a branch; slice_program() is also called for words of other origin. */
static void a_branch_beyond_the_program_is_refused(void **state)
{
	struct pumice_usc_insn jump = { .opcode = PUMICE_USC_OP_JUMP, .target = 2 };
	uint32_t words[2 * PUMICE_USC_WORDS];
	char error[128] = "";
	uint8_t keep[2];

	(void)state;
	pumice_usc_pack(words, &jump);
	pumice_usc_pack(words + PUMICE_USC_WORDS,
			&(struct pumice_usc_insn){ .opcode = PUMICE_USC_OP_END });
	assert_int_equal(slice_program(words, 2, 4, keep, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "instruction 0 is not legal"));
	jump.target = 1;
	pumice_usc_pack(words, &jump);
	assert_int_equal(slice_program(words, 2, 4, keep, error, sizeof(error)), 0);
}

/* The PDS program names the instructions of the USC program. */
static void derived_files_name_their_number_of_instructions(void **state)
{
	(void)state;
	expect(".stage vertex\n"
	       ".pds\n"
	       "mov v0, vertex\n"
	       "task code, 7\n"
	       "end\n"
	       ".endpds\n"
	       "mov r4, v0\n"
	       "uvsw vo0, v0\n"
	       "uvsw vo1, v0\n"
	       "uvsw vo2, v0\n"
	       "uvsw vo3, v0\n"
	       "uvsw vo4, r4\n"
	       "end\n", 4, LIST("task code, 5"), LIST("task code, 7", "r4"));
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
	for (uint32_t n = 0; n < after.usc_insns; n++) {
		assert_int_equal(pumice_program_get_lines(part, n, &line, &count), 0);
		assert_int_equal(count, 1);
		/* The end is the last line of both. */
		assert_int_equal(line.line, n + 1 < after.usc_insns ? n + 1 : 11);
	}
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
		cmocka_unit_test(queried_accesses_remain),
		cmocka_unit_test(accesses_that_a_wait_for_any_names_remain),
		cmocka_unit_test(texture_reads_remain_with_their_waits),
		cmocka_unit_test(writes_of_local_memory_remain),
		cmocka_unit_test(reads_of_the_uniform_stream_all_remain),
		cmocka_unit_test(programs_without_a_coordinate_program_are_refused),
		cmocka_unit_test(a_branch_beyond_the_program_is_refused),
		cmocka_unit_test(derived_files_name_their_number_of_instructions),
		cmocka_unit_test(derived_files_keep_lines_and_resources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
