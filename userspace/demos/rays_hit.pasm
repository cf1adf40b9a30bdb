; SPDX-License-Identifier: MIT
;
; The program of hits and misses of a launch: shades the pixel of a ray that has been traced, with
; reflections and rays to the light of its own. v2 to v9: the ray; v10 to v15: its result.
; Uniforms: see rays_common.pasm.

.stage    rays
.include "rays_common.pasm"

	mov		r16, [one], v2
	mov		r17, [one], v3
	mov		r18, [one], v4
	mov		r19, [one], v5
	mov		r20, [one], v6
	mov		r21, [one], v7
	mov		r22, [one], v8
	mov		r23, [one], v9
	mov		r24, [one], v10
	mov		r25, [one], v11
	mov		r26, [one], v12
	mov		r27, [one], v13
	mov		r28, [one], v14
	mov		r29, [one], v15
	mov		inside, [one], 1
	mov		live, [one], 1
	mov		weight, [one], 1.0
	mov		red, [one], 0
	mov		green, [one], 0
	mov		blue, [one], 0
	mov		left[0], BOUNCES
	jump		found

.include "rays_bounce.pasm"
