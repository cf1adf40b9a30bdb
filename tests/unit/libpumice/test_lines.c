// SPDX-License-Identifier: MIT
/*
 * Source lines of program files, generated explicitly: contents read from a valid
 * section, and rejection with a reason of every damage that the checksum does not detect.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "progfile.h"
#include "pumice/pumice.h"

#define MAX_WORDS 256

/* Words of the file: header 0, 2 USC instructions 12, 2 PDS instructions 20, relocation 28. */
#define SECTION	29u
#define INSNS	(SECTION + PUMICE_PROGRAM_LINES_WORDS)	/* 4 */
#define PLACES	(INSNS + 4)				/* 2 of 4 words */
#define NAMES	(PLACES + 8)				/* 2 words: "a", "bc" */
#define END	(NAMES + 2)

static u32 file[MAX_WORDS];

static size_t bytes_of(const u32 *words)
{
	return words[2];
}

/* Instruction 0 is line 7 of bc, the 6th repetition by line 3 of a; 1 has no line. */
static int make_file(void **state)
{
	const struct pumice_usc_insn end = { .opcode = PUMICE_USC_OP_END };
	const struct pumice_program_lines head = { .places = 2, .files = 2, .name_bytes = 8 };
	const struct pumice_program_place place[] = {
		{ .file = 0, .line = 3 },
		{ .file = 1, .line = 7, .use = PUMICE_PROGRAM_USE_REPEAT, .parent = 1, .nth = 5 },
	};
	struct progfile p;

	(void)state;
	memset(file, 0, sizeof(file));
	progfile_init(&p);
	p.header.lines = true;
	progfile_usc(&p, &end);
	progfile_usc(&p, &end);
	progfile_start(&p);
	assert_int_equal(progfile_write(&p, file, sizeof(file)), SECTION * 4);
	pumice_program_lines_pack(file + SECTION, &head);
	file[INSNS] = 2;
	file[INSNS + 3] = 1;
	pumice_program_place_pack(file + PLACES, &place[0]);
	pumice_program_place_pack(file + PLACES + 4, &place[1]);
	memcpy(file + NAMES, "a\0bc", 5);
	file[2] = END * 4;
	progfile_seal(file, END * 4);
	return 0;
}

static void lines_are_read_from_the_inside_out(void **state)
{
	struct pumice_source_line line[3];
	struct pumice_program *program;
	char error[PUMICE_ERROR_BYTES];
	uint32_t count = 3;

	(void)state;
	if (pumice_program_parse(file, bytes_of(file), &program, error, sizeof(error)))
		fail_msg("%s", error);
	assert_int_equal(pumice_program_get_lines(program, 0, line, &count), 0);
	assert_int_equal(count, 2);
	assert_string_equal(line[0].file, "bc");
	assert_int_equal(line[0].line, 7);
	assert_int_equal(line[0].use, PUMICE_SOURCE_REPEAT);
	assert_int_equal(line[0].repetition, 5);
	assert_string_equal(line[1].file, "a");
	assert_int_equal(line[1].line, 3);
	assert_int_equal(line[1].use, PUMICE_SOURCE_FILE);
	count = 3;
	assert_int_equal(pumice_program_get_lines(program, 1, line, &count), -ENODATA);
	assert_int_equal(count, 0);
	assert_int_equal(pumice_program_get_lines(program, 2, line, &count), -EINVAL);
	pumice_program_destroy(program);
}

static void each_damage_is_refused_with_its_reason(void **state)
{
	static const struct {
		u32 word, value;
		const char *reason;
	} cases[] = {
		{ SECTION, 3, "words, but the header describes" },
		{ SECTION, 0x40001, "262145 places" },
		{ SECTION, 0xffffffff, "4294967295 places" },
		{ SECTION + 1, 257, "257 files" },
		{ SECTION + 1, 1, "file 1 is not below 1" },
		{ SECTION + 1, 3, "file 2 has no name" },
		{ SECTION + 2, 4, "words, but the header describes" },
		{ SECTION + 2, 7, "7 bytes of names" },
		{ SECTION + 2, 0x10004, "65540 bytes of names" },
		{ SECTION + 3, 1, "reserved bits" },
		{ INSNS, 3, "instruction 0: place 3 is more than 2" },
		{ INSNS + 3, 0xffffffff, "instruction 3: place 4294967295 is more than 2" },
		{ PLACES, 2, "place 0: file 2 is not below 2" },
		{ PLACES, 1u << 31, "place 0: reserved bits" },
		/* included, by no line */
		{ PLACES, 1u << 16, "place 0: use include with parent 0" },
		{ PLACES + 1, 0, "place 0: line is 0" },
		{ PLACES + 2, 1, "place 0: parent 1" },		/* its own, and without a use */
		{ PLACES + 3, 1, "place 0: repetition 1, but its use is none" },
		{ PLACES + 4 + 2, 0, "with parent 0" },
		{ PLACES + 4 + 2, 2, "place 1: parent 2" },	/* itself: an endless chain */
		{ PLACES + 4 + 2, 3, "place 1: parent 3" },
		{ NAMES, 0x63620000, "file 0 has no name" },
		{ NAMES, 0x6362001b, "file 0: its name has a control character" },
		{ NAMES, 0x630a0061, "file 1: its name has a control character" },
		{ NAMES, 0x6362007f, "file 0: its name has a control character" },
		{ NAMES + 1, 0x61616161, "file 1 has no name" },	/* it does not end */
		{ NAMES + 1, 0x61000000, "text after the last name" },
	};
	struct pumice_program *program;
	char error[PUMICE_ERROR_BYTES];
	u32 copy[MAX_WORDS];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memcpy(copy, file, sizeof(copy));
		copy[cases[i].word] = cases[i].value;
		progfile_seal(copy, bytes_of(copy));
		if (!pumice_program_parse(copy, bytes_of(copy), &program, error, sizeof(error)))
			fail_msg("case %zu is accepted", i);
		if (!strstr(error, cases[i].reason))
			fail_msg("case %zu: '%s' instead of '%s'", i, error, cases[i].reason);
	}
}

/* Of file 1; sequences of terminals, and characters that have the same bytes. */
static void names_have_no_control_characters(void **state)
{
	static const struct {
		const char *name;	/* at most 5 bytes */
		bool valid;
	} cases[] = {
		{ "\x7f", false }, { "a\x1f", false }, { "~ ", true },
		/* U+0080, U+009B (CSI), U+009F; the next one is a space */
		{ "\xc2\x80", false }, { "\xc2\x9b" "2J", false }, { "a\xc2\x9f", false },
		{ "a\xc2\xa0", true },
		/* by themselves, as without UTF-8 */
		{ "\x80", false }, { "a\x9b" "b", false }, { "\x9f", false }, { "\xa0", true },
		{ "\xc3\xc3\x9b", true }, { "\xc3" "a\x9b", false }, { "\xff\x9b", false },
		/* a part of a character of two, three and four bytes */
		{ "\xc3\x9b", true }, { "\xe2\x80\x93", true }, { "\xf0\x9f\x9b\x9b", true },
		{ "\xe2\x80", false }, { "\xe2\x80" "a", false }, { "\xf0\x9f\x9b" "a", false },
		/* too long a form of U+001B and U+009B; a surrogate; above U+10FFFF */
		{ "\xc0\x9b", false }, { "\xe0\x82\x9b", false }, { "\xf0\x80\x82\x9b", false },
		{ "\xed\xa0\x9b", false }, { "\xf4\x90\x80\x80", false },
		{ "\xed\x9f\x9b", true }, { "\xf4\x8f\x9b\x9b", true },
	};
	struct pumice_program *program;
	char error[PUMICE_ERROR_BYTES];
	u32 copy[MAX_WORDS];
	int err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memcpy(copy, file, sizeof(copy));
		strcpy((char *)(copy + NAMES) + 2, cases[i].name);
		progfile_seal(copy, bytes_of(copy));
		err = pumice_program_parse(copy, bytes_of(copy), &program, error, sizeof(error));
		if (!err)
			pumice_program_destroy(program);
		if (!err != cases[i].valid)
			fail_msg("case %zu is %s", i, err ? error : "accepted");
		if (err)
			assert_non_null(strstr(error, "file 1: its name has a control character; "
					       "assemble the program again"));
	}
}

/* Random words in the section, valid checksum: rejected, or every chain ends. */
static void random_damage_is_refused_or_harmless(void **state)
{
	struct pumice_source_line line[8];
	struct pumice_program *program;
	uint32_t rng = 4711, count;
	u32 copy[MAX_WORDS];

	(void)state;
	for (unsigned int round = 0; round < 20000; round++) {
		memcpy(copy, file, sizeof(copy));
		for (unsigned int n = 0; n < 1 + round % 3; n++) {
			rng = rng * 1664525u + 1013904223u;
			copy[SECTION + (rng >> 8) % (END - SECTION)] ^= 1u << (rng >> 27);
		}
		progfile_seal(copy, bytes_of(copy));
		if (pumice_program_parse(copy, bytes_of(copy), &program, NULL, 0))
			continue;
		for (uint32_t insn = 0; insn < 2; insn++) {
			count = 8;
			pumice_program_get_lines(program, insn, line, &count);
			assert_in_range(count, 0, 2);
			for (uint32_t i = 0; i < count; i++)
				assert_in_range(strlen(line[i].file), 1, 7);
		}
		pumice_program_destroy(program);
	}
}

static void every_cut_section_is_refused(void **state)
{
	struct pumice_program *program;
	u32 copy[MAX_WORDS];

	(void)state;
	for (u32 words = SECTION; words < END + 4; words++) {
		if (words == END)
			continue;
		memcpy(copy, file, sizeof(copy));
		copy[2] = words * 4;
		progfile_seal(copy, words * 4);
		assert_int_equal(pumice_program_parse(copy, words * 4, &program, NULL, 0), -EINVAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_read_from_the_inside_out),
		cmocka_unit_test(each_damage_is_refused_with_its_reason),
		cmocka_unit_test(names_have_no_control_characters),
		cmocka_unit_test(random_damage_is_refused_or_harmless),
		cmocka_unit_test(every_cut_section_is_refused),
	};

	return cmocka_run_group_tests_name("libpumice-lines", tests, make_file, NULL);
}
