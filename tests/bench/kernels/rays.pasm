; SPDX-License-Identifier: MIT
;
; A ray for each instance: eight words in, six of a result of eight words out.
;
; Uniforms: structure, rays and results (64-bit addresses); the number of rays is the grid's.

.group    64, 1, 1
.uniforms sh0, 6
.input    v0, global_x

	shl.u32		r0, v0, 5
	burst_load	sig0, r8, [one], sh2 + r0, 8
	sig_wait	r1[0], sig0
	ray_query	sig0, r16, [one], closest, sh0, r8
	sig_wait	r1[0], sig0
	burst_store	sig0, [one], sh4 + r0, r16, 6
	end
