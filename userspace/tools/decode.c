// SPDX-License-Identifier: MIT
/*
 * pumice-decode: words of the GPU as text.
 *
 * Register accesses as printed by QEMU's trace events, control streams,
 * instructions, and structures of hw/formats.xml, from a file of raw words or
 * from words on the command line. Uses only the generated tables.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "file.h"
#include "pumice_decode.h"

#define MAX_WORDS (16u << 20)	/* of one input */

/* The words to decode. */
struct input {
	u32 *words;
	size_t count;
};

static void print_line(void *data, u64 addr, const char *line)
{
	(void)data;
	printf("%010" PRIx64 "  %s\n", addr, line);
}

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "pumice-decode: %s: %s\n", what, why);
	return 1;
}

static int fail_size(const char *what, size_t count, size_t words)
{
	fprintf(stderr, "pumice-decode: %s: %zu words; a multiple of %zu is required\n", what,
		count, words);
	return 1;
}

/* Parse a number in C syntax, up to max. */
static bool number(const char *text, u64 max, u64 *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return *text && *text != '-' && !*end && !errno && *value <= max;
}

/* The same, or eight digits of hexadecimal, as listings and dumps print words. */
static bool word(const char *text, u64 *value)
{
	if (strlen(text) == 8 && strspn(text, "0123456789abcdefABCDEF") == 8) {
		*value = strtoull(text, NULL, 16);
		return true;
	}
	return number(text, UINT32_MAX, value);
}

static int words_of_arguments(const struct command *c, char **args, int count, struct input *in)
{
	u64 value;

	in->words = calloc((size_t)count + 1, sizeof(u32));
	if (!in->words)
		return fail("words", strerror(ENOMEM));
	for (int i = 0; i < count; i++) {
		if (!word(args[i], &value))
			command_refuse(c, "unexpected word '%s': WORD is a number of 32 bits, or "
				       "8 hexadecimal digits", args[i]);
		in->words[in->count++] = (u32)value;
	}
	return 0;
}

static int words_of_file(const char *path, struct input *in)
{
	size_t bytes;

	in->words = (u32 *)file_read("pumice-decode", path, &bytes);
	if (!in->words)
		return 1;
	in->count = bytes / sizeof(u32);
	if (!in->count)
		return fail(path, "no words: it has fewer than 4 bytes");
	return in->count < MAX_WORDS ? 0 : fail(path, "longer than 64 MiB: decode a part of it");
}

static int decode_isa(const struct pumice_isa_info *isa, u64 addr, const struct input *in)
{
	size_t insns = in->count / isa->words;

	if (in->count % isa->words)
		return fail_size(isa->name, in->count, isa->words);
	return pumice_decode_program(isa, addr, in->words, insns, print_line, NULL) != 0;
}

static int decode_records(const struct pumice_format_info *format, u64 addr, const struct input *in)
{
	if (in->count % format->words)
		return fail_size(format->name, in->count, format->words);
	for (size_t i = 0; i < in->count; i += format->words)
		pumice_decode_format(format, addr + 4 * i, in->words + i, print_line, NULL);
	return 0;
}

static const struct {
	const char *name;
	const struct pumice_stream_info *stream;
} streams[] = {
	{ "stream", &pumice_stream_cdm },
	{ "vdm", &pumice_stream_vdm },
	{ "pdm", &pumice_stream_pdm },
	{ "tdm", &pumice_stream_tdm },
	{ "rdm", &pumice_stream_rdm },
};

static bool is_known(const char *what)
{
	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
		if (!strcmp(what, streams[i].name))
			return true;
	return !strcmp(what, "usc") || !strcmp(what, "pds") || pumice_format_find(what);
}

static int decode(const char *what, u64 addr, const struct input *in)
{
	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
		if (!strcmp(what, streams[i].name))
			return pumice_decode_stream(streams[i].stream, addr, in->words, in->count,
						    print_line, NULL) != in->count;
	if (!strcmp(what, "usc"))
		return decode_isa(&pumice_usc_isa, addr, in);
	if (!strcmp(what, "pds"))
		return decode_isa(&pumice_pds_isa, addr, in);
	return decode_records(pumice_format_find(what), addr, in);
}

static int decode_register(const struct command *c, u32 bits, char **args, int count)
{
	u64 offset, value;

	if (count != 2 || !number(args[0], UINT32_MAX, &offset) ||
	    !number(args[1], bits == 64 ? UINT64_MAX : UINT32_MAX, &value))
		command_refuse(c, "reg%s is followed by an offset of 32 bits and a value of %u bits",
			       bits == 64 ? "64" : "", bits);
	pumice_decode_reg((u32)offset, bits, true, value, print_line, NULL);
	return 0;
}

static void parse_address(const struct command *c, const char *text, void *data)
{
	if (!number(text, UINT64_MAX, data))
		command_refuse(c, "-a %s: ADDRESS is a number of 64 bits", text);
}

int main(int argc, char **argv)
{
	struct input in = { 0 };
	const char *file = NULL, *what;
	u64 addr = 0;
	const struct command_option options[] = {
		{ 'a', "address", "ADDRESS",
		  "GPU virtual address of the first word (default 0)",
		  .parse = parse_address, .data = &addr },
		{ 'f', "file", "FILE",
		  "little-endian 32-bit words from a file instead;\n- is standard input",
		  .text = &file },
		{ 0 }
	};
	const struct command command = {
		.name = "pumice-decode",
		.words = "WHAT [WORD]…",
		.min_words = 1, .max_words = INT_MAX,
		.purpose = "Shows the meaning of words. WHAT is\n"
			   "  stream, vdm, pdm, tdm, rdm  a control stream: of compute, vertices,\n"
			   "                              rendering, transfers, rays\n"
			   "  usc, pds                    instructions of the USC or the PDS\n"
			   "  STRUCTURE                   a structure of the reference, such as mmu_pt_entry\n"
			   "  reg, reg64                  a register: its offset and its value follow\n"
			   "WORD is a number, or the 8 hexadecimal digits of a listing or a dump.\n",
		.options = options,
		.versions = COMMAND_VERSION_REGISTERS | COMMAND_VERSION_PROGRAM,
	};
	int first, ret;

	first = command_line(&command, argc, argv);
	what = argv[first++];
	if (!strcmp(what, "reg") || !strcmp(what, "reg64"))
		return decode_register(&command, what[3] ? 64 : 32, argv + first, argc - first);
	if (!is_known(what))
		command_refuse(&command, "unknown word '%s': WHAT is stream, vdm, pdm, tdm, rdm, usc, "
			       "pds, "
			       "reg, reg64 or the name of a structure", what);
	if (!file && first == argc)
		command_refuse(&command, "%s: no words: write them on the command line, or select a "
			       "file with -f", what);
	if (file && first < argc)
		command_refuse(&command, "unexpected word '%s': words come from the file %s",
			       argv[first], file);
	ret = file ? words_of_file(file, &in) :
		     words_of_arguments(&command, argv + first, argc - first, &in);
	if (!ret)
		ret = decode(what, addr, &in);
	free(in.words);
	return ret;
}
