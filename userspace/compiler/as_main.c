// SPDX-License-Identifier: MIT
/* pumice-as: the assembler's command line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm.h"
#include "check.h"
#include "command.h"
#include "file.h"
#include "pumice_regs.h"
#include "slice.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

/* Options of the command line. */
struct arguments {
	const char *output, *array, *listing;
	bool no_lines, no_warnings;
	uint32_t positions;	/* outputs of a coordinate program; 0: the program itself */
	struct file_dirs dirs;
};

static void report(void *data, const char *text)
{
	(void)data;
	fputs(text, stderr);
}

/* Return the default name of the output: FILE.pbin for FILE.pasm. */
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
	fprintf(out, "/* Made by pumice-as. */\nstatic const unsigned char %s[%zu] = {",
		name, bytes);
	for (size_t i = 0; i < bytes; i++)
		fprintf(out, "%s0x%02x,", i % 12 ? " " : "\n\t", data[i]);
	fprintf(out, "\n};\n");
	if (fclose(out))
		return 1;
	ret = file_write("pumice-as", path, text, size);
	free(text);
	return ret;
}

static int write_outputs(const struct arguments *c, const char *output, const char *listing,
			 const uint8_t *data, size_t bytes)
{
	if (c->listing && file_write("pumice-as", c->listing, listing, strlen(listing)))
		return 1;
	return c->array ? write_array(output, c->array, data, bytes) :
			  file_write("pumice-as", output, data, bytes);
}

/* Replace a program file by that of its coordinate program. Return: 0 or 1, after a message. */
static int derive_positions(const char *input, uint32_t outputs, uint8_t **data, size_t *bytes)
{
	char error[512] = "out of memory";
	uint8_t *derived;
	size_t derived_bytes;

	if (slice_file(*data, *bytes, outputs, &derived, &derived_bytes, error, sizeof(error))) {
		fprintf(stderr, "pumice-as: %s: %s\n", input, error);
		return 1;
	}
	free(*data);
	*data = derived;
	*bytes = derived_bytes;
	return 0;
}

static int assemble(struct arguments *c, const char *input, const char *output)
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
	if (!ret && !c->no_warnings)
		pumice_check(input, data, bytes, report, NULL);
	if (!ret && c->positions)
		ret = derive_positions(input, c->positions, &data, &bytes);
	if (!ret)
		ret = write_outputs(c, output, listing, data, bytes);
	free(listing);
	free(data);
	return ret != 0;
}

static void set_array(const struct command *c, const char *text, void *data)
{
	const char **array = data;

	if (!*text || strspn(text, LETTERS "0123456789") != strlen(text) || !strspn(text, LETTERS))
		command_refuse(c, "--c-array %s: NAME is a C identifier", text);
	*array = text;
}

static void set_positions(const struct command *c, const char *text, void *data)
{
	uint32_t *outputs = data;
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (!strspn(text, "123456789") || *end || number > PUMICE_USC_MAX_VO)
		command_refuse(c, "--positions %s: OUTPUTS is 1 to %u", text, PUMICE_USC_MAX_VO);
	*outputs = (uint32_t)number;
}

static void add_dir(const struct command *c, const char *text, void *data)
{
	struct file_dirs *dirs = data;

	if (dirs->count == FILE_MAX_DIRS)
		command_refuse(c, "-I %s: at most %u folders are accepted", text, FILE_MAX_DIRS);
	dirs->dir[dirs->count++] = text;
}

int main(int argc, char **argv)
{
	struct arguments args = { .output = NULL };
	const struct command_option options[] = {
		COMMAND_OUTPUT(&args.output, "OUT", "program file to write (default: FILE.pbin)"),
		{ 'I', "include", "DIR", "search for included files in DIR too; up to 16 times",
		  .parse = add_dir, .data = &args.dirs },
		{ 0, "listing", "OUT", "also write a table: number, address, words and source\n"
		  "line of each instruction", .text = &args.listing },
		{ 0, "no-lines", NULL, "leave the source lines out of the program file",
		  .flag = &args.no_lines },
		{ 0, "no-warnings", NULL, "do not warn of mistakes such as registers that are read\n"
		  "but never written", .flag = &args.no_warnings },
		{ 0, "positions", "OUTPUTS", "write the coordinate program of a vertex program:\n"
		  "only its first outputs; 4, or 5 with a point size",
		  .parse = set_positions, .data = &args.positions },
		{ 0, "c-array", "NAME", "write C source with the bytes in NAME[] instead",
		  .parse = set_array, .data = &args.array },
		{ 0 }
	};
	const struct command command = {
		.name = "pumice-as",
		.words = "FILE.pasm",
		.min_words = 1, .max_words = 1,
		.purpose = "Assembles a Pumice program; - is standard input or output.\n",
		.options = options,
		.versions = COMMAND_VERSION_PROGRAM,
	};
	const char *input = argv[command_line(&command, argc, argv)];
	char *made = NULL;
	int ret;

	if (!args.output)
		args.output = made = default_output(input);
	ret = args.output ? assemble(&args, input, args.output) : 1;
	free(made);
	return ret;
}
