; SPDX-License-Identifier: MIT
;
; Work-groups of unequal length: every so-many-th goes round a loop longer than the
; others. Each writes its number plus one.
;
; Uniforms: out (64-bit address of u32), n: every n-th group is long, rounds
; of long groups, rounds of the others.

.group    32, 1, 1
.uniforms sh0, 5		; out sh0, every sh2, long sh3, short sh4
.input    v0, group_x

.alias    left, r0		; [0]: rounds that remain
.alias    number, r1

	rem.u32		number[0], v0[0], sh2
	mov		left[0], sh4
	brnz		round, number[0]
	mov		left[0], sh3
round:
	mul.u32		r2, r2, 3
	add.u32		r2, r2, v0
	sub.u32		left[0], left[0], 1
	brnz		round, left[0]
	shl.u32		r3, v0, 2
	add.u32		number, v0, 1
	global_store32	sig0, [one], sh0 + r3, number
	end
