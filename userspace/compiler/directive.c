// SPDX-License-Identifier: MIT
/*
 * Directives: resources, names, and PDS loads.
 */
#include <string.h>

#include "expected.h"
#include "internal.h"
#include "pumice_names.h"
#include "rules.h"

#define MAX_LOCAL_BYTES 0xffffcu	/* maximum of the local_bytes field */

static bool directive_group(struct assembler *as)
{
	uint64_t size[3] = { 1, 1, 1 };

	if (as->pds_written)
		return asm_error(as, NULL, ".group must precede .pds");
	for (unsigned int i = 0; i < 3; i++) {
		const uint32_t limit = i == 2 ? 1023 : PUMICE_GROUP_INSTANCES;
		struct token at, number;

		if (i && !token_accept(as, ','))
			break;
		at = as->token;
		if (!token_number(as, &number))
			return false;
		if (number.kind != TOKEN_INT || !number.value || number.value > limit)
			return asm_error(as, &at, "a work-group has 1 to %u instances in a dimension",
					 limit);
		size[i] = number.value;
	}
	if (size[0] * size[1] * size[2] > PUMICE_GROUP_INSTANCES)
		return asm_error(as, NULL, "a work-group has at most %u instances",
				 PUMICE_GROUP_INSTANCES);
	as->header.size_x = (uint16_t)size[0];
	as->header.size_y = (uint16_t)size[1];
	as->header.size_z = (uint16_t)size[2];
	return true;
}

static bool directive_local(struct assembler *as)
{
	const struct token at = as->token;
	uint64_t bytes;

	if (!token_count(as, "local memory", MAX_LOCAL_BYTES, &bytes))
		return false;
	if (bytes % 4)
		return asm_error(as, &at, "local memory is a multiple of 4 bytes");
	as->header.local_bytes = (uint32_t)bytes;
	return true;
}

static bool directive_count(struct assembler *as, const char *what, uint64_t max,
			    struct declared *out)
{
	uint64_t value;

	if (!token_count(as, what, max, &value))
		return false;
	*out = (struct declared){
		.count = (int64_t)value,
		.where = as->where,
		.at = as->directive,
	};
	return true;
}

static bool directive_temps(struct assembler *as)
{
	return directive_count(as, "temporary registers", PUMICE_USC_MAX_TEMPS, &as->temps);
}

static bool directive_attrs(struct assembler *as)
{
	return directive_count(as, "attribute registers", PUMICE_USC_MAX_ATTRS, &as->attrs);
}

static bool directive_shared(struct assembler *as)
{
	return directive_count(as, "shared registers", PUMICE_USC_MAX_SHARED, &as->shared);
}

static bool directive_coeffs(struct assembler *as)
{
	return directive_count(as, "coefficient registers", PUMICE_USC_MAX_COEFFS, &as->coeffs);
}

static bool directive_coeffs_alt(struct assembler *as)
{
	return directive_count(as, "alternate coefficient registers", PUMICE_USC_MAX_COEFFS_ALT,
			       &as->coeffs_alt);
}

static bool directive_vo(struct assembler *as)
{
	return directive_count(as, "vertex output registers", PUMICE_USC_MAX_VO, &as->vo);
}

static bool directive_outputs(struct assembler *as)
{
	return directive_count(as, "pixel output registers", PUMICE_USC_MAX_OUTPUTS, &as->outputs);
}

static bool directive_stage(struct assembler *as)
{
	const struct token at = as->token;

	for (uint32_t s = 0; s < PUMICE_PROGRAM_STAGE_COUNT; s++) {
		if (!token_is(&at, pumice_program_stage_str(s)))
			continue;
		token_next(as);
		if (!(as->stages >> s & 1))
			return asm_error(as, &at,
					 "the preceding lines are not allowed in %s programs",
					 pumice_program_stage_str(s));
		as->stages = 1u << s;
		return true;
	}
	return asm_error(as, NULL, "expected compute, vertex, fragment, tile or rays");
}

/* The three directives that generate PDS instructions exclude .pds. */
static bool begin_pds_directive(struct assembler *as)
{
	as->pds_by_directive = true;
	if (as->pds_written)
		return asm_error(as, NULL, ".pds already defines the PDS program");
	return true;
}

static bool directive_uniforms(struct assembler *as)
{
	const struct token at = as->token;
	struct pumice_usc_operand reg;
	struct token count;
	uint64_t words;

	if (!begin_pds_directive(as) || !operand_plain(as, &reg) || !token_expect(as, ','))
		return false;
	count = as->token;
	if (!token_count(as, "a number of words", PUMICE_USC_MAX_SHARED, &words))
		return false;
	if (!words)
		return asm_error(as, &count, "a number of words is 1 or more: write the number of "
				 "words of the uniform block, or remove the line");
	if (reg.bank == PUMICE_USC_BANK_V)
		return asm_error(as, &at, "uniforms go to shared or coefficient registers: sh0 to "
				 "sh%u, cf0 to cf%u or cfa0 to cfa%u", PUMICE_USC_MAX_SHARED - 1,
				 PUMICE_USC_MAX_COEFFS - 1, PUMICE_USC_MAX_COEFFS_ALT - 1);
	if (reg.num + words > rule_registers(reg.bank))
		return asm_error(as, &at, "uniforms go to existing registers: %u words from %.*s "
				 "on exceed %s%u", (unsigned int)words, (int)at.length, at.text,
				 pumice_usc_bank_str(reg.bank), rule_registers(reg.bank) - 1);
	operand_use(as, &reg, (uint32_t)words);
	return pds_dma_uniforms(as, &reg, (uint32_t)words);
}

static bool directive_input(struct assembler *as)
{
	struct pumice_usc_operand reg;
	struct token at;
	uint32_t source;

	if (!begin_pds_directive(as) || !operand_plain(as, &reg) || !token_expect(as, ','))
		return false;
	at = as->token;
	if (!pds_source(as, &source))
		return false;
	if (source >= PUMICE_PDS_SOURCE_LOCAL_X && reg.bank != PUMICE_USC_BANK_V)
		return asm_error(as, &at, "%s differs between instances: it goes to an attribute "
				 "register", pumice_pds_source_str(source));
	return operand_stages(as, &at, rule_pds_stages(&(struct pumice_pds_insn){
				.opcode = PUMICE_PDS_OP_MOV, .source = (uint8_t)source })) &&
	       pds_write(as, PUMICE_PDS_OP_MOV, &reg, source);
}

static bool directive_const(struct assembler *as)
{
	struct pumice_usc_operand reg;
	struct token number;

	return begin_pds_directive(as) && operand_plain(as, &reg) && token_expect(as, ',') &&
	       token_number(as, &number) &&
	       pds_write(as, PUMICE_PDS_OP_LDI, &reg, (uint32_t)number.value);
}

static bool directive_equ(struct assembler *as)
{
	const struct token name = as->token;
	struct token number;
	struct symbol *symbol;

	token_next(as);
	if (!token_expect(as, ',') || !token_number(as, &number)) {
		symbol_add_broken(as, &name, SYMBOL_EQU);
		return false;
	}
	symbol = symbol_add(as, &name, SYMBOL_EQU);
	if (!symbol)
		return false;
	symbol->broken = as->silent;
	symbol->value = number.value;
	symbol->is_float = number.kind == TOKEN_FLOAT;
	symbol->decimal = number.decimal;
	symbol->negative = number.negative;
	return true;
}

static bool directive_alias(struct assembler *as)
{
	const struct token name = as->token;
	struct pumice_usc_operand reg;
	struct symbol *symbol;

	token_next(as);
	if (!token_expect(as, ',') || !operand_register(as, &reg)) {
		symbol_add_broken(as, &name, SYMBOL_ALIAS);
		return false;
	}
	symbol = symbol_add(as, &name, SYMBOL_ALIAS);
	if (!symbol)
		return false;
	symbol->broken = as->silent;
	symbol->reg = reg;
	symbol->dim = as->dim;
	return true;
}

static bool directive_pds(struct assembler *as)
{
	if (as->in_pds || as->pds_written)
		return asm_error(as, NULL, ".pds may occur only once");
	if (as->pds_by_directive)
		return asm_error(as, NULL, "directives already define the PDS program");
	as->in_pds = true;
	as->pds_written = true;
	as->pds_at = as->directive;
	as->pds_where = as->where;
	return true;
}

static bool directive_endpds(struct assembler *as)
{
	if (!as->in_pds)
		return asm_error(as, &as->directive, ".endpds without .pds: write .pds before the "
				 "PDS instructions, or remove this line");
	as->in_pds = false;
	return true;
}

static bool directive_word(struct assembler *as)
{
	return code_word_directive(as, as->in_pds ? &as->pds : &as->usc);
}

/* One that ends a .macro or .repeat does not reach this function. */
static bool directive_stray(struct assembler *as)
{
	const bool macro = token_is(&as->directive, ".endm");

	return asm_error(as, &as->directive, "%s without %s: write %s before the lines that belong "
			 "to it, or remove this line", macro ? ".endm" : ".endr",
			 macro ? ".macro" : ".repeat", macro ? ".macro NAME" : ".repeat COUNT");
}

bool directive_line(struct assembler *as)
{
	static const struct {
		const char *name;
		bool (*parse)(struct assembler *as);
	} directives[] = {
		{ ".group", directive_group },	     { ".local", directive_local },
		{ ".temps", directive_temps },	     { ".attrs", directive_attrs },
		{ ".shared", directive_shared },     { ".coeffs", directive_coeffs },
		{ ".uniforms", directive_uniforms }, { ".input", directive_input },
		{ ".const", directive_const },	     { ".equ", directive_equ },
		{ ".alias", directive_alias },	     { ".pds", directive_pds },
		{ ".endpds", directive_endpds },     { ".word", directive_word },
		{ ".stage", directive_stage },	     { ".vo", directive_vo },
		{ ".outputs", directive_outputs },   { ".include", source_include },
		{ ".macro", macro_define },	     { ".repeat", macro_repeat },
		{ ".endm", directive_stray },	     { ".endr", directive_stray },
		{ ".coeffs_alt", directive_coeffs_alt },
	};
	struct similar similar = { .word = as->token.text, .length = as->token.length };
	char text[EXPECTED_BYTES];

	for (size_t i = 0; i < sizeof(directives) / sizeof(directives[0]); i++) {
		similar_try(&similar, directives[i].name);
		if (!token_is(&as->token, directives[i].name))
			continue;
		as->directive = as->token;
		token_next(as);
		return directives[i].parse(as);
	}
	return asm_error(as, NULL, "no such directive%s", similar_text(&similar, text));
}
