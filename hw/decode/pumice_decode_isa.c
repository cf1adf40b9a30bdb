// SPDX-License-Identifier: MIT
/*
 * Instructions as assembly text.
 *
 * Source: the generated tables of hw/isa.xml; its operand classes define the syntax of an operand
 * (prefix, separators, optional).
 *
 * Limits: branch targets are instruction numbers, not labels. Text is for people.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pumice_decode.h"
#include "pumice_formats.h"
#include "pumice_names.h"

/* Text in a buffer; text that exceeds the buffer is truncated. */
struct text {
	char *out;
	size_t size;
	size_t used;
};

__attribute__((format(printf, 2, 3)))
static void put(struct text *text, const char *format, ...)
{
	size_t room = text->size - text->used;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text->out + text->used, room, format, args);
	va_end(args);
	if (length > 0)
		text->used += (size_t)length < room ? (size_t)length : room - 1;
}

const char *pumice_isa_unpack_text(enum pumice_isa_unpack result)
{
	switch (result) {
	case PUMICE_ISA_UNPACK_OK:
		return "ok";
	case PUMICE_ISA_UNPACK_OPCODE:
		return "unknown opcode";
	case PUMICE_ISA_UNPACK_RESERVED:
		return "reserved bits are set";
	case PUMICE_ISA_UNPACK_TYPE:
		return "the operation does not exist for this type";
	case PUMICE_ISA_UNPACK_FORM:
		return "the operation does not exist in this form";
	case PUMICE_ISA_UNPACK_FIELD:
		return "an unused field is not zero";
	case PUMICE_ISA_UNPACK_BANK:
		return "an operand names a bank that no operand can have";
	case PUMICE_ISA_UNPACK_OPERAND:
		return "an operand that is not allowed in this position";
	}
	return "unknown";
}

/* Print a register of a bank, a special register by its name. */
static void put_register(struct text *text, const struct pumice_isa_info *isa, u32 bank, u32 num)
{
	const struct pumice_isa_special *special = pumice_isa_find_special(isa, bank, num);
	const char *name = pumice_usc_bank_str(bank);

	if (special)
		put(text, "%s", special->name);
	else
		put(text, "%s%u", name, num);
}

static void put_mask_register(struct text *text, const struct pumice_isa_info *isa, u32 num,
			      bool inverted)
{
	if (inverted)
		put(text, "!");
	if (num < PUMICE_USC_MASK_CONSTS)
		put_register(text, isa, PUMICE_USC_BANK_K, num);
	else
		put_register(text, isa, PUMICE_USC_BANK_R, num - PUMICE_USC_MASK_CONSTS);
}

/* Print [a & b]; a second mask that is always true is omitted. */
static void put_mask(struct text *text, const struct pumice_isa_info *isa, u32 raw)
{
	struct pumice_usc_mask mask;

	pumice_usc_mask_unpack(&raw, &mask);
	put(text, "[");
	put_mask_register(text, isa, mask.a, mask.a_not);
	if (mask.b != PUMICE_USC_K_ONE || mask.b_not) {
		put(text, " & ");
		put_mask_register(text, isa, mask.b, mask.b_not);
	}
	put(text, "]");
}

/* Print the immediate, as a float if the operation uses floats and the text is exact. */
static void put_immediate(struct text *text, u32 imm, u32 type)
{
	float value;
	char number[32];

	memcpy(&value, &imm, sizeof(value));
	if (type == PUMICE_USC_TYPE_I32 && imm >> 31)
		put(text, "%" PRId32, (s32)imm);
	else if (type != PUMICE_USC_TYPE_F32 || value != value || value - value != 0)
		put(text, imm < 0x10000 ? "%" PRIu32 : "0x%08" PRIx32, imm);
	else {
		snprintf(number, sizeof(number), "%.9g", (double)value);
		put(text, "%s%s", number, strpbrk(number, ".e") ? "" : ".0");
	}
}

u32 pumice_usc_operand_type(const struct pumice_isa_op_info *op, u32 field, u32 type)
{
	switch (op->opcode) {
	case PUMICE_USC_OP_CVT_INT:
		return PUMICE_USC_TYPE_F32;
	case PUMICE_USC_OP_LDEXP:
		return field == PUMICE_USC_FIELD_SRC1 ? PUMICE_USC_TYPE_I32 : type;
	default:
		return type;
	}
}

static void put_operand(struct text *text, const struct pumice_isa_info *isa,
			const struct pumice_isa_op_info *op, u32 field, const u32 *dw, u32 raw)
{
	struct pumice_usc_operand opnd;

	pumice_usc_operand_unpack(&raw, &opnd);
	switch (opnd.bank) {
	case PUMICE_USC_BANK_NONE:
		put(text, "none");
		return;
	case PUMICE_USC_BANK_IMM:
		put_immediate(text, (u32)pumice_isa_get(isa, op->layout, isa->field_imm, dw),
			      pumice_usc_operand_type(op, field,
						      (u32)pumice_isa_get(isa, op->layout,
									  isa->field_type,
									  dw)));
		return;
	case PUMICE_USC_BANK_M:
		put_mask(text, isa, opnd.num);
		return;
	default:
		break;
	}
	if (opnd.idx)
		put(text, "%s[idx%u * %s + %u]", pumice_usc_bank_str(opnd.bank), opnd.idx - 1u,
		    pumice_usc_dim_str((u32)pumice_isa_get(isa, op->layout, isa->field_dim, dw)),
		    opnd.num);
	else
		put_register(text, isa, opnd.bank, opnd.num);
	if (opnd.elem)
		put(text, "[0]");
}

/* Print one operand's value according to its class. */
static void put_value(struct text *text, const struct pumice_isa_info *isa,
		      const struct pumice_isa_op_info *op, const struct pumice_isa_class *cls,
		      u32 field, const u32 *dw, u64 raw)
{
	put(text, "%s", cls->prefix);
	if (cls->full || cls->elem)
		put_operand(text, isa, op, field, dw, (u32)raw);
	else if (isa->banks && strcmp(cls->name, "mask") == 0)
		put_mask(text, isa, (u32)raw);
	else if (cls->text)
		put(text, "%s", cls->text((u32)raw));
	else
		put(text, cls->hex ? "0x%" PRIx64 : "%" PRIu64, raw);
}

/*
 * Return the separator between an operand and the previous one. After the omitted head of a group,
 * such as the base of an address, the next operand becomes the head.
 */
static const char *separator(const struct pumice_isa_class *cls,
			     const struct pumice_isa_class *before, bool heads)
{
	if (heads)
		return ", ";
	if (cls->join)
		return cls->join;
	return before && before->next ? before->next : ", ";
}

static void put_operands(struct text *text, const struct pumice_isa_info *isa,
			 const struct pumice_isa_op_info *op, const struct pumice_isa_form *form,
			 const u32 *dw)
{
	const struct pumice_isa_class *before = NULL;
	bool first = true, heads = false;

	for (u32 i = 0; i < form->nr_operands; i++) {
		const struct pumice_isa_class *cls = &isa->classes[form->operands[i].cls];
		u32 field = form->operands[i].field;
		u64 raw = pumice_isa_get(isa, op->layout, field, dw);

		if (cls->optional && !raw && !heads) {
			before = NULL;
			heads = cls->next != NULL;
			continue;
		}
		put(text, "%s", first ? " " : separator(cls, before, heads));
		put_value(text, isa, op, cls, field, dw, raw);
		before = cls;
		first = false;
		heads = false;
	}
}

enum pumice_isa_unpack pumice_isa_text(const struct pumice_isa_info *isa, const u32 *dw,
				       char *out)
{
	struct text text = { out, PUMICE_DECODE_LINE, 0 };
	enum pumice_isa_unpack result = pumice_isa_check(isa, dw);
	const struct pumice_isa_op_info *op;

	out[0] = '\0';
	if (result != PUMICE_ISA_UNPACK_OK) {
		put(&text, ".word");
		for (u32 i = 0; i < isa->words; i++)
			put(&text, "%s0x%08" PRIx32, i ? ", " : " ", dw[i]);
		put(&text, " ; %s", pumice_isa_unpack_text(result));
		return result;
	}
	op = pumice_isa_find_opcode(isa, (u32)pumice_bits(dw, isa->opcode_bit,
							  isa->opcode_width));
	put(&text, "%s", op->name);
	if (op->types > 1)
		put(&text, ".%s",
		    isa->type_text((u32)pumice_isa_get(isa, op->layout, isa->field_type, dw)));
	put_operands(&text, isa, op, pumice_isa_form_of(isa, op, dw), dw);
	return result;
}

size_t pumice_decode_program(const struct pumice_isa_info *isa, u64 va, const u32 *dw,
			     size_t insns, pumice_decode_fn fn, void *data)
{
	char line[PUMICE_DECODE_LINE];
	size_t bad = 0;

	for (size_t i = 0; i < insns; i++) {
		if (pumice_isa_text(isa, &dw[i * isa->words], line) != PUMICE_ISA_UNPACK_OK)
			bad++;
		fn(data, va + i * isa->words * 4, line);
	}
	return bad;
}
