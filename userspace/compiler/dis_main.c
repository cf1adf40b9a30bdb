// SPDX-License-Identifier: MIT
/* pumice-dis: the disassembler's command line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm.h"
#include "command.h"
#include "file.h"

static int disassemble(const char *input, const char *output, bool numbered)
{
	char error[256] = "";
	size_t bytes;
	char *text = NULL;
	char *file = file_read("pumice-dis", input, &bytes);
	int ret;

	if (!file)
		return 1;
	ret = (numbered ? pumice_disassemble_numbered : pumice_disassemble)(file, bytes,
									    &text, error,
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
	const char *output = "-";
	bool numbered = false;
	const struct command_option options[] = {
		COMMAND_OUTPUT(&output, "OUT.pasm", "the text (default: standard output)"),
		{ 'n', "numbered", NULL, "add number, address and source line of each instruction",
		  .flag = &numbered },
		{ 0 }
	};
	const struct command command = {
		.name = "pumice-dis",
		.words = "FILE.pbin",
		.min_words = 1, .max_words = 1,
		.purpose = "Disassembles a Pumice program file to text that pumice-as assembles to the same\n"
			   "bytes; - is standard input or output.\n",
		.options = options,
		.versions = COMMAND_VERSION_PROGRAM,
	};
	const int first = command_line(&command, argc, argv);

	return disassemble(argv[first], output, numbered);
}
