// SPDX-License-Identifier: MIT
/*
 * Traps: exceptions, interrupts, return, and lockup.
 *
 * Source: privileged ISA 20211203, sections 3.1.6.1 (MIE, MPIE), 3.1.7 (mtvec), 3.1.9
 * (interrupts and their priority), 3.3.2 (MRET), 3.3.3 (WFI). Lockup is specific to this
 * processor: see fwcpu.h.
 */
#include "internal.h"

static void lockup(struct fwcpu *cpu, uint32_t cause, uint32_t tval)
{
	struct fwcpu_arch *arch = &cpu->arch;

	arch->state = FWCPU_STATE_LOCKUP;
	arch->lockup_pc = arch->pc;
	arch->lockup_cause = cause;
	arch->lockup_tval = tval;
}

static void enter(struct fwcpu *cpu, uint32_t cause, uint32_t tval)
{
	struct fwcpu_arch *arch = &cpu->arch;
	uint32_t base = arch->mtvec & RV_MTVEC_BASE;

	if (base == 0) {
		lockup(cpu, cause, tval);
		return;
	}

	arch->mepc = arch->pc;
	arch->mcause = cause;
	arch->mtval = tval;
	arch->mstatus = arch->mstatus & RV_MSTATUS_MIE ? RV_MSTATUS_MPIE : 0;
	arch->trap_open = 1;
	arch->pc = base;
	if ((cause & RV_CAUSE_INTERRUPT) && (arch->mtvec & RV_MTVEC_VECTORED))
		arch->pc += 4 * (cause & ~RV_CAUSE_INTERRUPT);
}

/* Take an exception: the instruction at arch.pc cannot complete. */
void fwcpu_exception(struct fwcpu *cpu, uint32_t cause, uint32_t tval)
{
	struct fwcpu_arch *arch = &cpu->arch;

	if (arch->trap_open && arch->mepc == arch->pc && arch->mcause == cause)
		lockup(cpu, cause, tval);
	else
		enter(cpu, cause, tval);
}

void fwcpu_fail(struct fwcpu *cpu, bool lock_up)
{
	struct fwcpu_arch *arch = &cpu->arch;

	if (arch->state != FWCPU_STATE_RUNNING && arch->state != FWCPU_STATE_WAITING)
		return;
	arch->state = FWCPU_STATE_RUNNING;
	if (lock_up)
		lockup(cpu, RV_CAUSE_ILLEGAL, 0);
	else
		fwcpu_exception(cpu, RV_CAUSE_ILLEGAL, 0);
}

void fwcpu_mret(struct fwcpu *cpu)
{
	struct fwcpu_arch *arch = &cpu->arch;

	arch->mstatus = RV_MSTATUS_MPIE | (arch->mstatus & RV_MSTATUS_MPIE ? RV_MSTATUS_MIE : 0);
	arch->trap_open = 0;
	arch->pc = arch->mepc;
}

/* Return the value of mip at @now. */
uint32_t fwcpu_pending(const struct fwcpu *cpu, uint64_t now)
{
	uint32_t pending = 0;

	if (__atomic_load_n(&cpu->irq_line, __ATOMIC_ACQUIRE))
		pending |= 1u << RV_IRQ_EXTERNAL;
	if (now >= cpu->arch.mtimecmp)
		pending |= 1u << RV_IRQ_TIMER;
	return pending;
}

/*
 * Serve external requests between two instructions. Returns whether to execute an
 * instruction. Any enabled interrupt ends WFI, also while mstatus.MIE masks it.
 */
bool fwcpu_poll(struct fwcpu *cpu)
{
	struct fwcpu_arch *arch = &cpu->arch;
	uint32_t due = fwcpu_pending(cpu, cpu->now) & arch->mie;

	if (fwcpu_unlikely(__atomic_load_n(&cpu->halt_request, __ATOMIC_RELAXED))) {
		__atomic_store_n(&cpu->halt_request, 0, __ATOMIC_RELAXED);
		if (arch->state != FWCPU_STATE_LOCKUP)
			arch->state = FWCPU_STATE_STOPPED;
	}
	if (due && arch->state == FWCPU_STATE_WAITING)
		arch->state = FWCPU_STATE_RUNNING;
	if (arch->state != FWCPU_STATE_RUNNING)
		return false;

	if (due && (arch->mstatus & RV_MSTATUS_MIE)) {
		uint32_t irq = due >> RV_IRQ_EXTERNAL & 1 ? RV_IRQ_EXTERNAL : RV_IRQ_TIMER;

		enter(cpu, RV_CAUSE_INTERRUPT | irq, 0);
	}
	return arch->state == FWCPU_STATE_RUNNING;
}
