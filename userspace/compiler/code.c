// SPDX-License-Identifier: MIT
/*
 * The growing list of instructions, and forward branch targets.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

uint32_t *code_add(struct assembler *as, struct code *code)
{
	uint32_t *words;

	if (code->insns == code->room) {
		size_t room = code->room ? 2 * code->room : 64;
		void *grown = realloc(code->words, room * ASM_WORDS * sizeof(uint32_t));
		void *lines;

		if (grown)
			code->words = grown;
		lines = realloc(code->line, room * sizeof(*code->line));
		if (lines)
			code->line = lines;
		if (!grown || !lines) {
			asm_no_memory(as);
			return NULL;
		}
		code->room = room;
	}
	code->line[code->insns] = (struct line_of){ 0, "" };
	if (!as->generated)
		code->line[code->insns] = (struct line_of){ source_place(as), as->where.text };
	words = &code->words[ASM_WORDS * code->insns++];
	memset(words, 0, ASM_WORDS * sizeof(uint32_t));
	return words;
}

/* Parse .word a, b, c, d: a raw instruction, legal or not. */
bool code_word_directive(struct assembler *as, struct code *code)
{
	uint32_t words[ASM_WORDS];
	uint32_t *insn;

	for (unsigned int i = 0; i < ASM_WORDS; i++) {
		struct token number;

		if ((i && !token_expect(as, ',')) || !token_number(as, &number))
			return false;
		words[i] = (uint32_t)number.value;
	}
	insn = code_add(as, code);
	if (!insn)
		return false;
	memcpy(insn, words, sizeof(words));
	return true;
}

bool code_fixup(struct assembler *as, size_t insn, const struct token *name)
{
	if (as->fixup_count == as->fixup_room) {
		size_t room = as->fixup_room ? 2 * as->fixup_room : 32;
		void *grown = realloc(as->fixups, room * sizeof(*as->fixups));

		if (!grown)
			return asm_no_memory(as);
		as->fixups = grown;
		as->fixup_room = room;
	}
	as->fixups[as->fixup_count++] = (struct fixup){ .insn = insn, .name = *name,
							.where = as->where };
	return true;
}

/* Check a target that is a number, of a program whose lines are all without errors. */
static bool check_target(struct assembler *as, const struct token *target)
{
	if (target->value < as->usc.insns)
		return true;
	return asm_error(as, target, "there is no instruction %" PRIu64 ": the program has %zu, "
			 "counted from 0", target->value, as->usc.insns);
}

/* Write the target that a label is. */
static bool resolve(struct assembler *as, const struct fixup *fixup)
{
	const struct symbol *symbol = symbol_find(as, &fixup->name);
	const int length = (int)fixup->name.length;

	if (symbol && symbol->broken)
		return false;
	if (symbol && symbol->kind != SYMBOL_LABEL)
		return asm_error(as, &fixup->name, "%.*s is not a label: a branch names a label",
				 length, fixup->name.text);
	if (!symbol)
		return asm_error(as, &fixup->name, "undefined label %.*s: write %.*s: before "
				 "the instruction to branch to",
				 length, fixup->name.text, length, fixup->name.text);
	if (symbol->value >= as->usc.insns)
		return asm_error(as, &fixup->name, "no instruction follows label %.*s: write "
				 "one, such as end", length, fixup->name.text);
	pumice_isa_set(&pumice_usc_isa, PUMICE_USC_LAYOUT_FLOW, PUMICE_USC_FIELD_TARGET,
		       &as->usc.words[ASM_WORDS * fixup->insn], symbol->value);
	return true;
}

bool code_resolve(struct assembler *as)
{
	const unsigned int errors = as->errors;
	bool ok = true;

	for (size_t i = 0; i < as->fixup_count; i++) {
		const struct fixup *fixup = &as->fixups[i];

		as->where = fixup->where;
		if (fixup->name.kind == TOKEN_INT)
			ok = (errors || check_target(as, &fixup->name)) && ok;
		else
			ok = resolve(as, fixup) && ok;
	}
	return ok;
}
