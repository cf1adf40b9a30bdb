// SPDX-License-Identifier: MIT
/*
 * USC instructions: a mnemonic with its type, and operands as the table of the
 * instruction set lists them.
 */
#include <string.h>

#include "internal.h"
#include "pumice_decode.h"
#include "pumice_names.h"

/* The instruction in hand. */
struct insn {
	const struct pumice_isa_op_info *op;
	const struct pumice_isa_form *form;
	uint32_t type;
	uint32_t words[ASM_WORDS];
	bool has_imm;
	uint32_t imm;
	struct token target;	/* label of a branch, or kind END */
};

static bool set_field(struct assembler *as, struct insn *insn, unsigned int field,
		      const struct token *at, uint64_t value)
{
	if (pumice_isa_set(&pumice_usc_isa, insn->op->layout, field, insn->words, value))
		return true;
	return asm_error(as, at, "the value does not fit here");
}

/* Split "add.f32" and look both up. */
static bool find_op(struct assembler *as, struct insn *insn)
{
	const struct token *token = &as->token;
	const char *dot = memchr(token->text, '.', token->length);
	size_t length = dot ? (size_t)(dot - token->text) : token->length;
	size_t type_length = dot ? token->length - length - 1 : 0;
	char name[32];

	if (length >= sizeof(name))
		return asm_error(as, NULL, "no such operation");
	memcpy(name, token->text, length);
	name[length] = '\0';
	insn->op = pumice_isa_find_name(&pumice_usc_isa, name);
	if (!insn->op)
		return asm_error(as, NULL, "no such operation");
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
	return asm_error(as, NULL, "%s does not exist for this type", name);
}

/* Immediates of one instruction are one field. */
static bool use_immediate(struct assembler *as, struct insn *insn, const struct token *at,
			  const struct token *number)
{
	if (insn->type == PUMICE_USC_TYPE_F32 && number->kind == TOKEN_INT && number->decimal &&
	    number->value)
		return asm_error(as, at, "an f32 operation: write %lld.0 for the number or "
				 "0x%llx for the bits", (long long)(int32_t)number->value,
				 (unsigned long long)number->value);
	if (insn->has_imm && insn->imm != (uint32_t)number->value)
		return asm_error(as, at, "an instruction has one immediate only");
	insn->has_imm = true;
	insn->imm = (uint32_t)number->value;
	return true;
}

/* Whether a class takes an operand; the error says what it takes. */
static bool check_class(struct assembler *as, const struct pumice_isa_class *cls,
			const struct token *at, const struct pumice_usc_operand *operand)
{
	uint32_t banks = operand->elem ? cls->elem : cls->full;

	if (banks >> operand->bank & 1)
		return true;
	if (!operand->elem && cls->elem >> operand->bank & 1)
		return asm_error(as, at, "a scalar is needed here: %.*s[0]", (int)at->length,
				 at->text);
	return asm_error(as, at, "%s is not allowed here, which takes: %s",
			 operand->bank == PUMICE_USC_BANK_IMM ? "an immediate" :
			 operand->bank == PUMICE_USC_BANK_M ? "a mask" : "this register", cls->doc);
}

static bool put_register(struct assembler *as, struct insn *insn, unsigned int field,
			 unsigned int cls, const struct token *at,
			 const struct pumice_usc_operand *operand)
{
	uint32_t raw;

	if (!check_class(as, &pumice_usc_isa.classes[cls], at, operand))
		return false;
	pumice_usc_operand_pack(&raw, operand);
	return set_field(as, insn, field, at, raw);
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
	    PUMICE_USC_BANK_IMM & 1 && !use_immediate(as, insn, &at, &number))
		return false;
	return put_register(as, insn, field, cls, &at, &operand);
}

/* A name out of an enumeration, such as a reduction operator. */
static bool enum_operand(struct assembler *as, struct insn *insn, unsigned int field,
			 const struct pumice_isa_class *cls)
{
	const struct token at = as->token;

	for (uint32_t v = 0; v < 256; v++) {
		if (!cls->valid(v) || !token_is(&as->token, cls->text(v)))
			continue;
		token_next(as);
		return set_field(as, insn, field, &at, v);
	}
	return asm_error(as, NULL, "expected: %s", cls->doc);
}

static bool signal_operand(struct assembler *as, struct insn *insn, unsigned int field)
{
	const struct token at = as->token;

	for (uint32_t s = 0; s < PUMICE_USC_SIGNALS; s++) {
		char name[8] = "sig";

		name[3] = (char)(s < 10 ? '0' + s : '1');
		name[4] = (char)(s < 10 ? '\0' : '0' + s - 10);
		if (!token_is(&at, name))
			continue;
		token_next(as);
		return set_field(as, insn, field, &at, s);
	}
	return asm_error(as, NULL, "expected a signal, sig0 to sig15");
}

static bool target_operand(struct assembler *as, struct insn *insn, unsigned int field)
{
	const struct token at = as->token;
	uint64_t value;

	if (at.kind == TOKEN_INT)
		return token_count(as, "a branch target", PUMICE_USC_MAX_INSNS - 1, &value) &&
		       set_field(as, insn, field, &at, value);
	if (at.kind != TOKEN_NAME)
		return asm_error(as, NULL, "expected a label");
	insn->target = at;
	token_next(as);
	return true;
}

/* Operands of a form by class; -1 where it has none of it. */
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

/* An address: [base +] offset [+ displacement]. */
static bool address_operand(struct assembler *as, struct insn *insn)
{
	int base_field = field_of_class(insn->form, PUMICE_USC_CLASS_BASE);
	int addr_field = field_of_class(insn->form, PUMICE_USC_CLASS_ADDR);
	struct token at[2];
	struct pumice_usc_operand reg[2];
	unsigned int regs = 0;

	do {
		const struct symbol *symbol = as->token.kind == TOKEN_NAME ?
					      symbol_find(as, &as->token) : NULL;

		if (regs && (as->token.kind == TOKEN_INT ||
			     (symbol && symbol->kind == SYMBOL_EQU))) {
			if (!put_disp(as, insn))
				return false;
			break;
		}
		if (regs == (base_field < 0 ? 1 : 2))
			return asm_error(as, NULL, "expected a displacement");
		at[regs] = as->token;
		if (!operand_register(as, &reg[regs]))
			return false;
		regs++;
	} while (token_accept(as, '+'));
	if (regs == 2) {
		operand_use(as, &reg[0], 2);
		if (!put_register(as, insn, (unsigned int)base_field, PUMICE_USC_CLASS_BASE,
				  &at[0], &reg[0]))
			return false;
	}
	return put_register(as, insn, (unsigned int)addr_field, PUMICE_USC_CLASS_ADDR,
			    &at[regs - 1], &reg[regs - 1]);
}

static bool operand(struct assembler *as, struct insn *insn,
		    const struct pumice_isa_operand *operand)
{
	const struct pumice_isa_class *cls = &pumice_usc_isa.classes[operand->cls];
	const struct token at = as->token;
	uint32_t mask;

	switch (operand->cls) {
	case PUMICE_USC_CLASS_MASK:
		return operand_mask(as, &mask) && set_field(as, insn, operand->field, &at, mask);
	case PUMICE_USC_CLASS_SIG:
		return signal_operand(as, insn, operand->field);
	case PUMICE_USC_CLASS_TARGET:
		return target_operand(as, insn, operand->field);
	case PUMICE_USC_CLASS_BASE:
	case PUMICE_USC_CLASS_ADDR:
		return address_operand(as, insn);
	default:
		if (cls->valid)
			return enum_operand(as, insn, operand->field, cls);
		return register_operand(as, insn, operand->field, operand->cls);
	}
}

/*
 * The form of an operation that has both: scalar when the destination, which
 * stands first, is one. Looks ahead without reporting anything.
 */
static const struct pumice_isa_form *choose_form(struct assembler *as, struct insn *insn)
{
	const struct pumice_isa_form *vector = &insn->op->form[PUMICE_USC_FORM_VECTOR];
	const struct pumice_isa_form *scalar = &insn->op->form[PUMICE_USC_FORM_SCALAR];
	struct assembler look = *as;
	struct pumice_usc_operand operand;

	if (!vector->exists || !scalar->exists)
		return vector->exists ? vector : scalar;
	look.report = NULL;
	if (operand_register(&look, &operand) &&
	    (operand.elem || operand.bank == PUMICE_USC_BANK_SH))
		return scalar;
	return vector;
}

/* Whether an operand is written together with the one before it. */
static bool is_joined(const struct pumice_isa_form *form, unsigned int i)
{
	unsigned int cls = form->operands[i].cls;

	return cls == PUMICE_USC_CLASS_DISP ||
	       (cls == PUMICE_USC_CLASS_ADDR && i &&
		form->operands[i - 1].cls == PUMICE_USC_CLASS_BASE);
}

static bool operands(struct assembler *as, struct insn *insn)
{
	for (unsigned int i = 0; i < insn->form->nr_operands; i++) {
		if (is_joined(insn->form, i))
			continue;
		if (i && !token_expect(as, ','))
			return false;
		if (!operand(as, insn, &insn->form->operands[i]))
			return false;
	}
	return true;
}

/* What the table of operands does not say. */
static bool check_encoding(struct assembler *as, const struct token *name, struct insn *insn)
{
	uint64_t func = pumice_isa_get(&pumice_usc_isa, insn->op->layout, PUMICE_USC_FIELD_FUNC,
				       insn->words);
	enum pumice_isa_unpack result;

	if (func >= PUMICE_USC_REDUCE_AND && insn->type != PUMICE_USC_TYPE_U32)
		return asm_error(as, name, "bitwise reductions are for u32 only");
	result = pumice_isa_check(&pumice_usc_isa, insn->words);
	if (result == PUMICE_ISA_UNPACK_OK)
		return true;
	return asm_error(as, name, "%s", pumice_isa_unpack_text(result));
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
	if (!operands(as, &insn))
		return false;
	set_field(as, &insn, PUMICE_USC_FIELD_OPCODE, &name, insn.op->opcode);
	if (insn.op->types > 1)
		set_field(as, &insn, PUMICE_USC_FIELD_TYPE, &name, insn.type);
	if (insn.form == &insn.op->form[PUMICE_USC_FORM_SCALAR])
		set_field(as, &insn, PUMICE_USC_FIELD_FORM, &name, PUMICE_USC_FORM_SCALAR);
	if (insn.has_imm && !set_field(as, &insn, PUMICE_USC_FIELD_IMM, &name, insn.imm))
		return false;
	if (!check_encoding(as, &name, &insn))
		return false;
	if (insn.target.kind == TOKEN_NAME && !code_fixup(as, as->usc.insns, &insn.target))
		return false;
	words = code_add(as, &as->usc);
	if (!words)
		return false;
	memcpy(words, insn.words, sizeof(insn.words));
	return true;
}
