; SPDX-License-Identifier: MIT
;
; A program whose result depends on every bit: f32 sums whose order counts,
; local memory, barriers, reductions, shuffles, and per-lane control.
;
; Each instance starts from its global number, iterates ROUNDS times, and stores one
; word. Uniforms: out (64-bit address), rounds, seed. The including file defines GROUP,
; the instances of a work-group, a multiple of 32.

.group    GROUP, 1, 1
.local    GROUP * 4
.uniforms sh0, 4		; out sh0, rounds sh2, seed sh3
.input    v0, global_x
.input    v1, local_x

.alias    value, r0
.alias    mine, r1		; this lane's position in local memory
.alias    other, r2		; a neighbour's
.alias    part, r3
.alias    left, r4
.alias    odd, r5
.alias    at, r6

	cvt_f32.u32	value, v0
	mul.f32		value, value, sh3
	shl.u32		mine, v1, 2
	mov		left[0], sh2

next:
	local_store32	[one], mine, value
	barrier
	; the neighbour 21 positions further, modulo the group
	add.u32		other, v1, 21
	ge.u32		odd, other, GROUP
	mul.u32		r7, odd, GROUP
	sub.u32		other, other, r7
	shl.u32		other, other, 2
	local_load32	part, [one], other
	barrier
	mul.f32		part, part, 0.3
	add.f32		value, value, part
	reduce_part.f32 add, r8, value
	reduce_finish.f32 add, r9[0], r8
	mul.f32		r9[0], r9[0], 0.01
	add.u32		r12, v1, 5
	shuffle		r10, value, r12
	and.u32		odd, v1, 1
	add.f32		r11, r10, r9[0]
	select		value, [odd], value, r11
	mul.f32		value, value, 0.5
	sub.u32		left[0], left[0], 1
	brnz		next, left[0]

	shl.u32		at, v0, 2
	global_store32	sig0, [one], sh0 + at, value
	end
