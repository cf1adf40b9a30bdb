// SPDX-License-Identifier: MIT
/*
 * Reference model: RV32C (unprivileged ISA 20191213, chapter 16), executed
 * without expansion. Immediates are written bit by bit as in the manual's
 * figures. See ref.h.
 */
#include "ref.h"

enum { BREAK = 3 };

/* Full register numbers, the 3-bit ones, and the stack pointer. */
#define RD	r->x[(raw >> 7) % 32]
#define RS2	r->x[(raw >> 2) % 32]
#define RH	r->x[8 + (raw >> 7) % 8]
#define RL	r->x[8 + (raw >> 2) % 8]
#define SP	r->x[2]
#define RA	r->x[1]

#define IMM6(raw)	REF_SIMM(((raw) >> 12 << 5 & 32) | ((raw) >> 2 & 31), 5, 5, 4, 3, 2, 1, 0)

#define DO(name, statement) \
	static void do_c_##name(struct ref *r, uint32_t raw) { (void)raw; statement; }

/* nzuimm[5:4|9:6|2|3] */
DO(addi4spn, RL = SP + REF_UIMM(raw, 12, 5, 4, 9, 8, 7, 6, 2, 3))

/* uimm[5:3] in bits 12:10, uimm[2|6] in bits 6:5 */
static uint32_t word_offset(uint32_t raw)
{
	return REF_UIMM(raw, 12, 5, 4, 3) + REF_UIMM(raw, 6, 2, 6);
}

static void load_word(struct ref *r, uint32_t addr, uint32_t *to)
{
	uint32_t val;

	if (ref_load(r, addr, 4, &val))
		*to = val;
}

DO(lw, load_word(r, RH + word_offset(raw), &RL))
DO(sw, ref_store(r, RH + word_offset(raw), 4, RL))

DO(addi, RD += (uint32_t)IMM6(raw))
DO(li, RD = (uint32_t)IMM6(raw))
DO(lui, RD = (uint32_t)IMM6(raw) * 4096u)
/* nzimm[9] in bit 12, nzimm[4|6|8:7|5] in bits 6:2 */
DO(addi16sp, SP += (uint32_t)REF_SIMM((raw >> 12 << 5 & 32) | (raw >> 2 & 31), 5, 9, 4, 6, 8, 7, 5))

DO(srli, RH >>= (raw >> 2) % 32)
DO(srai, RH = (uint32_t)((int64_t)(int32_t)RH >> (raw >> 2) % 32))
DO(andi, RH &= (uint32_t)IMM6(raw))
DO(sub, RH -= RL)
DO(xor, RH ^= RL)
DO(or, RH |= RL)
DO(and, RH &= RL)

/* imm[11|4|9:8|10|6|7|3:1|5] */
static uint32_t jump_target(const struct ref *r, uint32_t raw)
{
	return r->pc + (uint32_t)REF_SIMM(raw, 12, 11, 4, 9, 8, 10, 6, 7, 3, 2, 1, 5);
}

DO(jal, RA = r->pc + 2; r->next_pc = jump_target(r, raw))
DO(j, r->next_pc = jump_target(r, raw))

/* imm[8|4:3] in bits 12:10, imm[7:6|2:1|5] in bits 6:2 */
static void branch(struct ref *r, uint32_t raw, bool taken)
{
	uint32_t both = (raw >> 10 << 5 & 0xe0) | (raw >> 2 & 31);

	if (taken)
		r->next_pc = r->pc + (uint32_t)REF_SIMM(both, 7, 8, 4, 3, 7, 6, 2, 1, 5);
}

DO(beqz, branch(r, raw, RH == 0))
DO(bnez, branch(r, raw, RH != 0))

DO(slli, RD <<= (raw >> 2) % 32)
/* uimm[5] in bit 12, uimm[4:2|7:6] in bits 6:2 */
DO(lwsp, load_word(r, SP + REF_UIMM(raw, 12, 5) + REF_UIMM(raw, 6, 4, 3, 2, 7, 6), &RD))
/* uimm[5:2|7:6] */
DO(swsp, ref_store(r, SP + REF_UIMM(raw, 12, 5, 4, 3, 2, 7, 6), 4, RS2))
DO(jr, r->next_pc = RD & ~1u)
DO(mv, RD = RS2)
DO(ebreak, ref_raise(r, BREAK, r->pc))
DO(add, RD += RS2)

static void do_c_jalr(struct ref *r, uint32_t raw)
{
	uint32_t target = RD & ~1u;

	RA = r->pc + 2;
	r->next_pc = target;
}

#define OP(name, mask, match)		{ "c." #name, mask, match, REF_FIXED, do_c_##name }
/* A reserved encoding within that of another instruction. */
#define RESERVED(mask, match)		{ "reserved", mask, match, REF_FIXED, NULL }

/* The first matching row applies. */
const struct ref_op ref_ops16[] = {
	RESERVED(0xffe3, 0x0000),		/* c.addi4spn, 0 */
	OP(addi4spn,	0xe003, 0x0000),
	OP(lw,		0xe003, 0x4000),
	OP(sw,		0xe003, 0xc000),

	OP(addi,	0xe003, 0x0001),
	OP(jal,		0xe003, 0x2001),
	OP(li,		0xe003, 0x4001),
	RESERVED(0xf07f, 0x6001),		/* c.lui and c.addi16sp, 0 */
	OP(addi16sp,	0xef83, 0x6101),
	OP(lui,		0xe003, 0x6001),
	OP(srli,	0xfc03, 0x8001),
	OP(srai,	0xfc03, 0x8401),
	OP(andi,	0xec03, 0x8801),
	OP(sub,		0xfc63, 0x8c01),
	OP(xor,		0xfc63, 0x8c21),
	OP(or,		0xfc63, 0x8c41),
	OP(and,		0xfc63, 0x8c61),
	OP(j,		0xe003, 0xa001),
	OP(beqz,	0xe003, 0xc001),
	OP(bnez,	0xe003, 0xe001),

	OP(slli,	0xf003, 0x0002),
	RESERVED(0xef83, 0x4002),		/* c.lwsp, x0 */
	OP(lwsp,	0xe003, 0x4002),
	RESERVED(0xffff, 0x8002),		/* c.jr, x0 */
	OP(jr,		0xf07f, 0x8002),
	OP(mv,		0xf003, 0x8002),
	OP(ebreak,	0xffff, 0x9002),
	OP(jalr,	0xf07f, 0x9002),
	OP(add,		0xf003, 0x9002),
	OP(swsp,	0xe003, 0xc002),
};
const size_t ref_ops16_count = sizeof(ref_ops16) / sizeof(ref_ops16[0]);

const struct ref_op *ref_find16(uint32_t raw)
{
	for (size_t i = 0; i < ref_ops16_count; i++) {
		if ((raw & ref_ops16[i].mask) == ref_ops16[i].match)
			return ref_ops16[i].run ? &ref_ops16[i] : NULL;
	}
	return NULL;
}
