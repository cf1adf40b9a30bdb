// SPDX-License-Identifier: MIT
/*
 * Random USC programs. See gen.h.
 */
#include "gen_state.h"

#include <string.h>

#include "gfx.h"
#include "pumice_info.h"

u32 gen_random(struct gen_rng *rng)
{
	u64 z = rng->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (u32)(z >> 32);
}

u32 gen_below(struct gen_rng *rng, u32 n)
{
	return (u32)((u64)gen_random(rng) * n >> 32);
}

u32 gen_word(struct gen_rng *rng)
{
	static const u32 special[] = {
		0, 1, 2, 31, 32, 0xffffffffu, 0x80000000u, 0x7fffffffu, 0x80000001u,
		0x3f800000u, 0xbf800000u, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00001u,
		0x7f800001u, 0x00000001u, 0x807fffffu, 0x00800000u, 0x7f7fffffu, 0xff7fffffu,
		0x4f000000u, 0x4effffffu, 0xcf000000u, 0xcf000001u, 0x4f800000u, 0x4f7fffffu,
		0x3f000000u, 0x33800000u, 0x34000000u, 0x4b800000u, 0x4b7fffffu,
	};

	switch (gen_below(rng, 4)) {
	case 0:
		return special[gen_below(rng, sizeof(special) / sizeof(special[0]))];
	case 1:
		return gen_below(rng, 256);
	case 2:	/* floats of nearly the same size, where sums round */
		return (gen_random(rng) & 0x807fffffu) | (0x7c + gen_below(rng, 8)) << 23;
	default:
		return gen_random(rng);
	}
}

void gen_noise(struct gen_rng *rng, u32 *words)
{
	for (u32 n = 0; n < PUMICE_USC_WORDS; n++)
		words[n] = gen_random(rng);
	if (gen_below(rng, 8)) {
		const struct pumice_isa_op_info *op =
			&pumice_usc_ops[gen_below(rng, PUMICE_USC_OPS)];
		const struct pumice_isa_layout *layout = &pumice_usc_isa.layouts[op->layout];
		u64 uses = op->form[op->form[0].exists ? 0 : 1].uses;

		for (u32 n = 0; n < PUMICE_USC_WORDS; n++)
			words[n] = 0;
		for (u32 n = 0; n < layout->nr_places; n++) {
			const struct pumice_field_info *at = &layout->places[n].info;
			u32 value = gen_random(rng);

			if (at->width > 16 && at->width < 32)	/* an operand: small numbers */
				value &= PUMICE_USC_OPERAND__ELEM__MASK |
					 0xfffu >> gen_below(rng, 8);
			if ((uses >> layout->places[n].field & 1) || gen_below(rng, 64) == 0)
				pumice_set_bits(words, at->bit, at->width, value);
		}
		pumice_set_bits(words, 0, 8, op->opcode);
	}
}

void gen_emit(struct gen *g, struct pumice_usc_insn insn)
{
	usc_put(g->out->code, g->out->insns++, insn);
}

static bool room(const struct gen *g, u32 insns)
{
	return g->out->insns + insns + 64 < GEN_MAX_INSNS;
}

/* Return a temporary without a load under way. Some are never loaded, so there is always one. */
u32 gen_temp(struct gen *g)
{
	u32 temp;

	do {
		temp = gen_below(g->rng, g->temps);
	} while (gen_is_busy(g, temp));
	return temp;
}

void gen_wait_all(struct gen *g)
{
	u32 at = g->out->insns;

	g->busy_sig |= g->stored_sig;
	g->stored_sig = 0;
	while (g->busy_sig) {
		u8 sig[4];

		for (u32 n = 0; n < 4; n++) {
			sig[n] = g->busy_sig ? (u8)__builtin_ctz(g->busy_sig) :
					       (u8)gen_below(g->rng, PUMICE_USC_SIGNALS);
			g->busy_sig &= (u16)~(1u << sig[n]);
		}
		switch (gen_below(g->rng, 5)) {
		case 0:
			gen_emit(g, INSN(SIG_WAITALL4, .dst = R_ELEM(gen_keep(g, KEEP_ADDR)),
					 .sig0 = sig[0],
				     .sig1 = sig[1], .sig2 = sig[2], .sig3 = sig[3]));
			break;
		case 1:
			gen_emit(g, INSN(SIG_WAITALL3, .dst = R_ELEM(gen_keep(g, KEEP_ADDR)),
					 .sig0 = sig[0],
				     .sig1 = sig[1], .sig2 = sig[2]));
			gen_emit(g,
				 INSN(SIG_WAIT, .dst = R_ELEM(gen_keep(g, KEEP_ADDR)),
				      .sig0 = sig[3]));
			break;
		case 2:	/* polls until it is done, then waits for the others */
			at = g->out->insns;
			gen_emit(g,
				 INSN(SIG_DONE1, .dst = R_ELEM(gen_keep(g, KEEP_ADDR)),
				      .sig0 = sig[0]));
			gen_emit(g,
				 INSN(BRZ, .target = at, .src0 = R_ELEM(gen_keep(g, KEEP_ADDR))));
			gen_emit(g, INSN(SIG_WAITALL3, .dst = R_ELEM(gen_keep(g, KEEP_ADDR)),
					 .sig0 = sig[1],
				     .sig1 = sig[2], .sig2 = sig[3]));
			break;
		case 3:	/* until the result has all of them */
			at = g->out->insns;
			gen_emit(g, INSN(SIG_WAITANY4, .dst = R_ELEM(gen_keep(g, KEEP_ADDR)),
					 .sig0 = sig[0], .sig1 = sig[1], .sig2 = sig[2],
					 .sig3 = sig[3]));
			gen_emit(g, INSN(XOR, .form = SCALAR_FORM,
					 .dst = R_ELEM(gen_keep(g, KEEP_ADDR)),
					 .src0 = R_ELEM(gen_keep(g, KEEP_ADDR)), .src1 = IMM,
					 .imm = 1u << sig[0] | 1u << sig[1] | 1u << sig[2] |
						1u << sig[3]));
			gen_emit(g,
				 INSN(BRNZ, .target = at, .src0 = R_ELEM(gen_keep(g, KEEP_ADDR))));
			break;
		default:
			at = g->out->insns;
			gen_emit(g, INSN(SIG_DONE2, .dst = R_ELEM(gen_keep(g, KEEP_ADDR)),
					 .sig0 = sig[0],
				     .sig1 = sig[1]));
			gen_emit(g,
				 INSN(BRZ, .target = at, .src0 = R_ELEM(gen_keep(g, KEEP_ADDR))));
			gen_emit(g, INSN(SIG_WAITALL2, .dst = R_ELEM(gen_keep(g, KEEP_ADDR)),
					 .sig0 = sig[2],
				     .sig1 = sig[3]));
		}
	}
	memset(g->busy_temps, 0, sizeof(g->busy_temps));
}

void gen_wait_any(struct gen *g, u32 signal, u32 loaded)
{
	u32 done = gen_keep(g, KEEP_ADDR), result, dst, signals, position, at;
	struct pumice_usc_insn wait = { 0 };
	u8 *sig[] = { &wait.sig0, &wait.sig1, &wait.sig2, &wait.sig3 };

	if (!g->timed || gen_below(g->rng, 4))
		return;
	result = gen_below(g->rng, GEN_UNLOADED);
	dst = gen_temp(g);
	signals = 2 + gen_below(g->rng, 3);
	position = gen_below(g->rng, signals);
	for (u32 n = 0; n < signals; n++)
		*sig[n] = (u8)(n == position ? signal : gen_below(g->rng, PUMICE_USC_SIGNALS));
	wait.opcode = PUMICE_USC_OP_SIG_WAITANY2 + signals - 2;
	wait.dst = R_ELEM(result);
	gen_emit(g, wait);
	gen_emit(g, INSN(AND, .form = SCALAR_FORM, .dst = R_ELEM(done), .src0 = R_ELEM(result),
			 .src1 = IMM, .imm = 1u << signal));
	at = g->out->insns++;
	gen_emit(g, INSN(ADD, .dst = R(dst), .src0 = R(dst), .src1 = R(loaded)));
	usc_put(g->out->code, at, INSN(BRZ, .target = g->out->insns, .src0 = R_ELEM(done)));
}

static void emit_block(struct gen *g, u32 count);

static void emit_loop(struct gen *g)
{
	u32 counter = R_ELEM(gen_keep(g, g->depth ? KEEP_LOOP1 : KEEP_LOOP0)), top;
	u32 times = 1 + gen_below(g->rng, 4);

	gen_emit(g, INSN(MOV, .form = SCALAR_FORM, .dst = counter, .src0 = IMM, .imm = times));
	top = g->out->insns;
	g->depth++;
	g->times *= times;
	emit_block(g, 1 + gen_below(g->rng, 8));
	gen_wait_all(g);
	g->depth--;
	g->times /= times;
	gen_emit(g, INSN(SUB, .form = SCALAR_FORM, .dst = counter, .src0 = counter, .src1 = IMM,
			 .imm = 1));
	gen_emit(g, INSN(BRNZ, .target = top, .src0 = counter));
}

/* Emit a forward branch over a block, on a random condition. */
static void emit_branch(struct gen *g)
{
	const struct pumice_isa_class *sany = &pumice_usc_isa.classes[PUMICE_USC_CLASS_SANY];
	struct pumice_usc_insn insn = { 0 };
	u32 at;

	gen_wait_all(g);
	insn.opcode = PUMICE_USC_OP_BRZ + gen_below(g->rng, 5);
	if (insn.opcode <= PUMICE_USC_OP_BRNZ)
		insn.src0 = gen_operand(g, sany, false);
	else if (insn.opcode <= PUMICE_USC_OP_BR_ANY)
		insn.mask = (u16)gen_mask(g);
	if (insn.src0 == IMM)
		insn.imm = gen_word(g->rng);
	at = g->out->insns++;
	g->depth++;
	emit_block(g, 1 + gen_below(g->rng, 5));
	gen_wait_all(g);
	g->depth--;
	insn.target = g->out->insns;
	usc_put(g->out->code, at, insn);
}

/*
 * Change from writing own memory to reading all, or back. All waves execute this. There are no
 * stores under way then: their time of arrival at a barrier depends on the other waves.
 */
static void emit_barrier(struct gen *g)
{
	g->stored_sig |= g->hasty_sig;
	g->hasty_sig = 0;
	gen_wait_all(g);
	gen_emit(g, INSN(BARRIER));
	g->read_phase = !g->read_phase;
}

static void emit_block(struct gen *g, u32 count)
{
	while (count-- && room(g, 40)) {
		u32 what = gen_below(g->rng, 32);

		if (g->out->limits.stage != USC_STAGE_COMPUTE && gen_below(g->rng, 3) == 0)
			gen_gfx(g);
		else if (what < 20)
			gen_alu(g);
		else if (what < 21)
			gen_product_sum(g);
		else if (what < 22)
			gen_fused_sums(g);
		else if (what < 25 && g->out->limits.stage == USC_STAGE_COMPUTE && !g->hasty &&
			 gen_below(g->rng, 8) == 0)
			gen_ray(g);
		else if (what < 25)
			gen_local(g);
		else if (what < 29 && gen_below(g->rng, 8) == 0)
			gen_shared(g);
		else if (what < 29)
			gen_global(g);
		else if (what < 30 && g->depth < 2)
			emit_loop(g);
		else if (what < 31 && g->depth < 2)
			emit_branch(g);
		else if (g->depth == 0 && g->out->copies && !g->read_phase && gen_below(g->rng, 2))
			gen_copy(g);
		else if (g->depth == 0)
			emit_barrier(g);
	}
}

/* The wave's own parts of memory, and the base address in temporaries. */
static void emit_prologue(struct gen *g)
{
	u32 part = R_ELEM(gen_keep(g, KEEP_GLOBAL)), local = R_ELEM(gen_keep(g, KEEP_LOCAL));

	gen_emit(g, INSN(MUL, .form = SCALAR_FORM, .dst = part, .src0 = SR_ELEM(WAVE_IN_GROUP),
			 .src1 = IMM, .imm = GEN_WAVE_BYTES));
	gen_emit(g, INSN(ADD, .form = SCALAR_FORM, .dst = part, .src0 = part, .src1 = IMM,
			 .imm = GEN_READ_BYTES));
	gen_emit(g, INSN(MUL, .form = SCALAR_FORM, .dst = local, .src0 = SR_ELEM(WAVE_IN_GROUP),
			 .src1 = IMM, .imm = GEN_LOCAL_WAVE_BYTES));
	gen_emit(g, INSN(MOV, .form = SCALAR_FORM, .dst = R_ELEM(gen_keep(g, KEEP_BASE)),
			 .src0 = SH(GEN_SH_MEMORY)));
	gen_emit(g, INSN(MOV, .form = SCALAR_FORM, .dst = R_ELEM(gen_keep(g, KEEP_BASE_HIGH)),
			 .src0 = SH(GEN_SH_MEMORY + 1)));
	for (u32 n = 0; n < g->temps; n++) {
		if (gen_below(g->rng, 2))
			gen_emit(g, INSN(MOV, .dst = R(n), .mask = (u16)gen_mask(g), .src0 = IMM,
					 .imm = gen_word(g->rng)));
	}
}

/* Every open register to the wave's part of global memory. */
static void emit_epilogue(struct gen *g)
{
	u32 addr = R(gen_keep(g, KEEP_ADDR));

	gen_wait_all(g);
	if (g->read_phase)
		emit_barrier(g);
	gen_emit(g, INSN(SHL, .dst = addr, .src0 = K(SID), .src1 = IMM, .imm = 2));
	gen_emit(g, INSN(ADD, .dst = addr, .src0 = addr, .src1 = R_ELEM(gen_keep(g, KEEP_GLOBAL))));
	for (u32 n = 0; n < g->temps && n < GEN_WAVE_BYTES / 128; n++)
		gen_emit(g, INSN(GLOBAL_STORE32, .mask = ALWAYS, .src2 = SH(GEN_SH_MEMORY),
				 .src0 = addr,
			     .disp = (u16)(n * 128), .src1 = R(n)));
	gen_emit(g, INSN(END));
}

static void generate(struct gen_rng *rng, u32 stage, bool one_wave_tasks, bool hasty,
		     struct gen_program *out)
{
	struct gen g = { .rng = rng, .out = out, .write_shared = one_wave_tasks, .hasty = hasty,
			.times = 1, .timed = hasty || stage == USC_STAGE_COMPUTE };
	bool gfx = stage != USC_STAGE_COMPUTE, copies = !gfx && gen_below(rng, 2);

	g.temps = (gfx ? 16 : 6) + gen_below(rng, 24);
	*out = (struct gen_program){
		.copies = copies,
		.limits = {
			.temps = g.temps + KEEP,
			.attrs = gen_below(rng, gfx ? 12 : 5),
			.shared = GEN_SH_FREE + 1 + (gfx ? 12 : 0) +
				  gen_below(rng, gen_below(rng, 2) ? 12 : 160),
			.coeffs = gfx ? 3 + gen_below(rng, 16) : gen_below(rng, 6),
			.coeffs_alt = gfx ? 3 + gen_below(rng, 16) : gen_below(rng, 6),
			.slot_regs = hasty && !one_wave_tasks && gen_below(rng, 2) ? 0 :
				     gen_below(rng, PUMICE_USC_OWN_REGS + 1),
			.stage = stage,
			.outputs = stage >= USC_STAGE_FRAGMENT ? 1 + gen_below(rng, 6) : 0,
		},
	};
	if (stage == USC_STAGE_VERTEX)
		out->limits.vo = 1 + gen_below(rng, gen_below(rng, 4) ? 16 : PUMICE_USC_MAX_VO);
	emit_prologue(&g);
	emit_block(&g, 10 + gen_below(rng, 60));
	emit_epilogue(&g);
}

void gen_program(struct gen_rng *rng, bool one_wave_tasks, struct gen_program *out)
{
	generate(rng, USC_STAGE_COMPUTE, one_wave_tasks, false, out);
}

void gen_gfx_program(struct gen_rng *rng, u32 stage, bool one_wave_tasks, struct gen_program *out)
{
	generate(rng, stage, one_wave_tasks, false, out);
}

void gen_hasty_program(struct gen_rng *rng, u32 stage, bool one_wave_tasks,
		       struct gen_program *out)
{
	generate(rng, stage, one_wave_tasks, true, out);
}
