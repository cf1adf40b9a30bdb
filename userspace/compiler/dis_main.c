// SPDX-License-Identifier: MIT
/* pumice-dis: the disassembler's command line. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm.h"
#include "file.h"

static const char usage[] =
	"usage: pumice-dis [-n] [-o OUT.pasm] FILE.pbin\n"
	"Turns a Pumice program file into text that pumice-as turns back into the same\n"
	"bytes; - is standard input or output (the default).\n"
	"  -n, --numbered   add number, address and source line of each instruction\n";

static int disassemble(const char *input, const char *output, bool numbered)
{
	char error[256] = "";
	size_t bytes;
	char *text = NULL;
	char *file = file_read("pumice-dis", input, &bytes);
	int ret;

	if (!file)
		return 1;
	ret = (numbered ? pumice_disassemble_numbered : pumice_disassemble)(file, bytes, &text, error,
									    sizeof(error));
	free(file);
	if (ret)
		fprintf(stderr, "pumice-dis: %s: %s\n", input, *error ? error : strerror(-ret));
	else
		ret = file_write("pumice-dis", output, text, strlen(text));
	free(text);
	return ret != 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "help", no_argument, NULL, 'h' },
						 { "numbered", no_argument, NULL, 'n' },
						 { 0 } };
	const char *output = "-";
	bool numbered = false;
	int option;

	while ((option = getopt_long(argc, argv, "o:nh", options, NULL)) != -1) {
		if (option == 'o')
			output = optarg;
		else if (option == 'n')
			numbered = true;
		else
			return fputs(usage, option == 'h' ? stdout : stderr), option != 'h';
	}
	if (optind + 1 != argc)
		return fputs(usage, stderr), 1;
	return disassemble(argv[optind], output, numbered);
}
