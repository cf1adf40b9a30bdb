; SPDX-License-Identifier: MIT
;
; C = A * B for N x N matrices of f32, row by row in memory: the tiled kernel of
; document 002, compiled manually. A work-group of 8 x 8 instances (two waves)
; computes one 8 x 8 tile of C; in each step it loads one tile of A and one of B
; into local memory, between two barriers.
;
; Any N is valid: elements outside of a matrix are zero. Only the last step can
; reach the end of a row of A or a column of B, so only that one checks k.
;
; Uniforms: A, B, C (64-bit addresses), N.

.group    8, 8, 1
.local    512			; Asub at 0, Bsub at 256
.uniforms sh0, 7		; A sh0, B sh2, C sh4, N sh6
.input    v0, local_x
.input    v1, local_y
.input    v2, global_x		; col
.input    v3, global_y		; row
.input    v4, local_linear

.alias    row_ok, r0		; row < N
.alias    col_ok, r1		; col < N
.alias    a_at, r2		; byte offset of this lane's element of A
.alias    b_at, r3		; and of B
.alias    store_at, r4		; its place in both tiles
.alias    a_row, r5		; where its row begins in Asub
.alias    b_col, r6		; where its column begins in Bsub
.alias    a_value, r7		; 0 where there is no such element
.alias    b_value, r8
.alias    sum, r9
.alias    steps, r10		; [0]: whole ones that remain
.alias    rest, r29		; [0]: columns of A after them
.alias    b_step, r11		; [0]: bytes from one tile of B to the one below
.alias    ready, r12
				; r13 to r20: a row of Asub; r21 to r28: a column of Bsub

	lt.u32		row_ok, v3, sh6
	lt.u32		col_ok, v2, sh6
	mul.u32		a_at, v3, sh6
	add.u32		a_at, a_at, v0
	shl.u32		a_at, a_at, 2
	mul.u32		b_at, v1, sh6
	add.u32		b_at, b_at, v2
	shl.u32		b_at, b_at, 2
	shl.u32		store_at, v4, 2
	shl.u32		a_row, v1, 5
	shl.u32		b_col, v0, 2
	shl.u32		b_step[0], sh6, 5
	shr.u32		steps[0], sh6, 3
	and.u32		rest[0], sh6, 7
	brz		last_tile, steps[0]

next_tile:
	global_load32	sig0, a_value, [row_ok], sh0 + a_at
	global_load32	sig1, b_value, [col_ok], sh2 + b_at
multiply:
	add.u32		a_at, a_at, 32
	add.u32		b_at, b_at, b_step[0]
	sub.u32		steps[0], steps[0], 1
	sig_waitall2	ready[0], sig0, sig1
	local_store32	[one], store_at, a_value
	local_store32	[one], store_at + 256, b_value
	barrier

	; sum += Asub[row][k] * Bsub[k][col], k = 0 to 7
	local_load128	r13, [one], a_row
	local_load128	r17, [one], a_row + 16
	local_load32	r21, [one], b_col + 256
	local_load32	r22, [one], b_col + 288
	local_load32	r23, [one], b_col + 320
	local_load32	r24, [one], b_col + 352
	local_load32	r25, [one], b_col + 384
	local_load32	r26, [one], b_col + 416
	local_load32	r27, [one], b_col + 448
	local_load32	r28, [one], b_col + 480
	fma.f32		sum, r13, r21, sum
	fma.f32		sum, r14, r22, sum
	fma.f32		sum, r15, r23, sum
	fma.f32		sum, r16, r24, sum
	fma.f32		sum, r17, r25, sum
	fma.f32		sum, r18, r26, sum
	fma.f32		sum, r19, r27, sum
	fma.f32		sum, r20, r28, sum
	barrier
	brnz		next_tile, steps[0]
	brz		store, rest[0]

last_tile:
	lt.u32		r14, v0, rest[0]
	lt.u32		r15, v1, rest[0]
	mov		a_value, [one], 0
	mov		b_value, [one], 0
	global_load32	sig0, a_value, [row_ok & r14], sh0 + a_at
	global_load32	sig1, b_value, [col_ok & r15], sh2 + b_at
	mov		steps[0], 1
	mov		rest[0], 0
	jump		multiply

store:
	mul.u32		a_at, v3, sh6
	add.u32		a_at, a_at, v2
	shl.u32		a_at, a_at, 2
	global_store32	sig2, [row_ok & col_ok], sh4 + a_at, sum
	end
