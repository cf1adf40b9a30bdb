; SPDX-License-Identifier: MIT
;
; C = A * B for N x N matrices of f32, row by row in memory: the
; tiled kernel of document 002, compiled manually. A work-group of
; 8 x 8 instances (two waves) computes one 8 x 8 tile of C; in
; each step it loads one tile of A and one of B into local memory.
;
; Uniforms: A, B, C (64-bit addresses), N, number of steps ceil(N / 8).
; Any N works: elements outside a matrix count as zero.

.group    8, 8, 1
.local    512			; Asub at 0, Bsub at 256
.equ      BSUB, 256
.uniforms sh0, 8		; A sh0, B sh2, C sh4, N sh6, steps sh7
.input    v0, local_x
.input    v1, local_y
.input    v2, global_x		; col
.input    v3, global_y		; row

.alias    row_ok, r0		; row < N
.alias    col_ok, r1		; col < N
.alias    k_ok, r2		; the tile's row or column of this lane is inside
.alias    a_at, r3		; byte offset of this lane's element of A
.alias    b_at, r4		; and of B
.alias    store_at, r5		; its position in both tiles
.alias    a_row, r6		; start of its row in Asub
.alias    b_col, r7		; start of its column in Bsub
.alias    a_k, r8		; column of A that it loads
.alias    b_k, r9		; row of B that it loads
.alias    sum, r10
.alias    steps, r13
.alias    b_step, r14		; bytes from one tile of B to the one below

	lt.u32		row_ok, v3, sh6
	lt.u32		col_ok, v2, sh6
	mul.u32		a_at, v3, sh6
	add.u32		a_at, a_at, v0
	shl.u32		a_at, a_at, 2
	mul.u32		b_at, v1, sh6
	add.u32		b_at, b_at, v2
	shl.u32		b_at, b_at, 2
	shl.u32		store_at, instance, 2
	shl.u32		a_row, v1, 5
	shl.u32		b_col, v0, 2
	mov		a_k, [one], v0
	mov		b_k, [one], v1
	mov		sum, [one], 0
	mov		steps[0], sh7
	shl.u32		b_step[0], sh6, 5

next_tile:
	lt.u32		k_ok, a_k, sh6
	mov		r11, [one], 0
	global_load32	sig0, r11, [row_ok & k_ok], sh0 + a_at
	lt.u32		r15, b_k, sh6
	mov		r12, [one], 0
	global_load32	sig1, r12, [col_ok & r15], sh2 + b_at
	sig_waitall2	r16[0], sig0, sig1
	local_store32	[one], store_at, r11
	local_store32	[one], store_at + BSUB, r12
	barrier

	; sum += Asub[row][k] * Bsub[k][col], k = 0 to 7
	local_load32	r11, [one], a_row + 0
	local_load32	r12, [one], b_col + 256
	mul.f32		r11, r11, r12
	add.f32		sum, sum, r11
	local_load32	r11, [one], a_row + 4
	local_load32	r12, [one], b_col + 288
	mul.f32		r11, r11, r12
	add.f32		sum, sum, r11
	local_load32	r11, [one], a_row + 8
	local_load32	r12, [one], b_col + 320
	mul.f32		r11, r11, r12
	add.f32		sum, sum, r11
	local_load32	r11, [one], a_row + 12
	local_load32	r12, [one], b_col + 352
	mul.f32		r11, r11, r12
	add.f32		sum, sum, r11
	local_load32	r11, [one], a_row + 16
	local_load32	r12, [one], b_col + 384
	mul.f32		r11, r11, r12
	add.f32		sum, sum, r11
	local_load32	r11, [one], a_row + 20
	local_load32	r12, [one], b_col + 416
	mul.f32		r11, r11, r12
	add.f32		sum, sum, r11
	local_load32	r11, [one], a_row + 24
	local_load32	r12, [one], b_col + 448
	mul.f32		r11, r11, r12
	add.f32		sum, sum, r11
	local_load32	r11, [one], a_row + 28
	local_load32	r12, [one], b_col + 480
	mul.f32		r11, r11, r12
	add.f32		sum, sum, r11
	barrier

	add.u32		a_at, a_at, 32
	add.u32		b_at, b_at, b_step[0]
	add.u32		a_k, a_k, 8
	add.u32		b_k, b_k, 8
	sub.u32		steps[0], steps[0], 1
	brnz		next_tile, steps[0]

	mul.u32		a_at, v3, sh6
	add.u32		a_at, a_at, v2
	shl.u32		a_at, a_at, 2
	global_store32	sig2, [row_ok & col_ok], sh4 + a_at, sum
	end
