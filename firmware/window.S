/* SPDX-License-Identifier: MIT */
/*
 * Window accesses that may fail: see window.h.
 *
 * Leaf functions that do not use the stack, so that the trap handler can end any
 * of them by continuing at window_failed, which returns false.
 */
#include "pumice_regs.h"

	.section .text
	.globl window_code_start, window_code_end, window_failed

window_code_start:

	.globl window_read32
	.type window_read32, @function
window_read32:
	li	t0, PUMICE_FW_WINDOW_BASE
	add	t0, t0, a0
	lw	t1, 0(t0)
	sw	t1, 0(a1)
	li	a0, 1
	ret

	.globl window_write32
	.type window_write32, @function
window_write32:
	li	t0, PUMICE_FW_WINDOW_BASE
	add	t0, t0, a0
	sw	a1, 0(t0)
	li	a0, 1
	ret

	.globl window_read
	.type window_read, @function
window_read:
	li	t0, PUMICE_FW_WINDOW_BASE
	add	t0, t0, a0
	slli	a2, a2, 2
	add	a2, a2, t0
1:	lw	t1, 0(t0)
	sw	t1, 0(a1)
	addi	t0, t0, 4
	addi	a1, a1, 4
	bne	t0, a2, 1b
	li	a0, 1
	ret

	.globl window_write
	.type window_write, @function
window_write:
	li	t0, PUMICE_FW_WINDOW_BASE
	add	t0, t0, a0
	slli	a2, a2, 2
	add	a2, a2, t0
1:	lw	t1, 0(a1)
	sw	t1, 0(t0)
	addi	t0, t0, 4
	addi	a1, a1, 4
	bne	t0, a2, 1b
	li	a0, 1
	ret

window_code_end:

window_failed:
	li	a0, 0
	ret
