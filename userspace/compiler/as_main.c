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
	"usage: pumice-as [-o OUT] [--c-array NAME] FILE.pasm\n"
	"Assembles a Pumice program; - is standard input or output.\n"
	"  -o OUT           program file to write (default: FILE.pbin)\n"
	"  --c-array NAME   write C source with the file's bytes in NAME[] instead\n";

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

static int assemble(const char *input, const char *output, const char *array)
{
	uint8_t *data = NULL;
	size_t bytes;
	char *text = file_read("pumice-as", input, &bytes);
	int ret;

	if (!text)
		return 1;
	ret = pumice_assemble(input, text, report, NULL, &data, &bytes);
	free(text);
	if (ret) {
		if (ret != -EINVAL)
			fprintf(stderr, "pumice-as: %s: %s\n", input, strerror(-ret));
		return 1;
	}
	ret = array ? write_array(output, array, data, bytes) :
		      file_write("pumice-as", output, data, bytes);
	free(data);
	return ret;
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "c-array", required_argument, NULL, 'c' },
						 { "help", no_argument, NULL, 'h' },
						 { 0 } };
	const char *array = NULL;
	char *output = NULL, *made = NULL;
	int option, ret;

	while ((option = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
		if (option == 'o')
			output = optarg;
		else if (option == 'c')
			array = optarg;
		else
			return fputs(usage, option == 'h' ? stdout : stderr), option != 'h';
	}
	if (optind + 1 != argc)
		return fputs(usage, stderr), 1;
	if (!output)
		output = made = default_output(argv[optind]);
	ret = output ? assemble(argv[optind], output, array) : 1;
	free(made);
	return ret;
}
