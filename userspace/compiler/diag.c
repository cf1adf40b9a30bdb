// SPDX-License-Identifier: MIT
/*
 * Errors of the assembler: file, line, column, the line, and a caret.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

#define TEXT_BYTES 1024

static size_t line_length(const char *line)
{
	return strcspn(line, "\r\n");
}

/* The caret's line: tabs stay tabs, so that it stands below the place. */
static void put_caret(char *out, size_t size, const char *line, size_t column, size_t width)
{
	size_t used = 0;

	for (size_t i = 0; i < column && used + 1 < size; i++)
		out[used++] = line[i] == '\t' ? '\t' : ' ';
	for (size_t i = 0; i < width && used + 1 < size; i++)
		out[used++] = i ? '~' : '^';
	out[used] = '\0';
}

bool asm_error(struct assembler *as, const struct token *at, const char *format, ...)
{
	const struct token *token = at ? at : &as->token;
	size_t length = line_length(as->line);
	size_t column = (size_t)(token->text - as->line);
	size_t width = token->length ? token->length : 1;
	char message[256], caret[TEXT_BYTES / 4], text[TEXT_BYTES];
	va_list args;

	if (as->errors++ >= ASM_MAX_ERRORS || !as->report)
		return false;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	put_caret(caret, sizeof(caret), as->line, column, width);
	snprintf(text, sizeof(text), "%s:%u:%zu: error: %s\n%.*s\n%s\n", as->file, as->line_number,
		 column + 1, message, (int)(length > 200 ? 200 : length), as->line, caret);
	as->report(as->report_data, text);
	return false;
}

bool asm_no_memory(struct assembler *as)
{
	as->no_memory = true;
	return false;
}
