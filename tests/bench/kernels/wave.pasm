; SPDX-License-Identifier: MIT
;
; Each instance writes its number: work-groups of one wave.
;
; Uniforms: out (64-bit address of u32).

.group    32, 1, 1
.uniforms sh0, 2
.input    v0, global_x

	shl.u32		r0, v0, 2
	global_store32	sig0, [one], sh0 + r0, v0
	end
