; SPDX-License-Identifier: MIT
;
; Iterations of z = z^2 + c until |z| > 2, for each pixel; one instance per pixel.
;
; Uniforms: image (64-bit address of u32 counts, row by row), width, height, maximum
; iterations, and as f32: re of column 0, im of row 0, step from pixel to pixel.

.group    32, 4, 1
.uniforms sh0, 8		; image sh0, width sh2, height sh3, limit sh4,
				; re sh5, im sh6, step sh7
.input    v0, global_x
.input    v1, global_y

.alias    inside, r0		; the pixel is in the image
.alias    live, r1		; and has not escaped yet
.alias    c_re, r2
.alias    c_im, r3
.alias    z_re, r4
.alias    z_im, r5
.alias    re2, r6
.alias    im2, r7
.alias    count, r8
.alias    left, r9		; iterations that remain

	lt.u32		inside, v0, sh2
	lt.u32		live, v1, sh3
	and.u32		inside, inside, live
	cvt_f32.u32	c_re, v0
	mul.f32		c_re, c_re, sh7
	add.f32		c_re, c_re, sh5
	cvt_f32.u32	c_im, v1
	mul.f32		c_im, c_im, sh7
	add.f32		c_im, c_im, sh6
	mov		live, [one], inside
	mov		z_re, [one], 0
	mov		z_im, [one], 0
	mov		count, [one], 0
	mov		left[0], sh4
	brz		store, left[0]

iterate:
	mul.f32		re2, z_re, z_re
	mul.f32		im2, z_im, z_im
	add.f32		r10, re2, im2
	le.f32		r11, r10, 4.0
	and.u32		live, live, r11
	br_all		store, [!live]
	mul.f32		z_im, z_im, z_re
	add.f32		z_im, z_im, z_im
	add.f32		z_im, z_im, c_im
	sub.f32		z_re, re2, im2
	add.f32		z_re, z_re, c_re
	add.u32		count, count, live
	sub.u32		left[0], left[0], 1
	brnz		iterate, left[0]

store:
	mul.u32		r10, v1, sh2
	add.u32		r10, r10, v0
	shl.u32		r10, r10, 2
	global_store32	sig0, [inside], sh0 + r10, count
	end
