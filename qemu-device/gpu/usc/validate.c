// SPDX-License-Identifier: MIT
/*
 * Checks of one USC instruction, before anything else looks at it.
 *
 * Source: hw/isa.xml. Whether an encoding is legal at all is asked of the
 * generated tables (pumice_isa_check); what is added here depends on the
 * allocation of the task, on the length of the program, and on what this engine
 * implements.
 *
 * Limits: where an index register leads is known only when the instruction runs;
 * here the register without it must exist.
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
	case PUMICE_USC_BANK_SL:
		return limits->slot_regs;
	case PUMICE_USC_BANK_I:
		return PUMICE_USC_OWN_REGS - limits->slot_regs;
	default:
		return 0;
	}
}

/* A register operand against the allocation; count registers from its number on. */
static enum pumice_fault check_register(u32 raw, u32 count, const struct usc_program_limits *limits)
{
	struct pumice_usc_operand opnd;
	bool ok;

	pumice_usc_operand_unpack(&raw, &opnd);
	switch (opnd.bank) {
	case PUMICE_USC_BANK_R:
	case PUMICE_USC_BANK_V:
	case PUMICE_USC_BANK_SH:
	case PUMICE_USC_BANK_CF:
	case PUMICE_USC_BANK_SL:
	case PUMICE_USC_BANK_I:
		ok = opnd.num + count <= usc_bank_registers(opnd.bank, limits);
		break;
	case PUMICE_USC_BANK_M:
		ok = mask_allocated(opnd.num, limits);
		break;
	default:
		ok = true;	/* the tables know every number of the others */
	}
	return ok ? PUMICE_FAULT_NONE : PUMICE_FAULT_USC_REGISTER;
}

/* Consecutive registers that memory is loaded to or stored from. */
static u32 data_registers(const struct pumice_usc_insn *insn, u32 field)
{
	switch (insn->opcode) {
	case PUMICE_USC_OP_LOCAL_LOAD64:
	case PUMICE_USC_OP_LOCAL_STORE64:
	case PUMICE_USC_OP_GLOBAL_LOAD64:
	case PUMICE_USC_OP_GLOBAL_STORE64:
		return 2;
	case PUMICE_USC_OP_LOCAL_LOAD128:
	case PUMICE_USC_OP_LOCAL_STORE128:
	case PUMICE_USC_OP_GLOBAL_LOAD128:
	case PUMICE_USC_OP_GLOBAL_STORE128:
		return 4;
	case PUMICE_USC_OP_LOCAL_ATOMIC:
	case PUMICE_USC_OP_GLOBAL_ATOMIC:
		/* The value to compare with stands behind the new one. */
		return field == PUMICE_USC_FIELD_SRC1 &&
		       insn->func == PUMICE_USC_ATOMIC_CMPXCHG ? 2 : 1;
	case PUMICE_USC_OP_BURST_LOAD:
	case PUMICE_USC_OP_BURST_STORE:
		return insn->words <= PUMICE_USC_BURST_WORDS ? insn->words : 1;
	default:
		return 1;
	}
}

/* Sums exist for every type, the lesser and the greater for integers, the rest for u32. */
static bool atomic_exists(u32 func, u32 type)
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

static enum pumice_fault check_words(u32 words, u32 most)
{
	return words && words <= most ? PUMICE_FAULT_NONE : PUMICE_FAULT_USC_BURST;
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
	case PUMICE_USC_CLASS_ATOMIC:
		return atomic_exists(value, insn->type) ? PUMICE_FAULT_NONE :
							  PUMICE_FAULT_USC_TYPE;
	case PUMICE_USC_CLASS_WORDS:
		return check_words(value, PUMICE_USC_BURST_WORDS);
	case PUMICE_USC_CLASS_COPYWORDS:
		return check_words(value, PUMICE_USC_COPY_WORDS);
	case PUMICE_USC_CLASS_DCWORDS:
		return check_words(value, PUMICE_USC_MAX_DC);
	case PUMICE_USC_CLASS_BASE:
		return check_register(value, 2, limits);
	case PUMICE_USC_CLASS_VDATA:
		return check_register(value, data_registers(insn, operand->field), limits);
	case PUMICE_USC_CLASS_SIG:
	case PUMICE_USC_CLASS_DISP:
	case PUMICE_USC_CLASS_SCOPE:
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
	if (insn->opcode >= PUMICE_USC_OP_UVSW)
		return PUMICE_FAULT_USC_STAGE;
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
