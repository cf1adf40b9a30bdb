// SPDX-License-Identifier: MIT
/*
 * Operands: registers, masks, immediates. The operand class
 * in insn.c, not this file, determines which are accepted.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "expected.h"
#include "internal.h"
#include "pumice_names.h"
#include "rules.h"

#define INDEXED_MAX 4095u	/* largest constant added to an index in an operand */
#define MASK_REGS 16u	/* usc_mask: temporaries usable as masks */

/* Split a register's name into letters and digits. */
struct register_name {
	char bank[8];
	size_t digits;
	uint32_t number;	/* UINT32_MAX: more digits than any register has */
};

static bool split_name(const struct token *name, struct register_name *out)
{
	size_t letters = 0;
	char digits[8];

	while (letters < name->length && isalpha((unsigned char)name->text[letters]))
		letters++;
	out->digits = name->length - letters;
	if (!letters || letters >= sizeof(out->bank))
		return false;
	memcpy(out->bank, name->text, letters);
	out->bank[letters] = '\0';
	for (size_t i = letters; i < name->length; i++)
		if (!isdigit((unsigned char)name->text[i]))
			return false;
	out->number = UINT32_MAX;
	if (out->digits < sizeof(digits)) {
		memcpy(digits, name->text + letters, out->digits);
		digits[out->digits] = '\0';
		out->number = (uint32_t)strtoul(digits, NULL, 10);
	}
	return true;
}

/* The current token is not a name of a register: report why, and what is accepted. */
static bool no_register(struct assembler *as)
{
	const struct token *token = &as->token;
	const int length = (int)token->length;
	const struct symbol *symbol;
	char text[EXPECTED_BYTES];
	const char *accepts = as->accepts ? as->accepts :
			      as->cls ? expected_operand(text, as->cls) : expected_registers(text);

	if (token->kind == TOKEN_BAD && isdigit((unsigned char)*token->text))
		return token_no_number(as);
	if (token->kind != TOKEN_NAME)
		return asm_error_form(as, "expected %s%s", as->accepts || as->cls ? "" :
				      "a register: ", accepts);
	symbol = symbol_find(as, token);
	if (symbol && symbol->kind == SYMBOL_LABEL)
		return asm_error_form(as, "%.*s is a label, which only a branch names; accepted: "
				      "%s", length, token->text, accepts);
	if (symbol || symbol_reserved(token))
		return asm_error_form(as, "%.*s is not allowed here; accepted: %s", length,
				      token->text, accepts);
	return asm_error_form(as, "%.*s is not defined; accepted: %s", length, token->text,
			      accepts);
}

/*
 * Replace a number in the space of special constants and registers by the encoded one, which is
 * also accepted. False: there is no such register.
 */
static bool number_in_space(unsigned int bank, uint32_t *number)
{
	for (size_t i = 0; i < pumice_usc_isa.nr_specials; i++) {
		const struct pumice_isa_special *special = &pumice_usc_isa.specials[i];

		if (special->bank != bank || special->space != *number)
			continue;
		*number = special->number;
		return true;
	}
	return pumice_isa_find_special(&pumice_usc_isa, bank, *number);
}

/*
 * Parse a register name such as sh12: its bank and number, or the bank only ("r" of
 * r[idx0 + 1]). Predefined constants, masks and immediates have no such names.
 */
static bool bank_of(struct assembler *as, const struct token *name,
		    struct pumice_usc_operand *operand, bool *numbered)
{
	struct register_name split;
	uint32_t bank = PUMICE_USC_BANK_R, limit;
	char text[EXPECTED_BYTES];

	if (!split_name(name, &split))
		return no_register(as);
	while (bank < PUMICE_USC_BANK_COUNT && strcmp(split.bank, pumice_usc_bank_str(bank)))
		bank++;
	if (bank == PUMICE_USC_BANK_COUNT || bank == PUMICE_USC_BANK_IMM ||
	    bank == PUMICE_USC_BANK_M || bank == PUMICE_USC_BANK_K)
		return no_register(as);
	if (!(pumice_usc_isa.banks >> bank & 1))
		return asm_error(as, name, "no operand is in the bank %s", split.bank);
	*numbered = split.digits != 0;
	if (*numbered && bank == PUMICE_USC_BANK_DC)
		return asm_error(as, name, "dynamic constants are named by an index only, such as "
				 "dc[idx0 + 5]");
	limit = rule_registers(bank);
	if (*numbered && limit && split.number >= limit)
		return asm_error(as, name, "%.*s does not exist: the last is %s%u",
				 (int)name->length, name->text, split.bank, limit - 1);
	if (*numbered && !limit && !number_in_space(bank, &split.number))
		return asm_error(as, name, "%.*s does not exist; accepted: %s", (int)name->length,
				 name->text, expected_specials(text, bank));
	*operand = (struct pumice_usc_operand){ .bank = (uint8_t)bank,
						.num = (uint16_t)split.number };
	return true;
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

static bool can_be_indexed(unsigned int bank)
{
	return bank == PUMICE_USC_BANK_R || bank == PUMICE_USC_BANK_V ||
	       bank == PUMICE_USC_BANK_SH || bank == PUMICE_USC_BANK_CF ||
	       bank == PUMICE_USC_BANK_CFA || bank == PUMICE_USC_BANK_O ||
	       bank == PUMICE_USC_BANK_VO || bank == PUMICE_USC_BANK_DC;
}

/* Parse the dimension after "idx0 *". */
static bool dimension_of(struct assembler *as)
{
	const struct token at = as->token;
	uint64_t number;

	if (!token_small_count(as, "a dimension", UINT32_MAX, &number))
		return false;
	for (uint32_t dim = 0; dim < PUMICE_USC_DIM_COUNT; dim++) {
		if (strtoul(pumice_usc_dim_str(dim), NULL, 10) != number)
			continue;
		as->dim = dim;
		return true;
	}
	return asm_error(as, &at, "a dimension is 1, 2, 4, 8 or 16");
}

static bool no_index(struct assembler *as, const struct token *name, unsigned int bank)
{
	return asm_error(as, name, "the bank %s has no index: r, v, sh, cf, cfa, o, vo and dc have",
			 pumice_usc_bank_str(bank));
}

/* Parse the part after "r[": idx0 * 4 + 5]; the '[' was consumed. */
static bool index_of(struct assembler *as, const struct token *name,
		     struct pumice_usc_operand *operand)
{
	uint32_t limit = rule_registers(operand->bank);
	const struct token at = as->token;
	uint64_t number = 0;

	if (!can_be_indexed(operand->bank))
		return no_index(as, name, operand->bank);
	if (token_is(&as->token, "idx0"))
		operand->idx = 1;
	else if (token_is(&as->token, "idx1"))
		operand->idx = 2;
	else
		return asm_error(as, NULL, "expected idx0 or idx1");
	token_next(as);
	if (token_accept(as, '*') && !dimension_of(as))
		return false;
	if (token_accept(as, '+') && !token_count(as, "an indexed register", limit ? limit - 1 :
						  INDEXED_MAX, &number))
		return false;
	operand->num = (uint16_t)number;
	as->index_at = at;
	return token_expect(as, ']');
}

/* Parse an optional [0] after a register. */
static bool element_of(struct assembler *as, const struct token *name,
		       struct pumice_usc_operand *operand)
{
	if (!token_accept(as, '['))
		return true;
	if (token_is(&as->token, "idx0") || token_is(&as->token, "idx1"))
		return can_be_indexed(operand->bank) ?
		       asm_error(as, name, "an index replaces the number of a register: write "
				 "%s[%.*s + %u]", pumice_usc_bank_str(operand->bank),
				 (int)as->token.length, as->token.text, operand->num) :
		       no_index(as, name, operand->bank);
	if (as->token.kind == TOKEN_NAME ||
	    (as->token.kind == TOKEN_PUNCT && as->token.value == '!'))
		return asm_error_form(as, "a mask is an operand of its own: put a comma before it");
	if (as->token.kind != TOKEN_INT || as->token.value)
		return asm_error(as, NULL, "only element 0 of a register is a scalar: write [0]");
	token_next(as);
	operand->elem = true;
	return token_expect(as, ']');
}

bool operand_register(struct assembler *as, struct pumice_usc_operand *operand)
{
	const struct token name = as->token;
	const struct symbol *symbol;
	bool numbered = true;

	as->dim = 0;
	symbol = name.kind == TOKEN_NAME ? symbol_find(as, &name) : NULL;
	if (symbol && symbol->kind == SYMBOL_ALIAS) {
		*operand = symbol->reg;
		as->dim = symbol->dim;
		as->index_at = name;
		as->silent |= symbol->broken;
	} else if (name.kind != TOKEN_NAME) {
		return no_register(as);
	} else if (!special_of(&name, operand) && !bank_of(as, &name, operand, &numbered)) {
		return false;
	}
	token_next(as);
	if (!numbered) {
		if (!token_accept(as, '['))
			return asm_error(as, &name, "a register needs a number, such as %.*s0",
					 (int)name.length, name.text);
		if (!index_of(as, &name, operand))
			return false;
	}
	if (!element_of(as, &name, operand))
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
	if (operand->bank == PUMICE_USC_BANK_CF && end > as->used_coeffs)
		as->used_coeffs = end;
	if (operand->bank == PUMICE_USC_BANK_CFA && end > as->used_coeffs_alt)
		as->used_coeffs_alt = end;
	if (operand->bank == PUMICE_USC_BANK_VO && end > as->used_vo)
		as->used_vo = end;
	if (operand->bank == PUMICE_USC_BANK_O && end > as->used_outputs)
		as->used_outputs = end;
}

bool operand_stages(struct assembler *as, const struct token *at, uint32_t stages)
{
	if (!(as->stages & stages))
		return asm_error(as, at, "%.*s is not for %s programs", (int)at->length, at->text,
				 pumice_program_stage_str((uint32_t)__builtin_ctz(as->stages)));
	as->stages &= stages;
	return true;
}

static bool mask_register(struct assembler *as, uint8_t *number, bool *inverted)
{
	struct token name;
	struct pumice_usc_operand operand;

	*inverted = token_accept(as, '!');
	name = as->token;
	as->accepts = "a predefined constant such as one, or r0 to r15";
	if (!operand_register(as, &operand))
		return false;
	as->accepts = NULL;
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
	    (as->token.kind == TOKEN_PUNCT && strchr("-~(", (int)as->token.value)) ||
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

	as->accepts = "a shared, coefficient or attribute register";
	if (!operand_register(as, operand))
		return false;
	as->accepts = NULL;
	if (operand->elem || operand->idx ||
	    (operand->bank != PUMICE_USC_BANK_SH && operand->bank != PUMICE_USC_BANK_V &&
	     operand->bank != PUMICE_USC_BANK_CF && operand->bank != PUMICE_USC_BANK_CFA))
		return asm_error(as, &name, "expected a shared, coefficient or attribute register");
	return true;
}
