// SPDX-License-Identifier: MIT
/*
 * Firmware processor: set-up, reset, the run loop, and requests of other threads.
 *
 * See fwcpu.h for the machine and its limits.
 */
#include <errno.h>

#include "internal.h"

static bool config_valid(const struct fwcpu_config *cfg)
{
	uint64_t mmio_end = (uint64_t)cfg->mmio_base + cfg->mmio_size;

	return cfg->ram && cfg->ram_size >= 4 && cfg->ram_size % 4 == 0 &&
	       cfg->ram_size <= cfg->mmio_base &&
	       cfg->mmio_base % 4 == 0 && cfg->mmio_size % 4 == 0 &&
	       mmio_end <= cfg->window_base &&
	       cfg->window_base % FWCPU_WINDOW_PAGE == 0 &&
	       cfg->bus.load && cfg->bus.store;
}

int fwcpu_init(struct fwcpu *cpu, const struct fwcpu_config *cfg)
{
	int ret;

	memset(cpu, 0, sizeof(*cpu));
	if (!config_valid(cfg))
		return -EINVAL;
	cpu->cfg = *cfg;
	ret = fwcpu_code_init(cpu);
	if (ret)
		return ret;
	fwcpu_reset(cpu);
	return 0;
}

void fwcpu_destroy(struct fwcpu *cpu)
{
	fwcpu_code_destroy(cpu);
}

void fwcpu_reset(struct fwcpu *cpu)
{
	memset(&cpu->arch, 0, sizeof(cpu->arch));
	cpu->arch.mtimecmp = FWCPU_NO_DEADLINE;
	cpu->arch.state = FWCPU_STATE_STOPPED;
	cpu->executed = 0;
	__atomic_store_n(&cpu->halt_request, 0, __ATOMIC_RELAXED);
	fwcpu_tlb_clear(cpu);
	fwcpu_code_flush(cpu);
}

void fwcpu_start(struct fwcpu *cpu, uint32_t entry)
{
	cpu->arch.pc = entry & ~1u;
	cpu->arch.state = FWCPU_STATE_RUNNING;
}

void fwcpu_restore(struct fwcpu *cpu, const struct fwcpu_arch *arch)
{
	fwcpu_reset(cpu);
	cpu->arch = *arch;
	cpu->arch.x[0] = 0;
	cpu->arch.pc &= ~1u;
	cpu->arch.trap_open = !!arch->trap_open;
	fwcpu_csr_legalise(&cpu->arch);
	if (arch->state > FWCPU_STATE_LOCKUP)
		cpu->arch.state = FWCPU_STATE_STOPPED;
}

static enum fwcpu_stop stop_reason(const struct fwcpu *cpu)
{
	if (cpu->break_hit)
		return FWCPU_STOP_BREAK;
	switch (cpu->arch.state) {
	case FWCPU_STATE_RUNNING:
		return FWCPU_STOP_BUDGET;
	case FWCPU_STATE_WAITING:
		return FWCPU_STOP_WFI;
	case FWCPU_STATE_LOCKUP:
		return FWCPU_STOP_LOCKUP;
	default:
		return FWCPU_STOP_HALT;
	}
}

enum fwcpu_stop fwcpu_run(struct fwcpu *cpu, uint32_t budget, uint64_t now)
{
	cpu->now = now;
	cpu->executed = 0;
	cpu->slow = 0;
	cpu->retry = false;
	cpu->break_hit = false;
	while (!cpu->break_hit && fwcpu_poll(cpu) && cpu->executed < budget &&
	       cpu->slow < FWCPU_SLOW_MAX && !cpu->retry) {
		uint32_t left = budget - cpu->executed;

		fwcpu_exec(cpu, left < FWCPU_POLL_INTERVAL ? left : FWCPU_POLL_INTERVAL);
	}
	return stop_reason(cpu);
}

void fwcpu_slow(struct fwcpu *cpu, uint32_t count)
{
	cpu->slow += count;
}

void fwcpu_retry(struct fwcpu *cpu)
{
	cpu->retry = true;
}

void fwcpu_set_irq(struct fwcpu *cpu, bool level)
{
	__atomic_store_n(&cpu->irq_line, level, __ATOMIC_RELEASE);
}

void fwcpu_halt(struct fwcpu *cpu)
{
	__atomic_store_n(&cpu->halt_request, 1, __ATOMIC_RELAXED);
}

void fwcpu_set_timer(struct fwcpu *cpu, uint64_t mtimecmp)
{
	cpu->arch.mtimecmp = mtimecmp;
}

uint64_t fwcpu_next_deadline(const struct fwcpu *cpu)
{
	return cpu->arch.mie >> RV_IRQ_TIMER & 1 ? cpu->arch.mtimecmp : FWCPU_NO_DEADLINE;
}

bool fwcpu_wakeable(const struct fwcpu *cpu, uint64_t now)
{
	switch (cpu->arch.state) {
	case FWCPU_STATE_RUNNING:
		return true;
	case FWCPU_STATE_WAITING:
		return (fwcpu_pending(cpu, now) & cpu->arch.mie) ||
		       __atomic_load_n(&cpu->halt_request, __ATOMIC_RELAXED);
	default:
		return false;
	}
}

void fwcpu_window_flush(struct fwcpu *cpu)
{
	__atomic_store_n(&cpu->window_stale, 1, __ATOMIC_RELEASE);
}
