// SPDX-License-Identifier: MIT
/*
 * Names defined by a program: labels, .equ constants, .alias registers.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

struct symbol *symbol_find(struct assembler *as, const struct token *name)
{
	for (size_t i = 0; i < as->symbol_count; i++) {
		struct symbol *symbol = &as->symbols[i];

		if (symbol->length == name->length &&
		    !memcmp(symbol->name, name->text, name->length))
			return symbol;
	}
	return NULL;
}

bool symbol_reserved(const struct token *name)
{
	static const char *const words[] = { "inf", "nan", "code", "uniforms", "idx0", "idx1" };
	static const char *const banks[] = { "r", "v", "sh", "cf", "cfa", "idx", "o", "sc", "sr",
					     "vo", "dc", "i", "sl", "sig" };
	size_t letters = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (token_is(name, words[i]))
			return true;
	for (size_t i = 0; i < pumice_usc_isa.nr_specials; i++)
		if (token_is(name, pumice_usc_isa.specials[i].name))
			return true;
	while (letters < name->length && isalpha((unsigned char)name->text[letters]))
		letters++;
	for (size_t i = letters; i < name->length; i++)
		if (!isdigit((unsigned char)name->text[i]))
			return false;
	for (size_t i = 0; i < sizeof(banks) / sizeof(banks[0]); i++)
		if (letters < name->length && strlen(banks[i]) == letters &&
		    !memcmp(banks[i], name->text, letters))
			return true;
	return false;
}

/* Report a second definition, with the first one; in a macro or repetition, propose \\@. */
static void report_twice(struct assembler *as, const struct token *name,
			 const struct symbol *symbol)
{
	const enum pumice_program_use use = as->where.place.use;
	const bool made = use == PUMICE_PROGRAM_USE_MACRO || use == PUMICE_PROGRAM_USE_REPEAT;

	asm_error(as, name, "%.*s is defined twice: first in line %u of %.200s; %s",
		  (int)name->length, name->text, symbol->place.line,
		  as->files[symbol->place.file].path, made ?
		  "append \\@ to the name, which is another number in each use" :
		  "use another name");
}

struct symbol *symbol_add(struct assembler *as, const struct token *name, enum symbol_kind kind)
{
	struct symbol *symbol;

	if (name->kind != TOKEN_NAME || memchr(name->text, '.', name->length)) {
		asm_error(as, name, "expected a name");
		return NULL;
	}
	if (symbol_reserved(name)) {
		asm_error(as, name, "%.*s already has another meaning: registers, predefined "
			  "constants and signals have such names; use another one",
			  (int)name->length, name->text);
		return NULL;
	}
	symbol = symbol_find(as, name);
	if (symbol) {
		report_twice(as, name, symbol);
		return NULL;
	}
	if (as->symbol_count == as->symbol_room) {
		size_t room = as->symbol_room ? 2 * as->symbol_room : 32;
		void *grown = realloc(as->symbols, room * sizeof(*as->symbols));

		if (!grown) {
			asm_no_memory(as);
			return NULL;
		}
		as->symbols = grown;
		as->symbol_room = room;
	}
	symbol = &as->symbols[as->symbol_count++];
	*symbol = (struct symbol){ .name = name->text, .length = name->length, .kind = kind,
				   .place = as->where.place };
	return symbol;
}

void symbol_add_broken(struct assembler *as, const struct token *name, enum symbol_kind kind)
{
	struct symbol *symbol;

	as->silent = true;
	symbol = symbol_add(as, name, kind);
	if (symbol)
		symbol->broken = true;
}
