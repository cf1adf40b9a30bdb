// SPDX-License-Identifier: MIT
/*
 * Operands: registers, masks, immediates. What a place takes is not decided
 * here but by the operand class in insn.c.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "pumice_names.h"

#define MASK_REGS 16u	/* usc_mask: temporaries that can be masks */

/* A register name such as sh12: its bank, and its number, or idx only ("r" of r[idx0 + 1]). */
static bool bank_of(const struct token *name, struct pumice_usc_operand *operand, bool *numbered)
{
	size_t letters = 0;
	char bank[8], digits[8];
	size_t count;

	while (letters < name->length && isalpha((unsigned char)name->text[letters]))
		letters++;
	count = name->length - letters;
	if (!letters || letters >= sizeof(bank) || count >= sizeof(digits))
		return false;
	memcpy(bank, name->text, letters);
	bank[letters] = '\0';
	memcpy(digits, name->text + letters, count);
	digits[count] = '\0';
	if (strspn(digits, "0123456789") != count)
		return false;
	for (uint32_t b = PUMICE_USC_BANK_R; b < PUMICE_USC_BANK_COUNT; b++) {
		/* Predefined constants have names, and numbers only as k[idx0 + 1]. */
		if (b == PUMICE_USC_BANK_IMM || b == PUMICE_USC_BANK_M ||
		    (b == PUMICE_USC_BANK_K && count) || strcmp(bank, pumice_usc_bank_str(b)))
			continue;
		*operand = (struct pumice_usc_operand){ .bank = (uint8_t)b };
		operand->num = (uint16_t)strtoul(digits, NULL, 10);
		*numbered = count != 0;
		return strtoul(digits, NULL, 10) < 1u << 12;
	}
	return false;
}

static bool special_of(const struct token *name, struct pumice_usc_operand *operand)
{
	for (size_t i = 0; i < pumice_usc_isa.nr_specials; i++) {
		const struct pumice_isa_special *special = &pumice_usc_isa.specials[i];

		if (!token_is(name, special->name))
			continue;
		*operand = (struct pumice_usc_operand){ .bank = special->bank,
							.num = special->number };
		return true;
	}
	return false;
}

/* Behind "r[": idx0 + 5], with the '[' passed over. */
static bool index_of(struct assembler *as, struct pumice_usc_operand *operand)
{
	uint64_t number = 0;

	if (token_is(&as->token, "idx0"))
		operand->idx = 1;
	else if (token_is(&as->token, "idx1"))
		operand->idx = 2;
	else
		return asm_error(as, NULL, "expected idx0 or idx1");
	token_next(as);
	if (token_accept(as, '+') && !token_count(as, "an indexed register", 4095, &number))
		return false;
	operand->num = (uint16_t)number;
	return token_expect(as, ']');
}

/* An optional [0] behind a register. */
static bool element_of(struct assembler *as, struct pumice_usc_operand *operand)
{
	if (!token_accept(as, '['))
		return true;
	if (as->token.kind != TOKEN_INT || as->token.value)
		return asm_error(as, NULL, "only element 0 of a register is a scalar");
	token_next(as);
	operand->elem = true;
	return token_expect(as, ']');
}

bool operand_register(struct assembler *as, struct pumice_usc_operand *operand)
{
	const struct token name = as->token;
	const struct symbol *symbol;
	bool numbered = true;

	symbol = name.kind == TOKEN_NAME ? symbol_find(as, &name) : NULL;
	if (symbol && symbol->kind == SYMBOL_ALIAS)
		*operand = symbol->reg;
	else if (name.kind != TOKEN_NAME ||
		 (!special_of(&name, operand) && !bank_of(&name, operand, &numbered)))
		return asm_error(as, &name, "expected a register");
	token_next(as);
	if (!numbered) {
		if (!token_accept(as, '['))
			return asm_error(as, &name, "a register needs a number");
		if (!index_of(as, operand))
			return false;
	}
	if (!element_of(as, operand))
		return false;
	operand_use(as, operand, 1);
	return true;
}

void operand_use(struct assembler *as, const struct pumice_usc_operand *operand, uint32_t count)
{
	uint32_t end = operand->num + count;

	if (operand->bank == PUMICE_USC_BANK_R && end > as->used_temps)
		as->used_temps = end;
	if (operand->bank == PUMICE_USC_BANK_V && end > as->used_attrs)
		as->used_attrs = end;
	if (operand->bank == PUMICE_USC_BANK_SH && end > as->used_shared)
		as->used_shared = end;
}

static bool mask_register(struct assembler *as, uint8_t *number, bool *inverted)
{
	struct token name;
	struct pumice_usc_operand operand;

	*inverted = token_accept(as, '!');
	name = as->token;
	if (!operand_register(as, &operand))
		return false;
	if (!operand.elem && !operand.idx && operand.bank == PUMICE_USC_BANK_K)
		*number = (uint8_t)operand.num;
	else if (!operand.elem && !operand.idx && operand.bank == PUMICE_USC_BANK_R &&
		 operand.num < MASK_REGS)
		*number = (uint8_t)(PUMICE_USC_MASK_CONSTS + operand.num);
	else
		return asm_error(as, &name, "%.*s cannot be a mask: masks are predefined "
				 "constants and r0 to r15", (int)name.length, name.text);
	return true;
}

bool operand_mask(struct assembler *as, uint32_t *raw)
{
	struct pumice_usc_mask mask = { .b = PUMICE_USC_K_ONE };

	if (!token_expect(as, '['))
		return false;
	if (!mask_register(as, &mask.a, &mask.a_not))
		return false;
	if (token_accept(as, '&') && !mask_register(as, &mask.b, &mask.b_not))
		return false;
	pumice_usc_mask_pack(raw, &mask);
	return token_expect(as, ']');
}

static bool starts_number(struct assembler *as)
{
	const struct symbol *symbol;

	if (as->token.kind == TOKEN_INT || as->token.kind == TOKEN_FLOAT ||
	    (as->token.kind == TOKEN_PUNCT && as->token.value == '-') ||
	    token_is(&as->token, "inf") || token_is(&as->token, "nan"))
		return true;
	symbol = as->token.kind == TOKEN_NAME ? symbol_find(as, &as->token) : NULL;
	return symbol && symbol->kind == SYMBOL_EQU;
}

bool operand_parse(struct assembler *as, struct pumice_usc_operand *operand,
		   struct token *immediate)
{
	uint32_t mask;

	if (as->token.kind == TOKEN_PUNCT && as->token.value == '[') {
		if (!operand_mask(as, &mask))
			return false;
		*operand = (struct pumice_usc_operand){ .bank = PUMICE_USC_BANK_M,
							.num = (uint16_t)mask };
		return true;
	}
	if (!starts_number(as))
		return operand_register(as, operand);
	*operand = (struct pumice_usc_operand){ .bank = PUMICE_USC_BANK_IMM };
	return token_number(as, immediate);
}

bool operand_plain(struct assembler *as, struct pumice_usc_operand *operand)
{
	const struct token name = as->token;

	if (!operand_register(as, operand))
		return false;
	if (operand->elem || operand->idx ||
	    (operand->bank != PUMICE_USC_BANK_SH && operand->bank != PUMICE_USC_BANK_V))
		return asm_error(as, &name, "expected a shared or attribute register");
	return true;
}
