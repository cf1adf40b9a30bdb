; SPDX-License-Identifier: MIT
;
; Transform a vertex of a model to clip space and to world space.
;
; sh0: matrix to clip space, column by column; sh16: matrix of the model.
; v0 position, v4 normal, v8 texture coordinates.
; Varyings: normal, position in the world, texture coordinates.

	mul.f32		r0, v0, sh0
	mul.f32		r1, v0, sh1
	mul.f32		r2, v0, sh2
	mul.f32		r3, v0, sh3
	fma.f32		r0, v1, sh4, r0
	fma.f32		r1, v1, sh5, r1
	fma.f32		r2, v1, sh6, r2
	fma.f32		r3, v1, sh7, r3
	fma.f32		r0, v2, sh8, r0
	fma.f32		r1, v2, sh9, r1
	fma.f32		r2, v2, sh10, r2
	fma.f32		r3, v2, sh11, r3
	add.f32		r0, r0, sh12
	add.f32		r1, r1, sh13
	add.f32		r2, r2, sh14
	add.f32		r3, r3, sh15
	uvsw		vo0, r0
	uvsw		vo1, r1
	uvsw		vo2, r2
	uvsw		vo3, r3

	; rotate the normal with the model, keeping its length
	mul.f32		r0, v4, sh16
	mul.f32		r1, v4, sh17
	mul.f32		r2, v4, sh18
	fma.f32		r0, v5, sh20, r0
	fma.f32		r1, v5, sh21, r1
	fma.f32		r2, v5, sh22, r2
	fma.f32		r0, v6, sh24, r0
	fma.f32		r1, v6, sh25, r1
	fma.f32		r2, v6, sh26, r2
	uvsw		vo4, r0
	uvsw		vo5, r1
	uvsw		vo6, r2

	mul.f32		r0, v0, sh16
	mul.f32		r1, v0, sh17
	mul.f32		r2, v0, sh18
	fma.f32		r0, v1, sh20, r0
	fma.f32		r1, v1, sh21, r1
	fma.f32		r2, v1, sh22, r2
	fma.f32		r0, v2, sh24, r0
	fma.f32		r1, v2, sh25, r1
	fma.f32		r2, v2, sh26, r2
	add.f32		r0, r0, sh28
	add.f32		r1, r1, sh29
	add.f32		r2, r2, sh30
	uvsw		vo7, r0
	uvsw		vo8, r1
	uvsw		vo9, r2
	uvsw		vo10, v8
	uvsw		vo11, v9
	end
