// SPDX-License-Identifier: MIT
/* pumice-as: the assembler's command line. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm.h"
#include "file.h"

static const char usage[] =
	"usage: pumice-as [OPTION]… FILE.pasm\n"
	"Assembles a Pumice program; - is standard input or output.\n"
	"  -o OUT           program file to write (default: FILE.pbin)\n"
	"  -I DIR           look for included files in DIR too, up to 16 times\n"
	"  --listing FILE   write a listing too: address, words and source line\n"
	"  --no-lines       leave the source lines out of the program file\n"
	"  --c-array NAME   write C source with the file's bytes in NAME[] instead\n";

/* Options of the command line. */
struct command {
	const char *array, *listing;
	bool no_lines;
	struct file_dirs dirs;
};

static void report(void *data, const char *text)
{
	(void)data;
	fputs(text, stderr);
}

/* FILE.pasm -> FILE.pbin */
static char *default_output(const char *input)
{
	size_t length = strlen(input);
	char *name = malloc(length + sizeof(".pbin"));

	if (!name)
		return NULL;
	if (length > 5 && !strcmp(input + length - 5, ".pasm"))
		length -= 5;
	memcpy(name, input, length);
	strcpy(name + length, ".pbin");
	return name;
}

static int write_array(const char *path, const char *name, const uint8_t *data, size_t bytes)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int ret;

	if (!out)
		return 1;
	fprintf(out, "/* Made by pumice-as. */\nstatic const unsigned char %s[%zu] = {", name, bytes);
	for (size_t i = 0; i < bytes; i++)
		fprintf(out, "%s0x%02x,", i % 12 ? " " : "\n\t", data[i]);
	fprintf(out, "\n};\n");
	if (fclose(out))
		return 1;
	ret = file_write("pumice-as", path, text, size);
	free(text);
	return ret;
}

static int write_outputs(const struct command *c, const char *output, const char *listing,
			 const uint8_t *data, size_t bytes)
{
	if (c->listing && file_write("pumice-as", c->listing, listing, strlen(listing)))
		return 1;
	return c->array ? write_array(output, c->array, data, bytes) :
			  file_write("pumice-as", output, data, bytes);
}

static int assemble(struct command *c, const char *input, const char *output)
{
	char *listing = NULL;
	const struct pumice_asm_options options = {
		.report = report, .include = file_include, .data = &c->dirs,
		.lines = !c->no_lines, .listing = c->listing ? &listing : NULL,
	};
	uint8_t *data = NULL;
	size_t bytes;
	char *text = file_read("pumice-as", input, &bytes);
	int ret;

	if (!text)
		return 1;
	if (strlen(text) != bytes) {
		fprintf(stderr, "pumice-as: %s: no text: it contains a NUL\n", input);
		free(text);
		return 1;
	}
	ret = pumice_assemble_with(input, text, &options, &data, &bytes);
	free(text);
	if (ret && ret != -EINVAL)
		fprintf(stderr, "pumice-as: %s: %s\n", input, strerror(-ret));
	if (!ret)
		ret = write_outputs(c, output, listing, data, bytes);
	free(listing);
	free(data);
	return ret != 0;
}

/* Parse one option; false: unknown option. */
static bool take_option(struct command *c, int option, char **output)
{
	switch (option) {
	case 'o':
		*output = optarg;
		return true;
	case 'c':
		c->array = optarg;
		return true;
	case 'l':
		c->listing = optarg;
		return true;
	case 'n':
		c->no_lines = true;
		return true;
	case 'I':
		if (c->dirs.count == FILE_MAX_DIRS)
			return false;
		c->dirs.dir[c->dirs.count++] = optarg;
		return true;
	default:
		return false;
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "c-array", required_argument, NULL, 'c' },
						 { "listing", required_argument, NULL, 'l' },
						 { "no-lines", no_argument, NULL, 'n' },
						 { "help", no_argument, NULL, 'h' },
						 { 0 } };
	struct command command = { 0 };
	char *output = NULL, *made = NULL;
	int option, ret;

	while ((option = getopt_long(argc, argv, "o:I:h", options, NULL)) != -1)
		if (!take_option(&command, option, &output))
			return fputs(usage, option == 'h' ? stdout : stderr), option != 'h';
	if (optind + 1 != argc)
		return fputs(usage, stderr), 1;
	if (!output)
		output = made = default_output(argv[optind]);
	ret = output ? assemble(&command, argv[optind], output) : 1;
	free(made);
	return ret;
}
