; SPDX-License-Identifier: MIT
;
; Output the colour of the vertices. v0 colour.

	mov		o0, [one], v0
	mov		o1, [one], v1
	mov		o2, [one], v2
	mov		o3, [one], 1.0
	end
