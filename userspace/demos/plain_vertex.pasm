; SPDX-License-Identifier: MIT
;
; Pass through a vertex that is already in clip space. v0 position, v4 colour.

	uvsw		vo0, v0
	uvsw		vo1, v1
	uvsw		vo2, v2
	mov		r0, [one], 1.0
	uvsw		vo3, r0
	uvsw		vo4, v4
	uvsw		vo5, v5
	uvsw		vo6, v6
	end
