// SPDX-License-Identifier: MIT
/*
 * Benchmark of the firmware processor: instructions per second of one thread.
 *
 * The loop mixes typical operations of firmware: byte and word loads and stores, a call and
 * a return, a multiplication, shifts, compares and branches, half of it
 * compressed. Usage: fwcpu_bench [millions of instructions, default 300]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fwcpu.h"

#define RAM_SIZE	(1024u * 1024u)
#define SLICE		100000u		/* budget of one fwcpu_run(), as the device uses it */

/*
 * Walks a 4 KiB table: loads an entry, mixes it by a function, stores it back.
 *
 *	entry:	lui   s0, 0x8		# table
 *	again:	mv    a5, s0
 *		lui   a4, 0x1
 *		add   a4, a4, s0	# its end
 *	loop:	lw    a0, 0(a5)
 *		lbu   a1, 5(a5)
 *		jal   mix
 *		sw    a0, 0(a5)
 *		sb    a0, 9(a5)
 *		addi  a5, a5, 4
 *		bltu  a5, a4, loop
 *		j     again
 *	mix:	slli  a2, a0, 5
 *		srli  a3, a0, 27
 *		or    a2, a2, a3
 *		mul   a0, a2, a1
 *		add   a0, a0, a2
 *		xor   a0, a0, a1
 *		bnez  a0, out
 *		addi  a0, a0, 1
 *	out:	ret
 */
static const uint16_t program[] = {
	0x6421, 0x87a2, 0x6705, 0x9722,
	0x4388, 0xc583, 0x0057, 0x00ef, 0x0120, 0xc388, 0x84a3, 0x00a7, 0x0791,
	0xe7e3, 0xfee7, 0xb7d5,
	0x1613, 0x0055, 0x5693, 0x01b5, 0x8e55, 0x0533, 0x02b6, 0x9532, 0x8d2d,
	0xe111, 0x0505, 0x8082,
};

/* There is only RAM here. */
static bool no_load(void *opaque, uint32_t addr, unsigned int size, uint32_t *val)
{
	(void)opaque, (void)addr, (void)size, (void)val;
	return false;
}

static bool no_store(void *opaque, uint32_t addr, unsigned int size, uint32_t val)
{
	(void)opaque, (void)addr, (void)size, (void)val;
	return false;
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void load_program(uint8_t *ram)
{
	for (size_t i = 0; i < sizeof(program) / sizeof(program[0]); i++) {
		ram[2 * i] = (uint8_t)program[i];
		ram[2 * i + 1] = (uint8_t)(program[i] >> 8);
	}
}

/* Run @total instructions in slices; false if the program left its loop. */
static bool measure(struct fwcpu *cpu, uint64_t total)
{
	uint64_t done = 0;
	double start = seconds();
	double took;

	while (done < total) {
		if (fwcpu_run(cpu, SLICE, done) != FWCPU_STOP_BUDGET)
			return false;
		done += cpu->executed;
	}
	took = seconds() - start;
	printf("fwcpu: %.0f million instructions in %.3f s: %.1f million per second\n",
	       (double)done * 1e-6, took, (double)done * 1e-6 / took);
	return cpu->arch.minstret == done;
}

int main(int argc, char **argv)
{
	uint64_t millions = argc > 1 ? strtoull(argv[1], NULL, 10) : 300;
	struct fwcpu_config cfg = {
		.ram = calloc(1, RAM_SIZE),
		.ram_size = RAM_SIZE,
		.mmio_base = 0x10000000,
		.mmio_size = 0x10000,
		.window_base = 0x80000000,
		.bus = { .load = no_load, .store = no_store },
	};
	struct fwcpu cpu;
	bool ok;

	if (!cfg.ram || fwcpu_init(&cpu, &cfg)) {
		fprintf(stderr, "fwcpu_bench: out of memory\n");
		free(cfg.ram);
		return 1;
	}
	load_program(cfg.ram);
	fwcpu_start(&cpu, 0);
	ok = measure(&cpu, millions * 1000000);
	if (!ok)
		fprintf(stderr, "fwcpu_bench: the program left its loop at pc %#x\n", cpu.arch.pc);
	fwcpu_destroy(&cpu);
	free(cfg.ram);
	return ok ? 0 : 1;
}
