// SPDX-License-Identifier: MIT
/*
 * pumice-decode: words of the GPU as text.
 *
 * Register accesses as printed by QEMU's trace events, control streams,
 * instructions, and structures of hw/formats.xml, from a file of raw words or
 * from words on the command line. Uses only the generated tables.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "pumice_decode.h"

#define MAX_WORDS (16u << 20)	/* of one input */

static const char usage[] =
	"usage: pumice-decode [-a ADDRESS] stream|vdm|tdm|usc|pds|STRUCTURE WORD…|-f FILE\n"
	"       pumice-decode reg|reg64 OFFSET VALUE\n"
	"Shows what words mean: a control stream (of compute, vertices or transfers),\n"
	"instructions of the USC or the PDS, a structure such as mmu_pt_entry, or a\n"
	"register's value.\n"
	"  -a ADDRESS   GPU virtual address of the first word (default 0)\n"
	"  -f FILE      little-endian 32-bit words from a file; - is standard input\n";

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

/* Parse a number in C syntax, up to max. */
static bool number(const char *text, u64 max, u64 *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return *text && *text != '-' && !*end && !errno && *value <= max;
}

static int words_of_arguments(char **args, int count, struct input *in)
{
	u64 value;

	in->words = calloc((size_t)count + 1, sizeof(u32));
	if (!in->words)
		return fail("words", strerror(ENOMEM));
	for (int i = 0; i < count; i++) {
		if (!number(args[i], UINT32_MAX, &value))
			return fail(args[i], "no 32-bit number");
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
	return in->count < MAX_WORDS ? 0 : fail(path, "too long");
}

static int decode_isa(const struct pumice_isa_info *isa, u64 addr, const struct input *in)
{
	size_t insns = in->count / isa->words;

	if (in->count % isa->words)
		return fail(isa->name, "no whole number of instructions");
	return pumice_decode_program(isa, addr, in->words, insns, print_line, NULL) != 0;
}

static const struct {
	const char *name;
	const struct pumice_stream_info *stream;
} streams[] = {
	{ "stream", &pumice_stream_cdm },
	{ "vdm", &pumice_stream_vdm },
	{ "tdm", &pumice_stream_tdm },
};

static int decode(const char *what, u64 addr, const struct input *in)
{
	const struct pumice_format_info *format;

	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
		if (!strcmp(what, streams[i].name))
			return pumice_decode_stream(streams[i].stream, addr, in->words, in->count,
						    print_line, NULL) != in->count;
	if (!strcmp(what, "usc"))
		return decode_isa(&pumice_usc_isa, addr, in);
	if (!strcmp(what, "pds"))
		return decode_isa(&pumice_pds_isa, addr, in);
	format = pumice_format_find(what);
	if (!format)
		return fail(what, "no such structure");
	if (!in->count || in->count % format->words)
		return fail(what, "no whole number of structures");
	for (size_t i = 0; i < in->count; i += format->words)
		pumice_decode_format(format, addr + 4 * i, in->words + i, print_line, NULL);
	return 0;
}

static int decode_register(u32 bits, char **args, int count)
{
	u64 offset, value;

	if (count != 2 || !number(args[0], UINT32_MAX, &offset) ||
	    !number(args[1], bits == 64 ? UINT64_MAX : UINT32_MAX, &value))
		return fail("reg", "wants an offset and a value");
	pumice_decode_reg((u32)offset, bits, true, value, print_line, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	struct input in = { 0 };
	const char *file = NULL, *what;
	u64 addr = 0;
	int option, ret;

	while ((option = getopt(argc, argv, "a:f:h")) != -1) {
		if (option == 'f')
			file = optarg;
		else if (option != 'a' || !number(optarg, UINT64_MAX, &addr))
			return fputs(usage, option == 'h' ? stdout : stderr), option != 'h';
	}
	if (optind == argc)
		return fputs(usage, stderr), 1;
	what = argv[optind++];
	if (!strcmp(what, "reg") || !strcmp(what, "reg64"))
		return decode_register(what[3] ? 64 : 32, argv + optind, argc - optind);
	ret = file ? words_of_file(file, &in) :
		     words_of_arguments(argv + optind, argc - optind, &in);
	if (!ret)
		ret = decode(what, addr, &in);
	free(in.words);
	return ret;
}
