; SPDX-License-Identifier: MIT
;
; Each instance exchanges its word with VALUE plus its global number, for others that wait
; for it meanwhile. Uniforms: out (64-bit address), value.

.group    64, 1, 1
.uniforms sh0, 3
.input    v0, global_x

	add.u32		r0, v0, sh2
	shl.u32		r1, v0, 2
	global_atomic.u32 xchg, sig0, r2, [one], sh0 + r1, r0
	end
