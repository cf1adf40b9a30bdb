// SPDX-License-Identifier: MIT
/*
 * Random programs: ray queries. The structure is that of rays.h, in the read-only words. See gen.h.
 */
#include "gen_state.h"

/* Rays and results are busy until the wait, so neither are in the first temporaries. */
#define MIN_TEMPS (GEN_UNLOADED + PUMICE_RT_RAY_REGS)

/* Emit one register of the rays: a number, and another one in some lanes. */
static void emit_number(struct gen *g, u32 reg, const u32 *numbers, u32 count)
{
	gen_emit(g, INSN(MOV, .dst = R(reg), .mask = ALWAYS, .src0 = IMM,
			 .imm = numbers[gen_below(g->rng, count)]));
	gen_emit(g, INSN(MOV, .dst = R(reg), .mask = (u16)gen_mask(g), .src0 = IMM,
			 .imm = numbers[gen_below(g->rng, count)]));
}

/*
 * A query for any hit may have each of several. So its ray reaches one triangle at most: one of the
 * square at z = 5, on one side of its diagonal.
 */
void gen_ray(struct gen *g)
{
	/* -12, -9, -5, -1, 0, 3, 5, 9, 10; 0, 4, 4.5, 5.5, 7; 100, infinity, 4.25, 5 */
	static const u32 place[] = { 0xc1400000, 0xc1100000, 0xc0a00000, 0xbf800000, 0,
				     0x40400000, 0x40a00000, 0x41100000, 0x41200000 };
	static const u32 from[] = { 0, 0x40800000, 0x40900000, 0x40b00000, 0x40e00000 };
	static const u32 to[] = { 0x42c80000, 0x7f800000, 0x40880000, 0x40a00000 };
	/* -7, -6, -3, 1, 2, 4, 6, 7, 12; 4.25, 4.5, 4.75, 5.5, 5.75; 5, 5.25, 5.5, 5.75 */
	static const u32 any_place[] = { 0xc0e00000, 0xc0c00000, 0xc0400000, 0x3f800000, 0x40000000,
					 0x40800000, 0x40c00000, 0x40e00000, 0x41400000 };
	static const u32 any_from[] = { 0x40880000, 0x40900000, 0x40980000, 0x40b00000,
					0x40b80000 };
	static const u32 any_to[] = { 0x40a00000, 0x40a80000, 0x40b00000, 0x40b80000 };
	static const u32 zero[] = { 0 }, one[] = { 0x3f800000 };
	/* 0, -0, 1, -1, 2, -2, by which divisions are exact */
	static const u32 slope[] = { 0, 0x80000000, 0x3f800000, 0xbf800000, 0x40000000,
				     0xc0000000 };
	u32 sig = gen_below(g->rng, PUMICE_USC_SIGNALS), ray, hit;
	const bool any = sig % 2;

	if (g->temps < MIN_TEMPS)
		return;
	gen_wait_all(g);
	ray = GEN_UNLOADED + gen_below(g->rng, g->temps - MIN_TEMPS + 1);
	hit = GEN_UNLOADED + gen_below(g->rng, g->temps - GEN_UNLOADED - PUMICE_RT_RESULT_REGS + 1);
	emit_number(g, ray, place, 9);
	emit_number(g, ray + 1, any ? any_place : place, 9);
	emit_number(g, ray + 2, zero, 1);
	emit_number(g, ray + 3, any ? any_from : from, 5);
	emit_number(g, ray + 4, any ? zero : slope, any ? 1 : 6);
	emit_number(g, ray + 5, any ? zero : slope, any ? 1 : 6);
	emit_number(g, ray + 6, one, 1);
	emit_number(g, ray + 7, any ? any_to : to, 4);
	gen_emit(g, INSN(RAY_QUERY, .dst = R(hit), .src0 = R(ray), .sig0 = (u8)sig,
			 .mask = (u16)gen_mask(g), .disp = GEN_TREE_BYTE,
			 .src2 = gen_below(g->rng, 2) ? SH(GEN_SH_MEMORY) :
							R_ELEM(gen_keep(g, KEEP_BASE)),
			 .func = any ? PUMICE_USC_RAY_ANY : PUMICE_USC_RAY_CLOSEST));
	gen_load_begins(g, sig, ray, PUMICE_RT_RAY_REGS);
	gen_load_begins(g, sig, hit, PUMICE_RT_RESULT_REGS);
}
