; SPDX-License-Identifier: MIT
;
; Groups of three waves that never end: each wave stores 1
; to its word, then the first one loops and the others wait
; for it at a barrier. Uniforms: out (64-bit address).

.group    96, 1, 1
.uniforms sh0, 2
.input    v0, local_x
.input    v1, global_x

	mov.u32		r2, 1
	shl.u32		r1, v1, 2
	global_store32	sig0, [one], sh0 + r1, r2
	lt.u32		r0, v0, 32
	br_any		spin, [r0]
	barrier
	end
spin:
	jump		spin
