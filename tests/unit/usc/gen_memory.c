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

/* Return the class of an operand of an instruction. */
static const struct pumice_isa_class *class_of(const struct pumice_usc_insn *insn, u32 field)
{
	const struct pumice_isa_form *form =
		&pumice_isa_find_opcode(&pumice_usc_isa, insn->opcode)->form[insn->form];
	u32 n = 0;

	while (form->operands[n].field != field)
		n++;
	return &pumice_usc_isa.classes[form->operands[n].cls];
}

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

/* Sometimes replace temporaries by adjacent attributes. Returns whether it did. */
static bool select_attributes(struct gen *g, u32 count, u32 *raw)
{
	const u32 attrs = g->out->limits.attrs;

	if (attrs < count || gen_below(g->rng, 4))
		return false;
	*raw = V(gen_below(g->rng, attrs - count + 1));
	return true;
}

/*
 * Sometimes copy the addresses to an attribute, which is not one of the base and has no load under
 * way.
 */
static u32 select_address(struct gen *g, u32 base)
{
	u32 raw = R(gen_keep(g, KEEP_ADDR)), attr;
	struct pumice_usc_operand v;

	pumice_usc_operand_unpack(&base, &v);
	if (g->hasty || v.bank == PUMICE_USC_BANK_V || !select_attributes(g, 1, &attr))
		return raw;
	gen_emit(g, INSN(MOV, .dst = attr, .mask = ALWAYS, .src0 = raw));
	return attr;
}

/* Set the first of count registers to store, or one value. */
static void set_value(struct gen *g, struct pumice_usc_insn *insn, u32 count, u32 start)
{
	insn->src1 = R(start);
	if (count == 1 && gen_below(g->rng, 2))
		insn->src1 = gen_operand(g, class_of(insn, PUMICE_USC_FIELD_SRC1), false);
	else
		select_attributes(g, count, &insn->src1);
}

/*
 * Sometimes let each lane of the one wave that writes them select the shared or coefficient
 * register of its destination, up to more registers after the first.
 */
static void select_lanes(struct gen *g, struct pumice_usc_insn *insn, u32 more)
{
	const struct usc_program_limits *limits = &g->out->limits;
	const struct {
		u32 bank, first, count;
	} banks[] = {
		{ PUMICE_USC_BANK_SH, GEN_SH_FREE, limits->shared },
		{ PUMICE_USC_BANK_CF, 0, limits->coeffs },
		{ PUMICE_USC_BANK_CFA, 0, limits->coeffs_alt },
	};
	const u32 n = gen_below(g->rng, 3);

	if (more && g->write_shared && banks[n].count > banks[n].first + more &&
	    gen_below(g->rng, 2))
		insn->dst = gen_index_lanes(g, usc_operand(banks[n].bank, banks[n].first, false),
					    more, 0);
}

/*
 * Sometimes load a word to a register of any bank, or words to attributes, rather than to
 * temporaries. Words that waves share are loaded late by one wave only.
 */
static bool select_destination(struct gen *g, struct pumice_usc_insn *insn, u32 count, bool late)
{
	struct pumice_usc_operand v;
	u32 raw = 0;

	if (count > 1 || gen_below(g->rng, 2)) {
		if (!select_attributes(g, count, &raw))
			return false;
	} else {
		raw = gen_operand(g, class_of(insn, PUMICE_USC_FIELD_DST), true);
	}
	pumice_usc_operand_unpack(&raw, &v);
	if (late && (v.bank == PUMICE_USC_BANK_R ||
		     (v.bank == PUMICE_USC_BANK_SL && !g->write_shared)))
		return false;
	insn->dst = raw;
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
	const bool words = in_words(g, 2);
	struct pumice_usc_insn insn = {
		.opcode = words ? PUMICE_USC_OP_LOCAL_ATOMICW : PUMICE_USC_OP_LOCAL_ATOMIC,
		.dst = R(gen_temp(g)), .mask = (u16)gen_mask(g), .src0 = select_address(g, 0),
		.disp = (u16)(disp / (words ? 4 : 1)), .dim = (u8)gen_below(g->rng, 3),
	};
	u32 value;

	if (!select_span(g, 0, 2, &value))
		return;
	if (gen_below(g->rng, 2))
		gen_emit(g, (struct pumice_usc_insn){
			.opcode = words ? PUMICE_USC_OP_LOCAL_LOAD32W : PUMICE_USC_OP_LOCAL_LOAD32,
			.dst = R(value + 1), .mask = ALWAYS, .src0 = insn.src0, .disp = insn.disp,
		});
	select_atomic(g, &insn);
	insn.src1 = R(value);
	select_attributes(g, 2, &insn.src1);
	if (gen_below(g->rng, 2))
		select_destination(g, &insn, 1, false);
	else
		select_lanes(g, &insn, gen_index_choice(g, &insn));
	gen_clear_dim(&insn);
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
		struct pumice_usc_insn insn = { .mask = (u16)gen_mask(g) };
		bool words;

		if (!select_span(g, 0, s.regs, &start))
			return;
		words = in_words(g, width);
		insn.opcode = words ? local_store_words[width] : local_store[width];
		insn.disp = (u16)(disp / (words ? 4 : 1));
		insn.src0 = select_address(g, 0);
		set_value(g, &insn, s.regs, start);
		gen_emit(g, insn);
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
			if (s.bytes == 4)
				select_lanes(g, &insn, more);
			if (!more)
				select_destination(g, &insn, s.regs, false);
			insn.src0 = gen_index_constant(g, &insn, addr, 1);
			if (insn.src0 == addr)
				insn.src0 = select_address(g, 0);
			gen_clear_dim(&insn);
			gen_emit(g, insn);
		}
	}
}

/* Sometimes copy the base to coefficients, which one wave writes, or to attributes. */
static bool copy_base(struct gen *g, u32 *base)
{
	static const u8 banks[] = { PUMICE_USC_BANK_CF, PUMICE_USC_BANK_CFA, PUMICE_USC_BANK_V };
	const struct usc_program_limits *limits = &g->out->limits;
	const u32 which = gen_below(g->rng, 3);
	const u32 count = which == 0 ? limits->coeffs : which == 1 ? limits->coeffs_alt :
								     limits->attrs;
	u32 first;

	if (count < 2 || (which < 2 ? !g->write_shared : g->hasty))
		return false;
	first = gen_below(g->rng, count - 1);
	*base = usc_operand(banks[which], first, which == 2);
	for (u32 n = 0; n < 2; n++)
		gen_emit(g, INSN(MOV, .form = SCALAR_FORM,
				 .dst = usc_operand(banks[which], first + n, which == 2),
				 .src0 = R_ELEM(gen_keep(g, KEEP_BASE + n))));
	return true;
}

/*
 * Return the base operand: shared registers, coefficients, elements of vector registers, or none
 * and the base in the offset.
 */
static u32 select_base(struct gen *g)
{
	u32 addr = R(gen_keep(g, KEEP_ADDR)), base;

	if (gen_below(g->rng, 4) == 0 && copy_base(g, &base))
		return base;
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

/*
 * Emit a load to a register that is not a temporary, and mostly wait: it is not tracked. Index
 * registers have a defined value in hasty programs, too.
 */
static void emit_load_elsewhere(struct gen *g, struct pumice_usc_insn insn)
{
	struct pumice_usc_operand v;

	pumice_usc_operand_unpack(&insn.dst, &v);
	gen_clear_dim(&insn);
	gen_emit(g, insn);
	if (!g->hasty || v.bank == PUMICE_USC_BANK_IDX || gen_below(g->rng, 3))
		gen_emit(g, INSN(SIG_WAIT, .dst = R_ELEM(gen_keep(g, KEEP_ADDR)),
				 .sig0 = insn.sig0));
}

/* A fence, or an operation on caches: both wait for all accesses. */
static void emit_fence(struct gen *g)
{
	const u8 ops[] = {
		PUMICE_USC_OP_CACHE_CLEAN, PUMICE_USC_OP_CACHE_INVALIDATE,
		PUMICE_USC_OP_CACHE_CLEAN_RANGE, PUMICE_USC_OP_CACHE_INVALIDATE_RANGE,
	};
	const u32 n = gen_below(g->rng, 2 * sizeof(ops));
	struct pumice_usc_insn insn = {
		.opcode = n < sizeof(ops) ? ops[n] : PUMICE_USC_OP_MEM_FENCE,
		.func = (u8)gen_below(g->rng, PUMICE_USC_SCOPE_COUNT),
	};

	if (insn.opcode == PUMICE_USC_OP_CACHE_CLEAN_RANGE ||
	    insn.opcode == PUMICE_USC_OP_CACHE_INVALIDATE_RANGE) {
		insn.src2 = SH(GEN_SH_MEMORY);
		insn.words = (u16)(1 + gen_below(g->rng, 64));
	}
	gen_emit(g, insn);
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
		emit_fence(g);
	}
	insn.opcode = PUMICE_USC_OP_GLOBAL_ATOMIC;
	select_atomic(g, &insn);
	insn.src1 = R(value);
	select_attributes(g, 2, &insn.src1);
	if (select_destination(g, &insn, 1, true))
		emit_load_elsewhere(g, insn);
	else if (select_span(g, GEN_UNLOADED, 1, &dst) && dst != value && dst != value + 1)
		emit_load(g, insn, dst, 1, 0);
}

/*
 * A store to memory begins. At a write of a slot register a wave waits for those of its task, on
 * which the time of arrival of stores depends then: programs with such writes wait at once.
 */
static void store_begins(struct gen *g, u8 signal)
{
	if (g->hasty && !g->write_shared && g->out->limits.slot_regs)
		gen_emit(g, INSN(SIG_WAIT, .dst = R_ELEM(gen_keep(g, KEEP_ADDR)), .sig0 = signal));
	else if (g->hasty && gen_below(g->rng, 3) == 0)
		g->hasty_sig |= (u16)(1u << signal);
	else
		g->stored_sig |= (u16)(1u << signal);
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
		if (!more)
			set_value(g, &insn, s->regs, start);
		gen_clear_dim(&insn);
		gen_emit(g, insn);
		store_begins(g, insn.sig0);
	} else if (!more && select_destination(g, &insn, s->regs, true)) {
		emit_load_elsewhere(g, insn);
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
	const bool atomic = store && s.align == 4 && gen_below(g->rng, 3) == 0;

	/* The wave's own memory is loaded after its stores. */
	if (own && (atomic || !store) && g->stored_sig)
		gen_wait_all(g);
	if (g->read_phase || !own)
		emit_offsets(g, GEN_READ_BYTES / 2, 0, &s);
	else
		emit_offsets(g, GEN_WAVE_BYTES / 2, gen_keep(g, KEEP_GLOBAL), &s);
	insn.src2 = select_base(g);
	insn.src0 = select_address(g, insn.src2);
	/* One index register for one of them, the other for the data. */
	if (gen_below(g->rng, 2))
		insn.src2 = gen_index_constant(g, &insn, insn.src2, 1);
	else
		insn.src0 = gen_index_constant(g, &insn, insn.src0, 1);
	insn.mask = (u16)gen_mask(g);
	if (atomic) {
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

/* A burst from read-only memory to shared registers. Hasty programs often do not wait. */
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
	if (!g->hasty || gen_below(g->rng, 2))
		gen_emit(g, INSN(SIG_WAIT, .dst = R_ELEM(gen_keep(g, KEEP_ADDR)),
				 .sig0 = insn.sig0));
}

void gen_shared(struct gen *g)
{
	if (g->write_shared) {
		emit_shared_load(g);
	} else if (g->depth == 0 && !g->read_phase && !g->hasty) {
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

static void wait_for_copy(struct gen *g, u8 signal)
{
	if (gen_below(g->rng, 2))
		emit_fence(g);
	else
		gen_emit(g, INSN(SIG_WAIT, .dst = R_ELEM(gen_keep(g, KEEP_ADDR)), .sig0 = signal));
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
	if (!g->hasty)
		wait_for_copy(g, insn.sig0);
	gen_emit(g, INSN(SUB, .form = SCALAR_FORM, .dst = base, .src0 = base, .src1 = IMM,
			 .imm = at));
}
