; SPDX-License-Identifier: MIT
;
; One pass of a Gaussian blur over pixels of 8-bit R, G, B, A:
; along the rows or, with other strides, along the columns.
; Pixels outside the picture equal those of the edge. A is 255.
;
; Uniforms: pixels before and after, weights (64-bit addresses; f32), byte stride
; and last position along the pass, the same across it, taps.

.group    32, 4, 1
.uniforms sh0, 11		; before sh0, after sh2, weights sh4, stride sh6, last sh7,
				; other stride sh8, other last sh9, taps sh10
.input    v0, global_x		; along the pass
.input    v1, global_y

.alias    inside, r0
.alias    ok, r1
.alias    line, r2		; byte offset of the line's first pixel
.alias    position, r3
.alias    at, r4
.alias    pixel, r5
.alias    red, r6
.alias    green, r7
.alias    blue, r8
.alias    part, r9

	dc_window	sh4, 129
	le.u32		inside, v0, sh7
	le.u32		ok, v1, sh9
	and.u32		inside, inside, ok
	mul.u32		line, v1, sh8
	mov		r10[0], sh10
	shr.u32		r11[0], r10[0], 1
	sub.i32		position, v0, r11[0]
	mov		idx0, [one], 0

next_tap:
	clamp.i32	at, position, sc0, sh7
	mad.u32		at, at, sh6, line
	global_load32	sig0, pixel, [inside], sh0 + at
	sig_wait	r12[0], sig0
	bfe.u32		part, pixel, 0x0800
	cvt_f32.u32	part, part
	fma.f32		red, part, dc[idx0 + 0], red
	bfe.u32		part, pixel, 0x0808
	cvt_f32.u32	part, part
	fma.f32		green, part, dc[idx0 + 0], green
	bfe.u32		part, pixel, 0x0810
	cvt_f32.u32	part, part
	fma.f32		blue, part, dc[idx0 + 0], blue
	add.u32		idx0, idx0, 1
	add.i32		position, position, 1
	sub.u32		r10[0], r10[0], 1
	brnz		next_tap, r10[0]

	add.f32		red, red, 0.5
	add.f32		green, green, 0.5
	add.f32		blue, blue, 0.5
	cvt_u8.f32	red, red
	cvt_u8.f32	green, green
	cvt_u8.f32	blue, blue
	bfi.u32		red, red, green, 0x0808
	bfi.u32		red, red, blue, 0x0810
	or.u32		red, red, 0xff000000
	mad.u32		at, v0, sh6, line
	global_store32	sig0, [inside], sh2 + at, red
	end
