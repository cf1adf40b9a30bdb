// SPDX-License-Identifier: MIT
/*
 * Random USC programs: operations of graphics. See gen.h.
 */
#include "gen_state.h"

#include "gfx.h"

#define TRIES 20u	/* for adjacent registers without a pending load */

/* The first of some adjacent registers in R or V; false if no attempt found any. */
static bool rows(struct gen *g, u32 count, u32 *raw)
{
	for (u32 t = 0; t < TRIES; t++) {
		bool attr = gen_below(g->rng, 3) == 0, busy = false;
		u32 have = attr ? g->out->limits.attrs : g->temps, first;

		if (have < count)
			continue;
		first = gen_below(g->rng, have - count + 1);
		for (u32 n = 0; !attr && n < count; n++)
			busy |= gen_is_busy(g, first + n);
		if (busy)
			continue;
		*raw = attr ? V(first) : R(first);
		return true;
	}
	return false;
}

/* Let each lane select planes up to the last one at the register last, or not. */
static u32 index_planes(struct gen *g, u32 raw, u32 last, u32 dim, u32 which)
{
	struct pumice_usc_operand v;
	u32 most;

	pumice_usc_operand_unpack(&raw, &v);
	most = (last - v.num) >> dim;
	if (gen_below(g->rng, 2))
		return raw;
	gen_emit(g, INSN(MIN, .dst = usc_operand(PUMICE_USC_BANK_IDX, which, false),
			 .src0 = R(gen_temp(g)), .src1 = IMM, .imm = most));
	v.idx = which + 1;
	pumice_usc_operand_pack(&raw, &v);
	return raw;
}

static void emit_itr(struct gen *g)
{
	struct pumice_usc_insn insn = INSN(ITR, .dim = (u8)gen_below(g->rng, PUMICE_USC_DIM_COUNT));
	const struct usc_program_limits *limits = &g->out->limits;
	const bool alternate = gen_below(g->rng, 2), rw_alternate = gen_below(g->rng, 2);
	u32 coeffs = alternate ? limits->coeffs_alt : limits->coeffs;
	u32 most = coeffs / 3 < 4 ? coeffs / 3 : 4;

	insn.comps = (u8)(1 + gen_below(g->rng, most));
	insn.func = (u8)gen_below(g->rng, PUMICE_USC_ITERATE_COUNT);
	insn.src0 = usc_operand(alternate ? PUMICE_USC_BANK_CFA : PUMICE_USC_BANK_CF,
				gen_below(g->rng, coeffs - 3u * insn.comps + 1), false);
	if (insn.func == PUMICE_USC_ITERATE_PERSPECTIVE ||
	    insn.func == PUMICE_USC_ITERATE_PERSPECTIVE_CENTROID)
		insn.src1 = rw_alternate ?
			usc_operand(PUMICE_USC_BANK_CFA, gen_below(g->rng, limits->coeffs_alt - 2),
				    false) :
			usc_operand(PUMICE_USC_BANK_CF, gen_below(g->rng, limits->coeffs - 2),
				    false);
	if (!rows(g, insn.comps, &insn.dst))
		return;
	insn.src0 = index_planes(g, insn.src0, coeffs - 3u * insn.comps, insn.dim, 0);
	if (insn.src1)
		insn.src1 = index_planes(g, insn.src1, (rw_alternate ? limits->coeffs_alt :
								       limits->coeffs) - 3,
					 insn.dim, 1);
	gen_clear_dim(&insn);
	gen_emit(g, insn);
}

/* Sometimes give a texture read a signal, if its registers, indexed or not, are temporaries. */
static void make_async(struct gen *g, struct pumice_usc_insn *insn, u32 count)
{
	const u32 signal = gen_below(g->rng, PUMICE_USC_SIGNALS);
	struct pumice_usc_operand dst;

	pumice_usc_operand_unpack(&insn->dst, &dst);
	if (dst.bank != PUMICE_USC_BANK_R || dst.num < GEN_UNLOADED || gen_below(g->rng, 2))
		return;
	insn->async = (u8)(PUMICE_USC_ASYNC_SIG0 + signal);
	gen_load_begins(g, signal, dst.num, count);
}

static void emit_texture(struct gen *g)
{
	struct pumice_usc_insn insn = { .dim = (u8)gen_below(g->rng, 3) };
	const struct pumice_isa_op_info *op;
	u32 extra, more;

	insn.opcode = (u8)(PUMICE_USC_OP_SAMPLE +
			   gen_below(g->rng, PUMICE_USC_OP_QUERY_LOD - PUMICE_USC_OP_SAMPLE + 1));
	op = pumice_isa_find_opcode(&pumice_usc_isa, insn.opcode);
	do {
		insn.type = (u8)gen_below(g->rng, PUMICE_USC_TYPE_COUNT);
	} while (!(op->types >> insn.type & 1));
	do {
		insn.func = (u8)gen_below(g->rng, PUMICE_TEXTURE_DIM_COUNT);
	} while (!pumice_usc_texture_exists(insn.opcode, insn.func));
	if (insn.opcode == PUMICE_USC_OP_GATHER)
		insn.comp = (u8)gen_below(g->rng, 4);
	insn.src2 = SH(gen_below(g->rng, g->out->limits.shared - 12 + 1));
	extra = pumice_usc_texture_extra(insn.opcode, insn.func);
	more = gen_index_choice(g, &insn);
	if (!rows(g, 4 + more, &insn.dst) ||
	    !rows(g, pumice_usc_texture_coords(insn.func) + more, &insn.src0))
		return;
	if (extra && gen_below(g->rng, 4) && !rows(g, extra + more, &insn.src1))
		return;
	insn.src2 = gen_index_constant(g, &insn, insn.src2, 1);
	if (more && insn.src1 && gen_below(g->rng, 2))
		insn.src1 = gen_index_lanes(g, insn.src1, more, 0);
	else if (more && gen_below(g->rng, 2))
		insn.dst = gen_index_lanes(g, insn.dst, more, 0);
	else
		insn.src0 = gen_index_lanes(g, insn.src0, more, 0);
	gen_clear_dim(&insn);
	make_async(g, &insn, 4 + more);
	gen_emit(g, insn);
}

static u32 any_value(struct gen *g, u32 class)
{
	return gen_operand(g, &pumice_usc_isa.classes[class], false);
}

static void emit_fragment(struct gen *g)
{
	switch (gen_below(g->rng, 8)) {
	case 0:
		gen_emit(g, INSN(DISCARD, .mask = (u16)gen_mask(g)));
		break;
	case 1:
		gen_emit(g, INSN(DEPTH, .type = F32, .src0 = R(gen_temp(g))));
		break;
	default:
		emit_itr(g);
	}
}

/* Write an output by some operation; most often a plain copy, with or without a mask. */
static void emit_output(struct gen *g)
{
	struct pumice_usc_insn insn = INSN(MOV, .mask = (u16)gen_mask(g));

	insn.dst = usc_operand(PUMICE_USC_BANK_O, gen_below(g->rng, g->out->limits.outputs), false);
	insn.src0 = any_value(g, PUMICE_USC_CLASS_DIST);
	if (insn.src0 == IMM)
		insn.imm = gen_word(g->rng);
	gen_emit(g, insn);
}

void gen_gfx(struct gen *g)
{
	u32 stage = g->out->limits.stage;

	if (gen_below(g->rng, 4) == 0)
		emit_texture(g);
	else if (stage == USC_STAGE_VERTEX)
		gen_uvsw(g);
	else if (stage == USC_STAGE_FRAGMENT && gen_below(g->rng, 2))
		emit_fragment(g);
	else
		emit_output(g);
}
