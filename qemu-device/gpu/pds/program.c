// SPDX-License-Identifier: MIT
/*
 * PDS programs: fetch, check, decode.
 *
 * Source: hw/isa.xml, isa "pds". The encoding is checked by the generated
 * tables; here stands what depends on the launch: register numbers against the
 * allocation, sources against the bank, bursts against the address space.
 */
#include "program.h"

#define INSN_BYTES	(PUMICE_PDS_WORDS * 4u)
#define BURST_WORDS	PUMICE_USC_MAX_SHARED	/* longest burst: the largest bank */

static const u64 va_end = 1ull << PUMICE_MMU_VA_BITS;

bool pds_source_per_instance(u32 source)
{
	switch ((enum pumice_pds_source)source) {
	case PUMICE_PDS_SOURCE_LOCAL_X:
	case PUMICE_PDS_SOURCE_LOCAL_Y:
	case PUMICE_PDS_SOURCE_LOCAL_Z:
	case PUMICE_PDS_SOURCE_LOCAL_LINEAR:
	case PUMICE_PDS_SOURCE_GLOBAL_X:
	case PUMICE_PDS_SOURCE_GLOBAL_Y:
	case PUMICE_PDS_SOURCE_GLOBAL_Z:
		return true;
	default:
		return false;
	}
}

/* The fault for an encoding that the tables refuse. */
static enum pumice_fault encoding_fault(enum pumice_isa_unpack result,
					const struct pumice_pds_insn *insn)
{
	switch (result) {
	case PUMICE_ISA_UNPACK_OK:
		return PUMICE_FAULT_NONE;
	case PUMICE_ISA_UNPACK_OPCODE:
		return PUMICE_FAULT_PDS_OPCODE;
	case PUMICE_ISA_UNPACK_OPERAND:
		/* Two operands are enumerated: a bank that does not exist has no registers. */
		return pumice_pds_bank_valid(insn->bank) ? PUMICE_FAULT_PDS_SOURCE :
							   PUMICE_FAULT_PDS_REGISTER;
	default:
		return PUMICE_FAULT_PDS_RESERVED;
	}
}

/* Registers that a bank has in this allocation. */
static u32 bank_size(const struct pds_program_limits *limits, u32 bank)
{
	switch ((enum pumice_pds_bank)bank) {
	case PUMICE_PDS_BANK_V:
		return limits->attrs;
	case PUMICE_PDS_BANK_CF:
		return limits->coeffs;
	case PUMICE_PDS_BANK_SH:
		return limits->shared;
	}
	return 0;
}

static enum pumice_fault check_dma(const struct pumice_pds_insn *insn,
				   const struct pds_program_limits *limits)
{
	u32 reads = insn->bank == PUMICE_PDS_BANK_V ? limits->instances : 1;
	u64 last = insn->addr + (u64)insn->stride * (reads ? reads - 1 : 0);

	if (insn->bank != PUMICE_PDS_BANK_V && insn->stride)
		return PUMICE_FAULT_PDS_RESERVED;
	if (!insn->count || insn->count > BURST_WORDS || insn->addr % 4 ||
	    insn->stride % 4)
		return PUMICE_FAULT_PDS_DMA;
	if (last + (u64)insn->count * 4 > va_end)
		return PUMICE_FAULT_PDS_DMA;
	if ((u32)insn->reg + insn->count > bank_size(limits, insn->bank))
		return PUMICE_FAULT_PDS_REGISTER;
	return PUMICE_FAULT_NONE;
}

/* What the operands say, for an encoding that is legal. */
static enum pumice_fault check_operands(const struct pumice_pds_insn *insn,
					const struct pds_program_limits *limits)
{
	switch ((enum pumice_pds_op)insn->opcode) {
	case PUMICE_PDS_OP_MOV:
		if (insn->source >= PUMICE_PDS_SOURCE_VERTEX)
			return PUMICE_FAULT_PDS_STAGE;
		if (insn->bank != PUMICE_PDS_BANK_V && pds_source_per_instance(insn->source))
			return PUMICE_FAULT_PDS_SOURCE;
		/* fall through */
	case PUMICE_PDS_OP_LDI:
		if (insn->reg >= bank_size(limits, insn->bank))
			return PUMICE_FAULT_PDS_REGISTER;
		return PUMICE_FAULT_NONE;
	case PUMICE_PDS_OP_DMA:
		return check_dma(insn, limits);
	case PUMICE_PDS_OP_TASK:
	case PUMICE_PDS_OP_END:
		return PUMICE_FAULT_NONE;
	case PUMICE_PDS_OP_ATTR:
	case PUMICE_PDS_OP_COEFF:
	case PUMICE_PDS_OP_ITERATE:
	case PUMICE_PDS_OP_TEXTURE:
		return PUMICE_FAULT_PDS_STAGE;
	}
	return PUMICE_FAULT_PDS_OPCODE;
}

enum pumice_fault pds_decode(const u32 *dw, const struct pds_program_limits *limits,
			     struct pumice_pds_insn *out)
{
	enum pumice_fault fault = encoding_fault(pumice_pds_unpack(dw, out), out);

	return fault ? fault : check_operands(out, limits);
}

/* Decode up to end; *pc is the instruction that a fault is about. */
static enum pumice_fault load(struct pds_program *program, const u32 *words, u32 insns,
			      const struct pds_program_limits *limits, u32 *pc)
{
	bool task = false;

	for (*pc = 0; *pc < insns; ++*pc) {
		struct pumice_pds_insn *insn = &program->insn[*pc];
		enum pumice_fault fault = pds_decode(words + *pc * PUMICE_PDS_WORDS, limits, insn);

		if (fault)
			return fault;
		if (insn->opcode == PUMICE_PDS_OP_TASK) {
			if (task)
				return PUMICE_FAULT_PDS_TWO_TASKS;
			task = true;
			program->task = *pc;
		} else if (insn->opcode == PUMICE_PDS_OP_END) {
			program->insns = *pc + 1;
			return task ? PUMICE_FAULT_NONE : PUMICE_FAULT_PDS_NO_TASK;
		}
	}
	return PUMICE_FAULT_PDS_NO_END;
}

bool pds_program_load(struct pds_program *program, struct mmu *mmu, struct mmu_tlb *tlb,
		      unsigned int ctx, u64 addr, u32 insns,
		      const struct pds_program_limits *limits, struct gpu_fault *fault)
{
	u32 words[PUMICE_PDS_MAX_INSNS * PUMICE_PDS_WORDS];
	u32 pc = 0;

	*fault = (struct gpu_fault){
		.unit = PUMICE_UNIT_PDS, .access = PUMICE_ACCESS_EXEC, .ctx = (u8)ctx, .addr = addr,
	};
	if (!insns || insns > PUMICE_PDS_MAX_INSNS || addr % INSN_BYTES) {
		fault->fault = PUMICE_FAULT_PDS_ADDRESS;
		return false;
	}
	if (!mmu_read(mmu, tlb, ctx, addr, words, (u64)insns * INSN_BYTES, PUMICE_ACCESS_EXEC,
		      PUMICE_UNIT_PDS, fault)) {
		fault->pc = (u32)((fault->addr - addr) / INSN_BYTES);
		return false;
	}
	fault->fault = (u8)load(program, words, insns, limits, &pc);
	fault->pc = pc;
	fault->addr = addr + (u64)pc * INSN_BYTES;
	return fault->fault == PUMICE_FAULT_NONE;
}

u64 pds_program_words(const struct pds_program *program, u32 instances)
{
	u64 words = 0;
	u32 i;

	for (i = 0; i < program->insns; i++) {
		const struct pumice_pds_insn *insn = &program->insn[i];
		u32 count = insn->opcode == PUMICE_PDS_OP_DMA ? insn->count : 1;

		words += (u64)count * (insn->bank == PUMICE_PDS_BANK_V ? instances : 1);
	}
	return words;
}
