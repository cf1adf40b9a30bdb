// SPDX-License-Identifier: MIT
/*
 * Random USC programs: operands, and operations without memory, signals or
 * control flow. See gen.h.
 *
 * Before an operand that an index register selects, that register is set to a value for
 * which the operand is a permitted register.
 */
#include "gen_state.h"

#include "gfx.h"

#include <string.h>

/* Mask registers: constants 0 to 11 and the first 16 temporaries. */
static u32 select_mask_register(struct gen *g)
{
	u32 temps = g->temps < 16 ? g->temps : 16, temp;

	if (gen_below(g->rng, 2))
		return gen_below(g->rng, PUMICE_USC_K_ALO8 + 1);
	do {
		temp = gen_below(g->rng, temps);
	} while (gen_is_busy(g, temp));
	return MASK_R(temp);
}

u32 gen_mask(struct gen *g)
{
	if (gen_below(g->rng, 4) == 0)
		return ALWAYS;
	return usc_double_mask(select_mask_register(g), gen_below(g->rng, 2),
			       select_mask_register(g), gen_below(g->rng, 2));
}

/* Return whether a slot register of the program has the number of this offset register. */
static bool names_slot(const struct gen *g, u32 number)
{
	return number > PUMICE_USC_SR_SR43 - g->out->limits.slot_regs &&
		number <= PUMICE_USC_SR_SR43;
}

static bool special_allowed(const struct gen *g, const struct pumice_isa_class *class,
			    const struct pumice_isa_special *special)
{
	if (class->special == PUMICE_ISA_SPECIAL_RO)
		return !special->writable;
	if (class->special == PUMICE_ISA_SPECIAL_ANY)
		return true;
	/* The destination: no slot register in scalar forms. */
	return special->writable &&
	       (!names_slot(g, special->number) || class->full >> PUMICE_USC_BANK_SL & 1);
}

/*
 * Return whether programs of the stage have a uniform stream, and it has words for one more read.
 */
static bool take_uniform(struct gen *g)
{
	const u32 stage = g->out->limits.stage;

	if ((stage != USC_STAGE_VERTEX && stage != USC_STAGE_FRAGMENT) ||
	    g->out->uniforms + g->times > GEN_UNIFORMS)
		return false;
	g->out->uniforms += g->times;
	return true;
}

static u32 select_special(struct gen *g, const struct pumice_isa_class *class, u32 bank)
{
	const struct pumice_isa_special *special;

	do {
		special = &pumice_usc_isa.specials[gen_below(g->rng, pumice_usc_isa.nr_specials)];
	} while (special->bank != bank ||
		 (bank == PUMICE_USC_BANK_SR && !special_allowed(g, class, special)) ||
		 (bank == PUMICE_USC_BANK_SR && special->number == PUMICE_USC_SR_UNIFORM &&
		  !take_uniform(g)));
	return special->number;
}

/* The indices of one instruction: those of index register n are below size[n], a power of two. */
struct indices {
	u32 dim;	/* log2 of the dimension */
	u32 size[PUMICE_USC_INDEX_REGS];
	bool used[PUMICE_USC_INDEX_REGS];
	u32 dc_words;	/* window for dynamic constants; 0 if none are used */
};

/* Registers of a bank for random code: from first on, count of them. False if there are none. */
static bool bank_range(const struct gen *g, u32 bank, bool written, u32 *first, u32 *count)
{
	const struct usc_program_limits *limits = &g->out->limits;

	*first = 0;
	switch (bank) {
	case PUMICE_USC_BANK_R:
		*count = g->temps;
		return true;
	case PUMICE_USC_BANK_V:
		*count = limits->attrs;
		break;
	case PUMICE_USC_BANK_SH:
		*first = GEN_SH_FREE;
		*count = limits->shared - GEN_SH_FREE;
		break;
	case PUMICE_USC_BANK_CF:
		*count = limits->coeffs;
		break;
	case PUMICE_USC_BANK_CFA:
		*count = limits->coeffs_alt;
		break;
	case PUMICE_USC_BANK_SL:
		*count = limits->slot_regs;
		break;
	case PUMICE_USC_BANK_O:
		*count = limits->outputs;
		return *count > 0;
	case PUMICE_USC_BANK_VO:
		*count = limits->vo;
		return true;
	case PUMICE_USC_BANK_I:
		*count = PUMICE_USC_OWN_REGS - limits->slot_regs;
		return *count > 0;
	case PUMICE_USC_BANK_IDX:
		*count = PUMICE_USC_INDEX_REGS;
		return true;
	default:
		return false;
	}
	/* Words of the common store that waves share are written by one wave only. */
	return *count > 0 && (!written || g->write_shared || bank == PUMICE_USC_BANK_V ||
			      bank == PUMICE_USC_BANK_SL);
}

/* The number of a register in a bank; false if the bank has none that may be used. */
static bool select_number(struct gen *g, const struct pumice_isa_class *class, u32 bank,
			  bool written, u32 *num)
{
	u32 first, count;

	switch (bank) {
	case PUMICE_USC_BANK_R:
		*num = gen_temp(g);
		return true;
	case PUMICE_USC_BANK_M:
		*num = gen_mask(g);
		return true;
	case PUMICE_USC_BANK_K:
	case PUMICE_USC_BANK_SC:
	case PUMICE_USC_BANK_SR:
		if (bank == PUMICE_USC_BANK_SR && class->special == PUMICE_ISA_SPECIAL_RW &&
		    !(class->full >> PUMICE_USC_BANK_SL & 1) && g->out->limits.slot_regs == 8)
			return false;
		*num = select_special(g, class, bank);
		return true;
	case PUMICE_USC_BANK_IMM:
		*num = 0;
		return true;
	default:
		if (!bank_range(g, bank, written, &first, &count))
			return false;
		*num = first + gen_below(g->rng, count);
		return true;
	}
}

/* A number for which every index selects a permitted register; false if no attempt found one. */
static bool select_indexed(struct gen *g, struct indices *x, u32 bank, bool written, u32 which,
			   u32 *num)
{
	u32 span = (x->size[which] - 1) << x->dim, first = 0, count;

	if (bank == PUMICE_USC_BANK_DC)
		count = x->dc_words = 1 + span + gen_below(g->rng, 64);
	else if (bank == PUMICE_USC_BANK_I || bank == PUMICE_USC_BANK_IDX ||
		 bank == PUMICE_USC_BANK_SL || !bank_range(g, bank, written, &first, &count) ||
		 count <= span)
		return false;
	*num = first + gen_below(g->rng, count - span);
	for (u32 n = 0; bank == PUMICE_USC_BANK_R && n < x->size[which]; n++) {
		if (gen_is_busy(g, *num + (n << x->dim)))
			return false;
	}
	x->used[which] = true;
	return true;
}

static u32 with_index(u32 bank, u32 num, bool elem, u32 which)
{
	const struct pumice_usc_operand v = {
		.bank = bank, .num = (u16)num, .elem = elem, .idx = which + 1,
	};
	u32 raw;

	pumice_usc_operand_pack(&raw, &v);
	return raw;
}

static u32 add_index(u32 raw, u32 before, u32 which)
{
	struct pumice_usc_operand v;

	pumice_usc_operand_unpack(&raw, &v);
	v.num = (u16)(v.num - before);
	v.idx = which + 1;
	pumice_usc_operand_pack(&raw, &v);
	return raw;
}

u32 gen_index_constant(struct gen *g, const struct pumice_usc_insn *insn, u32 raw, u32 which)
{
	struct pumice_usc_operand v;
	u32 index;

	pumice_usc_operand_unpack(&raw, &v);
	if (v.bank == PUMICE_USC_BANK_NONE || gen_below(g->rng, 3))
		return raw;
	index = gen_below(g->rng, (v.num >> insn->dim) + 1u);
	gen_emit(g, INSN(MOV, .dst = usc_operand(PUMICE_USC_BANK_IDX, which, false),
			 .mask = ALWAYS, .src0 = IMM, .imm = index));
	return add_index(raw, index << insn->dim, which);
}

u32 gen_index_choice(struct gen *g, const struct pumice_usc_insn *insn)
{
	return gen_below(g->rng, 3) ? 0 : 1u << insn->dim;
}

u32 gen_index_lanes(struct gen *g, u32 raw, u32 more, u32 which)
{
	if (!more)
		return raw;
	gen_emit(g, INSN(AND, .dst = usc_operand(PUMICE_USC_BANK_IDX, which, false),
			 .src0 = R(gen_temp(g)), .src1 = IMM, .imm = 1));
	return add_index(raw, 0, which);
}

void gen_clear_dim(struct pumice_usc_insn *insn)
{
	const u32 raw[] = { insn->dst, insn->src0, insn->src1, insn->src2 };

	for (u32 n = 0; n < 4; n++) {
		struct pumice_usc_operand v;

		pumice_usc_operand_unpack(&raw[n], &v);
		if (v.idx)
			return;
	}
	insn->dim = 0;
}

/* Return a random operand of a class; x is NULL where none may be indexed. */
static u32 select_operand(struct gen *g, const struct pumice_isa_class *class, bool written,
			  struct indices *x)
{
	for (;;) {
		u32 bank = gen_below(g->rng, 32), which = gen_below(g->rng, PUMICE_USC_INDEX_REGS);
		bool elem = gen_below(g->rng, 2);
		u32 num;

		if (!((elem ? class->elem : class->full) >> bank & 1))
			continue;
		bool must = !elem && class->indexed >> bank & 1;

		if (x &&
		    (bank == PUMICE_USC_BANK_DC ? !x->dc_words : must || !gen_below(g->rng, 3)) &&
		    select_indexed(g, x, bank, written, which, &num))
			return with_index(bank, num, elem, which);
		if (!must && select_number(g, class, bank, written, &num))
			return usc_operand(bank, num, elem);
	}
}

u32 gen_operand(struct gen *g, const struct pumice_isa_class *class, bool written)
{
	return select_operand(g, class, written, NULL);
}

/* The index registers, as the following instruction needs them. */
static void emit_index_registers(struct gen *g, const struct indices *x)
{
	for (u32 n = 0; n < PUMICE_USC_INDEX_REGS; n++) {
		if (x->used[n])
			gen_emit(g, INSN(AND, .dst = usc_operand(PUMICE_USC_BANK_IDX, n, false),
					 .src0 = R(gen_temp(g)), .src1 = IMM,
					 .imm = x->size[n] - 1));
	}
}

/* The same, and its dynamic constants. */
static void emit_indices(struct gen *g, const struct indices *x)
{
	emit_index_registers(g, x);
	if (x->dc_words)
		gen_emit(g, INSN(DC_WINDOW, .src2 = SH(GEN_SH_MEMORY),
				 .disp = (u16)(gen_below(g->rng, 1024) * 4),
				 .words = (u16)x->dc_words));
}

static void select_operands(struct gen *g, const struct pumice_isa_form *form,
			    struct pumice_usc_insn *insn, struct indices *x)
{
	for (u32 n = 0; n < form->nr_operands; n++) {
		const struct pumice_isa_class *class =
			&pumice_usc_isa.classes[form->operands[n].cls];

		switch (form->operands[n].field) {
		case PUMICE_USC_FIELD_DST:
			insn->dst = select_operand(g, class, true, x);
			break;
		case PUMICE_USC_FIELD_SRC0:
			insn->src0 = select_operand(g, class, false, x);
			break;
		case PUMICE_USC_FIELD_SRC1:
			insn->src1 = select_operand(g, class, false, x);
			break;
		case PUMICE_USC_FIELD_SRC2:
			insn->src2 = select_operand(g, class, false, x);
			break;
		case PUMICE_USC_FIELD_MASK:
			insn->mask = (u16)gen_mask(g);
			break;
		case PUMICE_USC_FIELD_FUNC:
			insn->func = gen_below(g->rng, insn->type == U32 ? PUMICE_USC_REDUCE_COUNT :
									PUMICE_USC_REDUCE_MAX + 1);
			break;
		}
	}
}

/* Operands that compute programs lack. */
static bool is_graphics(u32 opcode)
{
	return opcode == PUMICE_USC_OP_UVSW || opcode == PUMICE_USC_OP_DEPTH ||
	       opcode == PUMICE_USC_OP_PBE;
}

/* Emit an operation in a random form and type, with random operands. */
static void emit_op(struct gen *g, const struct pumice_isa_op_info *op)
{
	struct pumice_usc_insn insn = { 0 };
	struct indices x = { .dim = gen_below(g->rng, PUMICE_USC_DIM_COUNT) };

	do {
		insn.form = gen_below(g->rng, PUMICE_USC_FORM_COUNT);
	} while (!(op->forms >> insn.form & 1));
	do {
		insn.type = gen_below(g->rng, PUMICE_USC_TYPE_COUNT);
	} while (!(op->types >> insn.type & 1));
	insn.opcode = op->opcode;
	for (u32 n = 0; n < PUMICE_USC_INDEX_REGS; n++)
		x.size[n] = 1u << gen_below(g->rng, gen_below(g->rng, 4) ? 3 : 8);
	select_operands(g, &op->form[insn.form], &insn, &x);
	if (insn.src0 == IMM || insn.src1 == IMM || insn.src2 == IMM)
		insn.imm = gen_word(g->rng);
	if (x.used[0] || x.used[1])
		insn.dim = (u8)x.dim;
	emit_indices(g, &x);
	gen_emit(g, insn);
	/* Windows that are kept, and replaced. */
	while (x.dc_words && gen_below(g->rng, 2)) {
		emit_index_registers(g, &x);
		gen_emit(g, insn);
	}
}

void gen_alu(struct gen *g)
{
	const struct pumice_isa_op_info *op;

	do {
		op = &pumice_usc_ops[gen_below(g->rng, PUMICE_USC_OPS)];
	} while ((op->layout != PUMICE_USC_LAYOUT_ALU && op->layout != PUMICE_USC_LAYOUT_ALU3) ||
		 is_graphics(op->opcode));
	emit_op(g, op);
}

void gen_uvsw(struct gen *g)
{
	emit_op(g, pumice_isa_find_opcode(&pumice_usc_isa, PUMICE_USC_OP_UVSW));
}

void gen_product_sum(struct gen *g)
{
	u32 few[3] = { R(gen_temp(g)), R(gen_temp(g)), R(gen_temp(g)) };
	u32 product = few[gen_below(g->rng, 3)], other = few[gen_below(g->rng, 3)];
	bool first = gen_below(g->rng, 2);

	gen_emit(g, INSN(MUL, .type = F32, .dst = product, .src0 = few[gen_below(g->rng, 3)],
			 .src1 = few[gen_below(g->rng, 3)]));
	gen_emit(g, INSN(ADD, .type = F32, .dst = few[gen_below(g->rng, 3)],
			 .src0 = first ? product : other, .src1 = first ? other : product));
}

void gen_fused_sums(struct gen *g)
{
	u32 few[4] = { R(gen_temp(g)), R(gen_temp(g)), R(gen_temp(g)), R(gen_temp(g)) };
	u32 value = few[0];

	if (gen_below(g->rng, 2))
		gen_emit(g, INSN(SHUFFLE, .dst = value, .src0 = few[gen_below(g->rng, 4)],
				 .src1 = R_ELEM(gen_temp(g))));
	for (u32 n = 1 + gen_below(g->rng, 4); n; n--)
		gen_emit(g, INSN(FMA, .type = F32, .dst = few[gen_below(g->rng, 4)],
				 .src0 = gen_below(g->rng, 4) ? value : few[gen_below(g->rng, 4)],
				 .src1 = few[gen_below(g->rng, 4)],
				 .src2 = few[gen_below(g->rng, 4)]));
}
