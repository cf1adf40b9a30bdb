; SPDX-License-Identifier: MIT
;
; Generates the ray from the eye through each pixel, for a launch. Uniforms: see rays_common.pasm.

.stage    rays
.include "rays_common.pasm"

	eye_ray
	uvsw		vo0, r16
	uvsw		vo1, r17
	uvsw		vo2, r18
	uvsw		vo3, r19
	uvsw		vo4, r20
	uvsw		vo5, r21
	uvsw		vo6, r22
	uvsw		vo7, r23
	end
