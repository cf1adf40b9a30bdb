// SPDX-License-Identifier: MIT
/*
 * Validation of raw instructions with the generated tables.
 *
 * The only definition of legal encodings: device, assembler and disassembler all use it, so that
 * they accept the same instructions. Source: hw/isa.xml, which cites the documents.
 *
 * Also computes the registers that an instruction's operands use, for the same three.
 *
 * Limits: encoding only. The caller checks rules that depend on a task's allocation or on the
 * length of a program.
 */
#include <string.h>

#include "pumice_formats.h"
#include "pumice_info.h"
#include "pumice_isa.h"
#include "pumice_regs.h"

u64 pumice_bits(const u32 *dw, u32 bit, u32 width)
{
	u64 value = 0;
	u32 done = 0;

	while (done < width) {
		u32 low = (bit + done) % 32;
		u32 take = 32 - low < width - done ? 32 - low : width - done;
		u64 part = dw[(bit + done) / 32] >> low;

		value |= (part & ((1ULL << take) - 1)) << done;
		done += take;
	}
	return value;
}

void pumice_set_bits(u32 *dw, u32 bit, u32 width, u64 value)
{
	u32 done = 0;

	while (done < width) {
		u32 low = (bit + done) % 32;
		u32 take = 32 - low < width - done ? 32 - low : width - done;
		u32 mask = (u32)(((1ULL << take) - 1) << low);
		u32 *word = &dw[(bit + done) / 32];

		*word = (*word & ~mask) | ((u32)((value >> done) << low) & mask);
		done += take;
	}
}

const struct pumice_isa_op_info *pumice_isa_find_opcode(const struct pumice_isa_info *isa,
							u32 opcode)
{
	u32 low = 0, high = isa->nr_ops;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (isa->ops[middle].opcode == opcode)
			return &isa->ops[middle];
		if (isa->ops[middle].opcode < opcode)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const struct pumice_isa_op_info *pumice_isa_find_name(const struct pumice_isa_info *isa,
						      const char *name)
{
	for (u32 i = 0; i < isa->nr_ops; i++) {
		if (strcmp(isa->ops[i].name, name) == 0)
			return &isa->ops[i];
	}
	return NULL;
}

const struct pumice_isa_special *pumice_isa_find_special(const struct pumice_isa_info *isa,
							 u32 bank, u32 number)
{
	for (u32 i = 0; i < isa->nr_specials; i++) {
		if (isa->specials[i].bank == bank && isa->specials[i].number == number)
			return &isa->specials[i];
	}
	return NULL;
}

const struct pumice_field_info *pumice_isa_place(const struct pumice_isa_info *isa, u32 layout,
						 u32 field)
{
	const struct pumice_isa_layout *entry = &isa->layouts[layout];

	for (u32 i = 0; i < entry->nr_places; i++) {
		if (entry->places[i].field == field)
			return &entry->places[i].info;
	}
	return NULL;
}

u64 pumice_isa_get(const struct pumice_isa_info *isa, u32 layout, u32 field, const u32 *dw)
{
	const struct pumice_field_info *info = pumice_isa_place(isa, layout, field);

	return info ? pumice_bits(dw, info->bit, info->width) << info->shift : 0;
}

bool pumice_isa_set(const struct pumice_isa_info *isa, u32 layout, u32 field, u32 *dw, u64 value)
{
	const struct pumice_field_info *info = pumice_isa_place(isa, layout, field);
	u64 raw;

	if (!info)
		return false;
	raw = value >> info->shift;
	if (raw << info->shift != value || (info->width < 64 && raw >> info->width))
		return false;
	pumice_set_bits(dw, info->bit, info->width, raw);
	return true;
}

const struct pumice_isa_form *pumice_isa_form_of(const struct pumice_isa_info *isa,
						 const struct pumice_isa_op_info *op,
						 const u32 *dw)
{
	u64 form = pumice_isa_get(isa, op->layout, isa->field_form, dw);

	if (form >= PUMICE_ISA_FORMS || !op->form[form].exists)
		return NULL;
	return &op->form[form];
}

/* Check that a mask register below PUMICE_USC_MASK_CONSTS is an existing predefined constant. */
static bool mask_register_exists(const struct pumice_isa_info *isa, u32 number)
{
	return number >= PUMICE_USC_MASK_CONSTS ||
	       pumice_isa_find_special(isa, PUMICE_USC_BANK_K, number) != NULL;
}

/* Check both registers of a 12-bit double mask. */
static bool mask_exists(const struct pumice_isa_info *isa, u32 raw)
{
	struct pumice_usc_mask mask;

	return pumice_usc_mask_unpack(&raw, &mask) == PUMICE_UNPACK_OK &&
	       mask_register_exists(isa, mask.a) && mask_register_exists(isa, mask.b);
}

/* Check the number of a register in a bank whose size does not depend on the task. */
static bool number_exists(const struct pumice_isa_info *isa, const struct pumice_usc_operand *opnd)
{
	switch (opnd->bank) {
	case PUMICE_USC_BANK_NONE:
	case PUMICE_USC_BANK_IMM:
		return opnd->num == 0;
	case PUMICE_USC_BANK_M:
		return mask_exists(isa, opnd->num);
	case PUMICE_USC_BANK_K:
	case PUMICE_USC_BANK_SC:
	case PUMICE_USC_BANK_SR:
		return pumice_isa_find_special(isa, opnd->bank, opnd->num) != NULL;
	case PUMICE_USC_BANK_IDX:
		return opnd->num < PUMICE_USC_INDEX_REGS;
	case PUMICE_USC_BANK_I:
	case PUMICE_USC_BANK_SL:
		return opnd->num < PUMICE_USC_OWN_REGS;
	default:
		return true;
	}
}

/*
 * Check that an operand is indexed only if allowed, and always if required (document 003,
 * "Index Registers").
 */
static bool index_legal(const struct pumice_usc_operand *opnd, bool can_index)
{
	switch (opnd->bank) {
	case PUMICE_USC_BANK_R:
	case PUMICE_USC_BANK_V:
	case PUMICE_USC_BANK_SH:
	case PUMICE_USC_BANK_CF:
	case PUMICE_USC_BANK_CFA:
	case PUMICE_USC_BANK_O:
	case PUMICE_USC_BANK_VO:
		return !opnd->idx || can_index;
	case PUMICE_USC_BANK_DC:
		return opnd->idx && can_index;
	default:
		return !opnd->idx;
	}
}

/* Check that a special register is one that can, or cannot, be written, as its class requires. */
static bool special_legal(const struct pumice_isa_info *isa, const struct pumice_isa_class *cls,
			  const struct pumice_usc_operand *opnd)
{
	bool writable;

	if (opnd->bank != PUMICE_USC_BANK_SR || cls->special == PUMICE_ISA_SPECIAL_ANY)
		return true;
	writable = pumice_isa_find_special(isa, opnd->bank, opnd->num)->writable;
	return writable == (cls->special == PUMICE_ISA_SPECIAL_RW);
}

/* Check bank, mode and number of a register operand. */
static enum pumice_isa_unpack check_register(const struct pumice_isa_info *isa,
					     const struct pumice_isa_class *cls, u32 raw,
					     bool can_index)
{
	struct pumice_usc_operand opnd;

	if (pumice_usc_operand_unpack(&raw, &opnd) != PUMICE_UNPACK_OK ||
	    !(isa->known_banks >> opnd.bank & 1))
		return PUMICE_ISA_UNPACK_OPERAND;
	if (!(isa->banks >> opnd.bank & 1))
		return PUMICE_ISA_UNPACK_BANK;
	if (!((opnd.elem ? cls->elem : cls->full) >> opnd.bank & 1))
		return PUMICE_ISA_UNPACK_OPERAND;
	if (!opnd.idx && cls->indexed >> opnd.bank & 1)
		return PUMICE_ISA_UNPACK_OPERAND;
	if (opnd.idx > PUMICE_USC_INDEX_REGS || !index_legal(&opnd, can_index) ||
	    !number_exists(isa, &opnd) || !special_legal(isa, cls, &opnd))
		return PUMICE_ISA_UNPACK_OPERAND;
	return PUMICE_ISA_UNPACK_OK;
}

/* Check all operands of a form; *more is set to the fields that immediate or indexed ones use. */
static enum pumice_isa_unpack check_operands(const struct pumice_isa_info *isa,
					     const struct pumice_isa_op_info *op,
					     const struct pumice_isa_form *form, const u32 *dw,
					     u64 *more)
{
	bool can_index = isa->field_dim != PUMICE_ISA_NO_FIELD &&
			 pumice_isa_place(isa, op->layout, isa->field_dim);
	enum pumice_isa_unpack result = PUMICE_ISA_UNPACK_OK;

	*more = 0;
	for (u32 i = 0; i < form->nr_operands; i++) {
		const struct pumice_isa_class *cls = &isa->classes[form->operands[i].cls];
		u64 raw = pumice_isa_get(isa, op->layout, form->operands[i].field, dw);
		enum pumice_isa_unpack now = PUMICE_ISA_UNPACK_OK;

		if (cls->full || cls->elem) {
			now = check_register(isa, cls, (u32)raw, can_index);
			if ((raw & PUMICE_USC_OPERAND__BANK__MASK) == PUMICE_USC_BANK_IMM)
				*more |= 1ULL << isa->field_imm;
			if (can_index && raw & PUMICE_USC_OPERAND__IDX__MASK)
				*more |= 1ULL << isa->field_dim;
		} else if (isa->banks && strcmp(cls->name, "mask") == 0) {
			if (!mask_exists(isa, (u32)raw))
				now = PUMICE_ISA_UNPACK_OPERAND;
		} else if (cls->valid && !cls->valid((u32)raw)) {
			now = PUMICE_ISA_UNPACK_OPERAND;
		}
		if (result == PUMICE_ISA_UNPACK_OK)
			result = now;
	}
	return result;
}

/* Check that fields outside @uses are zero. */
static bool unused_fields_clear(const struct pumice_isa_layout *layout, u64 uses, const u32 *dw)
{
	for (u32 i = 0; i < layout->nr_places; i++) {
		const struct pumice_isa_place *place = &layout->places[i];

		if (!(uses >> place->field & 1) &&
		    pumice_bits(dw, place->info.bit, place->info.width))
			return false;
	}
	return true;
}

enum pumice_isa_unpack pumice_isa_check(const struct pumice_isa_info *isa, const u32 *dw)
{
	const struct pumice_isa_op_info *op;
	const struct pumice_isa_layout *layout;
	const struct pumice_isa_form *form;
	enum pumice_isa_unpack operands;
	u64 type, more;

	op = pumice_isa_find_opcode(isa, (u32)pumice_bits(dw, isa->opcode_bit, isa->opcode_width));
	if (!op)
		return PUMICE_ISA_UNPACK_OPCODE;
	layout = &isa->layouts[op->layout];
	for (u32 i = 0; i < isa->words; i++) {
		if (dw[i] & layout->reserved[i])
			return PUMICE_ISA_UNPACK_RESERVED;
	}
	type = pumice_isa_get(isa, op->layout, isa->field_type, dw);
	if (type > 31 || !((op->types ? op->types : 1) >> type & 1))
		return PUMICE_ISA_UNPACK_TYPE;
	form = pumice_isa_form_of(isa, op, dw);
	if (!form)
		return PUMICE_ISA_UNPACK_FORM;
	operands = check_operands(isa, op, form, dw, &more);
	if (!unused_fields_clear(layout, form->uses | more, dw))
		return PUMICE_ISA_UNPACK_FIELD;
	/* In an instruction set without registers, dim is an unrelated field. */
	if (isa->banks && isa->field_dim != PUMICE_ISA_NO_FIELD &&
	    !pumice_usc_dim_valid((u32)pumice_isa_get(isa, op->layout, isa->field_dim, dw)))
		return PUMICE_ISA_UNPACK_OPERAND;
	return operands;
}

u32 pumice_usc_texture_coords(u32 dim)
{
	switch (dim) {
	case PUMICE_TEXTURE_DIM_1D:
		return 1;
	case PUMICE_TEXTURE_DIM_2D:
	case PUMICE_TEXTURE_DIM_1D_ARRAY:
		return 2;
	case PUMICE_TEXTURE_DIM_CUBE_ARRAY:
		return 4;
	default:
		return dim < PUMICE_TEXTURE_DIM_COUNT ? 3 : 0;
	}
}

/* Count the coordinates that have derivatives: all except the layer. */
static u32 texture_axes(u32 dim)
{
	return pumice_usc_texture_coords(dim) - (dim >= PUMICE_TEXTURE_DIM_1D_ARRAY);
}

u32 pumice_usc_texture_extra(u32 op, u32 dim)
{
	switch (op) {
	case PUMICE_USC_OP_SAMPLE_GRAD:
		return 2 * texture_axes(dim);
	case PUMICE_USC_OP_SAMPLE_BIAS:
	case PUMICE_USC_OP_SAMPLE_LOD:
	case PUMICE_USC_OP_SAMPLE_CMP:
	case PUMICE_USC_OP_SAMPLE_CMP_LOD0:
	case PUMICE_USC_OP_FETCH:
	case PUMICE_USC_OP_GATHER_CMP:
		return 1;
	default:
		return 0;
	}
}

bool pumice_usc_texture_exists(u32 op, u32 dim)
{
	bool cube = dim == PUMICE_TEXTURE_DIM_CUBE || dim == PUMICE_TEXTURE_DIM_CUBE_ARRAY;

	switch (op) {
	case PUMICE_USC_OP_FETCH:
		return !cube;
	case PUMICE_USC_OP_GATHER:
	case PUMICE_USC_OP_GATHER_CMP:
		return cube || dim == PUMICE_TEXTURE_DIM_2D || dim == PUMICE_TEXTURE_DIM_2D_ARRAY;
	default:
		return true;
	}
}

bool pumice_usc_atomic_exists(u32 func, u32 type)
{
	switch (func) {
	case PUMICE_USC_ATOMIC_ADD:
		return true;
	case PUMICE_USC_ATOMIC_MIN:
	case PUMICE_USC_ATOMIC_MAX:
		return type != PUMICE_USC_TYPE_F32;
	default:
		return type == PUMICE_USC_TYPE_U32;
	}
}

bool pumice_usc_is_group_copy(u32 op)
{
	switch (op) {
	case PUMICE_USC_OP_GROUP_LOAD:
	case PUMICE_USC_OP_GROUP_STORE:
	case PUMICE_USC_OP_GROUP_LOAD_SHARED:
	case PUMICE_USC_OP_GROUP_STORE_SHARED:
		return true;
	default:
		return false;
	}
}

/* Replace an illegal count by 1, so that not the registers but the count is reported. */
static u32 legal_count(u32 count, u32 max)
{
	return count && count <= max ? count : 1;
}

/* Count the registers that are loaded, stored, interpolated or read from a texture. */
static u32 data_registers(const struct pumice_usc_insn *insn, u32 field)
{
	switch (insn->opcode) {
	case PUMICE_USC_OP_LOCAL_LOAD64:
	case PUMICE_USC_OP_LOCAL_STORE64:
	case PUMICE_USC_OP_LOCAL_LOAD64W:
	case PUMICE_USC_OP_LOCAL_STORE64W:
	case PUMICE_USC_OP_GLOBAL_LOAD64:
	case PUMICE_USC_OP_GLOBAL_STORE64:
		return 2;
	case PUMICE_USC_OP_LOCAL_LOAD128:
	case PUMICE_USC_OP_LOCAL_STORE128:
	case PUMICE_USC_OP_LOCAL_LOAD128W:
	case PUMICE_USC_OP_LOCAL_STORE128W:
	case PUMICE_USC_OP_GLOBAL_LOAD128:
	case PUMICE_USC_OP_GLOBAL_STORE128:
		return 4;
	case PUMICE_USC_OP_LOCAL_ATOMIC:
	case PUMICE_USC_OP_LOCAL_ATOMICW:
	case PUMICE_USC_OP_GLOBAL_ATOMIC:
		/* The value to compare with is in the register after the new value. */
		return field == PUMICE_USC_FIELD_SRC1 &&
		       insn->func == PUMICE_USC_ATOMIC_CMPXCHG ? 2 : 1;
	case PUMICE_USC_OP_BURST_LOAD:
	case PUMICE_USC_OP_BURST_STORE:
		return legal_count(insn->words, PUMICE_USC_BURST_WORDS);
	case PUMICE_USC_OP_ITR:
		return legal_count(insn->comps, 4);
	case PUMICE_USC_OP_RAY_QUERY:
		return field == PUMICE_USC_FIELD_DST ? PUMICE_RT_RESULT_REGS : PUMICE_RT_RAY_REGS;
	default:
		if (insn->opcode < PUMICE_USC_OP_SAMPLE || insn->opcode > PUMICE_USC_OP_QUERY_LOD)
			return 1;
		return field == PUMICE_USC_FIELD_DST ? 4 : pumice_usc_texture_coords(insn->func);
	}
}

u32 pumice_usc_registers(const struct pumice_usc_insn *insn,
			 const struct pumice_isa_operand *operand)
{
	switch (operand->cls) {
	case PUMICE_USC_CLASS_BASE:
		return 2;
	case PUMICE_USC_CLASS_VDATA:
		return data_registers(insn, operand->field);
	case PUMICE_USC_CLASS_CFPLANE:
		return 3 * legal_count(insn->comps, 4);
	case PUMICE_USC_CLASS_WPLANE:
		return 3;
	case PUMICE_USC_CLASS_TEXSTATE:
		return PUMICE_TEXTURE_WORDS + PUMICE_SAMPLER_WORDS;
	case PUMICE_USC_CLASS_SDATA:
		return legal_count(insn->words, pumice_usc_is_group_copy(insn->opcode) ?
				   PUMICE_USC_COPY_WORDS : PUMICE_USC_BURST_WORDS);
	case PUMICE_USC_CLASS_PBESTATE:
		return PUMICE_PBE_STATE_WORDS;
	case PUMICE_USC_CLASS_TEXEXTRA:
		return legal_count(pumice_usc_texture_extra(insn->opcode, insn->func), 6);
	default:
		return 1;
	}
}
