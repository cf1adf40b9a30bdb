// SPDX-License-Identifier: MIT
/* Programs from assembly text, by the assembler of userspace/compiler. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "asm.h"
#include "check.h"
#include "program.h"

/* Destination of the first error. */
struct first_error {
	char *text;
	size_t bytes;
	bool taken;
};

/* Keep the first message, with its source line and caret, without the last line end. */
static void store_first_error(void *data, const char *text)
{
	struct first_error *first = data;
	size_t bytes;

	if (first->taken)
		return;
	first->taken = true;
	bytes = strlen(text);
	if (bytes && text[bytes - 1] == '\n')
		bytes--;
	fail_text(first->text, first->bytes, EINVAL, "%.*s", (int)bytes, text);
}

/* Pass a warning on without its line end. */
static void pass_warning(void *data, const char *text)
{
	const struct warnings *warnings = data;
	const size_t bytes = strlen(text);
	char *line = strndup(text, bytes && text[bytes - 1] == '\n' ? bytes - 1 : bytes);

	if (line)
		warnings->report(warnings->data, line);
	free(line);
}

int program_assemble(const char *name, const char *text, struct warnings warnings,
		     struct pumice_program **program, char *error, size_t error_bytes)
{
	struct first_error first = { error, error_bytes, false };
	uint8_t *file;
	size_t bytes;
	const struct pumice_asm_options options = { .report = store_first_error, .data = &first,
						    .lines = true };
	int err;

	if (!name || !text)
		return fail_text(error, error_bytes, EINVAL, "program: %s is NULL; set it",
				 name ? "text" : "name");
	err = pumice_assemble_with(name, text, &options, &file, &bytes);
	if (err == -ENOMEM)
		return fail_text(error, error_bytes, ENOMEM, "%.100s: out of memory", name);
	if (err)
		return err;
	err = pumice_program_parse(file, bytes, program, error, error_bytes);
	/*
	 * Without memory for the check there are no warnings: the program is as good as with them.
	 */
	if (!err && warnings.report)
		pumice_check(name, file, bytes, pass_warning, &warnings);
	free(file);
	return err;
}

void program_warn_of_inputs(const struct pumice_program *program, struct warnings warnings,
			    const u32 *pds, u32 insns)
{
	const struct pumice_check_inputs inputs = { pds, insns };

	pumice_check_stage(program, &inputs, pass_warning, &warnings);
}

int pumice_program_assemble(const char *name, const char *text, struct pumice_program **program,
			    char *error, size_t error_bytes)
{
	const struct warnings none = { NULL, NULL };

	return program_assemble(name, text, none, program, error, error_bytes);
}
