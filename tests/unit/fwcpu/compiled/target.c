// SPDX-License-Identifier: MIT
/*
 * The workloads on the firmware processor: start-up, interrupt handler, results.
 */
#include "workload.h"

/* Firmware-bus words of the test's fixture; word 0 lowers the interrupt. */
static volatile uint32_t *const regs = (volatile uint32_t *)0x10000000;

__asm__(".section .text.start, \"ax\"\n"
	".globl _start\n"
	"_start:\n"
	"	la	sp, stack_top\n"
	"	la	t0, on_interrupt\n"
	"	csrw	mtvec, t0\n"
	"	li	t0, 0x800\n"
	"	csrw	mie, t0\n"
	"	csrsi	mstatus, 8\n"
	"	call	run_workloads\n"
	"1:	wfi\n"
	"	j	1b\n");

void on_interrupt(void);
void run_workloads(void);

/* Compilers call these implicitly, freestanding or not. */
void *memset(void *to, int value, __SIZE_TYPE__ size);
void *memcpy(void *to, const void *from, __SIZE_TYPE__ size);

void *memset(void *to, int value, __SIZE_TYPE__ size)
{
	volatile uint8_t *p = to;

	while (size--)
		*p++ = (uint8_t)value;
	return to;
}

void *memcpy(void *to, const void *from, __SIZE_TYPE__ size)
{
	volatile uint8_t *p = to;
	const uint8_t *q = from;

	while (size--)
		*p++ = *q++;
	return to;
}

__attribute__((interrupt("machine"), aligned(4))) void on_interrupt(void)
{
	regs[0] = 0;
	regs[WORKLOAD_IRQ_REG]++;
}

void run_workloads(void)
{
	for (uint32_t i = 0; i < WORKLOADS; i++)
		regs[WORKLOAD_FIRST_REG + i] = workload(i);
	__asm__ volatile("csrci mstatus, 8");
}
