; SPDX-License-Identifier: MIT
;
; y = a x + y over f32: a wave processes consecutive blocks of 256 elements; an
; instance has 4 of each 128.
;
; Uniforms: x, y (64-bit addresses), a, blocks that a wave takes.

.group    32, 1, 1
.uniforms sh0, 6		; x sh0, y sh2, a sh4, blocks sh5

.alias    at, r0		; byte offset of the instance's elements
.alias    left, r1		; [0]: blocks that remain
.alias    ready, r2
.alias    factor, r3		; a, in every lane

	mul.u32		at, wave, sh5
	shl.u32		at, at, 10
	shl.u32		r4, sid, 4
	add.u32		at, at, r4
	mov		factor, [one], sh4
	mov		left[0], sh5
block:
	global_load128	sig0, r4, [one], sh0 + at
	global_load128	sig0, r8, [one], sh2 + at
	global_load128	sig1, r12, [one], sh0 + at + 512
	global_load128	sig1, r16, [one], sh2 + at + 512
	sub.u32		left[0], left[0], 1
	sig_wait	ready[0], sig0
	fma.f32		r8, r4, factor, r8
	fma.f32		r9, r5, factor, r9
	fma.f32		r10, r6, factor, r10
	fma.f32		r11, r7, factor, r11
	global_store128	sig2, [one], sh2 + at, r8
	sig_wait	ready[0], sig1
	fma.f32		r16, r12, factor, r16
	fma.f32		r17, r13, factor, r17
	fma.f32		r18, r14, factor, r18
	fma.f32		r19, r15, factor, r19
	global_store128	sig2, [one], sh2 + at + 512, r16
	add.u32		at, at, 1024
	brnz		block, left[0]
	end
