// SPDX-License-Identifier: MIT
/*
 * Errors of the assembler: file, line, column, the line, a caret,
 * and the origin of an included, expanded or repeated line.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"
#include "nametext.h"

#define TEXT_BYTES 4096
#define MESSAGE_BYTES 1024	/* of an error, without the line */
#define MAX_NOTES 8u		/* on uses */

static size_t line_length(const char *line)
{
	return strcspn(line, "\r\n");
}

void diag_clean(char *text, const char *kept)
{
	unsigned int bytes;

	for (; *text; text += bytes) {
		bytes = nametext_bytes(text);
		if (nametext_is_control(text) && !strchr(kept, *text))
			memset(text, '?', bytes);
	}
}

/* Write the caret's line; tabs are kept so that the caret is below the column. */
static void put_caret(char *out, size_t size, const char *line, size_t column, size_t width)
{
	size_t used = 0;

	for (size_t i = 0; i < column && used + 1 < size; i++)
		out[used++] = line[i] == '\t' ? '\t' : ' ';
	for (size_t i = 0; i < width && used + 1 < size; i++)
		out[used++] = i ? '~' : '^';
	out[used] = '\0';
}

/* Count the uses of files, macros and repetitions that lead to the line. */
static unsigned int count_uses(const struct assembler *as)
{
	unsigned int uses = 0;

	for (uint32_t at = as->where.place.parent; at; at = as->places[at - 1].parent)
		uses++;
	return uses;
}

/*
 * Report the origin of the line: from the innermost use outwards. Of more than MAX_NOTES,
 * most likely of a macro that uses itself, only the first and the last are printed.
 */
static void put_uses(struct assembler *as, char *text, size_t size)
{
	static const char *const what[PUMICE_PROGRAM_USE_COUNT] = {
		[PUMICE_PROGRAM_USE_INCLUDE] = "included here",
		[PUMICE_PROGRAM_USE_MACRO] = "the macro is used here",
		[PUMICE_PROGRAM_USE_REPEAT] = "repeated here",
	};
	struct pumice_program_place place = as->where.place;
	const unsigned int uses = count_uses(as);
	size_t used = strlen(text);

	for (unsigned int i = 0; place.parent && used < size; i++) {
		enum pumice_program_use use = place.use;
		uint32_t nth = place.nth;

		place = as->places[place.parent - 1];
		if (uses > MAX_NOTES && i && i + 1 < uses) {
			if (i == 1)
				used += (size_t)snprintf(text + used, size - used,
							 "note: %u more uses are omitted\n",
							 uses - 2);
			continue;
		}
		used += (size_t)snprintf(text + used, size - used, "%s:%u: note: %s",
					 as->files[place.file].path, place.line, what[use]);
		if (use == PUMICE_PROGRAM_USE_REPEAT && used < size)
			used += (size_t)snprintf(text + used, size - used, ", repetition %u", nth);
		if (used < size)
			used += (size_t)snprintf(text + used, size - used, "\n");
	}
}

static bool report(struct assembler *as, const struct token *at, const char *message)
{
	const struct token *token = at ? at : &as->token;
	const char *line = as->where.text;
	size_t length = line_length(line);
	bool here = token->text >= line && token->text <= line + length;
	size_t column = here ? (size_t)(token->text - line) : 0;
	size_t width = here && token->length ? token->length : 1;
	char caret[TEXT_BYTES / 16], text[TEXT_BYTES];

	if (as->silent || as->stopped || as->errors++ >= ASM_MAX_ERRORS || !as->options.report)
		return false;
	put_caret(caret, sizeof(caret), line, column, width);
	snprintf(text, sizeof(text), "%.200s:%u:%zu: error: %s\n",
		 as->files[as->where.place.file].path, as->where.place.line, column + 1, message);
	if (length)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%.*s\n%s\n",
			 (int)(length > 200 ? 200 : length), line, caret);
	put_uses(as, text, sizeof(text));
	diag_clean(text, "\t\n");
	as->options.report(as->options.data, text);
	return false;
}

bool asm_error(struct assembler *as, const struct token *at, const char *format, ...)
{
	char message[MESSAGE_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	return report(as, at, message);
}

bool asm_error_form(struct assembler *as, const char *format, ...)
{
	char message[MESSAGE_BYTES], form[MESSAGE_BYTES / 2];
	size_t used;
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	used = strlen(message);
	snprintf(message + used, sizeof(message) - used, "%s",
		 insn_form_text(as, form, sizeof(form)));
	return report(as, NULL, message);
}

bool asm_error_in(struct assembler *as, const struct where *where, const struct token *at,
		  const char *format, ...)
{
	const struct token start = { .text = where->text };
	const struct where current = as->where;
	char message[MESSAGE_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	as->where = *where;
	report(as, at ? at : &start, message);
	as->where = current;
	return false;
}

bool asm_stop(struct assembler *as, const struct token *at, const char *text)
{
	asm_error(as, at, "%s", text);
	as->stopped = true;
	return false;
}

bool asm_no_memory(struct assembler *as)
{
	as->no_memory = true;
	return false;
}
