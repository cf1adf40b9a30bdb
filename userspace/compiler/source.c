// SPDX-License-Identifier: MIT
/*
 * Lines to be assembled: of files, of the files that they include, of macros and of
 * repetitions.
 *
 * Limits: ASM_MAX_* in internal.h. A text that exceeds one is
 * abandoned with an error, since its further expansion may be endless.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define INCLUDE_BYTES 1024u	/* of the name of an included file */

bool source_grow(struct assembler *as, void **array, size_t count, size_t *room, size_t size)
{
	size_t wanted = *room ? 2 * *room : 16;
	void *grown;

	if (count < *room)
		return true;
	grown = realloc(*array, wanted * size);
	if (!grown)
		return asm_no_memory(as);
	*array = grown;
	*room = wanted;
	return true;
}

/* Add to the place table, unless it equals the last one. */
static uint32_t add_place(struct assembler *as, const struct pumice_program_place *place)
{
	const struct pumice_program_place *last = as->places + as->place_count;

	if (as->place_count && (last--, last->file == place->file && last->line == place->line &&
				last->parent == place->parent && last->use == place->use &&
				last->nth == place->nth))
		return (uint32_t)as->place_count;
	if (as->place_count == PUMICE_PROGRAM_PLACES) {
		asm_stop(as, NULL, "too many lines with instructions");
		return 0;
	}
	if (!source_grow(as, (void **)&as->places, as->place_count, &as->place_room,
			 sizeof(*as->places)))
		return 0;
	as->places[as->place_count++] = *place;
	return (uint32_t)as->place_count;
}

uint32_t source_place(struct assembler *as)
{
	return add_place(as, &as->where.place);
}

/* ------------------------------------------------------------- text of a line */

static size_t name_length(const char *at)
{
	size_t n = 0;

	while ((at[n] >= 'a' && at[n] <= 'z') || (at[n] >= 'A' && at[n] <= 'Z') || at[n] == '_' ||
	       (n && at[n] >= '0' && at[n] <= '9'))
		n++;
	return n;
}

/* Get the replacement of \name, or NULL: it is kept, for a nested body. */
static const char *value_of(const struct input *input, const char *name, size_t length,
			    size_t *value_length)
{
	for (unsigned int i = 0; i < input->binding_count; i++) {
		const struct binding *b = &input->bindings[i];

		if (b->name_length == length && !memcmp(b->name, name, length)) {
			*value_length = b->value_length;
			return b->value;
		}
	}
	return NULL;
}

/* Store text until the end; NULL after an error. */
static char *keep_text(struct assembler *as, const char *text, size_t length)
{
	char *copy;

	if (length > ASM_MAX_TEXT - as->text_bytes) {
		asm_stop(as, NULL, "macros and repetitions expand to too much text");
		return NULL;
	}
	if (!source_grow(as, (void **)&as->made, as->made_count, &as->made_room,
			 sizeof(*as->made)))
		return NULL;
	copy = malloc(length + 1);
	if (!copy) {
		asm_no_memory(as);
		return NULL;
	}
	memcpy(copy, text, length);
	copy[length] = '\0';
	as->made[as->made_count++] = copy;
	as->text_bytes += length + 1;
	return copy;
}

/* Expand one \name at text to out; return its number of characters, or 0: an error. */
static size_t replace(struct assembler *as, const struct input *input, const char *text, char *out,
		      size_t *used)
{
	size_t length = text[1] == '@' ? 1 : name_length(text + 1), value_length = 0;
	const char *value = value_of(input, text + 1, length, &value_length);
	char number[16];

	if (text[1] == '@' && input->counted) {
		value_length = (size_t)snprintf(number, sizeof(number), "%u", input->count);
		value = number;
	}
	if (!value) {
		value = text;
		value_length = length + 1;
	}
	if (value_length > ASM_MAX_LINE - *used) {
		asm_stop(as, NULL, "a macro expands to a line that is too long");
		return 0;
	}
	memcpy(out + *used, value, value_length);
	*used += value_length;
	/* \() ends a name and expands to nothing. */
	if (length && text[1 + length] == '\\' && text[2 + length] == '(' &&
	    text[3 + length] == ')')
		length += 3;
	return length + 1;
}

/* Expand the names in a line; NULL after an error. */
static const char *expand(struct assembler *as, const struct input *input, const char *text)
{
	char out[ASM_MAX_LINE];
	size_t used = 0, passed;
	const char *at = text;

	while (!token_ends_line(at) && *at != '\\')
		at++;
	if (token_ends_line(at) || (!input->binding_count && !input->counted))
		return text;
	for (at = text; !token_ends_line(at); at += passed) {
		passed = 1;
		if (*at == '\\') {
			passed = replace(as, input, at, out, &used);
			if (!passed)
				return NULL;
		} else if (used < ASM_MAX_LINE) {
			out[used++] = *at;
		} else {
			asm_stop(as, NULL, "a macro expands to a line that is too long");
			return NULL;
		}
	}
	return keep_text(as, out, used);
}

/* --------------------------------------------------------------------- input */

static bool count_line(struct assembler *as)
{
	if (++as->lines <= ASM_MAX_LINES)
		return true;
	return asm_stop(as, NULL, "more than 1000000 lines from macros, .repeat and .include");
}

/* Read the next line to as->where. False: there is none. */
static bool next_line(struct assembler *as, struct input *input)
{
	struct where where = { .place = input->use };
	const char *end;

	if (input->body) {
		const struct body_line *line = input->body->line + input->next;

		if (input->next == input->body->count)
			return false;
		input->next++;
		where.text = line->text;
		where.place.file = line->file & 0xffff;
		where.place.line = line->number;
	} else {
		if (!input->text)
			return false;
		where.text = input->text;
		where.place.line = input->number++;
		end = strchr(input->text, '\n');
		input->text = end ? end + 1 : NULL;
	}
	as->where = where;
	as->token = (struct token){ .text = where.text };
	as->silent = false;
	if (!count_line(as))
		return false;
	where.text = expand(as, input, where.text);
	as->where.text = where.text ? where.text : "";
	return where.text;
}

static bool may_continue(const struct assembler *as)
{
	return !as->no_memory && !as->stopped && as->errors < ASM_MAX_ERRORS;
}

void source_run(struct assembler *as, struct input *input)
{
	struct input *outer = as->input;
	const struct where where = as->where;
	const struct token token = as->token;
	const char *at = as->at;

	if (as->depth == ASM_MAX_DEPTH) {
		asm_stop(as, NULL, "macros, repetitions and files are nested more than 32 deep: "
			 "does one of them use itself?");
		return;
	}
	/* Repetitions of an empty body must terminate, too. */
	if (!count_line(as))
		return;
	as->depth++;
	as->input = input;
	while (may_continue(as) && next_line(as, input)) {
		token_line(as, &as->where);
		asm_line(as);
	}
	as->depth--;
	as->input = outer;
	if (!outer)
		return;
	as->where = where;
	as->token = token;
	as->at = at;
}

/* Return whether the current line begins with this directive, and what it opens. */
static bool line_is(struct assembler *as, const char *directive)
{
	return token_is(&as->token, directive);
}

static bool add_line(struct assembler *as, struct body *body)
{
	if (!source_grow(as, (void **)&body->line, body->count, &body->room,
			 sizeof(*body->line)))
		return false;
	body->line[body->count++] = (struct body_line){
		.text = as->where.text,
		.file = as->where.place.file,
		.number = as->where.place.line,
	};
	return true;
}

bool source_body(struct assembler *as, const char *end, struct body *body)
{
	const bool macro = !strcmp(end, ".endm");
	const struct token directive = as->directive;
	const struct where begin = as->where;
	unsigned int inner = 0;

	while (may_continue(as) && next_line(as, as->input)) {
		token_line(as, &as->where);
		if (line_is(as, ".endm") || line_is(as, ".endr")) {
			if (!inner && line_is(as, end)) {
				token_next(as);
				return true;
			}
			if (!inner)
				return asm_error(as, NULL, "expected %s, which ends the %s of line "
						 "%u", end, macro ? ".macro" : ".repeat",
						 begin.place.line);
			inner--;
		} else if (line_is(as, ".macro") || line_is(as, ".repeat")) {
			inner++;
		}
		if (!add_line(as, body))
			return false;
	}
	if (!may_continue(as))
		return false;
	return asm_error_in(as, &begin, &directive, "%s without %s: write %s after the last line "
			    "that belongs to it", macro ? ".macro" : ".repeat", end, end);
}

/* --------------------------------------------------------------------- files */

/* Find the number of the file with this path, or file_count. */
static size_t find_file(const struct assembler *as, const char *path)
{
	size_t i = 0;

	while (i < as->file_count && strcmp(as->files[i].path, path))
		i++;
	return i;
}

/* Add a file. Consumes both strings, even on failure. */
static bool add_file(struct assembler *as, char *path, char *text)
{
	const size_t bytes = text ? strlen(text) : 0, name = strlen(path) + 1;
	void *grown = NULL;

	if (as->file_count == PUMICE_PROGRAM_FILES || bytes > ASM_MAX_TEXT - as->text_bytes ||
	    name > INCLUDE_BYTES + 1 || name > PUMICE_PROGRAM_NAME_BYTES - as->name_bytes)
		asm_stop(as, NULL, "too many included files, or too large ones");
	else
		grown = realloc(as->files, (as->file_count + 1) * sizeof(*as->files));
	if (!grown) {
		free(path);
		free(text);
		return as->stopped ? false : asm_no_memory(as);
	}
	as->files = grown;
	as->files[as->file_count++] = (struct source_file){ .path = path, .text = text };
	as->text_bytes += bytes;
	as->name_bytes += name;
	return true;
}

void source_file(struct assembler *as, const char *path, const char *text)
{
	struct input input = { .text = text, .number = 1 };
	char *name = strndup(*path ? path : "?", INCLUDE_BYTES - 1);

	if (!name) {
		asm_no_memory(as);
		return;
	}
	if (!add_file(as, name, NULL))
		return;
	as->files[0].open = true;
	as->first = (struct where){ .text = text, .place.line = 1 };
	source_run(as, &input);
}

/* Parse the name in quotes, which must be the rest of the line. */
static bool quoted(struct assembler *as, char *name)
{
	const char *from = as->token.text, *end;

	if (*from != '"')
		return asm_error(as, NULL, "expected the name of a file in quotes");
	end = from + 1 + strcspn(from + 1, "\"\r\n");
	if (*end != '"' || end == from + 1 || end - from > INCLUDE_BYTES / 2)
		return asm_error(as, NULL, "expected the name of a file in quotes");
	memcpy(name, from + 1, (size_t)(end - from - 1));
	name[end - from - 1] = '\0';
	as->at = end + 1;
	token_next(as);
	if (as->token.kind == TOKEN_END)
		return true;
	return asm_error(as, NULL, "unexpected text at the end of the line");
}

/* Get the number of the file, which is read on its first use. */
static bool open_file(struct assembler *as, const struct token *at, const char *name, size_t *file)
{
	const char *from = as->files[as->where.place.file].path;
	char *path, *text;
	int err = as->options.include ?
		  as->options.include(as->options.data, from, name, &path, &text) : -EPERM;

	if (err == -EPERM)
		return asm_error(as, at, "files cannot be included here");
	if (err == -ENOENT)
		return asm_error(as, at, "%s: %s; it is searched for in the folder of this file, then in those "
				 "of pumice-as -I", name, strerror(-err));
	if (err)
		return asm_error(as, at, "%s: %s", name, strerror(-err));
	*file = find_file(as, path);
	if (*file == as->file_count)
		return add_file(as, path, text);
	free(path);
	free(text);
	if (as->files[*file].open)
		return asm_stop(as, at, "the file includes itself, directly or through another "
				"file: remove this line");
	return true;
}

bool source_include(struct assembler *as)
{
	struct input input = { .number = 1, .use = { .use = PUMICE_PROGRAM_USE_INCLUDE } };
	const struct token at = as->token;
	char name[INCLUDE_BYTES];
	size_t file = 0;

	if (!quoted(as, name) || !open_file(as, &at, name, &file))
		return false;
	input.text = as->files[file].text;
	input.use.file = file & 0xffff;
	input.use.parent = source_place(as);
	if (!input.use.parent)
		return false;
	as->files[file].open = true;
	source_run(as, &input);
	as->files[file].open = false;
	return true;
}

void source_free(struct assembler *as)
{
	for (size_t i = 0; i < as->file_count; i++) {
		free(as->files[i].path);
		free(as->files[i].text);
	}
	for (size_t i = 0; i < as->made_count; i++)
		free(as->made[i]);
	free(as->files);
	free(as->made);
	free(as->places);
}
