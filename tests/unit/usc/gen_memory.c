// SPDX-License-Identifier: MIT
/*
 * Random USC programs: memory. See gen.h.
 */
#include "gen_state.h"

#define WIDTHS 5u	/* 8, 16, 32, 64, 128 bits */

static const enum pumice_usc_op local_load[WIDTHS] = {
	PUMICE_USC_OP_LOCAL_LOAD8, PUMICE_USC_OP_LOCAL_LOAD16, PUMICE_USC_OP_LOCAL_LOAD32,
	PUMICE_USC_OP_LOCAL_LOAD64, PUMICE_USC_OP_LOCAL_LOAD128,
};
static const enum pumice_usc_op local_store[WIDTHS] = {
	PUMICE_USC_OP_LOCAL_STORE8, PUMICE_USC_OP_LOCAL_STORE16, PUMICE_USC_OP_LOCAL_STORE32,
	PUMICE_USC_OP_LOCAL_STORE64, PUMICE_USC_OP_LOCAL_STORE128,
};
static const enum pumice_usc_op global_load[WIDTHS] = {
	PUMICE_USC_OP_GLOBAL_LOAD8, PUMICE_USC_OP_GLOBAL_LOAD16, PUMICE_USC_OP_GLOBAL_LOAD32,
	PUMICE_USC_OP_GLOBAL_LOAD64, PUMICE_USC_OP_GLOBAL_LOAD128,
};
static const enum pumice_usc_op global_store[WIDTHS] = {
	PUMICE_USC_OP_GLOBAL_STORE8, PUMICE_USC_OP_GLOBAL_STORE16, PUMICE_USC_OP_GLOBAL_STORE32,
	PUMICE_USC_OP_GLOBAL_STORE64, PUMICE_USC_OP_GLOBAL_STORE128,
};

/* Words that one access moves in each lane. */
struct shape {
	u32 bytes, regs, align;
};

static struct shape shape_of_width(u32 width)
{
	u32 bytes = 1u << width;

	return (struct shape){ bytes, bytes > 4 ? bytes / 4 : 1, bytes < 4 ? bytes : 4 };
}

/* The same for accesses at word addresses, of words. */
static const enum pumice_usc_op local_load_words[WIDTHS] = {
	[2] = PUMICE_USC_OP_LOCAL_LOAD32W, PUMICE_USC_OP_LOCAL_LOAD64W,
	PUMICE_USC_OP_LOCAL_LOAD128W,
};
static const enum pumice_usc_op local_store_words[WIDTHS] = {
	[2] = PUMICE_USC_OP_LOCAL_STORE32W, PUMICE_USC_OP_LOCAL_STORE64W,
	PUMICE_USC_OP_LOCAL_STORE128W,
};

/*
 * Sometimes replace an access to local memory by one at word addresses, which are computed first.
 * Only once for an address.
 */
static bool in_words(struct gen *g, u32 width)
{
	u32 addr = R(gen_keep(g, KEEP_ADDR));

	if (width < 2 || gen_below(g->rng, 3))
		return false;
	gen_emit(g, INSN(SHR, .dst = addr, .src0 = addr, .src1 = IMM, .imm = 2));
	return true;
}

static struct shape shape_of_words(u32 words)
{
	return (struct shape){ words * 4, words, 4 };
}

/*
 * The first of count temporaries from lowest on, none with a
 * load under way; false if it found none.
 */
static bool select_span(struct gen *g, u32 lowest, u32 count, u32 *start)
{
	if (lowest + count > g->temps)
		return false;
	*start = lowest + gen_below(g->rng, g->temps - lowest - count + 1);
	for (u32 n = 0; n < count; n++) {
		if (gen_is_busy(g, *start + n))
			return false;
	}
	return true;
}

/*
 * Byte offsets in the temporary KEEP_ADDR, all of whose accesses end below size,
 * a power of two, and a displacement: random, or a few lanes per address, or
 * consecutive lanes.
 */
static void emit_offsets(struct gen *g, u32 size, u32 part, const struct shape *s)
{
	u32 a = gen_keep(g, KEEP_ADDR), most = size - PUMICE_LANES * s->bytes;
	u32 bits = (size - 1) & ~(s->align - 1);

	switch (gen_below(g->rng, 4)) {
	case 0:
	case 1:
		gen_emit(g,
			 INSN(AND, .dst = R(a), .src0 = R(gen_temp(g)), .src1 = IMM, .imm = bits));
		break;
	case 2:
		gen_emit(g, INSN(SHL, .dst = R(a), .src0 = K(SID), .src1 = IMM,
				 .imm = gen_below(g->rng, 5)));
		gen_emit(g, INSN(ADD, .dst = R(a), .src0 = R(a), .src1 = IMM,
				 .imm = gen_below(g->rng, size)));
		gen_emit(g, INSN(AND, .dst = R(a), .src0 = R(a), .src1 = IMM, .imm = bits));
		break;
	default:
		gen_emit(g, INSN(MUL, .dst = R(a), .src0 = K(SID), .src1 = IMM, .imm = s->bytes));
		gen_emit(g, INSN(ADD, .dst = R(a), .src0 = R(a), .src1 = IMM,
				 .imm = gen_below(g->rng, most + 1) & bits));
	}
	if (part)
		gen_emit(g, INSN(ADD, .dst = R(a), .src0 = R(a), .src1 = R_ELEM(part)));
}

static u32 extension(struct gen *g, const struct shape *s)
{
	return s->bytes < 4 && gen_below(g->rng, 2) ? I32 : U32;
}

/* Select an atomic operation that exists. */
static void select_atomic(struct gen *g, struct pumice_usc_insn *insn)
{
	insn->func = gen_below(g->rng, PUMICE_USC_ATOMIC_COUNT);
	insn->type = insn->func == PUMICE_USC_ATOMIC_ADD ? gen_below(g->rng, F32 + 1) :
		     insn->func <= PUMICE_USC_ATOMIC_MAX ? gen_below(g->rng, I32 + 1) : U32;
}

/* On the wave's own memory, at KEEP_ADDR; sometimes with the present value to compare with. */
static void emit_local_atomic(struct gen *g, u16 disp)
{
	struct pumice_usc_insn insn = INSN(LOCAL_ATOMIC, .dst = R(gen_temp(g)),
					   .mask = (u16)gen_mask(g),
					   .src0 = R(gen_keep(g, KEEP_ADDR)), .disp = disp);
	u32 value;

	if (!select_span(g, 0, 2, &value))
		return;
	if (gen_below(g->rng, 2))
		gen_emit(g, INSN(LOCAL_LOAD32, .dst = R(value + 1), .mask = ALWAYS,
				 .src0 = insn.src0, .disp = disp));
	select_atomic(g, &insn);
	insn.src1 = R(value);
	gen_emit(g, insn);
}

void gen_local(struct gen *g)
{
	u32 addr = R(gen_keep(g, KEEP_ADDR)), width = gen_below(g->rng, WIDTHS), start;
	bool write = !g->read_phase && gen_below(g->rng, 2);
	struct shape s = shape_of_width(width);
	u32 disp = gen_below(g->rng, 64 / s.align) * s.align;

	/* Reading phase: local memory is twice the waves' own parts. */
	emit_offsets(g, GEN_LOCAL_WAVE_BYTES / 2, g->read_phase ? 0 : gen_keep(g, KEEP_LOCAL), &s);
	if (write && s.align == 4 && gen_below(g->rng, 2)) {
		emit_local_atomic(g, (u16)(disp & ~3u));
	} else if (write) {
		bool words;

		if (!select_span(g, 0, s.regs, &start))
			return;
		words = in_words(g, width);
		disp /= words ? 4 : 1;
		gen_emit(g, (struct pumice_usc_insn){
			.opcode = words ? local_store_words[width] : local_store[width],
			.mask = (u16)gen_mask(g), .src0 = addr,
			.disp = (u16)disp,
			.src1 = s.regs > 1 ? R(start) :
				gen_operand(g, &pumice_usc_isa.classes[PUMICE_USC_CLASS_VVAL],
					    false),
		});
	} else {
		bool words = in_words(g, width);
		u32 unit = words ? 4 : 1;

		for (u32 n = 1 + gen_below(g->rng, 3); n; n--) {
			struct pumice_usc_insn insn = {
				.opcode = words ? local_load_words[width] : local_load[width],
				.type = extension(g, &s),
				.mask = (u16)(gen_below(g->rng, 2) ? gen_mask(g) : ALWAYS),
				.disp = (u16)((disp + n * s.align) / unit),
				.dim = (u8)gen_below(g->rng, 3),
			};
			u32 more = gen_index_choice(g, &insn);

			if (!select_span(g, 0, s.regs + more, &start))
				continue;
			insn.dst = gen_index_lanes(g, R(start), more, 0);
			if (more && s.bytes == 4 && g->write_shared &&
			    g->out->limits.shared > GEN_SH_FREE + more && gen_below(g->rng, 2))
				insn.dst = gen_index_lanes(g, SH(GEN_SH_FREE), more, 0);
			insn.src0 = gen_index_constant(g, &insn, addr, 1);
			gen_clear_dim(&insn);
			gen_emit(g, insn);
		}
	}
}

/*
 * Return the base operand: shared registers, elements of temporaries, or none and the base in the
 * offset.
 */
static u32 select_base(struct gen *g)
{
	u32 addr = R(gen_keep(g, KEEP_ADDR));

	switch (gen_below(g->rng, 3)) {
	case 0:
		gen_emit(g, INSN(ADD, .dst = addr, .src0 = addr, .src1 = SH(GEN_SH_MEMORY)));
		return usc_operand(PUMICE_USC_BANK_NONE, 0, false);
	case 1:
		return R_ELEM(gen_keep(g, KEEP_BASE));
	default:
		return SH(GEN_SH_MEMORY);
	}
}

/*
 * The instruction loads some of count registers from dst on: they are busy until the signal is
 * done. The others are indexed.
 */
static void emit_load(struct gen *g, struct pumice_usc_insn insn, u32 dst, u32 count, u32 more)
{
	insn.dst = gen_index_lanes(g, R(dst), more, 0);
	gen_clear_dim(&insn);
	gen_emit(g, insn);
	gen_load_begins(g, insn.sig0, dst, count);
	gen_wait_any(g, insn.sig0, dst);
}

void gen_load_begins(struct gen *g, u32 signal, u32 dst, u32 count)
{
	if (g->hasty && gen_below(g->rng, 3) == 0)
		return;
	g->busy_sig |= (u16)(1u << signal);
	for (u32 n = dst; n < dst + count; n++)
		g->busy_temps[n / 32] |= 1u << n % 32;
}

static void emit_global_atomic(struct gen *g, struct pumice_usc_insn insn)
{
	u32 value, dst;

	if (!select_span(g, 0, 2, &value))
		return;
	if (gen_below(g->rng, 2)) {
		gen_emit(g, INSN(GLOBAL_LOAD32, .sig0 = insn.sig0, .dst = R(value + 1),
				 .mask = ALWAYS, .src2 = insn.src2, .src0 = insn.src0,
				 .dim = insn.dim, .disp = insn.disp));
		gen_emit(g, INSN(MEM_FENCE, .func = gen_below(g->rng, PUMICE_USC_SCOPE_COUNT)));
	}
	insn.opcode = PUMICE_USC_OP_GLOBAL_ATOMIC;
	select_atomic(g, &insn);
	insn.src1 = R(value);
	if (select_span(g, GEN_UNLOADED, 1, &dst) && dst != value && dst != value + 1)
		emit_load(g, insn, dst, 1, 0);
}

/* A burst or a plain access; the rest of the instruction is set already. */
static void emit_plain(struct gen *g, struct pumice_usc_insn insn, const struct shape *s,
		       u32 width, bool store)
{
	u32 more = gen_index_choice(g, &insn), start;

	if (!select_span(g, store ? 0 : GEN_UNLOADED, s->regs + more, &start))
		return;
	if (width == WIDTHS) {
		insn.opcode = store ? PUMICE_USC_OP_BURST_STORE : PUMICE_USC_OP_BURST_LOAD;
		insn.words = s->regs;
	} else {
		insn.opcode = store ? global_store[width] : global_load[width];
		insn.type = store ? U32 : extension(g, s);
	}
	if (store) {
		insn.src1 = gen_index_lanes(g, R(start), more, 0);
		gen_clear_dim(&insn);
		gen_emit(g, insn);
	} else {
		emit_load(g, insn, start, s->regs + more, more);
	}
}

void gen_global(struct gen *g)
{
	bool store = !g->read_phase && gen_below(g->rng, 2);
	bool own = store || gen_below(g->rng, 2);
	u32 width = gen_below(g->rng, WIDTHS + 1);
	struct shape s = width < WIDTHS ? shape_of_width(width) :
		shape_of_words(1 + gen_below(g->rng, PUMICE_USC_BURST_WORDS));
	struct pumice_usc_insn insn = {
		.sig0 = (u8)gen_below(g->rng, PUMICE_USC_SIGNALS), .dim = (u8)gen_below(g->rng, 3),
		.disp = (u16)(gen_below(g->rng, 256 / s.align) * s.align),
	};

	if (g->read_phase || !own)
		emit_offsets(g, GEN_READ_BYTES / 2, 0, &s);
	else
		emit_offsets(g, GEN_WAVE_BYTES / 2, gen_keep(g, KEEP_GLOBAL), &s);
	insn.src2 = select_base(g);
	insn.src0 = R(gen_keep(g, KEEP_ADDR));
	/* One index register for one of them, the other for the data. */
	if (gen_below(g->rng, 2))
		insn.src2 = gen_index_constant(g, &insn, insn.src2, 1);
	else
		insn.src0 = gen_index_constant(g, &insn, insn.src0, 1);
	insn.mask = (u16)gen_mask(g);
	if (store && s.align == 4 && gen_below(g->rng, 3) == 0) {
		gen_clear_dim(&insn);
		emit_global_atomic(g, insn);
	} else {
		emit_plain(g, insn, &s, width, store);
	}
}

/* Select at most this number of consecutive shared registers that programs may write. */
static u32 select_shared(struct gen *g, u32 most, u32 *words)
{
	u32 free = g->out->limits.shared - GEN_SH_FREE;

	*words = 1 + gen_below(g->rng, free < most ? free : most);
	return SH(GEN_SH_FREE + gen_below(g->rng, free - *words + 1));
}

/* A burst from read-only memory to shared registers. */
static void emit_shared_load(struct gen *g)
{
	struct pumice_usc_insn insn = {
		.opcode = PUMICE_USC_OP_SHARED_LOAD,
		.sig0 = (u8)gen_below(g->rng, PUMICE_USC_SIGNALS),
		.dim = (u8)gen_below(g->rng, 3), .src2 = R_ELEM(gen_keep(g, KEEP_BASE)),
		.disp = (u16)(gen_below(g->rng, 512) * 4),
	};
	u32 words;

	insn.dst = select_shared(g, PUMICE_USC_BURST_WORDS, &words);
	insn.words = words;
	insn.dst = gen_index_constant(g, &insn, insn.dst, 0);
	gen_clear_dim(&insn);
	gen_emit(g, insn);
	gen_emit(g, INSN(SIG_WAIT, .dst = R_ELEM(gen_keep(g, KEEP_ADDR)), .sig0 = insn.sig0));
}

void gen_shared(struct gen *g)
{
	if (g->hasty)
		return;	/* the model has no late shared registers */
	if (g->write_shared) {
		emit_shared_load(g);
	} else if (g->depth == 0 && !g->read_phase) {
		/* All waves of the task write the same words. */
		gen_emit(g, INSN(BARRIER));
		emit_shared_load(g);
		gen_emit(g, INSN(BARRIER));
	}
}

/* The on-chip operand of a copy: shared registers, or an offset in local memory. */
static void select_copy(struct gen *g, struct pumice_usc_insn *insn, bool load)
{
	u32 local = R_ELEM(gen_keep(g, KEEP_ADDR)), words = 1 + gen_below(g->rng, 128), shared;

	if (gen_below(g->rng, 2)) {
		insn->dim = (u8)gen_below(g->rng, 3);
		shared = select_shared(g, 128, &words);
		shared = gen_index_constant(g, insn, shared, 0);
		insn->opcode = load ? PUMICE_USC_OP_GROUP_LOAD_SHARED :
				      PUMICE_USC_OP_GROUP_STORE_SHARED;
		*(load ? &insn->dst : &insn->src0) = shared;
		gen_clear_dim(insn);
	} else {
		gen_emit(g, INSN(MOV, .form = SCALAR_FORM, .dst = local, .src0 = IMM,
				 .imm = gen_below(g->rng, 128) * 4));
		/* An offset that is wrong in all waves except the lowest. */
		if (gen_below(g->rng, 2))
			gen_emit(g, INSN(SUB, .form = SCALAR_FORM, .dst = local, .src0 = local,
					 .src1 = SR_ELEM(WAVE_IN_GROUP)));
		insn->opcode = load ? PUMICE_USC_OP_GROUP_LOAD : PUMICE_USC_OP_GROUP_STORE;
		insn->src0 = local;
	}
	insn->words = words;
}

void gen_copy(struct gen *g)
{
	u32 base = R_ELEM(gen_keep(g, KEEP_BASE)), at = gen_below(g->rng, 512) * 4;
	bool load = gen_below(g->rng, 2);
	struct pumice_usc_insn insn = {
		.src2 = base, .disp = (u16)(gen_below(g->rng, 64) * 4),
		.sig0 = (u8)gen_below(g->rng, PUMICE_USC_SIGNALS),
	};

	/* From read-only memory, or to the first wave's part. */
	at += load ? 0 : GEN_READ_BYTES;
	gen_wait_all(g);
	select_copy(g, &insn, load);
	gen_emit(g, INSN(ADD, .form = SCALAR_FORM, .dst = base, .src0 = base, .src1 = IMM,
			 .imm = at));
	gen_emit(g, insn);
	if (gen_below(g->rng, 2))
		gen_emit(g, INSN(MEM_FENCE, .func = gen_below(g->rng, PUMICE_USC_SCOPE_COUNT)));
	else
		gen_emit(g,
			 INSN(SIG_WAIT, .dst = R_ELEM(gen_keep(g, KEEP_ADDR)), .sig0 = insn.sig0));
	gen_emit(g, INSN(SUB, .form = SCALAR_FORM, .dst = base, .src0 = base, .src1 = IMM,
			 .imm = at));
}
