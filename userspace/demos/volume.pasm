; SPDX-License-Identifier: MIT
;
; Transform a vertex of a shadow volume to clip space. sh0: matrix, column by column; v0 position.

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
	end
