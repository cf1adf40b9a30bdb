; SPDX-License-Identifier: MIT
;
; Transform a vertex of a shadow volume to clip space. v0 position.
;
; The uniform stream is the matrix, column by column: each read of "uniform" is its next word.

	mul.f32		r0, v0, uniform
	mul.f32		r1, v0, uniform
	mul.f32		r2, v0, uniform
	mul.f32		r3, v0, uniform
	fma.f32		r0, v1, uniform, r0
	fma.f32		r1, v1, uniform, r1
	fma.f32		r2, v1, uniform, r2
	fma.f32		r3, v1, uniform, r3
	fma.f32		r0, v2, uniform, r0
	fma.f32		r1, v2, uniform, r1
	fma.f32		r2, v2, uniform, r2
	fma.f32		r3, v2, uniform, r3
	add.f32		r0, r0, uniform
	add.f32		r1, r1, uniform
	add.f32		r2, r2, uniform
	add.f32		r3, r3, uniform
	uvsw		vo0, r0
	uvsw		vo1, r1
	uvsw		vo2, r2
	uvsw		vo3, r3
	end
