/* SPDX-License-Identifier: MIT */
/*
 * Control and status registers of the firmware processor.
 *
 * Source: The RISC-V Instruction Set Manual, volume II, chapter 3. The manual's
 * bits are defined here because no file of hw/ defines them.
 */
#ifndef FW_CSR_H
#define FW_CSR_H

#define MSTATUS_MIE	0x8		/* interrupts enabled */
#define MIE_MTIE	0x80		/* timer interrupts enabled */
#define MIE_MEIE	0x800		/* external interrupts enabled */
#define MCAUSE_LOAD_FAULT	5	/* load access fault */
#define MCAUSE_STORE_FAULT	7	/* store access fault */
#define MCAUSE_TIMER	0x80000007	/* machine timer interrupt */
#define MCAUSE_EXTERNAL	0x8000000b	/* machine external interrupt */

#ifndef __ASSEMBLER__

#include "pumice_types.h"

/** irq_off - disable interrupts. Return: argument for irq_restore(). */
static inline u32 irq_off(void)
{
	u32 old;

	__asm__ volatile("csrrci %0, mstatus, %1" : "=r"(old) : "i"(MSTATUS_MIE) : "memory");
	return old & MSTATUS_MIE;
}

/** irq_restore - undo irq_off(); nests. */
static inline void irq_restore(u32 old)
{
	__asm__ volatile("csrs mstatus, %0" : : "r"(old) : "memory");
}

/** irq_on - enable interrupts. */
static inline void irq_on(void)
{
	__asm__ volatile("csrsi mstatus, %0" : : "i"(MSTATUS_MIE) : "memory");
}

/** wait_for_interrupt - sleep until an interrupt is pending, even if mstatus disables it. */
static inline void wait_for_interrupt(void)
{
	__asm__ volatile("wfi" : : : "memory");
}

/** fence_writes - order all earlier writes before all later writes. */
static inline void fence_writes(void)
{
	__asm__ volatile("fence w, w" : : : "memory");
}

/** fence_reads - order all earlier reads before all later reads. */
static inline void fence_reads(void)
{
	__asm__ volatile("fence r, r" : : : "memory");
}

#endif
#endif
