; SPDX-License-Identifier: MIT
;
; A lit surface with a texture: ambient and diffuse light, a highlight (Blinn).
;
; sh0 to the light, sh3 ambient light; sh4 the eye, sh7 strength of the highlight;
; sh8 colour; sh16 texture. v0 normal, v3 position in the world, v6 texture coordinates.

	; r12 to r15: the texture, read while the light is computed
	sample.f32	sig0, r12, 2d, v6, sh16
	; r1 to r3: the normal, of length 1
	mul.f32		r0, v0, v0
	fma.f32		r0, v1, v1, r0
	fma.f32		r0, v2, v2, r0
	rsqrt.f32	r0, r0
	mul.f32		r1, v0, r0
	mul.f32		r2, v1, r0
	mul.f32		r3, v2, r0
	; r4: light that falls on it
	mul.f32		r4, r1, sh0
	fma.f32		r4, r2, sh1, r4
	fma.f32		r4, r3, sh2, r4
	max.f32		r4, r4, 0.0
	; r5 to r7: half way between the light and the eye
	neg.f32		r5, v3
	neg.f32		r6, v4
	neg.f32		r7, v5
	add.f32		r5, r5, sh4
	add.f32		r6, r6, sh5
	add.f32		r7, r7, sh6
	mul.f32		r0, r5, r5
	fma.f32		r0, r6, r6, r0
	fma.f32		r0, r7, r7, r0
	rsqrt.f32	r0, r0
	mul.f32		r5, r5, r0
	mul.f32		r6, r6, r0
	mul.f32		r7, r7, r0
	add.f32		r5, r5, sh0
	add.f32		r6, r6, sh1
	add.f32		r7, r7, sh2
	mul.f32		r0, r5, r5
	fma.f32		r0, r6, r6, r0
	fma.f32		r0, r7, r7, r0
	rsqrt.f32	r0, r0
	mul.f32		r8, r1, r5
	fma.f32		r8, r2, r6, r8
	fma.f32		r8, r3, r7, r8
	mul.f32		r8, r8, r0
	max.f32		r8, r8, 0.0
	; r8: the highlight, to the power of 64
	mul.f32		r8, r8, r8
	mul.f32		r8, r8, r8
	mul.f32		r8, r8, r8
	mul.f32		r8, r8, r8
	mul.f32		r8, r8, r8
	mul.f32		r8, r8, r8
	mul.f32		r8, r8, sh7
	add.f32		r4, r4, sh3
	sig_wait	r0[0], sig0
	mul.f32		r12, r12, sh8
	mul.f32		r13, r13, sh9
	mul.f32		r14, r14, sh10
	fma.f32		r12, r12, r4, r8
	fma.f32		r13, r13, r4, r8
	fma.f32		r14, r14, r4, r8
	mov		o0, [one], r12
	mov		o1, [one], r13
	mov		o2, [one], r14
	mov		o3, [one], 1.0
	end
