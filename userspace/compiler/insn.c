// SPDX-License-Identifier: MIT
/*
 * USC instructions: a mnemonic with its type, and operands as the table of the
 * instruction set lists them.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "expected.h"
#include "internal.h"
#include "pumice_decode.h"
#include "pumice_names.h"
#include "rules.h"

#define MAX_OPERANDS 8	/* of any form */

/* The instruction being parsed. */
struct insn {
	const struct pumice_isa_op_info *op;
	const struct pumice_isa_form *form;
	uint32_t type;
	uint32_t words[ASM_WORDS];
	bool has_imm;
	uint32_t imm;
	struct token target;	/* label or number of a branch, or kind END */
	bool has_dim;
	uint32_t dim;		/* multiplier of its index registers */
	struct token at[MAX_OPERANDS];	/* position of each operand */
	bool scalar_bank;	/* its form is scalar because the destination's bank is */
};

static bool set_field(struct assembler *as, struct insn *insn, unsigned int field,
		      const struct token *at, uint64_t value)
{
	char text[EXPECTED_BYTES];

	if (pumice_isa_set(&pumice_usc_isa, insn->op->layout, field, insn->words, value))
		return true;
	return asm_error(as, at, "accepted here: %s",
			 expected_number(text, &pumice_usc_isa, insn->op->layout, field));
}

/* Report an unknown operation, with a similar one. */
static bool no_such_op(struct assembler *as, const char *name, size_t length)
{
	struct similar similar = { .word = name, .length = length };
	char text[EXPECTED_BYTES];

	for (size_t i = 0; i < pumice_usc_isa.nr_ops; i++) {
		const char *op = pumice_usc_isa.ops[i].name;

		if (strlen(op) == length && !strncasecmp(op, name, length))
			return asm_error(as, NULL, "no such operation: names of operations are in "
					 "lower case: write %s", op);
		similar_try(&similar, op);
	}
	similar_text(&similar, text);
	if (length == as->token.length && token_ends_line(as->at)) {
		asm_error(as, NULL, "no such operation%s; if it is a label, write %.*s:", text,
			  (int)length, name);
		symbol_add_broken(as, &as->token, SYMBOL_LABEL);
		return false;
	}
	if (*text)
		return asm_error(as, NULL, "no such operation%s", text);
	return asm_error(as, NULL, "no such operation; if it is a macro, define it before: .macro %.*s",
			 (int)length, name);
}

/* Split "add.f32" and look up both parts. */
static bool find_op(struct assembler *as, struct insn *insn)
{
	const struct token *token = &as->token;
	const char *dot = memchr(token->text, '.', token->length);
	size_t length = dot ? (size_t)(dot - token->text) : token->length;
	size_t type_length = dot ? token->length - length - 1 : 0;
	char name[32], types[EXPECTED_BYTES];

	if (length >= sizeof(name))
		return no_such_op(as, token->text, length);
	memcpy(name, token->text, length);
	name[length] = '\0';
	insn->op = pumice_isa_find_name(&pumice_usc_isa, name);
	if (!insn->op)
		return no_such_op(as, name, length);
	if (!dot && insn->op->types > 1)
		return asm_error(as, NULL, "%s needs a type, such as %s", name, insn->op->example);
	if (!dot)
		return true;
	for (uint32_t t = 0; t < PUMICE_USC_TYPE_COUNT; t++) {
		const char *text = pumice_usc_type_str(t);

		if (strlen(text) == type_length && !memcmp(dot + 1, text, type_length)) {
			insn->type = t;
			if (insn->op->types >> t & 1)
				return true;
		}
	}
	if (insn->op->types <= 1)
		return asm_error(as, NULL, insn->op->opcode == PUMICE_USC_OP_MOV ?
				 "%s copies 32 bits of any type: write %s" :
				 insn->op->layout == PUMICE_USC_LAYOUT_ALU ?
				 "%s is for integers: write %s" :
				 "%s has no type: write %s", name, name);
	return asm_error(as, NULL, "%s does not exist for this type, only for %s", name,
			 expected_types(types, insn->op));
}

/* Return whether a number is written as the operand's type requires. */
static bool check_immediate(struct assembler *as, const struct insn *insn, unsigned int field,
			    const struct token *at, const struct token *number)
{
	uint32_t type = pumice_usc_operand_type(insn->op, field, insn->type);

	if (insn->type == PUMICE_USC_TYPE_F32 && type != insn->type && number->kind == TOKEN_FLOAT)
		return asm_error(as, at, "this operand is an integer");
	if (type == PUMICE_USC_TYPE_F32 && number->kind == TOKEN_INT && number->decimal &&
	    number->value)
		return asm_error(as, at, "an f32 operation: write %lld.0 for the number or "
				 "0x%llx for the bits", (long long)(int32_t)number->value,
				 (unsigned long long)number->value);
	if (insn->op->types > 1 && type != PUMICE_USC_TYPE_F32 && number->kind == TOKEN_FLOAT &&
	    number->value)
		return asm_error(as, at, "an operation on integers: write a whole number, or "
				 "0x%llx for the bits of the float",
				 (unsigned long long)number->value);
	return true;
}

/* Find the special constant with this value, or NULL. */
static const struct pumice_isa_special *constant_of(uint32_t value)
{
	for (size_t i = 0; i < pumice_usc_isa.nr_specials; i++) {
		const struct pumice_isa_special *special = &pumice_usc_isa.specials[i];

		if (special->bank == PUMICE_USC_BANK_SC && special->lanes[0] == value)
			return special;
	}
	return NULL;
}

/*
 * Immediates of one instruction are one field. A second one
 * becomes a special constant if there is one of its value.
 */
static bool use_immediate(struct assembler *as, struct insn *insn, const struct token *at,
			  const struct token *number, struct pumice_usc_operand *operand)
{
	const struct pumice_isa_special *constant = constant_of((uint32_t)number->value);

	if (insn->has_imm && insn->imm != (uint32_t)number->value && constant) {
		*operand = (struct pumice_usc_operand){ .bank = constant->bank,
							.num = constant->number };
		return true;
	}
	if (insn->has_imm && insn->imm != (uint32_t)number->value)
		return asm_error(as, at, "an instruction has one immediate only");
	insn->has_imm = true;
	insn->imm = (uint32_t)number->value;
	return true;
}

/* Return whether an operation's data comes from or goes to units outside of the USC. */
static bool is_external(const struct pumice_isa_op_info *op)
{
	return op->layout == PUMICE_USC_LAYOUT_TEX || op->layout == PUMICE_USC_LAYOUT_ITR ||
	       (op->form[PUMICE_USC_FORM_VECTOR].uses >> PUMICE_USC_FIELD_SIG0 & 1);
}

/* Check that a special register can be written, or that it may be stored by DMA. */
static bool check_special(struct assembler *as, const struct pumice_isa_class *cls,
			  const struct token *at, const struct pumice_usc_operand *operand)
{
	bool writable;

	if (operand->bank != PUMICE_USC_BANK_SR || cls->special == PUMICE_ISA_SPECIAL_ANY)
		return true;
	writable = pumice_isa_find_special(&pumice_usc_isa, operand->bank, operand->num)->writable;
	if (writable == (cls->special == PUMICE_ISA_SPECIAL_RW))
		return true;
	if (!writable)
		return asm_error(as, at, "%.*s is read-only: of special registers, sr%u to sr%u can "
				 "be written", (int)at->length, at->text, PUMICE_USC_SR_SR36,
				 PUMICE_USC_SR_SR43);
	return asm_error(as, at, "%.*s may be an internal register, which DMA, textures and iterators "
			 "do not reach: use a temporary or attribute register", (int)at->length,
			 at->text);
}

/* Return whether an operand of a form accepts a register or number. */
static bool class_accepts(const struct pumice_isa_form *form, unsigned int i,
			  const struct pumice_usc_operand *operand)
{
	const struct pumice_isa_class *cls = &pumice_usc_isa.classes[form->operands[i].cls];

	if (!operand->elem && !operand->idx && cls->indexed >> operand->bank & 1)
		return false;
	return (operand->elem ? cls->elem : cls->full) >> operand->bank & 1;
}

static const char *bank_text(unsigned int bank)
{
	return bank == PUMICE_USC_BANK_IMM ? "an immediate" :
	       bank == PUMICE_USC_BANK_M ? "a mask" : "this register";
}

/* Return the operation with the same result if its two sources are swapped, or NULL. */
static const char *swapped_op(const struct pumice_isa_op_info *op)
{
	switch (op->opcode) {
	case PUMICE_USC_OP_ADD:
	case PUMICE_USC_OP_MUL:
	case PUMICE_USC_OP_MIN:
	case PUMICE_USC_OP_MAX:
	case PUMICE_USC_OP_AND:
	case PUMICE_USC_OP_OR:
	case PUMICE_USC_OP_XOR:
	case PUMICE_USC_OP_EQ:
	case PUMICE_USC_OP_NE:
		return op->name;
	case PUMICE_USC_OP_LT:
		return "gt";
	case PUMICE_USC_OP_LE:
		return "ge";
	case PUMICE_USC_OP_GT:
		return "lt";
	case PUMICE_USC_OP_GE:
		return "le";
	default:
		return NULL;
	}
}

/*
 * Describe how to swap a source with the one after it, if that one may be the first; else return
 * an empty text. The current token follows the source. Looks ahead without reporting errors.
 */
static const char *swap_advice(const struct assembler *as, const struct insn *insn, unsigned int i,
			       char *out)
{
	const char *op = swapped_op(insn->op);
	struct assembler look = *as;
	struct pumice_usc_operand last;
	struct token number;

	*out = '\0';
	look.options.report = NULL;
	if (!op || !token_accept(&look, ',') || !operand_parse(&look, &last, &number) ||
	    !class_accepts(insn->form, i, &last))
		return out;
	if (op == insn->op->name)
		snprintf(out, EXPECTED_BYTES, "swap the operands, or ");
	else
		snprintf(out, EXPECTED_BYTES, "write %s and swap the operands, or ", op);
	return out;
}

/*
 * Get the number of a temporary register that has not been named up to the end of the line;
 * PUMICE_USC_MAX_TEMPS: none. The current token follows an operand. The rest of the program is
 * not known yet.
 */
static uint32_t free_temp(const struct assembler *as)
{
	struct assembler look = *as;
	struct pumice_usc_operand operand;
	struct token number;

	look.options.report = NULL;
	while (token_accept(&look, ',') && operand_parse(&look, &operand, &number))
		;
	return look.used_temps;
}

/* Describe how to copy an operand to another register. */
static void copy_advice(const struct assembler *as, const struct pumice_isa_class *cls,
			const struct token *at, char *out)
{
	size_t length = (size_t)(as->token.text - at->text);
	const uint32_t temp = free_temp(as);

	while (length && strchr(" \t,+", at->text[length - 1]))
		length--;
	if (temp >= PUMICE_USC_MAX_TEMPS)
		snprintf(out, EXPECTED_BYTES, "copy it first, with mov, to a register that is free");
	else
		snprintf(out, EXPECTED_BYTES,
			 "copy it first, to a register that is free, such as: mov r%u%s, %.*s",
			 temp, cls->full >> PUMICE_USC_BANK_R & 1 ? ", [one]" : "[0]",
			 (int)length, at->text);
}

/*
 * Report a source that its class does not accept but mov does, with a remedy. The
 * current token follows the source. Return: false if it is another operand.
 */
static bool report_source(struct assembler *as, const struct insn *insn, unsigned int field,
			  const struct token *at, const struct pumice_usc_operand *operand)
{
	const struct pumice_isa_form *form = insn->form;
	const struct pumice_isa_class *cls;
	char swap[EXPECTED_BYTES], copy[EXPECTED_BYTES], text[EXPECTED_BYTES];
	bool last_only = false;
	unsigned int i = 0;

	while (i < form->nr_operands && form->operands[i].field != field)
		i++;
	if (field == PUMICE_USC_FIELD_DST || i == form->nr_operands ||
	    !(pumice_usc_isa.classes[PUMICE_USC_CLASS_DIST].full >> operand->bank & 1))
		return false;
	cls = &pumice_usc_isa.classes[form->operands[i].cls];
	if (!((cls->full | cls->elem) >> PUMICE_USC_BANK_R & 1))
		return false;
	copy_advice(as, cls, at, copy);
	for (unsigned int j = i + 1; j < form->nr_operands; j++)
		last_only |= field == PUMICE_USC_FIELD_SRC0 && class_accepts(form, j, operand);
	if (last_only)
		asm_error(as, at, "%s is not allowed here: only the last source may be an "
			  "immediate or a scalar; %s%s", bank_text(operand->bank),
			  swap_advice(as, insn, i, swap), copy);
	else
		asm_error(as, at, "%s is not allowed here; accepted: %s; %s",
			  bank_text(operand->bank), expected_operand(text, cls), copy);
	return true;
}

/* Report a vector register where a scalar is required. */
static bool needs_scalar(struct assembler *as, const struct insn *insn, const struct token *at)
{
	const char *text = "a scalar is needed here: %.*s[0]";

	/* The scalar unit divides; for the lanes there are sequences. */
	if (insn->op->opcode == PUMICE_USC_OP_DIV || insn->op->opcode == PUMICE_USC_OP_REM)
		text = "a scalar is needed here: %.*s[0]; a division in each lane is a sequence "
		       "with udiv_rcp (integers) or div_fixup (f32)";
	return asm_error(as, at, text, (int)at->length, at->text);
}

/* Report a vertex output where it is not allowed. */
static bool vertex_output(struct assembler *as, unsigned int field, const struct token *at)
{
	const int length = (int)at->length;

	if (field != PUMICE_USC_FIELD_DST)
		return asm_error(as, at, "%.*s is a vertex output, which programs write and do not "
				 "read: use the register with its value", length, at->text);
	return asm_error(as, at, "%.*s is a vertex output, which only uvsw accesses: write uvsw %.*s, "
			 "and a register", length, at->text, length, at->text);
}

/* Check that a class accepts an operand; the error lists the accepted kinds. */
static bool check_class(struct assembler *as, const struct insn *insn, unsigned int field,
			const struct pumice_isa_class *cls, const struct token *at,
			const struct pumice_usc_operand *operand)
{
	const struct pumice_isa_form *vector = &insn->op->form[PUMICE_USC_FORM_VECTOR];
	uint32_t banks = operand->elem ? cls->elem : cls->full;
	char text[EXPECTED_BYTES];

	if (banks >> operand->bank & 1 && !check_special(as, cls, at, operand))
		return false;
	if (banks >> operand->bank & 1 && (operand->idx || !(cls->indexed >> operand->bank & 1)))
		return true;
	if (insn->scalar_bank && at->text != insn->at[0].text)
		return asm_error(as, &insn->at[0], "%.*s is a scalar, and %.*s is not: a vector "
				 "operation writes %s", (int)insn->at[0].length, insn->at[0].text,
				 (int)at->length, at->text,
				 expected_operand(text,
						  &pumice_usc_isa.classes[vector->operands[0].cls]));
	if (operand->bank == PUMICE_USC_BANK_I && !operand->elem && is_external(insn->op))
		return asm_error(as, at, "%.*s is an internal register, which DMA, textures and "
				 "iterators do not reach: use a temporary or attribute register",
				 (int)at->length, at->text);
	if (operand->bank == PUMICE_USC_BANK_VO)
		return vertex_output(as, field, at);
	if (!operand->elem && cls->elem >> operand->bank & 1)
		return needs_scalar(as, insn, at);
	return report_source(as, insn, field, at, operand) ? false :
	       asm_error(as, at, "%s is not allowed here; accepted: %s", bank_text(operand->bank),
			 expected_operand(text, cls));
}

static bool put_register(struct assembler *as, struct insn *insn, unsigned int field,
			 unsigned int cls, const struct token *at,
			 const struct pumice_usc_operand *operand)
{
	uint32_t raw;

	if (!check_class(as, insn, field, &pumice_usc_isa.classes[cls], at, operand))
		return false;
	pumice_usc_operand_pack(&raw, operand);
	return set_field(as, insn, field, at, raw);
}

/* Index registers of one instruction are multiplied with one dimension. */
static bool use_index(struct assembler *as, struct insn *insn,
		      const struct pumice_usc_operand *operand)
{
	if (!operand->idx)
		return true;
	if (!pumice_isa_place(&pumice_usc_isa, insn->op->layout, PUMICE_USC_FIELD_DIM))
		return asm_error(as, &as->index_at, "%s takes no indexed operands",
				 insn->op->name);
	if (insn->has_dim && insn->dim != as->dim)
		return asm_error(as, &as->index_at, "the indexed operands of an instruction have "
				 "one dimension: %s here, %s before", pumice_usc_dim_str(as->dim),
				 pumice_usc_dim_str(insn->dim));
	insn->has_dim = true;
	insn->dim = as->dim;
	return true;
}

static bool register_operand(struct assembler *as, struct insn *insn, unsigned int field,
			     unsigned int cls)
{
	const struct token at = as->token;
	struct pumice_usc_operand operand;
	struct token number;

	if (!operand_parse(as, &operand, &number))
		return false;
	if (operand.bank == PUMICE_USC_BANK_IMM && pumice_usc_isa.classes[cls].full >>
	    PUMICE_USC_BANK_IMM & 1 &&
	    (!check_immediate(as, insn, field, &at, &number) ||
	     !use_immediate(as, insn, &at, &number, &operand)))
		return false;
	if (!use_index(as, insn, &operand))
		return false;
	return put_register(as, insn, field, cls, &at, &operand);
}

/* Consume the token if it is this word, which may begin with a digit. */
static bool accept_word(struct assembler *as, const char *word)
{
	const char *end = as->token.text + strlen(word);

	if (as->token.kind == TOKEN_END || strncmp(as->token.text, word, strlen(word)) ||
	    isalnum((unsigned char)*end) || *end == '_')
		return false;
	as->at = end;
	token_next(as);
	return true;
}

/* Parse a name of an enumeration, such as a reduction operator. */
static bool enum_operand(struct assembler *as, struct insn *insn, unsigned int field,
			 const struct pumice_isa_class *cls)
{
	const struct token at = as->token;
	char text[EXPECTED_BYTES];

	for (uint32_t v = 0; v < 256; v++) {
		if (cls->valid(v) && accept_word(as, cls->text(v)))
			return set_field(as, insn, field, &at, v);
	}
	return asm_error_form(as, "expected one of %s", expected_word(text, cls));
}

/* Parse a signal, whose field has this value for sig0. */
static bool signal_operand(struct assembler *as, struct insn *insn, unsigned int field,
			   uint32_t base)
{
	const struct token at = as->token;

	for (uint32_t s = 0; s < PUMICE_USC_SIGNALS; s++) {
		char name[8] = "sig";

		name[3] = (char)(s < 10 ? '0' + s : '1');
		name[4] = (char)(s < 10 ? '\0' : '0' + s - 10);
		if (!token_is(&at, name))
			continue;
		token_next(as);
		return set_field(as, insn, field, &at, base + s);
	}
	return asm_error_form(as, "expected a signal, sig0 to sig15");
}

static bool target_operand(struct assembler *as, struct insn *insn, unsigned int field)
{
	const struct token at = as->token;

	if (at.kind == TOKEN_INT) {
		insn->target = at;
		return token_count(as, "a branch target", PUMICE_USC_MAX_INSNS - 1,
				   &insn->target.value) &&
		       set_field(as, insn, field, &at, insn->target.value);
	}
	if (at.kind != TOKEN_NAME)
		return asm_error_form(as, "expected a label");
	insn->target = at;
	token_next(as);
	return true;
}

/* Find the operand of a form by class; -1 if there is none. */
static int field_of_class(const struct pumice_isa_form *form, unsigned int cls)
{
	for (unsigned int i = 0; i < form->nr_operands; i++)
		if (form->operands[i].cls == cls)
			return form->operands[i].field;
	return -1;
}

static bool put_disp(struct assembler *as, struct insn *insn)
{
	const struct token at = as->token;
	uint64_t disp;

	return token_count(as, "a displacement", 4095, &disp) &&
	       set_field(as, insn, PUMICE_USC_FIELD_DISP, &at, disp);
}

/* Return whether the next token is a number, not a register. */
static bool number_comes(struct assembler *as)
{
	const struct symbol *symbol = as->token.kind == TOKEN_NAME ?
				      symbol_find(as, &as->token) : NULL;

	return as->token.kind == TOKEN_INT || (symbol && symbol->kind == SYMBOL_EQU) ||
	       (as->token.kind == TOKEN_PUNCT && strchr("-~(", (int)as->token.value));
}

/* Return whether a class of operands accepts a register that has no index. */
static bool in_class(unsigned int cls, const struct pumice_usc_operand *operand)
{
	const struct pumice_isa_class *info = &pumice_usc_isa.classes[cls];

	return (operand->elem ? info->elem : info->full) >> operand->bank & 1;
}

/*
 * Report an address that has a base, from at to base_end, but no offset register; disp: its
 * displacement, or NULL text. The current token follows the address.
 */
static bool no_offset(struct assembler *as, const struct token *at, const struct token *base_end,
		      const struct token *disp)
{
	const uint32_t named = free_temp(as), temp = named < PUMICE_USC_MAX_TEMPS ? named : 0;
	const char *end = as->token.text;
	size_t base = (size_t)(base_end->text - at->text), length;

	while (base && strchr(" \t", at->text[base - 1]))
		base--;
	while (end > at->text && strchr(" \t", end[-1]))
		end--;
	length = disp->text ? (size_t)(end - disp->text) : 0;
	return asm_error(as, at, "an address is a base and an offset register: write "
			 "%.*s + r%u%s%.*s, where r%u is 0", (int)base, at->text, temp, length ? " + " : "",
			 (int)length, length ? disp->text : "", temp);
}

/*
 * Parse an address: [base +] offset [+ displacement], or, without an offset,
 * [base +] displacement. Without a base it is relative to address 0.
 */
static bool address_operand(struct assembler *as, struct insn *insn)
{
	bool has_offset = field_of_class(insn->form, PUMICE_USC_CLASS_ADDR) >= 0;
	unsigned int wanted[2], count = 0, found = 0;
	struct pumice_usc_operand reg[2];
	struct token at[2], base_end = { 0 }, disp = { 0 };

	if (field_of_class(insn->form, PUMICE_USC_CLASS_BASE) >= 0)
		wanted[count++] = PUMICE_USC_CLASS_BASE;
	if (has_offset)
		wanted[count++] = PUMICE_USC_CLASS_ADDR;
	do {
		if (number_comes(as) && (found || !has_offset)) {
			disp = as->token;
			if (!put_disp(as, insn))
				return false;
			break;
		}
		if (found == count)
			return asm_error(as, NULL, "expected a displacement, a number from 0 to 4095");
		at[found] = as->token;
		as->accepts = count == 2 ? "an address such as sh0 + r2 + 16" : NULL;
		if (!operand_register(as, &reg[found]) || !use_index(as, insn, &reg[found]))
			return false;
		as->accepts = NULL;
		if (!found++)
			base_end = as->token;
	} while (token_accept(as, '+'));
	if (count == 2 && in_class(PUMICE_USC_CLASS_BASE, &reg[0]) &&
	    (found == 1 ? !in_class(PUMICE_USC_CLASS_ADDR, &reg[0]) : token_is(&at[1], "zero")))
		return no_offset(as, &at[0], &base_end, &disp);
	/* Omitted parts are the leading ones. */
	for (unsigned int i = 0; i < found; i++) {
		unsigned int cls = wanted[count - found + i];

		if (!put_register(as, insn, (unsigned int)field_of_class(insn->form, cls), cls,
				  &at[i], &reg[i]))
			return false;
	}
	return true;
}

static bool words_operand(struct assembler *as, struct insn *insn, unsigned int field,
			  unsigned int cls)
{
	const struct token at = as->token;
	const char *what;
	uint32_t max = rule_words(cls, &what);
	uint64_t words;

	if (!token_count(as, "a number of words", UINT32_MAX, &words))
		return false;
	if (!words || words > max)
		return asm_error(as, &at, "%s has 1 to %u words", what, max);
	return set_field(as, insn, field, &at, words);
}

/* Parse a plain number of a field. */
static bool number_operand(struct assembler *as, struct insn *insn, unsigned int field,
			   const char *what, uint64_t max)
{
	const struct token at = as->token;
	uint64_t value;

	return token_count(as, what, max, &value) && set_field(as, insn, field, &at, value);
}

static bool operand(struct assembler *as, struct insn *insn,
		    const struct pumice_isa_operand *operand)
{
	const struct pumice_isa_class *cls = &pumice_usc_isa.classes[operand->cls];
	const struct token at = as->token;
	uint32_t mask;

	as->cls = cls;
	switch (operand->cls) {
	case PUMICE_USC_CLASS_MASK:
		return operand_mask(as, &mask) && set_field(as, insn, operand->field, &at, mask);
	case PUMICE_USC_CLASS_SIG:
		return signal_operand(as, insn, operand->field, 0);
	case PUMICE_USC_CLASS_ASYNC:
		return signal_operand(as, insn, operand->field, PUMICE_USC_ASYNC_SIG0);
	case PUMICE_USC_CLASS_TARGET:
		return target_operand(as, insn, operand->field);
	case PUMICE_USC_CLASS_BASE:
	case PUMICE_USC_CLASS_ADDR:
		return address_operand(as, insn);
	case PUMICE_USC_CLASS_WORDS:
	case PUMICE_USC_CLASS_COPYWORDS:
	case PUMICE_USC_CLASS_DCWORDS:
	case PUMICE_USC_CLASS_RANGEWORDS:
		return words_operand(as, insn, operand->field, operand->cls);
	case PUMICE_USC_CLASS_COMPS:
		return number_operand(as, insn, operand->field, "a number of components", 4);
	case PUMICE_USC_CLASS_COMPONENT:
		return number_operand(as, insn, operand->field, "a component", 3);
	default:
		if (cls->valid)
			return enum_operand(as, insn, operand->field, cls);
		return register_operand(as, insn, operand->field, operand->cls);
	}
}

/* Return whether a form accepts the operands after the first one, without a mask. */
static bool form_accepts_rest(struct assembler *look, const struct pumice_isa_form *form)
{
	struct pumice_usc_operand operand;
	struct token immediate;

	for (unsigned int i = 1; i < form->nr_operands; i++) {
		if (!token_accept(look, ',') || !operand_parse(look, &operand, &immediate) ||
		    operand.bank == PUMICE_USC_BANK_M || !class_accepts(form, i, &operand))
			return false;
	}
	return true;
}

/*
 * Select the form of an operation that has both: scalar if only that one accepts
 * the destination, the first operand, or if both do and it accepts the others, too.
 * Looks ahead without reporting errors.
 */
static const struct pumice_isa_form *choose_form(struct assembler *as, struct insn *insn)
{
	const struct pumice_isa_form *vector = &insn->op->form[PUMICE_USC_FORM_VECTOR];
	const struct pumice_isa_form *scalar = &insn->op->form[PUMICE_USC_FORM_SCALAR];
	struct assembler look = *as;
	struct pumice_usc_operand operand;

	if (!vector->exists || !scalar->exists)
		return vector->exists ? vector : scalar;
	look.options.report = NULL;
	if (!operand_register(&look, &operand) || !class_accepts(scalar, 0, &operand))
		return vector;
	if (class_accepts(vector, 0, &operand))
		return form_accepts_rest(&look, scalar) ? scalar : vector;
	insn->scalar_bank = !operand.elem;
	return scalar;
}

/* Return whether an operand is written together with the one before it. */
static bool is_joined(const struct pumice_isa_form *form, unsigned int i)
{
	unsigned int cls = form->operands[i].cls;

	return cls == PUMICE_USC_CLASS_DISP ||
	       (cls == PUMICE_USC_CLASS_ADDR && i &&
		form->operands[i - 1].cls == PUMICE_USC_CLASS_BASE);
}

static bool is_optional(const struct assembler *as, unsigned int i)
{
	unsigned int cls = as->form->operands[i].cls;

	return cls == PUMICE_USC_CLASS_WPLANE || cls == PUMICE_USC_CLASS_TEXEXTRA ||
	       cls == PUMICE_USC_CLASS_ASYNC ||
	       (cls == PUMICE_USC_CLASS_MASK && as->op->opcode == PUMICE_USC_OP_MOV);
}

const char *insn_form_text(const struct assembler *as, char *out, size_t bytes)
{
	unsigned int max = 0, optional = 0;
	char count[16];

	*out = '\0';
	if (!as->op)
		return out;
	for (unsigned int i = 0; i < as->form->nr_operands; i++) {
		max += !is_joined(as->form, i);
		optional += is_optional(as, i);
	}
	snprintf(count, sizeof(count), optional > 1 ? "%u to %u" : optional ? "%u or %u" : "%u",
		 max - optional, max);
	if (max)
		snprintf(out, bytes, "; %s takes %s operand%s, such as %s", as->op->name, count,
			 max == 1 ? "" : "s", as->op->example);
	else
		snprintf(out, bytes, "; %s takes no operands", as->op->name);
	return out;
}

/* Return whether a token is meant as a signal, one that exists or not. */
static bool names_signal(const struct token *token)
{
	return token->kind == TOKEN_NAME && token->length > 3 && !strncmp(token->text, "sig", 3) &&
	       isdigit((unsigned char)token->text[3]);
}

/*
 * Return whether an optional operand is omitted: the line ends, or the next tokens,
 * after a comma, are the next operand. Looks ahead without reporting errors.
 */
static bool is_left_out(const struct assembler *as, const struct pumice_isa_form *form,
			unsigned int i)
{
	struct assembler look = *as;
	struct pumice_usc_operand operand;

	if (form->operands[i].cls == PUMICE_USC_CLASS_WPLANE)
		return as->token.kind == TOKEN_END;
	if (form->operands[i].cls == PUMICE_USC_CLASS_ASYNC)
		return !names_signal(&as->token);
	look.options.report = NULL;
	return form->operands[i].cls == PUMICE_USC_CLASS_TEXEXTRA && i + 1u < form->nr_operands &&
	       token_accept(&look, ',') && operand_register(&look, &operand) &&
	       class_accepts(form, i + 1, &operand) && !class_accepts(form, i, &operand);
}

/* mov without a mask writes all lanes. */
static bool has_no_mask(const struct assembler *as, const struct insn *insn, unsigned int i)
{
	return insn->op->opcode == PUMICE_USC_OP_MOV &&
	       insn->form->operands[i].cls == PUMICE_USC_CLASS_MASK &&
	       !(as->token.kind == TOKEN_PUNCT && as->token.value == '[');
}

static bool operands(struct assembler *as, struct insn *insn)
{
	const struct pumice_usc_mask always = { .a = PUMICE_USC_K_ONE, .b = PUMICE_USC_K_ONE };
	bool first = true;
	uint32_t raw;

	for (unsigned int i = 0; i < insn->form->nr_operands; i++) {
		if (is_joined(insn->form, i)) {
			insn->at[i] = insn->at[i - 1];
			continue;
		}
		insn->at[i] = as->token;
		if (is_left_out(as, insn->form, i))
			continue;
		if (!first && !token_expect(as, ','))
			return false;
		first = false;
		if (has_no_mask(as, insn, i)) {
			pumice_usc_mask_pack(&raw, &always);
			set_field(as, insn, PUMICE_USC_FIELD_MASK, &as->token, raw);
			i++;
		}
		insn->at[i] = as->token;
		if (!operand(as, insn, &insn->form->operands[i]))
			return false;
	}
	return true;
}

/* Get the register of an operand; false if it is none. */
static bool operand_at(const struct insn *insn, unsigned int i, struct pumice_usc_operand *reg)
{
	const struct pumice_isa_operand *place = &insn->form->operands[i];
	const struct pumice_isa_class *cls = &pumice_usc_isa.classes[place->cls];
	uint32_t raw;

	if (!cls->full && !cls->elem)
		return false;
	raw = (uint32_t)pumice_isa_get(&pumice_usc_isa, insn->op->layout, place->field,
				       insn->words);
	pumice_usc_operand_unpack(&raw, reg);
	return true;
}

/* Count the registers that an operand uses after the named one. */
static void use_ranges(struct assembler *as, const struct insn *insn)
{
	struct pumice_usc_insn unpacked;

	pumice_usc_unpack(insn->words, &unpacked);
	for (unsigned int i = 0; i < insn->form->nr_operands; i++) {
		struct pumice_usc_operand reg;

		if (operand_at(insn, i, &reg))
			operand_use(as, &reg,
				    pumice_usc_registers(&unpacked, &insn->form->operands[i]));
	}
}

static void note_copy(struct assembler *as, const struct token *name,
		      const struct pumice_usc_insn *insn)
{
	uint32_t bytes = rule_copy_bytes(insn);

	if (bytes > as->local_copy_bytes) {
		as->local_copy = *name;
		as->local_copy_where = as->where;
		as->local_copy_bytes = bytes;
	}
	if (as->copy_where.text || !pumice_usc_is_group_copy(insn->opcode))
		return;
	as->copy = *name;
	as->copy_where = as->where;
}

/* Get the operand because of which an instruction is not for all stages, or its operation. */
static const struct token *staged(const struct token *name, const struct insn *insn)
{
	for (unsigned int i = 0; i < insn->form->nr_operands; i++) {
		struct pumice_usc_operand reg;

		if (operand_at(insn, i, &reg) && reg.bank == PUMICE_USC_BANK_O)
			return &insn->at[i];
	}
	return name;
}

/* Check rules that the table of operands does not contain. */
static bool check_encoding(struct assembler *as, const struct token *name, struct insn *insn)
{
	enum pumice_isa_unpack result = pumice_isa_check(&pumice_usc_isa, insn->words);
	struct pumice_usc_insn unpacked;
	struct rule_break broken;

	if (result != PUMICE_ISA_UNPACK_OK)
		return asm_error(as, name, "%s", pumice_isa_unpack_text(result));
	if (!rule_check(insn->words, &broken))
		return asm_error(as, &insn->at[broken.operand], "%s", broken.text);
	pumice_usc_unpack(insn->words, &unpacked);
	if (!operand_stages(as, staged(name, insn), rule_stages(&unpacked)))
		return false;
	use_ranges(as, insn);
	note_copy(as, name, &unpacked);
	return true;
}

bool insn_line(struct assembler *as)
{
	const struct token name = as->token;
	struct insn insn = { .type = PUMICE_USC_TYPE_U32, .target = { .kind = TOKEN_END } };
	uint32_t *words;

	if (!find_op(as, &insn))
		return false;
	token_next(as);
	insn.form = choose_form(as, &insn);
	as->op = insn.op;
	as->form = insn.form;
	if (!operands(as, &insn))
		return false;
	set_field(as, &insn, PUMICE_USC_FIELD_OPCODE, &name, insn.op->opcode);
	if (insn.op->types > 1)
		set_field(as, &insn, PUMICE_USC_FIELD_TYPE, &name, insn.type);
	if (insn.form == &insn.op->form[PUMICE_USC_FORM_SCALAR])
		set_field(as, &insn, PUMICE_USC_FIELD_FORM, &name, PUMICE_USC_FORM_SCALAR);
	if (insn.has_imm && !set_field(as, &insn, PUMICE_USC_FIELD_IMM, &name, insn.imm))
		return false;
	if (insn.has_dim && !set_field(as, &insn, PUMICE_USC_FIELD_DIM, &name, insn.dim))
		return false;
	if (!check_encoding(as, &name, &insn))
		return false;
	if (insn.target.kind != TOKEN_END && !code_fixup(as, as->usc.insns, &insn.target))
		return false;
	words = code_add(as, &as->usc);
	if (!words)
		return false;
	memcpy(words, insn.words, sizeof(insn.words));
	return true;
}
