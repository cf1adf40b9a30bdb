; SPDX-License-Identifier: MIT
;
; Second half of a prefix sum: the sum of all previous
; blocks is added to each block of 1024 values.
;
; Uniforms: prefix sums inside of the blocks and prefix sums of the blocks' totals
; (64-bit addresses), number of values. Block 0 is not launched: the base of the
; grid is 1.

.group    1024, 1, 1
.uniforms sh0, 5		; sums sh0, totals sh2, number sh4
.input    sh5, group_x
.input    v0, global_x

.alias    inside, r0
.alias    at, r1
.alias    sum, r2
.alias    before, r3

	lt.u32		inside, v0, sh4
	shl.u32		at, v0, 2
	global_load32	sig0, sum, [inside], sh0 + at
	mov		before, [one], sh5
	sub.u32		before, before, 1
	shl.u32		before, before, 2
	global_load32	sig1, before, [one], sh2 + before
	sig_waitall2	r4[0], sig0, sig1
	add.u32		sum, sum, before
	global_store32	sig0, [inside], sh0 + at, sum
	end
