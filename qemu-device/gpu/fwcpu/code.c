// SPDX-License-Identifier: MIT
/*
 * Cache of decoded instructions: one record for each halfword of private RAM, filled when the
 * halfword is first executed.
 *
 * Stores need a cheap check whether they hit decoded code, so RAM is divided into granules;
 * code_map has a byte for each, set while a store starting in the granule could reach a
 * decoded instruction. A store into a marked granule drops the few records that contain its
 * bytes.
 *
 * The record after the last halfword is an end mark: running past the end of RAM reaches it
 * and faults, without a bounds check on every instruction.
 */
#include <errno.h>
#include <stdlib.h>

#include "debug.h"
#include "internal.h"

static uint32_t halfword_count(const struct fwcpu *cpu)
{
	return cpu->cfg.ram_size / 2;
}

static uint32_t granule_count(const struct fwcpu *cpu)
{
	return ((cpu->cfg.ram_size - 1) >> FWCPU_GRANULE_SHIFT) + 1;
}

int fwcpu_code_init(struct fwcpu *cpu)
{
	cpu->code = calloc((size_t)halfword_count(cpu) + 1, sizeof(*cpu->code));
	cpu->code_map = calloc(granule_count(cpu), 1);
	if (!cpu->code || !cpu->code_map) {
		fwcpu_code_destroy(cpu);
		return -ENOMEM;
	}
	cpu->code[halfword_count(cpu)].op = FWCPU_OP_FETCH_FAULT;
	return 0;
}

void fwcpu_code_destroy(struct fwcpu *cpu)
{
	free(cpu->code);
	free(cpu->code_map);
	cpu->code = NULL;
	cpu->code_map = NULL;
}

/* Mark the granules from which a store could reach @len bytes of code at @addr. */
static void mark_code(struct fwcpu *cpu, uint32_t addr, uint32_t len)
{
	uint32_t reach = FWCPU_MAX_STORE - 1;
	uint32_t first = (addr > reach ? addr - reach : 0) >> FWCPU_GRANULE_SHIFT;
	uint32_t last = (addr + len - 1) >> FWCPU_GRANULE_SHIFT;

	cpu->code_map[first] = 1;
	cpu->code_map[last] = 1;
}

/* Decode the instruction at halfword @at, which is inside RAM. */
void fwcpu_code_fill(struct fwcpu *cpu, uint32_t at)
{
	const uint8_t *p = cpu->cfg.ram + (size_t)at * 2;
	uint32_t low = fwcpu_get16(p);
	struct fwcpu_insn *in = &cpu->code[at];

	if (fwcpu_unlikely(cpu->breakpoints.count) && fwcpu_has_breakpoint(cpu, at * 2)) {
		*in = (struct fwcpu_insn) { .op = FWCPU_OP_BREAK };
		mark_code(cpu, at * 2, 2);
		return;
	}
	if ((low & 3) != 3) {
		*in = fwcpu_decode16((uint16_t)low);
		mark_code(cpu, at * 2, 2);
	} else if (at + 1 == halfword_count(cpu)) {
		*in = (struct fwcpu_insn) { .op = FWCPU_OP_FETCH_FAULT };
		mark_code(cpu, at * 2, 2);
	} else {
		*in = fwcpu_decode32(fwcpu_get32(p), at * 2);
		mark_code(cpu, at * 2, 4);
	}
}

/* Drop records @first to @last, both inside RAM. */
static void drop(struct fwcpu *cpu, uint32_t first, uint32_t last)
{
	memset(&cpu->code[first], 0, (size_t)(last - first + 1) * sizeof(*cpu->code));
}

/* Drop all records; the cost depends on the decoded instructions, not on the size of RAM. */
void fwcpu_code_flush(struct fwcpu *cpu)
{
	uint32_t per_granule = 1u << (FWCPU_GRANULE_SHIFT - 1);
	uint32_t end = halfword_count(cpu) - 1;

	cpu->slow++;
	for (uint32_t g = 0; g < granule_count(cpu); g++) {
		uint32_t first = g * per_granule;
		uint32_t last = first + per_granule - 1;

		if (!cpu->code_map[g])
			continue;
		drop(cpu, first, last < end ? last : end);
		cpu->code_map[g] = 0;
	}
}

/*
 * Drop records after a write of @len > 0 bytes of RAM at @addr. The instruction that starts
 * one halfword before them may be 4 bytes long and contain the first.
 */
void fwcpu_code_written(struct fwcpu *cpu, uint32_t addr, uint32_t len)
{
	uint32_t first = addr / 2;
	uint32_t last = (addr + len - 1) / 2;

	drop(cpu, first ? first - 1 : 0, last);
}

void fwcpu_code_changed(struct fwcpu *cpu, uint32_t addr, uint32_t len)
{
	if (addr >= cpu->cfg.ram_size || len == 0)
		return;
	if (len > cpu->cfg.ram_size - addr)
		len = cpu->cfg.ram_size - addr;
	fwcpu_code_written(cpu, addr, len);
}
