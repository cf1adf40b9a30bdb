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

/* Reserved names: r12, sig3, zero, code … */
static bool is_reserved(const struct token *name)
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

struct symbol *symbol_add(struct assembler *as, const struct token *name, enum symbol_kind kind)
{
	struct symbol *symbol;

	if (name->kind != TOKEN_NAME || memchr(name->text, '.', name->length)) {
		asm_error(as, name, "expected a name");
		return NULL;
	}
	if (is_reserved(name)) {
		asm_error(as, name, "%.*s already has another meaning", (int)name->length,
			  name->text);
		return NULL;
	}
	if (symbol_find(as, name)) {
		asm_error(as, name, "%.*s is defined twice", (int)name->length, name->text);
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
	*symbol = (struct symbol){ .name = name->text, .length = name->length, .kind = kind };
	return symbol;
}
