; SPDX-License-Identifier: MIT
;
; y[i] = a * x[i] + y[i]. Uniforms: x, y (64-bit addresses), n, a.
.group    64
.uniforms sh0, 6
.input    v0, global_x

	lt.u32		r0, v0, sh4
	shl.u32		r1, v0, 2
	global_load32	sig0, r2, [r0], sh0 + r1
	global_load32	sig1, r3, [r0], sh2 + r1
	sig_waitall2	r4[0], sig0, sig1
	mul.f32		r2, r2, sh5
	add.f32		r2, r2, r3
	global_store32	sig0, [r0], sh2 + r1, r2
	end
