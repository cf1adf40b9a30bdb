/* SPDX-License-Identifier: MIT */
/*
 * Start of the firmware: the boot ROM enters here with the address of the boot
 * structure in a0 (low) and a1 (high). Private memory after the image is cleared.
 */
	.section .text.start
	.globl _start
	.type _start, @function
_start:
	.option push
	.option norelax
	la	gp, __global_pointer$
	.option pop
	la	sp, fw_stack_end
	la	t0, trap_entry
	csrw	mtvec, t0
	j	fw_main
