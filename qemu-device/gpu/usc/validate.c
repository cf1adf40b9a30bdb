// SPDX-License-Identifier: MIT
/*
 * Checks of one USC instruction, before any other use.
 *
 * Source: hw/isa.xml. The generated tables (pumice_isa_check) check that an encoding is
 * legal; the checks here depend on the allocation of the task, on the length of the program,
 * and on its stage.
 *
 * Limits: the value of an index register is known only at run time; here the register at
 * index 0 must exist.
 */
#include "gfx.h"
#include "program.h"
#include "pumice_formats.h"

static enum pumice_fault encoding_fault(enum pumice_isa_unpack result)
{
	switch (result) {
	case PUMICE_ISA_UNPACK_OK:
		return PUMICE_FAULT_NONE;
	case PUMICE_ISA_UNPACK_OPCODE:
		return PUMICE_FAULT_USC_OPCODE;
	case PUMICE_ISA_UNPACK_RESERVED:
	case PUMICE_ISA_UNPACK_FIELD:
		return PUMICE_FAULT_USC_RESERVED;
	case PUMICE_ISA_UNPACK_TYPE:
	case PUMICE_ISA_UNPACK_FORM:
		return PUMICE_FAULT_USC_TYPE;
	case PUMICE_ISA_UNPACK_BANK:
		return PUMICE_FAULT_USC_BANK;
	case PUMICE_ISA_UNPACK_OPERAND:
		break;
	}
	return PUMICE_FAULT_USC_OPERAND;
}

/* Raise the number of registers that a program needs. */
static void need(u32 *needs, u32 registers)
{
	if (*needs < registers)
		*needs = registers;
}

static bool mask_register_allocated(u32 number, const struct usc_program_limits *limits,
				    struct usc_program_limits *needs)
{
	if (number < PUMICE_USC_MASK_CONSTS)
		return true;
	need(&needs->temps, number - PUMICE_USC_MASK_CONSTS + 1);
	return number < PUMICE_USC_MASK_CONSTS + limits->temps;
}

static bool mask_allocated(u32 raw, const struct usc_program_limits *limits,
			   struct usc_program_limits *needs)
{
	struct pumice_usc_mask mask;

	pumice_usc_mask_unpack(&raw, &mask);
	return mask_register_allocated(mask.a, limits, needs) &&
	       mask_register_allocated(mask.b, limits, needs);
}

static void need_of_bank(enum pumice_usc_bank bank, u32 registers, struct usc_program_limits *needs)
{
	switch (bank) {
	case PUMICE_USC_BANK_R:
		need(&needs->temps, registers);
		break;
	case PUMICE_USC_BANK_V:
		need(&needs->attrs, registers);
		break;
	case PUMICE_USC_BANK_SH:
		need(&needs->shared, registers);
		break;
	case PUMICE_USC_BANK_CF:
		need(&needs->coeffs, registers);
		break;
	case PUMICE_USC_BANK_CFA:
		need(&needs->coeffs_alt, registers);
		break;
	case PUMICE_USC_BANK_VO:
		need(&needs->vo, registers);
		break;
	case PUMICE_USC_BANK_O:
		need(&needs->outputs, registers);
		break;
	default:
		break;	/* slot registers: equal for all programs of a GPU */
	}
}

u32 usc_bank_registers(enum pumice_usc_bank bank, const struct usc_program_limits *limits)
{
	switch (bank) {
	case PUMICE_USC_BANK_R:
		return limits->temps;
	case PUMICE_USC_BANK_V:
		return limits->attrs;
	case PUMICE_USC_BANK_SH:
		return limits->shared;
	case PUMICE_USC_BANK_CF:
		return limits->coeffs;
	case PUMICE_USC_BANK_CFA:
		return limits->coeffs_alt;
	case PUMICE_USC_BANK_SL:
		return limits->slot_regs;
	case PUMICE_USC_BANK_VO:
		return limits->vo;
	case PUMICE_USC_BANK_O:
		return limits->outputs;
	case PUMICE_USC_BANK_I:
		return PUMICE_USC_OWN_REGS - limits->slot_regs;
	default:
		return 0;
	}
}

static bool has_outputs(u32 stage)
{
	return stage == USC_STAGE_FRAGMENT || stage == USC_STAGE_TILE;
}

/*
 * Check a register operand of a class against the allocation: count registers from its number.
 * The register that an offset register names has to be of the class, too.
 */
static enum pumice_fault check_register(u32 raw, const struct pumice_isa_class *cls, u32 count,
					const struct usc_program_limits *limits,
					struct usc_program_limits *needs)
{
	struct pumice_usc_operand opnd;
	bool ok;

	pumice_usc_operand_unpack(&raw, &opnd);
	usc_resolve_offset(&opnd, limits->slot_regs);
	if (!((opnd.elem ? cls->elem : cls->full) >> opnd.bank & 1))
		return PUMICE_FAULT_USC_OPERAND;
	need_of_bank(opnd.bank, opnd.num + (opnd.bank == PUMICE_USC_BANK_O ? 1 : count), needs);
	switch (opnd.bank) {
	case PUMICE_USC_BANK_O:
		if (!has_outputs(limits->stage))
			return PUMICE_FAULT_USC_BANK;
		ok = opnd.num < limits->outputs;
		break;
	case PUMICE_USC_BANK_VO:
	case PUMICE_USC_BANK_R:
	case PUMICE_USC_BANK_V:
	case PUMICE_USC_BANK_SH:
	case PUMICE_USC_BANK_CF:
	case PUMICE_USC_BANK_CFA:
	case PUMICE_USC_BANK_SL:
	case PUMICE_USC_BANK_I:
		ok = opnd.num + count <= usc_bank_registers(opnd.bank, limits);
		break;
	case PUMICE_USC_BANK_M:
		ok = mask_allocated(opnd.num, limits, needs);
		break;
	default:
		ok = true;	/* the tables check the numbers of other banks */
	}
	return ok ? PUMICE_FAULT_NONE : PUMICE_FAULT_USC_REGISTER;
}

/* Return whether programs of a stage have an operation. */
static bool stage_has(u32 stage, u32 op)
{
	switch (op) {
	case PUMICE_USC_OP_UVSW:
		return stage == USC_STAGE_VERTEX || stage == USC_STAGE_DEFERRED ||
		       stage == USC_STAGE_RAYS;
	case PUMICE_USC_OP_ITR:
	case PUMICE_USC_OP_DISCARD:
	case PUMICE_USC_OP_DEPTH:
		return stage == USC_STAGE_FRAGMENT;
	case PUMICE_USC_OP_PBE:
		return stage == USC_STAGE_TILE;
	default:
		return true;
	}
}

/* Only modes with perspective have a plane of 1/w. */
static bool plane_fits(u32 raw, u32 mode)
{
	bool perspective = mode == PUMICE_USC_ITERATE_PERSPECTIVE ||
			   mode == PUMICE_USC_ITERATE_PERSPECTIVE_CENTROID;
	struct pumice_usc_operand opnd;

	pumice_usc_operand_unpack(&raw, &opnd);
	return perspective == (opnd.bank != PUMICE_USC_BANK_NONE);
}

static enum pumice_fault check_words(u32 words, u32 max)
{
	return words && words <= max ? PUMICE_FAULT_NONE : PUMICE_FAULT_USC_BURST;
}

static enum pumice_fault check_operand(const struct pumice_isa_operand *operand, u32 value,
				       const struct pumice_usc_insn *insn, u32 insns,
				       const struct usc_program_limits *limits,
				       struct usc_program_limits *needs)
{
	switch (operand->cls) {
	case PUMICE_USC_CLASS_MASK:
		return mask_allocated(value, limits, needs) ? PUMICE_FAULT_NONE :
							      PUMICE_FAULT_USC_REGISTER;
	case PUMICE_USC_CLASS_TARGET:
		return value < insns ? PUMICE_FAULT_NONE : PUMICE_FAULT_USC_BRANCH;
	case PUMICE_USC_CLASS_REDUCE:
		/* The bitwise reductions exist for u32 only. */
		return value <= PUMICE_USC_REDUCE_MAX || insn->type == PUMICE_USC_TYPE_U32 ?
			PUMICE_FAULT_NONE : PUMICE_FAULT_USC_TYPE;
	case PUMICE_USC_CLASS_ATOMIC:
		return pumice_usc_atomic_exists(value, insn->type) ? PUMICE_FAULT_NONE :
								     PUMICE_FAULT_USC_TYPE;
	case PUMICE_USC_CLASS_WORDS:
		return check_words(value, PUMICE_USC_BURST_WORDS);
	case PUMICE_USC_CLASS_COPYWORDS:
		return check_words(value, PUMICE_USC_COPY_WORDS);
	case PUMICE_USC_CLASS_DCWORDS:
		return check_words(value, PUMICE_USC_MAX_DC);
	case PUMICE_USC_CLASS_RANGEWORDS:
		return check_words(value, PUMICE_USC_RANGE_WORDS);
	case PUMICE_USC_CLASS_COMPS:
		return value && value <= 4 ? PUMICE_FAULT_NONE : PUMICE_FAULT_USC_OPERAND;
	case PUMICE_USC_CLASS_TEXDIM:
		return pumice_usc_texture_exists(insn->opcode, value) ? PUMICE_FAULT_NONE :
									PUMICE_FAULT_USC_OPERAND;
	case PUMICE_USC_CLASS_WPLANE:
		if (!plane_fits(value, insn->func))
			return PUMICE_FAULT_USC_OPERAND;
		break;
	case PUMICE_USC_CLASS_SIG:
	case PUMICE_USC_CLASS_ASYNC:
	case PUMICE_USC_CLASS_DISP:
	case PUMICE_USC_CLASS_SCOPE:
	case PUMICE_USC_CLASS_ITERATE:
	case PUMICE_USC_CLASS_RAY:
	case PUMICE_USC_CLASS_COMPONENT:
		return PUMICE_FAULT_NONE;
	default:
		break;
	}
	return check_register(value, &pumice_usc_isa.classes[operand->cls],
			      pumice_usc_registers(insn, operand), limits, needs);
}

/**
 * usc_validate - unpack one instruction and check that a wave may run it @words: the encoded
 * instruction @insns: length of its program, for branch targets @limits: registers that its
 * tasks have @needs: registers of each bank that its program uses; raised to the needs of
 * this one @insn: filled in if the result is PUMICE_FAULT_NONE
 */
enum pumice_fault usc_validate(const u32 *words, u32 insns,
			       const struct usc_program_limits *limits,
			       struct usc_program_limits *needs, struct pumice_usc_insn *insn)
{
	enum pumice_fault fault = encoding_fault(pumice_usc_unpack(words, insn));
	const struct pumice_isa_op_info *op;
	const struct pumice_isa_form *form;

	if (fault != PUMICE_FAULT_NONE)
		return fault;
	if (!stage_has(limits->stage, insn->opcode))
		return PUMICE_FAULT_USC_STAGE;
	op = pumice_isa_find_opcode(&pumice_usc_isa, insn->opcode);
	form = &op->form[insn->form];
	for (u32 n = 0; n < form->nr_operands; n++) {
		const struct pumice_isa_operand *operand = &form->operands[n];
		u32 value = (u32)pumice_isa_get(&pumice_usc_isa, op->layout, operand->field, words);

		fault = check_operand(operand, value, insn, insns, limits, needs);
		if (fault != PUMICE_FAULT_NONE)
			return fault;
	}
	return PUMICE_FAULT_NONE;
}
