; SPDX-License-Identifier: MIT
;
; C = A * B for N x N matrices of f32, N a multiple of 64: register tiles. A wave
; computes 8 rows of 64 columns, two sums a row in each lane. It takes A by rows of
; 32 columns, a row a register, and hands single elements to all lanes.
;
; Uniforms: A, B, C (64-bit addresses), N.

.group    32, 1, 1
.uniforms sh0, 7		; A sh0, B sh2, C sh4, N sh6
.input    v0, group_x
.input    v1, group_y

.alias    row_bytes, r40	; [0]: bytes of a row
.alias    k, r41		; [0]: element of A's registers
.alias    left, r42		; [0]: blocks of 32 columns of A that remain
.alias    ready, r43
.alias    a_at, r44		; byte offset of the lane's element in A's first row
.alias    b_at, r45		; byte offset of the lane's element in B
.alias    at, r46
.alias    value, r47		; an element of A in all lanes
.alias    more, r48

	shl.u32		row_bytes[0], sh6, 2
	shr.u32		left[0], sh6, 5
	shl.u32		at, v1, 3
	mul.u32		at, at, row_bytes[0]
	shl.u32		a_at, sid, 2
	shl.u32		b_at, v0, 8
	add.u32		b_at, b_at, a_at
	add.u32		a_at, a_at, at
	mov		r49, [one], b_at

block:
	mov		at, [one], a_at
	global_load32	sig0, r16, [one], sh0 + at
	add.u32		at, at, row_bytes[0]
	global_load32	sig0, r17, [one], sh0 + at
	add.u32		at, at, row_bytes[0]
	global_load32	sig0, r18, [one], sh0 + at
	add.u32		at, at, row_bytes[0]
	global_load32	sig0, r19, [one], sh0 + at
	add.u32		at, at, row_bytes[0]
	global_load32	sig0, r20, [one], sh0 + at
	add.u32		at, at, row_bytes[0]
	global_load32	sig0, r21, [one], sh0 + at
	add.u32		at, at, row_bytes[0]
	global_load32	sig0, r22, [one], sh0 + at
	add.u32		at, at, row_bytes[0]
	global_load32	sig0, r23, [one], sh0 + at
	add.u32		a_at, a_at, 128
	mov		k[0], 0

element:
	global_load32	sig1, r24, [one], sh2 + b_at
	global_load32	sig1, r25, [one], sh2 + b_at + 128
	add.u32		b_at, b_at, row_bytes[0]
	sig_waitall2	ready[0], sig0, sig1
	shuffle		value, r16, k[0]
	fma.f32		r0, value, r24, r0
	fma.f32		r1, value, r25, r1
	shuffle		value, r17, k[0]
	fma.f32		r2, value, r24, r2
	fma.f32		r3, value, r25, r3
	shuffle		value, r18, k[0]
	fma.f32		r4, value, r24, r4
	fma.f32		r5, value, r25, r5
	shuffle		value, r19, k[0]
	fma.f32		r6, value, r24, r6
	fma.f32		r7, value, r25, r7
	shuffle		value, r20, k[0]
	fma.f32		r8, value, r24, r8
	fma.f32		r9, value, r25, r9
	shuffle		value, r21, k[0]
	fma.f32		r10, value, r24, r10
	fma.f32		r11, value, r25, r11
	shuffle		value, r22, k[0]
	fma.f32		r12, value, r24, r12
	fma.f32		r13, value, r25, r13
	shuffle		value, r23, k[0]
	fma.f32		r14, value, r24, r14
	fma.f32		r15, value, r25, r15
	add.u32		k[0], k[0], 1
	eq.u32		more[0], k[0], 32
	brz		element, more[0]
	sub.u32		left[0], left[0], 1
	brnz		block, left[0]

	mul.u32		at, v1, row_bytes[0]
	shl.u32		at, at, 3
	add.u32		at, at, r49
	global_store32	sig2, [one], sh4 + at, r0
	global_store32	sig2, [one], sh4 + at + 128, r1
	add.u32		at, at, row_bytes[0]
	global_store32	sig2, [one], sh4 + at, r2
	global_store32	sig2, [one], sh4 + at + 128, r3
	add.u32		at, at, row_bytes[0]
	global_store32	sig2, [one], sh4 + at, r4
	global_store32	sig2, [one], sh4 + at + 128, r5
	add.u32		at, at, row_bytes[0]
	global_store32	sig2, [one], sh4 + at, r6
	global_store32	sig2, [one], sh4 + at + 128, r7
	add.u32		at, at, row_bytes[0]
	global_store32	sig2, [one], sh4 + at, r8
	global_store32	sig2, [one], sh4 + at + 128, r9
	add.u32		at, at, row_bytes[0]
	global_store32	sig2, [one], sh4 + at, r10
	global_store32	sig2, [one], sh4 + at + 128, r11
	add.u32		at, at, row_bytes[0]
	global_store32	sig2, [one], sh4 + at, r12
	global_store32	sig2, [one], sh4 + at + 128, r13
	add.u32		at, at, row_bytes[0]
	global_store32	sig2, [one], sh4 + at, r14
	global_store32	sig2, [one], sh4 + at + 128, r15
	end
