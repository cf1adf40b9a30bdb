// SPDX-License-Identifier: MIT
/*
 * Expressions, macros, repetitions and included files: their expansion equals the same text
 * written out; errors name the line and each including line; endless expansion is refused.
 * Source lines and the listing equal the expected text.
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
#include "pumice/pumice.h"

/* Files that .include finds, and the first error. */
struct fixture {
	const char *name;	/* of the file, or NULL */
	const char *const (*file)[2];
	unsigned int files;
	unsigned int reads;
	unsigned int errors;
	char first[4096];
};

static void report(void *data, const char *text)
{
	struct fixture *w = data;

	if (!w->errors++)
		snprintf(w->first, sizeof(w->first), "%s", text);
}

static int include(void *data, const char *from, const char *name, char **path, char **text)
{
	struct fixture *w = data;

	(void)from;
	w->reads++;
	for (unsigned int i = 0; i < w->files; i++) {
		if (strcmp(w->file[i][0], name))
			continue;
		*path = strdup(name);
		*text = strdup(w->file[i][1]);
		return 0;
	}
	return -ENOENT;
}

static int assemble(struct fixture *w, const char *text, bool lines, char **listing, uint8_t **file,
		    size_t *bytes)
{
	const struct pumice_asm_options options = {
		.report = report, .include = include, .data = w, .lines = lines,
		.listing = listing,
	};

	return pumice_assemble_with(w->name ? w->name : "t", text, &options, file, bytes);
}

/* Both texts make the same program. */
static void same(struct fixture *w, const char *text, const char *plain)
{
	uint8_t *one = NULL, *two = NULL;
	size_t one_bytes, two_bytes;

	if (assemble(w, text, false, NULL, &one, &one_bytes))
		fail_msg("%s\ngave: %s", text, w->first);
	assert_int_equal(pumice_assemble("t", plain, NULL, NULL, &two, &two_bytes), 0);
	assert_int_equal(one_bytes, two_bytes);
	assert_memory_equal(one, two, one_bytes);
	free(one);
	free(two);
}

/* The values of the expressions below are those that C computes. */
#pragma GCC diagnostic ignored "-Wparentheses"

#define INT(e) { #e, (uint32_t)(e), 0 }
#define REAL(e) { #e, 0, e }

static void expressions_are_those_of_c(void **state)
{
	static const struct {
		const char *text;
		uint32_t value;
		float real;
	} cases[] = {
		INT(1 + 2 * 3), INT((1 + 2) * 3), INT(7 - 2 - 1), INT(100 / 7 / 2),
		INT(100 % 7 * 3),
		INT(1 << 4 + 1), INT(0xf0 >> 4 & 3), INT(1 | 6 & 3 ^ 8), INT(-4 + 8),
		INT(~5 & 0xff),
		INT(- -3), INT(-(2 + 3) * -2), INT(0x7fffffff + 0), INT(((((9))))), INT(-7 / 2),
		INT(-7 % 3), INT(5-3), INT(0 - 1 >> 4), INT(-~5), INT(~-5),
		REAL(1.5 + 0.25), REAL(1.0 / 4.0), REAL(-2.5 * 4.0 - 1.0), REAL((1.0 + 2.0) * 0.5),
	};
	struct fixture w = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t bits = cases[i].value;
		char text[128], plain[64];

		if (strchr(cases[i].text, '.'))
			memcpy(&bits, &cases[i].real, sizeof(bits));
		snprintf(text, sizeof(text), "mov r0, %s\nend\n", cases[i].text);
		snprintf(plain, sizeof(plain), "mov r0, 0x%08x\nend\n", bits);
		same(&w, text, plain);
	}
}

static void expressions_are_accepted_as_numbers(void **state)
{
	struct fixture w = { 0 };

	(void)state;
	same(&w, ".equ A, 2\n.equ N, -A\n.equ B, A * 3 + N\n.group A << 4, 4 / 2\n.local A * 8\n"
		 ".const sh0, B\nglobal_load32 sig0, r1, [one], sh0 + r2 + A * 8 + 4\n"
		 "mov r[idx0 * 4 + A + 1], r2\nmov r3, N + 10\nend\n",
	     ".group 32, 2\n.local 16\n.const sh0, 4\nglobal_load32 sig0, r1, [one], sh0 + r2 + 20\n"
	     "mov r[idx0 * 4 + 3], r2\nmov r3, 8\nend\n");
}

static void macros_equal_the_text_written_out(void **state)
{
	struct fixture w = { 0 };

	(void)state;
	same(&w, ".macro m d, s, n = 4\nadd.u32 \\d, \\s, (\\n) * 2\n.endm\n"
		 "m r1, r2\nm r3, r[idx0 + 1], 1 + 2\nx: m r4, r4\njump x\nend\n",
	     "add.u32 r1, r2, 8\nadd.u32 r3, r[idx0 + 1], 6\nx: add.u32 r4, r4, 8\njump x\nend\n");
	/* Labels of their own, names side by side, macros in macros. */
	same(&w, ".macro spin r\nl\\@:\nadd.u32 \\r, \\r, 1\njump l\\@\n.endm\n"
		 ".macro both n\nspin r\\n\\()1\nspin r\\n\n.endm\nboth 2\nend\n",
	     "a: add.u32 r21, r21, 1\njump a\nb: add.u32 r2, r2, 1\njump b\nend\n");
	same(&w, ".repeat 3, i\nmov r\\i, \\i * 2\n.endr\n.repeat 0\nfoo\n.endr\nend\n",
	     "mov r0, 0\nmov r1, 2\nmov r2, 4\nend\n");
	same(&w, ".repeat 2\nl\\@:\nadd.u32 r1, r1, 1\njump l\\@\n.endr\nend\n",
	     "a: add.u32 r1, r1, 1\njump a\nb: add.u32 r1, r1, 1\njump b\nend\n");
	same(&w, ".macro m n\n.repeat \\n, i\n.repeat 2, j\nmov r\\i, \\j\n.endr\n.endr\n.endm\nm 2\nend\n",
	     "mov r0, 0\nmov r0, 1\nmov r1, 0\nmov r1, 1\nend\n");
	same(&w, ".pds\n.repeat 2, i\nldi sh\\i, \\i + 7\n.endr\ntask code\nend\n.endpds\nend\n",
	     ".pds\nldi sh0, 7\nldi sh1, 8\ntask code\nend\n.endpds\nend\n");
}

static void files_are_included_and_read_once_for_each_path(void **state)
{
	static const char *const files[][2] = {
		{ "a.inc", ".include \"b.inc\"\nmov r1, A\n" },
		{ "b.inc", ".equ A, 5\n" },
		{ "c.inc", "mov r2, 3" },
	};
	struct fixture w = { .file = files, .files = 3 };

	(void)state;
	same(&w, ".include \"a.inc\"\n .include \"c.inc\" ; twice\n.include \"c.inc\"\nend\n",
	     "mov r1, 5\nmov r2, 3\nmov r2, 3\nend\n");
}

struct error_case {
	const char *text, *expected;
};

static const char *const error_files[][2] = {
	{ "bad.inc", "\nfoo r1\n" },
	{ "loop.inc", ".include \"other.inc\"\n" },
	{ "other.inc", "end\n.include \"loop.inc\"\n" },
	{ "mac.inc", ".macro m a\nadd.u32 r0, \\a\n.endm\n" },
};

static void check_errors(const struct error_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct fixture w = { .file = error_files, .files = 4 };
		uint8_t *file = NULL;
		size_t bytes;

		assert_int_equal(assemble(&w, cases[i].text, true, NULL, &file, &bytes), -EINVAL);
		assert_null(file);
		if (strncmp(w.first, cases[i].expected, strlen(cases[i].expected)))
			fail_msg("%s\ngave: %s\ninstead of: %s", cases[i].text, w.first,
				 cases[i].expected);
	}
}

static void errors_name_the_line_and_its_uses(void **state)
{
	static const struct error_case cases[] = {
		{ "end\n.include \"bad.inc\"", "bad.inc:2:1: error: no such operation; if "
		  "it is a macro, define it before: .macro foo\nfoo r1\n^~~\n"
		  "t:2: note: included here\n" },
		{ ".include \"mac.inc\"\nend\nm r1", "mac.inc:2:15: error: expected ','; "
		  "add takes 3 operands, such as add.f32 r1, r2, r3\nadd.u32 r0, r1\n"
		  "              ^\nt:3: note: the macro is used here\n" },
		{ ".macro m\n.repeat 2\nfoo\n.endr\n.endm\nend\nm\n", "t:3:1: error: no such operation; if "
		  "it is a label, write foo:\nfoo\n^~~\nt:2: note: repeated here, repetition 0\nt:7: note: the macro is used here\n" },
		{ ".macro m\njump away\n.endm\nm\nend\n", "t:2:6: error: undefined label away: write away: "
		  "before the instruction to branch to\njump away\n"
		  "     ^~~~\nt:4: note: the macro is used here\n" },
	};

	(void)state;
	check_errors(cases, sizeof(cases) / sizeof(cases[0]));
}

static void bad_macros_and_expressions_are_refused(void **state)
{
	static const struct error_case cases[] = {
		{ "mov r0, 1 / 0", "t:1:11: error: division by zero" },
		/* A decimal number on one side makes the result one. */
		{ "add.f32 r1, r2, 0x1 + 1", "t:1:17: error: an f32 operation: write 2.0 for" },
		{ "add.f32 r1, r2, 1 + 0x1", "t:1:17: error: an f32 operation: write 2.0 for" },
		{ "mov r0, 1 % (2 - 2)", "t:1:11: error: division by zero" },
		{ "mov r0, 1 << 32", "t:1:11: error: a shift is by 0 to 31 bits" },
		{ "mov r0, 0xffffffff + 1", "t:1:9: error: the number does not fit" },
		{ "mov r0, -0x80000001", "t:1:9: error: the number does not fit" },
		{ ".equ A, 1 << 31\nmov r0, A * A * A", "t:2:15: error: the result does not fit" },
		{ "mov r0, (-0x40000000 * 0x40000000 * 8) / -1",
		  "t:1:40: error: the result does not fit" },
		{ "mov r0, (-0x40000000 * 0x40000000 * 8) % -1",
		  "t:1:40: error: the result does not fit" },
		{ "mov r0, 1 + 2.0", "t:1:11: error: a whole number and a float" },
		{ "mov r0, ~1.0", "t:1:10: error: ~ is for whole numbers" },
		{ "mov r0, 1.0 & 2.0", "t:1:13: error: this operator is for whole" },
		{ "mov r0, (1", "t:1:11: error: expected ')'" },
		{ "mov r0, 1 +", "t:1:12: error: expected a number" },
		{ ".macro add\n.endm", "t:1:8: error: add is an operation" },
		{ ".macro m\n.endm\n.macro m\n.endm", "t:3:8: error: m is defined twice" },
		{ ".macro m a, a\n.endm", "t:1:13: error: another argument has" },
		{ ".macro m a = 1, b\n.endm", "t:1:17: error: arguments after one with a preset" },
		{ ".macro m a\n.endm\nm", "t:3:2: error: m needs its argument a" },
		{ ".macro m a\n.endm\nm 1, 2", "t:3:6: error: m takes 1 argument\n" },
		/* A comma in brackets does not end an argument. */
		{ ".macro m a\nmov r0, \\a\n.endm\nm (1, 2)", "t:2:11: error: expected ')'" },
		{ ".macro m a\nmov r0, \\b\n.endm\nm 1", "t:2:9: error: no argument or counter has the name b" },
		{ ".macro m\nend", "t:1:1: error: .macro without .endm: write .endm" },
		{ ".repeat 2\nend\n.endm", "t:3:1: error: expected .endr, which ends the .repeat of line 1\n" },
		{ ".endr", "t:1:1: error: .endr without .repeat: " },
		{ ".include \"none\"", "t:1:10: error: none: No such file or directory; "
		  "it is searched for in the folder of this file, then in those of pumice-as -I" },
		{ ".include none", "t:1:10: error: expected the name of a file in quotes" },
		{ ".include \"none", "t:1:10: error: expected the name of a file in quotes" },
	};

	(void)state;
	check_errors(cases, sizeof(cases) / sizeof(cases[0]));
}

static void an_error_in_a_repetition_is_reported_once(void **state)
{
	struct fixture w = { 0 };
	uint8_t *file;
	size_t bytes;

	(void)state;
	assert_int_equal(assemble(&w, ".repeat 3\nfoo\n.endr\nbar\nend\n", true, NULL,
				  &file, &bytes),
			 -EINVAL);
	assert_int_equal(w.errors, 2);
	assert_non_null(strstr(w.first, "repeated here, repetition 0\n"));
}

static void endless_expansion_is_refused(void **state)
{
	static const struct error_case cases[] = {
		{ ".macro m\nm\n.endm\nm", "t:2:2: error: macros, repetitions and files are nested more than 32" },
		{ ".macro a\nb\n.endm\n.macro b\na\n.endm\na", "t:2:2: error: macros, repetitions and" },
		{ ".include \"loop.inc\"", "other.inc:2:10: error: the file includes itself" },
		{ ".repeat 65537\n.endr", "t:1:9: error: a number of repetitions is a whole "
		  "number from 0 to 65536\n" },
		{ ".repeat 60000\n.repeat 60000\n.endr\n.endr", "t:3:6: error: more than 1000000 lines" },
		{ ".repeat 60000\n.repeat 20\nx:\n.endr\n.endr", "t:3:1: error: x is defined twice" },
		{ ".repeat 60000\n.repeat 20\n;\n.endr\n.endr", "t:" },
		/* Twice as much text in each of the uses. */
		{ ".macro m a\n.equ X\\a, 1\nm \\a\\a\n.endm\nm a", "t:" },
		{ ".macro m a, b\nm \\b\\a, \\b\\a\\b\n.endm\nm 1, 2", "t:2:1: error: a macro expands to a line" },
	};

	(void)state;
	check_errors(cases, sizeof(cases) / sizeof(cases[0]));
}

static void without_a_reader_nothing_is_included(void **state)
{
	struct fixture w = { 0 };
	uint8_t *file;
	size_t bytes;

	(void)state;
	assert_int_equal(pumice_assemble("t", ".include \"a\"\nend\n", report, &w, &file, &bytes),
			 -EINVAL);
	assert_non_null(strstr(w.first, "files cannot be included here"));
}

static const char *const line_files[][2] = { { "lib.inc", "\n.macro m\n.repeat 2\nend\n.endr\n.endm\n" } };
static const char line_text[] = "mov r0, 1\n.include \"lib.inc\"\n\nx: m\njump x\n";

static void check_line(const struct pumice_source_line *line, const char *file, uint32_t number,
		       uint32_t use, uint32_t repetition)
{
	assert_string_equal(line->file, file);
	assert_int_equal(line->line, number);
	assert_int_equal(line->use, use);
	assert_int_equal(line->repetition, repetition);
}

static void instructions_lead_to_their_lines(void **state)
{
	struct fixture w = { .file = line_files, .files = 1 };
	struct pumice_source_line line[PUMICE_SOURCE_DEPTH];
	struct pumice_program *program;
	uint32_t count = PUMICE_SOURCE_DEPTH;
	char error[256];
	uint8_t *file;
	size_t bytes;

	(void)state;
	assert_int_equal(assemble(&w, line_text, true, NULL, &file, &bytes), 0);
	if (pumice_program_parse(file, bytes, &program, error, sizeof(error)))
		fail_msg("%s", error);
	free(file);
	assert_int_equal(pumice_program_get_lines(program, 0, line, &count), 0);
	assert_int_equal(count, 1);
	check_line(&line[0], "t", 1, PUMICE_SOURCE_FILE, 0);
	count = PUMICE_SOURCE_DEPTH;
	assert_int_equal(pumice_program_get_lines(program, 2, line, &count), 0);
	assert_int_equal(count, 3);
	check_line(&line[0], "lib.inc", 4, PUMICE_SOURCE_REPEAT, 1);
	check_line(&line[1], "lib.inc", 3, PUMICE_SOURCE_MACRO, 0);
	check_line(&line[2], "t", 4, PUMICE_SOURCE_FILE, 0);
	count = 1;
	assert_int_equal(pumice_program_get_lines(program, 3, line, &count), 0);
	assert_int_equal(count, 1);
	check_line(&line[0], "t", 5, PUMICE_SOURCE_FILE, 0);
	assert_int_equal(pumice_program_get_lines(program, 4, line, &count), -EINVAL);
	pumice_program_destroy(program);
}

/* Return the name of the file in the line of the first instruction. */
static void first_file(const char *path, char *name, size_t bytes)
{
	struct fixture w = { .name = path };
	struct pumice_source_line line;
	struct pumice_program *program;
	uint32_t count = 1;
	char error[256];
	uint8_t *file;
	size_t size;

	assert_int_equal(assemble(&w, "end\n", true, NULL, &file, &size), 0);
	if (pumice_program_parse(file, size, &program, error, sizeof(error)))
		fail_msg("%s", error);
	assert_int_equal(pumice_program_get_lines(program, 0, &line, &count), 0);
	snprintf(name, bytes, "%s", line.file);
	pumice_program_destroy(program);
	free(file);
}

static void any_name_of_a_file_makes_a_valid_program(void **state)
{
	char name[64];

	(void)state;
	first_file("a\033[2J\nb\177.pasm", name, sizeof(name));
	assert_string_equal(name, "a?[2J?b?.pasm");
	first_file("", name, sizeof(name));
	assert_string_equal(name, "?");
	first_file("\303\244.pasm", name, sizeof(name));
	assert_string_equal(name, "\303\244.pasm");
	first_file("\303\233\302\233a\233\342\200\223\302\240\200", name, sizeof(name));
	assert_string_equal(name, "\303\233??a?\342\200\223\302\240?");
}

static void errors_control_no_terminal(void **state)
{
	struct fixture w = { .name = "t\033[2J" };
	uint8_t *file;
	size_t bytes;

	(void)state;
	assert_int_equal(assemble(&w, "\tmov r0, \033[31m\177\302\233\233", true, NULL,
				  &file, &bytes),
			 -EINVAL);
	assert_null(strpbrk(w.first, "\033\177\302\233"));
	assert_ptr_equal(strstr(w.first, "t?[2J:1:"), w.first);
	assert_non_null(strstr(w.first, "\n\tmov r0, ?[31m????\n\t        ^"));
}

/* Include another file by the same long path, but for its number, count times. */
static int include_long(void *data, const char *from, const char *name, char **path, char **text)
{
	(void)data;
	(void)from;
	*path = malloc(1024);
	snprintf(*path, 1024, "%01000d%s", 0, name);
	*text = strdup("");
	return 0;
}

static int assemble_included(unsigned int files, struct fixture *w, uint8_t **file, size_t *bytes)
{
	const struct pumice_asm_options options = {
		.report = report, .include = include_long, .data = w, .lines = true,
	};
	char text[4096] = "end\n", *at = text + strlen(text);

	for (unsigned int i = 0; i < files; i++)
		at += sprintf(at, ".include \"%02u\"\n", i);
	return pumice_assemble_with("t", text, &options, file, bytes);
}

static void names_that_a_program_cannot_hold_are_refused(void **state)
{
	struct fixture w = { 0 };
	struct pumice_program *program;
	uint8_t *file;
	size_t bytes;

	(void)state;
	/* Of 1003 bytes each, and 2 of the first: at most 65536. */
	assert_int_equal(assemble_included(65, &w, &file, &bytes), 0);
	assert_int_equal(pumice_program_parse(file, bytes, &program, NULL, 0), 0);
	pumice_program_destroy(program);
	free(file);
	assert_int_equal(assemble_included(66, &w, &file, &bytes), -EINVAL);
	assert_non_null(strstr(w.first, "t:67:"));
	assert_non_null(strstr(w.first, "error: too many included files"));
}

static void lines_are_left_out_on_request(void **state)
{
	struct pumice_source_line line;
	struct pumice_program *program;
	uint32_t count = 1;
	uint8_t *file;
	size_t bytes;

	(void)state;
	assert_int_equal(pumice_assemble("t", "end\n", NULL, NULL, &file, &bytes), 0);
	assert_int_equal(pumice_program_parse(file, bytes, &program, NULL, 0), 0);
	assert_int_equal(pumice_program_get_lines(program, 0, &line, &count), -ENODATA);
	pumice_program_destroy(program);
	free(file);
}

static void the_listing_has_address_words_and_line(void **state)
{
	struct fixture w = { .file = line_files, .files = 1 };
	char *listing = NULL, *numbered = NULL;
	uint8_t *file;
	size_t bytes;

	(void)state;
	assert_int_equal(assemble(&w, line_text, true, &listing, &file, &bytes), 0);
	assert_non_null(strstr(listing, "usc: 4 instructions\n    0  00000  00410001 00f00001 00000000 "
					"00000001  t:1  mov r0, 1\n"));
	assert_non_null(strstr(listing, "    2  00020  0000006f 00000000 00000000 00000000  lib.inc:4 < "
					"lib.inc:3 < t:4  end\n"));
	assert_int_equal(pumice_disassemble_numbered(file, bytes, &numbered, NULL, 0), 0);
	assert_non_null(strstr(numbered, "; "));
	assert_non_null(strstr(numbered, "    2  00020  lib.inc:4 < lib.inc:3 < t:4\n"));
	free(listing);
	free(numbered);
	free(file);
	assert_int_equal(assemble(&w, " \t\tend\n", true, &listing, &file, &bytes), 0);
	assert_non_null(strstr(listing, "  t:1  end\n"));
	free(listing);
	free(file);
}

/* The numbers are a comment: the text makes the same instructions. */
static void numbered_text_assembles_too(void **state)
{
	static const char text[] = ".uniforms sh0, 4\nx: add.u32 r1, r1, 1\n.word 1, 2, 3, 4\n"
				   "br_any x, [r1]\nend\n";
	char *plain, *numbered;
	uint8_t *file, *one, *two;
	size_t bytes, one_bytes, two_bytes;

	(void)state;
	assert_int_equal(pumice_assemble("t", text, NULL, NULL, &file, &bytes), 0);
	assert_int_equal(pumice_disassemble(file, bytes, &plain, NULL, 0), 0);
	assert_int_equal(pumice_disassemble_numbered(file, bytes, &numbered, NULL, 0), 0);
	assert_string_not_equal(plain, numbered);
	assert_int_equal(pumice_assemble("t", plain, NULL, NULL, &one, &one_bytes), 0);
	assert_int_equal(pumice_assemble("t", numbered, NULL, NULL, &two, &two_bytes), 0);
	assert_int_equal(one_bytes, two_bytes);
	assert_memory_equal(one, two, one_bytes);
	free(plain);
	free(numbered);
	free(file);
	free(one);
	free(two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expressions_are_those_of_c),
		cmocka_unit_test(expressions_are_accepted_as_numbers),
		cmocka_unit_test(macros_equal_the_text_written_out),
		cmocka_unit_test(files_are_included_and_read_once_for_each_path),
		cmocka_unit_test(errors_name_the_line_and_its_uses),
		cmocka_unit_test(bad_macros_and_expressions_are_refused),
		cmocka_unit_test(an_error_in_a_repetition_is_reported_once),
		cmocka_unit_test(endless_expansion_is_refused),
		cmocka_unit_test(without_a_reader_nothing_is_included),
		cmocka_unit_test(instructions_lead_to_their_lines),
		cmocka_unit_test(any_name_of_a_file_makes_a_valid_program),
		cmocka_unit_test(errors_control_no_terminal),
		cmocka_unit_test(names_that_a_program_cannot_hold_are_refused),
		cmocka_unit_test(lines_are_left_out_on_request),
		cmocka_unit_test(the_listing_has_address_words_and_line),
		cmocka_unit_test(numbered_text_assembles_too),
	};

	return cmocka_run_group_tests_name("compiler-macros", tests, NULL, NULL);
}
