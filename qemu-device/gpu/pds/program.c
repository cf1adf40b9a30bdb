// SPDX-License-Identifier: MIT
/*
 * PDS programs: fetch, check, decode.
 *
 * Source: hw/isa.xml, isa "pds". The generated tables check the encoding; check.c checks the
 * rules that depend on stage and launch: register numbers against the allocation, sources
 * against the bank, bursts against the address space.
 */
#include "check.h"

#define INSN_BYTES	(PUMICE_PDS_WORDS * 4u)

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
	case PUMICE_PDS_SOURCE_VERTEX:
	case PUMICE_PDS_SOURCE_INSTANCE:
	case PUMICE_PDS_SOURCE_FRAG_X:
	case PUMICE_PDS_SOURCE_FRAG_Y:
	case PUMICE_PDS_SOURCE_FRAG_Z:
	case PUMICE_PDS_SOURCE_FRAG_W:
	case PUMICE_PDS_SOURCE_FRONT:
	case PUMICE_PDS_SOURCE_SAMPLE:
	case PUMICE_PDS_SOURCE_COVERAGE:
		return true;
	default:
		return source >= PUMICE_PDS_SOURCE_RAY_INDEX;
	}
}

/* Return the fault for an encoding that the tables refuse. */
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

/* The table is constant for the draws of a state, as the program is. */
static void resolve_fetch(const struct pumice_vdm_attribute *from, struct pumice_pds_insn *insn)
{
	*insn = (struct pumice_pds_insn){
		.opcode = PUMICE_PDS_OP_ATTR, .bank = insn->bank, .reg = insn->reg,
		.kind = from->kind, .comps = from->comps, .elements = from->elements,
		.addr = from->addr, .divisor = from->divisor, .stride = from->stride,
	};
}

enum pumice_fault pds_decode(const u32 *dw, const struct pds_program_limits *limits,
			     struct pumice_pds_insn *out)
{
	enum pumice_fault fault = encoding_fault(pumice_pds_unpack(dw, out), out);

	if (!fault)
		fault = pds_check_operands(out, limits);
	if (!fault && out->opcode == PUMICE_PDS_OP_FETCH)
		resolve_fetch(&limits->attribute[out->attribute], out);
	return fault;
}

/* Decode up to end; *pc becomes the faulting instruction. */
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

u32 pds_insn_words(const struct pumice_pds_insn *insn, u32 instances)
{
	u32 count = insn->opcode == PUMICE_PDS_OP_DMA ? insn->count :
		    insn->opcode == PUMICE_PDS_OP_ATTR ? PDS_ATTR_COMPS : 1;

	return count * (insn->bank == PUMICE_PDS_BANK_V ? instances : 1);
}

u32 pds_insn_reads(const struct pumice_pds_insn *insn, u32 instances)
{
	if (insn->opcode != PUMICE_PDS_OP_DMA)
		return 0;
	if (insn->bank != PUMICE_PDS_BANK_V)
		return 1;
	return insn->stride / 4 > insn->count ? instances :
						(instances + PUMICE_LANES - 1) / PUMICE_LANES;
}

u64 pds_program_words(const struct pds_program *program, u32 instances)
{
	u64 words = 0;
	u32 i;

	for (i = 0; i < program->insns; i++)
		words += pds_insn_words(&program->insn[i], instances);
	return words;
}

u64 pds_program_reads(const struct pds_program *program, u32 instances)
{
	u64 reads = 0;
	u32 i;

	for (i = 0; i < program->insns; i++)
		reads += pds_insn_reads(&program->insn[i], instances);
	return reads;
}

/* Return the number of varyings that an instruction reads, from insn->varying on. */
static u32 varyings_of(const struct pumice_pds_insn *insn)
{
	switch ((enum pumice_pds_op)insn->opcode) {
	case PUMICE_PDS_OP_COEFF:
	case PUMICE_PDS_OP_ITERATE:
		return insn->comps;
	case PUMICE_PDS_OP_TEXTURE:
		return pumice_usc_texture_coords(insn->dim);
	default:
		return 0;
	}
}

u64 pds_program_varyings(const struct pds_program *program)
{
	u64 varyings = 0;
	u32 i;

	for (i = 0; i < program->insns; i++) {
		const struct pumice_pds_insn *insn = &program->insn[i];

		/* Numbers from PDS_VARYING_RW on are planes that every primitive has. */
		if (insn->varying < PDS_VARYING_RW)
			varyings |= ((1ull << varyings_of(insn)) - 1) << insn->varying;
	}
	return varyings;
}

static bool reads_depth(const struct pumice_pds_insn *insn)
{
	if (insn->opcode == PUMICE_PDS_OP_MOV)
		return insn->source == PUMICE_PDS_SOURCE_FRAG_Z;
	return insn->varying + varyings_of(insn) > PDS_VARYING_DEPTH;
}

bool pds_program_reads_depth(const struct pds_program *program)
{
	u32 i;

	for (i = 0; i < program->insns; i++)
		if (reads_depth(&program->insn[i]))
			return true;
	return false;
}
