; SPDX-License-Identifier: MIT
;
; Stores its uniform words 2 to 7 as they are, each by one lane. Uniforms: out
; (64-bit address), then six words.
.group    8
.uniforms sh0, 8
.input    v0, global_x

	mov		r2, [one], sh2
	eq.u32		r0, v0, 1
	mov		r2, [r0], sh3
	eq.u32		r0, v0, 2
	mov		r2, [r0], sh4
	eq.u32		r0, v0, 3
	mov		r2, [r0], sh5
	eq.u32		r0, v0, 4
	mov		r2, [r0], sh6
	eq.u32		r0, v0, 5
	mov		r2, [r0], sh7
	lt.u32		r0, v0, 6
	shl.u32		r1, v0, 2
	global_store32	sig0, [r0], sh0 + r1, r2
	end
