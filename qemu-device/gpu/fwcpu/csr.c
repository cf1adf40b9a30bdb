// SPDX-License-Identifier: MIT
/*
 * Control and status registers, and the instructions that access them.
 *
 * Sources: privileged ISA 20211203, chapter 2 and section 3.1; unprivileged ISA 20191213,
 * chapters 9 (Zicsr) and 10 (Zicntr). One table binds each number to its behaviour; the
 * decoder turns the number into a row of it.
 *
 * Limits: no user mode, so mcounteren is 0 and ignores writes; no event counters beyond cycle
 * and instret, which count together except that an instruction that traps does not retire;
 * mcountinhibit is 0.
 */
#include "debug.h"
#include "internal.h"

struct csr {
	uint16_t first;
	uint16_t last;
	uint32_t (*read)(const struct fwcpu *cpu);
	void (*write)(struct fwcpu *cpu, uint32_t val);
};

#define MSTATUS_BITS	(RV_MSTATUS_MIE | RV_MSTATUS_MPIE)
#define MIE_BITS	((1u << RV_IRQ_TIMER) | (1u << RV_IRQ_EXTERNAL))
#define MTVEC_BITS	(RV_MTVEC_BASE | RV_MTVEC_VECTORED)
#define MEPC_BITS	(~1u)

static uint32_t read_zero(const struct fwcpu *cpu)
{
	(void)cpu;
	return 0;
}

static void write_nothing(struct fwcpu *cpu, uint32_t val)
{
	(void)cpu;
	(void)val;
}

static uint32_t read_mstatus(const struct fwcpu *cpu)
{
	return cpu->arch.mstatus | RV_MSTATUS_MPP_M;
}

static void write_mstatus(struct fwcpu *cpu, uint32_t val)
{
	cpu->arch.mstatus = val & MSTATUS_BITS;
}

static uint32_t read_misa(const struct fwcpu *cpu)
{
	(void)cpu;
	return RV_MISA;
}

static uint32_t read_mie(const struct fwcpu *cpu)
{
	return cpu->arch.mie;
}

static void write_mie(struct fwcpu *cpu, uint32_t val)
{
	cpu->arch.mie = val & MIE_BITS;
}

static uint32_t read_mip(const struct fwcpu *cpu)
{
	return fwcpu_pending(cpu, cpu->now);
}

static uint32_t read_mtvec(const struct fwcpu *cpu)
{
	return cpu->arch.mtvec;
}

static void write_mtvec(struct fwcpu *cpu, uint32_t val)
{
	cpu->arch.mtvec = val & MTVEC_BITS;
}

static uint32_t read_mscratch(const struct fwcpu *cpu)
{
	return cpu->arch.mscratch;
}

static void write_mscratch(struct fwcpu *cpu, uint32_t val)
{
	cpu->arch.mscratch = val;
}

static uint32_t read_mepc(const struct fwcpu *cpu)
{
	return cpu->arch.mepc;
}

static void write_mepc(struct fwcpu *cpu, uint32_t val)
{
	cpu->arch.mepc = val & MEPC_BITS;
	cpu->arch.trap_open = 0;
}

static uint32_t read_mcause(const struct fwcpu *cpu)
{
	return cpu->arch.mcause;
}

static void write_mcause(struct fwcpu *cpu, uint32_t val)
{
	cpu->arch.mcause = val;
}

static uint32_t read_mtval(const struct fwcpu *cpu)
{
	return cpu->arch.mtval;
}

static void write_mtval(struct fwcpu *cpu, uint32_t val)
{
	cpu->arch.mtval = val;
}

static uint32_t read_mhartid(const struct fwcpu *cpu)
{
	return cpu->cfg.hart_id;
}

static uint32_t read_cycle(const struct fwcpu *cpu)
{
	return (uint32_t)cpu->arch.mcycle;
}

static uint32_t read_cycleh(const struct fwcpu *cpu)
{
	return (uint32_t)(cpu->arch.mcycle >> 32);
}

static uint32_t read_instret(const struct fwcpu *cpu)
{
	return (uint32_t)cpu->arch.minstret;
}

static uint32_t read_instreth(const struct fwcpu *cpu)
{
	return (uint32_t)(cpu->arch.minstret >> 32);
}

static uint32_t read_time(const struct fwcpu *cpu)
{
	return (uint32_t)cpu->now;
}

static uint32_t read_timeh(const struct fwcpu *cpu)
{
	return (uint32_t)(cpu->now >> 32);
}

/*
 * A written counter has the written value at the next instruction (3.1.10), so the following
 * count of the writing instruction itself is subtracted.
 */
static uint64_t with_low(uint64_t counter, uint32_t val)
{
	return (counter >> 32 << 32 | val) - 1;
}

static uint64_t with_high(uint64_t counter, uint32_t val)
{
	return ((uint64_t)val << 32 | (uint32_t)counter) - 1;
}

static void write_mcycle(struct fwcpu *cpu, uint32_t val)
{
	cpu->arch.mcycle = with_low(cpu->arch.mcycle, val);
}

static void write_mcycleh(struct fwcpu *cpu, uint32_t val)
{
	cpu->arch.mcycle = with_high(cpu->arch.mcycle, val);
}

static void write_minstret(struct fwcpu *cpu, uint32_t val)
{
	cpu->arch.minstret = with_low(cpu->arch.minstret, val);
}

static void write_minstreth(struct fwcpu *cpu, uint32_t val)
{
	cpu->arch.minstret = with_high(cpu->arch.minstret, val);
}

#define ONE(number)		RV_CSR_##number, RV_CSR_##number
#define RANGE(from, to)		RV_CSR_##from, RV_CSR_##to

/* Registers from RV_CSR_READ_ONLY on are never written: no function needed. */
static const struct csr csrs[] = {
	{ ONE(MSTATUS),		read_mstatus,	write_mstatus },
	{ ONE(MIE),		read_mie,	write_mie },
	{ ONE(MIP),		read_mip,	write_nothing },
	{ ONE(MTVEC),		read_mtvec,	write_mtvec },
	{ ONE(MSCRATCH),	read_mscratch,	write_mscratch },
	{ ONE(MEPC),		read_mepc,	write_mepc },
	{ ONE(MCAUSE),		read_mcause,	write_mcause },
	{ ONE(MTVAL),		read_mtval,	write_mtval },
	{ ONE(MISA),		read_misa,	write_nothing },
	{ ONE(MSTATUSH),	read_zero,	write_nothing },
	{ ONE(MCOUNTEREN),	read_zero,	write_nothing },
	{ ONE(MCOUNTINHIBIT),	read_zero,	write_nothing },
	{ RANGE(MHPMEVENT3, MHPMEVENT31),	read_zero,	write_nothing },
	{ ONE(MCYCLE),		read_cycle,	write_mcycle },
	{ ONE(MCYCLEH),		read_cycleh,	write_mcycleh },
	{ ONE(MINSTRET),	read_instret,	write_minstret },
	{ ONE(MINSTRETH),	read_instreth,	write_minstreth },
	{ RANGE(MHPMCOUNTER3, MHPMCOUNTER31),	read_zero,	write_nothing },
	{ RANGE(MHPMCOUNTER3H, MHPMCOUNTER31H),	read_zero,	write_nothing },
	{ ONE(CYCLE),		read_cycle,	NULL },
	{ ONE(CYCLEH),		read_cycleh,	NULL },
	{ ONE(TIME),		read_time,	NULL },
	{ ONE(TIMEH),		read_timeh,	NULL },
	{ ONE(INSTRET),		read_instret,	NULL },
	{ ONE(INSTRETH),	read_instreth,	NULL },
	{ ONE(MVENDORID),	read_zero,	NULL },
	{ ONE(MARCHID),		read_zero,	NULL },
	{ ONE(MIMPID),		read_zero,	NULL },
	{ ONE(MHARTID),		read_mhartid,	NULL },
	{ ONE(MCONFIGPTR),	read_zero,	NULL },
};

int fwcpu_csr_row(uint32_t number, bool write)
{
	if (write && number >= RV_CSR_READ_ONLY)
		return -1;
	for (unsigned int i = 0; i < sizeof(csrs) / sizeof(csrs[0]); i++) {
		if (number >= csrs[i].first && number <= csrs[i].last)
			return (int)i;
	}
	return -1;
}

bool fwcpu_csr_execute(struct fwcpu *cpu, const struct fwcpu_insn *in)
{
	const struct csr *csr = &csrs[in->imm];
	uint32_t *x = cpu->arch.x;
	uint32_t operand = in->rs2 & RV_CSR_IMM ? in->rs1 : x[in->rs1];
	uint32_t action = in->rs2 & ~(uint32_t)RV_CSR_IMM;
	uint32_t old = csr->read(cpu);
	/* Set and clear write only when the rs1 field is not 0 (chapter 9). */
	bool write = action == RV_CSRRW || in->rs1 != 0;

	if (write && action == RV_CSRRW)
		csr->write(cpu, operand);
	else if (write && action == RV_CSRRS)
		csr->write(cpu, old | operand);
	else if (write)
		csr->write(cpu, old & ~operand);
	x[in->rd] = old;
	return write;
}

bool fwcpu_csr_peek(const struct fwcpu *cpu, uint32_t number, uint32_t *val)
{
	int row = fwcpu_csr_row(number, false);

	if (row < 0)
		return false;
	*val = csrs[row].read(cpu);
	return true;
}

/* A counter is written as of the end of an instruction, and here there is none. */
bool fwcpu_csr_poke(struct fwcpu *cpu, uint32_t number, uint32_t val)
{
	int row = number < RV_CSR_MCYCLE ? fwcpu_csr_row(number, true) : -1;

	if (row < 0)
		return false;
	csrs[row].write(cpu, val);
	return true;
}

void fwcpu_csr_legalise(struct fwcpu_arch *arch)
{
	arch->mstatus &= MSTATUS_BITS;
	arch->mie &= MIE_BITS;
	arch->mtvec &= MTVEC_BITS;
	arch->mepc &= MEPC_BITS;
}
