// SPDX-License-Identifier: MIT
/* Warnings of legal programs and their lines; programs without warnings. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "asm.h"
#include "check.h"
#include "pumice_isa.h"

static void collect(void *data, const char *text)
{
	char *all = data;

	strncat(all, text, 2047 - strlen(all));
}

/* Assemble and check. Return: the number of warnings, whose texts are in @all, 2048 bytes. */
static int warnings_of(const char *text, bool lines, char *all)
{
	const struct pumice_asm_options options = { .report = collect, .data = all,
						    .lines = lines };
	uint8_t *file = NULL;
	size_t bytes;
	int count;

	*all = '\0';
	assert_int_equal(pumice_assemble_with("t", text, &options, &file, &bytes), 0);
	assert_string_equal(all, "");
	count = pumice_check("t", file, bytes, collect, all);
	free(file);
	return count;
}

struct program {
	const char *text;
	const char *warnings;
};

static void check_programs(const struct program *programs, size_t count)
{
	char all[2048];

	for (size_t i = 0; i < count; i++) {
		int lines = 0;

		for (const char *at = programs[i].warnings; *at; at++)
			lines += *at == '\n';
		if (warnings_of(programs[i].text, true, all) != lines ||
		    strcmp(all, programs[i].warnings))
			fail_msg("%s\ngave: %s\nexpected: %s", programs[i].text, all,
				 programs[i].warnings);
	}
}

#define UNWRITTEN(line, name) \
	"t:" #line ": warning: " name " is read, but nothing has written it: it is 0\n"
#define UNWAITED_WRITE(line, name, sig) "t:" #line ": warning: " name " is written without a wait " \
	"for " sig " of the load that writes it\n"
#define UNWAITED(line, name, sig) "t:" #line ": warning: " name " is read without a wait for " \
	sig " of the load that writes it\n"
#define ENDLESS(line) \
	"t:" #line ": warning: this loop never ends: no path leads from here to an end\n"

static void a_register_that_no_path_writes_is_reported_once(void **state)
{
	static const struct program programs[] = {
		{ "add.u32 r1, r2, 1\nadd.u32 r3, r2, 1\nend", UNWRITTEN(1, "r2") },
		{ "mov r1, [r9], 5\nend", UNWRITTEN(1, "r9") },
		{ "mov r1, [one], v3\nend", UNWRITTEN(1, "v3") },
		{ ".input v3, local_x\nmov r1, [one], v3\nend", "" },
		{ ".uniforms sh0, 2\nmov r1, [one], sh1\nmov r2, [one], sh2\nend",
		  UNWRITTEN(3, "sh2") },
		{ ".const cf4, 7\nmov r1, [one], cf4\nmov r2, [one], cf5\nend",
		  UNWRITTEN(3, "cf5") },
		{ ".uniforms sh0, 2\nglobal_store64 sig0, [one], sh0 + r2, r4\nend",
		  UNWRITTEN(2, "r2") UNWRITTEN(2, "r4") UNWRITTEN(2, "r5") },
		{ "dc_window sh0, 16\nend", UNWRITTEN(1, "sh0") UNWRITTEN(1, "sh1") },
		{ ".uniforms sh0, 4\ngroup_store_shared sig0, sh2, sh0, 3\nend",
		  UNWRITTEN(2, "sh4") },
		{ "mov r1, [one], r[idx0]\nend", UNWRITTEN(1, "idx0") },
		/* Later in the text, but not on a path to the use. */
		{ "mov r1, [one], r2\nmov r2, [one], 1\nend", UNWRITTEN(1, "r2") },
		{ "jump over\nmov r2, [one], 1\nover: mov r1, [one], r2\nend", UNWRITTEN(3, "r2") },
	};

	(void)state;
	check_programs(programs, sizeof(programs) / sizeof(programs[0]));
}

#define REST_OF_POSITION "uvsw vo1, v5\nuvsw vo2, v5\nuvsw vo3, v5\n"
#define NO_POSITION(line, name) "t:" #line ": warning: a vertex program writes vo0 to vo3, the " \
	"position; " name " is never written\n"
#define NO_EFFECT(line) "t:" #line ": warning: a fragment program writes an output, such as o0; " \
	"this one has no effect\n"

static void a_program_of_a_graphics_stage_without_result_is_reported(void **state)
{
	static const struct program programs[] = {
		{ "uvsw vo0, v5\n" REST_OF_POSITION "end", "" },
		{ "uvsw vo0, v5\nuvsw vo1, v5\nuvsw vo3, v5\nend", NO_POSITION(3, "vo2") },
		{ "uvsw vo0, v5\nuvsw vo4, v5\n" REST_OF_POSITION "end", "" },
		{ "uvsw vo4, v5\n" REST_OF_POSITION "end", NO_POSITION(4, "vo0") },
		{ ".stage vertex\nend", NO_POSITION(2, "vo0") },
		{ ".stage fragment\nmov r0, [one], v0\nend", NO_EFFECT(2) },
		{ ".stage fragment\nend", NO_EFFECT(2) },
		{ ".stage fragment\nmov o3, [one], v0\nend", "" },
		{ ".stage fragment\ndiscard [r1]\nend", UNWRITTEN(2, "r1") },
		{ ".stage fragment\ndepth.f32 v0\nend", "" },
		{ ".stage fragment\nglobal_store32 sig0, [one], sh0 + v0, v1\nend", "" },
		{ ".stage fragment\nglobal_atomic.u32 add, sig0, r1, [one], sh0 + v0, v1\nend", "" },
		{ ".stage compute\nend", "" },
	};

	(void)state;
	check_programs(programs, sizeof(programs) / sizeof(programs[0]));
}

static void a_register_that_some_path_writes_is_not_reported(void **state)
{
	static const struct program programs[] = {
		{ "br_any over, [lo16]\nmov r2, [one], 1\nover: mov r1, [one], r2\nend", "" },
		{ "loop: add.u32 r1, r2, 1\nmov r2, [lo16], r1\nbr_any loop, [lo16]\nend",
		  "" },
		{ "mov r2, [lo16], 1\nmov r1, [one], r2\nend", "" },
		{ "xor.u32 r1, r1, r1\nsub.u32 r2, r2, r2\nend", "" },
		{ "mov idx0, [one], 1\nmov r[idx0], [one], 1\nmov r1, [one], r9\nend", "" },
		{ "mov sh9, 1\nmov r1, [one], sh9\nend", "" },
		{ ".uniforms sh0, 2\nshared_load sig0, sh8, sh0, 2\nsig_wait r1[0], sig0\n"
		  "mov r1, [one], sh9\nend", "" },
		{ ".stage vertex\nuvsw vo0, v5\n" REST_OF_POSITION "end", "" },
		{ ".stage fragment\nitr r0, linear, 2, cf3\nmov o0, [one], r1\nend", "" },
		{ "uvsw vo0, r5\n" REST_OF_POSITION "end", UNWRITTEN(1, "r5") },
		{ "jump over\nmov r1, [one], r2\nover: end", "" },
	};

	(void)state;
	check_programs(programs, sizeof(programs) / sizeof(programs[0]));
}

#define LOAD ".uniforms sh0, 2\nmov r2, [one], 0\nglobal_load32 sig1, r1, [one], sh0 + r2\n"

static void a_load_that_is_read_without_a_wait_is_reported(void **state)
{
	static const struct program programs[] = {
		{ LOAD "mov r3, [one], r1\nend", UNWAITED(4, "r1", "sig1") },
		{ LOAD "mov r3, [r1], 1\nend", UNWAITED(4, "r1", "sig1") },
		{ LOAD "sig_wait r4[0], sig0\nmov r3, [one], r1\nend", UNWAITED(5, "r1", "sig1") },
		{ ".stage tile\nglobal_load32 sig0, o3, [one], sh8 + v0\npbe sh0\nend",
		  UNWAITED(3, "o3", "sig0") },
		{ LOAD "sig_wait r4[0], sig1\nmov r3, [one], r1\nend", "" },
		{ LOAD "sig_waitall2 r4[0], sig0, sig1\nmov r3, [one], r1\nend", "" },
		/* One of several signals: until a branch nothing has distinguished them. */
		{ LOAD "sig_waitany2 r4[0], sig0, sig1\nmov r3, [one], r1\nend",
		  UNWAITED(5, "r1", "sig1") },
		{ LOAD "sig_waitany2 r4[0], sig0, sig1\nbrz over, r4[0]\nmov r3, [one], r1\n"
		  "over: end", "" },
		{ LOAD "sig_waitany4 r4[0], sig0, sig1, sig2, sig3\n"
		  "global_load32 sig2, r1, [one], sh0 + r2\nend", UNWAITED_WRITE(5, "r1", "sig1") },
		{ LOAD "sig_waitany3 r4[0], sig1, sig1, sig1\nmov r3, [one], r1\nend", "" },
		/* A later load of the signal is not one that the wait was for. */
		{ LOAD "sig_wait r4[0], sig1\nsig_waitany2 r4[0], sig0, sig1\n"
		  "global_load32 sig1, r1, [one], sh0 + r2\nbrz over, r4[0]\nmov r3, [one], r1\n"
		  "over: end", UNWAITED(8, "r1", "sig1") },
		/* The register that an index selects is not certain. */
		{ LOAD "mov idx0, [one], 1\nglobal_load32 sig2, r[idx0], [one], sh0 + r2\n"
		  "mov r3, [one], r2\nend", "" },
		{ LOAD "mem_fence group\nmov r3, [one], r1\nend", "" },
		{ LOAD "cache_clean core\nmov r3, [one], r1\nend", "" },
		{ LOAD "cache_invalidate_range core, sh0, 4\nmov r3, [one], r1\nend", "" },
		/* It would overwrite the value, or be overwritten. */
		{ LOAD "mov r1, [one], 5\nmov r3, [one], r1\nend", UNWAITED_WRITE(4, "r1", "sig1") },
		{ LOAD "global_load32 sig2, r1, [one], sh0 + r2\nsig_wait r4[0], sig2\nend",
		  UNWAITED_WRITE(4, "r1", "sig1") },
		/* Not after a branch: another path may have waited. */
		{ LOAD "loop: mov r3, [one], r1\nbr_any loop, [lo16]\nend", "" },
		{ ".uniforms sh0, 2\nmov r2, [one], 0\nburst_load sig3, r8, [one], sh0 + r2, 4\n"
		  "mov r3, [one], r11\nmov r3, [one], r12\nend",
		  UNWAITED(4, "r11", "sig3") UNWRITTEN(5, "r12") },
		{ ".uniforms sh0, 2\nshared_load sig2, sh4, sh0, 2\nmov r1, [one], sh5\nend",
		  UNWAITED(3, "sh5", "sig2") },
		{ ".uniforms sh0, 2\ngroup_load_shared sig2, sh4, sh0, 100\nmov r1, [one], sh103\n"
		  "sig_wait r2[0], sig2\nmov r1, [one], sh102\nend", UNWAITED(3, "sh103", "sig2") },
		{ ".uniforms sh0, 2\nmov r2, [one], 0\nglobal_load32 sig2, sl3, [one], sh0 + r2\n"
		  "mov r1, [one], sl2\nmov r1, [one], sl3\nend", UNWAITED(5, "sl3", "sig2") },
		{ ".uniforms sh0, 2\nmov r2, [one], 0\nglobal_load32 sig2, sl3, [one], sh0 + r2\n"
		  "sig_wait r1[0], sig2\nmov r1, [one], sl3\nend", "" },
		{ ".stage fragment\nglobal_load32 sig2, o1, [one], sh0 + v0\n"
		  "mov o0, [one], 1\nmov o1, [one], 1\nend", UNWAITED_WRITE(4, "o1", "sig2") },
		{ ".stage fragment\nsample.f32 sig9, r4, 2d, v0, sh0\nmov o0, [one], r7\nend",
		  UNWAITED(3, "r7", "sig9") },
		{ ".stage fragment\nsample.f32 sig9, r4, 2d, v0, sh0\nsig_wait r0[0], sig9\n"
		  "mov o0, [one], r7\nend", "" },
		/* Without a signal it is complete. */
		{ ".stage fragment\nsample.f32 r4, 2d, v0, sh0\nmov o0, [one], r7\nend", "" },
	};

	(void)state;
	check_programs(programs, sizeof(programs) / sizeof(programs[0]));
}

static void a_program_that_cannot_end_is_reported(void **state)
{
	static const struct program programs[] = {
		{ "loop: jump loop", ENDLESS(1) },
		{ "loop: br_all loop, [one]", ENDLESS(1) },
		{ "loop: br_any loop, [!one]\nend", "" },
		{ "mov r1, [one], 1\nloop: add.u32 r1, r1, 1\njump loop\nend", ENDLESS(2) },
		{ "br_any stuck, [lo16]\nend\nstuck: jump stuck", ENDLESS(3) },
		{ "mov r1, [one], 1\nloop: add.u32 r1, r1, 1\nbr_any loop, [r1]\nend", "" },
		{ "a: br_any b, [lo16]\njump a\nb: jump a", ENDLESS(1) },
		{ "mov r1, [one], 1", "t:1: warning: the last instruction is not an end\n" },
		{ "end\nmov r1, [one], 1", "" },
	};

	(void)state;
	check_programs(programs, sizeof(programs) / sizeof(programs[0]));
}

static void a_warning_names_macro_and_instruction(void **state)
{
	char all[2048];

	(void)state;
	assert_int_equal(warnings_of(".macro m\nmov r1, [one], r2\n.endm\nm\nend", true, all), 1);
	assert_string_equal(all, "t:2 < t:4: warning: r2 is read, but nothing has written it: it is 0\n");
	assert_int_equal(warnings_of("mov r3, [one], 1\nmov r1, [one], r2\nend", false, all), 1);
	assert_string_equal(all, "t: instruction 1: warning: r2 is read, but nothing has written it: it "
				 "is 0\n");
	assert_int_equal(pumice_check("t", "", 0, collect, all), -EINVAL);
}

/* Words that are not programs, and opcodes with random operands. */
static void random_words_never_crash_the_checker(void **state)
{
	uint64_t rng = 88172645463325252u;

	(void)state;
	for (unsigned int round = 0; round < 300; round++) {
		char text[4096] = "", all[2048] = "";
		uint8_t *file;
		size_t bytes;

		for (unsigned int i = 0; i < 40; i++) {
			uint32_t words[4], op;

			for (unsigned int k = 0; k < 4; k++) {
				rng ^= rng << 13;
				rng ^= rng >> 7;
				rng ^= rng << 17;
				words[k] = (uint32_t)(rng >> 16) >> (round % 3 * 8);
			}
			op = words[1] % pumice_usc_isa.nr_ops;
			if (round % 2)
				words[0] = (words[0] & ~255u) | pumice_usc_isa.ops[op].opcode;
			snprintf(text + strlen(text), sizeof(text) - strlen(text),
				 ".word %u, %u, %u, %u\n", words[0], words[1], words[2], words[3]);
		}
		assert_int_equal(pumice_assemble("t", text, NULL, NULL, &file, &bytes), 0);
		assert_true(pumice_check("t", file, bytes, collect, all) >= 0);
		free(file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_register_that_no_path_writes_is_reported_once),
		cmocka_unit_test(a_program_of_a_graphics_stage_without_result_is_reported),
		cmocka_unit_test(a_register_that_some_path_writes_is_not_reported),
		cmocka_unit_test(a_load_that_is_read_without_a_wait_is_reported),
		cmocka_unit_test(a_program_that_cannot_end_is_reported),
		cmocka_unit_test(a_warning_names_macro_and_instruction),
		cmocka_unit_test(random_words_never_crash_the_checker),
	};

	return cmocka_run_group_tests_name("compiler-check", tests, NULL, NULL);
}
