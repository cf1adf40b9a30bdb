; SPDX-License-Identifier: MIT
;
; out[i] = in[i] + value: a job that depends on the previous one. Uniforms: in, out
; (64-bit addresses), value.

.group    64, 1, 1
.uniforms sh0, 5
.input    v0, global_x

	shl.u32		r1, v0, 2
	global_load32	sig0, r0, [one], sh0 + r1
	sig_wait	r2[0], sig0
	add.u32		r0, r0, sh4
	global_store32	sig0, [one], sh2 + r1, r0
	end
