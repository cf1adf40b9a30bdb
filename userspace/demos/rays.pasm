; SPDX-License-Identifier: MIT
;
; A picture of shiny balls on a floor by ray tracing: for each pixel a ray from the eye and its
; reflections, and from each point that one hits a ray to the light.
; Uniforms: see rays_common.pasm.

.group    8, 4, 1
.uniforms sh0, 23
.input    v0, global_x
.input    v1, global_y
.include "rays_common.pasm"

	lt.u32		inside, v0, sh6
	lt.u32		r4, v1, sh7
	and.u32		inside, inside, r4
	eye_ray
	mov		weight, [one], 1.0
	mov		live, [one], inside
	mov		left[0], BOUNCES

.include "rays_bounce.pasm"
