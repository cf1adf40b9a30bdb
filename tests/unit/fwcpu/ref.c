// SPDX-License-Identifier: MIT
/*
 * Reference model: the machine, RV32I and M. See ref.h.
 */
#include "ref.h"

enum { FETCH_ACCESS = 1, ILLEGAL, BREAK, LOAD_ALIGN, LOAD_ACCESS, STORE_ALIGN, STORE_ACCESS,
       ECALL = 11 };

uint32_t ref_gather(uint32_t raw, unsigned int top, const uint8_t *map, size_t count)
{
	uint32_t imm = 0;

	for (size_t i = 0; i < count; i++) {
		if (raw & (1u << (top - i)))
			imm |= 1u << map[i];
	}
	return imm;
}

int32_t ref_gather_signed(uint32_t raw, unsigned int top, const uint8_t *map, size_t count)
{
	int64_t imm = ref_gather(raw, top, map, count);
	unsigned int high = 0;

	for (size_t i = 0; i < count; i++)
		high = map[i] > high ? map[i] : high;
	if (imm & (1ll << high))
		imm -= 2ll << high;
	return (int32_t)imm;
}

static void enter_trap(struct ref *r, uint32_t cause, uint32_t tval)
{
	uint32_t base = r->mtvec & ~3u;

	r->trapped = true;
	if (base == 0) {
		r->state = REF_LOCKUP;
		return;
	}
	r->mepc = r->pc;
	r->mcause = cause;
	r->mtval = tval;
	r->mpie_bit = r->mie_bit;
	r->mie_bit = false;
	r->handler_open = true;
	r->pc = base;
	if ((cause >> 31) && (r->mtvec & 1))
		r->pc = base + 4 * (cause & 0x7fffffff);
}

void ref_raise(struct ref *r, uint32_t cause, uint32_t tval)
{
	if (r->handler_open && r->pc == r->mepc && r->mcause == cause) {
		r->trapped = true;
		r->state = REF_LOCKUP;
		return;
	}
	enter_trap(r, cause, tval);
}

/* RAM accepts any alignment; other regions natural alignment only. */
static bool reachable(struct ref *r, uint32_t addr, unsigned int size, uint32_t align_cause,
		      uint32_t access_cause)
{
	if (addr < FX_RAM_SIZE) {
		if ((uint64_t)addr + size <= FX_RAM_SIZE)
			return true;
		ref_raise(r, access_cause, FX_RAM_SIZE);
		return false;
	}
	if (addr % size != 0) {
		ref_raise(r, align_cause, addr);
		return false;
	}
	return true;
}

bool ref_load(struct ref *r, uint32_t addr, unsigned int size, uint32_t *val)
{
	if (!reachable(r, addr, size, LOAD_ALIGN, LOAD_ACCESS))
		return false;
	*val = 0;
	if (addr < FX_RAM_SIZE) {
		for (unsigned int i = size; i-- > 0;)
			*val = *val << 8 | r->fixture->ram[addr + i];
		return true;
	}
	if (fx_load(r->fixture, addr, size, val))
		return true;
	ref_raise(r, LOAD_ACCESS, addr);
	return false;
}

void ref_store(struct ref *r, uint32_t addr, unsigned int size, uint32_t val)
{
	if (!reachable(r, addr, size, STORE_ALIGN, STORE_ACCESS))
		return;
	if (addr < FX_RAM_SIZE) {
		for (unsigned int i = 0; i < size; i++, val >>= 8)
			r->fixture->ram[addr + i] = val & 0xff;
		return;
	}
	if (size < 4)
		val &= size == 1 ? 0xff : 0xffff;
	if (!fx_store(r->fixture, addr, size, val))
		ref_raise(r, STORE_ACCESS, addr);
}

/* Operands of 4-byte instructions, in signed and unsigned reading. */
#define RD	r->x[(raw >> 7) % 32]
#define U1	r->x[(raw >> 15) % 32]
#define U2	r->x[(raw >> 20) % 32]
#define S1	((int32_t)U1)
#define S2	((int32_t)U2)
#define IMM_I	((int32_t)raw >> 20)
#define SHAMT	((raw >> 20) % 32)
#define HIGH7_LOW5	((raw >> 25 << 5) | (raw >> 7) % 32)
#define IMM_S	REF_SIMM(HIGH7_LOW5, 11, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define IMM_B	REF_SIMM(HIGH7_LOW5, 11, 12, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 11)
#define IMM_J	REF_SIMM(raw, 31, 20, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 11, \
			 19, 18, 17, 16, 15, 14, 13, 12)

#define DO(name, statement) \
	static void do_##name(struct ref *r, uint32_t raw) { (void)r; (void)raw; statement; }

DO(lui, RD = raw & ~0xfffu)
DO(auipc, RD = r->pc + (raw & ~0xfffu))
DO(addi, RD = U1 + (uint32_t)IMM_I)
DO(slti, RD = S1 < IMM_I ? 1 : 0)
DO(sltiu, RD = U1 < (uint32_t)IMM_I ? 1 : 0)
DO(xori, RD = U1 ^ (uint32_t)IMM_I)
DO(ori, RD = U1 | (uint32_t)IMM_I)
DO(andi, RD = U1 & (uint32_t)IMM_I)
DO(slli, RD = U1 << SHAMT)
DO(srli, RD = U1 >> SHAMT)
DO(srai, RD = (uint32_t)((int64_t)S1 >> SHAMT))
DO(add, RD = U1 + U2)
DO(sub, RD = U1 - U2)
DO(sll, RD = U1 << U2 % 32)
DO(slt, RD = S1 < S2 ? 1 : 0)
DO(sltu, RD = U1 < U2 ? 1 : 0)
DO(xor, RD = U1 ^ U2)
DO(srl, RD = U1 >> U2 % 32)
DO(sra, RD = (uint32_t)((int64_t)S1 >> U2 % 32))
DO(or, RD = U1 | U2)
DO(and, RD = U1 & U2)

/* 64-bit arithmetic can represent every product and for INT_MIN / -1. */
DO(mul, RD = (uint32_t)((uint64_t)U1 * U2))
DO(mulhu, RD = (uint32_t)((uint64_t)U1 * U2 >> 32))
DO(mulhsu, RD = (uint32_t)((uint64_t)U1 * U2 >> 32) - (S1 < 0 ? U2 : 0))
DO(mulh, RD = (uint32_t)((uint64_t)U1 * U2 >> 32) - (S1 < 0 ? U2 : 0) - (S2 < 0 ? U1 : 0))
DO(div, RD = U2 == 0 ? 0xffffffff : (uint32_t)((int64_t)S1 / (int64_t)S2))
DO(divu, RD = U2 == 0 ? 0xffffffff : U1 / U2)
DO(rem, RD = U2 == 0 ? U1 : (uint32_t)((int64_t)S1 % (int64_t)S2))
DO(remu, RD = U2 == 0 ? U1 : U1 % U2)

static void load(struct ref *r, uint32_t raw, unsigned int size, bool is_signed)
{
	uint32_t val;

	if (!ref_load(r, U1 + (uint32_t)IMM_I, size, &val))
		return;
	if (is_signed && size == 1)
		val = (uint32_t)(int32_t)(int8_t)val;
	if (is_signed && size == 2)
		val = (uint32_t)(int32_t)(int16_t)val;
	RD = val;
}

DO(lb, load(r, raw, 1, true))
DO(lh, load(r, raw, 2, true))
DO(lw, load(r, raw, 4, true))
DO(lbu, load(r, raw, 1, false))
DO(lhu, load(r, raw, 2, false))
DO(sb, ref_store(r, U1 + (uint32_t)IMM_S, 1, U2))
DO(sh, ref_store(r, U1 + (uint32_t)IMM_S, 2, U2))
DO(sw, ref_store(r, U1 + (uint32_t)IMM_S, 4, U2))

static void branch(struct ref *r, uint32_t raw, bool taken)
{
	if (taken)
		r->next_pc = r->pc + (uint32_t)IMM_B;
}

DO(beq, branch(r, raw, U1 == U2))
DO(bne, branch(r, raw, U1 != U2))
DO(blt, branch(r, raw, S1 < S2))
DO(bge, branch(r, raw, S1 >= S2))
DO(bltu, branch(r, raw, U1 < U2))
DO(bgeu, branch(r, raw, U1 >= U2))
DO(jal, r->next_pc = r->pc + (uint32_t)IMM_J; RD = r->pc + 4)
DO(jalr, r->next_pc = (U1 + (uint32_t)IMM_I) & ~1u; RD = r->pc + 4)
DO(fence,)
DO(fence_i,)
DO(ecall, ref_raise(r, ECALL, 0))
DO(ebreak, ref_raise(r, BREAK, r->pc))
DO(wfi, r->state = REF_WAITING)

static void do_mret(struct ref *r, uint32_t raw)
{
	(void)raw;
	r->next_pc = r->mepc;
	r->mie_bit = r->mpie_bit;
	r->mpie_bit = true;
	r->handler_open = false;
}

/* @what: 0 write, 1 set, 2 clear. Nothing changes when the access is illegal. */
static void csr(struct ref *r, uint32_t raw, uint32_t operand, int what)
{
	uint32_t number = raw >> 20;
	bool writes = what == 0 || (raw >> 15) % 32 != 0;
	uint32_t old, val;

	if (!ref_csr_read(r, number, &old)) {
		ref_raise(r, ILLEGAL, raw);
		return;
	}
	val = what == 0 ? operand : what == 1 ? (old | operand) : (old & ~operand);
	if (writes && !ref_csr_write(r, number, val)) {
		ref_raise(r, ILLEGAL, raw);
		return;
	}
	RD = old;
}

DO(csrrw, csr(r, raw, U1, 0))
DO(csrrs, csr(r, raw, U1, 1))
DO(csrrc, csr(r, raw, U1, 2))
DO(csrrwi, csr(r, raw, (raw >> 15) % 32, 0))
DO(csrrsi, csr(r, raw, (raw >> 15) % 32, 1))
DO(csrrci, csr(r, raw, (raw >> 15) % 32, 2))

#define OP(name, mask, match, format)	{ #name, mask, match, format, do_##name }

const struct ref_op ref_ops32[] = {
	OP(lui,    0x0000007f, 0x00000037, REF_U),
	OP(auipc,  0x0000007f, 0x00000017, REF_U),
	OP(jal,    0x0000007f, 0x0000006f, REF_J),
	OP(jalr,   0x0000707f, 0x00000067, REF_I),
	OP(beq,    0x0000707f, 0x00000063, REF_B),
	OP(bne,    0x0000707f, 0x00001063, REF_B),
	OP(blt,    0x0000707f, 0x00004063, REF_B),
	OP(bge,    0x0000707f, 0x00005063, REF_B),
	OP(bltu,   0x0000707f, 0x00006063, REF_B),
	OP(bgeu,   0x0000707f, 0x00007063, REF_B),
	OP(lb,     0x0000707f, 0x00000003, REF_LOAD),
	OP(lh,     0x0000707f, 0x00001003, REF_LOAD),
	OP(lw,     0x0000707f, 0x00002003, REF_LOAD),
	OP(lbu,    0x0000707f, 0x00004003, REF_LOAD),
	OP(lhu,    0x0000707f, 0x00005003, REF_LOAD),
	OP(sb,     0x0000707f, 0x00000023, REF_S),
	OP(sh,     0x0000707f, 0x00001023, REF_S),
	OP(sw,     0x0000707f, 0x00002023, REF_S),
	OP(addi,   0x0000707f, 0x00000013, REF_I),
	OP(slti,   0x0000707f, 0x00002013, REF_I),
	OP(sltiu,  0x0000707f, 0x00003013, REF_I),
	OP(xori,   0x0000707f, 0x00004013, REF_I),
	OP(ori,    0x0000707f, 0x00006013, REF_I),
	OP(andi,   0x0000707f, 0x00007013, REF_I),
	OP(slli,   0xfe00707f, 0x00001013, REF_SHIFT),
	OP(srli,   0xfe00707f, 0x00005013, REF_SHIFT),
	OP(srai,   0xfe00707f, 0x40005013, REF_SHIFT),
	OP(add,    0xfe00707f, 0x00000033, REF_R),
	OP(sub,    0xfe00707f, 0x40000033, REF_R),
	OP(sll,    0xfe00707f, 0x00001033, REF_R),
	OP(slt,    0xfe00707f, 0x00002033, REF_R),
	OP(sltu,   0xfe00707f, 0x00003033, REF_R),
	OP(xor,    0xfe00707f, 0x00004033, REF_R),
	OP(srl,    0xfe00707f, 0x00005033, REF_R),
	OP(sra,    0xfe00707f, 0x40005033, REF_R),
	OP(or,     0xfe00707f, 0x00006033, REF_R),
	OP(and,    0xfe00707f, 0x00007033, REF_R),
	OP(mul,    0xfe00707f, 0x02000033, REF_R),
	OP(mulh,   0xfe00707f, 0x02001033, REF_R),
	OP(mulhsu, 0xfe00707f, 0x02002033, REF_R),
	OP(mulhu,  0xfe00707f, 0x02003033, REF_R),
	OP(div,    0xfe00707f, 0x02004033, REF_R),
	OP(divu,   0xfe00707f, 0x02005033, REF_R),
	OP(rem,    0xfe00707f, 0x02006033, REF_R),
	OP(remu,   0xfe00707f, 0x02007033, REF_R),
	OP(fence,  0x0000707f, 0x0000000f, REF_FIXED),
	OP(fence_i, 0x0000707f, 0x0000100f, REF_FIXED),
	OP(ecall,  0xffffffff, 0x00000073, REF_FIXED),
	OP(ebreak, 0xffffffff, 0x00100073, REF_FIXED),
	OP(wfi,    0xffffffff, 0x10500073, REF_FIXED),
	OP(mret,   0xffffffff, 0x30200073, REF_FIXED),
	OP(csrrw,  0x0000707f, 0x00001073, REF_CSR),
	OP(csrrs,  0x0000707f, 0x00002073, REF_CSR),
	OP(csrrc,  0x0000707f, 0x00003073, REF_CSR),
	OP(csrrwi, 0x0000707f, 0x00005073, REF_CSR),
	OP(csrrsi, 0x0000707f, 0x00006073, REF_CSR),
	OP(csrrci, 0x0000707f, 0x00007073, REF_CSR),
};
const size_t ref_ops32_count = sizeof(ref_ops32) / sizeof(ref_ops32[0]);

const struct ref_op *ref_find32(uint32_t raw)
{
	for (size_t i = 0; i < ref_ops32_count; i++) {
		if ((raw & ref_ops32[i].mask) == ref_ops32[i].match)
			return &ref_ops32[i];
	}
	return NULL;
}

/* Fetch at r->pc; return false if that raised an exception. */
static bool fetch(struct ref *r, uint32_t *raw, bool *compressed)
{
	const uint8_t *ram = r->fixture->ram;
	uint32_t pc = r->pc;

	if (pc >= FX_RAM_SIZE) {
		ref_raise(r, FETCH_ACCESS, pc);
		return false;
	}
	*raw = ram[pc] | (uint32_t)ram[pc + 1] << 8;
	*compressed = *raw % 4 != 3;
	if (*compressed)
		return true;
	if (pc + 2 >= FX_RAM_SIZE) {
		ref_raise(r, FETCH_ACCESS, pc + 2);
		return false;
	}
	*raw |= (uint32_t)ram[pc + 2] << 16 | (uint32_t)ram[pc + 3] << 24;
	return true;
}

static void execute(struct ref *r)
{
	const struct ref_op *op;
	bool compressed;
	uint32_t raw;

	if (!fetch(r, &raw, &compressed))
		return;
	r->next_pc = r->pc + (compressed ? 2 : 4);
	op = compressed ? ref_find16(raw) : ref_find32(raw);
	if (op)
		op->run(r, raw);
	else
		ref_raise(r, ILLEGAL, raw);
	r->x[0] = 0;
}

void ref_interrupts(struct ref *r)
{
	bool external = r->irq && (r->mie >> 11 & 1);
	bool timer = r->mtime >= r->mtimecmp && (r->mie >> 7 & 1);

	if (r->state == REF_WAITING && (external || timer))
		r->state = REF_RUNNING;
	if (r->state != REF_RUNNING || !r->mie_bit)
		return;
	if (external)
		enter_trap(r, 0x8000000b, 0);
	else if (timer)
		enter_trap(r, 0x80000007, 0);
}

void ref_step(struct ref *r)
{
	ref_interrupts(r);
	if (r->state != REF_RUNNING)
		return;

	r->trapped = false;
	r->wrote_mcycle = false;
	r->wrote_minstret = false;
	execute(r);
	if (!r->trapped)
		r->pc = r->next_pc;
	if (!r->wrote_mcycle)
		r->mcycle++;
	if (!r->wrote_minstret && !r->trapped)
		r->minstret++;
}
