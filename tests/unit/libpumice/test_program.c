// SPDX-License-Identifier: MIT
/* Program files: contents of valid ones, and the error of each invalid one. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "progfile.h"
#include "pumice/pumice.h"

#define MAX_WORDS 512

static u32 file[MAX_WORDS];
static size_t file_bytes;

/* One USC instruction; PDS: dma of the uniforms, task, end. */
static int make_file(void **state)
{
	const struct pumice_usc_insn end = { .opcode = PUMICE_USC_OP_END };
	const struct pumice_pds_insn dma = {
		.opcode = PUMICE_PDS_OP_DMA, .bank = PUMICE_PDS_BANK_SH, .count = 4,
	};
	struct progfile p;

	(void)state;
	progfile_init(&p);
	p.header.shared = 4;
	p.header.coeffs = 9;
	p.header.attrs = 2;
	p.header.local_bytes = 256;
	p.header.size_x = 8;
	p.header.size_y = 4;
	p.header.size_z = 2;
	p.header.uniform_words = 4;
	progfile_usc(&p, &end);
	progfile_reloc(&p, 0, PUMICE_PDS_RELOC_UNIFORMS);
	progfile_pds(&p, &dma);
	progfile_start(&p);
	file_bytes = progfile_write(&p, file, sizeof(file));
	return 0;
}

static void program_returns_the_contents_of_the_file(void **state)
{
	struct pumice_program_info info;
	struct pumice_program *program;
	char error[PUMICE_ERROR_BYTES];

	(void)state;
	assert_int_equal(pumice_program_parse(file, file_bytes, &program, error, sizeof(error)), 0);
	pumice_program_info(program, &info);
	assert_int_equal(info.usc_insns, 1);
	assert_int_equal(info.pds_insns, 3);
	assert_int_equal(info.relocs, 2);
	assert_int_equal(info.shared, 4);
	assert_int_equal(info.attrs, 2);
	assert_int_equal(info.temps, 4);
	assert_int_equal(info.local_bytes, 256);
	assert_int_equal(info.size[0] * 100 + info.size[1] * 10 + info.size[2], 842);
	assert_int_equal(info.uniform_words, 4);
	assert_int_equal(pumice_program_coeffs(program), 9);
	assert_memory_equal(info.usc, file + PUMICE_PROGRAM_HEADER_WORDS, 16);
	assert_memory_equal(info.pds, file + PUMICE_PROGRAM_HEADER_WORDS + 4, 48);
	pumice_program_destroy(program);
}

/* A changed word of the header or after it, with a correct checksum. */
static void program_refuses_each_bad_field_with_its_reason(void **state)
{
	static const struct {
		u32 word, set, clear;
		const char *reason;
	} cases[] = {
		{ 0, 1, 0, "not a program file" },
		{ 1, 2, 1, "version 2 is not 1" },
		{ 2, 4096, 0, "the header says" },
		{ 4, 0, 1, "0 USC instructions" },
		{ 4, 0x80000000, 0, "USC instructions" },
		{ 4, 2, 0, "the header describes" },
		{ 5, 0, 3, "0 PDS instructions" },
		{ 5, 0x101, 3, "257 PDS instructions" },
		{ 6, 0x40000000, 0, "the header describes" },
		{ 7, 0x1000, 0, "4100 shared registers" },
		{ 7, 0xff << 13, 0, "255 attribute registers" },
		{ 7, 0xff << 21, 0, "255 temporary registers" },
		{ 8, 1, 0, "reserved bits" },
		{ 8, 2, 0, "reserved bits" },
		{ 9, 0, 0x7ff, "work-group of 0 instances" },
		{ 9, 0x7ff, 0, "work-group of 16376 instances" },
		{ 10, 1u << 21, 0, "uniform words" },
		{ 10, 0, 4, "the program has no uniform block" },
		{ 11, 70 << 2, 0, "70 vertex output registers" },
		{ 11, 33 << 9, 0, "33 pixel output registers" },
		{ 11, 1 << 15, 0, "source lines: 0 words" },
		{ 11, 255 << 16 | 2 << 2, 0, "vertex output registers are more than 256" },
		/* relocations: words 28 (uniforms, instruction 0) and 29 (code, instruction 1) */
		{ 28, 3, 0, "instruction 3 is not below 3" },
		{ 28, 1, 0, "instruction 1 has no such address" },
		{ 28, 0, 0xff0000, "unknown kind" },
		{ 28, 0x40000, 0, "unknown kind" },
		{ 28, 0x1000000, 0, "unknown kind or reserved" },
		{ 29, 2, 1, "instruction 2 has no such address" },
		/* a reserved bit of instruction 1, which relocating would clear */
		{ 20, 0x100, 0, "instruction 1 has no such address" },
	};
	struct pumice_program *program;
	char error[PUMICE_ERROR_BYTES];
	u32 copy[MAX_WORDS];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memcpy(copy, file, sizeof(copy));
		copy[cases[i].word] = (copy[cases[i].word] & ~cases[i].clear) | cases[i].set;
		progfile_seal(copy, file_bytes);
		assert_int_equal(pumice_program_parse(copy, file_bytes, &program, error,
						      sizeof(error)), -EINVAL);
		print_message("%s\n", error);
		assert_non_null(strstr(error, cases[i].reason));
	}
}

static void program_of_rays_is_of_no_other_data_master(void **state)
{
	struct pumice_program *program;
	char error[PUMICE_ERROR_BYTES];
	u32 copy[MAX_WORDS];

	(void)state;
	memcpy(copy, file, sizeof(copy));
	copy[7] |= 1u << 31;
	copy[11] |= 2;
	progfile_seal(copy, file_bytes);
	assert_int_equal(pumice_program_parse(copy, file_bytes, &program, error, sizeof(error)),
			 -EINVAL);
	assert_non_null(strstr(error, "a program of rays with stage 2"));
}

static void program_refuses_any_single_bit_error_after_the_header(void **state)
{
	struct pumice_program *program;
	char error[PUMICE_ERROR_BYTES];
	u32 copy[MAX_WORDS];
	size_t bit;

	(void)state;
	for (bit = PUMICE_PROGRAM_HEADER_WORDS * 32; bit < file_bytes * 8; bit++) {
		memcpy(copy, file, sizeof(copy));
		copy[bit / 32] ^= 1u << bit % 32;
		assert_int_equal(pumice_program_parse(copy, file_bytes, &program, error,
						      sizeof(error)), -EINVAL);
		assert_non_null(strstr(error, ": assemble it again"));
	}
}

static void program_refuses_every_shorter_and_longer_file(void **state)
{
	struct pumice_program *program;
	u32 copy[MAX_WORDS];
	size_t bytes;

	(void)state;
	for (bytes = 0; bytes < file_bytes + 64; bytes++) {
		memcpy(copy, file, sizeof(copy));
		if (bytes >= 52)
			progfile_seal(copy, bytes);
		if (bytes != file_bytes)
			assert_int_equal(pumice_program_parse(copy, bytes, &program, NULL, 0),
					 -EINVAL);
	}
}

/* Text is rarely a multiple of 4 bytes. */
static void text_is_refused_with_the_name_of_the_assembler(void **state)
{
	static const char text[] = "; A shader, in text.\nend";
	char error[PUMICE_ERROR_BYTES];
	struct pumice_program *program;

	(void)state;
	assert_int_equal((sizeof(text) - 1) % 4, 0);
	for (size_t bytes = sizeof(text) - 5; bytes < sizeof(text); bytes++) {
		assert_int_equal(pumice_program_parse(text, bytes, &program, error, sizeof(error)),
				 -EINVAL);
		assert_non_null(strstr(error, "assemble it with pumice-as"));
	}
	assert_int_equal(pumice_program_parse("", 0, &program, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "the file is empty; assemble it with pumice-as"));
	assert_int_equal(pumice_program_parse(NULL, 4, &program, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "data is NULL; set it"));
	assert_int_equal(pumice_program_load(NULL, &program, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "path is NULL; set it"));
}

static void program_file_that_is_missing_or_empty_has_a_reason(void **state)
{
	char path[] = "/tmp/pumice-test-XXXXXX", error[PUMICE_ERROR_BYTES];
	struct pumice_program *program;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(pumice_program_load(path, &program, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "the file is empty"));
	assert_int_equal(write(fd, file, file_bytes), (int)file_bytes);
	assert_int_equal(pumice_program_load(path, &program, error, sizeof(error)), 0);
	pumice_program_destroy(program);
	close(fd);
	unlink(path);
	assert_int_equal(pumice_program_load(path, &program, error, sizeof(error)), -ENOENT);
	assert_non_null(strstr(error, path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(program_returns_the_contents_of_the_file),
		cmocka_unit_test(program_refuses_each_bad_field_with_its_reason),
		cmocka_unit_test(program_of_rays_is_of_no_other_data_master),
		cmocka_unit_test(program_refuses_any_single_bit_error_after_the_header),
		cmocka_unit_test(program_refuses_every_shorter_and_longer_file),
		cmocka_unit_test(text_is_refused_with_the_name_of_the_assembler),
		cmocka_unit_test(program_file_that_is_missing_or_empty_has_a_reason),
	};

	return cmocka_run_group_tests(tests, make_file, NULL);
}
