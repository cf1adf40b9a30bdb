; SPDX-License-Identifier: MIT
;
; Glass: the background is visible through it, tinted;
; less at grazing angles, and not under its highlight.
;
; sh0 to the light, sh3 ambient light; sh4 the eye, sh7 strength of the highlight;
; sh8 colour. v0 normal, v3 position in the world. o0 to o2: the current pixel.

	mul.f32		r0, v0, v0
	fma.f32		r0, v1, v1, r0
	fma.f32		r0, v2, v2, r0
	rsqrt.f32	r0, r0
	mul.f32		r1, v0, r0
	mul.f32		r2, v1, r0
	mul.f32		r3, v2, r0
	; r5 to r7: to the eye
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
	; r4: how much of it is glass: 1 at the rim, 0.25 in the middle
	mul.f32		r4, r1, r5
	fma.f32		r4, r2, r6, r4
	fma.f32		r4, r3, r7, r4
	max.f32		r4, r4, 0.0
	neg.f32		r4, r4
	add.f32		r4, r4, 1.0
	mul.f32		r4, r4, r4
	mul.f32		r4, r4, 0.75
	add.f32		r4, r4, 0.25
	; r8: the highlight
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
	mul.f32		r8, r8, r8
	mul.f32		r8, r8, r8
	mul.f32		r8, r8, r8
	mul.f32		r8, r8, r8
	mul.f32		r8, r8, r8
	mul.f32		r8, r8, r8
	mul.f32		r8, r8, sh7
	; attenuated background, plus the glass
	neg.f32		r9, r4
	add.f32		r9, r9, 1.0
	mul.f32		r10, r4, sh8
	mul.f32		r11, r4, sh9
	mul.f32		r12, r4, sh10
	mov		r13, [one], o0
	fma.f32		r10, r13, r9, r10
	mov		r13, [one], o1
	fma.f32		r11, r13, r9, r11
	mov		r13, [one], o2
	fma.f32		r12, r13, r9, r12
	add.f32		r10, r10, r8
	add.f32		r11, r11, r8
	add.f32		r12, r12, r8
	mov		o0, [one], r10
	mov		o1, [one], r11
	mov		o2, [one], r12
	end
