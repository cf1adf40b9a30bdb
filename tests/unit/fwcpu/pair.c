// SPDX-License-Identifier: MIT
/*
 * A firmware processor and its reference, started in the same state and compared; see pair.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pair.h"

static void cpu_set_irq(void *target, bool level)
{
	fwcpu_set_irq(target, level);
}

static void cpu_set_timer(void *target, uint64_t mtimecmp)
{
	fwcpu_set_timer(target, mtimecmp);
}

static void ref_set_irq(void *target, bool level)
{
	struct ref *r = target;

	r->irq = level;
}

static void ref_set_timer(void *target, uint64_t mtimecmp)
{
	struct ref *r = target;

	r->mtimecmp = mtimecmp;
}

int pair_setup(void **state)
{
	struct pair *p = calloc(1, sizeof(*p));
	struct fwcpu_config cfg = {
		.ram_size = FX_RAM_SIZE,
		.mmio_base = FX_MMIO_BASE,
		.mmio_size = FX_MMIO_SIZE,
		.window_base = FX_WINDOW_BASE,
		.hart_id = PAIR_HART,
		.bus = {
			.load = fx_load,
			.store = fx_store,
			.window_ptr = fx_window_ptr,
		},
	};

	if (!p)
		return -1;
	cfg.ram = p->cpu_fixture.ram;
	cfg.bus.opaque = &p->cpu_fixture;
	if (fwcpu_init(&p->cpu, &cfg)) {
		free(p);
		return -1;
	}
	pair_restart(p);
	*state = p;
	return 0;
}

int pair_teardown(void **state)
{
	struct pair *p = *state;

	fwcpu_destroy(&p->cpu);
	free(p);
	return 0;
}

void pair_restart(struct pair *p)
{
	memset(&p->cpu_fixture, 0, sizeof(p->cpu_fixture));
	memset(&p->ref_fixture, 0, sizeof(p->ref_fixture));
	memset(&p->ref, 0, sizeof(p->ref));
	p->now = 0;

	p->cpu_fixture.target = &p->cpu;
	p->cpu_fixture.set_irq = cpu_set_irq;
	p->cpu_fixture.set_timer = cpu_set_timer;
	fwcpu_reset(&p->cpu);
	fwcpu_set_irq(&p->cpu, false);
	fwcpu_start(&p->cpu, PAIR_CODE);
	p->cpu.arch.mtvec = PAIR_HANDLER;

	p->ref_fixture.target = &p->ref;
	p->ref_fixture.set_irq = ref_set_irq;
	p->ref_fixture.set_timer = ref_set_timer;
	p->ref.fixture = &p->ref_fixture;
	p->ref.hart_id = PAIR_HART;
	p->ref.mtimecmp = UINT64_MAX;
	p->ref.mtvec = PAIR_HANDLER;
	p->ref.pc = PAIR_CODE;
}

void pair_put16(struct pair *p, uint32_t addr, uint32_t val)
{
	for (unsigned int i = 0; i < 2; i++) {
		p->cpu_fixture.ram[addr + i] = (uint8_t)(val >> (8 * i));
		p->ref_fixture.ram[addr + i] = (uint8_t)(val >> (8 * i));
	}
	fwcpu_code_changed(&p->cpu, addr, 2);
}

void pair_put32(struct pair *p, uint32_t addr, uint32_t val)
{
	pair_put16(p, addr, val & 0xffff);
	pair_put16(p, addr + 2, val >> 16);
}

void pair_code(struct pair *p, const uint32_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		pair_put32(p, PAIR_CODE + 4 * (uint32_t)i, words[i]);
}

void pair_set_x(struct pair *p, unsigned int reg, uint32_t val)
{
	if (reg == 0)
		return;
	p->cpu.arch.x[reg] = val;
	p->ref.x[reg] = val;
}

void pair_set_pc(struct pair *p, uint32_t pc)
{
	p->cpu.arch.pc = pc;
	p->ref.pc = pc;
}

void pair_set_irq(struct pair *p, bool level)
{
	fwcpu_set_irq(&p->cpu, level);
	p->ref.irq = level;
}

void pair_set_timer(struct pair *p, uint64_t mtimecmp)
{
	fwcpu_set_timer(&p->cpu, mtimecmp);
	p->ref.mtimecmp = mtimecmp;
}

static uint32_t ref_mstatus(const struct ref *r)
{
	return (uint32_t)r->mpie_bit << 7 | (uint32_t)r->mie_bit << 3;
}

static unsigned int differ(const struct pair *p, const char *name, uint64_t cpu, uint64_t ref)
{
	if (cpu == ref)
		return 0;
	print_error("%s: %s is %#" PRIx64 ", should be %#" PRIx64 "\n", p->what, name, cpu, ref);
	return 1;
}

static unsigned int compare_memory(const struct pair *p)
{
	unsigned int bad = 0;

	for (uint32_t i = 0; i < FX_RAM_SIZE; i++) {
		if (p->cpu_fixture.ram[i] != p->ref_fixture.ram[i])
			bad += differ(p, "RAM", i, p->ref_fixture.ram[i]);
	}
	for (uint32_t i = 0; i < FX_MMIO_REGS; i++)
		bad += differ(p, "register", p->cpu_fixture.mmio[i], p->ref_fixture.mmio[i]);
	if (memcmp(p->cpu_fixture.pages, p->ref_fixture.pages, sizeof(p->cpu_fixture.pages)))
		bad += differ(p, "window", 0, 1);
	return bad;
}

static unsigned int compare_registers(const struct pair *p)
{
	const struct fwcpu_arch *a = &p->cpu.arch;
	const struct ref *r = &p->ref;
	unsigned int bad = 0;
	char name[8];

	for (unsigned int i = 0; i < 32; i++) {
		snprintf(name, sizeof(name), "x%u", i);
		bad += differ(p, name, a->x[i], r->x[i]);
	}
	bad += differ(p, "pc", a->pc, r->pc);
	bad += differ(p, "mstatus", a->mstatus, ref_mstatus(r));
	bad += differ(p, "mie", a->mie, r->mie);
	bad += differ(p, "mtvec", a->mtvec, r->mtvec);
	bad += differ(p, "mscratch", a->mscratch, r->mscratch);
	bad += differ(p, "mepc", a->mepc, r->mepc);
	bad += differ(p, "mcause", a->mcause, r->mcause);
	bad += differ(p, "mtval", a->mtval, r->mtval);
	bad += differ(p, "mcycle", a->mcycle, r->mcycle);
	bad += differ(p, "minstret", a->minstret, r->minstret);
	bad += differ(p, "mtimecmp", a->mtimecmp, r->mtimecmp);
	return bad;
}

void pair_compare(struct pair *p)
{
	static const enum fwcpu_state states[] = {
		[REF_RUNNING] = FWCPU_STATE_RUNNING,
		[REF_WAITING] = FWCPU_STATE_WAITING,
		[REF_LOCKUP] = FWCPU_STATE_LOCKUP,
	};
	unsigned int bad = 0;

	bad += differ(p, "state", p->cpu.arch.state, states[p->ref.state]);
	bad += compare_registers(p);
	if (memcmp(p->cpu_fixture.ram, p->ref_fixture.ram, FX_RAM_SIZE) ||
	    memcmp(p->cpu_fixture.mmio, p->ref_fixture.mmio, sizeof(p->ref_fixture.mmio)) ||
	    memcmp(p->cpu_fixture.pages, p->ref_fixture.pages, sizeof(p->ref_fixture.pages)))
		bad += compare_memory(p);
	if (bad)
		fail_msg("%s: processor and reference differ", p->what);
}

enum fwcpu_stop pair_run(struct pair *p, uint32_t budget)
{
	enum fwcpu_stop stop;
	uint32_t left = budget;

	/* fwcpu_run() returns early after slow operations. */
	do {
		stop = fwcpu_run(&p->cpu, left, p->now);
		left -= p->cpu.executed;
	} while (stop == FWCPU_STOP_BUDGET && left);
	p->ref.mtime = p->now;
	/* The reference does not advance while it waits or is locked up. */
	for (uint32_t i = 0; i < budget; i++)
		ref_step(&p->ref);
	/* An interrupt that became due with the last instruction was taken. */
	ref_interrupts(&p->ref);
	pair_compare(p);
	return stop;
}

uint32_t pair_word(const struct pair *p, uint32_t addr)
{
	const uint8_t *ram = p->cpu_fixture.ram + addr;

	return ram[0] | (uint32_t)ram[1] << 8 | (uint32_t)ram[2] << 16 | (uint32_t)ram[3] << 24;
}

/* xorshift64 with a multiplication, after Vigna's description of xorshift*. */
uint32_t random_next(struct random *r)
{
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return (uint32_t)((r->state * 0x2545f4914f6cdd1dull) >> 32);
}

uint32_t random_operand(struct random *r)
{
	static const uint32_t edges[] = {
		0, 1, 2, 31, 32, 0xffffffff, 0xfffffffe, 0x80000000, 0x80000001, 0x7fffffff,
		0x7fff, 0x8000, 0xff, 0x80, 0xffff8000,
	};
	uint32_t choice = random_next(r) % 32;

	return choice < sizeof(edges) / sizeof(edges[0]) ? edges[choice] : random_next(r);
}

uint64_t random_seed(const char *test)
{
	const char *given = getenv("FWCPU_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);

	print_message("%s: FWCPU_SEED=%" PRIu64 "\n", test, seed);
	return seed * 2 + 1;
}
