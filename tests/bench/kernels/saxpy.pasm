; SPDX-License-Identifier: MIT
;
; y = a x + y over f32: each wave takes rows of 32 elements, one behind the other.
; A work-group of 4 waves has 4 * rows * 32 elements, each wave a part of its own.
;
; Uniforms: x, y (64-bit addresses), a, rows that a wave takes (a multiple of 4).

.group    32, 1, 1
.uniforms sh0, 6		; x sh0, y sh2, a sh4, rows sh5

.alias    at, r0		; byte offset of the lane's element
.alias    left, r1		; rows that remain

	mul.u32		at, wave, sh5
	shl.u32		at, at, 5
	add.u32		at, at, sid
	shl.u32		at, at, 2
	mov		left[0], sh5
rows:
	global_load32	sig0, r2, [one], sh0 + at
	global_load32	sig0, r3, [one], sh2 + at
	global_load32	sig0, r4, [one], sh0 + at + 128
	global_load32	sig0, r5, [one], sh2 + at + 128
	global_load32	sig0, r6, [one], sh0 + at + 256
	global_load32	sig0, r7, [one], sh2 + at + 256
	global_load32	sig0, r8, [one], sh0 + at + 384
	global_load32	sig0, r9, [one], sh2 + at + 384
	sig_wait	r10[0], sig0
	mul.f32		r2, r2, sh4
	add.f32		r3, r3, r2
	mul.f32		r4, r4, sh4
	add.f32		r5, r5, r4
	mul.f32		r6, r6, sh4
	add.f32		r7, r7, r6
	mul.f32		r8, r8, sh4
	add.f32		r9, r9, r8
	global_store32	sig1, [one], sh2 + at, r3
	global_store32	sig1, [one], sh2 + at + 128, r5
	global_store32	sig1, [one], sh2 + at + 256, r7
	global_store32	sig1, [one], sh2 + at + 384, r9
	add.u32		at, at, 512
	sub.u32		left[0], left[0], 4
	brnz		rows, left[0]
	end
