// SPDX-License-Identifier: MIT
/*
 * Random instruction sequences: processor against reference.
 *
 * RAM is filled with legal instructions of every kind, with random halfwords
 * and with garbage; code, data and trap handler share one memory, so
 * programs overwrite themselves. Interrupts, timer and budget change at random.
 * Limits: lockup and a WFI without a wake-up end a sequence early.
 */
#include <stdio.h>

#include "pair.h"

#define SEQUENCES	10000
#define RUNS		30

static uint32_t random_insn32(struct random *rnd)
{
	const struct ref_op *op = &ref_ops32[random_next(rnd) % ref_ops32_count];
	uint32_t raw = (random_next(rnd) & ~op->mask) | op->match;

	/* Half of the CSR accesses use a writable register. */
	if (op->format == REF_CSR && random_next(rnd) % 2) {
		static const uint16_t csrs[] = {
			0x300, 0x304, 0x305, 0x340, 0x341, 0x342, 0x343, 0x344, 0xb00, 0xb02,
			0xb80, 0xb82, 0xc00, 0xc01, 0xc02,
		};
		uint32_t csr = csrs[random_next(rnd) % (sizeof(csrs) / sizeof(csrs[0]))];

		raw = (raw & 0x000fffff) | csr << 20;
	}
	/* Near targets, so that some jumps stay inside RAM. */
	if ((op->format == REF_B || op->format == REF_J) && random_next(rnd) % 4)
		raw &= op->format == REF_B ? 0x01fff1ff : 0x03f00fff;
	return raw;
}

static void fill_ram(struct pair *p, struct random *rnd)
{
	uint32_t at = 0;

	while (at + 4 <= FX_RAM_SIZE) {
		switch (random_next(rnd) % 16) {
		case 0:
			pair_put16(p, at, random_next(rnd) & 0xffff);
			at += 2;
			break;
		case 1: case 2: case 3: case 4: case 5:
			pair_put16(p, at, (random_next(rnd) & 0xfffc) | random_next(rnd) % 3);
			at += 2;
			break;
		default:
			pair_put32(p, at, random_insn32(rnd));
			at += 4;
			break;
		}
	}
}

/* Registers contain operands, addresses of every region, or random values. */
static void fill_registers(struct pair *p, struct random *rnd)
{
	for (unsigned int i = 1; i < 32; i++) {
		uint32_t val = random_operand(rnd);

		switch (random_next(rnd) % 8) {
		case 0: case 1: case 2:
			val = random_next(rnd) % FX_RAM_SIZE & ~3u;
			break;
		case 3:
			val = FX_WINDOW_BASE + random_next(rnd) % (5 * FX_PAGE_SIZE);
			break;
		case 4:
			val = FX_MMIO_BASE + (random_next(rnd) % FX_MMIO_SIZE & ~3u);
			break;
		}
		pair_set_x(p, i, val);
	}
}

/* Interrupts are enabled or not; most programs have a handler inside RAM. */
static void fill_csrs(struct pair *p, struct random *rnd)
{
	uint32_t mie = random_next(rnd) & 0x880;
	bool open = random_next(rnd) % 2;
	uint32_t mtvec = random_next(rnd) % 16 ? random_next(rnd) % FX_RAM_SIZE & ~2u : 0;

	p->cpu.arch.mie = mie;
	p->ref.mie = mie;
	p->cpu.arch.mstatus = open ? 8 : 0;
	p->ref.mie_bit = open;
	p->cpu.arch.mtvec = mtvec;
	p->ref.mtvec = mtvec;
}

static void disturb(struct pair *p, struct random *rnd)
{
	p->now += random_next(rnd) % 1000;
	switch (random_next(rnd) % 8) {
	case 0:
		pair_set_irq(p, random_next(rnd) % 2);
		break;
	case 1:
		pair_set_timer(p, p->now + random_next(rnd) % 2000);
		break;
	case 2:
		fwcpu_window_flush(&p->cpu);
		break;
	}
}

static void random_programs_agree_with_the_reference(void **state)
{
	struct pair *p = *state;
	struct random rnd = { random_seed(__func__) };
	uint64_t retired = 0;

	for (int i = 0; i < SEQUENCES; i++) {
		pair_restart(p);
		fill_ram(p, &rnd);
		fill_registers(p, &rnd);
		fill_csrs(p, &rnd);
		snprintf(p->what, sizeof(p->what), "sequence %d", i);
		for (int run = 0; run < RUNS; run++) {
			disturb(p, &rnd);
			pair_run(p, random_next(&rnd) % 100);
			if (p->ref.state == REF_LOCKUP)
				break;
		}
		retired += p->ref.minstret < 1000000 ? p->ref.minstret : 0;
	}
	print_message("%llu instructions compared\n", (unsigned long long)retired);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(random_programs_agree_with_the_reference,
						pair_setup, pair_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
