// SPDX-License-Identifier: MIT
/*
 * The growing list of instructions, and forward branch targets.
 */
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

bool code_resolve(struct assembler *as)
{
	bool ok = true;

	for (size_t i = 0; i < as->fixup_count; i++) {
		const struct fixup *fixup = &as->fixups[i];
		const struct symbol *symbol = symbol_find(as, &fixup->name);
		uint32_t *words = &as->usc.words[ASM_WORDS * fixup->insn];

		as->where = fixup->where;
		if (symbol && symbol->broken)
			ok = false;
		else if (symbol && symbol->kind != SYMBOL_LABEL)
			ok = asm_error(as, &fixup->name, "%.*s is not a label: a branch names a label",
				       (int)fixup->name.length, fixup->name.text);
		else if (!symbol)
			ok = asm_error(as, &fixup->name, "undefined label %.*s: write %.*s: before "
				       "the instruction to branch to",
				       (int)fixup->name.length, fixup->name.text,
				       (int)fixup->name.length, fixup->name.text);
		else if (symbol->value >= as->usc.insns)
			ok = asm_error(as, &fixup->name, "no instruction follows label %.*s: write "
				       "one, such as end",
				       (int)fixup->name.length, fixup->name.text);
		else
			pumice_isa_set(&pumice_usc_isa, PUMICE_USC_LAYOUT_FLOW,
				       PUMICE_USC_FIELD_TARGET, words, symbol->value);
	}
	return ok;
}
