// SPDX-License-Identifier: MIT
/*
 * Program files, assembly text, and raw words for the decoders.
 *
 * Rules: any input is accepted or rejected with a reason. A file that the library
 * accepts can be disassembled; text that assembles gives a file that the library
 * accepts, and whose text assembles to the same bytes. Decoders accept any words.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "asm.h"
#include "fuzz.h"
#include "pumice/pumice.h"
#include "pumice_decode.h"
#include "pumice_formats.h"
#include "pumice_isa.h"

#define HEADER_BYTES	(PUMICE_PROGRAM_HEADER_WORDS * 4u)
#define MAX_FILE	4096u

static void check_parse(const void *file, size_t bytes, bool must)
{
	struct pumice_program *program = NULL;
	struct pumice_program_info info;
	char error[PUMICE_ERROR_BYTES] = "";
	int err = pumice_program_parse(file, bytes, &program, error, sizeof(error));

	if (err) {
		FUZZ_CHECK(!must, "refused: %s", error);
		FUZZ_CHECK(err == -EINVAL && error[0], "error %d without a reason", err);
		return;
	}
	pumice_program_info(program, &info);
	pumice_program_destroy(program);
}

/* Return the file's text, or NULL. */
static char *text_of(const void *file, size_t bytes)
{
	char error[PUMICE_ERROR_BYTES] = "", *text = NULL;
	int err = pumice_disassemble(file, bytes, &text, error, sizeof(error));

	FUZZ_CHECK(!err || (err == -EINVAL && error[0]), "error %d without a reason", err);
	return err ? NULL : text;
}

/* Check that the text of a file written by the assembler assembles to the same file. */
static void check_round_trip(const void *file, size_t bytes)
{
	char *text = text_of(file, bytes);
	size_t again_bytes = 0;
	u8 *again = NULL;

	check_parse(file, bytes, true);
	FUZZ_CHECK(text, "the assembler's file is refused");
	FUZZ_CHECK(!pumice_assemble("again", text, NULL, NULL, &again, &again_bytes),
		   "the disassembler's text is refused:\n%s", text);
	FUZZ_CHECK(again_bytes == bytes && !memcmp(again, file, bytes),
		   "the disassembler's text gives another file:\n%s", text);
	free(again);
	free(text);
}

/* Check that the part of an arbitrary file that its text can express survives a round trip. */
static void check_file(const void *file, size_t bytes)
{
	char *text = text_of(file, bytes);
	size_t again_bytes = 0;
	u8 *again = NULL;

	check_parse(file, bytes, text);
	if (text && !pumice_assemble("input", text, NULL, NULL, &again, &again_bytes))
		check_round_trip(again, again_bytes);
	free(again);
	free(text);
}

/* Correct the checksum and sizes of a file, so that the parser reads the rest, too. */
static void seal(u32 *words, size_t bytes, u8 what)
{
	words[0] = PUMICE_PROGRAM_HEADER__MAGIC__VALUE;
	words[1] = PUMICE_PROGRAM_HEADER__VERSION__VALUE;
	words[2] = (u32)bytes;
	if (what & 1) {
		words[4] %= 16;
		words[5] %= 16;
		words[6] = (u32)(bytes - HEADER_BYTES) / 4 - (words[4] + words[5]) * 4;
	}
	words[3] = (u32)crc32(0, (const Bytef *)words + HEADER_BYTES,
			      (uInt)(bytes - HEADER_BYTES));
}

static void fuzz_file(struct fuzz *f)
{
	u8 what = fuzz_u8(f);
	size_t bytes = f->left < MAX_FILE ? f->left : MAX_FILE;
	u32 *words = malloc(bytes + 1);

	FUZZ_CHECK(words, "out of memory");
	fuzz_bytes(f, words, bytes);
	if (what & 2 && bytes >= HEADER_BYTES) {
		bytes &= ~(size_t)3;
		seal(words, bytes, what);
	}
	check_file(words, bytes);
	free(words);
}

static void count_report(void *data, const char *text)
{
	FUZZ_CHECK(strlen(text), "an empty report");
	++*(unsigned int *)data;
}

static void fuzz_text(struct fuzz *f)
{
	size_t bytes = f->left, file_bytes = 0;
	char *text = malloc(bytes + 1);
	unsigned int reports = 0;
	u8 *file = NULL;
	int err;

	FUZZ_CHECK(text, "out of memory");
	fuzz_bytes(f, text, bytes);
	text[bytes] = '\0';
	err = pumice_assemble("input", text, count_report, &reports, &file, &file_bytes);
	if (err) {
		FUZZ_CHECK(err == -EINVAL && reports && reports <= 20 && !file,
			   "error %d with %u reports", err, reports);
	} else {
		FUZZ_CHECK(!reports, "reports without an error");
		check_round_trip(file, file_bytes);
	}
	free(file);
	free(text);
}

static void see_line(void *data, u64 addr, const char *line)
{
	(void)addr;
	FUZZ_CHECK(strlen(line) < PUMICE_DECODE_LINE, "a line too long");
	++*(unsigned int *)data;
}

static void fuzz_decode(struct fuzz *f)
{
	u32 offset = fuzz_u16(f);
	u64 value = fuzz_u64(f);
	size_t words = f->left / 4;
	u32 *dw = malloc(words * 4 + 1);
	unsigned int lines = 0;

	FUZZ_CHECK(dw, "out of memory");
	fuzz_bytes(f, dw, words * 4);
	pumice_decode_reg(offset, value & 1 ? 64 : 32, value & 2, value, see_line, &lines);
	FUZZ_CHECK(lines, "a register access without a line");
	FUZZ_CHECK(pumice_decode_stream(&pumice_stream_cdm, value, dw, words, see_line,
					&lines) <= words, "more words than the input has");
	FUZZ_CHECK(pumice_decode_program(&pumice_usc_isa, value, dw, words / PUMICE_USC_WORDS,
					 see_line, &lines) <= words / PUMICE_USC_WORDS,
		   "more illegal instructions than instructions");
	pumice_decode_program(&pumice_pds_isa, value, dw, words / PUMICE_PDS_WORDS, see_line,
			      &lines);
	free(dw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz f = { data, size };

	switch (fuzz_u8(&f) % 4) {
	case 0:
		fuzz_decode(&f);
		break;
	case 1:
		fuzz_file(&f);
		break;
	default:
		fuzz_text(&f);
		break;
	}
	return 0;
}
