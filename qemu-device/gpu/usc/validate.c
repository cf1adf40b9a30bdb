// SPDX-License-Identifier: MIT
/*
 * Checks of one USC instruction, before anything else looks at it.
 *
 * Source: hw/isa.xml. Whether an encoding is legal at all is asked of the
 * generated tables (pumice_isa_check); what is added here depends on the
 * allocation of the task, on the length of the program, and on what this engine
 * implements.
 *
 * Limits: indexed operands are legal encodings that this engine does not have;
 * they are refused as USC_BANK.
 */
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

static bool mask_register_allocated(u32 number, const struct usc_program_limits *limits)
{
	return number < PUMICE_USC_MASK_CONSTS || number < PUMICE_USC_MASK_CONSTS + limits->temps;
}

static bool mask_allocated(u32 raw, const struct usc_program_limits *limits)
{
	struct pumice_usc_mask mask;

	pumice_usc_mask_unpack(&raw, &mask);
	return mask_register_allocated(mask.a, limits) && mask_register_allocated(mask.b, limits);
}

/* A register operand against the allocation; count registers from its number on. */
static enum pumice_fault check_register(u32 raw, u32 count, const struct usc_program_limits *limits)
{
	struct pumice_usc_operand opnd;
	u32 end;

	pumice_usc_operand_unpack(&raw, &opnd);
	if (opnd.idx)
		return PUMICE_FAULT_USC_BANK;
	switch (opnd.bank) {
	case PUMICE_USC_BANK_R:
		end = limits->temps;
		break;
	case PUMICE_USC_BANK_V:
		end = limits->attrs;
		break;
	case PUMICE_USC_BANK_SH:
		end = limits->shared;
		break;
	case PUMICE_USC_BANK_M:
		return mask_allocated(opnd.num, limits) ? PUMICE_FAULT_NONE :
							  PUMICE_FAULT_USC_REGISTER;
	default:
		return PUMICE_FAULT_NONE;	/* the tables know every number of the others */
	}
	return opnd.num + count <= end ? PUMICE_FAULT_NONE : PUMICE_FAULT_USC_REGISTER;
}

static enum pumice_fault check_operand(const struct pumice_isa_operand *operand, u32 value,
				       const struct pumice_usc_insn *insn, u32 insns,
				       const struct usc_program_limits *limits)
{
	switch (operand->cls) {
	case PUMICE_USC_CLASS_MASK:
		return mask_allocated(value, limits) ? PUMICE_FAULT_NONE :
						       PUMICE_FAULT_USC_REGISTER;
	case PUMICE_USC_CLASS_TARGET:
		return value < insns ? PUMICE_FAULT_NONE : PUMICE_FAULT_USC_BRANCH;
	case PUMICE_USC_CLASS_REDUCE:
		/* The bitwise reductions exist for u32 only. */
		return value <= PUMICE_USC_REDUCE_MAX || insn->type == PUMICE_USC_TYPE_U32 ?
			PUMICE_FAULT_NONE : PUMICE_FAULT_USC_TYPE;
	case PUMICE_USC_CLASS_BASE:
		return check_register(value, 2, limits);
	case PUMICE_USC_CLASS_SIG:
	case PUMICE_USC_CLASS_DISP:
		return PUMICE_FAULT_NONE;
	default:
		return check_register(value, 1, limits);
	}
}

/**
 * usc_validate - unpack one instruction and say whether a wave may ever run it
 * @words: the encoded instruction
 * @insns: length of its program, for branch targets
 * @limits: registers that its tasks have
 * @insn: filled in if the result is PUMICE_FAULT_NONE
 */
enum pumice_fault usc_validate(const u32 *words, u32 insns,
			       const struct usc_program_limits *limits,
			       struct pumice_usc_insn *insn)
{
	enum pumice_fault fault = encoding_fault(pumice_usc_unpack(words, insn));
	const struct pumice_isa_op_info *op;
	const struct pumice_isa_form *form;

	if (fault != PUMICE_FAULT_NONE)
		return fault;
	op = pumice_isa_find_opcode(&pumice_usc_isa, insn->opcode);
	form = &op->form[insn->form];
	for (u32 n = 0; n < form->nr_operands; n++) {
		const struct pumice_isa_operand *operand = &form->operands[n];
		u32 value = (u32)pumice_isa_get(&pumice_usc_isa, op->layout, operand->field, words);

		fault = check_operand(operand, value, insn, insns, limits);
		if (fault != PUMICE_FAULT_NONE)
			return fault;
	}
	return PUMICE_FAULT_NONE;
}
