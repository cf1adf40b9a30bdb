/* SPDX-License-Identifier: MIT */
/*
 * Trap entry: saves the registers that a C function may clobber and calls
 * trap_handle(cause, pc, value), which returns the address to continue at.
 *
 * A trap inside the handler (a failed access through the window) overwrites mepc,
 * which the C side therefore passes as a value. mstatus remains valid: the MRET of
 * the inner trap sets MPIE, and it occurs only in handlers of interrupts, which are
 * taken with MIE set.
 */
	.section .text
	.globl trap_entry
	.type trap_entry, @function
	.balign 4
trap_entry:
	addi	sp, sp, -64
	sw	ra, 0(sp)
	sw	t0, 4(sp)
	sw	t1, 8(sp)
	sw	t2, 12(sp)
	sw	a0, 16(sp)
	sw	a1, 20(sp)
	sw	a2, 24(sp)
	sw	a3, 28(sp)
	sw	a4, 32(sp)
	sw	a5, 36(sp)
	sw	a6, 40(sp)
	sw	a7, 44(sp)
	sw	t3, 48(sp)
	sw	t4, 52(sp)
	sw	t5, 56(sp)
	sw	t6, 60(sp)
	csrr	a0, mcause
	csrr	a1, mepc
	csrr	a2, mtval
	call	trap_handle
	csrw	mepc, a0
	lw	ra, 0(sp)
	lw	t0, 4(sp)
	lw	t1, 8(sp)
	lw	t2, 12(sp)
	lw	a0, 16(sp)
	lw	a1, 20(sp)
	lw	a2, 24(sp)
	lw	a3, 28(sp)
	lw	a4, 32(sp)
	lw	a5, 36(sp)
	lw	a6, 40(sp)
	lw	a7, 44(sp)
	lw	t3, 48(sp)
	lw	t4, 52(sp)
	lw	t5, 56(sp)
	lw	t6, 60(sp)
	addi	sp, sp, 64
	mret
