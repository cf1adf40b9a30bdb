// SPDX-License-Identifier: MIT
/*
 * Firmware processor: breakpoints and single steps. See debug.h.
 */
#include "debug.h"

#include <errno.h>

#include "internal.h"

/* Index in the table, or its count. */
static uint32_t find(const struct fwcpu *cpu, uint32_t addr)
{
	uint32_t i;

	for (i = 0; i < cpu->breakpoints.count; i++) {
		if (cpu->breakpoints.addr[i] == addr)
			break;
	}
	return i;
}

/* Have the instruction at @addr decoded again before it is executed. */
static void decode_again(struct fwcpu *cpu, uint32_t addr)
{
	fwcpu_code_changed(cpu, addr, 1);
}

bool fwcpu_has_breakpoint(const struct fwcpu *cpu, uint32_t addr)
{
	return find(cpu, addr) < cpu->breakpoints.count;
}

int fwcpu_add_breakpoint(struct fwcpu *cpu, uint32_t addr)
{
	struct fwcpu_breakpoints *b = &cpu->breakpoints;

	if ((addr & 1) || addr >= cpu->cfg.ram_size)
		return -EINVAL;
	if (fwcpu_has_breakpoint(cpu, addr))
		return 0;
	if (b->count == FWCPU_BREAKPOINTS)
		return -ENOSPC;
	b->addr[b->count++] = addr;
	decode_again(cpu, addr);
	return 0;
}

int fwcpu_remove_breakpoint(struct fwcpu *cpu, uint32_t addr)
{
	struct fwcpu_breakpoints *b = &cpu->breakpoints;
	uint32_t i = find(cpu, addr);

	if (i == b->count)
		return -ENOENT;
	b->addr[i] = b->addr[--b->count];
	decode_again(cpu, addr);
	return 0;
}

void fwcpu_remove_breakpoints(struct fwcpu *cpu)
{
	while (cpu->breakpoints.count)
		fwcpu_remove_breakpoint(cpu, cpu->breakpoints.addr[0]);
}

void fwcpu_step(struct fwcpu *cpu, uint64_t now)
{
	struct fwcpu_arch *arch = &cpu->arch;
	const uint32_t pc = arch->pc, count = cpu->breakpoints.count;

	cpu->now = now;
	cpu->executed = 0;
	cpu->slow = 0;
	cpu->retry = false;
	cpu->break_hit = false;
	if (arch->state == FWCPU_STATE_WAITING)
		arch->state = FWCPU_STATE_RUNNING;
	if (arch->state != FWCPU_STATE_RUNNING)
		return;
	cpu->breakpoints.count = 0;
	decode_again(cpu, pc);
	fwcpu_exec(cpu, 1);
	cpu->breakpoints.count = count;
	decode_again(cpu, pc);
	if (arch->state == FWCPU_STATE_WAITING)
		arch->state = FWCPU_STATE_RUNNING;
}

void fwcpu_set_pc(struct fwcpu *cpu, uint32_t pc)
{
	cpu->arch.pc = pc & ~1u;
	if (cpu->arch.state == FWCPU_STATE_WAITING)
		cpu->arch.state = FWCPU_STATE_RUNNING;
}
