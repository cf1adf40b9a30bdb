// SPDX-License-Identifier: MIT
/*
 * Names defined by a program: labels, .equ constants, .alias registers. They are found by a hash
 * table of numbers of symbols, since a program may have a label for each instruction.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define SYMBOL_ROOM 32u	/* at first; a power of two */

/* Return the slot of the name, or the empty one in which it belongs. At least half are empty. */
static uint32_t *slot_of(const struct assembler *as, const char *name, size_t length)
{
	const uint32_t mask = (uint32_t)(2 * as->symbol_room - 1);
	uint32_t hash = 0x811c9dc5u;	/* FNV-1a */

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 0x01000193u;
	for (;; hash++) {
		uint32_t *slot = &as->symbol_slots[hash & mask];
		const struct symbol *symbol = *slot ? &as->symbols[*slot - 1] : NULL;

		if (!symbol || (symbol->length == length && !memcmp(symbol->name, name, length)))
			return slot;
	}
}

struct symbol *symbol_find(struct assembler *as, const struct token *name)
{
	uint32_t slot = as->symbol_room ? *slot_of(as, name->text, name->length) : 0;

	return slot ? &as->symbols[slot - 1] : NULL;
}

/* Make room for one more symbol. */
static bool make_room(struct assembler *as)
{
	size_t room = as->symbol_room ? 2 * as->symbol_room : SYMBOL_ROOM;
	uint32_t *slots;
	void *grown;

	if (as->symbol_count < as->symbol_room)
		return true;
	grown = realloc(as->symbols, room * sizeof(*as->symbols));
	if (grown)
		as->symbols = grown;
	slots = grown ? calloc(2 * room, sizeof(*slots)) : NULL;
	if (!slots)
		return asm_no_memory(as);
	free(as->symbol_slots);
	as->symbol_slots = slots;
	as->symbol_room = room;
	for (size_t i = 0; i < as->symbol_count; i++)
		*slot_of(as, as->symbols[i].name, as->symbols[i].length) = (uint32_t)i + 1;
	return true;
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
	if (!make_room(as))
		return NULL;
	symbol = &as->symbols[as->symbol_count++];
	*slot_of(as, name->text, name->length) = (uint32_t)as->symbol_count;
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
