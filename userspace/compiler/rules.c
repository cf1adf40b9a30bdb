// SPDX-License-Identifier: MIT
/*
 * Rules of USC instructions in addition to their encoding.
 *
 * Source: the meanings in hw/isa.xml, the limits in hw/registers.xml, which cite the documents.
 * Limit: the alignment of an address with its offset in
 * a vector register, and an indexed register, are known at run time only.
 */
#include <stdarg.h>
#include <stdio.h>

#include "pumice_formats.h"
#include "pumice_names.h"
#include "pumice_regs.h"
#include "rules.h"

__attribute__((format(printf, 3, 4)))
static bool breaks(struct rule_break *broken, unsigned int operand, const char *format, ...)
{
	va_list args;

	broken->operand = operand;
	va_start(args, format);
	vsnprintf(broken->text, sizeof(broken->text), format, args);
	va_end(args);
	return false;
}

uint32_t rule_registers(unsigned int bank)
{
	switch (bank) {
	case PUMICE_USC_BANK_R:
		return PUMICE_USC_MAX_TEMPS;
	case PUMICE_USC_BANK_V:
		return PUMICE_USC_MAX_ATTRS;
	case PUMICE_USC_BANK_SH:
		return PUMICE_USC_MAX_SHARED;
	case PUMICE_USC_BANK_CF:
		return PUMICE_USC_MAX_COEFFS;
	case PUMICE_USC_BANK_CFA:
		return PUMICE_USC_MAX_COEFFS_ALT;
	case PUMICE_USC_BANK_IDX:
		return PUMICE_USC_INDEX_REGS;
	case PUMICE_USC_BANK_VO:
		return PUMICE_USC_MAX_VO;
	case PUMICE_USC_BANK_O:
		return PUMICE_USC_MAX_OUTPUTS;
	case PUMICE_USC_BANK_I:
	case PUMICE_USC_BANK_SL:
		return PUMICE_USC_OWN_REGS;
	default:
		return 0;
	}
}

/* Check for an operator that the type does not have. */
static bool check_operator(const struct pumice_usc_insn *insn, unsigned int cls,
			   unsigned int operand, struct rule_break *broken)
{
	if (cls == PUMICE_USC_CLASS_REDUCE && insn->func >= PUMICE_USC_REDUCE_AND &&
	    insn->type != PUMICE_USC_TYPE_U32)
		return breaks(broken, operand, "the bitwise operator %s is for u32 only",
			      pumice_usc_reduce_str(insn->func));
	if (cls == PUMICE_USC_CLASS_ATOMIC && !pumice_usc_atomic_exists(insn->func, insn->type))
		return breaks(broken, operand, "the atomic operation %s does not exist for %s",
			      pumice_usc_atomic_str(insn->func), pumice_usc_type_str(insn->type));
	return true;
}

uint32_t rule_words(unsigned int cls, const char **what)
{
	switch (cls) {
	case PUMICE_USC_CLASS_WORDS:
		*what = "a burst";
		return PUMICE_USC_BURST_WORDS;
	case PUMICE_USC_CLASS_COPYWORDS:
		*what = "a work-group copy";
		return PUMICE_USC_COPY_WORDS;
	case PUMICE_USC_CLASS_DCWORDS:
		*what = "a window of dynamic constants";
		return PUMICE_USC_MAX_DC;
	case PUMICE_USC_CLASS_RANGEWORDS:
		*what = "the range of a cache operation";
		return PUMICE_USC_RANGE_WORDS;
	default:
		return 0;
	}
}

static bool check_words(const struct pumice_usc_insn *insn, unsigned int cls, unsigned int operand,
			struct rule_break *broken)
{
	const char *what;
	uint32_t max = rule_words(cls, &what);

	if (!max || (insn->words && insn->words <= max))
		return true;
	return breaks(broken, operand, "%s has 1 to %u words", what, max);
}

#define STAGES(a, b) (1u << PUMICE_PROGRAM_STAGE_##a | 1u << PUMICE_PROGRAM_STAGE_##b)

uint32_t rule_stages(const struct pumice_usc_insn *insn)
{
	const uint32_t operands[] = { insn->dst, insn->src0, insn->src1, insn->src2 };

	switch (insn->opcode) {
	case PUMICE_USC_OP_UVSW:
		return STAGES(VERTEX, RAYS);
	case PUMICE_USC_OP_ITR:
	case PUMICE_USC_OP_DISCARD:
	case PUMICE_USC_OP_DEPTH:
		return STAGES(FRAGMENT, FRAGMENT);
	case PUMICE_USC_OP_PBE:
		return STAGES(TILE, TILE);
	}
	for (unsigned int i = 0; i < 4; i++) {
		struct pumice_usc_operand reg;

		pumice_usc_operand_unpack(&operands[i], &reg);
		if (reg.bank == PUMICE_USC_BANK_O)
			return STAGES(FRAGMENT, TILE);
	}
	return RULE_ALL_STAGES;
}

/* Only modes with perspective divide by a plane. */
static bool check_plane(const struct pumice_usc_insn *insn, unsigned int operand,
			struct rule_break *broken)
{
	bool perspective = insn->func == PUMICE_USC_ITERATE_PERSPECTIVE ||
			   insn->func == PUMICE_USC_ITERATE_PERSPECTIVE_CENTROID;

	if (perspective == (insn->src1 != 0))
		return true;
	return breaks(broken, operand, perspective ? "%s needs the plane of 1/w" :
		      "%s has no plane of 1/w", pumice_usc_iterate_str(insn->func));
}

static bool check_graphics(const struct pumice_usc_insn *insn, unsigned int cls,
			   unsigned int operand, struct rule_break *broken)
{
	switch (cls) {
	case PUMICE_USC_CLASS_COMPS:
		return (insn->comps && insn->comps <= 4) ||
		       breaks(broken, operand, "a varying has 1 to 4 components");
	case PUMICE_USC_CLASS_TEXDIM:
		return pumice_usc_texture_exists(insn->opcode, insn->func) ||
		       breaks(broken, operand, "this texture read does not exist for %s",
			      pumice_texture_dim_str(insn->func));
	case PUMICE_USC_CLASS_WPLANE:
		return check_plane(insn, operand, broken);
	default:
		return true;
	}
}

/* Check for registers past the end of the bank. */
static bool check_range(const struct pumice_usc_insn *insn,
			const struct pumice_isa_operand *place, uint32_t raw,
			unsigned int operand, struct rule_break *broken)
{
	uint32_t count = pumice_usc_registers(insn, place);
	struct pumice_usc_operand reg;
	const char *bank;
	uint32_t limit;

	pumice_usc_operand_unpack(&raw, &reg);
	limit = rule_registers(reg.bank);
	if (!limit || reg.num + count <= limit)
		return true;
	bank = pumice_usc_bank_str(reg.bank);
	if (count == 1)
		return breaks(broken, operand, "%s%u does not exist: the last is %s%u", bank,
			      reg.num, bank, limit - 1);
	return breaks(broken, operand, "%u registers from %s%u on exceed %s%u", count, bank,
		      reg.num, bank, limit - 1);
}

/* Check work-group copies and windows as far as their addresses are constant. */
static bool check_alignment(const struct pumice_usc_insn *insn,
			    const struct pumice_isa_operand *place, uint32_t raw,
			    unsigned int operand, struct rule_break *broken)
{
	const struct pumice_isa_special *special;
	struct pumice_usc_operand reg;

	pumice_usc_operand_unpack(&raw, &reg);
	if (place->cls == PUMICE_USC_CLASS_BASE && reg.bank == PUMICE_USC_BANK_NONE &&
	    insn->disp % 4)
		return breaks(broken, operand, "the address %u is not 4-byte aligned", insn->disp);
	if (place->cls != PUMICE_USC_CLASS_SADDR || reg.bank != PUMICE_USC_BANK_SC)
		return true;
	special = pumice_isa_find_special(&pumice_usc_isa, reg.bank, reg.num);
	if (!special || special->lanes[0] % 4 == 0)
		return true;
	return breaks(broken, operand, "the address %u in %s is not 4-byte aligned",
		      special->lanes[0], special->name);
}

uint32_t rule_copy_bytes(const struct pumice_usc_insn *insn)
{
	struct pumice_usc_operand at;
	uint32_t first = 0;

	if (insn->opcode != PUMICE_USC_OP_GROUP_LOAD && insn->opcode != PUMICE_USC_OP_GROUP_STORE)
		return 0;
	pumice_usc_operand_unpack(&insn->src0, &at);
	if (at.bank == PUMICE_USC_BANK_SC)
		first = pumice_isa_find_special(&pumice_usc_isa, at.bank, at.num)->lanes[0];
	/* Local memory is far smaller than an offset that would wrap. */
	return first + insn->words * 4u < first ? UINT32_MAX : first + insn->words * 4u;
}

bool rule_is_scalar_text(const uint32_t *words)
{
	const struct pumice_isa_op_info *op;
	const struct pumice_isa_form *vector, *scalar;
	struct pumice_usc_insn insn;

	pumice_usc_unpack(words, &insn);
	op = pumice_isa_find_opcode(&pumice_usc_isa, insn.opcode);
	vector = &op->form[PUMICE_USC_FORM_VECTOR];
	scalar = &op->form[PUMICE_USC_FORM_SCALAR];
	if (insn.form != PUMICE_USC_FORM_VECTOR || !scalar->exists ||
	    scalar->nr_operands != vector->nr_operands)
		return false;
	for (unsigned int i = 0; i < vector->nr_operands; i++) {
		const struct pumice_isa_class *cls =
			&pumice_usc_isa.classes[scalar->operands[i].cls];
		const uint32_t raw = (uint32_t)pumice_isa_get(&pumice_usc_isa, op->layout,
							      vector->operands[i].field, words);
		struct pumice_usc_operand reg;

		pumice_usc_operand_unpack(&raw, &reg);
		if (!((reg.elem ? cls->elem : cls->full) >> reg.bank & 1))
			return false;
	}
	return true;
}

bool rule_check(const uint32_t *words, struct rule_break *broken)
{
	const struct pumice_isa_op_info *op;
	const struct pumice_isa_form *form;
	struct pumice_usc_insn insn;

	pumice_usc_unpack(words, &insn);
	op = pumice_isa_find_opcode(&pumice_usc_isa, insn.opcode);
	form = pumice_isa_form_of(&pumice_usc_isa, op, words);
	for (unsigned int i = 0; i < form->nr_operands; i++) {
		const struct pumice_isa_operand *place = &form->operands[i];
		const struct pumice_isa_class *cls = &pumice_usc_isa.classes[place->cls];
		uint32_t raw = (uint32_t)pumice_isa_get(&pumice_usc_isa, op->layout, place->field,
							words);

		if (!check_operator(&insn, place->cls, i, broken) ||
		    !check_words(&insn, place->cls, i, broken) ||
		    !check_graphics(&insn, place->cls, i, broken))
			return false;
		if (!cls->full && !cls->elem)
			continue;
		if (!check_range(&insn, place, raw, i, broken))
			return false;
		if (op->layout == PUMICE_USC_LAYOUT_COPY &&
		    !check_alignment(&insn, place, raw, i, broken))
			return false;
	}
	return true;
}

unsigned int rule_pds_bank(unsigned int pds_bank)
{
	switch (pds_bank) {
	case PUMICE_PDS_BANK_V:
		return PUMICE_USC_BANK_V;
	case PUMICE_PDS_BANK_CF:
		return PUMICE_USC_BANK_CF;
	case PUMICE_PDS_BANK_CFA:
		return PUMICE_USC_BANK_CFA;
	default:
		return PUMICE_USC_BANK_SH;
	}
}

static const char *check_pds_dma(const struct pumice_pds_insn *insn)
{
	if (!insn->count || insn->count > PUMICE_USC_MAX_SHARED)
		return "a burst of the PDS has 1 to 4096 words";
	if (insn->stride && insn->bank != PUMICE_PDS_BANK_V)
		return "only attribute registers have a stride: the others exist once per task";
	if (insn->addr % 4 || insn->stride % 4)
		return "a burst of the PDS is 4-byte aligned, its stride too";
	return NULL;
}

uint32_t rule_pds_registers(const struct pumice_pds_insn *insn)
{
	switch (insn->opcode) {
	case PUMICE_PDS_OP_DMA:
		return insn->count;
	case PUMICE_PDS_OP_ATTR:
	case PUMICE_PDS_OP_FETCH:
	case PUMICE_PDS_OP_TEXTURE:
		return 4;
	case PUMICE_PDS_OP_ITERATE:
		return insn->comps;
	case PUMICE_PDS_OP_COEFF:
		return 3u * insn->comps;
	default:
		return 1;
	}
}

static uint32_t source_stages(uint32_t source)
{
	switch (source) {
	case PUMICE_PDS_SOURCE_VERTEX:
	case PUMICE_PDS_SOURCE_INSTANCE:
		return STAGES(VERTEX, VERTEX);
	case PUMICE_PDS_SOURCE_FRAG_X:
	case PUMICE_PDS_SOURCE_FRAG_Y:
	case PUMICE_PDS_SOURCE_SAMPLE:
		return STAGES(FRAGMENT, TILE);
	default:
		if (source >= PUMICE_PDS_SOURCE_RAY_INDEX)
			return STAGES(RAYS, RAYS);
		return source > PUMICE_PDS_SOURCE_INSTANCE ? STAGES(FRAGMENT, FRAGMENT) :
							     STAGES(COMPUTE, COMPUTE);
	}
}

uint32_t rule_pds_stages(const struct pumice_pds_insn *insn)
{
	switch (insn->opcode) {
	case PUMICE_PDS_OP_MOV:
		return source_stages(insn->source);
	case PUMICE_PDS_OP_ATTR:
	case PUMICE_PDS_OP_FETCH:
		return STAGES(VERTEX, VERTEX);
	case PUMICE_PDS_OP_COEFF:
	case PUMICE_PDS_OP_ITERATE:
	case PUMICE_PDS_OP_TEXTURE:
		return STAGES(FRAGMENT, FRAGMENT);
	default:
		return RULE_ALL_STAGES;
	}
}

/* The last two varyings are the planes of 1/w and of depth. */
static const char *check_pds_varying(const struct pumice_pds_insn *insn)
{
	uint32_t comps = insn->opcode == PUMICE_PDS_OP_TEXTURE ?
			 pumice_usc_texture_coords(insn->dim) : insn->comps;

	const bool coeffs = insn->bank == PUMICE_PDS_BANK_CF || insn->bank == PUMICE_PDS_BANK_CFA;

	if (insn->opcode == PUMICE_PDS_OP_COEFF ? !coeffs : insn->bank != PUMICE_PDS_BANK_V)
		return "planes are stored in coefficient registers, interpolated values in "
		       "attribute registers";
	if (!comps || comps > 4)
		return "a varying has 1 to 4 components";
	if (insn->varying + comps > PUMICE_MAX_VARYINGS + 2)
		return "unknown varying";
	return insn->addr % 4 ? "texture state is 4-byte aligned" : NULL;
}

static const char *check_pds_attr(const struct pumice_pds_insn *insn)
{
	if (insn->bank != PUMICE_PDS_BANK_V)
		return "vertex attributes are stored in attribute registers";
	if (insn->opcode == PUMICE_PDS_OP_FETCH)
		return NULL;
	return insn->comps && insn->comps <= 4 ? NULL : "an attribute has 1 to 4 components";
}

const char *rule_check_pds(const struct pumice_pds_insn *insn)
{
	const char *wrong = NULL;

	switch (insn->opcode) {
	case PUMICE_PDS_OP_END:
		return NULL;
	case PUMICE_PDS_OP_TASK:
		if (insn->insns > PUMICE_USC_MAX_INSNS)
			return "a task has too many instructions";
		return insn->addr % 16 ? "a task's address is 16-byte aligned" : NULL;
	case PUMICE_PDS_OP_DMA:
		wrong = check_pds_dma(insn);
		break;
	case PUMICE_PDS_OP_MOV:
		if (insn->source >= PUMICE_PDS_SOURCE_LOCAL_X && insn->bank != PUMICE_PDS_BANK_V)
			wrong = "the value differs between instances: it must be stored in an "
				"attribute register";
		break;
	case PUMICE_PDS_OP_ATTR:
	case PUMICE_PDS_OP_FETCH:
		wrong = check_pds_attr(insn);
		break;
	case PUMICE_PDS_OP_COEFF:
	case PUMICE_PDS_OP_ITERATE:
	case PUMICE_PDS_OP_TEXTURE:
		wrong = check_pds_varying(insn);
		break;
	default:
		break;
	}
	if (!wrong &&
	    insn->reg + rule_pds_registers(insn) > rule_registers(rule_pds_bank(insn->bank)))
		wrong = "the registers exceed their bank";
	return wrong;
}
