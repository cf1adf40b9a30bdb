; SPDX-License-Identifier: MIT
;
; Keys: a leaf's number, and the interleaved bits of the centre of its bounds. An instance for each
; key; those after the last leaf are sorted to the end.

.alias    scale, r18		; from the world to codes

; A side of the scene, from an ordered integer
.macro from_scene side
	shr.i32		r12, \side, 31
	not.u32		r12, r12
	or.u32		r12, r12, 0x80000000
	xor.u32		\side, \side, r12
.endm

; Ten bits of the centre of one axis, two zeros after each
.macro spread to, low, high, scene_low
	add.f32		r13, \low, \high
	mul.f32		r13, r13, 0.5
	sub.f32		r13, r13, \scene_low
	mul.f32		r13, r13, scale
	min.f32		r13, r13, 1023.0
	cvt_int.u32	r13, r13
	mul.u32		r13, r13, 0x00010001
	and.u32		r13, r13, 0xff0000ff
	mul.u32		r13, r13, 0x00000101
	and.u32		r13, r13, 0x0f00f00f
	mul.u32		r13, r13, 0x00000011
	and.u32		r13, r13, 0xc30c30c3
	mul.u32		r13, r13, 5
	and.u32		\to, r13, 0x49249249
.endm

	lt.u32		r0, v0, padded
	lt.u32		r1, v0, leaves
	mov		r2, [one], scene
	burst_load	sig0, r20, [one], base + r2, 6
	box_at		r3, bounds, v0
	burst_load	sig1, r4, [r1], base + r3, 8
	sig_waitall2	r12[0], sig0, sig1
	.repeat 6, side
	from_scene	r2\side
	.endr
	; all axes have the scale of the longest one: cubes are better than flat boxes
	sub.f32		scale, r23, r20
	sub.f32		r12, r24, r21
	max.f32		scale, scale, r12
	sub.f32		r12, r25, r22
	max.f32		scale, scale, r12
	max.f32		scale, scale, 1.0e-30
	rcp.f32		scale, scale
	mul.f32		scale, scale, 1024.0
	spread		r14, r4, r8, r20
	spread		r15, r5, r9, r21
	shl.u32		r14, r14, 1
	or.u32		r14, r14, r15
	spread		r15, r6, r10, r22
	shl.u32		r14, r14, 1
	or.u32		r14, r14, r15
	mov		r16, v0
	select		r17, [r1], 0xffffffff, r14
	pair_at		r2, keys, v0
	global_store64	sig0, [r0], base + r2, r16
	end
