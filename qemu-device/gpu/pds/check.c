// SPDX-License-Identifier: MIT
/*
 * Valid operands of PDS instructions, by stage.
 *
 * Source: hw/isa.xml, isa "pds". Compute programs have ldi, mov and dma of every bank; vertex
 * programs ldi of SH and V, dma of every bank, attr and fetch; fragment programs ldi of SH and V,
 * dma of SH, CF and CFA, coeff, iterate and texture; programs of whole tiles and of rays ldi of SH
 * and V, and dma of SH, CF and CFA. Each has its own sources of mov.
 */
#include "../usc/gfx.h"
#include "check.h"

#define BURST_WORDS	PUMICE_USC_MAX_SHARED	/* longest burst: the largest bank */
#define ATTR_REGS	4u	/* registers that attr and texture write */
#define PLANE_REGS	3u	/* A, B, C */
#define STATE_BYTES	48u	/* a texture structure and a sampler structure */

static const u64 va_end = 1ull << PUMICE_MMU_VA_BITS;

/* Registers that a bank has in this allocation. */
static u32 bank_size(const struct pds_program_limits *limits, u32 bank)
{
	switch ((enum pumice_pds_bank)bank) {
	case PUMICE_PDS_BANK_V:
		return limits->attrs;
	case PUMICE_PDS_BANK_CF:
		return limits->coeffs;
	case PUMICE_PDS_BANK_CFA:
		return limits->coeffs_alt;
	case PUMICE_PDS_BANK_SH:
		return limits->shared;
	}
	return 0;
}

/* A program that generates rays has only their numbers. */
static bool stage_has_ray_source(u32 stage, u32 source)
{
	return stage == USC_STAGE_HIT ||
	       (stage == USC_STAGE_RAYS && source < PUMICE_PDS_SOURCE_RAY_ORIGIN_X);
}

static bool stage_has_source(u32 stage, u32 source)
{
	switch ((enum pumice_pds_source)source) {
	case PUMICE_PDS_SOURCE_VERTEX:
	case PUMICE_PDS_SOURCE_INSTANCE:
		return stage == USC_STAGE_VERTEX;
	case PUMICE_PDS_SOURCE_FRAG_X:
	case PUMICE_PDS_SOURCE_FRAG_Y:
	case PUMICE_PDS_SOURCE_SAMPLE:
		return stage == USC_STAGE_FRAGMENT || stage == USC_STAGE_TILE;
	case PUMICE_PDS_SOURCE_FRAG_Z:
	case PUMICE_PDS_SOURCE_FRAG_W:
	case PUMICE_PDS_SOURCE_FRONT:
	case PUMICE_PDS_SOURCE_COVERAGE:
		return stage == USC_STAGE_FRAGMENT;
	default:
		if (source >= PUMICE_PDS_SOURCE_RAY_INDEX)
			return stage_has_ray_source(stage, source);
		return stage == USC_STAGE_COMPUTE;
	}
}

static bool stage_has_op(u32 stage, enum pumice_pds_op op)
{
	switch (op) {
	case PUMICE_PDS_OP_ATTR:
	case PUMICE_PDS_OP_FETCH:
		return stage == USC_STAGE_VERTEX;
	case PUMICE_PDS_OP_COEFF:
	case PUMICE_PDS_OP_ITERATE:
	case PUMICE_PDS_OP_TEXTURE:
		return stage == USC_STAGE_FRAGMENT;
	default:
		return true;
	}
}

/* Return whether ldi or dma may write a bank. */
static bool stage_writes_bank(u32 stage, enum pumice_pds_op op, u32 bank)
{
	if (stage == USC_STAGE_COMPUTE || bank == PUMICE_PDS_BANK_SH)
		return true;
	if (pds_bank_is_coeffs(bank))
		return op == PUMICE_PDS_OP_DMA;
	return bank == PUMICE_PDS_BANK_V &&
	       (op == PUMICE_PDS_OP_LDI || stage == USC_STAGE_VERTEX);
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

/* Check the registers of the one bank that an operation writes. */
static enum pumice_fault check_registers(const struct pumice_pds_insn *insn, u32 bank, u32 count,
					 const struct pds_program_limits *limits)
{
	if (insn->bank != bank || (u32)insn->reg + count > bank_size(limits, bank))
		return PUMICE_FAULT_PDS_REGISTER;
	return PUMICE_FAULT_NONE;
}

static bool comps_valid(u32 comps)
{
	return comps >= 1 && comps <= ATTR_REGS;
}

/* Return whether there are count varyings from first, or planes of 1/w and depth. */
static bool varyings_valid(u32 first, u32 count, const struct pds_program_limits *limits)
{
	if (first >= PDS_VARYING_RW)
		return first + count <= PDS_VARYING_DEPTH + 1;
	return first + count <= limits->varyings;
}

static enum pumice_fault check_texture(const struct pumice_pds_insn *insn,
				       const struct pds_program_limits *limits)
{
	u32 coords = pumice_usc_texture_coords(insn->dim);

	if (!coords || insn->varying >= PDS_VARYING_RW ||
	    !varyings_valid(insn->varying, coords, limits))
		return PUMICE_FAULT_PDS_SOURCE;
	if (insn->addr % 4 || insn->addr + STATE_BYTES > va_end)
		return PUMICE_FAULT_PDS_DMA;
	return check_registers(insn, PUMICE_PDS_BANK_V, ATTR_REGS, limits);
}

static enum pumice_fault check_mov(const struct pumice_pds_insn *insn,
				   const struct pds_program_limits *limits)
{
	if (!stage_has_source(limits->stage, insn->source))
		return PUMICE_FAULT_PDS_STAGE;
	if (insn->bank != PUMICE_PDS_BANK_V && pds_source_per_instance(insn->source))
		return PUMICE_FAULT_PDS_SOURCE;
	return insn->reg < bank_size(limits, insn->bank) ? PUMICE_FAULT_NONE :
							   PUMICE_FAULT_PDS_REGISTER;
}

enum pumice_fault pds_check_operands(const struct pumice_pds_insn *insn,
				     const struct pds_program_limits *limits)
{
	const enum pumice_pds_op op = (enum pumice_pds_op)insn->opcode;
	u32 bank;

	if (!stage_has_op(limits->stage, op))
		return PUMICE_FAULT_PDS_STAGE;
	switch (op) {
	case PUMICE_PDS_OP_MOV:
		return check_mov(insn, limits);
	case PUMICE_PDS_OP_LDI:
		if (!stage_writes_bank(limits->stage, op, insn->bank))
			return PUMICE_FAULT_PDS_STAGE;
		return insn->reg < bank_size(limits, insn->bank) ? PUMICE_FAULT_NONE :
								   PUMICE_FAULT_PDS_REGISTER;
	case PUMICE_PDS_OP_DMA:
		if (!stage_writes_bank(limits->stage, op, insn->bank))
			return PUMICE_FAULT_PDS_STAGE;
		return check_dma(insn, limits);
	case PUMICE_PDS_OP_ATTR:
		if (!comps_valid(insn->comps))
			return PUMICE_FAULT_PDS_SOURCE;
		return check_registers(insn, PUMICE_PDS_BANK_V, ATTR_REGS, limits);
	case PUMICE_PDS_OP_FETCH:
		if (insn->attribute >= limits->attributes)
			return PUMICE_FAULT_PDS_SOURCE;
		return check_registers(insn, PUMICE_PDS_BANK_V, ATTR_REGS, limits);
	case PUMICE_PDS_OP_COEFF:
		if (!comps_valid(insn->comps) ||
		    !varyings_valid(insn->varying, insn->comps, limits))
			return PUMICE_FAULT_PDS_SOURCE;
		bank = insn->bank == PUMICE_PDS_BANK_CFA ? PUMICE_PDS_BANK_CFA : PUMICE_PDS_BANK_CF;
		return check_registers(insn, bank, PLANE_REGS * insn->comps, limits);
	case PUMICE_PDS_OP_ITERATE:
		if (!comps_valid(insn->comps) ||
		    !varyings_valid(insn->varying, insn->comps, limits))
			return PUMICE_FAULT_PDS_SOURCE;
		return check_registers(insn, PUMICE_PDS_BANK_V, insn->comps, limits);
	case PUMICE_PDS_OP_TEXTURE:
		return check_texture(insn, limits);
	case PUMICE_PDS_OP_TASK:
	case PUMICE_PDS_OP_END:
		return PUMICE_FAULT_NONE;
	}
	return PUMICE_FAULT_PDS_OPCODE;
}
